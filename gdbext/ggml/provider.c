#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/decode.h"
#include "ggml/facts.h"
#include "ggml/find.h"
#include "ggml/ggml.h"
#include "ggml/inputs.h"
#include "ggml/parts.h"
#include "ggml/recipe.h"
#include "ggml/work.h"

static bool by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);

	if (id == 0 || id > g->contexts.n_tensors)
		return lb_fail("ggml has no tensor #%llu", (unsigned long long)id);
	return lbx_ggml_decode(g, id, ret) ||
	       lb_fail("tensor #%llu of ggml, at 0x%llx, is damaged", (unsigned long long)id,
		       (unsigned long long)g->contexts.tensors[id - 1]);
}

static enum lbx_next next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);
	struct lbx_ggml_record r;

	if (*slot == 0) {
		lbx_walk_begin(&g->walk, lbx_ggml_set_target(g));
		g->first_bad = g->contexts.first_broken;
		g->last_bad = g->contexts.last_broken;
		*bad += g->contexts.n_broken;
	}
	while (*slot < g->contexts.n_tensors) {
		bool clean = lb_ok();
		size_t i = (size_t)(*slot)++;
		if (lbx_ggml_set_read_next(g, i, &r) && lbx_ggml_decode_record(g, *slot, &r, ret))
			return LBX_NEXT_TENSOR;
		if (clean)
			lb_clear_error();
		uint64_t at = g->contexts.tensors[*slot - 1];
		g->first_bad = g->first_bad && g->first_bad < at ? g->first_bad : at;
		g->last_bad = g->last_bad > at ? g->last_bad : at;
		++*bad;
	}
	return LBX_NEXT_END;
}

/* Memory that a tensor has a value in, or is about to: not what another one uses now, nor a device's. */
static bool next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret)
{
	struct lbx_tensor t;
	uint64_t bad = 0;

	while (next(tensors, slot, &t, &bad) == LBX_NEXT_TENSOR) {
		bool is_its_own = t.data && t.buffer_id == t.id && t.state != LBX_OVERWRITTEN && t.state != LBX_LAZY;
		if (!is_its_own || t.state == LBX_ON_DEVICE || t.buffer_bytes == 0)
			continue;
		*ret = (struct lbx_buffer){ .of = tensors,
					    .address = t.address,
					    .id = t.id,
					    .data = t.data,
					    .tensor = t.id,
					    .nbytes = t.buffer_bytes,
					    .capacity = t.buffer_capacity,
					    .refs = t.buffer_refs };
		return true;
	}
	return false;
}

static bool damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = lbx_ggml_set_of(tensors)->first_bad;
	*ret_last = lbx_ggml_set_of(tensors)->last_bad;
	return *ret_first != 0;
}

static bool by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	uint64_t id = lbx_ggml_set_id(lbx_ggml_set_of(tensors), address);

	return id ? by_id(tensors, id, ret)
		  : lb_fail("0x%llx is not the address of a tensor of ggml", (unsigned long long)address);
}

static bool record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);
	const struct lbx_ggml_by_address *at = lbx_ggml_set_before(g, address);

	return at && address - at->address < g->layout.size && by_id(tensors, (uint64_t)at->ordinal + 1, ret);
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);
	struct lbx_ggml_record r;

	return lbx_ggml_set_read(g, t->address, &r) ? lbx_ggml_set_id(g, lbx_ggml_input_at(&r, i)) : 0;
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	uint64_t id = input_id(tensors, t, i);

	return id ? by_id(tensors, id, ret)
		  : lb_fail("input %u of #%llu is in none of ggml's contexts", i, (unsigned long long)t->id);
}

static bool recipe(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_recipe *r, int *ret)
{
	struct lbx_ggml_node n;

	if (!lbx_ggml_node_of(lbx_ggml_set_of(tensors), t, r, &n))
		return false;
	*ret = lbx_ggml_recipe(&n);
	return *ret != LBX_FAIL;
}

