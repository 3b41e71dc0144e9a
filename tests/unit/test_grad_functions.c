/* What differentiating a function promises besides right numbers: which tensors are constants, what
 * may happen inside, what it says when it cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tensor.h"
#include "probe.h"
#include "publish/root.h"

typedef struct {
	lb_tensor *constant;
	int mode;
} context;

static lb_tensor *number(double x)
{
	return lb_full(LB_SHAPE(), x, LB_F64);
}

static void is(double expected, lb_tensor *x)
{
	double got = x ? lb_item(x) : NAN;
	if (!(fabs(got - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("%.12g, expected %.12g; %s", got, expected, lb_error_message());
}

#define FUNCTION(name) static bool name(void *c_, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)

#define BEGIN(c) \
	const context *c = c_; \
	(void)c, (void)n_in, (void)n_out, (void)in, (void)out

FUNCTION(product)
{
	BEGIN(c);
	out[0] = lb_multiply(in[0], lb_square(in[1]));
	if (n_out > 1)
		out[1] = lb_add(in[0], in[1]);
	return out[0] != NULL;
}

static void which_inputs(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(3), *y = number(5), *out[2], *d[2];
		assert_true(lb_value_and_grad(product, NULL, 2, (lb_tensor *[]){ x, y }, 0, NULL, 2, out, d));
		is(75, out[0]);
		is(8, out[1]);
		is(25, d[0]);
		is(30, d[1]);
		/* the same tensor twice is two inputs */
		assert_true(lb_grad(product, NULL, 2, (lb_tensor *[]){ x, x }, d));
		is(9, d[0]);
		is(18, d[1]);
		assert_true(lb_value_and_grad(product, NULL, 2, (lb_tensor *[]){ x, x }, 1, (int[]){ 1 }, 1, out, d));
		is(18, d[0]);
		assert_true(lb_value_and_grad(product, NULL, 2, (lb_tensor *[]){ x, y }, 3, (int[]){ 1, 0, 1 }, 1, out,
					      (lb_tensor *[3]){ 0 }));
	}
	assert_true(lb_ok());
}

FUNCTION(times_constant)
{
	BEGIN(c);
	out[0] = lb_multiply(in[0], c->constant);
	return out[0] != NULL;
}

FUNCTION(identity)
{
	BEGIN(c);
	out[0] = in[0];
	return true;
}

FUNCTION(of_second)
{
	BEGIN(c);
	out[0] = lb_exp(in[1]);
	return out[0] != NULL;
}

FUNCTION(stopped)
{
	BEGIN(c);
	out[0] = lb_multiply(in[0], lb_stop_gradient(lb_square(in[0])));
	return out[0] != NULL;
}

static void constants(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(3), *out, *d[2];
		assert_true(lb_grad(times_constant, &(context){ .constant = x }, 1, &x, d));
		is(3, d[0]);
		assert_true(lb_grad(times_constant, &(context){ .constant = lb_exp(x) }, 1, &x, d));
		is(exp(3), d[0]);
		assert_true(lb_grad(identity, NULL, 1, &x, d));
		is(1, d[0]);
		assert_true(lb_grad(stopped, NULL, 1, &x, d));
		is(9, d[0]);
		lb_tensor *wide = lb_ones(LB_SHAPE(2, 3), LB_F16);
		assert_true(lb_value_and_grad(of_second, NULL, 2, (lb_tensor *[]){ wide, x }, 2, NULL, 1, &out, d));
		assert_int_equal(lb_dtype_of(d[0]), LB_F16);
		assert_int_equal(lb_size(d[0]), 6);
		is(0, lb_max(lb_abs(d[0]), LB_ALL_AXES, false));
		is(exp(3), d[1]);
	}
}

/* ---- evaluation inside ---- */

FUNCTION(branches)
{
	BEGIN(c);
	lb_tensor *y = lb_exp(in[0]), *z = lb_multiply(y, y);
	if (!lb_eval(y, z))
		return false;
	out[0] = lb_item(z) > 1 ? lb_multiply(z, lb_scalar(3)) : lb_negative(y);
	lb_eval(out[0]);
	return true;
}

