/* argmax and argmin. Elements are staged as u64, i64, f32, f64 or complex, whose order is
 * that of their own dtype. The first of equals wins, and the first NaN wins over all. */
#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/tile.h"

enum { CHUNK = 512, IN_PLACE = 4096, BLOCK = 64, GRAIN = 1 << 15, PIECES_MOST = 64 };

struct arg {
	const char *data;
	int64_t bytes;
	int stage;
	bool least;
	lb_tile_fn *convert; /* NULL if x has the stage's dtype */
	int rank;            /* axes that are searched, in row-major order */
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	int64_t n_each;
	int n_kept;
	int64_t kept[LB_MAX_RANK], kept_strides[LB_MAX_RANK];
	int64_t pieces;
	int64_t *found;      /* of each piece */
	uint32_t *to;
};

/* Is b, which comes later, better than a? */
#define BETTER_REAL(a, b) ((a) == (a) && ((b) != (b) || (least ? (b) < (a) : (b) > (a))))

static bool better_complex(const float *a, const float *b, bool least)
{
	if (a[0] != a[0] || a[1] != a[1])
		return false;
	if (b[0] != b[0] || b[1] != b[1])
		return true;
	if (least)
		return b[0] < a[0] || (b[0] == a[0] && b[1] < a[1]);
	return b[0] > a[0] || (b[0] == a[0] && b[1] > a[1]);
}

#define SEARCH(T) \
	do { \
		const T *v = x; \
		T best; \
		memcpy(&best, value, sizeof best); \
		int64_t best_at = -1; \
		for (int64_t i = 0; i < n; i++) \
			if (BETTER_REAL(best, v[i])) { \
				best = v[i]; \
				best_at = i; \
			} \
		memcpy(value, &best, sizeof best); \
		return best_at; \
	} while (0)

/* The best of n elements, found by the vectorised fold of max or min. */
static void best_of(int stage, bool least, const void *x, int64_t n, char *lanes)
{
	const struct lb_fold *fold = lb_tiles()->fold(least ? LB_OP_MIN : LB_OP_MAX, stage);
	int64_t width = lb_width_of(stage);
	lb_gather_row(lanes, x, LB_LANES, 0, width);
	fold->rows(n, lanes, x);
	for (int64_t half = LB_LANES / 2; half >= 1; half /= 2)
		fold->merge(half, lanes, lanes + half * width);
}

/* The first of n elements that is *best, or NaN if that is. */
#define FIRST(T) \
	do { \
		const T *v = x, wanted = *(const T *)best; \
		for (int64_t at = 0; at < n; at += BLOCK) { \
			int64_t m = n - at < BLOCK ? n - at : BLOCK; \
			int found = 0; \
			for (int64_t i = 0; i < m; i++) \
				found |= (v[at + i] == wanted) | ((v[at + i] != v[at + i]) & (wanted != wanted)); \
			for (int64_t i = 0; found && i < m; i++) \
				if (v[at + i] == wanted || (v[at + i] != v[at + i] && wanted != wanted)) { \
					memcpy(value, v + at + i, sizeof *v); \
					return at + i; \
				} \
		} \
		return -1; \
	} while (0)
#define FIRST_IF_BETTER(T) \
	do { \
		T a, b; \
		memcpy(&a, value, sizeof a); \
		memcpy(&b, best, sizeof b); \
		if (!BETTER_REAL(a, b)) \
			return -1; \
		FIRST(T); \
	} while (0)

static int64_t search_floats(bool least, const float *x, int64_t n, float *value)
{
	int64_t at = lb_tiles()->extreme(n, x, least);
	if (!BETTER_REAL(*value, x[at]))
		return -1;
	*value = x[at];
	return at;
}

/* Of many: the best of all is found first, and then, if that is better than *value, where it is. */
static int64_t search_many(int stage, bool least, const void *x, int64_t n, void *value)
{
	_Alignas(64) char best[LB_LANES * 8];
	best_of(stage, least, x, n, best);
	switch (stage) {
	case LB_U64: FIRST_IF_BETTER(uint64_t);
	case LB_I64: FIRST_IF_BETTER(int64_t);
	default: FIRST_IF_BETTER(double);
	}
}

/* The index of the first of the best elements, if better than *value, or -1; *value is
 * then that element. */
