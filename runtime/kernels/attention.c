/* Scaled dot-product attention that never holds the scores of more than a block.
 *
 * Queries are taken in blocks of LB_QUERIES rows, keys in blocks of LB_KEYS. Each row keeps the
 * largest score so far, the sum of exp(score - largest) and the sum of the values weighted by it; when a
 * block of keys brings a larger score, both sums are scaled down (Milakov and Gimelshein, "Online
 * normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022). In the end the
 * values are divided by the sum. So memory is bounded, whatever the lengths.
 *
 * The heads that share keys and values (grouped-query attention) are rows of the same blocks:
 * row r of a group is position r % L of its head r / L. So a single new query of each head still
 * reads keys and values once. */
#include <math.h>

#include "kernels/attention.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { FEW = 8 }; /* queries that take the rows of keys and values as they lie */

/* A core's scratch memory. */
struct room {
	char *queries, *scores, *values, *tops, *sums, *key_panel, *value_panel, *mask;
};

static int64_t room_bytes(const struct lb_attending *j)
{
	int64_t d, n;
	if (!lb_sum_of(j->d, j->dv, &d) || !lb_sum_of(d, LB_KEYS + 32, &d) || !lb_mul(d, 2 * LB_KEYS, &n))
		return -1;
	return lb_bytes_of(n, 1, j->width);
}

static char *cut(char **from, int64_t elements, int64_t width)
{
	char *at = *from;
	*from += (elements * width + 63) & ~(int64_t)63;
	return at;
}

static struct room room_in(const struct lb_attending *j, char *scratch)
{
	struct room room;
	room.queries = cut(&scratch, j->block_rows * j->d, j->width);
	room.scores = cut(&scratch, j->block_rows * LB_KEYS, j->width);
	room.values = cut(&scratch, j->block_rows * j->dv, j->width);
	room.tops = cut(&scratch, j->block_rows, j->width);
	room.sums = cut(&scratch, j->block_rows, j->width);
	room.mask = cut(&scratch, LB_KEYS, j->width);
	room.key_panel = cut(&scratch, LB_KEYS * j->d, j->width);
	room.value_panel = cut(&scratch, LB_KEYS * j->dv, j->width);
	return room;
}

/* Where the i-th of the rows of a group begins in a tensor (B, H, L, …). */
static const char *row_of(const struct lb_attending *j, const struct lb_view *x, struct lb_rows rows, int64_t i)
{
	int64_t row = rows.first + i, h = rows.head * j->group + row / j->length, l = row % j->length;
	return (const char *)x->data +
	       (rows.batch * x->strides[0] + h * x->strides[1] + l * x->strides[2]) * lb_width_of(x->dtype);
}

void lb_attention_load(const struct lb_attending *j, const struct lb_view *x, struct lb_rows rows, double scale,
		       char *to)
{
	int64_t n = x->shape[3];
	for (int64_t i = 0; i < rows.n; i++, to += n * j->width) {
		const char *from = row_of(j, x, rows, i);
		const void *row = lb_row_in(j->tiles, x->dtype, from, n, x->strides[3], to);
		if (j->stage == LB_F64)
			for (int64_t k = 0; k < n; k++)
				((double *)(void *)to)[k] = ((const double *)row)[k] * scale;
		else
			for (int64_t k = 0; k < n; k++)
				((float *)(void *)to)[k] = ((const float *)row)[k] * (float)scale;
	}
}

/* Where rows of keys or values begin. */
static const char *first_of(const struct lb_attending *j, const struct lb_view *x, struct lb_rows rows)
{
	return (const char *)x->data +
	       (rows.batch * x->strides[0] + rows.head * x->strides[1] + rows.first * x->strides[2]) * j->bytes;
}

