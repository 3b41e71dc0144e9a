/* Fourier transforms of short frames of a line, which overlap, and the line that such frames were taken of. */
#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/view.h"

/* What the options are after their defaults. */
struct frames {
	int64_t n, hop, window;
};

static bool frames_of(const char *name, lb_stft_options options, struct lb_tensor *window, int64_t n,
		      struct frames *ret)
{
	char text[LB_SHAPE_TEXT];
	ret->n = options.n ? options.n : n;
	ret->hop = options.hop ? options.hop : ret->n / 4;
	if (ret->n < 1 || ret->hop < 1)
		return lb_fail("%s: frames of %lld, each %lld after the one before: give numbers from 1 on", name,
			       (long long)ret->n, (long long)ret->hop);
	if (window && window->rank != 1)
		return lb_fail("%s: a window has one axis, not %s", name,
			       lb_shape_text(window->rank, window->shape, text));
	ret->window = window ? window->shape[0] : options.window ? options.window : ret->n;
	if (ret->window < 1 || ret->window > ret->n)
		return lb_fail("%s: a window of %lld in frames of %lld: give one from 1 to that", name,
			       (long long)ret->window, (long long)ret->n);
	return true;
}

/* The window in the middle of a frame: NULL for ones everywhere. */
static struct lb_tensor *window_weights(struct lb_tensor *window, const struct frames *f)
{
	int64_t low = (f->n - f->window) / 2, high = f->n - f->window - low;
	struct lb_tensor *w = window ? lb_astype(window, window->dtype == LB_C64 ? LB_C64 : LB_F32)
				     : lb_ones(LB_SHAPE(f->window), LB_F32);
	return lb_pad(w, LB_SHAPE(low), LB_SHAPE(high), 0);
}

/* The elements from `start` on, `by` of them, of x's last axis, which is mirrored at its ends again and again; these do not
 * come twice. */
static struct lb_tensor *mirrored(struct lb_tensor *x, int64_t start, int64_t by)
{
	int64_t n = x->shape[x->rank - 1];
	struct lb_tensor *period = lb_full(LB_SHAPE(), n > 1 ? 2.0 * (double)(n - 1) : 1, LB_I64);
	struct lb_tensor *at = lb_remainder(lb_add(lb_arange(0, (double)by, 1, LB_I64), lb_scalar_int(start)), period);
	return lb_take(x, lb_minimum(at, lb_subtract(period, at)), -1);
}

/* x with `by` more elements at both ends of its last axis. */
static struct lb_tensor *with_ends(struct lb_tensor *x, int64_t by, lb_stft_ends ends)
{
	int64_t more[LB_MAX_RANK] = { 0 };
	more[x->rank - 1] = by;
	lb_list both = { x->rank, more };
	if (ends == LB_STFT_ZEROS)
		return lb_pad(x, both, both, 0);
	if (ends == LB_STFT_EDGE)
		return lb_pad_edge(x, both, both);
	struct lb_tensor *parts[] = { mirrored(x, -by, by), x, mirrored(x, x->shape[x->rank - 1], by) };
	return lb_concatenate(3, parts, -1);
}

/* x (…, n) as (…, frames, n of one). */
static struct lb_tensor *cut(struct lb_tensor *x, const struct frames *f)
{
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], n = x->shape[x->rank - 1], stride = n;
	int last = x->rank;
	for (int i = last - 2; i >= 0; i--) {
		shape[i] = x->shape[i];
		strides[i] = stride;
		stride *= x->shape[i];
	}
	shape[last - 1] = (n - f->n) / f->hop + 1;
	strides[last - 1] = f->hop;
	shape[last] = f->n;
	strides[last] = 1;
	return lb_as_strided(x, (lb_list){ last + 1, shape }, (lb_list){ last + 1, strides }, 0);
}

