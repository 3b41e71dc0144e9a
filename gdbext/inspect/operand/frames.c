#include "inspect/operand/frames.h"
#include "inspect/operand/python_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/graph/listings.h"
#include "inspect/operand/gone.h"
#include "inspect/say.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "target/loader.h"
#include "target/printable.h"

enum { HELD_OF_ONE = 4096 };
enum { LABEL = LBX_DESCRIPTION_MAX, SHOWN = 16, LONGEST_PERIOD = 8 };

struct search {
	struct lbx_context *context;
	struct lbx_places *places;
	struct lbx_frame_view *view;
	int most; /* that are held */
	lbx_held_fn *wants; /* NULL: all, and what is gone, too */
	void *of;
};

static bool add_held(struct search *s, const struct lbx_pointer *pointer, const struct lbx_place *place)
{
	struct lbx_frame_view *view = s->view;

	if (view->n_held >= s->most || !lb_reserve(view->held, view->held_room, view->n_held + 1)) {
		view->more_held = true;
		return false;
	}
	view->held[view->n_held++] = (struct lbx_frame_tensor){ *pointer, *place };
	return true;
}

/* A line of a graph has its result and operands for variables. */
static bool take_line_tensor(void *context, const char *label, bool is_operand, const struct lbx_tensor *t)
{
	struct lbx_pointer pointer = { .is_argument = is_operand, .value = t->address };
	struct lbx_place place = { .kind = LBX_PLACE_RECORD, .tensor = *t };

	snprintf(pointer.expression, sizeof pointer.expression, "%s", label);
	return add_held(context, &pointer, &place);
}

/* What leads to the beginning of a record that no tensor has any more. */
static bool take_gone(struct search *s, const struct lbx_pointer *pointer)
{
	struct lbx_frame_view *view = s->view;
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	char gone[1024];

	if (!pointer->value || view->n_gone == LBX_GONE_MAX || !lb_ok() || !lbx_context_tensors(s->context, &tensors))
		return true;
	if (!lbx_tensors_record_at(tensors, pointer->value, &t) && !lb_ok() && lb_error_cause() != LB_INTERRUPTED) {
		char why[512];
		snprintf(why, sizeof why, "%s", lb_error_message());
		lb_clear_error();
		if (!view->gone && !(view->gone = malloc(LBX_GONE_MAX * sizeof *view->gone)))
			return true;
		struct lbx_frame_gone *one = &view->gone[view->n_gone++];
		one->pointer = *pointer;
		snprintf(one->why, sizeof one->why, "%s", why);
		if (lbx_describe_gone(s->context, NULL, pointer->value, 0, gone, sizeof gone))
			snprintf(one->why, sizeof one->why, "a freed tensor: %s", gone);
	}
	return lb_ok();
}

static bool take_pointer(void *context, const struct lbx_pointer *pointer)
{
	struct search *s = context;
	struct lbx_frame_view *view = s->view;
	struct lbx_place place;

	lbx_places_find(s->places, pointer->value, &place);
	if (place.kind == LBX_PLACE_NOTHING)
		return s->wants || take_gone(s, pointer);
	/* a pointer into a record is one to something else of the runtime's */
	if (place.kind == LBX_PLACE_BUFFER || (place.kind == LBX_PLACE_RECORD && place.distance != 0))
		return true;
	if (s->wants && !s->wants(s->of, view, pointer, &place))
		return lb_ok();
	return add_held(s, pointer, &place);
}

static void find_run(struct lbx_context *context, uint64_t tid, struct lbx_thread *ret)
{
	struct lbx_thread thread;
	struct lbx_table *table;
	bool clean = lb_ok();
	uint64_t slot = 0;

	memset(ret, 0, sizeof *ret);
	while (lbx_context_table(context, &table) && lbx_table_thread(table, &slot, &thread))
		if (thread.tid == tid && thread.eval)
			*ret = thread;
	if (clean)
		lb_clear_error();
}

