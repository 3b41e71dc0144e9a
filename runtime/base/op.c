#include "base/op.h"

#include <string.h>

const struct lb_op_info lb_ops[LB_OPS] = {
#define LB_OP(id, op_name, op_class_, needs, ...) [LB_OP_##id] = { .name = #op_name, .op_class = LB_CLASS_##op_class_ },
#include "ops.def"
#undef LB_OP
};

const uint8_t lb_op_needs[LB_OPS] = {
#define LB_OP(id, op_name, op_class, needs, ...) [LB_OP_##id] = LB_NEEDS_##needs,
#include "ops.def"
#undef LB_OP
};

const struct lb_dtype_info lb_dtypes[LB_DTYPES] = {
	[LB_BOOL] = { "bool", 1, 'b', 0 },     [LB_U8] = { "uint8", 1, 'u', 0 },
	[LB_U16] = { "uint16", 2, 'u', 0 },    [LB_U32] = { "uint32", 4, 'u', 0 },
	[LB_U64] = { "uint64", 8, 'u', 0 },    [LB_I8] = { "int8", 1, 'i', 0 },
	[LB_I16] = { "int16", 2, 'i', 0 },     [LB_I32] = { "int32", 4, 'i', 0 },
	[LB_I64] = { "int64", 8, 'i', 0 },     [LB_F16] = { "float16", 2, 'f', 10 },
	[LB_BF16] = { "bfloat16", 2, 'f', 7 }, [LB_F32] = { "float32", 4, 'f', 23 },
	[LB_F64] = { "float64", 8, 'f', 52 },  [LB_C64] = { "complex64", 8, 'c', 23 },
};

int lb_op_by_name(const char *name)
{
	for (int op = 0; op < LB_OPS; op++) {
		if (strncmp(lb_ops[op].name, name, sizeof lb_ops[op].name) == 0)
			return op;
	}
	return -1;
}

/* MLX's table (mlx/types: promote_types), by rule: it is symmetric; a wider kind wins; the
 * exceptions are mixed signs, and the two halves, which meet in float32. */
enum lb_dtype lb_dtype_promoted(enum lb_dtype a, enum lb_dtype b)
{
	if (a > b) {
		enum lb_dtype t = a;
		a = b;
		b = t;
	}
	if (a == b || a == LB_BOOL || b == LB_C64 || b == LB_F64)
		return b;
	if (b >= LB_F16)
		return a < LB_F16 || b == LB_F32 ? b : LB_F32;
	bool a_signed = lb_dtype_is_signed_int(a), b_signed = lb_dtype_is_signed_int(b);
	if (a_signed == b_signed)
		return b;
	/* a unsigned, b signed: the narrowest signed that holds both */
	if (a == LB_U64)
		return LB_F32;
	enum lb_dtype holds_a = a == LB_U8 ? LB_I16 : a == LB_U16 ? LB_I32 : LB_I64;
	return holds_a > b ? holds_a : b;
}
