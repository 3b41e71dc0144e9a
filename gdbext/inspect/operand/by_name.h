/* Which tensors have a name, and which names are like it. */
#ifndef LBX_BY_NAME_H
#define LBX_BY_NAME_H

#include "table/table.h"

enum { LBX_TEXT_MAX = 1024, LBX_NEAR = 3 };

struct lbx_named {
	uint64_t count; /* that have the name */
	struct lbx_tensor first;
	char others[1024]; /* the first few of several */
	uint64_t n_others;
	uint64_t n_spelt; /* of which it is a variable's name (lbx_is_spelling) */
	struct lbx_tensor spelt;
	int n_near; /* names like it */
	char near[LBX_NEAR][LB_NAME_MAX + 1];
	int scores[LBX_NEAR];
};

/* Walks the table once for all `prefixes` of a text, each shorter than the one before; the shortest
 * also collects names like it. */
bool lbx_find_named(struct lbx_tensors *tensors, char (*prefixes)[LBX_TEXT_MAX], int n, struct lbx_named *found);

/* NAME@N: the N-th that has the name, from 1 on, in the order in which they came about. False, without an error: it is not
 * written so, or there is none. */
bool lbx_find_nth(struct lbx_tensors *tensors, const char *text, struct lbx_tensor *ret);

/* Both fail, with what there is. `null`: the part of it that is an expression of value NULL; or NULL.
 * `quoted`: quotes stood around it. */
bool lbx_fail_several(const char *name, const struct lbx_named *found);
bool lbx_fail_unnamed(const char *text, const struct lbx_named *found, const char *null, bool quoted,
		      const char *handles);

#endif
