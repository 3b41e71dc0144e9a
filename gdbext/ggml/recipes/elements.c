/* Element by element. Comparisons are written as ggml has them, so that NaN goes where it goes there. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "ggml/recipe.h"

static int number(struct lbx_ggml_node *n, double value)
{
	return lbx_step_number(n->r, LB_F32, value);
}

/* x > bound ? yes : no */
static int if_above(struct lbx_ggml_node *n, int x, double bound, int yes, int no)
{
	return lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_GREATER, x, bound), yes, no);
}

int lbx_ggml_recipe_binary(struct lbx_ggml_node *n)
{
	static const struct {
		const char *name;
		int op;
	} ops[] = { { "ADD", LB_OP_ADD },
		    { "ADD1", LB_OP_ADD },
		    { "SUB", LB_OP_SUBTRACT },
		    { "MUL", LB_OP_MULTIPLY },
		    { "DIV", LB_OP_DIVIDE } };

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (strcmp(n->tensor->op, ops[i].name) == 0)
			return lbx_step_binary(n->r, ops[i].op, lbx_ggml_source_float(n, 0),
					       lbx_ggml_repeat(n, lbx_ggml_source_float(n, 1), n->shape));
	return LBX_FAIL;
}

/* A row of the second for each row of the first, by number. */
int lbx_ggml_recipe_add_id(struct lbx_ggml_node *n)
{
	int x = lbx_ggml_source_float(n, 0), rows = lbx_ggml_source_float(n, 1), ids = lbx_ggml_source(n, 2);
	int64_t tokens = n->shape[1], used = n->shape[2];

	ids = lbx_step_reshape(n->r, ids, 1, (int64_t[]){ tokens * used });
	rows = lbx_step_reshape(n->r, rows, 2, (int64_t[]){ lbx_ggml_ne(n, rows, 1), lbx_ggml_ne(n, rows, 0) });
	rows = lbx_step_reshape(n->r, lbx_step_take(n->r, rows, ids, 0), LBX_GGML_AXES,
				(int64_t[]){ 1, tokens, used, n->shape[3] });
	return lbx_step_binary(n->r, LB_OP_ADD, x, rows);
}

/* The second parameter is 0 in builds that have none. */
int lbx_ggml_recipe_scale(struct lbx_ggml_node *n)
{
	int x = lbx_step_with(n->r, LB_OP_MULTIPLY, lbx_ggml_source_float(n, 0), lbx_ggml_float(n, 0));
	float bias = lbx_ggml_float(n, 1);

	return bias != 0 ? lbx_step_with(n->r, LB_OP_ADD, x, bias) : x;
}

int lbx_ggml_recipe_simple(struct lbx_ggml_node *n)
{
	static const struct {
		const char *name;
		int op;
	} ops[] = { { "SQR", LB_OP_SQUARE },
		    { "SQRT", LB_OP_SQRT },
		    { "LOG", LB_OP_LOG },
		    { "SIN", LB_OP_SIN },
		    { "COS", LB_OP_COS } };

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (strcmp(n->tensor->op, ops[i].name) == 0)
			return lbx_step_unary(n->r, ops[i].op, lbx_ggml_source_float(n, 0));
	return LBX_FAIL;
}

static int clamp(struct lbx_ggml_node *n, int x, double low, double high)
{
	int least = lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_LESS, x, high), x, number(n, high));

	return if_above(n, least, low, least, number(n, low));
}

int lbx_ggml_recipe_clamp(struct lbx_ggml_node *n)
{
	return clamp(n, lbx_ggml_source_float(n, 0), lbx_ggml_float(n, 0), lbx_ggml_float(n, 1));
}

int lbx_ggml_recipe_leaky_relu(struct lbx_ggml_node *n)
{
	int x = lbx_ggml_source_float(n, 0);
	int below = lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_LESS, x, 0), x, number(n, 0));

	return lbx_step_binary(n->r, LB_OP_ADD, if_above(n, x, 0, x, number(n, 0)),
			       lbx_step_with(n->r, LB_OP_MULTIPLY, below, lbx_ggml_float(n, 0)));
}

/* ---- functions by name ---- */

static int times(struct lbx_ggml_node *n, int x, double factor)
{
	return lbx_step_with(n->r, LB_OP_MULTIPLY, x, factor);
}

static int plus(struct lbx_ggml_node *n, int x, double term)
{
	return lbx_step_with(n->r, LB_OP_ADD, x, term);
}

static int product(struct lbx_ggml_node *n, int x, int y)
{
	return lbx_step_binary(n->r, LB_OP_MULTIPLY, x, y);
}

