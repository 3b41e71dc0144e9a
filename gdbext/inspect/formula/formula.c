#include "inspect/formula/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/formula/build.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/name.h"
#include "tensors/tensors.h"

enum { OPERANDS_MOST = 64, TEXT_MOST = 1024 };

struct operand {
	struct lbx_tensor tensor;
	void *own; /* elements that were computed for it; or NULL */
};

struct lbx_formula {
	struct lbx_tensors set;
	struct lbx_context *context;
	lbx_formula_find *find;
	struct lbx_formula *next;
	char text[TEXT_MOST];
	struct lbx_formula_tree tree;
	struct lbx_formula_names names;
	char *whys[LBX_FORMULA_NODES]; /* why a name stands for nothing */
	int goal;        /* the node that is computed */
	int n_operands;
	struct operand operands[OPERANDS_MOST];
	struct lbx_replayed value;
};

/* ---- as a set of tensors ---- */

static enum lbx_next next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	(void)tensors;
	(void)slot;
	(void)ret;
	(void)bad;
	return LBX_NEXT_END;
}

static bool by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	(void)tensors;
	(void)ret;
	return lb_fail("an expression has no tensor #%llu", (unsigned long long)id);
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	const struct lbx_formula *f = (const struct lbx_formula *)tensors;

	(void)t;
	if (i >= (uint32_t)f->n_operands)
		return false;
	*ret = f->operands[i].tensor;
	return true;
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	const struct lbx_formula *f = (const struct lbx_formula *)tensors;

	(void)t;
	return i < (uint32_t)f->n_operands ? f->operands[i].tensor.id : 0;
}

static bool recipe(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_recipe *r, int *ret)
{
	const struct lbx_formula *f = (const struct lbx_formula *)tensors;

	(void)t;
	return lbx_formula_build(&f->tree, &f->names, f->goal, r, ret);
}

static const struct lbx_tensors_ops ops = {
	.next = next,
	.by_id = by_id,
	.input = input,
	.input_id = input_id,
	.recipe = recipe,
};

/* ---- types ---- */

/* What the recipe will see of an operand. */
static bool add_type(const struct lbx_tensor *t, struct lbx_recipe *r)
{
	struct lbx_step s = {
		.op = LB_OP_DATA, .dtype = t->encoding ? LB_F32 : t->dtype, .rank = t->rank, .memory = t
	};
	struct lbx_strided dense;

	lbx_strided_dense(t->rank, lbx_shape(t), &dense);
	memcpy(s.shape, dense.shape, sizeof s.shape);
	memcpy(s.strides, dense.strides, sizeof s.strides);
	if (t->layout_known && !t->encoding) {
		s.offset = t->offset;
		memcpy(s.strides, lbx_strides(t), (size_t)t->rank * sizeof *s.strides);
	}
	return lbx_recipe_add_input(r, &s);
}

static bool add_types(const struct lbx_formula *f, struct lbx_recipe *r)
{
	for (int i = 0; i < f->n_operands; i++)
		if (!add_type(&f->operands[i].tensor, r))
			return false;
	return true;
}

/* The steps of the goal; r is to be freed either way. */
static bool infer(struct lbx_formula *f, int goal, struct lbx_recipe *r, int *ret)
{
	*r = (struct lbx_recipe){ 0 };
	f->goal = goal;
	return add_types(f, r) && lbx_formula_build(&f->tree, &f->names, goal, r, ret);
}

static void set_layout(struct lbx_tensor *t, const struct lbx_step *s)
{
	t->rank = s->rank;
	t->offset = s->offset;
	t->size = 1;
	memcpy(t->axes.few.shape, s->shape, sizeof s->shape);
	memcpy(t->axes.few.strides, s->strides, sizeof s->strides);
	for (int i = 0; i < s->rank; i++)
		t->size *= s->shape[i];
}

