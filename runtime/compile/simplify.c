#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "compile/image.h"

/* Constants are equal by what they hold, other captured tensors only to themselves. */
static bool equal_captured(const struct lb_tensor *a, const struct lb_tensor *b)
{
	return a->op == b->op && (a->op == LB_OP_SCALAR || a->op == LB_OP_FULL) && a->dtype == b->dtype &&
	       a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 &&
	       memcmp(a->params, b->params, sizeof a->params) == 0;
}

static bool equal_nodes(const struct lb_image *image, const struct lb_node_image *a, const struct lb_node_image *b)
{
	const struct lb_tensor *x = &a->like, *y = &b->like;
	if (x->op != y->op || x->dtype != y->dtype || x->rank != y->rank || x->stream != y->stream ||
	    x->offset != y->offset || x->flags != y->flags || a->n_operands != b->n_operands ||
	    memcmp(x->params, y->params, sizeof x->params) != 0 ||
	    memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) != 0 ||
	    memcmp(x->strides, y->strides, x->rank * sizeof *x->strides) != 0)
		return false;
	for (uint32_t i = 0; i < a->n_operands; i++) {
		if (!lb_value_equal(image->operands[a->first_operand + i], image->operands[b->first_operand + i]))
			return false;
	}
	return true;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
}

static uint64_t hash_of(const struct lb_image *image, const struct lb_node_image *node)
{
	uint64_t hash = mix(node->like.op, node->like.dtype);
	for (int i = 0; i < LB_PARAMS; i++)
		hash = mix(hash, (uint64_t)node->like.params[i]);
	for (uint32_t i = 0; i < node->n_operands; i++) {
		struct lb_value operand = image->operands[node->first_operand + i];
		hash = mix(hash, (uint64_t)operand.index << 2 | operand.kind);
	}
	return hash >> 16;
}

static struct lb_value replaced(struct lb_value v, const uint32_t *captured, const uint32_t *nodes)
{
	if (v.kind == LB_VALUE_CAPTURED)
		v.index = captured[v.index];
	else if (v.kind == LB_VALUE_NODE)
		v.index = nodes[v.index];
	return v;
}

static void unite_captured(const struct lb_image *image, uint32_t *captured)
{
	for (uint32_t i = 0; i < image->n_captured; i++) {
		captured[i] = i;
		for (uint32_t k = 0; k < i && captured[i] == i; k++) {
			if (captured[k] == k && equal_captured(image->captured[i], image->captured[k]))
				captured[i] = k;
		}
	}
}

bool lb_image_simplify(struct lb_image *image)
{
	uint32_t n_places = 256;
	while (n_places < image->n_nodes * 2)
		n_places *= 2;
	lb_auto_free uint32_t *captured = malloc((image->n_captured + 1) * sizeof *captured);
	lb_auto_free uint32_t *nodes = malloc((image->n_nodes + 1) * sizeof *nodes);
	lb_auto_free uint32_t *table = calloc(n_places, sizeof *table); /* index + 1 */
	bool ok = captured && nodes && table;
	if (ok)
		unite_captured(image, captured);
	else
		lb_fail("compile: out of memory for a graph of %u tensors", image->n_nodes);
	for (uint32_t i = 0; ok && i < image->n_nodes; i++) {
		struct lb_node_image *node = &image->nodes[i];
		for (uint32_t k = 0; k < node->n_operands; k++) {
			struct lb_value *operand = &image->operands[node->first_operand + k];
			*operand = replaced(*operand, captured, nodes);
		}
		uint64_t at = hash_of(image, node);
		while (table[at & (n_places - 1)] &&
		       !equal_nodes(image, node, &image->nodes[table[at & (n_places - 1)] - 1]))
			at++;
		uint32_t *place = &table[at & (n_places - 1)];
		if (!*place)
			*place = i + 1;
		nodes[i] = *place - 1;
		struct lb_node_image *first = &image->nodes[nodes[i]];
		if (!first->name) {
			first->name = node->name;
			node->name = NULL;
		}
	}
	for (uint32_t i = 0; ok && i < image->n_out; i++)
		image->outputs[i] = replaced(image->outputs[i], captured, nodes);
	return ok;
}
