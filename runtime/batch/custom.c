/* Functions with a rule of their own (grad/custom.h), where a gradient goes through a map: what was traced becomes a call
 * over the batch, whose function and rule are those of one element, mapped in turn. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "batch/graph.h"
#include "grad/custom.h"

/* The context of a call over the batch; of the record, which frees it. */
struct mapped {
	lb_function *fn;
	lb_vjp_function *vjp;
	void *context;
	int in_axes[]; /* 0 or LB_NO_AXIS; that of results and cotangents is 0 */
};

static bool mapped_fn(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct mapped *m = context;
	return lb_vmap(m->fn, m->context, n_in, in, m->in_axes, n_out, NULL, out);
}

/* The rule as a function: of the inputs, the results, and the cotangents that there are. */
struct rule {
	const struct mapped *m;
	int n_in, n_out;
	const bool *given; /* n_out: which results have a cotangent */
};

static bool run_rule(void *context, int n, lb_tensor *const *in, int n_grads, lb_tensor **grads)
{
	const struct rule *r = context;
	lb_tensor *const *next = in + r->n_in + r->n_out;
	lb_auto_free lb_tensor **cotangents = calloc((size_t)r->n_out, sizeof *cotangents);
	(void)n;
	if (!cotangents)
		return lb_fail("vmap: out of memory for %d results", r->n_out);
	for (int i = 0; i < r->n_out; i++)
		cotangents[i] = r->given[i] ? *next++ : NULL;
	memset(grads, 0, (size_t)n_grads * sizeof *grads);
	if (!r->m->vjp(r->m->context, r->n_in, in, r->n_out, in + r->n_in, cotangents, grads))
		return lb_ok() ? lb_fail("custom_vjp: the rule failed without an error") : false;
	for (int i = 0; i < n_grads; i++) {
		if (!grads[i] && !(grads[i] = lb_zeros_like(in[i])))
			return false;
	}
	return true;
}

static bool mapped_vjp(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
		       lb_tensor *const *cotangents, lb_tensor **grads)
{
	const struct mapped *m = context;
	size_t most = (size_t)n_in + 2 * (size_t)n_out;
	lb_auto_free lb_tensor **all = calloc(most, sizeof *all);
	lb_auto_free int *axes = calloc(most, sizeof *axes);
	lb_auto_free bool *given = calloc((size_t)n_out, sizeof *given);
	if (!all || !axes || !given)
		return lb_fail("vmap: out of memory for %zu tensors", most);
	int n = n_in + n_out;
	memcpy(all, in, (size_t)n_in * sizeof *all);
	memcpy(all + n_in, out, (size_t)n_out * sizeof *all);
	memcpy(axes, m->in_axes, (size_t)n_in * sizeof *axes);
	for (int i = 0; i < n_out; i++) {
		given[i] = cotangents[i] != NULL;
		if (given[i])
			all[n++] = cotangents[i];
	}
	struct rule r = { m, n_in, n_out, given };
	if (!lb_vmap(run_rule, &r, n, all, axes, n_in, NULL, grads))
		return false;
	for (int i = 0; i < n_in; i++) {
		if (m->in_axes[i] == LB_NO_AXIS && !(grads[i] = lb_sum(grads[i], LB_AXES(0), false)))
			return false;
	}
	return true;
}

/* ---- */

/* The call that a traced tensor is a result of, as long as there is a gradient for it. */
static struct lb_custom *call_of(const struct lb_tensor *t)
{
	return lb_self()->trace ? lb_custom_of(t) : NULL;
}

/* The list grows by what it goes through. */
bool lb_batch_add_customs(struct lb_batch_graph *g)
{
	for (uint32_t i = 0; i < g->order.n; i++) {
		const struct lb_custom *call = call_of(g->order.list[i]);
		for (int k = 0; call && k < call->n_out; k++) {
			if (!lb_order_add(&g->order, call->results[k]))
				return false;
		}
	}
	return true;
}

/* Result k; one that is the same for the whole batch has its axis all the same, as what gradients come to has. */
static struct lb_tensor *result(const struct lb_batch_graph *g, struct lb_tensor *t)
{
	bool batched;
	struct lb_tensor *y = lb_batch_of(g, t, &batched);
	int64_t shape[1 + LB_MAX_RANK] = { g->n };
	if (batched)
		return y;
	memcpy(shape + 1, y->shape, y->rank * sizeof *shape);
	return lb_broadcast_to(y, (lb_list){ y->rank + 1, shape });
}

static struct lb_custom *made_over_batch(const struct lb_batch_graph *g, const struct lb_custom *call, struct mapped *m,
					 struct lb_tensor **in, struct lb_tensor **results)
{
	bool batched;
	for (int i = 0; i < call->n_in; i++) {
		in[i] = lb_batch_of(g, call->in[i], &batched);
		m->in_axes[i] = batched ? 0 : LB_NO_AXIS;
	}
	for (int i = 0; i < call->n_out; i++) {
		results[i] = result(g, call->results[i]);
		if (!results[i])
			return NULL;
	}
	m->fn = call->fn;
	m->vjp = call->vjp;
	m->context = call->context;
	struct lb_custom like = { .run = call->run,
				  .fn = mapped_fn,
				  .vjp = call->vjp ? mapped_vjp : NULL,
				  .context = m,
				  .owned = m,
				  .site = call->site,
				  .n_in = call->n_in,
				  .n_out = call->n_out };
	return lb_custom_new(&like, in, results);
}

static struct lb_custom *over_batch(const struct lb_batch_graph *g, const struct lb_custom *call)
{
	size_t n = (size_t)call->n_in + (size_t)call->n_out;
	lb_auto_free struct lb_tensor **lists = calloc(n, sizeof *lists);
	struct mapped *m = calloc(1, sizeof *m + (size_t)call->n_in * sizeof *m->in_axes);
	if (!lists || !m)
		lb_fail("vmap: out of memory for %zu tensors", n);
	struct lb_custom *made = lists && m ? made_over_batch(g, call, m, lists, lists + call->n_in) : NULL;
	if (!made)
		free(m);
	return made;
}

bool lb_batch_make_customs(struct lb_batch_graph *g)
{
	struct lb_trace *trace = lb_self()->trace;
	for (int makes = 0; makes < 2; makes++) {
		for (uint32_t i = 0; i < g->order.n; i++) {
			struct lb_tensor *t = g->order.list[i], *y;
			struct lb_custom *call = lb_order_find(&g->order, t)->depends ? call_of(t) : NULL;
			bool batched;
			if (call && !makes)
				call->mapped = NULL;
			if (!call || !makes)
				continue;
			if (!call->mapped) {
				call->mapped = over_batch(g, call);
				if (!call->mapped)
					return false;
				call->mapped->next = trace->customs;
				trace->customs = call->mapped;
			}
			y = lb_batch_of(g, t, &batched);
			y->params[0] = (int64_t)(uintptr_t)call->mapped;
			y->params[1] = t->params[1];
		}
	}
	return true;
}
