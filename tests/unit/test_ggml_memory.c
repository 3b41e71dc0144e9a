/* ggml's tensors in a program whose memory anybody may have written: what is wrong is told, and never followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ggml/contexts.h"
#include "ggml/ggml.h"
#include "ggml_seen.h"

enum { POOL = 0x2800, N = 14 };

static int start(void **state)
{
	(void)state;
	ggml_image_create(&image, 0, true, POOL);
	ggml_image_populate(&image);
	return 0;
}

static int start_empty(void **state)
{
	(void)state;
	ggml_image_create(&image, 0, true, POOL);
	return 0;
}

static bool look(void)
{
	return ggml_look(&ggml_image_rests);
}

/* How many tensors there are, and how many that are damaged. Whatever is said of one must be so. */
static int walk(int *ret_bad)
{
	uint64_t slot = 0, bad = 0, begin, end;
	struct lbx_tensor t, input;
	int n = 0;

	while (lbx_tensors_next(set, &slot, &t, &bad) == LBX_NEXT_TENSOR) {
		n++;
		assert_in_range(t.rank, 1, LBX_GGML_AXES);
		assert_in_range(t.n_inputs, 0, LBX_GGML_SOURCES + 1);
		assert_true(strnlen(t.name, sizeof t.name) < sizeof t.name);
		for (int i = 0; i < t.rank; i++)
			assert_true(lbx_shape(&t)[i] >= 0);
		for (uint32_t i = 0; i < t.n_inputs; i++)
			if (lbx_tensor_input(&t, i, &input))
				assert_int_equal(input.id, lbx_tensor_input_id(&t, i));
			else
				lb_clear_error();
		if (t.state == LBX_READY && lbx_tensor_range(&t, &begin, &end))
			assert_true(begin >= t.data && end > begin && end - t.data <= (uint64_t)t.buffer_bytes);
		assert_true(t.data == 0 || t.data + (uint64_t)t.buffer_bytes >= t.data);
		assert_true(lb_ok());
	}
	*ret_bad = (int)bad;
	return n;
}

static void all_are_seen(int expected)
{
	int bad;

	assert_int_equal(walk(&bad), expected);
	assert_int_equal(bad, 0);
}

static uint64_t address_of(const char *name)
{
	struct lbx_tensor t;

	assert_true(look());
	assert_true(ggml_named(name, &t));
	return t.address;
}

/* ---- what is whole ---- */

static void each_layout_is_read(void **state)
{
	struct lbx_tensor t;

	(void)state;
	for (size_t row = 0; lbx_ggml_layout(row); row++)
		for (int exports = 0; exports < 2; exports++)
			for (int maps = 0; maps < 2; maps++) {
				ggml_image_create(&image, row, exports, POOL);
				ggml_image_populate(&image);
				image.regions.maps = maps;
				if (!look())
					fail_msg("row %zu, %d: %s", row, exports, lb_error_message());
				all_are_seen(N);
				assert_true(ggml_named("far.weight", &t));
				assert_int_equal(t.state, LBX_ON_DEVICE);
				assert_string_equal(t.place, "CUDA0");
				assert_true(ggml_named("reserved", &t));
				assert_int_equal(t.state, LBX_UNALLOCATED);
				assert_true(ggml_named("y", &t));
				assert_int_equal(t.state, LBX_OVERWRITTEN);
				assert_true(ggml_named("sum", &t));
				assert_int_equal(t.n_inputs, 2);
				ggml_image_destroy(&image);
			}
	ggml_image_create(&image, 0, true, POOL);
}

/* What the words say of where elements are; 0: nothing, or no longer. */
static uint64_t led_to(const struct lbx_words *w)
{
	for (int i = 0; i < LBX_CONDITIONS; i++)
		if (ggml_image_get(&image, w->conditions[i].word.at, w->conditions[i].word.bytes) !=
		    w->conditions[i].value)
			return 0;
	assert_int_equal(w->record.bytes, 0);
	return ggml_image_get(&image, w->record.at + w->data.at, w->data.bytes);
}

/* A debugger finds weights and caches by itself, for as long as they are where they were; results it would find
 * overwritten. */
