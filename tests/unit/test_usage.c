/* What tensors are for, and what only those who know their runtime ask: of a made-up provider. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "made.h"
#include "says.h"
#include "tensors/state.h"

/* 16 floats each; those that are ready lie one behind the other. */
static const struct {
	const char *name;
	enum lbx_state state;
	enum lbx_usage usage;
	const char *memory;
} rows[] = {
	{ "layer.w", LBX_READY, LBX_USAGE_WEIGHTS, "Pool" },
	{ "cache", LBX_READY, LBX_USAGE_STATE, "Heap" },
	{ "tokens", LBX_READY, LBX_USAGE_INPUTS, "Heap" },
	{ "node", LBX_READY, LBX_USAGE_COMPUTE, "Heap" },
	{ "node", LBX_UNALLOCATED, LBX_USAGE_COMPUTE, NULL },
	{ "planned", LBX_UNALLOCATED, LBX_USAGE_COMPUTE, NULL },
	{ "planned", LBX_UNALLOCATED, LBX_USAGE_COMPUTE, NULL },
	{ "layer.old", LBX_OVERWRITTEN, LBX_USAGE_COMPUTE, "Heap" },
	{ "plain", LBX_READY, LBX_USAGE_UNKNOWN, NULL },
};
enum { TENSORS = sizeof rows / sizeof *rows, N = 16, BYTES = N * 4 };

static void make_tensor(uint64_t id, struct lbx_tensor *ret)
{
	bool has_memory = rows[id - 1].state != LBX_UNALLOCATED;

	*ret = (struct lbx_tensor){ .state = rows[id - 1].state,
				    .usage = rows[id - 1].usage,
				    .memory = rows[id - 1].memory,
				    .dtype = LB_F32,
				    .op = "made",
				    .op_class = LB_CLASS_LEAF,
				    .rank = 1,
				    .layout_known = true,
				    .axes.few = { { N }, { 1 } },
				    .size = N };
	if (has_memory) {
		ret->buffer_id = id;
		ret->data = IMAGE_DATA + 0x40 * id;
		ret->buffer_bytes = ret->buffer_capacity = BYTES;
		ret->buffer_refs = 1;
	}
	strcpy(ret->name, rows[id - 1].name);
}

static void make_buffer(uint64_t id, struct lbx_buffer *ret)
{
	(void)id, (void)ret;
}

static uint64_t input(const struct lbx_tensor *t, uint32_t i)
{
	(void)t, (void)i;
	return 0;
}

static const char *const facts[][2] = { { "ne", "[16, 1, 1, 1]" }, { NULL, NULL } };
static const struct made made = {
	.n = TENSORS, .tensor = make_tensor, .buffer = make_buffer, .input = input, .facts = facts
};

static int begin(void **state)
{
	int status = session_start(state);

	made_alone(*state, &made);
	return status;
}

static void memory_is_told_by_usage(void **state)
{
	says(*state, "memory", "--by usage", " 64 B  20%  weights: 1 buffer\n");
	says(*state, "memory", "--by usage", " 64 B  20%  state: 1 buffer\n");
	says(*state, "memory", "--by usage", " 64 B  20%  compute: 1 buffer\n");
	says(*state, "memory", "--by usage", " 64 B  20%  inputs: 1 buffer\n");
	says(*state, "memory", "--by usage", " 64 B  20%  (not known): 1 buffer\n");
	says(*state, "memory", "--by kind", " 192 B  60%  Heap: 3 buffers\n");
	says(*state, "memory", "--by kind", " 64 B  20%  Pool: 1 buffer\n");
	says(*state, "memory", "--by device", " 320 B 100%  cpu: 5 buffers\n");
	says(*state, "memory", "--by module", " 64 B  20%  layer: 1 buffer\n");
	says(*state, "memory", "--by module", "(no module): 4 buffers\n");
	says(*state, "memory", "--by holder", "(not known): 5 buffers\n");
	says(*state, "memory", "--by colour",
	     "expected site, dtype, name, stream, state, usage, kind, device, module or holder");
}

/* Nobody but the runtime knows where a tensor was made. */
static void names_come_first_without_a_runtime(void **state)
{
	says(*state, "memory", "", "by name\n");
	says(*state, "memory", "", " 64 B  20%  layer.*: 1 buffer\n");
	says(*state, "memory", "--by site", "by site\n");
}

/* What was overwritten, or never had any, takes no memory. */
static void what_has_no_memory_is_not_counted(void **state)
{
	is_silent_about(*state, "memory", "--by state", "overwritten");
	is_silent_about(*state, "memory", "--by state", "lazy");
	says(*state, "memory", "--by state", " 320 B 100%  ready: 5 buffers\n");
	says(*state, "list", "", "9 tensors: 5 ready (320 B), 0 lazy, 1 overwritten, 3 unallocated\n");
}

static void parameters_are_no_state(void **state)
{
	says(*state, "model", "", "16 parameters in 1 tensor, 64 B");
	says(*state, "model", "", "layer.w");
	is_silent_about(*state, "model", "", "plain");
	is_silent_about(*state, "model", "", "cache");
	is_silent_about(*state, "model", "", "tokens");
	is_silent_about(*state, "model", "", "node");
}

/* A graph that was only measured has the same names as the one that runs. */
static void who_has_memory_is_meant(void **state)
{
	says(*state, "info", "node", "id          #4");
	says(*state, "info", "planned", "2 tensors are 'planned': #7 is meant, the newest (planned@2)");
	says(*state, "info", "#5", "node: float32 (16,), unallocated");
	says(*state, "print", "#5", "unallocated: it has no value yet");
}

static void facts_are_told(void **state)
{
	says(*state, "info", "layer.w", "\n  usage       weights\n  ne          [16, 1, 1, 1]\n");
	is_silent_about(*state, "info", "layer.w", "references");
	is_silent_about(*state, "info", "plain", "usage");
	says(*state, "status", "", "\n           ne [16, 1, 1, 1]\n");
	is_silent_about(*state, "status", "", "0 buffers");
	says(*state, "status", "", "\nmemory     cpu: 320 B in 5 buffers\n");
	says(*state, "info", "layer.w --json", "\"facts\":[{\"name\":\"ne\",\"text\":\"[16, 1, 1, 1]\"}]");
	says(*state, "info", "layer.w --json", "\"usage\":\"weights\"");
	says(*state, "info", "layer.w --json", "\"memory\":\"Pool\"");
	says(*state, "info", "plain --json", "\"memory\":null");
}

int main(void)
{
#define ALONE(test) cmocka_unit_test_setup_teardown(test, begin, session_stop)
	static const struct CMUnitTest tests[] = {
		ALONE(memory_is_told_by_usage),           ALONE(names_come_first_without_a_runtime),
		ALONE(what_has_no_memory_is_not_counted), ALONE(parameters_are_no_state),
		ALONE(who_has_memory_is_meant),           ALONE(facts_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
