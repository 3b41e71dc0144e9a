/* What the files of this folder share: the loop of a tile function, the widths of
 * the dtypes in C, and the way of f16 and bf16 through float. */
#ifndef LB_KERNELS_SIMD_TILES_H
#define LB_KERNELS_SIMD_TILES_H

#include "base/op.h"
#include "kernels/half.h"
#include "kernels/prefetch.h"
#include "kernels/tile.h"

#ifndef LB_ISA
#define LB_ISA base
#endif

#ifdef __clang__ /* it says so when it does not vectorise what it was asked to */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* Elements are independent; dst may be an operand itself. */
#define LB_EACH(i, n) _Pragma("omp simd") for (int64_t i = 0; i < (n); i++)

/* A loop of a constant, small number of turns, whose arrays are registers. */
#ifdef __clang__
#define LB_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LB_UNROLL _Pragma("GCC unroll 16")
#endif

/* Lanes of double in which softmax and norms sum a row: so many that no sum waits for the one before, and no more. */
enum { LB_ROW_LANES = 32 };

/* Their sum; they are used up. */
static inline double lb_total(double lanes[LB_ROW_LANES])
{
	for (int i = 0; i < 16; i++)
		lanes[i] += lanes[i + 16];
	for (int i = 0; i < 8; i++)
		lanes[i] += lanes[i + 8];
	for (int i = 0; i < 4; i++)
		lanes[i] += lanes[i + 4];
	return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* A tile function: `expr` of a[i], b[i], c[i]. */
#define LB_TILE(name, D, T, expr) \
	static void name(int64_t n, void *dst, const void *a_, const void *b_, const void *c_) \
	{ \
		D *d = dst; \
		const T *a = a_, *b = b_, *c = c_; \
		(void)a, (void)b, (void)c; \
		LB_EACH(i, n) d[i] = (D)(expr); \
	}

struct lb_c64 {
	float re, im;
};

/* A product, rounded. gcc 12 finds complex products in vectorised code and contracts
 * them to fused operations even under -ffp-contract=off; the bits must not depend on
 * the instruction set, so it is kept from seeing through. */
#if defined __x86_64__
#define LB_UNSEEN(x) __asm__("" : "+x"(x))
#elif defined __aarch64__
#define LB_UNSEEN(x) __asm__("" : "+w"(x))
#else
#define LB_UNSEEN(x) (void)(x)
#endif
#define LB_TIMES(name, T) \
	static inline T name(T a, T b) \
	{ \
		T product = a * b; \
		LB_UNSEEN(product); \
		return product; \
	}
LB_TIMES(lb_times, float)
LB_TIMES(lb_times_f64, double)

static inline struct lb_c64 lb_times_c64(struct lb_c64 a, struct lb_c64 b)
{
	return (struct lb_c64){ lb_times(a.re, b.re) - lb_times(a.im, b.im),
				lb_times(a.re, b.im) + lb_times(a.im, b.re) };
}

/* X(id, suffix, type, unsigned type in which its arithmetic wraps) */
#define LB_UINTS(X) \
	X(U8, u8, uint8_t, uint32_t) \
	X(U16, u16, uint16_t, uint32_t) X(U32, u32, uint32_t, uint32_t) X(U64, u64, uint64_t, uint64_t)
#define LB_SINTS(X) \
	X(I8, i8, int8_t, uint32_t) \
	X(I16, i16, int16_t, uint32_t) X(I32, i32, int32_t, uint32_t) X(I64, i64, int64_t, uint64_t)

lb_tile_fn *LB_ISA_NAME(lb_tile_arith)(int op, int dtype);
lb_tile_fn *LB_ISA_NAME(lb_tile_math)(int op, int dtype);
lb_tile_fn *LB_ISA_NAME(lb_tile_complex)(int op);
lb_tile_fn *LB_ISA_NAME(lb_tile_compare)(int op, int dtype);
lb_tile_fn *LB_ISA_NAME(lb_tile_convert)(int to, int from);
const struct lb_fold *LB_ISA_NAME(lb_tile_fold)(int op, int dtype);
void LB_ISA_NAME(lb_tile_deviations)(int64_t n, int64_t period, double *acc, const double *center, const void *x,
				     int dtype);
void LB_ISA_NAME(lb_tile_shift)(int64_t n, int64_t period, void *dst, const void *x, const void *center, int dtype);
void LB_ISA_NAME(lb_tile_stream)(void *dst, const void *src, int64_t nbytes);
int64_t LB_ISA_NAME(lb_tile_nonfinite)(const void *data, int dtype, int64_t n);
void LB_ISA_NAME(lb_tile_figures)(int n, const double *x, struct lb_tile_figures *ret);
void LB_ISA_NAME(lb_tile_hash)(int64_t n, const void *data, int64_t bytes, uint64_t first, uint64_t *hash,
			       uint64_t *bag);
bool LB_ISA_NAME(lb_tile_indices)(int64_t n, int64_t *indices, int64_t size, bool is_unsigned);
void LB_ISA_NAME(lb_tile_pick)(int64_t n, void *to, const void *from, const int64_t *indices, int64_t walk,
			       int64_t stride, int64_t bytes);
void LB_ISA_NAME(lb_tile_random_words)(uint64_t key, uint64_t first, uint32_t domain, uint32_t *words);
void LB_ISA_NAME(lb_tile_normals)(uint64_t key, uint64_t first, float *to);
void LB_ISA_NAME(lb_tile_turn)(void *to, int64_t to_row, const void *from, int64_t from_row, bool stream);
void LB_ISA_NAME(lb_tile_turn_floats)(float *to, const void *from, int64_t row, int dtype, int64_t lines, int64_t n);
void LB_ISA_NAME(lb_tile_to_keys)(int64_t n, void *to, const void *from, int bytes, uint64_t infinity,
				  struct lb_keys_seen *seen);
void LB_ISA_NAME(lb_tile_from_keys)(int64_t n, void *to, const void *from, int bytes);
void LB_ISA_NAME(lb_tile_sort_u32)(int64_t n, uint32_t *keys, uint32_t *room);
void LB_ISA_NAME(lb_tile_sort_u64)(int64_t n, uint64_t *keys, uint64_t *room);
int64_t LB_ISA_NAME(lb_tile_extreme)(int64_t n, const float *x, bool least);
bool LB_ISA_NAME(lb_tile_range)(int64_t n, const float *x, float *low, float *high);
void LB_ISA_NAME(lb_tile_affine_codes)(int64_t n, const float *x, float scale, float bias, float most, uint8_t *codes);
void LB_ISA_NAME(lb_tile_scan_lines)(const struct lb_scan *scan, int n_lines, const void *const from[],
				     void *const to[]);
void LB_ISA_NAME(lb_tile_scan_lanes)(const struct lb_scan *scan, int64_t n_lanes, const void *from, void *to);
void LB_ISA_NAME(lb_tile_gemm)(const struct lb_gemm *gemm);
bool LB_ISA_NAME(lb_tile_pack_pairs)(uint32_t *to, int width, int64_t lines, const void *from, int64_t line,
				     int64_t step, int64_t depth);
void LB_ISA_NAME(lb_tile_multiply_pairs)(int rows, const uint32_t *a, const uint32_t *b, int64_t pairs, float *sums,
					 int64_t sums_row, bool add, bool denormals);
bool LB_ISA_NAME(lb_tile_pack_amx)(uint32_t *to, bool is_left, int dtype, int64_t lines, const void *from, int64_t line,
				   int64_t step, int64_t depth);
void LB_ISA_NAME(lb_tile_multiply_amx)(bool f16, int64_t rows, int64_t columns, const uint32_t *a, const uint32_t *b,
				       int64_t apart, int64_t pieces, float *sums, int64_t sums_row, bool add);
void LB_ISA_NAME(lb_tile_softmax)(int64_t n, void *to, const void *x, int dtype);
double LB_ISA_NAME(lb_tile_norm)(int64_t n, void *to, const void *x, const void *weight, const void *bias, double eps,
				 bool center, int dtype);
void LB_ISA_NAME(lb_tile_norm_grad)(int64_t n, void *to, const void *h, const void *grad, const void *weight,
				    double scale, bool center, int dtype);
void LB_ISA_NAME(lb_tile_add_products)(int64_t n, double *sums, const void *a, const void *b, int dtype);
void LB_ISA_NAME(lb_tile_rotate)(int64_t half, bool interleaved, void *to, const void *x, const void *cosines,
				 const void *sines, int dtype);
void LB_ISA_NAME(lb_tile_attend)(int64_t n, void *scores, const void *bias, const uint8_t *open, void *top, void *sum,
				 int64_t n_values, void *values, int dtype);
void LB_ISA_NAME(lb_tile_attend_grad)(int64_t n, void *p, const void *dp, void *stats, int dtype);
void LB_ISA_NAME(lb_tile_attend_again)(int64_t n, void *scores, void *dp, const void *bias, const uint8_t *open,
				       const void *stats, int dtype);
void LB_ISA_NAME(lb_tile_dots)(const struct lb_vectors *c, int64_t n, int64_t k);
void LB_ISA_NAME(lb_tile_combine)(const struct lb_vectors *c, int64_t n, int64_t m);
void LB_ISA_NAME(lb_tile_dequantize)(const struct lb_codes *codes, int64_t groups, float *to);
void LB_ISA_NAME(lb_tile_dot)(const struct lb_codes *codes, int64_t groups, int m, const float *x, int64_t x_row,
			      float *sums);
void LB_ISA_NAME(lb_tile_arrange)(int kind, int64_t n, float *x);
void LB_ISA_NAME(lb_tile_spread)(const struct lb_codes *codes, int64_t groups, int m, const float *x, int64_t x_row,
				 float *sums, int64_t sums_row);
void LB_ISA_NAME(lb_tile_e8m0)(int64_t n, float *to, const uint8_t *from);
void LB_ISA_NAME(lb_tile_e4m3)(int64_t n, float *to, const uint8_t *from, float by);
void LB_ISA_NAME(lb_tile_restore)(int kind, int64_t n, float *x);
bool LB_ISA_NAME(lb_tile_cut)(int64_t n, const float *x, int group, const struct lb_cut *to);
void LB_ISA_NAME(lb_tile_multiply_row_cut)(const struct lb_quant_matrix *w, int64_t first, int64_t n, int64_t groups,
					   const struct lb_cut *x, float *to);
void LB_ISA_NAME(lb_tile_dot_cut)(const struct lb_codes *codes, int64_t groups, int m, const struct lb_cut *x,
				  int64_t first, float *sums);
void LB_ISA_NAME(lb_tile_pack_strip)(bool e2m1, const uint8_t *from, int64_t row, int64_t lines, int64_t depth,
				     uint8_t *to);
void LB_ISA_NAME(lb_tile_pack_strip_pairs)(bool e2m1, const uint8_t *from, int64_t row, int64_t lines, int64_t depth,
					   uint8_t *to);
void LB_ISA_NAME(lb_tile_multiply_panel)(const struct lb_panel *panel, int64_t m, const struct lb_cut *x, int64_t first,
					 float *sums, int64_t sums_row);
void LB_ISA_NAME(lb_tile_order_cut)(const struct lb_cut *x, bool e2m1, int group, int64_t depth, int row,
				    const struct lb_amx_rows *to);
bool LB_ISA_NAME(lb_tile_order_parts)(int64_t n, const float *x, int parts, int group, int row,
				      const struct lb_amx_rows *to);
void LB_ISA_NAME(lb_tile_multiply_panel_amx)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x,
					     int parts, int64_t first, struct lb_panel_sums sums);
