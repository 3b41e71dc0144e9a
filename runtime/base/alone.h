/* Counts without locks, while one thread alone uses the runtime.
 *
 * What threads share (references, counters, claims, the cache of buffers) is changed by locked instructions,
 * of which each costs as much as twenty others; a small node needs a dozen, and most programs touch tensors
 * from one thread. The first thread that changes such a thing is alone until another one does. Meanwhile,
 * between lb_alone_begin() and lb_alone_end(), it may change them by instructions that are not locked.
 *
 * How another thread puts an end to it, once and for all: it says so (`on`), has the kernel put a memory
 * barrier into every running thread (membarrier), and waits until the first one is not inside. That one says
 * that it is inside before it looks whether it is alone. If it looked before the barrier, its saying so came
 * before, too, and is waited for, together with what it changes; if it looked after it, it has seen that it is
 * not alone. Every other thread gets here first, by lb_alone_begin(), before it changes anything. So no two
 * threads change a count at once unless both lock. Other threads of the program do not matter, nor do the
 * pool's workers, as long as they touch nothing of this.
 *
 * Whoever is inside waits for nobody, calls nobody, and is there for a few instructions. Each change is one
 * instruction: what interrupts the thread there, a signal or a debugger's call, finds it made or not made.
 * Architectures that cannot change memory so, and kernels without membarrier, have it locked always. */
#ifndef LB_BASE_ALONE_H
#define LB_BASE_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sanitizer.h"

#ifndef LB_MAY_BE_ALONE
#if defined __x86_64__ && __has_include(<linux/membarrier.h>)
#define LB_MAY_BE_ALONE 1
#else
#define LB_MAY_BE_ALONE 0
#endif
#endif

enum lb_alone {
	LB_NOT_ALONE = 0,
	LB_ALONE,
	LB_ALONE_AGAIN, /* what is inside already was interrupted: lists may be half changed */
};

#if LB_MAY_BE_ALONE

extern struct lb_alone_state {
	bool on;     /* the first thread is alone */
	bool inside; /* and changes something just now */
	bool over;   /* it never will be alone again: nothing is to be waited for */
} lb_alone_state __attribute__((visibility("hidden")));
/* Whether the calling thread is the first. */
extern __thread bool lb_alone_first __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread has not been here: it becomes the first, or ends that another one is alone. */
void lb_alone_join(void) __attribute__((cold));
/* The first thread is not alone any more. */
void lb_alone_forget(void) __attribute__((cold));
/* If the calling thread is the first, another one may become it: this one has done with the runtime, at least for now. */
void lb_alone_leave(void);

static inline enum lb_alone lb_alone_begin(void)
{
	if (__builtin_expect(!lb_alone_first, 0)) {
		if (__builtin_expect(__atomic_load_n(&lb_alone_state.over, __ATOMIC_ACQUIRE), 1))
			return LB_NOT_ALONE;
		lb_alone_join();
		if (!lb_alone_first)
			return LB_NOT_ALONE;
	}
	if (__builtin_expect(__atomic_load_n(&lb_alone_state.inside, __ATOMIC_RELAXED), 0))
		return LB_ALONE_AGAIN;
	__atomic_store_n(&lb_alone_state.inside, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&lb_alone_state.on, __ATOMIC_RELAXED), 1))
		return LB_ALONE;
	lb_alone_forget();
	return LB_NOT_ALONE;
}

static inline void lb_alone_end(enum lb_alone alone)
{
	if (alone == LB_ALONE)
		__atomic_store_n(&lb_alone_state.inside, false, __ATOMIC_RELEASE);
}

/* The child of a fork finds nothing half changed. */
void lb_alone_before_fork(void);
void lb_alone_after_fork(void);

#else

static inline enum lb_alone lb_alone_begin(void)
{
	return LB_NOT_ALONE;
}

static inline void lb_alone_end(enum lb_alone alone)
{
	(void)alone;
}

static inline void lb_alone_leave(void)
{
}

static inline void lb_alone_before_fork(void)
{
}

static inline void lb_alone_after_fork(void)
{
}

#endif

/* From here on no other thread is alone. */
static inline void lb_alone_meet(void)
{
	lb_alone_end(lb_alone_begin());
}

/* The changes. One that is not locked is one instruction; ThreadSanitizer sees a load and a store. */
#if LB_MAY_BE_ALONE && !LB_SANITIZES_THREADS
#define LB_FETCH_ADD_ALONE(at, n) \
	({ \
		__typeof__(n) old_ = (n); \
		__asm__ volatile("xadd %1, %0" : "+m"(*(at)), "+r"(old_) : : "cc"); \
		old_; \
	})
#define LB_OR_ALONE(at, bits) __asm__ volatile("or %1, %0" : "+m"(*(at)) : "r"(bits) : "cc")
#define LB_SWAP_ALONE(at, seen, to) __asm__ volatile("cmpxchg %2, %0" : "+m"(*(at)), "+a"(*(seen)) : "r"(to) : "cc")
#else
#define LB_FETCH_ADD_ALONE(at, n) \
	({ \
		__typeof__(n) old_ = __atomic_load_n(at, __ATOMIC_RELAXED); \
		__atomic_store_n(at, old_ + (n), __ATOMIC_RELAXED); \
		old_; \
	})
#define LB_OR_ALONE(at, bits) __atomic_store_n(at, __atomic_load_n(at, __ATOMIC_RELAXED) | (bits), __ATOMIC_RELAXED)
#define LB_SWAP_ALONE(at, seen, to) \
	({ \
		__typeof__(*(seen)) old_ = __atomic_load_n(at, __ATOMIC_RELAXED); \
		if (old_ == *(seen)) \
			__atomic_store_n(at, to, __ATOMIC_RELAXED); \
		*(seen) = old_; \
	})
#endif

/* What was there before; the new value is that and n. Locked, it orders as acquire and release do. */
static inline uint64_t lb_fetch_add(enum lb_alone alone, uint64_t *at, uint64_t n)
{
	return alone ? LB_FETCH_ADD_ALONE(at, n) : __atomic_fetch_add(at, n, __ATOMIC_ACQ_REL);
}

static inline uint32_t lb_fetch_add_32(enum lb_alone alone, uint32_t *at, uint32_t n)
{
	return alone ? LB_FETCH_ADD_ALONE(at, n) : __atomic_fetch_add(at, n, __ATOMIC_ACQ_REL);
}

static inline void lb_set_bits(enum lb_alone alone, uint32_t *at, uint32_t bits)
{
	if (alone)
		LB_OR_ALONE(at, bits);
	else
		__atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
}

/* Puts `to` where *seen is; else *seen becomes what is there. */
static inline bool lb_swap(enum lb_alone alone, uint8_t *at, uint8_t *seen, uint8_t to)
{
	uint8_t from = *seen;

	if (!alone)
		return __atomic_compare_exchange_n(at, seen, to, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
	LB_SWAP_ALONE(at, seen, to);
	return *seen == from;
}

#endif
