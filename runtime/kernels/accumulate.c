/* to += from, where elements of `to` may coincide.
 *
 * `to`'s axes are put in the order of their strides, the largest first. An axis whose stride is
 * longer than all that the axes after it reach separates: its indices share no element. While all
 * axes separate, elements are added where they are. Otherwise each index of the axes that separate
 * is a task of its own, in which the rest, which coincides, is summed one after another in wider
 * memory that covers its reach. */
#include "kernels/accumulate.h"

#include <stdlib.h>

#include "kernels/layout.h"
#include "kernels/share.h"
#include "kernels/tile.h"

enum { CHUNK = 512, GRAIN = 1 << 14, TO = 0, FROM = 1 };

#define ADD(T, U) \
	do { \
		T *t = to; \
		const T *f = from; \
		if (where) \
			for (int64_t i = 0; i < n; i++) \
				t[where[i] * stride] = (T)((U)t[where[i] * stride] + (U)f[i]); \
		else \
			for (int64_t i = 0; i < n; i++) \
				t[i * stride] = (T)((U)t[i * stride] + (U)f[i]); \
	} while (0)

static void add_bools(int64_t n, uint8_t *to, const int64_t *where, int64_t stride, const uint8_t *from)
{
	for (int64_t i = 0; i < n; i++) {
		uint8_t *t = &to[(where ? where[i] : i) * stride];
		*t = *t || from[i];
	}
}

static void add_complex(int64_t n, float (*to)[2], const int64_t *where, int64_t stride, const float (*from)[2])
{
	for (int64_t i = 0; i < n; i++) {
		float *t = to[(where ? where[i] : i) * stride];
		t[0] += from[i][0];
		t[1] += from[i][1];
	}
}

void lb_add_at(int dtype, int64_t n, void *to, const int64_t *where, int64_t stride, const void *from)
{
	switch (dtype) {
	case LB_BOOL: add_bools(n, to, where, stride, from); break;
	case LB_U8:
	case LB_I8: ADD(uint8_t, uint32_t); break;
	case LB_U16:
	case LB_I16: ADD(uint16_t, uint32_t); break;
	case LB_U32:
	case LB_I32: ADD(uint32_t, uint32_t); break;
	case LB_U64:
	case LB_I64: ADD(uint64_t, uint64_t); break;
	case LB_F32: ADD(float, float); break;
	case LB_F64: ADD(double, double); break;
	case LB_C64: add_complex(n, to, where, stride, from); break;
	}
}

void lb_stage_in(int dtype, int stage, int64_t n, const void *from, int64_t stride, void *to)
{
	char raw[CHUNK * 8] __attribute__((aligned(64)));
	int64_t bytes = lb_width_of(dtype), width = lb_width_of(stage);
	for (int64_t at = 0; at < n; at += CHUNK) {
		int64_t m = n - at < CHUNK ? n - at : CHUNK;
		const void *x = (const char *)from + at * stride * bytes;
		if (stride != 1) {
			lb_gather_row(raw, x, m, stride, bytes);
			x = raw;
		}
		if (stage != dtype)
			lb_tiles()->convert(stage, dtype)(m, (char *)to + at * width, x, NULL, NULL);
		else
			memcpy((char *)to + at * width, x, (size_t)(m * bytes));
	}
}

void lb_stage_out(int dtype, int stage, int64_t n, const void *from, int64_t stride, void *to)
{
	char raw[CHUNK * 8] __attribute__((aligned(64)));
	int64_t bytes = lb_width_of(dtype), width = lb_width_of(stage);
	for (int64_t at = 0; at < n; at += CHUNK) {
		int64_t m = n - at < CHUNK ? n - at : CHUNK;
		const void *x = (const char *)from + at * width;
		if (stage != dtype) {
			lb_tiles()->convert(dtype, stage)(m, raw, x, NULL, NULL);
			x = raw;
		}
		lb_scatter_row((char *)to + at * stride * bytes, x, m, stride, bytes);
	}
}

struct job {
	int dtype, stage, rank, n_outer; /* the axes that separate come first */
	int64_t bytes, width;
	int64_t shape[LB_MAX_RANK], strides[2][LB_MAX_RANK];
	int64_t n_each, reach;           /* elements and reach of the rest */
	char *to;
	const char *from;
};

static void swap_axes(int64_t *a, int64_t *b)
{
	int64_t kept = *a;
	*a = *b;
	*b = kept;
}

/* Positive strides of `to`, falling. */
static void order_axes(struct job *j)
{
	for (int i = 0; i < j->rank; i++) {
		if (j->strides[TO][i] >= 0)
			continue;
		j->to += j->strides[TO][i] * (j->shape[i] - 1) * j->bytes;
		j->from += j->strides[FROM][i] * (j->shape[i] - 1) * j->bytes;
		j->strides[TO][i] = -j->strides[TO][i];
		j->strides[FROM][i] = -j->strides[FROM][i];
	}
	for (int i = 1; i < j->rank; i++)
		for (int k = i; k > 0 && j->strides[TO][k - 1] < j->strides[TO][k]; k--) {
			swap_axes(&j->shape[k], &j->shape[k - 1]);
			swap_axes(&j->strides[TO][k], &j->strides[TO][k - 1]);
			swap_axes(&j->strides[FROM][k], &j->strides[FROM][k - 1]);
		}
}

