#include "grad_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

int grad_cases;
bool grad_tested[LB_OPS];

struct input {
	int rank;
	int64_t shape[LB_MAX_RANK], size;
	double values[MOST];
};

struct check {
	const struct grad_case *test;
	enum grad_layout layout;
	bool second; /* the function is the gradient of the case's */
	int n;
	struct input in[GRAD_INPUTS];
};

/* Numbers without pattern, the same in each run: all different, and none near a multiple of 1/2. */
static double spread(uint64_t i, double low, double high)
{
	double u = fmod((double)(i + 1) * 0.61803398874989484820, 1);
	return low + (high - low) * u;
}

static void read_shapes(struct check *c)
{
	const char *text = c->test->shapes;
	uint64_t seed = 0;
	for (c->n = 0; text; c->n++) {
		struct input *in = &c->in[c->n];
		in->rank = 0;
		in->size = 1;
		while (*text && *text != ';') {
			char *end;
			in->shape[in->rank] = strtoll(text, &end, 10);
			in->size *= in->shape[in->rank++];
			text = end + (*end == ',');
		}
		for (int64_t i = 0; i < in->size; i++)
			in->values[i] = spread(seed++, c->test->low, c->test->high);
		text = *text == ';' ? text + 1 : NULL;
		if (!text) {
			c->n++;
			break;
		}
	}
}

/* The elements of x, which are row-major in memory, laid out otherwise; the same tensor to look at. */
static lb_tensor *laid_out(lb_tensor *x, enum grad_layout layout)
{
	if (lb_rank(x) == 0 || layout == GRAD_DENSE)
		return x;
	if (layout == GRAD_COMPUTED)
		return lb_negative(lb_negative(x));
	if (layout == GRAD_TRANSPOSED) {
		lb_tensor *copy = lb_contiguous(lb_transpose(x, LB_ALL_AXES));
		return lb_transpose(copy, LB_ALL_AXES);
	}
	int64_t low[LB_MAX_RANK], high[LB_MAX_RANK];
	lb_index back[LB_MAX_RANK];
	for (int i = 0; i < lb_rank(x); i++) {
		low[i] = 1;
		high[i] = 2;
		back[i] = LB_REVERSED;
	}
	lb_tensor *padded =
	    lb_pad(lb_slice_n(x, lb_rank(x), back), (lb_list){ lb_rank(x), low }, (lb_list){ lb_rank(x), high }, NAN);
	for (int i = 0; i < lb_rank(x); i++)
		back[i] = LB_RANGE(lb_dim(x, i), 0, -1);
	return lb_slice_n(padded, lb_rank(x), back);
}

static void make(const struct check *c, lb_tensor **to)
{
	for (int i = 0; i < c->n; i++) {
		const struct input *in = &c->in[i];
		lb_tensor *x = lb_from_data(in->values, (size_t)in->size * 8, (lb_list){ in->rank, in->shape }, LB_F64);
		to[i] = laid_out(x, c->layout);
		if (c->layout != GRAD_COMPUTED && to[i])
			lb_eval(to[i]);
	}
}

static lb_tensor *weights_for(lb_tensor *y, uint64_t seed)
{
	double values[MOST];
	if (!y || lb_size(y) > MOST)
		return NULL;
	for (int64_t i = 0; i < lb_size(y); i++)
		values[i] = spread(seed + (uint64_t)i * 7, -1, 1.5);
	return lb_from_data(values, (size_t)lb_size(y) * 8, (lb_list){ lb_rank(y), lb_shape(y) }, LB_F64);
}

static lb_tensor *weighted(lb_tensor *y, uint64_t seed)
{
	return lb_sum(lb_multiply(y, weights_for(y, seed)), LB_ALL_AXES, false);
}

/* One number of all the function's results, each weighted differently. */
static bool first_order(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct check *c = context;
	lb_tensor *all[GRAD_INPUTS] = { 0 };
	(void)n_out;
	for (int i = 0; i < n; i++)
		all[i] = in[i];
	out[0] = weighted(c->test->fn(all), 1000);
	return out[0] != NULL;
}

static bool second_order(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	lb_tensor *grads[GRAD_INPUTS], *sum = NULL;
	(void)n_out;
	if (!lb_grad(first_order, context, n, in, grads))
		return false;
	for (int i = 0; i < n; i++) {
		lb_tensor *part = weighted(grads[i], 2000 + (uint64_t)i);
		sum = sum ? lb_add(sum, part) : part;
	}
	out[0] = sum;
	return sum != NULL;
}

static bool plain(void *context, int n, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const struct check *c = context;
	lb_tensor *all[GRAD_INPUTS] = { 0 };
	if (c->second)
		return second_order(context, n, in, n_out, out);
	for (int i = 0; i < n; i++)
		all[i] = in[i];
	out[0] = c->test->fn(all);
	return out[0] != NULL;
}

static double value_at(struct check *c)
{
	double value = NAN;
	LB_SCOPE {
		lb_tensor *in[GRAD_INPUTS], *out;
		make(c, in);
		if ((c->second ? second_order : first_order)(c, c->n, in, 1, &out))
			value = lb_item(out);
	}
	return value;
}

static bool wrong(const struct check *c, const char *what, int input, int64_t at, double got, double expected)
{
	static const char *const names[] = { "dense", "transposed", "reversed", "computed" };
	printf("# %s %s (%s%s): %s, input %d element %lld: %.12g, expected %.12g %s\n", c->test->name, c->test->shapes,
	       names[c->layout], c->second ? ", second order" : "", what, input, (long long)at, got, expected,
	       lb_error_message());
	return false;
}

