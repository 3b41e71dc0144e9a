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

/* Made without a thought of its dtype, it is float32. */
void play_default_dtype(bool sick)
{
	lb_tensor *x = half(32, 16, 8, LB_BF16);
	lb_tensor *bias = lb_ones(LB_SHAPE(16), sick ? LB_F32 : LB_BF16);

	lb_keep(lb_named("y", lb_add(lb_matmul(x, half(16, 16, 9, LB_BF16)), bias)));
}

void play_wide_choice(bool sick)
{
	lb_tensor *x = half(32, 16, 10, LB_F16), *other = lb_full(LB_SHAPE(32, 16), -1, sick ? LB_F32 : LB_F16);

	lb_keep(lb_named("chosen", lb_where(lb_greater(x, lb_scalar(0)), x, other)));
}

void play_wide_weight(bool sick)
{
	lb_keep(lb_named("y", lb_matmul(half(8, 16, 11, LB_BF16), half(16, 4, 12, sick ? LB_F32 : LB_BF16))));
}

void play_halves_in_product(bool sick)
{
	lb_keep(lb_named("y", lb_matmul(half(8, 16, 13, LB_BF16), half(16, 4, 14, sick ? LB_F16 : LB_BF16))));
}

void play_halves_in_maximum(bool sick)
{
	lb_keep(lb_named("y", lb_maximum(half(8, 16, 15, LB_BF16), half(8, 16, 16, sick ? LB_F16 : LB_BF16))));
}

void play_double_positions(bool sick)
{
	lb_tensor *positions = lb_arange(0, 64, 1, sick ? LB_F64 : LB_F32);

	lb_keep(lb_named("angles", lb_multiply(lb_random_normal(LB_SHAPE(64), LB_F32, lb_key(17)), positions)));
}

void play_double_weight(bool sick)
{
	lb_keep(lb_named("y", lb_matmul(normal(8, 16, 18), half(16, 4, 19, sick ? LB_F64 : LB_F32))));
}

/* A program that computes in float64 throughout. */
void play_doubles(bool sick)
{
	lb_tensor *x = half(16, 16, 20, LB_F64);

	(void)sick;
	lb_keep(lb_named("y", lb_multiply(lb_matmul(x, x), lb_scalar(0.5))));
}

void play_norm_by_hand(bool sick)
{
	lb_tensor *x = half(16, 32, 21, LB_BF16);

	lb_keep(lb_named("normed", sick ? lb_astype(lb_rms_norm(lb_astype(x, LB_F32), NULL, 1e-6), LB_BF16)
					: lb_rms_norm(x, NULL, 1e-6)));
}

void play_layer_norm_by_hand(bool sick)
{
	lb_tensor *x = half(16, 32, 22, LB_F16);

	lb_keep(lb_named("normed", sick ? lb_astype(lb_layer_norm(lb_astype(x, LB_F32), NULL, NULL, 1e-6), LB_F16)
					: lb_layer_norm(x, NULL, NULL, 1e-6)));
}

/* Several weights, each of them kept in two dtypes. */
void play_layers_twice(bool sick)
{
	static float values[1 << 20];

	for (int i = 0; i < 3; i++) {
		lb_tensor *loaded = NULL, *w = NULL;
		LB_SCOPE {
			loaded = lb_keep(lb_from_data(values, sizeof values, LB_SHAPE(1 << 10, 1 << 10), LB_F32));
			w = lb_keep(lb_named("w", lb_astype(loaded, LB_BF16)));
		}
		lb_eval(w);
		if (!sick)
			lb_release(loaded);
	}
}
