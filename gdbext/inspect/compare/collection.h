/* Named values of one place, in their order: the tensors of a program in the order in which they came about, or the
 * arrays of a checkpoint by name. Of several of one name the second is called NAME@2. */
#ifndef LBX_COLLECTION_H
#define LBX_COLLECTION_H

#include "inspect/compare/checkpoint.h"
#include "inspect/operand/operand.h"
#include "tensors/sequence.h"

struct lbx_collected {
	char *name;
	struct lbx_key key;            /* of a program's */
	const struct lbx_saved *saved; /* of a checkpoint's */
	struct lbx_sequence sequence;  /* likewise */
};

struct lbx_collection {
	struct lbx_context *context; /* of the program that it is of, or that is looked at when a file is read */
	struct lbx_context core;     /* one that was opened for it; else without a target */
	struct lbx_checkpoint checkpoint;
	size_t n, room;
	struct lbx_collected *list;
	size_t *by_name;
};

/* Those whose names match. To be closed, also after a failure. */
bool lbx_collect(struct lbx_context *context, const char *glob, struct lbx_collection *ret);
/* Likewise of a core, of a file of arrays, or of a folder of such. */
bool lbx_collect_from(struct lbx_context *context, const char *path, const char *glob, struct lbx_collection *ret);
void lbx_collection_close(struct lbx_collection *collection);
/* NULL: there is none of that name. */
const struct lbx_collected *lbx_collection_find(const struct lbx_collection *collection, const char *name);
/* A lazy one is replayed. *ret is to be released, also after a failure. */
bool lbx_collected_get(const struct lbx_collection *collection, const struct lbx_collected *one,
		       struct lbx_operand *ret);

#endif
