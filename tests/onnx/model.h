/* What an ONNX file says (onnx.proto, IR version 8): the parts that the tests need. Everything
 * that is read belongs to one arena and lives until it is freed. */
#ifndef TEST_ONNX_MODEL_H
#define TEST_ONNX_MODEL_H

#include "npy.h"

enum { ONNX_MOST_VALUES = 64 }; /* of an attribute, and inputs or outputs of a node */

struct onnx_arena {
	struct onnx_block *blocks;
};

/* Zeroed bytes; NULL, with an error, without memory. */
void *onnx_alloc(struct onnx_arena *arena, size_t n);
void onnx_arena_deinit(struct onnx_arena *arena);

/* TensorProto.DataType as ours; `name` says what it is, also when we have none (then false). */
bool onnx_dtype(int64_t data_type, lb_dtype *ret, const char **name);

struct onnx_tensor {
	const char *name;
	const char *unknown_dtype; /* NULL, or the name of one that the runtime has not */
	struct npy array;          /* its data belongs to the arena */
};

struct onnx_attribute {
	const char *name, *text; /* text: "" if it is none */
	int64_t i;
	float f;
	int64_t n_ints, n_floats;
	int64_t *ints;
	float *floats;
	struct onnx_tensor *tensor; /* NULL if it is none */
	bool graph;                 /* holds graphs, which are not read */
	bool read;                  /* somebody asked for it */
};

struct onnx_node {
	const char *op, *domain;
	int n_in, n_out, n_attributes;
	const char *in[ONNX_MOST_VALUES], *out[ONNX_MOST_VALUES]; /* "" is one left out */
	struct onnx_attribute attributes[ONNX_MOST_VALUES];
	struct onnx_node *next;
};

struct onnx_value { /* an input or output of the graph */
	const char *name;
	const char *kind;  /* "tensor", "sequence", … */
	int64_t data_type; /* of a tensor */
	struct onnx_value *next;
};

struct onnx_model {
	int64_t opset; /* the version of ONNX's operators */
	struct onnx_node *nodes;
	struct onnx_value *in, *out;
	struct onnx_initial {
		struct onnx_tensor tensor;
		struct onnx_initial *next;
	} *initial;
};

/* `path` is for messages and must outlive the arena's content. */
bool onnx_read_model(struct onnx_arena *arena, const char *path, struct onnx_model *ret);
bool onnx_read_tensor(struct onnx_arena *arena, const char *path, struct onnx_tensor *ret);

#endif
