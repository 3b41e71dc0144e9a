/* Slices as Python has them. The expected values were taken from NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "inspect/tensor/slice.h"
#include "lazybones.h"

/* Over arange(2 * 3 * 10).reshape(2, 3, 10): the result's shape, and its elements (the first
 * eight of them). */
static const struct {
	const char *text, *shape, *elements;
} good[] = {
	{ "", "2,3,10,", "0 1 2 3 4 5 6 7" },
	{ "[0]", "3,10,", "0 1 2 3 4 5 6 7" },
	{ "[-1,-1,-1]", "", "59" },
	{ "[1, 2]", "10,", "50 51 52 53 54 55 56 57" },
	{ "[0,:,2:8:2]", "3,3,", "2 4 6 12 14 16 22 24" },
	{ "[...,-1]", "2,3,", "9 19 29 39 49 59" },
	{ "[0,...]", "3,10,", "0 1 2 3 4 5 6 7" },
	{ "[0,...,0]", "3,", "0 10 20" },
	{ "[0,1,2,...]", "", "12" },
	{ "[::-1]", "2,3,10,", "30 31 32 33 34 35 36 37" },
	{ "[0,0,::-1]", "10,", "9 8 7 6 5 4 3 2" },
	{ "[0,0,8:2:-2]", "3,", "8 6 4" },
	{ "[0,0,-3:]", "3,", "7 8 9" },
	{ "[0,0,:-8]", "2,", "0 1" },
	{ "[0,0,5:100]", "5,", "5 6 7 8 9" },
	{ "[0,0,-100:2]", "2,", "0 1" },
	{ "[0,0,100:-100:-4]", "3,", "9 5 1" },
	{ "[0,0,7:3]", "0,", "" },
	{ "[0,0,3:7:-1]", "0,", "" },
	{ "[0,0,:0:-3]", "3,", "9 6 3" },
	{ "[0,0,::9223372036854775807]", "1,", "0" },
	{ "[0,0,::-9223372036854775808]", "1,", "9" },
	{ "[0,0,-9223372036854775808:9223372036854775807]", "10,", "0 1 2 3 4 5 6 7" },
	{ "[None,0]", "1,3,10,", "0 1 2 3 4 5 6 7" },
	{ "[:,None,0,0]", "2,1,", "0 30" },
	{ "[1][2][3]", "", "53" },
	{ "[1:][0][::2,0]", "2,", "30 50" },
	{ " [ 1 , 0 : 2 , 1 ] ", "2,", "31 41" },
	{ "[0,0,2:,]", "8,", "2 3 4 5 6 7 8 9" },
	{ "[5:]", "0,3,10,", "" },
	{ "[5:][:,0]", "0,10,", "" },
};

#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(x) FOUR(x) FOUR(x) FOUR(x)

static const struct {
	const char *text, *message;
} bad[] = {
	{ "[2]", "index 2 is out of range for axis 0 with size 2" },
	{ "[0,-4]", "index -4 is out of range for axis 1 with size 3" },
	{ "[0,0,10]", "index 10 is out of range for axis 2 with size 10" },
	{ "[-9223372036854775808]", "out of range for axis 0" },
	{ "[9223372036854775808]", "does not fit 64 bits" },
	{ "[0,0,0,0]", "4 indices for 3 axes" },
	{ "[...,...]", "a second '...'" },
	{ "[0,0,::0]", "a step of 0" },
	{ "[]", "[] is empty" },
	{ "[0", "a ] is missing" },
	{ "[0,", "a ] is missing" },
	{ "[0:", "a ] is missing" },
	{ "[0 1]", "expected , or ]" },
	{ "[a]", "expected an index" },
	{ "[0]x", "expected [" },
	{ "[,]", "expected an index" },
	{ "[--1]", "expected an index" },
	{ "[0.5]", "expected , or ]" },
	{ "[" SIXTEEN("None,") SIXTEEN("None,") SIXTEEN("None,") SIXTEEN("None,") "]", "more than 64 axes" },
	{ "[" SIXTEEN("0,0,0,0,") SIXTEEN("0,0,0,0,") "0]", "more than 128 indices" },
	{ "[5:][0]", "out of range for axis 0 with size 0" },
};

static struct lbx_array array_of(int32_t *elements)
{
	static const int64_t shape[] = { 2, 3, 10 }, strides[] = { 30, 10, 1 };
	struct lbx_array a;

	for (int i = 0; i < 60; i++)
		elements[i] = i;
	assert_true(lbx_array_local(elements, 60 * 4, LB_I32, 3, shape, strides, 0, &a));
	return a;
}

static void as_python(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		int32_t elements[60], taken[8];
		struct lbx_array a = array_of(elements);
		struct lbx_slice slice;
		char shape[64] = "", text[128] = "";
		assert_true(lbx_slice_parse(good[i].text, &slice));
		assert_true(lbx_slice_apply(&slice, &a));
		for (int k = 0; k < a.rank; k++)
			sprintf(shape + strlen(shape), "%d,", (int)a.shape[k]);
		assert_string_equal(shape, good[i].shape);
		int64_t n = a.size < 8 ? a.size : 8;
		assert_true(lbx_array_copy(&a, 0, n, taken));
		for (int64_t k = 0; k < n; k++)
			sprintf(text + strlen(text), "%s%d", k ? " " : "", taken[k]);
		assert_string_equal(text, good[i].elements);
	}
}

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int32_t elements[60];
		struct lbx_array a = array_of(elements);
		struct lbx_slice slice;
		lb_clear_error();
		assert_false(lbx_slice_parse(bad[i].text, &slice) && lbx_slice_apply(&slice, &a));
		if (!strstr(lb_error_message(), bad[i].message))
			fail_msg("%s: %s", bad[i].text, lb_error_message());
		/* nor of the shape alone */
		lb_clear_error();
		a = array_of(elements);
		assert_false(lbx_slice_parse(bad[i].text, &slice) && lbx_slice_check(&slice, a.rank, a.shape));
		if (!strstr(lb_error_message(), bad[i].message))
			fail_msg("%s: %s", bad[i].text, lb_error_message());
	}
	lb_clear_error();
}

/* Without elements, strides and sizes may be anything. */
static void empty_with_wild_strides(void **state)
{
	static const int64_t shape[] = { 0, INT64_MAX }, strides[] = { INT64_MIN, INT64_MAX };
	static const char *const texts[] = { "[:,::-1]", "[:, 9223372036854775806]", "[None,::5,3:]" };
	struct lbx_slice slice;
	struct lbx_array a;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(lbx_array_local("", 0, LB_F32, 2, shape, strides, INT64_MAX, &a));
		assert_true(lbx_slice_parse(texts[i], &slice));
		assert_true(lbx_slice_apply(&slice, &a));
		assert_int_equal(a.size, 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_python),
		cmocka_unit_test(refused),
		cmocka_unit_test(empty_with_wild_strides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
