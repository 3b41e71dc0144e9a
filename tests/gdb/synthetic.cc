// An object that the compiler keeps in registers, behind a reference that does not exist: gdb shows it as <synthetic pointer>.
#include <cstdlib>

#include "lazybones.h"

struct request {
	int id, tokens;
};

static lb_tensor *table;
static volatile int ids[] = { 1, 3, 5 };

__attribute__((noinline)) static int at(int id)
{
	__asm__ volatile("" : : "r"(id) : "memory");
	return id;
}

static inline __attribute__((always_inline)) int handle(const request &r)
{
	int sum = at(r.id);
	sum += at(r.tokens); /* here */
	return sum + at(r.id);
}

int main()
{
	int sum = 0;

	table = lb_keep(lb_named("table", lb_reshape(lb_arange(0, 24, 1, LB_F32), LB_SHAPE(6, 4))));
	lb_eval(table);
	for (int i = 0; i < 3; i++) {
		request r = { ids[i], 2 };
		r.tokens = ids[2 - i];
		sum += handle(r);
	}
	return sum == 0;
}
