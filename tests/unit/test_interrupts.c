/* Ctrl-C while the plugin works: who asks for it ends the work; else gdb gets it. Without a gdb. */
#include "plugin/bridge/bridge.c"
#include "plugin/bridge/files.c"
#define make_room make_room_for_answers /* each file has its own */
#include "plugin/bridge/questions.c"
#undef make_room
#define make_room make_room_for_text
#include "plugin/bridge/text.c"
#undef make_room

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool asks; /* while it works */
static int got; /* by gdb */

bool lbx_front_end_shows_stops(void)
{
	return false;
}

static void note(int signal)
{
	(void)signal;
	got++;
}

static void work(const char *line)
{
	assert_string_equal(line, "print q");
	raise(SIGINT);
	assert_int_equal(got, 0);
	if (asks)
		assert_true(lbx_bridge_interrupted());
}

static int serve(bool asking)
{
	asks = asking;
	got = 0;
	assert_true(lbx_file_write(LBX_RESPONSE_FD, LBX_SILENCE, sizeof LBX_SILENCE - 1));
	assert_true(lbx_file_write(LBX_REQUEST_FD, "print q", 7));
	lbx_bridge_serve(NULL);
	return got;
}

static void gdb_gets_what_nobody_has_asked_for(void **state)
{
	(void)state;
	signal(SIGINT, note);
	assert_true(lbx_bridge_open(work));
	assert_int_equal(serve(true), 0);
	assert_int_equal(serve(false), 1);
	assert_int_equal(serve(true), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(gdb_gets_what_nobody_has_asked_for) };

	return cmocka_run_group_tests_name("interrupts", tests, NULL, NULL);
}
