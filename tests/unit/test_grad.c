/* The gradient of every operation against central differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "grad/rule.h"
#include "grad_check.h"
#include "probe.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof(array)[0]))
#define CHECK(cases) assert_true(grad_check_all(cases, LENGTH(cases)))

/* A function of the inputs a, b, c, d. */
#define FN(name, ...) \
	static lb_tensor *name(lb_tensor *const *in) \
	{ \
		lb_tensor *a = in[0], *b = in[1], *c = in[2]; \
		(void)a, (void)b, (void)c; \
		return __VA_ARGS__; \
	}

/* ---- elementwise ---- */

FN(f_negative, lb_negative(a))
FN(f_abs, lb_abs(a))
FN(f_exp, lb_exp(a))
FN(f_log, lb_log(a))
FN(f_sqrt, lb_sqrt(a))
FN(f_rsqrt, lb_rsqrt(a))
FN(f_sin, lb_sin(a))
FN(f_cos, lb_cos(a))
FN(f_tanh, lb_tanh(a))
FN(f_sigmoid, lb_sigmoid(a))
FN(f_erf, lb_erf(a))
FN(f_square, lb_square(a))
FN(f_astype, lb_astype(lb_astype(lb_multiply(a, a), LB_F64), LB_F64))
FN(f_silu, lb_silu(a))
FN(f_gelu, lb_gelu(a))
FN(f_gelu_tanh, lb_gelu_tanh(a))
FN(f_floor, lb_multiply(lb_floor(a), a))
FN(f_ceil, lb_multiply(lb_ceil(a), a))
FN(f_round, lb_multiply(lb_round(a), a))

