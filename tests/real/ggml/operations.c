/* ggml's operations on random inputs, each of those that the library has: what they give stays in memory. A result's
 * name says how near another way to compute it must come (gdbext/ggml/recipes.def): copy, float, half or block. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8, Q4_K = 12, Q6_K = 14, I64 = 27, AXES = 4 };

struct ggml_init_params {
	size_t mem_size;
	void *mem_buffer;
	bool no_alloc;
};
typedef struct ggml_context C;
typedef struct ggml_tensor T;

static C *c;
static T *results[512];
static int n_results, i32;
static uint64_t state = 1;

static void *optional(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

/* A function of that name and these arguments, if there is one; what it gives is kept. */
#define CALL(label, name, types, ...) \
	do { \
		T *(*f_)types = NULL; \
		*(void **)&f_ = optional(#name); \
		if (f_) \
			keep(label, f_(c, __VA_ARGS__)); \
	} while (0)

static T *keep(const char *label, T *t)
{
	T *(*set_name)(T *, const char *) = (T * (*)(T *, const char *)) function("ggml_set_name");

	results[n_results++] = set_name(t, label);
	return t;
}

static float uniform(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (float)(int32_t)(state >> 32) / 1073741824.0F; /* [-2, 2) */
}

static T *empty(int type, const int64_t *ne)
{
	T *(*make)(C *, int, int, const int64_t *) = NULL;

	*(void **)&make = function("ggml_new_tensor");
	return make(c, type, AXES, ne);
}

static void *data_of(T *t)
{
	return ((void *(*)(const T *))function("ggml_get_data"))(t);
}

/* Random elements from `low` on, of any type, rounded as ggml does it. */
static T *random_of(int type, int64_t n0, int64_t n1, int64_t n2, int64_t n3, float low)
{
	int64_t n = n0 * n1 * n2 * n3;
	T *t = empty(type, (int64_t[]){ n0, n1, n2, n3 });
	float *values = malloc((size_t)n * sizeof *values);
	size_t (*quantize)(int, const float *, void *, int64_t, int64_t, int64_t, void *, void *) = NULL;
	void (*halves)(const float *, uint16_t *, int64_t) = NULL;
	int64_t counts[16] = { 0 }; /* which the oldest wants, where later ones have weights */

	*(void **)&quantize = function("ggml_quantize_chunk");
	*(void **)&halves = function("ggml_fp32_to_fp16_row");
	for (int64_t i = 0; i < n; i++)
		values[i] = low > -2 ? low + (uniform() + 2) / 2 : uniform();
	if (type == F32)
		memcpy(data_of(t), values, (size_t)n * sizeof *values);
	else if (type == F16)
		halves(values, data_of(t), n);
	else
		quantize(type, values, data_of(t), 0, n / n0, n0, optional("ggml_alibi") ? counts : NULL, NULL);
	free(values);
	return t;
}

static T *floats(int64_t n0, int64_t n1, int64_t n2, int64_t n3)
{
	return random_of(F32, n0, n1, n2, n3, -2);
}

static T *integers(int64_t n0, int64_t n1, int below)
{
	T *t = empty(i32, (int64_t[]){ n0, n1, 1, 1 });
	int32_t *to = data_of(t);

	for (int64_t i = 0; i < n0 * n1; i++)
		to[i] = (int32_t)(i * 7 + 3) % below;
	return t;
}

static void elements(void)
{
	static const struct {
		const char *label, *name;
	} ones[] = { { "float.sqr", "ggml_sqr" },
		     { "float.sqrt", "ggml_sqrt" },
		     { "float.log", "ggml_log" },
		     { "float.sin", "ggml_sin" },
		     { "float.cos", "ggml_cos" },
		     { "copy.abs", "ggml_abs" },
		     { "copy.sgn", "ggml_sgn" },
		     { "copy.neg", "ggml_neg" },
		     { "copy.step", "ggml_step" },
		     { "float.tanh", "ggml_tanh" },
		     { "float.elu", "ggml_elu" },
		     { "copy.relu", "ggml_relu" },
		     { "half.gelu", "ggml_gelu" },
		     { "half.gelu_quick", "ggml_gelu_quick" },
		     { "float.gelu_erf", "ggml_gelu_erf" },
		     { "half.silu", "ggml_silu" },
		     { "float.hardswish", "ggml_hardswish" },
		     { "float.hardsigmoid", "ggml_hardsigmoid" },
		     { "float.sigmoid", "ggml_sigmoid" },
		     { "float.exp", "ggml_exp" },
		     { "float.expm1", "ggml_expm1" },
		     { "float.softplus", "ggml_softplus" },
		     { "copy.floor", "ggml_floor" },
		     { "copy.ceil", "ggml_ceil" },
		     { "copy.trunc", "ggml_trunc" },
		     { "copy.round", "ggml_round" },
		     { "half.reglu", "ggml_reglu" },
		     { "half.geglu", "ggml_geglu" },
		     { "half.swiglu", "ggml_swiglu" },
		     { "half.geglu_erf", "ggml_geglu_erf" },
		     { "half.geglu_quick", "ggml_geglu_quick" },
		     { "half.swiglu_swapped", "ggml_swiglu_swapped" } };
	T *a = floats(32, 6, 4, 2), *b = floats(32, 1, 4, 1), *small = floats(16, 3, 2, 1), *positive;

	positive = random_of(F32, 32, 6, 4, 2, 0.25F);
	for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
		T *(*f)(C *, T *) = NULL;
		*(void **)&f = optional(ones[i].name);
		bool above = strstr(ones[i].name, "sqrt") || strstr(ones[i].name, "log");
		if (f)
			keep(ones[i].label, f(c, above ? positive : a));
	}
	CALL("float.add", ggml_add, (C *, T *, T *), a, b);
	CALL("float.add.tiled", ggml_add, (C *, T *, T *), a, small);
	CALL("float.sub", ggml_sub, (C *, T *, T *), a, floats(32, 6, 4, 2));
	CALL("float.mul", ggml_mul, (C *, T *, T *), a, b);
	CALL("float.div", ggml_div, (C *, T *, T *), a, random_of(F32, 32, 6, 4, 2, 0.5F));
	CALL("float.add1", ggml_add1, (C *, T *, T *), a, floats(1, 1, 1, 1));
	CALL("float.scale", ggml_scale, (C *, T *, float), a, 0.37F);
	CALL("float.scale_bias", ggml_scale_bias, (C *, T *, float, float), a, 0.37F, -1.5F);
	CALL("copy.clamp", ggml_clamp, (C *, T *, float, float), ((T * (*)(C *, T *)) function("ggml_dup"))(c, a),
	     -0.5F, 1.25F);
	CALL("float.xielu", ggml_xielu, (C *, T *, float, float, float, float), a, 0.3F, 0.7F, 0.5F, -1e-6F);
	CALL("float.leaky_relu", ggml_leaky_relu, (C *, T *, float, bool), a, 0.1F, false);
	CALL("half.swiglu_split", ggml_swiglu_split, (C *, T *, T *), a, floats(32, 6, 4, 2));
	CALL("half.swiglu_oai", ggml_swiglu_oai, (C *, T *, T *, float, float), a, floats(32, 6, 4, 2), 1.702F, 1.0F);
	CALL("float.add_id", ggml_add_id, (C *, T *, T *, T *), floats(32, 3, 5, 1), floats(32, 7, 1, 1),
	     integers(3, 5, 7));
}

