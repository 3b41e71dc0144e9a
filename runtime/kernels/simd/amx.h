/* AMX: eight registers that are tiles of 16 rows of 64 bytes, and products of two added to a third. In assembler, since the
 * compilers know it only where the rest would be compiled for it, too.
 *
 * Who uses tiles configures them, and releases them before he returns: the kernel then need not keep 8 KiB at each
 * switch of threads. */
#ifndef LB_KERNELS_SIMD_AMX_H
#define LB_KERNELS_SIMD_AMX_H

#include <stdint.h>

/* t: a register's number; stride: bytes from row to row. */
#define lb_amx_load(t, from, stride) \
	__asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(from), "r"((int64_t)(stride)) : "memory")
/* What will not be needed again soon, and is not to push other lines out of the nearest cache. */
#define lb_amx_load_once(t, from, stride) \
	__asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #t : : "r"(from), "r"((int64_t)(stride)) : "memory")
#define lb_amx_store(t, to, stride) \
	__asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(to), "r"((int64_t)(stride)) : "memory")
#define lb_amx_zero(t) __asm__ volatile("tilezero %%tmm" #t : :)
/* sum += a @ b, of bf16; of signed bytes a and unsigned b. */
#define lb_amx_bf16(sum, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sum : :)
#define lb_amx_su(sum, a, b) __asm__ volatile("tdpbsud %%tmm" #b ", %%tmm" #a ", %%tmm" #sum : :)

struct lb_amx_config {
	uint8_t palette, start_row, reserved[14];
	uint16_t row_bytes[16];
	uint8_t rows[16];
};

/* All tiles whole. */
static inline void lb_amx_begin(void)
{
	static const struct lb_amx_config config = { .palette = 1,
						     .row_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
						     .rows = { 16, 16, 16, 16, 16, 16, 16, 16 } };
	__asm__ volatile("ldtilecfg %0" : : "m"(config));
}

/* Tile 7 is what tile 6, so many rows of some bytes, is multiplied with; those before them are rows of 64 bytes. */
static inline void lb_amx_begin_rows(int rows, int bytes)
{
	struct lb_amx_config config = { .palette = 1 };
	for (int t = 0; t < 8; t++) {
		config.row_bytes[t] = (uint16_t)(t == 6 ? bytes : 64);
		config.rows[t] = (uint8_t)(t == 7 ? bytes / 4 : rows);
	}
	__asm__ volatile("ldtilecfg %0" : : "m"(config));
}

static inline void lb_amx_end(void)
{
	__asm__ volatile("tilerelease" : :);
}

#endif
