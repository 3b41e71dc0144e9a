#include "tensors/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "ops/conv.h"

void lbx_recipe_deinit(struct lbx_recipe *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->steps[i].constant);
	free(r->steps);
	free(r->inputs);
	*r = (struct lbx_recipe){ 0 };
}

static int64_t count(int rank, const int64_t *shape)
{
	int64_t n = 1;

	for (int i = 0; i < rank; i++)
		if (shape[i] < 0 || !lb_mul(n, shape[i], &n))
			return -1;
	return n;
}

static void set_dense(struct lbx_step *s)
{
	int64_t stride = 1;

	s->offset = 0;
	for (int i = s->rank; i-- > 0;) {
		s->strides[i] = stride;
		stride *= s->shape[i] > 1 ? s->shape[i] : 1;
	}
}

/* A step with dense strides; NULL if there is no room, or its shape makes no sense. Good until the next. */
static struct lbx_step *add(struct lbx_recipe *r, int op, enum lb_dtype dtype, int rank, const int64_t *shape)
{
	if (rank > LB_MAX_RANK || count(rank, shape) < 0) {
		lb_fail("the shapes of its inputs do not go together: its record is damaged");
		return NULL;
	}
	int64_t own[LB_MAX_RANK] = { 0 }; /* it may be that of a step, which moves */
	for (int i = 0; i < rank; i++)
		own[i] = shape[i];
	if (r->n >= LBX_RECIPE_STEPS || !lb_reserve(r->steps, r->room, r->n + 1)) {
		lb_fail("its recipe has too many steps");
		return NULL;
	}
	struct lbx_step *s = &r->steps[r->n++];
	*s = (struct lbx_step){ .op = op, .dtype = dtype, .rank = rank, .first_input = (uint32_t)r->n_inputs };
	memcpy(s->shape, own, sizeof own);
	set_dense(s);
	return s;
}

static bool add_edge(struct lbx_recipe *r, int value)
{
	if (!lb_reserve(r->inputs, r->inputs_room, r->n_inputs + 1))
		return lb_fail("out of memory for a recipe of %u steps", r->n);
	r->inputs[r->n_inputs++] = (uint32_t)value;
	r->steps[r->n - 1].n_inputs++;
	return true;
}

/* A step over n values. */
static int over(struct lbx_recipe *r, int op, enum lb_dtype dtype, int rank, const int64_t *shape, int n, const int *x)
{
	for (int i = 0; i < n; i++)
		if (x[i] == LBX_FAIL)
			return LBX_FAIL;
	if (!add(r, op, dtype, rank, shape))
		return LBX_FAIL;
	for (int i = 0; i < n; i++)
		if (!add_edge(r, x[i]))
			return LBX_FAIL;
	return (int)r->n - 1;
}

static int like(struct lbx_recipe *r, int op, int x)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	return over(r, op, s.dtype, s.rank, s.shape, 1, &x);
}

static int senseless(void)
{
	lb_fail("the shapes of its inputs do not go together: its record is damaged");
	return LBX_FAIL;
}

static void set_double(int64_t *param, double value)
{
	memcpy(param, &value, sizeof value);
}

/* ---- inputs and constants ---- */

bool lbx_recipe_add_input(struct lbx_recipe *r, const struct lbx_step *input)
{
	struct lbx_step *s = add(r, LB_OP_DATA, input->dtype, input->rank, input->shape);

	if (s)
		*s = *input;
	return s != NULL;
}

int lbx_step_input(struct lbx_recipe *r, int i)
{
	if (i < 0 || (uint32_t)i >= r->n)
		return senseless();
	if (!r->steps[i].why)
		return i;
	lb_fail("%s", r->steps[i].why);
	return LBX_FAIL;
}

