/* What gdb writes into the slot of a scheduler, without a gdb. */
#include "plugin/bridge/text.c"
#include "plugin/ggml/conditions.c"
#include "plugin/stops/call_words.c"
#include "plugin/ggml/kept.c"
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
static char script[16384]; /* with a line for each breakpoint */
static const char *seen;

const struct lbx_ggml_callback *lbx_found_callback(void)
{
	return &callback;
}

void lbx_breakpoint_add_code(int key, const char *whose, uint64_t at, const char *words, const char *first,
			     const char *second, const char *condition)
{
	size_t n = strlen(script);

	(void)first;
	(void)second;
	(void)words;
	assert_string_equal(whose, LBX_GGML);
	snprintf(script + n, sizeof script - n, "break *0x%" PRIx64 " if %s\n", at, condition);
	if (key != LBX_KEY_ENTRY)
		return;
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

bool lbx_breakpoint_is_enabled(int key)
{
	(void)key;
	return true;
}

int lbx_breakpoint_number(int key)
{
	(void)key;
	return 1;
}

void lbx_breakpoint_enable(int key, bool is_on)
{
	(void)key;
	(void)is_on;
}

void lbx_bridge_script(const char *format, ...)
{
	size_t n = strlen(script);
	va_list args;

	va_start(args, format);
	vsnprintf(script + n, sizeof script - n, format, args);
	va_end(args);
	strcat(script, "\n");
}

bool lbx_bridge_ask(const char **ret, enum lbx_bridge_where where, const char *format, ...)
{
	(void)where;
	assert_string_equal(format, "output $_lb_own");
	*ret = seen;
	return seen;
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
	is_armed = own.is_armed = false;
	script[0] = '\0';
	lbx_slots_arm();
}

static void a_callback_of_the_program_s_is_kept(void **state)
{
	(void)state;
	arm_on(EM_X86_64);
	assert_non_null(strstr(
	    entry, ") ? 0 : {unsigned long}($rdi + 0x3f0) != 0 && $_lb_own == 0 ? 1 : ($_lb_i = $rdi / 0x40 % 0x20, "));
	assert_non_null(strstr(entry, "$_lb_c[$_lb_i] = {unsigned long}($rdi + 0x3f0), "));
	assert_string_equal(why_left_alone(0x3000), "there are too many");
}

/* Bytes of this process, at their own addresses. */
static bool read_own(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	memcpy(to, (const void *)(uintptr_t)address, n);
	return true;
}

/* What calls it is there before the slot is written; where an interruption came between, that is done once more. */
static void it_is_called_before_the_slot_is_written(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_own };
	struct lbx_target target = { .ops = &ops };
	struct lbx_context context = { .target = &target };
	uint64_t scheduler[0x400 / 8] = { [0x3f0 / 8] = 0x3000 };
	char writes[64];

	(void)state;
	arm_on(EM_X86_64);
	snprintf(writes, sizeof writes, "set $_lb_left = ($_lb_uses = 1, {unsigned long}(0x%" PRIx64,
		 (uint64_t)(uintptr_t)scheduler);
	for (int i = 0; i < 2; i++) {
		script[0] = '\0';
		seen = NULL;
		assert_false(lbx_slots_meet(&context, (uintptr_t)scheduler));
		assert_string_equal(script, "");
		seen = "0";
		assert_true(lbx_slots_meet(&context, (uintptr_t)scheduler));
		const char *calls = strstr(script, "break *0x1005 if "), *is_set = strstr(script, "set $_lb_own = 1\n");
		assert_true(calls && is_set && calls < is_set && is_set < strstr(script, writes));
	}
}

/* By the scheduler: threads whose numbers are alike share nothing. */
static void what_it_said_is_kept_by_the_scheduler(void **state)
{
	(void)state;
	arm_on(EM_X86_64);
	script[0] = '\0';
	lbx_own_arm();
	lbx_own_answers_at(0x5000);
	assert_null(strstr(script, "$_thread"));
	assert_non_null(strstr(script, "$_lb_u[$_lb_i] == (unsigned long)$rsp ? "));
	const char *answer =
	    strstr(script,
		   "break *0x5000 if ($_lb_k = (unsigned long)$rsp - 0x8, 0 || ($_lb_i = 0, $_lb_p[0] == $_lb_k) || ");
	assert_non_null(answer);
	assert_non_null(strstr(answer, " || ($_lb_i = 0x1f, $_lb_p[0x1f] == $_lb_k)) ? ($_lb_u[$_lb_i] = "));
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
		cmocka_unit_test(it_is_called_before_the_slot_is_written),
		cmocka_unit_test(what_it_said_is_kept_by_the_scheduler),
		cmocka_unit_test(on_aarch64_it_is_left_alone),
	};
	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
