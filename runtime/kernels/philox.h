/* Philox4x32-10: four random words, a function of the key and of a block's number alone. Blocks of
 * one key and different domains have nothing in common. */
#ifndef LB_KERNELS_PHILOX_H
#define LB_KERNELS_PHILOX_H

#include <stdint.h>

enum { LB_PHILOX_ELEMENTS, LB_PHILOX_KEYS, LB_PHILOX_CHOICES };

/* A block makes so many elements of any dtype, or a divisor of that. */
enum { LB_PHILOX_ELEMENTS_EACH = 4 };

struct lb_philox_block {
	uint32_t w[4];
};

#define LB_PHILOX_TIMES_0 0xd2511f53u
#define LB_PHILOX_TIMES_1 0xcd9e8d57u
#define LB_PHILOX_STEP_0 0x9e3779b9u
#define LB_PHILOX_STEP_1 0xbb67ae85u

static inline struct lb_philox_block lb_philox(uint64_t key, uint64_t counter, uint32_t domain)
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = domain, c3 = 0;
	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)c0 * LB_PHILOX_TIMES_0, p1 = (uint64_t)c2 * LB_PHILOX_TIMES_1;
		uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c1 = (uint32_t)p1;
		c3 = (uint32_t)p0;
		c0 = n0;
		c2 = n2;
		k0 += LB_PHILOX_STEP_0;
		k1 += LB_PHILOX_STEP_1;
	}
	return (struct lb_philox_block){ { c0, c1, c2, c3 } };
}

/* Blocks that the tile functions make at a time, of 4 words each. */
enum { LB_PHILOX_BLOCKS = 16, LB_PHILOX_WORDS = 4 * LB_PHILOX_BLOCKS };

#endif
