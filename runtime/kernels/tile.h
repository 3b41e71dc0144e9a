/* Tile functions: one operation over n dense elements, compiled per instruction set.
 *
 * They know nothing of shapes. `dst` may be exactly the memory of an operand of the
 * same width, and overlaps nothing otherwise. What one element gives depends on its
 * operands and the instruction set alone, never on its place in the tile: so fused
 * and single operations, and any split among threads, give the same bits. */
#ifndef LB_KERNELS_TILE_H
#define LB_KERNELS_TILE_H

#include "base/isa.h"
#include "kernels/kernels.h"

typedef void lb_tile_fn(int64_t n, void *dst, const void *a, const void *b, const void *c);

/* All elements of n blocks: as floats, or as the codes that they are made of, with the step of each group and, where the
 * format has them, its least value (blocks.def); or, where formats have sums, those of each group's codes and of their squares
 * with its step, else NULL. */
struct lb_block_decoder {
	void (*values)(int64_t n, const uint8_t *restrict blocks, float *restrict to);
	void (*codes)(int64_t n, const uint8_t *restrict blocks, int8_t *restrict to, float *restrict steps,
		      float *restrict leasts);
	void (*sums)(int64_t n, const uint8_t *restrict blocks, int32_t *restrict sums, int32_t *restrict squares,
		     float *restrict steps);
};

enum { LB_LANES = 64 }; /* of a reduction's accumulator */

/* Folds for reductions. `rows` folds n elements into LB_LANES lanes, element i into lane
 * i % LB_LANES; `cols` folds element i into lane i; `merge` folds lanes into lanes. */
struct lb_fold {
	uint8_t stage; /* dtype that elements are converted to first */
	uint8_t acc; /* dtype of the lanes */
	uint8_t unit; /* lanes that belong together: 2 for sums of complex, else 1 */
	void (*rows)(int64_t n, void *acc, const void *x);
	void (*cols)(int64_t n, void *acc, const void *x);
	void (*merge)(int64_t n, void *acc, const void *other);
};

/* to += a @ b, of f32, f64 or c64; `to` has contiguous rows, a and b any strides. */
struct lb_gemm {
	int dtype;
	bool small; /* not worth packing; the bits depend on it */
	int64_t m, n, k;
	const char *a, *b;
	int64_t a_row, a_column, b_row, b_column;
	char *to;
	int64_t to_row;
};

/* n vectors x, each x_row elements from the next, and what comes of them, with rows of a matrix of dtype, whose elements are
 * contiguous; x and `to` are f32 where that is a half. */
struct lb_vectors {
	int64_t n, x_row, to_row;
	const void *x, *rows;
	void *to;
	int64_t stride;
	int dtype;
};

/* Running sums of n elements each, from the end on where `reverse`; before or after each is added. Steps are from one
 * element of a lane to the next. */
struct lb_scan {
	int dtype; /* no bool, no complex */
	int64_t n, from_step, to_step;
	bool reverse, inclusive;
};
enum { LB_SCAN_LINES = 16, LB_SCAN_LANES = 1024 };

/* Strips of packed bfloat16: rows of the left matrix at most, columns of the right. */
enum { LB_PAIRS_ROWS = 12, LB_PAIRS_COLUMNS = 32 };

/* Strips of halves for AMX, that many rows of the left matrix or columns of the right: pieces of LB_AMX_DEPTH elements along
 * the depth. */
enum { LB_AMX_STRIP = 32, LB_AMX_DEPTH = 32, LB_AMX_WORDS = LB_AMX_STRIP * LB_AMX_DEPTH / 2 /* of a piece, of bf16 */ };

/* Groups of a quantised row, scales and biases already float; biases are NULL for e2m1 and e4m3. */
enum lb_codes_kind {
	LB_CODES_2,
	LB_CODES_3,
	LB_CODES_4,
	LB_CODES_5,
	LB_CODES_6,
	LB_CODES_8,
	LB_CODES_E2M1,
	LB_CODES_E4M3,
	LB_CODES_KINDS,
};
struct lb_codes {
	int kind, group;
	const uint8_t *words;
	const float *scales, *biases;
};

