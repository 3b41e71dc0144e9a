#include "inspect/formula/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/formula/value.h"
#include "inspect/tensor/format.h"

/* ---- numbers and steps ---- */

bool lbx_formula_take(struct lbx_formula_build *b, int at, int step, struct lbx_formula_value *ret)
{
	*ret = (struct lbx_formula_value){ .step = step };
	return step != LBX_FAIL || lbx_formula_fail_at(b->tree, at);
}

static enum lb_dtype dtype_of(const struct lbx_formula_build *b, const struct lbx_formula_value *x)
{
	return x->is_number ? (x->is_whole ? LB_I32 : LB_F32) : lbx_formula_step(b, x)->dtype;
}

/* The number with a dtype, as a tensor of no axes. */
static bool make(struct lbx_formula_build *b, struct lbx_formula_value *x, enum lb_dtype dtype)
{
	if (x->is_number)
		*x = (struct lbx_formula_value){ .step = lbx_step_number(b->r, dtype, x->number) };
	return x->step != LBX_FAIL;
}

bool lbx_formula_make_tensor(struct lbx_formula_build *b, struct lbx_formula_value *x)
{
	bool is_large = x->is_number && x->is_whole && fabs(x->number) > INT32_MAX;

	return make(b, x, is_large ? LB_I64 : dtype_of(b, x));
}

bool lbx_formula_tensor_of(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	return lbx_formula_value_of(b, node, ret) && lbx_formula_make_tensor(b, ret);
}

bool lbx_formula_cast(struct lbx_formula_build *b, struct lbx_formula_value *x, enum lb_dtype dtype)
{
	if (x->is_number)
		return make(b, x, dtype);
	x->step = lbx_step_cast(b->r, x->step, dtype);
	return x->step != LBX_FAIL;
}

/* ---- dtypes: as runtime/ops/elementwise.c has them ---- */

static enum lb_dtype inexact(enum lb_dtype dtype)
{
	return lb_dtype_is_inexact(dtype) ? dtype : LB_F32;
}

static bool compares(int op)
{
	return op >= LB_OP_EQUAL && op <= LB_OP_GREATER_EQUAL;
}

/* Of several: numbers are no wider than they must be. */
static enum lb_dtype common(const struct lbx_formula_build *b, int n, const struct lbx_formula_value *x)
{
	enum lb_dtype dtype = LB_BOOL;
	bool any = false, has_point = false, has_whole = false;

	for (int i = 0; i < n; i++) {
		has_point |= x[i].is_number && !x[i].is_whole;
		has_whole |= x[i].is_number && x[i].is_whole;
		if (x[i].is_number)
			continue;
		dtype = any ? lb_dtype_promoted(dtype, dtype_of(b, &x[i])) : dtype_of(b, &x[i]);
		any = true;
	}
	if (has_point)
		return any ? inexact(dtype) : LB_F32;
	return has_whole && (!any || dtype == LB_BOOL) ? LB_I32 : dtype;
}

/* Whether a whole number is one of the dtype's; a comparison with another goes by a wider one. */
static bool holds(enum lb_dtype dtype, double number)
{
	static const struct {
		double low, high;
	} ranges[] = {
		[LB_BOOL] = { 0, 1 },
		[LB_U8] = { 0, UINT8_MAX },
		[LB_U16] = { 0, UINT16_MAX },
		[LB_U32] = { 0, UINT32_MAX },
		[LB_U64] = { 0, 0x1p64 },
		[LB_I8] = { INT8_MIN, INT8_MAX },
		[LB_I16] = { INT16_MIN, INT16_MAX },
		[LB_I32] = { INT32_MIN, INT32_MAX },
		[LB_I64] = { -0x1p63, 0x1p63 },
	};

	return dtype >= (enum lb_dtype)(sizeof ranges / sizeof *ranges) || dtype > LB_I64 ||
	       (number >= ranges[dtype].low && number <= ranges[dtype].high);
}

static enum lb_dtype wide_enough(enum lb_dtype dtype, int n, const struct lbx_formula_value *x)
{
	for (int i = 0; i < n; i++)
		if (x[i].is_number && x[i].is_whole && !holds(dtype, x[i].number))
			return dtype == LB_U64 ? LB_F64 : LB_I64;
	return dtype;
}

static bool fails_dtype(const struct lbx_formula_build *b, int at, const char *name, enum lb_dtype dtype)
{
	return lbx_formula_fail(b->tree, at, "%s: not defined for %s", name, lbx_dtype_name(dtype));
}

