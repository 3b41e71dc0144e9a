/* Elementwise complex64. Products are the plain formula; quotients are Smith's, as NumPy has them, in double, where they neither
 * overflow nor vanish on the way; the order is lexicographic, and a NaN part makes every ordering false. What C's functions of
 * floats would lose digits in is computed by those of doubles. */
#include <complex.h>
#include <math.h>

#include "kernels/simd/tiles.h"

typedef struct lb_c64 c64;

static inline float complex to_c(c64 x)
{
	float complex z;
	memcpy(&z, &x, sizeof z);
	return z;
}

static inline c64 from_c(float complex z)
{
	c64 x;
	memcpy(&x, &z, sizeof x);
	return x;
}

static inline c64 make(float re, float im)
{
	return (c64){ re, im };
}

static inline double complex wide(c64 x)
{
	const double parts[] = { (double)x.re, (double)x.im };
	double complex z;
	memcpy(&z, parts, sizeof z);
	return z;
}

static inline c64 narrow(double re, double im)
{
	return make((float)re, (float)im);
}

static inline c64 quotient(c64 a, c64 b)
{
	double x = (double)a.re, xi = (double)a.im, y = (double)b.re, yi = (double)b.im;
	if (fabs(y) >= fabs(yi)) {
		if (y == 0 && yi == 0)
			return narrow(x / fabs(y), xi / fabs(y));
		double ratio = yi / y, scale = 1 / (y + lb_times_f64(yi, ratio));
		return narrow((x + lb_times_f64(xi, ratio)) * scale, (xi - lb_times_f64(x, ratio)) * scale);
	}
	double ratio = y / yi, scale = 1 / (yi + lb_times_f64(y, ratio));
	return narrow((lb_times_f64(x, ratio) + xi) * scale, (lb_times_f64(xi, ratio) - x) * scale);
}

static inline bool is_nan(c64 x)
{
	return x.re != x.re || x.im != x.im;
}

static inline bool less(c64 a, c64 b)
{
	return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}

static inline bool less_equal(c64 a, c64 b)
{
	return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}

static inline c64 maximum(c64 a, c64 b)
{
	return is_nan(a) || less_equal(b, a) ? a : b;
}

static inline c64 minimum(c64 a, c64 b)
{
	return is_nan(a) || less_equal(a, b) ? a : b;
}

static inline c64 power(c64 a, c64 b)
{
	if (b.re == 0 && b.im == 0)
		return make(1, 0);
	if (a.re == 0 && a.im == 0)
		return b.re > 0 && b.im == 0 ? make(0, 0) : make(NAN, NAN);
	double complex z = cpow(wide(a), wide(b));
	return narrow(creal(z), cimag(z));
}

/* e / (1 + e) where e^x is small, 1 / (1 + e) of e^-x elsewhere, whose denominator is small next to the poles. */
static inline c64 sigmoid(c64 x)
{
	bool left = x.re < 0;
	double complex z = cexp(left ? wide(x) : -wide(x));
	double e = creal(z), ei = cimag(z), d = 1 + e;
	double norm = lb_times_f64(d, d) + lb_times_f64(ei, ei);
	double re = left ? lb_times_f64(e, d) + lb_times_f64(ei, ei) : d;
	return narrow(re / norm, (left ? ei : -ei) / norm);
}

static inline c64 scaled(c64 x, float by)
{
	return make(x.re * by, x.im * by);
}

/* |1 + z|^2 - 1 is a sum of small numbers next to 0, and loses what is left next to -1 */
static inline c64 log1p_of(c64 z)
{
	double x = (double)z.re, y = (double)z.im, more = lb_times_f64(x, 2 + x) + lb_times_f64(y, y);
	bool is_plain = more > -0.5 && more < 1;
	return narrow(is_plain ? log1p(more) / 2 : log(hypot(1 + x, y)), atan2(y, 1 + x));
}

static inline c64 sign(c64 z)
{
	double x = (double)z.re, y = (double)z.im, size = sqrt(x * x + y * y);
	return size == 0 ? make(0, 0) : narrow(x / size, y / size);
}