static void kept_elements_are_led_to(void **state)
{
	static const char *const kept[] = { "blk.0.weight", "norm.weight", "cache_k_l0", "cache (view)", "x" };
	static const char *const others[] = { "y", "y (transposed)", "z", "cache (copy of z)", "sum", "reserved" };
	struct lbx_words words;
	struct lbx_tensor t;

	(void)state;
	assert_true(look());
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_true(ggml_named(others[i], &t));
		if (lbx_tensor_words(&t, &words))
			fail_msg("%s: it may be overwritten", others[i]);
	}
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		assert_true(ggml_named(kept[i], &t));
		assert_true(lbx_tensor_words(&t, &words));
		assert_int_equal(led_to(&words), t.data);
		char *name = ggml_image_at(&image, t.address + image.layout.name, 8);
		*name ^= 1;
		assert_int_equal(led_to(&words), 0);
		*name ^= 1;
		uint64_t data = ggml_image_get(&image, t.address + image.layout.data, 8);
		ggml_image_put(&image, t.address + image.layout.data, data + 64, 8);
		assert_int_equal(led_to(&words), 0);
		ggml_image_put(&image, t.address + image.layout.data, data, 8);
	}
	/* as an input that gives way to a result */
	uint64_t data = address_of("x"), sum = address_of("sum");
	data = ggml_image_get(&image, data + image.layout.data, 8);
	ggml_image_put(&image, sum + image.layout.data, data, 8);
	assert_true(look() && ggml_named("x", &t));
	assert_false(lbx_tensor_words(&t, &words));
}

/* ---- buffers ---- */

/* The one that an address leads to, if it is the only one. */
static uint64_t tensor_at(uint64_t address)
{
	struct lbx_buffer b, other;
	uint64_t slot = 0;

	if (!lbx_tensors_next_buffer_at(set, &slot, address, &b))
		return 0;
	assert_false(lbx_tensors_next_buffer_at(set, &slot, address, &other));
	assert_true(b.of == set && b.id == b.tensor);
	return b.tensor;
}

/* Memory leads to the tensor that has its value there, not to one that had, nor to one in another memory. */
static void addresses_lead_to_tensors(void **state)
{
	static const char *const of_their_own[] = { "blk.0.weight", "norm.weight", "cache_k_l0", "x", "z", "sum" };
	static const char *const of_others[] = { "far.weight", "reserved", "empty" };
	struct lbx_tensor t, view;
	struct lbx_buffer b;
	uint64_t slot = 0;
	int n = 0;

	(void)state;
	assert_true(look());
	for (size_t i = 0; i < sizeof of_their_own / sizeof *of_their_own; i++) {
		assert_true(ggml_named(of_their_own[i], &t));
		assert_int_equal(tensor_at(t.data), t.id);
		assert_int_equal(tensor_at(t.data + (uint64_t)t.buffer_bytes - 1), t.id);
	}
	assert_true(ggml_named("cache_k_l0", &t) && ggml_named("cache (view)", &view));
	assert_int_equal(view.buffer_id, t.id);
	for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++) {
		assert_true(ggml_named(of_others[i], &t));
		assert_false(t.data && tensor_at(t.data));
	}
	while (lbx_tensors_next_buffer(set, &slot, &b))
		n++;
	assert_int_equal(n, 7); /* and blk.1.weight's; y's is the sum's now */
	assert_int_equal(tensor_at(GGML_POOL), 0);
}

/* ---- contexts ---- */

static const uint64_t values[] = { 0,
				   1,
				   2,
				   7,
				   8,
				   0x10,
				   0x20,
				   0xffff,
				   0x7fffffff,
				   0xffffffff,
				   INT64_MAX / 2,
				   INT64_MAX,
				   UINT64_MAX,
				   1ULL << 63,
				   GGML_POOL,
				   GGML_POOL + 0x10,
				   GGML_HEAP,
				   GGML_DATA,
				   UINT64_MAX - 0x1000 };
enum { VALUES = sizeof values / sizeof *values };

/* Puts each value, and some near what is there, into each field from `at` on, and looks. */
static void damage_each(uint64_t at, uint64_t size, uint64_t width, void (*check)(bool opened))
{
	for (uint64_t i = 0; i < size; i += width) {
		uint64_t before = ggml_image_get(&image, at + i, width);
		for (int v = 0; v < VALUES + 6; v++) {
			uint64_t value =
			    v < VALUES ? values[v] : before + (const uint64_t[]){ 1, -1, 8, -8, 16, -16 }[v - VALUES];
			ggml_image_put(&image, at + i, value, width);
			bool opened = look();
			if (!opened && lb_ok())
				fail_msg("0x%llx at 0x%llx: no tensors, and no reason", (unsigned long long)value,
					 (unsigned long long)(at + i));
			check(opened);
		}
		ggml_image_put(&image, at + i, before, width);
	}
}

