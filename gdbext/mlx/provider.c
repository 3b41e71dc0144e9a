#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "mlx/decode.h"
#include "mlx/facts.h"
#include "mlx/find.h"
#include "mlx/graph.h"
#include "mlx/held.h"
#include "mlx/keepers.h"
#include "mlx/mlx.h"
#include "mlx/recipe.h"
#include "mlx/streams.h"

static bool read_at(struct lbx_mlx_set *s, uint64_t address, struct lbx_mlx_record *ret)
{
	return lbx_mlx_record_read(lbx_mlx_set_target(s), &s->classes, s->layout, address, ret);
}

static bool decode(struct lbx_mlx_set *s, uint64_t id, const struct lbx_mlx_record *r, struct lbx_tensor *ret)
{
	if (!lbx_mlx_decode(s, id, r, ret))
		return false;
	lbx_mlx_name(s, id, ret->name);
	ret->usage = lbx_mlx_usage(s, id);
	return true;
}

static bool by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	struct lbx_mlx_record r;

	if (id == 0 || id > s->n)
		return lb_fail("MLX has no array #%" PRIu64, id);
	return (read_at(s, s->objects[id - 1], &r) && decode(s, id, &r, ret)) ||
	       lb_fail("array #%" PRIu64 " of MLX, at 0x%" PRIx64 ", has been freed, or is damaged", id,
		       s->objects[id - 1]);
}

static enum lbx_next next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	struct lbx_mlx_record r;

	if (*slot == 0) {
		lbx_walk_begin(&s->walk, lbx_mlx_set_target(s));
		*bad += s->n_other;
	}
	while (*slot < s->n) {
		bool clean = lb_ok();
		struct lbx_target *target = lbx_walk_target(&s->walk, lbx_mlx_set_target(s), *slot);
		uint64_t at = s->objects[(*slot)++];
		if (lbx_mlx_record_read(target, &s->classes, s->layout, at, &r) && decode(s, *slot, &r, ret))
			return LBX_NEXT_TENSOR;
		if (clean)
			lb_clear_error();
		++*bad;
		s->first_bad = s->first_bad && s->first_bad < at ? s->first_bad : at;
		s->last_bad = s->last_bad > at ? s->last_bad : at;
	}
	return LBX_NEXT_END;
}

static bool next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	struct lbx_mlx_buffer buffer;

	while (*slot < s->n_buffers) {
		const struct lbx_mlx_held_buffer *held = &s->buffers[(*slot)++];
		if (!lbx_mlx_buffer_read(lbx_mlx_set_target(s), held->address, held->counts, &buffer) || !buffer.bytes)
			continue;
		*ret = (struct lbx_buffer){ .of = tensors,
					    .address = held->address,
					    .id = *slot,
					    .data = buffer.data,
					    .nbytes = (int64_t)buffer.bytes,
					    .capacity = (int64_t)buffer.bytes,
					    .refs = buffer.references };
		return true;
	}
	return false;
}

static bool damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = lbx_mlx_set_of(tensors)->first_bad;
	*ret_last = lbx_mlx_set_of(tensors)->last_bad;
	return *ret_first != 0;
}

static bool by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	uint64_t id = lbx_mlx_number(lbx_mlx_set_of(tensors), address);

	return id ? by_id(tensors, id, ret) : lb_fail("0x%" PRIx64 " is not the address of an array of MLX", address);
}

/* From the counts on, which are in front of it. */
static bool record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	uint64_t from = address > UINT64_MAX - LBX_MLX_FRONT ? address : address + LBX_MLX_FRONT;
	size_t n = lbx_mlx_count(s, from);

	return n && from - s->objects[n - 1] < LBX_MLX_FRONT + s->layout->size + LBX_MLX_END && by_id(tensors, n, ret);
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	struct lbx_mlx_record r;
	struct lbx_tensor input;

	if (!read_at(s, t->address, &r))
		return 0;
	uint64_t id = lbx_mlx_number(s, lbx_mlx_array_at(lbx_mlx_set_target(s), &r.inputs, i));
	bool clean = lb_ok(), found = id && by_id(tensors, id, &input);
	if (clean)
		lb_clear_error();
	return found ? id : 0;
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	uint64_t id = input_id(tensors, t, i);

	return id ? by_id(tensors, id, ret)
		  : lb_fail("input %u of #%" PRIu64 " is not known: it is no array that was found", i, t->id);
}

