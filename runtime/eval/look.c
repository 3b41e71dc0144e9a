#include "eval/look.h"

#include <string.h>

#include "kernels/kernels.h"
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

static void look_for_nan(const struct lb_tensor *t)
{
	int64_t first = 0;
	const void *data = lb_tensor_data(t);
	if (!lb_dtype_is_inexact(t->dtype) || lb_op_class(t->op) == LB_CLASS_VIEW ||
	    lb_count_nonfinite(data, (enum lb_dtype)t->dtype, t->size, &first) == 0)
		return;
	int64_t count = lb_count_nonfinite(data, (enum lb_dtype)t->dtype, t->size, NULL);
	lb_count(&lb_counters.nan_seen, 1);
	lb_probe_nan(t->id, (uint64_t)(uintptr_t)t, t->site, count, first);
}

static void look_for_range(const struct lb_tensor *t)
{
	struct lb_view view = { .data = lb_tensor_data(t), .dtype = (enum lb_dtype)t->dtype, .rank = t->rank };
	double low, high;
	if (t->size == 0 || t->dtype == LB_C64)
		return;
	memcpy(view.shape, t->shape, sizeof view.shape);
	memcpy(view.strides, t->strides, sizeof view.strides);
	lb_find_extremes(&view, &low, &high);
	int64_t least = lb_order_double(low), largest = lb_order_double(high);
	if (least < __atomic_load_n(&lb_root->watch_low, __ATOMIC_RELAXED) ||
	    largest > __atomic_load_n(&lb_root->watch_high, __ATOMIC_RELAXED))
		lb_probe_range(t->id, (uint64_t)(uintptr_t)t, t->site, least, largest,
			       lb_op_class(t->op) == LB_CLASS_VIEW);
}

void lb_look_closely(const struct lb_step *step)
{
	const struct lb_tensor *t = step->tensor;
	uint32_t watched = lb_watched(t->watch);
	if (!t->buffer)
		return;
	if (step->stored && ((watched & LB_WATCH_NAN) || lb_probe_nan_on()))
		look_for_nan(t);
	if (watched & LB_WATCH_RANGE)
		look_for_range(t);
	if (lb_journal_on() && (step->stored || lb_op_class(t->op) == LB_CLASS_VIEW))
		lb_journal(t);
}
