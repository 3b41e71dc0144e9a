/* Dies in functions that have lost their parameters: what these were is known by how they were called, or, with an argument,
 * is not, as the one that was called has gone on to another in place of its return. */
#include <stdlib.h>

#include "lazybones.h"

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

volatile long count;
lb_tensor *other;

static lb_tensor *ones(const char *name)
{
	return lb_keep(lb_named(name, lb_ones(LB_SHAPE(2), LB_F32)));
}

APART void innermost(long n)
{
	count += n;
	if (count)
		abort();
}

APART void first(lb_tensor *w, long n)
{
	__asm__ volatile("" ::"r"(w));
	innermost(n + 1);
	count++;
}

/* What it hands on is what it was called with itself. */
APART void second(lb_tensor *w, long n)
{
	first(w, n + 1);
	count++;
}

void hop(lb_tensor *w, long n);

APART void bounce(lb_tensor *w, long n)
{
	__asm__ volatile("" ::"r"(w));
	if (n > 0) {
		count += n;
		hop(w, n - 1);
		return;
	}
	innermost(n + 1);
	count++;
}

APART void hop(lb_tensor *w, long n)
{
	bounce(count ? other : w, n);
}

APART void plain(void)
{
	lb_tensor *kept = ones("kept");

	second(kept, 1);
	lb_release(kept);
}

APART void jumped(void)
{
	lb_tensor *kept = ones("kept");

	bounce(kept, 1);
	lb_release(kept);
}

int main(int argc, char **argv)
{
	(void)argv;
	other = ones("another");
	if (argc > 1)
		jumped();
	else
		plain();
	return 0;
}
