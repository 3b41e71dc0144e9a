#include "memory/pages.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "base/environment.h"

enum { HUGE_FROM = 2 << 20 /* bytes: a huge page of x86-64, and of aarch64 with small ones of 4 KiB */ };

static bool wants_huge = true;

void lb_pages_start(void)
{
	static const char *const switches[] = { "0", "1" };

	wants_huge = lb_environment_choice("LAZYBONES_HUGE_PAGES", 2, switches, 1);
}

void *lb_pages_take(size_t nbytes)
{
	void *at = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	if (wants_huge && nbytes >= HUGE_FROM)
		madvise(at, nbytes, MADV_HUGEPAGE); /* a wish: a kernel without them refuses */
	return at;
}
