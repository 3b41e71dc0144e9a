#include "tensors/held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensors/tensors.h"

/* Up to the last point or slash; "" where there is none. */
static void module_of_name(const char *name, char ret[LB_NAME_MAX + 1])
{
	const char *end = name;

	for (const char *at = name; *(at += strcspn(at, "./")); at++)
		end = at;
	snprintf(ret, LB_NAME_MAX + 1, "%.*s", (int)(end - name), name);
}

void lbx_tensor_held(const struct lbx_tensor *t, struct lbx_held *ret)
{
	*ret = (struct lbx_held){ .reach = LBX_REACH_UNKNOWN };
	if (t->of && t->of->ops->held)
		t->of->ops->held(t->of, t, ret);
	else
		module_of_name(t->name, ret->module);
}

const char *lbx_reach_name(enum lbx_reach reach)
{
	static const char *const names[LBX_REACHES] = {
		[LBX_REACH_UNKNOWN] = "",
		[LBX_REACH_VARIABLE] = "",
		[LBX_REACH_GRAPH] = "(a graph, by no variable)",
		[LBX_REACH_OBJECTS] = "(objects, by no variable)",
		[LBX_REACH_RUNTIME] = "(libraries alone)",
	};

	return (unsigned)reach < LBX_REACHES ? names[reach] : "";
}

static int by_bytes(const void *a, const void *b)
{
	const struct lbx_keeper *x = a, *y = b;

	if (!x->name[0] != !y->name[0])
		return !x->name[0] - !y->name[0];
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

void lbx_keepers_sort(struct lbx_keeper *list, size_t n)
{
	if (n)
		qsort(list, n, sizeof *list, by_bytes);
}

bool lbx_tensors_keeper(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_keeper *ret)
{
	return tensors->ops->keeper && tensors->ops->keeper(tensors, slot, ret);
}
