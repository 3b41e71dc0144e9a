/* A long list: it may be stopped at any time, and tells of what went away meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/show/since.h"
#include "probe.h"
#include "says.h"
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

/* Two columns for wide characters, none for marks that combine. */
static void wide_names_keep_columns(void **state)
{
	static const char *const names[] = { "plain", "\xe6\x9d\xb1\xe4\xba\xac", "e\xcc\x81t\xc3\xa9",
					     "\xf0\x9f\x94\xa5" };
	static const int columns[] = { 5, 4, 3, 2 };
	char row[64];

	(void)state;
	LB_SCOPE {
		for (int i = 0; i < 4; i++)
			lb_eval(lb_named(names[i], lb_ones(LB_SHAPE(1), LB_F32)));
		for (int width = 60; width <= 120; width += 30) {
			self->out.width = width;
			const char *text = session_says(self, "list", "");
			for (int i = 0; i < 4; i++) {
				snprintf(row, sizeof row, "  %s%*s  float32", names[i], 5 - columns[i], "");
				if (!strstr(text, row))
					fail_msg("no '%s' in:\n%s", row, text);
			}
		}
	}
}

__attribute__((noinline)) static lb_tensor *made_here(const char *name, lb_tensor *x)
{
	lb_eval(x);
	return lb_named(name, x);
}

static void filters_go_together(void **state)
{
	static struct lbx_marked marked;
	const float bad[] = { 1, NAN, 3, 4 }, inf[] = { INFINITY, 0 };
	char line[128];
	int place;

	(void)state;
	self->context.marked = &marked;
	LB_SCOPE {
		lb_tensor *x = made_here("x", lb_ones(LB_SHAPE(4, 64), LB_F32));
		made_here("bad", lb_from_data(bad, sizeof bad, LB_SHAPE(4), LB_F32));
		made_here("inf", lb_from_data(inf, sizeof inf, LB_SHAPE(2), LB_F32));
		place = __LINE__ - 1;
		lb_tensor *y = lb_named("y", lb_matmul(x, lb_ones(LB_SHAPE(64, 8), LB_F32)));
		says(self, "list", "--op matmul", " y ");
		is_silent_about(self, "list", "--op matmul", " x ");
		says(self, "list", "--op 'mat*' --state lazy", " y ");
		says(self, "list", "--op mtmul",
		     "list: no tensor is of an operation 'mtmul'; there are full, data, matmul");
		says(self, "list", "--op cbrt --state lazy", "list: no tensor is of an operation 'cbrt'");
		says(self, "list", "--op sqrt", "0 tensors of ");
		says(self, "list", "--shape '(*, 64)'", "1 tensor of ");
		says(self, "list", "--shape (4, ...)", "3 tensors of ");
		says(self, "list", "--shape '(... , 8)'", "2 tensors of ");
		says(self, "list", "--shape '()'", "0 tensors of ");
		says(self, "list", "--shape '(a, 2)'",
		     "list: --shape takes sizes, as '(2, *, 64)': * is any size, ... any number");
		says(self, "list", "--bytes '>1K'", "1 tensor of ");
		says(self, "list", "--bytes '<=16' --state ready", "2 tensors of ");
		says(self, "list", "--bytes 8", " inf ");
		says(self, "list", "--bytes big", "list: --bytes takes a size, as '>1M', '<=64K' or 4096, not 'big'");
		says(self, "list", "--nan", " bad ");
		says(self, "list", "--nan", "1 tensor of ");
		says(self, "list", "--nan", "\n2 not looked at: without a value now (2), or not to be read\n");
		says(self, "list", "--inf --json", "\"name\":\"inf\"");
		says(self, "list", "--inf --nan", "2 tensors of ");
		says(self, "list", "--nan --shape '(2)'", "0 tensors of ");
		snprintf(line, sizeof line, "--site test_list.c:%d", place);
		says(self, "list", line, " inf ");
		says(self, "list", line, "1 tensor of ");
		says(self, "list", "--site unit/test_list.c", "5 tensors");
		says(self, "list", "--site other.c", "list: no tensor was made at 'other.c'; there are test_list.c:");
		snprintf(line, sizeof line, "--thread %d", (int)getpid());
		says(self, "list", line, "5 tensors");
		snprintf(line, sizeof line, "list: no tensor was made by a thread '1'; there are %d", (int)getpid());
		says(self, "list", "--thread 1", line);
		says(self, "list", "--scope filters_go_*", "5 tensors");
		says(self, "list", "--scope main",
		     "list: no scope is open that 'main' has opened; there are those of filters_go_together");
		session_says(self, "list", "");
		struct lbx_tensors *tensors;
		session_forget(self);
		struct lbx_table *table;
		assert_true(lbx_context_table(&self->context, &table) && lbx_context_tensors(&self->context, &tensors));
		assert_true(lbx_marked_note(&self->context, "before"));
		says(self, "list", "--since before", "0 tensors of ");
		lb_named("later", lb_sqrt(y));
		says(self, "list", "--since before", " later ");
		says(self, "list", "--since before", "1 tensor of ");
		says(self, "list", "--since then",
		     "list: --since takes a mark, and there is none called 'then': there are before");
	}
	says(self, "list", "--since /proc/self/exe",
	     "none called '/proc/self/exe': there are before; what has changed since a file or a core "
	     "`memory --since FILE` tells");
	self->context.marked = NULL;
	says(self, "list", "--since before",
	     "list: --since takes a mark of `memory mark NAME`, which gdb keeps; what has changed since a file "
	     "or a core `memory --since FILE` tells");
	lbx_marked_deinit(&marked);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_stopped_before_the_first_row, begin, end),
		cmocka_unit_test_setup_teardown(rows_that_are_gone_are_not_counted, begin, end),
		cmocka_unit_test_setup_teardown(nor_in_json, begin, end),
		cmocka_unit_test_setup_teardown(wide_names_keep_columns, open_self, close_self),
		cmocka_unit_test_setup_teardown(filters_go_together, open_self, close_self),
	};
	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
