#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/describe.h"

enum { MAX_NODES = 1 << 16, MAX_EDGES = 1 << 20, SET_SIZE = MAX_NODES * 4 };

/* Addresses that have been met: open addressing, never more than half full. */
static bool insert(uint64_t *set, uint64_t key)
{
	uint64_t i = (key * 0x9e3779b97f4a7c15ULL) >> 32;

	for (;; i++) {
		uint64_t *place = &set[i & (SET_SIZE - 1)];
		if (*place == key)
			return false;
		if (*place == 0) {
			*place = key;
			return true;
		}
	}
}

static void meet(const struct lbx_tensor *t, struct lbx_pending *ret)
{
	if (t->state == LB_STATE_READY)
		ret->leaves++;
	else if (t->op_class == LB_CLASS_LEAF)
		ret->lost++;
	else if (t->op_class == LB_CLASS_VIEW)
		ret->views++;
	else
		ret->ops++;
}

void lbx_pending(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_pending *ret)
{
	uint64_t *set = calloc(SET_SIZE, sizeof *set);
	uint64_t *stack = malloc(MAX_NODES * sizeof *stack);
	struct lbx_tensor node, input;
	int64_t n = 0, met = 1, edges = 0;

	memset(ret, 0, sizeof *ret);
	ret->capped = true;
	if (!set || !stack || t->address == 0)
		goto out;
	ret->capped = false;
	meet(t, ret);
	insert(set, t->address);
	if (t->state != LB_STATE_READY)
		stack[n++] = t->address;
	while (n > 0) {
		if (!tensors->ops->by_address(tensors, stack[--n], &node)) {
			lb_clear_error();
			ret->lost++;
			continue;
		}
		/* a lazy tensor that has let go of its inputs: damaged, and ids are slow to find */
		if (node.flags & LB_FLAG_DETACHED) {
			ret->lost += node.n_inputs;
			continue;
		}
		for (uint32_t i = 0; i < node.n_inputs; i++) {
			if (met == MAX_NODES || edges++ == MAX_EDGES) {
				ret->capped = true;
				goto out;
			}
			if (!tensors->ops->input(tensors, &node, i, &input)) {
				lb_clear_error();
				ret->lost++;
				met++;
				continue;
			}
			if (!insert(set, input.address))
				continue;
			met++;
			meet(&input, ret);
			if (input.state != LB_STATE_READY)
				stack[n++] = input.address;
		}
	}
out:
	free(set);
	free(stack);
}

void lbx_describe_pending(const struct lbx_pending *p, char *ret, size_t size)
{
	char views[48] = "", lost[80] = "";

	if (p->views)
		snprintf(views, sizeof views, " and %lld view%s", (long long)p->views,
			 p->views == 1 ? "" : "s");
	if (p->lost)
		snprintf(lost, sizeof lost, ", but %lld input%s no longer there", (long long)p->lost,
			 p->lost == 1 ? " is" : "s are");
	snprintf(ret, size, "peek would replay %s%lld operation%s%s from %lld ready tensor%s%s",
		 p->capped ? "more than " : "", (long long)p->ops, p->ops == 1 ? "" : "s", views,
		 (long long)p->leaves, p->leaves == 1 ? "" : "s", lost);
}
