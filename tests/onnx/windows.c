#include "windows.h"

#include <string.h>

bool onnx_windows(struct onnx_call *c, const int64_t *kernel, struct onnx_windows *w)
{
	lb_tensor *x = c->in[0];
	lb_list shape = onnx_ints(c, "kernel_shape"), strides = onnx_ints(c, "strides"), pads = onnx_ints(c, "pads"),
		dilations = onnx_ints(c, "dilations");
	const char *automatic = onnx_text(c, "auto_pad", "NOTSET");
	bool ceil_mode = onnx_int(c, "ceil_mode", 0);
	w->n = lb_rank(x) - 2;
	if (w->n < 1 || w->n > ONNX_MOST_SPATIAL)
		return onnx_refuse(c, "windows over %d axes", w->n);
	for (int k = 0; k < w->n; k++) {
		w->kernel[k] = shape.n >= 0 ? onnx_at(shape, k, 1) : kernel[k];
		w->stride[k] = onnx_at(strides, k, 1);
		w->dilation[k] = onnx_at(dilations, k, 1);
		w->low[k] = onnx_at(pads, k, 0);
		w->high[k] = onnx_at(pads, w->n + k, 0);
		w->excess[k] = 0;
		int64_t size = lb_dim(x, k + 2), reach = w->dilation[k] * (w->kernel[k] - 1) + 1;
		if (strncmp(automatic, "SAME", 4) == 0) {
			int64_t n = (size + w->stride[k] - 1) / w->stride[k];
			int64_t all = (n - 1) * w->stride[k] + reach - size;
			all = all < 0 ? 0 : all;
			bool lower = strcmp(automatic, "SAME_LOWER") == 0;
			w->low[k] = lower ? all - all / 2 : all / 2;
			w->high[k] = all - w->low[k];
		}
		int64_t room = size + w->low[k] + w->high[k] - reach;
		if (room < 0 || w->stride[k] < 1)
			return onnx_refuse(c, "windows larger than the input");
		w->count[k] = room / w->stride[k] + 1;
		/* one more, if it begins before the padding behind */
		if (ceil_mode && room % w->stride[k] && w->count[k] * w->stride[k] < size + w->low[k]) {
			w->count[k]++;
			w->excess[k] = w->stride[k] - room % w->stride[k];
		}
	}
	return true;
}

lb_tensor *onnx_windows_view(lb_tensor *x, const struct onnx_windows *w, double value, double excess)
{
	int64_t low[LB_MAX_RANK] = { 0 }, high[LB_MAX_RANK] = { 0 }, more[LB_MAX_RANK] = { 0 };
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], step = 1;
	int n = w->n, rank = n + 2;
	for (int k = 0; k < n; k++) {
		low[k + 2] = w->low[k];
		high[k + 2] = w->high[k];
		more[k + 2] = w->excess[k];
	}
	x = lb_pad(x, (lb_list){ rank, low }, (lb_list){ rank, high }, value);
	x = lb_pad(x, LB_SHAPE(), (lb_list){ rank, more }, excess);
	if (!x)
		return NULL;
	for (int k = rank - 1; k >= 0; k--) {
		if (k >= 2) {
			shape[k + n] = w->kernel[k - 2];
			strides[k + n] = step * w->dilation[k - 2];
		}
		shape[k] = k >= 2 ? w->count[k - 2] : lb_dim(x, k);
		strides[k] = step * (k >= 2 ? w->stride[k - 2] : 1);
		step *= lb_dim(x, k);
	}
	return lb_as_strided(x, (lb_list){ rank + n, shape }, (lb_list){ rank + n, strides }, 0);
}
