/* Statistics gathered in parts by several threads are those of one pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mix.h"
#include "inspect/compare/compare.h"
#include "inspect/measure/survey.h"
#include "lazybones.h"
#include "target/process.h"

enum { LARGE = (5 << 20) + 12345, PIECE = 1000 };

struct pass {
	struct lbx_summary summary;
	struct lbx_sample sample;
};

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct pass *p = context;

	lbx_summary_add(&p->summary, elements, n, first);
	lbx_sample_add(&p->sample, elements, n, first);
	return true;
}

static void pass_init(struct pass *p, const struct lbx_array *a)
{
	lbx_summary_init(&p->summary, a->dtype);
	assert_true(lbx_sample_init(&p->sample, a->dtype, a->size));
}

static void near(long double a, long double b)
{
	assert_true(fabsl(a - b) <= 1e-11L * (fabsl(a) + fabsl(b)));
}

/* But for how sums are rounded. */
static void same_numbers(const struct pass *a, const struct pass *b)
{
	const struct lbx_summary *x = &a->summary, *y = &b->summary;

	assert_int_equal(x->count, y->count);
	assert_int_equal(x->finite, y->finite);
	assert_memory_equal(x->special, y->special, sizeof x->special);
	assert_memory_equal(x->first, y->first, sizeof x->first);
	assert_int_equal(x->argmin, y->argmin);
	assert_int_equal(x->argmax, y->argmax);
	assert_true(x->min == y->min && x->max == y->max);
	assert_int_equal(x->int_min, y->int_min);
	assert_int_equal(x->int_max, y->int_max);
	long double l2 = lbx_summary_l2(x), n = x->finite + 1;
	assert_true(fabsl(x->mean - y->mean) <= 1e-7L * l2 / sqrtl(n));
	assert_true(fabsl(x->m2 - y->m2) <= 1e-7L * x->m2);
	assert_true(fabsl(x->sum - y->sum) <= 1e-7L * l2 * sqrtl(n));
	assert_int_equal(a->sample.n, b->sample.n);
	assert_memory_equal(a->sample.values, b->sample.values, (size_t)a->sample.n * sizeof *a->sample.values);
}

static void same(const struct pass *a, const struct pass *b)
{
	same_numbers(a, b);
	near(a->summary.mean, b->summary.mean);
	near(a->summary.m2, b->summary.m2);
	near(a->summary.sum, b->summary.sum);
}

static void check(enum lb_dtype dtype, const void *elements, int64_t n)
{
	int64_t shape[] = { n }, strides[] = { 1 };
	struct lbx_out out = { .width = 80 };
	struct lbx_array array;
	struct pass whole, parts;

	assert_true(lbx_array_local(elements, n * lbx_dtype_bytes(dtype), dtype, 1, shape, strides, 0, &array));
	assert_ptr_equal(lbx_array_in_place(&array), elements);
	pass_init(&whole, &array);
	pass_init(&parts, &array);
	assert_true(lbx_array_walk(&array, &out, "", PIECE, add_piece, &whole));
	assert_true(lbx_survey(&array, &out, &parts.summary, &parts.sample));
	same(&whole, &parts);
	lbx_sample_deinit(&whole.sample);
	lbx_sample_deinit(&parts.sample);
}

