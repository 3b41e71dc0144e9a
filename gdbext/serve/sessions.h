/* The sessions of a server: several, each with a number. Who names none means the last that was started. */
#ifndef LBX_SERVE_SESSIONS_H
#define LBX_SERVE_SESSIONS_H

#include <stdbool.h>

#include <jansson.h>

#include "serve/session.h"

struct lbx_sessions;

struct lbx_sessions_limits {
	int most;           /* sessions at once */
	double idle;        /* seconds, after which one that nobody uses ends */
	const char *traces; /* the folder; NULL: none are kept */
	bool keeps_spare;   /* a gdb is ready before a session needs one: half of what a start takes */
};

struct lbx_sessions *lbx_sessions_create(const struct lbx_sessions_limits *limits);
/* Ends all, and starts no more. */
void lbx_sessions_end_all(struct lbx_sessions *sessions);
/* Once nobody asks any more. */
void lbx_sessions_destroy(struct lbx_sessions *sessions);

/* Starts one, with a trace under that name. The caller holds it. *is_full: there are as many as may be. */
bool lbx_sessions_start(struct lbx_sessions *sessions, struct lbx_session_start *start, const char *name,
			struct lbx_session **ret, bool *is_full);
/* The one with that number, or the last (0), held. NULL: there is none. */
struct lbx_session *lbx_sessions_find(struct lbx_sessions *sessions, int id);
/* Ends it, and forgets it. */
void lbx_sessions_end(struct lbx_sessions *sessions, struct lbx_session *session);
/* What each is, a new array. */
json_t *lbx_sessions_list(struct lbx_sessions *sessions);

#endif
