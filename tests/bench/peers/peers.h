/* What the programs of `make bench-peers` share: rows, sizes and data. Each is main.c with its own
 * peer_kinds[]. */
#ifndef PEERS_H
#define PEERS_H

#include "../bench.h"

#include <math.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NODES = 1000 };
/* the llama */
enum {
	DIM = 512,
	LAYERS = 8,
	HEADS = 8,
	KV_HEADS = 4,
	HEAD = 64,
	FFN = 1408,
	VOCAB = 8192,
	PROMPT = 128,
	TOKENS = 32,
	KV_DIM = KV_HEADS * HEAD
};
enum { ATTENTION_HEADS = 8, GROUP = 32, QUANTIZE_GROUP = 64 };

enum peer_kind {
	BUILD,
	GRAPH,
	GRAPH_SUM,
	SINGLE,
	CHAIN,
	CHEAP,
	MATMUL,
	SOFTMAX,
	LAYER_NORM,
	RMS_NORM,
	ATTENTION,
	QUANT,
	LLAMA,
	CUMSUM,
	SORT,
	ARGSORT,
	TAKE,
	TAKE_ALONG,
	ARGMAX,
	ASTYPE,
	TRANSPOSE,
	NORMAL,
	QUANTIZE,
	KINDS
};
enum peer_dtype {
	F32,
	F16,
	BF16,
	Q4,
	Q4_BIASED, /* ggml's has biases, too */
	MXFP4,
	Q4_I8, /* with x in 8 bits, as ggml has it anyway */
	MXFP4_I8
};

struct row {
	const char *name;
	enum peer_kind kind;
	enum peer_dtype dtype;
	int64_t m, n, k;
	const char *unit;
	double work, tolerance;
	double reads, writes, flops; /* what no program can do without: bytes, operations; all 0: it is not known */
	const char *text;
};

/* What a program does for a kind of row; all zero: it has none. */
struct kind {
	bool (*open)(const struct row *row);   /* false: not for this row */
	void (*run)(void);
	float *(*result)(int64_t *n);          /* malloc'd */
	void (*close)(void);
};
extern const struct kind peer_kinds[KINDS];
void peer_start(int threads);

/* ---- data: a function of a seed and the index ---- */

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static inline uint64_t peer_hash(uint64_t seed, uint64_t i)
{
	uint64_t x = (seed << 40) + i + 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* In [-1, 1). */
static inline float *peer_data(int64_t n, uint64_t seed)
{
	float *x = (float *)malloc((size_t)n * sizeof *x);
	for (int64_t i = 0; x && i < n; i++)
		x[i] = (float)(int32_t)(peer_hash(seed, (uint64_t)i) >> 32) * 0x1p-31f;
	return x;
}

/* What of random numbers can be compared: mean and variance, in the place of n numbers. */
static inline float *peer_moments(float *x, int64_t *n)
{
	double sum = 0, squares = 0;
	for (int64_t i = 0; x && i < *n; i++) {
		sum += x[i];
		squares += (double)x[i] * x[i];
	}
	if (x && *n > 1) {
		x[0] = (float)(sum / (double)*n);
		x[1] = (float)(squares / (double)*n - sum / (double)*n * (sum / (double)*n));
		*n = 2;
	}
	return x;
}

/* In [0, most). */
static inline int32_t *peer_indices(int64_t n, int64_t most, uint64_t seed)
{
	int32_t *x = (int32_t *)malloc((size_t)n * sizeof *x);
	for (int64_t i = 0; x && i < n; i++)
		x[i] = (int32_t)(peer_hash(seed, (uint64_t)i) % (uint64_t)most);
	return x;
}

/* 4-bit weights that each format holds without an error: every group has the ends of its range. */
static inline int peer_code(uint64_t seed, int64_t i)
{
	return i % GROUP == 0 ? 0 : i % GROUP == 1 ? 15 : (int)(peer_hash(seed, (uint64_t)i) >> 60);
}

static inline float peer_scale(uint64_t seed, int64_t group)
{
	return (float)(8 + (peer_hash(seed + 1, (uint64_t)group) >> 61)) * 0x1p-10f;
}

static inline float peer_weight(enum peer_dtype format, uint64_t seed, int64_t i)
{
	static const float e2m1[16] = { 6, 0, .5, 1, 1.5, 2, 3, 4, 6, -.5, -1, -1.5, -2, -3, -4, -6 };
	int code = peer_code(seed, i);
	if (format == MXFP4 || format == MXFP4_I8) {
		uint64_t bits = peer_hash(seed + 1, (uint64_t)(i / GROUP));
		return e2m1[code] * (bits >> 63 ? 0x1p-6f : 0x1p-7f);
	}
	return (float)(code - 8) * peer_scale(seed, i / GROUP);
}

static inline float *peer_weights(enum peer_dtype format, int64_t n, uint64_t seed)
{
	float *x = (float *)malloc((size_t)n * sizeof *x);
	for (int64_t i = 0; x && i < n; i++)
		x[i] = peer_weight(format, seed, i);
	return x;
}

/* The llama's tokens, and the seeds of its weights. */
static inline int peer_token(int position)
{
	return (int)(peer_hash(99, (uint64_t)position) % VOCAB);
}

static inline float *peer_norm(uint64_t seed)
{
	float *x = peer_data(DIM, seed);
	for (int i = 0; x && i < DIM; i++)
		x[i] = 1 + x[i] / 8;
	return x;
}

enum peer_part { WQ, WK, WV, WO, W1, W2, W3, PARTS };
static const int64_t peer_part_shape[PARTS][2] = {
	{ DIM, DIM }, { KV_DIM, DIM }, { KV_DIM, DIM }, { DIM, DIM }, { FFN, DIM }, { DIM, FFN }, { FFN, DIM },
};
enum { LLAMA_WEIGHTS = LAYERS * (2 * DIM * DIM + 2 * KV_DIM * DIM + 3 * FFN * DIM) + VOCAB * DIM };
enum { EMBEDDING_SEED = 1000, HEAD_SEED = 1002, LAST_NORM_SEED = 1004 };
static inline uint64_t peer_norm_seed(int layer, int which)
{
	return (uint64_t)(1500 + 2 * layer + which);
}

static inline uint64_t peer_part_seed(int layer, int part)
{
	return (uint64_t)(2000 + 2 * (layer * PARTS + part));
}

#ifdef __cplusplus
}
#endif
#endif
