/* Linear algebra. Where only a triangle is read, its elements alone have a gradient: one beside the diagonal stands for its
 * like on the other side, too. */
#include "grad/rule.h"

static struct lb_tensor *across(struct lb_tensor *x)
{
	return lb_swapaxes(x, -1, -2);
}

static struct lb_tensor *triangle(struct lb_tensor *x, bool upper)
{
	return upper ? lb_triu(x, 0) : lb_tril(x, 0);
}

static struct lb_tensor *adjoint(struct lb_tensor *x)
{
	return across(lb_conjugated(x));
}

/* x with its diagonal halved. */
static struct lb_tensor *halved_diagonal(struct lb_tensor *x)
{
	int64_t n = x ? x->shape[x->rank - 1] : 0;
	struct lb_tensor *diagonal = x ? lb_eye(n, n, 0, (enum lb_dtype)x->dtype) : NULL;
	return diagonal ? lb_subtract(x, lb_multiply(x, lb_multiply(diagonal, lb_scalar(0.5)))) : NULL;
}

/* Of the gradient by a symmetric matrix, or a Hermitian one, that by the triangle that was read. */
static struct lb_tensor *of_triangle(struct lb_tensor *d, bool upper)
{
	return d ? triangle(halved_diagonal(lb_add(d, adjoint(d))), upper) : NULL;
}

static struct lb_tensor *product(struct lb_tensor *a, struct lb_tensor *b, struct lb_tensor *c)
{
	return lb_matmul(lb_matmul(a, b), c);
}

/* t = x^-1: -t^T g t^T. */
bool lb_rule_inv(const struct lb_vjp *v)
{
	struct lb_tensor *other = across(v->t), *d = other ? lb_negative(product(other, v->g, other)) : NULL;
	if (d && v->t->op == LB_OP_TRI_INV)
		d = triangle(d, v->t->params[0] != 0);
	return lb_vjp_give(v, 0, d);
}

/* t = a^-1 b: c = a^-T g by b, -c t^T by a. */
bool lb_rule_solve(const struct lb_vjp *v)
{
	struct lb_tensor *a = lb_vjp_input(v, 0);
	bool is_triangular = v->t->op == LB_OP_SOLVE_TRIANGULAR, upper = v->t->params[0] != 0;
	struct lb_tensor *other = across(a);
	if (!other)
		return false;
	struct lb_tensor *c = is_triangular ? lb_solve_triangular(other, v->g, !upper) : lb_solve(other, v->g);
	if (!c || (lb_vjp_wants(v, 1) && !lb_vjp_give(v, 1, c)))
		return false;
	if (!lb_vjp_wants(v, 0))
		return true;
	struct lb_tensor *d = lb_negative(lb_matmul(c, across(v->t)));
	return lb_vjp_give(v, 0, d && is_triangular ? triangle(d, upper) : d);
}

/* Murray, "Differentiation of the Cholesky decomposition", 2016: L^-T P(L^T g) L^-1, made symmetric, where P is the lower
 * triangle with half of the diagonal. */
bool lb_rule_cholesky(const struct lb_vjp *v)
{
	bool upper = v->t->params[0] != 0;
	struct lb_tensor *l = upper ? across(v->t) : v->t, *g = upper ? across(v->g) : v->g;
	struct lb_tensor *inverse = l ? lb_tri_inv(l, false) : NULL;
	if (!g || !inverse)
		return false;
	struct lb_tensor *p = halved_diagonal(triangle(lb_matmul(across(l), triangle(g, false)), false));
	struct lb_tensor *d = p ? product(across(inverse), p, inverse) : NULL;
	d = d ? lb_multiply(lb_add(d, across(d)), lb_scalar(0.5)) : NULL;
	return lb_vjp_give(v, 0, of_triangle(d, upper));
}

/* One of the results that lie one after another, of x's batch axes and `rank` more of its size. */
static struct lb_tensor *part(struct lb_tensor *all, const struct lb_tensor *x, int rank, int64_t *offset)
{
	int64_t shape[LB_MAX_RANK], size = 1;
	for (int i = 0; i < x->rank - 2 + rank; i++) {
		shape[i] = x->shape[i];
		size *= shape[i];
	}
	int64_t from = *offset;
	*offset += size;
	return lb_reshape(lb_slice(all, LB_RANGE(from, from + size)), (lb_list){ x->rank - 2 + rank, shape });
}

/* Vectors v as columns: v (of the values on the diagonal, elsewhere v^H g / (value of the column - that of the row)) v^H. */
bool lb_rule_eigh(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0);
	int64_t at = 0, n = x->shape[x->rank - 1];
	struct lb_tensor *values = part(v->t, x, 1, &at), *vectors = part(v->t, x, 2, &at);
	at = 0;
	struct lb_tensor *of_values = part(v->g, x, 1, &at), *of_vectors = part(v->g, x, 2, &at);
	struct lb_tensor *diagonal = lb_eye(n, n, 0, (enum lb_dtype)x->dtype);
	if (!values || !vectors || !of_values || !of_vectors || !diagonal)
		return false;
	struct lb_tensor *apart = lb_subtract(lb_expand_dims(values, LB_AXES(-2)), lb_expand_dims(values, LB_AXES(-1)));
	struct lb_tensor *beside = lb_matmul(adjoint(vectors), of_vectors);
	beside = lb_divide(lb_multiply(beside, lb_subtract(lb_scalar(1), diagonal)), lb_add(apart, diagonal));
	struct lb_tensor *all = lb_add(beside, lb_multiply(diagonal, lb_expand_dims(of_values, LB_AXES(-1))));
	return lb_vjp_give(v, 0, of_triangle(product(vectors, all, adjoint(vectors)), v->t->params[0] != 0));
}

bool lb_rule_eigvalsh(const struct lb_vjp *v)
{
	lb_tensor *values, *vectors;
	bool upper = v->t->params[0] != 0;
	if (!lb_eigh(lb_vjp_input(v, 0), upper, &values, &vectors))
		return false;
	struct lb_tensor *scaled = lb_multiply(vectors, lb_expand_dims(v->g, LB_AXES(-2)));
	return lb_vjp_give(v, 0, of_triangle(lb_matmul(scaled, adjoint(vectors)), upper));
}

/* The determinant, or 1 for its logarithm, times x^-T. */
bool lb_rule_det(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0), *g;
	if (v->t->op == LB_OP_DET) {
		g = lb_multiply(v->g, v->t);
	} else {
		int64_t at = 0;
		part(v->g, x, 0, &at); /* the sign is flat */
		g = part(v->g, x, 0, &at);
	}
	g = g ? lb_expand_dims(g, LB_AXES(-1, -2)) : NULL;
	return g && lb_vjp_give(v, 0, lb_multiply(g, across(lb_inv(x))));
}

bool lb_rule_no_vectors(const struct lb_vjp *v)
{
	return lb_vjp_fail(v, "it has no gradient here (nor in MLX); lb_eigh(), lb_cholesky() and lb_solve() have one");
}
