/* Why two arrays differ: a table of hypotheses, each tried on a sample and then verified on all
 * elements. What is told explains nearly all of the mismatch, and could not have come about by
 * chance: unrelated data have no explanation. */
#ifndef LBX_EXPLAIN_H
#define LBX_EXPLAIN_H

#include "inspect/compare/compare.h"
#include "inspect/tensor/format.h"

enum { LBX_EXPLANATIONS = 4, LBX_EXPLANATION_TEXT = LBX_LIST_MAX + 128 };

struct lbx_explanation {
	const char *kind;                /* the hypothesis: "transpose" */
	char text[LBX_EXPLANATION_TEXT]; /* "equal after transpose(0, 2, 1, 3)" */
	/* elements of A: that it speaks of; that agree then, within the tolerance or exactly; that
	 * agreed without it, or -1 when the shapes cannot be compared */
	int64_t covered, agree, exact, before;
	double rtol, atol; /* agreement is |a - b| <= atol + rtol |b| */
};

struct lbx_explanations {
	int n; /* the best comes first */
	struct lbx_explanation list[LBX_EXPLANATIONS];
	int64_t tried;
	bool out_of_time;
	const char *why_not; /* it was not searched at all; or NULL */
};

struct lbx_explain_options {
	double rtol, atol; /* negative: by the dtypes and the size of the values */
	double seconds;    /* 0: without end */
};

/* Of two arrays of one size, whose shapes may differ: then `comparison` is NULL. False when the
 * user interrupts, or when memory cannot be read. */
bool lbx_explain(const struct lbx_array *a, const struct lbx_array *b, const struct lbx_comparison *comparison,
		 const struct lbx_explain_options *options, struct lbx_out *out, struct lbx_explanations *ret);

#endif
