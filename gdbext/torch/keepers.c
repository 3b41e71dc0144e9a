#include "torch/keepers.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "tensors/alike.h"
#include "torch/held.h"
#include "torch/history.h"
#include "torch/reach.h"

#define STEPS_MAX (UINT64_C(1) << 25) /* nodes, those of several counted for each */

struct finder {
	struct lbx_torch_set *s;
	struct lbx_alike *list; /* of tensors: each is of a node, by its number */
	size_t n, room;
	bool *is_reached; /* by storages: whether a variable leads to a tensor that has it */
	uint32_t *counted; /* likewise: for which group it was */
	uint64_t steps;
};

/* ---- the tensors ---- */

static bool look_at(struct finder *f, const struct lbx_torch_record *r)
{
	struct lbx_torch_set *s = f->s;
	size_t storage = lbx_torch_number(s->storages, s->n_storages, r->storage);
	bool is_reached = lbx_torch_is_reached(s, r);
	const struct lbx_torch_node *node = is_reached ? lbx_torch_history_node(s, r) : NULL;
	struct lbx_alike k = { .of = node ? (uint64_t)(node - s->graph.nodes) : 0 };

	if (storage && is_reached)
		f->is_reached[storage - 1] = true;
	if (!node)
		return true;
	lbx_torch_name(s, r, k.name);
	if (!k.name[0])
		return true;
	lbx_alike_init(&k);
	if (!lb_reserve(f->list, f->room, f->n + 1))
		return lb_fail("out of memory for %zu tensors", f->n);
	f->list[f->n++] = k;
	return true;
}

static bool look_at_all(struct finder *f)
{
	struct lbx_torch_set *s = f->s;
	struct lbx_torch_record r;
	struct lbx_window window;

	lbx_window_init(&window, lbx_torch_set_target(s));
	for (size_t i = 0; i < s->n; i++)
		if (lbx_torch_record_read(&window.target, &s->classes, &s->layout, s->objects[i], &r) &&
		    !look_at(f, &r))
			return false;
	return true;
}

/* ---- a group of them ---- */

/* A storage that no variable leads to, once. */
static void count_kept(struct finder *f, const struct lbx_torch_reach *reach, uint64_t tensor, struct lbx_keeper *ret)
{
	struct lbx_torch_set *s = f->s;
	struct lbx_target *target = lbx_torch_set_target(s);
	struct lbx_torch_storage storage;
	struct lbx_torch_record r;

	if (!lbx_torch_record_read(target, &s->classes, &s->layout, tensor, &r))
		return;
	size_t number = lbx_torch_number(s->storages, s->n_storages, r.storage);
	if (!number || f->is_reached[number - 1] || f->counted[number - 1] == reach->part ||
	    !lbx_torch_storage_read(target, &s->classes, &s->layout, r.storage, &storage))
		return;
	f->counted[number - 1] = reach->part;
	ret->kept++;
	if (!lb_sum_of(ret->bytes, (int64_t)storage.bytes, &ret->bytes))
		ret->bytes = INT64_MAX;
}

/* What nodes keep, and the leaves to whose gradients they add. */
static void count_all_kept(struct finder *f, const struct lbx_torch_reach *reach, struct lbx_keeper *ret)
{
	for (uint64_t i = 0; i < reach->n_tensors; i++)
		count_kept(f, reach, f->s->objects[reach->tensors[i]], ret);
	for (uint64_t i = 0; i < reach->n; i++)
		if (f->s->graph.nodes[reach->nodes[i]].leaf)
			count_kept(f, reach, f->s->graph.nodes[reach->nodes[i]].leaf, ret);
}

static bool add(struct lbx_torch_set *s, const struct lbx_keeper *keeper)
{
	if (!lb_reserve(s->keepers, s->keepers_room, s->n_keepers + 1))
		return lb_fail("out of memory for %zu graphs", s->n_keepers);
	s->keepers[s->n_keepers++] = *keeper;
	return true;
}

static bool take_group(struct finder *f, struct lbx_torch_reach *reach, const struct lbx_alike *first, size_t n)
{
	struct lbx_torch_set *s = f->s;
	struct lbx_keeper keeper = { .tensors = n, .is_cut = s->graph.is_cut };

	lbx_torch_reach_begin(reach);
	for (size_t i = 0; i < n && !keeper.is_cut; i++) {
		lbx_torch_reach_walk(reach, &s->graph.nodes[first[i].of]);
		keeper.is_cut = f->steps + reach->n > STEPS_MAX;
	}
	f->steps += reach->n;
	keeper.nodes = reach->n;
	count_all_kept(f, reach, &keeper);
	lbx_alike_name(first, n, keeper.name, sizeof keeper.name);
	return keeper.kept == 0 || add(s, &keeper);
}

static bool find_keepers(struct lbx_torch_set *s)
{
	struct finder f = { .s = s };
	struct lbx_torch_reach reach;
	lb_auto_free bool *is_reached = f.is_reached = calloc(s->n_storages + 1, sizeof *is_reached);
	lb_auto_free uint32_t *counted = f.counted = calloc(s->n_storages + 1, sizeof *counted);

	s->n_keepers = 0;
	if (!is_reached || !counted)
		return lb_fail("out of memory");
	bool ok = lbx_torch_reach_init(&reach, s) && look_at_all(&f);
	if (ok)
		lbx_alike_sort(f.list, f.n);
	size_t taken = 0;
	for (size_t n; ok && taken < f.n && f.steps < STEPS_MAX; taken += n) {
		n = lbx_alike_count(&f.list[taken], f.n - taken);
		ok = take_group(&f, &reach, &f.list[taken], n);
	}
	if (ok && taken < f.n)
		ok = add(s, &(struct lbx_keeper){ .tensors = f.n - taken, .is_cut = true });
	lbx_keepers_sort(s->keepers, s->n_keepers);
	lbx_torch_reach_deinit(&reach);
	free(f.list);
	return ok;
}

bool lbx_torch_keeper(struct lbx_torch_set *s, uint64_t *slot, struct lbx_keeper *ret)
{
	if (s->graph.n && !s->has_keepers)
		s->has_keepers = find_keepers(s);
	if (!s->has_keepers || *slot >= s->n_keepers)
		return false;
	*ret = s->keepers[(*slot)++];
	return true;
}
