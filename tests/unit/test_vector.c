/* base/vector.h: room doubles, keeps what is there, and is refused where it cannot be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/vector.h"

static void room_doubles_and_keeps_the_elements(void **state)
{
	uint64_t *v = NULL;
	uint32_t n = 0, room = 0, moves = 0;

	(void)state;
	while (n < 100000) {
		uint32_t before = room;
		assert_true(lb_reserve(v, room, n + 1));
		moves += room != before;
		v[n] = n;
		n++;
	}
	assert_in_range(moves, 1, 14);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(v[i], i);
	/* nothing moves where there is room */
	uint64_t *same = v;
	assert_true(lb_reserve(v, room, room));
	assert_ptr_equal(v, same);
	free(v);
}

static void much_may_be_wanted_at_once(void **state)
{
	char *v = NULL;
	int room = 0;

	(void)state;
	assert_true(lb_reserve(v, room, 12345));
	assert_in_range(room, 12345, 2 * 12345);
	v[12344] = 'x';
	free(v);
}

static void too_much_is_refused_and_all_stays(void **state)
{
	uint64_t *v = NULL;
	int64_t room = 0;

	(void)state;
	assert_true(lb_reserve(v, room, 3));
	v[2] = 7;
	int64_t before = room;
	assert_false(lb_reserve(v, room, INT64_MAX));
	assert_int_equal(room, before);
	assert_int_equal(v[2], 7);
	free(v);
}

/* A number of elements that its own type cannot hold. */
static void room_stays_within_its_type(void **state)
{
	char *v = NULL;
	int8_t room = 0;
	int n = 0;

	(void)state;
	for (; lb_reserve(v, room, n + 1); n++)
		v[n] = 1;
	assert_int_equal(n, INT8_MAX);
	assert_int_equal(room, INT8_MAX);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_doubles_and_keeps_the_elements),
		cmocka_unit_test(much_may_be_wanted_at_once),
		cmocka_unit_test(too_much_is_refused_and_all_stays),
		cmocka_unit_test(room_stays_within_its_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
