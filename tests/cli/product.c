/* A product that a BLAS is worth, and says the mean of its result. */
#include <lazybones.h>
#include <stdio.h>

int main(void)
{
	LB_SCOPE {
		lb_tensor *ones = lb_ones(LB_SHAPE(512, 512), LB_F32);
		printf("%g\n", lb_item(lb_mean(lb_matmul(ones, ones), LB_ALL_AXES, false)));
	}
	return !lb_ok();
}
