/* Fourier transforms, and what is made of them. Complex numbers lie as two along the last axis, real ones as one. */
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
	int64_t n = length.n > 0 ? length.v[0] : lb_dim(window, 0), all = lb_dim(x, 1),
		frames = (all - n) / step.v[0] + 1;
	lb_tensor *y = lb_as_strided(x, LB_SHAPE(lb_dim(x, 0), frames, n), LB_STRIDES(all, step.v[0], 1), 0);
	return transformed(window ? lb_multiply(y, window) : y, 0, 2, false, onesided);
}

/* Triangles over the frequencies, whose corners lie evenly on the mel scale, at whole numbers of the transform. */
static lb_tensor *mel_weights(struct onnx_call *c)
{
	int64_t whole[3][ONNX_MOST_VALUES];
	lb_dtype dtype;
	const char *name;
	if (!onnx_dtype(onnx_int(c, "output_datatype", 1), &dtype, &name))
		return onnx_refuse(c, "dtype %s", name);
	for (int i = 0; i < 3; i++)
		if (onnx_values(c, i, whole[i]).n != 1)
			return onnx_refuse(c, "MelWeightMatrix without numbers");
	int64_t bands = whole[0][0], length = whole[1][0], rate = whole[2][0];
	lb_tensor *edge[2], *corner[3];
	for (int i = 0; i < 2; i++)
		edge[i] = lb_multiply(lb_log10(lb_add(lb_scalar(1),
						      lb_divide(lb_astype(c->in[3 + i], LB_F64), lb_scalar(700)))),
				      lb_scalar(2595));
	lb_tensor *step = lb_divide(lb_subtract(edge[1], edge[0]), lb_scalar((double)(bands + 2)));
	lb_tensor *mel = lb_add(lb_multiply(lb_arange(0, (double)(bands + 2), 1, LB_F64), step), edge[0]);
	lb_tensor *hertz = lb_subtract(lb_power(lb_scalar(10), lb_divide(mel, lb_scalar(2595))), lb_scalar(1));
	lb_tensor *at =
	    lb_floor(lb_divide(lb_multiply(hertz, lb_scalar(700 * (double)(length + 1))), lb_scalar((double)rate)));
	for (int i = 0; i < 3; i++)
		corner[i] = lb_slice(at, LB_RANGE(i, bands + i));
	lb_tensor *bin = lb_expand_dims(lb_arange(0, (double)(length / 2 + 1), 1, LB_F64), LB_AXES(1));
	lb_tensor *rise = lb_divide(lb_subtract(bin, corner[0]), lb_subtract(corner[1], corner[0]));
	lb_tensor *fall = lb_divide(lb_subtract(corner[2], bin), lb_subtract(corner[2], corner[1]));
	rise = lb_where(lb_equal(bin, corner[1]), lb_scalar(1), rise);
	lb_tensor *y = lb_where(lb_less_equal(bin, corner[1]), rise, fall);
	lb_tensor *inside = lb_logical_and(lb_greater_equal(bin, corner[0]),
					   lb_logical_or(lb_less(bin, corner[2]), lb_equal(bin, corner[1])));
	return lb_astype(lb_where(inside, y, lb_scalar(0)), dtype);
}

const struct onnx_op onnx_signal[] = {
	{ "DFT", .run = dft },
	{ "MelWeightMatrix", .run = mel_weights },
	{ "STFT", .run = stft },
	{ .name = NULL },
};
