/* What has no row here is not known: then all of an input may be meant. */
#include "ggml/parts.h"

#include <string.h>

#include "ggml/decode.h"
#include "ggml/inputs.h"
#include "ggml/parts/element.h"

bool lbx_ggml_part_same(struct lbx_ggml_element *e)
{
	for (int d = 0; d < LBX_GGML_AXES; d++)
		lbx_ggml_one_at(e, d, e->at[d] % e->x->ne[d]);
	return true;
}

/* The same, in the order of their elements. */
static bool same_number(struct lbx_ggml_element *e)
{
	int64_t number = 0;

	if (e->source > 0 || e->t->size != e->x->size)
		return false;
	for (int d = LBX_GGML_AXES; d-- > 0;)
		number = number * e->t->ne[d] + e->at[d];
	for (int d = 0; d < LBX_GGML_AXES; number /= e->x->ne[d], d++)
		lbx_ggml_one_at(e, d, number % e->x->ne[d]);
	return true;
}

static bool copied(struct lbx_ggml_element *e)
{
	e->ret->nothing = e->source > 0; /* where to */
	return e->ret->nothing || same_number(e);
}

/* Two sources, one behind the other along the axis in which they differ from the node. */
static bool joined(struct lbx_ggml_element *e)
{
	struct lbx_ggml_record first;
	int axis = 0;

	if (e->source > 1 || !lbx_ggml_set_read(e->g, e->t->sources[0], &first))
		return false;
	while (axis + 1 < LBX_GGML_AXES && first.ne[axis] == e->t->ne[axis])
		axis++;
	lbx_ggml_part_same(e);
	int64_t at = e->at[axis] - (e->source ? first.ne[axis] : 0);
	lbx_ggml_one_at(e, axis, at);
	e->ret->nothing = at < 0 || at >= e->x->ne[axis];
	return true;
}

/* All of the same row; other sources at the same place. */
static bool row(struct lbx_ggml_element *e)
{
	lbx_ggml_part_same(e);
	if (e->source == 0)
		lbx_ggml_all_of(e, 0);
	return e->source < 2;
}

static bool product(struct lbx_ggml_element *e)
{
	lbx_ggml_part_same(e);
	lbx_ggml_all_of(e, 0);
	if (e->source == 1) {
		lbx_ggml_one_at(e, 1, e->at[1]);
		return true;
	}
	lbx_ggml_one_at(e, 1, e->at[0]);
	for (int d = 2; d < LBX_GGML_AXES; d++) {
		int64_t times = e->t->ne[d] / e->x->ne[d];
		lbx_ggml_one_at(e, d, times > 0 ? e->at[d] / times : 0);
	}
	return e->source == 0;
}

/* Pairs of a row turn; which is the other one depends on the mode. */
static bool turned(struct lbx_ggml_element *e)
{
	lbx_ggml_part_same(e);
	e->ret->nothing = e->source == 1; /* places in the text */
	if (e->source == 0)
		lbx_ggml_all_of(e, 0);
	e->ret->exact = false;
	return e->source < 2;
}

/* Halves of a row, or two sources: what is gated, and the gate. */
static bool gated(struct lbx_ggml_element *e)
{
	lbx_ggml_part_same(e);
	if (e->t->sources[1])
		return true;
	if (e->x->ne[0] != 2 * e->t->ne[0])
		return false;
	e->ret->first[0] = e->at[0];
	e->ret->count[0] = 2;
	e->ret->step[0] = e->t->ne[0];
	return true;
}

/* Queries, keys, values, and a mask, which leaves some out. */
static bool attended(struct lbx_ggml_element *e)
{
	lbx_ggml_part_same(e);
	e->ret->exact = e->source == 0;
	if (e->source > 3 || (e->source < 3 && e->x->ne[2] == 0))
		return false;
	if (e->source == 0) { /* its result has heads inside */
		lbx_ggml_all_of(e, 0);
		lbx_ggml_one_at(e, 1, e->at[2] % e->x->ne[1]);
		lbx_ggml_one_at(e, 2, e->at[1] % e->x->ne[2]);
	} else if (e->source < 3) {
		int64_t times = e->t->ne[1] / e->x->ne[2];
		lbx_ggml_all_of(e, 1);
		lbx_ggml_one_at(e, 2, times > 0 ? e->at[1] / times % e->x->ne[2] : 0);
		if (e->source == 1)
			lbx_ggml_all_of(e, 0);
	} else {
		lbx_ggml_all_of(e, 0);
		lbx_ggml_one_at(e, 1, e->at[2] % e->x->ne[1]);
		lbx_ggml_one_at(e, 2, e->at[1] % e->x->ne[2]);
	}
	return true;
}

