#include "inspect/operand/python_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/json.h"
#include "python/exception.h"
#include "python/variables.h"
#include "target/loader.h"

enum { SHOWN = 4 };

struct teller {
	struct lbx_context *context;
	struct lbx_python *py;
	struct lbx_tensors *tensors; /* NULL: none are told */
	const struct lbx_python_ask *ask;
	int n; /* frames that were told */
	int entry; /* how many calls of the interpreter's function were gone past */
	int n_held, room;
	bool is_cut; /* a frame has more variables, or what is in them, than are looked at */
	struct held {
		char name[LBX_PY_HELD_NAME];
		struct lbx_tensor tensor;
	} *held;
};

static bool reading(void *out, int64_t done)
{
	return lbx_progress(out, "reading Python's objects", done, 0);
}

struct lbx_python *lbx_context_python(struct lbx_context *context, const char **ret_why)
{
	struct lbx_target *direct = lbx_target_direct(context->target);
	struct lbx_target *target = direct ? direct : context->target;
	bool clean = lb_ok();
	int n;

	if (!context->looked_for_python) {
		struct lbx_loaded *modules = lbx_loaded_all(context->target, &n);
		context->looked_for_python = true;
		context->python = modules ? lbx_python_open(target, modules, n) : NULL;
		free(modules);
		if (context->python)
			lbx_python_watch(context->python, reading, context->out);
		if (!context->python && clean && !lb_ok())
			snprintf(context->no_python, sizeof context->no_python, "%s", lb_error_message());
		if (clean)
			lb_clear_error();
	}
	*ret_why = context->no_python[0] ? context->no_python : NULL;
	return context->python;
}

/* ---- the tensors of a frame ---- */

static bool hold(void *context, const char *name, uint64_t object)
{
	struct teller *t = context;
	struct lbx_tensor tensor;
	bool clean = lb_ok();

	if (!t->ask->all && lbx_tensors_is_module(t->tensors, object))
		return true;
	if (lbx_tensors_by_object(t->tensors, object, &tensor)) {
		if (!lb_reserve(t->held, t->room, t->n_held + 1))
			return true;
		snprintf(t->held[t->n_held].name, sizeof t->held->name, "%s", name);
		t->held[t->n_held++].tensor = tensor;
		return true;
	}
	if (clean)
		lb_clear_error();
	return false;
}

/* ---- what is told ---- */

static json_t *json_held(const struct held *held)
{
	json_t *o = lbx_json_tensor(&held->tensor);

	json_object_set_new(o, "variable", lbx_json_string(held->name));
	return o;
}

static void tell_held(struct teller *t)
{
	struct lbx_out *out = t->context->out;
	int shown = t->ask->all || t->n_held <= SHOWN ? t->n_held : SHOWN;
	char text[LBX_DESCRIPTION_MAX];

	lbx_begin_list(out, "tensors");
	for (int i = 0; i < t->n_held; i++) {
		LBX_KEY(out, NULL, json_held(&t->held[i]));
		if (i >= shown)
			continue;
		lbx_describe(&t->held[i].tensor, text, sizeof text);
		lbx_wrap(out, 0, 11);
		lbx_printf(out, "       ");
		lbx_styled(out, LBX_NAME, "%s = %s\n", t->held[i].name, text);
	}
	lbx_end(out);
	if (shown < t->n_held)
		lbx_printf(out, "       … %d more (`%sbt --all`)\n", t->n_held - shown,
			   t->context->prefix ? t->context->prefix : "");
	if (t->is_cut)
		lbx_printf(out, "       … and there may be more: of each object %d parts were looked at, of all %d\n",
			   LBX_PY_LOOKED / 4, LBX_PY_LOOKED);
}

static void tell_frame(struct teller *t, const struct lbx_py_frame *frame, int number)
{
	struct lbx_out *out = t->context->out;
	int line;

	t->n_held = 0;
	t->is_cut = t->tensors && !lbx_py_look_at_variables(t->py, frame, hold, t);
	if (t->ask->only_with_tensors && t->n_held == 0)
		return;
	line = lbx_py_frame_line(t->py, frame);
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:i,s:o,s:o,s:o}", "frame", number, "function", lbx_json_text(frame->function),
				"file", lbx_json_text(frame->file), "line", lbx_json_int_if(line, line)));
	if (t->ask->entries)
		LBX_KEY(out, "c_frame",
			lbx_json_int_if(t->entry < t->ask->entries->n,
					(int64_t)t->ask->entries->list[t->entry].c_frame));
	if (t->n == 0 && !t->ask->to)
		lbx_printf(out, "  in Python %s\n", t->py->version);
	lbx_wrap(out, 0, 7);
	lbx_printf(out, t->ask->to ? "  py#%-2d " : "  #%-3d ", number);
	lbx_printf(out, "%s at ", frame->function);
	lbx_styled(out, LBX_FILE, "%s", frame->file);
	if (line)
		lbx_printf(out, ":%d", line);
	lbx_printf(out, "\n");
	tell_held(t);
	lbx_end(out);
	t->n++;
}

