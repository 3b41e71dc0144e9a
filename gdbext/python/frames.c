#include "python/frames.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_VARIABLES = 1 << 16, MAX_CODE = 1 << 26 };
enum { ENTRY_IN_FRONT = 1, FIRST_MARKED_BY_FRAME = 12 };
enum { OWNED_BY_C = 3 /* from here on: no function's frame, but one of the interpreter's own */ };
enum { KIND_CELL = 0x40, KIND_FREE = 0x80 };

/* ---- threads ---- */

static bool is_collected(const struct lbx_python *py, uint64_t address)
{
	for (int i = 0; i < py->n_threads; i++)
		if (py->threads[i].address == address)
			return true;
	return false;
}

/* The interpreter knows the thread by the number that it has in its own container. */
static uint64_t tid_of(const struct lbx_python *py, uint64_t thread)
{
	return lbx_target_thread(py->target, lbx_py_word(py, thread + py->layout.native_id));
}

/* An interpreter's list ends where a thread comes again. */
static void collect_threads(struct lbx_python *py)
{
	uint64_t interpreter;

	py->n_threads = 0;
	py->threads = calloc(LBX_PY_THREADS, sizeof *py->threads);
	for (int k = 0; py->threads && (interpreter = lbx_py_interpreter(py, k)); k++) {
		uint64_t at = lbx_py_word(py, interpreter + py->layout.threads);
		for (; at && py->n_threads < LBX_PY_THREADS && !is_collected(py, at);
		     at = lbx_py_word(py, at + py->layout.next_thread))
			py->threads[py->n_threads++] = (struct lbx_py_thread){ at, interpreter, tid_of(py, at) };
	}
}

bool lbx_py_thread(struct lbx_python *py, int i, struct lbx_py_thread *ret)
{
	if (!py->threads)
		collect_threads(py);
	if (i >= py->n_threads)
		return false;
	*ret = py->threads[i];
	return true;
}

/* ---- frames ---- */

/* What a word of a frame that holds an object is the address of; small ints are there themselves, not as objects. */
static uint64_t referred(const struct lbx_python *py, uint64_t word)
{
	return word & 1 && word & 2 && py->layout.reference != UINT64_MAX ? 0 : word & py->layout.reference;
}

/* 3.11 notes it, in front of the owner; from 3.12 on the interpreter's function has a frame of its own, from which the first one
 * that it executes came. */
static bool is_entry(const struct lbx_python *py, const struct lbx_py_frame *frame)
{
	const struct lbx_py_layout *l = &py->layout;
	bool is_noted = l->minor < FIRST_MARKED_BY_FRAME;
	uint64_t at = is_noted ? frame->address - ENTRY_IN_FRONT : frame->previous;
	uint8_t byte = 0;

	return at && lbx_py_read(py, at + l->owner, &byte, sizeof byte) && byte == (is_noted ? 1 : OWNED_BY_C);
}

/* False: it is none of a function, class or module; where it came from is in *ret all the same. */
static bool read_frame(struct lbx_python *py, uint64_t at, struct lbx_py_frame *ret)
{
	const struct lbx_py_layout *l = &py->layout;
	const struct lbx_py_type *type;
	uint8_t owner = 0;

	*ret = (struct lbx_py_frame){
		.address = at, .previous = lbx_py_word(py, at + l->previous), .mark = ret->mark, .n = ret->n
	};
	ret->code = referred(py, lbx_py_word(py, at + l->code));
	if (!lbx_py_read(py, at + l->owner, &owner, sizeof owner) || owner >= OWNED_BY_C ||
	    !(type = lbx_py_type_of(py, ret->code)) || type->kind != LBX_PY_PLAIN ||
	    !lbx_py_text(py, lbx_py_word(py, ret->code + l->qualified_name), ret->function, sizeof ret->function))
		return false;
	ret->is_entry = is_entry(py, ret);
	ret->globals = lbx_py_word(py, at + l->globals);
	ret->locals = lbx_py_word(py, at + l->locals);
	lbx_py_text(py, lbx_py_word(py, ret->code + l->file), ret->file, sizeof ret->file);
	ret->instruction = lbx_py_word(py, at + LBX_PY_FRAME_INSTRUCTION) - (ret->code + l->instructions);
	return true;
}

/* The first one from an address on that is a function's. Of a ring, whatever its length, the mark is met again: it is set at
 * the first frame, the second, the fourth, and so on. */
