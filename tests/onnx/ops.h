/* ONNX's operators (onnx.ai/onnx/operators) by means of the public API.
 *
 * Where the runtime has no operation of that name, the operator is composed as its definition
 * says; where the runtime's result has another dtype by design (indices are u32, sums of small
 * integers are wider), it is cast. Nothing else is mended: a difference is for the test to find. */
#ifndef TEST_ONNX_OPS_H
#define TEST_ONNX_OPS_H

#include "model.h"

struct onnx_call {
	struct onnx_node *node;
	lb_tensor *in[ONNX_MOST_VALUES];  /* NULL: left out */
	lb_tensor *out[ONNX_MOST_VALUES]; /* 0 is what the function returns */
	char refused[128];                /* what the runtime cannot do; "" */
};

struct onnx_op {
	const char *name;
	lb_tensor *(*unary)(lb_tensor *x); /* one of the three */
	lb_tensor *(*binary)(lb_tensor *a, lb_tensor *b);
	lb_tensor *(*run)(struct onnx_call *call);
};

extern const struct onnx_op onnx_math[], onnx_shape[], onnx_reduce[], onnx_model[], onnx_loss[], onnx_attention[],
    onnx_signal[], onnx_integer[], onnx_sampling[], onnx_recurrent[], onnx_resize[], onnx_values_ops[], onnx_training[];

/* Runs the node: all its outputs, or false with an error, or with call->refused. A node with
 * attributes that nobody asked for is refused. */
bool onnx_run(struct onnx_call *call);

/* Notes that the runtime has no "WHAT"; NULL. */
lb_tensor *onnx_refuse(struct onnx_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Attributes, with what their absence means. */
bool onnx_has(struct onnx_call *call, const char *name);
int64_t onnx_int(struct onnx_call *call, const char *name, int64_t otherwise);
double onnx_float(struct onnx_call *call, const char *name, double otherwise);
const char *onnx_text(struct onnx_call *call, const char *name, const char *otherwise);
lb_list onnx_ints(struct onnx_call *call, const char *name); /* n is -1 without it */
const struct onnx_tensor *onnx_constant(struct onnx_call *call, const char *name);

/* The integers that input i holds; n is -1 without it. `to` holds ONNX_MOST_VALUES. */
lb_list onnx_values(struct onnx_call *call, int i, int64_t *to);
/* Those of input i, or else of the attribute. */
lb_list onnx_values_or(struct onnx_call *call, int i, const char *name, int64_t *to);

/* ---- compositions that several operators share ---- */

static inline lb_tensor *onnx_reciprocal(lb_tensor *x)
{
	return lb_divide(lb_scalar(1), x);
}

static inline int onnx_axis(int64_t axis, int rank)
{
	return (int)(axis < 0 ? axis + rank : axis);
}

/* 0, 1, … n - 1 */
static inline lb_tensor *onnx_iota(int64_t n)
{
	return lb_arange(0, (double)n, 1, LB_I64);
}

/* x without the elements before start and from stop on, along an axis. */
lb_tensor *onnx_part(lb_tensor *x, int axis, int64_t start, int64_t stop);
/* A vector with its elements along axis 1 of `rank` axes. */
lb_tensor *onnx_channels(lb_tensor *x, int rank);
lb_tensor *onnx_log_softmax(lb_tensor *x, int axis);
/* x / scale + zero, rounded, in zero's dtype. */
lb_tensor *onnx_quantize(lb_tensor *x, lb_tensor *scale, lb_tensor *zero);
/* The places of the elements that are not 0, of the row-major ones: a tensor (n) of i64. */
lb_tensor *onnx_places(lb_tensor *x);

#endif
