/* From an address to the tensors over it.
 *
 * A view reaches the address if sum(i[k] * stride[k]) = distance has a solution with every
 * i[k] inside its axis. Axes are tried from the largest stride down; what the smaller ones
 * can still add bounds each choice, so ordinary views need one try an axis. Overlapping
 * views may need more: the search is capped. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/operand/handed_out.h"
#include "inspect/operand/address.h"
#include "inspect/operand/handle.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { MAX_STEPS = 100000, DEFAULT_SHOWN = 50 };

struct search {
	int n, steps;
	int axis[LBX_RANK_MAX];
	int64_t stride[LBX_RANK_MAX], size[LBX_RANK_MAX], rest[LBX_RANK_MAX + 1];
	int64_t at[LBX_RANK_MAX];
};

static bool solve(struct search *s, int k, int64_t distance)
{
	if (k == s->n)
		return distance == 0;
	int64_t high = distance / s->stride[k], low = 0;
	if (high > s->size[k] - 1)
		high = s->size[k] - 1;
	if (distance > s->rest[k + 1])
		low = (distance - s->rest[k + 1] + s->stride[k] - 1) / s->stride[k];
	for (int64_t i = high; i >= low; i--) {
		if (s->steps++ > MAX_STEPS)
			return false;
		s->at[k] = i;
		if (solve(s, k + 1, distance - i * s->stride[k]))
			return true;
	}
	return false;
}

/* Coordinates of the element that lies `distance` elements from the buffer's start. The
 * tensor must be within its buffer. */
static bool coordinates(const struct lbx_tensor *t, int64_t distance, int64_t *ret)
{
	struct search s = { 0 };
	bool flipped[LBX_RANK_MAX] = { false };

	distance -= t->offset;
	memset(ret, 0, LBX_RANK_MAX * sizeof *ret);
	for (int i = 0; i < t->rank; i++) {
		int64_t stride = lbx_strides(t)[i];
		if (lbx_shape(t)[i] == 1 || stride == 0)
			continue;
		if (stride < 0) { /* counted from the axis's other end */
			flipped[i] = true;
			distance -= (lbx_shape(t)[i] - 1) * stride;
			stride = -stride;
		}
		int k = s.n++;
		for (; k > 0 && s.stride[k - 1] < stride; k--) {
			s.stride[k] = s.stride[k - 1];
			s.size[k] = s.size[k - 1];
			s.axis[k] = s.axis[k - 1];
		}
		s.stride[k] = stride;
		s.size[k] = lbx_shape(t)[i];
		s.axis[k] = i;
	}
	for (int k = s.n - 1; k >= 0; k--)
		s.rest[k] = s.rest[k + 1] + (s.size[k] - 1) * s.stride[k];
	if (distance < 0 || distance > s.rest[0] || !solve(&s, 0, distance))
		return false;
	for (int k = 0; k < s.n; k++)
		ret[s.axis[k]] = flipped[s.axis[k]] ? s.size[k] - 1 - s.at[k] : s.at[k];
	return true;
}

struct place {
	bool is_known; /* where its elements lie, though there may be none here */
	bool element;
	int64_t at[LBX_RANK_MAX], byte; /* of the element, or of the block or blocks that begin with it */
};

static struct place find_place(const struct lbx_tensor *t, uint64_t address)
{
	struct lbx_encoding e = lbx_tensor_encoding(t);
	struct place p = { .is_known = t->data && lbx_tensor_lies_there(t) };
	int64_t element = lbx_encoding_holds(&e, (int64_t)(address - t->data), &p.byte);

	p.element = p.is_known && t->size > 0 && lbx_tensor_in_bounds(t) && coordinates(t, element, p.at);
	if (!p.is_known)
		p.byte = 0;
	return p;
}

