/* The way back leads from a tensor that holds bad values to an input that does, until no input does
 * any more: that operation made them. Only tensors beside that way are looked at. A ready one is
 * read where it is; a lazy one is replayed, which tells of all tensors behind it at once. Values
 * that go nowhere, such as the -Inf of a mask before a softmax, are never on the way.
 *
 * NaN comes first: an operation often makes it of an Inf, and then a second search begins there. */
#include "inspect/origin/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/forensics/freed.h"
#include "inspect/graph/address_map.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/array.h"
#include "table/program.h"

enum { PIECE = 1 << 16 };

struct search {
	struct lbx_context *context;
	struct lbx_tensors *tensors;
	uint32_t limit;
	struct lbx_address_map known; /* records' addresses to places in `links` */
	uint32_t n, room;
	struct lbx_origin_link *links;
	uint64_t looked_at;
	bool capped; /* a graph was larger than the limit */
};

static const char too_large[] = "the graph has more than"; /* lbx_graph_collect()'s words */

bool lbx_is_bad(const struct lbx_summary *s, bool nan)
{
	return s->special[LBX_NAN] ||
	       (!nan && (s->special[LBX_POSITIVE_INF] || s->special[LBX_NEGATIVE_INF]));
}

int64_t lbx_first_bad(const struct lbx_summary *s, bool nan)
{
	int64_t first = -1;

	for (int i = LBX_NAN; i <= (nan ? LBX_NAN : LBX_NEGATIVE_INF); i++)
		if (s->special[i] && (first < 0 || s->first[i] < first))
			first = s->first[i];
	return first;
}

/* ---- what a tensor holds ---- */

static bool interrupted(void)
{
	return strcmp(lb_error_message(), "interrupted") == 0;
}

static struct lbx_origin_link *remember(struct search *s, const struct lbx_tensor *t)
{
	bool is_new;
	struct lbx_address_entry *entry = lbx_address_map_at(&s->known, t->address, &is_new);

	if (!entry)
		return NULL;
	if (!is_new)
		return &s->links[entry->value];
	if (s->n == s->room) {
		uint32_t room = s->room ? 2 * s->room : 64;
		void *links = realloc(s->links, room * sizeof *s->links);
		if (!links) {
			lb_fail("out of memory for %u tensors", room);
			return NULL;
		}
		s->links = links;
		s->room = room;
	}
	entry->value = s->n;
	struct lbx_origin_link *link = &s->links[s->n++];
	memset(link, 0, sizeof *link);
	link->id = t->id;
	link->recorded = true;
	link->tensor = *t;
	return link;
}

static bool add_piece(void *summary, const void *elements, int64_t n, int64_t first)
{
	lbx_summary_add(summary, elements, n, first);
	return true;
}

static bool read_value(struct search *s, const struct lbx_tensor *t, struct lbx_summary *ret)
{
	struct lbx_array array;

	lbx_summary_init(ret, t->dtype);
	return lbx_array_of_tensor(s->context->target, t, &array) &&
	       lbx_array_walk(&array, s->context->out, "looking for NaN", PIECE, add_piece, ret);
}

static bool replay_value(struct search *s, const struct lbx_tensor *t)
{
	struct lbx_ranges ranges;

	if (!lbx_replay_ranges(s->context, t, s->limit, &ranges)) {
		s->capped |= strncmp(lb_error_message(), too_large, strlen(too_large)) == 0;
		return false;
	}
	bool ok = true;
	for (uint32_t i = 0; ok && i < ranges.graph.n; i++) {
		struct lbx_origin_link *link = remember(s, &ranges.graph.nodes[i].tensor);
		ok = link != NULL;
		if (ok && !link->known) {
			link->known = true;
			link->summary = ranges.nodes[i];
		}
	}
	lbx_ranges_deinit(&ranges);
	return ok;
}

/* Of a tensor whose values cannot be had, *ret says why. False only when the search must end. */
static bool look(struct search *s, const struct lbx_tensor *t, struct lbx_origin_link *ret)
{
	struct lbx_origin_link *link = remember(s, t);

	if (!link || !lbx_progress(s->context->out, "looking for the origin", (int64_t)s->looked_at, 0))
		return false;
	if (!link->known && !link->why[0]) {
		uint32_t at = (uint32_t)(link - s->links);
		struct lbx_summary summary;
		bool ready = t->state == LB_STATE_READY;
		s->looked_at++;
		bool ok = ready ? read_value(s, t, &summary) : replay_value(s, t);
		link = &s->links[at];
		if (!ok) {
			if (interrupted())
				return false;
			snprintf(link->why, sizeof link->why, "%s", lb_error_message());
			lb_clear_error();
		} else if (ready) {
			link->known = true;
			link->summary = summary;
		}
	}
	*ret = *link;
	return true;
}

