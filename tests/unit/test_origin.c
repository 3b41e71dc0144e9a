/* Where NaN and Inf come from: tensors of this very process, read as any other process would be;
 * and records that lie. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "inspect/origin/cause.h"
#include "inspect/origin/origin.h"
#include "lazybones.h"
#include "report_of.h"
#include "self.h"

/* What `origin` says. */
static const char *origin(const lb_tensor *x, const char *options)
{
	char line[64];

	assert_non_null(x);
	assert_true(lb_ok());
	snprintf(line, sizeof line, "#%llu %s", (unsigned long long)lb_id(x), options);
	return session_says(self, "origin", line);
}

static void holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text);
}

static lb_tensor *four(float a, float b, float c, float d)
{
	return lb_from_data((float[]){ a, b, c, d }, 4 * sizeof(float), LB_SHAPE(2, 2), LB_F32);
}

static void the_operation_is_named(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = four(4, 1, -2, 3), *y = lb_sum(lb_multiply(lb_log(x), lb_scalar(2)), LB_AXES(0), false);
		for (int ready = 0; ready < 2; ready++) {
			const char *text = origin(y, "");
			holds(text, "holds 1 NaN and 0 Inf among 2 values, the first NaN at [0]");
			holds(text, "NaN: log made it, in ");
			holds(text, "first at [1, 0]\n");
			holds(text, "multiply\n");
			holds(text, "the first is log(-2.0), in float32");
			holds(text, "ready)  from -2 to 4");
			holds(text, "why: log of a negative number");
			assert_true(lb_eval(y));
		}
		lb_tensor *zero = lb_zeros(LB_SHAPE(3), LB_F32);
		holds(origin(lb_divide(zero, zero), ""), "why: 0 / 0 has no value");
		holds(origin(lb_divide(lb_ones(LB_SHAPE(3), LB_F32), zero), ""), "Inf: divide made it");
		holds(origin(lb_sqrt(x), ""), "the first is sqrt(-2.0)");
	}
}

static void overflows_are_told_by_dtype(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *half = lb_full(LB_SHAPE(4, 40), 100, LB_F16);
		holds(origin(lb_matmul(half, lb_transpose(half, LB_ALL_AXES)), ""),
		      "an overflow: the result is beyond the largest float16, 65504");
		holds(origin(lb_exp(half), ""), "exp() overflows float16 above 11.09");
		holds(origin(lb_astype(four(1, 70000, 2, 3), LB_F16), ""), "the first is astype(70000.0), in float16");
		holds(origin(lb_square(lb_full(LB_SHAPE(2), 1e30, LB_BF16)), ""), "the largest bfloat16, 3.3895e+38");
	}
}

static void nan_of_an_inf_leads_to_the_inf(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = four(1, 2, 3, 100), *e = lb_exp(lb_multiply(x, x));
		const char *text = origin(lb_mean(lb_subtract(e, e), LB_ALL_AXES, false), "");
		holds(text, "NaN: subtract made it");
		holds(text, "the first is subtract(inf, inf)");
		holds(text, "Inf - Inf has no value");
		holds(text, "Inf before it: exp made it");
		holds(text, "the first is exp(10000.0)");
		/* a mask that hides everything, and one that does not */
		lb_tensor *mask =
		    lb_where(lb_greater(x, lb_scalar(2)), lb_scalar(0), lb_full(LB_SHAPE(), -INFINITY, LB_F32));
		text = origin(lb_softmax(lb_add(x, mask), LB_AXES(-1)), "");
		holds(text, "NaN: softmax made it");
		holds(text, "all of it is masked");
		holds(text, "Inf before it: full was told to make it");
		lb_tensor *fine = lb_softmax(lb_add(x, four(0, -INFINITY, 0, -INFINITY)), LB_AXES(-1));
		text = origin(lb_log(lb_subtract(fine, lb_scalar(2))), "");
		holds(text, "NaN: log made it");
		lacks(text, "Inf before it");
	}
}

static bool work(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	lb_tensor *x = lb_divide(in[0], lb_subtract(in[0], in[0]));
	out[0] = lb_multiply(lb_subtract(x, x), lb_scalar(3));
	return out[0] != NULL;
}

