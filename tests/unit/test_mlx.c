/* MLX's arrays in a program whose memory anybody may have written: in each layout that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/graph/graph.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/describe.h"
#include "mlx/mlx.h"
#include "mlx_image.h"
#include "tensors/held.h"
#include "tensors/recipe.h"
#include "walk_all.h"

static struct mlx_image image;
static struct lbx_tensors *set;
static int row;
static unsigned minor;

static int start(void **state)
{
	(void)state;
	mlx_image_create(&image, row, minor);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
	mlx_image_destroy(&image);
	return 0;
}

static bool look(void)
{
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
	return lbx_mlx_open(&image.target, false, NULL, NULL, &set);
}

static struct lbx_tensor array(uint64_t id)
{
	struct lbx_tensor t = { 0 };

	if ((!set && !look()) || !lbx_tensors_by_id(set, id, &t))
		fail_msg("%s", lb_error_message());
	return t;
}

static void keep_fact(void *context, const char *name, const char *text)
{
	char *to = context;
	size_t n = strlen(to);

	snprintf(to + n, 1024 - n, "%s: %s\n", name, text);
}

static const char *facts_of(uint64_t id)
{
	static char text[1024];
	struct lbx_tensor t = id ? array(id) : array(1);

	text[0] = '\0';
	lbx_tensors_facts(set, id ? &t : NULL, keep_fact, text);
	return text;
}

static void each_layout_is_found(void **state)
{
	char layout[64];
	uint64_t bad;

	(void)state;
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), MLX_ARRAYS);
	assert_int_equal(bad, 0);
	snprintf(layout, sizeof layout, "layout: that of %s, as no other fits\n", image.layout.versions);
	assert_non_null(strstr(facts_of(0), layout));
	for (uint64_t id = 1; id <= MLX_ARRAYS; id++)
		assert_int_equal(array(id).address, image.arrays[id]);
}

/* Where the library tells its version, objects that are no arrays now, as a few are at any moment, do not matter. */
static void a_version_decides_of_few(void **state)
{
	uint64_t bad;

	(void)state;
	if (row == 0)
		return;
	for (int i = MLX_UNDER_WAY; i < MLX_UNDER_WAY + 3; i++)
		mlx_image_set(&image, image.arrays[i], 0, 99, 8);
	assert_false(look());
	mlx_image_tell_version(&image);
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), MLX_ARRAYS - 3);
	assert_int_equal(bad, 3);
	assert_non_null(strstr(facts_of(0), ", as its library tells\n"));
	for (int i = 1; i <= MLX_ARRAYS; i++)
		mlx_image_set(&image, image.arrays[i], 0, 99, 8);
	assert_false(look());
	assert_non_null(strstr(lb_error_message(), "most are not as in"));
}

static void is(uint64_t id, enum lb_dtype dtype, int n, const float *expected)
{
	struct lbx_tensor t = array(id);
	struct lbx_array a;
	float values[8];
	uint16_t halves[8];

	assert_int_equal(t.state, LBX_READY);
	assert_int_equal(t.dtype, dtype);
	if (!lbx_array_of_tensor(&image.target, &t, &a) ||
	    !lbx_array_copy(&a, 0, n, dtype == LB_BF16 ? (void *)halves : values))
		fail_msg("%s", lb_error_message());
	for (int i = 0; i < n && dtype == LB_BF16; i++)
		memcpy(&values[i], (const uint16_t[]){ 0, halves[i] }, sizeof *values);
	assert_int_equal(a.size, n);
	for (int i = 0; i < n; i++)
		assert_float_equal(values[i], expected[i], 0);
}

/* Where one was freed an allocator may have put an address in place of the counts. */
static void an_address_is_no_count(void **state)
{
	const uint64_t heap = 0x550010000000;
	uint64_t bad;

	(void)state;
	mlx_image_set(&image, image.freed, 0, 99, 8);
	regions_put(&image.regions, image.freed - LBX_MLX_FRONT + LBX_MLX_COUNTS, heap, 8);
	assert_false(look()); /* nothing is there: it could be two counts, and of few objects all must fit */
	regions_add(&image.regions, heap, 64, 0);
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), MLX_ARRAYS);
	assert_int_equal(bad, 0);
}

