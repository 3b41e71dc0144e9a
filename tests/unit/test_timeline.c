/* Timelines of programs that were running before, and whose events are lost on the way: slices of a
 * thread lie beside or inside one another, never across. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "between.h"
#include "image.h"
#include "inspect/trace/tallies.h"
#include "inspect/trace/timeline.h"
#include "inspect/trace/top.h"

struct setting {
	struct image image;
	struct lbx_settings settings;
	struct lbx_out out;
	struct lbx_context context;
	struct lbx_timeline *timeline;
	bool begun;
	uint64_t start_ns; /* the timeline is made a little later */
	size_t n;
	char text[1 << 16];
};

static void write_down(struct lbx_out *out, const char *text, size_t n)
{
	struct setting *s = out->context;

	assert_true(s->n + n < sizeof s->text);
	memcpy(s->text + s->n, text, n);
	s->n += n;
}

static int begin(void **state, uint64_t seen)
{
	static struct setting s;
	struct timespec t;

	memset(&s, 0, sizeof s);
	image_create(&s.image, false);
	s.settings = lbx_default_settings;
	s.out = (struct lbx_out){ .json = true, .write = write_down, .context = &s };
	s.context = (struct lbx_context){ .target = &s.image.target, .out = &s.out, .settings = &s.settings };
	clock_gettime(CLOCK_MONOTONIC, &t);
	s.start_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	assert_true(lbx_timeline_create(&s.context, seen, &s.begun, &s.timeline));
	*state = &s;
	return 0;
}

static int begin_now(void **state)
{
	return begin(state, LBX_TIMELINE_NOW);
}

static int end(void **state)
{
	struct setting *s = *state;

	lbx_timeline_destroy(s->timeline);
	lbx_context_close(&s->context);
	image_destroy(&s->image);
	return 0;
}

/* So many milliseconds after the timeline's beginning. */
static void event(struct setting *s, int64_t ms, uint32_t kind, uint64_t a, uint64_t d)
{
	image_event(&s->image, s->start_ns + (uint64_t)(ms * 1000000), kind, a, 0, 0, d);
}

static void op(struct setting *s, int64_t ms, int64_t took)
{
	event(s, ms, IMAGE_OP_DONE, 1, 1);
	struct lb_flight_event *ring = image_at(&s->image, IMAGE_FLIGHT, IMAGE_EVENTS * sizeof *ring);
	ring[image_root(&s->image)->flight_used % IMAGE_EVENTS].args[4] = (uint64_t)took * 1000000;
}

static json_t *whole(struct setting *s)
{
	struct lbx_timeline_totals totals = { 0 };
	json_error_t error;

	lbx_timeline_end(s->timeline, &totals);
	lbx_timeline_close(&s->out);
	json_t *events = json_loadb(s->text, s->n, 0, &error);
	assert_non_null(events);
	return events;
}

struct slice {
	double from, to;
};

static bool crosses(const struct slice *a, const struct slice *b)
{
	const double least = 0.002; /* microseconds; the file has three places */
	return a->from + least < b->from && b->from + least < a->to && a->to + least < b->to;
}

/* The slices of a program that has one thread: how many, and that none lies across another. */
static int slices(json_t *events)
{
	struct slice list[64];
	int n = 0;
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e)
	{
		if (strcmp(json_string_value(json_object_get(e, "ph")), "X") != 0)
			continue;
		double from = json_number_value(json_object_get(e, "ts"));
		assert_between(n, 0, 63);
		list[n++] = (struct slice){ from, from + json_number_value(json_object_get(e, "dur")) };
	}
	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++)
			if (crosses(&list[a], &list[b]))
				fail_msg("%f to %f lies across %f to %f", list[a].from, list[a].to, list[b].from,
					 list[b].to);
	return n;
}

static void what_began_before_is_cut(void **state)
{
	struct setting *s = *state;

	op(s, 10, 30);
	op(s, 20, 10);
	event(s, 25, IMAGE_EVAL_DONE, 1, 1);
	assert_true(lbx_timeline_poll(s->timeline, true));
	json_t *events = whole(s);
	assert_int_equal(slices(events), 3);
	json_decref(events);
}

/* Eight events are kept; these are more. */
static void lose_some(struct setting *s, int64_t from)
{
	for (int i = 0; i < IMAGE_EVENTS + 3; i++)
		event(s, from + i, IMAGE_ALLOC, 1, 0);
}

static void an_end_that_was_lost(void **state)
{
	struct setting *s = *state;

	event(s, 10, IMAGE_EVAL_START, 1, 0);
	op(s, 12, 1);
	assert_true(lbx_timeline_poll(s->timeline, false));
	lose_some(s, 20);
	assert_true(lbx_timeline_poll(s->timeline, false));
	event(s, 40, IMAGE_EVAL_START, 2, 0);
	op(s, 45, 4);
	event(s, 50, IMAGE_EVAL_DONE, 2, 1);
	event(s, 60, IMAGE_EVAL_START, 3, 0);
	assert_true(lbx_timeline_poll(s->timeline, true));
	json_t *events = whole(s);
	assert_int_equal(slices(events), 5);
	json_decref(events);
}

static void a_beginning_that_was_lost(void **state)
{
	struct setting *s = *state;

	event(s, 10, IMAGE_EVAL_START, 1, 0);
	event(s, 15, IMAGE_EVAL_DONE, 1, 1);
	assert_true(lbx_timeline_poll(s->timeline, false));
	lose_some(s, 20);
	op(s, 45, 30);
	event(s, 50, IMAGE_EVAL_DONE, 2, 1);
	assert_true(lbx_timeline_poll(s->timeline, true));
	json_t *events = whole(s), *e;
	size_t i;
	assert_int_equal(slices(events), 3);
	json_array_foreach(events, i, e) if (strcmp(json_string_value(json_object_get(e, "name")), "eval 2") == 0)
	    assert_true(json_number_value(json_object_get(e, "ts")) * 1000 > (double)s->start_ns + 20e6);
	json_decref(events);
}