/* In which it is computed. */
static bool computed(const struct lbx_formula_build *b, int at, const char *name, int op, enum lb_dtype *dtype)
{
	switch (op) {
	case LB_OP_EXP:
	case LB_OP_LOG:
	case LB_OP_SQRT:
	case LB_OP_RSQRT:
	case LB_OP_SIN:
	case LB_OP_COS:
	case LB_OP_TANH:
	case LB_OP_TAN:
	case LB_OP_ARCSIN:
	case LB_OP_ARCCOS:
	case LB_OP_ARCTAN:
	case LB_OP_SINH:
	case LB_OP_COSH:
	case LB_OP_ARCSINH:
	case LB_OP_ARCCOSH:
	case LB_OP_ARCTANH:
	case LB_OP_LOG1P:
	case LB_OP_LOG2:
	case LB_OP_LOG10:
	case LB_OP_SIGMOID:
	case LB_OP_DIVIDE: *dtype = inexact(*dtype); return true;
	case LB_OP_ERF:
	case LB_OP_ERFINV:
	case LB_OP_EXPM1:
	case LB_OP_ARCTAN2:
	case LB_OP_LOGADDEXP: *dtype = inexact(*dtype); break;
	case LB_OP_NEGATIVE:
	case LB_OP_SUBTRACT:
	case LB_OP_POWER: *dtype = *dtype == LB_BOOL ? LB_I32 : *dtype; return true;
	case LB_OP_FLOOR_DIVIDE:
	case LB_OP_REMAINDER: *dtype = *dtype == LB_BOOL ? LB_I32 : *dtype; break;
	case LB_OP_LOGICAL_NOT:
	case LB_OP_LOGICAL_AND:
	case LB_OP_LOGICAL_OR: *dtype = LB_BOOL; return true;
	case LB_OP_LEFT_SHIFT:
	case LB_OP_RIGHT_SHIFT: *dtype = *dtype == LB_BOOL ? LB_I32 : *dtype; /* fall through */
	case LB_OP_BITWISE_INVERT:
	case LB_OP_BITWISE_AND:
	case LB_OP_BITWISE_OR:
	case LB_OP_BITWISE_XOR: return !lb_dtype_is_inexact(*dtype) || fails_dtype(b, at, name, *dtype);
	case LB_OP_FLOOR:
	case LB_OP_CEIL:
	case LB_OP_ROUND:
	case LB_OP_MAXIMUM:
	case LB_OP_MINIMUM:
	case LB_OP_CLIP: break;
	default: return true;
	}
	return *dtype != LB_C64 || fails_dtype(b, at, name, *dtype);
}

/* ---- elementwise ---- */

static bool fail_shapes(const struct lbx_formula_build *b, int at, const char *name, const struct lbx_step *x,
			const struct lbx_step *y, const char *what)
{
	char first[LBX_LIST_MAX], second[LBX_LIST_MAX];

	lbx_format_list(x->shape, x->rank, first, sizeof first);
	lbx_format_list(y->shape, y->rank, second, sizeof second);
	return lbx_formula_fail(b->tree, at, "%s: %s and %s %s", name, first, second, what);
}

static bool check_broadcast(const struct lbx_formula_build *b, int at, const char *name, int n,
			    const struct lbx_formula_value *x)
{
	for (int i = 1; i < n; i++) {
		for (int k = 0; k < i; k++) {
			const struct lbx_step *one = lbx_formula_step(b, &x[k]), *other = lbx_formula_step(b, &x[i]);
			for (int axis = 1; axis <= one->rank && axis <= other->rank; axis++) {
				int64_t p = one->shape[one->rank - axis], q = other->shape[other->rank - axis];
				if (p != q && p != 1 && q != 1)
					return fail_shapes(b, at, name, one, other, "do not broadcast");
			}
		}
	}
	return true;
}

static bool fold(int op, double x, double y, double *ret)
{
	switch (op) {
	case LB_OP_ADD: *ret = x + y; return true;
	case LB_OP_SUBTRACT: *ret = x - y; return true;
	case LB_OP_MULTIPLY: *ret = x * y; return true;
	case LB_OP_DIVIDE: *ret = x / y; return true;
	case LB_OP_FLOOR_DIVIDE: *ret = floor(x / y); return true;
	case LB_OP_REMAINDER:
		*ret = fmod(x, y);
		*ret += *ret * y < 0 ? y : 0;
		return true;
	case LB_OP_POWER: *ret = pow(x, y); return true;
	default: return false;
	}
}

