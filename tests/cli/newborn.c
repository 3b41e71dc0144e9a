/* Dies where a thread begins, as in clone3 of libc: without unwind tables, at the end of its stack; and what the
 * register of the frame pointer still holds leads through a list to the heap. */
#include <stdlib.h>
#include <string.h>

#include "lazybones.h"

struct link {
	struct link *next;
	void *pc;
};

__asm__(".text\n"
	".globl begin_thread\n"
	".type begin_thread, %function\n"
	"begin_thread:\n"
#if defined __x86_64__
	"	pushq $0\n"
	"	ud2\n"
#else
	"	mov x29, x0\n"
	"	mov x30, #0\n"
	"	brk #0\n"
#endif
	".size begin_thread, .-begin_thread\n");
extern char begin_thread[];

int main(void)
{
	enum { LINKS = 128 };
	struct link list[LINKS];
	void *heap = malloc(4096);

	/* of a fused chain with a name inside it */
	lb_tensor *x = lb_full(LB_SHAPE(2), 2, LB_F32), *fused = lb_named("fused", lb_exp(x));
	lb_eval(lb_add(fused, lb_negative(x)));
	memset(heap, 0, 4096);
	for (int i = 0; i < LINKS; i++)
		list[i] = (struct link){ i + 1 < LINKS ? &list[i + 1] : NULL, heap };
#if defined __x86_64__
	__asm__ volatile("movq %0, %%rbp\n jmp begin_thread" : : "r"(list) : "memory");
#else
	__asm__ volatile("mov x0, %0\n b begin_thread" : : "r"(list) : "memory", "x0");
#endif
	return 0;
}
