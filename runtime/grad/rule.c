#include "grad/rule.h"

#include "grad/walk.h"
#include "graph/shape.h"

struct lb_tensor *lb_scaled(struct lb_tensor *x, double value)
{
	return value == 1 ? x : lb_multiply(x, lb_scalar(value));
}

struct lb_tensor *lb_conjugated(struct lb_tensor *x)
{
	return x && x->dtype == LB_C64 ? lb_conjugate(x) : x;
}

struct lb_tensor *lb_zeros_of(struct lb_tensor *x)
{
	return lb_zeros(lb_shape_of(x), (lb_dtype)x->dtype);
}

bool lb_vjp_wants(const struct lb_vjp *v, int i)
{
	const struct lb_walk_node *node = lb_walk_find(v->walk, lb_vjp_input(v, i));
	return node && node->on_path;
}

struct lb_tensor *lb_vjp_so_far(const struct lb_vjp *v, struct lb_tensor *x)
{
	const struct lb_walk_node *node = lb_walk_find(v->walk, x);
	return node && node->cotangent ? node->cotangent : lb_zeros_of(x);
}

bool lb_vjp_put(const struct lb_vjp *v, struct lb_tensor *x, struct lb_tensor *d)
{
	if (!d)
		return false;
	struct lb_walk_node *node = lb_walk_find(v->walk, x);
	if (node && node->on_path)
		node->cotangent = d;
	return true;
}

/* d summed over the axes along which x was broadcast, in x's shape and dtype. */
static struct lb_tensor *fitted(struct lb_tensor *d, struct lb_tensor *x)
{
	int64_t axes[LB_MAX_RANK];
	int n = 0, more = d->rank > x->rank ? d->rank - x->rank : 0;
	for (int i = 0; i < d->rank; i++) {
		int own = i - d->rank + x->rank;
		if (own < 0 || (x->shape[own] == 1 && d->shape[i] != 1))
			axes[n++] = i;
	}
	if (n && lb_dtypes[x->dtype].bytes > lb_dtypes[d->dtype].bytes)
		d = lb_astype(d, (lb_dtype)x->dtype);
	if (n)
		d = lb_sum(d, (lb_list){ n, axes }, true);
	if (d && more)
		d = lb_reshape(d, (lb_list){ x->rank, d->shape + more });
	if (d && !lb_same_shape(d->rank, d->shape, x->rank, x->shape))
		d = lb_broadcast_to(d, lb_shape_of(x));
	return d ? lb_astype(d, (lb_dtype)x->dtype) : NULL;
}

bool lb_vjp_fail(const struct lb_vjp *v, const char *why)
{
	lb_fail_site((const void *)(uintptr_t)v->t->site);
	return lb_fail("%s: %s", lb_ops[v->t->op].name, why);
}

bool lb_vjp_give(const struct lb_vjp *v, int i, struct lb_tensor *d)
{
	return lb_vjp_give_to(v, lb_vjp_input(v, i), d);
}

bool lb_vjp_give_to(const struct lb_vjp *v, struct lb_tensor *x, struct lb_tensor *d)
{
	if (!d)
		return false;
	struct lb_walk_node *node = lb_walk_find(v->walk, x);
	if (!node || !node->on_path)
		return true;
	d = fitted(d, x);
	if (d && node->cotangent)
		d = lb_add(node->cotangent, d);
	return lb_vjp_put(v, x, d);
}
