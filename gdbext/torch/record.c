#include "torch/record.h"

#include <string.h>

#include "base/error.h"
#include "torch/dtypes.h"

enum { TENSOR_MAX = 0x100, STORAGE_MAX = 0x60, COUNT_MAX = 1 << 30, DEVICE_TYPES = 64, DEVICES = 64 };

static uint64_t word_at(const unsigned char *bytes, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof word);
	return word;
}

static bool is_pointer(uint64_t word)
{
	return word == 0 || (word >= 0x1000 && word >> 56 == 0 && word % 8 == 0);
}

static bool take_device(const unsigned char *bytes, struct lbx_torch_device *ret)
{
	memcpy(&ret->type, bytes, 1);
	memcpy(&ret->index, bytes + 1, 1);
	return ret->type >= 0 && ret->type < DEVICE_TYPES && ret->index >= -1 && ret->index < DEVICES;
}

static bool has_device(const unsigned char *bytes, const struct lbx_torch_layout *layout)
{
	uint32_t at = layout->rank + (layout->device == LBX_TORCH_DEVICE ? LBX_TORCH_DEVICE + 2 : LBX_TORCH_DEVICE);

	return bytes[at] == 1;
}

/* Of the objects that c10::intrusive_ptr counts. In newer versions both counts are in one word; its highest bit says that
 * Python holds the object. */
static bool take_counts(const unsigned char *bytes, const struct lbx_torch_layout *layout, uint64_t *ret)
{
	bool is_short = layout->behind == LBX_TORCH_BEHIND_SHORT;
	uint64_t counts = word_at(bytes, LBX_TORCH_COUNTS);
	uint64_t weak = is_short ? counts >> 32 & INT32_MAX : word_at(bytes, LBX_TORCH_COUNTS + sizeof counts);

	*ret = is_short ? counts & UINT32_MAX : counts;
	return *ret > 0 && *ret < COUNT_MAX && weak > 0 && weak < COUNT_MAX;
}

/* Up to five of each lie in the object; more in memory of their own, the strides behind the sizes. */
static bool take_axes(struct lbx_target *target, const unsigned char *bytes, const struct lbx_torch_layout *layout,
		      struct lbx_torch_record *ret)
{
	size_t n = (size_t)ret->rank * sizeof *ret->sizes;
	uint64_t sizes = word_at(bytes, layout->rank + LBX_TORCH_SIZES);

	if (ret->rank <= LBX_TORCH_INLINE_AXES) {
		memcpy(ret->sizes, bytes + layout->rank + LBX_TORCH_SIZES, n);
		memcpy(ret->strides, bytes + layout->rank + LBX_TORCH_STRIDES, n);
		return true;
	}
	return sizes && is_pointer(sizes) && lbx_target_try_read(target, sizes, ret->sizes, n) &&
	       lbx_target_try_read(target, sizes + n, ret->strides, n);
}

/* The number of elements is the product of the sizes. */
static bool is_consistent(const struct lbx_torch_record *r)
{
	int64_t n = 1;

	for (int i = 0; i < r->rank; i++)
		if (r->sizes[i] < 0 || !lb_mul(n, r->sizes[i], &n))
			return false;
	return n == r->size && r->offset >= 0;
}

bool lbx_torch_record_read(struct lbx_target *target, const struct lbx_cxx_classes *classes,
			   const struct lbx_torch_layout *layout, uint64_t address, struct lbx_torch_record *ret)
{
	unsigned char bytes[TENSOR_MAX];
	size_t n = layout->rank + LBX_TORCH_TENSOR_END;
	uint16_t dtype;

	*ret = (struct lbx_torch_record){ .address = address };
	if (!lbx_target_try_read(target, address, bytes, n))
		return false;
	ret->class = lbx_cxx_class_at(classes, word_at(bytes, 0));
	uint64_t rank = word_at(bytes, layout->rank);
	if (!ret->class || lbx_torch_kind(ret->class) == LBX_TORCH_STORAGE ||
	    lbx_torch_kind(ret->class) == LBX_TORCH_UNDEFINED || rank > LBX_TORCH_AXES ||
	    !take_counts(bytes, layout, &ret->references))
		return false;
	ret->rank = (int)rank;
	ret->storage = word_at(bytes, layout->behind + LBX_TORCH_STORAGE_AT);
	ret->autograd = word_at(bytes, layout->behind + LBX_TORCH_AUTOGRAD);
	ret->version_counter = word_at(bytes, layout->behind + LBX_TORCH_VERSION);
	ret->pyobj = word_at(bytes, layout->rank + LBX_TORCH_PYOBJ);
	ret->has_it = ret->pyobj & 1;
	ret->pyobj &= ~(uint64_t)1;
	ret->is_shared =
	    layout->behind == LBX_TORCH_BEHIND_SHORT && word_at(bytes, LBX_TORCH_COUNTS) >> 63 && ret->references > 1;
	ret->offset = (int64_t)word_at(bytes, layout->rank + LBX_TORCH_OFFSET);
	ret->size = (int64_t)word_at(bytes, layout->rank + LBX_TORCH_NUMEL);
	ret->keys = word_at(bytes, layout->rank + LBX_TORCH_KEYS);
	memcpy(&dtype, bytes + layout->rank + LBX_TORCH_DTYPE, sizeof dtype);
	ret->dtype = dtype;
	return is_pointer(ret->storage) && is_pointer(ret->autograd) && is_pointer(ret->version_counter) &&
	       is_pointer(ret->pyobj) && lbx_torch_dtype_name(dtype) && has_device(bytes, layout) &&
	       take_device(bytes + layout->rank + layout->device, &ret->device) &&
	       take_axes(target, bytes, layout, ret) && is_consistent(ret);
}

bool lbx_torch_storage_read(struct lbx_target *target, const struct lbx_cxx_classes *classes,
			    const struct lbx_torch_layout *layout, uint64_t address, struct lbx_torch_storage *ret)
{
	unsigned char bytes[STORAGE_MAX];
	const struct lbx_cxx_class *class;

	*ret = (struct lbx_torch_storage){ .address = address };
	if (!lbx_target_try_read(target, address, bytes, sizeof bytes))
		return false;
	class = lbx_cxx_class_at(classes, word_at(bytes, 0));
	ret->data = word_at(bytes, layout->behind + LBX_TORCH_STORAGE_DATA);
	ret->bytes = word_at(bytes, layout->behind + LBX_TORCH_STORAGE_BYTES);
	return class && lbx_torch_kind(class) == LBX_TORCH_STORAGE && take_counts(bytes, layout, &ret->references) &&
	       take_device(bytes + layout->behind + LBX_TORCH_STORAGE_DEVICE, &ret->device) &&
	       ret->bytes <= INT64_MAX / 2 && ret->data <= UINT64_MAX - ret->bytes;
}
