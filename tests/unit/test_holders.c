/* Who holds a buffer, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "inspect/memory/holders.h"

enum { MEBI = 1 << 20 };

static const char *said(int64_t bytes, int64_t named)
{
	static char text[512];
	const struct lbx_holder h = {
		.bytes = bytes, .named = named, .n_tensors = 2, .tensors = { { .id = 4, .name = "view" }, { .id = 15 } }
	};

	lbx_describe_holder(&h, text, sizeof text);
	return text;
}

static void a_small_view_pins_a_large_buffer(void **state)
{
	(void)state;
	assert_string_equal(said(16 * MEBI, 64), "view #4, #15; no more than 64 B of it have a name");
	assert_string_equal(said(16 * MEBI, MEBI), "view #4, #15; no more than 1.0 MiB of it have a name");
}

/* As that of nobody's name, where no lazy tensor needs it. */
static void a_small_view_without_a_name_does_so_too(void **state)
{
	struct lbx_holder h = { .bytes = 16 * MEBI, .covered = 64, .n_tensors = 1, .tensors = { { .id = 4 } } };
	char text[512];

	(void)state;
	lbx_describe_holder(&h, text, sizeof text);
	assert_string_equal(text, "#4; no more than 64 B of it are in use");
	h.covered = MEBI;
	assert_false(lbx_holder_is_pinned(&h));
	h.covered = 64;
	h.scope = true;
	assert_false(lbx_holder_is_pinned(&h));
	h.scope = false;
	h.n_consumers = 1;
	assert_false(lbx_holder_is_pinned(&h));
	h.n_consumers = 0;
	h.bytes--;
	assert_false(lbx_holder_is_pinned(&h));
}

static void what_is_used_or_small_or_unnamed_is_not_pinned(void **state)
{
	(void)state;
	assert_string_equal(said(16 * MEBI, MEBI + 4), "view #4, #15");
	assert_string_equal(said(16 * MEBI, 0), "view #4, #15");
	assert_string_equal(said(MEBI - 4, 64), "view #4, #15");
}

static void nobody_has_no_number(void **state)
{
	struct lbx_holder h = { .bytes = MEBI, .buffer = { .tensor = 7 } };
	char text[512];

	(void)state;
	lbx_describe_holder(&h, text, sizeof text);
	assert_string_equal(text, "no tensor's (allocated for #7)");
	h.buffer.tensor = 0;
	lbx_describe_holder(&h, text, sizeof text);
	assert_string_equal(text, "no tensor's");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_view_without_a_name_does_so_too),
		cmocka_unit_test(a_small_view_pins_a_large_buffer),
		cmocka_unit_test(what_is_used_or_small_or_unnamed_is_not_pinned),
		cmocka_unit_test(nobody_has_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
