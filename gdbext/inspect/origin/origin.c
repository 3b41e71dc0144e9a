/* The way back leads from an element to the element that it is made of, as long as that holds such a
 * value too; where there is none any more, that operation made it. What else a tensor holds does not
 * matter: values that go nowhere, such as the -Inf of a mask before a softmax, are never on the way.
 * Views, copies and elementwise operations lead to one element; folds and products to the first such
 * value of what they fold. Where it cannot be told which elements of an input are needed
 * (inspect/replay/sources.h), the way ends, unless it is all the same.
 *
 * NaN comes first: an operation often makes it of an Inf, and then a second search begins there. */
#include "inspect/origin/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vector.h"
#include "inspect/forensics/freed.h"
#include "inspect/graph/graph.h"
#include "inspect/origin/by_recipe.h"
#include "inspect/origin/codes.h"
#include "inspect/origin/inside.h"
#include "inspect/origin/look.h"
#include "inspect/replay/lower.h"
#include "inspect/replay/sources.h"
#include "inspect/tensor/array.h"
#include "tensors/part.h"

enum { MAX_INPUTS = 1 << 16 };

bool lbx_is_bad(const struct lbx_summary *s, bool nan)
{
	return s->special[LBX_NAN] || (!nan && (s->special[LBX_POSITIVE_INF] || s->special[LBX_NEGATIVE_INF]));
}

int64_t lbx_first_bad(const struct lbx_summary *s, bool nan)
{
	int64_t first = -1;

	for (int i = LBX_NAN; i <= (nan ? LBX_NAN : LBX_NEGATIVE_INF); i++)
		if (s->special[i] && (first < 0 || s->first[i] < first))
			first = s->first[i];
	return first;
}

/* ---- the inputs of an element ---- */

/* A tensor and its inputs, as a graph of their own. */
struct around {
	struct lbx_graph graph;
	struct lbx_source *sources;
	int op;
};

static void leave(struct around *a)
{
	lbx_graph_deinit(&a->graph);
	free(a->sources);
}

/* What its record tells of an input; one without a record is taken to be like the result. */
static bool is_recorded(struct lbx_search *s, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	if (lbx_tensor_input(t, i, ret))
		return true;
	lb_clear_error();
	uint64_t id = lbx_tensor_input_id(t, i);
	bool found = lbx_freed_find(s->context, t->of, id, ret);
	lb_clear_error();
	if (found && ret->data)
		ret->state = LBX_READY;
	if (!found)
		*ret = *t;
	return found;
}

/* Its elements can be told apart: places have as many axes as the runtime's tensors. */
static bool has_place(const struct lbx_tensor *t)
{
	return t->rank <= LB_MAX_RANK || lb_fail("origin: tensor #%llu has %d axes; at most %d are followed",
						 (unsigned long long)t->id, t->rank, LB_MAX_RANK);
}

static bool look_around(struct lbx_search *s, const struct lbx_tensor *t, struct around *ret)
{
	uint32_t n = t->n_inputs;
	bool all = true;

	*ret = (struct around){ .op = lbx_op_number(t) };
	ret->sources = calloc(n + 1, sizeof *ret->sources);
	ret->graph.nodes = calloc(n + 1, sizeof *ret->graph.nodes);
	ret->graph.inputs = calloc(n + 1, sizeof *ret->graph.inputs);
	if (!ret->sources || !ret->graph.nodes || !ret->graph.inputs) {
		leave(ret);
		return lb_fail("out of memory for %u inputs", n);
	}
	ret->graph.n = n + 1;
	ret->graph.n_inputs = n;
	ret->graph.nodes[0].tensor = *t;
	for (uint32_t i = 0; i < n; i++) {
		struct lbx_graph_node *node = &ret->graph.nodes[i + 1];
		ret->graph.inputs[i] = i + 1;
		all &= is_recorded(s, t, i, &node->tensor);
		node->is_leaf = node->tensor.state == LBX_READY;
		if (!has_place(&node->tensor)) {
			leave(ret);
			return false;
		}
	}
	if (!all && (t->op_class < LB_CLASS_UNARY || t->op_class > LB_CLASS_TERNARY))
		ret->op = -1;
	return true;
}

