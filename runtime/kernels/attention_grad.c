/* The gradients of attention. With P = softmax(scale * Q K^T, masked), O = P V and the gradient G of O:
 *
 *	dV = P^T G, dP = G V^T, dS = P * (dP - rowsum(P * dP)), dQ = scale * dS K, dK = scale * dS^T Q
 *
 * (Dao et al., "FlashAttention", 2022, appendix B.2). Probabilities are computed anew, twice. First
 * each block of rows, against all keys: it gives dQ, and for each row the largest score, one over
 * the sum of exp(score - largest), and rowsum(P * dP). With these each block of keys, against all
 * rows, gives dK and dV. So cores share no sums, and memory holds the scores of a block at a time:
 * of at most SCORES elements, or of one row. */
#include <math.h>

#include "kernels/attention.h"
#include "kernels/row.h"
#include "kernels/share.h"

enum { SCORES = 1 << 19, STATS = 3 };

struct job {
	struct lb_attending j; /* first */
	const struct lb_view *grad;
	int64_t key_blocks;
	char *stats, *to_q, *to_k, *to_v;
};

/* A core's scratch memory. */
struct room {
	char *q, *g, *p, *dp, *dq, *keys, *values, *mask, *dk, *dv;
};

/* Room for blocks of m rows by n keys; dq rows of dQ, dk of dK and dV. Returns its bytes; scratch
 * may be NULL. */
static int64_t room_in(const struct lb_attending *j, int64_t m, int64_t n, int64_t dq, int64_t dk, struct room *ret,
		       char *scratch)
{
	const struct {
		char **part;
		int64_t elements;
	} parts[] = {
		{ &ret->q, m * j->d },
		{ &ret->g, m * j->dv },
		{ &ret->p, m * n },
		{ &ret->dp, m * n },
		{ &ret->dq, dq * j->d },
		{ &ret->keys, LB_KEYS * j->d },
		{ &ret->values, LB_KEYS * j->dv },
		{ &ret->mask, n },
		{ &ret->dk, dk * j->d },
		{ &ret->dv, dk * j->dv },
	};
	int64_t used = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		*parts[i].part = scratch ? scratch + used : NULL;
		used += (parts[i].elements * j->width + 63) & ~(int64_t)63;
	}
	return used;
}

static char *stats_of(const struct job *job, int64_t pair, int64_t row)
{
	return job->stats + (pair * job->j.rows + row) * STATS * job->j.width;
}

static void store_rows(const struct lb_attending *j, char *to, const char *from, int64_t n)
{
	lb_row_out(j->tiles, j->a->q.dtype, to, from, n);
}

/* ---- dQ and what the rows sum to ---- */

/* One over the sum; 0 for a row that sees nothing. */
static void finish_row(const struct lb_attending *j, void *stats)
{
	double *wide = stats;
	float *narrow = stats;
	if (j->stage == LB_F64)
		wide[1] = wide[1] == 0 ? 0 : 1 / wide[1];
	else
		narrow[1] = narrow[1] == 0 ? 0 : 1 / narrow[1];
}

static void scale_rows(const struct lb_attending *j, int64_t n, void *rows)
{
	double *wide = rows;
	float *narrow = rows;
	for (int64_t i = 0; i < n; i++)
		if (j->stage == LB_F64)
			wide[i] *= j->a->scale;
		else
			narrow[i] *= (float)j->a->scale;
}

static void begin_row(const struct lb_attending *j, void *stats)
{
	memset(stats, 0, (size_t)(STATS * j->width));
	if (j->stage == LB_F64)
		*(double *)stats = -(double)INFINITY;
	else
		*(float *)stats = -INFINITY;
}

