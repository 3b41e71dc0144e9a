/* Ranges of memory that hold NaN, against an array of bytes that says the same. */
#include "plugin/stops/tainted.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { BYTES = 200, TURNS = 20000 };

/* The set holds what the bytes say, in ranges that are apart and in order. */
static void same(const struct lbx_tainted *set, const unsigned char *bytes)
{
	size_t at = 0;

	for (size_t i = 0; i < set->n; i++) {
		assert_true(set->list[i].start < set->list[i].end);
		assert_true(i == 0 || set->list[i - 1].end < set->list[i].start);
	}
	for (uint64_t i = 0; i < BYTES; i++) {
		while (at < set->n && set->list[at].end <= i)
			at++;
		assert_int_equal(at < set->n && set->list[at].start <= i, bytes[i]);
	}
}

static void it_is_a_set_of_bytes(void **state)
{
	struct lbx_tainted set = { .n = 0 };
	unsigned char bytes[BYTES] = { 0 };
	uint32_t random = 12345;

	(void)state;
	for (int turn = 0; turn < TURNS; turn++) {
		random = random * 1664525 + 1013904223;
		uint64_t start = (random >> 8) % BYTES, n = (random >> 20) % 40,
			 end = start + n < BYTES ? start + n : BYTES;
		bool adds = random >> 31, any = false;
		for (uint64_t i = start; i < end; i++)
			any |= bytes[i];
		assert_int_equal(lbx_tainted_has(&set, start, end), any);
		assert_true(adds ? lbx_tainted_add(&set, start, end) : lbx_tainted_remove(&set, start, end));
		for (uint64_t i = start; i < end; i++)
			bytes[i] = adds;
		same(&set, bytes);
	}
	lbx_tainted_clear(&set);
	assert_false(lbx_tainted_has(&set, 0, BYTES));
}

/* More than any list of fixed length. */
static void it_has_no_end(void **state)
{
	struct lbx_tainted set = { .n = 0 };

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		assert_true(lbx_tainted_add(&set, 64 * i, 64 * i + 8));
	assert_int_equal(set.n, 10000);
	assert_true(lbx_tainted_has(&set, 64 * 9999 + 7, 64 * 9999 + 9));
	assert_false(lbx_tainted_has(&set, 64 * 9999 + 8, UINT64_MAX));
	assert_true(lbx_tainted_remove(&set, 0, UINT64_MAX));
	assert_int_equal(set.n, 0);
	lbx_tainted_clear(&set);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_a_set_of_bytes),
		cmocka_unit_test(it_has_no_end),
	};
	return cmocka_run_group_tests_name("tainted", tests, NULL, NULL);
}
