/* Lazybones: lazily evaluated tensors whose values a debugger can see.
 *
 * An operation returns at once with a tensor whose shape and dtype are known and
 * whose value is not; lb_eval(), or reading a value, computes what is needed.
 *
 *	LB_SCOPE {
 *		lb_tensor *x = lb_random_normal(LB_SHAPE(64, 3), LB_F32, lb_key(1));
 *		lb_tensor *y = lb_named("y", lb_tanh(lb_multiply(x, lb_scalar(2))));
 *		printf("%g\n", lb_item(lb_mean(y, LB_ALL_AXES, false)));
 *	}
 *	if (!lb_ok())
 *		fprintf(stderr, "%s\n", lb_error_message());
 *
 * Ownership. Every tensor that a call returns belongs to the innermost open scope
 * of the calling thread and lives until that scope ends; so expressions nest
 * without a free each. lb_keep(x) makes one outlive its scope until lb_release(x);
 * lb_escape(x) hands one to the enclosing scope. Without an open scope it belongs
 * to the thread and lives until the thread ends.
 *
 * Values. A tensor that an evaluation has computed keeps its value while somebody holds it by more
 * than a scope: the evaluation was asked for it; it is kept, or has a name, or a lazy tensor outside
 * the evaluation needs it; a view of it keeps its own. What only a scope holds may be a mere
 * temporary of an expression: its memory goes after its last use in the evaluation. When
 * something new asks for such a value it is computed once more, and then kept. An elementwise
 * operation that was fused into a chain had no memory of its own, even with a name: it, too, is
 * computed once more when it is asked for.
 *
 * Errors. A call that fails returns NULL (or false, NaN, 0), and keeps its message
 * in a place of the thread: the first message stays until lb_clear_error(). A call
 * that is given what a failed call gave, NULL, fails quietly, so one check at the end of an
 * expression is enough. A NULL from elsewhere, while no message is kept, is an error that names
 * the argument, unless the call's comment says that NULL is fine, or what it means. Nothing in
 * this library exits or aborts the program.
 *
 * Threads. Any thread may build and evaluate; tensors may be shared between
 * threads. A scope belongs to the thread that opened it. After fork() the child has
 * the tensors, and none of what other threads were computing. Calls allocate and take
 * locks: a signal handler may make none.
 *
 * Functions of the program that the library calls (a release, an lb_function) return: it is not
 * made for longjmp() or a C++ exception through it. What was being evaluated would stay so, a
 * later fork() may crash, and in step mode an exception ends the program. Catch it inside.
 *
 * Shapes, axes, indices and sizes are int64. Strides are counted in elements.
 * Negative axes count from the last. */
#ifndef LAZYBONES_H
#define LAZYBONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LB_VERSION "0.1.0"
#define LB_API __attribute__((visibility("default")))
#define LB_MAX_RANK 8

/* What an element is. The numbers are part of the symbol table's meaning. */
typedef enum lb_dtype {
	LB_BOOL,
	LB_U8,
	LB_U16,
	LB_U32,
	LB_U64,
	LB_I8,
	LB_I16,
	LB_I32,
	LB_I64,
	LB_F16,
	LB_BF16,
	LB_F32,
	LB_F64,
	LB_C64, /* complex: two floats */
	LB_DTYPES
} lb_dtype;

typedef struct lb_tensor lb_tensor;

/* A list of sizes, axes or strides; the array need only live through the call. */
typedef struct lb_list {
	int n;
	const int64_t *v;
} lb_list;

/* The macros that take lists. In C a list lives as long as the block; in C++ as long as the full
 * expression, so write it where it is used. */
#ifdef __cplusplus
extern "C++" {
template<typename T, size_t N> struct lb_array_ {
	T v[N ? N : 1];
	enum { count = N };
	const T *data() const
	{
		return v;
	}
};
template<typename T, typename... A> lb_array_<T, sizeof...(A)> lb_array_of_(A... values)
{
	return { { static_cast<T>(values)... } };
}
}
#define LB_LITERAL_(type) type
#define LB_INT_(x) static_cast<int64_t>(x)
#define LB_COUNTED_(type, ...) \
	static_cast<int>(decltype(lb_array_of_<type>(__VA_ARGS__))::count), lb_array_of_<type>(__VA_ARGS__).data()
#else
#define LB_LITERAL_(type) (type)
#define LB_INT_(x) (x)
#define LB_COUNTED_(type, ...) \
	(int)(sizeof((type[]){ __VA_ARGS__ }) / sizeof(type)), (type[]) \
	{ \
		__VA_ARGS__ \
	}
#endif

#define LB_LIST_(...) (LB_LITERAL_(lb_list){ LB_COUNTED_(int64_t, __VA_ARGS__) })
#define LB_SHAPE(...) LB_LIST_(__VA_ARGS__) /* LB_SHAPE() is a scalar */
#define LB_STRIDES(...) LB_LIST_(__VA_ARGS__)
#define LB_AXES(...) LB_LIST_(__VA_ARGS__)
#define LB_ALL_AXES (LB_LITERAL_(lb_list){ -1, NULL })

/* ---- errors ---- */

/* True while no call of this thread has failed since the last lb_clear_error(). */
LB_API bool lb_ok(void);
/* The first failure's message, "" if none; valid until lb_clear_error(). */
LB_API const char *lb_error_message(void);
/* The address that called the failing function (look it up with addr2line), or NULL. */
LB_API const void *lb_error_site(void);
LB_API void lb_clear_error(void);

/* ---- lifetime ---- */

typedef struct lb_scope {
	void *mark;
	int open;
} lb_scope;
LB_API lb_scope lb_scope_begin(void);
/* Ends the scope and every scope opened inside it that is still open. NULL is fine. */
LB_API void lb_scope_end(lb_scope *scope);
/* LB_SCOPE { … }: a scope that ends however the block is left. */
#define LB_SCOPE \
	for (lb_scope lb_scope_ __attribute__((cleanup(lb_scope_end))) = lb_scope_begin(); lb_scope_.open == 1; \
	     lb_scope_.open = 2)

/* Makes x live until lb_release(); returns x. Each keep needs its release. */
LB_API lb_tensor *lb_keep(lb_tensor *x);
/* Gives one kept reference back. NULL is fine. */
LB_API void lb_release(lb_tensor *x);
/* Keeps x in place of *kept, which is released: *kept = x. If x is NULL, *kept stays. Returns x.
 * A cache that grows in place: see lb_slice_update(). */
LB_API lb_tensor *lb_replace(lb_tensor **kept, lb_tensor *x);
/* Makes x live as long as the scope around the innermost one; returns x. */
LB_API lb_tensor *lb_escape(lb_tensor *x);
/* Names x for the debugger (at most 255 bytes, copied; NULL is fine: x keeps the name it has);
 * returns x. */
LB_API lb_tensor *lb_named(const char *name, lb_tensor *x);

/* ---- what is known without evaluation ---- */

LB_API int lb_rank(const lb_tensor *x);
LB_API int64_t lb_dim(const lb_tensor *x, int axis);
LB_API const int64_t *lb_shape(const lb_tensor *x);   /* lb_rank(x) values, valid while x lives */
LB_API const int64_t *lb_strides(const lb_tensor *x); /* in elements, likewise */
LB_API int64_t lb_size(const lb_tensor *x);           /* elements */
LB_API int64_t lb_nbytes(const lb_tensor *x);         /* of the elements, were they contiguous */
LB_API lb_dtype lb_dtype_of(const lb_tensor *x);
LB_API bool lb_is_ready(const lb_tensor *x);
LB_API bool lb_is_row_contiguous(const lb_tensor *x);
LB_API const char *lb_name(const lb_tensor *x);       /* NULL without one */
LB_API uint64_t lb_id(const lb_tensor *x);
LB_API const char *lb_dtype_name(lb_dtype dtype);
LB_API int64_t lb_dtype_bytes(lb_dtype dtype);
/* The dtype that an operation on both gives (MLX's table). */
LB_API lb_dtype lb_promote(lb_dtype a, lb_dtype b);
/* Whether that is `to`, for a tensor of `from`. */
LB_API bool lb_can_cast(lb_dtype from, lb_dtype to);
/* Kinds of dtypes, of which those further down have those above in them; bool is LB_GENERIC alone. */
typedef enum lb_category {
	LB_SIGNEDINTEGER,
	LB_UNSIGNEDINTEGER,
	LB_INTEGER, /* both */
	LB_FLOATING,
	LB_COMPLEXFLOATING,
	LB_INEXACT, /* both */
	LB_NUMBER, /* integers and these */
	LB_GENERIC /* all */
} lb_category;
/* Whether a dtype is of a kind; false for what is no dtype or kind. */
LB_API bool lb_issubdtype(lb_dtype dtype, lb_category category);

/* ---- creation ---- */

/* Copies nbytes of row-major elements; nbytes must be what shape and dtype need. */
LB_API lb_tensor *lb_from_data(const void *data, size_t nbytes, lb_list shape, lb_dtype dtype);
/* Uses the memory in place, read only; release(data, context) is called, on whatever
 * thread drops the last reference, when it is no longer needed. release may be NULL.
 * On failure release is not called. */
LB_API lb_tensor *lb_from_memory(void *data, size_t nbytes, lb_list shape, lb_dtype dtype,
				 void (*release)(void *data, void *context), void *context);
LB_API lb_tensor *lb_zeros(lb_list shape, lb_dtype dtype);
LB_API lb_tensor *lb_ones(lb_list shape, lb_dtype dtype);
LB_API lb_tensor *lb_full(lb_list shape, double value, lb_dtype dtype);
LB_API lb_tensor *lb_zeros_like(lb_tensor *x); /* of x's shape and dtype */
LB_API lb_tensor *lb_ones_like(lb_tensor *x);
/* Weak scalars: an int or float constant that takes the other operand's dtype, as a
 * literal does in Python. With bool, an int gives i32, a float f32. Arithmetic on two gives another.
 * An int that the other operand's integer dtype cannot hold is an error, except where the answer is
 * clear: in comparisons, and as a bound of lb_clip() that nothing reaches. */
LB_API lb_tensor *lb_scalar(double value);
LB_API lb_tensor *lb_scalar_int(int64_t value);
/* start, start + step, … up to but not including stop; all must fit the dtype. complex64 counts in f32. */
LB_API lb_tensor *lb_arange(double start, double stop, double step, lb_dtype dtype);
/* rows x cols with ones on diagonal k (0 is the main one, above it is positive). */
LB_API lb_tensor *lb_eye(int64_t rows, int64_t cols, int64_t k, lb_dtype dtype);
/* The same with ones below the diagonal, too. */
LB_API lb_tensor *lb_tri(int64_t rows, int64_t cols, int64_t k, lb_dtype dtype);
/* n numbers from start to stop, at equal distances: start + i * (stop - start) / (n - 1), or, without the endpoint,
 * / n; in double, and cast then (for integers: cut). */
LB_API lb_tensor *lb_linspace(double start, double stop, int64_t n, bool endpoint, lb_dtype dtype);
/* Windows of n points, f32, computed in double, symmetric: where t goes from -1 to 1, 1 - |t|; 0.42 + 0.5 cos(pi t) + 0.08
 * cos(2 pi t); 0.54 + 0.46 cos(pi t); 0.5 + 0.5 cos(pi t). 1 alone of one point, none of fewer. */
LB_API lb_tensor *lb_bartlett(int64_t n);
LB_API lb_tensor *lb_blackman(int64_t n);
LB_API lb_tensor *lb_hamming(int64_t n);
LB_API lb_tensor *lb_hanning(int64_t n);

/* Random numbers are a function of the key and the element's index alone
 * (Philox4x32-10), so that a replay gives the same ones. */
