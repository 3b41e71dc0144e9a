/* Memory that is no tensor's, looked at as one: `@ADDRESS[:DTYPE]:SHAPE[:STRIDES]`, wherever values
 * are wanted. ADDRESS is a number or an expression of the program, strides count elements. Of a
 * pointer whose type tells the dtype it may be left out. */
#ifndef LBX_VIEW_H
#define LBX_VIEW_H

#include "inspect/command.h"

/* The parts, as typed; NULL (strides, dtype) where they are left out. */
struct lbx_view {
	const char *address, *dtype, *shape, *strides;
	bool in_words; /* of the command's, not of the syntax above */
};

/* A ready tensor without record (id and address 0), named as in the syntax above, over just the bytes
 * that it reaches; they are not read yet. Good until the context is closed. */
bool lbx_view_make(struct lbx_context *context, const struct lbx_view *view, struct lbx_tensor *ret);
/* Of a text that begins with '@'; *used is where the slice begins. */
bool lbx_view_parse(struct lbx_context *context, const char *text, size_t *used, struct lbx_tensor *ret);
/* Fails: the text is no dtype. */
bool lbx_fail_dtype(const char *text);

#endif
