#include "ops/operation.h"

#include <string.h>

struct lb_tensor *lb_senseless(const struct lb_recipe *r)
{
	lb_fail("%s: its inputs and parameters do not go together: the record is damaged", lb_ops[r->op].name);
	return NULL;
}

struct lb_tensor *lb_remake_as_is(const struct lb_recipe *r)
{
	struct lb_tensor *t = lb_tensor_begin(r->op, r->dtype, r->shape.n, r->shape.v, r->n, r->x, r->site);
	if (t)
		memcpy(t->params, r->params, sizeof t->params);
	return lb_tensor_publish(t);
}

struct lb_view lb_view_of(const struct lb_tensor *t)
{
	struct lb_view view = { .data = lb_tensor_data(t), .dtype = (enum lb_dtype)t->dtype, .rank = t->rank };
	memcpy(view.shape, t->shape, sizeof view.shape);
	memcpy(view.strides, t->strides, sizeof view.strides);
	return view;
}
