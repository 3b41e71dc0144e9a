/* The kernels of model operations. The rules of kernels.h hold. */
#ifndef LB_KERNELS_MODEL_H
#define LB_KERNELS_MODEL_H

#include "kernels/kernels.h"

/* ---- norm.c, rope.c ---- */

struct lb_norm {
	const char *op;          /* for messages */
	const struct lb_view *x;
	const struct lb_view *weight, *bias; /* vectors of x's dtype, or NULL */
	double eps;
	bool center;             /* layer_norm */
};
/* to (dense) = x over its last axis with mean 0 (if `center`) and mean square 1, times weight plus bias.
 * Computed in float (sums in double), in double for f64. */
bool lb_kernel_norm(struct lb_exec *exec, const struct lb_norm *norm, void *to);

enum lb_norm_part { LB_NORM_X, LB_NORM_WEIGHT, LB_NORM_BIAS, LB_NORM_PARTS };
/* Given the gradient of that result: to (dense) = that of x, or of weight or bias (vectors, sums over
 * all rows, in double). The bias itself is not looked at. */
bool lb_kernel_norm_grad(struct lb_exec *exec, const struct lb_norm *norm, enum lb_norm_part part,
			 const struct lb_view *grad, void *to);

struct lb_rope {
	int64_t dims;      /* the first of the last axis; even */
	bool traditional;  /* pairs are neighbours, else a half apart */
	double base, scale;
	int64_t offset;
};
/* to (dense) = x (…, positions, features) turned: Su et al., "RoFormer", 2021. Angles are
 * computed in double, products in float (double for f64). */
bool lb_kernel_rope(struct lb_exec *exec, const struct lb_view *x, const struct lb_rope *rope, void *to);

/* ---- attention.c ---- */

struct lb_attention {
	struct lb_view q, k, v; /* (B, H, L, D), (B, Hkv, S, D), (B, Hkv, S, Dv), of one dtype */
	struct lb_view mask;    /* over (B, H, L, S): bool, or of q's dtype; if masked */
	bool masked, causal;
	double scale;
};
/* to (dense, (B, H, L, Dv)) = softmax(scale * q k^T, masked) v. H is a multiple of Hkv. Computed
 * in float (double for f64). Causal: query i sees keys up to i + S - L. A query that sees none
 * gives zeros. */
bool lb_kernel_attention(struct lb_exec *exec, const struct lb_attention *attention, void *to);

/* to (dense) = the gradients of q, k and v, one after another, given that of the result. */
bool lb_kernel_attention_grad(struct lb_exec *exec, const struct lb_attention *attention, const struct lb_view *grad,
			      void *to);

/* ---- sort.c ---- */

enum lb_sort_kind { LB_SORT_VALUES, LB_SORT_INDICES, LB_SORT_TOP };

/* Along `axis`, stably, NaN last: the elements, their u32 indices, or the k largest from the
 * largest on. `to` is dense. Any dtype but c64. Of the others k says that a NaN is refused. */
bool lb_kernel_sort(struct lb_exec *exec, enum lb_sort_kind kind, const struct lb_view *x, int axis, int64_t k,
		    void *to);

/* Along `axis` the elements, or their u32 indices, such that the kth smallest is in its place, none of those in front is larger and
 * none behind smaller; NaN is the largest, unless it is refused. Any dtype but c64, i64 and u64. */
bool lb_kernel_partition(struct lb_exec *exec, const struct lb_view *x, int axis, int64_t kth, bool gives_indices,
			 bool refuses_nan, void *to);

/* ---- search.c, fp8.c ---- */

/* to (dense, of the values' shape) = how many elements of the sorted line are below each value, or, `right`, not above it;
 * NaN is the largest. Both of one dtype, not c64. */
bool lb_kernel_searchsorted(struct lb_exec *exec, const struct lb_view *sorted, const struct lb_view *values,
			    bool right, uint32_t *to);
/* to (dense) = the e4m3 codes of a floating x, if dtype is u8, or else what the codes x stand for. */
bool lb_kernel_fp8(struct lb_exec *exec, const struct lb_view *x, enum lb_dtype dtype, void *to);

/* ---- scan.c, running.c, categorical.c ---- */

/* to (dense, of x's dtype, not bool) = sums along `axis` of all elements up to each, or before it
 * if not inclusive; from the end if reverse. f16, bf16 and f32 are summed in double. */