static void rows(void)
{
	T *a = floats(48, 6, 4, 2), *image = floats(10, 6, 12, 2), *turned;

	CALL("float.sum", ggml_sum, (C *, T *), a);
	CALL("float.sum_rows", ggml_sum_rows, (C *, T *), a);
	CALL("float.mean", ggml_mean, (C *, T *), a);
	CALL("float.cumsum", ggml_cumsum, (C *, T *), a);
	CALL("copy.argmax", ggml_argmax, (C *, T *), floats(48, 6, 1, 1));
	CALL("copy.argsort", ggml_argsort, (C *, T *, int), floats(48, 6, 1, 1), 0);
	CALL("copy.argsort.falling", ggml_argsort, (C *, T *, int), floats(48, 6, 1, 1), 1);
	CALL("copy.top_k", ggml_top_k, (C *, T *, int), floats(48, 6, 1, 1), 5);
	CALL("float.norm", ggml_norm, (C *, T *, float), a, 1e-5F);
	/* as one, in newer builds, which then leave the first without a value */
	T *norm = ((T * (*)(C *, T *, float)) function("ggml_rms_norm"))(c, a, 1e-5F);
	((T * (*)(T *, const char *)) function("ggml_set_name"))(norm, "norm.before");
	CALL("float.norm.weighted", ggml_mul, (C *, T *, T *), norm, floats(48, 1, 1, 1));
	CALL("float.rms_norm", ggml_rms_norm, (C *, T *, float), a, 1e-5F);
	CALL("float.l2_norm", ggml_l2_norm, (C *, T *, float), a, 1e-5F);
	CALL("float.group_norm", ggml_group_norm, (C *, T *, int, float), image, 4, 1e-6F);
	CALL("float.group_norm.uneven", ggml_group_norm, (C *, T *, int, float), image, 5, 1e-6F);
	CALL("half.soft_max", ggml_soft_max, (C *, T *), a);
	CALL("copy.diag_mask", ggml_diag_mask_inf, (C *, T *, int), a, 3);
	CALL("copy.diag_mask_zero", ggml_diag_mask_zero, (C *, T *, int), a, 3);
	turned = ((T * (*)(C *, T *, int, int, int, int)) function("ggml_permute"))(c, a, 0, 2, 1, 3);
	CALL("float.rms_norm.permuted", ggml_rms_norm, (C *, T *, float), turned, 1e-5F);
	CALL("float.ssm_conv", ggml_ssm_conv, (C *, T *, T *), floats(9, 24, 2, 1), floats(4, 24, 1, 1));
}

