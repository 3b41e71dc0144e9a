/* What the savers share. */
#ifndef LB_IO_SAVE_H
#define LB_IO_SAVE_H

#include "graph/tensor.h"
#include "io/writer.h"

/* Evaluates what is to be saved. False, with an error unless an earlier one explains it, for
 * a missing path, name or tensor, and for a name that is given twice. */
bool lb_save_prepare(const char *op, const char *path, int n, const char *const *names, lb_tensor *const *xs,
		     const void *site);
/* The elements of an evaluated tensor in row-major order; a copy of them belongs to the
 * innermost scope. */
const void *lb_save_data(lb_tensor *x, const void *site);
bool lb_save_elements(struct lb_writer *w, lb_tensor *x, const void *site);

#endif
