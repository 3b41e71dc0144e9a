/* Along axes. */
#include <math.h>

#include "mlx/recipe.h"
#include "mlx/version.h"

enum { FIRST_NAN_SINCE = 3203 }; /* what argmin and argmax tell; those before passed over a NaN behind a number */

static bool has_floats(const struct lbx_mlx_node *n, int x)
{
	return (lb_dtype_is_float((int)lbx_mlx_dtype(n, x)) && lbx_step(n->r, x)->rank > 0) ||
	       lbx_mlx_no_recipe(n, "such a dtype") != LBX_FAIL;
}

static bool mask_of(const struct lbx_mlx_node *n, int x, uint32_t at, uint32_t *ret)
{
	int64_t axes[LB_MAX_RANK];
	int count;

	*ret = 0;
	if (!lbx_mlx_ints(n, at, &count, axes))
		return false;
	for (int i = 0; i < count; i++) {
		if (axes[i] < 0 || axes[i] >= lbx_step(n->r, x)->rank)
			return lbx_mlx_no_recipe(n, "such axes") != LBX_FAIL;
		*ret |= 1u << axes[i];
	}
	return true;
}

/* Whether an element of the result is of more than one of x. */
static bool folds(const struct lbx_mlx_node *n, int x, uint32_t mask)
{
	const struct lbx_step *s = lbx_step(n->r, x);

	for (int i = 0; i < s->rank; i++)
		if (mask >> i & 1 && s->shape[i] > 1)
			return true;
	return false;
}

/* From the first element to the last, each step being rounded: of one axis, as of several the order depends on how they lie. */
static int reduce_in_steps(struct lbx_mlx_node *n, int x, bool is_sum, uint32_t mask)
{
	int order[LB_MAX_RANK], k = 0, axis = LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);

	for (int i = 0; i < s.rank; i++) {
		if (!(mask >> i & 1) || s.shape[i] == 1) {
			order[k++] = i;
			continue;
		}
		if (axis != LBX_FAIL)
			return lbx_mlx_no_recipe(n,
						 "halves, which this version rounds at each step, along several axes");
		axis = i;
	}
	order[k] = axis;
	x = lbx_step_permute(n->r, x, order);
	if (is_sum)
		x = lbx_mlx_sum_in_steps(n, x);
	else
		x = lbx_step_narrow(n->r, lbx_step_scan(n->r, x, LB_SCAN_PROD, k, false, true), k, s.shape[axis] - 1, 1,
				    1);
	return lbx_step_reshape(n->r, x, n->record.rank, n->record.sizes);
}

static int reduce_halves(struct lbx_mlx_node *n, int x, int op, uint32_t mask)
{
	enum lb_dtype dtype = n->record.dtype;
	bool is_wide;

	x = lbx_step_cast(n->r, x, dtype);
	if (x == LBX_FAIL || !lbx_mlx_sums_wide(n, &is_wide))
		return LBX_FAIL;
	if (!is_wide)
		return reduce_in_steps(n, x, op == LB_OP_SUM, mask);
	return lbx_step_cast(n->r, lbx_step_reduce(n->r, op, lbx_step_cast(n->r, x, LB_F32), mask), dtype);
}

/* Axes stay, with one element. What is added up has the result's dtype. */
int lbx_mlx_recipe_reduce(struct lbx_mlx_node *n)
{
	enum { AND, OR, SUM, PROD, MIN, MAX, KINDS };
	static const int codes[KINDS] = { LB_OP_ALL, LB_OP_ANY, LB_OP_SUM, LB_OP_PROD, LB_OP_MIN, LB_OP_MAX };
	int x = lbx_mlx_input(n, 0);
	uint32_t mask;
	int32_t kind;

	if (x == LBX_FAIL || !lbx_mlx_int(n, LBX_MLX_OWN, &kind) || !mask_of(n, x, LBX_MLX_OWN_WORDS, &mask))
		return LBX_FAIL;
	bool is_sum = kind == SUM || kind == PROD;
	enum lb_dtype dtype = is_sum ? n->record.dtype : lbx_mlx_dtype(n, x);
	if (kind < 0 || kind >= KINDS || dtype == LB_C64 || lbx_mlx_dtype(n, x) == LB_C64 ||
	    (kind < SUM && dtype != LB_BOOL) || (is_sum && dtype < LB_U32) ||
	    (is_sum && (dtype == LB_I8 || dtype == LB_I16)))
		return lbx_mlx_no_recipe(n, "such a dtype");
	if (is_sum && lbx_mlx_is_half(dtype) && folds(n, x, mask))
		return reduce_halves(n, x, codes[kind], mask);
	if (!mask)
		return lbx_step_cast(n->r, x, dtype);
	return lbx_step_reduce(n->r, codes[kind], lbx_step_cast(n->r, x, dtype), mask);
}

