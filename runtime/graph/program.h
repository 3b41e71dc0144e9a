/* The programs of fused tensors (symtab.h): counted, since the tensors of many calls share one. */
#ifndef LB_GRAPH_PROGRAM_H
#define LB_GRAPH_PROGRAM_H

#include "graph/tensor.h"

/* An empty one with one reference; NULL, with an error, when memory is out. */
struct lb_program *lb_program_new(void);
void lb_program_retain(struct lb_program *program);
void lb_program_release(struct lb_program *program);

/* Of a tensor of op `fused`. */
static inline struct lb_program *lb_tensor_program(const struct lb_tensor *t)
{
	return (struct lb_program *)(uintptr_t)t->params[0];
}

#endif
