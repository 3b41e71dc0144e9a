/* Compiled functions: what they give has the bits that the plain function gives; what is traced
 * again, and why; what a function that is traced may not do. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/op.h"
#include "graph/program.h"
#include "lazybones.h"
#include "publish/root.h"

static const lb_compile_options by_default;

static int clean(void **state)
{
	(void)state;
	lb_clear_error();
	return 0;
}

/* The message has all of these parts, in this order. */
static void failed(const char *const *parts)
{
	const char *message = lb_error_message(), *at = message;
	assert_false(lb_ok());
	for (int i = 0; parts[i]; i++) {
		at = strstr(at, parts[i]);
		if (!at)
			fail_msg("no '%s' in \"%s\"", parts[i], message);
	}
	lb_clear_error();
}
#define FAILED(...) failed((const char *const[]){ __VA_ARGS__, NULL })

static void same_bits(lb_tensor *a, lb_tensor *b)
{
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(lb_dtype_of(a), lb_dtype_of(b));
	assert_int_equal(lb_rank(a), lb_rank(b));
	assert_memory_equal(lb_shape(a), lb_shape(b), (size_t)lb_rank(a) * sizeof(int64_t));
	size_t n = (size_t)lb_nbytes(a);
	char *x = malloc(n + 1), *y = malloc(n + 1);
	if (!lb_copy_out(a, x, n) || !lb_copy_out(b, y, n))
		fail_msg("%s", lb_error_message());
	assert_memory_equal(x, y, n);
	free(x);
	free(y);
}

static void reason_is(lb_compiled *f, const char *wanted)
{
	assert_string_equal(lb_compiled_stats(f).reason, wanted);
}

static lb_tensor *call1(lb_compiled *f, lb_tensor *x)
{
	lb_tensor *y = NULL;
	if (!lb_call(f, 1, &x, 1, &y))
		assert_null(y);
	return y;
}

static lb_tensor *call2(lb_compiled *f, lb_tensor *a, lb_tensor *b)
{
	lb_tensor *y = NULL;
	if (!lb_call(f, 2, (lb_tensor *[]){ a, b }, 1, &y))
		assert_null(y);
	return y;
}

static lb_tensor *numbers(lb_list shape, lb_dtype dtype, uint64_t seed)
{
	lb_tensor *x = lb_astype(lb_random_uniform(shape, 0.5, 9.5, LB_F32, lb_key(seed)), dtype);
	lb_eval(x);
	return x;
}

/* ---- what it computes ---- */

static atomic_int runs; /* of the functions that count */

static bool elementwise(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	runs++;
	lb_tensor *a = in[0], *b = in[1];
	lb_tensor *s = lb_multiply(lb_add(a, b), lb_scalar_int(2));
	lb_tensor *t = lb_where(lb_greater(s, b), lb_maximum(s, a), lb_square(b));
	out[0] = lb_remainder(lb_clip(t, lb_scalar_int(1), lb_scalar_int(9)), lb_add(b, lb_scalar_int(1)));
	return out[0] != NULL;
}

static bool floating(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	lb_tensor *s = lb_gelu(lb_multiply(in[0], in[1]));
	lb_tensor *t = lb_tanh(lb_divide(lb_exp(lb_negative(s)), lb_sqrt(in[1])));
	out[0] = lb_add(lb_power(t, lb_scalar(2)), lb_astype(lb_isnan(s), lb_dtype_of(s)));
	return out[0] != NULL;
}

static void every_dtype_has_the_bits_of_plain_operations(void **state)
{
	(void)state;
	for (int dtype = LB_BOOL; dtype < LB_C64; dtype++) {
		lb_function *const functions[] = { elementwise, floating };
		for (int k = 0; k < 2; k++)
			LB_SCOPE {
				lb_tensor *a = numbers(LB_SHAPE(7, 33), (lb_dtype)dtype, 1);
				lb_tensor *b = numbers(LB_SHAPE(33), (lb_dtype)dtype, 2), *plain;
				lb_compiled *f = lb_compile("f", functions[k], NULL, by_default);
				assert_true(functions[k](NULL, 2, (lb_tensor *[]){ a, b }, 1, &plain));
				lb_tensor *fused = call2(f, a, b);
				if (!fused)
					fail_msg("%s: %s", lb_dtype_name((lb_dtype)dtype), lb_error_message());
				assert_int_equal(((const struct lb_tensor *)fused)->op, LB_OP_FUSED);
				/* besides it, what is done to b alone, which has another shape */
				assert_true(lb_compiled_stats(f).built <= 4);
				assert_true(lb_compiled_stats(f).traced >= 9);
				same_bits(fused, plain);
				same_bits(call2(f, a, b), plain);
				/* strided inputs, read in place */
				lb_tensor *flipped = lb_slice(a, LB_REVERSED, LB_REVERSED);
				assert_true(functions[k](NULL, 2, (lb_tensor *[]){ flipped, b }, 1, &plain));
				same_bits(call2(f, flipped, b), plain);
				lb_compiled_free(f);
			}
	}
	assert_true(lb_ok());
}

