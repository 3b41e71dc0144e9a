/* Fourier transforms against the sums that define them, in long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/tensor.h"
#include "probe.h"

enum { MOST = 4096 };

typedef long double complex number;

/* Dense numbers of a shape. */
struct array {
	int rank;
	int64_t shape[LB_MAX_RANK];
	number v[MOST];
};

static int64_t size_of(const struct array *a)
{
	int64_t n = 1;
	for (int i = 0; i < a->rank; i++)
		n *= a->shape[i];
	assert_true(n <= MOST);
	return n;
}

static void read_array(lb_tensor *x, struct array *ret)
{
	float v[2 * MOST];
	x = lb_astype(x, LB_C64);
	assert_non_null(x);
	ret->rank = lb_rank(x);
	for (int i = 0; i < ret->rank; i++)
		ret->shape[i] = lb_shape(x)[i];
	assert_true(lb_copy_out(x, v, (size_t)size_of(ret) * 2 * sizeof *v));
	for (int64_t i = 0; i < size_of(ret); i++)
		ret->v[i] = v[2 * i] + (long double)v[2 * i + 1] * I;
}

/* Along the axis so many numbers: cut, or zeros behind. */
static void resize(struct array *a, int axis, int64_t n)
{
	static struct array from;
	int64_t inner = 1, old = a->shape[axis];
	for (int i = axis + 1; i < a->rank; i++)
		inner *= a->shape[i];
	from = *a;
	a->shape[axis] = n;
	for (int64_t at = 0; at < size_of(a); at++) {
		int64_t j = at / inner % n;
		a->v[at] = j < old ? from.v[(at / inner / n * old + j) * inner + at % inner] : 0;
	}
}

/* The sums along the axis, sign of the exponent given; all of them. */
static void transform(struct array *a, int axis, int sign)
{
	static struct array from;
	int64_t inner = 1, n = a->shape[axis];
	for (int i = axis + 1; i < a->rank; i++)
		inner *= a->shape[i];
	from = *a;
	for (int64_t at = 0; at < size_of(a); at++) {
		int64_t k = at / inner % n;
		number sum = 0;
		for (int64_t j = 0; j < n; j++) {
			long double angle = sign * 2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
			sum += from.v[at + (j - k) * inner] * (cosl(angle) + sinl(angle) * I);
		}
		a->v[at] = sum;
	}
}

/* Of the half along the axis the n that it stands for: of those that are their own like, the real part counts. */
static void complete(struct array *a, int axis, int64_t n)
{
	static struct array half;
	int64_t inner = 1, m = a->shape[axis];
	for (int i = axis + 1; i < a->rank; i++)
		inner *= a->shape[i];
	half = *a;
	a->shape[axis] = n;
	for (int64_t at = 0; at < size_of(a); at++) {
		int64_t k = at / inner % n, like = (n - k) % n;
		number z = half.v[(at / inner / n * m + (k < m ? k : like)) * inner + at % inner];
		a->v[at] = k == like ? creall(z) : k < m ? z : conjl(z);
	}
}

enum kind { FFT, IFFT, RFFT, IRFFT };
static const char *const names[] = { "fft", "ifft", "rfft", "irfft" };

static lb_tensor *call(enum kind kind, lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm)
{
	lb_tensor *(*const along[])(lb_tensor *, lb_list, lb_list, lb_fft_norm) = { lb_fftn, lb_ifftn, lb_rfftn,
										    lb_irfftn };
	lb_tensor *(*const one[])(lb_tensor *, int64_t, int, lb_fft_norm) = { lb_fft, lb_ifft, lb_rfft, lb_irfft };
	return axes.n == 1 ? one[kind](x, sizes.n ? sizes.v[0] : 0, (int)axes.v[0], norm)
			   : along[kind](x, sizes, axes, norm);
}

