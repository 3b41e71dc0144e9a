/* Counts the lazy tensors, for a debugger that has set a limit to them. */
#ifndef LB_GRAPH_LAZY_H
#define LB_GRAPH_LAZY_H

#include "memory/thread.h"

/* To be called now and then while tensors are made, by the call whose site this is. */
void lb_count_lazy(const struct lb_self *self, const void *site);

#endif
