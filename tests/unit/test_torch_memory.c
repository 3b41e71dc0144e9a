/* PyTorch's tensors in a program whose memory anybody may have written: in each layout that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/array.h"
#include "torch/torch.h"
#include "torch_image.h"

enum { ROWS = 3, N = 12 };

static struct torch_image image;
static struct lbx_tensors *set;
static int row;

static int start(void **state)
{
	(void)state;
	torch_image_create(&image, row);
	torch_image_populate(&image);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
	torch_image_destroy(&image);
	return 0;
}

static bool look(void)
{
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
	return lbx_torch_open(&image.target, NULL, NULL, NULL, &set);
}

static struct lbx_tensor tensor(uint64_t id)
{
	struct lbx_tensor t;

	if (!set && !look())
		fail_msg("%s", lb_error_message());
	if (!lbx_tensors_by_id(set, id, &t))
		fail_msg("%s", lb_error_message());
	return t;
}

/* How many tensors there are; whatever is said of one must be so. */
static int walk(uint64_t *ret_bad)
{
	uint64_t slot = 0, begin, end;
	struct lbx_tensor t, other;
	int n = 0;

	*ret_bad = 0;
	while (lbx_tensors_next(set, &slot, &t, ret_bad) == LBX_NEXT_TENSOR) {
		n++;
		assert_in_range(t.rank, 0, LBX_RANK_MAX);
		for (int i = 0; i < t.rank; i++)
			assert_true(lbx_shape(&t)[i] >= 0);
		if (t.state == LBX_READY && lbx_tensor_range(&t, &begin, &end))
			assert_true(begin >= t.data && end > begin && end - t.data <= (uint64_t)t.buffer_bytes);
		assert_true(lbx_tensors_by_address(set, t.address, &other) && other.id == t.id);
		assert_true(lb_ok());
	}
	return n;
}

static void each_layout_is_found(void **state)
{
	uint64_t bad;

	(void)state;
	assert_true(look());
	assert_int_equal(walk(&bad), N);
	assert_int_equal(bad, 0);
}

static void is(uint64_t id, int n, const float *expected)
{
	struct lbx_tensor t = tensor(id);
	struct lbx_array a;
	float values[24];

	assert_int_equal(t.state, LBX_READY);
	if (!lbx_array_of_tensor(&image.target, &t, &a) || !lbx_array_copy(&a, 0, n, values))
		fail_msg("%s", lb_error_message());
	assert_int_equal(a.size, n);
	for (int i = 0; i < n; i++)
		assert_float_equal(values[i], expected[i], 0);
}

static void values_are_read(void **state)
{
	(void)state;
	is(2, 6, (float[]){ 1, 3, 9, 11, 17, 19 });
	is(4, 1, (float[]){ 0 });
}

/* (q - zero) * scale, by one scale of 1/2 and the zero point 3; by 1/2 and 1, 1/4 and -1 for the two rows */
static void quantised_ones_are_scaled(void **state)
{
	struct lbx_tensor one = tensor(9), rows = tensor(12);

	(void)state;
	regions_copy(&image.regions, one.data, (unsigned char[]){ 3, 4, 5, 0, 255, 128 }, 6);
	regions_copy(&image.regions, rows.data, (signed char[]){ 1, 2, -128, -1, 3, 127 }, 6);
	is(9, 6, (float[]){ 0, 0.5f, 1, -1.5f, 126, 62.5f });
	is(12, 6, (float[]){ 0, 0.5f, -64.5f, 0, 1, 32 });
}

static void states_are_told(void **state)
{
	(void)state;
	assert_int_equal(tensor(5).size, 0);
	assert_int_equal(tensor(6).state, LBX_ON_DEVICE);
	assert_string_equal(tensor(6).place, "cuda:2");
	assert_int_equal(tensor(7).state, LBX_OPAQUE);
	assert_int_equal(tensor(8).state, LBX_OPAQUE);
	assert_string_equal(tensor(8).place, "at::SparseTensorImpl");
}

/* Each word of each object in turn, by what is likely to lead astray. */
static void no_word_leads_astray(void **state)
{
	static const uint64_t values[] = {
		0, 65, UINT64_MAX, 1ULL << 62, TORCH_HEAP, TORCH_DATA, TORCH_CLASSES + 0x28
	};
	uint64_t end = image.heap, bad;

	(void)state;
	for (uint64_t at = TORCH_HEAP; at < end; at += 8)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			uint64_t before = regions_get(&image.regions, at, 8);
			regions_put(&image.regions, at, values[i], 8);
			if (look())
				assert_in_range(walk(&bad), N - 2, N + 1);
			else
				assert_false(lb_ok());
			regions_put(&image.regions, at, before, 8);
		}
}

static bool stop_at_once(void *context, int64_t done)
{
	(void)context, (void)done;
	return false;
}

static void a_search_can_be_stopped(void **state)
{
	(void)state;
	assert_false(lbx_torch_open(&image.target, NULL, stop_at_once, NULL, &set));
}

/* A tensor that was freed since is told, and none is shown. */
static void a_tensor_goes(void **state)
{
	struct lbx_tensor t = tensor(2);

	(void)state;
	regions_put(&image.regions, t.address + LBX_TORCH_COUNTS, 0, 8);
	assert_false(lbx_tensors_by_id(set, 2, &t));
	assert_non_null(strstr(lb_error_message(), "has been freed, or is damaged"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, start, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(each_layout_is_found), CASE(values_are_read),      CASE(quantised_ones_are_scaled),
		CASE(states_are_told),      CASE(no_word_leads_astray), CASE(a_search_can_be_stopped),
		CASE(a_tensor_goes),
	};
	int failed = 0;

	for (row = 0; row < ROWS; row++)
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	return failed;
}
