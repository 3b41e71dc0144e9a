/* Blocks of several rows that lie interleaved: each format is woven here, from ggml's structures, and
 * what is read of it must be what the blocks were, bit for bit, whatever part of it is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/array.h"
#include "tensors/interleave.h"
#include "tensors/tensors.h"

/* ---- ggml's blocks ---- */

struct q4_0 {
	uint8_t d[2], qs[16];
};
struct q8_0 {
	uint8_t d[2], qs[32];
};
struct mxfp4 {
	uint8_t e, qs[16];
};
struct q2_k {
	uint8_t scales[16], qs[64], d[2], dmin[2];
};
struct q4_k {
	uint8_t d[2], dmin[2], scales[12], qs[128];
};
struct q5_k {
	uint8_t d[2], dmin[2], scales[12], qh[32], qs[128];
};
struct q6_k {
	uint8_t ql[128], qh[64], scales[16], d[2];
};

/* Bytes of a row, `n` at once, of the first row, the second … and again. */
static uint8_t *weave(uint8_t *to, const uint8_t *const *rows, int n_rows, int bytes, int n)
{
	for (int at = 0; at < bytes; at += n)
		for (int r = 0; r < n_rows; r++)
			for (int i = 0; i < n; i++)
				*to++ = rows[r][at + i];
	return to;
}

/* A field of each block. */
#define WEAVE(type, field, n) \
	do { \
		const uint8_t *rows_[8]; \
		for (int r_ = 0; r_ < n_rows; r_++) \
			rows_[r_] = (const uint8_t *)&((const struct type *)blocks[r_])->field; \
		to = weave(to, rows_, n_rows, (int)sizeof(((struct type *)0)->field), n); \
	} while (0)

/* The 6 bits of a scale and of a minimum, as get_scale_min_k4() takes them out of a block. */
static void scale_of(const uint8_t *q, int k, int *scale, int *minimum)
{
	*scale = k < 4 ? q[k] & 63 : (q[k + 4] & 0xf) | (q[k - 4] >> 6) << 4;
	*minimum = k < 4 ? q[k + 4] & 63 : (q[k + 4] >> 4) | (q[k] >> 6) << 4;
}

/* 12 bytes for each part of a block: the pairs of 8 rows. */
static uint8_t *weave_scales(uint8_t *to, const uint8_t *const *blocks, size_t at)
{
	for (int part = 0; part < 8; part++, to += 12) {
		int s[8], m[8];
		for (int r = 0; r < 8; r++)
			scale_of(blocks[r] + at, part, &s[r], &m[r]);
		for (int i = 0; i < 4; i++) {
			to[i] = (uint8_t)((s[i] & 63) + ((s[i + 4] & 48) << 2));
			to[i + 4] = (uint8_t)((m[i] & 63) + ((m[i + 4] & 48) << 2));
			to[i + 8] = (uint8_t)((s[i + 4] & 15) + ((m[i + 4] & 15) << 4));
		}
	}
	return to;
}

static void weave_unit(const struct lbx_interleave *x, const uint8_t *const *blocks, uint8_t *to)
{
	int n_rows = x->rows, n = x->at_once;
	const char *is = x->blocks;

	if (strcmp(is, "q4_0") == 0 || strcmp(is, "iq4_nl") == 0) {
		WEAVE(q4_0, d, 2);
		uint8_t *quants = to;
		WEAVE(q4_0, qs, n);
		for (; quants < to && is[0] == 'q'; quants++)
			*quants ^= 0x88;
	} else if (strcmp(is, "q8_0") == 0) {
		WEAVE(q8_0, d, 2);
		WEAVE(q8_0, qs, n);
	} else if (strcmp(is, "mxfp4") == 0) {
		WEAVE(mxfp4, e, 1);
		WEAVE(mxfp4, qs, n);
	} else if (strcmp(is, "q2_K") == 0) {
		WEAVE(q2_k, d, 2);
		WEAVE(q2_k, dmin, 2);
		for (int i = 0; i < 128; i++)
			*to++ = ((const struct q2_k *)blocks[(i % 16) / 2])->scales[(i / 16) * 2 + i % 2];
		WEAVE(q2_k, qs, n);
	} else if (strcmp(is, "q4_K") == 0) {
		WEAVE(q4_k, d, 2);
		WEAVE(q4_k, dmin, 2);
		to = weave_scales(to, blocks, offsetof(struct q4_k, scales));
		WEAVE(q4_k, qs, n);
	} else if (strcmp(is, "q5_K") == 0) {
		WEAVE(q5_k, d, 2);
		WEAVE(q5_k, dmin, 2);
		to = weave_scales(to, blocks, offsetof(struct q5_k, scales));
		WEAVE(q5_k, qh, n);
		WEAVE(q5_k, qs, n);
	} else if (strcmp(is, "q6_K") == 0) {
		WEAVE(q6_k, d, 2);
		for (int i = 0; i < 16; i++)
			for (int r = 0; r < 8; r++)
				*to++ = ((const struct q6_k *)blocks[r])->scales[i];
		WEAVE(q6_k, ql, n);
		WEAVE(q6_k, qh, n);
	} else {
		fail_msg("%s has no case here", x->name);
	}
}

