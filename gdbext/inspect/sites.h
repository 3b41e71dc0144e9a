/* Memory by the places in the program that made the tensors. */
#ifndef LBX_SITES_H
#define LBX_SITES_H

#include "inspect/command.h"

struct lbx_site {
	uint64_t pc;
	int64_t bytes;   /* of the ready tensors that are no views */
	uint64_t ready, lazy;
};

struct lbx_sites {
	size_t n;
	struct lbx_site *list; /* the one with the most bytes first */
	int64_t bytes;         /* of all */
};

bool lbx_sites_collect(struct lbx_context *context, struct lbx_sites *ret);
void lbx_sites_deinit(struct lbx_sites *sites);

#endif
