#include "ggml/record.h"

#include <string.h>

#include "base/error.h"

enum { FLAGS_END = 64, NB_MAX_BITS = 56 };

static uint64_t field(const unsigned char *bytes, uint32_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof value);
	return value;
}

static uint32_t half(const unsigned char *bytes, uint32_t at)
{
	uint32_t value;

	memcpy(&value, bytes + at, sizeof value);
	return value;
}

static bool is_text(const char *name, size_t max)
{
	size_t n = strnlen(name, max);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	return n < max;
}

/* The axis that blocks lie along, whose neighbours are one block apart. */
static int axis_of_blocks(const struct lbx_ggml_record *r, const struct lbx_ggml_type *type)
{
	for (int i = 0; i < LBX_GGML_AXES; i++)
		if (r->nb[i] == (uint64_t)type->bytes && (i == 0 || r->ne[i] > 1))
			return r->ne[i] % type->elements ? -1 : i;
	return -1;
}

/* Along each axis, from the narrowest on, one step leads beyond all that lies before. Axes of one element have their
 * bytes, too, as ggml makes them. */
static bool lies_apart(const struct lbx_ggml_record *r, const int64_t *steps, int64_t bytes)
{
	int order[LBX_GGML_AXES];
	uint64_t span = (uint64_t)bytes;

	for (int i = 0; i < LBX_GGML_AXES; i++) {
		int k = i;
		for (; k > 0 && (r->nb[i] < r->nb[order[k - 1]] ||
				 (r->nb[i] == r->nb[order[k - 1]] && steps[i] < steps[order[k - 1]]));
		     k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (int i = 0; i < LBX_GGML_AXES; i++) {
		if (r->nb[order[i]] < span)
			return false;
		span += (uint64_t)(steps[order[i]] - 1) * r->nb[order[i]];
	}
	return true;
}

/* From bytes to elements of the encoding; fails where that does not come out even. */
static bool measure(struct lbx_ggml_record *r, const struct lbx_ggml_type *type)
{
	int along = type->elements > 1 ? axis_of_blocks(r, type) : -1;
	int64_t reach = type->bytes, steps[LBX_GGML_AXES], some;

	if (type->elements > 1 && along < 0)
		return false;
	r->size = 1;
	for (int i = 0; i < LBX_GGML_AXES; i++) {
		if (r->ne[i] < 0 || r->nb[i] >> NB_MAX_BITS || !lb_mul(r->size, r->ne[i], &r->size))
			return false;
		if (r->ne[i] > 1)
			r->rank = i + 1;
	}
	if (r->rank == 0)
		r->rank = 1;
	for (int i = 0; i < LBX_GGML_AXES; i++) {
		steps[i] = i == along ? r->ne[i] / type->elements : r->ne[i];
		r->strides[i] = i == along ? 1 : (int64_t)r->nb[i] / type->bytes * type->elements;
		if (r->ne[i] > 1 && r->nb[i] % (uint64_t)type->bytes)
			return false;
		if (r->size && (!lb_mul(steps[i] - 1, (int64_t)r->nb[i], &some) || !lb_sum_of(reach, some, &reach)))
			return false;
	}
	r->reach = r->size ? reach : 0;
	r->is_apart = r->size == 0 || lies_apart(r, steps, type->bytes);
	return r->reach <= INT64_MAX / 4 && r->size <= INT64_MAX / 4;
}

bool lbx_ggml_record_read(struct lbx_target *target, const struct lbx_ggml_anchor *anchor,
			  const struct lbx_ggml_layout *layout, uint64_t address, struct lbx_ggml_record *ret)
{
	unsigned char bytes[LBX_GGML_RECORD_MAX];

	*ret = (struct lbx_ggml_record){ .address = address };
	if (layout->size > sizeof bytes || layout->name + layout->name_max > layout->size ||
	    layout->extra + sizeof(uint64_t) > layout->size ||
	    !lbx_target_try_read(target, address, bytes, layout->size))
		return false;
	ret->type = half(bytes, LBX_GGML_TYPE);
	ret->op = half(bytes, LBX_GGML_OP);
	ret->flags = half(bytes, LBX_GGML_FLAGS);
	ret->buffer = field(bytes, LBX_GGML_BUFFER);
	ret->data = field(bytes, layout->data);
	ret->extra = field(bytes, layout->extra);
	ret->view_source = field(bytes, layout->view_source);
	ret->view_offset = field(bytes, layout->view_offset);
	for (uint32_t i = 0; i < LBX_GGML_AXES; i++) {
		ret->ne[i] = (int64_t)field(bytes, LBX_GGML_NE + 8 * i);
		ret->nb[i] = field(bytes, LBX_GGML_NB + 8 * i);
	}
	for (uint32_t i = 0; i < LBX_GGML_SOURCES; i++) {
		ret->sources[i] = field(bytes, layout->sources + 8 * i);
		if (ret->sources[i] % 8)
			return false;
	}
	for (uint32_t i = 0; i < LBX_GGML_PARAMS; i++)
		ret->params[i] = (int32_t)half(bytes, LBX_GGML_OP_PARAMS + 4 * i);
	memcpy(ret->name, bytes + layout->name, layout->name_max);
	return ret->type < (uint32_t)anchor->n_types && anchor->types[ret->type].bytes &&
	       ret->op < (uint32_t)anchor->n_ops && ret->flags < FLAGS_END && ret->view_source % 8 == 0 &&
	       (ret->view_source || ret->view_offset == 0) && is_text(ret->name, layout->name_max) &&
	       measure(ret, &anchor->types[ret->type]);
}

bool lbx_ggml_writes_nothing(const struct lbx_ggml_anchor *anchor, int op)
{
	static const char *const names[] = { "NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(anchor->ops[op], names[i]) == 0)
			return true;
	return false;
}

bool lbx_ggml_puts_inf(const struct lbx_ggml_anchor *anchor, int op)
{
	return strcmp(anchor->ops[op], "DIAG_MASK_INF") == 0 || strcmp(anchor->ops[op], "FILL") == 0;
}

bool lbx_ggml_is_view(const struct lbx_ggml_anchor *anchor, const struct lbx_ggml_record *r)
{
	return r->view_source != 0 && lbx_ggml_writes_nothing(anchor, (int)r->op);
}
