/* Every call of the public header with NULL for each of its pointers. While no message is kept, NULL is an
 * error that says which argument of which call it was, and where that was called; unless the header says that
 * it is fine. What is called here is checked against the header: a new pointer there needs a line here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/tensor.h"
#include "probe.h"

/* ---- what has been called ---- */

enum { PAIRS_MOST = 800, TEXT = 96 };

static struct {
	char name[TEXT]; /* "lb_add a" */
	bool fine;
} tried[PAIRS_MOST];
static int n_tried, n_wrong;

static void note(const char *call, const char *argument, bool fine)
{
	assert_true(n_tried < PAIRS_MOST);
	snprintf(tried[n_tried].name, TEXT, "%s %s", call, argument);
	tried[n_tried++].fine = fine;
}

/* "lb_slice_n" is known as "slice". */
static void name_in_messages(const char *call, char *name)
{
	snprintf(name, TEXT, "%s", call + strlen("lb_"));
	size_t n = strlen(name);
	if (n > 2 && strcmp(name + n - 2, "_n") == 0)
		name[n - 2] = '\0';
}

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

static void refused(const char *call, const char *argument, const char *words)
{
	char name[TEXT], message[1024];

	note(call, argument, false);
	name_in_messages(call, name);
	snprintf(message, sizeof message, "%s", lb_error_message());
	bool known = lb_error_site() != NULL;
	lb_clear_error();
	if (known && begins_with(message, name) && strchr(":(", message[strlen(name)]) && strstr(message, words))
		return;
	fprintf(stderr, "%s with NULL for %s said \"%s\", not \"%s: %s\"%s\n", call, argument, message, name, words,
		known ? "" : ", and not where");
	n_wrong++;
}

static void accepted(const char *call, const char *argument)
{
	note(call, argument, true);
	if (lb_ok())
		return;
	fprintf(stderr, "%s with NULL for %s said \"%s\"\n", call, argument, lb_error_message());
	lb_clear_error();
	n_wrong++;
}

/* The message has these words; or only that the argument is NULL. */
#define SAYS(call, argument, words, ...) (lb_fail_site(NULL), (void)call(__VA_ARGS__), refused(#call, #argument, words))
#define REFUSES(call, argument, ...) SAYS(call, argument, #argument " is NULL", __VA_ARGS__)
#define TAKES(call, argument, ...) ((void)call(__VA_ARGS__), accepted(#call, #argument))
/* Of a list the one that is NULL is told. */
#define ITEM "tensor 1 of 2"

static lb_tensor *const none = NULL;
static lb_tensor *x, *out[2];
static int64_t two[] = { 0, 0 };

/* ---- the header, part by part ---- */

static void lifetime(void)
{
	lb_tensor *kept = NULL;

	TAKES(lb_scope_end, scope, NULL);
	REFUSES(lb_keep, x, none);
	TAKES(lb_release, x, NULL);
	REFUSES(lb_replace, kept, NULL, x);
	REFUSES(lb_replace, x, &kept, none);
	REFUSES(lb_escape, x, none);
	TAKES(lb_named, name, NULL, x);
	REFUSES(lb_named, x, "x", none);
}

static void what_is_known(void)
{
	REFUSES(lb_rank, x, none);
	REFUSES(lb_dim, x, none, 0);
	REFUSES(lb_shape, x, none);
	REFUSES(lb_strides, x, none);
	REFUSES(lb_size, x, none);
	REFUSES(lb_nbytes, x, none);
	REFUSES(lb_dtype_of, x, none);
	REFUSES(lb_is_ready, x, none);
	REFUSES(lb_is_row_contiguous, x, none);
	REFUSES(lb_name, x, none);
	REFUSES(lb_id, x, none);
}

static void release(void *data, void *context)
{
	(void)data, (void)context;
}

static void creation(void)
{
	static float number;

	REFUSES(lb_zeros_like, x, none);
	REFUSES(lb_ones_like, x, none);
	REFUSES(lb_random_bernoulli, p, none, LB_SHAPE(2), lb_key(1));
	REFUSES(lb_random_multivariate_normal, mean, none, x, LB_SHAPE(), LB_F32, lb_key(1));
	REFUSES(lb_random_multivariate_normal, cov, x, none, LB_SHAPE(), LB_F32, lb_key(1));
	REFUSES(lb_random_truncated_normal, lower, none, x, LB_SHAPE(2, 2), LB_F32, lb_key(1));
	REFUSES(lb_random_truncated_normal, upper, x, none, LB_SHAPE(2, 2), LB_F32, lb_key(1));
	SAYS(lb_from_data, data, "the address", NULL, 4, LB_SHAPE(), LB_F32);
	SAYS(lb_from_memory, data, "the address", NULL, 4, LB_SHAPE(), LB_F32, release, NULL);
	TAKES(lb_from_memory, release, &number, 4, LB_SHAPE(), LB_F32, NULL, NULL);
}

#define UNARY(op) REFUSES(lb_##op, x, none)
#define BINARY(op) (REFUSES(lb_##op, a, none, x), REFUSES(lb_##op, b, x, none))

