/* Operations of class UPDATE: x with some elements replaced or added to. The update is brought to
 * x's dtype and broadcast to the elements it meets when the graph is built. */
#include <string.h>

#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/operation.h"
#include "ops/view.h"

/* `what` (the update) in x's dtype, broadcast to shape. */
static struct lb_tensor *fitted(const char *op, struct lb_tensor *u, const char *what, enum lb_dtype dtype, int rank,
				const int64_t *shape, const void *site)
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
static struct lb_tensor *turned(struct lb_tensor *u, const struct lb_tensor *x, struct lb_cut *cut, const void *site)
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

static bool check_reach(const struct lb_tensor *x, const struct lb_tensor *update, const int64_t *strides,
			int64_t offset)
{
	int64_t low, high;
	char text[LB_SHAPE_TEXT];
	if (lb_strided_reach(update->rank, update->shape, strides, offset, &low, &high) &&
	    (update->size == 0 || (low >= 0 && high < x->size)))
		return true;
	return lb_fail("strided_add: the update reaches beyond the %lld element%s of %s", (long long)x->size,
		       LB_S(x->size), lb_shape_text(x->rank, x->shape, text));
}

/* params: 0 offset; the strides are the third input. */
lb_tensor *lb_strided_add(lb_tensor *x, lb_tensor *update, lb_list strides, int64_t offset)
{
	LB_ENTER();
	if (!LB_GIVEN("strided_add", x) || !LB_GIVEN("strided_add", update))
		return NULL;
	if (strides.n != update->rank || (strides.n > 0 && !strides.v)) {
		lb_fail("strided_add: %d stride%s for an update of %d %s", strides.n, LB_S(strides.n), update->rank,
			LB_PLURAL(update->rank, "axis", "axes"));
		return NULL;
	}
	if (!check_reach(x, update, strides.v, offset))
		return NULL;
	struct lb_tensor *xs[3] = { x, lb_as(update, (enum lb_dtype)x->dtype, site) };
	if (xs[1])
		xs[2] = lb_from_data(strides.v, (size_t)strides.n * 8, LB_SHAPE(strides.n), LB_I64);
	lb_fail_site(site);
	if (!xs[1] || !xs[2])
		return NULL;
	xs[2]->site = (uint64_t)(uintptr_t)site;
	struct lb_tensor *t =
	    lb_tensor_begin(LB_OP_STRIDED_ADD, (enum lb_dtype)x->dtype, x->rank, x->shape, 3, xs, site);
	if (t)
		t->params[0] = update->size ? offset : 0;
	return lb_tensor_publish(t);
}

/* ---- at indices ---- */

