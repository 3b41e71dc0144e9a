/* A program that finds no FFTW: what needs it says so, and what it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>

#include "lazybones.h"
#include "probe.h"

/* The program's own, which comes before the C library's. */
void *dlopen(const char *name, int flags)
{
	(void)name, (void)flags;
	return NULL;
}

static void without_fftw(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(3, 4), LB_F32);
		assert_false(lb_eval(lb_rfft(x, 0, 1, LB_FFT_BACKWARD)));
		assert_true(error_has("rfft needs FFTW install libfftw3-single3"));
		assert_false(lb_eval(lb_ifft2(x, LB_SHAPE(), LB_FFT_BACKWARD)));
		assert_true(error_has("ifft needs FFTW"));
		assert_true(lb_eval(lb_fftshift(x, LB_ALL_AXES), lb_fftfreq(4, 1)));
		assert_true(lb_eval(lb_fft(lb_zeros(LB_SHAPE(0, 4), LB_F32), 0, 1,
					   LB_FFT_BACKWARD))); /* nothing to do */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_fftw),
	};
	return cmocka_run_group_tests_name("no_fftw", tests, NULL, NULL);
}
