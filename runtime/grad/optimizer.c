/* Formulas: MLX's (mlx.optimizers), which for SGD are those of Sutskever et al., "On the importance of
 * initialization and momentum in deep learning"; Kingma and Ba, "Adam"; Loshchilov and Hutter,
 * "Decoupled weight decay regularization". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "eval/eval.h"
#include "grad/reverse.h"
#include "graph/shape.h"

enum kind { SGD, ADAM, ADAMW };
enum { MOST_STATE = 2 };

struct lb_optimizer {
	enum kind kind;
	lb_sgd_options sgd;
	lb_adam_options adam;
	int64_t steps;
	int n, n_each;             /* parameters, 0 before the first; state tensors of each */
	struct lb_tensor **state;  /* kept: those of parameter 0, then of 1, … */
};

/* ---- making ---- */

static lb_optimizer *optimizer_new(const char *name, lb_optimizer like, double rate, const double *fractions, int n)
{
	bool ok = rate > 0 && isfinite(rate);
	for (int i = 0; i < n; i++)
		ok = ok && fractions[i] >= 0 && fractions[i] < 1;
	if (!ok) {
		lb_fail("%s: the rate %g must be positive, and momentum, dampening and betas from 0 to less than 1",
			name, rate);
		return NULL;
	}
	lb_optimizer *o = malloc(sizeof *o);
	if (!o) {
		lb_fail("%s: out of memory", name);
		return NULL;
	}
	*o = like;
	return o;
}

lb_optimizer *lb_sgd(lb_sgd_options options)
{
	LB_ENTER();
	if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
		lb_fail("sgd: Nesterov's needs momentum, and no dampening");
		return NULL;
	}
	return optimizer_new("sgd", (lb_optimizer){ .kind = SGD, .sgd = options, .n_each = options.momentum > 0 },
			     options.rate, (double[]){ options.momentum, options.dampening }, 2);
}

static lb_optimizer *make_adam(const char *name, enum kind kind, lb_adam_options o)
{
	o.beta1 = o.beta1 == 0 ? 0.9 : o.beta1;
	o.beta2 = o.beta2 == 0 ? 0.999 : o.beta2;
	o.eps = o.eps == 0 ? 1e-8 : o.eps;
	return optimizer_new(name, (lb_optimizer){ .kind = kind, .adam = o, .n_each = 2 }, o.rate,
			     (double[]){ o.beta1, o.beta2 }, 2);
}

lb_optimizer *lb_adam(lb_adam_options options)
{
	LB_ENTER();
	return make_adam("adam", ADAM, options);
}

lb_optimizer *lb_adamw(lb_adam_options options)
{
	LB_ENTER();
	return make_adam("adamw", ADAMW, options);
}

static void drop_state(lb_optimizer *o)
{
	for (int i = 0; i < o->n * o->n_each; i++)
		lb_release(o->state[i]);
	free(o->state);
	o->state = NULL;
	o->n = 0;
}

void lb_optimizer_free(lb_optimizer *o)
{
	if (!o)
		return;
	drop_state(o);
	free(o);
}

static double *rate_of(lb_optimizer *o)
{
	return o->kind == SGD ? &o->sgd.rate : &o->adam.rate;
}

double lb_optimizer_rate(const lb_optimizer *o)
{
	return LB_GIVEN_HERE("optimizer_rate", o) ? *rate_of((lb_optimizer *)o) : NAN;
}

bool lb_optimizer_set_rate(lb_optimizer *o, double rate)
{
	LB_ENTER();
	if (!LB_GIVEN("optimizer_set_rate", o))
		return false;
	if (!(rate >= 0) || !isfinite(rate))
		return lb_fail("optimizer: the rate %g must be finite, and not negative", rate);
	*rate_of(o) = rate;
	return true;
}

/* ---- state ---- */

/* Halves lose small changes: what is summed up over steps is float for them. */
static lb_dtype wide(const struct lb_tensor *x)
{
	return x->dtype == LB_F64 ? LB_F64 : LB_F32;
}

