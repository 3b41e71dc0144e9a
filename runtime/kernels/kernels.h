/* The kernels: arithmetic over plain memory. They know dtypes, shapes and strides,
 * and nothing of tensors, graphs or buffers; the evaluator and the replay call them.
 *
 * Common rules:
 *   - strides are in elements and may be 0 or negative; `data` points at element
 *     (0, 0, …); rank 0 is one element; a size of 0 anywhere means no work;
 *   - outputs marked `dense` are row-contiguous;
 *   - output memory overlaps no input, except where a comment allows it;
 *   - float16 and bfloat16 are converted to float, computed, and rounded to nearest
 *     even, after each operation: a fused chain gives the bits that single ops give;
 *   - sums of floats are kept in double and do not depend on the number of threads;
 *     integers wrap as in C unsigned;
 *   - NaN and Inf are kept as IEEE 754 and NumPy have them;
 *   - a kernel that can fail follows base/error.h. */
#ifndef LB_KERNELS_H
#define LB_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "symtab.h"

struct lb_view {
	void *data;
	enum lb_dtype dtype;
	int rank;
	int64_t shape[LB_MAX_RANK];
	int64_t strides[LB_MAX_RANK];
};

/* Where and how a kernel may run. A debugger's evaluation forbids threads, BLAS and
 * malloc: then scratch memory comes from the caller's arena alone. */
struct lb_exec {
	bool threads; /* may use the worker pool */
	bool blas;    /* may call BLAS, LAPACK and FFTW */
	bool amx;     /* may use AMX: gdb does not keep its registers while it calls a function */
	/* Scratch memory, 64-byte aligned, that the caller takes back after the kernel;
	 * NULL (with lb_fail called) when there is none. Called by the calling thread only. */
	void *(*scratch)(struct lb_exec *exec, int64_t nbytes);
};

/* ---- threads (pool.c) ---- */

/* Calls work(arg, begin, end) for pieces of [0, n), each at least `grain` long, on several
 * cores if exec allows and n is worth it; returns when all are done. Nested calls and calls
 * from several threads at once are fine (who finds the pool busy works alone). */
void lb_parallel(const struct lb_exec *exec, int64_t n, int64_t grain,
		 void (*work)(void *arg, int64_t begin, int64_t end), void *arg);
/* The same in `pieces` of about the same length, on as many cores as there are seats for, the caller among them:
 * work(arg, seat, begin, end) is called by one core alone for a seat. Pieces that follow one another are mostly done at the
 * same seat, and so are the same parts of one [0, n) after another. */
typedef void lb_seat_work(void *arg, int64_t seat, int64_t begin, int64_t end);
void lb_parallel_seats(const struct lb_exec *exec, int64_t n, int64_t pieces, int64_t seats, lb_seat_work *work,
		       void *arg);
int lb_parallel_width(void); /* cores used at most; LAZYBONES_THREADS overrides */

/* ---- fused elementwise chains (fuse.c, simd/elementwise.c) ---- */

enum {
	LB_FUSE_INPUTS = LB_PROGRAM_INPUTS,
	LB_FUSE_OUTPUTS = 16,
	LB_FUSE_INSNS = LB_PROGRAM_INSNS,
	LB_FUSE_REGS = 96,
};

/* One operation of a chain over registers; each register has one dtype and is written
 * once. Registers 0 … n_inputs-1 are the inputs. `op` is an enum lb_op_code of class
 * UNARY, BINARY or TERNARY. Operands are given as they are: for ASTYPE the destination's
 * dtype differs; for comparisons both operands have one dtype and the destination is bool;
 * for WHERE a is bool, b and c have the destination's dtype; otherwise all have the
 * destination's dtype (isnan, isinf: bool from any; abs: f32 from c64). */
struct lb_fuse_insn {
	uint8_t op, dst, a, b, c;
};

struct lb_fuse {
	int rank;         /* of the iteration space */
	int64_t shape[LB_MAX_RANK];
	int n_inputs, n_insns, n_outputs;
	/* data, dtype and strides of each input over the iteration space (stride 0:
	 * broadcast); their rank and shape are not read */
	struct lb_view inputs[LB_FUSE_INPUTS];
	struct lb_fuse_insn insns[LB_FUSE_INSNS];
	uint8_t dtypes[LB_FUSE_REGS];   /* of each register */
	/* registers to store, and where: dense memory in the iteration space's row-major
	 * order. An output may be the memory of a dense input of the same width (donation). */
	struct {
		uint8_t reg;
		void *data;
	} outputs[LB_FUSE_OUTPUTS];
};

