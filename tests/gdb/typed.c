/* What the session `typed` looks at: tensors of every dtype, and some that come, go, are computed
 * and change. */
#include "lazybones.h"

static float data[] = { 1, 2, 3, 4 };
static volatile int step = 41; /* there is a tensor of this name, too */

__attribute__((noinline)) void stop(void)
{
	__asm__ volatile("" : : : "memory");
}

static void of_every_dtype(void)
{
	static const char *const names[] = { "d.bool", "d.u8", "d.u16", "d.u32", "d.u64", "d.i8", "d.i16",
					     "d.i32", "d.i64", "d.f16", "d.bf16", "d.f32", "d.f64", "d.c64" };
	lb_tensor *x = lb_arange(-1, 3, 1, LB_F32);

	for (int dtype = LB_BOOL; dtype <= LB_C64; dtype++)
		lb_eval(lb_named(names[dtype], lb_astype(lb_abs(x), (lb_dtype)dtype)));
	lb_eval(lb_named("negative", lb_astype(x, LB_I8)));
}

static void of_every_shape(void)
{
	lb_tensor *scalar = lb_named("scalar", lb_full(LB_SHAPE(), 2.5, LB_F64));
	lb_tensor *none = lb_named("none", lb_zeros(LB_SHAPE(2, 0, 3), LB_F32));
	lb_tensor *deep = lb_named("deep", lb_reshape(lb_arange(0, 4, 1, LB_I32),
						      LB_SHAPE(1, 2, 1, 1, 2, 1, 1, 1)));
	lb_tensor *wide = lb_named("wide", lb_broadcast_to(lb_arange(0, 2, 1, LB_F32),
							   LB_SHAPE(1000000, 1000000, 2)));

	lb_eval(scalar, none, deep, wide);
}

int main(void)
{
	lb_tensor *weight, *sum;

	LB_SCOPE {
		of_every_dtype();
		of_every_shape();
		stop();
	}
	LB_SCOPE {
		weight = lb_named("weight", lb_from_memory(data, sizeof data, LB_SHAPE(2, 2), LB_F32, NULL,
							   NULL));
		sum = lb_named("step", lb_add(weight, weight));
		stop();
		lb_eval(sum);
		stop();
		data[2] = 30;
		lb_named("loss", lb_sum(sum, LB_ALL_AXES, false));
		lb_eval(lb_named("loss", lb_mean(sum, LB_ALL_AXES, false)));
		lb_named("int", lb_zeros(LB_SHAPE(1), LB_F32));
		lb_eval(lb_named("tensor", lb_ones(LB_SHAPE(1), LB_F32)));
		stop();
	}
	stop();
	return lb_ok() && step ? 0 : 1;
}
