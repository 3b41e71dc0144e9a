/* Each object that holds others becomes a node when it is first met, and is gone through once, in the order in which they
 * were met; what is wanted becomes a node each time. So a node's way back to a variable is a shortest one, and ends.
 *
 * A module of a neural network that is a part of another would be found by whatever variable is nearest, as `self` in the
 * function that runs. Its parameters' names are those that the whole has for them. So instances whose members are elided are
 * gone through a second time, by these members alone, from those that are no other's member; these paths come first. */
#include "python/met.h"

#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "python/dict.h"
#include "python/frames.h"

enum {
	MAX_NODES = 1 << 18,
	MAX_LOOKED = 1 << 21,
	MAX_DEPTH = 24,
	MAX_PATHS = 32, /* to one object */
	NAME = 64,
	NO_NODE = UINT32_MAX
};

/* ---- one step ---- */

static bool holds_others(const struct lbx_py_type *type)
{
	return type->kind == LBX_PY_INSTANCE || type->kind == LBX_PY_LIST || type->kind == LBX_PY_TUPLE ||
	       type->kind == LBX_PY_DICT;
}

/* The object is met: `key` leads to it from the node `from`. False: there is no memory. */
static bool meet(struct lbx_py_walk *w, uint64_t object, uint32_t from, enum lbx_py_step step, uint64_t key)
{
	int depth = from == NO_NODE ? 0 : w->nodes[from].depth + 1;
	bool is_wanted = object && w->rules->is_wanted(w->rules->context, object);

	if (++w->looked > w->most_looked) {
		w->is_full = true;
		return true;
	}
	if (depth > MAX_DEPTH) {
		w->is_cut = true;
		return true;
	}
	const struct lbx_py_type *type = is_wanted ? NULL : lbx_py_type_of(w->py, object);
	if (!is_wanted && (!type || !holds_others(type)))
		return true;
	struct lbx_py_place *place = lbx_py_make_place(w, object);
	if (!place)
		return false;
	place->is_member |= step == LBX_PY_MEMBER;
	if (is_wanted ? place->n >= MAX_PATHS : place->n > 0)
		return true;
	return lbx_py_add_node(w, place,
			       &(struct lbx_py_node){ .object = object,
						      .key = key,
						      .function = step == LBX_PY_LOCAL ? w->function : 0,
						      .from = from,
						      .next = NO_NODE,
						      .step = (uint8_t)step,
						      .depth = (uint8_t)depth,
						      .is_wanted = is_wanted });
}

static bool meet_all(struct lbx_py_walk *w, const struct lbx_py_dict *dict, uint32_t from, enum lbx_py_step step)
{
	uint64_t key, value;
	int64_t i = 0;

	while (!w->is_full && lbx_py_dict_next(w->py, dict, &i, &key, &value))
		if (!meet(w, value, from, step, key))
			return false;
	return true;
}

static bool is_elided(const struct lbx_py_walk *w, uint64_t name)
{
	char text[NAME];

	if (!lbx_py_text(w->py, name, text, sizeof text))
		return false;
	for (const char *const *elided = w->rules->elided; *elided; elided++)
		if (strcmp(*elided, text) == 0)
			return true;
	return false;
}

/* `only`: nothing but elided members. */
static bool meet_attributes(struct lbx_py_walk *w, uint32_t from, bool only)
{
	struct lbx_py_dict dict, members;
	uint64_t object = w->nodes[from].object, key, value;
	int64_t i = 0;

	if (!lbx_py_attributes_open(w->py, object, &dict))
		return true;
	while (!w->is_full && lbx_py_dict_next(w->py, &dict, &i, &key, &value)) {
		if (is_elided(w, key) && lbx_py_dict_open(w->py, value, &members)) {
			lbx_py_place_of(w, object)->is_owner = true;
			if (!meet_all(w, &members, from, LBX_PY_MEMBER))
				return false;
		} else if (!only && !meet(w, value, from, LBX_PY_ATTRIBUTE, key)) {
			return false;
		}
	}
	return true;
}

