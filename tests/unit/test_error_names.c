/* Each function that makes tensors, of operands that it cannot take, among others: what it says begins with its own name, also
 * where it is made of others that would say theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

enum { MOST_CALLS = 512 };

static struct {
	const char *name;
	int refused;
} calls[MOST_CALLS];
static int n_calls, n_misnamed;
static lb_tensor *out[8];

/* Notes a call of the function, without its lb_, and what came of it. */
static void told(const char *name)
{
	int i = 0;
	while (i < n_calls && strcmp(calls[i].name, name) != 0)
		i++;
	assert_true(i < MOST_CALLS);
	calls[i].name = name;
	n_calls += i == n_calls;
	if (lb_ok())
		return;
	calls[i].refused++;
	size_t n = strlen(name);
	n -= n > 2 && strcmp(name + n - 2, "_n") == 0 ? 2 : 0; /* of what a macro counts for */
	const char *message = lb_error_message();
	if (strncmp(message, name, n) != 0 || message[n] != ':') {
		fprintf(stderr, "%s says: %s\n", name, message);
		n_misnamed++;
	}
	lb_clear_error();
}

#define TELL(name, ...) ((void)lb_##name(__VA_ARGS__), told(#name))

static void of_one(lb_tensor *x)
{
#define EACH_UNARY(name) TELL(name, x);
#include "each_op.h"
	TELL(positive, x), TELL(reciprocal, x), TELL(degrees, x), TELL(radians, x), TELL(trunc, x);
	TELL(round_to, x, 2), TELL(round_to, x, -2), TELL(round_to, x, 0), TELL(round_to, x, 999);
	TELL(nan_to_num, x, 0, NAN, 1e300);
	TELL(astype, x, LB_F16), TELL(astype, x, (lb_dtype)99);
	TELL(bitcast, x, LB_F64), TELL(bitcast, x, (lb_dtype)99);
	TELL(to_fp8, x), TELL(from_fp8, x, LB_F16);
	TELL(zeros_like, x), TELL(ones_like, x);
	TELL(atleast_1d, x), TELL(atleast_2d, x), TELL(atleast_3d, x), TELL(contiguous, x);
	TELL(silu, x), TELL(gelu, x), TELL(gelu_tanh, x);
	TELL(hadamard_transform, x, 0);
	TELL(inv, x), TELL(tri_inv, x, true), TELL(cholesky, x, false), TELL(cholesky_inv, x, true), TELL(pinv, x);
	TELL(qr, x, &out[0], &out[1]), TELL(svd, x, &out[0], &out[1], &out[2]), TELL(svdvals, x);
	TELL(eigh, x, false, &out[0], &out[1]), TELL(eigvalsh, x, false), TELL(eig, x, &out[0], &out[1]),
	    TELL(eigvals, x);
	TELL(lu, x, &out[0], &out[1], &out[2]), TELL(lu_factor, x, &out[0], &out[1]);
	TELL(det, x), TELL(slogdet, x, &out[0], &out[1]);
	TELL(fft2, x, LB_SHAPE(), LB_FFT_BACKWARD), TELL(ifft2, x, LB_SHAPE(), LB_FFT_BACKWARD);
	TELL(rfft2, x, LB_SHAPE(), LB_FFT_BACKWARD), TELL(irfft2, x, LB_SHAPE(), LB_FFT_BACKWARD);
	TELL(random_bits, x, LB_SHAPE(3), LB_U32), TELL(random_bits, x, LB_SHAPE(3), LB_F32);
	TELL(random_bernoulli, x, LB_SHAPE(2, 3), lb_key(1));
	TELL(unique, x, 3, NULL), TELL(unique, x, -1, NULL), TELL(unique, x, INT64_MAX, NULL);
	TELL(tril, x, 1), TELL(triu, x, 1), TELL(diag, x, 1), TELL(diag, x, INT64_MAX);
	TELL(layer_norm, x, NULL, NULL, 1e-5), TELL(rms_norm, x, NULL, -1), TELL(rope, x, 2, false, 1e4, 1, 0);
	TELL(decode, x, LB_Q8_0, LB_SHAPE(32), LB_F32);
	lb_quant affine = { .mode = LB_QUANT_AFFINE };
	TELL(quantize, x, affine, NULL), TELL(quantize, x, (lb_quant){ .mode = LB_QUANT_MXFP4, .bits = 3 }, NULL);
	TELL(dequantize, (lb_quantized){ .w = x, .scales = x, .biases = x }, affine, LB_F32);
	TELL(stop_gradient, x), TELL(depends, x, 1, &x);
	TELL(stft, x, NULL, (lb_stft_options){ .n = 4 }),
	    TELL(stft, x, NULL, (lb_stft_options){ .n = INT64_MAX / 2, .hop = 1 });
	TELL(istft, x, NULL, (lb_stft_options){ .n = 4 }, 0),
	    TELL(istft, x, NULL, (lb_stft_options){ .n = 6, .two_sided = true }, 0);
	TELL(istft, x, NULL, (lb_stft_options){ 0 }, INT64_MAX),
	    TELL(istft, x, NULL, (lb_stft_options){ .hop = INT64_MAX / 2 }, 1);
}

