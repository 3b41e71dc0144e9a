/* How quantised tensors' integers are scaled: at::PerTensorAffineQuantizer has a scale and a zero point,
 * at::PerChannelAffineQuantizer a tensor of each, for the indices of an axis (aten/src/ATen/quantized/Quantizer.h). */
#ifndef LBX_TORCH_QUANTIZERS_H
#define LBX_TORCH_QUANTIZERS_H

#include "torch/dtypes.h"
#include "torch/record.h"

struct lbx_torch_quantizers {
	struct lbx_torch_quantizer {
		uint64_t address; /* of the quantizer */
		struct lbx_encoding encoding;
		double *scales;
		int64_t *zeros;
	} **list; /* each stays where it is: tensors lead to its encoding */
	size_t n, room;
	int64_t n_scales; /* of all */
};

/* The encoding of a quantised tensor's elements; NULL, quietly: it is not known. It lives as long as the quantizers. */
const struct lbx_encoding *lbx_torch_quantizer(struct lbx_torch_quantizers *quantizers, struct lbx_target *target,
					       const struct lbx_cxx_classes *classes,
					       const struct lbx_torch_layout *layout,
					       const struct lbx_torch_dtype *dtype, const struct lbx_torch_record *r);
void lbx_torch_quantizers_free(struct lbx_torch_quantizers *quantizers);

#endif
