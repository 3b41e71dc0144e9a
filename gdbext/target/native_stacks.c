/* Threads from the core's notes or from ptrace; frames from libunwind, or from libdwfl where
 * that gets further; variables from DWARF. */
#include "target/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "lazybones.h"
#include "target/core.h"
#include "target/expression.h"
#include "target/hold.h"
#include "target/inlined.h"
#include "target/lines.h"
#include "target/printable.h"
#include "target/process.h"
#include "target/unwind.h"
#include "target/variables.h"

struct stacks {
	struct lbx_stacks base;
	struct lbx_target *target;
	struct lbx_lines *lines;
	bool is_core;
	uint64_t thread; /* that was chosen; 0: none */
	int frame;       /* likewise; -1: none */
};

static struct stacks *stacks_of(struct lbx_stacks *stacks)
{
	return (struct stacks *)stacks;
}

static const struct lbx_threads *threads_of(struct stacks *s)
{
	if (s->is_core)
		return lbx_core_threads(s->target);
	const struct lbx_hold *hold = lbx_process_hold(s->target);
	return hold ? lbx_hold_threads(hold) : NULL;
}

static int threads(struct lbx_stacks *stacks, uint64_t *tids, int max)
{
	const struct lbx_threads *list = threads_of(stacks_of(stacks));

	if (!list)
		return -1;
	int n = 0;
	uint64_t chosen = stacks_of(stacks)->thread;
	for (int i = 0; i < list->n && chosen && max && n == 0; i++)
		if (list->list[i].tid == chosen)
			tids[n++] = chosen;
	for (int i = 0; i < list->n && n < max; i++)
		if (n == 0 || list->list[i].tid != chosen)
			tids[n++] = list->list[i].tid;
	return list->n;
}

static bool death(struct lbx_stacks *stacks, struct lbx_death *ret)
{
	struct stacks *s = stacks_of(stacks);

	if (!s->is_core)
		return false;
	*ret = *lbx_core_death(s->target);
	return ret->signal != 0;
}

/* A call through a wild pointer: the caller's address is where the call put it, and nowhere else. */
static bool step_back(struct stacks *s, struct lbx_registers *registers)
{
	const struct lbx_machine *machine = registers->machine;
	uint64_t caller;

	if (!machine || lbx_lines_known(s->lines, registers->pc))
		return false;
	uint64_t *sp = &registers->r[machine->stack_pointer];
	bool on_stack = machine->link < 0;
	if (!on_stack)
		caller = registers->r[machine->link];
	else if (!lbx_target_try_read(s->target, *sp, &caller, sizeof caller))
		return false;
	if (!lbx_lines_known(s->lines, caller - 1))
		return false;
	registers->pc = caller;
	*sp += on_stack ? sizeof caller : 0;
	return true;
}

/* Code of no module, as that of step mode, has no tables, but a frame pointer: it leads to the
 * caller's, and to the address to return to. */
static bool step_by_frame_pointer(struct stacks *s, struct lbx_frame *frame, struct lbx_registers *registers)
{
	const struct lbx_machine *machine = frame->registers.machine;
	uint64_t fp, sp, saved[2];

	if (!machine || lbx_lines_known(s->lines, lbx_frame_code(frame)) ||
	    !(frame->registers.known >> machine->frame_pointer & 1) || !lbx_stack_pointer(&frame->registers, &sp))
		return false;
	fp = frame->registers.r[machine->frame_pointer];
	if (fp < sp || !lbx_target_try_read(s->target, fp, saved, sizeof saved) ||
	    !lbx_lines_known(s->lines, saved[1] - 1))
		return false;
	*registers = frame->registers;
	registers->pc = saved[1];
	registers->known &= machine->preserved;
	registers->r[machine->frame_pointer] = saved[0];
	registers->r[machine->stack_pointer] = frame->cfa = fp + sizeof saved;
	return true;
}

/* Where a thread begins there are no unwind tables, as for clone3 of libc, but no address to return to either. */
static bool is_beginning(struct stacks *s, const struct lbx_frame *frame, uint64_t pc)
{
	const struct lbx_machine *machine = frame->registers.machine;
	uint64_t sp, caller;

	if (!machine || !lbx_lines_known(s->lines, pc) || lbx_unwind_has_rules(s->lines, pc))
		return false;
	if (machine->link >= 0)
		return frame->registers.known >> machine->link & 1 && frame->registers.r[machine->link] == 0;
	return lbx_stack_pointer(&frame->registers, &sp) &&
	       lbx_target_try_read(s->target, sp, &caller, sizeof caller) && caller == 0;
}

