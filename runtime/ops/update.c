/* Operations of class UPDATE: x with some elements replaced or added to. The update is brought to
 * x's dtype and broadcast to the elements it meets when the graph is built. */
#include <string.h>

#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/view.h"

/* `what` (the update) in x's dtype, broadcast to shape. */
static struct lb_tensor *fitted(const char *op, struct lb_tensor *u, const char *what, enum lb_dtype dtype,
				int rank, const int64_t *shape, const void *site)
{
	int64_t strides[LB_MAX_RANK];
	bool fits = u->rank <= rank;
	for (int i = 1; i <= u->rank && fits; i++)
		fits = u->shape[u->rank - i] == 1 || u->shape[u->rank - i] == shape[rank - i];
	if (!fits) {
		char tu[LB_SHAPE_TEXT], ts[LB_SHAPE_TEXT];
		lb_fail("%s: %s %s do not broadcast to the elements that they meet, %s", op, what,
			lb_shape_text(u->rank, u->shape, tu), lb_shape_text(rank, shape, ts));
		return NULL;
	}
	u = lb_as(u, dtype, site);
	if (!u || lb_same_shape(u->rank, u->shape, rank, shape))
		return u;
	lb_broadcast_strides(u->rank, u->shape, u->strides, rank, shape, strides);
	return lb_view_node(LB_OP_BROADCAST_TO, u, rank, shape, strides, 0, site);
}

/* ---- slices ---- */

/* Steps backwards become steps forwards, and the update is turned round. */
static struct lb_tensor *turned(struct lb_tensor *u, const struct lb_tensor *x, struct lb_cut *cut,
				const void *site)
{
	int64_t strides[LB_MAX_RANK], offset = 0;
	bool turns = false;
	memcpy(strides, u->strides, sizeof strides);
	for (int i = 0; i < x->rank; i++) {
		if (cut->steps[i] > 0)
			continue;
		int64_t last = cut->counts[i] - 1;
		cut->first[i] += last * cut->steps[i];
		cut->steps[i] = -cut->steps[i];
		offset += last * strides[i];
		strides[i] = -strides[i];
		turns = true;
	}
	return turns ? lb_view_node(LB_OP_SLICE, u, u->rank, u->shape, strides, u->size ? offset : 0, site) : u;
}

/* params: the row-major positions in x of 0 the first element and 1 the steps, each less one. The
 * update has x's rank. */
static struct lb_tensor *slice(int op, struct lb_tensor *x, struct lb_tensor *update, int n, const lb_index *index,
			       const void *site)
{
	struct lb_cut cut;
	int64_t strides[LB_MAX_RANK];
	const char *name = lb_ops[op].name;
	if (!LB_GIVEN(name, x) || !LB_GIVEN(name, update) || !lb_cut_out(name, x, n, index, &cut))
		return NULL;
	update = fitted(name, update, "updates", (enum lb_dtype)x->dtype, cut.rank, cut.shape, site);
	if (update && !lb_same_shape(cut.rank, cut.shape, x->rank, cut.counts)) {
		/* only axes of size 1 differ */
		lb_reshape_strides(update->rank, update->shape, update->strides, x->rank, cut.counts, strides);
		update = lb_view_node(LB_OP_RESHAPE, update, x->rank, cut.counts, strides, 0, site);
	}
	update = update ? turned(update, x, &cut, site) : NULL;
	if (!update)
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(op, (enum lb_dtype)x->dtype, x->rank, x->shape, 2,
					      (struct lb_tensor *[]){ x, update }, site);
	for (int i = 0; t && i < t->rank && update->size; i++) {
		t->params[0] += cut.first[i] * t->strides[i];
		t->params[1] += (cut.steps[i] - 1) * t->strides[i];
	}
	return lb_tensor_publish(t);
}

lb_tensor *lb_slice_update_n(lb_tensor *x, lb_tensor *update, int n, const lb_index *index)
{
	LB_ENTER();
	return slice(LB_OP_SLICE_UPDATE, x, update, n, index, site);
}

lb_tensor *lb_slice_add_n(lb_tensor *x, lb_tensor *update, int n, const lb_index *index)
{
	LB_ENTER();
	return slice(LB_OP_SLICE_ADD, x, update, n, index, site);
}