static void tell_place(struct lbx_out *out, const struct lbx_tensor *t, const struct place *p)
{
	char label[LBX_DESCRIPTION_MAX], place[LBX_LIST_MAX];

	lbx_describe(t, label, sizeof label);
	LBX_KEY(out, NULL,
		json_pack("{s:I,s:o,s:s,s:o,s:o,s:I}", "id", (json_int_t)t->id, "name", lbx_json_text(t->name), "dtype",
			  lbx_tensor_dtype_name(t), "shape", lbx_json_list(lbx_shape(t), t->rank), "element",
			  p->element ? lbx_json_list(p->at, t->rank) : json_null(), "byte", (json_int_t)p->byte));
	lbx_printf(out, "  ");
	lbx_styled(out, LBX_NAME, "%s", label);
	if (!p->element) {
		lbx_printf(out, p->is_known ? ": no element of this view\n" : ", of which elements are not told\n");
		return;
	}
	lbx_format_place(p->at, t->rank, place, sizeof place);
	lbx_printf(out, ": element %s", place);
	if (t->encoding && t->encoding->interleave)
		lbx_printf(out, " and those after it in its block of %d, and in those of %d rows behind, interleaved",
			   t->encoding->elements, t->encoding->interleave->rows - 1);
	else if (t->encoding && t->encoding->elements > 1)
		lbx_printf(out, " and those after it in its block of %d", t->encoding->elements);
	if (p->byte)
		lbx_printf(out, ", byte %lld of it", (long long)p->byte);
	lbx_printf(out, "\n");
}

/* Those that have an element there, or those that have none. */
static bool walk_some(struct lbx_context *context, const struct lbx_buffer *b, uint64_t address, int64_t limit,
		      bool with_element, int64_t *n)
{
	struct lbx_tensors *tensors = context->tensors;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0, seen = 0;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (++seen % 8192 == 0 && !lbx_progress(context->out, "searching", (int64_t)seen, 0))
			return false;
		if (t.of != b->of || t.buffer_id != b->id || (t.data && t.data != b->data))
			continue;
		struct place p = find_place(&t, address);
		if (p.element != with_element)
			continue;
		if (++*n == 1)
			lbx_set_tensor(context->out, &t);
		if (*n <= limit)
			tell_place(context->out, &t, &p);
	}
	return next == LBX_NEXT_END;
}

/* The tensors over a buffer. */
static bool walk(struct lbx_context *context, const struct lbx_buffer *b, uint64_t address, int64_t limit)
{
	int64_t n = 0;

	if (!walk_some(context, b, address, limit, true, &n) || !walk_some(context, b, address, limit, false, &n))
		return false;
	if (n > limit)
		lbx_printf(context->out, "  … %lld more (--limit 0 shows all)\n", (long long)(n - limit));
	if (n == 0)
		lbx_printf(context->out, "  no tensor uses it\n");
	lbx_set_int(context->out, "tensor_count", n);
	return true;
}

static bool at_record(struct lbx_context *context, const struct lbx_tensor *t, uint64_t address)
{
	struct lbx_out *out = context->out;
	char label[LBX_DESCRIPTION_MAX];

	lbx_set_tensor(out, t);
	lbx_describe(t, label, sizeof label);
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:o,s:I,s:I}", "address", lbx_json_address(address), "record_of", (json_int_t)t->id,
				"byte", (json_int_t)(address - t->address)));
	lbx_printf(out, "0x%" PRIx64 " is ", address);
	if (address != t->address)
		lbx_printf(out, "byte %" PRIu64 " of ", address - t->address);
	lbx_printf(out, "the record (%s) of ", lbx_record_type(context, t));
	lbx_styled(out, LBX_NAME, "%s\n", label);
	lbx_end(out);
	return lb_ok();
}