bool lbx_formula_elementwise(struct lbx_formula_build *b, int at, const char *name, int op, int n,
			     const struct lbx_formula_value *given, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x[3];
	int first = op == LB_OP_WHERE, step;
	double number;

	memcpy(x, given, (size_t)n * sizeof *x);
	if (n == 2 && x[0].is_number && x[1].is_number && fold(op, x[0].number, x[1].number, &number)) {
		bool is_whole = x[0].is_whole && x[1].is_whole && op != LB_OP_DIVIDE && number == floor(number) &&
				fabs(number) <= LBX_FORMULA_WHOLE;
		*ret = (struct lbx_formula_value){ .is_number = true, .is_whole = is_whole, .number = number };
		return true;
	}
	enum lb_dtype dtype = common(b, n - first, x + first);
	if (compares(op))
		dtype = wide_enough(dtype, n, x);
	if (!computed(b, at, name, op, &dtype))
		return false;
	for (int i = first; i < n; i++)
		if (x[i].is_number && x[i].is_whole && !holds(dtype, x[i].number))
			return lbx_formula_fail(b->tree, at, "%s: %.0f is no value of %s", name, x[i].number,
						lbx_dtype_name(dtype));
	for (int i = 0; i < n; i++)
		if (!lbx_formula_cast(b, &x[i], i < first ? LB_BOOL : dtype))
			return lbx_formula_take(b, at, LBX_FAIL, ret);
	if (!check_broadcast(b, at, name, n, x))
		return false;
	step = n == 1   ? lbx_step_unary(b->r, op, x[0].step)
	       : n == 2 ? lbx_step_binary(b->r, op, x[0].step, x[1].step)
	       : first  ? lbx_step_where(b->r, x[0].step, x[1].step, x[2].step)
			: LBX_FAIL;
	if (step != LBX_FAIL && op == LB_OP_ABS && dtype == LB_C64)
		b->r->steps[step].dtype = LB_F32;
	return lbx_formula_take(b, at, step, ret);
}

bool lbx_formula_multiply(struct lbx_formula_build *b, int at, const struct lbx_formula_value *given_x,
			  const struct lbx_formula_value *given_y, struct lbx_formula_value *ret)
{
	struct lbx_formula_value x[2] = { *given_x, *given_y };
	int64_t shape[LB_MAX_RANK];

	if (x[0].is_number || x[1].is_number || !lbx_formula_step(b, &x[0])->rank || !lbx_formula_step(b, &x[1])->rank)
		return lbx_formula_fail(b->tree, at,
					"@: a product of matrices has axes on both sides; * is by element");
	enum lb_dtype dtype = inexact(common(b, 2, x));
	for (int i = 0; i < 2; i++)
		if (!lbx_formula_cast(b, &x[i], dtype))
			return lbx_formula_take(b, at, LBX_FAIL, ret);
	bool is_row = lbx_formula_step(b, &x[0])->rank == 1, is_column = lbx_formula_step(b, &x[1])->rank == 1;
	if (is_row)
		x[0].step =
		    lbx_step_reshape(b->r, x[0].step, 2, (int64_t[]){ 1, lbx_formula_step(b, &x[0])->shape[0] });
	if (is_column)
		x[1].step =
		    lbx_step_reshape(b->r, x[1].step, 2, (int64_t[]){ lbx_formula_step(b, &x[1])->shape[0], 1 });
	struct lbx_step p = *lbx_formula_step(b, &x[0]), q = *lbx_formula_step(b, &x[1]);
	if (p.shape[p.rank - 1] != q.shape[q.rank - 2])
		return fail_shapes(b, at, "@", &p, &q,
				   "do not go together: the last axis of the first is the last but one of the second");
	for (int axis = 3; axis <= p.rank && axis <= q.rank; axis++)
		if (p.shape[p.rank - axis] != q.shape[q.rank - axis] && p.shape[p.rank - axis] != 1 &&
		    q.shape[q.rank - axis] != 1)
			return fail_shapes(b, at, "@", &p, &q, "do not broadcast");
	int step = lbx_step_matmul(b->r, x[0].step, x[1].step);
	if (step != LBX_FAIL && (is_row || is_column)) { /* without the axes that were added */
		struct lbx_step s = *lbx_step(b->r, step);
		int rank = 0;
		for (int i = 0; i < s.rank; i++)
			if (!(is_row && i == s.rank - 2) && !(is_column && i == s.rank - 1))
				shape[rank++] = s.shape[i];
		step = lbx_step_reshape(b->r, step, rank, shape);
	}
	return lbx_formula_take(b, at, step, ret);
}

static bool is_bool(const struct lbx_formula_build *b, const struct lbx_formula_value *x)
{
	return !x->is_number && lbx_formula_step(b, x)->dtype == LB_BOOL;
}

