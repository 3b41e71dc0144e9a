/* Replays of lazy tensors of this very process, read as any other process would be, against what
 * the process itself computes; then records that lie. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe.h"
#include "base/error.h"
#include "base/sanitizer.h"
#include "graph/tensor.h"
#include "inspect/replay/replay.h"
#include "lazybones.h"
#include "self.h"

static bool replay(const lb_tensor *x, struct lbx_replayed *ret)
{
	struct lbx_tensor t;

	return look(x, &t) && lbx_replay(&self->context, &t, NULL, ret);
}

static bool has_run[LB_OPS]; /* in a replay that gave the right bytes */

/* Operations of the lazy tensors that x is made of, but for those that are far away. */
static void note_operations(const lb_tensor *x, int depth)
{
	has_run[x->op] = true;
	for (uint32_t i = 0; i < x->n_inputs && depth; i++)
		if (!lb_is_ready(lb_tensor_input(x, i)))
			note_operations(lb_tensor_input(x, i), depth - 1);
}

/* The replayed bytes are those that evaluating gives, and the tensor stays lazy meanwhile. */
static void same(lb_tensor *x)
{
	struct lbx_replayed replayed;
	if (!x)
		fail_msg("%s", lb_error_message());
	assert_false(lb_is_ready(x));
	note_operations(x, 12);
	if (!replay(x, &replayed))
		fail_msg("%s", lb_error_message());
	assert_false(lb_is_ready(x));
	assert_int_equal(replayed.array.size, lb_size(x));
	size_t n = (size_t)lb_nbytes(x);
	void *computed = malloc(n + 1);
	assert_true(lb_copy_out(x, computed, n));
	assert_memory_equal(computed, replayed.array.local, n);
	free(computed);
	lbx_replay_release(&replayed);
}

static lb_tensor *numbers(lb_list shape, lb_dtype dtype)
{
	return lb_astype(lb_random_uniform(shape, 0.5, 9.5, LB_F32, lb_key(7)), dtype);
}

static lb_tensor *complex_numbers(lb_list shape)
{
	lb_tensor *i = lb_sqrt(lb_full(LB_SHAPE(), -1, LB_C64));
	return lb_add(numbers(shape, LB_F32),
		      lb_multiply(i, lb_sin(lb_random_uniform(shape, 0, 9, LB_F32, lb_key(8)))));
}

static void elementwise(void **state)
{
	(void)state;
	typedef lb_tensor *unary(lb_tensor *);
	unary *const unaries[] = {
#define EACH_UNARY(name) lb_##name,
#include "each_op.h"
	};
	typedef lb_tensor *binary(lb_tensor *, lb_tensor *);
	binary *const binaries[] = {
#define EACH_BINARY(name) lb_##name,
#include "each_op.h"
	};
	const lb_dtype dtypes[] = { LB_F32, LB_F16, LB_BF16, LB_F64, LB_I32 };
	for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(3, 5), dtypes[d]), *row = numbers(LB_SHAPE(5), dtypes[d]);
			for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) {
				lb_tensor *y = unaries[i](x);
				if (y && y != x) /* that it is for parts of complex numbers */
					same(y);
				else if (!y) /* bits */
					assert_true(error_has("not defined for") && dtypes[d] != LB_I32);
			}
			for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
				lb_tensor *y = binaries[i](x, row);
				if (y)
					same(y);
				else /* bits */
					assert_true(error_has("not defined for") && dtypes[d] != LB_I32);
			}
			same(lb_where(lb_greater(x, row), x, lb_scalar_int(2)));
			same(lb_clip(x, lb_scalar_int(2), lb_scalar_int(5)));
		}
	LB_SCOPE {
		lb_tensor *z =
		    lb_exp(lb_multiply(numbers(LB_SHAPE(3, 5), LB_F32), lb_sqrt(lb_full(LB_SHAPE(), -1, LB_C64))));
		for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) {
			lb_tensor *y = unaries[i](z);
			if (y)
				same(y);
			else
				assert_true(error_has("not defined for complex64"));
		}
		lb_tensor *row = complex_numbers(LB_SHAPE(5));
		for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
			lb_tensor *y = binaries[i](z, row);
			if (y)
				same(y);
			else
				assert_true(error_has("not defined for complex64"));
		}
		same(lb_where(lb_greater(z, row), z, lb_scalar(2)));
		same(lb_clip(z, row, lb_scalar(5)));
		lb_tensor *not_finite = lb_divide(z, lb_round(lb_multiply(z, lb_scalar(0.001))));
		same(lb_nan_to_num(not_finite, 1, NAN, -2));
		same(lb_nan_to_num(lb_real(not_finite), 1, NAN, -2));
		same(lb_round_to(z, 1));
		same(lb_isclose(z, row, 0.5, 0.5, true));
	}
}

