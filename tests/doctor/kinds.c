/* Compiled functions, memory, faults. */
#include <stdlib.h>

#include "scene.h"

static bool scaled(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n_in;
	(void)n_out;
	out[0] = lb_tanh(lb_multiply(in[0], lb_scalar(*(const double *)context)));
	return lb_ok();
}

void play_changing_sizes(bool sick)
{
	static double factor = 2;
	lb_compiled *step = lb_compile("step", scaled, &factor, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(normal(64, 4, 2));

	for (int i = 1; i <= 40; i++) {
		LB_SCOPE {
			lb_tensor *in = lb_slice(x, LB_TO(sick ? i : 40)), *out;
			if (lb_call(step, 1, &in, 1, &out))
				lb_eval(out);
		}
	}
}

void play_changing_constant(bool sick)
{
	static double factor;
	lb_compiled *step = lb_compile("scale", scaled, &factor, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(normal(64, 4, 3));

	for (int i = 1; i <= 40; i++) {
		LB_SCOPE {
			lb_tensor *in = x, *out;
			factor = sick ? i : 2;
			if (lb_call_with(step, &factor, sizeof factor, 1, &in, 1, &out))
				lb_eval(out);
		}
	}
}

static lb_tensor *weight; /* what multiplied() takes from outside */

static bool multiplied(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n_out;
	out[0] = lb_matmul(in[0], n_in > 1 ? in[1] : weight);
	return out[0] != NULL;
}

/* A step of training replaces the weight, and the function that was compiled before goes on with the old one. */
void play_replaced_weight(bool sick)
{
	lb_compiled *step = lb_compile("forward", multiplied, NULL, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(normal(8, 16, 30));

	weight = lb_keep(lb_named("w", normal(16, 16, 31)));
	for (int i = 0; i < 4; i++) {
		LB_SCOPE {
			lb_tensor *in[2] = { x, weight }, *out;
			if (lb_call(step, sick ? 1 : 2, in, 1, &out))
				lb_eval(out, weight);
			lb_replace(&weight, lb_named("w", lb_multiply(weight, lb_scalar(0.9))));
		}
	}
	lb_eval(weight);
}

/* 80 MiB that are no input. */
void play_large_capture(bool sick)
{
	lb_compiled *step = lb_compile("forward", multiplied, NULL, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(normal(1, 4096, 32)), *out;

	weight = lb_keep(lb_named("w", lb_full(LB_SHAPE(4096, 5120), 0.5, LB_F32)));
	lb_eval(weight);
	LB_SCOPE {
		lb_tensor *in[2] = { x, weight };
		if (lb_call(step, sick ? 1 : 2, in, 1, &out))
			lb_eval(out);
	}
}

/* Sizes that change leave a buffer of each behind. */
void play_full_cache(bool sick)
{
	lb_tensor *w = lb_keep(lb_named("w", normal(256, 256, 4)));

	lb_eval(w);
	lb_set_cache_limit(1ULL << 30);
	for (int i = 1; i <= 40; i++) {
		LB_SCOPE {
			lb_eval(lb_exp(normal(sick ? 4000 + 300 * i : 4000, 256, 5)));
		}
	}
	if (!sick)
		lb_clear_cache();
}

void play_raw_view(bool sick)
{
	lb_tensor *image = normal(48, 64, 6), *turned = lb_keep(lb_named("turned", lb_transpose(image, LB_AXES(1, 0))));
	float *copy = malloc(48 * 64 * sizeof *copy);

	lb_eval(turned);
	const float *from = sick ? lb_raw_data(turned) : lb_data(turned);
	for (int i = 0; i < 48 * 64; i++)
		copy[i] = from[i];
}

void play_failing_call(bool sick)
{
	lb_tensor *x = normal(2, 3, 7), *w = normal(3, 4, 8);

	lb_keep(lb_named("y", sick ? lb_matmul(w, x) : lb_matmul(x, w)));
}

void play_log_of_negative(bool sick)
{
	lb_tensor *x = lb_named("x", normal(16, 4, 9));
	lb_tensor *y = lb_named("y", lb_log(sick ? x : lb_add(lb_square(x), lb_scalar(1))));
	lb_tensor *loss = lb_keep(lb_named("loss", lb_mean(y, LB_ALL_AXES, false)));

	lb_keep(y);
	lb_eval(loss);
}

/* A weight that has been updated with NaN since long ago: where that came from is gone, and what is there was computed of it. */
void play_lost_origin(bool sick)
{
	lb_tensor *w = lb_keep(lb_named("w", lb_ones(LB_SHAPE(8), LB_F32)));

	for (int step = 0; step < 8; step++)
		LB_SCOPE
		{
			lb_tensor *loss = lb_named("loss", lb_mean(lb_log(sick && step == 2 ? lb_negative(w) : w),
								  LB_ALL_AXES, false));
			lb_replace(&w, lb_named("w", lb_add(w, loss)));
			lb_eval(w);
		}
	lb_eval(lb_keep(lb_named("later", lb_square(w))));
}

/* Called with half precision and float32, and with other ranks. */
void play_changing_kinds(bool sick)
{
	static double factor = 2;
	lb_compiled *step = lb_compile("step", scaled, &factor, (lb_compile_options){ .limit = 2 });

	for (int i = 0; i < 40; i++) {
		LB_SCOPE {
			lb_tensor *out, *in = sick && i % 2 ? lb_astype(normal(8, 8, 10), LB_F16) : normal(8, 8, 10);
			in = sick && i % 3 ? lb_reshape(in, LB_SHAPE(i % 3 * 2, 64 / (i % 3 * 2))) : in;
			if (lb_call(step, 1, &in, 1, &out))
				lb_eval(out);
		}
	}
}

void play_raw_channel(bool sick)
{
	lb_tensor *image = lb_astype(normal(48, 96, 11), LB_F16);
	lb_tensor *green =
	    lb_keep(lb_named("green", lb_slice(lb_reshape(image, LB_SHAPE(48, 32, 3)), LB_ALL, LB_ALL, LB_AT(1))));

	lb_eval(green);
	(void)(sick ? lb_raw_data(green) : lb_data(green));
}

void play_failing_reshape(bool sick)
{
	lb_keep(lb_named("y", lb_reshape(normal(6, 4, 12), sick ? LB_SHAPE(5, 5) : LB_SHAPE(3, 8))));
}

/* One sequence, where a batch of them is wanted. */
void play_missing_batch(bool sick)
{
	lb_tensor *heads = lb_reshape(normal(32, 8, 13), LB_SHAPE(1, 4, 8, 8));
	lb_tensor *q = sick ? lb_squeeze(heads, LB_AXES(0)) : heads;

	lb_keep(lb_named("y", lb_attention(q, q, q, 0.35, false, NULL)));
}

/* A turn's work. */
static lb_tensor *turn(int64_t size, uint64_t key)
{
	lb_tensor *x = normal(size, size, key), *w = normal(size, size, key + 1);

	return lb_matmul(lb_tanh(lb_matmul(x, w)), lb_exp(lb_sin(w)));
}

/* Each turn keeps its output; or writes over one. */
void play_growing_history(bool sick)
{
	lb_tensor *output = NULL;

	for (int i = 0; i < 100; i++) {
		LB_SCOPE {
			lb_tensor *y = lb_named("output", turn(256, 33));
			lb_eval(y);
			if (sick)
				lb_keep(y);
			else
				lb_replace(&output, y);
		}
	}
}

/* Three layers keep what they need for a length of input; by where the input lies, which never comes again. */
void play_growing_cache(bool sick)
{
	enum { LAYERS = 3, TURNS = 100 };
	lb_tensor *cache[LAYERS][TURNS] = { { NULL } };

	for (int i = 0; i < TURNS; i++) {
		LB_SCOPE {
			lb_tensor *now[LAYERS];
			for (int k = 0; k < LAYERS; k++) {
				lb_tensor **kept = &cache[k][sick ? i : 0];
				if (!*kept)
					*kept = lb_keep(turn(128, 40 + (uint64_t)k));
				now[k] = *kept;
			}
			lb_eval_n(LAYERS, now);
		}
	}
}

/* Layers are made by one call, too, but all at once; numbers that are kept are few bytes. */
void play_model_and_losses(bool sick)
{
	(void)sick;
	for (int i = 0; i < 100; i++)
		lb_eval(lb_keep(lb_named("loss", lb_sum(turn(64, 34), LB_ALL_AXES, false))));
	lb_tensor *layers[100];
	for (int i = 0; i < 100; i++)
		layers[i] = lb_keep(normal(256, 256, 35));
	lb_eval_n(100, layers);
}

/* ---- functions that depend on what they are not given ---- */

static double factor;

static bool by_factor(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_out;
	out[0] = lb_multiply(in[0], n_in > 1 ? in[1] : lb_scalar(factor));
	return lb_ok();
}

/* A variable of the host, which was 2 when the function was traced. */
void play_host_state(bool sick)
{
	lb_compiled *step = lb_compile("by_factor", by_factor, NULL, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(normal(8, 16, 40));

	setenv("LAZYBONES_COMPILE", "check", 1);
	for (int i = 0; i < 4; i++) {
		factor = 2 + i;
		LB_SCOPE {
			lb_tensor *in[2] = { x, lb_full(LB_SHAPE(1), factor, LB_F32) }, *out;
			if (lb_call(step, sick ? 1 : 2, in, 1, &out))
				lb_eval(out);
		}
	}
}

static lb_tensor *total;

static bool accumulated(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	out[0] = lb_multiply(in[0], lb_scalar(2));
	if (n_out > 1)
		out[1] = lb_add(in[1], lb_mean(in[0], LB_ALL_AXES, false));
	else if (n_in == 1)
		lb_replace(&total, lb_named("total", lb_add(total, lb_mean(in[0], LB_ALL_AXES, false))));
	return lb_ok();
}

/* A sum that the function adds to itself: once, while it is traced. */
void play_state_in_trace(bool sick)
{
	lb_compiled *step = lb_compile("accumulated", accumulated, NULL, (lb_compile_options){ 0 });
	lb_tensor *x = lb_keep(normal(8, 16, 41));

	total = lb_keep(lb_named("total", lb_zeros(LB_SHAPE(), LB_F32)));
	for (int i = 0; i < 3; i++) {
		LB_SCOPE {
			lb_tensor *in[2] = { x, total }, *out[2] = { NULL, NULL };
			if (!lb_call(step, sick ? 1 : 2, in, sick ? 1 : 2, out))
				continue;
			lb_eval(out[0]);
			if (!sick) {
				lb_replace(&total, lb_named("total", out[1]));
				lb_eval(total);
			}
		}
	}
}
