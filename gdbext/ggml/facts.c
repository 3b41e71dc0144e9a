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
