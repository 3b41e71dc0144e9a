/* A unit has the fields of its blocks one after the other, maybe in another order: of each field some bytes of the first
 * row, as many of the next, and so on, then the next ones of the first row. Scales and minima of q4_K and q5_K, of 6 bits
 * each, are packed anew: those that 8 rows have for one part of a block lie together as those of 8 parts do in a block. */
#include "tensors/interleave.h"

#include <string.h>
#include <strings.h>

enum { FIELDS = 5, QUANTS = 0 /* at once: as many bytes as it says */, PACKED = -1 };
enum { PARTS = 8, PACKED_BYTES = 12 };

struct field {
	int at, bytes; /* in a block */
	int at_once; /* bytes of a row; QUANTS or PACKED */
	uint8_t flip; /* exclusive or: signs of nibbles */
};

enum { OF_Q4_0, OF_Q8_0, OF_IQ4_NL, OF_MXFP4, OF_Q2_K, OF_Q4_K, OF_Q5_K, OF_Q6_K };

/* In a unit's order. */
static const struct field layouts[][FIELDS] = {
	[OF_Q4_0] = { { 0, 2, 2, 0 }, { 2, 16, QUANTS, 0x88 } },
	[OF_Q8_0] = { { 0, 2, 2, 0 }, { 2, 32, QUANTS, 0 } },
	[OF_IQ4_NL] = { { 0, 2, 2, 0 }, { 2, 16, QUANTS, 0 } },
	[OF_MXFP4] = { { 0, 1, 1, 0 }, { 1, 16, QUANTS, 0 } },
	[OF_Q2_K] = { { 80, 2, 2, 0 }, { 82, 2, 2, 0 }, { 0, 16, 2, 0 }, { 16, 64, QUANTS, 0 } },
	[OF_Q4_K] = { { 0, 2, 2, 0 }, { 2, 2, 2, 0 }, { 4, 12, PACKED, 0 }, { 16, 128, QUANTS, 0 } },
	[OF_Q5_K] = { { 0, 2, 2, 0 },
		      { 2, 2, 2, 0 },
		      { 4, 12, PACKED, 0 },
		      { 16, 32, QUANTS, 0 },
		      { 48, 128, QUANTS, 0 } },
	[OF_Q6_K] = { { 208, 2, 2, 0 }, { 192, 16, 1, 0 }, { 0, 128, QUANTS, 0 }, { 128, 64, QUANTS, 0 } },
};

#define INTERLEAVE(ID, blocks, rows, at_once) { #blocks, rows, at_once, OF_##ID, #blocks "_" #rows "x" #at_once }
static const struct lbx_interleave all[] = {
	INTERLEAVE(Q4_0, q4_0, 4, 4),     INTERLEAVE(Q4_0, q4_0, 4, 8),   INTERLEAVE(Q4_0, q4_0, 8, 8),
	INTERLEAVE(Q8_0, q8_0, 4, 4),     INTERLEAVE(Q8_0, q8_0, 4, 8),   INTERLEAVE(IQ4_NL, iq4_nl, 4, 4),
	INTERLEAVE(IQ4_NL, iq4_nl, 8, 8), INTERLEAVE(MXFP4, mxfp4, 4, 4), INTERLEAVE(MXFP4, mxfp4, 8, 8),
	INTERLEAVE(Q2_K, q2_K, 8, 8),     INTERLEAVE(Q4_K, q4_K, 8, 4),   INTERLEAVE(Q4_K, q4_K, 8, 8),
	INTERLEAVE(Q5_K, q5_K, 8, 4),     INTERLEAVE(Q5_K, q5_K, 8, 8),   INTERLEAVE(Q6_K, q6_K, 8, 4),
	INTERLEAVE(Q6_K, q6_K, 8, 8),
};
#undef INTERLEAVE

enum { ALL = sizeof all / sizeof *all };

const struct lbx_interleave *lbx_interleave_named(const char *name)
{
	for (size_t i = 0; i < ALL; i++)
		if (strcasecmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

const struct lbx_interleave *lbx_interleave_each(size_t i)
{
	return i < ALL ? &all[i] : NULL;
}

/* The pair of scale and minimum number `k` of the 8 that are packed into 12 bytes, as in a block of q4_K. */
static void unpack(const uint8_t *p, int k, uint8_t *ret_scale, uint8_t *ret_minimum)
{
	if (k < 4) {
		*ret_scale = p[k] & 63;
		*ret_minimum = p[k + 4] & 63;
	} else {
		*ret_scale = (uint8_t)((p[k + 4] & 15) | p[k - 4] >> 6 << 4);
		*ret_minimum = (uint8_t)(p[k + 4] >> 4 | p[k] >> 6 << 4);
	}
}

static void pack(const uint8_t *scales, const uint8_t *minima, uint8_t *to)
{
	for (int k = 0; k < 4; k++) {
		to[k] = (uint8_t)(scales[k] | scales[k + 4] >> 4 << 6);
		to[k + 4] = (uint8_t)(minima[k] | minima[k + 4] >> 4 << 6);
		to[k + 8] = (uint8_t)((scales[k + 4] & 15) | (minima[k + 4] & 15) << 4);
	}
}

static void undo_packed(const uint8_t *from, int row, uint8_t *to)
{
	uint8_t scales[PARTS], minima[PARTS];

	for (int part = 0; part < PARTS; part++)
		unpack(from + part * PACKED_BYTES, row, &scales[part], &minima[part]);
	pack(scales, minima, to);
}

/* A field of n blocks: some bytes of every `rows` times as many, each step a load, a flip and a store. */
#define TAKE(type) \
	for (int64_t i = 0; i < n; i++, from += rows * bytes, to += bytes) { \
		for (int at = 0; at < f->bytes; at += (int)sizeof(type)) { \
			type some; \
			memcpy(&some, from + at * rows, sizeof some); \
			some ^= (type)flip; \
			memcpy(to + at, &some, sizeof some); \
		} \
	}

static void undo_field(const struct field *f, int at_once, int rows, int bytes, int64_t n, const uint8_t *from,
		       uint8_t *to)
{
	const uint64_t flip = f->flip * 0x0101010101010101U;

	switch (at_once) {
	case 8: TAKE(uint64_t) break;
	case 4: TAKE(uint32_t) break;
	case 2: TAKE(uint16_t) break;
	default: TAKE(uint8_t) break;
	}
}
#undef TAKE

void lbx_interleave_undo(const struct lbx_interleave *interleave, const void *units, int bytes, int row, int64_t n,
			 void *blocks)
{
	const struct field *fields = layouts[interleave->layout];
	const uint8_t *from = units;
	int rows = interleave->rows;

	for (const struct field *f = fields; f < fields + FIELDS && f->bytes; f++) {
		int at_once = f->at_once == QUANTS ? interleave->at_once : f->at_once;
		uint8_t *to = (uint8_t *)blocks + f->at;
		if (at_once == PACKED)
			for (int64_t i = 0; i < n; i++)
				undo_packed(from + i * rows * bytes, row, to + i * bytes);
		else
			undo_field(f, at_once, rows, bytes, n, from + row * at_once, to);
		from += f->bytes * rows;
	}
}