static void set_name(const struct lbx_formula *f, struct lbx_tensor *t)
{
	int n = (int)strlen(f->text), room = (int)sizeof t->name - 1;

	if (n > room) {
		n = room - 3;
		while (n > 0 && ((unsigned char)f->text[n] & 0xc0) == 0x80)
			n--;
	}
	snprintf(t->name, sizeof t->name, "%.*s%s", n, f->text, f->text[n] ? "…" : "");
}

/* ---- values ---- */

/* What the operand owns is its tensor's memory: row-major elements. */
static void set_own(struct operand *o, enum lb_dtype dtype, int rank, const int64_t *shape, size_t bytes)
{
	struct lbx_tensor *t = &o->tensor;
	struct lbx_strided dense;

	lbx_strided_dense(rank, shape, &dense);
	t->rank = rank;
	t->offset = 0;
	t->size = 1;
	memcpy(t->axes.few.shape, dense.shape, sizeof dense.shape);
	memcpy(t->axes.few.strides, dense.strides, sizeof dense.strides);
	for (int i = 0; i < rank; i++)
		t->size *= shape[i];
	t->encoding = NULL;
	t->dtype = dtype;
	t->local = o->own;
	t->data = (uint64_t)(uintptr_t)o->own;
	t->buffer_bytes = (int64_t)bytes;
}

/* All elements of a node's value, row-major, in *ret; t is a ready tensor of them. */
static bool compute(struct lbx_formula *f, int node, struct lbx_replayed *ret, struct lbx_tensor *t)
{
	struct lbx_recipe r;
	int result;
	bool ok = infer(f, node, &r, &result);

	*ret = (struct lbx_replayed){ .map = NULL };
	*t = (struct lbx_tensor){ .of = &f->set,
				  .state = LBX_LAZY,
				  .op = "expression",
				  .op_class = LB_CLASS_KERNEL,
				  .layout_known = true,
				  .n_inputs = (uint32_t)f->n_operands };
	set_name(f, t);
	if (ok) {
		t->dtype = lbx_step(&r, result)->dtype;
		set_layout(t, lbx_step(&r, result));
	}
	lbx_recipe_deinit(&r);
	if (!ok || !lbx_replay(f->context, t, NULL, ret))
		return false;
	const struct lbx_array *a = &ret->array;
	t->state = LBX_READY;
	t->n_inputs = 0;
	t->local = a->size ? a->local : "";
	t->data = a->low;
	t->buffer_bytes = (int64_t)(a->high - a->low);
	t->offset = a->offset;
	memcpy(t->axes.few.strides, a->strides, sizeof t->axes.few.strides);
	return true;
}

/* Where it is but another look at one operand's memory, that look: nothing is computed. *is_one: it is. */
static bool look(struct lbx_formula *f, int node, bool *is_one, struct lbx_tensor *ret)
{
	struct lbx_recipe r;
	int result;
	bool ok = infer(f, node, &r, &result);

	*is_one = false;
	if (ok) {
		int at = result;
		while (r.steps[at].op == LB_OP_AS_STRIDED)
			at = (int)r.inputs[r.steps[at].first_input];
		const struct lbx_tensor *t = at < f->n_operands ? r.steps[at].memory : NULL;
		*is_one = t && t->state == LBX_READY && !t->encoding;
		if (*is_one) {
			*ret = *t;
			set_layout(ret, &r.steps[result]);
			ret->id = ret->address = ret->n_inputs = 0;
			set_name(f, ret);
		}
	}
	lbx_recipe_deinit(&r);
	return ok;
}

/* ---- masks ---- */

static struct operand *add_operand(struct lbx_formula *f, int node)
{
	if (f->n_operands == OPERANDS_MOST) {
		lbx_formula_fail(&f->tree, f->tree.nodes[node].begin, "more than %d tensors", OPERANDS_MOST);
		return NULL;
	}
	f->names.operand[node] = f->n_operands;
	f->names.slices[node] = (struct lbx_slice){ .n = 0 };
	return &f->operands[f->n_operands++];
}