static void in_parts(void **state)
{
	static const int64_t sizes[] = { LARGE, 1 << 21, (1 << 20) + 1, 1 << 20, 7 };
	static const enum lb_dtype dtypes[] = { LB_F32, LB_F16, LB_F64, LB_I64, LB_U64, LB_I8, LB_C64 };
	uint64_t *elements = malloc(LARGE * sizeof *elements), random = 1;

	(void)state;
	assert_non_null(elements);
	/* any bits: of floats some are NaN or Inf, and few are equal */
	for (int i = 0; i < LARGE; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		elements[i] = random ^ random >> 29;
	}
	for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			if (dtypes[d] != LB_F64 && dtypes[d] != LB_F32 && dtypes[d] != LB_C64)
				check(dtypes[d], elements, sizes[i]);
	/* whose sums have a meaning */
	double *numbers = (double *)elements;
	for (int i = 0; i < LARGE; i++) {
		memcpy(&random, &elements[i], sizeof random);
		numbers[i] = random % 99991 == 0   ? NAN
			     : random % 99989 == 0 ? -INFINITY
			     : random % 7 == 0     ? 0
						   : (double)(int64_t)random / (1LL << 40);
	}
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		check(LB_F64, numbers, sizes[i]);
	float *floats = (float *)elements;
	for (int i = 0; i < LARGE; i++)
		floats[i] = (float)numbers[i];
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		check(LB_F32, floats, sizes[i]);
		check(LB_C64, floats, sizes[i] / 2);
	}
	free(elements);
}

/* Blocks that are measured by their codes, in place and from outside: as numbers are. */
static void of_blocks(void **state)
{
	static const char *const names[] = { "iq1_s", "q1_0" };
	struct lbx_target *self;

	(void)state;
	if (!lbx_process_open(getpid(), &self))
		skip();
	for (int f = 0; f < 2; f++) {
		const struct lbx_encoding *e = lbx_encoding_of_blocks(names[f]);
		/* so many that a sample has one of 300, and whole blocks are no parts of it */
		int64_t n = (LBX_SAMPLE_MAX * 300LL - 77777) / e->elements, from = 3 * e->elements;
		int64_t shape[] = { n * e->elements }, strides[] = { 1 };
		uint8_t *blocks = malloc((size_t)((n + 3) * e->bytes));
		uint64_t random = 1;
		assert_non_null(blocks);
		for (int64_t i = 0; i < (n + 3) * e->bytes; i++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			blocks[i] = (uint8_t)(i % 2 ? 0x20 + (random >> 40) % 20 : random >> 56);
		}
		struct lbx_out out = { .width = 80 };
		struct lbx_array array;
		struct pass whole, parts, outside;
		assert_true(lbx_array_encoded(blocks, (n + 3) * e->bytes, e, 1, shape, strides, from, &array));
		assert_true(lbx_array_is_blocks(&array));
		pass_init(&whole, &array);
		pass_init(&parts, &array);
		pass_init(&outside, &array);
		assert_true(lbx_array_walk(&array, &out, "", 1 << 16, add_piece, &whole));
		assert_true(lbx_survey(&array, &out, &parts.summary, &parts.sample));
		array.local = NULL;
		array.target = self;
		assert_true(lbx_survey(&array, &out, &outside.summary, &outside.sample));
		same_numbers(&whole, &parts);
		same(&parts, &outside);
		lbx_sample_deinit(&whole.sample);
		lbx_sample_deinit(&parts.sample);
		lbx_sample_deinit(&outside.sample);
		free(blocks);
	}
	lbx_target_destroy(self);
}

static void of_extremes(void **state)
{
	const int64_t n = 3 << 20;
	uint64_t *elements = calloc((size_t)n, sizeof *elements);

	(void)state;
	assert_non_null(elements);
	check(LB_U64, elements, n); /* all equal: the first counts */
	elements[n - 1] = UINT64_MAX;
	elements[n / 2] = INT64_MAX;
	check(LB_U64, elements, n);
	check(LB_I64, elements, n);
	for (int64_t i = 0; i < n; i++)
		((float *)elements)[i] = NAN;
	check(LB_F32, elements, n); /* nothing finite */
	free(elements);
}

/* An array of this process as another would see it: nothing of it is at hand. */
static struct lbx_array from_outside(struct lbx_target *target, const float *elements, int64_t rows, int64_t columns,
				     int64_t row, int64_t column)
{
	int64_t shape[] = { rows, columns }, strides[] = { row, column };
	struct lbx_array array;

	assert_true(lbx_array_local(elements, LARGE * 4, LB_F32, 2, shape, strides, 0, &array));
	array.local = NULL;
	array.target = target;
	return array;
}

