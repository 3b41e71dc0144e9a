/* The macros that take lists, with variables, in C++. */
#include <cstdio>

#include "lazybones.h"

static int calls;

static int64_t once(int64_t i)
{
	calls++;
	return i;
}

static bool is(lb_tensor *x, double expected)
{
	return lb_item(lb_sum(x, LB_ALL_AXES, false)) == expected;
}

int main()
{
	bool done = true;
	int n = 2;
	size_t three = 3;
	int64_t axis = 0;

	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(n, three), LB_F32), *scalar = lb_ones(LB_SHAPE(), LB_F32);
		lb_tensor *column = lb_sum(x, LB_AXES(axis), false);
		lb_tensor *part = lb_slice(x, LB_AT(n - 1), LB_RANGE(once(1), three));
		lb_tensor *y = lb_slice_update(x, scalar, LB_REST, LB_FROM(n));
		lb_tensor *z = lb_slice_add(x, scalar, LB_ALL, LB_TO(n));
		done = lb_eval(x) && lb_eval(column, part) && lb_async_eval(y, z) &&
		       is(x, 6) && is(scalar, 1) && is(column, 6) && is(part, 2) && is(y, 6) && is(z, 10);
	}
	printf("%s, %d call\n", done ? "as in C" : lb_error_message(), calls);
	return !done;
}