/* Of what else takes them. */
static void complex(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *z = complex_numbers(LB_SHAPE(2, 4, 8)), *m = complex_numbers(LB_SHAPE(8, 4)),
			  *parts[] = { m, z };
		lb_tensor *(*const reductions[])(lb_tensor *, lb_list, bool) = {
			lb_sum, lb_mean, lb_max, lb_min, lb_prod, lb_all, lb_any, lb_argmax, lb_argmin, lb_norm,
		};
		for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
			same(reductions[i](z, LB_AXES(1), i % 2));
			same(reductions[i](z, LB_ALL_AXES, false));
		}
		same(lb_var(z, LB_AXES(0), true, 1));
		same(lb_std(z, LB_AXES(2), false, 0));
		same(lb_matmul(z, m));
		same(lb_addmm(m, m, lb_slice(m, LB_RANGE(0, 4)), 0.5, 2));
		same(lb_einsum("ij,kli->jk", 2, parts));
		same(lb_hadamard_transform(z, 0));
		same(lb_block_masked_mm(z, m, 2, NULL, NULL, NULL));
		same(lb_gather_mm(z, lb_expand_dims(m, LB_AXES(0)), lb_full(LB_SHAPE(3), 1, LB_I32),
				  lb_zeros(LB_SHAPE(3), LB_I32)));
		same(lb_segmented_mm(lb_transpose(m, LB_ALL_AXES), m,
				     lb_from_data((uint32_t[]){ 1, 3, 0, 8 }, 16, LB_SHAPE(2, 2), LB_U32)));
		same(lb_cumsum(z, 1, true, false));
		same(lb_cumprod(z, -1, false, true));
		same(lb_concatenate(2, (lb_tensor *[]){ lb_swapaxes(z, 1, 2), lb_expand_dims(m, LB_AXES(0)) }, 0));
		same(lb_take(z, lb_from_data((int64_t[]){ 3, 0, -1 }, 24, LB_SHAPE(3), LB_I64), 2));
		same(lb_pad(z, LB_SHAPE(0, 1, 2), LB_SHAPE(3, 0, 1), 2.5));
		same(lb_bitcast(z, LB_F32));
		same(lb_slice_update(z, lb_slice(m, LB_AT(0), LB_AT(1)), LB_AT(1), LB_REVERSED));
		same(lb_slice_add(z, lb_slice(m, LB_TO(4)), LB_AT(1), LB_ALL, LB_TO(4)));
		same(lb_scatter_add(m, lb_full(LB_SHAPE(3), 2, LB_I32), complex_numbers(LB_SHAPE(3, 4)), 0));
		same(lb_put_along_axis(m, lb_zeros(LB_SHAPE(1, 4), LB_I32), complex_numbers(LB_SHAPE(1, 4)), 0,
				       LB_PUT_ASSIGN));
		same(lb_cross(lb_slice(m, LB_ALL, LB_TO(3)), complex_numbers(LB_SHAPE(3)), -1));
		same(lb_matrix_norm(m, 2, 0, 1, false));
		same(lb_fftn(z, LB_SHAPE(5, 3), LB_AXES(0, 2), LB_FFT_ORTHO));
		same(lb_ifft(z, 0, -1, LB_FFT_BACKWARD));
		lb_stft_options frames = { .n = 4, .hop = 3, .two_sided = true };
		lb_tensor *spectrum = lb_stft(z, lb_hanning(4), frames);
		same(spectrum);
		same(lb_istft(spectrum, lb_hanning(4), frames, 0));
	}
}

static void creation(void **state)
{
	(void)state;
	LB_SCOPE {
		same(lb_full(LB_SHAPE(2, 3), 1.5, LB_BF16));
		same(lb_arange(0, 1, 0.1, LB_F32));
		same(lb_eye(4, 5, -1, LB_I8));
		same(lb_random_uniform(LB_SHAPE(100), -1, 1, LB_F16, lb_key(3)));
		same(lb_random_normal(LB_SHAPE(101), LB_F64, lb_key(4)));
		same(lb_random_normal(LB_SHAPE(3, 7), LB_C64, lb_key(4)));
		same(lb_arange(0, 1, 0.1, LB_C64));
		same(lb_zeros(LB_SHAPE(0, 3), LB_F32));
		same(lb_linspace(0, 1, 7, true, LB_F16));
		same(lb_random_randint(LB_SHAPE(50), -3, 4, LB_I16, lb_key(5)));
		same(lb_random_truncated_normal(lb_scalar(-1), lb_scalar(2), LB_SHAPE(9, 9), LB_BF16, lb_key(6)));
		same(lb_random_laplace(LB_SHAPE(50), 1, 2, LB_F32, lb_key(7)));
		same(lb_random_gumbel(LB_SHAPE(50), LB_F64, lb_key(8)));
		same(lb_random_permutation(50, lb_key(9)));
		same(lb_random_bits(lb_full(LB_SHAPE(3, 2), 77, LB_U32), LB_SHAPE(5), LB_U16));
		same(lb_scalar(0.25));
		same(lb_add(lb_ones(LB_SHAPE(2), LB_I64), lb_scalar_int(INT64_MAX - 1)));
		lb_tensor *bytes = lb_full(LB_SHAPE(2, 2 * 144), 7, LB_U8);
		same(lb_decode(bytes, LB_Q4_K, LB_SHAPE(2, 512), LB_F32));
		same(lb_decode(bytes, LB_BIG_ENDIAN, LB_SHAPE(2, 144), LB_I16));
	}
}