static void a_fused_tensor_is_taken_apart(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *compiled = lb_compile("work", work, NULL, (lb_compile_options){ 0 });
		lb_tensor *x = four(1, 2, 3, 4), *y;
		assert_true(lb_call(compiled, 1, &x, 1, &y));
		for (int ready = 0; ready < 2; ready++) {
			const char *text = origin(y, "");
			holds(text, "NaN: fused made it");
			holds(text, "step 3 of 4 is subtract");
			holds(text, "the first is subtract(inf, inf)");
			holds(text, "Inf before it: fused made it");
			holds(text, "step 2 of 4 is divide");
			holds(text, "the first is divide(1.0, 0.0)");
			holds(text, "a division by 0");
			assert_true(lb_eval(y));
		}
		lb_compiled_free(compiled);
	}
}

static void it_ends_where_nothing_is_left(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *bad = lb_keep(four(1, NAN, 2, 3)), *y = lb_add(bad, lb_scalar(1));
		assert_true(lb_eval(bad, y));
		holds(origin(y, ""), "NaN: it was in the data");
		holds(origin(bad, ""), "first at [0, 1]");
		lb_tensor *x = NULL, *z;
		LB_SCOPE
			x = lb_keep(lb_log(lb_negative(lb_ones(LB_SHAPE(5, 1000), LB_F32))));
		z = lb_add(x, x);
		assert_true(lb_eval(x, z));
		lb_release(x);
		const char *text = origin(z, "");
		holds(text, "NaN: log made it, or got it from an unknown input");
		holds(text, "next: run again with `tensor catch nan`");
		holds(text, "float32 (5, 1000), freed), first at [0, 0]"); /* its bytes are in the cache */
		lb_clear_cache();
		text = origin(z, "");
		holds(text, "NaN: add made it, or got it from an unknown input");
		holds(text, "unknown: it was freed, and its memory used again");
		lb_release(bad);
		lb_tensor *good = four(1, 2, 3, 4);
		holds(origin(good, ""), "holds no NaN and no Inf: from 1 to 4");
	}
}

/* The data's NaN is elsewhere: what is looked at holds none but that of log(-1). */
static void follows(lb_tensor *x, const char *op, const char *first)
{
	for (int ready = 0; ready < 2; ready++) {
		const char *text = origin(x, "");
		holds(text, op);
		holds(text, first);
		lacks(text, "in the data");
		assert_true(lb_eval(x));
	}
}

static void elements_are_followed(void **state)
{
	static const char made[] = "NaN: log made it", one[] = "this one is log(-1.0)";

	(void)state;
	for (int ready = 0; ready < 2; ready++)
		LB_SCOPE {
			lb_tensor *x = lb_from_data((float[]){ NAN, -1, 4, 9, 2, 3 }, 24, LB_SHAPE(6), LB_F32);
			lb_tensor *y = lb_log(x), *m = lb_reshape(y, LB_SHAPE(2, 3));
			if (ready)
				assert_true(lb_eval(y));
			lb_tensor *z = lb_slice(y, LB_FROM(1));
			holds(origin(z, ""), "), at [1]\n");
			follows(z, made, one);
			follows(lb_sum(z, LB_ALL_AXES, false), made, one);
			follows(lb_cumsum(z, 0, true, true), made, one);
			follows(lb_cumsum(lb_slice(y, LB_RANGE(5, 0, -1)), 0, false, true), made, one);
			follows(lb_where(lb_isnan(x), lb_scalar(0), y), made, one);
			follows(lb_contiguous(lb_slice(lb_transpose(m, LB_ALL_AXES), LB_FROM(1))), made, one);
			follows(lb_slice(lb_broadcast_to(m, LB_SHAPE(3, 2, 3)), LB_ALL, LB_ALL, LB_FROM(1)), made, one);
			follows(lb_slice(lb_softmax(lb_transpose(m, LB_ALL_AXES), LB_AXES(-1)), LB_FROM(1)), made, one);
			follows(lb_max(lb_slice(m, LB_ALL, LB_FROM(1)), LB_AXES(0), true), made, one);
			follows(lb_slice(lb_matmul(lb_ones(LB_SHAPE(2, 2), LB_F32), m), LB_ALL, LB_FROM(1)), made, one);
			follows(lb_matmul(lb_slice(lb_transpose(m, LB_ALL_AXES), LB_FROM(1)),
					  lb_ones(LB_SHAPE(2), LB_F32)),
				made, one);
			follows(lb_take(y, lb_from_data((int32_t[]){ 3, 1 }, 8, LB_SHAPE(2), LB_I32), 0), made, one);
			follows(lb_take_along_axis(m, lb_from_data((int32_t[]){ 1, 2 }, 8, LB_SHAPE(2, 1), LB_I32), 1),
				made, one);
			follows(lb_slice(lb_concatenate(2, (lb_tensor *[]){ x, z }, 0), LB_FROM(5)), made, one);
			follows(lb_slice(lb_pad(y, (lb_list)LB_SHAPE(2), (lb_list)LB_SHAPE(1), 0), LB_FROM(3)), made,
				one);
			follows(lb_slice_update(y, lb_zeros(LB_SHAPE(1), LB_F32), LB_RANGE(0, 1, 1)), made, one);
			follows(lb_slice_update(lb_slice(x, LB_FROM(1)), z, LB_ALL), made, one);
			follows(lb_add(lb_slice(m, LB_ALL, LB_FROM(1)), lb_scalar(1)), made, one);
		}
}

