#define _GNU_SOURCE
#include "serve/replay_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "lazybones.h"
#include "serve/mi.h"
#include "serve/route.h"
#include "serve/trace_read.h"

/* ---- asking ---- */

/* The status; *told is the caller's. */
static int ask(struct lbx_sessions *sessions, const char *method, const char *path, const json_t *params, json_t **told)
{
	struct lbx_reply reply;

	lbx_dispatch(sessions, method, path, params, &reply);
	*told = reply.bytes && strcmp(reply.type, "application/json") == 0 ? json_loadb(reply.bytes, reply.n, 0, NULL)
									   : NULL;
	free(reply.bytes);
	return reply.status;
}

/* ---- a session again ---- */

/* What tells the program: the session; or the record of a gdb that was given one only after its trace had begun. */
static const json_t *program_of(const json_t *whole)
{
	const json_t *session = json_object_get(whole, "session");
	size_t i;
	json_t *record;

	if (!json_is_string(json_object_get(session, "program")))
		json_array_foreach(json_object_get(whole, "records"), i,
				   record) if (strcmp(lbx_mi_string(record, "kind"), "program") == 0) return record;
	return session;
}

static bool start(struct lbx_sessions *sessions, const json_t *session, const char *program)
{
	static const char *const kept[] = { "args", "env", "cwd", "core" };
	json_t *params = json_object(), *told;

	json_object_set_new(params, "program",
			    program ? json_string(program) : json_incref(json_object_get(session, "program")));
	for (int i = 0; i < 4; i++)
		if (json_object_get(session, kept[i]))
			json_object_set(params, kept[i], json_object_get(session, kept[i]));
	int status = json_object_get(session, "pid") ? 0 : ask(sessions, "POST", "/debug/start", params, &told);
	json_decref(params);
	if (status == 0)
		return lb_fail("a session of a process that was attached to cannot be played again");
	if (status != 200)
		lb_fail("%s", lbx_mi_string(told, "error"));
	json_decref(told);
	return lb_ok();
}

/* Until the program does not run. */
static bool settle(struct lbx_sessions *sessions, double seconds)
{
	struct lbx_session *session = lbx_sessions_find(sessions, 0);
	bool ok = session && (lbx_session_wait(session, seconds) ||
			      lb_fail("the program has run for %g s without the stop that the trace has", seconds));

	if (session)
		lbx_session_let_go(session);
	return ok;
}

static void note_otherwise(struct lbx_replayed *ret, const json_t *record, const char *path, int status,
			   const char *error)
{
	ret->otherwise++;
	json_array_append_new(ret->refusals,
			      json_pack("{s:O*, s:s, s:i, s:O*, s:s*}", "n", json_object_get(record, "n"), "path", path,
					"status", status, "was", json_object_get(record, "status"), "error", error));
}

/* Whether a breakpoint that had a place waits for one now. */
static bool waits_now(const json_t *record, const json_t *told)
{
	return json_is_false(json_object_get(json_object_get(record, "answer"), "pending")) &&
	       json_is_true(json_object_get(json_object_get(told, "data"), "pending"));
}

static void compare(struct lbx_replayed *ret, const json_t *record, const char *path, int status, const json_t *told)
{
	const json_t *error = json_object_get(told, "error");

	if (status != json_integer_value(json_object_get(record, "status")))
		note_otherwise(ret, record, path, status, error ? lbx_mi_string(told, "error") : NULL);
	else if (waits_now(record, told))
		note_otherwise(ret, record, path, status, "the breakpoint waits: nothing of that name is loaded");
}

/* False: it can go no further. */
static bool replay_request(struct lbx_sessions *sessions, const json_t *record, double seconds,
			   struct lbx_replayed *ret)
{
	const json_t *request = json_object_get(record, "request");
	json_t *params = json_copy(json_object_get(request, "params")), *told = NULL;

	if (!params)
		params = json_object();
	json_object_del(params, "session");
	lb_auto_free char *path = lbx_route_path(lbx_mi_string(request, "path"), params);
	if (!path) {
		json_decref(params);
		return lb_fail("the trace has a request without its parameter");
	}
	int status = ask(sessions, lbx_mi_string(request, "method"), path, params, &told);
	ret->asked++;
	compare(ret, record, path, status, told);
	json_decref(told);
	json_decref(params);
	return settle(sessions, seconds);
}

