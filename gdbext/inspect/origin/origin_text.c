#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/findings.h"
#include "inspect/operand/select.h"
#include "inspect/origin/cause.h"
#include "inspect/origin/origin.h"
#include "inspect/say.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/expression.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/tensor/number.h"
#include "inspect/texts.h"

enum { LABEL = LBX_DESCRIPTION_MAX, WAY_SHOWN = 12, DEFAULT_LIMIT = 10000, TEXT = 1024 };

static const struct lbx_origin_link *last(const struct lbx_origin *o)
{
	return &o->path[o->n - 1];
}

/* The coordinates of the first NaN, or else Inf, of a tensor on the way. */
static void first_place(const struct lbx_origin_link *link, int64_t at[LBX_RANK_MAX])
{
	lbx_coordinates(link->tensor.rank, lbx_shape(&link->tensor),
			lbx_first_bad(&link->summary, link->kind == LBX_NAN), at);
}

static bool is_first(const struct lbx_origin_link *link)
{
	int64_t at[LBX_RANK_MAX];

	first_place(link, at);
	return memcmp(at, link->at, (size_t)link->tensor.rank * sizeof *at) == 0;
}

static void place_text(const struct lbx_origin_link *link, char *ret, size_t size)
{
	lbx_format_place(link->at, link->tensor.rank, ret, size);
}

static int64_t inf_count(const struct lbx_summary *s)
{
	return s->special[LBX_POSITIVE_INF] + s->special[LBX_NEGATIVE_INF];
}

static void short_name(const struct lbx_tensor *t, char *ret, size_t size)
{
	snprintf(ret, size, "#%" PRIu64 "%s%s %s", t->id, *t->name ? " " : "", t->name, t->op);
}

static const char *cause(const struct lbx_origin *o, char ret[TEXT])
{
	const struct lbx_origin_link *end = last(o);
	struct lbx_cause c = { .op = o->has_step ? o->op : end->tensor.op,
			       .nan = o->nan,
			       .dtype = o->has_step ? o->dtype : end->tensor.dtype };
	bool told = true;

	ret[0] = '\0';
	if (o->end != LBX_END_MADE || o->finite_again)
		return ret;
	for (int k = 0; o->has_step && k < o->n_operands; k++)
		c.operands[c.n_operands++] = lbx_element_double(&o->operands[k], o->operand_dtypes[k]);
	for (int i = 0; i < o->n_inputs; i++) {
		const struct lbx_origin_link *input = &o->inputs[i];
		bool inf = input->part_known && inf_count(&input->part) > 0;
		c.inf |= inf;
		c.negative_inf |= inf && input->part.special[LBX_NEGATIVE_INF] > 0;
		c.empty |= input->part_known && input->part.count == 0;
		told &= o->has_step || input->exact || !inf;
	}
	return told ? lbx_cause_text(&c, ret, TEXT) : ret;
}

/* "log(-1)", with the elements that gave the first. */
static void call(const struct lbx_origin *o, char *ret, size_t size)
{
	char number[LBX_NUMBER_MAX];
	int n = snprintf(ret, size, "%s(", o->op);

	for (int k = 0; k < o->n_operands && n >= 0 && (size_t)n < size; k++) {
		lbx_number_scalar(&o->operands[k], o->operand_dtypes[k], number);
		n += snprintf(ret + n, size - (size_t)n, "%s%s", k ? ", " : "", number);
	}
	if (n >= 0 && (size_t)n < size)
		snprintf(ret + n, size - (size_t)n, ")");
}

/* ---- text ---- */

static void print_holdings(struct lbx_out *out, const struct lbx_summary *s)
{
	int64_t nan = s->special[LBX_NAN], inf = inf_count(s);

	if (s->count == 0)
		lbx_printf(out, "no elements");
	else if (s->argmin >= 0)
		lbx_printf(out, "from %.7g to %.7g", s->min, s->max);
	if (nan)
		lbx_printf(out, "%s%lld NaN", s->argmin >= 0 ? ", " : "", (long long)nan);
	if (inf)
		lbx_printf(out, ", %lld Inf", (long long)inf);
}

static void print_way(struct lbx_out *out, const struct lbx_origin *o)
{
	char text[TEXT * 4], name[LABEL];
	size_t used = 0;

	if (o->n < 3)
		return;
	for (size_t i = 1; i + 1 < o->n && used < sizeof text - LABEL; i++) {
		if (o->n > WAY_SHOWN && i == WAY_SHOWN / 2) {
			size_t left_out = o->n - WAY_SHOWN;
			used += (size_t)snprintf(text + used, sizeof text - used, ", … %zu more", left_out);
			i += left_out - 1;
			continue;
		}
		short_name(&o->path[i].tensor, name, sizeof name);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 1 ? ", " : "", name);
	}
	lbx_print_folded(out, "  by way of ", text);
}

