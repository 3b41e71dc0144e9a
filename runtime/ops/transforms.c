/* Products and transforms that are made of other operations. */
#include <math.h>

#include "graph/promote.h"
#include "graph/shape.h"

/* Of a batch (…, m, n) the matrices at the indices; without indices all as they are. */
static struct lb_tensor *chosen(struct lb_tensor *x, struct lb_tensor *indices)
{
	int64_t shape[3] = { 1, x->shape[x->rank - 2], x->shape[x->rank - 1] };
	if (!indices)
		return x;
	for (int i = 0; i < x->rank - 2; i++)
		shape[0] *= x->shape[i];
	return lb_take(lb_reshape(x, (lb_list){ 3, shape }), indices, 0);
}

lb_tensor *lb_gather_mm(lb_tensor *a, lb_tensor *b, lb_tensor *a_indices, lb_tensor *b_indices)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("gather_mm", a) || !LB_GIVEN("gather_mm", b))
		return NULL;
	if ((a_indices && !lb_check_indices("gather_mm", a_indices)) ||
	    (b_indices && !lb_check_indices("gather_mm", b_indices)))
		return NULL;
	if (a->rank < 2 || b->rank < 2) {
		char ta[LB_SHAPE_TEXT], tb[LB_SHAPE_TEXT];
		lb_fail("gather_mm: takes matrices, not a %s and b %s", lb_shape_text(a->rank, a->shape, ta),
			lb_shape_text(b->rank, b->shape, tb));
		return NULL;
	}
	struct lb_tensor *left = chosen(a, a_indices), *right = left ? chosen(b, b_indices) : NULL;
	return right ? lb_matmul(left, right) : NULL;
}

/* ---- Hadamard's matrices ---- */

/* Those of MLX: row after row, + for 1, - for -1. */
static const char hadamard_12[] = "+-++++++++++"
				  "--+-+-+-+-+-"
				  "+++-++----++"
				  "+---+--+-++-"
				  "+++++-++----"
				  "+-+---+--+-+"
				  "++--+++-++--"
				  "+--++---+--+"
				  "++----+++-++"
				  "+--+-++---+-"
				  "++++----+++-"
				  "+-+--+-++---";

static const char hadamard_20[] = "+----+----++--++-++-"
				  "-+----+---+++---+-++"
				  "--+----+---+++-+-+-+"
				  "---+----+---+++++-+-"
				  "----+----++--++-++-+"
				  "-+++++-----+--+++--+"
				  "+-+++-+---+-+--+++--"
				  "++-++--+---+-+--+++-"
				  "+++-+---+---+-+--+++"
				  "++++-----++--+-+--++"
				  "--++-+-++-+-----++++"
				  "---++-+-++-+---+-+++"
				  "+---++-+-+--+--++-++"
				  "++---++-+----+-+++-+"
				  "-++---++-+----+++++-"
				  "-+--+--++-+----+----"
				  "+-+-----++-+----+---"
				  "-+-+-+---+--+----+--"
				  "--+-+++------+----+-"
				  "+--+--++------+----+";

static const char hadamard_28[] = "+------++----++-+--+-+--++--"
				  "-+-----+++-----+-+--+-+--++-"
				  "--+-----+++---+-+-+----+--++"
				  "---+-----+++---+-+-+-+--+--+"
				  "----+-----+++---+-+-+++--+--"
				  "-----+-----++++--+-+--++--+-"
				  "------++----++-+--+-+--++--+"
				  "--++++-+-------++--+++-+--+-"
				  "---++++-+-----+-++--+-+-+--+"
				  "+---+++--+----++-++--+-+-+--"
				  "++---++---+----++-++--+-+-+-"
				  "+++---+----+----++-++--+-+-+"
				  "++++--------+-+--++-++--+-+-"
				  "-++++--------+++--++--+--+-+"
				  "-+-++-++--++--+--------++++-"
				  "+-+-++--+--++--+--------++++"
				  "-+-+-++--+--++--+----+---+++"
				  "+-+-+-++--+--+---+---++---++"
				  "++-+-+-++--+------+--+++---+"
				  "-++-+-+-++--+------+-++++---"
				  "+-++-+---++--+------+-++++--"
				  "-++--++-+-++-+++----++------"
				  "+-++--++-+-++-+++-----+-----"
				  "++-++---+-+-++-+++-----+----"
				  "-++-++-+-+-+-+--+++-----+---"
				  "--++-++++-+-+----+++-----+--"
				  "+--++-+-++-+-+----+++-----+-"
				  "++--++-+-++-+-+----++------+";

/* Hadamard's matrix of m rows times x (…, m, n). */
static struct lb_tensor *times_matrix(struct lb_tensor *x, int m)
{
	const char *signs = m == 12 ? hadamard_12 : m == 20 ? hadamard_20 : hadamard_28;
	float values[28 * 28];
	if (m == 1)
		return x;
	for (int i = 0; i < m * m; i++)
		values[i] = signs[i] == '+' ? 1 : -1;
	struct lb_tensor *matrix = lb_from_data(values, (size_t)(m * m) * sizeof *values, LB_SHAPE(m, m), LB_F32);
	return lb_matmul(lb_astype(matrix, (enum lb_dtype)x->dtype), x);
}

/* n = m * 2^k with an m that has a matrix: m, or 0. */
static int odd_part(int64_t n)
{
	static const int sizes[] = { 1, 12, 20, 28 };
	for (int i = 0; i < 4; i++)
		if (n > 0 && n % sizes[i] == 0 && (n / sizes[i] & (n / sizes[i] - 1)) == 0)
			return sizes[i];
	return 0;
}

lb_tensor *lb_hadamard_transform(lb_tensor *x, double scale)
{
	LB_ENTER_WHOLE();
	const char *const name = "hadamard_transform";
	if (!LB_GIVEN(name, x))
		return NULL;
	char text[LB_SHAPE_TEXT];
	int64_t n = x->rank ? x->shape[x->rank - 1] : 1;
	int m = odd_part(n);
	if (m == 0) {
		lb_fail("%s: of %s: takes tensors whose last axis is 1, 12, 20 or 28 times a power of 2 long", name,
			lb_shape_text(x->rank, x->shape, text));
		return NULL;
	}
	enum lb_dtype dtype = lb_inexact((enum lb_dtype)x->dtype);
	int64_t width = n / m, rows = x->size / n;
	struct lb_tensor *y = lb_astype(x, dtype == LB_F64 || dtype == LB_C64 ? dtype : LB_F32);
	for (int64_t half = 1; y && half < width; half *= 2) {
		y = lb_reshape(y, LB_SHAPE(rows * (n / (2 * half)), 2, half));
		struct lb_tensor *a = lb_slice(y, LB_ALL, LB_AT(0)), *b = lb_slice(y, LB_ALL, LB_AT(1));
		y = lb_stack(2, (lb_tensor *[]){ lb_add(a, b), lb_subtract(a, b) }, 1);
	}
	y = y ? times_matrix(lb_reshape(y, LB_SHAPE(rows, m, width)), m) : NULL;
	y = lb_multiply(y, lb_scalar(scale != 0 ? scale : 1 / sqrt((double)n)));
	return y ? lb_astype(lb_reshape(y, lb_shape_of(x)), dtype) : NULL;
}
