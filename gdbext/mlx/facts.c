#include "mlx/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 256, MAX_SIBLINGS = 8 };

/* "#4, #7": what the same operation gives beside it. */
static void tell_siblings(struct lbx_mlx_set *s, const struct lbx_mlx_record *r, lbx_fact_fn *fn, void *context)
{
	char text[TEXT] = "";

	for (uint32_t i = 0; i < r->siblings.n && i < MAX_SIBLINGS; i++) {
		uint64_t id = lbx_mlx_number(s, lbx_mlx_array_at(lbx_mlx_set_target(s), &r->siblings, i));
		size_t used = strlen(text);
		if (id)
			snprintf(text + used, sizeof text - used, "%s#%" PRIu64, used ? ", " : "", id);
	}
	if (!text[0])
		return;
	fn(context, "siblings", text);
	snprintf(text, sizeof text, "%" PRIu32, r->position);
	fn(context, "position", text);
}

void lbx_mlx_tell_record(struct lbx_mlx_set *s, const struct lbx_mlx_record *r, lbx_fact_fn *fn, void *context)
{
	static const char *const statuses[] = { "unscheduled", "scheduled", "evaluated", "available" };

	fn(context, "status", statuses[r->status]);
	if (r->is_tracer)
		fn(context, "tracer", "of a transformation that is under way: it keeps what it is computed from");
	tell_siblings(s, r, fn, context);
}

void lbx_mlx_tell_set(struct lbx_mlx_set *s, lbx_fact_fn *fn, void *context)
{
	char text[TEXT];

	snprintf(text, sizeof text, "that of %s, as no other fits", s->layout->versions);
	fn(context, "layout", text);
}
