/* What threads do with tensors that are not the runtime's, as `where` and the report tell it: of a provider that is made
 * up, alone and beside the runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made.h"
#include "report_of.h"
#include "says.h"

enum { TENSORS = 3 };

/* 1 and 2 are ready, 3 is their sum. */
static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	static const char *const names[] = { "weight", "x", "sum" };

	*ret = (struct lbx_tensor){
		.state = i == TENSORS ? LBX_EVALUATING : LBX_READY,
		.dtype = LB_F32,
		.op = i == TENSORS ? "ADD" : "NONE",
		.op_class = i == TENSORS ? LB_CLASS_BINARY : LB_CLASS_LEAF,
		.rank = 1,
		.layout_known = true,
		.axes.few = { { 6 }, { 1 } },
		.size = 6,
		.n_inputs = i == TENSORS ? 2 : 0,
		.buffer_id = 1,
		.data = IMAGE_DATA,
		.buffer_bytes = 24,
		.buffer_refs = TENSORS,
	};
	snprintf(ret->name, sizeof ret->name, "%s", names[i - 1]);
}

static void make_buffer(uint64_t i, struct lbx_buffer *ret)
{
	(void)i;
	*ret = (struct lbx_buffer){ .data = IMAGE_DATA, .nbytes = 24, .capacity = 24, .refs = TENSORS };
}

static uint64_t input_of(const struct lbx_tensor *t, uint32_t i)
{
	(void)t;
	return 1 + i;
}

static const struct lbx_work works[] = {
	{ .thread = 13, .doing = LBX_WAITS, .function = "barrier", .helps = 11 },
	{ .thread = 14, .doing = LBX_IS_IDLE },
	{ .thread = 11,
	  .doing = LBX_COMPUTES,
	  .function = "forward_add",
	  .id = 3,
	  .with = 1,
	  .number = 31,
	  .count = 68,
	  .result = 2,
	  .call = "decode (libmade.so)",
	  .caller = 0x4711,
	  .message = "made.c:12: ASSERT(n > 0) failed" },
	{ .thread = 12, .doing = LBX_COMPUTES, .function = "forward_mul", .helps = 11, .why = "two may be meant" },
	{ .thread = 15, .doing = LBX_IS_WITHIN, .call = "build (libmade.so)", .why = "it has no names" },
};
static int n_works;

static bool work(uint64_t slot, struct lbx_work *ret)
{
	if (slot >= (uint64_t)n_works)
		return false;
	*ret = works[slot];
	return true;
}

static const struct made made = {
	.n = TENSORS, .n_buffers = 1, .tensor = make_tensor, .buffer = make_buffer, .input = input_of, .work = work
};
static const struct made silent = {
	.n = TENSORS, .n_buffers = 1, .tensor = make_tensor, .buffer = make_buffer, .input = input_of
};

static int begin(void **state)
{
	*state = session_create(false);
	made_alone(*state, &made);
	n_works = sizeof works / sizeof *works;
	return 0;
}

static const char told[] = "thread 11: forward_add, node 31 of 68\n"
			   "    computes ADD of sum (#3, float32 (6,), evaluating)\n"
			   "      input weight (#1, float32 (6,), ready)\n"
			   "      input x (#2, float32 (6,), ready)\n"
			   "      as one with NONE of weight (#1, float32 (6,), ready)\n"
			   "      its graph ends with x (#2, float32 (6,), ready)\n"
			   "    gave up: made.c:12: ASSERT(n > 0) failed\n"
			   "    in decode (libmade.so), called by 0x4711\n"
			   "thread 12: forward_mul\n"
			   "    computes a tensor, for thread 11; which one is not certain: two may be meant\n"
			   "thread 13: barrier\n"
			   "    waits for the other threads of its graph, for thread 11\n"
			   "thread 15\n"
			   "    computes no tensor that is known: it has no names\n"
			   "    in build (libmade.so)\n"
			   "1 thread waits for work.\n";