static int unary(struct lbx_ggml_node *n, int op, int x)
{
	return lbx_step_unary(n->r, op, x);
}

/* x / 2 (1 + tanh(sqrt(2 / pi) x (1 + 0.044715 x^2))) */
static int gelu(struct lbx_ggml_node *n, int x)
{
	int inner = product(n, times(n, x, 0.79788456080286535587989211986876),
			    plus(n, times(n, product(n, x, x), 0.044715), 1));

	return product(n, times(n, x, 0.5), plus(n, unary(n, LB_OP_TANH, inner), 1));
}

static int hard_sigmoid(struct lbx_ggml_node *n, int x)
{
	return clamp(n, times(n, plus(n, x, 3), 1.0 / 6), 0, 1);
}

/* Halves away from 0. */
static int round_away(struct lbx_ggml_node *n, int x)
{
	int size = unary(n, LB_OP_ABS, x), below = unary(n, LB_OP_FLOOR, size);
	int is_below = lbx_step_with(n->r, LB_OP_LESS, lbx_step_binary(n->r, LB_OP_SUBTRACT, size, below), 0.5);
	int rounded = lbx_step_where(n->r, is_below, below, plus(n, below, 1));

	return if_above(n, x, 0, rounded, unary(n, LB_OP_NEGATIVE, rounded));
}

/* Parameters from the second on: two factors, that of x, and what a small x is at most. */
static int xielu(struct lbx_ggml_node *n, int x)
{
	float eps = lbx_ggml_float(n, 4);
	int linear = times(n, x, lbx_ggml_float(n, 3));
	int least = lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_LESS, x, eps), x, number(n, eps));
	/* exp(x) - 1 of a small x is not to be lost */
	int curve = plus(n, unary(n, LB_OP_EXP, lbx_step_cast(n->r, least, LB_F64)), -1);
	int below = times(n, lbx_step_binary(n->r, LB_OP_SUBTRACT, lbx_step_cast(n->r, curve, LB_F32), x),
			  lbx_ggml_float(n, 1));

	return lbx_step_binary(n->r, LB_OP_ADD,
			       if_above(n, x, 0, times(n, product(n, x, x), lbx_ggml_float(n, 2)), below), linear);
}

int lbx_ggml_unary(struct lbx_ggml_node *n, const char *kind, int x)
{
	static const struct {
		const char *name;
		int op;
	} ops[] = { { "ABS", LB_OP_ABS },  { "NEG", LB_OP_NEGATIVE },    { "TANH", LB_OP_TANH },
		    { "EXP", LB_OP_EXP },  { "SIGMOID", LB_OP_SIGMOID }, { "FLOOR", LB_OP_FLOOR },
		    { "CEIL", LB_OP_CEIL } };
	static const char *const steps[] = { "FLOOR", "CEIL", "SGN", "STEP", "TRUNC", "ROUND" };
	int zero = number(n, 0);

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		n->has_gaps |= strcmp(kind, steps[i]) == 0;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (strcmp(kind, ops[i].name) == 0)
			return unary(n, ops[i].op, x);
	if (strcmp(kind, "RELU") == 0)
		return if_above(n, x, 0, x, zero);
	if (strcmp(kind, "GELU") == 0)
		return gelu(n, x);
	if (strcmp(kind, "GELU_ERF") == 0)
		return product(n, times(n, x, 0.5), plus(n, unary(n, LB_OP_ERF, times(n, x, M_SQRT1_2)), 1));
	if (strcmp(kind, "GELU_QUICK") == 0)
		return product(n, x, unary(n, LB_OP_SIGMOID, times(n, x, 1.702)));
	if (strcmp(kind, "SILU") == 0)
		return product(n, x, unary(n, LB_OP_SIGMOID, x));
	if (strcmp(kind, "SGN") == 0)
		return if_above(n, x, 0, number(n, 1),
				lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_LESS, x, 0), number(n, -1), zero));
	if (strcmp(kind, "STEP") == 0)
		return if_above(n, x, 0, number(n, 1), zero);
	if (strcmp(kind, "ELU") == 0)
		return if_above(n, x, 0, x, plus(n, unary(n, LB_OP_EXP, x), -1));
	if (strcmp(kind, "EXPM1") == 0)
		return plus(n, unary(n, LB_OP_EXP, x), -1);
	if (strcmp(kind, "HARDSWISH") == 0)
		return product(n, x, hard_sigmoid(n, x));
	if (strcmp(kind, "HARDSIGMOID") == 0)
		return hard_sigmoid(n, x);
	if (strcmp(kind, "SOFTPLUS") == 0)
		return if_above(n, x, 20, x, lbx_step_binary(n->r, LB_OP_LOGADDEXP, x, zero));
	if (strcmp(kind, "TRUNC") == 0)
		return if_above(n, x, 0, unary(n, LB_OP_FLOOR, x), unary(n, LB_OP_CEIL, x));
	if (strcmp(kind, "ROUND") == 0)
		return round_away(n, x);
	if (strcmp(kind, "XIELU") == 0)
		return xielu(n, x);
	return lbx_ggml_no_recipe(n, kind);
}

