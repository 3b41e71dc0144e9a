/* A record's address is looked for in all that the program may write, in one pass: word by word, for compilers align
 * pointers. What lies in the records and in the values of tensors is left out: inputs are told as such, and values are
 * no pointers. A pointer may be stale, for freed memory keeps what it held. */
#include "inspect/forensics/owners.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/operand/frames.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/json.h"
#include "target/search.h"

enum { OF_VARIABLE = 4 /* pointers that are told of one variable, where not all are wanted */ };
enum { WORD = 8, MAX_FRAMES = 256, MAX_POINTERS = 1 << 16, OFTEN = 1 << 13, LABEL = LBX_DESCRIPTION_MAX, FIELD = 13 };
struct owners {
	struct lbx_context *context;
	const struct lbx_tensor *tensor;
	int64_t limit;
	struct lbx_places *places;
	struct lbx_thread_view *threads;
	int n_threads;
	uint64_t begin, end;    /* of its elements */
	int64_t told;           /* variables */
	const char *variable;   /* whose pointers are told, so many so far */
	int64_t n_of_variable;
	uint64_t looked;        /* pointers of variables, for progress */
	char limits[512];       /* which variables were not looked through, or "" */
	uint64_t *pointers; /* where they are */
	size_t n_pointers, pointers_room;
};

static bool is_shown(const struct owners *o, int64_t i)
{
	return i < o->limit;
}

static void tell_more(struct lbx_out *out, const struct owners *o, int64_t n)
{
	if (n > o->limit) {
		lbx_field(out, "", FIELD);
		lbx_printf(out, "… %lld more (--limit 0 shows all)\n", (long long)(n - o->limit));
	}
}

/* ---- its memory ---- */

static void tell_fact(void *context, const char *name, const char *text)
{
	struct lbx_out *out = context;

	if (strcmp(name, "ne") == 0 || strcmp(name, "nb") == 0) /* of its shape */
		return;
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:s,s:o}", "name", name, "text", lbx_json_string(text)));
	lbx_end(out);
	lbx_field(out, name, FIELD);
	lbx_printf(out, "%s\n", text);
}

static void tell_memory(struct lbx_out *out, const struct lbx_tensor *t)
{
	uint64_t begin = 0, end = 0;
	bool is_there = t->buffer_id && lbx_tensor_range(t, &begin, &end);

	LBX_KEY(out, "data", lbx_json_address(begin));
	if (t->buffer_id) {
		lbx_field(out, "buffer", FIELD);
		lbx_begin(out, "buffer");
		lbx_tell(out, "#%pF, %pF at %pF", LBX_UINT("id", t->buffer_id), LBX_SIZE("nbytes", t->buffer_bytes),
			 LBX_HEX("data", t->data));
		lbx_end(out);
		if (is_there)
			lbx_printf(out, ": bytes %" PRIu64 " to %" PRIu64, begin - t->data, end - t->data);
		lbx_printf(out, "\n");
	}
	if (t->usage) {
		lbx_field(out, "usage", FIELD);
		lbx_printf(out, "%s\n", lbx_usage_name(t->usage));
	}
	LBX_KEY(out, "usage", lbx_json_text(lbx_usage_name(t->usage)));
	lbx_begin_list(out, "facts");
	lbx_tensors_facts(t->of, t, tell_fact, out);
	lbx_end(out);
}

/* ---- other tensors ---- */

static bool shares(const struct lbx_tensor *a, const struct lbx_tensor *b)
{
	return a->buffer_id && a->buffer_id == b->buffer_id && a->data == b->data;
}

static bool uses(const struct lbx_tensor *user, const struct lbx_tensor *t)
{
	for (uint32_t i = 0; i < user->n_inputs; i++)
		if (lbx_tensor_input_id(user, i) == t->id)
			return true;
	return false;
}

/* Those of its set that share its memory; or that have it for an input. */
static bool tell_related(const struct owners *o, const char *name, const char *key,
			 bool (*is_related)(const struct lbx_tensor *, const struct lbx_tensor *))
{
	struct lbx_out *out = o->context->out;
	const struct lbx_tensor *t = o->tensor;
	uint64_t slot = 0, bad = 0, seen = 0;
	struct lbx_tensor other;
	char label[LABEL];
	enum lbx_next next;
	int64_t n = 0;

	lbx_begin_list(out, key);
	while ((next = lbx_tensors_next(t->of, &slot, &other, &bad)) == LBX_NEXT_TENSOR) {
		if (++seen % OFTEN == 0 && !lbx_progress(out, "looking for owners", (int64_t)seen, 0))
			return false;
		if (other.id == t->id || !is_related(&other, t) || !is_shown(o, n++))
			continue;
		LBX_KEY(out, NULL, json_integer((json_int_t)other.id));
		lbx_describe(&other, label, sizeof label);
		lbx_field(out, n == 1 ? name : "", FIELD);
		lbx_styled(out, LBX_NAME, "%s\n", label);
	}
	lbx_end(out);
	tell_more(out, o, n);
	return next == LBX_NEXT_END;
}