static void expect(enum kind kind, lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm, struct array *ret)
{
	long double all = 1;
	int rank = lb_rank(x);
	read_array(x, ret);
	for (int i = 0; i < axes.n; i++) {
		int axis = (int)axes.v[i] < 0 ? (int)axes.v[i] + rank : (int)axes.v[i];
		bool is_half = kind == IRFFT && i == axes.n - 1;
		int64_t n = sizes.n && sizes.v[i] ? sizes.v[i]
			    : is_half             ? 2 * (ret->shape[axis] - 1)
						  : ret->shape[axis];
		resize(ret, axis, is_half ? n / 2 + 1 : n);
		all *= n;
		/* sums along one axis and along another go in any order, but where parts of numbers are dropped */
		if (is_half)
			complete(ret, axis, n);
		transform(ret, axis, kind == FFT || kind == RFFT ? -1 : 1);
	}
	if (kind == RFFT) {
		int axis = (int)axes.v[axes.n - 1];
		axis += axis < 0 ? rank : 0;
		resize(ret, axis, ret->shape[axis] / 2 + 1);
	}
	bool divides = norm == (kind == FFT || kind == RFFT ? LB_FFT_FORWARD : LB_FFT_BACKWARD);
	for (int64_t i = 0; i < size_of(ret); i++)
		ret->v[i] *= norm == LB_FFT_ORTHO ? 1 / sqrtl(all) : divides ? 1 / all : 1;
}

static void check(enum kind kind, lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm)
{
	static struct array got, right;
	lb_tensor *y = call(kind, x, sizes, axes, norm);
	if (!y)
		fail_msg("%s: %s", names[kind], lb_error_message());
	assert_int_equal(lb_dtype_of(y), kind == IRFFT ? LB_F32 : LB_C64);
	expect(kind, x, sizes, axes, norm, &right);
	read_array(y, &got);
	assert_int_equal(got.rank, right.rank);
	assert_memory_equal(got.shape, right.shape, (size_t)got.rank * sizeof *got.shape);
	long double most = 0, off = 0;
	for (int64_t i = 0; i < size_of(&got); i++) {
		most = fmaxl(most, cabsl(right.v[i]));
		off = fmaxl(off, cabsl(got.v[i] - right.v[i]));
	}
	if (!(off <= 2e-6L * most))
		fail_msg("%s of %lld numbers, norm %d: off by %Lg of %Lg", names[kind], (long long)size_of(&got),
			 (int)norm, off, most);
}

static lb_tensor *real_numbers(lb_list shape)
{
	return lb_random_normal(shape, LB_F32, lb_key(7));
}

static lb_tensor *numbers(enum kind kind, lb_list shape)
{
	lb_tensor *x = real_numbers(shape), *i = lb_sqrt(lb_astype(lb_scalar_int(-1), LB_C64));
	return kind == RFFT ? x : lb_add(x, lb_multiply(i, lb_random_normal(shape, LB_F32, lb_key(8))));
}

#define EACH_KIND(kind) for (enum kind kind = FFT; kind <= IRFFT; kind++)
#define EACH_NORM(norm) for (lb_fft_norm norm = LB_FFT_BACKWARD; norm <= LB_FFT_FORWARD; norm++)

/* Powers of two, their neighbours, primes, squares of primes, and such as have large ones in them. */
static void lengths(void **state)
{
	(void)state;
	static const int64_t sizes[] = { 1,  2,  3,  4,  5,   7,   8,   9,   15,  16,  17,  30,
					 31, 49, 64, 97, 100, 127, 128, 169, 211, 256, 513, 1009 };
	EACH_KIND(kind)
		EACH_NORM(norm)
			for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
				LB_SCOPE
					if (kind != IRFFT || sizes[i] > 1)
						check(kind, numbers(kind, LB_SHAPE(sizes[i])), LB_SHAPE(), LB_AXES(-1),
						      norm);
}

static void other_lengths(void **state)
{
	(void)state;
	EACH_KIND(kind)
		for (int64_t n = 1; n <= 14; n++)
			LB_SCOPE {
				lb_tensor *x = numbers(kind, LB_SHAPE(3, 6, 2));
				for (int axis = -3; axis < 3; axis++)
					check(kind, x, LB_SHAPE(n), LB_AXES(axis), LB_FFT_BACKWARD);
				check(kind, x, LB_SHAPE(n, 0, 15 - n), LB_AXES(0, 2, 1), LB_FFT_ORTHO);
				check(kind, x, LB_SHAPE(5, n), LB_AXES(2, -2), LB_FFT_FORWARD);
			}
}

/* Every list of axes of a tensor of three, in each order. */
static void axes(void **state)
{
	(void)state;
	EACH_KIND(kind)
		EACH_NORM(norm)
			LB_SCOPE {
				lb_tensor *x = numbers(kind, LB_SHAPE(4, 3, 5));
				for (int a = 0; a < 3; a++)
					for (int b = 0; b < 3; b++) {
						if (a == b)
							continue;
						check(kind, x, LB_SHAPE(), LB_AXES(a, b), norm);
						check(kind, x, LB_SHAPE(), LB_AXES(a, b, 3 - a - b), norm);
					}
			}
}

