/* An element of a block is code * step - least, of which step and least are its group's. So a group's sums are those of
 * its codes, which are bytes, and its extremes lie within those of all codes: numbers are made only where these are beyond
 * the extremes so far. Where a group may hold what is counted apart (NaN, Inf, denormals, what float16 has not), or is
 * rounded to other numbers than the codes say, numbers are made of all that came with it. */
#include "inspect/measure/blocks.h"

#include <math.h>
#include <string.h>

#include "inspect/measure/codes.h"
#include "kernels/grids.h"
#include "kernels/tile.h"

#define LB_BLOCK(ID, decoder, name, number, elements, bytes, group, has_least, lowest, highest, has_sums) \
	_Static_assert(LBX_CODES_AT_ONCE % (elements) == 0 && \
			   (group == LBX_SMALL_GROUP || (group) % LBX_LARGE_GROUP == 0), \
		       name); \
	_Static_assert(!(has_least) || highest < LBX_NO_CODE, name); \
	_Static_assert(group != LBX_SMALL_GROUP || (lowest > -128 && highest < 128), name);
#include "kernels/blocks.def"
#undef LB_BLOCK

/* ---- what a group's elements are ---- */

static float element(const struct lbx_code_groups *g, int group, int i)
{
	return (float)g->codes[group * g->group + i] * g->steps[group] - g->leasts[group];
}

static int64_t first_zero(const struct lbx_code_groups *g)
{
	for (int i = 0; i < g->n; i++)
		for (int k = 0; k < g->group; k++)
			if (g->has_sums ? g->steps[i] == 0 : element(g, i, k) == 0)
				return (int64_t)i * g->group + k;
	return -1;
}

static bool may_be_beyond(const struct lbx_code_groups *g, int group, float low, float high)
{
	return g->low[group] < low || g->high[group] > high;
}

/* Where sums came without codes, those of blocks that have groups which may be beyond these. */
static void take_codes(struct lbx_code_groups *g, const struct lbx_encoding *e, const uint8_t *blocks, float low,
		       float high)
{
	const struct lb_block_decoder *decoder = lb_tiles()->blocks(e->kernel);
	int groups = e->elements / g->group;

	for (int i = 0; i < g->n; i += groups, blocks += e->bytes) {
		bool is_beyond = false;
		for (int k = 0; k < groups; k++)
			is_beyond |= may_be_beyond(g, i + k, low, high);
		if (is_beyond)
			decoder->codes(1, blocks, g->codes + i * g->group, g->steps + i, g->leasts + i);
	}
}

/* Those beyond the extremes so far. */
static void extremes(struct lbx_code_groups *g, const struct lbx_encoding *e, const void *blocks,
		     const struct lbx_summary *s, int64_t first, struct lbx_summary *ret)
{
	float low = s->argmin < 0 ? INFINITY : (float)s->min, high = s->argmax < 0 ? -INFINITY : (float)s->max;

	if (g->has_sums)
		take_codes(g, e, blocks, low, high);
	lbx_code_passes()->narrow(g, low, high);
	for (int i = 0; i < g->n; i++) {
		if (!may_be_beyond(g, i, low, high))
			continue;
		for (int k = 0; k < g->group; k++) {
			float x = element(g, i, k);
			if (x < low) {
				ret->min = low = x;
				ret->argmin = first + i * g->group + k;
			}
			if (x > high) {
				ret->max = high = x;
				ret->argmax = first + i * g->group + k;
			}
		}
	}
}

static void add_numbers(struct lbx_summary *s, const struct lbx_encoding *e, const void *blocks, int64_t n,
			int64_t first)
{
	float values[LBX_CODES_AT_ONCE];

	e->decode(e, blocks, n / e->elements, values);
	lbx_summary_add(s, values, n, first);
}

static void add_some(struct lbx_summary *s, const struct lbx_encoding *e, const void *blocks, int64_t n, int64_t first,
		     struct lbx_code_groups *g)
{
	const struct lbx_code_passes *passes = lbx_code_passes();
	const struct lb_block *b = &lb_blocks[e->kernel];
	const struct lb_block_decoder *decoder = lb_tiles()->blocks(e->kernel);
	struct lbx_summary some;
	struct lbx_code_bounds bounds;
	double sum, squares, shift = 0;

	g->n = (int)(n / b->group);
	g->has_sums = decoder->sums;
	if (g->has_sums)
		decoder->sums(n / e->elements, blocks, g->sums, g->squares, g->steps);
	else
		decoder->codes(n / e->elements, blocks, g->codes, g->steps, g->leasts);
	passes->prepare(g, &bounds);
	if (bounds.is_odd) {
		add_numbers(s, e, blocks, n, first);
		return;
	}
	lbx_summary_init(&some, s->dtype);
	some.count = some.finite = n;
	some.special[LBX_ZERO] = passes->add_up(g, bounds.is_flat);
	if (some.special[LBX_ZERO] && s->first[LBX_ZERO] < 0)
		some.first[LBX_ZERO] = first + first_zero(g);
	if (s->argmin < 0 || s->argmax < 0 || bounds.low < s->min || bounds.high > s->max)
		extremes(g, e, blocks, s, first, &some);
	passes->moments(g, 0, &sum, &squares);
	/* around the mean, where the sum of squares loses more than ten bits around 0 */
	if (squares - sum * sum / (double)n < squares / 1024) {
		shift = sum / (double)n;
		passes->moments(g, shift, &sum, &squares);
	}
	some.mean = shift + (long double)sum / n;
	some.m2 = squares - (long double)sum * (sum / (long double)n);
	some.m2 = some.m2 < 0 ? 0 : some.m2;
	some.sum = (long double)shift * n + sum;
	lbx_summary_merge(s, &some);
}

void lbx_summary_add_blocks(struct lbx_summary *s, const struct lbx_encoding *e, const void *blocks, int64_t n,
			    int64_t first)
{
	const struct lb_block *b = &lb_blocks[e->kernel];
	struct lbx_code_groups g;

	g.group = b->group;
	g.lowest = (float)b->lowest;
	g.highest = (float)b->highest;
	g.has_least = b->has_least;
	memset(g.leasts, 0, sizeof g.leasts);
	memset(g.zero, 0, sizeof g.zero);
	lb_grids();
	for (int64_t done = 0, some; done < n; done += some) {
		some = n - done < LBX_CODES_AT_ONCE ? n - done : LBX_CODES_AT_ONCE;
		add_some(s, e, (const char *)blocks + done / e->elements * e->bytes, some, first + done, &g);
	}
}
