/* NaN and Inf are caught where they come up for the first time, when no T is given: a node that has them from another node
 * is passed over. Every node is looked at, in turn, so it is remembered which memory they have left in that state, until
 * another node writes there. What comes from a weight or another input that no node has computed is new. Inf alone is
 * not, where an input holds it already, as masks do; and an operation that puts -Inf into its result by design does
 * nothing that anybody wants to catch.
 *
 * A view with gaps, as a column of a cache, may be told to lie where others have written: so what is in such memory is
 * looked at before it is held to be the reason. */
#include "plugin/stops/node_look.h"

#include "plugin/stops/catch_condition.h"

#include <string.h>

#include "base/error.h"
#include "inspect/measure/digest.h"
#include "inspect/tensor/name.h"
#include "plugin/bridge/bridge.h"
#include "plugin/stops/tainted.h"

static struct lbx_tainted tainted;

/* What has been seen, and counts when another node is looked at: until then the line may run again, with answers, and the
 * breakpoint of another catch ask once more about the same node, whose value often lies where its input was. */
static struct {
	bool is_set, is_dense, holds;
	uint64_t node, start, end;
} seen;

void lbx_node_look_forget(void)
{
	lbx_tainted_clear(&tainted);
	seen.is_set = false;
}

static void begin_look(uint64_t node)
{
	if (!seen.is_set || seen.node == node)
		return;
	if (seen.holds)
		lbx_tainted_add(&tainted, seen.start, seen.end);
	else if (seen.is_dense)
		lbx_tainted_remove(&tainted, seen.start, seen.end);
	seen.is_set = false;
}

static void take_seen(const struct lbx_tensor *t, bool holds)
{
	seen.is_set = lbx_tensor_range(t, &seen.start, &seen.end);
	seen.node = t->address;
	seen.holds = holds;
	seen.is_dense = seen.is_set && seen.end - seen.start == (uint64_t)lbx_tensor_nbytes(t);
	lb_clear_error();
}

/* ---- a node's value ---- */

bool lbx_node_tensor(struct lbx_context *context, const struct lbx_nodes_ops *of, uint64_t address,
		     struct lbx_tensor *ret)
{
	struct lbx_node_record r;

	if (!of->read(context, address, &r) || !r.is_known)
		return false;
	*ret = r.tensor;
	return true;
}

/* False, with an error, where the elements cannot be read. */
static bool measure(struct lbx_context *context, const struct lbx_nodes_ops *of, const struct lbx_node_record *r,
		    struct lbx_array *array, struct lbx_digest *ret)
{
	const struct lbx_tensor *t = &r->tensor;

	*ret = (struct lbx_digest){ .count = 0 };
	if (t->size == 0)
		return true;
	if (!r->is_known)
		return lb_fail("its elements are of a type that is not known here");
	if (!of->lies_in_order(context, t->address))
		return false;
	if (!t->data || !lbx_array_of_tensor(context->target, t, array))
		return lb_fail("it has no memory");
	return lbx_digest(array, context->out, ret);
}

struct first {
	enum lb_dtype dtype;
	int64_t at;
};

static bool is_finite_so_far(void *context, const void *elements, int64_t n, int64_t first)
{
	struct first *f = context;
	size_t bytes = lbx_dtype_bytes(f->dtype);

	for (int64_t i = 0; i < n; i++) {
		double value = lbx_element_double((const char *)elements + (size_t)i * bytes, f->dtype);
		if (value - value != 0) {
			f->at = first + i;
			return false;
		}
	}
	return true;
}

/* In row-major order. */
static int64_t first_not_finite(struct lbx_context *context, const struct lbx_array *array)
{
	struct first f = { .dtype = array->dtype, .at = -1 };

	lbx_array_walk(array, context->out, "the value", 1 << 16, is_finite_so_far, &f);
	lb_clear_error();
	return f.at;
}

/* ---- what is new ---- */

/* Whether it holds any now; `unless` where that cannot be seen. */
static bool holds_any(struct lbx_context *context, const struct lbx_nodes_ops *of, const struct lbx_node_record *r,
		      bool unless)
{
	struct lbx_array array;
	struct lbx_digest d;
	bool known = measure(context, of, r, &array, &d);

	lb_clear_error();
	return known ? d.inf + d.nan > 0 : unless;
}

/* Whether an input has them from a node that was computed before. */
static bool has_them(struct lbx_context *context, const struct lbx_nodes_ops *of, const struct lbx_node_record *source)
{
	uint64_t start, end;
	bool lies = lbx_tensor_range(&source->tensor, &start, &end);

	lb_clear_error();
	return lies && lbx_tainted_has(&tainted, start, end) && holds_any(context, of, source, true);
}

