/* Sampling by Gumbel's trick: the index of the largest logit + g is distributed as the softmax of
 * the logits, if g = -log(-log(u)) for independent uniform u. u has 32 bits, so g is below
 * HIGHEST, and most of a peaked distribution is passed over without drawing. Scalar libm in double:
 * the choice is the same on every machine. Vector functions, whose last bits are not, only say of
 * which elements that has to be computed: those that may beat the best so far. */
#include <math.h>

#include "base/plural.h"
#include "kernels/model.h"
#include "kernels/philox.h"
#include "kernels/row.h"
#include "kernels/share.h"
#include "kernels/tile.h"

enum { GRAIN = 1 << 12, AT_ONCE = 4 * LB_PHILOX_BLOCKS };
#define HIGHEST 22.9 /* more than 33 log(2) */
#define SLACK 1e-6   /* far more than vector functions are off by, in g */

struct job {
	const struct lb_view *x;
	int axis;
	int64_t inner; /* row-major elements from one of a line to the next */
	uint64_t key;
	uint32_t *to;
};

struct best {
	double value;
	uint32_t choice;
	bool nan; /* nothing beats the first of them */
};

static double gumbel(uint32_t word)
{
	return -log(-log(((double)word + 0.5) * 0x1p-32));
}

/* The n elements from number `first` of the line on, whose words begin with that of number `at`. */
static void draw_some(const struct job *job, const double *logits, int64_t first, int64_t n, uint64_t at,
		      struct best *best)
{
	const struct lb_tiles *tiles = lb_tiles();
	double g[AT_ONCE] __attribute__((aligned(64)));
	uint32_t drawn[LB_PHILOX_WORDS];
	const uint32_t *words = drawn + at % 4;
	bool any = false;
	for (int64_t i = 0; i < n; i++)
		any |= !(logits[i] + HIGHEST <= best->value);
	if (!any)
		return;
	tiles->random_words(job->key, at / 4, LB_PHILOX_CHOICES, drawn);
	for (int64_t i = 0; i < n; i++)
		g[i] = ((double)(int32_t)(words[i] ^ 0x80000000u) + (0x1p31 + 0.5)) * 0x1p-32;
	tiles->math(LB_OP_LOG, LB_F64)(n, g, g, NULL, NULL);
	for (int64_t i = 0; i < n; i++)
		g[i] = -g[i];
	tiles->math(LB_OP_LOG, LB_F64)(n, g, g, NULL, NULL);
	for (int64_t i = 0; i < n; i++) {
		/* sums keep the order of what is added to */
		if (logits[i] + (SLACK - g[i]) <= best->value)
			continue;
		double value = isnan(logits[i]) ? (double)INFINITY : logits[i] + gumbel(words[i]);
		if (value > best->value || isnan(logits[i])) {
			*best = (struct best){ value, (uint32_t)(first + i), isnan(logits[i]) };
			if (best->nan)
				return;
		}
	}
}

/* A line whose elements have words that follow each other. */
static uint32_t draw_along(const struct job *job, const char *from, int64_t n, int64_t stride, int64_t first)
{
	int64_t bytes = lb_width_of(job->x->dtype);
	double logits[AT_ONCE] __attribute__((aligned(64)));
	char raw[AT_ONCE * 8] __attribute__((aligned(64)));
	struct best best = { .value = -(double)INFINITY };
	for (int64_t i = 0; i < n && !best.nan;) {
		int64_t at = first + i, m = AT_ONCE - at % 4;
		m = m < n - i ? m : n - i;
		lb_gather_row(raw, from + i * stride * bytes, m, stride, bytes);
		lb_tiles()->convert(LB_F64, job->x->dtype)(m, logits, raw, NULL, NULL);
		draw_some(job, logits, i, m, (uint64_t)at, &best);
		i += m;
	}
	return best.choice;
}

static void draw_line(void *arg, void *scratch, int64_t line)
{
	(void)scratch;
	const struct job *job = arg;
	const struct lb_view *x = job->x;
	int64_t n = x->shape[job->axis], stride = x->strides[job->axis], bytes = lb_width_of(x->dtype);
	int64_t shape[LB_MAX_RANK], index[LB_MAX_RANK];
	memcpy(shape, x->shape, sizeof shape);
	shape[job->axis] = 1;
	lb_index_of(x->rank, shape, line, index);
	const char *from = (const char *)x->data + lb_offset_of(x->rank, index, x->strides) * bytes;
	int64_t first = line / job->inner * job->inner * n + line % job->inner;
	if (job->inner == 1) {
		job->to[line] = draw_along(job, from, n, stride, first);
		return;
	}
	struct lb_philox_block block = { { 0 } };
	uint64_t drawn = UINT64_MAX;
	double best = -INFINITY;
	uint32_t choice = 0;
	for (int64_t i = 0; i < n; i++) {
		double logit = lb_load_double(from + i * stride * bytes, x->dtype);
		if (logit + HIGHEST <= best)
			continue;
		if (isnan(logit)) {
			choice = (uint32_t)i;
			break;
		}
		uint64_t at = (uint64_t)(first + i * job->inner);
		if (at / 4 != drawn) {
			drawn = at / 4;
			block = lb_philox(job->key, drawn, LB_PHILOX_CHOICES);
		}
		double value = logit + gumbel(block.w[at % 4]);
		if (value > best) {
			best = value;
			choice = (uint32_t)i;
		}
	}
	job->to[line] = choice;
}

bool lb_kernel_categorical(struct lb_exec *exec, const struct lb_view *x, int axis, uint64_t key, uint32_t *to)
{
	if (axis < 0 || axis >= x->rank || x->shape[axis] == 0 || !lb_dtype_is_float(x->dtype))
		return lb_fail("categorical: not defined for %s, axis %d of %d %s", lb_dtypes[x->dtype].name, axis,
			       x->rank, LB_PLURAL(x->rank, "axis", "axes"));
	struct job job = { .x = x,
			   .axis = axis,
			   .key = key,
			   .to = to,
			   .inner = lb_shape_size(x->rank - axis - 1, x->shape + axis + 1) };
	int64_t n = x->shape[axis], lines = lb_shape_size(x->rank, x->shape) / n;
	return lb_share(exec, lines, GRAIN / n + 1, 0, draw_line, &job);
}