static bool same_bits(lb_tensor *a, lb_tensor *b)
{
	return a && b && lb_item(lb_array_equal(a, b, false)) == 1;
}

/* However the numbers lie, and whatever there is beside them, each line has the same bits. */
static void strides(void **state)
{
	(void)state;
	EACH_KIND(kind)
		LB_SCOPE {
			lb_tensor *x = numbers(kind, LB_SHAPE(18, 40, 12));
			lb_tensor *views[] = {
				lb_transpose(x, LB_AXES(2, 0, 1)),
				lb_slice(x, LB_RANGE(1, 18, 2), LB_REVERSED, LB_RANGE(0, 7)),
				lb_broadcast_to(lb_slice(x, LB_AT(0), LB_FROM(30), LB_RANGE(3, 4)), LB_SHAPE(3, 10, 5)),
				lb_swapaxes(x, 0, 1),
			};
			assert_true(lb_eval(x));
			for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
				lb_tensor *copy = lb_add(views[v], lb_scalar(0));
				assert_true(lb_eval(views[v], copy));
				for (int axis = 0; axis < 3; axis++) {
					lb_tensor *all = call(kind, views[v], LB_SHAPE(), LB_AXES(axis), LB_FFT_ORTHO);
					assert_true(same_bits(all, call(kind, copy, LB_SHAPE(), LB_AXES(axis),
									LB_FFT_ORTHO)));
					lb_tensor *last = lb_moveaxis(all, axis, -1);
					lb_tensor *one = lb_slice(lb_moveaxis(views[v], axis, -1), LB_AT(1), LB_AT(2));
					assert_true(same_bits(lb_slice(last, LB_AT(1), LB_AT(2)),
							      call(kind, one, LB_SHAPE(), LB_AXES(0), LB_FFT_ORTHO)));
				}
			}
		}
}

/* Longer than the definition can be summed: back to where it came from, through blocks of many lines. */
static void there_and_back(void **state)
{
	(void)state;
	const int64_t shapes[][2] = { { 3, 1 << 18 }, { 1 << 12, 37 }, { 700, 701 }, { 1, 1000003 } };
	for (size_t i = 0; i < (is_instrumented() ? 1 : 4); i++)
		for (int axis = 0; axis < 2; axis++)
			LB_SCOPE {
				lb_list shape = { 2, shapes[i] };
				lb_tensor *x = real_numbers(shape), *z = numbers(FFT, shape);
				lb_tensor *back =
				    lb_ifft(lb_fft(z, 0, axis, LB_FFT_BACKWARD), 0, axis, LB_FFT_BACKWARD);
				lb_tensor *half = lb_rfft2(x, LB_SHAPE(), LB_FFT_ORTHO);
				lb_tensor *again = lb_irfft2(half, shape, LB_FFT_ORTHO);
				assert_true(lb_item(lb_max(lb_abs(lb_subtract(back, z)), LB_ALL_AXES, false)) < 1e-5);
				assert_true(lb_item(lb_max(lb_abs(lb_subtract(again, x)), LB_ALL_AXES, false)) < 1e-5);
				assert_true(lb_item(lb_max(
						lb_abs(lb_subtract(half, lb_slice(lb_fft2(x, LB_SHAPE(), LB_FFT_ORTHO),
										  LB_ALL, LB_TO(shape.v[1] / 2 + 1)))),
						LB_ALL_AXES, false)) < 1e-4);
			}
}

static void dtypes(void **state)
{
	(void)state;
	LB_SCOPE {
		const lb_dtype all[] = { LB_BOOL, LB_U8, LB_I32, LB_I64, LB_F16, LB_BF16, LB_F32, LB_F64 };
		for (size_t i = 0; i < sizeof all / sizeof *all; i++)
			EACH_KIND(kind)
				check(kind, lb_astype(lb_arange(0, 6, 1, LB_I32), all[i]), LB_SHAPE(), LB_AXES(0),
				      LB_FFT_BACKWARD);
		lb_tensor *z = numbers(FFT, LB_SHAPE(2, 5));
		assert_true(same_bits(lb_rfft(z, 0, 1, LB_FFT_BACKWARD), lb_rfft(lb_real(z), 0, 1, LB_FFT_BACKWARD)));
		assert_true(same_bits(lb_fft2(z, LB_SHAPE(3, 4), LB_FFT_ORTHO),
				      lb_fftn(z, LB_SHAPE(3, 4), LB_AXES(0, 1), LB_FFT_ORTHO)));
		assert_true(same_bits(lb_ifft2(z, LB_SHAPE(), LB_FFT_ORTHO),
				      lb_ifftn(z, LB_SHAPE(), LB_ALL_AXES, LB_FFT_ORTHO)));
		assert_ptr_equal(lb_fftn(z, LB_SHAPE(), LB_AXES(), LB_FFT_ORTHO), z);
	}
}