/* What is not damaged stays. */
static void others_are_seen(bool opened)
{
	struct lbx_tensor t;
	int bad;

	assert_true(opened);
	walk(&bad);
	assert_true(ggml_named("blk.0.weight", &t) && ggml_named("norm.weight", &t));
	assert_true(ggml_named("cache_k_l0", &t));
}

/* What is lost is told, too. */
static void losses_are_told(bool opened)
{
	uint64_t first, last;
	int bad, n = walk(&bad);

	others_are_seen(opened);
	if (n < N && (bad == 0 || !lbx_tensors_damage(set, &first, &last)))
		fail_msg("%d tensors, and nobody says that some are missing", n);
}

static void each_field_of_a_context_may_be_damaged(void **state)
{
	uint64_t x = address_of("x"), memory = x - GGML_OBJECT, head = 0;

	(void)state;
	for (uint64_t at = GGML_HEAP; at < GGML_HEAP + GGML_HEAP_SIZE && !head; at += 8)
		if (ggml_image_get(&image, at + 8, 8) == memory)
			head = at;
	assert_true(head);
	all_are_seen(N);
	damage_each(head, 0x10, 8, others_are_seen);
	damage_each(head + 0x10, 4, 1, others_are_seen);
	damage_each(head + 0x14, 4, 4, others_are_seen);
	ggml_image_put(&image, head + 0x14, 3, 4);
	assert_true(look());
	losses_are_told(true);
	ggml_image_put(&image, head + 0x14, 9, 4);
	damage_each(head + 0x18, 0x10, 8, others_are_seen);
}

static void each_field_of_an_object_may_be_damaged(void **state)
{
	static const char *const names[] = { "x", "y", "sum" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint64_t at = address_of(names[i]) - GGML_OBJECT;
		damage_each(at, 0x18, 8, losses_are_told);
		damage_each(at + 0x18, 4, 4, losses_are_told);
	}
}

/* The first of all says that it has all memory there is. */
static void a_context_of_all_memory_hides_no_other(void **state)
{
	(void)state;
	address_of("x");
	for (uint64_t at = GGML_HEAP; at < GGML_HEAP + GGML_HEAP_SIZE; at += 8)
		if (ggml_image_get(&image, at, 8) == 0xc00)
			ggml_image_put(&image, at, INT64_MAX / 4, 8);
	assert_true(look());
	all_are_seen(N);
}

/* Copies of a context, as are left on stacks. */
static void a_context_is_counted_once(void **state)
{
	(void)state;
	address_of("x");
	memcpy(ggml_image_at(&image, image.heap, 0x30), ggml_image_at(&image, image.heap - 0x30, 0x30), 0x30);
	memcpy(ggml_image_at(&image, image.heap + 0x30, 0x30), ggml_image_at(&image, image.heap - 0x30, 0x30), 0x30);
	assert_true(look());
	all_are_seen(N);
}

/* One whose memory is what a tensor of another holds: which of the two is in use is not known. */
static void contexts_within_others_are_told(void **state)
{
	int bad;

	(void)state;
	ggml_image_context(&image, 0x600);
	ggml_image_tensor(&image, "outer", GGML_F32, NE(2, 1, 1, 1));
	uint64_t inside = ggml_image_object(&image, 2, 0x200);
	image.pool = inside;
	ggml_image_context(&image, 0x200);
	ggml_image_tensor(&image, "inner", GGML_F32, NE(2, 1, 1, 1));
	assert_true(look());
	assert_int_equal(walk(&bad), 1);
	assert_int_equal(bad, 1);
}

