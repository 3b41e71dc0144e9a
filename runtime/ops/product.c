#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/product.h"

static struct lb_tensor *fail_shapes(const char *op, const struct lb_tensor *a, const struct lb_tensor *b)
{
	char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
	int64_t k = b->shape[b->rank > 1 ? b->rank - 2 : 0];
	lb_fail("%s: last axis of a %s does not match the %s axis of b %s: %lld against %lld; transpose b, or "
		"reshape",
		op, lb_shape_text(a->rank, a->shape, ta), b->rank > 1 ? "second to last" : "only",
		lb_shape_text(b->rank, b->shape, tb), (long long)a->shape[a->rank - 1], (long long)k);
	return NULL;
}

/* The shape of a @ b: batch axes broadcast, then m and n where they exist. */
static bool product_shape(const char *op, const struct lb_tensor *a, const struct lb_tensor *b, int *rank,
			  int64_t *shape)
{
	int batch_a = a->rank > 2 ? a->rank - 2 : 0, batch_b = b->rank > 2 ? b->rank - 2 : 0;
	for (int i = 1; i <= batch_a && i <= batch_b; i++) {
		int64_t x = a->shape[batch_a - i], y = b->shape[batch_b - i];
		if (x != y && x != 1 && y != 1) {
			char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
			return lb_fail("%s: the batch axes of a %s and b %s do not broadcast: %lld against %lld", op,
				       lb_shape_text(a->rank, a->shape, ta), lb_shape_text(b->rank, b->shape, tb),
				       (long long)x, (long long)y);
		}
	}
	if (!lb_broadcast(op, batch_a, a->shape, batch_b, b->shape, rank, shape))
		return false;
	if (a->rank > 1)
		shape[(*rank)++] = a->shape[a->rank - 2];
	if (b->rank > 1)
		shape[(*rank)++] = b->shape[b->rank - 1];
	return true;
}

/* `name` is the public function's, for errors. */
static struct lb_tensor *product_node(const char *name, int op, int n, struct lb_tensor **xs, double alpha, double beta,
				      const void *site)
{
	struct lb_tensor *a = xs[0], *b = xs[1], *c = n > 2 ? xs[2] : a;
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b) || !LB_GIVEN(name, c))
		return NULL;
	if (a->rank == 0 || b->rank == 0) {
		char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
		lb_fail("%s: a scalar is not a matrix: a is %s, b is %s; use lb_multiply()", name,
			lb_shape_text(a->rank, a->shape, ta), lb_shape_text(b->rank, b->shape, tb));
		return NULL;
	}
	if (a->shape[a->rank - 1] != b->shape[b->rank > 1 ? b->rank - 2 : 0])
		return fail_shapes(name, a, b);
	enum lb_dtype dtype;
	int rank;
	int64_t shape[LB_MAX_RANK];
	if (!product_shape(name, a, b, &rank, shape) || !lb_common_dtype(name, n, xs, &dtype, site))
		return NULL;
	if (!lb_dtype_is_inexact(dtype)) {
		lb_fail("%s: %s has no matrix product here; cast with lb_astype() to a floating dtype, or "
			"use lb_einsum(), which multiplies integers",
			name, lb_dtypes[dtype].name);
		return NULL;
	}
	if (n == 3) {
		int c_rank;
		int64_t c_shape[LB_MAX_RANK];
		if (!lb_broadcast(name, xs[2]->rank, xs[2]->shape, rank, shape, &c_rank, c_shape))
			return NULL;
		if (!lb_same_shape(c_rank, c_shape, rank, shape)) {
			char tc[LB_SHAPE_TEXT], tp[LB_SHAPE_TEXT];
			lb_fail("%s: c %s does not broadcast to the product's shape %s", name,
				lb_shape_text(xs[2]->rank, xs[2]->shape, tc), lb_shape_text(rank, shape, tp));
			return NULL;
		}
	}
	for (int i = 0; i < n; i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		if (!xs[i])
			return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(op, dtype, rank, shape, n, xs, site);
	if (t) {
		lb_param_set_double(t, 0, alpha);
		lb_param_set_double(t, 1, beta);
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_matmul(lb_tensor *a, lb_tensor *b)
{
	LB_ENTER();
	return product_node("matmul", LB_OP_MATMUL, 2, (struct lb_tensor *[]){ a, b }, 1, 0, site);
}

lb_tensor *lb_matmul_in_steps(lb_tensor *a, lb_tensor *b)
{
	LB_ENTER();
	const char *const name = "matmul_in_steps";
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b))
		return NULL;
	if ((a->dtype != LB_F16 && a->dtype != LB_BF16) || b->dtype != a->dtype || a->rank < 2 || b->rank < 2) {
		char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
		lb_fail("%s: of %s %s and %s %s: it takes matrices of float16, or of bfloat16", name,
			lb_dtypes[a->dtype].name, lb_shape_text(a->rank, a->shape, ta), lb_dtypes[b->dtype].name,
			lb_shape_text(b->rank, b->shape, tb));
		return NULL;
	}
	return product_node(name, LB_OP_MATMUL_IN_STEPS, 2, (struct lb_tensor *[]){ a, b }, 1, 0, site);
}