static void nothing(void **state)
{
	(void)state;
	lb_fft_norm plain = LB_FFT_BACKWARD;
	LB_SCOPE {
		lb_tensor *y = lb_rfft(lb_zeros(LB_SHAPE(0, 4), LB_F32), 0, 1, plain);
		assert_true(lb_eval(y) && lb_size(y) == 0 && lb_dim(y, 1) == 3);
		lb_tensor *none = lb_zeros(LB_SHAPE(2, 0), LB_F32);
		check(FFT, none, LB_SHAPE(3), LB_AXES(1), plain);
		check(FFT, none, LB_SHAPE(5), LB_AXES(0), plain);
		FAILS_AT_ONCE(lb_fft(none, 0, 1, plain), "fft (2,0) 0 elements axis 1");
		FAILS_AT_ONCE(lb_fftn(none, LB_SHAPE(), LB_ALL_AXES, plain), "fftn (2,0) axis 1");
		FAILS_AT_ONCE(lb_irfft(lb_ones(LB_SHAPE(2, 1), LB_C64), 0, -1, plain), "irfft (2,1) 0 elements axis 1");
		FAILS_AT_ONCE(lb_fft(lb_scalar(1), 0, -1, plain), "fft");
		FAILS_AT_ONCE(lb_fftn(lb_scalar(1), LB_SHAPE(), LB_ALL_AXES, plain), "fftn scalar");
		lb_tensor *x = lb_ones(LB_SHAPE(2, 3), LB_F32);
		FAILS_AT_ONCE(lb_fft(x, -1, 0, plain), "fft -1 elements axis 0");
		FAILS_AT_ONCE(lb_rfft(x, 0, 2, plain), "rfft 2");
		FAILS_AT_ONCE(lb_ifftn(x, LB_SHAPE(), LB_AXES(0, -2), plain), "ifftn axis 0 twice");
		FAILS_AT_ONCE(lb_rfftn(x, LB_SHAPE(4), LB_AXES(0, 1), plain), "rfftn 1 sizes one for each");
		FAILS_AT_ONCE(lb_rfftn(x, LB_SHAPE(4, 4), LB_ALL_AXES, plain), "rfftn 2 sizes listed");
		FAILS_AT_ONCE(lb_irfft2(lb_ones(LB_SHAPE(4), LB_C64), LB_SHAPE(), plain), "irfft2");
		FAILS_AT_ONCE(lb_fft(x, 0, 0, (lb_fft_norm)3), "fft norm LB_FFT_ORTHO");
		FAILS_AT_ONCE(lb_fft(x, INT64_MAX / 4, 0, plain), "");
		FAILS_AT_ONCE(lb_fftfreq(0, 1), "fftfreq 0");
		FAILS_AT_ONCE(lb_rfftfreq(4, 0), "rfftfreq");
	}
}

/* Frames by hand: each in its place of the line with its ends, times the window, transformed by itself. */
static void check_frames(lb_tensor *x, lb_tensor *line, lb_tensor *window, lb_stft_options o, int frames)
{
	lb_tensor *y = lb_stft(x, window, o), *wide = lb_pad(window, LB_SHAPE((o.n - lb_dim(window, 0)) / 2),
							     LB_SHAPE((o.n - lb_dim(window, 0) + 1) / 2), 0);
	assert_non_null(y);
	assert_int_equal(lb_dim(y, -1), frames);
	for (int i = 0; i < frames; i++) {
		lb_tensor *frame = lb_multiply(lb_slice(line, LB_REST, LB_RANGE(i * o.hop, i * o.hop + o.n)), wide);
		lb_tensor *one = o.two_sided ? lb_fft(frame, 0, -1, o.norm) : lb_rfft(frame, 0, -1, o.norm);
		lb_tensor *off = lb_max(lb_abs(lb_subtract(lb_slice(y, LB_REST, LB_AT(i)), one)), LB_ALL_AXES, false);
		assert_true(lb_item(off) < 1e-5);
	}
}