/* Ten million objects are claimed, or there are more than can be looked at. */
static void counts_are_not_believed(void **state)
{
	int bad;

	(void)state;
	uint64_t head = ggml_image_context(&image, 0x600);
	ggml_image_tensor(&image, "first", GGML_F32, NE(2, 1, 1, 1));
	ggml_image_tensor(&image, "second", GGML_F32, NE(2, 1, 1, 1));
	ggml_image_put(&image, head + 0x14, 10000000, 4);
	ggml_image_context(&image, 0x200);
	ggml_image_tensor(&image, "third", GGML_F32, NE(2, 1, 1, 1));
	assert_true(look());
	assert_int_equal(walk(&bad), 1);
	assert_int_equal(bad, 1);
}

/* A long list of objects, which thousands of contexts claim. */
static void work_is_bounded(void **state)
{
	enum { OBJECTS = 0x10000, POOL_OF_THEM = OBJECTS * GGML_OBJECT };
	static struct ggml_image many;
	struct lbx_tensors *found;

	(void)state;
	ggml_image_create(&many, 0, true, POOL_OF_THEM + 0x8000);
	many.pool = GGML_POOL + 0x8000;
	uint64_t head = ggml_image_context(&many, POOL_OF_THEM);
	for (int i = 0; i < OBJECTS; i++)
		ggml_image_object(&many, 1, 0);
	for (uint64_t at = GGML_POOL; at + 0x30 <= GGML_POOL + 0x8000; at += 0x30) {
		memcpy(ggml_image_at(&many, at, 0x30), ggml_image_at(&many, head, 0x30), 0x30);
		ggml_image_put(&many, at + 0x14, 1, 4);
	}
	assert_false(lbx_ggml_open(&many.target, &ggml_image_rests, NULL, NULL, &found));
	assert_non_null(strstr(lb_error_message(), "too many"));
	ggml_image_destroy(&many);
}

static bool stop_at_once(void *context, int64_t done)
{
	(void)context;
	(void)done;
	return lb_fail("interrupted");
}

static void a_search_can_be_stopped(void **state)
{
	(void)state;
	assert_false(lbx_ggml_open(&image.target, &ggml_image_rests, stop_at_once, NULL, &set));
	assert_string_equal(lb_error_message(), "interrupted");
}

static void without_tensors_it_says_so(void **state)
{
	(void)state;
	assert_false(look());
	assert_string_equal(lb_error_message(), "the program has ggml, but no tensors of it");
	ggml_image_context(&image, 0x200);
	assert_false(look());
	ggml_image_object(&image, 1, 0x20);
	assert_false(look());
}

/* ---- tensors ---- */

static void others_are_read(bool opened)
{
	struct lbx_tensor t;
	int bad, n;

	assert_true(opened);
	n = walk(&bad);
	assert_int_equal(n + bad, N);
	assert_true(ggml_named("norm.weight", &t) && ggml_named("reserved", &t) && ggml_named("empty", &t));
}

static void each_field_of_a_tensor_may_be_damaged(void **state)
{
	static const char *const names[] = { "blk.0.weight", "cache_k_l0", "y", "y (transposed)", "cache (copy of z)" };

	(void)state;
	for (int exports = 0; exports < 2; exports++) {
		ggml_image_destroy(&image);
		ggml_image_create(&image, 0, exports, POOL);
		ggml_image_populate(&image);
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			uint64_t at = address_of(names[i]);
			damage_each(at, 8, 4, others_are_read);
			damage_each(at + 8, LBX_GGML_OP - 8, 8, others_are_read);
			damage_each(at + LBX_GGML_OP, 0x48, 4, others_are_read);
			damage_each(at + 0x98, image.layout.size - 0x98, 8, others_are_read);
		}
	}
}

static bool is_damaged(const char *name)
{
	struct lbx_tensor t;
	uint64_t first, last;
	int bad;

	assert_true(look());
	if (walk(&bad) + bad != N || ggml_named(name, &t) || bad == 0)
		return false;
	assert_true(lbx_tensors_damage(set, &first, &last));
	assert_true(first && last >= first);
	return true;
}

