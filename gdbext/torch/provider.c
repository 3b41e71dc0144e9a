#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "torch/decode.h"
#include "torch/facts.h"
#include "torch/find.h"
#include "torch/held.h"
#include "torch/history.h"
#include "torch/keepers.h"
#include "torch/near.h"
#include "torch/torch.h"

static bool read_at(struct lbx_torch_set *s, uint64_t address, struct lbx_torch_record *ret)
{
	return lbx_torch_record_read(lbx_torch_set_target(s), &s->classes, &s->layout, address, ret);
}

/* The number of the tensor at an address; 0: there is none. *ret_before: of the last one that is not behind it. */
static uint64_t id_at(const struct lbx_torch_set *s, uint64_t address, uint64_t *ret_before)
{
	size_t n = lbx_torch_count(s->objects, s->n, address);

	*ret_before = n;
	return n && s->objects[n - 1] == address ? n : 0;
}

static bool decode(struct lbx_torch_set *s, uint64_t id, const struct lbx_torch_record *r, struct lbx_tensor *ret)
{
	if (!lbx_torch_decode(s, id, r, ret))
		return false;
	lbx_torch_name(s, r, ret->name);
	ret->usage = lbx_torch_usage(s, r);
	return true;
}

static bool by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	struct lbx_torch_set *s = lbx_torch_set_of(tensors);
	struct lbx_torch_record r;

	if (lbx_torch_history_by_id(s, id, ret))
		return true;
	if (id == 0 || id > s->n)
		return lb_fail("PyTorch has no tensor #%" PRIu64, id);
	return (read_at(s, s->objects[id - 1], &r) && decode(s, id, &r, ret)) ||
	       lb_fail("tensor #%" PRIu64 " of PyTorch, at 0x%" PRIx64 ", has been freed, or is damaged", id,
		       s->objects[id - 1]);
}

static enum lbx_next next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	struct lbx_torch_set *s = lbx_torch_set_of(tensors);
	struct lbx_torch_record r;

	if (*slot == 0) {
		lbx_walk_begin(&s->walk, lbx_torch_set_target(s));
		*bad += s->n_other;
	}
	while (*slot < s->n) {
		bool clean = lb_ok();
		struct lbx_target *target = lbx_walk_target(&s->walk, lbx_torch_set_target(s), *slot);
		uint64_t at = s->objects[(*slot)++];
		if (lbx_torch_record_read(target, &s->classes, &s->layout, at, &r) && decode(s, *slot, &r, ret))
			return LBX_NEXT_TENSOR;
		if (clean)
			lb_clear_error();
		++*bad;
		s->first_bad = s->first_bad && s->first_bad < at ? s->first_bad : at;
		s->last_bad = s->last_bad > at ? s->last_bad : at;
	}
	return LBX_NEXT_END;
}

/* The storages whose memory is the program's. */
static bool next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret)
{
	struct lbx_torch_set *s = lbx_torch_set_of(tensors);
	struct lbx_torch_storage storage;

	while (*slot < s->n_storages) {
		uint64_t at = s->storages[(*slot)++];
		if (!lbx_torch_storage_read(lbx_torch_set_target(s), &s->classes, &s->layout, at, &storage) ||
		    !lbx_torch_is_host(&storage.device) || storage.data == 0 || storage.bytes == 0)
			continue;
		*ret = (struct lbx_buffer){ .of = tensors,
					    .address = at,
					    .id = *slot,
					    .data = storage.data,
					    .nbytes = (int64_t)storage.bytes,
					    .capacity = (int64_t)storage.bytes,
					    .refs = (uint32_t)storage.references };
		return true;
	}
	return false;
}

static bool damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = lbx_torch_set_of(tensors)->first_bad;
	*ret_last = lbx_torch_set_of(tensors)->last_bad;
	return *ret_first != 0;
}

static bool by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	uint64_t before, id = id_at(lbx_torch_set_of(tensors), address, &before);

	if (lbx_torch_history_at(lbx_torch_set_of(tensors), address, ret))
		return true;
	return id ? by_id(tensors, id, ret)
		  : lb_fail("0x%" PRIx64 " is not the address of a tensor of PyTorch", address);
}

static bool record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	struct lbx_torch_set *s = lbx_torch_set_of(tensors);
	uint64_t before;

	id_at(s, address, &before);
	return before && address - s->objects[before - 1] < s->layout.rank + LBX_TORCH_TENSOR_END &&
	       by_id(tensors, before, ret);
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	uint64_t address = lbx_torch_history_input(lbx_torch_set_of(tensors), t, i);
	struct lbx_tensor input;
	bool clean = lb_ok(), found = address && by_address(tensors, address, &input);

	if (clean)
		lb_clear_error();
	return found ? input.id : 0;
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	uint64_t address = lbx_torch_history_input(lbx_torch_set_of(tensors), t, i);

	return address ? by_address(tensors, address, ret)
		       : lb_fail("what #%" PRIu64 " was computed from is not known: it has no input %u", t->id, i);
}

