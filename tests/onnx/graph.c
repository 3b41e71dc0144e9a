#include "graph.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static bool check_values(struct onnx_graph *graph, const struct onnx_value *value)
{
	lb_dtype dtype;
	const char *name;
	for (; value; value = value->next) {
		if (strcmp(value->kind, "tensor") != 0) {
			snprintf(graph->refused, sizeof graph->refused, "type %s", value->kind);
			return false;
		}
		if (!onnx_dtype(value->data_type, &dtype, &name)) {
			snprintf(graph->refused, sizeof graph->refused, "dtype %s", name);
			return false;
		}
	}
	return true;
}

bool onnx_graph_check(struct onnx_graph *graph, const struct onnx_model *model)
{
	return check_values(graph, model->in) && check_values(graph, model->out);
}

bool onnx_graph_add(struct onnx_graph *graph, const char *name, lb_tensor *tensor)
{
	if (!tensor || graph->n == (int)(sizeof graph->values / sizeof *graph->values))
		return lb_fail("the graph has too many values");
	graph->values[graph->n++] = (struct onnx_named){ name, tensor };
	return true;
}

lb_tensor *onnx_graph_find(const struct onnx_graph *graph, const char *name)
{
	for (int i = graph->n - 1; i >= 0; i--)
		if (strcmp(graph->values[i].name, name) == 0)
			return graph->values[i].tensor;
	return NULL;
}

static bool run_node(struct onnx_graph *graph, struct onnx_node *node)
{
	struct onnx_call call = { .node = node };
	for (int i = 0; i < node->n_in; i++) {
		if (!node->in[i][0])
			continue;
		call.in[i] = onnx_graph_find(graph, node->in[i]);
		if (!call.in[i])
			return lb_fail("%s reads %s, which nothing makes", node->op, node->in[i]);
	}
	if (!onnx_run(&call)) {
		memcpy(graph->refused, call.refused, sizeof graph->refused);
		return false;
	}
	for (int i = 0; i < node->n_out; i++)
		if (node->out[i][0] && !onnx_graph_add(graph, node->out[i], call.out[i]))
			return false;
	return true;
}

bool onnx_graph_run(struct onnx_graph *graph, const struct onnx_model *model)
{
	for (const struct onnx_initial *i = model->initial; i; i = i->next)
		if (!onnx_graph_add(graph, i->tensor.name, layout_tensor(&i->tensor.array, LAYOUT_DENSE)))
			return false;
	for (struct onnx_node *node = model->nodes; node; node = node->next)
		if (!run_node(graph, node))
			return false;
	return true;
}
