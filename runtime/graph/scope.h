/* Scopes own the references that nobody keeps by name. */
#ifndef LB_GRAPH_SCOPE_H
#define LB_GRAPH_SCOPE_H

#include <stdbool.h>

#include "memory/thread.h"

bool lb_scope_grow(struct lb_self *self);

/* Room for one more item, so that lb_scope_add() cannot fail. */
static inline bool lb_scope_reserve(struct lb_self *self)
{
	return __builtin_expect(self->n_items < self->items_capacity, 1) || lb_scope_grow(self);
}

/* Gives the innermost scope a reference (LB_SCOPE_REF) that t already counts. */
static inline void lb_scope_add(struct lb_self *self, struct lb_tensor *t)
{
	self->items[self->n_items++] = t;
}

#endif
