/* Windows over the axes after the first two, which pools and products of integers take. */
#ifndef TEST_ONNX_WINDOWS_H
#define TEST_ONNX_WINDOWS_H

#include "ops.h"

enum { ONNX_MOST_SPATIAL = (LB_MAX_RANK - 2) / 2 };

struct onnx_windows {
	int n; /* axes */
	int64_t kernel[ONNX_MOST_SPATIAL], stride[ONNX_MOST_SPATIAL], dilation[ONNX_MOST_SPATIAL];
	int64_t low[ONNX_MOST_SPATIAL], high[ONNX_MOST_SPATIAL]; /* padding */
	int64_t excess[ONNX_MOST_SPATIAL];                  /* more of it, which ceil_mode needs */
	int64_t count[ONNX_MOST_SPATIAL];                   /* how many windows */
};

static inline int64_t onnx_at(lb_list list, int k, int64_t otherwise)
{
	return k < list.n ? list.v[k] : otherwise;
}

/* `kernel` is the default of kernel_shape. */
bool onnx_windows(struct onnx_call *c, const int64_t *kernel, struct onnx_windows *w);
/* A strided view (batch, channels, windows…, kernel…) of x, padded. */
lb_tensor *onnx_windows_view(lb_tensor *x, const struct onnx_windows *w, double value, double excess);

#endif
