/* Calls that have a rule of their own: lb_checkpoint(), lb_custom_vjp().
 *
 * Each result of such a call is a `depends` node over what the function made, whose further inputs
 * are the call's inputs; its parameter 0 is the address of the call's record. A walk that comes to
 * all the results that it will meet hands their cotangents to the rule at once, and what that
 * gives goes to the call's inputs: what the function did in between is never differentiated.
 * Records live until the outermost trace ends; no walk of another trace gets as far as to a
 * node that names one. */
#ifndef LB_GRAD_CUSTOM_H
#define LB_GRAD_CUSTOM_H

#include "graph/tensor.h"
#include "graph/trace.h"

struct lb_custom {
	struct lb_custom *next;
	bool (*run)(struct lb_custom *call); /* its rule: fills grads from cotangents */
	lb_function *fn;
	lb_vjp_function *vjp; /* of lb_custom_vjp() */
	void *context;
	void *owned; /* freed with the record, may be NULL */
	const void *site;
	int n_in, n_out;
	struct lb_tensor **in;         /* n_in, held for the scopes' sake, as are: */
	struct lb_tensor **results;    /* n_out */
	/* of the walk under way */
	int pending;                   /* results still to come */
	struct lb_tensor **cotangents; /* n_out, NULL for none */
	bool *wants;                   /* n_in */
	struct lb_tensor **grads;      /* n_in, NULL for none */
	/* of the map under way: what it has become */
	struct lb_custom *mapped;
};

/* The record of a node, or NULL. */
static inline struct lb_custom *lb_custom_of(const struct lb_tensor *t)
{
	return t->op == LB_OP_DEPENDS ? (struct lb_custom *)(uintptr_t)t->params[0] : NULL;
}

/* A record like this one, which holds inputs and results (grad/call.c). NULL, with an error, if memory is out. */
struct lb_custom *lb_custom_new(const struct lb_custom *like, struct lb_tensor *const *in,
				struct lb_tensor *const *results);
void lb_customs_free(struct lb_custom *calls);

#endif
