/* The tensors of ggml, as a provider: of a program that nobody has prepared. */
#ifndef LBX_GGML_H
#define LBX_GGML_H

#include "target/stacks.h"
#include "tensors/tensors.h"

/* Whether one of the program's modules is ggml, as far as that shows; quiet. A debugger is asked no more than where the
 * program's headers are. */
bool lbx_ggml_is_there(struct lbx_target *target);
/* False, without an error, where the program has no ggml; fails where it has one that cannot be read. The set is
 * closed by lbx_tensors_close(), and is good for as long as the program stands still. What its threads do is asked of
 * `stacks`; NULL: nobody knows, and what it computes is not shown. The search tells its progress in bytes; where that returns false it ends, and fails. */
bool lbx_ggml_open(struct lbx_target *target, struct lbx_stacks *stacks, bool (*progress)(void *context, int64_t done),
		   void *context, struct lbx_tensors **ret);

#endif
