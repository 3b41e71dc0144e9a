#include "torch_image.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8 };

static void put(struct torch_image *image, uint64_t address, uint64_t value)
{
	regions_put(&image->regions, address, value, WORD);
}

/* ---- classes ---- */

enum { EXPORTED = 2, EXPORTED_WITH_PYTHON = 5 };
static const char *const exported[EXPORTED_WITH_PYTHON] = { "_ZTIN3c1010TensorImplE", "_ZTIN3c1011StorageImplE",
							    "_PyRuntime", "Py_Version", "PyType_Type" };

static void put_classes(struct torch_image *image)
{
	const uint64_t functions[2] = { TORCH_CODE, TORCH_CODE };

	image->tensor = library_image_class(&image->library, "N3c1010TensorImplE", NULL, 2, functions);
	image->storage = library_image_class(&image->library, "N3c1011StorageImplE", NULL, 2, functions);
	image->undefined =
	    library_image_class(&image->library, "N3c1019UndefinedTensorImplE", &image->tensor, 2, functions);
	image->quantized = library_image_class(&image->library, "N2at11QTensorImplE", &image->tensor, 2, functions);
	image->sparse = library_image_class(&image->library, "N2at16SparseTensorImplE", &image->tensor, 2, functions);
	image->quantizer = library_image_class(&image->library, "N2at9QuantizerE", NULL, 2, functions);
}

void torch_image_create(struct torch_image *image, int row)
{
	*image = (struct torch_image){ .layout = *lbx_torch_layout(row), .heap = TORCH_HEAP, .data = TORCH_DATA };
	library_image_create(&image->library, &image->regions, "/usr/lib/libc10.so");
	regions_add(&image->regions, TORCH_HEAP, TORCH_HEAP_SIZE, 0);
	regions_add(&image->regions, TORCH_DATA, TORCH_DATA_SIZE, 0);
	put_classes(image);
	library_image_export(&image->library, exported, (const uint64_t[]){ image->tensor.type, image->storage.type },
			     EXPORTED);
}

void torch_image_destroy(struct torch_image *image)
{
	regions_destroy(&image->regions);
}

/* ---- objects ---- */

uint64_t torch_image_object(struct torch_image *image, const struct library_class *class, uint64_t bytes)
{
	uint64_t at = image->heap;
	bool is_short = image->layout.behind == LBX_TORCH_BEHIND_SHORT;

	put(image, at, class->vtable);
	put(image, at + LBX_TORCH_COUNTS, is_short ? 1ULL << 32 | 1 : 1);
	if (!is_short)
		put(image, at + LBX_TORCH_COUNTS + WORD, 1);
	image->heap += (bytes + 15) / 16 * 16;
	return at;
}

uint64_t torch_image_storage(struct torch_image *image, uint64_t bytes)
{
	uint64_t at = torch_image_object(image, &image->storage, 0x60), from = at + image->layout.behind;

	put(image, from + LBX_TORCH_STORAGE_DATA, image->data);
	put(image, from + LBX_TORCH_STORAGE_DEVICE, 0xff00);
	put(image, from + LBX_TORCH_STORAGE_BYTES, bytes);
	image->data += (bytes + 15) / 16 * 16;
	return at;
}

void torch_image_set(struct torch_image *image, uint64_t tensor, int field, uint64_t value, size_t width)
{
	regions_put(&image->regions, tensor + image->layout.rank + (uint64_t)(int64_t)field, value, width);
}

