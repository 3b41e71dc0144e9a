#include "memory/slab.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/sanitizer.h"
#include "publish/root.h"

#if LB_SANITIZES_ADDRESSES
#include <sanitizer/lsan_interface.h> /* cached buffers are known to their records alone */
#else
#define __lsan_register_root_region(at, nbytes) ((void)0)
#endif

enum { BATCH = LB_MAGAZINE / 2 };

static struct pool {
	pthread_mutex_t lock;
	/* slots given back by all threads, in blocks: the list itself lives outside the
	 * records, which keep their last content */
	void **free_list;
	uint64_t n_free, capacity;
} pools[LB_KINDS] = {
	[0 ... LB_KINDS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER },
};

static void *map(uint64_t nbytes)
{
	void *at = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* Tier and index of a slot: tier i starts at first * (2^i - 1). */
static void *slot_address(const struct lb_slab_directory *dir, uint64_t slot)
{
	uint64_t q = slot / dir->first_tier + 1;
	int tier = 63 - __builtin_clzll(q);
	uint64_t index = slot - dir->first_tier * ((1ULL << tier) - 1);
	if (tier >= LB_TIERS)
		return NULL;
	uint64_t base = __atomic_load_n(&dir->tiers[tier], __ATOMIC_ACQUIRE);
	return base ? (char *)(uintptr_t)base + index * dir->record_size : NULL;
}

void *lb_slab_at(enum lb_kind kind, uint64_t slot)
{
	const struct lb_slab_directory *dir = &lb_root->kinds[kind];
	if (slot >= __atomic_load_n(&dir->used, __ATOMIC_ACQUIRE))
		return NULL;
	return slot_address(dir, slot);
}

/* One slot never used before; the pool is locked. */
static void *fresh_slot(struct lb_slab_directory *dir)
{
	uint64_t q = dir->used / dir->first_tier + 1;
	int tier = 63 - __builtin_clzll(q);
	if (tier >= LB_TIERS)
		return NULL;
	if (!dir->tiers[tier]) {
		void *base = map((dir->first_tier << tier) * dir->record_size);
		if (!base)
			return NULL;
		__lsan_register_root_region(base, (dir->first_tier << tier) * dir->record_size);
		__atomic_store_n(&dir->tiers[tier], (uint64_t)(uintptr_t)base, __ATOMIC_RELEASE);
	}
	void *slot = slot_address(dir, dir->used);
	__atomic_store_n(&dir->used, dir->used + 1, __ATOMIC_RELEASE);
	return slot;
}

/* The lowest of the batch goes out first: ids and slots run alike. */
static int take_fresh(struct lb_slab_directory *dir, void **slots, int most)
{
	int n = 0;
	while (n < most && (slots[n] = fresh_slot(dir)))
		n++;
	for (int i = 0, j = n - 1; i < j; i++, j--) {
		void *slot = slots[i];
		slots[i] = slots[j];
		slots[j] = slot;
	}
	return n;
}

/* The last given back go out first; they lie as they do in the list. */
bool lb_slab_refill(enum lb_kind kind, struct lb_magazine *magazine, bool wait)
{
	struct pool *pool = &pools[kind];
	if (wait)
		pthread_mutex_lock(&pool->lock);
	else if (pthread_mutex_trylock(&pool->lock) != 0)
		return false;
	int used = pool->n_free < BATCH ? (int)pool->n_free : BATCH;
	int fresh = take_fresh(&lb_root->kinds[kind], magazine->slots, BATCH - used);
	pool->n_free -= (uint64_t)used;
	if (used)
		memcpy(magazine->slots + fresh, pool->free_list + pool->n_free, (size_t)used * sizeof *magazine->slots);
	magazine->n = fresh + used;
	pthread_mutex_unlock(&pool->lock);
	if (magazine->n == 0 && wait)
		lb_fail("out of memory: no room for another %s record", lb_root->kinds[kind].kind);
	return magazine->n > 0;
}

/* Room for n more in the shared list; a mapping that doubles. The pool is locked. */
static bool reserve(struct pool *pool, uint64_t n)
{
	if (pool->n_free + n <= pool->capacity)
		return true;
	uint64_t capacity = pool->capacity ? pool->capacity * 2 : 8192;
	void **list = map(capacity * sizeof *list);
	if (!list)
		return false;
	if (pool->free_list) {
		memcpy(list, pool->free_list, pool->n_free * sizeof *list);
		munmap(pool->free_list, pool->capacity * sizeof *list);
	}
	pool->free_list = list;
	pool->capacity = capacity;
	return true;
}

static void spill(enum lb_kind kind, struct lb_magazine *magazine, int keep)
{
	struct pool *pool = &pools[kind];
	pthread_mutex_lock(&pool->lock);
	int n = magazine->n > keep ? magazine->n - keep : 0;
	/* without room the slots are lost, not the program */
	if (n && reserve(pool, (uint64_t)n)) {
		void **end = pool->free_list + pool->n_free, **slots = magazine->slots + magazine->n;
		for (int i = 0; i < n; i++)
			end[i] = *--slots;
		pool->n_free += (uint64_t)n;
	}
	magazine->n -= n;
	pthread_mutex_unlock(&pool->lock);
}

void lb_slab_spill(enum lb_kind kind, struct lb_magazine *magazine)
{
	spill(kind, magazine, BATCH);
}

void lb_slab_flush(enum lb_kind kind, struct lb_magazine *magazine)
{
	spill(kind, magazine, 0);
}

void lb_slab_lock_all(void)
{
	for (int kind = 0; kind < LB_KINDS; kind++)
		pthread_mutex_lock(&pools[kind].lock);
}

void lb_slab_unlock_all(void)
{
	for (int kind = LB_KINDS; kind-- > 0;)
		pthread_mutex_unlock(&pools[kind].lock);
}