static bool meet_items(struct lbx_py_walk *w, uint32_t from)
{
	uint64_t at, item;
	int64_t n;

	if (!lbx_py_items(w->py, w->nodes[from].object, &at, &n))
		return true;
	for (int64_t i = 0; i < n && !w->is_full; i++) {
		if (!lbx_py_read(w->py, at + (uint64_t)i * sizeof item, &item, sizeof item))
			break;
		if (!meet(w, item, from, LBX_PY_INDEX, (uint64_t)i))
			return false;
	}
	return true;
}

static bool go_through(struct lbx_py_walk *w, uint32_t at)
{
	const struct lbx_py_node node = w->nodes[at];
	const struct lbx_py_type *type = lbx_py_type_of(w->py, node.object);
	struct lbx_py_dict dict;

	if (!type || node.is_wanted)
		return true;
	if (type->kind == LBX_PY_DICT && lbx_py_dict_open(w->py, node.object, &dict) &&
	    !meet_all(w, &dict, at, node.step == LBX_PY_OF_MODULE ? LBX_PY_ATTRIBUTE : LBX_PY_KEY))
		return false;
	return meet_items(w, at) && meet_attributes(w, at, false);
}

static bool go_on(struct lbx_py_walk *w, size_t *done)
{
	for (; *done < w->n && !w->is_full; ++*done)
		if (!go_through(w, (uint32_t)*done))
			return false;
	return true;
}

/* ---- where it begins ---- */

static bool meet_locals(struct lbx_py_walk *w, const struct lbx_py_frame *frame, uint64_t globals_of_main)
{
	struct lbx_py_dict dict;
	uint64_t name, value;
	int i = 0;

	w->function = lbx_py_word(w->py, frame->code + w->py->layout.qualified_name);
	while (lbx_py_local_next(w->py, frame, &i, &name, &value))
		if (!meet(w, value, NO_NODE, LBX_PY_LOCAL, name))
			return false;
	return frame->locals == globals_of_main || frame->locals == frame->globals ||
	       !lbx_py_dict_open(w->py, frame->locals, &dict) || meet_all(w, &dict, NO_NODE, LBX_PY_LOCAL);
}

/* Those of the outermost frames first. */
static bool meet_frames(struct lbx_py_walk *w, uint64_t globals_of_main)
{
	struct lbx_py_frame *frames = NULL;
	struct lbx_py_thread thread;
	bool ok = true;

	for (int i = 0; ok && lbx_py_thread(w->py, i, &thread); i++) {
		struct lbx_py_frame frame;
		size_t n = 0, room = 0;
		bool more = lbx_py_frame_first(w->py, &thread, &frame);
		for (; ok && more && n < LBX_PY_FRAMES; more = lbx_py_frame_next(w->py, &frames[n - 1], &frame)) {
			ok = lb_reserve(frames, room, n + 1) || lb_fail("out of memory for frames of Python");
			if (ok)
				frames[n++] = frame;
			else
				break;
		}
		while (ok && n > 0)
			ok = meet_locals(w, &frames[--n], globals_of_main);
		free(frames);
		frames = NULL;
	}
	return ok;
}

/* Of all modules but __main__. */
static bool meet_modules(struct lbx_py_walk *w, uint64_t interpreter, uint64_t globals_of_main)
{
	struct lbx_py_dict dict;
	uint64_t name, module;
	int64_t i = 0;

	if (!lbx_py_dict_open(w->py, lbx_py_modules(w->py, interpreter), &dict))
		return true;
	while (!w->is_full && lbx_py_dict_next(w->py, &dict, &i, &name, &module)) {
		const struct lbx_py_type *type = lbx_py_type_of(w->py, module);
		uint64_t globals = type && type->kind == LBX_PY_MODULE ? lbx_py_word(w->py, module + type->dict_at) : 0;
		if (globals && globals != globals_of_main && !meet(w, globals, NO_NODE, LBX_PY_OF_MODULE, name))
			return false;
	}
	return true;
}

