/* Each part of the condition becomes a text that is false only where the part is: what gdb cannot judge is "true" in it, and so
 * is a comparison of several elements, of a dtype that gdb does not know, of a tensor without memory of its own. Numbers are
 * written in hexadecimal, since gdb reads a condition anew in the user's `input-radix`; those with a point as a whole
 * one over a power of two. */
#include "plugin/stops/catch_sieve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/formula/syntax.h"

enum { MOST_AXES = LB_MAX_RANK, MOST_SHIFT = 60 };

struct sieve {
	const struct lbx_formula_tree *tree;
	struct lbx_table *table;
	struct lbx_tensor_offsets at;
	bool has_value; /* the tensor has been computed */
};

static const char record[] = "$_probe_arg1";

/* ---- numbers ---- */

/* A number of the expression, with its sign. */
static bool take_number(const struct lbx_formula_tree *tree, int node, double *ret)
{
	const struct lbx_formula_node *n = &tree->nodes[node];

	if (n->kind == LBX_FORMULA_SIGN && (n->op == LBX_MINUS || n->op == LBX_PLUS) &&
	    take_number(tree, lbx_formula_child(tree, node, 0), ret)) {
		*ret = n->op == LBX_MINUS ? -*ret : *ret;
		return true;
	}
	*ret = n->number;
	return n->kind == LBX_FORMULA_NUMBER && isfinite(*ret);
}

static bool is_whole(double number)
{
	return number == floor(number) && fabs(number) < LBX_FORMULA_WHOLE;
}

static void put_whole(struct text *ret, double number)
{
	text_printf(ret, "%s(long)0x%" PRIx64, number < 0 ? "-" : "", (uint64_t)fabs(number));
}

/* Exactly; false where that takes too large a power of two. */
static bool put_real(struct text *ret, double number)
{
	double whole = fabs(number);
	int shift = 0;

	for (; whole != floor(whole) && shift < MOST_SHIFT; shift++)
		whole *= 2;
	if (!is_whole(whole))
		return false;
	text_printf(ret, "%s(double)0x%" PRIx64 " / (double)0x%" PRIx64, number < 0 ? "-" : "", (uint64_t)whole,
		    UINT64_C(1) << shift);
	return true;
}

/* ---- comparisons ---- */

static const char *sign_of(enum lbx_formula_operator op, bool turned)
{
	switch (op) {
	case LBX_IS_EQUAL: return "==";
	case LBX_IS_NOT_EQUAL: return "!=";
	case LBX_IS_LESS: return turned ? ">" : "<";
	case LBX_IS_LESS_OR_EQUAL: return turned ? ">=" : "<=";
	case LBX_IS_GREATER: return turned ? "<" : ">";
	case LBX_IS_GREATER_OR_EQUAL: return turned ? "<=" : ">=";
	default: return NULL;
	}
}

static bool is_it(const struct sieve *s, int node)
{
	return s->tree->nodes[node].kind == LBX_FORMULA_NAME && lbx_formula_is_word(s->tree, node, "it");
}

/* it.WORD */
static bool is_member(const struct sieve *s, int node, const char *word)
{
	return s->tree->nodes[node].kind == LBX_FORMULA_MEMBER && lbx_formula_is_word(s->tree, node, word) &&
	       is_it(s, lbx_formula_child(s->tree, node, 0));
}

/* it.shape[I]: an axis from the front, from 0 on, or from the end, from -1 on. */
static bool is_axis(const struct sieve *s, int node, int *ret)
{
	const struct lbx_formula_tree *t = s->tree;
	double number;

	if (t->nodes[node].kind != LBX_FORMULA_INDEX || t->nodes[node].n != 2 ||
	    !is_member(s, lbx_formula_child(t, node, 0), "shape"))
		return false;
	int at = lbx_formula_child(t, node, 1);
	if (t->nodes[at].kind == LBX_FORMULA_ITEM) {
		const struct lbx_slice_item *item = &t->nodes[at].item;
		if (item->kind != LBX_AT)
			return false;
		number = (double)item->start;
	} else if (!take_number(t, at, &number)) {
		return false;
	}
	*ret = (int)number;
	return is_whole(number) && number < MOST_AXES && number >= -MOST_AXES;
}

/* `it SIGN number` for an element at that address, also with the number as the runtime may have rounded it. */
static bool put_comparison(const char *type, bool is_real, const char *address, const char *sign, double number,
			   struct text *ret)
{
	double rounded = strcmp(type, "float") == 0 ? (double)(float)number : number;

	if (!isfinite(rounded) || (!is_real && (!is_whole(number) || fabs(number) > INT32_MAX)))
		return false;
	text_printf(ret, "({%s}(%s) %s ", type, address, sign);
	if (!is_real)
		put_whole(ret, number);
	else if (!put_real(ret, number))
		return false;
	if (rounded != number) {
		text_printf(ret, " || {%s}(%s) %s ", type, address, sign);
		if (!put_real(ret, rounded))
			return false;
	}
	text_printf(ret, ")");
	return !ret->failed;
}

