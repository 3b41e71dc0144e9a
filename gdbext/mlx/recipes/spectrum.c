/* Discrete Fourier transforms, as products by cosines and sines in float64. That takes n^2 steps an axis, which for frames of sound
 * and of pictures is nothing; what is longer than some thousands is refused. */
#include <math.h>

#include "base/error.h"
#include "mlx/recipe.h"

enum { LONGEST = 4096 };

/* Complex numbers of one shape, in float64. */
struct parts {
	int real, imaginary; /* LBX_FAIL: there is none, all are real */
	int rank;
	int64_t shape[LB_MAX_RANK];
};

/* (rows, columns) of 2 pi row column / n, reduced before, so that nothing is lost. */
static int angles(struct lbx_recipe *r, int64_t rows, int64_t columns, int64_t n)
{
	int row = lbx_step_reshape(r, lbx_step_cast(r, lbx_step_arange(r, rows), LB_F64), 2, (int64_t[]){ rows, 1 }),
	    column = lbx_step_reshape(r, lbx_step_cast(r, lbx_step_arange(r, columns), LB_F64), 2,
				      (int64_t[]){ 1, columns });
	int turns = lbx_step_with(r, LB_OP_REMAINDER, lbx_step_binary(r, LB_OP_MULTIPLY, row, column), (double)n);

	return lbx_step_with(r, LB_OP_MULTIPLY, turns, 2 * M_PI / (double)n);
}

/* Along an axis, which the matrix makes longer or shorter. */
static int product(struct lbx_recipe *r, const struct parts *p, int x, int axis, int matrix)
{
	int order[LB_MAX_RANK], back[LB_MAX_RANK];
	int64_t lead = 1, shape[LB_MAX_RANK];

	if (x == LBX_FAIL || matrix == LBX_FAIL)
		return LBX_FAIL;
	int64_t columns = lbx_step(r, matrix)->shape[1];
	for (int i = 0; i < p->rank; i++) {
		order[i] = i < axis ? i : i + 1 < p->rank ? i + 1 : axis;
		back[order[i]] = i;
		shape[i] = i + 1 < p->rank ? p->shape[order[i]] : columns;
		lead *= i + 1 < p->rank ? shape[i] : 1;
	}
	x = lbx_step_dense(r, lbx_step_permute(r, x, order));
	x = lbx_step_reshape(r, x, 2, (int64_t[]){ lead, p->shape[axis] });
	x = lbx_step_reshape(r, lbx_step_matmul(r, x, lbx_step_dense(r, matrix)), p->rank, shape);
	return lbx_step_permute(r, x, back);
}

/* a + sign b, either of which may be missing. */
static int sum(struct lbx_recipe *r, int a, int sign, int b)
{
	if (b == LBX_FAIL)
		return a;
	if (a == LBX_FAIL)
		return sign > 0 ? b : lbx_step_unary(r, LB_OP_NEGATIVE, b);
	return lbx_step_binary(r, sign > 0 ? LB_OP_ADD : LB_OP_SUBTRACT, a, b);
}

/* x_k = sum of x_j exp(-+ 2 pi i j k / n), for the first `kept` k; inverse: 1/n of it. */
static void transform(struct lbx_recipe *r, struct parts *p, int axis, bool inverse, int64_t kept)
{
	int64_t n = p->shape[axis];
	int turns = angles(r, n, kept, n), sign = inverse ? -1 : 1, scale = inverse ? 1 : 0;
	int cosines = lbx_step_unary(r, LB_OP_COS, turns), sines = lbx_step_unary(r, LB_OP_SIN, turns);

	if (scale) {
		cosines = lbx_step_with(r, LB_OP_DIVIDE, cosines, (double)n);
		sines = lbx_step_with(r, LB_OP_DIVIDE, sines, (double)n);
	}
	bool is_real = p->imaginary == LBX_FAIL;
	int real = product(r, p, p->real, axis, cosines), crossed = product(r, p, p->real, axis, sines);
	if (!is_real) {
		real = sum(r, real, sign, product(r, p, p->imaginary, axis, sines));
		crossed = sum(r, product(r, p, p->imaginary, axis, cosines), -sign, crossed);
	} else if (sign > 0) {
		crossed = lbx_step_unary(r, LB_OP_NEGATIVE, crossed);
	}
	p->real = real;
	p->imaginary = crossed;
	p->shape[axis] = kept;
}

/* Of one half of a spectrum whose other half mirrors it, the n real numbers that have it. */
static void to_real(struct lbx_recipe *r, struct parts *p, int axis, int64_t n)
{
	float weights[LONGEST / 2 + 1];
	int64_t half = p->shape[axis];

	for (int64_t k = 0; k < half; k++)
		weights[k] = k == 0 || 2 * k == n ? 1 : 2;
	int weight = lbx_step_cast(r, lbx_step_constant(r, weights, half), LB_F64);
	weight = lbx_step_with(r, LB_OP_DIVIDE, lbx_step_reshape(r, weight, 2, (int64_t[]){ half, 1 }), (double)n);
	int turns = angles(r, half, n, n);
	int cosines = lbx_step_binary(r, LB_OP_MULTIPLY, lbx_step_unary(r, LB_OP_COS, turns), weight),
	    sines = lbx_step_binary(r, LB_OP_MULTIPLY, lbx_step_unary(r, LB_OP_SIN, turns), weight);

	p->real = sum(r, product(r, p, p->real, axis, cosines), -1, product(r, p, p->imaginary, axis, sines));
	p->imaginary = LBX_FAIL;
	p->shape[axis] = n;
}

