#ifndef LBX_QUANT_H
#define LBX_QUANT_H

#include "inspect/command.h"

/* A way to store weights with few bits each; lazybones.h tells the layouts. */
struct lbx_quant_mode {
	const char *name;
	int bits, group;       /* the only ones, or affine's defaults */
	int scale_bytes;       /* a group; of affine two of them, in the weights' dtype: 2 */
	bool affine;
};
enum { LBX_QUANT_MODES = LB_QUANT_NVFP4 + 1 };
extern const struct lbx_quant_mode lbx_quant_modes[LBX_QUANT_MODES];

#endif
