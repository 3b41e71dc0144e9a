/* Sums of elements in place: what the updates share. */
#ifndef LB_KERNELS_ACCUMULATE_H
#define LB_KERNELS_ACCUMULATE_H

#include "kernels/kernels.h"

/* The dtype in which several elements of a dtype are summed: f32 for halves, f64 for f32. */
static inline int lb_sum_stage(int dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16 ? LB_F32 : dtype == LB_F32 ? LB_F64 : dtype;
}

/* to[where[i] * stride] += from[i], one after another; where NULL stands for i. Not of halves. */
void lb_add_at(int dtype, int64_t n, void *to, const int64_t *where, int64_t stride, const void *from);

/* n elements at `from`, a stride apart, as dense ones of another dtype, and back. */
void lb_stage_in(int dtype, int stage, int64_t n, const void *from, int64_t stride, void *to);
void lb_stage_out(int dtype, int stage, int64_t n, const void *from, int64_t stride, void *to);

#endif
