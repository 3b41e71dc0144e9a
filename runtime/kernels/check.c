#include <math.h>

#include "base/mix.h"
#include "kernels/layout.h"
#include "kernels/tile.h"

/* Steps that are small enough to find the first one quickly, once there is one. */
enum { STEP = 4096 };

static bool bad_at(const char *data, int dtype, int64_t i)
{
	return lb_tiles()->nonfinite(data + i * lb_width_of(dtype), dtype, 1) != 0;
}

int64_t lb_count_nonfinite(const void *data, enum lb_dtype dtype, int64_t n, int64_t *first)
{
	if (!lb_dtype_is_inexact(dtype) || n <= 0)
		return 0;
	if (!first)
		return lb_tiles()->nonfinite(data, dtype, n);
	const char *at = data;
	for (int64_t begin = 0; begin < n; begin += STEP) {
		int64_t m = n - begin < STEP ? n - begin : STEP;
		if (lb_tiles()->nonfinite(at + begin * lb_width_of(dtype), dtype, m) == 0)
			continue;
		for (*first = begin; !bad_at(data, dtype, *first);)
			++*first;
		return 1;
	}
	return 0;
}

/* ---- views of any strides ---- */

enum { PIECE = 1024 };

/* n dense elements, from the first-th on. False: that was enough. */
typedef bool see_piece(void *arg, const void *elements, int n, int64_t first);

static bool in_pieces(const struct lb_view *x, see_piece *see, void *arg)
{
	_Alignas(64) char copy[PIECE * sizeof(uint64_t)];
	int64_t shape[LB_MAX_RANK], strides[1][LB_MAX_RANK], index[LB_MAX_RANK] = { 0 };
	int64_t size = lb_shape_size(x->rank, x->shape), bytes = lb_width_of(x->dtype);

	memcpy(shape, x->shape, sizeof shape);
	memcpy(strides[0], x->strides, sizeof strides[0]);
	int rank = size ? lb_join_axes(x->rank, shape, 1, strides) : 0;
	bool dense = rank == 0 || (rank == 1 && strides[0][0] == 1);
	for (int64_t at = 0; at < size; at += PIECE) {
		int n = size - at < PIECE ? (int)(size - at) : PIECE;
		if (!dense)
			lb_gather(copy, x->data, n, rank, shape, strides[0], index, bytes);
		if (!see(arg, dense ? (const char *)x->data + at * bytes : copy, n, at))
			return false;
	}
	return true;
}

static bool piece_is_finite(void *arg, const void *elements, int n, int64_t first)
{
	const enum lb_dtype *dtype = arg;

	(void)first;
	return lb_tiles()->nonfinite(elements, *dtype, n) == 0;
}

bool lb_is_finite(const struct lb_view *x)
{
	enum lb_dtype dtype = x->dtype;

	return !lb_dtype_is_inexact(dtype) || in_pieces(x, piece_is_finite, &dtype);
}

struct figuring {
	enum lb_dtype dtype;
	struct lb_figures f;
	double deviations, squares;
};

/* Mean and deviations as Chan, Golub and LeVeque (1979) join them. */
static bool figure_piece(void *arg, const void *elements, int n, int64_t first)
{
	struct figuring *g = arg;
	struct lb_figures *f = &g->f;
	_Alignas(64) double x[PIECE];
	struct lb_tile_figures t;

	lb_tiles()->hash(n, elements, lb_width_of(g->dtype), (uint64_t)first, &f->hash, &f->bag);
	if (g->dtype != LB_F64) {
		lb_tiles()->convert(LB_F64, g->dtype)(n, x, elements, NULL, NULL);
		elements = x;
	}
	lb_tiles()->figures(n, elements, &t);
	f->count += n;
	f->nan += t.nan;
	f->inf += n - t.finite - t.nan;
	f->zero += t.zero;
	if (t.finite == 0)
		return true;
	f->min = f->finite == 0 || t.min < f->min ? t.min : f->min;
	f->max = f->finite == 0 || t.max > f->max ? t.max : f->max;
	double before = (double)f->finite, here = (double)t.finite, all = before + here, apart = t.mean - f->mean;
	f->mean += apart * (here / all);
	g->deviations += t.deviations + apart * apart * (before * here / all);
	g->squares += t.squares;
	f->finite += t.finite;
	return true;
}

void lb_find_figures(const struct lb_view *x, struct lb_figures *ret)
{
	struct figuring g = { .dtype = x->dtype };

	in_pieces(x, figure_piece, &g);
	*ret = g.f;
	ret->hash = lb_mix(ret->hash + (uint64_t)(x->dtype + 1) * LB_MIX_STEP);
	ret->std = ret->finite ? sqrt(g.deviations / (double)ret->finite) : 0;
	ret->l2 = sqrt(g.squares);
}

/* One axis at a time, the last one first. */
static void extremes_along(const char *at, const struct lb_view *x, int axis, double *low, double *high)
{
	int64_t step = x->rank ? x->strides[axis] * lb_width_of(x->dtype) : 0;
	int64_t n = x->rank ? x->shape[axis] : 1;
	if (axis < x->rank - 1) {
		for (int64_t i = 0; i < n; i++)
			extremes_along(at + i * step, x, axis + 1, low, high);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		double value = lb_load_double(at + i * step, x->dtype);
		*low = value < *low ? value : *low;
		*high = value > *high || value != value ? value : *high;
	}
}

void lb_find_extremes(const struct lb_view *x, double *low, double *high)
{
	*low = (double)INFINITY;
	*high = -(double)INFINITY;
	extremes_along(x->data, x, 0, low, high);
}
