/* Elements that another node puts somewhere else: the same bits. */
#include <math.h>

#include "ggml_recipes.h"

static void views(void)
{
	nodes_reset();
	int x = leaf(8, 6, 2, 1),
	    y = node(&(struct node){ .op = "SCALE", .ne = { 8, 6, 2, 1 }, .sources = { x }, .params = { bits_of(2) } });
	static const char *const ops[] = { "VIEW", "NONE" };
	const int64_t part[] = { 3, 4, 2, 1 }, turned[] = { 6, 8, 1, 1 };

	for (int i = 0; i < 2; i++) {
		EACH_OF(part)
			want(2 * at(x, i0 + 1, i1 + 2, i2, i3));
		holds(&(struct node){ .op = ops[i],
				      .ne = { 3, 4, 2, 1 },
				      .sources = { i ? 0 : y },
				      .view_of = y,
				      .strides = { 1, 8, 48, 96 },
				      .offset = 17 },
		      0);
	}
	EACH_OF(turned)
		want(2 * at(x, i1, i0, i2, i3));
	holds(
	    &(struct node){
		.op = "VIEW", .ne = { 6, 8, 1, 1 }, .sources = { y }, .view_of = y, .strides = { 8, 1, 48, 48 } },
	    0);
}

static void orders(void)
{
	nodes_reset();
	int x = leaf(4, 3, 5, 2);

	for (int i = 0; i < 120; i++) /* that a float16 has, too */
		elements_of(x)[i] = rintf(elements_of(x)[i] * 256) / 256;
	const int64_t turned[] = { 3, 4, 5, 2 }, permuted[] = { 5, 4, 2, 3 };

	for (int64_t i = 0; i < 120; i++)
		want(at(x, i % 4, i / 4 % 3, i / 12 % 5, i / 60));
	holds(&(struct node){ .op = "RESHAPE", .ne = { 6, 20, 1, 1 }, .sources = { x }, .view_of = x }, 0);
	EACH_OF(turned)
		want(at(x, i1, i0, i2, i3));
	holds(&(struct node){ .op = "TRANSPOSE", .ne = { 3, 4, 5, 2 }, .sources = { x }, .view_of = x }, 0);
	/* axis 0 of the source is axis 1 of the result, 1 is 3, 2 is 0, 3 is 2 */
	EACH_OF(permuted)
		want(at(x, i1, i3, i0, i2));
	struct node n = {
		.op = "PERMUTE", .ne = { 5, 4, 2, 3 }, .sources = { x }, .view_of = x, .params = { 1, 3, 0, 2 }
	};
	holds(&n, 0);
	int view = node(&n);
	static const char *const copies[] = { "CONT", "DUP", "CPY" };
	for (int i = 0; i < 3; i++) {
		int to = leaf(5, 4, 2, 3);
		EACH_OF(permuted)
			want(at(x, i1, i3, i0, i2));
		holds(&(struct node){ .op = copies[i],
				      .ne = { 5, 4, 2, 3 },
				      .sources = { view, i == 2 ? to : 0 },
				      .view_of = i == 2 ? to : 0 },
		      0);
	}
	int halves = leaf_of(LB_F16, 5, 4, 2, 3, 0);
	EACH_OF(permuted)
		want(at(x, i1, i3, i0, i2));
	holds(
	    &(struct node){
		.op = "CPY", .dtype = LB_F16, .ne = { 5, 4, 2, 3 }, .sources = { view, halves }, .view_of = halves },
	    0);
}

