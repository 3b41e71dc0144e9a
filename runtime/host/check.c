/* Functions of the program against what they should give: gradients against differences, kernels against a reference. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "graph/shape.h"
#include "graph/start.h"
#include "graph/tensor.h"

enum { SAMPLES = 64, TILE = 32, PLACE = 256 };

static bool is_floating(lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16 || dtype == LB_F32 || dtype == LB_F64;
}

static lb_check_options completed(lb_check_options o, lb_dtype dtype)
{
	bool is_half = dtype == LB_F16 || dtype == LB_BF16;

	o.rtol = o.rtol > 0 ? o.rtol : dtype == LB_F64 ? 1e-6 : is_half ? 1e-1 : 1e-2;
	o.atol = o.atol > 0 ? o.atol : dtype == LB_F64 ? 1e-8 : is_half ? 1e-2 : 1e-3;
	o.step = o.step > 0 ? o.step : dtype == LB_F64 ? 1e-5 : 1e-2;
	o.samples = o.samples > 0 ? o.samples : SAMPLES;
	for (int i = 0; i < 2; i++)
		o.tile[i] = o.tile[i] > 0 ? o.tile[i] : TILE;
	return o;
}

static bool is_near(double a, double b, const lb_check_options *o)
{
	return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= o->atol + o->rtol * fabs(b);
}

/* "[1, 0, 3]" */
static const char *spot_of(const lb_tensor *x, int64_t at, char text[PLACE])
{
	int64_t index[LB_MAX_RANK];
	size_t used = 1;

	for (int i = lb_rank(x); i-- > 0; at /= lb_dim(x, i))
		index[i] = at % lb_dim(x, i);
	strcpy(text, "[");
	for (int i = 0; i < lb_rank(x); i++)
		used += (size_t)snprintf(text + used, PLACE - used, "%s%" PRId64, i ? ", " : "", index[i]);
	snprintf(text + used, PLACE - used, "]");
	return text;
}

/* Its elements, to be freed. */
static double *elements(lb_tensor *x)
{
	size_t n = x ? (size_t)lb_size(x) : 0;
	double *values = x ? malloc(n * sizeof *values + 1) : NULL;

	if (x && !values)
		lb_fail("out of memory");
	if (values && !lb_copy_out(lb_astype(x, LB_F64), values, n * sizeof *values)) {
		free(values);
		return NULL;
	}
	return values;
}

/* ---- gradients ---- */

struct grad_check {
	lb_function *fn;
	void *context;
	int n_in;
	lb_tensor *const *in;
	lb_check_options options;
};

/* The function's value where one element of one input is another; what that became in its dtype. */
static bool value_at(const struct grad_check *c, int input, double *values, int64_t at, double x, double *became,
		     double *ret)
{
	lb_auto_free lb_tensor **in = malloc((size_t)c->n_in * sizeof(lb_tensor *));
	lb_tensor *old = c->in[input], *out = NULL;
	double before = values[at];
	bool done = in || lb_fail("check_grad: out of memory");

	if (!done)
		return false;
	LB_SCOPE {
		memcpy(in, c->in, (size_t)c->n_in * sizeof(lb_tensor *));
		values[at] = x;
		lb_tensor *moved = lb_from_data(values, (size_t)lb_size(old) * sizeof *values,
						(lb_list){ lb_rank(old), lb_shape(old) }, LB_F64);
		values[at] = before;
		in[input] = lb_astype(moved, lb_dtype_of(old));
		lb_auto_free double *now = elements(in[input]);
		done = now && c->fn(c->context, c->n_in, in, 1, &out) && out;
		if (done) {
			*became = now[at];
			*ret = lb_item(out);
			done = lb_ok();
		}
	}
	return done;
}

static bool check_input(const struct grad_check *c, int input, lb_tensor *grad)
{
	lb_tensor *x = c->in[input];
	lb_auto_free double *values = elements(x), *gradient = elements(grad);
	int64_t n = lb_size(x), step = n / c->options.samples + 1;
	char where[PLACE];

	if (!values || !gradient)
		return false;
	for (int64_t at = 0; at < n; at += step) {
		double h = c->options.step * fmax(1, fabs(values[at])), high, low, above, below;
		if (!value_at(c, input, values, at, values[at] + h, &high, &above) ||
		    !value_at(c, input, values, at, values[at] - h, &low, &below))
			return false;
		double expected = (above - below) / (high - low);
		if (!is_near(gradient[at], expected, &c->options))
			return lb_fail(
			    "check_grad: input %d, element %s: the gradient is %.9g, and differences give %.9g", input,
			    spot_of(x, at, where), gradient[at], expected);
	}
	return true;
}

bool lb_check_grad(lb_function *fn, void *context, int n_in, lb_tensor *const *in, lb_check_options options)
{
	LB_ENTER();
	(void)site;
	if (!LB_GIVEN("check_grad", fn) || !LB_GIVEN("check_grad", in))
		return false;
	if (n_in < 1)
		return lb_fail("check_grad: the function has no inputs");
	for (int i = 0; i < n_in; i++) {
		if (!in[i])
			return lb_fail_null_at("check_grad", i, n_in);
		if (!is_floating(lb_dtype_of(in[i])))
			return lb_fail("check_grad: input %d is no floating tensor", i);
	}
	bool done = false;
	LB_SCOPE {
		struct grad_check c = { fn, context, n_in, in, completed(options, lb_dtype_of(in[0])) };
		lb_auto_free lb_tensor **grads = calloc((size_t)n_in, sizeof(lb_tensor *));
		done = grads ? lb_grad(fn, context, n_in, in, grads) : lb_fail("check_grad: out of memory");
		for (int i = 0; done && i < n_in; i++)
			done = check_input(&c, i, grads[i]);
	}
	return done;
}

