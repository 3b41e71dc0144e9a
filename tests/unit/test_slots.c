/* What gdb writes into the slot of a scheduler, without a gdb. */
#include "plugin/bridge/text.c"
#include "plugin/ggml/conditions.c"
#include "plugin/ggml/own.c"
#include "plugin/ggml/slots.c"
#include "plugin/stops/catch_forms.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct lbx_ggml_callback callback;
static char entry[4096]; /* its condition */

const struct lbx_ggml_callback *lbx_found_callback(void)
{
	return &callback;
}

void lbx_breakpoint_add_code(int key, const char *whose, uint64_t at, const char *words, const char *first,
			     const char *second, const char *condition)
{
	(void)first;
	(void)second;
	assert_int_equal(key, LBX_KEY_ENTRY);
	assert_string_equal(whose, LBX_GGML);
	assert_int_equal(at, 0x2000);
	assert_string_equal(words, "scheduler");
	snprintf(entry, sizeof entry, "%s", condition);
}

void lbx_breakpoint_delete(int key)
{
	(void)key;
}

bool lbx_breakpoint_exists(int key)
{
	(void)key;
	return false;
}

void lbx_breakpoint_set_condition(int key, const char *condition)
{
	(void)key;
	(void)condition;
}

void lbx_bridge_script(const char *format, ...)
{
	(void)format;
}

bool lbx_bridge_ask(const char **ret, enum lbx_bridge_where where, const char *format, ...)
{
	(void)ret;
	(void)where;
	(void)format;
	return false;
}

bool lbx_bridge_waits(void)
{
	return false;
}

bool lbx_graph_call(struct lbx_context *context, const struct lbx_ggml_callback *c, bool *ret, uint64_t *ret_end)
{
	(void)context;
	(void)c;
	(void)ret;
	(void)ret_end;
	return false;
}

static void arm_on(unsigned machine)
{
	callback = (struct lbx_ggml_callback){ .machine = machine,
					       .slot = 0x3f0,
					       .data = 0x3f8,
					       .code = { 0x1000, 0x1005 },
					       .entries = { 0x2000 },
					       .n_entries = 1 };
	is_armed = false;
	lbx_slots_arm();
}

static void a_callback_of_the_program_s_is_kept(void **state)
{
	(void)state;
	arm_on(EM_X86_64);
	assert_non_null(strstr(entry, ") ? 0 : ($_lb_i = $rdi / 0x40 % 0x20, "));
	assert_non_null(strstr(entry, "$_lb_c[$_lb_i] = {unsigned long}($rdi + 0x3f0), "));
	assert_string_equal(why_left_alone(0x3000), "there are too many");
}

/* There the node's register is overwritten before the program's callback could be called: the slot is not written. */
static void on_aarch64_it_is_left_alone(void **state)
{
	(void)state;
	arm_on(EM_AARCH64);
	assert_non_null(strstr(entry, ") ? 0 : {unsigned long}($x0 + 0x3f0) != 0 ? $_lb_t[$x0 / 0x40 % 0x20] != $x0 : "
				      "($_lb_i = $x0 / 0x40 % 0x20, "));
	assert_string_equal(why_left_alone(0x3000),
			    "it has a callback of the program's own, which gdb cannot call on this processor");
	assert_string_equal(why_left_alone(0), "there are too many");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_callback_of_the_program_s_is_kept),
		cmocka_unit_test(on_aarch64_it_is_left_alone),
	};
	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
