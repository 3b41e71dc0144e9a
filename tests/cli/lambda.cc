/* Dies in the frame of a lambda, or of a class within a function; holds a tensor that takes long to compute. */
#include <cstdlib>

#include "lazybones.h"

static __attribute__((noinline)) lb_tensor *stop(lb_tensor *x)
{
	__asm__ volatile("" : : "r"(x) : "memory");
	abort();
	return x;
}

int main(int argc, char **)
{
	lb_tensor *x = lb_named("given", lb_ones(LB_SHAPE(3), LB_F32));
	lb_tensor *w = lb_named("captured", lb_ones(LB_SHAPE(3), LB_F32));
	lb_tensor *copy = lb_named("copied", lb_ones(LB_SHAPE(3), LB_F32));
	lb_tensor *slow = lb_full(LB_SHAPE(4000, 4000), 1e-3, LB_F32);

	for (int i = 0; i < 1000; i++)
		slow = lb_matmul(slow, slow);
	lb_named("slow", slow);
	auto f = [&w, copy](lb_tensor *y) {
		lb_tensor *q = lb_named("local", lb_add(lb_add(y, w), copy));
		stop(q);
		return q;
	};
	struct inner {
		static lb_tensor *call(lb_tensor *z)
		{
			lb_tensor *r = lb_named("nested", lb_add(z, z));
			stop(r);
			return r;
		}
	};
	return lb_eval(argc > 1 ? inner::call(x) : f(x));
}
