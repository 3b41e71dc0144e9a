/* Elements that are in their places, with values that are not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/compare/hypothesis.h"

void lbx_generate_rounded(struct lbx_explainer *e)
{
	for (int i = 0; i < 2 * LBX_ROUNDINGS && e->same_shape; i++) {
		struct lbx_candidate c = lbx_candidate_plain(e);
		c.change = LBX_ROUND;
		c.rounding = (enum lbx_rounding)(i / 2);
		c.rtol = c.atol = 0;
		if (i & 1)
			lbx_candidate_turn(e, &c);
		if (!lbx_candidate_try(e, &c))
			return;
	}
}

void lbx_phrase_rounded(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	snprintf(ret, size, "the %s is the %s %s", c->n[0] ? "second" : "first", c->n[0] ? "first" : "second",
		 lbx_rounding_names[c->rounding]);
}

/* Errors of the size that a dtype's rounding makes. */
static const struct {
	const char *name;
	double ulp; /* at most, of a number of size 1 */
} precisions[] = {
	{ "float32", 0x1p-23 },
	{ "float16", 0x1p-10 },
	{ "bfloat16", 0x1p-7 },
};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

void lbx_generate_precision(struct lbx_explainer *e)
{
	for (int i = 0; i < PRECISIONS && e->same_shape && !lbx_explained_by(e, "rounded"); i++) {
		struct lbx_candidate c = lbx_candidate_plain(e);
		c.rtol = 2 * precisions[i].ulp;
		c.atol = 0;
		c.against_equal = true;
		c.n[0] = i;
		if (!lbx_candidate_try(e, &c) || lbx_explained_by(e, "precision"))
			return;
	}
}

void lbx_phrase_precision(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	double largest = e->comparison->max_relative;

	snprintf(ret, size, "errors within 2 ulp of %s (the largest relative error is %.3g, %.3g ulp)",
		 precisions[c->n[0]].name, largest, largest / precisions[c->n[0]].ulp);
}

/* ---- factors and offsets ---- */

struct points {
	int n;
	double a[LBX_SAMPLES], b[LBX_SAMPLES];
};

/* Finite samples, those that differ where there are such. */
static void gather(const struct lbx_explainer *e, struct points *ret)
{
	struct lbx_candidate plain = lbx_candidate_plain(e);
	int from = e->n_samples > e->n_uniform ? e->n_uniform : 0;

	ret->n = 0;
	for (int i = from; i < e->n_samples && e->same_shape; i++) {
		double *a = &ret->a[ret->n], *b = &ret->b[ret->n];
		lbx_candidate_at(&plain, e->samples[i], a, b);
		ret->n += isfinite(*a) && isfinite(*b);
	}
}

static int compare_doubles(const void *p, const void *q)
{
	double x = *(const double *)p, y = *(const double *)q;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof *values, compare_doubles);
	return values[n / 2];
}

/* Of the larger half of B, whose ratios are the most exact; 0 if there is none. */
static double ratio(const struct points *p)
{
	double sizes[LBX_SAMPLES], ratios[LBX_SAMPLES];
	int n = 0;

	for (int i = 0; i < p->n; i++)
		sizes[i] = fabs(p->b[i]);
	double least = p->n ? median(sizes, p->n) : 0;
	for (int i = 0; i < p->n; i++)
		if (p->b[i] != 0 && fabs(p->b[i]) >= least)
			ratios[n++] = p->a[i] / p->b[i];
	return n ? median(ratios, n) : 0;
}

