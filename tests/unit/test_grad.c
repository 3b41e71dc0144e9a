/* The gradient of every operation against central differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "grad_check.h"

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
	{ #name, f_##name, "", low, high, true }, { #name, f_##name, "2,1,3", low, high, false }

static void unary(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		UNARY(negative, -2, 2), UNARY(abs, -2, 2), UNARY(exp, -2, 2), UNARY(log, 0.3, 3),
		UNARY(sqrt, 0.3, 3), UNARY(rsqrt, 0.3, 3), UNARY(sin, -3, 3), UNARY(cos, -3, 3),
		UNARY(tanh, -2, 2), UNARY(sigmoid, -3, 3), UNARY(erf, -2, 2), UNARY(square, -2, 2),
		UNARY(silu, -3, 3), UNARY(gelu, -3, 3), UNARY(gelu_tanh, -3, 3), UNARY(astype, -2, 2),
		UNARY(floor, -3, 3), UNARY(ceil, -3, 3), UNARY(round, -3, 3),
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
FN(f_where, lb_where(lb_greater(a, b), lb_sin(a), lb_multiply(a, b)))
FN(f_clip, lb_clip(a, b, c))
FN(f_clip_low, lb_clip(a, lb_scalar(1.1), NULL))
FN(f_scalars, lb_add(lb_multiply(a, lb_scalar(3)), lb_scalar_int(2)))
FN(f_shared, lb_multiply(lb_add(a, b), lb_add(b, lb_multiply(a, a))))

#define BINARY(name, low, high) \
	{ #name, f_##name, "2,3;2,3", low, high, true }, { #name, f_##name, "2,3;3", low, high, false }, \
	{ #name, f_##name, "2,1;1,3", low, high, true }, { #name, f_##name, ";4", low, high, false }, \
	{ #name, f_##name, "3;2,2,1", low, high, false }

static void binary(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		BINARY(add, -2, 2), BINARY(subtract, -2, 2), BINARY(multiply, -2, 2), BINARY(divide, 0.5, 2),
		BINARY(power, 0.5, 2), BINARY(maximum, -2, 2), BINARY(minimum, -2, 2),
		BINARY(remainder, 0.7, 5), BINARY(where, -2, 2), BINARY(shared, -2, 2),
		{ "power 3", f_power_3, "2,3", -2, 2, true },
		{ "power -0.5", f_power_half, "2,3", 0.5, 2, true },
		{ "power 2^", f_power_base, "2,3", -2, 2, true },
		{ "clip", f_clip, "4;4;4", 0, 2, true }, { "clip", f_clip, "3,4;4;1", 0, 2, false },
		{ "clip", f_clip, "3,4;;", 0, 2, false }, { "clip low", f_clip_low, "3,4", 0, 2, false },
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
FN(f_windows, lb_transpose(lb_slice(lb_as_strided(lb_exp(a), LB_SHAPE(4, 3), LB_STRIDES(1, 1), 0), LB_FROM(1)),
			   LB_ALL_AXES))
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
		{ "reshape", f_reshape, "2,3", -1, 1, true }, { "reshape", f_reshape, "6,2,1", -1, 1, false },
		{ "transpose", f_transpose, "2,3", -1, 1, true }, { "transpose", f_transpose, "3,1,2", -1, 1, false },
		{ "transpose", f_transpose_120, "2,3,4", -1, 1, false }, { "transpose", f_transpose_120, "2,2,2", -1, 1, true },
		{ "slice", f_slice, "4,5", -1, 1, true }, { "slice", f_slice, "3,4", -1, 1, false },
		{ "slice", f_slice, "3,4,2", -1, 1, false },
		{ "slice at", f_slice_at, "3,4", -1, 1, true }, { "slice at", f_slice_at, "2,2,3", -1, 1, false },
		{ "slice of transposed", f_slice_of_transposed, "3,4", -1, 1, true },
		{ "slice of broadcast", f_slice_of_broadcast, "3", -1, 1, false },
		{ "slice of broadcast", f_slice_of_broadcast, "4,1", -1, 1, false },
		{ "slice split", f_split, "2,6", -1, 1, true }, { "slice split", f_split, "3", -1, 1, false },
		{ "broadcast_to", f_broadcast, "3", -1, 1, true }, { "broadcast_to", f_broadcast, "4,1", -1, 1, false },
		{ "broadcast_to", f_broadcast, "", -1, 1, false },
		{ "expand_dims", f_expand, "2,3", -1, 1, true }, { "expand_dims", f_expand, "", -1, 1, false },
		{ "squeeze", f_squeeze, "1,3,1", -1, 1, true }, { "squeeze", f_squeeze, "2,1", -1, 1, false },
		{ "flatten", f_flatten, "2,3", -1, 1, true }, { "flatten", f_flatten, "2,1,2", -1, 1, false },
		{ "as_strided", f_as_strided, "8", -1, 1, true }, { "as_strided", f_as_strided, "2,4", -1, 1, false },
		{ "as_strided windows", f_windows, "6", -1, 1, true },
		{ "contiguous", f_contiguous, "2,3", -1, 1, true }, { "contiguous", f_contiguous, "4", -1, 1, false },
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

#define REDUCED(name) \
	{ #name, f_##name, "2,3", -2, 2, true }, { #name, f_##name, "4", -2, 2, false }, \
	{ #name, f_##name##_0, "3,2", -2, 2, true }, { #name, f_##name##_0, "2,2,3", -2, 2, false }, \
	{ #name, f_##name##_1, "3,2", -2, 2, false }, { #name, f_##name##_1, "2,1,4", -2, 2, false }

static void reductions(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		REDUCED(sum), REDUCED(mean), REDUCED(max), REDUCED(min), REDUCED(prod), REDUCED(logsumexp),
		REDUCED(var),
		{ "softmax", f_softmax, "2,3", -2, 2, true }, { "softmax", f_softmax, "5", -2, 2, true },
		{ "softmax", f_softmax_all, "2,3", -2, 2, false }, { "softmax", f_softmax_0, "3,2", -2, 2, false },
		{ "cumsum", f_cumsum, "4", -2, 2, true }, { "cumsum", f_cumsum, "3,2", -2, 2, false },
		{ "cumsum", f_cumsum_back, "2,4", -2, 2, true }, { "cumsum", f_cumsum_back, "4", -2, 2, false },
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
		{ "matmul", f_matmul, "2,3;3,2", -1, 1, true }, { "matmul", f_matmul, "3;3", -1, 1, true },
		{ "matmul", f_matmul, "3;3,2", -1, 1, false }, { "matmul", f_matmul, "2,3;3", -1, 1, false },
		{ "matmul", f_matmul, "2,2,3;3,2", -1, 1, true }, { "matmul", f_matmul, "2,2,3;2,3,1", -1, 1, false },
		{ "matmul", f_matmul, "2,1,2,3;3,3,2", -1, 1, false }, { "matmul", f_matmul, "2,3;2,3,2", -1, 1, false },
		{ "matmul", f_matmul, "3;2,3,2", -1, 1, false }, { "matmul", f_matmul, "2,2,3;3", -1, 1, false },
		{ "matmul same", f_matmul_same, "2,3", -1, 1, true },
		{ "addmm", f_addmm, "2,3;3,2;2,2", -1, 1, true }, { "addmm", f_addmm, "2,2,3;3,2;2", -1, 1, false },
		{ "addmm", f_addmm, "3;3,2;1", -1, 1, false }, { "addmm", f_addmm, "3;3;", -1, 1, false },
		{ "addmm linear", f_linear, "2,2,3;4,3;4", -1, 1, true },
		{ "matmul einsum", f_einsum, "2,2,3;4,3", -1, 1, false },
		{ "concatenate", f_concatenate, "2,3;1,3", -1, 1, true }, { "concatenate", f_concatenate, "2;3", -1, 1, false },
		{ "concatenate", f_concatenate_last, "2,1;2,2;2,1", -1, 1, false },
		{ "concatenate stack", f_stack, "2,3;2,3", -1, 1, false },
		{ "rope", f_rope, "3,4", -1, 1, true }, { "rope", f_rope, "2,2,5", -1, 1, false },
		{ "rope traditional", f_rope_traditional, "3,4", -1, 1, false },
	};
	CHECK(cases);
}

static void gathers(void **state)
{
	(void)state;
	static const struct grad_case cases[] = {
		{ "take", f_take, "3,2", -1, 1, true }, { "take", f_take, "3", -1, 1, false },
		{ "take", f_take_1, "2,3,2", -1, 1, true }, { "take", f_take_1, "1,4", -1, 1, false },
		{ "take tied", f_take_tied, "3,2", -1, 1, true }, { "take embedding", f_embedding, "3,4", -1, 1, false },
		{ "take_along_axis", f_take_along, "2,3", -1, 1, true }, { "take_along_axis", f_take_along, "1,3", -1, 1, false },
		{ "take_along_axis", f_take_along_0, "3,2", -1, 1, true }, { "take_along_axis", f_take_along_0, "3,1", -1, 1, false },
		{ "sort", f_sort, "2,4", -1, 1, true }, { "sort", f_sort, "5", -1, 1, false },
		{ "sort", f_sort_0, "4,2", -1, 1, false }, { "topk", f_topk, "2,4", -1, 1, true },
		{ "topk", f_topk, "5", -1, 1, false }, { "topk", f_topk_all, "3,2", -1, 1, false },
		{ "pad", f_pad, "2,3", -1, 1, true }, { "pad", f_pad, "1,1", -1, 1, false }, { "pad", f_pad_low, "4", -1, 1, false },
		{ "slice_update", f_slice_update, "4,3;2,3", -1, 1, true }, { "slice_update", f_slice_update, "4,3;3", -1, 1, false },
		{ "slice_update", f_slice_update_at, "2,3;2", -1, 1, true },
		{ "slice_add", f_slice_add, "3,4;2,2", -1, 1, true }, { "slice_add", f_slice_add, "3,4;", -1, 1, false },
		{ "strided_add", f_strided_add, "3,4;3,3", -1, 1, true }, { "strided_add", f_strided_add, "8;2,3", -1, 1, false },
		{ "scatter_add", f_scatter_add, "3,2;4,2", -1, 1, true }, { "scatter_add", f_scatter_add, "3;1", -1, 1, false },
		{ "put_along_axis", f_put_along, "3,2;4,2", -1, 1, true }, { "put_along_axis", f_put_along, "3,2;2", -1, 1, false },
		{ "put_along_axis add", f_put_along_add, "2,3;2,4", -1, 1, true },
		{ "depends", f_depends, "3", -1, 1, true },
	};
	CHECK(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unary), cmocka_unit_test(binary), cmocka_unit_test(views),
		cmocka_unit_test(reductions), cmocka_unit_test(products), cmocka_unit_test(gathers),
	};
	int failed = cmocka_run_group_tests_name("grad", tests, NULL, NULL);
	printf("# %d cases\n", grad_cases);
	return failed;
}
