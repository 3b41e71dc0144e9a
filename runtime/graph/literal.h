/* Weak scalars as the literals that they are: numbers that have not met a dtype yet. */
#ifndef LB_GRAPH_LITERAL_H
#define LB_GRAPH_LITERAL_H

#include "graph/tensor.h"

static inline bool lb_is_weak(const struct lb_tensor *x)
{
	return lb_tensor_flags(x) & LB_FLAG_WEAK;
}

/* A number, or an integer, whose dtype is that of its value alone; params: 0 double bits, 1 int64,
 * 2 is an integer. */
struct lb_tensor *lb_literal(double value, const void *site);
struct lb_tensor *lb_literal_int(int64_t value, const void *site);
/* Whether an integer dtype has an integer literal's value; true of all else. */
bool lb_literal_fits(const struct lb_tensor *weak, enum lb_dtype dtype);
/* A bound of x that x's dtype cannot reach is as good as the nearest that it can. `high`: an upper
 * one. The bound itself, if it is none of that kind. */
struct lb_tensor *lb_literal_bound(struct lb_tensor *bound, const struct lb_tensor *x, bool high, const void *site);
/* The literal that arithmetic on two literals gives, as in Python; NULL, without an error, where
 * that is none: for other operations, an integer beyond 64 bits. */
struct lb_tensor *lb_literal_of(int op, const struct lb_tensor *a, const struct lb_tensor *b, const void *site);

#endif