static void of_a_process(void **state)
{
	const int64_t columns = 1 << 10, rows = LARGE / columns;
	struct lbx_out out = { .width = 80 };
	struct lbx_target *target;
	struct lbx_comparison c;
	float *elements = mmap(NULL, LARGE * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(elements, MAP_FAILED);
	if (!lbx_process_open(getpid(), &target))
		skip(); /* a process cannot be read here */
	for (int64_t i = 0; i < LARGE; i++)
		elements[i] = (float)(i * 2654435761 % 1000003);
	for (int transposed = 0; transposed < 2; transposed++) {
		struct lbx_array away = transposed ? from_outside(target, elements, columns, rows, 1, columns)
						   : from_outside(target, elements, rows, columns, columns, 1);
		struct lbx_array here = away;
		struct pass whole, parts;
		here.local = (const char *)elements;
		pass_init(&whole, &here);
		pass_init(&parts, &away);
		assert_true(lbx_survey(&here, &out, &whole.summary, &whole.sample));
		assert_true(lbx_survey(&away, &out, &parts.summary, &parts.sample));
		assert_int_equal(parts.summary.count, rows * columns);
		same(&whole, &parts);
		assert_true(lbx_compare(&here, &away, &(struct lbx_tolerance){ 0 }, NULL, &out, &c));
		assert_int_equal(c.count, rows * columns);
		assert_int_equal(c.different, 0);
		lbx_sample_deinit(&whole.sample);
		lbx_sample_deinit(&parts.sample);
	}

	/* a page that is gone: whichever thread comes upon it, the caller hears of it */
	long page = sysconf(_SC_PAGESIZE);
	char *gone = (char *)(((uintptr_t)&elements[LARGE / 2] + (uintptr_t)page) & -(uintptr_t)page);
	struct lbx_array away = from_outside(target, elements, rows, columns, columns, 1);
	struct pass p;
	char address[32];
	assert_int_equal(munmap(gone, (size_t)page), 0);
	snprintf(address, sizeof address, "%p", (void *)gone);
	pass_init(&p, &away);
	assert_false(lbx_survey(&away, &out, &p.summary, &p.sample));
	assert_non_null(strstr(lb_error_message(), address));
	lb_clear_error();
	assert_false(lbx_compare(&away, &away, &(struct lbx_tolerance){ 0 }, NULL, &out, &c));
	assert_non_null(strstr(lb_error_message(), address));
	lb_clear_error();
	lbx_sample_deinit(&p.sample);
	lbx_target_destroy(target);
	munmap(elements, LARGE * 4);
}

static bool halt(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)what;
	(void)total;
	*(int64_t *)out->context = done;
	return false;
}

static void interrupted(void **state)
{
	int64_t shape[] = { LARGE }, strides[] = { 1 }, seen = 0;
	char *elements = calloc(LARGE, 1);
	struct lbx_out out = { .width = 80, .context = &seen, .progress = halt };
	struct lbx_array array;
	struct pass p;

	(void)state;
	assert_non_null(elements);
	assert_true(lbx_array_local(elements, LARGE, LB_I8, 1, shape, strides, 0, &array));
	pass_init(&p, &array);
	assert_false(lbx_survey(&array, &out, &p.summary, &p.sample));
	assert_int_equal(lb_error_cause(), LB_INTERRUPTED);
	assert_true(seen > 0);
	lb_clear_error();
	lbx_sample_deinit(&p.sample);
	free(elements);
}

/* ---- however many threads there are ---- */

struct result {
	struct lbx_summary summary;
	uint64_t sample; /* of its values' bits */
};

static struct result result_of(const struct lbx_array *array)
{
	struct lbx_out out = { .width = 80 };
	struct result result;
	struct pass p;

