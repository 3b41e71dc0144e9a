#include "torch/classes.h"

#include <string.h>

enum { TENSOR, STORAGE };

static const char *const bases[] = { [TENSOR] = "_ZTIN3c1010TensorImplE", [STORAGE] = "_ZTIN3c1011StorageImplE", NULL };
static const struct lbx_cxx_sought sought = { .bases = bases };

bool lbx_torch_classes_find(struct lbx_target *target, const struct lbx_loaded *modules, int n,
			    struct lbx_cxx_classes *ret)
{
	return lbx_cxx_classes_find(target, modules, n, &sought, ret);
}

bool lbx_torch_classes_add(struct lbx_target *target, const struct lbx_loaded *modules, int n, uint64_t vtable,
			   struct lbx_cxx_classes *ret)
{
	return lbx_cxx_classes_add(target, modules, n, &sought, vtable, ret);
}

enum lbx_torch_kind lbx_torch_kind(const struct lbx_cxx_class *class)
{
	if (class->base == STORAGE)
		return LBX_TORCH_STORAGE;
	if (strcmp(class->name, "c10::TensorImpl") == 0)
		return LBX_TORCH_DENSE;
	if (strcmp(class->name, "at::QTensorImpl") == 0)
		return LBX_TORCH_QUANTIZED;
	return strcmp(class->name, "c10::UndefinedTensorImpl") == 0 ? LBX_TORCH_UNDEFINED : LBX_TORCH_OTHER;
}
