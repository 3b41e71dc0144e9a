#define _GNU_SOURCE
#include "serve/watch.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/answer.h"
#include "lazybones.h"
#include "serve/moment.h"
#include "serve/session.h"

enum {
	MOST_LISTED = 20000, /* tensors; where there are more, their number alone is told */
	MOST_TOLD = 100,     /* of those born, and of those gone */
	MOST_FINDINGS = 1000, /* that are remembered */
};
#define QUIET 0.1   /* seconds that the program stands still before anyone looks */
#define PATIENCE 60 /* seconds that gdb may take */

/* What an event tells of a tensor, as JSON. */
struct row {
	json_int_t id;
	char *text;
};

struct rows {
	struct row *list;
	size_t n;
};

struct lbx_watch {
	struct lbx_session *session;
	pthread_t thread;
	pthread_mutex_t lock; /* what follows but for `before`, which is the thread's */
	pthread_cond_t changed;
	bool has_ended, has_restarted;
	int listeners;
	uint64_t stop, last_stop, looked_at; /* stops by number; 0: it runs */
	json_t *findings;         /* known ones: an object whose keys are what tells them apart */
	bool has_before;
	struct rows before;
};

/* ---- tensors ---- */

static void release_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		free(rows->list[i].text);
	free(rows->list);
	*rows = (struct rows){ 0 };
}

static int by_id(const void *a, const void *b)
{
	json_int_t x = ((const struct row *)a)->id, y = ((const struct row *)b)->id;

	return x < y ? -1 : x > y;
}

static char *brief(json_t *tensor)
{
	static const char *const keys[] = { "id", "name", "op", "dtype", "shape", "nbytes", "state" };
	json_t *told = json_object();

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		json_object_set(told, keys[i], json_object_get(tensor, keys[i]));
	char *ret = told ? lbx_json_dumps(told, JSON_COMPACT) : NULL;
	json_decref(told);
	return ret;
}

static bool take_rows(json_t *tensors, struct rows *ret)
{
	json_t *each;
	size_t i;

	*ret = (struct rows){ .list = calloc(json_array_size(tensors) + 1, sizeof *ret->list) };
	json_array_foreach(tensors, i, each)
	{
		char *text = ret->list ? brief(each) : NULL;
		if (!text) {
			release_rows(ret);
			return lb_fail("out of memory");
		}
		ret->list[ret->n++] = (struct row){ json_integer_value(json_object_get(each, "id")), text };
	}
	if (ret->list)
		qsort(ret->list, ret->n, sizeof *ret->list, by_id);
	return ret->list || lb_fail("out of memory");
}

/* Those of `a` that are not among `b`: the first of them, and how many more there are. */
static json_t *only_in(const struct rows *a, const struct rows *b, json_int_t *more)
{
	json_t *ret = json_array();
	size_t j = 0;

	*more = 0;
	for (size_t i = 0; i < a->n; i++) {
		while (j < b->n && b->list[j].id < a->list[i].id)
			j++;
		if (j < b->n && b->list[j].id == a->list[i].id)
			continue;
		if (json_array_size(ret) == MOST_TOLD)
			++*more;
		else
			json_array_append_new(ret, json_loads(a->list[i].text, 0, NULL));
	}
	return ret;
}

static bool ask_for_tensors(struct lbx_watch *w, json_t **ret)
{
	char line[64];
	lb_auto_free char *text = NULL;
	size_t n;

	if (lbx_session_enter(w->session, "a look at its tensors", PATIENCE) != LBX_ENTERED)
		return false;
	snprintf(line, sizeof line, "list --limit %d", MOST_LISTED);
	bool ok = lbx_session_state(w->session) == LBX_PAUSED &&
		  lbx_gdb_tensor(lbx_session_gdb(w->session), PATIENCE, line, &text, &n);
	lbx_session_leave(w->session);
	*ret = ok ? json_loadb(text, n, 0, NULL) : NULL;
	return *ret;
}

/* Of a program without tensors the answer is an error, which is no event. */
static void tell_tensors(struct lbx_watch *w, json_t *told)
{
	json_t *tensors = json_object_get(told, "tensors"), *total = json_object_get(told, "total");
	json_int_t more_born = 0, more_gone = 0;
	json_t *event = json_pack("{s:O}", "total", total);
	struct rows now;

	if (json_integer_value(total) > MOST_LISTED || !take_rows(tensors, &now)) {
		w->has_before = false;
		json_object_set_new(event, "too_many", json_true());
	} else {
		if (w->has_before) {
			json_object_set_new(event, "born", only_in(&now, &w->before, &more_born));
			json_object_set_new(event, "more_born", json_integer(more_born));
			json_object_set_new(event, "gone", only_in(&w->before, &now, &more_gone));
			json_object_set_new(event, "more_gone", json_integer(more_gone));
		}
		release_rows(&w->before);
		w->before = now;
		w->has_before = true;
	}
	lbx_feed_tell(lbx_session_feed(w->session), "tensors", event);
}

