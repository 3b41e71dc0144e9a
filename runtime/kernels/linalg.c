/* Decompositions and what is made of them, by the LAPACK that comes with the BLAS: one matrix after another, each copied
 * into scratch memory, column by column, as LAPACK has them. The library shares a large one among its own threads. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "kernels/blas.h"
#include "kernels/layout.h"
#include "kernels/model.h"
#include "kernels/share.h"

struct job {
	struct lb_exec *exec;
	const struct lb_lapack *lapack;
	const struct lb_lapack_complex *complex; /* of complex64, in its place */
	int op;
	const char *name;
	enum lb_dtype dtype;
	size_t width, width_to; /* of an element, and of one of the result */
	int m, n, k; /* rows, columns, the smaller; of solve: k columns on the right */
	bool upper, has_vectors;
	int work_size, rwork_size, iwork_size;
	char *a, *b, *u, *vt, *s, *work; /* of dtype: matrices, values, LAPACK's own */
	float *rwork; /* of complex64, too */
	int *iwork; /* pivots, too */
	char *to[3]; /* the parts of the result, of the first matrix */
};

static const char *triangle(const struct job *j)
{
	return j->upper ? "U" : "L";
}

/* Matrix number `at` of a batch. */
static struct lb_view matrix_at(const struct lb_view *x, int64_t at)
{
	struct lb_view ret = { .dtype = x->dtype, .rank = 2 };
	int64_t offset = 0;
	for (int i = x->rank - 2; i-- > 0; at /= x->shape[i])
		offset += at % x->shape[i] * x->strides[i];
	for (int i = 0; i < 2; i++) {
		ret.shape[i] = x->shape[x->rank - 2 + i];
		ret.strides[i] = x->strides[x->rank - 2 + i];
	}
	ret.data = (char *)x->data + offset * (int64_t)lb_width_of(x->dtype);
	return ret;
}

static struct lb_view by_columns(const struct job *j, void *data, int rows, int columns, int height)
{
	return (struct lb_view){ data, j->dtype, 2, { rows, columns }, { 1, height } };
}

static bool copy_in(const struct job *j, void *to, const struct lb_view *from, int rows, int columns)
{
	struct lb_view view = by_columns(j, to, rows, columns, rows);
	return lb_kernel_copy(j->exec, &view, from);
}

static bool copy_out(const struct job *j, void *to, void *from, int rows, int columns, int height)
{
	struct lb_view view = by_columns(j, from, rows, columns, height);
	struct lb_view dense = { to, j->dtype, 2, { rows, columns }, { columns, 1 } };
	return lb_kernel_copy(j->exec, &dense, &view);
}

/* Zeros above the diagonal, or below it, of rows that lie one after another. */
static void clear_triangle(const struct job *j, char *to, int rows, int columns, bool above)
{
	for (int64_t i = 0; i < rows; i++) {
		int64_t first = above ? i + 1 : 0, last = above || i > columns ? columns : i;
		if (first < last)
			memset(to + (size_t)(i * columns + first) * j->width, 0, (size_t)(last - first) * j->width);
	}
}

static bool is_done(const struct job *j, int64_t at, int info, const char *why)
{
	if (info == 0)
		return true;
	return info < 0 ? lb_fail("%s: LAPACK refuses its argument %d of matrix %lld", j->name, -info, (long long)at)
			: lb_fail("%s: matrix %lld %s", j->name, (long long)at, why);
}

static const char singular[] = "is singular";

/* ---- one matrix each ---- */

static bool inverse(const struct job *j, int64_t at)
{
	int info;
	if (j->op == LB_OP_TRI_INV) {
		j->lapack->trtri(triangle(j), "N", &j->n, j->a, &j->n, &info, 1, 1);
	} else {
		j->lapack->getrf(&j->n, &j->n, j->a, &j->n, j->iwork, &info);
		if (info == 0)
			j->lapack->getri(&j->n, j->a, &j->n, j->iwork, j->work, &j->work_size, &info);
	}
	if (!is_done(j, at, info, singular) || !copy_out(j, j->to[0], j->a, j->n, j->n, j->n))
		return false;
	if (j->op == LB_OP_TRI_INV)
		clear_triangle(j, j->to[0], j->n, j->n, !j->upper);
	return true;
}

