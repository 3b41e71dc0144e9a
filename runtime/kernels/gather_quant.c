/* Products of chosen matrices with chosen quantised ones: those with one quantised matrix are computed together, as rows of
 * one product, so that its codes are decoded once for them. */
#include <string.h>

#include "base/error.h"
#include "kernels/again.h"
#include "kernels/indices.h"
#include "kernels/layout.h"

enum { ROWS = 512 };

struct job {
	struct lb_again again;
	const struct lb_view *x;
	const struct lb_quant_view *q;
	const int64_t *left, *right;
	int how;
	int64_t m, n, k, width;
	char *to, *rows, *products; /* scratch: so many rows of x, and of the result */
};

/* The result `product` lies where it belongs if there is one alone. */
static bool multiply(struct job *j, int64_t which, const struct lb_view *x, void *product)
{
	struct lb_quant_view q = { j->q->format, lb_matrix_at(&j->q->words, which), lb_matrix_at(&j->q->scales, which),
				   j->q->extra };
	if (q.format.mode == LB_QUANT_AFFINE)
		q.extra = lb_matrix_at(&j->q->extra, which);
	return lb_kernel_quantized_matmul(lb_again_next(&j->again), x, &q, j->how, product);
}

/* The n places in the result that `places` lists, all with matrix `which`. */
static bool multiply_all(struct job *j, int64_t which, const int64_t *places, int64_t n)
{
	int64_t size = j->m * j->n * j->width, at_once = ROWS / j->m > 1 ? ROWS / j->m : 1;
	for (int64_t first = 0; first < n; first += at_once) {
		int64_t count = n - first < at_once ? n - first : at_once;
		places += first ? at_once : 0;
		if (count == 1) {
			struct lb_view x = lb_matrix_at(j->x, j->left[*places]);
			if (!multiply(j, which, &x, j->to + *places * size))
				return false;
			continue;
		}
		for (int64_t i = 0; i < count; i++) {
			struct lb_view x = lb_matrix_at(j->x, j->left[places[i]]);
			struct lb_view row = {
				j->rows + i * j->m * j->k * j->width, x.dtype, 2, { j->m, j->k }, { j->k, 1 }
			};
			if (!lb_kernel_copy(&j->again.exec, &row, &x))
				return false;
		}
		struct lb_view all = { j->rows, j->x->dtype, 2, { count * j->m, j->k }, { j->k, 1 } };
		if (!multiply(j, which, &all, j->products))
			return false;
		for (int64_t i = 0; i < count; i++)
			memcpy(j->to + places[i] * size, j->products + i * size, (size_t)size);
	}
	return true;
}

/* The places, those with the first matrix first: where each begins goes to `starts`, which has one more. */
static void order(const int64_t *which, int64_t n, int64_t matrices, int64_t *starts, int64_t *places)
{
	memset(starts, 0, (size_t)(matrices + 1) * sizeof *starts);
	for (int64_t i = 0; i < n; i++)
		starts[which[i] + 1]++;
	for (int64_t i = 0; i < matrices; i++)
		starts[i + 1] += starts[i];
	for (int64_t i = 0; i < n; i++)
		places[starts[which[i]]++] = i;
	for (int64_t i = matrices; i > 0; i--)
		starts[i] = starts[i - 1];
	starts[0] = 0;
}

static void *numbers(struct lb_exec *exec, int64_t n, int64_t width)
{
	int64_t nbytes;
	if (lb_mul(n, width, &nbytes))
		return exec->scratch(exec, nbytes + 1);
	lb_fail("gather_qmm: %lld elements are too many", (long long)n);
	return NULL;
}

bool lb_kernel_gather_qmm(struct lb_exec *exec, const struct lb_view *x, const struct lb_quant_view *q,
			  const struct lb_view *left, const struct lb_view *right, int how, void *to)
{
	int w_rank = q->words.rank;
	if (x->rank < 2 || w_rank < 2 || q->scales.rank != w_rank)
		return lb_fail("gather_qmm: shapes of the matrices do not match");
	struct job j = { .x = x,
			 .q = q,
			 .how = how,
			 .m = x->shape[x->rank - 2],
			 .n = how & LB_QUANT_TRANSPOSED ? q->words.shape[w_rank - 2]
							: q->scales.shape[w_rank - 1] * q->format.group,
			 .k = x->shape[x->rank - 1],
			 .width = lb_width_of(x->dtype),
			 .to = to };
	int64_t n = lb_shape_size(left->rank, left->shape), matrices = lb_shape_size(w_rank - 2, q->words.shape);
	lb_again_begin(&j.again, exec);
	j.left = lb_read_indices(exec, "gather_qmm", left, 0, lb_shape_size(x->rank - 2, x->shape));
	j.right = j.left ? lb_read_indices(exec, "gather_qmm", right, 0, matrices) : NULL;
	if (!j.right || n == 0 || j.m == 0 || j.n == 0)
		return j.right != NULL;
	int64_t rows = j.m >= ROWS ? 0 : ROWS;
	int64_t *starts = numbers(exec, matrices + 1, sizeof *starts), *places = numbers(exec, n, sizeof *places);
	int64_t k_bytes = j.k * j.width, n_bytes = j.n * j.width;
	j.rows = places ? numbers(exec, rows, k_bytes) : NULL;
	j.products = j.rows ? numbers(exec, rows, n_bytes) : NULL;
	if (!starts || !j.products)
		return false;
	order(j.right, n, matrices, starts, places);
	for (int64_t i = 0; i < matrices; i++)
		if (starts[i] < starts[i + 1] && !multiply_all(&j, i, places + starts[i], starts[i + 1] - starts[i]))
			return false;
	return true;
}
