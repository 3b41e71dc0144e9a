/* A transformer block, a convolution and the optimisers against PyTorch (torch_grads.inc); what
 * optimisers keep, and what they cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lazybones.h"
#include "probe.h"
#include "torch_grads.inc"

enum { MOST = 1024 };

/* The numbers that torch_grads.py makes for the same seed. */
static lb_tensor *spread(int seed, lb_list shape)
{
	double v[MOST];
	int64_t n = 1;
	for (int i = 0; i < shape.n; i++)
		n *= shape.v[i];
	for (int64_t i = 0; i < n; i++)
		v[i] = fmod((double)(seed * 1000 + i + 1) * 0.61803398874989484820, 1) * 2 - 1;
	return lb_from_data(v, (size_t)n * 8, shape, LB_F64);
}

static void close_to(lb_tensor *x, const double *expected, size_t n, double precision)
{
	double got[MOST];
	assert_non_null(x);
	assert_int_equal(lb_size(x), n);
	assert_true(lb_copy_out(lb_astype(x, LB_F64), got, n * 8));
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(got[i] - expected[i]) <= precision * fmax(1, fabs(expected[i]))))
			fail_msg("element %zu is %.12g, expected %.12g", i, got[i], expected[i]);
	}
}
#define CLOSE(x, expected) close_to(x, expected, sizeof(expected) / 8, 1e-9)

/* ---- models ---- */

static bool heads(lb_tensor *x, lb_tensor **q)
{
	if (!lb_split(x, 3, -1, q))
		return false;
	for (int i = 0; i < 3; i++)
		q[i] = lb_transpose(lb_reshape(q[i], LB_SHAPE(2, 3, 2, 4)), LB_AXES(0, 2, 1, 3));
	return true;
}

static lb_tensor *indices(const int32_t *values)
{
	return lb_from_data(values, 6 * sizeof *values, LB_SHAPE(2, 3), LB_I32);
}

/* in: embedding, norm's weight and bias, qkv, projection, up, its bias, down */
static bool transformer(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *q[3];
	(void)context, (void)n_in, (void)n_out;
	lb_tensor *tokens = indices((int32_t[]){ 1, 4, 2, 0, 1, 3 });
	lb_tensor *next = indices((int32_t[]){ 4, 2, 1, 1, 3, 0 });
	lb_tensor *x = lb_embedding(in[0], tokens);
	lb_tensor *h = lb_layer_norm(x, in[1], in[2], 1e-5);
	if (!heads(lb_linear(h, in[3], NULL), q))
		return false;
	lb_tensor *a = lb_attention(q[0], q[1], q[2], 0.5, true, NULL);
	a = lb_reshape(lb_transpose(a, LB_AXES(0, 2, 1, 3)), LB_SHAPE(2, 3, 8));
	x = lb_add(x, lb_linear(a, in[4], NULL));
	x = lb_add(x, lb_linear(lb_gelu(lb_linear(x, in[5], in[6])), in[7], NULL));
	lb_tensor *logits = lb_linear(x, in[0], NULL);
	lb_tensor *hit = lb_take_along_axis(logits, lb_expand_dims(next, LB_AXES(-1)), -1);
	lb_tensor *all = lb_logsumexp(logits, LB_AXES(-1), true);
	out[0] = lb_mean(lb_subtract(all, hit), LB_ALL_AXES, false);
	return out[0] != NULL;
}

enum { PARAMETERS = 8 };

static void parameters(lb_tensor **p)
{
	const lb_list shapes[PARAMETERS] = { LB_SHAPE(5, 8), LB_SHAPE(8),     LB_SHAPE(8),  LB_SHAPE(24, 8),
					     LB_SHAPE(8, 8), LB_SHAPE(16, 8), LB_SHAPE(16), LB_SHAPE(8, 16) };
	for (int i = 0; i < PARAMETERS; i++)
		p[i] = spread(10 + i, shapes[i]);
}

static void model_gradients(void **state)
{
	static const struct {
		const double *v;
		size_t n;
	} expected[PARAMETERS] = {
#define G(i) { torch_grad_##i, sizeof torch_grad_##i / 8 }
		G(0), G(1), G(2), G(3), G(4), G(5), G(6), G(7),
#undef G
	};
	(void)state;
	LB_SCOPE {
		lb_tensor *p[PARAMETERS], *loss, *d[PARAMETERS];
		parameters(p);
		assert_true(lb_value_and_grad(transformer, NULL, PARAMETERS, p, 0, NULL, 1, &loss, d));
		CLOSE(loss, torch_loss);
		for (int i = 0; i < PARAMETERS; i++)
			close_to(d[i], expected[i].v, expected[i].n, 1e-9);
		/* f32 and the halves: the same, as far as they go */
		static const struct {
			lb_dtype dtype;
			double precision;
		} narrow[] = { { LB_F32, 1e-4 }, { LB_F16, 0.03 }, { LB_BF16, 0.25 } };
		for (int k = 0; k < 3; k++) {
			lb_tensor *narrowed[PARAMETERS];
			for (int i = 0; i < PARAMETERS; i++)
				narrowed[i] = lb_astype(p[i], narrow[k].dtype);
			assert_true(lb_grad(transformer, NULL, PARAMETERS, narrowed, d));
			for (int i = 0; i < PARAMETERS; i++) {
				assert_int_equal(lb_dtype_of(d[i]), narrow[k].dtype);
				close_to(d[i], expected[i].v, expected[i].n, narrow[k].precision);
			}
		}
	}
}

