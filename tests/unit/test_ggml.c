/* What ggml's tensors are told by, piece by piece: code of one line, layouts, records, memory used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "target/code.h"
#include "ggml/record.h"
#include "ggml/reuse.h"

enum { AT = 0x10000, SIZE = 0x1000 };

static struct {
	struct lbx_target target;
	unsigned machine;
	unsigned char bytes[SIZE];
} made;

static bool read_made(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	if (address < AT || n > SIZE || address - AT > SIZE - n)
		return lb_fail("nothing at 0x%llx", (unsigned long long)address);
	memcpy(to, made.bytes + (address - AT), n);
	return true;
}

static bool machine_made(struct lbx_target *target, unsigned *ret)
{
	(void)target;
	*ret = made.machine;
	return true;
}

static int set_up(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_made, .machine = machine_made };

	(void)state;
	memset(&made, 0, sizeof made);
	made.target = (struct lbx_target){ .ops = &ops };
	made.machine = EM_X86_64;
	return 0;
}

static void code(unsigned machine, const void *bytes, size_t n)
{
	memset(made.bytes, 0xcc, sizeof made.bytes);
	memcpy(made.bytes, bytes, n);
	made.machine = machine;
}

#define CODE(machine, bytes) code(machine, bytes, sizeof(bytes) - 1)

static void reads_functions_of_one_line(void **state)
{
	uint64_t value;

	(void)state;
	CODE(EM_X86_64, "\xf3\x0f\x1e\xfa\xb8\x70\x01\x00\x00\xc3");
	assert_true(lbx_code_number(&made.target, AT, &value));
	assert_int_equal(value, 0x170);
	assert_false(lbx_code_member(&made.target, AT, &value));
	CODE(EM_X86_64, "\x48\x8d\x87\x00\x01\x00\x00\xc3");
	assert_true(lbx_code_member(&made.target, AT, &value));
	assert_int_equal(value, 0x100);
	CODE(EM_X86_64, "\x48\x8b\x87\xf8\x00\x00\x00\xc3");
	assert_true(lbx_code_load(&made.target, AT, &value));
	assert_int_equal(value, 0xf8);
	CODE(EM_X86_64, "\x48\x8b\x87\xf8\x00\x00\x00\x90"); /* it goes on */
	assert_false(lbx_code_load(&made.target, AT, &value));
	CODE(EM_X86_64, "\x48\x8d\x05\xf9\xff\xff\xff\xc3");
	assert_true(lbx_code_address(&made.target, AT, &value));
	assert_int_equal(value, AT);
	CODE(EM_AARCH64, "\x00\x2e\x80\xd2\xc0\x03\x5f\xd6"); /* mov x0, #0x170 */
	assert_true(lbx_code_number(&made.target, AT, &value));
	assert_int_equal(value, 0x170);
	CODE(EM_AARCH64, "\x5f\x24\x03\xd5\x00\x00\x04\x91\xc0\x03\x5f\xd6"); /* bti c; add x0, x0, #0x100 */
	assert_true(lbx_code_member(&made.target, AT, &value));
	assert_int_equal(value, 0x100);
	CODE(EM_AARCH64, "\x00\x7c\x40\xf9\xc0\x03\x5f\xd6"); /* ldr x0, [x0, #0xf8] */
	assert_true(lbx_code_load(&made.target, AT, &value));
	assert_int_equal(value, 0xf8);
	assert_false(lbx_code_load(&made.target, AT + SIZE, &value));
	assert_false(lbx_code_load(&made.target, 1, &value));
}

