/* What the bytes of ggml's blocks are for: which hold scales and minimums. What they are worth, and the codes, is
 * asked of the decoders (kernels/simd/blocks.c), so it is what elements are made with: an element is
 *
 *	code / unit * scale * scales[group] + minimum * minimums[group]
 */
#ifndef LB_KERNELS_ANATOMY_H
#define LB_KERNELS_ANATOMY_H

#include <stdint.h>

#include "kernels/kernels.h"

enum { LB_BLOCK_GROUPS = 16, LB_BLOCK_ELEMENTS = 256 };

/* What a block's own scale is. */
enum lb_block_scale {
	LB_SCALE_NONE,     /* the groups' are all */
	LB_SCALE_F16,
	LB_SCALE_F16_QUARTERS, /* an f16 in the high nibbles of four u16 */
	LB_SCALE_F32,
	LB_SCALE_E8M0,
};

struct lb_block_form {
	enum lb_block_scale scale;
	uint8_t scale_at; /* byte */
	int16_t minimum_at; /* likewise, of an f16; -1: there is none */
	int groups;         /* of as many elements each, that have scales of their own; 1: the block's is all */
	int scale_bits, minimum_bits; /* of a group's; 0: it has none */
	int unit;           /* codes are integers over this */
	const char *codes;  /* what they are: "4 bits" */
};

/* NULL: it is no encoding of blocks. */
const struct lb_block_form *lb_block_form(enum lb_encoding encoding);

struct lb_block_scales {
	float scale, minimum; /* the block's; 1 and 0 where it has none */
	float scales[LB_BLOCK_GROUPS], minimums[LB_BLOCK_GROUPS]; /* what these are multiplied by */
};
/* Of one block of any alignment. */
void lb_block_scales(enum lb_encoding encoding, const void *block, struct lb_block_scales *ret);
/* The codes of its elements, times the form's unit; 0 in groups whose scale is 0. */
void lb_block_codes(enum lb_encoding encoding, const void *block, const struct lb_block_scales *scales, int16_t *ret);

#endif