typedef struct lb_random_key {
	uint64_t value;
} lb_random_key;
LB_API lb_random_key lb_key(uint64_t seed);
LB_API lb_random_key lb_key_split(lb_random_key key, uint64_t index);
/* Uniform in [low, high), floating dtypes. */
LB_API lb_tensor *lb_random_uniform(lb_list shape, double low, double high, lb_dtype dtype, lb_random_key key);
/* Normal with mean 0 and standard deviation 1, floating dtypes, and complex64, whose parts both have a variance of 1/2. */
LB_API lb_tensor *lb_random_normal(lb_list shape, lb_dtype dtype, lb_random_key key);
/* Whole numbers from low on and below high, at most 2^53 of them, as integers of dtype. */
LB_API lb_tensor *lb_random_randint(lb_list shape, int64_t low, int64_t high, lb_dtype dtype, lb_random_key key);
/* bool: true with probability p, which broadcasts to shape. */
LB_API lb_tensor *lb_random_bernoulli(lb_tensor *p, lb_list shape, lb_random_key key);
/* -log(-log(u)) of a uniform u: Gumbel's distribution, of floating dtypes; with logits added, its argmax draws. */
LB_API lb_tensor *lb_random_gumbel(lb_list shape, lb_dtype dtype, lb_random_key key);
/* Of density exp(-|x - loc| / scale) / (2 scale), of floating dtypes. */
LB_API lb_tensor *lb_random_laplace(lb_list shape, double loc, double scale, lb_dtype dtype, lb_random_key key);
/* Normal with mean 0 and standard deviation 1 between the bounds, which broadcast to shape; of floating dtypes. */
LB_API lb_tensor *lb_random_truncated_normal(lb_tensor *lower, lb_tensor *upper, lb_list shape, lb_dtype dtype,
					     lb_random_key key);
/* mean + z C^(1/2): of normal numbers z, lb_random_normal() of the key, with the symmetric root of the covariance. mean
 * (…, n), cov (…, n, n), symmetric, of which the lower triangle is read; what is in front of n broadcasts, and with shape
 * (LB_SHAPE(): nothing more). Eigenvalues below 0 count as 0. In f32, or f64 where that is asked for; halves are rounded
 * once. Gradients pass, to cov where its eigenvalues are positive and differ. */
LB_API lb_tensor *lb_random_multivariate_normal(lb_tensor *mean, lb_tensor *cov, lb_list shape, lb_dtype dtype,
						lb_random_key key);
/* 0 … n - 1 in random order, u32: indices by which lb_take() shuffles an axis. */
LB_API lb_tensor *lb_random_permutation(int64_t n, lb_random_key key);
/* Random u8, u16 or u32 of keys (…, 2) of u32: of each key so many as `shape` says, behind the axes of the keys. Threefry2x32-20
 * in the order of JAX and MLX, so that the same keys give what mx.random.bits() gives. */
LB_API lb_tensor *lb_random_bits(lb_tensor *keys, lb_list shape, lb_dtype dtype);

/* ---- elementwise ---- */

/* Of integers, the functions with a fractional result give f32. Those of c64 are off by 3 units in the last place of the result's
 * size at most, and so by more in a part that is small beside the other. */
LB_API lb_tensor *lb_positive(lb_tensor *x); /* x itself (a view of it if it has a name) */
LB_API lb_tensor *lb_negative(lb_tensor *x);
LB_API lb_tensor *lb_abs(lb_tensor *x); /* f32 of c64 */
LB_API lb_tensor *lb_exp(lb_tensor *x);
LB_API lb_tensor *lb_log(lb_tensor *x);
LB_API lb_tensor *lb_sqrt(lb_tensor *x);
LB_API lb_tensor *lb_rsqrt(lb_tensor *x);
LB_API lb_tensor *lb_sin(lb_tensor *x);
LB_API lb_tensor *lb_cos(lb_tensor *x);
LB_API lb_tensor *lb_tanh(lb_tensor *x);
LB_API lb_tensor *lb_tan(lb_tensor *x);
LB_API lb_tensor *lb_arcsin(lb_tensor *x);
LB_API lb_tensor *lb_arccos(lb_tensor *x);
LB_API lb_tensor *lb_arctan(lb_tensor *x);
LB_API lb_tensor *lb_sinh(lb_tensor *x);
LB_API lb_tensor *lb_cosh(lb_tensor *x);
LB_API lb_tensor *lb_arcsinh(lb_tensor *x);
LB_API lb_tensor *lb_arccosh(lb_tensor *x);
LB_API lb_tensor *lb_arctanh(lb_tensor *x);
LB_API lb_tensor *lb_log1p(lb_tensor *x);
LB_API lb_tensor *lb_log2(lb_tensor *x);
LB_API lb_tensor *lb_log10(lb_tensor *x);
LB_API lb_tensor *lb_expm1(lb_tensor *x); /* exp(x) - 1, of which small numbers keep their digits; no complex ones */
LB_API lb_tensor *lb_sigmoid(lb_tensor *x);
LB_API lb_tensor *lb_erf(lb_tensor *x);
LB_API lb_tensor *lb_erfinv(lb_tensor *x); /* infinite at -1 and 1, NaN beyond */
LB_API lb_tensor *lb_square(lb_tensor *x);
LB_API lb_tensor *lb_reciprocal(lb_tensor *x); /* 1 / x */
LB_API lb_tensor *lb_sign(lb_tensor *x); /* -1, 0 or 1, of NaN 0; of c64 x / |x| */
LB_API lb_tensor *lb_degrees(lb_tensor *x); /* of radians */
LB_API lb_tensor *lb_radians(lb_tensor *x); /* of degrees */
/* The parts of c64, as f32, and its conjugate. Of another dtype x itself (a view of it if it has a name), and zeros like it. */
LB_API lb_tensor *lb_real(lb_tensor *x);
LB_API lb_tensor *lb_imag(lb_tensor *x);
LB_API lb_tensor *lb_conjugate(lb_tensor *x);
LB_API lb_tensor *lb_floor(lb_tensor *x);
LB_API lb_tensor *lb_ceil(lb_tensor *x);
LB_API lb_tensor *lb_trunc(lb_tensor *x); /* towards zero */
LB_API lb_tensor *lb_round(lb_tensor *x); /* half to even; of c64 both parts */
/* To so many digits behind the point, or, if negative, in front of it: round(x * 10^decimals) / 10^decimals, in float (f64
 * and integers: double), in x's dtype. */
LB_API lb_tensor *lb_round_to(lb_tensor *x, int decimals);
LB_API lb_tensor *lb_isnan(lb_tensor *x); /* bool */
LB_API lb_tensor *lb_isinf(lb_tensor *x); /* bool */
LB_API lb_tensor *lb_isfinite(lb_tensor *x); /* bool: neither */
LB_API lb_tensor *lb_isposinf(lb_tensor *x); /* bool */
LB_API lb_tensor *lb_isneginf(lb_tensor *x); /* bool */
/* x with `nan` for NaN, and posinf and neginf for infinities: the dtype's greatest and least number where these are NaN
 * themselves. A complex number is NaN if a part is, and infinite if its real part is and the imaginary one is 0. */
LB_API lb_tensor *lb_nan_to_num(lb_tensor *x, double nan, double posinf, double neginf);
LB_API lb_tensor *lb_logical_not(lb_tensor *x);
/* x itself (a view of it if it has a name) when it has the dtype. Floats are cut towards zero:
 * 32 and 64 bits saturate and NaN is 0; 8 and 16 bits keep the low bits of what 32 can hold, and
 * are 0 of NaN and of what they cannot, as NumPy has it on x86-64. */
LB_API lb_tensor *lb_astype(lb_tensor *x, lb_dtype dtype);

/* Both operands are promoted to one dtype and broadcast against each other. Of two bools lb_add() is "or" and
 * lb_multiply() "and", as in NumPy; lb_subtract(), lb_power(), lb_remainder(), lb_floor_divide() and lb_negative() compute
 * in i32 (NumPy gives int8 or refuses, MLX keeps bool or refuses). */
