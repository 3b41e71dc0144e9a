/* glibc gives a large allocation pages of its own. They begin with its header: 0, then its size, whose lowest bits say
 * so. What lies next to each other is one range to the system.
 *
 * A thread's stack ends in the library's record of the thread, which says where the stack is: its lowest address, below
 * which there may be pages that nobody can read or has touched, and its size (struct pthread of glibc and of musl). */
#include "target/allocations.h"

#include <string.h>

enum {
	PAGE = 4096,
	RECORD = 2 * PAGE,
	LEAST = 1 << 17,
	MAX_BLOCKS = 1 << 14,
	OF_ITS_OWN = 2,
	FLAGS = 7,
	STACK_MAX = 1 << 30
};

/* The size that a header tells, where `left` bytes are left; 0: it is none. */
static uint64_t size_of(const uint64_t head[2], uint64_t left)
{
	uint64_t size = head[1] & ~(uint64_t)FLAGS;

	return head[0] == 0 && (head[1] & FLAGS) == OF_ITS_OWN && size % PAGE == 0 && size <= left ? size : 0;
}

static uint64_t single_allocations(struct lbx_target *target, const struct lbx_range *range)
{
	uint64_t head[2], done = 0;

	for (int i = 0; i < MAX_BLOCKS && done < range->size; i++) {
		if (!lbx_target_try_read(target, range->start + done, head, sizeof head))
			break;
		uint64_t size = size_of(head, range->size - done);
		if (size == 0)
			break;
		done += size;
	}
	return done;
}

bool lbx_is_stack(struct lbx_target *target, const struct lbx_range *range)
{
	uint64_t words[RECORD / sizeof(uint64_t)], end = range->start + range->size;

	if (range->size < sizeof words || !lbx_target_try_read(target, end - sizeof words, words, sizeof words))
		return false;
	for (size_t i = 0; i + 1 < sizeof words / sizeof *words; i++)
		if (words[i] && words[i] % PAGE == 0 && words[i] <= range->start && words[i + 1] <= STACK_MAX &&
		    words[i] + words[i + 1] == end)
			return true;
	return false;
}

uint64_t lbx_large_allocations(struct lbx_target *target, const struct lbx_range *range)
{
	uint64_t done = range->start % PAGE ? 0 : single_allocations(target, range);

	return done == 0 && lbx_is_stack(target, range) ? range->size : done;
}

size_t lbx_before_large(const void *bytes, size_t n, uint64_t address, uint64_t end)
{
	uint64_t head[2];

	for (size_t at = PAGE - (size_t)(address % PAGE); at + sizeof head <= n; at += PAGE) {
		memcpy(head, (const char *)bytes + at, sizeof head);
		if (size_of(head, end - address - at) >= LEAST)
			return at;
	}
	return n;
}
