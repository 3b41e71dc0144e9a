#include "kernels/anatomy.h"

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
	[LB_NVFP4] = { .scale = LB_SCALE_NONE, NO_MINIMUM, GROUPS(4, 8, 0), .unit = 2, .codes = "e2m1" },
	[LB_Q2_K] = { F16(80), .minimum_at = 82, GROUPS(16, 4, 4), .unit = 1, .codes = "2 bits" },
	[LB_Q3_K] = { F16(108), NO_MINIMUM, GROUPS(16, 6, 0), .unit = 1, .codes = "3 bits" },
	[LB_Q4_K] = { F16(0), .minimum_at = 2, GROUPS(8, 6, 6), .unit = 1, .codes = "4 bits" },
	[LB_Q5_K] = { F16(0), .minimum_at = 2, GROUPS(8, 6, 6), .unit = 1, .codes = "5 bits" },
	[LB_Q6_K] = { F16(208), NO_MINIMUM, GROUPS(16, 8, 0), .unit = 1, .codes = "6 bits" },
	[LB_IQ4_XS] = { F16(0), NO_MINIMUM, GROUPS(8, 6, 0), .unit = 1, .codes = "4 bits, each for one of 16 values" },
	[LB_IQ2_XXS] = { F16(0), NO_MINIMUM, GROUPS(8, 4, 0), .unit = 1,
			 .codes = "of a grid of 256 groups, and signs" },
	[LB_IQ2_XS] = { F16(0), NO_MINIMUM, GROUPS(16, 4, 0), .unit = 1,
			.codes = "of a grid of 512 groups, and signs" },
	[LB_IQ2_S] = { F16(0), NO_MINIMUM, GROUPS(16, 4, 0), .unit = 1,
		       .codes = "of a grid of 1024 groups, and signs" },
	[LB_IQ3_XXS] = { F16(0), NO_MINIMUM, GROUPS(8, 4, 0), .unit = 1,
			 .codes = "of a grid of 256 groups, and signs" },
	[LB_IQ3_S] = { F16(0), NO_MINIMUM, GROUPS(8, 4, 0), .unit = 1, .codes = "of a grid of 512 groups, and signs" },
	[LB_IQ1_S] = { F16(0), NO_MINIMUM, GROUPS(8, 3, 0), .unit = 8,
		       .codes = "of a grid of 2048 groups, moved by 1/8" },
	[LB_IQ1_M] = { .scale = LB_SCALE_F16_QUARTERS,
		       .scale_at = 48,
		       NO_MINIMUM,
		       GROUPS(16, 3, 0),
		       .unit = 8,
		       .codes = "of a grid of 2048 groups, moved by 1/8" },
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

static void set_f16_to_one(uint8_t *at)
{
	const uint16_t one = 0x3c00;

	memcpy(at, &one, sizeof one);
}

/* Of a format with groups: no other scales have these. */
static void set_scale_to_one(const struct lb_block_form *form, uint8_t *block)
{
	uint8_t *at = block + form->scale_at;

	if (form->scale == LB_SCALE_F16)
		set_f16_to_one(at);
	for (int i = 0; form->scale == LB_SCALE_F16_QUARTERS && i < 4; i++)
		at[2 * i + 1] = (uint8_t)((at[2 * i + 1] & 15) | (0x3c00 >> 4 * i & 15) << 4);
}

/* ---- through the decoder ---- */

struct decoded {
	int8_t codes[LB_BLOCK_ELEMENTS];
	float steps[LB_BLOCK_GROUPS], leasts[LB_BLOCK_GROUPS];
};

static void decode_one(enum lb_encoding encoding, const void *block, struct decoded *ret)
{
	memset(ret->leasts, 0, sizeof ret->leasts); /* which formats without them leave alone */
	lb_grids();
	lb_tiles()->blocks(encoding)->codes(1, block, ret->codes, ret->steps, ret->leasts);
}

/* The groups' own are what steps and least values are where the block's are 1. */
void lb_block_scales(enum lb_encoding encoding, const void *block, struct lb_block_scales *ret)
{
	const struct lb_block_form *form = &forms[encoding];
	const struct lb_block *b = &lb_blocks[encoding];
	uint8_t plain[BLOCK_BYTES];
	struct decoded decoded;

	*ret = (struct lb_block_scales){ .scale = own_scale(form, block), .scales = { 1 } };
	if (form->minimum_at >= 0) {
		ret->minimum = lb_f16_at((const uint8_t *)block + form->minimum_at);
		ret->minimums[0] = 1;
	}
	if (form->groups == 1)
		return;
	memcpy(plain, block, (size_t)b->bytes);
	set_scale_to_one(form, plain);
	if (form->minimum_at >= 0)
		set_f16_to_one(plain + form->minimum_at);
	decode_one(encoding, plain, &decoded);
	for (int k = 0; k < form->groups; k++) {
		ret->scales[k] = decoded.steps[k] * (float)form->unit;
		ret->minimums[k] = 0 - decoded.leasts[k];
	}
}

void lb_block_codes(enum lb_encoding encoding, const void *block, const struct lb_block_scales *scales, int16_t *ret)
{
	int elements = lb_blocks[encoding].elements, each = elements / forms[encoding].groups;
	struct decoded decoded;

	decode_one(encoding, block, &decoded);
	for (int i = 0; i < elements; i++)
		ret[i] = scales->scales[i / each] == 0 ? 0 : decoded.codes[i];
}
