/* Whether one array comes near the other with its last two axes exchanged: less than an explanation, which holds for the
 * elements, and a hint of what to compare. */
#ifndef LBX_TURNED_H
#define LBX_TURNED_H

#include "inspect/tensor/array.h"

struct lbx_turned {
	bool is_near;
	int axes[2]; /* that were exchanged */
	double turned, plain; /* correlations; plain: 0 where their shapes allow none */
};

/* Whether their last two sizes, exchanged, are those of the other. */
bool lbx_turns(const struct lbx_array *a, const struct lbx_array *b);
/* Large ones are not looked at, nor those where chance could do it. */
bool lbx_find_turned(const struct lbx_array *a, const struct lbx_array *b, struct lbx_out *out, struct lbx_turned *ret);

#endif
