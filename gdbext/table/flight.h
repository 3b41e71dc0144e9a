/* The flight recorder's ring, read and put in order. */
#ifndef LBX_TABLE_FLIGHT_H
#define LBX_TABLE_FLIGHT_H

#include "table/table.h"

struct lbx_event_kind {
	char name[24];
	int n_args;
	char args[LB_EVENT_ARGS][24]; /* their names */
};

struct lbx_flight {
	int64_t n;
	struct lb_flight_event *events; /* by number, each of a known kind */
	int n_kinds;
	struct lbx_event_kind *kinds;
	uint64_t newest;   /* number of the last event; those before n have been overwritten */
	uint64_t capacity; /* 0: the program records nothing */
	uint64_t torn;     /* slots that hold no whole event */
};

/* All that the ring holds. Fails where its memory cannot be read. */
bool lbx_flight_read(struct lbx_table *table, struct lbx_flight *ret);
/* Those with higher numbers than `after`. */
bool lbx_flight_read_after(struct lbx_table *table, uint64_t after, struct lbx_flight *ret);
void lbx_flight_free(struct lbx_flight *flight);
/* For who reads a running program again and again. Begins as { 0 }, or with `seen` set to where the
 * events begin that matter. */
struct lbx_follow {
	uint64_t seen;   /* number of the last event that was given, or is lost */
	uint64_t lost;   /* events that were overwritten before they were read */
	uint64_t waited; /* an unfinished event that is waited for */
	int calls;       /* for so many calls already */
};
/* The events since the last call. One that is just being written holds back itself and those after
 * it, for so many calls: its thread may have to wait for a processor. `last`: nothing will be written
 * any more. */
enum { LBX_FOLLOW_CALLS = 100 };
bool lbx_flight_follow(struct lbx_table *table, struct lbx_follow *follow, bool last, struct lbx_flight *ret);
/* Value of the argument called `name`; 0 and false if the event has none such. */
bool lbx_event_arg(const struct lbx_flight *flight, const struct lb_flight_event *event, const char *name,
		   uint64_t *ret);
/* The text that the argument called `name` points to, printable; "" where the event has none such, or later
 * events have overwritten it. */
void lbx_event_text(struct lbx_table *table, const struct lbx_flight *flight, const struct lb_flight_event *event,
		    const char *name, char ret[LB_FLIGHT_TEXT_BYTES]);
/* Name of the program's operation with this index, or "?". */
const char *lbx_table_op_name(const struct lbx_table *table, uint64_t index);

#endif
