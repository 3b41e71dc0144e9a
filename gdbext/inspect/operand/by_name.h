/* Which tensors have a name, which of several is meant, and which names are like it. */
#ifndef LBX_BY_NAME_H
#define LBX_BY_NAME_H

#include "inspect/context.h"

enum { LBX_TEXT_MAX = 1024, LBX_NEAR = 3 };

struct lbx_named {
	uint64_t count; /* that have the name */
	struct lbx_tensor first;
	uint64_t n_spelt; /* of which it is a variable's name (lbx_is_spelling) */
	struct lbx_tensor spelt;
	int n_near; /* names like it */
	char near[LBX_NEAR][LB_NAME_MAX + 1];
	int scores[LBX_NEAR];
};

/* Walks the table once for all `prefixes` of a text, each shorter than the one before; of many tensors not even that, where it
 * is remembered from before (inspect/name_index.h). False, without an error: not known yet. */
bool lbx_find_named(struct lbx_context *context, struct lbx_tensors *tensors, char (*prefixes)[LBX_TEXT_MAX], int n,
		    struct lbx_named *found);

/* Another walk, where none has the name: names like it. */
bool lbx_find_like(struct lbx_context *context, struct lbx_tensors *tensors, const char *name, struct lbx_named *found);

/* Of several that have the name, the one that is meant wherever a tensor is named: the last that the innermost open scope
 * of the selected frame's thread holds, or the one around it, and so on; where none does, or scopes are not known, the
 * newest, which the highest number tells. The answer tells of the choice. (A variable of the name comes before all that: select.c.) */
bool lbx_choose_named(struct lbx_context *context, struct lbx_tensors *tensors, const char *name,
		      struct lbx_tensor *ret);
/* NAME@N: the N-th that has the name, from 1 on, in the order in which they came about. NAME@lazy, NAME@thread:TID: the one
 * that is meant of those in a state, or made by a thread. They go together: NAME@lazy@2; a number may be that of a debugger's variable: NAME@$i. False, without an error: it is
 * not written so, or no tensor has the name. */
bool lbx_find_told(struct lbx_context *context, struct lbx_tensors *tensors, const char *text, struct lbx_tensor *ret);
/* Whether it is written so, with the name. */
bool lbx_tells_which(const char *text, char name[LBX_TEXT_MAX]);

/* Why it is that one. */
#define LBX_THE_NEWEST "the newest"
#define LBX_THE_HIGHEST "that of the highest number" /* of several threads, whose numbers do not tell who was first */
#define LBX_OF_SCOPE "that of the innermost scope"
#define LBX_OF_VARIABLE "the variable's"
#define LBX_NO_VARIABLES "a name comes first; the variable called so, which stands in (brackets), holds another"
/* Keeps for the answer that of `of` tensors called so t is meant, the nth. */
void lbx_tell_choice(struct lbx_out *out, const char *text, const struct lbx_tensor *t, size_t nth, size_t of,
		     const char *why);

/* Fails, with what there is. `null`: the part of it that is an expression of value NULL; or NULL.
 * `quoted`: quotes stood around it. `why`: what is known of it as an expression of C's; or "". */
bool lbx_fail_unnamed(const char *text, const struct lbx_named *found, const char *null, bool quoted, const char *why,
		      const char *handles);

#endif
