/* Behind what all tensors have, at::SparseTensorImpl keeps how many of its axes are sparse and dense, then its indices and values;
 * at::SparseCsrTensorImpl and at::native::NestedTensorImpl begin with their tensors. */
#include "torch/parts.h"

#include <stdio.h>
#include <string.h>

enum { PARTS = 3, WORD = 8, TEXT = 32 };

static const struct row {
	const char *class;
	uint32_t at; /* behind what all have: bytes */
	const char *names[PARTS];
} rows[] = {
	{ "at::SparseTensorImpl", 0x10, { "indices", "values" } },
	{ "at::SparseCsrTensorImpl", 0, { "compressed indices", "plain indices", "values" } },
	{ "at::native::NestedTensorImpl", 0, { "sizes", "strides", "offsets" } },
};

static bool is_integer(unsigned dtype)
{
	const char *name = lbx_torch_dtype_name(dtype);

	return strcmp(name, "int64") == 0 || strcmp(name, "int32") == 0;
}

/* Its number; 0: it is none of the set's, or cannot be that part. */
static size_t part_of(struct lbx_torch_set *s, uint64_t address, const char *name, struct lbx_torch_record *ret)
{
	size_t n = lbx_torch_number(s->objects, s->n, address);

	return n && lbx_torch_record_read(lbx_torch_set_target(s), &s->classes, &s->layout, address, ret) &&
		       (strcmp(name, "values") == 0 || is_integer(ret->dtype))
		   ? n
		   : 0;
}

/* The values' first axis, or the one behind those of a batch, is as long as the last one of their indices. */
static bool fit_together(const struct lbx_torch_record *parts, const struct row *row)
{
	int values = row->names[2] ? 2 : 1;
	const struct lbx_torch_record *v = &parts[values], *indices = &parts[values - 1];
	int axis = values == 2 ? indices->rank - 1 : 0;

	return strcmp(row->names[values], "values") != 0 ||
	       (indices->rank && axis < v->rank && indices->sizes[indices->rank - 1] == v->sizes[axis]);
}

void lbx_torch_parts_tell(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context)
{
	uint64_t words[PARTS], at = r->address + s->layout.rank + LBX_TORCH_TENSOR_END;
	struct lbx_torch_record parts[PARTS];
	size_t ids[PARTS] = { 0 };
	char text[TEXT];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];
		if (strcmp(row->class, r->class->name) != 0 ||
		    !lbx_target_try_read(lbx_torch_set_target(s), at + row->at, words, sizeof words))
			continue;
		for (int k = 0; k < PARTS && row->names[k]; k++)
			ids[k] = part_of(s, words[k], row->names[k], &parts[k]);
		if (!ids[0] || !ids[1] || (row->names[2] && !ids[2]) || !fit_together(parts, row))
			return;
		for (int k = 0; k < PARTS && row->names[k]; k++) {
			snprintf(text, sizeof text, "#%zu", ids[k]);
			fn(context, row->names[k], text);
		}
	}
}
