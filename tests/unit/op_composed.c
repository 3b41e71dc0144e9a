/* What is made of other operations, by name. */
#include <math.h>
#include <string.h>

#include "op_table.h"

#define UNARY_OPS(X) \
	X(positive) \
	X(atleast_1d) \
	X(atleast_2d) X(atleast_3d) X(reciprocal) X(degrees) X(radians) X(zeros_like) X(ones_like) X(trunc)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0]); \
	}
UNARY_OPS(X)
#undef X

static lb_tensor *run_round_to(const struct call *c)
{
	return lb_round_to(c->in[0], (int)args_int(c->args, "decimals", 0));
}

static lb_tensor *run_nan_to_num(const struct call *c)
{
	return lb_nan_to_num(c->in[0], args_double(c->args, "nan", 0), args_double(c->args, "high", NAN),
			     args_double(c->args, "low", NAN));
}

static lb_tensor *run_divmod(const struct call *c)
{
	lb_tensor *parts[2];
	lb_divmod(c->in[0], c->in[1], &parts[0], &parts[1]);
	return parts[args_int(c->args, "part", 0)];
}

#define CLOSE_OPS(X) X(isclose) X(allclose)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], c->in[1], args_double(c->args, "rtol", 0), args_double(c->args, "atol", 0), \
				 args_int(c->args, "nan", 0)); \
	}
CLOSE_OPS(X)
#undef X

static lb_tensor *run_array_equal(const struct call *c)
{
	return lb_array_equal(c->in[0], c->in[1], args_int(c->args, "nan", 0));
}

static lb_tensor *run_std(const struct call *c)
{
	int64_t axes[LB_MAX_RANK];
	return lb_std(c->in[0], args_list(c->args, "axes", axes), args_int(c->args, "keepdims", 0),
		      (int)args_int(c->args, "ddof", 0));
}

static lb_tensor *run_median(const struct call *c)
{
	int64_t axes[LB_MAX_RANK];
	return lb_median(c->in[0], args_list(c->args, "axes", axes), args_int(c->args, "keepdims", 0));
}

static lb_tensor *run_minmax(const struct call *c)
{
	int64_t axes[LB_MAX_RANK];
	lb_tensor *parts[2];
	lb_minmax(c->in[0], args_list(c->args, "axes", axes), args_int(c->args, "keepdims", 0), &parts[0], &parts[1]);
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_unique(const struct call *c)
{
	lb_uniques u = lb_unique(c->in[0], args_int(c->args, "size", 0), c->in[1]);
	lb_tensor *parts[] = { u.values, u.indices, u.inverse, u.counts };
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_diff(const struct call *c)
{
	return lb_diff(c->in[0], (int)args_int(c->args, "n", 1), (int)args_int(c->args, "axis", -1));
}

static lb_tensor *run_cross_entropy(const struct call *c)
{
	return lb_cross_entropy(c->in[0], c->in[1]);
}

#define WINDOW_OPS(X) X(bartlett) X(blackman) X(hamming) X(hanning)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(args_int(c->args, "n", 0)); \
	}
WINDOW_OPS(X)
#undef X

static lb_tensor *run_linspace(const struct call *c)
{
	return lb_linspace(args_double(c->args, "start", 0), args_double(c->args, "stop", 0), args_int(c->args, "n", 0),
			   args_int(c->args, "endpoint", 1), args_dtype(c->args));
}

static lb_tensor *run_tri(const struct call *c)
{
	return lb_tri(args_int(c->args, "rows", 0), args_int(c->args, "cols", 0), args_int(c->args, "k", 0),
		      args_dtype(c->args));
}

#define K_OPS(X) X(tril) X(triu) X(diag)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], args_int(c->args, "k", 0)); \
	}
K_OPS(X)
#undef X

#define DIAGONAL_OPS(X) X(diagonal) X(trace)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], args_int(c->args, "k", 0), (int)args_int(c->args, "a", 0), \
				 (int)args_int(c->args, "b", 1)); \
	}
DIAGONAL_OPS(X)
#undef X

#define AXES_OPS(X) X(swapaxes) X(moveaxis)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], (int)args_int(c->args, "a", 0), (int)args_int(c->args, "b", 0)); \
	}
AXES_OPS(X)
#undef X

static lb_tensor *run_unflatten(const struct call *c)
{
	int64_t shape[LB_MAX_RANK];
	return lb_unflatten(c->in[0], (int)args_int(c->args, "axis", 0), args_list(c->args, "shape", shape));
}

