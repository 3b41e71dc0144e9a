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
