#include "eval/look.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/caller.h"
#include "graph/shape.h"
#include "kernels/kernels.h"
#include "lazybones.h"
#include "ops/operation.h"
#include "probes.h"
#include "publish/root.h"

void lb_compare_name(struct lb_tensor *t)
{
	const char *name = (const char *)(uintptr_t)__atomic_load_n(&t->name, __ATOMIC_ACQUIRE);
	const uint32_t named = UINT32_MAX << LB_WATCH_NAMED;
	uint32_t matched = name ? lb_watched_name(name) : 0;

	/* a debugger may write the other bits meanwhile */
	__atomic_fetch_and(&t->watch, ~named | matched, __ATOMIC_RELAXED);
	__atomic_fetch_or(&t->watch, matched, __ATOMIC_RELAXED);
}

static bool is_finite(const struct lb_tensor *t)
{
	if (!t->buffer && lb_op_class(t->op) == LB_CLASS_VIEW && t->n_inputs > 0)
		return is_finite(lb_tensor_input(t, 0));
	if (t->watch & LB_WATCH_ODD) /* its memory may be the result's by now */
		return false;
	if (!lb_dtype_is_inexact(t->dtype) || t->size == 0)
		return true;
	if (!t->buffer) /* a constant, which its consumers know */
		return (t->op != LB_OP_SCALAR && t->op != LB_OP_FULL) || isfinite(lb_param_double(t, 0));
	struct lb_view view = lb_view_of(t);
	return lb_is_finite(&view);
}

/* -Inf is all that is odd in it, and was put there: it is data, as a mask is, or has it from an input. */
static bool is_mask(const struct lb_tensor *t)
{
	double low, high;

	if (t->dtype == LB_C64)
		return false;
	struct lb_view view = lb_view_of(t);
	lb_find_extremes(&view, &low, &high);
	if (low != -INFINITY || (high != -INFINITY && !isfinite(high)))
		return false;
	bool found = t->n_inputs == 0;
	for (uint32_t i = 0; i < t->n_inputs && !found; i++)
		found = !is_finite(lb_tensor_input(t, i));
	return found;
}

static void look_for_nan(struct lb_tensor *t)
{
	int64_t first = 0;
	const void *data = lb_tensor_data(t);
	if (!lb_dtype_is_inexact(t->dtype) || lb_op_class(t->op) == LB_CLASS_VIEW ||
	    lb_count_nonfinite(data, (enum lb_dtype)t->dtype, t->size, &first) == 0)
		return;
	__atomic_fetch_or(&t->watch, LB_WATCH_ODD, __ATOMIC_RELAXED);
	if (!(lb_watched(0) & LB_WATCH_MASKS) && is_mask(t))
		return;
	int64_t count = lb_count_nonfinite(data, (enum lb_dtype)t->dtype, t->size, NULL);
	lb_count(&lb_counters.nan_seen, 1);
	lb_probe_nan(t->id, (uint64_t)(uintptr_t)t, t->site, count, first);
}

/* ---- without a debugger: LAZYBONES_NAN ---- */

/* No input has one: it passes none on. Without inputs it is data, as a mask of -Inf is. */
static bool makes_it(const struct lb_tensor *t)
{
	if (t->n_inputs == 0)
		return false;
	for (uint32_t i = 0; i < t->n_inputs; i++)
		if (!is_finite(lb_tensor_input(t, i)))
			return false;
	return true;
}

static void tell_nan(const struct lb_tensor *t, int64_t first)
{
	enum { TOLD = 16 };
	static _Atomic int told;
	char shape[LB_SHAPE_TEXT], where[256];
	const char *name = lb_name(t);
	int64_t count = lb_count_nonfinite(lb_tensor_data(t), (enum lb_dtype)t->dtype, t->size, NULL);
	int n = atomic_fetch_add(&told, 1);

	if (n == TOLD)
		fprintf(stderr, "lazybones: more operations make NaN or Inf: they are not told (LAZYBONES_NAN)\n");
	if (n >= TOLD)
		return;
	fprintf(
	    stderr,
	    "lazybones: %s makes NaN or Inf of finite values: tensor #%llu%s%s, shape %s, %lld of %lld elements, the first "
	    "is element %lld; made at %s\n",
	    lb_ops[t->op].name, (unsigned long long)t->id, name ? " " : "", name ? name : "",
	    lb_shape_text(t->rank, t->shape, shape), (long long)count, (long long)t->size, (long long)first,
	    lb_describe_caller((const void *)(uintptr_t)t->site, where, sizeof where));
}

static void stop_at_nan(struct lb_tensor *t)
{
	enum { OFF, WARN, STOP };
	int64_t first = 0;

	if (is_finite(t))
		return;
	__atomic_fetch_or(&t->watch, LB_WATCH_ODD, __ATOMIC_RELAXED);
	if (lb_op_class(t->op) == LB_CLASS_VIEW || !makes_it(t))
		return;
	lb_count_nonfinite(lb_tensor_data(t), (enum lb_dtype)t->dtype, t->size, &first);
	tell_nan(t, first);
	if (__atomic_load_n(&lb_root->nan, __ATOMIC_RELAXED) == STOP)
		raise(SIGTRAP);
}

static void look_for_range(const struct lb_tensor *t)
{
	double low, high;
	if (t->size == 0 || t->dtype == LB_C64)
		return;
	struct lb_view view = lb_view_of(t);
	lb_find_extremes(&view, &low, &high);
	int64_t least = lb_order_double(low), largest = lb_order_double(high);
	if (least < __atomic_load_n(&lb_root->watch_low, __ATOMIC_RELAXED) ||
	    largest > __atomic_load_n(&lb_root->watch_high, __ATOMIC_RELAXED))
		lb_probe_range(t->id, (uint64_t)(uintptr_t)t, t->site, least, largest,
			       lb_op_class(t->op) == LB_CLASS_VIEW);
}

void lb_look_closely(const struct lb_step *step)
{
	struct lb_tensor *t = step->tensor;
	uint32_t watched = lb_watched(t->watch);
	if (!t->buffer)
		return;
	if (step->stored && ((watched & LB_WATCH_NAN) || lb_probe_nan_on()))
		look_for_nan(t);
	if (watched & LB_WATCH_RANGE)
		look_for_range(t);
	if (lb_looks_for_nan())
		stop_at_nan(t);
	if (lb_journal_on() && (step->stored || lb_op_class(t->op) == LB_CLASS_VIEW))
		lb_journal(t);
}