static const lb_quant quantisations[] = {
	{ .mode = LB_QUANT_AFFINE, .bits = 4, .group = 32 },
	{ .mode = LB_QUANT_AFFINE, .bits = 3, .group = 64 },
	{ .mode = LB_QUANT_MXFP4 },
	{ .mode = LB_QUANT_MXFP8 },
	{ .mode = LB_QUANT_NVFP4 },
};

/* What is multiplied by a quantised matrix: rows of x by rows or columns of w. */
static void quantised_products_are_followed(void **state)
{
	static const char made[] = "NaN: log made it", one[] = "the first is log(-1.0)";

	(void)state;
	for (size_t i = 0; i < sizeof quantisations / sizeof *quantisations; i++)
		for (int as = 0; as < 2; as++)
			LB_SCOPE {
				lb_quant how = quantisations[i];
				lb_quantized w = lb_quantize(lb_ones(LB_SHAPE(2, 1, 64, 64), LB_F32), how, NULL);
				lb_tensor *given = lb_full(LB_SHAPE(1, 64), NAN, LB_F32);
				lb_tensor *bad = lb_log(lb_full(LB_SHAPE(1, 64), -1, LB_F32));
				lb_tensor *good = lb_full(LB_SHAPE(1, 64), 2, LB_F32);
				lb_tensor *x = lb_concatenate(3, (lb_tensor *[]){ given, bad, good }, 0);
				lb_tensor *y = lb_quantized_matmul(x, w, how, as);
				follows(lb_slice(y, LB_ALL, LB_ALL, LB_FROM(1)), made, one);
				follows(lb_quantized_matmul(lb_slice(x, LB_AT(1)), w, how, as), made, one);
				holds(origin(y, ""), "NaN: full was told to make it");
				holds(origin(lb_slice(y, LB_ALL, LB_ALL, LB_FROM(2)), ""), "holds no NaN");
			}
}

/* The scales that belong to an element: of a row of w, or of groups of its columns. */
static void quantised_matrices_are_followed(void **state)
{
	(void)state;
	for (int as = 0; as < 2; as++)
		LB_SCOPE {
			lb_quant how = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 32 };
			lb_tensor *x = lb_ones(LB_SHAPE(2, 64), LB_F32);
			lb_tensor *data = lb_full(LB_SHAPE(64, 32), NAN, LB_F32),
				  *fine = lb_ones(LB_SHAPE(64, 32), LB_F32);
			lb_tensor *columns = lb_concatenate(2, (lb_tensor *[]){ data, lb_log(lb_negative(fine)) }, 1);
			lb_tensor *w = as ? lb_transpose(columns, LB_ALL_AXES) : columns;
			lb_quantized q = lb_quantize(lb_contiguous(w), how, NULL);
			lb_tensor *y = lb_quantized_matmul(x, q, how, as);
			follows(lb_slice(y, LB_ALL, LB_FROM(32)), "NaN: log made it", "the first is log(-1.0)");
			holds(origin(y, ""), "NaN: full was told to make it");
                /* an Inf among the values is a scale that is NaN */
			w = lb_divide(fine, lb_zeros(LB_SHAPE(64, 32), LB_F32));
			q = lb_quantize(w, how, NULL);
			const char *text = origin(lb_dequantize(q, how, LB_F32), "");
			holds(text, "NaN: quantize made it");
			holds(text, "Inf before it: divide made it");
		}
}

