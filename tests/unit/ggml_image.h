/* The memory of a program with ggml, made by hand: a module with its tables, headers and functions of one line, contexts
 * of all kinds, and what their tensors lead to. Tests and fuzzers damage it and see what the provider says. */
#ifndef TESTS_GGML_IMAGE_H
#define TESTS_GGML_IMAGE_H

#include "target/stacks.h"
#include "ggml/layout.h"
#include "regions.h"

enum {
	GGML_MODULE = 0x400000,
	GGML_CODE = GGML_MODULE + 0x2000,
	GGML_TABLES = GGML_MODULE + 0x3000,
	GGML_TRAITS = GGML_TABLES + 0x400,
	GGML_HEAP = 0x10000000, /* contexts and buffers */
	GGML_POOL = 0x20000000, /* what contexts have their objects in */
	GGML_DATA = 0x30000000, /* what tensors hold */
	GGML_MODULE_SIZE = 0x4000,
	GGML_HEAP_SIZE = 0x800,
	GGML_DATA_SIZE = 0x2000,
	GGML_SECOND = 0x600000, /* another module */
	GGML_HEAD = 0x28, /* bytes of a context that matter */
	GGML_OBJECT = 0x20,
};
enum {
	GGML_F32 = 0,
	GGML_F16 = 1,
	GGML_Q4_0 = 2,
	GGML_Q8_0 = 8,
	GGML_Q4_K = 12,
	GGML_I32 = 26,
	GGML_Q4_0_8X8 = 33,
	GGML_MXFP4 = 39
};
enum {
	GGML_NONE,
	GGML_DUP,
	GGML_ADD,
	GGML_MUL_MAT,
	GGML_CPY,
	GGML_CONT,
	GGML_VIEW,
	GGML_TRANSPOSE,
	GGML_GET_ROWS,
	GGML_RMS_NORM,
	GGML_MUL,
	GGML_CONCAT,
	GGML_SET_ROWS,
	GGML_MUL_MAT_ID,
	GGML_IM2COL,
	GGML_SSM_CONV,
	GGML_SSM_SCAN,
	GGML_RWKV_WKV6,
	GGML_RWKV_WKV7,
	GGML_GATED_LINEAR_ATTN,
	GGML_GATED_DELTA_NET,
	GGML_N_OPS = 72 /* as in 2023-12 */
};

/* ggml's sizes, as arguments below want them. */
#define NE(...) ((const int64_t[LBX_GGML_AXES]){ __VA_ARGS__ })

struct ggml_image {
	union {
		struct lbx_target target;
		struct regions regions; /* the module, heap, pool, data, maybe another module */
	};
	struct lbx_ggml_layout layout; /* of its tensors */
	uint64_t heap, pool, data; /* where the next will be */
	uint64_t context, last, memory, limit; /* the one that is being filled: its last object, and its memory */
	uint64_t host, device; /* buffers */
};

/* Without tensors. `row` is that of its layout (lbx_ggml_layout()), `exports` whether it has symbols, `pool` bytes. */
void ggml_image_create(struct ggml_image *image, size_t row, bool exports, uint64_t pool);
void ggml_image_destroy(struct ggml_image *image);
/* Bytes at an address, to change; NULL where there are none. */
void *ggml_image_at(struct ggml_image *image, uint64_t address, uint64_t n);
void ggml_image_put(struct ggml_image *image, uint64_t address, uint64_t value, size_t width);
uint64_t ggml_image_get(struct ggml_image *image, uint64_t address, size_t width);

/* Begins a context, whose memory is `size` bytes; what follows is added to it. */
uint64_t ggml_image_context(struct ggml_image *image, uint64_t size);
/* An object of any type; returns what follows it. */
uint64_t ggml_image_object(struct ggml_image *image, int type, uint64_t size);
/* A buffer of a kind that repacks weights. */
uint64_t ggml_image_repacking(struct ggml_image *image);
/* An object of a C++ class, whose functions begin with its first word: the name of the class is mangled. */
uint64_t ggml_image_object_of_class(struct ggml_image *image, const char *name);
/* A tensor as ggml_new_tensor() leaves it, without data, in a context that allocates none. */
uint64_t ggml_image_tensor(struct ggml_image *image, const char *name, uint32_t type, const int64_t ne[LBX_GGML_AXES]);
/* Bytes of its own, in a buffer of the host. */
void ggml_image_allocate(struct ggml_image *image, uint64_t tensor);
uint64_t ggml_image_node(struct ggml_image *image, const char *name, uint32_t op, const int64_t ne[LBX_GGML_AXES],
			 uint64_t a, uint64_t b);
/* Of the same elements, some bytes further. */
uint64_t ggml_image_view(struct ggml_image *image, const char *name, uint64_t of, const int64_t ne[LBX_GGML_AXES],
			 uint64_t offset);
/* Weights, a cache, nodes, views, blocks, a graph, memory used again, a device, in several contexts: 14 tensors. */
void ggml_image_populate(struct ggml_image *image);
/* The program has loaded another module, which is the same. It must not export anything. */
void ggml_image_load_second(struct ggml_image *image);

/* The stacks of one thread, which is nowhere in ggml. */
extern struct lbx_stacks ggml_image_rests;

#endif
