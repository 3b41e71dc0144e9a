/* Which tensors together are a quantised one: packed words, scales, and biases or a global scale. */
#ifndef LBX_QUANT_PARTS_H
#define LBX_QUANT_PARTS_H

#include "inspect/command.h"

enum lbx_quant_part { LBX_QUANT_WORDS, LBX_QUANT_SCALES, LBX_QUANT_BIASES, LBX_QUANT_GLOBAL, LBX_QUANT_PARTS };
extern const char *const lbx_quant_part_names[LBX_QUANT_PARTS];

struct lbx_quant_parts {
	bool has[LBX_QUANT_PARTS];
	struct lbx_tensor parts[LBX_QUANT_PARTS];
	int mode, bits, group; /* -1, 0, 0 while not known */
	char how[160];         /* "found as input of #17 quantized_matmul" */
};

/* Of words w: by an operation that uses them, by the lb_quantize() that made them, by names such as
 * layers.0.wq.scales. What is not found stays without; that is no error. */
bool lbx_quant_find(struct lbx_context *context, const struct lbx_tensor *w, struct lbx_quant_parts *ret);

#endif
