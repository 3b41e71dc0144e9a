#define _GNU_SOURCE
#include "serve/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "lazybones.h"
#include "serve/ended.h"
#include "serve/give.h"
#include "serve/known.h"
#include "serve/look.h"
#include "serve/moment.h"
#include "serve/place.h"

enum { OUTPUT_KEPT = 256 << 10 };

struct lbx_session {
	int id;
	char *name, *warning; /* NULL: there is none */
	enum lbx_session_kind kind;
	struct lbx_gdb *gdb;
	struct lbx_feed *feed;
	struct lbx_watch *watch;
	struct lbx_trace *trace;
	pthread_t looker;
	bool has_looker;
	pthread_mutex_t lock; /* what follows */
	pthread_cond_t changed;
	int holders;
	enum lbx_session_state state;
	bool has_stopped, is_looking; /* nobody has looked yet; somebody does: state is still LBX_RUNNING */
	bool is_ending;
	const char *doing; /* of who has entered; NULL: nobody has */
	double doing_since, since, last_use;
	json_t *stop; /* why it has stopped or ended, or NULL */
	json_t *stop_frame; /* where, as gdb has told that; NULL: it has not */
	struct lbx_libraries libraries;
	json_t *location, *tensors; /* of the frame that was looked at, or NULL */
	bool knows_variables; /* those of `tensors` are what they were then */
	long pid;
	char output[OUTPUT_KEPT]; /* a ring */
	size_t output_n; /* all that ever came */
};

/* ---- states ---- */

const char *lbx_session_state_name(enum lbx_session_state state)
{
	static const char *const names[] = {
		[LBX_NOT_STARTED] = "not_started", [LBX_RUNNING] = "running", [LBX_PAUSED] = "paused",
		[LBX_EXITED] = "exited",           [LBX_GDB_GONE] = "ended",
	};

	return names[state];
}

/* In the lock. */
static void set_state(struct lbx_session *s, enum lbx_session_state state)
{
	s->state = state;
	s->since = s->last_use = lb_clock_seconds();
	pthread_cond_broadcast(&s->changed);
}

static void forget_place(struct lbx_session *s)
{
	json_decref(s->location);
	json_decref(s->tensors);
	s->location = s->tensors = NULL;
}

/* ---- what gdb tells, on its thread ---- */

/* gdb says so before it lets the program run, which it tells then. */
static void is_about_to_run(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->state != LBX_RUNNING)
		set_state(s, LBX_RUNNING);
	pthread_mutex_unlock(&s->lock);
}

static void has_begun_to_run(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	s->has_stopped = false;
	forget_place(s);
	if (s->state != LBX_RUNNING)
		set_state(s, LBX_RUNNING);
	pthread_mutex_unlock(&s->lock);
	lbx_watch_runs(s->watch, false);
	lbx_feed_tell(s->feed, "running", json_object());
}

static json_t *reason_of(const json_t *results)
{
	const char *reason = lbx_mi_string(results, "reason"), *point = lbx_mi_string(results, "bkptno"),
		   *thread = lbx_mi_string(results, "thread-id"), *signal = lbx_mi_string(results, "signal-name");

	return json_pack("{s:s*, s:o*, s:s*, s:O*, s:o*}", "reason", *reason ? reason : NULL, "breakpoint",
			 *point ? json_integer(atoi(point)) : NULL, "signal", *signal ? signal : NULL, "signal_meaning",
			 json_object_get(results, "signal-meaning"), "thread",
			 *thread ? json_integer(atoi(thread)) : NULL);
}

