/* The log of values: what the runtime writes, against figures by hand, and what the reader makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/trace/value_log.h"
#include "lazybones.h"
#include "symtab.h"

extern struct lb_symtab lb_symtab_root;
static char path[LB_LOG_BYTES];
static struct lbx_out quiet;

/* As a debugger does it. */
static void begin(const char *names)
{
	memset(lb_symtab_root.log_names, 0, LB_LOG_BYTES);
	memset(lb_symtab_root.log_file, 0, LB_LOG_BYTES);
	snprintf(lb_symtab_root.log_names, LB_LOG_BYTES, "%s", names);
	snprintf(lb_symtab_root.log_file, LB_LOG_BYTES, "%s", path);
	static uint32_t number;
	__atomic_store_n(&lb_symtab_root.log, ++number, __ATOMIC_RELEASE);
}

static struct lbx_value_log end(void)
{
	struct lbx_value_log log;

	lb_symtab_root.log = 0;
	if (!lbx_value_log_read(path, &quiet, &log))
		fail_msg("%s", lb_error_message());
	assert_false(log.is_cut);
	return log;
}

static void figures(const struct lbx_logged *e, int64_t count, double min, double max, double mean, double std,
		    double l2)
{
	const double expected[] = { min, max, mean, std, l2 };

	assert_non_null(e);
	assert_int_equal(e->count, count);
	for (int i = 0; i < LBX_LOGGED_FIGURES; i++)
		if (!(fabs(e->figures[i] - expected[i]) <= 1e-12 * (1 + fabs(expected[i]))))
			fail_msg("%s: %.17g, not %.17g", lbx_logged_figures[i], e->figures[i], expected[i]);
}

