/* Functions of complex64 where they are hard: of tiny and huge numbers, next to 1, to poles and to branch cuts, of signed zeros, of
 * what is not finite. Against C's functions of long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

typedef float complex c64;
typedef long double complex wide;

/* ulps of the modulus that a result may be off by: 3 was the most that was seen */
enum { MOST_ULPS = 4, MOST = 16384 };

/* re + im * I, which would lose signs of zeros, and not all compilers have CMPLX(). */
static wide of(long double re, long double im)
{
	const long double parts[] = { re, im };
	wide z;
	memcpy(&z, parts, sizeof z);
	return z;
}

static c64 single(float re, float im)
{
	const float parts[] = { re, im };
	c64 z;
	memcpy(&z, parts, sizeof z);
	return z;
}

static wide widened(c64 z)
{
	return of((long double)crealf(z), (long double)cimagf(z));
}

static wide log1p_of(wide z)
{
	/* there the terms that are left out are below 2^-64 of the first */
	return cabsl(z) < 0x1p-16L ? z * (1 - z * (0.5L - z * (1 / 3.0L - z * (0.25L - z / 5))))
				   : clogl(of(1 + creall(z), cimagl(z)));
}

static wide log2_of(wide z)
{
	wide y = clogl(z);
	return of(creall(y) / logl(2), cimagl(y) / logl(2));
}

static wide log10_of(wide z)
{
	wide y = clogl(z);
	return of(creall(y) / logl(10), cimagl(y) / logl(10));
}

static wide quotient(wide a, wide b)
{
	long double x = creall(b), y = cimagl(b), norm = x * x + y * y;
	return of((creall(a) * x + cimagl(a) * y) / norm, (cimagl(a) * x - creall(a) * y) / norm);
}

static wide reciprocal_of(wide z)
{
	return quotient(1, z);
}

static wide rsqrt_of(wide z)
{
	return quotient(1, csqrtl(z));
}

static wide square_of(wide z)
{
	long double x = creall(z), y = cimagl(z);
	return of((x - y) * (x + y), 2 * x * y);
}

static wide sign_of(wide z)
{
	return of(creall(z) / cabsl(z), cimagl(z) / cabsl(z));
}

static wide sigmoid_of(wide z)
{
	wide e = cexpl(creall(z) < 0 ? z : -z);
	return quotient(creall(z) < 0 ? e : 1, of(1 + creall(e), cimagl(e)));
}

static wide abs_of(wide z)
{
	return cabsl(z);
}

/* Those with a pole at 0 are not asked there. */
static const struct {
	const char *name;
	lb_tensor *(*run)(lb_tensor *);
	wide (*is)(wide);
	bool has_pole_at_zero;
} functions[] = {
	{ "exp", lb_exp, cexpl, false },
	{ "log", lb_log, clogl, true },
	{ "log1p", lb_log1p, log1p_of, false },
	{ "log2", lb_log2, log2_of, true },
	{ "log10", lb_log10, log10_of, true },
	{ "sqrt", lb_sqrt, csqrtl, false },
	{ "rsqrt", lb_rsqrt, rsqrt_of, true },
	{ "sin", lb_sin, csinl, false },
	{ "cos", lb_cos, ccosl, false },
	{ "tan", lb_tan, ctanl, false },
	{ "sinh", lb_sinh, csinhl, false },
	{ "cosh", lb_cosh, ccoshl, false },
	{ "tanh", lb_tanh, ctanhl, false },
	{ "arcsin", lb_arcsin, casinl, false },
	{ "arccos", lb_arccos, cacosl, false },
	{ "arctan", lb_arctan, catanl, false },
	{ "arcsinh", lb_arcsinh, casinhl, false },
	{ "arccosh", lb_arccosh, cacoshl, false },
	{ "arctanh", lb_arctanh, catanhl, false },
	{ "reciprocal", lb_reciprocal, reciprocal_of, true },
	{ "square", lb_square, square_of, false },
	{ "sign", lb_sign, sign_of, true },
	{ "sigmoid", lb_sigmoid, sigmoid_of, false },
	{ "abs", lb_abs, abs_of, false },
};

