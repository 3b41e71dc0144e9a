/* Threads from the core's notes or from ptrace; frames from libunwind, or from libdwfl where
 * that gets further; variables from DWARF. */
#include "target/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "target/core.h"
#include "target/hold.h"
#include "target/lines.h"
#include "target/process.h"
#include "target/unwind.h"
#include "target/variables.h"

struct stacks {
	struct lbx_stacks base;
	struct lbx_target *target;
	struct lbx_lines *lines;
	struct lbx_hold *hold; /* of a process, once asked */
	bool is_core;
};

static struct stacks *stacks_of(struct lbx_stacks *stacks)
{
	return (struct stacks *)stacks;
}

static const struct lbx_threads *threads_of(struct stacks *s)
{
	if (s->is_core)
		return lbx_core_threads(s->target);
	if (!s->hold)
		s->hold = lbx_process_hold(s->target);
	return s->hold ? lbx_hold_threads(s->hold) : NULL;
}

static int threads(struct lbx_stacks *stacks, uint64_t *tids, int max)
{
	const struct lbx_threads *list = threads_of(stacks_of(stacks));

	if (!list)
		return -1;
	for (int i = 0; i < list->n && i < max; i++)
		tids[i] = list->list[i].tid;
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
static bool step_by_frame_pointer(struct stacks *s, struct lbx_frame *frame,
				  struct lbx_registers *registers)
{
	const struct lbx_machine *machine = frame->registers.machine;
	uint64_t fp, sp, saved[2];

	if (!machine || lbx_lines_known(s->lines, frame->pc - frame->after_call) ||
	    !(frame->registers.known >> machine->frame_pointer & 1) ||
	    !lbx_stack_pointer(&frame->registers, &sp))
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

static void unwind_modules(struct stacks *s, const struct lbx_registers *registers, bool after_call,
			   int max, struct lbx_stack *ret)
{
	struct lbx_stack other = { .frames = malloc((size_t)max * sizeof *other.frames) };
	bool whole = lbx_unwind(s->target, s->lines, registers, after_call, max, ret);

	if (!whole && other.frames) {
		lbx_unwind_dwfl(s->target, s->lines, registers, after_call, max, &other);
		if (other.n >= ret->n) {
			struct lbx_frame *frames = ret->frames;
			*ret = other;
			ret->frames = memcpy(frames, other.frames, (size_t)other.n * sizeof *frames);
		}
	}
	free(other.frames);
}

static void unwind(struct stacks *s, struct lbx_registers registers, bool after_call, int max,
		   struct lbx_stack *ret)
{
	struct lbx_stack part;

	do {
		part = (struct lbx_stack){ .frames = ret->frames + ret->n };
		unwind_modules(s, &registers, after_call, max - ret->n, &part);
		ret->n += part.n;
		after_call = true;
	} while (part.n > 0 && ret->n < max &&
		 step_by_frame_pointer(s, &ret->frames[ret->n - 1], &registers));
	memcpy(ret->end, part.end, sizeof ret->end);
}

static bool walk(struct lbx_stacks *stacks, uint64_t tid, int max, struct lbx_stack *ret)
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
	unwind(s, registers, stepped, max, ret);
	if (stepped) {
		int n = ret->n < max ? ret->n : max - 1;
		memmove(ret->frames + 1, ret->frames, (size_t)n * sizeof *ret->frames);
		ret->frames[0] = wild;
		ret->n = n + 1;
	}
	return true;
}

static bool line(struct lbx_stacks *stacks, const struct lbx_frame *frame,
		 struct lbx_source_line *ret)
{
	return lbx_target_source_line(stacks_of(stacks)->target, frame->pc - frame->after_call, ret);
}

static bool pointers(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn,
		     void *context)
{
	struct stacks *s = stacks_of(stacks);
	return lbx_variables(s->target, s->lines, frame, fn, context);
}

static void destroy(struct lbx_stacks *stacks)
{
	free(stacks);
}

static const struct lbx_stacks_ops ops = {
	.threads = threads,
	.death = death,
	.walk = walk,
	.line = line,
	.pointers = pointers,
	.destroy = destroy,
};

static bool create(struct lbx_target *target, bool is_core, struct lbx_stacks **ret)
{
	struct stacks *s = calloc(1, sizeof *s);

	if (!s)
		return lb_fail("out of memory");
	s->base.ops = &ops;
	s->target = target;
	s->is_core = is_core;
	s->lines = is_core ? lbx_core_lines(target) : lbx_process_lines(target);
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
