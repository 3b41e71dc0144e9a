/* Weights whose blocks a backend has put into another order, as its kernels like them: which one it is, and how tensors
 * are read there. */
#ifndef LBX_GGML_REPACKED_H
#define LBX_GGML_REPACKED_H

#include "ggml/anchor.h"
#include "ggml/places.h"
#include "ggml/record.h"

enum { LBX_GGML_ORDER_TEXT = 96 };

/* One order, of rows of one length. */
struct lbx_ggml_repacked {
	uint64_t extra; /* of the tensors that have it */
	uint32_t type;
	int64_t row_blocks;
	bool is_in_own_buffer; /* of a kind that repacks */
	bool is_known;
	char text[LBX_GGML_ORDER_TEXT]; /* what it is called, with the kind of buffer; "" if it has no name */
	struct lbx_encoding elements, bytes; /* if it is known */
};

/* Those that were asked for. */
struct lbx_ggml_repacks {
	size_t n, room;
	struct lbx_ggml_repacked **list;
};

/* Of a tensor that is no view; `buffer` may be NULL. It lives as long as the repacks. NULL: its blocks lie as its type
 * says. */
const struct lbx_ggml_repacked *lbx_ggml_repacked(struct lbx_ggml_repacks *repacks, struct lbx_target *target,
						  const struct lbx_ggml_anchor *anchor,
						  const struct lbx_ggml_record *root,
						  const struct lbx_ggml_buffer *buffer);
/* Whether a tensor, which may be a view of that one, can be read by it. */
bool lbx_ggml_repacked_reads(const struct lbx_ggml_repacked *order, const struct lbx_ggml_type *type,
			     const struct lbx_ggml_record *r, const struct lbx_ggml_record *root);
void lbx_ggml_repacks_free(struct lbx_ggml_repacks *repacks);

#endif
