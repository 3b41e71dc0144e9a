/* Operators that make, move and choose elements. */
#include <string.h>

#include "base/error.h"
#include "ops.h"

/* ---- creation ---- */

static lb_tensor *tensor_of(struct onnx_call *c, const struct onnx_tensor *tensor)
{
	const struct npy *array = &tensor->array;
	if (tensor->unknown_dtype)
		return onnx_refuse(c, "dtype %s", tensor->unknown_dtype);
	return lb_from_data(array->data, array->nbytes, (lb_list){ array->rank, array->shape }, array->dtype);
}

static lb_tensor *constant(struct onnx_call *c)
{
	const struct onnx_tensor *value = onnx_constant(c, "value");
	if (value)
		return tensor_of(c, value);
	if (onnx_has(c, "value_int"))
		return lb_astype(lb_scalar_int(onnx_int(c, "value_int", 0)), LB_I64);
	if (onnx_has(c, "value_float"))
		return lb_full(LB_SHAPE(), onnx_float(c, "value_float", 0), LB_F32);
	lb_list ints = onnx_ints(c, "value_ints");
	if (ints.n < 0)
		return onnx_refuse(c, "operator Constant without a number");
	return lb_from_data(ints.v, (size_t)ints.n * sizeof *ints.v, LB_SHAPE(ints.n), LB_I64);
}

static lb_tensor *constant_of_shape(struct onnx_call *c)
{
	int64_t shape[ONNX_MOST_VALUES];
	lb_list list = onnx_values(c, 0, shape);
	const struct onnx_tensor *value = onnx_constant(c, "value");
	if (!value)
		return lb_zeros(list, LB_F32);
	return lb_broadcast_to(lb_reshape(tensor_of(c, value), LB_SHAPE()), list);
}

static lb_tensor *eye_like(struct onnx_call *c)
{
	lb_dtype dtype = lb_dtype_of(c->in[0]);
	const char *name;
	if (onnx_has(c, "dtype") && !onnx_dtype(onnx_int(c, "dtype", 0), &dtype, &name))
		return onnx_refuse(c, "dtype %s", name);
	return lb_eye(lb_dim(c->in[0], 0), lb_dim(c->in[0], 1), onnx_int(c, "k", 0), dtype);
}

/* n places in -1 to 1: with the ends, or the middles of n parts */
static lb_tensor *places_of(int64_t n, bool ends)
{
	double step = 2.0 / (double)(ends ? n - 1 : n);
	return lb_add(lb_multiply(lb_arange(0, (double)n, 1, LB_F32), lb_scalar(step)),
		      lb_scalar(ends ? -1 : step / 2 - 1));
}

/* theta times (x, y, …, 1) for each place of a picture; x goes along the last axis. */
static lb_tensor *affine_grid(struct onnx_call *c)
{
	int64_t size[ONNX_MOST_VALUES], shape[LB_MAX_RANK], total = 1;
	lb_tensor *columns[LB_MAX_RANK], *theta = c->in[0];
	int n = onnx_values(c, 1, size).n - 2;
	bool ends = onnx_int(c, "align_corners", 0);
	if (n < 1 || n > LB_MAX_RANK - 2)
		return onnx_refuse(c, "a grid of %d axes", n);
	for (int k = 0; k < n; k++)
		total *= size[k + 2];
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < n; i++)
			shape[i] = i == n - 1 - k ? size[n + 1 - k] : 1;
		lb_tensor *along = lb_reshape(places_of(size[n + 1 - k], ends), (lb_list){ n, shape });
		columns[k] = lb_reshape(lb_broadcast_to(along, (lb_list){ n, size + 2 }), LB_SHAPE(total, 1));
	}
	columns[n] = lb_ones(LB_SHAPE(total, 1), LB_F32);
	lb_tensor *places = lb_astype(lb_concatenate(n + 1, columns, 1), lb_dtype_of(theta));
	size[1] = size[0]; /* (batch, …, n) */
	size[n + 2] = n;
	return lb_reshape(lb_matmul(places, lb_transpose(theta, LB_AXES(0, 2, 1))), (lb_list){ n + 2, size + 1 });
}