const char *lb_attention_rows(const struct lb_attending *j, const struct lb_view *x, struct lb_rows rows, char *panel,
			      int64_t *stride)
{
	int64_t width = x->shape[3];
	const char *from = first_of(j, x, rows);
	if ((int)x->dtype == j->stage && (x->strides[3] == 1 || width <= 1)) {
		*stride = x->strides[2];
		return from;
	}
	for (int64_t i = 0; i < rows.n; i++) {
		char *to = panel + i * width * j->width;
		const void *row =
		    lb_row_in(j->tiles, x->dtype, from + i * x->strides[2] * j->bytes, width, x->strides[3], to);
		if (row != to)
			memcpy(to, row, (size_t)(width * j->width));
	}
	*stride = width;
	return panel;
}

struct lb_mask lb_attention_mask(const struct lb_attending *j, struct lb_rows queries, int64_t i, int64_t key,
				 int64_t n, char *room)
{
	const struct lb_view *mask = &j->a->mask;
	if (!j->a->masked)
		return (struct lb_mask){ NULL, NULL };
	const char *from = row_of(j, mask, queries, i) + key * mask->strides[3] * lb_width_of(mask->dtype);
	if (mask->dtype != LB_BOOL)
		return (struct lb_mask){ .bias = lb_row_in(j->tiles, mask->dtype, from, n, mask->strides[3], room) };
	lb_gather_row(room, from, n, mask->strides[3], 1);
	return (struct lb_mask){ .open = (const uint8_t *)room };
}

int64_t lb_attention_visible(const struct lb_attending *j, int64_t row)
{
	int64_t n = j->a->causal ? row % j->length + j->keys - j->length + 1 : j->keys;
	return n < 0 ? 0 : n;
}

/* Rows of keys or values for a few queries: halves as they are, which are widened on the way. */
static void find_rows_for_few(const struct lb_attending *j, const struct lb_view *x, struct lb_rows rows, char *panel,
			      struct lb_vectors *ret)
{
	ret->dtype = x->strides[3] == 1 ? (int)x->dtype : j->stage;
	if (ret->dtype == j->stage) {
		ret->rows = lb_attention_rows(j, x, rows, panel, &ret->stride);
		return;
	}
	ret->stride = x->strides[2];
	ret->rows = first_of(j, x, rows);
}

static void take_keys(const struct lb_attending *j, const struct room *room, struct lb_rows queries, int64_t key,
		      int64_t n)
{
	const struct lb_rows own = { queries.batch, queries.head, key, n };
	int64_t stride, m = queries.n;
	if (m <= FEW) {
		struct lb_vectors few = {
			.n = m, .x = room->queries, .x_row = j->d, .to = room->scores, .to_row = LB_KEYS
		};
		find_rows_for_few(j, &j->a->k, own, room->key_panel, &few);
		j->tiles->dots(&few, n, j->d);
	} else {
		const char *keys = lb_attention_rows(j, &j->a->k, own, room->key_panel, &stride);
		memset(room->scores, 0, (size_t)(m * LB_KEYS * j->width));
		lb_attention_multiply(j, (struct lb_matrix){ room->queries, m, j->d, j->d, 1 },
				      (struct lb_matrix){ keys, j->d, n, 1, stride }, room->scores, LB_KEYS);
	}
	for (int64_t i = 0; i < m; i++) {
		char *scores = room->scores + i * LB_KEYS * j->width;
		int64_t seen = lb_attention_visible(j, queries.first + i) - key;
		seen = seen < 0 ? 0 : seen > n ? n : seen;
		struct lb_mask mask = lb_attention_mask(j, queries, i, key, seen, room->mask);
		j->tiles->attend(seen, scores, mask.bias, mask.open, room->tops + i * j->width,
				 room->sums + i * j->width, j->dv, room->values + i * j->dv * j->width, j->stage);
		memset(scores + seen * j->width, 0, (size_t)((n - seen) * j->width));
	}
	if (m <= FEW) {
		struct lb_vectors few = {
			.n = m, .x = room->scores, .x_row = LB_KEYS, .to = room->values, .to_row = j->dv
		};
		find_rows_for_few(j, &j->a->v, own, room->value_panel, &few);
		j->tiles->combine(&few, j->dv, n);
		return;
	}
	const char *values = lb_attention_rows(j, &j->a->v, own, room->value_panel, &stride);
	lb_attention_multiply(j, (struct lb_matrix){ room->scores, m, n, LB_KEYS, 1 },
			      (struct lb_matrix){ values, n, j->dv, stride, 1 }, room->values, j->dv);
}

