/* A mapped file that becomes shorter does not end who reads it, in whichever thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/measure/survey.h"
#include "target/cut.h"

enum { SIZE = 8 << 20, KEPT = 3 << 20 };

/* A file of ones, of which only the beginning is left; to unmap. */
static char *cut_file(void)
{
	FILE *file = tmpfile();
	char *bytes = malloc(SIZE);

	assert_non_null(file);
	assert_non_null(bytes);
	memset(bytes, 1, SIZE);
	assert_int_equal(fwrite(bytes, 1, SIZE, file), SIZE);
	free(bytes);
	assert_int_equal(fflush(file), 0);
	char *map = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(ftruncate(fileno(file), KEPT), 0);
	fclose(file);
	return map;
}

static void reads_as_zeros(void **state)
{
	char *map = cut_file();

	(void)state;
	lbx_cut_guard();
	assert_int_equal(map[KEPT - 1], 1);
	assert_false(lbx_cut_seen());
	assert_int_equal(map[KEPT], 0);
	assert_true(lbx_cut_seen());
	assert_int_equal(map[SIZE - 1], 0);
	assert_true(lbx_cut_end());
	lbx_cut_guard();
	assert_int_equal(map[KEPT], 0); /* stays */
	assert_false(lbx_cut_end());
	munmap(map, SIZE);
}

static void in_all_threads(void **state)
{
	int64_t shape[] = { SIZE }, strides[] = { 1 };
	struct lbx_out out = { .width = 80 };
	struct lbx_summary summary;
	struct lbx_sample sample;
	struct lbx_array array;
	char *map = cut_file();

	(void)state;
	assert_true(lbx_array_local(map, SIZE, LB_U8, 1, shape, strides, 0, &array));
	lbx_summary_init(&summary, LB_U8);
	assert_true(lbx_sample_init(&sample, LB_U8, SIZE));
	lbx_cut_guard();
	assert_true(lbx_survey(&array, &out, &summary, &sample));
	assert_true(lbx_cut_end());
	assert_int_equal(summary.special[LBX_ZERO], SIZE - KEPT);
	assert_int_equal(summary.first[LBX_ZERO], KEPT);
	lbx_sample_deinit(&sample);
	munmap(map, SIZE);
}

/* Afterwards, and for what is no mapped file, a bus error is what it was. */
static void others_stay(void **state)
{
	int status;

	(void)state;
	for (int sent = 0; sent < 2; sent++) {
		char *map = cut_file();
		fflush(NULL);
		pid_t child = fork();
		if (child == 0) {
			signal(SIGBUS, SIG_DFL);
			lbx_cut_guard();
			if (sent) {
				raise(SIGBUS);
				_exit(0);
			}
			lbx_cut_end();
			_exit(*(volatile char *)(map + KEPT));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
		munmap(map, SIZE);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_as_zeros),
		cmocka_unit_test(in_all_threads),
		cmocka_unit_test(others_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