static lb_tensor *range(struct onnx_call *c)
{
	return lb_arange(lb_item(c->in[0]), lb_item(c->in[1]), lb_item(c->in[2]), lb_dtype_of(c->in[0]));
}

/* a - b cos(2 pi i / n) + d cos(4 pi i / n) */
static lb_tensor *window(struct onnx_call *c, double a, double b, double d)
{
	int64_t size[ONNX_MOST_VALUES];
	if (onnx_values(c, 0, size).n != 1)
		return NULL;
	double n = (double)size[0] - (onnx_int(c, "periodic", 1) ? 0 : 1);
	lb_tensor *angle =
	    lb_multiply(lb_arange(0, (double)size[0], 1, LB_F32), lb_scalar(2 * 3.14159265358979323846 / n));
	lb_tensor *y = lb_subtract(lb_scalar(a), lb_multiply(lb_scalar(b), lb_cos(angle)));
	return lb_add(y, lb_multiply(lb_scalar(d), lb_cos(lb_multiply(lb_scalar(2), angle))));
}

static lb_tensor *blackman(struct onnx_call *c)
{
	return window(c, 0.42, 0.5, 0.08);
}
static lb_tensor *hamming(struct onnx_call *c)
{
	return window(c, 25 / 46.0, 21 / 46.0, 0);
}
static lb_tensor *hann(struct onnx_call *c)
{
	return window(c, 0.5, 0.5, 0);
}

/* ---- what is known of the input ---- */

static lb_tensor *has_element(struct onnx_call *c)
{
	return lb_full(LB_SHAPE(), c->in[0] != NULL, LB_BOOL);
}

static lb_tensor *get_element(struct onnx_call *c)
{
	return c->in[0];
}

static lb_tensor *size(lb_tensor *x)
{
	return lb_astype(lb_scalar_int(lb_size(x)), LB_I64);
}

static int64_t clamp(int64_t at, int rank)
{
	at = at < 0 ? at + rank : at;
	return at < 0 ? 0 : at > rank ? rank : at;
}

static lb_tensor *shape(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int rank = lb_rank(x);
	int64_t start = clamp(onnx_int(c, "start", 0), rank);
	int64_t end = clamp(onnx_int(c, "end", rank), rank);
	int64_t n = end > start ? end - start : 0;
	return lb_from_data(lb_shape(x) + start, (size_t)n * sizeof n, LB_SHAPE(n), LB_I64);
}

/* ---- views ---- */

static lb_tensor *reshape(struct onnx_call *c)
{
	int64_t to[ONNX_MOST_VALUES];
	lb_list list = onnx_values(c, 1, to);
	bool zeros = onnx_int(c, "allowzero", 0);
	for (int k = 0; k < list.n && k < lb_rank(c->in[0]); k++)
		if (to[k] == 0 && !zeros)
			to[k] = lb_dim(c->in[0], k);
	return lb_reshape(c->in[0], list);
}

static lb_tensor *flatten(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int64_t outer = 1, inner = 1;
	int axis = onnx_axis(onnx_int(c, "axis", 1), lb_rank(x));
	for (int k = 0; k < lb_rank(x); k++)
		*(k < axis ? &outer : &inner) *= lb_dim(x, k);
	return lb_reshape(x, LB_SHAPE(outer, inner));
}

static lb_tensor *transpose(struct onnx_call *c)
{
	return lb_transpose(c->in[0], onnx_ints(c, "perm"));
}

static lb_tensor *squeeze(struct onnx_call *c)
{
	int64_t axes[ONNX_MOST_VALUES];
	return lb_squeeze(c->in[0], onnx_values_or(c, 1, "axes", axes));
}

static lb_tensor *unsqueeze(struct onnx_call *c)
{
	int64_t axes[ONNX_MOST_VALUES];
	return lb_expand_dims(c->in[0], onnx_values_or(c, 1, "axes", axes));
}

