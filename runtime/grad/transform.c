#include "grad/transform.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "grad/custom.h"
#include "grad/overlap.h"
#include "grad/reverse.h"
#include "graph/shape.h"
#include "ops/view.h"

/* ---- inputs ---- */

/* A stand-in for one input: the same tensor twice gets two gradients, and what the function has
 * of the input by another way is a constant. */
static struct lb_tensor *stand_in(struct lb_tensor *x, const void *site)
{
	x = lb_own_elements(x, site);
	return x ? lb_depends_node(x, 0, NULL, site) : NULL;
}

static int nth_wrt(const struct lb_pullback *p, int i)
{
	return p->wrt ? p->wrt[i] : i;
}

static bool check_parts(const struct lb_pullback *p)
{
	lb_function *fn = p->fn;
	lb_tensor *const *in = p->in, **out = p->out, **grads = p->grads;

	if (!LB_GIVEN(p->name, fn) || !LB_GIVEN_LIST(p->name, p->n_in, in) || !LB_GIVEN(p->name, out) ||
	    !LB_GIVEN_LIST(p->name, p->n_wrt, grads))
		return false;
	if (p->n_in < 0 || p->n_out < 1 || p->n_wrt < 0)
		return lb_fail("%s: a function cannot have %d input%s, %d result%s and %d gradient%s", p->name, p->n_in,
			       LB_S(p->n_in), p->n_out, LB_S(p->n_out), p->n_wrt, LB_S(p->n_wrt));
	memset(p->out, 0, (size_t)p->n_out * sizeof *p->out);
	if (p->n_wrt)
		memset(p->grads, 0, (size_t)p->n_wrt * sizeof *p->grads);
	for (int i = 0; i < p->n_in; i++) {
		if (!p->in[i])
			return lb_fail_null_at(p->name, i, p->n_in);
	}
	for (int i = 0; i < p->n_wrt; i++) {
		int k = nth_wrt(p, i);
		if (k < 0 || k >= p->n_in)
			return lb_fail("%s: a gradient by input %d is asked for, but there %s %d input%s", p->name, k,
				       LB_PLURAL(p->n_in, "is", "are"), p->n_in, LB_S(p->n_in));
		if (!lb_dtype_is_inexact(p->in[k]->dtype))
			return lb_fail(
			    "%s: input %d is %s, and only floating and complex tensors have gradients; name the "
			    "others in wrt",
			    p->name, k, lb_dtypes[p->in[k]->dtype].name);
	}
	return true;
}

/* ---- results ---- */

static bool check_results(const struct lb_pullback *p)
{
	lb_fail_site(p->site);
	for (int i = 0; i < p->n_out; i++) {
		if (!p->out[i])
			return lb_fail("%s: the function gave no result %d", p->name, i);
	}
	char text[LB_SHAPE_TEXT], other[LB_SHAPE_TEXT];
	const struct lb_tensor *loss = p->out[0];
	if (!p->cotangents && !p->unknown && (loss->size != 1 || !lb_dtype_is_float(loss->dtype)))
		return lb_fail("%s: result 0, of which the gradient is taken, is %s %s; it must be one floating "
			       "number",
			       p->name, lb_dtypes[loss->dtype].name, lb_shape_text(loss->rank, loss->shape, text));
	for (int i = 0; i < p->n_out && p->cotangents; i++) {
		const struct lb_tensor *t = p->out[i], *g = p->cotangents[i];
		if (g && !lb_same_shape(t->rank, t->shape, g->rank, g->shape))
			return lb_fail("%s: cotangent %d is %s, the result is %s", p->name, i,
				       lb_shape_text(g->rank, g->shape, text), lb_shape_text(t->rank, t->shape, other));
		if (g && !lb_dtype_is_inexact(t->dtype))
			return lb_fail("%s: result %d is %s, and has no cotangent; give NULL for it", p->name, i,
				       lb_dtypes[t->dtype].name);
	}
	return true;
}

/* The cotangent of result i; NULL where there is none. */
static bool seed(const struct lb_pullback *p, int i, struct lb_tensor **ret)
{
	struct lb_tensor *t = p->out[i], *given = p->cotangents ? p->cotangents[i] : NULL, *y;
	lb_dtype dtype = (lb_dtype)t->dtype;
	*ret = NULL;
	if (p->unknown ? !lb_dtype_is_inexact(dtype) : p->cotangents ? !given : i > 0)
		return true;
	if (p->unknown)
		y = lb_zeros(lb_shape_of(t), dtype);
	else
		y = given ? lb_astype(given, dtype) : lb_ones(lb_shape_of(t), dtype);
	*ret = y && p->unknown ? stand_in(y, p->site) : y;
	return *ret != NULL;
}

static bool seeds(const struct lb_pullback *p, struct lb_tensor **ret)
{
	size_t mark = lb_self()->n_items;
	bool ok = true;
	for (int i = 0; i < p->n_out && ok; i++) {
		ok = seed(p, i, &ret[i]);
		if (p->unknown)
			p->unknown[i] = ret[i];
	}
	lb_made_for(mark, p->site, 0);
	return ok;
}

