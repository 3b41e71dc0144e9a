/* A session: a gdb with what it looks at, and where that stands.
 *
 * The program runs, or gdb can be asked, never both. A request that asks gdb enters the session, one at a time, and
 * leaves it. When the program stops, a thread of the session's looks first: which frame is the program's own (below
 * functions of libraries, and of probes), where that stands, which tensors its variables hold; then
 * only is the session paused. So who finds it paused finds all of this, and each stop is in the trace. */
#ifndef LBX_SERVE_SESSION_H
#define LBX_SERVE_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "serve/feed.h"
#include "serve/gdb.h"
#include "record/trace.h"
#include "serve/watch.h"

enum lbx_session_kind { LBX_OF_PROGRAM, LBX_OF_CORE, LBX_OF_PROCESS };

enum lbx_session_state {
	LBX_NOT_STARTED, /* the program is loaded */
	LBX_RUNNING,
	LBX_PAUSED, /* a core always is */
	LBX_EXITED,
	LBX_GDB_GONE,
};

struct lbx_session;

struct lbx_session_start {
	enum lbx_session_kind kind;
	const char *program;      /* a path; NULL for a process, and for a core whose program is to be found */
	const char *core;         /* likewise */
	const char *warning;      /* what is wrong with the program, told with the status; or NULL */
	long pid;
	const char *const *args;  /* the program's, to NULL; or NULL */
	const json_t *environment; /* an object of strings, or NULL */
	const char *cwd;          /* or NULL */
	bool skips;               /* steps pass over what belongs to the system and to libraries of tensors */
	struct lbx_gdb *gdb;      /* that nobody listens to yet; taken over, also on failure */
	struct lbx_trace *trace;  /* taken over, also on failure; NULL: none is kept */
};

/* The caller holds it. */
bool lbx_session_open(int id, const struct lbx_session_start *start, struct lbx_session **ret);
void lbx_session_hold(struct lbx_session *session);
/* The last one who lets go closes it. */
void lbx_session_let_go(struct lbx_session *session);
/* Ends gdb, and what it has started. What is going on in the session fails; later calls do, too. */
void lbx_session_end(struct lbx_session *session);

int lbx_session_id(const struct lbx_session *session);
/* What it looks at: a path, or "process 4711". */
const char *lbx_session_name(const struct lbx_session *session);
enum lbx_session_kind lbx_session_kind(const struct lbx_session *session);
struct lbx_feed *lbx_session_feed(const struct lbx_session *session);
struct lbx_watch *lbx_session_watch(const struct lbx_session *session);
struct lbx_trace *lbx_session_trace(const struct lbx_session *session); /* NULL: none */
enum lbx_session_state lbx_session_state(struct lbx_session *session);
/* "paused". */
const char *lbx_session_state_name(enum lbx_session_state state);
/* Seconds since anything was asked or happened. */
double lbx_session_idle(struct lbx_session *session);
/* State, since when, why, where, process: a new object. */
json_t *lbx_session_status(struct lbx_session *session);
/* Where the selected frame of the last stop is, and which tensors its variables hold: new references, or NULL. */
json_t *lbx_session_location(struct lbx_session *session);
json_t *lbx_session_tensors(struct lbx_session *session);
/* The last output of the program, a new string. */
json_t *lbx_session_output(struct lbx_session *session);

/* For one request; `doing` is told to others meanwhile, and lives for ever. */
enum lbx_entrance { LBX_ENTERED, LBX_IS_BUSY, LBX_IS_RUNNING, LBX_IS_GONE };
enum lbx_entrance lbx_session_enter(struct lbx_session *session, const char *doing, double seconds);
void lbx_session_leave(struct lbx_session *session);

/* For who has entered. */
struct lbx_gdb *lbx_session_gdb(struct lbx_session *session);
/* Sends a command that lets the program run, and returns when it runs. */
bool lbx_session_go(struct lbx_session *session, const char *command);
/* As lbx_gdb_tensor(), which is told what is known of variables. */
bool lbx_session_ask_tensor(struct lbx_session *session, double seconds, const char *line, char **ret, size_t *n);
/* Variables may have changed since they were looked at. */
void lbx_session_doubt(struct lbx_session *session);
/* Looks again where the selected frame is, after it has been changed. */
void lbx_session_look(struct lbx_session *session);

/* For anyone: waits until the program does not run. False when it still does then. */
bool lbx_session_wait(struct lbx_session *session, double seconds);
/* Stops the program. */
bool lbx_session_pause(struct lbx_session *session);

#endif
