/* The operations by number; names, classes and needs come from ops.def. */
#ifndef LB_BASE_OP_H
#define LB_BASE_OP_H

#include "symtab.h"

enum lb_op_code {
#define LB_OP(id, name, op_class, needs, ...) LB_OP_##id,
#include "ops.def"
#undef LB_OP
	LB_OPS,
};

/* What an element of the result needs of the inputs. Where the rest is left out, an element comes out
 * with the very same bits, but for what is said of folds and products. */
enum lb_op_needs {
	LB_NEEDS_ALL,   /* all of them, for all that is known */
	LB_NEEDS_SAME,  /* the elements at its place; an axis of 1 is repeated */
	LB_NEEDS_PLACE, /* the first's, where strides and offset say */
	LB_NEEDS_INDEX, /* nothing but its own index */
	LB_NEEDS_AXES,  /* all along the reduced axes; its last bits hang on the order of folding them */
	LB_NEEDS_PRODUCT, /* a row, a column and what is added; its last bits hang on the size */
	LB_NEEDS_ROW,   /* all along the last axis */
	LB_NEEDS_LINE,  /* all along the axis of parameter 0 */
	LB_NEEDS_PART,  /* what of an input lies at its place along one axis or more */
	LB_NEEDS_TAKEN, /* its index, and all along the axis of parameter 0 */
};

extern const struct lb_op_info lb_ops[LB_OPS];
extern const uint8_t lb_op_needs[LB_OPS]; /* enum lb_op_needs */
extern const struct lb_dtype_info lb_dtypes[LB_DTYPES];

/* The dtype that an operation on both gives. */
enum lb_dtype lb_dtype_promoted(enum lb_dtype a, enum lb_dtype b);

/* The number of the operation with this name, or -1. */
int lb_op_by_name(const char *name);

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