/* True, too, where there are other than one element, or gdb cannot know them. */
static bool put_element(const struct sieve *s, const char *sign, double number, struct text *ret)
{
	static const struct {
		enum lb_dtype dtype;
		const char *type;
		int bytes;
		bool is_real;
	} types[] = {
		{ LB_F32, "float", 4, true },
		{ LB_F64, "double", 8, true },
		{ LB_I32, "int", 4, false },
		{ LB_I64, "long", 8, false },
	};
	const struct lbx_tensor_offsets *at = &s->at;
	bool any = false;

	text_printf(ret, "({long}(%s + 0x%" PRIx64 ") != 1 || {unsigned long}(%s + 0x%" PRIx64 ") == 0 || (", record,
		    at->size, record, at->buffer);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		int dtype = lbx_table_dtype_number(s->table, types[i].dtype);
		char address[160];
		struct text comparison = { 0 };
		snprintf(address, sizeof address,
			 "{unsigned long}({unsigned long}(%s + 0x%" PRIx64 ") + 0x%" PRIx64 ") + {long}(%s + 0x%" PRIx64
			 ") * (long)0x%x",
			 record, at->buffer, at->data, record, at->offset, (unsigned)types[i].bytes);
		if (dtype >= 0 && put_comparison(types[i].type, types[i].is_real, address, sign, number, &comparison)) {
			text_printf(ret, "{unsigned char}(%s + 0x%" PRIx64 ") == 0x%x ? %.*s : ", record, at->dtype,
				    (unsigned)dtype, (int)comparison.n, comparison.bytes);
			any = true;
		}
		text_free(&comparison);
	}
	text_printf(ret, "1))");
	return any;
}

/* Of shape, ndim and size; where it has no such axis, it is for others to say. */
static bool put_metadata(const struct sieve *s, int node, const char *sign, double number, struct text *ret)
{
	const struct lbx_tensor_offsets *at = &s->at;
	char rank[64];
	int axis;

	if (!is_whole(number))
		return false;
	snprintf(rank, sizeof rank, "{unsigned char}(%s + 0x%" PRIx64 ")", record, at->rank);
	if (is_member(s, node, "ndim"))
		text_printf(ret, "((long)%s %s ", rank, sign);
	else if (is_member(s, node, "size"))
		text_printf(ret, "({long}(%s + 0x%" PRIx64 ") %s ", record, at->size, sign);
	else if (is_axis(s, node, &axis) && axis >= 0)
		text_printf(ret, "(%s <= 0x%x || {long}(%s + 0x%" PRIx64 ") %s ", rank, (unsigned)axis, record,
			    at->shape + 8 * (uint64_t)axis, sign);
	else if (is_axis(s, node, &axis))
		text_printf(ret, "(%s < 0x%x || {long}(%s + 0x%" PRIx64 " + ((long)%s - (long)0x%x) * 8) %s ", rank,
			    (unsigned)-axis, record, at->shape, rank, (unsigned)-axis, sign);
	else
		return false;
	put_whole(ret, number);
	text_printf(ret, ")");
	return true;
}

/* ---- the expression ---- */

static bool put(const struct sieve *s, int node, struct text *ret);

static bool put_compared(const struct sieve *s, int node, struct text *ret)
{
	const struct lbx_formula_tree *t = s->tree;
	int left = lbx_formula_child(t, node, 0), right = lbx_formula_child(t, node, 1);
	double number;
	bool turned = take_number(t, left, &number);
	const char *sign = sign_of(t->nodes[node].op, turned);
	int of = turned ? right : left;

	if (!sign || (!turned && !take_number(t, right, &number)))
		return false;
	return is_it(s, of) ? s->has_value && put_element(s, sign, number, ret)
			    : put_metadata(s, of, sign, number, ret);
}

/* Of two that both must hold, one is enough to find out that they do not; of two of which one must, both are needed. */
static bool put_joined(const struct sieve *s, int node, bool both, struct text *ret)
{
	struct text parts[2] = { { 0 }, { 0 } };
	bool has[2];

	for (int i = 0; i < 2; i++)
		has[i] = put(s, lbx_formula_child(s->tree, node, i), &parts[i]) && !parts[i].failed;
	bool is = both ? has[0] || has[1] : has[0] && has[1];
	if (is)
		text_printf(ret, "(%.*s%s%.*s)", has[0] ? (int)parts[0].n : 0, has[0] ? parts[0].bytes : "",
			    !has[0] || !has[1] ? ""
			    : both             ? " && "
					       : " || ",
			    has[1] ? (int)parts[1].n : 0, has[1] ? parts[1].bytes : "");
	text_free(&parts[0]);
	text_free(&parts[1]);
	return is;
}

/* False where gdb cannot judge: what was written by then is to be dropped. */
static bool put(const struct sieve *s, int node, struct text *ret)
{
	const struct lbx_formula_node *n = &s->tree->nodes[node];

	if (n->kind != LBX_FORMULA_BINARY || n->n != 2)
		return false;
	if (n->op == LBX_AND || n->op == LBX_OR)
		return put_joined(s, node, n->op == LBX_AND, ret);
	return put_compared(s, node, ret);
}

