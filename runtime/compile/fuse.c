/* Fusion. From the results backwards, an elementwise node joins its consumers' group if all of them
 * are in one group of the same shape and stream, as in an evaluation's schedule (eval/schedule.h);
 * but a group has one result here, and its inputs are counted exactly, so that groups grow larger.
 * No path leaves such a group and comes back: it can stand where its last member stood.
 *
 * A group of several members becomes a node of op `fused`, whose program the tensors of all calls
 * share. A single operation stays as it is: an evaluation may fuse it with its neighbours. */
#include <stdlib.h>
#include <string.h>

#include "compile/image.h"
#include "eval/schedule.h"
#include "graph/shape.h"
#include "kernels/kernels.h"

enum { NONE = UINT32_MAX };

struct member {
	uint32_t group;     /* its head; itself when alone */
	uint32_t consumers; /* the one group of all consumers so far */
	uint32_t next;      /* the member that comes before */
	uint8_t reg;
	bool apart;         /* consumers in several groups, or a result */
	bool live;
};

/* What a group reads, kept at its head. */
struct reads {
	uint8_t n_insns, n_inputs;
	struct lb_value inputs[LB_PROGRAM_INPUTS];
};

struct fusion {
	struct lb_image *image;
	struct member *members;
	struct reads *reads;
	struct lb_node_image *nodes; /* the new ones */
	struct lb_value *operands;
	uint32_t *place;             /* old node -> new node */
	uint32_t n_nodes, n_operands;
};

static int find_read(const struct reads *reads, struct lb_value v)
{
	for (int i = 0; i < reads->n_inputs; i++) {
		if (lb_value_equal(reads->inputs[i], v))
			return i;
	}
	return -1;
}

/* Adds what the node reads; false if that is too much. */
static bool add_reads(const struct lb_image *image, const struct lb_node_image *node, struct reads *reads)
{
	for (uint32_t i = 0; i < node->n_operands; i++) {
		struct lb_value v = image->operands[node->first_operand + i];
		if (find_read(reads, v) >= 0)
			continue;
		if (reads->n_inputs == LB_PROGRAM_INPUTS)
			return false;
		reads->inputs[reads->n_inputs++] = v;
	}
	return true;
}

static bool join(struct fusion *f, uint32_t index, uint32_t head)
{
	const struct lb_image *image = f->image;
	const struct lb_tensor *t = &image->nodes[index].like, *h = &image->nodes[head].like;
	struct reads *reads = &f->reads[head], with = *reads;
	int own = find_read(&with, (struct lb_value){ LB_VALUE_NODE, index });
	if (!lb_op_is_elementwise(h->op) || t->stream != h->stream ||
	    !lb_same_shape(t->rank, t->shape, h->rank, h->shape) || with.n_insns == LB_PROGRAM_INSNS || own < 0)
		return false;
	with.inputs[own] = with.inputs[--with.n_inputs];
	if (!add_reads(image, &image->nodes[index], &with))
		return false;
	with.n_insns++;
	*reads = with;
	f->members[index].group = head;
	f->members[index].next = f->members[head].next;
	f->members[head].next = index;
	return true;
}

static void assign(struct fusion *f, uint32_t index)
{
	const struct lb_image *image = f->image;
	const struct lb_node_image *node = &image->nodes[index];
	struct member *m = &f->members[index];
	if (!m->live)
		return;
	bool fuses = lb_op_is_elementwise(node->like.op);
	if (!fuses || m->apart || m->consumers == NONE || !join(f, index, m->consumers)) {
		f->reads[index] = (struct reads){ .n_insns = 1 };
		if (fuses)
			add_reads(image, node, &f->reads[index]);
	}
	for (uint32_t i = 0; i < node->n_operands; i++) {
		struct lb_value v = image->operands[node->first_operand + i];
		if (v.kind != LB_VALUE_NODE)
			continue;
		struct member *input = &f->members[v.index];
		input->live = true;
		input->apart |= !fuses || (input->consumers != NONE && input->consumers != m->group);
		input->consumers = m->group;
	}
}

