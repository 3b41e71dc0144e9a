/* Weights whose blocks a backend has put into another order: read where it is known which one, else refused by its
 * name, however what tells it is damaged. What interleaves are is test_interleave's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ggml_seen.h"
#include "inspect/tensor/array.h"

#define CLASS(of) "N4ggml3cpu6repack13tensor_traitsI" of "L9ggml_type8EEE"

static const char of_q4_0[] = CLASS("10block_q4_0Ll8ELl8E");

enum { COLUMNS = 96, ROWS = 16 };

static int start(void **state)
{
	(void)state;
	ggml_begin(true, 0x2800, 0x2000);
	return 0;
}

/* Weights in a buffer of that kind. */
static uint64_t weights(const char *name, uint32_t type, const int64_t ne[LBX_GGML_AXES], uint64_t buffer,
			uint64_t extra)
{
	uint64_t at = ggml_tensor(name, type, ne);

	ggml_image_put(&image, at + LBX_GGML_BUFFER, buffer, 8);
	ggml_image_put(&image, at + image.layout.extra, extra, 8);
	return at;
}

static struct lbx_tensor named(const char *name)
{
	struct lbx_tensor t = { .id = 0 };

	ggml_see(&ggml_image_rests);
	if (!ggml_named(name, &t))
		fail_msg("%s is not there, or is damaged", name);
	return t;
}

static void is_refused(const char *name, const char *why)
{
	struct lbx_tensor t = named(name);
	struct lbx_array a;
	char found[256];

	assert_int_equal(t.state, LBX_REPACKED);
	lbx_describe_state(&t, found, sizeof found);
	assert_string_equal(found, why);
	assert_false(lbx_array_of_tensor(&image.target, &t, &a));
	lb_clear_error();
}

/* Block x of row r has the scale (r + 1) / 2 and the value x - 8 everywhere: units of 8 scales and as many quants. */
static void fill(uint64_t tensor)
{
	static const uint16_t halves[] = { 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4100, 0x4200, 0x4300, 0x4400,
					   0x4480, 0x4500, 0x4580, 0x4600, 0x4680, 0x4700, 0x4780, 0x4800 };
	uint64_t at = ggml_image_get(&image, tensor + image.layout.data, 8);

	for (int group = 0; group < ROWS / 8; group++)
		for (int x = 0; x < COLUMNS / 32; x++) {
			for (int r = 0; r < 8; r++, at += 2)
				ggml_image_put(&image, at, halves[group * 8 + r], 2);
			for (int i = 0; i < 128; i++, at++)
				ggml_image_put(&image, at, (uint64_t)((x | x << 4) ^ 0x88), 1);
		}
}

static void is_read(const struct lbx_tensor *t, int first_row)
{
	struct lbx_array a;
	float row[COLUMNS];

	assert_int_equal(t->state, LBX_READY);
	if (!lbx_array_of_tensor(&image.target, t, &a))
		fail_msg("%s", lb_error_message());
	for (int r = 0; r < lbx_shape(t)[0]; r++) {
		assert_true(lbx_array_run(&a, (int64_t[]){ r, 0 }, COLUMNS, row));
		for (int i = 0; i < COLUMNS; i++)
			assert_true(row[i] == (float)(first_row + r + 1) / 2 * (float)(i / 32 - 8));
	}
}

static void a_known_order_is_read(void **state)
{
	uint64_t buffer = ggml_image_repacking(&image);
	uint64_t w =
	    weights("w", GGML_Q4_0, NE(COLUMNS, ROWS, 1, 1), buffer, ggml_image_object_of_class(&image, of_q4_0));
	struct lbx_tensor t;
	uint64_t begin, end;

	(void)state;
	fill(w);
	for (image.regions.maps = false;; image.regions.maps = true) {
		t = named("w");
		assert_string_equal(t.encoding->name, "q4_0");
		assert_string_equal(t.encoding->interleave->name, "q4_0_8x8");
		assert_string_equal(t.memory, "CPU_REPACK");
		is_read(&t, 0);
		assert_true(lbx_tensor_range(&t, &begin, &end));
		assert_int_equal(end - begin, COLUMNS * ROWS / 32 * 18);
		if (image.regions.maps)
			break;
	}
}

