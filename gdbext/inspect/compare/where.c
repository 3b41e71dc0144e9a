/* Marks, for each axis, the indices at which elements differ. That they are a subset is told when it
 * is worth more bits than it takes to say: each of D differing elements would by chance fall into m of
 * n indices with probability m / n. */
#include "inspect/compare/where.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"

enum { MARGIN_BITS = 16, SAMPLES = 512 };
static const int64_t longest = 1LL << 22; /* axes beyond that are not looked at */

void lbx_marks_deinit(struct lbx_marks *m)
{
	for (int axis = 0; axis < m->rank; axis++)
		free(m->marks[LBX_MARK_DIFFERENT][axis]);
	m->rank = 0;
}

/* The root mean square of elements all over an array. */
static double size_of(const struct lbx_array *a)
{
	unsigned char x[8];
	double error, size, squares = 0;
	int n = 0;

	for (int i = 0; i < SAMPLES && a->size > 0; i++) {
		int64_t at = (int64_t)((__int128)(a->size - 1) * i / (SAMPLES - 1));
		if (!lbx_array_copy(a, at, 1, x))
			break;
		lbx_errors(a->dtype, x, a->dtype, x, 1, &error, &size);
		if (isfinite(size)) {
			squares += size * size;
			n++;
		}
	}
	lb_clear_error(); /* who compares will meet it */
	return n ? sqrt(squares / n) : 0;
}

bool lbx_marks_init(struct lbx_marks *m, const struct lbx_array *a, const struct lbx_array *b,
		    const struct lbx_tolerance *tolerance)
{
	double rounding = fmax(lbx_rounding_of(a->dtype), lbx_rounding_of(b->dtype));

	*m = (struct lbx_marks){ .rank = a->rank, .rtol = fmax(tolerance->rtol, rounding) };
	m->atol = fmax(tolerance->atol, m->rtol * size_of(b));
	memcpy(m->shape, a->shape, sizeof m->shape);
	for (int axis = 0; axis < m->rank; axis++) {
		int64_t n = m->shape[axis];
		if (n < 2 || n > longest)
			continue;
		char *both = calloc((size_t)n, LBX_MARKS);
		if (!both) {
			lbx_marks_deinit(m);
			return lb_fail("out of memory");
		}
		for (int kind = 0; kind < LBX_MARKS; kind++) {
			m->left[kind][axis] = n;
			m->marks[kind][axis] = both + kind * n;
		}
	}
	return true;
}

static bool is_wanted(struct lbx_marks *m, int kind, int axis)
{
	return __atomic_load_n(&m->left[kind][axis], __ATOMIC_RELAXED) > 0;
}