static lb_tensor *run_roll(const struct call *c)
{
	int64_t by[LB_MAX_RANK], axes[LB_MAX_RANK];
	return lb_roll(c->in[0], args_list(c->args, "by", by), args_list(c->args, "axes", axes));
}

static lb_tensor *run_repeat(const struct call *c)
{
	return lb_repeat(c->in[0], args_int(c->args, "times", 0), (int)args_int(c->args, "axis", 0));
}

static lb_tensor *run_tile(const struct call *c)
{
	int64_t times[LB_MAX_RANK];
	return lb_tile(c->in[0], args_list(c->args, "times", times));
}

static lb_tensor *run_meshgrid(const struct call *c)
{
	lb_tensor *out[LB_MAX_RANK];
	lb_meshgrid(c->n, c->in, args_int(c->args, "rows", 0), args_int(c->args, "sparse", 0), out);
	return out[args_int(c->args, "part", 0)];
}

static lb_tensor *run_split_at(const struct call *c)
{
	int64_t at[LB_MAX_RANK];
	lb_tensor *parts[LB_MAX_RANK + 1];
	lb_split_at(c->in[0], args_list(c->args, "at", at), (int)args_int(c->args, "axis", 0), parts);
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_pad_edge(const struct call *c)
{
	int64_t low[LB_MAX_RANK], high[LB_MAX_RANK];
	return lb_pad_edge(c->in[0], args_list(c->args, "low", low), args_list(c->args, "high", high));
}

static lb_tensor *run_tensordot(const struct call *c)
{
	int64_t a[LB_MAX_RANK], b[LB_MAX_RANK];
	return lb_tensordot(c->in[0], c->in[1], args_list(c->args, "left", a), args_list(c->args, "right", b));
}

#define PRODUCT_OPS(X) X(inner) X(outer) X(kron)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], c->in[1]); \
	}
PRODUCT_OPS(X)
#undef X

#define SCAN_OPS(X) X(cumprod) X(cummax) X(cummin) X(logcumsumexp)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], (int)args_int(c->args, "axis", -1), args_int(c->args, "reverse", 0), \
				 args_int(c->args, "inclusive", 1)); \
	}
SCAN_OPS(X)
#undef X

static lb_tensor *run_gather_mm(const struct call *c)
{
	return lb_gather_mm(c->in[0], c->in[1], c->in[2], c->in[3]);
}

static lb_tensor *run_hadamard_transform(const struct call *c)
{
	return lb_hadamard_transform(c->in[0], args_double(c->args, "scale", 0));
}

static void numbers_of(const struct call *c, const char *key, int n, int64_t *to)
{
	const char *text = args_find(c->args, key);
	if (text)
		list_parse(text, n, to);
}

static lb_tensor *run_conv3d(const struct call *c)
{
	lb_conv3d_options o = { .groups = args_int(c->args, "groups", 0) };
	numbers_of(c, "stride", 3, o.stride);
	numbers_of(c, "padding", 3, o.padding);
	numbers_of(c, "dilation", 3, o.dilation);
	return lb_conv3d(c->in[0], c->in[1], o);
}

static lb_tensor *run_conv_transpose(const struct call *c)
{
	lb_conv_options o = { .groups = args_int(c->args, "groups", 0) };
	int64_t more[2] = { 0 };
	numbers_of(c, "stride", 2, o.stride);
	numbers_of(c, "padding", 2, o.padding);
	numbers_of(c, "dilation", 2, o.dilation);
	numbers_of(c, "more", 2, more);
	return lb_rank(c->in[0]) == 3 ? lb_conv_transpose1d(c->in[0], c->in[1], o, more[0])
				      : lb_conv_transpose2d(c->in[0], c->in[1], o, (lb_list){ 2, more });
}

static lb_tensor *run_conv_transpose3d(const struct call *c)
{
	lb_conv3d_options o = { .groups = args_int(c->args, "groups", 0) };
	int64_t more[3] = { 0 };
	numbers_of(c, "stride", 3, o.stride);
	numbers_of(c, "padding", 3, o.padding);
	numbers_of(c, "dilation", 3, o.dilation);
	numbers_of(c, "more", 3, more);
	return lb_conv_transpose3d(c->in[0], c->in[1], o, (lb_list){ 3, more });
}

static lb_tensor *run_convolve(const struct call *c)
{
	return lb_convolve(c->in[0], c->in[1], (lb_convolve_mode)args_int(c->args, "mode", 0));
}