	memset(&result, 0, sizeof result); /* and what is between the members */
	pass_init(&p, array);
	assert_true(lbx_survey(array, &out, &p.summary, &p.sample));
	result.summary = p.summary;
	for (int64_t i = 0; i < p.sample.n; i++) {
		uint64_t bits;
		memcpy(&bits, &p.sample.values[i], sizeof bits);
		result.sample = lb_mix(result.sample + bits);
	}
	lbx_sample_deinit(&p.sample);
	return result;
}

enum { ARRAYS = 6 };

/* Plain, transposed, each third, and in blocks. */
static void make_arrays(const void *bytes, struct lbx_array ret[ARRAYS])
{
	static const int64_t flat[] = { LARGE }, rows[] = { 1 << 10, LARGE >> 10 }, third[] = { LARGE / 3 };
	static const int64_t dense[] = { 1 }, transposed[] = { 1, 1 << 10 }, each_third[] = { 3 };
	static const char *const blocks[] = { "q4_K", "iq1_s" };

	assert_true(lbx_array_local(bytes, LARGE * 4, LB_F32, 1, flat, dense, 0, &ret[0]));
	assert_true(lbx_array_local(bytes, LARGE * 8, LB_F64, 1, flat, dense, 0, &ret[1]));
	assert_true(lbx_array_local(bytes, LARGE * 4, LB_F32, 2, rows, transposed, 0, &ret[2]));
	assert_true(lbx_array_local(bytes, LARGE * 8, LB_F64, 1, third, each_third, 0, &ret[3]));
	for (int i = 0; i < 2; i++) {
		const struct lbx_encoding *e = lbx_encoding_of_blocks(blocks[i]);
		assert_true(lbx_array_encoded(bytes, LARGE * 8, e, 1, flat, dense, 0, &ret[4 + i]));
	}
}

static void write_results(const void *bytes, int fd)
{
	struct lbx_array arrays[ARRAYS];

	make_arrays(bytes, arrays);
	for (int i = 0; i < ARRAYS; i++) {
		struct result result = result_of(&arrays[i]);
		assert_int_equal(write(fd, &result, sizeof result), sizeof result);
	}
}

/* The number of threads is decided once a process. */
static void read_results(const char *threads, const void *bytes, struct result ret[ARRAYS])
{
	int ends[2], status;

	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("LAZYBONES_THREADS", threads, 1);
		write_results(bytes, ends[1]);
		_exit(0);
	}
	assert_true(pid > 0);
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(read(ends[0], ret, ARRAYS * sizeof *ret), ARRAYS * sizeof *ret);
	close(ends[0]);
}

/* What a long double does not fill may hold anything. */
static void is_same_result(const struct result *a, const struct result *b)
{
	const struct lbx_summary *x = &a->summary, *y = &b->summary;

	assert_memory_equal(x, y, offsetof(struct lbx_summary, mean));
	assert_true(x->mean == y->mean && x->m2 == y->m2 && x->sum == y->sum);
	assert_int_equal(a->sample, b->sample);
}

static void threads_change_no_bit(void **state)
{
	static const char *const threads[] = { "1", "2", "8" };
	double *numbers = malloc(LARGE * sizeof *numbers);
	struct result results[3][ARRAYS];
	uint64_t random = 1;

	(void)state;
	assert_non_null(numbers);
	for (int i = 0; i < LARGE; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		numbers[i] = random % 99991 == 0 ? NAN : (double)(int64_t)random / (1LL << 40);
	}
	for (int i = 0; i < 3; i++)
		read_results(threads[i], numbers, results[i]);
	for (int i = 0; i < ARRAYS; i++) {
		assert_true(results[0][i].summary.count >= LARGE / 3 && results[0][i].summary.finite > 0);
		is_same_result(&results[1][i], &results[0][i]);
		is_same_result(&results[2][i], &results[0][i]);
	}
	free(numbers);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_change_no_bit), /* first: it forks */
		cmocka_unit_test(in_parts),
		cmocka_unit_test(of_blocks),
		cmocka_unit_test(of_extremes),
		cmocka_unit_test(of_a_process),
		cmocka_unit_test(interrupted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