static void the_rest(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = numbers(LB_SHAPE(4, 6), LB_F32), *ready = numbers(LB_SHAPE(6, 4), LB_F32);
		lb_tensor *flipped = lb_slice(lb_transpose(ready, LB_ALL_AXES), LB_REVERSED, LB_RANGE(0, 6, 2));
		assert_true(lb_eval(ready, flipped));
		same(lb_matmul(x, ready));
		same(lb_matmul_in_steps(lb_astype(x, LB_BF16), lb_astype(ready, LB_BF16)));
		same(lb_addmm(lb_ones(LB_SHAPE(4), LB_F32), x, ready, 0.5, 2));
		same(lb_softmax(x, LB_AXES(-1)));
		lb_tensor *(*const reductions[])(lb_tensor *, lb_list, bool) = {
			lb_sum, lb_mean, lb_max, lb_min, lb_prod, lb_all, lb_any, lb_logsumexp,
		};
		for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
			same(reductions[i](x, LB_AXES(1), i % 2));
			same(reductions[i](x, LB_ALL_AXES, false));
		}
		same(lb_var(x, LB_AXES(0), true, 1));
		same(lb_argmax(x, LB_AXES(1), false));
		same(lb_argmin(x, LB_ALL_AXES, false));
		same(lb_add(flipped, lb_scalar(1)));
		same(lb_slice(flipped, LB_ALL, LB_AT(1)));
		same(lb_contiguous(flipped));
		same(lb_reshape(lb_transpose(x, LB_ALL_AXES), LB_SHAPE(2, 12)));
		same(lb_as_strided(x, LB_SHAPE(3, 3), LB_STRIDES(1, 2), 4));
		same(lb_broadcast_to(lb_slice(x, LB_ALL, LB_RANGE(1, 2)), LB_SHAPE(4, 3)));
		same(lb_stop_gradient(flipped));
		same(lb_depends(lb_exp(flipped), 0, NULL));
		lb_tensor *parts[] = { x, x, lb_transpose(ready, LB_ALL_AXES), x, x };
		same(lb_depends(lb_transpose(lb_exp(x), LB_ALL_AXES), 5, parts));
		same(lb_depends(flipped, 1, parts));
		same(lb_concatenate(5, parts, 0));
		same(lb_stack(5, parts, 1));
		lb_tensor *indices = lb_from_data((int64_t[]){ 3, 0, -1 }, 24, LB_SHAPE(3), LB_I64);
		same(lb_take(x, indices, 0));
		same(lb_take_along_axis(x, lb_argmax(x, LB_AXES(1), true), 1));
	}
}