/* ---- members of members ---- */

/* A member of an instance that is gone through the second time. */
static bool meet_member(struct lbx_py_walk *w, uint64_t object, uint32_t from, uint64_t key)
{
	struct lbx_py_place *place = object ? lbx_py_place_of(w, object) : NULL;
	struct lbx_py_node node = w->nodes[from];

	if (++w->looked > w->most_looked) {
		w->is_full = true;
		return true;
	}
	if (!place || node.depth >= MAX_DEPTH || !place->object || place->is_done || place->first == NO_NODE)
		return true;
	bool is_wanted = w->nodes[place->first].is_wanted;
	if (!is_wanted && !place->is_owner)
		return true;
	place->is_done = true;
	uint32_t before = place->first;
	node = (struct lbx_py_node){ .object = object,
				     .key = key,
				     .from = from,
				     .next = NO_NODE,
				     .step = LBX_PY_MEMBER,
				     .depth = (uint8_t)(node.depth + 1),
				     .is_wanted = is_wanted };
	size_t n = w->n;
	if (!lbx_py_add_node(w, place, &node))
		return false;
	if (is_wanted && w->n > n) { /* to the front */
		w->nodes[n].next = before;
		w->nodes[place->last].next = NO_NODE;
		place->first = (uint32_t)n;
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
		if (!is_elided(w, name) || !lbx_py_dict_open(w->py, value, &members))
			continue;
		for (int64_t k = 0; !w->is_full && lbx_py_dict_next(w->py, &members, &k, &key, &member);)
			if (!meet_member(w, member, at, key))
				return false;
	}
	return true;
}

static bool go_through_owners(struct lbx_py_walk *w)
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

/* ---- all of it ---- */

static void allow(struct lbx_py_walk *w, size_t nodes, uint64_t looked)
{
	w->is_cut |= w->is_full;
	w->is_full = false;
	w->most_nodes = w->n + nodes;
	w->most_looked = w->looked + looked;
}

static bool walk(struct lbx_py_walk *w)
{
	uint64_t interpreter = lbx_py_interpreter(w->py, 0);
	uint64_t globals = lbx_py_globals(w->py, interpreter, "__main__");
	struct lbx_py_dict dict;
	size_t done = 0;

	allow(w, MAX_NODES, MAX_LOOKED);
	if ((lbx_py_dict_open(w->py, globals, &dict) && !meet_all(w, &dict, NO_NODE, LBX_PY_GLOBAL)) ||
	    !meet_frames(w, globals) || !go_on(w, &done))
		return false;
	allow(w, MAX_NODES / 2, MAX_LOOKED / 2);
	done = w->n;
	if (!meet_modules(w, interpreter, globals) || !go_on(w, &done))
		return false;
	allow(w, MAX_NODES / 2, MAX_LOOKED / 2);
	bool ok = go_through_owners(w);
	w->is_cut |= w->is_full;
	return ok;
}

bool lbx_py_walk_start(struct lbx_python *py, const struct lbx_py_rules *rules, struct lbx_py_walk *ret)
{
	*ret = (struct lbx_py_walk){ .py = py, .rules = rules };
	if (walk(ret))
		return true;
	lbx_py_walk_end(ret);
	return false;
}

void lbx_py_walk_end(struct lbx_py_walk *walk)
{
	free(walk->nodes);
	free(walk->places);
	*walk = (struct lbx_py_walk){ .n = 0 };
}

uint32_t lbx_py_walk_find(const struct lbx_py_walk *walk, uint64_t object)
{
	const struct lbx_py_place *place = walk->places_room ? lbx_py_place_of(walk, object) : NULL;

	return place && place->object && place->first != NO_NODE && walk->nodes[place->first].is_wanted ? place->first
													: NO_NODE;
}
