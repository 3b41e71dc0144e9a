/* A tensor of a billion elements, of which memory has only those that were written: for a pane of variables that opens it. */
#include <stdio.h>
#include <sys/mman.h>

#include "lazybones.h"

enum { ELEMENTS = 1000000000 };

__attribute__((noinline)) static void checkpoint(lb_tensor *big, lb_tensor *small)
{
	__asm__ volatile("" : : "r"(big), "r"(small) : "memory");
}

int main(void)
{
	float *data = mmap(NULL, 4UL * ELEMENTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (data == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	data[2003] = 7;
	data[ELEMENTS - 1] = 9;
	lb_tensor *big = lb_named("big", lb_from_memory(data, 4UL * ELEMENTS, LB_SHAPE(ELEMENTS), LB_F32, NULL, NULL));
	lb_tensor *small = lb_named("small", lb_ones(LB_SHAPE(2, 3), LB_F32));

	checkpoint(big, small);
	return !lb_ok();
}
