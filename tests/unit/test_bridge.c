/* The questions of the plugin's bridge, without a gdb. */
#include "plugin/bridge/questions.c"
#include "plugin/bridge/files.c"
#define make_room make_room_for_text /* each file has its own */
#include "plugin/bridge/text.c"
#undef make_room

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Beyond the limit questions get no answer, which is said; those before it keep theirs. */
static void answers_stay_at_the_limit(void **state)
{
	const char *answer;
	char mark[32];

	(void)state;
	for (int i = 0; i < MAX_QUESTIONS; i++) {
		assert_false(lbx_bridge_ask(&answer, LBX_WITHOUT_FRAME, "echo %d", i));
		snprintf(mark, sizeof mark, "%d\n", i);
		take_answer(mark, mark, strlen(mark));
	}
	assert_false(lbx_bridge_lacks());
	assert_false(lbx_bridge_ask(&answer, LBX_WITHOUT_FRAME, "echo one more"));
	assert_true(lbx_bridge_lacks());
	for (int i = 0; i < MAX_QUESTIONS; i += 1000) {
		assert_true(lbx_bridge_ask(&answer, LBX_WITHOUT_FRAME, "echo %d", i));
		assert_int_equal(atoi(answer), i);
	}
	lbx_questions_begin();
	lbx_questions_run(false);
	assert_false(lbx_bridge_ask(&answer, LBX_WITHOUT_FRAME, "echo 0"));
	assert_false(lbx_bridge_lacks());
	lbx_questions_begin();
}

/* What gdb says by the way, between what it was asked. */
static void chatter_is_no_answer(void **state)
{
	static const char lost[] = "warning: location number not found for breakpoint 1 address 0x7ffff791bab0.\n";
	char text[512];

	(void)state;
	snprintf(text, sizeof text, "%sfirst\n%s%ssecond\nthird %s", lost, lost, lost, lost);
	text_strip_chatter(text);
	snprintf(text + 256, 256, "first\nsecond\nthird %s", lost); /* within a line it is the program's */
	assert_string_equal(text, text + 256);
	strcpy(text, "warning: of the program\nwarning: location number not found");
	text_strip_chatter(text);
	assert_string_equal(text, "warning: of the program\nwarning: location number not found");
	/* gdb 18 under MI; `output` ends no line */
	strcpy(text, "=cmd-param-changed,param=\"may-call-functions\",value=\"off\"\n"
		     "1=cmd-param-changed,param=\"may-call-functions\",value=\"on\"\n\nnext");
	text_strip_chatter(text);
	assert_string_equal(text, "1\nnext");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_stay_at_the_limit),
		cmocka_unit_test(chatter_is_no_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
