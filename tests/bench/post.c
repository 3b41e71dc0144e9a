/* What leaves the cores of the post-mortem rows: N named tensors of one element, and one of
 * BYTES. It tells the peers where the table and the elements are, then dies.
 *
 *	post N BYTES */
#include "bench.h"

#include <inttypes.h>
#include <lazybones.h>
#include <stddef.h>
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

int main(int argc, char **argv)
{
	int64_t n = argc == 3 ? atoll(argv[1]) : 0, bytes = argc == 3 ? atoll(argv[2]) : 0;
	char name[64];

	if (n < 0 || bytes < 4)
		return fprintf(stderr, "usage: %s N BYTES\n", argv[0]), 2;
	lb_tensor *one = lb_keep(lb_ones(LB_SHAPE(1), LB_F32));
	lb_eval(one);
	for (int64_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "layers.%" PRId64 ".weight", i);
		LB_SCOPE
			lb_keep(lb_named(name, lb_reshape(one, LB_SHAPE(1, 1))));
	}
	lb_tensor *big = lb_keep(lb_named("big", lb_random_normal(LB_SHAPE(bytes / 4), LB_F32, lb_key(1))));
	lb_eval(big);
	if (!lb_ok())
		return fprintf(stderr, "%s\n", lb_error_message()), 1;
	die_here(lb_data(big));
}
