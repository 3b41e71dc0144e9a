#include "inspect/measure/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/tensor/array.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

bool lbx_sample_init(struct lbx_sample *s, enum lb_dtype dtype, int64_t size)
{
	*s = (struct lbx_sample){ .dtype = dtype, .size = size };
	s->step = size > 0 ? (size - 1) / LBX_SAMPLE_MAX + 1 : 1;
	s->values = malloc(((size_t)(size / s->step) + 1) * sizeof *s->values);
	return s->values || lb_fail("out of memory for a sample of the values");
}

void lbx_sample_deinit(struct lbx_sample *s)
{
	free(s->values);
	s->values = NULL;
}

/* Which element of step i is taken: scattered, so that a period in the data does not show. */
static int64_t pick(const struct lbx_sample *s, int64_t i)
{
	uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9ULL;
	return i * s->step + (int64_t)((h >> 11) % (uint64_t)s->step);
}

int64_t lbx_sample_next(const struct lbx_sample *s)
{
	if (s->next >= s->size / s->step)
		return s->size;
	return s->step == 1 ? s->next : pick(s, s->next);
}

void lbx_sample_add(struct lbx_sample *s, const void *elements, int64_t n, int64_t first)
{
	int64_t width = lbx_dtype_bytes(s->dtype);

	for (int64_t at; (at = lbx_sample_next(s)) < first + n && at < s->size; s->next++) {
		const char *e = (const char *)elements + (at - first) * width;
		double value = lbx_element_magnitude(e, s->dtype);
		if (!isnan(value))
			s->values[s->n++] = value;
	}
}

/* Every part has room of its own among the values: a step takes one at most. */
struct lbx_sample lbx_sample_part(const struct lbx_sample *s, int64_t first)
{
	struct lbx_sample part = *s;

	part.next = first / s->step;
	part.values = s->values + part.next;
	part.n = 0;
	return part;
}

void lbx_sample_join(struct lbx_sample *s, const struct lbx_sample *part)
{
	memmove(s->values + s->n, part->values, (size_t)part->n * sizeof *s->values);
	s->n += part->n;
	s->next = part->next;
}

/* Radix sort of bits that are ordered as the numbers are. Digits that are the same
 * everywhere, as the low ones of what was a float, cost nothing. */
bool lbx_sample_sort(struct lbx_sample *s)
{
	size_t n = (size_t)s->n;
	lb_auto_free uint64_t *from = malloc(n * sizeof *from + 1), *to = malloc(n * sizeof *to + 1);
	uint64_t *swap;
	static const uint64_t sign = 1ULL << 63;
	uint64_t all_or = 0, all_and = UINT64_MAX;

	if (!from || !to)
		return lb_fail("out of memory for a sample of the values");
	for (size_t i = 0; i < n; i++) {
		memcpy(&from[i], &s->values[i], sizeof from[i]);
		from[i] = from[i] & sign ? ~from[i] : from[i] | sign;
		all_or |= from[i];
		all_and &= from[i];
	}
	for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
		size_t starts[DIGITS] = { 0 }, sum = 0;
		if (((all_or ^ all_and) >> shift & (DIGITS - 1)) == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			starts[from[i] >> shift & (DIGITS - 1)]++;
		for (int d = 0; d < DIGITS; d++) {
			size_t count = starts[d];
			starts[d] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < n; i++) {
		from[i] = from[i] & sign ? from[i] & ~sign : ~from[i];
		memcpy(&s->values[i], &from[i], sizeof from[i]);
	}
	return true;
}

double lbx_sample_quantile(const struct lbx_sample *s, double q)
{
	if (s->n == 0)
		return NAN;
	double at = q * (double)(s->n - 1);
	int64_t i = (int64_t)at;
	double a = s->values[i], b = s->values[i + 1 < s->n ? i + 1 : i];
	double part = at - (double)i;
	if (a == b || part == 0)
		return a;
	/* between an infinity and anything there is only the infinity */
	return isinf(a) ? a : isinf(b) ? b : a + (b - a) * part;
}

int lbx_sample_histogram(const struct lbx_sample *s, int n, int64_t *counts, double *low, double *high)
{
	int64_t first = 0, last = s->n - 1;

	memset(counts, 0, (size_t)n * sizeof *counts);
	while (first <= last && isinf(s->values[first]))
		first++;
	while (last >= first && isinf(s->values[last]))
		last--;
	if (first > last)
		return 0;
	*low = s->values[first];
	*high = s->values[last];
	n = *low == *high ? 1 : n;
	/* halves: the difference of two doubles may be Inf */
	double width = (*high / 2 - *low / 2) / n;
	for (int64_t i = first; i <= last; i++) {
		double bin = width > 0 ? (s->values[i] / 2 - *low / 2) / width : 0;
		counts[bin >= n ? n - 1 : bin > 0 ? (int)bin : 0]++;
	}
	return n;
}

double lbx_histogram_edge(double low, double high, int n, int i)
{
	return i == n ? high : low + (high / n - low / n) * i;
}

int lbx_histogram_digits(double low, double high, int n)
{
	double width = high / n - low / n, largest = fmax(fabs(low), fabs(high));
	double digits = width > 0 ? ceil(log10(largest / width)) + 1 : 0;

	return digits < 4 ? 4 : digits > 17 ? 17 : (int)digits;
}
