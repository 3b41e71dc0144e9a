#include "torch/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "tensors/axes.h"
#include "torch/reach.h"

enum { LAYOUT_TRIES = 16, LEAF_WORDS = 96, WORD = 8, TEXT = 256 };

/* A tensor that nothing computed, and what may be the node that adds to its gradient. */
struct leaf {
	uint64_t tensor, nodes[2];
};

struct finder {
	struct lbx_torch_set *s;
	struct lbx_torch_computed *computed;
	size_t n, room;
	struct leaf *leaves;
	size_t n_leaves, leaves_room;
	int tries;
};

/* A view has the version of what it is a view of. Where that was changed in place, what the view says of its function may be of
 * before: it is renewed when the program asks for it. */
static bool may_be_old(struct lbx_torch_set *s, const struct lbx_torch_record *r)
{
	struct lbx_target *target = lbx_torch_set_target(s);
	uint64_t vtable, type;
	uint32_t version;

	return r->version_counter && r->autograd &&
	       lbx_target_try_read(target, r->version_counter + s->layout.behind, &version, sizeof version) &&
	       version && lbx_target_try_read(target, r->autograd, &vtable, sizeof vtable) &&
	       lbx_cxx_type_of(target, vtable, &type) &&
	       lbx_cxx_type_is(target, type, "N5torch8autograd22DifferentiableViewMetaE");
}

static bool add_computed(struct finder *f, const struct lbx_torch_record *r, uint64_t node)
{
	if (!lb_reserve(f->computed, f->room, f->n + 1))
		return false;
	struct lbx_torch_computed *c = &f->computed[f->n++];
	*c = (struct lbx_torch_computed){ .tensor = r->address, .node = node, .rank = -1 };
	if (may_be_old(f->s, r))
		c->tensor = 0;
	if (!c->tensor || r->rank > LBX_TORCH_FEW_AXES)
		return true;
	c->rank = r->rank;
	memcpy(c->sizes, r->sizes, (size_t)r->rank * sizeof *c->sizes);
	return true;
}

static bool look_at(struct finder *f, struct lbx_target *target, const struct lbx_torch_record *r)
{
	struct lbx_torch_set *s = f->s;
	struct lbx_torch_autograd a;

	if (!r->autograd)
		return true;
	if (!s->autograd.function && f->tries++ < LAYOUT_TRIES)
		lbx_torch_autograd_layout(target, s->modules, s->n_modules, r->autograd, &s->autograd);
	if (!lbx_torch_autograd_read(target, &s->autograd, r->autograd, &a))
		return true;
	if (a.function)
		return add_computed(f, r, a.function);
	if (!lb_reserve(f->leaves, f->leaves_room, f->n_leaves + 1))
		return false;
	f->leaves[f->n_leaves++] = (struct leaf){ r->address, { a.accumulator[0], a.accumulator[1] } };
	return true;
}

/* Both know each other: the tensor's pointer alone may be to memory that has been used again. */
static void join(struct lbx_torch_set *s, const struct leaf *leaf)
{
	uint64_t words[LEAF_WORDS];

	for (int i = 0; i < 2; i++) {
		struct lbx_torch_node *node = lbx_torch_node_at(&s->graph, leaf->nodes[i]);
		if (!node || strcmp(node->op, "AccumulateGrad") != 0)
			continue;
		for (int k = 0; k < LEAF_WORDS; k++)
			if (!lbx_target_try_read(lbx_torch_set_target(s), node->address + WORD * (uint64_t)k, &words[k],
						 WORD))
				break;
			else if (words[k] == leaf->tensor)
				node->leaf = leaf->tensor;
	}
}

