/* Marks, for each axis, the indices at which elements differ. That they are a subset is told when it
 * is worth more bits than it takes to say: each of D differing elements would by chance fall into m of
 * n indices with probability m / n. */
#include "inspect/where.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/pairs.h"

enum { MARGIN_BITS = 16 };
static const int64_t longest = 1LL << 22; /* axes beyond that are not looked at */

struct marks {
	const struct lbx_array *a, *b;
	char *marks[LBX_ARRAY_RANK]; /* NULL: not looked at */
};

/* Several threads do this: a mark is only ever set. */
static void mark(char *at)
{
	if (!__atomic_load_n(at, __ATOMIC_RELAXED))
		__atomic_store_n(at, 1, __ATOMIC_RELAXED);
}

/* Part of one row: the coordinates are those of its first element. */
static void add_run(const struct marks *c, const double *error, int64_t n, const int64_t *at)
{
	int last = c->a->rank - 1;
	bool any = false;

	for (int64_t i = 0; i < n; i++) {
		if (error[i] == 0)
			continue;
		any = true;
		if (!c->marks[last])
			break;
		mark(&c->marks[last][at[last] + i]);
	}
	for (int axis = 0; axis < last && any; axis++)
		if (c->marks[axis])
			mark(&c->marks[axis][at[axis]]);
}

static void add(void *part, const void *x, const void *y, int n, int64_t first)
{
	const struct marks *c = part;
	double error[LBX_PAIRS], size[LBX_PAIRS];
	int64_t at[LBX_ARRAY_RANK];
	int last = c->a->rank - 1;

	if (c->a->dtype == c->b->dtype &&
	    memcmp(x, y, (size_t)(n * lbx_dtype_bytes(c->a->dtype))) == 0)
		return;
	lbx_errors(c->a->dtype, x, c->b->dtype, y, n, error, size);
	lbx_array_coordinates(c->a, first, at);
	for (int done = 0; done < n;) {
		int64_t run = c->a->shape[last] - at[last];
		if (run > n - done)
			run = n - done;
		add_run(c, error + done, run, at);
		done += (int)run;
		at[last] += run;
		for (int axis = last; axis > 0 && at[axis] == c->a->shape[axis]; axis--) {
			at[axis] = 0;
			at[axis - 1]++;
		}
	}
}

/* The marks are common to all parts. */
static void join(void *total, const void *part)
{
	(void)total;
	(void)part;
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
		snprintf(w->text, sizeof w->text, "the last %lld of %lld indices of axis %d%s", count,
			 (long long)n, w->axis, more);
	else if (w->step == 1)
		snprintf(w->text, sizeof w->text, "indices %lld to %lld of axis %d", first, last, w->axis);
	else if (w->step > 1)
		snprintf(w->text, sizeof w->text, "every %lld%s index of axis %d, from %lld to %lld",
			 (long long)w->step, w->step == 2 ? "nd" : w->step == 3 ? "rd" : "th", w->axis, first,
			 last);
	else
		snprintf(w->text, sizeof w->text, "%lld of the %lld indices of axis %d, from %lld to %lld",
			 count, (long long)n, w->axis, first, last);
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

static void judge(const struct marks *c, const struct lbx_comparison *comparison, struct lbx_where *ret)
{
	double room = (double)c->a->size;

	for (int axis = 0; axis < c->a->rank; axis++) {
		struct lbx_where_axis *w = &ret->axes[ret->n];
		int64_t n = c->a->shape[axis];
		if (!c->marks[axis] || !look(c->marks[axis], n, comparison->different, w))
			continue;
		w->axis = axis;
		phrase(w, n);
		room *= (double)w->n / (double)n;
		ret->n++;
	}
	ret->share = (double)comparison->different / room;
}

bool lbx_where(const struct lbx_array *a, const struct lbx_array *b,
	       const struct lbx_comparison *comparison, struct lbx_out *out, struct lbx_where *ret)
{
	struct marks c = { .a = a, .b = b };
	bool done = true;

	*ret = (struct lbx_where){ .n = 0 };
	ret->nan_alone = comparison->nan_in_one > 0 && comparison->nan_in_one == comparison->different;
	if (a->rank == 0 || comparison->different == comparison->count)
		return true;
	for (int axis = 0; axis < a->rank && done; axis++) {
		if (a->shape[axis] < 2 || a->shape[axis] > longest)
			continue;
		c.marks[axis] = calloc((size_t)a->shape[axis], sizeof *c.marks[axis]);
		done = c.marks[axis] || lb_fail("out of memory");
	}
	done = done && lbx_pairs_walk(&(struct lbx_pairs){ .a = a, .b = b, .doing = "locating",
							   .total = &c, .nbytes = sizeof c, .add = add,
							   .join = join }, out);
	if (done)
		judge(&c, comparison, ret);
	for (int axis = 0; axis < a->rank; axis++)
		free(c.marks[axis]);
	return done;
}
