/* ggml's formats of blocks: that each decodes to what ggml itself makes of it, whatever the instruction set, and
 * that whoever reads blocks knows them all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../real/ggml/stream.h"
#include "base/error.h"
#include "kernels/anatomy.h"
#include "kernels/grids.h"
#include "kernels/kernels.h"
#include "kernels/tile.h"
#include "lazybones.h"
#include "tensors/encoding.h"

enum { CHUNK = 7 /* blocks at once */ };

static const struct golden {
	const char *name;
	int number, elements, bytes;
	uint64_t digest;
} golden[] = {
#include "../real/ggml/golden.inc"
};
enum { GOLDEN = sizeof golden / sizeof *golden };

static enum lb_encoding encoding_of(const char *name)
{
	for (int e = 0; e < LB_ENCODINGS; e++)
		if (lb_blocks[e].ggml && strcmp(lb_blocks[e].ggml, name) == 0)
			return (enum lb_encoding)e;
	fail_msg("no encoding is ggml's %s", name);
	return LB_ENCODINGS;
}

/* What our decoder of this level makes of the stream, some blocks at once, at odd addresses. */
static uint64_t digest_of(const struct golden *g, enum lb_encoding encoding, enum lb_isa level)
{
	uint8_t blocks[CHUNK * STREAM_BLOCK_MAX + 1];
	float values[CHUNK * LBX_BLOCK_MAX];
	uint64_t state = 0, digest = 0;

	lb_grids();
	for (int done = 0, n; done < STREAM_BLOCKS; done += n) {
		n = STREAM_BLOCKS - done < CHUNK ? STREAM_BLOCKS - done : CHUNK;
		stream_take(&state, g->number, blocks + 1, (size_t)(n * g->bytes));
		lb_tiles_of(level)->blocks(encoding)->values(n, blocks + 1, values);
		stream_digest(&digest, values, (size_t)(n * g->elements));
	}
	return digest;
}

static void each_is_decoded_as_ggml_does(void **state)
{
	(void)state;
	for (int i = 0; i < GOLDEN; i++) {
		const struct golden *g = &golden[i];
		enum lb_encoding encoding = encoding_of(g->name);
		assert_int_equal(lb_blocks[encoding].number, g->number);
		assert_int_equal(lb_blocks[encoding].elements, g->elements);
		assert_int_equal(lb_blocks[encoding].bytes, g->bytes);
		for (int level = 0; level <= (int)lb_isa_level(); level++)
			if (digest_of(g, encoding, (enum lb_isa)level) != g->digest)
				fail_msg("%s, instruction set %d: not what ggml makes of it", g->name, level);
	}
}

/* ggml decodes q8_1 nowhere: it is what products are made of, d times the elements. */
static void what_ggml_only_multiplies_is_decoded(void **state)
{
	uint8_t block[36] = { 0x00, 0x38 /* 0.5 */, 0xff, 0xff };
	float values[32];

	(void)state;
	for (int i = 0; i < 32; i++)
		block[4 + i] = (uint8_t)(i * 8 - 128);
	for (int level = 0; level <= (int)lb_isa_level(); level++) {
		lb_tiles_of((enum lb_isa)level)->blocks(LB_Q8_1)->values(1, block, values);
		for (int i = 0; i < 32; i++)
			assert_true(values[i] == (float)(i * 4 - 64));
	}
}

