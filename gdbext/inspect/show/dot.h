/* The graph behind a tensor for other programs: Graphviz, JSON. */
#ifndef LBX_DOT_H
#define LBX_DOT_H

#include "inspect/command.h"

enum { LBX_DOT_LIMIT = 10000 };

struct lbx_dot {
	int64_t depth, limit; /* edges from the tensor, tensors in all */
	bool history;         /* beyond ready tensors, too */
	const char *dot, *png, *svg; /* files to write, or NULL; without any, JSON goes to the output */
};

bool lbx_dot(struct lbx_context *context, const struct lbx_tensor *t, const struct lbx_dot *how);

#endif