static void values_are_read(void **state)
{
	(void)state;
	is(MLX_MATRIX, LB_F32, 6, (float[]){ 0, 1, 2, 3, 4, 5 });
	is(MLX_VIEW, LB_F32, 4, (float[]){ 1, 4, 2, 5 });
	is(MLX_HALF, LB_BF16, 4, (float[]){ 1, 2, 3, 4 });
	assert_int_equal(array(MLX_SCALAR).dtype, LB_C64);
	assert_int_equal(array(MLX_EMPTY).size, 0);
	assert_int_equal(array(MLX_VIEW).buffer_id, array(MLX_MATRIX).buffer_id);
}

/* What an event says is as good as it says; the strides of what is lazy are not known. */
static void states_are_told(void **state)
{
	(void)state;
	assert_int_equal(array(MLX_UNDER_WAY).state, LBX_EVALUATING);
	assert_int_equal(array(MLX_UNDER_WAY).data, 0);
	assert_int_equal(array(MLX_SOFTMAX).state, LBX_LAZY);
	assert_false(array(MLX_SOFTMAX).layout_known);
	assert_non_null(strstr(facts_of(MLX_SOFTMAX), "status: unscheduled\n"));
	assert_non_null(strstr(facts_of(MLX_UNDER_WAY), "status: evaluated\n"));
}

static void the_lazy_graph_is_followed(void **state)
{
	struct lbx_tensor sum = array(MLX_ADD), input;
	struct lbx_pending pending;
	char text[256];

	(void)state;
	assert_string_equal(sum.op, "Add");
	assert_int_equal(sum.n_inputs, 2);
	assert_true(lbx_tensor_input(&sum, 0, &input) && input.id == MLX_SOFTMAX);
	assert_true(lbx_tensor_input(&sum, 1, &input) && input.id == MLX_MATRIX);
	assert_false(lbx_tensor_input(&sum, 2, &input));
	lb_clear_error();
	assert_true(set->ops->beside(set, &sum, 0, &input) && input.id == MLX_SIBLING);
	assert_false(set->ops->beside(set, &sum, 1, &input));
	assert_non_null(strstr(facts_of(MLX_ADD), "position: 0\ngraph: 3 arrays, 2 of them lazy; depth 2\nline: of the "
						  "program: not known, as MLX keeps none\n"));
	lbx_pending(&sum, &pending);
	lbx_describe_pending(&pending, text, sizeof text);
	assert_string_equal(text, "peek would have to replay 2 operations from 1 ready tensor");
	/* a class that is no primitive has no name */
	regions_put(&image.regions, image.arrays[MLX_ADD] + image.layout.size + LBX_MLX_PRIMITIVE,
		    image.arrays[MLX_ADD] - LBX_MLX_FRONT, 8);
	assert_true(look());
	assert_string_equal(array(MLX_ADD).op, "?");
}

/* ---- recipes ---- */

enum { PRIMITIVE = MLX_PRIMITIVE, NUMBERS = PRIMITIVE + 0x100 };

/* The step that is an array's value; of op -1: there is no recipe, and an error says so. */
static struct lbx_step cooked(uint64_t id)
{
	struct lbx_tensor t = array(id), input;
	struct lbx_recipe r = { 0 };
	struct lbx_step step = { .op = -1 };
	int value;

	for (uint32_t i = 0; i < t.n_inputs; i++) {
		step = (struct lbx_step){ .op = LB_OP_DATA };
		if (lbx_tensor_input(&t, i, &input)) {
			step.dtype = input.dtype;
			step.rank = input.rank;
			memcpy(step.shape, lbx_shape(&input), (size_t)input.rank * sizeof *step.shape);
			for (int k = input.rank; k-- > 0;)
				step.strides[k] = k == input.rank - 1 ? 1 : step.strides[k + 1] * step.shape[k + 1];
		} else {
			step.why = "it is gone";
		}
		lb_clear_error();
		assert_true(lbx_recipe_add_input(&r, &step));
	}
	bool ok = set->ops->recipe(set, &t, &r, &value);
	assert_int_equal(ok, lb_ok());
	step = ok ? *lbx_step(&r, value) : (struct lbx_step){ .op = -1 };
	lbx_recipe_deinit(&r);
	return step;
}

static void become(const char *class, const void *fields, size_t size)
{
	mlx_image_become(&image, MLX_SOFTMAX, class, fields, size);
}

/* A std::vector<int> or a Shape among its fields, of n numbers. */
static void put_numbers(uint32_t at, bool is_shape, const int32_t *numbers, uint64_t n)
{
	uint64_t words = PRIMITIVE + at + (is_shape && image.layout.is_small ? LBX_MLX_SMALL_BEGIN : 0);
	uint64_t begin = NUMBERS + at;

	regions_copy(&image.regions, begin, numbers, n * sizeof *numbers);
	regions_put(&image.regions, words, begin, 8);
	regions_put(&image.regions, words + 8, begin + n * sizeof *numbers, 8);
}

