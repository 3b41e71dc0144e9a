/* What is computed of the one, beside the other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inspect/compare/hypothesis.h"
#include "inspect/measure/widen.h"

static const int64_t most_made = 1LL << 24; /* elements */

bool lbx_explain_make(const struct lbx_explainer *e, struct lbx_made *ret)
{
	*ret = (struct lbx_made){ .array = e->a };
	ret->values = e->a.size <= most_made ? malloc((size_t)e->a.size * sizeof *ret->values) : NULL;
	ret->array.dtype = LB_F64;
	ret->array.shared = true;
	ret->array.offset = 0;
	ret->array.local = (const char *)ret->values;
	ret->array.low = (uint64_t)(uintptr_t)ret->values;
	ret->array.high = ret->array.low + (uint64_t)e->a.size * sizeof *ret->values;
	return ret->values;
}

void lbx_phrase_note(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
{
	(void)e;
	snprintf(ret, size, "%s", c->note);
}

double lbx_explain_size(const struct lbx_explainer *e, const struct lbx_array *a)
{
	double x, squares = 0;
	int n = 0;

	for (int i = 0; i < e->n_samples; i++) {
		lbx_widen_local(a, e->samples[i], 1, &x);
		if (isfinite(x)) {
			squares += x * x;
			n++;
		}
	}
	return n ? sqrt(squares / n) : 0;
}

bool lbx_candidate_try_made(struct lbx_explainer *e, const struct lbx_made *made, bool is_turned, double rtol,
			    const char *note)
{
	struct lbx_candidate c = lbx_candidate_plain(e);

	if (is_turned)
		lbx_candidate_turn(e, &c);
	for (int axis = 0; axis < made->array.rank; axis++)
		c.layout.strides[axis] = made->array.strides[axis];
	c.layout.offset = 0;
	c.b = &made->array;
	c.rtol = rtol;
	c.atol = rtol * lbx_explain_size(e, c.a);
	snprintf(c.note, sizeof c.note, "%s", note);
	return lbx_candidate_try(e, &c);
}