static void softmaxes(void)
{
	typedef T *with_positions(C *, T *, T *, T *, float, float);
	with_positions *f = NULL;
	T *x = floats(20, 6, 12, 1), *mask = floats(20, 6, 1, 1), *positions = floats(20, 1, 1, 1);

	/* where there are no positions the fourth argument is not looked at */
	*(void **)&f = optional("ggml_soft_max_ext");
	if (!f)
		return;
	keep("half.soft_max_ext", f(c, x, mask, positions, 0.3F, 0));
	keep("half.soft_max_ext.alibi", f(c, x, mask, positions, 0.3F, 8));
	void (*sinks)(T *, T *) = NULL;
	*(void **)&sinks = optional("ggml_soft_max_add_sinks");
	if (sinks)
		sinks(keep("half.soft_max_ext.sinks", f(c, x, mask, NULL, 0.3F, 0)), floats(12, 1, 1, 1));
}

static T *permuted(T *x, int a, int b, int d, int e)
{
	return ((T * (*)(C *, T *, int, int, int, int)) function("ggml_permute"))(c, x, a, b, d, e);
}

static void moves(void)
{
	T *a = floats(32, 6, 4, 2), *b, *table = floats(40, 50, 1, 1);
	T *(*view)(C *, T *, int64_t, int64_t, size_t, size_t) = NULL;
	T *(*cont)(C *, T *) = NULL;

	*(void **)&view = function("ggml_view_2d");
	*(void **)&cont = function("ggml_cont");
	b = permuted(a, 2, 0, 3, 1);
	CALL("copy.cont", ggml_cont, (C *, T *), b);
	CALL("copy.dup", ggml_dup, (C *, T *), a);
	/* views of what was computed, and of what lies in memory */
	b = cont(c, b);
	keep("copy.view", cont(c, view(c, b, 5, 3, 12 * sizeof(float), 7 * sizeof(float))));
	keep("copy.view.leaf", cont(c, view(c, a, 5, 3, 40 * sizeof(float), 7 * sizeof(float))));
	keep("copy.view.turned", cont(c, permuted(view(c, b, 4, 6, 8 * sizeof(float), 0), 1, 0, 2, 3)));
	CALL("copy.repeat", ggml_repeat, (C *, T *, T *), floats(8, 3, 1, 2), empty(F32, (int64_t[]){ 16, 6, 5, 2 }));
	CALL("copy.concat", ggml_concat, (C *, T *, T *, int), a, floats(32, 6, 3, 2), 2);
	CALL("copy.pad", ggml_pad, (C *, T *, int, int, int, int), a, 3, 2, 0, 0);
	CALL("copy.pad_ext", ggml_pad_ext, (C *, T *, int, int, int, int, int, int, int, int), a, 1, 3, 0, 2, 1, 0, 0,
	     0);
	CALL("copy.roll", ggml_roll, (C *, T *, int, int, int, int), a, 5, -2, 1, 0);
	CALL("copy.get_rows", ggml_get_rows, (C *, T *, T *), table, integers(7, 1, 50));
	CALL("copy.get_rows.f16", ggml_get_rows, (C *, T *, T *), random_of(F16, 40, 50, 1, 1, -2), integers(7, 1, 50));
	CALL("copy.get_rows.q8_0", ggml_get_rows, (C *, T *, T *), random_of(Q8_0, 64, 50, 1, 1, -2),
	     integers(7, 1, 50));
	CALL("copy.get_rows.large", ggml_get_rows, (C *, T *, T *), random_of(Q4_0, 512, 4096, 1, 1, -2),
	     integers(7, 1, 4096));
	CALL("copy.cpy.f16", ggml_cpy, (C *, T *, T *), a, empty(F16, (int64_t[]){ 64, 24, 1, 1 }));
	CALL("copy.cast", ggml_cast, (C *, T *, int), a, F16);
	CALL("copy.set", ggml_set, (C *, T *, T *, size_t, size_t, size_t, size_t), a, floats(5, 3, 2, 1), 32 * 4,
	     192 * 4, 768 * 4, 36);
	CALL("float.acc", ggml_acc, (C *, T *, T *, size_t, size_t, size_t, size_t), a, floats(5, 3, 2, 1), 32 * 4,
	     192 * 4, 768 * 4, 36);
	if (optional("ggml_set_rows")) { /* who has it has integers of 64 bits */
		T *at = empty(I64, (int64_t[]){ 3, 1, 1, 1 });
		memcpy(data_of(at), (int64_t[]){ 4, 0, 9 }, 24);
		CALL("copy.set_rows", ggml_set_rows, (C *, T *, T *, T *), random_of(F16, 16, 10, 1, 1, -2),
		     floats(16, 3, 1, 1), at);
	}
	CALL("copy.fill", ggml_fill, (C *, T *, float), ((T * (*)(C *, T *)) function("ggml_dup"))(c, a), 0.75F);
	CALL("float.arange", ggml_arange, (C *, float, float, float), 0.5F, 9, 0.75F);
	CALL("float.timestep_embedding", ggml_timestep_embedding, (C *, T *, int, int), random_of(F32, 5, 1, 1, 1, 1),
	     16, 10000);
	CALL("copy.get_rel_pos", ggml_get_rel_pos, (C *, T *, int, int), random_of(F16, 8, 9, 1, 1, -2), 5, 5);
	T *(*part)(C *, T *, int) = NULL;
	*(void **)&part = function("ggml_win_part");
	T *parts = keep("copy.win_part", part(c, floats(4, 10, 7, 1), 4));
	CALL("copy.win_unpart", ggml_win_unpart, (C *, T *, int, int, int), parts, 10, 7, 4);
}

