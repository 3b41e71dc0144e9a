#include "torch/layout.h"

#include <stddef.h>

static const struct lbx_torch_layout rows[] = {
	{ .since = "2.13", .counts = 4, .storage = 0x10, .rank = 0x38, .device = LBX_TORCH_DEVICE, .data = 0x10 },
	{ .since = "2.6", .counts = 4, .storage = 0x10, .rank = 0x40, .device = LBX_TORCH_DEVICE, .data = 0x10 },
	{ .since = "1.13",
	  .counts = 8,
	  .storage = 0x18,
	  .rank = 0x48,
	  .device = LBX_TORCH_DEVICE_BEHIND,
	  .data = 0x18 },
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
	*ret = (struct lbx_torch_layout){ .counts = is_short ? 4 : 8,
					  .storage = is_short ? 0x10 : 0x18,
					  .device = i % 2 ? LBX_TORCH_DEVICE_BEHIND : LBX_TORCH_DEVICE,
					  .data = is_short ? 0x10 : 0x18 };
	ret->rank = ret->storage + 0x20 + 8 * (uint32_t)(i / 4);
	return i < 4 * GUESSES;
}
