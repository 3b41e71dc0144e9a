/* Kernels that are made of many products of matrices: their scratch memory, and their matrices. */
#ifndef LB_KERNELS_AGAIN_H
#define LB_KERNELS_AGAIN_H

#include "kernels/kernels.h"

enum { LB_AGAIN_PIECES = 8 };

/* Scratch memory that is the same for one product after another. */
struct lb_again {
	struct lb_exec exec; /* what a product gets */
	struct lb_exec *around;
	int next;
	struct {
		void *memory;
		int64_t nbytes;
	} pieces[LB_AGAIN_PIECES];
};

void lb_again_begin(struct lb_again *again, struct lb_exec *around);
/* The exec for the next product, to which the memory of the last one goes. */
struct lb_exec *lb_again_next(struct lb_again *again);

/* Matrix `at` of a batch, counted in row-major order. */
struct lb_view lb_matrix_at(const struct lb_view *x, int64_t at);

#endif
