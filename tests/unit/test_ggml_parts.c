/* Which elements of its sources an element of a node of ggml's is made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ggml_seen.h"
#include "tensors/part.h"

#define AT(...) ((const int64_t[LBX_GGML_AXES]){ __VA_ARGS__ })

static int start(void **state)
{
	(void)state;
	ggml_begin(false, 0x1800, 0x1800);
	return 0;
}

/* "0+3:2 4" is 0, 2, 4 along the first axis and 4 along the second; "some of" what is not exact. */
static void part_is(uint64_t node, const int64_t *at, uint32_t input, const char *expected)
{
	struct lbx_tensor t, x;
	struct lbx_part part;
	char found[128] = "";

	if (!set)
		ggml_see(&ggml_image_rests);
	assert_true(lbx_tensors_by_address(set, node, &t));
	if (!lbx_tensor_part(&t, at, input, &part)) {
		strcpy(found, "not known");
	} else if (part.nothing) {
		strcpy(found, "nothing");
	} else {
		assert_true(lbx_tensor_input(&t, input, &x));
		if (!part.exact)
			strcpy(found, "some of ");
		for (int i = 0; i < x.rank; i++) {
			char *to = found + strlen(found);
			to += sprintf(to, "%s%lld", i ? " " : "", (long long)part.first[i]);
			if (part.count[i] > 1)
				to += sprintf(to, "+%lld", (long long)part.count[i]);
			if (part.step[i] > 1)
				sprintf(to, ":%lld", (long long)part.step[i]);
			assert_true(part.first[i] + (part.count[i] - 1) * part.step[i] < lbx_shape(&x)[i]);
		}
	}
	assert_string_equal(found, expected);
	assert_true(lb_ok());
}

static void a_sum_is_made_at_the_same_place(void **state)
{
	uint64_t x = ggml_tensor("x", GGML_F32, NE(4, 3, 2, 1)), row = ggml_tensor("row", GGML_F32, NE(4, 1, 1, 1));
	uint64_t sum = ggml_node("sum", GGML_ADD, NE(4, 3, 2, 1), x, row);

	(void)state;
	part_is(sum, AT(1, 2, 3), 0, "1 2 3");
	part_is(sum, AT(1, 2, 3), 1, "3"); /* again and again */
	part_is(sum, AT(1, 2, 3), 2, "not known");
}

/* Two matrices of b's share one of a's. */
static void a_product_is_made_of_two_rows(void **state)
{
	uint64_t w = ggml_tensor("w", GGML_Q8_0, NE(64, 5, 2, 1)), x = ggml_tensor("x", GGML_F32, NE(64, 3, 4, 1));
	uint64_t y = ggml_node("y", GGML_MUL_MAT, NE(5, 3, 4, 1), w, x);

	(void)state;
	part_is(y, AT(3, 2, 4), 0, "1 4 0+64");
	part_is(y, AT(3, 2, 4), 1, "3 2 0+64");
	part_is(y, AT(0, 0, 0), 0, "0 0 0+64");
}

static void copies_are_made_in_their_order(void **state)
{
	uint64_t x = ggml_tensor("x", GGML_F32, NE(4, 3, 1, 1)), to = ggml_tensor("to", GGML_F32, NE(6, 2, 1, 1));
	uint64_t copy = ggml_node("copy", GGML_CPY, NE(6, 2, 1, 1), x, to);
	uint64_t dense = ggml_node("dense", GGML_CONT, NE(4, 3, 1, 1), x, 0);

	(void)state;
	part_is(copy, AT(1, 3), 0, "2 1"); /* the tenth */
	part_is(copy, AT(1, 3), 1, "nothing");
	part_is(dense, AT(2, 1), 0, "2 1");
}

static void views_are_made_where_they_lie(void **state)
{
	uint64_t x = ggml_tensor("x", GGML_F32, NE(4, 3, 1, 1)),
		 view = ggml_image_view(&image, "view", x, NE(2, 1, 1, 1), 24);

	(void)state;
	part_is(view, AT(1), 0, "1 3");
	part_is(view, AT(0), 0, "1 2");
}

/* The index is looked up; where it leads nowhere, all may be meant. */
static void a_row_is_the_one_that_its_index_says(void **state)
{
	uint64_t x = ggml_tensor("x", GGML_F32, NE(4, 3, 1, 1)), ids = ggml_tensor("ids", GGML_I32, NE(2, 1, 1, 1));
	uint64_t rows = ggml_node("rows", GGML_GET_ROWS, NE(4, 2, 1, 1), x, ids), data;

	(void)state;
	data = ggml_image_get(&image, ids + image.layout.data, 8);
	ggml_image_put(&image, data, 2, 4);
	ggml_image_put(&image, data + 4, 1, 4);
	part_is(rows, AT(0, 3), 0, "2 3");
	part_is(rows, AT(1, 3), 0, "1 3");
	part_is(rows, AT(1, 3), 1, "1");
	ggml_image_put(&image, data, 3, 4);
	part_is(rows, AT(0, 3), 0, "not known");
	ggml_image_put(&image, data, (uint64_t)-1, 4);
	part_is(rows, AT(0, 3), 0, "not known");
}

/* Sizes that do not fit each other lead to no place outside. */
static void what_does_not_fit_is_not_known(void **state)
{
	uint64_t x = ggml_tensor("x", GGML_F32, NE(4, 2, 1, 1)), y = ggml_node("y", GGML_MUL_MAT, NE(9, 9, 1, 1), x, x);

	(void)state;
	part_is(y, AT(8, 8), 0, "not known");
	part_is(y, AT(8, 8), 1, "not known");
	part_is(y, AT(1, 1), 0, "1 0+4");
}

/* What lies behind the results of a scan are states, of which there may be none. */
static void a_scan_without_states_is_not_known(void **state)
{
	uint64_t states = ggml_tensor("states", GGML_F32, NE(0, 2, 1, 1)),
		 x = ggml_tensor("x", GGML_F32, NE(2, 3, 1, 1)), a = ggml_tensor("a", GGML_F32, NE(1, 2, 1, 1)),
		 b = ggml_tensor("b", GGML_F32, NE(1, 3, 1, 1));
	uint64_t scan = ggml_node("scan", GGML_SSM_SCAN, NE(12, 1, 1, 1), states, x);
	const uint64_t sources[] = { states, x, x, a, b, b };

	(void)state;
	for (uint64_t i = 0; i < sizeof sources / sizeof *sources; i++)
		ggml_image_put(&image, scan + image.layout.sources + 8 * i, sources[i], 8);
	for (int64_t at = 0; at < 12; at += 11)
		for (uint32_t s = 0; s < sizeof sources / sizeof *sources; s++)
			part_is(scan, AT(at), s, "not known");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_sum_is_made_at_the_same_place, start, ggml_finish),
		cmocka_unit_test_setup_teardown(a_product_is_made_of_two_rows, start, ggml_finish),
		cmocka_unit_test_setup_teardown(copies_are_made_in_their_order, start, ggml_finish),
		cmocka_unit_test_setup_teardown(views_are_made_where_they_lie, start, ggml_finish),
		cmocka_unit_test_setup_teardown(a_row_is_the_one_that_its_index_says, start, ggml_finish),
		cmocka_unit_test_setup_teardown(what_does_not_fit_is_not_known, start, ggml_finish),
		cmocka_unit_test_setup_teardown(a_scan_without_states_is_not_known, start, ggml_finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