/* What the tensor's own set says, whose operations are not the runtime's. */
static void ask_set(const struct lbx_origin_link *link, struct around *a)
{
	const struct lbx_tensor *t = &link->tensor;
	struct lbx_part part;

	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lbx_source *to = &a->sources[i];
		if (!lbx_tensor_part(t, link->at, i, &part))
			continue;
		to->nothing = part.nothing;
		to->exact = part.exact;
		if (part.nothing)
			continue;
		memcpy(to->region.first, part.first, sizeof part.first);
		memcpy(to->region.count, part.count, sizeof part.count);
		memcpy(to->region.step, part.step, sizeof part.step);
	}
}

/* Which elements are needed, after a look at the one that chooses. */
static bool find_sources(struct lbx_search *s, const struct lbx_origin_link *link, struct around *a)
{
	const struct lbx_tensor *t = &link->tensor;
	int chooser = lbx_chooser(a->op);
	struct lbx_origin_link input;
	struct lbx_choice choice;
	bool known, ok;

	lbx_sources_of(&a->graph, 0, a->op, link->at, NULL, a->sources);
	if (t->of->ops->part)
		ask_set(link, a);
	else if (lbx_needs_lowering(t))
		return lbx_sources_by_recipe(s, &a->graph, link->at, a->sources);
	if (chooser < 0 || (uint32_t)chooser >= t->n_inputs || !a->sources[chooser].exact)
		return true;
	const struct lbx_region *region = &a->sources[chooser].region;
	int64_t axis = t->params[0];
	if (!lbx_look_at_input(s, t, (uint32_t)chooser, &input))
		return false;
	if (lbx_chooses_places(a->op))
		ok = lbx_look_at_places(s, &input, region, link->at[axis], lbx_shape(t)[axis], &known, &choice);
	else
		ok = lbx_look_at_choice(s, &input, region, &known, &choice);
	if (!ok)
		return false;
	if (known)
		lbx_sources_of(&a->graph, 0, a->op, link->at, &choice, a->sources);
	return true;
}

/* The first value of a part that a NaN, or an Inf like this, can come from; -1: none. */
static int64_t first_like(const struct lbx_summary *part, enum lbx_special like, bool any_sign, enum lbx_special *ret)
{
	int64_t first = -1;

	for (int k = LBX_NAN; k <= LBX_NEGATIVE_INF; k++) {
		bool fits = k == (int)like || (any_sign && like != LBX_NAN && k != LBX_NAN);
		if (!fits || !part->special[k] || (first >= 0 && part->first[k] >= first))
			continue;
		first = part->first[k];
		*ret = (enum lbx_special)k;
	}
	return first;
}

static bool look_at_region(struct lbx_search *s, struct lbx_origin_link *input, const struct lbx_region *region)
{
	input->region = *region;
	return lbx_look_at_part(s, input, region) && lbx_look_at_codes(s, input);
}

/* Where what is certain holds no such value, the rest is looked at, too. */
static bool look_at_source(struct lbx_search *s, const struct lbx_origin_link *link, const struct lbx_source *source,
			   struct lbx_origin_link *input)
{
	enum lbx_special kind;

	input->exact = source->exact;
	input->perhaps = source->perhaps;
	if (!look_at_region(s, input, &source->region))
		return false;
	if (!source->has_wider || !input->part_known || first_like(&input->part, link->kind, true, &kind) >= 0)
		return true;
	input->exact = false;
	return look_at_region(s, input, &source->wider);
}

/* Looks at what the element of the path's last tensor is made of. */
static bool look_at_inputs(struct lbx_search *s, struct lbx_origin *o)
{
	const struct lbx_origin_link *link = &o->path[o->n - 1];
	const struct lbx_tensor *t = &link->tensor;
	struct around a;

	o->n_inputs = 0;
	o->more_inputs = t->n_inputs > MAX_INPUTS;
	if (t->n_inputs == 0 || o->more_inputs)
		return true;
	if (!look_around(s, t, &a))
		return false;
	bool ok = find_sources(s, link, &a);
	for (uint32_t i = 0; ok && i < t->n_inputs; i++) {
		if (a.sources[i].nothing)
			continue;
		o->more_inputs = o->n_inputs == LBX_ORIGIN_INPUTS;
		if (o->more_inputs)
			break;
		struct lbx_origin_link *input = &o->inputs[o->n_inputs++];
		ok = lbx_look_at_input(s, t, i, input);
		input->number = i;
		input->codes = lbx_codes_of_input(t, (enum lbx_codes)link->codes, a.op, i);
		ok = ok && look_at_source(s, link, &a.sources[i], input);
	}
	leave(&a);
	return ok;
}