/* Whether the elementwise operation is defined on operands of dtype `from` (of `where`: the last two), with
 * a result of dtype `to`. */
bool lb_kernel_has(int op, enum lb_dtype to, enum lb_dtype from);
/* Runs the chain tile by tile. n_insns may be 0 (copies inputs out). */
bool lb_kernel_fused(struct lb_exec *exec, const struct lb_fuse *fuse);

/* ---- copies and creation (copy.c, create.c, random.c) ---- */

/* to = from, same shape and dtype, any strides on both sides (to's elements distinct). */
bool lb_kernel_copy(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *from);
/* n dense elements from start by step, from number `first` on: computed as start + i * step in
 * double (floats), int64 wrap-around (integers: start and step are then exact int64). */
bool lb_kernel_arange(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t first, int64_t n, double start,
		      double step);
bool lb_kernel_eye(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t rows, int64_t cols, int64_t k);
/* n elements of value at `value`, which has the dtype. */
bool lb_kernel_fill(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t n, const void *value);
/* Stores a double (or, for integers, exactly an int64) as one element of dtype at `to`. */
void lb_store_double(void *to, enum lb_dtype dtype, double value);
void lb_store_int(void *to, enum lb_dtype dtype, int64_t value);
double lb_load_double(const void *from, enum lb_dtype dtype);  /* real part of c64 */
int64_t lb_load_int(const void *from, enum lb_dtype dtype);    /* floats truncate, saturating */
/* Philox4x32-10 counter mode (Salmon et al., SC'11): element i depends on key and i alone. Elements from
 * number `first` on, a multiple of LB_PHILOX_ELEMENTS_EACH (philox.h). */
bool lb_kernel_uniform(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t first, int64_t n, uint64_t key,
		       double low, double high);
bool lb_kernel_normal(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t first, int64_t n, uint64_t key);
uint64_t lb_philox_split(uint64_t key, uint64_t index);

/* ---- reductions (reduce.c, softmax.c) ---- */

/* Reduces x over the axes in `mask` (bit i: axis i). `to` is dense, in the order of the
 * remaining axes, of dtype `to_dtype`: that of x, except sum/prod (the wider integer the
 * caller chose), mean/var/logsumexp (floating; integers are read as f32), all/any (bool).
 * max and min of nothing fail, naming the op; NaN wins in max and min. `ddof` is for var. */
bool lb_kernel_reduce(struct lb_exec *exec, int op, const struct lb_view *x, uint32_t mask, int64_t ddof, void *to,
		      enum lb_dtype to_dtype);
/* u32 indices along `axis`, or over the row-major elements when axis is -1; the first
 * of equals; NaN wins as NumPy has it. */
bool lb_kernel_argreduce(struct lb_exec *exec, int op, const struct lb_view *x, int axis, uint32_t *to);
/* exp(x - max) / sum over the axes in mask, computed in float (double for f64); `to` is
 * dense in x's shape. */
bool lb_kernel_softmax(struct lb_exec *exec, const struct lb_view *x, uint32_t mask, void *to);

/* ---- matrix products (matmul.c, blas.c) ---- */

/* to (dense) = alpha * a @ b + beta * c. a (…, m, k), b (…, k, n), c (…, m, n) or NULL; all
 * of one dtype (f16, bf16, f32, f64, c64), batch axes already broadcast to the same shape
 * (stride 0). When k is 0 the product is 0. Uses BLAS when there is one (linked, or
 * libopenblas.so.0 opened at the first call), else a kernel of its own. Products of halves are
 * exact and summed in float: an element is wrong by at most k * 2^-24 times the sum of their sizes,
 * and the last rounding. Processors with AVX512-BF16 multiply bf16 themselves; sums below
 * 2^-126 may be 0 then, but denormal elements count. */
bool lb_kernel_matmul(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b, const struct lb_view *c,
		      double alpha, double beta, void *to);
/* For status displays: which BLAS is in use, or "none". */
const char *lb_blas_name(void);

/* ---- quantisation (quantize.c, dequantize.c, quant_matmul.c) ---- */

/* What lazybones.h says of the formats; `mode` is an enum lb_quant_mode. The caller has checked
 * that mode, bits and group go together. */
struct lb_quant_format {
	int mode, bits, group;
};
enum { LB_QUANT_WORDS, LB_QUANT_SCALES, LB_QUANT_BIASES };
/* How x is multiplied with w. */
enum { LB_QUANT_TRANSPOSED = 1, LB_QUANT_ROUNDED = 2 /* x to 8 bits (lazybones.h) */ };

/* A quantised tensor in memory: all of one rank, rows along the last axis contiguous.
 * `extra`: biases (affine), or one f32 (nvfp4's global scale), or without data. */