static int set_up(void **state)
{
	const char *folder = getenv("TMPDIR");

	(void)state;
	snprintf(path, sizeof path, "%s/test_journal.%d", folder ? folder : "/tmp", getpid());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void figures_of_values(void **state)
{
	const float odd[] = { 1, NAN, INFINITY, 0, -3 };

	(void)state;
	begin("");
	LB_SCOPE {
		lb_tensor *x = lb_named("x", lb_arange(0, 6, 1, LB_F32));
		lb_tensor *m = lb_reshape(x, LB_SHAPE(2, 3));
		lb_eval(x, lb_named("turned", lb_slice(lb_transpose(m, LB_AXES(1, 0)), LB_RANGE(0, 3, 2))));
		lb_eval(lb_named("odd", lb_add(lb_from_data(odd, sizeof odd, LB_SHAPE(5), LB_F32), lb_scalar(0))));
		lb_eval(lb_named("whole", lb_arange(-2, 3, 1, LB_I64)));
		lb_eval(lb_named("half", lb_full(LB_SHAPE(4), 0.5, LB_F16)));
		lb_eval(lb_named("one", lb_full(LB_SHAPE(), 7, LB_F64)));
		lb_eval(lb_named("empty", lb_add(lb_full(LB_SHAPE(0, 3), 1, LB_F32), lb_scalar(1))));
		lb_eval(lb_add(x, lb_scalar(1))); /* without a name */
	}
	struct lbx_value_log log = end();
	assert_int_equal(log.n_names, 7);
	figures(lbx_value_log_find(&log, "x", 1), 6, 0, 5, 2.5, sqrt(35. / 12), sqrt(55));
	/* 0 3 and 2 5 */
	figures(lbx_value_log_find(&log, "turned", 1), 4, 0, 5, 2.5, sqrt(3.25), sqrt(38));
	figures(lbx_value_log_find(&log, "odd", 1), 5, -3, 1, -2. / 3, sqrt(26. / 9), sqrt(10));
	assert_int_equal(lbx_value_log_find(&log, "odd", 1)->nan, 1);
	assert_int_equal(lbx_value_log_find(&log, "odd", 1)->inf, 1);
	figures(lbx_value_log_find(&log, "whole", 1), 5, -2, 2, 0, sqrt(2), sqrt(10));
	figures(lbx_value_log_find(&log, "half", 1), 4, 0.5, 0.5, 0.5, 0, 1);
	figures(lbx_value_log_find(&log, "one", 1), 1, 7, 7, 7, 0, 7);
	assert_true(isnan(lbx_value_log_find(&log, "empty", 1)->figures[LBX_LOGGED_MIN]));
	assert_int_equal(lbx_value_log_find(&log, "empty", 1)->count, 0);
	lbx_value_log_close(&log);
}

/* What it could be fused with does not hide it. */
static void in_the_middle(void **state)
{
	(void)state;
	begin("middle,other*");
	LB_SCOPE {
		lb_tensor *x = lb_arange(0, 4, 1, LB_F32);
		lb_tensor *middle = lb_named("middle", lb_multiply(x, lb_scalar(2)));
		lb_eval(lb_named("not.logged", lb_exp(lb_add(middle, lb_scalar(1)))), lb_named("other 1", lb_sqrt(x)));
	}
	struct lbx_value_log log = end();
	assert_int_equal(log.n, 2);
	figures(lbx_value_log_find(&log, "middle", 1), 4, 0, 6, 3, sqrt(5), sqrt(56));
	assert_non_null(lbx_value_log_find(&log, "other 1", 1));
	lbx_value_log_close(&log);
}

static lb_tensor *step(double from)
{
	return lb_named("step \"of\" \\ it\n", lb_add(lb_arange(from, from + 3, 1, LB_F32), lb_scalar(0)));
}

/* Equal elements have equal hashes; others hardly. */
static void time_after_time(void **state)
{
	(void)state;
	begin("*");
	for (int i = 0; i < 3; i++)
		LB_SCOPE {
			lb_eval(step(i == 2 ? 10 : 0));
		}
	struct lbx_value_log log = end();
	assert_int_equal(log.n, 3);
	assert_int_equal(log.n_names, 1);
	assert_string_equal(log.names[0]->name, "step \"of\" \\ it\n");
	assert_true(log.list[0].hash == log.list[1].hash && log.list[0].hash != log.list[2].hash);
	assert_true(log.list[0].type == log.list[2].type);
	assert_int_equal(log.list[2].nth, 3);
	assert_null(lbx_value_log_find(&log, log.names[0]->name, 4));
	assert_null(lbx_value_log_find(&log, "nothing", 1));
	lbx_value_log_close(&log);
	begin("*"); /* begins anew */
	log = end();
	assert_int_equal(log.n, 3); /* nothing was computed: the file is as it was */
	lbx_value_log_close(&log);
}

/* The same elements in another order have another hash, and one bag. */
static void turned_around(void **state)
{
	(void)state;
	begin("*");
	LB_SCOPE {
		lb_tensor *x = lb_named("x", lb_arange(0, 6, 1, LB_F32));
		lb_eval(x, lb_named("back", lb_slice(x, LB_REVERSED)), lb_named("more", lb_add(x, lb_scalar(1))));
	}
	struct lbx_value_log log = end();
	const struct lbx_logged *x = lbx_value_log_find(&log, "x", 1), *back = lbx_value_log_find(&log, "back", 1);
	assert_true(x->bag == back->bag && x->hash != back->hash);
	assert_true(x->bag != lbx_value_log_find(&log, "more", 1)->bag);
	lbx_value_log_close(&log);
}

static void child_goes_on(void **state)
{
	int status;

	(void)state;
	begin("*");
	LB_SCOPE {
		lb_eval(lb_named("parent", lb_arange(0, 3, 1, LB_F32)));
	}
	pid_t child = fork();
	if (child == 0) {
		LB_SCOPE {
			lb_eval(lb_named("child", lb_arange(0, 3, 1, LB_F32)));
		}
		_exit(!lb_ok());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	struct lbx_value_log log = end();
	assert_non_null(lbx_value_log_find(&log, "child", 1));
	assert_non_null(lbx_value_log_find(&log, "parent", 1));
	lbx_value_log_close(&log);
}

/* The program goes on. */
static void nowhere_to_write(void **state)
{
	char kept[LB_LOG_BYTES];

	(void)state;
	memcpy(kept, path, sizeof kept);
	snprintf(path, sizeof path, "/nonexistent/log");
	begin("*");
	memcpy(path, kept, sizeof path);
	LB_SCOPE {
		lb_eval(lb_named("x", lb_arange(0, 3, 1, LB_F32)));
		assert_true(lb_ok());
	}
	assert_int_equal(lb_symtab_root.log, 0);
}

static void refused(const char *text, const char *why)
{
	FILE *f = fopen(path, "we");
	struct lbx_value_log log;

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_false(lbx_value_log_read(path, &quiet, &log));
	if (!strstr(lb_error_message(), why))
		fail_msg("%s", lb_error_message());
	lbx_value_log_close(&log);
	lb_clear_error();
}

static void no_logs(void **state)
{
	(void)state;
	refused("nonsense\n", "line 1: no JSON");
	refused("{}\n", "line 1: no entry of a log");
	refused("[1]\n", "line 1: no entry of a log");
	refused("{\"step\":1,\"eval\":1,\"name\":3}\n", "no entry");
	refused(
	    "{\"step\":1,\"eval\":1,\"name\":\"x\",\"count\":-1,\"nan\":0,\"inf\":0,\"min\":0,\"max\":0,\"mean\":0,\"std\":0,"
	    "\"l2\":0,\"hash\":\"1\",\"bag\":\"1\"}\n",
	    "no entry");
	refused(
	    "{\"step\":1,\"eval\":1,\"name\":\"x\",\"count\":1,\"nan\":0,\"inf\":0,\"min\":0,\"max\":0,\"mean\":0,\"std\":0,"
	    "\"l2\":0,\"hash\":\"1\",\"bag\":\"xyz\"}\n",
	    "no entry");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_values), cmocka_unit_test(in_the_middle),
		cmocka_unit_test(time_after_time),   cmocka_unit_test(turned_around),
		cmocka_unit_test(child_goes_on),     cmocka_unit_test(nowhere_to_write),
		cmocka_unit_test(no_logs),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
