/* Dtypes: what is made wider than it was, by whom. */
#include "scene.h"

static lb_tensor *half(int64_t rows, int64_t columns, uint64_t key, lb_dtype dtype)
{
	return lb_astype(normal(rows, columns, key), dtype);
}

void play_double_scale(bool sick)
{
	lb_tensor *x = normal(64, 8, 1);
	lb_tensor *scale = lb_full(LB_SHAPE(8), 0.5, sick ? LB_F64 : LB_F32);

	lb_keep(lb_named("y", lb_tanh(lb_multiply(x, scale))));
}

void play_wide_mask(bool sick)
{
	lb_tensor *scores = half(64, 64, 2, LB_F16);
	lb_tensor *mask = lb_zeros(LB_SHAPE(64, 64), sick ? LB_F32 : LB_F16);

	lb_keep(lb_named("masked", lb_add(scores, mask)));
}

/* A conversion that the program asks for, and a scalar that takes the other's dtype. */
void play_wanted_float32(bool sick)
{
	lb_tensor *x = half(64, 64, 3, LB_F16), *wide;

	(void)sick;
	wide = lb_astype(x, LB_F32);
	lb_keep(lb_named("sum", lb_add(wide, normal(64, 64, 4))));
	lb_keep(lb_named("twice", lb_multiply(x, lb_scalar(2))));
}

void play_two_halves(bool sick)
{
	lb_keep(lb_named("product", lb_multiply(half(8, 8, 5, LB_F16), half(8, 8, 6, sick ? LB_BF16 : LB_F16))));
}

void play_softmax_by_hand(bool sick)
{
	lb_tensor *x = half(64, 64, 7, LB_F16);

	lb_keep(lb_named("weights", sick ? lb_astype(lb_softmax(lb_astype(x, LB_F32), LB_AXES(-1)), LB_F16)
					 : lb_softmax(x, LB_AXES(-1))));
}

void play_weights_twice(bool sick)
{
	static float values[3 << 20];
	lb_tensor *loaded = NULL, *w = NULL;

	LB_SCOPE {
		loaded = lb_keep(lb_named("loaded", lb_from_data(values, sizeof values, LB_SHAPE(3 << 20), LB_F32)));
		w = lb_keep(lb_named("w", lb_astype(loaded, LB_F16)));
	}
	if (!sick)
		lb_release(loaded);
	lb_eval(w);
}
