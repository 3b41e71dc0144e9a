/* What the plugin's thread reads of a program's log, while another looks at it. */
#include "plugin/stops/follow_reader.c"
#include "plugin/bridge/text.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

bool lbx_front_end_is_mi(void)
{
	return false;
}

bool lbx_front_end_draws_screen(void)
{
	return true; /* nothing is drawn here */
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

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(a_look_is_a_copy), cmocka_unit_test(a_line_goes_on) };

	return cmocka_run_group_tests_name("follow_reader", tests, NULL, NULL);
}
