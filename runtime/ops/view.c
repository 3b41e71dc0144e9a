#include <string.h>

#include "base/plural.h"
#include "graph/shape.h"
#include "ops/operation.h"
#include "ops/view.h"
#include "probes.h"

struct lb_tensor *lb_view_node(int op, struct lb_tensor *x, int rank, const int64_t *shape, const int64_t *strides,
			       int64_t offset, const void *site)
{
	struct lb_tensor *t = lb_tensor_begin(op, (enum lb_dtype)x->dtype, rank, shape, 1, &x, site);
	if (!t)
		return NULL;
	for (int i = 0; i < rank; i++)
		t->strides[i] = strides[i];
	t->offset = x->offset + offset;
	lb_tensor_publish(t);
	lb_probe_view(t->id, (uint64_t)(uintptr_t)t, t->site, x->id);
	return t;
}

struct lb_tensor *lb_view_part(struct lb_tensor *all, int rank, const int64_t *shape, int64_t *offset, const void *site)
{
	int64_t strides[LB_MAX_RANK], size = 1, from = *offset;
	for (int i = 0; i < rank; i++)
		size *= shape[i];
	lb_row_strides(rank, shape, strides);
	*offset += size;
	return lb_view_node(LB_OP_AS_STRIDED, all, rank, shape, strides, size ? from : 0, site);
}

