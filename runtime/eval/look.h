/* What a debugger has asked to look for in computed values. */
#ifndef LB_EVAL_LOOK_H
#define LB_EVAL_LOOK_H

#include "eval/schedule.h"
#include "probes.h"

void lb_look_closely(const struct lb_step *step);

/* At the value of a step that has run, before others may release it. */
static inline void lb_look_at(const struct lb_step *step)
{
	if (__builtin_expect((lb_watched(step->tensor->watch) & (LB_WATCH_NAN | LB_WATCH_RANGE)) ||
			     lb_probe_nan_on(), 0))
		lb_look_closely(step);
}

#endif