/* A vector in digits of base 256, from -128 to 127: element i is steps[i / 8] times the number that they write. The planes
 * of digits, the highest first, have the even elements first, and `half` bytes on the odd ones; `half` is a multiple of 64,
 * and all of it may be read. */
enum { LB_PLANES = 3 /* or 1 */, LB_CUT_TOGETHER = 32, LB_QUANT_ROWS = 4 /* of codes, at a time */ };
struct lb_cut {
	int planes;
	int64_t half;
	int8_t *digits;
	float *steps; /* for a multiple of LB_CUT_TOGETHER elements */
	float *sums; /* of each group of the codes that it is multiplied with */
	int32_t *wholes; /* sums of 16 elements, in steps; for a multiple of LB_CUT_TOGETHER elements */
};

/* Codes of 4 bits of LB_STRIPS strips of LB_STRIP rows, as pack_strip() or pack_strip_pairs() unpacks them, `codes_apart` bytes
 * from strip to strip. Their scales and, but for e2m1, biases are `scales_apart` floats from strip to strip: the rows' of a group
 * beside each other. */
enum { LB_STRIP = 16, LB_STRIPS = 4, LB_PANEL_COLUMNS = LB_STRIP * LB_STRIPS };
struct lb_panel {
	bool e2m1;
	int group; /* affine: a multiple of 32 */
	int64_t depth; /* whole groups */
	const uint8_t *codes;
	const float *scales, *biases;
	int64_t codes_apart, scales_apart;
};

/* LB_CUT_ROWS rows, or half as many, for AMX: tiles of LB_CUT_TOGETHER elements, of rows that are cut into bytes, or of each of
 * the parts, bfloat16 numbers, whose sum they are: one makes a bfloat16, two a float16, three a float. `sums`: of each group.
 * Of bytes alone, of each span of elements that is summed at once, LB_CUT_TOGETHER or a smaller group: the rows' steps, half of
 * them for e2m1, and, for it, what is to be taken off the sums. */
enum {
	LB_CUT_ROWS = 16,
	LB_PAIRS_PANEL_ROWS = 4, /* as many at once, or several times, with AVX512-BF16 */
	LB_PARTS = 3,
	LB_PARTS_MOST = 0x7a000000 /* 2^117 as a float: 128 times 15 of it are no infinity */
};
struct lb_amx_rows {
	void *elements;
	float *sums, *steps;
	int32_t *shifts;
};

/* Where a panel's products with rows of x are added to and put, `*_row` floats from row to row; from NULL: to 0. */
struct lb_panel_sums {
	const float *from;
	float *to;
	int64_t from_row, to_row;
};

/* Of floats: how many are NaN, below 0, -0. */
struct lb_keys_seen {
	int64_t nan, below, negative_zeros;
};

/* Of n numbers; without finite ones the least is +Inf, the largest -Inf. */
struct lb_tile_figures {
	int64_t finite, nan, zero;
	double min, max, mean, deviations, squares; /* of the finite ones; sums of squared x - mean, and of squared x */
};

struct lb_quant_matrix;

