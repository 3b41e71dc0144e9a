#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number_map.h"
#include "base/plural.h"
#include "inspect/tensor/describe.h"

enum { MAX_NODES = 1 << 16, MAX_EDGES = 1 << 20 };

static void meet(const struct lbx_tensor *t, struct lbx_pending *ret)
{
	if (t->state == LBX_READY)
		ret->leaves++;
	else if (t->op_class == LB_CLASS_LEAF)
		ret->lost++;
	else if (t->op_class == LB_CLASS_VIEW)
		ret->views++;
	else
		ret->ops++;
}

void lbx_pending(const struct lbx_tensor *t, struct lbx_pending *ret)
{
	struct lbx_number_map known = { 0 };
	struct lbx_key *stack = malloc(MAX_NODES * sizeof *stack);
	bool is_new;
	struct lbx_tensor node, input;
	int64_t n = 0, met = 1, edges = 0;

	memset(ret, 0, sizeof *ret);
	if (!stack || !t->of || !lbx_number_of_tensor(&known, t, &is_new))
		goto out_of_memory;
	ret->is_translated = t->of->ops->recipe;
	meet(t, ret);
	if (t->state != LBX_READY)
		stack[n++] = lbx_tensor_key(t);
	while (n > 0) {
		if (!lbx_tensor_by_key(&stack[--n], &node)) {
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
			if (!lbx_tensor_input(&node, i, &input)) {
				lb_clear_error();
				ret->lost++;
				met++;
				continue;
			}
			if (!lbx_number_of_tensor(&known, &input, &is_new))
				goto out_of_memory;
			if (!is_new)
				continue;
			met++;
			meet(&input, ret);
			if (input.state != LBX_READY)
				stack[n++] = lbx_tensor_key(&input);
		}
	}
	goto out;
out_of_memory:
	ret->capped = true;
	lb_clear_error();
out:
	lbx_number_map_deinit(&known);
	free(stack);
}

void lbx_describe_pending(const struct lbx_pending *p, char *ret, size_t size)
{
	char views[48] = "", lost[80] = "";

	if (p->views)
		snprintf(views, sizeof views, " and %lld view%s", (long long)p->views, LB_S(p->views));
	if (p->lost)
		snprintf(lost, sizeof lost, ", but %lld input%s no longer there", (long long)p->lost,
			 LB_PLURAL(p->lost, " is", "s are"));
	snprintf(ret, size, "peek would %s %s%lld operation%s%s from %lld ready tensor%s%s",
		 p->is_translated ? "have to replay" : "replay", p->capped ? "more than " : "", (long long)p->ops,
		 LB_S(p->ops), views, (long long)p->leaves, LB_S(p->leaves), lost);
}
