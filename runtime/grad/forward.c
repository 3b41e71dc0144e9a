/* Forward mode, by reverse mode twice. What a cotangent c of the results becomes at the inputs, J^T c, is linear in c;
 * the same rules lead from there back to c, and a cotangent v of J^T c becomes J v on that way. No c has to have a
 * value: the rules are linear in it, so what comes back does not depend on it, and is never computed from it. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "grad/custom.h"
#include "grad/transform.h"
#include "graph/shape.h"

struct forward {
	struct lb_pullback back;
	struct lb_tensor *const *tangents; /* n_in, NULL for none */
	struct lb_tensor **out_tangents;   /* n_out */
	/* scratch: which inputs have a tangent, and these tangents, in their dtype */
	int *wrt;
	struct lb_tensor **along;
};

static bool check_tangent(const struct lb_pullback *p, int i, const struct lb_tensor *v)
{
	const struct lb_tensor *x = p->in[i];
	char text[LB_SHAPE_TEXT], other[LB_SHAPE_TEXT];
	if (!lb_dtype_is_inexact(x->dtype))
		return lb_fail(
		    "%s: input %d is %s, and only floating and complex tensors have tangents; give NULL for it",
		    p->name, i, lb_dtypes[x->dtype].name);
	if (!lb_dtype_is_inexact(v->dtype) || !lb_same_shape(x->rank, x->shape, v->rank, v->shape))
		return lb_fail("%s: tangent %d is %s %s; it must be floating, and %s, as the input is", p->name, i,
			       lb_dtypes[v->dtype].name, lb_shape_text(v->rank, v->shape, text),
			       lb_shape_text(x->rank, x->shape, other));
	return true;
}

static bool collect_tangents(struct forward *f)
{
	struct lb_pullback *p = &f->back;
	size_t mark = lb_self()->n_items;
	for (int i = 0; i < p->n_in; i++) {
		if (!p->in[i])
			return lb_fail_null_at(p->name, i, p->n_in);
		if (!f->tangents[i])
			continue;
		if (!check_tangent(p, i, f->tangents[i]))
			return false;
		f->wrt[p->n_wrt] = i;
		f->along[p->n_wrt] = lb_astype(f->tangents[i], (lb_dtype)p->in[i]->dtype);
		if (!f->along[p->n_wrt++])
			return false;
	}
	lb_made_for(mark, p->site, 0);
	return true;
}

/* From the gradients back to the cotangents that they were made of. */
static bool return_to_cotangents(struct forward *f, struct lb_trace *trace)
{
	const struct lb_pullback *p = &f->back;
	int n = 0;
	lb_auto_free struct lb_tensor **lists = calloc(2 * (size_t)p->n_out + 1, sizeof *lists);
	if (!lists)
		return lb_fail("%s: out of memory for %d results", p->name, p->n_out);
	struct lb_tensor **wrt = lists, **got = lists + p->n_out;
	for (int i = 0; i < p->n_out; i++) {
		if (p->unknown[i])
			wrt[n++] = p->unknown[i];
	}
	if (n == 0)
		return true;
	struct lb_goal goal = {
		.name = p->name,
		.site = p->site,
		.trace = trace,
		.since = wrt[0]->id,
		.n_roots = p->n_wrt,
		.n_wrt = n,
		.roots = p->grads,
		.cotangents = f->along,
		.wrt = wrt,
		.pull_back = lb_pull_back,
	};
	if (!lb_reverse(&goal, got))
		return false;
	for (int i = 0, k = 0; i < p->n_out; i++)
		f->out_tangents[i] = p->unknown[i] ? got[k++] : NULL;
	return true;
}

static bool zeros_elsewhere(const struct forward *f)
{
	const struct lb_pullback *p = &f->back;
	size_t mark = lb_self()->n_items;
	bool ok = true;
	for (int i = 0; i < p->n_out && ok; i++) {
		if (!f->out_tangents[i])
			f->out_tangents[i] = lb_zeros_like(p->out[i]);
		ok = f->out_tangents[i] != NULL;
	}
	lb_made_for(mark, p->site, 0);
	return ok;
}

static bool push_forward(struct forward *f, struct lb_trace *trace)
{
	struct lb_pullback *p = &f->back;
	return collect_tangents(f) && lb_pull_back(p) && return_to_cotangents(f, trace) && zeros_elsewhere(f);
}

/* Scratch, in one piece: the tangents, the gradients, the cotangents, then which inputs have them. */
static void *scratch(struct forward *f)
{
	struct lb_pullback *p = &f->back;
	size_t n = 2 * (size_t)p->n_in + (size_t)p->n_out;
	struct lb_tensor **lists = calloc(1, n * sizeof *lists + (size_t)p->n_in * sizeof *f->wrt + 1);
	if (!lists) {
		lb_fail("%s: out of memory for %zu tensors", p->name, n);
		return NULL;
	}
	f->along = lists;
	p->grads = f->along + p->n_in;
	p->unknown = p->grads + p->n_in;
	p->wrt = f->wrt = (int *)(p->unknown + p->n_out);
	return lists;
}

bool lb_jvp(lb_function *fn, void *context, int n_in, lb_tensor *const *in, lb_tensor *const *tangents, int n_out,
	    lb_tensor **out, lb_tensor **out_tangents)
{
	LB_ENTER();
	const char *const name = "jvp";
	if (!LB_GIVEN(name, fn) || !LB_GIVEN_LIST(name, n_in, in) || !LB_GIVEN_LIST(name, n_in, tangents) ||
	    !LB_GIVEN(name, out) || !LB_GIVEN(name, out_tangents))
		return false;
	if (n_in < 0 || n_out < 1)
		return lb_fail("%s: a function cannot have %d input%s and %d result%s", name, n_in, LB_S(n_in), n_out,
			       LB_S(n_out));
	memset(out, 0, (size_t)n_out * sizeof *out);
	memset(out_tangents, 0, (size_t)n_out * sizeof *out_tangents);
	struct forward f = { .back = { .name = name,
				       .site = site,
				       .fn = fn,
				       .context = context,
				       .n_in = n_in,
				       .n_out = n_out,
				       .in = in,
				       .out = out },
			     .tangents = tangents,
			     .out_tangents = out_tangents };
	lb_auto_free void *memory = scratch(&f);
	struct lb_trace *trace = memory ? lb_trace_begin() : NULL;
	if (!trace)
		return false;
	lb_scope scope = lb_scope_begin();
	bool ok = push_forward(&f, trace);
	for (int i = 0; i < n_out; i++)
		ok = ok && lb_escape(out[i]) && lb_escape(out_tangents[i]);
	if (!ok) {
		memset(out, 0, (size_t)n_out * sizeof *out);
		memset(out_tangents, 0, (size_t)n_out * sizeof *out_tangents);
	}
	lb_scope_end(&scope);
	if (trace->depth == 1)
		lb_customs_free(trace->customs);
	lb_trace_end(trace);
	return ok;
}
