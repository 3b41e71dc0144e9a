#include "python/met.h"

#include "base/error.h"
#include "base/mix.h"
#include "base/vector.h"

struct lbx_py_place *lbx_py_place_of(const struct lbx_py_walk *w, uint64_t object)
{
	size_t i = lb_mix(object) & (w->places_room - 1);

	while (w->places[i].object && w->places[i].object != object)
		i = (i + 1) & (w->places_room - 1);
	return &w->places[i];
}

struct lbx_py_place *lbx_py_make_place(struct lbx_py_walk *w, uint64_t object)
{
	if (w->n_places >= w->places_room / 2) {
		struct lbx_py_walk more = { .places_room = w->places_room ? 2 * w->places_room : 4096 };
		more.places = calloc(more.places_room, sizeof *more.places);
		if (!more.places) {
			lb_fail("out of memory for %zu objects of Python", w->n_places);
			return NULL;
		}
		for (size_t i = 0; i < w->places_room; i++)
			if (w->places[i].object)
				*lbx_py_place_of(&more, w->places[i].object) = w->places[i];
		free(w->places);
		w->places = more.places;
		w->places_room = more.places_room;
	}
	struct lbx_py_place *place = lbx_py_place_of(w, object);
	if (!place->object) {
		*place = (struct lbx_py_place){ .object = object, .first = UINT32_MAX, .last = UINT32_MAX };
		w->n_places++;
	}
	return place;
}

bool lbx_py_add_node(struct lbx_py_walk *w, struct lbx_py_place *place, const struct lbx_py_node *node)
{
	if (w->n >= w->most_nodes) {
		w->is_full = true;
		return true;
	}
	if (!lb_reserve(w->nodes, w->room, w->n + 1))
		return lb_fail("out of memory for %zu objects of Python", w->n);
	w->nodes[w->n] = *node;
	if (place->last == UINT32_MAX)
		place->first = (uint32_t)w->n;
	else
		w->nodes[place->last].next = (uint32_t)w->n;
	place->last = (uint32_t)w->n++;
	place->n++;
	return true;
}