static bool is_inside(const struct lbx_tensor *mask, const struct lbx_tensor *x)
{
	return mask->rank <= x->rank &&
	       memcmp(lbx_shape(mask), lbx_shape(x), (size_t)mask->rank * sizeof(int64_t)) == 0;
}

/* Of x, whose first axes are the mask's, what lies where that is true. Both are dense. */
static bool choose(struct lbx_formula *f, int node, const struct lbx_tensor *x, const struct lbx_tensor *mask)
{
	const char *is = mask->local, *from = x->local;
	size_t bytes = (size_t)lbx_dtype_bytes(x->dtype), n = 0;
	struct operand *o;

	if (x->rank - mask->rank + 1 > LB_MAX_RANK)
		return lbx_formula_fail(&f->tree, f->tree.nodes[node].at,
					"a value that is computed has at most %d axes", LB_MAX_RANK);
	for (int i = mask->rank; i < x->rank; i++)
		bytes *= (size_t)lbx_shape(x)[i];
	for (int64_t i = 0; i < mask->size; i++)
		n += is[i] != 0;
	if (bytes && n > SIZE_MAX / 2 / bytes)
		return lb_fail("out of memory");
	if (!(o = add_operand(f, node)))
		return false;
	o->own = malloc(n * bytes + 1);
	if (!o->own)
		return lb_fail("out of memory for %zu bytes", n * bytes);
	char *to = o->own;
	for (int64_t i = 0; i < mask->size; i++, from += bytes) {
		if (is[i] && bytes) {
			memcpy(to, from, bytes);
			to += bytes;
		}
	}
	int64_t shape[LB_MAX_RANK] = { (int64_t)n };
	for (int i = mask->rank; i < x->rank; i++)
		shape[i - mask->rank + 1] = lbx_shape(x)[i];
	o->tensor = *x;
	o->tensor.id = (uint64_t)f->n_operands; /* apart from others of this set */
	set_own(o, x->dtype, x->rank - mask->rank + 1, shape, n * bytes);
	return true;
}

/* How many elements a mask leaves is known only when it is computed: x[mask] becomes an operand. */
static bool settle_mask(struct lbx_formula *f, int node, int item)
{
	int of = lbx_formula_child(&f->tree, node, 0), by = lbx_formula_child(&f->tree, node, item);
	struct lbx_replayed values = { .map = NULL }, mask = { .map = NULL };
	struct lbx_tensor x, is;
	char shapes[2][LBX_LIST_MAX];

	if (f->tree.nodes[node].n != 2)
		return lbx_formula_fail(&f->tree, f->tree.nodes[by].begin,
					"a mask stands alone in its brackets: x[x > 0]");
	bool ok = compute(f, of, &values, &x) && compute(f, by, &mask, &is);
	if (ok && !is_inside(&is, &x)) {
		lbx_format_list(lbx_shape(&is), is.rank, shapes[0], sizeof shapes[0]);
		lbx_format_list(lbx_shape(&x), x.rank, shapes[1], sizeof shapes[1]);
		ok = lbx_formula_fail(&f->tree, f->tree.nodes[by].begin, "a mask of %s for a tensor of %s", shapes[0],
				      shapes[1]);
	}
	ok = ok && choose(f, node, &x, &is);
	lbx_replay_release(&values);
	lbx_replay_release(&mask);
	return ok;
}

/* A tensor of one whole number, where a number is wanted, becomes that. */
static bool settle_number(struct lbx_formula *f, int node)
{
	struct lbx_recipe r = { 0 };
	struct lbx_replayed value = { .map = NULL };
	struct lbx_tensor t;
	bool is_number, is_one = false;
	uint64_t element = 0;
	int result;

	bool ok = add_types(f, &r) && lbx_formula_is_number(&f->tree, &f->names, node, &r, &is_number);
	lbx_recipe_deinit(&r);
	if (!ok || is_number)
		return ok;
	ok = infer(f, node, &r, &result);
	if (ok) {
		const struct lbx_step *s = lbx_step(&r, result);
		is_one = s->rank == 0 && s->dtype != LB_BOOL && !lb_dtype_is_inexact(s->dtype);
	}
	lbx_recipe_deinit(&r);
	if (!ok || !is_one)
		return ok;
	ok = compute(f, node, &value, &t) && lbx_array_get(&value.array, NULL, &element);
	if (ok) {
		double number = lbx_element_double(&element, value.array.dtype);
		f->names.operand[node] = -1;
		f->names.number[node] = number;
		f->names.is_whole[node] = fabs(number) <= LBX_FORMULA_WHOLE;
		f->names.is_number[node] = true;
	}
	lbx_replay_release(&value);
	return ok;
}