static void models(void **state)
{
	(void)state;
	const lb_dtype dtypes[] = { LB_F32, LB_BF16, LB_F64 };
	for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(2, 3, 8), dtypes[d]), *w = numbers(LB_SHAPE(8), dtypes[d]);
			same(lb_layer_norm(x, NULL, NULL, 1e-5));
			same(lb_layer_norm(x, w, NULL, 1e-5));
			same(lb_layer_norm(x, NULL, w, 1e-5));
			same(lb_layer_norm(x, w, w, 1e-5));
			same(lb_rms_norm(x, NULL, 1e-5));
			same(lb_rms_norm(x, w, 1e-5));
			lb_tensor *q = numbers(LB_SHAPE(1, 4, 3, 8), dtypes[d]);
			lb_tensor *k = numbers(LB_SHAPE(1, 2, 5, 8), dtypes[d]);
			same(lb_attention(q, k, k, 0.3, false, NULL));
			same(lb_attention(q, k, k, 0.3, true, lb_less(numbers(LB_SHAPE(3, 5), LB_F32), lb_scalar(4))));
			same(lb_attention(q, k, k, 0.3, false, numbers(LB_SHAPE(5), dtypes[d])));
			same(lb_sort(x, 1));
			same(lb_argsort(x, -1));
			same(lb_topk(x, 2, 2));
			same(lb_cumsum(x, 1, true, false));
			same(lb_scan(x, LB_SCAN_PROD, 1, true, false));
			same(lb_scan(x, LB_SCAN_LOGADDEXP, 1, true, false));
			same(lb_isclose(x, lb_sort(x, 1), 0.1, 0.1, true));
			same(lb_std(x, LB_AXES(1), true, 0));
			same(lb_median(x, LB_AXES(0), false));
			same(lb_unique(x, 5, NULL).values);
			same(lb_unique(lb_round(x), 9, lb_scalar(1)).counts);
			same(lb_unique(x, 9, NULL).inverse);
			same(lb_diff(x, 2, 1));
			same(lb_cross_entropy(x, lb_full(LB_SHAPE(2, 3), 5, LB_I32)));
			lb_tensor *m = numbers(LB_SHAPE(4, 3), dtypes[d]);
			same(lb_diag(lb_diag(m, -1), -1));
			same(lb_triu(lb_roll(x, LB_AXES(2), LB_AXES(1)), 1));
			same(lb_pad_edge(lb_tile(lb_repeat(m, 2, 0), LB_SHAPE(2, 1)), LB_SHAPE(1, 1), LB_SHAPE(0, 2)));
			same(lb_kron(m, lb_tensordot(m, m, LB_AXES(0), LB_AXES(0))));
			same(lb_partition(x, 3, -1));
			same(lb_argpartition(x, 1, 1));
			same(lb_searchsorted(lb_sort(w, 0), lb_transpose(x, LB_ALL_AXES), true));
			same(lb_from_fp8(lb_to_fp8(lb_transpose(x, LB_ALL_AXES)), dtypes[d]));
			same(lb_bitcast(x, LB_U8));
			same(lb_categorical(x, -1, lb_key(9)));
			lb_tensor *image = numbers(LB_SHAPE(2, 6, 7, 4), dtypes[d]);
			lb_tensor *kernel = numbers(LB_SHAPE(6, 3, 2, 2), dtypes[d]);
			lb_conv_options options = { { 2, 1 }, { 1, 2 }, { 1, 2 }, 2 };
			same(lb_conv2d(image, kernel, options));
			lb_norm_grads n = lb_layer_norm_grad(x, w, x, 1e-5), r = lb_rms_norm_grad(x, NULL, x, 1e-5);
			same(n.x);
			same(n.weight);
			same(n.bias);
			same(r.x);
			lb_attention_grads a = lb_attention_grad(q, k, k, 0.3, true, NULL, q);
			same(a.q);
			same(a.v);
			a = lb_attention_grad(q, k, k, 0.3, false, numbers(LB_SHAPE(5), dtypes[d]), q);
			same(a.k);
			lb_tensor *grad = numbers(LB_SHAPE(2, 3, 9, 6), dtypes[d]);
			same(lb_conv2d_input_grad(LB_SHAPE(2, 6, 7, 4), kernel, grad, options));
			same(lb_conv2d_weight_grad(image, LB_SHAPE(6, 3, 2, 2), grad, options));
			same(lb_hadamard_transform(lb_tile(m, LB_SHAPE(1, 4)), 0));
			same(lb_block_masked_mm(x, lb_swapaxes(x, -1, -2), 2, lb_full(LB_SHAPE(1, 1), 0.5, LB_F32),
						NULL, NULL));
			lb_tensor *turned = lb_swapaxes(x, -1, -2);
			same(lb_block_masked_mm(x, turned, 3, NULL,
						lb_full(LB_SHAPE(1, (lb_dim(x, -1) + 2) / 3), 1, LB_BOOL), NULL));
			same(lb_segmented_mm(m, lb_transpose(m, LB_ALL_AXES), lb_full(LB_SHAPE(2, 2), 1, LB_I64)));
			same(lb_gather_mm(x, lb_swapaxes(x, -1, -2), lb_full(LB_SHAPE(3), 1, LB_I32),
					  lb_arange(0, 1, 1, LB_I32)));
			same(lb_conv_transpose2d(image, lb_slice(kernel, LB_REST, LB_RANGE(0, 2)), options,
						 LB_SHAPE(1, 0)));
			same(lb_conv3d(lb_expand_dims(image, LB_AXES(1)), lb_expand_dims(kernel, LB_AXES(1)),
				       (lb_conv3d_options){ .groups = 2 }));
			same(lb_conv_transpose3d(lb_expand_dims(image, LB_AXES(1)),
						 lb_expand_dims(lb_slice(kernel, LB_REST, LB_RANGE(0, 2)), LB_AXES(1)),
						 (lb_conv3d_options){ .groups = 2 }, LB_SHAPE()));
			same(lb_convolve(lb_slice(x, LB_AT(0), LB_AT(0)), lb_slice(x, LB_AT(1), LB_AT(0), LB_TO(4)),
					 LB_CONVOLVE_SAME));
			same(lb_pad(x, LB_SHAPE(0, 1, 2), LB_SHAPE(3, 0, 1), 2.5));
			same(lb_rope(x, 6, true, 10000, 1, 5));
			same(lb_rope(x, 8, false, 500000, 0.5, -1));
		}
}

