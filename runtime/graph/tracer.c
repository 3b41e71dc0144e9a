#include "graph/tracer.h"

#include <stdio.h>
#include <string.h>

#include "base/caller.h"

/* Apart from the numbers of evaluations, which tensors carry in the same place. */
static uint64_t next_number(void)
{
	static uint64_t last;
	return LB_TRACE | __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

void lb_tracing_begin(struct lb_self *self, struct lb_tracing *tracing, const char *name, const void *site)
{
	*tracing = (struct lb_tracing){ name, site, next_number() };
	self->tracing = tracing;
	self->trace_number = tracing->number;
}

void lb_tracing_end(struct lb_self *self)
{
	self->tracing = NULL;
	self->trace_number = 0;
}

struct lb_tensor *lb_tracer_new(const struct lb_tracing *tracing, int i, const struct lb_tensor *x)
{
	struct lb_tensor *t =
	    lb_tensor_begin(LB_OP_TRACER, (enum lb_dtype)x->dtype, x->rank, x->shape, 0, NULL, tracing->site);
	if (!t)
		return NULL;
	memcpy(t->strides, x->strides, sizeof t->strides);
	t->params[0] = i;
	t->params[1] = (int64_t)tracing->number;
	lb_tensor_publish(t);
	char name[LB_NAME_MAX + 1];
	snprintf(name, sizeof name, "%.200s input %d", tracing->name, i);
	return lb_named(name, t);
}

bool lb_tracing_may_queue(const struct lb_self *self, int n, struct lb_tensor *const *xs)
{
	const struct lb_tracing *tracing = self->tracing;
	char where[256];
	for (int i = 0; tracing && i < n; i++) {
		if (lb_is_traced(tracing, xs[i]))
			return lb_fail("compile(%s): async_eval of a tensor that the function makes evaluates "
				       "inside a compiled function at %s: return the tensor, and evaluate it "
				       "outside",
				       tracing->name, lb_describe_caller(lb_fail_site_now(), where, sizeof where));
	}
	return true;
}

bool lb_tracer_refuse(const struct lb_tensor *t, bool plain)
{
	const struct lb_self *self = lb_self_pointer;
	const struct lb_tracing *tracing = self ? self->tracing : NULL;
	unsigned long long input = (unsigned long long)t->params[0];
	const char *name = lb_name(t);
	char where[256];
	if (plain)
		return lb_fail("it depends on '%s', a tracer, which has no value", name ? name : "?");
	/* the site of the call that evaluates is noted; an earlier error may hide it */
	if (tracing && (uint64_t)t->params[1] == tracing->number)
		return lb_fail("compile(%s): what depends on input %llu has no value while the function is "
			       "traced, and something evaluates inside a compiled function at %s: return the "
			       "tensor, and evaluate it outside",
			       tracing->name, input, lb_describe_caller(lb_fail_site_now(), where, sizeof where));
	return lb_fail("'%s' (#%llu) has no value: it stood for an input while a function that is "
		       "compiled was traced, for the call at %s, and escaped; return what depends on it as an "
		       "output instead of keeping it",
		       name ? name : "?", (unsigned long long)t->id,
		       lb_describe_caller((const void *)(uintptr_t)t->site, where, sizeof where));
}