/* ---- the way back ---- */

static bool add_link(struct lbx_origin *o, const struct lbx_origin_link *link)
{
	struct lbx_origin_link copy = *link; /* it may be one of the path */

	if (!lb_reserve(o->path, o->room, o->n + 1))
		return lb_fail("out of memory for a way back over %zu tensors", o->n);
	o->path[o->n++] = copy;
	return true;
}

/* Operations whose Inf has the sign of the Inf that it comes from. */
static bool keeps_sign(const char *op)
{
	static const char *const ops[] = { "maximum", "minimum", "clip", "max",       "min",   "sort",
					   "topk",    "sum",     "mean", "logsumexp", "cumsum" };

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (strcmp(op, ops[i]) == 0)
			return true;
	return false;
}

/* Sets the input's element: the i-th of its part. */
static void set_element(struct lbx_origin_link *input, int64_t i, enum lbx_special kind)
{
	const struct lbx_region *r = &input->region;

	for (int axis = input->tensor.rank; axis-- > 0; i /= r->count[axis])
		input->at[axis] = r->first[axis] + i % r->count[axis] * r->step[axis];
	input->kind = kind;
}

/* Whether a value that the tensor has can come from one such as this in an input: scores of attention
 * that are Inf give NaN or 0, never Inf, and the -Inf of a mask is 0. */
static bool leads_on(const struct lbx_tensor *t, uint32_t input, enum lbx_special value, enum lbx_special from)
{
	if (strcmp(t->op, "attention") != 0 || from == LBX_NAN)
		return true;
	return value == LBX_NAN ? input < 3 : input == 2;
}

/* *ret_next is the input to follow: of several, the one that was made first; or -1, and then
 * *ret_unsure says whether the value may be from an input all the same. */
static void choose(struct lbx_origin *o, int *ret_next, bool *ret_unsure)
{
	const struct lbx_origin_link *link = &o->path[o->n - 1];
	enum lbx_special kind = LBX_NAN;

	*ret_next = -1;
	*ret_unsure = false;
	for (int i = 0; i < o->n_inputs; i++) {
		struct lbx_origin_link *input = &o->inputs[i];
		int64_t first = input->part_known && leads_on(&link->tensor, input->number, link->kind, link->kind)
				    ? first_like(&input->part, link->kind, !keeps_sign(link->tensor.op), &kind)
				    : -1;
		if (first < 0)
			continue;
		if (!input->exact && (input->perhaps || input->part.special[kind] < input->part.count)) {
			*ret_unsure = true;
			continue;
		}
		set_element(input, first, kind);
		if (*ret_next < 0 || input->id < o->inputs[*ret_next].id)
			*ret_next = i;
	}
}

/* Views, and what copies or chooses: no value is made there. */
static bool only_moves(const struct lbx_tensor *t)
{
	return t->op_class == LB_CLASS_VIEW || t->op_class == LB_CLASS_GATHER || t->op_class == LB_CLASS_CONCATENATE ||
	       strcmp(t->op, "contiguous") == 0 || strcmp(t->op, "pad") == 0;
}

static enum lbx_origin_end ending(const struct lbx_origin *o, bool unsure)
{
	const struct lbx_tensor *t = &o->path[o->n - 1].tensor;

	if (t->state == LBX_FREED && t->op_class != LB_CLASS_CREATE && t->op_class != LB_CLASS_LEAF)
		return LBX_END_GONE;
	if (t->n_inputs == 0)
		return LBX_END_GIVEN;
	if (unsure)
		return LBX_END_UNSURE;
	for (int i = 0; i < o->n_inputs; i++) {
		const struct lbx_origin_link *input = &o->inputs[i];
		bool integer = input->recorded && input->tensor.dtype < LB_F16 && !input->codes;
		if (!input->part_known && !integer)
			return LBX_END_GONE;
	}
	return o->more_inputs ? LBX_END_GONE : LBX_END_MADE;
}

/* ---- inside an elementwise tensor ---- */

