/* What `browse` sees: the window over an array, its moves, sorting and finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "inspect/browse/window.h"

static struct lbx_array array_of(const void *data, enum lb_dtype dtype, int rank, const int64_t *shape)
{
	struct lbx_array a;
	int64_t strides[LBX_ARRAY_RANK], size = 1;

	for (int i = rank; i-- > 0;) {
		strides[i] = size;
		size *= shape[i];
	}
	assert_true(lbx_array_local(data, size * lbx_dtype_bytes(dtype), dtype, rank, shape, strides, 0, &a));
	return a;
}

static void the_cursor_is_always_seen(void **state)
{
	const int64_t shape[] = { 5, 1000, 70 };
	struct lbx_window w;
	uint32_t random = 1;

	(void)state;
	lbx_window_begin(&w, 3, shape);
	for (int i = 0; i < 20000; i++) {
		random = random * 1664525 + 1013904223;
		switch (random >> 28) {
		case 0: lbx_window_page(&w, 1, 0); break;
		case 1: lbx_window_page(&w, -1, 1); break;
		case 2: lbx_window_step(&w, random & 1 ? 1 : -1); break;
		case 3: lbx_window_next_other(&w); break;
		case 4: lbx_window_next_rows(&w); break;
		case 5: lbx_window_next_columns(&w); break;
		case 6: lbx_window_transpose(&w); break;
		case 7: lbx_window_move(&w, INT64_MAX, INT64_MIN); break;
		case 8: lbx_window_move(&w, INT64_MIN, INT64_MAX); break;
		default: lbx_window_move(&w, (int)(random >> 8 & 63) - 32, (int)(random >> 14 & 63) - 32);
		}
		lbx_window_fit(&w, 1 + (random >> 4 & 31), 1 + (random >> 9 & 15));
		assert_true(w.row_axis != w.column_axis && w.other != w.row_axis && w.other != w.column_axis);
		for (int axis = 0; axis < 3; axis++)
			assert_in_range(w.at[axis], 0, shape[axis] - 1);
		assert_int_equal(lbx_window_row_at(&w, w.row), w.at[w.row_axis]);
		assert_in_range(w.row - w.top, 0, lbx_window_seen_rows(&w) - 1);
		assert_in_range(lbx_window_column(&w) - w.left, 0, lbx_window_seen_columns(&w) - 1);
		assert_in_range(w.top + lbx_window_seen_rows(&w), 1, lbx_window_rows(&w));
	}
	lbx_window_deinit(&w);
}

/* Whichever axes are rows and columns: what is read is what stands there. */
static void any_two_axes_are_seen(void **state)
{
	static float data[2 * 3 * 4 * 5];
	const int64_t shape[] = { 2, 3, 4, 5 };
	struct lbx_array a = array_of(data, LB_F32, 4, shape), plane;
	struct lbx_window w;

	(void)state;
	for (int i = 0; i < 2 * 3 * 4 * 5; i++)
		data[i] = (float)i;
	for (int rows = 0; rows < 4; rows++) {
		for (int columns = 0; columns < 4; columns++) {
			if (rows == columns)
				continue;
			lbx_window_begin(&w, 4, shape);
			lbx_window_go(&w, (int64_t[]){ 1, 2, 3, 4 });
			assert_true(lbx_window_set_rows(&w, rows) && lbx_window_set_columns(&w, columns));
			if (w.row_axis != rows)
				assert_true(lbx_window_set_rows(&w, rows));
			assert_true(lbx_window_plane(&w, &a, &plane));
			for (int64_t i = 0; i < shape[rows]; i++) {
				float got[5];
				assert_true(lbx_window_read(&w, &plane, i, 0, shape[columns], got));
				for (int64_t k = 0; k < shape[columns]; k++) {
					int64_t at[] = { 1, 2, 3, 4 };
					at[rows] = i;
					at[columns] = k;
					assert_float_equal(got[k], data[lbx_array_at(&a, at)], 0);
				}
			}
			lbx_window_deinit(&w);
		}
	}
}