static bool take_axes(const struct lbx_mlx_node *n, const struct lbx_step *x, int *count, int64_t axes[LB_MAX_RANK])
{
	uint32_t seen = 0;

	if (!lbx_mlx_words(n, LBX_MLX_OWN_WORDS, count, axes))
		return false;
	bool ok = *count >= 1 && x->rank == n->record.rank && x->rank < LB_MAX_RANK;
	for (int i = 0; ok && i < *count; i++) {
		ok = axes[i] >= 0 && axes[i] < x->rank && !(seen >> axes[i] & 1);
		seen |= ok ? 1u << axes[i] : 0;
		ok = ok && x->shape[axes[i]] >= 1 && x->shape[axes[i]] <= LONGEST && n->record.sizes[axes[i]] >= 1 &&
		     n->record.sizes[axes[i]] <= LONGEST;
	}
	for (int i = 0; ok && i < x->rank; i++)
		ok = x->shape[i] >= 1 && (seen >> i & 1 || x->shape[i] == n->record.sizes[i]);
	return ok || lbx_mlx_no_recipe(n, "such axes") != LBX_FAIL;
}

/* Whether the last of the axes has the sizes that the kind of the transform makes; the others keep theirs. */
static bool fits(const struct lbx_mlx_node *n, const struct lbx_step *x, int count, const int64_t *axes, bool inverse,
		 bool real)
{
	int64_t last = axes[count - 1], from = x->shape[last], to = n->record.sizes[last];
	bool ok = !real     ? from == to && x->dtype == LB_C64 && n->record.dtype == LB_C64
		  : inverse ? from == to / 2 + 1 && x->dtype == LB_C64 && n->record.dtype == LB_F32
			    : to == from / 2 + 1 && x->dtype == LB_F32 && n->record.dtype == LB_C64;

	for (int i = 0; ok && i + 1 < count; i++)
		ok = x->shape[axes[i]] == n->record.sizes[axes[i]];
	return ok || lbx_mlx_no_recipe(n, "such shapes or dtypes") != LBX_FAIL;
}

static struct parts parts_of(const struct lbx_mlx_node *n, int x)
{
	struct lbx_step s = *lbx_step(n->r, x);
	struct parts p = { x, LBX_FAIL, s.rank, { 0 } };

	for (int i = 0; i < s.rank; i++)
		p.shape[i] = s.shape[i];
	if (s.dtype == LB_C64) {
		p.real = lbx_step_reshape(n->r, lbx_mlx_part(n, x, 0), s.rank, s.shape);
		p.imaginary =
		    lbx_step_cast(n->r, lbx_step_reshape(n->r, lbx_mlx_part(n, x, 1), s.rank, s.shape), LB_F64);
	}
	p.real = lbx_step_cast(n->r, p.real, LB_F64);
	return p;
}

static int single(const struct lbx_mlx_node *n, const struct parts *p, int part)
{
	int64_t shape[LB_MAX_RANK];

	for (int i = 0; i < p->rank; i++)
		shape[i] = p->shape[i];
	shape[p->rank] = 1;
	return lbx_step_reshape(n->r, lbx_step_cast(n->r, part, LB_F32), p->rank + 1, shape);
}

int lbx_mlx_recipe_fft(struct lbx_mlx_node *n)
{
	int x = lbx_mlx_input(n, 0), count;
	int64_t axes[LB_MAX_RANK];
	bool inverse, real;
	uint32_t behind = LBX_MLX_OWN_WORDS + LBX_MLX_VECTOR;

	if (x == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step from = *lbx_step(n->r, x);
	if (!take_axes(n, &from, &count, axes) || !lbx_mlx_flag(n, behind, &inverse) ||
	    !lbx_mlx_flag(n, behind + 1, &real) || !fits(n, &from, count, axes, inverse, real))
		return LBX_FAIL;
	struct parts p = parts_of(n, x);
	int64_t last = axes[count - 1];
	if (!(real && inverse))
		transform(n->r, &p, (int)last, inverse, n->record.sizes[last]);
	for (int i = 0; i + 1 < count; i++)
		transform(n->r, &p, (int)axes[i], inverse, p.shape[axes[i]]);
	if (real && inverse)
		to_real(n->r, &p, (int)last, n->record.sizes[last]);
	if (p.real == LBX_FAIL)
		return LBX_FAIL;
	if (real && inverse)
		return lbx_step_cast(n->r, lbx_step_dense(n->r, p.real), LB_F32);
	return lbx_mlx_complex(n, single(n, &p, p.real), single(n, &p, p.imaginary), p.rank, p.shape);
}
