#include "plugin/stops/evaluation.h"

#include <string.h>

#include "base/error.h"

bool lbx_evaluation_now(struct lbx_context *context, struct lbx_thread *ret)
{
	struct lbx_table *table;
	uint64_t slot = 0, tid;

	if (context->stacks->ops->threads(context->stacks, &tid, 1) < 1 || !lbx_context_table(context, &table))
		return false;
	while (lbx_table_thread(table, &slot, ret))
		if (ret->tid == tid && ret->eval)
			return true;
	*ret = (struct lbx_thread){ .tid = tid };
	return lb_ok();
}

/* ---- frames ---- */

enum { FRAMES_FIRST = 32, FRAMES_MOST = 1 << 14, NO_FRAME = -1, NONE_AT_ALL = -2 };

/* What a frame is looked for by. */
struct wanted {
	uint64_t pc; /* 0: code of a graph */
};

static bool is_wanted(struct lbx_stacks *stacks, const struct lbx_frame *frame, const struct wanted *wanted)
{
	struct lbx_source_line line;

	if (wanted->pc)
		return frame->pc == wanted->pc;
	return stacks->ops->line(stacks, frame, &line) && strncmp(line.function, "eval(graph ", 11) == 0;
}

/* The innermost such frame among so many. */
static bool find_among(struct lbx_stacks *stacks, uint64_t thread, const struct wanted *wanted, int most,
		       struct lbx_frame_found *ret)
{
	struct lbx_stack stack;

	if (!stacks->ops->walk(stacks, thread, most, 0, &stack))
		return false;
	ret->level = stack.n < most ? NONE_AT_ALL : NO_FRAME;
	for (int i = 0; i < stack.n && ret->level < 0; i++)
		if (is_wanted(stacks, &stack.frames[i], wanted))
			*ret = (struct lbx_frame_found){ stack.frames[i].level, stack.frames[i] };
	lbx_stack_release(&stack);
	return true;
}

/* Of the selected thread. */
static bool find_frame(struct lbx_stacks *stacks, const struct wanted *wanted, struct lbx_frame_found *ret)
{
	uint64_t thread;

	if (stacks->ops->threads(stacks, &thread, 1) < 1)
		return false;
	ret->level = NO_FRAME;
	for (int most = FRAMES_FIRST; most <= FRAMES_MOST && ret->level == NO_FRAME; most *= 8)
		if (!find_among(stacks, thread, wanted, most, ret))
			return false;
	return true;
}

bool lbx_evaluation_frame(struct lbx_context *context, struct lbx_frame_found *ret)
{
	return find_frame(context->stacks, &(struct wanted){ 0 }, ret);
}

bool lbx_evaluation_caller(struct lbx_context *context, const struct lbx_thread *thread, int *ret)
{
	struct lbx_frame_found found;

	if (!find_frame(context->stacks, &(struct wanted){ thread->site }, &found))
		return false;
	*ret = found.level;
	return true;
}
