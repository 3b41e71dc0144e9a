/* What the user means by T: a name, #id, or an expression of the debugged language; then
 * perhaps a slice. Where just values are wanted, it may be memory that is no tensor's
 * (inspect/operand/view.h). */
#ifndef LBX_SELECT_H
#define LBX_SELECT_H

#include "inspect/command.h"
#include "inspect/tensor/slice.h"

struct lbx_selection {
	struct lbx_tensor tensor;
	struct lbx_slice slice;
	char slice_text[1024]; /* "[0, :]", or "" */
	bool is_nothing;       /* where it failed, as the text is an object's, which has none there */
	char object[1024]; /* where it failed, as the text is an object with several tensors in it (object.h): that */
};

/* What a label takes. */
enum { LBX_SELECTION_MAX = LB_NAME_MAX + LBX_ID_TEXT_MAX + 1024 };

bool lbx_select(struct lbx_context *context, const char *text, struct lbx_selection *ret);
/* The same, or memory (view.h), or an expression that is computed (inspect/formula/formula.h): then the tensor has neither id
 * nor record. */
bool lbx_select_values(struct lbx_context *context, const char *text, struct lbx_selection *ret);
/* The slice that begins at that byte of the text, of the tensor that is selected; without a context its indices are plain
 * numbers. Before anything is asked of a value, which may not be there. */
bool lbx_select_slice(struct lbx_context *context, const char *text, size_t at, struct lbx_selection *ret);
/* What a name in an expression stands for (lbx_formula_find). */
bool lbx_select_operand(struct lbx_context *context, const char *text, struct lbx_tensor *ret,
			struct lbx_slice *ret_slice);
/* Where its value is there, it counts as not there, so that a replay computes it. Fails for what nothing computes. */
bool lbx_select_again(struct lbx_selection *selection);
/* A whole tensor that the runtime made: a slice is an error, and so is another provider's. */
bool lbx_select_runtime_tensor(struct lbx_context *context, const char *text, struct lbx_tensor *ret);
/* Whether the text is an expression of the program that is a handle, and NULL now. */
bool lbx_is_null_tensor(struct lbx_context *context, const char *text);
/* Its name, or #id; and the slice. */
void lbx_selection_label(const struct lbx_selection *selection, char *ret, size_t size);

#endif
