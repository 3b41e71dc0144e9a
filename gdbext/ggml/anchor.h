/* Whether ggml is in a program, and what its build has: its operations and types, by their own tables. */
#ifndef LBX_GGML_ANCHOR_H
#define LBX_GGML_ANCHOR_H

#include "target/loader.h"
#include "tensors/encoding.h"

enum { LBX_GGML_OPS = 512, LBX_GGML_KINDS = 64, LBX_GGML_TYPES = 128, LBX_GGML_TEXT = 32 };

struct lbx_ggml_type {
	char name[LBX_GGML_TEXT]; /* "" where the build has left out a number */
	int64_t elements, bytes;  /* of a block */
	bool is_known; /* its elements can be decoded */
	struct lbx_encoding encoding; /* its name is that of the type; without a decoder unless it is known */
};

struct lbx_ggml_anchor {
	struct lbx_loaded module; /* which holds it */
	int n_ops, n_types;
	char ops[LBX_GGML_OPS][LBX_GGML_TEXT]; /* "NONE", "DUP", "ADD", … */
	struct lbx_ggml_type types[LBX_GGML_TYPES];
};

/* Whether any of the modules may hold a ggml, by no more than their headers and names: programs without one pay for it. */
bool lbx_ggml_may_be(struct lbx_target *target, const struct lbx_loaded *modules, int n);
/* How many of the modules hold a ggml: 0, 1, or 2 for more; *ret is the first, valid where it stands. A program in which
 * none is exported is searched for the tables, unless that would be slow. Quiet. */
int lbx_ggml_find(struct lbx_target *target, const struct lbx_loaded *modules, int n, struct lbx_ggml_anchor *ret);
/* Whether the build has an operation of that name. */
bool lbx_ggml_has_op(const struct lbx_ggml_anchor *anchor, const char *name);
/* The build's table that begins with these three names, as those of unary operations do: returns how many there are,
 * at most LBX_GGML_KINDS, or 0. */
int lbx_ggml_names(struct lbx_target *target, const struct lbx_ggml_anchor *anchor, const char *const first[3],
		   char (*ret)[LBX_GGML_TEXT]);
/* What the names say of how a type's elements are stored. */
void lbx_ggml_encode(struct lbx_ggml_anchor *anchor);

#endif
