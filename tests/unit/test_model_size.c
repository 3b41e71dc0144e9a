/* The size of a model, by names, dtypes and estimates: tensors of this very process. */
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

static const char *model(const char *line)
{
	assert_true(lb_ok());
	return session_says(self, "model", line);
}

static void holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static lb_tensor *parameter(const char *name, lb_tensor *x)
{
	lb_tensor *named = lb_named(name, x);

	assert_true(lb_eval(named));
	return named;
}

static void make_layers(int n)
{
	char name[64];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "layers.%d.attention.wq", i);
		parameter(name, lb_ones(LB_SHAPE(64, 128), LB_F16));
		snprintf(name, sizeof name, "layers.%d.attention.wo", i);
		parameter(name, lb_ones(LB_SHAPE(128, 64), LB_F16));
		snprintf(name, sizeof name, "layers.%d.norm", i);
		parameter(name, lb_ones(LB_SHAPE(128), LB_F32));
	}
}

static void names_make_a_tree(void **state)
{
	(void)state;
	LB_SCOPE {
		make_layers(3);
		lb_tensor *e = parameter("embedding", lb_ones(LB_SHAPE(100, 128), LB_F16));
		parameter("head", lb_transpose(e, LB_ALL_AXES)); /* tied */
		const char *text = model("");
		holds(text, "62336 parameters in 10 tensors, 122 KiB: ");
		holds(text, "not counted again: 1 tied to these, or views of them\n");
		holds(text, "      25 KiB  20%       12800  embedding\n");
		holds(text, "      98 KiB  80%       49536  layers.0…2  9 tensors\n"
			    "      96 KiB  78%       49152    attention  6 tensors\n"
			    "     1.5 KiB   1%         384    norm  3 tensors\n");
		holds(text, "     121 KiB  99%       61952  float16  7 tensors\n");
		holds(model("layers.1.* --depth 3"),
		      "layers.1  3 tensors\n      32 KiB  98%       16384    attention  2 tensors\n"
		      "      16 KiB  49%        8192      wo\n");
		assert_string_equal(model("nobody*"), "no ready tensor's name matches nobody*");
	}
}

/* A view takes no memory of its own, however often it repeats what it is of. */
static void repeats_count_once(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *row = lb_ones(LB_SHAPE(128), LB_F32), *one = lb_ones(LB_SHAPE(), LB_F32);
		lb_tensor *listed = parameter("r.listed", lb_ones(LB_SHAPE(64), LB_F16));
		assert_true(lb_eval(row, one));
		parameter("r.rows", lb_broadcast_to(row, LB_SHAPE(1000, 128)));
		parameter("r.all", lb_broadcast_to(one, LB_SHAPE(1000000, 1000000)));
		parameter("r.windows",
			  lb_as_strided(lb_ones(LB_SHAPE(100), LB_F32), LB_SHAPE(51, 50), LB_SHAPE(1, 1), 0));
		parameter("r.again", lb_broadcast_to(listed, LB_SHAPE(100, 64)));
		const char *text = model("r.*");
		holds(text, "293 parameters in 4 tensors, 1.0 KiB: ");
		holds(text, "not counted again: 1 tied to these, or views of them\n");
		holds(text, "       916 B  88%         229  float32  3 tensors\n");
		holds(text, "       586 B  56%  4-bit affine, groups of 64\n");
	}
}

/* Bytes are those that the runtime's own quantisation takes. */
static void estimates_are_exact(void **state)
{
	static const struct {
		const char *name;
		lb_quant how;
	} formats[] = {
		{ "8-bit affine", { .mode = LB_QUANT_AFFINE, .bits = 8, .group = 64 } },
		{ "4-bit affine", { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 64 } },
		{ "mxfp8", { .mode = LB_QUANT_MXFP8, .bits = 8, .group = 32 } },
		{ "mxfp4", { .mode = LB_QUANT_MXFP4, .bits = 4, .group = 32 } },
		{ "nvfp4", { .mode = LB_QUANT_NVFP4, .bits = 4, .group = 16 } },
	};
	(void)state;
	LB_SCOPE {
		lb_tensor *w = parameter("w", lb_ones(LB_SHAPE(48, 192), LB_BF16));
		parameter("odd", lb_ones(LB_SHAPE(5, 7), LB_F32));
		json_t *o = json_loads(model("--json"), 0, NULL), *estimates = json_object_get(o, "estimates");
		assert_int_equal(json_integer_value(json_object_get(o, "parameters")), 48 * 192 + 35);
		assert_int_equal(json_integer_value(json_object_get(estimates, "float32")), (48 * 192 + 35) * 4);
		assert_int_equal(json_integer_value(json_object_get(estimates, "bfloat16")), (48 * 192 + 35) * 2);
		for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
			lb_quantized q = lb_quantize(w, formats[i].how, NULL);
			int64_t bytes = lb_nbytes(q.w) + lb_nbytes(q.scales) + (q.biases ? lb_nbytes(q.biases) : 0);
			assert_int_equal(json_integer_value(json_object_get(estimates, formats[i].name)),
					 bytes + 35 * 2);
		}
		json_decref(o);
	}
}