/* The function that fills a scheduler's slot, as compilers have made it over the years. */
static void reads_what_stores_its_arguments(void **state)
{
	uint64_t first, second;

	(void)state;
	CODE(EM_X86_64, "\xf3\x0f\x1e\xfa\x48\x89\xb7\x20\xea\x17\x00\x48\x89\x97\x28\xea\x17\x00\xc3");
	assert_true(lbx_code_stores(&made.target, AT, &first, &second));
	assert_int_equal(first, 0x17ea20);
	assert_int_equal(second, 0x17ea28);
	CODE(EM_X86_64, "\x50\x48\x85\xff\x74\x10\x48\x89\xb7\xf0\x03\x00\x00\x48\x89\x97\xf8\x03\x00\x00\x58\xc3");
	assert_true(lbx_code_stores(&made.target, AT, &first, &second));
	assert_int_equal(first, 0x3f0);
	assert_int_equal(second, 0x3f8);
	CODE(EM_X86_64, "\x48\x89\x77\x08\x48\x89\x57\x10\xc3");
	assert_true(lbx_code_stores(&made.target, AT, &first, &second));
	assert_int_equal(first, 8);
	assert_int_equal(second, 0x10);
	CODE(EM_X86_64, "\x48\x89\x77\xf8\x48\x89\x57\x10\xc3"); /* in front of it */
	assert_false(lbx_code_stores(&made.target, AT, &first, &second));
	CODE(EM_X86_64, "\x48\x89\x77\x08\x48\x89\x57\x10\x90"); /* it goes on */
	assert_false(lbx_code_stores(&made.target, AT, &first, &second));
	CODE(EM_X86_64, "\x48\x89\x57\x08\x48\x89\x77\x10\xc3"); /* the other way round */
	assert_false(lbx_code_stores(&made.target, AT, &first, &second));
	CODE(EM_AARCH64, "\x01\xf8\x01\xf9\x02\xfc\x01\xf9\xc0\x03\x5f\xd6"); /* str x1, [x0, #0x3f0] … */
	assert_true(lbx_code_stores(&made.target, AT, &first, &second));
	assert_int_equal(first, 0x3f0);
	assert_int_equal(second, 0x3f8);
	CODE(EM_AARCH64, "\x60\x00\x00\xb4\x01\x08\x10\xa9\xc0\x03\x5f\xd6"); /* cbz x0; stp x1, x2, [x0, #0x100] */
	assert_true(lbx_code_stores(&made.target, AT, &first, &second));
	assert_int_equal(first, 0x100);
	assert_int_equal(second, 0x108);
	CODE(EM_AARCH64, "\x02\xf8\x01\xf9\x01\xfc\x01\xf9\xc0\x03\x5f\xd6");
	assert_false(lbx_code_stores(&made.target, AT, &first, &second));
	assert_false(lbx_code_stores(&made.target, AT + SIZE, &first, &second));
}

/* ---- records ---- */

static struct lbx_ggml_anchor anchor;

static void put(uint32_t at, uint64_t value, size_t n)
{
	memcpy(made.bytes + at, &value, n);
}

static void put_tensor(const struct lbx_ggml_layout *l, uint32_t type, const int64_t *ne, const uint64_t *nb)
{
	memset(made.bytes, 0, sizeof made.bytes);
	put(LBX_GGML_TYPE, type, 4);
	for (uint32_t i = 0; i < LBX_GGML_AXES; i++) {
		put(LBX_GGML_NE + 8 * i, (uint64_t)ne[i], 8);
		put(LBX_GGML_NB + 8 * i, nb[i], 8);
	}
	put(l->data, 0x5000, 8);
	memcpy(made.bytes + l->name, "w", 2);
}

static void make_anchor(void)
{
	memset(&anchor, 0, sizeof anchor);
	anchor.n_types = 2;
	anchor.types[0] = (struct lbx_ggml_type){ .name = "f32", .elements = 1, .bytes = 4 };
	anchor.types[1] = (struct lbx_ggml_type){ .name = "q8_0", .elements = 32, .bytes = 34 };
	anchor.n_ops = 2;
	strcpy(anchor.ops[0], "NONE");
	strcpy(anchor.ops[1], "DUP");
	lbx_ggml_encode(&anchor);
}

static void reads_a_tensor_of_each_layout(void **state)
{
	const struct lbx_ggml_layout *row;
	struct lbx_ggml_layout longer;
	struct lbx_ggml_record r;

	(void)state;
	make_anchor();
	assert_true(anchor.types[0].is_known && anchor.types[1].is_known);
	for (size_t i = 0; (row = lbx_ggml_layout(i)); i++) {
		put_tensor(row, 1, (int64_t[]){ 64, 3, 1, 1 }, (uint64_t[]){ 34, 68, 204, 204 });
		assert_true(lbx_ggml_record_read(&made.target, &anchor, row, AT, &r));
		assert_string_equal(r.name, "w");
		assert_int_equal(r.rank, 2);
		assert_int_equal(r.size, 192);
		assert_int_equal(r.reach, 204);
		assert_int_equal(r.strides[1], 64);
		assert_int_equal(r.data, 0x5000);
		assert_true(lbx_ggml_layout_of_size(row, row->size + 16, &longer));
		assert_int_equal(longer.name_max, 80);
		assert_int_equal(longer.extra, row->extra + 16);
		assert_false(lbx_ggml_layout_of_size(row, 0, &longer));
		assert_false(lbx_ggml_layout_of_size(row, UINT64_MAX, &longer));
	}
}

