/* Random blocks, the same ones wherever a program asks for them, and a digest of what they decode to: so what ggml
 * says (program.c, which writes golden.inc) can be compared with what Lazybones says, without ggml. */
#ifndef TESTS_REAL_GGML_STREAM_H
#define TESTS_REAL_GGML_STREAM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { STREAM_BLOCKS = 4096, STREAM_BLOCK_MAX = 512 /* bytes */ };

/* The next bytes of the stream of ggml's type `number`, which begins with *state 0: splitmix64. */
static inline void stream_take(uint64_t *state, int number, uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t z = (*state += 0x9e3779b97f4a7c15u) + (uint64_t)number * 0xd1342543de82ef95u;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		to[i] = (uint8_t)(z >> 56);
	}
}

/* Adds floats' bits to a digest, which begins with 0: FNV-1a. Every NaN counts as one. */
static inline void stream_digest(uint64_t *digest, const float *x, size_t n)
{
	uint64_t hash = *digest ? *digest : 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++) {
		uint32_t bits;
		memcpy(&bits, &x[i], sizeof bits);
		if (isnan(x[i]))
			bits = 0x7fc00000;
		for (int k = 0; k < 32; k += 8)
			hash = (hash ^ (bits >> k & 255)) * 0x100000001b3u;
	}
	*digest = hash;
}

#endif
