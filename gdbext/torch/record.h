/* A tensor of PyTorch's, and a storage, as they lie in memory, checked. */
#ifndef LBX_TORCH_RECORD_H
#define LBX_TORCH_RECORD_H

#include "target/target.h"
#include "torch/classes.h"
#include "torch/layout.h"

enum { LBX_TORCH_AXES = 64 };

struct lbx_torch_device {
	int8_t type, index; /* as c10/core/DeviceType.h numbers them; -1: of no number */
};

struct lbx_torch_storage {
	uint64_t address, data;
	uint64_t bytes, references;
	struct lbx_torch_device device;
};

struct lbx_torch_record {
	uint64_t address;
	const struct lbx_cxx_class *class;
	uint64_t references;
	uint64_t storage, autograd, version_counter, pyobj; /* addresses; 0: none */
	bool
	    is_shared; /* Python's object lives as long as others than it hold this, too, and is counted by one more then */
	bool has_it; /* or this holds Python's object, which is not the other way round then */
	int rank;
	int64_t sizes[LBX_TORCH_AXES], strides[LBX_TORCH_AXES]; /* elements */
	int64_t offset, size; /* elements */
	unsigned dtype;
	struct lbx_torch_device device;
	uint64_t keys; /* of dispatch: what the tensor goes through before its elements are looked at */
};

/* False, quietly, where it cannot be read, has been freed, or cannot be one with that layout. */
bool lbx_torch_record_read(struct lbx_target *target, const struct lbx_cxx_classes *classes,
			   const struct lbx_torch_layout *layout, uint64_t address, struct lbx_torch_record *ret);
bool lbx_torch_storage_read(struct lbx_target *target, const struct lbx_cxx_classes *classes,
			    const struct lbx_torch_layout *layout, uint64_t address, struct lbx_torch_storage *ret);

#endif
