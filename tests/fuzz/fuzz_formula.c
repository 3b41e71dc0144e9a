/* Fuzzes expressions over tensors: their syntax, what a recipe is made of them, and the slices that they end with. The first byte of an input says which
 * shapes the tensors have; of the others each is a character, or from 0x80 on a word. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/formula/build.h"
#include "stand_alone.h"

enum { HEAD = 1, MOST = 60, WORDS = 0x80, OPERANDS = 5 };

static const char *const words[] = {
	"x",
	"y",
	"m",
	"i",
	"s",
	" + ",
	" - ",
	"*",
	"/",
	" // ",
	"%",
	"**",
	"@",
	"&",
	"|",
	"^",
	"~",
	"<<",
	" == ",
	"<",
	">=",
	"(",
	")",
	"[",
	"]",
	", ",
	":",
	"...",
	"None",
	"0",
	"1",
	"-1",
	"2.5",
	"1e300",
	"x[",
	".T",
	".mT",
	".shape",
	".size",
	".sum()",
	".max(",
	"axis=",
	"keepdims=True",
	".mean(0)",
	".reshape(",
	"-1)",
	".transpose(",
	"abs(",
	"where(",
	"clip(",
	"softmax(",
	"sort(",
	".argmax(",
	"norm(",
	"cumsum(",
	"flip(",
	".astype(",
	"float16)",
	"int32)",
	".squeeze()",
	"expand_dims(",
	"allclose(",
	".std(",
	"np.exp(",
	"isfinite(",
	".var(",
	"inf",
	"nan",
	"True",
	"\"",
	"'",
	"#1",
	".foo",
	"->b",
	"::",
	"\xff",
	"12345678901234567890",
	"0x7f",
	".item()",
	"matmul(",
	"n",
	"n:",
	":n",
	"*n]",
};
enum { N_WORDS = sizeof words / sizeof *words };

/* Of dtypes and shapes of all kinds; some have no elements. */
static void make_operand(unsigned which, unsigned shapes, struct lbx_step *ret)
{
	static const enum lb_dtype dtypes[OPERANDS] = { LB_F32, LB_F16, LB_BOOL, LB_I32, LB_U8 };
	static const int64_t sizes[] = { 3, 4, 1, 0, 5, 3, 2, 1 };
	int64_t stride = 1;

	*ret = (struct lbx_step){ .op = LB_OP_DATA, .dtype = dtypes[which] };
	ret->rank = (int)((shapes >> which) % 5);
	for (int k = 0; k < ret->rank; k++)
		ret->shape[k] = sizes[(shapes + 3 * which + (unsigned)k) % (sizeof sizes / sizeof *sizes)];
	for (int k = ret->rank; k-- > 0; stride *= ret->shape[k] > 1 ? ret->shape[k] : 1)
		ret->strides[k] = stride;
}

static void add_operands(struct lbx_recipe *r, unsigned shapes)
{
	struct lbx_step operand;

	for (unsigned k = 0; k < OPERANDS; k++) {
		make_operand(k, shapes, &operand);
		if (!lbx_recipe_add_input(r, &operand))
			break;
	}
}

/* n, and *n, are numbers of the program. */
static void find_names(const struct lbx_formula_tree *tree, unsigned shapes, struct lbx_formula_names *ret)
{
	static const char *const operands[OPERANDS] = { "x", "y", "m", "i", "s" };

	memset(ret, 0, sizeof *ret);
	for (int k = 0; k < tree->n; k++) {
		ret->operand[k] = -1;
		if (tree->nodes[k].kind != LBX_FORMULA_NAME)
			continue;
		for (int o = 0; o < OPERANDS; o++)
			if (lbx_formula_is_word(tree, k, operands[o]))
				ret->operand[k] = o;
		ret->is_number[k] = lbx_formula_is_word(tree, k, "n") || lbx_formula_is_word(tree, k, "*n");
		ret->is_whole[k] = ret->is_number[k] && shapes % 16;
		ret->number[k] = ret->is_whole[k] ? (double)(shapes % 7) - 3 : 0.5;
	}
}

/* The brackets that it ends with, of an operand. */
static void slice(const char *text, unsigned shapes)
{
	static struct lbx_formula_tree tree;
	static struct lbx_formula_names names;
	struct lbx_recipe r = { 0 };
	struct lbx_step operand;
	struct lbx_slice of;
	const char *at = strchr(text, '[');

	if (!at)
		return;
	lb_clear_error();
	make_operand(shapes % OPERANDS, shapes, &operand);
	if (lbx_formula_parse_slice(text, (int)(at - text), &tree)) {
		find_names(&tree, shapes, &names);
		add_operands(&r, shapes);
		if (!lbx_formula_build_slice(&tree, &names, &r, operand.rank, operand.shape, &of)
			? lb_ok()
			: of.n < 0 || of.n > LBX_SLICE_ITEMS || !lbx_slice_check(&of, operand.rank, operand.shape))
			__builtin_trap();
	} else if (lb_ok()) {
		__builtin_trap();
	}
	lbx_recipe_deinit(&r);
}

static void build(const struct lbx_formula_tree *tree, unsigned shapes)
{
	static struct lbx_formula_names names;
	struct lbx_recipe r = { 0 };
	int result;

	add_operands(&r, shapes);
	find_names(tree, shapes, &names);
	if (lbx_formula_build(tree, &names, tree->root, &r, &result)) {
		/* what a replay would be given */
		const struct lbx_step *s = lbx_step(&r, result);
		if (result < 0 || (uint32_t)result >= r.n || s->rank < 0 || s->rank > LB_MAX_RANK)
			__builtin_trap();
		for (int k = 0; k < s->rank; k++)
			if (s->shape[k] < 0)
				__builtin_trap();
	} else if (lb_ok()) {
		__builtin_trap(); /* it says why not */
	}
	lbx_recipe_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lbx_formula_tree tree;
	char text[1024] = "";

	if (size < HEAD)
		return 0;
	for (size_t i = HEAD; i < size && strlen(text) + 40 < sizeof text; i++) {
		if (data[i] >= WORDS)
			strcat(text, words[(data[i] - WORDS) % N_WORDS]);
		else if (data[i])
			strncat(text, (const char *)&data[i], 1);
	}
	lb_clear_error();
	if (lbx_formula_parse(text, &tree))
		build(&tree, data[0]);
	else if (lb_ok())
		__builtin_trap();
	slice(text, data[0]);
	lb_clear_error();
	return 0;
}

#ifndef LBX_LIBFUZZER
/* Operands and what goes between and behind them, in turn: other lines have no meaning. */
static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
{
	size_t n = 1 + fuzz_random(random) % (fuzz_random(random) % 4 ? 12 : MOST);

	input[0] = (uint8_t)fuzz_random(random);
	for (size_t k = 0; k < n; k++) {
		uint64_t r = fuzz_random(random) >> 8;
		unsigned word = r % 8 ? (unsigned)(r >> 8) % N_WORDS : (unsigned)(r >> 8) % OPERANDS;
		if (k % 2 == 0 && r % 4)
			word = (unsigned)(r >> 16) % OPERANDS;
		input[HEAD + k] = (uint8_t)(WORDS + word);
	}
	return HEAD + n;
}
#endif
