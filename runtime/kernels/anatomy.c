#include "kernels/anatomy.h"

#include <math.h>
#include <string.h>

#include "kernels/codes.h"
#include "kernels/grids.h"
#include "kernels/half.h"
#include "kernels/tile.h"

enum { BLOCK_BYTES = 512 };
#define LB_BLOCK(encoding, decoder, name, number, elements, bytes, ...) \
	_Static_assert(elements <= LB_BLOCK_ELEMENTS && bytes <= BLOCK_BYTES, name);
#include "kernels/blocks.def"
#undef LB_BLOCK

#define F16(at) .scale = LB_SCALE_F16, .scale_at = at
#define NO_MINIMUM .minimum_at = -1
#define ALONE .groups = 1, .unit = 1
#define GROUPS(n, bits, of_minimums) .groups = n, .scale_bits = bits, .minimum_bits = of_minimums

/* kernels/simd/blocks.c says what is where. */
static const struct lb_block_form forms[LB_ENCODINGS] = {
	[LB_Q4_0] = { F16(0), NO_MINIMUM, ALONE, .codes = "4 bits" },
	[LB_Q4_1] = { F16(0), .minimum_at = 2, ALONE, .codes = "4 bits" },
	[LB_Q5_0] = { F16(0), NO_MINIMUM, ALONE, .codes = "5 bits" },
	[LB_Q5_1] = { F16(0), .minimum_at = 2, ALONE, .codes = "5 bits" },
	[LB_Q8_0] = { F16(0), NO_MINIMUM, ALONE, .codes = "8 bits" },
	[LB_Q8_1] = { F16(0), NO_MINIMUM, ALONE, .codes = "8 bits" },
	[LB_Q1_0] = { F16(0), NO_MINIMUM, ALONE, .codes = "1 bit" },
	[LB_Q2_0] = { F16(0), NO_MINIMUM, ALONE, .codes = "2 bits" },
	[LB_Q8_K] = { .scale = LB_SCALE_F32, NO_MINIMUM, ALONE, .codes = "8 bits" },
	[LB_TQ1_0] = { F16(52), NO_MINIMUM, ALONE, .codes = "ternary digits, five in a byte" },
	[LB_TQ2_0] = { F16(64), NO_MINIMUM, ALONE, .codes = "2 bits" },
	[LB_IQ4_NL] = { F16(0), NO_MINIMUM, ALONE, .codes = "4 bits, each for one of 16 values" },
	[LB_MXFP4] = { .scale = LB_SCALE_E8M0, NO_MINIMUM, .groups = 1, .unit = 2, .codes = "e2m1" },
	[LB_NVFP4] = { .scale = LB_SCALE_NONE,
		       NO_MINIMUM,
		       GROUPS(4, 8, 0),
		       .unit = 2,
		       .codes = "e2m1",
		       .base = 1,
		       .ranges = { { 4, 36, 0x22, 0 } } },
	[LB_Q2_K] = { F16(80), .minimum_at = 82, GROUPS(16, 4, 4), .unit = 1, .codes = "2 bits", .base = 1,
		      .ranges = { { 16, 80, 0x55, 0 } } },
	[LB_Q3_K] = { F16(108), NO_MINIMUM, GROUPS(16, 6, 0), .unit = 1, .codes = "3 bits", .base = 1,
		      .ranges = { { 0, 32, 0xff, 0 }, { 32, 96, 0x55, 0 } } },
	[LB_Q4_K] = { F16(0), .minimum_at = 2, GROUPS(8, 6, 6), .unit = 1, .codes = "4 bits", .base = 1,
		      .ranges = { { 16, 144, 0x11, 0 } } },
	[LB_Q5_K] = { F16(0), .minimum_at = 2, GROUPS(8, 6, 6), .unit = 1, .codes = "5 bits", .base = 1,
		      .ranges = { { 16, 48, 0, 0 }, { 48, 176, 0x11, 0 } } },
	[LB_Q6_K] = { F16(208), NO_MINIMUM, GROUPS(16, 8, 0), .unit = 1, .codes = "6 bits", .base = 1,
		      .ranges = { { 0, 128, 0x11, 0 }, { 128, 192, 0xaa, 0 } } },
	[LB_IQ4_XS] = { F16(0), NO_MINIMUM, GROUPS(8, 6, 0), .unit = 1, .codes = "4 bits, each for one of 16 values",
			.base = 1, .ranges = { { 8, 136, 0x88, 0 } } },
	[LB_IQ2_XXS] = { F16(0), NO_MINIMUM, GROUPS(8, 4, 0), .unit = 1, .codes = "of a grid of 256 groups, and signs",
			 .base = 8, .ranges = { { 2, 66, 0, 0xf000000000000000 } } },
	[LB_IQ2_XS] = { F16(0), NO_MINIMUM, GROUPS(16, 4, 0), .unit = 1, .codes = "of a grid of 512 groups, and signs",
			.base = 8, .ranges = { { 2, 66, 0, 0 } } },
	[LB_IQ2_S] = { F16(0), NO_MINIMUM, GROUPS(16, 4, 0), .unit = 1, .codes = "of a grid of 1024 groups, and signs",
		       .base = 8, .ranges = { { 2, 74, 0, 0 } } },
	[LB_IQ3_XXS] = { F16(0), NO_MINIMUM, GROUPS(8, 4, 0), .unit = 1, .codes = "of a grid of 256 groups, and signs",
			 .base = 4, .ranges = { { 2, 66, 0, 0 }, { 66, 98, 0, 0xf0000000f0000000 } } },
	[LB_IQ3_S] = { F16(0), NO_MINIMUM, GROUPS(8, 4, 0), .unit = 1, .codes = "of a grid of 512 groups, and signs",
		       .base = 1, .ranges = { { 2, 106, 0, 0 } } },
	[LB_IQ1_S] = { F16(0), NO_MINIMUM, GROUPS(8, 3, 0), .unit = 8,
		       .codes = "of a grid of 2048 groups, moved by 1/8", .base = -0.875f,
		       .ranges = { { 2, 34, 0, 0 }, { 34, 50, 0, 0x7000700070007000 } } },
	[LB_IQ1_M] = { .scale = LB_SCALE_F16_QUARTERS,
		       .scale_at = 48,
		       NO_MINIMUM,
		       GROUPS(16, 3, 0),
		       .unit = 8,
		       .codes = "of a grid of 2048 groups, moved by 1/8",
		       .base = -0.875f,
		       .ranges = { { 0, 48, 0, 0 } } },
};

