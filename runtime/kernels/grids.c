#include "kernels/grids.h"

#include <pthread.h>

#define LB_GRID(name, n, ...) static const uint16_t codes_##name[n] = { __VA_ARGS__ };
#include "kernels/grids.def"
#undef LB_GRID

uint64_t lb_grid_iq1[2048], lb_grid_iq2_xxs[256], lb_grid_iq2_xs[512], lb_grid_iq2_s[1024];
uint32_t lb_grid_iq3_xxs[256], lb_grid_iq3_s[512];
int32_t lb_sums_iq1[4096];

static uint64_t spread(unsigned code, int elements, int bits, const uint8_t *levels)
{
	uint64_t group = 0;

	for (int i = 0; i < elements; i++)
		group |= (uint64_t)levels[code >> bits * i & ((1u << bits) - 1)] << 8 * i;
	return group;
}

static int32_t sums(uint64_t group, int move)
{
	int32_t both = 0;

	for (int i = 0; i < 8; i++) {
		int code = (int8_t)(group >> 8 * i) * 8 + move;
		both += code * code * 65536 + code;
	}
	return both;
}

static void fill_grids(void)
{
	static const uint8_t signs[4] = { 0xff, 0, 1 }, two[4] = { 8, 25, 43 };
	static const uint8_t three[8] = { 4, 12, 20, 28, 36, 44, 52, 62 }, odd[8] = { 1, 3, 5, 7, 9, 11, 13, 15 };

#define SPREAD(to, codes, elements, bits, levels) \
	for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) \
		to[i] = (__typeof__(*to))spread(codes[i], elements, bits, levels);
	SPREAD(lb_grid_iq1, codes_IQ1, 8, 2, signs)
	SPREAD(lb_grid_iq2_xxs, codes_IQ2_XXS, 8, 2, two)
	SPREAD(lb_grid_iq2_xs, codes_IQ2_XS, 8, 2, two)
	SPREAD(lb_grid_iq2_s, codes_IQ2_S, 8, 2, two)
	SPREAD(lb_grid_iq3_xxs, codes_IQ3_XXS, 4, 3, three)
	SPREAD(lb_grid_iq3_s, codes_IQ3_S, 4, 3, odd)
	for (unsigned i = 0; i < sizeof lb_sums_iq1 / sizeof *lb_sums_iq1; i++)
		lb_sums_iq1[i] = sums(lb_grid_iq1[i % 2048], i < 2048 ? 1 : -1);
}

void lb_grids(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_grids);
}