static lb_tensor *run_logical_xor(const struct call *c)
{
	return lb_logical_xor(c->in[0], c->in[1]);
}

#define FFT_OPS(X) X(fft) X(ifft) X(rfft) X(irfft)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		int64_t sizes[LB_MAX_RANK], axes[LB_MAX_RANK]; \
		lb_list given = args_list(c->args, "sizes", sizes); \
		return lb_##name##n(c->in[0], given.n < 0 ? LB_SHAPE() : given, args_list(c->args, "axes", axes), \
				    (lb_fft_norm)args_int(c->args, "norm", 0)); \
	}
FFT_OPS(X)
#undef X

/* ---- linear algebra ---- */

static lb_tensor *run_inv(const struct call *c)
{
	return lb_inv(c->in[0]);
}

static lb_tensor *run_det(const struct call *c)
{
	return lb_det(c->in[0]);
}

static lb_tensor *run_pinv(const struct call *c)
{
	return lb_pinv(c->in[0]);
}

static lb_tensor *run_svdvals(const struct call *c)
{
	return lb_svdvals(c->in[0]);
}

static lb_tensor *run_solve(const struct call *c)
{
	return lb_solve(c->in[0], c->in[1]);
}

static lb_tensor *run_solve_triangular(const struct call *c)
{
	return lb_solve_triangular(c->in[0], c->in[1], args_int(c->args, "upper", 0));
}

#define TRIANGLE_OPS(X) X(tri_inv) X(cholesky) X(cholesky_inv) X(eigvalsh)
#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], args_int(c->args, "upper", 0)); \
	}
TRIANGLE_OPS(X)
#undef X

/* Columns may point either way: the product of the parts is what is known, and that bases are bases. */
static lb_tensor *base_and_product(lb_tensor *base, lb_tensor *product, int64_t part)
{
	return part == 0 ? product : lb_matmul(lb_conjugate(lb_swapaxes(base, -1, -2)), base);
}

static lb_tensor *run_qr(const struct call *c)
{
	lb_tensor *q, *r;
	if (!lb_qr(c->in[0], &q, &r))
		return NULL;
	int64_t part = args_int(c->args, "part", 0);
	return part == 2 ? lb_tril(r, -1) : base_and_product(q, lb_matmul(q, r), part);
}

static lb_tensor *run_svd(const struct call *c)
{
	lb_tensor *u, *s, *vt;
	if (!lb_svd(c->in[0], &u, &s, &vt))
		return NULL;
	int64_t part = args_int(c->args, "part", 0), k = lb_dim(s, -1);
	if (part >= 2)
		return part == 2 ? s : base_and_product(lb_swapaxes(vt, -1, -2), NULL, 1);
	lb_tensor *left = lb_slice(u, LB_REST, LB_RANGE(0, k)), *right = lb_slice(vt, LB_REST, LB_RANGE(0, k), LB_ALL);
	return base_and_product(u, lb_matmul(lb_multiply(left, lb_expand_dims(s, LB_AXES(-2))), right), part);
}

static lb_tensor *run_eigh(const struct call *c)
{
	lb_tensor *w, *v;
	if (!lb_eigh(c->in[0], args_int(c->args, "upper", 0), &w, &v))
		return NULL;
	int64_t part = args_int(c->args, "part", 0);
	lb_tensor *whole =
	    lb_matmul(lb_multiply(v, lb_expand_dims(w, LB_AXES(-2))), lb_conjugate(lb_swapaxes(v, -1, -2)));
	return part == 2 ? w : base_and_product(v, whole, part);
}