const struct lb_block_form *lb_block_form(enum lb_encoding encoding)
{
	return (unsigned)encoding < LB_ENCODINGS && forms[encoding].groups ? &forms[encoding] : NULL;
}

/* ---- a block's own ---- */

static float own_scale(const struct lb_block_form *form, const uint8_t *block)
{
	const uint8_t *at = block + form->scale_at;
	float value = 1;

	switch (form->scale) {
	case LB_SCALE_NONE: break;
	case LB_SCALE_F16: return lb_f16_at(at);
	case LB_SCALE_F16_QUARTERS:
		return lb_f16_to_float((uint16_t)(at[1] >> 4 | (at[3] & 0xf0) | (at[5] & 0xf0) << 4 |
						  (at[7] & 0xf0) << 8));
	case LB_SCALE_F32: memcpy(&value, at, sizeof value); break;
	case LB_SCALE_E8M0: return lb_e8m0_to_float(*at);
	}
	return value;
}

static void set_f16(uint8_t *at, float x)
{
	uint16_t bits = lb_float_to_f16(x);

	memcpy(at, &bits, sizeof bits);
}

/* x is 0 or 1, but 1 of an e8m0. */
static void set_scale(const struct lb_block_form *form, uint8_t *block, float x)
{
	uint8_t *at = block + form->scale_at;
	unsigned bits = lb_float_to_f16(x);

	switch (form->scale) {
	case LB_SCALE_NONE: break;
	case LB_SCALE_F16: set_f16(at, x); break;
	case LB_SCALE_F16_QUARTERS:
		for (int i = 0; i < 4; i++, bits >>= 4)
			at[2 * i + 1] = (uint8_t)((at[2 * i + 1] & 15) | (bits & 15) << 4);
		break;
	case LB_SCALE_F32: memcpy(at, &x, sizeof x); break;
	case LB_SCALE_E8M0: *at = 127; break;
	}
}

/* ---- through the decoder ---- */

static void decode_one(enum lb_encoding encoding, const uint8_t *block, float *to)
{
	lb_grids();
	lb_tiles()->blocks(encoding)->values(1, block, to);
}

static void fill_codes(const struct lb_block_form *form, uint8_t *block)
{
	for (const struct lb_block_range *r = form->ranges; r < form->ranges + LB_BLOCK_RANGES; r++)
		for (int i = r->at; i < r->end; i++) {
			uint8_t keep = (uint8_t)(r->keep >> (i - r->at) % 8 * 8);
			block[i] = (uint8_t)((block[i] & keep) | (r->fill & ~keep));
		}
}

/* What the elements are with this scale and minimum: the first one of each group. */
static void of_groups(enum lb_encoding encoding, uint8_t *block, float scale, float minimum, float *ret)
{
	const struct lb_block_form *form = &forms[encoding];
	int each = lb_blocks[encoding].elements / form->groups;
	float values[LB_BLOCK_ELEMENTS];

	set_scale(form, block, scale);
	if (form->minimum_at >= 0)
		set_f16(block + form->minimum_at, minimum);
	decode_one(encoding, block, values);
	for (int k = 0; k < form->groups; k++)
		ret[k] = values[k * each];
}

void lb_block_scales(enum lb_encoding encoding, const void *block, struct lb_block_scales *ret)
{
	const struct lb_block_form *form = &forms[encoding];
	uint8_t filled[BLOCK_BYTES];

	*ret = (struct lb_block_scales){ .scale = own_scale(form, block), .scales = { 1 } };
	if (form->minimum_at >= 0) {
		ret->minimum = lb_f16_at((const uint8_t *)block + form->minimum_at);
		ret->minimums[0] = 1;
	}
	if (form->groups == 1)
		return;
	memcpy(filled, block, (size_t)lb_blocks[encoding].bytes);
	fill_codes(form, filled);
	of_groups(encoding, filled, 1, 0, ret->scales);
	for (int k = 0; k < form->groups; k++)
		ret->scales[k] /= form->base;
	if (form->minimum_bits)
		of_groups(encoding, filled, 0, 1, ret->minimums);
}

void lb_block_codes(enum lb_encoding encoding, const void *block, const struct lb_block_scales *scales, int16_t *ret)
{
	const struct lb_block_form *form = &forms[encoding];
	int elements = lb_blocks[encoding].elements, each = elements / form->groups;
	float values[LB_BLOCK_ELEMENTS];
	uint8_t plain[BLOCK_BYTES];

	memcpy(plain, block, (size_t)lb_blocks[encoding].bytes);
	set_scale(form, plain, 1);
	if (form->minimum_at >= 0)
		set_f16(plain + form->minimum_at, 0);
	decode_one(encoding, plain, values);
	for (int i = 0; i < elements; i++) {
		float scale = scales->scales[i / each];
		ret[i] = (int16_t)(scale == 0 ? 0 : lrintf(values[i] / scale * (float)form->unit));
	}
}