static void find_module(struct lbx_context *context, struct lbx_frame_view *view)
{
	uint64_t pc = lbx_frame_code(&view->frame);
	struct lbx_module m;

	if (view->line.function[0] || !lbx_target_module_at(context->target, pc, &m))
		return;
	snprintf(view->module, sizeof view->module, "%s", m.path);
	lbx_make_printable(view->module);
	view->offset = pc - m.start;
}

/* The library that the runtime is in; false where it is in the program itself, or not known. */
static bool find_runtime(struct lbx_context *context, struct lbx_module *ret)
{
	struct lbx_root root;
	bool clean = lb_ok();
	bool found = context->table && lbx_table_root(context->table, &root) &&
		     lbx_target_module_at(context->target, root.address, ret) && !ret->is_program;

	if (clean)
		lb_clear_error();
	return found;
}

static void look_at_frame(struct search *s, uint64_t tid, const struct lbx_module *runtime, struct lbx_frame_view *view)
{
	struct lbx_context *context = s->context;
	const struct lbx_stacks_ops *ops = context->stacks->ops;
	uint64_t pc = lbx_frame_code(&view->frame);

	if (!ops->line(context->stacks, &view->frame, &view->line) && context->table)
		lbx_graph_line(context->table, pc, &view->line);
	find_module(context, view);
	s->view = view;
	if (!s->places || (context->table && lbx_graph_tensors(context->table, tid, &view->line, take_line_tensor, s)))
		return;
	if (!runtime || pc < runtime->start || pc >= runtime->end)
		ops->pointers(context->stacks, &view->frame, take_pointer, s, &view->told);
}

void lbx_frame_view_hold(struct lbx_context *context, struct lbx_places *places, uint64_t tid,
			 struct lbx_frame_view *view)
{
	look_at_frame(&(struct search){ .context = context, .places = places, .most = HELD_OF_ONE }, tid, NULL, view);
}

static bool waits(struct lbx_context *context)
{
	return context->target && lbx_target_waits(context->target);
}

/* Of a thread that evaluates: how many frames lie within the program's call of the runtime. They are the runtime's also
 * where that is linked statically. */
static int frames_of_call(const struct lbx_stack *stack, const struct lbx_thread *runs)
{
	for (int i = 0; runs->tid && runs->site && i < stack->n; i++)
		if (stack->frames[i].after_call && stack->frames[i].pc == runs->site)
			return i;
	return 0;
}

/* The functions of what is left out. */
static void name_repeated(struct lbx_context *context, const struct lbx_stack *stack, struct lbx_thread_view *ret)
{
	size_t used = 0;

	for (int i = 0; i < stack->n_repeated; i++) {
		struct lbx_frame_view view = { .frame.pc = stack->repeated[i] };
		char where[sizeof view.line];
		if (!context->stacks->ops->line(context->stacks, &view.frame, &view.line))
			continue;
		lbx_describe_frame(&view, where, sizeof where);
		int n = snprintf(ret->repeated + used, sizeof ret->repeated - used, "%s%s", used ? ", " : "", where);
		if (n < 0 || used + (size_t)n >= sizeof ret->repeated)
			return;
		used += (size_t)n;
	}
}

bool lbx_thread_view(struct lbx_context *context, struct lbx_places *places, uint64_t tid, int max, int tail,
		     struct lbx_thread_view *ret)
{
	return lbx_thread_view_wanted(context, places, NULL, NULL, tid, max, tail, ret);
}