static bool binary(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	static const struct {
		const char *name;
		int op, of_bool;
	} rows[] = {
		[LBX_PLUS] = { "+", LB_OP_ADD, LB_OP_ADD },
		[LBX_MINUS] = { "-", LB_OP_SUBTRACT, LB_OP_SUBTRACT },
		[LBX_TIMES] = { "*", LB_OP_MULTIPLY, LB_OP_MULTIPLY },
		[LBX_OVER] = { "/", LB_OP_DIVIDE, LB_OP_DIVIDE },
		[LBX_FLOOR_OVER] = { "//", LB_OP_FLOOR_DIVIDE, LB_OP_FLOOR_DIVIDE },
		[LBX_MODULO] = { "%", LB_OP_REMAINDER, LB_OP_REMAINDER },
		[LBX_TO_THE] = { "**", LB_OP_POWER, LB_OP_POWER },
		[LBX_AND] = { "&", LB_OP_BITWISE_AND, LB_OP_LOGICAL_AND },
		[LBX_OR] = { "|", LB_OP_BITWISE_OR, LB_OP_LOGICAL_OR },
		[LBX_XOR] = { "^", LB_OP_BITWISE_XOR, LB_OP_NOT_EQUAL },
		[LBX_SHIFT_LEFT] = { "<<", LB_OP_LEFT_SHIFT, LB_OP_LEFT_SHIFT },
		[LBX_SHIFT_RIGHT] = { ">>", LB_OP_RIGHT_SHIFT, LB_OP_RIGHT_SHIFT },
		[LBX_IS_EQUAL] = { "==", LB_OP_EQUAL, LB_OP_EQUAL },
		[LBX_IS_NOT_EQUAL] = { "!=", LB_OP_NOT_EQUAL, LB_OP_NOT_EQUAL },
		[LBX_IS_LESS] = { "<", LB_OP_LESS, LB_OP_LESS },
		[LBX_IS_LESS_OR_EQUAL] = { "<=", LB_OP_LESS_EQUAL, LB_OP_LESS_EQUAL },
		[LBX_IS_GREATER] = { ">", LB_OP_GREATER, LB_OP_GREATER },
		[LBX_IS_GREATER_OR_EQUAL] = { ">=", LB_OP_GREATER_EQUAL, LB_OP_GREATER_EQUAL },
	};
	const struct lbx_formula_node *n = &b->tree->nodes[node];
	struct lbx_formula_value x[2];

	for (int i = 0; i < 2; i++)
		if (!lbx_formula_value_of(b, lbx_formula_child(b->tree, node, i), &x[i]))
			return false;
	if (n->op == LBX_MATRIX_TIMES)
		return lbx_formula_multiply(b, n->at, &x[0], &x[1], ret);
	bool are_bool = is_bool(b, &x[0]) && is_bool(b, &x[1]);
	return lbx_formula_elementwise(b, n->at, rows[n->op].name, are_bool ? rows[n->op].of_bool : rows[n->op].op, 2,
				       x, ret);
}

static bool sign(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	const struct lbx_formula_node *n = &b->tree->nodes[node];
	struct lbx_formula_value x;

	if (!lbx_formula_value_of(b, lbx_formula_child(b->tree, node, 0), &x))
		return false;
	if (n->op == LBX_PLUS || (n->op == LBX_MINUS && x.is_number)) {
		*ret = x;
		ret->number = n->op == LBX_MINUS ? -ret->number : ret->number;
		return true;
	}
	if (n->op == LBX_MINUS)
		return lbx_formula_elementwise(b, n->at, "-", LB_OP_NEGATIVE, 1, &x, ret);
	return lbx_formula_elementwise(b, n->at, "~", LB_OP_BITWISE_INVERT, 1, &x, ret);
}

/* ---- indices ---- */

static bool apply_slice(struct lbx_formula_build *b, int at, const struct lbx_slice *slice, struct lbx_formula_value *x)
{
	struct lbx_step s;
	struct lbx_array a = { .high = INT64_MAX };

	if (!slice->n)
		return true;
	s = *lbx_formula_step(b, x);
	a.dtype = s.dtype;
	a.rank = s.rank;
	a.offset = s.offset;
	memcpy(a.shape, s.shape, sizeof s.shape);
	memcpy(a.strides, s.strides, sizeof s.strides);
	if (!lbx_slice_apply(slice, &a))
		return lbx_formula_take(b, at, LBX_FAIL, x);
	if (a.rank > LB_MAX_RANK)
		return lbx_formula_fail(b->tree, at, "%d axes: a value that is computed has at most %d", a.rank,
					LB_MAX_RANK);
	return lbx_formula_take(b, at, lbx_step_view(b->r, x->step, a.rank, a.shape, a.strides, a.offset), x);
}

/* "float32 (3, 4)", or a number. */
static void describe(const struct lbx_formula_build *b, const struct lbx_formula_value *x, char ret[LBX_LIST_MAX + 32])
{
	char shape[LBX_LIST_MAX];

	if (x->is_number) {
		snprintf(ret, LBX_LIST_MAX + 32, "%g", x->number);
		return;
	}
	const struct lbx_step *s = lbx_formula_step(b, x);
	lbx_format_list(s->shape, s->rank, shape, sizeof shape);
	snprintf(ret, LBX_LIST_MAX + 32, "%s %s", lbx_dtype_name(s->dtype), shape);
}