static void evaluation_inside(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(1), *y = number(-1), *d;
		assert_true(lb_grad(branches, NULL, 1, &x, &d));
		is(6 * exp(2), d);
		assert_true(lb_grad(branches, NULL, 1, &y, &d));
		is(-exp(-1), d);
		/* afterwards evaluation detaches again */
		lb_tensor *z = lb_exp(x);
		lb_eval(z);
		assert_true(z->flags & LB_FLAG_DETACHED);
	}
}

static void *evaluate(void *x)
{
	lb_eval((lb_tensor *)x);
	return NULL;
}

FUNCTION(evaluated_elsewhere)
{
	BEGIN(c);
	pthread_t thread;
	lb_tensor *y = lb_exp(in[0]);
	if (pthread_create(&thread, NULL, evaluate, y))
		return false;
	pthread_join(thread, NULL);
	out[0] = lb_square(y);
	return true;
}

/* Constants that another thread evaluates meanwhile are no concern of the walk. */
FUNCTION(constant_evaluated)
{
	BEGIN(c);
	pthread_t thread;
	out[0] = lb_multiply(in[0], c->constant);
	if (pthread_create(&thread, NULL, evaluate, c->constant))
		return false;
	return pthread_join(thread, NULL) == 0;
}

static void other_threads(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(1), *d;
		assert_false(lb_grad(evaluated_elsewhere, NULL, 1, &x, &d));
		assert_true(error_has("grad exp another thread"));
		assert_true(lb_grad(constant_evaluated, &(context){ .constant = lb_exp(x) }, 1, &x, &d));
		is(exp(1), d);
	}
}

/* ---- several results ---- */

FUNCTION(two_results)
{
	BEGIN(c);
	out[0] = lb_multiply(in[0], in[1]);
	out[1] = lb_exp(in[0]);
	return out[0] && out[1];
}

static void products_with_jacobians(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { number(2), number(7) }, *out[2], *d[2];
		assert_true(lb_vjp(two_results, NULL, 2, in, 2, (lb_tensor *[]){ number(3), number(5) }, out, d));
		is(21 + 5 * exp(2), d[0]);
		is(6, d[1]);
		assert_true(lb_vjp(two_results, NULL, 2, in, 2, (lb_tensor *[]){ NULL, number(5) }, out, d));
		is(5 * exp(2), d[0]);
		is(0, d[1]);
	}
}

/* ---- rules of one's own ---- */

FUNCTION(rounded)
{
	BEGIN(c);
	for (int i = 0; i < n_out; i++)
		out[i] = i ? lb_square(in[0]) : lb_round(in[0]);
	return true;
}

static bool straight_through(void *c, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
			     lb_tensor *const *cotangents, lb_tensor **grads)
{
	(void)c, (void)n_in, (void)in;
	/* the second result has no cotangent here, and the first is what it was */
	if (n_out > 1 && (cotangents[1] || !out[1]))
		return false;
	grads[0] = lb_multiply(cotangents[0], out[0]);
	return true;
}

FUNCTION(with_own_rule)
{
	BEGIN(c);
	lb_tensor *y[2], *x = lb_multiply(in[0], lb_scalar(2));
	if (!lb_custom_vjp(rounded, straight_through, NULL, 1, &x, c->mode ? c->mode : 1, y))
		return false;
	out[0] = lb_multiply(y[0], lb_scalar(10));
	return true;
}

static bool failing_rule(void *c, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
			 lb_tensor *const *cotangents, lb_tensor **grads)
{
	(void)c, (void)n_in, (void)in, (void)n_out, (void)out, (void)cotangents, (void)grads;
	return false;
}

FUNCTION(with_failing_rule)
{
	BEGIN(c);
	return lb_custom_vjp(rounded, failing_rule, NULL, 1, in, 1, out);
}

