/* What was captured of a function: a graph whose tensors are not there. A call makes them anew over
 * its own inputs (instantiate.c): nothing is inferred again, except for other sizes of a
 * shapeless function (infer.c).
 *
 * A value is an input, a captured tensor (held by the image: a weight, a constant, whatever
 * depends on no input), or a node. Nodes come after their operands. */
#ifndef LB_COMPILE_IMAGE_H
#define LB_COMPILE_IMAGE_H

#include "graph/program.h"
#include "graph/tracer.h"

enum lb_value_kind { LB_VALUE_INPUT, LB_VALUE_CAPTURED, LB_VALUE_NODE };

struct lb_value {
	uint32_t kind : 2, index : 30;
};

struct lb_node_image {
	struct lb_tensor like;   /* the traced tensor's record; a view's offset counts from its base's */
	char *name;              /* NULL without one */
	struct lb_program *program; /* of op `fused`, held */
	uint32_t first_operand, n_operands;
	int64_t axes[LB_MAX_RANK]; /* shapeless: of a transposition */
};

struct lb_image {
	uint32_t n_in, n_out;
	uint32_t n_traced;   /* tensors that were met when it was captured */
	uint32_t most_operands;
	uint32_t n_captured, n_nodes, n_operands;
	struct lb_tensor **captured;
	struct lb_node_image *nodes;
	struct lb_value *operands;
	struct lb_value *outputs;
	struct lb_tensor *inputs; /* the records of the inputs that it was traced for */
	bool shapeless;
};

struct lb_image_source {
	const char *name;
	lb_function *fn;
	void *context;
	bool shapeless;
	int n_in, n_out;
	lb_tensor *const *in;
	const void *site;
};

/* Calls fn with tracers like `in`, and captures what it returns. */
bool lb_image_trace(struct lb_image *ret, const struct lb_image_source *from);
void lb_image_deinit(struct lb_image *image);

/* In step mode: shows debuggers what was captured, as a graph with the function's name. */
void lb_image_list(const struct lb_image *image, const char *name);
/* Makes equal nodes one. */
bool lb_image_simplify(struct lb_image *image);
/* Drops what no output needs, and makes elementwise groups one node each. */
bool lb_image_fuse(struct lb_image *image);

/* Makes the graph over other inputs of the same key; the outputs belong to the innermost scope. */
bool lb_image_instantiate(const struct lb_image *image, lb_tensor *const *in, lb_tensor **out, const void *site);

/* Whether a traced tensor can be made for inputs of other sizes, or, if it does not depend on them,
 * be kept; fails, naming its site. */
bool lb_infer_allows(const char *name, const struct lb_tensor *t, bool depends);
/* What of the traced tensor its record does not tell, for lb_infer(). */
void lb_infer_prepare(struct lb_node_image *node, const struct lb_tensor *t);
/* The node over these operands; NULL, with an error, if they do not go together. */
struct lb_tensor *lb_infer(const struct lb_node_image *node, struct lb_tensor *const *x, const void *site);

static inline bool lb_value_equal(struct lb_value a, struct lb_value b)
{
	return a.kind == b.kind && a.index == b.index;
}

#endif