static bool state_init(lb_optimizer *o, int n, lb_tensor *const *params)
{
	size_t count = (size_t)n * (size_t)o->n_each;
	o->state = calloc(count + 1, sizeof *o->state);
	if (!o->state)
		return lb_fail("optimizer: out of memory for %d parameters", n);
	o->n = n;
	for (int i = 0; i < n * o->n_each; i++) {
		const struct lb_tensor *x = params[i / o->n_each];
		o->state[i] = lb_keep(lb_zeros(lb_shape_of(x), wide(x)));
		if (!o->state[i]) {
			drop_state(o);
			return false;
		}
	}
	return true;
}

int64_t lb_optimizer_steps(const lb_optimizer *o)
{
	return LB_GIVEN_HERE("optimizer_steps", o) ? o->steps : 0;
}

int lb_optimizer_state(const lb_optimizer *o, lb_tensor *const **ret)
{
	if (ret)
		*ret = o ? o->state : NULL;
	return LB_GIVEN_HERE("optimizer_state", o) && LB_GIVEN_HERE("optimizer_state", ret) ? o->n * o->n_each : 0;
}

bool lb_optimizer_restore(lb_optimizer *o, int64_t steps, int n, lb_tensor *const *state)
{
	LB_ENTER();
	if (!LB_GIVEN("optimizer_restore", o) || !LB_GIVEN_LIST("optimizer_restore", n, state))
		return false;
	if (steps < 0 || n < 0 || (o->n_each ? n % o->n_each : n) != 0)
		return lb_fail("optimizer: a state of %d tensor%s after %lld step%s is not what it saved: there are %d "
			       "for each parameter",
			       n, LB_S(n), (long long)steps, LB_S(steps), o->n_each);
	for (int i = 0; i < n; i++) {
		if (!state[i])
			return lb_fail_null_at("optimizer_restore", i, n);
		if (!lb_dtype_is_float(state[i]->dtype))
			return lb_fail("optimizer: state %d is %s; it must be floating", i,
				       lb_dtypes[state[i]->dtype].name);
	}
	struct lb_tensor **kept = NULL; /* without any, as before the first step */
	if (n && !(kept = calloc((size_t)n, sizeof *kept)))
		return lb_fail("optimizer: out of memory for %d tensors", n);
	for (int i = 0; i < n; i++)
		kept[i] = lb_keep(state[i]);
	drop_state(o); /* which `state` may be */
	o->state = kept;
	o->n = n ? n / o->n_each : 0;
	o->steps = steps;
	return true;
}

/* ---- one step ---- */

static struct lb_tensor *times(struct lb_tensor *x, double value)
{
	return lb_multiply(x, lb_scalar(value));
}

/* a x + b y */
static struct lb_tensor *mix(double a, struct lb_tensor *x, double b, struct lb_tensor *y)
{
	return lb_add(times(x, a), times(y, b));
}

static struct lb_tensor *sgd_step(const lb_sgd_options *o, struct lb_tensor *p, struct lb_tensor *g,
				  struct lb_tensor **state)
{
	if (o->weight_decay != 0)
		g = lb_add(g, times(p, o->weight_decay));
	if (o->momentum > 0) {
		state[0] = mix(o->momentum, state[0], 1 - o->dampening, g);
		g = o->nesterov ? lb_add(g, times(state[0], o->momentum)) : state[0];
	}
	return lb_subtract(p, times(g, o->rate));
}

static struct lb_tensor *adam_step(const lb_optimizer *opt, struct lb_tensor *p, struct lb_tensor *g,
				   struct lb_tensor **state)
{
	const lb_adam_options *o = &opt->adam;
	double t = (double)opt->steps + 1, rate = o->rate, scale = 1;
	if (opt->kind == ADAM && o->weight_decay != 0)
		g = lb_add(g, times(p, o->weight_decay));
	if (opt->kind == ADAMW && o->weight_decay != 0)
		p = times(p, 1 - o->rate * o->weight_decay);
	if (o->bias_correction) {
		rate /= 1 - pow(o->beta1, t);
		scale = 1 / sqrt(1 - pow(o->beta2, t));
	}
	state[0] = mix(o->beta1, state[0], 1 - o->beta1, g);
	state[1] = mix(o->beta2, state[1], 1 - o->beta2, lb_square(g));
	struct lb_tensor *size = lb_sqrt(state[1]);
	size = lb_add(scale == 1 ? size : times(size, scale), lb_scalar(o->eps));
	return lb_subtract(p, times(lb_divide(state[0], size), rate));
}