/* Both broadcast: the shape may also be smaller than x's. */
static lb_tensor *expand(struct onnx_call *c)
{
	int64_t to[ONNX_MOST_VALUES], joint[LB_MAX_RANK];
	lb_list list = onnx_values(c, 1, to);
	lb_tensor *x = c->in[0];
	int rank = lb_rank(x) > list.n ? lb_rank(x) : list.n;
	if (rank > LB_MAX_RANK)
		return onnx_refuse(c, "more than %d axes", LB_MAX_RANK);
	for (int k = 1; k <= rank; k++) {
		int64_t mine = k <= lb_rank(x) ? lb_dim(x, -k) : 1;
		int64_t wanted = k <= list.n ? to[list.n - k] : 1;
		joint[rank - k] = mine == 1 ? wanted : mine;
	}
	return lb_broadcast_to(x, (lb_list){ rank, joint });
}

static lb_tensor *slice(struct onnx_call *c)
{
	int64_t starts[ONNX_MOST_VALUES], ends[ONNX_MOST_VALUES], axes[ONNX_MOST_VALUES], steps[ONNX_MOST_VALUES];
	lb_index index[LB_MAX_RANK];
	lb_tensor *x = c->in[0];
	lb_list from = onnx_values(c, 1, starts), along = onnx_values(c, 3, axes);
	onnx_values(c, 2, ends);
	bool has_steps = onnx_values(c, 4, steps).n >= 0;
	for (int k = 0; k < lb_rank(x); k++)
		index[k] = LB_ALL;
	for (int i = 0; i < from.n; i++) {
		int axis = along.n < 0 ? i : onnx_axis(axes[i], lb_rank(x));
		if (axis < 0 || axis >= lb_rank(x))
			return NULL;
		index[axis] = LB_RANGE(starts[i], ends[i], has_steps ? steps[i] : 1);
	}
	return lb_slice_n(x, lb_rank(x), index);
}

static lb_tensor *split(struct onnx_call *c)
{
	int64_t sizes[ONNX_MOST_VALUES], at = 0;
	lb_list list = onnx_values_or(c, 1, "split", sizes);
	int axis = onnx_axis(onnx_int(c, "axis", 0), lb_rank(c->in[0]));
	if (list.n < 0) { /* the last part may be shorter */
		int64_t n = lb_dim(c->in[0], axis), parts = onnx_int(c, "num_outputs", c->node->n_out);
		int64_t each = (n + parts - 1) / parts;
		for (int64_t i = 0; i < parts && i < ONNX_MOST_VALUES; i++)
			sizes[i] = i < parts - 1 ? each : n - each * (parts - 1);
		list = (lb_list){ (int)parts, sizes };
	}
	for (int i = 0; i < list.n; i++) {
		c->out[i] = onnx_part(c->in[0], axis, at, at + list.v[i]);
		at += list.v[i];
	}
	return c->out[0];
}

static lb_tensor *depth_to_space(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int64_t b = onnx_int(c, "blocksize", 1), n = lb_dim(x, 0), rows = lb_dim(x, 2), cols = lb_dim(x, 3),
		left = lb_dim(x, 1) / (b * b);
	if (strcmp(onnx_text(c, "mode", "DCR"), "DCR") == 0)
		x = lb_transpose(lb_reshape(x, LB_SHAPE(n, b, b, left, rows, cols)), LB_AXES(0, 3, 4, 1, 5, 2));
	else
		x = lb_transpose(lb_reshape(x, LB_SHAPE(n, left, b, b, rows, cols)), LB_AXES(0, 1, 4, 2, 5, 3));
	return lb_reshape(x, LB_SHAPE(n, left, rows * b, cols * b));
}

static lb_tensor *space_to_depth(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int64_t b = onnx_int(c, "blocksize", 1), n = lb_dim(x, 0), channels = lb_dim(x, 1), rows = lb_dim(x, 2) / b,
		cols = lb_dim(x, 3) / b;
	x = lb_transpose(lb_reshape(x, LB_SHAPE(n, channels, rows, b, cols, b)), LB_AXES(0, 3, 5, 1, 2, 4));
	return lb_reshape(x, LB_SHAPE(n, channels * b * b, rows, cols));
}

