/* The elements that differ, as many as the caller has room for: the shape is known before any value is. */
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/view.h"

/* Places 0 … size - 1 of `into`, at each of which values[i] with at[i] there stands; what is at `size` goes. */
static struct lb_tensor *placed(struct lb_tensor *into, struct lb_tensor *at, struct lb_tensor *values, int64_t size)
{
	into = lb_broadcast_to(into, LB_SHAPE(size + 1));
	return lb_slice(lb_put_along_axis(into, at, values, 0, LB_PUT_ASSIGN), LB_TO(size));
}

/* Of nothing: what fills the places. */
static lb_uniques of_nothing(struct lb_tensor *x, int64_t size, struct lb_tensor *fill)
{
	lb_list shape = LB_SHAPE(size);
	return (lb_uniques){
		.values = size ? lb_broadcast_to(fill, shape) : lb_zeros(shape, (lb_dtype)x->dtype),
		.indices = lb_zeros(shape, LB_U32),
		.inverse = lb_zeros(lb_shape_of(x), LB_U32),
		.counts = lb_zeros(shape, LB_I32),
	};
}

static lb_uniques of_elements(struct lb_tensor *x, int64_t n, int64_t size, struct lb_tensor *fill)
{
	struct lb_tensor *flat = lb_reshape(x, LB_SHAPE(-1)), *order = lb_argsort(flat, 0),
			 *sorted = lb_take(flat, order, 0);
	struct lb_tensor *differs = lb_not_equal(lb_slice(sorted, LB_FROM(1)), lb_slice(sorted, LB_TO(n - 1)));
	struct lb_tensor *both[] = { lb_ones(LB_SHAPE(1), LB_BOOL), differs };
	struct lb_tensor *is_first = lb_concatenate(2, both, 0);
	struct lb_tensor *one = lb_scalar_int(1), *most = lb_full(LB_SHAPE(), (double)size, LB_U32);
	struct lb_tensor *rank = lb_subtract(lb_cumsum(lb_astype(is_first, LB_U32), 0, false, true), one);
	struct lb_tensor *place = lb_minimum(rank, most), *first_place = lb_where(is_first, place, most);
	struct lb_tensor *least = lb_slice(sorted, LB_AT(0)),
			 *last = lb_full(LB_SHAPE(), size ? (double)(size - 1) : 0, LB_U32);
	return (lb_uniques){
		.values = placed(fill ? fill : least, first_place, sorted, size),
		.indices = placed(lb_slice(order, LB_AT(0)), first_place, order, size),
		.inverse = lb_reshape(lb_put_along_axis(lb_zeros(LB_SHAPE(n), LB_U32), order, lb_minimum(rank, last), 0,
							LB_PUT_ASSIGN),
				      lb_shape_of(x)),
		.counts = lb_slice(lb_scatter_add(lb_zeros(LB_SHAPE(size + 1), LB_I32), place,
						  lb_ones(LB_SHAPE(n), LB_I32), 0),
				   LB_TO(size)),
	};
}

lb_uniques lb_unique(lb_tensor *x, int64_t size, lb_tensor *fill)
{
	LB_ENTER_WHOLE();
	lb_uniques none = { 0 };
	char text[LB_SHAPE_TEXT];
	if (!LB_GIVEN("unique", x) || (!fill && !lb_ok()))
		return none;
	int64_t n = lb_size(x);
	if (x->dtype == LB_C64) {
		lb_fail("unique: complex numbers have no order");
		return none;
	}
	if (size < 0 || size >= UINT32_MAX || n > UINT32_MAX) {
		lb_fail("unique: %lld of %s: give a size from 0 on, and up to %lld elements", (long long)size,
			lb_shape_text(x->rank, x->shape, text), (long long)UINT32_MAX);
		return none;
	}
	if (fill && lb_size(fill) != 1) {
		lb_fail("unique: fills with one number, not with %s", lb_shape_text(fill->rank, fill->shape, text));
		return none;
	}
	if (n == 0 && size > 0 && !fill) {
		lb_fail("unique: %s has no elements to fill %lld places with: give a number",
			lb_shape_text(x->rank, x->shape, text), (long long)size);
		return none;
	}
	fill = fill ? lb_reshape(lb_astype(fill, (lb_dtype)x->dtype), LB_SHAPE()) : NULL;
	lb_uniques found = n ? of_elements(x, n, size, fill) : of_nothing(x, size, fill);
	return found.values && found.indices && found.inverse && found.counts ? found : none;
}
