#include "ggml/facts.h"

#include <inttypes.h>
#include <stdio.h>

enum { TEXT = 256 };

static const char *usage_text(int usage)
{
	return usage == LBX_GGML_WEIGHTS ? " of weights" : usage == LBX_GGML_COMPUTE ? " to compute in" : "";
}

void lbx_ggml_tell_record(const struct lbx_ggml_record *r, const struct lbx_ggml_buffer *buffer, lbx_fact_fn *fn,
			  void *context)
{
	char text[TEXT];

	snprintf(text, sizeof text, "[%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", r->ne[0], r->ne[1],
		 r->ne[2], r->ne[3]);
	fn(context, "ne", text);
	snprintf(text, sizeof text, "[%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", r->nb[0], r->nb[1],
		 r->nb[2], r->nb[3]);
	fn(context, "nb", text);
	if (!buffer)
		return;
	snprintf(text, sizeof text, "%s%s, at 0x%" PRIx64,
		 buffer->name[0] ? buffer->name : "of a kind that is not known", usage_text(buffer->usage),
		 buffer->address);
	fn(context, "backend", text);
}

void lbx_ggml_tell_set(const struct lbx_ggml_anchor *anchor, const struct lbx_ggml_layout *layout, bool is_by_code,
		       const struct lbx_ggml_contexts *contexts, const struct lbx_ggml_places *places, lbx_fact_fn *fn,
		       void *context)
{
	char text[TEXT];

	snprintf(text, sizeof text, "that of %s and later, as %s", layout->since,
		 is_by_code ? "the code of its functions says" : "no other fits all tensors");
	fn(context, "layout", text);
	snprintf(text, sizeof text, "%zu, of %zu tensors", contexts->n, contexts->n_tensors);
	fn(context, "contexts", text);
	snprintf(text, sizeof text, "%d, and %d types", anchor->n_ops, anchor->n_types);
	fn(context, "operations", text);
	for (int i = 0; i < places->n; i++) {
		const struct lbx_ggml_buffer *b = &places->list[i];
		snprintf(text, sizeof text, "%s%s, %" PRIu64 " bytes at 0x%" PRIx64,
			 b->name[0] ? b->name : "of a kind that is not known", usage_text(b->usage), b->size,
			 b->address);
		fn(context, "buffer", text);
	}
}

/* The object that begins last in front of an address: *ret, if it is a graph. */
static bool in_graph(const struct lbx_ggml_contexts *contexts, const struct lbx_ggml_context *c, uint64_t address,
		     uint64_t *ret)
{
	uint64_t tensor = 0;

	*ret = 0;
	for (size_t i = 0; i < contexts->n_graphs; i++) {
		uint64_t at = contexts->graphs[i].address;
		if (at - c->memory < c->used && at <= address && at > *ret)
			*ret = at;
	}
	for (size_t i = c->first; i < c->first + c->n; i++)
		if (contexts->tensors[i] <= address && contexts->tensors[i] > tensor)
			tensor = contexts->tensors[i];
	return *ret > tensor;
}

bool lbx_ggml_tell_place(const struct lbx_ggml_contexts *contexts, uint64_t address, char *ret, size_t size)
{
	uint64_t graph;

	for (size_t i = 0; i < contexts->n; i++) {
		const struct lbx_ggml_context *c = &contexts->list[i];
		if (address < c->memory || address - c->memory >= c->used)
			continue;
		if (in_graph(contexts, c, address, &graph))
			snprintf(ret, size, "in the ggml_cgraph at 0x%" PRIx64, graph);
		else
			snprintf(ret, size, "in the memory of the ggml_context at 0x%" PRIx64, c->address);
		return true;
	}
	return false;
}