static void query_block(void *arg, void *scratch, int64_t task)
{
	const struct job *job = arg;
	const struct lb_attending *j = &job->j;
	int64_t heads = j->a->k.shape[1], pair = task / j->blocks, batch = pair / heads, head = pair % heads;
	int64_t first = task % j->blocks * j->block_rows, last = 0, stride, w = j->width;
	int64_t m = j->rows - first < j->block_rows ? j->rows - first : j->block_rows, all = j->keys;
	struct room room;
	room_in(j, j->block_rows, all, j->block_rows, 0, &room, scratch);
	const struct lb_rows queries = { batch, head, first, m };
	lb_attention_load(j, &j->a->q, queries, j->a->scale, room.q);
	lb_attention_load(j, job->grad, queries, 1, room.g);
	for (int64_t i = 0; i < m; i++) {
		int64_t n = lb_attention_visible(j, first + i);
		last = n > last ? n : last;
	}
	memset(room.p, 0, (size_t)(m * all * w));
	memset(room.dp, 0, (size_t)(m * all * w));
	memset(room.dq, 0, (size_t)(m * j->d * w));
	for (int64_t key = 0; key < last; key += LB_KEYS) {
		int64_t n = last - key < LB_KEYS ? last - key : LB_KEYS;
		const struct lb_rows keys = { batch, head, key, n };
		const char *k = lb_attention_rows(j, &j->a->k, keys, room.keys, &stride);
		lb_attention_multiply(j, (struct lb_matrix){ room.q, m, j->d, j->d, 1 },
				      (struct lb_matrix){ k, j->d, n, 1, stride }, room.p + key * w, all);
		const char *v = lb_attention_rows(j, &j->a->v, keys, room.values, &stride);
		lb_attention_multiply(j, (struct lb_matrix){ room.g, m, j->dv, j->dv, 1 },
				      (struct lb_matrix){ v, j->dv, n, 1, stride }, room.dp + key * w, all);
	}
	for (int64_t i = 0; i < m; i++) {
		char *p = room.p + i * all * w, *stats = stats_of(job, pair, first + i);
		int64_t seen = lb_attention_visible(j, first + i);
		struct lb_mask mask = lb_attention_mask(j, queries, i, 0, seen, room.mask);
		begin_row(j, stats);
		j->tiles->attend(seen, p, mask.bias, mask.open, stats, stats + w, 0, NULL, j->stage);
		finish_row(j, stats);
		j->tiles->attend_grad(seen, p, room.dp + i * all * w, stats, j->stage);
		memset(p + seen * w, 0, (size_t)((last - seen) * w));
	}
	for (int64_t key = 0; key < last; key += LB_KEYS) {
		int64_t n = last - key < LB_KEYS ? last - key : LB_KEYS;
		const struct lb_rows keys = { batch, head, key, n };
		const char *k = lb_attention_rows(j, &j->a->k, keys, room.keys, &stride);
		lb_attention_multiply(j, (struct lb_matrix){ room.p + key * w, m, n, all, 1 },
				      (struct lb_matrix){ k, n, j->d, stride, 1 }, room.dq, j->d);
	}
	scale_rows(j, m * j->d, room.dq);
	store_rows(j, job->to_q + (pair * j->rows + first) * j->d * j->bytes, room.dq, m * j->d);
}

/* ---- dK and dV ---- */