bool lbx_torch_history_find(struct lbx_torch_set *s)
{
	struct finder f = { .s = s };
	struct lbx_torch_record r;
	bool ok = true;

	lbx_walk_begin(&s->walk, lbx_torch_set_target(s));
	for (size_t i = 0; i < s->n && ok; i++) {
		struct lbx_target *target = lbx_walk_target(&s->walk, lbx_torch_set_target(s), i);
		if (lbx_torch_record_read(target, &s->classes, &s->layout, s->objects[i], &r))
			ok = look_at(&f, lbx_torch_set_target(s), &r) || lb_fail("out of memory");
	}
	ok = ok && lbx_torch_graph_find(&s->graph, lbx_torch_set_target(s), f.computed, f.n);
	for (size_t i = 0; i < f.n_leaves && ok; i++)
		join(s, &f.leaves[i]);
	free(f.computed);
	free(f.leaves);
	return ok;
}

/* ---- as tensors ---- */

const struct lbx_torch_node *lbx_torch_history_node(struct lbx_torch_set *s, const struct lbx_torch_record *r)
{
	struct lbx_torch_autograd a;

	return r->autograd && lbx_torch_autograd_read(lbx_torch_set_target(s), &s->autograd, r->autograd, &a)
		   ? lbx_torch_node_at(&s->graph, a.function)
		   : NULL;
}

void lbx_torch_history_decode(struct lbx_torch_set *s, const struct lbx_torch_record *r, struct lbx_tensor *ret)
{
	const struct lbx_torch_node *node = s->graph.n ? lbx_torch_history_node(s, r) : NULL;

	if (!node || may_be_old(s, r))
		return;
	ret->op = node->op;
	ret->op_class = LB_CLASS_KERNEL;
	ret->n_inputs = node->n_edges;
}

bool lbx_torch_history_at(struct lbx_torch_set *s, uint64_t address, struct lbx_tensor *ret)
{
	static const struct lbx_encoding unknown = { .name = "?", .dtype = LB_F32, .elements = 1, .bytes = 1 };
	const struct lbx_torch_node *node = lbx_torch_node_at(&s->graph, address);
	struct lbx_torch_result r;

	if (!node)
		return false;
	*ret = (struct lbx_tensor){ .of = &s->tensors,
				    .address = address,
				    .id = s->n + 1 + (uint64_t)(node - s->graph.nodes),
				    .state = LBX_FREED,
				    .dtype = LB_F32,
				    .encoding = &unknown,
				    .op = node->op,
				    .op_class = LB_CLASS_KERNEL,
				    .n_inputs = node->n_edges };
	if (!lbx_torch_node_result(&s->graph.kinds, lbx_torch_set_target(s), address, &r) ||
	    !lbx_torch_dtype_name(r.dtype)) {
		ret->is_shapeless = true;
		return true;
	}
	int64_t strides[LBX_TORCH_AXES] = { 0 };
	ret->size = 1;
	for (int i = 0; i < r.rank; i++)
		if (!lb_mul(ret->size, r.sizes[i], &ret->size)) {
			ret->size = 0;
			ret->is_shapeless = true;
			return true;
		}
	ret->dtype = s->dtypes[r.dtype].encoding.dtype;
	ret->encoding = s->dtypes[r.dtype].is_plain ? NULL : &s->dtypes[r.dtype].encoding;
	return lbx_tensor_set_axes(&s->tensors.axes, ret, r.rank, r.sizes, strides);
}

bool lbx_torch_history_by_id(struct lbx_torch_set *s, uint64_t id, struct lbx_tensor *ret)
{
	return id > s->n && id - s->n <= s->graph.n &&
	       lbx_torch_history_at(s, s->graph.nodes[id - s->n - 1].address, ret);
}

/* The tensor that a node's only result is in: where there are several results, which of them it is is not known. */
static uint64_t result_of(struct lbx_torch_set *s, const struct lbx_torch_node *node)
{
	struct lbx_torch_result r;

	if (node->leaf)
		return node->leaf;
	return node->tensor && node->tensor != LBX_TORCH_SEVERAL &&
		       lbx_torch_node_result(&s->graph.kinds, lbx_torch_set_target(s), node->address, &r)
		   ? node->tensor
		   : node->address;
}