static void images(void)
{
	T *image = floats(13, 11, 3, 2), *plane = floats(13, 11, 3, 1), *kernel = random_of(F16, 3, 5, 3, 4, -2);

	CALL("half.im2col", ggml_im2col, (C *, T *, T *, int, int, int, int, int, int, bool, int), kernel, image, 2, 1,
	     1, 2, 1, 2, true, F16);
	CALL("half.im2col.row", ggml_im2col, (C *, T *, T *, int, int, int, int, int, int, bool, int),
	     random_of(F16, 3, 4, 6, 1, -2), floats(20, 4, 2, 1), 2, 0, 1, 0, 1, 0, false, F16);
	CALL("half.conv_2d", ggml_conv_2d, (C *, T *, T *, int, int, int, int, int, int), kernel, image, 2, 1, 1, 2, 1,
	     1);
	CALL("half.conv_1d", ggml_conv_1d, (C *, T *, T *, int, int, int), random_of(F16, 3, 4, 6, 1, -2),
	     floats(20, 4, 1, 1), 1, 1, 1);
	CALL("half.conv_2d_direct", ggml_conv_2d_direct, (C *, T *, T *, int, int, int, int, int, int), kernel, image,
	     2, 1, 1, 2, 1, 1);
	CALL("float.conv_2d_dw", ggml_conv_2d_dw_direct, (C *, T *, T *, int, int, int, int, int, int),
	     floats(3, 3, 1, 3), image, 1, 1, 1, 1, 1, 1);
	CALL("copy.pool_2d", ggml_pool_2d, (C *, T *, int, int, int, int, int, float, float), plane, 0, 3, 2, 2, 2, 1,
	     0);
	CALL("float.pool_2d.mean", ggml_pool_2d, (C *, T *, int, int, int, int, int, float, float), plane, 1, 3, 2, 2,
	     2, 1, 0);
	CALL("float.pool_1d", ggml_pool_1d, (C *, T *, int, int, int, int), floats(12, 4, 1, 1), 1, 3, 3, 0);
	CALL("copy.upscale", ggml_upscale, (C *, T *, int, int), image, 2, 0);
	if (optional("ggml_interpolate"))
		CALL("float.upscale.bilinear", ggml_upscale, (C *, T *, int, int), image, 3, 1);
}