/* params: 0 axis */
lb_tensor *lb_scatter_add(lb_tensor *x, lb_tensor *indices, lb_tensor *updates, int axis)
{
	LB_ENTER();
	if (!LB_GIVEN("scatter_add", x) || !LB_GIVEN("scatter_add", indices) || !LB_GIVEN("scatter_add", updates))
		return NULL;
	int along, rank = 0;
	int64_t shape[LB_MAX_RANK], size;
	if (!lb_check_indices("scatter_add", indices) || !lb_axis("scatter_add", axis, lb_shape_of(x), 0, &along))
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
	if (!lb_check_shape("scatter_add", rank, shape, (enum lb_dtype)x->dtype, &size))
		return NULL;
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
	if (!lb_check_indices("put_along_axis", indices) || !lb_axis("put_along_axis", axis, lb_shape_of(x), 0, &along))
		return NULL;
	if ((unsigned)how > LB_PUT_MIN || (how > LB_PUT_ADD && (x->dtype == LB_C64 || x->dtype == LB_BOOL))) {
		lb_fail(
		    "put_along_axis: of %s, %d: it takes LB_PUT_ASSIGN, LB_PUT_ADD, and of numbers that are not complex "
		    "LB_PUT_MULTIPLY to LB_PUT_MIN",
		    lb_dtypes[x->dtype].name, (int)how);
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
			"those besides %d",
			lb_shape_text(indices->rank, indices->shape, ti), lb_shape_text(x->rank, x->shape, tx), along);
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

/* ---- made anew ---- */

/* The indices from the positions of the first element and of the steps. */
struct lb_tensor *lb_remake_slice_update(const struct lb_recipe *r)
{
	struct lb_tensor *x = r->x[0], *update = r->x[1];
	lb_index index[LB_MAX_RANK];
	bool fits = update->rank == x->rank && r->params[0] >= 0 && r->params[1] >= 0;
	for (int i = 0; fits && i < x->rank; i++) {
		int64_t size = x->shape[i], n = update->shape[i], behind = 1, reach;
		for (int k = i + 1; k < x->rank; k++)
			behind *= x->shape[k] ? x->shape[k] : 1;
		int64_t first = n && size ? r->params[0] / behind % size : 0;
		int64_t step = n && size ? r->params[1] / behind % size + 1 : 1;
		fits = n == 0 || (lb_mul(n - 1, step, &reach) && reach < size - first);
		index[i] = fits ? LB_RANGE(first, n ? first + reach + 1 : first, step) : LB_ALL;
	}
	return fits ? slice(r->op, x, update, x->rank, index, r->site) : lb_senseless(r);
}

/* How far the strides reach is seen when they are there. */
struct lb_tensor *lb_remake_strided_add(const struct lb_recipe *r)
{
	const struct lb_tensor *x = r->x[0], *update = r->x[1], *list = r->x[2];
	struct lb_recipe own = *r;
	if (x->dtype != r->dtype || update->dtype != r->dtype || list->rank != 1 || list->size != update->rank ||
	    list->dtype != LB_I64)
		return lb_senseless(r);
	own.shape = lb_shape_of(x);
	own.x = (struct lb_tensor *[]){ r->x[0], r->x[1], lb_contiguous(r->x[2]) };
	return own.x[2] ? lb_remake_as_is(&own) : NULL;
}

struct lb_tensor *lb_remake_scatter_add(const struct lb_recipe *r)
{
	return lb_scatter_add(r->x[0], r->x[1], r->x[2], (int)r->params[0]);
}

struct lb_tensor *lb_remake_put_along(const struct lb_recipe *r)
{
	return lb_put_along_axis(r->x[0], r->x[1], r->x[2], (int)r->params[0], (lb_put)r->params[1]);
}

/* ---- computed, in memory that has x already ---- */

bool lb_compute_slice_update(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view update = lb_view_of_input(t, 1);
	struct lb_view to = lb_view_of(t);
	if (lb_tensor_input(t, 1)->size == 0)
		return true;
	for (int i = 0; i < t->rank; i++) {
		to.strides[i] *= t->params[1] / t->strides[i] % t->shape[i] + 1;
		to.shape[i] = update.shape[i];
	}
	to.data = (char *)to.data + t->params[0] * lb_dtypes[t->dtype].bytes;
	if (t->op == LB_OP_SLICE_UPDATE)
		return lb_kernel_copy(exec, &to, &update);
	return lb_kernel_accumulate(exec, &to, &update);
}

bool lb_compute_strided_add(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view update = lb_view_of_input(t, 1), to = update;
	const int64_t *strides = lb_tensor_data(lb_tensor_input(t, 2));
	if (!check_reach(t, lb_tensor_input(t, 1), strides, t->params[0]))
		return false;
	memcpy(to.strides, strides, (size_t)to.rank * sizeof *strides);
	to.data = (char *)lb_tensor_data(t) + t->params[0] * lb_dtypes[t->dtype].bytes;
	return lb_kernel_accumulate(exec, &to, &update);
}

bool lb_compute_scatter_add(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_view to = lb_view_of(t), indices = lb_view_of_input(t, 1), updates = lb_view_of_input(t, 2);
	return lb_kernel_scatter_add(exec, &to, &indices, (int)t->params[0], &updates);
}

bool lb_compute_put_along(struct lb_exec *exec, struct lb_tensor *t)
{
	int axis = (int)t->params[0];
	struct lb_view to = lb_view_of(t), indices = lb_view_of_input(t, 1);
	struct lb_view values = lb_view_of_input(t, 2);
	for (int i = 0; i < t->rank; i++) {
		if (i == axis)
			continue;
		indices.strides[i] = indices.shape[i] == 1 ? 0 : indices.strides[i];
		indices.shape[i] = t->shape[i];
	}
	return lb_kernel_put_along(exec, &to, &indices, axis, &values, (int)t->params[1]);
}
