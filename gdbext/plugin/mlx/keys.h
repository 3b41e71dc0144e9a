/* What the breakpoints of this room are known by (stops/breakpoints.h). */
#ifndef LBX_PLUGIN_MLX_KEYS_H
#define LBX_PLUGIN_MLX_KEYS_H

#include "plugin/stops/breakpoints.h"

enum {
	/* there once for all catches */
	LBX_KEY_MLX_LOAD = LBX_BREAKPOINT_OTHERS + 512, /* where the library is loaded */
	LBX_KEY_MLX_VALUE, /* an array's own eval(), which whoever reads a value calls: what async_eval() computes is waited for there */
	LBX_KEY_MLX_END, /* where such a call returns to the program, at an address of the process: so many */
	/* of each catch: twice its number, and which of its functions */
	LBX_KEY_MLX_OWN = 1 << 25,
};
enum { LBX_MLX_ENDS = 8, LBX_MLX_FUNCTIONS = 2 /* of a catch, at most */ };

/* What the breakpoints say whose they are. */
#define LBX_MLX "mlx"

#endif