static bool settle_range(struct lbx_formula *f, int range)
{
	for (int i = 0; i < f->tree.nodes[range].n; i++)
		if (!settle_number(f, lbx_formula_child(&f->tree, range, i)))
			return false;
	return true;
}

static bool is_computed_item(const struct lbx_formula *f, int node)
{
	enum lbx_formula_kind kind = f->tree.nodes[node].kind;

	return kind != LBX_FORMULA_ITEM && kind != LBX_FORMULA_RANGE && !f->names.is_number[node];
}

/* What must be known before shapes are: the bounds of slices, and masks. The inner ones first. */
static bool settle(struct lbx_formula *f, int node)
{
	const struct lbx_formula_node *n = &f->tree.nodes[node];
	struct lbx_recipe r;
	int result;

	if (f->names.operand[node] >= 0 || f->names.is_number[node])
		return true;
	for (int i = 0; i < n->n; i++)
		if (!settle(f, lbx_formula_child(&f->tree, node, i)))
			return false;
	if (n->kind == LBX_FORMULA_RANGE)
		return settle_range(f, node);
	for (int i = 1; n->kind == LBX_FORMULA_INDEX && i < n->n; i++) {
		int by = lbx_formula_child(&f->tree, node, i);
		if (!is_computed_item(f, by))
			continue;
		bool ok = infer(f, by, &r, &result), is_mask = ok && lbx_step(&r, result)->dtype == LB_BOOL;
		lbx_recipe_deinit(&r);
		if (!ok || is_mask)
			return ok && settle_mask(f, node, i);
	}
	return true;
}

/* ---- names ---- */

static bool text_of(const struct lbx_formula *f, int node, char ret[TEXT_MOST])
{
	const struct lbx_formula_node *n = &f->tree.nodes[node];

	snprintf(ret, TEXT_MOST, "%.*s", n->end - n->begin, f->text + n->begin);
	return *ret;
}

static bool is_whole_type(const char *type)
{
	static const char *const words[] = { "int",    "long",    "short", "char", "unsigned",
					     "size_t", "ssize_t", "bool",  "_Bool" };

	if (strpbrk(type, "*[({<") || strstr(type, "float") || strstr(type, "double"))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(type, words[i]))
			return true;
	return false;
}

/* float and double: by their bits. */
static bool read_real(struct lbx_context *context, const char *type, const char *text, double *ret)
{
	bool is_double = strcmp(type, "double") == 0;
	char bits_of[TEXT_MOST + 64];
	struct lbx_value value;
	float narrow;
	uint32_t low;

	if (!is_double && strcmp(type, "float") != 0)
		return false;
	snprintf(bits_of, sizeof bits_of, "*(unsigned %s *)&(%s)", is_double ? "long" : "int", text);
	if (!lbx_target_evaluate(context->target, bits_of, &value))
		return false;
	low = (uint32_t)value.bits;
	memcpy(&narrow, &low, sizeof narrow);
	memcpy(ret, &value.bits, sizeof *ret);
	*ret = is_double ? *ret : (double)narrow;
	return true;
}

