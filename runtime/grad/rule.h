/* The rules by which cotangents go from an operation's result to its inputs (vector-Jacobian
 * products), written with the public operations, so that they can be differentiated in turn. */
#ifndef LB_GRAD_RULE_H
#define LB_GRAD_RULE_H

#include "graph/tensor.h"

struct lb_reverse;

/* One application of a rule. */
struct lb_vjp {
	struct lb_reverse *walk;
	struct lb_tensor *t; /* the operation's result */
	struct lb_tensor *g; /* its cotangent: t's shape and dtype */
};

/* Gives a cotangent to each input that wants one. False on failure. */
typedef bool lb_rule(const struct lb_vjp *v);

/* NULL for an operation whose result no gradient passes, or that is constant nearly everywhere:
 * its inputs get none. */
extern lb_rule *const lb_rules[LB_OPS];

/* rules_elementwise.c */
lb_rule lb_rule_unary, lb_rule_binary, lb_rule_where, lb_rule_clip, lb_rule_identity;
/* rules_view.c */
lb_rule lb_rule_reshape, lb_rule_transpose, lb_rule_window, lb_rule_concatenate, lb_rule_pad;
/* rules_reduce.c */
lb_rule lb_rule_sum, lb_rule_extreme, lb_rule_prod, lb_rule_var, lb_rule_logsumexp, lb_rule_softmax,
	lb_rule_cumsum;
/* rules_gather.c */
lb_rule lb_rule_take, lb_rule_take_along, lb_rule_sort, lb_rule_topk, lb_rule_slice_update,
	lb_rule_strided_add, lb_rule_scatter_add, lb_rule_put_along;
/* rules_product.c */
lb_rule lb_rule_product, lb_rule_rope;
/* rules_model.c */
lb_rule lb_rule_norm, lb_rule_norm_grad, lb_rule_attention, lb_rule_attention_grad, lb_rule_conv;
/* rules_quant.c */
lb_rule lb_rule_quantize, lb_rule_dequantize, lb_rule_quantized_matmul;

static inline struct lb_tensor *lb_vjp_input(const struct lb_vjp *v, int i)
{
	return lb_tensor_input(v->t, (uint32_t)i);
}

/* Whether a gradient is asked for that goes through input i. */
bool lb_vjp_wants(const struct lb_vjp *v, int i);
/* Adds d to input i's cotangent, summed over the axes that were broadcast and cast to its dtype.
 * Does nothing for one that wants none. False for NULL. */
bool lb_vjp_give(const struct lb_vjp *v, int i, struct lb_tensor *d);
/* The same for x, an input or what an input is a view of. */
bool lb_vjp_give_to(const struct lb_vjp *v, struct lb_tensor *x, struct lb_tensor *d);
/* What x has been given so far, or zeros: for a rule that adds to some of its elements, and then
 * puts the result in its place. */
struct lb_tensor *lb_vjp_so_far(const struct lb_vjp *v, struct lb_tensor *x);
bool lb_vjp_put(const struct lb_vjp *v, struct lb_tensor *x, struct lb_tensor *d);
/* Fails for the operation, at its call site. */
bool lb_vjp_fail(const struct lb_vjp *v, const char *why);

/* x * value, in x's dtype. */
struct lb_tensor *lb_scaled(struct lb_tensor *x, double value);
/* Zeros of x's shape and dtype. */
struct lb_tensor *lb_zeros_of(struct lb_tensor *x);

#endif
