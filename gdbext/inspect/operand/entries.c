#include "inspect/operand/entries.h"

#include <string.h>

#include "inspect/operand/python_stack.h"
#include "python/frames.h"

static bool is_interpreter(const struct lbx_python *py, const struct lbx_frame_view *frame)
{
	static const char name[] = "_PyEval_EvalFrameDefault";

	/* what is behind a full stop are parts that the compiler has made of it */
	return strncmp(frame->line.function, name, sizeof name - 1) == 0 &&
	       strchr(".", frame->line.function[sizeof name - 1]) &&
	       lbx_python_is_code(py, lbx_frame_code(&frame->frame));
}

/* How many there are; -1: too many. */
static int find_calls(const struct lbx_python *py, const struct lbx_thread_view *view, struct lbx_entries *ret)
{
	int n = 0;

	for (int i = 0; i < view->n; i++) {
		if (!is_interpreter(py, &view->frames[i]))
			continue;
		if (n == LBX_ENTRIES_MAX)
			return -1;
		ret->list[n++].c_frame = view->frames[i].number;
	}
	return n;
}

static int find_frames(struct lbx_python *py, const struct lbx_py_thread *thread, struct lbx_entries *ret)
{
	struct lbx_py_frame frame;
	int n = 0, number = 0, first = 0;

	for (bool more = lbx_py_frame_first(py, thread, &frame); more; more = lbx_py_frame_next(py, &frame, &frame)) {
		number++;
		if (!frame.is_entry)
			continue;
		if (n == LBX_ENTRIES_MAX)
			return -1;
		ret->list[n].first = first;
		ret->list[n++].end = first = number;
	}
	return first == number ? n : -1;
}

bool lbx_entries_find(struct lbx_context *context, const struct lbx_thread_view *view, struct lbx_entries *ret)
{
	struct lbx_py_thread thread, its;
	const char *why;
	struct lbx_python *py = lbx_context_python(context, &why);
	int n_threads = 0;

	if (!py || view->left_out || view->cut || view->end[0])
		return false;
	for (int i = 0; lbx_py_thread(py, i, &thread); i++)
		if (thread.tid == view->tid) {
			its = thread;
			n_threads++;
		}
	if (n_threads != 1)
		return false;
	ret->n = find_frames(py, &its, ret);
	return ret->n > 0 && ret->n == find_calls(py, view, ret);
}
