#define _GNU_SOURCE
#include "serve/route.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "inspect/answer.h"
#include "lazybones.h"
#include "serve/moment.h"

enum {
	MOST_IN_TRACE = 64 << 10, /* bytes of an answer; of a longer one its size is kept */
	PATIENCE = 60,    /* seconds */
};
#define ENTRANCE 5.0 /* seconds, for who finds the session busy */

#define ROUTE(name) &lbx_route_##name,
const struct lbx_route *const lbx_routes[] = {
#include "serve/routes.def"
	NULL
};
#undef ROUTE

const char *lbx_param_type_name(enum lbx_param_type type)
{
	static const char *const names[] = {
		[LBX_STRING] = "string",
		[LBX_WHOLE] = "integer",
		[LBX_NUMBER] = "number",
		[LBX_FLAG] = "boolean",
		[LBX_LIST] = "array",
		[LBX_PAIRS] = "object",
		[LBX_TENSOR] = "string or integer",
	};

	return names[type];
}

/* ---- parameters ---- */

const char *lbx_call_string(const struct lbx_call *call, const char *name)
{
	return json_string_value(json_object_get(call->params, name));
}

long long lbx_call_whole(const struct lbx_call *call, const char *name, long long otherwise)
{
	const json_t *value = json_object_get(call->params, name);

	return value ? json_integer_value(value) : otherwise;
}

double lbx_call_number(const struct lbx_call *call, const char *name, double otherwise)
{
	const json_t *value = json_object_get(call->params, name);

	return value ? json_number_value(value) : otherwise;
}

bool lbx_call_flag(const struct lbx_call *call, const char *name, bool otherwise)
{
	const json_t *value = json_object_get(call->params, name);

	return value ? json_is_true(value) : otherwise;
}

double lbx_call_patience(const struct lbx_call *call)
{
	return lbx_call_number(call, "timeout", PATIENCE);
}

static json_t *whole_of(const char *text)
{
	char *end;

	errno = 0;
	long long value = strtoll(text, &end, 10);
	return *text && !*end && errno == 0 ? json_integer(value) : NULL;
}

static json_t *number_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return *text && !*end && isfinite(value) ? json_real(value) : NULL;
}

static json_t *flag_of(const char *text)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || !*text)
		return json_true();
	return strcmp(text, "false") == 0 || strcmp(text, "0") == 0 ? json_false() : NULL;
}

/* A query has only texts. */
static json_t *from_text(enum lbx_param_type type, const char *text)
{
	switch (type) {
	case LBX_WHOLE: return whole_of(text);
	case LBX_NUMBER: return number_of(text);
	case LBX_FLAG: return flag_of(text);
	case LBX_STRING:
	case LBX_TENSOR: return json_string(text);
	case LBX_LIST:
	case LBX_PAIRS: break;
	}
	return NULL;
}

/* As answers name a tensor, {"id": 12}, and as commands do. A new reference. */
static json_t *tensor_of(json_t *value)
{
	return json_is_integer(value) ? json_sprintf("#%lld", (long long)json_integer_value(value))
				      : json_incref(value);
}

static bool is_all_strings(const json_t *value)
{
	size_t i;
	const char *key;
	json_t *each;
	bool ret = true;

	if (json_is_array(value))
		json_array_foreach((json_t *)value, i, each) ret &= json_is_string(each);
	else
		json_object_foreach((json_t *)value, key, each) ret &= json_is_string(each);
	return ret;
}

static bool is_of(enum lbx_param_type type, const json_t *value)
{
	switch (type) {
	case LBX_STRING:
	case LBX_TENSOR: return json_is_string(value);
	case LBX_WHOLE: return json_is_integer(value);
	case LBX_NUMBER: return json_is_number(value);
	case LBX_FLAG: return json_is_boolean(value);
	case LBX_LIST: return json_is_array(value) && is_all_strings(value);
	case LBX_PAIRS: return json_is_object(value) && is_all_strings(value);
	}
	return false;
}

const struct lbx_param lbx_session_param = { "session", LBX_WHOLE, false,
					     "the number of a session; without it the last that was started" };