static void own_rules(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(1.7), *y, *d;
		assert_true(lb_custom_vjp(rounded, straight_through, NULL, 1, &x, 1, &y));
		is(2, y);
		for (int n = 0; n <= 2; n++) {
			assert_true(lb_grad(with_own_rule, &(context){ .mode = n }, 1, &x, &d));
			is(2 * 10 * 3, d);
		}
		assert_false(lb_grad(with_failing_rule, NULL, 1, &x, &d));
		assert_true(error_has("custom_vjp rule"));
		assert_false(lb_custom_vjp(rounded, NULL, NULL, 1, &x, 1, &y));
		assert_true(error_has("custom_vjp"));
	}
}

/* ---- where gradients come from ---- */

__attribute__((noinline)) FUNCTION(of_many_sites)
{
	BEGIN(c);
	lb_tensor *y = lb_softmax(lb_matmul(in[0], in[1]), LB_AXES(-1));
	y = lb_layer_norm(lb_slice(y, LB_RANGE(0, 2)), NULL, NULL, 1e-3);
	lb_tensor *both = lb_concatenate(2, (lb_tensor *[]){ y, lb_exp(y) }, 0);
	out[0] =
	    lb_sum(lb_take(both, lb_from_data((int32_t[]){ 1, 1 }, 8, LB_SHAPE(2), LB_I32), 0), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static bool is_in(uint64_t site, const void *function)
{
	return site - (uint64_t)(uintptr_t)function < 2048;
}

/* Every node that a gradient is made of leads to a line of the function, or to the call that asked. */
static void sites(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { lb_random_normal(LB_SHAPE(3, 4), LB_F32, lb_key(1)),
				     lb_random_normal(LB_SHAPE(4, 5), LB_F32, lb_key(2)) };
		lb_tensor *d[2], *seen[256];
		assert_true(lb_grad(of_many_sites, NULL, 2, in, d));
		int n = 0, from_function = 0, from_here = 0;
		seen[n++] = d[0];
		seen[n++] = d[1];
		for (int i = 0; i < n; i++) {
			if (seen[i]->id <= in[1]->id)
				continue;
			from_function += is_in(seen[i]->site, (void *)of_many_sites);
			from_here += is_in(seen[i]->site, (void *)sites);
			if (!is_in(seen[i]->site, (void *)of_many_sites) && !is_in(seen[i]->site, (void *)sites))
				fail_msg("%s #%d comes from elsewhere", lb_ops[seen[i]->op].name, i);
			for (uint32_t k = 0; k < seen[i]->n_inputs; k++) {
				bool known = false;
				for (int j = 0; j < n; j++)
					known = known || seen[j] == lb_tensor_input(seen[i], k);
				assert_true(n < 256);
				if (!known)
					seen[n++] = lb_tensor_input(seen[i], k);
			}
		}
		assert_true(from_function > 20);
		assert_true(from_here > 0 && from_here < from_function);
	}
}

/* ---- errors ---- */

FUNCTION(fails)
{
	BEGIN(c);
	return false;
}

FUNCTION(gives_nothing)
{
	BEGIN(c);
	return true;
}

FUNCTION(many)
{
	BEGIN(c);
	out[0] = lb_exp(lb_broadcast_to(in[0], LB_SHAPE(3)));
	return true;
}

FUNCTION(whole)
{
	BEGIN(c);
	out[0] = lb_astype(in[0], LB_I32);
	return true;
}

__attribute__((noinline)) FUNCTION(partitioned)
{
	BEGIN(c);
	out[0] = lb_sum(lb_partition(lb_reshape(in[0], LB_SHAPE(1)), 0, 0), LB_ALL_AXES, false);
	return true;
}

static void errors(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(1), *i = lb_ones(LB_SHAPE(), LB_I32), *z = lb_ones(LB_SHAPE(), LB_C64), *out,
			  *d[2];
		assert_false(lb_grad(product, NULL, 2, (lb_tensor *[]){ x, i }, d));
		assert_null(d[0]);
		assert_true(error_has("grad input 1 int32 wrt"));
		assert_false(lb_grad(identity, NULL, 1, &z, d));
		assert_true(error_has("grad result 0 complex64"));
		assert_false(lb_value_and_grad(identity, NULL, 1, &x, 1, (int[]){ 1 }, 1, &out, d));
		assert_true(error_has("value_and_grad input 1 1 input"));
		assert_false(lb_grad(NULL, NULL, 1, &x, d));
		assert_true(error_has("grad: fn is NULL"));
		assert_false(lb_value_and_grad(identity, NULL, 1, &x, 1, NULL, 0, &out, d));
		assert_true(error_has("value_and_grad 0 results"));
		assert_false(lb_grad(fails, NULL, 1, &x, d));
		assert_true(error_has("grad failed"));
		assert_false(lb_grad(gives_nothing, NULL, 1, &x, d));
		assert_true(error_has("grad no result 0"));
		assert_false(lb_grad(many, NULL, 1, &x, d));
		assert_true(error_has("grad (3) one floating number"));
		assert_false(lb_grad(whole, NULL, 1, &x, d));
		assert_true(error_has("grad int32"));
		assert_false(lb_vjp(identity, NULL, 1, &x, 1, (lb_tensor *[]){ lb_ones(LB_SHAPE(2), LB_F64) }, &out,
				    d));
		assert_true(error_has("vjp cotangent 0 (2)"));
		assert_false(lb_vjp(whole, NULL, 1, &x, 1, &x, &out, d));
		assert_true(error_has("vjp result 0 int32"));
		assert_false(lb_vjp(identity, NULL, 1, &x, 1, NULL, &out, d));
		assert_true(error_has("vjp cotangents"));
		assert_false(lb_grad(partitioned, NULL, 1, &x, d));
		assert_true(is_in((uint64_t)(uintptr_t)lb_error_site(), (void *)partitioned));
		assert_true(error_has("partition gradient"));
		assert_false(lb_grad(identity, NULL, 1, (lb_tensor *[]){ NULL }, d));
		assert_true(error_has("grad: tensor 0 of 1 is NULL"));
		assert_false(lb_checkpoint(NULL, NULL, 1, &x, 1, &out));
		assert_true(error_has("checkpoint: fn is NULL"));
		assert_false(lb_checkpoint(gives_nothing, NULL, 1, &x, 1, &out));
		assert_true(error_has("checkpoint no result 0"));
		assert_null(lb_depends(x, -1, NULL));
		assert_true(error_has("depends -1"));
		/* nothing of that is in the way of the next */
		assert_true(lb_grad(identity, NULL, 1, &x, d));
		is(1, d[0]);
	}
}

