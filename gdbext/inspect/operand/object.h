/* The tensors in an object of the program: what a class wraps, a smart pointer leads to, a container holds. */
#ifndef LBX_OBJECT_H
#define LBX_OBJECT_H

#include "inspect/command.h"

enum { LBX_OBJECT_SHOWN = 64 };

struct lbx_held {
	char expression[LBX_VARIABLE_MAX]; /* as it can be typed: layers[0]->weight */
	struct lbx_tensor tensor;
};

/* What was found in it; to be freed as it is. */
struct lbx_object_view {
	int n; /* LBX_OBJECT_SHOWN at most */
	bool more;
	bool is_cut; /* not all of it was looked at */
	bool is_null;                /* a handle without a tensor */
	bool is_doubtful; /* `why` holds where the text is an expression of C's, which it need not be */
	char why[LBX_NOTHING_MAX]; /* why there is nothing: "m->mask is empty"; or "" */
	struct lbx_held held[LBX_OBJECT_SHOWN];
};

/* Whether a text can only be a way from one object to the next, as in C++: layers[i]->w, cache["fc1"], *mask,
 * std::get<0>(state). */
bool lbx_is_path(const char *text);
/* Whether it is such a way or a simpler one, in which a class's operators may be. */
bool lbx_may_call(const char *text);
/* False, quietly: the expression comes to nothing, or has not been answered yet. */
bool lbx_object_look(struct lbx_context *context, const char *expression, struct lbx_object_view *ret);
/* Whether it stands for the one tensor in it: no container does for its element. */
bool lbx_object_is_one(const char *expression, const struct lbx_object_view *view);
/* Fails: it is several, which are named. */
bool lbx_fail_object(const char *expression, const struct lbx_object_view *view);
/* What is in it, one line for each. False, with an error: nothing is. */
bool lbx_tell_object(struct lbx_context *context, const char *expression);

#endif
