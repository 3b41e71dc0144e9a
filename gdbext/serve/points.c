/* Where the program is to stop: breakpoints, and catches of tensors. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lazybones.h"
#include "serve/route.h"

enum { MOST_NEAR = 6 };

/* ---- files ---- */

/* As gdb knows the file: by its real path, else by that of a source whose real path is the same. */
static bool known_file(struct lbx_call *call, const char *path, char ret[PATH_MAX])
{
	struct lbx_gdb_answer answer;
	char wanted[PATH_MAX], real[PATH_MAX];
	size_t i;
	json_t *file;

	if (!realpath(path, wanted))
		snprintf(wanted, sizeof wanted, "%s", path);
	snprintf(ret, PATH_MAX, "%s", wanted);
	if (!lbx_call_ask(call, &answer, "-file-list-exec-source-files")) {
		lb_clear_error();
		return false;
	}
	bool is_known = false;
	json_array_foreach(json_object_get(answer.results, "files"), i, file)
	{
		const char *name = lbx_mi_string(file, "fullname");
		if (!*name || is_known)
			continue;
		is_known = strcmp(name, wanted) == 0 || (realpath(name, real) && strcmp(real, wanted) == 0);
		if (is_known)
			snprintf(ret, PATH_MAX, "%s", name);
	}
	lbx_gdb_answer_release(&answer);
	return is_known;
}

static int by_distance(const void *a, const void *b, void *line)
{
	long long x = llabs(*(const long long *)a - *(long long *)line),
		  y = llabs(*(const long long *)b - *(long long *)line);

	return (x > y) - (x < y);
}

/* The lines with code that are nearest: "38, 39, 42". False: none are known. */
static bool lines_near(struct lbx_call *call, const char *file, long long line, char *ret, size_t size)
{
	struct lbx_gdb_answer answer;
	lb_auto_free char *word = lbx_gdb_quote(file), *command = NULL;
	size_t i, n = 0, used = 0;
	json_t *each;

	if (!word || asprintf(&command, "-symbol-list-lines %s", word) < 0 || !lbx_call_ask(call, &answer, command))
		return false;
	const json_t *lines = json_object_get(answer.results, "lines");
	lb_auto_free long long *near = calloc(json_array_size(lines) + 1, sizeof *near);
	json_array_foreach((json_t *)lines, i, each) if (near && atoll(lbx_mi_string(each, "line")) > 0) near[n++] =
	    atoll(lbx_mi_string(each, "line"));
	lbx_gdb_answer_release(&answer);
	if (n > 0)
		qsort_r(near, n, sizeof *near, by_distance, &line);
	n = n < MOST_NEAR ? n : MOST_NEAR;
	line = 0; /* in the order of the file */
	if (n > 0)
		qsort_r(near, n, sizeof *near, by_distance, &line);
	*ret = '\0';
	for (i = 0; i < n && used < size; i++)
		if (i == 0 || near[i] != near[i - 1])
			used += (size_t)snprintf(ret + used, size - used, "%s%lld", i ? ", " : "", near[i]);
	return n > 0;
}

/* ---- breakpoints ---- */

static bool is_python(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && strcmp(dot, ".py") == 0;
}

/* FILE:LINE or FUNCTION, as gdb takes it; and the file. */
static bool where_of(struct lbx_call *call, char file[PATH_MAX], char **ret)
{
	const char *path = lbx_call_string(call, "file_path"), *function = lbx_call_string(call, "function");
	long long line = lbx_call_whole(call, "line", 0);

	*file = '\0';
	if (function)
		return path || line ? lbx_refuse(call, 400, "function stands alone, without file_path and line")
				    : (*ret = strdup(function)) || lb_fail("out of memory");
	if (!path || line < 1)
		return lbx_refuse(call, 400, "file_path and line are needed, or function");
	if (is_python(path))
		return lbx_refuse(call, 400,
				  "gdb cannot stop at a line of Python: POST /debug/catch stops where tensors are "
				  "computed or read, and tells the line");
	if (!known_file(call, path, file) && access(path, R_OK) != 0 && strchr(path, '/'))
		return lbx_refuse(call, 404, "%s: %s", path, strerror(errno));
	return asprintf(ret, "%s:%lld", file, line) > 0 || lb_fail("out of memory");
}

