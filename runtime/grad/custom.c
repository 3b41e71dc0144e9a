#include "grad/custom.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "grad/overlap.h"
#include "grad/transform.h"
#include "ops/view.h"

/* ---- backward ---- */

/* Calls the function again, on inputs that are computed after the cotangents: so evaluation does
 * not make all intermediates long before they are used. */
static bool run_again(struct lb_custom *call)
{
	int n = 0;
	lb_auto_free struct lb_tensor **lists =
	    calloc(2 * ((size_t)call->n_in + (size_t)call->n_out) + 1, sizeof *lists);
	lb_auto_free int *wrt = calloc((size_t)call->n_in + 1, sizeof *wrt);
	if (!lists || !wrt)
		return lb_fail("checkpoint: out of memory for %d inputs", call->n_in);
	struct lb_tensor **in = lists, **grads = in + call->n_in;
	struct lb_tensor **out = grads + call->n_in, **after = out + call->n_out;
	for (int i = 0; i < call->n_out; i++) {
		if (call->cotangents[i])
			after[n++] = call->cotangents[i];
	}
	bool ok = true;
	int n_wrt = 0;
	for (int i = 0; i < call->n_in && ok; i++) {
		in[i] = lb_depends_node(call->in[i], n, after, call->site);
		ok = in[i] != NULL;
		if (call->wants[i])
			wrt[n_wrt++] = i;
	}
	ok = ok && lb_pull_back(&(struct lb_pullback){ .name = "checkpoint",
						       .site = call->site,
						       .fn = call->fn,
						       .context = call->context,
						       .n_in = call->n_in,
						       .n_wrt = n_wrt,
						       .n_out = call->n_out,
						       .in = in,
						       .wrt = wrt,
						       .cotangents = call->cotangents,
						       .out = out,
						       .grads = grads });
	memset(call->grads, 0, (size_t)call->n_in * sizeof *call->grads);
	for (int i = 0; i < n_wrt && ok; i++)
		call->grads[wrt[i]] = grads[i];
	return ok;
}

static bool run_rule(struct lb_custom *call)
{
	if (call->n_in)
		memset(call->grads, 0, (size_t)call->n_in * sizeof *call->grads);
	if (call->vjp(call->context, call->n_in, call->in, call->n_out, call->results, call->cotangents, call->grads))
		return true;
	lb_fail_site(call->site);
	return lb_ok() ? lb_fail("custom_vjp: the rule failed without an error") : false;
}

/* ---- forward ---- */

/* Each result again, as one that the call's rule answers for. */
static bool mark_results(struct lb_custom *call, struct lb_tensor **out)
{
	for (int i = 0; i < call->n_out; i++) {
		struct lb_tensor *t = lb_own_elements(out[i], call->site);
		t = t ? lb_depends_node(t, call->n_in, call->in, call->site) : NULL;
		if (!t)
			return false;
		t->params[0] = (int64_t)(uintptr_t)call;
		t->params[1] = i;
		out[i] = t;
	}
	return true;
}

static bool run_custom(const char *name, const struct lb_custom *like, struct lb_tensor *const *in,
		       struct lb_tensor **out)
{
	lb_function *fn = like->fn;
	if (!LB_GIVEN(name, fn) || !LB_GIVEN_LIST(name, like->n_in, in) || !LB_GIVEN(name, out))
		return false;
	if (like->n_in < 0 || like->n_out < 1)
		return lb_fail("%s: a function cannot have %d input%s and %d result%s", name, like->n_in,
			       LB_S(like->n_in), like->n_out, LB_S(like->n_out));
	memset(out, 0, (size_t)like->n_out * sizeof *out);
	for (int i = 0; i < like->n_in; i++) {
		if (!in[i])
			return lb_fail_null_at(name, i, like->n_in);
	}
	struct lb_self *self = lb_self();
	if (!self)
		return false;
	bool ok = fn(like->context, like->n_in, in, like->n_out, out);
	lb_fail_site(like->site);
	if (!ok && lb_ok())
		lb_fail("%s: the function failed without an error", name);
	for (int i = 0; i < like->n_out && ok; i++)
		ok = out[i] || lb_fail("%s: the function gave no result %d", name, i);
	if (ok && self->trace) {
		struct lb_custom *call = lb_custom_new(like, in, out);
		if (call) {
			call->next = self->trace->customs;
			self->trace->customs = call;
		}
		ok = call && mark_results(call, out);
	}
	if (!ok)
		memset(out, 0, (size_t)like->n_out * sizeof *out);
	return ok;
}

bool lb_checkpoint(lb_function *fn, void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	LB_ENTER();
	return run_custom(
	    "checkpoint",
	    &(struct lb_custom){
		.run = run_again, .fn = fn, .context = context, .site = site, .n_in = n_in, .n_out = n_out },
	    in, out);
}

bool lb_custom_vjp(lb_function *fn, lb_vjp_function *vjp, void *context, int n_in, lb_tensor *const *in, int n_out,
		   lb_tensor **out)
{
	LB_ENTER();
	if (!LB_GIVEN("custom_vjp", vjp))
		return false;
	return run_custom(
	    "custom_vjp",
	    &(struct lb_custom){
		.run = run_rule, .fn = fn, .vjp = vjp, .context = context, .site = site, .n_in = n_in, .n_out = n_out },
	    in, out);
}