static const struct lbx_param *find_param(const struct lbx_route *route, const char *name)
{
	for (const struct lbx_param *p = route->params; p < route->params + LBX_PARAMS_MAX && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return route->needs != LBX_OF_SERVER && strcmp(name, lbx_session_param.name) == 0 ? &lbx_session_param : NULL;
}

static json_t *typed_as(enum lbx_param_type type, json_t *value)
{
	if (is_of(type, value))
		return json_incref(value);
	if (json_is_string(value))
		return from_text(type, json_string_value(value));
	return type == LBX_TENSOR && json_is_integer(value) ? tensor_of(value) : NULL;
}

static bool take_param(struct lbx_call *call, const char *name, json_t *value)
{
	const struct lbx_param *param = find_param(call->route, name);

	if (!param)
		return lbx_refuse(call, 400, "there is no parameter '%s'", name);
	if (json_is_string(value) && strlen(json_string_value(value)) != json_string_length(value))
		return lbx_refuse(call, 400, "'%s' has a null character in it", name);
	json_t *typed = typed_as(param->type, value);
	if (!typed)
		return lbx_refuse(call, 400, "'%s' must be of type %s%s", name, lbx_param_type_name(param->type),
				  param->type == LBX_LIST || param->type == LBX_PAIRS ? ", of strings" : "");
	if (param->type == LBX_NUMBER && json_number_value(typed) < 0) {
		json_decref(typed);
		return lbx_refuse(call, 400, "'%s' is negative", name);
	}
	return json_object_set_new(call->params, name, typed) == 0 || lb_fail("out of memory");
}

static bool take_params(struct lbx_call *call, const json_t *params)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)params, name,
			    value) if (!json_is_null(value) && !take_param(call, name, value)) return false;
	for (const struct lbx_param *p = call->route->params; p < call->route->params + LBX_PARAMS_MAX && p->name; p++)
		if (p->is_needed && !json_object_get(call->params, p->name))
			return lbx_refuse(call, 400, "'%s' is needed: %s", p->name, p->help);
	return true;
}

/* ---- paths ---- */

static int digit_of(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

json_t *lbx_url_decode(const char *text, size_t n, bool in_query)
{
	lb_auto_free char *ret = malloc(n + 1);
	size_t length = 0;

	for (size_t i = 0; ret && i < n; i++) {
		int high = text[i] == '%' && i + 2 < n ? digit_of(text[i + 1]) : -1,
		    low = high >= 0 ? digit_of(text[i + 2]) : -1;
		ret[length++] = low >= 0 ? (char)(16 * high + low) : in_query && text[i] == '+' ? ' ' : text[i];
		i += low >= 0 ? 2 : 0;
	}
	return ret ? json_stringn(ret, length) : NULL;
}

char *lbx_route_path(const char *pattern, json_t *params)
{
	const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;
	char name[64];

	if (!close)
		return strdup(pattern);
	snprintf(name, sizeof name, "%.*s", (int)(close - open - 1), open + 1);
	json_t *given = tensor_of(json_object_get(params, name));
	const char *value = json_string_value(given);
	char *ret = value && *value ? malloc(strlen(pattern) + 3 * strlen(value) + 1) : NULL;
	if (ret) {
		size_t n = (size_t)sprintf(ret, "%.*s", (int)(open - pattern), pattern);
		for (; *value; value++)
			n += (size_t)sprintf(ret + n, "%%%02X", (unsigned char)*value);
		strcpy(ret + n, close + 1);
		json_object_del(params, name);
	}
	json_decref(given);
	return ret;
}

/* Whether the path is of that pattern; what stands for {…} goes into `params`, if there are any. */
static bool matches(const char *pattern, const char *path, json_t *params)
{
	for (;;) {
		size_t n = strcspn(pattern, "/"), m = strcspn(path, "/");
		bool is_open = pattern[0] == '{';
		if (is_open ? m == 0 : n != m || strncmp(pattern, path, n) != 0)
			return false;
		if (is_open && params) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)n - 2, pattern + 1);
			json_object_set_new(params, name, lbx_url_decode(path, m, false));
		}
		pattern += n, path += m;
		if (!*pattern || !*path)
			return !*pattern && !*path;
		pattern++, path++;
	}
}

/* NULL, and the status: there is no such path, or it takes another method. */
static const struct lbx_route *find_route(const char *method, const char *path, int *status)
{
	bool is_path = false;

	for (const struct lbx_route *const *r = lbx_routes; *r; r++) {
		if (!matches((*r)->path, path, NULL))
			continue;
		if (strcmp((*r)->method, method) == 0)
			return *r;
		is_path = true;
	}
	*status = is_path ? 405 : 404;
	lb_fail(is_path ? "%s takes no %s: see /docs" : "there is no %s to %s: see /docs", is_path ? path : method,
		is_path ? method : path);
	return NULL;
}

/* ---- answers ---- */