static void sizes(void)
{
	nodes_reset();
	int x = leaf(4, 3, 2, 2), y = leaf(4, 3, 5, 2);
	const int64_t repeated[] = { 8, 3, 6, 2 }, joined[] = { 4, 3, 7, 2 }, padded[] = { 7, 5, 2, 3 },
		      same[] = { 4, 3, 2, 2 };

	EACH_OF(repeated)
		want(again(x, i0, i1, i2, i3));
	holds(&(struct node){ .op = "REPEAT", .ne = { 8, 3, 6, 2 }, .sources = { x } }, 0);
	EACH_OF(joined)
		want(i2 < 2 ? at(x, i0, i1, i2, i3) : at(y, i0, i1, i2 - 2, i3));
	holds(&(struct node){ .op = "CONCAT", .ne = { 4, 3, 7, 2 }, .sources = { x, y }, .params = { 2 } }, 0);
	EACH_OF(padded) { /* 2 in front of axis 0 and 1 behind, 1 and 1, 0 and 0, 1 and 0 */
		bool is_in = i0 >= 2 && i0 < 6 && i1 >= 1 && i1 < 4 && i3 >= 1;
		want(is_in ? at(x, i0 - 2, i1 - 1, i2, i3 - 1) : 0);
	}
	holds(
	    &(struct node){ .op = "PAD", .ne = { 7, 5, 2, 3 }, .sources = { x }, .params = { 2, 1, 1, 1, 0, 0, 1, 0 } },
	    0);
	is_without(&(struct node){ .op = "PAD",
				   .ne = { 7, 5, 2, 3 },
				   .sources = { x },
				   .params = { 2, 1, 1, 1, 0, 0, 1, 0, 1 } },
		   "a torus");
	EACH_OF(same)
		want(at(x, (i0 + 3) % 4, (i1 + 2) % 3, i2, (i3 + 1) % 2));
	holds(&(struct node){ .op = "ROLL", .ne = { 4, 3, 2, 2 }, .sources = { x }, .params = { 1, -2, 0, 3 } }, 0);
	int row = leaf(9, 2, 1, 1);
	for (int64_t i1 = 0; i1 < 2; i1++)
		for (int64_t i0 = 0; i0 < 9 + 3 + 5; i0++) {
			int64_t i = i0 < 3 ? 3 - i0 : i0 - 3;
			want(at(row, i > 8 ? 16 - i : i, i1, 0, 0));
		}
	holds(&(struct node){ .op = "PAD_REFLECT_1D", .ne = { 17, 2, 1, 1 }, .sources = { row }, .params = { 3, 5 } },
	      0);
}

static void rows_by_number(void)
{
	nodes_reset();
	int table = leaf(6, 9, 2, 2), ids = leaf_of(LB_I32, 4, 2, 2, 1, 9), halves = leaf_of(LB_F16, 6, 9, 1, 1, 0);
	int some = leaf_of(LB_I32, 5, 1, 1, 1, 9);
	const int64_t ne[] = { 6, 4, 2, 2 }, plain[] = { 6, 5, 1, 1 };

	EACH_OF(ne)
		want(at(table, i0, (int64_t)at(ids, i1, i2, i3, 0), i2, i3));
	holds(&(struct node){ .op = "GET_ROWS", .ne = { 6, 4, 2, 2 }, .sources = { table, ids } }, 0);
	EACH_OF(plain)
		want(at(halves, i0, (int64_t)at(some, i1, i2, i3, 0), i2, i3));
	holds(&(struct node){ .op = "GET_ROWS", .ne = { 6, 5, 1, 1 }, .sources = { halves, some } }, 0);
	/* rows go where the numbers say, and one number may serve several matrices */
	int to = leaf(6, 9, 2, 2), from = leaf(6, 3, 2, 2), where = leaf_of(LB_I64, 3, 1, 2, 1, 0);
	static const int64_t places[2][3] = { { 4, 0, 7 }, { 8, 1, 3 } };
	const int64_t all[] = { 6, 9, 2, 2 };
	for (int i = 0; i < 6; i++)
		((int64_t *)(void *)elements_of(where))[i] = places[i / 3][i % 3];
	EACH_OF(all) {
		double value = at(to, i0, i1, i2, i3);
		for (int k = 0; k < 3; k++)
			value = places[i3][k] == i1 ? at(from, i0, k, i2, i3) : value;
		want(value);
	}
	holds(&(struct node){ .op = "SET_ROWS", .ne = { 6, 9, 2, 2 }, .sources = { from, where, to }, .view_of = to },
	      0);
}