static void along_axis(lb_tensor *x, int axis)
{
	lb_list axes = LB_AXES(axis), all = LB_ALL_AXES, twice = LB_AXES(axis, axis);
#define REDUCTION(name) (TELL(name, x, axes, true), TELL(name, x, all, false), TELL(name, x, twice, false))
	REDUCTION(sum), REDUCTION(mean), REDUCTION(max), REDUCTION(min), REDUCTION(prod), REDUCTION(all),
	    REDUCTION(any);
	REDUCTION(logsumexp), REDUCTION(argmax), REDUCTION(argmin), REDUCTION(median), REDUCTION(norm);
#undef REDUCTION
	TELL(minmax, x, axes, false, &out[0], &out[1]), TELL(minmax, x, all, true, &out[0], &out[1]);
	TELL(var, x, axes, false, 1), TELL(var, x, all, true, -1), TELL(std, x, axes, false, 1),
	    TELL(std, x, all, true, -1);
	TELL(softmax, x, axes), TELL(softmax, x, twice);
	TELL(expand_dims, x, axes), TELL(squeeze, x, axes), TELL(transpose, x, twice), TELL(fftshift, x, axes),
	    TELL(ifftshift, x, twice);
	TELL(flatten, x, axis, -1), TELL(unflatten, x, axis, LB_SHAPE(2, -1)),
	    TELL(unflatten, x, axis, LB_SHAPE(-1, 2, 3, 4));
	TELL(swapaxes, x, 0, axis), TELL(moveaxis, x, axis, 0);
	TELL(diagonal, x, 1, 0, axis), TELL(trace, x, 1, axis, 1);
	TELL(split, x, 2, axis, out), TELL(split_at, x, LB_AXES(1), axis, out);
	TELL(roll, x, LB_AXES(1), axes), TELL(roll, x, LB_AXES(1, 2, 3), all), TELL(roll, x, LB_AXES(1), all);
	TELL(repeat, x, 2, axis), TELL(repeat, x, INT64_MAX / 3, axis);
	TELL(sort, x, axis), TELL(argsort, x, axis), TELL(topk, x, 1, axis), TELL(topk, x, 2, axis);
	TELL(partition, x, 1, axis), TELL(argpartition, x, -3, axis);
	TELL(cumsum, x, axis, false, true), TELL(cumprod, x, axis, true, true), TELL(cummax, x, axis, false, false);
	TELL(cummin, x, axis, true, false), TELL(logcumsumexp, x, axis, false, true),
	    TELL(scan, x, LB_SCAN_SUM, axis, false, true);
	TELL(diff, x, 2, axis), TELL(diff, x, -2, axis), TELL(categorical, x, axis, lb_key(1));
	for (double order = -3; order <= 3; order += 1)
		TELL(vector_norm, x, order, axis, true), TELL(matrix_norm, x, order, axis, -1, true);
	TELL(vector_norm, x, INFINITY, axis, false), TELL(matrix_norm, x, -INFINITY, 0, axis, false),
	    TELL(vector_norm, x, NAN, 0, false);
	static const int64_t lengths[] = { 0, 2, 7, -1, INT64_MAX / 4 };
	for (int i = 0; i < 5; i++) {
		lb_list sizes = LB_SHAPE(lengths[i]);
		TELL(fft, x, lengths[i], axis, LB_FFT_ORTHO), TELL(ifft, x, lengths[i], axis, LB_FFT_FORWARD);
		TELL(rfft, x, lengths[i], axis, LB_FFT_ORTHO), TELL(irfft, x, lengths[i], axis, (lb_fft_norm)9);
		TELL(irfft, x, lengths[i], axis, LB_FFT_ORTHO);
		TELL(fftn, x, sizes, axes, LB_FFT_ORTHO), TELL(ifftn, x, sizes, axes, LB_FFT_FORWARD);
		TELL(rfftn, x, sizes, axes, LB_FFT_ORTHO), TELL(irfftn, x, sizes, axes, LB_FFT_ORTHO);
	}
}