/* Of whole numbers those are taken that a double holds exactly. */
static bool take_number(struct lbx_formula *f, int node, const char *text, double number, bool is_whole)
{
	char why[TEXT_MOST + 64];

	f->names.number[node] = number;
	f->names.is_whole[node] = is_whole;
	f->names.is_number[node] = !is_whole || fabs(number) <= LBX_FORMULA_WHOLE;
	if (!f->names.is_number[node]) {
		snprintf(why, sizeof why, "%s is %.0f: a whole number is at most 2^53", text, number);
		free(f->whys[node]);
		f->whys[node] = strdup(why);
	}
	return f->names.is_number[node];
}

/* By the program's debug information. */
static bool look_up_number(struct lbx_formula *f, int node, const char *text)
{
	struct lbx_stacks *stacks = f->context->stacks;
	struct lbx_evaluated value;

	return stacks && stacks->ops->evaluate && stacks->ops->evaluate(stacks, text, &value) && value.is_number &&
	       take_number(f, node, text, value.number, value.is_whole);
}

/* A variable of the program that is a number; "'*p'" stands for *p. */
static bool find_number(struct lbx_formula *f, int node, const char *text)
{
	char plain[TEXT_MOST];
	struct lbx_value value;
	double real;

	const char *rest = lbx_unquote(text, plain, sizeof plain);
	if (rest && *rest)
		snprintf(plain, sizeof plain, "%s", text);
	if (!lbx_target_evaluate(f->context->target, plain, &value))
		return !lbx_target_waits(f->context->target) && look_up_number(f, node, plain);
	bool is_signed = !strstr(value.type, "unsigned") && !strstr(value.type, "size_t") && value.type[0] != 'u';
	if (is_whole_type(value.type))
		return take_number(f, node, plain, is_signed ? (double)(int64_t)value.bits : (double)value.bits, true);
	if (read_real(f->context, value.type, plain, &real))
		return take_number(f, node, plain, real, false);
	return look_up_number(f, node, plain); /* an enumerator */
}

static bool check_operand(struct lbx_formula *f, int node, const struct lbx_tensor *t)
{
	int at = f->tree.nodes[node].begin;

	if (t->is_shapeless)
		return lbx_formula_fail(&f->tree, at, "the shape of this is not known");
	return t->rank <= LB_MAX_RANK ||
	       lbx_formula_fail(&f->tree, at, "this has %d axes: a value that is computed has at most %d", t->rank,
				LB_MAX_RANK);
}

/* What a replay cannot decode, as quantised integers, is decoded here. */
static bool decode(struct lbx_formula *f, struct operand *o)
{
	struct lbx_tensor *t = &o->tensor;
	struct lbx_array a;
	int64_t shape[LB_MAX_RANK];

	if (t->state != LBX_READY || !t->encoding || (t->encoding->decode && t->encoding->elements > 1))
		return true;
	if (t->size > f->context->settings->replay_memory / (int64_t)sizeof(float))
		return lb_fail("%s has %lld elements: more than a replay may use memory for (`set replay-memory`)",
			       t->name, (long long)t->size);
	if (!lbx_array_of_tensor(f->context->target, t, &a))
		return false;
	o->own = malloc((size_t)t->size * sizeof(float) + 1);
	if (!o->own)
		return lb_fail("out of memory for %lld numbers", (long long)t->size);
	if (!lbx_array_gather(&a, f->context->out, "reading tensors", o->own))
		return false;
	memcpy(shape, lbx_shape(t), (size_t)t->rank * sizeof *shape);
	set_own(o, a.dtype, t->rank, shape, (size_t)t->size * sizeof(float));
	return true;
}

static bool take_operand(struct lbx_formula *f, int node, const struct lbx_tensor *t, const struct lbx_slice *slice)
{
	struct operand *o;

	if (!check_operand(f, node, t) || !(o = add_operand(f, node)))
		return false;
	o->tensor = *t;
	if (!t->of) { /* memory: apart from others */
		o->tensor.of = &f->set;
		o->tensor.id = (uint64_t)f->n_operands;
	}
	f->names.slices[node] = *slice;
	return decode(f, o);
}

