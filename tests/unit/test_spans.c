/* Memory that may be several tensors': each byte counts once, compared with a count byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "inspect/memory/spans.h"
#include "made.h"
#include "says.h"

enum { MEMORY = 64, MOST = 12, ROUNDS = 20000 };

static void what_is_certain_counts_whole(void **state)
{
	struct lbx_span s[] = { { .start = 10, .end = 20, .number = 0 },
				{ .start = 12, .end = 18, .is_sure = true, .number = 1 },
				{ .start = 15, .end = 30, .number = 2 },
				{ .start = 10, .end = 12, .number = 3 } };

	(void)state;
	assert_true(lbx_spans_share_out(s, 4));
	for (int i = 0; i < 4; i++)
		assert_int_equal(s[i].bytes, ((const int64_t[]){ 4, 6, 10, 0 })[s[i].number]);
	assert_true(lbx_spans_share_out(NULL, 0));
}

/* All together have each byte once; who is certain has its own. */
static void each_byte_counts_once(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct lbx_span s[MOST];
		char of_sure[MEMORY] = { 0 }, of_others[MEMORY] = { 0 };
		int64_t total = 0, expected = 0;
		int n = round % (MOST + 1);
		for (int i = 0; i < n; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			uint64_t start = random >> 33 & 63, size = random >> 40 & 15;
			uint64_t end = start + size < MEMORY ? start + size : MEMORY;
			s[i] = (struct lbx_span){ .start = start + 1000,
						  .end = end + 1000,
						  .number = (uint64_t)i,
						  .is_sure = random >> 60 > 9 };
			memset((s[i].is_sure ? of_sure : of_others) + start, 1, end - start);
		}
		assert_true(lbx_spans_share_out(s, (size_t)n));
		for (int i = 0; i < n; i++) {
			if (s[i].is_sure)
				assert_int_equal(s[i].bytes, s[i].end - s[i].start);
			else
				total += s[i].bytes;
			assert_in_range(s[i].bytes, 0, s[i].end - s[i].start);
		}
		for (int i = 0; i < MEMORY; i++)
			expected += of_others[i] && !of_sure[i];
		assert_int_equal(total, expected);
	}
}

/* A ready one of 24 bytes; two that may be there, the first in part where that one is, the second where the first is. */
static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	static const uint64_t places[] = { 0, 16, 32 };

	*ret = (struct lbx_tensor){
		.state = i == 1 ? LBX_READY : LBX_UNSURE,
		.dtype = LB_F32,
		.op = "ADD",
		.op_class = LB_CLASS_BINARY,
		.rank = 1,
		.layout_known = true,
		.axes.few = { { 6 }, { 1 } },
		.size = 6,
		.buffer_id = i,
		.data = IMAGE_DATA + places[i - 1],
		.buffer_bytes = 24,
		.buffer_refs = 1,
	};
}

static const struct made made = { .n = 3, .tensor = make_tensor };

static void memory_is_told_so(void **state)
{
	struct session *s = session_create(false);

	(void)state;
	made_alone(s, &made);
	says(s, "memory", "--by state", "        32 B  57%  unsure: 2 buffers\n");
	says(s, "memory", "--by state", "        24 B  43%  ready: 1 buffer\n");
	session_destroy(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_certain_counts_whole),
		cmocka_unit_test(each_byte_counts_once),
		cmocka_unit_test(memory_is_told_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