bool lbx_thread_view_wanted(struct lbx_context *context, struct lbx_places *places, lbx_held_fn *wants, void *of,
			    uint64_t tid, int max, int tail, struct lbx_thread_view *ret)
{
	struct search s = { .context = context, .places = places, .most = LBX_HELD_MAX, .wants = wants, .of = of };
	struct lbx_stack stack;
	struct lbx_module runtime;

	memset(ret, 0, sizeof *ret);
	if (!context->stacks->ops->walk(context->stacks, tid, max, tail, &stack))
		return false;
	bool has_runtime = places && tail && find_runtime(context, &runtime);
	ret->tid = tid;
	memcpy(ret->end, stack.end, sizeof ret->end);
	ret->gap = stack.gap;
	ret->left_out = stack.left_out;
	ret->cut = stack.cut;
	name_repeated(context, &stack, ret);
	find_run(context, tid, &ret->runs);
	ret->frames = calloc((size_t)stack.n + 1, sizeof *ret->frames);
	bool done = ret->frames || lb_fail("out of memory");
	int inner = places && tail && !has_runtime ? frames_of_call(&stack, &ret->runs) : 0;
	if (inner)
		runtime = (struct lbx_module){ .end = UINT64_MAX };
	for (int i = 0; i < stack.n && done; i++) {
		struct lbx_frame_view *view = &ret->frames[ret->n++];
		view->frame = stack.frames[i];
		view->number = (uint64_t)i + (stack.left_out && i >= stack.gap ? stack.left_out : 0);
		look_at_frame(&s, tid, has_runtime || i < inner ? &runtime : NULL, view);
		/* a debugger that has still to answer is asked for all frames at once */
		done = waits(context) || lbx_progress(context->out, "reading stacks", i, stack.n);
	}
	done = done && lbx_progress(context->out, "reading stacks", stack.n, stack.n);
	lbx_stack_release(&stack);
	if (!done)
		lbx_thread_view_release(ret);
	return done;
}

static bool same_code(const struct lbx_frame_view *a, const struct lbx_frame_view *b)
{
	return a->frame.pc == b->frame.pc && a->frame.depth == b->frame.depth;
}

int lbx_thread_view_fold(const struct lbx_thread_view *view, int i, int *ret_times)
{
	int end = view->left_out && i < view->gap ? view->gap : view->n;

	for (int period = 1; period <= LONGEST_PERIOD; period++) {
		int n = period;
		while (i + n < end && same_code(&view->frames[i + n], &view->frames[i + n - period]))
			n++;
		if (n >= 3 * period) {
			*ret_times = n / period;
			return period;
		}
	}
	*ret_times = 1;
	return 0;
}

void lbx_describe_fold(int period, int times, char *ret, size_t size)
{
	if (period == 1)
		snprintf(ret, size, "… the same frame %d time%s more", times - 1, LB_S(times - 1));
	else
		snprintf(ret, size, "… the same %d frame%s %d time%s more", period, LB_S(period), times - 1,
			 LB_S(times - 1));
}

bool lbx_describe_left_out(const struct lbx_thread_view *view, int i, char *ret, size_t size)
{
	if (view->left_out == 0 || i != view->gap)
		return false;
	snprintf(ret, size, "… %" PRIu64 " more frame%s%s%s", view->left_out, LB_S(view->left_out),
		 view->repeated[0] ? ", all of " : "", view->repeated);
	return true;
}

void lbx_thread_view_release(struct lbx_thread_view *view)
{
	for (int i = 0; i < view->n; i++) {
		free(view->frames[i].held);
		free(view->frames[i].gone);
	}
	free(view->frames);
	view->frames = NULL;
	view->n = 0;
}

/* Templates and inline functions of libraries are in the program's file, too; and what compilers add. */
static bool is_inline(const struct lbx_source_line *line)
{
	const char *function = line->function;

	return strncmp(line->file, "/usr/include/", 13) == 0 || strncmp(function, "std::", 5) == 0 ||
	       strncmp(function, "__gnu_cxx::", 11) == 0 || strcmp(function, "__clang_call_terminate") == 0;
}

/* Of a process, whose loader lists its modules. */
static bool is_common_loaded(struct lbx_target *target, uint64_t pc)
{
	char name[64];
	bool clean = lb_ok();
	int n = 0;
	struct lbx_loaded *modules = lbx_loaded_all(target, &n);
	int i = modules ? lbx_loaded_at(modules, n, pc) : -1;
	bool is_common =
	    i > 0 && lbx_loaded_file(target, modules[i].name, name, sizeof name) && lbx_is_common_library(name);

	free(modules);
	if (clean)
		lb_clear_error();
	return is_common;
}

