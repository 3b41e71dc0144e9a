/* Which tensors together are a quantised one: packed words, scales, and biases or a global scale; and in what format. */
#ifndef LBX_QUANT_PARTS_H
#define LBX_QUANT_PARTS_H

#include "inspect/command.h"

/* A way to store weights with few bits each; lazybones.h tells the layouts. */
struct lbx_quant_mode {
	const char *name;
	int bits, group; /* the only ones, or affine's defaults */
	int scale_bytes; /* a group; of affine two of them, in the weights' dtype: 2 */
	bool affine;
};
enum { LBX_QUANT_MODES = LB_QUANT_NVFP4 + 1 };
extern const struct lbx_quant_mode lbx_quant_modes[LBX_QUANT_MODES];

enum lbx_quant_part { LBX_QUANT_WORDS, LBX_QUANT_SCALES, LBX_QUANT_BIASES, LBX_QUANT_GLOBAL, LBX_QUANT_PARTS };
extern const char *const lbx_quant_part_names[LBX_QUANT_PARTS];

struct lbx_quant_parts {
	bool has[LBX_QUANT_PARTS];
	struct lbx_tensor parts[LBX_QUANT_PARTS];
	int mode, bits, group; /* -1, 0, 0 while not known */
	char how[160]; /* "found as input of #17 quantized_matmul" */
};

/* Which part of what a tensor is by its name: "layers.0.wq.scales" the scales of "layers.0.wq", of which "layers.0.wq.weight",
 * as whatever has no such ending, may be the words. */
enum lbx_quant_part lbx_quant_part_of(const char *name, char stem[LB_NAME_MAX + 1]);
/* Of what scales or biases are by their name, the words; with their format where the shapes tell it. False, without an error,
 * where there are none. */
bool lbx_quant_words_of(const struct lbx_tensor *scales, struct lbx_quant_parts *ret);
/* What the shapes of words and scales say of the format, where nothing else does: the mode of the scales' dtype; the default if
 * it fits, else what does. Whether any does. */
bool lbx_quant_guess(struct lbx_quant_parts *p);

/* From which input on an operation has them: behind x, and indices, which only products have. */
uint32_t lbx_quant_first(const char *op);
/* Of words w: by an operation that uses them, by the lb_quantize() that made them, by names such as
 * layers.0.wq.scales. What is not found stays without; that is no error. */
bool lbx_quant_find(struct lbx_context *context, const struct lbx_tensor *w, struct lbx_quant_parts *ret);

#endif