/* ---- a matrix of random blocks ---- */

enum { GROUPS = 3, FEW = 5, MANY = 40 /* blocks of a row */, BASE = 0x10000 };

static struct {
	struct lbx_target target; /* first */
	const uint8_t *bytes;
	uint64_t size;
	int64_t largest; /* read at once */
} memory;

static bool read_memory(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	if (address < BASE || address - BASE > memory.size || n > memory.size - (address - BASE))
		return lb_fail("no memory at 0x%llx", (unsigned long long)address);
	memory.largest = (int64_t)n > memory.largest ? (int64_t)n : memory.largest;
	memcpy(to, memory.bytes + (address - BASE), n);
	return true;
}

static const void *map_memory(struct lbx_target *target, uint64_t address, size_t n)
{
	(void)target, (void)n;
	return memory.bytes + (address - BASE);
}

static bool no_root(struct lbx_target *target, uint64_t *ret)
{
	(void)target, (void)ret;
	return lb_fail("no runtime");
}

static const struct lbx_target_ops reads = { .read = read_memory, .find_root = no_root },
				   maps = { .read = read_memory, .find_root = no_root, .map = map_memory };

struct matrix {
	const struct lbx_interleave *how;
	struct lbx_encoding elements, bytes, plain;
	int64_t row_blocks, rows, columns;
	uint8_t *blocks, *woven; /* as they were, and interleaved */
	float *expected;
	struct lbx_tensor tensor;
};

static uint8_t random_byte(void)
{
	static uint64_t state = 7;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint8_t)(state >> 56);
}

static void fill(struct matrix *m)
{
	int64_t bytes = m->plain.bytes, unit = bytes * m->how->rows;
	const uint8_t *blocks[8];

	for (int64_t i = 0; i < m->rows * m->row_blocks * bytes; i++)
		m->blocks[i] = random_byte();
	for (int64_t g = 0; g < GROUPS; g++)
		for (int64_t x = 0; x < m->row_blocks; x++) {
			for (int r = 0; r < m->how->rows; r++)
				blocks[r] = m->blocks + ((g * m->how->rows + r) * m->row_blocks + x) * bytes;
			weave_unit(m->how, blocks, m->woven + (g * m->row_blocks + x) * unit);
		}
	m->plain.decode(&m->plain, m->blocks, m->rows * m->row_blocks, m->expected);
}

static void begin(struct matrix *m, const struct lbx_interleave *how, int64_t row_blocks)
{
	*m = (struct matrix){ .how = how, .row_blocks = row_blocks, .rows = GROUPS * how->rows };
	assert_non_null(lbx_encoding_of_blocks(how->blocks));
	m->plain = m->elements = *lbx_encoding_of_blocks(how->blocks);
	m->columns = row_blocks * m->plain.elements;
	m->elements.interleave = how;
	m->elements.row_blocks = row_blocks;
	m->bytes = m->elements;
	m->bytes.dtype = LB_U8;
	m->bytes.elements = m->bytes.bytes;
	m->bytes.decode = NULL;
	int64_t n = m->rows * row_blocks * m->plain.bytes;
	m->blocks = malloc((size_t)n);
	m->woven = malloc((size_t)n);
	m->expected = malloc((size_t)(m->rows * m->columns) * sizeof(float));
	assert_true(m->blocks && m->woven && m->expected);
	fill(m);
	memory.bytes = m->woven;
	memory.size = (uint64_t)n;
	memory.largest = 0;
	memory.target.ops = &reads;
	m->tensor = (struct lbx_tensor){ .state = LBX_READY,
					 .dtype = LB_F32,
					 .encoding = &m->elements,
					 .rank = 2,
					 .size = m->rows * m->columns,
					 .data = BASE,
					 .buffer_bytes = n };
	m->tensor.axes.few.shape[0] = m->rows;
	m->tensor.axes.few.shape[1] = m->tensor.axes.few.strides[0] = m->columns;
	m->tensor.axes.few.strides[1] = 1;
}