static void key_block(void *arg, void *scratch, int64_t task)
{
	const struct job *job = arg;
	const struct lb_attending *j = &job->j;
	int64_t heads = j->a->k.shape[1], pair = task / job->key_blocks, batch = pair / heads;
	int64_t head = pair % heads, key = task % job->key_blocks * LB_KEYS, w = j->width, k_row, v_row;
	int64_t n = j->keys - key < LB_KEYS ? j->keys - key : LB_KEYS;
	const struct lb_rows keys = { batch, head, key, n };
	struct room room;
	room_in(j, LB_QUERIES, LB_KEYS, 0, LB_KEYS, &room, scratch);
	const char *k = lb_attention_rows(j, &j->a->k, keys, room.keys, &k_row);
	const char *v = lb_attention_rows(j, &j->a->v, keys, room.values, &v_row);
	memset(room.dk, 0, (size_t)(n * j->d * w));
	memset(room.dv, 0, (size_t)(n * j->dv * w));
	for (int64_t first = 0; first < j->rows; first += LB_QUERIES) {
		int64_t m = j->rows - first < LB_QUERIES ? j->rows - first : LB_QUERIES;
		bool any = false;
		for (int64_t i = 0; i < m && !any; i++)
			any = lb_attention_visible(j, first + i) > key;
		if (!any)
			continue;
		const struct lb_rows queries = { batch, head, first, m };
		lb_attention_load(j, &j->a->q, queries, j->a->scale, room.q);
		lb_attention_load(j, job->grad, queries, 1, room.g);
		memset(room.p, 0, (size_t)(m * n * w));
		memset(room.dp, 0, (size_t)(m * n * w));
		lb_attention_multiply(j, (struct lb_matrix){ room.q, m, j->d, j->d, 1 },
				      (struct lb_matrix){ k, j->d, n, 1, k_row }, room.p, n);
		lb_attention_multiply(j, (struct lb_matrix){ room.g, m, j->dv, j->dv, 1 },
				      (struct lb_matrix){ v, j->dv, n, 1, v_row }, room.dp, n);
		for (int64_t i = 0; i < m; i++) {
			char *p = room.p + i * n * w, *dp = room.dp + i * n * w;
			int64_t seen = lb_attention_visible(j, first + i) - key;
			seen = seen < 0 ? 0 : seen > n ? n : seen;
			struct lb_mask mask = lb_attention_mask(j, queries, i, key, seen, room.mask);
			j->tiles->attend_again(seen, p, dp, mask.bias, mask.open, stats_of(job, pair, first + i),
					       j->stage);
			memset(p + seen * w, 0, (size_t)((n - seen) * w));
			memset(dp + seen * w, 0, (size_t)((n - seen) * w));
		}
		lb_attention_multiply(j, (struct lb_matrix){ room.p, n, m, 1, n },
				      (struct lb_matrix){ room.g, m, j->dv, j->dv, 1 }, room.dv, j->dv);
		lb_attention_multiply(j, (struct lb_matrix){ room.dp, n, m, 1, n },
				      (struct lb_matrix){ room.q, m, j->d, j->d, 1 }, room.dk, j->d);
	}
	store_rows(j, job->to_k + (pair * j->keys + key) * j->d * j->bytes, room.dk, n * j->d);
	store_rows(j, job->to_v + (pair * j->keys + key) * j->dv * j->bytes, room.dv, n * j->dv);
}

static bool room_bytes(const struct lb_attending *j, int64_t m, int64_t n, int64_t dq, int64_t dk, int64_t *ret)
{
	struct room room;
	int64_t d, scores, sum;
	/* room_in() finds no more than this, if this fits */
	if (!lb_sum_of(j->d, j->dv, &d) || !lb_mul(d, 4 * (LB_KEYS + LB_QUERIES), &sum) || !lb_mul(m, n, &scores) ||
	    !lb_mul(scores, 32, &scores) || !lb_mul(sum, 16, &sum) || !lb_sum_of(sum, scores, &sum))
		return lb_fail("attention_grad: %lld keys of %lld features are too many", (long long)n,
			       (long long)j->d);
	*ret = room_in(j, m, n, dq, dk, &room, NULL);
	return true;
}

bool lb_kernel_attention_grad(struct lb_exec *exec, const struct lb_attention *a, const struct lb_view *grad, void *to)
{
	struct job job = { .grad = grad };
	struct lb_attending *j = &job.j;
	int64_t nbytes;
	if (!lb_attention_begin(a, j))
		return false;
	int64_t all = j->pairs * (j->rows * j->d + j->keys * (j->d + j->dv));
	job.to_q = to;
	job.to_k = job.to_q + j->pairs * j->rows * j->d * j->bytes;
	job.to_v = job.to_k + j->pairs * j->keys * j->d * j->bytes;
	if (j->pairs == 0 || j->rows == 0 || j->keys == 0) {
		memset(to, 0, (size_t)(all * j->bytes));
		return true;
	}
	if (j->block_rows > SCORES / j->keys)
		j->block_rows = SCORES / j->keys + 1 < j->block_rows ? SCORES / j->keys + 1 : j->block_rows;
	j->blocks = (j->rows + j->block_rows - 1) / j->block_rows;
	job.key_blocks = (j->keys + LB_KEYS - 1) / LB_KEYS;
	job.stats = exec->scratch(exec, lb_bytes_of(j->pairs, j->rows, STATS * j->width));
	if (!job.stats || !room_bytes(j, j->block_rows, j->keys, j->block_rows, 0, &nbytes) ||
	    !lb_share(exec, j->pairs * j->blocks, 1, nbytes, query_block, &job))
		return false;
	return room_bytes(j, LB_QUERIES, LB_KEYS, 0, LB_KEYS, &nbytes) &&
	       lb_share(exec, j->pairs * job.key_blocks, 1, nbytes, key_block, &job);
}
