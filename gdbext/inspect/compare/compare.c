/* A block of both sides fits the first-level cache. One loop over it counts all that is wrong, by
 * masks instead of branches. Where it happens is searched for only in a block that holds a first or a
 * new extreme, and blocks of the same bytes are not looked at further. */
#include "inspect/measure/isa.h"

#include "inspect/compare/compare.h"

#include <math.h>
#include <string.h>

#include "inspect/measure/pairs.h"
#include "inspect/measure/widen.h"

enum { VECTOR = 8 };

/* What a block adds. */
struct block {
	int64_t different, beyond, far, nan, nan_in_both;
	double max, sum, squares;
	int64_t more_relative; /* relative errors over the limit */
};

typedef double doubles __attribute__((vector_size(VECTOR * sizeof(double))));

/* |x - y| and |y|; the error is 0 where they are equal, also if both are NaN; NaN where one alone is. */
INLINE void errors(const double *restrict x, const double *restrict y, int n, double *restrict error,
		   double *restrict size)
{
	for (int i = 0; i < n; i++) {
		double a = x[i], b = y[i], d = fabs(a - b);
		bool equal = (a == b) | ((a != a) & (b != b));
		size[i] = fabs(b);
		error[i] = equal ? 0 : d;
	}
}

/* NaN is put aside, then the largest error is that of the largest bits: IEEE 754 orders numbers from
 * 0 on as integers, whose maxima compilers vectorise. */
INLINE void count(const double *error, const double *size, int n, const struct lbx_tolerance *t, double max_relative,
		  struct block *ret)
{
	int64_t different = 0, beyond = 0, far = 0, nan = 0, both = 0, more = 0, most = 0;
	double level = t->level, rtol = t->rtol, atol = t->atol, numbers[LBX_PAIRS], sum = 0, square = 0;
	/* of errors that are all in one proportion, rounding makes none a new extreme */
	double over = max_relative * (1 + 0x1p-40);

	for (int i = 0; i < n; i++) {
		double e = error[i], s = size[i];
		int64_t wrong = e != 0, number = e == e;
		int64_t close = (e < INFINITY) & (e <= atol + rtol * s);
		different += wrong;
		nan += 1 - number;
		both += (e == 0) & (s != s);
		beyond += e >= level;
		far += wrong & (1 - close);
		more += (e > over * s) & (s > 0);
		numbers[i] = number ? e : 0;
	}
	for (int i = 0; i < n; i++) {
		int64_t bits;
		memcpy(&bits, &numbers[i], sizeof bits);
		most = bits > most ? bits : most;
	}
	doubles sums = { 0 }, squares = { 0 };
	int whole = n - n % VECTOR;
	for (int i = 0; i < whole; i += VECTOR) {
		doubles e;
		memcpy(&e, numbers + i, sizeof e);
		sums += e;
		squares += e * e;
	}
	for (int i = whole; i < n; i++) {
		sum += numbers[i];
		square += numbers[i] * numbers[i];
	}
	for (int k = 0; k < VECTOR; k++) {
		sum += sums[k];
		square += squares[k];
	}
	*ret = (struct block){ different, beyond, far, nan, both, 0, sum, square, more };
	memcpy(&ret->max, &most, sizeof most);
}

INLINE int64_t count_nan(const double *x, int n)
{
	int64_t nan = 0;

	for (int i = 0; i < n; i++)
		nan += x[i] != x[i];
	return nan;
}

struct kernels {
	int64_t (*count_nan)(const double *, int);
	void (*errors)(const double *, const double *, int, double *, double *);
	void (*count)(const double *, const double *, int, const struct lbx_tolerance *, double, struct block *);
};

#define LEVEL(isa, attribute) \
	attribute static void errors_##isa(const double *x, const double *y, int n, double *error, double *size) \
	{ \
		errors(x, y, n, error, size); \
	} \
	attribute static void count_##isa(const double *e, const double *s, int n, const struct lbx_tolerance *t, \
					  double max, struct block *ret) \
	{ \
		count(e, s, n, t, max, ret); \
	} \
	attribute static int64_t count_nan_##isa(const double *x, int n) \
	{ \
		return count_nan(x, n); \
	} \
	static const struct kernels kernels_##isa = { count_nan_##isa, errors_##isa, count_##isa };
