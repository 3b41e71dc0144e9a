/* What leaves the cores of the post-mortem rows: N named tensors of one element, and one of
 * BYTES. It tells the peers where the table and the elements are, then dies.
 *
 *	post N BYTES [blocks]
 *
 * `blocks`: its bytes are such that ggml's blocks, of any format, have scales as weights have them. */
#include "bench.h"

#include <inttypes.h>
#include <lazybones.h>
#include <stddef.h>
#include <string.h>
#include <symtab.h>

extern const struct lb_symtab lb_symtab_root;

struct record {
	LB_TENSOR_FIELDS(LB_RECORD_FIELD)
};

__attribute__((noinline)) static void die_here(const void *data)
{
	printf("%p %zu %zu %p\n", (const void *)&lb_symtab_root.kinds[LB_KIND_TENSOR], offsetof(struct record, state),
	       offsetof(struct record, name), data);
	fflush(stdout);
	abort();
}

/* Random bytes, each second one the upper half of an f16 between 2^-7 and 2^-2, and each 17th the exponent of an mxfp4 from
 * 2^-31 on. */
static lb_tensor *like_blocks(int64_t n)
{
	lb_tensor *t = lb_zeros(LB_SHAPE(n), LB_U8);
	uint64_t state = 1;

	lb_eval(t);
	uint8_t *to = (uint8_t *)(uintptr_t)lb_data(t);
	for (int64_t i = 0; to && i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		to[i] = (uint8_t)(i % 2 ? 0x20 + (state >> 40) % 20 : state >> 56);
		if (i % 17 == 0 && i % 2 == 0)
			to[i] = (uint8_t)(0x60 + (state >> 56) % 32);
	}
	return t;
}

int main(int argc, char **argv)
{
	bool is_whole = argc == 3, blocks = argc == 4 && strcmp(argv[3], "blocks") == 0;
	int64_t n = is_whole || blocks ? atoll(argv[1]) : 0, bytes = is_whole || blocks ? atoll(argv[2]) : 0;
	char name[64];

	if (n < 0 || bytes < 4)
		return fprintf(stderr, "usage: %s N BYTES [blocks]\n", argv[0]), 2;
	lb_tensor *one = lb_keep(lb_ones(LB_SHAPE(1), LB_F32));
	lb_eval(one);
	for (int64_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "layers.%" PRId64 ".weight", i);
		LB_SCOPE
			lb_keep(lb_named(name, lb_reshape(one, LB_SHAPE(1, 1))));
	}
	lb_tensor *big = blocks ? like_blocks(bytes) : lb_random_normal(LB_SHAPE(bytes / 4), LB_F32, lb_key(1));
	lb_keep(lb_named("big", big));
	lb_eval(big);
	if (!lb_ok())
		return fprintf(stderr, "%s\n", lb_error_message()), 1;
	die_here(lb_data(big));
}
