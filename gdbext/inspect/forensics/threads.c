#include "inspect/forensics/threads.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/python_stack.h"

enum { DEFAULT_FRAMES = 64 };

static bool parse_number(const char *text, const char *what, uint64_t max, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	return (end != text && !*end && !errno && *text != '-' && *ret <= max) ||
	       lbx_misuse("'%s' is not a %s", text, what);
}

bool lbx_first_thread(struct lbx_context *context, uint64_t *ret)
{
	int n = context->stacks->ops->threads(context->stacks, ret, 1);
	return n > 0 || (n < 0 ? false
			       : lb_fail("no thread of this program is known: the core was "
					 "damaged, or written on another kind of machine"));
}

static bool tell(struct lbx_context *context, struct lbx_places *places, uint64_t tid, int max)
{
	struct lbx_thread_view view;

	if (!lbx_thread_view(context, places, tid, max, max > 2 * LBX_TAIL ? LBX_TAIL : max / 2, &view))
		return false;
	lbx_tell_thread(context, &view);
	lbx_thread_view_release(&view);
	return true;
}

/* Without a runtime in the program there are stacks still, but no tensors in them. */
static struct lbx_places *try_places(struct lbx_context *context)
{
	struct lbx_places *places;

	if (lbx_places_create(context, &places))
		return places;
	lb_clear_error();
	return NULL;
}

static bool run_threads(struct lbx_context *context, const struct lbx_args *args)
{
	uint64_t tids[LBX_THREADS_SHOWN], only = 0;
	int64_t max = DEFAULT_FRAMES;
	struct lbx_out *out = context->out;
	bool done = true;

	if (!lbx_args_int(args, "frames", 1, LBX_FRAMES_MAX, &max) ||
	    (args->n && !parse_number(args->v[0], "thread's number", INT32_MAX, &only)))
		return false;
	int n = context->stacks->ops->threads(context->stacks, tids, LBX_THREADS_SHOWN);
	if (n < 0 || (n == 0 && !lbx_first_thread(context, tids)))
		return false;
	int shown = n < LBX_THREADS_SHOWN ? n : LBX_THREADS_SHOWN;
	struct lbx_places *places = lbx_args_option(args, "bare") ? NULL : try_places(context);
	lbx_begin(out, NULL);
	lbx_begin_list(out, "threads");
	if (only)
		done = tell(context, places, only, (int)max);
	for (int i = 0; i < shown && done && !only; i++)
		done = tell(context, places, tids[i], (int)max);
	lbx_places_destroy(places);
	if (!done)
		return false;
	lbx_end(out);
	LBX_KEY(out, "total", json_integer(n));
	if (!only && shown < n)
		lbx_printf(out, "… %d more thread%s\n", n - shown, LB_S(n - shown));
	lbx_end(out);
	lbx_set_int(out, "tensor_count", n);
	return lb_ok();
}

const struct lbx_command lbx_command_threads = {
	.name = "threads",
	.arguments = "[TID]",
	.summary = "show the stacks of all threads, and the tensors that their variables hold",
	.help = "The thread that died comes first. Below each frame stand the arguments and\n"
		"local variables that are tensors, lead to one, or point to the elements of one.\n"
		"A running process stands still meanwhile.\n"
		"Example: threads --frames 8",
	.max_args = 1,
	.needs = LBX_NEEDS_STACKS,
	.options = {
		{ "frames", "N", "at most N frames of each (default 64)" },
		{ "bare", NULL, "the stacks alone" },
	},
	.run = run_threads,
};

/* The innermost frame of Python where a frame of C was called from, or which it executes; -1: not known. A debugger
 * would have to be asked for too much. */
static int find_caller(struct lbx_context *context, uint64_t tid, uint64_t number, struct lbx_entries *ret)
{
	struct lbx_thread_view view;
	const char *why;
	int i = 0;

	ret->n = 0;
	if (!context->stacks->ops->all_threads || !lbx_context_python(context, &why) ||
	    !lbx_thread_view(context, NULL, tid, LBX_FRAMES_MAX, 0, &view))
		return -1;
	if (!lbx_entries_find(context, &view, ret))
		ret->n = 0;
	lbx_thread_view_release(&view);
	while (i < ret->n && ret->list[i].c_frame < number)
		i++;
	return i < ret->n ? ret->list[i].first : -1;
}

/* What a frame of C was called from in Python, with its tensors; where that is not known, all functions that have some. */
static void tell_caller(struct lbx_context *context, uint64_t tid, uint64_t number, bool all)
{
	struct lbx_entries entries;
	int at = find_caller(context, tid, number, &entries);
	struct lbx_python_ask ask = { .max = LBX_FRAMES_MAX, .only_with_tensors = true, .all = all };

	if (at >= 0)
		ask =
		    (struct lbx_python_ask){ .max = at + 1, .all = all, .entries = &entries, .from = at, .to = at + 1 };
	lbx_tell_python(context, tid, &ask);
}

