/* What gradients hold: of each that was looked at, which parameter's it is, and how large. */
#ifndef LBX_GRADIENTS_H
#define LBX_GRADIENTS_H

#include "inspect/measure/summary.h"
#include "tensors/tensors.h"

enum { LBX_GRADIENTS_MOST = 1 << 14 };

struct lbx_gradient {
	struct lbx_key key;
	char name[LB_NAME_MAX + 1]; /* "layers.3.weight.grad" */
	int64_t count;
	bool is_zero;     /* all of it */
	bool is_finite;
	double rms;       /* root of the mean square */
};

struct lbx_gradients {
	size_t n, room;
	struct lbx_gradient *list;
};

/* If t is a gradient, as its runtime or its name says: adds it. */
bool lbx_gradients_take(struct lbx_gradients *g, const struct lbx_tensor *t, const struct lbx_summary *summary);
void lbx_gradients_deinit(struct lbx_gradients *g);

#endif