static void set_axes(struct torch_image *image, uint64_t tensor, int rank, const int64_t *sizes)
{
	int64_t axes[2 * 64], n = 1;
	uint64_t bytes = WORD * (uint64_t)rank;

	for (int i = rank; i-- > 0; n *= sizes[i]) {
		axes[i] = sizes[i];
		axes[rank + i] = n;
	}
	torch_image_set(image, tensor, LBX_TORCH_NUMEL, (uint64_t)n, WORD);
	torch_image_set(image, tensor, 0, (uint64_t)rank, WORD);
	if (rank > LBX_TORCH_INLINE_AXES) {
		torch_image_set(image, tensor, LBX_TORCH_SIZES, image->heap, WORD);
		regions_copy(&image->regions, image->heap, axes, 2 * bytes);
		image->heap += 2 * bytes;
		return;
	}
	for (int i = 0; i < rank; i++) {
		torch_image_set(image, tensor, LBX_TORCH_SIZES + WORD * i, (uint64_t)axes[i], WORD);
		torch_image_set(image, tensor, LBX_TORCH_STRIDES + WORD * i, (uint64_t)axes[rank + i], WORD);
	}
}

uint64_t torch_image_tensor(struct torch_image *image, const struct library_class *class, unsigned dtype, int rank,
			    const int64_t *sizes, uint64_t storage)
{
	uint64_t at = torch_image_object(image, class, image->layout.rank + LBX_TORCH_TENSOR_END + 0x20);
	bool is_behind = image->layout.device == LBX_TORCH_DEVICE_BEHIND;

	put(image, at + image->layout.behind + LBX_TORCH_STORAGE_AT, storage);
	torch_image_set(image, at, LBX_TORCH_DTYPE, dtype, 2);
	torch_image_set(image, at, LBX_TORCH_DEVICE, is_behind ? 0xff0001 : 0x01ff00, 3);
	torch_image_set(image, at, LBX_TORCH_KEYS, is_behind ? 0x12800004001 : 0x9400010001, WORD);
	set_axes(image, at, rank, sizes);
	return at;
}

/* ---- some of all kinds ---- */

static void set_device(struct torch_image *image, uint64_t tensor, uint64_t storage, unsigned device)
{
	torch_image_set(image, tensor, (int)image->layout.device, device, 2);
	regions_put(&image->regions, storage + image->layout.behind + LBX_TORCH_STORAGE_DEVICE, device, 2);
}

/* One scale, or a tensor of them, with as many zero points, for the first axis. */
static uint64_t add_quantizer(struct torch_image *image, unsigned dtype, uint64_t scales, uint64_t zeros)
{
	static const double half = 0.5;
	uint64_t at = torch_image_object(image, &image->quantizer, 0x40), behind = at + image->layout.behind;

	put(image, behind, dtype);
	if (scales)
		put(image, behind + WORD, scales);
	else
		regions_copy(&image->regions, behind + WORD, &half, sizeof half);
	put(image, behind + 2 * WORD, scales ? zeros : 3);
	return at;
}

static void add_quantized(struct torch_image *image, uint64_t sparse)
{
	static const int64_t matrix[] = { 2, 3 }, rows[] = { 2 };
	static const double scales[] = { 0.5, 0.25 };
	static const int64_t zeros[] = { 1, -1 };
	uint64_t at =
	    torch_image_tensor(image, &image->quantized, TORCH_QUINT8, 2, matrix, torch_image_storage(image, 6));
	torch_image_set(image, at, LBX_TORCH_TENSOR_END, add_quantizer(image, TORCH_QUINT8, 0, 0), WORD);
	uint64_t many = image->data;
	uint64_t s = torch_image_tensor(image, &image->tensor, TORCH_F64, 1, rows, torch_image_storage(image, 16));
	regions_copy(&image->regions, many, scales, sizeof scales);
	many = image->data;
	uint64_t z = torch_image_tensor(image, &image->tensor, TORCH_I64, 1, rows, torch_image_storage(image, 16));
	regions_copy(&image->regions, many, zeros, sizeof zeros);
	torch_image_set(image, sparse, LBX_TORCH_TENSOR_END + 2 * WORD, z, WORD);
	torch_image_set(image, sparse, LBX_TORCH_TENSOR_END + 3 * WORD, s, WORD);
	at = torch_image_tensor(image, &image->quantized, TORCH_QINT8, 2, matrix, torch_image_storage(image, 6));
	torch_image_set(image, at, LBX_TORCH_TENSOR_END, add_quantizer(image, TORCH_QINT8, s, z), WORD);
}

