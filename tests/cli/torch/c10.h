/* What PyTorch's tensors look like in memory, without PyTorch: classes of the same names with the same fields. LAYOUT is the
 * version: 113, 206, 213, or 999, which there has never been. */
#pragma once
#include <cstdint>

namespace c10 {

struct intrusive_ptr_target {
#if LAYOUT == 113
	uint64_t references = 1, weak = 1;
#else
	uint32_t references = 1, weak = 1;
#endif
	virtual ~intrusive_ptr_target();
	virtual void release_resources();
};

struct Device {
	int8_t type = 0, index = -1;
};

struct StorageImpl : intrusive_ptr_target {
	void *data = nullptr, *context = nullptr;
	void (*deleter)(void *) = nullptr;
	Device device;
	uint64_t bytes = 0;
	bool is_resizable = true;
	void *allocator = nullptr;
	~StorageImpl() override;
};

struct TensorImpl : intrusive_ptr_target {
	StorageImpl *storage = nullptr;
	void *autograd = nullptr, *extra = nullptr, *version = nullptr;
#if LAYOUT == 206 || LAYOUT == 113
	void *interpreter = nullptr;
#elif LAYOUT == 999
	void *one = nullptr, *two = nullptr;
#endif
	void *python = nullptr;
	uint64_t rank = 0;
	union {
		int64_t sizes[5];
		int64_t *outside;
	};
	int64_t strides[5];
	int64_t offset = 0, elements = 1;
	uint16_t dtype = 6;
#if LAYOUT == 113
	bool has_device = true;
	Device device;
#else
	Device device;
	bool has_device = true;
#endif
#if LAYOUT == 113
	uint64_t keys = 0x12800004001;
#else
	uint64_t keys = 0x9400010001;
#endif
	TensorImpl();
	~TensorImpl() override;
};

} // namespace c10

namespace at {

struct QTensorImpl : c10::TensorImpl {
	void *quantizer = nullptr;
	~QTensorImpl() override;
};

struct SparseTensorImpl : c10::TensorImpl {
	int64_t sparse = 2, dense = 0;
	~SparseTensorImpl() override;
};

} // namespace at
