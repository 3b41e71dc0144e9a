/* The operations on elements: which dtype they compute in, and the shape that their operands broadcast to. Each is a row,
 * UNARY or BINARY, with its rule. */
#include "graph/literal.h"
#include "graph/promote.h"
#include "graph/shape.h"
#include "ops/operation.h"
#include "ops/view.h"

/* What an operation takes and gives, besides promoting its operands to one dtype. */
enum rule {
	KEEP, /* result in the operands' dtype */
	NO_BOOL, /* likewise; bool is computed as i32, as a number beside it is */
	INEXACT, /* integers are computed as f32 */
	REAL_ONLY, /* KEEP, and complex has no such thing */
	REAL_NO_BOOL,
	REAL_INEXACT,
	COMPARE, /* bool of any */
	LOGICAL, /* operands as bool */
	BITS, /* integers, and bool */
	SHIFT, /* likewise; bool is computed as u8 */
};

/* The dtype in which operands of a dtype are computed; false where there is none. */
static inline bool computed_dtype(const char *name, enum rule rule, enum lb_dtype *dtype)
{
	if (rule == KEEP)
		return true;
	if ((rule == REAL_ONLY || rule == REAL_NO_BOOL || rule == REAL_INEXACT) && *dtype == LB_C64)
		return lb_fail("%s: not defined for complex64", name);
	if ((rule == BITS || rule == SHIFT) && lb_dtype_is_inexact(*dtype))
		return lb_fail("%s: not defined for %s", name, lb_dtypes[*dtype].name);
	if (rule == INEXACT || rule == REAL_INEXACT)
		*dtype = lb_inexact(*dtype);
	else if (rule == LOGICAL)
		*dtype = LB_BOOL;
	else if (rule == SHIFT && *dtype == LB_BOOL)
		*dtype = LB_U8;
	else if ((rule == NO_BOOL || rule == REAL_NO_BOOL) && *dtype == LB_BOOL)
		*dtype = LB_I32;
	return true;
}

static struct lb_tensor *unary(int op, enum rule rule, struct lb_tensor *x, const void *site)
{
	if (!LB_GIVEN(lb_ops[op].name, x))
		return NULL;
	enum lb_dtype dtype = (enum lb_dtype)x->dtype;
	if (!computed_dtype(lb_ops[op].name, rule, &dtype))
		return NULL;
	x = lb_as(x, dtype, site);
	if (!x)
		return NULL;
	if (rule == COMPARE)
		dtype = LB_BOOL;
	else if ((op == LB_OP_ABS || op == LB_OP_REAL || op == LB_OP_IMAG) && dtype == LB_C64)
		dtype = LB_F32;
	return lb_node(op, dtype, x->rank, x->shape, 1, &x, site);
}