static int hard_numbers(c64 *ret)
{
	static const float parts[] = { 0,     1e-45F,     1e-38F, 1e-30F,     1e-20F, 1e-10F, 1e-5F,      3e-4F,
				       1e-3F, 0.01F,      0.1F,   0.5F,       0.9F,   1,      0.9999999F, 1.00000012F,
				       1.5F,  1.5707964F, 2,      3.1415927F, 5,      20,     44.3F,      87,
				       88.8F, 100,        1e3F,   1e5F,       1e18F,  2e19F,  1e38F,      3.4e38F };
	enum { PARTS = sizeof parts / sizeof *parts };
	int n = 0;
	for (int i = 0; i < 2 * PARTS; i++)
		for (int k = 0; k < 2 * PARTS; k++)
			ret[n++] = single(i % 2 ? -parts[i / 2] : parts[i / 2], k % 2 ? -parts[k / 2] : parts[k / 2]);
	for (int turn = 0; turn < 64; turn++) {
		static const float around[] = { 1, -1, 0, 0 }, above[] = { 0, 0, 1, -1 },
				   far[] = { 1, 1e-6F, 1e-4F, 1e-2F, 0.9999F };
		for (int i = 0; i < 5 * 4; i++) {
			double angle = 6.283185307179586 * turn / 64;
			ret[n++] = single(around[i % 4] + far[i / 4] * (float)cos(angle),
					  above[i % 4] + far[i / 4] * (float)sin(angle));
		}
	}
	assert_true(n <= MOST);
	return n;
}

/* Whether got is a number where it should be, and that one. */
static bool is_near(c64 got, wide is, double *ulps)
{
	long double re = creall(is), im = cimagl(is), most = (long double)FLT_MAX * (1 + 0x1p-25L);
	bool overflows = fabsl(re) > most || fabsl(im) > most, finite = isfinite(crealf(got)) && isfinite(cimagf(got));
	*ulps = 0;
	if (isnan(re) || isnan(im) || overflows)
		return !finite;
	if (!finite)
		return false;
	long double size = fmaxl(hypotl(re, im), (long double)FLT_MIN);
	*ulps = (double)(hypotl((long double)crealf(got) - re, (long double)cimagf(got) - im) / size /
			 (long double)FLT_EPSILON);
	return *ulps <= MOST_ULPS;
}

static int check(const char *name, c64 a, c64 b, c64 got, wide is, double *worst)
{
	double ulps;
	bool near = is_near(got, is, &ulps);
	*worst = fmax(*worst, ulps);
	if (!near)
		fprintf(stderr, "%s of %.9g %.9g, %.9g %.9g is %.9g %.9g here, should be %.9Lg %.9Lg: %g ulps\n", name,
			(double)crealf(a), (double)cimagf(a), (double)crealf(b), (double)cimagf(b), (double)crealf(got),
			(double)cimagf(got), creall(is), cimagl(is), ulps);
	return !near;
}

static c64 element(const lb_tensor *x, const void *data, int i)
{
	c64 y;
	if (lb_dtype_of(x) == LB_F32)
		return single(((const float *)data)[i], 0);
	memcpy(&y, (const c64 *)data + i, sizeof y);
	return y;
}

static void of_one(void **state)
{
	static c64 z[MOST];
	int n = hard_numbers(z), failed = 0;

	(void)state;
	for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
		LB_SCOPE {
			lb_tensor *y = functions[f].run(lb_from_data(z, (size_t)n * sizeof *z, LB_SHAPE(n), LB_C64));
			const void *data = lb_data(y);
			double worst = 0;
			assert_non_null(data);
			for (int i = 0; i < n; i++)
				if (!functions[f].has_pole_at_zero || crealf(z[i]) != 0 || cimagf(z[i]) != 0)
					failed += check(functions[f].name, z[i], 0, element(y, data, i),
							functions[f].is(widened(z[i])), &worst);
			print_message("%s: %.2g ulps\n", functions[f].name, worst);
		}
	assert_int_equal(failed, 0);
}

