#include "graph/scope.h"

#include <stdlib.h>

#include "base/vector.h"
#include "graph/start.h"
#include "graph/tensor.h"

static void drop_down_to(struct lb_self *self, size_t mark)
{
	while (self->n_items > mark)
		lb_tensor_drop(self->items[--self->n_items], LB_SCOPE_REF);
}

static void end_all(struct lb_self *self)
{
	drop_down_to(self, 0);
	self->n_marks = 0;
}

bool lb_scope_grow(struct lb_self *self)
{
	if (self->items_capacity == 0)
		lb_start();
	if (!lb_reserve(self->items, self->items_capacity, self->n_items + 1))
		return lb_fail("out of memory: a scope cannot hold %zu tensors", self->n_items + 1);
	self->end_scopes = end_all;
	return true;
}

lb_scope lb_scope_begin(void)
{
	struct lb_self *self = lb_self();
	if (!self)
		return (lb_scope){ NULL, 1 };
	if (!lb_reserve(self->marks, self->marks_capacity, self->n_marks + 1)) {
		/* its tensors then belong to the scope around it */
		lb_fail("out of memory: cannot open a scope");
		return (lb_scope){ NULL, 1 };
	}
	self->marks[self->n_marks++] =
	    (struct lb_scope_mark){ .first = self->n_items, .site = (uint64_t)(uintptr_t)LB_SITE() };
	return (lb_scope){ (void *)(uintptr_t)self->n_marks, 1 };
}

void lb_scope_end(lb_scope *scope)
{
	if (!scope)
		return;
	struct lb_self *self = lb_self();
	size_t depth = (uintptr_t)scope->mark;
	if (!scope->open || !self || depth == 0 || depth > self->n_marks) {
		scope->open = 0;
		return;
	}
	const void *before = lb_fail_site_now();
	lb_fail_site(LB_SITE()); /* for memory that goes back to the system */
	drop_down_to(self, self->marks[depth - 1].first);
	lb_fail_site(before); /* the scope may be within another call */
	self->n_marks = depth - 1;
	scope->open = 0;
}

static bool is_alive(const char *what, const struct lb_tensor *x, const void *site)
{
	if (__builtin_expect(lb_tensor_state(x) != LB_STATE_FREED, 1))
		return true;
	lb_fail_site(site);
	return lb_fail_dead(what, x);
}

lb_tensor *lb_keep(lb_tensor *x)
{
	if (!LB_GIVEN_HERE("keep", x) || !is_alive("keep", x, LB_SITE()))
		return NULL;
	lb_tensor_retain(x, LB_ONE_REF);
	return x;
}

void lb_release(lb_tensor *x)
{
	LB_ENTER();
	if (x && is_alive("release", x, site))
		lb_tensor_drop(x, LB_ONE_REF);
}

lb_tensor *lb_replace(lb_tensor **kept, lb_tensor *x)
{
	LB_ENTER_WHOLE();
	if (!LB_GIVEN_HERE("replace", kept) || !LB_GIVEN_HERE("replace", x))
		return NULL;
	lb_tensor *old = *kept;
	*kept = lb_keep(x);
	lb_release(old);
	return x;
}

lb_tensor *lb_escape(lb_tensor *x)
{
	if (!LB_GIVEN_HERE("escape", x))
		return NULL;
	struct lb_self *self = lb_self();
	if (!self || self->n_marks == 0)
		return x; /* without a scope it already belongs to the thread */
	if (!lb_scope_reserve(self))
		return NULL;
	lb_tensor_retain(x, LB_SCOPE_REF);
	/* the innermost scope begins one item later; the item that lay there moves to the end */
	uint64_t *mark = &self->marks[self->n_marks - 1].first;
	self->items[self->n_items++] = self->items[*mark];
	self->items[(*mark)++] = x;
	return x;
}