/* ---- dtypes, layouts, sizes ---- */

FUNCTION(mixed)
{
	BEGIN(c);
	lb_tensor *y = lb_tanh(lb_multiply(lb_add(in[0], in[1]), lb_scalar(0.5)));
	out[0] = lb_mean(lb_multiply(y, in[0]), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static void dtypes(void **state)
{
	(void)state;
	static const lb_dtype floats[] = { LB_F16, LB_BF16, LB_F32, LB_F64 };
	static const double precision[] = { 4e-3, 3e-2, 1e-6, 1e-12 };
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 4; j++) {
			LB_SCOPE {
				lb_tensor *in[2], *exact[2], *d[2], *e[2];
				in[0] = lb_astype(lb_random_normal(LB_SHAPE(4, 5), LB_F64, lb_key(1)), floats[i]);
				in[1] = lb_astype(lb_random_normal(LB_SHAPE(5), LB_F64, lb_key(2)), floats[j]);
				exact[0] = lb_astype(in[0], LB_F64);
				exact[1] = lb_astype(in[1], LB_F64);
				assert_true(lb_grad(mixed, NULL, 2, in, d));
				assert_true(lb_grad(mixed, NULL, 2, exact, e));
				for (int k = 0; k < 2; k++) {
					lb_dtype dtype = floats[k ? j : i];
					assert_int_equal(lb_dtype_of(d[k]), dtype);
					lb_tensor *off = lb_subtract(lb_astype(d[k], LB_F64), e[k]);
					double most = precision[i] > precision[j] ? precision[i] : precision[j];
					if (!(lb_item(lb_max(lb_abs(off), LB_ALL_AXES, false)) <= most))
						fail_msg("%s with %s: off by %g", lb_dtype_name(floats[i]),
							 lb_dtype_name(floats[j]),
							 lb_item(lb_max(lb_abs(off), LB_ALL_AXES, false)));
				}
			}
		}
	}
}