static void frames(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_random_normal(LB_SHAPE(3, 9), LB_F32, lb_key(7)), *w = lb_hamming(5);
		lb_stft_options o = { .n = 6, .hop = 2 };
		lb_index before = LB_RANGE(3, 0, -1), behind = LB_RANGE(-2, -5, -1);
		lb_tensor *parts[] = { lb_slice(x, LB_ALL, before), x, lb_slice(x, LB_ALL, behind) };
		check_frames(x, lb_concatenate(3, parts, 1), w, o, 5);
		o.ends = LB_STFT_ZEROS;
		o.two_sided = true;
		check_frames(x, lb_pad(x, LB_SHAPE(0, 3), LB_SHAPE(0, 3), 0), w, o, 5);
		o.ends = LB_STFT_EDGE;
		o.norm = LB_FFT_ORTHO;
		check_frames(x, lb_pad_edge(x, LB_SHAPE(0, 3), LB_SHAPE(0, 3)), w, o, 5);
		o.uncentred = true;
		check_frames(x, x, w, o, 2);
		/* a line that is shorter than what is mirrored of it */
		lb_tensor *three = counting(LB_SHAPE(3));
		lb_tensor *again = lb_from_data((float[]){ 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2 }, 44, LB_SHAPE(11), LB_F32);
		check_frames(three, again, lb_ones(LB_SHAPE(8), LB_F32), (lb_stft_options){ .n = 8, .hop = 2 }, 2);
		/* back: of all overlaps, with a length, and where the window is zero */
		lb_tensor *line = lb_random_normal(LB_SHAPE(2, 16), LB_F32, lb_key(8));
		for (int kind = 0; kind < 6; kind++) {
			lb_stft_options how = {
				.n = 8, .hop = 2, .two_sided = kind & 1, .norm = (lb_fft_norm)(kind / 2)
			};
			lb_tensor *back = lb_istft(lb_stft(line, lb_hanning(8), how), lb_hanning(8), how, 0);
			assert_true(lb_item(lb_allclose(back, line, 1e-4, 1e-5, false)) == 1);
		}
		lb_stft_options how = { .n = 8 };
		lb_tensor *all = lb_stft(line, NULL, how);
		assert_int_equal(lb_dim(lb_istft(all, NULL, (lb_stft_options){ 0 }, 0), -1), 16);
		lb_tensor *longer = lb_istft(all, NULL, how, 30),
			  *apart = lb_istft(all, NULL, (lb_stft_options){ .uncentred = true }, 0);
		assert_true(lb_item(lb_allclose(lb_slice(longer, LB_ALL, LB_TO(16)), line, 1e-4, 1e-5, false)) == 1);
		assert_true(lb_item(lb_max(lb_abs(lb_slice(longer, LB_ALL, LB_FROM(20))), LB_ALL_AXES, false)) == 0);
		assert_int_equal(lb_dim(apart, -1), 24);
		FAILS_AT_ONCE(lb_stft(line, NULL, (lb_stft_options){ .n = 4, .hop = -1 }), "stft 4 -1");
		FAILS_AT_ONCE(lb_stft(line, lb_ones(LB_SHAPE(5), LB_F32), (lb_stft_options){ .n = 4 }),
			      "stft window 5 4");
		FAILS_AT_ONCE(lb_stft(line, lb_ones(LB_SHAPE(5, 1), LB_F32), how), "stft window (5,1)");
		FAILS_AT_ONCE(lb_stft(line, NULL, (lb_stft_options){ .n = 17, .uncentred = true }), "stft (2,16) 17");
		FAILS_AT_ONCE(lb_stft(lb_scalar(1), NULL, how), "stft");
		FAILS_AT_ONCE(lb_stft(line, NULL, (lb_stft_options){ .n = 4, .ends = (lb_stft_ends)3 }),
			      "stft LB_STFT_EDGE");
		FAILS_AT_ONCE(lb_istft(lb_slice(line, LB_AT(0)), NULL, how, 0), "istft (16)");
		FAILS_AT_ONCE(lb_istft(all, lb_ones(LB_SHAPE(8), LB_C64), how, 0), "istft complex64");
		FAILS_AT_ONCE(lb_istft(all, NULL, how, -2), "istft -2");
	}
}

