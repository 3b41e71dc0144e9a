/* A buffer that waits in the cache still tells for which tensor it was allocated; that tensor's
 * record, if its slot has not been used again, tells what the bytes mean. It was freed; or it is a
 * temporary that has become lazy again. */
#include "inspect/forensics/freed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/texts.h"

enum { MAX_BUFFERS = 1 << 20 };

struct buffers {
	size_t n, room;
	struct lbx_buffer *list; /* by the tensor's id */
};

static int by_tensor(const void *a, const void *b)
{
	const struct lbx_buffer *x = a, *y = b;
	return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

static bool collect(struct lbx_table *table, struct buffers *b)
{
	struct lbx_buffer buffer;
	uint64_t slot = 0;

	while (lbx_tensors_next_buffer(lbx_table_tensors(table), &slot, &buffer)) {
		if (!(buffer.flags & LB_BUFFER_CACHED) || buffer.tensor == 0)
			continue;
		if (b->n == MAX_BUFFERS || !lb_reserve(b->list, b->room, b->n + 1))
			return lb_fail("out of memory for %zu buffers", b->n);
		b->list[b->n++] = buffer;
	}
	if (b->n)
		qsort(b->list, b->n, sizeof *b->list, by_tensor);
	return lb_ok();
}

/* Freed tensors first, then lazy ones. */
struct cursor {
	uint64_t freed, live;
	bool is_live;
};

static bool next_without_value(struct lbx_table *table, struct cursor *at, struct lbx_tensor *ret)
{
	struct lbx_tensors *tensors = lbx_table_tensors(table);
	uint64_t bad = 0;

	if (!at->is_live && lbx_table_next_freed(table, &at->freed, ret))
		return true;
	at->is_live = true;
	while (lbx_tensors_next(tensors, &at->live, ret, &bad) == LBX_NEXT_TENSOR)
		if (ret->state == LBX_LAZY && ret->data == 0)
			return true;
	return false;
}

static void put_back(const struct lbx_buffer *buffer, struct lbx_tensor *t)
{
	t->buffer_id = buffer->id;
	t->data = buffer->data;
	t->buffer_bytes = buffer->nbytes;
	t->buffer_flags = buffer->flags;
}

/* The next one whose bytes are there, with its buffer put back, so that it is read like any other;
 * its state stays what it is. */
static bool next(struct lbx_table *table, const struct buffers *b, struct cursor *at, struct lbx_tensor *ret)
{
	while (b->n && next_without_value(table, at, ret)) {
		struct lbx_buffer key = { .tensor = ret->id };
		const struct lbx_buffer *found = bsearch(&key, b->list, b->n, sizeof *b->list, by_tensor);
		if (!found)
			continue;
		put_back(found, ret);
		if (ret->size && lbx_tensor_in_bounds(ret))
			return true;
	}
	return false;
}

bool lbx_freed_find(struct lbx_context *context, const struct lbx_tensors *of, uint64_t id, struct lbx_tensor *ret)
{
	struct lbx_table *table = context->table;
	struct lbx_buffer buffer;
	uint64_t slot = 0;

	if (id == 0 || !table || of != lbx_table_tensors(table))
		return false;
	while (lbx_table_next_freed(table, &slot, ret)) {
		if (ret->id != id)
			continue;
		for (slot = 0; lbx_tensors_next_buffer(lbx_table_tensors(table), &slot, &buffer);)
			if ((buffer.flags & LB_BUFFER_CACHED) && buffer.tensor == id)
				put_back(&buffer, ret);
		return lb_ok();
	}
	return false;
}

static void tell(struct lbx_context *context, struct lbx_tensor *t)
{
	struct lbx_out *out = context->out;
	char shape[LBX_LIST_MAX], bytes[32], where[512];

	lbx_format_list(lbx_shape(t), t->rank, shape, sizeof shape);
	lbx_format_bytes(lbx_tensor_nbytes(t), bytes, sizeof bytes);
	lbx_describe_pc(context->target, t->site, where, sizeof where);
	lbx_begin(out, NULL);
	LBX_KEYS(out, lbx_json_tensor(t));
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "#%" PRIu64 " %s%s%s %s, %s, %s at %pF, made by %s in %s\n", t->id, t->name, *t->name ? " " : "",
		 lbx_tensor_dtype_name(t), shape, lbx_state_name(t->state), bytes, LBX_HEX("data", t->data), t->op,
		 where);
	lbx_end(out);
}

static bool list_all(struct lbx_context *context, struct buffers *b)
{
	struct lbx_out *out = context->out;
	struct lbx_tensor t;
	struct cursor at = { 0 };
	uint64_t n = 0;

	lbx_begin(out, NULL);
	lbx_begin_list(out, "tensors");
	while (next(context->table, b, &at, &t)) {
		tell(context, &t);
		if (++n % 1024 == 0 && !lbx_progress(out, "listing", (int64_t)at.freed, 0))
			return false;
	}
	lbx_end(out);
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "%" PRIu64 " tensor%s without a value still in memory, of %zu cached buffer%s\n", n, LB_S(n),
		 b->n, LB_S(b->n));
	LBX_KEY(out, "buffers", json_integer((json_int_t)b->n));
	lbx_end(out);
	lbx_set_int(out, "tensor_count", (int64_t)n);
	return lb_ok();
}

static bool print_one(struct lbx_context *context, struct buffers *b, const struct lbx_args *args)
{
	struct lbx_selection s = { .slice_text = "" };
	struct lbx_format_options options;
	struct lbx_array array;
	struct cursor at = { 0 };
	char *end;
	unsigned long long id = strtoull(args->v[0] + (args->v[0][0] == '#'), &end, 10);

	if (*end || end == args->v[0] || !lbx_print_options(context, args, &options))
		return lb_ok() ? lbx_misuse("'%s' is not a tensor's number, such as #12", args->v[0]) : false;
	while (next(context->table, b, &at, &s.tensor)) {
		const char *note = lbx_state_name(s.tensor.state);
		if (s.tensor.id != id)
			continue;
		s.tensor.state = LBX_READY;
		return lbx_array_of_tensor(context->target, &s.tensor, &array) &&
		       lbx_print_value(context, &s, &array, &options, note);
	}
	return lb_fail("no bytes of tensor #%llu are still in memory", id);
}

static bool run_freed(struct lbx_context *context, const struct lbx_args *args)
{
	struct buffers b = { 0 };
	struct lbx_table *table;
	bool done = lbx_context_table(context, &table) && collect(table, &b) &&
		    (args->n ? print_one(context, &b, args) : list_all(context, &b));

	free(b.list);
	return done;
}

const struct lbx_command lbx_command_freed = {
	.name = "freed",
	.arguments = "[#ID]",
	.summary = "list tensors that lost their values, but whose bytes are still in memory",
	.help = "The runtime keeps the buffers of freed tensors, and of temporaries that became lazy\n"
		"again, for reuse: until then what they held can be printed, by #ID.\n"
		"Example: freed, freed #12 --precision 3",
	.max_args = 1,
	.needs = LBX_NEEDS_RUNTIME,
	.options = { LBX_PRINT_OPTIONS },
	.run = run_freed,
};
