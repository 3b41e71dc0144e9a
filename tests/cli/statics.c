/* Dies while a C program's static variables hold its tensors. */
#include <stdlib.h>

#include "lazybones.h"

struct layer {
	lb_tensor *w, *b;
	const char *name;
};

static struct layer layers[3];
lb_tensor *head;

static void step(void)
{
	static lb_tensor *seen[4];
	seen[3] = lb_keep(lb_named("seen", lb_ones(LB_SHAPE(2), LB_F32)));
}

int main(void)
{
	layers[2].b = lb_keep(lb_named("bias", lb_ones(LB_SHAPE(2), LB_F32)));
	head = lb_keep(lb_named("head", lb_ones(LB_SHAPE(2), LB_F32)));
	step();
	abort();
}
