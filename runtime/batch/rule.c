#include "batch/rule.h"

#include <stdlib.h>

#include "base/cleanup.h"

struct lb_sizes lb_batch_sizes(const struct lb_batching *b)
{
	struct lb_sizes s = { 1, { b->n } };
	lb_sizes_add(&s, b->t->rank, b->t->shape);
	return s;
}

bool lb_batch_all(struct lb_batching *b, int first, int end)
{
	for (int i = first; i < end; i++) {
		struct lb_sizes s = { 1, { b->n } };
		if (b->batched[i])
			continue;
		lb_sizes_add(&s, b->x[i]->rank, b->x[i]->shape);
		b->x[i] = lb_broadcast_to(b->x[i], lb_sizes_list(&s));
		b->batched[i] = true;
		if (!b->x[i])
			return false;
	}
	return true;
}

struct lb_tensor *lb_batch_aligned(const struct lb_batching *b, int i, int rank)
{
	static const int64_t axes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	int missing = rank - lb_batch_rank(b, i);
	return b->batched[i] && missing > 0 ? lb_expand_dims(b->x[i], (lb_list){ missing, axes }) : b->x[i];
}

bool lb_batch_lies_alike(const struct lb_tensor *y, const struct lb_tensor *t)
{
	for (int i = 0; i < t->rank && y->size; i++) {
		if (t->shape[i] > 1 && y->strides[i + 1] != t->strides[i])
			return false;
	}
	return true;
}

static struct lb_recipe recipe(const struct lb_batching *b, struct lb_tensor *const *x)
{
	const struct lb_tensor *t = b->t;
	return (struct lb_recipe){ .op = t->op,
				   .dtype = (enum lb_dtype)t->dtype,
				   .shape = lb_shape_of(t),
				   .params = t->params,
				   .n = (int)t->n_inputs,
				   .x = x,
				   .site = (const void *)(uintptr_t)t->site };
}

struct lb_tensor *lb_batch_remake(const struct lb_batching *b, const int64_t *params, lb_list shape)
{
	struct lb_recipe r = recipe(b, b->x);
	for (int i = 0; i < r.n; i++) {
		if (!b->x[i])
			return NULL;
	}
	r.params = params;
	r.shape = shape;
	return lb_remake(&r);
}

static struct lb_tensor *slice(const struct lb_batching *b, int64_t at, struct lb_tensor **x)
{
	struct lb_recipe r = recipe(b, x);
	for (int i = 0; i < r.n; i++) {
		x[i] = b->batched[i] ? lb_slice(b->x[i], LB_AT(at)) : b->x[i];
		if (!x[i])
			return NULL;
	}
	return lb_remake(&r);
}

struct lb_tensor *lb_batch_in_slices(const struct lb_batching *b)
{
	struct lb_sizes s = lb_batch_sizes(b);
	if (b->n == 0)
		return lb_zeros(lb_sizes_list(&s), (lb_dtype)b->t->dtype);
	size_t n = b->n < INT32_MAX ? (size_t)b->n : 0;
	lb_auto_free struct lb_tensor **parts = n ? calloc(n + b->t->n_inputs, sizeof *parts) : NULL;
	if (!parts) {
		lb_fail("vmap: out of memory for %lld times %s", (long long)b->n, lb_ops[b->t->op].name);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		parts[i] = slice(b, (int64_t)i, parts + n);
		if (!parts[i])
			return NULL;
	}
	return lb_stack((int)n, parts, 0);
}

struct lb_tensor *lb_batch_interleaved(const struct lb_batching *b, struct lb_tensor *flat, int n_parts,
				       const int64_t *sizes)
{
	struct lb_tensor *parts[3];
	int64_t at = 0;
	for (int i = 0; i < n_parts; i++) {
		int64_t end = at + b->n * sizes[i];
		parts[i] = lb_reshape(lb_slice(flat, LB_RANGE(at, end)), LB_SHAPE(b->n, sizes[i]));
		at = end;
	}
	return n_parts == 1 ? parts[0] : lb_concatenate(n_parts, parts, 1);
}