static bool insert(struct lbx_call *call, const char *where, bool may_wait, struct lbx_gdb_answer *ret)
{
	const char *condition = lbx_call_string(call, "condition");
	lb_auto_free char *place = lbx_gdb_quote(where), *test = condition ? lbx_gdb_quote(condition) : NULL,
			  *command = NULL;

	if (!place || (condition && !test) ||
	    asprintf(&command, "-break-insert %s%s%s%s%s", may_wait ? "-f " : "",
		     lbx_call_flag(call, "temporary", false) ? "-t " : "", test ? "-c " : "", test ? test : "",
		     test ? " " : "") < 0)
		return lb_fail("out of memory");
	lb_auto_free char *whole = NULL;
	if (asprintf(&whole, "%s%s", command, place) < 0)
		return lb_fail("out of memory");
	return lbx_call_ask(call, ret, whole);
}

static json_t *told_breakpoint(const json_t *b)
{
	const char *line = lbx_mi_string(b, "line"), *file = lbx_mi_string(b, "fullname"),
		   *condition = lbx_mi_string(b, "cond"), *waits = lbx_mi_string(b, "pending"),
		   *what = lbx_mi_string(b, "what"), *function = lbx_mi_string(b, "func"),
		   *asked = lbx_mi_string(b, "original-location");

	return json_pack("{s:i, s:s, s:s*, s:o*, s:s*, s:s*, s:s*, s:s*, s:b, s:b, s:b, s:i}", "id",
			 atoi(lbx_mi_string(b, "number")), "type", lbx_mi_string(b, "type"), "file_path",
			 *file ? file : NULL, "line", *line ? json_integer(atol(line)) : NULL, "function",
			 *function ? function : NULL, "condition", *condition ? condition : NULL, "what",
			 *what ? what : NULL, "asked_for", *asked ? asked : NULL, "enabled",
			 strcmp(lbx_mi_string(b, "enabled"), "y") == 0, "temporary",
			 strcmp(lbx_mi_string(b, "disp"), "del") == 0, "pending", *waits != '\0', "hits",
			 atoi(lbx_mi_string(b, "times")));
}

static bool run_breakpoint(struct lbx_call *call)
{
	struct lbx_gdb_answer answer;
	char file[PATH_MAX], near[256];
	lb_auto_free char *where = NULL;
	long long line = lbx_call_whole(call, "line", 0);

	if (!where_of(call, file, &where))
		return false;
	if (!insert(call, where, false, &answer)) {
		if (*file && lines_near(call, file, line, near, sizeof near)) {
			lb_clear_error();
			return lbx_refuse(call, 422, "%s has no code at line %lld; the nearest lines with code: %s",
					  file, line, near);
		}
		lb_clear_error();
		if (!insert(call, where, true, &answer))
			return false;
	}
	json_t *told = told_breakpoint(json_object_get(answer.results, "bkpt"));
	lbx_gdb_answer_release(&answer);
	if (told && json_is_true(json_object_get(told, "pending")))
		json_object_set_new(
		    told, "note",
		    json_string("nothing of that name is loaded yet: it is set when a library brings it"));
	return lbx_answer(call, told);
}

const struct lbx_route lbx_route_breakpoint = {
	.method = "POST",
	.path = "/debug/breakpoint",
	.tool = "set_breakpoint",
	.summary = "stop at a line or a function",
	.help = "Paths may be relative to the server's directory, or lead through links. A line without code means the next that\n"
		"has some, in newer gdbs of the same function; the answer tells which. Where there is none, the error names the\n"
		"nearest.",
	.needs = LBX_WITH_GDB,
	.params = {
		{ "file_path", LBX_STRING, false, "a source file" },
		{ "line", LBX_WHOLE, false, "a line of it" },
		{ "function", LBX_STRING, false, "or a function" },
		{ "condition", LBX_STRING, false, "an expression of the program's language: stop only where it is true" },
		{ "temporary", LBX_FLAG, false, "stop there once" },
	},
	.run = run_breakpoint,
};

/* Those that a user has set; a new array. */
static bool list(struct lbx_call *call, json_t **ret)
{
	struct lbx_gdb_answer answer;
	size_t i;
	json_t *each;

	if (!lbx_call_ask(call, &answer, "-break-list"))
		return false;
	*ret = json_array();
	json_array_foreach(json_object_get(json_object_get(answer.results, "BreakpointTable"), "body"), i,
			   each) if (!strchr(lbx_mi_string(each, "number"), '.'))
	    json_array_append_new(*ret, told_breakpoint(each));
	lbx_gdb_answer_release(&answer);
	return *ret || lb_fail("out of memory");
}

static bool run_breakpoints(struct lbx_call *call)
{
	json_t *all;

	return list(call, &all) && lbx_answer(call, json_pack("{s:o}", "breakpoints", all));
}

