#include "plugin/symbols/census.h"

#include <string.h>

void lbx_census_take(struct lbx_census *ret, struct lbx_table *table)
{
	struct lbx_root root;

	*ret = (struct lbx_census){ 0 };
	if (table && lbx_table_root(table, &root) && !root.uncounted[0])
		*ret = (struct lbx_census){ root.address, root.pid, root.counters.created, root.counters.freed,
					    root.counters.ops };
}

bool lbx_census_changed(const struct lbx_census *census, struct lbx_table *table)
{
	struct lbx_census now;

	lbx_census_take(&now, table);
	return now.root && memcmp(&now, census, sizeof(now)) != 0;
}
