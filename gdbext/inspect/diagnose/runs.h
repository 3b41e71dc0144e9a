/* Evaluations in a row by one call, each of next to nothing. */
#ifndef LBX_RUNS_H
#define LBX_RUNS_H

#include "inspect/diagnose/rule.h"

enum { LBX_RUN_LEAST = 64, LBX_RUN_HIGH = 1024, LBX_RUN_OPS = 3 };

struct lbx_small_run {
	uint32_t thread;
	uint64_t site;
	size_t n;
	int64_t most_ops;
};

/* Adds a finding for the longest run of each call, as `say` tells it: those that reading values caused, or the others. */
bool lbx_find_runs(struct lbx_case *c, bool is_implicit,
		   void (*say)(struct lbx_diagnosed *f, const struct lbx_small_run *run));

#endif