static void has_stopped(struct lbx_session *s, const json_t *results)
{
	pthread_mutex_lock(&s->lock);
	json_decref(s->stop);
	json_decref(s->stop_frame);
	s->stop = reason_of(results);
	s->stop_frame = json_incref(json_object_get(results, "frame"));
	s->has_stopped = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static json_t *exit_of(const json_t *results)
{
	const char *reason = lbx_mi_string(results, "reason"), *code = lbx_mi_string(results, "exit-code"),
		   *signal = lbx_mi_string(results, "signal-name");

	return json_pack("{s:s, s:o, s:s*}", "reason", reason, "exit_code",
			 *signal ? json_null() : json_integer(strtol(code, NULL, 8)), "signal",
			 *signal ? signal : NULL);
}

/* The same, by wait()'s status; -1: it is not known. */
static json_t *exit_by_status(int status)
{
	const char *signal = status != -1 && WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	return json_pack("{s:s, s:o, s:o*}", "reason", signal ? "exited-signalled" : "exited", "exit_code",
			 status != -1 && WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null(), "signal",
			 signal ? json_sprintf("SIG%s", signal) : NULL);
}

/* Takes what is told of it. */
static void has_exited(struct lbx_session *s, json_t *told)
{
	pthread_mutex_lock(&s->lock);
	json_decref(s->stop);
	s->stop = json_incref(told);
	s->has_stopped = false;
	s->pid = 0;
	forget_place(s);
	set_state(s, LBX_EXITED);
	pthread_mutex_unlock(&s->lock);
	if (s->trace)
		lbx_trace_add(s->trace, json_pack("{s:s, s:O}", "kind", "exit", "exit", told));
	lbx_watch_runs(s->watch, true);
	lbx_feed_tell(s->feed, "exited", told);
}

static void on_notice(struct lbx_session *s, const struct lbx_mi_line *line)
{
	if (strcmp(line->class, "thread-group-started") == 0) {
		pthread_mutex_lock(&s->lock);
		s->pid = atol(lbx_mi_string(line->results, "pid"));
		pthread_mutex_unlock(&s->lock);
	} else if (strcmp(line->class, "library-loaded") == 0) {
		pthread_mutex_lock(&s->lock);
		lbx_libraries_take(&s->libraries, line->results, true);
		pthread_mutex_unlock(&s->lock);
	} else if (strcmp(line->class, "library-unloaded") == 0) {
		pthread_mutex_lock(&s->lock);
		lbx_libraries_take(&s->libraries, line->results, false);
		pthread_mutex_unlock(&s->lock);
	} else if (strncmp(line->class, "breakpoint-", 11) == 0) {
		lbx_feed_tell(s->feed, "breakpoint",
			      json_pack("{s:s, s:O}", "what", line->class + 11, "breakpoint", line->results));
	}
}

/* gdb has said that the program runs, and then that it cannot: it stands where it was, or was killed while it stood, of which
 * gdb will say that it has no registers however often it is to run. */
static void has_failed_to_run(struct lbx_session *s, const json_t *results)
{
	int status;

	pthread_mutex_lock(&s->lock);
	bool was_to_run = s->state == LBX_RUNNING && !s->has_stopped && !s->is_looking;
	bool has_ended = was_to_run && lbx_has_ended(s->pid, &status);
	if (was_to_run && !has_ended) {
		json_decref(s->stop);
		s->stop = json_pack("{s:s, s:s}", "reason", "error", "error", lbx_mi_string(results, "msg"));
		s->has_stopped = true;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	if (has_ended)
		has_exited(s, exit_by_status(status));
}

static void on_line(void *self, const struct lbx_mi_line *line)
{
	struct lbx_session *s = self;

	if (line->kind == LBX_MI_RESULT && strcmp(line->class, "running") == 0) {
		is_about_to_run(s);
	} else if (line->kind == LBX_MI_RESULT && strcmp(line->class, "error") == 0) {
		has_failed_to_run(s, line->results);
	} else if (line->kind == LBX_MI_NOTICE) {
		on_notice(s, line);
	} else if (line->kind == LBX_MI_EXEC && strcmp(line->class, "running") == 0) {
		has_begun_to_run(s);
	} else if (line->kind == LBX_MI_EXEC && strcmp(line->class, "stopped") == 0) {
		if (strncmp(lbx_mi_string(line->results, "reason"), "exited", 6) == 0)
			has_exited(s, exit_of(line->results));
		else
			has_stopped(s, line->results);
	}
}

static void on_output(void *self, const char *text, size_t n)
{
	struct lbx_session *s = self;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < n; i++)
		s->output[s->output_n++ % OUTPUT_KEPT] = text[i];
	pthread_mutex_unlock(&s->lock);
	lbx_feed_tell(s->feed, "output", json_pack("{s:o}", "text", lbx_mi_text(text, n)));
}

static void on_end(void *self, int status)
{
	struct lbx_session *s = self;

	pthread_mutex_lock(&s->lock);
	bool is_wanted = s->is_ending;
	pthread_mutex_unlock(&s->lock);
	json_t *told = json_pack("{s:b, s:o}", "expected", is_wanted, "signal",
				 WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_null());
	if (s->trace && !is_wanted)
		lbx_trace_add(s->trace, json_pack("{s:s, s:O}", "kind", "gdb ended", "end", told));
	pthread_mutex_lock(&s->lock);
	s->has_stopped = false;
	s->pid = 0;
	forget_place(s);
	set_state(s, LBX_GDB_GONE);
	pthread_mutex_unlock(&s->lock);
	lbx_feed_tell(s->feed, "ended", told);
}

/* ---- looking, where the program has stopped ---- */

void lbx_session_look(struct lbx_session *s)
{
	json_t *place = lbx_look_at_frame(s->gdb), *tensors = place ? lbx_look_at_tensors(s->gdb) : NULL;

	lb_clear_error();
	pthread_mutex_lock(&s->lock);
	forget_place(s);
	s->location = place;
	s->tensors = tensors;
	s->knows_variables = true;
	pthread_mutex_unlock(&s->lock);
}

/* ---- what need not be asked ---- */

void lbx_session_doubt(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	s->knows_variables = false;
	pthread_mutex_unlock(&s->lock);
}

/* The line, with that in front. The caller's. */
static char *with_known(struct lbx_session *s, const char *line)
{
	pthread_mutex_lock(&s->lock);
	json_t *tensors = s->knows_variables ? json_incref(s->tensors) : NULL;
	pthread_mutex_unlock(&s->lock);
	char *ret = lbx_known_line(tensors, line);
	json_decref(tensors);
	return ret;
}

bool lbx_session_ask_tensor(struct lbx_session *s, double seconds, const char *line, char **ret, size_t *n)
{
	lb_auto_free char *whole = with_known(s, line);

	return whole ? lbx_gdb_tensor(s->gdb, seconds, whole, ret, n) : lb_fail("out of memory");
}

/* Whether the program has stopped in a function of its own: then no other frame is to be selected. */
static bool is_own_stop(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool ret = s->stop_frame && lbx_is_own_place(s->stop_frame, &s->libraries);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static void select_own_frame(struct lbx_session *s)
{
	json_t *frames = NULL;

	if (lbx_look_at_frames(s->gdb, &frames)) {
		pthread_mutex_lock(&s->lock);
		int level = lbx_own_level(frames, &s->libraries);
		pthread_mutex_unlock(&s->lock);
		if (level > 0)
			lbx_look_select(s->gdb, level);
	}
	json_decref(frames);
	lb_clear_error();
}

/* The first question is answered when the commands of breakpoints have run; they may let the program run on, so that it is
 * answered at its next stop. */
static void look_at_stop(struct lbx_session *s)
{
	if (!is_own_stop(s))
		select_own_frame(s);
	lbx_session_look(s);
}

/* In the lock: the stop that was looked at is where the program still is. */
static void tell_stop(struct lbx_session *s)
{
	json_t *told = json_copy(s->stop);

	if (told && s->location)
		json_object_set(told, "location", s->location);
	s->has_stopped = false;
	set_state(s, LBX_PAUSED);
	if (s->trace)
		lbx_trace_add(s->trace,
			      json_pack("{s:s, s:O, s:O*}", "kind", "stop", "stop", told, "tensors", s->tensors));
	lbx_feed_tell(s->feed, "stopped", told);
	lbx_watch_has_stopped(s->watch);
}

static void *look(void *self)
{
	struct lbx_session *s = self;

	pthread_mutex_lock(&s->lock);
	while (!s->is_ending && s->state != LBX_GDB_GONE) {
		if (!s->has_stopped) {
			pthread_cond_wait(&s->changed, &s->lock);
			continue;
		}
		s->has_stopped = false;
		s->is_looking = true;
		pthread_mutex_unlock(&s->lock);
		look_at_stop(s);
		pthread_mutex_lock(&s->lock);
		s->is_looking = false;
		if (!s->has_stopped && s->state == LBX_RUNNING)
			tell_stop(s);
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- beginning and end ---- */

static bool prepare(struct lbx_session *s, const struct lbx_session_start *start)
{
	json_t *frames = NULL;

	if (!lbx_give(s->gdb, start))
		return false;
	if (start->kind == LBX_OF_PROGRAM)
		return true;
	if (!lbx_look_at_frames(s->gdb, &frames))
		return false;
	json_decref(frames);
	look_at_stop(s);
	pthread_mutex_lock(&s->lock);
	s->has_stopped = false;
	set_state(s, LBX_PAUSED);
	lbx_watch_has_stopped(s->watch);
	pthread_mutex_unlock(&s->lock);
	return true;
}

static char *name_of(const struct lbx_session_start *start)
{
	char process[32];

	snprintf(process, sizeof process, "process %ld", start->pid);
	return strdup(start->kind == LBX_OF_PROCESS ? process
		      : start->kind == LBX_OF_CORE  ? start->core
						    : start->program);
}

static bool begin(struct lbx_session *s, const struct lbx_session_start *start)
{
	const struct lbx_gdb_listener listener = { s, on_line, on_output, on_end };

	if (!s->name || !s->feed || !s->watch)
		return lb_fail("out of memory");
	if (!lbx_gdb_listen(s->gdb, &listener) || !prepare(s, start))
		return false;
	s->has_looker = pthread_create(&s->looker, NULL, look, s) == 0;
	return s->has_looker || lb_fail("no thread for the session can be had");
}

bool lbx_session_open(int id, const struct lbx_session_start *start, struct lbx_session **ret)
{
	struct lbx_session *s = calloc(1, sizeof *s);

	if (!s) {
		lbx_gdb_stop(start->gdb);
		lbx_gdb_destroy(start->gdb);
		lbx_trace_end(start->trace);
		lbx_trace_destroy(start->trace);
		return lb_fail("out of memory");
	}
	s->gdb = start->gdb;
	s->id = id;
	s->kind = start->kind;
	s->trace = start->trace;
	s->holders = 1;
	s->name = name_of(start);
	s->warning = start->warning ? strdup(start->warning) : NULL;
	s->feed = lbx_feed_create();
	s->since = s->last_use = lb_clock_seconds();
	pthread_mutex_init(&s->lock, NULL);
	lbx_moment_cond_init(&s->changed);
	s->watch = lbx_watch_create(s);
	if (!begin(s, start)) {
		lbx_session_let_go(s);
		return false;
	}
	*ret = s;
	return true;
}

void lbx_session_hold(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	s->holders++;
	pthread_mutex_unlock(&s->lock);
}

/* Ends gdb first: whoever waits for it goes on then. */
void lbx_session_end(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool is_first = !s->is_ending;
	s->is_ending = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (!is_first)
		return;
	if (s->gdb)
		lbx_gdb_stop(s->gdb);
	if (s->has_looker)
		pthread_join(s->looker, NULL);
	lbx_watch_end(s->watch);
	lbx_feed_end(s->feed);
	lbx_trace_end(s->trace);
}

void lbx_session_let_go(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool is_last = --s->holders == 0;
	pthread_mutex_unlock(&s->lock);
	if (!is_last)
		return;
	lbx_session_end(s);
	lbx_gdb_destroy(s->gdb);
	lbx_watch_destroy(s->watch);
	lbx_feed_destroy(s->feed);
	lbx_trace_destroy(s->trace);
	lbx_libraries_clear(&s->libraries);
	forget_place(s);
	json_decref(s->stop);
	json_decref(s->stop_frame);
	free(s->name);
	free(s->warning);
	free(s);
}

/* ---- what there is to know ---- */

int lbx_session_id(const struct lbx_session *s)
{
	return s->id;
}

const char *lbx_session_name(const struct lbx_session *s)
{
	return s->name;
}

enum lbx_session_kind lbx_session_kind(const struct lbx_session *s)
{
	return s->kind;
}

struct lbx_feed *lbx_session_feed(const struct lbx_session *s)
{
	return s->feed;
}

struct lbx_watch *lbx_session_watch(const struct lbx_session *s)
{
	return s->watch;
}

struct lbx_trace *lbx_session_trace(const struct lbx_session *s)
{
	return s->trace;
}

enum lbx_session_state lbx_session_state(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	enum lbx_session_state state = s->state;
	pthread_mutex_unlock(&s->lock);
	return state;
}

double lbx_session_idle(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	double idle = s->state == LBX_RUNNING || s->doing ? 0 : lb_clock_seconds() - s->last_use;
	pthread_mutex_unlock(&s->lock);
	return idle;
}

json_t *lbx_session_status(struct lbx_session *s)
{
	static const char *const kinds[] = { "program", "core", "process" };

	pthread_mutex_lock(&s->lock);
	bool has_reason = s->state == LBX_PAUSED || s->state == LBX_EXITED;
	json_t *ret =
	    json_pack("{s:i, s:s, s:s, s:s, s:f, s:o*, s:O*, s:O*, s:s*, s:s*}", "session", s->id, "program", s->name,
		      "kind", kinds[s->kind], "state", lbx_session_state_name(s->state), "since_seconds",
		      lb_clock_seconds() - s->since, "pid", s->pid > 0 ? json_integer(s->pid) : NULL, "stop",
		      has_reason ? s->stop : NULL, "location", s->location, "trace",
		      s->trace ? lbx_trace_path(s->trace) : NULL, "warning", s->warning);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

json_t *lbx_session_location(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	json_t *ret = json_incref(s->location);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

json_t *lbx_session_tensors(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	json_t *ret = json_incref(s->tensors);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

json_t *lbx_session_output(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	size_t n = s->output_n < OUTPUT_KEPT ? s->output_n : OUTPUT_KEPT, first = s->output_n - n;
	char *text = malloc(n + 1);
	for (size_t i = 0; text && i < n; i++)
		text[i] = s->output[(first + i) % OUTPUT_KEPT];
	pthread_mutex_unlock(&s->lock);
	json_t *ret = text ? lbx_mi_text(text, n) : NULL;
	free(text);
	return ret;
}

/* ---- for one request at a time ---- */

/* In the lock. */
static enum lbx_entrance come_in(struct lbx_session *s, const char *doing)
{
	if (s->is_ending || s->state == LBX_GDB_GONE) {
		lb_fail("the session has ended: start one by POST /debug/start");
		return LBX_IS_GONE;
	}
	if (s->doing) {
		lb_fail("the session is busy with %s, since %.1f s", s->doing, lb_clock_seconds() - s->doing_since);
		return LBX_IS_BUSY;
	}
	if (s->state == LBX_RUNNING) {
		lb_fail("the program runs, since %.1f s: wait until it stops, or stop it by POST /debug/pause",
			lb_clock_seconds() - s->since);
		return LBX_IS_RUNNING;
	}
	s->doing = doing;
	s->doing_since = s->last_use = lb_clock_seconds();
	return LBX_ENTERED;
}

/* Who comes while another is in, or a stop is being looked at, waits for that. */
static bool is_to_wait(const struct lbx_session *s)
{
	return !s->is_ending && s->state != LBX_GDB_GONE &&
	       (s->doing || (s->state == LBX_RUNNING && (s->has_stopped || s->is_looking)));
}

enum lbx_entrance lbx_session_enter(struct lbx_session *s, const char *doing, double seconds)
{
	struct timespec until = lbx_moment_in(seconds);
	int error = 0;

	pthread_mutex_lock(&s->lock);
	while (is_to_wait(s) && error == 0)
		error = pthread_cond_timedwait(&s->changed, &s->lock, &until);
	enum lbx_entrance ret = come_in(s, doing);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

void lbx_session_leave(struct lbx_session *s)
{
	pthread_mutex_lock(&s->lock);
	s->doing = NULL;
	s->last_use = lb_clock_seconds();
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

struct lbx_gdb *lbx_session_gdb(struct lbx_session *s)
{
	return s->gdb;
}

bool lbx_session_go(struct lbx_session *s, const char *command)
{
	struct lbx_gdb_answer answer;

	pthread_mutex_lock(&s->lock);
	enum lbx_session_state before = s->state;
	set_state(s, LBX_RUNNING);
	pthread_mutex_unlock(&s->lock);
	if (lbx_gdb_ask(s->gdb, LBX_GDB_FOR_EVER, &answer, command)) {
		lbx_gdb_answer_release(&answer);
		return true;
	}
	pthread_mutex_lock(&s->lock);
	if (s->state == LBX_RUNNING && !s->has_stopped && !s->is_looking)
		set_state(s, before);
	pthread_mutex_unlock(&s->lock);
	return false;
}

bool lbx_session_wait(struct lbx_session *s, double seconds)
{
	struct timespec until = lbx_moment_in(seconds);
	int error = 0;

	pthread_mutex_lock(&s->lock);
	while (s->state == LBX_RUNNING && error == 0)
		error = pthread_cond_timedwait(&s->changed, &s->lock, &until);
	bool ret = s->state != LBX_RUNNING;
	pthread_mutex_unlock(&s->lock);
	return ret;
}

bool lbx_session_pause(struct lbx_session *s)
{
	return lbx_session_state(s) == LBX_RUNNING
		   ? lbx_gdb_interrupt(s->gdb)
		   : lb_fail("the program does not run: it is %s", lbx_session_state_name(lbx_session_state(s)));
}