LB_API lb_tensor *lb_add(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_subtract(lb_tensor *a, lb_tensor *b);
/* Where parts of complex numbers are infinite, products and quotients (lb_reciprocal(), lb_rsqrt()) are what the plain formulas
 * give, as in NumPy: infinity times i has NaN as a part, and 1 over what is infinite in both is NaN. */
LB_API lb_tensor *lb_multiply(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_divide(lb_tensor *a, lb_tensor *b); /* true division: integers give f32 */
LB_API lb_tensor *lb_power(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_maximum(lb_tensor *a,
			     lb_tensor *b); /* NaN wins; complex numbers: the real parts, then the imaginary */
LB_API lb_tensor *lb_minimum(lb_tensor *a, lb_tensor *b); /* NaN wins */
/* The same bytes, in row-major order, as elements of another dtype: the last axis has as many bytes. */
LB_API lb_tensor *lb_bitcast(lb_tensor *x, lb_dtype dtype);
/* The nearest e4m3 code of each element of a floating dtype, as u8: sign, 4 bits of exponent, 3 of mantissa (OCP
 * Microscaling Formats (MX) specification 1.0, 5.3.1), half to even. What is too large, Inf too, becomes the largest, 448
 * or -448; NaN stays NaN, 0x7f or 0xff (on the CPU MLX makes 448 of it). */
LB_API lb_tensor *lb_to_fp8(lb_tensor *x);
/* What u8 codes stand for, exactly, in a floating dtype. Through the codes there is no gradient: one that would pass from here
 * to lb_to_fp8()'s argument is an error. */
LB_API lb_tensor *lb_from_fp8(lb_tensor *x, lb_dtype dtype);
/* Bits of integers, and of bool. What is shifted as far as it is wide, or further, is 0, or -1 of negative ones to the right.
 * Bools are shifted as u8. */
LB_API lb_tensor *lb_bitwise_and(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_bitwise_or(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_bitwise_xor(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_bitwise_invert(lb_tensor *x);
LB_API lb_tensor *lb_left_shift(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_right_shift(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_remainder(lb_tensor *a, lb_tensor *b); /* sign of b; 0 for integers by 0 */
/* a / b, rounded down, in the operands' dtype; 0 for integers by 0. Of floats the quotient is rounded to the dtype before, as
 * in MLX (NumPy's is exact). */
LB_API lb_tensor *lb_floor_divide(lb_tensor *a, lb_tensor *b);
/* lb_floor_divide() and lb_remainder(). False, with both NULL, on error. */
LB_API bool lb_divmod(lb_tensor *a, lb_tensor *b, lb_tensor **quotient, lb_tensor **rest);
LB_API lb_tensor *lb_arctan2(lb_tensor *a, lb_tensor *b); /* the angle of the point (b, a), as C's atan2(a, b) */
LB_API lb_tensor *lb_logaddexp(lb_tensor *a, lb_tensor *b); /* log(exp(a) + exp(b)), which does not overflow */
LB_API lb_tensor *lb_equal(lb_tensor *a, lb_tensor *b); /* these give bool */
LB_API lb_tensor *lb_not_equal(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_less(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_less_equal(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_greater(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_greater_equal(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_logical_and(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_logical_or(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_logical_xor(lb_tensor *a, lb_tensor *b);
LB_API lb_tensor *lb_where(lb_tensor *condition, lb_tensor *a, lb_tensor *b);
/* low or high, not both, may be NULL: no bound there. After a failed call a NULL bound is taken
 * for one that failed. */
LB_API lb_tensor *lb_clip(lb_tensor *x, lb_tensor *low, lb_tensor *high);
/* bool: |a - b| <= atol + rtol * |b|, where both are finite, else a == b; NaN is not close, but to NaN if equal_nan. In double
 * of integers (of 64 bits a - b has all digits first), in float of halves. lb_allclose() is whether all are; lb_array_equal() whether shapes and elements are the
 * same, of any dtypes. */
LB_API lb_tensor *lb_isclose(lb_tensor *a, lb_tensor *b, double rtol, double atol, bool equal_nan);
LB_API lb_tensor *lb_allclose(lb_tensor *a, lb_tensor *b, double rtol, double atol, bool equal_nan);
LB_API lb_tensor *lb_array_equal(lb_tensor *a, lb_tensor *b, bool equal_nan);

/* ---- views: they share the input's buffer ---- */

/* One size may be -1. Copies only where no strides can express the result. */
LB_API lb_tensor *lb_reshape(lb_tensor *x, lb_list shape);
/* Axis i of the result is axis axes.v[i] of x; LB_ALL_AXES reverses them. */
LB_API lb_tensor *lb_transpose(lb_tensor *x, lb_list axes);
LB_API lb_tensor *lb_swapaxes(lb_tensor *x, int axis_1, int axis_2);
LB_API lb_tensor *lb_moveaxis(lb_tensor *x, int from, int to);
LB_API lb_tensor *lb_broadcast_to(lb_tensor *x, lb_list shape);
LB_API lb_tensor *lb_expand_dims(lb_tensor *x, lb_list axes);
/* LB_ALL_AXES drops every axis of size 1. */
LB_API lb_tensor *lb_squeeze(lb_tensor *x, lb_list axes);
/* x with so many axes at least: () becomes (1), (1, 1) or (1, 1, 1); (n) becomes (1, n) or (1, n, 1); (n, m) becomes (n, m, 1).
 * x itself (a view of it if it has a name) where it has them. */
LB_API lb_tensor *lb_atleast_1d(lb_tensor *x);
LB_API lb_tensor *lb_atleast_2d(lb_tensor *x);
LB_API lb_tensor *lb_atleast_3d(lb_tensor *x);
/* Joins the axes from start to end, both included. */
LB_API lb_tensor *lb_flatten(lb_tensor *x, int start, int end);
/* Makes axes of these sizes of one; one may be -1. */
LB_API lb_tensor *lb_unflatten(lb_tensor *x, int axis, lb_list shape);
/* Any view of x's elements in row-major order; offset and strides in elements. What
 * it reaches must lie within x. */
LB_API lb_tensor *lb_as_strided(lb_tensor *x, lb_list shape, lb_list strides, int64_t offset);
/* The elements (…, i, i + k) of axes 1 and 2, as the last axis; of one that is not row-contiguous a copy. */
LB_API lb_tensor *lb_diagonal(lb_tensor *x, int64_t k, int axis_1, int axis_2);
/* x itself when it is row-contiguous (a view of it if it has a name), else a copy that is. */
LB_API lb_tensor *lb_contiguous(lb_tensor *x);

typedef struct lb_index {
	int64_t start, stop, step;
	int kind;
} lb_index;
enum { LB_INDEX_RANGE, LB_INDEX_AT, LB_INDEX_ELLIPSIS, LB_INDEX_NEW_AXIS };
#define LB_END INT64_MAX /* past the last element, in the direction of step */
/* An argument of lb_slice(): Python's start:stop:step; ranges are clamped as there. */
#define LB_RANGE_3_(start, stop, step, ...) \
	(LB_LITERAL_(lb_index){ LB_INT_(start), LB_INT_(stop), LB_INT_(step), LB_INDEX_RANGE })
#define LB_RANGE(...) LB_RANGE_3_(__VA_ARGS__, 1, 1) /* start, stop[, step] */
#define LB_ALL (LB_LITERAL_(lb_index){ 0, LB_END, 1, LB_INDEX_RANGE })
#define LB_FROM(i) (LB_LITERAL_(lb_index){ LB_INT_(i), LB_END, 1, LB_INDEX_RANGE })
#define LB_TO(i) (LB_LITERAL_(lb_index){ 0, LB_INT_(i), 1, LB_INDEX_RANGE })
#define LB_REVERSED (LB_LITERAL_(lb_index){ LB_END, LB_END, -1, LB_INDEX_RANGE })
#define LB_AT(i) (LB_LITERAL_(lb_index){ LB_INT_(i), 0, 0, LB_INDEX_AT }) /* one element: the axis goes */
#define LB_REST (LB_LITERAL_(lb_index){ 0, 0, 0, LB_INDEX_ELLIPSIS })
#define LB_NEW_AXIS (LB_LITERAL_(lb_index){ 0, 0, 0, LB_INDEX_NEW_AXIS })
/* lb_slice(x, LB_ALL, LB_RANGE(0, 8, 2), LB_AT(-1)): axes not mentioned stay whole. */
#define lb_slice(x, ...) lb_slice_n((x), LB_COUNTED_(lb_index, __VA_ARGS__))
LB_API lb_tensor *lb_slice_n(lb_tensor *x, int n, const lb_index *index);

/* ---- reductions, over the given axes; keepdims leaves them as size 1 ---- */

LB_API lb_tensor *lb_sum(lb_tensor *x, lb_list axes, bool keepdims); /* bool and small ints: i32 or u32 at least */
LB_API lb_tensor *lb_mean(lb_tensor *x, lb_list axes, bool keepdims); /* integers: f32, summed in double, as lb_var() */
/* Of complex numbers as lb_maximum(): NaN wins, then the real parts count, then the imaginary. */
LB_API lb_tensor *lb_max(lb_tensor *x, lb_list axes, bool keepdims);
LB_API lb_tensor *lb_min(lb_tensor *x, lb_list axes, bool keepdims);
/* lb_min() and lb_max(). False, with both NULL, on error. */
LB_API bool lb_minmax(lb_tensor *x, lb_list axes, bool keepdims, lb_tensor **least, lb_tensor **most);
LB_API lb_tensor *lb_prod(lb_tensor *x, lb_list axes, bool keepdims);
/* The mean of |x - mean|^2, but divided by the number less ddof; of complex numbers it is f32. */
LB_API lb_tensor *lb_var(lb_tensor *x, lb_list axes, bool keepdims, int ddof);
LB_API lb_tensor *lb_std(lb_tensor *x, lb_list axes, bool keepdims, int ddof); /* its root */
/* The middle one of the sorted elements, or the mean of the two in the middle: integers give f32; NaN if any is NaN. */
LB_API lb_tensor *lb_median(lb_tensor *x, lb_list axes, bool keepdims);
LB_API lb_tensor *lb_trace(lb_tensor *x, int64_t k, int axis_1, int axis_2); /* the sum of lb_diagonal() */
LB_API lb_tensor *lb_all(lb_tensor *x, lb_list axes, bool keepdims);
LB_API lb_tensor *lb_any(lb_tensor *x, lb_list axes, bool keepdims);
LB_API lb_tensor *lb_logsumexp(lb_tensor *x, lb_list axes, bool keepdims);
/* u32 indices along one axis, or, with LB_ALL_AXES, into the row-major elements. */
LB_API lb_tensor *lb_argmax(lb_tensor *x, lb_list axis, bool keepdims);
LB_API lb_tensor *lb_argmin(lb_tensor *x, lb_list axis, bool keepdims);
/* Of f32 and halves in float, where powers that would be subnormal, those of less than -87.3, are 0. */
LB_API lb_tensor *lb_softmax(lb_tensor *x, lb_list axes);

/* ---- products, joins, gathers ---- */

/* (…, m, k) x (…, k, n): batch axes broadcast; a vector is a row on the left, a
 * column on the right. Floating and complex dtypes, as in MLX; lb_einsum() takes integers, too. */
LB_API lb_tensor *lb_matmul(lb_tensor *a, lb_tensor *b);
/* Likewise of two matrices or batches of f16 or bf16, where each product and each sum is rounded to that, one after the
 * other: so some other runtimes compute it, to whose values it is compared. Slow, and of fewer digits. */
LB_API lb_tensor *lb_matmul_in_steps(lb_tensor *a, lb_tensor *b);
/* a (…, m, k) and b (…, k, n): the products of the matrices at the indices, integers that count the matrices of all
 * batch axes in row-major order and broadcast against each other; NULL: all of them, along their batch axes. What is
 * chosen is copied. */
LB_API lb_tensor *lb_gather_mm(lb_tensor *a, lb_tensor *b, lb_tensor *a_indices, lb_tensor *b_indices);
/* a (…, m, k) @ b (…, k, n), where of the blocks of block_size rows and columns those count that the masks keep, which have
 * an element for each (at the end of an axis a block is shorter), or 1 for all along it: mask_out (…, ceil(m / block_size),
 * ceil(n / block_size)), of the result, whose other blocks are 0, mask_a and mask_b likewise; NULL: all. Batch axes of all of
 * them broadcast. Masks are bool (what they drop is neither multiplied nor looked at, NaN or not), or floating: factors of
 * their blocks. */
LB_API lb_tensor *lb_block_masked_mm(lb_tensor *a, lb_tensor *b, int64_t block_size, lb_tensor *mask_out,
				     lb_tensor *mask_a, lb_tensor *mask_b);
/* a (m, k), b (k, n) and segments (…, 2), integers: (…, m, n), for each segment [begin, end) the columns of a in it times the
 * rows of b in it, or 0 if it is empty. One that does not lie in 0 … k fails when it is computed. */
LB_API lb_tensor *lb_segmented_mm(lb_tensor *a, lb_tensor *b, lb_tensor *segments);
/* Hadamard's matrix times the last axis, which is 1, 12, 20 or 28 times a power of 2 long, times scale, or, of 0, 1 / sqrt(n).
 * Halves are computed in f32 and rounded once; integers give f32. */
LB_API lb_tensor *lb_hadamard_transform(lb_tensor *x, double scale);
/* alpha * (a @ b) + beta * c */
LB_API lb_tensor *lb_addmm(lb_tensor *c, lb_tensor *a, lb_tensor *b, double alpha, double beta);
LB_API lb_tensor *lb_concatenate(int n, lb_tensor *const *xs, int axis);
LB_API lb_tensor *lb_stack(int n, lb_tensor *const *xs, int axis);
/* Writes n equal parts along axis to parts; the axis must divide by n. */
LB_API bool lb_split(lb_tensor *x, int n, int axis, lb_tensor **parts);
/* Writes at.n + 1 parts: up to the first index, from each to the next, and from the last one on, as lb_slice() has ranges. */
LB_API bool lb_split_at(lb_tensor *x, lb_list at, int axis, lb_tensor **parts);
/* The elements move by.v[i] places up along axes.v[i], those at the end to the beginning; one distance may be for all axes.
 * LB_ALL_AXES: along the row-major elements. */
LB_API lb_tensor *lb_roll(lb_tensor *x, lb_list by, lb_list axes);
/* Each place along the axis that often: 0, 0, 1, 1, … */
LB_API lb_tensor *lb_repeat(lb_tensor *x, int64_t times, int axis);
/* x that often along each of its last axes, or of new ones in front: 0, 1, 0, 1, … */
LB_API lb_tensor *lb_tile(lb_tensor *x, lb_list times);
/* Of n lines the coordinates of their grid: out[i] is (size of xs[0], size of xs[1], …), and xs[i] along axis i; not by_rows:
 * of the first two the axes are swapped (NumPy's indexing "xy"). Sparse: other axes are 1 long. */
LB_API bool lb_meshgrid(int n, lb_tensor *const *xs, bool by_rows, bool sparse, lb_tensor **out);
/* x with zeros on one side of diagonal k of the last two axes: above it, or below. */
LB_API lb_tensor *lb_tril(lb_tensor *x, int64_t k);
LB_API lb_tensor *lb_triu(lb_tensor *x, int64_t k);
/* Of a line the matrix that has it on diagonal k, zeros elsewhere; of a matrix its diagonal k. */
LB_API lb_tensor *lb_diag(lb_tensor *x, int64_t k);
/* Elements of x at the integer indices along axis: x's shape with that axis replaced
 * by the indices' shape. Negative indices count from the end; one out of range is an
 * error of the evaluation. */
LB_API lb_tensor *lb_take(lb_tensor *x, lb_tensor *indices, int axis);
/* As NumPy's: indices has x's rank; other axes broadcast. */
LB_API lb_tensor *lb_take_along_axis(lb_tensor *x, lb_tensor *indices, int axis);
/* Sums of products over pairs of axes: a's other axes, then b's. Integers, too; the operands' common dtype. */
LB_API lb_tensor *lb_tensordot(lb_tensor *a, lb_tensor *b, lb_list axes_a, lb_list axes_b);
LB_API lb_tensor *lb_inner(lb_tensor *a, lb_tensor *b); /* over the last axes; a product with a scalar */
LB_API lb_tensor *lb_outer(lb_tensor *a, lb_tensor *b); /* (a's elements, b's) */
/* Kronecker's product: each element of a times b, of at most 4 axes; one with fewer gets some in front. */
LB_API lb_tensor *lb_kron(lb_tensor *a, lb_tensor *b);
#define LB_EINSUM_MOST 16 /* operands */
/* Einstein's summation over n operands, as NumPy's: "bij,bjk->bik", "...ij,...jk". A label that is
 * not in the result is summed over, one that an operand has twice is its diagonal; axes that are 1
 * long broadcast. Without "->" the result has the ellipsis, then the labels that come once, sorted.
 * Two at a time, in the order of lb_einsum_path(), by matrix products where it can; the operands' common dtype. */
LB_API lb_tensor *lb_einsum(const char *spec, int n, lb_tensor *const *xs);
/* The order in which it does: n - 1 pairs of places among what is left, behind which their product then comes. The pair is next that
 * leaves the fewest elements beside what it takes away. False on error. */
LB_API bool lb_einsum_path(const char *spec, int n, lb_tensor *const *xs, int (*pairs)[2]);

/* ---- updates: x with some of its elements replaced or added to ----
 *
 * The result is a tensor of its own, of x's shape and dtype; what is put in is cast to that and
 * broadcast. Where one element is added to several times, halves are summed in float and f32 in
 * double, in row-major order, and rounded once. x is copied, except where nobody could tell: if
 * the update is the last to use x, it writes into x's memory. That holds for an intermediate of
 * the evaluation, and for a value from an earlier one to which the update has the only reference
 * left (no scope, no lb_keep(), no view of it), provided that the result stays. So a cache takes
 * new elements without being copied:
 *
 *	lb_tensor *cache = lb_keep(lb_zeros(LB_SHAPE(heads, length, features), LB_F16));
 *	for (int64_t i = 0; i < n; i++)
 *		LB_SCOPE {
 *			lb_replace(&cache, lb_slice_update(cache, row, LB_ALL, LB_AT(i)));
 *			lb_eval(next(lb_slice(cache, LB_ALL, LB_TO(i + 1))), cache);
 *		}
 *	lb_release(cache);
 *
 * (Open a scope around what makes the first cache, if it is evaluated before the loop.) */

/* lb_slice_update(x, update, LB_ALL, LB_RANGE(0, 8)): lb_slice() of x is the update afterwards. */
#define lb_slice_update(x, update, ...) lb_slice_update_n((x), (update), LB_COUNTED_(lb_index, __VA_ARGS__))
LB_API lb_tensor *lb_slice_update_n(lb_tensor *x, lb_tensor *update, int n, const lb_index *index);
/* The update is added there: the adjoint of lb_slice(). */
#define lb_slice_add(x, update, ...) lb_slice_add_n((x), (update), LB_COUNTED_(lb_index, __VA_ARGS__))
LB_API lb_tensor *lb_slice_add_n(lb_tensor *x, lb_tensor *update, int n, const lb_index *index);
/* The update is added to what lb_as_strided(x, update's shape, strides, offset) reaches, which may
 * be the same element more than once: the adjoint of lb_as_strided(). */
LB_API lb_tensor *lb_strided_add(lb_tensor *x, lb_tensor *update, lb_list strides, int64_t offset);
/* Updates, of the shape that lb_take(x, indices, axis) has, are added where it would read; an
 * index may come more than once. Indices as for lb_take(). Its adjoint. */
LB_API lb_tensor *lb_scatter_add(lb_tensor *x, lb_tensor *indices, lb_tensor *updates, int axis);
typedef enum lb_put {
	LB_PUT_ASSIGN, /* of several values for one element the last along the axis stays */
	LB_PUT_ADD,
	/* each value in its turn, rounded to the dtype; real numbers; without a gradient */
	LB_PUT_MULTIPLY,
	LB_PUT_MAX, /* NaN wins, as it does in lb_maximum() */
	LB_PUT_MIN
} lb_put;
/* As NumPy's: indices has x's rank and broadcasts to x's shape besides `axis`; values broadcast to
 * that. With LB_PUT_ADD the adjoint of lb_take_along_axis(). */
LB_API lb_tensor *lb_put_along_axis(lb_tensor *x, lb_tensor *indices, lb_tensor *values, int axis, lb_put how);

/* ---- what models are made of ---- */

/* Operands are promoted to one dtype, which must be floating. Halves are computed in float and
 * rounded once. */

/* x @ weight.T + bias: x (…, inputs), weight (outputs, inputs), bias (outputs) or NULL. */
LB_API lb_tensor *lb_linear(lb_tensor *x, lb_tensor *weight, lb_tensor *bias);
/* Rows of weight (entries, features) at integer indices, as lb_take() along axis 0. */
LB_API lb_tensor *lb_embedding(lb_tensor *weight, lb_tensor *indices);
/* These fuse like any elementwise operation; of integers they give f32. */
LB_API lb_tensor *lb_silu(lb_tensor *x); /* x * sigmoid(x) */
LB_API lb_tensor *lb_gelu(lb_tensor *x); /* x * (1 + erf(x / sqrt(2))) / 2 */
LB_API lb_tensor *lb_gelu_tanh(lb_tensor *x); /* its approximation by tanh */
/* logsumexp(logits) - logits at the target, over the last axis: logits (…, classes) of a floating dtype, targets (…) integers,
 * which lb_take_along_axis() takes as indices. In f32, as is the result, or f64 of f64. */
LB_API lb_tensor *lb_cross_entropy(lb_tensor *logits, lb_tensor *targets);
/* A new last axis of n classes: 1 at the index, else 0. An index out of range, negative ones
 * too, has no 1. */
LB_API lb_tensor *lb_one_hot(lb_tensor *indices, int64_t n, lb_dtype dtype);
/* Over the last axis, in float (f64: double): (x - mean) / sqrt(variance + eps) * weight + bias;
 * weight and bias are vectors, either may be NULL. */
LB_API lb_tensor *lb_layer_norm(lb_tensor *x, lb_tensor *weight, lb_tensor *bias, double eps);
/* x / sqrt(mean of x^2 + eps) * weight; weight may be NULL. */
LB_API lb_tensor *lb_rms_norm(lb_tensor *x, lb_tensor *weight, double eps);
/* Rotary position embedding of x (…, positions, features): pair i of the first `dims` features
 * (an even number; the rest stay) turns by (offset + position) * scale * base^(-2i/dims).
 * Pairs are features 2i and 2i+1 if traditional, else i and dims/2 + i. */
LB_API lb_tensor *lb_rope(lb_tensor *x, int64_t dims, bool traditional, double base, double scale, int64_t offset);
/* softmax(scale * q k^T) v, without ever holding all scores: q (batch, heads, queries, features),
 * k and v (batch, fewer heads, keys, features), where each head of k and v serves as many heads of
 * q. If causal, query i sees the keys up to i + keys - queries. mask, which broadcasts to (batch,
 * heads, queries, keys), or NULL: bool, true where a key may be seen, or floating, added to the
 * scores as it is, in float. A query that sees no key gives zeros. Computed in float (f64: double). A key
 * whose score is 88 (f64: 708) below a query's highest counts as none: its power would be subnormal. */
LB_API lb_tensor *lb_attention(lb_tensor *q, lb_tensor *k, lb_tensor *v, double scale, bool causal, lb_tensor *mask);
/* Convolutions (correlations, as the field has it): weight slides over the middle axes of x.
 * Zero means 1 for stride, dilation and groups. */
typedef struct lb_conv_options {
	int64_t stride[2], padding[2], dilation[2]; /* rows, columns; conv1d takes the first */
	int64_t groups; /* parts of the channels that do not mix */
} lb_conv_options;
/* x (batch, length, channels), weight (outputs, length, channels / groups). */
LB_API lb_tensor *lb_conv1d(lb_tensor *x, lb_tensor *weight, lb_conv_options options);
/* x (batch, rows, columns, channels), weight (outputs, rows, columns, channels / groups). */
LB_API lb_tensor *lb_conv2d(lb_tensor *x, lb_tensor *weight, lb_conv_options options);
typedef struct lb_conv3d_options {
	int64_t stride[3], padding[3], dilation[3]; /* depth, rows, columns */
	int64_t groups;
} lb_conv3d_options;
/* x (batch, depth, rows, columns, channels), weight (outputs, depth, rows, columns, channels / groups): a sum of
 * convolutions of two axes, one for each tap along the depth. */
LB_API lb_tensor *lb_conv3d(lb_tensor *x, lb_tensor *weight, lb_conv3d_options options);
/* Transposed convolutions: each element of x is spread over the places that a convolution of this stride, padding and
 * dilation would compute it from. Shapes as those of lb_conv1d() and lb_conv2d(); the result is (n - 1) * stride - 2 *
 * padding + dilation * (taps - 1) + 1 + output_padding long; output_padding.v has two numbers, or is LB_SHAPE() for none. */
LB_API lb_tensor *lb_conv_transpose1d(lb_tensor *x, lb_tensor *weight, lb_conv_options options, int64_t output_padding);
LB_API lb_tensor *lb_conv_transpose2d(lb_tensor *x, lb_tensor *weight, lb_conv_options options, lb_list output_padding);
/* Of shapes as those of lb_conv3d(); output_padding has three numbers, or none. */
LB_API lb_tensor *lb_conv_transpose3d(lb_tensor *x, lb_tensor *weight, lb_conv3d_options options,
				      lb_list output_padding);
/* The convolution of two lines, one of which is turned round: all n + m - 1 numbers, as many as the longer has, from the
 * middle, or those that all of the shorter takes part in. Floating dtypes. */
typedef enum lb_convolve_mode { LB_CONVOLVE_FULL, LB_CONVOLVE_SAME, LB_CONVOLVE_VALID } lb_convolve_mode;
LB_API lb_tensor *lb_convolve(lb_tensor *a, lb_tensor *b, lb_convolve_mode mode);
/* x with low.v[i] elements of value before axis i and high.v[i] after it; each list has x's rank,
 * or is LB_SHAPE() for none. x's dtype. */
LB_API lb_tensor *lb_pad(lb_tensor *x, lb_list low, lb_list high, double value);
LB_API lb_tensor *lb_pad_edge(lb_tensor *x, lb_list low, lb_list high); /* the same with the elements at the edge */

/* ---- linear algebra ----
 *
 * Of matrices, the last two axes, and batches of them, as mlx.core.linalg has it: of f32 or f64, and lb_svd, lb_svdvals,
 * lb_pinv, lb_eigh, lb_eigvalsh, lb_eig and lb_eigvals of complex64, too (lb_det, lb_slogdet, lb_norm and lb_cross: of what
 * their comments say). LAPACK computes it, that of OpenBLAS, which is opened at the first
 * need, or one that the program links; without one that is an error of the evaluation, and so is a matrix that is singular
 * where it must not be. Gradients pass through all but lb_qr(), lb_svd(), lb_svdvals(), lb_pinv(),
 * lb_eig(), lb_eigvals(), lb_lu() and lb_lu_factor(), which say so. */

LB_API lb_tensor *lb_inv(lb_tensor *x);
/* Of the lower triangle, or the upper; the other one is not read, and zeros. */
LB_API lb_tensor *lb_tri_inv(lb_tensor *x, bool upper);
/* L, lower, with L L^T = x, or the upper U with U^T U = x, of a symmetric x, of which that triangle is read. One that is not
 * positive definite is an error (MLX gives what LAPACK has left). */
LB_API lb_tensor *lb_cholesky(lb_tensor *x, bool upper);
/* The inverse of L L^T, or U^T U, of a factor as lb_cholesky() gives it. */
LB_API lb_tensor *lb_cholesky_inv(lb_tensor *factor, bool upper);
/* x with a x = b: b is (…, n, k), or a vector (n); batch axes broadcast. */
LB_API lb_tensor *lb_solve(lb_tensor *a, lb_tensor *b);
/* The same where a is the lower triangle, or the upper; the other one is not read. */
LB_API lb_tensor *lb_solve_triangular(lb_tensor *a, lb_tensor *b, bool upper);
/* The pseudo-inverse (…, n, m): singular values below 10 * max(m, n) * eps * the largest count as 0. */
LB_API lb_tensor *lb_pinv(lb_tensor *x);
/* x = q r: of (…, m, n), where k is the smaller of both, q (…, m, k) and r (…, k, n). Results of one operation; false,
 * and all NULL, on error, as below. */
LB_API bool lb_qr(lb_tensor *x, lb_tensor **q, lb_tensor **r);
/* x = u s vt: u (…, m, m), the singular values (…, k), which are real, from the largest on, and vt (…, n, n). NaN or Inf in x is an
 * error of the evaluation. */
LB_API bool lb_svd(lb_tensor *x, lb_tensor **u, lb_tensor **s, lb_tensor **vt);
LB_API lb_tensor *lb_svdvals(lb_tensor *x); /* the values alone: MLX's svd without compute_uv */
/* Of a symmetric matrix, or a Hermitian one, of which the lower triangle is read, or the upper, and of a complex diagonal the
 * real parts, the eigenvalues (…, n), real and ascending, and as columns
 * their vectors (…, n, n). NaN or Inf in x is an error of the evaluation. */
LB_API bool lb_eigh(lb_tensor *x, bool upper, lb_tensor **values, lb_tensor **vectors);
LB_API lb_tensor *lb_eigvalsh(lb_tensor *x, bool upper);
/* Of any square matrix, in complex64: eigenvalues (…, n), in no order, and as columns their vectors (…, n, n), of length 1. NaN
 * or Inf in x is an error of the evaluation. */
LB_API bool lb_eig(lb_tensor *x, lb_tensor **values, lb_tensor **vectors);
LB_API lb_tensor *lb_eigvals(lb_tensor *x);
/* x (…, m, n) as the product of l (…, m, k), which is lower and has ones on its diagonal, and the upper u (…, k, n), but for
 * the order of its rows: row i of x is row rows[i] of l u (u32). */
LB_API bool lb_lu(lb_tensor *x, lb_tensor **rows, lb_tensor **l, lb_tensor **u);
/* The same as LAPACK has it: l and u in one, without the ones, and swaps (…, k), u32: row i was swapped with row swaps[i],
 * one after another. */
LB_API bool lb_lu_factor(lb_tensor *x, lb_tensor **lu, lb_tensor **swaps);
/* The determinant (…). Halves are computed in f32 and rounded once, integers give f32; no complex numbers. Its gradient
 * needs the inverse. */
LB_API lb_tensor *lb_det(lb_tensor *x);
/* Its sign, -1, 0 or 1, and the logarithm of its absolute value. */
LB_API bool lb_slogdet(lb_tensor *x, lb_tensor **sign, lb_tensor **logabs);
/* The square root of the sum of |x|^2 over the axes; of floating and complex dtypes, integers give f32. */
LB_API lb_tensor *lb_norm(lb_tensor *x, lb_list axes, bool keepdims);
/* Along an axis: (sum of |x|^order)^(1/order); order 0: how many are not 0; INFINITY: the largest |x|, -INFINITY: the least. */
LB_API lb_tensor *lb_vector_norm(lb_tensor *x, double order, int axis, bool keepdims);
/* Of the matrices of two axes, by what MLX's norm() has as ord: 1 or -1: the largest or least sum of |x| of a column; INFINITY,
 * -INFINITY: of a row; 2, -2: the largest or least singular value; 0: the sum of all of them ("nuc"). lb_norm() is "fro". */
LB_API lb_tensor *lb_matrix_norm(lb_tensor *x, double order, int rows, int columns, bool keepdims);
/* Along an axis of 2 or 3 elements, where a third is 0 (if both have 2, there are 3 in the result all the same); the others
 * broadcast. */
LB_API lb_tensor *lb_cross(lb_tensor *a, lb_tensor *b, int axis);

/* ---- Fourier transforms ----
 *
 * As mlx.core.fft has them, of f32 and complex64, whatever x is cast from. FFTW computes them, its library of single
 * precision, which is opened at the first need, or one that the program links; without one that is an error of the
 * evaluation. Gradients pass through all of them.
 *
 * n, or sizes.v[i] for axes.v[i], is the length that is transformed: x is cut, or zeros are added behind it. 0, or LB_SHAPE():
 * as long as x is. Of nothing there is no transform.
 *
 * fft: y[k] = sum over j of x[j] * exp(-2 pi i j k / n), for n numbers. ifft: the inverse, with + in place of -. rfft: fft of
 * real numbers, of which the first n / 2 + 1 tell the others, too. irfft: the inverse of that, n real numbers; by default 2
 * * (x's - 1). Of several axes the last in the list is the one of which half is there. */
typedef enum lb_fft_norm {
	LB_FFT_BACKWARD, /* the inverse is divided by n, the number of elements that are transformed together */
	LB_FFT_ORTHO, /* both by the root of n */
	LB_FFT_FORWARD /* the others are */
} lb_fft_norm;
LB_API lb_tensor *lb_fft(lb_tensor *x, int64_t n, int axis, lb_fft_norm norm);
LB_API lb_tensor *lb_ifft(lb_tensor *x, int64_t n, int axis, lb_fft_norm norm);
LB_API lb_tensor *lb_rfft(lb_tensor *x, int64_t n, int axis, lb_fft_norm norm);
LB_API lb_tensor *lb_irfft(lb_tensor *x, int64_t n, int axis, lb_fft_norm norm);
/* Along several axes. Sizes go with axes that are listed, not with LB_ALL_AXES; of no axes (LB_AXES()) it is x itself. */
LB_API lb_tensor *lb_fftn(lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm);
LB_API lb_tensor *lb_ifftn(lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm);
LB_API lb_tensor *lb_rfftn(lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm);
LB_API lb_tensor *lb_irfftn(lb_tensor *x, lb_list sizes, lb_list axes, lb_fft_norm norm);
/* Along the last two. */
LB_API lb_tensor *lb_fft2(lb_tensor *x, lb_list sizes, lb_fft_norm norm);
LB_API lb_tensor *lb_ifft2(lb_tensor *x, lb_list sizes, lb_fft_norm norm);
LB_API lb_tensor *lb_rfft2(lb_tensor *x, lb_list sizes, lb_fft_norm norm);
LB_API lb_tensor *lb_irfft2(lb_tensor *x, lb_list sizes, lb_fft_norm norm);
/* Element 0 goes to the middle, n / 2, along the axes; and back. Any dtype. */
LB_API lb_tensor *lb_fftshift(lb_tensor *x, lb_list axes);
LB_API lb_tensor *lb_ifftshift(lb_tensor *x, lb_list axes);
/* The frequencies that lb_fft() and lb_rfft() of n samples give, in f32: 0, 1, … / (n * apart), where the upper half of the first is
 * negative. */
LB_API lb_tensor *lb_fftfreq(int64_t n, double apart);
LB_API lb_tensor *lb_rfftfreq(int64_t n, double apart);
/* Frames of a line, which overlap, each transformed. 0 means the default. */
typedef enum lb_stft_ends { LB_STFT_REFLECT, LB_STFT_ZEROS, LB_STFT_EDGE } lb_stft_ends;
typedef struct lb_stft_options {
	int64_t n, hop; /* elements of a frame (2048), and from one to the next (n / 4) */
	int64_t window; /* without a window: how many ones there are, in the middle of a frame (n) */
	bool
	    uncentred; /* frame i begins at i * hop; else it has that in its middle, and the line n / 2 elements more at both */
	lb_stft_ends ends; /* ends: mirrored, zeros, or the last element */
	lb_fft_norm norm;
	bool two_sided; /* n frequencies; else, of real numbers, n / 2 + 1 */
} lb_stft_options;
/* x (…, length): (…, frequencies, frames), complex64. The window, a line, is multiplied with each frame, in its middle; NULL:
 * ones. Complex numbers have all frequencies. */
LB_API lb_tensor *lb_stft(lb_tensor *x, lb_tensor *window, lb_stft_options options);
/* The line (…, length), f32, from what lb_stft() gave with this window, of real numbers, and these options: frames times the
 * window are added, and divided by the sum of its squares there, or by 1e-8. n is by default what the frequencies are of.
 * length: 0, or so many elements, with zeros behind them. */
LB_API lb_tensor *lb_istft(lb_tensor *x, lb_tensor *window, lb_stft_options options, int64_t length);

/* ---- gradients' building blocks ----
 *
 * `grad` is the gradient of a scalar by the result of the operation; what is given back is that by
 * its inputs, in the common dtype of what is given, which must be floating. Halves are computed in
 * float and rounded once. See also the updates above. */

typedef struct lb_norm_grads {
	lb_tensor *x, *weight, *bias;
} lb_norm_grads;
/* Of lb_layer_norm(x, weight, …, eps): each a lazy tensor of its own; weight NULL for a NULL weight.
 * All are NULL on error. */
LB_API lb_norm_grads lb_layer_norm_grad(lb_tensor *x, lb_tensor *weight, lb_tensor *grad, double eps);
/* Of lb_rms_norm(); bias is NULL. */
LB_API lb_norm_grads lb_rms_norm_grad(lb_tensor *x, lb_tensor *weight, lb_tensor *grad, double eps);
typedef struct lb_attention_grads {
	lb_tensor *q, *k, *v;
} lb_attention_grads;
/* Of lb_attention(), for a mask that is constant. Views of one tensor, which is computed as a whole;
 * scores are computed anew, a block at a time. All are NULL on error. */
LB_API lb_attention_grads lb_attention_grad(lb_tensor *q, lb_tensor *k, lb_tensor *v, double scale, bool causal,
					    lb_tensor *mask, lb_tensor *grad);
/* Of lb_conv2d(x, weight, options), by x and by weight. */
LB_API lb_tensor *lb_conv2d_input_grad(lb_list x_shape, lb_tensor *weight, lb_tensor *grad, lb_conv_options options);
LB_API lb_tensor *lb_conv2d_weight_grad(lb_tensor *x, lb_list weight_shape, lb_tensor *grad, lb_conv_options options);

/* ---- order, scans, sampling ---- */

/* Along the axis, ascending, NaN last, equal elements as they came; any dtype but c64. */
LB_API lb_tensor *lb_sort(lb_tensor *x, int axis);
LB_API lb_tensor *lb_argsort(lb_tensor *x, int axis); /* u32 indices */
/* How many elements of a sorted line are below each value, or, on the right, are not above it: where it could be put in
 * (u32, of the values' shape). In the common dtype of both, any but c64; NaN is the largest and equals NaN. A line that is
 * not sorted gives some place. */
LB_API lb_tensor *lb_searchsorted(lb_tensor *sorted, lb_tensor *values, bool right);
typedef struct lb_uniques {
	lb_tensor *values, *indices, *inverse, *counts;
} lb_uniques;
/* The different elements of x, ascending, NaN last, each of which is one of its own; any dtype but c64. There are `size` of
 * them in the result: of more the least; behind fewer stands fill, one number, or, of NULL, the least. indices (u32) are where
 * each comes first among the row-major elements, counts (i32) how often, 0 behind the last; inverse (u32, of x's shape) is
 * which each element of x is, or size - 1 where that has no place. Lazy tensors, of which those that nobody asks for cost
 * nothing; gradients pass to x through the values. All are NULL on error. */
LB_API lb_uniques lb_unique(lb_tensor *x, int64_t size, lb_tensor *fill);
/* The k largest along the axis, from the largest on; NaN counts as the largest. */
LB_API lb_tensor *lb_topk(lb_tensor *x, int64_t k, int axis);
/* The kth smallest along the axis is in its place, counted from 0, or, if negative, from the end; none in front of it is
 * larger, none behind it smaller. In which order these are is that of std::nth_element() of GNU's C++ library. NaN counts
 * as the largest. Not of i64 and u64. */
LB_API lb_tensor *lb_partition(lb_tensor *x, int64_t kth, int axis);
LB_API lb_tensor *lb_argpartition(lb_tensor *x, int64_t kth, int axis); /* u32 indices */
/* Each element along the axis less the one before it, n times over: the axis becomes n shorter, down to 0. Of bool whether they
 * differ; integers wrap. */
LB_API lb_tensor *lb_diff(lb_tensor *x, int n, int axis);
/* Sums of the elements up to each along the axis; before it, if not inclusive; from the end, if
 * reverse. x's dtype, i32 of bool; integers wrap, f16, bf16 and f32 are summed in double. */
LB_API lb_tensor *lb_cumsum(lb_tensor *x, int axis, bool reverse, bool inclusive);
/* Likewise sums, products, maxima or minima, each rounded to x's dtype on the way; of complex numbers the first two; of bool
 * what all or any of them are is their minimum or maximum. NaN wins. What stands before the first is 0, 1, or the dtype's least or greatest. LOGADDEXP: the
 * logarithm of the sum of the exponentials, where -Inf stands before the first; integers give f32. */
typedef enum lb_scan_kind { LB_SCAN_SUM, LB_SCAN_PROD, LB_SCAN_MAX, LB_SCAN_MIN, LB_SCAN_LOGADDEXP } lb_scan_kind;
LB_API lb_tensor *lb_scan(lb_tensor *x, lb_scan_kind kind, int axis, bool reverse, bool inclusive);
/* lb_scan() by MLX's names. */
LB_API lb_tensor *lb_cumprod(lb_tensor *x, int axis, bool reverse, bool inclusive);
LB_API lb_tensor *lb_cummax(lb_tensor *x, int axis, bool reverse, bool inclusive);
LB_API lb_tensor *lb_cummin(lb_tensor *x, int axis, bool reverse, bool inclusive);
LB_API lb_tensor *lb_logcumsumexp(lb_tensor *x, int axis, bool reverse, bool inclusive);
/* Draws an index along the axis, with probabilities softmax(logits): u32, without that axis. A
 * function of the logits and the key alone. To draw several, broadcast the logits first. */
LB_API lb_tensor *lb_categorical(lb_tensor *logits, int axis, lb_random_key key);

/* ---- quantisation ----
 *
 * Groups of elements along the last axis become small codes and a scale. Layouts are MLX's
 * (mlx.core.quantize), so files go both ways: codes are packed into u32 words, the first
 * in the lowest bits, without gaps (8 codes of 3 or 5 bits in 3 or 5 bytes), so that k
 * elements take k * bits / 32 words.
 *
 *	mode    group        bits              code             scales (…, k / group)
 *	affine  32, 64*, 128 2, 3, 4*, 5, 6, 8 unsigned integer x's dtype; biases too
 *	mxfp4   32           4                 e2m1             u8, e8m0: 2^(s - 127)
 *	mxfp8   32           8                 e4m3             u8, e8m0
 *	nvfp4   16           4                 e2m1             u8, e4m3
 *
 * affine: x = code * scale + bias (the rounding of MLX's affine_quantize: the end of the
 * range with the larger magnitude is exact, the scale's sign follows it). e2m1 (0, 0.5, 1,
 * 1.5, 2, 3, 4, 6), e4m3 (without Inf, largest 448), e8m0 (255 is NaN): OCP Microscaling
 * Formats (MX) specification 1.0, section 5; scales are the least power of two that is not
 * below the group's largest magnitude over the format's, so that nothing saturates. nvfp4: e2m1
 * under e4m3 scales; with a global scale (f32, one element, the tensor's largest magnitude)
 * each scale is further multiplied by global_scale / (448 * 6). Codes round half to even
 * and saturate; the arithmetic is that of f32, rounded once at the end.
 *
 * A group with a NaN or Inf gets a NaN scale: all of it is NaN after dequantisation. */
typedef enum lb_quant_mode { LB_QUANT_AFFINE, LB_QUANT_MXFP4, LB_QUANT_MXFP8, LB_QUANT_NVFP4 } lb_quant_mode;

/* bits and group of 0 are the mode's default (* above, or the only one). Of activations only
 * lb_quantized_matmul() and lb_gather_qmm() take notice. */
typedef struct lb_quant {
	lb_quant_mode mode;
	int bits, group;
	lb_dtype activations; /* LB_I8: x is rounded to 8 bits; 0: it is not */
} lb_quant;

/* A quantised tensor: biases are for affine alone, global_scale (NULL is fine) for nvfp4. */
typedef struct lb_quantized {
	lb_tensor *w, *scales, *biases, *global_scale;
} lb_quantized;

/* x (…, k) of f16, bf16 or f32, k divisible by the group. Each member is a lazy tensor of its
 * own; all are NULL on error. global_scale: NULL, or for nvfp4. */
LB_API lb_quantized lb_quantize(lb_tensor *x, lb_quant how, lb_tensor *global_scale);
/* The values as f16, bf16 or f32. */
LB_API lb_tensor *lb_dequantize(lb_quantized q, lb_quant how, lb_dtype dtype);
/* x (…, m, k) @ w, w being quantised from (…, n, k) and multiplied as its transpose
 * (transpose = true, MLX's default), or from (…, k, n). The result has x's dtype (f16, bf16
 * or f32), promoted with that of affine scales. x may be a vector; batch axes broadcast.
 * The dequantised w is never in memory as a whole. One row of x that meets codes of 4 bits,
 * transpose being true, or more than two where the processor has AVX512-VNNI, is taken to 22 bits
 * beside the largest magnitude M of each 32 elements (from a multiple of 32 on): each is off by
 * 2^-22 M at most, and none if all are whole multiples, below 2^22, of a power of two; M below
 * 2^-100 counts as 0. A row that is not finite stays as it is. Where the processor has AMX, 16
 * rows and more (128 in groups of 16) are multiplied as they are, in as many bfloat16 as make up
 * an element, and with AVX512-BF16 alone 8 rows of bf16 and more; what is below 2^-126 there may
 * count as 0.
 * With activations of LB_I8 each 32 elements of a row of x become round(x / s) s, half to even,
 * s = M / 127, unless one of them is not finite: y is off by sum over k of |w| s / 2 at most. With
 * codes of 4 bits, transpose being true, products of bytes are summed then, which is faster; its
 * gradient is that of x as it was. */
LB_API lb_tensor *lb_quantized_matmul(lb_tensor *x, lb_quantized q, lb_quant how, bool transpose);

/* The products of matrices of x (…, m, k) and of w's at the indices, as lb_gather_mm() has them; NULL: all of them. Nothing is
 * copied as a whole, and a matrix of w is decoded once for all that is multiplied with it. Its gradient is by x alone. */
LB_API lb_tensor *lb_gather_qmm(lb_tensor *x, lb_quantized q, lb_tensor *x_indices, lb_tensor *w_indices, lb_quant how,
				bool transpose);

/* ---- functions of tensors, as transformations take them ---- */

/* Reads n_in inputs, makes n_out results. Gets the context that was given beside it. What it
 * opens it closes; the results belong to the innermost scope. False, with an error, on failure. */
typedef bool lb_function(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out);

/* ---- compile ---- */

/* A compiled function is traced once for each key: it is called with tracers, tensors of the
 * inputs' shapes and dtypes without a value; what it made of them is captured, simplified (what
 * no result needs goes, equal operations become one, what depends on no input is computed once and
 * held) and fused: a group of elementwise operations becomes one tensor of op `fused`. Later calls
 * with the same key do not run the function, but make that graph anew over their inputs; results
 * have the same bits as without. The key: how many inputs and results, the inputs' shapes,
 * strides, dtypes, and values of weak scalars, the stream, the constants.
 *
 * So the function must be a function: what it reads besides its inputs (its context, weights)
 * must not change, or be part of `constants`. Evaluating in it what depends on an input is an error;
 * keeping such a tensor beyond it, too, once that is evaluated. Names (lb_named) in it stay only
 * with results and with what is not fused.
 *
 * Within a function that is being traced, here or for a gradient, lb_call() calls the function as
 * it is; and while a debugger watches all tensors for NaN, so that it learns which operation makes
 * one. Gradients inside a function are compiled with it. */
typedef struct lb_compiled lb_compiled;

typedef struct lb_compile_options {
	bool shapeless; /* the key has the number of axes of each input, not their sizes */
	int limit; /* graphs held at most, the least recently used is dropped; 0: 16 */
} lb_compile_options;

/* name (copied, at most 255 bytes; NULL is fine) is for messages and debuggers. The context must live as long.
 * Shapeless: a function with an operation that was given sizes (reshape, broadcast_to, slice,
 * zeros, …) is refused at its first call; so that nothing wrong comes out, it must not read the
 * sizes of its inputs either. NULL on error. */
LB_API lb_compiled *lb_compile(const char *name, lb_function *fn, void *context, lb_compile_options options);
/* NULL is fine. No other thread may be in a call of it. */
LB_API void lb_compiled_free(lb_compiled *compiled);
/* Several threads may call at once. The results are lazy tensors of the innermost scope; on error
 * all are NULL. */
LB_API bool lb_call(lb_compiled *compiled, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out);
/* nbytes at `constants` (copied) become part of the key. */
LB_API bool lb_call_with(lb_compiled *compiled, const void *constants, size_t nbytes, int n_in, lb_tensor *const *in,
			 int n_out, lb_tensor **out);

typedef struct lb_compile_stats {
	uint64_t calls, hits, compiles, evictions;
	int64_t entries; /* graphs held */
	int64_t traced, built; /* tensors of the graph captured last: as traced, and as a call makes them */
	char reason[256]; /* why that was captured: "input 1: shape (3,4), compiled for (2,4)" */
} lb_compile_stats;
LB_API lb_compile_stats lb_compiled_stats(lb_compiled *compiled);

/* ---- gradients ----
 *
 * Reverse mode over what a function builds when it is called: its inputs and results are tensors,
 * and so are the gradients, lazy, of the inputs' shapes and dtypes, and differentiable in turn. The
 * function runs once, on the calling thread, and what it builds there counts; it may evaluate, say
 * to decide a branch. Tensors that it has by its context are constants. Gradients belong to the
 * innermost scope, their `site` is that of the operation whose gradient they are part of.
 *
 * Evaluate the value and its gradients in one lb_eval(): what they have in common is then computed
 * once. An input that the result does not depend on, or only by steps (floor, comparisons,
 * indices), gets zeros; where operands tie for a maximum they share; operations that have no
 * gradient worth the name (quantize) are an error that names them.
 *
 * The result of which a gradient is taken is real, what lies between may be complex, and so may inputs: then the
 * gradient's real part is the derivative by the real part, its imaginary part that by the imaginary part (as in MLX; a step
 * along it makes the result larger). So it is with cotangents, too: that of y = f(x) is multiplied by the conjugate of f'(x). */

/* out[0], one floating number, and its gradients by the inputs wrt[0 … n_wrt) (NULL: by all n_in,
 * which must be floating or complex then). out[1 … n_out) are further results that go along. False, with an
 * error and all out and grads NULL, on failure. */
LB_API bool lb_value_and_grad(lb_function *fn, void *context, int n_in, lb_tensor *const *in, int n_wrt, const int *wrt,
			      int n_out, lb_tensor **out, lb_tensor **grads);
/* The gradients of a function of one result by all its inputs. */
LB_API bool lb_grad(lb_function *fn, void *context, int n_in, lb_tensor *const *in, lb_tensor **grads);
/* Vector-Jacobian products: grads[i] is the sum over the results of cotangents[j] (of out[j]'s
 * shape; NULL: none) times the Jacobian of out[j] by in[i]. */
LB_API bool lb_vjp(lb_function *fn, void *context, int n_in, lb_tensor *const *in, int n_out,
		   lb_tensor *const *cotangents, lb_tensor **out, lb_tensor **grads);
/* Forward mode, the Jacobian times a vector: tangents[i], of in[i]'s shape, or NULL for none, is the direction in which in[i]
 * moves, and out_tangents[j], of out[j]'s shape and dtype, that in which out[j] does: zeros where it does not depend on
 * the inputs that have a tangent, or is of integers. Integer inputs have none. Reverse mode twice (so the same operations
 * have it, and it can be differentiated in turn): about three times the work of fn. The rule of an lb_custom_vjp() is
 * differentiated by its cotangents. Of lb_grad() it is the product of the Hessian and a vector. */
LB_API bool lb_jvp(lb_function *fn, void *context, int n_in, lb_tensor *const *in, lb_tensor *const *tangents,
		   int n_out, lb_tensor **out, lb_tensor **out_tangents);
/* x itself, which gradients take for a constant. */
LB_API lb_tensor *lb_stop_gradient(lb_tensor *x);
/* x itself, computed after the n others. */
LB_API lb_tensor *lb_depends(lb_tensor *x, int n, lb_tensor *const *on);
/* Calls fn. When gradients are taken of the results, its intermediates are not kept for that:
 * the backward pass calls fn again, with the same context, before the outermost
 * lb_value_and_grad(), lb_grad(), lb_vjp() or lb_jvp() around returns. Memory for time. Gradients go to the
 * inputs alone: what fn has by its context is a constant, here and for lb_custom_vjp(). */
LB_API bool lb_checkpoint(lb_function *fn, void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out);
/* Writes to grads[i] the cotangent of in[i], or leaves NULL for none, given those of the results
 * (NULL: none). False, with an error, on failure. */
typedef bool lb_vjp_function(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
			     lb_tensor *const *cotangents, lb_tensor **grads);
/* Calls fn, whose gradient is what vjp says. */
LB_API bool lb_custom_vjp(lb_function *fn, lb_vjp_function *vjp, void *context, int n_in, lb_tensor *const *in,
			  int n_out, lb_tensor **out);

/* ---- functions over a batch ----
 *
 * lb_vmap() calls a function of single tensors over batches of them, as if for each element in turn, with the results
 * stacked; but the function runs once, and each operation in it is made over the whole batch, an ordinary one, which can
 * be differentiated, compiled, mapped again and looked at. Within it a batch of (64, 3) along axis 0 is a tensor (3):
 *
 *	bool far(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
 *	{
 *		out[0] = lb_norm(lb_subtract(in[0], in[1]), LB_ALL_AXES, false); // of (3) and (3)
 *		return out[0] != NULL;
 *	}
 *	// each of (64, 3) from the one point (3): (64)
 *	lb_vmap(far, NULL, 2, (lb_tensor *[]){ points, point }, (int[]){ 0, LB_NO_AXIS }, 1, NULL, &distances);
 */

#define LB_NO_AXIS INT32_MIN /* of an input that is the same for the whole batch, or such a result */

/* in_axes[i] is the axis of in[i] along which the batch lies, of one size in all inputs that have one, and at least one has;
 * out_axes[j] is where it comes to lie in out[j] (NULL: 0 for all). A result that does not depend on the batch is repeated
 * along that axis; one that does needs an axis. The function gets inputs without axis as they are, and of the others
 * tensors without a value: evaluating in it what depends on them is an error. What it keeps of them beyond the call has no
 * value. Tensors in it have LB_MAX_RANK - 1 axes at most. The results have the function's dtypes; they are lazy, of the
 * innermost scope. False, with an error and all out NULL, on failure.
 *
 * Random numbers of one key are the same for all elements; keys of lb_random_bits() may be a batch. These are made once for
 * each element, as many tensors as it has: lb_categorical(); convolutions whose weight depends on the batch, and their
 * gradients by it; what goes by nvfp4's global scale, if that does. Functions that lb_checkpoint() and lb_custom_vjp() call
 * may not have by their context what depends on the batch. */
LB_API bool lb_vmap(lb_function *fn, void *context, int n_in, lb_tensor *const *in, const int *in_axes, int n_out,
		    const int *out_axes, lb_tensor **out);

/* ---- checking functions ---- */

typedef struct lb_check_options {
	double rtol, atol; /* 0: 1e-6 and 1e-8 of float64, 1e-2 and 1e-3 of float32, 1e-1 and 1e-2 of halves */
	double step; /* of the differences, relative to max(1, |x|); 0: 1e-5 of float64, else 1e-2 */
	int64_t samples; /* elements of each input that are tried, spread evenly; 0: 64 */
	int64_t tile[2]; /* rows and columns of the last two axes; 0: 32 */
} lb_check_options;

/* Whether the gradients of fn's result, one floating number, by its inputs, all floating, are what central differences
 * give. False, with an error that names the first input and element where they are not. */
LB_API bool lb_check_grad(lb_function *fn, void *context, int n_in, lb_tensor *const *in, lb_check_options options);
/* Whether fn gives what the reference gives, of random normal inputs of a floating dtype: of each case the shapes of its
 * n_in inputs, shapes[case * n_in + i]. False, with an error that names the case, the result, how many elements differ, and
 * the first tile where they do. NaN equals NaN. */
LB_API bool lb_check_kernel(lb_function *fn, lb_function *reference, void *context, int n_in, int n_out, lb_dtype dtype,
			    int n_cases, const lb_list *shapes, lb_check_options options);

/* ---- optimisers ----
 *
 *	lb_optimizer *o = lb_adamw((lb_adam_options){ .rate = 1e-3, .weight_decay = 0.01 });
 *	for (…)
 *		LB_SCOPE {
 *			lb_value_and_grad(model, &data, n, params, n, NULL, 1, &loss, grads);
 *			lb_optimizer_step(o, n, params, grads, loss);
 *		}
 *
 * The parameters are tensors that the caller keeps (lb_keep()): a step releases each and keeps the
 * one that takes its place, and its name. They come in the same order each time. For f16 and bf16 the arithmetic
 * and the state are f32. */
typedef struct lb_optimizer lb_optimizer;
typedef struct lb_sgd_options {
	double rate, momentum, dampening, weight_decay;
	bool nesterov;
} lb_sgd_options;
/* g = gradient + weight_decay * p; v = momentum * v + (1 - dampening) * g, from 0 on;
 * p -= rate * v, of Nesterov's: rate * (g + momentum * v), without momentum: rate * g. */
LB_API lb_optimizer *lb_sgd(lb_sgd_options options);
typedef struct lb_adam_options {
	double rate, beta1, beta2, eps; /* but for the rate 0 means the default: 0.9, 0.999, 1e-8 */
	double weight_decay;
	bool bias_correction;
} lb_adam_options;
/* m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g^2, from 0 on;
 * p -= rate * m / (sqrt(v) + eps), where bias_correction divides m by 1 - beta1^step, and v by
 * 1 - beta2^step. weight_decay * p is added to the gradient. */
LB_API lb_optimizer *lb_adam(lb_adam_options options);
/* Likewise; weight_decay * rate * p is taken off p instead. */
LB_API lb_optimizer *lb_adamw(lb_adam_options options);
LB_API void lb_optimizer_free(lb_optimizer *o); /* NULL is fine */
/* Replaces the n parameters by what they are after a step, lazy tensors. Evaluate them, with the
 * loss, before the next (their state comes along). On failure they stay as they were. */
LB_API bool lb_optimizer_update(lb_optimizer *o, int n, lb_tensor **params, lb_tensor *const *grads);
/* The same, and evaluates them and the loss (NULL: none) in one evaluation. If that fails they
 * are lazy still. */
LB_API bool lb_optimizer_step(lb_optimizer *o, int n, lb_tensor **params, lb_tensor *const *grads, lb_tensor *loss);
LB_API double lb_optimizer_rate(const lb_optimizer *o);
LB_API bool lb_optimizer_set_rate(lb_optimizer *o, double rate);
LB_API int64_t lb_optimizer_steps(const lb_optimizer *o); /* that it has made */
/* What it keeps from step to step: v of each parameter, or m and v of each; none before the first
 * step. *ret is valid until the next. Returns how many. */
LB_API int lb_optimizer_state(const lb_optimizer *o, lb_tensor *const **ret);
/* Goes on from a state that was saved after so many steps: n floating tensors, none if it was saved
 * before the first. On failure o keeps its own. */
LB_API bool lb_optimizer_restore(lb_optimizer *o, int64_t steps, int n, lb_tensor *const *state);
/* Scales all gradients down by one factor, so that the norm of all their elements together is at
 * most `most`. Writes lazy tensors to clipped (which may be grads) and, unless NULL, to norm the
 * norm that they had. */
LB_API bool lb_clip_by_global_norm(int n, lb_tensor *const *grads, double most, lb_tensor **clipped, lb_tensor **norm);

/* ---- evaluation ---- */

/* lb_eval(x, y, …): computes the values of all. False on error. */
#define lb_eval(...) lb_eval_n(LB_COUNTED_(lb_tensor *, __VA_ARGS__))
LB_API bool lb_eval_n(int n, lb_tensor *const *xs);

/* ---- streams: evaluation by other threads ----
 *
 * Every tensor belongs to the stream that was the calling thread's when it was made. A stream has
 * a thread of its own, made when something is queued on it; the streams run side by side.
 * lb_async_eval() queues and returns at once. Reading a queued tensor waits for it; building on
 * it, and queueing that, does not:
 *
 *	lb_tensor *y = lb_keep(step(x));
 *	lb_async_eval(y);
 *	for (…) {
 *		lb_tensor *next = lb_keep(step(y)); // built while y is computed
 *		lb_async_eval(next);
 *		use(lb_item(y));                    // waits for y alone
 *		lb_release(y);
 *		y = next;
 *	}
 *
 * What is needed of another stream is computed there, and waited for. lb_eval() and the calls that
 * read values compute the tensors of the thread's own and of the default stream themselves.
 *
 * Errors. When queued work fails, the first call that needs the tensor fails with the message, and
 * lb_error_site() is where the operation that failed was made. That call, or the next
 * lb_event_wait() or lb_synchronize() of the stream, reports it, once; evaluating again then tries
 * again. Tensors that do not depend on the failed operation get their values. */
typedef struct lb_stream {
	uint32_t id;
} lb_stream; /* 0: the default stream */
LB_API lb_stream lb_default_stream(void);
/* Another stream; there are at most 64, and they are not freed. The name (copied; NULL is fine)
 * is for debuggers. The default stream, with an error, on failure. */
LB_API lb_stream lb_stream_new(const char *name);
/* The stream of the tensors that this thread makes from now on; returns the one before. */
LB_API lb_stream lb_set_stream(lb_stream stream);
typedef struct lb_on_stream {
	lb_stream before;
} lb_on_stream;
LB_API lb_on_stream lb_on_stream_begin(lb_stream stream);
LB_API void lb_on_stream_end(lb_on_stream *on); /* NULL is fine */
/* LB_ON_STREAM(s) { … }: what is made inside belongs to s, however the block is left. */
#define LB_ON_STREAM(stream) \
	for (lb_on_stream lb_on_stream_ __attribute__((cleanup(lb_on_stream_end))) = lb_on_stream_begin(stream), \
					*lb_once_ = &lb_on_stream_; \
	     lb_once_; lb_once_ = NULL)

/* lb_async_eval(x, y, …): queues the evaluation of all, each on its own stream, which holds them
 * until then. Waits only while 32 jobs are queued on such a stream. False if that fails. */
#define lb_async_eval(...) lb_async_eval_n(LB_COUNTED_(lb_tensor *, __VA_ARGS__))
LB_API bool lb_async_eval_n(int n, lb_tensor *const *xs);

/* A point in a stream: done when all that was queued on it before has ended. */
typedef struct lb_event {
	lb_stream stream;
	uint64_t job;
} lb_event;
LB_API lb_event lb_event_record(lb_stream stream);
LB_API bool lb_event_is_done(lb_event event);
/* Waits. False, with the error, if something queued before has failed and no call has said so. */
LB_API bool lb_event_wait(lb_event event);
/* The same for all that is queued on the stream now, and on every stream. */
LB_API bool lb_synchronize(lb_stream stream);
LB_API bool lb_synchronize_all(void);

/* ---- values: these evaluate what is not ready (an implicit evaluation) ---- */

/* The one element of a tensor of size 1; NaN, 0 on error. */
LB_API double lb_item(lb_tensor *x);
LB_API int64_t lb_item_int(lb_tensor *x); /* floats are cut, and saturate; a u64 beyond is an error */
/* Copies all elements in row-major order; nbytes must be lb_nbytes(x). */
LB_API bool lb_copy_out(lb_tensor *x, void *to, size_t nbytes);
/* The elements in row-major order: x's own, valid while x lives, or, of a strided view, those of a
 * copy, valid until the innermost scope ends. NULL on error. */
LB_API const void *lb_data(lb_tensor *x);

/* ---- storage: these never evaluate; for a tensor that is not ready they fail ---- */

/* Element 0; the element at (i, j, …) is i * strides[0] + j * strides[1] … elements on (strides
 * NULL: not asked for). Valid while x lives. */
LB_API const void *lb_strided_data(lb_tensor *x, const int64_t **strides);
/* Element 0 of the storage, as MLX's data<T>() hands it out, without the strides: for a
 * view that is not row-contiguous, reading on from it gives other elements than x's, or
 * leaves the buffer. Then the probe `raw_misuse` fires, and LAZYBONES_STRIDED=off|warn|stop
 * says what else: nothing (default), a line on stderr, SIGTRAP. While a debugger catches access the
 * pointer of such a view leads to a copy of the storage, valid as long. */
LB_API const void *lb_raw_data(lb_tensor *x);

/* ---- files: .npy, .npz, safetensors, GGUF ---- */

/* Opening maps the file and reads its directory; a tensor taken from it lies in the
 * mapping, and costs memory only where something computes with it. It stays valid after
 * lb_file_close(), and is named for the debugger as in the file. Do not shorten or
 * overwrite a file while tensors of it live (reading then raises SIGBUS): replace it, as
 * lb_save_*() does, by renaming a new one. */
typedef struct lb_file lb_file;
/* The format is told by the content. NULL on error; everything that the file says of its
 * own layout has been checked otherwise. */
LB_API lb_file *lb_open(const char *path);
/* The same for the content of a file in memory, which is copied; `name` is for messages. */
LB_API lb_file *lb_open_bytes(const void *bytes, size_t nbytes, const char *name);
LB_API void lb_file_close(lb_file *file); /* NULL is fine */
LB_API const char *lb_file_format(const lb_file *file); /* "npy", "npz", "safetensors", "gguf" */
LB_API int64_t lb_file_count(const lb_file *file);
LB_API const char *lb_file_name(const lb_file *file, int64_t i); /* valid until lb_file_close() */
/* The tensor of that name. GGUF's blocks are decoded to f32, lazily; compressed members of
 * an .npz are unpacked at once (one that is encrypted, or packed otherwise than by deflate, is an error
 * here, not of lb_open()); what lies in Fortran order is a strided view. */
LB_API lb_tensor *lb_file_get(lb_file *file, const char *name);
LB_API lb_tensor *lb_file_get_at(lb_file *file, int64_t i);
/* The same as bytes (u8), as they lie in the file; the last axis counts bytes. Works for types
 * that lb_file_get() does not know, too. */
LB_API lb_tensor *lb_file_get_raw(lb_file *file, const char *name);

/* The same for lb_quantized_matmul(), with the values that lb_file_get() has: GGUF's Q4_0, Q4_1,
 * Q5_0, Q5_1, Q8_0, Q4_K, Q5_K (affine, groups of 32) and MXFP4, rearranged in memory at once. For a tensor that is
 * stored otherwise ret->w is NULL, and lb_file_get() is the way. False, with an error, if there
 * is no such tensor, or no memory. */
LB_API bool lb_file_get_quantized(lb_file *file, const char *name, lb_quantized *ret, lb_quant *how);

/* What safetensors and GGUF files say of themselves. */
LB_API int64_t lb_file_metadata_count(const lb_file *file);
LB_API const char *lb_file_metadata_key(const lb_file *file, int64_t i);
/* A string as it is, a number or a bool as text; NULL, without an error, for an array or an
 * unknown key. Valid until lb_file_close(). */
LB_API const char *lb_file_metadata(const lb_file *file, const char *key);
/* Elements of an array; 1 for a single value, -1 for an unknown key. */
LB_API int64_t lb_file_metadata_length(const lb_file *file, const char *key);
/* String i of an array (or of one), nbytes long and not terminated. In order is fast. */
LB_API const char *lb_file_metadata_string(lb_file *file, const char *key, int64_t i, size_t *nbytes);
/* Numbers or bools, as a tensor of one axis. */
LB_API lb_tensor *lb_file_metadata_tensor(lb_file *file, const char *key);

/* A .npy file in one call. */
LB_API lb_tensor *lb_load_npy(const char *path);
/* These evaluate, and replace the file as a whole once it has been written. */
LB_API bool lb_save_npy(const char *path, lb_tensor *x);
LB_API bool lb_save_npz(const char *path, int n, const char *const *names, lb_tensor *const *xs);
LB_API bool lb_save_safetensors(const char *path, int n, const char *const *names, lb_tensor *const *xs);
/* The same, and what the file says of itself: n_metadata keys and values, in UTF-8. */
LB_API bool lb_save_safetensors_with(const char *path, int n, const char *const *names, lb_tensor *const *xs,
				     int n_metadata, const char *const *keys, const char *const *values);

/* What a GGUF file says of itself under a key: of text, texts and numbers one is given. */
typedef struct lb_gguf_value {
	const char *key; /* UTF-8, as "general.architecture" */
	const char *text;
	const char *const *texts; /* a list of so many */
	int64_t n_texts;
	lb_tensor
	    *numbers; /* without axes a single number or bool, of one axis a list; f16, bf16 and complex64 are errors */
} lb_gguf_value;
/* Version 3, whose tensors are f32, f64, f16, bf16 or i8 to i64, of 4 axes at most, as ggml's are; one without axes
 * becomes a list of one. */
LB_API bool lb_save_gguf(const char *path, int n, const char *const *names, lb_tensor *const *xs, int n_values,
			 const lb_gguf_value *values);

/* How elements lie in bytes that are no array of a dtype: in either byte order, unaligned, or
 * in ggml's blocks. The numbers are part of the symbol table's meaning. */
typedef enum lb_encoding {
	LB_LITTLE_ENDIAN,
	LB_BIG_ENDIAN,
	LB_Q4_0,
	LB_Q4_1,
	LB_Q8_0, /* blocks of 32 elements */
	LB_Q4_K,
	LB_Q6_K, /* of 256 */
	LB_MXFP4,
	LB_Q5_0,
	LB_Q5_1,
	LB_Q8_1,
	LB_IQ4_NL, /* of 32 */
	LB_Q2_K,
	LB_Q3_K,
	LB_Q5_K,
	LB_Q8_K,
	LB_IQ1_S,
	LB_IQ1_M,
	LB_IQ2_XXS,
	LB_IQ2_XS,
	LB_IQ2_S,
	LB_IQ3_XXS,
	LB_IQ3_S,
	LB_IQ4_XS,
	LB_TQ1_0,
	LB_TQ2_0, /* of 256 */
	LB_NVFP4,
	LB_Q2_0, /* of 64 */
	LB_Q1_0, /* of 128 */
	LB_ENCODINGS
} lb_encoding;
/* The elements that the u8 tensor `bytes` holds, in row-major order. Blocks give f32, f16 or
 * bf16. */
LB_API lb_tensor *lb_decode(lb_tensor *bytes, lb_encoding encoding, lb_list shape, lb_dtype dtype);

/* ---- memory, in bytes ---- */

/* In use, of what the runtime has taken: what lb_from_memory() is given, and files, count for nothing. */
LB_API uint64_t lb_active_memory(void);
LB_API uint64_t lb_peak_memory(void);
LB_API void lb_reset_peak_memory(void);
LB_API uint64_t lb_cache_memory(void);
/* The limits return the old value. An allocation that would go beyond the memory limit
 * fails with an error; the default is 0.8 of the machine's memory. */
LB_API uint64_t lb_set_memory_limit(uint64_t nbytes);
LB_API uint64_t lb_set_cache_limit(uint64_t nbytes);
LB_API void lb_clear_cache(void);

/* ---- for debuggers ---- */

/* Evaluates the tensor with this id on the calling thread alone, taking no lock that
 * another thread might hold and calling no allocator; made to be called by a debugger
 * in a stopped program, whose other threads stay stopped meanwhile. What an earlier call, which the
 * debugger has dropped halfway, had claimed is given back first; id 0 does only that. Returns 0, or
 * a static text that says why it refused. */
LB_API const char *lb_debug_eval(uint64_t id);

/* Opens the guard pages that the address lies in, as the handler of a fault there does: for a debugger that
 * has stopped at the fault, and drops the signal then. False where it lies in none, or they stay closed. */
LB_API bool lb_debug_open_guard(uint64_t address);

/* Step mode: each evaluation that begins from now on, on any thread, runs through a piece of code
 * made for its graph, with one call an op, which gdb shows as a function whose source is the
 * graph: `next`, `break graph-3.lb:4`. Equal graphs share their code. Chains of elementwise ops
 * run op by op, each result in memory of its own, or fused as usual. Returns the mode before;
 * LAZYBONES_STEP=1 or =fused sets the first one. Graphs of more than 2^20 ops, and all on other
 * machines than x86-64 and aarch64, are evaluated as without it. */
typedef enum lb_step_mode { LB_STEP_OFF, LB_STEP_OPS, LB_STEP_FUSED } lb_step_mode;
LB_API lb_step_mode lb_set_step_mode(lb_step_mode mode);

#ifdef __cplusplus
}
#endif
#endif