/* Every encoding of blocks is one that ggml was asked about, but for q8_1; and a reader finds each by its name. */
static void readers_know_them_all(void **state)
{
	size_t n = 0;

	(void)state;
	for (int e = 0; e < LB_ENCODINGS; e++) {
		const struct lb_block *b = &lb_blocks[e];
		bool asked = e == LB_Q8_1;
		if (!b->elements)
			continue;
		for (int i = 0; i < GOLDEN; i++)
			asked |= strcmp(golden[i].name, b->ggml) == 0;
		if (!asked)
			fail_msg("%s has no digest", b->name);
		const struct lbx_encoding *by_ggml = lbx_encoding_of_blocks(b->ggml);
		assert_non_null(by_ggml);
		assert_ptr_equal(by_ggml, lbx_encoding_of_blocks(b->name));
		assert_string_equal(by_ggml->name, b->ggml);
		assert_int_equal(by_ggml->elements, b->elements);
		assert_int_equal(by_ggml->bytes, b->bytes);
		n++;
	}
	for (size_t i = 0; i < n; i++)
		assert_string_equal(lbx_encoding_of_blocks(lbx_blocks_name(i))->name, lbx_blocks_name(i));
	assert_null(lbx_blocks_name(n));
	assert_null(lbx_encoding_of_blocks("q4"));
	assert_null(lbx_encoding_of_blocks("little-endian"));
}

/* ---- codes ---- */

enum { SOME_CODES = CHUNK * LBX_BLOCK_MAX };

struct taken {
	int8_t codes[SOME_CODES];
	float steps[SOME_CODES / 16], leasts[SOME_CODES / 16];
	int32_t sums[SOME_CODES / 16], squares[SOME_CODES / 16];
};

/* Codes are within the bounds that their format has; times their group's step, less its least value, they are the elements. */
static void codes_are_the_elements(const struct lb_block *b, const struct taken *t, const float *values, int level)
{
	for (int i = 0; i < CHUNK * b->elements; i++) {
		float step = t->steps[i / b->group], least = b->has_least ? t->leasts[i / b->group] : 0;
		volatile float product = (float)t->codes[i] * step; /* rounded */
		float value = b->has_least ? product - least : product;
		if (t->codes[i] < b->lowest || t->codes[i] > b->highest)
			fail_msg("%s, instruction set %d, element %d: code %d", b->ggml, level, i, t->codes[i]);
		if (value != values[i] && !(isnan(value) && isnan(values[i])))
			fail_msg("%s, instruction set %d, element %d: %g is not %d times %g less %g", b->ggml, level, i,
				 values[i], t->codes[i], step, least);
	}
}

/* Sums that came without codes are theirs, none of which is 0; so are the steps. */
static void sums_are_of_codes(const struct lb_block *b, const struct taken *t, const float *steps, int level)
{
	for (int k = 0; k < CHUNK * b->elements / b->group; k++) {
		int32_t sum = 0, squares = 0;
		for (int i = 0; i < b->group; i++) {
			int code = t->codes[k * b->group + i];
			assert_int_not_equal(code, 0);
			sum += code;
			squares += code * code;
		}
		if (sum != t->sums[k] || squares != t->squares[k])
			fail_msg("%s, instruction set %d, group %d: %d, %d instead of %d, %d", b->ggml, level, k,
				 t->sums[k], t->squares[k], sum, squares);
		assert_memory_equal(&steps[k], &t->steps[k], sizeof steps[k]);
	}
}

static void codes_are_those_that_blocks_hold(void **state)
{
	int with_sums = 0;

	(void)state;
	lb_grids();
	for (int i = 0; i < GOLDEN; i++) {
		enum lb_encoding encoding = encoding_of(golden[i].name);
		const struct lb_block *b = &lb_blocks[encoding];
		for (int level = 0; level <= (int)lb_isa_level(); level++) {
			const struct lb_block_decoder *decoder = lb_tiles_of((enum lb_isa)level)->blocks(encoding);
			uint64_t stream = 0;
			for (int n = 0; n < STREAM_BLOCKS / CHUNK; n++) {
				uint8_t blocks[CHUNK * STREAM_BLOCK_MAX + 1];
				float values[SOME_CODES], steps[SOME_CODES / 16];
				struct taken t;
				stream_take(&stream, b->number, blocks + 1, (size_t)(CHUNK * b->bytes));
				decoder->values(CHUNK, blocks + 1, values);
				decoder->codes(CHUNK, blocks + 1, t.codes, t.steps, t.leasts);
				codes_are_the_elements(b, &t, values, level);
				if (!decoder->sums)
					continue;
				memcpy(steps, t.steps, sizeof steps);
				decoder->sums(CHUNK, blocks + 1, t.sums, t.squares, t.steps);
				sums_are_of_codes(b, &t, steps, level);
				with_sums++;
			}
		}
	}
	assert_true(with_sums > 0);
}

