#define _GNU_SOURCE
#include "target/copy.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/vector.h"
#include "target/allocations.h"
#include "target/ranges.h"

enum { PIECE = 1 << 22 };

struct lbx_copy {
	struct part {
		struct lbx_range range;
		const unsigned char *bytes;
	} *parts; /* by address */
	size_t n, room;
	unsigned char *memory;
	size_t size;
};

struct ranges {
	struct lbx_range *list;
	size_t n, room;
	uint64_t bytes;
};

static bool add_range(struct lbx_target *target, struct lbx_range range, uint64_t most, struct ranges *ret)
{
	uint64_t large = lbx_large_allocations(target, &range);

	if (large == range.size && lbx_is_stack(target, &range))
		large = 0;
	range.start += large;
	range.size -= large;
	if (range.size == 0)
		return true;
	if (range.size > most - ret->bytes || !lb_reserve(ret->list, ret->room, ret->n + 1))
		return false;
	ret->list[ret->n++] = range;
	ret->bytes += range.size;
	return true;
}

static bool list_ranges(struct lbx_target *target, pid_t pid, uint64_t most, struct ranges *ret)
{
	struct lbx_ranges ranges = { .reader = target };
	struct lbx_range range;
	bool done = true;

	for (uint64_t from = 0; done && lbx_ranges_next(&ranges, pid, from, &range); from = range.start + range.size)
		done = add_range(target, range, most, ret);
	lbx_ranges_close(&ranges);
	return done && ret->n > 0;
}

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

static bool fill(struct lbx_copy *copy, struct lbx_target *target, const struct ranges *ranges)
{
	unsigned char *to = copy->memory;

	for (size_t i = 0; i < ranges->n; i++) {
		const struct lbx_range *range = &ranges->list[i];
		for (uint64_t done = 0, n; done < range->size; done += n, to += n) {
			n = range->size - done < PIECE ? range->size - done : PIECE;
			if (lbx_target_try_read(target, range->start + done, to, (size_t)n) &&
			    !add_part(copy, range->start + done, n, to))
				return false;
		}
	}
	return copy->n > 0;
}

struct lbx_copy *lbx_copy_take(struct lbx_target *target, pid_t pid, uint64_t most)
{
	struct lbx_copy *copy = calloc(1, sizeof *copy);
	struct ranges ranges = { .n = 0 };
	bool done = copy && list_ranges(target, pid, most, &ranges);

	if (done) {
		void *memory = mmap(NULL, ranges.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory != MAP_FAILED) {
			copy->memory = memory;
			copy->size = ranges.bytes;
			madvise(memory, ranges.bytes, MADV_HUGEPAGE); /* or its pages take longer than the bytes */
		}
		done = copy->memory && fill(copy, target, &ranges);
	}
	free(ranges.list);
	if (done)
		return copy;
	lbx_copy_free(copy);
	return NULL;
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
