/* Where the fields of a ggml_tensor are, which has changed over the years. */
#ifndef LBX_GGML_LAYOUT_H
#define LBX_GGML_LAYOUT_H

#include "ggml/anchor.h"

enum {
	LBX_GGML_AXES = 4,
	LBX_GGML_SOURCES = 10,
	LBX_GGML_PARAMS = 16,
	LBX_GGML_NAME_MAX = 256,
	LBX_GGML_RECORD_MAX = 0x300
};

/* Offsets in bytes. Those of type, buffer, ne, nb, op, its parameters and flags have always been the same. */
struct lbx_ggml_layout {
	const char *since; /* when ggml took it up */
	uint32_t size;
	uint32_t sources, view_source, view_offset, data, name, extra;
	uint32_t name_max; /* GGML_MAX_NAME */
};
enum {
	LBX_GGML_TYPE = 0,
	LBX_GGML_BUFFER = 8,
	LBX_GGML_NE = 0x10,
	LBX_GGML_NB = 0x30,
	LBX_GGML_OP = 0x50,
	LBX_GGML_OP_PARAMS = 0x54,
	LBX_GGML_FLAGS = 0x94
};
enum { LBX_GGML_FLAG_INPUT = 1 };

/* The i-th one, newest first, for names of 64 bytes; NULL: there are i. */
const struct lbx_ggml_layout *lbx_ggml_layout(size_t i);
/* That layout in a build whose tensors have `size` bytes, as its names have another length; false if this cannot be. */
bool lbx_ggml_layout_of_size(const struct lbx_ggml_layout *layout, uint64_t size, struct lbx_ggml_layout *ret);
/* By the code of the functions that the module exports. False, quietly, where they do not tell, or contradict. */
bool lbx_ggml_layout_by_code(struct lbx_target *target, const struct lbx_loaded *m, struct lbx_ggml_layout *ret);

#endif