lb_tensor *lb_stft(lb_tensor *x, lb_tensor *window, lb_stft_options options)
{
	LB_ENTER_WHOLE();
	char text[LB_SHAPE_TEXT];
	struct frames f;
	if (!LB_GIVEN("stft", x) || (!window && !lb_ok()) || !frames_of("stft", options, window, 2048, &f))
		return NULL;
	if ((unsigned)options.ends > LB_STFT_EDGE) {
		lb_fail("stft: %d is no kind of ends: it takes LB_STFT_REFLECT, LB_STFT_ZEROS and LB_STFT_EDGE",
			(int)options.ends);
		return NULL;
	}
	int64_t length = x->rank ? x->shape[x->rank - 1] : 0;
	if (x->rank == 0 || x->rank == LB_MAX_RANK || length == 0 ||
	    f.n - (options.uncentred ? 0 : f.n / 2 * 2) > length) {
		lb_fail(
		    "stft: of %s, frames of %lld: there must be an axis, as long as one at least, and one axis more",
		    lb_shape_text(x->rank, x->shape, text), (long long)f.n);
		return NULL;
	}
	x = lb_astype(x, x->dtype == LB_C64 ? LB_C64 : LB_F32);
	if (x && !options.uncentred && f.n > 1)
		x = with_ends(x, f.n / 2, options.ends);
	struct lb_tensor *y = x ? lb_multiply(cut(x, &f), window_weights(window, &f)) : NULL;
	if (!y)
		return NULL;
	bool is_half = y->dtype != LB_C64 && !options.two_sided;
	y = is_half ? lb_rfft(y, f.n, -1, options.norm) : lb_fft(y, f.n, -1, options.norm);
	return lb_swapaxes(y, -1, -2);
}

/* Frames (…, frames, n) added where they lie, `total` elements long. */
static struct lb_tensor *overlapped(struct lb_tensor *frames, const struct frames *f, int64_t total)
{
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK], stride = total;
	int last = frames->rank - 1;
	for (int i = last - 2; i >= 0; i--) {
		shape[i] = frames->shape[i];
		strides[i] = stride;
		stride *= frames->shape[i];
	}
	shape[last - 1] = total;
	strides[last - 1] = f->hop;
	strides[last] = 1;
	return lb_strided_add(lb_zeros((lb_list){ last, shape }, LB_F32), frames, (lb_list){ last + 1, strides }, 0);
}

lb_tensor *lb_istft(lb_tensor *x, lb_tensor *window, lb_stft_options options, int64_t length)
{
	LB_ENTER_WHOLE();
	char text[LB_SHAPE_TEXT];
	struct frames f;
	if (!LB_GIVEN("istft", x) || (!window && !lb_ok()))
		return NULL;
	if (x->rank < 2 || x->shape[x->rank - 1] == 0 || length < 0) {
		lb_fail(
		    "istft: takes frequencies and frames, of which there are some, and a length from 0 on, not %s and %lld",
		    lb_shape_text(x->rank, x->shape, text), (long long)length);
		return NULL;
	}
	if (window && window->dtype == LB_C64) {
		lb_fail("istft: takes a window of real numbers, not of complex64");
		return NULL;
	}
	int64_t rows = x->shape[x->rank - 2], count = x->shape[x->rank - 1];
	if (!frames_of("istft", options, window, options.two_sided ? rows : 2 * (rows - 1), &f))
		return NULL;
	int64_t total, start = options.uncentred ? 0 : f.n / 2;
	if (!lb_mul(count - 1, f.hop, &total) || !lb_sum_of(total, f.n, &total) || length > INT64_MAX - start) {
		lb_fail("istft: %lld frames of %lld, each %lld after the one before, or a length of %lld: too long",
			(long long)count, (long long)f.n, (long long)f.hop, (long long)length);
		return NULL;
	}
	int64_t end = length ? start + length : options.uncentred ? total : total - f.n / 2;
	struct lb_tensor *y = lb_swapaxes(x, -1, -2), *w = window_weights(window, &f);
	y = options.two_sided ? lb_real(lb_ifft(y, f.n, -1, options.norm)) : lb_irfft(y, f.n, -1, options.norm);
	y = y ? overlapped(lb_multiply(y, w), &f, total) : NULL;
	struct lb_tensor *squares = lb_broadcast_to(lb_square(w), LB_SHAPE(count, f.n));
	squares = squares ? overlapped(squares, &f, total) : NULL;
	y = lb_divide(y, lb_maximum(squares, lb_scalar(1e-8)));
	y = lb_slice(y, LB_REST, LB_RANGE(start, end < start ? start : end));
	if (!y || !length || y->shape[y->rank - 1] == length)
		return y;
	int64_t more[LB_MAX_RANK] = { 0 };
	more[y->rank - 1] = length - y->shape[y->rank - 1];
	return lb_pad(y, LB_SHAPE(), (lb_list){ y->rank, more }, 0);
}
