/* The places of values in a sorted line, each by halving it. */
#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/model.h"
#include "kernels/order.h"

enum { CHUNK = 512, GRAIN = 1 << 10 };

struct job {
	const struct lb_view *sorted, *values;
	bool right;
	uint32_t *to;
};

/* How many elements are below each value, or, on the right, not above it. */
#define PLACES(id, T, key) \
	static void places_##id(const struct job *job, int64_t n, const void *values, uint32_t *to) \
	{ \
		const T *sorted = job->sorted->data; \
		int64_t stride = job->sorted->strides[0]; \
		for (int64_t i = 0; i < n; i++) { \
			T x = ((const T *)values)[i]; \
			uint64_t value = (uint64_t)(key); \
			int64_t low = 0; \
			for (int64_t high = job->sorted->shape[0]; low < high;) { \
				int64_t middle = low + (high - low) / 2; \
				x = sorted[middle * stride]; \
				uint64_t here = (uint64_t)(key); \
				bool below = job->right ? here <= value : here < value; \
				low = below ? middle + 1 : low; \
				high = below ? high : middle; \
			} \
			to[i] = (uint32_t)low; \
		} \
	}
LB_ORDERED(PLACES)

static void search_range(void *arg, int64_t begin, int64_t end)
{
	static void (*const places[LB_DTYPES])(const struct job *, int64_t, const void *, uint32_t *) = {
#define PLACE(id, T, key) [id] = places_##id,
		LB_ORDERED(PLACE)
#undef PLACE
	};
	const struct job *job = arg;
	const struct lb_view *values = job->values;
	int64_t index[LB_MAX_RANK], width = lb_width_of(values->dtype);
	uint64_t room[CHUNK];
	lb_index_of(values->rank, values->shape, begin, index);
	for (int64_t n; begin < end; begin += n) {
		n = end - begin < CHUNK ? end - begin : CHUNK;
		lb_gather(room, values->data, n, values->rank, values->shape, values->strides, index, width);
		places[values->dtype](job, n, room, job->to + begin);
	}
}

bool lb_kernel_searchsorted(struct lb_exec *exec, const struct lb_view *sorted, const struct lb_view *values,
			    bool right, uint32_t *to)
{
	if (sorted->rank != 1 || sorted->shape[0] > UINT32_MAX || sorted->dtype != values->dtype ||
	    sorted->dtype == LB_C64)
		return lb_fail("searchsorted: not defined for %s among %s of %d %s", lb_dtypes[values->dtype].name,
			       lb_dtypes[sorted->dtype].name, sorted->rank, LB_PLURAL(sorted->rank, "axis", "axes"));
	struct job job = { sorted, values, right, to };
	lb_parallel(exec, lb_shape_size(values->rank, values->shape), GRAIN, search_range, &job);
	return true;
}
