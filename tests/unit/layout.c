#include "layout.h"

#include <stdlib.h>
#include <string.h>

static lb_list list_of(int n, const int64_t *v)
{
	return (lb_list){ n, v };
}

/* Writes each element of npy to its place by strides and offset. */
static void scatter(const struct npy *npy, const int64_t *strides, int64_t offset, char *to)
{
	size_t bytes = (size_t)lb_dtype_bytes(npy->dtype);
	int64_t at[LB_MAX_RANK] = { 0 };
	for (int64_t i = 0; i < npy->size; i++) {
		int64_t position = offset;
		for (int k = 0; k < npy->rank; k++)
			position += at[k] * strides[k];
		memcpy(to + (size_t)position * bytes, (char *)npy->data + (size_t)i * bytes, bytes);
		for (int k = npy->rank - 1; k >= 0 && ++at[k] == npy->shape[k]; k--)
			at[k] = 0;
	}
}

/* Bytes between the elements that show when they are read; 1 keeps bool valid. */
static void *garbage(size_t nbytes, lb_dtype dtype)
{
	void *data = malloc(nbytes + 1);
	if (data)
		memset(data, dtype == LB_BOOL ? 1 : 0xa5, nbytes);
	return data;
}

static lb_tensor *reversed(const struct npy *npy)
{
	/* the buffer's axes are ours in reverse; along each, 2n + 1 places, ours at odd ones */
	int64_t sizes[LB_MAX_RANK], strides[LB_MAX_RANK], total = 1, offset = 0;
	lb_index index[LB_MAX_RANK];
	for (int k = 0; k < npy->rank; k++) {
		int64_t n = npy->shape[k], size = k < 4 ? 2 * n + 1 : n;
		int64_t step = k < 4 ? 2 : 1, first = k < 4 ? 1 : 0;
		bool backwards = k % 2 == 1 && n > 0;
		strides[k] = total * (backwards ? -step : step);
		offset += total * (backwards ? first + step * (n - 1) : first);
		int buffer_axis = npy->rank - 1 - k;
		sizes[buffer_axis] = size;
		index[buffer_axis] = backwards ? (lb_index){ first + step * (n - 1), LB_END, -step, LB_INDEX_RANGE }
					       : (lb_index){ first, first + step * n, step, LB_INDEX_RANGE };
		total *= size;
	}
	size_t nbytes = (size_t)total * (size_t)lb_dtype_bytes(npy->dtype);
	char *data = garbage(nbytes, npy->dtype);
	if (!data)
		return NULL;
	scatter(npy, strides, offset, data);
	lb_tensor *x = lb_from_data(data, nbytes, list_of(npy->rank, sizes), npy->dtype);
	free(data);
	return lb_transpose(lb_slice_n(x, npy->rank, index), LB_ALL_AXES);
}

static lb_tensor *padded(const struct npy *npy)
{
	int64_t strides[LB_MAX_RANK], total = 1;
	for (int k = npy->rank - 1; k >= 0; k--) {
		strides[k] = total;
		total = total * npy->shape[k] + (k % 3 == 0 ? 3 : 0);
	}
	int64_t offset = 5;
	total += 2 * offset;
	size_t nbytes = (size_t)total * (size_t)lb_dtype_bytes(npy->dtype);
	char *data = garbage(nbytes, npy->dtype);
	if (!data)
		return NULL;
	scatter(npy, strides, offset, data);
	lb_tensor *x = lb_from_data(data, nbytes, LB_SHAPE(total), npy->dtype);
	free(data);
	return lb_as_strided(x, list_of(npy->rank, npy->shape), list_of(npy->rank, strides), offset);
}

static bool repeats_along(const struct npy *npy, int axis)
{
	int64_t inner = lb_dtype_bytes(npy->dtype), n = npy->shape[axis], outer = 1;
	for (int k = 0; k < npy->rank; k++) {
		outer *= k < axis ? npy->shape[k] : 1;
		inner *= k > axis ? npy->shape[k] : 1;
	}
	const char *data = npy->data;
	for (int64_t i = 0; i < outer; i++)
		for (int64_t j = 1; j < n; j++)
			if (memcmp(data + i * n * inner, data + (i * n + j) * inner, (size_t)inner) != 0)
				return false;
	return true;
}

static lb_tensor *repeated(const struct npy *npy)
{
	struct npy core = *npy;
	bool any = false;
	if (npy->size == 0 || npy->size > 100000)
		return reversed(npy);
	core.data = malloc(npy->nbytes + 1);
	if (!core.data)
		return NULL;
	memcpy(core.data, npy->data, npy->nbytes);
	for (int axis = 0; axis < npy->rank; axis++) {
		if (core.shape[axis] < 2 || !repeats_along(&core, axis))
			continue;
		int64_t inner = lb_dtype_bytes(npy->dtype), outer = 1, n = core.shape[axis];
		for (int k = 0; k < npy->rank; k++) {
			outer *= k < axis ? core.shape[k] : 1;
			inner *= k > axis ? core.shape[k] : 1;
		}
		for (int64_t i = 0; i < outer; i++)
			memmove((char *)core.data + i * inner, (char *)core.data + i * n * inner, (size_t)inner);
		core.shape[axis] = 1;
		core.size /= n;
		any = true;
	}
	core.nbytes = (size_t)core.size * (size_t)lb_dtype_bytes(core.dtype);
	lb_tensor *x = reversed(&core);
	free(core.data);
	return any ? lb_broadcast_to(x, list_of(npy->rank, npy->shape)) : x;
}

lb_tensor *layout_tensor(const struct npy *npy, enum layout layout)
{
	/* a scalar has no strides: take it out of a vector instead */
	if (npy->rank == 0 && layout != LAYOUT_DENSE) {
		char three[3 * 16];
		size_t bytes = npy->nbytes;
		memset(three, npy->dtype == LB_BOOL ? 1 : 0xa5, sizeof three);
		memcpy(three + bytes, npy->data, bytes);
		return lb_slice(lb_from_data(three, 3 * bytes, LB_SHAPE(3), npy->dtype), LB_AT(1));
	}
	switch (layout) {
	case LAYOUT_REVERSED: return reversed(npy);
	case LAYOUT_PADDED: return padded(npy);
	case LAYOUT_REPEATED: return repeated(npy);
	default: return lb_from_data(npy->data, npy->nbytes, list_of(npy->rank, npy->shape), npy->dtype);
	}
}