static struct lb_tensor *contiguous(struct lb_tensor *x, const void *site)
{
	if (lb_is_row_major(x->rank, x->shape, x->strides))
		return x;
	return lb_node(LB_OP_CONTIGUOUS, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
}

struct lb_tensor *lb_untouched(struct lb_tensor *x, const void *site)
{
	if (!lb_name(x))
		return x;
	return lb_view_node(LB_OP_RESHAPE, x, x->rank, x->shape, x->strides, 0, site);
}

lb_tensor *lb_contiguous(lb_tensor *x)
{
	LB_ENTER();
	if (!LB_GIVEN("contiguous", x))
		return NULL;
	struct lb_tensor *y = contiguous(x, site);
	return y == x ? lb_untouched(x, site) : y;
}

static struct lb_tensor *reshape(int op, struct lb_tensor *x, int rank, const int64_t *shape, const void *site)
{
	int64_t strides[LB_MAX_RANK];
	if (!lb_reshape_strides(x->rank, x->shape, x->strides, rank, shape, strides)) {
		x = contiguous(x, site);
		if (!x)
			return NULL;
		lb_row_strides(rank, shape, strides);
	}
	return lb_view_node(op, x, rank, shape, strides, 0, site);
}

lb_tensor *lb_reshape(lb_tensor *x, lb_list to)
{
	LB_ENTER();
	if (!LB_GIVEN("reshape", x))
		return NULL;
	char from_text[LB_SHAPE_TEXT], to_text[LB_SHAPE_TEXT];
	if (to.n < 0 || to.n > LB_MAX_RANK || (to.n && !to.v)) {
		lb_fail("reshape: a list of %d sizes at %p; a tensor has at most %d axes", to.n, (const void *)to.v,
			LB_MAX_RANK);
		return NULL;
	}
	int64_t shape[LB_MAX_RANK], known = 1, size;
	int unknown = -1;
	bool fits = true;
	for (int i = 0; i < to.n; i++) {
		shape[i] = to.v[i];
		if (shape[i] == -1 && unknown < 0)
			unknown = i;
		else
			fits = fits && shape[i] >= 0 && lb_mul(known, shape[i], &known);
	}
	if (fits && unknown >= 0) {
		fits = known > 0 && x->size % known == 0;
		shape[unknown] = fits ? x->size / known : 0;
	}
	if (!fits || !lb_check_shape("reshape", to.n, shape, (enum lb_dtype)x->dtype, &size) || size != x->size) {
		lb_fail("reshape: %s has %lld element%s, which do not make %s",
			lb_shape_text(x->rank, x->shape, from_text), (long long)x->size, LB_S(x->size),
			lb_shape_text(to.n, to.v, to_text));
		return NULL;
	}
	return reshape(LB_OP_RESHAPE, x, to.n, shape, site);
}

/* Axes of 1 around x's: so many in front, and the others behind. */
static struct lb_tensor *with_rank(const char *op, struct lb_tensor *x, int rank, int in_front, const void *site)
{
	int64_t shape[] = { 1, 1, 1 };
	if (!LB_GIVEN(op, x))
		return NULL;
	if (x->rank >= rank)
		return lb_untouched(x, site);
	memcpy(shape + (x->rank ? in_front : 0), x->shape, (size_t)x->rank * sizeof *shape);
	return reshape(LB_OP_RESHAPE, x, rank, shape, site);
}

lb_tensor *lb_atleast_1d(lb_tensor *x)
{
	LB_ENTER();
	return with_rank("atleast_1d", x, 1, 0, site);
}

lb_tensor *lb_atleast_2d(lb_tensor *x)
{
	LB_ENTER();
	return with_rank("atleast_2d", x, 2, 1, site);
}

lb_tensor *lb_atleast_3d(lb_tensor *x)
{
	LB_ENTER();
	return with_rank("atleast_3d", x, 3, x && x->rank == 1, site);
}

lb_tensor *lb_flatten(lb_tensor *x, int start, int end)
{
	LB_ENTER();
	if (!LB_GIVEN("flatten", x))
		return NULL;
	if (x->rank == 0)
		return reshape(LB_OP_FLATTEN, x, 1, (int64_t[]){ 1 }, site);
	int first, last;
	if (!lb_axis("flatten", start, lb_shape_of(x), 0, &first) || !lb_axis("flatten", end, lb_shape_of(x), 0, &last))
		return NULL;
	if (first > last) {
		char text[LB_SHAPE_TEXT];
		lb_fail("flatten: axis %d of %s comes after axis %d", start, lb_shape_text(x->rank, x->shape, text),
			end);
		return NULL;
	}
	int64_t shape[LB_MAX_RANK];
	int rank = 0;
	for (int i = 0; i < x->rank; i++) {
		if (i > first && i <= last)
			shape[rank - 1] *= x->shape[i];
		else
			shape[rank++] = x->shape[i];
	}
	return reshape(LB_OP_FLATTEN, x, rank, shape, site);
}

lb_tensor *lb_transpose(lb_tensor *x, lb_list axes)
{
	LB_ENTER();
	if (!LB_GIVEN("transpose", x))
		return NULL;
	uint32_t mask;
	if (!lb_axis_mask("transpose", axes, lb_shape_of(x), 0, &mask))
		return NULL;
	if (axes.n >= 0 && axes.n != x->rank) {
		char text[LB_SHAPE_TEXT];
		lb_fail("transpose: %s has %d %s, and %d are named", lb_shape_text(x->rank, x->shape, text), x->rank,
			LB_PLURAL(x->rank, "axis", "axes"), axes.n);
		return NULL;
	}
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	for (int i = 0; i < x->rank; i++) {
		int axis = x->rank - 1 - i;
		if (axes.n >= 0)
			axis = (int)(axes.v[i] < 0 ? axes.v[i] + x->rank : axes.v[i]);
		shape[i] = x->shape[axis];
		strides[i] = x->strides[axis];
	}
	return lb_view_node(LB_OP_TRANSPOSE, x, x->rank, shape, strides, 0, site);
}

lb_tensor *lb_broadcast_to(lb_tensor *x, lb_list to)
{
	LB_ENTER();
	if (!LB_GIVEN("broadcast_to", x))
		return NULL;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], size;
	int rank;
	if (!lb_check_shape("broadcast_to", to.n, to.v, (enum lb_dtype)x->dtype, &size) ||
	    !lb_broadcast("broadcast_to", x->rank, x->shape, to.n, to.v, &rank, shape))
		return NULL;
	if (!lb_same_shape(rank, shape, to.n, to.v)) {
		char from_text[LB_SHAPE_TEXT], to_text[LB_SHAPE_TEXT];
		lb_fail("broadcast_to: %s does not broadcast to %s", lb_shape_text(x->rank, x->shape, from_text),
			lb_shape_text(to.n, to.v, to_text));
		return NULL;
	}
	lb_broadcast_strides(x->rank, x->shape, x->strides, rank, shape, strides);
	return lb_view_node(LB_OP_BROADCAST_TO, x, rank, shape, strides, 0, site);
}

