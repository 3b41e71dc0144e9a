/* What happens in a session, in order, for whoever listens: a ring of the last events. Each has a number, by which one
 * who was away goes on where they were (the Last-Event-ID of server-sent events), and a type. */
#ifndef LBX_SERVE_FEED_H
#define LBX_SERVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct lbx_feed;

struct lbx_feed_event {
	uint64_t number; /* from 1 on */
	const char *type;
	char *data; /* one line of JSON, the caller's to free */
};

/* "stopped": all types there are, and NULL. */
extern const char *const lbx_feed_types[];

struct lbx_feed *lbx_feed_create(void);
void lbx_feed_destroy(struct lbx_feed *feed);

/* Takes over the data. `type` lives for ever. */
void lbx_feed_tell(struct lbx_feed *feed, const char *type, json_t *data);
/* The first event behind that number, which is waited for. False when there is none in that time, or none will come;
 * *lost: how many before it are no longer kept. */
bool lbx_feed_next(struct lbx_feed *feed, uint64_t after, double seconds, struct lbx_feed_event *ret, uint64_t *lost);
uint64_t lbx_feed_last(struct lbx_feed *feed);
/* No more will come: whoever waits goes on. */
void lbx_feed_end(struct lbx_feed *feed);
bool lbx_feed_have_ended(struct lbx_feed *feed);

#endif