/* Why a stack ends where it does, unless that is its end. */
static void explain_end(struct stacks *s, bool whole, struct lbx_stack *stack)
{
	const struct lbx_frame *last = &stack->frames[stack->n - 1];
	uint64_t pc = lbx_frame_code(last), sp, word;
	bool truncated = s->target->is_truncated;
	char why[sizeof stack->end - 64];
	struct lbx_module m;

	bool on_stack = lbx_stack_pointer(&last->registers, &sp);
	if (whole && lbx_unwind_has_rules(s->lines, pc) &&
	    (!on_stack || lbx_target_try_read(s->target, sp, &word, sizeof word)))
		return;
	if (stack->damaged)
		return;
	if (is_beginning(s, last, pc)) {
		stack->end[0] = '\0';
		return;
	}
	if (lbx_target_module_at(s->target, pc, &m) && !lbx_module_is_used(&m)) {
		lbx_module_why(&m, why, sizeof why);
		snprintf(stack->end, sizeof stack->end, "cannot find the caller: %.200s %s", m.path, why);
	} else if (!lbx_lines_known(s->lines, pc)) {
		snprintf(stack->end, sizeof stack->end, "cannot find the caller: the code belongs to no known file%s",
			 truncated ? ", and the core is truncated" : "");
	} else if (on_stack && !lbx_target_try_read(s->target, sp, &word, sizeof word)) {
		snprintf(stack->end, sizeof stack->end, "cannot find the caller: the stack at 0x%llx cannot be read%s",
			 (unsigned long long)sp, truncated ? ", the core is truncated" : "");
	} else if (!stack->end[0]) {
		snprintf(stack->end, sizeof stack->end,
			 "cannot find the caller: there are no unwind tables for this code");
	}
	lbx_make_printable(stack->end);
}

static void unwind_modules(struct stacks *s, const struct lbx_registers *registers, bool after_call, int max, int tail,
			   struct lbx_stack *ret)
{
	struct lbx_stack other = { .frames = malloc((size_t)max * sizeof *other.frames) };
	bool whole = lbx_unwind(s->target, s->lines, registers, after_call, max, tail, ret);

	if (!whole && ret->left_out == 0 && other.frames) {
		bool done = lbx_unwind_dwfl(s->target, s->lines, registers, after_call, max, &other);
		if (other.n >= ret->n) {
			struct lbx_frame *frames = ret->frames;
			*ret = other;
			ret->frames = memcpy(frames, other.frames, (size_t)other.n * sizeof *frames);
			whole = done;
		}
	}
	free(other.frames);
	/* without rules the way on is a guess, and one to where no code is, a wrong one */
	while (ret->n > 1 && ret->left_out == 0 && !ret->cut &&
	       !lbx_lines_known(s->lines, ret->frames[ret->n - 1].pc) &&
	       !lbx_unwind_has_rules(s->lines, lbx_frame_code(&ret->frames[ret->n - 2])))
		ret->n--;
	if (ret->n < max && ret->left_out == 0)
		explain_end(s, whole, ret);
}

static void unwind(struct stacks *s, struct lbx_registers registers, bool after_call, int max, int tail,
		   struct lbx_stack *ret)
{
	struct lbx_stack part;

	do {
		int left = max - ret->n;
		part = (struct lbx_stack){ .frames = ret->frames + ret->n };
		unwind_modules(s, &registers, after_call, left, tail < left ? tail : 0, &part);
		int before = ret->n;
		part.frames = ret->frames;
		part.n += before;
		part.gap += part.left_out ? before : 0;
		*ret = part;
		after_call = true;
	} while (ret->n < max && step_by_frame_pointer(s, &ret->frames[ret->n - 1], &registers));
}

/* A wild frame comes before those that its call was made from. */
static void put_first(struct lbx_stack *stack, const struct lbx_frame *frame)
{
	memmove(stack->frames + 1, stack->frames, (size_t)stack->n * sizeof *stack->frames);
	stack->frames[0] = *frame;
	stack->n++;
	stack->gap += stack->left_out > 0;
}

