#include "compile/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/op.h"
#include "graph/shape.h"

enum { AT_FIRST = 4, EACH = 64 /* hits, later */, MOST_COMPARED = 1 << 20 /* bytes of a captured tensor */ };

static bool checks;

static void read_environment(void)
{
	static const char *const modes[] = { "off", "check" };

	checks = lb_environment_choice("LAZYBONES_COMPILE", 2, modes, 0);
}

bool lb_compile_checks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_environment);
	return checks;
}

bool lb_check_is_due(uint64_t hit)
{
	return hit <= AT_FIRST || hit % EACH == 0;
}

/* ---- a copy ---- */

static void *copy_of(const void *from, size_t n, size_t size)
{
	void *ret = malloc(n * size + 1);

	if (ret && n)
		memcpy(ret, from, n * size);
	return ret;
}

bool lb_image_copy(struct lb_image *ret, const struct lb_image *from)
{
	*ret = *from;
	ret->n_captured = ret->n_nodes = 0; /* that belong to it yet */
	ret->captured = copy_of(from->captured, from->n_captured, sizeof *from->captured);
	ret->nodes = copy_of(from->nodes, from->n_nodes, sizeof *from->nodes);
	ret->operands = copy_of(from->operands, from->n_operands, sizeof *from->operands);
	ret->outputs = copy_of(from->outputs, from->n_out, sizeof *from->outputs);
	ret->inputs = copy_of(from->inputs, from->n_in, sizeof *from->inputs);
	if (!ret->captured || !ret->nodes || !ret->operands || !ret->outputs || !ret->inputs) {
		lb_image_deinit(ret);
		return lb_fail("compile: out of memory for a graph of %u tensors", from->n_nodes);
	}
	for (uint32_t i = 0; i < from->n_captured; i++)
		lb_tensor_retain(ret->captured[ret->n_captured++], LB_ONE_REF);
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		ret->nodes[i].name = NULL; /* nobody asks for it */
		if (ret->nodes[i].program)
			lb_program_retain(ret->nodes[i].program);
		ret->n_nodes++;
	}
	return true;
}

/* ---- captured tensors ---- */

static bool is_number(const struct lb_tensor *t)
{
	return lb_size(t) == 1 && (t->op == LB_OP_SCALAR || t->op == LB_OP_FULL);
}

/* Small ones by their elements, large ones must be the same. */
static bool captured_is_alike(struct lb_tensor *was, struct lb_tensor *now)
{
	if (was == now)
		return true;
	if (was->dtype != now->dtype || was->rank != now->rank ||
	    memcmp(was->shape, now->shape, was->rank * sizeof *was->shape) != 0)
		return false;
	if (is_number(was) && is_number(now))
		return memcmp(was->params, now->params, sizeof was->params) == 0;
	if (lb_nbytes(was) > MOST_COMPARED)
		return false;
	bool alike = true;
	LB_SCOPE {
		lb_tensor *x = lb_contiguous(was), *y = lb_contiguous(now);
		alike = x && y && lb_eval(x, y) && memcmp(lb_data(x), lb_data(y), (size_t)lb_nbytes(x)) == 0;
	}
	return alike;
}

/* "3", or "#12 w, float32 (4, 4)". */
static void describe_tensor(struct lb_tensor *t, char *ret, size_t size)
{
	char shape[LB_SHAPE_TEXT];
	const char *name = lb_name(t);

	if (is_number(t)) {
		snprintf(ret, size, "%g", lb_item(t));
		return;
	}
	lb_shape_text(t->rank, t->shape, shape);
	snprintf(ret, size, "#%llu%s%.64s, %s %s", (unsigned long long)t->id, name ? " " : "", name ? name : "",
		 lb_dtype_name((lb_dtype)t->dtype), shape);
}

/* ---- the graphs ---- */

static bool tell_captured(const struct lb_node_image *node, struct lb_tensor *was, struct lb_tensor *now,
			  struct lb_stale *why)
{
	char before[160], after[160];

	why->site = node->like.site;
	describe_tensor(was, before, sizeof before);
	describe_tensor(now, after, sizeof after);
	snprintf(why->text, sizeof why->text, "%.64s takes %s now, captured %s", lb_ops[node->like.op].name, after,
		 before);
	return false;
}

static bool operands_are_alike(const struct lb_image *was, const struct lb_node_image *a, const struct lb_image *now,
			       const struct lb_node_image *b, struct lb_stale *why)
{
	for (uint32_t i = 0; i < a->n_operands; i++) {
		struct lb_value x = was->operands[a->first_operand + i], y = now->operands[b->first_operand + i];
		if (x.kind == LB_VALUE_CAPTURED && y.kind == LB_VALUE_CAPTURED) {
			if (!captured_is_alike(was->captured[x.index], now->captured[y.index]))
				return tell_captured(b, was->captured[x.index], now->captured[y.index], why);
		} else if (!lb_value_equal(x, y)) {
			why->site = b->like.site;
			snprintf(why->text, sizeof why->text, "%.64s takes another operand %u now",
				 lb_ops[b->like.op].name, i);
			return false;
		}
	}
	return true;
}

static bool nodes_are_alike(const struct lb_node_image *a, const struct lb_node_image *b, struct lb_stale *why)
{
	const struct lb_tensor *x = &a->like, *y = &b->like;
	why->site = b->like.site;
	if (x->op != y->op || a->n_operands != b->n_operands)
		snprintf(why->text, sizeof why->text, "it calls %.64s now, where %.64s was captured",
			 lb_ops[y->op].name, lb_ops[x->op].name);
	else if (x->dtype != y->dtype || x->rank != y->rank ||
		 memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) != 0)
		snprintf(why->text, sizeof why->text, "%.64s gives another shape or dtype now", lb_ops[y->op].name);
	else if (memcmp(x->params, y->params, sizeof x->params) != 0)
		snprintf(why->text, sizeof why->text, "%.64s has other parameters now", lb_ops[y->op].name);
	else
		return true;
	return false;
}

bool lb_image_is_comparable(const struct lb_image *was, const struct lb_image *now)
{
	for (uint32_t i = 0; i < was->n_in; i++) {
		const struct lb_tensor *x = &was->inputs[i], *y = &now->inputs[i];
		if (!lb_same_shape(x->rank, x->shape, y->rank, y->shape) ||
		    memcmp(x->strides, y->strides, x->rank * sizeof *x->strides) != 0)
			return false;
	}
	return true;
}

bool lb_image_is_alike(const struct lb_image *was, const struct lb_image *now, struct lb_stale *why)
{
	uint32_t n = was->n_nodes < now->n_nodes ? was->n_nodes : now->n_nodes;

	for (uint32_t i = 0; i < n; i++)
		if (!nodes_are_alike(&was->nodes[i], &now->nodes[i], why) ||
		    !operands_are_alike(was, &was->nodes[i], now, &now->nodes[i], why))
			return false;
	why->site = 0;
	if (was->n_nodes != now->n_nodes) {
		snprintf(why->text, sizeof why->text, "the trace makes %u tensors now, captured %u", now->n_nodes,
			 was->n_nodes);
		return false;
	}
	for (uint32_t i = 0; i < was->n_out; i++) {
		struct lb_value x = was->outputs[i], y = now->outputs[i];
		bool both = x.kind == LB_VALUE_CAPTURED && y.kind == LB_VALUE_CAPTURED;
		if (both ? captured_is_alike(was->captured[x.index], now->captured[y.index]) : lb_value_equal(x, y))
			continue;
		snprintf(why->text, sizeof why->text, "output %u is another now", i);
		return false;
	}
	return true;
}
