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

void lb_tracing_begin(struct lb_self *self, struct lb_tracing *tracing)
{
	tracing->outer = self->tracing;
	tracing->own = next_number();
	tracing->number = tracing->outer ? tracing->outer->number : tracing->own;
	tracing->since = self->next_id;
	self->tracing = tracing;
	self->trace_number = tracing->number;
}

void lb_tracing_end(struct lb_self *self)
{
	self->tracing = self->tracing->outer;
	self->trace_number = self->tracing ? self->tracing->number : 0;
}

const char *lb_tracing_label(const struct lb_tracing *tracing, char text[LB_TRACING_TEXT])
{
	const char *name = tracing->name;
	snprintf(text, LB_TRACING_TEXT, "%s%s%.255s%s", tracing->call, name ? "(" : "", name ? name : "",
		 name ? ")" : "");
	return text;
}

struct lb_tensor *lb_tracer_new(const struct lb_tracing *tracing, int i, const struct lb_tensor *x)
{
	struct lb_tensor *t =
	    lb_tensor_begin(LB_OP_TRACER, (enum lb_dtype)x->dtype, x->rank, x->shape, 0, NULL, tracing->site);
	if (!t)
		return NULL;
	memcpy(t->strides, x->strides, sizeof t->strides);
	t->params[0] = i;
	t->params[1] = (int64_t)tracing->own;
	lb_tensor_publish(t);
	char name[LB_NAME_MAX + 1];
	snprintf(name, sizeof name, "%.200s input %d", tracing->name ? tracing->name : tracing->call, i);
	return lb_named(name, t);
}

bool lb_tracing_may_queue(const struct lb_self *self, int n, struct lb_tensor *const *xs)
{
	char where[256], label[LB_TRACING_TEXT];
	for (const struct lb_tracing *tracing = self->tracing; tracing; tracing = tracing->outer) {
		for (int i = 0; i < n; i++) {
			if (lb_is_traced(tracing, xs[i]))
				return lb_fail(
				    "%s: async_eval of a tensor that the function makes evaluates inside it, at "
				    "%s: return the tensor, and evaluate it outside",
				    lb_tracing_label(tracing, label),
				    lb_describe_caller(lb_fail_site_now(), where, sizeof where));
		}
	}
	return true;
}

/* The trace under way that the tracer is an input of. */
static const struct lb_tracing *tracing_of(const struct lb_tensor *t)
{
	const struct lb_tracing *tracing = lb_self_pointer ? lb_self_pointer->tracing : NULL;
	while (tracing && !lb_is_tracer_of(tracing, t))
		tracing = tracing->outer;
	return tracing;
}

bool lb_tracer_refuse(const struct lb_tensor *t, bool plain)
{
	const struct lb_tracing *tracing = tracing_of(t);
	unsigned long long input = (unsigned long long)t->params[0];
	const char *name = lb_name(t);
	char where[256], label[LB_TRACING_TEXT];
	if (plain)
		return lb_fail("it depends on '%s', a tracer, which has no value", name ? name : "?");
	/* the site of the call that evaluates is noted; an earlier error may hide it */
	if (tracing)
		return lb_fail("%s: what depends on input %llu has no value while the function is traced, and "
			       "something evaluates inside it, at %s: return the tensor, and evaluate it outside",
			       lb_tracing_label(tracing, label), input,
			       lb_describe_caller(lb_fail_site_now(), where, sizeof where));
	return lb_fail("'%s' (#%llu) has no value: it stood for an input while a function was traced, for the call at "
		       "%s, and escaped; return what depends on it as an output instead of keeping it",
		       name ? name : "?", (unsigned long long)t->id,
		       lb_describe_caller((const void *)(uintptr_t)t->site, where, sizeof where));
}