/* ---- joins ---- */

static lb_tensor *concat(struct onnx_call *c)
{
	return lb_concatenate(c->node->n_in, c->in, (int)onnx_int(c, "axis", 0));
}

static lb_tensor *tile(struct onnx_call *c)
{
	int64_t repeats[ONNX_MOST_VALUES];
	lb_tensor *x = c->in[0], *copies[ONNX_MOST_VALUES];
	lb_list list = onnx_values(c, 1, repeats);
	for (int k = 0; k < list.n; k++) {
		if (repeats[k] > ONNX_MOST_VALUES)
			return onnx_refuse(c, "attribute Tile.repeats > %d", ONNX_MOST_VALUES);
		for (int64_t i = 0; i < repeats[k]; i++)
			copies[i] = x;
		x = repeats[k] ? lb_concatenate((int)repeats[k], copies, k) : onnx_part(x, k, 0, 0);
	}
	return x;
}

/* The index in an axis of n elements that a place outside it shows. */
static int64_t shown_at(int64_t at, int64_t n, const char *mode)
{
	if (strcmp(mode, "edge") == 0)
		return at < 0 ? 0 : at >= n ? n - 1 : at;
	if (strcmp(mode, "wrap") == 0)
		return (at % n + n) % n;
	for (int64_t end = n - 1; end > 0 && (at < 0 || at > end);)
		at = at < 0 ? -at : 2 * end - at;
	return at;
}

static lb_tensor *pad(struct onnx_call *c)
{
	int64_t pads[ONNX_MOST_VALUES], axes[ONNX_MOST_VALUES], places[256];
	int64_t low[LB_MAX_RANK] = { 0 }, high[LB_MAX_RANK] = { 0 };
	lb_tensor *x = c->in[0];
	const char *mode = onnx_text(c, "mode", "constant");
	int rank = lb_rank(x), n_axes = onnx_values(c, 3, axes).n;
	int given = n_axes < 0 ? rank : n_axes;
	if (onnx_values(c, 1, pads).n != 2 * given)
		return NULL;
	for (int i = 0; i < given; i++) {
		int axis = n_axes < 0 ? i : onnx_axis(axes[i], rank);
		low[axis] = pads[i];
		high[axis] = pads[given + i];
	}
	if (strcmp(mode, "constant") == 0)
		return lb_pad(x, (lb_list){ rank, low }, (lb_list){ rank, high }, c->in[2] ? lb_item(c->in[2]) : 0);
	for (int k = 0; k < rank; k++) {
		int64_t n = lb_dim(x, k), m = n + low[k] + high[k];
		if (m < 0 || m > 256)
			return onnx_refuse(c, "mode %s of a long axis", mode);
		for (int64_t i = 0; i < m; i++)
			places[i] = shown_at(i - low[k], n, mode);
		x = lb_take(x, lb_from_data(places, (size_t)m * sizeof m, LB_SHAPE(m), LB_I64), k);
	}
	return x;
}

/* Cut, or with zeros around it: the middle stays the middle. */
static lb_tensor *center_crop_pad(struct onnx_call *c)
{
	int64_t sizes[ONNX_MOST_VALUES], low[LB_MAX_RANK] = { 0 }, high[LB_MAX_RANK] = { 0 };
	lb_tensor *x = c->in[0];
	int rank = lb_rank(x);
	lb_list axes = onnx_ints(c, "axes"), list = onnx_values(c, 1, sizes);
	for (int i = 0; i < list.n; i++) {
		int axis = axes.n < 0 ? i : onnx_axis(axes.v[i], rank);
		int64_t n = lb_dim(x, axis), less = n - sizes[i];
		if (less > 0)
			x = onnx_part(x, axis, less / 2, less / 2 + sizes[i]);
		low[axis] = less < 0 ? -less / 2 : 0;
		high[axis] = less < 0 ? -less - low[axis] : 0;
	}
	return lb_pad(x, (lb_list){ rank, low }, (lb_list){ rank, high }, 0);
}

