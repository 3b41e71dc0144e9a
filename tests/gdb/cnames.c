/* What reads otherwise than in C++, or in another radix: a variable `this`, and tensors of an array. */
#include <stdio.h>

#include "lazybones.h"

struct layer {
	lb_tensor *w;
};

lb_tensor *w;

static lb_tensor *named(const char *name, double value)
{
	return lb_keep(lb_named(name, lb_full(LB_SHAPE(2), value, LB_F32)));
}

__attribute__((noinline)) static void method(struct layer *this)
{
	lb_eval(this->w);
	__asm__ volatile("" : : "r"(this) : "memory");
}

int main(void)
{
	lb_tensor *list[20];
	struct layer layer = { named("member", 1) };
	char name[8];

	w = named("global", 2);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "e%d", i);
		list[i] = named(name, i);
	}
	lb_eval_n(20, list);
	lb_eval(w, layer.w);
	method(&layer);
	return 0;
}
