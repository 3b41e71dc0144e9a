/* What is said of tensors that the runtime knows nothing of: of masks, of memory that several use, one after the other, and
 * of those without names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fake_stacks.h"
#include "made.h"
#include "says.h"

enum { MASK = 1, COPY, SCORES, WORSE, WEIGHT, SUM, OWN, DIAGONAL, TENSORS = DIAGONAL, N = 4, BYTES = 16, APART = 0x40 };

static const struct {
	const char *name;
	enum lb_op_class class;
	uint64_t input;
	enum lbx_usage usage;
	float holds[N];
} rows[TENSORS + 1] = {
	[MASK] = { "mask", LB_CLASS_LEAF, 0, LBX_USAGE_INPUTS, { 0, -INFINITY, -INFINITY, 0 } },
	[COPY] = { "copy of the mask", LB_CLASS_UNARY, MASK, LBX_USAGE_COMPUTE, { 0, -INFINITY, -INFINITY, 0 } },
	[SCORES] = { "logarithm", LB_CLASS_UNARY, WEIGHT, LBX_USAGE_COMPUTE, { 1, 2, -INFINITY, 4 } },
	[WORSE] = { "worse", LB_CLASS_LEAF, 0, LBX_USAGE_INPUTS, { 1, INFINITY, -INFINITY, 4 } },
	[WEIGHT] = { "weight", LB_CLASS_LEAF, 0, LBX_USAGE_WEIGHTS, { 1, 2, -INFINITY, 4 } },
	[SUM] = { "sum with NaN", LB_CLASS_UNARY, COPY, LBX_USAGE_COMPUTE, { 1, NAN, -INFINITY, 4 } },
	[DIAGONAL] = { "diagonal", LB_CLASS_UNARY, WORSE, LBX_USAGE_COMPUTE, { 1, -INFINITY, -INFINITY, 4 } },
	[OWN] = { "causal mask", LB_CLASS_LEAF, 0, LBX_USAGE_WEIGHTS, { 0, -INFINITY, 0, 0 } },
};

static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	*ret = (struct lbx_tensor){ .state = LBX_READY,
				    .dtype = LB_F32,
				    .op = "made",
				    .op_class = rows[i].class,
				    .puts_inf = i == DIAGONAL,
				    .usage = rows[i].usage,
				    .rank = 1,
				    .layout_known = true,
				    .axes.few = { { N }, { 1 } },
				    .size = N,
				    .n_inputs = rows[i].input != 0,
				    .buffer_id = i,
				    .data = IMAGE_DATA + APART * i,
				    .buffer_bytes = BYTES };
	snprintf(ret->name, sizeof ret->name, "%s", rows[i].name);
}

static uint64_t input_of(const struct lbx_tensor *t, uint32_t i)
{
	return i == 0 ? rows[t->id].input : 0;
}

static const struct made masks = { .n = TENSORS, .tensor = make_tensor, .input = input_of };

static int begin_masks(void **state)
{
	struct session *s = session_create(false);

	for (uint64_t i = 1; i <= TENSORS; i++)
		memcpy(image_at(&s->image, IMAGE_DATA + APART * i, BYTES), rows[i].holds, BYTES);
	made_alone(s, &masks);
	*state = s;
	return 0;
}

/* What -Inf was put into is no sign of an error. */
static void masks_are_told_apart(void **state)
{
	struct session *s = *state;
	struct fake_stacks stacks = fake_stacks(&s->image);

	s->context.stacks = &stacks.base;
	says(s, "report", "", "  - logarithm (#3, float32 (4,), ready) holds 0 NaN and 1 Inf among 4 values");
	says(s, "report", "", "  - worse (#4, float32 (4,), ready) holds 0 NaN and 2 Inf");
	says(s, "report", "", "  - weight (#5, float32 (4,), ready) holds 0 NaN and 1 Inf");
	says(s, "report", "", "  - sum with NaN (#6, float32 (4,), ready) holds 1 NaN and 1 Inf");
	is_silent_about(s, "report", "", "mask (#1, float32 (4,), ready) holds");
	is_silent_about(s, "report", "", "causal mask (");
	is_silent_about(s, "report", "", "diagonal (#8, float32 (4,), ready) holds");
	is_silent_about(s, "report", "", "mask (#2, float32 (4,), ready) holds");
	says(s, "report", "",
	     "  8 floating tensors looked at (128 B); -Inf that was put there, as into a mask,\n"
	     "    does not count: mask (#1, float32 (4,), ready), and what has it from there\n");
	says(s, "report", "--json", "\"masked\":4");
	s->context.stacks = NULL;
}

