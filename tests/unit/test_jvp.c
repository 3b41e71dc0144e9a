/* What forward mode promises besides right numbers, which test_grad compares with differences for every operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "graph/tensor.h"
#include "probe.h"
#include "publish/root.h"

#define FUNCTION(name) static bool name(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
#define UNUSED() (void)context, (void)n_in, (void)n_out

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

/* x y^2, x + y, and two results that have no part in that. */
FUNCTION(several)
{
	UNUSED();
	out[0] = lb_multiply(in[0], lb_square(in[1]));
	out[1] = lb_add(in[0], in[1]);
	out[2] = lb_exp(number(2));
	out[3] = lb_astype(in[0], LB_I32);
	return lb_ok();
}

static void several_results(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[] = { number(3), number(5) }, *along[] = { number(2), number(7) }, *out[4], *d[4];
		assert_true(lb_jvp(several, NULL, 2, in, along, 4, out, d));
		is(75, out[0]);
		is(8, out[1]);
		is(2 * 25 + 7 * 30, d[0]);
		is(9, d[1]);
		is(0, d[2]);
		assert_int_equal(lb_dtype_of(d[3]), LB_I32);
		is(0, d[3]);
		/* of one input alone; and of none */
		along[0] = NULL;
		assert_true(lb_jvp(several, NULL, 2, in, along, 4, out, d));
		is(7 * 30, d[0]);
		is(7, d[1]);
		along[1] = NULL;
		assert_true(lb_jvp(several, NULL, 2, in, along, 4, out, d));
		is(75, out[0]);
		is(0, d[0]);
		/* the same tensor twice is two inputs */
		in[1] = in[0];
		along[1] = number(1);
		assert_true(lb_jvp(several, NULL, 2, in, along, 4, out, d));
		is(18, d[0]);
	}
}

/* Twice the second input, which may be of integers, by the first. */
FUNCTION(scaled)
{
	UNUSED();
	out[0] = lb_multiply(in[0], lb_multiply(in[1], lb_scalar_int(2)));
	return out[0] != NULL;
}

FUNCTION(identity)
{
	UNUSED();
	out[0] = in[0];
	return true;
}

static void dtypes(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[] = { lb_full(LB_SHAPE(2, 3), 1.5, LB_F16), lb_full(LB_SHAPE(3), 4, LB_I32) }, *out, *d;
		lb_tensor *along[] = { lb_ones(LB_SHAPE(2, 3), LB_F32), NULL };
		assert_true(lb_jvp(scaled, NULL, 2, in, along, 1, &out, &d));
		assert_int_equal(lb_dtype_of(d), LB_F16);
		assert_int_equal(lb_dim(d, 0), 2);
		is(6 * 8, lb_sum(d, LB_ALL_AXES, false));
		assert_true(lb_jvp(identity, NULL, 1, in, along, 1, &out, &d));
		is(6, lb_sum(d, LB_ALL_AXES, false));
		/* elements that lie at one place move apart */
		lb_tensor *one = lb_broadcast_to(number(2), LB_SHAPE(3)), *ramp = lb_arange(0, 3, 1, LB_F64);
		assert_true(lb_jvp(identity, NULL, 1, &one, &ramp, 1, &out, &d));
		is(2, lb_slice(d, LB_AT(2)));
		lb_tensor *empty = lb_zeros(LB_SHAPE(0, 3), LB_F32);
		assert_true(lb_jvp(identity, NULL, 1, &empty, &empty, 1, &out, &d));
		assert_int_equal(lb_size(d), 0);
		assert_true(lb_eval(d));
	}
}

/* ---- of gradients, of itself, of what has a rule of its own ---- */

/* sum(x^2 y) + x0 x1 x2 */
FUNCTION(cubic)
{
	UNUSED();
	out[0] = lb_add(lb_sum(lb_multiply(lb_square(in[0]), lb_arange(1, 4, 1, LB_F64)), LB_ALL_AXES, false),
			lb_prod(in[0], LB_ALL_AXES, false));
	return out[0] != NULL;
}

FUNCTION(gradient_of_cubic)
{
	UNUSED();
	return lb_grad(cubic, NULL, 1, in, out);
}