static void elementwise(void)
{
#define EACH_UNARY(op) UNARY(op);
#define EACH_BINARY(op) BINARY(op);
#include "each_op.h"
	REFUSES(lb_astype, x, none, LB_F16);
	REFUSES(lb_where, condition, none, x, x);
	REFUSES(lb_where, a, x, none, x);
	REFUSES(lb_where, b, x, x, none);
	REFUSES(lb_clip, x, none, x, x);
	TAKES(lb_clip, low, x, NULL, x);
	TAKES(lb_clip, high, x, x, NULL);
	SAYS(lb_clip, low, "low bound", x, NULL, NULL);
	REFUSES(lb_trunc, x, none);
	REFUSES(lb_logical_xor, a, none, x);
	REFUSES(lb_logical_xor, b, x, none);
	REFUSES(lb_isclose, a, none, x, 0, 0, false);
	REFUSES(lb_isclose, b, x, none, 0, 0, false);
	REFUSES(lb_allclose, a, none, x, 0, 0, false);
	REFUSES(lb_allclose, b, x, none, 0, 0, false);
	REFUSES(lb_array_equal, a, none, x, false);
	REFUSES(lb_array_equal, b, x, none, false);
	UNARY(positive), UNARY(reciprocal), UNARY(degrees), UNARY(radians);
	REFUSES(lb_round_to, x, none, 2);
	REFUSES(lb_nan_to_num, x, none, 0, 1, -1);
	REFUSES(lb_divmod, a, none, x, &out[0], &out[1]);
	REFUSES(lb_divmod, b, x, none, &out[0], &out[1]);
	REFUSES(lb_divmod, quotient, x, x, NULL, &out[1]);
	REFUSES(lb_divmod, rest, x, x, &out[0], NULL);
}

static void views(void)
{
	REFUSES(lb_reshape, x, none, LB_SHAPE(4));
	REFUSES(lb_transpose, x, none, LB_ALL_AXES);
	REFUSES(lb_broadcast_to, x, none, LB_SHAPE(2, 2));
	REFUSES(lb_expand_dims, x, none, LB_AXES(0));
	REFUSES(lb_squeeze, x, none, LB_ALL_AXES);
	REFUSES(lb_flatten, x, none, 0, -1);
	UNARY(atleast_1d), UNARY(atleast_2d), UNARY(atleast_3d);
	REFUSES(lb_as_strided, x, none, LB_SHAPE(2), LB_STRIDES(1), 0);
	REFUSES(lb_contiguous, x, none);
	REFUSES(lb_swapaxes, x, none, 0, 1);
	REFUSES(lb_moveaxis, x, none, 0, 1);
	REFUSES(lb_unflatten, x, none, 0, LB_SHAPE(2));
	REFUSES(lb_diagonal, x, none, 0, 0, 1);
	REFUSES(lb_slice_n, x, none, 0, NULL);
	REFUSES(lb_slice_n, index, x, 1, NULL);
}

#define REDUCTION(op) REFUSES(lb_##op, x, none, LB_ALL_AXES, false)

static void reductions(void)
{
	REDUCTION(sum), REDUCTION(mean), REDUCTION(max), REDUCTION(min), REDUCTION(prod), REDUCTION(all);
	REDUCTION(any), REDUCTION(logsumexp), REDUCTION(argmax), REDUCTION(argmin);
	REFUSES(lb_var, x, none, LB_ALL_AXES, false, 0);
	REFUSES(lb_softmax, x, none, LB_ALL_AXES);
	REFUSES(lb_std, x, none, LB_ALL_AXES, false, 0);
	REFUSES(lb_median, x, none, LB_ALL_AXES, false);
	REFUSES(lb_unique, x, none, 2, x);
	TAKES(lb_unique, fill, x, 2, NULL);
	REFUSES(lb_trace, x, none, 0, 0, 1);
	REFUSES(lb_minmax, x, none, LB_ALL_AXES, false, &out[0], &out[1]);
	REFUSES(lb_minmax, least, x, LB_ALL_AXES, false, NULL, &out[1]);
	REFUSES(lb_minmax, most, x, LB_ALL_AXES, false, &out[0], NULL);
	REFUSES(lb_diff, x, none, 1, 0);
}

static void products_and_joins(void)
{
	lb_tensor *list[] = { x, none };

	BINARY(matmul);
	BINARY(matmul_in_steps);
	REFUSES(lb_addmm, c, none, x, x, 1, 1);
	REFUSES(lb_addmm, a, x, none, x, 1, 1);
	REFUSES(lb_addmm, b, x, x, none, 1, 1);
	REFUSES(lb_concatenate, xs, 1, NULL, 0);
	SAYS(lb_concatenate, xs, ITEM, 2, list, 0);
	REFUSES(lb_stack, xs, 1, NULL, 0);
	SAYS(lb_stack, xs, ITEM, 2, list, 0);
	REFUSES(lb_split, x, none, 1, 0, out);
	REFUSES(lb_split, parts, x, 1, 0, NULL);
	REFUSES(lb_split_at, x, none, LB_AXES(1), 0, out);
	REFUSES(lb_split_at, parts, x, LB_AXES(1), 0, NULL);
	REFUSES(lb_roll, x, none, LB_AXES(1), LB_ALL_AXES);
	REFUSES(lb_repeat, x, none, 2, 0);
	REFUSES(lb_tile, x, none, LB_SHAPE(2));
	REFUSES(lb_meshgrid, xs, 1, NULL, true, false, out);
	SAYS(lb_meshgrid, xs, ITEM, 2, (lb_tensor *[]){ lb_ones(LB_SHAPE(2), LB_F32), none }, true, false, out);
	REFUSES(lb_meshgrid, out, 1, &x, true, false, NULL);
	REFUSES(lb_tril, x, none, 0);
	REFUSES(lb_triu, x, none, 0);
	REFUSES(lb_diag, x, none, 0);
	BINARY(inner), BINARY(outer), BINARY(kron);
	REFUSES(lb_tensordot, a, none, x, LB_AXES(0), LB_AXES(0));
	REFUSES(lb_tensordot, b, x, none, LB_AXES(0), LB_AXES(0));
	REFUSES(lb_take, x, none, x, 0);
	REFUSES(lb_take, indices, x, none, 0);
	REFUSES(lb_take_along_axis, x, none, x, 0);
	REFUSES(lb_take_along_axis, indices, x, none, 0);
	REFUSES(lb_einsum, spec, NULL, 1, &x);
	REFUSES(lb_einsum, xs, "ij", 1, NULL);
	SAYS(lb_einsum, xs, ITEM, "ij,jk", 2, list);
	int pairs[1][2];
	REFUSES(lb_einsum_path, spec, NULL, 1, &x, pairs);
	REFUSES(lb_einsum_path, xs, "ij", 1, NULL, pairs);
	SAYS(lb_einsum_path, xs, ITEM, "ij,jk", 2, list, pairs);
	REFUSES(lb_einsum_path, pairs, "ij", 1, &x, NULL);
}

