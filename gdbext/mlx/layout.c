#include "mlx/layout.h"

#include <stddef.h>

static const struct lbx_mlx_layout rows[] = {
	{ .versions = "0.29.4 and later",
	  .since = 2904,
	  .is_small = true,
	  .is_offset = true,
	  .strides = 0x48,
	  .size = 0xb8 },
	{ .versions = "0.28 to 0.29.3", .since = 2800, .is_small = true, .strides = 0x48, .size = 0xb8 },
	{ .versions = "0.22 to 0.27", .since = 2200, .strides = 0x18, .size = 0x30 },
	{ .versions = "0.21", .since = 2100, .has_scheduled = true, .strides = 0x18, .size = 0x30 },
};

const struct lbx_mlx_layout *lbx_mlx_layout(int i)
{
	return i < (int)(sizeof rows / sizeof *rows) ? &rows[i] : NULL;
}
