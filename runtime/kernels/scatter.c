/* scatter_add and put_along_axis.
 *
 * Where whole rows are added, the positions of the updates are sorted by index, stably: then each
 * row that any update meets is one task, whose updates come in their order, and cores share no row.
 * Single elements are added line by line along the axis. */
#include "base/plural.h"
#include "kernels/accumulate.h"
#include "kernels/indices.h"
#include "kernels/layout.h"
#include "kernels/share.h"
#include "kernels/tile.h"

enum { CHUNK = 512, GRAIN = 1 << 14, DIGIT = 11 };

/* ---- rows ---- */

struct rows {
	const struct lb_tiles *tiles;
	const struct lb_view *updates;
	int dtype, stage, n_inner;
	int64_t bytes, size, n_each;       /* the axis' size; elements of a row */
	int64_t n_outer, n_indices, n_runs, chunks; /* runs: rows that updates meet */
	const int64_t *indices, *order, *runs;
	int first_inner, n_lead;           /* axes of updates: where a row's begin; those before the indices' */
	bool dense;   /* a row of updates */
	char *to;
};

/* Positions in the order of their indices, equal ones as they are: from the lowest digit on. */
static int64_t *sorted(struct lb_exec *exec, const int64_t *indices, int64_t n, int64_t size)
{
	int64_t *order = exec->scratch(exec, n * 8), *next = exec->scratch(exec, n * 8);
	if (!order || !next)
		return NULL;
	for (int64_t i = 0; i < n; i++)
		order[i] = i;
	for (int shift = 0; shift < 63 && (size - 1) >> shift > 0; shift += DIGIT) {
		int64_t starts[(1 << DIGIT) + 1] = { 0 }, *swapped = order;
		for (int64_t i = 0; i < n; i++)
			starts[(indices[i] >> shift & ((1 << DIGIT) - 1)) + 1]++;
		for (int d = 0; d < 1 << DIGIT; d++)
			starts[d + 1] += starts[d];
		for (int64_t i = 0; i < n; i++)
			next[starts[indices[order[i]] >> shift & ((1 << DIGIT) - 1)]++] = order[i];
		order = next;
		next = swapped;
	}
	return order;
}

/* Where runs of equal indices begin, and the end. */
static bool find_runs(struct lb_exec *exec, struct rows *r)
{
	int64_t *runs = exec->scratch(exec, (r->n_indices + 1) * 8);
	if (!runs)
		return false;
	for (int64_t i = 0; i < r->n_indices; i++)
		if (i == 0 || r->indices[r->order[i]] != r->indices[r->order[i - 1]])
			runs[r->n_runs++] = i;
	runs[r->n_runs] = r->n_indices;
	r->runs = runs;
	return true;
}

/* n elements of row `position` of the updates, from element `first` on; in `room` unless dense. */
static const void *row_of(const struct rows *r, int64_t outer, int64_t position, int64_t first, int64_t n, void *room)
{
	const struct lb_view *u = r->updates;
	int64_t index[LB_MAX_RANK], offset;
	lb_index_of(r->n_lead, u->shape, outer, index);
	offset = lb_offset_of(r->n_lead, index, u->strides);
	int middle = r->first_inner - r->n_lead;
	lb_index_of(middle, u->shape + r->n_lead, position, index);
	offset += lb_offset_of(middle, index, u->strides + r->n_lead);
	const char *from = (const char *)u->data + offset * r->bytes;
	if (r->dense)
		return from + first * r->bytes;
	lb_index_of(r->n_inner, u->shape + r->first_inner, first, index);
	lb_gather(room, from, n, r->n_inner, u->shape + r->first_inner, u->strides + r->first_inner, index, r->bytes);
	return room;
}

/* Tasks are chunks of the rows that updates meet. */
static void add_rows(void *arg, int64_t begin, int64_t end)
{
	const struct rows *r = arg;
	lb_tile_fn *add = r->tiles->elementwise(LB_OP_ADD, r->dtype, r->dtype);
	lb_tile_fn *add_wide = r->tiles->elementwise(LB_OP_ADD, r->stage, r->stage);
	char sums[CHUNK * 8] __attribute__((aligned(64))), wide[CHUNK * 8] __attribute__((aligned(64)));
	char room[CHUNK * 8] __attribute__((aligned(64)));
	for (int64_t task = begin; task < end; task++) {
		int64_t chunk = task % r->chunks, run = task / r->chunks % r->n_runs;
		int64_t outer = task / r->chunks / r->n_runs, first = chunk * CHUNK;
		int64_t n = r->n_each - first < CHUNK ? r->n_each - first : CHUNK;
		const int64_t *position = r->order + r->runs[run], *stop = r->order + r->runs[run + 1];
		char *to = r->to + ((outer * r->size + r->indices[*position]) * r->n_each + first) * r->bytes;
		if (stop - position == 1 || r->stage == r->dtype) {
			for (; position < stop; position++)
				add(n, to, to, row_of(r, outer, *position, first, n, room), NULL);
			continue;
		}
		lb_stage_in(r->dtype, r->stage, n, to, 1, sums);
		for (; position < stop; position++) {
			const void *row = row_of(r, outer, *position, first, n, room);
			r->tiles->convert(r->stage, r->dtype)(n, wide, row, NULL, NULL);
			add_wide(n, sums, sums, wide, NULL);
		}
		r->tiles->convert(r->dtype, r->stage)(n, to, sums, NULL, NULL);
	}
}