static void print_inputs(struct lbx_out *out, const struct lbx_origin *o)
{
	char label[LABEL];

	if (o->n_inputs)
		lbx_printf(out, "  its input%s:\n", LB_S(o->n_inputs));
	for (int i = 0; i < o->n_inputs; i++) {
		const struct lbx_origin_link *input = &o->inputs[i];
		if (input->recorded)
			lbx_describe(&input->tensor, label, sizeof label);
		else
			snprintf(label, sizeof label, "#%" PRIu64, input->id);
		lbx_wrap(out, 0, 6);
		lbx_printf(out, "    %s  ", label);
		if (input->known)
			print_holdings(out, &input->summary);
		else
			lbx_styled(out, LBX_WARNING, "unknown: %s", input->why);
		lbx_printf(out, "\n");
	}
}

static void print_step(struct lbx_context *context, const struct lbx_origin *o)
{
	struct lbx_out *out = context->out;
	char text[LBX_EXPRESSION_MAX + TEXT], expression[LBX_EXPRESSION_MAX];
	const struct lbx_tensor *t = &last(o)->tensor;

	if (o->has_step && t->op_class == LB_CLASS_FUSED) {
		snprintf(text, sizeof text, "%s; step %d of %d is %s", lbx_expression(t, expression), o->step + 1,
			 o->n_steps, o->op);
		lbx_print_folded(out, "  it computes ", text);
	}
	if (o->finite_again) {
		lbx_print_folded(out, "  ",
				 "computed again from its inputs, it has none: their values have "
				 "changed since, or the result's");
		return;
	}
	if (!o->has_step)
		return;
	call(o, text, sizeof text);
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "  %s is %s, in %s\n", is_first(last(o)) ? "the first" : "this one", text,
		   lbx_dtype_name(o->dtype));
}

static json_t *json_link(const struct lbx_origin_link *link)
{
	const struct lbx_summary *s = &link->summary;
	json_t *o = link->recorded ? lbx_json_tensor(&link->tensor) : json_pack("{s:I}", "id", (json_int_t)link->id);

	if (!link->known) {
		json_object_set_new(o, "unknown", lbx_json_string(link->why));
		return o;
	}
	json_object_set_new(o, "min", s->argmin < 0 ? json_null() : lbx_json_double(s->min));
	json_object_set_new(o, "max", s->argmax < 0 ? json_null() : lbx_json_double(s->max));
	json_object_set_new(o, "nan", json_integer(s->special[LBX_NAN]));
	json_object_set_new(o, "inf", json_integer(inf_count(s)));
	return o;
}

/* Of blocks along the last axis: which one holds the element. */
static bool block_of(const struct lbx_origin_link *link, int64_t *ret)
{
	const struct lbx_tensor *t = &link->tensor;

	if (!t->encoding || t->encoding->elements < 2 || t->rank < 1)
		return false;
	*ret = link->at[t->rank - 1] / t->encoding->elements;
	return true;
}

static json_t *json_origin(struct lbx_context *context, const struct lbx_origin *o)
{
	static const char *const ends[] = { "made", "given", "gone", "unsure", "limit" };
	const struct lbx_origin_link *end = last(o);
	json_t *list = json_array(), *way = json_array(), *result;
	int64_t first[LBX_RANK_MAX], block;
	char where[512], text[TEXT];

	first_place(end, first);
	lbx_describe_pc(context->target, end->tensor.site, where, sizeof where);
	for (int i = 0; i < o->n_inputs; i++)
		json_array_append_new(list, json_link(&o->inputs[i]));
	for (size_t i = 0; i < o->n; i++)
		json_array_append_new(way, json_integer((json_int_t)o->path[i].id));
	result = json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "of", o->nan ? "NaN" : "Inf", "end", ends[o->end],
			   "op", o->has_step ? o->op : end->tensor.op, "at", lbx_json_list(end->at, end->tensor.rank),
			   "first", lbx_json_list(first, end->tensor.rank), "where",
			   end->tensor.site ? lbx_json_string(where) : json_null(), "tensor", json_link(end), "way",
			   way, "inputs", list);
	if (block_of(end, &block))
		json_object_set_new(result, "block", json_integer(block));
	if (o->finite_again) {
		json_object_set_new(result, "finite_again", json_true());
	} else if (o->has_step) {
		json_t *operands = json_array();
		for (int k = 0; k < o->n_operands; k++)
			json_array_append_new(operands, lbx_json_element(&o->operands[k], o->operand_dtypes[k]));
		json_object_set_new(result, "step", json_integer(o->step));
		json_object_set_new(result, "operands", operands);
	}
	if (*cause(o, text))
		json_object_set_new(result, "why", json_string(text));
	return result;
}

