#include "inspect/tensor/describe.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/format.h"

uint64_t lbx_tensor_data(const struct lbx_tensor *t)
{
	struct lbx_encoding e = lbx_tensor_encoding(t);

	if (t->state != LBX_READY || !lbx_tensor_in_bounds(t) || t->data == 0)
		return 0;
	/* without elements the offset may be anything */
	return t->data + (t->size ? (uint64_t)lbx_encoding_at(&e, t->offset) : 0);
}

const char *lbx_contiguity_name(enum lbx_contiguity contiguity)
{
	static const char *const names[] = {
		[LBX_ROW_CONTIGUOUS] = "row",
		[LBX_COLUMN_CONTIGUOUS] = "column",
		[LBX_STRIDED] = "strided",
	};
	return names[contiguity];
}

void lbx_describe_type(const struct lbx_tensor *t, char *ret, size_t size)
{
	char shape[LBX_LIST_MAX];

	if (t->is_shapeless) {
		snprintf(ret, size, "of unknown shape");
		return;
	}
	lbx_format_list(lbx_shape(t), t->rank, shape, sizeof shape);
	snprintf(ret, size, "%s %s", lbx_tensor_dtype_name(t), shape);
}

void lbx_describe(const struct lbx_tensor *t, char *ret, size_t size)
{
	char type[LBX_TYPE_MAX], number[LBX_ID_TEXT_MAX];
	const char *state = lbx_state_name(lbx_told_state(t));

	lbx_tensor_id_text(t, number);
	lbx_describe_type(t, type, sizeof type);
	if (t->name[0])
		snprintf(ret, size, "%s (%s, %s, %s)", t->name, number, type, state);
	else
		snprintf(ret, size, "%s (%s, %s)", number, type, state);
}

void lbx_describe_pc(struct lbx_target *target, uint64_t pc, char *ret, size_t size)
{
	struct lbx_source_line line;

	/* the call, not what follows it: that may be another line */
	if (pc == 0)
		snprintf(ret, size, "an unknown place");
	else if (!lbx_target_source_line(target, pc - 1, &line) || (!line.function[0] && !line.file[0]))
		snprintf(ret, size, "0x%llx", (unsigned long long)pc);
	else if (!line.file[0])
		snprintf(ret, size, "%s (0x%llx)", line.function, (unsigned long long)pc);
	else
		snprintf(ret, size, "%s%s%s:%d", line.function, line.function[0] ? " at " : "", line.file, line.line);
}
