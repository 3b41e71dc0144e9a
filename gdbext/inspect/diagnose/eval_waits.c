#include "inspect/diagnose/eval_waits.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"

enum { MOST = 4096 };

bool lbx_eval_waits_read(struct lbx_table *table, struct lbx_eval_waits *ret)
{
	struct lbx_thread thread;
	struct lbx_stream stream;
	uint64_t slot = 0;

	while (ret->n < MOST && lbx_table_thread(table, &slot, &thread)) {
		if (!lb_reserve(ret->threads, ret->room, ret->n + 1))
			return lb_fail("out of memory");
		ret->threads[ret->n++] = thread;
	}
	slot = 0;
	while (ret->n_streams < MOST && lbx_table_stream(table, &slot, &stream)) {
		if (!lb_reserve(ret->streams, ret->streams_room, ret->n_streams + 1))
			return lb_fail("out of memory");
		ret->streams[ret->n_streams++] = stream;
	}
	return true;
}

uint64_t lbx_eval_waits_runner(const struct lbx_eval_waits *waits, uint64_t eval)
{
	for (size_t i = 0; i < waits->n && eval; i++)
		if (waits->threads[i].eval == eval)
			return waits->threads[i].tid;
	for (size_t i = 0; i < waits->n_streams && eval; i++)
		if (waits->streams[i].eval == eval)
			return waits->streams[i].thread;
	return 0;
}

const struct lbx_thread *lbx_eval_waits_of(const struct lbx_eval_waits *waits, uint64_t tid)
{
	for (size_t i = 0; i < waits->n; i++)
		if (waits->threads[i].tid == tid && waits->threads[i].waits_for)
			return &waits->threads[i];
	return NULL;
}

void lbx_eval_waits_deinit(struct lbx_eval_waits *waits)
{
	free(waits->threads);
	free(waits->streams);
	*waits = (struct lbx_eval_waits){ .n = 0 };
}
