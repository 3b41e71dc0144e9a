#include "inspect/measure/nonfinite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/measure/summary.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "kernels/anatomy.h"

enum { PIECE = 1 << 16, LABEL = LBX_DESCRIPTION_MAX, MAX_INPUTS = 64, MAX_MASKS = 1 << 10 };

struct entry {
	struct lbx_key key;
	uint64_t data, eval, order;
	enum lb_dtype dtype;
	bool is_leaf, is_view, covered;
	bool is_now; /* of an evaluation that is under way: where that has stopped, this is what is asked for */
};

struct entries {
	size_t n, room;
	struct entry *list;
};

struct scan {
	struct lbx_summary summary;
	double end;
	bool late;
	lbx_look *look;
	void *arg;
	size_t n_masks, masks_room;
	struct mask *masks;
};

/* Memory that -Inf was put into. */
struct mask {
	const struct lbx_tensors *of;
	uint64_t buffer;
};

static int by_buffer(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->data != y->data)
		return x->data < y->data ? -1 : 1;
	return x->is_view - y->is_view;
}

/* Where it is not known when they were computed, what nothing computed comes first. */
static int by_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->is_now != y->is_now)
		return y->is_now - x->is_now;
	if (x->eval != y->eval)
		return x->eval < y->eval ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->is_leaf != y->is_leaf)
		return y->is_leaf - x->is_leaf;
	return x->key.id < y->key.id ? -1 : x->key.id > y->key.id;
}

static bool collect(struct lbx_context *context, struct lbx_tensors *tensors, struct entries *e)
{
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	enum lbx_next next;
	bool runs = lbx_target_runs(context->target); /* what is computed for others is soon another's there */

	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		bool is_now = !runs && t.state == LBX_EVALUATING;
		if (is_now)
			lbx_tensor_take_computed(&t);
		if (t.state != LBX_READY || t.dtype < LB_F16 || t.size == 0 || t.torn)
			continue;
		if (!lb_reserve(e->list, e->room, e->n + 1))
			return lb_fail("out of memory for %zu tensors", e->n);
		e->list[e->n++] = (struct entry){
			.key = lbx_tensor_key(&t),
			.data = t.data,
			.eval = t.eval,
			.order = t.order,
			.dtype = t.dtype,
			.is_leaf = t.op_class == LB_CLASS_LEAF,
			.is_view = t.op_class == LB_CLASS_VIEW,
			.is_now = is_now,
		};
		if (e->n % 8192 == 0 && !lbx_progress(context->out, "listing", (int64_t)e->n, 0))
			return false;
	}
	if (e->n)
		qsort(e->list, e->n, sizeof *e->list, by_buffer);
	const struct entry *base = NULL;
	for (size_t i = 0; i < e->n; i++) {
		struct entry *x = &e->list[i];
		if (!x->is_view)
			base = x;
		else
			x->covered = base && base->data == x->data && base->dtype == x->dtype;
	}
	if (e->n)
		qsort(e->list, e->n, sizeof *e->list, by_order);
	return next == LBX_NEXT_END;
}

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct scan *s = context;

	if (lb_clock_seconds() > s->end) {
		s->late = true;
		return false;
	}
	lbx_summary_add(&s->summary, elements, n, first);
	return true;
}

/* Of blocks, from what of its block the element has that; "" where it is not known. */
static void describe_block(const struct lbx_array *a, int64_t element, char *ret, size_t size)
{
	uint8_t own[LBX_BLOCK_MAX * sizeof(float)];
	const struct lbx_encoding *e = a->encoding;
	struct lb_block_scales s;
	bool clean = lb_ok();

	*ret = '\0';
	if (!lbx_array_is_blocks(a) || (size_t)e->bytes > sizeof own)
		return;
	const void *block = lbx_array_blocks(a, element - element % e->elements, e->elements, own);
	if (!block) {
		if (clean)
			lb_clear_error();
		return;
	}
	lb_block_scales(e->kernel, block, &s);
	if (!isfinite(s.scale) || !isfinite(s.minimum))
		snprintf(ret, size, ", as the %s of that block of %d is no finite number",
			 isfinite(s.scale) ? "minimum" : "scale", e->elements);
}

static bool tell(struct lbx_context *context, const struct lbx_tensor *t, const struct lbx_array *array,
		 const struct lbx_summary *m, struct lbx_findings *findings)
{
	int64_t nan = m->special[LBX_NAN], at[LBX_ARRAY_RANK], first = INT64_MAX;
	int64_t inf = m->special[LBX_POSITIVE_INF] + m->special[LBX_NEGATIVE_INF];
	char label[LABEL], site[512] = "", place[LBX_LIST_MAX], block[128];
	bool is_made = t->op_class != LB_CLASS_LEAF || t->site;

	for (int i = LBX_NAN; i <= LBX_NEGATIVE_INF; i++)
		if (m->special[i] && m->first[i] < first)
			first = m->first[i];
	lbx_array_coordinates(array, first, at);
	lbx_format_place(at, array->rank, place, sizeof place);
	describe_block(array, first, block, sizeof block);
	lbx_describe(t, label, sizeof label);
	if (t->site)
		lbx_describe_pc(context->target, t->site, site, sizeof site);
	bool added =
	    lbx_findings_add(findings, nan ? "nan" : "inf", t->id, lbx_tensor_data(t),
			     "%s holds %lld NaN and %lld Inf among %lld value%s, the first at %s%s%s%s%s%s", label,
			     (long long)nan, (long long)inf, (long long)m->count, LB_S(m->count), place, block,
			     is_made ? "; made by " : "", is_made ? t->op : "", t->site ? " in " : "", site);
	if (added)
		findings->list[findings->n - 1].key = lbx_tensor_key(t);
	return added;
}

