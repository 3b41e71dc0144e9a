/* The tasks of a stream: those that wait in its queue, and for which array one is. */
#ifndef LBX_MLX_TASKS_H
#define LBX_MLX_TASKS_H

#include "mlx/set.h"
#include "tensors/work.h"

enum { LBX_MLX_QUEUE_END = 4 };

/* The queue of the object that a stream's thread runs. */
struct lbx_mlx_queue {
	uint64_t stream; /* the object */
	int64_t n; /* tasks; -1: it is not known, nor what follows */
	uint64_t first[LBX_MLX_QUEUE_END];
};

void lbx_mlx_queue_read(struct lbx_target *target, uint64_t object, struct lbx_mlx_queue *ret);

/* The id of the array that the task computes which is among the variables of a function, [from, to); `queue` has those that
 * come behind it. 0: it is not certain, and `why` says so. */
uint64_t lbx_mlx_task_of(struct lbx_mlx_set *s, uint64_t from, uint64_t to, const struct lbx_mlx_queue *queue,
			 char why[LBX_WORK_WHY]);

#endif
