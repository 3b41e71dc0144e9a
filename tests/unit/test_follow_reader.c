/* What the plugin's thread reads of a program's log, while another looks at it. */
#include "plugin/stops/follow_reader.c"
#include "plugin/bridge/text.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cmocka.h>

bool lbx_front_end_is_mi(void)
{
	return false;
}

static bool draws_screen = true;

bool lbx_front_end_draws_screen(void)
{
	return draws_screen; /* then nothing is drawn here */
}

bool lbx_front_end_is_batch(void)
{
	return true;
}

static void put_value(int fd, int i)
{
	char line[128];
	int n = snprintf(line, sizeof line, "{\"step\":%d,\"name\":\"loss\",\"nan\":0,\"mean\":%d}\n", i, i);

	assert_int_equal(write(fd, line, (size_t)n), n);
}

/* A look stays as it was, whatever comes in the meantime. */
static void a_look_is_a_copy(void **state)
{
	const struct lbx_follower follower = { .names = "loss", .stat = "mean", .last = LBX_FOLLOWED };
	struct lbx_out out = { .width = 80 };

	(void)state;
	assert_null(lbx_follow_reader_now());
	assert_true(lbx_follow_reader_open());
	lbx_follow_reader_begin(&follower, &out);
	reader.is_chart = true;
	int program = open(lbx_follow_reader_path(), O_WRONLY | O_CLOEXEC);
	assert_true(program >= 0);
	put_value(program, 1);
	lbx_follow_reader_settle(true);
	const struct lbx_follower *seen = lbx_follow_reader_now();
	assert_non_null(seen);
	assert_int_equal(seen->count, 1);
	put_value(program, 2);
	lbx_follow_reader_settle(true);
	assert_int_equal(seen->count, 1);
	assert_int_equal(lbx_follow_reader_now()->count, 2);
	lbx_follow_reader_end();
	assert_null(lbx_follow_reader_now());
	close(program);
}

/* Where the program goes on without a word, the chart does so in its line. */
static void a_line_goes_on(void **state)
{
	(void)state;
	reader.is_begun = true;
	lbx_follow_reader_settle(false);
	assert_true(reader.is_begun);
	lbx_follow_reader_settle(true);
	assert_false(reader.is_begun);
}

/* ---- a program that gdb has stopped: gdb tells of that in pieces, between which nothing is drawn ---- */

static pid_t stopped_program(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	return child;
}

/* What was drawn within so many milliseconds: its length. */
static ssize_t drawn(int from, int ms)
{
	struct pollfd end = { .fd = from, .events = POLLIN };
	char bytes[4096];

	return poll(&end, 1, ms) > 0 ? read(from, bytes, sizeof bytes) : 0;
}

static bool becomes_late(void)
{
	bool late = false;

	for (int i = 0; i < 10000 && !late; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		pthread_mutex_lock(&reader.lock);
		late = reader.is_late;
		pthread_mutex_unlock(&reader.lock);
	}
	return late;
}

static void a_stop_is_told_whole(void **state)
{
	const struct lbx_follower follower = { .names = "loss", .stat = "mean", .last = LBX_FOLLOWED };
	struct lbx_out out = { .width = 80 };
	int terminal[2], before = dup(STDOUT_FILENO);

	(void)state;
	fflush(stdout);
	assert_int_equal(pipe(terminal), 0);
	assert_true(dup2(terminal[1], STDOUT_FILENO) >= 0);
	draws_screen = false;
	lbx_follow_reader_begin(&follower, &out);
	pthread_mutex_lock(&reader.lock);
	reader.is_chart = true;
	pthread_mutex_unlock(&reader.lock);
	pid_t child = stopped_program();
	lbx_follow_reader_expect(child);
	int program = open(lbx_follow_reader_path(), O_WRONLY | O_CLOEXEC);

	put_value(program, 1);
	bool late = becomes_late();
	ssize_t standing = drawn(terminal[0], 50);
	lbx_follow_reader_settle(false); /* gdb has told of it */
	ssize_t settled = drawn(terminal[0], 0);
	put_value(program, 2);
	bool late_again = becomes_late();
	ptrace(PTRACE_CONT, child, NULL, NULL);
	ssize_t running = drawn(terminal[0], 10000);
	waitpid(child, NULL, 0);
	lbx_follow_reader_end();
	draws_screen = true;
	dup2(before, STDOUT_FILENO);
	close(before);
	close(terminal[0]);
	close(terminal[1]);
	close(program);

	assert_true(late);
	assert_int_equal(standing, 0);
	assert_true(settled > 0);
	assert_true(late_again);
	assert_true(running > 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(a_look_is_a_copy), cmocka_unit_test(a_line_goes_on),
						   cmocka_unit_test(a_stop_is_told_whole) };

	return cmocka_run_group_tests_name("follow_reader", tests, NULL, NULL);
}
