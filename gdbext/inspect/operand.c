#include "inspect/operand.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/select.h"
#include "io/npy.h"
#include "target/core.h"

enum { PATH = 4096 };

bool lbx_operand_tensor(struct lbx_context *context, const char *text, struct lbx_operand *ret)
{
	struct lbx_selection s;

	memset(ret, 0, sizeof *ret);
	if (!lbx_select_values(context, text, &s))
		return false;
	lbx_selection_label(&s, ret->label, sizeof ret->label);
	if (s.tensor.state == LB_STATE_READY)
		return lbx_array_of_tensor(context->target, &s.tensor, &ret->array) &&
		       lbx_slice_apply(&s.slice, &ret->array);
	if (!lbx_replay(context, &s.tensor, &ret->replayed))
		return false;
	ret->was_lazy = true;
	ret->array = ret->replayed.array;
	if (lbx_slice_apply(&s.slice, &ret->array))
		return true;
	lbx_operand_release(ret);
	return false;
}

static bool of_core(struct lbx_context *context, const char *path, const char *text,
		    struct lbx_operand *ret)
{
	struct lbx_context other = { .out = context->out, .settings = context->settings };

	if (!lbx_core_open(path, NULL, &other.target))
		return false;
	if (!lbx_operand_tensor(&other, text, ret)) {
		lb_fail_within("%s", path);
		lbx_table_destroy(other.table);
		lbx_target_destroy(other.target);
		return false;
	}
	snprintf(ret->label, sizeof ret->label, "%s:%s", path, text);
	ret->context = other;
	ret->own_target = other.target;
	return true;
}

static bool lay_over(const struct lb_array *file, struct lbx_operand *ret)
{
	int64_t strides[LB_MAX_RANK], stride = 1;
	uint64_t left = ret->file->size - file->at;

	if (file->encoding != LB_LITTLE_ENDIAN && lbx_dtype_bytes(file->dtype) > 1)
		return lb_fail("%s is big-endian", ret->label);
	for (int i = 0; i < file->rank; i++) {
		int axis = file->fortran ? i : file->rank - 1 - i;
		strides[axis] = stride;
		if (file->shape[axis] && !lb_mul(stride, file->shape[axis], &stride))
			return lb_fail("%s: its shape is too large", ret->label);
	}
	if (lbx_array_local(ret->file->data + file->at, left > INT64_MAX ? INT64_MAX : (int64_t)left,
			    file->dtype, file->rank, file->shape, strides, 0, &ret->array))
		return true;
	lb_fail_within("%s is cut short", ret->label);
	return false;
}

static bool of_file(const char *path, struct lbx_operand *ret)
{
	struct lb_array array;

	memset(ret, 0, sizeof *ret);
	snprintf(ret->label, sizeof ret->label, "%s", path);
	ret->file = lb_mapping_open(path);
	if (!ret->file)
		return false;
	struct lb_cursor cursor = lb_mapping_cursor(ret->file);
	if (lb_npy_parse(&cursor, "array", &array) && lay_over(&array, ret))
		return true;
	lbx_operand_release(ret);
	return false;
}

/* A name may hold a colon too: what stands before the last one must be a file. */
bool lbx_operand_any(struct lbx_context *context, const char *text, struct lbx_operand *ret)
{
	const char *colon = strrchr(text, ':');
	size_t n = strlen(text);
	char path[PATH];

	if (*text == '@')
		return lbx_operand_tensor(context, text, ret);
	if (n > 4 && strcmp(text + n - 4, ".npy") == 0)
		return of_file(text, ret);
	if (colon && colon > text && (size_t)(colon - text) < sizeof path) {
		snprintf(path, sizeof path, "%.*s", (int)(colon - text), text);
		if (access(path, F_OK) == 0 || strchr(path, '/'))
			return of_core(context, path, colon + 1, ret);
	}
	return lbx_operand_tensor(context, text, ret);
}

void lbx_operand_release(struct lbx_operand *operand)
{
	lbx_replay_release(&operand->replayed);
	lb_mapping_drop(operand->file);
	operand->file = NULL;
	if (operand->own_target) {
		lbx_table_destroy(operand->context.table);
		lbx_target_destroy(operand->own_target);
		operand->own_target = NULL;
	}
}
