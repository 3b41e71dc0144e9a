#include "tensors/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tensors/axes.h"
#include "tensors/part.h"
#include "tensors/work.h"

enum lbx_next lbx_tensors_next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	return tensors->ops->next(tensors, slot, ret, bad);
}

void lbx_tensors_want(struct lbx_tensors *tensors, struct lbx_wish *wish)
{
	tensors->wish = wish;
}

enum lbx_next lbx_tensors_next_label(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_label *ret)
{
	struct lbx_tensor t;
	uint64_t bad = 0;

	if (tensors->ops->next_label)
		return tensors->ops->next_label(tensors, slot, ret);
	enum lbx_next next = lbx_tensors_next(tensors, slot, &t, &bad);
	if (next == LBX_NEXT_TENSOR) {
		ret->key = lbx_tensor_key(&t);
		strcpy(ret->name, t.name);
	}
	return next;
}

bool lbx_tensors_by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	return tensors->ops->by_id(tensors, id, ret);
}

bool lbx_tensors_by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	return tensors->ops->by_address
		   ? tensors->ops->by_address(tensors, address, ret)
		   : lb_fail("0x%" PRIx64 " is not the address of a tensor of %s", address, tensors->provider);
}

bool lbx_tensors_by_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from,
			 struct lbx_tensor *ret)
{
	return tensors->ops->by_path && tensors->ops->by_path(tensors, text, from, ret);
}

bool lbx_tensors_why_no_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from, char *ret,
			     size_t size)
{
	return tensors->ops->why_no_path && tensors->ops->why_no_path(tensors, text, from, ret, size);
}

bool lbx_tensors_by_object(struct lbx_tensors *tensors, uint64_t object, struct lbx_tensor *ret)
{
	return tensors->ops->by_object && tensors->ops->by_object(tensors, object, ret);
}

bool lbx_tensors_is_module(struct lbx_tensors *tensors, uint64_t object)
{
	return tensors->ops->is_module && tensors->ops->is_module(tensors, object);
}

bool lbx_tensors_record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	return tensors->ops->record_at && tensors->ops->record_at(tensors, address, ret);
}

bool lbx_tensors_next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret)
{
	return tensors->ops->next_buffer && tensors->ops->next_buffer(tensors, slot, ret);
}

void lbx_tensors_facts(struct lbx_tensors *of, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context)
{
	if (of && of->ops->facts)
		of->ops->facts(of, t, fn, context);
}

bool lbx_tensor_part(const struct lbx_tensor *t, const int64_t *at, uint32_t i, struct lbx_part *ret)
{
	return t->of && t->of->ops->part && t->of->ops->part(t->of, t, at, i, ret);
}

bool lbx_tensors_work(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret)
{
	return tensors->ops->work && tensors->ops->work(tensors, stacks, slot, ret);
}

bool lbx_tensor_words(const struct lbx_tensor *t, struct lbx_words *ret)
{
	return t->of && t->of->ops->words && t->of->ops->words(t->of, t, ret);
}

bool lbx_tensors_part_at(struct lbx_tensors *of, uint64_t address, char *ret, size_t size)
{
	return of->ops->part_at && of->ops->part_at(of, address, ret, size);
}

struct lbx_key lbx_tensor_key(const struct lbx_tensor *t)
{
	return (struct lbx_key){ t->of, t->address, t->id };
}

struct lbx_number *lbx_number_of_tensor(struct lbx_number_map *map, const struct lbx_tensor *t, bool *ret_new)
{
	return lbx_number_at(map, t->of, t->address ? t->address : t->id, ret_new);
}

bool lbx_tensor_by_key(const struct lbx_key *key, struct lbx_tensor *ret)
{
	return key->address ? lbx_tensors_by_address(key->of, key->address, ret)
			    : lbx_tensors_by_id(key->of, key->id, ret);
}

bool lbx_tensors_next_buffer_at(struct lbx_tensors *tensors, uint64_t *slot, uint64_t address, struct lbx_buffer *ret)
{
	while (lbx_tensors_next_buffer(tensors, slot, ret))
		if (address >= ret->data && address - ret->data < (uint64_t)ret->capacity)
			return true;
	return false;
}

