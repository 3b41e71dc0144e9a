#include "grad/rule.h"

/* x where the condition holds, else 0. */
static struct lb_tensor *where(struct lb_tensor *condition, struct lb_tensor *x)
{
	return lb_where(condition, x, lb_scalar(0));
}

static struct lb_tensor *one_minus(struct lb_tensor *x)
{
	return lb_subtract(lb_scalar(1), x);
}

static struct lb_tensor *plus_one(struct lb_tensor *x)
{
	return lb_add(x, lb_scalar(1));
}

static struct lb_tensor *no_rule(int op)
{
	lb_fail("grad: %s has a rule in ops.def, and none here", lb_ops[op].name);
	return NULL;
}

/* The derivative of t = op(x) times g. */
static struct lb_tensor *unary(int op, struct lb_tensor *x, struct lb_tensor *t, struct lb_tensor *g)
{
	switch (op) {
	case LB_OP_NEGATIVE: return lb_negative(g);
	case LB_OP_ABS:
		return lb_where(lb_less(x, lb_scalar(0)), lb_negative(g),
				lb_where(lb_equal(x, lb_scalar(0)), lb_scalar(0), g));
	case LB_OP_EXP: return lb_multiply(g, t);
	case LB_OP_LOG: return lb_divide(g, x);
	case LB_OP_SQRT: return lb_divide(lb_scaled(g, 0.5), t);
	case LB_OP_RSQRT: return lb_multiply(lb_scaled(g, -0.5), lb_divide(t, x));
	case LB_OP_SIN: return lb_multiply(g, lb_cos(x));
	case LB_OP_COS: return lb_multiply(lb_negative(g), lb_sin(x));
	case LB_OP_TAN: return lb_multiply(g, plus_one(lb_square(t)));
	case LB_OP_ARCSIN: return lb_multiply(g, lb_rsqrt(one_minus(lb_square(x))));
	case LB_OP_ARCCOS: return lb_negative(lb_multiply(g, lb_rsqrt(one_minus(lb_square(x)))));
	case LB_OP_ARCTAN: return lb_divide(g, plus_one(lb_square(x)));
	case LB_OP_SINH: return lb_multiply(g, lb_cosh(x));
	case LB_OP_COSH: return lb_multiply(g, lb_sinh(x));
	case LB_OP_ARCSINH: return lb_multiply(g, lb_rsqrt(plus_one(lb_square(x))));
	case LB_OP_ARCCOSH:
		if (x->dtype == LB_C64) /* the root of the square is another one on the left */
			return lb_multiply(g,
					   lb_multiply(lb_rsqrt(lb_subtract(x, lb_scalar(1))), lb_rsqrt(plus_one(x))));
		return lb_multiply(g, lb_rsqrt(lb_subtract(lb_square(x), lb_scalar(1))));
	case LB_OP_ARCTANH: return lb_divide(g, one_minus(lb_square(x)));
	case LB_OP_EXPM1: return lb_multiply(g, plus_one(t));
	case LB_OP_LOG1P: return lb_divide(g, plus_one(x));
	case LB_OP_LOG2: /* 1 / ln(2) */ return lb_divide(lb_scaled(g, 1.44269504088896340736), x);
	case LB_OP_LOG10: return lb_divide(lb_scaled(g, 0.43429448190325182765), x);
	case LB_OP_ERFINV: /* sqrt(pi) / 2 */
		return lb_multiply(lb_scaled(g, 0.88622692545275801365), lb_exp(lb_square(t)));
	case LB_OP_TANH: return lb_multiply(g, one_minus(lb_square(t)));
	case LB_OP_SIGMOID: return lb_multiply(g, lb_multiply(t, one_minus(t)));
	case LB_OP_ERF: /* 2 / sqrt(pi) */
		return lb_multiply(lb_scaled(g, 1.12837916709551257390), lb_exp(lb_negative(lb_square(x))));
	case LB_OP_SQUARE: return lb_multiply(lb_scaled(g, 2), x);
	}
	return no_rule(op);
}

/* Of complex numbers with the conjugate of the derivative, where there is one. That of |x| is x / |x|. */
bool lb_rule_unary(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0);
	if (v->t->op == LB_OP_ABS && x->dtype == LB_C64)
		return lb_vjp_give(v, 0, lb_multiply(v->g, lb_sign(x)));
	return lb_vjp_give(v, 0, lb_conjugated(unary(v->t->op, x, v->t, lb_conjugated(v->g))));
}

/* lb_vjp_give() casts. */
bool lb_rule_identity(const struct lb_vjp *v)
{
	return lb_vjp_give(v, 0, v->g);
}

/* ---- complex numbers ---- */

/* i * g, but for the real part, that lb_vjp_give() has by itself. */
bool lb_rule_imag(const struct lb_vjp *v)
{
	return lb_vjp_give(v, 0, lb_multiply(v->g, lb_sqrt(lb_full(LB_SHAPE(), -1, LB_C64))));
}

bool lb_rule_conjugate(const struct lb_vjp *v)
{
	return lb_vjp_give(v, 0, lb_conjugate(v->g));
}

/* t = x / |x|: what of g is across it, over |x|. That of a real number is flat. */
bool lb_rule_sign(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0), *t = v->t;
	if (x->dtype != LB_C64)
		return true;
	struct lb_tensor *along = lb_multiply(t, lb_real(lb_multiply(v->g, lb_conjugate(t)))), *size = lb_abs(x);
	struct lb_tensor *is_zero = lb_equal(size, lb_scalar(0));
	struct lb_tensor *d = lb_divide(lb_subtract(v->g, along), lb_where(is_zero, lb_scalar(1), size));
	return lb_vjp_give(v, 0, lb_where(is_zero, lb_scalar(0), d));
}

