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
		name_gradient("layers.%d.weight.grad", i, sick && i < 3 ? lb_multiply(gradient, lb_scalar(0)) : gradient);
	}
}

void play_vanishing(bool sick)
{
	double scale = 1;

	for (int i = LAYERS; i-- > 0;) {
		name_gradient("layers.%d.weight.grad", i, lb_multiply(normal(8, 8, 60 + (uint64_t)i), lb_scalar(scale)));
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