int lbx_step_memory(struct lbx_recipe *r, int i, int rank, const int64_t *shape, const int64_t *strides, int64_t offset)
{
	const struct lbx_tensor *memory = r->steps[i].memory;
	struct lbx_step *s = add(r, LB_OP_DATA, memory->dtype, rank, shape);

	if (!s)
		return LBX_FAIL;
	s->memory = memory;
	s->offset = offset;
	for (int k = 0; k < rank; k++)
		s->strides[k] = strides[k];
	return (int)r->n - 1;
}

int lbx_step_number(struct lbx_recipe *r, enum lb_dtype dtype, double value)
{
	struct lbx_step *s = add(r, LB_OP_SCALAR, dtype, 0, NULL);

	if (!s)
		return LBX_FAIL;
	set_double(&s->params[0], value);
	return (int)r->n - 1;
}

int lbx_step_elements(struct lbx_recipe *r, enum lb_dtype dtype, int rank, const int64_t *shape, const void *elements)
{
	struct lbx_step *s = add(r, LB_OP_DATA, dtype, rank, shape);

	if (!s)
		return LBX_FAIL;
	int64_t n = count(rank, shape);
	size_t bytes = (size_t)n * (size_t)lbx_dtype_bytes(dtype);
	s->constant = malloc(bytes ? bytes : 1);
	if (!s->constant) {
		lb_fail("out of memory for %lld numbers", (long long)n);
		return LBX_FAIL;
	}
	memcpy(s->constant, elements, bytes);
	return (int)r->n - 1;
}

int lbx_step_constant(struct lbx_recipe *r, const float *values, int64_t n)
{
	return lbx_step_elements(r, LB_F32, 1, &n, values);
}

int lbx_step_arange(struct lbx_recipe *r, int64_t n)
{
	struct lbx_step *s = add(r, LB_OP_ARANGE, LB_F32, 1, &n);

	if (!s)
		return LBX_FAIL;
	set_double(&s->params[0], 0);
	set_double(&s->params[1], 1);
	return (int)r->n - 1;
}

/* ---- views ---- */

int lbx_step_view(struct lbx_recipe *r, int x, int rank, const int64_t *shape, const int64_t *strides, int64_t offset)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	int view = over(r, LB_OP_AS_STRIDED, r->steps[x].dtype, rank, shape, 1, &x);
	if (view == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step *s = &r->steps[view];
	s->offset = offset;
	for (int i = 0; i < rank; i++)
		s->strides[i] = strides[i];
	return view;
}

int lbx_step_permute(struct lbx_recipe *r, int x, const int *axes)
{
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];

	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	uint32_t seen = 0;
	for (int i = 0; i < s.rank; i++) {
		if (axes[i] < 0 || axes[i] >= s.rank || seen >> axes[i] & 1)
			return senseless();
		seen |= 1u << axes[i];
		shape[i] = s.shape[axes[i]];
		strides[i] = s.strides[axes[i]];
	}
	return lbx_step_view(r, x, s.rank, shape, strides, s.offset);
}

int lbx_step_narrow(struct lbx_recipe *r, int x, int axis, int64_t first, int64_t n, int64_t step)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	int64_t reach;
	if (axis >= s.rank || first < 0 || n < 0 || step < 1 || !lb_mul(n ? n - 1 : 0, step, &reach) ||
	    (n && reach >= s.shape[axis] - first))
		return senseless();
	if (first == 0 && step == 1 && n == s.shape[axis])
		return x;
	s.offset += first * s.strides[axis];
	s.shape[axis] = n;
	s.strides[axis] *= step;
	return lbx_step_view(r, x, s.rank, s.shape, s.strides, s.offset);
}

int lbx_step_split(struct lbx_recipe *r, int x, int axis, int64_t n)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	if (n < 1 || s.rank == LB_MAX_RANK || axis >= s.rank || s.shape[axis] % n)
		return senseless();
	for (int i = s.rank; i > axis; i--) {
		s.shape[i] = s.shape[i - 1];
		s.strides[i] = s.strides[i - 1];
	}
	s.shape[axis] /= n;
	s.shape[axis + 1] = n;
	s.strides[axis] *= n;
	return lbx_step_view(r, x, s.rank + 1, s.shape, s.strides, s.offset);
}

