/* Reductions over axes: sum, mean, max, min, prod, var, all, any, logsumexp. Each is one
 * or two folds (fold.h) and a last step an output. Sums and products of f16, bf16 and f32
 * are accumulated in double; variances take two passes, the mean first. */
#include <math.h>

#include "kernels/fold.h"

static const char *name_of(int op)
{
	return op >= 0 && op < LB_OPS ? lb_ops[op].name : "reduce";
}

static void *scratch_for(struct lb_exec *exec, int64_t n, int64_t bytes)
{
	int64_t total;
	if (!lb_mul(n, bytes, &total)) {
		lb_fail("reduce: %lld outputs are too many", (long long)n);
		return NULL;
	}
	return exec->scratch(exec, total > 0 ? total : 1);
}

/* The value that folds into nothing. */
static void set_identity(struct lb_folding *folding, int op)
{
	int acc = folding->fold->acc;
	memset(folding->identity, 0, sizeof folding->identity);
	switch (op) {
	case LB_OP_PROD:
	case LB_OP_ALL: lb_store_int(folding->identity, (enum lb_dtype)acc, 1); break;
	case LB_OP_MAX:
	case LB_OP_MIN: {
		double sign = op == LB_OP_MAX ? -1 : 1;
		if (acc == LB_F32 || acc == LB_F64) {
			lb_store_double(folding->identity, (enum lb_dtype)acc, sign * (double)INFINITY);
		} else if (acc == LB_C64) {
			float both[2] = { (float)sign * INFINITY, (float)sign * INFINITY };
			memcpy(folding->identity, both, sizeof both);
		} else if (acc == LB_BOOL) {
			folding->identity[0] = op == LB_OP_MIN;
		} else {
			/* all ones, or just the top bit, or all but that */
			bool is_signed = lb_dtype_is_signed_int(acc);
			int64_t bits = lb_width_of(acc) * 8;
			uint64_t ones = ~(uint64_t)0, top = (uint64_t)1 << (bits - 1);
			uint64_t value = op == LB_OP_MAX ? (is_signed ? top : 0) : is_signed ? top - 1 : ones;
			memcpy(folding->identity, &value, (size_t)lb_width_of(acc));
		}
		break;
	}
	}
}

struct reduction {
	int op;             /* of the fold */
	int dtype;          /* x's, or the one it is read as */
	const void *center;
	bool deviate, divide;
	double divisor;
	void *to;
	int to_dtype;
};

static bool reduce(struct lb_exec *exec, const struct lb_walk *walk, const struct reduction *how)
{
	const struct lb_tiles *tiles = lb_tiles();
	const struct lb_fold *fold = tiles->fold(how->op, how->dtype);
	struct lb_folding folding = { .walk = walk,
				      .tiles = tiles,
				      .fold = fold,
				      .center = how->center,
				      .deviate = how->deviate,
				      .divide = how->divide,
				      .divisor = how->divisor,
				      .to = how->to };
	int to = fold->unit == 2 && how->to_dtype == LB_C64 ? LB_F32 : how->to_dtype;
	folding.to_bytes = lb_width_of(to);
	set_identity(&folding, how->op);
	if (fold->stage != walk->dtype)
		folding.convert = tiles->convert(fold->stage, walk->dtype);
	if (how->center && !how->deviate)
		folding.exp = tiles->elementwise(LB_OP_EXP, fold->stage, fold->stage);
	if (fold->acc != to)
		folding.finish = tiles->convert(to, fold->acc);
	return lb_fold_run(exec, &folding);
}

static bool variance(struct lb_exec *exec, const struct lb_walk *walk, int64_t ddof, int dtype, void *to, int to_dtype)
{
	double *means = scratch_for(exec, walk->n_outputs, 8);
	double count = (double)walk->n_each, divisor = count - (double)ddof;
	return means &&
	       reduce(exec, walk,
		      &(struct reduction){ .op = LB_OP_SUM,
					   .dtype = dtype,
					   .divide = true,
					   .divisor = count,
					   .to = means,
					   .to_dtype = LB_F64 }) &&
	       reduce(exec, walk,
		      &(struct reduction){ .op = LB_OP_SUM,
					   .dtype = dtype,
					   .center = means,
					   .deviate = true,
					   .divide = true,
					   .divisor = divisor > 0 ? divisor : 0,
					   .to = to,
					   .to_dtype = to_dtype });
}