static bool compare(struct check *c, int input, const double *grad)
{
	struct input *in = &c->in[input];
	for (int64_t i = 0; i < in->size; i++) {
		double x = in->values[i], h = 1e-5 * fmax(1, fabs(x));
		in->values[i] = x + h;
		double above = value_at(c), high = in->values[i];
		in->values[i] = x - h;
		double below = value_at(c), low = in->values[i];
		in->values[i] = x;
		double expected = (above - below) / (high - low);
		if (!(fabs(grad[i] - expected) <= 1e-6 * fmax(1, fabs(expected))))
			return wrong(c, "gradient", input, i, grad[i], expected);
	}
	return true;
}

static bool check_order(struct check *c)
{
	double grads[GRAD_INPUTS][MOST];
	bool ok = false;
	LB_SCOPE {
		lb_tensor *in[GRAD_INPUTS], *out, *d[GRAD_INPUTS];
		make(c, in);
		ok = lb_value_and_grad(c->second ? second_order : first_order, c, c->n, in, c->n, NULL, 1, &out, d);
		for (int i = 0; i < c->n && ok; i++) {
			ok = lb_dtype_of(d[i]) == LB_F64 && lb_rank(d[i]) == c->in[i].rank &&
			     memcmp(lb_shape(d[i]), c->in[i].shape, (size_t)c->in[i].rank * 8) == 0 &&
			     lb_copy_out(d[i], grads[i], (size_t)c->in[i].size * 8);
		}
	}
	if (!ok)
		return wrong(c, "no gradient", 0, 0, NAN, NAN);
	for (int i = 0; i < c->n; i++) {
		if (!compare(c, i, grads[i]))
			return false;
	}
	grad_cases++;
	return true;
}

/* ---- forward mode ---- */

/* The results where the inputs are moved by h along v. */
static int64_t results_at(struct check *c, double v[GRAD_INPUTS][MOST], double h, double *to)
{
	struct check moved = *c;
	int64_t n = -1;
	for (int i = 0; i < c->n; i++) {
		for (int64_t k = 0; k < c->in[i].size; k++)
			moved.in[i].values[k] += h * v[i][k];
	}
	LB_SCOPE {
		lb_tensor *in[GRAD_INPUTS], *out;
		make(&moved, in);
		if (plain(&moved, c->n, in, 1, &out) && lb_size(out) <= MOST &&
		    lb_copy_out(out, to, (size_t)lb_size(out) * 8))
			n = lb_size(out);
	}
	return n;
}

/* lb_jvp() along a direction in which all inputs move, against differences along it. */
static bool check_forward(struct check *c)
{
	static const double h = 1e-5;
	double v[GRAD_INPUTS][MOST], got[MOST], above[MOST], below[MOST];
	int64_t n = 0;
	bool ok = false;
	for (int i = 0; i < c->n; i++) {
		for (int64_t k = 0; k < c->in[i].size; k++)
			v[i][k] = spread((uint64_t)(i * 31 + k + 77), -1, 1);
	}
	LB_SCOPE {
		lb_tensor *in[GRAD_INPUTS], *tangents[GRAD_INPUTS], *out, *d;
		make(c, in);
		for (int i = 0; i < c->n; i++)
			tangents[i] = lb_from_data(v[i], (size_t)c->in[i].size * 8,
						   (lb_list){ c->in[i].rank, c->in[i].shape }, LB_F64);
		ok = lb_jvp(plain, c, c->n, in, tangents, 1, &out, &d) && lb_dtype_of(d) == LB_F64 &&
		     lb_rank(d) == lb_rank(out) && memcmp(lb_shape(d), lb_shape(out), (size_t)lb_rank(d) * 8) == 0 &&
		     (n = lb_size(d)) <= MOST && lb_copy_out(d, got, (size_t)n * 8);
	}
	if (!ok || results_at(c, v, h, above) != n || results_at(c, v, -h, below) != n)
		return wrong(c, "no tangent", 0, 0, NAN, NAN);
	for (int64_t i = 0; i < n; i++) {
		double expected = (above[i] - below[i]) / (2 * h);
		if (!(fabs(got[i] - expected) <= 1e-6 * fmax(1, fabs(expected))))
			return wrong(c, "tangent of the result", 0, i, got[i], expected);
	}
	return true;
}

void grad_mark(const char *name)
{
	for (int op = 0; op < LB_OPS; op++) {
		size_t n = strlen(lb_ops[op].name);
		if (strncmp(name, lb_ops[op].name, n) == 0 && (name[n] == ' ' || !name[n]))
			grad_tested[op] = true;
	}
}

bool grad_check(const struct grad_case *test, enum grad_layout layout)
{
	struct check c = { .test = test, .layout = layout };
	read_shapes(&c);
	if (!check_order(&c) || !check_forward(&c))
		return false;
	c.second = true;
	return !test->smooth || (check_order(&c) && check_forward(&c));
}

bool grad_check_all(const struct grad_case *cases, int n)
{
	bool ok = true;
	for (int i = 0; i < n; i++) {
		grad_mark(cases[i].name);
		for (int layout = 0; layout < GRAD_LAYOUTS; layout++)
			ok = grad_check(&cases[i], (enum grad_layout)layout) && ok;
	}
	return ok;
}