static int64_t search(int stage, bool least, const void *x, int64_t n, void *value)
{
	if (n >= LB_LANES && stage == LB_F32)
		return search_floats(least, x, n, value);
	if (n >= 2 * LB_LANES && stage != LB_C64)
		return search_many(stage, least, x, n, value);
	switch (stage) {
	case LB_U64: SEARCH(uint64_t);
	case LB_I64: SEARCH(int64_t);
	case LB_F32: SEARCH(float);
	case LB_F64: SEARCH(double);
	}
	int64_t best_at = -1;
	const float *pairs = x;
	for (int64_t i = 0; i < n; i++)
		if (better_complex(value, pairs + 2 * i, least)) {
			memcpy(value, pairs + 2 * i, 2 * sizeof(float));
			best_at = i;
		}
	return best_at;
}

static void stage_row(const struct arg *arg, void *staged, const char *from, int64_t n, int64_t stride)
{
	char gathered[CHUNK * 8] __attribute__((aligned(64)));
	if (!arg->convert) {
		lb_gather_row(staged, from, n, stride, arg->bytes);
		return;
	}
	if (stride != 1) {
		lb_gather_row(gathered, from, n, stride, arg->bytes);
		from = gathered;
	}
	arg->convert(n, staged, from, NULL, NULL);
}

/* Searches elements [begin, end) of those at `from`. */
static int64_t search_range(const struct arg *arg, const char *from, int64_t begin, int64_t end, double *value_ret)
{
	char staged[CHUNK * 8] __attribute__((aligned(64)));
	double value = 0; /* any stage's element fits */
	int64_t index[LB_MAX_RANK], best = -1;
	int last = arg->rank - 1;
	lb_index_of(arg->rank, arg->shape, begin, index);
	int64_t offset = last < 0 ? 0 : lb_offset_of(last, index, arg->strides);
	while (begin < end) {
		int64_t n = last < 0 ? 1 : arg->shape[last] - index[last];
		int64_t stride = last < 0 ? 1 : arg->strides[last];
		n = n > end - begin ? end - begin : n;
		bool in_place = !arg->convert && stride == 1;
		int64_t at = last < 0 ? 0 : offset + index[last] * stride, most = in_place ? IN_PLACE : CHUNK;
		n = n > most ? most : n;
		const void *row = in_place ? from + at * arg->bytes : staged;
		if (!in_place)
			stage_row(arg, staged, from + at * arg->bytes, n, stride);
		if (best < 0) {
			memcpy(&value, row, (size_t)lb_width_of(arg->stage));
			best = begin;
		}
		int64_t found = search(arg->stage, arg->least, row, n, &value);
		if (found >= 0)
			best = begin + found;
		begin += n;
		if (last < 0)
			break;
		index[last] += n;
		if (index[last] == arg->shape[last]) {
			index[last] = 0;
			offset = lb_next_row(arg->rank, arg->shape, arg->strides, index, offset);
		}
	}
	*value_ret = value;
	return best;
}

static void search_outputs(void *context, int64_t begin, int64_t end)
{
	const struct arg *arg = context;
	for (int64_t i = begin; i < end; i++) {
		int64_t index[LB_MAX_RANK];
		double value;
		lb_index_of(arg->n_kept, arg->kept, i, index);
		int64_t from = lb_offset_of(arg->n_kept, index, arg->kept_strides);
		arg->to[i] = (uint32_t)search_range(arg, arg->data + from * arg->bytes, 0, arg->n_each, &value);
	}
}

/* Neighbouring outputs along the last kept axis, whose elements are closer together
 * than those of one output: each searched index is a row of candidates. */
#define UPDATE(T) \
	do { \
		T *best = (T *)(void *)values; \
		const T *v = (const T *)(const void *)staged; \
		for (int64_t i = 0; i < n; i++) { \
			bool better = BETTER_REAL(best[i], v[i]); \
			best[i] = better ? v[i] : best[i]; \
			at[i] = better ? (uint32_t)k : at[i]; \
		} \
	} while (0)