static bool has_mask(const struct scan *s, const struct lbx_tensor *t)
{
	for (size_t i = 0; i < s->n_masks; i++)
		if (s->masks[i].of == t->of && s->masks[i].buffer == t->buffer_id)
			return true;
	return false;
}

/* Whether it is an input, or made of one that is a mask, or by what masks, or is a model's own mask: then it holds 0 and -Inf
 * alone. */
static bool is_masked(const struct scan *s, const struct lbx_tensor *t)
{
	const struct lbx_summary *m = &s->summary;
	struct lbx_tensor input;
	bool found = t->puts_inf;

	if (t->op_class == LB_CLASS_LEAF)
		return (t->usage != LBX_USAGE_WEIGHTS && t->usage != LBX_USAGE_STATE) ||
		       m->special[LBX_NEGATIVE_INF] + m->special[LBX_ZERO] == m->count;
	for (uint32_t i = 0; i < t->n_inputs && i < MAX_INPUTS && !found; i++) {
		bool clean = lb_ok();
		found = lbx_tensor_input(t, i, &input) && has_mask(s, &input);
		if (clean)
			lb_clear_error();
	}
	return found;
}

/* True, and it is counted, if -Inf is all that is odd in it, and was put there. */
static bool take_mask(struct scan *s, const struct lbx_tensor *t, struct lbx_nonfinite *ret)
{
	const struct lbx_summary *m = &s->summary;

	if (m->special[LBX_NAN] || m->special[LBX_POSITIVE_INF] || !m->special[LBX_NEGATIVE_INF] || !is_masked(s, t) ||
	    s->n_masks >= MAX_MASKS || !lb_reserve(s->masks, s->masks_room, s->n_masks + 1))
		return false;
	s->masks[s->n_masks++] = (struct mask){ t->of, t->buffer_id };
	if (ret->masked++ == 0)
		lbx_describe(t, ret->mask, sizeof ret->mask);
	return true;
}

/* False with an error, or when there is no time left. */
static bool look(struct lbx_context *context, struct scan *scan, const struct lbx_tensor *t,
		 struct lbx_findings *findings, struct lbx_nonfinite *ret)
{
	struct lbx_array array;

	lbx_summary_init(&scan->summary, t->dtype);
	if (!lbx_array_of_tensor(context->target, t, &array) ||
	    !lbx_array_walk(&array, context->out, "looking for NaN", PIECE, add_piece, scan)) {
		if (scan->late || lb_error_cause() == LB_INTERRUPTED)
			return false;
		lb_clear_error();
		ret->skipped++;
		return true;
	}
	ret->searched++;
	ret->bytes += (uint64_t)lbx_tensor_nbytes(t);
	bool is_meant = !scan->look || scan->look(scan->arg, t, &scan->summary);
	if (scan->summary.finite == scan->summary.count || take_mask(scan, t, ret) || !is_meant)
		return true;
	if (ret->first == 0)
		ret->first = t->id;
	return tell(context, t, &array, &scan->summary, findings);
}

bool lbx_find_nonfinite(struct lbx_context *context, double seconds, lbx_look *look_too, void *arg,
			struct lbx_findings *findings, struct lbx_nonfinite *ret)
{
	struct entries entries = { 0 };
	struct scan scan = { .end = lb_clock_seconds() + seconds, .look = look_too, .arg = arg };
	struct lbx_tensors *tensors;
	struct lbx_tensor t;

	memset(ret, 0, sizeof *ret);
	if (!lbx_context_tensors(context, &tensors))
		return false;
	bool done = collect(context, tensors, &entries);
	for (size_t i = 0; i < entries.n && done && !scan.late && !findings->capped; i++) {
		if (entries.list[i].covered)
			continue;
		if (!lbx_tensor_by_key(&entries.list[i].key, &t)) {
			lb_clear_error();
			ret->skipped++;
			continue;
		}
		lbx_tensor_take_computed(&t);
		if (!look(context, &scan, &t, findings, ret) && !scan.late && !findings->capped)
			done = false;
		if (scan.late || findings->capped)
			ret->skipped += entries.n - i - findings->capped;
	}
	free(scan.masks);
	free(entries.list);
	if (scan.late)
		lb_clear_error();
	return done;
}
