/* The rules by which operations are made over a whole batch (lb_vmap()), written with the public operations, so that what
 * they make can be differentiated, compiled and mapped in turn.
 *
 * What depends on the batch has it as axis 0. Each element of the batch lies there as the tensor of the trace does: results
 * of operations that compute are row-major, and a view has the strides that it has in the trace, behind that of the
 * batch. */
#ifndef LB_BATCH_RULE_H
#define LB_BATCH_RULE_H

#include "ops/operation.h"

/* One application of a rule, which may change the lists. */
struct lb_batching {
	const struct lb_tensor *t; /* the operation as it was traced, for one element */
	int64_t n; /* elements of the batch */
	struct lb_tensor **x; /* its inputs: as they are, or, if batched, with the batch in front */
	bool *batched; /* one at least is */
};

/* The result, of shape (n, t's shape) and t's dtype; NULL on failure. */
typedef struct lb_tensor *lb_batch_rule(struct lb_batching *b);

/* NULL for an operation without inputs, and for one that no trace has. */
extern lb_batch_rule *const lb_batch_rules[LB_OPS];

#define LB_OP(id, name, op_class, needs, least, most, sizes, remake, compute, rule, batch) \
	lb_batch_rule lb_batch_##batch;
#include "ops.def"
#undef LB_OP

/* A shape that is put together. */
struct lb_sizes {
	int n;
	int64_t v[3 * LB_MAX_RANK];
};

static inline void lb_sizes_add(struct lb_sizes *s, int n, const int64_t *v)
{
	__builtin_memcpy(s->v + s->n, v, (size_t)n * sizeof *v);
	s->n += n;
}

static inline void lb_sizes_add_ones(struct lb_sizes *s, int n)
{
	while (n-- > 0)
		s->v[s->n++] = 1;
}

static inline lb_list lb_sizes_list(const struct lb_sizes *s)
{
	return (lb_list){ s->n, s->v };
}

/* Axes of input i, that of the batch not counted. */
static inline int lb_batch_rank(const struct lb_batching *b, int i)
{
	return b->x[i]->rank - b->batched[i];
}

/* Their sizes. */
static inline const int64_t *lb_batch_shape(const struct lb_batching *b, int i)
{
	return b->x[i]->shape + b->batched[i];
}

/* (n, t's shape) */
struct lb_sizes lb_batch_sizes(const struct lb_batching *b);
/* Gives all inputs from `first` up to, not including, `end` the axis of the batch. False on failure. */
bool lb_batch_all(struct lb_batching *b, int first, int end);
/* Input i with axes of 1 behind that of the batch, if it has it, so that its last ones are those of a tensor with `rank`
 * axes besides. */
struct lb_tensor *lb_batch_aligned(const struct lb_batching *b, int i, int rank);
/* The operation anew over the inputs as they are now. */
struct lb_tensor *lb_batch_remake(const struct lb_batching *b, const int64_t *params, lb_list shape);
/* Whether each element of the batch lies in y as t does. */
bool lb_batch_lies_alike(const struct lb_tensor *y, const struct lb_tensor *t);
/* The last resort, and no slower for an operation that takes long: once for each element. */
struct lb_tensor *lb_batch_in_slices(const struct lb_batching *b);
/* Of one axis, where several results of the batch lie one after another, each of so many elements for one of its own: (n,
 * all results of an element). */
struct lb_tensor *lb_batch_interleaved(const struct lb_batching *b, struct lb_tensor *flat, int n_parts,
				       const int64_t *sizes);

#endif
