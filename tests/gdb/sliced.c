/* Numbers of a program in slices of its tensors: of each kind of variable that may stand there, and some that may not. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "lazybones.h"

enum kind { FIRST, SECOND };

struct config {
	int heads;
	int64_t offsets[4];
};

__attribute__((noinline)) void checkpoint(void)
{
	__asm__ volatile("");
}

static lb_tensor *named(const char *name, lb_tensor *x)
{
	return lb_keep(lb_named(name, x));
}

int main(void)
{
	struct config config = { .heads = 2, .offsets = { 0, 1, 3, 4 } }, *c = &config;
	int i = 1, n = 3, far = 7, *p = &i;
	unsigned char narrow = 2;
	signed char back = -1;
	size_t none = 0;
	bool yes = true;
	enum kind kind = SECOND;
	float real = 1.5F;
	long wide = 1L << 60;
	const float plain[4] = { 1, 2, 3, 4 };
	lb_tensor *q = named("q", lb_reshape(lb_arange(0, 12, 1, LB_F32), LB_SHAPE(3, 4)));
	lb_tensor *idx = named("idx", lb_astype(lb_scalar(1), LB_I32));
	lb_tensor *lengths = named("lengths", lb_astype(lb_arange(0, 3, 1, LB_F32), LB_I64));
	lb_tensor *lazy = named("lazy", lb_multiply(q, lb_scalar(2)));
	lb_tensor *both[2] = { q, lazy };

	lb_eval(q, idx, lengths);
	checkpoint();
	bool all = config.heads && c && i && n && far && p && narrow && back && yes && kind && real > 0 && wide && both[0] &&
		   both[1] && !none;
	return all && lb_ok() ? 0 : 1;
}
