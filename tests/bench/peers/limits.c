/* What one core of this machine could do at best for each row: the time to read and write the bytes that no program can do
 * without, or to do the operations, whichever is longer. Products of bfloat16 are done by the processor's own instruction
 * where it has one, by tiles if it has these (AMX); an exact one of float16 is four of such by tiles. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "peers.h"

#include <math.h>

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum {
	MOST = 256 << 20,
	/* bytes that a buffer has; what is longer is gone through again */ CHAINS = 12,
	TURNS = 1 << 12
};

typedef float floats __attribute__((vector_size(64), aligned(64)));

static struct {
	char *from, *to;
	size_t reads, writes;
	int times;
	double flops;
	bool is_bound_by_flops;
	void (*some)(void); /* operations */
	double in_some;
} now;
static volatile float kept;

/* ---- memory ---- */

__attribute__((target_clones("default", "avx2", "avx512f"), noinline)) static void read_all(const char *from, size_t n)
{
	const floats *x = (const floats *)from;
	floats sums[4] = { { 0 } };

	for (size_t i = 0; i + 4 <= n / sizeof *x; i += 4)
		for (size_t k = 0; k < 4; k++)
			sums[k] += x[i + k];
	kept = sums[0][0] + sums[1][0] + sums[2][0] + sums[3][0];
}

/* Past the caches, which saves reading what is overwritten, where it does not fit them. */
static void write_all(char *to, size_t n)
{
#ifdef __x86_64__
	for (size_t i = 0; n >= 4 << 20 && i + 16 <= n; i += 16)
		_mm_stream_ps((float *)(void *)(to + i), _mm_set1_ps(1));
	if (n >= 4 << 20) {
		_mm_sfence();
		return;
	}
#endif
	memset(to, 1, n);
}

static void move(void)
{
	for (int i = 0; i < now.times; i++) {
		read_all(now.from, now.reads);
		write_all(now.to, now.writes);
	}
}

/* ---- arithmetic ---- */

#define EACH_CHAIN _Pragma("GCC unroll 12") for (int k = 0; k < CHAINS; k++)

__attribute__((target_clones("default", "avx2,fma", "avx512f"), noinline)) static void multiply_add(void)
{
	float half = 0.5f;
	floats sums[CHAINS];

	__asm__ volatile("" : "+m"(half)); /* not known when it is compiled */
	floats x = (floats){ 0 } + half;
	EACH_CHAIN sums[k] = x * (float)k; /* different ones: else they are computed once */
	for (int i = 0; i < TURNS; i++)
		EACH_CHAIN sums[k] = sums[k] * x + x;
	floats all = { 0 };
	EACH_CHAIN all += sums[k];
	kept = all[0];
}

#if defined __x86_64__ && defined __GNUC__ && __GNUC__ >= 11
__attribute__((target("avx512f,avx512bf16"), noinline)) static void dot_bf16(void)
{
	int one = 0x3f803f80; /* 1, twice */
	__m512 sums[CHAINS];

	__asm__ volatile("" : "+m"(one));
	__m512bh x = (__m512bh)_mm512_set1_epi32(one);
	EACH_CHAIN sums[k] = _mm512_set1_ps((float)k);
	for (int i = 0; i < TURNS; i++)
		EACH_CHAIN sums[k] = _mm512_dpbf16_ps(sums[k], x, x);
	__m512 all = _mm512_setzero_ps();
	EACH_CHAIN all = _mm512_add_ps(all, sums[k]);
	kept = _mm512_reduce_add_ps(all);
}

static bool has_bf16(void)
{
	return __builtin_cpu_supports("avx512bf16");
}
#else
static void dot_bf16(void)
{
}

static bool has_bf16(void)
{
	return false;
}
#endif

#if defined __x86_64__ && defined __GNUC__ && __GNUC__ >= 11
enum { TILE_ROWS = 16, TILE_BYTES = 64 };

