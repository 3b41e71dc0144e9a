/* What a fused tensor computes, as one would write it. */
#ifndef LBX_EXPRESSION_H
#define LBX_EXPRESSION_H

#include "inspect/command.h"

enum { LBX_EXPRESSION_MAX = 1024 };

/* "tanh(a * b + c)"; what is used twice has a name: "t1 = exp(x); t1 / (t1 + 1)". What does not
 * fit is cut off, with "…" for it. "" for a tensor that is not fused; for one whose program is
 * damaged, what is wrong with it. Returns ret. */
const char *lbx_expression(const struct lbx_tensor *t, char ret[LBX_EXPRESSION_MAX]);

#endif
