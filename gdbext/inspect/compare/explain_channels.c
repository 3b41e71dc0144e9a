/* Channels, each with a factor and an offset of its own: weights, biases, and the scale and shift of a modulation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inspect/compare/channels.h"
#include "inspect/compare/hypothesis.h"
#include "inspect/measure/widen.h"

enum { CHANNELS_TRIED = 24, OF_EACH = 24, LEAST_CHANNELS = 2, ROWS_TRIED = 48 };

/* Element `rest` of a channel, both counted row-major over their axes. */
static int64_t element(const struct lbx_array *a, unsigned axes, int64_t channel, int64_t rest)
{
	int64_t at = 0;

	for (int axis = a->rank - 1; axis >= 0; axis--) {
		int64_t *from = axes & 1u << axis ? &channel : &rest;
		at += *from % a->shape[axis] * a->strides[axis];
		*from /= a->shape[axis];
	}
	return at;
}

static double value(const struct lbx_array *a, int64_t at)
{
	double x;

	lbx_widen_local(a, at, 1, &x);
	return x;
}

/* Whether the elements of a channel lie on a line. */
static bool is_line(const double *x, const double *y, int n, double rtol)
{
	int low = 0, high = 0, agree = 0;

	for (int i = 1; i < n; i++) {
		low = x[i] < x[low] ? i : low;
		high = x[i] > x[high] ? i : high;
	}
	if (!(x[high] > x[low]))
		return false;
	double factor = (y[high] - y[low]) / (x[high] - x[low]), size = fmax(fabs(y[high]), fabs(y[low]));
	for (int i = 0; i < n; i++)
		agree += fabs(y[low] + factor * (x[i] - x[low]) - y[i]) <= rtol * size;
	return agree >= n - n / 10;
}

static bool may_be(const struct lbx_explainer *e, unsigned axes, int64_t n, double rtol)
{
	int64_t each = e->a.size / n;
	int channels = n < CHANNELS_TRIED ? (int)n : CHANNELS_TRIED, lines = 0;
	int count = each < OF_EACH ? (int)each : OF_EACH;
	double x[OF_EACH], y[OF_EACH];

	for (int i = 0; i < channels; i++) {
		int64_t channel = (int64_t)((__int128)n * i / channels);
		for (int k = 0; k < count; k++) {
			int64_t at = element(&e->a, axes, channel, (int64_t)((__int128)each * k / count));
			x[k] = value(&e->b, at);
			y[k] = value(&e->a, at);
		}
		lines += is_line(x, y, count, rtol);
	}
	return lines >= channels - channels / 10;
}

/* ---- scale and shift ---- */

/* What x was, of y = x (one + scale) + shift, where the other side took scale for shift: from factor and offset of
 * other = factor y + offset both follow. NAN where they are too much alike. */
static double modulated(double y, double factor, double offset, double one)
{
	double by = 1 - factor * factor;

	if (fabs(by) < 1e-3)
		return NAN;
	double scale = one ? (offset + factor * factor - factor) / by : offset / by;
	double shift = one ? factor * (1 + scale) - 1 : factor * scale;
	return (y - shift) / (one + scale);
}

/* Whether x was normalised by row: a chance that no others have. */
static bool is_swap(const struct lbx_explainer *e, const struct lbx_channels *channels, double one)
{
	int last = e->a.rank - 1;
	int64_t n = e->a.shape[last], rows = e->a.size / n, good = 0, looked = rows < ROWS_TRIED ? rows : ROWS_TRIED;

	if (!(channels->axes & 1u << last))
		return false; /* they are not of the elements of a row */
	for (int64_t i = 0; i < looked && n >= 8; i++) {
		int64_t row = (int64_t)((__int128)rows * i / looked), counted = 0, first = 0, rest = row;
		double sum = 0, squares = 0;
		/* the row's first channel */
		int64_t step = n;
		for (int axis = last - 1; axis >= 0; axis--) {
			if (channels->axes & 1u << axis) {
				first += rest % e->a.shape[axis] * step;
				step *= e->a.shape[axis];
			}
			rest /= e->a.shape[axis];
		}
		for (int64_t k = 0; k < n; k++) {
			double x = modulated(value(&e->b, row * n + k), channels->factors[first + k],
					     channels->offsets[first + k], one);
			if (!isfinite(x))
				continue;
			counted++;
			sum += x;
			squares += x * x;
		}
		double mean = sum / (double)counted, lost = (double)(n - counted) / (double)n;
		good += counted >= n / 2 && fabs(mean) < 0.02 + 2 * lost &&
			fabs(squares / (double)counted - 1) < 0.02 + 4 * lost;
	}
	return looked >= 4 && good >= looked - looked / 8;
}