LEVEL(base, )
#ifdef __x86_64__
LEVEL(v3, LBX_ISA_V3)
LEVEL(v4, LBX_ISA_V4)
#endif

static void complex_errors(enum lb_dtype p, const char *x, enum lb_dtype q, const char *y, int n, double *error,
			   double *size)
{
	int64_t v = lbx_dtype_bytes(p), w = lbx_dtype_bytes(q);

	for (int i = 0; i < n; i++, x += v, y += w) {
		double a = lbx_element_double(x, p), b = lbx_element_double(y, q);
		float c = 0, d = 0;
		if (p == LB_C64)
			memcpy(&c, x + 4, sizeof c);
		if (q == LB_C64)
			memcpy(&d, y + 4, sizeof d);
		bool nan_a = isnan(a) || isnan(c), nan_b = isnan(b) || isnan(d);
		error[i] = nan_a != nan_b ? NAN
			   : nan_a || (a == b && c == d)
			       ? 0
			       : hypot(a == b ? 0 : a - b, c == d ? 0 : (double)c - (double)d);
		size[i] = nan_b ? NAN : hypot(b, d);
	}
}

static bool is_wide(enum lb_dtype dtype)
{
	return dtype == LB_I64 || dtype == LB_U64;
}

/* Where double holds both for equal: the difference of 128-bit integers. */
static void integer_errors(enum lb_dtype p, const char *x, enum lb_dtype q, const char *y, int n, double *error)
{
	int64_t v = lbx_dtype_bytes(p), w = lbx_dtype_bytes(q);

	for (int i = 0; i < n; i++) {
		int64_t a = lbx_element_int(x + i * v, p), b = lbx_element_int(y + i * w, q);
		__int128 d = (p == LB_U64 ? (__int128)(uint64_t)a : a) - (q == LB_U64 ? (__int128)(uint64_t)b : b);
		error[i] = (double)(d < 0 ? -d : d);
	}
}

void lbx_errors(enum lb_dtype a, const void *x, enum lb_dtype b, const void *y, int n, double *error, double *size)
{
	double p[LBX_PAIRS], q[LBX_PAIRS];

	if (a == LB_C64 || b == LB_C64) {
		complex_errors(a, x, b, y, n, error, size);
		return;
	}
	lbx_widen(a, x, n, p);
	lbx_widen(b, y, n, q);
	LBX_ISA_CHOOSE(kernels)->errors(p, q, n, error, size);
	if (a < LB_F16 && b < LB_F16 && (is_wide(a) || is_wide(b)))
		integer_errors(a, x, b, y, n, error);
}

static int find_over(const double *values, int n, double limit)
{
	int i = 0;

	while (i < n && !(values[i] >= limit))
		i++;
	return i;
}

static int find_first(const double *error, const double *size, int n, const struct lbx_tolerance *t, bool far, bool nan)
{
	int i = 0;

	for (; i < n; i++) {
		bool close = error[i] < INFINITY && error[i] <= t->atol + t->rtol * size[i];
		if (error[i] != 0 && !(far && close) && (!nan || isnan(error[i])))
			break;
	}
	return i;
}

static void worst_relative(struct lbx_comparison *c, const double *error, const double *size, int n, int64_t first)
{
	for (int i = 0; i < n; i++) {
		if (size[i] > 0 && error[i] / size[i] > c->max_relative) {
			c->max_relative = error[i] / size[i];
			c->worst_relative = first + i;
		}
	}
}