/* ---- kernels ---- */

static const char *describe_case(int n_in, const lb_list *shapes, char *text, size_t size)
{
	char shape[LB_SHAPE_TEXT];
	size_t used = 0;

	*text = '\0';
	for (int i = 0; i < n_in && used + 1 < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
					 lb_shape_text(shapes[i].n, shapes[i].v, shape));
	return text;
}

/* The tile of the last two axes that an element lies in: "tile [1, 0] of 32 x 32". */
static void describe_tile(const lb_tensor *x, int64_t at, const lb_check_options *o, char *text, size_t size)
{
	int rank = lb_rank(x);
	int64_t columns = rank > 0 ? lb_dim(x, rank - 1) : 1, rows = rank > 1 ? lb_dim(x, rank - 2) : 1;

	snprintf(text, size, "tile [%" PRId64 ", %" PRId64 "] of %" PRId64 " x %" PRId64,
		 at / columns % rows / o->tile[0], at % columns / o->tile[1], o->tile[0], o->tile[1]);
}

static bool compare_results(int number, const char *inputs, int result, lb_tensor *got, lb_tensor *expected,
			    const lb_check_options *o)
{
	char is[LB_SHAPE_TEXT], should[LB_SHAPE_TEXT], where[PLACE], tile[128];

	if (!got || !expected)
		return lb_ok() ? lb_fail("check_kernel: case %d, inputs %s: result %d is NULL", number, inputs, result)
			       : false;
	if (lb_rank(got) != lb_rank(expected) ||
	    memcmp(lb_shape(got), lb_shape(expected), (size_t)lb_rank(got) * sizeof(int64_t)) != 0)
		return lb_fail("check_kernel: case %d, inputs %s: result %d has shape %s, and the reference's has %s",
			       number, inputs, result, lb_shape_text(lb_rank(got), lb_shape(got), is),
			       lb_shape_text(lb_rank(expected), lb_shape(expected), should));
	lb_auto_free double *a = elements(got), *b = elements(expected);
	int64_t n = lb_size(got), different = 0, first = -1;
	double most = 0;
	if (!a || !b)
		return false;
	for (int64_t i = 0; i < n; i++) {
		if (is_near(a[i], b[i], o))
			continue;
		first = different++ ? first : i;
		most = fabs(a[i] - b[i]) > most ? fabs(a[i] - b[i]) : most;
	}
	if (different == 0)
		return true;
	describe_tile(got, first, o, tile, sizeof tile);
	return lb_fail("check_kernel: case %d, inputs %s: result %d: %" PRId64 " of %" PRId64
		       " elements differ, by %.3g at most; the first in %s, at %s: %.9g, and the reference has %.9g",
		       number, inputs, result, different, n, most, tile, spot_of(got, first, where), a[first],
		       b[first]);
}

static bool check_case(lb_function *fn, lb_function *reference, void *context, int n_in, int n_out, lb_dtype dtype,
		       int number, const lb_list *shapes, const lb_check_options *o)
{
	lb_auto_free lb_tensor **all = calloc((size_t)(n_in + 2 * n_out) + 1, sizeof(lb_tensor *));
	lb_tensor **out = all + n_in, **expected = out + n_out;
	char inputs[512];
	bool done = all || lb_fail("check_kernel: out of memory");

	describe_case(n_in, shapes, inputs, sizeof inputs);
	for (int i = 0; done && i < n_in; i++) {
		all[i] =
		    lb_random_normal(shapes[i], dtype, lb_key_split(lb_key(2026), (uint64_t)number * 64 + (uint64_t)i));
		done = all[i] && lb_eval(all[i]);
	}
	done = done && fn(context, n_in, all, n_out, out) && reference(context, n_in, all, n_out, expected);
	if (!done && lb_ok())
		return lb_fail("check_kernel: case %d, inputs %s: a function failed, and did not say why", number,
			       inputs);
	for (int i = 0; done && i < n_out; i++)
		done = compare_results(number, inputs, i, out[i], expected[i], o);
	return done;
}

bool lb_check_kernel(lb_function *fn, lb_function *reference, void *context, int n_in, int n_out, lb_dtype dtype,
		     int n_cases, const lb_list *shapes, lb_check_options options)
{
	LB_ENTER();
	(void)site;
	if (!LB_GIVEN("check_kernel", fn) || !LB_GIVEN("check_kernel", reference) || !LB_GIVEN("check_kernel", shapes))
		return false;
	if (n_in < 1 || n_out < 1 || n_cases < 1)
		return lb_fail("check_kernel: %d inputs, %d results and %d cases: there must be 1 of each at least",
			       n_in, n_out, n_cases);
	if (!is_floating(dtype))
		return lb_fail("check_kernel: inputs are floating, not %s",
			       lb_dtypes[dtype < LB_DTYPES ? dtype : 0].name);
	options = completed(options, dtype);
	bool done = true;
	for (int i = 0; done && i < n_cases; i++)
		LB_SCOPE {
			done = check_case(fn, reference, context, n_in, n_out, dtype, i, shapes + (int64_t)i * n_in,
					  &options);
		}
	return done;
}
