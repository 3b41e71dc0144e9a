#include "inspect/compare/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/compare/closeness.h"
#include "lazybones.h"

enum { SAMPLES = 64 };

/* The two, side by side; to be ended. */
struct beside {
	struct lbx_array ours;
	struct lbx_array_file theirs;
};

static bool read_ours(struct lbx_context *context, const struct lbx_parameter *p, struct lbx_array *ret)
{
	struct lbx_tensor t;

	return lbx_tensors_by_id(context->tensors, p->id, &t) && lbx_array_of_tensor(context->target, &t, ret);
}

static bool begin(struct lbx_context *context, const struct lbx_parameter *p, const struct lbx_checkpoint *c,
		  const struct lbx_saved *saved, struct beside *ret)
{
	*ret = (struct beside){ .theirs = { .mapping = NULL } };
	return read_ours(context, p, &ret->ours) && lbx_array_list_get(&c->files[saved->file], saved->i, &ret->theirs);
}

static void end(struct beside *b)
{
	lbx_array_file_close(&b->theirs);
}

static bool is_of_one_shape(const struct lbx_array *a, const struct lbx_array *b)
{
	return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

static void describe(const struct lbx_array *a, int which, struct lbx_judged *ret)
{
	ret->dtypes[which] = lbx_array_dtype_name(a);
	ret->ranks[which] = a->rank;
	memcpy(ret->shapes[which], a->shape, (size_t)a->rank * sizeof *a->shape);
}

/* What was found explains all of it, exactly. */
static bool is_rounding(const struct lbx_explanation *x, int64_t count)
{
	return strcmp(x->kind, "rounded") == 0 && x->exact == count;
}

static bool explain(struct lbx_context *context, const struct beside *b, const struct lbx_comparison *c, double seconds,
		    struct lbx_judged *ret)
{
	struct lbx_explain_options options = { .rtol = -1, .atol = -1, .seconds = seconds };
	struct lbx_explanations found = { .n = 0 };

	if (seconds <= 0 || b->ours.size != b->theirs.array.size || b->ours.size == 0)
		return true;
	if (!lbx_explain(&b->ours, &b->theirs.array, c, &options, context->out, &found))
		return false;
	if (found.n == 0)
		return true;
	snprintf(ret->note, sizeof ret->note, "%s", found.list[0].text);
	if (c && is_rounding(&found.list[0], ret->count))
		ret->judgement = LBX_ROUNDED;
	return true;
}

static bool compare(struct lbx_context *context, const struct lbx_parameter *p, const struct beside *b, double seconds,
		    struct lbx_judged *ret)
{
	struct lbx_comparison c = { .tolerance = lbx_default_levels.tolerance };

	describe(&b->ours, 0, ret);
	describe(&b->theirs.array, 1, ret);
	ret->count = b->ours.size;
	if (p->bits) {
		ret->judgement = LBX_UNJUDGED;
		snprintf(ret->note, sizeof ret->note, "its words are packed in the program, %d bits each", p->bits);
		return true;
	}
	ret->judgement = LBX_RESHAPED;
	if (!is_of_one_shape(&b->ours, &b->theirs.array))
		return explain(context, b, NULL, seconds, ret);
	if (!lbx_compare(&b->ours, &b->theirs.array, &lbx_default_levels.tolerance, NULL, context->out, &c))
		return false;
	ret->judgement = c.different ? LBX_DIFFERENT : LBX_EQUAL;
	ret->different = c.different;
	ret->nan_in_one = c.nan_in_one;
	ret->worst = c.nan_in_one ? c.first_nan : c.worst;
	ret->max = c.max;
	return c.different == 0 || explain(context, b, &c, seconds, ret);
}

bool lbx_judge(struct lbx_context *context, const struct lbx_parameter *p, const struct lbx_checkpoint *checkpoint,
	       const struct lbx_saved *saved, double seconds, struct lbx_judged *ret)
{
	struct beside b;

	bool done = begin(context, p, checkpoint, saved, &b) && compare(context, p, &b, seconds, ret);
	end(&b);
	if (done || lb_error_cause() == LB_INTERRUPTED)
		return done;
	ret->judgement = LBX_UNJUDGED;
	snprintf(ret->note, sizeof ret->note, "%s", lb_error_message());
	lb_clear_error();
	return true;
}

/* Elements all over the two. */
static bool look_alike(const struct lbx_array *a, const struct lbx_array *b)
{
	int64_t step = a->size / SAMPLES + 1;
	bool vary = false;
	double first = 0;

	for (int64_t i = 0; i < a->size; i += step) {
		unsigned char x[8], y[8];
		double error, size;
		if (!lbx_array_copy(a, i, 1, x) || !lbx_array_copy(b, i, 1, y))
			return false;
		lbx_errors(a->dtype, x, b->dtype, y, 1, &error, &size);
		if (error != 0)
			return false;
		first = i ? first : size;
		vary |= size != first;
	}
	return vary;
}

/* Asks what it is before it is read, where that is known. */
static bool may_be(const struct lbx_array *ours, const struct lbx_sought *sought)
{
	const struct lbx_saved *saved = sought->saved;
	struct lbx_array seen;

	if (sought->is_open || sought->is_unreadable)
		return sought->is_open;
	return !lbx_array_list_describe(&sought->checkpoint->files[saved->file], saved->i, &seen) ||
	       is_of_one_shape(ours, &seen);
}

static bool open_sought(struct lbx_sought *sought)
{
	const struct lbx_saved *saved = sought->saved;

	if (!sought->is_open)
		sought->is_open = lbx_array_list_get(&sought->checkpoint->files[saved->file], saved->i, &sought->file);
	sought->is_unreadable = !sought->is_open;
	return sought->is_open;
}

void lbx_sought_close(struct lbx_sought *sought)
{
	if (sought->is_open)
		lbx_array_file_close(&sought->file);
	sought->is_open = false;
}

bool lbx_is_same(struct lbx_context *context, const struct lbx_parameter *p, struct lbx_sought *sought)
{
	const struct lbx_array *theirs = &sought->file.array;
	struct lbx_comparison c = { .different = 0 };
	struct lbx_array ours;
	bool clean = lb_ok();

	bool same = read_ours(context, p, &ours) && may_be(&ours, sought) && open_sought(sought) &&
		    is_of_one_shape(&ours, theirs) && look_alike(&ours, theirs) &&
		    lbx_compare(&ours, theirs, &lbx_default_levels.tolerance, NULL, context->out, &c) &&
		    c.different == 0;
	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return same;
}
