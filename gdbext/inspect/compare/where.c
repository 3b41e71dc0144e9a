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

enum { MARGIN_BITS = 16 };
static const int64_t longest = 1LL << 22; /* axes beyond that are not looked at */

void lbx_marks_deinit(struct lbx_marks *m)
{
	for (int axis = 0; axis < m->rank; axis++)
		free(m->marks[axis]);
	m->rank = 0;
}

bool lbx_marks_init(struct lbx_marks *m, const struct lbx_array *array)
{
	*m = (struct lbx_marks){ .rank = array->rank };
	memcpy(m->shape, array->shape, sizeof m->shape);
	for (int axis = 0; axis < m->rank; axis++) {
		if (m->shape[axis] < 2 || m->shape[axis] > longest)
			continue;
		m->left[axis] = m->shape[axis];
		m->marks[axis] = calloc((size_t)m->shape[axis], 1);
		if (!m->marks[axis]) {
			lbx_marks_deinit(m);
			return lb_fail("out of memory");
		}
	}
	return true;
}

static bool is_wanted(struct lbx_marks *m, int axis)
{
	return __atomic_load_n(&m->left[axis], __ATOMIC_RELAXED) > 0;
}

/* Several threads do this: a mark is only ever set. */
static void mark(struct lbx_marks *m, int axis, int64_t at)
{
	char *to = &m->marks[axis][at];

	if (!__atomic_load_n(to, __ATOMIC_RELAXED) && !__atomic_exchange_n(to, 1, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&m->left[axis], 1, __ATOMIC_RELAXED);
}

/* Part of one row: the coordinates are those of its first element. */
static void see_run(struct lbx_marks *m, const double *error, int64_t n, const int64_t *at)
{
	int last = m->rank - 1;
	bool any = false, wanted = is_wanted(m, last);

	for (int64_t i = 0; i < n && (wanted || !any); i++) {
		if (error[i] == 0)
			continue;
		any = true;
		if (wanted)
			mark(m, last, at[last] + i);
	}
	for (int axis = 0; axis < last && any; axis++)
		if (is_wanted(m, axis))
			mark(m, axis, at[axis]);
}

static void coordinates(const struct lbx_marks *m, int64_t i, int64_t *ret)
{
	for (int axis = m->rank - 1; axis >= 0; axis--) {
		ret[axis] = i % m->shape[axis];
		i /= m->shape[axis];
	}
}

void lbx_marks_see(void *context, const double *errors, int n, int64_t first)
{
	struct lbx_marks *m = context;
	int64_t at[LBX_ARRAY_RANK];
	int last = m->rank - 1;
	bool wanted = false;

	for (int axis = 0; axis <= last && !wanted; axis++)
		wanted = is_wanted(m, axis);
	if (!wanted)
		return;
	coordinates(m, first, at);
	for (int done = 0; done < n;) {
		int64_t run = m->shape[last] - at[last];
		if (run > n - done)
			run = n - done;
		see_run(m, errors + done, run, at);
		done += (int)run;
		at[last] += run;
		for (int axis = last; axis > 0 && at[axis] == m->shape[axis]; axis--) {
			at[axis] = 0;
			at[axis - 1]++;
		}
	}
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
	double room = (double)comparison->count;

	*ret = (struct lbx_where){ .n = 0 };
	ret->nan_alone = comparison->nan_in_one > 0 && comparison->nan_in_one == comparison->different;
	for (int axis = 0; axis < m->rank; axis++) {
		struct lbx_where_axis *w = &ret->axes[ret->n];
		int64_t n = m->shape[axis];
		if (!m->marks[axis] || !look(m->marks[axis], n, comparison->different, w))
			continue;
		w->axis = axis;
		phrase(w, n);
		room *= (double)w->n / (double)n;
		ret->n++;
	}
	ret->share = (double)comparison->different / room;
}