static bool complex_function(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	out[0] = lb_abs(lb_multiply(lb_exp(in[0]), lb_add(in[0], lb_scalar(0.5))));
	return out[0] != NULL;
}

static void complex_numbers_too(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = numbers(LB_SHAPE(5, 9), LB_C64, 3), *plain;
		lb_compiled *f = lb_compile("c", complex_function, NULL, by_default);
		assert_true(complex_function(NULL, 1, &x, 1, &plain));
		same_bits(call1(f, x), plain);
		assert_int_equal(lb_compiled_stats(f).built, 1);
		lb_compiled_free(f);
	}
}

struct block {
	lb_tensor *norm, *up, *down, *bias;
};

/* A piece of a transformer: views, products, reductions, and groups between them. */
static bool block(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct block *b = context;
	(void)n_in;
	(void)n_out;
	lb_tensor *x = in[0];
	lb_tensor *h = lb_rms_norm(x, b->norm, 1e-5);
	h = lb_add(lb_matmul(h, b->up), b->bias);
	h = lb_named("hidden", lb_multiply(lb_gelu(h), lb_sigmoid(h)));
	h = lb_add(x, lb_matmul(h, b->down));
	lb_tensor *heads = lb_transpose(lb_reshape(h, LB_SHAPE(4, 2, 8)), LB_AXES(1, 0, 2));
	lb_tensor *last = lb_slice(heads, LB_ALL, LB_FROM(1), LB_RANGE(0, 8, 2));
	/* equal operations, and what depends on no input */
	lb_tensor *scale = lb_exp(lb_multiply(b->bias, lb_scalar(0.01)));
	out[0] = lb_softmax(lb_multiply(h, lb_mean(scale, LB_ALL_AXES, false)), LB_AXES(-1));
	out[1] = lb_subtract(lb_sum(lb_exp(last), LB_AXES(1), false), lb_max(lb_exp(last), LB_AXES(1), false));
	out[2] = last;
	return out[0] && out[1];
}

static void a_graph_with_views_and_products(void **state)
{
	(void)state;
	LB_SCOPE {
		struct block b = { numbers(LB_SHAPE(16), LB_F32, 1),
				   lb_multiply(numbers(LB_SHAPE(16, 32), LB_F32, 2), lb_scalar(0.01)),
				   lb_multiply(numbers(LB_SHAPE(32, 16), LB_F32, 3), lb_scalar(0.01)),
				   numbers(LB_SHAPE(32), LB_F32, 4) };
		lb_compiled *f = lb_compile("block", block, &b, by_default);
		for (int i = 0; i < 3; i++)
			LB_SCOPE {
				lb_tensor *x = numbers(LB_SHAPE(4, 16), LB_F32, (uint64_t)(10 + i));
				lb_tensor *plain[3], *compiled[3];
				assert_true(block(&b, 1, &x, 3, plain));
				if (!lb_call(f, 1, &x, 3, compiled))
					fail_msg("%s", lb_error_message());
				for (int k = 0; k < 3; k++)
					same_bits(compiled[k], plain[k]);
				/* views of an input that starts inside its buffer */
				lb_tensor *inside = lb_slice(numbers(LB_SHAPE(6, 16), LB_F32, 99), LB_FROM(2));
				assert_true(block(&b, 1, &inside, 3, plain));
				assert_true(lb_call(f, 1, &inside, 3, compiled));
				for (int k = 0; k < 3; k++)
					same_bits(compiled[k], plain[k]);
			}
		lb_compile_stats stats = lb_compiled_stats(f);
		assert_int_equal(stats.compiles, 1);
		assert_int_equal(stats.calls, 6);
		assert_int_equal(stats.hits, 5);
		assert_true(stats.built < stats.traced);
		lb_compiled_free(f);
		assert_true(lb_ok());
	}
}

static bool long_chain(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n_in;
	(void)n_out;
	lb_tensor *y = in[0];
	for (int i = 0; i < *(const int *)context; i++)
		y = lb_add(lb_multiply(y, lb_scalar(i % 3 ? 0.5 : 1.25)), i % 7 ? in[0] : y);
	out[0] = y;
	return y != NULL;
}