/* params: 0 offset; the strides are the third input. */
lb_tensor *lb_strided_add(lb_tensor *x, lb_tensor *update, lb_list strides, int64_t offset)
{
	LB_ENTER();
	if (!LB_GIVEN("strided_add", x) || !LB_GIVEN("strided_add", update))
		return NULL;
	if (strides.n != update->rank || (strides.n > 0 && !strides.v)) {
		lb_fail("strided_add: %d stride%s for an update of %d %s", strides.n, LB_S(strides.n),
			update->rank, LB_PLURAL(update->rank, "axis", "axes"));
		return NULL;
	}
	int64_t low, high;
	if (!lb_strided_reach(update->rank, update->shape, strides.v, offset, &low, &high) ||
	    (update->size && (low < 0 || high >= x->size))) {
		char text[LB_SHAPE_TEXT];
		lb_fail("strided_add: the update reaches beyond the %lld element%s of %s", (long long)x->size,
			LB_S(x->size), lb_shape_text(x->rank, x->shape, text));
		return NULL;
	}
	struct lb_tensor *xs[3] = { x, lb_as(update, (enum lb_dtype)x->dtype, site) };
	if (xs[1])
		xs[2] = lb_from_data(strides.v, (size_t)strides.n * 8, LB_SHAPE(strides.n), LB_I64);
	lb_fail_site(site);
	if (!xs[1] || !xs[2])
		return NULL;
	xs[2]->site = (uint64_t)(uintptr_t)site;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_STRIDED_ADD, (enum lb_dtype)x->dtype, x->rank, x->shape, 3,
					      xs, site);
	if (t)
		t->params[0] = update->size ? offset : 0;
	return lb_tensor_publish(t);
}

/* ---- at indices ---- */

/* params: 0 axis */
lb_tensor *lb_scatter_add(lb_tensor *x, lb_tensor *indices, lb_tensor *updates, int axis)
{
	LB_ENTER();
	if (!LB_GIVEN("scatter_add", x) || !LB_GIVEN("scatter_add", indices) ||
	    !LB_GIVEN("scatter_add", updates))
		return NULL;
	int along, rank = 0;
	int64_t shape[LB_MAX_RANK];
	if (!lb_check_indices("scatter_add", indices) ||
	    !lb_axis("scatter_add", axis, lb_shape_of(x), 0, &along))
		return NULL;
	if (x->rank - 1 + indices->rank > LB_MAX_RANK) {
		lb_fail("scatter_add: updates would need %d %s, at most %d fit", x->rank - 1 + indices->rank,
			LB_PLURAL(x->rank - 1 + indices->rank, "axis", "axes"), LB_MAX_RANK);
		return NULL;
	}
	for (int i = 0; i < x->rank; i++) {
		if (i != along)
			shape[rank++] = x->shape[i];
		for (int k = 0; i == along && k < indices->rank; k++)
			shape[rank++] = indices->shape[k];
	}
	updates = fitted("scatter_add", updates, "updates", (enum lb_dtype)x->dtype, rank, shape, site);
	if (!updates)
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_SCATTER_ADD, (enum lb_dtype)x->dtype, x->rank, x->shape, 3,
					      (struct lb_tensor *[]){ x, indices, updates }, site);
	if (t)
		t->params[0] = along;
	return lb_tensor_publish(t);
}

/* params: 0 axis, 1 how */
lb_tensor *lb_put_along_axis(lb_tensor *x, lb_tensor *indices, lb_tensor *values, int axis, lb_put how)
{
	LB_ENTER();
	if (!LB_GIVEN("put_along_axis", x) || !LB_GIVEN("put_along_axis", indices) ||
	    !LB_GIVEN("put_along_axis", values))
		return NULL;
	int along;
	if (!lb_check_indices("put_along_axis", indices) ||
	    !lb_axis("put_along_axis", axis, lb_shape_of(x), 0, &along))
		return NULL;
	if (how != LB_PUT_ASSIGN && how != LB_PUT_ADD) {
		lb_fail("put_along_axis: %d is neither LB_PUT_ASSIGN nor LB_PUT_ADD", (int)how);
		return NULL;
	}
	int64_t shape[LB_MAX_RANK];
	bool fits = indices->rank == x->rank;
	for (int i = 0; i < x->rank && fits; i++) {
		shape[i] = i == along ? indices->shape[i] : x->shape[i];
		fits = i == along || indices->shape[i] == 1 || indices->shape[i] == x->shape[i];
	}
	if (!fits) {
		char tx[LB_SHAPE_TEXT], ti[LB_SHAPE_TEXT];
		lb_fail("put_along_axis: indices %s must have as many axes as x %s, and broadcast to it on "
			"those besides %d", lb_shape_text(indices->rank, indices->shape, ti),
			lb_shape_text(x->rank, x->shape, tx), along);
		return NULL;
	}
	values = fitted("put_along_axis", values, "values", (enum lb_dtype)x->dtype, x->rank, shape, site);
	if (!values)
		return NULL;
	struct lb_tensor *t = lb_tensor_begin(LB_OP_PUT_ALONG, (enum lb_dtype)x->dtype, x->rank, x->shape, 3,
					      (struct lb_tensor *[]){ x, indices, values }, site);
	if (t) {
		t->params[0] = along;
		t->params[1] = how;
	}
	return lb_tensor_publish(t);
}
