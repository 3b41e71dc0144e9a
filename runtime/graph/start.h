/* Brings the runtime up: switches from the environment, limits, fork, the symbol table and its
 * JIT entry. Runs once, from a constructor or for the first tensor, whichever is earlier. */
#ifndef LB_GRAPH_START_H
#define LB_GRAPH_START_H

void lb_start(void);

#endif
