/* What linear algebra says of matrices that it cannot take, at once or when they are computed. Values are tested by
 * test_ops, gradients by test_grad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/tensor.h"
#include "ops/operation.h"
#include "probe.h"

static lb_tensor *of(lb_dtype dtype, lb_list shape)
{
	return lb_ones(shape, dtype);
}

#define MATRIX(m, n) of(LB_F32, LB_SHAPE(m, n))

static void at_once(void **state)
{
	(void)state;
	lb_tensor *a, *b, *c;
	FAILS_AT_ONCE(lb_inv(MATRIX(2, 3)), "inv (2,3) square");
	FAILS_AT_ONCE(lb_inv(of(LB_F32, LB_SHAPE(3))), "inv (3) two axes");
	FAILS_AT_ONCE(lb_inv(of(LB_F16, LB_SHAPE(3, 3))), "inv float16 lb_astype");
	FAILS_AT_ONCE(lb_tri_inv(of(LB_I32, LB_SHAPE(3, 3)), true), "tri_inv int32");
	FAILS_AT_ONCE(lb_cholesky(MATRIX(3, 2), false), "cholesky (3,2)");
	FAILS_AT_ONCE(lb_inv(of(LB_C64, LB_SHAPE(2, 2))), "inv: of complex64: takes float32 and float64");
	FAILS_AT_ONCE(lb_solve(of(LB_C64, LB_SHAPE(2, 2)), MATRIX(2, 2)),
		      "solve: of complex64: takes float32 and float64");
	FAILS_AT_ONCE(lb_eigvals(of(LB_F16, LB_SHAPE(2, 2))),
		      "eigvals: of float16: takes float32, float64 and complex64; cast");
	FAILS_AT_ONCE(lb_det(of(LB_C64, LB_SHAPE(2, 2))), "det: complex64 lb_eigvals");
	FAILS_AT_ONCE(lb_det(MATRIX(1, 2)), "det (1,2)");
	FAILS_AT_ONCE(lb_pinv(of(LB_F32, LB_SHAPE(3))), "pinv: svd (3)");
	FAILS_AT_ONCE(lb_svdvals(lb_broadcast_to(lb_scalar(1), LB_SHAPE(INT64_MAX / 8, 0, 4))), "");
	FAILS_AT_ONCE(lb_solve(MATRIX(3, 3), MATRIX(2, 3)), "solve b (2,3) a (3,3)");
	FAILS_AT_ONCE(lb_solve(MATRIX(3, 3), of(LB_F32, LB_SHAPE())), "solve () two axes");
	FAILS_AT_ONCE(lb_solve(of(LB_I32, LB_SHAPE(2, 2)), of(LB_I32, LB_SHAPE(2))), "solve int32");
	FAILS_AT_ONCE(lb_solve_triangular(of(LB_F32, LB_SHAPE(2, 3, 3)), of(LB_F32, LB_SHAPE(3, 3, 1)), false),
		      "solve_triangular");
	FAILS_AT_ONCE(lb_matrix_norm(MATRIX(2, 2), 3, 0, 1, false), "matrix_norm order 3");
	FAILS_AT_ONCE(lb_matrix_norm(MATRIX(2, 2), 1, 1, -1, false), "matrix_norm axis 1");
	FAILS_AT_ONCE(lb_vector_norm(MATRIX(2, 2), NAN, 1, false), "vector_norm NaN");
	FAILS_AT_ONCE(lb_norm(MATRIX(2, 2), LB_AXES(2), false), "norm 2");
	FAILS_AT_ONCE(lb_cross(MATRIX(2, 4), MATRIX(2, 4), -1), "cross (2,4) -1");
	FAILS_AT_ONCE(lb_cross(of(LB_F32, LB_SHAPE(3)), MATRIX(3, 3), 0), "cross (3) -2");
	LB_SCOPE { /* as the error of det advises: (1 + 2i) 5 - 3i 4 */
		float parts[] = { 1, 2, 0, 3, 4, 0, 5, 0 };
		lb_tensor *det =
		    lb_prod(lb_eigvals(lb_from_data(parts, sizeof parts, LB_SHAPE(2, 2), LB_C64)), LB_AXES(-1), false);
		assert_true(fabs(lb_item(lb_real(det)) - 5) < 1e-4 && fabs(lb_item(lb_imag(det)) + 2) < 1e-4);
	}
	LB_SCOPE {
		assert_false(lb_qr(of(LB_F16, LB_SHAPE(2, 2)), &a, &b));
		assert_true(!a && !b && error_has("qr float16"));
		assert_false(lb_svd(of(LB_I8, LB_SHAPE(2, 2)), &a, &b, &c));
		assert_true(!a && !b && !c && error_has("svd int8"));
		assert_false(lb_eigh(MATRIX(2, 3), false, &a, &b));
		assert_true(!a && !b && error_has("eigh (2,3)"));
		assert_false(lb_lu(of(LB_F16, LB_SHAPE(2, 3)), &a, &b, &c));
		assert_true(!a && !b && !c && error_has("lu float16"));
		assert_false(lb_lu_factor(of(LB_F32, LB_SHAPE(3)), &a, &b));
		assert_true(!a && !b && error_has("lu (3) two axes"));
		assert_false(lb_eig(MATRIX(2, 3), &a, &b));
		assert_true(!a && !b && error_has("eig (2,3)"));
		assert_false(lb_slogdet(of(LB_F32, LB_SHAPE(3)), &a, &b));
		assert_true(!a && !b && error_has("slogdet (3)"));
	}
}

