/* How much memory tensors have by what they are for: what several have counts once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/memory/resident.h"
#include "made.h"
#include "says.h"

enum { AT = IMAGE_DATA + 0x8000 };

static const struct row {
	const char *name;
	enum lbx_usage usage;
	const char *memory, *device;
	int64_t at, n;
	bool is_view;
} rows[] = {
	{ "weight", LBX_USAGE_WEIGHTS, "Mapped", NULL, AT, 64, false },
	{ "next weight", LBX_USAGE_WEIGHTS, "Mapped", NULL, AT + 64, 32, false },
	{ "its view", LBX_USAGE_WEIGHTS, "Mapped", NULL, AT + 64, 32, true },
	{ "another weight", LBX_USAGE_WEIGHTS, "CPU", NULL, AT + 1024, 16, false },
	{ "far weight", LBX_USAGE_WEIGHTS, NULL, "GPU0", AT + 4096, 256, false },
	{ "cache", LBX_USAGE_STATE, "CPU", NULL, AT + 2048, 128, false },
	/* a result takes another one's place, and that of an input */
	{ "input", LBX_USAGE_INPUTS, "CPU", NULL, AT + 512, 48, false },
	{ "first", LBX_USAGE_COMPUTE, "CPU", NULL, AT + 528, 64, false },
	{ "second", LBX_USAGE_COMPUTE, "CPU", NULL, AT + 544, 16, false },
	{ "third", LBX_USAGE_COMPUTE, "CPU", NULL, AT + 600, 40, false },
	{ "measured", LBX_USAGE_COMPUTE, NULL, NULL, 0, 40, false },
};
enum { N = sizeof rows / sizeof *rows };

static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	const struct row *r = &rows[i - 1];

	*ret = (struct lbx_tensor){
		.state = r->at == 0  ? LBX_UNALLOCATED
			 : r->device ? LBX_ON_DEVICE
				     : LBX_READY,
		.place = r->device,
		.usage = r->usage,
		.memory = r->memory,
		.dtype = LB_U8,
		.op = "weight",
		.op_class = r->is_view ? LB_CLASS_VIEW : LB_CLASS_LEAF,
		.rank = 1,
		.layout_known = true,
		.axes.few = { { r->n }, { 1 } },
		.size = r->n,
		.buffer_id = r->at ? i : 0,
		.data = (uint64_t)r->at,
		.buffer_bytes = r->at ? r->n : 0,
	};
	snprintf(ret->name, sizeof ret->name, "%s", r->name);
}

static uint64_t no_input(const struct lbx_tensor *t, uint32_t i)
{
	(void)t, (void)i;
	return 0;
}

static const struct made made = { .n = N, .tensor = make_tensor, .input = no_input };

static struct lbx_target_ops ops;

/* All of the first 600 bytes is in memory. */
static bool resident(struct lbx_target *target, uint64_t address, uint64_t n, uint64_t *ret)
{
	uint64_t end = address + n < AT + 600 ? address + n : AT + 600;

	(void)target;
	*ret = end > address ? end - address : 0;
	return address < AT + 1500; /* further on it is not known */
}

static bool footprint(struct lbx_target *target, struct lbx_footprint *ret)
{
	(void)target;
	*ret = (struct lbx_footprint){ .resident = 4096, .proportional = 2048, .own = 1024 };
	return true;
}

static int begin(void **state)
{
	struct session *s = session_create(false);

	((char *)image_at(&s->image, AT + 2048, 128))[127] = 1; /* in the cache's second line */

	ops = *s->image.target.ops;
	ops.resident = resident;
	ops.footprint = footprint;
	s->image.target.ops = &ops;
	made_alone(s, &made);
	*state = s;
	return 0;
}

static void memory_counts_once(void **state)
{
	static const struct {
		enum lbx_usage usage;
		const char *kind;
		bool is_elsewhere;
		int64_t tensors, bytes, resident;
	} expected[] = {
		{ LBX_USAGE_WEIGHTS, "Mapped", false, 2, 96, 96 }, { LBX_USAGE_WEIGHTS, "CPU", false, 1, 16, 0 },
		{ LBX_USAGE_WEIGHTS, "GPU0", true, 1, 256, -1 },   { LBX_USAGE_STATE, "CPU", false, 1, 128, -1 },
		{ LBX_USAGE_INPUTS, "CPU", false, 1, 16, 16 },     { LBX_USAGE_COMPUTE, "CPU", false, 3, 64 + 40, 64 },
	};
	struct session *s = *state;
	struct lbx_resident r;

	assert_true(lbx_resident_take(&s->context, &r));
	lbx_resident_look(&r, s->context.target);
	assert_int_equal(r.tensors, N);
	assert_int_equal(r.states[LBX_READY], N - 2);
	assert_int_equal(r.states[LBX_UNALLOCATED], 1);
	assert_int_equal(r.n, sizeof expected / sizeof *expected);
	for (int i = 0; i < r.n; i++) {
		assert_int_equal(r.rows[i].usage, expected[i].usage);
		assert_string_equal(r.rows[i].kind, expected[i].kind);
		assert_int_equal(r.rows[i].is_elsewhere, expected[i].is_elsewhere);
		assert_int_equal(r.rows[i].tensors, expected[i].tensors);
		assert_int_equal(r.rows[i].bytes, expected[i].bytes);
		assert_int_equal(r.rows[i].resident, expected[i].resident);
	}
	for (size_t i = 0; i + 1 < r.n_ranges; i++)
		assert_true(r.ranges[i].start < r.ranges[i].end && r.ranges[i].end <= r.ranges[i + 1].start);
	lbx_resident_deinit(&r);
}

/* What is kept between computations is looked through, within the limit; of nothing else is it told. */
static void caches_are_filled(void **state)
{
	struct session *s = *state;
	struct lbx_target *target = s->context.target;
	struct lbx_resident r;

	assert_true(lbx_resident_take(&s->context, &r));
	assert_true(lbx_resident_fill(&r, target, 128, NULL));
	for (int i = 0; i < r.n; i++)
		assert_int_equal(r.rows[i].filled, r.rows[i].usage == LBX_USAGE_STATE ? 64 : -1);
	assert_true(lbx_resident_fill(&r, target, 127, NULL));
	for (int i = 0; i < r.n; i++)
		assert_int_equal(r.rows[i].filled, -1);
	lbx_resident_deinit(&r);
}

static void memory_tells_what_is_resident(void **state)
{
	struct session *s = *state;

	says(s, "memory", "",
	     "of the process\n"
	     "  4.0 KiB resident, 1.0 KiB of it its own; 2.0 KiB proportional; 0 B swapped out\n"
	     "    memory   resident  tensors  of what\n"
	     "      16 B        0 B        1  weights, CPU\n"
	     "     256 B     device        1  weights, GPU0\n"
	     "      96 B       96 B        2  weights, Mapped\n"
	     "     128 B          ?        1  state, CPU; 64 B not zero\n"
	     "     104 B       64 B        3  compute, CPU\n"
	     "      16 B       16 B        1  inputs, CPU\n");
	says(s, "memory", "--json",
	     "{\"usage\":\"state\",\"kind\":\"CPU\",\"on_device\":false,\"tensors\":1,"
	     "\"bytes\":128,\"resident\":null,\"not_zero\":64}");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_counts_once, begin, session_stop),
		cmocka_unit_test_setup_teardown(caches_are_filled, begin, session_stop),
		cmocka_unit_test_setup_teardown(memory_tells_what_is_resident, begin, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