static void few_axes_will_do(void **state)
{
	static const int32_t data[] = { 7, 8, 9 };
	struct lbx_array a = array_of(data, LB_I32, 0, NULL), plane;
	struct lbx_window w;
	int32_t got[3];

	(void)state;
	lbx_window_begin(&w, 0, NULL);
	lbx_window_move(&w, 5, -5);
	lbx_window_transpose(&w);
	lbx_window_next_rows(&w);
	assert_true(lbx_window_plane(&w, &a, &plane) && lbx_window_read(&w, &plane, 0, 0, 1, got));
	assert_int_equal(got[0], 7);
	assert_false(lbx_window_jump(&w, "0"));
	lb_clear_error();
	a = array_of(data, LB_I32, 1, (int64_t[]){ 3 });
	lbx_window_begin(&w, 1, a.shape);
	assert_int_equal(lbx_window_rows(&w), 3);
	assert_true(lbx_window_plane(&w, &a, &plane) && lbx_window_read(&w, &plane, 2, 0, 1, got));
	assert_int_equal(got[0], 9);
	lbx_window_transpose(&w);
	assert_int_equal(lbx_window_columns(&w), 3);
	assert_true(lbx_window_plane(&w, &a, &plane) && lbx_window_read(&w, &plane, 0, 1, 2, got));
	assert_int_equal(got[1], 9);
	lbx_window_deinit(&w);
}

static void sixty_four_axes_are_stepped_through(void **state)
{
	static const uint8_t data[1];
	int64_t shape[64];
	struct lbx_window w;
	struct lbx_array plane;

	(void)state;
	for (int i = 0; i < 64; i++)
		shape[i] = 1;
	struct lbx_array a = array_of(data, LB_U8, 64, shape);
	lbx_window_begin(&w, 64, shape);
	for (int i = 0; i < 64; i++) {
		lbx_window_next_rows(&w);
		lbx_window_next_other(&w);
		assert_true(lbx_window_plane(&w, &a, &plane));
		assert_int_equal(plane.rank, 2);
	}
	lbx_window_deinit(&w);
}

static void jumps(void **state)
{
	static const struct {
		const char *text;
		int64_t at[3];
		const char *error;
	} cases[] = {
		{ "1, 2, 3", { 1, 2, 3 }, NULL },
		{ "[0,-1,-4]", { 0, 2, 0 }, NULL },
		{ "2, 1", { 1, 2, 1 }, NULL },
		{ "1", { 1, 1, 3 }, NULL },
		{ "1,2,3,4", { 0 }, "4 indices for 3 axes" },
		{ "2,0,0", { 0 }, "index 2 is out of range for axis 0 with size 2" },
		{ "0,0,-5", { 0 }, "index -5 is out of range for axis 2 with size 4" },
		{ "1,,2", { 0 }, "'1,,2' is no index: write 3, 17" },
		{ "[1", { 0 }, "'[1' is no index: write 3, 17" },
		{ "99999999999999999999", { 0 }, "'99999999999999999999' is no index: write 3, 17" },
	};
	struct lbx_window w;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		lbx_window_begin(&w, 3, (int64_t[]){ 2, 3, 4 });
		lbx_window_go(&w, (int64_t[]){ 1, 2, 3 });
		assert_int_equal(lbx_window_jump(&w, cases[i].text), !cases[i].error);
		if (cases[i].error)
			assert_string_equal(lb_error_message(), cases[i].error);
		else
			assert_memory_equal(w.at, cases[i].at, sizeof cases[i].at);
		lb_clear_error();
		lbx_window_deinit(&w);
	}
}

static void rows_are_sorted(void **state)
{
	static float data[] = { 0, 3, 1, NAN, 2, -1, 3, 3, 4, INFINITY };
	const int64_t down[] = { 4, 0, 3, 2, 1 }, up[] = { 2, 0, 3, 4, 1 }, shape[] = { 5, 2 };
	struct lbx_array a = array_of(data, LB_F32, 2, shape);
	struct lbx_out out = { .width = 80 };
	struct lbx_window w;

	(void)state;
	lbx_window_begin(&w, 2, shape);
	lbx_window_go(&w, (int64_t[]){ 2, 1 });
	assert_true(lbx_window_sort(&w, &a, false, &out));
	assert_memory_equal(w.order, up, sizeof up);
	assert_int_equal(w.row, 0);
	assert_true(lbx_window_sort(&w, &a, true, &out));
	assert_memory_equal(w.order, down, sizeof down);
	assert_int_equal(w.row, 3);
	assert_int_equal(w.at[0], 2);
	lbx_window_move(&w, -1, 0);
	assert_int_equal(w.at[0], 3);
	lbx_window_unsort(&w);
	assert_int_equal(w.row, 3);
	lbx_window_deinit(&w);
}