static void updates(void)
{
	REFUSES(lb_slice_update_n, x, none, x, 0, NULL);
	REFUSES(lb_slice_update_n, update, x, none, 0, NULL);
	REFUSES(lb_slice_update_n, index, x, x, 1, NULL);
	REFUSES(lb_slice_add_n, x, none, x, 0, NULL);
	REFUSES(lb_slice_add_n, update, x, none, 0, NULL);
	REFUSES(lb_slice_add_n, index, x, x, 1, NULL);
	REFUSES(lb_strided_add, x, none, x, LB_STRIDES(2, 1), 0);
	REFUSES(lb_strided_add, update, x, none, LB_STRIDES(2, 1), 0);
	REFUSES(lb_scatter_add, x, none, x, x, 0);
	REFUSES(lb_scatter_add, indices, x, none, x, 0);
	REFUSES(lb_scatter_add, updates, x, x, none, 0);
	REFUSES(lb_put_along_axis, x, none, x, x, 0, LB_PUT_ADD);
	REFUSES(lb_put_along_axis, indices, x, none, x, 0, LB_PUT_ADD);
	REFUSES(lb_put_along_axis, values, x, x, none, 0, LB_PUT_ADD);
}

static void models(void)
{
	lb_tensor *row = lb_ones(LB_SHAPE(2), LB_F32), *heads = lb_reshape(x, LB_SHAPE(1, 1, 2, 2));
	lb_conv_options plain = { .groups = 1 };

	REFUSES(lb_linear, x, none, x, row);
	REFUSES(lb_linear, weight, x, none, row);
	TAKES(lb_linear, bias, x, x, NULL);
	REFUSES(lb_cross_entropy, logits, none, x);
	REFUSES(lb_cross_entropy, targets, x, none);
	REFUSES(lb_embedding, weight, none, x);
	REFUSES(lb_embedding, indices, x, none);
	UNARY(silu), UNARY(gelu), UNARY(gelu_tanh);
	REFUSES(lb_one_hot, indices, none, 2, LB_F32);
	REFUSES(lb_layer_norm, x, none, row, row, 1e-5);
	TAKES(lb_layer_norm, weight, x, NULL, row, 1e-5);
	TAKES(lb_layer_norm, bias, x, row, NULL, 1e-5);
	REFUSES(lb_rms_norm, x, none, row, 1e-5);
	TAKES(lb_rms_norm, weight, x, NULL, 1e-5);
	REFUSES(lb_rope, x, none, 2, false, 1e4, 1, 0);
	REFUSES(lb_attention, q, none, heads, heads, 1, false, heads);
	REFUSES(lb_attention, k, heads, none, heads, 1, false, heads);
	REFUSES(lb_attention, v, heads, heads, none, 1, false, heads);
	TAKES(lb_attention, mask, heads, heads, heads, 1, false, NULL);
	REFUSES(lb_conv1d, x, none, x, plain);
	REFUSES(lb_conv1d, weight, x, none, plain);
	REFUSES(lb_conv3d, x, none, x, (lb_conv3d_options){ .groups = 1 });
	REFUSES(lb_conv3d, weight, x, none, (lb_conv3d_options){ .groups = 1 });
	REFUSES(lb_conv_transpose1d, x, none, x, plain, 0);
	REFUSES(lb_conv_transpose1d, weight, x, none, plain, 0);
	REFUSES(lb_conv_transpose2d, x, none, x, plain, LB_SHAPE());
	REFUSES(lb_conv_transpose2d, weight, x, none, plain, LB_SHAPE());
	REFUSES(lb_conv_transpose3d, x, none, x, (lb_conv3d_options){ .groups = 1 }, LB_SHAPE());
	REFUSES(lb_conv_transpose3d, weight, x, none, (lb_conv3d_options){ .groups = 1 }, LB_SHAPE());
	REFUSES(lb_convolve, a, none, row, LB_CONVOLVE_FULL);
	REFUSES(lb_convolve, b, row, none, LB_CONVOLVE_FULL);
	REFUSES(lb_block_masked_mm, a, none, x, 2, NULL, NULL, NULL);
	REFUSES(lb_block_masked_mm, b, x, none, 2, NULL, NULL, NULL);
	TAKES(lb_block_masked_mm, mask_out, x, x, 2, NULL, NULL, NULL);
	TAKES(lb_block_masked_mm, mask_a, x, x, 2, NULL, NULL, NULL);
	TAKES(lb_block_masked_mm, mask_b, x, x, 2, NULL, NULL, NULL);
	REFUSES(lb_segmented_mm, a, none, x, x);
	REFUSES(lb_segmented_mm, b, x, none, x);
	REFUSES(lb_segmented_mm, segments, x, x, none);
	REFUSES(lb_gather_mm, a, none, x, NULL, NULL);
	REFUSES(lb_gather_mm, b, x, none, NULL, NULL);
	TAKES(lb_gather_mm, a_indices, x, x, NULL, NULL);
	TAKES(lb_gather_mm, b_indices, x, x, NULL, NULL);
	REFUSES(lb_hadamard_transform, x, none, 0);
	REFUSES(lb_conv2d, x, none, x, plain);
	REFUSES(lb_conv2d, weight, x, none, plain);
	REFUSES(lb_pad, x, none, LB_SHAPE(), LB_SHAPE(), 0);
	REFUSES(lb_pad_edge, x, none, LB_SHAPE(), LB_SHAPE());

	REFUSES(lb_layer_norm_grad, x, none, row, x, 1e-5);
	TAKES(lb_layer_norm_grad, weight, x, NULL, x, 1e-5);
	REFUSES(lb_layer_norm_grad, grad, x, row, none, 1e-5);
	REFUSES(lb_rms_norm_grad, x, none, row, x, 1e-5);
	TAKES(lb_rms_norm_grad, weight, x, NULL, x, 1e-5);
	REFUSES(lb_rms_norm_grad, grad, x, row, none, 1e-5);
	REFUSES(lb_attention_grad, q, none, heads, heads, 1, false, heads, heads);
	REFUSES(lb_attention_grad, k, heads, none, heads, 1, false, heads, heads);
	REFUSES(lb_attention_grad, v, heads, heads, none, 1, false, heads, heads);
	TAKES(lb_attention_grad, mask, heads, heads, heads, 1, false, NULL, heads);
	REFUSES(lb_attention_grad, grad, heads, heads, heads, 1, false, heads, none);
	REFUSES(lb_conv2d_input_grad, weight, LB_SHAPE(1, 1, 2, 2), none, heads, plain);
	REFUSES(lb_conv2d_input_grad, grad, LB_SHAPE(1, 1, 2, 2), heads, none, plain);
	REFUSES(lb_conv2d_weight_grad, x, none, LB_SHAPE(1, 1, 2, 2), heads, plain);
	REFUSES(lb_conv2d_weight_grad, grad, heads, LB_SHAPE(1, 1, 2, 2), none, plain);
}