static bool cholesky(const struct job *j, int64_t at)
{
	int info;
	j->lapack->potrf(triangle(j), &j->n, j->a, &j->n, &info, 1);
	if (!is_done(j, at, info, "is not positive definite") || !copy_out(j, j->to[0], j->a, j->n, j->n, j->n))
		return false;
	clear_triangle(j, j->to[0], j->n, j->n, !j->upper);
	return true;
}

static bool qr(const struct job *j, int64_t at)
{
	int info;
	j->lapack->geqrf(&j->m, &j->n, j->a, &j->m, j->s, j->work, &j->work_size, &info);
	if (!is_done(j, at, info, singular) || !copy_out(j, j->to[1], j->a, j->k, j->n, j->m))
		return false;
	clear_triangle(j, j->to[1], j->k, j->n, false);
	j->lapack->orgqr(&j->m, &j->k, &j->k, j->a, &j->m, j->s, j->work, &j->work_size, &info);
	return is_done(j, at, info, singular) && copy_out(j, j->to[0], j->a, j->m, j->k, j->m);
}

/* The factors in one, the row that each was swapped with, and where in their product each row of the matrix is. */
static bool lu(const struct job *j, int64_t at)
{
	int info, *rows = j->iwork + j->k;
	j->lapack->getrf(&j->m, &j->n, j->a, &j->m, j->iwork, &info);
	if (info < 0 || !copy_out(j, j->to[0], j->a, j->m, j->n, j->m))
		return is_done(j, at, info, singular);
	for (int i = 0; i < j->m; i++)
		rows[i] = i;
	for (int i = j->k; i-- > 0;) {
		int other = j->iwork[i] - 1, row = rows[i];
		rows[i] = rows[other];
		rows[other] = row;
		lb_store_double(j->to[1] + (size_t)i * j->width, j->dtype, other);
	}
	for (int i = 0; i < j->m; i++)
		lb_store_double(j->to[2] + (size_t)i * j->width, j->dtype, rows[i]);
	return true;
}

/* One part of a number of complex64. */
static void store_part(char *to, double value)
{
	lb_store_double(to, LB_F32, value);
}

static const char no_eigenvalues[] = "has eigenvalues that were not found: the iteration does not converge";

/* The real values in s: as they are, or, beside vectors that are complex, as complex numbers. */
static void give_values(const struct job *j, char *to, int n)
{
	if (!j->complex || !j->has_vectors) {
		memcpy(to, j->s, (size_t)n * (j->complex ? sizeof(float) : j->width));
		return;
	}
	for (size_t i = 0; i < (size_t)n; i++) {
		memcpy(to + i * j->width, j->s + i * sizeof(float), sizeof(float));
		memset(to + i * j->width + sizeof(float), 0, sizeof(float));
	}
}

/* Of a pair of conjugates LAPACK has the real part of both vectors in the first column, and the first's imaginary part in the
 * second. */