static void packed_words_count_as_what_they_hold(void **state)
{
	(void)state;
	LB_SCOPE {
		static const lb_quant how = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 64 };
		lb_quantized q = lb_quantize(lb_ones(LB_SHAPE(32, 256), LB_F16), how, NULL);
		lb_named("m.0.codes", q.w);
		lb_named("m.0.scales", q.scales);
		lb_named("m.0.biases", q.biases);
		assert_true(lb_eval(q.w, q.scales, q.biases));
		const char *text = model("m.*");
		holds(text, "8192 parameters in 3 tensors, 4.5 KiB");
		holds(text, "     4.0 KiB  89%        8192  affine, 4 bits\n");
		holds(text, "       512 B  11%           0  float16 (scales, biases)  2 tensors\n");
		holds(text, "     4.5 KiB 100%  4-bit affine, groups of 64\n");
		holds(text, "      16 KiB 356%  float16\n");
	}
}

static void nothing_has_a_name(void **state)
{
	struct session *s = *state;

	for (int slot = 0; slot < 4 + LB_DTYPES; slot++)
		image_set(&s->image, LB_KIND_TENSOR, slot, "name", 0);
	assert_string_equal(session_says(s, "model", ""), "no ready tensor has a name: lb_named() gives one");
	assert_string_equal(session_says(s, "model", "--depth 0"), "model: --depth must be from 1 to 32, not 0");
}

static void many_names_take_no_time(void **state)
{
	(void)state;
	LB_SCOPE {
		char name[64];
		for (int i = 0; i < 20000; i++) {
			snprintf(name, sizeof name, i % 3 ? "a-%d.b" : i % 2 ? "a.%d" : "a.%d.c.d", i);
			lb_named(name, lb_from_data(&i, 4, LB_SHAPE(), LB_I32));
		}
		const char *text = model("");
		holds(text, "20000 parameters in 20000 tensors, 78 KiB: ");
		holds(text, "       6667  a.0…19998  6667 tensors\n");
	}
}

/* Where the program keeps tensors itself, activations and inputs are none of its parameters. */
static void activations_are_no_parameters(void **state)
{
	lb_tensor *w = NULL, *b = NULL;

	(void)state;
	LB_SCOPE {
		w = lb_keep(parameter("layer.w", lb_ones(LB_SHAPE(8, 4), LB_F32)));
		b = lb_keep(parameter("layer.b", lb_ones(LB_SHAPE(4), LB_F32)));
	}
	LB_SCOPE {
		lb_tensor *x = parameter("input", lb_ones(LB_SHAPE(2, 8), LB_F32));
		lb_tensor *y = parameter("activation", lb_matmul(x, w));
		lb_named("loss", lb_sum(lb_add(y, b), LB_ALL_AXES, false)); /* holds y, and is lazy */
		const char *text = model("");
		holds(text, "36 parameters in 2 tensors, 144 B: ");
		holds(text, "not counted: 2 that the program does not keep, as activations and inputs\n");
		holds(model("--json"), "\"others\":2");
		holds(model("inp*"), "16 parameters in 1 tensor"); /* of which nothing is kept */
	}
	lb_release(w);
	lb_release(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_make_a_tree),
		cmocka_unit_test(activations_are_no_parameters),
		cmocka_unit_test(repeats_count_once),
		cmocka_unit_test(estimates_are_exact),
		cmocka_unit_test(packed_words_count_as_what_they_hold),
		cmocka_unit_test_setup_teardown(nothing_has_a_name, session_start, session_stop),
		cmocka_unit_test(many_names_take_no_time),
	};
	return cmocka_run_group_tests(tests, open_self, close_self);
}