static void linear_algebra(void)
{
	lb_tensor *m = lb_eye(2, 2, 0, LB_F32), *a, *b, *c;

	REFUSES(lb_inv, x, none);
	REFUSES(lb_tri_inv, x, none, false);
	REFUSES(lb_cholesky, x, none, false);
	REFUSES(lb_cholesky_inv, factor, none, true);
	REFUSES(lb_solve, a, none, m);
	REFUSES(lb_solve, b, m, none);
	REFUSES(lb_solve_triangular, a, none, m, false);
	REFUSES(lb_solve_triangular, b, m, none, true);
	REFUSES(lb_pinv, x, none);
	REFUSES(lb_qr, x, none, &a, &b);
	REFUSES(lb_qr, q, m, NULL, &b);
	REFUSES(lb_qr, r, m, &a, NULL);
	REFUSES(lb_svd, x, none, &a, &b, &c);
	REFUSES(lb_svd, u, m, NULL, &b, &c);
	REFUSES(lb_svd, s, m, &a, NULL, &c);
	REFUSES(lb_svd, vt, m, &a, &b, NULL);
	REFUSES(lb_svdvals, x, none);
	REFUSES(lb_eigh, x, none, false, &a, &b);
	REFUSES(lb_eigh, values, m, false, NULL, &b);
	REFUSES(lb_eigh, vectors, m, false, &a, NULL);
	REFUSES(lb_eigvalsh, x, none, false);
	REFUSES(lb_lu, x, none, &a, &b, &c);
	REFUSES(lb_lu, rows, m, NULL, &b, &c);
	REFUSES(lb_lu, l, m, &a, NULL, &c);
	REFUSES(lb_lu, u, m, &a, &b, NULL);
	REFUSES(lb_lu_factor, x, none, &a, &b);
	REFUSES(lb_lu_factor, lu, m, NULL, &b);
	REFUSES(lb_lu_factor, swaps, m, &a, NULL);
	REFUSES(lb_eig, x, none, &a, &b);
	REFUSES(lb_eig, values, m, NULL, &b);
	REFUSES(lb_eig, vectors, m, &a, NULL);
	REFUSES(lb_eigvals, x, none);
	REFUSES(lb_det, x, none);
	REFUSES(lb_slogdet, x, none, &a, &b);
	REFUSES(lb_slogdet, sign, m, NULL, &b);
	REFUSES(lb_slogdet, logabs, m, &a, NULL);
	REFUSES(lb_norm, x, none, LB_ALL_AXES, false);
	REFUSES(lb_vector_norm, x, none, 1, 0, false);
	REFUSES(lb_matrix_norm, x, none, 1, 0, 1, false);
	REFUSES(lb_cross, a, none, m, 0);
	REFUSES(lb_cross, b, m, none, 0);
}

