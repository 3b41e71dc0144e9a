/* Tables of numbers: what was put in is found, and nothing else, however many there are and whatever is alike in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/number_map.h"
#include "lazybones.h"

enum { MANY = 100000 };

static const char ours, theirs;

static void an_empty_one(void **state)
{
	struct lbx_number_map map = { 0 };

	(void)state;
	assert_null(lbx_number_find(&map, NULL, 1));
	lbx_number_map_deinit(&map);
}

/* Multiples of a large power of two, which differ in no low bit. */
static void many(void **state)
{
	struct lbx_number_map map = { 0 };
	bool is_new;

	(void)state;
	for (uint32_t i = 1; i <= MANY; i++) {
		struct lbx_number *number = lbx_number_at(&map, NULL, (uint64_t)i << 40, &is_new);
		assert_non_null(number);
		assert_true(is_new);
		assert_int_equal(number->value, 0);
		number->value = i;
	}
	assert_int_equal(map.n, MANY);
	assert_true(map.n_slots >= 2 * map.n);
	for (uint32_t i = 1; i <= MANY; i++) {
		const struct lbx_number *number = lbx_number_find(&map, NULL, (uint64_t)i << 40);
		assert_non_null(number);
		assert_int_equal(number->value, i);
		assert_null(lbx_number_find(&map, NULL, ((uint64_t)i << 40) + 1));
	}
	lbx_number_map_deinit(&map);
	assert_int_equal(map.n, 0);
	assert_null(map.slots);
}

static void one_twice(void **state)
{
	struct lbx_number_map map = { 0 };
	bool is_new;

	(void)state;
	lbx_number_at(&map, NULL, 7, &is_new)->value = 12;
	assert_int_equal(lbx_number_at(&map, NULL, 7, &is_new)->value, 12);
	assert_false(is_new);
	assert_int_equal(map.n, 1);
	lbx_number_map_deinit(&map);
}

/* A sum that is the same, and a key that is, of several. */
static void of_several(void **state)
{
	struct lbx_number_map map = { 0 };
	uint64_t apart = (uint64_t)((uintptr_t)&theirs - (uintptr_t)&ours);
	bool is_new;

	(void)state;
	lbx_number_at(&map, &ours, 1000 + apart, &is_new)->value = 1;
	assert_null(lbx_number_find(&map, &theirs, 1000));
	assert_null(lbx_number_find(&map, &theirs, 1000 + apart));
	lbx_number_at(&map, &theirs, 1000, &is_new)->value = 2;
	assert_true(is_new);
	lbx_number_at(&map, &theirs, 1000 + apart, &is_new)->value = 3;
	assert_true(is_new);
	assert_int_equal(lbx_number_find(&map, &ours, 1000 + apart)->value, 1);
	assert_int_equal(lbx_number_find(&map, &theirs, 1000)->value, 2);
	assert_int_equal(lbx_number_find(&map, &theirs, 1000 + apart)->value, 3);
	assert_true(lb_ok());
	lbx_number_map_deinit(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one),
		cmocka_unit_test(many),
		cmocka_unit_test(one_twice),
		cmocka_unit_test(of_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