bool lbx_is_common_frame(struct lbx_context *context, const struct lbx_frame_view *frame)
{
	uint64_t pc = lbx_frame_code(&frame->frame);
	struct lbx_module m;

	if (strcmp(frame->line.function, "_start") == 0)
		return true; /* the C library's, in the program's file */
	if (!frame->n_held && is_inline(&frame->line))
		return true;
	if (frame->n_held)
		return false;
	if (!lbx_target_module_at(context->target, pc, &m))
		return is_common_loaded(context->target, pc);
	if (m.is_program)
		return false;
	const char *name = strrchr(m.path, '/');
	return lbx_is_common_library(name ? name + 1 : m.path);
}

static bool is_in_program(struct lbx_context *context, const struct lbx_frame_view *frame)
{
	struct lbx_module m;

	return lbx_target_module_at(context->target, lbx_frame_code(&frame->frame), &m) && m.is_program;
}

/* In a static program libraries are in its file, without lines. */
const struct lbx_frame_view *lbx_thread_view_own(struct lbx_context *context, const struct lbx_thread_view *view)
{
	const struct lbx_frame_view *first = NULL;

	for (int i = 0; i < view->n; i++) {
		const struct lbx_frame_view *f = &view->frames[i];
		if (!f->line.function[0] || lbx_is_common_frame(context, f))
			continue;
		if (f->line.file[0] || !is_in_program(context, f))
			return f;
		first = first ? first : f;
	}
	return first;
}

struct wanted {
	const char *expression;
	uint64_t value;
};

static bool compare_pointer(void *context, const struct lbx_pointer *pointer)
{
	struct wanted *wanted = context;

	if (strcmp(pointer->expression, wanted->expression) != 0)
		return true;
	wanted->value = pointer->value;
	return false;
}

bool lbx_find_variable(struct lbx_context *context, const char *expression, uint64_t *ret)
{
	struct wanted wanted = { .expression = expression };
	struct lbx_stack stack;
	bool clean = lb_ok();
	uint64_t tid;

	if (context->target && context->target->ops->evaluate)
		return false;
	if (context->stacks && context->stacks->ops->evaluate) {
		struct lbx_evaluated value;
		bool found = context->stacks->ops->evaluate(context->stacks, expression, &value);
		*ret = value.value;
		return found;
	}
	if (context->stacks && context->stacks->ops->threads(context->stacks, &tid, 1) > 0 &&
	    context->stacks->ops->walk(context->stacks, tid, LBX_FRAMES_MAX, 0, &stack)) {
		for (int i = 0; i < stack.n && wanted.value == 0; i++)
			context->stacks->ops->pointers(context->stacks, &stack.frames[i], compare_pointer, &wanted,
						       NULL);
		lbx_stack_release(&stack);
	}
	if (clean)
		lb_clear_error();
	*ret = wanted.value;
	return wanted.value != 0;
}

/* Behind what was met before. */
static void say_cut(uint64_t cut, const char *first, char *ret, size_t size)
{
	if (cut)
		lbx_say(ret, size, "%snot all of `%s` was looked through", *ret ? "; " : "", first);
	if (cut > 1)
		lbx_say(ret, size, ", nor of %" PRIu64 " other variable%s", cut - 1, LB_S(cut - 1));
}

void lbx_variables_limits(const struct lbx_variables_told *told, char *ret, size_t size)
{
	if (!*ret)
		say_cut(told->cut, told->first_cut, ret, size);
}

void lbx_statics_limits(const struct lbx_statics_told *told, char *ret, size_t size)
{
	say_cut(told->cut, told->first_cut, ret, size);
	if (told->has_more)
		lbx_say(ret, size, "%sthere is more debug information than was searched for variables",
			*ret ? "; " : "");
}

void lbx_describe_frame(const struct lbx_frame_view *frame, char *ret, size_t size)
{
	const struct lbx_source_line *line = &frame->line;

	if (line->file[0])
		snprintf(ret, size, "%s at %s:%d", line->function[0] ? line->function : "?", line->file, line->line);
	else if (line->function[0])
		snprintf(ret, size, "%s", line->function);
	else if (frame->module[0])
		snprintf(ret, size, "? of %s+0x%" PRIx64, frame->module, frame->offset);
	else
		snprintf(ret, size, "?");
}

