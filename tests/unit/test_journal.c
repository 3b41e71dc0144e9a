/* The log of values: what the runtime writes, against figures by hand, and what the reader makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
static void begin_names_at(const char *names, const char *file)
{
	memset(lb_symtab_root.log_names, 0, LB_LOG_BYTES);
	memset(lb_symtab_root.log_file, 0, LB_LOG_BYTES);
	snprintf(lb_symtab_root.log_names, LB_LOG_BYTES, "%s", names);
	snprintf(lb_symtab_root.log_file, LB_LOG_BYTES, "%s", file);
	__atomic_store_n(&lb_symtab_root.log, (lb_symtab_root.log + 1) | 1, __ATOMIC_RELEASE);
}

static void begin(const char *names)
{
	begin_names_at(names, path);
}

static void compute(const char *name)
{
	LB_SCOPE {
		lb_eval(lb_named(name, lb_add(lb_arange(0, 3, 1, LB_F32), lb_scalar(0.5))));
	}
	assert_true(lb_ok());
}

static struct lbx_value_log end(void)
{
	struct lbx_value_log log;

	lb_symtab_root.log = (lb_symtab_root.log + 1) & ~1u;
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

/* The program goes on, and no more is logged. */
static void given_up(const char *to)
{
	begin_names_at("*", to);
	compute("x");
	assert_int_equal(lb_symtab_root.log & 1, 0);
}

static void nowhere_to_write(void **state)
{
	char fifo[LB_LOG_BYTES + 8];

	(void)state;
	given_up("/nonexistent/log");
	given_up("/dev/full");
	snprintf(fifo, sizeof fifo, "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	given_up(fifo);
	/* who read it is gone */
	int reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	begin_names_at("*", fifo);
	compute("first");
	assert_int_equal(lb_symtab_root.log & 1, 1);
	close(reader);
	compute("second");
	assert_int_equal(lb_symtab_root.log & 1, 0);
	unlink(fifo);
}

/* Who is forked before anything is logged does not begin the file anew. */
static void forked_before_the_first(void **state)
{
	int status, go[2];
	char byte = 0;

	(void)state;
	begin("*");
	assert_int_equal(pipe(go), 0);
	pid_t child = fork();
	if (child == 0) {
		bool told = read(go[0], &byte, 1) == 1;
		compute("child");
		_exit(!told);
	}
	compute("parent");
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(go[0]);
	close(go[1]);
	struct lbx_value_log log = end();
	assert_non_null(lbx_value_log_find(&log, "parent", 1));
	assert_non_null(lbx_value_log_find(&log, "child", 1));
	lbx_value_log_close(&log);
}

static size_t lines_of(const char *file)
{
	struct lbx_value_log log;

	if (!lbx_value_log_read(file, &quiet, &log))
		fail_msg("%s", lb_error_message());
	size_t n = log.n;
	lbx_value_log_close(&log);
	unlink(file);
	return n;
}

static void a_file_each(void **state)
{
	char file[LB_LOG_BYTES + 16];
	int status;

	(void)state;
	snprintf(file, sizeof file, "%s.%%p", path);
	begin_names_at("*", file);
	compute("parent");
	pid_t child = fork();
	if (child == 0) {
		compute("child");
		compute("child");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	compute("parent");
	compute("parent");
	snprintf(file, sizeof file, "%s.%d", path, getpid());
	assert_int_equal(lines_of(file), 3);
	snprintf(file, sizeof file, "%s.%d", path, child);
	assert_int_equal(lines_of(file), 2);
}

/* A signal would end the child. */
static void a_limit_of_file_sizes(void **state)
{
	int status;

	(void)state;
	pid_t child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 400, 400 });
		begin("*");
		for (int i = 0; i < 10; i++)
			compute("x");
		_exit(lb_symtab_root.log & 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A program that closes what it has not opened, and opens a file of its own. */
static void another_file_of_that_number(void **state)
{
	FILE *own = tmpfile();
	struct stat opened;

	(void)state;
	assert_non_null(own);
	begin("*");
	compute("before");
	for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
		if (fd != fileno(own) && fcntl(fd, F_GETFD) >= 0)
			dup2(fileno(own), fd);
	compute("after");
	assert_int_equal(fstat(fileno(own), &opened), 0);
	assert_int_equal(opened.st_size, 0);
	fclose(own);
	assert_int_equal(lb_symtab_root.log & 1, 0);
}

/* Off and on again goes to the file that was named last. */
static void to_another_file(void **state)
{
	char other[LB_LOG_BYTES + 8];

	(void)state;
	begin("*");
	compute("one");
	struct lbx_value_log log = end();
	assert_int_equal(log.n, 1);
	lbx_value_log_close(&log);
	snprintf(other, sizeof other, "%s.other", path);
	begin_names_at("*", other);
	compute("two");
	compute("three");
	log = end();
	assert_int_equal(log.n, 1); /* as it was */
	lbx_value_log_close(&log);
	assert_true(lbx_value_log_read(other, &quiet, &log));
	assert_int_equal(log.n, 2);
	lbx_value_log_close(&log);
	unlink(other);
}

/* Names that are no text, and programs whose numbers have commas. */
static void odd_text(void **state)
{
	(void)state;
	const char *known[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (setlocale(LC_NUMERIC, known[i]))
			break;
	begin("*");
	compute("a\xff\xc3");
	compute("\xc3\xa4");
	setlocale(LC_NUMERIC, "C");
	struct lbx_value_log log = end();
	assert_int_equal(log.n, 2);
	assert_string_equal(log.names[0]->name, "a\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(log.names[1]->name, "\xc3\xa4");
	figures(&log.list[0], 3, 0.5, 2.5, 1.5, sqrt(2. / 3), sqrt(8.75));
	lbx_value_log_close(&log);
}

static void *compute_some(void *arg)
{
	for (int i = 0; i < 200; i++)
		compute(arg);
	return NULL;
}

/* Lines stay whole. */
static void from_many_threads(void **state)
{
	char names[4][8];
	pthread_t threads[4];

	(void)state;
	begin("*");
	for (int i = 0; i < 4; i++) {
		snprintf(names[i], sizeof names[i], "x%d", i);
		assert_int_equal(pthread_create(&threads[i], NULL, compute_some, names[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	struct lbx_value_log log = end();
	assert_int_equal(log.n_names, 4);
	for (int i = 0; i < 4; i++)
		assert_non_null(lbx_value_log_find(&log, names[i], 200));
	assert_int_equal(log.n, 800);
	lbx_value_log_close(&log);
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
		cmocka_unit_test(figures_of_values),       cmocka_unit_test(in_the_middle),
		cmocka_unit_test(time_after_time),         cmocka_unit_test(turned_around),
		cmocka_unit_test(child_goes_on),           cmocka_unit_test(nowhere_to_write),
		cmocka_unit_test(forked_before_the_first), cmocka_unit_test(a_file_each),
		cmocka_unit_test(a_limit_of_file_sizes),   cmocka_unit_test(another_file_of_that_number),
		cmocka_unit_test(to_another_file),         cmocka_unit_test(odd_text),
		cmocka_unit_test(from_many_threads),       cmocka_unit_test(no_logs),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