/* A NaN that comes first is it, others are passed over: MLX's comparisons, as they were. */
static int arg_by_comparing(struct lbx_mlx_node *n, int op, int x, int axis)
{
	int first = lbx_step_unary(n->r, LB_OP_ISNAN, lbx_step_narrow(n->r, x, axis, 0, 1, 1));
	int last = lbx_step_number(n->r, lbx_mlx_dtype(n, x), op == LB_OP_ARGMAX ? -INFINITY : INFINITY);

	x = lbx_step_where(n->r, lbx_step_unary(n->r, LB_OP_ISNAN, x), last, x);
	return lbx_step_where(n->r, first, lbx_step_number(n->r, LB_U32, 0), lbx_step_arg(n->r, op, x, axis));
}

/* The axis stays, with one element. The first of equals; of 0.32.3 and later the first NaN. */
int lbx_mlx_recipe_arg_reduce(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), axis;
	int32_t kind;

	if (!lbx_mlx_axis(n, LBX_MLX_OWN + 4, x, &axis) || !lbx_mlx_int(n, LBX_MLX_OWN, &kind))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	if (kind < 0 || kind > 1 || dtype == LB_C64 || lbx_step(n->r, x)->shape[axis] < 1)
		return lbx_mlx_no_recipe(n, "such a dtype or shape");
	int op = kind ? LB_OP_ARGMAX : LB_OP_ARGMIN;
	int version = lb_dtype_is_float((int)dtype) ? lbx_mlx_version(n->set) : FIRST_NAN_SINCE;
	if (version == LBX_MLX_UNKNOWN)
		return lbx_mlx_no_recipe(n, "floats, as versions differ in what a NaN is");
	return version < FIRST_NAN_SINCE ? arg_by_comparing(n, op, x, axis) : lbx_step_arg(n->r, op, x, axis);
}

/* NaN is last; before 0.29.4 it left an order of no meaning. */
static bool has_nan_last(const struct lbx_mlx_node *n)
{
	enum { SINCE = 2904 };

	return lbx_mlx_version(n->set) >= SINCE;
}

int lbx_mlx_recipe_sort(struct lbx_mlx_node *n)
{
	int64_t params[LB_PARAMS] = { 0 };
	int x = lbx_mlx_input(n, 0), axis;

	if (!lbx_mlx_axis(n, LBX_MLX_OWN, x, &axis))
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, x) == LB_C64)
		return lbx_mlx_no_recipe(n, "such a dtype");
	params[0] = axis;
	params[1] = !has_nan_last(n);
	return lbx_step_over(n->r, n->code, n->record.dtype, n->record.rank, n->record.sizes, 1, &x, params);
}

/* With which a partition's k-th element, counted from the end where it is negative, is put in its place. */
int lbx_mlx_recipe_partition(struct lbx_mlx_node *n)
{
	int64_t params[LB_PARAMS] = { 0 };
	int x = lbx_mlx_input(n, 0), axis;
	int32_t kth;

	if (!lbx_mlx_axis(n, LBX_MLX_OWN + 4, x, &axis) || !lbx_mlx_int(n, LBX_MLX_OWN, &kth))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	int64_t size = lbx_step(n->r, x)->shape[axis];
	if (dtype == LB_C64 || dtype == LB_I64 || dtype == LB_U64 || kth < -size || kth >= size)
		return lbx_mlx_no_recipe(n, "such a dtype or number");
	params[0] = axis;
	params[1] = kth < 0 ? kth + size : kth;
	params[2] = !has_nan_last(n);
	return lbx_step_over(n->r, n->code, n->record.dtype, n->record.rank, n->record.sizes, 1, &x, params);
}