static bool is_dense(const struct lbx_step *s)
{
	int64_t stride = 1;

	for (int i = s->rank; i-- > 0; stride *= s->shape[i])
		if (s->shape[i] != 1 && s->strides[i] != stride)
			return false;
	return true;
}

int lbx_step_dense(struct lbx_recipe *r, int x)
{
	return x == LBX_FAIL || is_dense(&r->steps[x]) ? x : like(r, LB_OP_CONTIGUOUS, x);
}

int lbx_step_reshape(struct lbx_recipe *r, int x, int rank, const int64_t *shape)
{
	struct lbx_step to = { .rank = rank };

	if (x == LBX_FAIL)
		return LBX_FAIL;
	if (rank > LB_MAX_RANK || count(rank, shape) != count(r->steps[x].rank, r->steps[x].shape))
		return senseless();
	if (rank == r->steps[x].rank &&
	    (rank == 0 || memcmp(shape, r->steps[x].shape, (size_t)rank * sizeof *shape) == 0))
		return x;
	/* what differs only by axes of 1 keeps its strides */
	struct lbx_step s = r->steps[x];
	int from = 0;
	bool same = true;
	for (int i = 0; i < rank; i++) {
		to.shape[i] = shape[i];
		to.strides[i] = 0;
		if (shape[i] == 1)
			continue;
		while (from < s.rank && s.shape[from] == 1)
			from++;
		same = same && from < s.rank && s.shape[from] == shape[i];
		to.strides[i] = same ? s.strides[from++] : 0;
	}
	if (same)
		return lbx_step_view(r, x, rank, to.shape, to.strides, s.offset);
	x = lbx_step_dense(r, x);
	if (x == LBX_FAIL)
		return LBX_FAIL;
	set_dense(&to);
	return lbx_step_view(r, x, rank, to.shape, to.strides, r->steps[x].offset);
}

int lbx_step_spread(struct lbx_recipe *r, int x, int rank, const int64_t *shape)
{
	int64_t strides[LB_MAX_RANK];

	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	if (rank > LB_MAX_RANK || s.rank > rank)
		return senseless();
	for (int i = 0; i < rank; i++) {
		int own = i - (rank - s.rank);
		if (own >= 0 && s.shape[own] != 1 && s.shape[own] != shape[i])
			return senseless();
		strides[i] = own >= 0 && s.shape[own] == shape[i] ? s.strides[own] : 0;
	}
	return lbx_step_view(r, x, rank, shape, strides, s.offset);
}

/* ---- operations ---- */

int lbx_step_unary(struct lbx_recipe *r, int op, int x)
{
	int y = like(r, op, x);

	if (y != LBX_FAIL && (op == LB_OP_LOGICAL_NOT || (op >= LB_OP_ISNAN && op <= LB_OP_ISNEGINF)))
		r->steps[y].dtype = LB_BOOL;
	return y;
}

static bool broadcast(struct lbx_recipe *r, int n, const int *x, int *rank, int64_t *shape)
{
	*rank = 0;
	for (int k = 0; k < n; k++)
		*rank = r->steps[x[k]].rank > *rank ? r->steps[x[k]].rank : *rank;
	for (int i = 0; i < *rank; i++)
		shape[i] = 1;
	for (int k = 0; k < n; k++) {
		const struct lbx_step *s = &r->steps[x[k]];
		for (int i = 0; i < s->rank; i++) {
			int64_t *to = &shape[*rank - s->rank + i];
			if (*to != 1 && s->shape[i] != 1 && *to != s->shape[i])
				return senseless() != LBX_FAIL;
			*to = *to == 1 ? s->shape[i] : *to;
		}
	}
	return true;
}

