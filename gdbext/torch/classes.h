/* The classes of PyTorch's tensors and storages: c10::TensorImpl, c10::StorageImpl, and all that is derived from them. */
#ifndef LBX_TORCH_CLASSES_H
#define LBX_TORCH_CLASSES_H

#include "target/cxx_classes.h"

enum lbx_torch_kind {
	LBX_TORCH_DENSE, /* c10::TensorImpl itself */
	LBX_TORCH_QUANTIZED, /* dense, with a quantizer */
	LBX_TORCH_OTHER, /* its elements are elsewhere: sparse, nested, batched, … */
	LBX_TORCH_UNDEFINED, /* no tensor: there is one such object in a program */
	LBX_TORCH_STORAGE
};

/* False, quietly, where PyTorch's core is no module. */
bool lbx_torch_classes_find(struct lbx_target *target, const struct lbx_loaded *modules, int n,
			    struct lbx_cxx_classes *ret);
/* Adds the class of objects whose first word is `vtable`, if it is one. False, quietly: it is none. */
bool lbx_torch_classes_add(struct lbx_target *target, const struct lbx_loaded *modules, int n, uint64_t vtable,
			   struct lbx_cxx_classes *ret);
enum lbx_torch_kind lbx_torch_kind(const struct lbx_cxx_class *class);

#endif