static void a_beginning_that_is_known(void **state)
{
	struct setting *s = *state;

	event(s, 10, IMAGE_EVAL_START, 1, 0);
	assert_true(lbx_timeline_poll(s->timeline, false));
	lose_some(s, 20);
	event(s, 50, IMAGE_EVAL_DONE, 1, 1);
	assert_true(lbx_timeline_poll(s->timeline, true));
	json_t *events = whole(s), *e;
	size_t i;
	assert_int_equal(slices(events), 1);
	json_array_foreach(events, i, e) if (strcmp(json_string_value(json_object_get(e, "ph")), "X") == 0)
	    assert_int_equal((int64_t)(json_number_value(json_object_get(e, "dur")) + 0.5), 40000);
	json_decref(events);
}

/* What `lazybones top` says after so many more operations. */
static json_t *top_after(struct setting *s, struct lbx_top *top, int n)
{
	for (int i = 0; i < n; i++)
		event(s, 1, IMAGE_OP_DONE, 1, 1);
	s->n = 0;
	assert_true(lbx_top_look(top));
	lbx_top_show(top, 24);
	json_t *shown = json_loadb(s->text, s->n, 0, NULL);
	assert_non_null(shown);
	return shown;
}

/* Figures of events that were not lost are not given for those of all. */
static void top_says_at_least_when_events_are_lost(void **state)
{
	struct setting *s = *state;
	struct lbx_top *top;

	assert_true(lbx_top_create(&s->context, &top));
	for (int i = 0; i < 3; i++) {
		json_t *shown = top_after(s, top, i == 1 ? IMAGE_EVENTS + 7 : 3);
		assert_int_equal(json_is_true(json_object_get(shown, "at_least")), i == 1);
		json_decref(shown);
	}
	s->out.json = false;
	s->out.width = 100;
	for (int i = 0; i < IMAGE_EVENTS + 7; i++)
		event(s, 1, IMAGE_OP_DONE, 1, 1);
	s->n = 0;
	assert_true(lbx_top_look(top));
	lbx_top_show(top, 24);
	s->text[s->n] = '\0';
	assert_non_null(strstr(s->text, ", at least "));
	assert_non_null(strstr(s->text, "at least: events were lost"));
	lbx_top_destroy(top);
}

/* Evaluations of one call site more than the last, from `sites` call sites. */
static void evaluate_from(struct setting *s, struct lbx_top *top, int sites)
{
	for (int i = 1; i <= sites; i++) {
		image_event(&s->image, s->start_ns, IMAGE_EVAL_DONE, 1, (uint64_t)i, 0, 1);
		assert_true(lbx_top_poll(top));
	}
	s->n = 0;
	assert_true(lbx_top_look(top));
}

/* However many rows there are: each is counted, what is not shown is said. */
static void top_leaves_nothing_out_silently(void **state)
{
	struct setting *s = *state;
	struct lbx_top *top;

	assert_true(lbx_top_create(&s->context, &top));
	evaluate_from(s, top, 400);
	s->out.width = 60;
	s->out.json = false;
	lbx_top_show(top, 24);
	s->text[s->n] = '\0';
	assert_non_null(strstr(s->text, "  evaluated by: 12 of 400\n"));
	s->n = 0;
	lbx_top_show(top, 1000);
	s->text[s->n] = '\0';
	assert_non_null(strstr(s->text, "  evaluated by\n"));
	evaluate_from(s, top, 300);
	s->out.json = true;
	lbx_top_show(top, 24);
	json_t *shown = json_loadb(s->text, s->n, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(shown, "eval_sites")), 300);
	json_decref(shown);
	lbx_top_destroy(top);
}

static void tallies_count_what_has_no_row(void **state)
{
	struct lbx_tallies tallies = { 0 };
	uint64_t count = 0;

	(void)state;
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t key = 0; key < LBX_TALLIES_MAX + 5; key++)
			lbx_tallies_add(&tallies, key << 12, key);
	assert_int_equal(tallies.n, LBX_TALLIES_MAX);
	assert_int_equal(tallies.others.count, 10);
	lbx_tallies_sort(&tallies);
	assert_int_equal(tallies.list[0].key, (uint64_t)(LBX_TALLIES_MAX - 1) << 12);
	for (uint32_t i = 0; i < tallies.n; i++)
		count += tallies.list[i].count;
	assert_int_equal(count, 2 * LBX_TALLIES_MAX);
	lbx_tallies_clear(&tallies);
	lbx_tallies_add(&tallies, 7, 1);
	assert_int_equal(tallies.n, 1);
	assert_int_equal(tallies.others.count, 0);
	lbx_tallies_deinit(&tallies);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tallies_count_what_has_no_row),
		cmocka_unit_test_setup_teardown(top_leaves_nothing_out_silently, begin_now, end),
		cmocka_unit_test_setup_teardown(top_says_at_least_when_events_are_lost, begin_now, end),
		cmocka_unit_test_setup_teardown(what_began_before_is_cut, begin_now, end),
		cmocka_unit_test_setup_teardown(an_end_that_was_lost, begin_now, end),
		cmocka_unit_test_setup_teardown(a_beginning_that_was_lost, begin_now, end),
		cmocka_unit_test_setup_teardown(a_beginning_that_is_known, begin_now, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
