/* Reads in order are few, whatever their size, and say what is there; those out of order read nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "lazybones.h"
#include "target/window.h"

enum { AT = 0x10000, SIZE = 0x23456, STEP = 336 };

static struct {
	struct lbx_target target;
	bool reads_ahead;
	int reads;
	size_t bytes;
} made;

static unsigned char byte_at(uint64_t address)
{
	return (unsigned char)(address * 2654435761u >> 13);
}

static bool read_made(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	made.reads++;
	if (address < AT || n > SIZE || address - AT > SIZE - n)
		return lb_fail("nothing at 0x%llx", (unsigned long long)address);
	made.bytes += n;
	for (size_t i = 0; i < n; i++)
		((unsigned char *)to)[i] = byte_at(address + i);
	return true;
}

static bool read_ahead_made(struct lbx_target *target, uint64_t address, uint64_t n)
{
	(void)target;
	(void)address;
	(void)n;
	return made.reads_ahead;
}

static int set_up(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_made, .read_ahead = read_ahead_made };

	(void)state;
	made = (__typeof__(made)){ .target = { .ops = &ops }, .reads_ahead = true };
	return 0;
}

static void must_read(struct lbx_window *w, uint64_t address, size_t n)
{
	unsigned char bytes[STEP];

	assert_true(lbx_target_read(&w->target, address, bytes, n));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(bytes[i], byte_at(address + i));
}

static void reads_in_order_are_few(void **state)
{
	static struct lbx_window w;
	unsigned char byte;

	(void)state;
	lbx_window_init(&w, &made.target);
	for (uint64_t at = AT; at + STEP <= AT + SIZE; at += 2 * STEP)
		must_read(&w, at, 1 + at % STEP);
	assert_true(made.reads < 30);
	assert_false(lbx_target_try_read(&w.target, AT + SIZE, &byte, 1));
	assert_false(lbx_target_try_read(&w.target, AT - 1, &byte, 1));
	assert_false(lbx_target_try_read(&w.target, UINT64_MAX, &byte, 1));
	assert_true(lb_ok());
	must_read(&w, AT + SIZE - 1, 1);
}

static void reads_out_of_order_are_exact(void **state)
{
	static struct lbx_window w;

	(void)state;
	lbx_window_init(&w, &made.target);
	for (uint64_t at = AT + SIZE - STEP; at >= AT + STEP; at -= STEP)
		must_read(&w, at, STEP);
	assert_int_equal(made.bytes, made.reads * STEP);
}

static void nothing_is_read_ahead_where_it_must_not_be(void **state)
{
	static struct lbx_window w;

	(void)state;
	made.reads_ahead = false;
	lbx_window_init(&w, &made.target);
	for (uint64_t at = AT; at + STEP <= AT + SIZE; at += STEP)
		must_read(&w, at, STEP);
	assert_int_equal(made.bytes, made.reads * STEP);
}

static void a_walk_is_of_who_goes_on_with_it(void **state)
{
	static struct lbx_walk walk;

	(void)state;
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 0), &made.target); /* nobody has begun */
	lbx_walk_begin(&walk, &made.target);
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 0), &walk.window.target);
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 1), &walk.window.target);
	/* somebody else has not come as far, or further, and does not move it */
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 1), &made.target);
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 3), &made.target);
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 2), &walk.window.target);
	lbx_walk_begin(&walk, &made.target);
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 3), &made.target);
	assert_ptr_equal(lbx_walk_target(&walk, &made.target, 0), &walk.window.target);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reads_in_order_are_few, set_up),
		cmocka_unit_test_setup(reads_out_of_order_are_exact, set_up),
		cmocka_unit_test_setup(nothing_is_read_ahead_where_it_must_not_be, set_up),
		cmocka_unit_test_setup(a_walk_is_of_who_goes_on_with_it, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