lb_tensor *lb_addmm(lb_tensor *c, lb_tensor *a, lb_tensor *b, double alpha, double beta)
{
	LB_ENTER();
	return product_node("addmm", LB_OP_ADDMM, 3, (struct lb_tensor *[]){ a, b, c }, alpha, beta, site);
}

lb_tensor *lb_linear(lb_tensor *x, lb_tensor *weight, lb_tensor *bias)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("linear", x) || !LB_GIVEN("linear", weight))
		return NULL;
	char tx[LB_SHAPE_TEXT], tw[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
	if (weight->rank != 2 || x->rank < 1 || x->shape[x->rank - 1] != weight->shape[1]) {
		lb_fail("linear: weight %s must be (outputs, inputs), with as many inputs as the last axis of x "
			"%s is long",
			lb_shape_text(weight->rank, weight->shape, tw), lb_shape_text(x->rank, x->shape, tx));
		return NULL;
	}
	if (bias && (bias->rank != 1 || bias->shape[0] != weight->shape[0])) {
		lb_fail("linear: bias %s must be a vector as long as weight %s has outputs",
			lb_shape_text(bias->rank, bias->shape, tb), lb_shape_text(weight->rank, weight->shape, tw));
		return NULL;
	}
	struct lb_tensor *across = lb_transpose(weight, LB_ALL_AXES);
	return across ? product_node("linear", bias ? LB_OP_ADDMM : LB_OP_MATMUL, bias ? 3 : 2,
				     (struct lb_tensor *[]){ x, across, bias }, 1, bias != NULL, lb_fail_site_now())
		      : NULL;
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_matmul(const struct lb_recipe *r)
{
	return lb_matmul(r->x[0], r->x[1]);
}

struct lb_tensor *lb_remake_matmul_in_steps(const struct lb_recipe *r)
{
	return lb_matmul_in_steps(r->x[0], r->x[1]);
}

struct lb_tensor *lb_remake_addmm(const struct lb_recipe *r)
{
	return lb_addmm(r->x[2], r->x[0], r->x[1], lb_recipe_double(r, 0), lb_recipe_double(r, 1));
}

struct lb_view lb_matrix_view(const struct lb_tensor *x, bool is_b, int batch_rank, const int64_t *batch)
{
	struct lb_view from = lb_view_of(x), to = from;
	if (x->rank == 1) {
		from.rank = 2;
		from.shape[is_b] = 1;
		from.strides[is_b] = 0;
		from.shape[!is_b] = x->shape[0];
		from.strides[!is_b] = x->strides[0];
	}
	int own_batch = from.rank - 2;
	lb_broadcast_strides(own_batch, from.shape, from.strides, batch_rank, batch, to.strides);
	memcpy(to.shape, batch, (size_t)batch_rank * sizeof *batch);
	for (int i = 0; i < 2; i++) {
		to.shape[batch_rank + i] = from.shape[own_batch + i];
		to.strides[batch_rank + i] = from.strides[own_batch + i];
	}
	to.rank = batch_rank + 2;
	return to;
}

bool lb_compute_matmul_in_steps(struct lb_exec *exec, struct lb_tensor *t)
{
	int batch = t->rank - 2;
	struct lb_view a = lb_matrix_view(lb_tensor_input(t, 0), false, batch, t->shape);
	struct lb_view b = lb_matrix_view(lb_tensor_input(t, 1), true, batch, t->shape);
	return lb_kernel_matmul_in_steps(exec, &a, &b, lb_tensor_data(t));
}

bool lb_compute_product(struct lb_exec *exec, struct lb_tensor *t)
{
	const struct lb_tensor *a = lb_tensor_input(t, 0), *b = lb_tensor_input(t, 1);
	int batch_rank = t->rank - (a->rank > 1) - (b->rank > 1);
	/* m or n of 1 for a vector: axes that the result does not have */
	if (batch_rank + 2 > LB_MAX_RANK)
		return lb_fail("%s: %d batch axes are too many", lb_ops[t->op].name, batch_rank);
	struct lb_view va = lb_matrix_view(a, false, batch_rank, t->shape);
	struct lb_view vb = lb_matrix_view(b, true, batch_rank, t->shape), vc;
	bool with_c = t->op == LB_OP_ADDMM;
	if (with_c) {
		const struct lb_tensor *c = lb_tensor_input(t, 2);
		int64_t strides[LB_MAX_RANK];
		vc = lb_view_of(c);
		lb_broadcast_strides(c->rank, c->shape, c->strides, t->rank, t->shape, strides);
		/* c over the product with the vector's axis put back */
		int from = 0;
		for (int i = 0; i < batch_rank + 2; i++) {
			bool missing = (i == batch_rank && a->rank == 1) || (i == batch_rank + 1 && b->rank == 1);
			vc.shape[i] = missing ? 1 : t->shape[from];
			vc.strides[i] = missing ? 0 : strides[from];
			from += !missing;
		}
		vc.rank = batch_rank + 2;
	}
	return lb_kernel_matmul(exec, &va, &vb, with_c ? &vc : NULL, lb_param_double(t, 0), lb_param_double(t, 1),
				lb_tensor_data(t));
}
