/* Where the program stands: place, variables, threads, frames. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lazybones.h"
#include "serve/look.h"
#include "serve/place.h"
#include "serve/route.h"

enum { MOST_LINES = 1000000 };

static bool run_location(struct lbx_call *call)
{
	json_t *place = lbx_session_location(call->session);

	return place ? lbx_answer(call, place) : lbx_refuse(call, 422, "the program stands nowhere that gdb knows");
}

const struct lbx_route lbx_route_location = {
	.method = "GET",
	.path = "/debug/location",
	.tool = "location",
	.summary = "tell the file, line and function of the selected frame, with the lines around",
	.help =
	    "After a stop that is the program's own frame: functions of the system, of libraries of tensors and of probes\n"
	    "are passed over.",
	.needs = LBX_WHERE_STOPPED,
	.run = run_location,
};

static bool run_source(struct lbx_call *call)
{
	const char *path = lbx_call_string(call, "file_path");
	long long first = lbx_call_whole(call, "first", 1), count = lbx_call_whole(call, "count", MOST_LINES);

	if (first < 1 || first > MOST_LINES || count < 1 || count > MOST_LINES)
		return lbx_refuse(call, 400, "first and count: from 1 to %d", MOST_LINES);
	json_t *lines = lbx_source_lines(path, (long)first, (long)(first + count - 1));
	if (!lines)
		return lbx_refuse(call, 404, "%s cannot be read as a source file", path);
	return lbx_answer(call, json_pack("{s:s, s:I, s:o}", "file", path, "first", (json_int_t)first, "lines", lines));
}

const struct lbx_route lbx_route_source = {
	.method = "GET",
	.path = "/source",
	.tool = "source",
	.summary = "read lines of a source file",
	.needs = LBX_IN_ANY_STATE,
	.is_poll = true,
	.params = {
		{ "file_path", LBX_STRING, true, "its path, as location and stack have it" },
		{ "first", LBX_WHOLE, false, "the first line (1)" },
		{ "count", LBX_WHOLE, false, "how many (all)" },
	},
	.run = run_source,
};

/* The tensor that the variable holds, of those that have its name: borrowed. Where other blocks have such a variable, too, its
 * value tells which. */
static json_t *tensor_of(const json_t *tensors, const json_t *variable, bool is_shadowed)
{
	size_t i;
	json_t *each;

	json_array_foreach((json_t *)tensors, i,
			   each) if (strcmp(lbx_mi_string(each, "variable"), lbx_mi_string(variable, "name")) == 0 &&
				     (!is_shadowed ||
				      lbx_variable_holds(variable, lbx_mi_string(each, "value")))) return each;
	return NULL;
}

static json_t *told_variable(const json_t *variables, const json_t *variable, const json_t *tensors)
{
	const char *name = lbx_mi_string(variable, "name");

	return json_pack("{s:s, s:O*, s:O*, s:b, s:O*}", "name", name, "type", json_object_get(variable, "type"),
			 "value", json_object_get(variable, "value"), "is_argument",
			 *lbx_mi_string(variable, "arg") == '1', "tensor",
			 tensor_of(tensors, variable, lbx_is_shadowed(variables, name)));
}

static bool run_variables(struct lbx_call *call)
{
	struct lbx_gdb_answer answer;
	size_t i;
	json_t *each, *told = json_array(), *locals = NULL;
	const char *const words[] = { "locals", NULL };

	if (!lbx_ask_tensor(call, words, &locals)) { /* it has none */
		lb_clear_error();
		call->status = 0;
	}
	if (!lbx_call_ask(call, &answer, "-stack-list-variables --simple-values")) {
		json_decref(told);
		json_decref(locals);
		return false;
	}
	const json_t *tensors = json_object_get(json_array_get(json_object_get(locals, "frames"), 0), "tensors");
	const json_t *variables = json_object_get(answer.results, "variables");
	json_array_foreach((json_t *)variables, i, each)
	    json_array_append_new(told, told_variable(variables, each, tensors));
	lbx_gdb_answer_release(&answer);
	json_decref(locals);
	return lbx_answer(call, json_pack("{s:o}", "variables", told));
}

const struct lbx_route lbx_route_variables = {
	.method = "GET",
	.path = "/debug/variables",
	.tool = "variables",
	.summary = "list arguments and variables of the selected frame",
	.help =
	    "Each has name and type; those that are no arrays and structures have a value; those that hold a tensor have that,\n"
	    "with name, shape, dtype and state.",
	.needs = LBX_WHERE_STOPPED,
	.run = run_variables,
};