/* A pointer that was given for a tensor whose memory this is no longer. */
static void tell_stale(struct lbx_context *context, const struct lbx_buffer *b, uint64_t address)
{
	struct lbx_handed_out given;
	struct lbx_table *table;
	char text[1024];
	bool clean = lb_ok();

	if (clean && lbx_context_table(context, &table) && lbx_find_handed_out(table, address, &given) &&
	    lbx_handed_out_is_stale(&given, b)) {
		lbx_describe_stale(context, &given, b, text, sizeof text);
		LBX_KEY(context->out, "stale",
			json_pack("{s:I,s:o}", "given_for", (json_int_t)given.id, "text", lbx_json_string(text)));
		lbx_wrap(context->out, 0, 4);
		lbx_tell(context->out, "  a stale pointer: %s\n", text);
	}
	if (clean)
		lb_clear_error();
}

/* Of the second and further ones, `is_first` is false. */
static bool at_buffer(struct lbx_context *context, const struct lbx_buffer *b, uint64_t address, int64_t limit,
		      bool is_first)
{
	struct lbx_out *out = context->out;
	uint64_t byte = address - b->data;

	if (is_first)
		LBX_KEY(out, "address", lbx_json_address(address));
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "0x%" PRIx64 " is byte %pF of buffer ", address, LBX_INT("byte", byte));
	lbx_begin(out, "buffer");
	lbx_tell(out, "#%pF (%pF at %pF)%s%s\n", LBX_UINT("id", b->id), LBX_SIZE("nbytes", b->nbytes),
		 LBX_HEX("data", b->data), b->flags & LB_BUFFER_CACHED ? ", cached: free for reuse" : "",
		 byte >= (uint64_t)b->nbytes ? ", beyond the bytes in use" : "");
	lbx_end(out);
	lbx_begin_list(out, "tensors");
	if (!walk(context, b, address, limit))
		return false;
	lbx_end(out);
	if (is_first)
		tell_stale(context, b, address);
	return lb_ok();
}

/* Memory that is given out again and again may be several buffers'. */
static bool at_buffers(struct lbx_context *context, uint64_t address, int64_t limit)
{
	struct lbx_out *out = context->out;
	struct lbx_buffer b;
	uint64_t slot = 0;

	if (!lbx_tensors_next_buffer_at(context->tensors, &slot, address, &b))
		return lb_fail("0x%" PRIx64 " belongs to no tensor", address);
	lbx_begin(out, NULL);
	if (!at_buffer(context, &b, address, limit, true))
		return false;
	lbx_begin_list(out, "others");
	int64_t n = 1;
	for (; lbx_tensors_next_buffer_at(context->tensors, &slot, address, &b); n++) {
		if (n >= limit)
			continue;
		lbx_begin(out, NULL);
		if (!at_buffer(context, &b, address, limit, false))
			return false;
		lbx_end(out);
	}
	lbx_end(out);
	if (n > limit)
		lbx_printf(out, "… %lld more buffer%s there (--limit 0 shows all)\n", (long long)(n - limit),
			   LB_S(n - limit));
	LBX_KEY(out, "buffers", json_integer(n));
	lbx_end(out);
	return lb_ok();
}

static bool run_at(struct lbx_context *context, const struct lbx_args *args)
{
	int64_t limit = DEFAULT_SHOWN;
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	uint64_t address;

	if (!lbx_args_limit(args, &limit) || !lbx_context_tensors(context, &tensors) ||
	    !lbx_parse_address(context, args->v[0], &address))
		return false;
	if (lbx_tensors_record_at(tensors, address, &t))
		return at_record(context, &t, address);
	return lb_ok() && at_buffers(context, address, limit);
}

const struct lbx_command lbx_command_at = {
	.name = "at",
	.arguments = "ADDRESS",
	.summary = "tell which tensors an address belongs to",
	.help = "ADDRESS is a number or an expression of the program. Names the buffer, and\n"
		"for each tensor over it the element at that address; of a raw pointer that was given\n"
		"for another tensor, whose memory it was, that it is stale.\n"
		"Example: at 0x7ffff7a31040",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS | LBX_GIVES_ADDRESSES,
	.options = {
		{ "limit", "N", "show N tensors at most (default 50); 0: all" },
	},
	.run = run_at,
};
