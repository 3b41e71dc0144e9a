/* Which tensors' memory has been used again. ggml's allocator gives a node's memory to later ones as soon as nothing
 * needs it, and some operations write into what they have read. */
#ifndef LBX_GGML_REUSE_H
#define LBX_GGML_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_ggml_extent {
	uint64_t start, end; /* addresses */
	uint32_t ordinal;    /* unlike any other's */
	uint32_t context;
	int64_t order;       /* in a context those that are computed later have higher ones */
	int64_t since;       /* when what lies there was computed: of a view, the order of what it is a view of */
	uint64_t root; /* the tensor whose memory it is: of a view, what it is a view of */
	bool writes;   /* its operation has written there */
	bool is_leaf;  /* its root was not computed: it holds what was written last */
};

enum { LBX_GGML_KEPT = -1, LBX_GGML_UNKNOWN_WRITER = -2 };

/* Reorders the extents, in no more time than sorting takes. ret[ordinal] becomes the ordinal of the last one of its context
 * that was computed since and wrote over it; where there is none, LBX_GGML_UNKNOWN_WRITER if one of another context
 * writes there, of which it is not known when. Fails without memory. */
bool lbx_ggml_find_reuse(struct lbx_ggml_extent *extents, size_t n, int64_t *ret);

#endif