static void fourier(void)
{
	lb_fft_norm norm = LB_FFT_BACKWARD;

	REFUSES(lb_fft, x, none, 0, 0, norm);
	REFUSES(lb_ifft, x, none, 0, 0, norm);
	REFUSES(lb_rfft, x, none, 0, 0, norm);
	REFUSES(lb_irfft, x, none, 0, 0, norm);
	REFUSES(lb_fftn, x, none, LB_SHAPE(), LB_ALL_AXES, norm);
	REFUSES(lb_ifftn, x, none, LB_SHAPE(), LB_ALL_AXES, norm);
	REFUSES(lb_rfftn, x, none, LB_SHAPE(), LB_ALL_AXES, norm);
	REFUSES(lb_irfftn, x, none, LB_SHAPE(), LB_ALL_AXES, norm);
	REFUSES(lb_fft2, x, none, LB_SHAPE(), norm);
	REFUSES(lb_ifft2, x, none, LB_SHAPE(), norm);
	REFUSES(lb_rfft2, x, none, LB_SHAPE(), norm);
	REFUSES(lb_irfft2, x, none, LB_SHAPE(), norm);
	REFUSES(lb_fftshift, x, none, LB_ALL_AXES);
	lb_stft_options four = { .n = 4 };
	REFUSES(lb_stft, x, none, x, four);
	TAKES(lb_stft, window, x, NULL, four);
	REFUSES(lb_istft, x, none, x, four, 0);
	TAKES(lb_istft, window, x, NULL, (lb_stft_options){ .hop = 1 }, 0);
	REFUSES(lb_ifftshift, x, none, LB_ALL_AXES);
}

static void order_and_codes(void)
{
	lb_quant how = { .mode = LB_QUANT_AFFINE };
	lb_tensor *wide = lb_ones(LB_SHAPE(2, 64), LB_F32);
	lb_quantized q = lb_quantize(wide, how, NULL), part = q;

	REFUSES(lb_sort, x, none, 0);
	REFUSES(lb_argsort, x, none, 0);
	REFUSES(lb_topk, x, none, 1, 0);
	REFUSES(lb_cumsum, x, none, 0, false, true);
	REFUSES(lb_scan, x, none, LB_SCAN_SUM, 0, false, true);
	REFUSES(lb_cumprod, x, none, 0, false, true);
	REFUSES(lb_cummax, x, none, 0, false, true);
	REFUSES(lb_cummin, x, none, 0, false, true);
	REFUSES(lb_logcumsumexp, x, none, 0, false, true);
	REFUSES(lb_partition, x, none, 0, 0);
	REFUSES(lb_argpartition, x, none, 0, 0);
	REFUSES(lb_bitcast, x, none, LB_U8);
	REFUSES(lb_searchsorted, sorted, none, x, false);
	REFUSES(lb_searchsorted, values, x, none, false);
	REFUSES(lb_to_fp8, x, none);
	REFUSES(lb_from_fp8, x, none, LB_F32);
	REFUSES(lb_random_bits, keys, none, LB_SHAPE(3), LB_U8);
	REFUSES(lb_categorical, logits, none, 0, lb_key(1));
	REFUSES(lb_quantize, x, none, how, NULL);
	TAKES(lb_quantize, global_scale, wide, how, NULL);
	REFUSES(lb_quantized_matmul, x, none, q, how, true);
	REFUSES(lb_gather_qmm, x, none, q, NULL, NULL, how, true);
	TAKES(lb_gather_qmm, x_indices, wide, q, NULL, lb_zeros(LB_SHAPE(), LB_I32), how, true);
	TAKES(lb_gather_qmm, w_indices, wide, q, lb_zeros(LB_SHAPE(), LB_I32), NULL, how, true);
	REFUSES(lb_decode, bytes, none, LB_Q8_0, LB_SHAPE(32), LB_F32);
	part.w = NULL;
	REFUSES(lb_dequantize, q.w, part, how, LB_F32);
	REFUSES(lb_quantized_matmul, q.w, wide, part, how, true);
	part = q;
	part.scales = NULL;
	SAYS(lb_dequantize, q.scales, "no scales", part, how, LB_F32);
	part = q;
	part.biases = NULL;
	SAYS(lb_dequantize, q.biases, "no biases", part, how, LB_F32);
}

static bool same(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **results)
{
	(void)context, (void)n_in, (void)n_out;
	results[0] = lb_sum(in[0], LB_ALL_AXES, false);
	return results[0] != NULL;
}

static bool rule(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *results,
		 lb_tensor *const *cotangents, lb_tensor **grads)
{
	(void)context, (void)n_in, (void)in, (void)n_out, (void)results, (void)cotangents, (void)grads;
	return true;
}

static void functions(void)
{
	lb_compile_options options = { 0 };
	lb_compiled *f = lb_compile("f", same, NULL, options);
	lb_tensor *pair[] = { x, none };

	assert_non_null(f);
	SAYS(lb_compile, fn, "no function", "f", NULL, NULL, options);
	lb_compiled *nameless = lb_compile(NULL, same, NULL, options);
	accepted("lb_compile", "name");
	lb_compiled_free(nameless);
	REFUSES(lb_call, compiled, NULL, 1, &x, 1, out);
	REFUSES(lb_call, in, f, 1, NULL, 1, out);
	SAYS(lb_call, in, ITEM, f, 2, pair, 1, out);
	REFUSES(lb_call, out, f, 1, &x, 1, NULL);
	REFUSES(lb_call_with, compiled, NULL, two, 4, 1, &x, 1, out);
	REFUSES(lb_call_with, constants, f, NULL, 4, 1, &x, 1, out);
	REFUSES(lb_call_with, in, f, two, 4, 1, NULL, 1, out);
	REFUSES(lb_call_with, out, f, two, 4, 1, &x, 1, NULL);
	REFUSES(lb_compiled_stats, compiled, NULL);
	lb_compiled_free(f);
	TAKES(lb_compiled_free, compiled, NULL);
}