static void end(struct matrix *m)
{
	free(m->blocks);
	free(m->woven);
	free(m->expected);
}

static struct lbx_array array_of(struct matrix *m)
{
	struct lbx_array a;

	if (!lbx_array_of_tensor(&memory.target, &m->tensor, &a))
		fail_msg("%s: %s", m->how->name, lb_error_message());
	return a;
}

/* Elements of a copy, beside those that are expected: the bits, for NaN are among them. */
static void same(const struct matrix *m, const float *found, int64_t i, int64_t expected)
{
	if (memcmp(&found[i], &m->expected[expected], sizeof *found) != 0)
		fail_msg("%s, rows of %lld blocks: element %lld is %g, not %g", m->how->name, (long long)m->row_blocks,
			 (long long)expected, (double)found[i], (double)m->expected[expected]);
}

/* ---- tests ---- */

static void each_block_is_as_it_was(void **state)
{
	struct matrix m;
	uint8_t block[256];

	(void)state;
	const struct lbx_interleave *how;
	for (size_t k = 0; (how = lbx_interleave_each(k)); k++) {
		begin(&m, how, FEW);
		for (int64_t g = 0; g < GROUPS; g++)
			for (int64_t i = 0; i < FEW * how->rows; i++) {
				int64_t x = i % FEW, row = i / FEW, bytes = m.plain.bytes;
				memset(block, 0, sizeof block);
				lbx_interleave_undo(how, m.woven + (g * FEW + x) * bytes * how->rows, (int)bytes,
						    (int)row, 1, block);
				if (memcmp(block, m.blocks + ((g * how->rows + row) * FEW + x) * bytes,
					   (size_t)bytes) != 0)
					fail_msg("%s: block %lld of row %lld is another", how->name, (long long)x,
						 (long long)(g * how->rows + row));
			}
		end(&m);
	}
}

static void names_are_found(void **state)
{
	const struct lbx_interleave *how;

	(void)state;
	for (size_t k = 0; (how = lbx_interleave_each(k)); k++)
		assert_ptr_equal(lbx_interleave_named(how->name), how);
	assert_null(lbx_interleave_named("q4_0_16x1"));
	assert_null(lbx_interleave_named(""));
	assert_null(lbx_interleave_named("q4_0_8x4"));
	assert_null(lbx_interleave_named("q1_0_4x8"));
}

static void all_of_it_is_read(struct matrix *m)
{
	float *found = malloc((size_t)m->tensor.size * sizeof *found);
	struct lbx_array a = array_of(m);

	/* pieces that begin and end within blocks, rows and groups */
	const int64_t pieces[] = { m->tensor.size, 1, 7, 1000, m->columns + 3 };
	for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
		memset(found, 0x55, (size_t)m->tensor.size * sizeof *found);
		for (int64_t at = 0; at < m->tensor.size; at += pieces[p]) {
			int64_t n = m->tensor.size - at < pieces[p] ? m->tensor.size - at : pieces[p];
			assert_true(lbx_array_copy(&a, at, n, found + at));
		}
		for (int64_t i = 0; i < m->tensor.size; i++)
			same(m, found, i, i);
	}
	free(found);
}

static void a_matrix_is_read(void **state)
{
	const struct lbx_interleave *how;
	struct matrix m;

	(void)state;
	for (size_t k = 0; (how = lbx_interleave_each(k)); k++)
		for (int large = 0; large < 2; large++) {
			begin(&m, how, large ? MANY : FEW);
			all_of_it_is_read(&m);
			memory.target.ops = &maps;
			all_of_it_is_read(&m);
			end(&m);
		}
}

