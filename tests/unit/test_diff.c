/* Comparing at memory speed gives what comparing one by one gives; where arrays differ; by groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/compare/closeness.h"
#include "inspect/compare/compare.h"
#include "inspect/compare/explain.h"
#include "inspect/compare/formats.h"
#include "inspect/compare/groups.h"
#include "inspect/compare/turned.h"
#include "inspect/compare/where.h"
#include "kernels/half.h"
#include "lazybones.h"
#include "session.h"

enum { LARGE = (1 << 20) + 777 };

static struct lbx_out out = { .width = 80 };
static const struct lbx_tolerance tolerance = { 0.5, 1e-2, 1e-1 };

static struct lbx_array array_of(const void *data, int64_t nbytes, enum lb_dtype dtype, int rank, const int64_t *shape)
{
	struct lbx_array a;
	int64_t strides[8], size = 1;

	for (int i = rank; i-- > 0;) {
		strides[i] = size;
		size *= shape[i];
	}
	assert_true(lbx_array_local(data, nbytes, dtype, rank, shape, strides, 0, &a));
	return a;
}

static struct lbx_array line(const void *data, enum lb_dtype dtype, int64_t n)
{
	return array_of(data, n * lbx_dtype_bytes(dtype), dtype, 1, &n);
}

/* ---- one by one ---- */

static void number(const void *element, enum lb_dtype dtype, long double *re, long double *im)
{
	*im = 0;
	if (dtype == LB_U64) {
		uint64_t u;
		memcpy(&u, element, sizeof u);
		*re = u;
	} else if (dtype < LB_F16) {
		*re = lbx_element_int(element, dtype);
	} else {
		float part = 0;
		*re = lbx_element_double(element, dtype);
		if (dtype == LB_C64)
			memcpy(&part, (const char *)element + 4, sizeof part);
		*im = part;
	}
}

static struct lbx_comparison one_by_one(const struct lbx_array *a, const struct lbx_array *b)
{
	struct lbx_comparison c = { .first = -1, .first_far = -1, .first_nan = -1, .worst = -1, .worst_relative = -1 };

	for (int64_t i = 0; i < a->size; i++) {
		unsigned char x[8], y[8];
		long double p, q, r, s, error, size;
		assert_true(lbx_array_copy(a, i, 1, x) && lbx_array_copy(b, i, 1, y));
		number(x, a->dtype, &p, &q);
		number(y, b->dtype, &r, &s);
		bool nan_a = isnan(p) || isnan(q), nan_b = isnan(r) || isnan(s);
		c.count++;
		c.nan_in_both += nan_a && nan_b;
		if ((p == r && q == s) || (nan_a && nan_b))
			continue;
		c.different++;
		c.first = c.first < 0 ? i : c.first;
		error = hypotl(p == r ? 0 : p - r, q == s ? 0 : q - s);
		size = hypotl(r, s);
		bool close = !nan_a && !nan_b && isfinite(error) && error <= tolerance.atol + tolerance.rtol * size;
		c.far += !close;
		c.first_far = c.first_far < 0 && !close ? i : c.first_far;
		if (nan_a != nan_b) {
			c.nan_in_one++;
			c.first_nan = c.first_nan < 0 ? i : c.first_nan;
			continue;
		}
		c.beyond += (double)error >= tolerance.level;
		c.sum += error;
		if ((double)error > c.max) {
			c.max = (double)error;
			c.worst = i;
		}
		if (size > 0 && (double)(error / size) > c.max_relative) {
			c.max_relative = (double)(error / size);
			c.worst_relative = i;
		}
	}
	return c;
}

static void near(long double a, long double b)
{
	assert_true(a == b || fabsl(a - b) <= 1e-9L * (fabsl(a) + fabsl(b)) || (isnan(a) && isnan(b)));
}

static void same(const struct lbx_array *a, const struct lbx_array *b)
{
	struct lbx_comparison wanted = one_by_one(a, b), c;

	assert_true(lbx_compare(a, b, &tolerance, NULL, &out, &c));
	assert_int_equal(c.count, wanted.count);
	assert_int_equal(c.different, wanted.different);
	assert_int_equal(c.beyond, wanted.beyond);
	assert_int_equal(c.far, wanted.far);
	assert_int_equal(c.nan_in_one, wanted.nan_in_one);
	assert_int_equal(c.nan_in_both, wanted.nan_in_both);
	assert_int_equal(c.first, wanted.first);
	assert_int_equal(c.first_far, wanted.first_far);
	assert_int_equal(c.first_nan, wanted.first_nan);
	assert_int_equal(c.worst, wanted.worst);
	near(c.max, wanted.max);
	near(c.max_relative, wanted.max_relative);
	near(c.sum, wanted.sum);
}