/* Lower triangular, with a diagonal that is not small. */
static T *triangle(int64_t size, int64_t batch)
{
	T *t = floats(size, size, batch, 1);
	float *x = data_of(t);

	for (int64_t i = 0; i < size * size * batch; i++)
		x[i] = i % size > i / size % size ? 0 : i % size == i / size % size ? 2 + fabsf(x[i]) : x[i] / 8;
	return t;
}

static void matrices(void)
{
	T *square = floats(9, 9, 3, 2);

	CALL("copy.diag", ggml_diag, (C *, T *), floats(7, 1, 3, 2));
	CALL("copy.tri.upper_diagonal", ggml_tri, (C *, T *, int), square, 0);
	CALL("copy.tri.upper", ggml_tri, (C *, T *, int), square, 1);
	CALL("copy.tri.lower_diagonal", ggml_tri, (C *, T *, int), square, 2);
	CALL("copy.tri.lower", ggml_tri, (C *, T *, int), square, 3);
	CALL("copy.count_equal", ggml_count_equal, (C *, T *, T *), integers(20, 3, 3), integers(20, 3, 3));
	CALL("copy.pad_reflect", ggml_pad_reflect_1d, (C *, T *, int, int), floats(11, 3, 2, 2), 4, 6);
	CALL("float.solve_tri", ggml_solve_tri, (C *, T *, T *, bool, bool, bool), triangle(16, 3), floats(5, 16, 3, 1),
	     true, true, false);
	CALL("float.add_rel_pos", ggml_add_rel_pos, (C *, T *, T *, T *), floats(16, 16, 6, 1), floats(4, 4, 4, 6),
	     floats(4, 4, 4, 6));
	CALL("half.conv_transpose_1d", ggml_conv_transpose_1d, (C *, T *, T *, int, int, int),
	     random_of(F16, 5, 4, 6, 1, -2), floats(9, 6, 1, 1), 2, 0, 1);
	CALL("float.conv_transpose_1d", ggml_conv_transpose_1d, (C *, T *, T *, int, int, int), floats(5, 4, 6, 1),
	     floats(9, 6, 1, 1), 3, 0, 1);
	CALL("half.conv_transpose_2d", ggml_conv_transpose_2d_p0, (C *, T *, T *, int), random_of(F16, 3, 2, 4, 6, -2),
	     floats(7, 5, 6, 1), 2);
}