static void of_shapes(lb_tensor *x, lb_list shape)
{
	TELL(reshape, x, shape), TELL(broadcast_to, x, shape), TELL(tile, x, shape),
	    TELL(as_strided, x, shape, LB_STRIDES(3, 1), 0);
	TELL(pad, x, shape, shape, 0), TELL(pad_edge, x, shape, LB_SHAPE());
	TELL(random_bernoulli, x, shape, lb_key(1)), TELL(random_bits, x, shape, LB_U8);
	TELL(random_truncated_normal, x, x, shape, LB_F16, lb_key(1));
	TELL(random_multivariate_normal, x, x, shape, LB_F32, lb_key(1));
	TELL(decode, x, LB_Q4_0, shape, LB_F16);
}

static void of_two(lb_tensor *a, lb_tensor *b)
{
	lb_tensor *both[] = { a, b };
#define EACH_BINARY(name) TELL(name, a, b);
#include "each_op.h"
	TELL(logical_xor, a, b), TELL(isclose, a, b, 1, 1, true), TELL(allclose, a, b, 1, 1, false),
	    TELL(array_equal, a, b, true);
	TELL(divmod, a, b, &out[0], &out[1]), TELL(clip, a, b, NULL), TELL(clip, a, NULL, b), TELL(where, a, b, a),
	    TELL(where, a, a, b);
	TELL(matmul, a, b), TELL(matmul_in_steps, a, b), TELL(inner, a, b), TELL(outer, a, b), TELL(kron, a, b);
	TELL(tensordot, a, b, LB_AXES(-1), LB_AXES(0)), TELL(tensordot, a, b, LB_AXES(), LB_AXES());
	TELL(einsum, "ij,jk->ik", 2, both), TELL(einsum, "...i,...i", 2, both), TELL(einsum, "...,...->...", 2, both);
	int pairs[1][2];
	TELL(einsum_path, "ij,jk->ik", 2, both, pairs);
	TELL(addmm, a, a, b, 1, 2), TELL(addmm, b, a, a, 1, 2), TELL(gather_mm, a, a, b, NULL),
	    TELL(gather_mm, a, b, NULL, NULL);
	TELL(block_masked_mm, a, b, 2, NULL, NULL, NULL), TELL(block_masked_mm, a, a, 2, b, NULL, NULL);
	TELL(block_masked_mm, a, a, 2, NULL, b, NULL), TELL(block_masked_mm, a, a, -2, NULL, NULL, b);
	TELL(segmented_mm, a, b, a), TELL(segmented_mm, a, a, b);
	TELL(linear, a, b, NULL), TELL(linear, a, a, b), TELL(embedding, a, b), TELL(cross_entropy, a, b);
	TELL(layer_norm, a, b, NULL, 1e-5), TELL(layer_norm, a, NULL, b, 1e-5), TELL(rms_norm, a, b, 1e-5);
	TELL(layer_norm_grad, a, NULL, b, 1e-5), TELL(rms_norm_grad, a, b, a, 1e-5);
	TELL(solve, a, b), TELL(solve_triangular, a, b, false);
	TELL(searchsorted, a, b, false), TELL(unique, a, 3, b);
	TELL(stft, a, b, (lb_stft_options){ .n = 3 }),
	    TELL(istft, a, b, (lb_stft_options){ .n = 3, .two_sided = true }, 0);
	TELL(convolve, a, b, LB_CONVOLVE_FULL), TELL(convolve, a, b, (lb_convolve_mode)9);
	TELL(concatenate, 2, both, 0), TELL(stack, 2, both, 0), TELL(meshgrid, 2, both, true, false, out),
	    TELL(depends, a, 2, both);
	TELL(random_truncated_normal, a, b, LB_SHAPE(2, 3), LB_F32, lb_key(1));
	TELL(random_multivariate_normal, a, b, LB_SHAPE(), LB_F32, lb_key(1));
	lb_index all = LB_ALL;
	TELL(slice_update_n, a, b, 1, &all), TELL(slice_add_n, a, b, 1, &all),
	    TELL(strided_add, a, b, LB_STRIDES(1), 0);
	lb_quant affine = { .mode = LB_QUANT_AFFINE };
	lb_quantized codes = { .w = b, .scales = a, .biases = a };
	TELL(quantized_matmul, a, codes, affine, true), TELL(gather_qmm, a, codes, NULL, b, affine, true);
	TELL(quantize, a, (lb_quant){ .mode = LB_QUANT_NVFP4 }, b);
}