/* It is not known when they were computed: those that nothing computed come first, whatever their numbers. */
static void data_is_told_before_results(void **state)
{
	says(*state, "doctor", "--only N1", "Inf in worse, and in 3 other tensors");
}

/* ---- memory of several ---- */

enum { LARGE = 1, WITHIN, NAMELESS = WITHIN };

static void make_overlapping(uint64_t i, struct lbx_tensor *ret)
{
	make_tensor(WEIGHT, ret);
	ret->state = i == LARGE ? LBX_UNSURE : LBX_READY;
	ret->place = "thread 7 runs";
	ret->buffer_id = i;
	ret->data = IMAGE_DATA + (i == LARGE ? 0 : 8);
	ret->size = ret->axes.few.shape[0] = i == LARGE ? 16 : 2;
	ret->buffer_bytes = 4 * ret->size;
	ret->name[0] = '\0';
}

static void make_buffer(uint64_t i, struct lbx_buffer *ret)
{
	struct lbx_tensor t;

	make_overlapping(i, &t);
	*ret = (struct lbx_buffer){ .data = t.data, .nbytes = t.buffer_bytes, .capacity = t.buffer_bytes };
}

static const struct made overlapping = {
	.n = NAMELESS, .n_buffers = NAMELESS, .tensor = make_overlapping, .buffer = make_buffer, .input = input_of
};

static int begin_overlapping(void **state)
{
	*state = session_create(false);
	made_alone(*state, &overlapping);
	return 0;
}

static void all_that_may_be_there_are_told(void **state)
{
	struct session *s = *state;

	says(s, "at", "0x20000c",
	     "0x20000c is byte 12 of buffer #1 (64 B at 0x200000)\n"
	     "  #1 (float32 (16,), unsure): element [3]\n"
	     "0x20000c is byte 4 of buffer #2 (8 B at 0x200008)\n"
	     "  #2 (float32 (2,), ready): element [1]\n");
	says(s, "at", "0x20000c --json", "\"others\":[{\"byte\":4,\"buffer\":{\"id\":2,");
	says(s, "at", "0x20000c --limit 1", "buffer #1");
	is_silent_about(s, "at", "0x20000c --limit 1", "buffer #2");
	says(s, "at", "0x200010", "  #1 (float32 (16,), unsure): element [4]\n");
	is_silent_about(s, "at", "0x200010", "#2");
	/* behind the one that begins last */
	says(s, "owner", "0x200020", "0x200020 is byte 32 of buffer #1");
	says(s, "owner", "0x200048", "0x200048 is 8 bytes past the end of buffer #");
}

/* One that many begin in. */
enum { CROWD = 400, SMALL = 4, REACH = 1 << 12 };

static void make_crowd(uint64_t i, struct lbx_tensor *ret)
{
	make_overlapping(i, ret);
	ret->data = IMAGE_DATA + SMALL * i;
	ret->size = ret->axes.few.shape[0] = i == LARGE ? REACH / SMALL : 1;
	ret->buffer_bytes = SMALL * ret->size;
}

static void make_crowded_buffer(uint64_t i, struct lbx_buffer *ret)
{
	struct lbx_tensor t;

	make_crowd(i, &t);
	*ret = (struct lbx_buffer){ .data = t.data, .nbytes = t.buffer_bytes, .capacity = t.buffer_bytes };
}

