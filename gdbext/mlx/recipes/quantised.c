/* Quantised weights, whose format is that of our own operations, and matrices chosen by indices. */
#include "base/error.h"
#include "mlx/recipe.h"
#include "mlx/version.h"

/* params of our operations: mode, bits, group, and the part or whether w is transposed */
enum { MODE, BITS, GROUP, LAST, BIASES = 2, FALLBACK = 0x38, TWO_FALLBACKS = 0x58 };

static bool take_format(const struct lbx_mlx_node *n, uint32_t at, int64_t *params)
{
	int32_t group, bits;

	if (!lbx_mlx_int(n, at, &group) || !lbx_mlx_int(n, at + 4, &bits))
		return false;
	params[GROUP] = group;
	params[BITS] = bits;
	return ((group == 16 || group == 32 || group == 64 || group == 128) && bits >= 2 && bits <= 8) ||
	       lbx_mlx_no_recipe(n, "such a format") != LBX_FAIL;
}

/* Where several modes are known, it stands in front of what follows. */
static bool take_mode(const struct lbx_mlx_node *n, uint32_t *at, int64_t *params)
{
	enum { MODES_SINCE = 2900 }; /* arrays still were as before then */
	int32_t mode = LB_QUANT_AFFINE;
	int version = lbx_mlx_version(n->set);

	if (version == LBX_MLX_UNKNOWN)
		return lbx_mlx_no_recipe(n, "formats of an unknown version") != LBX_FAIL;
	if (version >= MODES_SINCE) {
		if (!lbx_mlx_int(n, *at, &mode))
			return false;
		*at += 4;
	}
	params[MODE] = mode;
	return (mode >= LB_QUANT_AFFINE && mode <= LB_QUANT_NVFP4) || lbx_mlx_no_recipe(n, "such a mode") != LBX_FAIL;
}

/* Inputs in a row, `first` and on; false if one has no value. */
static bool take_inputs(const struct lbx_mlx_node *n, uint32_t first, int count, int *ret)
{
	for (int i = 0; i < count; i++) {
		ret[i] = lbx_mlx_input(n, first + (uint32_t)i);
		if (ret[i] == LBX_FAIL)
			return false;
	}
	return true;
}

/* x (…, rows, k) by the words, scales and biases; all have their batch axes. */
static int product(struct lbx_mlx_node *n, const int64_t *params, int n_values, const int *values)
{
	struct lbx_step x = *lbx_step(n->r, values[0]);

	if (n->record.rank < 1 || x.dtype != n->record.dtype)
		return lbx_mlx_no_recipe(n, "such a shape or dtype");
	if (lbx_mlx_is_half(x.dtype))
		return lbx_mlx_quantised_halves(n, params, values);
	return lbx_step_over(n->r, LB_OP_QUANTIZED_MATMUL, LB_F32, n->record.rank, n->record.sizes, n_values, values,
			     params);
}

int lbx_mlx_recipe_quantized_matmul(struct lbx_mlx_node *n)
{
	int64_t params[LB_PARAMS] = { 0 };
	uint32_t at = LBX_MLX_OWN + 8;
	int values[4];
	bool transpose;

	if (!take_format(n, LBX_MLX_OWN, params) || !take_mode(n, &at, params) || !lbx_mlx_flag(n, at, &transpose))
		return LBX_FAIL;
	int count = params[MODE] == LB_QUANT_AFFINE ? 4 : 3;
	if (n->n_inputs != (uint32_t)count)
		return lbx_mlx_no_recipe(n, "so many inputs");
	params[LAST] = transpose;
	return take_inputs(n, 0, count, values) ? product(n, params, count, values) : LBX_FAIL;
}

/* Of a stack of matrices those at the indices: the last two axes stay, the others are one. */
static int chosen(struct lbx_mlx_node *n, int x, int indices)
{
	struct lbx_step s = *lbx_step(n->r, x);
	int64_t shape[3] = { 1 };

	if (s.rank < 2)
		return lbx_mlx_no_recipe(n, "such a shape");
	for (int i = 0; i < s.rank - 2; i++)
		if (!lb_mul(shape[0], s.shape[i], &shape[0]))
			return lbx_mlx_no_recipe(n, "such a shape");
	shape[1] = s.shape[s.rank - 2];
	shape[2] = s.shape[s.rank - 1];
	return lbx_step_take(n->r, lbx_step_reshape(n->r, x, 3, shape), indices, 0);
}

int lbx_mlx_recipe_gather_qmm(struct lbx_mlx_node *n)
{
	int64_t params[LB_PARAMS] = { 0 };
	uint32_t at = LBX_MLX_OWN + 8;
	int values[6];
	bool transpose;

	if (!take_format(n, LBX_MLX_OWN, params) || !take_mode(n, &at, params) || !lbx_mlx_flag(n, at, &transpose))
		return LBX_FAIL;
	int count = params[MODE] == LB_QUANT_AFFINE ? 4 : 3;
	if (n->n_inputs != (uint32_t)count + 2)
		return lbx_mlx_no_recipe(n, "so many inputs");
	params[LAST] = transpose;
	if (!take_inputs(n, 0, count + 2, values))
		return LBX_FAIL;
	for (int i = 0; i < count; i++) {
		values[i] = chosen(n, values[i], values[i ? count + 1 : count]);
		if (values[i] == LBX_FAIL)
			return LBX_FAIL;
	}
	return product(n, params, count, values);
}

int lbx_mlx_recipe_gather_mm(struct lbx_mlx_node *n)
{
	int values[4];

	if (n->n_inputs != 4)
		return lbx_mlx_no_recipe(n, "so many inputs");
	if (!take_inputs(n, 0, 4, values))
		return LBX_FAIL;
	if (lbx_mlx_dtype(n, values[0]) != LB_F32 || lbx_mlx_dtype(n, values[1]) != LB_F32)
		return lbx_mlx_no_recipe(n, "such dtypes");
	int a = chosen(n, values[0], values[2]), b = chosen(n, values[1], values[3]);
	return lbx_step_matmul(n->r, a, b);
}

/* Whether a format begins there. */
static bool is_format(const struct lbx_mlx_node *n, uint32_t at)
{
	int64_t params[LB_PARAMS];
	bool is_one = take_format(n, at, params);

	lb_clear_error();
	return is_one;
}

/* Words, scales and biases of x; or x of them. Older ones keep the function to fall back to twice. */
int lbx_mlx_recipe_quantize(struct lbx_mlx_node *n)
{
	uint32_t begin = is_format(n, FALLBACK) ? FALLBACK : TWO_FALLBACKS, at = begin + 8;
	int64_t params[LB_PARAMS] = { 0 };
	int values[3];
	bool back;

	if (!take_format(n, begin, params) || !take_mode(n, &at, params) || !lbx_mlx_flag(n, at, &back))
		return LBX_FAIL;
	if (params[MODE] != LB_QUANT_AFFINE || n->record.position > BIASES || (back && n->record.position))
		return lbx_mlx_no_recipe(n, "such a mode");
	params[LAST] = n->record.position;
	if (!take_inputs(n, 0, back ? 3 : 1, values))
		return LBX_FAIL;
	if (!back && n->set->layout->has_scheduled && lbx_mlx_is_half(lbx_mlx_dtype(n, values[0])))
		return lbx_mlx_no_recipe(n, "halves, of such a version");
	return lbx_step_over(n->r, back ? LB_OP_DEQUANTIZE : LB_OP_QUANTIZE, n->record.dtype, n->record.rank,
			     n->record.sizes, back ? 3 : 1, values, params);
}