bool lb_kernel_cumsum(struct lb_exec *exec, const struct lb_view *x, int axis, bool reverse, bool inclusive, void *to);
/* Likewise sums, products, maxima, minima (enum lb_scan_kind), each rounded to x's dtype. */
bool lb_kernel_scan(struct lb_exec *exec, const struct lb_view *x, int kind, int axis, bool reverse, bool inclusive,
		    void *to);
/* For each line along `axis` the index of the largest x + g, where g is drawn from Gumbel's
 * distribution for the key and the element's row-major index alone. NaN wins. The axis is not
 * empty. */
bool lb_kernel_categorical(struct lb_exec *exec, const struct lb_view *x, int axis, uint64_t key, uint32_t *to);

/* ---- steps.c, threefry.c ---- */

/* to (dense) = a @ b, of f16 or bf16, to which each product and each sum is rounded: (…, m, k) by (…, k, n), batch axes
 * already broadcast. */
bool lb_kernel_matmul_in_steps(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b, void *to);

/* ---- masked.c, segmented.c ---- */

/* to (dense) = a @ b, where of blocks of that size those count that masks of the result, a and b (bool, an element a block)
 * keep; the result's others are 0. Batch axes of all are already broadcast to the same shape. */
bool lb_kernel_block_masked_mm(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b,
			       const struct lb_view *masks, int64_t block, void *to);
/* to (dense) = for each of the segments (…, 2), [begin, end), those columns of a matrix a times those rows of b. */
bool lb_kernel_segmented_mm(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b,
			    const struct lb_view *segments, void *to);
/* `bytes` random ones of each of the keys (…, 2), one key's behind the other's. */
bool lb_kernel_random_bits(struct lb_exec *exec, const struct lb_view *keys, int64_t bytes, void *to);

/* ---- linalg.c ---- */

/* Whether it is of complex64, too, and what a result with, or without, vectors has for x's dtype: singular values, and
 * eigenvalues of Hermitian matrices, are real, but beside vectors, where all is of one dtype. */
bool lb_linalg_takes_complex(int op);
enum lb_dtype lb_linalg_dtype(int op, enum lb_dtype dtype, bool has_vectors);
/* By LAPACK, of each matrix (…, m, n) of f32, f64 or complex64; `op` is an enum lb_op_code. to (dense) = its inverse, its factor, its
 * determinant, or, one behind the other: q (…, m, k) and r (…, k, n), where k is the smaller of both; u (…, m, m), the
 * singular values (…, k) and vt (…, n, n); eigenvalues (…, n) and vectors (…, n, n), of eig complex64; sign and logarithm of
 * the determinant; both triangular factors (…, m, n), swaps (…, k) and rows (…, m). Of some only the triangle is read that
 * `upper` says. */
bool lb_kernel_linalg(struct lb_exec *exec, int op, const struct lb_view *x, bool upper, bool has_vectors, void *to);
/* to (dense) = the x with a x = b: (…, n, n) and (…, n, k), batch axes already broadcast. */
bool lb_kernel_solve(struct lb_exec *exec, int op, const struct lb_view *a, const struct lb_view *b, bool upper,
		     void *to);

/* ---- fft.c ---- */

/* By FFTW, along the axes in `mask`: `op` is LB_OP_FFT, LB_OP_IFFT, LB_OP_RFFT (f32 to c64, half of what there is along axis
 * `last`), or LB_OP_IRFFT (back). to (dense) = scale times the sums as they are. */
bool lb_kernel_fft(struct lb_exec *exec, int op, const struct lb_view *x, uint32_t mask, int last, double scale,
		   const struct lb_view *to);

/* ---- conv.c, conv_grad.c ---- */

struct lb_conv {
	struct lb_view x, w; /* (N, H, W, C), (O, kH, kW, C / groups), of one floating dtype */
	int64_t out[2]; /* rows and columns of the result */
	int64_t stride[2], padding[2], dilation[2], groups;
};
/* to (dense, (N, out, out, O)) = the correlation of x, with zeros around it, and w. In float
 * (double for f64). */
bool lb_kernel_conv2d(struct lb_exec *exec, const struct lb_conv *conv, void *to);
/* Given the gradient of that result: to (dense) = that of x, whose data is not read, or of w. */
bool lb_kernel_conv2d_input_grad(struct lb_exec *exec, const struct lb_conv *conv, const struct lb_view *grad,
				 void *to);
bool lb_kernel_conv2d_weight_grad(struct lb_exec *exec, const struct lb_conv *conv, const struct lb_view *grad,
				  void *to);

#endif
