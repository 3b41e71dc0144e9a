/* Checkpointed functions: the same gradients, in less memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "lazybones.h"

enum { BLOCKS = 16, LAYERS = 4, WIDTH = 64, ROWS = 256 };

struct model {
	lb_tensor *captured; /* a parameter that blocks have by their context */
	bool checkpoints, again; /* again: a checkpoint inside each */
	int calls;
};

static lb_tensor *layer(lb_tensor *x, lb_tensor *w)
{
	return lb_add(lb_tanh(lb_matmul(x, w)), lb_scalar(0.1));
}

/* in: x and a weight; out: x after some layers, and their mean, which is not used */
static bool block(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	struct model *m = context;
	lb_tensor *x = in[0];
	(void)n_in, (void)n_out;
	m->calls++;
	for (int i = 0; i < LAYERS; i++)
		x = layer(x, i % 2 ? m->captured : in[1]);
	out[0] = x;
	out[1] = lb_mean(x, LB_ALL_AXES, false);
	return out[0] && out[1];
}

static bool block_inside(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	return lb_checkpoint(block, context, n_in, in, n_out, out);
}

/* in: x and the blocks' weights */
static bool loss(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	struct model *m = context;
	lb_tensor *x = in[0];
	(void)n_out;
	for (int i = 1; i < n_in; i++) {
		lb_tensor *args[2] = { x, in[i] }, *results[2];
		bool ok = m->checkpoints ? lb_checkpoint(m->again ? block_inside : block, context, 2, args, 2, results)
					 : block(context, 2, args, 2, results);
		if (!ok)
			return false;
		x = results[0];
	}
	out[0] = lb_mean(lb_square(x), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static lb_tensor *random(int64_t rows, int64_t columns, uint64_t seed)
{
	lb_tensor *x = lb_random_normal(LB_SHAPE(rows, columns), LB_F32, lb_key(seed));
	x = lb_multiply(x, lb_scalar(1.5 / sqrt((double)columns)));
	lb_eval(x);
	return x;
}

/* Evaluates value and gradients; returns how much memory that took at most, beyond what was there. */
static uint64_t run(struct model *m, int n, lb_tensor *const *in, lb_tensor **grads)
{
	lb_tensor *results[1 + BLOCKS + 1];
	assert_true(lb_value_and_grad(loss, m, n, in, 0, NULL, 1, results, grads));
	for (int i = 0; i < n; i++)
		results[1 + i] = grads[i];
	uint64_t before = lb_active_memory();
	lb_reset_peak_memory();
	assert_true(lb_eval_n(1 + n, results));
	return lb_peak_memory() - before;
}

static double difference(lb_tensor *a, lb_tensor *b)
{
	return lb_item(lb_max(lb_abs(lb_subtract(a, b)), LB_ALL_AXES, false)) /
	       lb_item(lb_max(lb_abs(b), LB_ALL_AXES, false));
}

static void same_with_less(void **state)
{
	(void)state;
	enum { N = 1 + BLOCKS };
	LB_SCOPE {
		lb_tensor *in[N], *plain[N], *d[N];
		struct model m = { .captured = random(WIDTH, WIDTH, 99) };
		in[0] = random(ROWS, WIDTH, 1);
		for (int i = 1; i < N; i++)
			in[i] = random(WIDTH, WIDTH, (uint64_t)i + 1);
		uint64_t all = run(&m, N, in, plain);
		assert_int_equal(m.calls, BLOCKS);
		for (int inside = 0; inside < 2; inside++) {
			m = (struct model){ .captured = m.captured, .checkpoints = true, .again = inside };
			uint64_t less = run(&m, N, in, d);
			assert_int_equal(m.calls, BLOCKS * (2 + inside));
			for (int i = 0; i < N; i++)
				assert_true(difference(d[i], plain[i]) < 1e-5);
			printf("# at most %llu KiB without checkpoints, %llu KiB with\n", (unsigned long long)all >> 10,
			       (unsigned long long)less >> 10);
			assert_true(less * 2 < all);
		}
	}
}

/* ---- details ---- */

static bool pair(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n_in, (void)n_out;
	out[0] = lb_multiply(in[0], lb_exp(in[1]));
	out[1] = lb_broadcast_to(lb_sin(in[0]), LB_SHAPE(2, 2));
	return out[0] && out[1];
}

static bool uses_pair(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	bool (*const *how)(void *, int, lb_tensor *const *, int, lb_tensor **) = context;
	lb_tensor *y[2];
	(void)n_out;
	if (!(*how)(NULL, n_in, in, 2, y))
		return false;
	/* looks at one of two rows that are the same in memory, and at its own result */
	lb_tensor *row = lb_sum(lb_slice(y[1], LB_AT(1)), LB_ALL_AXES, false);
	out[0] = lb_item(row) > -100 ? lb_multiply(lb_square(y[0]), row) : NULL;
	return out[0] != NULL;
}

static bool pair_checkpointed(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	return lb_checkpoint(pair, context, n_in, in, n_out, out);
}

static bool squared_gradients(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *d[2];
	(void)n_out;
	if (!lb_grad(uses_pair, context, n_in, in, d))
		return false;
	out[0] = lb_add(lb_square(d[0]), lb_square(d[1]));
	return out[0] != NULL;
}

/* Two results, evaluation inside, and second derivatives. */
static void details(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { lb_full(LB_SHAPE(), 0.7, LB_F64), lb_full(LB_SHAPE(), -0.4, LB_F64) };
		lb_function *functions[] = { pair, pair_checkpointed };
		double got[2][4];
		for (int i = 0; i < 2; i++) {
			lb_tensor *d[2], *dd[2];
			assert_true(lb_grad(uses_pair, &functions[i], 2, in, d));
			assert_true(lb_grad(squared_gradients, &functions[i], 2, in, dd));
			for (int k = 0; k < 2; k++) {
				got[i][k] = lb_item(d[k]);
				got[i][2 + k] = lb_item(dd[k]);
			}
		}
		/* x^2 e^2y * 2 sin x */
		double x = 0.7, y = -0.4, e = exp(2 * y);
		double by_x = 4 * x * e * sin(x) + 2 * x * x * e * cos(x), by_y = 4 * x * x * e * sin(x);
		assert_true(fabs(got[0][0] - by_x) < 1e-12 && fabs(got[0][1] - by_y) < 1e-12);
		for (int k = 0; k < 4; k++)
			assert_true(fabs(got[0][k] - got[1][k]) < 1e-12);
		assert_true(fabs(got[0][2]) > 0.1);
	}
}

/* Outside of any gradient a checkpoint is the function. */
static void outside(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { lb_full(LB_SHAPE(), 2, LB_F64), lb_full(LB_SHAPE(), 0, LB_F64) }, *y[2];
		assert_true(lb_checkpoint(pair, NULL, 2, in, 2, y));
		assert_true(lb_item(y[0]) == 2);
		assert_true(lb_dim(y[1], 0) == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_with_less),
		cmocka_unit_test(details),
		cmocka_unit_test(outside),
	};
	return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
