/* The doctor over a program's memory made by hand: what scenes of tests/doctor cannot play. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "inspect/diagnose/rule.h"
#include "says.h"

static void make_thread(struct session *s, int slot, uint64_t tid, uint64_t eval, uint64_t waits_for)
{
	struct lbx_thread_record thread = {
		.generation = { 1 }, .id = { tid }, .eval = { eval }, .waits_for = { waits_for }
	};
	image_thread(&s->image, slot, &thread);
}

static void a_circle_of_threads_is_told_once(void **state)
{
	struct session *s = *state;

	make_thread(s, 0, 70, 7, 9); /* not within the circle, but behind it */
	make_thread(s, 1, 71, 8, 9);
	make_thread(s, 2, 72, 9, 10);
	make_thread(s, 3, 73, 10, 8);
	says(s, "doctor", "--only F2", "thread 71 runs evaluation 8 and waits for 9; thread 72 runs evaluation 9\n");
	says(s, "doctor", "--only F2", "1 finding by 1 rule");
	assert_true(s->context.has_found);
}

static void who_waits_for_one_that_runs_is_fine(void **state)
{
	struct session *s = *state;

	make_thread(s, 0, 71, 8, 9);
	make_thread(s, 1, 72, 9, 0);
	make_thread(s, 2, 73, 10, 11); /* a job that is queued */
	says(s, "doctor", "--only F2", "nothing found by 1 rule");
	assert_false(s->context.has_found);
}

static void what_is_wanted_must_be_there(void **state)
{
	struct session *s = *state;

	says(s, "doctor", "--only L1,Z9", "there is no rule 'Z9'");
	says(s, "doctor", "--only", "--only");
	says(s, "doctor", "nosuch* --only L1", "no tensor is called 'nosuch*'");
	says(s, "doctor", "--only L2,deadlock --seconds 0", "nothing found by 3 rules");
}

static void rows_without_values_are_told(void **state)
{
	struct session *s = *state;

	says(s, "doctor", "--only N1 --seconds 0", "not checked: N1 (values were not looked at (--seconds 0))");
	says(s, "doctor", "'#1' --only F2,L1", "not checked: F2 (they are of the whole program, not of some tensors)");
}

static void sarif_is_a_document(void **state)
{
	struct session *s = *state;

	make_thread(s, 0, 71, 8, 9);
	make_thread(s, 1, 72, 9, 8);
	json_t *document = json_loads(session_says(s, "doctor", "--only F2 --sarif"), 0, NULL);
	json_t *run = json_array_get(json_object_get(document, "runs"), 0);
	json_t *result = json_array_get(json_object_get(run, "results"), 0);
	assert_string_equal(json_string_value(json_object_get(document, "version")), "2.1.0");
	assert_string_equal(json_string_value(json_object_get(result, "ruleId")), "F2");
	assert_string_equal(json_string_value(json_object_get(result, "level")), "error");
	json_decref(document);
}

/* No two rules have an id or a name in common, and all say what they demand. */
static void rules_are_complete(void **state)
{
	(void)state;
	for (const struct lbx_rule *const *r = lbx_rules; *r; r++) {
		assert_true(*(*r)->title && *(*r)->meaning && *(*r)->example && *(*r)->demands && *(*r)->cure);
		assert_true((*r)->sees && (*r)->conclude);
		assert_true(lbx_rule_is(*r, (*r)->id) && lbx_rule_is(*r, (*r)->name));
		for (const struct lbx_rule *const *other = lbx_rules; other < r; other++) {
			assert_string_not_equal((*r)->id, (*other)->id);
			assert_string_not_equal((*r)->name, (*other)->name);
		}
	}
}

/* What is not checked everywhere says where. */
static void where_they_look_is_told(void **state)
{
	struct session *s = *state;
	char where[LBX_WHERE_MAX];

	for (const struct lbx_rule *const *r = lbx_rules; *r; r++) {
		bool is_limited = (*r)->sees & ~(unsigned)(LBX_SEES_TENSORS | LBX_SEES_VALUES | LBX_SEES_HOLDERS |
							   LBX_SEES_GRADIENTS);
		assert_int_equal(lbx_rule_where(*r, where), is_limited);
	}
	says(s, "explain", "F12", "where it looks\n  In cores alone, with the command `lazybones`");
	says(s, "explain", "F12", "meanwhile. In programs with Lazybones' own runtime");
	says(s, "explain", "F4", "In the core of a program that has died");
	says(s, "explain", "L7h", "several times:\n  `lazybones doctor -- PROGRAM`, or");
	says(s, "explain", "--json F10", "\"where\":\"With the command `lazybones`, ");
	assert_null(strstr(session_says(s, "explain", "L9b"), "where it looks"));
	says(s, "doctor", "--only F12", "F12 cannot be checked here. It looks: In cores alone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_circle_of_threads_is_told_once, session_start, session_stop),
		cmocka_unit_test_setup_teardown(who_waits_for_one_that_runs_is_fine, session_start, session_stop),
		cmocka_unit_test_setup_teardown(what_is_wanted_must_be_there, session_start, session_stop),
		cmocka_unit_test_setup_teardown(rows_without_values_are_told, session_start, session_stop),
		cmocka_unit_test_setup_teardown(sarif_is_a_document, session_start, session_stop),
		cmocka_unit_test(rules_are_complete),
		cmocka_unit_test_setup_teardown(where_they_look_is_told, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
