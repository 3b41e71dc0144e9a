/* Rows, and matrices, that numbers choose. A number is read where it lies, if that is what it was. */
#include <string.h>

#include "ggml/decode.h"
#include "ggml/parts/element.h"

enum { NUMBERS_MOST = 1 << 16, PIECE = 512 };

struct numbers {
	struct lbx_target *target;
	struct lbx_ggml_record r;
	size_t width; /* 4 or 8 bytes */
};

static bool find_numbers(const struct lbx_ggml_element *e, int source, struct numbers *ret)
{
	uint64_t id = lbx_ggml_set_id(e->g, e->t->sources[source]);
	struct lbx_tensor t;

	ret->target = lbx_ggml_set_target(e->g);
	if (!id || !lbx_ggml_set_read(e->g, e->t->sources[source], &ret->r) || !lbx_ggml_decode(e->g, id, &t) ||
	    t.state != LBX_READY || t.encoding || t.size == 0 || (t.dtype != LB_I32 && t.dtype != LB_I64))
		return false;
	ret->width = t.dtype == LB_I32 ? 4 : 8;
	return true;
}

static int64_t as_number(const unsigned char *bytes, size_t width)
{
	int32_t small;
	int64_t large;

	memcpy(width == 4 ? (void *)&small : (void *)&large, bytes, width);
	return width == 4 ? small : large;
}

static bool read_number(const struct numbers *n, int64_t i0, int64_t i1, int64_t i2, int64_t *ret)
{
	unsigned char bytes[8];

	if (i0 < 0 || i0 >= n->r.ne[0] || i1 >= n->r.ne[1] || i2 >= n->r.ne[2])
		return false;
	uint64_t at = n->r.data + (uint64_t)i0 * n->r.nb[0] + (uint64_t)i1 * n->r.nb[1] + (uint64_t)i2 * n->r.nb[2];
	if (!lbx_target_try_read(n->target, at, bytes, n->width))
		return false;
	*ret = as_number(bytes, n->width);
	return true;
}

bool lbx_ggml_number(const struct lbx_ggml_element *e, int source, int64_t i, int64_t *ret)
{
	struct numbers n;

	return find_numbers(e, source, &n) && read_number(&n, i, 0, 0, ret);
}

/* ---- rows ---- */

bool lbx_ggml_part_get_rows(struct lbx_ggml_element *e)
{
	struct numbers n;
	int64_t row;

	if (e->source == 1) {
		for (int d = 0; d < LBX_GGML_AXES; d++)
			lbx_ggml_one_at(e, d, d + 1 < LBX_GGML_AXES ? e->at[d + 1] % e->x->ne[d] : 0);
		return true;
	}
	if (!find_numbers(e, 1, &n) || n.width != 4 || !read_number(&n, e->at[1], e->at[2], e->at[3], &row) || row < 0)
		return false;
	lbx_ggml_part_same(e);
	lbx_ggml_one_at(e, 1, row);
	return true;
}

/* Which of the rows went where the element is: the first and the last, and how many. */
struct hits {
	int64_t first, last, n;
};

static bool find_hits(const struct lbx_ggml_element *e, const struct numbers *n, struct hits *ret)
{
	int64_t at2 = e->at[2] % n->r.ne[1], at3 = e->at[3] % n->r.ne[2];
	uint64_t from = n->r.data + (uint64_t)at2 * n->r.nb[1] + (uint64_t)at3 * n->r.nb[2];
	unsigned char bytes[PIECE * 8];

	*ret = (struct hits){ .n = 0 };
	if (n->r.nb[0] != n->width || n->r.ne[0] > NUMBERS_MOST)
		return false;
	for (int64_t done = 0; done < n->r.ne[0]; done += PIECE) {
		int64_t left = n->r.ne[0] - done, count = left < PIECE ? left : PIECE;
		if (!lbx_target_try_read(n->target, from + (uint64_t)done * n->width, bytes, (size_t)count * n->width))
			return false;
		for (int64_t i = 0; i < count; i++) {
			if (as_number(bytes + (size_t)i * n->width, n->width) != e->at[1])
				continue;
			ret->first = ret->n++ ? ret->first : done + i;
			ret->last = done + i;
		}
	}
	return true;
}

/* Sources: the rows, where they go, and maybe what they go into, of which the node is a view. */
bool lbx_ggml_part_set_rows(struct lbx_ggml_element *e)
{
	enum { ROWS, PLACES };
	struct numbers n;
	struct hits hits;

	if (e->source == PLACES) { /* any of them may lead there */
		for (int d = 1; d < LBX_GGML_AXES; d++)
			lbx_ggml_one_at(e, d, d + 1 < LBX_GGML_AXES ? e->at[d + 1] % e->x->ne[d] : 0);
		lbx_ggml_all_of(e, 0);
		e->ret->exact = false;
		return true;
	}
	if (!find_numbers(e, PLACES, &n) || !find_hits(e, &n, &hits))
		return false;
	lbx_ggml_part_same(e);
	if (e->source != ROWS) {
		e->ret->nothing = hits.n > 0;
		return true;
	}
	e->ret->nothing = hits.n == 0;
	e->ret->exact = hits.n <= 1; /* of several, which was the last is not known */
	lbx_ggml_some_at(e, 1, hits.first, hits.last - hits.first + 1);
	return true;
}

/* ---- experts ---- */

/* Once each expert was a source of its own, behind the numbers, of which one column counts, and b. */
static bool of_experts_apart(struct lbx_ggml_element *e)
{
	enum { NUMBERS, B, FIRST };
	int64_t column = e->t->params[0], expert;
	struct numbers n;

	if (!find_numbers(e, NUMBERS, &n) || !read_number(&n, column, e->at[1], 0, &expert))
		return false;
	lbx_ggml_part_same(e);
	if (e->source == NUMBERS) {
		lbx_ggml_one_at(e, 0, column);
		return true;
	}
	lbx_ggml_all_of(e, 0);
	if (e->source >= FIRST) {
		lbx_ggml_one_at(e, 1, e->at[0]);
		e->ret->nothing = expert != e->source - FIRST;
	}
	return e->t->ne[2] * e->t->ne[3] == 1;
}

/* Sources: experts (k, m, experts), b (k, of each, tokens), and numbers (used, tokens); the result is (m, used, tokens). */
bool lbx_ggml_part_mul_mat_id(struct lbx_ggml_element *e)
{
	enum { EXPERTS, B, NUMBERS };
	struct lbx_ggml_record first;
	struct numbers n;
	int64_t expert;

	if (!e->t->sources[NUMBERS] || !lbx_ggml_set_read(e->g, e->t->sources[0], &first))
		return false;
	if (strcmp(e->g->anchor.types[first.type].encoding.name, "int32") == 0)
		return of_experts_apart(e);
	for (int d = 0; d < LBX_GGML_AXES; d++)
		lbx_ggml_one_at(e, d, 0);
	if (e->source == NUMBERS) {
		lbx_ggml_one_at(e, 0, e->at[1]);
		lbx_ggml_one_at(e, 1, e->at[2]);
		return true;
	}
	lbx_ggml_all_of(e, 0);
	if (e->source == B) {
		lbx_ggml_one_at(e, 1, e->at[1] % e->x->ne[1]);
		lbx_ggml_one_at(e, 2, e->at[2]);
		return true;
	}
	if (!find_numbers(e, NUMBERS, &n) || !read_number(&n, e->at[1], e->at[2], 0, &expert) || expert < 0)
		return false;
	lbx_ggml_one_at(e, 1, e->at[0]);
	lbx_ggml_one_at(e, 2, expert);
	return e->source == EXPERTS;
}