FUNCTION(corner)
{
	BEGIN(c);
	lb_tensor *x = lb_transpose(in[0], LB_ALL_AXES);
	out[0] = lb_sum(lb_multiply(lb_slice(x, LB_FROM(1), LB_FROM(1)), c->constant), LB_ALL_AXES, false);
	return out[0] != NULL;
}

/* An input whose elements lie at one place still has a gradient for each. */
static void overlapping_input(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_broadcast_to(number(1), LB_SHAPE(2, 3)), *d;
		double factors[2] = { 5, 7 }, got[6], expected[6] = { 0, 0, 0, 0, 5, 7 };
		lb_tensor *c = lb_from_data(factors, 16, LB_SHAPE(2, 1), LB_F64);
		assert_true(lb_grad(corner, &(context){ .constant = c }, 1, &x, &d));
		assert_true(lb_copy_out(d, got, sizeof got));
		assert_memory_equal(got, expected, sizeof got);
		lb_tensor *empty = lb_zeros(LB_SHAPE(0, 3), LB_F32);
		assert_true(lb_grad(corner, &(context){ .constant = lb_ones(LB_SHAPE(), LB_F32) }, 1, &empty, &d));
		assert_int_equal(lb_rank(d), 2);
		assert_int_equal(lb_dim(d, 0), 0);
		assert_true(lb_eval(d));
	}
}

FUNCTION(long_chain)
{
	BEGIN(c);
	lb_tensor *x = in[0];
	for (int i = 0; i < c->mode; i++)
		x = lb_add(x, i % 1000 ? c->constant : in[0]);
	out[0] = x;
	return x != NULL;
}

static void long_chains(void **state)
{
	(void)state;
	enum { LENGTH = 200000 };
	LB_SCOPE {
		lb_tensor *x = number(2), *out, *d;
		context c = { number(1e-3), LENGTH };
		assert_true(lb_value_and_grad(long_chain, &c, 1, &x, 1, NULL, 1, &out, &d));
		is(1 + LENGTH / 1000, d);
	}
}

/* What a call makes goes with its scope. */
static void leaks(void **state)
{
	(void)state;
	uint64_t live = lb_counters.created - lb_counters.freed, bytes = lb_active_memory();
	for (int i = 0; i < 50; i++) {
		LB_SCOPE {
			lb_tensor *x = number(1.5), *y = number(0.5), *d[2];
			assert_true(lb_grad(product, NULL, 2, (lb_tensor *[]){ x, y }, d));
			assert_true(lb_eval(d[0], d[1]));
			assert_true(lb_grad(branches, NULL, 1, &x, d));
			assert_true(lb_grad(with_own_rule, &(context){ .mode = 2 }, 1, &x, d));
			assert_false(lb_grad(many, NULL, 1, &x, d));
			lb_clear_error();
		}
	}
	assert_int_equal(lb_counters.created - lb_counters.freed, live);
	assert_int_equal(lb_active_memory(), bytes);
}

/* ---- lb_check_grad(), lb_check_kernel() ---- */

FUNCTION(product_of_sines)
{
	BEGIN(c);
	out[0] = lb_sum(lb_multiply(lb_sin(in[0]), in[1]), LB_ALL_AXES, false);
	return out[0] != NULL;
}

/* A gradient that is wrong in one element of the second input. */
static bool wrong_vjp(void *c_, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
		      lb_tensor *const *cotangents, lb_tensor **grads)
{
	const double off[] = { 1, 1, 1, 1, 1.5, 1 };
	lb_tensor *error = lb_from_data(off, sizeof off, LB_SHAPE(2, 3), LB_F64);

	(void)c_, (void)n_in, (void)n_out, (void)out;
	grads[0] = lb_multiply(lb_multiply(lb_cos(in[0]), in[1]), cotangents[0]);
	grads[1] = lb_multiply(lb_multiply(lb_sin(in[0]), error), cotangents[0]);
	return lb_ok();
}

FUNCTION(wrong_somewhere)
{
	BEGIN(c);
	return lb_custom_vjp(product_of_sines, wrong_vjp, NULL, n_in, in, n_out, out);
}