static void a_crowd_hides_nothing(void **state)
{
	static const struct made crowd = {
		.n = CROWD, .n_buffers = CROWD, .tensor = make_crowd, .buffer = make_crowded_buffer, .input = input_of
	};
	struct session *s = *state;

	made_alone(s, &crowd);
	says(s, "owner", "0x200800", "0x200800 is byte 2044 of buffer #1");
	says(s, "owner", "0x200004", "0x200004 is byte 0 of buffer #1");
	says(s, "owner", "0x200640", "0x200640 is byte 0 of buffer #400");
	says(s, "owner", "0x201008", "0x201008 is 4 bytes past the end of buffer #1");
}

/* ---- what an info says ---- */

static void values_begin_in_one_column(void **state)
{
	static const char *const facts[][2] = { { "device", "cpu" }, { "requires_grad", "True" }, { NULL, NULL } };
	struct made made = overlapping;
	struct session *s = *state;
	const char *text, *label;
	static const char *const labels[] = { "id", "strides", "usage", "device", "requires_grad" };

	made.facts = facts;
	made_alone(s, &made);
	text = session_says(s, "info", "#1");
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
		char line[32];
		snprintf(line, sizeof line, "\n  %s ", labels[i]);
		label = strstr(text, line);
		if (!label)
			fail_msg("no '%s' in:\n%s", labels[i], text);
		const char *value = label + 1 + strlen("  requires_grad ");
		if (value[-1] != ' ' || value[0] == ' ')
			fail_msg("%s has its value elsewhere:\n%s", labels[i], text);
	}
}

/* ---- parts of one buffer ---- */

enum { PARTS = 20, PART = 1 << 18, NAMED = 1 };

static void make_part(uint64_t i, struct lbx_tensor *ret)
{
	make_tensor(WEIGHT, ret);
	ret->buffer_id = 1;
	ret->data = IMAGE_DATA;
	ret->offset = (int64_t)(i - 1) * PART;
	ret->size = ret->axes.few.shape[0] = PART;
	ret->buffer_bytes = (int64_t)PARTS * PART * 4;
	snprintf(ret->name, sizeof ret->name, "part%d", (int)i);
}

static void make_nameless_part(uint64_t i, struct lbx_tensor *ret)
{
	make_part(i, ret);
	ret->name[0] = i == NAMED ? ret->name[0] : '\0';
}

static void make_whole(uint64_t i, struct lbx_buffer *ret)
{
	*ret = (struct lbx_buffer){
		.id = i, .data = IMAGE_DATA, .nbytes = (int64_t)PARTS * PART * 4, .capacity = (int64_t)PARTS * PART * 4
	};
}

static void who_has_names_is_added_up(void **state)
{
	static const struct made all = {
		.n = PARTS, .n_buffers = 1, .tensor = make_part, .buffer = make_whole, .input = input_of
	};
	static const struct made one = {
		.n = PARTS, .n_buffers = 1, .tensor = make_nameless_part, .buffer = make_whole, .input = input_of
	};
	struct session *s = *state;

	made_alone(s, &all);
	says(s, "memory", "", "20 MiB");
	is_silent_about(s, "memory", "", "no more than");
	session_forget(s);
	made_alone(s, &one);
	says(s, "memory", "", "no more than 1.0 MiB of");
}

static int begin_parts(void **state)
{
	*state = session_create(false);
	return 0;
}

static void nobody_is_told_to_call_what_is_not_there(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "model", ""), "no ready tensor has a name");
	says(s, "memory", "", "64 B in 2 buffers\nby name\n");
	is_silent_about(s, "memory", "", "runtime");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(data_is_told_before_results, begin_masks, session_stop),
		cmocka_unit_test_setup_teardown(masks_are_told_apart, begin_masks, session_stop),
		cmocka_unit_test_setup_teardown(all_that_may_be_there_are_told, begin_overlapping, session_stop),
		cmocka_unit_test_setup_teardown(a_crowd_hides_nothing, begin_parts, session_stop),
		cmocka_unit_test_setup_teardown(values_begin_in_one_column, begin_parts, session_stop),
		cmocka_unit_test_setup_teardown(who_has_names_is_added_up, begin_parts, session_stop),
		cmocka_unit_test_setup_teardown(nobody_is_told_to_call_what_is_not_there, begin_overlapping,
						session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
