/* Where the tensors are that have a name, for a program with many of them: a walk over all tells it, and it is kept for the
 * runs of a command that follow while the debugger answers, and for the next command if the program has stood still
 * (lbx_target_moment).
 *
 * What it tells is a hint, as the user may write into a program that stands still: whoever shows a tensor reads it anew and
 * looks whether it has the name. Only an index that the command itself has made (lbx_name_index_is_new) tells that there
 * is no tensor of a name. It takes 28 bytes for each tensor that has a name, and the name; of more than 2^20 such
 * tensors, or 64 MiB of names, none is kept. */
#ifndef LBX_NAME_INDEX_H
#define LBX_NAME_INDEX_H

#include "inspect/context.h"

struct lbx_name_index;

/* Of the tensors of the context; *ret is NULL where there is none that is good. False, without an error: this is not known
 * yet (lbx_target_waits), and a walk over all for nothing. */
bool lbx_name_index_get(struct lbx_context *context, const struct lbx_tensors *tensors,
			const struct lbx_name_index **ret);
bool lbx_name_index_is_new(const struct lbx_name_index *index);
/* The next tensor of the name, or, where that is NULL, of any, in the order of the walk; *at is 0 at first. False: there are
 * no more. */
bool lbx_name_index_next(const struct lbx_name_index *index, const struct lbx_context *context, const char *name,
			 uint64_t *at, struct lbx_key *ret, const char **ret_name);

/* Begins one; NULL, which the other functions take: this front end keeps none. Each tensor of a walk is added, those without
 * a name, too. At the end it belongs to context->kept, if the tensors are so many that it is worth that. */
struct lbx_name_index *lbx_name_index_begin(const struct lbx_context *context, const struct lbx_tensors *tensors);
void lbx_name_index_add(struct lbx_name_index *index, const struct lbx_context *context, const struct lbx_label *label);
void lbx_name_index_keep(struct lbx_name_index *index, struct lbx_context *context);
void lbx_name_index_destroy(struct lbx_name_index *index); /* NULL is fine */

/* The command has ended: what it has made is new no longer, and is dropped if when it was made is not known. */
void lbx_name_index_age(struct lbx_kept *kept);

#endif
