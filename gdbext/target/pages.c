#define _GNU_SOURCE
#include "target/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mix.h"

enum { UNIT = LBX_PAGES_UNIT, PAGE = 1 << 12, WHOLE = (1 << UNIT / PAGE) - 1 };

/* Bytes of the program, at a multiple of their number. */
struct unit {
	uint64_t tag; /* which it is, plus 1; 0: free */
	uint32_t at; /* which of ours */
	uint32_t has; /* a bit for each page that has been read */
};

struct lbx_pages {
	pthread_mutex_t lock;
	unsigned char *memory;
	size_t n, most; /* units */
	struct unit *table; /* by hash; twice as many as units at least */
	size_t room;
};

struct lbx_pages *lbx_pages_create(uint64_t most)
{
	struct lbx_pages *pages = calloc(1, sizeof *pages);

	if (!pages)
		return NULL;
	pthread_mutex_init(&pages->lock, NULL);
	pages->most = (size_t)(most / UNIT);
	for (pages->room = 64; pages->room < 2 * pages->most; pages->room *= 2)
		;
	pages->table = calloc(pages->room, sizeof *pages->table);
	void *memory =
	    mmap(NULL, pages->most * UNIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pages->memory = memory == MAP_FAILED ? NULL : memory;
	if (pages->memory && pages->table) {
		madvise(memory, pages->most * UNIT, MADV_HUGEPAGE); /* or its pages take longer than the bytes */
		return pages;
	}
	lbx_pages_destroy(pages);
	return NULL;
}

void lbx_pages_destroy(struct lbx_pages *pages)
{
	if (!pages)
		return;
	if (pages->memory)
		munmap(pages->memory, pages->most * UNIT);
	pthread_mutex_destroy(&pages->lock);
	free(pages->table);
	free(pages);
}

/* Where a unit is, or would be. */
static struct unit *place_of(const struct lbx_pages *pages, uint64_t number)
{
	size_t i = lb_mix(number) & (pages->room - 1);

	while (pages->table[i].tag && pages->table[i].tag != number + 1)
		i = (i + 1) & (pages->room - 1);
	return &pages->table[i];
}

static unsigned char *bytes_of(const struct lbx_pages *pages, const struct unit *unit)
{
	return pages->memory + (size_t)unit->at * UNIT;
}

/* The pages that hold n bytes from one on. */
static uint32_t wanted(uint64_t address, size_t n)
{
	unsigned first = (unsigned)(address % UNIT) / PAGE, last = (unsigned)((address % UNIT + n - 1) / PAGE);

	return ((2U << last) - 1) & ~((1U << first) - 1);
}

/* Reads those that are missing; the others too where all can be read at once, as what is near is likely to be asked for. */
static void fill(struct lbx_pages *pages, struct unit *unit, struct lbx_target *from, uint64_t start, uint32_t want)
{
	unsigned char *to = bytes_of(pages, unit);

	if (!unit->has && lbx_target_try_read(from, start, to, UNIT)) {
		unit->has = WHOLE;
		return;
	}
	for (unsigned i = 0; i < UNIT / PAGE; i++)
		if ((want & ~unit->has) >> i & 1 && lbx_target_try_read(from, start + i * PAGE, to + i * PAGE, PAGE))
			unit->has |= 1U << i;
}

static const void *find(struct lbx_pages *pages, struct lbx_target *from, uint64_t address, size_t n)
{
	struct unit *unit = place_of(pages, address / UNIT);
	uint32_t want = wanted(address, n);

	if (from && (!unit->tag || want & ~unit->has)) {
		if (!unit->tag && pages->n == pages->most)
			return NULL;
		if (!unit->tag)
			*unit = (struct unit){ .tag = address / UNIT + 1, .at = (uint32_t)pages->n++ };
		fill(pages, unit, from, address & ~(uint64_t)(UNIT - 1), want);
		if (!unit->has) { /* it is the last that came */
			*unit = (struct unit){ .tag = 0 };
			pages->n--;
		}
	}
	return unit->tag && !(want & ~unit->has) ? bytes_of(pages, unit) + address % UNIT : NULL;
}

const void *lbx_pages_take(struct lbx_pages *pages, struct lbx_target *from, uint64_t address, size_t n)
{
	pthread_mutex_lock(&pages->lock);
	const void *ret = find(pages, from, address, n);
	pthread_mutex_unlock(&pages->lock);
	return ret;
}

const void *lbx_pages_kept(struct lbx_pages *pages, uint64_t address, size_t n)
{
	return lbx_pages_take(pages, NULL, address, n);
}