/* ---- a range ---- */

struct bounds {
	double low, high;
};

/* it.max(), max(it): what it is of; -1: it is something else. */
static int called_of(const struct lbx_formula_tree *t, int node, const char *const *words)
{
	const struct lbx_formula_node *n = &t->nodes[node];

	if (n->kind != LBX_FORMULA_CALL)
		return -1;
	int called = lbx_formula_child(t, node, 0);
	bool is_method = t->nodes[called].kind == LBX_FORMULA_MEMBER;
	if (n->n != (is_method ? 1 : 2) || (!is_method && t->nodes[called].kind != LBX_FORMULA_NAME))
		return -1;
	for (; *words; words++)
		if (lbx_formula_is_word(t, called, *words))
			return is_method ? lbx_formula_child(t, called, 0) : lbx_formula_child(t, node, 1);
	return -1;
}

/* `it`, or the greatest or least of it; *ret_abs: of its absolute values. */
static bool is_of_it(const struct sieve *s, int node, bool *ret_abs)
{
	static const char *const extremes[] = { "max", "min", NULL }, *const abs[] = { "abs", "absolute", NULL };
	int of = called_of(s->tree, node, extremes);

	node = of >= 0 ? of : node;
	of = called_of(s->tree, node, abs);
	*ret_abs = of >= 0;
	return is_it(s, of >= 0 ? of : node);
}

/* Values beyond the number, as every dtype has it: the narrowest keeps 8 bits of it. `at`: the number itself, too. */
static double bound_above(double number, bool at)
{
	int exponent;
	double bits = ldexp(frexp(number, &exponent), 8);

	if (bits != floor(bits))
		return number - ldexp(fabs(number), -7);
	return at ? nextafter(number, -INFINITY) : number;
}

static bool find_bounds(const struct sieve *s, int node, struct bounds *ret)
{
	static const char *const whether[] = { "any", "all", NULL };
	const struct lbx_formula_tree *t = s->tree;
	const struct lbx_formula_node *n = &t->nodes[node];
	struct bounds other;
	double number;
	bool is_abs;

	*ret = (struct bounds){ -INFINITY, INFINITY };
	if (called_of(t, node, whether) >= 0)
		return find_bounds(s, called_of(t, node, whether), ret);
	if (n->kind != LBX_FORMULA_BINARY || n->n != 2)
		return false;
	int left = lbx_formula_child(t, node, 0), right = lbx_formula_child(t, node, 1);
	if (n->op == LBX_AND)
		return find_bounds(s, left, ret) || find_bounds(s, right, ret);
	if (n->op == LBX_OR) {
		if (!find_bounds(s, left, ret) || !find_bounds(s, right, &other))
			return false;
		ret->low = fmax(ret->low, other.low);
		ret->high = fmin(ret->high, other.high);
		return true;
	}
	bool turned = take_number(t, left, &number);
	const char *sign = sign_of(n->op, turned);
	if (!sign || (!turned && !take_number(t, right, &number)) || !is_of_it(s, turned ? right : left, &is_abs))
		return false;
	if (sign[0] == '>')
		ret->high = bound_above(number, sign[1]);
	else if (sign[0] == '<' && !is_abs)
		ret->low = -bound_above(-number, sign[1]);
	else
		return false;
	if (is_abs)
		ret->low = -ret->high;
	return true;
}

bool lbx_catch_bounds(const char *condition, double *ret_low, double *ret_high)
{
	lb_auto_free struct lbx_formula_tree *tree = malloc(sizeof *tree);
	struct sieve s = { .tree = tree };
	struct bounds bounds;

	if (!tree || !lbx_formula_parse(condition, tree)) {
		lb_clear_error();
		return false;
	}
	bool is = find_bounds(&s, tree->root, &bounds);
	*ret_low = bounds.low;
	*ret_high = bounds.high;
	return is;
}

/* ---- the whole ---- */

static bool has_all(const struct lbx_tensor_offsets *at)
{
	return at->dtype && at->rank && at->size && at->offset && at->buffer && at->shape && at->data;
}

void lbx_catch_sieve(const struct lbx_catch *c, struct lbx_table *table, struct text *ret)
{
	lb_auto_free struct lbx_formula_tree *tree = malloc(sizeof *tree);
	struct sieve s = { .tree = tree,
			   .table = table,
			   .at = lbx_table_offsets(table),
			   .has_value = c->kind->node == LBX_AFTER_NODE };
	struct text text = { 0 };

	if (!tree || !lbx_formula_parse(c->condition, tree))
		lb_clear_error();
	else if (has_all(&s.at) && put(&s, tree->root, &text) && !text.failed)
		text_printf(ret, "%s%.*s", ret->n ? " && " : "", (int)text.n, text.bytes);
	text_free(&text);
}