/* Numbers of every kind, of two arrays that differ here and there. */
static void fill(void *to, enum lb_dtype dtype, int64_t n, uint64_t seed)
{
	static const float specials[] = { NAN, INFINITY, -INFINITY, 0, -0.0f, 1e-40f, 65504 };
	uint64_t random = 5;

	for (int64_t i = 0; i < n; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		uint64_t r = random >> 16;
		bool differs = (r + seed * (r >> 7)) % 3 == 0;
		float f = (float)(int64_t)(r % 2001) / 10 - 100 + (differs ? (float)seed / 3 : 0);
		if (r % 97 == 0)
			f = specials[(r / 97 + (differs ? seed : 0)) % 7];
		int64_t k = (int64_t)(r % 101) + (differs ? (int64_t)seed : 0);
		char *at = (char *)to + i * lbx_dtype_bytes(dtype);
		uint16_t half = dtype == LB_F16 ? lb_float_to_f16(f) : lb_float_to_bf16(f);
		double d = f;
		float pair[2] = { f, r % 5 == 0 ? 2 : -f };
		uint64_t bits = (uint64_t)k;
		if (dtype == LB_I64 || dtype == LB_U64)
			bits += 1ULL << 60; /* double does not hold these */
		if (dtype == LB_BOOL)
			bits &= 1;
		const void *from = dtype == LB_F16 || dtype == LB_BF16 ? (void *)&half
				   : dtype == LB_F32                   ? (void *)&f
				   : dtype == LB_F64                   ? (void *)&d
				   : dtype == LB_C64                   ? (void *)pair
								       : (void *)&bits;
		memcpy(at, from, (size_t)lbx_dtype_bytes(dtype));
	}
}

static void as_one_by_one(void **state)
{
	static const int64_t sizes[] = { 1, 7, 1023, 1024, 1025, 70001 };
	char *x = malloc(70001 * 8 + 1), *y = malloc(70001 * 8 + 1);

	(void)state;
	for (int p = 0; p < LB_DTYPES; p++) {
		for (int q = 0; q < LB_DTYPES; q++) {
			bool wide = p == LB_I64 || p == LB_U64 || q == LB_I64 || q == LB_U64;
			if (wide && (p >= LB_F16 || q >= LB_F16))
				continue; /* beside floats they count as doubles do */
			int64_t n = sizes[(p + q) % 6];
			/* at odd addresses, too */
			fill(x + p % 2, (enum lb_dtype)p, n, 1);
			fill(y + q % 2, (enum lb_dtype)q, n, 4);
			struct lbx_array a = line(x + p % 2, (enum lb_dtype)p, n);
			struct lbx_array b = line(y + q % 2, (enum lb_dtype)q, n);
			same(&a, &b);
			same(&a, &a);
		}
	}
	free(x);
	free(y);
}

static void in_parts_and_strided(void **state)
{
	float *x = malloc(LARGE * sizeof *x), *y = malloc(LARGE * sizeof *y);
	int64_t shape[] = { 811, 1201 }, turned[] = { 1, 811 };
	struct lbx_array a, b;

	(void)state;
	fill(x, LB_F32, LARGE, 1);
	fill(y, LB_F32, LARGE, 2);
	a = line(x, LB_F32, LARGE);
	b = line(y, LB_F32, LARGE);
	same(&a, &b);
	assert_true(lbx_array_local(x, LARGE * 4, LB_F32, 2, shape, turned, 5, &a));
	b = array_of(y, LARGE * 4, LB_F32, 2, shape);
	same(&a, &b);
	b = line(y, LB_F32, 17);
	struct lbx_comparison c;
	assert_false(lbx_compare(&a, &b, &tolerance, NULL, &out, &c));
	lb_clear_error();
	free(x);
	free(y);
}

static bool halt(struct lbx_out *to, const char *what, int64_t done, int64_t total)
{
	assert_non_null(what);
	assert_true(done <= total);
	++*(int *)to->context;
	return false;
}

