/* What the session `break_sieve` looks at: tensors of a name, with one element each or several, of several dtypes. */
#include <math.h>

#include "lazybones.h"

static void turn_ended(void)
{
	__asm__ volatile("nop");
}

int main(void)
{
	static const lb_dtype dtypes[] = { LB_F32, LB_F64, LB_I32, LB_I64, LB_F16, LB_U8 };
	static const double values[] = { -2, 0.1, 3, 1e6 };

	for (int round = 0; round < 8; round++) {
		LB_SCOPE {
			for (int d = 0; d < 6; d++)
				for (int i = 0; i < 4; i++)
					lb_eval(lb_named("v", lb_abs(lb_full(LB_SHAPE(), values[i], dtypes[d]))),
						lb_named("w", lb_negative(lb_full(LB_SHAPE(), values[i], dtypes[d]))));
			lb_eval(lb_named("v", lb_exp(lb_full(LB_SHAPE(1), NAN, LB_F32))));
			lb_eval(lb_named("v", lb_exp(lb_full(LB_SHAPE(2, 3), 2, LB_F32))));
			/* an element amid another's memory */
			lb_tensor *row = lb_exp(lb_arange(0, 4, 1, LB_F32));
			lb_eval(row, lb_named("v", lb_slice(row, LB_AT(2))));
		}
		turn_ended();
	}
	return lb_ok() ? 0 : 1;
}
