#include "kernels/layout.h"

int lb_join_axes(int rank, int64_t *shape, int n_operands, int64_t strides[][LB_MAX_RANK])
{
	int kept = 0;
	for (int i = 0; i < rank; i++) {
		if (shape[i] == 1)
			continue;
		bool joins = kept > 0;
		for (int k = 0; joins && k < n_operands; k++)
			joins = strides[k][kept - 1] == strides[k][i] * shape[i];
		if (joins)
			shape[kept - 1] *= shape[i];
		else
			shape[kept++] = shape[i];
		for (int k = 0; k < n_operands; k++)
			strides[k][kept - 1] = strides[k][i];
	}
	return kept;
}

#define GATHER(T) \
	do { \
		T *d = dst; \
		const T *s = src; \
		if (stride == 0) { \
			T value = *s; \
			for (int64_t i = 0; i < n; i++) \
				d[i] = value; \
		} else { \
			for (int64_t i = 0; i < n; i++) \
				d[i] = s[i * stride]; \
		} \
	} while (0)

void lb_gather_row(void *dst, const void *src, int64_t n, int64_t stride, int64_t bytes)
{
	if (n <= 0)
		return;
	if (stride == 1) {
		memcpy(dst, src, (size_t)(n * bytes));
		return;
	}
	switch (bytes) {
	case 1: GATHER(uint8_t); break;
	case 2: GATHER(uint16_t); break;
	case 4: GATHER(uint32_t); break;
	case 8: GATHER(uint64_t); break;
	}
}

#define SCATTER(T) \
	do { \
		T *d = dst; \
		const T *s = src; \
		for (int64_t i = 0; i < n; i++) \
			d[i * stride] = s[i]; \
	} while (0)

void lb_scatter_row(void *dst, const void *src, int64_t n, int64_t stride, int64_t bytes)
{
	if (n <= 0)
		return;
	if (stride == 1) {
		memcpy(dst, src, (size_t)(n * bytes));
		return;
	}
	switch (bytes) {
	case 1: SCATTER(uint8_t); break;
	case 2: SCATTER(uint16_t); break;
	case 4: SCATTER(uint32_t); break;
	case 8: SCATTER(uint64_t); break;
	}
}

void lb_gather(void *dst, const void *data, int64_t n, int rank, const int64_t *shape, const int64_t *strides,
	       int64_t *index, int64_t bytes)
{
	if (rank == 0) {
		lb_gather_row(dst, data, n, 0, bytes);
		return;
	}
	int last = rank - 1;
	int64_t stride = strides[last], offset = lb_offset_of(last, index, strides);
	char *d = dst;
	const char *base = data;
	while (n > 0) {
		int64_t m = shape[last] - index[last];
		if (m > n)
			m = n;
		lb_gather_row(d, base + (offset + index[last] * stride) * bytes, m, stride, bytes);
		d += m * bytes;
		n -= m;
		index[last] += m;
		if (index[last] == shape[last]) {
			index[last] = 0;
			offset = lb_next_row(rank, shape, strides, index, offset);
		}
	}
}
