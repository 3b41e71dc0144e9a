/* Memory that holds NaN or Inf, as far as nodes have written it: which of those that come up are new. It is known by
 * address, not by tensor: memory is used again, and what is written over is forgotten. */
#ifndef LBX_PLUGIN_TAINTED_H
#define LBX_PLUGIN_TAINTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges of bytes by address, apart from each other. */
struct lbx_tainted {
	struct lbx_tainted_range {
		uint64_t start, end;
	} *list;
	size_t n, room;
};

/* False without memory; then the set is as it was. */
bool lbx_tainted_add(struct lbx_tainted *set, uint64_t start, uint64_t end);
bool lbx_tainted_remove(struct lbx_tainted *set, uint64_t start, uint64_t end);
/* Whether any byte of the range is in the set. */
bool lbx_tainted_has(const struct lbx_tainted *set, uint64_t start, uint64_t end);
void lbx_tainted_clear(struct lbx_tainted *set);

#endif