#define FAILS(x, words) \
	do { \
		LB_SCOPE { \
			lb_tensor *x_ = (x); \
			assert_non_null(x_); \
			assert_false(lb_eval(x_)); \
			assert_true(error_has(words)); \
		} \
	} while (0)

static lb_tensor *values(const float *v)
{
	return lb_from_data(v, 8 * sizeof *v, LB_SHAPE(2, 2, 2), LB_F32);
}

static lb_tensor *part_of_svd(lb_tensor *x)
{
	lb_tensor *u, *s, *vt;
	return lb_svd(x, &u, &s, &vt) ? vt : NULL;
}

static lb_tensor *part_of_eigh(lb_tensor *x)
{
	lb_tensor *w, *v;
	return lb_eigh(x, false, &w, &v) ? w : NULL;
}

/* The second matrix is it. */
static void when_computed(void **state)
{
	(void)state;
	const float flat[] = { 1, 0, 0, 1, 1, 2, 2, 4 }, saddle[] = { 1, 0, 0, 1, 1, 2, 2, 1 };
	const float broken[] = { 1, 0, 0, 1, 1, NAN, 2, 3 }, zero[] = { 1, 0, 0, 1, 0, 0, 2, 3 };
	FAILS(lb_inv(values(flat)), "inv matrix 1 singular");
	FAILS(lb_solve(values(flat), lb_ones(LB_SHAPE(2), LB_F32)), "solve matrix 1 singular");
	FAILS(lb_tri_inv(values(zero), false), "tri_inv matrix 1 singular");
	FAILS(lb_solve_triangular(values(zero), lb_ones(LB_SHAPE(2), LB_F32), false),
	      "solve_triangular matrix 1 singular");
	FAILS(lb_cholesky(values(saddle), false), "cholesky matrix 1 positive definite");
	FAILS(lb_svdvals(values(broken)), "svd NaN");
	FAILS(part_of_svd(values(broken)), "svd NaN");
	FAILS(part_of_eigh(values(broken)), "eigh NaN");
	FAILS(lb_pinv(values(broken)), "svd NaN");
	FAILS(lb_eigvals(values(broken)), "eig NaN");
}

/* Factors there are of a singular matrix, too: a row that is zeros. */
/* As many as there may be. */
static void matrices_without_elements(void **state)
{
	lb_tensor *q, *r, *x = lb_zeros(LB_SHAPE((int64_t)1 << 56, 0, 0), LB_F32);

	(void)state;
	assert_true(lb_qr(x, &q, &r));
	assert_true(lb_eval(q, r, lb_inv(x), lb_cholesky(x, true)));
	assert_int_equal(lb_size(q), 0);
}

static void singular_factors(void **state)
{
	(void)state;
	LB_SCOPE {
		const float flat[] = { 1, 2, 2, 4 }, upper[] = { 2, 4, 0, 0 }, lower[] = { 1, 0, 0.5F, 1 };
		const uint32_t order[] = { 1, 0 }, swap[] = { 1, 1 };
		lb_tensor *x = lb_from_data(flat, sizeof flat, LB_SHAPE(2, 2), LB_F32), *rows, *l, *u, *both, *swaps;
		assert_true(lb_lu(x, &rows, &l, &u));
		assert_true(lb_lu_factor(x, &both, &swaps));
		assert_int_equal(lb_dtype_of(rows), LB_U32);
		assert_memory_equal(lb_data(u), upper, sizeof upper);
		assert_memory_equal(lb_data(l), lower, sizeof lower);
		assert_memory_equal(lb_data(rows), order, sizeof order);
		assert_memory_equal(lb_data(swaps), swap, sizeof swap);
		assert_memory_equal(lb_data(lb_slice(both, LB_AT(0))), upper, 8);
	}
}