static void search_columns(void *context, int64_t begin, int64_t end)
{
	const struct arg *arg = context;
	bool least = arg->least;
	int64_t lanes = arg->kept[arg->n_kept - 1], step = arg->kept_strides[arg->n_kept - 1];
	int64_t width = lb_width_of(arg->stage);
	char values[CHUNK * 8] __attribute__((aligned(64)));
	char staged[CHUNK * 8] __attribute__((aligned(64)));
	while (begin < end) {
		int64_t index[LB_MAX_RANK] = { 0 };
		lb_index_of(arg->n_kept, arg->kept, begin, index);
		int64_t n = lanes - index[arg->n_kept - 1];
		n = n > end - begin ? end - begin : n;
		n = n > CHUNK ? CHUNK : n;
		const char *from = arg->data + lb_offset_of(arg->n_kept, index, arg->kept_strides) * arg->bytes;
		uint32_t *at = arg->to + begin;
		memset(at, 0, (size_t)n * sizeof *at);
		stage_row(arg, values, from, n, step);
		for (int64_t k = 1; k < arg->n_each; k++) {
			from += arg->strides[0] * arg->bytes;
			stage_row(arg, staged, from, n, step);
			switch (arg->stage) {
			case LB_U64: UPDATE(uint64_t); break;
			case LB_I64: UPDATE(int64_t); break;
			case LB_F32: UPDATE(float); break;
			case LB_F64: UPDATE(double); break;
			default:
				for (int64_t i = 0; i < n; i++) {
					char *best = values + i * width, *v = staged + i * width;
					if (better_complex((float *)(void *)best, (float *)(void *)v, least)) {
						memcpy(best, v, (size_t)width);
						at[i] = (uint32_t)k;
					}
				}
			}
		}
		begin += n;
	}
}

static void search_pieces(void *context, int64_t begin, int64_t end)
{
	const struct arg *arg = context;
	for (int64_t i = begin; i < end; i++) {
		int64_t each = arg->n_each / arg->pieces, rest = arg->n_each % arg->pieces;
		int64_t first = i * each + (i < rest ? i : rest);
		double value;
		arg->found[i] = search_range(arg, arg->data, first, first + each + (i < rest), &value);
	}
}

/* One output: pieces in parallel, their winners compared in order. */
static bool search_all(struct lb_exec *exec, struct arg *arg)
{
	int64_t found[PIECES_MOST];
	arg->pieces = arg->n_each / GRAIN;
	arg->pieces = arg->pieces < 1 ? 1 : arg->pieces > PIECES_MOST ? PIECES_MOST : arg->pieces;
	arg->found = found;
	lb_parallel(exec, arg->pieces, 1, search_pieces, arg);
	double best, value;
	int64_t best_at = search_range(arg, arg->data, found[0], found[0] + 1, &best);
	for (int64_t i = 1; i < arg->pieces; i++) {
		search_range(arg, arg->data, found[i], found[i] + 1, &value);
		if (search(arg->stage, arg->least, &value, 1, &best) >= 0)
			best_at = found[i];
	}
	arg->to[0] = (uint32_t)best_at;
	return true;
}

bool lb_kernel_argreduce(struct lb_exec *exec, int op, const struct lb_view *x, int axis, uint32_t *to)
{
	const char *name = op == LB_OP_ARGMIN ? "argmin" : "argmax";
	struct arg arg = {
		.data = x->data, .bytes = lb_width_of(x->dtype), .least = op == LB_OP_ARGMIN, .n_each = 1, .to = to
	};
	if (axis < -1 || axis >= x->rank)
		return lb_fail("%s: axis %d of an array of %d %s", name, axis, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"));
	arg.stage = x->dtype == LB_C64 || x->dtype == LB_F64 ? x->dtype
		    : lb_dtype_is_inexact(x->dtype)          ? LB_F32
		    : lb_dtype_is_signed_int(x->dtype)       ? LB_I64
							     : LB_U64;
	if (arg.stage != (int)x->dtype)
		arg.convert = lb_tiles()->convert(arg.stage, x->dtype);
	int64_t outputs = 1;
	for (int i = 0; i < x->rank; i++) {
		bool searched = axis == -1 || axis == i;
		int n = searched ? arg.rank++ : arg.n_kept++;
		(searched ? arg.shape : arg.kept)[n] = x->shape[i];
		(searched ? arg.strides : arg.kept_strides)[n] = x->strides[i];
		*(searched ? &arg.n_each : &outputs) *= x->shape[i];
	}
	if (outputs == 0)
		return true;
	if (arg.n_each == 0)
		return lb_fail("%s: no elements along the searched axis", name);
	if (arg.n_each > (int64_t)UINT32_MAX + 1)
		return lb_fail("%s: %lld elements do not fit uint32 indices", name, (long long)arg.n_each);
	arg.rank = lb_join_axes(arg.rank, arg.shape, 1, &arg.strides);
	if (outputs == 1)
		return search_all(exec, &arg);
	int64_t step = arg.n_kept ? arg.kept_strides[arg.n_kept - 1] : 0;
	if (step < 0)
		step = -step;
	bool columns = arg.rank == 1 && arg.kept[arg.n_kept - 1] >= 8 &&
		       step < (arg.strides[0] < 0 ? -arg.strides[0] : arg.strides[0]);
	lb_parallel(exec, outputs, GRAIN / arg.n_each + 1, columns ? search_columns : search_outputs, &arg);
	return true;
}
