/* What models are made of, given what it cannot take: it says so by name, and nothing crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/tensor.h"
#include "probe.h"

static lb_tensor *of(lb_dtype dtype, lb_list shape)
{
	return lb_ones(shape, dtype);
}

static lb_tensor *x23(void)
{
	return counting(LB_SHAPE(2, 3));
}

#define VECTOR(n) of(LB_F32, LB_SHAPE(n))

static void layers(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_layer_norm(x23(), VECTOR(2), NULL, 1e-5), "layer_norm weight (2) (2,3)");
	FAILS_AT_ONCE(lb_layer_norm(x23(), VECTOR(3), x23(), 1e-5), "layer_norm bias (2,3)");
	FAILS_AT_ONCE(lb_layer_norm(lb_scalar(1), NULL, NULL, 1e-5), "layer_norm scalar");
	FAILS_AT_ONCE(lb_rms_norm(x23(), NULL, -1), "rms_norm eps -1");
	FAILS_AT_ONCE(lb_rms_norm(x23(), NULL, NAN), "rms_norm eps");
	FAILS_AT_ONCE(lb_rms_norm(of(LB_I32, LB_SHAPE(2)), NULL, 0), "rms_norm int32 lb_astype");
	FAILS_AT_ONCE(lb_rms_norm(of(LB_C64, LB_SHAPE(2)), NULL, 0), "rms_norm complex64");
	FAILS_AT_ONCE(lb_rope(x23(), 4, false, 1e4, 1, 0), "rope (2,3) 4");
	FAILS_AT_ONCE(lb_rope(x23(), 3, false, 1e4, 1, 0), "rope even 3");
	FAILS_AT_ONCE(lb_rope(x23(), 0, false, 1e4, 1, 0), "rope dims 0");
	FAILS_AT_ONCE(lb_rope(x23(), 2, false, 0, 1, 0), "rope base 0");
	FAILS_AT_ONCE(lb_rope(x23(), 2, false, 1e4, INFINITY, 0), "rope scale");
	FAILS_AT_ONCE(lb_rope(VECTOR(4), 2, false, 1e4, 1, 0), "rope (4) two axes");
	FAILS_AT_ONCE(lb_rope(of(LB_I8, LB_SHAPE(2, 2)), 2, false, 1e4, 1, 0), "rope int8");
	FAILS_AT_ONCE(lb_linear(x23(), x23(), VECTOR(3)), "linear bias (3) (2,3)");
	FAILS_AT_ONCE(lb_linear(x23(), of(LB_F32, LB_SHAPE(3, 2)), NULL), "linear weight (3,2) (2,3)");
	FAILS_AT_ONCE(lb_linear(x23(), VECTOR(3), NULL), "linear weight (3)");
	FAILS_AT_ONCE(lb_embedding(x23(), x23()), "embedding float32");
	FAILS_AT_ONCE(lb_embedding(VECTOR(3), of(LB_I32, LB_SHAPE(2))), "embedding (3)");
	FAILS_AT_ONCE(lb_silu(of(LB_C64, LB_SHAPE(2))), "silu complex64");
	FAILS_AT_ONCE(lb_gelu(of(LB_C64, LB_SHAPE(2))), "gelu complex64");
	FAILS_AT_ONCE(lb_gelu_tanh(of(LB_C64, LB_SHAPE(2))), "gelu_tanh complex64");
	FAILS_AT_ONCE(lb_one_hot(x23(), 3, LB_F32), "one_hot float32");
	FAILS_AT_ONCE(lb_one_hot(of(LB_I32, LB_SHAPE(2)), -1, LB_F32), "one_hot (2) -1");
	FAILS_AT_ONCE(lb_one_hot(of(LB_I32, LB_SHAPE(2)), 3, (lb_dtype)99), "one_hot 99");
	FAILS_AT_ONCE(lb_one_hot(of(LB_I32, LB_SHAPE(2)), INT64_MAX, LB_F32), "");
}

static void composed(void **state)
{
	(void)state;
	lb_tensor *cube = of(LB_F32, LB_SHAPE(1, 2, 2, 2, 4)), *image = of(LB_F32, LB_SHAPE(1, 2, 2, 4));
	lb_conv_options o = { .groups = 2 };
	lb_tensor *x32 = of(LB_F32, LB_SHAPE(3, 2)), *row = of(LB_BOOL, LB_SHAPE(1, 2));
	FAILS_AT_ONCE(lb_block_masked_mm(x23(), x23(), 2, NULL, NULL, NULL), "block_masked_mm (2,3)");
	FAILS_AT_ONCE(lb_block_masked_mm(x23(), x32, 0, NULL, NULL, NULL), "block_masked_mm block_size 0");
	FAILS_AT_ONCE(lb_block_masked_mm(x23(), x32, 2, row, NULL, NULL), "block_masked_mm mask_out (1,2) (1, 1)");
	FAILS_AT_ONCE(lb_block_masked_mm(x23(), x32, 2, NULL, NULL, row), "block_masked_mm mask_b (1,2) (2, 1)");
	FAILS_AT_ONCE(lb_block_masked_mm(x23(), x32, 2, NULL, of(LB_I32, LB_SHAPE(1, 2)), NULL), "mask_a int32 bool");
	FAILS_AT_ONCE(lb_block_masked_mm(of(LB_I32, LB_SHAPE(2, 2)), of(LB_I32, LB_SHAPE(2, 2)), 2, NULL, NULL, NULL),
		      "block_masked_mm int32 lb_astype");
	lb_tensor *pair = of(LB_I32, LB_SHAPE(2));
	FAILS_AT_ONCE(lb_segmented_mm(x23(), x23(), pair), "segmented_mm (2,3)");
	FAILS_AT_ONCE(lb_segmented_mm(of(LB_F32, LB_SHAPE(1, 2, 3)), x32, pair), "segmented_mm (1,2,3) lb_vmap");
	FAILS_AT_ONCE(lb_segmented_mm(x23(), x32, of(LB_I32, LB_SHAPE(3))), "segmented_mm segments (3)");
	FAILS_AT_ONCE(lb_segmented_mm(x23(), x32, of(LB_I32, LB_SHAPE())), "segmented_mm segments ()");
	FAILS_AT_ONCE(lb_segmented_mm(x23(), x32, of(LB_F32, LB_SHAPE(2))), "segmented_mm float32");
	FAILS_AT_ONCE(lb_gather_mm(x23(), VECTOR(3), NULL, NULL), "gather_mm (2,3) (3)");
	FAILS_AT_ONCE(lb_gather_mm(x23(), x23(), VECTOR(3), NULL), "gather_mm float32");
	FAILS_AT_ONCE(lb_gather_mm(of(LB_I32, LB_SHAPE(2, 2)), of(LB_I32, LB_SHAPE(2, 2)), NULL, NULL),
		      "int32 lb_astype");
	FAILS_AT_ONCE(lb_hadamard_transform(x23(), 0), "hadamard_transform (2,3) 12");
	FAILS_AT_ONCE(lb_hadamard_transform(of(LB_F32, LB_SHAPE(2, 0)), 0), "hadamard_transform (2,0)");
	FAILS_AT_ONCE(lb_conv3d(image, image, (lb_conv3d_options){ .groups = 1 }), "conv3d five axes");
	FAILS_AT_ONCE(lb_conv3d(cube, cube, (lb_conv3d_options){ .stride = { -1 } }), "conv3d stride");
	FAILS_AT_ONCE(lb_conv3d(cube, cube, (lb_conv3d_options){ .dilation = { 2 } }), "conv3d larger");
	FAILS_AT_ONCE(lb_conv3d(cube, cube, (lb_conv3d_options){ .groups = 3 }), "groups");
	FAILS_AT_ONCE(lb_conv_transpose2d(image, image, o, LB_SHAPE()), "conv_transpose2d groups");
	FAILS_AT_ONCE(lb_conv_transpose2d(image, image, (lb_conv_options){ .padding = { 2 } }, LB_SHAPE()),
		      "conv_transpose2d padding");
	FAILS_AT_ONCE(lb_conv_transpose2d(image, image, (lb_conv_options){ .groups = 1 }, LB_SHAPE(1)),
		      "output_padding");
	FAILS_AT_ONCE(lb_conv_transpose2d(image, image, (lb_conv_options){ .stride = { INT64_MAX } }, LB_SHAPE()),
		      "stride");
	FAILS_AT_ONCE(lb_conv_transpose1d(image, x23(), o, 0), "conv_transpose1d three axes");
	FAILS_AT_ONCE(lb_conv_transpose2d(of(LB_I32, LB_SHAPE(1, 2, 2, 4)), of(LB_I32, LB_SHAPE(4, 1, 1, 4)),
					  (lb_conv_options){ .groups = 1 }, LB_SHAPE()),
		      "int32");
}

static lb_tensor *heads(int64_t b, int64_t h, int64_t l, int64_t d)
{
	return of(LB_F32, LB_SHAPE(b, h, l, d));
}

static void attention(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_attention(x23(), x23(), x23(), 1, false, NULL), "attention (2,3) four axes");
	FAILS_AT_ONCE(lb_attention(heads(1, 2, 3, 4), heads(2, 2, 3, 4), heads(2, 2, 3, 4), 1, false, NULL),
		      "attention batches (1,2,3,4) (2,2,3,4)");
	FAILS_AT_ONCE(lb_attention(heads(1, 3, 3, 4), heads(1, 2, 3, 4), heads(1, 2, 3, 4), 1, false, NULL),
		      "attention heads multiple (1,3,3,4)");
	FAILS_AT_ONCE(lb_attention(heads(1, 2, 3, 4), heads(1, 0, 3, 4), heads(1, 0, 3, 4), 1, false, NULL),
		      "attention heads (1,0,3,4)");
	FAILS_AT_ONCE(lb_attention(heads(1, 2, 3, 4), heads(1, 2, 3, 5), heads(1, 2, 3, 4), 1, false, NULL),
		      "attention features (1,2,3,5)");
	FAILS_AT_ONCE(lb_attention(heads(1, 2, 3, 4), heads(1, 2, 3, 4), heads(1, 2, 4, 4), 1, false, NULL),
		      "attention positions (1,2,4,4)");
	FAILS_AT_ONCE(lb_attention(heads(1, 2, 3, 4), heads(1, 2, 5, 4), heads(1, 2, 5, 4), 1, false, x23()),
		      "attention mask (2,3) (1,2,3,5)");
	FAILS_AT_ONCE(lb_attention(heads(1, 2, 3, 4), heads(1, 2, 3, 4), heads(1, 2, 3, 4), 1, false,
				   of(LB_I32, LB_SHAPE(3))),
		      "attention mask int32");
	lb_tensor *ints = of(LB_I32, LB_SHAPE(1, 1, 2, 2));
	FAILS_AT_ONCE(lb_attention(ints, ints, ints, 1, true, NULL), "attention int32 lb_astype");
}

static void convolutions(void **state)
{
	(void)state;
	lb_conv_options plain = { .groups = 1 };
	lb_tensor *x = heads(1, 5, 5, 4), *w = heads(6, 3, 3, 4);
	FAILS_AT_ONCE(lb_conv2d(x23(), w, plain), "conv2d (2,3) (6,3,3,4) four axes");
	FAILS_AT_ONCE(lb_conv1d(x, w, plain), "conv1d (1,5,5,4) three axes");
	FAILS_AT_ONCE(lb_conv2d(x, heads(6, 3, 3, 3), plain), "conv2d (6,3,3,3) channels");
	FAILS_AT_ONCE(lb_conv2d(x, heads(6, 6, 3, 4), plain), "conv2d larger (6,6,3,4)");
	FAILS_AT_ONCE(lb_conv2d(x, heads(6, 0, 3, 4), plain), "conv2d (6,0,3,4)");
	FAILS_AT_ONCE(lb_conv2d(x, w, (lb_conv_options){ .groups = 3 }), "conv2d groups");
	FAILS_AT_ONCE(lb_conv2d(x, w, (lb_conv_options){ .groups = -1 }), "conv2d groups");
	FAILS_AT_ONCE(lb_conv2d(x, w, (lb_conv_options){ .stride = { -1, 1 } }), "conv2d stride");
	FAILS_AT_ONCE(lb_conv2d(x, w, (lb_conv_options){ .padding = { 0, INT64_MAX } }), "conv2d padding");
	FAILS_AT_ONCE(lb_conv2d(x, w, (lb_conv_options){ .dilation = { 1, INT32_MAX } }), "conv2d dilation");
	FAILS_AT_ONCE(lb_conv2d(of(LB_I32, LB_SHAPE(1, 5, 5, 4)), of(LB_I8, LB_SHAPE(6, 3, 3, 4)), plain),
		      "conv2d int32 lb_astype");
	FAILS_AT_ONCE(lb_pad(x23(), LB_SHAPE(1), LB_SHAPE(1, 1), 0), "pad (2,3) 1 2");
	FAILS_AT_ONCE(lb_pad(x23(), LB_SHAPE(1, -1), LB_SHAPE(1, 1), 0), "pad -1 axis 1");
	FAILS_AT_ONCE(lb_pad(x23(), LB_SHAPE(1, 1), LB_SHAPE(INT64_MAX, 1), 0), "pad");
	FAILS_AT_ONCE(lb_pad(x23(), LB_SHAPE(INT64_MAX, 1), LB_SHAPE(), 0), "pad");
}

static void gradients(void **state)
{
	(void)state;
	lb_conv_options o = { .groups = 1 };
	FAILS_AT_ONCE(lb_layer_norm_grad(x23(), NULL, VECTOR(3), 1e-5).x, "layer_norm_grad (2,3) (3)");
	FAILS_AT_ONCE(lb_layer_norm_grad(x23(), VECTOR(2), x23(), 1e-5).bias, "layer_norm_grad (2,3)");
	FAILS_AT_ONCE(lb_rms_norm_grad(x23(), VECTOR(3), x23(), -1).weight, "rms_norm_grad eps -1");
	FAILS_AT_ONCE(lb_rms_norm_grad(of(LB_I8, LB_SHAPE(2)), NULL, of(LB_I8, LB_SHAPE(2)), 0).x,
		      "rms_norm_grad int8");
	lb_tensor *q = of(LB_F32, LB_SHAPE(1, 2, 3, 4)), *k = of(LB_F32, LB_SHAPE(1, 1, 5, 4));
	FAILS_AT_ONCE(lb_attention_grad(q, k, q, 1, false, NULL, q).q, "attention_grad (1,2,3,4) (1,1,5,4)");
	FAILS_AT_ONCE(lb_attention_grad(q, k, k, 1, false, NULL, k).k, "attention_grad grad (1,1,5,4) (1,2,3,4)");
	FAILS_AT_ONCE(lb_attention_grad(q, k, k, 1, false, x23(), q).v, "attention_grad mask (2,3) (1,2,3,5)");
	lb_tensor *w = of(LB_F32, LB_SHAPE(6, 3, 3, 4)), *g = of(LB_F32, LB_SHAPE(1, 5, 5, 6));
	FAILS_AT_ONCE(lb_conv2d_input_grad(LB_SHAPE(1, 8, 7, 4), w, g, o), "conv2d_input_grad (1,5,5,6) (1,6,5,6)");
	FAILS_AT_ONCE(lb_conv2d_input_grad(LB_SHAPE(1, 7, 7, 3), w, g, o), "conv2d_input_grad (1,7,7,3) (6,3,3,4)");
	FAILS_AT_ONCE(lb_conv2d_input_grad(LB_SHAPE(1, -7, 7, 4), w, g, o), "conv2d_input_grad -7 negative");
	FAILS_AT_ONCE(lb_conv2d_input_grad(LB_SHAPE(7, 7, 4), w, g, o), "conv2d_input_grad four 3");
	FAILS_AT_ONCE(lb_conv2d_weight_grad(g, LB_SHAPE(6, 3, 3, 6), g, o), "conv2d_weight_grad (1,5,5,6) (1,3,3,6)");
	FAILS_AT_ONCE(lb_conv2d_weight_grad(x23(), LB_SHAPE(6, 3, 3, 6), g, o), "conv2d_weight_grad four 2");
	FAILS_AT_ONCE(lb_conv2d_weight_grad(g, LB_ALL_AXES, g, o), "conv2d_weight_grad four -1");
	FAILS_AT_ONCE(lb_layer_norm_grad(NULL, NULL, g, 0).x, "layer_norm_grad: x is NULL");
	FAILS_AT_ONCE(lb_attention_grad(q, NULL, k, 1, true, NULL, q).q, "attention_grad: k is NULL");
	FAILS_AT_ONCE(lb_conv2d_weight_grad(NULL, LB_SHAPE(), g, o), "conv2d_weight_grad: x is NULL");
}

static void order_and_choice(void **state)
{
	(void)state;
	FAILS_AT_ONCE(lb_sort(x23(), 2), "sort axis 2 (2,3)");
	FAILS_AT_ONCE(lb_sort(lb_scalar(1), -1), "sort axis");
	FAILS_AT_ONCE(lb_argsort(of(LB_C64, LB_SHAPE(2)), 0), "argsort complex");
	FAILS_AT_ONCE(lb_searchsorted(x23(), of(LB_F32, LB_SHAPE(2)), false), "searchsorted (2,3) one axis");
	FAILS_AT_ONCE(lb_searchsorted(of(LB_F32, LB_SHAPE()), x23(), false), "searchsorted () one axis");
	FAILS_AT_ONCE(lb_searchsorted(of(LB_C64, LB_SHAPE(2)), x23(), false), "searchsorted complex");
	lb_tensor *line = lb_broadcast_to(lb_scalar(1), LB_SHAPE((int64_t)1 << 33));
	FAILS_AT_ONCE(lb_searchsorted(line, x23(), false), "searchsorted 2^32");
	FAILS_AT_ONCE(lb_to_fp8(of(LB_I32, LB_SHAPE(2))), "to_fp8 int32");
	FAILS_AT_ONCE(lb_from_fp8(x23(), LB_F32), "from_fp8 uint8 float32");
	FAILS_AT_ONCE(lb_from_fp8(of(LB_U8, LB_SHAPE(2)), LB_I8), "from_fp8 int8");
	FAILS_AT_ONCE(lb_from_fp8(of(LB_U8, LB_SHAPE(2)), (lb_dtype)99), "from_fp8 floating");
	FAILS_AT_ONCE(lb_topk(x23(), 4, 1), "topk 4 (2,3) 3");
	FAILS_AT_ONCE(lb_topk(x23(), -1, 1), "topk -1");
	FAILS_AT_ONCE(lb_argsort(lb_broadcast_to(lb_scalar(1), LB_SHAPE((int64_t)1 << 33)), 0), "argsort uint32");
	FAILS_AT_ONCE(lb_cumsum(x23(), -3, false, true), "cumsum axis -3 (2,3)");
	FAILS_AT_ONCE(lb_categorical(x23(), 5, lb_key(1)), "categorical axis 5");
	FAILS_AT_ONCE(lb_categorical(of(LB_F32, LB_SHAPE(2, 0)), 1, lb_key(1)), "categorical (2,0)");
	FAILS_AT_ONCE(lb_categorical(of(LB_C64, LB_SHAPE(2)), 0, lb_key(1)), "categorical complex");
}

static void summations(void **state)
{
	(void)state;
	lb_tensor *xs[2] = { x23(), x23() };
	FAILS_AT_ONCE(lb_einsum("ij,jk->ik", 2, xs), "einsum ij,jk->ik j 3 2 (2,3)");
	FAILS_AT_ONCE(lb_einsum("ij,kl,mn,op,q", 5,
				(lb_tensor *[]){ x23(), x23(), x23(), x23(), of(LB_F32, LB_SHAPE(2)) }),
		      "einsum more than 8 axes");
	FAILS_AT_ONCE(lb_einsum("ij->i", 2, xs), "einsum each of 2 operands");
	FAILS_AT_ONCE(lb_einsum("ij,ij->k", 2, xs), "einsum k no operand");
	FAILS_AT_ONCE(lb_einsum("ij,ij->ii", 2, xs), "einsum i twice");
	FAILS_AT_ONCE(lb_einsum("...j,ij->i", 2, xs), "einsum no place ellipsis");
	FAILS_AT_ONCE(lb_einsum("...j...,ij->i", 2, xs), "einsum '.'");
	FAILS_AT_ONCE(lb_einsum("..j,ij->i", 2, xs), "einsum '.'");
	FAILS_AT_ONCE(lb_einsum("...,...j->...", 2, xs), "einsum axis . 3 2 operand 1");
	FAILS_AT_ONCE(lb_einsum("...ijk,ij->...", 2, xs), "einsum 3 axes operand 0");
	FAILS_AT_ONCE(lb_einsum("ij,ijk->i", 2, xs), "einsum 3 axes operand 1 (2,3)");
	FAILS_AT_ONCE(lb_einsum("i2,ij->i", 2, xs), "einsum '2'");
	FAILS_AT_ONCE(lb_einsum("ij,ij->i,", 2, xs), "einsum follow");
	FAILS_AT_ONCE(lb_einsum("abcdefghi,ij->i", 2, xs), "einsum at most 8");
	FAILS_AT_ONCE(lb_einsum(NULL, 2, xs), "einsum");
	FAILS_AT_ONCE(lb_einsum("", 0, xs), "einsum 0");
	FAILS_AT_ONCE(lb_einsum("->", 99, xs), "einsum 99");
	lb_tensor *whole[] = { lb_zeros(LB_SHAPE(1, 1, 1, 1, 1), LB_I32), lb_zeros(LB_SHAPE(1, 1, 1, 1, 1), LB_I32) };
	FAILS_AT_ONCE(lb_einsum("abcde,afghi->bcdefghi", 2, whole), "einsum step 9 axes");
}

/* NULL in, NULL out: an error of its own where nothing has failed before. */
static void nothing_in(void **state)
{
	(void)state;
	lb_tensor *x = x23(), *none = NULL;
	FAILS_AT_ONCE(lb_layer_norm(none, x, x, 1), "layer_norm: is NULL");
	FAILS_AT_ONCE(lb_rms_norm(none, x, 1), "rms_norm: is NULL");
	FAILS_AT_ONCE(lb_rope(none, 2, true, 1, 1, 1), "rope: is NULL");
	FAILS_AT_ONCE(lb_linear(none, x, x), "linear: is NULL");
	FAILS_AT_ONCE(lb_linear(x, none, x), "linear: is NULL");
	FAILS_AT_ONCE(lb_embedding(none, x), "embedding: is NULL");
	FAILS_AT_ONCE(lb_embedding(x, none), "embedding: is NULL");
	FAILS_AT_ONCE(lb_silu(none), "silu: is NULL");
	FAILS_AT_ONCE(lb_gelu(none), "gelu: is NULL");
	FAILS_AT_ONCE(lb_gelu_tanh(none), "gelu_tanh: is NULL");
	FAILS_AT_ONCE(lb_one_hot(none, 2, LB_F32), "one_hot: is NULL");
	FAILS_AT_ONCE(lb_attention(x, x, none, 1, true, x), "attention: is NULL");
	FAILS_AT_ONCE(lb_conv1d(none, x, (lb_conv_options){ .groups = 1 }), "conv1d: is NULL");
	FAILS_AT_ONCE(lb_conv2d(x, none, (lb_conv_options){ .groups = 1 }), "conv2d: is NULL");
	FAILS_AT_ONCE(lb_pad(none, LB_SHAPE(), LB_SHAPE(), 0), "pad: is NULL");
	FAILS_AT_ONCE(lb_sort(none, 0), "sort: is NULL");
	FAILS_AT_ONCE(lb_argsort(none, 0), "argsort: is NULL");
	FAILS_AT_ONCE(lb_topk(none, 1, 0), "topk: is NULL");
	FAILS_AT_ONCE(lb_cumsum(none, 0, true, true), "cumsum: is NULL");
	FAILS_AT_ONCE(lb_categorical(none, 0, lb_key(1)), "categorical: is NULL");
	FAILS_AT_ONCE(lb_einsum("ij,ij->i", 2, (lb_tensor *[]){ x, none }), "einsum: is NULL");
}

