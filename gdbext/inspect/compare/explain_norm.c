/* Rows, along the last axis, that were normalised in the one alone; then perhaps weighted, and shifted, by channel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/compare/channels.h"
#include "inspect/compare/hypothesis.h"
#include "inspect/measure/widen.h"

enum { ROWS_TRIED = 48, MOST_TRIED = 1 << 20 /* elements */, LEAST_ROW = 4 };

/* LayerNorm: arXiv:1607.06450; RMSNorm: arXiv:1910.07467. */
static void layer_norm(double *x, int64_t n, double epsilon)
{
	double sum = 0, squares = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	double mean = sum / (double)n;
	for (int64_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	double scale = 1 / sqrt(squares / (double)n + epsilon);
	for (int64_t i = 0; i < n; i++)
		x[i] = (x[i] - mean) * scale;
}

static void rms_norm(double *x, int64_t n, double epsilon)
{
	double squares = 0;

	for (int64_t i = 0; i < n; i++)
		squares += x[i] * x[i];
	double scale = 1 / sqrt(squares / (double)n + epsilon);
	for (int64_t i = 0; i < n; i++)
		x[i] *= scale;
}

static void l2_norm(double *x, int64_t n, double epsilon)
{
	double squares = 0;

	for (int64_t i = 0; i < n; i++)
		squares += x[i] * x[i];
	double scale = 1 / fmax(sqrt(squares), epsilon);
	for (int64_t i = 0; i < n; i++)
		x[i] *= scale;
}

static void softmax(double *x, int64_t n, double epsilon)
{
	double most = -INFINITY, sum = 0;

	(void)epsilon;
	for (int64_t i = 0; i < n; i++)
		most = fmax(most, x[i]);
	for (int64_t i = 0; i < n; i++)
		sum += x[i] = exp(x[i] - most);
	for (int64_t i = 0; i < n; i++)
		x[i] /= sum;
}

static const struct norm {
	const char *name;
	void (*apply)(double *x, int64_t n, double epsilon);
	double epsilon;
	bool has_weights;
} norms[] = {
	{ "LayerNorm", layer_norm, 1e-5, true },
	{ "LayerNorm", layer_norm, 1e-6, true },
	{ "RMSNorm", rms_norm, 1e-5, true },
	{ "RMSNorm", rms_norm, 1e-6, true },
	{ "normalisation by L2 norms", l2_norm, 1e-12, false },
	{ "softmax", softmax, 0, false },
};
enum { NORMS = sizeof norms / sizeof *norms };

static int64_t rows_tried(const struct lbx_array *a, int64_t n)
{
	int64_t all = a->size / n, most = MOST_TRIED / n < ROWS_TRIED ? MOST_TRIED / n : ROWS_TRIED;

	return all < most ? all : most;
}

/* Rows all over the two: `x` those of the one, normalised, `y` those of the other. */
static void take_rows(const struct norm *norm, const struct lbx_array *from, const struct lbx_array *other, int64_t n,
		      double *x, double *y)
{
	int64_t all = from->size / n, rows = rows_tried(from, n);

	for (int64_t i = 0; i < rows; i++) {
		int64_t row = (int64_t)((__int128)all * i / rows);
		lbx_widen_local(from, row * n, n, x + i * n);
		lbx_widen_local(other, row * n, n, y + i * n);
		norm->apply(x + i * n, n, norm->epsilon);
	}
}

static bool agree(const double *x, const double *y, int64_t n, double rtol)
{
	int64_t agree = 0;
	double squares = 0;

	for (int64_t i = 0; i < n; i++)
		squares += y[i] * y[i];
	double atol = rtol * sqrt(squares / (double)n);
	for (int64_t i = 0; i < n; i++)
		agree += fabs(x[i] - y[i]) <= atol + rtol * fabs(y[i]);
	return agree >= n - n / 10;
}

static bool make(struct lbx_explainer *e, const struct norm *norm, const struct lbx_array *from, int64_t n, double *to)
{
	for (int64_t row = 0; row < from->size / n; row++) {
		if (row % 1024 == 1023 && !lbx_explain_has_time(e))
			return false;
		lbx_widen_local(from, row * n, n, to + row * n);
		norm->apply(to + row * n, n, norm->epsilon);
	}
	return true;
}

static bool try_all(struct lbx_explainer *e, const struct norm *norm, bool is_turned, bool has_weights, double rtol)
{
	const struct lbx_array *from = is_turned ? &e->a : &e->b, *other = is_turned ? &e->b : &e->a;
	int64_t n = e->a.shape[e->a.rank - 1];
	struct lbx_made made;
	char note[128];

	if (!lbx_explain_make(e, &made))
		return true;
	bool goes_on = make(e, norm, from, n, made.values);
	struct lbx_channels channels = { .n = 0 };
	if (goes_on && has_weights && lbx_channels_fit(&made.array, other, 1u << (e->a.rank - 1), &channels))
		lbx_channels_apply(&channels, &made.array, made.values);
	snprintf(note, sizeof note, "the %s is the %s after %s%s: it is missing in the %s",
		 is_turned ? "second" : "first", is_turned ? "first" : "second", norm->name,
		 has_weights ? " with weights" : "", is_turned ? "first" : "second");
	goes_on = goes_on && lbx_candidate_try_made(e, &made, is_turned, rtol, note);
	lbx_channels_deinit(&channels);
	free(made.values);
	return goes_on;
}

/* Whether it may be so, by some rows. */
static bool may_be(struct lbx_explainer *e, const struct norm *norm, bool is_turned, bool has_weights, double rtol)
{
	const struct lbx_array *from = is_turned ? &e->a : &e->b, *other = is_turned ? &e->b : &e->a;
	int64_t n = e->a.shape[e->a.rank - 1], rows = rows_tried(from, n);
	double *x = malloc((size_t)(rows * n) * 2 * sizeof *x), *y = x + rows * n;
	struct lbx_channels channels = { .n = 0 };

	if (!x)
		return false;
	take_rows(norm, from, other, n, x, y);
	bool may = !has_weights && agree(x, y, rows * n, rtol);
	if (has_weights && rows >= LBX_CHANNELS_LEAST) {
		int64_t shape[] = { rows, n }, strides[] = { n, 1 };
		struct lbx_array p, q;
		if (lbx_array_local(x, rows * n * (int64_t)sizeof *x, LB_F64, 2, shape, strides, 0, &p) &&
		    lbx_array_local(y, rows * n * (int64_t)sizeof *y, LB_F64, 2, shape, strides, 0, &q) &&
		    lbx_channels_fit(&p, &q, 1u << 1, &channels)) {
			lbx_channels_apply(&channels, &p, x);
			may = agree(x, y, rows * n, rtol);
		}
		lbx_channels_deinit(&channels);
	}
	free(x);
	return may;
}

void lbx_generate_norm(struct lbx_explainer *e)
{
	double rtol = fmax(e->rtol, 1e-5) * 4;

	if (!e->same_shape || e->a.rank == 0 || e->a.rank != e->a_rank || e->a.dtype < LB_F16 || e->b.dtype < LB_F16 ||
	    e->a.shape[e->a.rank - 1] < LEAST_ROW || e->a.shape[e->a.rank - 1] > MOST_TRIED)
		return;
	for (int i = 0; i < 4 * NORMS && !lbx_explained_by(e, "norm"); i++) {
		const struct norm *norm = &norms[i / 2 % NORMS];
		bool has_weights = i >= 2 * NORMS;
		if ((norm->has_weights || !has_weights) && may_be(e, norm, i & 1, has_weights, rtol) &&
		    !try_all(e, norm, i & 1, has_weights, rtol))
			return;
	}
}