/* Values are real, and of a diagonal that should be the real parts count. */
static void complex_matrices(void **state)
{
	(void)state;
	LB_SCOPE {
		const float of_two[] = { 2, 9, 99, 99, 0, -1, 3, -9 }, twice[] = { 3, 4, 0, 0, 0, 0, 0, 0 };
		lb_tensor *x = lb_from_data(of_two, sizeof of_two, LB_SHAPE(2, 2), LB_C64), *w, *v, *u, *s, *vt;
		lb_tensor *alone = lb_eigvalsh(x, false);
		assert_true(lb_eigh(x, false, &w, &v));
		assert_int_equal(lb_dtype_of(w), LB_F32);
		assert_int_equal(lb_dtype_of(alone), LB_F32);
		assert_int_equal(lb_dtype_of(v), LB_C64);
		for (int i = 0; i < 2; i++) {
			const float *got = lb_data(i ? w : alone);
			assert_true(got && fabs(got[0] - 1.381966) < 1e-5 && fabs(got[1] - 3.618034) < 1e-5);
		}
		assert_true(lb_svd(lb_from_data(twice, sizeof twice, LB_SHAPE(2, 2), LB_C64), &u, &s, &vt));
		assert_int_equal(lb_dtype_of(s), LB_F32);
		assert_true(fabs(lb_item(lb_slice(s, LB_AT(0))) - 5) < 1e-5);
		assert_int_equal(lb_dtype_of(u), LB_C64);
		lb_tensor *none = lb_zeros(LB_SHAPE(2, 0, 3), LB_C64);
		assert_true(lb_svd(none, &u, &s, &vt));
		assert_int_equal(
		    lb_item_int(lb_array_equal(vt, lb_broadcast_to(lb_eye(3, 3, 0, LB_F32), LB_SHAPE(2, 3, 3)), false)),
		    1);
		assert_int_equal(lb_size(s), 0);
		x = lb_multiply(x, lb_full(LB_SHAPE(), INFINITY, LB_C64));
		assert_false(lb_eval(lb_eigvals(x)));
		assert_true(error_has("eig NaN"));
	}
}

/* Its values alone have room in its result. */
static void damaged_record(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_eye(40, 40, 0, LB_F32), *y;
		const int64_t params[LB_PARAMS] = { 0, 1 }, shape[] = { 40 };
		y = lb_remake(&(struct lb_recipe){
		    .op = LB_OP_EIGVALSH, .dtype = LB_F32, .shape = { 1, shape }, .params = params, .n = 1, .x = &x });
		assert_non_null(y);
		assert_int_equal(y->params[1], 0);
		assert_true(lb_eval(y));
		assert_true(lb_item(lb_sum(y, LB_ALL_AXES, false)) == 40);
	}
}

static void one_operation(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *u, *s, *vt;
		assert_true(lb_svd(MATRIX(3, 2), &u, &s, &vt));
		assert_ptr_equal(lb_tensor_input(u, 0), lb_tensor_input(vt, 0));
		assert_ptr_equal(lb_tensor_input(u, 0), lb_tensor_input(s, 0));
		assert_false(lb_is_ready(u));
		assert_true(lb_eval(u, s, vt));
	}
}

/* Which is called where a debugger has stopped the program: no library is called then. */
static void in_a_debugger(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_inv(lb_eye(3, 3, 0, LB_F32));
		const char *why = lb_debug_eval(lb_id(x));
		assert_non_null(why);
		assert_non_null(strstr(why, "inv: within the program a debugger calls no LAPACK"));
		assert_true(lb_eval(x));
		assert_null(lb_debug_eval(lb_id(x)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_once),          TEST(when_computed),    TEST(matrices_without_elements),
		TEST(singular_factors), TEST(complex_matrices), TEST(damaged_record),
		TEST(one_operation),    TEST(in_a_debugger),
	};
	return cmocka_run_group_tests_name("linalg", tests, NULL, NULL);
}