static int elementwise(struct lbx_recipe *r, int op, int n, const int *x)
{
	int64_t shape[LB_MAX_RANK];
	int rank;

	for (int i = 0; i < n; i++)
		if (x[i] == LBX_FAIL)
			return LBX_FAIL;
	if (!broadcast(r, n, x, &rank, shape))
		return LBX_FAIL;
	bool compares =
	    (op >= LB_OP_EQUAL && op <= LB_OP_GREATER_EQUAL) || op == LB_OP_LOGICAL_AND || op == LB_OP_LOGICAL_OR;
	return over(r, op, compares ? LB_BOOL : r->steps[x[n - 1]].dtype, rank, shape, n, x);
}

int lbx_step_binary(struct lbx_recipe *r, int op, int x, int y)
{
	return elementwise(r, op, 2, (int[]){ x, y });
}

int lbx_step_with(struct lbx_recipe *r, int op, int x, double number)
{
	return x == LBX_FAIL ? LBX_FAIL : lbx_step_binary(r, op, x, lbx_step_number(r, r->steps[x].dtype, number));
}

int lbx_step_where(struct lbx_recipe *r, int condition, int x, int y)
{
	return elementwise(r, LB_OP_WHERE, 3, (int[]){ condition, x, y });
}

int lbx_step_cast(struct lbx_recipe *r, int x, enum lb_dtype dtype)
{
	if (x == LBX_FAIL || r->steps[x].dtype == dtype)
		return x;
	int y = like(r, LB_OP_ASTYPE, x);
	if (y != LBX_FAIL)
		r->steps[y].dtype = dtype;
	return y;
}

int lbx_step_reduce(struct lbx_recipe *r, int op, int x, uint32_t axes)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	for (int i = 0; i < s.rank; i++)
		s.shape[i] = axes >> i & 1 ? 1 : s.shape[i];
	int y = over(r, op, s.dtype, s.rank, s.shape, 1, &x);
	if (y != LBX_FAIL) {
		r->steps[y].params[0] = (int64_t)axes;
		r->steps[y].params[1] = 1;
	}
	return y;
}

int lbx_step_rows(struct lbx_recipe *r, int op, int x)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	if (r->steps[x].rank == 0)
		return senseless();
	int last = r->steps[x].rank - 1, y = like(r, op, x);
	if (y == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step *s = &r->steps[y];
	s->params[0] = op == LB_OP_SOFTMAX ? 1 << last : last;
	s->params[2] = op == LB_OP_CUMSUM; /* the element itself is in it */
	if (op == LB_OP_ARGSORT)
		s->dtype = LB_U32;
	if (op == LB_OP_ARGMAX) {
		s->dtype = LB_U32;
		s->rank--;
		set_dense(s);
	}
	return y;
}

int lbx_step_arg(struct lbx_recipe *r, int op, int x, int axis)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	if (axis >= s.rank)
		return senseless();
	s.shape[axis] = 1;
	int y = over(r, op, LB_U32, s.rank, s.shape, 1, &x);
	if (y != LBX_FAIL) {
		r->steps[y].params[0] = axis;
		r->steps[y].params[1] = 1;
	}
	return y;
}

int lbx_step_cumsum(struct lbx_recipe *r, int x, int axis, bool reverse, bool inclusive)
{
	int y = like(r, LB_OP_CUMSUM, x);

	if (y != LBX_FAIL) {
		r->steps[y].params[0] = axis;
		r->steps[y].params[1] = reverse;
		r->steps[y].params[2] = inclusive;
	}
	return y;
}

int lbx_step_scan(struct lbx_recipe *r, int x, int kind, int axis, bool reverse, bool inclusive)
{
	int y = like(r, LB_OP_SCAN, x);

	if (y != LBX_FAIL) {
		r->steps[y].params[0] = axis;
		r->steps[y].params[1] = reverse;
		r->steps[y].params[2] = inclusive;
		r->steps[y].params[3] = kind;
	}
	return y;
}

int lbx_step_norm(struct lbx_recipe *r, int op, int x, double eps)
{
	int y = like(r, op, x);

	if (y != LBX_FAIL)
		set_double(&r->steps[y].params[0], eps);
	return y;
}

