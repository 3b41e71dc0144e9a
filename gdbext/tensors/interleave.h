/* Blocks of several rows that lie interleaved, as kernels of products like them: those at one place along the rows are
 * a unit, and units follow each other along the rows, then group of rows by group. A unit has as many bytes as its
 * blocks; which byte of it is whose is known for ggml's. */
#ifndef LBX_INTERLEAVE_H
#define LBX_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LBX_INTERLEAVE_NAME = 24 };

struct lbx_interleave {
	const char *blocks; /* "q4_0" */
	int rows, at_once;  /* of a unit; quants are taken so many bytes of a row at once */
	int layout;         /* for lbx_interleave_undo() */
	char name[LBX_INTERLEAVE_NAME]; /* "q4_0_8x8", as ggml has it: rows, then bytes */
};

/* By its name, in any case. NULL, without an error: there is none such, or how it lies is not known. */
const struct lbx_interleave *lbx_interleave_named(const char *name);
/* The i-th of all; NULL: there are i. */
const struct lbx_interleave *lbx_interleave_each(size_t i);
/* Takes the blocks of a row, of so many bytes each, out of n units, as they were before. */
void lbx_interleave_undo(const struct lbx_interleave *interleave, const void *units, int bytes, int row, int64_t n,
			 void *blocks);

#endif