static bool has(lb_tensor *x, int n, const float *v)
{
	return same_bits(x, lb_from_data(v, (size_t)n * sizeof *v, LB_SHAPE(n), LB_F32));
}

static void shifts_and_frequencies(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *five = lb_arange(0, 5, 1, LB_F32), *grid = counting(LB_SHAPE(3, 4));
		assert_true(has(lb_fftshift(five, LB_ALL_AXES), 5, (float[]){ 3, 4, 0, 1, 2 }));
		assert_true(has(lb_ifftshift(five, LB_AXES(0)), 5, (float[]){ 2, 3, 4, 0, 1 }));
		assert_true(has(lb_flatten(lb_fftshift(grid, LB_AXES(-1)), 0, -1), 12,
				(float[]){ 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9 }));
		assert_true(has(lb_flatten(lb_fftshift(grid, LB_ALL_AXES), 0, -1), 12,
				(float[]){ 10, 11, 8, 9, 2, 3, 0, 1, 6, 7, 4, 5 }));
		assert_true(same_bits(lb_ifftshift(lb_fftshift(grid, LB_AXES(1, 0)), LB_AXES(0, 1)), grid));
		lb_tensor *scalar = lb_full(LB_SHAPE(), 3, LB_F32);
		assert_ptr_equal(lb_fftshift(scalar, LB_ALL_AXES), scalar);
		FAILS_AT_ONCE(lb_fftshift(grid, LB_AXES(2)), "fftshift 2");
		FAILS_AT_ONCE(lb_ifftshift(grid, LB_AXES(-3)), "ifftshift -3");
		assert_true(has(lb_fftfreq(4, 0.5), 4, (float[]){ 0, 0.5F, -1, -0.5F }));
		assert_true(has(lb_fftfreq(5, 0.2), 5, (float[]){ 0, 1, 2, -2, -1 }));
		assert_true(has(lb_fftfreq(1, -2), 1, (float[]){ 0 }));
		assert_true(has(lb_rfftfreq(4, 0.5), 3, (float[]){ 0, 0.5F, 1 }));
		assert_true(has(lb_rfftfreq(5, 0.2), 3, (float[]){ 0, 1, 2 }));
	}
}

/* More lengths than plans are kept of, from several threads at once. */
struct many {
	int64_t first;
	bool ok;
};

static void *transform_many(void *arg)
{
	struct many *many = arg;
	int64_t first = many->first;
	bool ok = true;
	for (int round = 0; round < 3; round++)
		for (int64_t n = 1; n <= 40; n++)
			LB_SCOPE {
				lb_tensor *x = real_numbers(LB_SHAPE(2, n + first));
				lb_tensor *y = lb_irfft(lb_rfft(x, 0, 1, LB_FFT_ORTHO), n + first, 1, LB_FFT_ORTHO);
				ok &= lb_item(lb_max(lb_abs(lb_subtract(x, y)), LB_ALL_AXES, false)) < 1e-5;
			}
	many->ok = ok;
	return NULL;
}

static void threads(void **state)
{
	(void)state;
	pthread_t thread[4];
	struct many many[4];
	for (int i = 0; i < 4; i++) {
		many[i].first = 10 * i;
		assert_int_equal(pthread_create(&thread[i], NULL, transform_many, &many[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		assert_true(many[i].ok);
	}
}

static void in_a_child(void **state)
{
	(void)state;
	LB_SCOPE
		assert_true(lb_eval(lb_fft(real_numbers(LB_SHAPE(6)), 0, 0, LB_FFT_BACKWARD)));
	pid_t child = fork();
	if (child == 0) {
		struct many many = { .first = 0 };
		transform_many(&many);
		_exit(many.ok ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Which is called where a debugger has stopped the program: no library is called then. */
static void in_a_debugger(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_fft(lb_ones(LB_SHAPE(4), LB_F32), 0, 0, LB_FFT_BACKWARD);
		const char *why = lb_debug_eval(lb_id(x));
		assert_non_null(why);
		assert_non_null(strstr(why, "fft: within the program a debugger calls no FFTW"));
		assert_true(lb_eval(x));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lengths),
		TEST(other_lengths),
		TEST(axes),
		TEST(strides),
		TEST(there_and_back),
		TEST(dtypes),
		TEST(nothing),
		TEST(threads),
		TEST(in_a_child),
		TEST(in_a_debugger),
		TEST(shifts_and_frequencies),
		TEST(frames),
	};
	return cmocka_run_group_tests_name("fft", tests, NULL, NULL);
}
