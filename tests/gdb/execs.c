/* A program that replaces itself by itself, once. */
#include <stdlib.h>
#include <unistd.h>

#include "lazybones.h"

__attribute__((noinline)) static void checkpoint(int generation)
{
	__asm__ volatile("" : : "r"(generation) : "memory");
}

int main(int argc, char **argv)
{
	int generation = argc > 1 ? atoi(argv[1]) : 1;
	lb_tensor *row = lb_keep(lb_named("row", lb_full(LB_SHAPE(3), generation, LB_F32)));

	lb_eval(row);
	checkpoint(generation);
	lb_release(row);
	if (generation < 2)
		execl("/proc/self/exe", "execs", "2", (char *)NULL);
	return 0;
}
