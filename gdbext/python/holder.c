#include "python/holder.h"

#include <stdio.h>

enum { FUNCTION = 96, NO_NODE = UINT32_MAX };

bool lbx_py_steps_to(const struct lbx_py_walk *walk, uint32_t node, struct lbx_py_steps *ret)
{
	ret->n = 0;
	for (; node != NO_NODE && ret->n < LBX_PY_STEPS; node = walk->nodes[node].from)
		ret->list[ret->n++] = node;
	for (int i = 0; i < ret->n / 2; i++) {
		uint32_t other = ret->list[ret->n - 1 - i];
		ret->list[ret->n - 1 - i] = ret->list[i];
		ret->list[i] = other;
	}
	return node == NO_NODE && ret->n > 0;
}

uint32_t lbx_py_holder(const struct lbx_py_walk *walk, const struct lbx_py_steps *steps)
{
	for (int i = 1; i < steps->n; i++) {
		enum lbx_py_step step = walk->nodes[steps->list[i]].step;
		bool is_last = i + 1 == steps->n;
		if (step == LBX_PY_MEMBER || step == LBX_PY_KEY || step == LBX_PY_INDEX ||
		    (is_last && step == LBX_PY_ATTRIBUTE))
			return steps->list[i - 1];
	}
	return steps->list[steps->n - 1];
}

void lbx_py_path_name(const struct lbx_py_walk *walk, uint32_t node, const char *front, char *ret, size_t size)
{
	char path[LBX_PY_PATH], function[FUNCTION];
	bool is_local = lbx_py_path_function(walk, node, function, sizeof function);

	ret[0] = '\0';
	if (!lbx_py_path(walk, node, path))
		return;
	int n = snprintf(ret, size, "%s%s%s%s", front, path, is_local ? ", in " : "", is_local ? function : "");
	if (n < 0 || (size_t)n >= size)
		ret[0] = '\0';
}