static bool scatter_rows(struct lb_exec *exec, struct rows *r)
{
	r->order = sorted(exec, r->indices, r->n_indices, r->size);
	if (!r->order || !find_runs(exec, r))
		return false;
	r->dense = lb_is_dense(r->n_inner, r->updates->shape + r->first_inner, r->updates->strides + r->first_inner);
	r->chunks = (r->n_each + CHUNK - 1) / CHUNK;
	int64_t each = (r->n_each < CHUNK ? r->n_each : CHUNK) * (r->n_indices / r->n_runs);
	lb_parallel(exec, r->n_outer * r->n_runs * r->chunks, GRAIN / each + 1, add_rows, r);
	return true;
}

/* ---- lines along the axis ---- */

struct lines {
	const struct lb_tiles *tiles;
	int dtype, stage;
	int64_t bytes, width, size, n, inner; /* the axis' size; values of a line; lines side by side */
	const int64_t *indices;
	bool shared;     /* all lines have the same indices */
	int how;         /* enum lb_put */
	struct lb_view values;                /* axes that number the lines, then those along one */
	int lines_rank;
	char *to;
};

#define ASSIGN(T) \
	do { \
		T *t = (T *)(void *)to; \
		const T *v = (const T *)values; \
		for (int64_t i = 0; i < n; i++) \
			t[where[i] * stride] = v[i]; \
	} while (0)

static void assign(int64_t bytes, int64_t n, char *to, const int64_t *where, int64_t stride, const void *values)
{
	switch (bytes) {
	case 1: ASSIGN(uint8_t); break;
	case 2: ASSIGN(uint16_t); break;
	case 4: ASSIGN(uint32_t); break;
	case 8: ASSIGN(uint64_t); break;
	}
}

/* Each value in its turn, as the elementwise operation has it. */
static void combine(const struct lines *l, char *to, const int64_t *where, const char *values)
{
	static const int codes[] = {
		[LB_PUT_MULTIPLY] = LB_OP_MULTIPLY, [LB_PUT_MAX] = LB_OP_MAXIMUM, [LB_PUT_MIN] = LB_OP_MINIMUM
	};
	lb_tile_fn *one = l->tiles->elementwise(codes[l->how], l->dtype, l->dtype);
	char a[8] __attribute__((aligned(64))), b[8] __attribute__((aligned(64)));

	for (int64_t i = 0; i < l->n; i++) {
		char *at = to + where[i] * l->inner * l->bytes;
		memcpy(a, at, (size_t)l->bytes);
		memcpy(b, values + i * l->bytes, (size_t)l->bytes);
		one(1, a, a, b, NULL);
		memcpy(at, a, (size_t)l->bytes);
	}
}

/* Scratch: the line's indices, its values, raw and wide, and the line, wide. */
static void put_line(void *arg, void *scratch, int64_t line)
{
	const struct lines *l = arg;
	const struct lb_view *v = &l->values;
	int64_t index[LB_MAX_RANK] = { 0 }, *where = scratch;
	char *raw = (char *)scratch + l->n * 8, *wide = raw + l->n * 8, *sums = wide + l->n * 8;
	char *to = l->to + (line / l->inner * l->size * l->inner + line % l->inner) * l->bytes;
	const int64_t *indices = l->indices;
	if (!l->shared) {
		indices += line / l->inner * l->n * l->inner + line % l->inner;
		lb_gather_row(where, indices, l->n, l->inner, 8);
		indices = where;
	}
	lb_index_of(l->lines_rank, v->shape, line, index);
	const char *from = (const char *)v->data + lb_offset_of(l->lines_rank, index, v->strides) * l->bytes;
	memset(index, 0, sizeof index);
	lb_gather(raw, from, l->n, v->rank - l->lines_rank, v->shape + l->lines_rank, v->strides + l->lines_rank, index,
		  l->bytes);
	if (l->how == LB_PUT_ASSIGN) {
		assign(l->bytes, l->n, to, indices, l->inner, raw);
	} else if (l->how != LB_PUT_ADD) {
		combine(l, to, indices, raw);
	} else if (l->stage == l->dtype) {
		lb_add_at(l->dtype, l->n, to, indices, l->inner, raw);
	} else if (l->n == 1) {
		to += indices[0] * l->inner * l->bytes;
		l->tiles->elementwise(LB_OP_ADD, l->dtype, l->dtype)(1, to, to, raw, NULL);
	} else {
		l->tiles->convert(l->stage, l->dtype)(l->n, wide, raw, NULL, NULL);
		lb_stage_in(l->dtype, l->stage, l->size, to, l->inner, sums);
		lb_add_at(l->stage, l->n, sums, indices, 1, wide);
		lb_stage_out(l->dtype, l->stage, l->size, sums, l->inner, to);
	}
}

