/* NumPy's words, a row each; PyTorch's where they differ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/formula/value.h"
#include "inspect/say.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/name.h"

static int place_of(const struct lbx_formula_build *b, const struct lbx_formula_call *c)
{
	return b->tree->nodes[c->node].begin;
}

/* ---- arguments ---- */

/* The node of a keyword, or, if `i` is not negative and so many stand there, of the i-th argument; -1: neither. */
static int find_arg(const struct lbx_formula_build *b, const struct lbx_formula_call *c, const char *keyword,
		    const char *other, int i)
{
	const struct lbx_formula_tree *t = b->tree;

	for (int k = 1; k < t->nodes[c->node].n; k++) {
		int child = lbx_formula_child(t, c->node, k);
		if (t->nodes[child].kind == LBX_FORMULA_KEYWORD &&
		    (lbx_formula_is_word(t, child, keyword) || (other && lbx_formula_is_word(t, child, other))))
			return lbx_formula_child(t, child, 0);
	}
	return i >= 0 && i < c->n ? c->args[i] : -1;
}

static bool number_of(struct lbx_formula_build *b, int node, const char *what, double *ret)
{
	struct lbx_formula_value x;

	if (!lbx_formula_value_of(b, node, &x))
		return false;
	*ret = x.number;
	return x.is_number || lbx_formula_fail(b->tree, b->tree->nodes[node].begin, "%s is a number", what);
}

static bool whole_of(struct lbx_formula_build *b, int node, const char *what, int64_t *ret)
{
	double number;

	if (!number_of(b, node, what, &number))
		return false;
	*ret = fabs(number) <= LBX_FORMULA_WHOLE ? (int64_t)number : 0;
	return number == (double)*ret ||
	       lbx_formula_fail(b->tree, b->tree->nodes[node].begin, "%s is a whole number", what);
}

static bool is_none(const struct lbx_formula_build *b, int node)
{
	return b->tree->nodes[node].kind == LBX_FORMULA_NAME && lbx_formula_is_word(b->tree, node, "None");
}

/* True, False, or a number. */
static bool flag_of(struct lbx_formula_build *b, const struct lbx_formula_call *c, const char *keyword,
		    const char *other, bool *ret)
{
	int node = find_arg(b, c, keyword, other, -1);
	double number;

	*ret = false;
	if (node < 0)
		return true;
	if (!number_of(b, node, keyword, &number))
		return false;
	*ret = number != 0;
	return true;
}

static bool axis_of(struct lbx_formula_build *b, int node, int rank, int *ret)
{
	int64_t axis;

	if (!whole_of(b, node, "an axis", &axis))
		return false;
	if (axis < -rank || axis >= rank)
		return lbx_formula_fail(b->tree, b->tree->nodes[node].begin, "axis %lld of a tensor of %d %s",
					(long long)axis, rank, LB_PLURAL(rank, "axis", "axes"));
	*ret = (int)(axis < 0 ? axis + rank : axis);
	return true;
}

/* Whole numbers: the elements of a list, or the arguments from the i-th on; returns how many, -1 on failure. */
static int wholes_of(struct lbx_formula_build *b, const struct lbx_formula_call *c, int i, int node, const char *what,
		     int64_t ret[LB_MAX_RANK])
{
	const struct lbx_formula_tree *t = b->tree;
	bool is_list = t->nodes[node].kind == LBX_FORMULA_TUPLE;
	int n = is_list ? t->nodes[node].n : i >= 0 ? c->n - i : 1;

	if (n > LB_MAX_RANK) {
		lbx_formula_fail(t, t->nodes[node].begin, "a value that is computed has at most %d axes", LB_MAX_RANK);
		return -1;
	}
	for (int k = 0; k < n; k++) {
		int element = is_list ? lbx_formula_child(t, node, k) : i >= 0 ? c->args[i + k] : node;
		if (!whole_of(b, element, what, &ret[k]))
			return -1;
	}
	return n;
}

/* Those of `axis`, as bits; all of them where there is none. */
static bool axes_of(struct lbx_formula_build *b, const struct lbx_formula_call *c, int i, int rank, uint32_t *ret)
{
	int node = find_arg(b, c, "axis", "dim", i);
	int axis;

	*ret = rank ? (1u << rank) - 1 : 0;
	if (node < 0 || is_none(b, node))
		return true;
	*ret = 0;
	bool is_list = b->tree->nodes[node].kind == LBX_FORMULA_TUPLE;
	for (int k = 0; k < (is_list ? b->tree->nodes[node].n : 1); k++) {
		if (!axis_of(b, is_list ? lbx_formula_child(b->tree, node, k) : node, rank, &axis))
			return false;
		*ret |= 1u << axis;
	}
	return true;
}

/* ---- elementwise ---- */

static bool unary(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x;

	return lbx_formula_tensor_of(b, c->args[0], &x) &&
	       lbx_formula_elementwise(b, place_of(b, c), c->name, c->op, 1, &x, ret);
}

