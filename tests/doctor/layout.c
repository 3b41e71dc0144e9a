/* Layouts: heads and parts; and memory near its limit. */
#include "scene.h"

enum { BATCH = 2, LENGTH = 10, HEADS = 4, WIDTH = 16 };

void play_heads_by_reshape(bool sick)
{
	lb_tensor *q = lb_random_normal(LB_SHAPE(BATCH, LENGTH, HEADS * WIDTH), LB_F32, lb_key(1));

	q = sick ? lb_reshape(q, LB_SHAPE(BATCH, HEADS, LENGTH, WIDTH))
		 : lb_transpose(lb_reshape(q, LB_SHAPE(BATCH, LENGTH, HEADS, WIDTH)), LB_AXES(0, 2, 1, 3));
	lb_keep(lb_named("q", q));
}

void play_groups_by_copies(bool sick)
{
	lb_tensor *k = normal(1024, 256, 2), *parts[4] = { k, k, k, k };

	lb_keep(lb_named("k", sick ? lb_concatenate(4, parts, 0)
				   : lb_broadcast_to(lb_expand_dims(k, LB_AXES(0)), LB_SHAPE(4, 1024, 256))));
}

void play_near_limit(bool sick)
{
	uint64_t bytes = 4ULL << 20;
	lb_tensor *x = lb_keep(lb_named("x", normal(1024, 1024, 5)));

	lb_set_memory_limit(sick ? bytes + bytes / 16 : 16 * bytes);
	lb_eval(x);
}