/* Between 0 and 1. */
static T *shares(int64_t a, int64_t b, int64_t c_, int64_t d)
{
	T *t = floats(a, b, c_, d);
	float *x = data_of(t);

	for (int64_t i = 0; i < a * b * c_ * d; i++)
		x[i] = fabsf(x[i]) / 2;
	return t;
}

static T *below_zero(int64_t a, int64_t b, int64_t c_, int64_t d)
{
	T *t = floats(a, b, c_, d);
	float *x = data_of(t);

	for (int64_t i = 0; i < a * b * c_ * d; i++)
		x[i] = -fabsf(x[i]);
	return t;
}

static void recurrent(void)
{
	enum { SIZE = 32, HEADS = 3, TOKENS = 10, SEQUENCES = 2, OF_ALL = SIZE * SIZE * HEADS };
	/* k and v, or what else, a head of each token */
#define EACH floats(SIZE, HEADS, TOKENS, 1)
	T *state = floats(OF_ALL, SEQUENCES, 1, 1);

	if (optional("ggml_gated_linear_attn")) /* before that axes had another order */
		CALL("float.wkv6", ggml_rwkv_wkv6, (C *, T *, T *, T *, T *, T *, T *), EACH, EACH, EACH,
	     floats(SIZE, HEADS, 1, 1), shares(SIZE, HEADS, TOKENS, 1), state);
	CALL("float.wkv7", ggml_rwkv_wkv7, (C *, T *, T *, T *, T *, T *, T *, T *), EACH,
	     shares(SIZE, HEADS, TOKENS, 1), shares(SIZE, HEADS, TOKENS, 1), EACH, shares(SIZE, HEADS, TOKENS, 1),
	     below_zero(SIZE, HEADS, TOKENS, 1), state);
	CALL("float.gated_linear_attn", ggml_gated_linear_attn, (C *, T *, T *, T *, T *, T *, float), EACH, EACH, EACH,
	     shares(SIZE, HEADS, TOKENS, 1), state, 0.125F);
#undef EACH
	for (int each = 0; each < 2; each++)
		CALL(each ? "float.gated_delta_net.each" : "float.gated_delta_net", ggml_gated_delta_net,
		     (C *, T *, T *, T *, T *, T *, T *, int64_t), shares(SIZE, 2, TOKENS, 1), shares(SIZE, 2, TOKENS, 1),
		     floats(SIZE, 4, TOKENS, SEQUENCES), below_zero(each ? SIZE : 1, 4, TOKENS, SEQUENCES),
		     shares(1, 4, TOKENS, SEQUENCES), floats(SIZE, SIZE, 4, SEQUENCES), 1);
	if (optional("ggml_gated_delta_net")) /* who has it has heads, too */
		for (int each = 0; each < 2; each++)
			CALL(each ? "float.ssm_scan.each" : "float.ssm_scan", ggml_ssm_scan,
			     (C *, T *, T *, T *, T *, T *, T *, T *, int64_t), floats(16, 8, 4, 3),
			     floats(8, 4, TOKENS, SEQUENCES), floats(4, TOKENS, SEQUENCES, 1),
			     below_zero(each ? 16 : 1, 4, 1, 1), floats(16, 2, TOKENS, SEQUENCES),
			     floats(16, 2, TOKENS, SEQUENCES), integers(SEQUENCES, 1, 3), 1);
	else if (optional("ggml_timestep_embedding"))
		CALL("float.ssm_scan", ggml_ssm_scan, (C *, T *, T *, T *, T *, T *, T *), floats(16, 8, SEQUENCES, 1),
		     floats(8, TOKENS, SEQUENCES, 1), floats(8, TOKENS, SEQUENCES, 1), below_zero(16, 8, 1, 1),
		     floats(16, TOKENS, SEQUENCES, 1), floats(16, TOKENS, SEQUENCES, 1));
}