static bool frame_from(struct lbx_python *py, uint64_t at, struct lbx_py_frame *ret)
{
	for (; at && at != ret->mark && ret->n < LBX_PY_FRAMES; at = ret->previous) {
		ret->n++;
		if ((ret->n & (ret->n - 1)) == 0)
			ret->mark = at;
		if (read_frame(py, at, ret))
			return true;
	}
	return false;
}

bool lbx_py_frame_first(struct lbx_python *py, const struct lbx_py_thread *thread, struct lbx_py_frame *ret)
{
	uint64_t at = lbx_py_word(py, thread->address + py->layout.current_frame);

	if (at && py->layout.frame_of_c != LBX_PY_NO_FIELD)
		at = lbx_py_word(py, at + py->layout.frame_of_c);
	ret->mark = ret->n = 0;
	return frame_from(py, at, ret);
}

/* Each call of the interpreter's function has a record in its own frame of C, which leads to the innermost function that it
 * executes (3.11), or is a frame itself, which that one's outermost caller came from. Stacks grow down. */
bool lbx_py_frame_behind(struct lbx_python *py, const struct lbx_py_thread *thread, uint64_t stack,
			 struct lbx_py_frame *ret)
{
	const struct lbx_py_layout *l = &py->layout;
	struct lbx_py_frame frame;

	ret->mark = ret->n = 0;
	if (l->minor < FIRST_MARKED_BY_FRAME) {
		uint64_t at = lbx_py_word(py, thread->address + l->current_frame);
		for (int i = 0; at && at < stack && i < LBX_PY_FRAMES; i++)
			at = lbx_py_word(py, at + l->frame_of_c + sizeof at);
		return at >= stack && frame_from(py, lbx_py_word(py, at + l->frame_of_c), ret);
	}
	bool more = lbx_py_frame_first(py, thread, &frame);
	for (*ret = frame; more && (!frame.is_entry || frame.previous < stack);) {
		bool ends = frame.is_entry;
		more = lbx_py_frame_next(py, &frame, &frame);
		if (ends)
			*ret = frame;
	}
	return more;
}

bool lbx_py_frame_next(struct lbx_python *py, const struct lbx_py_frame *frame, struct lbx_py_frame *ret)
{
	uint64_t previous = frame->previous;

	ret->mark = frame->mark;
	ret->n = frame->n;
	return frame_from(py, previous, ret);
}

bool lbx_py_frame_of(struct lbx_python *py, uint64_t object, struct lbx_py_frame *ret)
{
	uint64_t at = lbx_py_word(py, object + LBX_PY_FRAME_OF_OBJECT);

	ret->mark = ret->n = 0;
	return at && read_frame(py, at, ret);
}

int lbx_py_frame_line(struct lbx_python *py, const struct lbx_py_frame *frame)
{
	return frame->instruction < MAX_CODE ? lbx_py_line(py, frame->code, frame->instruction) : 0;
}

void lbx_py_frame_text(struct lbx_python *py, const struct lbx_py_frame *frame, char *ret, size_t size)
{
	int number = lbx_py_frame_line(py, frame);
	char line[16] = "";

	if (number)
		snprintf(line, sizeof line, ":%d", number);
	snprintf(ret, size, "%s at %s%s", frame->function, frame->file, line);
}

/* ---- variables ---- */

/* A variable that functions within use, too, lies in a cell, once that has been made. */
static uint64_t held_by(struct lbx_python *py, uint64_t object, uint8_t kind)
{
	const struct lbx_py_type *type = object && kind & (KIND_CELL | KIND_FREE) ? lbx_py_type_of(py, object) : NULL;

	return type && type->kind == LBX_PY_CELL ? lbx_py_word(py, object + LBX_PY_CELL_VALUE) : object;
}

bool lbx_py_local_next(struct lbx_python *py, const struct lbx_py_frame *frame, int *i, uint64_t *ret_name,
		       uint64_t *ret_value)
{
	uint64_t names, kinds = lbx_py_word(py, frame->code + py->layout.kinds);
	int64_t n;

	if (!lbx_py_items(py, lbx_py_word(py, frame->code + py->layout.names), &names, &n) || n > MAX_VARIABLES)
		return false;
	for (uint8_t kind; *i < n;) {
		uint64_t k = (uint64_t)(*i)++;
		*ret_name = lbx_py_word(py, names + k * sizeof names);
		if (!lbx_py_read(py, kinds + LBX_PY_BYTES + k, &kind, sizeof kind))
			return false;
		*ret_value =
		    held_by(py, referred(py, lbx_py_word(py, frame->address + py->layout.variables + k * sizeof names)),
			    kind);
		if (*ret_name && *ret_value)
			return true;
	}
	return false;
}
