#include "kernels/fold.h"

#include <stdlib.h>

#include "base/plural.h"

enum {
	CHUNK = 512,          /* elements staged at once */
	LANES_MOST = 2048,    /* outputs folded side by side */
	PIECES_MOST = 64,
	GRAIN = 1 << 16,      /* elements worth a thread */
	LANES_LEAST = 16,
	LANE_BYTES = 8,
};

static void add_axis(int *n, int64_t *shape, int64_t *strides, int64_t size, int64_t stride)
{
	shape[*n] = size;
	strides[(*n)++] = stride;
}

/* Reduced axes: positive strides, falling, joined. */
static void order_reduced(struct lb_walk *walk)
{
	int64_t (*strides)[LB_MAX_RANK] = &walk->reduced_strides;
	for (int i = 0; i < walk->n_reduced; i++)
		if ((*strides)[i] < 0) {
			walk->data += (*strides)[i] * (walk->reduced[i] - 1) * walk->bytes;
			(*strides)[i] = -(*strides)[i];
		}
	for (int i = 1; i < walk->n_reduced; i++)
		for (int k = i; k > 0 && (*strides)[k - 1] < (*strides)[k]; k--) {
			int64_t size = walk->reduced[k], stride = (*strides)[k];
			walk->reduced[k] = walk->reduced[k - 1];
			(*strides)[k] = (*strides)[k - 1];
			walk->reduced[k - 1] = size;
			(*strides)[k - 1] = stride;
		}
	walk->n_reduced = lb_join_axes(walk->n_reduced, walk->reduced, 1, strides);
}

