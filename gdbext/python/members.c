/* A module of a neural network that is a part of another would be found by whatever variable is nearest, as `self` in the
 * function that runs. Its parameters' names are those that the whole has for them. So instances whose members are elided are
 * gone through a second time, by these members alone, from those that are no other's member; these paths come first. */
#include "python/members.h"

#include <string.h>

#include "lazybones.h"
#include "python/dict.h"
#include "python/met.h"

enum { NAME = 64 };

bool lbx_py_is_elided(const struct lbx_py_walk *w, uint64_t name)
{
	char text[NAME];

	if (!lbx_py_text(w->py, name, text, sizeof text))
		return false;
	for (const char *const *elided = w->rules->elided; *elided; elided++)
		if (strcmp(*elided, text) == 0)
			return true;
	return false;
}

bool lbx_py_has_members(const struct lbx_py_walk *w, uint64_t object)
{
	return w->rules->members_of && lbx_py_is_derived(w->py, lbx_py_type_of(w->py, object), w->rules->members_of);
}

/* Where dicts are instances, a list or dict that is a member has what are members in turn. */
static bool may_have_members(const struct lbx_py_walk *w, const struct lbx_py_place *place)
{
	const struct lbx_py_type *type = w->rules->members_of ? lbx_py_type_of(w->py, place->object) : NULL;

	return place->is_owner ||
	       (type && (type->kind == LBX_PY_DICT || type->kind == LBX_PY_LIST || type->kind == LBX_PY_TUPLE));
}

/* A member of an instance that is gone through the second time. */
static bool meet_member(struct lbx_py_walk *w, uint64_t object, uint32_t from, enum lbx_py_step step, uint64_t key)
{
	struct lbx_py_place *place = object ? lbx_py_place_of(w, object) : NULL;
	struct lbx_py_node node = w->nodes[from];

	if (++w->looked > w->most_looked) {
		w->is_full = true;
		return true;
	}
	if (!place || node.depth >= LBX_PY_DEPTH || !place->object || place->is_done || place->first == UINT32_MAX)
		return true;
	bool is_wanted = w->nodes[place->first].is_wanted;
	if (!is_wanted && !may_have_members(w, place))
		return true;
	place->is_done = true;
	uint32_t first = place->first, last = place->last;
	node = (struct lbx_py_node){ .object = object,
				     .key = key,
				     .from = from,
				     .next = UINT32_MAX,
				     .step = (uint8_t)step,
				     .depth = (uint8_t)(node.depth + 1),
				     .is_wanted = is_wanted };
	size_t n = w->n;
	if (!lbx_py_add_node(w, place, &node))
		return false;
	if (is_wanted && w->n > n) { /* to the front */
		w->nodes[n].next = first;
		w->nodes[last].next = UINT32_MAX;
		place->first = (uint32_t)n;
		place->last = last;
	}
	return true;
}

/* What a dict or list holds that is a member, or an instance itself. */
static bool go_through_items(struct lbx_py_walk *w, uint32_t at)
{
	uint64_t object = w->nodes[at].object, key, item, items;
	enum lbx_py_step step = lbx_py_has_members(w, object) ? LBX_PY_MEMBER : LBX_PY_KEY;
	struct lbx_py_dict dict;
	int64_t i = 0, n;

	if (lbx_py_dict_open(w->py, object, &dict)) {
		while (!w->is_full && lbx_py_dict_next(w->py, &dict, &i, &key, &item))
			if (!meet_member(w, item, at, step, key))
				return false;
	} else if (lbx_py_items(w->py, object, &items, &n)) {
		for (; i < n && !w->is_full; i++)
			if (!lbx_py_read(w->py, items + (uint64_t)i * sizeof item, &item, sizeof item) ||
			    !meet_member(w, item, at, LBX_PY_INDEX, (uint64_t)i))
				return lb_ok();
	}
	return true;
}

static bool go_through_members(struct lbx_py_walk *w, uint32_t at)
{
	struct lbx_py_dict dict, members;
	uint64_t name, value, key, member;
	int64_t i = 0;

	if (!w->nodes[at].is_wanted && w->rules->members_of)
		return go_through_items(w, at);
	if (w->nodes[at].is_wanted || !lbx_py_attributes_open(w->py, w->nodes[at].object, &dict))
		return true;
	while (!w->is_full && lbx_py_dict_next(w->py, &dict, &i, &name, &value)) {
		if (!lbx_py_is_elided(w, name) || !lbx_py_dict_open(w->py, value, &members))
			continue;
		for (int64_t k = 0; !w->is_full && lbx_py_dict_next(w->py, &members, &k, &key, &member);)
			if (!meet_member(w, member, at, LBX_PY_MEMBER, key))
				return false;
	}
	return true;
}

bool lbx_py_walk_members(struct lbx_py_walk *w)
{
	size_t n = w->n, done = n;

	for (size_t i = 0; i < n && !w->is_full; i++) {
		const struct lbx_py_place *place = lbx_py_place_of(w, w->nodes[i].object);
		if (!place->is_owner || place->is_member || place->first != i)
			continue;
		if (!go_through_members(w, (uint32_t)i))
			return false;
		for (; done < w->n && !w->is_full; done++)
			if (!go_through_members(w, (uint32_t)done))
				return false;
	}
	return true;
}
