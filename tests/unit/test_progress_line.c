#define _GNU_SOURCE
/* What a terminal shows of long work: from when on, how wide, and that it is gone in the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "inspect/progress_line.h"

enum { LONG_AGO_MS = 5500, FAR_MS = 1 << 30 };

static int ends[2];
static struct lbx_progress_line line;

static int begin(void **state)
{
	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	lbx_progress_line_begin(&line, ends[1], 80);
	line.began_ms -= LONG_AGO_MS;
	return 0;
}

static int finish(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* What was written since; "" for nothing. */
static const char *written(void)
{
	static char text[1024];
	ssize_t n = read(ends[0], text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void it_says_what_and_how_far(void **state)
{
	(void)state;
	lbx_progress_line_tell(&line, "looking for NaN", 30, 120);
	const char *text = written();
	assert_memory_equal(text, "\rlooking for NaN: 25 %, ", 24);
	assert_non_null(strstr(text, " s (Ctrl-C ends it)"));
	assert_int_equal(strlen(text), line.shown + 1);
	line.last_ms -= FAR_MS;
	lbx_progress_line_tell(&line, "indexing", 30, 0);
	text = written();
	assert_non_null(strstr(text, "\rindexing: "));
	assert_null(strchr(text, '%'));
	assert_true(strspn(text, "\r ") > 20); /* the longer one is erased first */
}

static void it_waits(void **state)
{
	(void)state;
	line.began_ms += FAR_MS;
	lbx_progress_line_tell(&line, "looking", 1, 2);
	lbx_progress_line_erase(&line);
	assert_string_equal(written(), "");
	line.began_ms -= FAR_MS;
	lbx_progress_line_tell(&line, "looking", 1, 2);
	assert_string_not_equal(written(), "");
	line.last_ms += FAR_MS; /* just now */
	lbx_progress_line_tell(&line, "looking", 2, 2);
	assert_string_equal(written(), "");
}

static void it_leaves_the_last_column(void **state)
{
	static const char what[] = "looking for the tensors of a program that has very many of them, and has had more";

	(void)state;
	for (int width = 2; width < 60; width++) {
		line.width = width;
		line.shown = 0;
		lbx_progress_line_tell(&line, what, 1, 2);
		assert_int_equal(strlen(written()), width);
		assert_int_equal(line.shown, width - 1);
	}
	line.width = 1;
	line.shown = 0;
	lbx_progress_line_tell(&line, what, 1, 2);
	assert_string_equal(written(), "");
}

static void it_is_erased(void **state)
{
	char expected[128];

	(void)state;
	lbx_progress_line_tell(&line, "looking", 1, 2);
	int n = line.shown + 2; /* and what the terminal makes of Ctrl-C */
	written();
	lbx_progress_line_erase(&line);
	memset(expected, ' ', sizeof expected);
	expected[0] = expected[n + 1] = '\r';
	expected[n + 2] = '\0';
	assert_string_equal(written(), expected);
	lbx_progress_line_erase(&line);
	assert_string_equal(written(), "");
}

static void without_a_terminal_nothing_is_shown(void **state)
{
	(void)state;
	line.fd = -1;
	lbx_progress_line_tell(&line, "looking", 1, 2);
	lbx_progress_line_erase(&line);
	assert_string_equal(written(), "");
	assert_int_equal(line.shown, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	static const struct CMUnitTest tests[] = {
		TEST(it_says_what_and_how_far),
		TEST(it_waits),
		TEST(it_leaves_the_last_column),
		TEST(it_is_erased),
		TEST(without_a_terminal_nothing_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