bool lbx_tensors_damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = *ret_last = 0;
	return tensors->ops->damage && tensors->ops->damage(tensors, ret_first, ret_last);
}

bool lbx_tensors_valid(struct lbx_tensors *tensors)
{
	bool clean = lb_ok(), valid = tensors->ops->valid && tensors->ops->valid(tensors);

	if (clean)
		lb_clear_error();
	return valid;
}

void lbx_tensors_close(struct lbx_tensors *tensors)
{
	if (!tensors)
		return;
	lbx_axes_destroy(tensors->axes);
	tensors->axes = NULL;
	if (tensors->ops->close)
		tensors->ops->close(tensors);
}

void lbx_tensor_id_text(const struct lbx_tensor *t, char ret[LBX_ID_TEXT_MAX])
{
	if (!t->id && t->address)
		snprintf(ret, LBX_ID_TEXT_MAX, "0x%" PRIx64, t->address);
	else
		snprintf(ret, LBX_ID_TEXT_MAX, "%s#%" PRIu64, t->of && t->of->is_one_of_several ? t->of->provider : "",
			 t->id);
}

bool lbx_tensor_input(const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	return t->of ? t->of->ops->input(t->of, t, i, ret) : lb_fail("memory that is no tensor's has no inputs");
}

uint64_t lbx_tensor_input_id(const struct lbx_tensor *t, uint32_t i)
{
	return t->of ? t->of->ops->input_id(t->of, t, i) : 0;
}

int lbx_tensor_stack(const struct lbx_tensor *t, uint64_t *pcs, int max)
{
	return t->of && t->of->ops->stack ? t->of->ops->stack(t->of, t, pcs, max) : 0;
}

bool lbx_tensor_program(const struct lbx_tensor *t, struct lbx_program *ret)
{
	return t->of && t->of->ops->program && t->of->ops->program(t->of, t, ret);
}

void lbx_tensor_take_computed(struct lbx_tensor *t)
{
	if (t->of && t->of->ops->take_computed)
		t->of->ops->take_computed(t->of, t);
}

/* ---- several sets as one ---- */

/* A slot's highest bits say which. */
struct several {
	struct lbx_tensors tensors; /* first */
	int n;
	struct lbx_tensors *sets[];
};

enum { SETS_MAX = 255 };

static struct several *several_of(struct lbx_tensors *tensors)
{
	return (struct several *)tensors;
}

/* The set of a slot, NULL beyond the last, and the slot in it. */
static struct lbx_tensors *set_at(struct lbx_tensors *tensors, uint64_t slot, uint64_t *ret)
{
	struct several *s = several_of(tensors);
	uint64_t i = slot >> LBX_SLOT_BITS;

	*ret = slot & (LBX_SLOTS_MAX - 1);
	return i < (uint64_t)s->n ? s->sets[i] : NULL;
}

static uint64_t with_set_of(uint64_t slot, uint64_t within)
{
	return (slot & ~(LBX_SLOTS_MAX - 1)) | within;
}

static uint64_t first_of_next_set(uint64_t slot)
{
	return with_set_of(slot + LBX_SLOTS_MAX, 0);
}

static enum lbx_next next_of_several(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	struct lbx_tensors *set;
	uint64_t within;

	for (; (set = set_at(tensors, *slot, &within)); *slot = first_of_next_set(*slot)) {
		set->wish = tensors->wish;
		enum lbx_next next = lbx_tensors_next(set, &within, ret, bad);
		set->wish = NULL;
		if (next == LBX_NEXT_END)
			continue;
		*slot = with_set_of(*slot, within);
		return next;
	}
	return LBX_NEXT_END;
}

static enum lbx_next next_label_of_several(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_label *ret)
{
	struct lbx_tensors *set;
	uint64_t within;

	for (; (set = set_at(tensors, *slot, &within)); *slot = first_of_next_set(*slot)) {
		enum lbx_next next = lbx_tensors_next_label(set, &within, ret);
		if (next == LBX_NEXT_END)
			continue;
		*slot = with_set_of(*slot, within);
		return next;
	}
	return LBX_NEXT_END;
}

