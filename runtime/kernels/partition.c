/* Partitions: the k-th smallest goes to its place, none of those in front of it is larger, none behind it smaller. In which order
 * those are is that of std::nth_element() in GNU's C++ library, which halves what is left round a median of three, sorts the last
 * few, and goes on by a heap where the halves are none: programs that use it give the same bits. */
#include "base/plural.h"
#include "kernels/model.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { GRAIN = 1 << 12, FEW = 3 };

struct place {
	double key;
	uint32_t index;
};

struct job {
	const struct lb_view *x; /* the axis is the last one */
	int64_t strides[LB_MAX_RANK]; /* of `to`, likewise */
	int64_t n, kth, bytes;
	bool gives_indices;
	char *to;
	bool has_nan;
};

/* NaN last, one like another. Equal numbers are told apart by their places, where these are what is asked for. */
static inline bool before(const struct job *job, struct place a, struct place b)
{
	if (a.key != a.key || b.key != b.key)
		return a.key == a.key;
	return a.key < b.key || (job->gives_indices && a.key == b.key && a.index < b.index);
}

static inline void swap(struct place *a, struct place *b)
{
	struct place c = *a;
	*a = *b;
	*b = c;
}

static void median_first(const struct job *job, struct place *to, struct place *a, struct place *b, struct place *c)
{
	if (before(job, *a, *b))
		swap(to, before(job, *b, *c) ? b : before(job, *a, *c) ? c : a);
	else
		swap(to, before(job, *a, *c) ? a : before(job, *b, *c) ? c : b);
}

/* Where the second half begins. The pivot, in front, keeps both walks inside. */
static struct place *halve(const struct job *job, struct place *first, struct place *last)
{
	struct place *pivot = first;

	median_first(job, first, first + 1, first + (last - first) / 2, last - 1);
	first++;
	for (;; first++) {
		while (before(job, *first, *pivot))
			first++;
		last--;
		while (before(job, *pivot, *last))
			last--;
		if (first >= last)
			return first;
		swap(first, last);
	}
}

static void insert(const struct job *job, struct place *first, struct place *last)
{
	for (struct place *i = first + 1; i < last; i++) {
		struct place x = *i;
		struct place *at = i;
		for (; at > first && before(job, x, at[-1]); at--)
			*at = at[-1];
		*at = x;
	}
}

/* Puts x where a heap of n, whose largest is in front, has a hole: this sinks to the end, and x rises from there, to `top` at most. */
static void sink(const struct job *job, struct place *heap, int64_t n, int64_t hole, struct place x)
{
	int64_t top = hole;

	for (int64_t child; (child = 2 * hole + 2) <= n; hole = child) {
		child -= child == n || before(job, heap[child], heap[child - 1]);
		heap[hole] = heap[child];
	}
	for (int64_t parent; hole > top && before(job, heap[parent = (hole - 1) / 2], x); hole = parent)
		heap[hole] = heap[parent];
	heap[hole] = x;
}

/* The smallest of them go into a heap that ends at nth, whose largest is what is looked for. */
static void select_by_heap(const struct job *job, struct place *first, struct place *nth, struct place *last)
{
	int64_t n = nth + 1 - first;

	for (int64_t i = n / 2; i-- > 0;)
		sink(job, first, n, i, first[i]);
	for (struct place *i = nth + 1; i < last; i++)
		if (before(job, *i, *first)) {
			struct place x = *i;
			*i = *first;
			sink(job, first, n, 0, x);
		}
	swap(first, nth);
}

static void select(const struct job *job, struct place *first, struct place *nth, struct place *last)
{
	int depth = 0;

	for (int64_t n = last - first; n > 1; n /= 2)
		depth += 2;
	while (last - first > FEW) {
		if (depth-- == 0) {
			select_by_heap(job, first, nth, last);
			return;
		}
		struct place *cut = halve(job, first, last);
		*(cut <= nth ? &first : &last) = cut;
	}
	insert(job, first, last);
}

static void line(void *arg, void *scratch, int64_t number)
{
	struct job *job = arg;
	const struct lb_view *x = job->x;
	int64_t index[LB_MAX_RANK], last = x->rank - 1, stride = x->strides[last] * job->bytes;
	struct place *places = scratch;

	lb_index_of(last, x->shape, number, index);
	const char *from = (const char *)x->data + lb_offset_of(last, index, x->strides) * job->bytes;
	int64_t out = lb_offset_of(last, index, job->strides);
	bool has_nan = false;
	for (int64_t i = 0; i < job->n; i++) {
		places[i] = (struct place){ lb_load_double(from + i * stride, x->dtype), (uint32_t)i };
		has_nan |= places[i].key != places[i].key;
	}
	if (has_nan)
		__atomic_store_n(&job->has_nan, true, __ATOMIC_RELAXED);
	select(job, places, places + job->kth, places + job->n);
	for (int64_t i = 0; i < job->n; i++, out += job->strides[last]) {
		if (job->gives_indices)
			((uint32_t *)(void *)job->to)[out] = places[i].index;
		else
			memcpy(job->to + out * job->bytes, from + (int64_t)places[i].index * stride,
			       (size_t)job->bytes);
	}
}

bool lb_kernel_partition(struct lb_exec *exec, const struct lb_view *x, int axis, int64_t kth, bool gives_indices,
			 bool refuses_nan, void *to)
{
	struct job job = { .kth = kth, .bytes = lb_width_of(x->dtype), .gives_indices = gives_indices, .to = to };
	struct lb_view turned = *x;
	int64_t size = 1, n = axis >= 0 && axis < x->rank ? x->shape[axis] : 0;

	if (axis < 0 || axis >= x->rank || kth < 0 || kth >= n || n > UINT32_MAX || x->dtype == LB_C64 ||
	    x->dtype == LB_I64 || x->dtype == LB_U64)
		return lb_fail("partition: not defined for %s, number %lld along axis %d of %d %s",
			       lb_dtypes[x->dtype].name, (long long)kth, axis, x->rank,
			       LB_PLURAL(x->rank, "axis", "axes"));
	for (int i = x->rank; i-- > 0; size *= x->shape[i])
		job.strides[i] = size;
	if (size == 0)
		return true;
	lb_put_last(x->rank, axis, turned.shape);
	lb_put_last(x->rank, axis, turned.strides);
	lb_put_last(x->rank, axis, job.strides);
	job.x = &turned;
	job.n = n;
	int64_t nbytes = lb_bytes_of(n, 1, sizeof(struct place));
	return lb_share(exec, size / n, GRAIN / n + 1, nbytes, line, &job) &&
	       (!job.has_nan || !refuses_nan ||
		lb_fail("partition: there is a NaN, and where that goes is not known of this program"));
}
