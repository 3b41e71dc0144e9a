// Calls in functions that -O2 inlines, with lists, which the header makes by functions that it inlines, too.
#include <lazybones.h>
#include <cstdlib>
#include <string>

static lb_tensor *scale(lb_tensor *x)
{
	lb_tensor *s = lb_sum(x, LB_AXES(1), true);
	return lb_named("scaled", lb_divide(x, s));
}

__attribute__((noinline)) static lb_tensor *normal(const std::string &name, lb_tensor *x)
{
	lb_tensor *t = lb_transpose(x, LB_AXES(1, 0));
	return lb_named(name.c_str(), t);
}

int main()
{
	lb_tensor *x = lb_named("x", lb_zeros(LB_SHAPE(2, 3), LB_F32));
	lb_tensor *y = lb_named("y", lb_transpose(scale(x), LB_AXES(1, 0)));
	lb_tensor *t = normal("t", y);
	lb_eval(t);
	abort();
}
