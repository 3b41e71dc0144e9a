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

static inline struct lb_philox_block lb_philox(uint64_t key, uint64_t counter, uint32_t domain)
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = domain, c3 = 0;
	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)c0 * 0xd2511f53, p1 = (uint64_t)c2 * 0xcd9e8d57;
		uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c1 = (uint32_t)p1;
		c3 = (uint32_t)p0;
		c0 = n0;
		c2 = n2;
		k0 += 0x9e3779b9;
		k1 += 0xbb67ae85;
	}
	return (struct lb_philox_block){ { c0, c1, c2, c3 } };
}

/* LB_PHILOX_BLOCKS of them from `first` on; side by side, so that it is vectorised. */
enum { LB_PHILOX_BLOCKS = 16 };
static inline void lb_philox_blocks(uint64_t key, uint64_t first, uint32_t domain, struct lb_philox_block *blocks)
{
	uint32_t c0[LB_PHILOX_BLOCKS], c1[LB_PHILOX_BLOCKS], c2[LB_PHILOX_BLOCKS], c3[LB_PHILOX_BLOCKS];
	for (int i = 0; i < LB_PHILOX_BLOCKS; i++) {
		c0[i] = (uint32_t)(first + (uint64_t)i);
		c1[i] = (uint32_t)((first + (uint64_t)i) >> 32);
		c2[i] = domain;
		c3[i] = 0;
	}
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	for (int round = 0; round < 10; round++, k0 += 0x9e3779b9, k1 += 0xbb67ae85)
		for (int i = 0; i < LB_PHILOX_BLOCKS; i++) {
			uint64_t p0 = (uint64_t)c0[i] * 0xd2511f53;
			uint64_t p1 = (uint64_t)c2[i] * 0xcd9e8d57;
			c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
			c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
			c1[i] = (uint32_t)p1;
			c3[i] = (uint32_t)p0;
		}
	for (int i = 0; i < LB_PHILOX_BLOCKS; i++)
		blocks[i] = (struct lb_philox_block){ { c0[i], c1[i], c2[i], c3[i] } };
}

#endif
