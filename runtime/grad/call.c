#include "grad/custom.h"

#include <stdlib.h>

static void custom_free(struct lb_custom *call)
{
	for (int i = 0; i < call->n_in; i++)
		lb_tensor_drop(call->in[i], LB_SCOPE_REF);
	for (int i = 0; i < call->n_out; i++)
		lb_tensor_drop(call->results[i], LB_SCOPE_REF);
	free(call->in);
	free(call->owned);
	free(call);
}

void lb_customs_free(struct lb_custom *calls)
{
	while (calls) {
		struct lb_custom *call = calls;
		calls = call->next;
		custom_free(call);
	}
}

/* Held as a scope would, so that evaluation need not store them. */
static void hold(struct lb_tensor **to, struct lb_tensor *const *from, int n)
{
	for (int i = 0; i < n; i++) {
		lb_tensor_retain(from[i], LB_SCOPE_REF);
		to[i] = from[i];
	}
}

struct lb_custom *lb_custom_new(const struct lb_custom *like, struct lb_tensor *const *in,
				struct lb_tensor *const *results)
{
	struct lb_custom *call = malloc(sizeof *call);
	/* in, grads, results, cotangents, then wants */
	size_t n = 2 * ((size_t)like->n_in + (size_t)like->n_out);
	struct lb_tensor **lists = calloc(1, n * sizeof *lists + (size_t)like->n_in * sizeof *like->wants);
	if (!call || !lists) {
		free(call);
		free(lists);
		lb_fail("out of memory for a call with %d inputs", like->n_in);
		return NULL;
	}
	*call = *like;
	call->in = lists;
	call->grads = call->in + call->n_in;
	call->results = call->grads + call->n_in;
	call->cotangents = call->results + call->n_out;
	call->wants = (bool *)(call->cotangents + call->n_out);
	hold(call->in, in, call->n_in);
	hold(call->results, results, call->n_out);
	return call;
}