/* ---- variables ---- */

static bool is_it(const struct owners *o, const struct lbx_place *place)
{
	return place->tensor.id == o->tensor->id && place->tensor.of == o->tensor->of;
}

static bool wants(void *context, const struct lbx_frame_view *frame, const struct lbx_pointer *pointer,
		  const struct lbx_place *place)
{
	(void)frame, (void)pointer;
	return is_it(context, place);
}

static bool view_threads(struct owners *o)
{
	struct lbx_stacks *stacks = o->context->stacks;
	uint64_t tids[LBX_THREADS_SHOWN];
	bool clean = lb_ok();
	int n = stacks ? stacks->ops->threads(stacks, tids, LBX_THREADS_SHOWN) : 0;

	n = n < LBX_THREADS_SHOWN ? n : LBX_THREADS_SHOWN;
	o->threads = calloc((size_t)(n > 0 ? n : 1), sizeof *o->threads);
	if (!o->threads)
		return lb_fail("out of memory");
	for (int i = 0; i < n; i++) {
		if (lbx_thread_view_wanted(o->context, o->places, wants, o, tids[i], MAX_FRAMES, LBX_TAIL,
					   &o->threads[o->n_threads])) {
			o->n_threads++;
			continue;
		}
		if (lb_error_cause() == LB_INTERRUPTED)
			return false;
		if (clean)
			lb_clear_error();
	}
	return true;
}

static void tell_variable(const struct owners *o, uint64_t tid, const struct lbx_frame_view *frame,
			  const struct lbx_frame_tensor *held, bool is_first)
{
	struct lbx_out *out = o->context->out;
	char where[512];

	lbx_describe_frame(frame, where, sizeof where);
	LBX_KEY(out, NULL,
		json_pack("{s:o,s:I,s:I,s:o,s:s}", "variable", lbx_json_string(held->pointer.expression), "thread",
			  (json_int_t)tid, "frame", (json_int_t)frame->number, "where", lbx_json_string(where), "is",
			  held->place.kind == LBX_PLACE_RECORD ? "tensor" : "pointer into tensor"));
	lbx_field(out, is_first ? "variables" : "", FIELD);
	lbx_styled(out, LBX_NAME, "%s", held->pointer.expression);
	lbx_printf(out, "%s, in frame #%" PRIu64 " of thread %" PRIu64 ": %s\n",
		   held->place.kind == LBX_PLACE_RECORD ? "" : ", which points to its elements", frame->number, tid,
		   where);
}

/* "global, main.cc:12"; "static of next, main.cc:14"; "global of thread 4711, main.cc:12" */
static void describe_static(const struct lbx_static_place *place, char *ret, size_t size)
{
	const struct lbx_source_line *where = &place->declared;
	size_t n = (size_t)snprintf(ret, size, where->function[0] ? "static of %s" : "global", where->function);

	if (place->thread && n < size)
		n += (size_t)snprintf(ret + n, size - n, "%s thread %" PRIu64, where->function[0] ? " in" : " of",
				      place->thread);
	if (where->file[0] && n < size)
		snprintf(ret + n, size - n, ", %s:%d", where->file, where->line);
}

static void tell_static(const struct owners *o, const struct lbx_static_place *place, const struct lbx_pointer *pointer,
			bool is_record, bool is_first)
{
	struct lbx_out *out = o->context->out;
	char where[sizeof place->declared];

	describe_static(place, where, sizeof where);
	LBX_KEY(out, NULL,
		json_pack("{s:o,s:o,s:n,s:o,s:s}", "variable", lbx_json_string(pointer->expression), "thread",
			  place->thread ? json_integer((json_int_t)place->thread) : json_null(), "frame", "where",
			  lbx_json_string(where), "is", is_record ? "tensor" : "pointer into tensor"));
	lbx_field(out, is_first ? "variables" : "", FIELD);
	lbx_styled(out, LBX_NAME, "%s", pointer->expression);
	lbx_printf(out, "%s, %s\n", is_record ? "" : ", which points to its elements", where);
}

/* What is left out of the variable that was told last. */
static void end_variable(struct owners *o)
{
	int64_t more = o->n_of_variable - OF_VARIABLE;

	if (o->variable && more > 0 && o->limit != INT64_MAX) {
		lbx_field(o->context->out, "", FIELD);
		lbx_printf(o->context->out, "… %lld more in %s (--limit 0 shows all)\n", (long long)more, o->variable);
	}
	o->variable = NULL;
	o->n_of_variable = 0;
}

