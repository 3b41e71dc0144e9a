/* A session again: what a trace says was asked is asked of another session, of the same program or another build of it. */
#ifndef LBX_SERVE_REPLAY_SESSION_H
#define LBX_SERVE_REPLAY_SESSION_H

#include <stdbool.h>

#include <jansson.h>

#include "serve/sessions.h"

struct lbx_replayed {
	char *trace; /* of the new session; the caller's */
	int asked, otherwise; /* requests; those whose status is another now */
	json_t *refusals; /* of those: [{"n", "path", "status", "was", "error"}], the caller's */
};

/* `program` in the place of the trace's; NULL: the same. Each stop is waited for, `seconds` at most. `sessions` must keep
 * traces. */
bool lbx_replay_session(struct lbx_sessions *sessions, const char *trace, const char *program, double seconds,
			struct lbx_replayed *ret);

#endif