/* "1/sqrt(64)" for 0.125; *factor becomes that very number. "" for one that says nothing. */
static void recognise(const struct lbx_explainer *e, double tolerance, double *factor, char *ret, size_t size)
{
	static const struct {
		double value;
		const char *name;
	} constants[] = {
		{ M_LOG2E, "log2(e)" },     { M_LN2, "ln(2)" },     { M_PI / 180, "pi/180" },
		{ 180 / M_PI, "180/pi" },   { M_PI, "pi" },         { M_SQRT2, "sqrt(2)" },
		{ M_SQRT1_2, "1/sqrt(2)" }, { 1 / 255.0, "1/255" }, { 1 / 127.5, "1/127.5" },
		{ 1 / 65535.0, "1/65535" }, { 1 / 3.0, "1/3" },
	};
	static const char *const forms[] = { "1/sqrt(%lld)", "1/%lld", "sqrt(%lld)" };
	double f = fabs(*factor), sign = *factor < 0 ? -1 : 1;
	const char *minus = *factor < 0 ? "-" : "";

	*ret = '\0';
	for (double whole = rint(f); whole >= 1 && whole < 1e9 && fabs(whole - f) <= tolerance * f;) {
		*factor = sign * whole;
		return; /* its digits say it */
	}
	/* the sizes of the axes, then powers of two */
	for (int i = 0; i < e->b.rank + 24; i++) {
		int64_t n = i < e->b.rank ? e->b.shape[i] : 1LL << (i - e->b.rank + 1);
		double values[] = { 1 / sqrt((double)n), 1 / (double)n, sqrt((double)n) };
		for (int k = 0; k < 3 && n > 1; k++) {
			if (fabs(values[k] - f) > tolerance * f)
				continue;
			int at = snprintf(ret, size, " = %s", minus);
			*factor = sign * values[k];
			snprintf(ret + at, size - (size_t)at, forms[k], (long long)n);
			return;
		}
	}
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		if (fabs(constants[i].value - f) > tolerance * f)
			continue;
		*factor = sign * constants[i].value;
		snprintf(ret, size, " = %s%s", minus, constants[i].name);
		return;
	}
}

static double exactness(const struct lbx_explainer *e)
{
	return e->rtol > 1e-6 ? e->rtol : 1e-6;
}

void lbx_generate_factor(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	struct points points;
	char name[64];

	gather(e, &points);
	c.change = LBX_LINEAR;
	c.factor = ratio(&points);
	if (c.factor == 0 || c.factor == 1 || !isfinite(c.factor))
		return;
	recognise(e, exactness(e), &c.factor, name, sizeof name);
	c.rtol = exactness(e);
	c.atol = e->atol * fabs(c.factor);
	lbx_candidate_try(e, &c);
}

void lbx_phrase_factor(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	double factor = c->factor;
	char name[64];

	recognise(e, exactness(e), &factor, name, sizeof name);
	snprintf(ret, size, "the second x %.6g%s%s", factor, name,
		 factor == -1 ? ": a difference whose operands change places?" : "");
}

void lbx_generate_offset(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	struct points p;
	double differences[LBX_SAMPLES];

	gather(e, &p);
	for (int i = 0; i < p.n; i++)
		differences[i] = p.a[i] - p.b[i];
	c.change = LBX_LINEAR;
	c.factor = 1;
	c.offset = p.n ? median(differences, p.n) : 0;
	if (fabs(rint(c.offset * 2) - c.offset * 2) <= exactness(e))
		c.offset = rint(c.offset * 2) / 2;
	c.atol = fmax(e->atol, e->rtol * fabs(c.offset));
	if (c.offset != 0 && isfinite(c.offset))
		lbx_candidate_try(e, &c);
}

void lbx_phrase_offset(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	snprintf(ret, size, "the second %c %.6g", c->offset < 0 ? '-' : '+', fabs(c->offset));
}

