/* What values say: gradients, overflow. */
#include <stdio.h>

#include "scene.h"

enum { LAYERS = 12 };

static void name_gradient(const char *format, int i, lb_tensor *x)
{
	char name[64];

	snprintf(name, sizeof name, format, i);
	lb_eval(lb_keep(lb_named(name, x)));
}

void play_dead_layer(bool sick)
{
	for (int i = 0; i < LAYERS; i++) {
		lb_tensor *gradient = normal(8, 8, 40 + (uint64_t)i);
		name_gradient("layers.%d.weight.grad", i,
			      sick && i < 3 ? lb_multiply(gradient, lb_scalar(0)) : gradient);
	}
}

void play_vanishing(bool sick)
{
	double scale = 1;

	for (int i = LAYERS; i-- > 0;) {
		name_gradient("layers.%d.weight.grad", i,
			      lb_multiply(normal(8, 8, 60 + (uint64_t)i), lb_scalar(scale)));
		scale *= sick ? 0.2 : 0.8;
	}
}

void play_overflow(bool sick)
{
	lb_tensor *q = lb_astype(lb_multiply(normal(64, 64, 80), lb_scalar(sick ? 80 : 2)), LB_F16);
	lb_tensor *k = lb_astype(lb_multiply(normal(64, 64, 81), lb_scalar(sick ? 80 : 2)), LB_F16);

	lb_eval(lb_keep(lb_named("scores", lb_matmul(q, k))));
}

/* A mask of attention has -Inf by intent. */
void play_mask(bool sick)
{
	static float mask[64 * 64];

	(void)sick;
	for (int i = 0; i < 64; i++)
		for (int k = 0; k < 64; k++)
			mask[64 * i + k] = k > i ? -__builtin_inff() : 0;
	lb_tensor *m = lb_keep(lb_named("mask", lb_from_data(mask, sizeof mask, LB_SHAPE(64, 64), LB_F32)));
	lb_eval(m, lb_keep(lb_named("attention", lb_softmax(lb_add(normal(64, 64, 90), m), LB_AXES(-1)))));
}

void play_exploding(bool sick)
{
	double scale = 1;

	for (int i = LAYERS; i-- > 0;) {
		name_gradient("blocks.%d.fc.weight.grad", i,
			      lb_multiply(normal(16, 4, 100 + (uint64_t)i), lb_scalar(scale)));
		scale *= sick ? 8 : 1.2;
	}
}

void play_dead_bias(bool sick)
{
	for (int i = 0; i < LAYERS; i++)
		name_gradient("h.%d.bias.grad", i,
			      lb_multiply(normal(1, 16, 120 + (uint64_t)i), lb_scalar(sick && i == 7 ? 0 : 1)));
}

void play_square_overflow(bool sick)
{
	lb_tensor *x = lb_astype(lb_multiply(normal(64, 64, 140), lb_scalar(sick ? 300 : 30)), LB_F16);

	lb_eval(lb_keep(lb_named("square", lb_multiply(x, x))));
}

void play_root_of_negative(bool sick)
{
	lb_tensor *x = lb_astype(normal(32, 8, 141), LB_BF16);

	lb_eval(lb_keep(lb_named("root", lb_sqrt(sick ? x : lb_abs(x)))));
}

void play_empty_mean(bool sick)
{
	lb_tensor *count = lb_full(LB_SHAPE(8), sick ? 0 : 4, LB_F32), *sum = lb_full(LB_SHAPE(8), 0, LB_F32);

	lb_eval(lb_keep(lb_named("average", lb_divide(sum, count))));
}

void play_exp_too_large(bool sick)
{
	lb_eval(lb_keep(lb_named("weights", lb_exp(lb_multiply(normal(32, 32, 142), lb_scalar(sick ? 100 : 1))))));
}

/* All of a row is masked. */
void play_masked_row(bool sick)
{
	static float mask[16 * 16];

	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 16; k++)
			mask[16 * i + k] = (sick ? k >= i : k > i) ? -__builtin_inff() : 0;
	lb_tensor *m = lb_from_data(mask, sizeof mask, LB_SHAPE(16, 16), LB_F32);
	lb_eval(lb_keep(lb_named("attention", lb_softmax(lb_add(normal(16, 16, 143), m), LB_AXES(-1)))));
}

void play_dead_relu(bool sick)
{
	lb_tensor *x = lb_subtract(normal(32, 16, 144), lb_scalar(sick ? 20 : 0));

	lb_eval(lb_keep(lb_named("hidden", lb_maximum(x, lb_scalar(0)))));
}

void play_saturated_tanh(bool sick)
{
	lb_eval(lb_keep(lb_named("hidden", lb_tanh(lb_multiply(normal(32, 16, 145), lb_scalar(sick ? 1e5 : 1))))));
}

void play_small_gradients(bool sick)
{
	lb_tensor *x = lb_multiply(normal(32, 16, 146), lb_scalar(sick ? 1e-5 : 1));

	lb_eval(lb_keep(lb_named("update", lb_astype(x, LB_F16))));
}

void play_decayed(bool sick)
{
	lb_tensor *x = normal(32, 16, 147);

	lb_eval(lb_keep(lb_named("trace", lb_multiply(lb_multiply(x, lb_scalar(sick ? 1e-20 : 1)), lb_scalar(1e-20)))));
}

/* Millions before a norm are normal. */
void play_large_norm(bool sick)
{
	lb_tensor *x = lb_multiply(normal(16, 64, 148), lb_scalar(1e6)),
		  *w = lb_full(LB_SHAPE(64), sick ? 1e4 : 1, LB_F32);

	lb_eval(lb_keep(lb_named("hidden", x)), lb_keep(lb_named("normed", lb_rms_norm(x, w, 1e-6))));
}

void play_large_layer_norm(bool sick)
{
	lb_tensor *x = lb_astype(normal(16, 64, 149), LB_BF16);
	lb_tensor *w = lb_full(LB_SHAPE(64), sick ? 5000 : 1, LB_BF16);

	lb_eval(lb_keep(lb_named("normed", lb_layer_norm(x, w, NULL, 1e-6))));
}