bool lbx_call_ask(struct lbx_call *call, struct lbx_gdb_answer *ret, const char *command)
{
	return lbx_gdb_ask(lbx_session_gdb(call->session), lbx_call_patience(call), ret, command);
}

bool lbx_answer(struct lbx_call *call, json_t *data)
{
	call->data = data;
	return data || lb_fail("out of memory");
}

/* A word as a line of gdb's takes it. */
static bool append_word(char **line, const char *word)
{
	char *longer = NULL;

	if (strpbrk(word, "\n\r"))
		return lb_fail_because(LB_MISUSED, "a line break cannot be part of a command");
	if (!strpbrk(word, " \t'\"\\") && *word) {
		if (asprintf(&longer, "%s %s", *line, word) < 0)
			return lb_fail("out of memory");
	} else {
		lb_auto_free char *quoted = lbx_gdb_quote(word);
		if (!quoted || asprintf(&longer, "%s %s", *line, quoted) < 0)
			return lb_fail("out of memory");
	}
	free(*line);
	*line = longer;
	return true;
}

static bool line_of(const char *const *words, char **ret)
{
	lb_auto_free char *line = strdup(words[0]);

	for (words++; line && *words; words++)
		if (!append_word(&line, *words))
			return false;
	*ret = line;
	line = NULL;
	return *ret || lb_fail("out of memory");
}

/* An answer that is an object with "error" is a failure. Others may have such a member, behind others. */
static bool check_answer(struct lbx_call *call, const char *text, size_t n)
{
	static const char failure[] = "{\"error\":";

	if (n < sizeof failure || strncmp(text, failure, sizeof failure - 1) != 0)
		return true;
	json_t *told = json_loadb(text, n, 0, NULL);
	const char *error = json_string_value(json_object_get(told, "error"));
	lbx_refuse(call, 422, "%s", error ? error : "it failed, without saying why");
	json_decref(told);
	return false;
}

bool lbx_answer_tensor_line(struct lbx_call *call, const char *line)
{
	if (!lbx_session_ask_tensor(call->session, lbx_call_patience(call), line, &call->raw, &call->raw_n))
		return false;
	while (call->raw_n > 0 && isspace((unsigned char)call->raw[call->raw_n - 1]))
		call->raw_n--;
	if (strncmp(line, "doctor", 6) == 0)
		lbx_watch_tell_findings(lbx_session_watch(call->session), call->raw, call->raw_n);
	return check_answer(call, call->raw, call->raw_n);
}

bool lbx_answer_tensor(struct lbx_call *call, const char *const *words)
{
	lb_auto_free char *line = NULL;

	return line_of(words, &line) && lbx_answer_tensor_line(call, line);
}

bool lbx_ask_tensor(struct lbx_call *call, const char *const *words, json_t **ret)
{
	lb_auto_free char *line = NULL, *text = NULL;
	size_t n;

	if (!line_of(words, &line) ||
	    !lbx_session_ask_tensor(call->session, lbx_call_patience(call), line, &text, &n) ||
	    !check_answer(call, text, n))
		return false;
	*ret = json_loadb(text, n, 0, NULL);
	return *ret || lb_fail("gdb's plugin has answered with what is no JSON");
}

/* ---- a call ---- */

static bool enter(struct lbx_call *call)
{
	static const int statuses[] = { [LBX_IS_BUSY] = 409, [LBX_IS_RUNNING] = 409, [LBX_IS_GONE] = 410 };
	enum lbx_entrance entrance = lbx_session_enter(call->session, call->route->path, ENTRANCE);

	if (entrance != LBX_ENTERED) {
		call->status = statuses[entrance];
		return false;
	}
	if (call->route->needs < LBX_WHERE_STOPPED || lbx_session_state(call->session) == LBX_PAUSED)
		return true;
	lbx_session_leave(call->session);
	return lbx_refuse(call, 409, "the program is not stopped: its state is %s",
			  lbx_session_state_name(lbx_session_state(call->session)));
}

int lbx_status_of_gdb(void)
{
	return lb_error_cause() == LB_INTERRUPTED ? 504 : 422;
}

static bool run(struct lbx_call *call)
{
	if (call->route->needs == LBX_OF_SERVER)
		return call->route->run(call);
	int id = (int)lbx_call_whole(call, "session", 0);
	call->session = lbx_sessions_find(call->sessions, id);
	if (!call->session)
		return lbx_refuse(call, 404,
				  id ? "there is no session %d" : "there is no session: start one by POST /debug/start",
				  id);
	if (call->route->needs < LBX_WITH_GDB)
		return call->route->run(call);
	if (!enter(call))
		return false;
	bool ok = call->route->run(call);
	lbx_session_leave(call->session);
	if (!ok && !call->status && lb_error_cause() != LB_MISUSED)
		call->status =
		    lbx_session_state(call->session) == LBX_GDB_GONE /* meanwhile */ ? 410 : lbx_status_of_gdb();
	return ok;
}

