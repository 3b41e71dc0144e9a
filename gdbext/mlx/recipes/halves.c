/* What MLX adds up in float16 or bfloat16, and rounds at each step, so that the order counts: seen to be from the first to the last in
 * each version from 0.21 to 0.32. */
#include "base/error.h"
#include "mlx/recipe.h"
#include "mlx/version.h"

enum { WIDE_SINCE = 3203, MODE = 0, GROUP = 2, TRANSPOSED = 3 };

bool lbx_mlx_sums_wide(const struct lbx_mlx_node *n, bool *ret)
{
	int version = lbx_mlx_version(n->set);

	*ret = version >= WIDE_SINCE;
	return version != LBX_MLX_UNKNOWN ||
	       lbx_mlx_no_recipe(n, "halves, which some versions round at each step, of a version that is not known") !=
		   LBX_FAIL;
}

int lbx_mlx_sum_in_steps(const struct lbx_mlx_node *n, int x)
{
	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	int64_t row[2] = { 1, s.shape[s.rank - 1] }, column[2] = { row[1], 1 }, one[1] = { 1 };
	int ones = lbx_step_spread(n->r, lbx_step_number(n->r, s.dtype, 1), 2, column);
	int sum = lbx_step_matmul_in_steps(n->r, s.rank < 2 ? lbx_step_reshape(n->r, x, 2, row) : x, ones);

	return s.rank < 2 ? lbx_step_reshape(n->r, sum, 1, one) : sum;
}

/* ---- quantised weights ---- */

struct weights {
	const int64_t *format;
	enum lb_dtype dtype; /* of x */
	int rank;
	int64_t shape[LB_MAX_RANK]; /* decoded */
	int64_t groups, group;
};

/* All of one number, as words or scales lie. */
static int filled(const struct lbx_mlx_node *n, enum lb_dtype dtype, double value, const struct lbx_step *like)
{
	return lbx_step_dense(n->r,
			      lbx_step_spread(n->r, lbx_step_number(n->r, dtype, value), like->rank, like->shape));
}

static int decoded(const struct lbx_mlx_node *n, const struct weights *w, int words, int scales, int biases)
{
	int values[] = { words, scales, biases };
	int64_t params[LB_PARAMS] = { 0 };

	for (int i = 0; i < 3; i++) {
		params[i] = w->format[i];
		if (i < 2 + (w->format[MODE] == LB_QUANT_AFFINE) && values[i] == LBX_FAIL)
			return LBX_FAIL;
	}
	return lbx_step_over(n->r, LB_OP_DEQUANTIZE, LB_F32, w->rank, w->shape,
			     w->format[MODE] == LB_QUANT_AFFINE ? 3 : 2, values, params);
}

/* The codes as numbers, without scales; halves hold them all. A scale of 1 is, in the modes of floating codes, 2^0 as an exponent of 8
 * bits, or 1 as a float of 8. */
static int codes_of(const struct lbx_mlx_node *n, const struct weights *w, const int *values)
{
	static const double ones[] = { [LB_QUANT_MXFP4] = 127, [LB_QUANT_MXFP8] = 127, [LB_QUANT_NVFP4] = 0x38 };
	struct lbx_step scales = *lbx_step(n->r, values[2]);
	bool is_affine = w->format[MODE] == LB_QUANT_AFFINE;
	int one = is_affine ? filled(n, LB_F32, 1, &scales) : filled(n, LB_U8, ones[w->format[MODE]], &scales);
	int none = is_affine ? filled(n, LB_F32, 0, &scales) : LBX_FAIL;

	return lbx_step_cast(n->r, decoded(n, w, values[1], one, none), w->dtype);
}

/* One for each group: codes of 1, decoded with the scales. */
static int scales_of(const struct lbx_mlx_node *n, const struct weights *w, const int *values)
{
	static const double ones[] = {
		[LB_QUANT_MXFP4] = 0x22222222, [LB_QUANT_MXFP8] = 0x38383838, [LB_QUANT_NVFP4] = 0x22222222
	};
	struct lbx_step words = *lbx_step(n->r, values[1]);
	int64_t shape[LB_MAX_RANK];
	int x = decoded(n, w, filled(n, LB_U32, ones[w->format[MODE]], &words), values[2], LBX_FAIL);

	for (int i = 0; i < w->rank; i++)
		shape[i] = w->shape[i];
	shape[w->rank - 1] = w->groups;
	x = lbx_step_narrow(n->r, lbx_step_split(n->r, x, w->rank - 1, w->group), w->rank, 0, 1, 1);
	return lbx_step_cast(n->r, lbx_step_reshape(n->r, x, w->rank, shape), w->dtype);
}

static int swapped(const struct lbx_mlx_node *n, int x, int a, int b)
{
	int axes[LB_MAX_RANK];

	if (x == LBX_FAIL)
		return LBX_FAIL;
	for (int i = 0; i < lbx_step(n->r, x)->rank; i++)
		axes[i] = i == a ? b : i == b ? a : i;
	return lbx_step_permute(n->r, x, axes);
}

/* scale * code + bias, both being rounded */
static int by_affine(const struct lbx_mlx_node *n, const struct weights *w, const int *values)
{
	int parts[2], codes = lbx_step_split(n->r, codes_of(n, w, values), w->rank - 1, w->group);

	if (w->rank == LB_MAX_RANK)
		return lbx_mlx_no_recipe(n, "so many axes");
	for (int i = 0; i < 2; i++) {
		struct lbx_step s = *lbx_step(n->r, values[2 + i]);
		s.shape[s.rank++] = 1;
		parts[i] = lbx_step_reshape(n->r, values[2 + i], s.rank, s.shape);
	}
	codes = lbx_step_binary(n->r, LB_OP_MULTIPLY, codes, parts[0]);
	codes = lbx_step_binary(n->r, LB_OP_ADD, codes, parts[1]);
	codes = lbx_step_reshape(n->r, codes, w->rank, w->shape);
	if (w->format[TRANSPOSED])
		codes = swapped(n, codes, w->rank - 1, w->rank - 2);
	return lbx_step_matmul_in_steps(n->r, values[0], codes);
}