static bool replay_line(struct lbx_sessions *sessions, const char *line, double seconds, struct lbx_replayed *ret)
{
	json_t *params = json_pack("{s:s}", "command", line), *told;
	int status = ask(sessions, "POST", "/command", params, &told);

	ret->asked++;
	if (status == 410)
		lb_fail("%s", lbx_mi_string(told, "error"));
	json_decref(told);
	json_decref(params);
	return lb_ok() && settle(sessions, seconds);
}

static bool ends_gdb(const char *line)
{
	return strcmp(line, "q") == 0 || strcmp(line, "quit") == 0 || strcmp(line, "exit") == 0;
}

/* What was typed at gdb, of a trace that gdb itself has kept. */
static bool replay_typed(struct lbx_sessions *sessions, const json_t *record, double seconds, struct lbx_replayed *ret)
{
	size_t i;
	json_t *line;

	json_array_foreach(json_object_get(record, "lines"), i, line)
	{
		const char *text = json_string_value(line);
		if (text && !ends_gdb(text) && !replay_line(sessions, text, seconds, ret))
			return false;
	}
	return true;
}

static bool replay_arguments(struct lbx_sessions *sessions, const json_t *session, double seconds,
			     struct lbx_replayed *ret)
{
	const char *arguments = json_string_value(json_object_get(session, "arguments"));
	lb_auto_free char *line = NULL;

	if (!arguments)
		return true;
	if (asprintf(&line, "set args %s", arguments) < 0)
		return lb_fail("out of memory");
	return replay_line(sessions, line, seconds, ret);
}

/* A pause came when it came: the program stands elsewhere by now. */
static bool is_repeated(const json_t *record)
{
	const char *path = lbx_mi_string(json_object_get(record, "request"), "path");

	return strcmp(lbx_mi_string(record, "kind"), "request") == 0 && strcmp(path, "/debug/start") != 0 &&
	       strcmp(path, "/debug/pause") != 0;
}

static bool replay_record(struct lbx_sessions *sessions, const json_t *record, double seconds, struct lbx_replayed *ret)
{
	if (strcmp(lbx_mi_string(record, "kind"), "typed") == 0)
		return replay_typed(sessions, record, seconds, ret);
	return !is_repeated(record) || replay_request(sessions, record, seconds, ret);
}

/* Ends the session, whose trace is whole then. What has failed before is still the error. */
static char *end(struct lbx_sessions *sessions)
{
	lb_auto_free char *failure = lb_ok() ? NULL : strdup(lb_error_message());
	json_t *told;
	char *trace = NULL;

	if (ask(sessions, "POST", "/debug/terminate", NULL, &told) == 200)
		trace = strdup(lbx_mi_string(json_object_get(told, "data"), "trace"));
	json_decref(told);
	if (failure)
		lb_fail("%s", failure);
	return trace;
}

static bool replay(struct lbx_sessions *sessions, const json_t *whole, double seconds, struct lbx_replayed *ret)
{
	size_t i;
	json_t *record;
	bool ok = replay_arguments(sessions, program_of(whole), seconds, ret);

	json_array_foreach(json_object_get(whole, "records"), i, record) ok =
	    ok && replay_record(sessions, record, seconds, ret);
	if (ok && ret->asked == 0)
		ok = lb_fail(
		    "there is nothing to ask again in this trace: a script drove that gdb, whose lines nobody typed");
	ret->trace = end(sessions);
	return ok && (ret->trace || lb_fail("the session has left no trace"));
}

bool lbx_replay_session(struct lbx_sessions *sessions, const char *trace, const char *program, double seconds,
			struct lbx_replayed *ret)
{
	json_t *whole;

	*ret = (struct lbx_replayed){ .refusals = json_array() };
	if (!lbx_trace_read(trace, &whole))
		return false;
	bool ok = start(sessions, program_of(whole), program) && replay(sessions, whole, seconds, ret);
	json_decref(whole);
	return ok;
}