static void views_stay_within(void **state)
{
	const struct lbx_ggml_layout *l = &image.layout;
	uint64_t cache = address_of("cache_k_l0"), view = address_of("cache (view)"),
		 copy = address_of("cache (copy of z)");
	uint64_t data = ggml_image_get(&image, cache + l->data, 8);

	(void)state;
	for (uint64_t offset = 100; offset < 140; offset += 4) { /* of 128 bytes, 32 of which it has */
		ggml_image_put(&image, view + l->view_offset, offset, 8);
		ggml_image_put(&image, view + l->data, data + offset, 8);
		assert_true(is_damaged("cache (view)"));
	}
	for (uint64_t i = 0; i < 3; i++) { /* before it, and far behind */
		uint64_t offset = (const uint64_t[]){ -4, 1ULL << 62, INT64_MAX - 3 }[i];
		ggml_image_put(&image, view + l->view_offset, offset, 8);
		ggml_image_put(&image, view + l->data, data + offset, 8);
		assert_true(is_damaged("cache (view)"));
	}
	ggml_image_put(&image, view + l->view_offset, 32, 8);
	ggml_image_put(&image, view + l->data, data + 36, 8); /* elsewhere than it says */
	assert_true(is_damaged("cache (view)"));
	ggml_image_put(&image, view + l->data, data + 32, 8);
	ggml_image_put(&image, view + l->view_source, copy, 8); /* of a view */
	assert_true(is_damaged("cache (view)"));
	ggml_image_put(&image, view + l->view_source, view, 8); /* of itself */
	assert_true(is_damaged("cache (view)"));
	ggml_image_put(&image, view + l->view_source, cache + 8, 8); /* of no tensor */
	assert_true(is_damaged("cache (view)"));
	ggml_image_put(&image, view + l->view_source, cache, 8);
	ggml_image_put(&image, view + LBX_GGML_TYPE, GGML_F16, 4); /* of other elements */
	assert_true(is_damaged("cache (view)"));
	ggml_image_put(&image, view + LBX_GGML_TYPE, GGML_F32, 4);
	assert_true(look());
	all_are_seen(N);
}

/* They are told as ids that nobody has, and a walk along them ends with the caller's own count. */
static void sources_lead_nowhere(void **state)
{
	uint64_t z = address_of("z"), sum = address_of("sum");
	struct lbx_tensor t, input;

	(void)state;
	ggml_image_put(&image, sum + image.layout.sources, 0x7777777777777770, 8);
	ggml_image_put(&image, sum + image.layout.sources + 8, z + 16, 8);
	assert_true(look());
	all_are_seen(N);
	assert_true(ggml_named("sum", &t));
	assert_int_equal(t.n_inputs, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(lbx_tensor_input_id(&t, i), 0);
		assert_false(lbx_tensor_input(&t, i, &input));
		assert_non_null(strstr(lb_error_message(), "is in none of ggml's contexts"));
		lb_clear_error();
	}
	/* of itself, as a cast is, which counts for nothing; and of each other */
	ggml_image_put(&image, sum + image.layout.sources, sum, 8);
	ggml_image_put(&image, z + image.layout.sources, sum, 8);
	assert_true(look());
	all_are_seen(N);
	assert_true(ggml_named("sum", &t));
	assert_int_equal(t.n_inputs, 1);
	assert_true(ggml_named("z", &input));
	assert_true(lbx_tensor_input(&input, 0, &input));
	assert_int_equal(input.id, t.id);
}

static void data_stays_within_memory(void **state)
{
	uint64_t x = address_of("x");

	(void)state;
	for (uint64_t i = 1; i < 1024; i += 100) {
		ggml_image_put(&image, x + image.layout.data, -i, 8);
		assert_true(is_damaged("x"));
	}
}

/* Elements of one lie within another's. */
static void elements_lie_apart(void **state)
{
	uint64_t x = address_of("x");

	(void)state;
	ggml_image_put(&image, x + LBX_GGML_NE + 8, 400, 8); /* of 4 rows */
	assert_true(is_damaged("x"));
	ggml_image_put(&image, x + LBX_GGML_NE + 8, 4, 8);
	ggml_image_put(&image, x + LBX_GGML_NE, 640, 8); /* of 64 columns */
	assert_true(is_damaged("x"));
	ggml_image_put(&image, x + LBX_GGML_NE, 64, 8);
	ggml_image_put(&image, x + LBX_GGML_NB + 8, 4, 8);
	assert_true(is_damaged("x"));
	/* turned, and with room between rows, as copies of views are */
	ggml_image_put(&image, x + LBX_GGML_NE, 4, 8);
	ggml_image_put(&image, x + LBX_GGML_NE + 8, 64, 8);
	ggml_image_put(&image, x + LBX_GGML_NB, 512, 8);
	ggml_image_put(&image, x + LBX_GGML_NB + 8, 4, 8);
	ggml_image_put(&image, x + LBX_GGML_NB + 16, 2048, 8);
	ggml_image_put(&image, x + LBX_GGML_NB + 24, 2048, 8);
	assert_true(look());
	all_are_seen(N);
}