#define UNARY(name, low, high) \
	{ #name, f_##name, "5", low, high, true }, { #name, f_##name, "2,3", low, high, true }, \
	    { #name, f_##name, "", low, high, true }, \
	{ \
		#name, f_##name, "2,1,3", low, high, false \
	}

static void unary(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		UNARY(negative, -2, 2), UNARY(abs, -2, 2),     UNARY(exp, -2, 2),       UNARY(log, 0.3, 3),
		UNARY(sqrt, 0.3, 3),    UNARY(rsqrt, 0.3, 3),  UNARY(sin, -3, 3),       UNARY(cos, -3, 3),
		UNARY(tanh, -2, 2),     UNARY(sigmoid, -3, 3), UNARY(erf, -2, 2),       UNARY(square, -2, 2),
		UNARY(silu, -3, 3),     UNARY(gelu, -3, 3),    UNARY(gelu_tanh, -3, 3), UNARY(astype, -2, 2),
		UNARY(floor, -3, 3),    UNARY(ceil, -3, 3),    UNARY(round, -3, 3),
	};
	CHECK(cases);
}

FN(f_add, lb_add(a, b))
FN(f_subtract, lb_subtract(a, b))
FN(f_multiply, lb_multiply(a, b))
FN(f_divide, lb_divide(a, b))
FN(f_power, lb_power(a, b))
FN(f_power_3, lb_power(a, lb_scalar_int(3)))
FN(f_power_half, lb_power(lb_square(a), lb_scalar(-0.5)))
FN(f_power_base, lb_power(lb_scalar(2), a))
FN(f_maximum, lb_maximum(a, b))
FN(f_minimum, lb_minimum(a, b))
FN(f_remainder, lb_remainder(a, b))
FN(f_logaddexp, lb_logaddexp(a, b))
FN(f_where, lb_where(lb_greater(a, b), lb_sin(a), lb_multiply(a, b)))
FN(f_clip, lb_clip(a, b, c))
FN(f_clip_low, lb_clip(a, lb_scalar(1.1), NULL))
FN(f_scalars, lb_add(lb_multiply(a, lb_scalar(3)), lb_scalar_int(2)))
FN(f_shared, lb_multiply(lb_add(a, b), lb_add(b, lb_multiply(a, a))))

#define BINARY(name, low, high) \
	{ #name, f_##name, "2,3;2,3", low, high, true }, { #name, f_##name, "2,3;3", low, high, false }, \
	    { #name, f_##name, "2,1;1,3", low, high, true }, { #name, f_##name, ";4", low, high, false }, \
	{ \
		#name, f_##name, "3;2,2,1", low, high, false \
	}

static void binary(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		BINARY(add, -2, 2),
		BINARY(subtract, -2, 2),
		BINARY(multiply, -2, 2),
		BINARY(divide, 0.5, 2),
		BINARY(power, 0.5, 2),
		BINARY(maximum, -2, 2),
		BINARY(minimum, -2, 2),
		BINARY(remainder, 0.7, 5),
		BINARY(logaddexp, -2, 2),
		BINARY(where, -2, 2),
		BINARY(shared, -2, 2),
		{ "power 3", f_power_3, "2,3", -2, 2, true },
		{ "power -0.5", f_power_half, "2,3", 0.5, 2, true },
		{ "power 2^", f_power_base, "2,3", -2, 2, true },
		{ "clip", f_clip, "4;4;4", 0, 2, true },
		{ "clip", f_clip, "3,4;4;1", 0, 2, false },
		{ "clip", f_clip, "3,4;;", 0, 2, false },
		{ "clip low", f_clip_low, "3,4", 0, 2, false },
		{ "scalars", f_scalars, "3,2", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- views ---- */

FN(f_reshape, lb_reshape(a, LB_SHAPE(3, -1)))
FN(f_transpose, lb_transpose(a, LB_ALL_AXES))
FN(f_transpose_120, lb_transpose(a, LB_AXES(1, 2, 0)))
FN(f_slice, lb_slice(a, LB_RANGE(1, 3), LB_RANGE(LB_END, 0, -2)))
FN(f_slice_at, lb_slice(a, LB_AT(-1), LB_NEW_AXIS, LB_FROM(1)))
FN(f_slice_of_transposed, lb_slice(lb_transpose(lb_exp(a), LB_ALL_AXES), LB_FROM(1), LB_TO(2)))
FN(f_slice_of_broadcast, lb_slice(lb_broadcast_to(a, LB_SHAPE(4, 3)), LB_RANGE(0, 4, 3), LB_FROM(1)))
FN(f_broadcast, lb_broadcast_to(a, LB_SHAPE(2, 4, 3)))
FN(f_expand, lb_multiply(lb_expand_dims(a, LB_AXES(0, -1)), lb_scalar(2)))
FN(f_squeeze, lb_squeeze(a, LB_ALL_AXES))
FN(f_flatten, lb_flatten(lb_transpose(a, LB_ALL_AXES), 0, -1))
FN(f_as_strided, lb_as_strided(a, LB_SHAPE(3, 3), LB_STRIDES(1, 2), 1))
FN(f_windows,
   lb_transpose(lb_slice(lb_as_strided(lb_exp(a), LB_SHAPE(4, 3), LB_STRIDES(1, 1), 0), LB_FROM(1)), LB_ALL_AXES))
FN(f_contiguous, lb_multiply(lb_contiguous(lb_transpose(a, LB_ALL_AXES)), lb_scalar(2)))
FN(f_square_transposed, lb_multiply(lb_transpose(lb_broadcast_to(a, LB_SHAPE(3, 3)), LB_ALL_AXES),
				    lb_broadcast_to(lb_exp(a), LB_SHAPE(3, 3))))

static lb_tensor *f_split(lb_tensor *const *in)
{
	lb_tensor *p[3];
	return lb_split(lb_exp(in[0]), 3, -1, p) ? lb_add(lb_multiply(p[0], p[1]), lb_sin(p[2])) : NULL;
}

static void views(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "reshape", f_reshape, "2,3", -1, 1, true },
		{ "reshape", f_reshape, "6,2,1", -1, 1, false },
		{ "transpose", f_transpose, "2,3", -1, 1, true },
		{ "transpose", f_transpose, "3,1,2", -1, 1, false },
		{ "transpose", f_transpose_120, "2,3,4", -1, 1, false },
		{ "transpose", f_transpose_120, "2,2,2", -1, 1, true },
		{ "slice", f_slice, "4,5", -1, 1, true },
		{ "slice", f_slice, "3,4", -1, 1, false },
		{ "slice", f_slice, "3,4,2", -1, 1, false },
		{ "slice at", f_slice_at, "3,4", -1, 1, true },
		{ "slice at", f_slice_at, "2,2,3", -1, 1, false },
		{ "slice of transposed", f_slice_of_transposed, "3,4", -1, 1, true },
		{ "slice of broadcast", f_slice_of_broadcast, "3", -1, 1, false },
		{ "slice of broadcast", f_slice_of_broadcast, "4,1", -1, 1, false },
		{ "slice split", f_split, "2,6", -1, 1, true },
		{ "slice split", f_split, "3", -1, 1, false },
		{ "broadcast_to", f_broadcast, "3", -1, 1, true },
		{ "broadcast_to", f_broadcast, "4,1", -1, 1, false },
		{ "broadcast_to", f_broadcast, "", -1, 1, false },
		{ "expand_dims", f_expand, "2,3", -1, 1, true },
		{ "expand_dims", f_expand, "", -1, 1, false },
		{ "squeeze", f_squeeze, "1,3,1", -1, 1, true },
		{ "squeeze", f_squeeze, "2,1", -1, 1, false },
		{ "flatten", f_flatten, "2,3", -1, 1, true },
		{ "flatten", f_flatten, "2,1,2", -1, 1, false },
		{ "as_strided", f_as_strided, "8", -1, 1, true },
		{ "as_strided", f_as_strided, "2,4", -1, 1, false },
		{ "as_strided windows", f_windows, "6", -1, 1, true },
		{ "contiguous", f_contiguous, "2,3", -1, 1, true },
		{ "contiguous", f_contiguous, "4", -1, 1, false },
		{ "transpose of broadcast", f_square_transposed, "3", -1, 1, true },
		{ "transpose of broadcast", f_square_transposed, "3,1", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- reductions ---- */

#define REDUCTIONS(name) \
	FN(f_##name, lb_##name(a, LB_ALL_AXES, false)) \
	FN(f_##name##_0, lb_##name(a, LB_AXES(0), true)) \
	FN(f_##name##_1, lb_##name(a, LB_AXES(-1), false))
REDUCTIONS(sum)
REDUCTIONS(mean)
REDUCTIONS(max)
REDUCTIONS(min)
REDUCTIONS(prod)
REDUCTIONS(logsumexp)
FN(f_var, lb_var(a, LB_ALL_AXES, false, 0))
FN(f_var_0, lb_var(a, LB_AXES(0), true, 1))
FN(f_var_1, lb_var(a, LB_AXES(-1), false, 0))
FN(f_softmax, lb_softmax(a, LB_AXES(-1)))
FN(f_softmax_all, lb_softmax(a, LB_ALL_AXES))
FN(f_softmax_0, lb_softmax(a, LB_AXES(0)))
FN(f_cumsum, lb_cumsum(a, 0, false, true))
FN(f_cumsum_back, lb_cumsum(a, -1, true, false))
FN(f_scan, lb_scan(a, LB_SCAN_SUM, 0, false, true))
FN(f_scan_back, lb_scan(a, LB_SCAN_SUM, -1, true, false))

#define REDUCED(name) \
	{ #name, f_##name, "2,3", -2, 2, true }, { #name, f_##name, "4", -2, 2, false }, \
	    { #name, f_##name##_0, "3,2", -2, 2, true }, { #name, f_##name##_0, "2,2,3", -2, 2, false }, \
	    { #name, f_##name##_1, "3,2", -2, 2, false }, \
	{ \
		#name, f_##name##_1, "2,1,4", -2, 2, false \
	}

static void reductions(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		REDUCED(sum),
		REDUCED(mean),
		REDUCED(max),
		REDUCED(min),
		REDUCED(prod),
		REDUCED(logsumexp),
		REDUCED(var),
		{ "softmax", f_softmax, "2,3", -2, 2, true },
		{ "softmax", f_softmax, "5", -2, 2, true },
		{ "softmax", f_softmax_all, "2,3", -2, 2, false },
		{ "softmax", f_softmax_0, "3,2", -2, 2, false },
		{ "cumsum", f_cumsum, "4", -2, 2, true },
		{ "cumsum", f_cumsum, "3,2", -2, 2, false },
		{ "cumsum", f_cumsum_back, "2,4", -2, 2, true },
		{ "cumsum", f_cumsum_back, "4", -2, 2, false },
		{ "scan", f_scan, "4", -2, 2, true },
		{ "scan", f_scan, "3,2", -2, 2, false },
		{ "scan", f_scan_back, "2,4", -2, 2, true },
	};
	CHECK(cases);
}

/* ---- products, joins, gathers ---- */

FN(f_matmul, lb_matmul(a, b))
FN(f_matmul_same, lb_matmul(a, lb_transpose(a, LB_ALL_AXES)))
FN(f_addmm, lb_addmm(c, a, b, 0.5, -2))
FN(f_linear, lb_linear(a, b, c))
FN(f_einsum, lb_einsum("bij,kj->bik", 2, in))
FN(f_concatenate, lb_square(lb_concatenate(2, in, 0)))
FN(f_concatenate_last, lb_concatenate(3, in, -1))
FN(f_stack, lb_stack(2, in, 1))

static lb_tensor *indices(lb_list shape)
{
	static const int32_t values[] = { 2, 0, -1, 2, 1, 0, 2, 2 };
	int64_t n = 1;
	for (int i = 0; i < shape.n; i++)
		n *= shape.v[i];
	return lb_from_data(values, (size_t)n * 4, shape, LB_I32);
}

FN(f_take, lb_take(a, indices(LB_SHAPE(4)), 0))
FN(f_take_1, lb_take(lb_exp(a), indices(LB_SHAPE(2, 2)), 1))
FN(f_take_tied, lb_matmul(lb_take(a, indices(LB_SHAPE(4)), 0), lb_transpose(a, LB_ALL_AXES)))
FN(f_embedding, lb_embedding(a, indices(LB_SHAPE(2, 3))))
FN(f_take_along, lb_take_along_axis(a, indices(LB_SHAPE(2, 4)), 1))
FN(f_take_along_0, lb_take_along_axis(lb_sin(a), indices(LB_SHAPE(4, 2)), 0))
FN(f_sort, lb_sort(a, -1))
FN(f_sort_0, lb_sort(a, 0))
FN(f_topk, lb_topk(a, 2, -1))
FN(f_topk_all, lb_topk(a, 3, 0))
FN(f_pad, lb_pad(a, LB_SHAPE(1, 0), LB_SHAPE(0, 2), 5))
FN(f_pad_low, lb_pad(a, LB_SHAPE(2), LB_SHAPE(), 1))
FN(f_rope, lb_rope(a, 4, false, 100, 1.5, 2))
FN(f_rope_traditional, lb_rope(a, 2, true, 10, 1, 0))
FN(f_slice_update, lb_slice_update(a, b, LB_RANGE(0, 4, 2), LB_REVERSED))
FN(f_slice_update_at, lb_slice_update(lb_exp(a), b, LB_ALL, LB_AT(1)))
FN(f_slice_add, lb_slice_add(a, b, LB_FROM(1), LB_RANGE(2, 0, -1)))
FN(f_strided_add, lb_strided_add(a, b, LB_STRIDES(1, 2), 1))
FN(f_scatter_add, lb_scatter_add(a, indices(LB_SHAPE(4)), b, 0))
FN(f_put_along, lb_put_along_axis(a, indices(LB_SHAPE(4, 2)), b, 0, LB_PUT_ASSIGN))
FN(f_put_along_add, lb_put_along_axis(a, indices(LB_SHAPE(1, 4)), b, 1, LB_PUT_ADD))
FN(f_depends, lb_depends(lb_sin(a), 1, (lb_tensor *[]){ lb_cos(a) }))

static void products(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "matmul", f_matmul, "2,3;3,2", -1, 1, true },
		{ "matmul", f_matmul, "3;3", -1, 1, true },
		{ "matmul", f_matmul, "3;3,2", -1, 1, false },
		{ "matmul", f_matmul, "2,3;3", -1, 1, false },
		{ "matmul", f_matmul, "2,2,3;3,2", -1, 1, true },
		{ "matmul", f_matmul, "2,2,3;2,3,1", -1, 1, false },
		{ "matmul", f_matmul, "2,1,2,3;3,3,2", -1, 1, false },
		{ "matmul", f_matmul, "2,3;2,3,2", -1, 1, false },
		{ "matmul", f_matmul, "3;2,3,2", -1, 1, false },
		{ "matmul", f_matmul, "2,2,3;3", -1, 1, false },
		{ "matmul same", f_matmul_same, "2,3", -1, 1, true },
		{ "addmm", f_addmm, "2,3;3,2;2,2", -1, 1, true },
		{ "addmm", f_addmm, "2,2,3;3,2;2", -1, 1, false },
		{ "addmm", f_addmm, "3;3,2;1", -1, 1, false },
		{ "addmm", f_addmm, "3;3;", -1, 1, false },
		{ "addmm linear", f_linear, "2,2,3;4,3;4", -1, 1, true },
		{ "matmul einsum", f_einsum, "2,2,3;4,3", -1, 1, false },
		{ "concatenate", f_concatenate, "2,3;1,3", -1, 1, true },
		{ "concatenate", f_concatenate, "2;3", -1, 1, false },
		{ "concatenate", f_concatenate_last, "2,1;2,2;2,1", -1, 1, false },
		{ "concatenate stack", f_stack, "2,3;2,3", -1, 1, false },
		{ "rope", f_rope, "3,4", -1, 1, true },
		{ "rope", f_rope, "2,2,5", -1, 1, false },
		{ "rope traditional", f_rope_traditional, "3,4", -1, 1, false },
	};
	CHECK(cases);
}

static void gathers(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "take", f_take, "3,2", -1, 1, true },
		{ "take", f_take, "3", -1, 1, false },
		{ "take", f_take_1, "2,3,2", -1, 1, true },
		{ "take", f_take_1, "1,4", -1, 1, false },
		{ "take tied", f_take_tied, "3,2", -1, 1, true },
		{ "take embedding", f_embedding, "3,4", -1, 1, false },
		{ "take_along_axis", f_take_along, "2,3", -1, 1, true },
		{ "take_along_axis", f_take_along, "1,3", -1, 1, false },
		{ "take_along_axis", f_take_along_0, "3,2", -1, 1, true },
		{ "take_along_axis", f_take_along_0, "3,1", -1, 1, false },
		{ "sort", f_sort, "2,4", -1, 1, true },
		{ "sort", f_sort, "5", -1, 1, false },
		{ "sort", f_sort_0, "4,2", -1, 1, false },
		{ "topk", f_topk, "2,4", -1, 1, true },
		{ "topk", f_topk, "5", -1, 1, false },
		{ "topk", f_topk_all, "3,2", -1, 1, false },
		{ "pad", f_pad, "2,3", -1, 1, true },
		{ "pad", f_pad, "1,1", -1, 1, false },
		{ "pad", f_pad_low, "4", -1, 1, false },
		{ "slice_update", f_slice_update, "4,3;2,3", -1, 1, true },
		{ "slice_update", f_slice_update, "4,3;3", -1, 1, false },
		{ "slice_update", f_slice_update_at, "2,3;2", -1, 1, true },
		{ "slice_add", f_slice_add, "3,4;2,2", -1, 1, true },
		{ "slice_add", f_slice_add, "3,4;", -1, 1, false },
		{ "strided_add", f_strided_add, "3,4;3,3", -1, 1, true },
		{ "strided_add", f_strided_add, "8;2,3", -1, 1, false },
		{ "scatter_add", f_scatter_add, "3,2;4,2", -1, 1, true },
		{ "scatter_add", f_scatter_add, "3;1", -1, 1, false },
		{ "put_along_axis", f_put_along, "3,2;4,2", -1, 1, true },
		{ "put_along_axis", f_put_along, "3,2;2", -1, 1, false },
		{ "put_along_axis add", f_put_along_add, "2,3;2,4", -1, 1, true },
		{ "depends", f_depends, "3", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- what models are made of ---- */

FN(f_layer_norm, lb_layer_norm(a, b, c, 1e-3))
FN(f_layer_norm_weight, lb_layer_norm(a, b, NULL, 0.1))
FN(f_layer_norm_bias, lb_layer_norm(a, NULL, b, 0.1))
FN(f_layer_norm_plain, lb_layer_norm(a, NULL, NULL, 0.1))
FN(f_rms_norm, lb_rms_norm(a, b, 1e-3))
FN(f_rms_norm_plain, lb_rms_norm(a, NULL, 0.1))
FN(f_attention, lb_attention(a, b, c, 0.7, false, NULL))
FN(f_attention_causal, lb_attention(a, b, c, 0.7, true, NULL))
FN(f_attention_mask, lb_attention(a, b, c, 1.3, true, in[3]))
FN(f_attention_bool, lb_attention(a, b, c, 0.7, false, lb_equal(lb_eye(2, 3, 1, LB_F64), lb_scalar(1))))
FN(f_attention_constant, lb_attention(a, b, c, 0.7, false, lb_eye(2, 3, 1, LB_F64)))
FN(f_attention_self, lb_attention(a, a, lb_sin(a), 0.7, true, NULL))
FN(f_conv2d, lb_conv2d(a, b, (lb_conv_options){ .padding = { 1, 0 } }))
FN(f_conv2d_all, lb_conv2d(a, b, (lb_conv_options){ { 2, 1 }, { 1, 1 }, { 1, 2 }, 2 }))
FN(f_conv1d, lb_conv1d(a, b, (lb_conv_options){ .stride = { 2 }, .padding = { 1 } }))

FN(f_layer_norm_grad, lb_layer_norm_grad(a, b, c, 0.1).x)
FN(f_layer_norm_grad_weight, lb_layer_norm_grad(a, b, c, 0.1).weight)
FN(f_layer_norm_grad_bias, lb_layer_norm_grad(a, b, c, 0.1).bias)
FN(f_rms_norm_grad, lb_rms_norm_grad(a, b, c, 0.1).x)
FN(f_attention_grad, lb_attention_grad(a, b, c, 0.7, true, NULL, in[3]).k)
FN(f_conv2d_input_grad, lb_conv2d_input_grad(LB_SHAPE(1, 3, 4, 2), a, b, (lb_conv_options){ .stride = { 1, 2 } }))
FN(f_conv2d_weight_grad, lb_conv2d_weight_grad(a, LB_SHAPE(2, 2, 2, 2), b, (lb_conv_options){ .stride = { 1, 2 } }))

static void models(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "layer_norm", f_layer_norm, "2,4;4;4", -1, 1, true },
		{ "layer_norm", f_layer_norm, "3;3;3", -1, 1, false },
		{ "layer_norm", f_layer_norm_weight, "2,2,3;3", -1, 1, true },
		{ "layer_norm", f_layer_norm_bias, "2,3;3", -1, 1, true },
		{ "layer_norm", f_layer_norm_plain, "2,3", -1, 1, true },
		{ "rms_norm", f_rms_norm, "2,4;4", -1, 1, true },
		{ "rms_norm", f_rms_norm, "2,2,3;3", -1, 1, false },
		{ "rms_norm", f_rms_norm_plain, "2,3", -1, 1, true },
		{ "attention", f_attention, "1,2,3,2;1,2,4,2;1,2,4,3", -1, 1, true },
		{ "attention grouped", f_attention, "2,4,2,2;2,2,3,2;2,2,3,2", -1, 1, false },
		{ "attention causal", f_attention_causal, "1,2,3,2;1,1,3,2;1,1,3,2", -1, 1, true },
		{ "attention causal", f_attention_causal, "1,1,2,3;1,1,4,3;1,1,4,2", -1, 1, false },
		{ "attention unseen", f_attention_causal, "1,1,4,2;1,1,2,2;1,1,2,2", -1, 1, true },
		{ "attention mask", f_attention_mask, "1,2,2,2;1,1,3,2;1,1,3,2;2,1,3", -1, 1, true },
		{ "attention bool", f_attention_bool, "1,2,2,2;1,2,3,2;1,2,3,2", -1, 1, true },
		{ "attention constant", f_attention_constant, "1,1,2,2;1,1,3,2;1,1,3,2", -1, 1, true },
		{ "attention self", f_attention_self, "1,2,3,2", -1, 1, true },
		{ "conv2d", f_conv2d, "1,3,4,2;2,2,2,2", -1, 1, true },
		{ "conv2d", f_conv2d, "2,2,2,1;1,1,2,1", -1, 1, false },
		{ "conv2d", f_conv2d_all, "1,4,4,2;2,2,2,1", -1, 1, true },
		{ "conv2d conv1d", f_conv1d, "2,4,2;3,2,2", -1, 1, true },
		{ "layer_norm_grad", f_layer_norm_grad, "2,3;3;2,3", -1, 1, true },
		{ "layer_norm_grad weight", f_layer_norm_grad_weight, "2,3;3;2,3", -1, 1, true },
		{ "layer_norm_grad bias", f_layer_norm_grad_bias, "2,3;3;2,3", -1, 1, false },
		{ "rms_norm_grad", f_rms_norm_grad, "2,3;3;2,3", -1, 1, true },
		{ "attention_grad", f_attention_grad, "1,2,3,2;1,1,3,2;1,1,3,2;1,2,3,2", -1, 1, false },
		{ "conv2d_input_grad", f_conv2d_input_grad, "2,2,2,2;1,2,2,2", -1, 1, true },
		{ "conv2d_weight_grad", f_conv2d_weight_grad, "1,3,4,2;1,2,2,2", -1, 1, true },
	};
	CHECK(cases);
}

/* ---- what has no central differences: f16, bf16 and f32 only, or jumps ---- */

static lb_tensor *values(int64_t n, const double *v, lb_dtype dtype)
{
	return lb_astype(lb_from_data(v, (size_t)n * 8, LB_SHAPE(n), LB_F64), dtype);
}
#define VALUES(...) values(sizeof((double[]){ __VA_ARGS__ }) / 8, (double[]){ __VA_ARGS__ }, LB_F64)

static void same(lb_tensor *got, lb_tensor *expected)
{
	assert_non_null(got);
	assert_int_equal(lb_size(got), lb_size(expected));
	lb_tensor *a = lb_flatten(lb_astype(got, LB_F64), 0, -1), *b = lb_flatten(lb_astype(expected, LB_F64), 0, -1);
	lb_tensor *off = lb_max(lb_abs(lb_subtract(a, b)), LB_ALL_AXES, false);
	if (!(lb_item(off) <= 1e-5 * fmax(1, lb_item(lb_max(lb_abs(b), LB_ALL_AXES, false)))))
		fail_msg("off by %g: %s", lb_item(off), lb_error_message());
}

/* fn's context is a function of tensors alone. */
static bool sum_of(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *(*const *fn)(lb_tensor *const *) = context;
	(void)n, (void)n_out;
	out[0] = lb_sum((*fn)(in), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static lb_tensor *grad_of(lb_tensor *(*fn)(lb_tensor *const *), lb_tensor *a, lb_tensor *b)
{
	lb_tensor *grads[2] = { 0 };
	if (!lb_grad(sum_of, &fn, b ? 2 : 1, (lb_tensor *[]){ a, b }, grads))
		fail_msg("%s", lb_error_message());
	return grads[0];
}

#define FN1(name, ...) \
	static lb_tensor *name(lb_tensor *const *in) \
	{ \
		lb_tensor *a = in[0]; \
		return __VA_ARGS__; \
	}
FN1(g_max, lb_max(a, LB_ALL_AXES, false))
FN1(g_prod, lb_prod(a, LB_ALL_AXES, false))
FN1(g_power_0, lb_power(a, lb_scalar_int(0)))
FN1(g_power_1, lb_power(a, lb_scalar_int(1)))
FN1(g_power_2, lb_power(a, lb_scalar_int(2)))
FN1(g_abs, lb_abs(a))
FN1(g_steps, lb_add(lb_floor(a), lb_astype(lb_argmax(a, LB_ALL_AXES, false), LB_F64)))
FN1(g_compare, lb_multiply(a, lb_astype(lb_greater(a, lb_scalar(0)), LB_F64)))
FN1(g_int, lb_multiply(a, lb_astype(lb_astype(a, LB_I32), LB_F64)))
FN1(g_clip, lb_clip(a, lb_scalar(-1), lb_scalar(1)))
FN1(g_put, lb_put_along_axis(lb_zeros(LB_SHAPE(3), LB_F64), lb_ones(LB_SHAPE(2), LB_I32), a, 0, LB_PUT_ASSIGN))

static lb_tensor *g_maximum(lb_tensor *const *in)
{
	return lb_maximum(in[0], in[1]);
}

static lb_tensor *g_power(lb_tensor *const *in)
{
	return lb_power(in[1], in[0]);
}

static void corners(void **state)
{
	(void)state;
	LB_SCOPE {
		same(grad_of(g_max, VALUES(1, 3, 3, 2), NULL), VALUES(0, 0.5, 0.5, 0));
		same(grad_of(g_maximum, VALUES(1, 2, 3), VALUES(2, 2, 2)), VALUES(0, 0.5, 1));
		same(grad_of(g_prod, VALUES(2, 0, 3), NULL), VALUES(0, 6, 0));
		same(grad_of(g_prod, VALUES(0, 0, 3), NULL), VALUES(0, 0, 0));
		same(grad_of(g_prod, VALUES(2, 5, 3), NULL), VALUES(15, 6, 10));
		same(grad_of(g_power_0, VALUES(0, -2), NULL), VALUES(0, 0));
		same(grad_of(g_power_1, VALUES(0, -2), NULL), VALUES(1, 1));
		same(grad_of(g_power_2, VALUES(0, -2), NULL), VALUES(0, -4));
		same(grad_of(g_power, VALUES(2, 0.5), VALUES(0, 0)), VALUES(0, 0));
		same(grad_of(g_abs, VALUES(-2, 0, 3), NULL), VALUES(-1, 0, 1));
		same(grad_of(g_steps, VALUES(-2, 0.5), NULL), VALUES(0, 0));
		same(grad_of(g_compare, VALUES(-2, 0.5), NULL), VALUES(0, 1));
		same(grad_of(g_int, VALUES(-2.5, 3.5), NULL), VALUES(-2, 3));
		same(grad_of(g_clip, VALUES(-2, -1, 0, 1, 2), NULL), VALUES(0, 1, 1, 1, 0));
		same(grad_of(g_put, VALUES(4, 5), NULL), VALUES(0, 1));
	}
}

/* ---- quantisation ---- */

enum { ROWS = 4, K = 64 };

struct quantised {
	lb_quantized q;
	lb_quant how;
};

static bool dequantised(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct quantised *c = context;
	lb_quantized q = c->q;
	(void)n_out;
	if (c->how.mode == LB_QUANT_AFFINE) {
		q.scales = in[0];
		q.biases = n > 1 ? in[1] : q.biases;
	} else {
		q.global_scale = in[0];
	}
	out[0] = lb_dequantize(q, c->how, LB_F32);
	return out[0] != NULL;
}

static bool multiplied(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct quantised *c = context;
	(void)n, (void)n_out;
	out[0] = lb_quantized_matmul(in[0], c->q, c->how, lb_dim(in[0], -1) == K);
	return out[0] != NULL;
}

static bool quantised(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct quantised *c = context;
	(void)n, (void)n_out;
	out[0] = lb_dequantize(lb_quantize(in[0], c->how, NULL), c->how, LB_F32);
	return out[0] != NULL;
}

/* Of halves, which differences are too coarse for: the gradient is that of the product as it is. */
static bool in_steps(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n, (void)n_out;
	out[0] = context ? lb_matmul_in_steps(in[0], in[1]) : lb_matmul(in[0], in[1]);
	return out[0] != NULL;
}

static bool extremes(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n, (void)n_out;
	out[0] = context ? lb_scan(in[0], LB_SCAN_MAX, 0, false, true) : lb_partition(in[0], 1, 0);
	return out[0] != NULL;
}

static void steps(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { lb_random_normal(LB_SHAPE(2, 3, 4), LB_BF16, lb_key(1)),
				     lb_random_normal(LB_SHAPE(4, 5), LB_BF16, lb_key(2)) };
		lb_tensor *g = lb_random_normal(LB_SHAPE(2, 3, 5), LB_BF16, lb_key(3)), *out, *a[2], *b[2];
		assert_true(lb_vjp(in_steps, in, 2, in, 1, &g, &out, a));
		assert_true(lb_vjp(in_steps, NULL, 2, in, 1, &g, &out, b));
		for (int i = 0; i < 2; i++)
			assert_true(lb_item(lb_all(lb_equal(a[i], b[i]), LB_ALL_AXES, false)));
		grad_mark("matmul_in_steps");
		lb_tensor *x = lb_random_normal(LB_SHAPE(4), LB_F32, lb_key(4));
		assert_false(lb_vjp(extremes, x, 1, &x, 1, &x, &out, a));
		assert_true(error_has("scan lb_cumsum()"));
		assert_false(lb_vjp(extremes, NULL, 1, &x, 1, &x, &out, a));
		assert_true(error_has("partition lb_sort()"));
	}
}

/* Linear in scales, biases, the global scale and x: the vector-Jacobian product by one of them, with
 * that itself, is the cotangent's product with the result (less the other's part). */
static void quantisation(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *w = lb_random_normal(LB_SHAPE(ROWS, K), LB_F32, lb_key(1)), *out, *d[2];
		lb_tensor *g = lb_random_normal(LB_SHAPE(ROWS, K), LB_F32, lb_key(2));
		struct quantised c = { .how = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 32 } };
		c.q = lb_quantize(w, c.how, NULL);
		assert_true(lb_vjp(dequantised, &c, 2, (lb_tensor *[]){ c.q.scales, c.q.biases }, 1, &g, &out, d));
		lb_tensor *groups = lb_sum(lb_reshape(g, LB_SHAPE(ROWS, 2, 32)), LB_AXES(-1), false);
		same(d[1], groups);
		lb_tensor *both = lb_add(lb_multiply(d[0], c.q.scales), lb_multiply(d[1], c.q.biases));
		same(both, lb_sum(lb_reshape(lb_multiply(g, out), LB_SHAPE(ROWS, 2, 32)), LB_AXES(-1), false));

		for (int turned = 0; turned < 2; turned++) {
			lb_tensor *x = lb_random_normal(turned ? LB_SHAPE(3, ROWS) : LB_SHAPE(3, K), LB_F32, lb_key(3));
			lb_tensor *y = lb_random_normal(turned ? LB_SHAPE(3, K) : LB_SHAPE(3, ROWS), LB_F32, lb_key(4));
			assert_true(lb_vjp(multiplied, &c, 1, &x, 1, &y, &out, d));
			lb_tensor *dense = lb_dequantize(c.q, c.how, LB_F32);
			same(d[0], lb_matmul(y, turned ? lb_transpose(dense, LB_ALL_AXES) : dense));
		}
		grad_mark("quantized_matmul");

		c.how = (lb_quant){ .mode = LB_QUANT_NVFP4 };
		lb_tensor *global = lb_full(LB_SHAPE(), 3, LB_F32);
		c.q = lb_quantize(w, c.how, global);
		assert_true(lb_vjp(dequantised, &c, 1, &global, 1, &g, &out, d));
		same(lb_multiply(d[0], global), lb_sum(lb_multiply(g, out), LB_ALL_AXES, false));
		grad_mark("dequantize");

		for (int mode = LB_QUANT_AFFINE; mode <= LB_QUANT_NVFP4; mode++) {
			c.how = (lb_quant){ .mode = (lb_quant_mode)mode };
			assert_false(lb_vjp(quantised, &c, 1, &w, 1, &g, &out, d));
			assert_true(error_has("quantize lb_stop_gradient()"));
		}
	}
}

/* ---- every operation ---- */

static const struct {
	int op;
	const char *why;
} without[] = {
	{ LB_OP_DATA, "a leaf" },
	{ LB_OP_SCALAR, "a constant" },
	{ LB_OP_FULL, "a constant" },
	{ LB_OP_ARANGE, "a constant" },
	{ LB_OP_EYE, "a constant" },
	{ LB_OP_UNIFORM, "a constant" },
	{ LB_OP_NORMAL, "a constant" },
	{ LB_OP_FLOOR, "flat nearly everywhere" },
	{ LB_OP_CEIL, "flat nearly everywhere" },
	{ LB_OP_ROUND, "flat nearly everywhere" },
	{ LB_OP_ISNAN, "bool" },
	{ LB_OP_ISINF, "bool" },
	{ LB_OP_LOGICAL_NOT, "bool" },
	{ LB_OP_EQUAL, "bool" },
	{ LB_OP_NOT_EQUAL, "bool" },
	{ LB_OP_LESS, "bool" },
	{ LB_OP_LESS_EQUAL, "bool" },
	{ LB_OP_GREATER, "bool" },
	{ LB_OP_GREATER_EQUAL, "bool" },
	{ LB_OP_BITWISE_AND, "of integers" },
	{ LB_OP_BITWISE_OR, "of integers" },
	{ LB_OP_BITWISE_XOR, "of integers" },
	{ LB_OP_LEFT_SHIFT, "of integers" },
	{ LB_OP_RIGHT_SHIFT, "of integers" },
	{ LB_OP_BITCAST, "bits" },
	{ LB_OP_RANDOM_BITS, "integers" },
	{ LB_OP_ARGPARTITION, "indices" },
	{ LB_OP_LOGICAL_AND, "bool" },
	{ LB_OP_LOGICAL_OR, "bool" },
	{ LB_OP_ALL, "bool" },
	{ LB_OP_ANY, "bool" },
	{ LB_OP_STOP_GRADIENT, "made for that" },
	{ LB_OP_DECODE, "of bytes" },
	{ LB_OP_ARGMAX, "indices" },
	{ LB_OP_ARGMIN, "indices" },
	{ LB_OP_ARGSORT, "indices" },
	{ LB_OP_CATEGORICAL, "indices" },
	{ LB_OP_TRACER, "a leaf" },
	{ LB_OP_FUSED, "never made while a gradient is traced" },
};

/* Each has a rule that was tested above, or a reason to have none. That of quantize() and partition() is to refuse. */
static void every_operation(void **state)
{
	(void)state;
	for (int op = 0; op < LB_OPS; op++) {
		const char *why = NULL;
		for (int i = 0; i < LENGTH(without); i++)
			why = without[i].op == op ? without[i].why : why;
		if (!lb_rules[op] != !!why)
			fail_msg("%s: %s", lb_ops[op].name,
				 why ? "has a rule after all" : "has neither rule nor reason");
		if (!why && !grad_tested[op] && op != LB_OP_QUANTIZE && op != LB_OP_PARTITION)
			fail_msg("%s: its rule is not tested", lb_ops[op].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unary),      cmocka_unit_test(binary),          cmocka_unit_test(views),
		cmocka_unit_test(reductions), cmocka_unit_test(products),        cmocka_unit_test(gathers),
		cmocka_unit_test(models),     cmocka_unit_test(corners),         cmocka_unit_test(quantisation),
		cmocka_unit_test(steps),      cmocka_unit_test(every_operation),
	};
	int failed = cmocka_run_group_tests_name("grad", tests, NULL, NULL);
	printf("# %d cases\n", grad_cases);
	return failed;
}
