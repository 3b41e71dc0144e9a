/* Dies where each argument's register holds more bits than its type has. */
#include <stdint.h>

#include "lazybones.h"

__attribute__((noinline)) static void narrow(int negative, short half, unsigned char byte, bool truth, unsigned word,
					     long whole)
{
	__asm__ volatile("" : : "r"(negative), "r"(half), "r"(byte), "r"(truth), "r"(word), "r"(whole));
	__builtin_trap();
}

/* What it is called as: nothing is cut off on the way. */
typedef void wide(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static int in_memory = -5;

int main(void)
{
	uint64_t more = 0xabcdef1200000000;
	wide *volatile call = (wide *)(void (*)(void))narrow;

	lb_eval(lb_arange(0, 4, 1, LB_F32));
	__asm__ volatile("" : : "r"(&in_memory) : "memory");
	call(more | (uint32_t)-2, more | 0x34560000 | (uint16_t)-3, more | 0x7800 | 200, more | 0x5600 | 1,
	     more | 0xfffffff0, (uint64_t)-4);
	return 0;
}
