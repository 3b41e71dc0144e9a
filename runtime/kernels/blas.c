#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* Finding a BLAS. A program that links one (a static program must) is served by weak
 * symbols; otherwise libopenblas.so.0 is opened at the first product worth it, with its
 * names kept to ourselves.
 *
 * OpenBLAS brings a LAPACK, which is taken with it: all the functions of a kind of numbers that are called here, or none.
 *
 * The products of the one that is opened are divided among the threads of the pool, which are awake
 * between kernels: its own would take turns with them for the same cores. One that the program links
 * is the program's to set.
 *
 * OpenBLAS chooses its kernels while it is loaded, by CPU model. On a CPU with AVX-512 that a version
 * does not know, these may be such as do without, and half as fast. (0.3.21 knows the EPYCs that have
 * it, as of Cooperlake's kind.) So OPENBLAS_CORETYPE, unless the user has set it, says SkylakeX
 * during the load on any CPU with that core's instructions. The price: setenv() is not
 * safe against a getenv() in another thread at that very moment. It is paid once a
 * process, under a lock, and only where it gains speed; a user who sets the variable,
 * or links OpenBLAS, never pays it. */
#include "kernels/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/loader.h"
#include "kernels/kernels.h"

#define WEAK(result, name, ...) extern result name(__VA_ARGS__) __attribute__((weak))
WEAK(void, cblas_sgemm, int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
     int);
WEAK(void, cblas_dgemm, int, int, int, int, int, int, double, const double *, int, const double *, int, double,
     double *, int);
WEAK(void, cblas_cgemm, int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *,
     void *, int);
WEAK(char *, openblas_get_corename, void);
#define LB_FUNCTION(name, ...) \
	WEAK(void, s##name##_, __VA_ARGS__); \
	WEAK(void, d##name##_, __VA_ARGS__);
LB_LAPACK_FUNCTIONS(LB_FUNCTION)
#undef LB_FUNCTION
#define LB_FUNCTION(name, ...) WEAK(void, c##name##_, __VA_ARGS__);
LB_LAPACK_COMPLEX_FUNCTIONS(LB_FUNCTION)
#undef LB_FUNCTION

enum { UNKNOWN, FOUND, ABSENT };

static struct lb_blas found;
static struct lb_lapack found_f32, found_f64;
static struct lb_lapack_complex found_c64;
static void (*set_threads)(int); /* of the one that was opened, if its products are divided here */
static char description[128] = "none";
static _Atomic int state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A child of fork() must be able to look for it. */
__attribute__((constructor)) static void watch_forks(void)
{
	static struct lb_fork_lock entry = { .lock = &lock };
	lb_free_in_child(&entry);
}

/* OpenBLAS ends its threads before a fork, and for good when the program exits, and waits for ever
 * for one that is at work; after an exit its table of kernels is empty. So both wait for the products
 * under way. Those that come during a fork wait for its end; those that come after an exit has begun
 * do without BLAS, in whatever thread: nobody waits for an end that may not come. */
static pthread_rwlock_t calls = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static bool closed; /* guarded by `calls` */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static void before_fork_of_calls(void)
{
	pthread_rwlock_wrlock(&calls);
}

static void after_fork_of_calls(void)
{
	pthread_rwlock_unlock(&calls);
}

static void after_fork_in_child(void)
{
	/* it is locked by the parent's thread, which has another number */
	static const pthread_rwlock_t open = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	calls = open;
}

/* After OpenBLAS has registered its own, so that these are called before them; without `lock`, which
 * is waited for while handlers are called. */
static void watch_forks_of_calls(void)
{
	static _Atomic bool watched;
	if (!atomic_exchange(&watched, true))
		pthread_atfork(before_fork_of_calls, after_fork_of_calls, after_fork_in_child);
}

static void close_at_exit(int status, void *unused)
{
	(void)unused;
	if (inside) {
		/* exit() in a signal handler, over a product that cannot end before it does: OpenBLAS
		 * would wait for ever */
		fflush(NULL);
		_exit(status);
	}
	pthread_rwlock_wrlock(&calls);
	closed = true;
	pthread_rwlock_unlock(&calls);
}

/* False when the program exits already. Not in a constructor: what a library registers there is
 * called after the libraries have ended. */
static bool watch_exit(void)
{
	return on_exit(close_at_exit, NULL) == 0;
}

static bool wants_skylakex(void)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	return !getenv("OPENBLAS_CORETYPE") && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
#else
	return false;
#endif
}

static void describe_blas(const char *how, char *(*corename)(void))
{
	snprintf(description, sizeof description, "%s%s%s", how, corename ? ", core " : "", corename ? corename() : "");
}

/* All of the real ones, or none, and of the complex ones likewise. */
static void take_lapack(bool all, bool all_complex)
{
	if (all) {
		found.f32 = &found_f32;
		found.f64 = &found_f64;
	}
	if (all_complex)
		found.c64 = &found_c64;
}

static void find_linked_lapack(void)
{
	bool all = true, all_complex = true;

#define LB_FUNCTION(name, ...) \
	all &= (found_f32.name = s##name##_) != NULL; \
	all &= (found_f64.name = d##name##_) != NULL;
	LB_LAPACK_FUNCTIONS(LB_FUNCTION)
#undef LB_FUNCTION
#define LB_FUNCTION(name, ...) all_complex &= (found_c64.name = c##name##_) != NULL;
	LB_LAPACK_COMPLEX_FUNCTIONS(LB_FUNCTION)
#undef LB_FUNCTION
	take_lapack(all, all_complex);
}

static void find_lapack_of(void *library)
{
	bool all = true, all_complex = true;

#define LB_FUNCTION(name, ...) \
	all &= (*(void **)&found_f32.name = dlsym(library, "s" #name "_")) != NULL; \
	all &= (*(void **)&found_f64.name = dlsym(library, "d" #name "_")) != NULL;
	LB_LAPACK_FUNCTIONS(LB_FUNCTION)
#undef LB_FUNCTION
#define LB_FUNCTION(name, ...) all_complex &= (*(void **)&found_c64.name = dlsym(library, "c" #name "_")) != NULL;
	LB_LAPACK_COMPLEX_FUNCTIONS(LB_FUNCTION)
#undef LB_FUNCTION
	take_lapack(all, all_complex);
}

static bool find_linked(void)
{
	if (!cblas_sgemm || !cblas_dgemm || !cblas_cgemm)
		return false;
	found = (struct lb_blas){ .threads = true, .sgemm = cblas_sgemm, .dgemm = cblas_dgemm, .cgemm = cblas_cgemm };
	find_linked_lapack();
	describe_blas("linked", openblas_get_corename);
	return true;
}

/* Its products are divided here, unless the user has chosen how many threads it shall have, or it is made without
 * locks, for one thread alone. */
static void take_threads(void *library)
{
	int (*parallel)(void);
	*(void **)&parallel = dlsym(library, "openblas_get_parallel");
	*(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
	found.threads = !set_threads || !parallel || parallel() == 0 || getenv("OPENBLAS_NUM_THREADS");
	if (found.threads)
		set_threads = NULL;
	else
		set_threads(1);
}

static bool open_library(void)
{
	static const char name[] = "libopenblas.so.0";
	if (!lb_has_loader())
		return false;
	bool steer = wants_skylakex();
	if (steer)
		setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (steer)
		unsetenv("OPENBLAS_CORETYPE");
	if (!library)
		return false;
	*(void **)&found.sgemm = dlsym(library, "cblas_sgemm");
	*(void **)&found.dgemm = dlsym(library, "cblas_dgemm");
	*(void **)&found.cgemm = dlsym(library, "cblas_cgemm");
	if (!found.sgemm || !found.dgemm || !found.cgemm) {
		dlclose(library);
		return false;
	}
	find_lapack_of(library);
	char *(*corename)(void);
	*(void **)&corename = dlsym(library, "openblas_get_corename");
	take_threads(library);
	describe_blas(name, corename);
	return true;
}

static const struct lb_blas *find_blas(void)
{
	int known = atomic_load_explicit(&state, memory_order_acquire);
	if (known == UNKNOWN) {
		pthread_mutex_lock(&lock);
		known = atomic_load_explicit(&state, memory_order_relaxed);
		if (known == UNKNOWN) {
			known = watch_exit() && (find_linked() || open_library()) ? FOUND : ABSENT;
			atomic_store_explicit(&state, known, memory_order_release);
		}
		pthread_mutex_unlock(&lock);
		if (known == FOUND)
			watch_forks_of_calls();
	}
	return known == FOUND ? &found : NULL;
}

const struct lb_blas *lb_blas_enter(void)
{
	const struct lb_blas *blas = inside ? NULL : find_blas();
	if (!blas)
		return NULL;
	inside = true; /* a signal handler may come from here on */
	pthread_rwlock_rdlock(&calls);
	if (!closed)
		return blas;
	lb_blas_leave();
	return NULL;
}

void lb_blas_leave(void)
{
	pthread_rwlock_unlock(&calls);
	inside = false;
}

void lb_blas_lend_threads(bool lent)
{
	if (set_threads)
		set_threads(lent ? lb_parallel_width() : 1);
}

const char *lb_blas_name(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == UNKNOWN && cblas_sgemm ? "linked"
	       : atomic_load(&state) == UNKNOWN                                             ? "none"
											    : description;
}
