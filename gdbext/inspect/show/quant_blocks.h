/* What is to be known of a tensor in one of ggml's formats of blocks, which have their scales within. */
#ifndef LBX_QUANT_BLOCKS_H
#define LBX_QUANT_BLOCKS_H

#include "inspect/operand/select.h"

/* Whether it is one. */
bool lbx_quant_is_blocks(const struct lbx_tensor *t);
/* Tells it, of the tensor as a whole. Fails where its bytes are not there. */
bool lbx_quant_tell_blocks(struct lbx_context *context, const struct lbx_selection *selection);

#endif
