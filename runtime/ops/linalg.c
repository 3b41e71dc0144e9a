/* Operations that LAPACK computes. One with several results is a node whose elements are all of them, one after another,
 * and what is given out are views of it. */
#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/linalg.h"
#include "ops/operation.h"
#include "ops/view.h"

static struct lb_tensor *fail_shape(const char *name, const struct lb_tensor *x, const char *why)
{
	char text[LB_SHAPE_TEXT];
	lb_fail("%s: %s %s", name, lb_shape_text(x->rank, x->shape, text), why);
	return NULL;
}

static bool is_matrix(const char *name, const struct lb_tensor *x, bool square)
{
	if (!LB_GIVEN(name, x))
		return false;
	if (x->rank < 2)
		return fail_shape(name, x, "has no two axes for a matrix");
	if (square && x->shape[x->rank - 1] != x->shape[x->rank - 2])
		return fail_shape(name, x, "is no square matrix");
	return true;
}

static bool is_computable(const char *name, int op, enum lb_dtype dtype)
{
	bool has_complex = lb_linalg_takes_complex(op);
	if (dtype == LB_F32 || dtype == LB_F64 || (dtype == LB_C64 && has_complex))
		return true;
	return lb_fail("%s: of %s: takes float32%s float64%s%s", name, lb_dtypes[dtype].name,
		       has_complex ? "," : " and", has_complex ? " and complex64" : "",
		       dtype == LB_C64 ? "" : "; cast with lb_astype()");
}

/* ---- of one matrix ---- */

/* The shapes of the results, besides the batch axes. */
struct parts {
	int n;
	struct {
		int rank;
		int64_t shape[2];
	} v[3];
};

static struct parts parts_of(int op, const struct lb_tensor *x, bool has_vectors)
{
	int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = m < n ? m : n;
	switch (op) {
	case LB_OP_QR: return (struct parts){ 2, { { 2, { m, k } }, { 2, { k, n } } } };
	case LB_OP_SVD:
		return has_vectors ? (struct parts){ 3, { { 2, { m, m } }, { 1, { k } }, { 2, { n, n } } } }
				   : (struct parts){ 1, { { 1, { k } } } };
	case LB_OP_LU: return (struct parts){ 3, { { 2, { m, n } }, { 1, { k } }, { 1, { m } } } };
	case LB_OP_EIG:
		return has_vectors ? (struct parts){ 2, { { 1, { n } }, { 2, { n, n } } } }
				   : (struct parts){ 1, { { 1, { n } } } };
	case LB_OP_EIGH: return (struct parts){ 2, { { 1, { n } }, { 2, { n, n } } } };
	case LB_OP_EIGVALSH: return (struct parts){ 1, { { 1, { n } } } };
	case LB_OP_DET: return (struct parts){ .n = 1 };
	case LB_OP_SLOGDET: return (struct parts){ .n = 2 };
	default: return (struct parts){ 1, { { 2, { n, n } } } };
	}
}

static int shape_of_part(const struct lb_tensor *x, const struct parts *parts, int i, int64_t *shape)
{
	int batch = x->rank - 2;
	memcpy(shape, x->shape, (size_t)batch * sizeof *shape);
	memcpy(shape + batch, parts->v[i].shape, (size_t)parts->v[i].rank * sizeof *shape);
	return batch + parts->v[i].rank;
}

int lb_linalg_parts(int op, const struct lb_tensor *x, bool has_vectors, int64_t sizes[3])
{
	struct parts parts = parts_of(op, x, has_vectors);
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < parts.n; i++) {
		int rank = shape_of_part(x, &parts, i, shape);
		sizes[i] = 1;
		for (int k = 0; k < rank; k++)
			sizes[i] *= shape[k];
	}
	return parts.n;
}

/* Of the one result, or, if there are several, of all of them. */
static bool whole_shape(const char *name, const struct lb_tensor *x, const struct parts *parts, enum lb_dtype dtype,
			int *rank, int64_t *shape)
{
	int64_t all = 0, size;
	for (int i = 0; i < parts->n; i++) {
		*rank = shape_of_part(x, parts, i, shape);
		if (!lb_check_shape(name, *rank, shape, dtype, &size))
			return false;
		if (!lb_sum_of(all, size, &all))
			return lb_fail("%s: its results have more elements than 63 bits can count", name);
	}
	if (parts->n > 1) {
		*rank = 1;
		shape[0] = all;
	}
	return true;
}

