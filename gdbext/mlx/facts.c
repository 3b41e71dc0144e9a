#include "mlx/facts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "mlx/graph.h"
#include "mlx/version.h"

enum { TEXT = 2 * LB_NAME_MAX + 64 };

/* What is lazy, and how much there is to it. Who wrote it down is known to nobody: MLX keeps no line of the program's. */
static void tell_graph(struct lbx_mlx_set *s, uint64_t id, lbx_fact_fn *fn, void *context)
{
	const struct lbx_mlx_graph *graph = lbx_mlx_graph(s);
	struct lbx_mlx_extent extent;
	char text[TEXT], name[LB_NAME_MAX + 1];

	if (!graph || !lbx_mlx_extent(graph, id, &extent))
		return;
	snprintf(text, sizeof text, "%" PRIu64 " array%s, %" PRIu64 " of them lazy; depth %" PRIu32, extent.arrays,
		 LB_S(extent.arrays), extent.lazy, extent.depth);
	fn(context, "graph", text);
	fn(context, "line", "of the program: not known, as MLX keeps none");
	const struct lbx_mlx_vertex *node = &graph->nodes[id - 1];
	if (!node->reached_by || !node->steps)
		return;
	lbx_mlx_name(s, node->reached_by, name);
	snprintf(text, sizeof text, "%s, %" PRIu32 " step%s down its graph", name, node->steps, LB_S(node->steps));
	fn(context, "reached by", text);
}

void lbx_mlx_tell_record(struct lbx_mlx_set *s, uint64_t id, const struct lbx_mlx_record *r, lbx_fact_fn *fn,
			 void *context)
{
	static const char *const statuses[] = { "unscheduled", "scheduled", "evaluated", "available" };
	char text[TEXT];

	fn(context, "status", statuses[r->status]);
	if (r->is_tracer)
		fn(context, "tracer", "of a transformation that is under way: it keeps what it is computed from");
	if (r->siblings.n) {
		snprintf(text, sizeof text, "%" PRIu32, r->position);
		fn(context, "position", text);
	}
	if (r->status <= LBX_MLX_SCHEDULED)
		tell_graph(s, id, fn, context);
}

void lbx_mlx_tell_set(struct lbx_mlx_set *s, lbx_fact_fn *fn, void *context)
{
	char text[TEXT];

	int version = lbx_mlx_version(s);
	snprintf(text, sizeof text, "that of %s, as %s", s->layout->versions,
		 version == LBX_MLX_UNKNOWN ? "no other fits" : "its library tells");
	fn(context, "layout", text);
	if (version <= LBX_MLX_ABOUT)
		return;
	snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
	fn(context, "version", text);
}
