/* The programs that inspections run: what they get, and that they end with who runs them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/replay/worker.h"
#include "lazybones.h"

static void write_nothing(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	(void)text;
	(void)n;
}

static struct lbx_out out = { .write = write_nothing };

static bool run_shell(const char *script, int fd, int *ret)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct lbx_worker worker = { .path = "/bin/sh",
				     .argv = argv,
				     .fd = fd,
				     .as = 0,
				     .doing = "waiting",
				     .what = "the shell",
				     .seconds = 600 };

	return lbx_worker_run(&out, &worker, ret);
}

static void test_gets_descriptor_and_gives_status(void **state)
{
	int fd = memfd_create("words", MFD_CLOEXEC), status = -1;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "seven\n", 6), 6);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_true(run_shell("read word && test $word = seven && exit 7", fd, &status));
	assert_int_equal(status, 7);
	assert_false(run_shell("kill -TERM $$", fd, &status));
	assert_non_null(strstr(lb_error_message(), "the shell died of signal 15"));
	lb_clear_error();
	close(fd);
}

/* A signal that is ignored or blocked here is neither there. */
static void test_signals_are_usual(void **state)
{
	int fd = memfd_create("words", MFD_CLOEXEC), status = -1;
	sigset_t set, before, after;
	char blocked[32] = "", ignored[32] = "";

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGUSR2, SIG_IGN);
	assert_true(run_shell("sed -n 's/^Sig[BI].*:.//p' /proc/self/status >&0", fd, &status));
	assert_int_equal(status, 0);
	sigprocmask(SIG_SETMASK, &before, &after);
	assert_true(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGUSR2));
	signal(SIGUSR2, SIG_DFL);
	FILE *file = fdopen(fd, "r");
	rewind(file);
	assert_int_equal(fscanf(file, "%31s %31s", blocked, ignored), 2);
	fclose(file);
	assert_string_equal(blocked, "0000000000000000");
	/* signals 32 and 33 are the C library's own: nobody can change that posix_spawn() began us with them ignored */
	assert_int_equal(strtoull(ignored, NULL, 16) & ~0x180000000ULL, 0);
}

static void test_program_that_is_not_there(void **state)
{
	char *argv[] = { (char *)"none", NULL };
	struct lbx_worker worker = {
		.path = "/nonexistent/none", .argv = argv, .fd = 0, .doing = "waiting", .what = "none", .seconds = 600
	};
	int status = -1;

	(void)state;
	assert_false(lbx_worker_run(&out, &worker, &status));
	assert_non_null(strstr(lb_error_message(), "cannot start /nonexistent/none: No such file"));
	lb_clear_error();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Who runs it is killed: so is it, though it reads and writes nothing. */
static void test_ends_with_who_runs_it(void **state)
{
	int ends[2], status = 0;
	char byte;

	(void)state;
	/* what outlives its parent becomes a child of this process */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(ends), 0);
	pid_t runner = fork();
	assert_true(runner >= 0);
	if (runner == 0) {
		close(ends[0]);
		/* as descriptor 0 it has the pipe's end */
		run_shell("echo >&0; exec sleep 600", ends[1], &status);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(kill(runner, SIGKILL), 0);
	assert_int_equal(waitpid(runner, &status, 0), runner);
	pid_t worker = waitpid(-1, &status, 0);
	assert_true(worker > 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gets_descriptor_and_gives_status),
		cmocka_unit_test(test_signals_are_usual),
		cmocka_unit_test(test_program_that_is_not_there),
		cmocka_unit_test(test_ends_with_who_runs_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