static bool put_lines(struct lb_exec *exec, const struct lines *l, int64_t n_lines)
{
	bool staged = l->how == LB_PUT_ADD && l->stage != l->dtype && l->n > 1;
	int64_t work = l->n + (staged ? l->size : 0), elements;
	if (!lb_mul(l->n, 3, &elements) || !lb_sum_of(elements, staged ? l->size : 0, &elements))
		return lb_fail("put: lines of %lld elements are too long", (long long)l->n);
	return lb_share(exec, n_lines, GRAIN / work + 1, lb_bytes_of(elements, 8, 1), put_line, (void *)l);
}

bool lb_kernel_scatter_add(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *indices, int axis,
			   const struct lb_view *updates)
{
	if (axis < 0 || axis >= to->rank || updates->rank != to->rank - 1 + indices->rank ||
	    updates->dtype != to->dtype)
		return lb_fail("scatter_add: axis %d, array of %d %s, indices of %d, updates of %d", axis, to->rank,
			       LB_PLURAL(to->rank, "axis", "axes"), indices->rank, updates->rank);
	const int64_t *list = lb_read_indices(exec, "scatter_add", indices, axis, to->shape[axis]);
	if (!list)
		return false;
	if (lb_shape_size(updates->rank, updates->shape) == 0)
		return true;
	int64_t n_outer = lb_shape_size(axis, to->shape);
	int64_t n_each = lb_shape_size(to->rank - axis - 1, to->shape + axis + 1);
	int64_t n_indices = lb_shape_size(indices->rank, indices->shape);
	if (n_each > 1) {
		struct rows rows = { .tiles = lb_tiles(),
				     .updates = updates,
				     .dtype = to->dtype,
				     .stage = lb_sum_stage(to->dtype),
				     .n_inner = to->rank - axis - 1,
				     .bytes = lb_width_of(to->dtype),
				     .size = to->shape[axis],
				     .n_each = n_each,
				     .n_outer = n_outer,
				     .n_indices = n_indices,
				     .indices = list,
				     .first_inner = axis + indices->rank,
				     .n_lead = axis,
				     .to = to->data };
		return scatter_rows(exec, &rows);
	}
	struct lines lines = { .tiles = lb_tiles(),
			       .dtype = to->dtype,
			       .stage = lb_sum_stage(to->dtype),
			       .bytes = lb_width_of(to->dtype),
			       .size = to->shape[axis],
			       .n = n_indices,
			       .inner = 1,
			       .indices = list,
			       .shared = true,
			       .how = LB_PUT_ADD,
			       .values = *updates,
			       .lines_rank = axis,
			       .to = to->data };
	return put_lines(exec, &lines, n_outer);
}

bool lb_kernel_put_along(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *indices, int axis,
			 const struct lb_view *values, int how)
{
	if (how < LB_PUT_ASSIGN || how > LB_PUT_MIN ||
	    (how > LB_PUT_ADD && !lb_kernel_has(LB_OP_MULTIPLY, (enum lb_dtype)to->dtype, (enum lb_dtype)to->dtype)))
		return lb_fail("put_along_axis: %s, %d: there is no such way to put them", lb_dtypes[to->dtype].name,
			       how);
	if (axis < 0 || axis >= to->rank || indices->rank != to->rank || values->rank != to->rank ||
	    values->dtype != to->dtype)
		return lb_fail("put_along_axis: axis %d, array of %d %s, indices of %d", axis, to->rank,
			       LB_PLURAL(to->rank, "axis", "axes"), indices->rank);
	const int64_t *list = lb_read_indices(exec, "put_along_axis", indices, axis, to->shape[axis]);
	if (!list)
		return false;
	int64_t n = indices->shape[axis], all = lb_shape_size(indices->rank, indices->shape);
	if (all == 0)
		return true;
	struct lines lines = { .tiles = lb_tiles(),
			       .dtype = to->dtype,
			       .stage = lb_sum_stage(to->dtype),
			       .bytes = lb_width_of(to->dtype),
			       .size = to->shape[axis],
			       .n = n,
			       .inner = lb_shape_size(to->rank - axis - 1, to->shape + axis + 1),
			       .indices = list,
			       .how = how,
			       .values = *values,
			       .lines_rank = to->rank - 1,
			       .to = to->data };
	/* the axis goes last */
	for (int i = axis; i < to->rank; i++) {
		bool last = i == to->rank - 1;
		lines.values.shape[i] = last ? values->shape[axis] : values->shape[i + 1];
		lines.values.strides[i] = last ? values->strides[axis] : values->strides[i + 1];
	}
	return put_lines(exec, &lines, all / n);
}