static bool zeros_elsewhere(const struct lb_pullback *p)
{
	size_t mark = lb_self()->n_items;
	bool ok = true;
	for (int i = 0; i < p->n_wrt && ok; i++) {
		const struct lb_tensor *x = p->in[nth_wrt(p, i)];
		if (!p->grads[i])
			p->grads[i] = lb_zeros(lb_shape_of(x), (lb_dtype)x->dtype);
		ok = p->grads[i] != NULL;
	}
	lb_made_for(mark, p->site, 0);
	return ok;
}

/* ---- the whole ---- */

/* Scratch of one call, in one piece. */
struct lists {
	struct lb_tensor **args, **wrt, **seeds;
};

static bool lists_init(struct lists *l, const struct lb_pullback *p)
{
	size_t n = (size_t)p->n_in + (size_t)p->n_wrt + (size_t)p->n_out;
	l->args = calloc(n, sizeof *l->args);
	if (!l->args)
		return lb_fail("%s: out of memory for %zu tensors", p->name, n);
	l->wrt = l->args + p->n_in;
	l->seeds = l->wrt + p->n_wrt;
	return true;
}

static bool prepare(const struct lb_pullback *p, struct lists *l)
{
	if (p->n_in)
		memcpy(l->args, p->in, (size_t)p->n_in * sizeof *l->args);
	for (int i = 0; i < p->n_wrt; i++) {
		int k = nth_wrt(p, i);
		if (l->args[k] == p->in[k])
			l->args[k] = stand_in(p->in[k], p->site);
		if (!l->args[k])
			return false;
		l->wrt[i] = l->args[k];
	}
	return true;
}

static bool call_pullback(const struct lb_pullback *p, struct lists *l)
{
	if (p->fn(p->context, p->n_in, l->args, p->n_out, p->out))
		return true;
	lb_fail_site(p->site);
	return lb_ok() ? lb_fail("%s: the function failed without an error", p->name) : false;
}

static bool pull_back(const struct lb_pullback *p, struct lb_trace *trace)
{
	struct lists l;
	if (!lists_init(&l, p))
		return false;
	struct lb_goal goal = {
		.name = p->name,
		.site = p->site,
		.trace = trace,
		.since = lb_self()->next_id,
		.n_roots = p->n_out,
		.n_wrt = p->n_wrt,
		.roots = p->out,
		.cotangents = l.seeds,
		.wrt = l.wrt,
		.pull_back = lb_pull_back,
	};
	bool ok = prepare(p, &l) && call_pullback(p, &l) && check_results(p) && seeds(p, l.seeds) &&
		  lb_reverse(&goal, p->grads) && zeros_elsewhere(p);
	free(l.args);
	return ok;
}

bool lb_pull_back(const struct lb_pullback *p)
{
	if (!check_parts(p))
		return false;
	struct lb_trace *trace = lb_trace_begin();
	if (!trace)
		return false;
	lb_scope scope = lb_scope_begin();
	bool ok = pull_back(p, trace);
	for (int i = 0; i < p->n_out; i++)
		ok = ok && lb_escape(p->out[i]) && (!p->unknown || !p->unknown[i] || lb_escape(p->unknown[i]));
	for (int i = 0; i < p->n_wrt; i++)
		ok = ok && lb_escape(p->grads[i]);
	if (!ok) {
		memset(p->out, 0, (size_t)p->n_out * sizeof *p->out);
		if (p->n_wrt)
			memset(p->grads, 0, (size_t)p->n_wrt * sizeof *p->grads);
	}
	lb_scope_end(&scope);
	if (trace->depth == 1)
		lb_customs_free(trace->customs);
	lb_trace_end(trace);
	return ok;
}

/* ---- public ---- */

bool lb_value_and_grad(lb_function *fn, void *context, int n_in, lb_tensor *const *in, int n_wrt, const int *wrt,
		       int n_out, lb_tensor **out, lb_tensor **grads)
{
	LB_ENTER();
	return lb_pull_back(&(struct lb_pullback){ .name = "value_and_grad",
						   .site = site,
						   .fn = fn,
						   .context = context,
						   .n_in = n_in,
						   .n_wrt = wrt ? n_wrt : n_in,
						   .n_out = n_out,
						   .in = in,
						   .wrt = wrt,
						   .out = out,
						   .grads = grads });
}

bool lb_grad(lb_function *fn, void *context, int n_in, lb_tensor *const *in, lb_tensor **grads)
{
	LB_ENTER();
	lb_tensor *value;
	return lb_pull_back(&(struct lb_pullback){ .name = "grad",
						   .site = site,
						   .fn = fn,
						   .context = context,
						   .n_in = n_in,
						   .n_wrt = n_in,
						   .n_out = 1,
						   .in = in,
						   .out = &value,
						   .grads = grads });
}

bool lb_vjp(lb_function *fn, void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *cotangents,
	    lb_tensor **out, lb_tensor **grads)
{
	LB_ENTER();
	if (!LB_GIVEN("vjp", cotangents))
		return false;
	return lb_pull_back(&(struct lb_pullback){ .name = "vjp",
						   .site = site,
						   .fn = fn,
						   .context = context,
						   .n_in = n_in,
						   .n_wrt = n_in,
						   .n_out = n_out,
						   .in = in,
						   .cotangents = cotangents,
						   .out = out,
						   .grads = grads });
}