/* ---- programs ---- */

static bool is_constant(const struct lb_image *image, struct lb_value v)
{
	return v.kind == LB_VALUE_CAPTURED && lb_is_constant(image->captured[v.index]);
}

static void add_constant(struct lb_program *program, const struct lb_tensor *t)
{
	uint64_t *at = &program->constants[program->n_constants];
	enum lb_dtype dtype = (enum lb_dtype)t->dtype;
	if (t->op == LB_OP_SCALAR && t->params[2])
		lb_store_int(at, dtype, t->params[1]);
	else
		lb_store_double(at, dtype, lb_param_double(t, 0));
	program->dtypes[program->n_inputs + program->n_constants++] = t->dtype;
}

static uint8_t dtype_of(const struct lb_image *image, struct lb_value v)
{
	switch ((enum lb_value_kind)v.kind) {
	case LB_VALUE_INPUT: return image->inputs[v.index].dtype;
	case LB_VALUE_CAPTURED: return image->captured[v.index]->dtype;
	default: return image->nodes[v.index].like.dtype;
	}
}

static uint8_t reg_of(const struct fusion *f, uint32_t head, struct lb_value v)
{
	if (v.kind == LB_VALUE_NODE && f->members[v.index].group == head)
		return f->members[v.index].reg;
	return (uint8_t)find_read(&f->reads[head], v);
}

static void add_insn(struct fusion *f, uint32_t head, uint32_t index, struct lb_program *program)
{
	const struct lb_node_image *node = &f->image->nodes[index];
	uint8_t regs[3] = { 0 };
	for (uint32_t i = 0; i < node->n_operands; i++)
		regs[i] = reg_of(f, head, f->image->operands[node->first_operand + i]);
	f->members[index].reg = (uint8_t)(program->n_inputs + program->n_constants + program->n_insns);
	program->dtypes[f->members[index].reg] = node->like.dtype;
	program->sites[program->n_insns] = node->like.site;
	program->insns[program->n_insns++] = (struct lb_program_insn){ node->like.op, regs[0], regs[1], regs[2] };
}

static struct lb_program *make_program(struct fusion *f, uint32_t head)
{
	const struct lb_image *image = f->image;
	struct reads *reads = &f->reads[head], sorted = { .n_insns = reads->n_insns };
	struct lb_program *program = lb_program_new();
	if (!program)
		return NULL;
	for (int i = 0; i < reads->n_inputs; i++) {
		if (is_constant(image, reads->inputs[i]))
			continue;
		sorted.inputs[sorted.n_inputs++] = reads->inputs[i];
		program->dtypes[program->n_inputs++] = dtype_of(image, reads->inputs[i]);
	}
	for (int i = 0; i < reads->n_inputs; i++) {
		if (!is_constant(image, reads->inputs[i]))
			continue;
		sorted.inputs[sorted.n_inputs++] = reads->inputs[i];
		add_constant(program, image->captured[reads->inputs[i].index]);
	}
	*reads = sorted;
	for (uint32_t m = f->members[head].next; m != NONE; m = f->members[m].next)
		add_insn(f, head, m, program);
	add_insn(f, head, head, program);
	return program;
}

/* ---- the new graph ---- */

static struct lb_value moved(const struct fusion *f, struct lb_value v)
{
	if (v.kind == LB_VALUE_NODE)
		v.index = f->place[v.index];
	return v;
}

static bool emit_insn(struct fusion *f, uint32_t index)
{
	struct lb_image *image = f->image;
	struct lb_node_image *from = &image->nodes[index], *to = &f->nodes[f->n_nodes];
	*to = *from;
	from->name = NULL;
	to->first_operand = f->n_operands;
	f->place[index] = f->n_nodes++;
	if (f->reads[index].n_insns < 2) {
		for (uint32_t i = 0; i < from->n_operands; i++)
			f->operands[f->n_operands++] = moved(f, image->operands[from->first_operand + i]);
		return true;
	}
	to->program = make_program(f, index);
	if (!to->program)
		return false;
	to->like.op = LB_OP_FUSED;
	memset(to->like.params, 0, sizeof to->like.params);
	to->like.params[0] = (int64_t)(uintptr_t)to->program;
	to->n_operands = to->program->n_inputs;
	for (uint32_t i = 0; i < to->n_operands; i++)
		f->operands[f->n_operands++] = moved(f, f->reads[index].inputs[i]);
	return true;
}

