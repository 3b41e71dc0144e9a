#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/commands/session_trace.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "inspect/command.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/hooks.h"
#include "plugin/bridge/lines.h"
#include "plugin/bridge/text.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/stops/stop_commands.h"
#include "record/held.h"
#include "record/libraries.h"
#include "record/trace.h"

enum {
	MOST_VARIABLES = 128,
	MOST_ANSWER = 64 << 10, /* of a longer one its size is told */
	MOST_TYPED = 1000,      /* lines between two records */
};

static struct {
	struct lbx_trace *trace;
	pid_t owner;     /* gdb, not a child of it that ends: only gdb has the trace's thread */
	bool is_pending; /* a stop that nobody has looked at */
	bool lacks_program; /* when the trace began gdb had none yet */
	int typed;          /* lines of the history that have been told, or were there before gdb */
	struct text answer;
	double began;
	void (*write)(struct lbx_out *out, const char *text, size_t n);
} kept;

/* ---- what was typed ---- */

/* A line of readline's history (HIST_ENTRY of its documentation). */
struct history_entry {
	char *line, *timestamp;
	void *data;
};

/* How many lines gdb takes from its file of earlier sessions, which it reads after the scripts of its beginning. Empty ones
 * are none. */
static int earlier_lines(const char *path)
{
	lb_auto_free char *line = NULL;
	size_t room = 0;
	int n = 0;
	FILE *file = fopen(path, "re");

	while (file && getline(&line, &room, file) > 0)
		n += *line != '\n';
	if (file)
		fclose(file);
	return n;
}

/* -1: gdb keeps its history to itself. */
static int history_end(int *base)
{
	const int *first = dlsym(RTLD_DEFAULT, "history_base"), *length = dlsym(RTLD_DEFAULT, "history_length");

	if (!first || !length || *length < 0)
		return -1;
	*base = *first;
	return *first + *length;
}

static void tell_typed(void)
{
	struct history_entry *(*get)(int) = (struct history_entry * (*)(int)) dlsym(RTLD_DEFAULT, "history_get");
	int base, end = get ? history_end(&base) : -1;
	json_t *lines;

	if (end < 0 || kept.typed >= end || !(lines = json_array()))
		return;
	if (kept.typed < base)
		kept.typed = base;
	if (kept.typed < end - MOST_TYPED)
		kept.typed = end - MOST_TYPED;
	for (; kept.typed < end; kept.typed++) {
		const struct history_entry *entry = get(kept.typed);
		if (entry && entry->line && *entry->line)
			json_array_append_new(lines, lbx_json_string(entry->line));
	}
	if (json_array_size(lines) > 0)
		lbx_trace_add(kept.trace, json_pack("{s:s, s:O}", "kind", "typed", "lines", lines));
	json_decref(lines);
}

static void close_trace(void)
{
	lbx_trace_end(kept.trace);
	lbx_trace_destroy(kept.trace);
	kept.trace = NULL;
}

/* A trace that cannot be written says so once, and is over. */
static void add(json_t *record)
{
	lb_clear_error(); /* what has failed is in the record */
	tell_typed();
	if (lbx_trace_add(kept.trace, record))
		return;
	lbx_bridge_echo("tensor: ", 8);
	lbx_bridge_echo(lb_error_message(), strlen(lb_error_message()));
	lbx_bridge_echo("\n", 1);
	close_trace();
	lb_clear_error();
}

/* ---- beginning and end ---- */

static void end(void)
{
	if (!kept.trace || kept.owner != getpid())
		return;
	tell_typed();
	close_trace();
}

/* "* 1    process 4711 1 (native)   /home/me/train", the last column of the line of the current one. */
static const char *program_of(const char *inferiors, char *ret, size_t size)
{
	const char *at = inferiors;

	while (*at && *at != '*')
		at += strcspn(at, "\n"), at += *at == '\n';
	size_t n = strcspn(at, "\n");
	const char *path = memmem(at, n, " /", 2);
	if (!path)
		return NULL;
	n -= (size_t)(path - at) + 1;
	while (n > 0 && path[n] == ' ')
		n--;
	snprintf(ret, size, "%.*s", (int)n, path + 1);
	return ret;
}

/* As gdb prints a string of C's: in quotes, with backslashes. */
static const char *unquoted(const char *quoted, char *ret, size_t size)
{
	size_t n = 0;

	for (const char *at = quoted + (*quoted == '"'); *at && *at != '"' && n < size - 1; at++) {
		at += *at == '\\' && at[1];
		ret[n++] = *at;
	}
	ret[n] = '\0';
	return ret;
}

/* `Argument list … is "x 3".`, as it was given. */
static const char *between_quotes(const char *shown, char *ret, size_t size)
{
	const char *first = strchr(shown, '"'), *last = strrchr(shown, '"');

	snprintf(ret, size, "%.*s", first < last ? (int)(last - first - 1) : 0, first < last ? first + 1 : "");
	return ret;
}

