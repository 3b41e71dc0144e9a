/* Running sums of float64, or of unsigned integers, which wrap. Each sum is a chain of additions, so several go side by
 * side: neighbouring lanes, or lines, of which a stretch at a time is widened, turned so that the lines are lanes,
 * summed, turned back and rounded. */
#include "kernels/simd/tiles.h"

/* Lines that are summed together, elements of each at a time, how far ahead of these memory is asked for, lanes, and rows of
 * these at a time. */
enum { LINES = LB_SCAN_LINES, STRETCH = 32, AHEAD = 4 * STRETCH, LANES = LB_SCAN_LANES, TOGETHER = 4 };

#define WIDEN(name, W, T) \
	static void widen_##name(int64_t n, W *to, const T *from) \
	{ \
		LB_EACH(i, n) to[i] = (W)from[i]; \
	} \
	static void round_##name(int64_t n, T *to, const W *from) \
	{ \
		LB_EACH(i, n) to[i] = (T)from[i]; \
	}
WIDEN(u8, uint32_t, uint8_t)
WIDEN(u16, uint32_t, uint16_t)
WIDEN(u32, uint32_t, uint32_t)
WIDEN(u64, uint64_t, uint64_t)
WIDEN(f32, float, float)
WIDEN(f64, double, double)

/* Sums are rounded to float first, as they are where a result is f32. */
#define HALF(name) \
	static void widen_##name(int64_t n, float *to, const uint16_t *from) \
	{ \
		LB_ISA_NAME(lb_widen_##name)(n, to, from); \
	} \
	static void round_##name(int64_t n, uint16_t *to, const float *from) \
	{ \
		LB_ISA_NAME(lb_narrow_##name)(n, to, from); \
	}
HALF(f16)
HALF(bf16)

/* turned[k] = elements k of all lines; n is at most STRETCH, and some beyond it are turned, too. */
static void turn_4(int64_t n, void *turned, const void *lines)
{
	for (int64_t k = 0; k < n; k += LINES)
		LB_ISA_NAME(lb_tile_turn)((uint32_t *)turned + k * LINES, LINES, (const uint32_t *)lines + k, STRETCH,
					  false);
}

static void turn_back_4(int64_t n, void *lines, const void *turned)
{
	for (int64_t k = 0; k < n; k += LINES)
		LB_ISA_NAME(lb_tile_turn)((uint32_t *)lines + k, STRETCH, (const uint32_t *)turned + k * LINES, LINES,
					  false);
}

static void turn_8(int64_t n, void *turned, const void *lines)
{
	for (int64_t k = 0; k < n; k++)
		LB_EACH(i, LINES)((uint64_t *)turned)[k * LINES + i] = ((const uint64_t *)lines)[i * STRETCH + k];
}

static void turn_back_8(int64_t n, void *lines, const void *turned)
{
	for (int64_t i = 0; i < LINES; i++)
		LB_EACH(k, n)((uint64_t *)lines)[i * STRETCH + k] = ((const uint64_t *)turned)[k * LINES + i];
}

/* In place, over a stretch that is turned; sums as they are before it and after it. */
enum { PART = 8, PARTS = LINES / PART };
#define CHAINS(name, A, W) \
	static void name(int64_t n, bool reverse, bool inclusive, W turned[STRETCH][LINES], A sums[LINES]) \
	{ \
		typedef A wide __attribute__((vector_size(PART * sizeof(A)))); \
		typedef W narrow __attribute__((vector_size(PART * sizeof(W)))); \
		wide sum[PARTS]; \
		memcpy(sum, sums, sizeof sum); \
		for (int64_t k = 0; k < n; k++) { \
			W *at = turned[reverse ? n - 1 - k : k]; \
			LB_UNROLL \
			for (int i = 0; i < PARTS; i++) { \
				narrow x; \
				memcpy(&x, at + i * PART, sizeof x); \
				wide before = sum[i]; \
				sum[i] += __builtin_convertvector(x, wide); \
				x = __builtin_convertvector(inclusive ? sum[i] : before, narrow); \
				memcpy(at + i * PART, &x, sizeof x); \
			} \
		} \
		memcpy(sums, sum, sizeof sum); \
	}
CHAINS(chains_u32, uint32_t, uint32_t)
CHAINS(chains_u64, uint64_t, uint64_t)
CHAINS(chains_f32, double, float)
CHAINS(chains_f64, double, double)

#define LINE_SUMS(name, T, A, W, chains, bytes) \
	static void lines_##name(const struct lb_scan *scan, int n_lines, const void *const from[], void *const to[]) \
	{ \
		W lines[LINES][STRETCH] __attribute__((aligned(64))) = { { 0 } }; \
		W turned[STRETCH][LINES] __attribute__((aligned(64))); \
		A sums[LINES] __attribute__((aligned(64))) = { 0 }; \
		int64_t n = scan->n, ahead = (scan->reverse ? -AHEAD : AHEAD) * (int64_t)sizeof(T); \
		for (int64_t done = 0; done < n; done += STRETCH) { \
			int64_t m = n - done < STRETCH ? n - done : STRETCH; \
			int64_t at = scan->reverse ? n - done - m : done; \
			for (int i = 0; i < n_lines; i++) { \
				const char *line = (const char *)((const T *)from[i] + at); \
				widen_##name(m, lines[i], (const T *)(const void *)line); \
				lb_prefetch(line + ahead, STRETCH * sizeof(T)); \
			} \
			turn_##bytes(m, turned, lines); \
			chains(m, scan->reverse, scan->inclusive, turned, sums); \
			turn_back_##bytes(m, lines, turned); \
			for (int i = 0; i < n_lines; i++) \
				round_##name(m, (T *)to[i] + at, lines[i]); \
		} \
	}
LINE_SUMS(u8, uint8_t, uint32_t, uint32_t, chains_u32, 4)
LINE_SUMS(u16, uint16_t, uint32_t, uint32_t, chains_u32, 4)
LINE_SUMS(u32, uint32_t, uint32_t, uint32_t, chains_u32, 4)
LINE_SUMS(u64, uint64_t, uint64_t, uint64_t, chains_u64, 8)
LINE_SUMS(f16, uint16_t, double, float, chains_f32, 4)
LINE_SUMS(bf16, uint16_t, double, float, chains_f32, 4)
LINE_SUMS(f32, float, double, float, chains_f32, 4)
LINE_SUMS(f64, double, double, double, chains_f64, 8)

/* Rows go TOGETHER at a time, so that sums are read and written once for them. */
#define ADD_ROW(T, A, k) \
	if (inclusive) { \
		rows[k][i] = (T)(sum += (A)x[k][i]); \
	} else { \
		A before = sum; \
		sum += (A)x[k][i]; \
		rows[k][i] = (T)before; \
	}
#define LANE_SUMS(name, T, A) \
	static inline __attribute__((always_inline)) void add_rows_##name(int64_t n_lanes, A *sums, \
									  const T *const x[TOGETHER], \
									  T *const rows[TOGETHER], const int n, \
									  const bool inclusive) \
	{ \
		LB_EACH(i, n_lanes) \
		{ \
			A sum = sums[i]; \
			ADD_ROW(T, A, 0) \
			if (n == TOGETHER) { \
				ADD_ROW(T, A, 1) \
				ADD_ROW(T, A, 2) \
				ADD_ROW(T, A, 3) \
			} \
			sums[i] = sum; \
		} \
	} \
	static void lanes_##name(const struct lb_scan *scan, int64_t n_lanes, const void *from, void *to) \
	{ \
		A sums[LANES] __attribute__((aligned(64))) = { 0 }; \
		for (int64_t k = 0; k < scan->n;) { \
			const T *x[TOGETHER]; \
			T *rows[TOGETHER]; \
			int n = scan->n - k < TOGETHER ? 1 : TOGETHER; \
			for (int i = 0; i < n; i++, k++) { \
				int64_t at = scan->reverse ? scan->n - 1 - k : k; \
				x[i] = (const T *)from + at * scan->from_step; \
				rows[i] = (T *)to + at * scan->to_step; \
			} \
			if (n == TOGETHER && scan->inclusive) \
				add_rows_##name(n_lanes, sums, x, rows, TOGETHER, true); \
			else if (n == TOGETHER) \
				add_rows_##name(n_lanes, sums, x, rows, TOGETHER, false); \
			else \
				add_rows_##name(n_lanes, sums, x, rows, 1, scan->inclusive); \
		} \
	}
LANE_SUMS(u8, uint8_t, uint32_t)
LANE_SUMS(u16, uint16_t, uint32_t)
LANE_SUMS(u32, uint32_t, uint32_t)
LANE_SUMS(u64, uint64_t, uint64_t)
LANE_SUMS(f32, float, double)
LANE_SUMS(f64, double, double)

#define LANE_SUMS_OF_HALVES(name) \
	static void lanes_##name(const struct lb_scan *scan, int64_t n_lanes, const void *from, void *to) \
	{ \
		float wide[LANES], rounded[LANES]; \
		double sums[LANES] = { 0 }; \
		for (int64_t k = 0; k < scan->n; k++) { \
			int64_t at = scan->reverse ? scan->n - 1 - k : k; \
			uint16_t *row = (uint16_t *)to + at * scan->to_step; \
			widen_##name(n_lanes, wide, (const uint16_t *)from + at * scan->from_step); \
			if (!scan->inclusive) \
				LB_EACH(i, n_lanes) rounded[i] = (float)sums[i]; \
			LB_EACH(i, n_lanes) sums[i] += (double)wide[i]; \
			if (scan->inclusive) \
				LB_EACH(i, n_lanes) rounded[i] = (float)sums[i]; \
			round_##name(n_lanes, row, rounded); \
		} \
	}
LANE_SUMS_OF_HALVES(f16)
LANE_SUMS_OF_HALVES(bf16)

#define BY_DTYPE(way) \
	{ [LB_U8] = way##_u8,   [LB_U16] = way##_u16,   [LB_U32] = way##_u32, [LB_U64] = way##_u64, \
	  [LB_I8] = way##_u8,   [LB_I16] = way##_u16,   [LB_I32] = way##_u32, [LB_I64] = way##_u64, \
	  [LB_F16] = way##_f16, [LB_BF16] = way##_bf16, [LB_F32] = way##_f32, [LB_F64] = way##_f64 }

void LB_ISA_NAME(lb_tile_scan_lines)(const struct lb_scan *scan, int n_lines, const void *const from[],
				     void *const to[])
{
	static void (*const table[LB_DTYPES])(const struct lb_scan *, int, const void *const[], void *const[]) =
	    BY_DTYPE(lines);
	table[scan->dtype](scan, n_lines, from, to);
}

void LB_ISA_NAME(lb_tile_scan_lanes)(const struct lb_scan *scan, int64_t n_lanes, const void *from, void *to)
{
	static void (*const table[LB_DTYPES])(const struct lb_scan *, int64_t, const void *, void *) = BY_DTYPE(lanes);
	table[scan->dtype](scan, n_lanes, from, to);
}
