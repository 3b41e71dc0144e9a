/* One ggml_tensor, as it lies in memory, checked. */
#ifndef LBX_GGML_RECORD_H
#define LBX_GGML_RECORD_H

#include "ggml/layout.h"

struct lbx_ggml_record {
	uint64_t address;
	uint32_t type, op, flags;
	uint64_t buffer, data, extra;
	int64_t ne[LBX_GGML_AXES]; /* elements, the innermost axis first */
	uint64_t nb[LBX_GGML_AXES]; /* bytes between neighbours, or between blocks of the axis that they lie along */
	uint64_t sources[LBX_GGML_SOURCES], view_source, view_offset;
	char name[LBX_GGML_NAME_MAX];
	int32_t params[LBX_GGML_PARAMS]; /* of its operation, which says what they are */
	/* what follows from these */
	int rank; /* as ggml counts it */
	int64_t size; /* elements */
	int64_t reach; /* bytes from the first to the last one */
	int64_t strides[LBX_GGML_AXES]; /* elements */
	bool is_apart; /* none of its elements lies in another, as they may only in a view */
};

/* False, quietly, where it cannot be read, or is no tensor of that build. */
bool lbx_ggml_record_read(struct lbx_target *target, const struct lbx_ggml_anchor *anchor,
			  const struct lbx_ggml_layout *layout, uint64_t address, struct lbx_ggml_record *ret);
/* Whether an operation, by its number, writes nothing: it gives another view, if anything. */
bool lbx_ggml_writes_nothing(const struct lbx_ggml_anchor *anchor, int op);
/* Whether an operation, by its number, puts Inf into its result by design. */
bool lbx_ggml_puts_inf(const struct lbx_ggml_anchor *anchor, int op);
/* Whether it is another view of what it is made of: its memory holds nothing that its operation has written. */
bool lbx_ggml_is_view(const struct lbx_ggml_anchor *anchor, const struct lbx_ggml_record *r);

#endif