/* Whole numbers are what they are. */
static bool rounded(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	if (!lbx_formula_tensor_of(b, c->args[0], ret))
		return false;
	return !lb_dtype_is_inexact(lbx_formula_step(b, ret)->dtype) || unary(b, c, ret);
}

static bool binary(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x[2];

	for (int i = 0; i < 2; i++)
		if (!lbx_formula_value_of(b, c->args[i], &x[i]))
			return false;
	return lbx_formula_elementwise(b, place_of(b, c), c->name, c->op, 2, x, ret) && lbx_formula_make_tensor(b, ret);
}

static bool number(double value, bool is_whole, struct lbx_formula_value *ret)
{
	*ret = (struct lbx_formula_value){ .is_number = true, .is_whole = is_whole, .number = value };
	return true;
}

/* op(x, number) */
static bool with(struct lbx_formula_build *b, const struct lbx_formula_call *c, int op,
		 const struct lbx_formula_value *x, double value, bool is_whole, struct lbx_formula_value *ret)
{
	struct lbx_formula_value both[2] = { *x };

	number(value, is_whole, &both[1]);
	return lbx_formula_elementwise(b, place_of(b, c), c->name, op, 2, both, ret);
}

static bool relu(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x;

	return lbx_formula_tensor_of(b, c->args[0], &x) && with(b, c, LB_OP_MAXIMUM, &x, 0, true, ret);
}

static bool sign(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x, is_less, choice[3], rest;

	if (!lbx_formula_tensor_of(b, c->args[0], &x) || !with(b, c, LB_OP_LESS, &x, 0, true, &is_less) ||
	    !with(b, c, LB_OP_GREATER, &x, 0, true, &choice[0]))
		return false;
	/* NaN stays NaN: it is neither, and x itself is what neither gives */
	number(1, true, &choice[1]);
	choice[2] = x;
	if (!lbx_formula_elementwise(b, place_of(b, c), c->name, LB_OP_WHERE, 3, choice, &rest))
		return false;
	choice[0] = is_less;
	number(-1, true, &choice[1]);
	choice[2] = rest;
	return lbx_formula_elementwise(b, place_of(b, c), c->name, LB_OP_WHERE, 3, choice, ret);
}

static bool where(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x[3];

	for (int i = 0; i < 3; i++)
		if (!lbx_formula_value_of(b, c->args[i], &x[i]))
			return false;
	return lbx_formula_elementwise(b, place_of(b, c), c->name, LB_OP_WHERE, 3, x, ret);
}

static bool clip(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	static const struct {
		const char *keyword, *other;
		int op;
	} bounds[] = { { "min", "a_min", LB_OP_MAXIMUM }, { "max", "a_max", LB_OP_MINIMUM } };
	struct lbx_formula_value x[2];

	if (!lbx_formula_tensor_of(b, c->args[0], ret))
		return false;
	for (int i = 0; i < 2; i++) {
		int node = find_arg(b, c, bounds[i].keyword, bounds[i].other, i + 1);
		if (node < 0 || is_none(b, node))
			continue;
		x[0] = *ret;
		if (!lbx_formula_value_of(b, node, &x[1]) ||
		    !lbx_formula_elementwise(b, place_of(b, c), c->name, bounds[i].op, 2, x, ret))
			return false;
	}
	return true;
}

/* ---- reductions ---- */

/* Without the axes that have become 1, but where they are kept. */
static bool drop_axes(struct lbx_formula_build *b, const struct lbx_formula_call *c, uint32_t axes,
		      struct lbx_formula_value *x)
{
	struct lbx_step s = *lbx_formula_step(b, x);
	int64_t shape[LB_MAX_RANK];
	bool keeps;
	int rank = 0;

	if (!flag_of(b, c, "keepdims", "keepdim", &keeps))
		return false;
	for (int i = 0; i < s.rank; i++)
		if (!(axes >> i & 1))
			shape[rank++] = s.shape[i];
	return keeps || lbx_formula_take(b, place_of(b, c), lbx_step_reshape(b->r, x->step, rank, shape), x);
}

static enum lb_dtype reduced_dtype(int op, enum lb_dtype dtype)
{
	switch (op) {
	case LB_OP_SUM:
	case LB_OP_PROD:
		if (dtype == LB_BOOL || (lb_dtype_is_signed_int(dtype) && dtype < LB_I32))
			return LB_I32;
		return dtype == LB_U8 || dtype == LB_U16 ? LB_U32 : dtype;
	case LB_OP_MEAN:
	case LB_OP_VAR:
	case LB_OP_LOGSUMEXP: return lb_dtype_is_inexact(dtype) ? dtype : LB_F32;
	case LB_OP_ALL:
	case LB_OP_ANY: return LB_BOOL;
	default: return dtype;
	}
}

/* Keeps the axes; x is not a number. */
static bool reduce_by(struct lbx_formula_build *b, const struct lbx_formula_call *c, int op, uint32_t axes,
		      struct lbx_formula_value *x)
{
	enum lb_dtype dtype = reduced_dtype(op, lbx_formula_step(b, x)->dtype);
	bool is_scalar = !lbx_formula_step(b, x)->rank;
	int step = is_scalar ? lbx_step_reshape(b->r, x->step, 1, (int64_t[]){ 1 }) : x->step;

