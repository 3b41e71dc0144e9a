/* search PID LIBRARY: looks for the objects of PyTorch (torch) or MLX (mlx) in a process, and does nothing with them. Prints how many GiB
 * of memory it has gone through, and in how many seconds of the processor's time. */
#include "bench.h"

#include <string.h>

#include "base/error.h"
#include "mlx/find.h"
#include "target/process.h"
#include "torch/find.h"

static int64_t gone_through;

static bool note(void *context, int64_t done)
{
	(void)context;
	gone_through = done;
	return true;
}

static bool search(struct lbx_target *target, const char *library)
{
	static struct lbx_torch_set torch;
	static struct lbx_mlx_set mlx;
	bool is_torch = strcmp(library, "torch") == 0;

	torch.tensors.target = mlx.tensors.target = target;
	lbx_target_copy(target, true);
	return is_torch ? lbx_torch_set_search(&torch, note, NULL) : lbx_mlx_set_search(&mlx, note, NULL);
}

int main(int n_arguments, char **arguments)
{
	struct lbx_target *target;
	struct timespec begin, end;

	if (n_arguments != 3 || !lbx_process_open(atoi(arguments[1]), &target)) {
		fprintf(stderr, "search: %s\n", n_arguments == 3 ? lb_error_message() : "PID and LIBRARY");
		return 1;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	bool done = search(target, arguments[2]);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	lbx_target_destroy(target);
	if (!done) {
		fprintf(stderr, "search: %s\n", lb_error_message());
		return 1;
	}
	printf("search_s %.3f\nsearch_gib %.3f\n",
	       (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
	       (double)gone_through / (1 << 30));
	return 0;
}
