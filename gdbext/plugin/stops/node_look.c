/* NaN and Inf are caught where they come up for the first time, when no T is given: a node that has them from another node
 * is passed over. Which nodes had them is remembered, since every node is looked at, in turn; their records are used
 * again by the next graph, and with the next value forgotten. What comes from a weight or another input that no node has
 * computed is new. Inf alone is not, where an input holds it already, as masks do; and an operation that puts -Inf into
 * its result by design does nothing that anybody wants to catch. */
#include "plugin/stops/node_look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ggml/places.h"
#include "ggml/record.h"
#include "inspect/measure/digest.h"
#include "inspect/tensor/name.h"
#include "plugin/bridge/bridge.h"

enum { REMEMBERED = 1 << 12 };

/* Where the program's tensors lie. */
static struct {
	struct lbx_loaded *modules;
	struct lbx_ggml_places places;
} memory;

static struct {
	uint64_t list[REMEMBERED];
	int n;
	/* what has been seen, and counts when the line has ended: it may run again with answers */
	uint64_t seen, seen_view;
	bool holds;
} tainted;

void lbx_node_look_forget(void)
{
	tainted.n = 0;
	tainted.seen = 0;
	free(memory.modules);
	memory.modules = NULL;
}

static int find_tainted(uint64_t record)
{
	for (int i = 0; i < tainted.n; i++)
		if (tainted.list[i] == record)
			return i;
	return -1;
}

static void set_tainted(uint64_t record, bool is_so)
{
	int i = find_tainted(record);

	if (i >= 0 && !is_so)
		tainted.list[i] = tainted.list[--tainted.n];
	else if (i < 0 && is_so && record && tainted.n < REMEMBERED)
		tainted.list[tainted.n++] = record;
}

/* A node is tainted with what it is a view of, as a cache that it writes to. */
void lbx_node_look_end(void)
{
	if (tainted.seen)
		set_tainted(tainted.seen, tainted.holds);
	if (tainted.seen && tainted.holds)
		set_tainted(tainted.seen_view, true);
	tainted.seen = 0;
}

/* ---- a node's value ---- */

static bool read_record(struct lbx_context *context, uint64_t address, struct lbx_ggml_record *ret)
{
	return lbx_ggml_record_read(context->target, lbx_nodes_anchor(), &lbx_nodes_callback()->layout, address, ret);
}

static void take_record(const struct lbx_ggml_record *r, struct lbx_tensor *ret)
{
	const struct lbx_ggml_type *type = &lbx_nodes_anchor()->types[r->type];

	*ret = (struct lbx_tensor){ .address = r->address,
				    .dtype = type->encoding.dtype,
				    .encoding = type->elements > 1 ? &type->encoding : NULL,
				    .op = lbx_nodes_anchor()->ops[r->op],
				    .state = LBX_READY,
				    .layout_known = true,
				    .rank = r->rank,
				    .size = r->size,
				    .data = r->data,
				    .buffer_bytes = r->reach };
	strncpy(ret->name, r->name, LB_NAME_MAX);
	for (int i = 0; i < r->rank; i++) {
		ret->axes.few.shape[i] = r->ne[r->rank - 1 - i];
		ret->axes.few.strides[i] = r->strides[r->rank - 1 - i];
	}
}

bool lbx_node_tensor(struct lbx_context *context, uint64_t address, struct lbx_tensor *ret)
{
	struct lbx_ggml_record r;

	if (!read_record(context, address, &r) || !lbx_nodes_anchor()->types[r.type].is_known)
		return false;
	take_record(&r, ret);
	return true;
}

/* Whether its memory is the program's, in the order that the record tells. */
static bool lies_in_order(struct lbx_context *context, const struct lbx_ggml_record *r)
{
	int n;

	if (!r->buffer)
		return true;
	if (!memory.modules) {
		memory.modules = lbx_loaded_all(context->target, &n);
		if (!memory.modules || n == 0) { /* or gdb has still to answer */
			free(memory.modules);
			memory.modules = NULL;
			return lb_fail("the program's modules cannot be read");
		}
		memory.places = (struct lbx_ggml_places){ .modules = memory.modules, .n_modules = n };
	}
	memory.places.target = context->target;
	const struct lbx_ggml_buffer *buffer = lbx_ggml_buffer(&memory.places, r->buffer);
	return buffer->place == LBX_GGML_HOST ||
	       lb_fail("%s", buffer->place == LBX_GGML_REORDERED ? "its elements lie in an order of the backend's own"
								 : "it is in a device's memory");
}

