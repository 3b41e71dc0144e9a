/* The tile function of each elementwise op, and the table of this instruction set. */
#include "kernels/simd/tiles.h"

#define WHERE(name, T) \
	static void name(int64_t n, void *dst, const void *a_, const void *b_, const void *c_) \
	{ \
		T *d = dst; \
		const uint8_t *a = a_; \
		const T *b = b_, *c = c_; \
		LB_EACH(i, n) \
		{ \
			T x = b[i], y = c[i]; \
			d[i] = a[i] ? x : y; \
		} \
	}
WHERE(where_8, uint8_t)
WHERE(where_16, uint16_t)
WHERE(where_32, uint32_t)
WHERE(where_64, uint64_t)

static lb_tile_fn *where_of(int dtype)
{
	switch (lb_dtypes[dtype].bytes) {
	case 1: return where_8;
	case 2: return where_16;
	case 4: return where_32;
	default: return where_64;
	}
}

static lb_tile_fn *elementwise(int op, int to, int from)
{
	bool to_bool = false;
	switch (op) {
	case LB_OP_ASTYPE: return LB_ISA_NAME(lb_tile_convert)(to, from);
	case LB_OP_WHERE: return to == from ? where_of(to) : NULL;
	case LB_OP_EQUAL:
	case LB_OP_NOT_EQUAL:
	case LB_OP_LESS:
	case LB_OP_LESS_EQUAL:
	case LB_OP_GREATER:
	case LB_OP_GREATER_EQUAL:
	case LB_OP_LOGICAL_AND:
	case LB_OP_LOGICAL_OR:
	case LB_OP_LOGICAL_NOT:
	case LB_OP_ISNAN:
	case LB_OP_ISINF:
	case LB_OP_ISFINITE:
	case LB_OP_ISPOSINF:
	case LB_OP_ISNEGINF: to_bool = true;
	}
	bool to_part = op == LB_OP_ABS || op == LB_OP_REAL || op == LB_OP_IMAG;
	int wanted = to_bool ? LB_BOOL : to_part && from == LB_C64 ? LB_F32 : from;
	if (to != wanted)
		return NULL;
	if (from == LB_C64)
		return LB_ISA_NAME(lb_tile_complex)(op);
	if (to_bool)
		return LB_ISA_NAME(lb_tile_compare)(op, from);
	lb_tile_fn *f = LB_ISA_NAME(lb_tile_arith)(op, from);
	return f ? f : LB_ISA_NAME(lb_tile_math)(op, from);
}

const struct lb_tiles LB_ISA_NAME(lb_tiles) = {
	.elementwise = elementwise,
	.math = LB_ISA_NAME(lb_tile_math),
	.convert = LB_ISA_NAME(lb_tile_convert),
	.fold = LB_ISA_NAME(lb_tile_fold),
	.deviations = LB_ISA_NAME(lb_tile_deviations),
	.shift = LB_ISA_NAME(lb_tile_shift),
	.stream = LB_ISA_NAME(lb_tile_stream),
	.nonfinite = LB_ISA_NAME(lb_tile_nonfinite),
	.figures = LB_ISA_NAME(lb_tile_figures),
	.hash = LB_ISA_NAME(lb_tile_hash),
	.indices = LB_ISA_NAME(lb_tile_indices),
	.pick = LB_ISA_NAME(lb_tile_pick),
	.random_words = LB_ISA_NAME(lb_tile_random_words),
	.normals = LB_ISA_NAME(lb_tile_normals),
	.to_keys = LB_ISA_NAME(lb_tile_to_keys),
	.from_keys = LB_ISA_NAME(lb_tile_from_keys),
	.turn = LB_ISA_NAME(lb_tile_turn),
	.turn_floats = LB_ISA_NAME(lb_tile_turn_floats),
	.extreme = LB_ISA_NAME(lb_tile_extreme),
	.range = LB_ISA_NAME(lb_tile_range),
	.affine_codes = LB_ISA_NAME(lb_tile_affine_codes),
	.scan_lines = LB_ISA_NAME(lb_tile_scan_lines),
	.scan_lanes = LB_ISA_NAME(lb_tile_scan_lanes),
	.gemm = LB_ISA_NAME(lb_tile_gemm),
#ifdef __AVX512F__
	.sort_u32 = LB_ISA_NAME(lb_tile_sort_u32),
	.sort_u64 = LB_ISA_NAME(lb_tile_sort_u64),
	.pack_pairs = LB_ISA_NAME(lb_tile_pack_pairs),
	.multiply_pairs = LB_ISA_NAME(lb_tile_multiply_pairs),
	.pack_amx = LB_ISA_NAME(lb_tile_pack_amx),
	.multiply_amx = LB_ISA_NAME(lb_tile_multiply_amx),
	.pack_strip = LB_ISA_NAME(lb_tile_pack_strip),
	.pack_strip_pairs = LB_ISA_NAME(lb_tile_pack_strip_pairs),
	.multiply_panel = LB_ISA_NAME(lb_tile_multiply_panel),
	.order_cut = LB_ISA_NAME(lb_tile_order_cut),
	.order_parts = LB_ISA_NAME(lb_tile_order_parts),
	.multiply_panel_amx = LB_ISA_NAME(lb_tile_multiply_panel_amx),
	.multiply_panel_parts = LB_ISA_NAME(lb_tile_multiply_panel_parts),
	.multiply_panel_pairs = LB_ISA_NAME(lb_tile_multiply_panel_pairs),
#endif
	.softmax = LB_ISA_NAME(lb_tile_softmax),
	.norm = LB_ISA_NAME(lb_tile_norm),
	.rotate = LB_ISA_NAME(lb_tile_rotate),
	.norm_grad = LB_ISA_NAME(lb_tile_norm_grad),
	.add_products = LB_ISA_NAME(lb_tile_add_products),
	.attend = LB_ISA_NAME(lb_tile_attend),
	.attend_grad = LB_ISA_NAME(lb_tile_attend_grad),
	.attend_again = LB_ISA_NAME(lb_tile_attend_again),
	.dots = LB_ISA_NAME(lb_tile_dots),
	.combine = LB_ISA_NAME(lb_tile_combine),
	.e8m0 = LB_ISA_NAME(lb_tile_e8m0),
	.e4m3 = LB_ISA_NAME(lb_tile_e4m3),
	.dequantize = LB_ISA_NAME(lb_tile_dequantize),
	.dot = LB_ISA_NAME(lb_tile_dot),
	.arrange = LB_ISA_NAME(lb_tile_arrange),
	.spread = LB_ISA_NAME(lb_tile_spread),
	.restore = LB_ISA_NAME(lb_tile_restore),
	.cut = LB_ISA_NAME(lb_tile_cut),
	.multiply_row_cut = LB_ISA_NAME(lb_tile_multiply_row_cut),
	.dot_cut = LB_ISA_NAME(lb_tile_dot_cut),
	.blocks = LB_ISA_NAME(lb_tile_blocks),
};
