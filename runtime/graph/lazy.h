/* Counts the lazy tensors, for a debugger that has set a limit to them. */
#ifndef LB_GRAPH_LAZY_H
#define LB_GRAPH_LAZY_H

#include "memory/thread.h"

struct lb_tensor;

/* To be called now and then, by the thread that has just made this tensor. */
void lb_count_lazy(const struct lb_self *self, const struct lb_tensor *made);

#endif
