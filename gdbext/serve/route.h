/* What a server of sessions answers: one table. A row is a method and a path, what it takes, what it needs, and the
 * function that answers. The dispatcher, the description in OpenAPI, the tools of the Model Context Protocol and the
 * tables of the documentation are made of it. A row stands at the foot of its function's file; routes.def lists them. */
#ifndef LBX_SERVE_ROUTE_H
#define LBX_SERVE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/error.h"
#include "serve/session.h"
#include "serve/sessions.h"

enum lbx_param_type {
	LBX_STRING = 1,
	LBX_TENSOR, /* a string, or the number of a tensor, which comes as #12 */
	LBX_WHOLE,  /* a whole number */
	LBX_NUMBER, /* any that is not negative */
	LBX_FLAG,   /* true or false */
	LBX_LIST,   /* of strings */
	LBX_PAIRS,  /* an object of strings */
};

struct lbx_param {
	const char *name;
	enum lbx_param_type type;
	bool is_needed;
	const char *help; /* one line, no full stop */
};

/* Of all that need a session. */
extern const struct lbx_param lbx_session_param;

enum lbx_route_needs {
	LBX_OF_SERVER, /* of the server */
	LBX_IN_ANY_STATE,  /* a session, in whatever state */
	LBX_WITH_GDB,   /* whose gdb can be asked: the program does not run */
	LBX_WHERE_STOPPED,    /* and has threads to look at: it is paused, or a core */
};

enum { LBX_PARAMS_MAX = 12 };

struct lbx_call;

struct lbx_route {
	const char *method, *path; /* "/tensors/{id}": what stands in braces is a parameter */
	const char *tool;          /* its name for MCP; NULL: a machine cannot use it */
	const char *summary;       /* one line, no full stop */
	const char *help;          /* paragraphs; may be NULL */
	enum lbx_route_needs needs;
	bool is_poll;     /* asked again and again: left out of the trace */
	const char *type; /* of what it answers, where that is no JSON */
	struct lbx_param
	    params[LBX_PARAMS_MAX]; /* to the first without a name; `session` is common to all that need one */
	bool (*run)(struct lbx_call *call);
};

/* One request, while it is answered. */
struct lbx_call {
	const struct lbx_route *route;
	struct lbx_sessions *sessions;
	struct lbx_session *session; /* held, and entered if the row says so; NULL: needs none */
	json_t *params;              /* checked: an object with what the row lists */
	bool is_over;                /* the session has ended: nothing more is kept of it */
	int status;                  /* of HTTP; 0: 200, or by the error's cause */
	json_t *operand;             /* a text that lives as long as the call */
	json_t *data;                /* the answer; or */
	char *raw;     /* the text of one, as JSON or of the row's type */
	size_t raw_n;
};

/* Parameters; what was not given is NULL, or `otherwise`. */
const char *lbx_call_string(const struct lbx_call *call, const char *name);
long long lbx_call_whole(const struct lbx_call *call, const char *name, long long otherwise);
double lbx_call_number(const struct lbx_call *call, const char *name, double otherwise);
bool lbx_call_flag(const struct lbx_call *call, const char *name, bool otherwise);

/* Fails, with that status. Always false. */
#define lbx_refuse(call, code, ...) ((call)->status = (code), lb_fail(__VA_ARGS__))
/* The status where gdb, or an inspection, has said no, or has not answered in time, as the error tells. */
int lbx_status_of_gdb(void);
/* The answer. False where there is no memory for it. */
bool lbx_answer(struct lbx_call *call, json_t *data);
/* Runs `tensor WORD …` and answers with what it says; what it fails for is the call's failure. The words are quoted as they
 * have to be; the list ends with NULL. */
bool lbx_answer_tensor(struct lbx_call *call, const char *const *words);
/* The same of what is typed behind `tensor`. */
bool lbx_answer_tensor_line(struct lbx_call *call, const char *line);
/* The same, as data: a new reference. */
bool lbx_ask_tensor(struct lbx_call *call, const char *const *words, json_t **ret);
/* Asks gdb, by a command of MI. */
bool lbx_call_ask(struct lbx_call *call, struct lbx_gdb_answer *ret, const char *command);
/* Waits until the program does not run, for as long as the parameter `wait` says, which is LBX_WAIT_PARAM. */
void lbx_call_wait(const struct lbx_call *call);
#define LBX_WAIT_PARAM \
	{ "wait", LBX_NUMBER, false, "seconds to wait for its end (5); then the answer is that the program runs" }
/* Seconds that gdb may take for one question: a parameter `timeout`, or a minute. */
double lbx_call_patience(const struct lbx_call *call);

/* The rows by name. */
#define ROUTE(name) extern const struct lbx_route lbx_route_##name;
#include "serve/routes.def"
#undef ROUTE
/* All of them in their order, and NULL. */
extern const struct lbx_route *const lbx_routes[];
/* What a parameter's type is called: "string", in JSON's schema. */
const char *lbx_param_type_name(enum lbx_param_type type);

/* %2F as it is meant; in a query + is a blank, too. A new string; NULL: no memory, or no text. */
json_t *lbx_url_decode(const char *text, size_t n, bool in_query);

/* The path of a row, with the parameter that stands in braces in its place, encoded; it is taken out of `params`. A path
 * without one is copied. The caller's; NULL: no memory, or the parameter is missing. */
char *lbx_route_path(const char *pattern, json_t *params);

/* ---- answering ---- */

struct lbx_reply {
	int status;
	const char *type; /* of the content */
	char *bytes; /* the caller's */
	size_t n;
};

/* `params` are those of the body, or of the query: then all strings. Both are borrowed. Never fails: an error is a
 * reply. */
void lbx_dispatch(struct lbx_sessions *sessions, const char *method, const char *path, const json_t *params,
		  struct lbx_reply *ret);

#endif