static bool bound_of(struct lbx_formula_build *b, int node, int64_t *ret)
{
	struct lbx_formula_value x;
	char what[LBX_LIST_MAX + 32];

	if (!lbx_formula_value_of(b, node, &x))
		return false;
	if (!x.is_number || !x.is_whole) {
		describe(b, &x, what);
		return lbx_formula_fail(b->tree, b->tree->nodes[node].begin,
					"a slice goes from a whole number to another: this is %s", what);
	}
	*ret = (int64_t)x.number;
	return true;
}

static bool range_of(struct lbx_formula_build *b, int node, struct lbx_slice_item *ret)
{
	int n = b->tree->nodes[node].n, at = 0;

	*ret = b->tree->nodes[node].item;
	if ((ret->has_start && !bound_of(b, lbx_formula_child(b->tree, node, at++), &ret->start)) ||
	    (ret->has_stop && !bound_of(b, lbx_formula_child(b->tree, node, at++), &ret->stop)))
		return false;
	if (at == n)
		return true;
	int step = lbx_formula_child(b->tree, node, at);
	return bound_of(b, step, &ret->step) &&
	       (ret->step || lbx_formula_fail(b->tree, b->tree->nodes[step].begin, "a step is not 0"));
}

/* *ret_by: a tensor that is an index; a number: there is none, and *ret is one of a slice's. */
static bool item_of(struct lbx_formula_build *b, int node, struct lbx_slice_item *ret, struct lbx_formula_value *ret_by)
{
	const struct lbx_formula_node *n = &b->tree->nodes[node];

	*ret_by = (struct lbx_formula_value){ .is_number = true };
	*ret = n->item;
	if (n->kind == LBX_FORMULA_ITEM)
		return true;
	if (n->kind == LBX_FORMULA_RANGE)
		return range_of(b, node, ret);
	b->index = node;
	if (!lbx_formula_value_of(b, node, ret_by))
		return false;
	if (ret_by->is_number ? !ret_by->is_whole : lb_dtype_is_inexact(lbx_formula_step(b, ret_by)->dtype))
		return lbx_formula_fail(b->tree, n->begin,
					"an index is a whole number, a slice, or a tensor of these, or a mask");
	*ret =
	    (struct lbx_slice_item){ .kind = LBX_AT, .has_start = true, .start = (int64_t)ret_by->number, .step = 1 };
	return true;
}

/* The items as a slice, with all of an axis in place of what is a tensor. */
struct indices {
	struct lbx_slice slice;
	struct lbx_formula_value by; /* a number: there is none */
	int by_node, axis;           /* of the result: that axis */
};

static bool indices_of(struct lbx_formula_build *b, int node, int rank, struct indices *ret)
{
	const struct lbx_formula_tree *tree = b->tree;
	const struct lbx_formula_node *n = &tree->nodes[node];
	int ellipsis_at = -1, axes = 0, taken = 0, by_at = 0;

	*ret = (struct indices){ .by = { .is_number = true } };
	for (int i = 1; i < n->n && ret->slice.n < LBX_SLICE_ITEMS; i++) {
		int child = lbx_formula_child(tree, node, i);
		struct lbx_slice_item item;
		struct lbx_formula_value by;
		if (!item_of(b, child, &item, &by))
			return false;
		if (!by.is_number && by_at)
			return lbx_formula_fail(tree, tree->nodes[child].begin,
						"one index is a tensor, others are numbers and slices");
		if (!by.is_number) {
			item = (struct lbx_slice_item){ .kind = LBX_RANGE, .step = 1 };
			by_at = i;
			ret->by = by;
			ret->by_node = child;
			ret->axis = axes;
		}
		ellipsis_at = item.kind == LBX_ELLIPSIS ? i : ellipsis_at;
		axes += item.kind == LBX_RANGE || item.kind == LBX_NEW_AXIS;
		taken += item.kind == LBX_RANGE || item.kind == LBX_AT;
		ret->slice.items[ret->slice.n++] = item;
	}
	if (ellipsis_at >= 0 && by_at > ellipsis_at)
		ret->axis += rank - taken;
	return true;
}

/* The place of the first of them that cannot be taken; of the brackets, if all can. */
static int place_of(const struct lbx_formula_build *b, int node, const struct lbx_slice *slice,
		    const struct lbx_step *of)
{
	struct lbx_slice some = *slice;

	for (some.n = 1; some.n <= slice->n; some.n++) {
		if (!lbx_slice_check(&some, of->rank, of->shape)) {
			lb_clear_error();
			return b->tree->nodes[lbx_formula_child(b->tree, node, some.n)].begin;
		}
	}
	return b->tree->nodes[node].at;
}