static void interrupted(void **state)
{
	float *x = calloc(LARGE, sizeof *x), *y = calloc(LARGE, sizeof *y);
	int calls = 0;
	struct lbx_out stopping = { .width = 80, .context = &calls, .progress = halt };
	struct lbx_array a = line(x, LB_F32, LARGE), b = line(y, LB_F32, LARGE);
	struct lbx_comparison c;
	struct lbx_explanations e;

	(void)state;
	for (int i = 0; i < LARGE; i++)
		y[i] = (float)i;
	assert_false(lbx_compare(&a, &b, &tolerance, NULL, &stopping, &c));
	assert_non_null(strstr(lb_error_message(), "interrupted"));
	lb_clear_error();
	assert_true(lbx_compare(&a, &b, &tolerance, NULL, &out, &c));
	assert_false(lbx_explain(&a, &b, &c, &(struct lbx_explain_options){ -1, -1, 0 }, &stopping, &e));
	assert_non_null(strstr(lb_error_message(), "interrupted"));
	lb_clear_error();
	assert_int_equal(calls, 2);
	/* out of time is no failure */
	assert_true(lbx_explain(&a, &b, &c, &(struct lbx_explain_options){ -1, -1, 1e-9 }, &out, &e));
	assert_true(e.out_of_time && lb_ok() && e.n == 0);
	free(x);
	free(y);
}

/* A view that repeats its elements claims to have more than there can be; it can be stopped. */
static void endless(void **state)
{
	float x = 1, y = 2;
	int64_t shape[] = { 1LL << 40 }, strides[] = { 0 };
	int calls = 0;
	struct lbx_out stopping = { .width = 80, .context = &calls, .progress = halt };
	struct lbx_array a, b;
	struct lbx_comparison c;

	(void)state;
	assert_true(lbx_array_local(&x, 4, LB_F32, 1, shape, strides, 0, &a));
	assert_true(lbx_array_local(&y, 4, LB_F32, 1, shape, strides, 0, &b));
	assert_false(lbx_compare(&a, &b, &tolerance, NULL, &stopping, &c));
	lb_clear_error();
	/* they are too large to be searched */
	struct lbx_explanations e;
	c.different = 1;
	assert_true(lbx_explain(&a, &b, &c, &(struct lbx_explain_options){ -1, -1, 1 }, &out, &e));
	assert_non_null(e.why_not);
	assert_int_equal(e.n, 0);
}

/* ---- where ---- */

enum { ROWS = 133, COLUMNS = 48, PLANES = 5 };
static float x[PLANES][ROWS][COLUMNS], y[PLANES][ROWS][COLUMNS];

static struct lbx_where where(void)
{
	int64_t shape[] = { PLANES, ROWS, COLUMNS };
	struct lbx_array a = array_of(x, sizeof x, LB_F32, 3, shape);
	struct lbx_array b = array_of(y, sizeof y, LB_F32, 3, shape);
	struct lbx_comparison c;
	struct lbx_where w;
	struct lbx_marks marks;

	assert_true(lbx_marks_init(&marks, &a, &b, &tolerance));
	assert_true(lbx_compare(&a, &b, &tolerance, &(struct lbx_observer){ lbx_marks_see, &marks }, &out, &c));
	lbx_where(&marks, &c, &w);
	lbx_marks_deinit(&marks);
	memset(x, 0, sizeof x);
	return w;
}