/* ---- the search ---- */

static void describe(const struct lbx_explainer *e, const struct lbx_channels *channels, double rtol, char *ret,
		     size_t size)
{
	bool scales = false, shifts = false;
	double low = INFINITY, high = -INFINITY;
	char where[96];
	int at = 0, n = 0;

	for (int64_t i = 0; i < channels->n; i++) {
		scales |= fabs(channels->factors[i] - 1) > 4 * rtol;
		shifts |= fabs(channels->offsets[i]) > 4 * rtol * lbx_explain_size(e, &e->a);
		low = fmin(low, channels->factors[i]);
		high = fmax(high, channels->factors[i]);
	}
	for (int axis = 0; axis < e->a.rank; axis++)
		if (channels->axes & 1u << axis)
			at += snprintf(where + at, sizeof where - (size_t)at, "%s%d", n++ ? " and " : "", axis);
	if (is_swap(e, channels, 1) || is_swap(e, channels, 0))
		snprintf(ret, size, "scale and shift of a modulation change places, by each index of axis %s", where);
	else if (!shifts)
		snprintf(ret, size, "the second x %.4g to %.4g, by each index of axis %s: weights of one alone", low,
			 high, where);
	else if (!scales)
		snprintf(ret, size, "the second with another offset for each index of axis %s: a bias of one alone",
			 where);
	else
		snprintf(ret, size,
			 "the second with another factor and offset for each index of axis %s: weights and "
			 "biases, or scale and shift, of one alone",
			 where);
}

static bool try_axes(struct lbx_explainer *e, unsigned axes, double rtol)
{
	struct lbx_channels channels;
	struct lbx_made made;
	char note[LBX_EXPLANATION_TEXT];
	int64_t n = 1;
	bool goes_on = true;

	for (int axis = 0; axis < e->a.rank; axis++)
		n *= axes & 1u << axis ? e->a.shape[axis] : 1;
	if (n < LEAST_CHANNELS || e->a.size / n < LBX_CHANNELS_LEAST || !may_be(e, axes, n, rtol))
		return true;
	if (!lbx_channels_fit(&e->b, &e->a, axes, &channels))
		return true;
	if (lbx_explain_make(e, &made)) {
		lbx_channels_apply(&channels, &e->b, made.values);
		describe(e, &channels, rtol, note, sizeof note);
		goes_on = lbx_candidate_try_made(e, &made, false, rtol, note);
		free(made.values);
	}
	lbx_channels_deinit(&channels);
	return goes_on && lbx_explain_has_time(e);
}

void lbx_generate_channels(struct lbx_explainer *e)
{
	double rtol = fmax(e->rtol, 1e-5) * 4;
	int rank = e->a.rank;

	if (!e->same_shape || rank < 2 || rank != e->a_rank || e->a.dtype < LB_F16 || e->b.dtype < LB_F16 ||
	    e->found->n > 0)
		return;
	for (int axis = rank - 1; axis >= 0 && !lbx_explained_by(e, "channels"); axis--)
		if (!try_axes(e, 1u << axis, rtol))
			return;
	if (rank > 2 && !lbx_explained_by(e, "channels"))
		try_axes(e, 1u | 1u << (rank - 1), rtol);
}
