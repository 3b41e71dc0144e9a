/* The operations by number; names and classes come from ops.def. */
#ifndef LB_BASE_OP_H
#define LB_BASE_OP_H

#include "symtab.h"

enum lb_op_code {
#define LB_OP(id, name, op_class) LB_OP_##id,
#include "ops.def"
#undef LB_OP
	LB_OPS,
};

extern const struct lb_op_info lb_ops[LB_OPS];
extern const struct lb_dtype_info lb_dtypes[LB_DTYPES];

static inline enum lb_op_class lb_op_class(int op)
{
	return (enum lb_op_class)lb_ops[op].op_class;
}

static inline bool lb_op_is_elementwise(int op)
{
	return lb_op_class(op) >= LB_CLASS_UNARY && lb_op_class(op) <= LB_CLASS_TERNARY;
}

static inline bool lb_dtype_is_float(int dtype)
{
	return dtype >= LB_F16 && dtype <= LB_F64;
}

static inline bool lb_dtype_is_inexact(int dtype)
{
	return dtype >= LB_F16;
}

static inline bool lb_dtype_is_signed_int(int dtype)
{
	return dtype >= LB_I8 && dtype <= LB_I64;
}

#endif