/* The name of a kind by its number, in the build's own table. */
static const char *kind_of(struct lbx_ggml_node *n, int *count, char (*names)[LBX_GGML_TEXT], const char *const *first)
{
	int32_t kind = lbx_ggml_int(n, 0);

	if (*count < 0)
		*count = lbx_ggml_names(n->target, n->anchor, first, names);
	return kind >= 0 && kind < *count ? names[kind] : "a kind that is not known";
}

int lbx_ggml_recipe_unary(struct lbx_ggml_node *n)
{
	static const char *const first[] = { "ABS", "SGN", "NEG" };

	return lbx_ggml_unary(n, kind_of(n, &n->kinds->n_unary, n->kinds->unary, first), lbx_ggml_source_float(n, 0));
}

/* x by the function, times a gate. One source holds both, the gate behind or in front, or there are two. */
int lbx_ggml_recipe_glu(struct lbx_ggml_node *n)
{
	static const char *const first[] = { "REGLU", "GEGLU", "SWIGLU" };
	static const struct {
		const char *name, *function;
	} kinds[] = { { "REGLU", "RELU" },
		      { "GEGLU", "GELU" },
		      { "SWIGLU", "SILU" },
		      { "GEGLU_ERF", "GELU_ERF" },
		      { "GEGLU_QUICK", "GELU_QUICK" } };
	const char *kind = kind_of(n, &n->kinds->n_gated, n->kinds->gated, first);
	bool swapped = lbx_ggml_int(n, 1) != 0;
	int64_t half = n->shape[LBX_GGML_AXIS_0];
	int x = lbx_ggml_source_float(n, 0), gate;

	if (lbx_ggml_has(n, 1)) {
		gate = lbx_ggml_source_float(n, 1);
	} else {
		gate = lbx_step_narrow(n->r, x, LBX_GGML_AXIS_0, swapped ? 0 : half, half, 1);
		x = lbx_step_narrow(n->r, x, LBX_GGML_AXIS_0, swapped ? half : 0, half, 1);
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kind, kinds[i].name) == 0)
			return product(n, lbx_ggml_unary(n, kinds[i].function, x), gate);
	if (strcmp(kind, "SWIGLU_OAI") != 0)
		return lbx_ggml_no_recipe(n, kind);
	float alpha = lbx_ggml_float(n, 2), limit = lbx_ggml_float(n, 3);
	x = lbx_step_where(n->r, lbx_step_with(n->r, LB_OP_LESS, x, limit), x, number(n, limit));
	return product(n, product(n, x, unary(n, LB_OP_SIGMOID, times(n, x, alpha))),
		       plus(n, clamp(n, gate, -limit, limit), 1));
}

/* Cosines of each step at half as many frequencies as there are channels, then sines. */
int lbx_ggml_recipe_timestep_embedding(struct lbx_ggml_node *n)
{
	enum { MOST = 1 << 20 };
	int64_t half = lbx_ggml_int(n, 0) / 2, steps = n->shape[2];
	float period = (float)lbx_ggml_int(n, 1);
	int x = lbx_step_reshape(n->r, lbx_ggml_source_float(n, 0), 2, (int64_t[]){ steps, 1 });

	if (half < 1 || half > MOST)
		return lbx_ggml_no_recipe(n, "such sizes");
	int frequencies = times(n, lbx_step_arange(n->r, half), -logf(period) / (float)half);
	x = product(n, x, unary(n, LB_OP_EXP, frequencies));
	x = lbx_step_join(n->r, 2, (int[]){ unary(n, LB_OP_COS, x), unary(n, LB_OP_SIN, x) }, 1);
	x = lbx_step_pad(n->r, x, (int64_t[]){ 0, 0 }, (int64_t[]){ steps, n->shape[3] }, 0);
	return lbx_step_reshape(n->r, x, LBX_GGML_AXES, n->shape);
}