/* False, without an error: the text names no tensor, and no number, if it may; why not is kept. */
static bool find_operand(struct lbx_formula *f, int node, bool may_be_number)
{
	char text[TEXT_MOST];
	struct lbx_tensor t;
	struct lbx_slice slice;

	text_of(f, node, text);
	if (!f->find(f->context, text, &t, &slice)) {
		if (lb_error_cause() == LB_INTERRUPTED)
			return false;
		free(f->whys[node]);
		f->whys[node] = strdup(lb_error_message());
		bool is_known = lb_error_cause() == LB_MISUSED; /* not to be the program's */
		lb_clear_error();
		bool found = !is_known && may_be_number && find_number(f, node, text);
		lb_clear_error();
		return found;
	}
	return take_operand(f, node, &t, &slice);
}

static bool is_one_of(const struct lbx_formula *f, int node, const char *const *words)
{
	while (*words && !lbx_formula_is_word(&f->tree, node, *words))
		words++;
	return *words;
}

/* Words that mean something else than what the program may call so. */
static bool is_reserved(const struct lbx_formula *f, int node)
{
	static const char *const words[] = { "True", "False", "None", "inf", "nan", NULL };
	char text[TEXT_MOST];
	enum lb_dtype dtype;

	text_of(f, node, text);
	return is_one_of(f, node, words) || lbx_dtype_parse(text, &dtype);
}

static bool is_module(const struct lbx_formula *f, int node)
{
	static const char *const words[] = { "np", "numpy", "mx", "torch", "jnp", NULL };

	return is_one_of(f, node, words);
}