static void names_end(void **state)
{
	uint64_t x = address_of("x");

	(void)state;
	memset(ggml_image_at(&image, x + image.layout.name, image.layout.name_max), 'n', image.layout.name_max);
	assert_true(is_damaged("x"));
	ggml_image_put(&image, x + image.layout.name + image.layout.name_max - 1, 0, 1);
	assert_true(look());
	all_are_seen(N);
}

/* ---- layouts ---- */

/* Where no function tells it, one damaged tensor among many decides nothing. */
static void a_layout_is_told_by_most(void **state)
{
	int bad;

	(void)state;
	for (size_t row = 0; lbx_ggml_layout(row); row++) {
		ggml_image_create(&image, row, false, POOL);
		ggml_image_populate(&image);
		uint64_t x = address_of("x");
		ggml_image_put(&image, x + LBX_GGML_TYPE, 99, 4);
		assert_true(look());
		assert_int_equal(walk(&bad), N - 1);
		assert_int_equal(bad, 1);
		ggml_image_destroy(&image);
	}
	ggml_image_create(&image, 0, true, POOL);
}

static void no_layout_is_guessed(void **state)
{
	(void)state;
	/* nothing tells the rows apart */
	ggml_image_create(&image, 0, false, POOL);
	ggml_image_context(&image, 0x200);
	ggml_image_tensor(&image, "", GGML_F32, NE(2, 1, 1, 1));
	assert_false(look());
	assert_non_null(strstr(lb_error_message(), "cannot be read"));
	/* tensors of no size that is known */
	ggml_image_destroy(&image);
	ggml_image_create(&image, 0, false, POOL);
	image.layout.size = 0x110;
	ggml_image_context(&image, 0x200);
	ggml_image_allocate(&image, ggml_image_tensor(&image, "w", GGML_F32, NE(2, 1, 1, 1)));
	assert_false(look());
	assert_non_null(strstr(lb_error_message(), "no known layout"));
	/* functions that tell one that the tensors are not in */
	ggml_image_destroy(&image);
	ggml_image_create(&image, 0, true, POOL);
	image.layout = *lbx_ggml_layout(1);
	ggml_image_populate(&image);
	assert_false(look());
	assert_non_null(strstr(lb_error_message(), "no known layout"));
	ggml_image_destroy(&image);
	ggml_image_create(&image, 0, true, POOL);
}

/* Contexts whose tensors have their data behind them: an object's size is not that of the record. */
static void data_may_follow_its_tensor(void **state)
{
	struct lbx_tensor t;

	(void)state;
	for (size_t row = 0; lbx_ggml_layout(row); row++)
		for (int64_t floats = 4; floats < 64; floats += 20) {
			ggml_image_create(&image, row, false, POOL);
			ggml_image_context(&image, 0x800);
			uint32_t size = image.layout.size;
			for (int i = 0; i < 2; i++) {
				image.layout.size = size + (uint32_t)floats * 4;
				uint64_t at = ggml_image_tensor(&image, i ? "b" : "a", GGML_F32, NE(floats, 1, 1, 1));
				ggml_image_put(&image, at + image.layout.data, at + size, 8);
				/* would be taken for `extra` */
				memset(ggml_image_at(&image, at + size, 16), 1, 16);
			}
			assert_true(look());
			all_are_seen(2);
			assert_true(ggml_named("b", &t));
			assert_true(lbx_tensors_record_at(set, t.address + size - 1, &t));
			assert_false(lbx_tensors_record_at(set, t.address + size, &t));
			ggml_image_destroy(&image);
		}
	ggml_image_create(&image, 0, true, POOL);
}

/* ---- tables ---- */

static void of_two_none_is_chosen(void **state)
{
	(void)state;
	ggml_image_create(&image, 0, false, POOL);
	ggml_image_populate(&image);
	ggml_image_load_second(&image);
	assert_false(look());
	assert_non_null(strstr(lb_error_message(), "more than one ggml"));
	/* the other one has lost its tables */
	memset(ggml_image_at(&image, GGML_SECOND + 0x3000, 0xb00), 0, 0xb00);
	assert_true(look());
	all_are_seen(N);
}

