#include <string.h>

#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/product.h"

static const struct {
	const char *name;
	int bits, group; /* defaults */
} modes[] = {
	[LB_QUANT_AFFINE] = { "affine", 4, 64 },
	[LB_QUANT_MXFP4] = { "mxfp4", 4, 32 },
	[LB_QUANT_MXFP8] = { "mxfp8", 8, 32 },
	[LB_QUANT_NVFP4] = { "nvfp4", 4, 16 },
};

/* Fills in defaults, and checks what goes together. */
static bool complete(const char *op, lb_quant *how)
{
	if ((unsigned)how->mode >= sizeof modes / sizeof *modes)
		return lb_fail("%s: %d is no quantisation mode", op, (int)how->mode);
	const char *name = modes[how->mode].name;
	int bits = modes[how->mode].bits, group = modes[how->mode].group;
	how->bits = how->bits ? how->bits : bits;
	how->group = how->group ? how->group : group;
	if (how->mode != LB_QUANT_AFFINE && how->bits != bits)
		return lb_fail("%s: %s has codes of %d bits, not %d", op, name, bits, how->bits);
	if (how->mode != LB_QUANT_AFFINE && how->group != group)
		return lb_fail("%s: %s has groups of %d, not %d", op, name, group, how->group);
	if (how->bits < 2 || how->bits > 8 || how->bits == 7)
		return lb_fail("%s: codes of %d bits: affine has 2, 3, 4, 5, 6 or 8", op, how->bits);
	if (how->activations && how->activations != LB_I8)
		return lb_fail("%s: activations of %s: there is int8, and 0, which leaves them as they are", op,
			       lb_dtype_name(how->activations));
	if (how->mode == LB_QUANT_AFFINE && how->group != 32 && how->group != 64 && how->group != 128)
		return lb_fail("%s: groups of %d: affine has 32, 64 or 128", op, how->group);
	return true;
}

static bool is_float(int dtype)
{
	return dtype >= LB_F16 && dtype <= LB_F32;
}

/* params: 0 mode, 1 bits, 2 group; 3 the part, or how it is multiplied. t may be NULL. */
static struct lb_tensor *publish(struct lb_tensor *t, lb_quant how, int64_t last)
{
	if (t) {
		t->params[0] = how.mode;
		t->params[1] = how.bits;
		t->params[2] = how.group;
		t->params[3] = last;
	}
	return lb_tensor_publish(t);
}

static bool check_global(const char *op, const struct lb_tensor *global, lb_quant how)
{
	char text[LB_SHAPE_TEXT];
	if (!global)
		return true;
	if (how.mode != LB_QUANT_NVFP4)
		return lb_fail("%s: a global scale goes with nvfp4, not with %s", op, modes[how.mode].name);
	if (global->dtype != LB_F32 || global->size != 1)
		return lb_fail("%s: the global scale must be one float32, not %s %s", op, lb_dtypes[global->dtype].name,
			       lb_shape_text(global->rank, global->shape, text));
	return true;
}

lb_quantized lb_quantize(lb_tensor *x, lb_quant how, lb_tensor *global_scale)
{
	LB_ENTER();
	lb_quantized q = { .global_scale = global_scale };
	if (!LB_GIVEN("quantize", x) || !complete("quantize", &how) || !check_global("quantize", global_scale, how))
		return (lb_quantized){ 0 };
	char text[LB_SHAPE_TEXT];
	if (!is_float(x->dtype)) {
		lb_fail("quantize: x %s is %s: cast it with lb_astype() to float32, float16 or bfloat16",
			lb_shape_text(x->rank, x->shape, text), lb_dtypes[x->dtype].name);
		return (lb_quantized){ 0 };
	}
	if (x->rank == 0 || x->shape[x->rank - 1] % how.group) {
		lb_fail("quantize: the last axis of x %s does not divide into groups of %d: pad it, or use "
			"another group size",
			lb_shape_text(x->rank, x->shape, text), how.group);
		return (lb_quantized){ 0 };
	}
	int64_t shape[LB_MAX_RANK];
	memcpy(shape, x->shape, sizeof shape);
	bool affine = how.mode == LB_QUANT_AFFINE;
	enum lb_dtype dtype = affine ? (enum lb_dtype)x->dtype : LB_U8;
	struct lb_tensor *inputs[] = { x, global_scale };
	int n = global_scale ? 2 : 1, last = x->rank - 1;
	shape[last] = x->shape[last] / 32 * how.bits + x->shape[last] % 32 * how.bits / 32;
	q.w = publish(lb_tensor_begin(LB_OP_QUANTIZE, LB_U32, x->rank, shape, n, inputs, site), how, 0);
	shape[last] = x->shape[last] / how.group;
	q.scales = publish(lb_tensor_begin(LB_OP_QUANTIZE, dtype, x->rank, shape, n, inputs, site), how, 1);
	if (affine)
		q.biases = publish(lb_tensor_begin(LB_OP_QUANTIZE, dtype, x->rank, shape, n, inputs, site), how, 2);
	if (!q.w || !q.scales || (affine && !q.biases))
		return (lb_quantized){ 0 };
	return q;
}