static bool eig(const struct job *j, int64_t at)
{
	enum { WIDTH = sizeof(float) };
	int info, one = 1, n = j->n;
	if (j->complex) {
		j->complex->geev("N", j->has_vectors ? "V" : "N", &n, j->a, &n, j->s, NULL, &one, j->vt,
				 j->has_vectors ? &n : &one, j->work, &j->work_size, j->rwork, &info, 1, 1);
		if (!is_done(j, at, info, no_eigenvalues))
			return false;
		memcpy(j->to[0], j->s, (size_t)n * j->width);
		return !j->has_vectors || copy_out(j, j->to[1], j->vt, n, n, n);
	}
	char *im = j->s + (size_t)n * j->width;
	j->lapack->geev("N", j->has_vectors ? "V" : "N", &n, j->a, &n, j->s, im, NULL, &one, j->vt,
			j->has_vectors ? &n : &one, j->work, &j->work_size, &info, 1, 1);
	if (!is_done(j, at, info, no_eigenvalues))
		return false;
	for (int64_t i = 0; i < n; i++) {
		double part = lb_load_double(im + (size_t)i * j->width, j->dtype);
		store_part(j->to[0] + 2 * i * WIDTH, lb_load_double(j->s + (size_t)i * j->width, j->dtype));
		store_part(j->to[0] + (2 * i + 1) * WIDTH, part);
		if (!j->has_vectors)
			continue;
		const char *column = j->vt + (size_t)(part < 0 ? i - 1 : i) * (size_t)n * j->width;
		for (int64_t k = 0; k < n; k++) {
			const char *re = column + (size_t)k * j->width, *other = re + (size_t)n * j->width;
			double sign = part > 0 ? 1 : -1;
			char *to = j->to[1] + 2 * (k * n + i) * WIDTH;
			store_part(to, lb_load_double(re, j->dtype));
			store_part(to + WIDTH, part == 0 ? 0 : sign * lb_load_double(other, j->dtype));
		}
	}
	return true;
}

static bool svd(const struct job *j, int64_t at)
{
	int info;
	const char *job = j->has_vectors ? "A" : "N";
	if (j->complex)
		j->complex->gesdd(job, &j->m, &j->n, j->a, &j->m, j->s, j->u, &j->m, j->vt, &j->n, j->work,
				  &j->work_size, j->rwork, j->iwork, &info, 1);
	else
		j->lapack->gesdd(job, &j->m, &j->n, j->a, &j->m, j->s, j->u, &j->m, j->vt, &j->n, j->work,
				 &j->work_size, j->iwork, &info, 1);
	if (!is_done(j, at, info, "has singular values that were not found: the iteration does not converge"))
		return false;
	give_values(j, j->has_vectors ? j->to[1] : j->to[0], j->k);
	return !j->has_vectors ||
	       (copy_out(j, j->to[0], j->u, j->m, j->m, j->m) && copy_out(j, j->to[2], j->vt, j->n, j->n, j->n));
}

static bool eigh(const struct job *j, int64_t at)
{
	int info;
	const char *job = j->has_vectors ? "V" : "N";
	if (j->complex)
		j->complex->heevd(job, triangle(j), &j->n, j->a, &j->n, j->s, j->work, &j->work_size, j->rwork,
				  &j->rwork_size, j->iwork, &j->iwork_size, &info, 1, 1);
	else
		j->lapack->syevd(job, triangle(j), &j->n, j->a, &j->n, j->s, j->work, &j->work_size, j->iwork,
				 &j->iwork_size, &info, 1, 1);
	if (!is_done(j, at, info, no_eigenvalues))
		return false;
	give_values(j, j->to[0], j->n);
	return !j->has_vectors || copy_out(j, j->to[1], j->a, j->n, j->n, j->n);
}

/* The product of the diagonal of U, and a factor of -1 for each row that was swapped. */
static bool determinant(const struct job *j, int64_t at)
{
	int info;
	double det = 1, sign = 1, log_of = 0;
	j->lapack->getrf(&j->n, &j->n, j->a, &j->n, j->iwork, &info);
	if (info < 0)
		return is_done(j, at, info, singular);
	for (int64_t i = 0; i < j->n; i++) {
		double d = lb_load_double(j->a + (size_t)(i * j->n + i) * j->width, j->dtype);
		d = j->iwork[i] != i + 1 ? -d : d;
		det *= d;
		sign *= (d > 0) - (d < 0);
		log_of += log(fabs(d));
	}
	lb_store_double(j->to[0], j->dtype, j->op == LB_OP_DET ? det : sign);
	if (j->op == LB_OP_SLOGDET)
		lb_store_double(j->to[1], j->dtype, log_of);
	return true;
}

