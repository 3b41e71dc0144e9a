/* So far it is RMS_NORM before a MUL that reads it. A build that does it exports the function, or, where its functions
 * are hidden, is new enough to mark the nodes that are to be computed. */
#include "ggml/fused.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

enum { MAX_NODES = 1 << 24, TO_COMPUTE = 0x10 };

static bool is_exported(struct lbx_target *target, const struct lbx_loaded *modules, int n)
{
	uint64_t at;

	for (int i = 0; i < n; i++)
		if (lbx_loaded_symbol(target, &modules[i], "ggml_compute_forward_rms_norm_mul_fused", &at))
			return true;
	return false;
}

static bool is_op(const struct lbx_ggml_program *p, uint64_t node, const char *name)
{
	uint32_t op;

	return lbx_target_try_read(p->target, node + LBX_GGML_OP, &op, sizeof op) && op < (uint32_t)p->anchor->n_ops &&
	       strcmp(p->anchor->ops[op], name) == 0;
}

static bool reads(const struct lbx_ggml_program *p, const struct lbx_ggml_layout *layout, uint64_t node, uint64_t input)
{
	uint64_t sources[2];

	return lbx_target_try_read(p->target, node + layout->sources, sources, sizeof sources) &&
	       (sources[0] == input || sources[1] == input);
}

static bool is_marked(const struct lbx_ggml_program *p, uint64_t node)
{
	uint32_t flags;

	return lbx_target_try_read(p->target, node + LBX_GGML_FLAGS, &flags, sizeof flags) && flags & TO_COMPUTE;
}

static bool look_at_graph(const struct lbx_ggml_program *p, const struct lbx_ggml_layout *layout, uint64_t at,
			  bool fuses, bool *ret)
{
	struct {
		int32_t size, n_nodes, n_leafs, more;
		uint64_t nodes;
	} head;
	lb_auto_free uint64_t *nodes = NULL;

	if (!lbx_target_try_read(p->target, at, &head, sizeof head) || head.n_nodes < 2 || head.n_nodes > MAX_NODES ||
	    head.n_nodes > head.size || (size_t)head.n_nodes > p->contexts->n_tensors)
		return true;
	nodes = malloc((size_t)head.n_nodes * sizeof *nodes);
	if (!nodes)
		return lb_fail("out of memory for a graph of %d nodes", head.n_nodes);
	if (!lbx_target_try_read(p->target, head.nodes, nodes, (size_t)head.n_nodes * sizeof *nodes))
		return true;
	for (int32_t i = 0; i + 1 < head.n_nodes; i++) {
		uint64_t id = p->id_at(p->context, nodes[i]);
		if (id && is_op(p, nodes[i], "RMS_NORM") && (fuses || is_marked(p, nodes[i])) &&
		    is_op(p, nodes[i + 1], "MUL") && reads(p, layout, nodes[i + 1], nodes[i]))
			ret[id - 1] = true;
	}
	return true;
}

bool lbx_ggml_find_fused(const struct lbx_ggml_program *program, const struct lbx_ggml_layout *layout,
			 const struct lbx_loaded *modules, int n_modules, bool *ret)
{
	bool fuses = is_exported(program->target, modules, n_modules), ok = true;

	for (size_t i = 0; ok && i < program->contexts->n_graphs; i++)
		ok = look_at_graph(program, layout, program->contexts->graphs[i].address, fuses, ret);
	return ok;
}
