/* The order of the rows decides between those that explain as much. */
#include "inspect/compare/hypothesis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

#define ROW(name, text) { text, lbx_generate_##name, lbx_phrase_##name, false }
#define ROW_OF_ROUNDING(name, text) { text, lbx_generate_##name, lbx_phrase_##name, true }
#define ROW_OF_MADE(name, text) { text, lbx_generate_##name, lbx_phrase_note, false }
static const struct lbx_hypothesis hypotheses[] = {
	ROW(constant, "constant"),
	ROW(storage, "storage order"),
	ROW(reshape, "reshape"),
	ROW_OF_ROUNDING(rounded, "rounded"),
	ROW(transpose, "transpose"),
	ROW(flip, "flip"),
	ROW(parts, "parts"),
	ROW(factor, "factor"),
	ROW(offset, "offset"),
	ROW(repeat, "repeat"),
	ROW(shift, "shift"),
	ROW(regroup, "regroup"),
	ROW(buffer, "buffer"),
	ROW(linear, "linear"),
	ROW(absolute, "absolute"),
	ROW(reciprocal, "reciprocal"),
	ROW_OF_MADE(norm, "norm"),
	ROW_OF_MADE(rotary, "rotary"),
	ROW_OF_MADE(channels, "channels"),
	ROW(bytes, "bytes"),
	ROW_OF_ROUNDING(precision, "precision"),
};
#undef ROW
#undef ROW_OF_ROUNDING
#undef ROW_OF_MADE
enum { HYPOTHESES = sizeof hypotheses / sizeof *hypotheses };

static bool progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	struct lbx_explainer *e = out->context;

	if (e->deadline > 0 && lb_clock_seconds() > e->deadline) {
		e->out_of_time = true;
		return false;
	}
	e->interrupted = e->interrupted || !lbx_progress(e->user_out, what, done, total);
	return !e->interrupted;
}

static void take_apart(struct lbx_array *a)
{
	for (int axis = 0; axis < a->rank; axis++)
		a->strides[axis] *= 2;
	a->shape[a->rank] = 2;
	a->strides[a->rank++] = 1;
	a->dtype = LB_F32;
	a->size *= 2;
}

static void search(struct lbx_explainer *e, const struct lbx_explain_options *options)
{
	bool all_close;

	if (!lbx_explain_sample(e, options, &all_close))
		return;
	for (int i = 0; i < HYPOTHESES && lbx_explain_has_time(e); i++) {
		if (all_close && !hypotheses[i].is_of_rounding)
			continue;
		e->row = &hypotheses[i];
		e->row->generate(e);
	}
}

bool lbx_explain(const struct lbx_array *a, const struct lbx_array *b, const struct lbx_comparison *comparison,
		 const struct lbx_explain_options *options, struct lbx_out *out, struct lbx_explanations *ret)
{
	struct lbx_explainer *e;
	lb_auto_free char *own_a = NULL, *own_b = NULL;
	bool is_complex = a->dtype == LB_C64;

	*ret = (struct lbx_explanations){ .n = 0 };
	if (a->size == 0 || a->size != b->size || (comparison && comparison->different == 0))
		return true;
	/* the two parts of complex numbers are an axis more */
	bool has_room = !is_complex || (a->rank < LBX_ARRAY_RANK && b->rank < LBX_ARRAY_RANK);
	if (is_complex != (b->dtype == LB_C64) || !has_room) {
		ret->why_not = "one is complex, or they have too many axes";
		return true;
	}
	e = calloc(1, sizeof *e);
	if (!e)
		return lb_fail("out of memory");
	*e = (struct lbx_explainer){ .a = *a,
				     .b = *b,
				     .given_a = *a,
				     .given_b = *b,
				     .a_rank = a->rank,
				     .b_rank = b->rank,
				     .user_out = out,
				     .comparison = comparison,
				     .same_shape = comparison != NULL,
				     .found = ret,
				     .deadline = options->seconds > 0 ? lb_clock_seconds() + options->seconds : 0 };
	e->out = *out;
	e->out.context = e;
	e->out.progress = progress;
	if (lbx_explain_dense(e, &e->a, &own_a) && lbx_explain_dense(e, &e->b, &own_b)) {
		if (is_complex) {
			take_apart(&e->a);
			take_apart(&e->b);
		}
		search(e, options);
	} else if (!e->interrupted && !e->out_of_time && !e->failed) {
		ret->why_not = "they are too large to be copied from the program";
	}
	ret->out_of_time = e->out_of_time;
	bool done = !e->interrupted && !e->failed;
	if (done)
		lb_clear_error(); /* out of time is none */
	free(e);
	return done;
}
