#include "inspect/trace/tallies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void lbx_tallies_deinit(struct lbx_tallies *tallies)
{
	free(tallies->list);
	free(tallies->places);
	*tallies = (struct lbx_tallies){ 0 };
}

void lbx_tallies_clear(struct lbx_tallies *tallies)
{
	tallies->n = 0;
	tallies->others = (struct lbx_tally){ 0 };
	if (tallies->places)
		memset(tallies->places, 0, 2 * (size_t)tallies->room * sizeof *tallies->places);
}

/* Where a key's number is, or is to be. */
static uint32_t *place_of(struct lbx_tallies *tallies, uint64_t key)
{
	size_t mask = 2 * (size_t)tallies->room - 1;
	size_t at = (key * 0x9e3779b97f4a7c15 >> 32) & mask;

	while (tallies->places[at] && tallies->list[tallies->places[at] - 1].key != key)
		at = (at + 1) & mask;
	return &tallies->places[at];
}

static bool make_room(struct lbx_tallies *tallies)
{
	uint32_t room = tallies->room ? 2 * tallies->room : 64;

	if (tallies->n < tallies->room)
		return true;
	if (room > LBX_TALLIES_MAX)
		return false;
	struct lbx_tally *list = realloc(tallies->list, room * sizeof *list);
	if (list)
		tallies->list = list;
	uint32_t *places = list ? calloc(2 * (size_t)room, sizeof *places) : NULL;
	if (!places)
		return false;
	free(tallies->places);
	tallies->places = places;
	tallies->room = room;
	for (uint32_t i = 0; i < tallies->n; i++)
		*place_of(tallies, list[i].key) = i + 1;
	return true;
}

void lbx_tallies_add(struct lbx_tallies *tallies, uint64_t key, uint64_t ns)
{
	struct lbx_tally *tally = &tallies->others;
	bool has_room = make_room(tallies);
	uint32_t *place = tallies->room ? place_of(tallies, key) : NULL;

	if (place && *place == 0 && has_room) {
		tallies->list[tallies->n++] = (struct lbx_tally){ .key = key };
		*place = tallies->n;
	}
	if (place && *place)
		tally = &tallies->list[*place - 1];
	tally->count++;
	tally->ns += ns;
}

static int by_time(const void *a, const void *b)
{
	const struct lbx_tally *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

void lbx_tallies_sort(struct lbx_tallies *tallies)
{
	if (tallies->n)
		qsort(tallies->list, tallies->n, sizeof *tallies->list, by_time);
}