static void each_thread_is_told(void **state)
{
	struct session *s = *state;

	assert_string_equal(session_says(s, "where", ""), told);
	n_works = 0;
	assert_string_equal(session_says(s, "where", ""), "No thread is at work on tensors.\n");
}

static void programs_are_told_it_too(void **state)
{
	struct session *s = *state;

	says(
	    s, "where", "--json",
	    "{\"provider\":\"made\",\"thread\":11,\"doing\":\"computes\",\"function\":\"forward_add\","
	    "\"op\":\"ADD\",\"tensor\":3,\"name\":\"sum\",\"inputs\":[1,2],\"with\":1,\"node\":31,\"nodes\":68,\"result\":2,"
	    "\"call\":\"decode (libmade.so)\",\"caller\":\"0x4711\",\"helps\":null,\"queued\":null,"
	    "\"message\":\"made.c:12: ASSERT(n > 0) failed\",\"why\":null}");
	says(s, "where", "--json",
	     "\"thread\":12,\"doing\":\"computes\",\"function\":\"forward_mul\",\"op\":null,\"tensor\":null,"
	     "\"name\":null,\"inputs\":null,\"with\":null,\"node\":null,\"nodes\":null,\"result\":null,\"call\":null,"
	     "\"caller\":null,\"helps\":11,\"queued\":null,\"message\":null,\"why\":\"two may be meant\"}");
	says(s, "where", "--json", "\"thread\":13,\"doing\":\"waits\",");
	says(s, "where", "--json", "\"thread\":15,\"doing\":\"within\",");
	says(s, "where", "--json", "],\"idle\":1,\"streams\":[]}");
}

static void both_runtimes_are_told(void **state)
{
	struct session *s = *state;

	session_forget(s);
	session_destroy(s);
	*state = s = session_create(false);
	made_beside(s, &made);
	says(s, "where", "", "thread 11: forward_add, node 31 of 68\n    computes ADD of sum (made#3, float32 (6,), ");
	says(s, "where", "", "No thread is evaluating; ");
	says(s, "where", "--json", "{\"threads\":[{\"provider\":\"made\",\"thread\":11,");
}

static void a_report_tells_it(void **state)
{
	struct session *s = *state;
	char path[64] = "/tmp/lazybones-page-XXXXXX", line[128];
	static char page[1 << 17];

	has(report_of(s, ""), "In flight\n  thread 11: forward_add, node 31 of 68\n      computes ADD of sum (#3, ");
	has(report_of(s, ""), "      gave up: made.c:12: ASSERT(n > 0) failed\n");
	has(report_of(s, ""), "Not known\n  only a runtime of Lazybones tells the last events");
	has(report_of(s, "--json"), "\"work\":[{\"provider\":\"made\",\"thread\":11,");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	snprintf(line, sizeof line, "--output %s", path);
	report_of(s, line);
	close(fd);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	page[fread(page, 1, sizeof page - 1, f)] = '\0';
	fclose(f);
	assert_int_equal(unlink(path), 0);
	has(page,
	    "<h2 id=\"flights\">In flight</h2>\n<ul>\n<li>thread 11: forward_add, node 31 of 68<br/>computes ADD of sum");
	has(page, "<br/>gave up: made.c:12: ASSERT(n &#62; 0) failed<br/>");
	n_works = 0;
	has(report_of(s, ""), "In flight\n  No thread is at work on tensors.\n");
}

static void a_set_may_not_tell(void **state)
{
	struct session *s = *state;

	session_forget(s);
	session_destroy(s);
	*state = s = session_create(false);
	made_alone(s, &silent);
	says(s, "where", "", "where asks the runtime of Lazybones, and the tensors here are of made: no symbol table");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_thread_is_told, begin, session_stop),
		cmocka_unit_test_setup_teardown(programs_are_told_it_too, begin, session_stop),
		cmocka_unit_test_setup_teardown(both_runtimes_are_told, begin, session_stop),
		cmocka_unit_test_setup_teardown(a_report_tells_it, begin, session_stop),
		cmocka_unit_test_setup_teardown(a_set_may_not_tell, begin, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