/* A tensor that is named nan, or i8, is what is meant. */
static bool find_named(struct lbx_formula *f, int node)
{
	char text[TEXT_MOST];
	struct lbx_tensor t;
	struct lbx_slice slice;

	text_of(f, node, text);
	if (f->find(f->context, text, &t, &slice))
		return strcmp(t.name, text) != 0 || take_operand(f, node, &t, &slice);
	if (lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return lb_ok();
}

/* Of a function of the program, which a debugger may call: `net.layer(0)`. */
static bool is_foreign_call(const struct lbx_formula_tree *tree, int node)
{
	if (tree->nodes[node].kind != LBX_FORMULA_CALL)
		return false;
	int callee = lbx_formula_child(tree, node, 0);
	enum lbx_formula_kind kind = tree->nodes[callee].kind;
	return (kind == LBX_FORMULA_NAME || kind == LBX_FORMULA_MEMBER) && !lbx_formula_is_function(tree, callee);
}

/* Whether there is one on the way: `net.layer(0)->weight[1]`. */
static bool has_foreign_call(const struct lbx_formula_tree *tree, int node)
{
	for (;;) {
		enum lbx_formula_kind kind = tree->nodes[node].kind;
		if (is_foreign_call(tree, node))
			return true;
		if (kind != LBX_FORMULA_CALL && kind != LBX_FORMULA_MEMBER && kind != LBX_FORMULA_INDEX)
			return false;
		node = lbx_formula_child(tree, node, 0);
	}
}

/* The item of x[…] in such quotes; or -1. In double ones it can only be the key of a map. */
static int key_of(const struct lbx_formula_tree *t, int node, char quote)
{
	for (int i = 1; t->nodes[node].kind == LBX_FORMULA_INDEX && i < t->nodes[node].n; i++) {
		int item = lbx_formula_child(t, node, i);
		if (t->nodes[item].kind == LBX_FORMULA_NAME && t->text[t->nodes[item].begin] == quote)
			return item;
	}
	return -1;
}

/* Likewise of what members are looked for in: m["a"] of m["a"].b */
static int key_below(const struct lbx_formula_tree *t, int node, char quote)
{
	while (t->nodes[node].kind == LBX_FORMULA_MEMBER && !lbx_formula_is_attribute(t, node))
		node = lbx_formula_child(t, node, 0);
	return key_of(t, node, quote);
}

/* Finds what each name stands for: of `a.b[0].mean`, the longest part that is a tensor. */
static bool resolve(struct lbx_formula *f, int node)
{
	const struct lbx_formula_tree *t = &f->tree;
	const struct lbx_formula_node *n = &t->nodes[node];
	bool is_attribute = n->kind == LBX_FORMULA_MEMBER && lbx_formula_is_attribute(t, node);
	char text[TEXT_MOST];
	int first = 0;

	if (n->kind == LBX_FORMULA_NAME && is_module(f, node))
		return true;
	if (n->kind == LBX_FORMULA_NAME && is_reserved(f, node))
		return find_named(f, node);
	if ((lbx_formula_is_lookup(t, node) || has_foreign_call(t, node)) && find_operand(f, node, !is_attribute))
		return true;
	if (!lb_ok())
		return false;
	int key = key_below(t, node, '"');
	if (key >= 0 && f->whys[node] && !lbx_target_waits(f->context->target))
		return lbx_formula_fail(t, t->nodes[key].begin, "%s", f->whys[node]);
	if (n->kind == LBX_FORMULA_CALL) {
		int callee = lbx_formula_child(t, node, 0);
		first = 1; /* what is called is no tensor, but its receiver may be */
		if (t->nodes[callee].kind == LBX_FORMULA_MEMBER && !resolve(f, lbx_formula_child(t, callee, 0)))
			return false;
	}
	for (int i = first; i < n->n; i++)
		if (!resolve(f, lbx_formula_child(t, node, i)))
			return false;
	/* x['mask'] may be a tensor of that name, but not where neither is one */
	key = key_of(t, node, '\'');
	if (key >= 0 && f->whys[node] && f->names.operand[lbx_formula_child(t, node, 0)] < 0 &&
	    f->names.operand[key] < 0 && !lbx_target_waits(f->context->target))
		return lbx_formula_fail(t, t->nodes[key].begin, "%s", f->whys[node]);
	/* of a tensor x.size is not what a record has under that name */
	if (is_attribute && f->whys[lbx_formula_child(t, node, 0)] && text_of(f, node, text)) {
		find_number(f, node, text);
		lb_clear_error();
	}
	return true;
}

/* ---- the whole ---- */

static struct lbx_formula *create(struct lbx_context *context, const char *text)
{
	struct lbx_formula *f = calloc(1, sizeof *f);

	if (!f || strlen(text) >= sizeof f->text) {
		lb_fail(f ? "the expression is too long" : "out of memory");
		free(f);
		return NULL;
	}
	while (isspace((unsigned char)*text))
		text++;
	snprintf(f->text, sizeof f->text, "%s", text);
	for (size_t n = strlen(f->text); n > 0 && isspace((unsigned char)f->text[n - 1]); n--)
		f->text[n - 1] = '\0';
	f->context = context;
	f->set = (struct lbx_tensors){ .ops = &ops, .target = context->target, .provider = "expression" };
	for (int i = 0; i < LBX_FORMULA_NODES; i++)
		f->names.operand[i] = -1;
	f->names.whys = f->whys;
	f->next = context->formulas;
	context->formulas = f;
	return f;
}

void lbx_formulas_destroy(struct lbx_formula *f)
{
	while (f) {
		struct lbx_formula *gone = f;
		f = f->next;
		lbx_replay_release(&gone->value);
		for (int i = 0; i < gone->n_operands; i++)
			free(gone->operands[i].own);
		for (int i = 0; i < LBX_FORMULA_NODES; i++)
			free(gone->whys[i]);
		free(gone);
	}
}

/* x.T may be a member that is called so. */
static bool has_attribute(const struct lbx_formula_tree *tree, int node)
{
	while (tree->nodes[node].kind == LBX_FORMULA_MEMBER || tree->nodes[node].kind == LBX_FORMULA_INDEX) {
		if (tree->nodes[node].kind == LBX_FORMULA_MEMBER && lbx_formula_is_attribute(tree, node))
			return true;
		node = lbx_formula_child(tree, node, 0);
	}
	return false;
}

enum lbx_formula_sort lbx_formula_sort(const char *text)
{
	lb_auto_free struct lbx_formula_tree *tree = malloc(sizeof *tree);

	if (!tree)
		return LBX_FORMULA_IS_NONE;
	text += strspn(text, " \t");
	if (!lbx_formula_parse(text, tree)) /* what no expression begins with is none */
		return strchr("*/%@&|^<>=!,:)]}?", *text) ? LBX_FORMULA_IS_NONE : LBX_FORMULA_IS_BROKEN;
	if (tree->nodes[tree->root].kind == LBX_FORMULA_NUMBER)
		return LBX_FORMULA_IS_NONE;
	if (lbx_formula_is_path(tree, tree->root))
		return has_attribute(tree, tree->root) ? LBX_FORMULA_IS_LOOKUP : LBX_FORMULA_IS_NONE;
	return lbx_formula_is_lookup(tree, tree->root) || has_foreign_call(tree, tree->root) ? LBX_FORMULA_IS_LOOKUP
											     : LBX_FORMULA_IS_ONE;
}

/* Numbers alone: a name that is nothing has its own error. */
static bool is_of_numbers(const struct lbx_formula *f)
{
	for (int i = 0; i < f->tree.n; i++)
		if (f->whys[i] && !f->names.is_number[i])
			return false;
	return f->n_operands == 0;
}

static bool fail_waiting(const struct lbx_formula *f)
{
	return lb_fail("'%s' is not known yet: the debugger has not answered yet", f->text);
}

bool lbx_formula_compute(struct lbx_context *context, const char *text, lbx_formula_find *find, struct lbx_tensor *ret)
{
	struct lbx_formula *f = create(context, text);
	bool is_look;

	if (!f)
		return false;
	f->find = find;
	if (!lbx_formula_parse(f->text, &f->tree) || !resolve(f, f->tree.root))
		return false;
	if (context->target && lbx_target_waits(context->target))
		return fail_waiting(f);
	if (is_of_numbers(f))
		return lb_fail("'%s' names no tensor", f->text);
	if (!settle(f, f->tree.root) || !look(f, f->tree.root, &is_look, ret))
		return false;
	return is_look || compute(f, f->tree.root, &f->value, ret);
}

/* The nodes in the brackets of what lbx_formula_parse_slice() has made; -1: too many. */
static int items_of(const struct lbx_formula_tree *t, int ret[LBX_SLICE_ITEMS])
{
	int n = 0;

	for (int at = t->root; t->nodes[at].kind == LBX_FORMULA_INDEX; at = lbx_formula_child(t, at, 0)) {
		for (int i = 1; i < t->nodes[at].n; i++) {
			if (n == LBX_SLICE_ITEMS) {
				lbx_formula_fail(t, t->nodes[at].at, "more than %d indices", LBX_SLICE_ITEMS);
				return -1;
			}
			ret[n++] = lbx_formula_child(t, at, i);
		}
	}
	return n;
}

bool lbx_formula_slice(struct lbx_context *context, const char *text, int at, const struct lbx_tensor *of,
		       lbx_formula_find *find, struct lbx_slice *ret)
{
	struct lbx_formula *f = create(context, text);
	struct lbx_recipe r = { 0 };
	int items[LBX_SLICE_ITEMS];

	if (!f)
		return false;
	f->find = find;
	if (!lbx_formula_parse_slice(f->text, at, &f->tree))
		return false;
	int n = items_of(&f->tree, items);
	for (int i = 0; i < n; i++)
		if (!resolve(f, items[i]))
			return false;
	if (n < 0 || (context->target && lbx_target_waits(context->target)))
		return n >= 0 && fail_waiting(f);
	for (int i = 0; i < n; i++)
		if (!settle(f, items[i]) || (is_computed_item(f, items[i]) && !settle_number(f, items[i])))
			return false;
	bool ok = add_types(f, &r) && lbx_formula_build_slice(&f->tree, &f->names, &r, of->rank, lbx_shape(of), ret);
	lbx_recipe_deinit(&r);
	return ok;
}