	step = lbx_step_reduce(b->r, op, step, is_scalar ? 1 : axes);
	if (step != LBX_FAIL)
		b->r->steps[step].dtype = dtype;
	if (is_scalar)
		step = lbx_step_reshape(b->r, step, 0, NULL);
	return lbx_formula_take(b, place_of(b, c), step, x);
}

static bool reduce(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	uint32_t axes;

	return lbx_formula_tensor_of(b, c->args[0], ret) && axes_of(b, c, 1, lbx_formula_step(b, ret)->rank, &axes) &&
	       reduce_by(b, c, c->op, axes, ret) && drop_axes(b, c, axes, ret);
}

/* max(x, y) is maximum(x, y), as in C and in PyTorch; max(x, 0) goes by NumPy: an axis. */
static bool extreme(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_call both = *c;
	struct lbx_formula_value y;

	if (c->n < 2)
		return reduce(b, c, ret);
	if (b->tree->nodes[c->args[1]].kind != LBX_FORMULA_TUPLE) {
		if (!lbx_formula_value_of(b, c->args[1], &y))
			return false;
		if (!y.is_number) {
			both.op = c->op == LB_OP_MAX ? LB_OP_MAXIMUM : LB_OP_MINIMUM;
			return binary(b, &both, ret);
		}
	}
	return reduce(b, c, ret);
}

static bool variance(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int node = find_arg(b, c, "ddof", "correction", -1);
	struct lbx_formula_value x;
	uint32_t axes;
	int64_t ddof = 0;

	if ((node >= 0 && !whole_of(b, node, "ddof", &ddof)) || !lbx_formula_tensor_of(b, c->args[0], &x) ||
	    !axes_of(b, c, 1, lbx_formula_step(b, &x)->rank, &axes))
		return false;
	if (!lbx_formula_step(b, &x)->rank)
		return lbx_formula_fail(b->tree, place_of(b, c), "%s: a number does not vary", c->name);
	enum lb_dtype dtype = reduced_dtype(LB_OP_VAR, lbx_formula_step(b, &x)->dtype);
	int step = lbx_step_reduce(b->r, LB_OP_VAR, x.step, axes);
	if (step != LBX_FAIL) {
		b->r->steps[step].dtype = dtype;
		b->r->steps[step].params[2] = ddof;
	}
	if (!lbx_formula_take(b, place_of(b, c), step, &x))
		return false;
	if (strcmp(c->name, "std") == 0 && !lbx_formula_elementwise(b, place_of(b, c), c->name, LB_OP_SQRT, 1,
								    &(struct lbx_formula_value){ .step = x.step }, &x))
		return false;
	*ret = x;
	return drop_axes(b, c, axes, ret);
}

/* The root of the sum of squares. */
static bool norm(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x, y;
	int at = place_of(b, c);
	uint32_t axes;

	if (!lbx_formula_tensor_of(b, c->args[0], &x) || !axes_of(b, c, -1, lbx_formula_step(b, &x)->rank, &axes))
		return false;
	enum lb_dtype dtype = lbx_formula_step(b, &x)->dtype;
	if (!lb_dtype_is_inexact(dtype) && !lbx_formula_cast(b, &x, LB_F32))
		return lbx_formula_take(b, at, LBX_FAIL, ret);
	/* of halves the squares would overflow */
	bool is_half = dtype == LB_F16 || dtype == LB_BF16;
	if (is_half && !lbx_formula_cast(b, &x, LB_F32))
		return lbx_formula_take(b, at, LBX_FAIL, ret);
	if (!lbx_formula_elementwise(b, at, c->name, LB_OP_ABS, 1, &x, &y) ||
	    !lbx_formula_elementwise(b, at, c->name, LB_OP_SQUARE, 1, &y, &x) ||
	    !reduce_by(b, c, LB_OP_SUM, axes, &x) || !lbx_formula_elementwise(b, at, c->name, LB_OP_SQRT, 1, &x, ret))
		return false;
	return drop_axes(b, c, axes, ret);
}

static bool count_nonzero(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x;
	uint32_t axes;

	return lbx_formula_tensor_of(b, c->args[0], &x) && axes_of(b, c, 1, lbx_formula_step(b, &x)->rank, &axes) &&
	       with(b, c, LB_OP_NOT_EQUAL, &x, 0, true, ret) && reduce_by(b, c, LB_OP_SUM, axes, ret) &&
	       drop_axes(b, c, axes, ret);
}

static bool flatten_step(struct lbx_formula_build *b, int at, struct lbx_formula_value *x)
{
	struct lbx_step s = *lbx_formula_step(b, x);
	int64_t n = 1;

	for (int i = 0; i < s.rank; i++)
		n *= s.shape[i];
	return lbx_formula_take(b, at, lbx_step_reshape(b->r, x->step, 1, &n), x);
}