/* ---- tensors that claim to be quantised ---- */

static bool same_but_last(const struct lb_tensor *a, const struct lb_tensor *b)
{
	return a->rank == b->rank && lb_same_shape(a->rank - 1, a->shape, b->rank - 1, b->shape);
}

static bool check_scales(const char *op, const lb_quantized *q, lb_quant how)
{
	const struct lb_tensor *w = q->w, *scales = q->scales, *biases = q->biases;
	const char *name = modes[how.mode].name;
	char tw[LB_SHAPE_TEXT], ts[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
	bool affine = how.mode == LB_QUANT_AFFINE;
	if (!scales)
		return lb_fail("%s: no scales: %s needs those that lb_quantize() made with w", op, name);
	if (affine && !biases)
		return lb_fail("%s: no biases: affine needs those that lb_quantize() made with w; mxfp4, mxfp8 "
			       "and nvfp4 have none",
			       op);
	if (!affine && biases)
		return lb_fail("%s: %s has no biases: leave them NULL, or say affine", op, name);
	if (w->dtype != LB_U32)
		return lb_fail("%s: w is %s: packed codes are uint32", op, lb_dtypes[w->dtype].name);
	if (affine && (!is_float(scales->dtype) || !is_float(biases->dtype)))
		return lb_fail("%s: scales are %s and biases %s: affine has float32, float16 or bfloat16", op,
			       lb_dtypes[scales->dtype].name, lb_dtypes[biases->dtype].name);
	if (!affine && scales->dtype != LB_U8)
		return lb_fail("%s: scales are %s: %s has uint8", op, lb_dtypes[scales->dtype].name, name);
	if (biases && !lb_same_shape(scales->rank, scales->shape, biases->rank, biases->shape))
		return lb_fail("%s: scales %s and biases %s must have one shape", op,
			       lb_shape_text(scales->rank, scales->shape, ts),
			       lb_shape_text(biases->rank, biases->shape, tb));
	int64_t codes, from_scales;
	if (w->rank == 0 || !same_but_last(w, scales) || !lb_mul(w->shape[w->rank - 1], 32, &codes) ||
	    !lb_mul(scales->shape[w->rank - 1], how.group, &from_scales) || codes % how.bits ||
	    codes / how.bits != from_scales)
		return lb_fail("%s: w %s and scales %s do not fit %s of %d bits in groups of %d: a word holds "
			       "32 / %d code%s, a scale is for %d",
			       op, lb_shape_text(w->rank, w->shape, tw), lb_shape_text(scales->rank, scales->shape, ts),
			       name, how.bits, how.group, how.bits, LB_S(how.bits), how.group);
	return true;
}

/* Rows that lie contiguously: x itself, or a copy. */
static struct lb_tensor *with_rows(struct lb_tensor *x, const void *site)
{
	int last = x->rank - 1;
	if (x->shape[last] <= 1 || x->strides[last] == 1)
		return x;
	return lb_node(LB_OP_CONTIGUOUS, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
}

/* The inputs of an operation on q after x: words, scales, and biases or the global scale.
 * Their number, or 0. */
static int gather_inputs(const char *op, const lb_quantized *q, lb_quant how, struct lb_tensor *inputs[3],
			 const void *site)
{
	if (!q->w || !check_scales(op, q, how) || !check_global(op, q->global_scale, how))
		return 0;
	inputs[0] = with_rows(q->w, site);
	inputs[1] = q->scales;
	inputs[2] = q->biases;
	if (q->biases) {
		enum lb_dtype dtype;
		if (!lb_common_dtype(op, 2, inputs + 1, &dtype, site))
			return 0;
		inputs[1] = lb_as(inputs[1], dtype, site);
		inputs[2] = lb_as(inputs[2], dtype, site);
		inputs[2] = inputs[2] ? with_rows(inputs[2], site) : NULL;
		if (!inputs[2])
			return 0;
	} else {
		inputs[2] = q->global_scale;
	}
	inputs[1] = inputs[1] ? with_rows(inputs[1], site) : NULL;
	return !inputs[0] || !inputs[1] ? 0 : inputs[2] ? 3 : 2;
}

lb_tensor *lb_dequantize(lb_quantized q, lb_quant how, lb_dtype dtype)
{
	LB_ENTER();
	struct lb_tensor *inputs[3];
	if (!LB_GIVEN("dequantize", q.w) || !complete("dequantize", &how))
		return NULL;
	if (!is_float((int)dtype)) {
		lb_fail("dequantize: %s cannot hold the values: ask for float32, float16 or bfloat16",
			lb_dtype_name(dtype));
		return NULL;
	}
	int n = gather_inputs("dequantize", &q, how, inputs, site);
	if (!n)
		return NULL;
	int64_t shape[LB_MAX_RANK];
	memcpy(shape, q.w->shape, sizeof shape);
	shape[q.w->rank - 1] = q.scales->shape[q.w->rank - 1] * how.group;
	return publish(lb_tensor_begin(LB_OP_DEQUANTIZE, dtype, q.w->rank, shape, n, inputs, site), how, 0);
}

/* ---- products ---- */

struct quantized_product {
	struct lb_tensor *x, *inputs[3]; /* x as dtype, and what gather_inputs() gives: n */
	int n;
	enum lb_dtype dtype;
	int64_t columns; /* of the result */
};

/* Of x, which must have so many axes at least, with q. */
static bool check_product(const char *op, struct lb_tensor *x, int least, const lb_quantized *q, lb_quant *how,
			  bool transpose, struct quantized_product *ret, const void *site)
{
	char tx[LB_SHAPE_TEXT], tw[LB_SHAPE_TEXT];
	if (!LB_GIVEN(op, x) || (!q->w && !lb_fail_null(op, "q.w")) || !complete(op, how))
		return false;
	int w_rank = q->w->rank;
	ret->dtype = (enum lb_dtype)x->dtype;
	ret->n = gather_inputs(op, q, *how, ret->inputs, site);
	if (!ret->n)
		return false;
	if (x->rank < least || w_rank < 2)
		return lb_fail("%s: x %s must have %s at least, w %s two", op, lb_shape_text(x->rank, x->shape, tx),
			       least == 1 ? "an axis" : "two axes", lb_shape_text(w_rank, q->w->shape, tw));
	if (how->mode == LB_QUANT_AFFINE &&
	    !lb_common_dtype(op, 2, (struct lb_tensor *[]){ x, ret->inputs[1] }, &ret->dtype, site))
		return false;
	if (!is_float(x->dtype) || !is_float(ret->dtype))
		return lb_fail("%s: x %s is %s: cast it with lb_astype() to float32, float16 or bfloat16", op,
			       lb_shape_text(x->rank, x->shape, tx), lb_dtypes[x->dtype].name);
	int64_t inner = q->scales->shape[w_rank - 1] * how->group, outer = q->w->shape[w_rank - 2];
	int64_t k = transpose ? inner : outer;
	ret->columns = transpose ? outer : inner;
	if (x->shape[x->rank - 1] != k)
		return lb_fail("%s: the last axis of x %s does not match w %s: %lld against %lld%s", op,
			       lb_shape_text(x->rank, x->shape, tx), lb_shape_text(w_rank, q->w->shape, tw),
			       (long long)x->shape[x->rank - 1], (long long)k,
			       x->shape[x->rank - 1] == ret->columns ? "; try the other value of transpose" : "");
	ret->x = lb_as(x, ret->dtype, site);
	return ret->x != NULL;
}

/* Parameter 3. */
static int64_t manner(lb_quant how, bool transpose)
{
	return (transpose ? LB_QUANT_TRANSPOSED : 0) | (how.activations ? LB_QUANT_ROUNDED : 0);
}

static bool has_room(const char *op, int batch_axes)
{
	return batch_axes + 2 <= LB_MAX_RANK || lb_fail("%s: %d batch axes are too many", op, batch_axes);
}

lb_tensor *lb_quantized_matmul(lb_tensor *x, lb_quantized q, lb_quant how, bool transpose)
{
	static const char op[] = "quantized_matmul";
	LB_ENTER();
	struct quantized_product p;
	if (!check_product(op, x, 1, &q, &how, transpose, &p, site))
		return NULL;
	int rank, batch = x->rank > 2 ? x->rank - 2 : 0;
	int64_t shape[LB_MAX_RANK];
	if (!lb_broadcast(op, batch, x->shape, q.w->rank - 2, q.w->shape, &rank, shape) || !has_room(op, rank))
		return NULL;
	if (x->rank > 1)
		shape[rank++] = x->shape[x->rank - 2];
	shape[rank++] = p.columns;
	struct lb_tensor *inputs[] = { p.x, p.inputs[0], p.inputs[1], p.inputs[2] };
	return publish(lb_tensor_begin(LB_OP_QUANTIZED_MATMUL, p.dtype, rank, shape, p.n + 1, inputs, site), how,
		       manner(how, transpose));
}

/* The numbers of all matrices, in the shape of the batch axes, where no indices are given. */
static struct lb_tensor *all_matrices(const struct lb_tensor *x)
{
	int64_t n = 1;
	for (int i = 0; i < x->rank - 2; i++)
		n *= x->shape[i];
	return lb_reshape(lb_arange(0, (double)n, 1, LB_I64), (lb_list){ x->rank - 2, x->shape });
}

lb_tensor *lb_gather_qmm(lb_tensor *x, lb_quantized q, lb_tensor *x_indices, lb_tensor *w_indices, lb_quant how,
			 bool transpose)
{
	static const char op[] = "gather_qmm";
	LB_ENTER_WHOLE();
	const void *site = lb_fail_site_now();
	struct quantized_product p;
	if (!check_product(op, x, 2, &q, &how, transpose, &p, site) ||
	    (x_indices && !lb_check_indices(op, x_indices)) || (w_indices && !lb_check_indices(op, w_indices)))
		return NULL;
	struct lb_tensor *left = x_indices ? x_indices : all_matrices(x),
			 *right = w_indices ? w_indices : all_matrices(q.w);
	int rank;
	int64_t shape[LB_MAX_RANK];
	if (!left || !right || !lb_broadcast(op, left->rank, left->shape, right->rank, right->shape, &rank, shape) ||
	    !has_room(op, rank))
		return NULL;
	shape[rank] = x->shape[x->rank - 2];
	shape[rank + 1] = p.columns;
	struct lb_tensor *inputs[] = { p.x, left, right, p.inputs[0], p.inputs[1], p.inputs[2] };
	return publish(lb_tensor_begin(LB_OP_GATHER_QMM, p.dtype, rank + 2, shape, p.n + 3, inputs, site), how,
		       manner(how, transpose));
}

/* ---- made anew, and computed ---- */

static bool how_of(const struct lb_recipe *r, int most, lb_quant *ret)
{
	const int64_t *p = r->params;
	*ret = (lb_quant){ .mode = (lb_quant_mode)p[0], .bits = (int)p[1], .group = (int)p[2] };
	return p[0] >= LB_QUANT_AFFINE && p[0] <= LB_QUANT_NVFP4 && p[1] >= 0 && p[1] <= 8 && p[2] >= 0 &&
	       p[2] <= 128 && p[3] >= 0 && p[3] <= most;
}

struct lb_tensor *lb_remake_quantize(const struct lb_recipe *r)
{
	lb_quant how;
	if (!how_of(r, LB_QUANT_BIASES, &how))
		return lb_senseless(r);
	lb_quantized q = lb_quantize(r->x[0], how, lb_recipe_input(r, 1));
	struct lb_tensor *const parts[] = { q.w, q.scales, q.biases };
	return !q.w || parts[r->params[3]] ? parts[r->params[3]] : lb_senseless(r);
}

/* Words, scales, and biases or a global scale, from input `first` on. */
static lb_quantized quantized_of(const struct lb_recipe *r, int first, lb_quant how)
{
	lb_quantized q = { .w = r->x[first], .scales = r->x[first + 1] };
	*(how.mode == LB_QUANT_AFFINE ? &q.biases : &q.global_scale) = lb_recipe_input(r, first + 2);
	return q;
}

struct lb_tensor *lb_remake_dequantize(const struct lb_recipe *r)
{
	lb_quant how;
	return how_of(r, 0, &how) ? lb_dequantize(quantized_of(r, 0, how), how, r->dtype) : lb_senseless(r);
}

static bool how_of_product(const struct lb_recipe *r, lb_quant *ret)
{
	if (!how_of(r, LB_QUANT_TRANSPOSED | LB_QUANT_ROUNDED, ret))
		return false;
	ret->activations = r->params[3] & LB_QUANT_ROUNDED ? LB_I8 : 0;
	return true;
}

struct lb_tensor *lb_remake_quantized_matmul(const struct lb_recipe *r)
{
	lb_quant how;
	if (!how_of_product(r, &how))
		return lb_senseless(r);
	return lb_quantized_matmul(r->x[0], quantized_of(r, 1, how), how, r->params[3] & LB_QUANT_TRANSPOSED);
}

struct lb_tensor *lb_remake_gather_qmm(const struct lb_recipe *r)
{
	lb_quant how;
	if (!how_of_product(r, &how))
		return lb_senseless(r);
	return lb_gather_qmm(r->x[0], quantized_of(r, 3, how), r->x[1], r->x[2], how,
			     r->params[3] & LB_QUANT_TRANSPOSED);
}

bool lb_compute_quantize(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_quant_format format = { (int)t->params[0], (int)t->params[1], (int)t->params[2] };
	struct lb_view x = lb_view_of_input(t, 0);
	const float *global = t->n_inputs > 1 ? lb_tensor_data(lb_tensor_input(t, 1)) : NULL;
	return lb_kernel_quantize(exec, &format, (int)t->params[3], &x, global, lb_tensor_data(t));
}

/* The same as kernels have it. */
static struct lb_quant_view quantized(const struct lb_tensor *t, uint32_t first)
{
	struct lb_quant_view q = {
		.format = { (int)t->params[0], (int)t->params[1], (int)t->params[2] },
		.words = lb_view_of_input(t, first),
		.scales = lb_view_of_input(t, first + 1),
	};
	if (t->n_inputs > first + 2)
		q.extra = lb_view_of_input(t, first + 2);
	return q;
}

bool lb_compute_dequantize(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_quant_view q = quantized(t, 0);
	return lb_kernel_dequantize(exec, &q, lb_tensor_data(t), (enum lb_dtype)t->dtype);
}

bool lb_compute_quantized_matmul(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_quant_view q = quantized(t, 1);
	const struct lb_tensor *x = lb_tensor_input(t, 0);
	int batch_rank = t->rank - 1 - (x->rank > 1);
	struct lb_view *parts[] = { &q.words, &q.scales, &q.extra };
	int n = q.format.mode == LB_QUANT_AFFINE ? 3 : 2;
	struct lb_view vx = lb_matrix_view(x, false, batch_rank, t->shape);
	for (int i = 0; i < n; i++)
		*parts[i] = lb_matrix_view(lb_tensor_input(t, (uint32_t)i + 1), true, batch_rank, t->shape);
	return lb_kernel_quantized_matmul(exec, &vx, &q, (int)t->params[3], lb_tensor_data(t));
}

/* x over the axes of the result in front of its matrices. */
static struct lb_view over(const struct lb_tensor *x, const struct lb_tensor *t)
{
	struct lb_view view = lb_view_of(x);
	view.rank = t->rank - 2;
	memcpy(view.shape, t->shape, sizeof view.shape);
	lb_broadcast_strides(x->rank, x->shape, x->strides, view.rank, view.shape, view.strides);
	return view;
}

bool lb_compute_gather_qmm(struct lb_exec *exec, struct lb_tensor *t)
{
	struct lb_quant_view q = quantized(t, 3);
	struct lb_view x = lb_view_of_input(t, 0), left = over(lb_tensor_input(t, 1), t),
		       right = over(lb_tensor_input(t, 2), t);
	return lb_kernel_gather_qmm(exec, &x, &q, &left, &right, (int)t->params[3], lb_tensor_data(t));
}