static bool recipe(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_recipe *r, int *ret)
{
	(void)tensors, (void)r, (void)ret;
	return lb_fail("how PyTorch computes #%" PRIu64 " (%s) is not known here", t->id, t->op);
}

static void facts(struct lbx_tensors *tensors, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context)
{
	struct lbx_torch_set *s = lbx_torch_set_of(tensors);
	struct lbx_torch_record r;

	if (!t) {
		lbx_torch_tell_set(s, fn, context);
		lbx_torch_nets_tell(s, fn, context);
		lbx_torch_tell_names(s, fn, context);
	} else if (read_at(s, t->address, &r)) {
		lbx_torch_tell_paths(s, &r, fn, context);
		lbx_torch_holder_fact(s, &r, fn, context);
		lbx_torch_tell_record(s, &r, fn, context);
	}
}

static void held(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_held *ret)
{
	struct lbx_torch_record r;

	if (read_at(lbx_torch_set_of(tensors), t->address, &r))
		lbx_torch_held_tell(lbx_torch_set_of(tensors), &r, ret);
}

static bool keeper(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_keeper *ret)
{
	return lbx_torch_keeper(lbx_torch_set_of(tensors), slot, ret);
}

static bool by_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from,
		    struct lbx_tensor *ret)
{
	uint64_t id = lbx_torch_named(lbx_torch_set_of(tensors), text, from);

	return id && by_id(tensors, id, ret);
}

static bool why_no_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from, char *ret,
			size_t size)
{
	return lbx_torch_why_not(lbx_torch_set_of(tensors), text, from, ret, size);
}

static bool by_object(struct lbx_tensors *tensors, uint64_t object, struct lbx_tensor *ret)
{
	if (lbx_torch_set_of(tensors)->near)
		return lbx_torch_near_by_object(lbx_torch_set_of(tensors), object, ret);
	uint64_t id = lbx_torch_held_by(lbx_torch_set_of(tensors), object);

	return id && by_id(tensors, id, ret);
}

static void close_torch(struct lbx_tensors *tensors)
{
	struct lbx_torch_set *s = lbx_torch_set_of(tensors);

	lbx_torch_names_free(&s->names);
	free(s->keepers);
	lbx_torch_nets_free(&s->nets);
	lbx_torch_quantizers_free(&s->quantizers);
	lbx_torch_graph_free(&s->graph);
	free(s->modules);
	free(s->objects);
	free(s->storages);
	free(s);
}

static struct lbx_torch_set *create(struct lbx_target *target)
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
		.by_path = by_path,
		.why_no_path = why_no_path,
		.by_object = by_object,
		.recipe = recipe,
		.facts = facts,
		.held = held,
		.keeper = keeper,
		.close = close_torch,
	};
	struct lbx_torch_set *s = calloc(1, sizeof *s);

	if (!s) {
		lb_fail("out of memory");
		return NULL;
	}
	s->tensors = (struct lbx_tensors){
		.ops = &ops,
		.target = target,
		.provider = "torch",
		.has_devices = true,
		.keeps_graph = true,
		.strided =
		    "what data_ptr() gives does not hold these elements in this order: use the strides, or contiguous()"
	};
	for (unsigned i = 0; i < LBX_TORCH_DTYPES; i++)
		lbx_torch_dtype(i, &s->dtypes[i]);
	return s;
}

bool lbx_torch_open(struct lbx_target *target, bool let_go, bool (*progress)(void *context, int64_t done),
		    void *context, struct lbx_tensors **ret)
{
	struct lbx_torch_set *s;

	if (!lbx_torch_is_there(target))
		return false;
	if (!(s = create(target)))
		return false;
	s->is_torn = lbx_target_copy(target, let_go) != LBX_COPIED_STILL && lbx_target_runs(target);
	if (!lbx_torch_set_search(s, progress, context) || !lbx_torch_set_take(s) || !lbx_torch_nets_find(s) ||
	    !lbx_torch_names_find(s, progress, context)) {
		close_torch(&s->tensors);
		return false;
	}
	*ret = &s->tensors;
	return true;
}

bool lbx_torch_open_near(struct lbx_target *target, struct lbx_python *py, struct lbx_tensors **ret)
{
	struct lbx_torch_set *s = create(target);

	if (!s)
		return false;
	s->modules = lbx_loaded_all(target, &s->n_modules);
	if (!s->modules || !lbx_torch_near_find(s, py)) {
		close_torch(&s->tensors);
		return false;
	}
	*ret = &s->tensors;
	return true;
}