/* Scales that are codes of 8 bits: one of them stands for NaN. */
static void codes_of_nan_are_followed(void **state)
{
	(void)state;
	for (size_t i = 2; i < sizeof quantisations / sizeof *quantisations; i++)
		LB_SCOPE {
			lb_quant how = quantisations[i];
			lb_tensor *good = lb_ones(LB_SHAPE(1, 64), LB_F32);
			lb_tensor *bad = lb_log(lb_full(LB_SHAPE(1, 64), -1, LB_F32));
			lb_quantized q = lb_quantize(lb_concatenate(2, (lb_tensor *[]){ good, bad }, 0), how, NULL);
			q.scales = lb_concatenate(2, (lb_tensor *[]){ q.scales, q.scales }, 0);
			q.w = lb_concatenate(2, (lb_tensor *[]){ q.w, q.w }, 0);
			lb_tensor *y = lb_quantized_matmul(good, q, how, true);
			const char *text = origin(y, "");
			follows(y, "NaN: log made it", "the first is log(-1.0)");
			follows(lb_dequantize(q, how, LB_F32), "NaN: log made it", "the first is log(-1.0)");
			text = origin(lb_slice(y, LB_ALL, LB_RANGE(2, 3)), "");
			holds(text, "holds no NaN");
			lb_tensor *data = lb_contiguous(q.scales);
			assert_true(lb_eval(data));
			data =
			    lb_from_data(lb_data(data), (size_t)lb_nbytes(data), LB_SHAPE(4, lb_dim(data, 1)), LB_U8);
			q.scales = data;
			text = origin(lb_dequantize(q, how, LB_F32), "");
			holds(text, "NaN: it was in the data");
			holds(text, "first at [1, 0]");
		}
}

static lb_tensor *normal(lb_list shape, int key)
{
	return lb_random_normal(shape, LB_F32, lb_key((uint64_t)key));
}

/* 1 everywhere but there. */
static lb_tensor *ones_but(lb_list shape, int64_t place, float value)
{
	int64_t size = 1;

	for (int i = 0; i < shape.n; i++)
		size *= shape.v[i];
	lb_tensor *x = lb_add(lb_slice_update(lb_zeros(LB_SHAPE(size), LB_F32), lb_full(LB_SHAPE(1), value, LB_F32),
					      LB_RANGE(place, place + 1)),
			      lb_ones(LB_SHAPE(size), LB_F32));
	return lb_reshape(x, shape);
}

static void updates_by_index_are_followed(void **state)
{
	static const char given[] = "NaN: full was told to make it", made[] = "NaN: log made it";

	(void)state;
	LB_SCOPE {
		lb_tensor *at = lb_from_data((int32_t[]){ 2, -1, 2 }, 12, LB_SHAPE(3), LB_I32);
		lb_tensor *bad = lb_full(LB_SHAPE(1), NAN, LB_F32), *one = lb_ones(LB_SHAPE(1), LB_F32);
		lb_tensor *log = lb_log(lb_full(LB_SHAPE(1), -1, LB_F32));
		lb_tensor *x = lb_concatenate(4, (lb_tensor *[]){ one, log, one, one }, 0); /* NaN at 1 */
		lb_tensor *u = lb_concatenate(3, (lb_tensor *[]){ one, bad, one }, 0);       /* to -1 */
		lb_tensor *y = lb_scatter_add(x, at, u, 0);
		holds(origin(y, ""), made);
		holds(origin(lb_slice(y, LB_FROM(2)), ""), given);
		holds(origin(lb_scatter_add(bad, lb_zeros(LB_SHAPE(3), LB_I32), u, 0), ""), given);
		/* of several that are added, it is not told which have counted */
		u = lb_concatenate(3, (lb_tensor *[]){ one, one, bad }, 0);
		holds(origin(lb_slice(lb_scatter_add(x, at, u, 0), LB_FROM(2)), ""),
		      "got it from an input, which holds NaN");
		for (int how = 0; how < 2; how++) {
			y = lb_put_along_axis(x, at, lb_concatenate(3, (lb_tensor *[]){ one, bad, one }, 0), 0,
					      (lb_put)how);
			holds(origin(y, ""), made);
			holds(origin(lb_slice(y, LB_FROM(2)), ""), given);
		}
		/* the last that is put stays, whatever was there */
		u = lb_concatenate(3, (lb_tensor *[]){ log, one, bad }, 0);
		y = lb_put_along_axis(lb_full(LB_SHAPE(4), NAN, LB_F32), at, u, 0, LB_PUT_ASSIGN);
		holds(origin(lb_slice(y, LB_RANGE(2, 3)), ""), given);
		u = lb_concatenate(3, (lb_tensor *[]){ bad, one, log }, 0);
		y = lb_put_along_axis(lb_full(LB_SHAPE(4), NAN, LB_F32), at, u, 0, LB_PUT_ASSIGN);
		holds(origin(lb_slice(y, LB_RANGE(2, 3)), ""), made);
	}
}