static void hessian_times_a_vector(void **state)
{
	(void)state;
	LB_SCOPE {
		static const double x[] = { 2, 3, 5 }, v[] = { 1, -1, 4 };
		/* the Hessian: 2, 4, 6 on the diagonal, beside it the third coordinate */
		static const double expected[] = { 2 * 1 + 5 * -1 + 3 * 4, 5 * 1 + 4 * -1 + 2 * 4,
						   3 * 1 + 2 * -1 + 6 * 4 };
		lb_tensor *at = lb_from_data(x, sizeof x, LB_SHAPE(3), LB_F64), *gradient, *d;
		lb_tensor *along = lb_from_data(v, sizeof v, LB_SHAPE(3), LB_F64);
		assert_true(lb_jvp(gradient_of_cubic, NULL, 1, &at, &along, 1, &gradient, &d));
		for (int i = 0; i < 3; i++)
			is(expected[i], lb_slice(d, LB_AT(i)));
	}
}

FUNCTION(fourth_power)
{
	UNUSED();
	out[0] = lb_square(lb_square(in[0]));
	return out[0] != NULL;
}

FUNCTION(forward_fourth_power)
{
	lb_tensor *value, *one = number(1);
	UNUSED();
	return lb_jvp(fourth_power, NULL, 1, in, &one, 1, &value, out);
}

FUNCTION(checkpointed)
{
	UNUSED();
	return lb_checkpoint(fourth_power, NULL, 1, in, 1, out);
}

static bool five_times(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
		       lb_tensor *const *cotangents, lb_tensor **grads)
{
	(void)context, (void)n_in, (void)in, (void)n_out, (void)out;
	grads[0] = lb_multiply(cotangents[0], lb_scalar(5));
	return grads[0] != NULL;
}

FUNCTION(with_own_rule)
{
	UNUSED();
	return lb_custom_vjp(fourth_power, five_times, NULL, 1, in, 1, out);
}

/* A rule that has no gradient itself but by the cotangent. */
static bool by_the_least(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
			 lb_tensor *const *cotangents, lb_tensor **grads)
{
	(void)context, (void)n_in, (void)n_out, (void)out;
	grads[0] = lb_multiply(cotangents[0], lb_partition(in[0], 0, 0));
	return grads[0] != NULL;
}

FUNCTION(least)
{
	UNUSED();
	return lb_custom_vjp(fourth_power, by_the_least, NULL, 1, in, 1, out);
}

FUNCTION(checkpointed_least)
{
	UNUSED();
	return lb_checkpoint(least, NULL, 1, in, 1, out);
}

FUNCTION(compiled)
{
	UNUSED();
	return lb_call(context, 1, in, 1, out);
}

static void transformations(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(2), *v = number(3), *out, *d;
		assert_true(lb_jvp(forward_fourth_power, NULL, 1, &x, &v, 1, &out, &d));
		is(4 * 8, out);
		is(3 * 12 * 4, d);
		assert_true(lb_grad(forward_fourth_power, NULL, 1, &x, &d));
		is(12 * 4, d);
		assert_true(lb_jvp(checkpointed, NULL, 1, &x, &v, 1, &out, &d));
		is(3 * 4 * 8, d);
		assert_true(lb_jvp(with_own_rule, NULL, 1, &x, &v, 1, &out, &d));
		is(16, out);
		is(3 * 5, d);
		lb_tensor *two = lb_full(LB_SHAPE(1), 2, LB_F64), *three = lb_full(LB_SHAPE(1), 3, LB_F64);
		assert_true(lb_jvp(checkpointed_least, NULL, 1, &two, &three, 1, &out, &d));
		is(3 * 2, d);
		lb_compiled *inner = lb_compile("fourth power", fourth_power, NULL, (lb_compile_options){ 0 });
		assert_true(lb_jvp(compiled, inner, 1, &x, &v, 1, &out, &d));
		is(3 * 4 * 8, d);
		lb_compiled *outer = lb_compile("forward", forward_fourth_power, NULL, (lb_compile_options){ 0 });
		for (int i = 0; i < 2; i++) {
			assert_true(lb_call(outer, 1, &x, 1, &d));
			is(4 * 8, d);
		}
		lb_compiled_free(inner);
		lb_compiled_free(outer);
	}
}

/* The cotangents that the rules lead back from cancel out: these scans are linear there, too. */
FUNCTION(scans)
{
	UNUSED();
	lb_tensor *all[] = { lb_logcumsumexp(in[0], 0, false, true), lb_cumprod(in[0], 0, true, true) };
	for (int i = 0; i < 2; i++)
		out[i] = lb_subtract(all[i], lb_mean(all[i], LB_ALL_AXES, true));
	return lb_ok();
}

