/* Element by element. */
#include <math.h>
#include <string.h>

#include "ggml_recipes.h"

static double softplus(double x)
{
	return x > 20 ? x : log1p(exp(x));
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static double hard_sigmoid(double x)
{
	return fmin(1, fmax(0, (x + 3) / 6));
}

static double gelu(double x)
{
	return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double gelu_erf(double x)
{
	return x / 2 * (1 + erf(x / sqrt(2)));
}

static double gelu_quick(double x)
{
	return x * sigmoid(1.702 * x);
}

static double silu(double x)
{
	return x * sigmoid(x);
}

static double relu(double x)
{
	return x > 0 ? x : 0;
}

static double elu(double x)
{
	return x > 0 ? x : expm1(x);
}

static double sign(double x)
{
	return x > 0 ? 1 : x < 0 ? -1 : 0;
}

static double step(double x)
{
	return x > 0;
}

static double negative(double x)
{
	return -x;
}

static double hard_swish(double x)
{
	return x * hard_sigmoid(x);
}

/* With 0.8, 0.3, 0.5 and -0.000001 */
static double xielu(double x)
{
	return x > 0 ? 0.3 * x * x + 0.5 * x : (expm1(fmin(x, -1e-6)) - x) * 0.8 + 0.5 * x;
}

/* In the order of ggml's enumeration. */
static double (*const functions[])(double) = { fabs,         sign,    negative, step,       tanh,     elu,
					       relu,         sigmoid, gelu,     gelu_quick, silu,     hard_swish,
					       hard_sigmoid, exp,     expm1,    softplus,   gelu_erf, xielu,
					       floor,        ceil,    round,    trunc };
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Between -10 and 30, with what is on edges. */
static int spread(void)
{
	static const float edges[] = { 0,  -0.0F, 0.5F,  -0.5F, 1.5F, -1.5F, 2.5F, -2.5F,      3,
				       -3, 20,    20.5F, 1,     -1,   6,     -6,   0.49999997F };
	enum { EDGES = sizeof edges / sizeof *edges };
	int x = leaf(16, 5, 2, 1);

	for (int i = 0; i < 160; i++)
		elements_of(x)[i] = i < EDGES ? edges[i] : elements_of(x)[i] * 20 + 10;
	return x;
}

static void unary(void)
{
	nodes_reset();
	int x = spread();
	const int64_t ne[] = { 16, 5, 2, 1 };

	for (int kind = 0; kind < FUNCTIONS; kind++) {
		/* float32 loses what exp(x) - 1 has of a small x; ggml does, too */
		double error = functions[kind] == expm1 || functions[kind] == elu ? 3e-6 : 2e-6;
		EACH_OF(ne)
			want(functions[kind](at(x, i0, i1, i2, i3)));
		holds(&(struct node){ .op = "UNARY",
				      .ne = { 16, 5, 2, 1 },
				      .sources = { x },
				      .params = { kind, bits_of(0.8F), bits_of(0.3F), bits_of(0.5F),
						  bits_of(-1e-6F) } },
		      error);
	}
	is_without(&(struct node){ .op = "UNARY", .ne = { 16, 5, 2, 1 }, .sources = { x }, .params = { FUNCTIONS } },
		   "a kind that is not known");
}

/* Of two halves of a row, or of two sources. */
static void gated(void)
{
	static double (*const kinds[])(double) = { relu, gelu, silu, NULL, gelu_erf, gelu_quick };
	nodes_reset();
	int x = leaf(12, 3, 2, 1), a = leaf(6, 3, 2, 1), b = leaf(6, 3, 2, 1);
	const int64_t ne[] = { 6, 3, 2, 1 };

	for (int kind = 0; kind < 6; kind++)
		for (int swapped = 0; swapped < 2 && kinds[kind]; swapped++) {
			EACH_OF(ne)
				want(kinds[kind](at(x, i0 + (swapped ? 6 : 0), i1, i2, i3)) *
				     at(x, i0 + (swapped ? 0 : 6), i1, i2, i3));
			holds(&(struct node){ .op = "GLU",
					      .ne = { 6, 3, 2, 1 },
					      .sources = { x },
					      .params = { kind, swapped } },
			      2e-6);
			EACH_OF(ne)
				want(kinds[kind](at(a, i0, i1, i2, i3)) * at(b, i0, i1, i2, i3));
			holds(&(struct node){ .op = "GLU",
					      .ne = { 6, 3, 2, 1 },
					      .sources = { a, b },
					      .params = { kind, swapped } },
			      2e-6);
		}
	/* alpha 1.702, limit 0.5 */
	EACH_OF(ne) {
		double value = fmin(at(a, i0, i1, i2, i3), 0.5), gate = fmin(0.5, fmax(-0.5, at(b, i0, i1, i2, i3)));
		want(value * sigmoid(1.702 * value) * (gate + 1));
	}
	holds(&(struct node){ .op = "GLU",
			      .ne = { 6, 3, 2, 1 },
			      .sources = { a, b },
			      .params = { 3, 0, bits_of(1.702F), bits_of(0.5F) } },
	      2e-6);
}

static void binary(void)
{
	static const char *const ops[] = { "ADD", "SUB", "MUL", "DIV" };
	nodes_reset();
	int a = leaf(8, 6, 4, 2), b[] = { leaf(8, 6, 4, 2), leaf(8, 1, 4, 1), leaf(4, 3, 2, 1) },
	    one = leaf(1, 1, 1, 1);
	const int64_t ne[] = { 8, 6, 4, 2 };

	for (int o = 0; o < 4; o++)
		for (int k = 0; k < 3; k++) {
			EACH_OF(ne) {
				double x = at(a, i0, i1, i2, i3), y = again(b[k], i0, i1, i2, i3);
				want(o == 0 ? x + y : o == 1 ? x - y : o == 2 ? x * y : x / y);
			}
			holds(&(struct node){ .op = ops[o], .ne = { 8, 6, 4, 2 }, .sources = { a, b[k] } }, 1e-6);
		}
	EACH_OF(ne)
		want(at(a, i0, i1, i2, i3) + at(one, 0, 0, 0, 0));
	holds(&(struct node){ .op = "ADD1", .ne = { 8, 6, 4, 2 }, .sources = { a, one } }, 1e-6);
	int rows = leaf(8, 7, 1, 1), ids = leaf_of(LB_I32, 6, 4, 1, 1, 7), x = leaf(8, 6, 4, 1);
	const int64_t used[] = { 8, 6, 4, 1 };
	EACH_OF(used)
		want(at(x, i0, i1, i2, i3) + at(rows, i0, (int64_t)at(ids, i1, i2, i3, 0), 0, 0));
	holds(&(struct node){ .op = "ADD_ID", .ne = { 8, 6, 4, 1 }, .sources = { x, rows, ids } }, 1e-6);
	/* as segment-anything adds them: rows (a, b) of w by w, the position of a to all b, and that of b to all a */
	enum { W = 3, N = 5 };
	int positions = leaf(W * W, N, 1, 1), across = leaf(W, N, 1, 1), down = leaf(W, N, 1, 1);
	for (int n = 0; n < N; n++)
		for (int i = 0; i < W; i++)
			for (int j = 0; j < W; j++)
				want(at(positions, i * W + j, n, 0, 0) + at(down, i, n, 0, 0) + at(across, j, n, 0, 0));
	holds(&(struct node){ .op = "ADD_REL_POS", .ne = { W * W, N, 1, 1 }, .sources = { positions, across, down } },
	      1e-6);
}

static double square(double x)
{
	return x * x;
}

static void simple(void)
{
	static const struct {
		const char *op;
		double (*function)(double);
		bool is_positive;
	} ops[] = { { "SQR", square, false },
		    { "SQRT", sqrt, true },
		    { "LOG", log, true },
		    { "SIN", sin, false },
		    { "COS", cos, false } };
	nodes_reset();
	int any = leaf(7, 3, 2, 1), positive = leaf(7, 3, 2, 1);
	const int64_t ne[] = { 7, 3, 2, 1 };

	for (int i = 0; i < 42; i++)
		elements_of(positive)[i] = fabsf(elements_of(positive)[i]) + 0.1F;
	for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
		int x = ops[o].is_positive ? positive : any;
		EACH_OF(ne)
			want(ops[o].function(at(x, i0, i1, i2, i3)));
		holds(&(struct node){ .op = ops[o].op, .ne = { 7, 3, 2, 1 }, .sources = { x } }, 1e-6);
	}
	for (int bias = 0; bias < 2; bias++) {
		EACH_OF(ne)
			want(0.37F * at(any, i0, i1, i2, i3) + (bias ? -1.5 : 0));
		holds(&(struct node){ .op = "SCALE",
				      .ne = { 7, 3, 2, 1 },
				      .sources = { any },
				      .params = { bits_of(0.37F), bits_of(bias ? -1.5F : 0) } },
		      1e-6);
	}
	elements_of(any)[5] = NAN;
	EACH_OF(ne) { /* as ggml has it, x < high ? x : high, then x > low ? x : low: a NaN becomes the upper one */
		double x = at(any, i0, i1, i2, i3);
		x = x < 0.75 ? x : 0.75;
		want(x > -0.5 ? x : -0.5);
	}
	holds(&(struct node){ .op = "CLAMP",
			      .ne = { 7, 3, 2, 1 },
			      .sources = { any },
			      .params = { bits_of(-0.5F), bits_of(0.75F) } },
	      0);
	EACH_OF(ne) {
		double x = at(any, i0, i1, i2, i3);
		want((x > 0 ? x : 0) + 0.1F * (x < 0 ? x : 0));
	}
	holds(
	    &(struct node){ .op = "LEAKY_RELU", .ne = { 7, 3, 2, 1 }, .sources = { any }, .params = { bits_of(0.1F) } },
	    1e-6);
}

/* cos(t f) for each of half the frequencies, sin likewise; period^(-i / half) is the i-th; an odd one is 0. */
static void steps_in_time(void)
{
	enum { SIZE = 11, STEPS = 5, HALF = SIZE / 2 };
	nodes_reset();
	int t = leaf(STEPS, 1, 1, 1);

	for (int s = 0; s < STEPS; s++)
		for (int i = 0; i < SIZE + 1; i++) {
			double angle = at(t, s, 0, 0, 0) * pow(1000, -(double)(i % HALF) / HALF);
			want(i < HALF ? cos(angle) : i < 2 * HALF ? sin(angle) : 0);
		}
	holds(&(struct node){ .op = "TIMESTEP_EMBEDDING",
			      .ne = { SIZE + 1, STEPS, 1, 1 },
			      .sources = { t },
			      .params = { SIZE, 1000 } },
	      2e-6);
}

void recipes_of_elements(void **state)
{
	(void)state;
	unary();
	gated();
	binary();
	simple();
	steps_in_time();
}
