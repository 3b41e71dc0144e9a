/* Fourier transforms. Complex numbers lie as two along the last axis, real ones as one. */
#include "ops.h"

static lb_tensor *numbers(lb_tensor *x)
{
	return lb_squeeze(lb_dim(x, -1) == 1 ? lb_astype(x, LB_C64) : lb_bitcast(x, LB_C64), LB_AXES(-1));
}

static lb_tensor *pairs(lb_tensor *y)
{
	return lb_bitcast(lb_expand_dims(y, LB_AXES(-1)), LB_F32);
}

static lb_tensor *transformed(lb_tensor *x, int64_t n, int axis, bool inverse, bool onesided)
{
	if (inverse)
		return pairs(lb_ifft(x, n, axis, LB_FFT_BACKWARD));
	return pairs(onesided ? lb_rfft(x, n, axis, LB_FFT_BACKWARD) : lb_fft(x, n, axis, LB_FFT_BACKWARD));
}

static lb_tensor *dft(struct onnx_call *c)
{
	int64_t length[ONNX_MOST_VALUES], place[ONNX_MOST_VALUES];
	lb_list n = onnx_values(c, 1, length), given = onnx_values(c, 2, place);
	int64_t axis = onnx_int(c, "axis", 1);
	bool inverse = onnx_int(c, "inverse", 0), onesided = onnx_int(c, "onesided", 0);
	if (inverse && onesided)
		return onnx_refuse(c, "inverse of one side");
	return transformed(numbers(c->in[0]), n.n > 0 ? n.v[0] : 0,
			   onnx_axis(given.n > 0 ? given.v[0] : axis, lb_rank(c->in[0])), inverse, onesided);
}

/* Frames are a strided view. */
static lb_tensor *stft(struct onnx_call *c)
{
	int64_t steps[ONNX_MOST_VALUES], lengths[ONNX_MOST_VALUES];
	lb_list step = onnx_values(c, 1, steps), length = onnx_values(c, 3, lengths);
	bool onesided = onnx_int(c, "onesided", 1);
	lb_tensor *x = lb_contiguous(numbers(c->in[0])), *window = c->in[2];
	int64_t n = length.n > 0 ? length.v[0] : lb_dim(window, 0), all = lb_dim(x, 1), frames = (all - n) / step.v[0] + 1;
	lb_tensor *y = lb_as_strided(x, LB_SHAPE(lb_dim(x, 0), frames, n), LB_STRIDES(all, step.v[0], 1), 0);
	return transformed(window ? lb_multiply(y, window) : y, 0, 2, false, onesided);
}

const struct onnx_op onnx_signal[] = {
	{ "DFT", .run = dft },
	{ "STFT", .run = stft },
	{ .name = NULL },
};