/* Of all elements the place in row-major order. */
static bool arg(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int node = find_arg(b, c, "axis", "dim", 1), axis = 0;
	bool is_of_all = node < 0 || is_none(b, node);

	if (!lbx_formula_tensor_of(b, c->args[0], ret) || (is_of_all && !flatten_step(b, place_of(b, c), ret)))
		return false;
	if (!is_of_all && !axis_of(b, node, lbx_formula_step(b, ret)->rank, &axis))
		return false;
	return lbx_formula_take(b, place_of(b, c), lbx_step_arg(b->r, c->op, ret->step, axis), ret) &&
	       drop_axes(b, c, 1u << axis, ret);
}

/* ---- along an axis ---- */

/* That of `axis`, or the last; NumPy's flat ones are flattened. */
static bool line_of(struct lbx_formula_build *b, const struct lbx_formula_call *c, bool is_flat,
		    struct lbx_formula_value *x, int *ret)
{
	int node = find_arg(b, c, "axis", "dim", 1);

	if (!lbx_formula_tensor_of(b, c->args[0], x))
		return false;
	if ((node < 0 && is_flat) || !lbx_formula_step(b, x)->rank) {
		*ret = 0;
		return flatten_step(b, place_of(b, c), x);
	}
	*ret = lbx_formula_step(b, x)->rank - 1;
	return node < 0 || axis_of(b, node, lbx_formula_step(b, x)->rank, ret);
}

static bool softmax(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int axis;

	if (!line_of(b, c, false, ret, &axis))
		return false;
	if (!lb_dtype_is_inexact(lbx_formula_step(b, ret)->dtype) && !lbx_formula_cast(b, ret, LB_F32))
		return lbx_formula_take(b, place_of(b, c), LBX_FAIL, ret);
	int step = lbx_step_rows(b->r, LB_OP_SOFTMAX, ret->step);
	if (step != LBX_FAIL)
		b->r->steps[step].params[0] = 1 << axis;
	return lbx_formula_take(b, place_of(b, c), step, ret);
}

static bool sorted(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int axis;

	if (!line_of(b, c, false, ret, &axis))
		return false;
	int step = lbx_step_rows(b->r, c->op, ret->step);
	if (step != LBX_FAIL)
		b->r->steps[step].params[0] = axis;
	return lbx_formula_take(b, place_of(b, c), step, ret);
}

static bool cumsum(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int axis;

	if (!line_of(b, c, true, ret, &axis))
		return false;
	if (lbx_formula_step(b, ret)->dtype == LB_BOOL && !lbx_formula_cast(b, ret, LB_I32))
		return lbx_formula_take(b, place_of(b, c), LBX_FAIL, ret);
	return lbx_formula_take(b, place_of(b, c), lbx_step_cumsum(b->r, ret->step, axis, false, true), ret);
}

static bool flip(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	uint32_t axes;

	if (!lbx_formula_tensor_of(b, c->args[0], ret) || !axes_of(b, c, 1, lbx_formula_step(b, ret)->rank, &axes))
		return false;
	struct lbx_step s = *lbx_formula_step(b, ret);
	for (int i = 0; i < s.rank; i++) {
		if (!(axes >> i & 1) || !s.shape[i])
			continue;
		s.offset += (s.shape[i] - 1) * s.strides[i];
		s.strides[i] = -s.strides[i];
	}
	return lbx_formula_take(b, place_of(b, c), lbx_step_view(b->r, ret->step, s.rank, s.shape, s.strides, s.offset),
				ret);
}

/* ---- shapes ---- */

static bool reshape(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int64_t shape[LB_MAX_RANK], known = 1, size = 1;
	int free_axis = -1, at = place_of(b, c);
	char text[LBX_LIST_MAX];

	if (!lbx_formula_tensor_of(b, c->args[0], ret))
		return false;
	int rank = c->n == 1 ? 0 : wholes_of(b, c, 1, c->args[1], "a size", shape);
	if (rank < 0)
		return false;
	struct lbx_step s = *lbx_formula_step(b, ret);
	for (int i = 0; i < s.rank; i++)
		size *= s.shape[i];
	for (int i = 0; i < rank; i++) {
		if (shape[i] == -1 && free_axis < 0)
			free_axis = i;
		else if (shape[i] < 0 || (shape[i] && known > INT64_MAX / (shape[i] ? shape[i] : 1)))
			return lbx_formula_fail(b->tree, at, "reshape: a size is 0 or more, and one of them may be -1");
		else
			known *= shape[i];
	}
	if (free_axis >= 0 && known)
		shape[free_axis] = size / known;
	lbx_format_list(s.shape, s.rank, text, sizeof text);
	if (free_axis >= 0 ? !known || known * shape[free_axis] != size : known != size)
		return lbx_formula_fail(b->tree, at, "reshape: %s has %lld element%s, which do not fill that shape",
					text, (long long)size, LB_S(size));
	return lbx_formula_take(b, at, lbx_step_reshape(b->r, ret->step, rank, shape), ret);
}