/* ---- the thread ---- */

/* In the lock. Whether the program stands where it stood for that long. */
static bool is_quiet(struct lbx_watch *w)
{
	struct timespec until = lbx_moment_in(QUIET);
	uint64_t stop = w->stop;
	int error = 0;

	while (!w->has_ended && w->stop == stop && error == 0)
		error = pthread_cond_timedwait(&w->changed, &w->lock, &until);
	return !w->has_ended && w->stop == stop && w->listeners > 0;
}

static void *look(void *self)
{
	struct lbx_watch *w = self;

	pthread_mutex_lock(&w->lock);
	while (!w->has_ended) {
		if (w->listeners == 0 || w->stop == 0 || w->stop == w->looked_at) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		if (!is_quiet(w))
			continue;
		uint64_t stop = w->stop;
		if (w->has_restarted)
			w->has_before = false;
		w->has_restarted = false;
		pthread_mutex_unlock(&w->lock);
		json_t *told = NULL;
		bool ok = ask_for_tensors(w, &told);
		pthread_mutex_lock(&w->lock);
		bool is_of_stop =
		    w->stop == stop; /* else it may be of another process, where the same numbers are others' */
		pthread_mutex_unlock(&w->lock);
		if (ok && is_of_stop && json_object_get(told, "total"))
			tell_tensors(w, told);
		json_decref(told);
		lb_clear_error();
		pthread_mutex_lock(&w->lock);
		w->looked_at = stop;
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct lbx_watch *lbx_watch_create(struct lbx_session *session)
{
	struct lbx_watch *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->session = session;
	w->findings = json_object();
	pthread_mutex_init(&w->lock, NULL);
	lbx_moment_cond_init(&w->changed);
	if (w->findings && pthread_create(&w->thread, NULL, look, w) == 0)
		return w;
	json_decref(w->findings);
	free(w);
	return NULL;
}

void lbx_watch_end(struct lbx_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->has_ended = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
}

void lbx_watch_destroy(struct lbx_watch *w)
{
	if (!w)
		return;
	release_rows(&w->before);
	json_decref(w->findings);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(w);
}

void lbx_watch_listen(struct lbx_watch *w, int by)
{
	pthread_mutex_lock(&w->lock);
	w->listeners += by;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void lbx_watch_has_stopped(struct lbx_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = ++w->last_stop;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void lbx_watch_runs(struct lbx_watch *w, bool is_over)
{
	pthread_mutex_lock(&w->lock);
	w->stop = 0;
	if (is_over) {
		w->has_restarted = true;
		json_object_clear(w->findings);
	}
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

/* ---- findings ---- */

/* The same finding again has other figures in its texts: what tells it is its rule, its place and its tensors. */
static char *key_of(json_t *finding)
{
	json_t *key = json_pack("[O, O*, O*]", json_object_get(finding, "id"), json_object_get(finding, "site"),
				json_object_get(finding, "tensors"));
	char *ret = key ? lbx_json_dumps(key, JSON_COMPACT) : NULL;

	json_decref(key);
	return ret;
}

/* In the lock. */
static bool is_new(struct lbx_watch *w, json_t *finding)
{
	lb_auto_free char *key = key_of(finding);

	if (!key || json_object_get(w->findings, key))
		return false;
	if (json_object_size(w->findings) == MOST_FINDINGS)
		json_object_clear(w->findings);
	return json_object_set_new(w->findings, key, json_true()) == 0;
}

void lbx_watch_tell_findings(struct lbx_watch *w, const char *answer, size_t n)
{
	json_t *told = json_loadb(answer, n, 0, NULL), *fresh = json_array(), *each;
	size_t i;

	pthread_mutex_lock(&w->lock);
	json_array_foreach(json_object_get(told, "findings"), i, each) if (is_new(w, each))
	    json_array_append(fresh, each);
	pthread_mutex_unlock(&w->lock);
	json_decref(told);
	if (json_array_size(fresh) > 0)
		lbx_feed_tell(lbx_session_feed(w->session), "findings", json_pack("{s:O}", "findings", fresh));
	json_decref(fresh);
}