/* A product of 2 by 2 tiles: four sums that do not wait for each other. */
__attribute__((target("amx-tile,amx-bf16"), noinline)) static void multiply_tiles(void)
{
	_Alignas(64) static const struct {
		uint8_t palette, row, rest[14];
		uint16_t bytes[16];
		uint8_t rows[16];
	} shape = { .palette = 1,
		    .bytes = { TILE_BYTES, TILE_BYTES, TILE_BYTES, TILE_BYTES, TILE_BYTES, TILE_BYTES, TILE_BYTES,
			       TILE_BYTES },
		    .rows = { TILE_ROWS, TILE_ROWS, TILE_ROWS, TILE_ROWS, TILE_ROWS, TILE_ROWS, TILE_ROWS,
			      TILE_ROWS } };
	float sums[TILE_ROWS * TILE_BYTES / sizeof(float)];

	_tile_loadconfig(&shape);
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	_tile_zero(4);
	_tile_zero(5);
	_tile_zero(6);
	_tile_zero(7);
	for (int i = 0; i < TURNS; i++) {
		_tile_dpbf16ps(0, 4, 6);
		_tile_dpbf16ps(1, 4, 7);
		_tile_dpbf16ps(2, 5, 6);
		_tile_dpbf16ps(3, 5, 7);
	}
	_tile_stored(0, sums, TILE_BYTES);
	_tile_release();
	kept = sums[0];
}

/* Linux gives a process tile registers when it asks for them. */
static bool has_tiles(void)
{
	enum { REQUEST = 0x1023, TILE_DATA = 18 };

	return __builtin_cpu_supports("amx-bf16") && syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}

static const double in_tiles = 4.0 * TURNS * 2 * TILE_ROWS * TILE_ROWS * (TILE_BYTES / 2.0);
#else
static void multiply_tiles(void)
{
}

static bool has_tiles(void)
{
	return false;
}

static const double in_tiles = 1;
#endif

static void compute(void)
{
	for (double done = 0; done < now.flops; done += now.in_some)
		now.some();
}

static double once(void (*work)(void))
{
	double best = INFINITY;

	for (int i = 0; i < 4; i++) {
		double began = bench_now();
		work();
		best = fmin(best, bench_now() - began);
	}
	return best;
}

static void take(void (*some)(void), double operations)
{
	if (now.some && once(some) / operations >= once(now.some) / now.in_some)
		return;
	now.some = some;
	now.in_some = operations;
}

/* The fastest way of multiplying elements of the dtype. */
static void choose(int dtype)
{
	double lanes = (double)TURNS * CHAINS * (sizeof(floats) / sizeof(float));

	take(multiply_add, 2 * lanes);
	if (dtype == BF16 && has_bf16())
		take(dot_bf16, 4 * lanes);
	if ((dtype == BF16 || dtype == F16) && has_tiles())
		take(multiply_tiles, in_tiles / (dtype == F16 ? 4 : 1));
}

/* ---- rows ---- */

static bool open_row(const struct row *row)
{
	now.times = row->kind == LLAMA && row->m == 1 ? TOKENS : 1;
	double most = fmax(row->reads, row->writes) / now.times;
	if (most + row->flops == 0)
		return false;
	while (most / now.times > MOST)
		now.times *= 2;
	now.reads = (size_t)(row->reads / now.times) / 256 * 256;
	now.writes = (size_t)(row->writes / now.times) / 256 * 256;
	now.flops = row->flops;
	choose(row->dtype);
	now.from = aligned_alloc(64, now.reads + 256);
	now.to = aligned_alloc(64, now.writes + 256);
	if (!now.from || !now.to)
		return false;
	memset(now.from, 0, now.reads + 256);
	memset(now.to, 0, now.writes + 256);
	now.is_bound_by_flops = once(compute) > once(move);
	return true;
}

static void run(void)
{
	if (now.is_bound_by_flops)
		compute();
	else
		move();
}

/* None: nothing is computed. */
static float *result(int64_t *n)
{
	*n = 0;
	return malloc(1);
}

static void close_row(void)
{
	free(now.from);
	free(now.to);
	memset(&now, 0, sizeof now);
}

void peer_start(int threads)
{
	(void)threads;
}

#define ALL { open_row, run, result, close_row }
const struct kind peer_kinds[KINDS] = {
	ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL,
	ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL,
};