/* `name` is that of the public function. params: 0 whether of the upper triangle, 1 whether with vectors (svd, eig) */
static struct lb_tensor *linalg(const char *name, int op, struct lb_tensor *x, bool upper, bool has_vectors,
				const void *site)
{
	if (!is_matrix(name, x, op != LB_OP_QR && op != LB_OP_SVD && op != LB_OP_LU) ||
	    !is_computable(name, op, (enum lb_dtype)x->dtype))
		return NULL;
	if (op == LB_OP_LU && x->dtype == LB_F32 && x->shape[x->rank - 2] > 1 << 24)
		return fail_shape(name, x, "has more rows than float32 can count; cast it with lb_astype() to float64");
	struct parts parts = parts_of(op, x, has_vectors);
	int rank = 0;
	int64_t shape[LB_MAX_RANK];
	enum lb_dtype dtype = lb_linalg_dtype(op, (enum lb_dtype)x->dtype, has_vectors);
	if (!whole_shape(name, x, &parts, dtype, &rank, shape))
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(op, dtype, rank, shape, 1, &x, site);
	if (t) {
		t->params[0] = upper;
		t->params[1] = has_vectors;
	}
	return lb_tensor_publish(t);
}

/* With several results: to[i] = each of them. False, and all NULL, on failure. */
static bool take_apart(const char *name, int op, struct lb_tensor *x, bool upper, lb_tensor **const *to,
		       const void *site)
{
	struct lb_tensor *all = linalg(name, op, x, upper, true, site), *made[3];
	if (!all)
		return false;
	struct parts parts = parts_of(op, x, true);
	int64_t offset = 0, shape[LB_MAX_RANK];
	for (int i = 0; i < parts.n; i++) {
		int rank = shape_of_part(x, &parts, i, shape);
		made[i] = lb_view_part(all, rank, shape, &offset, site);
		if (made[i] && x->dtype == LB_C64 && i == (op == LB_OP_SVD ? 1 : op == LB_OP_EIGH ? 0 : -1))
			made[i] = lb_as(made[i], LB_F32, site);
		if (!made[i])
			return false;
	}
	for (int i = 0; i < parts.n; i++)
		*to[i] = made[i];
	return true;
}

lb_tensor *lb_inv(lb_tensor *x)
{
	LB_ENTER();
	return linalg("inv", LB_OP_INV, x, false, false, site);
}

lb_tensor *lb_tri_inv(lb_tensor *x, bool upper)
{
	LB_ENTER();
	return linalg("tri_inv", LB_OP_TRI_INV, x, upper, false, site);
}

lb_tensor *lb_cholesky(lb_tensor *x, bool upper)
{
	LB_ENTER();
	return linalg("cholesky", LB_OP_CHOLESKY, x, upper, false, site);
}

lb_tensor *lb_svdvals(lb_tensor *x)
{
	LB_ENTER();
	return linalg("svdvals", LB_OP_SVD, x, false, false, site);
}

lb_tensor *lb_eigvalsh(lb_tensor *x, bool upper)
{
	LB_ENTER();
	return linalg("eigvalsh", LB_OP_EIGVALSH, x, upper, false, site);
}

bool lb_qr(lb_tensor *x, lb_tensor **q, lb_tensor **r)
{
	LB_ENTER();
	if (!LB_GIVEN("qr", q) || !LB_GIVEN("qr", r))
		return false;
	*q = *r = NULL;
	return take_apart("qr", LB_OP_QR, x, false, (lb_tensor * *[]){ q, r }, site);
}

bool lb_svd(lb_tensor *x, lb_tensor **u, lb_tensor **s, lb_tensor **vt)
{
	LB_ENTER();
	if (!LB_GIVEN("svd", u) || !LB_GIVEN("svd", s) || !LB_GIVEN("svd", vt))
		return false;
	*u = *s = *vt = NULL;
	return take_apart("svd", LB_OP_SVD, x, false, (lb_tensor * *[]){ u, s, vt }, site);
}

bool lb_eigh(lb_tensor *x, bool upper, lb_tensor **values, lb_tensor **vectors)
{
	LB_ENTER();
	if (!LB_GIVEN("eigh", values) || !LB_GIVEN("eigh", vectors))
		return false;
	*values = *vectors = NULL;
	return take_apart("eigh", LB_OP_EIGH, x, upper, (lb_tensor * *[]){ values, vectors }, site);
}