static void recipes_read_their_fields(void **state)
{
	(void)state;
	assert_int_equal(cooked(MLX_ADD).op, LB_OP_ADD);
	assert_int_equal(cooked(MLX_SOFTMAX).op, LB_OP_SOFTMAX);
	become("N3mlx4core3LogE", (const int32_t[]){ 2 }, 4);
	assert_int_equal(cooked(MLX_SOFTMAX).op, LB_OP_LOG);
	become("N3mlx4core3LogE", (const int32_t[]){ 1 }, 4);
	assert_int_equal(cooked(MLX_SOFTMAX).op, LB_OP_MULTIPLY);
	become("N3mlx4core4SqrtE", "\1", 1);
	assert_int_equal(cooked(MLX_SOFTMAX).op, LB_OP_RSQRT);
	become("N3mlx4core5SliceE", "", 1);
	uint32_t width = image.layout.is_small ? LBX_MLX_SMALL_BEGIN + 0x40 : LBX_MLX_VECTOR_BYTES;
	put_numbers(0x18, true, (const int32_t[]){ 1, 0 }, 2);
	put_numbers(0x18 + 2 * width, true, (const int32_t[]){ -1, 1 }, 2);
	struct lbx_step backwards = cooked(MLX_SOFTMAX);
	assert_int_equal(backwards.op, LB_OP_AS_STRIDED);
	assert_int_equal(backwards.offset, 3);
	assert_int_equal(backwards.strides[0], -3);
	assert_int_equal(backwards.strides[1], 1);
}

static void is_refused(const char *why)
{
	assert_int_equal(cooked(MLX_SOFTMAX).op, -1);
	if (!strstr(lb_error_message(), why))
		fail_msg("%s", lb_error_message());
}

static void what_has_no_recipe_is_named(void **state)
{
	(void)state;
	become("N3mlx4core7InverseE", "", 1);
	assert_int_equal(cooked(MLX_SOFTMAX).op, -1);
	assert_string_equal(lb_error_message(),
			    "how MLX computes #5 (Inverse) is not known here; it is computed from #1");
	become("N3mlx4core3FFTE", "", 1);
	is_refused("FFT, with such axes");
	become("N3mlx4core7SoftmaxE", "\2", 1);
	is_refused("Softmax, with a flag that is none");
	become("N3mlx4core3LogE", (const int32_t[]){ 3 }, 4);
	is_refused("such a base");
	become("N3mlx4core6ReduceE", (const int32_t[]){ 6 }, 4);
	put_numbers(0x18, false, (const int32_t[]){ 1 }, 1);
	is_refused("such a dtype");
	become("N3mlx4core6ReduceE", (const int32_t[]){ 2 }, 4);
	is_refused("inputs that do not fit it");
	put_numbers(0x18, false, (const int32_t[]){ 2 }, 1);
	is_refused("such axes");
	become("N3mlx4core11ConcatenateE", (const int32_t[]){ -3 }, 4);
	is_refused("such an axis");
	become("N3mlx4core9TransposeE", "", 1);
	put_numbers(0x18, false, (const int32_t[]){ 1, 1 }, 2);
	is_refused("damaged");
	put_numbers(0x18, false, (const int32_t[]){ 1, 0 }, 2);
	is_refused("inputs that do not fit it");
	regions_put(&image.regions, PRIMITIVE + 0x18, 0x1000, 8);
	is_refused("such a list of numbers");
	mlx_image_set(&image, image.arrays[MLX_SOFTMAX], LBX_MLX_PRIMITIVE, MLX_DATA + 0x1000, 8);
	assert_int_equal(cooked(MLX_SOFTMAX).op, -1);
}

/* A std::vector of an array among its fields. */
static void put_list(uint32_t at, uint64_t array)
{
	uint64_t begin = NUMBERS + 2 * (uint64_t)at;

	regions_put(&image.regions, begin, array, 8);
	for (uint32_t i = 0; i < 3; i++)
		regions_put(&image.regions, PRIMITIVE + at + 8 * i, begin + (i ? 16 : 0), 8);
}