#define FINISH(T) \
	do { \
		T *v = (T *)values, sum = *(const T *)total; \
		for (int64_t k = 0; k < n; k++) \
			v[k] = sum == 0 ? 0 : v[k] / sum; \
	} while (0)

static void finish_row(int stage, void *values, const void *total, int64_t n)
{
	if (stage == LB_F64)
		FINISH(double);
	else
		FINISH(float);
}

static void attend_block(void *arg, void *scratch, int64_t task)
{
	const struct lb_attending *j = arg;
	struct room room = room_in(j, scratch);
	int64_t heads = j->a->k.shape[1], pair = task / j->blocks;
	int64_t batch = pair / heads, head = pair % heads, first = task % j->blocks * j->block_rows;
	int64_t m = j->rows - first < j->block_rows ? j->rows - first : j->block_rows, last = 0;
	const struct lb_rows queries = { batch, head, first, m };
	lb_attention_load(j, &j->a->q, queries, j->a->scale, room.queries);
	memset(room.values, 0, (size_t)(m * j->dv * j->width));
	memset(room.sums, 0, (size_t)(m * j->width));
	for (int64_t i = 0; i < m; i++) {
		int64_t n = lb_attention_visible(j, first + i);
		last = n > last ? n : last;
		if (j->stage == LB_F64)
			((double *)(void *)room.tops)[i] = -(double)INFINITY;
		else
			((float *)(void *)room.tops)[i] = -INFINITY;
	}
	for (int64_t key = 0; key < last; key += LB_KEYS)
		take_keys(j, &room, queries, key, last - key < LB_KEYS ? last - key : LB_KEYS);
	for (int64_t i = 0; i < m; i++) {
		char *values = room.values + i * j->dv * j->width;
		int64_t row = (batch * heads + head) * j->rows + first + i;
		finish_row(j->stage, values, room.sums + i * j->width, j->dv);
		lb_row_out(j->tiles, j->a->q.dtype, j->to + row * j->dv * j->bytes, values, j->dv);
	}
}

bool lb_attention_begin(const struct lb_attention *a, struct lb_attending *ret)
{
	if (!lb_dtype_is_float(a->q.dtype) || a->k.shape[1] < 1 || a->q.shape[1] % a->k.shape[1])
		return lb_fail("attention: not defined for these heads of %s", lb_dtypes[a->q.dtype].name);
	int64_t group = a->q.shape[1] / a->k.shape[1];
	*ret = (struct lb_attending){
		.tiles = lb_tiles(),
		.a = a,
		.stage = lb_stage_of(a->q.dtype),
		.bytes = lb_width_of(a->q.dtype),
		.width = lb_width_of(lb_stage_of(a->q.dtype)),
		.group = group,
		.length = a->q.shape[2],
		.keys = a->k.shape[2],
		.d = a->q.shape[3],
		.dv = a->v.shape[3],
		.rows = group * a->q.shape[2],
		.pairs = a->q.shape[0] * a->k.shape[1],
	};
	ret->block_rows = ret->rows < LB_QUERIES ? ret->rows : LB_QUERIES;
	return true;
}

bool lb_kernel_attention(struct lb_exec *exec, const struct lb_attention *a, void *to)
{
	struct lb_attending job;
	if (!lb_attention_begin(a, &job))
		return false;
	if (job.pairs == 0 || job.rows == 0 || job.dv == 0)
		return true;
	job.to = to;
	job.blocks = (job.rows + job.block_rows - 1) / job.block_rows;
	return lb_share(exec, job.pairs * job.blocks, 1, room_bytes(&job), attend_block, &job);
}
