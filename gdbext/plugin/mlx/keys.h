/* What the breakpoints of this room are known by (stops/breakpoints.h): they are there once for all catches. */
#ifndef LBX_PLUGIN_MLX_KEYS_H
#define LBX_PLUGIN_MLX_KEYS_H

#include "plugin/stops/breakpoints.h"

enum {
	LBX_KEY_MLX = LBX_BREAKPOINT_OTHERS + 512,
	LBX_KEY_MLX_EVAL = LBX_KEY_MLX, /* eval(arrays), by name */
	LBX_KEY_MLX_ASYNC, /* async_eval(arrays) */
	LBX_KEY_MLX_VALUE, /* an array's own eval(), which whoever reads a value calls */
	LBX_KEY_MLX_END /* where such a call returns to the program, at an address of the process: so many */
};
enum { LBX_MLX_ENDS = 8 };

/* What the breakpoints say whose they are. */
#define LBX_MLX "mlx"

#endif