static bool flatten(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	return lbx_formula_tensor_of(b, c->args[0], ret) && flatten_step(b, place_of(b, c), ret);
}

static bool transpose(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int64_t order[LB_MAX_RANK];
	int axes[LB_MAX_RANK], node = find_arg(b, c, "axes", "dims", 1), n, at = place_of(b, c);
	uint32_t seen = 0;

	if (!lbx_formula_tensor_of(b, c->args[0], ret))
		return false;
	int rank = lbx_formula_step(b, ret)->rank;
	if (node < 0) {
		for (int i = 0; i < rank; i++)
			axes[i] = rank - 1 - i;
		return lbx_formula_take(b, at, lbx_step_permute(b->r, ret->step, axes), ret);
	}
	n = wholes_of(b, c, c->n > 1 ? 1 : -1, node, "an axis", order);
	if (n < 0)
		return false;
	/* PyTorch's transpose(x, 0, 1) exchanges two */
	if (n == 2 && rank != 2 && c->n == 3) {
		for (int i = 0; i < rank; i++)
			axes[i] = i;
		for (int i = 0; i < 2; i++)
			if (!axis_of(b, c->args[1 + i], rank, &axes[LB_MAX_RANK - 1 - i]))
				return false;
		int one = axes[LB_MAX_RANK - 1], other = axes[LB_MAX_RANK - 2];
		for (int i = 0; i < rank; i++)
			axes[i] = i == one ? other : i == other ? one : i;
		return lbx_formula_take(b, at, lbx_step_permute(b->r, ret->step, axes), ret);
	}
	for (int i = 0; i < n && n == rank; i++) {
		axes[i] = (int)(order[i] < 0 ? order[i] + rank : order[i]);
		if (order[i] < -rank || order[i] >= rank || seen >> axes[i] & 1)
			n = -1;
		else
			seen |= 1u << axes[i];
	}
	if (n != rank)
		return lbx_formula_fail(b->tree, at, "%s: the axes are 0 to %d, each once", c->name, rank - 1);
	return lbx_formula_take(b, at, lbx_step_permute(b->r, ret->step, axes), ret);
}

static bool swapaxes(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int axes[LB_MAX_RANK], one, other;

	if (!lbx_formula_tensor_of(b, c->args[0], ret))
		return false;
	int rank = lbx_formula_step(b, ret)->rank;
	if (!axis_of(b, c->args[1], rank, &one) || !axis_of(b, c->args[2], rank, &other))
		return false;
	for (int i = 0; i < rank; i++)
		axes[i] = i == one ? other : i == other ? one : i;
	return lbx_formula_take(b, place_of(b, c), lbx_step_permute(b->r, ret->step, axes), ret);
}

static bool squeeze(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int64_t shape[LB_MAX_RANK];
	bool all = find_arg(b, c, "axis", "dim", 1) < 0;
	uint32_t axes;
	int rank = 0;

	if (!lbx_formula_tensor_of(b, c->args[0], ret) || !axes_of(b, c, 1, lbx_formula_step(b, ret)->rank, &axes))
		return false;
	struct lbx_step s = *lbx_formula_step(b, ret);
	for (int i = 0; i < s.rank; i++) {
		if (!(axes >> i & 1) || s.shape[i] != 1) {
			if (axes >> i & 1 && !all)
				return lbx_formula_fail(b->tree, place_of(b, c),
							"squeeze: axis %d has %lld elements, not 1", i,
							(long long)s.shape[i]);
			shape[rank++] = s.shape[i];
		}
	}
	return lbx_formula_take(b, place_of(b, c), lbx_step_reshape(b->r, ret->step, rank, shape), ret);
}

static bool expand_dims(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int64_t shape[LB_MAX_RANK];
	int node = find_arg(b, c, "axis", "dim", 1), axis, n = 0;

	if (!lbx_formula_tensor_of(b, c->args[0], ret))
		return false;
	struct lbx_step s = *lbx_formula_step(b, ret);
	if (node < 0)
		return lbx_formula_fail(b->tree, place_of(b, c), "%s: which axis is missing", c->name);
	if (s.rank == LB_MAX_RANK)
		return lbx_formula_fail(b->tree, place_of(b, c), "a value that is computed has at most %d axes",
					LB_MAX_RANK);
	if (!axis_of(b, node, s.rank + 1, &axis))
		return false;
	for (int i = 0; i <= s.rank; i++)
		shape[i] = i == axis ? 1 : s.shape[n++];
	return lbx_formula_take(b, place_of(b, c), lbx_step_reshape(b->r, ret->step, s.rank + 1, shape), ret);
}

static bool same(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	return lbx_formula_tensor_of(b, c->args[0], ret);
}

static bool item(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	if (!lbx_formula_tensor_of(b, c->args[0], ret))
		return false;
	struct lbx_step s = *lbx_formula_step(b, ret);
	for (int i = 0; i < s.rank; i++)
		if (s.shape[i] != 1)
			return lbx_formula_fail(b->tree, place_of(b, c), "item: it has more than one element, or none");
	return lbx_formula_take(b, place_of(b, c), lbx_step_reshape(b->r, ret->step, 0, NULL), ret);
}