static void linear_algebra(void **state)
{
	(void)state;
	const lb_dtype dtypes[] = { LB_F32, LB_F64 };
	for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(2, 5, 5), dtypes[d]), *b = numbers(LB_SHAPE(5, 3), dtypes[d]);
			lb_tensor *far = lb_add(x, lb_multiply(lb_eye(5, 5, 0, dtypes[d]), lb_scalar(50)));
			lb_tensor *q, *r, *u, *s, *vt, *w, *v, *sign, *logabs, *rows, *l, *lu, *swaps;
			same(lb_inv(lb_swapaxes(far, -1, -2)));
			same(lb_tri_inv(far, true));
			same(lb_cholesky(lb_matmul(far, lb_swapaxes(far, -1, -2)), true));
			same(lb_solve(far, b));
			same(lb_solve(far, lb_slice(b, LB_ALL, LB_AT(1))));
			same(lb_solve_triangular(far, b, true));
			assert_true(lb_qr(b, &q, &r));
			assert_true(lb_svd(b, &u, &s, &vt));
			assert_true(lb_eigh(x, true, &w, &v));
			assert_true(lb_slogdet(far, &sign, &logabs));
			same(q);
			same(r);
			same(u);
			same(s);
			same(vt);
			same(w);
			same(v);
			same(sign);
			same(logabs);
			assert_true(lb_lu(b, &rows, &l, &u));
			assert_true(lb_lu_factor(b, &lu, &swaps));
			same(rows);
			same(l);
			same(u);
			same(lu);
			same(swaps);
			assert_true(lb_eig(x, &w, &v));
			same(w);
			same(v);
			same(lb_eigvals(x));
			same(lb_svdvals(b));
			same(lb_eigvalsh(x, false));
			same(lb_det(far));
			same(lb_pinv(b));
			same(lb_cross(b, lb_exp(b), -1));
			same(lb_matrix_norm(b, 0, 0, 1, true));
		}
	LB_SCOPE {
		lb_tensor *x = complex_numbers(LB_SHAPE(2, 4, 4)), *u, *s, *vt, *w, *v;
		assert_true(lb_svd(x, &u, &s, &vt));
		same(u);
		same(s);
		same(vt);
		assert_true(lb_eigh(x, true, &w, &v));
		same(w);
		same(v);
		assert_true(lb_eig(x, &w, &v));
		same(w);
		same(v);
		same(lb_svdvals(x));
		same(lb_eigvals(x));
		same(lb_eigvalsh(x, true));
		same(lb_pinv(x));
	}
}

static void fourier(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = numbers(LB_SHAPE(3, 6, 5), LB_F32);
		lb_tensor *z = lb_fft(x, 7, 1, LB_FFT_ORTHO),
			  *half = lb_rfftn(x, LB_SHAPE(4, 9), LB_AXES(2, 0), LB_FFT_FORWARD);
		same(z);
		same(half);
		same(lb_ifft2(lb_transpose(z, LB_ALL_AXES), LB_SHAPE(), LB_FFT_BACKWARD));
		same(lb_irfft(half, 9, 0, LB_FFT_BACKWARD));
		same(lb_irfftn(z, LB_SHAPE(), LB_ALL_AXES, LB_FFT_BACKWARD));
		same(lb_fftshift(z, LB_AXES(1)));
		lb_stft_options frames = { .n = 4, .hop = 3 };
		lb_tensor *spectrum = lb_stft(x, lb_hanning(4), frames);
		same(spectrum);
		same(lb_istft(spectrum, lb_hanning(4), frames, 0));
	}
}

