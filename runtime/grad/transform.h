/* What lb_value_and_grad(), lb_vjp(), lb_jvp() and a checkpoint's backward pass have in common. */
#ifndef LB_GRAD_TRANSFORM_H
#define LB_GRAD_TRANSFORM_H

#include "grad/reverse.h"

struct lb_pullback {
	const char *name; /* of the public function, for errors */
	const void *site;
	lb_function *fn;
	void *context;
	int n_in, n_wrt, n_out;
	struct lb_tensor *const *in;
	const int *wrt;    /* NULL: 0, 1, … */
	struct lb_tensor *const *cotangents;    /* n_out, each may be NULL; NULL: 1 for a scalar result 0 */
	struct lb_tensor **unknown;             /* n_out, or NULL: gets cotangents of which no more is said than their
						 * shapes, for lb_reverse() by them; NULL for integers */
	struct lb_tensor **out, **grads;        /* n_out, n_wrt; all NULL on failure */
};

/* Calls the function inside a trace, and goes back from its results to the inputs asked for. */
lb_pull_back_fn lb_pull_back;

#endif
