/* A tensor as JSON: what is written is read again, and is what the tensor says, whatever its name holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/tensor/json.h"

static const struct lbx_tensor seen = {
	.address = 0x7fffffffffff0000,
	.id = 9007199254740993, /* more than a double holds */
	.state = LBX_READY,
	.dtype = LB_BF16,
	.op = "view",
	.op_class = LB_CLASS_VIEW,
	.rank = 3,
	.layout_known = true,
	.axes.few = { { 2, 0, 5 }, { -40, 8, 1 } },
	.offset = 40,
	.size = 0,
	.data = 0xabcdef0,
	.buffer_bytes = 1024,
};

static json_t *reread(const struct lbx_tensor *t, const char *name)
{
	struct lbx_tensor named = *t;

	snprintf(named.name, sizeof named.name, "%s", name);
	json_t *ret = lbx_json_tensor(&named);
	assert_non_null(ret);
	return ret;
}

static void expect_name(const char *name, const char *expected)
{
	json_t *o = reread(&seen, name);

	assert_string_equal(json_string_value(json_object_get(o, "name")), expected);
	json_decref(o);
}

static void expect(const json_t *object, const char *key, const char *expected)
{
	char *text = json_dumps(json_object_get(object, key), JSON_COMPACT | JSON_ENCODE_ANY);

	if (!text || strcmp(text, expected) != 0)
		fail_msg("%s: %s, not %s", key, text ? text : "nothing", expected);
	free(text);
}

static void names(void **state)
{
	(void)state;
	expect_name("layers.0.weight", "layers.0.weight");
	expect_name("a\"b\\c", "a\"b\\c");
	expect_name("line\nbell\atab\t", "line\nbell\atab\t");
	expect_name("\xe6\xb7\xb1\xe5\xba\xa6", "\xe6\xb7\xb1\xe5\xba\xa6");
	expect_name("bad\xff\xfe", "bad??");
	json_t *o = reread(&seen, "");
	expect(o, "name", "null");
	json_decref(o);
}

static void members(void **state)
{
	json_t *o = reread(&seen, "x");

	(void)state;
	expect(o, "id", "9007199254740993");
	expect(o, "dtype", "\"bfloat16\"");
	expect(o, "shape", "[2,0,5]");
	expect(o, "strides", "[-40,8,1]");
	expect(o, "offset", "40");
	expect(o, "contiguous", "true"); /* no two elements are apart */
	expect(o, "op", "\"view\"");
	expect(o, "inputs", "[]");
	expect(o, "size", "0");
	expect(o, "nbytes", "0");
	expect(o, "data", "\"0xabcdef0\"");
	expect(o, "record", "\"0x7fffffffffff0000\"");
	expect(o, "provider", "null");
	assert_null(json_object_get(o, "torn"));
	json_decref(o);
}

static void what_is_not_known(void **state)
{
	struct lbx_tensor t = seen;

	(void)state;
	t.layout_known = false;
	t.is_shapeless = true;
	t.id = 0;
	t.address = 0;
	t.state = LBX_LAZY;
	t.torn = t.is_unproven = true;
	json_t *o = reread(&t, "x");
	for (int i = 0; i < 10; i++)
		expect(o,
		       (const char *[]){ "id", "dtype", "shape", "strides", "offset", "contiguous", "layout", "size",
					 "nbytes", "data" }[i],
		       "null");
	expect(o, "record", "null");
	expect(o, "torn", "true");
	expect(o, "unproven", "true");
	json_decref(o);
}

/* Of one buffer, as lists write them. */
static void one_after_the_other(void **state)
{
	struct lbx_tensor_text text = { 0 };
	struct lbx_tensor t = seen;

	(void)state;
	t.rank = 0;
	t.size = 1;
	assert_true(lbx_tensor_text(&seen, &text));
	assert_true(lbx_tensor_text(&t, &text));
	json_t *o = json_loadb(text.bytes, text.n, 0, NULL);
	assert_non_null(o);
	expect(o, "shape", "[]");
	json_decref(o);
	free(text.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(members),
		cmocka_unit_test(what_is_not_known),
		cmocka_unit_test(one_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