static bool stop(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out, (void)what, (void)total;
	return done == 0;
}

static void values_are_found(void **state)
{
	static double data[100000];
	struct lbx_array a = array_of(data, LB_F64, 1, (int64_t[]){ 100000 });
	struct lbx_out out = { .width = 80 };
	struct lbx_wanted wanted;
	struct lbx_window w;
	int64_t at[LBX_ARRAY_RANK];

	(void)state;
	data[10] = NAN;
	data[99990] = -5;
	lbx_window_begin(&w, 1, a.shape);
	assert_true(lbx_wanted_parse(" abs>3 ", &wanted));
	assert_int_equal(lbx_window_find(&w, &a, NULL, &wanted, LBX_FIND_MAX, &out, at), LBX_FOUND);
	assert_int_equal(at[0], 99990);
	assert_int_equal(lbx_window_find(&w, &a, NULL, &wanted, 1000, &out, at), LBX_FOUND_TOO_FAR);
	lbx_window_go(&w, at);
	assert_true(lbx_wanted_parse("NaN", &wanted));
	assert_int_equal(lbx_window_find(&w, &a, NULL, &wanted, LBX_FIND_MAX, &out, at), LBX_FOUND_BEFORE);
	assert_int_equal(at[0], 10);
	assert_true(lbx_wanted_parse("== 6", &wanted));
	assert_int_equal(lbx_window_find(&w, &a, NULL, &wanted, LBX_FIND_MAX, &out, at), LBX_FOUND_NONE);
	out.progress = stop;
	assert_int_equal(lbx_window_find(&w, &a, NULL, &wanted, LBX_FIND_MAX, &out, at), LBX_FIND_FAILED);
	assert_int_equal(lb_error_cause(), LB_INTERRUPTED);
	lb_clear_error();
	lbx_window_deinit(&w);
}

static void conditions(void **state)
{
	static const char *const bad[] = { "", "3", "> ", "> 3 4", ">> 3", "abs", "nano", "> nan" };
	const int64_t large = 9007199254740993;
	struct lbx_wanted wanted;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_false(lbx_wanted_parse(bad[i], &wanted));
		assert_non_null(strstr(lb_error_message(), "is no condition"));
		lb_clear_error();
	}
	assert_true(lbx_wanted_parse("== 9007199254740992", &wanted));
	assert_false(lbx_wanted_holds(&wanted, lbx_element_number(&large, LB_I64)));
	assert_true(lbx_wanted_parse("inf", &wanted));
	assert_true(lbx_wanted_holds(&wanted, -INFINITY));
	assert_true(lbx_wanted_parse("!= 0", &wanted));
	assert_true(lbx_wanted_holds(&wanted, 1e-300L));
}

static void what_is_seen_is_measured(void **state)
{
	static const float data[] = { 1, -INFINITY, NAN, 3 };
	struct lbx_seen seen = { 0 };
	const float a = 2, b = 5, nan = NAN;

	(void)state;
	lbx_seen_add(&seen, data, 4, LB_F32);
	assert_true(seen.low == 1 && seen.high == 3 && seen.mean == 2);
	assert_true(seen.finite == 2 && seen.nan == 1 && seen.inf == 1);
	assert_true(lbx_element_difference(&a, LB_F32, &b, LB_F32) == -3);
	assert_true(lbx_element_difference(&nan, LB_F32, &nan, LB_F32) == 0);
	assert_true(isnan(lbx_element_difference(&nan, LB_F32, &b, LB_F32)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cursor_is_always_seen),
		cmocka_unit_test(any_two_axes_are_seen),
		cmocka_unit_test(few_axes_will_do),
		cmocka_unit_test(sixty_four_axes_are_stepped_through),
		cmocka_unit_test(jumps),
		cmocka_unit_test(rows_are_sorted),
		cmocka_unit_test(values_are_found),
		cmocka_unit_test(conditions),
		cmocka_unit_test(what_is_seen_is_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
