/* Fourier transforms: along the same axes, one further behind. */
#include "batch/rule.h"

struct lb_tensor *lb_batch_fft(struct lb_batching *b)
{
	const int64_t *p = b->t->params, moved[LB_PARAMS] = { p[0] << 1, p[1] + 1, p[2], p[3] };
	struct lb_sizes s = lb_batch_sizes(b);
	return lb_batch_remake(b, moved, lb_sizes_list(&s));
}
