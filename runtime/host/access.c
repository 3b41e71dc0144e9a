/* Values and storage for the program: see lazybones.h for what each call promises. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "eval/eval.h"
#include "graph/shape.h"
#include "base/caller.h"
#include "base/plural.h"
#include "host/guard.h"
#include "kernels/kernels.h"
#include "probes.h"
#include "publish/root.h"

/* Element 0 of a one-element tensor, evaluated; NULL on error. */
static const void *only_element(const char *op, struct lb_tensor *x, const void *site)
{
	if (!LB_GIVEN(op, x))
		return NULL;
	if (x->size != 1) {
		char text[LB_SHAPE_TEXT];
		lb_fail("%s: %s has %lld element%s, not one", op, lb_shape_text(x->rank, x->shape, text),
			(long long)x->size, LB_S(x->size));
		return NULL;
	}
	return lb_ensure_ready(x, site) ? lb_tensor_data(x) : NULL;
}

double lb_item(lb_tensor *x)
{
	LB_ENTER();
	const void *at = only_element("item", x, site);
	return at ? lb_load_double(at, (enum lb_dtype)x->dtype) : (double)NAN;
}

int64_t lb_item_int(lb_tensor *x)
{
	LB_ENTER();
	const void *at = only_element("item_int", x, site);
	int64_t value = at ? lb_load_int(at, (enum lb_dtype)x->dtype) : 0;
	if (at && x->dtype == LB_U64 && value < 0) {
		lb_fail("item_int: %llu of uint64 does not fit int64; use lb_copy_out()", (unsigned long long)value);
		return 0;
	}
	return value;
}

static void *no_scratch(struct lb_exec *exec, int64_t nbytes)
{
	(void)exec;
	lb_fail("copy_out: %lld byte%s of scratch space were wanted", (long long)nbytes, LB_S(nbytes));
	return NULL;
}

bool lb_copy_out(lb_tensor *x, void *to, size_t nbytes)
{
	LB_ENTER();
	if (!LB_GIVEN("copy_out", x))
		return false;
	if ((uint64_t)lb_nbytes(x) != nbytes)
		return lb_fail("copy_out: the tensor has %lld byte%s, there is room for %zu", (long long)lb_nbytes(x),
			       LB_S(lb_nbytes(x)), nbytes);
	if (nbytes && !LB_GIVEN("copy_out", to))
		return false;
	if (!lb_ensure_ready(x, site))
		return false;
	struct lb_exec exec = { .threads = true, .scratch = no_scratch };
	struct lb_view from = { .data = lb_tensor_data(x), .dtype = (enum lb_dtype)x->dtype, .rank = x->rank };
	memcpy(from.shape, x->shape, sizeof from.shape);
	memcpy(from.strides, x->strides, sizeof from.strides);
	struct lb_view dense = from;
	dense.data = to;
	lb_row_strides(x->rank, x->shape, dense.strides);
	return lb_kernel_copy(&exec, &dense, &from);
}

/* The pointer, which the program may keep for longer than the tensor. */
static const void *hand_out(const struct lb_tensor *x, const void *site)
{
	const void *data = lb_tensor_data(x);

	lb_probe_raw_access(x->id, (uint64_t)(uintptr_t)x, (uint64_t)(uintptr_t)site, (uint64_t)(uintptr_t)data,
			    lb_tensor_buffer(x)->filled_for);
	return data;
}

const void *lb_data(lb_tensor *x)
{
	LB_ENTER();
	if (!LB_GIVEN("data", x))
		return NULL;
	if (!lb_is_row_major(x->rank, x->shape, x->strides)) {
		/* the copy belongs to the scope, and with it the pointer */
		x = lb_node(LB_OP_CONTIGUOUS, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
		if (!x)
			return NULL;
	}
	return lb_ensure_ready(x, site) ? hand_out(x, site) : NULL;
}

/* ---- storage ---- */

static bool storage_is_there(const char *what, const struct lb_tensor *x)
{
	if (lb_tensor_state(x) == LB_STATE_READY)
		return true;
	const char *name = lb_name(x);
	return lb_fail("%s: tensor #%llu%s%s (%s) has not been evaluated, so it has no storage; call lb_eval() "
		       "first",
		       what, (unsigned long long)x->id, name ? " " : "", name ? name : "", lb_ops[x->op].name);
}

const void *lb_strided_data(lb_tensor *x, const int64_t **strides)
{
	LB_ENTER();
	if (!LB_GIVEN("strided_data", x) || !storage_is_there("strided_data", x))
		return NULL;
	if (strides)
		*strides = x->strides;
	return hand_out(x, site);
}

static void warn_of_misuse(const struct lb_tensor *x, const void *site)
{
	char shape[LB_SHAPE_TEXT], strides[LB_SHAPE_TEXT], where[256];
	const char *name = lb_name(x);
	fprintf(stderr,
		"lazybones: raw data of a strided view: tensor #%llu%s%s (%s), shape %s, strides %s, "
		"at %s; its elements do not lie in row-major order: use lb_data(), or lb_contiguous() first\n",
		(unsigned long long)x->id, name ? " " : "", name ? name : "", lb_ops[x->op].name,
		lb_shape_text(x->rank, x->shape, shape), lb_shape_text(x->rank, x->strides, strides),
		lb_describe_caller(site, where, sizeof where));
}

const void *lb_raw_data(lb_tensor *x)
{
	LB_ENTER();
	if (!LB_GIVEN("raw_data", x) || !storage_is_there("raw_data", x))
		return NULL;
	const void *data = hand_out(x, site);
	if (lb_is_row_major(x->rank, x->shape, x->strides))
		return data;
	lb_count(&lb_counters.raw_misuse, 1);
	lb_probe_raw_misuse(x->id, (uint64_t)(uintptr_t)x, (uint64_t)(uintptr_t)site, (uint64_t)(uintptr_t)data);
	enum { OFF, WARN, STOP };
	uint32_t mode = __atomic_load_n(&lb_root->strided, __ATOMIC_RELAXED);
	if (mode != OFF)
		warn_of_misuse(x, site);
	if (mode == STOP)
		raise(SIGTRAP);
	if (lb_watched(x->watch) & LB_WATCH_ACCESS)
		return lb_guard(x, site);
	return data;
}