/* What gdb debugs. False: not known yet. */
static bool ask_program(json_t **ret)
{
	const char *inferiors, *shown;
	char program[4096], args[4096];
	bool known = lbx_bridge_ask(&inferiors, LBX_WITHOUT_FRAME, "info inferiors");

	/* gdb 13's $_gdb_setting_str("args") does not know those of `run ARGUMENT…` */
	known &= lbx_bridge_ask(&shown, LBX_WITHOUT_FRAME, "show args");
	if (known)
		*ret = json_pack("{s:o, s:o}", "program", lbx_json_text(program_of(inferiors, program, sizeof program)),
				 "arguments", lbx_json_text(between_quotes(shown, args, sizeof args)));
	return known;
}

bool lbx_session_trace_begin(struct lbx_context *context)
{
	const char *folder = lbx_trace_wanted(), *quoted;
	char history[4096];
	json_t *program = NULL;
	int mended;

	if (kept.trace || !folder)
		return true;
	bool known = lbx_hooks_ask();
	known &= lbx_bridge_ask(&quoted, LBX_WITHOUT_FRAME, "output $_gdb_setting_str(\"history filename\")");
	known &= ask_program(&program);
	if (!known) {
		json_decref(program);
		return false;
	}
	kept.lacks_program = !json_is_string(json_object_get(program, "program"));
	json_t *about = json_pack("{s:o}", "session", program);
	json_object_set_new(program, "by", json_string("gdb"));
	if (!lbx_traces_mend(folder, &mended) || !lbx_trace_open(folder, "gdb", about, &kept.trace)) {
		lb_fail_within("LAZYBONES_TRACE");
		return false;
	}
	kept.owner = getpid();
	kept.typed = 1 + earlier_lines(unquoted(quoted, history, sizeof history));
	lbx_hooks_define();
	lbx_hooks_use_stops(LBX_STOPS_TRACE, true);
	atexit(end);
	lbx_printf(context->out, "This session is kept in %s.\n", lbx_trace_path(kept.trace));
	if (!lbx_hooks_reach_stops())
		lbx_printf(context->out, "Stops are not: your hook-stop takes the place of tensor's; add the line "
					 "`_tensor_stopped` to it.\n");
	return true;
}

/* ---- stops ---- */

struct variables {
	int n;
	struct lbx_pointer list[MOST_VARIABLES];
};

static bool take_variable(void *context, const struct lbx_pointer *pointer)
{
	struct variables *v = context;

	if (pointer->value)
		v->list[v->n++] = *pointer;
	return v->n < MOST_VARIABLES;
}

static void collect(struct lbx_out *out, const char *text, size_t n)
{
	text_append(out->context, text, n);
}

/* What `list` tells of those that are at these addresses: a new reference. NULL: none is, or it is not known yet. */
static json_t *list_of(struct lbx_context *context, const struct variables *v)
{
	struct text handles = { 0 }, answer = { 0 };
	struct lbx_out *own = context->out, out = { .json = true, .context = &answer, .write = collect };
	char digest[24];
	struct lbx_args args;
	json_t *ret = NULL;

	for (int i = 0; i < v->n; i++)
		text_printf(&handles, "%s%#" PRIx64, i ? "," : "", v->list[i].value);
	snprintf(digest, sizeof digest, "%d", LBX_READ_AT_STOP);
	const char *words[] = { "--handles", handles.bytes, "--digest", digest, "--limit", "0", NULL };
	context->out = &out;
	if (!handles.failed && lbx_args_parse(&lbx_command_list, words, &args) &&
	    lbx_command_open(context, &lbx_command_list) && lbx_command_list.run(context, &args) && !answer.failed)
		ret = json_loadb(answer.bytes, answer.n, 0, NULL);
	lbx_abandon(&out, NULL);
	context->out = own;
	text_free(&handles);
	text_free(&answer);
	json_t *tensors = json_incref(json_object_get(ret, "tensors"));
	json_decref(ret);
	return tensors;
}

/* Each tensor that a variable leads to, with the variable's name. */
static json_t *by_variable(const struct variables *v, const json_t *tensors)
{
	json_t *ret = json_array();

	for (int i = 0; i < v->n; i++)
		lbx_add_held(ret, tensors, v->list[i].value, lbx_json_string(v->list[i].expression), NULL);
	return ret;
}

/* The innermost frame that is the program's own; else the innermost. What is not known yet is asked for. */
static int own_frame(struct lbx_stacks *stacks, const struct lbx_stack *stack, struct lbx_source_line *ret)
{
	uint64_t ours = lbx_stop_is_ours() ? stack->frames[0].pc : 0;
	struct lbx_libraries libraries = { 0 };
	const char *shown;
	int own = -1;

	if (lbx_bridge_ask(&shown, LBX_WITHOUT_FRAME, LBX_STOP_LIBRARIES))
		lbx_libraries_add_shown(&libraries, shown);
	for (int i = 0; i < stack->n && own < 0; i++)
		if (stacks->ops->line(stacks, &stack->frames[i], ret) &&
		    lbx_is_own_frame(&(struct lbx_told_frame){ stack->frames[i].pc, ret->function, ret->file[0] },
				     &libraries, ours))
			own = i;
	lbx_libraries_clear(&libraries);
	if (own >= 0)
		return own;
	*ret = (struct lbx_source_line){ .line = 0 };
	stacks->ops->line(stacks, &stack->frames[0], ret);
	return 0;
}

