/* Tensors whose bytes its core does not save: those of an unreadable mapping, those that are not to be
 * dumped, and those of files, which it writes beside its folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lazybones.h"

enum { N = 1 << 14, BYTES = N * sizeof(float) };

static lb_tensor *mapped(const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "../%s.npy", name);
	LB_SCOPE {
		lb_save_npy(path, lb_full(LB_SHAPE(N), 7, LB_F32));
	}
	return lb_named(name, lb_load_npy(path));
}

int main(void)
{
	float *hole = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	float *secret = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < N; i++)
		secret[i] = 5;
	madvise(secret, BYTES, MADV_DONTDUMP);
	lb_tensor *h = lb_named("hole", lb_from_memory(hole, BYTES, LB_SHAPE(N), LB_F32, NULL, NULL));
	lb_named("secret", lb_from_memory(secret, BYTES, LB_SHAPE(N), LB_F32, NULL, NULL));
	lb_tensor *kept = mapped("kept");
	mapped("changed");
	mapped("gone");
	lb_named("lazy", lb_negative(h));
	lb_named("later", lb_negative(kept));
	lb_eval(lb_named("saved", lb_exp(lb_arange(0, N, 1, LB_F32))));
	abort();
}
