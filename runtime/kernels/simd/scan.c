/* Running sums of float64, or of unsigned integers, which wrap. Each sum is a chain of additions, so several go side by
 * side: neighbouring lanes, or lines, of which a stretch at a time is widened, summed and rounded. */
#include "kernels/simd/tiles.h"

/* Lines that are summed together, elements of each at a time, how far ahead of these memory is asked for, lanes, and rows of
 * these at a time. */
enum { LINES = LB_SCAN_LINES, STRETCH = 64, AHEAD = 2 * STRETCH, LANES = LB_SCAN_LANES, TOGETHER = 4 };

#define WIDEN(name, A, T, load) \
	static void widen_##name(int64_t n, A *to, const T *from) \
	{ \
		LB_EACH(i, n) to[i] = (A)load(from[i]); \
	} \
	static void round_##name(int64_t n, T *to, const A *from) \
	{ \
		LB_EACH(i, n) to[i] = (T)from[i]; \
	}
#define SAME(x) (x)
WIDEN(u8, uint32_t, uint8_t, SAME)
WIDEN(u16, uint32_t, uint16_t, SAME)
WIDEN(u32, uint32_t, uint32_t, SAME)
WIDEN(u64, uint64_t, uint64_t, SAME)
WIDEN(f32, double, float, SAME)
WIDEN(f64, double, double, SAME)

/* Sums are rounded to float first, as they are where a result is f32. n is at most STRETCH or LANES. */
#define HALF(name) \
	static void widen_##name(int64_t n, double *to, const uint16_t *from) \
	{ \
		float between[LANES]; \
		LB_ISA_NAME(lb_widen_##name)(n, between, from); \
		widen_f32(n, to, between); \
	} \
	static void round_##name(int64_t n, uint16_t *to, const double *from) \
	{ \
		float between[LANES]; \
		round_f32(n, between, from); \
		LB_ISA_NAME(lb_narrow_##name)(n, to, between); \
	}
HALF(f16)
HALF(bf16)

/* Chains of additions over a stretch of LINES lines, in place, from the element `at` on. */
#define CHAIN(A, body) \
	do { \
		A a = sums[0], b = sums[1], c = sums[2], d = sums[3], e = sums[4], f = sums[5], g = sums[6], h = sums[7]; \
		for (int64_t k = 0; k < n; k++, at += step) { \
			A p = at[0], q = at[STRETCH], r = at[2 * STRETCH], s = at[3 * STRETCH]; \
			A t = at[4 * STRETCH], u = at[5 * STRETCH], v = at[6 * STRETCH], w = at[7 * STRETCH]; \
			body \
		} \
		sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d, sums[4] = e, sums[5] = f, sums[6] = g, sums[7] = h; \
	} while (0)
#define ADD a += p, b += q, c += r, d += s, e += t, f += u, g += v, h += w;
#define STORE \
	at[0] = a, at[STRETCH] = b, at[2 * STRETCH] = c, at[3 * STRETCH] = d; \
	at[4 * STRETCH] = e, at[5 * STRETCH] = f, at[6 * STRETCH] = g, at[7 * STRETCH] = h;
#define CHAINS(name, A) \
	static void name(int64_t n, A *at, int64_t step, A sums[LINES], bool inclusive) \
	{ \
		if (inclusive) \
			CHAIN(A, ADD STORE); \
		else \
			CHAIN(A, STORE ADD); \
	}
CHAINS(chains_u32, uint32_t)
CHAINS(chains_u64, uint64_t)
CHAINS(chains_f64, double)

#define LINE_SUMS(name, T, A, chains) \
	static void lines_##name(const struct lb_scan *scan, int n_lines, const void *const from[], void *const to[]) \
	{ \
		A room[LINES][STRETCH] __attribute__((aligned(64))) = { { 0 } }, sums[LINES] = { 0 }; \
		int64_t n = scan->n, ahead = (scan->reverse ? -AHEAD : AHEAD) * (int64_t)sizeof(T); \
		for (int64_t done = 0; done < n; done += STRETCH) { \
			int64_t m = n - done < STRETCH ? n - done : STRETCH; \
			int64_t at = scan->reverse ? n - done - m : done; \
			for (int i = 0; i < n_lines; i++) { \
				const char *line = (const char *)((const T *)from[i] + at), *next = line + ahead; \
				widen_##name(m, room[i], (const T *)(const void *)line); \
				for (int64_t byte = 0; byte < STRETCH * (int64_t)sizeof(T); byte += 64) \
					__builtin_prefetch(next + byte); \
			} \
			chains(m, room[0] + (scan->reverse ? m - 1 : 0), scan->reverse ? -1 : 1, sums, \
			       scan->inclusive); \
			for (int i = 0; i < n_lines; i++) \
				round_##name(m, (T *)to[i] + at, room[i]); \
		} \
	}
LINE_SUMS(u8, uint8_t, uint32_t, chains_u32)
LINE_SUMS(u16, uint16_t, uint32_t, chains_u32)
LINE_SUMS(u32, uint32_t, uint32_t, chains_u32)
LINE_SUMS(u64, uint64_t, uint64_t, chains_u64)
LINE_SUMS(f16, uint16_t, double, chains_f64)
LINE_SUMS(bf16, uint16_t, double, chains_f64)
LINE_SUMS(f32, float, double, chains_f64)
LINE_SUMS(f64, double, double, chains_f64)

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
	static inline __attribute__((always_inline)) void add_rows_##name( \
	    int64_t n_lanes, A *sums, const T *const x[TOGETHER], T *const rows[TOGETHER], const int n, \
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
		double wide[LANES], sums[LANES] = { 0 }; \
		for (int64_t k = 0; k < scan->n; k++) { \
			int64_t at = scan->reverse ? scan->n - 1 - k : k; \
			uint16_t *row = (uint16_t *)to + at * scan->to_step; \
			widen_##name(n_lanes, wide, (const uint16_t *)from + at * scan->from_step); \
			if (!scan->inclusive) \
				round_##name(n_lanes, row, sums); \
			LB_EACH(i, n_lanes) sums[i] += wide[i]; \
			if (scan->inclusive) \
				round_##name(n_lanes, row, sums); \
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