static void gradients(void)
{
	lb_tensor *pair[] = { x, none }, *one = lb_scalar(1), *grads[2];
	const lb_list shape = LB_SHAPE(2);

	REFUSES(lb_value_and_grad, fn, NULL, NULL, 1, &x, 0, NULL, 1, out, grads);
	REFUSES(lb_value_and_grad, in, same, NULL, 1, NULL, 0, NULL, 1, out, grads);
	SAYS(lb_value_and_grad, in, ITEM, same, NULL, 2, pair, 0, NULL, 1, out, grads);
	TAKES(lb_value_and_grad, wrt, same, NULL, 1, &x, 0, NULL, 1, out, grads);
	REFUSES(lb_value_and_grad, out, same, NULL, 1, &x, 0, NULL, 1, NULL, grads);
	REFUSES(lb_value_and_grad, grads, same, NULL, 1, &x, 0, NULL, 1, out, NULL);
	REFUSES(lb_grad, fn, NULL, NULL, 1, &x, grads);
	REFUSES(lb_grad, in, same, NULL, 1, NULL, grads);
	SAYS(lb_grad, in, ITEM, same, NULL, 2, pair, grads);
	REFUSES(lb_grad, grads, same, NULL, 1, &x, NULL);
	REFUSES(lb_check_grad, fn, NULL, NULL, 1, &x, (lb_check_options){ .rtol = 0 });
	REFUSES(lb_check_grad, in, same, NULL, 1, NULL, (lb_check_options){ .rtol = 0 });
	SAYS(lb_check_grad, in, ITEM, same, NULL, 2, pair, (lb_check_options){ .rtol = 0 });
	REFUSES(lb_check_kernel, fn, NULL, same, NULL, 1, 1, LB_F32, 1, &shape, (lb_check_options){ .rtol = 0 });
	REFUSES(lb_check_kernel, reference, same, NULL, NULL, 1, 1, LB_F32, 1, &shape, (lb_check_options){ .rtol = 0 });
	REFUSES(lb_check_kernel, shapes, same, same, NULL, 1, 1, LB_F32, 1, NULL, (lb_check_options){ .rtol = 0 });
	REFUSES(lb_vjp, fn, NULL, NULL, 1, &x, 1, &one, out, grads);
	REFUSES(lb_vjp, in, same, NULL, 1, NULL, 1, &one, out, grads);
	REFUSES(lb_vjp, cotangents, same, NULL, 1, &x, 1, NULL, out, grads);
	REFUSES(lb_vjp, out, same, NULL, 1, &x, 1, &one, NULL, grads);
	REFUSES(lb_vjp, grads, same, NULL, 1, &x, 1, &one, out, NULL);
	REFUSES(lb_jvp, fn, NULL, NULL, 1, &x, &one, 1, out, grads);
	REFUSES(lb_jvp, in, same, NULL, 1, NULL, &one, 1, out, grads);
	SAYS(lb_jvp, in, ITEM, same, NULL, 2, pair, grads, 1, out, grads);
	REFUSES(lb_jvp, tangents, same, NULL, 1, &x, NULL, 1, out, grads);
	REFUSES(lb_jvp, out, same, NULL, 1, &x, &one, 1, NULL, grads);
	REFUSES(lb_jvp, out_tangents, same, NULL, 1, &x, &one, 1, out, NULL);
	UNARY(stop_gradient);
	REFUSES(lb_depends, x, none, 1, &x);
	REFUSES(lb_depends, on, x, 1, NULL);
	SAYS(lb_depends, on, ITEM, x, 2, pair);
	REFUSES(lb_checkpoint, fn, NULL, NULL, 1, &x, 1, out);
	REFUSES(lb_checkpoint, in, same, NULL, 1, NULL, 1, out);
	SAYS(lb_checkpoint, in, ITEM, same, NULL, 2, pair, 1, out);
	REFUSES(lb_checkpoint, out, same, NULL, 1, &x, 1, NULL);
	TAKES(lb_vmap, in_axes, same, NULL, 1, &x, NULL, 1, (int[]){ 0 }, out);
	TAKES(lb_vmap, out_axes, same, NULL, 1, &x, (int[]){ 0 }, 1, NULL, out);
	REFUSES(lb_vmap, fn, NULL, NULL, 1, &x, NULL, 1, NULL, out);
	REFUSES(lb_vmap, in, same, NULL, 1, NULL, NULL, 1, NULL, out);
	SAYS(lb_vmap, in, ITEM, same, NULL, 2, pair, NULL, 1, NULL, out);
	REFUSES(lb_vmap, out, same, NULL, 1, &x, NULL, 1, NULL, NULL);
	REFUSES(lb_custom_vjp, fn, NULL, rule, NULL, 1, &x, 1, out);
	REFUSES(lb_custom_vjp, vjp, same, NULL, NULL, 1, &x, 1, out);
	REFUSES(lb_custom_vjp, in, same, rule, NULL, 1, NULL, 1, out);
	REFUSES(lb_custom_vjp, out, same, rule, NULL, 1, &x, 1, NULL);
}

