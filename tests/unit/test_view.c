/* Memory looked at as a tensor: what the user types, and what may go wrong with it. */
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
#include "between.h"
#include "inspect/operand/select.h"
#include "inspect/operand/view.h"
#include "says.h"

/* x is 4 x 6 x 10 quarters from 0 on, at IMAGE_DATA. */
static void it_prints_like_a_tensor(void **state)
{
	struct session *s = *state;
	char tensor[1 << 14];

	snprintf(tensor, sizeof tensor, "%s", strchr(session_says(s, "print", "x"), '\n'));
	says(s, "print", "@0x200000:f32:4,6,10", tensor);
	says(s, "view", "0x200000 f32 (4, 6, 10)", tensor);
	says(s, "view", "2097152 float32 4x6x10", tensor);
	snprintf(tensor, sizeof tensor, "%s", strchr(session_says(s, "print", "layer.0/view[0]"), '\n'));
	says(s, "view", "0x2003bc f32 10,6,4 -1,-10,-60[0]", tensor);
	for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
		const char *name = lb_dtypes[dtype].name;
		char line[64];
		snprintf(tensor, sizeof tensor, "%s", strchr(session_says(s, "print", name), '\n'));
		snprintf(line, sizeof line, "@0x201000:%s:%d", name, lb_dtypes[dtype].bytes > 4 ? 8 : 16);
		says(s, "print", line, tensor);
	}
	says(s, "view", "0x200004 f32 ()", "@0x200004: float32 ()\n0.25\n");
	says(s, "view", "0x200004 f32 0,3", "float32 (0, 3)\n[]\n");
	says(s, "view", "0x200004 f32 2,3 0,0", "[[0.25 0.25 0.25]\n [0.25 0.25 0.25]]\n");
	says(s, "print", "@0x200000:f32:4,6,10[1, 2, ::-3] --precision 2", "[22.25 21.5  20.75 20.  ]\n");
	says(s, "stats", "@0x200000:f32:240", "  max         59.75 at [239]\n");
	says(s, "peek", "@0x200000:f32:3", "[0.   0.25 0.5 ]\n");
	says(s, "diff", "x @0x200000:f32:4,6,10", "all 240 elements are equal");
	says(s, "image", "@0x200000:f32:4,6 --json", "\"min\":0.0,\"max\":5.75,");
	says(s, "plot", "@0x200000:f32:8", "@0x200000");
	says(s, "hist", "@0x200000:f32:8 --bins 2", " 4\n");
	says(s, "view", "0x200000 f32 3 --json", "\"values\":[0.0,0.25,0.5]}");
}

static void expect(struct session *s, const char *expression, const char *type, uint64_t bits)
{
	int i = 0;

	while (s->image.expressions[i])
		i++;
	s->image.expressions[i] = expression;
	snprintf(s->image.values[i].type, sizeof s->image.values[i].type, "%s", type);
	s->image.values[i].bits = bits;
}

static void pointers_tell_their_dtype(void **state)
{
	struct session *s = *state;

	expect(s, "p", "const float *", IMAGE_DATA);
	expect(s, "&*(rows)", "float (*)[10]", IMAGE_DATA);
	expect(s, "a::b", "volatile uint8_t *", IMAGE_DATA);
	expect(s, "v", "void *", IMAGE_DATA);
	expect(s, "q", "lb_tensor *", IMAGE_TENSORS);
	says(s, "view", "p 3", "@p: float32 (3,)\n[0.   0.25 0.5 ]\n");
	says(s, "view", "p 2 3", "[0.   0.75]\n");
	says(s, "view", "p u8 8", "@p: uint8 (8,)\n[  0   0   0   0   0   0 128  62]\n");
	says(s, "view", "rows 2,2 10,1", "[[0.   0.25]\n [2.5  2.75]]\n");
	says(s, "print", "@a::b:4", "@a::b: uint8 (4,)\n");
	says(s, "print", "@a::b:f32:2,1", "@a::b: float32 (2, 1)\n");
	says(s, "view", "v 3", "v is of type void *, which tells no dtype: say which, as in v f32 3");
	says(s, "view", "0x200000 3", "0x200000 tells no dtype");
	says(s, "view", "q f32 3", "q is a tensor (lb_tensor *), not memory");
	says(s, "view", "nobody f32 3", "'nobody' is not an address");
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "0x200000 f32 3,", "(3,)\n" },
		{ "0x200000 f32 3;4", "a view's shape '3;4' is not a list of at most 64 numbers" },
		{ "0x200000 f32 -3", "a view's shape '-3' is not a list" },
		{ "0x200000 f32 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
		  "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
		  "has more than 64 numbers" },
		{ "0x200000 f32 3,4 1", "a view of 2 axes has 1 stride" },
		{ "0x200000 f99 3 1", "no dtype 'f99'" },
		{ "0x200000 zz 3", "no dtype 'zz': there are bool, u8 to u64," },
		{ "0x200000 f31 3", "no dtype 'f31'" },
		{ "0x200000 3,x 3", "a view's shape '3,x' is not a list of at most 64 numbers" },
		{ "0x200000 f32 99999999999999999999", "is not a list" },
		{ "0x99999999999999999999 f32 3", "does not fit 64 bits" },
		{ "0x200000 f32 4611686018427387904,4", "a view's shape is too large" },
		{ "0x200000 f32 3,3 9223372036854775807,1", "reach further than 64 bits" },
		{ "0x200000 f32 2 -9223372036854775808", "reach further than 64 bits" },
		{ "0xfffffffffffffffc f32 2", "reaches out of memory: 8 bytes, from 0 before it on" },
		{ "0x10 f32 9 -1", "reaches out of memory: 36 bytes, from 32 before it on" },
		{ "0x666000 f32 3", "0x666000" },
		{ "0x23fffc f32 3", "0x23fffc" },
		{ "0x200000 f32 3[5]", "out of range" },
		{ "0x200000 f32 3 --first x --stats", "--first takes a whole number" },
	};
	struct session *s = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		says(s, "view", cases[i].line, cases[i].says);
	says(s, "print", "@0x200000", "written as @ADDRESS:DTYPE:SHAPE");
	says(s, "print", "@:f32:3", "a view needs an address");
	says(s, "print", "@0x200000:f32", "@0x200000: float32 ()\n0.0\n");
	says(s, "info", "@0x200000:f32:3", "is memory; a tensor is needed");
	says(s, "graph", "@0x200000:f32:3", "is memory; a tensor is needed");
	says(s, "origin", "@0x200000:f32:3", "is memory; a tensor is needed");
	lbx_context_close(&s->context);
	s->context.target = NULL;
	says(s, "view", "0x200000 f32 3", "no program");
}

