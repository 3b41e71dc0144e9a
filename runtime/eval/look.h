/* What a debugger has asked to look for in computed values. */
#ifndef LB_EVAL_LOOK_H
#define LB_EVAL_LOOK_H

#include "eval/journal.h"
#include "eval/schedule.h"
#include "probes.h"

void lb_look_closely(const struct lb_step *step);
void lb_compare_name(struct lb_tensor *t);

/* Before a probe of this tensor fires: which of the debuggers' patterns its name matches. */
static inline void lb_look_at_name(struct lb_tensor *t)
{
	if (__builtin_expect(lb_watched(0) & LB_WATCH_NAMES, 0))
		lb_compare_name(t);
}

/* Whether LAZYBONES_NAN says so. */
static inline bool lb_looks_for_nan(void)
{
	return __builtin_expect(__atomic_load_n(&lb_root->nan, __ATOMIC_RELAXED) != 0, 0);
}

/* At the value of a step that has run, before others may release it. */
static inline void lb_look_at(const struct lb_step *step)
{
	lb_look_at_name(step->tensor);
	if (__builtin_expect((lb_watched(step->tensor->watch) & (LB_WATCH_NAN | LB_WATCH_RANGE)) || lb_probe_nan_on() ||
				 lb_journal_on() || lb_looks_for_nan(),
			     0))
		lb_look_closely(step);
}

#endif
