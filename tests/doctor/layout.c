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

void play_keys_by_reshape(bool sick)
{
	lb_tensor *k = lb_astype(normal(6 * 24, 8 * 32, 11), LB_BF16);

	k = lb_reshape(k, LB_SHAPE(6, 24, 256));
	lb_keep(lb_named("k", sick ? lb_reshape(k, LB_SHAPE(6, 8, 24, 32))
				   : lb_transpose(lb_reshape(k, LB_SHAPE(6, 24, 8, 32)), LB_AXES(0, 2, 1, 3))));
}

void play_tiles_by_copies(bool sick)
{
	lb_tensor *tile = lb_astype(normal(512, 512, 12), LB_F16), *parts[8];

	for (int i = 0; i < 8; i++)
		parts[i] = tile;
	lb_eval(lb_keep(lb_named("tiles",
				 sick ? lb_concatenate(8, parts, 1)
				      : lb_broadcast_to(lb_expand_dims(tile, LB_AXES(0)), LB_SHAPE(8, 512, 512)))));
}

void play_take_of_rows(bool sick)
{
	lb_tensor *scores = normal(6, 40, 13), *order = lb_argsort(scores, 1);

	lb_keep(lb_named("best", sick ? lb_take(scores, order, 1) : lb_take_along_axis(scores, order, 1)));
}

/* The best of each row alone. */
void play_take_of_best(bool sick)
{
	lb_tensor *values = lb_astype(normal(5, 30, 14), LB_F16);
	lb_tensor *order = lb_slice(lb_argsort(lb_negative(values), 1), LB_ALL, LB_TO(3));

	lb_keep(lb_named("top", sick ? lb_take(values, order, 1) : lb_take_along_axis(values, order, 1)));
}

/* Targets without the last axis of what is compared with them. */
static lb_tensor *difference(bool sick, lb_dtype dtype)
{
	lb_tensor *prediction = lb_matmul(lb_astype(normal(32, 8, 15), dtype), lb_astype(normal(8, 1, 16), dtype));
	lb_tensor *target = lb_astype(lb_random_normal(LB_SHAPE(32), LB_F32, lb_key(17)), dtype);

	return lb_subtract(prediction, sick ? target : lb_reshape(target, LB_SHAPE(32, 1)));
}

void play_squares_of_pairs(bool sick)
{
	lb_keep(lb_named("loss", lb_mean(lb_square(difference(sick, LB_F32)), LB_ALL_AXES, false)));
}

void play_magnitudes_of_pairs(bool sick)
{
	lb_keep(lb_named("loss", lb_sum(lb_abs(difference(sick, LB_F16)), LB_ALL_AXES, false)));
}

/* Distances of all pairs, which are wanted. */
void play_distances(bool sick)
{
	lb_tensor *x = lb_random_normal(LB_SHAPE(32), LB_F32, lb_key(18));

	(void)sick;
	lb_keep(lb_named("spread",
			 lb_mean(lb_square(lb_subtract(lb_expand_dims(x, LB_AXES(1)), x)), LB_ALL_AXES, false)));
}

void play_bias_by_hand(bool sick)
{
	lb_tensor *x = normal(64, 16, 19), *w = normal(16, 8, 20),
		  *bias = lb_random_normal(LB_SHAPE(8), LB_F32, lb_key(21));

	lb_keep(lb_named("y", sick ? lb_add(lb_matmul(x, w), bias) : lb_addmm(bias, x, w, 1, 1)));
}

void play_near_small_limit(bool sick)
{
	lb_set_memory_limit(sick ? 2200000 : 64 << 20);
	for (int i = 0; i < 2; i++)
		lb_eval(lb_keep(lb_named("x", normal(512, 512, 22 + (uint64_t)i))));
}

static lb_tensor *heads_of(int seed, bool sick)
{
	lb_tensor *x = lb_reshape(normal(BATCH * LENGTH, HEADS * WIDTH, seed), LB_SHAPE(BATCH, LENGTH, HEADS * WIDTH));

	x = lb_reshape(x, LB_SHAPE(BATCH, LENGTH, HEADS, WIDTH));
	return sick ? x : lb_transpose(x, LB_AXES(0, 2, 1, 3));
}

/* Attention of each position to its own heads. */
void play_heads_as_positions(bool sick)
{
	lb_keep(lb_named("attended", lb_attention(lb_multiply(heads_of(80, sick), lb_scalar(0.5)), heads_of(81, sick),
						  heads_of(82, sick), 0.25, false, NULL)));
}