static void updates(void **state)
{
	(void)state;
	const lb_dtype dtypes[] = { LB_F32, LB_BF16, LB_I16 };
	for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(5, 3, 8), dtypes[d]), *row = numbers(LB_SHAPE(8), dtypes[d]);
			same(lb_slice_update(x, row, LB_RANGE(1, 4, 2), LB_AT(-1)));
			same(lb_slice_update(x, lb_scalar_int(2), LB_REST, LB_REVERSED));
			same(lb_slice_update(x, row, LB_RANGE(4, 2)));
			same(lb_slice_add(x, row, LB_NEW_AXIS, LB_RANGE(LB_END, 0, -3)));
			same(lb_strided_add(x, numbers(LB_SHAPE(4, 6), dtypes[d]), LB_STRIDES(2, 1), 5));
			same(lb_strided_add(x, lb_slice(row, LB_AT(1)), LB_STRIDES(), 7));
			lb_tensor *indices = lb_from_data((int64_t[]){ 2, 0, -1, 2 }, 32, LB_SHAPE(4), LB_I64);
			same(lb_scatter_add(x, indices, row, 0));
			same(lb_scatter_add(x, indices, numbers(LB_SHAPE(5, 3, 4), dtypes[d]), -1));
			indices = lb_reshape(indices, LB_SHAPE(1, 4, 1));
			same(lb_put_along_axis(x, indices, row, 1, LB_PUT_ADD));
			same(lb_put_along_axis(x, indices, numbers(LB_SHAPE(5, 4, 8), dtypes[d]), 1, LB_PUT_ASSIGN));
		}
}

static void quantised(void **state)
{
	(void)state;
	const lb_quant formats[] = {
		{ .mode = LB_QUANT_AFFINE, .bits = 3, .group = 32 },
		{ .mode = LB_QUANT_AFFINE, .bits = 4, .group = 64 },
		{ .mode = LB_QUANT_MXFP4 },
		{ .mode = LB_QUANT_MXFP8 },
		{ .mode = LB_QUANT_NVFP4 },
	};
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(2, 3, 128), LB_F32);
			bool scaled = formats[i].mode == LB_QUANT_NVFP4;
			lb_tensor *scale = scaled ? lb_max(x, LB_ALL_AXES, false) : NULL;
			lb_quantized q = lb_quantize(numbers(LB_SHAPE(128, 128), LB_BF16), formats[i], scale);
			same(q.w);
			same(q.scales);
			if (q.biases)
				same(q.biases);
			q = lb_quantize(numbers(LB_SHAPE(128, 128), LB_BF16), formats[i], scale);
			same(lb_dequantize(q, formats[i], LB_F16));
			q = lb_quantize(numbers(LB_SHAPE(128, 128), LB_BF16), formats[i], scale);
			same(lb_quantized_matmul(x, q, formats[i], true));
			q = lb_quantize(numbers(LB_SHAPE(128, 128), LB_BF16), formats[i], scale);
			same(lb_quantized_matmul(numbers(LB_SHAPE(128), LB_F32), q, formats[i], true));
			for (int transpose = 0; transpose < 2; transpose++) {
				lb_quant how = formats[i];
				how.activations = LB_I8;
				q = lb_quantize(numbers(LB_SHAPE(128, 128), LB_BF16), how, scale);
				same(lb_quantized_matmul(x, q, how, transpose));
			}
			q = lb_quantize(numbers(LB_SHAPE(128, 128), LB_BF16), formats[i], scale);
			same(lb_quantized_matmul(x, q, formats[i], false));
			q = lb_quantize(numbers(LB_SHAPE(3, 128, 128), LB_BF16), formats[i], scale);
			for (int rounded = 0; rounded < 2; rounded++) {
				lb_quant how = formats[i];
				how.activations = rounded ? LB_I8 : 0;
				same(lb_gather_qmm(x, q, lb_full(LB_SHAPE(4), 1, LB_I32), lb_arange(-1, 3, 1, LB_I32),
						   how, true));
			}
		}
}

/* Views of a ready view that begins inside its buffer, and views of those. */
static void views_of_ready_views(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *base = lb_reshape(lb_arange(0, 200, 1, LB_F32), LB_SHAPE(20, 10));
		lb_tensor *s = lb_slice(base, LB_RANGE(2, 10)), *back = lb_slice(base, LB_REVERSED, LB_AT(3));
		assert_true(lb_eval(base, s, back));
		lb_tensor *v = lb_slice(s, LB_RANGE(0, 2));
		lb_tensor *w = lb_slice(lb_transpose(v, LB_ALL_AXES), LB_RANGE(9, 2, -3));
		same(lb_add(lb_slice(w, LB_AT(1)), lb_slice(back, LB_RANGE(4, 6))));
		same(v); /* before w, whose value keeps v's */
		same(w);
		same(lb_transpose(s, LB_ALL_AXES));
		same(lb_slice(back, LB_RANGE(3, 9, 2)));
		same(lb_sum(lb_broadcast_to(lb_slice(s, LB_AT(1)), LB_SHAPE(3, 10)), LB_AXES(0), false));
		lb_tensor *computed = lb_slice(lb_exp(s), LB_RANGE(3, 5));
		same(lb_transpose(computed, LB_ALL_AXES));
	}
}

