/* Quantised tensors of this very process, seen from outside: their parts, formats and values. */
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
#include "lazybones.h"
#include "self.h"

__attribute__((format(printf, 1, 2))) static const char *quant(const char *format, ...)
{
	char line[256];
	va_list args;

	assert_true(lb_ok());
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	return session_says(self, "quant", line);
}

static unsigned long long id(const lb_tensor *x)
{
	return lb_id(x);
}

static void holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static lb_tensor *weights(int64_t rows, int64_t columns)
{
	return lb_random_normal(LB_SHAPE(rows, columns), LB_F32, lb_key(5));
}

static void parts_are_found(void **state)
{
	(void)state;
	LB_SCOPE {
		static const lb_quant how = { .mode = LB_QUANT_AFFINE, .bits = 8, .group = 32 };
		lb_quantized q = lb_quantize(weights(6, 128), how, NULL);
		const char *text = quant("#%llu", id(q.w));
		holds(text, ": affine, 8 bits, groups of 32; found by the lb_quantize() that made it\n");
		holds(text, "  values     (6, 128), in 960 B: 10 bits each\n");
		assert_true(lb_eval(q.w, q.scales, q.biases));
		lb_tensor *w =
		    lb_named("wq.weight", lb_from_data(lb_data(q.w), (size_t)lb_nbytes(q.w), LB_SHAPE(6, 32), LB_U32));
		lb_tensor *s = lb_named("wq.scales", lb_from_data(lb_data(q.scales), (size_t)lb_nbytes(q.scales),
								  LB_SHAPE(6, 4), LB_F32));
		lb_tensor *b = lb_named("wq.biases", lb_from_data(lb_data(q.biases), (size_t)lb_nbytes(q.biases),
								  LB_SHAPE(6, 4), LB_F32));
		/* by name the format is a guess, which may be told */
		text = quant("wq.weight");
		holds(text, ": affine, 4 bits, groups of 64; found by name; format guessed from the shapes\n");
		holds(quant("wq.weight --bits 8"), ": affine, 8 bits, groups of 32; found by name");
		holds(quant("#%llu --scales wq.scales --biases wq.biases --bits 8 --group 32", id(q.w)),
		      "  values     (6, 128)");
		lb_tensor *y =
		    lb_quantized_matmul(weights(2, 128), (lb_quantized){ .w = w, .scales = s, .biases = b }, how, true);
		text = quant("wq.weight");
		holds(text, ": affine, 8 bits, groups of 32; found as input of #");
		holds(text, " quantized_matmul\n  scales     wq.scales (");
		assert_true(lb_eval(y));
		holds(quant("wq.weight"), " quantized_matmul\n");
	}
}