/* ---- dtypes ---- */

static bool cast(struct lbx_formula_build *b, const struct lbx_formula_call *c, enum lb_dtype dtype,
		 struct lbx_formula_value *ret)
{
	return lbx_formula_tensor_of(b, c->args[0], ret) &&
	       (lbx_formula_cast(b, ret, dtype) || lbx_formula_take(b, place_of(b, c), LBX_FAIL, ret));
}

/* float32, np.float32, 'float32', float */
static bool astype(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	static const struct {
		const char *word;
		enum lb_dtype dtype;
	} words[] = { { "float", LB_F32 }, { "double", LB_F64 }, { "half", LB_F16 }, { "int", LB_I32 },
		      { "long", LB_I64 },  { "bool_", LB_BOOL }, { "short", LB_I16 } };
	const struct lbx_formula_node *n = &b->tree->nodes[c->args[1]];
	bool is_member = n->kind == LBX_FORMULA_MEMBER;
	int begin = is_member ? n->word : n->begin, length = is_member ? n->n_word : n->end - n->begin;
	enum lb_dtype dtype;
	char word[32];

	if (length > 2 && strchr("'\"", b->tree->text[begin])) {
		begin++;
		length -= 2;
	}
	snprintf(word, sizeof word, "%.*s", length, b->tree->text + begin);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i].word) == 0)
			return cast(b, c, words[i].dtype, ret);
	if (!lbx_dtype_parse(word, &dtype))
		return lbx_formula_fail(b->tree, begin, "'%s' is no dtype: float32, bfloat16, int64, …", word);
	return cast(b, c, dtype, ret);
}

/* PyTorch's x.float() */
static bool as_word(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	return cast(b, c, (enum lb_dtype)c->op, ret);
}

/* ---- of two ---- */

static bool matmul(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x[2];

	return lbx_formula_tensor_of(b, c->args[0], &x[0]) && lbx_formula_tensor_of(b, c->args[1], &x[1]) &&
	       lbx_formula_multiply(b, place_of(b, c), &x[0], &x[1], ret);
}

static bool all_of(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *x)
{
	int rank = lbx_formula_step(b, x)->rank;
	uint32_t axes = rank ? (1u << rank) - 1 : 0;

	return reduce_by(b, c, LB_OP_ALL, axes, x) && drop_axes(b, c, axes, x);
}

static bool array_equal(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	struct lbx_formula_call equal = *c;

	equal.op = LB_OP_EQUAL;
	return binary(b, &equal, ret) && all_of(b, c, ret);
}

/* |x - y| <= atol + rtol |y|, or both the same. */
static bool allclose(struct lbx_formula_build *b, const struct lbx_formula_call *c, struct lbx_formula_value *ret)
{
	int rtol_node = find_arg(b, c, "rtol", NULL, 2), atol_node = find_arg(b, c, "atol", NULL, 3),
	    at = place_of(b, c);
	struct lbx_formula_value x[2], apart, size, room, is[2];
	double rtol = 1e-5, atol = 1e-8;

	if ((rtol_node >= 0 && !number_of(b, rtol_node, "rtol", &rtol)) ||
	    (atol_node >= 0 && !number_of(b, atol_node, "atol", &atol)))
		return false;
	for (int i = 0; i < 2; i++) {
		if (!lbx_formula_tensor_of(b, c->args[i], &x[i]))
			return false;
		enum lb_dtype dtype = lbx_formula_step(b, &x[i])->dtype;
		if ((!lb_dtype_is_inexact(dtype) || dtype == LB_F16 || dtype == LB_BF16) &&
		    !lbx_formula_cast(b, &x[i], LB_F32))
			return lbx_formula_take(b, at, LBX_FAIL, ret);
	}
	if (!lbx_formula_elementwise(b, at, c->name, LB_OP_EQUAL, 2, x, &is[0]) ||
	    !lbx_formula_elementwise(b, at, c->name, LB_OP_SUBTRACT, 2, x, &apart) ||
	    !lbx_formula_elementwise(b, at, c->name, LB_OP_ABS, 1, &apart, &room))
		return false;
	apart = room;
	if (!lbx_formula_elementwise(b, at, c->name, LB_OP_ABS, 1, &x[1], &size) ||
	    !with(b, c, LB_OP_MULTIPLY, &size, rtol, false, &room) || !with(b, c, LB_OP_ADD, &room, atol, false, &size))
		return false;
	x[0] = apart;
	x[1] = size;
	if (!lbx_formula_elementwise(b, at, c->name, LB_OP_LESS_EQUAL, 2, x, &is[1]))
		return false;
	/* an infinite room holds no infinite distance */
	x[0] = is[1];
	if (!lbx_formula_elementwise(b, at, c->name, LB_OP_ISINF, 1, &size, &room) ||
	    !lbx_formula_elementwise(b, at, c->name, LB_OP_LOGICAL_NOT, 1, &room, &x[1]) ||
	    !lbx_formula_elementwise(b, at, c->name, LB_OP_LOGICAL_AND, 2, x, &is[1]))
		return false;
	return lbx_formula_elementwise(b, at, c->name, LB_OP_LOGICAL_OR, 2, is, ret) && all_of(b, c, ret);
}

