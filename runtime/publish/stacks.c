/* The depot is one reserved mapping of words: a stack is its length, then its return
 * addresses, innermost first. Words are only ever appended, so a reader needs no lock. A hash
 * table of places, probed linearly, finds a stack that is there already. */
#include "publish/stacks.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#if LB_HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#else
#include <execinfo.h>
#endif

enum {
	DEPOT_WORDS = 1 << 23, /* 64 MiB reserved, touched as used */
	TABLE_SLOTS = 1 << 20,
	OWN_FRAMES = 8,        /* the runtime's own, at most, on top of the caller */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *depot;
static uint32_t *table;

static bool map_depot(void)
{
	void *at = mmap(NULL, DEPOT_WORDS * sizeof *depot + TABLE_SLOTS * sizeof *table, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	depot = at;
	table = (uint32_t *)(depot + DEPOT_WORDS);
	lb_root->stack_words = 1; /* place 0 means none */
	__atomic_store_n(&lb_root->stacks, (uint64_t)(uintptr_t)depot, __ATOMIC_RELEASE);
	return true;
}

static uint64_t hash_stack(const uint64_t *pcs, uint64_t n)
{
	uint64_t h = 0xcbf29ce484222325; /* FNV-1a over words */
	for (uint64_t i = 0; i < n; i++)
		h = (h ^ pcs[i]) * 0x100000001b3;
	return h ^ h >> 29;
}

static uint32_t find_or_add(const uint64_t *pcs, uint64_t n)
{
	if (!depot && !map_depot())
		return 0;
	uint64_t slot = hash_stack(pcs, n) % TABLE_SLOTS;
	for (int tries = 0; tries < 64; tries++, slot = (slot + 1) % TABLE_SLOTS) {
		uint32_t place = table[slot];
		if (place && depot[place] == n && memcmp(depot + place + 1, pcs, n * sizeof *pcs) == 0)
			return place;
		if (place)
			continue;
		if (lb_root->stack_words + n + 1 > DEPOT_WORDS)
			return 0;
		place = (uint32_t)lb_root->stack_words;
		depot[place] = n;
		memcpy(depot + place + 1, pcs, n * sizeof *pcs);
		__atomic_store_n(&lb_root->stack_words, place + n + 1, __ATOMIC_RELEASE);
		table[slot] = place;
		return place;
	}
	return 0;
}

uint32_t lb_stack_capture(const void *site, uint32_t depth)
{
	void *frames[LB_STACK_MAX + OWN_FRAMES];
	if (depth > LB_STACK_MAX)
		depth = LB_STACK_MAX;
#if LB_HAVE_LIBUNWIND
	int n = unw_backtrace(frames, (int)depth + OWN_FRAMES);
#else
	int n = backtrace(frames, (int)depth + OWN_FRAMES);
#endif
	int first = 0;
	while (first < n && frames[first] != site)
		first++;
	if (first == n)
		return 0;
	uint64_t pcs[LB_STACK_MAX];
	uint64_t length = 0;
	for (int i = first; i < n && length < depth; i++)
		pcs[length++] = (uint64_t)(uintptr_t)frames[i];

	pthread_mutex_lock(&lock);
	uint32_t place = find_or_add(pcs, length);
	pthread_mutex_unlock(&lock);
	return place;
}

void lb_stacks_lock(void)
{
	pthread_mutex_lock(&lock);
}

void lb_stacks_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
