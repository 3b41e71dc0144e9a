#include "inspect/diagnose/gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "tensors/held.h"

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

static bool is_gradient(const struct lbx_tensor *t)
{
	struct lbx_held held;

	if (!t->name[0])
		return false;
	if (ends_with(t->name, ".grad"))
		return true;
	lbx_tensor_held(t, &held);
	return held.is_gradient;
}

bool lbx_gradients_take(struct lbx_gradients *g, const struct lbx_tensor *t, const struct lbx_summary *summary)
{
	if (summary->count < 2 || g->n == LBX_GRADIENTS_MOST || !is_gradient(t))
		return true;
	if (!lb_reserve(g->list, g->room, g->n + 1))
		return lb_fail("out of memory for %zu gradients", g->n);
	struct lbx_gradient *x = &g->list[g->n++];
	*x = (struct lbx_gradient){
		.key = lbx_tensor_key(t),
		.count = summary->count,
		.is_zero = summary->special[LBX_ZERO] == summary->count,
		.is_finite = summary->finite == summary->count,
		.rms = lbx_summary_l2(summary) / sqrt((double)summary->count),
	};
	memcpy(x->name, t->name, sizeof x->name);
	return true;
}

void lbx_gradients_deinit(struct lbx_gradients *g)
{
	free(g->list);
	*g = (struct lbx_gradients){ 0 };
}