bool lbx_frame_tensor_is_strided(const struct lbx_frame_tensor *held)
{
	const struct lbx_place *p = &held->place;
	return p->kind == LBX_PLACE_DATA && p->is_start && p->tensor.size > 1 &&
	       lbx_tensor_contiguity(&p->tensor) != LBX_ROW_CONTIGUOUS;
}

void lbx_describe_frame_tensor(const struct lbx_frame_tensor *held, char *ret, size_t size)
{
	const struct lbx_place *p = &held->place;
	char label[LABEL];

	lbx_describe(&p->tensor, label, sizeof label);
	if (p->kind == LBX_PLACE_RECORD)
		snprintf(ret, size, "%s = %s", held->pointer.expression, label);
	else if (p->is_start)
		snprintf(ret, size, "%s points to the elements of %s%s", held->pointer.expression, label,
			 lbx_frame_tensor_is_strided(held) ? ", which memory holds in another order" : "");
	else
		snprintf(ret, size, "%s points %" PRIu64 " byte%s into the buffer of %s", held->pointer.expression,
			 p->distance, LB_S(p->distance), label);
}

void lbx_describe_run(struct lbx_context *context, const struct lbx_thread *thread, char *ret, size_t size)
{
	struct lbx_tensors *tensors = lbx_table_tensors(context->table);
	char now[LABEL + 32] = "", label[LABEL];
	struct lbx_tensor t;
	bool clean = lb_ok();

	*ret = '\0';
	if (thread->tid == 0)
		return;
	if (thread->tensor && tensors && lbx_tensors_by_id(tensors, thread->tensor, &t)) {
		lbx_describe(&t, label, sizeof label);
		snprintf(now, sizeof now, ", now %s of %s", t.op, label);
	} else if (thread->tensor) {
		snprintf(now, sizeof now, ", now #%" PRIu64, thread->tensor);
	}
	if (clean)
		lb_clear_error();
	size_t n = (size_t)snprintf(ret, size, "evaluation %" PRIu64 ": %" PRIu64 " of %" PRIu64 " operation%s done%s",
				    thread->eval, thread->done, thread->total, LB_S(thread->total), now);
	if (thread->waits_for && n < size)
		snprintf(ret + n, size - n, ", waiting for evaluation %" PRIu64, thread->waits_for);
}

static json_t *json_held(const struct lbx_frame_tensor *held)
{
	const struct lbx_place *p = &held->place;
	const struct lbx_tensor *t = &p->tensor;
	json_t *o =
	    json_pack("{s:o,s:b,s:o,s:s,s:I,s:o,s:s,s:o,s:s}", "variable", lbx_json_string(held->pointer.expression),
		      "argument", held->pointer.is_argument, "value", lbx_json_address(held->pointer.value), "is",
		      p->kind == LBX_PLACE_RECORD ? "tensor" : "pointer into tensor", "id", (json_int_t)t->id, "name",
		      t->name[0] ? lbx_json_string(t->name) : json_null(), "dtype", lbx_tensor_dtype_name(t), "shape",
		      lbx_json_list(lbx_shape(t), t->rank), "state", lbx_state_name(lbx_told_state(t)));

	if (p->kind == LBX_PLACE_DATA) {
		json_object_set_new(o, "byte", json_integer((json_int_t)p->distance));
		json_object_set_new(o, "strided", json_boolean(lbx_frame_tensor_is_strided(held)));
	}
	return o;
}