/* There are two lists of as many. */
static bool fail_null_in(const char *op, const char *list, int i)
{
	char argument[32];
	snprintf(argument, sizeof argument, "%s[%d]", list, i);
	return lb_fail_null(op, argument);
}

static bool check_parameters(const char *op, const lb_optimizer *o, int n, lb_tensor *const *params,
			     lb_tensor *const *grads)
{
	char tp[LB_SHAPE_TEXT], tg[LB_SHAPE_TEXT];
	if (!LB_GIVEN(op, o) || !LB_GIVEN(op, params) || !LB_GIVEN(op, grads))
		return false;
	if (n <= 0)
		return lb_fail("optimizer: %d parameter%s and their gradients are needed", n, LB_S(n));
	if (o->state && o->n_each && o->n != n)
		return lb_fail("optimizer: %d parameter%s, %d the time before", n, LB_S(n), o->n);
	for (int i = 0; i < n; i++) {
		const struct lb_tensor *p = params[i], *g = grads[i];
		if (!p || !g)
			return fail_null_in(op, p ? "grads" : "params", i);
		if (!lb_dtype_is_float(p->dtype) || !lb_dtype_is_float(g->dtype))
			return lb_fail("optimizer: parameter %d is %s and its gradient %s; both must be floating", i,
				       lb_dtypes[p->dtype].name, lb_dtypes[g->dtype].name);
		if (!lb_same_shape(p->rank, p->shape, g->rank, g->shape))
			return lb_fail("optimizer: parameter %d is %s, its gradient %s", i,
				       lb_shape_text(p->rank, p->shape, tp), lb_shape_text(g->rank, g->shape, tg));
		for (int k = 0; o->state && k < o->n_each; k++) {
			const struct lb_tensor *s = o->state[i * o->n_each + k];
			if (!lb_same_shape(p->rank, p->shape, s->rank, s->shape))
				return lb_fail("optimizer: parameter %d is %s, its state %s: parameters keep their "
					       "order and shapes",
					       i, lb_shape_text(p->rank, p->shape, tp),
					       lb_shape_text(s->rank, s->shape, tg));
		}
	}
	return true;
}