struct lb_quant_view {
	struct lb_quant_format format;
	struct lb_view words, scales, extra;
};

/* One part of x, quantised; `to` is dense. `global` may be NULL. */
bool lb_kernel_quantize(struct lb_exec *exec, const struct lb_quant_format *format, int part, const struct lb_view *x,
			const float *global, void *to);
/* `to` is dense, of f16, bf16 or f32. */
bool lb_kernel_dequantize(struct lb_exec *exec, const struct lb_quant_view *q, void *to, enum lb_dtype dtype);
/* to (dense) of x's dtype = x (…, m, k) @ w; w (…, n, k) when LB_QUANT_TRANSPOSED, else (…, k, n), with x's
 * rank and its batch axes (stride 0 where broadcast). Memory beyond `to` is bounded by a panel
 * of w and a block of x's rows. */
bool lb_kernel_quantized_matmul(struct lb_exec *exec, const struct lb_view *x, const struct lb_quant_view *q, int how,
				void *to);
/* to (dense, of the indices' shape and (m, n)) = for each pair of indices the product of that matrix of x (…, m, k) and
 * that of q, by lb_kernel_quantized_matmul(). left and right have one shape. */
bool lb_kernel_gather_qmm(struct lb_exec *exec, const struct lb_view *x, const struct lb_quant_view *q,
			  const struct lb_view *left, const struct lb_view *right, int how, void *to);

/* ---- gathers (gather.c) ---- */

/* to (dense) = x with `axis` replaced by the indices' axes. Indices of any integer dtype;
 * negative ones count from the end; one out of range fails, naming it and the axis' size. */
bool lb_kernel_take(struct lb_exec *exec, const struct lb_view *x, const struct lb_view *indices, int axis, void *to);
/* x and indices already broadcast against each other outside `axis`. */
bool lb_kernel_take_along(struct lb_exec *exec, const struct lb_view *x, const struct lb_view *indices, int axis,
			  void *to);

/* ---- updates (accumulate.c, scatter.c): they fail before the first write ---- */

/* to += from, same shape and dtype, any strides; elements of `to` may coincide. Sums as the next
 * one has them. */
bool lb_kernel_accumulate(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *from);
/* to (dense) += updates where lb_kernel_take() would read; updates have its shape. An element's
 * sum is kept in lb_sum_stage() of the dtype, in row-major order of the updates. */
bool lb_kernel_scatter_add(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *indices, int axis,
			   const struct lb_view *updates);
/* to (dense) = or += values; indices and values have one shape, and to's besides `axis`. */
bool lb_kernel_put_along(struct lb_exec *exec, const struct lb_view *to, const struct lb_view *indices, int axis,
			 const struct lb_view *values, int how);

/* ---- bytes of files (decode.c) ---- */

/* A block of an encoding: `elements` elements in `bytes` bytes; 0 elements: plain ones. ggml has a name and a
 * number for it. */
struct lb_block {
	const char *name, *ggml;
	int number, elements, bytes;
	/* of an element's code, by which the step of its group is multiplied (blocks.def) */
	int group, lowest, highest;
	bool has_least;
};
extern const struct lb_block lb_blocks[LB_ENCODINGS];
/* n elements from dense bytes of any alignment; `to` is dense. Blocks are computed in float
 * and rounded to dtype (f32, f16, bf16); a bool is what is not 0. */
bool lb_kernel_decode(struct lb_exec *exec, enum lb_encoding encoding, const void *bytes, int64_t n, void *to,
		      enum lb_dtype dtype);

/* ---- checks (check.c) ---- */

/* Counts NaN and ±Inf in n dense elements; 0 for integers. Stops at the first when
 * `first` is not NULL, and stores its index there. Vectorised. */
int64_t lb_count_nonfinite(const void *data, enum lb_dtype dtype, int64_t n, int64_t *first);
/* Whether all elements are finite, of any strides. */
bool lb_is_finite(const struct lb_view *x);

/* What tells one value from another, of numbers as doubles, complex ones by their real part. */
struct lb_figures {
	int64_t count, finite, nan, inf, zero;
	double min, max, mean, std, l2; /* of the finite elements; 0 without */
	uint64_t hash; /* of dtype and elements in row-major order */
	uint64_t bag; /* of the elements in whatever order */
};
void lb_find_figures(const struct lb_view *x, struct lb_figures *ret);
/* The least and the largest element, as doubles, of real dtypes; a NaN is larger than all others.
 * Without elements the least is +Inf, the largest -Inf. Element by element: for debuggers. */
void lb_find_extremes(const struct lb_view *x, double *low, double *high);

#endif