/* ---- two operands ---- */

/* d(a^b)/da = b a^(b - 1), and 0 for b = 0 whatever a is. */
static struct lb_tensor *power_base(struct lb_tensor *a, struct lb_tensor *b, struct lb_tensor *g)
{
	if (b->op == LB_OP_SCALAR || b->op == LB_OP_FULL) {
		double p = lb_param_double(b, 0);
		return p == 0   ? lb_zeros_of(g)
		       : p == 1 ? g
		       : p == 2 ? lb_multiply(lb_scaled(g, 2), a)
				: lb_multiply(lb_scaled(g, p), lb_power(a, lb_scalar(p - 1)));
	}
	struct lb_tensor *less = lb_where(lb_equal(b, lb_scalar(0)), lb_scalar(1), lb_subtract(b, lb_scalar(1)));
	return lb_multiply(lb_multiply(g, b), lb_power(a, less));
}

/* d(a^b)/db = a^b log(a), and 0 for a = 0. */
static struct lb_tensor *power_exponent(struct lb_tensor *a, struct lb_tensor *t, struct lb_tensor *g)
{
	struct lb_tensor *log = lb_log(lb_where(lb_equal(a, lb_scalar(0)), lb_scalar(1), a));
	return lb_multiply(g, lb_multiply(t, log));
}

/* Where a is the one taken: ties share. `above` is lb_greater for the maximum. */
static struct lb_tensor *chosen(lb_tensor *(*above)(lb_tensor *, lb_tensor *), struct lb_tensor *a, struct lb_tensor *b,
				struct lb_tensor *g)
{
	return lb_where(above(a, b), g, where(lb_equal(a, b), lb_scaled(g, 0.5)));
}

/* g * x / (a^2 + b^2) */
static struct lb_tensor *turned(struct lb_tensor *x, struct lb_tensor *a, struct lb_tensor *b, struct lb_tensor *g)
{
	return lb_divide(lb_multiply(g, x), lb_add(lb_square(a), lb_square(b)));
}

static struct lb_tensor *for_left(int op, struct lb_tensor *a, struct lb_tensor *b, struct lb_tensor *g)
{
	switch (op) {
	case LB_OP_MULTIPLY: return lb_multiply(g, b);
	case LB_OP_DIVIDE: return lb_divide(g, b);
	case LB_OP_POWER: return power_base(a, b, g);
	case LB_OP_MAXIMUM: return chosen(lb_greater, a, b, g);
	case LB_OP_MINIMUM: return chosen(lb_less, a, b, g);
	case LB_OP_LOGADDEXP: return lb_multiply(g, lb_sigmoid(lb_subtract(a, b)));
	case LB_OP_ARCTAN2: return turned(b, a, b, g);
	case LB_OP_ADD:
	case LB_OP_SUBTRACT:
	case LB_OP_REMAINDER: return g;
	}
	return no_rule(op);
}

static struct lb_tensor *for_right(int op, struct lb_tensor *a, struct lb_tensor *b, struct lb_tensor *t,
				   struct lb_tensor *g)
{
	switch (op) {
	case LB_OP_SUBTRACT: return lb_negative(g);
	case LB_OP_MULTIPLY: return lb_multiply(g, a);
	case LB_OP_DIVIDE: return lb_negative(lb_divide(lb_multiply(g, t), b));
	case LB_OP_POWER: return power_exponent(a, t, g);
	case LB_OP_MAXIMUM: return chosen(lb_greater, b, a, g);
	case LB_OP_MINIMUM: return chosen(lb_less, b, a, g);
	case LB_OP_LOGADDEXP: return lb_multiply(g, lb_sigmoid(lb_subtract(b, a)));
	case LB_OP_ARCTAN2: return lb_negative(turned(a, a, b, g));
	case LB_OP_REMAINDER: /* a - b floor(a / b) */ return lb_negative(lb_multiply(g, lb_floor(lb_divide(a, b))));
	case LB_OP_ADD: return g;
	}
	return no_rule(op);
}

/* With conjugates as above. */
bool lb_rule_binary(const struct lb_vjp *v)
{
	int op = v->t->op;
	struct lb_tensor *a = lb_vjp_input(v, 0), *b = lb_vjp_input(v, 1), *g = lb_conjugated(v->g);
	return (!lb_vjp_wants(v, 0) || lb_vjp_give(v, 0, lb_conjugated(for_left(op, a, b, g)))) &&
	       (!lb_vjp_wants(v, 1) || lb_vjp_give(v, 1, lb_conjugated(for_right(op, a, b, v->t, g))));
}

/* ---- three ---- */

bool lb_rule_where(const struct lb_vjp *v)
{
	struct lb_tensor *condition = lb_vjp_input(v, 0);
	return (!lb_vjp_wants(v, 1) || lb_vjp_give(v, 1, where(condition, v->g))) &&
	       (!lb_vjp_wants(v, 2) || lb_vjp_give(v, 2, lb_where(condition, lb_scalar(0), v->g)));
}

/* minimum(maximum(x, low), high): the bounds themselves count as inside. */
bool lb_rule_clip(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0), *low = lb_vjp_input(v, 1), *high = lb_vjp_input(v, 2);
	struct lb_tensor *over = lb_logical_or(lb_greater(x, high), lb_less(high, low));
	struct lb_tensor *under = lb_logical_and(lb_less(x, low), lb_less_equal(low, high));
	return (!lb_vjp_wants(v, 0) || lb_vjp_give(v, 0, lb_where(lb_logical_or(over, under), lb_scalar(0), v->g))) &&
	       (!lb_vjp_wants(v, 1) || lb_vjp_give(v, 1, where(under, v->g))) &&
	       (!lb_vjp_wants(v, 2) || lb_vjp_give(v, 2, where(over, v->g)));
}
