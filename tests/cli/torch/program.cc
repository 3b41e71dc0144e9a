/* Tensors of all kinds, some of which are damaged; then it aborts. */
#include "c10.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

/* A class of the program's own. */
struct MaskedTensor : c10::TensorImpl {
	int64_t mask = 0;
};

struct Quantizer : c10::intrusive_ptr_target {
	uint8_t dtype;
	double scale = 0.5;
	int64_t zero = 3;
};

/* So that the program's stack and registers keep nothing from being there. */
static void *kept[64];
static int n_kept;

template <typename T> static T *make(uint16_t dtype, std::initializer_list<int64_t> sizes)
{
	T *t = new T;
	int64_t n = 1, axes[64], *at = sizes.size() > 5 ? new int64_t[2 * sizes.size()] : axes;
	size_t i = 0;

	for (int64_t size : sizes)
		at[i++] = size;
	for (i = sizes.size(); i-- > 0; n *= at[i])
		(sizes.size() > 5 ? at[sizes.size() + i] : t->strides[i]) = n;
	if (sizes.size() > 5)
		t->outside = at;
	else
		memcpy(t->sizes, axes, sizeof(int64_t) * sizes.size());
	t->rank = sizes.size();
	t->elements = n;
	t->dtype = dtype;
	kept[n_kept++] = t;
	return t;
}

static c10::StorageImpl *store(void *data, uint64_t bytes)
{
	auto *s = new c10::StorageImpl;

	s->data = data;
	s->bytes = bytes;
	return s;
}

static float floats[24];
static uint8_t bytes[] = { 3, 4, 5 };

static void damaged(c10::StorageImpl *all)
{
	make<c10::TensorImpl>(6, { 4 })->elements = 5;
	make<c10::TensorImpl>(6, { INT64_C(1) << 40, INT64_C(1) << 40 })->storage = all;
	make<c10::TensorImpl>(6, { 3 })->rank = 65;
	make<c10::TensorImpl>(6, { 3 })->storage = reinterpret_cast<c10::StorageImpl *>(floats);
	auto *past = make<c10::TensorImpl>(6, { 25 });
	past->storage = all;
	make<c10::TensorImpl>(77, { 3 })->storage = all;
	make<c10::TensorImpl>(6, { 3 })->device.type = -3;
	/* what was freed keeps its words, until they are used again */
	make<c10::TensorImpl>(6, { 3 })->references = 0;
}

int main()
{
	for (int i = 0; i < 24; i++)
		floats[i] = static_cast<float>(i);
	auto *all = store(floats, sizeof floats);
	make<c10::TensorImpl>(6, { 2, 3, 4 })->storage = all;
	for (int i = 0; i < 200; i++) {
		auto *scalar = new c10::TensorImpl;
		scalar->storage = all;
		scalar->offset = i % 24;
		kept[63] = scalar;
	}
	auto *view = make<c10::TensorImpl>(6, { 3, 2 });
	view->storage = all;
	view->strides[0] = 8, view->strides[1] = 2, view->offset = 1;
	make<c10::TensorImpl>(6, { 1, 2, 1, 3, 1, 4 })->storage = all;
	make<c10::TensorImpl>(6, { 0, 3 })->storage = store(nullptr, 0);
	auto *meta = make<c10::TensorImpl>(6, { 7 });
	meta->device.type = 14, meta->storage = store(nullptr, 28);
	meta->storage->device.type = 14;
	auto *there = make<c10::TensorImpl>(15, { 8 });
	there->device.type = 1, there->device.index = 2;
	there->storage = store(reinterpret_cast<void *>(0x7f0000000000), 16);
	there->storage->device = there->device;
	auto *quantized = make<at::QTensorImpl>(13, { 3 });
	quantized->storage = store(bytes, sizeof bytes);
	auto *quantizer = new Quantizer;
	quantizer->dtype = 13;
	quantized->quantizer = quantizer;
	make<at::SparseTensorImpl>(6, { 5, 5 });
	make<MaskedTensor>(6, { 6 })->storage = all;
	auto *negative = make<c10::TensorImpl>(6, { 6 });
	negative->storage = all;
	negative->keys |= UINT64_C(1) << (LAYOUT == 113 ? 33 : 32);
	auto *inference = make<c10::TensorImpl>(6, { 6 });
	inference->storage = all;
	inference->keys &= LAYOUT == 113 ? 0x10000004001 : 0x8000010001;
	damaged(all);
	abort();
}