static bool index_of(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	const struct lbx_formula_node *n = &b->tree->nodes[node];
	struct indices by;

	if (!lbx_formula_value_of(b, lbx_formula_child(b->tree, node, 0), ret))
		return false;
	if (ret->is_number)
		return lbx_formula_fail(b->tree, n->at, "a number has no axes");
	if (!indices_of(b, node, lbx_formula_step(b, ret)->rank, &by))
		return false;
	int place = place_of(b, node, &by.slice, lbx_formula_step(b, ret));
	if (by.by.is_number)
		return apply_slice(b, place, &by.slice, ret);
	int at = b->tree->nodes[by.by_node].begin;
	if (is_bool(b, &by.by))
		return lbx_formula_fail(b->tree, at, "a mask stands alone in its brackets: x[x > 0]");
	if (!apply_slice(b, place, &by.slice, ret))
		return false;
	if (by.axis >= lbx_formula_step(b, ret)->rank)
		return lbx_formula_fail(b->tree, at, "too many indices");
	if (lbx_formula_step(b, ret)->rank - 1 + lbx_formula_step(b, &by.by)->rank > LB_MAX_RANK)
		return lbx_formula_fail(b->tree, at, "a value that is computed has at most %d axes", LB_MAX_RANK);
	return lbx_formula_take(b, n->at, lbx_step_take(b->r, ret->step, by.by.step, by.axis), ret);
}

/* Those of one pair of brackets. */
static bool add_items(struct lbx_formula_build *b, int node, int bracket, int rank, const int64_t *shape,
		      struct lbx_slice *ret)
{
	for (int i = 1; i < b->tree->nodes[node].n; i++) {
		int child = lbx_formula_child(b->tree, node, i), at = b->tree->nodes[child].begin;
		struct lbx_slice_item item;
		struct lbx_formula_value by;
		if (ret->n == LBX_SLICE_ITEMS)
			return lbx_formula_fail(b->tree, at, "more than %d indices", LBX_SLICE_ITEMS);
		if (!item_of(b, child, &item, &by))
			return false;
		if (!by.is_number)
			return lbx_formula_fail(b->tree, at, "an index is a whole number here, or a slice");
		item.bracket = bracket;
		ret->items[ret->n++] = item;
		if (!lbx_slice_check(ret, rank, shape))
			return lbx_formula_fail_at(b->tree, at);
	}
	return true;
}

bool lbx_formula_build_slice(const struct lbx_formula_tree *tree, const struct lbx_formula_names *names,
			     struct lbx_recipe *r, int rank, const int64_t *shape, struct lbx_slice *ret)
{
	struct lbx_formula_build b = { .tree = tree, .names = names, .r = r };
	int brackets[LBX_SLICE_ITEMS], n = 0;

	*ret = (struct lbx_slice){ .n = 0 };
	for (int at = tree->root; tree->nodes[at].kind == LBX_FORMULA_INDEX; at = lbx_formula_child(tree, at, 0)) {
		if (n == LBX_SLICE_ITEMS)
			return lbx_formula_fail(tree, tree->nodes[at].at, "more than %d indices", LBX_SLICE_ITEMS);
		brackets[n++] = at;
	}
	for (int i = 0; i < n; i++)
		if (!add_items(&b, brackets[n - 1 - i], i, rank, shape, ret))
			return false;
	return true;
}

/* ---- members ---- */

static const char *const attributes[] = { "T", "mT", "shape", "ndim", "size", "nbytes", "itemsize", "real" };

bool lbx_formula_is_attribute(const struct lbx_formula_tree *tree, int node)
{
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (lbx_formula_is_word(tree, node, attributes[i]))
			return true;
	return false;
}

static bool turned(struct lbx_formula_build *b, int at, bool last_two, struct lbx_formula_value *x)
{
	int rank = lbx_formula_step(b, x)->rank, axes[LB_MAX_RANK];

	if (last_two && rank < 2)
		return lbx_formula_fail(b->tree, at, "mT: two axes at least are needed");
	for (int i = 0; i < rank; i++)
		axes[i] = !last_two ? rank - 1 - i : i < rank - 2 ? i : 2 * rank - 3 - i;
	return lbx_formula_take(b, at, lbx_step_permute(b->r, x->step, axes), x);
}

static void set_whole(struct lbx_formula_value *ret, int64_t number)
{
	*ret = (struct lbx_formula_value){ .is_number = true, .is_whole = true, .number = (double)number };
}