/* ---- the rows ---- */

#define AXES "axis dim keepdims keepdim"
enum { MANY = LBX_FORMULA_ARGS };

static const struct lbx_formula_function functions[] = {
	{ "abs", unary, LB_OP_ABS, 1, 1, NULL },
	{ "absolute", unary, LB_OP_ABS, 1, 1, NULL },
	{ "negative", unary, LB_OP_NEGATIVE, 1, 1, NULL },
	{ "exp", unary, LB_OP_EXP, 1, 1, NULL },
	{ "log", unary, LB_OP_LOG, 1, 1, NULL },
	{ "sqrt", unary, LB_OP_SQRT, 1, 1, NULL },
	{ "rsqrt", unary, LB_OP_RSQRT, 1, 1, NULL },
	{ "square", unary, LB_OP_SQUARE, 1, 1, NULL },
	{ "sin", unary, LB_OP_SIN, 1, 1, NULL },
	{ "cos", unary, LB_OP_COS, 1, 1, NULL },
	{ "tanh", unary, LB_OP_TANH, 1, 1, NULL },
	{ "tan", unary, LB_OP_TAN, 1, 1, NULL },
	{ "arcsin", unary, LB_OP_ARCSIN, 1, 1, NULL },
	{ "arccos", unary, LB_OP_ARCCOS, 1, 1, NULL },
	{ "arctan", unary, LB_OP_ARCTAN, 1, 1, NULL },
	{ "sinh", unary, LB_OP_SINH, 1, 1, NULL },
	{ "cosh", unary, LB_OP_COSH, 1, 1, NULL },
	{ "arcsinh", unary, LB_OP_ARCSINH, 1, 1, NULL },
	{ "arccosh", unary, LB_OP_ARCCOSH, 1, 1, NULL },
	{ "arctanh", unary, LB_OP_ARCTANH, 1, 1, NULL },
	{ "expm1", unary, LB_OP_EXPM1, 1, 1, NULL },
	{ "log1p", unary, LB_OP_LOG1P, 1, 1, NULL },
	{ "log2", unary, LB_OP_LOG2, 1, 1, NULL },
	{ "log10", unary, LB_OP_LOG10, 1, 1, NULL },
	{ "erfinv", unary, LB_OP_ERFINV, 1, 1, NULL },
	{ "sigmoid", unary, LB_OP_SIGMOID, 1, 1, NULL },
	{ "erf", unary, LB_OP_ERF, 1, 1, NULL },
	{ "floor", rounded, LB_OP_FLOOR, 1, 1, NULL },
	{ "ceil", rounded, LB_OP_CEIL, 1, 1, NULL },
	{ "round", rounded, LB_OP_ROUND, 1, 1, NULL },
	{ "isnan", unary, LB_OP_ISNAN, 1, 1, NULL },
	{ "isinf", unary, LB_OP_ISINF, 1, 1, NULL },
	{ "isfinite", unary, LB_OP_ISFINITE, 1, 1, NULL },
	{ "isposinf", unary, LB_OP_ISPOSINF, 1, 1, NULL },
	{ "isneginf", unary, LB_OP_ISNEGINF, 1, 1, NULL },
	{ "logical_not", unary, LB_OP_LOGICAL_NOT, 1, 1, NULL },
	{ "invert", unary, LB_OP_BITWISE_INVERT, 1, 1, NULL },
	{ "relu", relu, 0, 1, 1, NULL },
	{ "sign", sign, 0, 1, 1, NULL },
	{ "add", binary, LB_OP_ADD, 2, 2, NULL },
	{ "subtract", binary, LB_OP_SUBTRACT, 2, 2, NULL },
	{ "multiply", binary, LB_OP_MULTIPLY, 2, 2, NULL },
	{ "divide", binary, LB_OP_DIVIDE, 2, 2, NULL },
	{ "power", binary, LB_OP_POWER, 2, 2, NULL },
	{ "pow", binary, LB_OP_POWER, 2, 2, NULL },
	{ "maximum", binary, LB_OP_MAXIMUM, 2, 2, NULL },
	{ "minimum", binary, LB_OP_MINIMUM, 2, 2, NULL },
	{ "remainder", binary, LB_OP_REMAINDER, 2, 2, NULL },
	{ "floor_divide", binary, LB_OP_FLOOR_DIVIDE, 2, 2, NULL },
	{ "arctan2", binary, LB_OP_ARCTAN2, 2, 2, NULL },
	{ "logaddexp", binary, LB_OP_LOGADDEXP, 2, 2, NULL },
	{ "logical_and", binary, LB_OP_LOGICAL_AND, 2, 2, NULL },
	{ "logical_or", binary, LB_OP_LOGICAL_OR, 2, 2, NULL },
	{ "equal", binary, LB_OP_EQUAL, 2, 2, NULL },
	{ "where", where, 0, 3, 3, NULL },
	{ "clip", clip, 0, 1, 3, "min max a_min a_max" },
	{ "clamp", clip, 0, 1, 3, "min max" },
	{ "sum", reduce, LB_OP_SUM, 1, 2, AXES },
	{ "mean", reduce, LB_OP_MEAN, 1, 2, AXES },
	{ "max", extreme, LB_OP_MAX, 1, 2, AXES },
	{ "min", extreme, LB_OP_MIN, 1, 2, AXES },
	{ "amax", reduce, LB_OP_MAX, 1, 2, AXES },
	{ "amin", reduce, LB_OP_MIN, 1, 2, AXES },
	{ "prod", reduce, LB_OP_PROD, 1, 2, AXES },
	{ "all", reduce, LB_OP_ALL, 1, 2, AXES },
	{ "any", reduce, LB_OP_ANY, 1, 2, AXES },
	{ "logsumexp", reduce, LB_OP_LOGSUMEXP, 1, 2, AXES },
	{ "var", variance, 0, 1, 2, AXES " ddof correction" },
	{ "std", variance, 0, 1, 2, AXES " ddof correction" },
	{ "norm", norm, 0, 1, 1, AXES },
	{ "count_nonzero", count_nonzero, 0, 1, 2, AXES },
	{ "argmax", arg, LB_OP_ARGMAX, 1, 2, AXES },
	{ "argmin", arg, LB_OP_ARGMIN, 1, 2, AXES },
	{ "softmax", softmax, 0, 1, 2, "axis dim" },
	{ "sort", sorted, LB_OP_SORT, 1, 2, "axis dim" },
	{ "argsort", sorted, LB_OP_ARGSORT, 1, 2, "axis dim" },
	{ "cumsum", cumsum, 0, 1, 2, "axis dim" },
	{ "flip", flip, 0, 1, 2, "axis dim" },
	{ "reshape", reshape, 0, 1, MANY, NULL },
	{ "view", reshape, 0, 1, MANY, NULL },
	{ "flatten", flatten, 0, 1, 1, NULL },
	{ "ravel", flatten, 0, 1, 1, NULL },
	{ "transpose", transpose, 0, 1, MANY, "axes dims" },
	{ "permute", transpose, 0, 1, MANY, "axes dims" },
	{ "t", transpose, 0, 1, 1, NULL },
	{ "swapaxes", swapaxes, 0, 3, 3, NULL },
	{ "squeeze", squeeze, 0, 1, 2, "axis dim" },
	{ "expand_dims", expand_dims, 0, 1, 2, "axis dim" },
	{ "unsqueeze", expand_dims, 0, 1, 2, "axis dim" },
	{ "contiguous", same, 0, 1, 1, NULL },
	{ "detach", same, 0, 1, 1, NULL },
	{ "cpu", same, 0, 1, 1, NULL },
	{ "numpy", same, 0, 1, 1, NULL },
	{ "clone", same, 0, 1, 1, NULL },
	{ "item", item, 0, 1, 1, NULL },
	{ "astype", astype, 0, 2, 2, NULL },
	{ "float", as_word, LB_F32, 1, 1, NULL },
	{ "double", as_word, LB_F64, 1, 1, NULL },
	{ "half", as_word, LB_F16, 1, 1, NULL },
	{ "bfloat16", as_word, LB_BF16, 1, 1, NULL },
	{ "int", as_word, LB_I32, 1, 1, NULL },
	{ "long", as_word, LB_I64, 1, 1, NULL },
	{ "bool", as_word, LB_BOOL, 1, 1, NULL },
	{ "matmul", matmul, 0, 2, 2, NULL },
	{ "dot", matmul, 0, 2, 2, NULL },
	{ "array_equal", array_equal, 0, 2, 2, NULL },
	{ "allclose", allclose, 0, 2, 4, "rtol atol" },
};
#undef AXES

enum { FUNCTIONS = sizeof functions / sizeof *functions };

const struct lbx_formula_function *lbx_formula_function(const struct lbx_formula_tree *tree, int node)
{
	for (int i = 0; i < FUNCTIONS; i++)
		if (lbx_formula_is_word(tree, node, functions[i].name))
			return &functions[i];
	return NULL;
}

void lbx_formula_suggest(const char *word, char *ret, size_t size)
{
	enum { EDITS = 2 };
	int best = EDITS + 1;

	snprintf(ret, size, ": %d are, as abs, mean, max, where, softmax, reshape (`help print` lists them)",
		 FUNCTIONS);
	for (int i = 0; i < FUNCTIONS; i++) {
		int edits = lbx_edits(word, functions[i].name, EDITS);
		if (edits < best && edits < (int)strlen(word)) {
			best = edits;
			snprintf(ret, size, "; did you mean '%s'?", functions[i].name);
		}
	}
}