/* What each step of halves gives is rounded. */
int lbx_mlx_recipe_scan(struct lbx_mlx_node *n)
{
	enum { MAX, MIN, SUM, PROD, KINDS };
	static const int kinds[KINDS] = { LB_SCAN_MAX, LB_SCAN_MIN, LB_SCAN_SUM, LB_SCAN_PROD };
	int x = lbx_mlx_input(n, 0), axis;
	bool reverse, inclusive;
	int32_t kind;

	if (!lbx_mlx_axis(n, LBX_MLX_OWN + 4, x, &axis) || !lbx_mlx_int(n, LBX_MLX_OWN, &kind) ||
	    !lbx_mlx_flag(n, LBX_MLX_OWN + 8, &reverse) || !lbx_mlx_flag(n, LBX_MLX_OWN + 9, &inclusive))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	bool is_half = lbx_mlx_is_half(dtype), is_extreme = kind == MAX || kind == MIN;
	if (kind < 0 || kind >= KINDS || dtype == LB_C64 || (is_half && is_extreme) ||
	    (dtype == LB_BOOL && kind == SUM) != (dtype != n->record.dtype))
		return lbx_mlx_no_recipe(n, "such a kind or dtype");
	x = lbx_step_cast(n->r, x, n->record.dtype);
	return kind == SUM && !is_half ? lbx_step_cumsum(n->r, x, axis, reverse, inclusive)
				       : lbx_step_scan(n->r, x, kinds[kind], axis, reverse, inclusive);
}

/* What precise ones compute in float32. */
static int softmax_in_steps(struct lbx_mlx_node *n, int x)
{
	int last = lbx_step(n->r, x)->rank - 1;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	int most = lbx_step_reduce(n->r, LB_OP_MAX, x, 1u << last);
	int e = lbx_step_unary(n->r, LB_OP_EXP, lbx_step_binary(n->r, LB_OP_SUBTRACT, x, most));
	int sum = lbx_mlx_sum_in_steps(n, e);

	return lbx_step_binary(n->r, LB_OP_MULTIPLY, e,
			       lbx_step_binary(n->r, LB_OP_DIVIDE, lbx_step_number(n->r, dtype, 1), sum));
}

/* Along the last axis; of halves in float32 if it is a precise one, else in halves. */
int lbx_mlx_recipe_softmax(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);
	bool precise;

	if (x == LBX_FAIL || !has_floats(n, x) || !lbx_mlx_flag(n, LBX_MLX_OWN, &precise))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	if (!lbx_mlx_is_half(dtype))
		return lbx_step_rows(n->r, LB_OP_SOFTMAX, x);
	if (!precise)
		return softmax_in_steps(n, x);
	return lbx_step_cast(n->r, lbx_step_rows(n->r, LB_OP_SOFTMAX, lbx_step_cast(n->r, x, LB_F32)), dtype);
}

int lbx_mlx_recipe_logsumexp(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL || !has_floats(n, x))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, x);
	if (lbx_mlx_is_half(dtype))
		x = lbx_step_cast(n->r, x, LB_F32);
	x = lbx_step_reduce(n->r, LB_OP_LOGSUMEXP, x, 1u << (lbx_step(n->r, x)->rank - 1));
	return lbx_step_cast(n->r, x, dtype);
}

/* How many an element of a mean is made of, or one over that. */
int lbx_mlx_recipe_number_of_elements(struct lbx_mlx_node *n)
{
	enum { INVERTED = LBX_MLX_OWN_WORDS + LBX_MLX_VECTOR };
	int x = lbx_mlx_input(n, 0);
	double count = 1;
	bool is_inverted;
	uint32_t mask;

	if (x == LBX_FAIL || !mask_of(n, x, LBX_MLX_OWN_WORDS, &mask) || !lbx_mlx_flag(n, INVERTED, &is_inverted))
		return LBX_FAIL;
	for (int i = 0; i < lbx_step(n->r, x)->rank; i++)
		count *= mask >> i & 1 ? (double)lbx_step(n->r, x)->shape[i] : 1;
	if (n->record.dtype == LB_BOOL || n->record.dtype == LB_C64 || (is_inverted && !count))
		return lbx_mlx_no_recipe(n, "such a dtype, or none");
	return lbx_step_number(n->r, n->record.dtype, is_inverted ? 1 / count : count);
}