/* False, with an error, where the elements cannot be read. */
static bool measure(struct lbx_context *context, const struct lbx_ggml_record *r, struct lbx_array *array,
		    struct lbx_digest *ret)
{
	const struct lbx_ggml_type *type = &lbx_nodes_anchor()->types[r->type];
	struct lbx_tensor t;

	*ret = (struct lbx_digest){ .count = 0 };
	if (r->size == 0)
		return true;
	if (!type->is_known)
		return lb_fail("elements of %s are not known here", type->name);
	if (!lies_in_order(context, r))
		return false;
	take_record(r, &t);
	if (!r->data || !lbx_array_of_tensor(context->target, &t, array))
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

static bool holds_inf(struct lbx_context *context, uint64_t source)
{
	struct lbx_ggml_record r;
	struct lbx_array array;
	struct lbx_digest d;
	bool found = read_record(context, source, &r) && measure(context, &r, &array, &d) && d.inf + d.nan > 0;

	lb_clear_error();
	return found;
}

static bool puts_inf(const char *op)
{
	return strcmp(op, "DIAG_MASK_INF") == 0 || strcmp(op, "FILL") == 0;
}

static bool is_new(struct lbx_context *context, const struct lbx_ggml_record *r, const struct lbx_digest *d)
{
	struct lbx_ggml_record source;

	if (d->nan == 0 && puts_inf(lbx_nodes_anchor()->ops[r->op]))
		return false;
	for (int i = 0; i < LBX_GGML_SOURCES; i++) {
		uint64_t at = r->sources[i];
		if (!at || at == r->address || !read_record(context, at, &source))
			continue;
		if (find_tainted(at) >= 0 || (source.view_source && find_tainted(source.view_source) >= 0) ||
		    (d->nan == 0 && holds_inf(context, at)))
			return false;
	}
	return true;
}

static bool look_for_nan(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_ggml_record *r,
			 const struct lbx_array *array, const struct lbx_digest *d, struct lbx_catch_stop *ret)
{
	bool found = d->nan + d->inf > 0, any = !c->name[0] && !c->record && !c->op[0];

	bool stops = found && (!any || is_new(context, r, d));
	if (any) {
		tainted.seen = r->address;
		tainted.seen_view = r->view_source;
		tainted.holds = found;
	}
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

static bool is_meant(const struct lbx_catch *c, const struct lbx_node *node, const struct lbx_ggml_record *r)
{
	const char *op = lbx_nodes_anchor()->ops[r->op];

	if (c->kind->node == LBX_NOT_AT_NODES || (c->kind->node == LBX_AFTER_NODE) != node->is_done)
		return false;
	if (c->id || (c->record && c->record != r->address) || (c->op[0] && strcmp(c->op, op) != 0) ||
	    (c->kind->looks && lbx_ggml_is_view(lbx_nodes_anchor(), r)))
		return false;
	return !c->name[0] || (c->is_glob ? lbx_name_matches(c->name, r->name) : strcmp(c->name, r->name) == 0);
}

static void tell_blind(struct lbx_context *context, struct lbx_catch *c, const struct lbx_ggml_record *r)
{
	if (!c->is_blind) {
		lbx_wrap(context->out, 0, 2);
		lbx_printf(context->out, "Catch %d: %s, made by %s, cannot be looked at, nor what is like it: %s.\n",
			   c->number, r->name[0] ? r->name : "a tensor", lbx_nodes_anchor()->ops[r->op],
			   lb_error_message());
	}
	c->is_blind = true;
	lb_clear_error();
}

bool lbx_node_look(struct lbx_context *context, struct lbx_catch *c, const struct lbx_node *node,
		   struct lbx_catch_stop *ret_stop, bool *ret)
{
	struct lbx_ggml_record r;
	struct lbx_array array;
	struct lbx_digest d;

	*ret = false;
	ret_stop->catch = c;
	ret_stop->args[0] = node->address;
	if (!read_record(context, node->address, &r))
		return !lbx_bridge_waits();
	if (!is_meant(c, node, &r))
		return true;
	*ret = true;
	if (!c->kind->looks)
		return true;
	if (!measure(context, &r, &array, &d)) {
		*ret = false;
		if (lbx_bridge_waits() || lbx_bridge_interrupted())
			return false;
		tell_blind(context, c, &r);
		return true;
	}
	*ret = c->kind->takes == LBX_TAKES_RANGE ? look_at_range(c, &d, ret_stop)
						 : look_for_nan(context, c, &r, &array, &d, ret_stop);
	return true;
}