/* Functions that were inlined become frames. */
static bool expand(struct stacks *s, struct lbx_stack *stack)
{
	int room = 2 * stack->n + LBX_INLINED_MAX + 1, n = 0, gap = 0;
	struct lbx_frame *frames = malloc((size_t)room * sizeof *frames);

	for (int i = 0; frames && i < stack->n; i++) {
		const struct lbx_frame *f = &stack->frames[i];
		int inlined = lbx_lines_inlined(s->lines, lbx_frame_code(f));
		if (i == stack->gap)
			gap = n;
		if (!lb_reserve(frames, room, n + inlined + (stack->n - i))) {
			free(frames);
			frames = NULL;
		}
		for (int depth = 0; frames && depth <= inlined; depth++) {
			frames[n] = *f;
			frames[n].depth = depth;
			frames[n].is_inlined = depth < inlined;
			frames[n].level = n;
			n++;
		}
	}
	if (!frames)
		return lb_fail("out of memory");
	free(stack->frames);
	stack->frames = frames;
	stack->n = n;
	stack->gap = gap;
	return true;
}

static bool walk(struct lbx_stacks *stacks, uint64_t tid, int max, int tail, struct lbx_stack *ret)
{
	struct stacks *s = stacks_of(stacks);
	const struct lbx_threads *list = threads_of(s);
	struct lbx_registers registers;
	int i = 0;

	memset(ret, 0, sizeof *ret);
	if (!list)
		return false;
	while (i < list->n && list->list[i].tid != tid)
		i++;
	if (i == list->n)
		return lb_fail("there is no thread %llu", (unsigned long long)tid);
	if (max < 1 || max > LBX_FRAMES_MAX)
		max = LBX_FRAMES_MAX;
	registers = list->list[i];
	struct lbx_frame wild = { .pc = registers.pc, .registers = registers };
	bool stepped = step_back(s, &registers);
	/* one more: room for the wild one */
	ret->frames = malloc(((size_t)max + 1) * sizeof *ret->frames);
	if (!ret->frames)
		return lb_fail("out of memory");
	unwind(s, registers, stepped, max, tail, ret);
	if (stepped)
		put_first(ret, &wild);
	if (!expand(s, ret)) {
		lbx_stack_release(ret);
		return false;
	}
	if (tail == 0 && ret->n > max) {
		ret->n = max;
		ret->cut = true;
	}
	return true;
}

static bool choose(struct lbx_stacks *stacks, uint64_t tid, int frame, uint64_t *ret_sp)
{
	struct stacks *s = stacks_of(stacks);
	struct lbx_stack stack;

	*ret_sp = 0;
	s->thread = tid;
	s->frame = frame;
	if (frame < 0)
		return true;
	if (!tid && threads(stacks, &tid, 1) < 1)
		return lb_ok() ? lb_fail("no thread of the program is known, so there is no frame %d", frame) : false;
	int max = frame < LBX_FRAMES_MAX ? frame + 1 : LBX_FRAMES_MAX;
	if (!walk(stacks, tid, max, 0, &stack))
		return false;
	bool is_there = frame < stack.n;
	if (is_there && !lbx_stack_pointer(&stack.frames[frame].registers, ret_sp))
		*ret_sp = 0;
	int n = stack.n;
	lbx_stack_release(&stack);
	if (!is_there && n == LBX_FRAMES_MAX)
		return lb_fail("frame %d is not looked at: only the first %d of thread %llu are", frame, n,
			       (unsigned long long)tid);
	return is_there || lb_fail("thread %llu has %d frame%s, from 0 on", (unsigned long long)tid, n, LB_S(n));
}

static bool line(struct lbx_stacks *stacks, const struct lbx_frame *frame, struct lbx_source_line *ret)
{
	memset(ret, 0, sizeof *ret);
	if (!lbx_lines_find(stacks_of(stacks)->lines, lbx_frame_code(frame), frame->depth, ret))
		return false;
	lbx_make_printable(ret->function);
	lbx_make_printable(ret->file);
	return true;
}

static bool pointers(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn, void *context,
		     struct lbx_variables_told *ret)
{
	struct stacks *s = stacks_of(stacks);
	return lbx_variables(s->target, s->lines, frame, fn, context, NULL, ret);
}

static bool statics(struct lbx_stacks *stacks, lbx_static_fn *fn, void *context, struct lbx_statics_told *ret)
{
	struct stacks *s = stacks_of(stacks);
	return s->lines && lbx_static_pointers(s->target, s->lines, threads_of(s), fn, context, ret);
}