void torch_image_populate(struct torch_image *image)
{
	static const int64_t sizes[] = { 2, 3, 4 }, part[] = { 3, 2 }, six[] = { 1, 2, 1, 3, 1, 4 }, none[] = { 0, 3 },
			     few[] = { 5 };
	uint64_t floats = image->data, all = torch_image_storage(image, 96);

	for (int i = 0; i < 24; i++) {
		float value = (float)i;
		regions_copy(&image->regions, floats + 4 * (uint64_t)i, &value, sizeof value);
	}
	torch_image_tensor(image, &image->tensor, TORCH_F32, 3, sizes, all);
	uint64_t view = torch_image_tensor(image, &image->tensor, TORCH_F32, 2, part, all);
	torch_image_set(image, view, LBX_TORCH_STRIDES, 8, WORD);
	torch_image_set(image, view, LBX_TORCH_STRIDES + WORD, 2, WORD);
	torch_image_set(image, view, LBX_TORCH_OFFSET, 1, WORD);
	torch_image_tensor(image, &image->tensor, TORCH_F32, 6, six, all);
	torch_image_tensor(image, &image->tensor, TORCH_F32, 0, NULL, all);
	torch_image_tensor(image, &image->tensor, TORCH_I32, 2, none, torch_image_storage(image, 0));
	uint64_t there = torch_image_storage(image, 10);
	set_device(image, torch_image_tensor(image, &image->tensor, TORCH_BF16, 1, few, there), there, 0x0201);
	uint64_t meta = torch_image_storage(image, 20);
	set_device(image, torch_image_tensor(image, &image->tensor, TORCH_F32, 1, few, meta), meta, 0xff0e);
	add_quantized(image, torch_image_tensor(image, &image->sparse, TORCH_F32, 1, few, 0));
	uint64_t freed = torch_image_tensor(image, &image->tensor, TORCH_F32, 1, few, all);
	put(image, freed + LBX_TORCH_COUNTS, 0);
	torch_image_object(image, &image->undefined, image->layout.rank + LBX_TORCH_TENSOR_END);
}

/* ---- autograd ---- */

/* The accessors of requires_grad and of the gradient, as gcc compiles them. */
static void put_accessors(struct torch_image *image)
{
	static const unsigned char requires[] = { 0x0f, 0xb6, 0x87, 0x80, 0,    0,    0,    0x84, 0xc0, 0x75,
						  0x08, 0x48, 0x83, 0x7f, 0x30, 0x00, 0x0f, 0x95, 0xc0, 0xc3 },
				   gradient[] = { 0x48, 0x8d, 0x47, 0x28, 0xc3 };

	regions_copy(&image->regions, TORCH_CODE + 0x40, requires, sizeof requires);
	regions_copy(&image->regions, TORCH_CODE + 0x80, gradient, sizeof gradient);
}

static uint64_t add_meta(struct torch_image *image, uint64_t tensor, uint64_t gradient, uint64_t function,
			 bool requires)
{
	const uint64_t functions[4] = { TORCH_CODE, TORCH_CODE + 0x40, TORCH_CODE + 0x80, TORCH_CODE + 0x80 };

	if (!image->meta.vtable) {
		put_accessors(image);
		image->meta =
		    library_image_class(&image->library, "N5torch8autograd12AutogradMetaE", NULL, 4, functions);
	}
	uint64_t at = image->heap;
	put(image, at, image->meta.vtable);
	put(image, at + TORCH_GRADIENT, gradient);
	put(image, at + TORCH_FUNCTION, function);
	put(image, at + TORCH_REQUIRES, requires);
	put(image, tensor + image->layout.behind + LBX_TORCH_AUTOGRAD, at);
	image->heap += 0x90;
	return at;
}

