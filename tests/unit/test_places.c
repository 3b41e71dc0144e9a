/* What lies at an address: the index is made when the first address needs it, and once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/operand/places.h"
#include "made.h"

enum { MANY = 5000, STEP = 64 };

static uint64_t first = IMAGE_DATA;
static int step = STEP; /* from one buffer to the next */
static int looks;       /* at buffers */

static void make_buffer(uint64_t i, struct lbx_buffer *ret)
{
	looks++;
	*ret = (struct lbx_buffer){ .data = first + (i - 1) * (uint64_t)step, .capacity = 48, .nbytes = 48 };
}

static int tensors;

static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	tensors++;
	*ret = (struct lbx_tensor){
		.state = LBX_READY,
		.dtype = LB_F32,
		.op = "weight",
		.op_class = LB_CLASS_LEAF,
		.rank = 1,
		.layout_known = true,
		.axes.few = { { 12 }, { 1 } },
		.size = 12,
		.buffer_id = i,
		.data = first + (i - 1) * (uint64_t)step,
		.buffer_bytes = 48,
		.buffer_capacity = 48,
		.buffer_refs = 1,
	};
	snprintf(ret->name, sizeof ret->name, "t%d", (int)i);
}

static const struct made made = { .n = MANY, .n_buffers = MANY, .tensor = make_tensor, .buffer = make_buffer };

static int start(void **state)
{
	session_start(state);
	made_alone(*state, &made);
	first = IMAGE_DATA;
	step = STEP;
	looks = tensors = 0;
	return 0;
}

/* Buffers may lie in any order. */
static void find_all(struct lbx_places *places)
{
	struct lbx_place place;

	for (int i = 1; i <= MANY; i += 7) {
		lbx_places_find(places, first + (uint64_t)((i - 1) * (int64_t)step) + 4, &place);
		assert_int_equal(place.kind, LBX_PLACE_DATA);
		assert_int_equal(place.tensor.id, i);
		assert_int_equal(place.distance, 4);
	}
}

static void it_is_made_when_needed(void **state)
{
	struct session *s = *state;
	struct lbx_places *places;
	struct lbx_place place;

	assert_true(lbx_places_expect(&s->context, &places));
	lbx_places_find(places, 0, &place);
	assert_int_equal(place.kind, LBX_PLACE_NOTHING);
	assert_int_equal(looks, 0);
	find_all(places);
	find_all(places);
	assert_int_equal(looks, MANY);
	lbx_places_destroy(places);
	first += (uint64_t)MANY * STEP;
	step = -STEP;
	assert_true(lbx_places_create(&s->context, &places));
	assert_int_equal(looks, 2 * MANY);
	find_all(places);
	assert_false(lbx_places_have_failed(places));
	lbx_places_destroy(places);
}

/* Then nobody goes through the tensors. */
static void most_addresses_lie_in_no_buffer(void **state)
{
	struct session *s = *state;
	struct lbx_places *places;
	struct lbx_place place;

	assert_true(lbx_places_expect(&s->context, &places));
	for (uint64_t outside = 8; outside < 16; outside++) {
		lbx_places_find(places, outside, &place);
		assert_int_equal(place.kind, LBX_PLACE_NOTHING);
	}
	assert_int_equal(looks, MANY);
	assert_int_equal(tensors, 0);
	find_all(places);
	assert_int_equal(looks, MANY);
	assert_true(tensors >= MANY);
	lbx_places_destroy(places);
}

/* Whatever digits of them differ. */
static void buffers_are_sorted(void **state)
{
	static const int64_t steps[] = { 48, -48, 4096, -4096, 1 << 20, -(1 << 20), (1 << 30) + 64, -(1 << 30) - 64 };
	struct session *s = *state;
	struct lbx_places *places;
	struct lbx_buffer b;

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		uint64_t before = 0, n = 0;
		step = (int)steps[i];
		first = step < 0 ? UINT64_C(0x7f0000000000) : UINT64_C(0x550000000000);
		assert_true(lbx_places_create(&s->context, &places));
		find_all(places);
		while (lbx_places_after(places, before, &b)) {
			assert_true(b.data > before);
			before = b.data;
			n++;
		}
		assert_int_equal(n, MANY);
		lbx_places_destroy(places);
	}
}

static bool waits;

static bool tell_wait(struct lbx_target *target)
{
	(void)target;
	return waits;
}

/* A command that runs again, with the debugger's answers, does not go through many for nothing. */
static void it_is_not_made_for_nothing(void **state)
{
	struct session *s = *state;
	struct lbx_target_ops ops = *s->context.target->ops;
	struct lbx_kept kept = { .has_many_tensors = true };
	struct lbx_places *places;
	struct lbx_place place;

	ops.waits = tell_wait;
	s->context.target->ops = &ops;
	s->context.kept = &kept;
	waits = true;
	assert_true(lbx_places_expect(&s->context, &places));
	lbx_places_find(places, first, &place);
	assert_int_equal(place.kind, LBX_PLACE_NOTHING);
	assert_int_equal(looks, 0);
	assert_false(lbx_places_have_failed(places));
	waits = false;
	find_all(places);
	assert_int_equal(looks, MANY);
	lbx_places_destroy(places);
	session_forget(s);
	s->context.kept = NULL;
	lbx_kept_close(&kept);
}

static bool interrupt(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out, (void)what, (void)done, (void)total;
	return lb_fail_because(LB_INTERRUPTED, "interrupted");
}

static void it_fails_once(void **state)
{
	static const struct made more = {
		.n = MANY, .n_buffers = 2 * 8192, .tensor = make_tensor, .buffer = make_buffer
	};
	struct session *s = *state;
	struct lbx_places *places;
	struct lbx_place place;

	session_forget(s);
	made_alone(s, &more);
	assert_true(lbx_places_expect(&s->context, &places));
	s->out.progress = interrupt;
	for (int i = 0; i < 2; i++) {
		lbx_places_find(places, first, &place);
		assert_int_equal(place.kind, LBX_PLACE_NOTHING);
		assert_true(lbx_places_have_failed(places));
		assert_int_equal(looks, 8192);
	}
	assert_int_equal(lb_error_cause(), LB_INTERRUPTED);
	lbx_places_destroy(places);
	s->out.progress = NULL;
	lb_clear_error();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_made_when_needed, start, session_stop),
		cmocka_unit_test_setup_teardown(most_addresses_lie_in_no_buffer, start, session_stop),
		cmocka_unit_test_setup_teardown(buffers_are_sorted, start, session_stop),
		cmocka_unit_test_setup_teardown(it_is_not_made_for_nothing, start, session_stop),
		cmocka_unit_test_setup_teardown(it_fails_once, start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