static void groups_that_are_too_large_are_cut(void **state)
{
	(void)state;
	LB_SCOPE {
		int n = 200;
		lb_tensor *x = numbers(LB_SHAPE(50), LB_F32, 1), *plain;
		lb_compiled *f = lb_compile("chain", long_chain, &n, by_default);
		assert_true(long_chain(&n, 1, &x, 1, &plain));
		same_bits(call1(f, x), plain);
		lb_compile_stats stats = lb_compiled_stats(f);
		assert_int_equal(stats.traced, 2 * n + n); /* the scalars, too */
		assert_true(stats.built >= 2 * n / LB_PROGRAM_INSNS);
		assert_true(stats.built <= 2 * n / LB_PROGRAM_INSNS + 2);
		lb_compiled_free(f);
	}
}

static bool inputs_and_constants(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	out[0] = in[1];
	out[1] = lb_arange(0, 5, 1, LB_I32);
	out[2] = out[3] = lb_transpose(in[0], LB_ALL_AXES);
	return true;
}

static void results_may_be_inputs_constants_or_the_same(void **state)
{
	(void)state;
	lb_tensor *kept = NULL;
	LB_SCOPE {
		lb_compiled *f = lb_compile("io", inputs_and_constants, NULL, by_default);
		lb_tensor *x = numbers(LB_SHAPE(2, 3), LB_F32, 1), *out[4];
		lb_tensor *y = numbers(LB_SHAPE(4), LB_F16, 2);
		for (int i = 0; i < 2; i++) {
			assert_true(lb_call(f, 2, (lb_tensor *[]){ x, y }, 4, out));
			assert_ptr_equal(out[0], y);
			assert_int_equal(lb_item_int(lb_sum(out[1], LB_ALL_AXES, false)), 10);
			assert_ptr_equal(out[2], out[3]);
			same_bits(out[2], lb_transpose(x, LB_ALL_AXES));
		}
		kept = lb_keep(out[1]);
		lb_compiled_free(f);
	}
	assert_int_equal(lb_item_int(lb_max(kept, LB_ALL_AXES, false)), 4);
	lb_release(kept);
	assert_true(lb_ok());
}

static bool with_context(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n_in;
	(void)n_out;
	out[0] = lb_multiply(in[0], *(lb_tensor *const *)context);
	return out[0] != NULL;
}

static void what_it_closes_over_is_held(void **state)
{
	(void)state;
	lb_compiled *f = NULL;
	LB_SCOPE {
		lb_tensor *weight = lb_keep(lb_add(numbers(LB_SHAPE(3), LB_F32, 1), lb_scalar(1))), *before;
		f = lb_compile("closure", with_context, &weight, by_default);
		lb_tensor *x = lb_ones(LB_SHAPE(3), LB_F32);
		before = lb_contiguous(lb_add(weight, lb_scalar(0)));
		assert_true(lb_eval(before));
		assert_non_null(call1(f, x));
		lb_release(weight); /* the graph has it still, lazy as it was */
		weight = NULL;
		same_bits(call1(f, x), before);
	}
	lb_compiled_free(f);
	assert_true(lb_ok());
}

/* ---- when it is traced again ---- */

