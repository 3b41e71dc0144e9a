/* The register of the plugin's breakpoints, without a gdb. */
#include "plugin/stops/breakpoints.c"
#include "plugin/stops/hits.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *shown; /* by `info breakpoints`; NULL: not yet */
static const char *program; /* by `info program` */
static char script[4096];

bool lbx_bridge_ask(const char **ret, enum lbx_bridge_where where, const char *format, ...)
{
	assert_int_equal(where, LBX_WITHOUT_FRAME);
	*ret = strcmp(format, "info program") == 0 ? program : shown;
	return *ret;
}

bool lbx_bridge_waits(void)
{
	return !shown;
}

void lbx_bridge_script(const char *format, ...)
{
	size_t n = strlen(script);
	va_list args;

	va_start(args, format);
	vsnprintf(script + n, sizeof script - n, format, args);
	va_end(args);
}

bool lbx_front_end_speaks_mi(void)
{
	return false;
}

static int forget_all(void **state)
{
	(void)state;
	memset(&breakpoints, 0, sizeof breakpoints);
	lbx_hits_begin();
	lbx_hits_settle();
	script[0] = '\0';
	shown = NULL;
	return 0;
}

#define TITLE "Num     Type           Disp Enb Address            What\n"
#define CATCH(number, enabled, key) \
	number "       breakpoint     keep " enabled "   <MULTIPLE>\n" \
	       "        silent\n        select-frame 0\n        eval \"_tensor_hit " key \
	       ",0x%lx\", $_probe_arg0\n" number \
	       ".1                         y   0x00007ffff7c1a2b3 in lb_eval at eval.c:7\n"

/* Each by its commands, whatever else there is; what gdb does not show is none. */
static void each_is_known_by_its_commands(void **state)
{
	(void)state;
	lbx_breakpoint_add(1, "nan", 5, false);
	lbx_breakpoint_add(2, "op_start", 6, false);
	lbx_breakpoint_add(12, "nan", 5, false);
	lbx_breakpoint_add_fault();
	lbx_breakpoint_need_start(LBX_START_FOR_CATCHES);
	lbx_breakpoint_note(LBX_BREAKPOINT_STEP);
	assert_non_null(strstr(script, "eval \"_tensor_hit 12,0x%lx,0x%lx,0x%lx,0x%lx,0x%lx\", $_probe_arg0"));
	assert_false(lbx_breakpoints_refresh());
	shown = TITLE "1       breakpoint     keep y   0x0000555555555191 in main at a.c:3\n" CATCH("4", "y", "1") CATCH(
	    "5", "n",
	    "12") "6       catchpoint     keep y                      SIGSEGV\n        silent\n        _lb_fault\n"
		  "7       breakpoint     keep y   0x00007ffff7c1a2b3 in start at start.c:7\n        _tensor_hit start\n"
		  "9       breakpoint     del  y   0x00007ffff7c1a2b3 in f at f.c:7\n"
		  "        with language c -- _lb_enter $_probe_arg1\n";
	assert_true(lbx_breakpoints_refresh());
	assert_int_equal(lbx_breakpoint_number(1), 4);
	assert_int_equal(lbx_breakpoint_number(12), 5);
	assert_int_equal(lbx_breakpoint_number(LBX_BREAKPOINT_FAULT), 6);
	assert_int_equal(lbx_breakpoint_number(LBX_BREAKPOINT_START), 7);
	assert_int_equal(lbx_breakpoint_number(LBX_BREAKPOINT_STEP), 9);
	assert_false(lbx_breakpoint_exists(2));
	shown = "No breakpoints or watchpoints.\n";
	assert_true(lbx_breakpoints_refresh());
	assert_false(lbx_breakpoint_exists(1) || lbx_breakpoint_exists(LBX_BREAKPOINT_START));
	shown = NULL; /* of none nothing is asked */
	assert_true(lbx_breakpoints_refresh());
}

static void the_start_stays_while_it_is_needed(void **state)
{
	(void)state;
	shown =
	    TITLE "3       breakpoint     keep y   <PENDING>  -probe-stap lazybones:start\n        _tensor_hit start\n";
	lbx_breakpoint_need_start(LBX_START_FOR_CATCHES);
	lbx_breakpoint_need_start(LBX_START_FOR_SWITCHES);
	assert_null(strstr(strstr(script, "_lb_break start") + 1, "_lb_break start")); /* once */
	assert_true(lbx_breakpoints_refresh());
	lbx_breakpoint_release_start(LBX_START_FOR_CATCHES);
	assert_true(lbx_breakpoint_exists(LBX_BREAKPOINT_START));
	assert_null(strstr(script, "delete"));
	lbx_breakpoint_release_start(LBX_START_FOR_SWITCHES);
	assert_false(lbx_breakpoint_exists(LBX_BREAKPOINT_START));
	assert_non_null(strstr(script, "delete breakpoints 3"));
}

/* What the user has disabled stays so. */
static void only_the_enabled_are_suspended(void **state)
{
	(void)state;
	lbx_breakpoint_add(1, "nan", 5, false);
	lbx_breakpoint_add(2, "nan", 5, false);
	shown = TITLE CATCH("4", "y", "1") CATCH("5", "n", "2");
	assert_true(lbx_breakpoints_refresh());
	script[0] = '\0';
	lbx_breakpoint_suspend(1);
	lbx_breakpoint_suspend(1);
	lbx_breakpoint_suspend(2);
	assert_string_equal(script, "disable breakpoints 4");
	script[0] = '\0';
	lbx_breakpoints_resume();
	lbx_breakpoints_resume();
	assert_string_equal(script, "enable breakpoints 4");
}