static bool member(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	const struct lbx_formula_tree *tree = b->tree;
	const struct lbx_formula_node *n = &tree->nodes[node];

	int of = lbx_formula_child(tree, node, 0);
	bool is_of_tensor = b->names->operand[of] >= 0 || !lbx_formula_is_lookup(tree, of);
	if (!lbx_formula_is_attribute(tree, node) && !is_of_tensor && b->names->whys && b->names->whys[node])
		return lbx_formula_fail(tree, n->begin, "%s", b->names->whys[node]);
	if (!lbx_formula_is_attribute(tree, node))
		return lbx_formula_fail(
		    tree, n->word,
		    "'%.*s' is no attribute of a tensor: T, mT, shape, ndim, size, nbytes; methods have "
		    "brackets behind them",
		    n->n_word, tree->text + n->word);
	if (!lbx_formula_tensor_of(b, of, ret))
		return false;
	struct lbx_step s = *lbx_formula_step(b, ret);
	int64_t size = 1;
	for (int i = 0; i < s.rank; i++)
		size *= s.shape[i];
	if (lbx_formula_is_word(tree, node, "T"))
		return turned(b, n->word, false, ret);
	if (lbx_formula_is_word(tree, node, "mT"))
		return turned(b, n->word, true, ret);
	if (lbx_formula_is_word(tree, node, "shape")) {
		int64_t rank = s.rank;
		return lbx_formula_take(b, n->word, lbx_step_elements(b->r, LB_I64, 1, &rank, s.shape), ret);
	}
	if (lbx_formula_is_word(tree, node, "real"))
		return s.dtype != LB_C64 || fails_dtype(b, n->word, "real", s.dtype);
	set_whole(ret, lbx_formula_is_word(tree, node, "ndim")       ? s.rank
		       : lbx_formula_is_word(tree, node, "size")     ? size
		       : lbx_formula_is_word(tree, node, "itemsize") ? lbx_dtype_bytes(s.dtype)
								     : size * lbx_dtype_bytes(s.dtype));
	return true;
}

/* ---- calls ---- */

static bool is_module(const struct lbx_formula_tree *tree, int node)
{
	static const char *const modules[] = { "np", "numpy", "mx", "torch", "jnp", "math" };

	for (size_t i = 0; tree->nodes[node].kind == LBX_FORMULA_NAME && i < sizeof modules / sizeof *modules; i++)
		if (lbx_formula_is_word(tree, node, modules[i]))
			return true;
	return false;
}

/* np, np.linalg, torch.nn.functional */
static bool is_of_module(const struct lbx_formula_tree *tree, int node)
{
	static const char *const parts[] = { "linalg", "nn", "functional", "special" };
	bool is_part = false;

	for (size_t i = 0; tree->nodes[node].kind == LBX_FORMULA_MEMBER && i < sizeof parts / sizeof *parts; i++)
		is_part |= lbx_formula_is_word(tree, node, parts[i]);
	return is_module(tree, node) || (is_part && is_of_module(tree, lbx_formula_child(tree, node, 0)));
}

bool lbx_formula_is_function(const struct lbx_formula_tree *tree, int node)
{
	const struct lbx_formula_node *n = &tree->nodes[node];

	return (n->kind == LBX_FORMULA_NAME || n->kind == LBX_FORMULA_MEMBER) && lbx_formula_function(tree, node);
}

static bool takes(const struct lbx_formula_function *f, const struct lbx_formula_tree *tree, int keyword)
{
	char word[32];

	for (const char *k = f->keywords; k && *k; k += strspn(k, " ")) {
		size_t n = strcspn(k, " ");
		snprintf(word, sizeof word, "%.*s", (int)n, k);
		if (lbx_formula_is_word(tree, keyword, word))
			return true;
		k += n;
	}
	return false;
}

static bool call(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	const struct lbx_formula_tree *tree = b->tree;
	const struct lbx_formula_node *n = &tree->nodes[node];
	int callee = lbx_formula_child(tree, node, 0);
	const struct lbx_formula_node *c = &tree->nodes[callee];
	struct lbx_formula_call call = { .node = node };
	char word[64], near[512];

	if (c->kind != LBX_FORMULA_NAME && c->kind != LBX_FORMULA_MEMBER)
		return lbx_formula_fail(tree, n->at, "only functions and methods are called");
	const struct lbx_formula_function *f = lbx_formula_function(tree, callee);
	if (!f) {
		bool is_name = c->kind == LBX_FORMULA_NAME;
		snprintf(word, sizeof word, "%.*s", is_name ? c->end - c->begin : c->n_word,
			 tree->text + (is_name ? c->begin : c->word));
		lbx_formula_suggest(word, near, sizeof near);
		return lbx_formula_fail(tree, is_name ? c->begin : c->word, "there is no function '%s'%s", word, near);
	}
	call.name = f->name;
	call.op = f->op;
	if (c->kind == LBX_FORMULA_MEMBER && !is_of_module(tree, lbx_formula_child(tree, callee, 0)))
		call.args[call.n++] = lbx_formula_child(tree, callee, 0);
	for (int i = 1; i < n->n; i++) {
		int child = lbx_formula_child(tree, node, i);
		const struct lbx_formula_node *arg = &tree->nodes[child];
		if (arg->kind != LBX_FORMULA_KEYWORD)
			call.args[call.n++] = child;
		else if (!takes(f, tree, child))
			return lbx_formula_fail(tree, arg->word, "%s: no argument '%.*s'%s%s", f->name, arg->n_word,
						tree->text + arg->word, f->keywords ? ": it takes " : "",
						f->keywords ? f->keywords : "");
	}
	if (call.n < f->least || call.n > f->most)
		return lbx_formula_fail(tree, n->at, "%s: %d argument%s, where it takes %s%d", f->name, call.n,
					LB_S(call.n),
					f->least == f->most ? ""
					: call.n < f->least ? "at least "
							    : "at most ",
					call.n < f->least ? f->least : f->most);
	return f->apply(b, &call, ret);
}