static bool solve_one(const struct job *j, int64_t at)
{
	int info;
	if (j->op == LB_OP_SOLVE)
		j->lapack->gesv(&j->n, &j->k, j->a, &j->n, j->iwork, j->b, &j->n, &info);
	else
		j->lapack->trtrs(triangle(j), "N", "N", &j->n, &j->k, j->a, &j->n, j->b, &j->n, &info, 1, 1, 1);
	return is_done(j, at, info, singular) && copy_out(j, j->to[0], j->b, j->n, j->k, j->n);
}

/* ---- their memory ---- */

static bool room(const struct job *j, void *ret, int64_t rows, int64_t columns, int64_t width)
{
	int64_t nbytes = lb_bytes_of(rows, columns, width);
	if (nbytes < 0)
		return lb_fail("%s: a matrix of %d by %d is too large", j->name, j->m, j->n);
	void *memory = j->exec->scratch(j->exec, nbytes + 1);
	memcpy(ret, &memory, sizeof memory);
	return memory != NULL;
}

enum { COLUMNS = 64 }; /* that LAPACK works on at once, at most: it asks for room for as many */

/* What LAPACK's reference says that it needs at least, and for faster ways. */
static bool measure(struct job *j)
{
	int64_t m = j->m, n = j->n, k = j->k, most = m > n ? m : n, size = COLUMNS * most, isize = 8 * most;
	int64_t rsize = 0;
	if (j->op == LB_OP_SVD)
		size += j->has_vectors ? 4 * k * k + 7 * k + most : 3 * k + (most > 7 * k ? most : 7 * k);
	else if (j->op == LB_OP_EIGH)
		size += 1 + 6 * n + 2 * n * n;
	if (j->dtype == LB_C64)
		rsize = 1 + 7 * most + (!j->has_vectors || j->op == LB_OP_EIG ? 0 : k * (7 * k + 2 * most + 1));
	j->work_size = (int)size;
	j->rwork_size = (int)rsize;
	j->iwork_size = (int)(isize + 3);
	return (size <= INT_MAX && rsize <= INT_MAX && isize < INT_MAX - 3) ||
	       lb_fail("%s: a matrix of %d by %d is too large for LAPACK's 32 bit sizes", j->name, j->m, j->n);
}

static bool take_room(struct job *j)
{
	int64_t width = (int64_t)j->width;
	bool solves = j->op == LB_OP_SOLVE || j->op == LB_OP_SOLVE_TRIANGULAR;
	bool has_left = j->op == LB_OP_SVD && j->has_vectors,
	     has_right = has_left || (j->op == LB_OP_EIG && j->has_vectors);
	return room(j, &j->a, j->m, j->n, width) && (!solves || room(j, &j->b, j->n, j->k, width)) &&
	       (!has_left || room(j, &j->u, j->m, j->m, width)) && (!has_right || room(j, &j->vt, j->n, j->n, width)) &&
	       room(j, &j->s, j->m + (int64_t)j->n, 1, width) && room(j, &j->work, j->work_size, 1, width) &&
	       room(j, &j->rwork, j->rwork_size, 1, (int64_t)sizeof *j->rwork) &&
	       room(j, &j->iwork, j->iwork_size, 1, (int64_t)sizeof *j->iwork);
}

/* ---- and all of them ---- */

