/* A long list: it may be stopped at any time, and tells of what went away meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "probe.h"
#include "self.h"

enum { MANY = 3000, GONE = 100 };

static struct {
	lb_tensor *tensors[MANY];
	char path[64];
	bool stop; /* at the first question; else the last GONE are released then */
	int asked;
	size_t written; /* at the first question */
} many;

static bool ask(struct lbx_out *out, const char *what, int64_t done, int64_t all)
{
	(void)out;
	(void)done;
	(void)all;
	if (strcmp(what, "looking for tensors") == 0) /* before the list begins */
		return true;
	if (many.asked == 0)
		many.written = self->n;
	if (many.asked++ == 0 && !many.stop)
		for (int i = MANY - GONE; i < MANY; i++) {
			lb_release(many.tensors[i]);
			many.tensors[i] = NULL;
		}
	return !many.stop;
}

static int begin(void **state)
{
	if (open_self(state))
		return -1;
	memset(&many, 0, sizeof many);
	snprintf(many.path, sizeof many.path, "/tmp/lazybones-list-%d", (int)getpid());
	for (int i = 0; i < MANY; i++)
		LB_SCOPE
			many.tensors[i] = lb_keep(lb_ones(LB_SHAPE(1), LB_F32));
	self->out.progress = ask;
	return 0;
}

static int end(void **state)
{
	for (int i = 0; i < MANY; i++)
		if (many.tensors[i])
			lb_release(many.tensors[i]);
	unlink(many.path);
	return close_self(state);
}

static bool list(const char *more)
{
	char line[128];

	snprintf(line, sizeof line, "--out %s%s", many.path, more);
	session_says(self, "list", line);
	return !self->failed;
}

static size_t lines_with(const char *words)
{
	char line[512];
	size_t n = 0;
	FILE *f = fopen(many.path, "r");

	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		n += strstr(line, words) != NULL;
	fclose(f);
	return n;
}

static void it_is_stopped_before_the_first_row(void **state)
{
	(void)state;
	many.stop = true;
	session_says(self, "list", "--limit 0");
	assert_true(self->failed);
	assert_string_equal(self->text, "interrupted");
	assert_int_equal(many.asked, 1);
	assert_int_equal(many.written, 0);
	assert_false(list(""));
	assert_int_equal(access(many.path, F_OK), -1);
	assert_false(list(" --json"));
	assert_int_equal(access(many.path, F_OK), -1);
}

static void rows_that_are_gone_are_not_counted(void **state)
{
	char words[64];

	(void)state;
	assert_true(list(""));
	snprintf(words, sizeof words, ", %d of %d tensors\n", MANY - GONE, MANY);
	assert_non_null(strstr(self->text, words));
	assert_int_equal(lines_with("float32"), MANY - GONE);
}

static void nor_in_json(void **state)
{
	char words[64];

	(void)state;
	assert_true(list(" --json"));
	snprintf(words, sizeof words, "\"rows\":%zu,", lines_with("\"float32\""));
	assert_non_null(strstr(self->text, words));
	assert_int_equal(lines_with("\"float32\""), MANY - GONE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_stopped_before_the_first_row, begin, end),
		cmocka_unit_test_setup_teardown(rows_that_are_gone_are_not_counted, begin, end),
		cmocka_unit_test_setup_teardown(nor_in_json, begin, end),
	};
	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