static json_t *json_frame(const struct lbx_frame_view *frame)
{
	const struct lbx_source_line *line = &frame->line;
	json_t *held = json_array(), *gone = json_array();

	for (int i = 0; i < frame->n_held; i++)
		json_array_append_new(held, json_held(&frame->held[i]));
	for (int i = 0; i < frame->n_gone; i++)
		json_array_append_new(gone, json_pack("{s:o,s:b,s:o,s:o}", "variable",
						      lbx_json_string(frame->gone[i].pointer.expression), "argument",
						      frame->gone[i].pointer.is_argument, "value",
						      lbx_json_address(frame->gone[i].pointer.value), "why",
						      lbx_json_string(frame->gone[i].why)));
	json_t *o = json_pack("{s:I,s:o,s:o,s:b,s:o,s:o,s:o}", "frame", (json_int_t)frame->number, "pc",
			      lbx_json_address(frame->frame.pc), "function", lbx_json_text(line->function), "inlined",
			      frame->frame.is_inlined, "file", lbx_json_text(line->file), "line",
			      lbx_json_int_if(line->file[0], line->line), "tensors", held);

	if (frame->n_gone)
		json_object_set(o, "gone", gone);
	json_decref(gone);
	if (frame->module[0]) {
		json_object_set_new(o, "module", lbx_json_string(frame->module));
		json_object_set_new(o, "offset", lbx_json_address(frame->offset));
	}
	return o;
}

void lbx_tell_frame(struct lbx_context *context, const struct lbx_frame_view *frame, bool all)
{
	struct lbx_out *out = context->out;
	int shown = all || frame->n_held < SHOWN ? frame->n_held : SHOWN;
	char text[512], held[2 * LABEL];

	LBX_KEY(out, NULL, json_frame(frame));
	lbx_describe_frame(frame, text, sizeof text);
	lbx_wrap(out, 0, 7);
	lbx_printf(out, "  #%-3" PRIu64 "%s", frame->number, frame->number > 99 ? " " : "");
	lbx_styled(out, LBX_ADDRESS, "0x%012" PRIx64, frame->frame.pc);
	lbx_printf(out, " in %s%s\n", text, frame->frame.is_inlined ? " (inlined)" : "");
	for (int i = 0; i < shown; i++) {
		lbx_describe_frame_tensor(&frame->held[i], held, sizeof held);
		lbx_wrap(out, 0, 11);
		lbx_printf(out, "       ");
		lbx_styled(out, lbx_frame_tensor_is_strided(&frame->held[i]) ? LBX_WARNING : LBX_NAME, "%s\n", held);
	}
	for (int i = 0; i < frame->n_gone; i++) {
		lbx_wrap(out, 0, 11);
		lbx_printf(out, "       ");
		lbx_styled(out, LBX_WARNING, "%s = 0x%" PRIx64 ", %s\n", frame->gone[i].pointer.expression,
			   frame->gone[i].pointer.value, frame->gone[i].why);
	}
	if (shown < frame->n_held)
		lbx_printf(out, "       … %s%d more (`%sframe %" PRIu64 " --all`)\n",
			   frame->more_held ? "at least " : "", frame->n_held - shown,
			   context->prefix ? context->prefix : "", frame->number);
	else if (frame->more_held)
		lbx_printf(out, "       … and more: only the first %d are looked at\n", frame->n_held);
}

/* How many frames from the i-th on are the interpreter's own, in which its user sees little; 0 where `py` is NULL. */
static int count_interpreter(const struct lbx_python *py, const struct lbx_thread_view *view, int i)
{
	int end = view->left_out && i < view->gap ? view->gap : view->n, n = i;

	while (py && n < end && view->frames[n].n_held == 0 &&
	       lbx_python_is_code(py, lbx_frame_code(&view->frames[n].frame)))
		n++;
	return n - i;
}

static void tell_interpreter(struct lbx_out *out, const struct lbx_python *py, const struct lbx_frame_view *first,
			     int n)
{
	for (int i = 0; i < n; i++)
		LBX_KEY(out, NULL, json_frame(&first[i]));
	lbx_printf(out, "  #%-3" PRIu64 "… %d frames of Python %s's interpreter\n", first->number, n, py->version);
}