lb_tensor *lb_expand_dims(lb_tensor *x, lb_list axes)
{
	LB_ENTER();
	if (!LB_GIVEN("expand_dims", x))
		return NULL;
	if (axes.n < 0 || axes.n > LB_MAX_RANK - x->rank) {
		char text[LB_SHAPE_TEXT];
		lb_fail("expand_dims: %d more %s than %s has; a tensor has at most %d", axes.n,
			LB_PLURAL(axes.n, "axis", "axes"), lb_shape_text(x->rank, x->shape, text), LB_MAX_RANK);
		return NULL;
	}
	int rank = x->rank + axes.n;
	uint32_t mask;
	if (!lb_axis_mask("expand_dims", axes, lb_shape_of(x), axes.n, &mask))
		return NULL;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	for (int i = rank, from = x->rank; i-- > 0;) {
		bool added = mask & 1u << i;
		int64_t behind = i + 1 < rank ? shape[i + 1] * strides[i + 1] : 1;
		shape[i] = added ? 1 : x->shape[--from];
		strides[i] = added ? behind : x->strides[from];
	}
	return lb_view_node(LB_OP_EXPAND_DIMS, x, rank, shape, strides, 0, site);
}

lb_tensor *lb_squeeze(lb_tensor *x, lb_list axes)
{
	LB_ENTER();
	if (!LB_GIVEN("squeeze", x))
		return NULL;
	uint32_t mask;
	if (!lb_axis_mask("squeeze", axes, lb_shape_of(x), 0, &mask))
		return NULL;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	int rank = 0;
	for (int i = 0; i < x->rank; i++) {
		bool named = mask & 1u << i;
		if (named && axes.n >= 0 && x->shape[i] != 1) {
			char text[LB_SHAPE_TEXT];
			lb_fail("squeeze: axis %d of %s is not of size 1", i, lb_shape_text(x->rank, x->shape, text));
			return NULL;
		}
		if (named && x->shape[i] == 1)
			continue;
		shape[rank] = x->shape[i];
		strides[rank++] = x->strides[i];
	}
	return lb_view_node(LB_OP_SQUEEZE, x, rank, shape, strides, 0, site);
}

lb_tensor *lb_as_strided(lb_tensor *x, lb_list shape, lb_list strides, int64_t offset)
{
	LB_ENTER();
	if (!LB_GIVEN("as_strided", x))
		return NULL;
	if (shape.n != strides.n || (strides.n > 0 && !strides.v)) {
		lb_fail("as_strided: %d sizes and %d stride%s", shape.n, strides.n, LB_S(strides.n));
		return NULL;
	}
	int64_t size, low, high;
	if (!lb_check_shape("as_strided", shape.n, shape.v, (enum lb_dtype)x->dtype, &size))
		return NULL;
	bool fits = lb_strided_reach(shape.n, shape.v, strides.v, offset, &low, &high);
	if (!fits || (size && (low < 0 || high >= x->size))) {
		char text[LB_SHAPE_TEXT];
		if (!fits)
			lb_fail("as_strided: reaches elements of %s beyond what 63 bits can count",
				lb_shape_text(x->rank, x->shape, text));
		else
			lb_fail("as_strided: reaches elements %lld to %lld of %s, which has %lld", (long long)low,
				(long long)high, lb_shape_text(x->rank, x->shape, text), (long long)x->size);
		return NULL;
	}
	x = contiguous(x, site);
	return x ? lb_view_node(LB_OP_AS_STRIDED, x, shape.n, shape.v, strides.v, size ? offset : 0, site) : NULL;
}

bool lb_split(lb_tensor *x, int n, int axis, lb_tensor **parts)
{
	LB_ENTER();
	if (!LB_GIVEN("split", parts))
		return false;
	if (n > 0)
		memset(parts, 0, (size_t)n * sizeof *parts);
	int along;
	if (!LB_GIVEN("split", x) || !lb_axis("split", axis, lb_shape_of(x), 0, &along))
		return false;
	int64_t size = x->shape[along];
	if (n <= 0 || size % n) {
		char text[LB_SHAPE_TEXT];
		return lb_fail("split: axis %d of %s does not divide into %d equal parts", along,
			       lb_shape_text(x->rank, x->shape, text), n);
	}
	int64_t shape[LB_MAX_RANK], length = size / n;
	memcpy(shape, x->shape, sizeof shape);
	shape[along] = length;
	for (int i = 0; i < n; i++) {
		int64_t offset = length ? i * length * x->strides[along] : 0;
		parts[i] = lb_view_node(LB_OP_SLICE, x, x->rank, shape, x->strides, offset, site);
		if (!parts[i])
			return false;
	}
	return true;
}

struct lb_tensor *lb_remake_contiguous(const struct lb_recipe *r)
{
	return lb_contiguous(r->x[0]);
}

bool lb_compute_copy(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0), to = lb_view_of(t);
	return lb_kernel_copy(exec, &to, &x);
}