/* An input that no longer exists: its record, and sometimes its bytes, may still be there. */
static bool look_at_gone(struct search *s, uint64_t id, struct lbx_origin_link *ret)
{
	struct lbx_tensor t;

	*ret = (struct lbx_origin_link){ .id = id };
	if (id == 0 || !lbx_freed_find(s->context->table, id, &t)) {
		snprintf(ret->why, sizeof ret->why, "it is gone, and its record too");
		return lb_ok();
	}
	ret->recorded = true;
	ret->tensor = t;
	if (t.data) {
		t.state = LB_STATE_READY;
		ret->known = read_value(s, &t, &ret->summary);
		if (!ret->known && interrupted())
			return false;
		lb_clear_error();
	}
	if (!ret->known)
		snprintf(ret->why, sizeof ret->why, "it was freed, and its memory used again");
	return true;
}

/* ---- the way back ---- */

static bool add_link(struct lbx_origin *o, const struct lbx_origin_link *link)
{
	if (o->n == o->room) {
		size_t room = o->room ? 2 * o->room : 16;
		void *path = realloc(o->path, room * sizeof *o->path);
		if (!path)
			return lb_fail("out of memory for a way back over %zu tensors", o->n);
		o->path = path;
		o->room = room;
	}
	o->path[o->n++] = *link;
	return true;
}

/* Looks at the inputs of the path's last tensor. *ret_next is the one to follow, or -1. */
static bool look_at_inputs(struct search *s, struct lbx_origin *o, int *ret_next)
{
	const struct lbx_tensor *t = &o->path[o->n - 1].tensor;

	*ret_next = -1;
	o->n_inputs = t->n_inputs < LBX_ORIGIN_INPUTS ? (int)t->n_inputs : LBX_ORIGIN_INPUTS;
	for (int i = 0; i < o->n_inputs; i++) {
		struct lbx_origin_link *input = &o->inputs[i];
		struct lbx_tensor found;
		if (s->tensors->ops->input(s->tensors, t, (uint32_t)i, &found)) {
			if (!look(s, &found, input))
				return false;
		} else {
			lb_clear_error();
			if (!look_at_gone(s, s->tensors->ops->input_id(s->tensors, t, (uint32_t)i), input))
				return false;
		}
		/* of several, the one that was made first */
		if (input->known && lbx_is_bad(&input->summary, o->nan) &&
		    (*ret_next < 0 || input->id < o->inputs[*ret_next].id))
			*ret_next = i;
	}
	return true;
}

static enum lbx_origin_end ending(const struct lbx_origin *o)
{
	const struct lbx_tensor *t = &o->path[o->n - 1].tensor;

	if (t->state == LB_STATE_FREED && t->op_class != LB_CLASS_CREATE && t->op_class != LB_CLASS_LEAF)
		return LBX_END_GONE;
	if (t->n_inputs == 0)
		return LBX_END_GIVEN;
	for (int i = 0; i < o->n_inputs; i++) {
		const struct lbx_origin_link *input = &o->inputs[i];
		bool integer = input->recorded && input->tensor.dtype < LB_F16;
		if (!input->known && !integer)
			return LBX_END_GONE;
	}
	return t->n_inputs > LBX_ORIGIN_INPUTS ? LBX_END_GONE : LBX_END_MADE;
}

static bool walk(struct search *s, const struct lbx_origin_link *start, struct lbx_origin *o)
{
	int next;

	o->inputs = calloc(LBX_ORIGIN_INPUTS, sizeof *o->inputs);
	if (!o->inputs)
		return lb_fail("out of memory");
	if (!add_link(o, start))
		return false;
	for (;;) {
		if (o->n >= s->limit || s->looked_at >= s->limit) {
			o->end = LBX_END_LIMIT;
			o->n_inputs = 0;
			return true;
		}
		if (!look_at_inputs(s, o, &next))
			return false;
		if (next < 0) {
			o->end = ending(o);
			return true;
		}
		if (!add_link(o, &o->inputs[next]))
			return false;
	}
}

/* ---- inside an elementwise tensor ---- */

/* Follows bad values from register `reg` back to the instruction that made them. */
static int maker(const struct lbx_program *p, const struct lbx_wire_step *steps, int reg, bool nan)
{
	int first = p->n_inputs + p->n_constants;

	for (;;) {
		const struct lbx_insn *insn = &p->insns[reg - first];
		int next = -1;
		for (int k = 0; k < insn->n_operands; k++) {
			int operand = insn->operands[k];
			if (operand >= first && lbx_is_bad(&steps[operand - first].summary, nan) &&
			    (next < 0 || operand < next))
				next = operand;
		}
		if (next < 0)
			return reg;
		reg = next;
	}
}

/* An elementwise operation as a program of one instruction. */
static void single(const struct lbx_origin *o, const struct lbx_tensor *t, struct lbx_program *ret)
{
	*ret = (struct lbx_program){ .n_inputs = o->n_inputs, .n_insns = 1 };
	for (int i = 0; i < o->n_inputs; i++)
		ret->dtypes[i] = o->inputs[i].tensor.dtype;
	ret->dtypes[o->n_inputs] = t->dtype;
	ret->insns[0] = (struct lbx_insn){ .op = t->op, .n_operands = o->n_inputs, .operands = { 0, 1, 2 } };
}

