#include "ggml/find.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/fused.h"
#include "ggml/ggml.h"
#include "ggml/order.h"
#include "ggml/reuse.h"

enum { MAX_USED = 64 };
#define LOW_END (1ULL << 32)
#define USER_END (1ULL << 56)

/* ---- what is known of all of them ---- */

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = ((const struct lbx_ggml_by_address *)a)->address,
		 y = ((const struct lbx_ggml_by_address *)b)->address;

	return x < y ? -1 : x > y;
}

static bool sort(struct lbx_ggml_set *g)
{
	size_t n = g->contexts.n_tensors;

	g->sorted = calloc(n, sizeof *g->sorted);
	g->writers = calloc(n, sizeof *g->writers);
	g->users = calloc(n, sizeof *g->users);
	g->is_written = calloc(n, sizeof *g->is_written);
	g->is_fused = calloc(n, sizeof *g->is_fused);
	if (!g->sorted || !g->writers || !g->users || !g->is_written || !g->is_fused)
		return lb_fail("out of memory for %zu tensors of ggml", n);
	for (size_t i = 0; i < n; i++)
		g->sorted[i] = (struct lbx_ggml_by_address){ g->contexts.tensors[i], (uint32_t)i };
	qsort(g->sorted, n, sizeof *g->sorted, compare_addresses);
	return true;
}

/* When what lies in a tensor's memory was computed. Inputs are there before all else. */
static int64_t since(struct lbx_ggml_set *g, const struct lbx_ggml_context *context, const struct lbx_ggml_record *r,
		     const uint32_t *order)
{
	enum { FAR = 64 }; /* views of views */
	struct lbx_ggml_record at = *r;

	for (int i = 0; i < FAR && lbx_ggml_is_view(&g->anchor, &at); i++)
		if (!lbx_ggml_set_read(g, at.sources[0] ? at.sources[0] : at.view_source, &at))
			return -1;
	uint64_t id = lbx_ggml_set_id(g, at.address);
	return id && at.op != 0 && id > context->first && id <= context->first + context->n
		   ? (int64_t)order[id - 1]
		   : (int64_t)context->first - 1;
}

static size_t take_extents(struct lbx_ggml_set *g, size_t c, const uint32_t *order, struct lbx_ggml_extent *ret)
{
	const struct lbx_ggml_context *context = &g->contexts.list[c];
	struct lbx_ggml_record r, root;
	size_t n = 0;

	for (size_t i = context->first; i < context->first + context->n; i++) {
		g->writers[i] = LBX_GGML_KEPT;
		if (!lbx_ggml_set_read_next(g, i, &r) || !lbx_ggml_set_root(g, &r, &root))
			continue;
		uint64_t root_id = lbx_ggml_set_id(g, root.address);
		g->users[root_id - 1]++;
		g->is_written[root_id - 1] |= lbx_ggml_set_writes(g, &r);
		if (r.data == 0 || r.reach == 0 || r.data > UINT64_MAX - (uint64_t)r.reach)
			continue;
		ret[n++] = (struct lbx_ggml_extent){ .start = r.data,
						     .end = r.data + (uint64_t)r.reach,
						     .ordinal = (uint32_t)i,
						     .context = (uint32_t)c,
						     .order = order[i],
						     .since = since(g, context, &r, order),
						     .root = root.address,
						     .writes = lbx_ggml_set_writes(g, &r),
						     .is_leaf = root.op == 0 };
	}
	return n;
}

static uint64_t id_of(void *g, uint64_t address)
{
	return lbx_ggml_set_id(g, address);
}

static bool find_reuse(struct lbx_ggml_set *g)
{
	size_t all = g->contexts.n_tensors, n = 0;
	lb_auto_free struct lbx_ggml_extent *extents = calloc(all, sizeof *extents);

	g->order = calloc(all, sizeof *g->order);
	if (!extents || !g->order)
		return lb_fail("out of memory for %zu tensors of ggml", all);
	if (!lbx_ggml_find_order(lbx_ggml_set_target(g), &g->contexts, id_of, g, g->order))
		return false;
	lbx_walk_begin(&g->walk, lbx_ggml_set_target(g));
	for (size_t c = 0; c < g->contexts.n; c++)
		n += take_extents(g, c, g->order, extents + n);
	const struct lbx_ggml_program program = { .target = lbx_ggml_set_target(g),
						  .anchor = &g->anchor,
						  .contexts = &g->contexts,
						  .id_at = id_of,
						  .context = g,
						  .layout = &g->layout,
						  .extents = extents,
						  .n_extents = n };
	return lbx_ggml_stores_take(extents, n, &g->stores) && lbx_ggml_spots_find(&program, &g->running, &g->spots) &&
	       lbx_ggml_progress_find(&program, &g->running, &g->spots, &g->progress) &&
	       lbx_ggml_find_fused(&program, &g->layout, g->modules, g->n_modules, g->is_fused) &&
	       lbx_ggml_find_reuse(extents, n, g->writers);
}

static bool is_readable(struct lbx_ggml_set *g, uint64_t address)
{
	char byte;

	return lbx_target_try_read(lbx_ggml_set_target(g), address, &byte, 1);
}

/* Of how many tensors this layout may be; *ret_telling: whether of one of them it is, by what is not left to chance.
 * Data may be where there is none in a core: at least no text of four characters is such an address. What is likely is not
 * read: weights may lie in a file that nobody has read yet. */
