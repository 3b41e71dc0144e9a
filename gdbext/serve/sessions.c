#include "serve/sessions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/error.h"
#include "lazybones.h"
#include "serve/moment.h"

enum { ROOM = 64 };
#define PATIENCE 60 /* seconds, for a gdb that has just been started */
#define QUIET 2.0 /* seconds since the last start, after which a spare gdb is in nobody's way */

struct lbx_sessions {
	struct lbx_sessions_limits limits;
	pthread_t keeper;
	bool has_keeper;
	pthread_mutex_t lock; /* what follows */
	pthread_cond_t ended;
	bool is_ending;
	struct lbx_session *list[ROOM]; /* held; the last that was started at the end */
	int n, starting, last_id;
	struct lbx_gdb *spare; /* which nobody listens to; or NULL */
	double last_start;
};

/* In the lock: takes it off the list. */
static struct lbx_session *take(struct lbx_sessions *sessions, int i)
{
	struct lbx_session *session = sessions->list[i];

	memmove(sessions->list + i, sessions->list + i + 1, (size_t)(--sessions->n - i) * sizeof *sessions->list);
	return session;
}

/* In the lock, which is open while it ends what nobody has used for long. */
static void reap(struct lbx_sessions *sessions)
{
	for (int i = sessions->n; i-- > 0 && !sessions->is_ending;) {
		if (lbx_session_idle(sessions->list[i]) <= sessions->limits.idle)
			continue;
		struct lbx_session *session = take(sessions, i);
		pthread_mutex_unlock(&sessions->lock);
		lbx_session_end(session);
		lbx_session_let_go(session);
		pthread_mutex_lock(&sessions->lock);
		i = sessions->n;
	}
}

/* Likewise. A gdb that cannot be started is told of by who needs it. */
static void refill(struct lbx_sessions *sessions)
{
	struct lbx_gdb *gdb = NULL;

	if (sessions->spare || sessions->starting || lb_clock_seconds() - sessions->last_start < QUIET)
		return;
	pthread_mutex_unlock(&sessions->lock);
	if (!lbx_gdb_start(&gdb))
		lb_clear_error();
	pthread_mutex_lock(&sessions->lock);
	sessions->spare = gdb;
	if (!gdb)
		sessions->limits.keeps_spare = false;
}

static void *keep(void *self)
{
	struct lbx_sessions *sessions = self;

	pthread_mutex_lock(&sessions->lock);
	while (!sessions->is_ending) {
		double idle = sessions->limits.idle;
		if (sessions->limits.keeps_spare)
			refill(sessions);
		struct timespec next = lbx_moment_in(idle > 0 && idle < 4 ? idle / 4 : 1);
		if (!sessions->is_ending)
			pthread_cond_timedwait(&sessions->ended, &sessions->lock, &next);
		if (idle > 0)
			reap(sessions);
	}
	pthread_mutex_unlock(&sessions->lock);
	return NULL;
}

struct lbx_sessions *lbx_sessions_create(const struct lbx_sessions_limits *limits)
{
	struct lbx_sessions *sessions = calloc(1, sizeof *sessions);

	if (!sessions)
		return NULL;
	sessions->limits = *limits;
	if (sessions->limits.most > ROOM)
		sessions->limits.most = ROOM;
	pthread_mutex_init(&sessions->lock, NULL);
	lbx_moment_cond_init(&sessions->ended);
	sessions->last_start = -QUIET;
	sessions->has_keeper = pthread_create(&sessions->keeper, NULL, keep, sessions) == 0;
	return sessions;
}

void lbx_sessions_end_all(struct lbx_sessions *sessions)
{
	struct lbx_session *session;

	pthread_mutex_lock(&sessions->lock);
	sessions->is_ending = true;
	pthread_cond_broadcast(&sessions->ended);
	pthread_mutex_unlock(&sessions->lock);
	while ((session = lbx_sessions_find(sessions, 0))) {
		lbx_sessions_end(sessions, session);
		lbx_session_let_go(session);
	}
}

void lbx_sessions_destroy(struct lbx_sessions *sessions)
{
	if (!sessions)
		return;
	lbx_sessions_end_all(sessions);
	if (sessions->has_keeper)
		pthread_join(sessions->keeper, NULL);
	if (sessions->spare)
		lbx_gdb_stop(sessions->spare);
	lbx_gdb_destroy(sessions->spare);
	pthread_mutex_destroy(&sessions->lock);
	pthread_cond_destroy(&sessions->ended);
	free(sessions);
}

/* ---- starting ---- */