static void of_two_along(lb_tensor *a, lb_tensor *b, int axis)
{
	lb_tensor *both[] = { a, b };
	TELL(take, a, b, axis), TELL(take_along_axis, a, b, axis), TELL(cross, a, b, axis);
	TELL(concatenate, 2, both, axis), TELL(stack, 2, both, axis),
	    TELL(tensordot, a, b, LB_AXES(axis), LB_AXES(axis));
	TELL(scatter_add, a, b, a, axis), TELL(scatter_add, a, b, b, axis);
	TELL(put_along_axis, a, b, a, axis, LB_PUT_ADD), TELL(put_along_axis, a, b, b, axis, (lb_put)9);
}

static void convolutions(lb_tensor *x, lb_tensor *weight)
{
	static const int64_t numbers[] = { 0, 1, 2, -1, INT64_MAX };
	for (int i = 0; i < 5 * 5 * 3; i++) {
		int64_t n = numbers[i % 5], m = numbers[i / 5 % 5], groups = i / 25;
		lb_conv_options flat = {
			.stride = { n, 1 }, .padding = { m, 1 }, .dilation = { 1, n }, .groups = groups
		};
		lb_conv3d_options deep = {
			.stride = { n, 1, m }, .padding = { m, 1, 0 }, .dilation = { 1, m, n }, .groups = groups
		};
		lb_list more2 = LB_SHAPE(m, n), more3 = LB_SHAPE(m, n, 0);
		TELL(conv1d, x, weight, flat), TELL(conv2d, x, weight, flat), TELL(conv3d, x, weight, deep);
		TELL(conv_transpose1d, x, weight, flat, n), TELL(conv_transpose2d, x, weight, flat, more2);
		TELL(conv_transpose3d, x, weight, deep, more3);
		TELL(conv2d_input_grad, LB_SHAPE(1, 4, 4, 2), weight, x, flat),
		    TELL(conv2d_weight_grad, x, LB_SHAPE(2, 2, 2, 2), weight, flat);
	}
}

static void attentions(lb_tensor *q, lb_tensor *k)
{
	TELL(attention, q, k, k, 1, true, NULL), TELL(attention, q, q, q, 1, true, k),
	    TELL(attention, q, q, k, 1, false, NULL);
	TELL(attention_grad, q, k, k, 1, true, NULL, q), TELL(attention_grad, q, q, q, 1, true, NULL, k);
}

static void made(lb_list shape, lb_dtype dtype)
{
	lb_random_key key = lb_key(1);
	int64_t n = shape.n > 0 && shape.v ? shape.v[0] : 0;
	float number = 0;
	TELL(zeros, shape, dtype), TELL(ones, shape, dtype), TELL(full, shape, 2, dtype), TELL(eye, n, n, n, dtype),
	    TELL(tri, n, n, 0, dtype);
	TELL(from_data, &number, sizeof number, shape, dtype),
	    TELL(from_memory, &number, sizeof number, shape, dtype, NULL, NULL);
	TELL(arange, 0, (double)n, 0.25, dtype), TELL(arange, 0, (double)n, 0, dtype),
	    TELL(linspace, 0, 1, n, true, dtype);
	TELL(linspace, NAN, 1, n, true, dtype), TELL(linspace, -1e300, INFINITY, n, false, dtype);
	TELL(bartlett, n), TELL(blackman, n), TELL(hamming, n), TELL(hanning, n), TELL(random_permutation, n, key);
	TELL(fftfreq, n, 1), TELL(rfftfreq, n, 0), TELL(fftfreq, n, 1e-300);
	TELL(random_uniform, shape, 0, 1, dtype, key), TELL(random_uniform, shape, NAN, 1, dtype, key),
	    TELL(random_normal, shape, dtype, key);
	TELL(random_randint, shape, 0, n, dtype, key), TELL(random_randint, shape, -300, 300, dtype, key);
	TELL(random_gumbel, shape, dtype, key), TELL(random_laplace, shape, 0, 1, dtype, key);
}