/* Through the samples of the smallest and the largest number of B. */
void lbx_generate_linear(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	struct points p;
	int low = 0, high = 0;

	gather(e, &p);
	for (int i = 1; i < p.n; i++) {
		low = p.b[i] < p.b[low] ? i : low;
		high = p.b[i] > p.b[high] ? i : high;
	}
	if (p.n < 4 || p.b[low] == p.b[high] || lbx_explained_by(e, "factor") || lbx_explained_by(e, "offset"))
		return;
	char name[64];
	c.change = LBX_LINEAR;
	c.factor = (p.a[high] - p.a[low]) / (p.b[high] - p.b[low]);
	recognise(e, 8 * exactness(e), &c.factor, name, sizeof name);
	c.offset = (p.a[high] + p.a[low]) / 2 - c.factor * ((p.b[high] + p.b[low]) / 2);
	if (fabs(rint(c.offset) - c.offset) <= 8 * exactness(e) * fmax(1, fabs(c.offset)))
		c.offset = rint(c.offset);
	c.rtol = exactness(e);
	c.atol = fmax(e->atol * fabs(c.factor), 4 * exactness(e) * fabs(c.offset));
	if (isfinite(c.factor) && c.factor != 0 && isfinite(c.offset))
		lbx_candidate_try(e, &c);
}

void lbx_phrase_linear(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	double factor = c->factor;
	char name[64];

	recognise(e, exactness(e), &factor, name, sizeof name);
	snprintf(ret, size, "the second x %.6g%s %c %.6g", factor, name, c->offset < 0 ? '-' : '+', fabs(c->offset));
}

void lbx_generate_absolute(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);

	c.change = LBX_ABSOLUTE;
	if (e->same_shape && lbx_candidate_try(e, &c)) {
		lbx_candidate_turn(e, &c);
		lbx_candidate_try(e, &c);
	}
}

void lbx_phrase_absolute(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	snprintf(ret, size, "the %s without signs", c->n[0] ? "second is the first" : "first is the second");
}

void lbx_generate_reciprocal(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);

	c.change = LBX_RECIPROCAL;
	c.rtol = exactness(e);
	c.atol = 0;
	if (e->same_shape && e->a.dtype >= LB_F16)
		lbx_candidate_try(e, &c);
}

void lbx_phrase_reciprocal(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	(void)c;
	snprintf(ret, size, "1 / the second: a quotient whose operands change places?");
}

/* ---- one value, in the place of all ---- */

enum { FEW = 16 /* elements that may well be equal */ };

void lbx_generate_constant(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	double ignored;

	for (int i = 0; i < 2 && e->same_shape && e->a.size >= FEW; i++) {
		if (i)
			lbx_candidate_turn(e, &c);
		c.change = LBX_LINEAR;
		c.rtol = c.atol = 0;
		c.tells_of_one = true;
		c.factor = 0;
		if (lbx_candidate_at(&c, e->samples[0], &c.offset, &ignored) && !lbx_candidate_try(e, &c))
			return;
	}
}

void lbx_phrase_constant(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	snprintf(ret, size, "the %s is %g everywhere%s", c->n[0] ? "second" : "first", c->offset,
		 c->offset == 0 ? ": was it ever written?" : "");
}

/* ---- bytes ---- */

void lbx_generate_bytes(struct lbx_explainer *e)
{
	struct lbx_candidate c = lbx_candidate_plain(e);
	int64_t width = lbx_dtype_bytes(e->b.dtype);

	if (!e->same_shape)
		return;
	c.rtol = c.atol = 0;
	c.change = LBX_SWAP_BYTES;
	if (width > 1 && e->a.dtype == e->b.dtype && !lbx_candidate_try(e, &c))
		return;
	c.change = LBX_REINTERPRET;
	for (int as = 0; as < LB_DTYPES; as++) {
		c.as = (enum lb_dtype)as;
		if (c.as == e->b.dtype || as == LB_C64 || as == LB_BOOL || lbx_dtype_bytes(c.as) != width)
			continue;
		if (!lbx_candidate_try(e, &c))
			return;
	}
}

void lbx_phrase_bytes(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	if (c->change == LBX_SWAP_BYTES)
		snprintf(ret, size, "equal after swapping the bytes of each element");
	else
		snprintf(ret, size, "the second's %s read as %s", lbx_dtype_name(e->b.dtype), lbx_dtype_name(c->as));
}
