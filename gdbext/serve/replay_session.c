#include "serve/replay_session.h"

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

static void note_refusal(struct lbx_replayed *ret, const json_t *record, const char *path, int status,
			 const json_t *told)
{
	ret->otherwise++;
	json_array_append_new(ret->refusals,
			      json_pack("{s:O*, s:s, s:i, s:O*, s:s*}", "n", json_object_get(record, "n"), "path", path,
					"status", status, "was", json_object_get(record, "status"), "error",
					json_object_get(told, "error") ? lbx_mi_string(told, "error") : NULL));
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
	if (status != json_integer_value(json_object_get(record, "status")))
		note_refusal(ret, record, path, status, told);
	json_decref(told);
	json_decref(params);
	return settle(sessions, seconds);
}

/* A pause came when it came: the program stands elsewhere by now. */
static bool is_repeated(const json_t *record)
{
	const char *path = lbx_mi_string(json_object_get(record, "request"), "path");

	return strcmp(lbx_mi_string(record, "kind"), "request") == 0 && strcmp(path, "/debug/start") != 0 &&
	       strcmp(path, "/debug/pause") != 0;
}

static bool replay(struct lbx_sessions *sessions, const json_t *whole, double seconds, struct lbx_replayed *ret)
{
	size_t i;
	json_t *record, *told;
	bool ok = true;

	json_array_foreach(json_object_get(whole, "records"), i, record) if (ok && is_repeated(record)) ok =
	    replay_request(sessions, record, seconds, ret);
	if (ask(sessions, "POST", "/debug/terminate", NULL, &told) == 200)
		ret->trace = strdup(lbx_mi_string(json_object_get(told, "data"), "trace"));
	json_decref(told);
	return ok && (ret->trace || lb_fail("the session has left no trace"));
}

bool lbx_replay_session(struct lbx_sessions *sessions, const char *trace, const char *program, double seconds,
			struct lbx_replayed *ret)
{
	json_t *whole;

	*ret = (struct lbx_replayed){ .refusals = json_array() };
	if (!lbx_trace_read(trace, &whole))
		return false;
	bool ok = start(sessions, json_object_get(whole, "session"), program) && replay(sessions, whole, seconds, ret);
	json_decref(whole);
	return ok;
}