static void refuses_what_is_no_tensor(void **state)
{
	const struct lbx_ggml_layout *l = lbx_ggml_layout(0);
	const int64_t ne[] = { 64, 3, 1, 1 };
	const uint64_t nb[] = { 34, 68, 204, 204 };
	const struct {
		uint32_t at;
		uint64_t value;
	} bad[] = {
		{ LBX_GGML_TYPE, 2 },        { LBX_GGML_OP, 2 },
		{ LBX_GGML_FLAGS, 64 },      { LBX_GGML_NE, 63 },
		{ LBX_GGML_NE, UINT64_MAX }, { LBX_GGML_NE + 8, INT64_MAX },
		{ LBX_GGML_NB, 33 },         { LBX_GGML_NB + 8, UINT64_MAX },
		{ LBX_GGML_NB + 8, 69 },     { l->sources, 1 },
		{ l->view_source, 4 },       { l->view_offset, 4 },
		{ l->name, 0x0101 },
	};
	struct lbx_ggml_record r;

	(void)state;
	make_anchor();
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		put_tensor(l, 1, ne, nb);
		assert_true(lbx_ggml_record_read(&made.target, &anchor, l, AT, &r));
		put(bad[i].at, bad[i].value, bad[i].at == LBX_GGML_TYPE || bad[i].at == LBX_GGML_OP ? 4 : 8);
		if (lbx_ggml_record_read(&made.target, &anchor, l, AT, &r))
			fail_msg("%zu was taken", i);
	}
	assert_false(lbx_ggml_record_read(&made.target, &anchor, l, AT + SIZE - 8, &r));
}

/* ---- memory used again ---- */

static void knows_what_wrote_last(void **state)
{
	struct lbx_ggml_extent e[] = {
		{ .start = 0, .end = 64, .ordinal = 0, .root = 100, .writes = true },
		{ .start = 32, .end = 96, .ordinal = 1, .root = 200, .writes = true },
		{ .start = 96, .end = 128, .ordinal = 2, .root = 300, .writes = true },
		/* a cache, written through a view of it */
		{ .start = 200, .end = 300, .ordinal = 3, .root = 400, .is_leaf = true },
		{ .start = 210, .end = 220, .ordinal = 4, .root = 400, .is_leaf = true, .writes = true },
		/* of another context: which was first is not known */
		{ .start = 96, .end = 100, .ordinal = 5, .context = 1, .root = 500, .writes = true },
		/* a view that was made after the memory of what it is of had been used again */
		{ .start = 500, .end = 564, .ordinal = 6, .root = 600, .writes = true },
		{ .start = 500, .end = 564, .ordinal = 7, .root = 700, .writes = true },
		{ .start = 500, .end = 564, .ordinal = 8, .root = 600, .since = 6 },
		/* made first, computed last */
		{ .start = 600, .end = 664, .ordinal = 9, .root = 800, .writes = true, .order = 11, .since = 11 },
		{ .start = 600, .end = 664, .ordinal = 10, .root = 900, .writes = true },
	};
	enum { N = sizeof e / sizeof *e };
	int64_t writers[N];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		e[i].order = e[i].order ? e[i].order : e[i].ordinal;
		e[i].since = e[i].since ? e[i].since : e[i].order;
	}
	assert_true(lbx_ggml_find_reuse(e, N, writers));
	assert_int_equal(writers[6], 7);
	assert_int_equal(writers[8], 7);
	assert_int_equal(writers[9], LBX_GGML_KEPT);
	assert_int_equal(writers[10], 9);
	assert_int_equal(writers[0], 1);
	assert_int_equal(writers[1], LBX_GGML_KEPT);
	assert_int_equal(writers[2], LBX_GGML_UNKNOWN_WRITER);
	assert_int_equal(writers[3], LBX_GGML_KEPT);
	assert_int_equal(writers[4], LBX_GGML_KEPT);
	assert_int_equal(writers[5], LBX_GGML_UNKNOWN_WRITER);
}