uint64_t lbx_torch_history_input(struct lbx_torch_set *s, const struct lbx_tensor *t, uint32_t i)
{
	const struct lbx_torch_node *node = lbx_torch_node_at(&s->graph, t->address), *from;
	struct lbx_torch_record r;

	if (!node && lbx_torch_record_read(lbx_torch_set_target(s), &s->classes, &s->layout, t->address, &r))
		node = may_be_old(s, &r) ? NULL : lbx_torch_history_node(s, &r);
	if (!node || i >= node->n_edges)
		return 0;
	from = lbx_torch_node_at(&s->graph, s->graph.edges[node->first_edge + i].node);
	return from ? result_of(s, from) : 0;
}

/* ---- facts ---- */

static size_t index_of(const struct lbx_torch_set *s, uint64_t address)
{
	return lbx_torch_number(s->objects, s->n, address);
}

/* "#8, #6, …" */
static void list_kept(const struct lbx_torch_reach *reach, char ret[TEXT])
{
	size_t length = 0, i = 0;

	for (ret[0] = '\0'; i < reach->n_tensors && TEXT - length > 32; i++)
		length +=
		    (size_t)snprintf(ret + length, TEXT - length, "%s#%" PRIu32, i ? ", " : "", reach->tensors[i] + 1);
	if (i < reach->n_tensors)
		snprintf(ret + length, TEXT - length, ", …");
}

static void tell_reach(struct lbx_torch_set *s, const struct lbx_torch_node *node, lbx_fact_fn *fn, void *context)
{
	char text[2 * TEXT], list[TEXT];
	struct lbx_torch_reach reach;

	if (lbx_torch_reach_init(&reach, s)) {
		lbx_torch_reach_begin(&reach);
		lbx_torch_reach_walk(&reach, node);
		snprintf(text, sizeof text, "%s%" PRIu64 " node%s, %" PRIu64 " of them of parameters or other leaves",
			 s->graph.is_cut ? "at least " : "", reach.n, LB_S(reach.n), reach.n_leaves);
		fn(context, "graph", text);
		list_kept(&reach, list);
		snprintf(text, sizeof text, "at least %" PRIu64 " tensor%s for the way back: %s", reach.n_tensors,
			 LB_S(reach.n_tensors), list);
		if (reach.n_tensors)
			fn(context, "keeps", text);
	}
	lbx_torch_reach_deinit(&reach);
}

/* Where there is none, an object of a class of its own stands for it. */
static void describe_gradient(struct lbx_torch_set *s, uint64_t address, char ret[TEXT])
{
	const struct lbx_cxx_class *class;
	size_t number = index_of(s, address);
	uint64_t vtable;

	if (number) {
		snprintf(ret, TEXT, "#%zu", number);
		return;
	}
	class = address && lbx_target_try_read(lbx_torch_set_target(s), address, &vtable, sizeof vtable)
		    ? lbx_cxx_class_at(&s->classes, vtable)
		    : NULL;
	if (!address || (class && lbx_torch_kind(class) == LBX_TORCH_UNDEFINED))
		snprintf(ret, TEXT, "None");
	else
		snprintf(ret, TEXT, "at 0x%" PRIx64 ", which was not found", address);
}

void lbx_torch_history_tell(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context)
{
	struct lbx_torch_autograd a;
	char text[TEXT];

	if (!r->autograd)
		fn(context, "requires_grad", "False");
	if (!lbx_torch_autograd_read(lbx_torch_set_target(s), &s->autograd, r->autograd, &a))
		return;
	fn(context, "requires_grad", a.requires || a.function ? "True" : "False");
	describe_gradient(s, a.gradient, text);
	fn(context, "grad", text);
	const struct lbx_torch_node *node = lbx_torch_node_at(&s->graph, a.function);
	if (node && may_be_old(s, r)) {
		snprintf(text, sizeof text, "%s, or another: what it is a view of was changed in place", node->op);
		fn(context, "grad_fn", text);
	} else if (node) {
		tell_reach(s, node, fn, context);
	}
}