/* By where it lies. */
static bool same_address(struct lbx_ggml_element *e)
{
	uint64_t place = e->t->data, axes = 0;

	if (e->source > 0 || e->x->is_apart == 0 || !e->t->data)
		return false;
	for (int d = 0; d < LBX_GGML_AXES; d++)
		place += (uint64_t)e->at[d] * e->t->nb[d];
	if (place < e->x->data || e->g->anchor.types[e->t->type].elements != 1)
		return false;
	place -= e->x->data;
	for (int n = 0; n < LBX_GGML_AXES; n++) { /* the widest steps first */
		int widest = -1;
		for (int d = 0; d < LBX_GGML_AXES; d++)
			if (!(axes >> d & 1) && (widest < 0 || e->x->nb[d] > e->x->nb[widest] ||
						 (e->x->nb[d] == e->x->nb[widest] && e->x->ne[d] > e->x->ne[widest])))
				widest = d;
		axes |= 1ULL << widest;
		uint64_t at = e->x->nb[widest] && e->x->ne[widest] > 1 ? place / e->x->nb[widest] : 0;
		if (at >= (uint64_t)e->x->ne[widest])
			return false;
		lbx_ggml_one_at(e, widest, (int64_t)at);
		place -= at * e->x->nb[widest];
	}
	return place == 0;
}

static const struct {
	const char *op;
	lbx_ggml_part_fn *part;
} kinds[] = {
	{ "ADD", lbx_ggml_part_same },
	{ "ADD1", lbx_ggml_part_same },
	{ "SUB", lbx_ggml_part_same },
	{ "MUL", lbx_ggml_part_same },
	{ "DIV", lbx_ggml_part_same },
	{ "SCALE", lbx_ggml_part_same },
	{ "SQR", lbx_ggml_part_same },
	{ "SQRT", lbx_ggml_part_same },
	{ "LOG", lbx_ggml_part_same },
	{ "SIN", lbx_ggml_part_same },
	{ "COS", lbx_ggml_part_same },
	{ "UNARY", lbx_ggml_part_same },
	{ "CLAMP", lbx_ggml_part_same },
	{ "REPEAT", lbx_ggml_part_same },
	{ "LEAKY_RELU", lbx_ggml_part_same },
	{ "GLU", gated },
	{ "DUP", copied },
	{ "CPY", copied },
	{ "CONT", copied },
	{ "RMS_NORM", row },
	{ "NORM", row },
	{ "L2_NORM", row },
	{ "SOFT_MAX", row },
	{ "SUM_ROWS", row },
	{ "MEAN", row },
	{ "MUL_MAT", product },
	{ "CONCAT", joined },
	{ "GET_ROWS", lbx_ggml_part_get_rows },
	{ "SET_ROWS", lbx_ggml_part_set_rows },
	{ "MUL_MAT_ID", lbx_ggml_part_mul_mat_id },
	{ "IM2COL", lbx_ggml_part_im2col },
	{ "SSM_CONV", lbx_ggml_part_ssm_conv },
	{ "SSM_SCAN", lbx_ggml_part_ssm_scan },
	{ "RWKV_WKV6", lbx_ggml_part_wkv6 },
	{ "RWKV_WKV7", lbx_ggml_part_wkv7 },
	{ "GATED_LINEAR_ATTN", lbx_ggml_part_linear_attn },
	{ "GATED_DELTA_NET", lbx_ggml_part_delta_net },
	{ "ROPE", turned },
	{ "FLASH_ATTN_EXT", attended },
	{ "RESHAPE", same_address },
	{ "VIEW", same_address },
	{ "PERMUTE", same_address },
	{ "TRANSPOSE", same_address },
};

/* Which source an input is. */
static int source_of(const struct lbx_ggml_record *r, uint32_t i)
{
	for (int k = 0; k < LBX_GGML_SOURCES; k++)
		if (r->sources[k] && r->sources[k] != r->address && i-- == 0)
			return k;
	return LBX_GGML_VIEWED;
}

/* From the innermost axis first to the outermost. */
static bool turn_around(const struct lbx_ggml_element *e, int rank)
{
	struct lbx_part from = *e->ret;

	for (int d = 0; d < LBX_GGML_AXES; d++) {
		if (!from.nothing && (from.first[d] < 0 || from.count[d] < 1 || (d >= rank && from.first[d] != 0)))
			return false;
		if (!from.nothing && from.first[d] + (from.count[d] - 1) * from.step[d] >= e->x->ne[d])
			return false;
	}
	for (int k = 0; k < rank; k++) {
		e->ret->first[k] = from.first[rank - 1 - k];
		e->ret->count[k] = from.count[rank - 1 - k];
		e->ret->step[k] = from.step[rank - 1 - k];
	}
	return true;
}

bool lbx_ggml_part(struct lbx_tensors *tensors, const struct lbx_tensor *t, const int64_t *at, uint32_t i,
		   struct lbx_part *ret)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);
	struct lbx_ggml_record r, x;

	if (!lbx_ggml_set_read(g, t->address, &r) || r.rank != t->rank)
		return false;
	int source = source_of(&r, i);
	uint64_t at_source = source == LBX_GGML_VIEWED ? lbx_ggml_input_at(&r, i) : r.sources[source];
	if (!at_source || !lbx_ggml_set_read(g, at_source, &x) || x.size == 0)
		return false;
	*ret = (struct lbx_part){ .exact = true };
	struct lbx_ggml_element e = { .g = g, .t = &r, .x = &x, .source = source, .ret = ret };
	for (int d = 0; d < t->rank; d++)
		e.at[d] = at[t->rank - 1 - d];
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (strcmp(kinds[k].op, t->op) == 0 &&
		    (source != LBX_GGML_VIEWED || kinds[k].part == lbx_ggml_part_set_rows))
			return kinds[k].part(&e) && turn_around(&e, x.rank);
	return false;
}