/* ---- the whole ---- */

static bool constant(const struct lbx_formula_tree *tree, int node, double *ret)
{
	static const struct {
		const char *word;
		double number;
	} words[] = {
		{ "inf", INFINITY }, { "nan", NAN }, { "pi", M_PI }, { "e", M_E }, { "True", 1 }, { "False", 0 }
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		*ret = words[i].number;
		if (lbx_formula_is_word(tree, node, words[i].word))
			return true;
	}
	return false;
}

static const char *why_not(const struct lbx_formula_build *b, int node)
{
	return b->names->whys && b->names->whys[node] ? b->names->whys[node] : "this is no tensor, and no number";
}

static bool name(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	const struct lbx_formula_node *n = &b->tree->nodes[node];
	const char *text = b->tree->text + n->begin, *colons = strstr(text, "::");
	bool may_be_step =
	    node == b->index && *text != '\'' && *text != '"' && colons && colons < b->tree->text + n->end;

	*ret = (struct lbx_formula_value){ .is_number = true };
	if (constant(b->tree, node, &ret->number))
		return true;
	if (lbx_formula_function(b->tree, node))
		return lbx_formula_fail(b->tree, n->begin, "'%.*s' is a function: brackets are missing behind it",
					n->end - n->begin, b->tree->text + n->begin);
	return lbx_formula_fail(b->tree, n->begin, "%s%s", why_not(b, node),
				may_be_step ? " (a step that is a variable stands behind a blank: x[a: :b])" : "");
}

bool lbx_formula_value_of(struct lbx_formula_build *b, int node, struct lbx_formula_value *ret)
{
	const struct lbx_formula_node *n = &b->tree->nodes[node];

	if (b->names->operand[node] >= 0)
		return lbx_formula_take(b, n->begin, lbx_step_input(b->r, b->names->operand[node]), ret) &&
		       apply_slice(b, n->at, &b->names->slices[node], ret);
	if (b->names->is_number[node]) {
		*ret = (struct lbx_formula_value){ .is_number = true,
						   .is_whole = b->names->is_whole[node],
						   .number = b->names->number[node] };
		return true;
	}
	switch (n->kind) {
	case LBX_FORMULA_NUMBER:
		*ret = (struct lbx_formula_value){ .is_number = true, .is_whole = n->is_whole, .number = n->number };
		return true;
	case LBX_FORMULA_NAME: return name(b, node, ret);
	case LBX_FORMULA_MEMBER: return member(b, node, ret);
	case LBX_FORMULA_CALL: return call(b, node, ret);
	case LBX_FORMULA_INDEX: return index_of(b, node, ret);
	case LBX_FORMULA_SIGN: return sign(b, node, ret);
	case LBX_FORMULA_BINARY: return binary(b, node, ret);
	case LBX_FORMULA_TUPLE:
		return lbx_formula_fail(b->tree, n->begin,
					"a list is no tensor here: it says which axes, or which shape");
	default: return lbx_formula_fail(b->tree, n->begin, "this stands where a tensor or a number is needed");
	}
}

bool lbx_formula_build(const struct lbx_formula_tree *tree, const struct lbx_formula_names *names, int node,
		       struct lbx_recipe *r, int *ret)
{
	struct lbx_formula_build b = { .tree = tree, .names = names, .r = r, .index = node };
	struct lbx_formula_value value;

	if (!lbx_formula_tensor_of(&b, node, &value))
		return false;
	*ret = value.step;
	return true;
}

bool lbx_formula_is_number(const struct lbx_formula_tree *tree, const struct lbx_formula_names *names, int node,
			   struct lbx_recipe *r, bool *ret)
{
	struct lbx_formula_build b = { .tree = tree, .names = names, .r = r, .index = node };
	struct lbx_formula_value value;
	bool ok = lbx_formula_value_of(&b, node, &value);

	*ret = ok && value.is_number;
	return ok;
}