static bool beside(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	struct lbx_mlx_record r;
	uint64_t id =
	    read_at(s, t->address, &r) ? lbx_mlx_number(s, lbx_mlx_array_at(lbx_mlx_set_target(s), &r.siblings, i)) : 0;

	return id && by_id(tensors, id, ret);
}

static bool recipe(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_recipe *r, int *ret)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	struct lbx_mlx_node n = { .set = s, .id = t->id, .op = t->op, .n_inputs = t->n_inputs, .r = r };

	if (!read_at(s, t->address, &n.record) || n.record.inputs.n != t->n_inputs || r->n < t->n_inputs)
		return lb_fail("array #%" PRIu64 " of MLX has been freed, or is damaged", t->id);
	int *inputs = malloc((t->n_inputs + 1) * sizeof *inputs);
	if (!inputs)
		return lb_fail("out of memory for %u inputs", t->n_inputs);
	for (uint32_t i = 0; i < t->n_inputs; i++)
		inputs[i] = (int)i;
	n.inputs = inputs;
	*ret = lbx_mlx_recipe(&n);
	free(inputs);
	return *ret != LBX_FAIL;
}

static void facts(struct lbx_tensors *tensors, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);
	struct lbx_mlx_record r;

	if (!t) {
		lbx_mlx_tell_set(s, fn, context);
		lbx_mlx_tell_names(s, fn, context);
	} else if (read_at(s, t->address, &r)) {
		lbx_mlx_tell_paths(s, t->id, fn, context);
		lbx_mlx_holder_fact(s, t->id, fn, context);
		lbx_mlx_tell_record(s, t->id, &r, fn, context);
	}
}

static void held(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_held *ret)
{
	lbx_mlx_held_tell(lbx_mlx_set_of(tensors), t->id, ret);
}

static bool keeper(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_keeper *ret)
{
	return lbx_mlx_keeper(lbx_mlx_set_of(tensors), slot, ret);
}

static bool is_module(struct lbx_tensors *tensors, uint64_t object)
{
	return lbx_mlx_is_module(lbx_mlx_set_of(tensors), object);
}

static bool by_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from,
		    struct lbx_tensor *ret)
{
	uint64_t id = lbx_mlx_named(lbx_mlx_set_of(tensors), text, from);

	return id && by_id(tensors, id, ret);
}

static bool why_no_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from, char *ret,
			size_t size)
{
	return lbx_mlx_why_not(lbx_mlx_set_of(tensors), text, from, ret, size);
}

static bool by_object(struct lbx_tensors *tensors, uint64_t object, struct lbx_tensor *ret)
{
	uint64_t id = lbx_mlx_held_by(lbx_mlx_set_of(tensors), object);

	return id && by_id(tensors, id, ret);
}

static void close_mlx(struct lbx_tensors *tensors)
{
	struct lbx_mlx_set *s = lbx_mlx_set_of(tensors);

	lbx_mlx_names_free(&s->names);
	lbx_mlx_primitives_free(&s->primitives);
	free(s->modules);
	free(s->objects);
	free(s->buffers);
	lbx_mlx_graph_free(s->graph);
	free(s->keepers);
	free(s);
}

bool lbx_mlx_open(struct lbx_target *target, bool let_go, bool (*progress)(void *context, int64_t done), void *context,
		  struct lbx_tensors **ret)
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
		.beside = beside,
		.by_path = by_path,
		.why_no_path = why_no_path,
		.by_object = by_object,
		.is_module = is_module,
		.recipe = recipe,
		.facts = facts,
		.held = held,
		.keeper = keeper,
		.work = lbx_mlx_work,
		.close = close_mlx,
	};
	struct lbx_mlx_set *s;

	if (!lbx_mlx_is_there(target))
		return false;
	if (!(s = calloc(1, sizeof *s)))
		return lb_fail("out of memory");
	s->tensors = (struct lbx_tensors){
		.ops = &ops,
		.target = target,
		.provider = "mlx",
		.forgets_graph = true,
		.strided =
		    "what data<T>() gives does not hold these elements in this order: use the strides, or mx.contiguous()"
	};
	s->is_torn = lbx_target_copy(target, let_go) != LBX_COPIED_STILL && lbx_target_runs(target);
	if (!lbx_mlx_set_search(s, progress, context) || !lbx_mlx_set_take(s) ||
	    !lbx_mlx_names_find(s, progress, context)) {
		close_mlx(&s->tensors);
		return false;
	}
	*ret = &s->tensors;
	return true;
}
