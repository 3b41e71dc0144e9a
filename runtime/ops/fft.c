/* Fourier transforms: x is cut to the lengths that are asked for, or padded, and transformed along all axes by one operation. */
#include <math.h>
#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "kernels/model.h"
#include "ops/operation.h"
#include "ops/view.h"

/* x as the operation takes it. params: 0 axis mask, 1 the axis of which half is there (rfft, irfft), 2 what is along it
 * afterwards, 3 norm */
static struct lb_tensor *fft_axis(int op, struct lb_tensor *x, uint32_t mask, int last, int64_t n, lb_fft_norm norm,
				  const void *site)
{
	int64_t shape[LB_MAX_RANK];
	memcpy(shape, x->shape, sizeof shape);
	shape[last] = n;
	struct lb_tensor *t = lb_tensor_begin(op, op == LB_OP_IRFFT ? LB_F32 : LB_C64, x->rank, shape, 1, &x, site);
	if (t) {
		t->params[0] = mask;
		t->params[1] = last;
		t->params[2] = n;
		t->params[3] = (int64_t)norm;
	}
	return lb_tensor_publish(t);
}

/* Along the axes x's first elements, and zeros behind them. */
static struct lb_tensor *with_sizes(struct lb_tensor *x, lb_list shape)
{
	lb_index index[LB_MAX_RANK];
	int64_t more[LB_MAX_RANK];
	bool cuts = false, pads = false;
	for (int i = 0; i < shape.n; i++) {
		index[i] = LB_TO(shape.v[i]);
		more[i] = shape.v[i] > x->shape[i] ? shape.v[i] - x->shape[i] : 0;
		cuts |= shape.v[i] < x->shape[i];
		pads |= more[i] > 0;
	}
	x = cuts ? lb_slice_n(x, shape.n, index) : x;
	return x && pads ? lb_pad(x, LB_SHAPE(), (lb_list){ shape.n, more }, 0) : x;
}

/* `name` is that of the public function. */
static struct lb_tensor *fft_axes(const char *name, int op, struct lb_tensor *x, lb_list sizes, lb_list axes,
				  lb_fft_norm norm)
{
	char text[LB_SHAPE_TEXT];
	uint32_t mask;
	if (!LB_GIVEN(name, x) || !lb_axis_mask(name, axes, lb_shape_of(x), 0, &mask))
		return NULL;
	if ((unsigned)norm > LB_FFT_FORWARD) {
		lb_fail("%s: %d is no norm: it takes LB_FFT_BACKWARD, LB_FFT_ORTHO and LB_FFT_FORWARD", name,
			(int)norm);
		return NULL;
	}
	if (sizes.n != 0 && (sizes.n != axes.n || !sizes.v)) {
		lb_fail("%s: %d sizes: there is one for each axis that is listed, or none", name, sizes.n);
		return NULL;
	}
	if (x->rank == 0) {
		lb_fail("%s: a scalar has no axis to transform", name);
		return NULL;
	}
	if (mask == 0)
		return lb_untouched(x, lb_fail_site_now());
	int count = axes.n < 0 ? x->rank : axes.n, last = 0;
	int64_t shape[LB_MAX_RANK], n = 0;
	memcpy(shape, x->shape, sizeof shape);
	for (int i = 0; i < count; i++) {
		lb_axis(name, axes.n < 0 ? i : axes.v[i], lb_shape_of(x), 0, &last);
		bool is_half = op == LB_OP_IRFFT && i == count - 1;
		n = sizes.n && sizes.v[i] ? sizes.v[i] : is_half ? 2 * (x->shape[last] - 1) : x->shape[last];
		if (n <= 0) {
			lb_fail("%s: of %s, %lld elements along axis %d: there must be some", name,
				lb_shape_text(x->rank, x->shape, text), (long long)n, last);
			return NULL;
		}
		shape[last] = is_half ? n / 2 + 1 : n;
	}
	x = lb_as(x, op == LB_OP_RFFT ? LB_F32 : LB_C64, lb_fail_site_now());
	x = x ? with_sizes(x, (lb_list){ x->rank, shape }) : NULL;
	return x ? fft_axis(op, x, mask, last, op == LB_OP_RFFT ? n / 2 + 1 : n, norm, lb_fail_site_now()) : NULL;
}

