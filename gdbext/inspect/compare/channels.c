#include "inspect/compare/channels.h"

#include <math.h>
#include <stdlib.h>

#include "inspect/measure/widen.h"

enum { AT_ONCE = 1024 };

/* Goes over the elements of an array with the channel of each. */
struct walk {
	const struct lbx_array *array;
	int64_t at[LBX_ARRAY_RANK], steps[LBX_ARRAY_RANK], channel;
};

static struct walk begin(const struct lbx_array *array, unsigned axes)
{
	struct walk w = { .array = array };
	int64_t step = 1;

	for (int axis = array->rank - 1; axis >= 0; axis--) {
		w.steps[axis] = axes & 1u << axis ? step : 0;
		step *= axes & 1u << axis ? array->shape[axis] : 1;
	}
	return w;
}

static void go_on(struct walk *w)
{
	for (int axis = w->array->rank - 1; axis >= 0; axis--) {
		w->channel += w->steps[axis];
		if (++w->at[axis] < w->array->shape[axis])
			return;
		w->channel -= w->steps[axis] * w->array->shape[axis];
		w->at[axis] = 0;
	}
}

struct extremes {
	double low, high, at_low, at_high;
};

static void find_extremes(const struct lbx_array *x, const struct lbx_array *y, unsigned axes, struct extremes *ret)
{
	double p[AT_ONCE], q[AT_ONCE];
	struct walk w = begin(x, axes);

	for (int64_t done = 0; done < x->size; done += AT_ONCE) {
		int n = x->size - done < AT_ONCE ? (int)(x->size - done) : AT_ONCE;
		lbx_widen_local(x, done, n, p);
		lbx_widen_local(y, done, n, q);
		for (int i = 0; i < n; i++, go_on(&w)) {
			struct extremes *at = &ret[w.channel];
			if (isfinite(p[i]) && isfinite(q[i]) && p[i] < at->low) {
				at->low = p[i];
				at->at_low = q[i];
			}
			if (isfinite(p[i]) && isfinite(q[i]) && p[i] > at->high) {
				at->high = p[i];
				at->at_high = q[i];
			}
		}
	}
}

bool lbx_channels_fit(const struct lbx_array *x, const struct lbx_array *y, unsigned axes, struct lbx_channels *ret)
{
	int64_t n = 1;

	*ret = (struct lbx_channels){ .axes = axes };
	for (int axis = 0; axis < x->rank; axis++)
		n *= axes & 1u << axis ? x->shape[axis] : 1;
	if (n == 0 || x->size / n < LBX_CHANNELS_LEAST)
		return false;
	struct extremes *found = malloc((size_t)n * sizeof *found);
	ret->factors = malloc((size_t)n * sizeof *ret->factors);
	ret->offsets = malloc((size_t)n * sizeof *ret->offsets);
	if (!found || !ret->factors || !ret->offsets) {
		free(found);
		lbx_channels_deinit(ret);
		return false;
	}
	ret->n = n;
	for (int64_t i = 0; i < n; i++)
		found[i] = (struct extremes){ .low = INFINITY, .high = -INFINITY };
	find_extremes(x, y, axes, found);
	for (int64_t i = 0; i < n; i++) {
		const struct extremes *f = &found[i];
		bool is_line = f->low < f->high;
		ret->factors[i] = is_line ? (f->at_high - f->at_low) / (f->high - f->low) : 0;
		ret->offsets[i] = is_line ? (f->at_high + f->at_low) / 2 - ret->factors[i] * ((f->high + f->low) / 2)
				  : f->low == f->high ? f->at_low
						      : 0;
	}
	free(found);
	return true;
}

void lbx_channels_apply(const struct lbx_channels *channels, const struct lbx_array *x, double *values)
{
	double p[AT_ONCE];
	struct walk w = begin(x, channels->axes);

	for (int64_t done = 0; done < x->size; done += AT_ONCE) {
		int n = x->size - done < AT_ONCE ? (int)(x->size - done) : AT_ONCE;
		lbx_widen_local(x, done, n, p);
		for (int i = 0; i < n; i++, go_on(&w))
			values[done + i] = channels->factors[w.channel] * p[i] + channels->offsets[w.channel];
	}
}

void lbx_channels_deinit(struct lbx_channels *channels)
{
	free(channels->factors);
	free(channels->offsets);
	*channels = (struct lbx_channels){ .n = 0 };
}
