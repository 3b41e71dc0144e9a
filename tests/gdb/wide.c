/* Names whose characters take two columns of a terminal, or none. */
#include <stddef.h>

#include "lazybones.h"

static lb_tensor *named(const char *name, lb_tensor *x)
{
	return lb_keep(lb_named(name, x));
}

__attribute__((noinline)) void checkpoint(void)
{
	__asm__ volatile("nop");
}

int main(void)
{
	lb_tensor *kept[4], *sum = NULL;

	LB_SCOPE {
		kept[0] = named("模型.層.0.重み", lb_ones(LB_SHAPE(4, 2), LB_F32));
		kept[1] = named("모델.편향", lb_zeros(LB_SHAPE(2), LB_F16));
		kept[2] = named("cafe\xcc\x81.wei\xcc\x88ght", lb_ones(LB_SHAPE(2), LB_BF16));
		kept[3] = named("plain", lb_arange(0, 4, 1, LB_I32));
		lb_eval(kept[0], kept[1], kept[2], kept[3]);
		sum = named("和", lb_add(kept[0], lb_astype(kept[1], LB_F32)));
		lb_eval(sum);
	}
	checkpoint();
	for (int i = 0; i < 4; i++)
		lb_release(kept[i]);
	lb_release(sum);
	return !lb_ok();
}
