/* Why an operation gave NaN or Inf, and what to try. */
#ifndef LBX_CAUSE_H
#define LBX_CAUSE_H

#include <stddef.h>

#include "tensors/tensor.h"

struct lbx_cause {
	const char *op;
	enum lb_dtype dtype;   /* of the result */
	bool nan;              /* what it gave: NaN, or else Inf */
	int n_operands;        /* of an elementwise one: the elements that it made that of; or 0 */
	double operands[3];
	bool inf, negative_inf; /* among the inputs: any Inf, any -Inf */
	bool empty;            /* an input has no elements */
};

/* One sentence, or "" when it is not clear. */
const char *lbx_cause_text(const struct lbx_cause *cause, char *ret, size_t size);

#endif
