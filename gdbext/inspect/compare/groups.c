#include "inspect/compare/groups.h"

#include <math.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/compare/compare.h"
#include "inspect/measure/pairs.h"

#define BAD 0.1

struct work {
	enum lb_dtype a, b;
	struct lbx_groups sums;
	double means; /* sum of the groups' relative errors */
};

/* Parts and blocks begin at multiples of LBX_PAIRS: no group is cut. */
static void add(void *part, const void *x, const void *y, int n, int64_t first)
{
	struct work *w = part;
	struct lbx_groups *g = &w->sums;
	double error[LBX_PAIRS], size[LBX_PAIRS];

	lbx_errors(w->a, x, w->b, y, n, error, size);
	for (int at = 0; at < n; at += (int)g->group) {
		double errors = 0, squares = 0;
		for (int i = at; i < at + g->group; i++) {
			if (!isfinite(error[i]) || !isfinite(size[i]))
				continue;
			errors += error[i] * error[i];
			squares += size[i] * size[i];
		}
		g->errors += errors;
		g->squares += squares;
		g->n++;
		if (squares == 0)
			continue;
		double relative = sqrt(errors / squares);
		w->means += relative;
		g->counted++;
		g->over += relative > BAD;
		if (relative > g->worst || g->worst_at < 0) {
			g->worst = relative;
			g->worst_at = first + at;
		}
	}
}

static void join(void *total, const void *part)
{
	struct work *w = total;
	const struct work *p = part;
	struct lbx_groups *g = &w->sums;

	w->means += p->means;
	g->errors += p->sums.errors;
	g->squares += p->sums.squares;
	g->n += p->sums.n;
	g->counted += p->sums.counted;
	g->over += p->sums.over;
	if (p->sums.worst_at >= 0 && (g->worst_at < 0 || p->sums.worst > g->worst)) {
		g->worst = p->sums.worst;
		g->worst_at = p->sums.worst_at;
	}
}

bool lbx_groups(const struct lbx_array *a, const struct lbx_array *b, int64_t group, struct lbx_out *out,
		struct lbx_groups *ret)
{
	struct work w = { .a = a->dtype, .b = b->dtype, .sums = { .group = group, .worst_at = -1 } };
	int64_t row = a->rank ? a->shape[a->rank - 1] : 1;

	if (group < 2 || group > LBX_PAIRS || (group & (group - 1)))
		return lb_fail("groups of %lld element%s: a power of two from 2 to %d is needed", (long long)group,
			       LB_S(group), LBX_PAIRS);
	if (row % group)
		return lb_fail("an axis of %lld element%s has no whole groups of %lld", (long long)row, LB_S(row),
			       (long long)group);
	if (!lbx_pairs_walk(&(struct lbx_pairs){ .a = a,
						 .b = b,
						 .doing = "comparing groups",
						 .total = &w,
						 .nbytes = sizeof w,
						 .add = add,
						 .join = join },
			    out))
		return false;
	*ret = w.sums;
	ret->mean = ret->counted ? w.means / (double)ret->counted : 0;
	ret->relative = ret->squares > 0 ? (double)sqrtl(ret->errors / ret->squares) : 0;
	return true;
}