struct lb_tiles {
	/* The function of an elementwise op; NULL if there is none for the dtypes. `to` is
	 * the destination's dtype, `from` that of operand a (of b for WHERE). */
	lb_tile_fn *(*elementwise)(int op, int to, int from);
	/* The same of those that take some ten times as long as an addition; NULL for the others. */
	lb_tile_fn *(*math)(int op, int dtype);
	lb_tile_fn *(*convert)(int to, int from);
	/* The fold of LB_OP_SUM, PROD, MAX, MIN, ALL, ANY over a dtype. */
	const struct lb_fold *(*fold)(int op, int dtype);
	/* acc[i % period] += (x[i] - center[i % period])^2, in double; x of f32 or f64 */
	void (*deviations)(int64_t n, int64_t period, double *acc, const double *center, const void *x, int dtype);
	/* dst[i] = x[i] - center[i % period]; f32 or f64 */
	void (*shift)(int64_t n, int64_t period, void *dst, const void *x, const void *center, int dtype);
	/* dst = src past the caches; dst is an own, large memory. After the last one comes lb_stream_end(). */
	void (*stream)(void *dst, const void *src, int64_t nbytes);
	int64_t (*nonfinite)(const void *data, int dtype, int64_t n);
	void (*figures)(int n, const double *x, struct lb_tile_figures *ret);
	/* Adds to hash what depends on the elements, of 1, 2, 4 or 8 bytes, and on their places, which begin with `first`;
	 * to bag what does not depend on these. */
	void (*hash)(int64_t n, const void *data, int64_t bytes, uint64_t first, uint64_t *hash, uint64_t *bag);
	/* Adds size to indices below 0; false if one is out of range, where a u64 below 0 is huge. */
	bool (*indices)(int64_t n, int64_t *indices, int64_t size, bool is_unsigned);
	/* to[i] = from[i * walk + indices[i] * stride], of so many bytes each */
	void (*pick)(int64_t n, void *to, const void *from, const int64_t *indices, int64_t walk, int64_t stride,
		     int64_t bytes);
	/* The LB_PHILOX_WORDS words of Philox's blocks (philox.h) from number `first` on; the normal numbers that these of
	 * LB_PHILOX_ELEMENTS make, two of two words. */
	void (*random_words)(uint64_t key, uint64_t first, uint32_t domain, uint32_t *words);
	void (*normals)(uint64_t key, uint64_t first, float *to);
	/* Rows of 16 elements of 4 bytes become columns; `stream`: past the caches, if there is a way and each row of `to`
	 * begins a cache line. */
	void (*turn)(void *to, int64_t to_row, const void *from, int64_t from_row, bool stream);
	/* 16 elements of each of 16 lines, `row` bytes apart and of f32 or a half, become columns of f32; there are as many of
	 * each as `lines` and n say, and the others are 0. */
	void (*turn_floats)(float *to, const void *from, int64_t row, int dtype, int64_t lines, int64_t n);
	/* Floats of 2, 4 or 8 bytes, of which `infinity` has such bits, become unsigned keys that order as they do; what is met
	 * is added to `seen`. And keys become floats: all that are NaN the same one, zeros positive. */
	void (*to_keys)(int64_t n, void *to, const void *from, int bytes, uint64_t infinity, struct lb_keys_seen *seen);
	void (*from_keys)(int64_t n, void *to, const void *from, int bytes);
	/* Sorts n keys, with room for as many; only with AVX-512, else NULL. */
	void (*sort_u32)(int64_t n, uint32_t *keys, uint32_t *room);
	void (*sort_u64)(int64_t n, uint64_t *keys, uint64_t *room);
	/* The index of the first of the largest, or least, of n > 0 floats, or of the first NaN. */
	int64_t (*extreme)(int64_t n, const float *x, bool least);
	/* The least and the largest of n floats, a multiple of 16; false, and neither matters, if one is not finite. */
	bool (*range)(int64_t n, const float *x, float *low, float *high);
	/* (x - bias) / scale, rounded, from 0 to `most` */
	void (*affine_codes)(int64_t n, const float *x, float scale, float bias, float most, uint8_t *codes);
	/* Of at most LB_SCAN_LINES lines of contiguous elements; of at most LB_SCAN_LANES lanes, whose elements lie beside
	 * each other. `to` may be where `from` is. */
	void (*scan_lines)(const struct lb_scan *scan, int n_lines, const void *const from[], void *const to[]);
	void (*scan_lanes)(const struct lb_scan *scan, int64_t n_lanes, const void *from, void *to);
	void (*gemm)(const struct lb_gemm *gemm);
	/* With AVX-512 alone, else NULL. Packs `width` lines, of `lines` that there are from `from` on, into a strip; lines
	 * beyond the last are anything. Pairs are written 16 at a time, 16 words each: beyond the strip, too. True if
	 * an element is denormal. */
	bool (*pack_pairs)(uint32_t *to, int width, int64_t lines, const void *from, int64_t line, int64_t step,
			   int64_t depth);
	/* sums = or += strip a, of `rows` lines, an even number, @ strip b; from LB_ISA_BF16 on. `denormals`: the
	 * strips have some. */
	void (*multiply_pairs)(int rows, const uint32_t *a, const uint32_t *b, int64_t pairs, float *sums,
			       int64_t sums_row, bool add, bool denormals);
	/* Packs a strip for AMX, of `depth` elements of `lines` rows (left) or columns (right) that are `line` apart, their
	 * elements `step`; what is beyond is 0. f16 becomes two pieces of bf16, the upper bits and the rest. False if
	 * there is an element that AMX does not multiply as it is: denormal bf16, and f16 that is not finite. */
	bool (*pack_amx)(uint32_t *to, bool is_left, int dtype, int64_t lines, const void *from, int64_t line,
			 int64_t step, int64_t depth);
	/* sums = or += strips a of `rows` rows altogether @ strips b of `columns` columns, of `pieces` pieces; from strip to strip
	 * of either are `apart` words. All of each strip of sums is written. */
	void (*multiply_amx)(bool f16, int64_t rows, int64_t columns, const uint32_t *a, const uint32_t *b,
			     int64_t apart, int64_t pieces, float *sums, int64_t sums_row, bool add);
	/* One row of f32 or f64: to = exp(x - max) / sum of these; n > 0, x may be `to`. */
	void (*softmax)(int64_t n, void *to, const void *x, int dtype);
	/* One row of f32 or f64: to = (x - mean) / sqrt(variance + eps) * weight + bias, where
	 * not `center` means a mean of 0; weight and bias may be NULL. Returns the scale, one over
	 * the root. */
	double (*norm)(int64_t n, void *to, const void *x, const void *weight, const void *bias, double eps,
		       bool center, int dtype);
	/* The gradient of x: h is the normed row, without weight and bias. */
	void (*norm_grad)(int64_t n, void *to, const void *h, const void *grad, const void *weight, double scale,
			  bool center, int dtype);
	/* sums[i] += a[i] * b[i], or a[i] where b is NULL; of f32 or f64 */
	void (*add_products)(int64_t n, double *sums, const void *a, const void *b, int dtype);
	/* Turns the pairs (x[2i], x[2i+1]), or (x[i], x[half+i]) when not interleaved, by the
	 * angles whose cosines and sines are given; f32 or f64. */
	void (*rotate)(int64_t half, bool interleaved, void *to, const void *x, const void *cosines, const void *sines,
		       int dtype);
	/* A row's n further scores, plus bias, of which only `open` ones count (both may be NULL),
	 * become exp(score - *top); *top, *sum and the values follow. f32 or f64. */
	void (*attend)(int64_t n, void *scores, const void *bias, const uint8_t *open, void *top, void *sum,
		       int64_t n_values, void *values, int dtype);
	/* A row's n powers p become probabilities, then dscore = p * (dp - sum of p * dp). stats: the
	 * largest score, one over the sum of powers, and, written here, the sum of p * dp. */
	void (*attend_grad)(int64_t n, void *p, const void *dp, void *stats, int dtype);
	/* Scores become probabilities by a row's stats, and dp becomes dscore. */
	void (*attend_again)(int64_t n, void *scores, void *dp, const void *bias, const uint8_t *open,
			     const void *stats, int dtype);
	/* to[j] = x . row j for each vector, of n rows of k elements */
	void (*dots)(const struct lb_vectors *c, int64_t n, int64_t k);
	/* to[i] += x[0] * row 0 [i] + x[1] * row 1 [i] … for each vector, of m rows of n elements */
	void (*combine)(const struct lb_vectors *c, int64_t n, int64_t m);
	/* Scales of mxfp4 and mxfp8. */
	void (*e8m0)(int64_t n, float *to, const uint8_t *from);
	/* Those of nvfp4, times `by`. */
	void (*e4m3)(int64_t n, float *to, const uint8_t *from, float by);
	void (*dequantize)(const struct lb_codes *codes, int64_t groups, float *to);
	/* sums[r * m + i] += codes[r] . x[i], x in the order that `arrange` makes; x[i] is at
	 * x + i * x_row. m is 1, 2, 4 or 8; rows of codes is 2 when m is 1, else 1. */
	void (*dot)(const struct lb_codes *codes, int64_t groups, int m, const float *x, int64_t x_row, float *sums);
	/* Puts n floats, whole groups, into the order in which `dot` meets codes. */
	void (*arrange)(int kind, int64_t n, float *x);
	/* sums[i] += x[i][0] * codes[0] + x[i][1] * codes[1], i < m, the sums in the order of
	 * `arrange`; sums[i] is at sums + i * sums_row. */
	void (*spread)(const struct lb_codes *codes, int64_t groups, int m, const float *x, int64_t x_row, float *sums,
		       int64_t sums_row);
	/* The inverse of `arrange`. */
	void (*restore)(int kind, int64_t n, float *x);
	/* Writes what `to` points to: n floats, whole groups, in to->planes planes. LB_CUT_TOGETHER elements, M the largest
	 * magnitude of them, have the step M / 127 in one plane; in three the power of two by which M is from 2^21 to
	 * 2^22 steps; 0, if M is below 2^-100. They are rounded half to even. False if one is not finite. */
	bool (*cut)(int64_t n, const float *x, int group, const struct lb_cut *to);
	/* to[i] = x, cut, @ row `first` + i of w, i < n, which has codes of 4 bits. */
	void (*multiply_row_cut)(const struct lb_quant_matrix *w, int64_t first, int64_t n, int64_t groups,
				 const struct lb_cut *x, float *to);
	/* As `dot`, of 4-bit codes, x[i] cut, from its group `first` on; m is 2, 4 or 8. */
	void (*dot_cut)(const struct lb_codes *codes, int64_t groups, int m, const struct lb_cut *x, int64_t first,
			float *sums);
	/* With AVX-512 alone, else NULL. Codes of `lines` rows, `row` bytes apart, to bytes of `depth` elements, whole groups: 16
	 * for each element; to pairs of bfloat16, for the parts of AMX: 32 bytes for each. */
	void (*pack_strip)(bool e2m1, const uint8_t *from, int64_t row, int64_t lines, int64_t depth, uint8_t *to);
	void (*pack_strip_pairs)(bool e2m1, const uint8_t *from, int64_t row, int64_t lines, int64_t depth,
				 uint8_t *to);
	/* sums += x @ the panel, of m rows x that are cut alike, from element `first` on, with which a group begins; needs
	 * VNNI, too. */
	void (*multiply_panel)(const struct lb_panel *panel, int64_t m, const struct lb_cut *x, int64_t first,
			       float *sums, int64_t sums_row);
	/* With AVX-512 alone, else NULL. Puts x in AMX's order, as one of its rows: what is cut into bytes, or n floats in parts. The
	 * latter is false, and the row anything, if one is 2^117 or larger, or is NaN. */
	void (*order_cut)(const struct lb_cut *x, bool e2m1, int group, int64_t depth, int row,
			  const struct lb_amx_rows *to);
	bool (*order_parts)(int64_t n, const float *x, int parts, int group, int row, const struct lb_amx_rows *to);
	/* As multiply_panel, m a multiple of LB_CUT_ROWS / 2; parts = 0: of bytes. */
	void (*multiply_panel_amx)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x, int parts,
				   int64_t first, struct lb_panel_sums sums);
	/* The same, bit for bit, for a debugger's call, which must not use tiles. */
	void (*multiply_panel_parts)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x, int parts,
				     int64_t first, struct lb_panel_sums sums);
	/* The same with AVX512-BF16, of one part, m a multiple of LB_PAIRS_PANEL_ROWS; its bits are others. */
	void (*multiply_panel_pairs)(const struct lb_panel *panel, int64_t m, const struct lb_amx_rows *x,
				     int64_t first, struct lb_panel_sums sums);
	/* The decoder of ggml's blocks of an encoding; lb_grids() comes before it is called. */
	const struct lb_block_decoder *(*blocks)(enum lb_encoding encoding);
};

extern const struct lb_tiles lb_tiles_base;
#ifdef __x86_64__
extern const struct lb_tiles lb_tiles_v3, lb_tiles_v4;
#endif

static inline const struct lb_tiles *lb_tiles_of(enum lb_isa level)
{
#ifdef __x86_64__
	if (level >= LB_ISA_V4)
		return &lb_tiles_v4;
	if (level == LB_ISA_V3)
		return &lb_tiles_v3;
#endif
	(void)level;
	return &lb_tiles_base;
}

static inline const struct lb_tiles *lb_tiles(void)
{
	return lb_tiles_of(lb_isa_level());
}

/* What went past the caches is there before anyone is told that it is. Not after each row: it waits for memory. */
static inline void lb_stream_end(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