static int status_of(const struct lbx_call *call, bool ok)
{
	if (ok || call->status)
		return ok ? 200 : call->status;
	return lb_error_cause() == LB_MISUSED ? 400 : 500;
}

static json_t *answer_for_trace(const struct lbx_call *call)
{
	if (call->data)
		return json_incref(call->data);
	if (!call->raw || call->route->type || call->raw_n > MOST_IN_TRACE)
		return json_pack("{s:I}", "bytes", (json_int_t)call->raw_n);
	return json_loadb(call->raw, call->raw_n, JSON_DECODE_ANY, NULL);
}

static void keep(const struct lbx_call *call, bool ok, double seconds)
{
	struct lbx_trace *trace = call->session ? lbx_session_trace(call->session) : NULL;

	if (!trace || call->route->is_poll || call->is_over)
		return;
	json_t *record =
	    json_pack("{s:s, s:{s:s, s:s, s:O}, s:i, s:f, s:o*}", "kind", "request", "request", "method",
		      call->route->method, "path", call->route->path, "params", call->params, "status",
		      status_of(call, ok), "ms", 1000 * seconds, "location", lbx_session_location(call->session));
	if (record)
		json_object_set_new(record, ok ? "answer" : "error",
				    ok ? answer_for_trace(call) : json_string(lb_error_message()));
	lbx_trace_add(trace, record);
}

static void set_bytes(struct lbx_reply *ret, char *bytes, size_t n)
{
	ret->bytes = bytes;
	ret->n = bytes ? n : 0;
}

/* {"success":true,"data":…} */
static void tell_success(struct lbx_call *call, struct lbx_reply *ret)
{
	static const char before[] = "{\"success\":true,\"data\":";

	if (call->raw && call->route->type) {
		ret->type = call->route->type;
		set_bytes(ret, call->raw, call->raw_n);
		call->raw = NULL;
		return;
	}
	if (!call->raw && call->data) {
		call->raw = lbx_json_dumps(call->data, JSON_COMPACT | JSON_ENCODE_ANY);
		call->raw_n = call->raw ? strlen(call->raw) : 0;
	}
	char *whole = malloc(sizeof before + call->raw_n + 3);
	if (whole && call->raw) {
		memcpy(whole, before, sizeof before - 1);
		memcpy(whole + sizeof before - 1, call->raw, call->raw_n);
		memcpy(whole + sizeof before - 1 + call->raw_n, "}\n", 3);
	}
	set_bytes(ret, whole, sizeof before + 1 + call->raw_n);
}

static void tell_failure(struct lbx_reply *ret)
{
	const char *message = lb_error_message();
	json_t *told = json_pack("{s:b, s:o}", "success", false, "error",
				 lbx_mi_text(*message ? message : "failed, without saying why",
					     strlen(*message ? message : "failed, without saying why")));
	char *text = json_dumps(told, JSON_COMPACT);

	json_decref(told);
	set_bytes(ret, text, text ? strlen(text) : 0);
}

static bool dispatch(struct lbx_call *call, const char *method, const char *path, const json_t *params)
{
	call->route = find_route(method, path, &call->status);
	call->params = json_object();
	if (!call->route || !call->params)
		return lb_fail("out of memory"); /* unless there is an error already */
	json_t *given = params ? json_copy((json_t *)params) : json_object();
	matches(call->route->path, path, given);
	bool ok = take_params(call, given);
	json_decref(given);
	return ok && run(call);
}

void lbx_dispatch(struct lbx_sessions *sessions, const char *method, const char *path, const json_t *params,
		  struct lbx_reply *ret)
{
	struct lbx_call call = { .sessions = sessions };
	double begin = lb_clock_seconds();

	memset(ret, 0, sizeof *ret);
	ret->type = "application/json";
	lb_clear_error();
	bool ok = dispatch(&call, method, path, params);
	keep(&call, ok, lb_clock_seconds() - begin);
	ret->status = status_of(&call, ok);
	if (ok)
		tell_success(&call, ret);
	else
		tell_failure(ret);
	if (call.session)
		lbx_session_let_go(call.session);
	json_decref(call.params);
	json_decref(call.operand);
	json_decref(call.data);
	free(call.raw);
	lb_clear_error();
}