static bool convolution(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n_in, (void)n_out;
	lb_tensor *y = lb_conv2d(in[0], in[1], (lb_conv_options){ { 2, 1 }, { 1, 2 }, { 1, 2 }, 2 });
	out[0] = lb_sum(lb_tanh(y), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static void convolution_gradients(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { spread(30, LB_SHAPE(2, 6, 5, 4)), spread(31, LB_SHAPE(6, 3, 2, 2)) }, *d[2];
		assert_true(lb_grad(convolution, NULL, 2, in, d));
		CLOSE(d[0], torch_conv_x);
		CLOSE(d[1], torch_conv_w);
	}
}

/* ---- optimisers ---- */

static bool valley(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n_in, (void)n_out;
	lb_tensor *rows = lb_sum(lb_multiply(lb_sin(in[0]), in[1]), LB_AXES(1), false);
	lb_tensor *walls = lb_sum(lb_power(in[1], lb_scalar_int(4)), LB_ALL_AXES, false);
	out[0] = lb_add(lb_sum(lb_square(rows), LB_ALL_AXES, false), walls);
	return out[0] != NULL;
}

static double step(lb_optimizer *o, lb_tensor **p)
{
	double value = NAN;
	LB_SCOPE {
		lb_tensor *loss, *d[2];
		assert_true(lb_value_and_grad(valley, NULL, 2, p, 0, NULL, 1, &loss, d));
		assert_true(lb_optimizer_step(o, 2, p, d, loss));
		value = lb_item(loss);
	}
	return value;
}

static void start(lb_tensor **p, lb_dtype dtype)
{
	LB_SCOPE {
		p[0] = lb_keep(lb_astype(spread(40, LB_SHAPE(2, 3)), dtype));
		p[1] = lb_keep(lb_astype(spread(41, LB_SHAPE(3)), dtype));
	}
}

static void end(lb_tensor **p)
{
	lb_release(p[0]);
	lb_release(p[1]);
}

static lb_tensor *joined(lb_tensor **p)
{
	return lb_concatenate(2, (lb_tensor *[]){ lb_flatten(p[0], 0, -1), p[1] }, 0);
}

/* Five steps; o is freed. */
static void run(lb_optimizer *o, const double *expected, lb_dtype dtype, double precision)
{
	lb_tensor *p[2];
	double first = NAN, last = NAN;
	assert_non_null(o);
	start(p, dtype);
	for (int i = 0; i < 5; i++) {
		last = step(o, p);
		first = i ? first : last;
	}
	assert_true(last < first);
	assert_int_equal(lb_optimizer_steps(o), 5);
	LB_SCOPE {
		assert_int_equal(lb_dtype_of(p[0]), dtype);
		close_to(joined(p), expected, 9, precision);
	}
	end(p);
	lb_optimizer_free(o);
}

static void against_torch(void **state)
{
	(void)state;
	static const struct {
		lb_dtype dtype;
		double precision;
	} as[] = { { LB_F64, 1e-12 }, { LB_F32, 1e-5 }, { LB_BF16, 0.03 } };
	for (int i = 0; i < 3; i++) {
		lb_dtype t = as[i].dtype;
		double e = as[i].precision;
		run(lb_sgd((lb_sgd_options){ .rate = 0.05, .weight_decay = 0.1 }), torch_sgd, t, e);
		run(lb_sgd((lb_sgd_options){ .rate = 0.05, .momentum = 0.9 }), torch_momentum, t, e);
		run(lb_sgd((lb_sgd_options){ .rate = 0.05, .momentum = 0.8, .nesterov = true, .weight_decay = 0.02 }),
		    torch_nesterov, t, e);
		run(lb_adam((lb_adam_options){
			.rate = 0.02, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1, .bias_correction = true }),
		    torch_adam, t, e);
		run(lb_adamw((lb_adam_options){ .rate = 0.02, .weight_decay = 0.1, .bias_correction = true }),
		    torch_adamw, t, e);
	}
}

/* The formulas themselves, on one number with the gradient 2. */
static void formulas(void **state)
{
	(void)state;
	double v = 0, m = 0, p_sgd = 1, p_adam = 1;
	lb_optimizer *sgd = lb_sgd((lb_sgd_options){ .rate = 0.1, .momentum = 0.5, .dampening = 0.25 });
	lb_optimizer *adam = lb_adam((lb_adam_options){ .rate = 0.1 });
	lb_tensor *a, *b, *const *kept;
	LB_SCOPE {
		a = lb_keep(lb_full(LB_SHAPE(), 1, LB_F64));
		b = lb_keep(lb_named("b", lb_full(LB_SHAPE(), 1, LB_F64)));
	}
	double second = 0;
	for (int i = 0; i < 4; i++) {
		LB_SCOPE {
			lb_tensor *g = lb_full(LB_SHAPE(), 2, LB_F64);
			assert_true(lb_optimizer_update(sgd, 1, &a, &g));
			assert_true(lb_optimizer_step(adam, 1, &b, &g, NULL));
			v = 0.5 * v + 0.75 * 2;
			p_sgd -= 0.1 * v;
			m = 0.9 * m + 0.1 * 2;
			second = 0.999 * second + 0.001 * 4;
			p_adam -= 0.1 * m / (sqrt(second) + 1e-8);
			assert_true(fabs(lb_item(a) - p_sgd) < 1e-12);
			assert_true(fabs(lb_item(b) - p_adam) < 1e-12);
		}
		assert_int_equal(lb_optimizer_state(sgd, &kept), 1);
		assert_true(fabs(lb_item(kept[0]) - v) < 1e-12);
		assert_int_equal(lb_optimizer_state(adam, &kept), 2);
		assert_true(lb_is_ready(kept[0]) && lb_is_ready(kept[1]));
		assert_true(fabs(lb_item(kept[1]) - second) < 1e-12);
	}
	assert_null(lb_name(a));
	assert_string_equal(lb_name(b), "b");
	assert_true(lb_optimizer_rate(sgd) == 0.1 && lb_optimizer_rate(adam) == 0.1);
	assert_true(lb_optimizer_set_rate(sgd, 0));
	LB_SCOPE {
		lb_tensor *g = lb_full(LB_SHAPE(), 2, LB_F64);
		assert_true(lb_optimizer_step(sgd, 1, &a, &g, NULL));
		assert_true(fabs(lb_item(a) - p_sgd) < 1e-12);
	}
	lb_release(a);
	lb_release(b);
	lb_optimizer_free(sgd);
	lb_optimizer_free(adam);
	lb_optimizer_free(NULL);
}

/* Stopping, saving the state, and going on elsewhere changes nothing. */
static void going_on(void **state)
{
	(void)state;
	lb_adam_options options = { .rate = 0.02, .weight_decay = 0.1, .bias_correction = true };
	lb_optimizer *o = lb_adamw(options);
	lb_tensor *p[2], *const *kept;
	start(p, LB_F64);
	for (int i = 0; i < 5; i++) {
		step(o, p);
		if (i != 2)
			continue;
		lb_optimizer *other = lb_adamw(options);
		int n = lb_optimizer_state(o, &kept);
		assert_int_equal(n, 4);
		assert_true(lb_optimizer_restore(other, lb_optimizer_steps(o), n, kept));
		lb_optimizer_free(o);
		o = other;
	}
	LB_SCOPE
		CLOSE(joined(p), torch_adamw);
	assert_false(lb_optimizer_restore(o, 5, 3, kept));
	assert_true(error_has("optimizer 3 5"));
	end(p);
	lb_optimizer_free(o);
}

/* Nothing is a state too: that before the first step; and an optimiser's own may be given back. */
static void going_on_from_any_state(void **state)
{
	(void)state;
	lb_optimizer *o = lb_adam((lb_adam_options){ .rate = 0.1 });
	lb_tensor *p[2], *const *kept;
	start(p, LB_F32);
	assert_int_equal(lb_optimizer_state(o, &kept), 0);
	assert_true(lb_optimizer_restore(o, 0, 0, kept));
	step(o, p);
	assert_int_equal(lb_optimizer_state(o, &kept), 4);
	assert_true(lb_optimizer_restore(o, 7, 4, kept));
	step(o, p);
	assert_int_equal(lb_optimizer_steps(o), 8);
	LB_SCOPE {
		lb_tensor *counts[2] = { lb_zeros(LB_SHAPE(3), LB_F32), lb_zeros(LB_SHAPE(3), LB_I32) };
		assert_false(lb_optimizer_restore(o, 1, 2, counts));
		assert_true(error_has("optimizer state 1 int32"));
	}
	assert_int_equal(lb_optimizer_state(o, &kept), 4);
	end(p);
	lb_optimizer_free(o);
}

/* A step in the long run takes as much memory as the one before. */
static void steady(void **state)
{
	(void)state;
	uint64_t after[40], peak[40];
	lb_optimizer *o = lb_adamw((lb_adam_options){ .rate = 1e-3 });
	lb_tensor *p[PARAMETERS];
	uint64_t before = lb_active_memory();
	LB_SCOPE {
		parameters(p);
		for (int i = 0; i < PARAMETERS; i++)
			lb_keep(p[i]);
	}
	for (int i = 0; i < 40; i++) {
		lb_reset_peak_memory();
		LB_SCOPE {
			lb_tensor *loss, *d[PARAMETERS], *norm;
			assert_true(lb_value_and_grad(transformer, NULL, PARAMETERS, p, 0, NULL, 1, &loss, d));
			assert_true(lb_clip_by_global_norm(PARAMETERS, d, 1, d, &norm));
			assert_true(lb_optimizer_step(o, PARAMETERS, p, d, loss));
		}
		after[i] = lb_active_memory();
		peak[i] = lb_peak_memory();
	}
	assert_int_equal(after[39], after[2]);
	assert_int_equal(peak[39], peak[2]);
	for (int i = 0; i < PARAMETERS; i++)
		lb_release(p[i]);
	lb_optimizer_free(o);
	assert_int_equal(lb_active_memory(), before);
}

static void clipping(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *g[2] = { lb_full(LB_SHAPE(3, 3), 1, LB_F16), lb_full(LB_SHAPE(4), 2, LB_F64) }, *c[2], *norm;
		assert_true(lb_clip_by_global_norm(2, g, 2.5, c, &norm));
		assert_true(fabs(lb_item(norm) - 5) < 1e-12);
		assert_int_equal(lb_dtype_of(c[0]), LB_F16);
		assert_true(fabs(lb_item(lb_max(c[0], LB_ALL_AXES, false)) - 0.5) < 1e-3);
		assert_true(fabs(lb_item(lb_min(c[1], LB_ALL_AXES, false)) - 1) < 1e-6);
		assert_true(lb_clip_by_global_norm(2, g, 6, c, NULL));
		assert_true(lb_item(lb_max(c[1], LB_ALL_AXES, false)) == 2);
		assert_false(lb_clip_by_global_norm(2, g, 0, c, NULL));
		assert_true(error_has("clip_by_global_norm 2"));
	}
}