/* l u in the order of x's rows. */
static lb_tensor *run_lu(const struct call *c)
{
	lb_tensor *rows, *l, *u, *both, *swaps;
	lb_tensor *x = c->in[0];
	if (!lb_lu(x, &rows, &l, &u) || !lb_lu_factor(x, &both, &swaps))
		return NULL;
	lb_tensor *y = lb_matmul(l, u);
	int64_t m = lb_dim(x, -2), n = lb_dim(x, -1), k = m < n ? m : n;
	switch (args_int(c->args, "part", 0)) {
	case 0: return lb_take_along_axis(y, lb_expand_dims(rows, LB_AXES(-1)), -2);
	case 1: /* the swaps are undone, the last one first */
		for (int64_t i = k; i-- > 0;) {
			lb_tensor *other = lb_expand_dims(lb_slice(swaps, LB_REST, LB_RANGE(i, i + 1)), LB_AXES(-1));
			lb_tensor *here = lb_slice(y, LB_REST, LB_RANGE(i, i + 1), LB_ALL);
			lb_tensor *there = lb_take_along_axis(y, lb_astype(other, LB_I32), -2);
			y = lb_slice_update(y, there, LB_REST, LB_RANGE(i, i + 1), LB_ALL);
			y = lb_put_along_axis(y, lb_astype(other, LB_I32), here, -2, LB_PUT_ASSIGN);
		}
		return y;
	case 2: /* what is not zero where zeros should be, and ones on the diagonal */
		return lb_subtract(lb_triu(l, 0), lb_eye(m, k, 0, lb_dtype_of(x)));
	default: /* the same, and that both ways have one u */
		return lb_add(lb_tril(u, -1), lb_subtract(u, lb_triu(lb_slice(both, LB_REST, LB_TO(k), LB_ALL), 0)));
	}
}

/* x v - v w, the sum of the values, that of their squares, the length of each vector. */
static lb_tensor *run_eig(const struct call *c)
{
	lb_tensor *w, *v;
	if (!lb_eig(c->in[0], &w, &v))
		return NULL;
	switch (args_int(c->args, "part", 0)) {
	case 0:
		return lb_subtract(lb_matmul(lb_astype(c->in[0], LB_C64), v),
				   lb_multiply(v, lb_expand_dims(w, LB_AXES(-2))));
	case 1: return lb_sum(w, LB_AXES(-1), false);
	case 2: return lb_sum(lb_square(w), LB_AXES(-1), false);
	default: return lb_norm(v, LB_AXES(-2), false);
	}
}

static lb_tensor *run_eigvals(const struct call *c)
{
	return lb_sum(lb_square(lb_eigvals(c->in[0])), LB_AXES(-1), false);
}

static lb_tensor *run_slogdet(const struct call *c)
{
	lb_tensor *parts[2];
	return lb_slogdet(c->in[0], &parts[0], &parts[1]) ? parts[args_int(c->args, "part", 0)] : NULL;
}

static lb_tensor *run_norm(const struct call *c)
{
	int64_t axes[LB_MAX_RANK];
	return lb_norm(c->in[0], args_list(c->args, "axes", axes), args_int(c->args, "keepdims", 0));
}

static lb_tensor *run_vector_norm(const struct call *c)
{
	return lb_vector_norm(c->in[0], args_double(c->args, "order", 2), (int)args_int(c->args, "axis", -1),
			      args_int(c->args, "keepdims", 0));
}

static lb_tensor *run_matrix_norm(const struct call *c)
{
	return lb_matrix_norm(c->in[0], args_double(c->args, "order", 2), (int)args_int(c->args, "a", -2),
			      (int)args_int(c->args, "b", -1), args_int(c->args, "keepdims", 0));
}

static lb_tensor *run_cross(const struct call *c)
{
	return lb_cross(c->in[0], c->in[1], (int)args_int(c->args, "axis", -1));
}

/* clang-format off */
#define LINALG_OPS(X) \
	TRIANGLE_OPS(X) X(inv) X(det) X(pinv) X(svdvals) X(solve) X(solve_triangular) X(qr) X(svd) X(eigh) X(lu) X(eig) X(eigvals) X(slogdet) X(norm) \
	X(vector_norm) X(matrix_norm) X(cross)
#define OPS(X) X(gather_mm) X(hadamard_transform) X(conv3d) X(conv_transpose) X(conv_transpose3d) X(convolve) X(logical_xor) WINDOW_OPS(X) FFT_OPS(X) LINALG_OPS(X) UNARY_OPS(X) CLOSE_OPS(X) K_OPS(X) DIAGONAL_OPS(X) AXES_OPS(X) PRODUCT_OPS(X) SCAN_OPS(X) \
	X(round_to) X(nan_to_num) X(divmod) X(array_equal) X(std) X(median) X(minmax) X(unique) X(diff) X(cross_entropy) X(linspace) X(tri) X(unflatten) X(roll) X(repeat) \
	X(tile) X(meshgrid) X(split_at) X(pad_edge) X(tensordot)
/* clang-format on */

op_function op_find_composed(const char *name)
{
	static const struct op_row rows[] = {
#define X(name) { #name, run_##name },
		OPS(X)
#undef X
	};
	return op_find_among(rows, sizeof rows / sizeof *rows, name);
}