/* max + log(sum(exp(x - max))), with a max that is infinite taken as 0. */
static bool logsumexp(struct lb_exec *exec, const struct lb_walk *walk, int dtype, void *to, int to_dtype)
{
	int64_t n = walk->n_outputs;
	int stage = dtype == LB_F64 ? LB_F64 : LB_F32;
	char *tops = scratch_for(exec, n, lb_width_of(stage));
	double *sums = scratch_for(exec, n, 8);
	if (!tops || !sums ||
	    !reduce(exec, walk, &(struct reduction){ .op = LB_OP_MAX, .dtype = dtype, .to = tops, .to_dtype = stage }))
		return false;
	float *floats = (float *)(void *)tops;
	double *doubles = (double *)(void *)tops;
	for (int64_t i = 0; i < n; i++) {
		if (stage == LB_F32 && isinf(floats[i]))
			floats[i] = 0;
		if (stage == LB_F64 && isinf(doubles[i]))
			doubles[i] = 0;
	}
	if (!reduce(exec, walk,
		    &(struct reduction){
			.op = LB_OP_SUM, .dtype = dtype, .center = tops, .to = sums, .to_dtype = LB_F64 }))
		return false;
	for (int64_t i = 0; i < n; i++)
		sums[i] = (stage == LB_F32 ? (double)floats[i] : doubles[i]) + log(sums[i]);
	lb_tiles()->convert(to_dtype, LB_F64)(n, to, sums, NULL, NULL);
	return true;
}

/* Reductions of no elements. */
static bool of_nothing(struct lb_exec *exec, int op, int64_t n, void *to, enum lb_dtype to_dtype)
{
	_Alignas(8) char value[8] = { 0 };
	switch (op) {
	case LB_OP_MAX:
	case LB_OP_MIN: return lb_fail("%s: no elements along the reduced axes", name_of(op));
	case LB_OP_PROD:
	case LB_OP_ALL: lb_store_int(value, to_dtype, 1); break;
	case LB_OP_MEAN:
	case LB_OP_VAR: lb_store_double(value, to_dtype, (double)NAN); break;
	case LB_OP_LOGSUMEXP: lb_store_double(value, to_dtype, -(double)INFINITY); break;
	}
	return lb_kernel_fill(exec, to, to_dtype, n, value);
}

/* A few elements, each of which is all of its output: to plan that would be most of the work. */
static bool is_each_alone(int op, const struct lb_view *x, uint32_t mask, enum lb_dtype to_dtype, int64_t *n)
{
	enum { FEW = 64 };

	if ((op != LB_OP_SUM && op != LB_OP_MEAN && op != LB_OP_MAX && op != LB_OP_MIN && op != LB_OP_PROD) ||
	    x->dtype != LB_F32 || to_dtype != LB_F32 || x->rank < 0 || x->rank > LB_MAX_RANK || mask >> x->rank != 0)
		return false;
	*n = 1;
	for (int i = 0; i < x->rank; i++) {
		if (mask >> i & 1 && x->shape[i] != 1)
			return false;
		*n *= x->shape[i] < FEW ? x->shape[i] : FEW + 1;
		if (*n > FEW)
			return false;
	}
	return lb_is_dense(x->rank, x->shape, x->strides);
}

/* To the bits as the folds do it: a sum begins with 0, which makes 0 of -0; arithmetic makes a signalling NaN quiet. */
static void take_each(int op, const float *x, int64_t n, float *to)
{
	float first = op == LB_OP_PROD ? -0.0F : 0.0F;

	if (op == LB_OP_MAX || op == LB_OP_MIN)
		memcpy(to, x, (size_t)n * sizeof *to);
	else
		for (int64_t i = 0; i < n; i++)
			to[i] = first + x[i];
}

bool lb_kernel_reduce(struct lb_exec *exec, int op, const struct lb_view *x, uint32_t mask, int64_t ddof, void *to,
		      enum lb_dtype to_dtype)
{
	struct lb_walk walk;
	int64_t n;
	if (is_each_alone(op, x, mask, to_dtype, &n)) {
		take_each(op, x->data, n, to);
		return true;
	}
	if (!lb_walk_plan(&walk, x, mask))
		return false;
	if (walk.n_outputs == 0)
		return true;
	if (walk.n_each == 0)
		return of_nothing(exec, op, walk.n_outputs, to, to_dtype);
	int dtype = x->dtype;
	/* an f32 has 24 bits: sums of wider integers begin in double, so that what they have in common
	 * does not drown what they differ in */
	bool is_wide = dtype == LB_I32 || dtype == LB_U32 || dtype == LB_I64 || dtype == LB_U64;
	int floating = lb_dtype_is_inexact(dtype) ? dtype : is_wide && op != LB_OP_LOGSUMEXP ? LB_F64 : LB_F32;
	struct reduction how = { .op = op, .dtype = dtype, .to = to, .to_dtype = to_dtype };
	switch (op) {
	case LB_OP_SUM:
	case LB_OP_PROD:
	case LB_OP_MAX:
	case LB_OP_MIN:
	case LB_OP_ALL:
	case LB_OP_ANY: return reduce(exec, &walk, &how);
	case LB_OP_MEAN:
		how.op = LB_OP_SUM;
		how.dtype = floating;
		how.divide = true;
		how.divisor = (double)walk.n_each;
		return reduce(exec, &walk, &how);
	case LB_OP_VAR:
	case LB_OP_LOGSUMEXP:
		if (dtype == LB_C64)
			return lb_fail("%s: not defined for complex64", name_of(op));
		return op == LB_OP_VAR ? variance(exec, &walk, ddof, floating, to, to_dtype)
				       : logsumexp(exec, &walk, floating, to, to_dtype);
	default: return lb_fail("reduce: %s is not a reduction over axes", name_of(op));
	}
}