static int multiply(struct lbx_recipe *r, int op, int a, int b)
{
	int64_t shape[LB_MAX_RANK];
	int rank;

	if (a == LBX_FAIL || b == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step x = r->steps[a], y = r->steps[b];
	if (x.rank < 2 || y.rank < 2 || x.shape[x.rank - 1] != y.shape[y.rank - 2])
		return senseless();
	int64_t rows = x.shape[x.rank - 2], columns = y.shape[y.rank - 1];
	r->steps[a].shape[x.rank - 2] = r->steps[a].shape[x.rank - 1] = 1;
	r->steps[b].shape[y.rank - 2] = r->steps[b].shape[y.rank - 1] = 1;
	bool fits = broadcast(r, 2, (int[]){ a, b }, &rank, shape);
	r->steps[a] = x;
	r->steps[b] = y;
	if (!fits)
		return LBX_FAIL;
	shape[rank - 2] = rows;
	shape[rank - 1] = columns;
	int product = over(r, op, x.dtype, rank, shape, 2, (int[]){ a, b });
	if (product != LBX_FAIL) {
		set_double(&r->steps[product].params[0], 1);
		set_double(&r->steps[product].params[1], 0);
	}
	return product;
}

int lbx_step_matmul(struct lbx_recipe *r, int a, int b)
{
	return multiply(r, LB_OP_MATMUL, a, b);
}

int lbx_step_matmul_in_steps(struct lbx_recipe *r, int a, int b)
{
	return multiply(r, LB_OP_MATMUL_IN_STEPS, a, b);
}

int lbx_step_take(struct lbx_recipe *r, int x, int indices, int axis)
{
	int64_t shape[2 * LB_MAX_RANK];
	int rank = 0;

	if (x == LBX_FAIL || indices == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step from = r->steps[x], by = r->steps[indices];
	if (axis >= from.rank)
		return senseless();
	for (int i = 0; i < axis; i++)
		shape[rank++] = from.shape[i];
	for (int i = 0; i < by.rank; i++)
		shape[rank++] = by.shape[i];
	for (int i = axis + 1; i < from.rank; i++)
		shape[rank++] = from.shape[i];
	int y = over(r, LB_OP_TAKE, from.dtype, rank, shape, 2, (int[]){ x, indices });
	if (y != LBX_FAIL)
		r->steps[y].params[0] = axis;
	return y;
}

int lbx_step_take_along(struct lbx_recipe *r, int x, int indices, int axis)
{
	if (x == LBX_FAIL || indices == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step from = r->steps[x], by = r->steps[indices];
	if (from.rank != by.rank || axis >= from.rank)
		return senseless();
	for (int i = 0; i < from.rank; i++)
		if (i == axis || from.shape[i] == 1)
			from.shape[i] = by.shape[i];
	int y = over(r, LB_OP_TAKE_ALONG, from.dtype, from.rank, from.shape, 2, (int[]){ x, indices });
	if (y != LBX_FAIL)
		r->steps[y].params[0] = axis;
	return y;
}

int lbx_step_put_along(struct lbx_recipe *r, int x, int indices, int values, int axis)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	int y = over(r, LB_OP_PUT_ALONG, s.dtype, s.rank, s.shape, 3, (int[]){ x, indices, values });
	if (y != LBX_FAIL)
		r->steps[y].params[0] = axis;
	return y;
}

int lbx_step_strided_add(struct lbx_recipe *r, int x, int update, const int64_t *strides, int64_t offset)
{
	int parts[LB_MAX_RANK], one = 0;

	if (x == LBX_FAIL || update == LBX_FAIL)
		return LBX_FAIL;
	int rank = r->steps[update].rank;
	for (int i = 0; i < rank; i++)
		parts[i] = lbx_step_reshape(r, lbx_step_number(r, LB_I64, (double)strides[i]), 1, (int64_t[]){ 1 });
	if (rank == 0)
		return senseless();
	one = lbx_step_join(r, rank, parts, 0);
	if (one == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	int y = over(r, LB_OP_STRIDED_ADD, s.dtype, s.rank, s.shape, 3, (int[]){ x, update, one });
	if (y != LBX_FAIL)
		r->steps[y].params[0] = offset;
	return y;
}

int lbx_step_join(struct lbx_recipe *r, int n, const int *values, int axis)
{
	int64_t total = 0;

	for (int i = 0; i < n; i++) {
		if (values[i] == LBX_FAIL)
			return LBX_FAIL;
		const struct lbx_step *s = &r->steps[values[i]];
		if (axis >= s->rank || !lb_sum_of(total, s->shape[axis], &total))
			return senseless();
	}
	if (n < 1)
		return senseless();
	if (n == 1)
		return values[0];
	struct lbx_step like = r->steps[values[0]];
	like.shape[axis] = total;
	int y = over(r, LB_OP_CONCATENATE, like.dtype, like.rank, like.shape, n, values);
	if (y != LBX_FAIL)
		r->steps[y].params[0] = axis;
	return y;
}

int lbx_step_pad_with(struct lbx_recipe *r, int x, const int64_t *low, const int64_t *shape, int value)
{
	if (x == LBX_FAIL || value == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = r->steps[x];
	for (int i = 0; i < s.rank; i++)
		if (low[i] < 0 || low[i] > INT32_MAX || shape[i] < s.shape[i] || shape[i] - s.shape[i] < low[i])
			return senseless();
	int y = over(r, LB_OP_PAD, s.dtype, s.rank, shape, 2, (int[]){ x, value });
	for (int i = 0; y != LBX_FAIL && i < LB_PARAMS; i++)
		r->steps[y].params[i] =
		    lb_conv_pair(2 * i < s.rank ? low[2 * i] : 0, 2 * i + 1 < s.rank ? low[2 * i + 1] : 0);
	return y;
}

int lbx_step_pad(struct lbx_recipe *r, int x, const int64_t *low, const int64_t *shape, double value)
{
	return x == LBX_FAIL ? LBX_FAIL
			     : lbx_step_pad_with(r, x, low, shape, lbx_step_number(r, r->steps[x].dtype, value));
}

int lbx_step_over(struct lbx_recipe *r, int op, enum lb_dtype dtype, int rank, const int64_t *shape, int n,
		  const int *x, const int64_t *params)
{
	int y = over(r, op, dtype, rank, shape, n, x);

	if (y != LBX_FAIL)
		memcpy(r->steps[y].params, params, sizeof r->steps[y].params);
	return y;
}

int lbx_step_put_slice(struct lbx_recipe *r, int x, int update, const int64_t *first, const int64_t *steps)
{
	int64_t params[LB_PARAMS] = { 0 }, behind = 1, reach;

	if (x == LBX_FAIL || update == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step to = r->steps[x], from = r->steps[update];
	if (to.rank != from.rank || !count(to.rank, to.shape) || !count(from.rank, from.shape))
		return to.rank == from.rank ? x : senseless();
	for (int i = to.rank; i-- > 0; behind *= to.shape[i]) {
		if (first[i] < 0 || first[i] >= to.shape[i] || !lb_mul(from.shape[i] - 1, steps[i], &reach) ||
		    reach < -first[i] || reach >= to.shape[i] - first[i])
			return senseless();
		/* backwards is forwards from the other end */
		int64_t step = from.shape[i] > 1 ? steps[i] : 1;
		if (step < 0) {
			from.offset += (from.shape[i] - 1) * from.strides[i];
			from.strides[i] = -from.strides[i];
		}
		params[0] += (step < 0 ? first[i] + reach : first[i]) * behind;
		params[1] += ((step < 0 ? -step : step) - 1) * behind;
	}
	update = lbx_step_view(r, update, from.rank, from.shape, from.strides, from.offset);
	update = lbx_step_cast(r, update, to.dtype);
	return lbx_step_over(r, LB_OP_SLICE_UPDATE, to.dtype, to.rank, to.shape, 2, (int[]){ x, update }, params);
}
