/* Real numbers in JSON have no more digits than it takes. */
#include "inspect/reals.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void becomes(const char *json, const char *expected)
{
	char text[256];

	snprintf(text, sizeof text, "%s", json);
	lbx_shorten_reals(text);
	assert_string_equal(text, expected);
}

static void numbers_have_the_fewest_digits(void **state)
{
	(void)state;
	becomes("0.90000000000000002", "0.9");
	becomes("[-0.10000000000000001,0.29999999999999999,0.30000000000000004]", "[-0.1,0.3,0.30000000000000004]");
	becomes("{\"rtol\":1.0000000000000001e-5,\"n\":4.1500000000000004}", "{\"rtol\":1e-5,\"n\":4.15}");
	becomes("[1.0000000000000001e300,-2.4999999999999999e-101]", "[1e300,-2.5e-101]");
	becomes("[4.9406564584124654e-324,2.2250738585072014e-308]", "[5e-324,2.2250738585072014e-308]");
	becomes("1.7976931348623157e308", "1.7976931348623157e308");
	becomes("10000000000000000.0", "1e16");
}

static void all_else_stays(void **state)
{
	static const char *const texts[] = {
		"",
		"null",
		"[4.0,1.5,-0.0]",
		"[10000000000000000000,9007199254740993]",
		"{\"0.90000000000000002\":\"0.10000000000000001\"}",
		"\"a\\\"0.10000000000000001\"",
		"\"\\\\\"",
		"\"",
		"\"\\",
		"-",
		"[true,{}]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		becomes(texts[i], texts[i]);
}

/* Any number reads back as it was, and one of fewer digits would not. */
static void they_read_back(void **state)
{
	uint64_t bits = 88172645463325252ULL;
	char text[64], shorter[64];
	double value, back;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof value);
		if (i % 2)
			value = (double)(int64_t)bits / 1e12;
		if (!isfinite(value))
			continue;
		snprintf(text, sizeof text, "%.17g", value);
		if (!strpbrk(text, ".e"))
			continue;
		lbx_shorten_reals(text);
		back = strtod(text, NULL);
		assert_memory_equal(&back, &value, sizeof value);
		int digits = 0;
		for (const char *at = text; *at && *at != 'e'; at++)
			digits += *at >= '0' && *at <= '9' && (digits || *at != '0');
		if (digits < 16)
			continue;
		snprintf(shorter, sizeof shorter, "%.*g", digits - 1, value);
		assert_true(strtod(shorter, NULL) != value);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_fewest_digits),
		cmocka_unit_test(all_else_stays),
		cmocka_unit_test(they_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