/* The site is that of the caller, for errors and for every tensor made on its behalf. */
static void site_of_the_caller(void **state)
{
	(void)state;
	uintptr_t here = (uintptr_t)site_of_the_caller, near = 8192;
	LB_SCOPE {
		lb_tensor *x = x23(), *weight = x23();
		assert_null(lb_einsum("ij->k", 1, &x));
		assert_true((uintptr_t)lb_error_site() - here < near);
		lb_clear_error();
		lb_tensor *parts[2];
		assert_false(lb_divmod(x, lb_ones(LB_SHAPE(4), LB_F32), &parts[0], &parts[1]));
		assert_true((uintptr_t)lb_error_site() - here < near);
		lb_clear_error();
		lb_tensor *made[] = {
			lb_einsum("ij,kj->ik", 2, (lb_tensor *[]){ x, weight }),
			lb_linear(x, weight, NULL),
			lb_gelu(x),
			lb_one_hot(of(LB_I32, LB_SHAPE(2)), 3, LB_F32),
			lb_conv1d(of(LB_F32, LB_SHAPE(1, 4, 2)), of(LB_F32, LB_SHAPE(3, 2, 2)),
				  (lb_conv_options){ .groups = 1 }),
			lb_std(x, LB_AXES(1), true, 0),
			lb_median(x, LB_AXES(0), false),
			lb_roll(lb_tril(x, 0), LB_AXES(1), LB_AXES(0)),
			lb_random_gumbel(LB_SHAPE(3), LB_F16, lb_key(1)),
			lb_reciprocal(x),
			lb_exp(x), /* the hold has been given back */
		};
		for (size_t i = 0; i < sizeof made / sizeof *made; i++)
			for (lb_tensor *t = made[i]; t->n_inputs && t != x; t = lb_tensor_input(t, 0))
				assert_true((uintptr_t)t->site - here < near);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers),       cmocka_unit_test(composed),   cmocka_unit_test(attention),
		cmocka_unit_test(convolutions), cmocka_unit_test(gradients),  cmocka_unit_test(order_and_choice),
		cmocka_unit_test(summations),   cmocka_unit_test(nothing_in), cmocka_unit_test(site_of_the_caller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