static void each_recompilation_says_why(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", elementwise, NULL, by_default);
		lb_tensor *a = numbers(LB_SHAPE(2, 4), LB_F32, 1), *b = numbers(LB_SHAPE(2, 4), LB_F32, 2);
		runs = 0;
		assert_non_null(call2(f, a, b));
		reason_is(f, "first call");
		assert_non_null(call2(f, b, a));
		assert_int_equal(runs, 1);
		assert_int_equal(lb_compiled_stats(f).hits, 1);

		assert_non_null(call2(f, a, numbers(LB_SHAPE(1, 4), LB_F32, 3)));
		reason_is(f, "input 1: shape (1,4), compiled for (2,4)");
		assert_non_null(call2(f, lb_astype(a, LB_BF16), b));
		reason_is(f, "input 0: dtype bfloat16, compiled for float32");
		assert_non_null(call2(f, a, lb_scalar(3)));
		reason_is(f, "input 0: dtype float32, compiled for bfloat16");
		assert_non_null(call2(f, a, lb_scalar(4)));
		reason_is(f, "input 1: scalar 4, compiled for 3");
		assert_non_null(call2(f, a, lb_scalar(4)));
		assert_non_null(call2(f, a, lb_scalar_int(4)));
		reason_is(f, "input 1: dtype int32, compiled for float32");
		assert_non_null(call2(f, a, lb_full(LB_SHAPE(), 4, LB_I32)));
		reason_is(f, "input 1: a tensor, compiled for a weak scalar");
		lb_tensor *square = numbers(LB_SHAPE(4, 4), LB_F32, 1);
		assert_non_null(call2(f, square, square));
		assert_non_null(call2(f, lb_transpose(square, LB_ALL_AXES), square));
		reason_is(f, "input 0: strides (1,4), compiled for (4,1)");
		lb_tensor *y;
		assert_true(lb_call_with(f, "k=1", 3, 2, (lb_tensor *[]){ a, b }, 1, &y));
		assert_true(lb_call_with(f, "k=2", 3, 2, (lb_tensor *[]){ a, b }, 1, &y));
		reason_is(f, "constants differ");
		int traced = runs;
		assert_true(lb_call_with(f, "k=1", 3, 2, (lb_tensor *[]){ a, b }, 1, &y));
		assert_int_equal(runs, traced);
		lb_tensor *two[2];
		assert_false(lb_call(f, 2, (lb_tensor *[]){ a, b }, 2, two)); /* it makes one */
		FAILED("compile(f)", "output 1 is NULL");
		assert_int_equal(lb_compiled_stats(f).compiles, lb_compiled_stats(f).entries);
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

static bool sum_of_all(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	for (int k = 0; k < n_out; k++) {
		out[k] = in[0];
		for (int i = k + 1; i < n_in; i++)
			out[k] = lb_add(out[k], in[i]);
	}
	return true;
}

static void a_graph_belongs_to_its_stream(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = numbers(LB_SHAPE(3), LB_F32, 1), *y = NULL, *z;
		lb_compiled *f = lb_compile("f", elementwise, NULL, by_default);
		lb_stream side = lb_stream_new("side");
		z = call2(f, x, x);
		lb_stream before = lb_set_stream(side);
		for (int i = 0; i < 2; i++)
			y = call2(f, x, x);
		lb_set_stream(before);
		char wanted[64];
		snprintf(wanted, sizeof wanted, "stream %u, compiled for %u", side.id, before.id);
		reason_is(f, wanted);
		assert_int_equal(lb_compiled_stats(f).hits, 1);
		assert_int_equal(((const struct lb_tensor *)y)->stream, side.id);
		assert_true(lb_async_eval(y));
		same_bits(y, z);
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

static void the_numbers_of_inputs_and_outputs_count(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = numbers(LB_SHAPE(3), LB_F32, 1), *out[3];
		lb_tensor *in[3] = { x, x, x };
		lb_compiled *f = lb_compile("sums", sum_of_all, NULL, by_default);
		assert_true(lb_call(f, 2, in, 1, out));
		assert_true(lb_call(f, 3, in, 1, out));
		reason_is(f, "3 inputs, compiled for 2");
		same_bits(out[0], lb_add(lb_add(x, x), x));
		assert_true(lb_call(f, 3, in, 3, out));
		reason_is(f, "3 outputs, compiled for 1");
		lb_compiled_free(f);
	}
}

static void the_oldest_graph_goes_when_there_are_too_many(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", elementwise, NULL, (lb_compile_options){ .limit = 2 });
		lb_tensor *x[3];
		for (int i = 0; i < 3; i++)
			x[i] = numbers(LB_SHAPE(i + 1), LB_F32, 1);
		runs = 0;
		assert_non_null(call2(f, x[0], x[0]));
		assert_non_null(call2(f, x[1], x[1]));
		assert_non_null(call2(f, x[0], x[0])); /* x[1] is the oldest now */
		assert_non_null(call2(f, x[2], x[2]));
		assert_int_equal(runs, 3);
		assert_int_equal(lb_compiled_stats(f).evictions, 1);
		assert_int_equal(lb_compiled_stats(f).entries, 2);
		assert_non_null(call2(f, x[0], x[0]));
		assert_int_equal(runs, 3);
		assert_non_null(call2(f, x[1], x[1]));
		assert_int_equal(runs, 4);
		reason_is(f, "evicted: more than 2 graphs were wanted");
		lb_compiled_free(f);
	}
	assert_null(lb_compile("f", elementwise, NULL, (lb_compile_options){ .limit = -1 }));
	FAILED("compile(f)", "-1");
	assert_null(lb_compile("f", NULL, NULL, by_default));
	FAILED("compile(f)", "no function");
}

/* ---- shapeless ---- */

