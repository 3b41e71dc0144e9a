#include "mlx/keepers.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "mlx/graph.h"
#include "tensors/alike.h"

enum { NO_NODE = UINT32_MAX };
#define STEPS_MAX (UINT64_C(1) << 25) /* arrays, those of several counted for each */

struct finder {
	struct lbx_mlx_set *s;
	const struct lbx_mlx_graph *graph;
	struct lbx_alike *list; /* of arrays that variables lead to, by their numbers */
	size_t n, room;
	uint32_t *met,
	    *counted; /* by arrays, by buffers: for which group; of a buffer UINT32_MAX: a variable leads to it */
	uint32_t *stack, part;
	uint64_t steps;
};

static bool look_at_all(struct finder *f)
{
	for (size_t i = 0; i < f->graph->n; i++) {
		const struct lbx_mlx_vertex *v = &f->graph->nodes[i];
		struct lbx_alike a = { .of = i + 1 };
		if (lbx_mlx_node(f->s, i + 1) == NO_NODE)
			continue;
		f->counted[v->buffer] = UINT32_MAX;
		lbx_mlx_name(f->s, i + 1, a.name);
		if (!v->n_inputs || !a.name[0])
			continue;
		lbx_alike_init(&a);
		if (!lb_reserve(f->list, f->room, f->n + 1))
			return lb_fail("out of memory for %zu arrays", f->n);
		f->list[f->n++] = a;
	}
	return true;
}

static void count_kept(struct finder *f, uint32_t buffer, struct lbx_keeper *ret)
{
	struct lbx_mlx_buffer b;

	if (!buffer || f->counted[buffer] == UINT32_MAX || f->counted[buffer] == f->part)
		return;
	f->counted[buffer] = f->part;
	const struct lbx_mlx_held_buffer *held = &f->s->buffers[buffer - 1];
	if (!lbx_mlx_buffer_read(lbx_mlx_set_target(f->s), held->address, held->counts, &b))
		return;
	ret->kept++;
	if (!lb_sum_of(ret->bytes, (int64_t)b.bytes, &ret->bytes))
		ret->bytes = INT64_MAX;
}

/* All that an array is made of, and what stands beside these. */
static void walk(struct finder *f, uint32_t from, struct lbx_keeper *ret)
{
	size_t n = 0;

	if (f->met[from] != f->part)
		f->stack[n++] = from;
	f->met[from] = f->part;
	while (n) {
		const struct lbx_mlx_vertex *v = &f->graph->nodes[f->stack[--n]];
		ret->nodes++;
		count_kept(f, v->buffer, ret);
		for (uint32_t i = 0; i < v->n; i++) {
			uint32_t next = f->graph->edges[v->first + i];
			if (f->met[next] == f->part)
				continue;
			f->met[next] = f->part;
			f->stack[n++] = next;
		}
	}
}

static bool add(struct lbx_mlx_set *s, const struct lbx_keeper *keeper)
{
	if (!lb_reserve(s->keepers, s->keepers_room, s->n_keepers + 1))
		return lb_fail("out of memory for %zu graphs", s->n_keepers);
	s->keepers[s->n_keepers++] = *keeper;
	return true;
}

static bool take_group(struct finder *f, const struct lbx_alike *list, size_t n)
{
	struct lbx_keeper keeper = { .tensors = n };

	f->part++;
	for (size_t i = 0; i < n; i++)
		walk(f, (uint32_t)list[i].of - 1, &keeper);
	f->steps += keeper.nodes;
	lbx_alike_name(list, n, keeper.name, sizeof keeper.name);
	return keeper.kept == 0 || add(f->s, &keeper);
}

static bool find_keepers(struct lbx_mlx_set *s)
{
	struct finder f = { .s = s, .graph = lbx_mlx_graph(s) };
	lb_auto_free uint32_t *met = f.met = calloc(s->n + 1, sizeof *met);
	lb_auto_free uint32_t *stack = f.stack = calloc(s->n + 1, sizeof *stack);
	lb_auto_free uint32_t *counted = f.counted = calloc(s->n_buffers + 1, sizeof *counted);
	size_t taken = 0;

	if (!f.graph || !met || !stack || !counted)
		return lb_fail("out of memory");
	bool ok = look_at_all(&f);
	if (ok)
		lbx_alike_sort(f.list, f.n);
	for (size_t n; ok && taken < f.n && f.steps < STEPS_MAX; taken += n) {
		n = lbx_alike_count(&f.list[taken], f.n - taken);
		ok = take_group(&f, &f.list[taken], n);
	}
	if (ok && taken < f.n)
		ok = add(s, &(struct lbx_keeper){ .tensors = f.n - taken, .is_cut = true });
	lbx_keepers_sort(s->keepers, s->n_keepers);
	free(f.list);
	return ok;
}

bool lbx_mlx_keeper(struct lbx_mlx_set *s, uint64_t *slot, struct lbx_keeper *ret)
{
	if (!s->has_keepers && s->names.python)
		s->has_keepers = find_keepers(s);
	if (!s->has_keepers || *slot >= s->n_keepers)
		return false;
	*ret = s->keepers[(*slot)++];
	return true;
}
