/* The order in which tensors came about: that of their numbers, where these grow so; else that in which they were computed. */
#ifndef LBX_SEQUENCE_H
#define LBX_SEQUENCE_H

#include "tensors/tensors.h"

struct lbx_sequence {
	uint64_t eval, order, id;
};

static inline struct lbx_sequence lbx_sequence_of(const struct lbx_tensor *t)
{
	bool is_ready = t->state == LBX_READY;

	if (t->of && t->of->ids_grow)
		return (struct lbx_sequence){ .id = t->id };
	/* what has no value yet comes last */
	return (struct lbx_sequence){ is_ready ? t->eval : UINT64_MAX, is_ready ? t->order : 0, t->id };
}

/* Below 0: a came first. */
static inline int lbx_sequence_compare(const struct lbx_sequence *a, const struct lbx_sequence *b)
{
	if (a->eval != b->eval)
		return a->eval < b->eval ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

#endif