/* x (…, m, k), w (…, n, k): of each group the sum, times its scale, is added to the sum of all. */
static int by_groups(const struct lbx_mlx_node *n, const struct weights *w, const int *values)
{
	int xr = lbx_step(n->r, values[0])->rank;
	int x = swapped(n, lbx_step_split(n->r, values[0], xr - 1, w->group), xr - 2, xr - 1); /* (…, g, m, of one) */
	int codes = lbx_step_split(n->r, codes_of(n, w, values), w->rank - 1, w->group), turned[LB_MAX_RANK];

	for (int i = 0; i <= w->rank; i++)
		turned[i] = i;
	turned[w->rank - 2] = w->rank - 1;
	turned[w->rank - 1] = w->rank;
	turned[w->rank] = w->rank - 2;
	if (codes == LBX_FAIL || x == LBX_FAIL)
		return LBX_FAIL;
	codes = lbx_step_permute(n->r, codes, turned); /* (…, g, of one, n) */
	int sums = lbx_step_matmul_in_steps(n->r, x, codes); /* (…, g, m, n) */
	int scales = swapped(n, scales_of(n, w, values), w->rank - 2, w->rank - 1); /* (…, g, n) */
	if (sums == LBX_FAIL || scales == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, scales);
	s.shape[s.rank] = s.shape[s.rank - 1];
	s.shape[s.rank - 1] = 1;
	scales = lbx_step_reshape(n->r, scales, s.rank + 1, s.shape);
	sums = lbx_step_binary(n->r, LB_OP_MULTIPLY, sums, scales);
	if (sums == LBX_FAIL)
		return LBX_FAIL;
	int rank = lbx_step(n->r, sums)->rank;
	for (int i = 0; i < rank; i++)
		turned[i] = i < rank - 3 ? i : i == rank - 1 ? rank - 3 : i + 1;
	return lbx_mlx_sum_in_steps(n, lbx_step_permute(n->r, sums, turned));
}

/* w (…, k, n): x is multiplied by the scale of a group of columns first. */
static int by_columns(const struct lbx_mlx_node *n, const struct weights *w, const int *values)
{
	struct lbx_step x = *lbx_step(n->r, values[0]);
	int codes = swapped(n, lbx_step_split(n->r, codes_of(n, w, values), w->rank - 1, w->group), w->rank - 2,
			    w->rank - 1); /* (…, g, k, of one) */
	int scales = swapped(n, scales_of(n, w, values), w->rank - 2, w->rank - 1); /* (…, g, k) */

	if (codes == LBX_FAIL || scales == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, scales);
	s.shape[s.rank] = s.shape[s.rank - 1];
	s.shape[s.rank - 1] = 1;
	scales = lbx_step_reshape(n->r, scales, s.rank + 1, s.shape);
	for (int i = x.rank++; i > x.rank - 3; i--)
		x.shape[i] = x.shape[i - 1];
	x.shape[x.rank - 3] = 1;
	int scaled = lbx_step_binary(n->r, LB_OP_MULTIPLY, lbx_step_reshape(n->r, values[0], x.rank, x.shape), scales);
	int sums = lbx_step_matmul_in_steps(n->r, scaled, codes); /* (…, g, m, of one) */
	if (sums == LBX_FAIL)
		return LBX_FAIL;
	int rank = lbx_step(n->r, sums)->rank;
	return swapped(n, sums, rank - 3, rank - 2);
}

int lbx_mlx_quantised_halves(const struct lbx_mlx_node *n, const int64_t *format, const int *values)
{
	struct lbx_step x = *lbx_step(n->r, values[0]), scales = *lbx_step(n->r, values[2]);
	struct weights w = { .format = format, .dtype = x.dtype, .rank = scales.rank, .group = format[GROUP] };
	bool is_affine = format[MODE] == LB_QUANT_AFFINE;

	if (x.rank < 1 || w.rank < 2 || x.rank >= LB_MAX_RANK || w.rank >= LB_MAX_RANK ||
	    (is_affine && (scales.dtype != x.dtype || lbx_step(n->r, values[3])->dtype != x.dtype)) ||
	    (!is_affine && scales.dtype != LB_U8))
		return lbx_mlx_no_recipe(n, "such shapes or dtypes");
	for (int i = 0; i < w.rank; i++)
		w.shape[i] = scales.shape[i];
	w.groups = scales.shape[w.rank - 1];
	if (!lb_mul(w.groups, w.group, &w.shape[w.rank - 1]))
		return lbx_mlx_no_recipe(n, "such a shape");
	int own[] = { values[0], values[1], values[2], is_affine ? values[3] : LBX_FAIL };
	if (x.rank == 1) {
		x.shape[1] = x.shape[0];
		x.shape[0] = 1;
		own[0] = lbx_step_reshape(n->r, own[0], 2, x.shape);
	}
	int y = is_affine ? by_affine(n, &w, own) : format[TRANSPOSED] ? by_groups(n, &w, own) : by_columns(n, &w, own);
	return lbx_step_reshape(n->r, y, n->record.rank, n->record.sizes);
}
