/* Sorting along an axis. Values alone, and indices of elements of at most 4 bytes, are sorted by sort_line.c. Else every
 * element becomes an unsigned key that orders as it does (NaN last, -0 equal to 0), paired with its index: pairs differ,
 * so the order is stable whatever the algorithm. Lines of a few elements are sorted by insertion, longer ones by
 * counting their keys' bytes from the lowest on, skipping bytes in which all agree. */
#include "base/plural.h"
#include "kernels/model.h"
#include "kernels/order.h"
#include "kernels/row.h"
#include "kernels/share.h"
#include "kernels/sort_line.h"
#include "kernels/tile.h"

enum { FEW = 32, GRAIN = 1 << 12 };

struct pair {
	uint64_t key;
	uint64_t index;
};

/* ---- keys ---- */

static void make_keys(struct pair *pairs, int dtype, const void *from, int64_t n, int64_t stride)
{
	switch (dtype) {
#define KEYS(id, T, key) \
	case id: \
		for (int64_t i = 0; i < n; i++) { \
			T x = ((const T *)from)[i * stride]; \
			pairs[i] = (struct pair){ (uint64_t)(key), (uint64_t)i }; \
		} \
		break;
		LB_ORDERED(KEYS)
#undef KEYS
	}
}

/* ---- orders ---- */

static void insert(struct pair *pairs, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		struct pair x = pairs[i];
		int64_t at = i;
		for (; at > 0 && pairs[at - 1].key > x.key; at--)
			pairs[at] = pairs[at - 1];
		pairs[at] = x;
	}
}

/* Returns where the sorted pairs are. */
static struct pair *sort_pairs(struct pair *pairs, struct pair *other, int64_t n, int bytes)
{
	if (n <= FEW) {
		insert(pairs, n);
		return pairs;
	}
	uint64_t counts[8][256] = { { 0 } };
	for (int64_t i = 0; i < n; i++)
		for (int b = 0; b < bytes; b++)
			counts[b][pairs[i].key >> 8 * b & 255]++;
	for (int b = 0; b < bytes; b++) {
		uint64_t *count = counts[b], at = 0;
		if (count[pairs[0].key >> 8 * b & 255] == (uint64_t)n)
			continue;
		for (int v = 0; v < 256; v++) {
			uint64_t here = count[v];
			count[v] = at;
			at += here;
		}
		for (int64_t i = 0; i < n; i++)
			other[count[pairs[i].key >> 8 * b & 255]++] = pairs[i];
		struct pair *sorted = other;
		other = pairs;
		pairs = sorted;
	}
	return pairs;
}

/* The k largest of n, sorted: candidates are kept while they beat the worst of the best k so far.
 * `found` and `other` hold 2k pairs each. */
static struct pair *largest(const struct pair *pairs, int64_t n, int64_t k, struct pair *found, struct pair *other,
			    int bytes)
{
	int64_t kept = 0;
	uint64_t bar = 0;
	for (int64_t i = 0; i < n; i++) {
		if (kept >= k && pairs[i].key <= bar)
			continue;
		found[kept++] = pairs[i];
		if (kept < 2 * k)
			continue;
		struct pair *best = sort_pairs(found, other, kept, bytes) + k;
		memmove(found, best, (size_t)k * sizeof *found);
		bar = found[0].key;
		kept = k;
	}
	return sort_pairs(found, other, kept, bytes) + (kept - k);
}

/* ---- lines ---- */

struct job {
	const struct lb_exec *within; /* a line */
	const struct lb_view *x;
	enum lb_sort_kind kind;
	int axis;
	int64_t n, k, bytes, inner; /* `inner`: from one element of a line to the next, in `to` */
	bool *has_nan; /* where it matters; else NULL */
	char *to;
};

/* Nothing else has that key. */
static bool has_nan(const struct pair *pairs, int64_t n, int64_t bytes)
{
	uint64_t key = UINT64_MAX >> (64 - 8 * bytes);

	for (int64_t i = 0; i < n; i++)
		if (pairs[i].key == key)
			return true;
	return false;
}

static void store(const struct job *job, const char *from, int64_t stride, const struct pair *sorted, int64_t n,
		  bool backwards, char *to)
{
	for (int64_t i = 0; i < n; i++) {
		uint64_t index = sorted[backwards ? n - 1 - i : i].index;
		if (job->kind == LB_SORT_INDICES)
			((uint32_t *)(void *)to)[i * job->inner] = (uint32_t)index;
		else
			memcpy(to + i * job->inner * job->bytes, from + (int64_t)index * stride * job->bytes,
			       (size_t)job->bytes);
	}
}

static bool by_radix(const struct job *job)
{
	return job->kind == LB_SORT_VALUES || (job->kind == LB_SORT_INDICES && job->bytes <= 4);
}