static bool layer(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct block *b = context;
	(void)n_in;
	(void)n_out;
	runs++;
	lb_tensor *h = lb_gelu(lb_linear(lb_layer_norm(in[0], b->norm, NULL, 1e-5), b->up, b->bias));
	lb_tensor *t = lb_matmul(lb_transpose(h, LB_AXES(1, 0)), h);
	lb_tensor *both = lb_concatenate(2, (lb_tensor *[]){ h, lb_negative(h) }, 0);
	out[0] = lb_add(lb_softmax(t, LB_AXES(0)), lb_mean(h, LB_AXES(0), false));
	out[1] = lb_subtract(lb_argmax(both, LB_AXES(0), true), lb_scalar_int(1));
	return out[0] && out[1];
}

static void a_shapeless_graph_serves_all_sizes(void **state)
{
	(void)state;
	LB_SCOPE {
		struct block b = { .norm = numbers(LB_SHAPE(6), LB_F32, 1),
				   .up = numbers(LB_SHAPE(5, 6), LB_F32, 2),
				   .bias = numbers(LB_SHAPE(5), LB_F32, 3) };
		lb_compiled *f = lb_compile("layer", layer, &b, (lb_compile_options){ .shapeless = true });
		runs = 0;
		for (int n = 3; n < 9; n++) {
			lb_tensor *x = numbers(LB_SHAPE(n, 6), LB_F32, (uint64_t)n), *compiled[2], *plain[2];
			if (!lb_call(f, 1, &x, 2, compiled))
				fail_msg("%s", lb_error_message());
			assert_int_equal(runs, 1);
			assert_true(layer(&b, 1, &x, 2, plain));
			runs = 1;
			same_bits(compiled[0], plain[0]);
			same_bits(compiled[1], plain[1]);
		}
		assert_int_equal(lb_compiled_stats(f).compiles, 1);
		/* what does not fit is told, and nothing is wrong afterwards */
		lb_tensor *x = numbers(LB_SHAPE(3, 7), LB_F32, 1), *out[2];
		assert_false(lb_call(f, 1, &x, 2, out));
		assert_null(out[0]);
		FAILED("layer_norm", "7");
		x = numbers(LB_SHAPE(3), LB_F32, 1);
		assert_false(lb_call(f, 1, &x, 2, out));
		lb_clear_error();
		lb_compiled_free(f);
	}
}

