/* The moment when a pointer is taken is not the moment when it does harm. While a debugger asks for it,
 * lb_raw_data() gives, for a view that is not row-contiguous, a pointer to a copy of the whole storage
 * in pages that nobody may touch. The first instruction that does gets SIGSEGV, before it has done
 * anything: that is where the debugger stops. Then the handler opens the pages, the instruction is
 * repeated, and the program goes on with the bytes that it would have found. No instruction that
 * reads the tensor rightly is disturbed, since those use the storage itself. A debugger may have the pages
 * opened where it has stopped, and drop the signal: its `next` would end in the handler.
 *
 * What it cannot see is a system call that is given the pointer: it fails with EFAULT. A program that
 * sets a handler for SIGSEGV of its own between lb_raw_data() and the touch gets the signal.
 *
 * Guards are few and lie at fixed addresses (symtab.h), so that a debugger knows one by its address. A
 * guard is used again when its tensor is gone. Reading in the wrong order may leave the storage; a
 * guard is as long as the view has elements, with zeros behind the copy. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sanitizer.h"

enum {
	STORAGE_MOST = 1 << 30, /* bytes that are copied */
	FAULTS_MOST = 1 << 10,  /* in one guard: as many threads may meet it closed; beyond, it is no help */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lb_guard *guards; /* NULL before the first; guards[0] is not used */
static uint32_t faults[LB_GUARDS];
/* Of those whose place the guards' handler took, the first and the last. The last may pass on to
 * the guards' own, which it found: then the first is meant. */
static struct sigaction first, before;
static bool installed;
static __thread bool passing __attribute__((tls_model("initial-exec")));

static uintptr_t guard_address(size_t i)
{
	return (uintptr_t)(LB_GUARD_BASE + i * LB_GUARD_STRIDE);
}

static bool open_guard(uintptr_t at)
{
	size_t i = (at - guard_address(0)) >> LB_GUARD_SHIFT;
	struct lb_guard *table = __atomic_load_n(&guards, __ATOMIC_ACQUIRE);
	if (!table || at < guard_address(0) || i == 0 || i >= LB_GUARDS || at - guard_address(i) >= table[i].nbytes ||
	    __atomic_add_fetch(&faults[i], 1, __ATOMIC_RELAXED) > FAULTS_MOST)
		return false;
	__atomic_store_n(&table[i].closed, 0, __ATOMIC_RELAXED);
	return mprotect((void *)guard_address(i), table[i].nbytes, PROT_READ | PROT_WRITE) == 0;
}

bool lb_debug_open_guard(uint64_t address)
{
	return open_guard((uintptr_t)address);
}

static void pass_on(const struct sigaction *to, int signal, siginfo_t *info, void *context)
{
	if (to->sa_flags & SA_SIGINFO) {
		to->sa_sigaction(signal, info, context);
	} else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) {
		to->sa_handler(signal);
	} else {
		sigaction(signal, to, NULL); /* the instruction is repeated, and has its way */
		if (info->si_code <= 0)
			raise(signal); /* it was sent: no instruction does it again */
	}
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	int error = errno;
	bool opened = info->si_code == SEGV_ACCERR && open_guard((uintptr_t)info->si_addr);
	errno = error;
	if (opened)
		return;
	bool again = passing;
	passing = true;
	pass_on(again ? &first : &before, signal, info, context);
	passing = again;
}

/* The program may have set a handler since. */
static bool handle_faults(void)
{
	struct sigaction now, ours = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	if (sigaction(SIGSEGV, NULL, &now) != 0)
		return false;
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
		return true;
	before = now;
	if (!installed)
		first = now;
	installed = true;
	return sigaction(SIGSEGV, &ours, NULL) == 0;
}

static void *map(size_t i, size_t nbytes)
{
	if (LB_SANITIZES_THREADS) /* which ends the program over such an address */
		return NULL;
	void *want = (void *)guard_address(i);
	void *got = mmap(want, nbytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (got != MAP_FAILED && got != want) /* a system that takes the address for a hint */
		munmap(got, nbytes);
	return got == want ? got : NULL;
}

static bool is_alive(const struct lb_guard *guard)
{
	const struct lb_tensor *t = (const struct lb_tensor *)(uintptr_t)guard->tensor;
	return t->id == guard->id && lb_tensor_state(t) != LB_STATE_FREED;
}

/* x's own guard, or one that is free; 0 if there is none. */
static size_t choose(const struct lb_tensor *x)
{
	size_t found = 0;
	for (size_t i = 1; i < LB_GUARDS; i++) {
		if (guards[i].id == x->id)
			return i;
		if (!found && (guards[i].id == 0 || !is_alive(&guards[i])))
			found = i;
	}
	return found;
}

/* Bytes from the storage's start to the end of it, or of what reading on from x's data reaches. */
static bool measure(const struct lb_tensor *x, size_t *ret)
{
	const struct lb_buffer *buffer = lb_tensor_buffer(x);
	int64_t within = (int64_t)((uintptr_t)lb_tensor_data(x) - (uintptr_t)buffer->data), reach;
	if (buffer->nbytes > STORAGE_MOST)
		return false;
	if (__builtin_mul_overflow(x->size, lb_dtypes[x->dtype].bytes, &reach) || reach > STORAGE_MOST)
		reach = STORAGE_MOST;
	reach += within;
	*ret = (size_t)(reach > buffer->nbytes ? reach : buffer->nbytes);
	return true;
}

static const void *fill_guard(size_t i, const struct lb_tensor *x, size_t page, const void *site)
{
	const struct lb_buffer *buffer = lb_tensor_buffer(x);
	size_t nbytes, offset = (size_t)(buffer->data % page);
	if (!measure(x, &nbytes))
		return NULL;
	nbytes = (offset + nbytes + page - 1) / page * page;
	void *at = (void *)guard_address(i);
	if (guards[i].id && guards[i].nbytes != nbytes) {
		munmap(at, guards[i].nbytes);
		guards[i].id = 0;
	}
	if (guards[i].id == 0 ? !map(i, nbytes) : mprotect(at, nbytes, PROT_READ | PROT_WRITE) != 0)
		return NULL;
	memcpy((char *)at + offset, (const void *)(uintptr_t)buffer->data, (size_t)buffer->nbytes);
	const char *data = (char *)at + offset + ((uintptr_t)lb_tensor_data(x) - (uintptr_t)buffer->data);
	guards[i] = (struct lb_guard){
		x->id, (uint64_t)(uintptr_t)x, (uint64_t)(uintptr_t)site, (uint64_t)(uintptr_t)data, nbytes, 1
	};
	__atomic_store_n(&faults[i], 0, __ATOMIC_RELAXED);
	return mprotect(at, nbytes, PROT_NONE) == 0 ? data : NULL;
}

const void *lb_guard(struct lb_tensor *x, const void *site)
{
	long page = sysconf(_SC_PAGESIZE);
	const void *data = NULL;
	pthread_mutex_lock(&lock);
	if (!guards && page > 0) {
		struct lb_guard *table = map(0, LB_GUARDS * sizeof *guards);
		__atomic_store_n(&guards, table, __ATOMIC_RELEASE);
	}
	size_t i = guards && x->size && handle_faults() ? choose(x) : 0;
	if (i)
		data = fill_guard(i, x, (size_t)page, site);
	pthread_mutex_unlock(&lock);
	return data ? data : lb_tensor_data(x);
}