/* All outputs, one by one: that with NaN is told to have it from the one place, and that without to have none. */
static void each_output(lb_tensor *y, const char *says)
{
	y = lb_reshape(y, LB_SHAPE(-1));
	assert_true(lb_eval(y));
	for (int64_t i = 0; i < lb_size(y); i++) {
		lb_tensor *one = lb_slice(y, LB_AT(i));
		holds(origin(one, ""), isnan(lb_item(one)) ? says : "holds no NaN");
	}
}

static void convolutions_are_followed(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_conv_options o = { .stride = { 2, 1 }, .dilation = { 1, 2 }, .groups = 2 };
		lb_tensor *w = normal((lb_list)LB_SHAPE(4, 2, 2, 2), 1);
		lb_tensor *data = ones_but((lb_list)LB_SHAPE(1, 5, 5, 4), 7 * 4 + 2, NAN);
		each_output(lb_conv2d(data, w, o), "NaN: full was told to make it");
		o.padding[0] = o.padding[1] = 2;
		each_output(lb_conv2d(data, w, o), "NaN: full was told to make it");
		lb_tensor *x = normal((lb_list)LB_SHAPE(2, 5, 5, 4), 2);
		lb_tensor *y = lb_conv2d(x, ones_but((lb_list)LB_SHAPE(4, 2, 2, 2), 8, NAN), o);
		lb_tensor *middle = lb_slice(y, LB_AT(0), LB_AT(1), LB_AT(2), LB_AT(1));
		holds(origin(middle, ""), "NaN: full was told to make it");
		/* a NaN that would be multiplied by what lies beside x */
		holds(origin(lb_slice(y, LB_AT(0), LB_AT(0), LB_AT(0)), ""), "conv2d made it, or got it from an input");
		/* an input with NaN elsewhere */
		x = lb_concatenate(2,
				   (lb_tensor *[]){ lb_full(LB_SHAPE(1, 5, 5, 4), NAN, LB_F32),
						    lb_full(LB_SHAPE(1, 5, 5, 4), 3e38, LB_F32) },
				   0);
		w = lb_full(LB_SHAPE(4, 2, 2, 2), 10, LB_F32);
		o.padding[0] = o.padding[1] = 0;
		holds(origin(lb_slice(lb_conv2d(x, w, o), LB_FROM(1)), ""), "Inf: conv2d made it, in");
	}
}

static void attention_is_followed(void **state)
{
	static const char given[] = "NaN: full was told to make it";

	(void)state;
	for (int queries = 1; queries < 8; queries += 6)
		for (int masked = 0; masked < 3; masked++)
			LB_SCOPE {
				lb_list qs = (lb_list)LB_SHAPE(1, 4, queries, 3), ks = (lb_list)LB_SHAPE(1, 2, 9, 3);
				lb_tensor *q = normal(qs, 1), *k = normal(ks, 2), *v = normal(ks, 3);
				lb_tensor *see =
				    lb_reshape(lb_less(lb_arange(0, 9, 1, LB_F32), lb_scalar(8)), LB_SHAPE(1, 9));
				lb_tensor *mask =
				    masked == 0   ? NULL
				    : masked == 1 ? see
						  : lb_where(see, lb_scalar(0), lb_full(LB_SHAPE(), -INFINITY, LB_F32));
				each_output(lb_attention(ones_but(qs, 3 * queries * 3, NAN), k, v, 1, false, mask),
					    given);
				each_output(lb_attention(q, k, ones_but(ks, 4, NAN), 1, false, mask), given);
				if (masked != 1)
					each_output(lb_attention(q, ones_but(ks, 29, NAN), v, 1, false, mask), given);
				else
					holds(origin(lb_attention(q, ones_but(ks, 29, NAN), v, 1, false, mask), ""),
					      "attention made it, or got it from an input");
				each_output(lb_attention(q, ones_but(ks, 4, NAN), v, 1, true,
							 masked == 1 ? NULL : mask),
					    given);
				each_output(lb_attention(q, k, ones_but(ks, 4, NAN), 1, true, mask), given);
                /* what the mask hides is not where an Inf comes from */
				const char *text =
				    origin(lb_attention(lb_full(qs, INFINITY, LB_F32), k, v, 1, false, mask), "");
				holds(text, "NaN: attention made it, in");
				holds(text, "Inf before it: full was told to make it");
			}
	LB_SCOPE { /* values that are not to be seen, yet multiplied by 0 */
		lb_list shape = (lb_list)LB_SHAPE(1, 1, 4, 2);
		lb_tensor *y = lb_attention(normal(shape, 1), normal(shape, 2), ones_but(shape, 6, NAN), 1, true, NULL);
		lb_tensor *early = lb_slice(y, LB_AT(0), LB_AT(0), LB_AT(1));
		if (isnan(lb_item(lb_slice(early, LB_AT(0)))))
			holds(origin(early, ""), "attention made it, or got it from an input");
		holds(origin(lb_slice(y, LB_AT(0), LB_AT(0), LB_AT(3)), ""), given);
	}
}

