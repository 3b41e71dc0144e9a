/* Each object that holds others becomes a node when it is first met, and is gone through once, in the order in which they
 * were met; what is wanted becomes a node each time. So a node's way back to a variable is a shortest one, and ends. */
#include "python/met.h"

#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "python/dict.h"
#include "python/frames.h"
#include "python/members.h"

enum {
	MAX_NODES = 1 << 18,
	MAX_LOOKED = 1 << 21,
	FIRST_PARTS = 1024, /* of one object */
	MAX_PATHS = 32, /* to one object */
	NO_NODE = UINT32_MAX
};

/* ---- one step ---- */

static bool holds_others(const struct lbx_py_type *type)
{
	return type->kind == LBX_PY_INSTANCE || type->kind == LBX_PY_LIST || type->kind == LBX_PY_TUPLE ||
	       type->kind == LBX_PY_DICT;
}

/* Of a list or dict that is a member, as a module's `layers`. */
static bool is_within_member(const struct lbx_py_walk *w, uint32_t from, enum lbx_py_step step)
{
	return w->rules->members_of && from != NO_NODE && (step == LBX_PY_INDEX || step == LBX_PY_KEY) &&
	       lbx_py_is_member(w, from);
}

/* A module's part that is a module, too, and may be in no list of modules, as those of C: its variables, and its name. */
static bool is_inner_module(const struct lbx_py_walk *w, const struct lbx_py_type *type, uint64_t *object,
			    uint64_t *name)
{
	struct lbx_py_dict dict;
	uint64_t globals = type->kind == LBX_PY_MODULE ? lbx_py_word(w->py, *object + type->dict_at) : 0;

	if (!globals || globals == w->main || !lbx_py_dict_open(w->py, globals, &dict))
		return false;
	*object = globals;
	*name = lbx_py_dict_find(w->py, &dict, "__name__");
	return *name != 0;
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
	if (depth > LBX_PY_DEPTH) {
		w->is_cut = true;
		return true;
	}
	const struct lbx_py_type *type = is_wanted ? NULL : lbx_py_glance_at_type(w->py, object);
	bool is_inner = type && step == LBX_PY_ATTRIBUTE && w->nodes[from].step == LBX_PY_OF_MODULE &&
			is_inner_module(w, type, &object, &key);
	if (is_inner) {
		type = lbx_py_type_of(w->py, object);
		from = NO_NODE;
		step = LBX_PY_OF_MODULE;
		depth = 0;
	}
	if (!is_wanted && (!type || !holds_others(type)))
		return true;
	struct lbx_py_place *place = lbx_py_make_place(w, object);
	if (!place)
		return false;
	place->is_member |= step == LBX_PY_MEMBER || is_within_member(w, from, step);
	if (is_wanted ? place->n >= MAX_PATHS : place->n > 0)
		return true;
	if (step != LBX_PY_INDEX)
		lbx_py_word(w->py, key); /* what it is called by is kept from now on, whatever becomes of it */
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

static bool meet_attributes(struct lbx_py_walk *w, uint32_t from)
{
	struct lbx_py_dict dict, members;
	uint64_t object = w->nodes[from].object, key, value;
	int64_t i = 0;

	if (!lbx_py_attributes_open(w->py, object, &dict))
		return true;
	while (!w->is_full && lbx_py_dict_next(w->py, &dict, &i, &key, &value)) {
		if (lbx_py_is_elided(w, key) && lbx_py_dict_open(w->py, value, &members)) {
			lbx_py_place_of(w, object)->is_owner = true;
			if (!meet_all(w, &members, from, LBX_PY_MEMBER))
				return false;
		} else if (!meet(w, value, from, LBX_PY_ATTRIBUTE, key)) {
			return false;
		}
	}
	return true;
}

/* ---- what a dict, list or tuple holds: from *i on, `most` of it; *ret_more: there is more, behind *i ---- */

static bool meet_entries(struct lbx_py_walk *w, uint32_t from, int64_t *i, int64_t most, bool *ret_more)
{
	enum lbx_py_step step = w->nodes[from].step == LBX_PY_OF_MODULE ? LBX_PY_ATTRIBUTE : LBX_PY_KEY;
	struct lbx_py_dict dict;
	uint64_t key, value;

	if (!lbx_py_mapping_open(w->py, w->nodes[from].object, &dict))
		return true;
	if (lbx_py_has_members(w, w->nodes[from].object)) {
		lbx_py_place_of(w, w->nodes[from].object)->is_owner = true;
		step = LBX_PY_MEMBER;
	}
	for (int64_t end = *i < INT64_MAX - most ? *i + most : INT64_MAX; *i < end && !w->is_full;) {
		if (!lbx_py_dict_next(w->py, &dict, i, &key, &value))
			return true;
		if (!meet(w, value, from, step, key))
			return false;
	}
	*ret_more = *i < dict.n;
	return true;
}

static bool meet_items(struct lbx_py_walk *w, uint32_t from, int64_t *i, int64_t most, bool *ret_more)
{
	uint64_t at, item;
	int64_t n;

	if (!lbx_py_items(w->py, w->nodes[from].object, &at, &n))
		return true;
	for (int64_t end = n - *i > most ? *i + most : n; *i < end && !w->is_full; ++*i) {
		if (!lbx_py_read(w->py, at + (uint64_t)*i * sizeof item, &item, sizeof item))
			return true;
		if (!meet(w, item, from, LBX_PY_INDEX, (uint64_t)*i))
			return false;
	}
	*ret_more = *i < n;
	return true;
}

static bool meet_parts(struct lbx_py_walk *w, uint32_t from, int64_t i, int64_t most)
{
	const struct lbx_py_type *type = lbx_py_type_of(w->py, w->nodes[from].object);
	bool more = false;

	if (!type) /* it is not read again, as it was when it was met */
		return true;
	bool has_items = type->kind == LBX_PY_LIST || type->kind == LBX_PY_TUPLE;
	if (!(has_items ? meet_items : meet_entries)(w, from, &i, most, &more))
		return false;
	if (!more || w->is_full)
		return true;
	if (!lb_reserve(w->rests, w->rests_room, w->n_rests + 1))
		return lb_fail("out of memory for %zu objects of Python", w->n);
	w->rests[w->n_rests++] = (struct lbx_py_rest){ .node = from, .at = i };
	return true;
}

static bool go_through(struct lbx_py_walk *w, uint32_t at)
{
	if (!lbx_py_type_of(w->py, w->nodes[at].object) || w->nodes[at].is_wanted)
		return true;
	return meet_parts(w, at, 0, FIRST_PARTS) && meet_attributes(w, at);
}

/* All nodes from *done on, and what they lead to. What is large waits until the others have been gone through, so that a
 * table of a million rows does not hide a model. */
static bool go_on(struct lbx_py_walk *w, size_t *done)
{
	int64_t most = FIRST_PARTS;

	w->n_rests = 0;
	for (;;) {
		for (; *done < w->n && !w->is_full; ++*done)
			if (!go_through(w, (uint32_t)*done))
				return false;
		if (w->n_rests == 0 || w->is_full)
			return true;
		size_t n = w->n_rests;
		most *= 4;
		for (size_t i = 0; i < n && !w->is_full; i++)
			if (!meet_parts(w, w->rests[i].node, w->rests[i].at, most))
				return false;
		memmove(w->rests, w->rests + n, (w->n_rests - n) * sizeof *w->rests);
		w->n_rests -= n;
	}
}

/* ---- where it begins ---- */

static bool meet_locals(struct lbx_py_walk *w, const struct lbx_py_frame *frame, uint64_t globals_of_main)
{
	struct lbx_py_dict dict;
	uint64_t name, value;
	int i = 0;

	w->function = lbx_py_word(w->py, frame->code + w->py->layout.qualified_name);
	while (!w->is_full && lbx_py_local_next(w->py, frame, &i, &name, &value))
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

	for (int i = 0; ok && !w->is_full && lbx_py_thread(w->py, i, &thread); i++) {
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

	w->main = globals;
	allow(w, MAX_NODES, MAX_LOOKED);
	if ((lbx_py_dict_open(w->py, globals, &dict) && !meet_all(w, &dict, NO_NODE, LBX_PY_GLOBAL)) ||
	    !meet_frames(w, globals) || !go_on(w, &done))
		return false;
	allow(w, MAX_NODES / 2, MAX_LOOKED / 2);
	done = w->n;
	if (!meet_modules(w, interpreter, globals) || !go_on(w, &done))
		return false;
	allow(w, MAX_NODES / 2, MAX_LOOKED / 2);
	bool ok = lbx_py_walk_members(w);
	w->is_cut |= w->is_full;
	return ok;
}

bool lbx_py_walk_start(struct lbx_python *py, const struct lbx_py_rules *rules, struct lbx_py_walk *ret)
{
	*ret = (struct lbx_py_walk){ .py = py, .rules = rules };
	lbx_py_allow(py, LBX_PY_READS);
	if (walk(ret) && lbx_python_goes_on(py)) {
		ret->is_cut |= lbx_py_is_spent(py);
		lbx_py_allow(py, LBX_PY_READS);
		return true;
	}
	lbx_py_walk_end(ret);
	return false;
}

void lbx_py_walk_end(struct lbx_py_walk *walk)
{
	free(walk->nodes);
	free(walk->places);
	free(walk->rests);
	*walk = (struct lbx_py_walk){ .n = 0 };
}

uint32_t lbx_py_walk_find(const struct lbx_py_walk *walk, uint64_t object)
{
	const struct lbx_py_place *place = walk->places_room ? lbx_py_place_of(walk, object) : NULL;

	return place && place->object && place->first != NO_NODE && walk->nodes[place->first].is_wanted ? place->first
													: NO_NODE;
}