static void places(void **state)
{
	struct lbx_where w;

	(void)state;
	for (int i = 0; i < PLANES; i++)
		for (int k = 128; k < ROWS; k++)
			for (int j = 0; j < COLUMNS; j++)
				x[i][k][j] = 1;
	w = where();
	assert_int_equal(w.n, 1);
	assert_string_equal(w.axes[0].text,
			    "the last 5 of 133 indices of axis 1, what remains after whole blocks of 128");
	assert_true(w.share == 1);
	for (int i = 0; i < PLANES; i++)
		for (int k = 0; k < ROWS; k++)
			for (int j = 1; j < COLUMNS; j += 3)
				x[i][k][j] = 1;
	w = where();
	assert_int_equal(w.n, 1);
	assert_string_equal(w.axes[0].text, "every 3rd index of axis 2, from 1 to 46");
	for (int step = 11; step <= 22; step += 11) {
		for (int i = 0; i < PLANES; i++)
			for (int k = 0; k < ROWS; k++)
				for (int j = 0; j < 3; j++)
					x[i][k][1 + j * step] = 1;
		w = where();
		assert_int_equal(w.n, 1);
		assert_non_null(strstr(w.axes[0].text, step == 11 ? "every 11th index" : "every 22nd index"));
	}
	for (int k = 20; k < 30; k++)
		for (int j = 0; j < COLUMNS; j++)
			x[3][k][j] = NAN;
	w = where();
	assert_true(w.nan_alone);
	assert_int_equal(w.n, 2);
	assert_string_equal(w.axes[0].text, "index 3 of axis 0");
	assert_string_equal(w.axes[1].text, "indices 20 to 29 of axis 1");
	for (int i = 0; i < PLANES * ROWS * COLUMNS; i++) /* rounding is all over; rows 4 to 8 are wrong */
		((float *)x)[i] = ((float *)y)[i] = (float)(i % 17) - 8;
	for (int i = 0; i < PLANES * ROWS * COLUMNS; i++)
		((float *)x)[i] += i & 1 ? 1e-6f : -1e-6f;
	for (int i = 0; i < PLANES; i++)
		for (int k = 4; k <= 8; k++)
			for (int j = 0; j < COLUMNS; j++)
				x[i][k][j] += 0.5f;
	w = where();
	assert_true(w.is_of_far);
	assert_int_equal(w.n, 1);
	assert_string_equal(w.axes[0].text, "indices 4 to 8 of axis 1");
	assert_true(w.share == 1);
	memset(y, 0, sizeof y);
	x[1][2][3] = 1; /* one says nothing of its axes */
	w = where();
	assert_int_equal(w.n, 0);
	assert_false(w.nan_alone);
	uint64_t random = 3;
	for (int i = 0; i < 200; i++) { /* nor do they */
		random = random * 6364136223846793005 + 1442695040888963407;
		((float *)x)[(random >> 33) % (PLANES * ROWS * COLUMNS)] = 1;
	}
	w = where();
	assert_int_equal(w.n, 0);
}

/* ---- groups ---- */

static void groups(void **state)
{
	enum { N = 300 * 1024, GROUP = 32 };
	float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
	int64_t shape[] = { 300, 1024 };
	struct lbx_groups g;
	double worst = -1, sum = 0, errors = 0, squares = 0;
	int64_t worst_at = -1;

	(void)state;
	fill(b, LB_F32, N, 1);
	for (int i = 0; i < N; i++) {
		b[i] = isfinite(b[i]) ? b[i] : 0;
		a[i] = b[i] + (float)(i % 13) / 50;
	}
	for (int i = 0; i < N; i += GROUP) {
		double e = 0, s = 0;
		for (int k = i; k < i + GROUP; k++) {
			e += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
			s += (double)b[k] * b[k];
		}
		errors += e;
		squares += s;
		sum += sqrt(e / s);
		if (sqrt(e / s) > worst) {
			worst = sqrt(e / s);
			worst_at = i;
		}
	}
	struct lbx_array p = array_of(a, N * 4, LB_F32, 2, shape), q = array_of(b, N * 4, LB_F32, 2, shape);
	assert_true(lbx_groups(&p, &q, GROUP, &out, &g));
	assert_int_equal(g.n, N / GROUP);
	assert_int_equal(g.worst_at, worst_at);
	near(g.worst, worst);
	near(g.mean, sum / (N / GROUP));
	near(g.relative, sqrt(errors / squares));
	assert_false(lbx_groups(&p, &q, 48, &out, &g));
	lb_clear_error();
	shape[1] = 1000;
	p = array_of(a, N * 4, LB_F32, 2, shape);
	assert_false(lbx_groups(&p, &p, GROUP, &out, &g));
	assert_non_null(strstr(lb_error_message(), "no whole groups"));
	lb_clear_error();
	free(a);
	free(b);
}

/* ---- what formats cost ---- */

static double cost(lb_quant how)
{
	double ret = 0;

	LB_SCOPE {
		lb_tensor *x = lb_random_normal(LB_SHAPE(64, 1024), LB_F32, lb_key(5));
		lb_tensor *d = lb_subtract(lb_dequantize(lb_quantize(x, how, NULL), how, LB_F32), x);
		ret = sqrt(lb_item(lb_sum(lb_multiply(d, d), LB_AXES(0, 1), false)) /
			   lb_item(lb_sum(lb_multiply(x, x), LB_AXES(0, 1), false)));
	}
	return ret;
}