/* ---- a sentence of it ---- */

/* Whether it begins there, without doubt. */
static bool is_certain(const struct lbx_origin *o)
{
	if (!o->n || o->finite_again)
		return false;
	const struct lbx_tensor *t = &last(o)->tensor;
	return o->end == LBX_END_MADE || (o->end == LBX_END_GIVEN && !(t->of && t->of->forgets_graph));
}

/* Of the tensor that the sentence is about, neither name nor place. */
static void say_end(struct lbx_context *context, const struct lbx_origin *o, bool says_name, char *ret, size_t size)
{
	const struct lbx_tensor *t = &last(o)->tensor;
	char label[LABEL], where[512], text[TEXT];

	if (says_name)
		lbx_say(ret, size, "%s: ", (lbx_describe(t, label, sizeof label), label));
	if (o->end == LBX_END_MADE)
		lbx_say(ret, size, "%s made it of inputs without any", o->has_step ? o->op : t->op);
	else
		lbx_say(ret, size, t->op_class == LB_CLASS_LEAF ? "it was in its data" : "%s was told to make it",
			t->op);
	if (t->site && says_name) {
		lbx_describe_pc(context->target, t->site, where, sizeof where);
		lbx_say(ret, size, ", in %s", where);
	}
	if (o->end == LBX_END_MADE && o->has_step) {
		call(o, text, sizeof text);
		lbx_say(ret, size, "; %s is %s, in %s", is_first(last(o)) ? "the first" : "one of them", text,
			lbx_dtype_name(o->dtype));
	}
	lbx_say(ret, size, ".");
}

void lbx_tell_story(struct lbx_context *context, const struct lbx_origins *o, struct lbx_origin_story *ret)
{
	const struct lbx_origin *begin = o->has_nan ? &o->nan : &o->inf;
	char text[TEXT];

	*ret = (struct lbx_origin_story){ .site = 0 };
	ret->is_gone = begin->n && begin->end == LBX_END_GONE;
	if (!is_certain(begin))
		return;
	say_end(context, begin, begin->n > 1, ret->text, sizeof ret->text);
	snprintf(ret->advice, sizeof ret->advice, "%s", cause(begin, text));
	if (begin == &o->nan && o->has_inf && is_certain(&o->inf)) {
		begin = &o->inf;
		lbx_say(ret->text, sizeof ret->text, " Of an Inf before it: ");
		say_end(context, begin, last(begin)->id != last(&o->nan)->id, ret->text, sizeof ret->text);
		if (*cause(begin, text))
			snprintf(ret->advice, sizeof ret->advice, "%s", text);
	}
	ret->end = lbx_tensor_key(&last(begin)->tensor);
	ret->site = last(begin)->tensor.site;
}

static void print_origin(struct lbx_context *context, const struct lbx_origin *o, const char *lead)
{
	struct lbx_out *out = context->out;
	const struct lbx_origin_link *end = last(o);
	const struct lbx_tensor *t = &end->tensor;
	char label[LABEL], place[256], where[512], text[TEXT];
	int64_t block;

	lbx_describe(t, label, sizeof label);
	place_text(end, place, sizeof place);
	lbx_describe_pc(context->target, t->site, where, sizeof where);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_TITLE, "%s ", lead);
	switch (o->end) {
	case LBX_END_MADE: lbx_printf(out, "%s made it", t->op); break;
	case LBX_END_GIVEN:
		if (t->of && t->of->forgets_graph) {
			lbx_printf(out,
				   "an array has it that was given, or whose graph is gone, as it has been evaluated");
			break;
		}
		lbx_printf(out, t->op_class == LB_CLASS_LEAF ? "it was in the data" : "%s was told to make it", t->op);
		break;
	case LBX_END_GONE: lbx_printf(out, "%s made it, or got it from an unknown input", t->op); break;
	case LBX_END_UNSURE:
		lbx_printf(out, "%s made it, or got it from an input, which holds %s too", t->op,
			   o->nan ? "NaN" : "Inf");
		break;
	case LBX_END_LIMIT: lbx_printf(out, "the search ended at its limit (--limit), at %s", t->op); break;
	}
	if (t->site) {
		lbx_printf(out, ", in ");
		lbx_styled(out, LBX_FILE, "%s", where);
	}
	lbx_printf(out, "\n");
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "  %s, %s %s", label, is_first(end) ? "first at" : "at", place);
	if (block_of(end, &block))
		lbx_printf(out, ", in block %" PRId64 " of its row", block);
	lbx_printf(out, "\n");
	print_way(out, o);
	print_step(context, o);
	print_inputs(out, o);
	if (*cause(o, text))
		lbx_print_folded(out, "  why: ", text);
	if (o->end == LBX_END_GIVEN && t->of && t->of->forgets_graph)
		lbx_print_folded(out, "  next: ",
				 "`tensor catch eval` in gdb stops in front of an evaluation: there `tensor origin` "
				 "tells which operation makes the first");
	else if (o->end == LBX_END_GONE)
		lbx_print_folded(out, "  next: ",
				 "run again with `tensor catch nan` in gdb: it stops where the first is made, "
				 "while its inputs are there");
}

