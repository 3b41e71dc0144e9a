/* Runs a model: its nodes in the order of the file. */
#ifndef TEST_ONNX_GRAPH_H
#define TEST_ONNX_GRAPH_H

#include "layout.h"
#include "ops.h"

struct onnx_named {
	const char *name;
	lb_tensor *tensor;
};

struct onnx_graph {
	int n;
	struct onnx_named values[1024];
	char refused[128]; /* what of the model the runtime cannot do; "" */
};

/* Computes what follows from the inputs, which are `values` already. */
bool onnx_graph_run(struct onnx_graph *graph, const struct onnx_model *model);
/* Refuses a model whose inputs or outputs are no tensors of our dtypes. */
bool onnx_graph_check(struct onnx_graph *graph, const struct onnx_model *model);
bool onnx_graph_add(struct onnx_graph *graph, const char *name, lb_tensor *tensor);
/* NULL if there is none. */
lb_tensor *onnx_graph_find(const struct onnx_graph *graph, const char *name);

#endif
