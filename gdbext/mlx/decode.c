#include "mlx/decode.h"

#include "tensors/axes.h"

static void set_state(struct lbx_target *target, const struct lbx_mlx_record *r, struct lbx_tensor *ret)
{
	if (r->status == LBX_MLX_UNSCHEDULED)
		ret->state = LBX_LAZY;
	else
		ret->state = lbx_mlx_is_available(target, r) ? LBX_READY : LBX_EVALUATING;
}

bool lbx_mlx_decode(struct lbx_mlx_set *s, uint64_t id, const struct lbx_mlx_record *r, struct lbx_tensor *ret)
{
	static const int64_t unknown[LBX_MLX_AXES];
	struct lbx_target *target = lbx_mlx_set_target(s);
	struct lbx_mlx_buffer buffer = { .data = 0 };
	const char *op = lbx_mlx_primitive(&s->primitives, target, r->primitive);
	int64_t offset = 0;

	if (r->data && (!lbx_mlx_buffer_read(target, r->data, r->data_counts, &buffer) ||
			(buffer.data && !lbx_mlx_offset(s->layout, r, &buffer, &offset))))
		return false;
	*ret = (struct lbx_tensor){ .of = &s->tensors,
				    .address = r->address,
				    .id = id,
				    .dtype = r->dtype,
				    .op = op             ? op
					  : r->primitive ? "?"
							 : "",
				    .op_class = r->primitive ? LB_CLASS_KERNEL : LB_CLASS_LEAF,
				    .n_inputs = r->inputs.n,
				    .layout_known = r->data != 0,
				    .offset = offset,
				    .size = r->size,
				    .refs = r->references };
	set_state(target, r, ret);
	if (buffer.data) {
		ret->data = ret->state == LBX_READY ? buffer.data : 0;
		ret->buffer_id = lbx_mlx_buffer_number(s, r->data);
		ret->buffer_bytes = ret->buffer_capacity = (int64_t)buffer.bytes;
		ret->buffer_refs = buffer.references;
	}
	if (!ret->buffer_id && buffer.data) /* the search has not seen it */
		ret->buffer_id = r->data;
	return lbx_tensor_set_axes(&s->tensors.axes, ret, r->rank, r->sizes, r->data ? r->strides : unknown) &&
	       (ret->state != LBX_READY || lbx_tensor_in_bounds(ret));
}