/* Several threads do this: a mark is only ever set. */
static void mark(struct lbx_marks *m, int kind, int axis, int64_t at)
{
	char *to = &m->marks[kind][axis][at];

	if (!__atomic_load_n(to, __ATOMIC_RELAXED) && !__atomic_exchange_n(to, 1, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&m->left[kind][axis], 1, __ATOMIC_RELAXED);
}

static bool is_far(const struct lbx_marks *m, double error, double size)
{
	return error != 0 && !(error < INFINITY && error <= m->atol + m->rtol * size);
}

/* Part of one row: the coordinates are those of its first element. */
static void see_run(struct lbx_marks *m, int kind, const double *error, const double *size, int64_t n,
		    const int64_t *at)
{
	int last = m->rank - 1;
	bool any = false, wanted = is_wanted(m, kind, last);

	for (int64_t i = 0; i < n && (wanted || !any); i++) {
		if (kind == LBX_MARK_FAR ? !is_far(m, error[i], size[i]) : error[i] == 0)
			continue;
		any = true;
		if (wanted)
			mark(m, kind, last, at[last] + i);
	}
	for (int axis = 0; axis < last && any; axis++)
		if (is_wanted(m, kind, axis))
			mark(m, kind, axis, at[axis]);
}

static void coordinates(const struct lbx_marks *m, int64_t i, int64_t *ret)
{
	for (int axis = m->rank - 1; axis >= 0; axis--) {
		ret[axis] = i % m->shape[axis];
		i /= m->shape[axis];
	}
}

static void see(struct lbx_marks *m, int kind, const double *errors, const double *sizes, int n, int64_t first)
{
	int64_t at[LBX_ARRAY_RANK];
	int last = m->rank - 1;
	bool wanted = false;

	for (int axis = 0; axis <= last && !wanted; axis++)
		wanted = is_wanted(m, kind, axis);
	if (!wanted)
		return;
	coordinates(m, first, at);
	for (int done = 0; done < n;) {
		int64_t run = m->shape[last] - at[last];
		if (run > n - done)
			run = n - done;
		see_run(m, kind, errors + done, sizes + done, run, at);
		done += (int)run;
		at[last] += run;
		for (int axis = last; axis > 0 && at[axis] == m->shape[axis]; axis--) {
			at[axis] = 0;
			at[axis - 1]++;
		}
	}
}

void lbx_marks_see(void *context, const double *errors, const double *sizes, int n, int64_t first)
{
	struct lbx_marks *m = context;
	int64_t far = 0;

	for (int i = 0; i < n; i++)
		far += is_far(m, errors[i], sizes[i]);
	__atomic_fetch_add(&m->far, far, __ATOMIC_RELAXED);
	see(m, LBX_MARK_DIFFERENT, errors, sizes, n, first);
	if (far)
		see(m, LBX_MARK_FAR, errors, sizes, n, first);
}

static const char *ordinal(int64_t n)
{
	static const char *const ends[] = { "th", "st", "nd", "rd" };

	return n / 10 % 10 == 1 || n % 10 > 3 ? "th" : ends[n % 10];
}

static void phrase(struct lbx_where_axis *w, int64_t n)
{
	long long first = w->first, last = w->last, count = w->n;
	int64_t block = w->first & -w->first; /* the largest power of two that divides it */
	char more[64] = "";

	if (w->n > 1 && w->last == n - 1 && block >= 8 && block > w->n && w->first > 0)
		snprintf(more, sizeof more, ", what remains after whole blocks of %lld", (long long)block);
	if (w->n == 1)
		snprintf(w->text, sizeof w->text, "index %lld of axis %d%s", first, w->axis, more);
	else if (w->step == 1 && w->last == n - 1)
		snprintf(w->text, sizeof w->text, "the last %lld of %lld %s of axis %d%s", count, (long long)n,
			 LB_PLURAL(n, "index", "indices"), w->axis, more);
	else if (w->step == 1)
		snprintf(w->text, sizeof w->text, "indices %lld to %lld of axis %d", first, last, w->axis);
	else if (w->step > 1)
		snprintf(w->text, sizeof w->text, "every %lld%s index of axis %d, from %lld to %lld",
			 (long long)w->step, ordinal(w->step), w->axis, first, last);
	else
		snprintf(w->text, sizeof w->text, "%lld of the %lld %s of axis %d, from %lld to %lld", count,
			 (long long)n, LB_PLURAL(n, "index", "indices"), w->axis, first, last);
}

static bool look(const char *marks, int64_t n, int64_t different, struct lbx_where_axis *ret)
{
	int64_t last = -1;

	ret->n = 0;
	ret->step = 1;
	for (int64_t i = 0; i < n; i++) {
		if (!marks[i])
			continue;
		if (ret->n++ == 0)
			ret->first = i;
		else if (ret->n == 2)
			ret->step = i - last;
		else if (i - last != ret->step)
			ret->step = 0;
		last = i;
	}
	ret->last = last;
	if (ret->n == 0 || ret->n == n)
		return false;
	double cost = log2((double)n) * (ret->step == 1 ? 2 : ret->step ? 3 : (double)ret->n);
	return (double)different * log2((double)n / (double)ret->n) - cost > MARGIN_BITS;
}

void lbx_where(const struct lbx_marks *m, const struct lbx_comparison *comparison, struct lbx_where *ret)
{
	int64_t far = m->far, different = comparison->different;
	double room = (double)comparison->count;

	*ret = (struct lbx_where){ .n = 0 };
	ret->nan_alone = comparison->nan_in_one > 0 && comparison->nan_in_one == different;
	ret->is_of_far = far > 0 && far < different;
	if (ret->is_of_far)
		different = far;
	for (int axis = 0; axis < m->rank; axis++) {
		struct lbx_where_axis *w = &ret->axes[ret->n];
		const char *marks = m->marks[ret->is_of_far ? LBX_MARK_FAR : LBX_MARK_DIFFERENT][axis];
		int64_t n = m->shape[axis];
		if (!marks || !look(marks, n, different, w))
			continue;
		w->axis = axis;
		phrase(w, n);
		room *= (double)w->n / (double)n;
		ret->n++;
	}
	ret->share = (double)different / room;
}

bool lbx_where_part(const struct lbx_where *where, const struct lbx_array *array, struct lbx_array *ret)
{
	*ret = *array;
	for (int i = 0; i < where->n; i++) {
		const struct lbx_where_axis *w = &where->axes[i];
		if (w->n > 1 && w->step == 0)
			continue;
		ret->offset += w->first * ret->strides[w->axis];
		ret->size = ret->size / ret->shape[w->axis] * w->n;
		ret->shape[w->axis] = w->n;
		ret->strides[w->axis] *= w->n > 1 ? w->step : 1;
	}
	return ret->size < array->size;
}
