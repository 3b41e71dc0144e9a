/* Two traces side by side: the first stop, and the tensor there, that differ. */
#ifndef LBX_SERVE_TRACE_DIFF_H
#define LBX_SERVE_TRACE_DIFF_H

#include <stdbool.h>

#include "inspect/out.h"

/* Stops are matched by place (function and line, the n-th time) if most of one trace's have their like in the other, as
 * of one program twice; else in their order, as of two implementations. Tensors are matched by the variable's or
 * the tensor's name, what is left by shape in its order. Values whose checksums differ are close if no figure (mean, standard
 * deviation, minimum, maximum) differs by more than `rtol` of the largest. *differs: something beyond that. */
bool lbx_trace_diff(struct lbx_out *out, const char *a, const char *b, double rtol, bool *differs);

#endif
