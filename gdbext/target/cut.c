#define _GNU_SOURCE
#include "target/cut.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sigaction before;
static atomic_int seen; /* threads may meet such a page together */
static uintptr_t page_size;

/* Any thread that reads. What is no page of a file, or cannot be replaced, goes on as it would have. */
static void replace_page(int number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & -page_size;
	int kept = errno;

	(void)context;
	if (info->si_code == BUS_ADRERR &&
	    mmap((void *)page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
		seen = 1;
	} else {
		sigaction(number, &before, NULL);
		if (info->si_code <= 0)
			raise(number); /* it was sent: no instruction will cause it again */
	}
	errno = kept;
}

void lbx_cut_guard(void)
{
	struct sigaction ours = { .sa_sigaction = replace_page, .sa_flags = SA_SIGINFO };

	seen = 0;
	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &ours, &before);
}

bool lbx_cut_end(void)
{
	sigaction(SIGBUS, &before, NULL);
	return seen;
}

bool lbx_cut_seen(void)
{
	return seen;
}
