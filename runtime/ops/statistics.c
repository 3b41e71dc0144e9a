/* Figures of lines and axes: the standard deviation and the median, of which halves are computed in float, and rounded
 * once; the least and the largest; differences. */
#include <string.h>

#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/view.h"

/* In which the result is computed: f32 of halves, double of integers. */
static enum lb_dtype computed(enum lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16 || dtype == LB_F32 ? LB_F32 : LB_F64;
}

lb_tensor *lb_std(lb_tensor *x, lb_list axes, bool keepdims, int ddof)
{
	LB_ENTER_WHOLE();
	uint32_t mask;
	if (!LB_GIVEN("std", x) || !lb_axis_mask("std", axes, lb_shape_of(x), 0, &mask))
		return NULL;
	enum lb_dtype dtype = (enum lb_dtype)x->dtype;
	if (dtype == LB_C64)
		return lb_sqrt(lb_var(x, axes, keepdims, ddof));
	struct lb_tensor *y = lb_sqrt(lb_var(lb_astype(x, computed(dtype)), axes, keepdims, ddof));
	return lb_astype(y, lb_inexact(dtype));
}

/* x with the axes of the mask joined to one, the last. */
static struct lb_tensor *joined(struct lb_tensor *x, uint32_t mask)
{
	int64_t order[LB_MAX_RANK], shape[LB_MAX_RANK], n = 1;
	int kept = 0, rest = 0;
	for (int i = 0; i < x->rank; i++)
		kept += !(mask & 1u << i);
	for (int i = 0, at = 0; i < x->rank; i++) {
		bool is_joined = mask & 1u << i;
		order[is_joined ? kept + rest++ : at++] = i;
		n *= is_joined ? x->shape[i] : 1;
	}
	for (int i = 0; i < kept; i++)
		shape[i] = x->shape[order[i]];
	shape[kept] = n;
	return lb_reshape(lb_transpose(x, (lb_list){ x->rank, order }), (lb_list){ kept + 1, shape });
}

lb_tensor *lb_median(lb_tensor *x, lb_list axes, bool keepdims)
{
	LB_ENTER_WHOLE();
	uint32_t mask;
	if (!LB_GIVEN("median", x) || !lb_axis_mask("median", axes, lb_shape_of(x), 0, &mask))
		return NULL;
	enum lb_dtype dtype = (enum lb_dtype)x->dtype;
	if (dtype == LB_C64) {
		lb_fail("median: not defined for complex64");
		return NULL;
	}
	int rank;
	int64_t shape[LB_MAX_RANK], n = 1;
	for (int i = 0; i < x->rank; i++)
		n *= mask & 1u << i ? x->shape[i] : 1;
	if (n == 0) {
		char text[LB_SHAPE_TEXT];
		lb_fail("median: %s has no elements there, so it has no median",
			lb_shape_text(x->rank, x->shape, text));
		return NULL;
	}
	if (!mask) /* of one each */
		return lb_astype(x, lb_inexact(dtype));
	lb_reduced_shape(x->rank, x->shape, mask, keepdims, &rank, shape);
	struct lb_tensor *y = joined(x, mask);
	if (!y)
		return NULL;
	/* NaN comes last, and is what comes out */
	struct lb_tensor *sorted = lb_astype(lb_sort(y, -1), computed(dtype));
	struct lb_tensor *last = lb_slice(sorted, LB_REST, LB_AT(-1)),
			 *low = lb_slice(sorted, LB_REST, LB_AT((n - 1) / 2));
	if (n % 2 == 0) { /* halves of both: their sum may be too large */
		struct lb_tensor *half = lb_scalar(0.5), *high = lb_slice(sorted, LB_REST, LB_AT(n / 2));
		low = lb_add(lb_multiply(low, half), lb_multiply(high, half));
	}
	y = lb_astype(lb_where(lb_isnan(last), last, low), lb_inexact(dtype));
	return lb_reshape(y, (lb_list){ rank, shape });
}

bool lb_minmax(lb_tensor *x, lb_list axes, bool keepdims, lb_tensor **least, lb_tensor **most)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("minmax", least) || !LB_GIVEN("minmax", most))
		return false;
	*least = *most = NULL;
	uint32_t mask;
	if (!LB_GIVEN("minmax", x) || !lb_axis_mask("minmax", axes, lb_shape_of(x), 0, &mask))
		return false;
	struct lb_tensor *low = lb_min(x, axes, keepdims), *high = lb_max(x, axes, keepdims);
	if (!low || !high)
		return false;
	*least = low;
	*most = high;
	return true;
}

lb_tensor *lb_diff(lb_tensor *x, int n, int axis)
{
	LB_ENTER_WHOLE();
	int along;
	lb_index later[LB_MAX_RANK], earlier[LB_MAX_RANK];
	if (!LB_GIVEN("diff", x) || !lb_axis("diff", axis, lb_shape_of(x), 0, &along))
		return NULL;
	if (n < 0) {
		lb_fail("diff: %d times: give 0 or more", n);
		return NULL;
	}
	for (int i = 0; i < along; i++)
		later[i] = earlier[i] = LB_ALL;
	struct lb_tensor *y = lb_untouched(x, lb_fail_site_now());
	for (int i = 0; i < n && y && (i == 0 || y->shape[along]); i++) {
		int64_t rest = y->shape[along] - 1;
		later[along] = LB_FROM(1);
		earlier[along] = LB_TO(rest > 0 ? rest : 0);
		struct lb_tensor *a = lb_slice_n(y, along + 1, later), *b = lb_slice_n(y, along + 1, earlier);
		y = x->dtype == LB_BOOL ? lb_not_equal(a, b) : lb_subtract(a, b);
	}
	return y;
}
