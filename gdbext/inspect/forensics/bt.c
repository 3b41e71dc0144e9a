#include <inttypes.h>

#include "base/error.h"
#include "lazybones.h"
#include "inspect/operand/python_stack.h"
#include "python/frames.h"

enum { DEFAULT_FRAMES = 256 };

/* What was not found may be in the part that a core lacks. */
static const char *unless_cut(const struct lbx_context *context)
{
	return context->target->is_truncated ? "; the core is truncated, and may lack it" : "";
}

static bool tell_thread(struct lbx_context *context, uint64_t tid, const struct lbx_python_ask *ask)
{
	struct lbx_out *out = context->out;

	lbx_begin(out, NULL);
	LBX_KEY(out, "thread", json_integer((json_int_t)tid));
	lbx_styled(out, LBX_TITLE, "thread %" PRIu64 "\n", tid);
	int n = lbx_tell_python(context, tid, ask);
	if (n == 0)
		lbx_printf(out, "  no function of Python%s\n", unless_cut(context));
	lbx_end(out);
	return lb_ok();
}

/* A thread that runs several interpreters is told with all of them at once. */
static bool is_told(struct lbx_python *py, int n, uint64_t tid)
{
	struct lbx_py_thread thread;

	for (int i = 0; i < n && lbx_py_thread(py, i, &thread); i++)
		if (thread.tid == tid)
			return true;
	return false;
}

/* All of them; without any there are functions still. */
static void find_tensors(struct lbx_context *context)
{
	struct lbx_tensors *tensors;
	bool clean = lb_ok();

	if (!lbx_context_tensors(context, &tensors) && clean)
		lb_clear_error();
}

/* Those that variables lead to; NULL: there are none. Where they cannot be found so, all are. */
static struct lbx_tensors *find_near(struct lbx_context *context, struct lbx_python *py)
{
	const struct lbx_provider *provider = context->providers ? context->providers : lbx_providers, *only = NULL;
	struct lbx_tensors *tensors = NULL;
	bool clean = lb_ok();
	int n = 0;

	for (; provider->name; provider++) {
		if (!provider->has_objects || (provider->is_there && !provider->is_there(context)))
			continue;
		only = provider;
		n++;
	}
	if (n == 0 || (n == 1 && only->open_near && only->open_near(context, py, &tensors)))
		return tensors;
	if (clean)
		lb_clear_error();
	find_tensors(context);
	return NULL;
}

/* In a debugger, of the thread that is selected; else of all that run Python. */
static bool run_bt(struct lbx_context *context, const struct lbx_args *args)
{
	int64_t max = DEFAULT_FRAMES, only = 0;
	struct lbx_py_thread thread;
	uint64_t selected;
	const char *why;
	bool ok = true;

	if (!lbx_args_int(args, "frames", 1, LBX_PY_FRAMES, &max) || !lbx_args_int(args, "thread", 1, INT32_MAX, &only))
		return false;
	/* a process stands still from here on, until it has been copied */
	if (context->stacks->ops->threads(context->stacks, &selected, 1) < 1)
		return lb_ok() ? lb_fail("no thread of this program is known") : false;
	struct lbx_python *py = lbx_context_python(context, &why);
	if (!py)
		return why ? lb_fail("the program's Python cannot be read: %s%s", why, unless_cut(context))
			   : lb_fail("the program runs no Python%s", unless_cut(context));
	struct lbx_python_ask ask = { .max = (int)max, .all = lbx_args_option(args, "all") != NULL };
	if (!only && !context->stacks->ops->all_threads)
		only = (int64_t)selected;
	bool is_bare = lbx_args_option(args, "bare");
	if (!is_bare && (lbx_args_option(args, "names") || context->kept))
		find_tensors(context);
	else if (!is_bare)
		ask.tensors = find_near(context, py);
	lbx_begin(context->out, NULL);
	lbx_begin_list(context->out, "threads");
	if (only)
		ok = tell_thread(context, (uint64_t)only, &ask);
	for (int i = 0; ok && !only && lbx_py_thread(py, i, &thread); i++)
		ok = is_told(py, i, thread.tid) || tell_thread(context, thread.tid, &ask);
	lbx_end(context->out);
	lbx_end(context->out);
	lbx_tensors_close(ask.tensors);
	return ok && lbx_python_goes_on(py);
}

const struct lbx_command lbx_command_bt = {
	.name = "bt",
	.arguments = "",
	.summary = "show what the program executes in Python, and its tensors",
	.help = "Function, file and line of each call, and the variables that are tensors, or lists,\n"
		"tuples, dicts or dataclasses of some. In gdb of the selected thread, else of all.\n"
		"Outside gdb tensors have their addresses, which are at once there, and with --names\n"
		"what the whole program calls them, and their numbers.\n"
		"Example: bt --frames 8",
	.needs = LBX_NEEDS_FRAMES | LBX_LETS_GO,
	.options = {
		{ "thread", "TID", "of this thread" },
		{ "frames", "N", "at most N frames of each (default 256)" },
		{ "bare", NULL, "the functions alone" },
		{ "names", NULL, "tensors by their names and numbers, for which all are looked for" },
		{ "all", NULL, "each tensor, where a frame holds many" },
	},
	.run = run_bt,
};
