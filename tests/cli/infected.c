/* Dies when more tensors hold NaN than are told, each made by an operation of its own, and in several events. */
#include <stdio.h>
#include <stdlib.h>

#include "lazybones.h"

int main(void)
{
	for (int i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof name, "bad%d", i);
		lb_tensor *x = lb_keep(lb_named(name, lb_log(lb_full(LB_SHAPE(2), -1 - i, LB_F32))));
		lb_eval(x);
		for (int k = 0; k < 3; k++)
			lb_data(x);
	}
	abort();
}