static void set_step(struct lbx_origin *o, const struct lbx_program *p, const struct lbx_wire_step *steps,
		     int reg)
{
	int first = p->n_inputs + p->n_constants;
	const struct lbx_insn *insn = &p->insns[reg - first];

	o->has_step = true;
	o->step = reg - first;
	o->n_steps = p->n_insns;
	o->op = insn->op;
	o->dtype = p->dtypes[reg];
	o->n_operands = insn->n_operands;
	for (int k = 0; k < insn->n_operands; k++) {
		o->operand_dtypes[k] = p->dtypes[insn->operands[k]];
		o->operands[k] = steps[o->step].operands[k];
	}
}

/* Computes the last tensor of the path again, to see which operation of it made the values of what
 * elements. An Inf may have been made there as well: then *ret_inf ends in the same tensor. */
static bool look_inside(struct search *s, struct lbx_origin *o, struct lbx_origin *ret_inf)
{
	struct lbx_tensor t = o->path[o->n - 1].tensor;
	bool fused = t.op_class == LB_CLASS_FUSED;
	struct lbx_program program;
	struct lbx_ranges ranges;

	if (!fused && (t.op_class < LB_CLASS_UNARY || t.op_class > LB_CLASS_TERNARY || o->n_inputs > 3))
		return true;
	t.state = LB_STATE_FREED;
	if (!lbx_replay_ranges(s->context, &t, s->limit, &ranges)) {
		if (interrupted())
			return false;
		lb_clear_error();
		return true;
	}
	if (!fused)
		single(o, &t, &program);
	else if (!s->tensors->ops->program(s->tensors, &t, &program))
		program.n_insns = 0;
	lb_clear_error();
	int first = program.n_inputs + program.n_constants, last = first + program.n_insns - 1;
	bool ok = true;
	if (program.n_insns > 0 && program.n_insns == ranges.n_steps) {
		int reg = maker(&program, ranges.steps, last, o->nan);
		o->finite_again = !lbx_is_bad(&ranges.steps[program.n_insns - 1].summary, o->nan);
		set_step(o, &program, ranges.steps, reg);
		const struct lbx_insn *insn = &program.insns[reg - first];
		for (int k = 0; o->nan && ok && ret_inf && ret_inf->n == 0 && k < insn->n_operands; k++) {
			int operand = insn->operands[k];
			if (operand < first || !lbx_is_bad(&ranges.steps[operand - first].summary, false))
				continue;
			ok = add_link(ret_inf, &o->path[o->n - 1]);
			if (ok)
				set_step(ret_inf, &program, ranges.steps,
					 maker(&program, ranges.steps, operand, false));
		}
	}
	lbx_ranges_deinit(&ranges);
	return ok;
}

/* The Inf that the NaN was made of: of an input, unless it is from inside. */
static bool find_inf(struct search *s, const struct lbx_origin *nan, struct lbx_origin *ret)
{
	if (ret->n)
		return true;
	for (int i = 0; i < nan->n_inputs; i++)
		if (nan->inputs[i].known && lbx_is_bad(&nan->inputs[i].summary, false))
			return walk(s, &nan->inputs[i], ret) && look_inside(s, ret, NULL);
	return true;
}

static bool find(struct search *s, const struct lbx_tensor *t, struct lbx_origins *ret)
{
	if (!look(s, t, &ret->start))
		return false;
	if (!ret->start.known)
		return lb_fail("%s%s", ret->start.why, s->capped ? "; --limit N looks at more" : "");
	ret->nan.nan = true;
	if (lbx_is_bad(&ret->start.summary, true)) {
		ret->has_nan = true;
		if (!walk(s, &ret->start, &ret->nan) || !look_inside(s, &ret->nan, &ret->inf) ||
		    !find_inf(s, &ret->nan, &ret->inf))
			return false;
	} else if (lbx_is_bad(&ret->start.summary, false)) {
		if (!walk(s, &ret->start, &ret->inf) || !look_inside(s, &ret->inf, NULL))
			return false;
	}
	ret->has_inf = ret->inf.n > 0;
	ret->looked_at = s->looked_at;
	return true;
}

bool lbx_find_origins(struct lbx_context *context, const struct lbx_tensor *t, int64_t limit,
		      struct lbx_origins *ret)
{
	struct lbx_table *table;
	struct search s = { .context = context, .limit = (uint32_t)limit };

	memset(ret, 0, sizeof *ret);
	if (!lbx_context_table(context, &table))
		return false;
	s.tensors = lbx_table_tensors(table);
	bool done = find(&s, t, ret);
	lbx_address_map_deinit(&s.known);
	free(s.links);
	if (!done)
		lbx_origins_deinit(ret);
	return done;
}

void lbx_origins_deinit(struct lbx_origins *origins)
{
	free(origins->nan.path);
	free(origins->nan.inputs);
	free(origins->inf.path);
	free(origins->inf.inputs);
	memset(origins, 0, sizeof *origins);
}