/* Where in a block that holds a first, or a new extreme. */
static void locate(struct lbx_comparison *c, const struct block *b, const double *error, const double *size, int n,
		   int64_t first)
{
	const struct lbx_tolerance *t = &c->tolerance;

	if (c->first < 0)
		c->first = first + find_first(error, size, n, t, false, false);
	if (b->far && c->first_far < 0)
		c->first_far = first + find_first(error, size, n, t, true, false);
	if (b->nan && c->first_nan < 0)
		c->first_nan = first + find_first(error, size, n, t, false, true);
	if (b->max > c->max) {
		c->max = b->max;
		c->worst = first + find_over(error, n, b->max);
	}
	if (b->more_relative)
		worst_relative(c, error, size, n, first);
}

/* Of a block that is the same on both sides. */
static int64_t count_nan_in_both(enum lb_dtype dtype, const void *x, int n)
{
	double p[LBX_PAIRS], error[LBX_PAIRS];

	if (dtype < LB_F16)
		return 0;
	if (dtype == LB_C64)
		complex_errors(dtype, x, dtype, x, n, error, p);
	else
		lbx_widen(dtype, x, n, p);
	return LBX_ISA_CHOOSE(kernels)->count_nan(p, n);
}

static void add(void *part, const void *x, const void *y, int n, int64_t first)
{
	struct lbx_comparison *c = part;
	double error[LBX_PAIRS], size[LBX_PAIRS];
	struct block b;

	c->count += n;
	if (c->a == c->b && memcmp(x, y, (size_t)(n * lbx_dtype_bytes(c->a))) == 0) {
		c->nan_in_both += count_nan_in_both(c->a, x, n);
		return;
	}
	lbx_errors(c->a, x, c->b, y, n, error, size);
	LBX_ISA_CHOOSE(kernels)->count(error, size, n, &c->tolerance, c->max_relative, &b);
	c->nan_in_both += b.nan_in_both;
	if (b.different == 0)
		return;
	locate(c, &b, error, size, n, first);
	if (c->observer)
		c->observer->see(c->observer->context, error, size, n, first);
	c->different += b.different;
	c->beyond += b.beyond;
	c->far += b.far;
	c->nan_in_one += b.nan;
	c->sum += b.sum;
	c->squares += b.squares;
}

static void take_first(int64_t *first, int64_t later)
{
	if (*first < 0)
		*first = later;
}

static void join(void *total, const void *part)
{
	struct lbx_comparison *c = total;
	const struct lbx_comparison *p = part;

	c->count += p->count;
	c->different += p->different;
	c->beyond += p->beyond;
	c->far += p->far;
	c->nan_in_one += p->nan_in_one;
	c->nan_in_both += p->nan_in_both;
	c->sum += p->sum;
	c->squares += p->squares;
	take_first(&c->first, p->first);
	take_first(&c->first_far, p->first_far);
	take_first(&c->first_nan, p->first_nan);
	if (p->max > c->max) {
		c->max = p->max;
		c->worst = p->worst;
	}
	if (p->max_relative > c->max_relative) {
		c->max_relative = p->max_relative;
		c->worst_relative = p->worst_relative;
	}
}

double lbx_rounding_of(enum lb_dtype dtype)
{
	return dtype < LB_F16     ? 0
	       : dtype == LB_BF16 ? 0x1p-6
	       : dtype == LB_F16  ? 0x1p-9
	       : dtype == LB_F64  ? 1e-9
				  : 1e-5;
}

int64_t lbx_compared(const struct lbx_comparison *comparison)
{
	return comparison->count - comparison->nan_in_one - comparison->nan_in_both;
}

bool lbx_compare(const struct lbx_array *a, const struct lbx_array *b, const struct lbx_tolerance *tolerance,
		 const struct lbx_observer *observer, struct lbx_out *out, struct lbx_comparison *ret)
{
	*ret = (struct lbx_comparison){ .tolerance = *tolerance,
					.observer = observer,
					.a = a->dtype,
					.b = b->dtype,
					.first = -1,
					.first_far = -1,
					.first_nan = -1,
					.worst = -1,
					.worst_relative = -1 };
	return lbx_pairs_walk(
	    &(struct lbx_pairs){
		.a = a, .b = b, .doing = "comparing", .total = ret, .nbytes = sizeof *ret, .add = add, .join = join },
	    out);
}