static void set_step(struct lbx_origin *o, const struct lbx_inside *in, int reg)
{
	const struct lbx_insn *insn = &in->program.insns[reg - in->first];

	o->has_step = true;
	o->step = reg - in->first;
	o->n_steps = in->program.n_insns;
	o->op = insn->op;
	o->dtype = in->program.dtypes[reg];
	o->n_operands = insn->n_operands;
	for (int k = 0; k < insn->n_operands; k++) {
		o->operand_dtypes[k] = in->program.dtypes[insn->operands[k]];
		o->operands[k] = in->steps.steps[o->step].operands[k];
	}
}

/* The input with this number, at its one element; or -1. */
static int element_of(struct lbx_origin *o, int number, enum lbx_special kind)
{
	for (int i = 0; i < o->n_inputs; i++) {
		if (o->inputs[i].number != (uint32_t)number || !o->inputs[i].part_known || o->inputs[i].part.count != 1)
			continue;
		set_element(&o->inputs[i], 0, kind);
		return i;
	}
	return -1;
}

struct operand {
	uint64_t element;
	size_t size;
};

static bool take_first(void *to, const void *elements, int64_t n, int64_t first)
{
	struct operand *operand = to;

	if (n > 0 && first == 0)
		memcpy(&operand->element, elements, operand->size);
	return true;
}

/* Of an operation that the replay does not know by itself: the elements that gave the result's, where each input gives
 * one. */
static bool set_elements(struct lbx_search *s, struct lbx_origin *o)
{
	const struct lbx_tensor *t = &o->path[o->n - 1].tensor;

	if (o->n_inputs == 0 || o->n_inputs > 3 || o->more_inputs || only_moves(t))
		return true;
	for (int i = 0; i < o->n_inputs; i++) {
		const struct lbx_origin_link *input = &o->inputs[i];
		struct operand operand = { .size = (size_t)lbx_dtype_bytes(input->tensor.dtype) };
		if (!input->recorded || !input->part_known || !input->exact || input->part.count != 1 ||
		    operand.size > sizeof operand.element)
			return true;
		if (!lbx_walk_part(s, &input->tensor, &input->region, take_first, &operand)) {
			bool stopped = lb_error_cause() == LB_INTERRUPTED;
			if (!stopped)
				lb_clear_error();
			return !stopped;
		}
		o->operands[i] = operand.element;
		o->operand_dtypes[i] = input->tensor.dtype;
	}
	o->has_step = true;
	o->step = 0;
	o->n_steps = 1;
	o->op = t->op;
	o->dtype = t->dtype;
	o->n_operands = o->n_inputs;
	return true;
}

/* Computes the element of the path's last tensor again. *ret_next is the input that it leads to; or
 * -1: then it was made by a step, if o->has_step. */
static bool step_inside(struct lbx_search *s, struct lbx_origin *o, struct lbx_inside *in, int *ret_next)
{
	bool known;

	*ret_next = -1;
	if (!lbx_look_inside(s, &o->path[o->n - 1], &known, in))
		return false;
	if (!known)
		return set_elements(s, o);
	o->finite_again = !lbx_result_is_bad(in, o->nan);
	int reg = o->finite_again ? in->last : lbx_maker(in, in->last, o->nan);
	if (reg >= in->first)
		set_step(o, in, reg);
	else
		*ret_next = element_of(o, reg, o->path[o->n - 1].kind);
	return true;
}

static bool walk(struct lbx_search *s, const struct lbx_origin_link *start, struct lbx_origin *o, struct lbx_inside *in)
{
	int next, inner;
	bool unsure;

	o->inputs = calloc(LBX_ORIGIN_INPUTS, sizeof *o->inputs);
	if (!o->inputs)
		return lb_fail("out of memory");
	if (!add_link(o, start))
		return false;
	for (;;) {
		const struct lbx_origin_link *link = &o->path[o->n - 1];
		if (o->n >= s->limit || s->looked_at >= s->limit ||
		    (s->deadline > 0 && lb_clock_seconds() > s->deadline)) {
			o->end = LBX_END_LIMIT;
			o->n_inputs = 0;
			return true;
		}
		if (!look_at_inputs(s, o))
			return false;
		choose(o, &next, &unsure);
		bool fused = link->tensor.op_class == LB_CLASS_FUSED;
		if ((fused || next < 0) && link->tensor.n_inputs) {
			if (!step_inside(s, o, in, &inner))
				return false;
			next = fused && inner >= 0 ? inner : fused && o->has_step && !o->finite_again ? -1 : next;
			unsure &= !o->has_step || o->finite_again;
		}
		if (next < 0) {
			o->end = ending(o, unsure);
			if (o->end == LBX_END_MADE && only_moves(&o->path[o->n - 1].tensor))
				o->finite_again = true;
			return true;
		}
		o->has_step = o->finite_again = false;
		if (!add_link(o, &o->inputs[next]))
			return false;
	}
}

