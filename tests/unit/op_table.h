/* The operations by the names that the manifest uses. */
#ifndef TEST_OP_TABLE_H
#define TEST_OP_TABLE_H

#include <string.h>

#include "manifest.h"

struct call {
	const struct args *args;
	int n;          /* inputs */
	lb_tensor **in; /* NULL: none given */
};

typedef lb_tensor *(*op_function)(const struct call *call);

struct op_row {
	const char *name;
	op_function run;
};

static inline op_function op_find_among(const struct op_row *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].run;
	return NULL;
}

/* NULL if there is no operation of that name. */
op_function op_find(const char *name);
/* Those of op_models.c, op_updates.c and op_composed.c, of which op_find knows. */
op_function op_find_model(const char *name);
op_function op_find_update(const char *name);
op_function op_find_composed(const char *name);

enum { CASE_INDICES = 2 * LB_MAX_RANK };
/* The indices of a slice, at most CASE_INDICES. */
int args_index(const struct args *args, lb_index *to);

#endif