/* A place in the list, and a number. 0: there is none. */
static int reserve(struct lbx_sessions *sessions)
{
	pthread_mutex_lock(&sessions->lock);
	bool is_free = sessions->n + sessions->starting < sessions->limits.most && !sessions->is_ending;
	int id = is_free ? ++sessions->last_id : 0;
	sessions->starting += is_free;
	pthread_mutex_unlock(&sessions->lock);
	return id;
}

static json_t *about(int id, const struct lbx_session_start *start)
{
	json_t *args = json_array();

	for (size_t i = 0; start->args && start->args[i]; i++)
		json_array_append_new(args, json_string(start->args[i]));
	json_t *session =
	    json_pack("{s:i, s:s*, s:s*, s:o*, s:o, s:O*, s:s*}", "id", id, "program", start->program, "core",
		      start->core, "pid", start->kind == LBX_OF_PROCESS ? json_integer(start->pid) : NULL, "args", args,
		      "env", start->environment, "cwd", start->cwd);
	return session ? json_pack("{s:o}", "session", session) : NULL;
}

static bool open_trace(const struct lbx_sessions *sessions, int id, struct lbx_session_start *start, const char *name)
{
	return !sessions->limits.traces ||
	       lbx_trace_open(sessions->limits.traces, name, about(id, start), &start->trace);
}

static bool answers(struct lbx_gdb *gdb)
{
	struct lbx_gdb_answer answer;

	if (!lbx_gdb_ask(gdb, PATIENCE, &answer, "-gdb-version"))
		return false;
	lbx_gdb_answer_release(&answer);
	return true;
}

/* The spare one, unless it has died meanwhile, or a new one. */
static bool take_gdb(struct lbx_sessions *sessions, struct lbx_gdb **ret)
{
	pthread_mutex_lock(&sessions->lock);
	*ret = sessions->spare;
	sessions->spare = NULL;
	sessions->last_start = lb_clock_seconds();
	pthread_mutex_unlock(&sessions->lock);
	if (*ret && answers(*ret))
		return true;
	lb_clear_error();
	if (*ret)
		lbx_gdb_stop(*ret);
	lbx_gdb_destroy(*ret);
	return lbx_gdb_start(ret);
}

bool lbx_sessions_start(struct lbx_sessions *sessions, struct lbx_session_start *start, const char *name,
			struct lbx_session **ret, bool *is_full)
{
	int id = reserve(sessions);

	*is_full = id == 0;
	if (*is_full)
		return lb_fail("there are %d sessions, as many as may be: terminate one", sessions->limits.most);
	bool ok = take_gdb(sessions, &start->gdb);
	if (ok && !open_trace(sessions, id, start, name)) {
		lbx_gdb_stop(start->gdb);
		lbx_gdb_destroy(start->gdb);
		ok = false;
	}
	ok = ok && lbx_session_open(id, start, ret);
	if (ok)
		lbx_session_hold(*ret);
	pthread_mutex_lock(&sessions->lock);
	sessions->starting--;
	if (ok)
		sessions->list[sessions->n++] = *ret;
	pthread_mutex_unlock(&sessions->lock);
	return ok;
}

/* ---- finding ---- */

struct lbx_session *lbx_sessions_find(struct lbx_sessions *sessions, int id)
{
	struct lbx_session *ret = NULL;

	pthread_mutex_lock(&sessions->lock);
	for (int i = sessions->n; i-- > 0 && !ret;)
		if (id == 0 || lbx_session_id(sessions->list[i]) == id)
			ret = sessions->list[i];
	if (ret)
		lbx_session_hold(ret);
	pthread_mutex_unlock(&sessions->lock);
	return ret;
}

void lbx_sessions_end(struct lbx_sessions *sessions, struct lbx_session *session)
{
	bool is_ours = false;

	pthread_mutex_lock(&sessions->lock);
	for (int i = sessions->n; i-- > 0 && !is_ours;) {
		is_ours = sessions->list[i] == session;
		if (is_ours)
			take(sessions, i);
	}
	pthread_mutex_unlock(&sessions->lock);
	lbx_session_end(session);
	if (is_ours)
		lbx_session_let_go(session);
}

json_t *lbx_sessions_list(struct lbx_sessions *sessions)
{
	json_t *ret = json_array();

	pthread_mutex_lock(&sessions->lock);
	for (int i = 0; ret && i < sessions->n; i++)
		json_array_append_new(ret, lbx_session_status(sessions->list[i]));
	pthread_mutex_unlock(&sessions->lock);
	return ret;
}