static bool sort_by_radix(const struct job *job, const char *from, int64_t stride, char *to, char *scratch)
{
	int dtype = (int)job->x->dtype;
	int64_t n = job->n, width = job->kind == LB_SORT_INDICES ? 4 : job->bytes;
	char *room = scratch, *result = job->inner == 1 ? to : scratch;
	bool nan;
	if (job->inner != 1)
		room += (n * width + 63) & ~(int64_t)63;
	if (job->kind == LB_SORT_VALUES) {
		if (stride != 1) {
			lb_gather_row(result, from, n, stride, job->bytes);
			from = result;
		}
		nan = lb_sort_values(job->within, lb_tiles(), dtype, n, from, result, room);
	} else {
		if (stride != 1) {
			lb_gather_row(room, from, n, stride, job->bytes);
			from = room;
			room += (n * 4 + 63) & ~(int64_t)63;
		}
		nan = lb_sort_indices(job->within, lb_tiles(), dtype, n, from, (uint32_t *)(void *)result,
				      (uint64_t *)(void *)room);
	}
	if (result != to)
		lb_scatter_row(to, result, n, job->inner, width);
	return nan;
}

static void sort_line(void *arg, void *scratch, int64_t line)
{
	const struct job *job = arg;
	const struct lb_view *x = job->x;
	int64_t n = job->n, index[LB_MAX_RANK], shape[LB_MAX_RANK], out = 0, step = 1;
	memcpy(shape, x->shape, sizeof shape);
	shape[job->axis] = 1;
	lb_index_of(x->rank, shape, line, index);
	for (int i = x->rank - 1; i >= 0; i--) {
		out += index[i] * step;
		step *= i == job->axis ? job->k : shape[i];
	}
	const char *from = (const char *)x->data + lb_offset_of(x->rank, index, x->strides) * job->bytes;
	char *to = job->to + out * (job->kind == LB_SORT_INDICES ? 4 : job->bytes);
	int64_t stride = x->strides[job->axis];
	if (by_radix(job)) {
		if (sort_by_radix(job, from, stride, to, scratch) && job->has_nan)
			__atomic_store_n(job->has_nan, true, __ATOMIC_RELAXED);
		return;
	}
	struct pair *pairs = scratch, *other = pairs + n;
	make_keys(pairs, x->dtype, from, n, stride);
	if (job->has_nan && has_nan(pairs, n, job->bytes))
		__atomic_store_n(job->has_nan, true, __ATOMIC_RELAXED);
	if (job->kind != LB_SORT_TOP) {
		store(job, from, stride, sort_pairs(pairs, other, n, (int)job->bytes), n, false, to);
	} else if (job->k < n / 8) {
		struct pair *best = largest(pairs, n, job->k, other, other + 2 * job->k, (int)job->bytes);
		store(job, from, stride, best, job->k, true, to);
	} else {
		struct pair *sorted = sort_pairs(pairs, other, n, (int)job->bytes);
		store(job, from, stride, sorted + n - job->k, job->k, true, to);
	}
}

bool lb_kernel_sort(struct lb_exec *exec, enum lb_sort_kind kind, const struct lb_view *x, int axis, int64_t k,
		    void *to)
{
	bool is_top = kind == LB_SORT_TOP, seen = false;
	if (x->dtype == LB_C64 || axis < 0 || axis >= x->rank || k < 0 || (is_top && k > x->shape[axis]) ||
	    x->shape[axis] > UINT32_MAX)
		return lb_fail("sort: not defined for %s, axis %d of %d %s", lb_dtypes[x->dtype].name, axis, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"));
	struct job job = { .x = x,
			   .kind = kind,
			   .axis = axis,
			   .n = x->shape[axis],
			   .k = is_top ? k : x->shape[axis],
			   .has_nan = !is_top && k && lb_dtype_is_float(x->dtype) ? &seen : NULL,
			   .bytes = lb_width_of(x->dtype),
			   .inner = lb_shape_size(x->rank - axis - 1, x->shape + axis + 1),
			   .to = to };
	int64_t size = lb_shape_size(x->rank, x->shape);
	if (size == 0 || job.k == 0)
		return true;
	int64_t each = 2 * (int64_t)sizeof(struct pair);
	if (by_radix(&job))
		each = kind == LB_SORT_VALUES ? 3 * job.bytes : 16 + 8;
	int64_t nbytes = lb_bytes_of(1, job.n, each);
	if (nbytes < 0 || !lb_sum_of(nbytes, 128, &nbytes))
		return lb_fail("sort: lines of %lld elements are too long", (long long)job.n);
	/* lines are shared among the cores, a single one in itself */
	static const struct lb_exec alone = { 0 };
	job.within = size == job.n ? exec : &alone;
	if (!lb_share(exec, size / job.n, GRAIN / job.n + 1, nbytes, sort_line, &job))
		return false;
	return !seen || lb_fail("sort: there is a NaN, and where that goes is not known of this program");
}