static void products(void)
{
	static const struct {
		const char *label;
		int type;
	} kinds[] = { { "float.mul_mat", F32 },       { "half.mul_mat.f16", F16 },    { "block.mul_mat.q4_0", Q4_0 },
		      { "block.mul_mat.q8_0", Q8_0 }, { "block.mul_mat.q4_k", Q4_K }, { "block.mul_mat.q6_k", Q6_K } };
	T *b = floats(256, 5, 6, 2);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		CALL(kinds[i].label, ggml_mul_mat, (C *, T *, T *), random_of(kinds[i].type, 256, 7, 1, 1, -2), b);
	CALL("float.mul_mat.repeated", ggml_mul_mat, (C *, T *, T *), floats(256, 7, 2, 2), b);
	CALL("half.mul_mat.permuted", ggml_mul_mat, (C *, T *, T *),
	     permuted(random_of(F16, 64, 3, 9, 1, -2), 0, 2, 1, 3), permuted(floats(64, 6, 4, 1), 0, 2, 1, 3));
	CALL("float.out_prod", ggml_out_prod, (C *, T *, T *), floats(8, 5, 1, 1), floats(6, 5, 1, 1));
	T *ids = integers(2, 5, 4);
	if (optional("ggml_set_rows") || optional("ggml_pad_reflect_1d") || optional("ggml_timestep_embedding")) {
		CALL("block.mul_mat_id", ggml_mul_mat_id, (C *, T *, T *, T *), random_of(Q8_0, 64, 9, 4, 1, -2),
		     floats(64, 2, 5, 1), ids);
		CALL("float.mul_mat_id.one", ggml_mul_mat_id, (C *, T *, T *, T *), floats(64, 9, 4, 1),
		     floats(64, 1, 5, 1), ids);
	} else {
		T *experts[] = { floats(64, 9, 1, 1), floats(64, 9, 1, 1), floats(64, 9, 1, 1), floats(64, 9, 1, 1) };
		CALL("float.mul_mat_id", ggml_mul_mat_id, (C *, T **, int, T *, int, T *), experts, 4, ids, 1,
		     floats(64, 5, 1, 1));
	}
}

static void attention(void)
{
	T *q = floats(64, 6, 8, 1), *k = random_of(F16, 64, 40, 2, 1, -2), *v = random_of(F16, 64, 40, 2, 1, -2);
	T *mask = random_of(F16, 40, 64, 1, 1, -2);
	typedef T *flash(C *, T *, T *, T *, T *, float, float, float);
	flash *f = NULL;

	*(void **)&f = optional("ggml_flash_attn_ext");
	if (!f)
		return;
	keep("block.flash", f(c, q, k, v, mask, 0.125F, 0, 0));
	keep("block.flash.alibi", f(c, q, k, v, mask, 0.125F, 8, 0));
	keep("block.flash.capped", f(c, q, k, v, mask, 0.125F, 0, 5));
	void (*sinks)(T *, T *) = NULL;
	*(void **)&sinks = optional("ggml_flash_attn_ext_add_sinks");
	if (sinks)
		sinks(keep("block.flash.sinks", f(c, q, k, v, mask, 0.125F, 0, 0)), floats(8, 1, 1, 1));
}