#define UNARY(function, op, rule) \
	lb_tensor *function(lb_tensor *x) \
	{ \
		LB_ENTER(); \
		return unary(LB_OP_##op, rule, x, site); \
	}

UNARY(lb_negative, NEGATIVE, NO_BOOL)
UNARY(lb_abs, ABS, KEEP)
UNARY(lb_exp, EXP, INEXACT)
UNARY(lb_log, LOG, INEXACT)
UNARY(lb_sqrt, SQRT, INEXACT)
UNARY(lb_rsqrt, RSQRT, INEXACT)
UNARY(lb_sin, SIN, INEXACT)
UNARY(lb_cos, COS, INEXACT)
UNARY(lb_tanh, TANH, INEXACT)
UNARY(lb_tan, TAN, INEXACT)
UNARY(lb_arcsin, ARCSIN, INEXACT)
UNARY(lb_arccos, ARCCOS, INEXACT)
UNARY(lb_arctan, ARCTAN, INEXACT)
UNARY(lb_sinh, SINH, INEXACT)
UNARY(lb_cosh, COSH, INEXACT)
UNARY(lb_arcsinh, ARCSINH, INEXACT)
UNARY(lb_arccosh, ARCCOSH, INEXACT)
UNARY(lb_arctanh, ARCTANH, INEXACT)
UNARY(lb_expm1, EXPM1, REAL_INEXACT)
UNARY(lb_log1p, LOG1P, INEXACT)
UNARY(lb_log2, LOG2, INEXACT)
UNARY(lb_log10, LOG10, INEXACT)
UNARY(lb_erfinv, ERFINV, REAL_INEXACT)
UNARY(lb_sigmoid, SIGMOID, INEXACT)
UNARY(lb_erf, ERF, REAL_INEXACT)
UNARY(lb_square, SQUARE, KEEP)
UNARY(lb_sign, SIGN, KEEP)
UNARY(lb_floor, FLOOR, REAL_ONLY)
UNARY(lb_ceil, CEIL, REAL_ONLY)
UNARY(lb_round, ROUND, KEEP)
UNARY(lb_isnan, ISNAN, COMPARE)
UNARY(lb_isinf, ISINF, COMPARE)
UNARY(lb_isfinite, ISFINITE, COMPARE)
UNARY(lb_isposinf, ISPOSINF, COMPARE)
UNARY(lb_isneginf, ISNEGINF, COMPARE)
UNARY(lb_logical_not, LOGICAL_NOT, LOGICAL)
UNARY(lb_bitwise_invert, BITWISE_INVERT, BITS)

/* What c64 alone has something to do for. */
static struct lb_tensor *complex_unary(int op, struct lb_tensor *x, const void *site)
{
	if (!LB_GIVEN(lb_ops[op].name, x))
		return NULL;
	return x->dtype == LB_C64 ? unary(op, KEEP, x, site) : lb_untouched(x, site);
}

lb_tensor *lb_real(lb_tensor *x)
{
	LB_ENTER();
	return complex_unary(LB_OP_REAL, x, site);
}

lb_tensor *lb_conjugate(lb_tensor *x)
{
	LB_ENTER();
	return complex_unary(LB_OP_CONJUGATE, x, site);
}

lb_tensor *lb_imag(lb_tensor *x)
{
	LB_ENTER();
	if (!x || x->dtype == LB_C64)
		return complex_unary(LB_OP_IMAG, x, site);
	return lb_tensor_publish(lb_tensor_begin(LB_OP_FULL, (enum lb_dtype)x->dtype, x->rank, x->shape, 0, NULL,
						 site));
}

lb_tensor *lb_astype(lb_tensor *x, lb_dtype dtype)
{
	LB_ENTER();
	if (!LB_GIVEN("astype", x))
		return NULL;
	if ((unsigned)dtype >= LB_DTYPES) {
		lb_fail("astype: %d is not a dtype", (int)dtype);
		return NULL;
	}
	/* whoever asks for a dtype means it: the result is no longer weak */
	if ((enum lb_dtype)x->dtype == dtype && !(lb_tensor_flags(x) & LB_FLAG_WEAK))
		return lb_untouched(x, site);
	return lb_as_new(x, dtype, site);
}

static bool common_dtype(const char *name, struct lb_tensor *const *xs, enum lb_dtype *ret, const void *site)
{
	*ret = (enum lb_dtype)xs[0]->dtype;
	if (xs[0]->dtype == xs[1]->dtype && !lb_is_weak(xs[0]) && !lb_is_weak(xs[1]))
		return true;
	return lb_common_dtype(name, 2, xs, ret, site);
}

/* The dtype that comparisons are made in: an integer dtype can be compared with any integer. */
static bool compared_dtype(const char *name, struct lb_tensor *const *xs, enum lb_dtype *ret, const void *site)
{
	const struct lb_tensor *weak = lb_is_weak(xs[0]) ? xs[0] : xs[1], *x = weak == xs[0] ? xs[1] : xs[0];
	enum lb_dtype own = x->dtype == LB_BOOL ? LB_I32 : (enum lb_dtype)x->dtype;
	if (!lb_is_weak(weak) || lb_is_weak(x) || lb_literal_fits(weak, own))
		return lb_common_dtype(name, 2, xs, ret, site);
	*ret = x->dtype == LB_U64 ? LB_F64 : LB_I64; /* next to a negative number rounding changes nothing */
	return true;
}

/* `name` is the public function's, for errors. */
static struct lb_tensor *binary(const char *name, int op, enum rule rule, struct lb_tensor *a, struct lb_tensor *b,
				const void *site)
{
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b))
		return NULL;
	struct lb_tensor *xs[2] = { a, b };
	if (__builtin_expect(lb_is_weak(a) && lb_is_weak(b), 0)) {
		struct lb_tensor *folded = lb_literal_of(op, a, b, site);
		if (folded)
			return folded;
	}
	enum lb_dtype dtype;
	int rank = a->rank;
	int64_t together[LB_MAX_RANK];
	const int64_t *shape = a->shape;
	if (!lb_same_shape(a->rank, a->shape, b->rank, b->shape)) {
		if (!lb_broadcast(name, a->rank, a->shape, b->rank, b->shape, &rank, together))
			return NULL;
		shape = together;
	}
	if (!(rule == COMPARE ? compared_dtype(name, xs, &dtype, site) : common_dtype(name, xs, &dtype, site)) ||
	    !computed_dtype(name, rule, &dtype))
		return NULL;
	for (int i = 0; i < 2; i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		if (!xs[i])
			return NULL;
	}
	return lb_node(op, rule == COMPARE ? LB_BOOL : dtype, rank, shape, 2, xs, site);
}