static void separate(struct job *j)
{
	int64_t after[LB_MAX_RANK + 1] = { 0 };
	for (int i = j->rank; i-- > 0;)
		after[i] = after[i + 1] + (j->shape[i] - 1) * j->strides[TO][i];
	while (j->n_outer < j->rank && j->strides[TO][j->n_outer] > after[j->n_outer + 1])
		j->n_outer++;
	j->reach = after[j->n_outer] + 1;
	j->n_each = lb_shape_size(j->rank - j->n_outer, j->shape + j->n_outer);
}

/* Rows of the last axis, when all axes separate. */
static void add_rows(void *arg, int64_t begin, int64_t end)
{
	const struct job *j = arg;
	const struct lb_tiles *tiles = lb_tiles();
	lb_tile_fn *add = tiles->elementwise(LB_OP_ADD, j->dtype, j->dtype);
	char here[CHUNK * 8] __attribute__((aligned(64))), more[CHUNK * 8] __attribute__((aligned(64)));
	int last = j->rank - 1;
	int64_t to_stride = j->strides[TO][last], from_stride = j->strides[FROM][last];
	while (begin < end) {
		int64_t index[LB_MAX_RANK] = { 0 };
		lb_index_of(j->rank, j->shape, begin, index);
		int64_t n = j->shape[last] - index[last];
		n = n > end - begin ? end - begin : n;
		n = n > CHUNK ? CHUNK : n;
		char *to = j->to + lb_offset_of(j->rank, index, j->strides[TO]) * j->bytes;
		const char *from = j->from + lb_offset_of(j->rank, index, j->strides[FROM]) * j->bytes;
		if (from_stride != 1) {
			lb_gather_row(more, from, n, from_stride, j->bytes);
			from = more;
		}
		if (to_stride == 1) {
			add(n, to, to, from, NULL);
		} else {
			lb_gather_row(here, to, n, to_stride, j->bytes);
			add(n, here, here, from, NULL);
			lb_scatter_row(to, here, n, to_stride, j->bytes);
		}
		begin += n;
	}
}

static void add_coinciding(void *arg, void *scratch, int64_t task)
{
	const struct job *j = arg;
	int64_t index[LB_MAX_RANK] = { 0 };
	lb_index_of(j->n_outer, j->shape, task, index);
	char *to = j->to + lb_offset_of(j->n_outer, index, j->strides[TO]) * j->bytes;
	const char *from = j->from + lb_offset_of(j->n_outer, index, j->strides[FROM]) * j->bytes;
	char *sums = scratch, values[CHUNK * 8] __attribute__((aligned(64)));
	int rank = j->rank - j->n_outer, last = rank - 1;
	const int64_t *shape = j->shape + j->n_outer;
	const int64_t *strides[2] = { j->strides[TO] + j->n_outer, j->strides[FROM] + j->n_outer };
	lb_stage_in(j->dtype, j->stage, j->reach, to, 1, sums);
	for (int64_t at = 0; at < j->n_each;) {
		lb_index_of(rank, shape, at, index);
		int64_t n = shape[last] - index[last];
		n = n > CHUNK ? CHUNK : n;
		lb_stage_in(j->dtype, j->stage, n, from + lb_offset_of(rank, index, strides[FROM]) * j->bytes,
			    strides[FROM][last], values);
		lb_add_at(j->stage, n, sums + lb_offset_of(rank, index, strides[TO]) * j->width, NULL,
			  strides[TO][last], values);
		at += n;
	}
	lb_stage_out(j->dtype, j->stage, j->reach, sums, 1, to);
}

bool lb_kernel_accumulate(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *from)
{
	int64_t size = lb_shape_size(to->rank, to->shape);
	if (to->rank != from->rank || to->dtype != from->dtype)
		return lb_fail("accumulate: ranks or dtypes differ");
	if (size == 0)
		return true;
	struct job j = { .dtype = to->dtype,
			 .stage = lb_sum_stage(to->dtype),
			 .rank = to->rank,
			 .bytes = lb_width_of(to->dtype),
			 .to = to->data,
			 .from = from->data };
	j.width = lb_width_of(j.stage);
	memcpy(j.shape, to->shape, sizeof j.shape);
	memcpy(j.strides[TO], to->strides, sizeof j.strides[TO]);
	memcpy(j.strides[FROM], from->strides, sizeof j.strides[FROM]);
	j.rank = lb_join_axes(j.rank, j.shape, 2, j.strides);
	order_axes(&j);
	if (j.rank == 0) {
		j.rank = 1;
		j.shape[0] = j.strides[TO][0] = j.strides[FROM][0] = 1;
	}
	separate(&j);
	if (j.n_outer == j.rank) {
		lb_parallel(exec, size, GRAIN, add_rows, &j);
		return true;
	}
	return lb_share(exec, size / j.n_each, GRAIN / j.n_each + 1, lb_bytes_of(j.reach, 1, j.width), add_coinciding,
			&j);
}