/* ---- what blocks are made of ---- */

/* Scales, minimums and codes of random blocks together are the elements, but for how products are rounded. */
static void parts_are_those(const struct golden *g, enum lb_encoding encoding, const uint8_t *block)
{
	const struct lb_block_form *form = lb_block_form(encoding);
	float values[LBX_BLOCK_MAX];
	struct lb_block_scales s;
	int16_t codes[LBX_BLOCK_MAX];

	lb_tiles()->blocks(encoding)->values(1, block, values);
	lb_block_scales(encoding, block, &s);
	lb_block_codes(encoding, block, &s, codes);
	for (int i = 0; i < g->elements && isfinite(s.scale) && isfinite(s.minimum); i++) {
		int group = i / (g->elements / form->groups);
		double product = (double)codes[i] / form->unit * s.scale * s.scales[group];
		double minimum = (double)s.minimum * s.minimums[group];
		double near = (fabs(product) + fabs(minimum)) * 0x1p-22 + FLT_MIN;
		if (isfinite(values[i]) && !(fabs(product + minimum - values[i]) <= near))
			fail_msg("%s, element %d: %g is not %d/%d * %g * %g + %g * %g", g->name, i, values[i], codes[i],
				 form->unit, s.scale, s.scales[group], s.minimum, s.minimums[group]);
	}
}

static void blocks_are_taken_apart(void **state)
{
	(void)state;
	lb_grids();
	for (int i = 0; i < GOLDEN; i++) {
		enum lb_encoding encoding = encoding_of(golden[i].name);
		uint8_t block[STREAM_BLOCK_MAX];
		uint64_t stream = 0;
		assert_non_null(lb_block_form(encoding));
		assert_int_equal(golden[i].elements % lb_block_form(encoding)->groups, 0);
		assert_int_equal(lb_blocks[encoding].has_least, lb_block_form(encoding)->minimum_at >= 0);
		for (int n = 0; n < STREAM_BLOCKS / 4; n++) {
			stream_take(&stream, golden[i].number, block, (size_t)golden[i].bytes);
			parts_are_those(&golden[i], encoding, block);
		}
	}
	assert_non_null(lb_block_form(LB_Q8_1));
	assert_null(lb_block_form(LB_LITTLE_ENDIAN));
	assert_null(lb_block_form(LB_ENCODINGS));
}

/* ggml's make_qkx2_quants packs scales and minimums of 6 bits so. */
static void parts_of_a_q4_k_block_are_its_bytes(void **state)
{
	uint8_t block[144] = { 0x00, 0x34 /* 0.25 */, 0x00, 0x40 /* 2 */ };
	struct lb_block_scales s;
	int16_t codes[256];

	(void)state;
	for (int k = 0; k < 4; k++) {
		int scale = 40 + k, minimum = 20 + k; /* of group k; and 4 + k */
		block[4 + k] = (uint8_t)((k + 1) | (scale >> 4) << 6);
		block[8 + k] = (uint8_t)((63 - k) | (minimum >> 4) << 6);
		block[12 + k] = (uint8_t)((scale & 15) | (minimum & 15) << 4);
	}
	for (int i = 0; i < 128; i++)
		block[16 + i] = (uint8_t)(i % 16 | (15 - i % 16) << 4);
	lb_block_scales(LB_Q4_K, block, &s);
	assert_true(s.scale == 0.25f && s.minimum == 2);
	for (int k = 0; k < 4; k++) {
		assert_true(s.scales[k] == k + 1 && s.scales[4 + k] == 40 + k);
		assert_true(s.minimums[k] == k - 63 && s.minimums[4 + k] == -20 - k);
	}
	lb_block_codes(LB_Q4_K, block, &s, codes);
	for (int i = 0; i < 256; i++)
		assert_int_equal(codes[i], i / 32 % 2 ? 15 - i % 16 : i % 16);
	/* nothing can be said of codes that a scale of 0 makes nothing of */
	block[4] &= 0xc0;
	lb_block_scales(LB_Q4_K, block, &s);
	assert_true(s.scales[0] == 0 && s.scales[1] == 2);
	lb_block_codes(LB_Q4_K, block, &s, codes);
	assert_int_equal(codes[5], 0);
	assert_int_equal(codes[37], 10);
}

