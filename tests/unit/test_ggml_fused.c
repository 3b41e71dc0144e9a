/* A norm that ggml may compute as one with the MUL that follows: its memory may hold anything, and is not shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "ggml_seen.h"

enum { NODES = 3, TO_COMPUTE = 0x10 };

static uint64_t nodes[NODES], graph, listed;

/* x, then a norm of it, that by x, and a sum of that. */
static int start(void **state)
{
	static const uint32_t op[NODES] = { GGML_RMS_NORM, GGML_MUL, GGML_ADD };

	(void)state;
	ggml_begin(true, 0x1800, 0x1400);
	uint64_t x = ggml_tensor("x", GGML_F32, NE(4, 4, 1, 1));
	for (int i = 0; i < NODES; i++) {
		static const char *const names[] = { "norm", "weighted", "sum" };
		nodes[i] = ggml_node(names[i], op[i], NE(4, 4, 1, 1), i ? nodes[i - 1] : x, i ? x : 0);
		ggml_image_put(&image, nodes[i] + LBX_GGML_FLAGS, TO_COMPUTE, 4);
	}
	graph = ggml_graph(nodes, NODES);
	listed = graph + GGML_LISTED;
	return 0;
}

static struct lbx_tensor look(int i)
{
	struct lbx_tensor t = { .id = 0 };

	ggml_see(&ggml_image_rests);
	if (!lbx_tensors_by_address(set, nodes[i], &t))
		fail_msg("%s", lb_error_message());
	return t;
}

static void it_is_unsure(void **state)
{
	char why[256];

	(void)state;
	struct lbx_tensor t = look(0);
	assert_int_equal(t.state, LBX_UNSURE);
	lbx_describe_state(&t, why, sizeof why);
	assert_string_equal(why,
			    "may not have been computed yet: ggml computes it as one with the next node, if it can, "
			    "and leaves it without a value");
	/* the others are as ever */
	for (int i = 1; i < NODES; i++) {
		t = look(i);
		assert_int_equal(lbx_told_state(&t), LBX_IN_MEMORY);
	}
}

/* What makes it sure. */
static void as_a_node_of_its_own(const char *why)
{
	struct lbx_tensor t = look(0);

	if (lbx_told_state(&t) != LBX_IN_MEMORY)
		fail_msg("%s: %s", why, lbx_state_name(lbx_told_state(&t)));
	ggml_finish(NULL);
	start(NULL);
}

static void it_may_be_sure(void **state)
{
	(void)state;
	ggml_image_put(&image, nodes[0] + LBX_GGML_FLAGS, 0, 4);
	as_a_node_of_its_own("a build that does not mark nodes, nor export the function");
	ggml_image_put(&image, nodes[1] + LBX_GGML_OP, GGML_ADD, 4);
	as_a_node_of_its_own("an ADD follows");
	ggml_image_put(&image, nodes[1] + image.layout.sources, nodes[2], 8);
	as_a_node_of_its_own("a MUL follows that does not read it");
	ggml_image_put(&image, listed + 8, nodes[2], 8);
	ggml_image_put(&image, listed + 16, nodes[1], 8);
	as_a_node_of_its_own("another node lies between");
	ggml_image_put(&image, graph + 4, 1, 4);
	as_a_node_of_its_own("the graph ends there");
}

static void the_other_source_may_be_it(void **state)
{
	(void)state;
	uint64_t sources = nodes[1] + image.layout.sources;
	ggml_image_put(&image, sources, ggml_image_get(&image, sources + 8, 8), 8);
	ggml_image_put(&image, sources + 8, nodes[0], 8);
	assert_int_equal(look(0).state, LBX_UNSURE);
}

/* Nodes and counts that lead nowhere. */
static void a_graph_may_be_damaged(void **state)
{
	static const uint64_t values[] = {
		0, 1, 3, 4, 0x1000, GGML_POOL, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX
	};
	const uint64_t fields[] = { graph, graph + 4, graph + 0x10, listed, listed + 8 };

	(void)state;
	for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
		size_t width = f < 2 ? 4 : 8;
		uint64_t before = ggml_image_get(&image, fields[f], width);
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			ggml_image_put(&image, fields[f], values[i], width);
			struct lbx_tensor t = look(1);
			assert_int_equal(lbx_told_state(&t), LBX_IN_MEMORY);
		}
		ggml_image_put(&image, fields[f], before, width);
	}
	assert_int_equal(look(0).state, LBX_UNSURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_unsure, start, ggml_finish),
		cmocka_unit_test_setup_teardown(it_may_be_sure, start, ggml_finish),
		cmocka_unit_test_setup_teardown(the_other_source_may_be_it, start, ggml_finish),
		cmocka_unit_test_setup_teardown(a_graph_may_be_damaged, start, ggml_finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
