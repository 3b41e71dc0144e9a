/* The frame that the user has selected, with its registers, by two numbers of gdb's: where it stands (lbx_bridge_place()). It is
 * looked for among the innermost ones of the thread, by the program's own unwind tables. */
#ifndef LBX_PLUGIN_SELECTED_H
#define LBX_PLUGIN_SELECTED_H

#include "target/lines.h"
#include "target/stacks.h"
#include "target/target.h"

struct gdb_unwind_callbacks;

/* gdb looks at the innermost frame, whose registers `callbacks` has; NULL: no longer. */
void lbx_selected_gdb_look(struct gdb_unwind_callbacks *callbacks);
/* The innermost frames of the selected thread, as many as there is room for, those of inlined functions left out; 0: they are not
 * known, or not yet. */
enum { LBX_INNERMOST_FRAMES = 24 };
int lbx_innermost_gdb(struct lbx_target *target, struct lbx_frame ret[LBX_INNERMOST_FRAMES],
		      struct lbx_lines **ret_lines);
/* False: it is not known, or not yet. What is found is certain: one frame alone stands there, in a function into which nothing
 * is inlined at that place. *ret_lines has the debug information of its code. */
bool lbx_selected_gdb(struct lbx_target *target, struct lbx_frame *ret, struct lbx_lines **ret_lines);

#endif