static void gradients_of_norms_are_followed(void **state)
{
	static const char given[] = "NaN: full was told to make it";

	(void)state;
	for (int layer = 0; layer < 2; layer++)
		LB_SCOPE {
			lb_norm_grads (*grads)(lb_tensor *, lb_tensor *, lb_tensor *, double) =
			    layer ? lb_layer_norm_grad : lb_rms_norm_grad;
			lb_list shape = (lb_list)LB_SHAPE(3, 4);
			lb_tensor *x = normal(shape, 1), *w = normal((lb_list)LB_SHAPE(4), 2), *g = normal(shape, 3);
			lb_norm_grads of[] = {
				grads(ones_but(shape, 5, NAN), w, g, 1e-5),
				grads(x, w, ones_but(shape, 5, NAN), 1e-5),
				grads(x, ones_but((lb_list)LB_SHAPE(4), 2, NAN), g, 1e-5),
			};
			for (int i = 0; i < 3; i++) {
				each_output(of[i].x, given);
				each_output(of[i].weight, given);
				if (layer)
					each_output(of[i].bias, given);
			}
		}
}

static bool chooses(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	lb_tensor *x = in[0];
	out[0] = lb_multiply(lb_where(lb_isnan(x), lb_scalar(0), lb_sqrt(x)), lb_scalar(2));
	return out[0] != NULL;
}

static void a_branch_inside_a_fused_tensor(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *compiled = lb_compile("chooses", chooses, NULL, (lb_compile_options){ 0 });
		lb_tensor *x = four(NAN, 1, -4, 9), *y;
		assert_true(lb_call(compiled, 1, &x, 1, &y));
		follows(y, "NaN: fused made it", "the first is sqrt(-4.0)");
		lb_compiled_free(compiled);
	}
}

/* Which elements are added to an element of the result is not told by the record alone. */
static void what_is_not_certain_is_not_said(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_from_data((float[]){ NAN, INFINITY, 4 }, 12, LB_SHAPE(3), LB_F32);
		lb_tensor *at = lb_from_data((int32_t[]){ 1 }, 4, LB_SHAPE(1), LB_I32);
		lb_tensor *update = lb_full(LB_SHAPE(1), -INFINITY, LB_F32);
		lb_tensor *y = lb_strided_add(x, update, (lb_list)LB_SHAPE(1), 1);
		y = lb_slice(y, LB_FROM(1));
		const char *text = origin(y, "");
		holds(text, "NaN: strided_add made it, or got it from an input, which holds NaN too");
		lacks(text, "Inf before it");
		lacks(text, "why");
		json_t *o = json_loads(origin(y, "--json"), 0, NULL), *nan = json_object_get(o, "nan");
		assert_string_equal(json_string_value(json_object_get(nan, "end")), "unsure");
		assert_int_equal(json_integer_value(json_array_get(json_object_get(nan, "at"), 0)), 1);
		assert_int_equal(json_integer_value(json_array_get(json_object_get(nan, "first"), 0)), 0);
		json_decref(o);
		text = origin(lb_slice(lb_scatter_add(x, at, update, 0), LB_FROM(1)), "");
		holds(text, "NaN: scatter_add made it, in");
		holds(text, "Inf before it: it was in the data");
		lb_tensor *all = lb_scatter_add(lb_full(LB_SHAPE(3), NAN, LB_F32), at, lb_ones(LB_SHAPE(1), LB_F32), 0);
		holds(origin(all, ""), "NaN: full was told to make it");
	}
}

static void an_inf_of_the_same_sign(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *low = lb_full(LB_SHAPE(2), -INFINITY, LB_F32);
		lb_tensor *high = lb_exp(lb_full(LB_SHAPE(2), 1000, LB_F32));
		const char *text =
		    origin(lb_max(lb_concatenate(2, (lb_tensor *[]){ low, high }, 0), LB_ALL_AXES, false), "");
		holds(text, "Inf: exp made it");
		holds(origin(lb_maximum(low, high), ""), "Inf: exp made it");
	}
}