static uint64_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* Any layout gives the elements that its arithmetic says. */
static void layouts_at_random(void **state)
{
	struct session *s = *state;
	uint64_t random = 7;

	for (int round = 0; round < 2000; round++) {
		int64_t shape[3], strides[3], at[3], low = 0, high = 0;
		for (int i = 0; i < 3; i++) {
			shape[i] = 1 + (int64_t)(next(&random) % 4);
			strides[i] = (int64_t)(next(&random) % 15) - 7;
			*(strides[i] < 0 ? &low : &high) += (shape[i] - 1) * strides[i];
		}
		int64_t first = -low + (int64_t)(next(&random) % (uint64_t)(240 - (high - low)));
		char address[32], size[64], steps[64];
		snprintf(address, sizeof address, "0x%llx", (unsigned long long)(IMAGE_DATA + 4 * first));
		snprintf(size, sizeof size, "%d,%d,%d", (int)shape[0], (int)shape[1], (int)shape[2]);
		snprintf(steps, sizeof steps, "%d,%d,%d", (int)strides[0], (int)strides[1], (int)strides[2]);
		struct lbx_view view = { address, "f32", size, steps, false };
		struct lbx_tensor t;
		struct lbx_array array;
		assert_true(lbx_view_make(&s->context, &view, &t));
		assert_int_equal(t.buffer_bytes, 4 * (high - low + 1));
		assert_true(lbx_array_of_tensor(s->context.target, &t, &array));
		for (int64_t i = 0; i < array.size; i++) {
			float value;
			lbx_array_coordinates(&array, i, at);
			assert_true(lbx_array_get(&array, at, &value));
			int64_t expected = first + at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
			assert_float_equal(value, (double)expected / 4, 0);
		}
	}
}

/* Whatever is typed is a view or an error that says why. */
static void words_at_random(void **state)
{
	static const char *const pieces[] = {
		"@",   ":",     "f32", "u8",     "0x200000",
		"3,4", "(2,3)", "[0]", "[::-1]", ",",
		"-1",  "x",     "::",  "p",      "9223372036854775807",
		" ",   "[",     "]",   "()",     "#1",
	};
	struct session *s = *state;
	uint64_t random = 11;
	int views = 0;

	for (int round = 0; round < 20000; round++) {
		char text[256] = "@";
		if (round % 2)
			strcat(text, "0x200000:");
		struct lbx_selection selection;
		for (uint64_t n = 1 + next(&random) % 7; n > 0; n--)
			strcat(text, pieces[next(&random) % (sizeof pieces / sizeof *pieces)]);
		bool done = lbx_select_values(&s->context, text, &selection);
		if (!done && lb_ok())
			fail_msg("'%s' fails without saying why", text);
		views += done;
		lb_clear_error();
	}
	assert_between(views, 10, 19999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_prints_like_a_tensor, session_start, session_stop),
		cmocka_unit_test_setup_teardown(pointers_tell_their_dtype, session_start, session_stop),
		cmocka_unit_test_setup_teardown(mistakes_are_named, session_start, session_stop),
		cmocka_unit_test_setup_teardown(layouts_at_random, session_start, session_stop),
		cmocka_unit_test_setup_teardown(words_at_random, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
