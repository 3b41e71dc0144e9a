/* What gdb is to check at ggml's nodes. */
#include "plugin/ggml/conditions.c"
#include "plugin/stops/call_words.c"
#include "plugin/bridge/text.c"
#include "plugin/stops/catch_forms.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct lbx_catch_kind before = { .name = "before", .node = LBX_BEFORE_NODE };
static const struct lbx_catch_kind after = { .name = "after", .node = LBX_AFTER_NODE };
static const struct lbx_catch_kind nan_kind = { .name = "nan", .node = LBX_AFTER_NODE, .looks = true };
static struct lbx_ggml_anchor anchor;
static const struct lbx_ggml_callback callback = { .machine = EM_X86_64,
						   .slot = 0x3f0,
						   .data = 0x3f8,
						   .code = { 0x1000, 0x1005 },
						   .layout = { .name = 0x100, .name_max = 64 } };

static void is_condition(struct lbx_catch c, const char *expected)
{
	struct text found = { 0 };

	lbx_slot_condition(&c, &callback, &anchor, &found);
	assert_false(found.failed);
	assert_string_equal(found.bytes, expected);
	text_free(&found);
}

static int set_up(void **state)
{
	static const char *const ops[] = { "NONE", "ADD", "MUL_MAT", "VIEW" };

	(void)state;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		strcpy(anchor.ops[i], ops[i]);
	anchor.n_ops = sizeof ops / sizeof *ops;
	return 0;
}

static void a_name_is_compared_in_memory(void **state)
{
	(void)state;
	is_condition((struct lbx_catch){ .kind = &before },
		     "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi != 0");
	is_condition((struct lbx_catch){ .kind = &after },
		     "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0");
	is_condition(
	    (struct lbx_catch){ .kind = &after, .name = "ab" },
	    "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0 && {unsigned short}(($rdi + 0x100) + 0x0) == 0x6261 && "
	    "{unsigned char}(($rdi + 0x100) + 0x2) == 0x0");
	is_condition(
	    (struct lbx_catch){ .kind = &after, .name = "Qcur-12" },
	    "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0 && {unsigned long}(($rdi + 0x100) + 0x0) == "
	    "0x32312d72756351");
	/* longer than any name there */
	is_condition((struct lbx_catch){ .kind = &after,
					 .name = "0123456789012345678901234567890123456789012345678901234567890123" },
		     "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0 && 0");
}

static void a_glob_is_compared_as_far_as_it_goes(void **state)
{
	(void)state;
	is_condition(
	    (struct lbx_catch){ .kind = &after, .name = "ab*", .is_glob = true },
	    "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0 && {unsigned short}(($rdi + 0x100) + 0x0) == 0x6261");
	is_condition((struct lbx_catch){ .kind = &after, .name = "*ab", .is_glob = true },
		     "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0");
	is_condition(
	    (struct lbx_catch){ .kind = &after, .name = "a\\[0]*", .is_glob = true },
	    "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0 && {unsigned char}(($rdi + 0x100) + 0x0) == 0x61");
	is_condition((struct lbx_catch){ .kind = &after, .name = "[ab]*", .is_glob = true },
		     "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0");
}

static void records_operations_and_values(void **state)
{
	(void)state;
	is_condition(
	    (struct lbx_catch){ .kind = &after, .record = 0x5000, .op = "MUL_MAT" },
	    "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0 && $rdi == 0x5000 && {unsigned int}($rdi + 0x50) == 0x2");
	/* a view gives no value of its own */
	is_condition(
	    (struct lbx_catch){ .kind = &nan_kind },
	    "(unsigned long)$rdx - 0x1001 < 0x40 && (unsigned char)$rsi == 0 && {unsigned int}($rdi + 0x50) != 0x0 && {unsigned "
	    "int}($rdi + 0x50) != 0x3");
}

static void a_node_may_be_in_a_variable(void **state)
{
	const struct lbx_catch c = { .kind = &before, .name = "w", .op = "ADD" };
	struct text found = { 0 };

	(void)state;
	lbx_node_condition(&c, "$_lb_d7", &callback, &anchor, &found);
	assert_string_equal(found.bytes,
			    " && {unsigned int}($_lb_d7 + 0x50) == 0x1 && {unsigned short}(($_lb_d7 + 0x100) + "
			    "0x0) == 0x77");
	text_free(&found);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_compared_in_memory),
		cmocka_unit_test(a_glob_is_compared_as_far_as_it_goes),
		cmocka_unit_test(records_operations_and_values),
		cmocka_unit_test(a_node_may_be_in_a_variable),
	};
	return cmocka_run_group_tests_name("node_conditions", tests, set_up, NULL);
}