static void a_value_that_was_replaced_since(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_keep(four(1, -1, 2, 3)), *y = lb_log(x);
		assert_true(lb_eval(y));
		*(float *)lb_raw_data(x) = 5;
		((float *)lb_raw_data(x))[1] = 6;
		holds(origin(y, ""), "computed again from its inputs, it has none");
		lb_release(x);
	}
}

static void limits_hold(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = four(-1, 1, 1, 1), *y = lb_log(x);
		for (int i = 0; i < 20; i++) {
			y = lb_add(y, x);
			assert_true(lb_eval(y));
		}
		holds(origin(y, "--limit 10"), "the search ended at its limit");
		const char *text = origin(y, "");
		holds(text, "NaN: log made it");
		holds(text, "more,");
		for (int i = 0; i < 20; i++)
			y = lb_add(y, x);
		assert_string_equal(origin(y, "--limit 10"),
				    "the graph has more than 10 nodes; --limit N looks at more");
		assert_null(strstr(origin(y, "--limit 0"), "--limit"));
	}
}

static bool halt(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out;
	(void)what;
	(void)done;
	(void)total;
	return false;
}

static void the_user_can_stop_it(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *y = lb_log(four(-1, 1, 1, 1));
		self->out.progress = halt;
		assert_string_equal(origin(y, ""), "interrupted");
		self->out.progress = NULL;
		holds(origin(y, ""), "log made it");
	}
}

static void json_tells_the_same(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = four(1, 2, 3, -4), *y = lb_sum(lb_sqrt(x), LB_ALL_AXES, false);
		json_t *o = json_loads(origin(y, "--json"), 0, NULL), *nan = json_object_get(o, "nan"), *input;
		assert_string_equal(json_string_value(json_object_get(nan, "end")), "made");
		assert_string_equal(json_string_value(json_object_get(nan, "op")), "sqrt");
		assert_int_equal(json_array_size(json_object_get(nan, "way")), 2);
		assert_int_equal(json_integer_value(json_array_get(json_object_get(nan, "first"), 1)), 1);
		assert_float_equal(json_number_value(json_array_get(json_object_get(nan, "operands"), 0)), -4, 0);
		input = json_array_get(json_object_get(nan, "inputs"), 0);
		assert_float_equal(json_number_value(json_object_get(input, "min")), -4, 0);
		assert_float_equal(json_number_value(json_object_get(input, "max")), 3, 0);
		assert_true(json_is_null(json_object_get(o, "inf")));
		json_decref(o);
		holds(origin(x, "--json"), "\"nan\":null,\"inf\":null,\"looked_at\":1}");
	}
}

/* An image has no replay's worth of memory: what is ready is read, the rest is told. */
static void records_that_lie(void **state)
{
	struct session *s = *state;
	static const int64_t shape[] = { 2, 2 };
	float *data = image_at(&s->image, IMAGE_DATA, 16);

	data[2] = NAN;
	struct lbx_tensor_record r = image_record(&s->image, 18, "y", LB_F32, 2, shape, IMAGE_BUFFERS);
	r.op[0] = LB_OP_ADD;
	r.flags[0] = LB_FLAG_DETACHED;
	r.n_inputs[0] = 2;
	r.inputs[0] = 1;
	r.inputs[1] = 19; /* itself */
	image_tensor(&s->image, 18, &r);
	/* shapes that no sum has: which of x's elements is in it cannot be told */
	holds(session_says(s, "origin", "y"), "NaN: add made it, or got it from an input, which holds NaN too");
	holds(session_says(s, "origin", "x"), "first at [0, 0, 2]");
	image_set(&s->image, LB_KIND_TENSOR, 0, "id", 999);
	holds(session_says(s, "origin", "y --limit 50"), "the search ended at its limit");
	image_set(&s->image, LB_KIND_TENSOR, 18, "n_inputs", 3);
	holds(session_says(s, "origin", "y --limit 50"), "the search ended at its limit");
	image_set(&s->image, LB_KIND_BUFFER, 0, "nbytes", 4);
	holds(session_says(s, "origin", "y"), "reach out of its buffer");
	assert_string_equal(session_says(s, "origin", "y[0]"), "origin looks at a whole tensor: leave [0] out");
}