/* An expression that is looked for in the frames of the first thread. */
struct lookup {
	const char *expression;
	struct lbx_evaluated *value;
	lbx_pointer_fn *fn; /* NULL: its value alone is wanted */
	void *context;
	bool *more;
};

static enum lbx_found look_up(const struct lookup *l, const struct lbx_variables_of *variables)
{
	enum lbx_found found = lbx_expression_value(variables, l->expression, l->value);

	if (found == LBX_FOUND && l->fn &&
	    !lbx_expression_pointers(variables, l->expression, l->fn, l->context, l->more))
		return LBX_NO_VALUE;
	return found;
}

static bool look_through(struct stacks *s, const struct lookup *l)
{
	struct lbx_variables_of variables = { .target = s->target, .lines = s->lines };
	enum lbx_found found = LBX_NO_VARIABLE;
	struct lbx_stack stack = { .n = 0 };
	bool clean = lb_ok();
	uint64_t tid;

	/* what the chosen frame does not have, its callers may, but under this name that is another variable */
	int first = s->frame < 0 ? 0 : s->frame;
	int max = s->frame < 0 || s->frame >= LBX_FRAMES_MAX ? LBX_FRAMES_MAX : s->frame + 1;
	if (threads(&s->base, &tid, 1) > 0 && walk(&s->base, tid, max, 0, &stack) && first < stack.n)
		variables.near = lbx_frame_code(&stack.frames[first]);
	for (int i = first; i < stack.n && found == LBX_NO_VARIABLE; i++) {
		variables.frame = &stack.frames[i];
		found = look_up(l, &variables);
	}
	variables.frame = NULL;
	if (found == LBX_NO_VARIABLE)
		found = look_up(l, &variables);
	lbx_stack_release(&stack);
	if (clean)
		lb_clear_error();
	return found == LBX_FOUND;
}

static bool evaluate(struct lbx_stacks *stacks, const char *expression, struct lbx_evaluated *ret)
{
	return look_through(stacks_of(stacks), &(struct lookup){ .expression = expression, .value = ret });
}

static bool within(struct lbx_stacks *stacks, const char *expression, lbx_pointer_fn *fn, void *context, bool *ret_more)
{
	struct lbx_evaluated unused;
	return look_through(stacks_of(stacks), &(struct lookup){ expression, &unused, fn, context, ret_more });
}

static int waits(struct lbx_stacks *stacks, struct lbx_wait *ret, int max)
{
	struct stacks *s = stacks_of(stacks);
	const struct lbx_threads *list;
	uint64_t pid;

	if (!s->is_core && lbx_target_runs(s->target))
		return s->target->ops->pid(s->target, &pid) ? lbx_waits_of_process((pid_t)pid, ret, max) : 0;
	list = threads_of(s);
	return list ? lbx_waits_of_threads(list, ret, max) : 0;
}

static void destroy(struct lbx_stacks *stacks)
{
	free(stacks);
}

static const struct lbx_stacks_ops ops = {
	.all_threads = true,
	.threads = threads,
	.choose = choose,
	.death = death,
	.walk = walk,
	.line = line,
	.pointers = pointers,
	.statics = statics,
	.evaluate = evaluate,
	.within = within,
	.waits = waits,
	.destroy = destroy,
};

static bool find_caller(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_frame *frame,
			struct lbx_frame *ret)
{
	enum { FRAMES = 2 };
	struct lbx_frame frames[FRAMES];
	struct lbx_stack stack = { .frames = frames };

	if (!frame->registers.machine)
		return false;
	lbx_unwind(target, lines, &frame->registers, frame->after_call, FRAMES, 0, &stack);
	*ret = frames[FRAMES - 1];
	return stack.n == FRAMES;
}

static bool create(struct lbx_target *target, bool is_core, struct lbx_stacks **ret)
{
	struct stacks *s = calloc(1, sizeof *s);

	if (!s)
		return lb_fail("out of memory");
	s->base.ops = &ops;
	s->target = target;
	s->is_core = is_core;
	s->frame = -1;
	s->lines = is_core ? lbx_core_lines(target) : lbx_process_lines(target);
	lbx_lines_set_caller(s->lines, find_caller);
	*ret = &s->base;
	return true;
}

bool lbx_stacks_of_core(struct lbx_target *core, struct lbx_stacks **ret)
{
	return create(core, true, ret);
}

bool lbx_stacks_of_process(struct lbx_target *process, struct lbx_stacks **ret)
{
	return create(process, false, ret);
}
