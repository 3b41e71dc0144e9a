/* A recipe: how a tensor that another runtime has computed is computed by the operations of ours, which a replay can
 * run. A provider (tensors.h) writes it, one for a tensor at a time: steps, each an operation over inputs of the
 * tensor and over steps before it. The functions here add a step, and say its shape and dtype themselves.
 *
 * A value is a number: 0 and on are the tensor's inputs. Where something fails the error is set, the value is LBX_FAIL,
 * and what is made of it is LBX_FAIL, too; so only the last one has to be looked at. */
#ifndef LBX_RECIPE_H
#define LBX_RECIPE_H

#include "base/op.h"
#include "tensors/doubt.h"
#include "tensors/tensor.h"

enum { LBX_FAIL = -1, LBX_RECIPE_STEPS = 1 << 16 };

struct lbx_step {
	int op; /* enum lb_op_code; of an input: LB_OP_DATA */
	enum lb_dtype dtype;
	int rank;
	int64_t shape[LB_MAX_RANK];
	int64_t strides[LB_MAX_RANK], offset; /* elements of the buffer: its own, or what a view looks at */
	int64_t params[LB_PARAMS];
	uint32_t first_input, n_inputs;   /* in `inputs` below */
	enum lbx_doubt doubt;             /* once lbx_recipe_settle() has been there; of an input from the start */
	const struct lbx_tensor *memory;  /* of an input: the tensor; of a leaf: whose memory it is a part of */
	const char *why;                  /* of an input that has no value: the reason */
	void *constant;                   /* of a leaf that is none: its elements, row-major */
};

struct lbx_recipe {
	uint32_t n, room, n_settled;
	struct lbx_step *steps;
	uint64_t n_inputs, inputs_room;
	uint32_t *inputs;
};

void lbx_recipe_deinit(struct lbx_recipe *r);

/* ---- inputs and constants ---- */

/* For who asks for the recipe: one more input, before any step. */
bool lbx_recipe_add_input(struct lbx_recipe *r, const struct lbx_step *input);
/* Input i; fails where it has no value. */
int lbx_step_input(struct lbx_recipe *r, int i);
/* A part of the memory of an input that is ready: only this is read. Offset and strides count elements. */
int lbx_step_memory(struct lbx_recipe *r, int i, int rank, const int64_t *shape, const int64_t *strides,
		    int64_t offset);
int lbx_step_number(struct lbx_recipe *r, enum lb_dtype dtype, double value);
/* Row-major elements, which are copied; and float32 ones of one axis. */
int lbx_step_elements(struct lbx_recipe *r, enum lb_dtype dtype, int rank, const int64_t *shape, const void *elements);
int lbx_step_constant(struct lbx_recipe *r, const float *values, int64_t n);
/* 0, 1, … n - 1 as float32. */
int lbx_step_arange(struct lbx_recipe *r, int64_t n);

/* ---- views ---- */

/* As the runtime's as_strided: offset and strides count in the buffer that x looks at. */
int lbx_step_view(struct lbx_recipe *r, int x, int rank, const int64_t *shape, const int64_t *strides, int64_t offset);
/* Axis i of the result is axis axes[i] of x. */
int lbx_step_permute(struct lbx_recipe *r, int x, const int *axes);
/* Of one axis n elements from `first` on, each `step` behind the one before. */
int lbx_step_narrow(struct lbx_recipe *r, int x, int axis, int64_t first, int64_t n, int64_t step);
/* An axis as two, the inner of which has n elements. */
int lbx_step_split(struct lbx_recipe *r, int x, int axis, int64_t n);
/* A view, or a copy where strides do not allow it. */
int lbx_step_reshape(struct lbx_recipe *r, int x, int rank, const int64_t *shape);
/* Axes of 1 repeat, and missing ones in front. */
int lbx_step_spread(struct lbx_recipe *r, int x, int rank, const int64_t *shape);
/* In row-major order: x itself where it is. */
int lbx_step_dense(struct lbx_recipe *r, int x);

/* ---- operations ---- */

/* Elementwise; axes broadcast. Two floating operands must have one dtype. */
int lbx_step_unary(struct lbx_recipe *r, int op, int x);
int lbx_step_binary(struct lbx_recipe *r, int op, int x, int y);
/* With a number of x's dtype. */
int lbx_step_with(struct lbx_recipe *r, int op, int x, double number);
int lbx_step_where(struct lbx_recipe *r, int condition, int x, int y);
int lbx_step_cast(struct lbx_recipe *r, int x, enum lb_dtype dtype);
/* sum, mean, max, …: the axes stay, with one element. */
int lbx_step_reduce(struct lbx_recipe *r, int op, int x, uint32_t axes);
/* Along the last axis: softmax, argmax (which loses it), argsort, cumsum. */
int lbx_step_rows(struct lbx_recipe *r, int op, int x);
/* Along any axis: argmax or argmin, which stays with one element; the sum up to each element, itself in it or not. */
int lbx_step_arg(struct lbx_recipe *r, int op, int x, int axis);
int lbx_step_cumsum(struct lbx_recipe *r, int x, int axis, bool reverse, bool inclusive);
/* Likewise, by enum lb_scan_kind, each step being rounded to the dtype. */
int lbx_step_scan(struct lbx_recipe *r, int x, int kind, int axis, bool reverse, bool inclusive);
/* layer_norm or rms_norm, without weights. */
int lbx_step_norm(struct lbx_recipe *r, int op, int x, double eps);
/* (…, n, k) by (…, k, m). */
int lbx_step_matmul(struct lbx_recipe *r, int a, int b);
/* Likewise of halves, each product and each sum being rounded. */
int lbx_step_matmul_in_steps(struct lbx_recipe *r, int a, int b);
int lbx_step_take(struct lbx_recipe *r, int x, int indices, int axis);
int lbx_step_take_along(struct lbx_recipe *r, int x, int indices, int axis);
/* x with an update in place of its elements from `first` on, each `steps` behind the one before, which may be backwards. */
int lbx_step_put_slice(struct lbx_recipe *r, int x, int update, const int64_t *first, const int64_t *steps);
/* x with values in place of its elements at the indices along an axis; both as lb_put_along_axis() has them. */
int lbx_step_put_along(struct lbx_recipe *r, int x, int indices, int values, int axis);
/* x, which is dense, with an update added where offset and strides, one an axis of the update, say. */
int lbx_step_strided_add(struct lbx_recipe *r, int x, int update, const int64_t *strides, int64_t offset);
int lbx_step_join(struct lbx_recipe *r, int n, const int *values, int axis);
/* x within a larger shape, behind low[i] elements of an axis; the rest is `value`. */
int lbx_step_pad(struct lbx_recipe *r, int x, const int64_t *low, const int64_t *shape, double value);
/* Likewise; `value` is a value of no axes. */
int lbx_step_pad_with(struct lbx_recipe *r, int x, const int64_t *low, const int64_t *shape, int value);

/* Any other operation over n values: shape, dtype and params (LB_PARAMS of them) are as its runtime's function has them. */
int lbx_step_over(struct lbx_recipe *r, int op, enum lb_dtype dtype, int rank, const int64_t *shape, int n,
		  const int *x, const int64_t *params);

static inline const struct lbx_step *lbx_step(const struct lbx_recipe *r, int value)
{
	return &r->steps[value];
}

#endif