static void formats(void **state)
{
	static const int widths[] = { 2, 3, 4, 5, 6, 8 }, groups_of[] = { 32, 64, 128 };
	struct lbx_levels strict = lbx_default_levels;
	char name[24];

	(void)state;
	for (int i = 0; i < 18; i++) {
		int bits = widths[i / 3], group = groups_of[i % 3];
		snprintf(name, sizeof name, "affine %d/%d", bits, group);
		double got = cost((lb_quant){ .mode = LB_QUANT_AFFINE, .bits = bits, .group = group });
		assert_true(fabs(got / lbx_format_error(name) - 1) < 0.03);
	}
	assert_true(fabs(cost((lb_quant){ .mode = LB_QUANT_MXFP4 }) / lbx_format_error("mxfp4") - 1) < 0.03);
	assert_true(fabs(cost((lb_quant){ .mode = LB_QUANT_MXFP8 }) / lbx_format_error("mxfp8") - 1) < 0.03);
	assert_true(fabs(cost((lb_quant){ .mode = LB_QUANT_NVFP4 }) / lbx_format_error("nvfp4") - 1) < 0.03);
	assert_true(lbx_format_error("float32") == 0 && lbx_format_error("") == 0);
	assert_int_equal(lbx_closeness_of_format(LBX_BROKEN, 0.13, "mxfp4", &strict), LBX_AS_EXPECTED);
	assert_int_equal(lbx_closeness_of_format(LBX_BROKEN, 0.2, "mxfp4", &strict), LBX_BROKEN);
	assert_int_equal(lbx_closeness_of_format(LBX_BROKEN, 1e-9, "float32", &strict), LBX_BROKEN);
	assert_int_equal(lbx_closeness_of_format(LBX_CORRECT, 0.1, "mxfp4", &strict), LBX_CORRECT);
	strict.level_given = true;
	assert_int_equal(lbx_closeness_of_format(LBX_BROKEN, 0.1, "mxfp4", &strict), LBX_BROKEN);
}

/* ---- the command, over memory made by hand ---- */

static void commands(void **state)
{
	struct session *s = *state;

	for (int maps = 0; maps < 2; maps++) {
		s->image.maps = maps;
		assert_non_null(strstr(session_says(s, "diff", "x x"), "elements are equal"));
		assert_non_null(strstr(session_says(s, "diff", "x x --rtol -1"), "takes a number"));
		assert_non_null(strstr(session_says(s, "diff", "x x --rtol inf --json"), "\"rtol\":\"Infinity\","));
		assert_non_null(strstr(session_says(s, "diff", "x x --explain maybe"), "on or off"));
		assert_non_null(strstr(session_says(s, "diff", "x nobody"), "no tensor 'nobody'"));
		const char *text = session_says(s, "diff", "x[..., ::-1] x");
		assert_non_null(strstr(text, "different"));
		assert_non_null(strstr(text, "explanation    equal after a flip of axis"));
		text = session_says(s, "diff", "x[..., ::-1] x --json");
		assert_non_null(strstr(text, "\"kind\":\"flip\""));
		text = session_says(s, "diff", "x[..., ::-1] x --explain=off");
		assert_null(strstr(text, "explanation"));
	}
}

static void says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in: %s", part, text);
}

static const int a_constant = 7;

/* Sides that do not go together, and what is none of a tensor's. */
static void without_a_value(void **state)
{
	struct session *self = session_of_self();
	char line[64];

	(void)state;
	if (!self)
		skip();
	LB_SCOPE {
		lb_named("huge", lb_random_normal(LB_SHAPE(4000, 1000, 1000), LB_F32, lb_key(1)));
		lb_tensor *few = lb_named("few", lb_ones(LB_SHAPE(5), LB_F32));
		lb_tensor *plain = lb_named("plain", lb_ones(LB_SHAPE(8, 64), LB_F32));
		assert_true(lb_eval(few, plain));
		says(session_says(self, "diff", "huge few"), "huge has shape (4000, 1000, 1000), but few has (5,)");
		says(session_says(self, "quant", "plain"), "is not quantised");
		snprintf(line, sizeof line, "0x%llx", (unsigned long long)(uintptr_t)&without_a_value);
		says(session_says(self, "owner", line), "code or data of without_a_value");
		snprintf(line, sizeof line, "0x%llx", (unsigned long long)(uintptr_t)&a_constant);
		assert_null(strstr(session_says(self, "owner", line), "which belongs to"));
		const char *data = lb_data(plain);
		lb_clear_cache(); /* so that no free buffer is next to it */
		snprintf(line, sizeof line, "0x%llx", (unsigned long long)(uintptr_t)(data + 8 * 64 * 4));
		says(session_says(self, "owner", line), "0 bytes past the end of buffer");
	}
	session_destroy(self);
}