static void shapeless_elementwise_broadcasts_anew(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", elementwise, NULL, (lb_compile_options){ .shapeless = true });
		const int64_t sizes[][2] = { { 4, 4 }, { 1, 4 }, { 4, 1 }, { 9, 9 }, { 0, 1 } };
		for (int i = 0; i < 5; i++) {
			lb_tensor *a = numbers(LB_SHAPE(sizes[i][0]), LB_F32, 1), *plain;
			lb_tensor *b = numbers(LB_SHAPE(sizes[i][1]), LB_F32, 2);
			assert_true(elementwise(NULL, 2, (lb_tensor *[]){ a, b }, 1, &plain));
			same_bits(call2(f, a, b), plain);
		}
		assert_int_equal(lb_compiled_stats(f).compiles, 1);
		assert_null(call2(f, numbers(LB_SHAPE(2), LB_F32, 1), numbers(LB_SHAPE(3), LB_F32, 1)));
		FAILED("fused", "(3)", "(2)");
		assert_non_null(call2(f, numbers(LB_SHAPE(2, 2), LB_F32, 1), numbers(LB_SHAPE(2), LB_F32, 1)));
		reason_is(f, "input 0: shape (2,2), compiled for 1 axis");
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

enum sized { RESHAPE, BROADCAST, SLICE, ZEROS, ARANGE, SQUEEZE, N_SIZED };

static bool sized(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *x = in[0];
	(void)n_in;
	(void)n_out;
	switch (*(const enum sized *)context) {
	case RESHAPE: out[0] = lb_reshape(x, LB_SHAPE(2, -1)); break;
	case BROADCAST: out[0] = lb_broadcast_to(x, LB_SHAPE(3, 1, 4)); break;
	case SLICE: out[0] = lb_slice(x, LB_ALL, LB_TO(2)); break;
	case ZEROS: out[0] = lb_add(x, lb_zeros(LB_SHAPE(4), LB_F32)); break;
	case ARANGE: out[0] = lb_add(x, lb_arange(0, 4, 1, LB_F32)); break;
	default: out[0] = lb_squeeze(x, LB_ALL_AXES); break;
	}
	return out[0] != NULL;
}

static void shapeless_refuses_what_has_sizes(void **state)
{
	static const char *const ops[] = { "reshape", "broadcast_to", "slice", "full", "arange", "squeeze" };
	(void)state;
	for (enum sized k = RESHAPE; k < N_SIZED; k++)
		LB_SCOPE {
			lb_tensor *x = numbers(LB_SHAPE(1, 4), LB_F32, 1), *plain;
			lb_compiled *f = lb_compile("sized", sized, &k, (lb_compile_options){ .shapeless = true });
			assert_null(call1(f, x));
			FAILED("compile(sized)", "shapeless", ops[k], "test_compile(");
			assert_int_equal(lb_compiled_stats(f).entries, 0);
			lb_compiled_free(f);
			f = lb_compile("sized", sized, &k, by_default);
			assert_true(sized(&k, 1, &x, 1, &plain));
			same_bits(call1(f, x), plain);
			lb_compiled_free(f);
		}
}

/* ---- what a traced function may not do ---- */

enum sin { EVAL, ITEM, DATA, COPY_OUT, SAVE, ASYNC, FAIL, NOTHING, FOREIGN, READY, N_SINS };

static char scratch_file[] = "/tmp/test_compile.npy";

static bool sinful(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	float element;
	lb_tensor *y = lb_exp(in[0]);
	(void)n_in;
	(void)n_out;
	out[0] = y;
	switch (*(const enum sin *)context) {
	case EVAL: lb_eval(y); break;
	case ITEM: lb_item(y); break;
	case DATA: lb_data(y); break;
	case COPY_OUT: lb_copy_out(y, &element, sizeof element); break;
	case SAVE: lb_save_npy(scratch_file, y); break;
	case ASYNC: lb_async_eval(y); break;
	case FAIL: return false;
	case NOTHING: out[0] = NULL; break;
	case FOREIGN: out[0] = in[1]; break;
	case READY:
		out[0] = lb_ones(LB_SHAPE(1), LB_F32);
		lb_eval(out[0]);
		break;
	default: break;
	}
	return true;
}

static void evaluating_inside_is_an_error(void **state)
{
	(void)state;
	for (enum sin k = EVAL; k <= ASYNC; k++)
		LB_SCOPE {
			lb_compiled *f = lb_compile("sinner", sinful, &k, by_default);
			assert_null(call1(f, lb_ones(LB_SHAPE(1), LB_F32)));
			FAILED("compile(sinner)", "evaluates inside it, at", "test_compile(");
			assert_int_equal(lb_compiled_stats(f).entries, 0);
			lb_compiled_free(f);
		}
	assert_int_not_equal(access(scratch_file, F_OK), 0);
}

static void results_must_be_made_by_the_function(void **state)
{
	(void)state;
	const char *const messages[] = { [FAIL] = "did not say why",
					 [NOTHING] = "output 0 is NULL",
					 [READY] = "is not a lazy tensor that this call" };
	for (enum sin k = FAIL; k <= READY; k++)
		LB_SCOPE {
			if (k == FOREIGN)
				continue;
			lb_compiled *f = lb_compile("sinner", sinful, &k, by_default);
			assert_null(call1(f, lb_ones(LB_SHAPE(1), LB_F32)));
			FAILED("compile(sinner)", messages[k]);
			lb_compiled_free(f);
		}
	LB_SCOPE {
		lb_tensor *older = lb_named("older", lb_ones(LB_SHAPE(1), LB_F32));
		lb_compiled *f = lb_compile("closure", sum_of_all, NULL, by_default);
		assert_null(call2(f, older, NULL));
		FAILED("call: tensor 1 of 2", "is NULL");
		lb_compiled_free(f);
	}
}

static lb_tensor *escaped;

static bool leaks(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	escaped = lb_keep(lb_multiply(in[0], lb_scalar(2)));
	out[0] = lb_exp(escaped);
	return true;
}

static bool uses_escaped(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	out[0] = lb_add(in[0], escaped);
	return true;
}

static void an_escaped_tracer_says_where_it_came_from(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(3), LB_F32), *plain = lb_exp(lb_multiply(x, lb_scalar(2)));
		lb_compiled *f = lb_compile("leaky", leaks, NULL, by_default);
		same_bits(call1(f, x), plain);
		assert_false(lb_eval(escaped));
		FAILED("leaky input 0", "escaped");
		assert_null(lb_data(escaped));
		FAILED("leaky input 0", "at test_compile(", "escaped");
		lb_tensor *later = lb_sum(lb_add(escaped, x), LB_ALL_AXES, false);
		assert_non_null(later);
		lb_item(later);
		FAILED("leaky input 0", "escaped");
		assert_non_null(lb_debug_eval(lb_id(escaped)));
		/* so it does when another function closes over it */
		lb_compiled *g = lb_compile("user", uses_escaped, NULL, by_default);
		lb_tensor *y = call1(g, x);
		assert_false(lb_eval(y));
		FAILED("leaky input 0", "escaped");
		lb_compiled_free(g);
		lb_compiled_free(f);
		lb_release(escaped);
	}
	assert_true(lb_ok());
}