#define HIT(times) "\tbreakpoint already hit " times " times\n"
#define PLAIN(number, what, more) number "       " what "     keep y   0x0000555555555191 in f at a.c:3\n" more
#define OURS(times) PLAIN("9", "breakpoint", HIT(times) "        eval \"_tensor_hit ggml 1 x\"\n")

/* What is said of a stop at a breakpoint of ours, where the program stands at these, too. */
static bool goes_on(const char *all, const char *stands)
{
	shown = all;
	program = stands;
	script[0] = '\0';
	assert_true(lbx_breakpoints_refresh() && lbx_hits_ask() && lbx_hits_go_on());
	assert_non_null(strstr(script, "set $_lb_go = "));
	return strstr(script, "set $_lb_go = 1");
}

#define AT "\tUsing the running image of child process 7.\nProgram stopped at 0x1000.\n"
#define STANDS(at) AT "It stopped at breakpoint " at ".\nIt stopped at breakpoint 9.\n"

static void others_stop_where_they_are_hit(void **state)
{
	(void)state;
	lbx_breakpoint_add_code(1, "ggml", 0x1000, "x", NULL, NULL, NULL);
	assert_true(goes_on(TITLE PLAIN("3", "breakpoint", HIT("2")) OURS("1"), AT "It stopped at breakpoint 9.\n"));
	assert_false(goes_on(TITLE PLAIN("3", "breakpoint", HIT("3")) OURS("2"), STANDS("3")));
	/* it is asked again at the same stop */
	assert_false(goes_on(TITLE PLAIN("3", "breakpoint", HIT("3")) OURS("2"), STANDS("3")));
	assert_true(goes_on(TITLE PLAIN("3", "dprintf   ", HIT("4")) OURS("3"), STANDS("3")));
	/* one that gdb has deleted since: nobody may have said where */
	assert_false(goes_on(TITLE OURS("4"), AT
			     "It stopped at a breakpoint that has since been deleted.\nIt stopped at breakpoint 9.\n"));
	assert_non_null(strstr(script, "frame"));
	/* there is no answer */
	shown = program = NULL;
	assert_false(lbx_hits_ask());
	assert_false(lbx_hits_go_on());
}

#define IF "\tstop only if n == 3\n"

static void a_condition_counts_only_where_it_is_true(void **state)
{
	(void)state;
	lbx_breakpoint_add_code(1, "ggml", 0x1000, "x", NULL, NULL, NULL);
	shown = TITLE PLAIN("3", "breakpoint", IF HIT("2")) OURS("0");
	assert_true(lbx_breakpoints_refresh());
	lbx_hits_settle();
	assert_true(goes_on(TITLE PLAIN("3", "breakpoint", IF HIT("2")) OURS("1"), STANDS("3")));
	assert_false(goes_on(TITLE PLAIN("3", "breakpoint", IF HIT("3")) OURS("2"), STANDS("3")));
	assert_false(goes_on(TITLE PLAIN("3", "breakpoint", IF HIT("3")) OURS("2"), STANDS("3")));
	assert_true(goes_on(TITLE PLAIN("3", "breakpoint", IF HIT("3")) OURS("3"), STANDS("3")));
	/* those that are ignored count as hits, too */
	shown = TITLE PLAIN("3", "breakpoint", "\tignore next 2 hits\n" HIT("3")) OURS("3");
	assert_true(lbx_breakpoints_refresh());
	lbx_hits_settle();
	assert_true(goes_on(TITLE PLAIN("3", "breakpoint", "\tignore next 1 hits\n" HIT("4")) OURS("4"), STANDS("3")));
	assert_true(goes_on(TITLE PLAIN("3", "breakpoint", HIT("5")) OURS("5"), STANDS("3")));
	assert_false(goes_on(TITLE PLAIN("3", "breakpoint", HIT("6")) OURS("6"), STANDS("3")));
}

/* One of ours has stopped the program, and is deleted there, as --once is: another of ours does not let it go on. */
static void a_stop_is_kept(void **state)
{
	(void)state;
	lbx_breakpoint_add_code(1, "ggml", 0x1000, "x", NULL, NULL, NULL);
	lbx_breakpoint_add_code(2, "ggml", 0x1000, "x", NULL, NULL, NULL);
	shown = TITLE PLAIN("8", "breakpoint", HIT("1") "        eval \"_tensor_hit ggml 2 x\"\n") OURS("1");
	assert_true(lbx_breakpoints_refresh());
	program = AT "It stopped at breakpoint 8.\nIt stopped at breakpoint 9.\n";
	lbx_hits_keep();
	assert_false(goes_on(TITLE OURS("1"), AT "It stopped at breakpoint 9.\n"));
	assert_true(goes_on(TITLE OURS("2"), AT "It stopped at breakpoint 9.\n"));
	/* another process, with the counts of the last one */
	lbx_hits_keep();
	assert_true(goes_on(TITLE OURS("2"),
			    "\tUsing the running image of child process 8.\nProgram stopped at 0x1000.\n"
			    "It stopped at breakpoint 9.\n"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_is_known_by_its_commands, forget_all),
		cmocka_unit_test_setup(the_start_stays_while_it_is_needed, forget_all),
		cmocka_unit_test_setup(only_the_enabled_are_suspended, forget_all),
		cmocka_unit_test_setup(others_stop_where_they_are_hit, forget_all),
		cmocka_unit_test_setup(a_condition_counts_only_where_it_is_true, forget_all),
		cmocka_unit_test_setup(a_stop_is_kept, forget_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