/* ---- a GGUF file ---- */

static void put(FILE *f, const void *bytes, size_t n)
{
	assert_int_equal(fwrite(bytes, 1, n, f), n);
}

static void put_u64(FILE *f, uint64_t x)
{
	put(f, &x, sizeof x);
}

static void put_u32(FILE *f, uint32_t x)
{
	put(f, &x, sizeof x);
}

static void put_tensor(FILE *f, const struct golden *g, uint64_t at)
{
	put_u64(f, strlen(g->name));
	put(f, g->name, strlen(g->name));
	put_u32(f, 2);
	put_u64(f, (uint64_t)g->elements * 2);
	put_u64(f, STREAM_BLOCKS / 2);
	put_u32(f, (uint32_t)g->number);
	put_u64(f, at);
}

/* A tensor of each format, of rows of two blocks; 4096 of them end at a multiple of the alignment. */
static void write_gguf(const char *path)
{
	uint8_t block[STREAM_BLOCK_MAX];
	uint64_t at = 0;
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	put(f, "GGUF", 4);
	put_u32(f, 3);
	put_u64(f, GOLDEN);
	put_u64(f, 0);
	for (int i = 0; i < GOLDEN; i++) {
		put_tensor(f, &golden[i], at);
		at += (uint64_t)golden[i].bytes * STREAM_BLOCKS;
	}
	while (ftell(f) % 32)
		put(f, "", 1);
	for (int i = 0; i < GOLDEN; i++) {
		uint64_t stream = 0;
		for (int b = 0; b < STREAM_BLOCKS; b++) {
			stream_take(&stream, golden[i].number, block, (size_t)golden[i].bytes);
			put(f, block, (size_t)golden[i].bytes);
		}
	}
	assert_int_equal(fclose(f), 0);
}

static void files_of_every_format_are_read(void **state)
{
	char path[] = "/tmp/lazybones-blocks-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_gguf(path);
	lb_file *file = lb_open(path);
	if (!file)
		fail_msg("%s", lb_error_message());
	for (int i = 0; i < GOLDEN; i++)
		LB_SCOPE {
			uint64_t digest = 0;
			lb_tensor *x = lb_file_get(file, golden[i].name);
			if (!lb_eval(x))
				fail_msg("%s: %s", golden[i].name, lb_error_message());
			assert_int_equal(lb_dim(x, 0), STREAM_BLOCKS / 2);
			assert_int_equal(lb_dim(x, 1), golden[i].elements * 2);
			stream_digest(&digest, lb_data(x), (size_t)lb_size(x));
			if (digest != golden[i].digest)
				fail_msg("%s: not what ggml makes of it", golden[i].name);
		}
	lb_file_close(file);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_decoded_as_ggml_does),
		cmocka_unit_test(what_ggml_only_multiplies_is_decoded),
		cmocka_unit_test(readers_know_them_all),
		cmocka_unit_test(codes_are_those_that_blocks_hold),
		cmocka_unit_test(blocks_are_taken_apart),
		cmocka_unit_test(parts_of_a_q4_k_block_are_its_bytes),
		cmocka_unit_test(files_of_every_format_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