/* With n edges, a result that is a matrix, and a tensor that it keeps: 0: none. */
static uint64_t add_node(struct torch_image *image, const struct library_class *class, const uint64_t *to, int n,
			 uint64_t keeps)
{
	uint64_t edges = image->heap, at = edges + TORCH_EDGE * (uint64_t)n + 16, result = at + TORCH_OUTPUTS + 16;

	put(image, at - WORD, TORCH_NODE | 1); /* as malloc() would have it */
	put(image, at - WORD + TORCH_NODE, 0x21);
	put(image, at, class->vtable);
	for (int i = 0; i < n; i++)
		put(image, edges + TORCH_EDGE * (uint64_t)i, to[i]);
	if (n) {
		put(image, at + TORCH_EDGES, edges);
		put(image, at + TORCH_EDGES + WORD, edges + TORCH_EDGE * (uint64_t)n);
		put(image, at + TORCH_EDGES + 2 * WORD, edges + TORCH_EDGE * (uint64_t)n);
	}
	put(image, at + TORCH_OUTPUTS, result);
	put(image, at + TORCH_OUTPUTS + WORD, 2ULL << 32 | 1);
	put(image, result, (uint64_t)TORCH_F32 << 16 | 0xff00);
	put(image, result + WORD, result + 3 * WORD);
	put(image, result + 2 * WORD, 5ULL << 32 | 2);
	put(image, result + 3 * WORD, 3);
	put(image, result + 4 * WORD, 2);
	put(image, result + 9 * WORD, keeps);
	image->heap = (at + TORCH_NODE + 15) / 16 * 16;
	return at;
}

uint64_t torch_image_learn(struct torch_image *image)
{
	static const int64_t sizes[] = { 3, 2 };
	uint64_t code = TORCH_CODE, w, y, node[3], meta;
	struct library_class base = library_image_class(&image->library, "N5torch8autograd4NodeE", NULL, 1, &code),
			     add = library_image_class(&image->library, "N5torch8autograd9generated12AddBackward0E",
						       &base, 1, &code),
			     mul = library_image_class(&image->library, "N5torch8autograd9generated12MulBackward0E",
						       &base, 1, &code),
			     accumulate = library_image_class(&image->library, "N5torch8autograd14AccumulateGradE",
							      &base, 1, &code);

	w = torch_image_tensor(image, &image->tensor, TORCH_F32, 2, sizes, torch_image_storage(image, 24));
	y = torch_image_tensor(image, &image->tensor, TORCH_F32, 2, sizes, torch_image_storage(image, 24));
	node[0] = add_node(image, &accumulate, NULL, 0, w);
	node[1] = add_node(image, &mul, node, 1, w);
	node[2] = add_node(image, &add, (const uint64_t[]){ node[1], 0, node[0] }, 3, 0);
	meta = add_meta(image, w, y, 0, true);
	put(image, meta + TORCH_FUNCTION + WORD, node[0]);
	add_meta(image, y, 0, node[2], false);
	return w;
}

/* ---- modules of C++ ---- */

static void put_string(struct torch_image *image, uint64_t at, const char *text)
{
	put(image, at, at + 2 * WORD);
	put(image, at + WORD, strlen(text));
	regions_copy(&image->regions, at + 2 * WORD, text, strlen(text) + 1);
}

/* With a dict's only item, or none; *ret_item: where it is. */
static uint64_t add_net(struct torch_image *image, const struct library_class *class, uint64_t dict, const char *key,
			uint64_t value, uint64_t bytes, uint64_t *ret_item)
{
	static const char *const keys[] = { "Parameter", "Buffer", "Submodule" };
	uint64_t at = image->heap, item = at + 0x180;

	put(image, at, class->vtable);
	for (uint64_t i = 0; i < 3; i++)
		put_string(image, at + TORCH_NET_PARAMETERS + 0x70 * i + 0x50, keys[i]);
	put(image, at + dict + TORCH_NET_COUNT, 1);
	put(image, at + dict + TORCH_NET_ITEMS, item);
	put(image, at + dict + TORCH_NET_ITEMS + WORD, item + bytes);
	put(image, at + dict + TORCH_NET_ITEMS + 2 * WORD, item + bytes);
	put_string(image, item, key);
	put(image, item + 4 * WORD, value);
	*ret_item = item;
	image->heap = item + 0x40;
	return at;
}