static size_t count_fits(struct lbx_ggml_set *g, const struct lbx_ggml_layout *layout, bool *ret_telling)
{
	struct lbx_ggml_record r;
	size_t n = 0;

	*ret_telling = false;
	lbx_walk_begin(&g->walk, lbx_ggml_set_target(g));
	for (size_t i = 0; i < g->contexts.n_tensors; i++) {
		if (!lbx_ggml_record_read(lbx_walk_target(&g->walk, lbx_ggml_set_target(g), i), &g->anchor, layout,
					  g->contexts.tensors[i], &r))
			continue;
		bool is_likely = r.data >= LOW_END && r.data < USER_END && r.data % sizeof(float) == 0;
		if (r.data && !is_likely && !is_readable(g, r.data))
			continue;
		n++;
		*ret_telling = *ret_telling || (r.data && r.name[0] && is_readable(g, r.data));
	}
	return n;
}

/* A row for names as long as these tensors have, whose size is that of an object, unless their data follows within it. */
static bool adapt(struct lbx_ggml_set *g, const struct lbx_ggml_layout *row, struct lbx_ggml_layout *ret)
{
	uint64_t at = g->contexts.smallest_at, size = g->contexts.smallest, data;

	if (lbx_target_try_read(lbx_ggml_set_target(g), at + row->data, &data, sizeof data) && data > at &&
	    data - at < size)
		size = data - at;
	return lbx_ggml_layout_of_size(row, size, ret);
}

/* What functions say must be so of most tensors, what nothing says of nearly all: some may be damaged. */
static bool decide_layout(struct lbx_ggml_set *g)
{
	const struct lbx_ggml_layout *row;
	struct lbx_ggml_layout layout;
	size_t all = g->contexts.n_tensors;
	bool telling;
	int n = 0;

	g->is_by_code = lbx_ggml_layout_by_code(lbx_ggml_set_target(g), &g->anchor.module, &g->layout);
	if (g->is_by_code)
		n = count_fits(g, &g->layout, &telling) > all / 2;
	else
		for (size_t i = 0; (row = lbx_ggml_layout(i)); i++)
			if (adapt(g, row, &layout) && count_fits(g, &layout, &telling) >= all - all / 8 && telling) {
				g->layout = layout;
				n++;
			}
	return n == 1 || lb_fail("the program has ggml, in a version whose tensors cannot be read: %s",
				 n ? "more than one of the known layouts fits them" : "no known layout fits them");
}

/* ---- finding them ---- */

static bool exports(struct lbx_ggml_set *g, const char *name)
{
	uint64_t at;

	return lbx_loaded_symbol(lbx_ggml_set_target(g), &g->anchor.module, name, &at);
}

/* What a debugger has to be asked is asked at once, before anything is read that would be read again when it has answered:
 * through a connection that takes long. */
static bool ask_first(struct lbx_target *target, struct lbx_stacks *stacks)
{
	struct lbx_range range;
	bool clean = lb_ok();
	uint64_t tid;

	if (target->liveness != LBX_REMOTE)
		return true;
	lbx_target_range(target, 0, &range);
	if (stacks && stacks->ops->all_threads)
		stacks->ops->threads(stacks, &tid, 1);
	if (clean)
		lb_clear_error();
	return !lbx_target_waits(target);
}

bool lbx_ggml_find_anchor(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *modules,
			  int n_modules, struct lbx_ggml_anchor *ret)
{
	struct lbx_target *direct = lbx_target_direct(target);

	if (!ask_first(target, stacks))
		return false;
	int n = n_modules ? lbx_ggml_find(direct ? direct : target, modules, n_modules, ret) : 0;
	return n > 1 ? lb_fail("the program has more than one ggml: whose tensors are whose is not known") : n == 1;
}

bool lbx_ggml_set_find(struct lbx_ggml_set *g, bool (*progress)(void *context, int64_t done), void *context)
{
	uint64_t used[MAX_USED];

	/* what follows is of one moment: the program stands still */
	if (!lbx_ggml_running_find(g->tensors.target, g->stacks, g->modules, g->n_modules, &g->anchor, &g->running))
		return false;
	lbx_ggml_encode(&g->anchor);
	used[0] = g->running.asked.node;
	int n_used = lbx_ggml_nodes_in_use(lbx_ggml_set_target(g), &g->anchor, &g->running, used + 1, MAX_USED - 1);
	if (n_used < 0 || !lbx_ggml_contexts_find(g->tensors.target, &g->anchor.module, used, n_used + 1, progress,
						  context, &g->contexts))
		return false;
	if (g->contexts.n_tensors == 0)
		return lb_fail(g->contexts.n_broken ? "the program has ggml, but its contexts are damaged"
						    : "the program has ggml, but no tensors of it");
	g->places = (struct lbx_ggml_places){ .modules = g->modules,
					      .n_modules = g->n_modules,
					      .tells_usage = exports(g, "ggml_backend_buffer_set_usage") };
	g->marks_inputs = exports(g, "ggml_set_input");
	return decide_layout(g) && sort(g) && find_reuse(g);
}

bool lbx_ggml_is_there(struct lbx_target *target)
{
	lb_auto_free struct lbx_ggml_anchor *anchor = malloc(sizeof *anchor);
	int n;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(target, &n);

	return modules && anchor && lbx_ggml_may_be(target, modules, n) && lbx_ggml_find(target, modules, n, anchor);
}
