#include "inspect/name_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/vector.h"

enum { MOST = 1 << 20, MOST_TEXT = 64 << 20 };

struct entry {
	uint64_t address, id;
	uint32_t name; /* where it begins among the texts */
	uint32_t set;
};

struct lbx_name_index {
	const struct lbx_target *target;
	int n_sets;
	const struct lbx_provider *providers[LBX_SETS_MAX];
	bool is_new, is_dated, is_too_large;
	uint64_t moment;
	size_t n_seen; /* with a name or without */
	struct entry *entries; /* in the order of the walk */
	size_t n, room;
	uint32_t *fingerprints; /* of their names; looking through all takes less than making a table of them */
	size_t fingerprints_room;
	char *texts;
	size_t n_text, text_room;
};

void lbx_name_index_destroy(struct lbx_name_index *index)
{
	if (!index)
		return;
	free(index->entries);
	free(index->texts);
	free(index->fingerprints);
	free(index);
}

/* By which most names differ. */
static uint32_t fingerprint_of(const char *name, size_t length)
{
	uint64_t fingerprint = length, word = 0;

	for (; length > sizeof word; name += sizeof word, length -= sizeof word) {
		memcpy(&word, name, sizeof word);
		fingerprint = (fingerprint ^ word) * LB_MIX_STEP;
	}
	word = 0;
	memcpy(&word, name, length);
	return (uint32_t)(lb_mix(fingerprint ^ word) >> 32);
}

static void drop(struct lbx_kept *kept)
{
	lbx_name_index_destroy(kept->names);
	kept->names = NULL;
}

static bool is_of(const struct lbx_name_index *index, const struct lbx_context *context)
{
	if (index->target != context->target || index->n_sets != context->n_sets)
		return false;
	for (int i = 0; i < index->n_sets; i++)
		if (index->providers[i] != context->set_providers[i])
			return false;
	return true;
}

/* Quiet. */
static bool ask_moment(struct lbx_context *context, uint64_t *ret)
{
	bool clean = lb_ok(), known = lbx_target_moment(context->target, ret);

	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return known;
}

bool lbx_name_index_get(struct lbx_context *context, const struct lbx_tensors *tensors,
			const struct lbx_name_index **ret)
{
	struct lbx_kept *kept = context->kept;
	uint64_t now = 0;

	*ret = NULL;
	if (!kept || !kept->has_many_tensors || tensors != context->tensors)
		return true;
	bool known = ask_moment(context, &now);
	if (!known && lbx_target_waits(context->target))
		return false;
	struct lbx_name_index *index = kept->names;
	if (index && is_of(index, context) && index->is_dated == known &&
	    (known ? now == index->moment : index->is_new))
		*ret = index;
	else
		drop(kept);
	return true;
}

bool lbx_name_index_is_new(const struct lbx_name_index *index)
{
	return index->is_new;
}

bool lbx_name_index_next(const struct lbx_name_index *index, const struct lbx_context *context, const char *name,
			 uint64_t *at, struct lbx_key *ret, const char **ret_name)
{
	uint32_t fingerprint = name ? fingerprint_of(name, strlen(name)) : 0;
	size_t i = *at;

	while (name && i < index->n &&
	       (index->fingerprints[i] != fingerprint || strcmp(index->texts + index->entries[i].name, name) != 0))
		i++;
	if (i >= index->n)
		return false;
	const struct entry *e = &index->entries[i];
	*at = i + 1;
	*ret = (struct lbx_key){ context->sets[e->set], e->address, e->id };
	*ret_name = index->texts + e->name;
	return true;
}

struct lbx_name_index *lbx_name_index_begin(const struct lbx_context *context, const struct lbx_tensors *tensors)
{
	if (!context->kept || tensors != context->tensors)
		return NULL;
	struct lbx_name_index *index = calloc(1, sizeof *index);
	if (!index)
		return NULL;
	index->target = context->target;
	index->n_sets = context->n_sets;
	memcpy(index->providers, context->set_providers, (size_t)context->n_sets * sizeof *index->providers);
	return index;
}

void lbx_name_index_add(struct lbx_name_index *index, const struct lbx_context *context, const struct lbx_label *label)
{
	size_t size = strlen(label->name) + 1;
	uint32_t set = 0;

	if (!index || index->is_too_large)
		return;
	index->n_seen++;
	if (size == 1)
		return;
	while (set < (uint32_t)context->n_sets && context->sets[set] != label->key.of)
		set++;
	if (set == (uint32_t)context->n_sets || index->n == MOST || index->n_text + size > MOST_TEXT ||
	    !lb_reserve(index->entries, index->room, index->n + 1) ||
	    !lb_reserve(index->fingerprints, index->fingerprints_room, index->n + 1) ||
	    !lb_reserve(index->texts, index->text_room, index->n_text + size)) {
		index->is_too_large = true;
		return;
	}
	index->fingerprints[index->n] = fingerprint_of(label->name, size - 1);
	index->entries[index->n++] = (struct entry){ label->key.address, label->key.id, (uint32_t)index->n_text, set };
	memcpy(index->texts + index->n_text, label->name, size);
	index->n_text += size;
}

void lbx_name_index_keep(struct lbx_name_index *index, struct lbx_context *context)
{
	if (!index)
		return;
	drop(context->kept);
	context->kept->has_many_tensors = index->n_seen >= LBX_MANY_TENSORS;
	if (context->kept->has_many_tensors && !index->is_too_large) {
		index->is_new = true;
		index->is_dated = ask_moment(context, &index->moment);
		if (index->is_dated || !lbx_target_waits(context->target)) {
			context->kept->names = index;
			return;
		}
	}
	lbx_name_index_destroy(index);
}

void lbx_name_index_age(struct lbx_kept *kept)
{
	if (!kept || !kept->names)
		return;
	kept->names->is_new = false;
	if (!kept->names->is_dated)
		drop(kept);
}
