#include "torch/layout.h"

#include <stddef.h>

static const struct lbx_torch_layout rows[] = {
	{ .since = "2.13", .behind = LBX_TORCH_BEHIND_SHORT, .rank = 0x38, .device = LBX_TORCH_DEVICE },
	{ .since = "2.6", .behind = LBX_TORCH_BEHIND_SHORT, .rank = 0x40, .device = LBX_TORCH_DEVICE },
	{ .since = "2.2", .behind = LBX_TORCH_BEHIND_LONG, .rank = 0x48, .device = LBX_TORCH_DEVICE },
	{ .since = "1.13", .behind = LBX_TORCH_BEHIND_LONG, .rank = 0x48, .device = LBX_TORCH_DEVICE_BEHIND },
};

enum { ROWS = sizeof rows / sizeof *rows, GUESSES = 6 /* of `rank` */ };

const struct lbx_torch_layout *lbx_torch_layout(int i)
{
	return i < ROWS ? &rows[i] : NULL;
}

bool lbx_torch_layout_guess(int i, struct lbx_torch_layout *ret)
{
	bool is_short = i / 2 % 2 == 0;

	/* a word more, or some less, between the two groups of fields */
	*ret = (struct lbx_torch_layout){ .behind = is_short ? LBX_TORCH_BEHIND_SHORT : LBX_TORCH_BEHIND_LONG,
					  .device = i % 2 ? LBX_TORCH_DEVICE_BEHIND : LBX_TORCH_DEVICE };
	ret->rank = ret->behind + 0x20 + 8 * (uint32_t)(i / 4);
	return i < 4 * GUESSES;
}