/* Lets go of what is now in programs alone. */
static void drop_captured(struct lb_image *image, uint32_t *place)
{
	memset(place, 0xff, image->n_captured * sizeof *place);
	for (uint32_t i = 0; i < image->n_operands + image->n_out; i++) {
		struct lb_value v = i < image->n_operands ? image->operands[i] : image->outputs[i - image->n_operands];
		if (v.kind == LB_VALUE_CAPTURED)
			place[v.index] = 0;
	}
	uint32_t n = 0;
	for (uint32_t i = 0; i < image->n_captured; i++) {
		struct lb_tensor *t = image->captured[i];
		if (place[i] == NONE) {
			lb_tensor_drop(t, LB_ONE_REF);
			continue;
		}
		place[i] = n;
		image->captured[n++] = t;
	}
	image->n_captured = n;
	for (uint32_t i = 0; i < image->n_operands + image->n_out; i++) {
		struct lb_value *v =
		    i < image->n_operands ? &image->operands[i] : &image->outputs[i - image->n_operands];
		if (v->kind == LB_VALUE_CAPTURED)
			v->index = place[v->index];
	}
}

static bool rebuild(struct fusion *f)
{
	struct lb_image *image = f->image;
	bool ok = true;
	for (uint32_t i = 0; i < image->n_nodes && ok; i++)
		ok = !f->members[i].live || f->members[i].group != i || emit_insn(f, i);
	for (uint32_t i = 0; i < image->n_nodes; i++)
		free(image->nodes[i].name);
	free(image->nodes);
	free(image->operands);
	for (uint32_t i = 0; i < image->n_out && ok; i++)
		image->outputs[i] = moved(f, image->outputs[i]);
	image->nodes = f->nodes;
	image->n_nodes = f->n_nodes;
	image->operands = f->operands;
	image->n_operands = f->n_operands;
	for (uint32_t i = 0; i < image->n_nodes; i++) {
		if (image->nodes[i].n_operands > image->most_operands)
			image->most_operands = image->nodes[i].n_operands;
	}
	if (ok)
		drop_captured(image, f->place);
	return ok;
}

bool lb_image_fuse(struct lb_image *image)
{
	size_t n = image->n_nodes + 1;
	uint32_t most = image->n_nodes > image->n_captured ? image->n_nodes : image->n_captured;
	struct fusion f = { .image = image };
	f.members = malloc(n * sizeof *f.members);
	f.reads = malloc(n * sizeof *f.reads);
	f.nodes = calloc(n, sizeof *f.nodes);
	f.operands = calloc(image->n_operands + 1, sizeof *f.operands);
	f.place = malloc((most + 1) * sizeof *f.place);
	bool ok = f.members && f.reads && f.nodes && f.operands && f.place;
	if (!ok) {
		lb_fail("compile: out of memory for a graph of %u tensors", image->n_nodes);
		free(f.nodes);
		free(f.operands);
	} else {
		for (uint32_t i = 0; i < image->n_nodes; i++)
			f.members[i] = (struct member){ .group = i, .consumers = NONE, .next = NONE };
		for (uint32_t i = 0; i < image->n_out; i++) {
			struct lb_value v = image->outputs[i];
			if (v.kind == LB_VALUE_NODE)
				f.members[v.index].live = f.members[v.index].apart = true;
		}
		for (uint32_t i = image->n_nodes; i-- > 0;)
			assign(&f, i);
		ok = rebuild(&f);
	}
	free(f.members);
	free(f.reads);
	free(f.place);
	return ok;
}
