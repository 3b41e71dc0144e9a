/* Step mode: evaluations through code that a debugger can step through. See step.c. */
#ifndef LB_EVAL_STEP_H
#define LB_EVAL_STEP_H

#include "eval/run.h"
#include "publish/root.h"

/* 0: built without, to measure what it costs where it is off. */
#ifndef LB_STEP
#define LB_STEP 1
#endif

/* The mode of an evaluation that begins now. */
static inline uint32_t lb_step_wanted(void)
{
	return !LB_STEP ? LB_STEP_OFF : __atomic_load_n(&lb_root->step, __ATOMIC_RELAXED);
}

/* Runs a schedule in the run's mode; *ok is false if an op failed. False, without an error, when
 * there is no code for it: then nothing has run. */
bool lb_step_through(struct lb_run *run, struct lb_thread *record, bool *ok);

/* Takes a listing, from malloc, that is no schedule's: debuggers find it among the graphs. */
void lb_step_keep(struct lb_listing *listing);

/* fork() must find the graphs whole: called around it. */
void lb_step_lock(void);
void lb_step_unlock(void);
/* In place of the latter in the child: other threads' evaluations do not go on. */
void lb_step_after_fork(void);

#endif