static bool evaluates_constants(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	lb_tensor *table = lb_arange(0, 3, 1, LB_F32);
	double last = lb_item(lb_max(table, LB_ALL_AXES, false));
	out[0] = lb_multiply(lb_add(in[0], table), lb_scalar(last));
	return out[0] != NULL;
}

static void what_depends_on_no_input_may_be_evaluated(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_ones(LB_SHAPE(3), LB_F32), *plain;
		lb_compiled *f = lb_compile("constants", evaluates_constants, NULL, by_default);
		assert_true(evaluates_constants(NULL, 1, &x, 1, &plain));
		same_bits(call1(f, x), plain);
		same_bits(call1(f, x), plain);
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

/* ---- nested, shared, published ---- */

static bool outer(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *h;
	(void)n_in;
	(void)n_out;
	if (!lb_call(context, 2, (lb_tensor *[]){ in[0], lb_scalar(3) }, 1, &h))
		return false;
	return lb_call(context, 2, (lb_tensor *[]){ h, in[0] }, 1, out);
}

static void a_compiled_function_inside_another_is_inlined(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *inner = lb_compile("inner", elementwise, NULL, by_default);
		lb_compiled *f = lb_compile("outer", outer, inner, by_default);
		lb_tensor *x = numbers(LB_SHAPE(20), LB_F32, 1), *plain;
		same_bits(call1(f, x), (assert_true(outer(inner, 1, &x, 1, &plain)), plain));
		assert_int_equal(lb_compiled_stats(f).built, 1);
		assert_int_equal(lb_compiled_stats(inner).calls, 2); /* the plain ones */
		lb_compiled_free(f);
		lb_compiled_free(inner);
	}
	assert_true(lb_ok());
}

enum { THREADS = 6, ROUNDS = 40 };
static atomic_int wrong;

static void *caller(void *arg)
{
	lb_compiled *f = arg;
	for (int round = 0; round < ROUNDS; round++)
		LB_SCOPE {
			int64_t n = 1 + round % 5;
			lb_tensor *x = lb_full(LB_SHAPE(n), 2, LB_F32), *y = NULL, *z = NULL;
			lb_tensor *in[2] = { x, lb_ones(LB_SHAPE(n), LB_F32) };
			bool ok = lb_call(f, 2, in, 1, &y) && elementwise(NULL, 2, in, 1, &z) &&
				  lb_item_int(lb_all(lb_equal(y, z), LB_ALL_AXES, false)) == 1;
			if (!ok)
				atomic_fetch_add(&wrong, 1);
		}
	return NULL;
}

static void threads_share_a_compiled_function(void **state)
{
	(void)state;
	/* fewer graphs than are wanted: they go while others use them */
	lb_compiled *f = lb_compile("shared", elementwise, NULL, (lb_compile_options){ .limit = 3 });
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, caller, f), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(wrong, 0);
	lb_compile_stats stats = lb_compiled_stats(f);
	assert_int_equal(stats.calls, THREADS * ROUNDS);
	assert_true(stats.hits + stats.compiles <= stats.calls);
	assert_int_equal(stats.entries, 3);
	assert_int_equal(stats.evictions, stats.compiles - 3);
	lb_compiled_free(f);
}

static bool makes_names(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	lb_tensor *h = lb_named("inner", lb_sum(in[0], LB_AXES(0), true));
	out[0] = lb_named("outer", lb_exp(h));
	return true;
}

static void results_are_ordinary_tensors(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *f = lb_compile("names", makes_names, NULL, by_default);
		lb_tensor *x = numbers(LB_SHAPE(3), LB_F32, 1), *y = call1(f, x), *z = call1(f, x);
		assert_false(lb_is_ready(y));
		assert_string_equal(lb_name(y), "outer");
		assert_ptr_not_equal(y, z);
		assert_null(lb_debug_eval(lb_id(z)));
		assert_true(lb_is_ready(z));
		const struct lb_tensor *inner = (const struct lb_tensor *)(uintptr_t)((struct lb_tensor *)y)->inputs[0];
		assert_string_equal(lb_name((lb_tensor *)inner), "inner");
		same_bits(y, lb_exp(lb_sum(x, LB_AXES(0), true)));
		lb_compiled_free(f);
		same_bits(z, y); /* it outlives the function */
	}
	assert_true(lb_ok());
}

