#include "ggml/decode.h"

#include <string.h>

#include "ggml/states.h"
#include "lazybones.h"
#include "tensors/axes.h"

static enum lb_op_class class_of(const struct lbx_ggml_set *g, const struct lbx_ggml_record *r, uint32_t n_inputs)
{
	if (r->op == 0 && !r->view_source)
		return LB_CLASS_LEAF;
	if (lbx_ggml_is_view(&g->anchor, r))
		return LB_CLASS_VIEW;
	if (strcmp(g->anchor.ops[r->op], "MUL_MAT") == 0)
		return LB_CLASS_MATMUL;
	return n_inputs == 0   ? LB_CLASS_CREATE
	       : n_inputs == 1 ? LB_CLASS_UNARY
	       : n_inputs == 2 ? LB_CLASS_BINARY
			       : LB_CLASS_TERNARY;
}

uint64_t lbx_ggml_input_at(const struct lbx_ggml_record *r, uint32_t i)
{
	bool is_source = false;

	for (int k = 0; k < LBX_GGML_SOURCES; k++) {
		if (r->sources[k] && r->sources[k] != r->address && i-- == 0)
			return r->sources[k];
		is_source = is_source || r->sources[k] == r->view_source;
	}
	return i == 0 && !is_source ? r->view_source : 0;
}

static uint32_t count_inputs(const struct lbx_ggml_record *r)
{
	uint32_t n = 0;

	while (lbx_ggml_input_at(r, n))
		n++;
	return n;
}

static bool set_axes(struct lbx_ggml_set *g, const struct lbx_ggml_record *r, struct lbx_tensor *ret)
{
	int64_t shape[LBX_GGML_AXES], strides[LBX_GGML_AXES];

	for (int i = 0; i < r->rank; i++) {
		shape[i] = r->ne[r->rank - 1 - i];
		strides[i] = r->strides[r->rank - 1 - i];
	}
	return lbx_tensor_set_axes(&g->tensors.axes, ret, r->rank, shape, strides);
}

bool lbx_ggml_decode_record(struct lbx_ggml_set *g, uint64_t id, const struct lbx_ggml_record *from,
			    struct lbx_tensor *ret)
{
	struct lbx_ggml_record r = *from, root;

	if (!lbx_ggml_set_root(g, &r, &root))
		return false;
	const struct lbx_ggml_type *type = &g->anchor.types[r.type];
	if (!root.is_apart || root.data > UINT64_MAX - (uint64_t)root.reach || root.type != r.type ||
	    r.view_offset % (uint64_t)type->bytes || r.view_offset > INT64_MAX / 2 / LBX_BLOCK_MAX)
		return false;
	*ret = (struct lbx_tensor){ .of = &g->tensors,
				    .address = r.address,
				    .id = id,
				    .dtype = type->encoding.dtype,
				    .op = g->anchor.ops[r.op],
				    .puts_inf = lbx_ggml_puts_inf(&g->anchor, (int)r.op),
				    .layout_known = true,
				    .offset = (int64_t)r.view_offset / type->bytes * type->elements,
				    .size = r.size,
				    .n_inputs = count_inputs(&r) };
	if (type->elements > 1 || !type->is_known)
		ret->encoding = &type->encoding;
	ret->op_class = class_of(g, &r, ret->n_inputs);
	strncpy(ret->name, r.name, LB_NAME_MAX);
	lbx_ggml_set_state(g, &r, &root, id, ret);
	if (root.data) {
		uint64_t root_id = lbx_ggml_set_id(g, root.address);
		ret->data = root.data;
		ret->buffer_id = root_id;
		ret->buffer_bytes = ret->buffer_capacity = root.reach;
		ret->buffer_refs = g->users[root_id - 1];
	}
	return set_axes(g, &r, ret) && (!root.data || lbx_tensor_in_bounds(ret));
}

bool lbx_ggml_decode(struct lbx_ggml_set *g, uint64_t id, struct lbx_tensor *ret)
{
	struct lbx_ggml_record r;

	return lbx_ggml_set_read(g, g->contexts.tensors[id - 1], &r) && lbx_ggml_decode_record(g, id, &r, ret);
}
