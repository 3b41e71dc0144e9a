/* More tensors in one frame's variables than are shown at once. */
#include "lazybones.h"

__attribute__((noinline)) static void checkpoint(void)
{
	__asm__ volatile("nop");
}

int main(void)
{
	lb_tensor *blocks[20];

	for (int i = 0; i < 20; i++)
		blocks[i] = lb_keep(lb_ones(LB_SHAPE(i + 1), LB_F32));
	checkpoint();
	return blocks[0] == NULL;
}