const struct lbx_route lbx_route_breakpoints = {
	.method = "GET",
	.path = "/debug/breakpoints",
	.tool = "breakpoints",
	.summary = "list breakpoints and catches",
	.needs = LBX_WITH_GDB,
	.run = run_breakpoints,
};

static bool remove_one(struct lbx_call *call, long long id)
{
	struct lbx_gdb_answer answer;
	char command[64];

	snprintf(command, sizeof command, "-break-delete %lld", id);
	if (!lbx_call_ask(call, &answer, command))
		return false;
	lbx_gdb_answer_release(&answer);
	return true;
}

/* Whether the path is the file's, or its end: its name alone, or with some of its folders. */
static bool is_of_file(const char *path, const char *file)
{
	size_t n = strlen(path), m = strlen(file);

	return m > 0 && n >= m && strcmp(path + n - m, file) == 0 && (n == m || *file == '/' || path[n - m - 1] == '/');
}

/* Whether it is the one that is meant: by its number, or by a line of that file, which is the one where it stands or the one
 * that was asked for. */
static bool is_meant(const json_t *breakpoint, long long id, const char *file, long long line)
{
	const char *asked = lbx_mi_string(breakpoint, "asked_for"), *colon = strrchr(asked, ':');

	if (id)
		return json_integer_value(json_object_get(breakpoint, "id")) == id;
	return is_of_file(lbx_mi_string(breakpoint, "file_path"), file) &&
	       (json_integer_value(json_object_get(breakpoint, "line")) == line || (colon && atoll(colon + 1) == line));
}

static bool run_breakpoint_remove(struct lbx_call *call)
{
	long long id = lbx_call_whole(call, "id", 0), line = lbx_call_whole(call, "line", 0), found = 0;
	const char *path = lbx_call_string(call, "file_path");
	char file[PATH_MAX] = "";
	size_t i;
	json_t *all, *each;

	if (!id && (!path || line < 1))
		return lbx_refuse(call, 400, "id is needed, or file_path and line");
	if (!id)
		known_file(call, path, file);
	if (!list(call, &all))
		return false;
	json_array_foreach(all, i, each) if (!found && is_meant(each, id, file, line)) found =
	    json_integer_value(json_object_get(each, "id"));
	json_decref(all);
	if (!found && id)
		return lbx_refuse(call, 404, "there is no breakpoint %lld", id);
	if (!found)
		return lbx_refuse(call, 404, "there is no breakpoint at %s:%lld", file, line);
	return remove_one(call, found) && lbx_answer(call, json_pack("{s:I}", "removed", (json_int_t)found));
}

const struct lbx_route lbx_route_breakpoint_remove = {
	.method = "POST",
	.path = "/debug/breakpoint/remove",
	.tool = "remove_breakpoint",
	.summary = "remove a breakpoint",
	.needs = LBX_WITH_GDB,
	.params = {
		{ "id", LBX_WHOLE, false, "its number" },
		{ "file_path", LBX_STRING, false, "or the file it is in" },
		{ "line", LBX_WHOLE, false, "and its line, or the one that was asked for" },
	},
	.run = run_breakpoint_remove,
};

static bool run_breakpoints_clear(struct lbx_call *call)
{
	size_t i, n = 0;
	json_t *all, *each;

	if (!list(call, &all))
		return false;
	json_array_foreach(all, i, each) n += remove_one(call, json_integer_value(json_object_get(each, "id")));
	json_decref(all);
	return lb_ok() && lbx_answer(call, json_pack("{s:i}", "removed", (int)n));
}

const struct lbx_route lbx_route_breakpoints_clear = {
	.method = "POST",
	.path = "/debug/breakpoints/clear",
	.tool = "clear_breakpoints",
	.summary = "remove all breakpoints and catches",
	.needs = LBX_WITH_GDB,
	.run = run_breakpoints_clear,
};

static bool run_catch(struct lbx_call *call)
{
	const char *tensor = lbx_call_string(call, "tensor");
	const char *words[] = { "catch", lbx_call_string(call, "event"), tensor, NULL };

	return lbx_answer_tensor(call, words);
}

const struct lbx_route lbx_route_catch = {
	.method = "POST",
	.path = "/debug/catch",
	.tool = "catch",
	.summary = "stop at an event of tensors",
	.help = "As `tensor catch` of gdb: nan, eval, implicit, misuse, create, range and the others that it lists.",
	.needs = LBX_WITH_GDB,
	.params = {
		{ "event", LBX_STRING, true, "its name" },
		{ "tensor", LBX_STRING, false, "of which tensor, by name or number; or a limit, for events that take one" },
	},
	.run = run_catch,
};
