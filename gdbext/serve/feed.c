#include "serve/feed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/answer.h"
#include "serve/moment.h"

enum { KEPT = 1024 };

const char *const lbx_feed_types[] = { "running",    "stopped", "exited",   "ended", "output",
				       "breakpoint", "tensors", "findings", NULL };

struct lbx_feed {
	pthread_mutex_t lock;
	pthread_cond_t told;
	bool ended;
	uint64_t last;
	struct {
		const char *type;
		char *data;
	} ring[KEPT];
};

struct lbx_feed *lbx_feed_create(void)
{
	struct lbx_feed *feed = calloc(1, sizeof *feed);

	if (!feed)
		return NULL;
	pthread_mutex_init(&feed->lock, NULL);
	lbx_moment_cond_init(&feed->told);
	return feed;
}

void lbx_feed_destroy(struct lbx_feed *feed)
{
	if (!feed)
		return;
	for (int i = 0; i < KEPT; i++)
		free(feed->ring[i].data);
	pthread_mutex_destroy(&feed->lock);
	pthread_cond_destroy(&feed->told);
	free(feed);
}

void lbx_feed_tell(struct lbx_feed *feed, const char *type, json_t *data)
{
	char *text = data ? lbx_json_dumps(data, JSON_COMPACT) : NULL;

	json_decref(data);
	if (!text)
		return;
	pthread_mutex_lock(&feed->lock);
	size_t at = ++feed->last % KEPT;
	free(feed->ring[at].data);
	feed->ring[at].data = text;
	feed->ring[at].type = type;
	pthread_cond_broadcast(&feed->told);
	pthread_mutex_unlock(&feed->lock);
}

/* In the lock. */
static bool copy(const struct lbx_feed *feed, uint64_t number, struct lbx_feed_event *ret)
{
	ret->number = number;
	ret->type = feed->ring[number % KEPT].type;
	ret->data = strdup(feed->ring[number % KEPT].data);
	return ret->data;
}

bool lbx_feed_next(struct lbx_feed *feed, uint64_t after, double seconds, struct lbx_feed_event *ret, uint64_t *lost)
{
	struct timespec until = lbx_moment_in(seconds);
	int error = 0;

	pthread_mutex_lock(&feed->lock);
	if (after > feed->last)
		after = feed->last; /* a number of another session */
	while (feed->last == after && !feed->ended && error == 0)
		error = pthread_cond_timedwait(&feed->told, &feed->lock, &until);
	bool any = feed->last > after;
	*lost = any && feed->last - after > KEPT ? feed->last - after - KEPT : 0;
	any = any && copy(feed, after + *lost + 1, ret);
	pthread_mutex_unlock(&feed->lock);
	return any;
}

uint64_t lbx_feed_last(struct lbx_feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	uint64_t last = feed->last;
	pthread_mutex_unlock(&feed->lock);
	return last;
}

void lbx_feed_end(struct lbx_feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	feed->ended = true;
	pthread_cond_broadcast(&feed->told);
	pthread_mutex_unlock(&feed->lock);
}

bool lbx_feed_have_ended(struct lbx_feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	bool ended = feed->ended;
	pthread_mutex_unlock(&feed->lock);
	return ended;
}
