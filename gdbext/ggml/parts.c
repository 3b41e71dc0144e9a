/* ggml counts axes from the innermost one, and so do the indices here until the end. What has no row is not known: then
 * all of an input may be meant. */
#include "ggml/parts.h"

#include <string.h>

#include "ggml/decode.h"
#include "ggml/inputs.h"

struct element {
	struct lbx_ggml_set *g;
	const struct lbx_ggml_record *t, *x; /* the node, and its source */
	int source;
	int64_t at[LBX_GGML_AXES];
	struct lbx_part *ret;
};

static void one_at(const struct element *e, int d, int64_t at)
{
	e->ret->first[d] = at;
	e->ret->count[d] = e->ret->step[d] = 1;
}

static void all_of(const struct element *e, int d)
{
	e->ret->first[d] = 0;
	e->ret->count[d] = e->x->ne[d];
	e->ret->step[d] = 1;
}

/* The same place; again and again, where the source is smaller. */
static bool same_place(struct element *e)
{
	for (int d = 0; d < LBX_GGML_AXES; d++)
		one_at(e, d, e->at[d] % e->x->ne[d]);
	return true;
}

/* The same, in the order of their elements. */
static bool same_number(struct element *e)
{
	int64_t number = 0;

	if (e->source > 0 || e->t->size != e->x->size)
		return false;
	for (int d = LBX_GGML_AXES; d-- > 0;)
		number = number * e->t->ne[d] + e->at[d];
	for (int d = 0; d < LBX_GGML_AXES; number /= e->x->ne[d], d++)
		one_at(e, d, number % e->x->ne[d]);
	return true;
}

static bool copied(struct element *e)
{
	e->ret->nothing = e->source > 0; /* where to */
	return e->ret->nothing || same_number(e);
}

/* All of the same row; other sources at the same place. */
static bool row(struct element *e)
{
	same_place(e);
	if (e->source == 0)
		all_of(e, 0);
	return e->source < 2;
}

static bool product(struct element *e)
{
	same_place(e);
	all_of(e, 0);
	if (e->source == 1) {
		one_at(e, 1, e->at[1]);
		return true;
	}
	one_at(e, 1, e->at[0]);
	for (int d = 2; d < LBX_GGML_AXES; d++) {
		int64_t times = e->t->ne[d] / e->x->ne[d];
		one_at(e, d, times > 0 ? e->at[d] / times : 0);
	}
	return e->source == 0;
}

/* The index is read where it lies, if that is what it was. */
static bool row_of_index(struct element *e)
{
	struct lbx_tensor indices;
	struct lbx_ggml_record r;
	uint64_t id = lbx_ggml_set_id(e->g, e->t->sources[1]);
	int32_t index;

	if (e->source == 1) {
		for (int d = 0; d < LBX_GGML_AXES; d++)
			one_at(e, d, d + 1 < LBX_GGML_AXES ? e->at[d + 1] % e->x->ne[d] : 0);
		return true;
	}
	if (!id || !lbx_ggml_set_read(e->g, e->t->sources[1], &r) || !lbx_ggml_decode(e->g, id, &indices) ||
	    indices.state != LBX_READY || indices.encoding || indices.dtype != LB_I32)
		return false;
	uint64_t place =
	    r.data + (uint64_t)e->at[1] * r.nb[0] + (uint64_t)e->at[2] * r.nb[1] + (uint64_t)e->at[3] * r.nb[2];
	if (e->at[1] >= r.ne[0] || e->at[2] >= r.ne[1] || e->at[3] >= r.ne[2] ||
	    !lbx_target_try_read(lbx_ggml_set_target(e->g), place, &index, sizeof index) || index < 0 ||
	    index >= e->x->ne[1])
		return false;
	same_place(e);
	one_at(e, 1, index);
	return true;
}

/* Pairs of a row turn; which is the other one depends on the mode. */
static bool turned(struct element *e)
{
	same_place(e);
	e->ret->nothing = e->source == 1; /* places in the text */
	if (e->source == 0)
		all_of(e, 0);
	e->ret->exact = false;
	return e->source < 2;
}

/* Halves of a row, or two sources: what is gated, and the gate. */
static bool gated(struct element *e)
{
	same_place(e);
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
static bool attended(struct element *e)
{
	same_place(e);
	e->ret->exact = e->source == 0;
	if (e->source > 3 || (e->source < 3 && e->x->ne[2] == 0))
		return false;
	if (e->source == 0) { /* its result has heads inside */
		all_of(e, 0);
		one_at(e, 1, e->at[2] % e->x->ne[1]);
		one_at(e, 2, e->at[1] % e->x->ne[2]);
	} else if (e->source < 3) {
		int64_t times = e->t->ne[1] / e->x->ne[2];
		all_of(e, 1);
		one_at(e, 2, times > 0 ? e->at[1] / times % e->x->ne[2] : 0);
		if (e->source == 1)
			all_of(e, 0);
	} else {
		all_of(e, 0);
		one_at(e, 1, e->at[2] % e->x->ne[1]);
		one_at(e, 2, e->at[1] % e->x->ne[2]);
	}
	return true;
}

/* By where it lies. */
static bool same_address(struct element *e)
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
		one_at(e, widest, (int64_t)at);
		place -= at * e->x->nb[widest];
	}
	return place == 0;
}

static const struct {
	const char *op;
	bool (*part)(struct element *e);
} kinds[] = {
	{ "ADD", same_place },
	{ "ADD1", same_place },
	{ "SUB", same_place },
	{ "MUL", same_place },
	{ "DIV", same_place },
	{ "SCALE", same_place },
	{ "SQR", same_place },
	{ "SQRT", same_place },
	{ "LOG", same_place },
	{ "SIN", same_place },
	{ "COS", same_place },
	{ "UNARY", same_place },
	{ "CLAMP", same_place },
	{ "REPEAT", same_place },
	{ "LEAKY_RELU", same_place },
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
	{ "GET_ROWS", row_of_index },
	{ "ROPE", turned },
	{ "FLASH_ATTN_EXT", attended },
	{ "RESHAPE", same_address },
	{ "VIEW", same_address },
	{ "PERMUTE", same_address },
	{ "TRANSPOSE", same_address },
};

/* Which source an input is; -1: the one that it is a view of, and no source. */
static int source_of(const struct lbx_ggml_record *r, uint32_t i)
{
	for (int k = 0; k < LBX_GGML_SOURCES; k++)
		if (r->sources[k] && r->sources[k] != r->address && i-- == 0)
			return k;
	return -1;
}

/* From the innermost axis first to the outermost. */
static bool turn_around(const struct element *e, int rank)
{
	struct lbx_part from = *e->ret;

	for (int d = 0; d < LBX_GGML_AXES; d++) {
		if (!from.nothing && d >= rank && from.first[d] != 0)
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
	if (source < 0 || !lbx_ggml_set_read(g, r.sources[source], &x) || x.size == 0)
		return false;
	*ret = (struct lbx_part){ .exact = true };
	struct element e = { .g = g, .t = &r, .x = &x, .source = source, .ret = ret };
	for (int d = 0; d < t->rank; d++)
		e.at[d] = at[t->rank - 1 - d];
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (strcmp(kinds[k].op, t->op) == 0)
			return kinds[k].part(&e) && turn_around(&e, x.rank);
	return false;
}
