/* The gradient of every operation against central differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grad/rule.h"
#include "grad_check.h"
#include "matrices.h"
#include "probe.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof(array)[0]))
#define CHECK(cases) assert_true(grad_check_all(cases, LENGTH(cases)))

/* A function of the inputs a, b, c, d. */
#define FN(name, ...) \
	static lb_tensor *name(lb_tensor *const *in) \
	{ \
		lb_tensor *a = in[0], *b = in[1], *c = in[2]; \
		(void)a, (void)b, (void)c; \
		return __VA_ARGS__; \
	}

/* ---- elementwise ---- */

FN(f_negative, lb_negative(a))
FN(f_abs, lb_abs(a))
FN(f_exp, lb_exp(a))
FN(f_log, lb_log(a))
FN(f_sqrt, lb_sqrt(a))
FN(f_rsqrt, lb_rsqrt(a))
FN(f_sin, lb_sin(a))
FN(f_cos, lb_cos(a))
FN(f_tanh, lb_tanh(a))
FN(f_sigmoid, lb_sigmoid(a))
FN(f_erf, lb_erf(a))
FN(f_square, lb_square(a))
FN(f_tan, lb_tan(a))
FN(f_arcsin, lb_arcsin(a))
FN(f_arccos, lb_arccos(a))
FN(f_arctan, lb_arctan(a))
FN(f_sinh, lb_sinh(a))
FN(f_cosh, lb_cosh(a))
FN(f_arcsinh, lb_arcsinh(a))
FN(f_arccosh, lb_arccosh(a))
FN(f_arctanh, lb_arctanh(a))
FN(f_expm1, lb_expm1(a))
FN(f_log1p, lb_log1p(a))
FN(f_log2, lb_log2(a))
FN(f_log10, lb_log10(a))
FN(f_erfinv, lb_erfinv(a))
FN(f_reciprocal, lb_reciprocal(a))
FN(f_degrees, lb_degrees(a))
FN(f_nan_to_num, lb_square(lb_nan_to_num(a, 0, NAN, NAN)))
FN(f_sign, lb_multiply(lb_sign(a), a))
FN(f_astype, lb_astype(lb_astype(lb_multiply(a, a), LB_F64), LB_F64))
FN(f_silu, lb_silu(a))
FN(f_gelu, lb_gelu(a))
FN(f_gelu_tanh, lb_gelu_tanh(a))
FN(f_floor, lb_multiply(lb_floor(a), a))
FN(f_ceil, lb_multiply(lb_ceil(a), a))
FN(f_round, lb_multiply(lb_round(a), a))