/* Elements of each part of one matrix's result. */
static void find_parts(const struct job *j, int64_t parts[3])
{
	int64_t m = j->m, n = j->n, k = j->k;
	memset(parts, 0, 3 * sizeof *parts);
	switch (j->op) {
	case LB_OP_QR:
		parts[0] = m * k;
		parts[1] = k * n;
		return;
	case LB_OP_SVD:
		parts[0] = j->has_vectors ? m * m : k;
		parts[1] = j->has_vectors ? k : 0;
		parts[2] = j->has_vectors ? n * n : 0;
		return;
	case LB_OP_LU:
		parts[0] = m * n;
		parts[1] = k;
		parts[2] = m;
		return;
	case LB_OP_EIG:
	case LB_OP_EIGH:
	case LB_OP_EIGVALSH:
		parts[0] = n;
		parts[1] = j->has_vectors ? n * n : 0;
		return;
	case LB_OP_DET:
	case LB_OP_SLOGDET:
		parts[0] = 1;
		parts[1] = j->op == LB_OP_SLOGDET;
		return;
	case LB_OP_SOLVE:
	case LB_OP_SOLVE_TRIANGULAR: parts[0] = n * k; return;
	default: parts[0] = n * n;
	}
}

static bool one(const struct job *j, const struct lb_view *a, const struct lb_view *b, int64_t at)
{
	struct lb_view x = matrix_at(a, at), right;
	if (!copy_in(j, j->a, &x, j->m, j->n))
		return false;
	switch (j->op) {
	case LB_OP_INV:
	case LB_OP_TRI_INV: return inverse(j, at);
	case LB_OP_CHOLESKY: return cholesky(j, at);
	case LB_OP_QR: return qr(j, at);
	case LB_OP_LU: return lu(j, at);
	case LB_OP_EIG: return eig(j, at);
	case LB_OP_SVD: return svd(j, at);
	case LB_OP_EIGH:
	case LB_OP_EIGVALSH: return eigh(j, at);
	case LB_OP_DET:
	case LB_OP_SLOGDET: return determinant(j, at);
	default: right = matrix_at(b, at); return copy_in(j, j->b, &right, j->n, j->k) && solve_one(j, at);
	}
}

/* Of matrices without elements: all that they have is the determinant, which is 1, bases of the other side, and rows. */
static bool none_of(const struct job *j)
{
	if (j->op == LB_OP_DET || j->op == LB_OP_SLOGDET) {
		lb_store_double(j->to[0], j->dtype, 1);
		if (j->op == LB_OP_SLOGDET)
			lb_store_double(j->to[1], j->dtype, 0);
	}
	for (int i = 0; i < j->m && j->op == LB_OP_LU; i++)
		lb_store_double(j->to[2] + (size_t)i * j->width, j->dtype, i);
	return j->op != LB_OP_SVD || !j->has_vectors ||
	       (lb_kernel_eye(j->exec, j->to[0], j->dtype, j->m, j->m, 0) &&
		lb_kernel_eye(j->exec, j->to[2], j->dtype, j->n, j->n, 0));
}

static bool each(struct job *j, const struct lb_view *a, const struct lb_view *b, int64_t count, const int64_t parts[3])
{
	for (int64_t at = 0; at < count; at++) {
		if (!(j->m && j->n ? one(j, a, b, at) : none_of(j)))
			return false;
		for (int i = 0; i < 3; i++)
			j->to[i] += parts[i] * (int64_t)j->width_to;
	}
	return true;
}

static bool run_solver(struct job *j, const struct lb_view *a, const struct lb_view *b, char *to)
{
	int64_t count = lb_shape_size(a->rank - 2, a->shape), parts[3];
	find_parts(j, parts);
	for (int i = 0; i < 3; i++) {
		j->to[i] = to;
		to += count * parts[i] * (int64_t)j->width_to;
	}
	if (count == 0 || parts[0] + parts[1] + parts[2] == 0)
		return true;
	if (j->m == 0 || j->n == 0)
		return each(j, a, b, count, parts);
	if ((j->op == LB_OP_SVD || j->op == LB_OP_EIGH || j->op == LB_OP_EIGVALSH || j->op == LB_OP_EIG) &&
	    !lb_is_finite(a))
		return lb_fail("%s: there is NaN or Inf in it: it has no such decomposition", j->name);
	if (!j->exec->blas)
		return lb_fail("%s: within the program a debugger calls no LAPACK; tensor peek computes it beside it",
			       j->name);
	if (!measure(j) || !take_room(j))
		return false;
	const struct lb_blas *blas = lb_blas_enter();
	if (blas && j->dtype == LB_C64)
		j->complex = blas->c64;
	else if (blas)
		j->lapack = j->dtype == LB_F64 ? blas->f64 : blas->f32;
	bool ok = false, has = j->lapack || j->complex;
	if (has) {
		lb_blas_lend_threads(j->exec->threads);
		ok = each(j, a, b, count, parts);
		lb_blas_lend_threads(false);
	}
	if (!has && !blas && strcmp(lb_blas_name(), "none") != 0)
		lb_fail("%s: LAPACK takes no calls while the program exits, nor in a signal handler over another",
			j->name);
	else if (!has)
		lb_fail(
		    "%s: needs LAPACK, and there is none: install OpenBLAS (libopenblas0), or link a BLAS with LAPACK "
		    "into the program",
		    j->name);
	if (blas)
		lb_blas_leave();
	return ok;
}

