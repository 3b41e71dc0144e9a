#include "memory/buffer.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alone.h"
#include "base/error.h"
#include "memory/guard.h"
#include "memory/pages.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/root.h"

enum {
	CLASSES = 8 * 56,
	MAP_FROM = 1 << 20, /* bytes; larger buffers are mappings of their own */
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lb_buffer *cache[CLASSES]; /* linked through `next` */

/* Classes are eight steps a power of two, from 64 bytes up. */
static int64_t round_to_class(int64_t nbytes, int *ret)
{
	if (nbytes <= LB_BUFFER_ALIGN * 8) {
		int64_t steps = (nbytes + LB_BUFFER_ALIGN - 1) / LB_BUFFER_ALIGN;
		steps = steps ? steps : 1;
		*ret = (int)steps - 1;
		return steps * LB_BUFFER_ALIGN;
	}
	int power = 63 - __builtin_clzll((uint64_t)nbytes - 1); /* 2^power < nbytes <= 2^(power+1) */
	int64_t step = (int64_t)1 << (power - 3);
	int64_t steps = (nbytes + step - 1) / step; /* 9 … 16 */
	*ret = (power - 8) * 8 + (int)steps - 1;
	return steps * step;
}

/* A debugger wants to know when the limit is passed. */
__attribute__((cold, noinline)) static void tell_passed(uint64_t active, uint64_t nbytes, uint64_t id)
{
	uint64_t limit = __atomic_load_n(&lb_root->watch_memory, __ATOMIC_RELAXED);
	const struct lb_thread *thread = lb_self_pointer ? lb_self_pointer->record : NULL;
	if (active <= limit)
		return;
	bool told =
	    !(__atomic_load_n(&lb_root->watch_all, __ATOMIC_RELAXED) & LB_WATCH_GROWTH) ||
	    !(__atomic_fetch_and(&lb_root->watch_all, ~(uint32_t)LB_WATCH_GROWTH, __ATOMIC_RELAXED) & LB_WATCH_GROWTH);
	if (active - nbytes <= limit || !told)
		lb_probe_memory(id, thread && thread->eval ? thread->site : 0, active, limit, (int64_t)nbytes);
}

/* Returns the bytes in use. */
static uint64_t count_in(uint64_t nbytes)
{
	enum lb_alone alone = lb_alone_begin();
	uint64_t active = lb_fetch_add(alone, &lb_counters.active_bytes, nbytes) + nbytes;
	lb_alone_end(alone);
	uint64_t peak = __atomic_load_n(&lb_counters.peak_bytes, __ATOMIC_RELAXED);
	while (active > peak && !__atomic_compare_exchange_n(&lb_counters.peak_bytes, &peak, active, true,
							     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return active;
}

static void tell_limit(uint64_t active, uint64_t nbytes, uint64_t id)
{
	if (__builtin_expect(active > __atomic_load_n(&lb_root->watch_memory, __ATOMIC_RELAXED), 0))
		tell_passed(active, nbytes, id);
}

static uint64_t count_out(uint64_t nbytes)
{
	enum lb_alone alone = lb_alone_begin();
	uint64_t active = lb_fetch_add(alone, &lb_counters.active_bytes, -nbytes) - nbytes;
	lb_alone_end(alone);
	return active;
}

/* For a debugger: the thread's own magazine may be half changed where the program stopped. */
static struct lb_magazine plain_magazine;

static struct lb_buffer *take_record(bool plain)
{
	if (plain)
		return lb_slab_take(LB_KIND_BUFFER, &plain_magazine, false);
	struct lb_self *self = lb_self();
	return self ? lb_slab_take(LB_KIND_BUFFER, &self->magazines[LB_KIND_BUFFER], true) : NULL;
}

static void give_record(struct lb_buffer *buffer, bool plain)
{
	lb_record_begin(&buffer->seq);
	buffer->id = 0;
	buffer->refs = 0;
	buffer->data = 0;
	lb_record_end(&buffer->seq);
	if (plain) {
		if (plain_magazine.n < LB_MAGAZINE) /* else the slot is lost: making room would wait */
			lb_slab_give(LB_KIND_BUFFER, &plain_magazine, buffer);
		return;
	}
	struct lb_self *self = lb_self();
	if (self)
		lb_slab_give(LB_KIND_BUFFER, &self->magazines[LB_KIND_BUFFER], buffer);
}

static void fill_record(struct lb_buffer *buffer, void *data, int64_t nbytes, int64_t capacity, uint64_t tensor,
			uint32_t flags)
{
	static uint64_t last_id;
	lb_record_begin(&buffer->seq);
	buffer->generation++;
	buffer->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	buffer->data = (uint64_t)(uintptr_t)data;
	buffer->nbytes = nbytes;
	buffer->capacity = capacity;
	buffer->refs = 1;
	buffer->flags = flags;
	buffer->tensor = buffer->filled_for = tensor;
	buffer->release = buffer->context = buffer->next = 0;
	lb_record_end(&buffer->seq);
}

static void *system_take(int64_t capacity, bool mapped)
{
	return mapped ? lb_pages_take((size_t)capacity) : aligned_alloc(LB_BUFFER_ALIGN, (size_t)capacity);
}

/* The memory goes back to where it came from; the record becomes free. */
static void system_give(struct lb_buffer *buffer)
{
	void *data = (void *)(uintptr_t)buffer->data;
	lb_probe_dealloc(buffer->id, buffer->data, buffer->capacity, lb_active_memory(),
			 (uint64_t)(uintptr_t)lb_fail_site_now());
	if (buffer->flags & LB_BUFFER_FOREIGN) {
		void (*release)(void *, void *) = (void (*)(void *, void *))(uintptr_t)buffer->release;
		if (release)
			release(data, (void *)(uintptr_t)buffer->context);
	} else if (buffer->flags & LB_BUFFER_MAPPED) {
		munmap(data, (size_t)buffer->capacity);
	} else {
		free(data);
	}
	give_record(buffer, false);
}

/* Nobody else uses the cache until it is unlocked. */
static enum lb_alone lock_cache(void)
{
	enum lb_alone alone = lb_alone_begin();
	if (alone == LB_NOT_ALONE)
		pthread_mutex_lock(&cache_lock);
	return alone;
}

static void unlock_cache(enum lb_alone alone)
{
	if (alone == LB_NOT_ALONE)
		pthread_mutex_unlock(&cache_lock);
	lb_alone_end(alone);
}

/* A cached buffer of a class, which is cached no longer; NULL: there is none. */
static struct lb_buffer *cache_pop(int class)
{
	enum lb_alone alone = lock_cache();
	struct lb_buffer *buffer = alone == LB_ALONE_AGAIN ? NULL : cache[class];
	if (buffer) {
		cache[class] = (struct lb_buffer *)(uintptr_t)buffer->next;
		lb_fetch_add(alone, &lb_counters.cache_bytes, -(uint64_t)buffer->capacity);
	}
	unlock_cache(alone);
	return buffer;
}

static struct lb_buffer *cache_take(int class, int64_t nbytes, uint64_t tensor)
{
	struct lb_buffer *buffer = cache_pop(class);
	if (!buffer)
		return NULL;
	lb_record_begin(&buffer->seq);
	buffer->generation++;
	buffer->nbytes = nbytes;
	buffer->tensor = buffer->filled_for = tensor;
	buffer->flags &= ~(uint32_t)(LB_BUFFER_CACHED | LB_BUFFER_GUARDED);
	buffer->next = 0;
	buffer->refs = 1;
	lb_record_end(&buffer->seq);
	uint64_t active = count_in((uint64_t)buffer->capacity);
	lb_probe_cache_hit(buffer->id, buffer->data, nbytes, tensor, active);
	tell_limit(active, (uint64_t)buffer->capacity, tensor);
	return buffer;
}

/* False when it does not fit the cache's limit, or when the cache is being changed by what this interrupts. */
static bool cache_put(struct lb_buffer *buffer, uint64_t active)
{
	uint64_t bytes = (uint64_t)buffer->capacity;
	uint64_t limit = __atomic_load_n(&lb_counters.cache_limit, __ATOMIC_RELAXED);
	enum lb_alone alone = lb_alone_begin();
	bool fits = lb_fetch_add(alone, &lb_counters.cache_bytes, bytes) + bytes <= limit && alone != LB_ALONE_AGAIN;
	if (!fits)
		lb_fetch_add(alone, &lb_counters.cache_bytes, -bytes);
	lb_alone_end(alone);
	if (!fits)
		return false;
	int class;
	round_to_class(buffer->capacity, &class);
	lb_probe_cache_put(buffer->id, buffer->data, buffer->capacity, active);
	lb_record_begin(&buffer->seq);
	buffer->flags |= LB_BUFFER_CACHED;
	lb_record_end(&buffer->seq);
	alone = lock_cache();
	buffer->next = (uint64_t)(uintptr_t)cache[class];
	cache[class] = buffer;
	unlock_cache(alone);
	return true;
}

/* Gives cached buffers back, largest first, until at most `keep` bytes are left. */
static void trim_cache(uint64_t keep)
{
	for (int class = CLASSES; class-- > 0;) {
		while (__atomic_load_n(&lb_counters.cache_bytes, __ATOMIC_RELAXED) > keep) {
			struct lb_buffer *buffer = cache_pop(class);
			if (!buffer)
				break;
			system_give(buffer);
		}
	}
}

static bool within_limit(int64_t capacity)
{
	uint64_t active = __atomic_load_n(&lb_counters.active_bytes, __ATOMIC_RELAXED);
	uint64_t limit = __atomic_load_n(&lb_counters.memory_limit, __ATOMIC_RELAXED);
	return active <= limit && (uint64_t)capacity <= limit - active;
}

/* Memory that is kept for reuse makes room for what is wanted now. */
static void make_room(int64_t capacity)
{
	uint64_t active = __atomic_load_n(&lb_counters.active_bytes, __ATOMIC_RELAXED);
	uint64_t limit = __atomic_load_n(&lb_counters.memory_limit, __ATOMIC_RELAXED);
	uint64_t used = active + (uint64_t)capacity;
	trim_cache(used < limit ? limit - used : 0);
}

static void fail_out_of_memory(int64_t nbytes)
{
	lb_fail("out of memory: %lld bytes wanted, %llu in use, the limit is %llu; evaluate in smaller "
		"steps, release tensors, or raise lb_set_memory_limit()",
		(long long)nbytes, (unsigned long long)lb_active_memory(),
		(unsigned long long)lb_counters.memory_limit);
}

struct lb_buffer *lb_buffer_new(int64_t nbytes, uint64_t id, bool plain)
{
	if (nbytes > INT64_MAX / 4) {
		fail_out_of_memory(nbytes);
		return NULL;
	}
	int class;
	int64_t guard = plain ? 0 : lb_guard_bytes(), capacity = round_to_class(nbytes + guard, &class);
	if (!within_limit(capacity)) {
		fail_out_of_memory(nbytes);
		return NULL;
	}
	if (!plain) {
		struct lb_buffer *cached = cache_take(class, nbytes, id);
		if (cached && guard)
			lb_guard_set(cached);
		if (cached)
			return cached;
	}
	if (!plain)
		make_room(capacity);
	bool mapped = plain || capacity >= MAP_FROM;
	void *data = system_take(capacity, mapped);
	if (!data && !plain) {
		lb_clear_cache();
		data = system_take(capacity, mapped);
	}
	struct lb_buffer *buffer = data ? take_record(plain) : NULL;
	if (!buffer) {
		if (data && mapped)
			munmap(data, (size_t)capacity);
		else
			free(data);
		fail_out_of_memory(nbytes);
		return NULL;
	}
	fill_record(buffer, data, nbytes, capacity, id, mapped ? LB_BUFFER_MAPPED : 0);
	if (guard)
		lb_guard_set(buffer);
	uint64_t active = count_in((uint64_t)capacity);
	lb_probe_alloc(buffer->id, buffer->data, capacity, id, active);
	if (!plain)
		tell_limit(active, (uint64_t)capacity, id);
	return buffer;
}

/* Its bytes are none that the runtime has taken; they may be another buffer's. */
static struct lb_buffer *foreign(void *data, int64_t nbytes, uint64_t id, uint32_t flags,
				 void (*release)(void *, void *), void *context)
{
	struct lb_buffer *buffer = take_record(false);
	if (!buffer)
		return NULL;
	fill_record(buffer, data, nbytes, 0, id, LB_BUFFER_FOREIGN | flags);
	lb_record_begin(&buffer->seq);
	buffer->release = (uint64_t)(uintptr_t)release;
	buffer->context = (uint64_t)(uintptr_t)context;
	lb_record_end(&buffer->seq);
	return buffer;
}

struct lb_buffer *lb_buffer_foreign(void *data, int64_t nbytes, uint64_t id, void (*release)(void *, void *),
				    void *context)
{
	return foreign(data, nbytes, id, 0, release, context);
}

struct lb_buffer *lb_buffer_of_file(const void *data, int64_t nbytes, uint64_t id, bool in_memory,
				    void (*release)(void *, void *), void *context)
{
	return foreign((void *)data, nbytes, id, in_memory ? LB_BUFFER_CONTENT : 0, release, context);
}

void lb_buffer_retain(struct lb_buffer *buffer)
{
	enum lb_alone alone = lb_alone_begin();
	lb_fetch_add_32(alone, &buffer->refs, 1);
	lb_alone_end(alone);
}

static bool is_last_user(struct lb_buffer *buffer)
{
	enum lb_alone alone = lb_alone_begin();
	bool last = lb_fetch_add_32(alone, &buffer->refs, UINT32_MAX) == 1;
	lb_alone_end(alone);
	return last;
}

void lb_buffer_drop(struct lb_buffer *buffer)
{
	if (!is_last_user(buffer))
		return;
	lb_guard_check(buffer);
	uint64_t active = count_out((uint64_t)buffer->capacity);
	if ((buffer->flags & LB_BUFFER_FOREIGN) || !cache_put(buffer, active))
		system_give(buffer);
}

void lb_buffer_drop_plain(struct lb_buffer *buffer)
{
	if (!is_last_user(buffer))
		return;
	count_out((uint64_t)buffer->capacity);
	munmap((void *)(uintptr_t)buffer->data, (size_t)buffer->capacity);
	give_record(buffer, true);
}

void lb_buffers_start(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t limit = INT64_MAX;
	if (pages > 0 && page > 0)
		limit = (uint64_t)pages * (uint64_t)page / 5 * 4;
	lb_counters.memory_limit = limit;
	lb_counters.cache_limit = limit;
	lb_pages_start();
}

void lb_buffers_lock(void)
{
	pthread_mutex_lock(&cache_lock);
}

void lb_buffers_unlock(void)
{
	pthread_mutex_unlock(&cache_lock);
}

uint64_t lb_active_memory(void)
{
	return __atomic_load_n(&lb_counters.active_bytes, __ATOMIC_RELAXED);
}

uint64_t lb_peak_memory(void)
{
	return __atomic_load_n(&lb_counters.peak_bytes, __ATOMIC_RELAXED);
}

void lb_reset_peak_memory(void)
{
	__atomic_store_n(&lb_counters.peak_bytes, lb_active_memory(), __ATOMIC_RELAXED);
}

uint64_t lb_cache_memory(void)
{
	return __atomic_load_n(&lb_counters.cache_bytes, __ATOMIC_RELAXED);
}

uint64_t lb_set_memory_limit(uint64_t nbytes)
{
	return __atomic_exchange_n(&lb_counters.memory_limit, nbytes, __ATOMIC_RELAXED);
}

uint64_t lb_set_cache_limit(uint64_t nbytes)
{
	uint64_t old = __atomic_exchange_n(&lb_counters.cache_limit, nbytes, __ATOMIC_RELAXED);
	trim_cache(nbytes);
	return old;
}

void lb_clear_cache(void)
{
	trim_cache(0);
}