/* ---- nearly the other, transposed ---- */

enum { TALL = 12, WIDE = 9, SQUARE = 10 };

static uint32_t noise_state;

static float noise(void)
{
	noise_state = noise_state * 1664525 + 1013904223;
	return (float)(noise_state >> 8) / (1 << 23) - 1;
}

/* 1, and this much of noise. */
static void fill_noisy(void *floats, size_t n, float much)
{
	for (size_t i = 0; i < n; i++)
		((float *)floats)[i] = 1 + noise() * much;
}

static struct lbx_turned turned(const float *a, int rank, const int64_t *shape, const float *b, const int64_t *other)
{
	int64_t n = 1;
	struct lbx_turned ret;

	for (int i = 0; i < rank; i++)
		n *= shape[i];
	struct lbx_array one = array_of(a, n * 4, LB_F32, rank, shape), two = array_of(b, n * 4, LB_F32, rank, other);
	assert_true(lbx_find_turned(&one, &two, &out, &ret));
	return ret;
}

static void nearly_transposed(void **state)
{
	static float a[3][TALL][WIDE], b[3][WIDE][TALL], sides[4][SQUARE][SQUARE];
	int64_t tall[] = { 3, TALL, WIDE }, wide[] = { 3, WIDE, TALL }, square[] = { SQUARE, SQUARE };
	struct lbx_turned t;

	(void)state;
	noise_state = 7;
	for (int p = 0; p < 3; p++)
		for (int i = 0; i < TALL; i++)
			for (int k = 0; k < WIDE; k++) {
				a[p][i][k] = 1 + noise();
				b[p][k][i] = a[p][i][k] + noise() / 10;
			}
	b[1][2][3] = NAN; /* one of many */
	t = turned(a[0][0], 3, tall, b[0][0], wide);
	assert_true(t.is_near && t.turned > 0.95 && t.axes[0] == 1 && t.axes[1] == 2);
	assert_true(lbx_turns(&(struct lbx_array){ .rank = 2, .shape = { 2, 3 } },
			      &(struct lbx_array){ .rank = 2, .shape = { 3, 2 } }));
	assert_false(lbx_turns(&(struct lbx_array){ .rank = 2, .shape = { 2, 3 } },
			       &(struct lbx_array){ .rank = 2, .shape = { 2, 3 } }));
	/* what has nothing in common but its size and its mean */
	fill_noisy(b, sizeof b / sizeof ***b, 0.1f);
	assert_false(turned(a[0][0], 3, tall, b[0][0], wide).is_near);
	fill_noisy(b, sizeof b / sizeof ***b, 0);
	assert_false(turned(a[0][0], 3, tall, b[0][0], wide).is_near);
	/* square ones: a symmetric one is its own transpose, and as near as it is */
	for (int i = 0; i < SQUARE; i++)
		for (int k = 0; k < SQUARE; k++) {
			sides[0][i][k] = noise();
			sides[1][k][i] = sides[0][i][k] + noise() / 100;
		}
	t = turned(sides[0][0], 2, square, sides[1][0], square);
	assert_true(t.is_near && t.turned > 0.99 && fabs(t.plain) < 0.8);
	for (int i = 0; i < SQUARE; i++)
		for (int k = 0; k < SQUARE; k++) {
			sides[2][i][k] = sides[0][i][k] + sides[0][k][i];
			sides[3][i][k] = sides[2][i][k] + noise() / 100;
		}
	assert_false(turned(sides[2][0], 2, square, sides[3][0], square).is_near);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_one_by_one),
		cmocka_unit_test(in_parts_and_strided),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(endless),
		cmocka_unit_test(places),
		cmocka_unit_test(groups),
		cmocka_unit_test(nearly_transposed),
		cmocka_unit_test(formats),
		cmocka_unit_test(without_a_value),
		cmocka_unit_test_setup_teardown(commands, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
