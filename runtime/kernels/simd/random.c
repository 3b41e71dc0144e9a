/* Philox's words, and normal numbers of them, LB_PHILOX_BLOCKS blocks at a time. Sums, products, quotients and roots
 * alone, none contracted, so that every instruction set gives the same bits. */
#include <math.h>

#include "kernels/philox.h"
#include "kernels/simd/tiles.h"

enum { BLOCKS = LB_PHILOX_BLOCKS };

/* Word k of block i is word[k][i]. */
static inline void draw(uint64_t key, uint64_t first, uint32_t domain, uint32_t word[4][BLOCKS])
{
	LB_EACH(i, BLOCKS)
	{
		word[0][i] = (uint32_t)(first + (uint64_t)i);
		word[1][i] = (uint32_t)((first + (uint64_t)i) >> 32);
		word[2][i] = domain;
		word[3][i] = 0;
	}
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	for (int round = 0; round < 10; round++, k0 += LB_PHILOX_STEP_0, k1 += LB_PHILOX_STEP_1)
		LB_EACH(i, BLOCKS)
		{
			uint64_t p0 = (uint64_t)word[0][i] * LB_PHILOX_TIMES_0;
			uint64_t p1 = (uint64_t)word[2][i] * LB_PHILOX_TIMES_1;
			word[0][i] = (uint32_t)(p1 >> 32) ^ word[1][i] ^ k0;
			word[2][i] = (uint32_t)(p0 >> 32) ^ word[3][i] ^ k1;
			word[1][i] = (uint32_t)p1;
			word[3][i] = (uint32_t)p0;
		}
}

void LB_ISA_NAME(lb_tile_random_words)(uint64_t key, uint64_t first, uint32_t domain, uint32_t *words)
{
	uint32_t word[4][BLOCKS] __attribute__((aligned(64)));
	draw(key, first, domain, word);
	LB_EACH(i, BLOCKS)
	{
		words[4 * i] = word[0][i];
		words[4 * i + 1] = word[1][i];
		words[4 * i + 2] = word[2][i];
		words[4 * i + 3] = word[3][i];
	}
}

/* log(x) of a normal number: x = 2^e (1 + f), with 1 + f from sqrt(1/2) to sqrt(2), and the polynomial of Cephes' logf
 * (Moshier). */
static inline float log_of(float x)
{
	uint32_t shifted = lb_float_to_bits(x) - 0x3f3504f3; /* sqrt(1/2) */
	int32_t e = (int32_t)shifted >> 23;
	float f = lb_bits_to_float((shifted & 0x7fffff) + 0x3f3504f3) - 1, scale = (float)e, z = f * f;
	float y = 7.0376836292e-2f;
	y = y * f - 1.1514610310e-1f;
	y = y * f + 1.1676998740e-1f;
	y = y * f - 1.2420140846e-1f;
	y = y * f + 1.4249322787e-1f;
	y = y * f - 1.6668057665e-1f;
	y = y * f + 2.0000714765e-1f;
	y = y * f - 2.4999993993e-1f;
	y = y * f + 3.3333331174e-1f;
	y = y * f * z - 2.12194440e-4f * scale - 0.5f * z;
	return f + y + 0.693359375f * scale;
}

/* Box and Muller: the words of two uniforms, the first of which is in (0, 1], become two normals. The second is an angle in
 * turns; what is left of it beyond whole quarters is exact, and its sine and cosine are Cephes' polynomials. */
static inline void box_muller(const uint32_t *restrict first, const uint32_t *restrict second, float *restrict to)
{
	LB_EACH(i, BLOCKS)
	{
		float radius = sqrtf(-2 * log_of((float)(int32_t)((first[i] >> 8) + 1) * 0x1p-24f));
		int32_t turn = (int32_t)(second[i] >> 8), quarter = (turn + (1 << 21)) >> 22;
		float x = (float)(turn - (quarter << 22)) * (float)(6.283185307179586476925 * 0x1p-24), z = x * x;
		float sine = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
		float cosine =
		    ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z -
		    0.5f * z + 1;
		uint32_t odd = (uint32_t)-(quarter & 1), s = lb_float_to_bits(sine), c = lb_float_to_bits(cosine);
		uint32_t sine_bits = ((s & ~odd) | (c & odd)) ^ (uint32_t)(quarter & 2) << 30;
		uint32_t cosine_bits = ((c & ~odd) | (s & odd)) ^ (uint32_t)((quarter + 1) & 2) << 30;
		to[4 * i] = radius * lb_bits_to_float(cosine_bits);
		to[4 * i + 1] = radius * lb_bits_to_float(sine_bits);
	}
}

void LB_ISA_NAME(lb_tile_normals)(uint64_t key, uint64_t first, float *to)
{
	uint32_t word[4][BLOCKS] __attribute__((aligned(64)));
	draw(key, first, LB_PHILOX_ELEMENTS, word);
	box_muller(word[0], word[1], to);
	box_muller(word[2], word[3], to + 2);
}