/* As until 2024-12: `extra` is a type's number, and as in files of that time. */
static void an_order_is_a_type(void **state)
{
	uint64_t buffer = ggml_image_repacking(&image);

	(void)state;
	fill(weights("w", GGML_Q4_0, NE(COLUMNS, ROWS, 1, 1), buffer, GGML_Q4_0_8X8));
	fill(weights("of a file", GGML_Q4_0_8X8, NE(COLUMNS, ROWS, 1, 1), image.host, 0));
	weights("no order", GGML_Q4_0, NE(COLUMNS, ROWS, 1, 1), buffer, GGML_Q8_0);
	struct lbx_tensor t = named("w");
	is_read(&t, 0);
	t = named("of a file");
	assert_string_equal(t.encoding->name, "q4_0_8x8");
	is_read(&t, 0);
	is_refused("no order", "is stored as q8_0 in CPU_REPACK, an order that is not known");
}

/* Of whole groups of rows; no other part. */
static void views_are_of_groups(void **state)
{
	enum { ROW = COLUMNS / 32 * 18 };
	uint64_t buffer = ggml_image_repacking(&image);
	uint64_t w =
	    weights("w", GGML_Q4_0, NE(COLUMNS, ROWS, 1, 1), buffer, ggml_image_object_of_class(&image, of_q4_0));
	static const struct {
		const char *name;
		uint64_t offset, columns;
	} views[] = { { "a group", 8 * ROW, COLUMNS }, { "no group", ROW, COLUMNS }, { "columns", 0, 32 } };

	(void)state;
	fill(w);
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		uint64_t v =
		    ggml_image_view(&image, views[i].name, w, NE((int64_t)views[i].columns, 8, 1, 1), views[i].offset);
		ggml_image_put(&image, v, GGML_Q4_0, 4);
		ggml_image_put(&image, v + LBX_GGML_NB, 18, 8);
		for (uint32_t k = 1; k < LBX_GGML_AXES; k++)
			ggml_image_put(&image, v + LBX_GGML_NB + 8 * k, k == 1 ? ROW : 8 * ROW, 8);
	}
	struct lbx_tensor t = named("a group");
	is_read(&t, 8);
	is_refused("no group", "is stored as q4_0_8x8 in CPU_REPACK, an order that is not known");
	is_refused("columns", "is stored as q4_0_8x8 in CPU_REPACK, an order that is not known");
}

static void others_are_refused(void **state)
{
	static const struct {
		const char *class_name, *why;
	} classes[] = {
		{ CLASS("10block_q1_0Ll8ELl4E"), "q1_0_4x8 in CPU_REPACK" },
		{ CLASS("10block_q4_0Ll1ELl16E"), "q4_0_16x1 in CPU_REPACK" },
		{ CLASS("10block_q4_0Ll8ELl4E"), NULL }, /* known, and of 4 rows */
		{ CLASS("10block_q4_KLl8ELl8E"), "q4_K_8x8 in CPU_REPACK" }, /* not of these blocks */
		{ "N4ggml3cpu7aarch6413tensor_traitsI10block_q4_0Ll4ELl4EEE", NULL },
		{ "*N4ggml3cpu6repack13tensor_traitsI10block_q4_0Ll4ELl4EL9ggml_type8EEE", NULL },
		{ "N4ggml3cpu8kleidiai13tensor_traitsE", "CPU_REPACK" },
		{ "N4ggml3cpu6repack13tensor_traitsI10block_q4_0Ll8ELl8EL9ggml_type8EEEx", "CPU_REPACK" },
		{ "N4ggml3cpu6repack13tensor_traitsI10block_q4_0Ll8E", "CPU_REPACK" },
		{ "N4ggml3cpu6repack13tensor_traitsI99block_q4_0Ll8ELl8EEE", "CPU_REPACK" },
		{ "N4ggml3cpu6repack13tensor_traitsI6block_Ll8ELl8EEE", "CPU_REPACK" },
		{ "N4ggml3cpu6repack13tensor_traitsI10block_q4_0Ll0ELl8EEE", "CPU_REPACK" },
		{ "", "CPU_REPACK" },
	};
	uint64_t buffer = ggml_image_repacking(&image), heap = image.heap;
	uint64_t w = weights("w", GGML_Q4_0, NE(COLUMNS, ROWS, 1, 1), buffer, 0);
	char why[128];

	(void)state;
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		image.heap = heap;
		ggml_image_put(&image, w + image.layout.extra,
			       ggml_image_object_of_class(&image, classes[i].class_name), 8);
		if (classes[i].why) {
			snprintf(why, sizeof why, "is stored as %s, an order that is not known", classes[i].why);
			is_refused("w", why);
		} else {
			assert_int_equal(named("w").state, LBX_READY);
		}
	}
}

