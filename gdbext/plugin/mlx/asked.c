#include "plugin/mlx/asked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/operand/python_stack.h"
#include "inspect/tensor/describe.h"
#include "plugin/bridge/bridge.h"
#include "plugin/mlx/known.h"
#include "plugin/stops/caller.h"
#include "python/frames.h"
#include "target/exports.h"
#include "target/loader.h"

enum { SHOWN = 4 };

static struct lbx_asked asked;

static bool add_lazy(struct lbx_context *context, uint64_t record)
{
	struct lbx_mlx_record r;

	if (!lbx_mlx_near_read(lbx_known(), context->target, record, &r) || r.status != LBX_MLX_UNSCHEDULED)
		return true;
	if (!lb_reserve(asked.list, asked.room, asked.n + 1))
		return lb_fail("out of memory for %zu arrays", asked.n);
	asked.list[asked.n++] = record;
	return true;
}

static bool read_list(struct lbx_context *context, uint64_t argument)
{
	struct lbx_target *direct = lbx_target_direct(context->target);
	struct lbx_target *target = direct ? direct : context->target;
	struct lbx_mlx_arrays arrays = { .n = 0 };
	uint64_t record;

	if (asked.is_value)
		return !lbx_target_try_read(target, argument, &record, sizeof record) || add_lazy(context, record);
	if (!lbx_mlx_arrays_read(target, argument, &arrays))
		return true;
	for (uint32_t i = 0; i < arrays.n; i++)
		if (!add_lazy(context, lbx_mlx_array_at(target, &arrays, i)))
			return false;
	return true;
}

const struct lbx_asked *lbx_asked_read(struct lbx_context *context, uint64_t argument, bool is_async, bool is_value)
{
	asked.n = 0;
	asked.is_async = is_async;
	asked.is_value = is_value;
	lbx_mlx_order_free(&asked.order);
	if (!read_list(context, argument) ||
	    !lbx_mlx_order_find(lbx_known(), context->target, asked.list, asked.n, &asked.order))
		return NULL;
	return &asked;
}

uint64_t lbx_asked_computes(const struct lbx_asked *a, const uint64_t *records, int n)
{
	for (size_t i = 0; i < a->order.n; i++)
		for (int k = 0; k < n; k++)
			if (a->order.list[i] == records[k])
				return records[k];
	return 0;
}

/* ---- what is told ---- */

/* Whether the call is one of an array's own eval(), which whoever reads a value makes. */
static bool is_implicit(struct lbx_context *context)
{
	struct lbx_exports exports = { 0 };
	char name[LBX_EXPORT_NAME];
	uint64_t end, within;
	bool is_so = false;
	int n;

	if (!lbx_caller_return(context, &end, &within) || !within)
		return false;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(context->target, &n);
	int at = modules ? lbx_loaded_at(modules, n, within - 1) : -1;
	if (at >= 0 && lbx_exports_open(context->target, &modules[at], &exports))
		is_so =
		    lbx_exports_function(&exports, within - 1, name) && strcmp(name, "_ZN3mlx4core5array4evalEv") == 0;
	lbx_exports_close(&exports);
	return is_so;
}

static void tell_arrays(struct lbx_context *context, struct text *ret)
{
	char described[LBX_DESCRIPTION_MAX];
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	size_t n = 0;

	if (!lbx_context_tensors(context, &tensors))
		return;
	for (; n < asked.n && n < SHOWN; n++) {
		if (!lbx_tensors_by_address(tensors, asked.list[n], &t)) {
			lb_clear_error();
			continue;
		}
		lbx_describe(&t, described, sizeof described);
		text_printf(ret, "%s%s", n ? ", " : " It is of ", described);
	}
	if (asked.n > n)
		text_printf(ret, " and %zu more", asked.n - n);
	text_printf(ret, n ? "." : "");
}

void lbx_asked_tell(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret)
{
	enum lbx_at_evaluation when = stop->catch->kind->evaluation;
	char python[LBX_PY_FILE + LBX_PY_QUALIFIED + 32];
	uint64_t tid = lbx_known_thread(context);

	if (when == LBX_BEFORE_EVALUATION) {
		if (is_implicit(context))
			text_printf(ret, " Nobody has called eval(): it is for a value that is read.");
		else if (asked.is_async)
			text_printf(ret, " The program does not wait for it: async_eval().");
		tell_arrays(context, ret);
	}
	if (when == LBX_BEFORE_EVALUATION || when == LBX_BEFORE_IMPLICIT)
		text_printf(ret, " It computes %s%zu array%s, from %" PRIu64 " that %s; depth %" PRIu32 ".",
			    asked.order.is_cut ? "at least " : "", asked.order.n, LB_S(asked.order.n),
			    asked.order.arrays - asked.order.n,
			    asked.order.arrays - asked.order.n == 1 ? "has its value" : "have their values",
			    asked.order.depth);
	if (tid && lbx_describe_python(context, tid, python, sizeof python))
		text_printf(ret, " Python is in %s.", python);
}