/* ---- choices ---- */

static lb_tensor *gather(struct onnx_call *c)
{
	return lb_take(c->in[0], c->in[1], (int)onnx_int(c, "axis", 0));
}

/* The other axes of the indices may be shorter. */
static lb_tensor *gather_elements(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *indices = c->in[1];
	int axis = onnx_axis(onnx_int(c, "axis", 0), lb_rank(x));
	for (int k = 0; k < lb_rank(x); k++)
		if (k != axis)
			x = onnx_part(x, k, 0, lb_dim(indices, k));
	return lb_take_along_axis(x, indices, axis);
}

/* As places in the axes that are indexed, joined into one. */
static lb_tensor *gather_nd(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *indices = c->in[1], *at = lb_scalar_int(0);
	int batches = (int)onnx_int(c, "batch_dims", 0), rank = lb_rank(indices);
	int depth = (int)lb_dim(indices, rank - 1);
	int64_t ones[LB_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	for (int k = 0; k < batches + depth; k++) {
		lb_tensor *place;
		if (k < batches) {
			ones[k] = lb_dim(x, k);
			place = lb_reshape(onnx_iota(lb_dim(x, k)), (lb_list){ rank - 1, ones });
			ones[k] = 1;
		} else {
			int64_t column = k - batches;
			place = lb_squeeze(onnx_part(indices, rank - 1, column, column + 1), LB_AXES(-1));
			place = lb_remainder(place, lb_scalar_int(lb_dim(x, k)));
		}
		at = lb_add(lb_multiply(at, lb_scalar_int(lb_dim(x, k))), place);
	}
	return lb_take(lb_flatten(x, 0, batches + depth - 1), at, 0);
}

static lb_tensor *one_hot(struct onnx_call *c)
{
	int64_t depth[ONNX_MOST_VALUES], perm[LB_MAX_RANK];
	lb_tensor *indices = lb_astype(c->in[0], LB_I64), *values = c->in[2];
	if (onnx_values(c, 1, depth).n != 1)
		return NULL;
	lb_tensor *wrapped = lb_add(indices, lb_scalar_int(depth[0]));
	lb_tensor *hot = lb_one_hot(lb_where(lb_less(indices, lb_scalar_int(0)), wrapped, indices), depth[0], LB_BOOL);
	int rank = lb_rank(hot), axis = onnx_axis(onnx_int(c, "axis", -1), rank);
	for (int k = 0; k < rank; k++)
		perm[k] = k < axis ? k : k == axis ? rank - 1 : k - 1;
	return lb_where(lb_transpose(hot, (lb_list){ rank, perm }), lb_slice(values, LB_AT(1)),
			lb_slice(values, LB_AT(0)));
}

static lb_tensor *trilu(struct onnx_call *c)
{
	int64_t k[ONNX_MOST_VALUES] = { 0 };
	lb_tensor *x = c->in[0];
	onnx_values(c, 1, k);
	lb_tensor *rows = lb_expand_dims(onnx_iota(lb_dim(x, -2)), LB_AXES(1));
	lb_tensor *diagonal = lb_add(rows, lb_scalar_int(k[0])), *cols = onnx_iota(lb_dim(x, -1));
	lb_tensor *kept = onnx_int(c, "upper", 1) ? lb_greater_equal(cols, diagonal) : lb_less_equal(cols, diagonal);
	return lb_where(kept, x, lb_scalar_int(0));
}

/* The updates at places of the flat x. */
static lb_tensor *scatter(struct onnx_call *c, lb_tensor *x, lb_tensor *at, lb_tensor *updates)
{
	static const char *const words[] = {
		[LB_PUT_ASSIGN] = "none", [LB_PUT_ADD] = "add", [LB_PUT_MULTIPLY] = "mul",
		[LB_PUT_MAX] = "max",     [LB_PUT_MIN] = "min",
	};
	const char *reduction = onnx_text(c, "reduction", "none");
	lb_list shape = { lb_rank(x), lb_shape(x) };
	int how = 0, n = sizeof words / sizeof *words;

	while (how < n && strcmp(words[how], reduction) != 0)
		how++;
	if (how == n)
		return onnx_refuse(c, "reduction %s of a scatter", reduction);
	lb_tensor *flat = lb_reshape(x, LB_SHAPE(-1));
	return lb_reshape(lb_put_along_axis(flat, lb_reshape(at, LB_SHAPE(-1)), updates, 0, (lb_put)how), shape);
}

static lb_tensor *scatter_elements(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *indices = c->in[1], *at = lb_scalar_int(0);
	int rank = lb_rank(x), axis = onnx_axis(onnx_int(c, "axis", 0), rank);
	int64_t shape[LB_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	for (int k = 0; k < rank; k++) {
		lb_tensor *size = lb_scalar_int(lb_dim(x, k)), *place;
		shape[k] = lb_dim(indices, k);
		place =
		    k == axis ? lb_remainder(indices, size) : lb_reshape(onnx_iota(shape[k]), (lb_list){ rank, shape });
		shape[k] = 1;
		at = lb_add(lb_multiply(at, size), place);
	}
	return scatter(c, x, at, lb_reshape(c->in[2], LB_SHAPE(-1)));
}

/* Each index is that of a part of x, whose elements follow each other. */
static lb_tensor *scatter_nd(struct onnx_call *c)
{
	lb_tensor *x = c->in[0], *indices = c->in[1], *at = lb_scalar_int(0);
	int rank = lb_rank(indices), depth = (int)lb_dim(indices, rank - 1);
	int64_t part = 1;
	for (int k = depth; k < lb_rank(x); k++)
		part *= lb_dim(x, k);
	for (int k = 0; k < depth; k++) {
		lb_tensor *size = lb_scalar_int(lb_dim(x, k));
		lb_tensor *place = lb_reshape(onnx_part(indices, rank - 1, k, k + 1), LB_SHAPE(-1, 1));
		at = lb_add(lb_multiply(at, size), lb_remainder(place, size));
	}
	at = lb_add(lb_multiply(at, lb_scalar_int(part)), onnx_iota(part));
	return scatter(c, x, at, lb_reshape(c->in[2], LB_SHAPE(-1)));
}

const struct onnx_op onnx_shape[] = {
	{ "AffineGrid", .run = affine_grid },
	{ "BlackmanWindow", .run = blackman },
	{ "CenterCropPad", .run = center_crop_pad },
	{ "Concat", .run = concat },
	{ "Constant", .run = constant },
	{ "ConstantOfShape", .run = constant_of_shape },
	{ "DepthToSpace", .run = depth_to_space },
	{ "Expand", .run = expand },
	{ "EyeLike", .run = eye_like },
	{ "Flatten", .run = flatten },
	{ "Gather", .run = gather },
	{ "GatherElements", .run = gather_elements },
	{ "GatherND", .run = gather_nd },
	{ "HammingWindow", .run = hamming },
	{ "HannWindow", .run = hann },
	{ "OneHot", .run = one_hot },
	{ "OptionalGetElement", .run = get_element },
	{ "OptionalHasElement", .run = has_element },
	{ "Pad", .run = pad },
	{ "Range", .run = range },
	{ "Reshape", .run = reshape },
	{ "Scatter", .run = scatter_elements },
	{ "ScatterElements", .run = scatter_elements },
	{ "ScatterND", .run = scatter_nd },
	{ "Shape", .run = shape },
	{ "Size", .unary = size },
	{ "Slice", .run = slice },
	{ "SpaceToDepth", .run = space_to_depth },
	{ "Split", .run = split },
	{ "Squeeze", .run = squeeze },
	{ "Tile", .run = tile },
	{ "Transpose", .run = transpose },
	{ "Trilu", .run = trilu },
	{ "Unsqueeze", .run = unsqueeze },
	{ .name = NULL },
};
