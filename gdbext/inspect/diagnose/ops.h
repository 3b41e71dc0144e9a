/* Operations by what they are called, whatever the runtime. */
#ifndef LBX_OPS_H
#define LBX_OPS_H

#include "tensors/tensors.h"

/* Whether t is made by the operation with our name: "rms_norm" is MLX's RMSNorm, too. */
bool lbx_made_by(const struct lbx_tensor *t, const char *op);
/* The i-th input as it still exists; quietly false. */
bool lbx_input_of(const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret);

/* What an operand was before it was made another dtype for the sake of the others. */
struct lbx_operand_kind {
	enum lb_dtype dtype;
	bool is_converted, is_weak;
	struct lbx_key key;
};
enum { LBX_OPERANDS_MOST = 4 };

struct lbx_operands {
	struct lbx_key key; /* whose they are */
	int n; /* 2 to LBX_OPERANDS_MOST; 0: it has others, or not all of them are known */
	bool
	    is_certain; /* they were converted for this operation, and not because the program asked: it is known where */
	struct lbx_operand_kind list[LBX_OPERANDS_MOST];
};
void lbx_operands_find(const struct lbx_tensor *t, struct lbx_operands *ret);

#endif