/* Of the matrix, its sum with itself: what was traced is the sum in the image. */
static void tapes_are_followed(void **state)
{
	(void)state;
	uint64_t inputs = regions_get(&image.regions, image.arrays[MLX_ADD] + image.layout.size + LBX_MLX_INPUTS, 8);
	uint64_t softmax = image.arrays[MLX_SOFTMAX];

	become("N3mlx4core8CompiledE", "", 1);
	put_list(0x18, image.arrays[MLX_MATRIX]);
	put_list(0x30, image.arrays[MLX_ADD]);
	put_list(0x48, image.arrays[MLX_ADD]);
	is_refused("such a tape"); /* its first operand is not there */
	regions_put(&image.regions, inputs, image.arrays[MLX_MATRIX], 8);
	assert_int_not_equal(cooked(MLX_SOFTMAX).op, -1);
	put_list(0x30, softmax);
	is_refused("such a tape");
	put_list(0x48, softmax);
	is_refused("another one in it");
	regions_put(&image.regions, PRIMITIVE + 0x18, 0x1000, 8);
	is_refused("such a list of arrays");
	regions_put(&image.regions, inputs, softmax, 8);
}

static void quantised_products_are_checked(void **state)
{
	(void)state;
	become("N3mlx4core15QuantizedMatmulE", (const int32_t[]){ 64, 4, 0, 0 }, 16);
	is_refused("formats of an unknown version");
	if (row > 0) {
		mlx_image_tell_version(&image);
		assert_true(look());
		is_refused("so many inputs");
	}
	become("N3mlx4core15QuantizedMatmulE", (const int32_t[]){ 64, 9, 0, 0 }, 16);
	is_refused("such a format");
	become("N3mlx4core4SortE", (const int32_t[]){ -2 }, 4);
	assert_int_equal(cooked(MLX_SOFTMAX).op, LB_OP_SORT);
	become("N3mlx4core11ConvolutionE", "", 1);
	is_refused("input"); /* it has one only */
}

/* Whatever a slice's numbers are: its view stays within what it is of. */
static void slices_stay_within(void **state)
{
	static const int32_t values[] = { 0, 1, 2, 3, -1, -2, -3, INT32_MAX, INT32_MIN };
	enum { N = sizeof values / sizeof *values };
	uint32_t width = image.layout.is_small ? LBX_MLX_SMALL_BEGIN + 0x40 : LBX_MLX_VECTOR_BYTES;
	int taken = 0;

	(void)state;
	become("N3mlx4core5SliceE", "", 1);
	for (int i = 0; i < N * N * N * N; i++) {
		put_numbers(0x18, true, (const int32_t[]){ values[i % N], values[i / N % N] }, 2);
		put_numbers(0x18 + 2 * width, true,
			    (const int32_t[]){ values[i / (N * N) % N], values[i / (N * N * N)] }, 2);
		struct lbx_step s = cooked(MLX_SOFTMAX);
		lb_clear_error();
		if (s.op == -1)
			continue;
		int64_t low = s.offset, high = s.offset;
		for (int k = 0; k < s.rank; k++) {
			int64_t reach = (s.shape[k] - 1) * s.strides[k];
			*(reach < 0 ? &low : &high) += reach;
		}
		assert_in_range(low, 0, 5);
		assert_in_range(high, 0, 5);
		taken++;
	}
	assert_true(taken > 0);
}

/* An array that is made of itself, by way of another. */
static void circles_end(void **state)
{
	struct lbx_tensor t;
	struct lbx_pending pending;

	(void)state;
	uint64_t at = regions_get(&image.regions, image.arrays[MLX_SOFTMAX] + image.layout.size + LBX_MLX_INPUTS, 8);
	regions_put(&image.regions, at, image.arrays[MLX_ADD], 8);
	t = array(MLX_ADD);
	lbx_pending(&t, &pending);
	struct lbx_context context = { .target = &image.target };
	struct lbx_graph graph = { 0 };
	assert_false(lbx_graph_collect(&context, &t, 1000, &graph));
	assert_non_null(strstr(lb_error_message(), "back to itself"));
	lbx_graph_deinit(&graph);
	lb_clear_error();
	assert_non_null(strstr(facts_of(MLX_ADD), "graph: 3 arrays, 2 of them lazy; depth 1\n"));
}

