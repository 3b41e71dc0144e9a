#include "torch/decode.h"

#include <stdio.h>
#include <string.h>

#include "tensors/axes.h"
#include "torch/history.h"

/* As c10/core/DeviceType.h numbers them. */
static const char *const devices[] = {
	"cpu",   "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",  "fpga", "maia", "xla",           "vulkan",
	"metal", "xpu",  "mps",    "meta",   "hpu",    "ve",    "lazy", "ipu",  "mtia", "privateuseone",
};

enum { CPU = 0, META = 14 };

bool lbx_torch_is_host(const struct lbx_torch_device *device)
{
	return device->type == CPU;
}

const char *lbx_torch_device(struct lbx_torch_set *s, const struct lbx_torch_device *device)
{
	char name[sizeof s->devices[0]];
	size_t most = sizeof s->devices / sizeof *s->devices;

	if ((size_t)device->type >= sizeof devices / sizeof *devices)
		snprintf(name, sizeof name, "device %d", device->type);
	else if (device->index < 0)
		snprintf(name, sizeof name, "%s", devices[device->type]);
	else
		snprintf(name, sizeof name, "%s:%d", devices[device->type], device->index);
	for (int i = 0; i < s->n_devices; i++)
		if (strcmp(s->devices[i], name) == 0)
			return s->devices[i];
	if ((size_t)s->n_devices == most)
		return "a device";
	memcpy(s->devices[s->n_devices], name, sizeof name);
	return s->devices[s->n_devices++];
}

static void set_opaque(struct lbx_tensor *t, const char *why)
{
	t->state = LBX_OPAQUE;
	t->place = why;
}

/* Whether there is a value that can be read. */
static void set_state(struct lbx_torch_set *s, const struct lbx_torch_record *r, const struct lbx_torch_dtype *dtype,
		      const struct lbx_torch_storage *storage, struct lbx_tensor *ret)
{
	const struct lbx_torch_device *device = storage ? &storage->device : &r->device;

	ret->state = LBX_READY;
	ret->memory = lbx_torch_device(s, device);
	if (lbx_torch_kind(r->class) == LBX_TORCH_OTHER) {
		set_opaque(ret, r->class->name);
	} else if (device->type == META) {
		set_opaque(ret, "it is on the meta device, and has no value");
	} else if (!lbx_torch_is_host(device)) {
		ret->state = LBX_ON_DEVICE;
		ret->place = ret->memory;
	} else if (!storage || (storage->data == 0 && r->size)) {
		set_opaque(ret, "its storage has no memory");
	} else if (!lbx_torch_is_plain(r->keys, s->view_key)) {
		set_opaque(ret, "its elements stand for others: it is a lazy conjugate or negative, all 0, or wrapped");
	} else if (dtype->why) {
		set_opaque(ret, dtype->why);
	} else if (dtype->is_quantized) {
		ret->encoding =
		    lbx_torch_quantizer(&s->quantizers, lbx_torch_set_target(s), &s->classes, &s->layout, dtype, r);
		if (!ret->encoding) {
			ret->encoding = &dtype->encoding;
			set_opaque(ret, "how its integers are scaled is not known");
		}
	}
}

/* The number of a storage; of one that the search has not seen, its address, which none of the others has. */
static uint64_t storage_id(const struct lbx_torch_set *s, uint64_t address)
{
	size_t n = lbx_torch_number(s->storages, s->n_storages, address);

	return n ? n : address;
}

bool lbx_torch_decode(struct lbx_torch_set *s, uint64_t id, const struct lbx_torch_record *r, struct lbx_tensor *ret)
{
	const struct lbx_torch_dtype *dtype = &s->dtypes[r->dtype];
	struct lbx_torch_storage storage;
	bool has_storage = r->storage != 0;

	if (has_storage &&
	    !lbx_torch_storage_read(lbx_torch_set_target(s), &s->classes, &s->layout, r->storage, &storage))
		return false;
	*ret = (struct lbx_tensor){ .of = &s->tensors,
				    .address = r->address,
				    .id = id,
				    .dtype = dtype->encoding.dtype,
				    .encoding = dtype->is_plain ? NULL : &dtype->encoding,
				    .op = "",
				    .op_class = LB_CLASS_LEAF,
				    .layout_known = lbx_torch_kind(r->class) != LBX_TORCH_OTHER,
				    .offset = r->offset,
				    .size = r->size,
				    .refs = (uint32_t)r->references };
	set_state(s, r, dtype, has_storage ? &storage : NULL, ret);
	lbx_torch_history_decode(s, r, ret);
	if (has_storage && storage.device.type != META) {
		ret->data = ret->state == LBX_READY ? storage.data : 0;
		ret->buffer_id = storage_id(s, storage.address);
		ret->buffer_bytes = ret->buffer_capacity = (int64_t)storage.bytes;
		ret->buffer_refs = (uint32_t)storage.references;
	}
	return lbx_tensor_set_axes(&s->tensors.axes, ret, r->rank, r->sizes, r->strides) &&
	       (ret->state != LBX_READY || lbx_tensor_in_bounds(ret));
}