#define UNARY(name, low, high) \
	{ #name, f_##name, "5", low, high, true }, { #name, f_##name, "2,3", low, high, true }, \
	    { #name, f_##name, "", low, high, true }, \
	{ \
		#name, f_##name, "2,1,3", low, high, false \
	}

static void unary(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		UNARY(negative, -2, 2),
		UNARY(abs, -2, 2),
		UNARY(exp, -2, 2),
		UNARY(log, 0.3, 3),
		UNARY(sqrt, 0.3, 3),
		UNARY(rsqrt, 0.3, 3),
		UNARY(sin, -3, 3),
		UNARY(cos, -3, 3),
		UNARY(tanh, -2, 2),
		UNARY(sigmoid, -3, 3),
		UNARY(erf, -2, 2),
		UNARY(square, -2, 2),
		UNARY(silu, -3, 3),
		UNARY(gelu, -3, 3),
		UNARY(gelu_tanh, -3, 3),
		UNARY(astype, -2, 2),
		UNARY(floor, -3, 3),
		UNARY(ceil, -3, 3),
		UNARY(round, -3, 3),
		UNARY(tan, -1, 1),
		UNARY(arcsin, -0.8, 0.8),
		UNARY(arccos, -0.8, 0.8),
		UNARY(arctan, -2, 2),
		UNARY(sinh, -2, 2),
		UNARY(cosh, -2, 2),
		UNARY(arcsinh, -2, 2),
		UNARY(arccosh, 1.3, 4),
		UNARY(arctanh, -0.8, 0.8),
		UNARY(expm1, -2, 2),
		UNARY(log1p, -0.6, 3),
		UNARY(log2, 0.3, 3),
		UNARY(log10, 0.3, 3),
		UNARY(erfinv, -0.8, 0.8),
		UNARY(sign, -3, 3),
		{ "divide reciprocal", f_reciprocal, "2,3", 0.5, 2, true },
		{ "multiply degrees", f_degrees, "2,3", -2, 2, true },
		{ "where nan_to_num", f_nan_to_num, "2,3", -2, 2, true },
	};
	CHECK(cases);
}

FN(f_add, lb_add(a, b))
FN(f_subtract, lb_subtract(a, b))
FN(f_multiply, lb_multiply(a, b))
FN(f_divide, lb_divide(a, b))
FN(f_power, lb_power(a, b))
FN(f_power_3, lb_power(a, lb_scalar_int(3)))
FN(f_power_half, lb_power(lb_square(a), lb_scalar(-0.5)))
FN(f_power_base, lb_power(lb_scalar(2), a))
FN(f_maximum, lb_maximum(a, b))
FN(f_minimum, lb_minimum(a, b))
FN(f_remainder, lb_remainder(a, b))
FN(f_logaddexp, lb_logaddexp(a, b))
FN(f_arctan2, lb_arctan2(a, b))
FN(f_floor_divide, lb_multiply(lb_floor_divide(a, b), a))
FN(f_where, lb_where(lb_greater(a, b), lb_sin(a), lb_multiply(a, b)))
FN(f_clip, lb_clip(a, b, c))
FN(f_clip_low, lb_clip(a, lb_scalar(1.1), NULL))
FN(f_scalars, lb_add(lb_multiply(a, lb_scalar(3)), lb_scalar_int(2)))
FN(f_shared, lb_multiply(lb_add(a, b), lb_add(b, lb_multiply(a, a))))

#define BINARY(name, low, high) \
	{ #name, f_##name, "2,3;2,3", low, high, true }, { #name, f_##name, "2,3;3", low, high, false }, \
	    { #name, f_##name, "2,1;1,3", low, high, true }, { #name, f_##name, ";4", low, high, false }, \
	{ \
		#name, f_##name, "3;2,2,1", low, high, false \
	}

static void binary(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		BINARY(add, -2, 2),
		BINARY(subtract, -2, 2),
		BINARY(multiply, -2, 2),
		BINARY(divide, 0.5, 2),
		BINARY(power, 0.5, 2),
		BINARY(maximum, -2, 2),
		BINARY(minimum, -2, 2),
		BINARY(remainder, 0.7, 5),
		BINARY(logaddexp, -2, 2),
		BINARY(arctan2, 0.3, 2),
		BINARY(floor_divide, 0.7, 5),
		BINARY(where, -2, 2),
		BINARY(shared, -2, 2),
		{ "power 3", f_power_3, "2,3", -2, 2, true },
		{ "power -0.5", f_power_half, "2,3", 0.5, 2, true },
		{ "power 2^", f_power_base, "2,3", -2, 2, true },
		{ "clip", f_clip, "4;4;4", 0, 2, true },
		{ "clip", f_clip, "3,4;4;1", 0, 2, false },
		{ "clip", f_clip, "3,4;;", 0, 2, false },
		{ "clip low", f_clip_low, "3,4", 0, 2, false },
		{ "scalars", f_scalars, "3,2", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- views ---- */

FN(f_reshape, lb_reshape(a, LB_SHAPE(3, -1)))
FN(f_transpose, lb_transpose(a, LB_ALL_AXES))
FN(f_transpose_120, lb_transpose(a, LB_AXES(1, 2, 0)))
FN(f_slice, lb_slice(a, LB_RANGE(1, 3), LB_RANGE(LB_END, 0, -2)))
FN(f_slice_at, lb_slice(a, LB_AT(-1), LB_NEW_AXIS, LB_FROM(1)))
FN(f_slice_of_transposed, lb_slice(lb_transpose(lb_exp(a), LB_ALL_AXES), LB_FROM(1), LB_TO(2)))
FN(f_slice_of_broadcast, lb_slice(lb_broadcast_to(a, LB_SHAPE(4, 3)), LB_RANGE(0, 4, 3), LB_FROM(1)))
FN(f_broadcast, lb_broadcast_to(a, LB_SHAPE(2, 4, 3)))
FN(f_expand, lb_multiply(lb_expand_dims(a, LB_AXES(0, -1)), lb_scalar(2)))
FN(f_squeeze, lb_squeeze(a, LB_ALL_AXES))
FN(f_flatten, lb_flatten(lb_transpose(a, LB_ALL_AXES), 0, -1))
FN(f_as_strided, lb_as_strided(a, LB_SHAPE(3, 3), LB_STRIDES(1, 2), 1))
FN(f_windows,
   lb_transpose(lb_slice(lb_as_strided(lb_exp(a), LB_SHAPE(4, 3), LB_STRIDES(1, 1), 0), LB_FROM(1)), LB_ALL_AXES))
FN(f_contiguous, lb_multiply(lb_contiguous(lb_transpose(a, LB_ALL_AXES)), lb_scalar(2)))
FN(f_square_transposed, lb_multiply(lb_transpose(lb_broadcast_to(a, LB_SHAPE(3, 3)), LB_ALL_AXES),
				    lb_broadcast_to(lb_exp(a), LB_SHAPE(3, 3))))

static lb_tensor *f_split(lb_tensor *const *in)
{
	lb_tensor *p[3];
	return lb_split(lb_exp(in[0]), 3, -1, p) ? lb_add(lb_multiply(p[0], p[1]), lb_sin(p[2])) : NULL;
}

static void views(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "reshape", f_reshape, "2,3", -1, 1, true },
		{ "reshape", f_reshape, "6,2,1", -1, 1, false },
		{ "transpose", f_transpose, "2,3", -1, 1, true },
		{ "transpose", f_transpose, "3,1,2", -1, 1, false },
		{ "transpose", f_transpose_120, "2,3,4", -1, 1, false },
		{ "transpose", f_transpose_120, "2,2,2", -1, 1, true },
		{ "slice", f_slice, "4,5", -1, 1, true },
		{ "slice", f_slice, "3,4", -1, 1, false },
		{ "slice", f_slice, "3,4,2", -1, 1, false },
		{ "slice at", f_slice_at, "3,4", -1, 1, true },
		{ "slice at", f_slice_at, "2,2,3", -1, 1, false },
		{ "slice of transposed", f_slice_of_transposed, "3,4", -1, 1, true },
		{ "slice of broadcast", f_slice_of_broadcast, "3", -1, 1, false },
		{ "slice of broadcast", f_slice_of_broadcast, "4,1", -1, 1, false },
		{ "slice split", f_split, "2,6", -1, 1, true },
		{ "slice split", f_split, "3", -1, 1, false },
		{ "broadcast_to", f_broadcast, "3", -1, 1, true },
		{ "broadcast_to", f_broadcast, "4,1", -1, 1, false },
		{ "broadcast_to", f_broadcast, "", -1, 1, false },
		{ "expand_dims", f_expand, "2,3", -1, 1, true },
		{ "expand_dims", f_expand, "", -1, 1, false },
		{ "squeeze", f_squeeze, "1,3,1", -1, 1, true },
		{ "squeeze", f_squeeze, "2,1", -1, 1, false },
		{ "flatten", f_flatten, "2,3", -1, 1, true },
		{ "flatten", f_flatten, "2,1,2", -1, 1, false },
		{ "as_strided", f_as_strided, "8", -1, 1, true },
		{ "as_strided", f_as_strided, "2,4", -1, 1, false },
		{ "as_strided windows", f_windows, "6", -1, 1, true },
		{ "contiguous", f_contiguous, "2,3", -1, 1, true },
		{ "contiguous", f_contiguous, "4", -1, 1, false },
		{ "transpose of broadcast", f_square_transposed, "3", -1, 1, true },
		{ "transpose of broadcast", f_square_transposed, "3,1", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- reductions ---- */

#define REDUCTIONS(name) \
	FN(f_##name, lb_##name(a, LB_ALL_AXES, false)) \
	FN(f_##name##_0, lb_##name(a, LB_AXES(0), true)) \
	FN(f_##name##_1, lb_##name(a, LB_AXES(-1), false))
REDUCTIONS(sum)
REDUCTIONS(mean)
REDUCTIONS(max)
REDUCTIONS(min)
REDUCTIONS(prod)
REDUCTIONS(logsumexp)
FN(f_var, lb_var(a, LB_ALL_AXES, false, 0))
FN(f_var_0, lb_var(a, LB_AXES(0), true, 1))
FN(f_var_1, lb_var(a, LB_AXES(-1), false, 0))
FN(f_std, lb_std(a, LB_AXES(-1), false, 0))
FN(f_median, lb_median(a, LB_AXES(-1), false))
FN(f_unique, lb_unique(a, 4, NULL).values)
FN(f_unique_more, lb_multiply(lb_unique(a, 9, lb_scalar(3)).values, lb_arange(1, 10, 1, LB_F32)))
FN(f_diff, lb_diff(lb_square(a), 2, -1))
FN(f_cross_entropy, lb_cross_entropy(a, lb_from_data((int32_t[]){ 2, 0 }, 8, LB_SHAPE(2), LB_I32)))
FN(f_trace, lb_trace(lb_square(a), 1, 0, 1))
FN(f_cummax, lb_cummax(a, -1, false, true))
FN(f_cummax_back, lb_cummax(a, 0, true, true))
FN(f_cummin, lb_slice(lb_cummin(a, 0, false, false), LB_FROM(1)))
FN(f_cummin_back, lb_slice(lb_cummin(a, -1, true, false), LB_REST, LB_TO(-1)))
FN(f_cumprod, lb_cumprod(a, -1, false, true))
FN(f_cumprod_back, lb_cumprod(a, 0, true, false))
FN(f_logcumsumexp, lb_logcumsumexp(a, -1, false, true))
FN(f_logcumsumexp_back, lb_logcumsumexp(a, 0, true, true))
FN(f_logcumsumexp_before, lb_slice(lb_logcumsumexp(a, -1, false, false), LB_REST, LB_FROM(1)))
FN(f_softmax, lb_softmax(a, LB_AXES(-1)))
FN(f_softmax_all, lb_softmax(a, LB_ALL_AXES))
FN(f_softmax_0, lb_softmax(a, LB_AXES(0)))
FN(f_cumsum, lb_cumsum(a, 0, false, true))
FN(f_cumsum_back, lb_cumsum(a, -1, true, false))
FN(f_scan, lb_scan(a, LB_SCAN_SUM, 0, false, true))
FN(f_scan_back, lb_scan(a, LB_SCAN_SUM, -1, true, false))

struct scanned {
	lb_scan_kind kind;
	const float *x, *g;
};

static bool scanned(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct scanned *of = context;
	lb_tensor *g = lb_from_data(of->g, 3 * sizeof *of->g, LB_SHAPE(3), LB_F32);

	(void)n_in, (void)n_out;
	*out = lb_sum(lb_multiply(lb_scan(in[0], of->kind, 0, false, true), g), LB_ALL_AXES, false);
	return *out;
}

/* What no result uses does not count; NaN goes where it is used. */
static void scans_beyond_numbers(void **state)
{
	static const float large[] = { 1e20f, 1e20f, 2 }, nan[] = { 1, NAN, 2 }, first[] = { 1, 0, 0 },
			   all[] = { 1, 1, 1 };
	static const struct {
		struct scanned of;
		float wanted[3];
	} cases[] = {
		{ { LB_SCAN_PROD, large, first }, { 1, 0, 0 } },
		{ { LB_SCAN_MAX, nan, all }, { 1, 2, 0 } },
		{ { LB_SCAN_MIN, nan, all }, { 1, 2, 0 } },
		{ { LB_SCAN_LOGADDEXP, nan, all }, { NAN, NAN, NAN } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		LB_SCOPE {
			lb_tensor *x = lb_from_data(cases[i].of.x, 3 * sizeof(float), LB_SHAPE(3), LB_F32), *grad;
			float got[3];
			assert_true(lb_grad(scanned, (void *)&cases[i].of, 1, &x, &grad) &&
				    lb_copy_out(grad, got, sizeof got));
			for (int k = 0; k < 3; k++)
				assert_true(isnan(cases[i].wanted[k]) ? isnan(got[k]) : got[k] == cases[i].wanted[k]);
		}
}

/* Lines of 3 numbers, of which some do not deviate, or of which none is left to divide by. */
struct spread {
	bool root; /* lb_std() */
	int ddof;
	double x[6];
	double gradient[6],
	    second[6]; /* the gradient of all results' sum; the Hessian by the first number of each line */
};

static bool spread_of(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct spread *of = context;

	(void)n_in, (void)n_out;
	lb_list axes = lb_rank(in[0]) == 2 ? LB_AXES(-1) : LB_AXES(); /* of a vector along none */
	*out = of->root ? lb_std(in[0], axes, false, of->ddof) : lb_var(in[0], axes, false, of->ddof);
	return *out;
}

static bool gradient_of_spread(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *y, *ones = lb_ones(LB_SHAPE(2), lb_dtype_of(in[0]));

	(void)n_out;
	return lb_vjp(spread_of, context, n_in, in, 1, &ones, &y, out);
}

static void are(int n, const double *wanted, lb_dtype dtype, lb_tensor *x)
{
	double got[6], room = dtype == LB_BF16  ? 0x1p-7
			      : dtype == LB_F16 ? 0x1p-10
			      : dtype == LB_F32 ? 0x1p-20
						: 0x1p-49;

	assert_int_equal(lb_dtype_of(x), dtype);
	assert_true(lb_copy_out(lb_astype(x, LB_F64), got, (size_t)n * sizeof *got));
	for (int i = 0; i < n; i++) {
		if (isnan(wanted[i]) ? !isnan(got[i]) : !(fabs(got[i] - wanted[i]) <= room))
			fail_msg("%s: at %d %.12g, expected %.12g", lb_dtype_name(dtype), i, got[i], wanted[i]);
	}
}

/* Of 1, 2, 4, whose mean is 7/3, the deviations d are -4/3, -1/3 and 5/3, and the sum of their squares is 14/3. With
 * N = 3 - ddof and s = sqrt(14 / 3 / N) the gradient of s is d[i] / (N s), and its derivative by the first number
 * ((i == 0) - 1/3) / (N s) - d[i] d[0] / (N^2 s^3). Where s is 0, or N is not above 0, there is none: NaN, as MLX has it. */
static void spreads(void **state)
{
	double a = 3 * sqrt(14), b = 2 * sqrt(21), c = 7 * sqrt(14), d = 14 * sqrt(7.0 / 3);
	const struct spread cases[] = {
		{ true,
		  0,
		  { 1, 2, 4, 2, 2, 2 },
		  { -4 / a, -1 / a, 5 / a, NAN, NAN, NAN },
		  { 2 / c, -3 / c, 1 / c, NAN, NAN, NAN } },
		{ true,
		  1,
		  { 1, 2, 4, 2, 2, 2 },
		  { -4 / b, -1 / b, 5 / b, NAN, NAN, NAN },
		  { 2 / d, -3 / d, 1 / d, NAN, NAN, NAN } },
		/* whose mean, if it were taken in halves, might be another number */
		{ true,
		  0,
		  { 0.1f, 0.1f, 0.1f, 4, 2, 1 },
		  { NAN, NAN, NAN, 5 / a, -1 / a, -4 / a },
		  { NAN, NAN, NAN, 0.5 / c, -1.5 / c, 1 / c } },
		{ true, 3, { 1, 2, 4, 2, 2, 2 }, { NAN, NAN, NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN, NAN, NAN } },
		{ true, 4, { 1, 2, 4, 2, 2, 2 }, { NAN, NAN, NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN, NAN, NAN } },
		{ false,
		  0,
		  { 1, 2, 4, 2, 2, 2 },
		  { -8 / 9.0, -2 / 9.0, 10 / 9.0, 0, 0, 0 },
		  { 4 / 9.0, -2 / 9.0, -2 / 9.0, 4 / 9.0, -2 / 9.0, -2 / 9.0 } },
		{ false,
		  1,
		  { 1, 2, 4, 2, 2, 2 },
		  { -4 / 3.0, -1 / 3.0, 5 / 3.0, 0, 0, 0 },
		  { 2 / 3.0, -1 / 3.0, -1 / 3.0, 2 / 3.0, -1 / 3.0, -1 / 3.0 } },
		{ false, 3, { 1, 2, 4, 2, 2, 2 }, { NAN, NAN, NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN, NAN, NAN } },
		{ false, 4, { 1, 2, 4, 2, 2, 2 }, { NAN, NAN, NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN, NAN, NAN } },
	};
	static const lb_dtype dtypes[] = { LB_F16, LB_BF16, LB_F32, LB_F64 };
	static const double first[] = { 1, 0, 0, 1, 0, 0 };

	(void)state;
	for (int i = 0; i < LENGTH(cases) * LENGTH(dtypes); i++)
		LB_SCOPE {
			struct spread of = cases[i / LENGTH(dtypes)];
			lb_dtype dtype = dtypes[i % LENGTH(dtypes)];
			lb_tensor *x = lb_astype(lb_from_data(of.x, sizeof of.x, LB_SHAPE(2, 3), LB_F64), dtype), *y,
				  *got;
			lb_tensor *v = lb_from_data(first, sizeof first, LB_SHAPE(2, 3), LB_F64);
			assert_true(gradient_of_spread(&of, 1, &x, 1, &got));
			are(6, of.gradient, dtype, got);
			assert_true(lb_jvp(spread_of, &of, 1, &x, &v, 1, &y, &got));
			are(2, (double[]){ of.gradient[0], of.gradient[3] }, dtype, got);
			assert_true(lb_jvp(gradient_of_spread, &of, 1, &x, &v, 1, &y, &got));
			are(6, of.second, dtype, got);
			assert_true(lb_vjp(gradient_of_spread, &of, 1, &x, 1, &v, &y, &got));
			are(6, of.second, dtype, got);
		}
}

/* One number for itself: along an axis of one, and along no axes. */
static void spreads_of_one(void **state)
{
	static const struct {
		bool root;
		int ddof;
		double wanted;
	} cases[] = { { true, 0, NAN }, { true, 1, NAN }, { false, 0, 0 }, { false, 1, NAN } };

	(void)state;
	for (int i = 0; i < LENGTH(cases); i++)
		LB_SCOPE {
			struct spread of = { .root = cases[i].root, .ddof = cases[i].ddof };
			lb_tensor *x = lb_reshape(lb_arange(1, 3, 1, LB_F16), LB_SHAPE(2, 1)), *got;
			assert_true(gradient_of_spread(&of, 1, &x, 1, &got));
			are(2, (double[]){ cases[i].wanted, cases[i].wanted }, LB_F16, got);
			x = lb_arange(1, 3, 1, LB_F16);
			assert_true(gradient_of_spread(&of, 1, &x, 1, &got));
			are(2, (double[]){ cases[i].wanted, cases[i].wanted }, LB_F16, got);
		}
}

#define REDUCED(name) \
	{ #name, f_##name, "2,3", -2, 2, true }, { #name, f_##name, "4", -2, 2, false }, \
	    { #name, f_##name##_0, "3,2", -2, 2, true }, { #name, f_##name##_0, "2,2,3", -2, 2, false }, \
	    { #name, f_##name##_1, "3,2", -2, 2, false }, \
	{ \
		#name, f_##name##_1, "2,1,4", -2, 2, false \
	}

static void reductions(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		REDUCED(sum),
		REDUCED(mean),
		REDUCED(max),
		REDUCED(min),
		REDUCED(prod),
		REDUCED(logsumexp),
		REDUCED(var),
		{ "softmax", f_softmax, "2,3", -2, 2, true },
		{ "softmax", f_softmax, "5", -2, 2, true },
		{ "softmax", f_softmax_all, "2,3", -2, 2, false },
		{ "softmax", f_softmax_0, "3,2", -2, 2, false },
		{ "cumsum", f_cumsum, "4", -2, 2, true },
		{ "cumsum", f_cumsum, "3,2", -2, 2, false },
		{ "cumsum", f_cumsum_back, "2,4", -2, 2, true },
		{ "cumsum", f_cumsum_back, "4", -2, 2, false },
		{ "scan", f_scan, "4", -2, 2, true },
		{ "scan", f_scan, "3,2", -2, 2, false },
		{ "scan", f_scan_back, "2,4", -2, 2, true },
		{ "scan cummax", f_cummax, "2,5", -2, 2, false },
		{ "scan cummax", f_cummax_back, "5,2", -2, 2, false },
		{ "scan cummin", f_cummin, "5,2", -2, 2, false },
		{ "scan cummin", f_cummin_back, "2,5", -2, 2, false },
		{ "scan cumprod", f_cumprod, "2,5", -2, 2, true },
		{ "scan cumprod", f_cumprod_back, "5,2", -2, 2, true },
		{ "scan logcumsumexp", f_logcumsumexp, "2,5", -2, 2, false },
		{ "scan logcumsumexp", f_logcumsumexp, "4", -2, 2, false },
		{ "scan logcumsumexp", f_logcumsumexp_back, "5,2", -2, 2, false },
		{ "scan logcumsumexp", f_logcumsumexp_before, "2,5", -2, 2, false },
		{ "var std", f_std, "3,4", -2, 2, true },
		{ "sort median", f_median, "3,4", -2, 2, true },
		{ "sort median", f_median, "2,5", -2, 2, true },
		{ "put_along_axis unique", f_unique, "2,3", -2, 2, true },
		{ "put_along_axis unique", f_unique_more, "6", -2, 2, true },
		{ "subtract diff", f_diff, "2,5", -2, 2, true },
		{ "logsumexp cross_entropy", f_cross_entropy, "2,3", -2, 2, true },
		{ "sum trace", f_trace, "3,4", -2, 2, true },
	};
	CHECK(cases);
}

/* ---- products, joins, gathers ---- */

FN(f_matmul, lb_matmul(a, b))
FN(f_matmul_same, lb_matmul(a, lb_transpose(a, LB_ALL_AXES)))
FN(f_addmm, lb_addmm(c, a, b, 0.5, -2))
FN(f_linear, lb_linear(a, b, c))
FN(f_einsum, lb_einsum("bij,kj->bik", 2, in))
static lb_tensor *kept(int64_t rows, int64_t columns)
{
	static const uint8_t cells[] = { 1, 0, 1, 1, 1, 0 };
	return lb_from_data(cells, (size_t)(rows * columns), LB_SHAPE(rows, columns), LB_BOOL);
}

static lb_tensor *ranges(void)
{
	return lb_from_data((int32_t[]){ 0, 2, 1, 4, 3, 3 }, 24, LB_SHAPE(3, 2), LB_I32);
}

FN(f_block_masked_mm, lb_block_masked_mm(a, b, 2, kept(2, 1), kept(2, 2), NULL))
FN(f_block_masked_mm_b, lb_block_masked_mm(a, b, 2, NULL, NULL, kept(2, 1)))
FN(f_block_factors, lb_block_masked_mm(a, b, 2, c, kept(2, 2), NULL))
FN(f_segmented_mm, lb_segmented_mm(a, b, ranges()))
FN(f_segmented_none, lb_add(lb_sum(lb_segmented_mm(a, b, lb_zeros(LB_SHAPE(0, 2), LB_I32)), LB_ALL_AXES, false),
			    lb_sum(a, LB_ALL_AXES, false)))
FN(f_gather_mm, lb_gather_mm(a, b, lb_from_data((int32_t[]){ 1, 0, 1 }, 12, LB_SHAPE(3), LB_I32), NULL))
FN(f_block_masked,
   lb_block_masked_mm(a, b, 2, lb_slice(b, LB_RANGE(0, 2), LB_RANGE(0, 1)), lb_slice(a, LB_RANGE(0, 2), LB_RANGE(0, 2)),
		      lb_from_data((bool[]){ true, false }, 2, LB_SHAPE(2, 1), LB_BOOL)))
FN(f_hadamard, lb_square(lb_hadamard_transform(a, 0)))
FN(f_conv3d, lb_conv3d(a, b, ((lb_conv3d_options){ .padding = { 1 } })))
FN(f_conv_transpose3d,
   lb_conv_transpose3d(a, b, ((lb_conv3d_options){ { 2, 1, 1 }, { 1, 0, 0 }, { 1, 1, 1 }, 1 }), LB_SHAPE(1, 0, 0)))
FN(f_convolve, lb_convolve(a, b, LB_CONVOLVE_SAME))
FN(f_trunc, lb_multiply(lb_trunc(a), a))
FN(f_conv_transpose, lb_conv_transpose2d(a, b, ((lb_conv_options){ { 2, 1 }, { 1, 0 }, { 1, 1 }, 1 }), LB_SHAPE(1, 0)))
FN(f_concatenate, lb_square(lb_concatenate(2, in, 0)))
FN(f_tril, lb_tril(lb_square(a), 1))
FN(f_diag, lb_square(lb_diag(a, -1)))
FN(f_roll, lb_square(lb_roll(a, LB_AXES(1, -2), LB_AXES(0, 1))))
FN(f_repeat, lb_square(lb_repeat(a, 3, 0)))
FN(f_tile, lb_square(lb_tile(a, LB_SHAPE(2, 1, 2))))
FN(f_pad_edge, lb_square(lb_pad_edge(a, LB_SHAPE(1, 0), LB_SHAPE(2, 1))))
FN(f_tensordot, lb_tensordot(a, b, LB_AXES(1), LB_AXES(0)))
FN(f_inner, lb_inner(a, b))
FN(f_outer, lb_outer(a, b))
FN(f_kron, lb_kron(a, b))
FN(f_concatenate_last, lb_concatenate(3, in, -1))
FN(f_stack, lb_stack(2, in, 1))

static lb_tensor *indices(lb_list shape)
{
	static const int32_t values[] = { 2, 0, -1, 2, 1, 0, 2, 2 };
	int64_t n = 1;
	for (int i = 0; i < shape.n; i++)
		n *= shape.v[i];
	return lb_from_data(values, (size_t)n * 4, shape, LB_I32);
}

FN(f_take, lb_take(a, indices(LB_SHAPE(4)), 0))
FN(f_take_1, lb_take(lb_exp(a), indices(LB_SHAPE(2, 2)), 1))
FN(f_take_tied, lb_matmul(lb_take(a, indices(LB_SHAPE(4)), 0), lb_transpose(a, LB_ALL_AXES)))
FN(f_embedding, lb_embedding(a, indices(LB_SHAPE(2, 3))))
FN(f_take_along, lb_take_along_axis(a, indices(LB_SHAPE(2, 4)), 1))
FN(f_take_along_0, lb_take_along_axis(lb_sin(a), indices(LB_SHAPE(4, 2)), 0))
FN(f_sort, lb_sort(a, -1))
FN(f_sort_0, lb_sort(a, 0))
FN(f_topk, lb_topk(a, 2, -1))
FN(f_topk_all, lb_topk(a, 3, 0))
FN(f_pad, lb_pad(a, LB_SHAPE(1, 0), LB_SHAPE(0, 2), 5))
FN(f_pad_low, lb_pad(a, LB_SHAPE(2), LB_SHAPE(), 1))
FN(f_rope, lb_rope(a, 4, false, 100, 1.5, 2))
FN(f_rope_traditional, lb_rope(a, 2, true, 10, 1, 0))
FN(f_slice_update, lb_slice_update(a, b, LB_RANGE(0, 4, 2), LB_REVERSED))
FN(f_slice_update_at, lb_slice_update(lb_exp(a), b, LB_ALL, LB_AT(1)))
FN(f_slice_add, lb_slice_add(a, b, LB_FROM(1), LB_RANGE(2, 0, -1)))
FN(f_strided_add, lb_strided_add(a, b, LB_STRIDES(1, 2), 1))
FN(f_scatter_add, lb_scatter_add(a, indices(LB_SHAPE(4)), b, 0))
FN(f_put_along, lb_put_along_axis(a, indices(LB_SHAPE(4, 2)), b, 0, LB_PUT_ASSIGN))
FN(f_put_along_add, lb_put_along_axis(a, indices(LB_SHAPE(1, 4)), b, 1, LB_PUT_ADD))
FN(f_depends, lb_depends(lb_sin(a), 1, (lb_tensor *[]){ lb_cos(a) }))

static void products(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "matmul", f_matmul, "2,3;3,2", -1, 1, true },
		{ "matmul", f_matmul, "3;3", -1, 1, true },
		{ "matmul", f_matmul, "3;3,2", -1, 1, false },
		{ "matmul", f_matmul, "2,3;3", -1, 1, false },
		{ "matmul", f_matmul, "2,2,3;3,2", -1, 1, true },
		{ "matmul", f_matmul, "2,2,3;2,3,1", -1, 1, false },
		{ "matmul", f_matmul, "2,1,2,3;3,3,2", -1, 1, false },
		{ "matmul", f_matmul, "2,3;2,3,2", -1, 1, false },
		{ "matmul", f_matmul, "3;2,3,2", -1, 1, false },
		{ "matmul", f_matmul, "2,2,3;3", -1, 1, false },
		{ "matmul same", f_matmul_same, "2,3", -1, 1, true },
		{ "addmm", f_addmm, "2,3;3,2;2,2", -1, 1, true },
		{ "addmm", f_addmm, "2,2,3;3,2;2", -1, 1, false },
		{ "addmm", f_addmm, "3;3,2;1", -1, 1, false },
		{ "addmm", f_addmm, "3;3;", -1, 1, false },
		{ "addmm linear", f_linear, "2,2,3;4,3;4", -1, 1, true },
		{ "matmul einsum", f_einsum, "2,2,3;4,3", -1, 1, false },
		{ "block_masked_mm", f_block_masked_mm, "3,4;4,2", -1, 1, true },
		{ "block_masked_mm", f_block_masked_mm, "2,3,4;4,2", -1, 1, false },
		{ "block_masked_mm", f_block_masked_mm_b, "3,4;4,2", -1, 1, true },
		{ "block_masked_mm", f_block_factors, "3,4;4,2;2,1", -1, 1, true },
		{ "segmented_mm", f_segmented_mm, "2,4;4,3", -1, 1, true },
		{ "segmented_mm", f_segmented_none, "2,4;4,3", -1, 1, false },
		{ "matmul gather_mm", f_gather_mm, "2,2,3;3,2", -1, 1, true },
		{ "matmul block_masked_mm", f_block_masked, "3,4;4,2", -1, 1, true },
		{ "add hadamard_transform", f_hadamard, "2,4", -1, 1, true },
		{ "conv2d conv3d", f_conv3d, "1,2,2,3,1;1,2,1,2,1", -1, 1, true },
		{ "slice_add conv_transpose3d", f_conv_transpose3d, "1,2,2,1,1;2,3,1,2,1", -1, 1, true },
		{ "conv2d convolve", f_convolve, "5;2", -1, 1, true },
		{ "where trunc", f_trunc, "2,3", -3, 3, true },
		{ "conv2d_input_grad conv_transpose", f_conv_transpose, "1,2,2,1;2,2,2,1", -1, 1, true },
		{ "where tril", f_tril, "3,3", -1, 1, true },
		{ "where diag", f_diag, "3", -1, 1, true },
		{ "as_strided diag", f_diag, "3,3", -1, 1, true },
		{ "concatenate roll", f_roll, "3,4", -1, 1, true },
		{ "broadcast_to repeat", f_repeat, "3,2", -1, 1, true },
		{ "broadcast_to tile", f_tile, "3,2", -1, 1, true },
		{ "concatenate pad_edge", f_pad_edge, "3,2", -1, 1, true },
		{ "matmul tensordot", f_tensordot, "2,3;3,2", -1, 1, true },
		{ "matmul inner", f_inner, "2,3;4,3", -1, 1, true },
		{ "multiply outer", f_outer, "2;3", -1, 1, true },
		{ "multiply kron", f_kron, "2,2;3", -1, 1, true },
		{ "concatenate", f_concatenate, "2,3;1,3", -1, 1, true },
		{ "concatenate", f_concatenate, "2;3", -1, 1, false },
		{ "concatenate", f_concatenate_last, "2,1;2,2;2,1", -1, 1, false },
		{ "concatenate stack", f_stack, "2,3;2,3", -1, 1, false },
		{ "rope", f_rope, "3,4", -1, 1, true },
		{ "rope", f_rope, "2,2,5", -1, 1, false },
		{ "rope traditional", f_rope_traditional, "3,4", -1, 1, false },
	};
	CHECK(cases);
}

/* ---- linear algebra ---- */

static lb_tensor *of_eigh(lb_tensor *a, bool upper)
{
	lb_tensor *w, *v;
	if (!lb_eigh(spread(a), upper, &w, &v))
		return NULL;
	return lb_add(lb_square(v), lb_expand_dims(lb_sin(w), LB_AXES(-1)));
}

static lb_tensor *logabs(lb_tensor *a)
{
	lb_tensor *sign, *of;
	return lb_slogdet(apart(a), &sign, &of) ? lb_add(lb_multiply(sign, lb_scalar(2)), of) : NULL;
}

FN(f_inv, lb_inv(apart(a)))
FN(f_tri_inv, lb_tri_inv(apart(a), false))
FN(f_tri_inv_upper, lb_tri_inv(apart(a), true))
FN(f_cholesky, lb_cholesky(positive(a), false))
FN(f_cholesky_upper, lb_cholesky(positive(a), true))
FN(f_cholesky_inv, lb_cholesky_inv(apart(a), true))
FN(f_eigh, of_eigh(a, false))
FN(f_eigh_upper, of_eigh(a, true))
FN(f_eigvalsh, lb_sin(lb_eigvalsh(spread(a), false)))
FN(f_eigvalsh_upper, lb_sin(lb_eigvalsh(spread(a), true)))
FN(f_det, lb_det(apart(a)))
FN(f_slogdet, logabs(a))
FN(f_solve, lb_solve(apart(a), b))
FN(f_solve_triangular, lb_solve_triangular(apart(a), b, false))
FN(f_solve_triangular_upper, lb_solve_triangular(apart(a), b, true))
FN(f_norm, lb_norm(a, LB_AXES(-1), false))
FN(f_vector_norm, lb_vector_norm(a, 3, -1, false))
FN(f_matrix_norm, lb_matrix_norm(a, 1, 0, 1, false))
FN(f_cross, lb_cross(a, b, -1))

static bool of_qr(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *q, *r;
	(void)context, (void)n, (void)n_out;
	out[0] = lb_qr(in[0], &q, &r) ? lb_sum(r, LB_ALL_AXES, false) : NULL;
	return out[0] != NULL;
}

static bool of_svd(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n, (void)n_out;
	out[0] = lb_sum(lb_svdvals(in[0]), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static bool of_lu(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *lu, *swaps;
	(void)context, (void)n, (void)n_out;
	out[0] = lb_lu_factor(in[0], &lu, &swaps) ? lb_sum(lu, LB_ALL_AXES, false) : NULL;
	return out[0] != NULL;
}

static bool of_eigvals(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n, (void)n_out;
	out[0] = lb_sum(lb_abs(lb_eigvals(in[0])), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static void linear_algebra(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "inv", f_inv, "3,3", -1, 1, true },
		{ "inv", f_inv, "2,2,2", -1, 1, false },
		{ "tri_inv", f_tri_inv, "3,3", -1, 1, true },
		{ "tri_inv", f_tri_inv_upper, "2,2,2", -1, 1, false },
		{ "cholesky", f_cholesky, "3,3", -1, 1, true },
		{ "cholesky", f_cholesky_upper, "2,3,3", -1, 1, false },
		{ "tri_inv cholesky_inv", f_cholesky_inv, "3,3", -1, 1, true },
		{ "eigh", f_eigh, "3,3", -1, 1, true },
		{ "eigh", f_eigh_upper, "2,3,3", -1, 1, false },
		{ "eigvalsh", f_eigvalsh, "3,3", -1, 1, true },
		{ "eigvalsh", f_eigvalsh_upper, "2,3,3", -1, 1, false },
		{ "det", f_det, "3,3", -1, 1, true },
		{ "det", f_det, "2,2,2", -1, 1, false },
		{ "slogdet", f_slogdet, "3,3", -1, 1, true },
		{ "slogdet", f_slogdet, "2,2,2", -1, 1, false },
		{ "solve", f_solve, "3,3;3,2", -1, 1, true },
		{ "solve", f_solve, "3,3;3", -1, 1, false },
		{ "solve", f_solve, "2,2,2;2,3", -1, 1, false },
		{ "solve", f_solve, "2,2;2,2,1", -1, 1, false },
		{ "solve_triangular", f_solve_triangular, "3,3;3,2", -1, 1, true },
		{ "solve_triangular", f_solve_triangular_upper, "2,2,2;2", -1, 1, false },
		{ "sqrt norm", f_norm, "2,3", 0.5, 2, true },
		{ "power vector_norm", f_vector_norm, "2,3", 0.5, 2, true },
		{ "max matrix_norm", f_matrix_norm, "2,3", 0.5, 2, false },
		{ "subtract cross", f_cross, "2,3;3", -1, 1, true },
		{ "subtract cross", f_cross, "2;2", -1, 1, false },
	};
	CHECK(cases);
	LB_SCOPE {
		lb_tensor *x = lb_random_normal(LB_SHAPE(3, 3), LB_F64, lb_key(1)), *value, *grad;
		assert_false(lb_value_and_grad(of_qr, NULL, 1, &x, 1, NULL, 1, &value, &grad));
		assert_true(error_has("qr gradient lb_eigh()"));
		assert_false(lb_value_and_grad(of_svd, NULL, 1, &x, 1, NULL, 1, &value, &grad));
		assert_true(error_has("svd gradient lb_eigh()"));
		assert_false(lb_value_and_grad(of_lu, NULL, 1, &x, 1, NULL, 1, &value, &grad));
		assert_true(error_has("lu gradient lb_solve()"));
		assert_false(lb_value_and_grad(of_eigvals, NULL, 1, &x, 1, NULL, 1, &value, &grad));
		assert_true(error_has("eig gradient lb_eigh()"));
	}
}

static void gathers(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "take", f_take, "3,2", -1, 1, true },
		{ "take", f_take, "3", -1, 1, false },
		{ "take", f_take_1, "2,3,2", -1, 1, true },
		{ "take", f_take_1, "1,4", -1, 1, false },
		{ "take tied", f_take_tied, "3,2", -1, 1, true },
		{ "take embedding", f_embedding, "3,4", -1, 1, false },
		{ "take_along_axis", f_take_along, "2,3", -1, 1, true },
		{ "take_along_axis", f_take_along, "1,3", -1, 1, false },
		{ "take_along_axis", f_take_along_0, "3,2", -1, 1, true },
		{ "take_along_axis", f_take_along_0, "3,1", -1, 1, false },
		{ "sort", f_sort, "2,4", -1, 1, true },
		{ "sort", f_sort, "5", -1, 1, false },
		{ "sort", f_sort_0, "4,2", -1, 1, false },
		{ "topk", f_topk, "2,4", -1, 1, true },
		{ "topk", f_topk, "5", -1, 1, false },
		{ "topk", f_topk_all, "3,2", -1, 1, false },
		{ "pad", f_pad, "2,3", -1, 1, true },
		{ "pad", f_pad, "1,1", -1, 1, false },
		{ "pad", f_pad_low, "4", -1, 1, false },
		{ "slice_update", f_slice_update, "4,3;2,3", -1, 1, true },
		{ "slice_update", f_slice_update, "4,3;3", -1, 1, false },
		{ "slice_update", f_slice_update_at, "2,3;2", -1, 1, true },
		{ "slice_add", f_slice_add, "3,4;2,2", -1, 1, true },
		{ "slice_add", f_slice_add, "3,4;", -1, 1, false },
		{ "strided_add", f_strided_add, "3,4;3,3", -1, 1, true },
		{ "strided_add", f_strided_add, "8;2,3", -1, 1, false },
		{ "scatter_add", f_scatter_add, "3,2;4,2", -1, 1, true },
		{ "scatter_add", f_scatter_add, "3;1", -1, 1, false },
		{ "put_along_axis", f_put_along, "3,2;4,2", -1, 1, true },
		{ "put_along_axis", f_put_along, "3,2;2", -1, 1, false },
		{ "put_along_axis add", f_put_along_add, "2,3;2,4", -1, 1, true },
		{ "depends", f_depends, "3", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- what models are made of ---- */

FN(f_layer_norm, lb_layer_norm(a, b, c, 1e-3))
FN(f_layer_norm_weight, lb_layer_norm(a, b, NULL, 0.1))
FN(f_layer_norm_bias, lb_layer_norm(a, NULL, b, 0.1))
FN(f_layer_norm_plain, lb_layer_norm(a, NULL, NULL, 0.1))
FN(f_rms_norm, lb_rms_norm(a, b, 1e-3))
FN(f_rms_norm_plain, lb_rms_norm(a, NULL, 0.1))
FN(f_attention, lb_attention(a, b, c, 0.7, false, NULL))
FN(f_attention_causal, lb_attention(a, b, c, 0.7, true, NULL))
FN(f_attention_mask, lb_attention(a, b, c, 1.3, true, in[3]))
FN(f_attention_bool, lb_attention(a, b, c, 0.7, false, lb_equal(lb_eye(2, 3, 1, LB_F64), lb_scalar(1))))
FN(f_attention_constant, lb_attention(a, b, c, 0.7, false, lb_eye(2, 3, 1, LB_F64)))
FN(f_attention_self, lb_attention(a, a, lb_sin(a), 0.7, true, NULL))
FN(f_conv2d, lb_conv2d(a, b, (lb_conv_options){ .padding = { 1, 0 } }))
FN(f_conv2d_all, lb_conv2d(a, b, (lb_conv_options){ { 2, 1 }, { 1, 1 }, { 1, 2 }, 2 }))
FN(f_conv1d, lb_conv1d(a, b, (lb_conv_options){ .stride = { 2 }, .padding = { 1 } }))

FN(f_layer_norm_grad, lb_layer_norm_grad(a, b, c, 0.1).x)
FN(f_layer_norm_grad_weight, lb_layer_norm_grad(a, b, c, 0.1).weight)
FN(f_layer_norm_grad_bias, lb_layer_norm_grad(a, b, c, 0.1).bias)
FN(f_rms_norm_grad, lb_rms_norm_grad(a, b, c, 0.1).x)
FN(f_attention_grad, lb_attention_grad(a, b, c, 0.7, true, NULL, in[3]).k)
FN(f_conv2d_input_grad, lb_conv2d_input_grad(LB_SHAPE(1, 3, 4, 2), a, b, (lb_conv_options){ .stride = { 1, 2 } }))
FN(f_conv2d_weight_grad, lb_conv2d_weight_grad(a, LB_SHAPE(2, 2, 2, 2), b, (lb_conv_options){ .stride = { 1, 2 } }))

static void models(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "layer_norm", f_layer_norm, "2,4;4;4", -1, 1, true },
		{ "layer_norm", f_layer_norm, "3;3;3", -1, 1, false },
		{ "layer_norm", f_layer_norm_weight, "2,2,3;3", -1, 1, true },
		{ "layer_norm", f_layer_norm_bias, "2,3;3", -1, 1, true },
		{ "layer_norm", f_layer_norm_plain, "2,3", -1, 1, true },
		{ "rms_norm", f_rms_norm, "2,4;4", -1, 1, true },
		{ "rms_norm", f_rms_norm, "2,2,3;3", -1, 1, false },
		{ "rms_norm", f_rms_norm_plain, "2,3", -1, 1, true },
		{ "attention", f_attention, "1,2,3,2;1,2,4,2;1,2,4,3", -1, 1, true },
		{ "attention grouped", f_attention, "2,4,2,2;2,2,3,2;2,2,3,2", -1, 1, false },
		{ "attention causal", f_attention_causal, "1,2,3,2;1,1,3,2;1,1,3,2", -1, 1, true },
		{ "attention causal", f_attention_causal, "1,1,2,3;1,1,4,3;1,1,4,2", -1, 1, false },
		{ "attention unseen", f_attention_causal, "1,1,4,2;1,1,2,2;1,1,2,2", -1, 1, true },
		{ "attention mask", f_attention_mask, "1,2,2,2;1,1,3,2;1,1,3,2;2,1,3", -1, 1, true },
		{ "attention bool", f_attention_bool, "1,2,2,2;1,2,3,2;1,2,3,2", -1, 1, true },
		{ "attention constant", f_attention_constant, "1,1,2,2;1,1,3,2;1,1,3,2", -1, 1, true },
		{ "attention self", f_attention_self, "1,2,3,2", -1, 1, true },
		{ "conv2d", f_conv2d, "1,3,4,2;2,2,2,2", -1, 1, true },
		{ "conv2d", f_conv2d, "2,2,2,1;1,1,2,1", -1, 1, false },
		{ "conv2d", f_conv2d_all, "1,4,4,2;2,2,2,1", -1, 1, true },
		{ "conv2d conv1d", f_conv1d, "2,4,2;3,2,2", -1, 1, true },
		{ "layer_norm_grad", f_layer_norm_grad, "2,3;3;2,3", -1, 1, true },
		{ "layer_norm_grad weight", f_layer_norm_grad_weight, "2,3;3;2,3", -1, 1, true },
		{ "layer_norm_grad bias", f_layer_norm_grad_bias, "2,3;3;2,3", -1, 1, false },
		{ "rms_norm_grad", f_rms_norm_grad, "2,3;3;2,3", -1, 1, true },
		{ "attention_grad", f_attention_grad, "1,2,3,2;1,1,3,2;1,1,3,2;1,2,3,2", -1, 1, false },
		{ "conv2d_input_grad", f_conv2d_input_grad, "2,2,2,2;1,2,2,2", -1, 1, true },
		{ "conv2d_weight_grad", f_conv2d_weight_grad, "1,3,4,2;1,2,2,2", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- what has no central differences: f16, bf16 and f32 only, or jumps ---- */

static lb_tensor *values(int64_t n, const double *v, lb_dtype dtype)
{
	return lb_astype(lb_from_data(v, (size_t)n * 8, LB_SHAPE(n), LB_F64), dtype);
}
#define VALUES(...) values(sizeof((double[]){ __VA_ARGS__ }) / 8, (double[]){ __VA_ARGS__ }, LB_F64)

static void same(lb_tensor *got, lb_tensor *expected)
{
	assert_non_null(got);
	assert_int_equal(lb_size(got), lb_size(expected));
	lb_tensor *a = lb_flatten(lb_astype(got, LB_F64), 0, -1), *b = lb_flatten(lb_astype(expected, LB_F64), 0, -1);
	lb_tensor *off = lb_max(lb_abs(lb_subtract(a, b)), LB_ALL_AXES, false);
	if (!(lb_item(off) <= 1e-5 * fmax(1, lb_item(lb_max(lb_abs(b), LB_ALL_AXES, false)))))
		fail_msg("off by %g: %s", lb_item(off), lb_error_message());
}

/* fn's context is a function of tensors alone. */
static bool sum_of(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *(*const *fn)(lb_tensor *const *) = context;
	(void)n, (void)n_out;
	out[0] = lb_sum((*fn)(in), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static lb_tensor *grad_of(lb_tensor *(*fn)(lb_tensor *const *), lb_tensor *a, lb_tensor *b)
{
	lb_tensor *grads[2] = { 0 };
	if (!lb_grad(sum_of, &fn, b ? 2 : 1, (lb_tensor *[]){ a, b }, grads))
		fail_msg("%s", lb_error_message());
	return grads[0];
}

#define FN1(name, ...) \
	static lb_tensor *name(lb_tensor *const *in) \
	{ \
		lb_tensor *a = in[0]; \
		return __VA_ARGS__; \
	}
FN1(g_max, lb_max(a, LB_ALL_AXES, false))
FN1(g_prod, lb_prod(a, LB_ALL_AXES, false))
FN1(g_power_0, lb_power(a, lb_scalar_int(0)))
FN1(g_power_1, lb_power(a, lb_scalar_int(1)))
FN1(g_power_2, lb_power(a, lb_scalar_int(2)))
FN1(g_abs, lb_abs(a))
FN1(g_steps, lb_add(lb_floor(a), lb_astype(lb_argmax(a, LB_ALL_AXES, false), LB_F64)))
FN1(g_compare, lb_multiply(a, lb_astype(lb_greater(a, lb_scalar(0)), LB_F64)))
FN1(g_int, lb_multiply(a, lb_astype(lb_astype(a, LB_I32), LB_F64)))
FN1(g_clip, lb_clip(a, lb_scalar(-1), lb_scalar(1)))
FN1(g_put, lb_put_along_axis(lb_zeros(LB_SHAPE(3), LB_F64), lb_ones(LB_SHAPE(2), LB_I32), a, 0, LB_PUT_ASSIGN))

static lb_tensor *g_maximum(lb_tensor *const *in)
{
	return lb_maximum(in[0], in[1]);
}

static lb_tensor *g_power(lb_tensor *const *in)
{
	return lb_power(in[1], in[0]);
}

static void corners(void **state)
{
	(void)state;
	LB_SCOPE {
		same(grad_of(g_max, VALUES(1, 3, 3, 2), NULL), VALUES(0, 0.5, 0.5, 0));
		same(grad_of(g_maximum, VALUES(1, 2, 3), VALUES(2, 2, 2)), VALUES(0, 0.5, 1));
		same(grad_of(g_prod, VALUES(2, 0, 3), NULL), VALUES(0, 6, 0));
		same(grad_of(g_prod, VALUES(0, 0, 3), NULL), VALUES(0, 0, 0));
		same(grad_of(g_prod, VALUES(2, 5, 3), NULL), VALUES(15, 6, 10));
		same(grad_of(g_power_0, VALUES(0, -2), NULL), VALUES(0, 0));
		same(grad_of(g_power_1, VALUES(0, -2), NULL), VALUES(1, 1));
		same(grad_of(g_power_2, VALUES(0, -2), NULL), VALUES(0, -4));
		same(grad_of(g_power, VALUES(2, 0.5), VALUES(0, 0)), VALUES(0, 0));
		same(grad_of(g_abs, VALUES(-2, 0, 3), NULL), VALUES(-1, 0, 1));
		same(grad_of(g_steps, VALUES(-2, 0.5), NULL), VALUES(0, 0));
		same(grad_of(g_compare, VALUES(-2, 0.5), NULL), VALUES(0, 1));
		same(grad_of(g_int, VALUES(-2.5, 3.5), NULL), VALUES(-2, 3));
		same(grad_of(g_clip, VALUES(-2, -1, 0, 1, 2), NULL), VALUES(0, 1, 1, 1, 0));
		same(grad_of(g_put, VALUES(4, 5), NULL), VALUES(0, 1));
	}
}

/* ---- quantisation ---- */

enum { ROWS = 4, K = 64 };

struct quantised {
	lb_quantized q;
	lb_quant how;
};

static bool dequantised(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct quantised *c = context;
	lb_quantized q = c->q;
	(void)n_out;
	if (c->how.mode == LB_QUANT_AFFINE) {
		q.scales = in[0];
		q.biases = n > 1 ? in[1] : q.biases;
	} else {
		q.global_scale = in[0];
	}
	out[0] = lb_dequantize(q, c->how, LB_F32);
	return out[0] != NULL;
}

static bool multiplied(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct quantised *c = context;
	(void)n, (void)n_out;
	out[0] = lb_quantized_matmul(in[0], c->q, c->how, lb_dim(in[0], -1) == K);
	return out[0] != NULL;
}

static bool multiplied_chosen(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct quantised *c = context;
	lb_tensor *left = lb_from_data((int32_t[]){ 1, 0, 1, 2 }, 16, LB_SHAPE(2, 2), LB_I32);
	lb_tensor *right = lb_from_data((int32_t[]){ 1, -2 }, 8, LB_SHAPE(2), LB_I32);
	(void)n, (void)n_out;
	out[0] = lb_gather_qmm(in[0], c->q, left, right, c->how, true);
	if (n_out == 2)
		out[1] = lb_gather_mm(in[0], lb_swapaxes(lb_dequantize(c->q, c->how, LB_F32), -1, -2), left, right);
	return out[0] && out[n_out - 1];
}

static bool quantised(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct quantised *c = context;
	(void)n, (void)n_out;
	out[0] = lb_dequantize(lb_quantize(in[0], c->how, NULL), c->how, LB_F32);
	return out[0] != NULL;
}

/* Of halves, which differences are too coarse for: the gradient is that of the product as it is. */
static bool in_steps(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n, (void)n_out;
	out[0] = context ? lb_matmul_in_steps(in[0], in[1]) : lb_matmul(in[0], in[1]);
	return out[0] != NULL;
}

static bool partitioned(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n, (void)n_out;
	out[0] = lb_partition(in[0], 1, 0);
	return out[0] != NULL;
}

static bool products_so_far(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const bool *is = context;
	(void)n, (void)n_out;
	out[0] = lb_sum(lb_cumprod(in[0], 0, is[0], is[1]), LB_ALL_AXES, false);
	return out[0] != NULL;
}

/* Of 2 0 3 0 5 the products to each, and those without it. */
static void factors_of_zero(void **state)
{
	(void)state;
	static const struct {
		bool is[2]; /* reverse, inclusive */
		double wanted[5];
	} cases[] = {
		{ { false, true }, { 1, 8, 0, 0, 0 } },
		{ { false, false }, { 1, 8, 0, 0, 0 } },
		{ { true, true }, { 0, 0, 0, 20, 1 } },
		{ { true, false }, { 0, 0, 0, 20, 1 } },
	};
	for (int i = 0; i < LENGTH(cases); i++)
		LB_SCOPE {
			lb_tensor *d, *x = lb_from_data((double[]){ 2, 0, 3, 0, 5 }, 40, LB_SHAPE(5), LB_F64);
			assert_true(lb_grad(products_so_far, (void *)(uintptr_t)cases[i].is, 1, &x, &d));
			assert_memory_equal(lb_data(d), cases[i].wanted, sizeof cases[i].wanted);
		}
}

static void steps(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { lb_random_normal(LB_SHAPE(2, 3, 4), LB_BF16, lb_key(1)),
				     lb_random_normal(LB_SHAPE(4, 5), LB_BF16, lb_key(2)) };
		lb_tensor *g = lb_random_normal(LB_SHAPE(2, 3, 5), LB_BF16, lb_key(3)), *out, *a[2], *b[2];
		assert_true(lb_vjp(in_steps, in, 2, in, 1, &g, &out, a));
		assert_true(lb_vjp(in_steps, NULL, 2, in, 1, &g, &out, b));
		for (int i = 0; i < 2; i++)
			assert_true(lb_item(lb_all(lb_equal(a[i], b[i]), LB_ALL_AXES, false)));
		grad_mark("matmul_in_steps");
		lb_tensor *x = lb_random_normal(LB_SHAPE(4), LB_F32, lb_key(4));
		assert_false(lb_vjp(partitioned, NULL, 1, &x, 1, &x, &out, a));
		assert_true(error_has("partition lb_sort()"));
	}
}

/* Linear in scales, biases, the global scale and x: the vector-Jacobian product by one of them, with
 * that itself, is the cotangent's product with the result (less the other's part). */
static void quantisation(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *w = lb_random_normal(LB_SHAPE(ROWS, K), LB_F32, lb_key(1)), *out, *d[2];
		lb_tensor *g = lb_random_normal(LB_SHAPE(ROWS, K), LB_F32, lb_key(2));
		struct quantised c = { .how = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 32 } };
		c.q = lb_quantize(w, c.how, NULL);
		assert_true(lb_vjp(dequantised, &c, 2, (lb_tensor *[]){ c.q.scales, c.q.biases }, 1, &g, &out, d));
		lb_tensor *groups = lb_sum(lb_reshape(g, LB_SHAPE(ROWS, 2, 32)), LB_AXES(-1), false);
		same(d[1], groups);
		lb_tensor *both = lb_add(lb_multiply(d[0], c.q.scales), lb_multiply(d[1], c.q.biases));
		same(both, lb_sum(lb_reshape(lb_multiply(g, out), LB_SHAPE(ROWS, 2, 32)), LB_AXES(-1), false));

		for (int turned = 0; turned < 2; turned++) {
			lb_tensor *x = lb_random_normal(turned ? LB_SHAPE(3, ROWS) : LB_SHAPE(3, K), LB_F32, lb_key(3));
			lb_tensor *y = lb_random_normal(turned ? LB_SHAPE(3, K) : LB_SHAPE(3, ROWS), LB_F32, lb_key(4));
			assert_true(lb_vjp(multiplied, &c, 1, &x, 1, &y, &out, d));
			lb_tensor *dense = lb_dequantize(c.q, c.how, LB_F32);
			same(d[0], lb_matmul(y, turned ? lb_transpose(dense, LB_ALL_AXES) : dense));
		}
		grad_mark("quantized_matmul");

		struct quantised two = { .q = lb_quantize(lb_random_normal(LB_SHAPE(2, ROWS, K), LB_F32, lb_key(6)),
							  c.how, NULL),
					 .how = c.how };
		lb_tensor *x = lb_random_normal(LB_SHAPE(3, 5, K), LB_F32, lb_key(7));
		lb_tensor *y = lb_random_normal(LB_SHAPE(2, 2, 5, ROWS), LB_F32, lb_key(8)), *outs[2];
		assert_true(lb_vjp(multiplied_chosen, &two, 1, &x, 2, (lb_tensor *[]){ y, NULL }, outs, &d[0]) &&
			    lb_vjp(multiplied_chosen, &two, 1, &x, 2, (lb_tensor *[]){ NULL, y }, outs, &d[1]));
		same(outs[0], outs[1]);
		same(d[0], d[1]);
		grad_mark("gather_qmm");

		c.how = (lb_quant){ .mode = LB_QUANT_NVFP4 };
		lb_tensor *global = lb_full(LB_SHAPE(), 3, LB_F32);
		c.q = lb_quantize(w, c.how, global);
		assert_true(lb_vjp(dequantised, &c, 1, &global, 1, &g, &out, d));
		same(lb_multiply(d[0], global), lb_sum(lb_multiply(g, out), LB_ALL_AXES, false));
		grad_mark("dequantize");

		for (int mode = LB_QUANT_AFFINE; mode <= LB_QUANT_NVFP4; mode++) {
			c.how = (lb_quant){ .mode = (lb_quant_mode)mode };
			assert_false(lb_vjp(quantised, &c, 1, &w, 1, &g, &out, d));
			assert_true(error_has("quantize lb_stop_gradient()"));
		}
	}
}

/* ---- complex numbers: gradients are by real and imaginary parts, as differences are ---- */

static lb_tensor *imaginary(lb_tensor *x)
{
	const float i[2] = { 0, 1 };
	return lb_multiply(x, lb_from_data(i, sizeof i, LB_SHAPE(), LB_C64));
}

/* The sum of y's parts, each times a number of its own. */
static lb_tensor *weighed(lb_tensor *y)
{
	lb_tensor *all[2] = { NULL };
	for (int i = 0; y && i < 2; i++) {
		lb_tensor *weight =
		    lb_random_normal((lb_list){ lb_rank(y), lb_shape(y) }, LB_F32, lb_key(5 + (uint64_t)i));
		all[i] = lb_sum(lb_multiply(weight, i ? lb_imag(y) : lb_real(y)), LB_ALL_AXES, false);
	}
	return lb_add(all[0], all[1]);
}

/* Of complex inputs. */
static bool of_complex(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *(*const *fn)(lb_tensor *const *) = context;
	lb_tensor *z[4] = { NULL };
	(void)n_out;
	for (int i = 0; i < n; i++)
		z[i] = in[i];
	out[0] = weighed((*fn)(z));
	return out[0] != NULL;
}

/* Of their real and imaginary parts. */
static bool of_parts(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *z[4];
	for (int i = 0; i < n / 2; i++)
		z[i] = lb_add(in[2 * i], imaginary(in[2 * i + 1]));
	return of_complex(context, n / 2, z, n_out, out);
}

FN(c_reciprocal, lb_reciprocal(a))
FN(c_log_abs, lb_log(lb_abs(a)))
FN(c_square, lb_multiply(lb_square(a), lb_conjugate(a)))
FN(c_sign, lb_sign(a))
FN(c_astype, lb_multiply(lb_astype(lb_real(a), LB_C64), a))
FN(c_broadcast, lb_multiply(lb_slice(a, LB_AT(1)), lb_multiply(a, b)))
FN(c_power_3, lb_power(a, lb_scalar_int(3)))
FN(c_where, lb_where(lb_equal(lb_eye(2, 3, 0, LB_F32), lb_scalar(1)), lb_exp(a), b))
FN(c_real, lb_square(lb_real(a)))
FN(c_imag, lb_exp(lb_imag(a)))
FN(c_mixed, lb_multiply(lb_imag(a), b))
FN(c_product, lb_prod(a, LB_AXES(1), false))
FN(c_mean, lb_square(lb_mean(a, LB_AXES(0), false)))
FN(c_max, lb_square(lb_max(a, LB_AXES(1), false)))
FN(c_min, lb_square(lb_min(a, LB_ALL_AXES, false)))
FN(c_var, lb_var(a, LB_AXES(1), false, 1))
FN(c_std, lb_std(a, LB_AXES(0), true, 0))
FN(c_cumprod, lb_cumprod(a, 1, false, true))
FN(c_cumprod_back, lb_cumprod(a, 0, true, false))
FN(c_hadamard, lb_square(lb_hadamard_transform(a, 0)))
FN(c_cumsum, lb_square(lb_cumsum(a, 1, true, false)))
FN(c_views, lb_square(lb_reshape(lb_slice(lb_transpose(a, LB_ALL_AXES), LB_ALL, LB_REVERSED), LB_SHAPE(-1))))
FN(c_strided, lb_square(lb_as_strided(a, LB_SHAPE(2, 3), LB_STRIDES(1, 1), 1)))
FN(c_take, lb_square(lb_take(a, lb_zeros(LB_SHAPE(2), LB_I32), 1)))
FN(c_join, lb_square(lb_concatenate(2, (lb_tensor *[]){ a, b }, 0)))
FN(c_pad, lb_square(lb_pad(a, LB_SHAPE(0, 1), LB_SHAPE(), 2)))
FN(c_update, lb_square(lb_slice_update(a, b, LB_AT(1))))
FN(c_matmul, lb_matmul(a, b))
FN(c_matmul_self, lb_matmul(a, lb_conjugate(lb_swapaxes(a, -1, -2))))
FN(c_addmm, lb_addmm(c, a, b, 0.5, 2))
FN(c_einsum, lb_einsum("ij,kj->ik", 2, (lb_tensor *[]){ a, b }))
FN(c_norm, lb_norm(a, LB_ALL_AXES, false))
static lb_tensor *c_eigh(lb_tensor *const *in)
{
	lb_tensor *w, *v;
	if (!lb_eigh(spread(in[0]), true, &w, &v))
		return NULL;
	return lb_add(lb_square(lb_abs(v)), lb_expand_dims(lb_sin(w), LB_AXES(-1)));
}

FN(c_eigvalsh, lb_sin(lb_eigvalsh(spread(a), false)))
FN(c_arccosh_left, lb_arccosh(lb_subtract(a, lb_scalar(3))))
FN(c_fft, lb_fft(a, 0, 1, LB_FFT_BACKWARD))
FN(c_ifft, lb_ifft(a, 5, 0, LB_FFT_ORTHO))
FN(c_fftn, lb_fft2(a, LB_SHAPE(3, 2), LB_FFT_FORWARD))
FN(c_ifftn, lb_ifftn(a, LB_SHAPE(), LB_AXES(1, 0), LB_FFT_BACKWARD))
FN(c_rfft, lb_rfft(lb_real(a), 0, -1, LB_FFT_BACKWARD))
FN(c_rfft_5, lb_rfft(lb_real(a), 5, -1, LB_FFT_ORTHO))
FN(c_rfftn, lb_rfft2(lb_imag(a), LB_SHAPE(), LB_FFT_FORWARD))
FN(c_irfft, lb_irfft(a, 0, -1, LB_FFT_BACKWARD))
FN(c_irfft_5, lb_irfft(a, 5, -1, LB_FFT_FORWARD))
FN(c_stft, lb_stft(lb_real(a), lb_hanning(4), ((lb_stft_options){ .n = 4, .hop = 2 })))
FN(c_stft_edge, lb_stft(a, NULL, ((lb_stft_options){ .n = 3, .hop = 1, .ends = LB_STFT_EDGE })))
FN(c_istft, lb_istft(a, lb_hamming(3), ((lb_stft_options){ .n = 4, .hop = 2 }), 6))
FN(c_irfftn, lb_irfftn(a, LB_SHAPE(4, 5), LB_AXES(-1, 0), LB_FFT_ORTHO))
FN(c_filtered,
   lb_irfft(lb_multiply(lb_rfft(lb_real(a), 0, 1, LB_FFT_BACKWARD), lb_rfft(lb_imag(a), 0, 1, LB_FFT_BACKWARD)),
	    lb_dim(a, 1), 1, LB_FFT_BACKWARD))

static const struct {
	const char *name; /* of the operation, then more */
	lb_tensor *(*fn)(lb_tensor *const *in);
	int n;
	int64_t shapes[3][2]; /* 0: no such axis */
} of_numbers[] = {
#define F(name, n) \
	{ \
		#name, f_##name, n, \
		{ \
			{ 2, 3 }, { 2, 3 } \
		} \
	}
	F(negative, 1),
	F(exp, 1),
	F(log, 1),
	F(sqrt, 1),
	F(rsqrt, 1),
	F(sin, 1),
	F(cos, 1),
	F(tan, 1),
	F(arcsin, 1),
	F(arccos, 1),
	F(arctan, 1),
	F(sinh, 1),
	F(cosh, 1),
	F(tanh, 1),
	F(arcsinh, 1),
	F(arccosh, 1),
	F(arctanh, 1),
	F(log1p, 1),
	F(log2, 1),
	F(log10, 1),
	F(sigmoid, 1),
	F(abs, 1),
	F(add, 2),
	F(subtract, 2),
	F(multiply, 2),
	F(divide, 2),
	F(power, 2),
#define A { 2, 3 }
	{ "divide", c_reciprocal, 1, { A } },
	{ "abs log", c_log_abs, 1, { A } },
	{ "conjugate square", c_square, 1, { A } },
	{ "sign", c_sign, 1, { A } },
	{ "astype", c_astype, 1, { A } },
	{ "multiply", c_broadcast, 2, { A, { 3 } } },
	{ "power", c_power_3, 1, { A } },
	{ "where", c_where, 2, { A, A } },
	{ "real", c_real, 1, { A } },
	{ "imag", c_imag, 1, { A } },
	{ "imag", c_mixed, 2, { A, A } },
	{ "prod", c_product, 1, { A } },
	{ "mean", c_mean, 1, { A } },
	{ "max", c_max, 1, { A } },
	{ "min", c_min, 1, { A } },
	{ "var", c_var, 1, { A } },
	{ "sqrt std", c_std, 1, { A } },
	{ "scan cumprod", c_cumprod, 1, { A } },
	{ "scan cumprod", c_cumprod_back, 1, { A } },
	{ "add hadamard_transform", c_hadamard, 1, { { 2, 4 } } },
	{ "cumsum", c_cumsum, 1, { A } },
	{ "slice reshape", c_views, 1, { A } },
	{ "as_strided", c_strided, 1, { A } },
	{ "take", c_take, 1, { A } },
	{ "concatenate", c_join, 2, { A, A } },
	{ "pad", c_pad, 1, { A } },
	{ "slice_update", c_update, 2, { A, { 3 } } },
	{ "matmul", c_matmul, 2, { A, { 3, 4 } } },
	{ "matmul", c_matmul, 2, { A, { 3 } } },
	{ "matmul", c_matmul_self, 1, { A } },
	{ "addmm", c_addmm, 3, { A, { 3, 4 }, { 4 } } },
	{ "matmul einsum", c_einsum, 2, { A, { 4, 3 } } },
	{ "sqrt norm", c_norm, 1, { A } },
	{ "arccosh", c_arccosh_left, 1, { A } },
	{ "eigh", c_eigh, 1, { { 3, 3 } } },
	{ "eigvalsh", c_eigvalsh, 1, { { 3, 3 } } },
	{ "fft", c_fft, 1, { A } },
	{ "fft", c_fft, 1, { { 3, 4 } } },
	{ "ifft", c_ifft, 1, { A } },
	{ "fft 2", c_fftn, 1, { A } },
	{ "ifft n", c_ifftn, 1, { { 4, 3 } } },
	{ "rfft", c_rfft, 1, { { 2, 6 } } },
	{ "rfft", c_rfft, 1, { { 2, 1 } } },
	{ "rfft 5", c_rfft_5, 1, { A } },
	{ "rfft n", c_rfftn, 1, { { 4, 5 } } },
	{ "irfft", c_irfft, 1, { { 2, 4 } } },
	{ "irfft 5", c_irfft_5, 1, { A } },
	{ "irfft n", c_irfftn, 1, { { 5, 2 } } },
	{ "rfft stft", c_stft, 1, { { 2, 7 } } },
	{ "fft stft", c_stft_edge, 1, { { 4 } } },
	{ "irfft istft", c_istft, 1, { { 3, 3 } } },
	{ "irfft rfft", c_filtered, 1, { { 2, 7 } } },
#undef A
#undef F
};

static void complex_numbers(void **state)
{
	(void)state;
	for (int i = 0; i < LENGTH(of_numbers); i++)
		LB_SCOPE {
			lb_tensor *(*fn)(lb_tensor *const *) = of_numbers[i].fn;
			lb_tensor *parts[6], *z[3], *of_parts_[6], *of_z[3];
			int n = of_numbers[i].n;
			for (int k = 0; k < n; k++) {
				const int64_t *shape = of_numbers[i].shapes[k];
				lb_list list = { shape[1] ? 2 : 1, shape };
				for (int p = 0; p < 2; p++)
					parts[2 * k + p] =
					    lb_random_uniform(list, 0.3, 0.8, LB_F32, lb_key((uint64_t)(2 * k + p)));
				z[k] = lb_add(parts[2 * k], imaginary(parts[2 * k + 1]));
			}
			if (!lb_check_grad(of_parts, &fn, 2 * n, parts, (lb_check_options){ 0 }) ||
			    !lb_grad(of_parts, &fn, 2 * n, parts, of_parts_) || !lb_grad(of_complex, &fn, n, z, of_z))
				fail_msg("%s: %s", of_numbers[i].name, lb_error_message());
			for (int k = 0; k < n; k++) {
				assert_int_equal(lb_dtype_of(of_z[k]), LB_C64);
				same(lb_real(of_z[k]), of_parts_[2 * k]);
				same(lb_imag(of_z[k]), of_parts_[2 * k + 1]);
			}
			/* forward, along z itself and a turn of it */
			lb_tensor *along[3], *value, *push, *sum = lb_zeros(LB_SHAPE(), LB_F32);
			for (int k = 0; k < n; k++) {
				along[k] = lb_multiply(z[k], imaginary(lb_full(LB_SHAPE(), 0.5, LB_F32)));
				sum = lb_add(sum, lb_sum(lb_real(lb_multiply(lb_conjugate(of_z[k]), along[k])),
							 LB_ALL_AXES, false));
			}
			if (!lb_jvp(of_complex, &fn, n, z, along, 1, &value, &push))
				fail_msg("%s: %s", of_numbers[i].name, lb_error_message());
			same(push, sum);
			grad_mark(of_numbers[i].name);
		}
}

/* |z|^2 + |fft(z)|^2 has a gradient that is linear in z: the gradient of its square again, by differences. */
static bool energy(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *y = lb_irfft(lb_exp(lb_rfft(in[0], 0, 0, LB_FFT_ORTHO)), lb_dim(in[0], 0), 0, LB_FFT_ORTHO);
	(void)context, (void)n, (void)n_out;
	out[0] = lb_sum(lb_square(y), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static bool of_gradient(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *grad;
	(void)context, (void)n_out;
	out[0] = lb_grad(energy, NULL, n, in, &grad) ? lb_sum(lb_sin(grad), LB_ALL_AXES, false) : NULL;
	return out[0] != NULL;
}

/* y = z^2 and |z|. */
static bool two_results(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n, (void)n_out;
	out[0] = lb_square(in[0]);
	out[1] = lb_abs(in[0]);
	return out[0] && out[1];
}

static void complex_transforms(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_random_uniform(LB_SHAPE(6), -0.5, 0.5, LB_F32, lb_key(3)), *out[2], *d;
		if (!lb_check_grad(of_gradient, NULL, 1, &x, (lb_check_options){ 0 }))
			fail_msg("%s", lb_error_message());
		/* cotangents are complex where results are: d = g conj(2 z) + h z / |z| */
		const float numbers[] = { 3, 4, 0, 0 };
		lb_tensor *z = lb_from_data(numbers, sizeof numbers, LB_SHAPE(2), LB_C64);
		lb_tensor *g[] = { imaginary(lb_ones(LB_SHAPE(2), LB_F32)), lb_full(LB_SHAPE(2), 5, LB_F32) };
		assert_true(lb_vjp(two_results, NULL, 1, &z, 2, g, out, &d));
		same(lb_real(d), VALUES(8 + 3, 0));
		same(lb_imag(d), VALUES(6 + 4, 0));
		/* forward 2 z v and the part of v along z */
		lb_tensor *along = imaginary(lb_ones(LB_SHAPE(2), LB_F32)), *push[2];
		assert_true(lb_jvp(two_results, NULL, 1, &z, &along, 2, out, push));
		same(lb_real(push[0]), VALUES(-8, 0));
		same(lb_imag(push[0]), VALUES(6, 0));
		same(push[1], VALUES(0.8, 0));
		/* a loss is real */
		lb_tensor *one = lb_slice(z, LB_AT(0));
		assert_false(lb_value_and_grad(two_results, NULL, 1, &one, 1, NULL, 2, out, &d));
		assert_true(error_has("result 0 complex64"));
	}
}

/* ---- every operation ---- */

static const struct {
	int op;
	const char *why;
} without[] = {
	{ LB_OP_DATA, "a leaf" },
	{ LB_OP_SCALAR, "a constant" },
	{ LB_OP_FULL, "a constant" },
	{ LB_OP_ARANGE, "a constant" },
	{ LB_OP_EYE, "a constant" },
	{ LB_OP_UNIFORM, "a constant" },
	{ LB_OP_NORMAL, "a constant" },
	{ LB_OP_FLOOR, "flat nearly everywhere" },
	{ LB_OP_CEIL, "flat nearly everywhere" },
	{ LB_OP_ROUND, "flat nearly everywhere" },
	{ LB_OP_FLOOR_DIVIDE, "flat nearly everywhere" },
	{ LB_OP_ISNAN, "bool" },
	{ LB_OP_ISINF, "bool" },
	{ LB_OP_ISFINITE, "bool" },
	{ LB_OP_ISPOSINF, "bool" },
	{ LB_OP_ISNEGINF, "bool" },
	{ LB_OP_LOGICAL_NOT, "bool" },
	{ LB_OP_EQUAL, "bool" },
	{ LB_OP_NOT_EQUAL, "bool" },
	{ LB_OP_LESS, "bool" },
	{ LB_OP_LESS_EQUAL, "bool" },
	{ LB_OP_GREATER, "bool" },
	{ LB_OP_GREATER_EQUAL, "bool" },
	{ LB_OP_BITWISE_AND, "of integers" },
	{ LB_OP_BITWISE_OR, "of integers" },
	{ LB_OP_BITWISE_XOR, "of integers" },
	{ LB_OP_BITWISE_INVERT, "of integers" },
	{ LB_OP_LEFT_SHIFT, "of integers" },
	{ LB_OP_RIGHT_SHIFT, "of integers" },
	{ LB_OP_BITCAST, "bits" },
	{ LB_OP_SEARCHSORTED, "indices" },
	{ LB_OP_RANDOM_BITS, "integers" },
	{ LB_OP_ARGPARTITION, "indices" },
	{ LB_OP_LOGICAL_AND, "bool" },
	{ LB_OP_LOGICAL_OR, "bool" },
	{ LB_OP_ALL, "bool" },
	{ LB_OP_ANY, "bool" },
	{ LB_OP_STOP_GRADIENT, "made for that" },
	{ LB_OP_DECODE, "of bytes" },
	{ LB_OP_ARGMAX, "indices" },
	{ LB_OP_ARGMIN, "indices" },
	{ LB_OP_ARGSORT, "indices" },
	{ LB_OP_CATEGORICAL, "indices" },
	{ LB_OP_TRACER, "a leaf" },
	{ LB_OP_FUSED, "never made while a gradient is traced" },
};

static bool through_codes(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n_in, (void)n_out;
	out[0] = lb_sum(lb_from_fp8(lb_to_fp8(in[0]), LB_F32), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static void no_gradient_of_codes(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(3), LB_F32), *grad;
		assert_false(lb_grad(through_codes, NULL, 1, &x, &grad));
		assert_true(strstr(lb_error_message(), "to_fp8") && strstr(lb_error_message(), "no gradient"));
		lb_clear_error();
	}
}

/* Each has a rule that was tested above, or a reason to have none. That of quantize(), to_fp8(), partition(), qr(), svd(), lu() and eig() is to refuse. */
static void every_operation(void **state)
{
	(void)state;
	for (int op = 0; op < LB_OPS; op++) {
		const char *why = NULL;
		for (int i = 0; i < LENGTH(without); i++)
			why = without[i].op == op ? without[i].why : why;
		if (!lb_rules[op] != !!why)
			fail_msg("%s: %s", lb_ops[op].name,
				 why ? "has a rule after all" : "has neither rule nor reason");
		if (!why && !grad_tested[op] && op != LB_OP_QUANTIZE && op != LB_OP_TO_FP8 && op != LB_OP_FROM_FP8 &&
		    op != LB_OP_PARTITION && op != LB_OP_QR && op != LB_OP_SVD && op != LB_OP_LU && op != LB_OP_EIG)
			fail_msg("%s: its rule is not tested", lb_ops[op].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unary),
		cmocka_unit_test(binary),
		cmocka_unit_test(views),
		cmocka_unit_test(reductions),
		cmocka_unit_test(products),
		cmocka_unit_test(gathers),
		cmocka_unit_test(linear_algebra),
		cmocka_unit_test(scans_beyond_numbers),
		cmocka_unit_test(spreads),
		cmocka_unit_test(spreads_of_one),
		cmocka_unit_test(models),
		cmocka_unit_test(corners),
		cmocka_unit_test(quantisation),
		cmocka_unit_test(steps),
		cmocka_unit_test(complex_numbers),
		cmocka_unit_test(factors_of_zero),
		cmocka_unit_test(complex_transforms),
		cmocka_unit_test(every_operation),
		cmocka_unit_test(no_gradient_of_codes),
	};
	int failed = cmocka_run_group_tests_name("grad", tests, NULL, NULL);
	printf("# %d cases\n", grad_cases);
	return failed;
}
