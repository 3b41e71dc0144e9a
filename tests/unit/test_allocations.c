/* What the C library leaves in memory tells what a range of it was taken for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sanitizer.h"
#include "lazybones.h"
#include "target/allocations.h"
#include "target/process.h"

enum { AT = 0x100000, PAGE = 4096, PAGES = 8, SIZE = PAGES * PAGE, ITS_OWN = 2 };

static struct {
	struct lbx_target target;
	uint64_t words[SIZE / sizeof(uint64_t)];
	bool unreadable;
} made;

static bool read_made(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	if (made.unreadable || address < AT || n > SIZE || address - AT > SIZE - n)
		return lb_fail("nothing at 0x%llx", (unsigned long long)address);
	memcpy(to, (char *)made.words + (address - AT), n);
	return true;
}

static int set_up(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_made };

	(void)state;
	memset(&made, 0, sizeof made);
	made.target.ops = &ops;
	return 0;
}

static void put(uint64_t address, uint64_t word)
{
	made.words[(address - AT) / sizeof word] = word;
}

static uint64_t large(uint64_t start, uint64_t size)
{
	const struct lbx_range range = { start, size };
	uint64_t n = lbx_large_allocations(&made.target, &range);

	assert_true(lb_ok());
	return n;
}

static void allocations_with_pages_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(large(AT, SIZE), 0);
	put(AT + 8, 2 * PAGE | ITS_OWN);
	assert_int_equal(large(AT, SIZE), 2 * PAGE);
	assert_int_equal(large(AT, PAGE), 0); /* it would reach beyond */
	put(AT + 2 * PAGE + 8, PAGE | ITS_OWN);
	assert_int_equal(large(AT, SIZE), 3 * PAGE);
	assert_int_equal(large(AT, 3 * PAGE), 3 * PAGE);
	/* no such one: of a heap, of another one's heap, not whole pages, nothing, behind something */
	static const uint64_t others[] = { 2 * PAGE | 1, 2 * PAGE | ITS_OWN | 4, PAGE + 16 + ITS_OWN, ITS_OWN,
					   UINT64_MAX };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		put(AT + 8, others[i]);
		assert_int_equal(large(AT, SIZE), 0);
	}
	put(AT + 8, 2 * PAGE | ITS_OWN);
	put(AT, 1);
	assert_int_equal(large(AT, SIZE), 0);
	made.unreadable = true;
	assert_int_equal(large(AT, SIZE), 0);
}

static size_t before(uint64_t address, size_t n, uint64_t end)
{
	return lbx_before_large((const char *)made.words + (address - AT), n, address, end);
}

/* What other memory lies before. */
static void allocations_behind_others(void **state)
{
	const uint64_t end = AT + ((uint64_t)1 << 30), least = 1 << 17;

	(void)state;
	assert_int_equal(before(AT, SIZE, end), SIZE);
	put(AT + 2 * PAGE + 8, least | ITS_OWN);
	assert_int_equal(before(AT, SIZE, end), 2 * PAGE);
	assert_int_equal(before(AT + 24, SIZE - 24, end), 2 * PAGE - 24);
	assert_int_equal(before(AT, 2 * PAGE + 8, end), 2 * PAGE + 8); /* its header is not whole */
	assert_int_equal(before(AT, 2 * PAGE + 16, end), 2 * PAGE);
	/* that with which the bytes begin has been looked at; and all of it must be there */
	assert_int_equal(before(AT + 2 * PAGE, SIZE - 2 * PAGE, end), SIZE - 2 * PAGE);
	assert_int_equal(before(AT, SIZE, AT + 2 * PAGE + least), 2 * PAGE);
	assert_int_equal(before(AT, SIZE, AT + 2 * PAGE + least - 1), SIZE);
	/* smaller than any that has pages of its own; not at the beginning of a page; or no such header */
	put(AT + 2 * PAGE + 8, (least - PAGE) | ITS_OWN);
	put(AT + 3 * PAGE + 24, least | ITS_OWN);
	put(AT + 4 * PAGE + 8, least | 1);
	put(AT + 5 * PAGE, 1);
	put(AT + 5 * PAGE + 8, least | ITS_OWN);
	assert_int_equal(before(AT, SIZE, end), SIZE);
}

static void stacks_of_threads(void **state)
{
	const uint64_t record = AT + SIZE - 1024;

	(void)state;
	put(record, AT - PAGE);
	put(record + 8, SIZE + PAGE);
	assert_int_equal(large(AT, SIZE), SIZE);
	put(record, AT);
	put(record + 8, SIZE);
	assert_int_equal(large(AT, SIZE), SIZE);
	/* what else is in the range is not the stack's */
	put(record, AT + PAGE);
	put(record + 8, SIZE - PAGE);
	assert_int_equal(large(AT, SIZE), 0);
	put(record, AT - PAGE);
	put(record + 8, SIZE);
	assert_int_equal(large(AT, SIZE), 0);
	/* no stack begins at 0 */
	put(record, 0);
	put(record + 8, AT + SIZE);
	assert_int_equal(large(AT, SIZE), 0);
	/* nor is any as large */
	put(record, AT - ((uint64_t)1 << 30));
	put(record + 8, SIZE + ((uint64_t)1 << 30));
	assert_int_equal(large(AT, SIZE), 0);
	assert_int_equal(large(AT, PAGE), 0);
}

#if defined(__GLIBC__) && !LB_SANITIZED
static pthread_barrier_t both;

static void *wait_twice(void *address)
{
	*(uint64_t *)address = (uintptr_t)&address;
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return NULL;
}

/* The range that holds an address. */
static struct lbx_range range_at(struct lbx_target *target, uint64_t address)
{
	struct lbx_range range = { 0, 0 };

	while (lbx_target_range(target, range.start + range.size, &range))
		if (address - range.start < range.size)
			return range;
	fail_msg("0x%llx is in no range", (unsigned long long)address);
	return range;
}

static void those_of_this_process(void **state)
{
	struct lbx_target *target;
	uint64_t in_stack = 0;
	pthread_t thread;
	char *small = malloc(40), *large = malloc((size_t)64 << 20);

	(void)state;
	assert_non_null(small);
	assert_non_null(large);
	large[0] = 1;
	pthread_barrier_init(&both, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_twice, &in_stack), 0);
	pthread_barrier_wait(&both);
	assert_true(lbx_process_open(getpid(), &target));
	struct lbx_range range = range_at(target, in_stack);
	assert_int_equal(lbx_large_allocations(target, &range), range.size);
	/* its own pages, which others may have joined */
	uint64_t end = (uintptr_t)large + ((uint64_t)64 << 20);
	range = (struct lbx_range){ (uintptr_t)large - 16, end - (uintptr_t)large + 2 * PAGE };
	assert_true(lbx_large_allocations(target, &range) >= (uint64_t)64 << 20);
	range = range_at(target, (uintptr_t)small);
	assert_int_equal(lbx_large_allocations(target, &range), 0);
	lbx_target_destroy(target);
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&both);
	free(large);
	free(small);
}
#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(allocations_with_pages_of_their_own, set_up),
		cmocka_unit_test_setup(allocations_behind_others, set_up),
		cmocka_unit_test_setup(stacks_of_threads, set_up),
#if defined(__GLIBC__) && !LB_SANITIZED
		cmocka_unit_test(those_of_this_process),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