static void mistakes(void **state)
{
	(void)state;
	assert_null(lb_sgd((lb_sgd_options){ 0 }));
	assert_true(error_has("sgd rate 0"));
	assert_null(lb_sgd((lb_sgd_options){ .rate = 1, .momentum = 1 }));
	assert_true(error_has("sgd momentum"));
	assert_null(lb_sgd((lb_sgd_options){ .rate = 1, .nesterov = true }));
	assert_true(error_has("sgd Nesterov"));
	assert_null(lb_adam((lb_adam_options){ .rate = NAN }));
	assert_true(error_has("adam rate"));
	assert_null(lb_adamw((lb_adam_options){ .rate = 1, .beta2 = 1 }));
	assert_true(error_has("adamw betas"));
	lb_optimizer *o = lb_adam((lb_adam_options){ .rate = 1 });
	lb_tensor *p[2];
	start(p, LB_F32);
	LB_SCOPE {
		lb_tensor *d[2] = { lb_ones(LB_SHAPE(2, 3), LB_F32), lb_ones(LB_SHAPE(1), LB_F32) };
		lb_tensor *p0 = p[0];
		assert_false(lb_optimizer_update(o, 2, p, d));
		assert_true(error_has("optimizer parameter 1 (3) (1)"));
		assert_ptr_equal(p[0], p0);
		d[1] = lb_ones(LB_SHAPE(3), LB_I32);
		assert_false(lb_optimizer_update(o, 2, p, d));
		assert_true(error_has("optimizer parameter 1 int32"));
		d[1] = lb_ones(LB_SHAPE(3), LB_F32);
		assert_true(lb_optimizer_update(o, 2, p, d));
		assert_false(lb_optimizer_update(o, 1, p, d));
		assert_true(error_has("optimizer 1 2"));
		assert_false(lb_optimizer_update(o, 0, p, d));
		assert_true(error_has("optimizer 0"));
		assert_false(lb_optimizer_set_rate(o, -1));
		assert_true(error_has("optimizer rate -1"));
	}
	end(p);
	lb_optimizer_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(model_gradients), cmocka_unit_test(convolution_gradients),
		cmocka_unit_test(against_torch),   cmocka_unit_test(formulas),
		cmocka_unit_test(going_on),        cmocka_unit_test(going_on_from_any_state),
		cmocka_unit_test(steady),          cmocka_unit_test(clipping),
		cmocka_unit_test(mistakes),
	};
	return cmocka_run_group_tests_name("training", tests, NULL, NULL);
}
