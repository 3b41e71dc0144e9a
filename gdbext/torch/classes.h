/* The classes of PyTorch's tensors and storages, by their virtual tables: c10::TensorImpl, c10::StorageImpl, and all that
 * the program's modules derive from them. */
#ifndef LBX_TORCH_CLASSES_H
#define LBX_TORCH_CLASSES_H

#include "target/loader.h"
#include "torch/types.h"

enum { LBX_TORCH_CLASSES = 128 };

enum lbx_torch_kind {
	LBX_TORCH_DENSE, /* c10::TensorImpl itself */
	LBX_TORCH_QUANTIZED, /* dense, with a quantizer */
	LBX_TORCH_OTHER, /* its elements are elsewhere: sparse, nested, batched, … */
	LBX_TORCH_UNDEFINED, /* no tensor: there is one such object in a program */
	LBX_TORCH_STORAGE
};

struct lbx_torch_class {
	uint64_t vtable; /* as objects have it in their first word */
	enum lbx_torch_kind kind;
	char name[LBX_TORCH_TYPE_NAME]; /* "at::SparseTensorImpl" */
};

struct lbx_torch_classes {
	int n;
	struct lbx_torch_class list[LBX_TORCH_CLASSES]; /* by vtable */
	uint64_t filter; /* by the lowest bits of their addresses beyond the alignment: most words are none */
};

/* Of the modules, in which they may have several copies. False, quietly, where there are none. */
bool lbx_torch_classes_find(struct lbx_target *target, const struct lbx_loaded *modules, int n,
			    struct lbx_torch_classes *ret);
/* NULL: it is none of them. */
const struct lbx_torch_class *lbx_torch_class_at(const struct lbx_torch_classes *classes, uint64_t vtable);

static inline bool lbx_torch_may_be_class(const struct lbx_torch_classes *classes, uint64_t word)
{
	return word && (word & 7) == 0 && (classes->filter >> (word >> 3 & 63) & 1);
}

#endif
