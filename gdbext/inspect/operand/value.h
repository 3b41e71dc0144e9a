/* From a selection to its elements, and from elements to the screen: shared by print,
 * stats and peek, which brings an array of its own. */
#ifndef LBX_VALUE_H
#define LBX_VALUE_H

#include "inspect/operand/select.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/format.h"

/* The selected elements. Fails for a tensor without a value, telling what peek would do. */
bool lbx_value_of(struct lbx_context *context, const struct lbx_selection *selection, struct lbx_array *ret);
/* The selected elements, of a lazy tensor replayed outside the program. `note` tells so. */
struct lbx_sight {
	struct lbx_array array; /* valid until lbx_sight_end() */
	struct lbx_replayed replayed;
	char note[LBX_NOTE_MAX];
};
bool lbx_sight_begin(struct lbx_context *context, const struct lbx_selection *selection, struct lbx_sight *ret);
void lbx_sight_end(struct lbx_sight *sight);
/* The options --full, --edge and --precision over the settings. */
bool lbx_print_options(const struct lbx_context *context, const struct lbx_args *args, struct lbx_format_options *ret);
/* Prints an array under the selection's name; `note` (or NULL) is added to its title. */
bool lbx_print_value(struct lbx_context *context, const struct lbx_selection *selection, const struct lbx_array *array,
		     const struct lbx_format_options *options, const char *note);
/* "q[0]: float32 (4, 6)", without a newline. */
void lbx_print_heading(struct lbx_out *out, const struct lbx_selection *selection, const struct lbx_array *array);
/* That heading with the note; or the tensor's fields, "slice" and "slice_shape", and "note". */
void lbx_tell_selection(struct lbx_out *out, const struct lbx_selection *selection, const struct lbx_array *array,
			const char *note);
/* What of complex values is measured or drawn: ", by magnitude", behind a heading; else "". */
const char *lbx_part_note(enum lb_dtype dtype);
/* Tells it, with the key "part". */
void lbx_tell_part(struct lbx_out *out, enum lb_dtype dtype);

#endif