/* Both factors in one; swaps and rows as integers. */
static bool take_lu(const char *name, struct lb_tensor *x, lb_tensor **both, lb_tensor **swaps, lb_tensor **rows,
		    const void *site)
{
	struct lb_tensor *made[3];
	if (!take_apart(name, LB_OP_LU, x, false, (lb_tensor * *[]){ &made[0], &made[1], &made[2] }, site))
		return false;
	for (int i = 1; i < 3; i++) {
		made[i] = lb_as(made[i], LB_U32, site);
		if (!made[i])
			return false;
	}
	*both = made[0];
	*swaps = made[1];
	*rows = made[2];
	return true;
}

bool lb_lu_factor(lb_tensor *x, lb_tensor **lu, lb_tensor **swaps)
{
	LB_ENTER();
	lb_tensor *rows;
	if (!LB_GIVEN("lu_factor", x) || !LB_GIVEN("lu_factor", lu) || !LB_GIVEN("lu_factor", swaps))
		return false;
	*lu = *swaps = NULL;
	return take_lu("lu_factor", x, lu, swaps, &rows, site);
}

bool lb_lu(lb_tensor *x, lb_tensor **rows, lb_tensor **l, lb_tensor **u)
{
	LB_ENTER_WHOLE();
	lb_tensor *both, *swaps, *order;
	if (!LB_GIVEN("lu", rows) || !LB_GIVEN("lu", l) || !LB_GIVEN("lu", u))
		return false;
	*rows = *l = *u = NULL;
	if (!take_lu("lu", x, &both, &swaps, &order, lb_fail_site_now()))
		return false;
	int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = m < n ? m : n;
	struct lb_tensor *lower =
	    lb_add(lb_tril(lb_slice(both, LB_REST, LB_TO(k)), -1), lb_eye(m, k, 0, (enum lb_dtype)x->dtype));
	struct lb_tensor *upper = lb_triu(lb_slice(both, LB_REST, LB_TO(k), LB_ALL), 0);
	if (!lower || !upper)
		return false;
	*rows = order;
	*l = lower;
	*u = upper;
	return true;
}

lb_tensor *lb_eigvals(lb_tensor *x)
{
	LB_ENTER();
	return linalg("eigvals", LB_OP_EIG, x, false, false, site);
}

bool lb_eig(lb_tensor *x, lb_tensor **values, lb_tensor **vectors)
{
	LB_ENTER();
	if (!LB_GIVEN("eig", values) || !LB_GIVEN("eig", vectors))
		return false;
	*values = *vectors = NULL;
	return take_apart("eig", LB_OP_EIG, x, false, (lb_tensor * *[]){ values, vectors }, site);
}

/* x in what its determinant is computed in. */
static struct lb_tensor *computed(const char *name, struct lb_tensor *x, const void *site)
{
	if (!is_matrix(name, x, true))
		return NULL;
	if (x->dtype == LB_C64) {
		lb_fail("%s: not defined for complex64; the determinant is the product of the eigenvalues, "
			"lb_prod(lb_eigvals(x), LB_AXES(-1), false)",
			name);
		return NULL;
	}
	return lb_as(x, x->dtype == LB_F64 ? LB_F64 : LB_F32, site);
}

lb_tensor *lb_det(lb_tensor *x)
{
	LB_ENTER();
	struct lb_tensor *y = computed("det", x, site);
	y = y ? linalg("det", LB_OP_DET, y, false, false, site) : NULL;
	return y ? lb_as(y, lb_inexact((enum lb_dtype)x->dtype), site) : NULL;
}

bool lb_slogdet(lb_tensor *x, lb_tensor **sign, lb_tensor **logabs)
{
	LB_ENTER();
	if (!LB_GIVEN("slogdet", sign) || !LB_GIVEN("slogdet", logabs))
		return false;
	*sign = *logabs = NULL;
	struct lb_tensor *y = computed("slogdet", x, site), *of = NULL, *size = NULL;
	if (!y || !take_apart("slogdet", LB_OP_SLOGDET, y, false, (lb_tensor * *[]){ &of, &size }, site))
		return false;
	enum lb_dtype dtype = lb_inexact((enum lb_dtype)x->dtype);
	of = lb_as(of, dtype, site);
	size = lb_as(size, dtype, site);
	if (!of || !size)
		return false;
	*sign = of;
	*logabs = size;
	return true;
}