static void each_says_its_name(void **state)
{
	(void)state;
	static int64_t eight[8] = { 1, 1, 1, 1, 1, 1, 1, 2 }, nine[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 2 };
	const int64_t vast = INT64_C(1) << 44;
	const lb_list shapes[] = { LB_SHAPE(),          LB_SHAPE(0),          LB_SHAPE(2),
				   LB_SHAPE(2, 3),      LB_SHAPE(-1),         LB_SHAPE(2, -1),
				   LB_SHAPE(vast),      LB_SHAPE(vast, vast), LB_SHAPE(vast, vast / 256),
				   LB_SHAPE(INT64_MAX), { 8, eight },         { 9, nine },
				   { 2, NULL } };
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (int d = -1; d <= LB_DTYPES; d++)
			LB_SCOPE
				made(shapes[i], (lb_dtype)d);
	LB_SCOPE {
		lb_tensor *xs[] = {
			lb_ones(LB_SHAPE(2, 3), LB_F32),
			lb_ones(LB_SHAPE(3, 3), LB_C64),
			lb_ones(LB_SHAPE(4), LB_I32),
			lb_ones(LB_SHAPE(2, 2), LB_BOOL),
			lb_ones(LB_SHAPE(2, 2), LB_I64),
			lb_ones(LB_SHAPE(3), LB_F64),
			lb_ones(LB_SHAPE(2, 3, 3), LB_BF16),
			lb_ones(LB_SHAPE(), LB_F16),
			lb_ones(LB_SHAPE(), LB_C64),
			lb_ones((lb_list){ 8, eight }, LB_F32),
			lb_ones((lb_list){ 8, eight }, LB_C64),
			lb_ones(LB_SHAPE(0, 3), LB_F32),
			lb_ones(LB_SHAPE(0), LB_U8),
			lb_ones(LB_SHAPE(2, 64), LB_U8),
			lb_broadcast_to(lb_ones(LB_SHAPE(1), LB_U8),
					LB_SHAPE(vast, 1 << 14)), /* that each dtype has room for */
			lb_broadcast_to(lb_ones(LB_SHAPE(1), LB_F32), LB_SHAPE(vast)),
			lb_broadcast_to(lb_ones(LB_SHAPE(1), LB_C64), LB_SHAPE(2, vast)),
			lb_scalar(1.5),
			lb_scalar_int(-300),
			lb_scalar_int(1),
		};
		const int n = sizeof xs / sizeof *xs, axes[] = { 0, -1, 1, 9 };
		for (int i = 0; i < n; i++)
			LB_SCOPE {
				of_one(xs[i]);
				for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
					of_shapes(xs[i], shapes[k]);
				for (int k = 0; k < 4; k++)
					along_axis(xs[i], axes[k]);
				for (int j = 0; j < n; j++) {
					of_two(xs[i], xs[j]);
					for (int k = 0; k < 4; k++)
						of_two_along(xs[i], xs[j], axes[k]);
				}
			}
		lb_tensor *images[] = {
			lb_ones(LB_SHAPE(1, 4, 2), LB_F32),        lb_ones(LB_SHAPE(2, 2, 2), LB_F16),
			lb_ones(LB_SHAPE(1, 4, 4, 2), LB_F32),     lb_ones(LB_SHAPE(2, 2, 2, 2), LB_F64),
			lb_ones(LB_SHAPE(2, 2, 2, 1), LB_C64),     lb_ones(LB_SHAPE(2, 2, 2, 2), LB_I32),
			lb_ones(LB_SHAPE(2, 2, 2, 0), LB_F32),     lb_ones(LB_SHAPE(1, 4, 4, 4, 2), LB_F32),
			lb_ones(LB_SHAPE(2, 2, 2, 2, 2), LB_BF16), lb_ones(LB_SHAPE(2, 2, 2, 2, 2), LB_C64),
			lb_ones(LB_SHAPE(2, 0, 2, 2, 2), LB_F32),  lb_ones(LB_SHAPE(2, 2, 2, 2, 2), LB_I8),
		};
		const int m = sizeof images / sizeof *images;
		for (int i = 0; i < m * m; i++)
			LB_SCOPE {
				convolutions(images[i / m], images[i % m]);
				attentions(images[i / m], images[i % m]);
			}
	}
	/* what takes anything: of these nothing can be seen here */
	static const char anything[] =
	    " positive reciprocal degrees radians nan_to_num zeros_like ones_like contiguous stop_gradient depends "
	    "atleast_1d atleast_2d atleast_3d array_equal "
#define EACH_UNARY(name) " " #name " "
#include "each_op.h"
	    ;
	for (int i = 0; i < n_calls; i++) {
		char name[64];
		snprintf(name, sizeof name, " %s ", calls[i].name);
		if (!calls[i].refused && !strstr(anything, name)) {
			fprintf(stderr, "nothing that %s refuses\n", calls[i].name);
			n_misnamed++;
		}
	}
	printf("%d functions\n", n_calls);
	assert_int_equal(n_misnamed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(each_says_its_name) };
	return cmocka_run_group_tests_name("error_names", tests, NULL, NULL);
}
