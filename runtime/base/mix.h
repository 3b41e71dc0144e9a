/* Numbers that lie close together, made to differ in all bits: for hashes, checksums and samples that are the same in
 * each run. Different numbers stay different. SplitMix64's (Steele, Lea, Flood, 2014). */
#ifndef LB_MIX_H
#define LB_MIX_H

#include <stdint.h>

#define LB_MIX_STEP UINT64_C(0x9e3779b97f4a7c15) /* between a sequence's numbers; 0 itself mixes to 0 */

static inline uint64_t lb_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Of a text: FNV-1a (Fowler, Noll, Vo). */
static inline uint64_t lb_hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
	return lb_mix(hash);
}

#endif