/* ---- of two ---- */

/* a and b have the rank that b has with axes for columns. params: 0 whether of the upper triangle */
static struct lb_tensor *solve_node(int op, struct lb_tensor *a, struct lb_tensor *b, bool upper, const void *site)
{
	const char *name = lb_ops[op].name;
	struct lb_tensor *xs[2] = { a, b };
	char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
	enum lb_dtype dtype;
	if (!is_matrix(name, a, true) || !LB_GIVEN(name, b) || !is_matrix(name, b, false))
		return NULL;
	int64_t n = a->shape[a->rank - 1], shape[LB_MAX_RANK];
	if (b->shape[b->rank - 2] != n) {
		lb_fail("%s: b %s must have as many rows as a %s", name, lb_shape_text(b->rank, b->shape, tb),
			lb_shape_text(a->rank, a->shape, ta));
		return NULL;
	}
	int rank;
	if (!lb_broadcast(name, a->rank - 2, a->shape, b->rank - 2, b->shape, &rank, shape) ||
	    !lb_common_dtype(name, 2, xs, &dtype, site) || !is_computable(name, op, dtype))
		return NULL;
	shape[rank++] = n;
	shape[rank++] = b->shape[b->rank - 1];
	for (int i = 0; i < 2; i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		if (!xs[i])
			return NULL;
	}
	struct lb_tensor *t = lb_tensor_begin(op, dtype, rank, shape, 2, xs, site);
	if (t)
		t->params[0] = upper;
	return lb_tensor_publish(t);
}

/* b may be a vector. */
static struct lb_tensor *solve_any(int op, struct lb_tensor *a, struct lb_tensor *b, bool upper, const void *site)
{
	const char *name = lb_ops[op].name;
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b))
		return NULL;
	bool is_vector = b->rank == 1;
	if (is_vector)
		b = lb_view_node(LB_OP_EXPAND_DIMS, b, 2, (int64_t[]){ b->shape[0], 1 },
				 (int64_t[]){ b->strides[0], 1 }, 0, site);
	struct lb_tensor *x = b ? solve_node(op, a, b, upper, site) : NULL;
	return x && is_vector ? lb_view_node(LB_OP_SQUEEZE, x, x->rank - 1, x->shape, x->strides, 0, site) : x;
}

lb_tensor *lb_solve(lb_tensor *a, lb_tensor *b)
{
	LB_ENTER();
	return solve_any(LB_OP_SOLVE, a, b, false, site);
}

lb_tensor *lb_solve_triangular(lb_tensor *a, lb_tensor *b, bool upper)
{
	LB_ENTER();
	return solve_any(LB_OP_SOLVE_TRIANGULAR, a, b, upper, site);
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_linalg(const struct lb_recipe *r)
{
	return linalg(lb_ops[r->op].name, r->op, r->x[0], r->params[0] != 0,
		      r->params[1] != 0 && r->op != LB_OP_EIGVALSH, r->site);
}

bool lb_compute_linalg(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0);
	bool has_vectors = t->op == LB_OP_EIGH || t->params[1] != 0;
	return lb_kernel_linalg(exec, t->op, &x, t->params[0] != 0, has_vectors, lb_tensor_data(t));
}

struct lb_tensor *lb_remake_solve(const struct lb_recipe *r)
{
	return solve_node(r->op, r->x[0], r->x[1], r->params[0] != 0, r->site);
}

/* x over the batch axes of t. */
static struct lb_view over_batch(const struct lb_tensor *x, const struct lb_tensor *t)
{
	struct lb_view view = lb_view_of(x);
	int batch = t->rank - 2, own = x->rank - 2;
	lb_broadcast_strides(own, x->shape, x->strides, batch, t->shape, view.strides);
	memcpy(view.shape, t->shape, (size_t)batch * sizeof *view.shape);
	for (int i = 0; i < 2; i++) {
		view.shape[batch + i] = x->shape[own + i];
		view.strides[batch + i] = x->strides[own + i];
	}
	view.rank = t->rank;
	return view;
}

bool lb_compute_solve(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view a = over_batch(lb_tensor_input(t, 0), t), b = over_batch(lb_tensor_input(t, 1), t);
	return lb_kernel_solve(exec, t->op, &a, &b, t->params[0] != 0, lb_tensor_data(t));
}
