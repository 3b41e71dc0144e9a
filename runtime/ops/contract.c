/* Products along other axes than lb_matmul()'s, by lb_einsum(), which takes integers, too. */
#include <stdio.h>

#include "base/plural.h"
#include "graph/promote.h"
#include "graph/shape.h"

static char letter(int i)
{
	return (char)(i < 26 ? 'a' + i : 'A' + i - 26);
}

static bool check_lists(const char *name, lb_list axes_a, lb_list axes_b)
{
	return (axes_a.n == axes_b.n && axes_a.n >= 0 && (axes_a.n == 0 || (axes_a.v && axes_b.v))) ||
	       lb_fail("%s: %d axes of a and %d of b: each has one that it goes with", name, axes_a.n, axes_b.n);
}

/* Sums over axes_a of a and axes_b of b, which go in pairs; a's others, then b's. */
static struct lb_tensor *tensordot(const char *name, struct lb_tensor *a, struct lb_tensor *b, lb_list axes_a,
				   lb_list axes_b)
{
	uint32_t mask_a, mask_b;
	if (!LB_GIVEN(name, a) || !LB_GIVEN(name, b) || !check_lists(name, axes_a, axes_b) ||
	    !lb_axis_mask(name, axes_a, lb_shape_of(a), 0, &mask_a) ||
	    !lb_axis_mask(name, axes_b, lb_shape_of(b), 0, &mask_b))
		return NULL;
	char of_a[LB_MAX_RANK + 1] = "", of_b[LB_MAX_RANK + 1] = "", rest[2 * LB_MAX_RANK + 1] = "";
	char text_a[LB_SHAPE_TEXT], text_b[LB_SHAPE_TEXT], spec[8 * LB_MAX_RANK];
	for (int i = 0; i < a->rank; i++)
		of_a[i] = letter(i);
	for (int i = 0; i < b->rank; i++)
		of_b[i] = letter(a->rank + i);
	for (int i = 0; i < axes_a.n; i++) {
		int64_t p = axes_a.v[i] < 0 ? axes_a.v[i] + a->rank : axes_a.v[i];
		int64_t q = axes_b.v[i] < 0 ? axes_b.v[i] + b->rank : axes_b.v[i];
		if (a->shape[p] != b->shape[q]) {
			lb_fail("%s: axis %d of %s and axis %d of %s have not one size", name, (int)p,
				lb_shape_text(a->rank, a->shape, text_a), (int)q,
				lb_shape_text(b->rank, b->shape, text_b));
			return NULL;
		}
		of_b[q] = of_a[p];
	}
	int n = 0;
	for (int i = 0; i < a->rank; i++) {
		if (!(mask_a & 1u << i))
			rest[n++] = of_a[i];
	}
	for (int i = 0; i < b->rank; i++) {
		if (!(mask_b & 1u << i))
			rest[n++] = of_b[i];
	}
	if (n > LB_MAX_RANK) {
		lb_fail("%s: %s and %s give %d axes, at most %d fit", name, lb_shape_text(a->rank, a->shape, text_a),
			lb_shape_text(b->rank, b->shape, text_b), n, LB_MAX_RANK);
		return NULL;
	}
	snprintf(spec, sizeof spec, "%s,%s->%s", of_a, of_b, rest);
	return lb_einsum(spec, 2, (struct lb_tensor *[]){ a, b });
}

lb_tensor *lb_tensordot(lb_tensor *a, lb_tensor *b, lb_list axes_a, lb_list axes_b)
{
	LB_ENTER_WHOLE();
	return tensordot("tensordot", a, b, axes_a, axes_b);
}

lb_tensor *lb_inner(lb_tensor *a, lb_tensor *b)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("inner", a) || !LB_GIVEN("inner", b))
		return NULL;
	if (a->rank == 0 || b->rank == 0)
		return lb_multiply(a, b);
	return tensordot("inner", a, b, LB_AXES(-1), LB_AXES(-1));
}

lb_tensor *lb_outer(lb_tensor *a, lb_tensor *b)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN("outer", a) || !LB_GIVEN("outer", b))
		return NULL;
	return lb_multiply(lb_reshape(a, LB_SHAPE(a->size, 1)), lb_reshape(b, LB_SHAPE(b->size)));
}

lb_tensor *lb_kron(lb_tensor *a, lb_tensor *b)
{
	LB_ENTER_WHOLE();
	enum { MOST = LB_MAX_RANK / 2 };
	if (!LB_GIVEN("kron", a) || !LB_GIVEN("kron", b))
		return NULL;
	int rank = a->rank > b->rank ? a->rank : b->rank;
	if (rank > MOST) {
		lb_fail("kron: of %d axes; at most %d", rank, MOST);
		return NULL;
	}
	int64_t of_a[LB_MAX_RANK], of_b[LB_MAX_RANK], shape[LB_MAX_RANK];
	for (int i = 0; i < rank; i++) {
		int64_t p = i < rank - a->rank ? 1 : a->shape[i - (rank - a->rank)];
		int64_t q = i < rank - b->rank ? 1 : b->shape[i - (rank - b->rank)];
		of_a[2 * i] = p;
		of_b[2 * i + 1] = q;
		of_a[2 * i + 1] = of_b[2 * i] = 1;
		if (!lb_mul(p, q, &shape[i])) {
			lb_fail("kron: axis %d of the result is more than 63 bits long", i);
			return NULL;
		}
	}
	struct lb_tensor *x = lb_reshape(a, (lb_list){ 2 * rank, of_a }),
			 *y = lb_reshape(b, (lb_list){ 2 * rank, of_b });
	struct lb_tensor *product = lb_multiply(x, y);
	return product ? lb_reshape(product, (lb_list){ rank, shape }) : NULL;
}
