/* Who else writes to the terminal. */
#include "plugin/commands/terminal.c"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void a_child_of_the_same_group_shares_it(void **state)
{
	siginfo_t ended;

	(void)state;
	if (access("/proc/self/task", R_OK) != 0)
		skip();
	assert_false(lbx_terminal_is_shared());
	pid_t pid = start();
	assert_true(lbx_terminal_is_shared());
	/* as gdb does with the program */
	assert_int_equal(setpgid(pid, pid), 0);
	assert_false(lbx_terminal_is_shared());
	assert_int_equal(setpgid(pid, getpgrp()), 0);
	assert_true(lbx_terminal_is_shared());
	/* it has ended, and nobody has waited for it */
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	assert_false(lbx_terminal_is_shared());
	waitpid(pid, NULL, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(a_child_of_the_same_group_shares_it) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