/* What is the reason for them in a result: an input, or what that is made of where it has no value of its own. */
static bool is_reason(struct lbx_context *context, const struct lbx_nodes_ops *of, uint64_t at, bool nan,
		      bool looks_through)
{
	struct lbx_node_record r;

	if (!at || !of->read(context, at, &r))
		return false;
	if (has_them(context, of, &r) || (!nan && holds_any(context, of, &r, false)))
		return true;
	for (int i = 0; looks_through && r.passes_on && i < LBX_NODE_SOURCES; i++)
		if (is_reason(context, of, r.sources[i], nan, false))
			return true;
	return false;
}

static bool is_new(struct lbx_context *context, const struct lbx_nodes_ops *of, const struct lbx_node_record *r,
		   const struct lbx_digest *d)
{
	if (d->nan == 0 && r->puts_inf)
		return false;
	for (int i = 0; i < LBX_NODE_SOURCES; i++)
		if (r->sources[i] != r->tensor.address && is_reason(context, of, r->sources[i], d->nan > 0, true))
			return false;
	return true;
}

static bool look_for_nan(struct lbx_context *context, const struct lbx_nodes_ops *of, const struct lbx_catch *c,
			 const struct lbx_node_record *r, const struct lbx_array *array, const struct lbx_digest *d,
			 struct lbx_catch_stop *ret)
{
	bool found = d->nan + d->inf > 0, any = !c->name[0] && !c->record && !c->op[0];

	if (any)
		begin_look(r->tensor.address);
	bool stops = found && (!any || is_new(context, of, r, d));
	if (any)
		take_seen(&r->tensor, found);
	if (stops) {
		ret->args[3] = (uint64_t)(d->nan + d->inf);
		ret->args[4] = (uint64_t)first_not_finite(context, array);
	}
	return stops;
}

static bool look_at_range(const struct lbx_catch *c, const struct lbx_digest *d, struct lbx_catch_stop *ret)
{
	if (d->count == d->nan || (d->min >= c->low && d->max <= c->high))
		return false;
	ret->args[3] = (uint64_t)lb_order_double(d->min);
	ret->args[4] = (uint64_t)lb_order_double(d->max);
	return true;
}

/* ---- the whole ---- */

/* 0: none. */
static uint64_t node_for(const struct lbx_nodes_ops *of, const struct lbx_catch *c, const struct lbx_node_place *place)
{
	if (of->by_evaluation)
		return c->kind->evaluation == LBX_AFTER_EVALUATION ? place->done : place->next;
	return c->kind->node == LBX_AFTER_NODE ? place->done : c->kind->node == LBX_BEFORE_NODE ? place->next : 0;
}

static bool is_meant(const struct lbx_nodes_ops *of, const struct lbx_catch *c, const struct lbx_node_record *r)
{
	const struct lbx_tensor *t = &r->tensor;

	if (of->has_paths) /* then only what is meant is asked for */
		return true;
	if (c->id || (c->record && c->record != t->address) || (c->op[0] && strcmp(c->op, t->op) != 0) ||
	    (c->kind->looks && r->is_view))
		return false;
	return !c->name[0] || (c->is_glob ? lbx_name_matches(c->name, t->name) : strcmp(c->name, t->name) == 0);
}

static void tell_blind(struct lbx_context *context, struct lbx_catch *c, const struct lbx_tensor *t)
{
	if (!c->is_blind) {
		lbx_wrap(context->out, 0, 2);
		lbx_printf(context->out, "Catch %d: %s, made by %s, cannot be looked at, nor what is like it: %s.\n",
			   c->number, t->name[0] ? t->name : "a tensor", t->op, lb_error_message());
	}
	c->is_blind = true;
	lb_clear_error();
}

/* Its condition: behind a node the value is there, whatever other threads do. */
static bool holds(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_tensor *t, bool *ret)
{
	struct lbx_tensor it = *t;

	if (c->kind->node == LBX_AFTER_NODE && it.state == LBX_UNSURE)
		it.state = LBX_READY;
	return lbx_catch_condition_holds(context, c, &it, ret);
}

bool lbx_node_look(struct lbx_context *context, const struct lbx_nodes_ops *of, struct lbx_catch *c,
		   const struct lbx_node_place *place, struct lbx_catch_stop *ret_stop, bool *ret)
{
	uint64_t node = node_for(of, c, place);
	struct lbx_node_record r;
	struct lbx_array array;
	struct lbx_digest d;

	*ret = false;
	ret_stop->catch = c;
	ret_stop->args[0] = node;
	if (!node || !of->read(context, node, &r))
		return !lbx_bridge_waits();
	if (!is_meant(of, c, &r))
		return true;
	*ret = true;
	if (!c->kind->looks)
		return holds(context, c, &r.tensor, ret);
	if (!measure(context, of, &r, &array, &d)) {
		*ret = false;
		if (lbx_bridge_waits() || lbx_bridge_interrupted())
			return false;
		tell_blind(context, c, &r.tensor);
		return true;
	}
	*ret = c->kind->takes == LBX_TAKES_RANGE ? look_at_range(c, &d, ret_stop)
						 : look_for_nan(context, of, c, &r, &array, &d, ret_stop);
	return !*ret || holds(context, c, &r.tensor, ret);
}
