/* How the tensors of ggml are found: its module, what its threads do, the contexts, the layout of a tensor, and then what
 * follows of their memory and of the order in which they are computed. */
#ifndef LBX_GGML_FIND_H
#define LBX_GGML_FIND_H

#include "ggml/set.h"

/* Finds the one ggml of a program. False, without an error, where there is none. */
bool lbx_ggml_find_anchor(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *modules,
			  int n_modules, struct lbx_ggml_anchor *ret);
/* Fills a set that has a target, its modules and anchor, and stacks where they are known. As lbx_ggml_open() has it. */
bool lbx_ggml_set_find(struct lbx_ggml_set *g, bool (*progress)(void *context, int64_t done), void *context);

#endif