/* Each beside each: what a tree of many tells more quickly. */
static int64_t writer_of(const struct lbx_ggml_extent *extents, size_t n, const struct lbx_ggml_extent *e)
{
	int64_t found = LBX_GGML_KEPT, order = 0;

	for (size_t i = 0; i < n; i++) {
		const struct lbx_ggml_extent *other = &extents[i];
		if (!other->writes || (e->is_leaf && e->root == other->root) || e->start >= e->end ||
		    other->start >= other->end || other->start >= e->end || e->start >= other->end)
			continue;
		if (other->context == e->context && other->order > e->since && (found < 0 || other->order > order)) {
			found = other->ordinal;
			order = other->order;
		}
		if (other->context != e->context && found == LBX_GGML_KEPT)
			found = LBX_GGML_UNKNOWN_WRITER;
	}
	return found;
}

static void knows_it_of_any(void **state)
{
	enum { MOST = 40 };
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		struct lbx_ggml_extent e[MOST], copy[MOST];
		int64_t writers[MOST];
		uint32_t numbers[7];
		size_t n = 1 + (size_t)round % MOST;
		for (uint32_t i = 0; i < n; i++) {
			for (int k = 0; k < 7; k++)
				numbers[k] =
				    (uint32_t)((random = random * 6364136223846793005u + 1442695040888963407u) >> 33);
			uint64_t start = numbers[0] % (round % 3 ? 64 : 8);
			e[i] = (struct lbx_ggml_extent){ .start = start,
							 .end = start + numbers[1] % (round % 2 ? 4 : 40),
							 .ordinal = i,
							 .context = numbers[3] % (1 + (uint32_t)round % 4),
							 .root = numbers[4] % 5,
							 .writes = numbers[5] % 2,
							 .is_leaf = numbers[6] % 2 };
			/* made in this order, or in the other; a view may be of what was computed before */
			e[i].order = round % 5 ? i : MOST - i;
			e[i].since = e[i].writes || round % 7 ? e[i].order : numbers[2] % MOST;
		}
		memcpy(copy, e, sizeof e);
		assert_true(lbx_ggml_find_reuse(e, n, writers));
		for (size_t i = 0; i < n; i++)
			assert_int_equal(writers[i], writer_of(copy, n, &copy[i]));
	}
}

/* A hundred thousand, each within the one before, say nothing of one that lies apart. */
static void deep_overlaps_are_looked_through(void **state)
{
	enum { DEEP = 100000 };
	struct lbx_ggml_extent *e = calloc(DEEP + 1, sizeof *e);
	int64_t *writers = calloc(DEEP + 1, sizeof *writers);

	(void)state;
	assert_true(e && writers);
	for (uint32_t i = 0; i < DEEP; i++)
		e[i] = (struct lbx_ggml_extent){
			.start = i, .end = 2 * DEEP - i, .ordinal = i, .order = i, .since = i, .root = i, .writes = true
		};
	e[DEEP] = (struct lbx_ggml_extent){
		.start = 4 * DEEP, .end = 5 * DEEP, .ordinal = DEEP, .order = DEEP, .since = DEEP, .root = DEEP
	};
	assert_true(lbx_ggml_find_reuse(e, DEEP + 1, writers));
	for (int i = 0; i < DEEP - 1; i++)
		assert_int_equal(writers[i], DEEP - 1);
	assert_int_equal(writers[DEEP - 1], LBX_GGML_KEPT);
	assert_int_equal(writers[DEEP], LBX_GGML_KEPT);
	free(e);
	free(writers);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reads_what_stores_its_arguments, set_up),
		cmocka_unit_test_setup(reads_functions_of_one_line, set_up),
		cmocka_unit_test_setup(reads_a_tensor_of_each_layout, set_up),
		cmocka_unit_test_setup(refuses_what_is_no_tensor, set_up),
		cmocka_unit_test(knows_what_wrote_last),
		cmocka_unit_test(knows_it_of_any),
		cmocka_unit_test(deep_overlaps_are_looked_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
