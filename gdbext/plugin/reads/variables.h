/* What gdb prints of variables, taken apart. */
#ifndef LBX_PLUGIN_VARIABLES_H
#define LBX_PLUGIN_VARIABLES_H

#include "target/stacks.h"

/* Calls fn for each pointer in the text of `info locals` or `info args`, with `pretty` off: of
 * arrays and structs too (`layer.w`, `cache[2]`). False once fn has said so. */
bool lbx_variables_parse(const char *text, bool is_argument, lbx_pointer_fn *fn, void *context);
/* Likewise for the text of one value (`{w = 0x5555…, b = 0x5555…}`), called `name`; the members
 * of a struct that a pointer leads to are `name->w`. Scalars are left out. */
bool lbx_variables_parse_pointee(const char *text, const char *name, bool is_argument, lbx_pointer_fn *fn,
				 void *context);

#endif
