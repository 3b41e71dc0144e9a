/* The same elements behind other strides. */
#ifndef TEST_LAYOUT_H
#define TEST_LAYOUT_H

#include "npy.h"

enum layout {
	LAYOUT_DENSE,
	LAYOUT_REVERSED,  /* axes transposed, every other element, odd axes backwards */
	LAYOUT_PADDED,    /* a window into larger rows, by as_strided */
	LAYOUT_REPEATED,  /* stride 0 along axes on which the elements repeat; then as REVERSED */
	LAYOUTS,
};

/* A tensor with the elements of npy, laid out so; of the innermost scope. */
lb_tensor *layout_tensor(const struct npy *npy, enum layout layout);

#endif