#define BINARY(function, op, rule) \
	lb_tensor *function(lb_tensor *a, lb_tensor *b) \
	{ \
		LB_ENTER(); \
		return binary(lb_ops[LB_OP_##op].name, LB_OP_##op, rule, a, b, site); \
	}

BINARY(lb_add, ADD, KEEP)
BINARY(lb_subtract, SUBTRACT, NO_BOOL)
BINARY(lb_multiply, MULTIPLY, KEEP)
BINARY(lb_divide, DIVIDE, INEXACT)
BINARY(lb_power, POWER, NO_BOOL)
BINARY(lb_remainder, REMAINDER, REAL_NO_BOOL)
BINARY(lb_floor_divide, FLOOR_DIVIDE, REAL_NO_BOOL)
BINARY(lb_maximum, MAXIMUM, KEEP)
BINARY(lb_minimum, MINIMUM, KEEP)
BINARY(lb_logaddexp, LOGADDEXP, REAL_INEXACT)
BINARY(lb_arctan2, ARCTAN2, REAL_INEXACT)
BINARY(lb_bitwise_and, BITWISE_AND, BITS)
BINARY(lb_bitwise_or, BITWISE_OR, BITS)
BINARY(lb_bitwise_xor, BITWISE_XOR, BITS)
BINARY(lb_left_shift, LEFT_SHIFT, SHIFT)
BINARY(lb_right_shift, RIGHT_SHIFT, SHIFT)
BINARY(lb_equal, EQUAL, COMPARE)
BINARY(lb_not_equal, NOT_EQUAL, COMPARE)
BINARY(lb_less, LESS, COMPARE)
BINARY(lb_less_equal, LESS_EQUAL, COMPARE)
BINARY(lb_greater, GREATER, COMPARE)
BINARY(lb_greater_equal, GREATER_EQUAL, COMPARE)
BINARY(lb_logical_and, LOGICAL_AND, LOGICAL)
BINARY(lb_logical_or, LOGICAL_OR, LOGICAL)

/* Three operands in one shape, of which those from `first` on share a dtype. */
static struct lb_tensor *ternary(int op, int first, struct lb_tensor *xs[3], const void *site)
{
	enum lb_dtype dtype;
	int rank = 0;
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < 3; i++) {
		if (!lb_broadcast(lb_ops[op].name, rank, shape, xs[i]->rank, xs[i]->shape, &rank, shape))
			return NULL;
	}
	if (!lb_common_dtype(lb_ops[op].name, 3 - first, xs + first, &dtype, site))
		return NULL;
	for (int i = first; i < 3; i++) {
		xs[i] = lb_as(xs[i], dtype, site);
		if (!xs[i])
			return NULL;
	}
	return lb_node(op, dtype, rank, shape, 3, xs, site);
}

lb_tensor *lb_where(lb_tensor *condition, lb_tensor *a, lb_tensor *b)
{
	LB_ENTER();
	if (!LB_GIVEN("where", condition) || !LB_GIVEN("where", a) || !LB_GIVEN("where", b))
		return NULL;
	condition = lb_as(condition, LB_BOOL, site);
	if (!condition)
		return NULL;
	return ternary(LB_OP_WHERE, 1, (struct lb_tensor *[]){ condition, a, b }, site);
}

lb_tensor *lb_clip(lb_tensor *x, lb_tensor *low, lb_tensor *high)
{
	LB_ENTER();
	if (!LB_GIVEN("clip", x) || ((!low || !high) && !lb_ok()))
		return NULL; /* a bound that failed is not one left out */
	if (!low && !high) {
		if (lb_ok())
			lb_fail("clip: give a low bound, a high one, or both");
		return NULL;
	}
	if ((low && !(low = lb_literal_bound(low, x, false, site))) ||
	    (high && !(high = lb_literal_bound(high, x, true, site))))
		return NULL;
	if (!low || !high) /* one bound is a maximum or a minimum */
		return binary("clip", low ? LB_OP_MAXIMUM : LB_OP_MINIMUM, KEEP, x, low ? low : high, site);
	return ternary(LB_OP_CLIP, 0, (struct lb_tensor *[]){ x, low, high }, site);
}

struct lb_tensor *lb_remake_broadcast(const struct lb_recipe *r)
{
	int rank = 0;
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < r->n; i++) {
		if (!lb_broadcast(lb_ops[r->op].name, rank, shape, r->x[i]->rank, r->x[i]->shape, &rank, shape))
			return NULL;
	}
	struct lb_recipe own = *r;
	own.shape = (lb_list){ rank, shape };
	return lb_remake_as_is(&own);
}

/* Dtypes that no public function can have chosen are refused: those that the kernel does not know. */
struct lb_tensor *lb_remake_elementwise(const struct lb_recipe *r)
{
	int first = r->op == LB_OP_WHERE;
	bool fits = !first || r->x[0]->dtype == LB_BOOL;
	for (int i = first + 1; i < r->n; i++)
		fits = fits && r->x[i]->dtype == r->x[first]->dtype;
	fits = fits && lb_kernel_has(r->op, r->dtype, (enum lb_dtype)r->x[first]->dtype);
	return fits ? lb_remake_broadcast(r) : lb_senseless(r);
}