static void parts(void)
{
	enum { ROW = 8 * 4, PLANE = 48 * 4, OFFSET = 10 * 4 };
	nodes_reset();
	int x = leaf(8, 6, 2, 1), part = leaf(3, 2, 2, 1);
	const int64_t ne[] = { 8, 6, 2, 1 };

	for (int add = 0; add < 2; add++) {
		EACH_OF(ne) { /* it begins at (2, 1) */
			bool is_in = i0 >= 2 && i0 < 5 && i1 >= 1 && i1 < 3;
			double own = at(x, i0, i1, i2, i3);
			want(is_in ? at(part, i0 - 2, i1 - 1, i2, i3) + (add ? own : 0) : own);
		}
		holds(&(struct node){ .op = add ? "ACC" : "SET",
				      .ne = { 8, 6, 2, 1 },
				      .sources = { x, part },
				      .params = { ROW, PLANE, 2 * PLANE, OFFSET } },
		      add ? 1e-6 : 0);
	}
}

static void made(void)
{
	nodes_reset();
	int x = leaf(5, 3, 1, 1), y = leaf(4, 5, 2, 2), of = leaf(6, 1, 2, 3);
	const int64_t ne[] = { 4, 5, 2, 2 }, square[] = { 6, 6, 2, 3 };

	for (int i = 0; i < 15; i++)
		want(-1.75);
	holds(&(struct node){ .op = "FILL", .ne = { 5, 3, 1, 1 }, .sources = { x }, .params = { bits_of(-1.75F) } }, 0);
	for (int i = 0; i < 7; i++)
		want(0.5 + 0.75 * i);
	holds(&(struct node){ .op = "ARANGE",
			      .ne = { 7, 1, 1, 1 },
			      .params = { bits_of(0.5F), bits_of(5.5F), bits_of(0.75F) } },
	      1e-6);
	for (int zero = 0; zero < 2; zero++) {
		EACH_OF(ne)
			want(i0 > 1 + i1 ? (zero ? 0 : -INFINITY) : at(y, i0, i1, i2, i3));
		holds(&(struct node){ .op = zero ? "DIAG_MASK_ZERO" : "DIAG_MASK_INF",
				      .ne = { 4, 5, 2, 2 },
				      .sources = { y },
				      .params = { 1 } },
		      0);
	}
	EACH_OF(square)
		want(i0 == i1 ? at(of, i0, 0, i2, i3) : 0);
	holds(&(struct node){ .op = "DIAG", .ne = { 6, 6, 2, 3 }, .sources = { of } }, 0);
	for (int kind = 0; kind < 4; kind++) { /* columns from the diagonal on, behind it, up to it, before it */
		EACH_OF(ne) {
			bool stays[] = { i0 >= i1, i0 > i1, i0 <= i1, i0 < i1 };
			want(stays[kind] ? at(y, i0, i1, i2, i3) : 0);
		}
		holds(&(struct node){ .op = "TRI", .ne = { 4, 5, 2, 2 }, .sources = { y }, .params = { kind } }, 0);
	}
	is_without(&(struct node){ .op = "TRI", .ne = { 4, 5, 2, 2 }, .sources = { y }, .params = { 4 } },
		   "such a kind");
	int a = leaf_of(LB_I32, 9, 5, 2, 1, 3), b = leaf_of(LB_I32, 9, 5, 2, 1, 3), same = 0;
	for (int i = 0; i < 90; i++)
		same += integers_of(a)[i] == integers_of(b)[i];
	want(same);
	holds(&(struct node){ .op = "COUNT_EQUAL", .dtype = LB_I64, .ne = { 1, 1, 1, 1 }, .sources = { a, b } }, 0);
}

void recipes_of_moves(void **state)
{
	(void)state;
	views();
	orders();
	sizes();
	rows_by_number();
	parts();
	made();
}
