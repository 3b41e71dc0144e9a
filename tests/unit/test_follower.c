/* A program's log as it comes through a pipe: in pieces, with what the program itself writes among it, and never too much. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "inspect/trace/follower.h"
#include "inspect/trace/log_pipe.h"

static const struct lbx_command row = {
	.name = "follow", .arguments = "NAME", .max_args = 1, .options = { LBX_FOLLOW_OPTIONS }
};

static void write_text(struct lbx_out *out, const char *text, size_t n)
{
	char *to = out->context;
	size_t used = strlen(to);

	assert_true(used + n < 4096);
	memcpy(to + used, text, n);
	to[used + n] = '\0';
}

static struct lbx_follower *follower(const char *line)
{
	struct lbx_follower *f = calloc(1, sizeof *f);
	static struct lbx_args args;

	assert_non_null(f);
	assert_true(lbx_args_parse_line(&row, line, &args));
	assert_true(lbx_follower_begin(&args, f));
	return f;
}

static void take(struct lbx_follower *f, const char *text, struct lbx_out *out)
{
	lbx_follower_take(f, text, strlen(text), out);
}

static void lines_come_in_pieces(void **state)
{
	char told[4096] = "";
	struct lbx_out out = { .width = 80, .context = told, .write = write_text };
	struct lbx_follower *f = follower("loss --stat max");

	(void)state;
	take(f, "{\"step\":1,\"name\":\"loss\",\"nan\":0,\"max\":", &out);
	assert_int_equal(f->count, 0);
	take(f,
	     "2.5}\nround 1\n[1]\n{\"step\":2,\"name\":7,\"nan\":0,\"max\":1}\n{}\n\n"
	     "{\"step\":2,\"name\":\"loss\",\"nan\":1,\"max\":null}\n{\"step\":3",
	     &out);
	assert_int_equal(f->count, 2);
	assert_string_equal(told, "loss: 2.5\nloss: nan\n");
	assert_true(f->values[0] == 2.5 && isnan(f->values[1]));
	free(f);
}

static void long_lines_are_passed_over(void **state)
{
	struct lbx_follower *f = follower("loss");
	char *line = malloc(1 << 16);

	(void)state;
	assert_non_null(line);
	memset(line, ' ', 1 << 16);
	memcpy(line, "{\"step\":1,\"name\":\"loss\",\"nan\":0,", 31);
	memcpy(line + (1 << 16) - 12, "\"mean\":1.0}\n", 12);
	lbx_follower_take(f, line, 1 << 16, NULL);
	assert_int_equal(f->count, 0);
	take(f, "{\"step\":2,\"name\":\"loss\",\"nan\":0,\"mean\":1.0}\n", NULL);
	assert_int_equal(f->count, 1);
	free(line);
	free(f);
}

static void the_newest_are_drawn(void **state)
{
	char drawn[4096] = "", line[128];
	struct lbx_out out = { .width = 80, .context = drawn, .write = write_text };
	struct lbx_follower *f = follower("loss --last 4");

	(void)state;
	for (int i = 0; i < 9; i++) {
		snprintf(line, sizeof line, "{\"step\":1,\"name\":\"loss\",\"nan\":0,\"mean\":%d}\n", i < 5 ? 1000 : i);
		take(f, line, NULL);
	}
	assert_int_equal(f->count, 9);
	assert_int_equal(f->n, 4);
	lbx_follower_draw(f, &out); /* the locale is C's */
	assert_string_equal(drawn, "loss _-=# 8");
	free(f);
}

/* Values that are further from each other than the largest number is from 0. */
static void the_whole_range_is_drawn(void **state)
{
	char drawn[4096] = "";
	struct lbx_out out = { .width = 80, .context = drawn, .write = write_text };
	struct lbx_follower *f = follower("loss");

	(void)state;
	for (const char *const *value = (const char *const[]){ "-1.7e308", "0", "null", "1.7e308", NULL }; *value;
	     value++) {
		char line[128];
		snprintf(line, sizeof line, "{\"step\":1,\"name\":\"loss\",\"nan\":0,\"mean\":%s}\n", *value);
		take(f, line, NULL);
	}
	lbx_follower_draw(f, &out);
	assert_string_equal(drawn, "loss _-?# 1.7e+308");
	free(f);
}

static void words_are_checked(void **state)
{
	static struct lbx_follower f;
	static struct lbx_args args;
	char line[LB_LOG_BYTES + 1];

	(void)state;
	memset(line, 'x', sizeof line - 1);
	line[sizeof line - 1] = '\0';
	for (const char *const *wrong =
		 (const char *const[]){ "''", "'#12'", "x --stat median", "x --last 1", "x --last 1001", line, NULL };
	     *wrong; wrong++) {
		assert_true(lbx_args_parse_line(&row, *wrong, &args));
		assert_false(lbx_follower_begin(&args, &f));
		assert_int_equal(lb_error_cause(), LB_MISUSED);
		lb_clear_error();
	}
	assert_true(lbx_args_parse_line(&row, "'a,b*'", &args) && lbx_follower_begin(&args, &f));
	assert_false(lbx_follower_is_one(&f));
}

static void a_pipe_is_known_by_its_path(void **state)
{
	struct lbx_log_pipe ends;
	char byte = 0;
	pid_t owner;

	(void)state;
	assert_true(lbx_log_pipe_open(&ends));
	assert_true(lbx_log_pipe_owner(ends.path, &owner));
	assert_int_equal(owner, getpid());
	FILE *other = fopen(ends.path, "w");
	assert_non_null(other);
	assert_int_equal(read(ends.from, &byte, 1), -1); /* it does not wait */
	fputc('x', other);
	fclose(other);
	assert_int_equal(read(ends.from, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	lbx_log_pipe_close(&ends);
	assert_false(lbx_log_pipe_owner("/proc/1/fd/3/x", &owner));
	assert_false(lbx_log_pipe_owner("/tmp/proc/1/fd/3", &owner));
	assert_false(lbx_log_pipe_owner("/proc/self/fd/3", &owner));
	assert_true(lbx_log_pipe_reaches(getpid()));
	assert_false(lbx_log_pipe_reaches(1 << 30));
	lb_clear_error();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_in_pieces), cmocka_unit_test(long_lines_are_passed_over),
		cmocka_unit_test(the_newest_are_drawn), cmocka_unit_test(the_whole_range_is_drawn),
		cmocka_unit_test(words_are_checked),    cmocka_unit_test(a_pipe_is_known_by_its_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
