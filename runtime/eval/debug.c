/* A debugger's evaluation runs on a thread that may have stopped anywhere: inside malloc, or with
 * one of our locks held by it or by another thread, none of which goes on meanwhile. So it
 * takes no lock, calls no allocator but mmap, fires no probe, and never waits; where it cannot go
 * on it says why. What it claims is kept in static memory: should the debugger drop the call
 * halfway, its next call, or whoever meets a claim of it, gives all of them back. */
#include "eval/debug.h"

#include <string.h>

#include "eval/eval.h"
#include "eval/run.h"
#include "memory/thread.h"
#include "publish/flight.h"
#include "publish/root.h"

static struct {
	bool active;
	struct lb_run run;
	struct lb_arena arena;
	struct lb_thread *record;
} current;

static void end_current(void)
{
	lb_arena_destroy(&current.arena);
	current.active = false;
	lb_count(&lb_counters.evals, 1);
}

bool lb_debug_abandon(uint64_t eval)
{
	if (!current.active || current.run.schedule.eval != eval)
		return false;
	struct lb_schedule *s = &current.run.schedule;
	for (uint32_t i = 0; i < s->n; i++) {
		struct lb_tensor *t = s->steps[i].tensor;
		if (!s->steps[i].finished && t->seq & 1)
			lb_record_end(&t->seq);
	}
	lb_schedule_abandon(s, current.run.drop);
	current.record->eval = current.record->tensor = 0;
	end_current();
	return true;
}

static struct lb_tensor *find_by_id(uint64_t id)
{
	struct lb_tensor *t;
	for (uint64_t slot = 0; (t = lb_slab_at(LB_KIND_TENSOR, slot)); slot++) {
		if (t->id == id && lb_tensor_state(t) != LB_STATE_FREED)
			return t;
	}
	return NULL;
}

/* The message of a failure that was not there before, in memory that stays. */
static const char *failure(bool had_error)
{
	static char why[LB_ERROR_MAX];
	if (had_error)
		return "the evaluation failed; an earlier error of this thread hides why";
	strncpy(why, lb_error_message(), sizeof why - 1);
	lb_clear_error();
	return why;
}

const char *lb_debug_eval(uint64_t id)
{
	struct lb_self *self = lb_self_pointer;
	if (!self)
		return "this thread has not used tensors yet; select one that has";
	if (current.active)
		lb_debug_abandon(current.run.schedule.eval);
	struct lb_tensor *t = find_by_id(id);
	if (!t)
		return "there is no tensor with this id";
	if (t->seq & 1)
		return "the tensor's record is being changed; let the program run on a little";
	if (lb_tensor_state(t) == LB_STATE_READY)
		return NULL;

	bool had_error = !lb_ok();
	struct lb_run *run = &current.run;
	current.arena.plain = true;
	lb_run_init(run, &current.arena, true);
	run->schedule.eval = lb_evaluation_number();
	run->schedule.takes_all = run->schedule.plain = true;
	current.record = self->record;
	current.active = true;
	const char *refusal = NULL;
	switch (lb_schedule_build(&run->schedule, 1, &t)) {
	case LB_BUSY:
	case LB_MET_FAILURE:
		refusal = "an evaluation that is under way computes it, or something it needs; let the "
			  "program finish that first, or use peek";
		break;
	case LB_BUILT:
		lb_flight_clock();
		if (!lb_run_schedule(run, self->record))
			refusal = failure(had_error);
		break;
	case LB_BUILD_FAILED: refusal = failure(had_error); break;
	}
	end_current();
	return refusal;
}
