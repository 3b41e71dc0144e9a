/* The operations by the names that the manifest uses. */
#ifndef TEST_OP_TABLE_H
#define TEST_OP_TABLE_H

#include "manifest.h"

struct call {
	const struct args *args;
	int n;          /* inputs */
	lb_tensor **in; /* NULL: none given */
};

typedef lb_tensor *(*op_function)(const struct call *call);

/* NULL if there is no operation of that name. */
op_function op_find(const char *name);

#endif