static void causes(void **state)
{
	static const struct {
		struct lbx_cause cause;
		const char *says;
	} cases[] = {
		{ { .op = "remainder", .nan = true, .n_operands = 2, .operands = { 3, 0 } }, "a division by 0" },
		{ { .op = "power", .nan = true, .n_operands = 2, .operands = { -8, 0.5 } }, "a negative number" },
		{ { .op = "power", .n_operands = 2, .operands = { 0, -1 } }, "a negative power of 0" },
		{ { .op = "rsqrt", .n_operands = 1 }, "1 / sqrt(0)" },
		{ { .op = "log", .n_operands = 1 }, "log(0)" },
		{ { .op = "multiply", .nan = true, .n_operands = 2, .operands = { 0, INFINITY } }, "0 * Inf" },
		{ { .op = "divide", .nan = true, .n_operands = 2, .operands = { INFINITY, INFINITY } }, "Inf / Inf" },
		{ { .op = "sin", .nan = true, .n_operands = 1, .operands = { INFINITY } }, "no value at Inf" },
		{ { .op = "mean", .nan = true, .empty = true }, "over no elements" },
		{ { .op = "matmul", .nan = true, .inf = true }, "an Inf met a 0" },
		{ { .op = "rms_norm", .nan = true }, "a division by a variance or count of 0" },
		{ { .op = "logsumexp", .nan = true, .inf = true }, "exp(Inf - Inf)" },
		{ { .op = "add", .dtype = LB_F64, .n_operands = 2, .operands = { 1e308, 1e308 } }, "1.7977e+308" },
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		holds(lbx_cause_text(&cases[i].cause, text, sizeof text), cases[i].says);
	assert_string_equal(lbx_cause_text(&(struct lbx_cause){ .op = "reshape" }, text, sizeof text), "");
}

/* Many are told as the first, and how many follow; what was not asked for is not known to have none. */
static void many_come_of_one(void **state)
{
	char name[32];

	(void)state;
	LB_SCOPE {
		lb_tensor *first = lb_named("first", lb_log(lb_full(LB_SHAPE(4), -1, LB_F32)));
		assert_true(lb_eval(first));
		for (int i = 0; i < 8; i++) {
			snprintf(name, sizeof name, "later.%d", i);
			assert_true(lb_eval(lb_named(name, lb_multiply(first, lb_scalar(i + 1)))));
		}
		const char *text = report_of(self, "");
		holds(text, "NaN and Inf\n  - first (#");
		holds(text, "  … 4 more (`list --nan --inf` shows them)\n");
		lacks(text, "- later.4");
		text = report_of(self, "--json");
		holds(text, "later.7");
		text = session_says(self, "doctor", "--only N1");
		holds(text, "NaN in first, and in 8 other tensors [N1]");
		text = session_says(self, "doctor", "later.* --only N1");
		holds(text, "NaN in later.0, and in 7 other tensors named later.* [N1]");
		holds(text, "Its origin: first (#");
		text = session_says(self, "doctor", "later.3 --only N1");
		holds(text, "NaN in later.3 [N1]");
		lacks(text, "computed after");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_operation_is_named),
		cmocka_unit_test(overflows_are_told_by_dtype),
		cmocka_unit_test(nan_of_an_inf_leads_to_the_inf),
		cmocka_unit_test(a_fused_tensor_is_taken_apart),
		cmocka_unit_test(it_ends_where_nothing_is_left),
		cmocka_unit_test(elements_are_followed),
		cmocka_unit_test(quantised_products_are_followed),
		cmocka_unit_test(quantised_matrices_are_followed),
		cmocka_unit_test(codes_of_nan_are_followed),
		cmocka_unit_test(updates_by_index_are_followed),
		cmocka_unit_test(convolutions_are_followed),
		cmocka_unit_test(attention_is_followed),
		cmocka_unit_test(gradients_of_norms_are_followed),
		cmocka_unit_test(a_branch_inside_a_fused_tensor),
		cmocka_unit_test(what_is_not_certain_is_not_said),
		cmocka_unit_test(an_inf_of_the_same_sign),
		cmocka_unit_test(a_value_that_was_replaced_since),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(the_user_can_stop_it),
		cmocka_unit_test(json_tells_the_same),
		cmocka_unit_test_setup_teardown(records_that_lie, session_start, session_stop),
		cmocka_unit_test(many_come_of_one),
		cmocka_unit_test(causes),
	};
	return cmocka_run_group_tests(tests, open_self, close_self);
}
