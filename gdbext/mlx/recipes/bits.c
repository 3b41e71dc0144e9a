/* Bits as such: random ones, those of integers, and those of other dtypes. */
#include "base/error.h"
#include "kernels/codes.h"
#include "mlx/recipe.h"

/* As many as the result has, of keys whose axes come first. */
int lbx_mlx_recipe_random_bits(struct lbx_mlx_node *n)
{
	static const int64_t none[LB_PARAMS];
	int keys = lbx_mlx_input(n, 0);

	if (keys == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, keys);
	bool fits = s.dtype == LB_U32 && s.rank >= 1 && s.shape[s.rank - 1] == 2 && n->record.rank >= s.rank - 1 &&
		    n->record.dtype >= LB_U8 && n->record.dtype <= LB_U32;
	for (int i = 0; fits && i < s.rank - 1; i++)
		fits = s.shape[i] == n->record.sizes[i];
	if (!fits)
		return lbx_mlx_no_recipe(n, "such keys");
	return lbx_step_over(n->r, LB_OP_RANDOM_BITS, n->record.dtype, n->record.rank, n->record.sizes, 1, &keys, none);
}

int lbx_mlx_recipe_bitwise(struct lbx_mlx_node *n)
{
	enum { AND, OR, XOR, LEFT, RIGHT, KINDS };
	static const int of_bools[] = { LB_OP_LOGICAL_AND, LB_OP_LOGICAL_OR, LB_OP_NOT_EQUAL };
	static const int codes[KINDS] = { LB_OP_BITWISE_AND, LB_OP_BITWISE_OR, LB_OP_BITWISE_XOR, LB_OP_LEFT_SHIFT,
					  LB_OP_RIGHT_SHIFT };
	int a = lbx_mlx_input(n, 0), b = lbx_mlx_input(n, 1);
	int32_t op;

	if (a == LBX_FAIL || b == LBX_FAIL || !lbx_mlx_int(n, LBX_MLX_OWN, &op))
		return LBX_FAIL;
	enum lb_dtype dtype = lbx_mlx_dtype(n, a);
	bool is_bool = dtype == LB_BOOL;
	if (op < AND || op >= KINDS || lbx_mlx_dtype(n, b) != dtype || lb_dtype_is_inexact((int)dtype) ||
	    (is_bool && op > XOR))
		return lbx_mlx_no_recipe(n, "such an operation or dtypes");
	return lbx_step_binary(n->r, is_bool ? of_bools[op] : codes[op], a, b);
}

/* -x - 1 has each bit turned round. */
int lbx_mlx_recipe_invert(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL)
		return LBX_FAIL;
	if (lb_dtype_is_inexact((int)lbx_mlx_dtype(n, x)))
		return lbx_mlx_no_recipe(n, "such a dtype");
	if (lbx_mlx_dtype(n, x) == LB_BOOL)
		return lbx_step_unary(n->r, LB_OP_LOGICAL_NOT, x);
	return lbx_step_with(n->r, LB_OP_SUBTRACT, lbx_step_unary(n->r, LB_OP_NEGATIVE, x), 1);
}

int lbx_mlx_as_dtype(const struct lbx_mlx_node *n, int x, enum lb_dtype dtype)
{
	static const int64_t none[LB_PARAMS];

	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, x);
	int64_t from = lbx_dtype_bytes(s.dtype), to = lbx_dtype_bytes(dtype), bytes;
	if (from != to) {
		if (s.rank < 1 || !lb_mul(s.shape[s.rank - 1], from, &bytes) || bytes % to)
			return lbx_mlx_no_recipe(n, "such a shape");
		s.shape[s.rank - 1] = bytes / to;
	}
	return lbx_step_over(n->r, LB_OP_BITCAST, dtype, s.rank, s.shape, 1, &x, none);
}

/* The same bytes as another dtype. */
int lbx_mlx_recipe_view(struct lbx_mlx_node *n)
{
	return lbx_mlx_as_dtype(n, lbx_mlx_input(n, 0), n->record.dtype);
}

/* ---- floats of 8 bits ---- */

/* The nearest of e4m3, an even one if there are two, the largest of what is beyond; by its bits, as MLX does it. What
 * is small is rounded where 2^14 is added to it. */
static int to_e4m3(struct lbx_mlx_node *n, int x)
{
	const double largest = 543 << 21, smallest = 121 << 23, shift = 141 << 23, above = 16384;
	struct lbx_recipe *r = n->r;
	int bits = lbx_mlx_as_dtype(n, lbx_step_cast(r, x, LB_F32), LB_U32),
	    sign = lbx_step_with(r, LB_OP_RIGHT_SHIFT, lbx_step_with(r, LB_OP_BITWISE_AND, bits, 0x80000000u), 24),
	    size = lbx_step_with(r, LB_OP_BITWISE_AND, bits, 0x7fffffff);
	int small = lbx_step_with(r, LB_OP_ADD, lbx_mlx_as_dtype(n, size, LB_F32), above);
	small = lbx_step_with(r, LB_OP_SUBTRACT, lbx_mlx_as_dtype(n, small, LB_U32), shift);
	int odd = lbx_step_with(r, LB_OP_BITWISE_AND, lbx_step_with(r, LB_OP_RIGHT_SHIFT, size, 20), 1);
	/* the exponent's bias is 7, not 127 */
	int normal = lbx_step_with(r, LB_OP_ADD, size, 4294967296. - (120 << 23) + 0x7ffff);
	normal = lbx_step_with(r, LB_OP_RIGHT_SHIFT, lbx_step_binary(r, LB_OP_ADD, normal, odd), 20);
	int code = lbx_step_where(r, lbx_step_with(r, LB_OP_LESS, size, smallest), small, normal);
	code = lbx_step_with(r, LB_OP_BITWISE_AND, code, 0xff);
	int most = lbx_step_with(r, LB_OP_ADD, lbx_step_with(r, LB_OP_BITWISE_AND, size, 0), 0x7e);
	code = lbx_step_where(r, lbx_step_with(r, LB_OP_LESS, size, largest), code, most);
	return lbx_step_cast(r, lbx_step_binary(r, LB_OP_BITWISE_OR, code, sign), LB_U8);
}

int lbx_mlx_recipe_fp8(struct lbx_mlx_node *n)
{
	enum { CODES = 256 };
	float values[CODES];
	bool encodes;
	int x = lbx_mlx_input(n, 0);

	if (x == LBX_FAIL || !lbx_mlx_flag(n, LBX_MLX_OWN, &encodes))
		return LBX_FAIL;
	if (encodes && (lb_dtype_is_float((int)lbx_mlx_dtype(n, x)) || lbx_mlx_is_half(lbx_mlx_dtype(n, x))))
		return to_e4m3(n, x);
	if (encodes || lbx_mlx_dtype(n, x) != LB_U8)
		return lbx_mlx_no_recipe(n, "such a dtype");
	for (int i = 0; i < CODES; i++)
		values[i] = lb_e4m3_to_float((uint8_t)i);
	return lbx_step_cast(n->r, lbx_step_take(n->r, lbx_step_constant(n->r, values, CODES), x, 0), n->record.dtype);
}