void LB_ISA_NAME(lb_tile_multiply_panel_parts)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x,
					       int parts, int64_t first, struct lb_panel_sums sums);
void LB_ISA_NAME(lb_tile_multiply_panel_pairs)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x,
					       int64_t first, struct lb_panel_sums sums);
const struct lb_block_decoder *LB_ISA_NAME(lb_tile_blocks)(enum lb_encoding encoding);

void LB_ISA_NAME(lb_widen_f16)(int64_t n, float *dst, const uint16_t *src);
void LB_ISA_NAME(lb_widen_bf16)(int64_t n, float *dst, const uint16_t *src);
void LB_ISA_NAME(lb_narrow_f16)(int64_t n, uint16_t *dst, const float *src);
void LB_ISA_NAME(lb_narrow_bf16)(int64_t n, uint16_t *dst, const float *src);

/* Runs a tile function of f32 on halves. `to_bool`: its results are bool, not f32. */
static inline void lb_through_float(lb_tile_fn *f, int dtype, int arity, bool to_bool, int64_t n, void *dst,
				    const void *a, const void *b, const void *c)
{
	enum { CHUNK = 512 };
	float operands[3][CHUNK], result[CHUNK];
	const uint16_t *sources[3] = { a, b, c };
	for (int64_t at = 0; at < n; at += CHUNK) {
		int64_t m = n - at < CHUNK ? n - at : CHUNK;
		for (int k = 0; k < arity; k++) {
			if (dtype == LB_F16)
				LB_ISA_NAME(lb_widen_f16)(m, operands[k], sources[k] + at);
			else
				LB_ISA_NAME(lb_widen_bf16)(m, operands[k], sources[k] + at);
		}
		void *to = to_bool ? (void *)((uint8_t *)dst + at) : (void *)result;
		f(m, to, operands[0], operands[1], operands[2]);
		if (to_bool)
			continue;
		if (dtype == LB_F16)
			LB_ISA_NAME(lb_narrow_f16)(m, (uint16_t *)dst + at, result);
		else
			LB_ISA_NAME(lb_narrow_bf16)(m, (uint16_t *)dst + at, result);
	}
}

/* The two half versions, NAME_f16 and NAME_bf16, of NAME_f32. */
#define LB_HALVES(name, arity, to_bool) \
	static void name##_f16(int64_t n, void *d, const void *a, const void *b, const void *c) \
	{ \
		lb_through_float(name##_f32, LB_F16, arity, to_bool, n, d, a, b, c); \
	} \
	static void name##_bf16(int64_t n, void *d, const void *a, const void *b, const void *c) \
	{ \
		lb_through_float(name##_f32, LB_BF16, arity, to_bool, n, d, a, b, c); \
	}

#endif
