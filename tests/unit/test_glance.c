/* A tensor in one line: what is told whole, and what is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/answer.h"
#include "inspect/show/glance.h"
#include "session.h"

static const char *glance(struct session *s, const char *text, bool json)
{
	s->n = 0;
	s->text[0] = '\0';
	s->out.json = json;
	s->out.width = 400;
	lbx_begin(&s->out, NULL);
	lbx_wrap(&s->out, 0, 4);
	bool done = lbx_glance(&s->context, &(struct lbx_glance){ .text = text });
	lbx_end(&s->out);
	assert_true(lb_ok());
	assert_true(done);
	return s->text;
}

/* x is 4 x 6 x 10 quarters from 0 on, at 0x200000. */
static void a_few_elements_are_told_themselves(void **state)
{
	struct session *s = *state;

	assert_string_equal(glance(s, "x[1, 2, 3]", false), "x[1, 2, 3]: float32 (), ready: 20.75\n");
	assert_string_equal(glance(s, "x[0, :2, :3]", false),
			    "x[0, :2, :3]: float32 (2, 3), ready: [[0.0 0.25 0.5] [2.5 2.75 3.0]]\n");
	assert_string_equal(glance(s, "x[:1, :1, 8:]", false),
			    "x[:1, :1, 8:]: float32 (1, 1, 2), ready: [[[2.0 2.25]]]\n");
	assert_string_equal(glance(s, "x[:2, :2, 9:]", false),
			    "x[:2, :2, 9:]: float32 (2, 2, 1), ready: [[[2.25] [4.75]] [[17.25] [19.75]]]\n");
	assert_string_equal(glance(s, "x[4:]", false), "x[4:]: float32 (0, 6, 10), ready: []\n");
	assert_string_equal(glance(s, "x[0, 0, :7]", false),
			    "x[0, 0, :7]: float32 (7,), ready: min 0, max 1.5, mean 0.75, no NaN\n");
	assert_non_null(strstr(glance(s, "x[0, :2, :2]", true), "\"values\":[[0.0,0.25],[2.5,2.75]]"));
	assert_non_null(strstr(glance(s, "x", true), "\"min\":0.0,\"max\":59.75,\"mean\":29.875,\"nan_count\":0,"));
}

/* Two million elements that are one in memory. */
static void no_more_are_looked_at_than_a_million(void **state)
{
	assert_non_null(strstr(glance(*state, "@0x200004:f32:2000000:0", false), "the first 1048576: "));
	assert_non_null(strstr(glance(*state, "@0x200004:f32:2000000:0", true), "\"count\":1048576}"));
	assert_non_null(strstr(glance(*state, "@0x200004:f32:1048576:0", true), "\"count\":1048576}"));
	assert_null(strstr(glance(*state, "@0x200004:f32:1048576:0", false), "first"));
}

static void integers_are_exact_and_nan_is_counted(void **state)
{
	struct session *s = *state;
	const uint64_t large[7] = { UINT64_MAX, 1, 2, 3, 4, 5, 6 };
	const uint32_t bits[7] = { 0x7fc00000, 0x7fc00000, 0x3f800000, 0x7f800000, 0, 0, 0 };

	memcpy(image_at(&s->image, IMAGE_DATA, sizeof large), large, sizeof large);
	assert_non_null(strstr(glance(s, "@0x200000:u64:7", false), ": min 1, max 18446744073709551615, mean "));
	memcpy(image_at(&s->image, IMAGE_DATA, sizeof bits), bits, sizeof bits);
	assert_non_null(strstr(glance(s, "@0x200000:f32:7", false), ": min 0, max inf, mean 0.25, 2 NaN\n"));
	assert_non_null(strstr(glance(s, "@0x200000:f32:7:0", false), ": all NaN\n"));
	assert_non_null(strstr(glance(s, "@0x200000:f32:7:0", true),
			       "\"min\":null,\"max\":null,\"mean\":null,\"nan_count\":7"));
}

static void what_cannot_be_looked_at_says_so(void **state)
{
	struct session *s = *state;

	assert_string_equal(glance(s, "nobody", false), "nobody: no such tensor here\n");
	assert_string_equal(glance(s, "nobody", true),
			    "{\"expression\":\"nobody\",\"error\":\"no such tensor here\"}\n");
	assert_non_null(strstr(glance(s, "x[9]", false), "x[9]: index 9 is out of range for axis 0 with size 4\n"));
	assert_null(strstr(glance(s, "@0x10:f32:3", false), "["));
	assert_non_null(strstr(glance(s, "x[", false), "x[: no such tensor here\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_few_elements_are_told_themselves, session_start, session_stop),
		cmocka_unit_test_setup_teardown(no_more_are_looked_at_than_a_million, session_start, session_stop),
		cmocka_unit_test_setup_teardown(integers_are_exact_and_nan_is_counted, session_start, session_stop),
		cmocka_unit_test_setup_teardown(what_cannot_be_looked_at_says_so, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