static void linear_in_the_cotangent(void **state)
{
	(void)state;
	LB_SCOPE {
		static const double h = 1e-6;
		lb_tensor *x = lb_from_data((double[]){ 0.3, -0.7, 1.2, 0 }, 32, LB_SHAPE(4), LB_F64);
		lb_tensor *v = lb_from_data((double[]){ 1, 2, -1, 0.5 }, 32, LB_SHAPE(4), LB_F64), *step = number(h);
		lb_tensor *above = lb_add(x, lb_multiply(v, step)), *below = lb_subtract(x, lb_multiply(v, step));
		lb_tensor *out[2], *d[2], *high[2], *low[2];
		assert_true(lb_jvp(scans, NULL, 1, &x, &v, 2, out, d));
		assert_true(scans(NULL, 1, &above, 2, high) && scans(NULL, 1, &below, 2, low));
		for (int i = 0; i < 2; i++) {
			lb_tensor *expected = lb_divide(lb_subtract(high[i], low[i]), lb_multiply(step, lb_scalar(2)));
			assert_true(lb_item(lb_max(lb_abs(lb_subtract(d[i], expected)), LB_ALL_AXES, false)) < 1e-8);
		}
	}
}

/* ---- errors ---- */

FUNCTION(fails)
{
	UNUSED();
	(void)in, (void)out;
	return false;
}

FUNCTION(parted)
{
	UNUSED();
	out[0] = lb_partition(in[0], 0, 0);
	return out[0] != NULL;
}

static void errors(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = number(1), *i = lb_ones(LB_SHAPE(), LB_I32), *wide = lb_ones(LB_SHAPE(2), LB_F64),
			  *none = NULL;
		lb_tensor *out, *d;
		assert_false(lb_jvp(identity, NULL, 1, &i, &x, 1, &out, &d));
		assert_true(error_has("jvp: input 0 int32 tangents NULL"));
		assert_false(lb_jvp(identity, NULL, 1, &x, &i, 1, &out, &d));
		assert_true(error_has("jvp: tangent 0 int32 floating"));
		assert_false(lb_jvp(identity, NULL, 1, &x, &wide, 1, &out, &d));
		assert_true(error_has("jvp: tangent 0 float64 (2) ()"));
		assert_null(out);
		assert_null(d);
		assert_true(lb_jvp(identity, NULL, 1, &i, &none, 1, &out, &d));
		assert_false(lb_jvp(fails, NULL, 1, &x, &x, 1, &out, &d));
		assert_true(error_has("jvp function failed"));
		assert_false(lb_jvp(identity, NULL, 1, &x, &x, 0, &out, &d));
		assert_true(error_has("jvp 0 results"));
		assert_false(lb_jvp(identity, NULL, 1, &none, &x, 1, &out, &d));
		assert_true(error_has("jvp: tensor 0 of 1 is NULL"));
		assert_false(lb_jvp(parted, NULL, 1, &wide, &wide, 1, &out, &d));
		assert_true(error_has("partition gradient lb_sort()"));
	}
}

/* What a call makes goes with its scope. */
static void leaks(void **state)
{
	(void)state;
	uint64_t live = lb_counters.created - lb_counters.freed, bytes = lb_active_memory();
	for (int i = 0; i < 20; i++)
		LB_SCOPE {
			lb_tensor *x = number(2), *wide = lb_ones(LB_SHAPE(3), LB_F64), *out[2], *d[2];
			assert_true(lb_jvp(checkpointed, NULL, 1, &x, &x, 1, out, d) && lb_eval(d[0]));
			assert_true(lb_jvp(scans, NULL, 1, &wide, &wide, 2, out, d) && lb_eval(d[0], d[1]));
			assert_false(lb_jvp(parted, NULL, 1, &wide, &wide, 1, out, d));
			lb_clear_error();
		}
	assert_int_equal(lb_counters.created - lb_counters.freed, live);
	assert_int_equal(lb_active_memory(), bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(several_results),
		TEST(dtypes),
		TEST(hessian_times_a_vector),
		TEST(transformations),
		TEST(linear_in_the_cotangent),
		TEST(errors),
		TEST(leaks),
	};
	return cmocka_run_group_tests_name("jvp", tests, NULL, NULL);
}