static bool run_threads(struct lbx_call *call)
{
	struct lbx_gdb_answer answer;
	size_t i;
	json_t *each, *told = json_array();

	if (!lbx_call_ask(call, &answer, "-thread-info")) {
		json_decref(told);
		return false;
	}
	json_array_foreach(json_object_get(answer.results, "threads"), i, each)
	    json_array_append_new(told,
				  json_pack("{s:i, s:s, s:O*, s:o*}", "id", atoi(lbx_mi_string(each, "id")), "what",
					    lbx_mi_string(each, "target-id"), "name", json_object_get(each, "name"),
					    "location", lbx_place_of(json_object_get(each, "frame"))));
	int current = atoi(lbx_mi_string(answer.results, "current-thread-id"));
	lbx_gdb_answer_release(&answer);
	return lbx_answer(call, json_pack("{s:i, s:o}", "current", current, "threads", told));
}

const struct lbx_route lbx_route_threads = {
	.method = "GET",
	.path = "/debug/threads",
	.tool = "threads",
	.summary = "list the threads and where each stands",
	.needs = LBX_WHERE_STOPPED,
	.run = run_threads,
};

static bool run_stack(struct lbx_call *call)
{
	struct lbx_gdb_answer answer;
	long long limit = lbx_call_whole(call, "limit", 64);
	char command[64];
	size_t i;
	json_t *each, *told = json_array();

	snprintf(command, sizeof command, limit > 0 ? "-stack-list-frames 0 %lld" : "-stack-list-frames", limit - 1);
	if (!lbx_call_ask(call, &answer, command)) {
		json_decref(told);
		return false;
	}
	json_array_foreach(json_object_get(answer.results, "stack"), i, each)
	{
		json_t *place = lbx_place_of(each);
		json_object_del(place, "source");
		json_array_append_new(told, place);
	}
	lbx_gdb_answer_release(&answer);
	json_t *selected = lbx_session_location(call->session);
	json_t *level = json_incref(json_object_get(selected, "level"));
	json_decref(selected);
	return lbx_answer(call, json_pack("{s:o*, s:o}", "selected", level, "frames", told));
}

const struct lbx_route lbx_route_stack = {
	.method = "GET",
	.path = "/debug/stack",
	.tool = "stack",
	.summary = "list the frames of the selected thread, the innermost first",
	.needs = LBX_WHERE_STOPPED,
	.params = { { "limit", LBX_WHOLE, false, "how many (64); 0: all" } },
	.run = run_stack,
};

static bool run_select(struct lbx_call *call)
{
	long long thread = lbx_call_whole(call, "thread", 0), level = lbx_call_whole(call, "level", -1);
	struct lbx_gdb_answer answer;
	char command[64];

	if (level < 0 && json_object_get(call->params, "level"))
		return lbx_refuse(call, 400, "level: the innermost frame is 0");
	if (thread <= 0 && level < 0)
		return lbx_refuse(call, 400, "thread is needed, or level, or both");
	if (thread > 0) {
		snprintf(command, sizeof command, "-thread-select %lld", thread);
		if (!lbx_call_ask(call, &answer, command))
			return false;
		lbx_gdb_answer_release(&answer);
	}
	if (level >= 0) {
		snprintf(command, sizeof command, "-stack-select-frame %lld", level);
		if (!lbx_call_ask(call, &answer, command))
			return false;
		lbx_gdb_answer_release(&answer);
	}
	lbx_session_look(call->session);
	json_t *place = lbx_session_location(call->session);
	bool is_there = level < 0 || json_integer_value(json_object_get(place, "level")) == level;
	json_decref(place);
	return is_there ? run_location(call) : lbx_refuse(call, 422, "the thread has no frame %lld", level);
}

const struct lbx_route lbx_route_select = {
	.method = "POST",
	.path = "/debug/select",
	.tool = "select",
	.summary = "select a thread or a frame",
	.help = "Location, variables and expressions are those of the selected frame. Answers with its location.",
	.needs = LBX_WHERE_STOPPED,
	.params = {
		{ "thread", LBX_WHOLE, false, "the number of a thread" },
		{ "level", LBX_WHOLE, false, "that of a frame: 0 is the innermost" },
	},
	.run = run_select,
};