bool lb_walk_plan(struct lb_walk *walk, const struct lb_view *x, uint32_t mask)
{
	if (x->rank < 0 || x->rank > LB_MAX_RANK || (mask >> x->rank) != 0)
		return lb_fail("reduce: axes 0x%x of an array of %d %s", mask, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"));
	*walk = (struct lb_walk){
		.data = x->data, .dtype = x->dtype, .bytes = lb_width_of(x->dtype), .n_outputs = 1, .n_each = 1
	};
	int64_t strides[2][LB_MAX_RANK];
	for (int i = 0; i < x->rank; i++) {
		if (mask >> i & 1) {
			add_axis(&walk->n_reduced, walk->reduced, walk->reduced_strides, x->shape[i], x->strides[i]);
			walk->n_each *= x->shape[i];
		} else {
			add_axis(&walk->n_kept, walk->kept, strides[0], x->shape[i], x->strides[i]);
			walk->n_outputs *= x->shape[i];
		}
	}
	if (walk->n_outputs == 0 || walk->n_each == 0)
		return true;
	order_reduced(walk);
	int64_t dense = 1;
	for (int i = walk->n_kept - 1; i >= 0; i--) {
		strides[1][i] = dense;
		dense *= walk->kept[i];
	}
	walk->n_kept = lb_join_axes(walk->n_kept, walk->kept, 2, strides);
	memcpy(walk->kept_strides, strides[0], sizeof walk->kept_strides);
	memcpy(walk->out_strides, strides[1], sizeof walk->out_strides);
	if (walk->n_kept == 0)
		return true;
	int best = walk->n_kept - 1;
	for (int i = 0; i < walk->n_kept; i++)
		if (llabs(walk->kept_strides[i]) < llabs(walk->kept_strides[best]) && walk->kept[i] >= LANES_LEAST)
			best = i;
	int64_t row = walk->n_reduced ? walk->reduced[walk->n_reduced - 1] : 1;
	int64_t step = walk->n_reduced ? walk->reduced_strides[walk->n_reduced - 1] : 0;
	bool lanes_closer = llabs(walk->kept_strides[best]) < step;
	walk->lane_axis = best;
	walk->cols = walk->n_each == 1 || (walk->kept[best] >= 4 && lanes_closer) ||
		     (row < LB_FOLD_ROW && walk->kept[best] >= LANES_LEAST);
	walk->chunk = walk->kept[best] < LANES_MOST ? walk->kept[best] : LANES_MOST;
	return true;
}

static int64_t lane_bytes(const struct lb_fold *fold)
{
	return lb_width_of(fold->acc);
}

static void set_lanes(const struct lb_folding *folding, char *acc, int64_t n)
{
	lb_gather_row(acc, folding->identity, n * folding->fold->unit, 0, lane_bytes(folding->fold));
}

/* Folds n staged elements; `center` is that of the first. */
static void fold_staged(const struct lb_folding *folding, char *acc, const char *x, int64_t n, bool cols,
			const char *center)
{
	const struct lb_fold *fold = folding->fold;
	char shifted[CHUNK * 8] __attribute__((aligned(64)));
	if (center && folding->deviate) {
		folding->tiles->deviations(n, cols ? n : 1, (double *)(void *)acc, (const double *)(const void *)center,
					   x, fold->stage);
		return;
	}
	if (center) {
		folding->tiles->shift(n, cols ? n : 1, shifted, x, center, fold->stage);
		folding->exp(n, shifted, shifted, NULL, NULL);
		x = shifted;
	}
	if (cols)
		fold->cols(n * fold->unit, acc, x);
	else
		fold->rows(n * fold->unit, acc, x);
}

/* n elements from `from` by stride: into the lanes, or side by side (`cols`). */
static void fold_strided(const struct lb_folding *folding, char *acc, const char *from, int64_t n, int64_t stride,
			 bool cols, const char *center)
{
	const struct lb_walk *walk = folding->walk;
	char gathered[CHUNK * 8] __attribute__((aligned(64)));
	char staged[CHUNK * 8] __attribute__((aligned(64)));
	int64_t center_bytes = folding->deviate ? 8 : lb_width_of(folding->fold->stage);
	if (stride == 1 && !folding->convert && (!center || folding->deviate)) {
		fold_staged(folding, acc, from, n, cols, center);
		return;
	}
	while (n > 0) {
		int64_t m = n < CHUNK ? n : CHUNK;
		const char *x = from;
		if (stride != 1) {
			lb_gather_row(gathered, from, m, stride, walk->bytes);
			x = gathered;
		}
		if (folding->convert) {
			folding->convert(m, staged, x, NULL, NULL);
			x = staged;
		}
		fold_staged(folding, acc, x, m, cols, center);
		from += m * stride * walk->bytes;
		n -= m;
		if (cols) {
			acc += m * folding->fold->unit * lane_bytes(folding->fold);
			center = center ? center + m * center_bytes : NULL;
		}
	}
}

/* Reduced elements [begin, end) of the output whose elements start at `from`. */
static void fold_rows(const struct lb_folding *folding, char *acc, const char *from, int64_t begin, int64_t end,
		      const char *center)
{
	const struct lb_walk *walk = folding->walk;
	int last = walk->n_reduced - 1;
	if (last < 0) {
		fold_strided(folding, acc, from, 1, 1, false, center);
		return;
	}
	int64_t index[LB_MAX_RANK];
	lb_index_of(walk->n_reduced, walk->reduced, begin, index);
	int64_t offset = lb_offset_of(last, index, walk->reduced_strides);
	int64_t stride = walk->reduced_strides[last];
	while (begin < end) {
		int64_t n = walk->reduced[last] - index[last];
		if (n > end - begin)
			n = end - begin;
		fold_strided(folding, acc, from + (offset + index[last] * stride) * walk->bytes, n, stride, false,
			     center);
		begin += n;
		index[last] = 0;
		offset = lb_next_row(walk->n_reduced, walk->reduced, walk->reduced_strides, index, offset);
	}
}

/* Reduced indices [begin, end) of n neighbouring outputs. When the rows of lanes follow
 * each other in memory, several are folded as one long row of lanes. */
static void fold_cols(const struct lb_folding *folding, char *acc, const char *from, int64_t n, int64_t begin,
		      int64_t end, const char *center)
{
	const struct lb_walk *walk = folding->walk;
	int last = walk->n_reduced - 1;
	int64_t step = walk->kept_strides[walk->lane_axis];
	if (last < 0) {
		fold_strided(folding, acc, from, n, step, true, center);
		return;
	}
	int64_t index[LB_MAX_RANK];
	lb_index_of(walk->n_reduced, walk->reduced, begin, index);
	int64_t offset = lb_offset_of(last, index, walk->reduced_strides);
	int64_t stride = walk->reduced_strides[last];
	char wide[CHUNK * LANE_BYTES * 2] __attribute__((aligned(64)));
	int64_t group = step == 1 && stride == n && n <= CHUNK / 4 && !center ? CHUNK / n : 1;
	if (group > 1)
		set_lanes(folding, wide, n * group);
	while (begin < end) {
		int64_t m = walk->reduced[last] - index[last];
		if (m > end - begin)
			m = end - begin;
		const char *x = from + (offset + index[last] * stride) * walk->bytes;
		int64_t left = m;
		for (; group > 1 && left >= group; left -= group, x += group * n * walk->bytes)
			fold_strided(folding, wide, x, group * n, 1, true, NULL);
		for (; left > 0; left--, x += stride * walk->bytes)
			fold_strided(folding, acc, x, n, step, true, center);
		begin += m;
		index[last] = 0;
		offset = lb_next_row(walk->n_reduced, walk->reduced, walk->reduced_strides, index, offset);
	}
	int64_t unit = folding->fold->unit;
	for (int64_t k = 0; group > 1 && k < group; k++)
		folding->fold->merge(n * unit, acc, wide + k * n * unit * lane_bytes(folding->fold));
}

/* Leaves the value in the first unit lanes. */
static void merge_lanes(const struct lb_fold *fold, char *acc)
{
	for (int64_t half = LB_LANES / 2; half >= fold->unit; half /= 2)
		fold->merge(half, acc, acc + half * lane_bytes(fold));
}

static const char *center_of(const struct lb_folding *folding, int64_t output)
{
	int64_t bytes = folding->deviate ? 8 : lb_width_of(folding->fold->stage);
	return folding->center ? folding->center + output * bytes : NULL;
}

/* Work is numbered by unit (an output, or a chunk of outputs) and, within it, piece. */
static int64_t n_units(const struct lb_walk *walk)
{
	if (!walk->cols)
		return walk->n_outputs;
	int64_t lanes = walk->kept[walk->lane_axis];
	return walk->n_outputs / lanes * ((lanes + walk->chunk - 1) / walk->chunk);
}

struct unit {
	int64_t n;          /* outputs */
	int64_t from, to;   /* offsets of the first: of its elements, in the output */
	int64_t out_stride; /* from one output to the next */
};

static struct unit unit_at(const struct lb_walk *walk, int64_t i)
{
	int64_t index[LB_MAX_RANK] = { 0 }, shape[LB_MAX_RANK];
	struct unit unit = { .n = 1, .out_stride = 1 };
	if (walk->n_kept == 0)
		return unit;
	memcpy(shape, walk->kept, sizeof shape);
	int axis = walk->lane_axis;
	if (walk->cols)
		shape[axis] = (shape[axis] + walk->chunk - 1) / walk->chunk;
	lb_index_of(walk->n_kept, shape, i, index);
	if (walk->cols) {
		index[axis] *= walk->chunk;
		unit.n = walk->kept[axis] - index[axis];
		if (unit.n > walk->chunk)
			unit.n = walk->chunk;
		unit.out_stride = walk->out_strides[axis];
	}
	unit.from = lb_offset_of(walk->n_kept, index, walk->kept_strides);
	unit.to = lb_offset_of(walk->n_kept, index, walk->out_strides);
	return unit;
}

static int64_t acc_bytes(const struct lb_folding *folding)
{
	int64_t lanes = folding->walk->cols ? folding->walk->chunk * folding->fold->unit : LB_LANES;
	return lanes * lane_bytes(folding->fold);
}

static void store_unit(const struct lb_folding *folding, const struct unit *unit, char *acc)
{
	int64_t lanes = unit->n * folding->fold->unit;
	char converted[LANES_MOST * LANE_BYTES * 2] __attribute__((aligned(64)));
	if (!folding->walk->cols)
		merge_lanes(folding->fold, acc);
	double *values = (double *)(void *)acc;
	for (int64_t i = 0; folding->divide && i < lanes; i++)
		values[i] /= folding->divisor;
	int64_t bytes = folding->to_bytes * folding->fold->unit;
	char *to = folding->to + unit->to * bytes;
	if (unit->out_stride == 1) {
		if (folding->finish)
			folding->finish(lanes, to, acc, NULL, NULL);
		else
			memcpy(to, acc, (size_t)(unit->n * bytes));
		return;
	}
	if (folding->finish) {
		folding->finish(lanes, converted, acc, NULL, NULL);
		acc = converted;
	}
	for (int64_t i = 0; i < unit->n; i++)
		memcpy(to + i * unit->out_stride * bytes, acc + i * bytes, (size_t)bytes);
}

static void fold_piece(const struct lb_folding *folding, const struct unit *unit, int64_t piece, char *acc)
{
	const struct lb_walk *walk = folding->walk;
	int64_t each = walk->n_each / folding->pieces, rest = walk->n_each % folding->pieces;
	int64_t begin = piece * each + (piece < rest ? piece : rest);
	int64_t end = begin + each + (piece < rest);
	const char *from = walk->data + unit->from * walk->bytes;
	const char *center = center_of(folding, unit->to);
	char centers[LANES_MOST * 8] __attribute__((aligned(64)));
	set_lanes(folding, acc, walk->cols ? unit->n : LB_LANES / folding->fold->unit);
	if (!walk->cols) {
		fold_rows(folding, acc, from, begin, end, center);
		return;
	}
	if (center && unit->out_stride != 1) {
		lb_gather_row(centers, center, unit->n, unit->out_stride,
			      folding->deviate ? 8 : lb_width_of(folding->fold->stage));
		center = centers;
	}
	fold_cols(folding, acc, from, unit->n, begin, end, center);
}

static void run_units(void *arg, int64_t begin, int64_t end)
{
	const struct lb_folding *folding = arg;
	char acc[LANES_MOST * LANE_BYTES * 2] __attribute__((aligned(64)));
	for (int64_t i = begin; i < end; i++) {
		struct unit unit = unit_at(folding->walk, i);
		fold_piece(folding, &unit, 0, acc);
		store_unit(folding, &unit, acc);
	}
}

static void run_pieces(void *arg, int64_t begin, int64_t end)
{
	const struct lb_folding *folding = arg;
	for (int64_t i = begin; i < end; i++) {
		struct unit unit = unit_at(folding->walk, i / folding->pieces);
		fold_piece(folding, &unit, i % folding->pieces, folding->partial + i * acc_bytes(folding));
	}
}

bool lb_fold_run(struct lb_exec *exec, struct lb_folding *folding)
{
	const struct lb_walk *walk = folding->walk;
	int64_t units = n_units(walk), bytes = acc_bytes(folding);
	int64_t unit_work = walk->n_each * (walk->cols ? walk->chunk : 1);
	folding->pieces = 1;
	if (units < PIECES_MOST && unit_work >= 2 * LB_FOLD_PIECE && walk->n_each > 1) {
		int64_t pieces = unit_work / LB_FOLD_PIECE, most = PIECES_MOST / units;
		pieces = pieces < most ? pieces : most;
		folding->pieces = pieces < walk->n_each ? pieces : walk->n_each;
	}
	if (folding->pieces < 2) {
		folding->pieces = 1;
		lb_parallel(exec, units, GRAIN / (unit_work + 16) + 1, run_units, folding);
		return true;
	}
	folding->partial = exec->scratch(exec, units * folding->pieces * bytes);
	if (!folding->partial)
		return false;
	lb_parallel(exec, units * folding->pieces, 1, run_pieces, folding);
	int64_t lanes = bytes / lane_bytes(folding->fold);
	for (int64_t i = 0; i < units; i++) {
		struct unit unit = unit_at(walk, i);
		char *acc = folding->partial + i * folding->pieces * bytes;
		int64_t used = walk->cols ? unit.n * folding->fold->unit : lanes;
		for (int64_t piece = 1; piece < folding->pieces; piece++)
			folding->fold->merge(used, acc, acc + piece * bytes);
		store_unit(folding, &unit, acc);
	}
	return true;
}