static bool loss(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	lb_tensor *h = lb_gelu(lb_matmul(in[0], in[1]));
	out[0] = lb_mean(lb_square(lb_subtract(h, lb_tanh(in[0]))), LB_ALL_AXES, false);
	return out[0] != NULL;
}

/* A step of gradient descent: the loss, and the weight after it. */
static bool descend(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *grads[2] = { 0 };
	(void)context;
	(void)n_out;
	if (!lb_value_and_grad(loss, NULL, n_in, in, n_in, NULL, 1, out, grads))
		return false;
	out[1] = lb_subtract(in[1], lb_multiply(grads[1], lb_scalar(0.1)));
	return out[1] != NULL;
}

static bool calls_compiled(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	return lb_call(context, n_in, in, n_out, out);
}

static void gradients_go_in_and_through(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[] = { numbers(LB_SHAPE(5, 5), LB_F32, 1), numbers(LB_SHAPE(5, 5), LB_F32, 2) };
		lb_tensor *plain[2], *compiled[2], *grads[2], *through[2], *value;
		lb_compiled *f = lb_compile("descend", descend, NULL, by_default);
		for (int i = 0; i < 2; i++) {
			assert_true(descend(NULL, 2, in, 2, plain));
			if (!lb_call(f, 2, in, 2, compiled))
				fail_msg("%s", lb_error_message());
			same_bits(compiled[0], plain[0]);
			same_bits(compiled[1], plain[1]);
		}
		assert_int_equal(lb_compiled_stats(f).hits, 1);
		lb_compiled_free(f);

		f = lb_compile("loss", loss, NULL, by_default);
		assert_true(lb_value_and_grad(loss, NULL, 2, in, 2, NULL, 1, &value, grads));
		if (!lb_value_and_grad(calls_compiled, f, 2, in, 2, NULL, 1, &value, through))
			fail_msg("%s", lb_error_message());
		same_bits(grads[0], through[0]);
		same_bits(grads[1], through[1]);
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

/* What one sees of an evaluation, and how many there were. */
static void no_evaluation_is_numbered_but_those_that_count(void **state)
{
	(void)state;
	uint64_t before = lb_root->last_eval - lb_counters.evals;
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", elementwise, NULL, by_default);
		for (int64_t n = 3; n < 6; n++) {
			lb_tensor *x = numbers(LB_SHAPE(n), LB_F32, 1);
			assert_true(lb_eval(call2(f, x, x)));
		}
		assert_int_equal(lb_compiled_stats(f).compiles, 3);
		lb_compiled_free(f);
	}
	assert_int_equal(lb_root->last_eval - lb_counters.evals, before);
}

static void whoever_looks_for_nan_sees_each_operation(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", elementwise, NULL, by_default);
		lb_tensor *x = numbers(LB_SHAPE(3), LB_F32, 1);
		lb_root->watch_all = LB_WATCH_NAN;
		lb_tensor *y = call2(f, x, x);
		lb_root->watch_all = 0;
		assert_int_equal(((const struct lb_tensor *)y)->op, LB_OP_REMAINDER);
		lb_tensor *z = call2(f, x, x);
		assert_int_equal(((const struct lb_tensor *)z)->op, LB_OP_FUSED);
		same_bits(y, z);
		assert_int_equal(lb_compiled_stats(f).calls, 1);
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, clean)
		TEST(every_dtype_has_the_bits_of_plain_operations),
		TEST(complex_numbers_too),
		TEST(a_graph_with_views_and_products),
		TEST(groups_that_are_too_large_are_cut),
		TEST(results_may_be_inputs_constants_or_the_same),
		TEST(what_it_closes_over_is_held),
		TEST(each_recompilation_says_why),
		TEST(a_graph_belongs_to_its_stream),
		TEST(the_numbers_of_inputs_and_outputs_count),
		TEST(the_oldest_graph_goes_when_there_are_too_many),
		TEST(a_shapeless_graph_serves_all_sizes),
		TEST(shapeless_elementwise_broadcasts_anew),
		TEST(shapeless_refuses_what_has_sizes),
		TEST(evaluating_inside_is_an_error),
		TEST(results_must_be_made_by_the_function),
		TEST(an_escaped_tracer_says_where_it_came_from),
		TEST(what_depends_on_no_input_may_be_evaluated),
		TEST(a_compiled_function_inside_another_is_inlined),
		TEST(threads_share_a_compiled_function),
		TEST(results_are_ordinary_tensors),
		TEST(gradients_go_in_and_through),
		TEST(no_evaluation_is_numbered_but_those_that_count),
		TEST(whoever_looks_for_nan_sees_each_operation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
