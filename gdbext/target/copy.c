#define _GNU_SOURCE
#include "target/copy.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/vector.h"
#include "target/allocations.h"
#include "target/ranges.h"

enum { PIECE = 1 << 20 };

struct lbx_copy {
	struct part {
		struct lbx_range range;
		const unsigned char *bytes;
	} *parts; /* by address */
	size_t n, room;
	unsigned char *memory;
	uint64_t size, used;
	bool only_counts; /* what it would be: the memory is that of one piece */
};

static bool add_part(struct lbx_copy *copy, uint64_t start, uint64_t size, const unsigned char *bytes)
{
	struct part *last = copy->n ? &copy->parts[copy->n - 1] : NULL;

	if (last && last->range.start + last->range.size == start && last->bytes + last->range.size == bytes) {
		last->range.size += size;
		return true;
	}
	if (!lb_reserve(copy->parts, copy->room, copy->n + 1))
		return false;
	copy->parts[copy->n++] = (struct part){ { start, size }, bytes };
	return true;
}

/* Up to the next large allocation, which other memory may lie before and behind. */
static bool add_piece(struct lbx_copy *copy, struct lbx_target *target, const struct lbx_range *rest,
		      uint64_t *ret_done)
{
	unsigned char *to = copy->only_counts ? copy->memory : copy->memory + copy->used;
	size_t n = (size_t)(rest->size < PIECE ? rest->size : PIECE);

	*ret_done = n;
	if (n > copy->size - copy->used)
		return false;
	if (!lbx_target_try_read(target, rest->start, to, n))
		return true;
	*ret_done = lbx_before_large(to, n, rest->start, rest->start + rest->size);
	copy->used += *ret_done;
	return copy->only_counts || add_part(copy, rest->start, *ret_done, to);
}

static bool add_range(struct lbx_copy *copy, struct lbx_target *target, struct lbx_range rest)
{
	uint64_t done;

	while (rest.size) {
		done = lbx_large_allocations(target, &rest);
		if (done == rest.size && lbx_is_stack(target, &rest))
			done = 0;
		if (done == 0 && !add_piece(copy, target, &rest, &done))
			return false;
		rest.start += done;
		rest.size -= done;
	}
	return true;
}

static bool fill(struct lbx_copy *copy, struct lbx_target *target, pid_t pid)
{
	struct lbx_ranges ranges = { .reader = target };
	struct lbx_range range;
	bool done = true;

	for (uint64_t from = 0; done && lbx_ranges_next(&ranges, pid, from, &range); from = range.start + range.size)
		done = add_range(copy, target, range);
	lbx_ranges_close(&ranges);
	return done && copy->used > 0;
}

/* What of a range is no large allocation, or is one that does not begin where the ones before it end. */
static uint64_t most_of(struct lbx_target *target, const struct lbx_range *range)
{
	uint64_t large = lbx_large_allocations(target, range);

	return large == range->size && lbx_is_stack(target, range) ? range->size : range->size - large;
}

/* Memory for a copy that would be too large, which the system would have to give first, is not worth trying: where the ranges
 * together are larger, they are gone through. */
static bool fits(struct lbx_target *target, pid_t pid, uint64_t most)
{
	struct lbx_copy count = { .size = most, .only_counts = true };
	struct lbx_ranges ranges = { .reader = target };
	struct lbx_range range;
	uint64_t sum = 0;

	for (uint64_t from = 0; lbx_ranges_next(&ranges, pid, from, &range); from = range.start + range.size)
		sum += most_of(target, &range);
	lbx_ranges_close(&ranges);
	if (sum <= most)
		return true;
	count.memory = malloc(PIECE);
	bool ret = count.memory && fill(&count, target, pid);
	free(count.memory);
	return ret;
}

struct lbx_copy *lbx_copy_take(struct lbx_target *target, pid_t pid, uint64_t most)
{
	struct lbx_copy *copy = fits(target, pid, most) ? calloc(1, sizeof *copy) : NULL;
	void *memory =
	    !copy ? MAP_FAILED
		  : mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory != MAP_FAILED) {
		copy->memory = memory;
		copy->size = most;
		madvise(memory, most, MADV_HUGEPAGE); /* or its pages take longer than the bytes */
		if (fill(copy, target, pid))
			return copy;
	}
	lbx_copy_free(copy);
	return NULL;
}

bool lbx_copy_again(struct lbx_copy *copy, struct lbx_target *target, pid_t pid)
{
	copy->n = 0;
	copy->used = 0;
	return fill(copy, target, pid);
}

void lbx_copy_free(struct lbx_copy *copy)
{
	if (!copy)
		return;
	if (copy->memory)
		munmap(copy->memory, copy->size);
	free(copy->parts);
	free(copy);
}

/* The first part that ends behind an address; NULL: none does. */
static const struct part *part_from(const struct lbx_copy *copy, uint64_t address)
{
	size_t low = 0, high = copy->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct lbx_range *range = &copy->parts[middle].range;
		if (range->start + (range->size - 1) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < copy->n ? &copy->parts[low] : NULL;
}

const void *lbx_copy_at(const struct lbx_copy *copy, uint64_t address, uint64_t *ret_n)
{
	const struct part *part = part_from(copy, address);

	*ret_n = !part                         ? UINT64_MAX - address
		 : part->range.start > address ? part->range.start - address
					       : part->range.start + part->range.size - address;
	return part && part->range.start <= address ? part->bytes + (address - part->range.start) : NULL;
}

bool lbx_copy_range(const struct lbx_copy *copy, uint64_t from, struct lbx_range *ret)
{
	const struct part *part = part_from(copy, from);

	if (!part)
		return false;
	*ret = part->range;
	if (from > ret->start) {
		ret->size -= from - ret->start;
		ret->start = from;
	}
	return true;
}
