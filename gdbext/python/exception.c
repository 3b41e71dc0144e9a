#include "python/exception.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TRACEBACKS = 1 << 16, MAX_HANDLED = 1024, FIRST_WITH_OBJECTS = 12, WORD = 8 };

static bool is_exception(struct lbx_python *py, uint64_t object)
{
	const struct lbx_py_type *type = object ? lbx_py_type_of(py, object) : NULL;

	return type && type->is_exception;
}

/* ---- one ---- */

static void keep_first_line(char *text)
{
	static const char more[] = " …";
	char *end = strchr(text, '\n');

	if (end)
		snprintf(end, (size_t)(text + LBX_PY_MESSAGE - end), "%s", end[1] ? more : "");
}

/* As str() has it, of what the arguments tell alone: a str; of a KeyError in quotes; a number and a str, as of an OSError. */
static void read_message(struct lbx_python *py, uint64_t exception, struct lbx_py_exception *ret)
{
	uint64_t at, first;
	int64_t n, number;
	char text[LBX_PY_MESSAGE - 32];

	if (!lbx_py_items(py, lbx_py_word(py, exception + LBX_PY_EXCEPTION_ARGS), &at, &n) || n < 1)
		return;
	first = lbx_py_word(py, at);
	if (lbx_py_text(py, first, text, sizeof text))
		snprintf(ret->message, sizeof ret->message, strcmp(ret->type, "KeyError") == 0 ? "'%s'" : "%s", text);
	else if (n > 1 && lbx_py_int(py, first, &number) &&
		 lbx_py_text(py, lbx_py_word(py, at + WORD), text, sizeof text))
		snprintf(ret->message, sizeof ret->message, "[Errno %" PRId64 "] %s", number, text);
	keep_first_line(ret->message);
}

static bool is_traceback(struct lbx_python *py, uint64_t object)
{
	const struct lbx_py_type *type = object ? lbx_py_type_of(py, object) : NULL;

	return type && strcmp(type->name, "traceback") == 0;
}

/* The last of the tracebacks: each call that it went through is one. */
static void read_place(struct lbx_python *py, uint64_t exception, struct lbx_py_exception *ret)
{
	uint64_t at = lbx_py_word(py, exception + LBX_PY_EXCEPTION_TRACEBACK), next;
	struct lbx_py_frame frame;
	int32_t where[2];

	if (!is_traceback(py, at))
		return;
	for (int i = 0; i < MAX_TRACEBACKS; i++) {
		next = lbx_py_word(py, at + LBX_PY_TRACEBACK_NEXT);
		if (!is_traceback(py, next))
			break;
		at = next;
	}
	if (!lbx_py_frame_of(py, lbx_py_word(py, at + LBX_PY_TRACEBACK_FRAME), &frame) ||
	    !lbx_py_read(py, at + LBX_PY_TRACEBACK_INSTRUCTION, where, sizeof where))
		return;
	strcpy(ret->function, frame.function);
	strcpy(ret->file, frame.file);
	ret->line = where[1] > 0 ? where[1] : where[0] < 0 ? 0 : lbx_py_line(py, frame.code, (uint64_t)where[0]);
}

/* ---- all of them ---- */

struct finder {
	struct lbx_python *py;
	struct lbx_py_exception *ret;
	int n;
	bool has_more;
};

/* False: it has been told, or cannot be. */
static bool add(struct finder *f, uint64_t object, enum lbx_py_why why)
{
	if (!is_exception(f->py, object))
		return false;
	for (int i = 0; i < f->n; i++)
		if (f->ret[i].object == object)
			return false;
	if (f->n == LBX_PY_EXCEPTIONS) {
		f->has_more = true;
		return false;
	}
	struct lbx_py_exception *e = &f->ret[f->n++];
	*e = (struct lbx_py_exception){ .why = why, .object = object };
	strcpy(e->type, lbx_py_type_of(f->py, object)->name);
	read_message(f->py, object, e);
	read_place(f->py, object, e);
	return true;
}

/* As Python prints them: the cause, or else what was handled then, unless that is to be hidden. */
static void add_chain(struct finder *f, uint64_t object, enum lbx_py_why why)
{
	uint8_t hides;

	while (add(f, object, why)) {
		uint64_t cause = lbx_py_word(f->py, object + LBX_PY_EXCEPTION_CAUSE);
		if (!cause &&
		    (!lbx_py_read(f->py, object + LBX_PY_EXCEPTION_HIDES_CONTEXT, &hides, sizeof hides) || hides))
			return;
		why = cause ? LBX_PY_CAUSE : LBX_PY_CONTEXT;
		object = cause ? cause : lbx_py_word(f->py, object + LBX_PY_EXCEPTION_CONTEXT);
	}
}

/* Until 3.11 one that is on its way may be a type and a str, of which no object has been made yet. */
static void add_raised(struct finder *f, uint64_t at)
{
	uint64_t value = lbx_py_word(f->py, at);
	const struct lbx_py_type *type;
	char text[LBX_PY_MESSAGE];

	if (is_exception(f->py, value)) {
		add_chain(f, value, LBX_PY_RAISED);
		return;
	}
	if (f->py->layout.minor >= FIRST_WITH_OBJECTS || !lbx_py_text(f->py, value, text, sizeof text) ||
	    !(type = lbx_py_type_at(f->py, lbx_py_word(f->py, at - WORD))) || !type->is_exception)
		return;
	struct lbx_py_exception *e = &f->ret[f->n++];
	*e = (struct lbx_py_exception){ .why = LBX_PY_RAISED };
	strcpy(e->type, type->name);
	strcpy(e->message, text);
	keep_first_line(e->message);
}

int lbx_py_exceptions(struct lbx_python *py, const struct lbx_py_thread *thread,
		      struct lbx_py_exception ret[LBX_PY_EXCEPTIONS], bool *ret_more)
{
	struct finder f = { .py = py, .ret = ret };
	uint64_t item = lbx_py_word(py, thread->address + py->layout.handled), value = 0;

	add_raised(&f, thread->address + py->layout.raised);
	/* an item for each generator that runs: the first that has one is what sys.exception() gives */
	for (int i = 0; item && i < MAX_HANDLED; i++) {
		value = lbx_py_word(py, item);
		if (is_exception(py, value))
			break;
		item = lbx_py_word(py, item + LBX_PY_HANDLED_NEXT);
	}
	add_chain(&f, value, LBX_PY_HANDLED);
	*ret_more = f.has_more;
	return f.n;
}
