/* The evaluations that the flight recorder remembers, thread by thread. */
#ifndef LBX_EVALUATIONS_H
#define LBX_EVALUATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_case; /* diagnose/case.h */

struct lbx_evaluation {
	uint32_t thread;
	bool is_implicit; /* reading a value has caused it */
	uint64_t eval;    /* its number */
	uint64_t site;    /* return address of the call */
	int64_t ops;      /* that it ran */
};

struct lbx_evaluations {
	size_t n, room;
	struct lbx_evaluation *list; /* those of a thread together, in the order in which they ended */
};

/* Found at the first call, and kept by the case. NULL, with an error, without memory. */
const struct lbx_evaluations *lbx_case_evaluations(struct lbx_case *c);
/* How many from i on are of the same thread. */
size_t lbx_evaluations_of_thread(const struct lbx_evaluations *e, size_t i);

#endif