static void optimizers(void)
{
	lb_optimizer *o = lb_adam((lb_adam_options){ .rate = 0.1 });
	lb_tensor *p = lb_keep(lb_ones(LB_SHAPE(2, 2), LB_F32)), *gone = NULL, *norm, *pair[] = { x, none };
	lb_tensor *const *state;

	TAKES(lb_optimizer_free, o, NULL);
	REFUSES(lb_optimizer_update, o, NULL, 1, &p, &x);
	REFUSES(lb_optimizer_update, params, o, 1, NULL, &x);
	SAYS(lb_optimizer_update, params, "params[0] is NULL", o, 1, &gone, &x);
	REFUSES(lb_optimizer_update, grads, o, 1, &p, NULL);
	SAYS(lb_optimizer_update, grads, "grads[0] is NULL", o, 1, &p, &none);
	REFUSES(lb_optimizer_step, o, NULL, 1, &p, &x, NULL);
	REFUSES(lb_optimizer_step, params, o, 1, NULL, &x, NULL);
	REFUSES(lb_optimizer_step, grads, o, 1, &p, NULL, NULL);
	TAKES(lb_optimizer_step, loss, o, 1, &p, &x, NULL);
	REFUSES(lb_optimizer_rate, o, NULL);
	REFUSES(lb_optimizer_set_rate, o, NULL, 1);
	REFUSES(lb_optimizer_steps, o, NULL);
	REFUSES(lb_optimizer_state, o, NULL, &state);
	REFUSES(lb_optimizer_state, ret, o, NULL);
	REFUSES(lb_optimizer_restore, o, NULL, 1, 1, &x);
	REFUSES(lb_optimizer_restore, state, o, 1, 2, NULL);
	SAYS(lb_optimizer_restore, state, ITEM, o, 1, 2, pair);
	REFUSES(lb_clip_by_global_norm, grads, 1, NULL, 1, out, &norm);
	SAYS(lb_clip_by_global_norm, grads, ITEM, 2, pair, 1, out, &norm);
	REFUSES(lb_clip_by_global_norm, clipped, 1, &x, 1, NULL, &norm);
	TAKES(lb_clip_by_global_norm, norm, 1, &x, 1, out, NULL);
	lb_optimizer_free(o);
	lb_release(p);
}

static void evaluation(void)
{
	lb_tensor *pair[] = { x, none };
	const int64_t *strides;
	float numbers[4];

	REFUSES(lb_eval_n, xs, 1, NULL);
	SAYS(lb_eval_n, xs, ITEM, 2, pair);
	TAKES(lb_stream_new, name, NULL);
	TAKES(lb_on_stream_end, on, NULL);
	REFUSES(lb_async_eval_n, xs, 1, NULL);
	SAYS(lb_async_eval_n, xs, ITEM, 2, pair);
	REFUSES(lb_item, x, none);
	REFUSES(lb_item_int, x, none);
	REFUSES(lb_copy_out, x, none, numbers, sizeof numbers);
	REFUSES(lb_copy_out, to, x, NULL, sizeof numbers);
	REFUSES(lb_data, x, none);
	REFUSES(lb_strided_data, x, none, &strides);
	lb_eval(x);
	TAKES(lb_strided_data, strides, x, NULL);
	REFUSES(lb_raw_data, x, none);
}

static lb_file *little_file(void)
{
	char path[] = "/tmp/lazybones-null-XXXXXX";
	const char *name = "x", *key = "key", *value = "value";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	lb_save_safetensors_with(path, 1, &name, &x, 1, &key, &value);
	lb_file *file = lb_open(path);
	unlink(path);
	assert_non_null(file);
	return file;
}

static void reading(void)
{
	lb_file *file = little_file();
	lb_quantized q;
	lb_quant how;
	size_t n;

	REFUSES(lb_open, path, NULL);
	REFUSES(lb_open_bytes, bytes, NULL, 4, "x");
	REFUSES(lb_open_bytes, name, "", 0, NULL);
	TAKES(lb_file_close, file, NULL);
	REFUSES(lb_file_format, file, NULL);
	REFUSES(lb_file_count, file, NULL);
	REFUSES(lb_file_name, file, NULL, 0);
	REFUSES(lb_file_get, file, NULL, "x");
	REFUSES(lb_file_get, name, file, NULL);
	REFUSES(lb_file_get_at, file, NULL, 0);
	REFUSES(lb_file_get_raw, file, NULL, "x");
	REFUSES(lb_file_get_raw, name, file, NULL);
	REFUSES(lb_file_get_quantized, file, NULL, "x", &q, &how);
	REFUSES(lb_file_get_quantized, name, file, NULL, &q, &how);
	REFUSES(lb_file_get_quantized, ret, file, "x", NULL, &how);
	REFUSES(lb_file_get_quantized, how, file, "x", &q, NULL);
	REFUSES(lb_file_metadata_count, file, NULL);
	REFUSES(lb_file_metadata_key, file, NULL, 0);
	REFUSES(lb_file_metadata, file, NULL, "key");
	REFUSES(lb_file_metadata, key, file, NULL);
	REFUSES(lb_file_metadata_length, file, NULL, "key");
	REFUSES(lb_file_metadata_length, key, file, NULL);
	REFUSES(lb_file_metadata_string, file, NULL, "key", 0, &n);
	REFUSES(lb_file_metadata_string, key, file, NULL, 0, &n);
	REFUSES(lb_file_metadata_string, nbytes, file, "key", 0, NULL);
	REFUSES(lb_file_metadata_tensor, file, NULL, "key");
	REFUSES(lb_file_metadata_tensor, key, file, NULL);
	REFUSES(lb_load_npy, path, NULL);
	lb_file_close(file);
}

