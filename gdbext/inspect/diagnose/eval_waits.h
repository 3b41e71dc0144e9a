/* Which threads wait for what others evaluate, by the runtime's own records of them: read once, for rules that look for circles. */
#ifndef LBX_EVAL_WAITS_H
#define LBX_EVAL_WAITS_H

#include "table/table.h"

struct lbx_eval_waits {
	size_t n, room;
	struct lbx_thread *threads;
	size_t n_streams, streams_room;
	struct lbx_stream *streams; /* whose jobs threads wait for, too */
};

/* Fails without memory. Begins as zeros. */
bool lbx_eval_waits_read(struct lbx_table *table, struct lbx_eval_waits *ret);
/* The number of the thread that runs an evaluation, or a stream's job; 0: it is not known, as of a job that is queued. */
uint64_t lbx_eval_waits_runner(const struct lbx_eval_waits *waits, uint64_t eval);
/* The thread of this number, if it waits for one; NULL: it does not. */
const struct lbx_thread *lbx_eval_waits_of(const struct lbx_eval_waits *waits, uint64_t tid);
void lbx_eval_waits_deinit(struct lbx_eval_waits *waits);

#endif