static void long_chain(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_zeros(LB_SHAPE(3), LB_F32);
		for (int i = 0; i < 20000; i++)
			x = lb_add(x, lb_scalar(1));
		same(x);
	}
}

static void failing_operation(void **state)
{
	(void)state;
	LB_SCOPE {
		struct lbx_replayed replayed;
		lb_tensor *bad = lb_full(LB_SHAPE(1), 9, LB_I32);
		lb_tensor *x = lb_take(lb_ones(LB_SHAPE(4), LB_F32), bad, 0);
		assert_false(replay(x, &replayed));
		assert_non_null(strstr(lb_error_message(), "take"));
		lb_clear_error();
	}
}

static void limits(void **state)
{
	(void)state;
	LB_SCOPE {
		struct lbx_replayed replayed;
		lb_tensor *x = lb_ones(LB_SHAPE(1 << 20), LB_F32);
		assert_true(lb_eval(x));
		self->settings.replay_memory = 1 << 20;
		assert_false(replay(lb_negative(x), &replayed));
		assert_non_null(strstr(lb_error_message(), "replay-memory"));
		lb_clear_error();
		self->settings.replay_memory = lbx_default_settings.replay_memory;
		/* the result alone does not fit */
		assert_false(replay(lb_contiguous(lb_broadcast_to(x, LB_SHAPE(1 << 20, 1 << 20))), &replayed));
		lb_clear_error();
	}
}

/* Several threads use up processor time faster than the clock goes. */
static void too_long(void **state)
{
	(void)state;
	LB_SCOPE {
		struct lbx_replayed replayed;
		lb_tensor *x = lb_ones(LB_SHAPE(2048, 2048), LB_F64);
		assert_true(lb_eval(x));
		for (int i = 0; i < 200; i++)
			x = lb_matmul(x, x);
		self->settings.replay_seconds = 3;
		assert_false(replay(x, &replayed));
		assert_string_equal(lb_error_message(),
				    "the replay took more than 3 seconds; raise the setting replay-seconds");
		lb_clear_error();
		/* another limit of processor time strikes first */
		pid_t child = fork();
		if (child == 0) {
			struct rlimit few = { 2, 2 };
			setrlimit(RLIMIT_CPU, &few);
			close_self(NULL);
			_exit(open_self(NULL) || replay(x, &replayed) || !strstr(lb_error_message(), "processor time"));
		}
		int status = -1;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		self->settings.replay_seconds = lbx_default_settings.replay_seconds;
	}
}

/* ---- records that lie: each is put right again, since this process lives on ---- */

static void lies(lb_tensor *x, size_t field, size_t width, uint64_t value)
{
	struct lbx_replayed replayed;
	char *at = (char *)x + field;
	uint64_t before = 0;
	memcpy(&before, at, width);
	memcpy(at, &value, width);
	if (replay(x, &replayed))
		lbx_replay_release(&replayed);
	else
		assert_true(*lb_error_message());
	lb_clear_error();
	memcpy(at, &before, width);
}

#define LIES(x, field, value) lies(x, offsetof(struct lb_tensor, field), sizeof(x)->field, (uint64_t)(value))

/* A replay is a process, which takes long to start under a sanitizer: there every field of a
 * tensor gets one of the values. */
enum { SKIP = LB_SANITIZED ? 12 : 1 };