static void tables_are_nearly_right(void **state)
{
	struct lbx_tensor t;
	int bad;

	(void)state;
	/* an operation without a name, on which tensors have theirs */
	uint64_t before = ggml_image_get(&image, GGML_TABLES + 8 * GGML_CPY, 8);
	ggml_image_put(&image, GGML_TABLES + 8 * GGML_CPY, GGML_DATA, 8);
	if (look()) {
		assert_int_equal(walk(&bad) + bad, N);
		assert_true(bad > 0);
	}
	ggml_image_put(&image, GGML_TABLES + 8 * GGML_CPY, before, 8);
	/* a type of blocks with no bytes, or of more than any has */
	for (int i = 0; i < 4; i++) {
		uint64_t at = GGML_TRAITS + 0x38 * GGML_Q8_0 + (i % 2 ? 8 : 24);
		before = ggml_image_get(&image, at, 8);
		ggml_image_put(&image, at, i < 2 ? 0 : UINT64_MAX, 8);
		assert_true(look());
		assert_true(walk(&bad) < N && bad > 0);
		assert_false(ggml_named("blk.0.weight", &t));
		ggml_image_put(&image, at, before, 8);
	}
	/* other blocks than ours of that name: seen, and not decoded */
	ggml_image_put(&image, GGML_TRAITS + 0x38 * GGML_Q8_0 + 24, 36, 8);
	assert_true(look());
	walk(&bad);
	ggml_image_put(&image, GGML_TRAITS + 0x38 * GGML_Q8_0 + 24, 34, 8);
	/* no table at all is no ggml */
	ggml_image_put(&image, GGML_TABLES + 8, ggml_image_get(&image, GGML_TABLES, 8), 8);
	assert_false(look());
	assert_true(lb_ok());
}

static void each_byte_of_the_module_may_be_damaged(void **state)
{
	static const uint64_t parts[][2] = { { GGML_MODULE, 0x180 },          { GGML_MODULE + 0x400, 0x200 },
					     { GGML_MODULE + 0x1000, 0x240 }, { GGML_CODE, 0x50 },
					     { GGML_TABLES, 0x150 },          { GGML_TRAITS, 0x6d0 },
					     { GGML_TABLES + 0xc00, 0x180 } };
	static const unsigned char bytes[] = { 0, 1, 0x7f, 0x80, 0xff };
	int bad;

	(void)state;
	image.regions.maps = true;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (uint64_t at = parts[i][0]; at < parts[i][0] + parts[i][1]; at++)
			for (size_t v = 0; v < sizeof bytes; v++) {
				uint64_t before = ggml_image_get(&image, at, 1);
				ggml_image_put(&image, at, bytes[v], 1);
				if (look())
					walk(&bad);
				ggml_image_put(&image, at, before, 1);
			}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, ggml_finish)
#define OF_NONE(name) cmocka_unit_test_setup_teardown(name, start_empty, ggml_finish)
#define ALONE(name) cmocka_unit_test_teardown(name, ggml_finish)
	static const struct CMUnitTest tests[] = {
		ALONE(each_layout_is_read),
		TEST(kept_elements_are_led_to),
		TEST(addresses_lead_to_tensors),
		TEST(each_field_of_a_context_may_be_damaged),
		TEST(each_field_of_an_object_may_be_damaged),
		TEST(a_context_of_all_memory_hides_no_other),
		TEST(a_context_is_counted_once),
		OF_NONE(contexts_within_others_are_told),
		OF_NONE(counts_are_not_believed),
		OF_NONE(work_is_bounded),
		TEST(a_search_can_be_stopped),
		OF_NONE(without_tensors_it_says_so),
		TEST(each_field_of_a_tensor_may_be_damaged),
		TEST(views_stay_within),
		TEST(sources_lead_nowhere),
		TEST(data_stays_within_memory),
		TEST(elements_lie_apart),
		TEST(names_end),
		ALONE(a_layout_is_told_by_most),
		ALONE(no_layout_is_guessed),
		ALONE(data_may_follow_its_tensor),
		ALONE(of_two_none_is_chosen),
		TEST(tables_are_nearly_right),
		TEST(each_byte_of_the_module_may_be_damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
