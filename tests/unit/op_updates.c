/* The operations that replace or add to some of a tensor's elements, by name. */
#include <string.h>

#include "op_table.h"

static lb_tensor *run_slice_update(const struct call *c)
{
	lb_index index[CASE_INDICES];
	int n = args_index(c->args, index);
	return lb_slice_update_n(c->in[0], c->in[1], n, index);
}

static lb_tensor *run_slice_add(const struct call *c)
{
	lb_index index[CASE_INDICES];
	int n = args_index(c->args, index);
	return lb_slice_add_n(c->in[0], c->in[1], n, index);
}

static lb_tensor *run_strided_add(const struct call *c)
{
	int64_t strides[LB_MAX_RANK];
	return lb_strided_add(c->in[0], c->in[1], args_list(c->args, "strides", strides),
			      args_int(c->args, "offset", 0));
}

static lb_tensor *run_scatter_add(const struct call *c)
{
	return lb_scatter_add(c->in[0], c->in[1], c->in[2], (int)args_int(c->args, "axis", 0));
}

static lb_tensor *run_put_along_axis(const struct call *c)
{
	return lb_put_along_axis(c->in[0], c->in[1], c->in[2], (int)args_int(c->args, "axis", 0),
				 (lb_put)args_int(c->args, "how", LB_PUT_ASSIGN));
}

#define OPS(X) X(slice_update) X(slice_add) X(strided_add) X(scatter_add) X(put_along_axis)

op_function op_find_update(const char *name)
{
	static const struct op_row rows[] = {
#define X(name) { #name, run_##name },
		OPS(X)
#undef X
	};
	return op_find_among(rows, sizeof rows / sizeof *rows, name);
}