static void names_are_mlxs_own(void **state)
{
	static const struct {
		const char *expression;
		uint64_t id;
	} paths[] = { { "model.fc.weight", MLX_MATRIX },
		      { "model['fc']['weight']", MLX_MATRIX },
		      { "model.layers[0].bias", MLX_HALF },
		      { "model.layers[-1].bias", MLX_HALF },
		      { "model.layers.0.bias", MLX_HALF },
		      { "x", MLX_VIEW },
		      { "state['lazy'][0]", MLX_ADD },
		      { "model.layers.1.bias", 0 },
		      { "model.layers.0x.bias", 0 },
		      { "model.layers.bias", 0 },
		      { "model.fc", 0 } };
	struct lbx_tensor t;

	(void)state;
	assert_string_equal(array(MLX_MATRIX).name, "model.fc.weight");
	assert_string_equal(array(MLX_HALF).name, "model.layers.0.bias");
	assert_string_equal(array(MLX_VIEW).name, "x");
	assert_string_equal(array(MLX_ADD).name, "state['lazy'][0]");
	assert_string_equal(array(MLX_SOFTMAX).name, "");
	assert_int_equal(array(MLX_HALF).usage, LBX_USAGE_WEIGHTS);
	assert_int_equal(array(MLX_ADD).usage, LBX_USAGE_UNKNOWN);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		bool found = lbx_tensors_by_path(set, paths[i].expression, NULL, &t);
		assert_int_equal(found ? t.id : 0, paths[i].id);
		assert_true(lb_ok());
	}
}

static void who_holds_them_is_told(void **state)
{
	struct lbx_tensor matrix = array(MLX_MATRIX), inner = array(MLX_SOFTMAX), empty = array(MLX_EMPTY);
	struct lbx_held held;

	(void)state;
	lbx_tensor_held(&matrix, &held);
	assert_int_equal(held.reach, LBX_REACH_VARIABLE);
	assert_string_equal(held.holder, "model");
	assert_string_equal(held.module, "model.fc");
	lbx_tensor_held(&inner, &held);
	assert_int_equal(held.reach, LBX_REACH_GRAPH);
	lbx_tensor_held(&empty, &held);
	assert_int_equal(held.reach, LBX_REACH_UNKNOWN);
	assert_non_null(strstr(facts_of(MLX_VIEW), "path: x, in forward\nholder: x, in forward\n"));
	assert_non_null(strstr(facts_of(MLX_ADD), "holder: state\n"));
	assert_non_null(strstr(facts_of(MLX_SOFTMAX), "reached by: state['lazy'][0], 1 step down its graph\n"));
}

/* As where it is a GPU's, what stands in front of the elements is no number of bytes. */
static void foreign_buffers_are_refused(void **state)
{
	(void)state;
	assert_true(look());
	regions_put(&image.regions, MLX_DATA, 0x7fe7c8000f28, 8);
	struct lbx_tensor t;
	assert_false(lbx_tensors_by_id(set, MLX_MATRIX, &t));
	assert_true(strstr(lb_error_message(), "array #1 of MLX"));
}

/* Each word of each object in turn, by what is likely to lead astray. */
static void no_word_leads_astray(void **state)
{
	static const uint64_t values[] = { 0, 65, UINT64_MAX, 1ULL << 62, MLX_HEAP, MLX_DATA, LIBRARY_DATA + 0x28 };
	uint64_t end = image.heap, bad;

	(void)state;
	for (uint64_t at = MLX_HEAP; at < end; at += 8)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			uint64_t before = regions_get(&image.regions, at, 8);
			regions_put(&image.regions, at, values[i], 8);
			if (look())
				assert_in_range(walk_all(set, &bad), MLX_ARRAYS - 3, MLX_ARRAYS + 1);
			else
				assert_false(lb_ok());
			regions_put(&image.regions, at, before, 8);
		}
}

static void without_its_library_it_is_not_there(void **state)
{
	(void)state;
	regions_put(&image.regions, LIBRARY_PROGRAM + 0x300 + sizeof "/usr/lib/" - 1, 'x', 1);
	assert_false(look());
	assert_true(lb_ok());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_layout_is_found),
		TEST(a_version_decides_of_few),
		TEST(an_address_is_no_count),
		TEST(values_are_read),
		TEST(states_are_told),
		TEST(the_lazy_graph_is_followed),
		TEST(recipes_read_their_fields),
		TEST(what_has_no_recipe_is_named),
		TEST(tapes_are_followed),
		TEST(quantised_products_are_checked),
		TEST(slices_stay_within),
		TEST(circles_end),
		TEST(names_are_mlxs_own),
		TEST(who_holds_them_is_told),
		TEST(foreign_buffers_are_refused),
		TEST(no_word_leads_astray),
		TEST(without_its_library_it_is_not_there),
	};
	int failed = 0;

	for (row = 0; row < MLX_ROWS; row++) {
		minor = row % 2 ? 13 : 11;
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed != 0;
}
