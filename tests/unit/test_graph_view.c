/* The graph of a tensor as a tree, as DOT and as JSON, over memory made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/op.h"
#include "between.h"
#include "session.h"

static const char *graph(struct session *s, const char *line)
{
	return session_says(s, "graph", line);
}

static void add(struct session *s, int slot, const char *name, int op, int n, const uint64_t *inputs, uint32_t flags)
{
	static const int64_t shape[] = { 2, 3 };
	struct lbx_tensor_record r = image_record(&s->image, slot, name, LB_F32, 2, shape, 0);
	r.op[0] = (uint8_t)op;
	r.flags[0] = flags;
	r.n_inputs[0] = (uint32_t)n;
	for (int i = 0; i < n; i++)
		r.inputs[i] = inputs[i];
	image_tensor(&s->image, slot, &r);
}

static uint64_t slot_address(int slot)
{
	return slot < IMAGE_FIRST_TIER
		   ? IMAGE_TENSORS + (uint64_t)slot * sizeof(struct lbx_tensor_record)
		   : IMAGE_TENSORS_1 + (uint64_t)(slot - IMAGE_FIRST_TIER) * sizeof(struct lbx_tensor_record);
}

static void a_tree_is_drawn(void **state)
{
	struct session *s = *state;
	uint64_t x = slot_address(0), a = slot_address(18), b = slot_address(19);

	add(s, 18, "a", LB_OP_EXP, 1, (uint64_t[]){ x }, 0);
	add(s, 19, NULL, LB_OP_ADD, 2, (uint64_t[]){ a, x }, 0);
	add(s, 20, "y", LB_OP_MULTIPLY, 2, (uint64_t[]){ b, a }, 0);
	assert_string_equal(graph(s, "y"), "y #21 multiply float32 (2, 3) lazy\n"
					   "├─ #20 add float32 (2, 3) lazy\n"
					   "│  ├─ a #19 exp float32 (2, 3) lazy\n"
					   "│  │  └─ x #1 data float32 (4, 6, 10) ready\n"
					   "│  └─ x #1 as in line 4\n"
					   "└─ a #19 as in line 3\n"
					   "4 tensors: 1 ready, 3 not yet computed; depth 3\n");
	assert_string_equal(graph(s, "y --depth 0"), "y #21 multiply float32 (2, 3) lazy  …\n"
						     "1 tensor: 0 ready, 1 not yet computed; depth 0\n"
						     "cut short: --depth N and --limit N show more\n");
	assert_non_null(strstr(graph(s, "y --limit 2"), "add float32 (2, 3) lazy\n2 tensors"));
	assert_null(strstr(graph(s, "y --limit 0"), "cut short"));
	assert_non_null(strstr(graph(s, "y --depth 101"), "--depth must be from 0 to 100"));
}

static void damage_is_walked_around(void **state)
{
	struct session *s = *state;
	uint64_t self = slot_address(20);

	add(s, 18, "lost", LB_OP_ADD, 2, (uint64_t[]){ 900, 1 }, LB_FLAG_DETACHED);
	add(s, 19, "wild", LB_OP_ADD, 2, (uint64_t[]){ 0x10, slot_address(0) + 1 }, 0);
	add(s, 20, "ring", LB_OP_EXP, 1, (uint64_t[]){ self }, 0);
	assert_string_equal(graph(s, "lost"), "lost #19 add float32 (2, 3) lazy\n"
					      "├─ #900 gone\n"
					      "└─ x #1 data float32 (4, 6, 10) ready\n"
					      "2 tensors: 1 ready, 1 not yet computed; 1 former input gone; depth 1\n");
	assert_non_null(strstr(graph(s, "wild"), "├─ unreadable: "));
	assert_non_null(strstr(graph(s, "ring"), "└─ ring #21 as in line 1\n1 tensor"));
	assert_non_null(strstr(graph(s, "ring --json"), "\"edges\":[{\"from\":21,\"to\":21,"));
}

/* Inputs that a damaged record claims, in memory that is gone: the walk ends soon and says so. */
static void claimed_inputs_are_capped(void **state)
{
	struct session *s = *state;

	add(s, 18, "vast", LB_OP_CONCATENATE, 0, NULL, 0);
	image_set(&s->image, LB_KIND_TENSOR, 18, "n_inputs", 1 << 24);
	image_set(&s->image, LB_KIND_TENSOR, 18, "more_inputs", 0xdead0000);
	s->image.reads = 0;
	assert_non_null(strstr(graph(s, "vast --json"), "\"cut\":true"));
	assert_between(s->image.reads, 1, 1 << 16);
}

static void files_are_written(void **state)
{
	struct session *s = *state;
	uint64_t x = slot_address(0);
	char file[64], line[128], text[4096];

	snprintf(file, sizeof file, "/tmp/lazybones-test-%d.dot", (int)getpid());
	add(s, 18, "a \"quoted\\name", LB_OP_EXP, 1, (uint64_t[]){ x }, 0);
	snprintf(line, sizeof line, "#19 --dot %s", file);
	assert_non_null(strstr(graph(s, "#1 --dot /dev/null"), "1 tensor written to "));
	assert_non_null(strstr(graph(s, line), "2 tensors written to "));
	FILE *f = fopen(file, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	assert_non_null(strstr(text, "\tt19 [label=\"a \\\"quoted\\\\name #19 exp\\nfloat32 (2, 3)\""));
	assert_non_null(strstr(text, "\tt1 -> t19;\n"));
	assert_string_equal(text + strlen(text) - 2, "}\n");
	assert_non_null(strstr(graph(s, "x --dot /nonexistent/x"), "/nonexistent/x: cannot be written"));
	if (access("/usr/bin/dot", X_OK) == 0) {
		snprintf(line, sizeof line, "#19 --png %s", file);
		assert_non_null(strstr(graph(s, line), "2 tensors written to "));
		f = fopen(file, "rb");
		assert_int_equal(fread(text, 1, 8, f), 8);
		fclose(f);
		assert_memory_equal(text, "\x89PNG\r\n\x1a\n", 8);
		assert_non_null(strstr(graph(s, "x --png /nonexistent/x.png"), "exit status"));
	}
	unlink(file);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tree_is_drawn, session_start, session_stop),
		cmocka_unit_test_setup_teardown(damage_is_walked_around, session_start, session_stop),
		cmocka_unit_test_setup_teardown(claimed_inputs_are_capped, session_start, session_stop),
		cmocka_unit_test_setup_teardown(files_are_written, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
