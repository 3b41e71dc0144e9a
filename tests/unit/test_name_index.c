/* Tensors found by their names among many: where they were is remembered from one command to the next while the program
 * stands still, and what is remembered is never believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/name_index.h"
#include "made.h"
#include "says.h"

enum { MANY = 5000, SMALL = 100 };

static char names[MANY + 1][16];
static int looks; /* at tensors */

static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	looks++;
	*ret = (struct lbx_tensor){
		.state = LBX_READY,
		.dtype = LB_F32,
		.op = "weight",
		.op_class = LB_CLASS_LEAF,
		.rank = 1,
		.layout_known = true,
		.axes.few = { { 6 }, { 1 } },
		.size = 6,
		.buffer_id = 1,
		.data = IMAGE_DATA,
		.buffer_bytes = 24,
		.buffer_refs = 1,
	};
	snprintf(ret->name, sizeof ret->name, "%s", names[i]);
}

static struct {
	bool is_known, waits;
	uint64_t moment;
	int asked;
} at;

static bool tell_moment(struct lbx_target *target, uint64_t *ret)
{
	(void)target;
	at.asked++;
	*ret = at.moment;
	return at.is_known && !at.waits;
}

static bool tell_wait(struct lbx_target *target)
{
	(void)target;
	return at.waits;
}

static struct made made = { .n = MANY, .tensor = make_tensor };
static struct lbx_provider providers[2];
static struct lbx_target_ops ops;
static struct lbx_kept kept;

static int start(void **state)
{
	session_start(state);
	struct session *s = *state;
	for (int i = 1; i <= MANY; i++)
		snprintf(names[i], sizeof names[i], "layers.%d", i);
	made.n = MANY;
	ops = *s->context.target->ops;
	ops.moment = tell_moment;
	ops.waits = tell_wait;
	s->context.target->ops = &ops;
	providers[0] = made_provider(&made);
	s->context.providers = providers;
	s->context.kept = &kept;
	at.is_known = true;
	at.waits = false;
	at.moment = 1;
	at.asked = 0;
	return 0;
}

static int stop(void **state)
{
	struct session *s = *state;

	session_forget(s);
	s->context.kept = NULL;
	lbx_kept_close(&kept);
	return session_stop(state);
}

/* How many tensors a command looks at, which answers so. */
static int looks_for(struct session *s, const char *name, const char *answer)
{
	looks = 0;
	says(s, "info", name, answer);
	session_forget(s);
	return looks;
}

static void the_second_look_is_short(void **state)
{
	struct session *s = *state;

	assert_true(looks_for(s, "layers.77", "#77") >= MANY);
	assert_true(looks_for(s, "layers.77", "#77") < 10);
	assert_true(looks_for(s, "layers.4999", "#4999") < 10);
	at.moment = 2;
	assert_true(looks_for(s, "layers.77", "#77") >= MANY);
	assert_true(looks_for(s, "layers.77", "#77") < 10);
}

/* As by `set var`: the program has not run. */
static void what_changed_is_noticed(void **state)
{
	struct session *s = *state;

	looks_for(s, "layers.77", "#77");
	strcpy(names[77], "other");
	assert_true(looks_for(s, "layers.77", "no tensor 'layers.77': did you mean") >= MANY);
	strcpy(names[78], "another");
	assert_true(looks_for(s, "another", "#78") >= MANY);
	assert_true(looks_for(s, "other", "#77") < 10);
	strcpy(names[79], "layers.80");
	looks_for(s, "nothing.like.it", "no tensor 'nothing.like.it'");
	looks_for(s, "layers.80", "2 tensors are 'layers.80': #80 is meant");
	strcpy(names[80], "80");
	looks_for(s, "layers.80", "#79");
}

/* What is not there is looked for everywhere, once; names like it and spellings are among what was found. */
static void what_is_not_there(void **state)
{
	struct session *s = *state;

	looks_for(s, "layers.77", "#77");
	int n = looks_for(s, "layres.77", "did you mean layers.77?");
	assert_in_range(n, MANY, MANY + 10);
	assert_true(looks_for(s, "layers_78", "layers.78") >= MANY);
}

static void when_it_is_not_known(void **state)
{
	struct session *s = *state;

	at.is_known = false;
	for (int i = 0; i < 3; i++)
		assert_true(looks_for(s, "layers.77", "#77") >= MANY);
	assert_null(kept.names);
	/* the debugger has still to be asked: nothing is looked at before, nothing is lost */
	at.is_known = true;
	looks_for(s, "layers.77", "#77");
	at.waits = true;
	looks = 0;
	session_says(s, "info", "layers.77");
	assert_true(s->failed);
	assert_true(looks < 10);
	session_forget(s);
	at.waits = false;
	assert_true(looks_for(s, "layers.77", "#77") < 10);
}

static bool interrupt(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out, (void)what, (void)done, (void)total;
	return lb_fail_because(LB_INTERRUPTED, "interrupted");
}

static void an_interrupted_walk_is_not_kept(void **state)
{
	struct session *s = *state;

	s->out.progress = interrupt;
	session_says(s, "info", "layers.77");
	assert_true(s->failed);
	session_forget(s);
	s->out.progress = NULL;
	assert_null(kept.names);
	assert_true(looks_for(s, "layers.77", "#77") >= MANY);
}

static void another_program(void **state)
{
	struct session *s = *state;
	static struct made small = { .n = SMALL, .tensor = make_tensor };
	struct lbx_provider others[] = { made_provider(&small), { 0 } };

	looks_for(s, "layers.77", "#77");
	s->context.providers = others;
	assert_true(looks_for(s, "layers.77", "#77") >= SMALL);
	assert_null(kept.names);
	/* few tensors are no question worth */
	at.asked = 0;
	looks_for(s, "layers.77", "#77");
	assert_int_equal(at.asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_second_look_is_short, start, stop),
		cmocka_unit_test_setup_teardown(what_changed_is_noticed, start, stop),
		cmocka_unit_test_setup_teardown(what_is_not_there, start, stop),
		cmocka_unit_test_setup_teardown(when_it_is_not_known, start, stop),
		cmocka_unit_test_setup_teardown(an_interrupted_walk_is_not_kept, start, stop),
		cmocka_unit_test_setup_teardown(another_program, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