#define FFT(name, op) \
	lb_tensor *lb_##name(lb_tensor *x, int64_t n, int axis, lb_fft_norm norm) \
	{ \
		LB_ENTER_WHOLE(); \
		return fft_axes(#name, op, x, LB_SHAPE(n), LB_AXES(axis), norm); \
	} \
	lb_tensor *lb_##name##n(lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm) \
	{ \
		LB_ENTER_WHOLE(); \
		return fft_axes(#name "n", op, x, sizes, axes, norm); \
	} \
	lb_tensor *lb_##name##2(lb_tensor * x, lb_list sizes, lb_fft_norm norm) \
	{ \
		LB_ENTER_WHOLE(); \
		return fft_axes(#name "2", op, x, sizes, LB_AXES(-2, -1), norm); \
	}
FFT(fft, LB_OP_FFT)
FFT(ifft, LB_OP_IFFT)
FFT(rfft, LB_OP_RFFT)
FFT(irfft, LB_OP_IRFFT)

static struct lb_tensor *shifted(const char *name, struct lb_tensor *x, lb_list axes, bool back)
{
	uint32_t mask;
	int64_t by[LB_MAX_RANK], along[LB_MAX_RANK];
	int n = 0;
	if (!LB_GIVEN(name, x) || !lb_axis_mask(name, axes, lb_shape_of(x), 0, &mask))
		return NULL;
	for (int i = 0; i < x->rank; i++)
		if (mask >> i & 1) {
			along[n] = i;
			by[n++] = back ? -(x->shape[i] / 2) : x->shape[i] / 2;
		}
	return n ? lb_roll(x, (lb_list){ n, by }, (lb_list){ n, along }) : lb_untouched(x, lb_fail_site_now());
}

lb_tensor *lb_fftshift(lb_tensor *x, lb_list axes)
{
	LB_ENTER_WHOLE();
	return shifted("fftshift", x, axes, false);
}

lb_tensor *lb_ifftshift(lb_tensor *x, lb_list axes)
{
	LB_ENTER_WHOLE();
	return shifted("ifftshift", x, axes, true);
}

/* low … high - 1, in f32, over n * apart */
static struct lb_tensor *frequencies(const char *name, int64_t n, double apart, int64_t high, int64_t low)
{
	if (n <= 0 || apart == 0 || isnan(apart)) {
		lb_fail("%s: of %lld samples, %g apart: there must be some, and between them", name, (long long)n,
			apart);
		return NULL;
	}
	struct lb_tensor *y = lb_arange(0, (double)high, 1, LB_F32);
	if (low < 0)
		y = lb_concatenate(2, (lb_tensor *[]){ y, lb_arange((double)low, 0, 1, LB_F32) }, 0);
	return lb_multiply(y, lb_scalar(1 / ((double)n * apart)));
}

lb_tensor *lb_fftfreq(int64_t n, double apart)
{
	LB_ENTER_WHOLE();
	return frequencies("fftfreq", n, apart, n - n / 2, -(n / 2));
}

lb_tensor *lb_rfftfreq(int64_t n, double apart)
{
	LB_ENTER_WHOLE();
	return frequencies("rfftfreq", n, apart, n / 2 + 1, 0);
}

/* ---- made anew, and computed ---- */

struct lb_tensor *lb_remake_fft(const struct lb_recipe *r)
{
	struct lb_tensor *x = r->x[0];
	int64_t mask = r->params[0], last = r->params[1], n = r->params[2], norm = r->params[3];
	if (last < 0 || last >= x->rank || mask < 0 || mask >> x->rank || !(mask >> last & 1) || norm < 0 ||
	    norm > LB_FFT_FORWARD || x->dtype != (r->op == LB_OP_RFFT ? LB_F32 : LB_C64))
		return lb_senseless(r);
	int64_t of_half = r->op == LB_OP_IRFFT ? x->shape[last] : n, of_all = r->op == LB_OP_IRFFT ? n : x->shape[last];
	if (of_all < 1 || of_half != (r->op == LB_OP_RFFT || r->op == LB_OP_IRFFT ? of_all / 2 + 1 : of_all))
		return lb_senseless(r);
	return fft_axis(r->op, x, (uint32_t)mask, (int)last, n, (lb_fft_norm)norm, r->site);
}

bool lb_compute_fft(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view x = lb_view_of_input(t, 0), to = lb_view_of(t);
	const int64_t *shape = t->op == LB_OP_RFFT ? x.shape : to.shape;
	uint32_t mask = (uint32_t)t->params[0];
	double n = 1;
	for (int i = 0; i < t->rank; i++)
		n *= mask >> i & 1 ? (double)shape[i] : 1;
	int64_t norm = t->params[3];
	bool is_inverse = t->op == LB_OP_IFFT || t->op == LB_OP_IRFFT;
	bool divides = norm == (is_inverse ? LB_FFT_BACKWARD : LB_FFT_FORWARD);
	double scale = norm == LB_FFT_ORTHO ? 1 / sqrt(n) : divides ? 1 / n : 1;
	return lb_kernel_fft(exec, t->op, &x, mask, (int)t->params[1], scale, &to);
}