/* Rows that are no whole groups, and no blocks in a row: ggml does not repack such. */
static void other_shapes_are_refused(void **state)
{
	uint64_t buffer = ggml_image_repacking(&image), extra = ggml_image_object_of_class(&image, of_q4_0);

	(void)state;
	weights("w", GGML_Q4_0, NE(COLUMNS, 12, 1, 1), buffer, extra);
	weights("empty", GGML_Q4_0, NE(0, 8, 1, 1), buffer, extra);
	weights("plain", GGML_F32, NE(8, 8, 1, 1), buffer, extra);
	weights("experts", GGML_Q4_0, NE(32, 8, 3, 1), buffer, extra);
	weights("halves", GGML_Q4_0, NE(32, 4, 2, 1), buffer, extra);
	is_refused("w", "is stored as q4_0_8x8 in CPU_REPACK, an order that is not known");
	is_refused("empty", "is stored as q4_0_8x8 in CPU_REPACK, an order that is not known");
	is_refused("plain", "is stored as q4_0_8x8 in CPU_REPACK, an order that is not known");
	is_refused("halves", "is stored as q4_0_8x8 in CPU_REPACK, an order that is not known");
	assert_int_equal(named("experts").state, LBX_READY);
	/* elsewhere nobody knows what it is */
	weights("elsewhere", GGML_Q4_0, NE(COLUMNS, ROWS, 1, 1), image.host, extra);
	is_refused("elsewhere", "is stored repacked, an order that is not known");
}

/* Each word that leads to the name leads somewhere else. */
static void what_tells_it_may_be_damaged(void **state)
{
	static const uint64_t values[] = { 0,         1,         4,         8,          0x1000,        GGML_POOL,
					   GGML_DATA, GGML_HEAP, INT64_MAX, UINT64_MAX, UINT64_MAX - 7 };
	uint64_t buffer = ggml_image_repacking(&image), extra = ggml_image_object_of_class(&image, of_q4_0);
	uint64_t w = weights("w", GGML_Q4_0, NE(COLUMNS, ROWS, 1, 1), buffer, extra);
	const uint64_t words[] = { w + image.layout.extra, extra, extra + 8, extra + 0x28 };

	(void)state;
	for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
		uint64_t before = ggml_image_get(&image, words[k], 8);
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			ggml_image_put(&image, words[k], values[i], 8);
			assert_int_equal(named("w").state, LBX_REPACKED);
		}
		ggml_image_put(&image, words[k], before, 8);
		assert_int_equal(named("w").state, LBX_READY);
	}
}

/* Types behind those that a build has removed. */
static void later_types_are_seen(void **state)
{
	(void)state;
	weights("w", GGML_MXFP4, NE(32, 4, 1, 1), image.host, 0);
	struct lbx_tensor t = named("w");
	assert_int_equal(t.state, LBX_READY);
	assert_string_equal(t.encoding->name, "mxfp4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_known_order_is_read, start, ggml_finish),
		cmocka_unit_test_setup_teardown(an_order_is_a_type, start, ggml_finish),
		cmocka_unit_test_setup_teardown(views_are_of_groups, start, ggml_finish),
		cmocka_unit_test_setup_teardown(others_are_refused, start, ggml_finish),
		cmocka_unit_test_setup_teardown(other_shapes_are_refused, start, ggml_finish),
		cmocka_unit_test_setup_teardown(what_tells_it_may_be_damaged, start, ggml_finish),
		cmocka_unit_test_setup_teardown(later_types_are_seen, start, ggml_finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
