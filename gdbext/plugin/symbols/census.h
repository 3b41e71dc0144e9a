/* Whether tensors have come, gone or been computed since gdb was told of them. */
#ifndef LBX_PLUGIN_CENSUS_H
#define LBX_PLUGIN_CENSUS_H

#include "table/table.h"

/* All 0: never. */
struct lbx_census {
	uint64_t root, pid, created, freed, ops;
};

/* All 0 when the root cannot be read; the table may be NULL. */
void lbx_census_take(struct lbx_census *ret, struct lbx_table *table);
/* False also when the root cannot be read. */
bool lbx_census_changed(const struct lbx_census *census, struct lbx_table *table);

#endif