static void facts(struct lbx_tensors *tensors, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);
	struct lbx_ggml_record r, root;

	if (!t)
		lbx_ggml_tell_set(&g->anchor, &g->layout, g->is_by_code, &g->contexts, &g->places, fn, context);
	else if (lbx_ggml_set_read(g, t->address, &r) && lbx_ggml_set_root(g, &r, &root))
		lbx_ggml_tell_record(&r, lbx_ggml_set_buffer(g, &root), fn, context);
}

/* What an operation has computed gives way to another one's result, as do inputs that lie where results do, and no word
 * says so. */
static bool words(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_words *ret)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);
	struct lbx_ggml_record r, root;
	uint64_t name;

	if (!lbx_ggml_set_read(g, t->address, &r) || !lbx_ggml_set_root(g, &r, &root) || root.op != 0 || !root.data ||
	    (r.op != 0 && !lbx_ggml_is_view(&g->anchor, &r)))
		return false;
	const struct lbx_ggml_buffer *buffer = lbx_ggml_set_buffer(g, &root);
	if ((buffer && buffer->usage == LBX_GGML_COMPUTE) || g->writers[t->id - 1] != LBX_GGML_KEPT)
		return false;
	memcpy(&name, r.name, sizeof name);
	*ret = (struct lbx_words){
		.conditions = {
			{ { root.address + g->layout.data, sizeof root.data }, root.data },
			{ { r.address + g->layout.data, sizeof r.data }, r.data },
			{ { r.address + g->layout.name, sizeof name }, name },
		},
		.record = { root.address, 0 },
		.data = { g->layout.data, sizeof root.data },
	};
	return true;
}

static bool part_at(struct lbx_tensors *tensors, uint64_t address, char *ret, size_t size)
{
	return lbx_ggml_tell_place(&lbx_ggml_set_of(tensors)->contexts, address, ret, size);
}

static void close_ggml(struct lbx_tensors *tensors)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);

	lbx_ggml_contexts_free(&g->contexts);
	free(g->modules);
	free(g->sorted);
	free(g->writers);
	free(g->users);
	free(g->is_written);
	free(g->is_fused);
	free(g->order);
	free(g->stores.list);
	lbx_ggml_repacks_free(&g->repacks);
	lbx_ggml_running_free(&g->running);
	lbx_ggml_spots_free(&g->spots);
	lbx_ggml_progress_free(&g->progress);
	free(g);
}

bool lbx_ggml_open(struct lbx_target *target, struct lbx_stacks *stacks, bool (*progress)(void *context, int64_t done),
		   void *context, struct lbx_tensors **ret)
{
	static const struct lbx_tensors_ops ops = {
		.next = next,
		.by_id = by_id,
		.by_address = by_address,
		.record_at = record_at,
		.next_buffer = next_buffer,
		.damage = damage,
		.input = input,
		.input_id = input_id,
		.recipe = recipe,
		.part = lbx_ggml_part,
		.facts = facts,
		.work = lbx_ggml_work,
		.words = words,
		.part_at = part_at,
		.close = close_ggml,
	};
	int n_modules;
	/* before all else: a debugger has to be asked how memory is best read, and there may be nothing to read it for */
	struct lbx_loaded *modules = lbx_loaded_all(target, &n_modules);
	bool may_be = modules && lbx_ggml_may_be(target, modules, n_modules);
	/* large, and so it is not cleared for programs without ggml */
	lb_auto_free struct lbx_ggml_anchor *anchor = may_be ? malloc(sizeof *anchor) : NULL;
	bool is_there = anchor && lbx_ggml_find_anchor(target, stacks, modules, n_modules, anchor);
	struct lbx_ggml_set *g = is_there ? calloc(1, sizeof *g) : NULL;

	if (!g) {
		bool lacks_memory = !modules || (may_be && !anchor) || is_there;
		free(modules);
		return lacks_memory ? lb_fail("out of memory") : false;
	}
	g->anchor = *anchor;
	g->modules = modules;
	g->n_modules = n_modules;
	g->kinds.n_unary = g->kinds.n_gated = -1;
	g->tensors = (struct lbx_tensors){ .ops = &ops, .target = target, .provider = "ggml" };
	g->stacks = stacks;
	if (!lbx_ggml_set_find(g, progress, context)) {
		close_ggml(&g->tensors);
		return false;
	}
	*ret = &g->tensors;
	return true;
}