static bool take_static(void *context, const struct lbx_pointer *pointer, const struct lbx_static_place *place)
{
	struct owners *o = context;
	uint64_t value = pointer->value;
	struct lbx_frame_tensor held = { .pointer = *pointer };
	bool is_record = o->tensor->address && value == o->tensor->address;

	if (++o->looked % OFTEN == 0 &&
	    !lbx_progress(o->context->out, "looking through variables", (int64_t)o->looked, 0))
		return false;
	if (!is_record && !(value >= o->begin && value < o->end))
		return true;
	lbx_places_find(o->places, value, &held.place);
	if (!is_it(o, &held.place) || (held.place.kind == LBX_PLACE_RECORD && held.place.distance))
		return true;
	if (o->variable != place->variable)
		end_variable(o);
	o->variable = place->variable;
	if (o->n_of_variable++ >= OF_VARIABLE && o->limit != INT64_MAX)
		return true;
	if (is_shown(o, o->told++))
		tell_static(o, place, pointer, held.place.kind == LBX_PLACE_RECORD, o->told == 1);
	return true;
}

/* Those that are there for as long as the program runs. */
static bool tell_statics(struct owners *o)
{
	struct lbx_stacks *stacks = o->context->stacks;
	struct lbx_statics_told told;

	if (!lbx_tensor_range(o->tensor, &o->begin, &o->end))
		o->begin = o->end = 0;
	if (!stacks || !stacks->ops->statics || !stacks->ops->statics(stacks, take_static, o, &told))
		return lb_ok();
	end_variable(o);
	lbx_statics_limits(&told, o->limits, sizeof o->limits);
	return lb_ok();
}

static bool tell_variables(struct owners *o)
{
	struct lbx_out *out = o->context->out;

	lbx_begin_list(out, "variables");
	for (int i = 0; i < o->n_threads; i++)
		for (int f = 0; f < o->threads[i].n; f++) {
			const struct lbx_frame_view *frame = &o->threads[i].frames[f];
			for (int h = 0; h < frame->n_held; h++)
				if (is_shown(o, o->told++))
					tell_variable(o, o->threads[i].tid, frame, &frame->held[h], o->told == 1);
			lbx_variables_limits(&frame->told, o->limits, sizeof o->limits);
		}
	bool ok = tell_statics(o);
	lbx_end(out);
	tell_more(out, o, o->told);
	LBX_KEY(out, "variables_left_out", lbx_json_text(o->limits));
	if (o->limits[0]) {
		lbx_field(out, "", FIELD);
		lbx_styled(out, LBX_WARNING, "%s\n", o->limits);
	}
	return ok;
}

/* ---- pointers ---- */

static bool add_pointer(struct owners *o, uint64_t at)
{
	if (o->n_pointers == MAX_POINTERS || !lb_reserve(o->pointers, o->pointers_room, o->n_pointers + 1))
		return lb_fail(o->n_pointers == MAX_POINTERS ? "more than %d pointers lead to it"
							     : "out of memory for more than %d pointers",
			       (int)o->n_pointers);
	o->pointers[o->n_pointers++] = at;
	return true;
}

/* Whose memory it is decides whether it is one. */
static bool take_word(struct owners *o, uint64_t at)
{
	struct lbx_place place;

	lbx_places_find(o->places, at, &place);
	return place.kind != LBX_PLACE_NOTHING || add_pointer(o, at);
}

static bool search_words(void *context, const char *bytes, size_t n, uint64_t address)
{
	struct owners *o = context;
	uint64_t wanted = o->tensor->address, word;

	for (size_t at = (size_t)(-address & (WORD - 1)); at + WORD <= n; at += WORD) {
		memcpy(&word, bytes + at, WORD);
		if (word == wanted && !take_word(o, address + at))
			return false;
	}
	return true;
}

static bool progress(void *context, int64_t done)
{
	return lbx_progress(context, "looking for pointers", done, 0);
}

static bool find_pointers(struct owners *o)
{
	/* through a connection memory comes slowly */
	bool is_remote = o->context->target->liveness == LBX_REMOTE;
	const struct lbx_search search = { .bytes = WORD,
					   .is_thorough = !is_remote,
					   .look = search_words,
					   .context = o,
					   .progress = progress,
					   .progress_context = o->context->out };

	return lbx_search(o->context->target, &search);
}

