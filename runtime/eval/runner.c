/* Runs the steps of a schedule one at a time: computes a step's group, tells the probes, settles what the
 * group alone needed. attempt.c decides in which order, or step.c for a debugger. */
#include "eval/eval.h"
#include "eval/look.h"
#include "eval/run.h"
#include "eval/wait.h"
#include "graph/program.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/root.h"

__thread struct lb_run *lb_innermost_run;

static void release_inputs(struct lb_run *run, struct lb_tensor *t)
{
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lb_step *input = lb_schedule_step(&run->schedule, lb_tensor_input(t, i));
		if (!input || (lb_is_constant(input->tensor) && lb_op_is_elementwise(t->op)))
			continue;
		if (--input->remaining == 0 && !input->stays && !input->finished) {
			input->finished = true;
			lb_tensor_to_lazy(input->tensor, run->drop);
		}
	}
}

static uint32_t last_op(const struct lb_tensor *t)
{
	const struct lb_program *program = t->op == LB_OP_FUSED ? lb_tensor_program(t) : NULL;
	return program ? program->insns[program->n_insns - 1].op : t->op;
}

/* The step has run: what only it needed goes, and its own value stays, or is kept for its
 * consumers, or was never made. */
static void settle(struct lb_run *run, struct lb_step *step)
{
	struct lb_tensor *t = step->tensor;
	/* once it is ready, another thread may release it */
	uint64_t id = t->id, site = t->site;
	uint32_t watched = lb_watched(t->watch), op = watched ? last_op(t) : 0;
	release_inputs(run, t);
	t->computed += !run->plain;
	if (step->stays) {
		step->finished = true;
		if (step->unasked)
			__atomic_fetch_or(&t->flags, LB_FLAG_UNASKED, __ATOMIC_RELAXED);
		if (!run->plain && !run->traced)
			lb_tensor_detach(t);
		__atomic_store_n(&t->state, LB_STATE_READY, __ATOMIC_RELEASE);
	} else if (!step->stored && lb_op_class(t->op) != LB_CLASS_VIEW) {
		step->finished = true;
		lb_tensor_to_lazy(t, run->drop);
	}
	if ((watched & LB_WATCH_EVAL) && !run->plain)
		lb_probe_eval_tensor(id, (uint64_t)(uintptr_t)t, site, op);
}

/* Members from the first to the head; a member may be freed as soon as the head is settled. */
static void finish_group(struct lb_run *run, struct lb_step *head)
{
	struct lb_step *steps = run->schedule.steps;
	for (uint32_t m = head->next; m != LB_NO_STEP && !run->plain; m = steps[m].next)
		lb_look_at(&steps[m]);
	if (!run->plain)
		lb_look_at(head);
	for (uint32_t m = head->next; m != LB_NO_STEP; m = steps[m].next)
		settle(run, &steps[m]);
	settle(run, head);
}

static void tell_start(struct lb_tensor *t, uint32_t op, int64_t members, uint64_t site)
{
	lb_look_at_name(t);
	lb_probe_op_start(t->id, (uint64_t)(uintptr_t)t, op, members, (uint64_t)(uintptr_t)lb_ops[op].name, site);
}

/* A debugger that looks at each operation sees those of a fused tensor, too. */
static inline bool is_apart(const struct lb_run *run, const struct lb_tensor *t)
{
	return t->op == LB_OP_FUSED && !run->plain && (lb_watched(t->watch) & LB_WATCH_EVAL);
}

static inline __attribute__((always_inline)) void begin_step(struct lb_run *run, const struct lb_step *step,
							     struct lb_thread *record, struct lb_under_way *u)
{
	enum { TIME_FROM = 1 << 16 };
	struct lb_tensor *t = step->tensor;