#define TRUE(x) ((x).re != 0 || (x).im != 0)
#define C(name, expr) LB_TILE(name##_t, c64, c64, expr)
#define B(name, expr) LB_TILE(name##_t, uint8_t, c64, expr)
C(add, make(a[i].re + b[i].re, a[i].im + b[i].im))
C(subtract, make(a[i].re - b[i].re, a[i].im - b[i].im))
C(multiply, lb_times_c64(a[i], b[i]))
C(divide, quotient(a[i], b[i]))
C(power, power(a[i], b[i]))
C(maximum, maximum(a[i], b[i]))
C(minimum, minimum(a[i], b[i]))
C(clip, minimum(maximum(a[i], b[i]), c[i]))
C(negative, make(-a[i].re, -a[i].im))
C(square, lb_times_c64(a[i], a[i]))
C(floor, make(floorf(a[i].re), floorf(a[i].im)))
C(ceil, make(ceilf(a[i].re), ceilf(a[i].im)))
C(round, make(rintf(a[i].re), rintf(a[i].im)))
C(exp, from_c(cexpf(to_c(a[i]))))
C(log, from_c(clogf(to_c(a[i]))))
C(sqrt, from_c(csqrtf(to_c(a[i]))))
C(rsqrt, quotient(make(1, 0), from_c(csqrtf(to_c(a[i])))))
C(sin, from_c(csinf(to_c(a[i]))))
C(cos, from_c(ccosf(to_c(a[i]))))
C(tanh, from_c(ctanhf(to_c(a[i]))))
C(tan, from_c(ctanf(to_c(a[i]))))
C(arcsin, from_c(casinf(to_c(a[i]))))
C(arccos, from_c(cacosf(to_c(a[i]))))
C(arctan, from_c(catanf(to_c(a[i]))))
C(sinh, from_c(csinhf(to_c(a[i]))))
C(cosh, from_c(ccoshf(to_c(a[i]))))
C(arcsinh, from_c(casinhf(to_c(a[i]))))
C(arccosh, from_c(cacoshf(to_c(a[i]))))
C(arctanh, from_c(catanhf(to_c(a[i]))))
C(log1p, log1p_of(a[i]))
C(log2, scaled(from_c(clogf(to_c(a[i]))), 1.44269504F))
C(log10, scaled(from_c(clogf(to_c(a[i]))), 0.43429448F))
C(sign, sign(a[i]))
C(conjugate, make(a[i].re, -a[i].im))
C(sigmoid, sigmoid(a[i]))
LB_TILE(abs_t, float, c64, hypotf(a[i].re, a[i].im))
LB_TILE(real_t, float, c64, a[i].re)
LB_TILE(imag_t, float, c64, a[i].im)
B(isnan, is_nan(a[i]))
B(isinf, isinf(a[i].re) || isinf(a[i].im))
B(isfinite, isfinite(a[i].re) && isfinite(a[i].im))
B(isposinf, a[i].re == INFINITY && a[i].im == 0)
B(isneginf, a[i].re == -INFINITY && a[i].im == 0)
B(logical_not, !TRUE(a[i]))
B(logical_and, TRUE(a[i]) && TRUE(b[i]))
B(logical_or, TRUE(a[i]) || TRUE(b[i]))
B(equal, a[i].re == b[i].re && a[i].im == b[i].im)
B(not_equal, a[i].re != b[i].re || a[i].im != b[i].im)
B(less, less(a[i], b[i]))
B(less_equal, less_equal(a[i], b[i]))
B(greater, less(b[i], a[i]))
B(greater_equal, less_equal(b[i], a[i]))

lb_tile_fn *LB_ISA_NAME(lb_tile_complex)(int op)
{
	static lb_tile_fn *const table[LB_OPS] = {
		[LB_OP_ADD] = add_t,
		[LB_OP_SUBTRACT] = subtract_t,
		[LB_OP_MULTIPLY] = multiply_t,
		[LB_OP_DIVIDE] = divide_t,
		[LB_OP_POWER] = power_t,
		[LB_OP_MAXIMUM] = maximum_t,
		[LB_OP_MINIMUM] = minimum_t,
		[LB_OP_CLIP] = clip_t,
		[LB_OP_NEGATIVE] = negative_t,
		[LB_OP_SQUARE] = square_t,
		[LB_OP_FLOOR] = floor_t,
		[LB_OP_CEIL] = ceil_t,
		[LB_OP_ROUND] = round_t,
		[LB_OP_EXP] = exp_t,
		[LB_OP_LOG] = log_t,
		[LB_OP_SQRT] = sqrt_t,
		[LB_OP_RSQRT] = rsqrt_t,
		[LB_OP_SIN] = sin_t,
		[LB_OP_COS] = cos_t,
		[LB_OP_TANH] = tanh_t,
		[LB_OP_TAN] = tan_t,
		[LB_OP_ARCSIN] = arcsin_t,
		[LB_OP_ARCCOS] = arccos_t,
		[LB_OP_ARCTAN] = arctan_t,
		[LB_OP_SINH] = sinh_t,
		[LB_OP_COSH] = cosh_t,
		[LB_OP_ARCSINH] = arcsinh_t,
		[LB_OP_ARCCOSH] = arccosh_t,
		[LB_OP_ARCTANH] = arctanh_t,
		[LB_OP_LOG1P] = log1p_t,
		[LB_OP_LOG2] = log2_t,
		[LB_OP_LOG10] = log10_t,
		[LB_OP_SIGN] = sign_t,
		[LB_OP_CONJUGATE] = conjugate_t,
		[LB_OP_REAL] = real_t,
		[LB_OP_IMAG] = imag_t,
		[LB_OP_ISFINITE] = isfinite_t,
		[LB_OP_ISPOSINF] = isposinf_t,
		[LB_OP_ISNEGINF] = isneginf_t,
		[LB_OP_SIGMOID] = sigmoid_t,
		[LB_OP_ABS] = abs_t,
		[LB_OP_ISNAN] = isnan_t,
		[LB_OP_ISINF] = isinf_t,
		[LB_OP_LOGICAL_NOT] = logical_not_t,
		[LB_OP_LOGICAL_AND] = logical_and_t,
		[LB_OP_LOGICAL_OR] = logical_or_t,
		[LB_OP_EQUAL] = equal_t,
		[LB_OP_NOT_EQUAL] = not_equal_t,
		[LB_OP_LESS] = less_t,
		[LB_OP_LESS_EQUAL] = less_equal_t,
		[LB_OP_GREATER] = greater_t,
		[LB_OP_GREATER_EQUAL] = greater_equal_t,
	};
	return table[op];
}
