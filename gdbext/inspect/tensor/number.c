#include "inspect/tensor/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/tensor/array.h"
#include "kernels/half.h"

/* A finite number's shortest decimal digits: 0.d1d2d3… * 10^point. */
struct digits {
	int n, point;
	char d[20];
};

static bool same(double x, double y, enum lb_dtype dtype)
{
	switch (dtype) {
	case LB_F16: return lb_float_to_f16((float)x) == lb_float_to_f16((float)y);
	case LB_BF16: return lb_float_to_bf16((float)x) == lb_float_to_bf16((float)y);
	case LB_F64: return x == y;
	default: return (float)x == (float)y;
	}
}

static double reread(const char *text, enum lb_dtype dtype)
{
	/* once rounded: strtod, then a cast, could round twice */
	return dtype == LB_F64 ? strtod(text, NULL) : (double)strtof(text, NULL);
}

/* An integer between whose neighbours lies no other one: no fewer digits than its own lead to it. */
static bool take_integer(double x, enum lb_dtype dtype, struct digits *ret)
{
	const int bits = dtype == LB_F64 ? 52 : dtype == LB_F16 ? 10 : dtype == LB_BF16 ? 7 : 23;

	if (x >= (double)(1ULL << bits) || x != (double)(uint64_t)x)
		return false;
	char digits[20];
	int n = 0;
	for (uint64_t rest = (uint64_t)x; rest; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	ret->n = ret->point = n;
	for (int i = 0; i < n; i++)
		ret->d[i] = digits[n - 1 - i];
	while (ret->n > 0 && ret->d[ret->n - 1] == '0')
		ret->n--;
	return true;
}

static void shortest(double x, enum lb_dtype dtype, struct digits *ret)
{
	int low = 1, high = dtype == LB_F64 ? 17 : dtype == LB_F16 || dtype == LB_BF16 ? 6 : 9;
	char text[40];

	x = fabs(x);
	if (take_integer(x, dtype, ret))
		return;
	while (low < high) {
		int middle = (low + high) / 2;
		snprintf(text, sizeof text, "%.*e", middle - 1, x);
		if (same(reread(text, dtype), x, dtype))
			high = middle;
		else
			low = middle + 1;
	}
	snprintf(text, sizeof text, "%.*e", low - 1, x);
	ret->d[0] = text[0];
	memcpy(ret->d + 1, text + 2, (size_t)(low > 1 ? low - 1 : 0));
	for (ret->n = low; ret->n > 1 && ret->d[ret->n - 1] == '0'; ret->n--)
		;
	ret->point = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
}

/* |x| in positional notation, at most `precision` digits after the point, without trailing
 * zeros: "12.5", "3.". Returns the length of the part before the point. */
static int positional(double x, enum lb_dtype dtype, int precision, char *to, size_t size)
{
	struct digits s;
	int n = 0;

	shortest(x, dtype, &s);
	if (s.n - s.point > precision) {
		snprintf(to, size, "%.*f", precision, fabs(x));
		if (precision == 0)
			strcat(to, ".");
		char *end = to + strlen(to);
		while (end[-1] == '0')
			*--end = '\0';
		return (int)(strchr(to, '.') - to);
	}
	if (s.point <= 0)
		to[n++] = '0';
	for (int i = 0; i < s.point && n < (int)size - 30; i++)
		to[n++] = i < s.n ? s.d[i] : '0';
	int left = n;
	to[n++] = '.';
	for (int i = s.point; i < s.n; i++)
		to[n++] = i < 0 ? '0' : s.d[i];
	to[n] = '\0';
	return left;
}

/* |x| as d.ddd and the exponent; returns the digits after the point. */
static int scientific(double x, enum lb_dtype dtype, int precision, char *to, size_t size, int *exponent)
{
	struct digits s;

	shortest(x, dtype, &s);
	*exponent = s.n ? s.point - 1 : 0;
	if (s.n - 1 > precision) {
		snprintf(to, size, "%.*e", precision, fabs(x));
		char *e = strchr(to, 'e');
		*exponent = (int)strtol(e + 1, NULL, 10);
		if (precision == 0)
			*e++ = '.';
		*e = '\0';
		while (e[-1] == '0')
			*--e = '\0';
		return (int)strlen(to) - 2;
	}
	int n = 0;
	to[n++] = s.n ? s.d[0] : '0';
	to[n++] = '.';
	for (int i = 1; i < s.n; i++)
		to[n++] = s.d[i];
	to[n] = '\0';
	return n - 2;
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

static int sign_width(double x, bool plus)
{
	return signbit(x) || plus;
}

/* `part` 1: the imaginary parts. */
static double value_at(const char *elements, int64_t i, enum lb_dtype dtype, int part)
{
	return lbx_element_double(elements + i * lbx_dtype_bytes(dtype) + part * 4, dtype);
}

static void float_format(const char *elements, int64_t n, enum lb_dtype dtype, int part, int precision,
			 struct lbx_float_format *f)
{
	double largest = 0, smallest = INFINITY;
	bool special = false, negative_inf = false;
	char text[LBX_NUMBER_MAX];

	*f = (struct lbx_float_format){ .plus = part == 1, .precision = precision };
	for (int64_t i = 0; i < n; i++) {
		double x = value_at(elements, i, dtype, part), m = fabs(x);
		if (!isfinite(x)) {
			special = true;
			negative_inf |= isinf(x) && x < 0;
			continue;
		}
		f->has_finite = true;
		if (m > largest)
			largest = m;
		if (m > 0 && m < smallest)
			smallest = m;
	}
	f->exponent = largest >= 1e8 || (largest > 0 && (smallest < 1e-4 || largest / smallest > 1000));
	int most = 0;
	for (int64_t i = 0; i < n; i++) {
		double x = value_at(elements, i, dtype, part);
		int sign = sign_width(x, f->plus), exponent;
		if (!isfinite(x))
			continue;
		if (f->exponent) {
			most = max_int(most, scientific(x, dtype, precision, text, sizeof text, &exponent));
			f->left = max_int(f->left, 1 + sign);
			f->exponent_digits = max_int(f->exponent_digits, abs(exponent) >= 100 ? 3 : 2);
		} else {
			int left = positional(x, dtype, precision, text, sizeof text);
			f->left = max_int(f->left, left + sign);
			most = max_int(most, (int)strlen(text) - left - 1);
		}
	}
	if (f->exponent) {
		f->precision = most;
		f->right = f->exponent_digits + 2 + most;
	} else {
		f->right = most;
	}
	if (special)
		f->left = max_int(f->left, 3 + (f->plus || negative_inf) - (f->right + 1));
	if (special)
		f->left = max_int(f->left, 3 - (f->right + 1));
}

static int float_print(const struct lbx_float_format *f, double x, enum lb_dtype dtype, char *ret)
{
	char text[LBX_NUMBER_MAX];
	const char *sign = signbit(x) ? "-" : f->plus ? "+" : "";
	int exponent;

	if (isnan(x))
		return sprintf(ret, "%*s", f->left + f->right + 1, f->plus ? "+nan" : "nan");
	if (isinf(x)) {
		snprintf(text, sizeof text, "%sinf", sign);
		return sprintf(ret, "%*s", f->left + f->right + 1, text);
	}
	if (f->exponent) {
		/* here NumPy fills up with the number's own further digits, not with zeros */
		snprintf(text, sizeof text, "%.*e", f->precision, fabs(x));
		exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
		*strchr(text, 'e') = '\0';
		return sprintf(ret, "%*s%s%s%se%c%0*d", max_int(0, f->left - 1 - (int)strlen(sign)), "", sign, text,
			       f->precision ? "" : ".", exponent < 0 ? '-' : '+', f->exponent_digits, abs(exponent));
	}
	int left = positional(x, dtype, f->precision, text, sizeof text);
	int before = max_int(0, f->left - left - (int)strlen(sign));
	int after = max_int(0, f->right - ((int)strlen(text) - left - 1));
	return sprintf(ret, "%*s%s%s%*s", before, "", sign, text, after, "");
}

static int integer_print(const void *element, enum lb_dtype dtype, int width, char *ret)
{
	long long value = lbx_element_int(element, dtype);

	if (dtype == LB_BOOL)
		return sprintf(ret, "%*s", width, value ? "True" : "False");
	if (dtype == LB_U64)
		return sprintf(ret, "%*llu", width, (unsigned long long)value);
	return sprintf(ret, "%*lld", width, value);
}

void lbx_number_format(const void *elements, int64_t n, enum lb_dtype dtype, int precision,
		       struct lbx_number_format *ret)
{
	char text[LBX_NUMBER_MAX];

	memset(ret, 0, sizeof *ret);
	ret->dtype = dtype;
	if (precision < 0)
		precision = 0;
	if (precision > LBX_PRECISION_MAX)
		precision = LBX_PRECISION_MAX;
	if (dtype >= LB_F16) {
		float_format(elements, n, dtype, 0, precision, &ret->real);
		if (dtype == LB_C64)
			float_format(elements, n, dtype, 1, precision, &ret->imaginary);
		return;
	}
	if (dtype == LB_BOOL) {
		ret->width = 5;
		return;
	}
	for (int64_t i = 0; i < n; i++)
		ret->width = max_int(ret->width, integer_print((const char *)elements + i * lbx_dtype_bytes(dtype),
							       dtype, 0, text));
}

int lbx_number_print(const struct lbx_number_format *format, const void *element, char ret[LBX_NUMBER_MAX])
{
	if (format->dtype < LB_F16)
		return integer_print(element, format->dtype, format->width, ret);
	int n = float_print(&format->real, value_at(element, 0, format->dtype, 0), format->dtype, ret);
	if (format->dtype != LB_C64)
		return n;
	n += float_print(&format->imaginary, value_at(element, 0, LB_C64, 1), LB_C64, ret + n);
	/* the j goes before the blanks at the end */
	int end = n;
	while (ret[end - 1] == ' ')
		end--;
	memmove(ret + end + 1, ret + end, (size_t)(n - end) + 1);
	ret[end] = 'j';
	return n + 1;
}

/* `whole`: "1.0", as a real number; otherwise "1", as in a complex one. */
static int scalar(double x, enum lb_dtype dtype, bool whole, char *ret)
{
	char text[LBX_NUMBER_MAX];
	double m = fabs(x);
	const char *sign = signbit(x) ? "-" : "";
	int exponent;

	if (isnan(x))
		return sprintf(ret, "nan");
	if (isinf(x))
		return sprintf(ret, "%sinf", sign);
	if (m == 0 || (m >= 1e-4 && m < 1e16)) {
		positional(x, dtype, 340, text, sizeof text);
		size_t n = strlen(text);
		if (text[n - 1] == '.')
			strcpy(text + n - !whole, whole ? "0" : "");
		return sprintf(ret, "%s%s", sign, text);
	}
	if (scientific(x, dtype, 340, text, sizeof text, &exponent) == 0)
		text[1] = '\0';
	return sprintf(ret, "%s%se%c%02d", sign, text, exponent < 0 ? '-' : '+', abs(exponent));
}

int lbx_number_scalar(const void *element, enum lb_dtype dtype, char ret[LBX_NUMBER_MAX])
{
	char imaginary[LBX_NUMBER_MAX];

	if (dtype < LB_F16)
		return integer_print(element, dtype, 0, ret);
	double re = value_at(element, 0, dtype, 0);
	if (dtype != LB_C64)
		return scalar(re, dtype, true, ret);
	double im = value_at(element, 0, dtype, 1);
	scalar(im, dtype, false, imaginary);
	int n = sprintf(ret, "(");
	n += scalar(re, dtype, false, ret + n);
	return n + sprintf(ret + n, "%s%.40sj)", signbit(im) ? "" : "+", imaginary);
}
