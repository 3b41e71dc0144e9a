/* Where the fields of PyTorch's objects are, which has changed from version to version. What lies together has stayed
 * together (c10/core/TensorImpl.h, c10/core/StorageImpl.h), so a few numbers tell all. */
#ifndef LBX_TORCH_LAYOUT_H
#define LBX_TORCH_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_torch_layout {
	const char *since; /* PyTorch's version; NULL: it is no known one's */
	uint32_t behind; /* of what is counted: where its own fields begin, behind the counts (below) */
	uint32_t rank;   /* of a tensor: the number of its axes; behind it sizes, strides, offset, elements, dtype */
	uint32_t device; /* of a tensor, from `rank` on: it is optional, and a byte behind it, or in front, says so */
};

/* `behind`: references and weak ones have 4 bytes each, or 8. */
enum { LBX_TORCH_COUNTS = 0x08, LBX_TORCH_BEHIND_SHORT = 0x10, LBX_TORCH_BEHIND_LONG = 0x18 };
/* Of a tensor, in bytes: from `behind` on, from `rank` on. */
enum { LBX_TORCH_STORAGE_AT = 0x00, LBX_TORCH_AUTOGRAD = 0x08, LBX_TORCH_VERSION = 0x18 };
enum {
	LBX_TORCH_PYOBJ = -8,
	LBX_TORCH_SIZES = 0x08,
	LBX_TORCH_STRIDES = 0x30,
	LBX_TORCH_OFFSET = 0x58,
	LBX_TORCH_NUMEL = 0x60,
	LBX_TORCH_DTYPE = 0x68,
	LBX_TORCH_KEYS = 0x70,
	LBX_TORCH_TENSOR_END = 0x78
};
enum {
	LBX_TORCH_DEVICE = 0x6a /* std::optional: the device first */,
	LBX_TORCH_DEVICE_BEHIND = 0x6b /* c10::optional */
};
enum { LBX_TORCH_INLINE_AXES = 5 };
/* Of a storage, from `behind` on. */
enum { LBX_TORCH_STORAGE_DATA = 0x00, LBX_TORCH_STORAGE_DEVICE = 0x18, LBX_TORCH_STORAGE_BYTES = 0x20 };

/* The i-th one that is known, newest first; NULL: there are i. */
const struct lbx_torch_layout *lbx_torch_layout(int i);
/* The i-th one that may be, whether any version is known to have it; false: there are i. */
bool lbx_torch_layout_guess(int i, struct lbx_torch_layout *ret);

#endif