/* What was found; as text, only where there is NaN or Inf. */
static void tell_origins(struct lbx_context *context, const struct lbx_origins *o)
{
	struct lbx_out *out = context->out;

	LBX_KEY(out, "nan", o->has_nan ? json_origin(context, &o->nan) : json_null());
	LBX_KEY(out, "inf", o->has_inf ? json_origin(context, &o->inf) : json_null());
	if (o->has_nan)
		print_origin(context, &o->nan, "NaN:");
	if (o->has_inf)
		print_origin(context, &o->inf, o->has_nan ? "Inf before it:" : "Inf:");
}

static void tell(struct lbx_context *context, const struct lbx_origins *o)
{
	struct lbx_out *out = context->out;
	const struct lbx_summary *s = &o->start.summary;
	char label[LABEL], place[256];

	lbx_describe(&o->start.tensor, label, sizeof label);
	lbx_begin(out, NULL);
	LBX_KEY(out, "tensor", json_link(&o->start));
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_NAME, "%s", label);
	if (!o->has_nan && !o->has_inf) {
		lbx_printf(out, " holds no NaN and no Inf: ");
		print_holdings(out, s);
		lbx_printf(out, "\n");
	} else {
		place_text(&o->start, place, sizeof place);
		lbx_printf(out, " holds %lld NaN and %lld Inf among %lld value%s, the first %s at %s\n",
			   (long long)s->special[LBX_NAN], (long long)inf_count(s), (long long)s->count, LB_S(s->count),
			   o->has_nan ? "NaN" : "Inf", place);
	}
	tell_origins(context, o);
	LBX_KEY(out, "looked_at", json_integer((json_int_t)o->looked_at));
	lbx_end(out);
}

static bool run_origin(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_out *out = context->out;
	struct lbx_selection s;
	struct lbx_origins origins;
	int64_t limit = DEFAULT_LIMIT;

	if (!lbx_args_limit(args, &limit) || !lbx_select(context, args->v[0], &s))
		return false;
	if (s.slice.n)
		return lb_fail("origin looks at a whole tensor: leave %s out", s.slice_text);
	if (!lbx_find_origins(context, &s.tensor, limit, 0, &origins))
		return false;
	const struct lbx_origin *o = origins.has_nan ? &origins.nan : origins.has_inf ? &origins.inf : NULL;
	tell(context, &origins);
	lbx_set_int(out, "tensor_origin", o ? (int64_t)last(o)->id : 0);
	lbx_origins_deinit(&origins);
	return lb_ok();
}

const struct lbx_command lbx_command_origin = {
	.name = "origin",
	.arguments = "T",
	.summary = "tell which operation first made the NaN or Inf that a tensor holds",
	.help = "Follows them back through the tensors that it was computed from, ready ones as\n"
		"they are, lazy ones replayed outside the program; inside a fused one, operation by\n"
		"operation. Shows the operation, the first elements that it made so, the ranges of its\n"
		"inputs, the place that made it, and what to try. Where an Inf made the NaN, the Inf is\n"
		"followed too. The search ends at data that held them, and where inputs are gone.\n"
		LBX_T_HELP "\n"
		"Example: origin loss",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS,
	.options = {
		{ "limit", "N", "look at N tensors at most (default 10000); 0: all" },
	},
	.run = run_origin,
};