static void ropes(void)
{
	enum { NORMAL, NEOX = 2, MROPE = 8, VISION = 24, IMROPE = 40 };
	typedef T *ext(C *, T *, T *, T *, int, int, int, float, float, float, float, float, float);
	typedef T *custom(C *, T *, T *, int, int, int, int, float, float, float, float, float, float);
	typedef T *multi(C *, T *, T *, T *, int, int *, int, int, float, float, float, float, float, float);
	T *x = floats(64, 4, 6, 1), *at = integers(6, 1, 4000), *four = integers(24, 1, 300);
	T *factors = random_of(F32, 32, 1, 1, 1, 0.5F);
	ext *f = NULL;
	custom *old = NULL;
	multi *m = NULL;

	*(void **)&f = optional("ggml_rope_ext");
	*(void **)&old = optional("ggml_rope_custom");
	*(void **)&m = optional("ggml_rope_multi");
	if (f) {
		keep("float.rope", f(c, x, at, NULL, 64, NORMAL, 0, 10000, 1, 0, 1, 32, 1));
		keep("float.rope.part", f(c, x, at, NULL, 32, NORMAL, 0, 10000, 0.5F, 0, 1.1F, 32, 1));
		keep("float.rope.neox", f(c, x, at, NULL, 64, NEOX, 0, 500000, 1, 0, 1, 32, 1));
		keep("float.rope.neox.part", f(c, x, at, factors, 32, NEOX, 0, 10000, 1, 0, 1, 32, 1));
		keep("float.rope.factors", f(c, x, at, factors, 64, NORMAL, 8192, 500000, 1, 0, 1, 32, 1));
		keep("float.rope.yarn", f(c, x, at, NULL, 64, NEOX, 1024, 10000, 0.25F, 1, 1, 32, 1));
	} else if (old) {
		keep("float.rope", old(c, x, at, 64, NORMAL, 512, 512, 10000, 1, 0, 1, 32, 1));
		keep("float.rope.yarn", old(c, x, at, 64, NORMAL, 4096, 1024, 10000, 0.25F, 1, 1, 32, 1));
		keep("float.rope.neox", old(c, x, at, 64, NEOX, 512, 512, 10000, 1, 0, 1, 32, 1));
	}
	if (m) {
		keep("float.rope.multi",
		     m(c, x, four, NULL, 64, (int[]){ 8, 12, 12, 0 }, MROPE, 0, 10000, 1, 0, 1, 32, 1));
		keep("float.rope.vision",
		     m(c, x, four, NULL, 32, (int[]){ 16, 16, 0, 0 }, VISION, 0, 10000, 1, 0, 1, 32, 1));
		if (optional("ggml_set_rows") && optional("ggml_top_k") && optional("ggml_fill"))
			keep("float.rope.interleaved",
			     m(c, x, four, NULL, 64, (int[]){ 12, 10, 10, 0 }, IMROPE, 0, 10000, 1, 0, 1, 32, 1));
	}
}

void compute_operations(void)
{
	C *(*init)(struct ggml_init_params) = (C * (*)(struct ggml_init_params)) function("ggml_init");
	const char *(*type_name)(int) = (const char *(*)(int))function("ggml_type_name");
	struct ggml_cgraph *(*new_graph)(C *, size_t, bool) = NULL;
	void (*expand)(struct ggml_cgraph *, T *) = NULL;
	int (*compute)(C *, struct ggml_cgraph *, int) = NULL;

	*(void **)&new_graph = function("ggml_new_graph_custom");
	*(void **)&expand = function("ggml_build_forward_expand");
	*(void **)&compute = function("ggml_graph_compute_with_ctx");
	c = init((struct ggml_init_params){ 1 << 26, NULL, false });
	i32 = strcmp(type_name(21), "i32") == 0 ? 21 : 26;
	elements();
	rows();
	softmaxes();
	moves();
	images();
	matrices();
	recurrent();
	products();
	attention();
	ropes();
	struct ggml_cgraph *g = new_graph(c, 2048, false);
	for (int i = 0; i < n_results; i++)
		expand(g, results[i]);
	/* by one thread: of two some older ggml leave half of a CLAMP undone */
	stop_if(compute(c, g, 1) != 0, "ggml could not compute its operations");
	printf("%d results\n", n_results);
}
