/* Whether a process has run, told from outside (lbx_target_moment). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "lazybones.h"
#include "target/process.h"

static void *sleep_long(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* Two threads; the second says that it is there. */
static pid_t start(void)
{
	int pipes[2];
	char byte;

	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pthread_t thread;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, sleep_long, NULL) != 0 || write(pipes[1], "x", 1) != 1)
			_exit(1);
		sleep_long(NULL);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

static void stop(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static void go(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	assert_true(WIFCONTINUED(status));
}

static uint64_t moment_of(struct lbx_target *target)
{
	uint64_t ret = 0;

	assert_true(lbx_target_moment(target, &ret));
	return ret;
}

/* A kernel that does not count leaves it unknown. */
static void skip_without_counts(void)
{
	unsigned long long times = 0;
	FILE *f = fopen("/proc/self/schedstat", "re");

	if (f && fscanf(f, "%*u %*u %llu", &times) != 1)
		times = 0;
	if (f)
		fclose(f);
	if (!times)
		skip();
}

static void a_process_that_stands_still_is_known(void **state)
{
	struct lbx_target *target;
	uint64_t first, unused;
	(void)state;
	skip_without_counts();
	pid_t pid = start();
	assert_true(lbx_process_open(pid, &target));
	assert_false(lbx_target_moment(target, &unused));
	stop(pid);
	first = moment_of(target);
	assert_int_equal(moment_of(target), first);
	for (int i = 0; i < 20; i++) {
		uint64_t before = moment_of(target);
		go(pid);
		stop(pid);
		assert_int_not_equal(moment_of(target), before);
	}
	assert_int_not_equal(moment_of(target), first);
	assert_true(lb_ok());
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(lbx_target_moment(target, &unused));
	lbx_target_destroy(target);
}

/* Who debugs it stops it so. */
static void so_is_one_that_is_held(void **state)
{
	struct lbx_target *target;
	uint64_t first, second;

	(void)state;
	skip_without_counts();
	pid_t pid = start();
	assert_true(lbx_process_open(pid, &target));
	if (!lbx_process_hold(target)) {
		lb_clear_error();
		skip();
	}
	assert_true(lbx_target_moment(target, &first));
	assert_true(lbx_target_moment(target, &second));
	assert_int_equal(first, second);
	lbx_target_destroy(target);
	assert_true(lbx_process_open(pid, &target));
	assert_non_null(lbx_process_hold(target));
	assert_true(lbx_target_moment(target, &second));
	assert_int_not_equal(first, second);
	lbx_target_destroy(target);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_stands_still_is_known),
		cmocka_unit_test(so_is_one_that_is_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
