/* Fuzzes expressions over tensors: their syntax, and what a recipe is made of them. The first byte of an input says which
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

static void build(const struct lbx_formula_tree *tree, unsigned shapes)
{
	static struct lbx_formula_names names;
	struct lbx_recipe r = { 0 };
	struct lbx_step operand;
	int result;

	memset(&names, 0, sizeof names);
	for (unsigned k = 0; k < OPERANDS; k++) {
		make_operand(k, shapes, &operand);
		if (!lbx_recipe_add_input(&r, &operand))
			break;
	}
	for (int k = 0; k < tree->n; k++) {
		static const char *const operands[OPERANDS] = { "x", "y", "m", "i", "s" };
		names.operand[k] = -1;
		for (int o = 0; tree->nodes[k].kind == LBX_FORMULA_NAME && o < OPERANDS; o++)
			if (lbx_formula_is_word(tree, k, operands[o]))
				names.operand[k] = o;
	}
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