static bool next_buffer_of_several(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret)
{
	struct lbx_tensors *set;
	uint64_t within;

	for (; (set = set_at(tensors, *slot, &within)); *slot = first_of_next_set(*slot)) {
		if (!lbx_tensors_next_buffer(set, &within, ret))
			continue;
		*slot = with_set_of(*slot, within);
		return true;
	}
	return false;
}

/* The first set's that has it; the last one's error. */
static bool find_in_several(struct lbx_tensors *tensors, uint64_t key, struct lbx_tensor *ret,
			    bool (*find)(struct lbx_tensors *, uint64_t, struct lbx_tensor *))
{
	struct several *s = several_of(tensors);
	bool clean = lb_ok();

	for (int i = 0; i < s->n; i++) {
		if (clean)
			lb_clear_error();
		if (find(s->sets[i], key, ret))
			return true;
	}
	return false;
}

static bool by_id_in_several(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	return find_in_several(tensors, id, ret, lbx_tensors_by_id);
}

static bool by_address_in_several(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	return find_in_several(tensors, address, ret, lbx_tensors_by_address);
}

/* An error is of the one whose it is. */
static bool first_that_has(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret,
			   bool (*find)(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret))
{
	struct several *s = several_of(tensors);
	bool clean = lb_ok();

	for (int i = 0; i < s->n && lb_ok() == clean; i++)
		if (find(s->sets[i], address, ret))
			return true;
	return false;
}

static bool record_at_in_several(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	return first_that_has(tensors, address, ret, lbx_tensors_record_at);
}

static bool by_object_in_several(struct lbx_tensors *tensors, uint64_t object, struct lbx_tensor *ret)
{
	return first_that_has(tensors, object, ret, lbx_tensors_by_object);
}

static bool is_module_of_several(struct lbx_tensors *tensors, uint64_t object)
{
	const struct several *s = several_of(tensors);

	for (int i = 0; i < s->n; i++)
		if (lbx_tensors_is_module(s->sets[i], object))
			return true;
	return false;
}

static bool by_path_in_several(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from,
			       struct lbx_tensor *ret)
{
	struct several *s = several_of(tensors);
	bool clean = lb_ok();

	for (int i = 0; i < s->n && lb_ok() == clean; i++)
		if (lbx_tensors_by_path(s->sets[i], text, from, ret))
			return true;
	return false;
}

static bool why_no_path_in_several(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from,
				   char *ret, size_t size)
{
	struct several *s = several_of(tensors);

	for (int i = 0; i < s->n; i++)
		if (lbx_tensors_why_no_path(s->sets[i], text, from, ret, size))
			return true;
	return false;
}

static bool damage_of_several(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last)
{
	struct several *s = several_of(tensors);
	uint64_t first, last;
	bool any = false;

	for (int i = 0; i < s->n; i++) {
		if (!lbx_tensors_damage(s->sets[i], &first, &last))
			continue;
		*ret_first = any && *ret_first < first ? *ret_first : first;
		*ret_last = any && *ret_last > last ? *ret_last : last;
		any = true;
	}
	return any;
}

static void close_several(struct lbx_tensors *tensors)
{
	free(several_of(tensors));
}

struct lbx_tensors *lbx_tensors_union(struct lbx_tensors *const *sets, int n)
{
	/* what is asked of a tensor is asked of its own set */
	static const struct lbx_tensors_ops ops = {
		.next = next_of_several,
		.next_label = next_label_of_several,
		.by_id = by_id_in_several,
		.by_address = by_address_in_several,
		.by_path = by_path_in_several,
		.why_no_path = why_no_path_in_several,
		.by_object = by_object_in_several,
		.is_module = is_module_of_several,
		.record_at = record_at_in_several,
		.next_buffer = next_buffer_of_several,
		.damage = damage_of_several,
		.close = close_several,
	};

	if (n > SETS_MAX) {
		lb_fail("%d sets of tensors: more than %d", n, SETS_MAX);
		return NULL;
	}
	struct several *s = calloc(1, sizeof *s + (size_t)n * sizeof *s->sets);
	if (!s) {
		lb_fail("out of memory");
		return NULL;
	}
	s->tensors = (struct lbx_tensors){ .ops = &ops, .target = n ? sets[0]->target : NULL, .provider = "" };
	s->n = n;
	for (int i = 0; i < n; i++)
		s->sets[i] = sets[i];
	return &s->tensors;
}