/* ---- the Inf that a NaN was made of ---- */

/* Of a step inside a fused tensor: made by a step before it, or had from an input. */
static bool find_inf_inside(struct lbx_search *s, struct lbx_origin *nan, const struct lbx_inside *in,
			    struct lbx_origin *ret)
{
	const struct lbx_insn *insn = &in->program.insns[nan->step];
	enum lbx_special kind;
	struct lbx_inside inner;

	for (int k = 0; k < insn->n_operands; k++) {
		int reg = insn->operands[k];
		if (!lbx_register_is_bad(in, nan->step, k, false, &kind) ||
		    (reg >= in->program.n_inputs && reg < in->first))
			continue;
		reg = lbx_maker(in, reg, false);
		if (reg < in->first) {
			int i = element_of(nan, reg, kind);
			return i < 0 || walk(s, &nan->inputs[i], ret, &inner);
		}
		if (!add_link(ret, &nan->path[nan->n - 1]))
			return false;
		ret->path[0].kind = kind;
		set_step(ret, in, reg);
		return true;
	}
	return true;
}

static bool find_inf(struct lbx_search *s, struct lbx_origin *nan, const struct lbx_inside *in, struct lbx_origin *ret)
{
	struct lbx_inside inner;
	enum lbx_special kind;

	if (nan->end != LBX_END_MADE || nan->finite_again)
		return true;
	if (nan->has_step && nan->path[nan->n - 1].tensor.op_class == LB_CLASS_FUSED)
		return find_inf_inside(s, nan, in, ret);
	for (int i = 0; i < nan->n_inputs; i++) {
		struct lbx_origin_link *input = &nan->inputs[i];
		bool fits = leads_on(&nan->path[nan->n - 1].tensor, input->number, LBX_NAN, LBX_POSITIVE_INF);
		int64_t first = input->part_known && input->exact && fits
				    ? first_like(&input->part, LBX_POSITIVE_INF, true, &kind)
				    : -1;
		if (first < 0)
			continue;
		set_element(input, first, kind);
		return walk(s, input, ret, &inner);
	}
	return true;
}

/* ---- the whole ---- */

static void begin_at_first(struct lbx_origin_link *link)
{
	int64_t first = first_like(&link->summary, lbx_is_bad(&link->summary, true) ? LBX_NAN : LBX_POSITIVE_INF, true,
				   &link->kind);

	lbx_region_all(link->tensor.rank, lbx_shape(&link->tensor), &link->region);
	set_element(link, first, link->kind);
}

static bool find(struct lbx_search *s, const struct lbx_tensor *t, struct lbx_origins *ret)
{
	struct lbx_inside inside;

	if (!has_place(t) || !lbx_look(s, t, &ret->start))
		return false;
	if (!ret->start.known)
		return lb_fail("%s%s", ret->start.why, s->capped ? "; --limit N looks at more" : "");
	ret->nan.nan = true;
	if (lbx_is_bad(&ret->start.summary, false))
		begin_at_first(&ret->start);
	if (lbx_is_bad(&ret->start.summary, true)) {
		ret->has_nan = true;
		if (!walk(s, &ret->start, &ret->nan, &inside) || !find_inf(s, &ret->nan, &inside, &ret->inf))
			return false;
	} else if (lbx_is_bad(&ret->start.summary, false)) {
		if (!walk(s, &ret->start, &ret->inf, &inside))
			return false;
	}
	ret->has_inf = ret->inf.n > 0;
	ret->looked_at = s->looked_at;
	return true;
}

bool lbx_find_origins(struct lbx_context *context, const struct lbx_tensor *t, int64_t limit, double seconds,
		      struct lbx_origins *ret)
{
	struct lbx_search s = { .context = context,
				.limit = limit < UINT32_MAX / 2 ? (uint32_t)limit : UINT32_MAX / 2,
				.deadline = seconds > 0 ? lb_clock_seconds() + seconds : 0 };

	memset(ret, 0, sizeof *ret);
	bool done = find(&s, t, ret);
	lbx_search_deinit(&s);
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
