/* lb_vmap(): the function runs once, on tracers of one element's shapes, and what it made of them is made again over the
 * whole batch (batch/graph.h). */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "batch/graph.h"
#include "grad/overlap.h"
#include "grad/reverse.h"
#include "graph/shape.h"

struct map {
	const void *site;
	lb_function *fn;
	void *context;
	int n_in, n_out;
	struct lb_tensor *const *in;
	const int *in_axes, *out_axes; /* NULL: all 0 */
	struct lb_tensor **out;
	struct lb_tensor **args; /* n_in: what the function gets */
	struct lb_batch_graph graph;
};

static int axis_of(const int *axes, int i)
{
	return axes ? axes[i] : 0;
}

/* ---- inputs ---- */

/* The batch in front. */
static struct lb_tensor *moved(struct map *m, int i, int axis)
{
	struct lb_tensor *x = m->in[i];
	if (axis)
		x = lb_moveaxis(x, axis, 0);
	return x && lb_self()->trace ? lb_own_elements(x, m->site) : x;
}

static bool move_inputs(struct map *m)
{
	char text[LB_SHAPE_TEXT];
	int first = -1, axis;
	for (int i = 0; i < m->n_in; i++) {
		const struct lb_tensor *x = m->in[i];
		if (axis_of(m->in_axes, i) == LB_NO_AXIS)
			continue;
		if (!lb_axis("vmap", axis_of(m->in_axes, i), lb_shape_of(x), 0, &axis))
			return false;
		if (first >= 0 && x->shape[axis] != m->graph.n)
			return lb_fail(
			    "vmap: input %d is %s, with %lld along its axis %d, where input %d has %lld: a batch "
			    "has one size",
			    i, lb_shape_text(x->rank, x->shape, text), (long long)x->shape[axis], axis, first,
			    (long long)m->graph.n);
		first = first < 0 ? i : first;
		m->graph.n = x->shape[axis];
		m->graph.moved[i] = moved(m, i, axis);
		if (!m->graph.moved[i])
			return false;
	}
	return first >= 0 || lb_fail("vmap: no input has an axis for the batch");
}

static bool make_tracers(struct map *m, const struct lb_tracing *tracing)
{
	for (int i = 0; i < m->n_in; i++) {
		const struct lb_tensor *x = m->graph.moved[i];
		struct lb_tensor one = { 0 };
		m->args[i] = m->in[i];
		if (!x)
			continue;
		one.dtype = x->dtype;
		one.rank = (uint8_t)(x->rank - 1);
		memcpy(one.shape, x->shape + 1, one.rank * sizeof *x->shape);
		memcpy(one.strides, x->strides + 1, one.rank * sizeof *x->strides);
		m->args[i] = lb_tracer_new(tracing, i, &one);
		if (!m->args[i])
			return false;
	}
	return true;
}

/* ---- the function ---- */

static bool call_mapped(struct map *m)
{
	bool was_ok = lb_ok(), ok = m->fn(m->context, m->n_in, m->args, m->n_out, m->out);
	lb_fail_site(m->site);
	if (!ok)
		return lb_ok() ? lb_fail("vmap: the function failed without an error") : false;
	for (int i = 0; i < m->n_out; i++) {
		if (!m->out[i])
			return lb_ok() ? lb_fail("vmap: the function gave no result %d", i) : false;
	}
	/* a failed call in it, whose result was not looked at, may have gone wrong unseen */
	return lb_ok() || !was_ok;
}

static bool trace_mapped(struct map *m, struct lb_tracing *tracing)
{
	struct lb_self *self = lb_self();
	lb_tracing_begin(self, tracing);
	bool ok = make_tracers(m, tracing) && call_mapped(m);
	lb_tracing_end(self);
	return ok;
}

/* ---- results ---- */

static struct lb_tensor *repeated(const struct map *m, struct lb_tensor *t, int axis)
{
	int64_t shape[LB_MAX_RANK];
	struct lb_tensor *y = lb_expand_dims(t, LB_AXES(axis));
	if (!y)
		return NULL;
	memcpy(shape, y->shape, sizeof shape);
	shape[axis] = m->graph.n;
	return lb_broadcast_to(y, (lb_list){ y->rank, shape });
}

static struct lb_tensor *result(const struct map *m, int i)
{
	struct lb_tensor *t = m->out[i];
	int axis = axis_of(m->out_axes, i), along;
	bool batched;
	struct lb_tensor *y = lb_batch_of(&m->graph, t, &batched);
	if (axis == LB_NO_AXIS && batched)
		lb_fail("vmap: result %d depends on the batch: out_axes must name an axis for it, not LB_NO_AXIS", i);
	if (axis == LB_NO_AXIS)
		return batched ? NULL : y;
	if (!lb_axis("vmap", axis, lb_shape_of(t), 1, &along))
		return NULL;
	return !batched ? repeated(m, y, along) : along ? lb_moveaxis(y, 0, along) : y;
}

static bool make_results(struct map *m)
{
	size_t mark = lb_self()->n_items;
	for (int i = 0; i < m->n_out; i++) {
		m->out[i] = result(m, i);
		if (!m->out[i])
			return false;
	}
	lb_made_for(mark, m->site, 0);
	return true;
}

/* ---- the whole ---- */

static bool run_mapped(struct map *m)
{
	struct lb_tracing tracing = { .call = "vmap", .site = m->site };
	size_t mark = lb_self()->n_items;
	m->graph.order.tracing = &tracing;
	if (!move_inputs(m))
		return false;
	lb_made_for(mark, m->site, 0);
	bool ok = trace_mapped(m, &tracing);
	for (int i = 0; i < m->n_out && ok; i++)
		ok = lb_order_add(&m->graph.order, m->out[i]);
	ok = ok && lb_batch_add_customs(&m->graph) && lb_batch_make(&m->graph) && lb_batch_make_customs(&m->graph);
	lb_fail_site(m->site);
	ok = ok && make_results(m);
	lb_batch_graph_deinit(&m->graph);
	return ok;
}

bool lb_vmap(lb_function *fn, void *context, int n_in, lb_tensor *const *in, const int *in_axes, int n_out,
	     const int *out_axes, lb_tensor **out)
{
	LB_ENTER();
	if (!LB_GIVEN("vmap", fn) || !LB_GIVEN_LIST("vmap", n_in, in) || !LB_GIVEN("vmap", out))
		return false;
	if (n_in < 0 || n_out < 1)
		return lb_fail("vmap: a function cannot have %d input%s and %d result%s", n_in, LB_S(n_in), n_out,
			       LB_S(n_out));
	memset(out, 0, (size_t)n_out * sizeof *out);
	for (int i = 0; i < n_in; i++) {
		if (!in[i])
			return lb_fail_null_at("vmap", i, n_in);
	}
	lb_auto_free struct lb_tensor **lists = calloc(2 * (size_t)n_in + 1, sizeof *lists);
	if (!lists || !lb_self())
		return lb_fail("vmap: out of memory for %d inputs", n_in);
	struct map m = { .site = site,
			 .fn = fn,
			 .context = context,
			 .n_in = n_in,
			 .n_out = n_out,
			 .in = in,
			 .in_axes = in_axes,
			 .out_axes = out_axes,
			 .out = out,
			 .args = lists,
			 .graph.moved = lists + n_in };
	lb_scope scope = lb_scope_begin();
	bool ok = run_mapped(&m);
	for (int i = 0; i < n_out; i++)
		ok = ok && lb_escape(out[i]);
	if (!ok)
		memset(out, 0, (size_t)n_out * sizeof *out);
	lb_scope_end(&scope);
	return ok;
}
