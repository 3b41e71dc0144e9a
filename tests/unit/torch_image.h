/* The memory of a program with PyTorch, made by hand: a program, a libc10.so with its classes, and tensors of all kinds.
 * Tests and fuzzers damage it and see what the provider says. */
#ifndef TESTS_TORCH_IMAGE_H
#define TESTS_TORCH_IMAGE_H

#include "library_image.h"
#include "python_image.h"
#include "regions.h"
#include "torch/layout.h"

enum {
	TORCH_PROGRAM = LIBRARY_PROGRAM,
	TORCH_PROGRAM_SIZE = LIBRARY_PROGRAM_SIZE,
	TORCH_MODULE = LIBRARY, /* libc10.so */
	TORCH_CODE = LIBRARY_CODE,
	TORCH_CLASSES = LIBRARY_DATA,
	TORCH_MODULE_SIZE = LIBRARY_SIZE,
	TORCH_PYTHON = TORCH_CLASSES + 0x800, /* what the interpreter exports */
	TORCH_HEAP = 0x10000000, /* objects */
	TORCH_HEAP_SIZE = 0x4000,
	TORCH_DATA = 0x30000000, /* what tensors hold */
	TORCH_DATA_SIZE = 0x1000,
};
enum {
	TORCH_U8 = 0,
	TORCH_I32 = 3,
	TORCH_I64 = 4,
	TORCH_F32 = 6,
	TORCH_F64 = 7,
	TORCH_C32 = 8,
	TORCH_C128 = 10,
	TORCH_QINT8 = 12,
	TORCH_QUINT8 = 13,
	TORCH_BF16 = 15
};

/* Of what autograd knows of a tensor, and of its nodes. */
enum {
	TORCH_GRADIENT = 0x28,
	TORCH_FUNCTION = 0x30,
	TORCH_REQUIRES = 0x80,
	TORCH_EDGES = 0x58,
	TORCH_EDGE = 0x10,
	TORCH_OUTPUTS = 0xb0,
	TORCH_NODE = 0x160
};

struct torch_image {
	union {
		struct lbx_target target;
		struct regions regions; /* the program, libc10.so, heap, data */
	};
	struct lbx_torch_layout layout;
	struct python_image python;
	struct library_image library;
	uint64_t heap, data; /* where the next will be */
	struct library_class tensor, storage, undefined, quantized, sparse, quantizer, meta;
};

/* With classes, without tensors. `row` is that of its layout (lbx_torch_layout()). */
void torch_image_create(struct torch_image *image, int row);
void torch_image_destroy(struct torch_image *image);
/* An object that is counted, of so many bytes, which are 0 behind the counts. */
uint64_t torch_image_object(struct torch_image *image, const struct library_class *class, uint64_t bytes);
uint64_t torch_image_storage(struct torch_image *image, uint64_t bytes);
/* Contiguous; storage 0: it has none. */
uint64_t torch_image_tensor(struct torch_image *image, const struct library_class *class, unsigned dtype, int rank,
			    const int64_t *sizes, uint64_t storage);
/* Fields of a tensor, wherever its layout has them: counted from `rank` on. */
void torch_image_set(struct torch_image *image, uint64_t tensor, int field, uint64_t value, size_t width);
/* A matrix and views of it, many axes, an empty one, meta, a device, quantised by one scale and by several, sparse by others,
 * one that was freed: 12 that live. */
void torch_image_populate(struct torch_image *image);
/* And autograd's graph: a leaf w that has a gradient, and y, computed as w * … + w: two more, and a result that nobody
 * keeps. Returns the address of w. */
uint64_t torch_image_learn(struct torch_image *image);
/* Of torch::nn::Module: a Net, whose part `fc`, a Linear, has a tensor for its `weight`. */
enum { TORCH_NET_ITEMS = 0x38, TORCH_NET_COUNT = 0x18, TORCH_NET_PARAMETERS = 0x18, TORCH_NET_CHILDREN = 0xf8 };
struct torch_nets {
	uint64_t net, linear, items, part; /* addresses: of the modules, of the tensor's item, of the part's */
};
struct torch_nets torch_image_nets(struct torch_image *image, uint64_t tensor);
/* And Python 3.11 or 3.13 around six tensors more: net.fc.weight and bias, batch['image'], x, which is batch[7], items[1][0],
 * and `late`, a variable of functions; a thread in Linear.forward, called by Net.forward, which raises an exception. */
void torch_image_speak(struct torch_image *image, unsigned minor);

#endif