static json_t *location_of(const struct lbx_frame *frame, const struct lbx_source_line *line)
{
	return json_pack("{s:o, s:o, s:o, s:i, s:o}", "file", lbx_json_text(line->file), "line",
			 lbx_json_int_if(line->line > 0, line->line), "function", lbx_json_text(line->function),
			 "level", frame->level, "address", lbx_json_address(frame->pc));
}

/* Where it stands, and what its variables hold. False: not yet. */
static bool look_at_frames(struct lbx_context *context, json_t **location, json_t **tensors)
{
	struct lbx_stacks *stacks = context->stacks;
	struct lbx_stack stack;
	struct lbx_source_line line = { 0 };
	lb_auto_free struct variables *v = calloc(1, sizeof *v);
	uint64_t tid;

	if (!v || !stacks || stacks->ops->threads(stacks, &tid, 1) < 1 ||
	    !stacks->ops->walk(stacks, tid, LBX_FRAMES_AT_STOP, 0, &stack))
		return !lbx_bridge_waits();
	int i = own_frame(stacks, &stack, &line);
	if (lbx_bridge_waits()) {
		lbx_stack_release(&stack);
		return false;
	}
	stacks->ops->pointers(stacks, &stack.frames[i], take_variable, v, NULL);
	if (!lbx_bridge_waits()) {
		*location = location_of(&stack.frames[i], &line);
		json_t *listed = v->n > 0 ? list_of(context, v) : NULL;
		if (json_array_size(listed) > 0)
			*tensors = by_variable(v, listed);
		json_decref(listed);
	}
	lbx_stack_release(&stack);
	return !lbx_bridge_waits();
}

/* By `info program`: "It stopped at breakpoint 2.", "It stopped after being stepped.", "Program stopped due to signal …". */
static json_t *reason_of(const char *program)
{
	const char *at = strstr(program, "at breakpoint "), *signal = strstr(program, "signal SIG");

	if (at)
		return json_pack("{s:s, s:i}", "reason", "breakpoint-hit", "breakpoint", atoi(at + 14));
	if (signal)
		return json_pack("{s:s, s:s%}", "reason", "signal-received", "signal", signal + 7,
				 strcspn(signal + 7, " ,.\n"));
	return json_pack("{s:s}", "reason", strstr(program, "stepped") ? "end-stepping-range" : "unknown");
}

void lbx_session_trace_has_stopped(void)
{
	kept.is_pending = true;
}

bool lbx_session_trace_look(struct lbx_context *context)
{
	json_t *location = NULL, *tensors = NULL, *began = NULL;
	const char *program;

	if (!kept.trace || !kept.is_pending || !context->target)
		return true;
	if (!lbx_bridge_ask(&program, LBX_WITHOUT_FRAME, "info program"))
		return false;
	bool known = (!kept.lacks_program || ask_program(&began)) && look_at_frames(context, &location, &tensors);
	lb_clear_error();
	if (known) {
		if (began) {
			json_object_set_new(began, "kind", json_string("program"));
			add(json_incref(began));
			kept.lacks_program = false;
		}
		json_t *stop = reason_of(program);
		if (location)
			json_object_set(stop, "location", location);
		add(json_pack("{s:s, s:o, s:O*}", "kind", "stop", "stop", stop, "tensors", tensors));
		kept.is_pending = false;
	}
	json_decref(began);
	json_decref(location);
	json_decref(tensors);
	return known;
}

/* ---- commands ---- */

static void listen_in(struct lbx_out *out, const char *text, size_t n)
{
	if (kept.answer.n <= MOST_ANSWER)
		text_append(&kept.answer, text, n);
	kept.write(out, text, n);
}

void lbx_session_trace_listen(struct lbx_out *out)
{
	if (!kept.trace)
		return;
	text_clear(&kept.answer);
	if (lbx_bridge_is_new())
		kept.began = lb_clock_seconds();
	kept.write = out->write;
	out->write = listen_in;
}

static json_t *answer(void)
{
	if (kept.answer.failed || kept.answer.n > MOST_ANSWER)
		return json_pack("{s:b}", "long", true);
	json_t *ret = kept.answer.n ? json_loadb(kept.answer.bytes, kept.answer.n, 0, NULL) : NULL;
	return ret ? ret : lbx_json_string(kept.answer.n ? kept.answer.bytes : "");
}

void lbx_session_trace_add(const char *name, const char *words, bool ok)
{
	lb_auto_free char *line = NULL;

	if (!kept.trace || asprintf(&line, "tensor %s%s%s", name, *words ? " " : "", words) < 0)
		return;
	json_t *record = json_pack("{s:s, s:o, s:b, s:f, s:o}", "kind", "command", "command", lbx_json_string(line),
				   "ok", ok, "ms", 1e3 * (lb_clock_seconds() - kept.began), "answer", answer());
	add(record);
}