static int by_age(const void *left, const void *right)
{
	const struct lb_tensor *a = **(struct lb_tensor *const *const *)left;
	const struct lb_tensor *b = **(struct lb_tensor *const *const *)right;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Where each gradient stands in the list, the oldest first: what is made of them in that order is
 * evaluated in that order (eval/schedule.c). The caller frees it. */
static struct lb_tensor *const **in_order(int n, lb_tensor *const *grads)
{
	struct lb_tensor *const **list = malloc((size_t)n * sizeof *list);
	if (!list) {
		lb_fail("optimizer: out of memory for %d gradients", n);
		return NULL;
	}
	for (int i = 0; i < n; i++)
		list[i] = &grads[i];
	qsort(list, (size_t)n, sizeof *list, by_age);
	return list;
}

/* Parameter i after the step, and its state. */
static struct lb_tensor *step_one(const lb_optimizer *o, int i, struct lb_tensor *p, struct lb_tensor *g,
				  struct lb_tensor **state)
{
	lb_dtype dtype = wide(p);
	struct lb_tensor *x = lb_astype(p, dtype);
	g = lb_astype(g, dtype);
	for (int k = 0; k < o->n_each; k++)
		state[k] = o->state[i * o->n_each + k];
	x = o->kind == SGD ? sgd_step(&o->sgd, x, g, state) : adam_step(o, x, g, state);
	return x ? lb_astype(x, (lb_dtype)p->dtype) : NULL;
}

static bool update_all(const char *op, lb_optimizer *o, int n, lb_tensor **params, lb_tensor *const *grads,
		       const void *site)
{
	if (!check_parameters(op, o, n, params, grads) || (!o->state && !state_init(o, n, params)))
		return false;
	int each = 1 + o->n_each;
	lb_auto_free struct lb_tensor *const **order = in_order(n, grads);
	lb_auto_free struct lb_tensor **made = calloc((size_t)n * (size_t)each, sizeof *made);
	if (!order || !made)
		return lb_fail("optimizer: out of memory for %d parameters", n);
	bool ok = true;
	LB_SCOPE {
		size_t mark = lb_self()->n_items;
		for (int k = 0; k < n && ok; k++) {
			int i = (int)(order[k] - grads);
			struct lb_tensor **own = made + i * each;
			own[0] = step_one(o, i, params[i], grads[i], own + 1);
			ok = own[0] != NULL;
		}
		lb_made_for(mark, site, 0);
		for (int i = 0; i < n && ok; i++) {
			const char *name = lb_name(params[i]);
			lb_replace(&params[i], name ? lb_named(name, made[i * each]) : made[i * each]);
			for (int k = 0; k < o->n_each; k++)
				lb_replace(&o->state[i * o->n_each + k], made[i * each + 1 + k]);
		}
	}
	o->steps += ok;
	return ok;
}

bool lb_optimizer_update(lb_optimizer *o, int n, lb_tensor **params, lb_tensor *const *grads)
{
	LB_ENTER();
	return update_all("optimizer_update", o, n, params, grads, site);
}

bool lb_optimizer_step(lb_optimizer *o, int n, lb_tensor **params, lb_tensor *const *grads, lb_tensor *loss)
{
	LB_ENTER();
	if (!update_all("optimizer_step", o, n, params, grads, site))
		return false;
	lb_auto_free struct lb_tensor **roots = calloc((size_t)n + 1, sizeof *roots);
	if (!roots)
		return lb_fail("optimizer: out of memory for %d parameters", n);
	int n_roots = 0;
	if (loss)
		roots[n_roots++] = loss;
	for (int i = 0; i < n; i++)
		roots[n_roots++] = params[i];
	lb_fail_site(site);
	return lb_evaluate(n_roots, roots, site);
}

/* ---- clipping ---- */

bool lb_clip_by_global_norm(int n, lb_tensor *const *grads, double most, lb_tensor **clipped, lb_tensor **norm)
{
	LB_ENTER();
	if (!LB_GIVEN("clip_by_global_norm", grads) || !LB_GIVEN("clip_by_global_norm", clipped))
		return false;
	if (n <= 0 || !(most > 0))
		return lb_fail("clip_by_global_norm: %d gradient%s and a norm of %g: one at least is needed, and a "
			       "positive norm",
			       n, LB_S(n), most);
	for (int i = 0; i < n; i++) {
		if (!grads[i])
			return lb_fail_null_at("clip_by_global_norm", i, n);
	}
	lb_auto_free struct lb_tensor *const **order = in_order(n, grads);
	if (!order)
		return false;
	size_t mark = lb_self()->n_items;
	struct lb_tensor *sum = NULL;
	for (int i = 0; i < n; i++) {
		struct lb_tensor *d = lb_astype(*order[i], wide(*order[i]));
		struct lb_tensor *part = lb_sum(lb_square(d), LB_ALL_AXES, false);
		sum = sum ? lb_add(sum, part) : part;
	}
	struct lb_tensor *all = lb_sqrt(sum);
	struct lb_tensor *factor = lb_divide(lb_scalar(most), lb_add(all, lb_scalar(1e-6)));
	factor = lb_minimum(factor, lb_scalar(1));
	bool ok = factor != NULL;
	for (int i = 0; i < n && ok; i++) {
		struct lb_tensor *d = lb_multiply(grads[i], factor);
		clipped[i] = d ? lb_astype(d, (lb_dtype)grads[i]->dtype) : NULL;
		ok = clipped[i] != NULL;
	}
	lb_made_for(mark, site, 0);
	if (norm)
		*norm = ok ? all : NULL;
	return ok;
}