/* Any strides, offsets and directions. */
static void parts_are_read(void **state)
{
	static const struct {
		int64_t first[2], n[2], step[2];
	} parts[] = {
		{ { 0, 0 }, { 1, 1 }, { 1, 1 } },         { { 5, 3 }, { 1, 60 }, { 1, 1 } },
		{ { 11, 31 }, { 1, 3 }, { 1, 7 } },       { { 1, 40 }, { 4, 2 }, { 2, 33 } },
		{ { 11, 159 }, { 12, 160 }, { -1, -1 } }, { { 3, 0 }, { 5, 1 }, { 0, 1 } },
		{ { 2, 64 }, { 9, 64 }, { 1, 1 } },       { { 9, 100 }, { 4, 30 }, { -3, -2 } },
	};
	const struct lbx_interleave *how;
	struct matrix m;
	float found[160];

	(void)state;
	for (size_t k = 0; (how = lbx_interleave_each(k)); k++)
		for (int turned = 0; turned < 2; turned++) {
			begin(&m, how, FEW);
			for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
				struct lbx_array a = array_of(&m);
				int rows = turned, columns = 1 - turned;
				a.offset = parts[p].first[0] * m.columns + parts[p].first[1];
				a.shape[rows] = parts[p].n[0];
				a.shape[columns] = parts[p].n[1];
				a.strides[rows] = parts[p].step[0] * m.columns;
				a.strides[columns] = parts[p].step[1];
				a.size = a.shape[0] * a.shape[1];
				for (int64_t i = 0; i < a.shape[0]; i++) {
					assert_true(lbx_array_run(&a, (int64_t[]){ i, 0 }, a.shape[1], found));
					for (int64_t j = 0; j < a.shape[1]; j++)
						same(&m, found, j, a.offset + i * a.strides[0] + j * a.strides[1]);
				}
			}
			end(&m);
		}
}

/* As a replay takes them. */
static void bytes_are_read(void **state)
{
	const struct lbx_interleave *how;
	struct matrix m;

	(void)state;
	for (size_t k = 0; (how = lbx_interleave_each(k)); k++) {
		begin(&m, how, MANY);
		int64_t n = m.tensor.buffer_bytes;
		uint8_t *found = malloc((size_t)n);
		struct lbx_array a = array_of(&m);
		a.encoding = &m.bytes;
		a.dtype = LB_U8;
		a.rank = 1;
		a.strides[0] = 1;
		for (int64_t begins = 0; begins < 20; begins += 19) {
			a.offset = begins;
			a.shape[0] = a.size = n - begins;
			assert_true(lbx_array_copy(&a, 0, a.size, found));
			assert_memory_equal(found, m.blocks + begins, (size_t)a.size);
		}
		free(found);
		end(&m);
	}
}

/* A row that has more units than are read at once, a part at a time; nothing but what is needed. */
static void little_is_read(void **state)
{
	const struct lbx_interleave *how = lbx_interleave_named("q4_0_8x8");
	struct matrix m;
	float found[64];

	(void)state;
	begin(&m, how, 5000);
	struct lbx_array a = array_of(&m);
	assert_true(lbx_array_run(&a, (int64_t[]){ 9, 32000 }, 64, found));
	for (int i = 0; i < 64; i++)
		same(&m, found, i, 9 * m.columns + 32000 + i);
	assert_int_equal(memory.largest, 2 * 8 * 18);
	all_of_it_is_read(&m);
	assert_true(memory.largest > 0 && memory.largest <= 1 << 16);
	end(&m);
}

/* Which elements a byte belongs to: to one of those of 8 rows, of which the first is told. */
static void a_byte_is_found(void **state)
{
	struct matrix m;
	int64_t rest, at;

	(void)state;
	begin(&m, lbx_interleave_named("q4_0_8x8"), FEW);
	assert_int_equal(lbx_encoding_holds(&m.elements, 0, &rest), 0);
	assert_int_equal(lbx_encoding_holds(&m.elements, 143, &rest), 0);
	assert_int_equal(rest, 143);
	assert_int_equal(lbx_encoding_holds(&m.elements, 144, &rest), 32);
	assert_int_equal(rest, 0);
	assert_int_equal(lbx_encoding_holds(&m.elements, FEW * 144 + 7, &rest), 8 * m.columns);
	assert_int_equal(rest, 7);
	assert_int_equal(lbx_encoding_holds(&m.plain, 37, &rest), 64);
	assert_int_equal(rest, 1);
	assert_int_equal(lbx_encoding_span(&m.elements, 33, 40, &at), 144);
	assert_int_equal(at, 144);
	assert_int_equal(lbx_encoding_span(&m.elements, 33, m.columns, &at), FEW * 144); /* two rows: their group */
	assert_int_equal(at, 0);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_block_is_as_it_was), cmocka_unit_test(names_are_found),
		cmocka_unit_test(a_matrix_is_read),        cmocka_unit_test(parts_are_read),
		cmocka_unit_test(bytes_are_read),          cmocka_unit_test(little_is_read),
		cmocka_unit_test(a_byte_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
