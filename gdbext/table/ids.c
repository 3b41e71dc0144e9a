#include "table/ids.h"

#include <stdlib.h>

#include "base/vector.h"

bool lbx_ids_add(struct lbx_ids *ids, uint64_t id, uint64_t address)
{
	if (!lb_reserve(ids->list, ids->room, ids->n + 1))
		return false;
	ids->list[ids->n++] = (struct lbx_id_place){ id, address };
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct lbx_id_place *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

void lbx_ids_sort(struct lbx_ids *ids)
{
	if (ids->n)
		qsort(ids->list, ids->n, sizeof *ids->list, by_id);
	ids->is_built = true;
}

uint64_t lbx_ids_find(const struct lbx_ids *ids, uint64_t id)
{
	struct lbx_id_place key = { .id = id };
	const struct lbx_id_place *found = ids->n ? bsearch(&key, ids->list, ids->n, sizeof *ids->list, by_id) : NULL;

	return found ? found->address : 0;
}

void lbx_ids_deinit(struct lbx_ids *ids)
{
	free(ids->list);
	*ids = (struct lbx_ids){ 0 };
}
