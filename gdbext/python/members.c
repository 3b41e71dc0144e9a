/* A module of a neural network that is a part of another would be found by whatever variable is nearest, as `self` in the
 * function that runs. Its parameters' names are those that the whole has for them. So instances whose members are elided are
 * gone through a second time, by these members alone, from those that are no other's member; these paths come first. */
#include "python/members.h"

#include <string.h>

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

/* A member of an instance that is gone through the second time. */
static bool meet_member(struct lbx_py_walk *w, uint64_t object, uint32_t from, uint64_t key)
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
	if (!is_wanted && !place->is_owner)
		return true;
	place->is_done = true;
	uint32_t first = place->first, last = place->last;
	node = (struct lbx_py_node){ .object = object,
				     .key = key,
				     .from = from,
				     .next = UINT32_MAX,
				     .step = LBX_PY_MEMBER,
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

static bool go_through_members(struct lbx_py_walk *w, uint32_t at)
{
	struct lbx_py_dict dict, members;
	uint64_t name, value, key, member;
	int64_t i = 0;

	if (w->nodes[at].is_wanted || !lbx_py_attributes_open(w->py, w->nodes[at].object, &dict))
		return true;
	while (!w->is_full && lbx_py_dict_next(w->py, &dict, &i, &name, &value)) {
		if (!lbx_py_is_elided(w, name) || !lbx_py_dict_open(w->py, value, &members))
			continue;
		for (int64_t k = 0; !w->is_full && lbx_py_dict_next(w->py, &members, &k, &key, &member);)
			if (!meet_member(w, member, at, key))
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