struct torch_nets torch_image_nets(struct torch_image *image, uint64_t tensor)
{
	uint64_t code = TORCH_CODE;
	struct library_class base = library_image_class(&image->library, "N5torch2nn6ModuleE", NULL, 1, &code),
			     linear = library_image_class(&image->library, "N5torch2nn10LinearImplE", &base, 1, &code),
			     net = library_image_class(&image->library, "3Net", &base, 1, &code);
	struct torch_nets ret;

	ret.linear = add_net(image, &linear, TORCH_NET_PARAMETERS, "weight", tensor, 5 * WORD, &ret.items);
	ret.net = add_net(image, &net, TORCH_NET_CHILDREN, "fc", ret.linear, 6 * WORD, &ret.part);
	return ret;
}

/* ---- Python ---- */

/* Python's object of the i-th tensor, counted from 0. */
static uint64_t add_wrapper(struct torch_image *image, struct python_image *py, uint64_t type, uint64_t tensor)
{
	uint64_t at = python_image_object(py, type, 0x20);

	put(image, at + 0x10, tensor);
	torch_image_set(image, tensor, LBX_TORCH_PYOBJ, at, WORD);
	return at;
}

void torch_image_speak(struct torch_image *image, unsigned minor)
{
	enum { T = 6 };
	static const char *const parts[] = { "_parameters", "_modules" }, *const parameters[] = { "weight", "bias" };
	static const char *const globals[] = { "net", "x", "batch", "items", "note" };
	static const char *const locals[] = { "self", "given", "late" }, *const modules[] = { "sys", "__main__" };
	static const char *const fc[] = { "fc" };
	static const int64_t few[] = { 4 };
	struct python_image *py = &image->python;
	uint64_t type, t[T], objects[8];

	python_image_create(py, &image->regions, TORCH_PYTHON, minor);
	library_image_export(&image->library, exported,
			     (const uint64_t[]){ image->tensor.type, image->storage.type, TORCH_PYTHON + PYTHON_RUNTIME,
						 TORCH_PYTHON + PYTHON_VERSION, TORCH_PYTHON + PYTHON_TYPE_TYPE },
			     EXPORTED_WITH_PYTHON);
	type = python_image_type(py, "Tensor", 0, 0x20);
	for (int i = 0; i < T; i++)
		t[i] = add_wrapper(image, py, type,
				   torch_image_tensor(image, &image->tensor, TORCH_F32, 1, few,
						      torch_image_storage(image, 16)));
	struct python_class module = python_image_class(py, "Linear", parts, 2);
	uint64_t linear = python_image_instance(py, &module,
						(const uint64_t[]){ python_image_dict_of(py, parameters, t, 2),
								    python_image_dict_of(py, NULL, NULL, 0) });
	uint64_t net = python_image_instance(py, &module,
					     (const uint64_t[]){ python_image_dict_of(py, NULL, NULL, 0),
								 python_image_dict_of(py, fc, &linear, 1) });
	objects[0] = python_image_str(py, "image");
	objects[1] = python_image_int(py, 7);
	uint64_t batch = python_image_dict(py, objects, &t[2], 2);
	uint64_t pair = python_image_tuple(py, (const uint64_t[]){ t[4], objects[0] }, 2);
	uint64_t items = python_image_list(py, (const uint64_t[]){ objects[1], pair, batch }, 3);
	uint64_t main = python_image_dict_of(py, globals, (const uint64_t[]){ net, t[3], batch, items, objects[0] }, 5);
	python_image_import(py, modules, (const uint64_t[]){ python_image_dict_of(py, fc, objects, 1), main }, 2);
	python_image_call(py, "<module>", main, NULL, NULL, 0);
	python_image_call(py, "Net.forward", main, locals, (const uint64_t[]){ net, t[3], t[5] }, 3);
	python_image_call(py, "Linear.forward", main, locals, (const uint64_t[]){ linear, t[3], t[5] }, 3);
	python_image_raise(py, "RuntimeError", "shapes do not fit");
}