/* A text tells frames that are repeated once, and those of an interpreter of Python, where `py` is one, by their number. */
static void tell_frames(struct lbx_context *context, const struct lbx_python *py, const struct lbx_thread_view *view)
{
	struct lbx_out *out = context->out;
	char text[2 * LABEL];

	lbx_begin_list(out, "frames");
	for (int i = 0, times; i < view->n;) {
		int period = lbx_thread_view_fold(view, i, &times), n = period ? period * times : 1;
		int own = count_interpreter(py, view, i);
		if (lbx_describe_left_out(view, i, text, sizeof text))
			lbx_printf(out, "  %s\n", text);
		if (own > 1) {
			tell_interpreter(out, py, &view->frames[i], own);
			i += own;
			continue;
		}
		for (int k = 0; k < n; k++)
			if (k < period || !period)
				lbx_tell_frame(context, &view->frames[i + k], false);
			else
				LBX_KEY(out, NULL, json_frame(&view->frames[i + k]));
		if (period) {
			lbx_describe_fold(period, times, text, sizeof text);
			lbx_printf(out, "  %s\n", text);
		}
		i += n;
	}
	lbx_end(out);
}

/* As text: each frame where it was called from, those of Python in place of the interpreter's. */
static void tell_together(struct lbx_context *context, const struct lbx_entries *entries,
			  const struct lbx_thread_view *view)
{
	struct lbx_out *out = context->out;
	const char *why;
	const struct lbx_python *py = lbx_context_python(context, &why);
	int n = 0, own = 0;

	lbx_printf(out, "  in Python %s, C and C++\n", py->version);
	for (int i = 0; i < view->n; i++) {
		const struct lbx_frame_view *frame = &view->frames[i];
		if (n < entries->n && frame->number == entries->list[n].c_frame) {
			lbx_tell_python(context, view->tid,
					&(struct lbx_python_ask){ .max = LBX_PYTHON_FRAMES,
								  .from = entries->list[n].first,
								  .to = entries->list[n].end });
			n++;
		}
		if (frame->n_held || !lbx_python_is_code(py, lbx_frame_code(&frame->frame)))
			lbx_tell_frame(context, frame, false);
		else
			own++;
	}
	lbx_printf(out, "  (and %d frame%s of Python's interpreter)\n", own, LB_S(own));
	lbx_tell_python_exceptions(context, view->tid);
}

static void tell_stacks(struct lbx_context *context, const struct lbx_thread_view *view)
{
	struct lbx_entries entries;
	bool is_known = lbx_entries_find(context, view, &entries);
	const char *why;

	if (is_known && !context->out->json) {
		tell_together(context, &entries, view);
		return;
	}
	const struct lbx_python_ask ask = { .max = LBX_PYTHON_FRAMES, .entries = is_known ? &entries : NULL };
	bool has_python = lbx_tell_python(context, view->tid, &ask);
	if (has_python)
		lbx_printf(context->out, "  in C and C++\n");
	tell_frames(context, has_python ? lbx_context_python(context, &why) : NULL, view);
}

void lbx_tell_thread(struct lbx_context *context, const struct lbx_thread_view *view)
{
	const struct lbx_thread *run = &view->runs;
	struct lbx_out *out = context->out;
	char text[2 * LABEL];

	lbx_describe_run(context, run, text, sizeof text);
	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_TITLE, "thread %" PRIu64, view->tid);
	lbx_printf(out, "%s%s\n", *text ? ", " : "", text);
	LBX_KEYS(out, json_pack("{s:I,s:I,s:b,s:o}", "thread", (json_int_t)view->tid, "left_out",
				(json_int_t)view->left_out, "cut", view->cut, "end", lbx_json_text(view->end)));
	if (run->tid)
		LBX_KEY(out, "evaluation",
			json_pack("{s:I,s:I,s:I,s:I,s:I}", "number", (json_int_t)run->eval, "tensor",
				  (json_int_t)run->tensor, "done", (json_int_t)run->done, "total",
				  (json_int_t)run->total, "waits_for", (json_int_t)run->waits_for));
	tell_stacks(context, view);
	if (view->cut)
		lbx_printf(out, "  … and maybe more\n");
	if (view->end[0])
		lbx_wrap(out, 0, 4), lbx_styled(out, LBX_WARNING, "  (%s)\n", view->end);
	lbx_end(out);
}
