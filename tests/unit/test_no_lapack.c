/* A program whose BLAS has no LAPACK: what needs it says so, and what it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "kernels/kernels.h"
#include "lazybones.h"
#include "probe.h"

/* The program's own; the products here are too small for it. */
void cblas_sgemm(void);
void cblas_dgemm(void);
void cblas_cgemm(void);

void cblas_sgemm(void)
{
	abort();
}

void cblas_dgemm(void)
{
	abort();
}

void cblas_cgemm(void)
{
	abort();
}

static void without_lapack(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_eye(3, 3, 0, LB_F32), *u, *s, *vt;
		assert_false(lb_eval(lb_inv(x)));
		assert_true(error_has("inv LAPACK install libopenblas0"));
		assert_false(lb_eval(lb_solve(x, x)));
		assert_true(error_has("solve LAPACK install"));
		assert_true(lb_svd(x, &u, &s, &vt));
		assert_false(lb_eval(s));
		assert_true(error_has("svd LAPACK install"));
		assert_true(lb_eval(lb_matmul(x, x), lb_norm(x, LB_ALL_AXES, false)));
		assert_string_equal(lb_blas_name(), "linked");
		assert_true(lb_eval(lb_det(lb_zeros(LB_SHAPE(2, 0, 0), LB_F32)))); /* 1 is known without it */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_lapack),
	};
	return cmocka_run_group_tests_name("no_lapack", tests, NULL, NULL);
}