/* Each of a few with each. */
static void of_two(void **state)
{
	static const float parts[] = { 0, 1e-39F, 1e-20F, 0.3F, -1, 1.25F, -7, 12.5F, 1e19F, -2.5e38F };
	enum { PARTS = sizeof parts / sizeof *parts, N = PARTS * PARTS };
	static c64 a[N * N], b[N * N];
	int failed = 0;
	double worst = 0;

	(void)state;
	for (int i = 0; i < N * N; i++) {
		a[i] = single(parts[i / N / PARTS], parts[i / N % PARTS]);
		b[i] = single(parts[i % N / PARTS], parts[i % PARTS]);
	}
	LB_SCOPE {
		lb_tensor *x = lb_from_data(a, sizeof a, LB_SHAPE(N * N), LB_C64),
			  *y = lb_from_data(b, sizeof b, LB_SHAPE(N * N), LB_C64);
		lb_tensor *over = lb_divide(x, y), *power = lb_power(x, y);
		const c64 *quotients = lb_data(over), *powers = lb_data(power);
		assert_true(quotients && powers);
		for (int i = 0; i < N * N; i++) {
			wide p = widened(a[i]), q = widened(b[i]);
			if (q != 0)
				failed += check("divide", a[i], b[i], quotients[i], quotient(p, q), &worst);
			if (p != 0 && cabsl(q) < 1000 && cabsl(q * clogl(p)) < 1000)
				failed += check("power", a[i], b[i], powers[i], cpowl(p, q), &worst);
		}
		print_message("divide, power: %.2g ulps\n", worst);
	}
	assert_int_equal(failed, 0);
}

/* Which sign a zero has, and whether a part is infinite, is as C's functions have it. */
static void not_finite(void **state)
{
	static const float parts[] = { 0, -0.0F, 1, -1, INFINITY, -INFINITY, NAN };
	enum { PARTS = sizeof parts / sizeof *parts, N = PARTS * PARTS };
	static const struct {
		lb_tensor *(*run)(lb_tensor *);
		double complex (*is)(double complex);
	} of_c[] = {
		{ lb_exp, cexp },       { lb_log, clog },       { lb_sqrt, csqrt },     { lb_sin, csin },
		{ lb_cos, ccos },       { lb_tan, ctan },       { lb_sinh, csinh },     { lb_cosh, ccosh },
		{ lb_tanh, ctanh },     { lb_arcsin, casin },   { lb_arccos, cacos },   { lb_arctan, catan },
		{ lb_arcsinh, casinh }, { lb_arccosh, cacosh }, { lb_arctanh, catanh }, { lb_log2, clog },
		{ lb_log10, clog }, /* whose signs and infinities these are */
	};
	static c64 z[N];

	(void)state;
	for (int i = 0; i < N; i++)
		z[i] = single(parts[i / PARTS], parts[i % PARTS]);
	for (size_t f = 0; f < sizeof of_c / sizeof *of_c; f++)
		LB_SCOPE {
			const c64 *y = lb_data(of_c[f].run(lb_from_data(z, sizeof z, LB_SHAPE(N), LB_C64)));
			assert_non_null(y);
			for (int i = 0; i < N; i++) {
				double complex is = of_c[f].is((double complex)z[i]);
				for (int part = 0; part < 2; part++) {
					float got = part ? cimagf(y[i]) : crealf(y[i]);
					double should = part ? cimag(is) : creal(is);
					assert_int_equal(!isnan(got), !isnan(should));
					if (!isnan(got)) {
						assert_int_equal(!isinf(got), !isinf(should));
						assert_int_equal(!signbit(got), !signbit(should));
					}
				}
			}
		}
	LB_SCOPE {
		const float pairs[] = { -1, 0, INFINITY, NAN, NAN, -INFINITY, -INFINITY, 1, 0, -0.0F };
		const c64 *y = lb_data(lb_log1p(lb_from_data(pairs, sizeof pairs, LB_SHAPE(5), LB_C64)));
		assert_true(crealf(y[0]) == -INFINITY && cimagf(y[0]) == 0);
		assert_true(crealf(y[1]) == INFINITY && isnan(cimagf(y[1])));
		assert_true(crealf(y[2]) == INFINITY && isnan(cimagf(y[2])));
		assert_true(crealf(y[3]) == INFINITY && cimagf(y[3]) == (float)3.14159265358979);
		assert_true(crealf(y[4]) == 0 && signbit(cimagf(y[4])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(of_one), TEST(of_two), TEST(not_finite) };
	return cmocka_run_group_tests_name("complex", tests, NULL, NULL);
}