/* ---- exceptions ---- */

static const char *const keys_of_why[] = { "raised", "handled", "cause", "context" };
static const char *const words_of_why[] = { "  raises ", "  handles ", "    caused by ", "    while it handled " };

static void tell_exception(struct lbx_out *out, const struct lbx_py_exception *e)
{
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "is", keys_of_why[e->why], "type", lbx_json_text(e->type),
				"message", lbx_json_text(e->message), "function", lbx_json_text(e->function), "file",
				lbx_json_text(e->file), "line", lbx_json_int_if(e->line, e->line)));
	lbx_wrap(out, 0, 6);
	lbx_printf(out, "%s", words_of_why[e->why]);
	lbx_styled(out, LBX_WARNING, "%s%s%s", e->type, e->message[0] ? ": " : "", e->message);
	if (e->function[0]) {
		lbx_printf(out, ", raised in %s at ", e->function);
		lbx_styled(out, LBX_FILE, "%s", e->file);
	}
	if (e->function[0] && e->line)
		lbx_printf(out, ":%d", e->line);
	lbx_printf(out, "\n");
	lbx_end(out);
}

static void tell_exceptions(struct teller *t, const struct lbx_py_thread *thread)
{
	struct lbx_py_exception exceptions[LBX_PY_EXCEPTIONS];
	struct lbx_out *out = t->context->out;
	bool more;
	int n = lbx_py_exceptions(t->py, thread, exceptions, &more);

	for (int i = 0; i < n; i++)
		tell_exception(out, &exceptions[i]);
	if (more)
		lbx_printf(out, "    … and more: the first %d\n", n);
}

static void tell_frames(struct teller *t, const struct lbx_py_thread *thread)
{
	struct lbx_out *out = t->context->out;
	struct lbx_py_frame frame;
	int number = 0;

	t->entry = 0;
	for (bool more = lbx_py_frame_first(t->py, thread, &frame); more && number < LBX_PY_FRAMES; number++) {
		if (t->ask->to && number >= t->ask->to)
			return;
		if (t->n == t->ask->max || number == t->ask->max) {
			if (number >= t->ask->from)
				lbx_printf(out, "  … and more: the first %d\n", t->ask->max);
			return;
		}
		if (number >= t->ask->from)
			tell_frame(t, &frame, number);
		t->entry += frame.is_entry;
		more = lbx_py_frame_next(t->py, &frame, &frame);
	}
}

int lbx_tell_python(struct lbx_context *context, uint64_t tid, const struct lbx_python_ask *ask)
{
	struct lbx_py_thread thread;
	struct teller *t;
	const char *why;
	int n = 0;

	struct lbx_python *py = lbx_context_python(context, &why);
	if (!py || !(t = calloc(1, sizeof *t)))
		return 0;
	t->context = context;
	t->py = py;
	t->ask = ask;
	t->tensors = ask->tensors ? ask->tensors : context->tensors;
	lbx_begin_list(context->out, "python");
	for (int i = 0; lbx_py_thread(py, i, &thread); i++)
		if (thread.tid == tid)
			tell_frames(t, &thread);
	lbx_end(context->out);
	lbx_begin_list(context->out, "exceptions");
	for (int i = 0; !ask->only_with_tensors && !ask->to && lbx_py_thread(py, i, &thread); i++)
		if (thread.tid == tid)
			tell_exceptions(t, &thread);
	lbx_end(context->out);
	n = t->n;
	free(t->held);
	free(t);
	return n;
}

void lbx_tell_python_exceptions(struct lbx_context *context, uint64_t tid)
{
	struct teller t = { .context = context };
	struct lbx_py_thread thread;
	const char *why;

	t.py = lbx_context_python(context, &why);
	for (int i = 0; t.py && lbx_py_thread(t.py, i, &thread); i++)
		if (thread.tid == tid)
			tell_exceptions(&t, &thread);
}

bool lbx_describe_python(struct lbx_context *context, uint64_t tid, char *ret, size_t size)
{
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;
	const char *why;
	struct lbx_python *py = lbx_context_python(context, &why);

	for (int i = 0; py && lbx_py_thread(py, i, &thread); i++) {
		if (thread.tid != tid || !lbx_py_frame_first(py, &thread, &frame))
			continue;
		lbx_py_frame_text(py, &frame, ret, size);
		return true;
	}
	return false;
}