/* Nothing is written, so there is no such directory. */
static void saving(void)
{
	const char *path = "/nonexistent/x", *names[] = { "x", "y" }, *missing[] = { "x", NULL };
	lb_tensor *pair[] = { x, none }, *both[] = { x, x };

	REFUSES(lb_save_npy, path, NULL, x);
	REFUSES(lb_save_npy, x, path, none);
#define SAVES(call, ...) \
	(REFUSES(call, path, NULL, 1, names, &x __VA_ARGS__), REFUSES(call, names, path, 1, NULL, &x __VA_ARGS__), \
	 SAYS(call, names, "name 1 is missing", path, 2, missing, both __VA_ARGS__), \
	 REFUSES(call, xs, path, 1, names, NULL __VA_ARGS__), SAYS(call, xs, ITEM, path, 2, names, pair __VA_ARGS__))
	SAVES(lb_save_npz);
	SAVES(lb_save_safetensors);
	SAVES(lb_save_safetensors_with, , 0, NULL, NULL);
	SAVES(lb_save_gguf, , 0, NULL);
	REFUSES(lb_save_gguf, values, path, 1, names, &x, 1, NULL);
	REFUSES(lb_save_safetensors_with, keys, path, 1, names, &x, 1, NULL, names);
	REFUSES(lb_save_safetensors_with, values, path, 1, names, &x, 1, names, NULL);
	SAYS(lb_save_safetensors_with, keys, "metadata 1: the key is missing", path, 1, names, &x, 2, missing, names);
	SAYS(lb_save_safetensors_with, values, "metadata 1: the value is missing", path, 1, names, &x, 2, names,
	     missing);
}

/* ---- the header itself ---- */

static char *header_text(void)
{
	static const char path[] = "runtime/lazybones.h";
	FILE *file = fopen(path, "r");
	if (!file)
		fail_msg("%s: not there: run this in the tree's directory", path);
	char *text = calloc(1, 1 << 20);
	assert_non_null(text);
	size_t n = fread(text, 1, (1 << 20) - 1, file);
	fclose(file);
	assert_true(n > 0 && n < (1 << 20) - 1);
	return text;
}

static void blank_comments(char *text)
{
	for (char *at = text, *end; (at = strstr(at, "/*")); at = end) {
		end = strstr(at, "*/");
		assert_non_null(end);
		memset(at, ' ', (size_t)(end + 2 - at));
	}
}

/* The last word, or that of a function's address: "(*release)(…". */
static void parameter_name(const char *from, const char *to, char *name)
{
	const char *address = memchr(from, '(', (size_t)(to - from));
	size_t n = 0;
	if (address)
		to = memchr(address, ')', (size_t)(to - address));
	while (to > from && !isalnum((unsigned char)to[-1]))
		to--;
	while (to - n > from && (isalnum((unsigned char)to[-1 - (ptrdiff_t)n]) || to[-1 - (ptrdiff_t)n] == '_'))
		n++;
	assert_true(n > 0 && n < TEXT / 2);
	memcpy(name, to - n, n);
	name[n] = '\0';
}

static int has_been_tried(const char *call, const char *argument)
{
	char pair[TEXT];
	snprintf(pair, sizeof pair, "%s %s", call, argument);
	for (int i = 0; i < n_tried; i++) {
		if (strcmp(tried[i].name, pair) == 0)
			return 1;
	}
	fprintf(stderr, "nobody calls %s with NULL for %s\n", call, argument);
	return 0;
}

/* What a callback is given is its own; all other pointers count. Returns how many were not tried. */
static int check_parameters(const char *call, const char *from, const char *end, int *n)
{
	int missing = 0, depth = 0;
	for (const char *at = from; at <= end; at++) {
		depth += *at == '(';
		depth -= *at == ')' && at < end;
		if (at < end && (*at != ',' || depth))
			continue;
		char name[TEXT];
		if (memchr(from, '*', (size_t)(at - from))) {
			parameter_name(from, at, name);
			if (strcmp(name, "context") != 0) {
				missing += !has_been_tried(call, name);
				++*n;
			}
		}
		from = at + 1;
	}
	return missing;
}

static void the_header_has_no_more(void)
{
	char *text = header_text();
	int missing = 0, n = 0;

	blank_comments(text);
	for (char *at = text; (at = strstr(at, "\nLB_API "));) {
		char call[TEXT], *open = strchr(at, '('), *end = strchr(at, ';');
		assert_true(open && end && open < end);
		parameter_name(at, open, call);
		at = end;
		while (*end != ')')
			end--;
		missing += check_parameters(call, open + 1, end, &n);
	}
	free(text);
	assert_true(n > 250);
	assert_int_equal(missing, 0);
}

static void each_pointer(void **state)
{
	static void (*const parts[])(void) = {
		lifetime,           what_is_known, creation,   elementwise,    views,   reductions,
		products_and_joins, updates,       models,     linear_algebra, fourier, order_and_codes,
		functions,          gradients,     optimizers, evaluation,     reading, saving,
	};

	(void)state;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		LB_SCOPE {
			x = lb_ones(LB_SHAPE(2, 2), LB_F32);
			parts[i]();
			assert_true(lb_ok());
		}
	the_header_has_no_more();
	assert_int_equal(n_wrong, 0);
}

/* What comes from a call that has failed is quiet: there is one message, the first. */
static void what_failed_before(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *failed = lb_reshape(lb_ones(LB_SHAPE(2, 2), LB_F32), LB_SHAPE(3));
		uint64_t errors = counters()->errors;
		assert_false(lb_eval(lb_add(lb_exp(failed), lb_scalar(1))));
		assert_int_equal(lb_rank(lb_escape(failed)), 0);
		assert_false(lb_save_npy("/nonexistent/x", failed));
		assert_false(lb_optimizer_update(NULL, 1, &failed, &failed));
		assert_int_equal(lb_item_int(failed), 0);
		assert_int_equal(counters()->errors, errors);
		assert_true(error_has("reshape (2,2) (3)"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_pointer),
		TEST(what_failed_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