static bool in_frame(const struct owners *o, uint64_t at, char *ret, size_t size)
{
	char where[512];
	uint64_t sp;

	for (int i = 0; i < o->n_threads; i++)
		for (int f = 0; f < o->threads[i].n; f++) {
			const struct lbx_frame_view *v = &o->threads[i].frames[f];
			if (!lbx_stack_pointer(&v->frame.registers, &sp) || at < sp || at >= v->frame.cfa)
				continue;
			lbx_describe_frame(v, where, sizeof where);
			snprintf(ret, size, "on the stack of thread %" PRIu64 ", in frame #%" PRIu64 ": %s",
				 o->threads[i].tid, v->number, where);
			return true;
		}
	return false;
}

/* Within what a runtime keeps for itself, as its flight recorder: it says so. */
static bool in_part(const struct owners *o, uint64_t at, char *ret, size_t size)
{
	for (int i = 0; i < o->context->n_sets; i++)
		if (lbx_tensors_part_at(o->context->sets[i], at, ret, size))
			return true;
	return false;
}

static void describe_pointer(const struct owners *o, uint64_t at, char *ret, size_t size)
{
	struct lbx_target *target = o->context->target;
	struct lbx_source_line line;
	struct lbx_module m;

	if (in_frame(o, at, ret, size))
		return;
	bool in_module = lbx_target_module_at(target, at, &m);
	if (lbx_target_source_line(target, at, &line) && line.function[0])
		snprintf(ret, size, "data of %s%s%s", line.function, in_module ? " in " : "", in_module ? m.path : "");
	else if (in_module)
		snprintf(ret, size, "data of %s", m.path);
	else
		snprintf(ret, size, "in other memory");
}

static void tell_pointer(struct lbx_out *out, uint64_t at, const char *where, const char *name)
{
	lbx_begin(out, NULL);
	lbx_field(out, name, FIELD);
	lbx_tell(out, "%pF, %pF\n", LBX_HEX("at", at), LBX_TEXT("where", where));
	lbx_end(out);
}

/* Those within parts are many, and no news: one stands for all, where not all are wanted. */
static void tell_pointers(const struct owners *o)
{
	struct lbx_out *out = o->context->out;
	char where[1024];
	int64_t shown = 0, of_parts = 0;
	bool folds = !out->json && o->limit != INT64_MAX;

	lbx_begin_list(out, "pointers");
	for (size_t i = 0; i < o->n_pointers; i++) {
		bool is_part = in_part(o, o->pointers[i], where, sizeof where);
		if (is_part && of_parts++ && folds)
			continue;
		if (!is_shown(o, shown++))
			continue;
		if (!is_part)
			describe_pointer(o, o->pointers[i], where, sizeof where);
		tell_pointer(out, o->pointers[i], where, shown > 1 ? "" : "pointers");
	}
	lbx_end(out);
	tell_more(out, o, shown);
	if (of_parts > 1 && folds) {
		lbx_field(out, "", FIELD);
		lbx_printf(out,
			   "and %" PRId64
			   " more of the runtime's own, which keep nothing alive, either (--limit 0 shows all)\n",
			   of_parts - 1);
	}
}

/* ---- all of it ---- */

/* NULL: they are looked for. */
static const char *why_no_pointers(const struct owners *o)
{
	struct lbx_range range;

	if (o->tensor->address == 0)
		return "its records have no addresses";
	return lbx_target_range(o->context->target, 0, &range) ? NULL
							       : "which memory the program may write is not known";
}

static bool tell(struct owners *o)
{
	struct lbx_out *out = o->context->out;
	const char *why = why_no_pointers(o);
	char label[LABEL];

	if (!why && !find_pointers(o))
		return false;
	lbx_begin(out, NULL);
	LBX_KEYS(out, lbx_json_tensor(o->tensor));
	lbx_describe(o->tensor, label, sizeof label);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_NAME, "%s\n", label);
	tell_memory(out, o->tensor);
	if (!tell_related(o, "shared with", "shared_with", shares) || !tell_related(o, "input of", "input_of", uses))
		return false;
	if (!tell_variables(o))
		return false;
	if (why) {
		lbx_field(out, "pointers", FIELD);
		lbx_printf(out, "not looked for: %s\n", why);
	} else {
		tell_pointers(o);
	}
	LBX_KEY(out, "pointers_unknown", lbx_json_text(why));
	lbx_end(out);
	return lb_ok();
}

bool lbx_tell_owners(struct lbx_context *context, const struct lbx_tensor *t, int64_t limit)
{
	struct owners o = { .context = context, .tensor = t, .limit = limit };
	bool ok = lbx_places_create(context, &o.places) && view_threads(&o);

	/* a debugger that has still to answer is asked for all at once */
	if (ok && !lbx_target_waits(context->target))
		ok = tell(&o);
	for (int i = 0; i < o.n_threads; i++)
		lbx_thread_view_release(&o.threads[i]);
	free(o.threads);
	free(o.pointers);
	lbx_places_destroy(o.places);
	return ok;
}