bool lb_linalg_takes_complex(int op)
{
	return op == LB_OP_SVD || op == LB_OP_EIGH || op == LB_OP_EIGVALSH || op == LB_OP_EIG;
}

enum lb_dtype lb_linalg_dtype(int op, enum lb_dtype dtype, bool has_vectors)
{
	if (op == LB_OP_EIG)
		return LB_C64;
	return dtype == LB_C64 && !has_vectors ? LB_F32 : dtype;
}

static bool fits(const struct job *j, const struct lb_view *x)
{
	if (x->rank < 2 ||
	    !(x->dtype == LB_F32 || x->dtype == LB_F64 || (x->dtype == LB_C64 && lb_linalg_takes_complex(j->op))))
		return lb_fail("%s: not of matrices of such a dtype", j->name);
	return (x->shape[x->rank - 1] <= INT_MAX && x->shape[x->rank - 2] <= INT_MAX) ||
	       lb_fail("%s: a matrix of %lld by %lld is too large for LAPACK's 32 bit sizes", j->name,
		       (long long)x->shape[x->rank - 2], (long long)x->shape[x->rank - 1]);
}

static struct job begin(struct lb_exec *exec, int op, const struct lb_view *x, bool upper, bool has_vectors)
{
	int64_t m = x->rank < 2 ? 0 : x->shape[x->rank - 2], n = x->rank < 2 ? 0 : x->shape[x->rank - 1];
	return (struct job){ .exec = exec,
			     .op = op,
			     .name = lb_ops[op].name,
			     .dtype = x->dtype,
			     .width = (size_t)lb_width_of(x->dtype),
			     .width_to = (size_t)lb_width_of(lb_linalg_dtype(op, x->dtype, has_vectors)),
			     .m = (int)m,
			     .n = (int)n,
			     .k = (int)(m < n ? m : n),
			     .upper = upper,
			     .has_vectors = has_vectors };
}

bool lb_kernel_linalg(struct lb_exec *exec, int op, const struct lb_view *x, bool upper, bool has_vectors, void *to)
{
	struct job j = begin(exec, op, x, upper, has_vectors);
	if (!fits(&j, x))
		return false;
	if (op != LB_OP_QR && op != LB_OP_SVD && op != LB_OP_LU && j.m != j.n)
		return lb_fail("%s: %d by %d is not square", j.name, j.m, j.n);
	return run_solver(&j, x, NULL, to);
}

bool lb_kernel_solve(struct lb_exec *exec, int op, const struct lb_view *a, const struct lb_view *b, bool upper,
		     void *to)
{
	struct job j = begin(exec, op, a, upper, false);
	if (!fits(&j, a) || !fits(&j, b))
		return false;
	if (j.m != j.n || b->rank != a->rank || b->dtype != a->dtype || b->shape[b->rank - 2] != j.n)
		return lb_fail("%s: a and b do not go together", j.name);
	j.k = (int)b->shape[b->rank - 1];
	return run_solver(&j, a, b, to);
}