/* The values of every mode are what the runtime's own dequantisation gives, to the bit. */
static void values_are_the_runtimes(void **state)
{
	static const lb_quant modes[] = {
		{ .mode = LB_QUANT_AFFINE, .bits = 2, .group = 128 },
		{ .mode = LB_QUANT_AFFINE, .bits = 3, .group = 64 },
		{ .mode = LB_QUANT_AFFINE, .bits = 4, .group = 64 },
		{ .mode = LB_QUANT_AFFINE, .bits = 5, .group = 32 },
		{ .mode = LB_QUANT_AFFINE, .bits = 6, .group = 64 },
		{ .mode = LB_QUANT_AFFINE, .bits = 8, .group = 32 },
		{ .mode = LB_QUANT_MXFP4, .bits = 4, .group = 32 },
		{ .mode = LB_QUANT_MXFP8, .bits = 8, .group = 32 },
		{ .mode = LB_QUANT_NVFP4, .bits = 4, .group = 16 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		LB_SCOPE {
			lb_tensor *global = modes[i].mode == LB_QUANT_NVFP4 ? lb_full(LB_SHAPE(), 2, LB_F32) : NULL;
			lb_quantized q = lb_quantize(weights(3, 128), modes[i], global);
			lb_tensor *x = lb_dequantize(q, modes[i], LB_F32);
			assert_true(lb_eval(x, q.w, q.scales));
			const float *values = lb_data(x);
			json_t *o = json_loads(quant("#%llu[1:,::5] --full --json", id(q.w)), 0, NULL), *row;
			assert_non_null(o);
			assert_int_equal(json_array_size(json_object_get(o, "values")), 2);
			size_t k;
			json_t *value;
			row = json_array_get(json_object_get(o, "values"), 1);
			assert_int_equal(json_array_size(row), 26);
			json_array_foreach(row, k, value)
			    assert_float_equal(json_number_value(value), values[2 * 128 + 5 * k], 0);
			json_decref(o);
			holds(quant("#%llu --values", id(q.w)), "dequantised from ");
		}
}

static void what_does_not_fit_is_named(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *w = lb_named("codes", lb_zeros(LB_SHAPE(6, 16), LB_U32));
		lb_tensor *s = lb_named("small", lb_ones(LB_SHAPE(6, 1), LB_F16));
		lb_tensor *fit = lb_named("fit", lb_ones(LB_SHAPE(6, 2), LB_F16));
		assert_true(lb_eval(w, s, fit));
		const char *text = quant("codes");
		holds(text, "no scales: affine needs them, of shape (6, 2); say which by --scales");
		holds(text, "no biases: affine needs them, of shape (6, 2)");
		text = quant("codes --scales small --bits 4 --group 64 --biases fit");
		holds(text, "the scales small (#");
		holds(text, "have shape (6, 1); (6, 2) would be right: a scale is for 64 of the 128 values of a row");
		holds(quant("codes --scales small --bits 4 --group 64 --values"), "no values: the scales small (#");
		holds(quant("codes --scales fit --mode mxfp4"), "mxfp4 has uint8");
		holds(quant("codes --scales fit --biases fit --mode mxfp4"), "mxfp4 has no biases");
		holds(quant("fit --bits 4"), "packed words are uint32, not float16");
		holds(quant("codes --mode mxfp4 --bits 8"), "mxfp4 has codes of 4 bits in groups of 32, not 8 in 32");
		holds(quant("codes --bits 7"), "affine has 2, 3, 4, 5, 6 or 8");
		holds(quant("codes --mode int4"), "no mode 'int4': there are affine, mxfp4, mxfp8 and nvfp4");
		holds(quant("codes --bits 5 --group 128"), "is not a whole number of groups of 128 codes of 5 bits");
		json_t *o = json_loads(quant("codes --json"), 0, NULL);
		assert_int_equal(json_array_size(json_object_get(o, "problems")), 2);
		assert_true(json_is_null(json_object_get(o, "scale_values")));
		json_decref(o);
	}
}

static void scales_are_looked_at(void **state)
{
	(void)state;
	LB_SCOPE {
		float scales[8] = { 1, -2, 0, 1, 1000, NAN, 1, INFINITY };
		lb_tensor *w = lb_named("words", lb_zeros(LB_SHAPE(2, 32), LB_U32));
		lb_tensor *s = lb_named("words.scales", lb_from_data(scales, sizeof scales, LB_SHAPE(2, 4), LB_F32));
		lb_tensor *b = lb_named("words.biases", lb_zeros(LB_SHAPE(2, 4), LB_F32));
		assert_true(lb_eval(w, s, b));
		const char *text = quant("words");
		holds(text, "  scales     from 0 to inf, median 1, 1 zero (first at [0, 2]), 1 NaN (first at [1, 1]), "
			    "1 Inf (first at [1, 3]), 2 beyond 64 times the median (first at [1, 0])\n");
		uint8_t codes[8] = { 127, 128, 255, 127, 127, 137, 126, 127 };
		lb_tensor *fp4 = lb_named("fp4", lb_zeros(LB_SHAPE(2, 16), LB_U32));
		lb_tensor *t = lb_named("fp4.scales", lb_from_data(codes, sizeof codes, LB_SHAPE(2, 4), LB_U8));
		assert_true(lb_eval(fp4, t));
		text = quant("fp4");
		holds(text, ": mxfp4, 4 bits, groups of 32; found by name");
		holds(text, "  scales     from 0.5 to 1024, median 1, 1 NaN (first at [0, 2]), 1 beyond 64 ");
		holds(quant("fp4 --json"), "\"zero\":0,\"denormal\":0,\"nan\":1,\"inf\":0,\"outliers\":1}");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_found),
		cmocka_unit_test(values_are_the_runtimes),
		cmocka_unit_test(what_does_not_fit_is_named),
		cmocka_unit_test(scales_are_looked_at),
	};
	return cmocka_run_group_tests(tests, open_self, close_self);
}