static void damaged_records(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *leaf = numbers(LB_SHAPE(4, 6), LB_F32), *wide = numbers(LB_SHAPE(4, 64), LB_F32);
		lb_quantized q = lb_quantize(wide, (lb_quant){ 0 }, NULL), r = lb_quantize(wide, (lb_quant){ 0 }, NULL);
		lb_tensor *wide_row = lb_slice(wide, LB_RANGE(0, 2), LB_TO(5));
		assert_true(lb_eval(leaf, wide, wide_row, q.w, q.scales, q.biases));
		lb_tensor *xs[] = {
			lb_exp(leaf),
			lb_sum(leaf, LB_AXES(0), false),
			lb_matmul(leaf, lb_transpose(leaf, LB_ALL_AXES)),
			lb_transpose(leaf, LB_ALL_AXES),
			lb_softmax(leaf, LB_AXES(0)),
			lb_concatenate(2, (lb_tensor *[]){ leaf, leaf }, 1),
			lb_take(leaf, lb_full(LB_SHAPE(2), 1, LB_I32), 0),
			lb_arange(0, 9, 1, LB_I32),
			lb_random_normal(LB_SHAPE(3), LB_F32, lb_key(1)),
			lb_eye(3, 3, 0, LB_F32),
			r.biases,
			lb_dequantize(q, (lb_quant){ 0 }, LB_F32),
			lb_quantized_matmul(wide, q, (lb_quant){ 0 }, true),
			lb_slice_add(leaf, lb_scalar(1), LB_RANGE(0, 4, 2)),
			lb_strided_add(leaf, wide_row, LB_STRIDES(1, 0), 2),
		};
		const uint64_t values[] = { 0,
					    1,
					    2,
					    7,
					    31,
					    255,
					    4096,
					    UINT32_MAX,
					    INT64_MAX,
					    UINT64_MAX,
					    (uint64_t)INT64_MIN,
					    (uint64_t)(uintptr_t)leaf };
		for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) {
			for (size_t v = i % SKIP; v < sizeof values / sizeof *values; v += SKIP) {
				LIES(xs[i], op, values[v]);
				LIES(xs[i], dtype, values[v]);
				LIES(xs[i], rank, values[v]);
				LIES(xs[i], state, values[v]);
				LIES(xs[i], n_inputs, values[v]);
				LIES(xs[i], flags, values[v]);
				LIES(xs[i], more_inputs, values[v]);
				LIES(xs[i], offset, values[v]);
				LIES(xs[i], size, values[v]);
				lies(xs[i], offsetof(struct lb_tensor, params), 8, values[v]);
				lies(xs[i], offsetof(struct lb_tensor, params) + 8, 8, values[v]);
				lies(xs[i], offsetof(struct lb_tensor, params) + 16, 8, values[v]);
				lies(xs[i], offsetof(struct lb_tensor, params) + 24, 8, values[v]);
				lies(xs[i], offsetof(struct lb_tensor, shape), 8, values[v]);
				lies(xs[i], offsetof(struct lb_tensor, strides) + 8, 8, values[v]);
				lies(xs[i], offsetof(struct lb_tensor, inputs), 8, values[v]);
			}
			/* its own input */
			lies(xs[i], offsetof(struct lb_tensor, inputs), 8, (uint64_t)(uintptr_t)xs[i]);
			same(xs[i]);
		}
	}
}

static void cycle(void **state)
{
	(void)state;
	LB_SCOPE {
		struct lbx_replayed replayed;
		lb_tensor *a = lb_exp(lb_ones(LB_SHAPE(2), LB_F32)), *b = lb_exp(a);
		uint64_t input = a->inputs[0];
		a->inputs[0] = (uint64_t)(uintptr_t)b;
		assert_false(replay(b, &replayed));
		assert_non_null(strstr(lb_error_message(), "back to itself"));
		lb_clear_error();
		a->inputs[0] = input;
		same(b);
	}
}

/* All of ops.def; a value is no operation, nor are what stands for the arguments of a function, and for a chain that is computed. */
static void each_operation_was_replayed(void **state)
{
	(void)state;
	int n = 0;
	for (int op = 0; op < LB_OPS; op++) {
		n += has_run[op];
		if (!has_run[op] && op != LB_OP_DATA && op != LB_OP_TRACER && op != LB_OP_FUSED)
			fail_msg("no test here replays %s", lb_ops[op].name);
	}
	print_message("%d operations\n", n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(elementwise, open_self, close_self),
		cmocka_unit_test_setup_teardown(complex, open_self, close_self),
		cmocka_unit_test_setup_teardown(creation, open_self, close_self),
		cmocka_unit_test_setup_teardown(the_rest, open_self, close_self),
		cmocka_unit_test_setup_teardown(models, open_self, close_self),
		cmocka_unit_test_setup_teardown(linear_algebra, open_self, close_self),
		cmocka_unit_test_setup_teardown(fourier, open_self, close_self),
		cmocka_unit_test_setup_teardown(updates, open_self, close_self),
		cmocka_unit_test_setup_teardown(quantised, open_self, close_self),
		cmocka_unit_test_setup_teardown(views_of_ready_views, open_self, close_self),
		cmocka_unit_test_setup_teardown(long_chain, open_self, close_self),
		cmocka_unit_test_setup_teardown(failing_operation, open_self, close_self),
		cmocka_unit_test_setup_teardown(limits, open_self, close_self),
		cmocka_unit_test_setup_teardown(too_long, open_self, close_self),
		cmocka_unit_test_setup_teardown(damaged_records, open_self, close_self),
		cmocka_unit_test_setup_teardown(cycle, open_self, close_self),
		cmocka_unit_test(each_operation_was_replayed), /* by those before */
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