static bool tell_frames(struct lbx_context *context, const struct lbx_thread_view *view, int64_t number, bool all)
{
	struct lbx_out *out = context->out;
	char text[1024];
	int shown = 0;

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:I,s:I}", "thread", (json_int_t)view->tid, "left_out", (json_int_t)view->left_out));
	if (number < 0) {
		const struct lbx_python_ask ask = { .max = LBX_FRAMES_MAX, .only_with_tensors = true, .all = all };
		shown = lbx_tell_python(context, view->tid, &ask);
	}
	lbx_begin_list(out, "frames");
	for (int i = 0; i < view->n; i++) {
		const struct lbx_frame_view *frame = &view->frames[i];
		if (number < 0 && lbx_describe_left_out(view, i, text, sizeof text))
			lbx_printf(out, "  %s\n", text);
		if (number >= 0 ? frame->number != (uint64_t)number : frame->n_held == 0)
			continue;
		shown++;
		lbx_tell_frame(context, frame, all);
		if (number >= 0 && frame->n_held == 0) {
			lbx_wrap(out, 0, 7);
			lbx_printf(out, "       no variable leads to a tensor, or the code has no debug information\n");
		}
	}
	lbx_end(out);
	if (number >= 0)
		tell_caller(context, view->tid, (uint64_t)number, all);
	if (shown == 0)
		lbx_printf(out, "thread %llu: no variable of its %d frame%s leads to a tensor\n",
			   (unsigned long long)view->tid, view->n, LB_S(view->n));
	lbx_end(out);
	return lb_ok();
}

/* NULL with an error if it is not there. */
static struct lbx_frame_view *find_frame(const struct lbx_thread_view *view, uint64_t number)
{
	uint64_t n = (uint64_t)view->n + view->left_out;

	for (int i = 0; i < view->n; i++)
		if (view->frames[i].number == number)
			return &view->frames[i];
	if (number < n)
		lb_fail("frame %llu is not kept: thread %llu has %llu frame%s, of which only the first and "
			"the last ones are",
			(unsigned long long)number, (unsigned long long)view->tid, (unsigned long long)n, LB_S(n));
	else if (view->cut || (view->n >= LBX_FRAMES_MAX && view->left_out == 0))
		lb_fail("frame %llu is not looked at: only the first %d of thread %llu are", (unsigned long long)number,
			view->n, (unsigned long long)view->tid);
	else
		lb_fail("thread %llu has %llu frame%s, from 0 on", (unsigned long long)view->tid, (unsigned long long)n,
			LB_S(n));
	return NULL;
}

static bool run_frame(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_thread_view view;
	struct lbx_places *places;
	uint64_t number = 0, tid;
	int64_t wanted = 0;

	bool is_one = args->n || context->has_frame;

	if (context->has_frame)
		number = context->frame;
	if ((args->n && !parse_number(args->v[0], "frame's number", INT32_MAX, &number)) ||
	    !lbx_args_int(args, "thread", 1, INT32_MAX, &wanted) || (wanted == 0 && !lbx_first_thread(context, &tid)) ||
	    !lbx_places_expect(context, &places))
		return false;
	if (wanted)
		tid = (uint64_t)wanted;
	bool is_near = is_one && number < LBX_FRAMES_MAX;
	int max = is_near ? (int)number + 1 : LBX_FRAMES_MAX;
	bool done = lbx_thread_view(context, is_one ? NULL : places, tid, max, is_near ? 0 : LBX_TAIL, &view);
	struct lbx_frame_view *frame = done && is_one ? find_frame(&view, number) : NULL;
	if (frame)
		lbx_frame_view_hold(context, places, tid, frame);
	bool failed = lbx_places_have_failed(places);
	lbx_places_destroy(places);
	if (done && failed)
		lbx_thread_view_release(&view);
	if (!done || failed)
		return false;
	done = (!is_one || frame) &&
	       tell_frames(context, &view, is_one ? (int64_t)number : -1, lbx_args_option(args, "all"));
	lbx_thread_view_release(&view);
	return done;
}

const struct lbx_command lbx_command_frame = {
	.name = "frame",
	.arguments = "[N]",
	.summary = "show the tensors that the variables of a frame hold",
	.help = "Frames count from 0, the innermost; without N all that hold tensors are shown.\n"
		"Variables need debug information (-g).\n"
		"Example: frame 2 --thread 4711",
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS | LBX_NEEDS_FRAMES,
	.options = {
		{ "thread", "TID", "of this thread (default: the one that died)" },
		{ "all", NULL, "each tensor, where a frame holds many" },
	},
	.run = run_frame,
};