static void checked_gradients(void **state)
{
	lb_check_options none = { .rtol = 0 };

	(void)state;
	LB_SCOPE {
		lb_tensor *in[] = { lb_reshape(lb_arange(0.5, 6.5, 1, LB_F64), LB_SHAPE(2, 3)),
				    lb_reshape(lb_arange(1, 7, 1, LB_F64), LB_SHAPE(2, 3)) };
		assert_true(lb_check_grad(product_of_sines, NULL, 2, in, none));
		assert_false(lb_check_grad(wrong_somewhere, NULL, 2, in, none));
		if (!strstr(lb_error_message(), "check_grad: input 1, element [1, 1]: the gradient is "))
			fail_msg("%s", lb_error_message());
		lb_clear_error();
		lb_tensor *half[] = { lb_astype(in[0], LB_F32), lb_astype(in[1], LB_F32) };
		assert_true(lb_check_grad(product_of_sines, NULL, 2, half, none));
		lb_tensor *whole[] = { in[0], lb_astype(in[1], LB_I32) };
		assert_false(lb_check_grad(product_of_sines, NULL, 2, whole, none));
		assert_string_equal(lb_error_message(), "check_grad: input 1 is no floating tensor");
		lb_clear_error();
	}
}

FUNCTION(plain_product)
{
	BEGIN(c);
	out[0] = lb_matmul(in[0], in[1]);
	return out[0] != NULL;
}

/* Forgets what is left of the rows behind whole blocks of 32. */
FUNCTION(careless_product)
{
	BEGIN(c);
	lb_tensor *all = lb_matmul(in[0], in[1]);
	int64_t rows = lb_dim(all, 0), whole = rows - rows % 32;

	out[0] = whole == rows
		     ? all
		     : lb_slice_update(all, lb_full(LB_SHAPE(rows - whole, lb_dim(all, 1)), 0, LB_F32), LB_FROM(whole));
	return out[0] != NULL;
}

static void checked_kernels(void **state)
{
	static const int64_t a[2] = { 64, 16 }, b[2] = { 16, 40 }, c[2] = { 70, 16 };
	const lb_list shapes[] = { { 2, a }, { 2, b }, { 2, c }, { 2, b } };
	lb_check_options none = { .rtol = 0 };

	(void)state;
	assert_true(lb_check_kernel(plain_product, plain_product, NULL, 2, 1, LB_F32, 2, shapes, none));
	assert_true(lb_check_kernel(careless_product, plain_product, NULL, 2, 1, LB_F32, 1, shapes, none));
	assert_false(lb_check_kernel(careless_product, plain_product, NULL, 2, 1, LB_F32, 2, shapes, none));
	if (!strstr(lb_error_message(),
		    "check_kernel: case 1, inputs (70,16) (16,40): result 0: 240 of 2800 elements differ, by ") ||
	    !strstr(lb_error_message(), "; the first in tile [2, 0] of 32 x 32, at [64, 0]: 0, and the reference has "))
		fail_msg("%s", lb_error_message());
	lb_clear_error();
	assert_false(lb_check_kernel(plain_product, plain_product, NULL, 2, 1, LB_I32, 1, shapes, none));
	lb_clear_error();
	assert_false(lb_check_kernel(NULL, plain_product, NULL, 2, 1, LB_F32, 1, shapes, none));
	lb_clear_error();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checked_gradients),
		cmocka_unit_test(checked_kernels),
		cmocka_unit_test(which_inputs),
		cmocka_unit_test(constants),
		cmocka_unit_test(evaluation_inside),
		cmocka_unit_test(other_threads),
		cmocka_unit_test(products_with_jacobians),
		cmocka_unit_test(own_rules),
		cmocka_unit_test(sites),
		cmocka_unit_test(errors),
		cmocka_unit_test(dtypes),
		cmocka_unit_test(overlapping_input),
		cmocka_unit_test(long_chains),
		cmocka_unit_test(leaks),
	};
	return cmocka_run_group_tests_name("grad functions", tests, NULL, NULL);
}
