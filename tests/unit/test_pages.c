/* What was read of a program that runs stays as it was, and nothing is kept that nobody asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"
#include "target/pages.h"

enum { UNIT = LBX_PAGES_UNIT, PAGE = 4096, SIZE = 64 * UNIT };

static struct {
	struct lbx_target target; /* first */
	int reads;
	uint64_t start, end; /* of what can be read */
	unsigned char moment; /* what all its bytes are now */
} made;

static bool read_made(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	made.reads++;
	if (address < made.start || n > made.end - made.start || address - made.start > made.end - made.start - n)
		return lb_fail("nothing at 0x%llx", (unsigned long long)address);
	memset(to, made.moment, n);
	return true;
}

static int set_up(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_made };

	(void)state;
	made = (__typeof__(made)){ .target = { .ops = &ops }, .start = SIZE, .end = 2 * SIZE, .moment = 1 };
	return 0;
}

/* Of which moment a byte is; 0: it cannot be read. */
static int moment(struct lbx_pages *pages, uint64_t address)
{
	const unsigned char *byte = lbx_pages_take(pages, &made.target, address, 1);

	return byte ? *byte : 0;
}

static void what_was_read_stays(void **state)
{
	struct lbx_pages *pages = lbx_pages_create(SIZE);

	(void)state;
	assert_null(lbx_pages_kept(pages, SIZE, 1));
	assert_int_equal(made.reads, 0);
	assert_int_equal(moment(pages, SIZE + 8), 1);
	made.moment = 2;
	const unsigned char *first = lbx_pages_take(pages, &made.target, SIZE, UNIT);
	assert_non_null(first);
	for (size_t i = 0; i < UNIT; i++)
		assert_int_equal(first[i], 1);
	assert_int_equal(moment(pages, SIZE + UNIT), 2);
	assert_int_equal(made.reads, 2);
	made.moment = 3;
	for (uint64_t at = SIZE; at < 2 * SIZE; at += UNIT / 2)
		moment(pages, at);
	assert_int_equal(made.reads, SIZE / UNIT);
	assert_ptr_equal(lbx_pages_kept(pages, SIZE, UNIT), first);
	assert_int_equal(moment(pages, SIZE + UNIT - 1), 1);
	assert_int_equal(moment(pages, SIZE + 2 * UNIT - 1), 2);
	assert_int_equal(moment(pages, 2 * SIZE - 1), 3);
	lbx_pages_destroy(pages);
}

/* Memory may begin, or end, within a unit. */
static void what_can_be_read_of_a_unit_is(void **state)
{
	struct lbx_pages *pages = lbx_pages_create(SIZE);

	(void)state;
	made.start = SIZE + PAGE;
	made.end = SIZE + 3 * PAGE;
	assert_int_equal(moment(pages, SIZE), 0);
	assert_int_equal(moment(pages, SIZE + PAGE), 1);
	assert_null(lbx_pages_take(pages, &made.target, SIZE + 3 * PAGE - 1, 2));
	made.moment = 2;
	assert_int_equal(moment(pages, SIZE + 2 * PAGE - 1), 1);
	assert_int_equal(moment(pages, SIZE + 3 * PAGE), 0);
	assert_int_equal(moment(pages, SIZE + 3 * PAGE - 1), 1);
	assert_int_equal(moment(pages, UINT64_MAX), 0);
	assert_true(lb_ok());
	lbx_pages_destroy(pages);
}

/* What cannot be read takes none of the room. */
static void there_is_an_end_of_it(void **state)
{
	struct lbx_pages *pages = lbx_pages_create(2 * UNIT);

	(void)state;
	for (uint64_t at = 2 * SIZE; at < 3 * SIZE; at += UNIT)
		assert_int_equal(moment(pages, at), 0);
	assert_int_equal(moment(pages, SIZE), 1);
	assert_int_equal(moment(pages, SIZE + UNIT), 1);
	assert_int_equal(moment(pages, SIZE + 2 * UNIT), 0);
	made.moment = 2;
	assert_int_equal(moment(pages, SIZE + UNIT), 1);
	lbx_pages_destroy(pages);
	lbx_pages_destroy(NULL);
}

static void *take_all(void *pages)
{
	uintptr_t wrong = 0;

	for (uint64_t at = SIZE; at < 2 * SIZE; at += PAGE)
		wrong += moment(pages, at) != 1;
	return (void *)wrong;
}

static void threads_may_share_it(void **state)
{
	struct lbx_pages *pages = lbx_pages_create(SIZE);
	pthread_t threads[4];
	void *wrong;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_all, pages), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_int_equal(made.reads, SIZE / UNIT);
	lbx_pages_destroy(pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_was_read_stays, set_up),
		cmocka_unit_test_setup(what_can_be_read_of_a_unit_is, set_up),
		cmocka_unit_test_setup(there_is_an_end_of_it, set_up),
		cmocka_unit_test_setup(threads_may_share_it, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