	u->steps = run->schedule.groups[step - run->schedule.steps].insns;
	u->members = t->op == LB_OP_FUSED ? lb_tensor_program(t)->n_insns : u->steps;
	u->start = t->size >= TIME_FROM || lb_event_mode(LB_EVENTS_TIMED) ? lb_flight_clock() : 0;
	u->mark = lb_arena_mark(run->arena);
	record->at_once = (uint64_t)u->steps;
	record->tensor = t->id;
	u->apart = is_apart(run, t);
	if (!run->plain && !u->apart)
		tell_start(t, t->op, u->members, t->site);
}

static inline __attribute__((always_inline)) bool end_step(struct lb_run *run, struct lb_step *step,
							   struct lb_thread *record, const struct lb_under_way *u,
							   bool ok)
{
	struct lb_tensor *t = step->tensor;

	uint64_t ns = u->start ? lb_flight_clock() - u->start : 0;

	if (ns)
		t->eval_ns = ns;
	if (!run->plain)
		lb_probe_op_done(t->id, (uint64_t)(uintptr_t)t, u->apart ? last_op(t) : t->op, ok, ns);
	if (ok) /* else it may have memory, but has no value */
		record->tensor = 0;
	record->done += (uint64_t)u->steps;
	lb_arena_reset(run->arena, u->mark);
	if (!ok)
		return false;
	lb_count(&lb_counters.ops, (uint64_t)u->members);
	if (u->members > 1 && !u->apart)
		lb_count(&lb_counters.fused, (uint64_t)u->members);
	finish_group(run, step);
	return true;
}

static bool run_insn(struct lb_run *run, struct lb_tensor *t, int k, void **registers, const struct lb_under_way *u)
{
	const struct lb_program *program = lb_tensor_program(t);
	uint32_t op = program->insns[k].op;

	if (u->apart)
		tell_start(t, op, k + 1 == program->n_insns, program->sites[k] ? program->sites[k] : t->site);
	bool ok = lb_run_insn(run, t, k, registers);
	if (u->apart && k + 1 < program->n_insns)
		lb_probe_op_done(t->id, (uint64_t)(uintptr_t)t, op, ok, 0);
	return ok;
}

static bool run_apart(struct lb_run *run, struct lb_tensor *t, const struct lb_under_way *u)
{
	void *registers[LB_FUSE_REGS];
	bool ok = true;
	for (int k = 0; k < lb_tensor_program(t)->n_insns && ok; k++)
		ok = run_insn(run, t, k, registers, u);
	return ok;
}

static inline __attribute__((always_inline)) bool run_step(struct lb_run *run, struct lb_step *step,
							   struct lb_thread *record)
{
	struct lb_tensor *t = step->tensor;
	struct lb_under_way under_way;

	begin_step(run, step, record, &under_way);
	bool chain = lb_op_is_elementwise(t->op) || t->op == LB_OP_FUSED;
	bool ok = under_way.apart ? run_apart(run, t, &under_way)
		  : chain         ? lb_run_chain(run, step)
				  : lb_run_single(run, t);
	return end_step(run, step, record, &under_way, ok);
}

static bool note_failure(struct lb_run *run, struct lb_tensor *t, bool ok)
{
	if (!ok && !lb_stopping())
		run->failed = t;
	return ok;
}

static bool may_go_on(const struct lb_run *run)
{
	return !(run->stops && lb_stopping());
}

bool lb_run_group(struct lb_run *run, uint32_t index, struct lb_thread *record)
{
	struct lb_step *step = &run->schedule.steps[index];
	struct lb_tensor *t = step->tensor;

	return note_failure(run, t, may_go_on(run) && run_step(run, step, record));
}

bool lb_run_group_insn(struct lb_run *run, uint32_t index, int k, struct lb_thread *record,
		       struct lb_under_way *under_way, void **registers)
{
	struct lb_step *step = &run->schedule.steps[index];
	struct lb_tensor *t = step->tensor;
	bool last = k + 1 == lb_tensor_program(t)->n_insns;

	if (k == 0)
		begin_step(run, step, record, under_way);
	bool ok = may_go_on(run) && run_insn(run, t, k, registers, under_way);
	if (last || !ok)
		ok = end_step(run, step, record, under_way, ok);
	return note_failure(run, t, ok);
}
