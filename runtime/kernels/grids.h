/* The grids of ggml's IQ formats, spread out: what the elements of a group are, one a byte, the first one lowest.
 * lb_grids() fills them, once. */
#ifndef LB_KERNELS_GRIDS_H
#define LB_KERNELS_GRIDS_H

#include <stdint.h>

extern uint64_t lb_grid_iq1[2048]; /* int8 */
extern uint64_t lb_grid_iq2_xxs[256], lb_grid_iq2_xs[512], lb_grid_iq2_s[1024];
extern uint32_t lb_grid_iq3_xxs[256], lb_grid_iq3_s[512];

/* Of a group of IQ1, each of whose elements is moved by an eighth, down from 2048 on: the sum of all in eighths, and 65536
 * times that of their squares. */
extern int32_t lb_sums_iq1[4096];

void lb_grids(void);

#endif
