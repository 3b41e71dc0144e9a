/* The rules by which cotangents go from an operation's result to its inputs (vector-Jacobian
 * products), written with the public operations, so that they can be differentiated in turn.
 *
 * A cotangent of a complex number holds the derivative by its real part, and by its imaginary one times i: so
 * lb_vjp_give() may take the real part for a real input, and a rule multiplies by the conjugate of the derivative. */
#ifndef LB_GRAD_RULE_H
#define LB_GRAD_RULE_H

#include "grad/reverse.h"

struct lb_walk;

/* One application of a rule. */
struct lb_vjp {
	struct lb_walk *walk;
	struct lb_tensor *t; /* the operation's result */
	struct lb_tensor *g; /* its cotangent: t's shape and dtype */
	/* differentiates a function that computes the same, where that is the rule */
	lb_pull_back_fn *pull_back;
};

/* Gives a cotangent to each input that wants one. False on failure. */
typedef bool lb_rule(const struct lb_vjp *v);

/* NULL for an operation whose result no gradient passes, or that is constant nearly everywhere:
 * its inputs get none. */
extern lb_rule *const lb_rules[LB_OPS];

#define LB_OP(id, name, op_class, needs, least, most, sizes, remake, compute, rule, batch) lb_rule lb_rule_##rule;
#include "ops.def"
#undef LB_OP

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
/* A complex x's conjugate; another as it is. */
struct lb_tensor *lb_conjugated(struct lb_tensor *x);
/* Zeros of x's shape and dtype. */
struct lb_tensor *lb_zeros_of(struct lb_tensor *x);

#endif
