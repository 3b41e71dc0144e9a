/* What is kept of one process of a job for a comparison with the others: of each named tensor its shape and a digest of its
 * values. It is taken from a core or a process, and may be written to a file of some KB, so that the core need not be
 * carried to where the others are. */
#ifndef LBX_RANK_DIGEST_H
#define LBX_RANK_DIGEST_H

#include "inspect/command.h"
#include "inspect/measure/digest.h"

enum lbx_digested_as { LBX_ABSENT, LBX_LAZY_STILL, LBX_UNREADABLE, LBX_VALUE };

struct lbx_digested {
	char *name;
	uint64_t id;
	enum lbx_digested_as found;
	int rank; /* of a value; and its shape */
	int64_t *shape;
	struct lbx_digest digest;
};

struct lbx_rank_digest {
	int64_t rank; /* in the job; -1: not known */
	size_t n, room;
	struct lbx_digested *list; /* in the order in which the process has them */
};

/* `glob`: of names, or NULL; `replay`: lazy ones are computed. To be deinitialised, also after a failure. */
bool lbx_rank_digest_take(struct lbx_context *context, const char *glob, bool replay, struct lbx_rank_digest *ret);
bool lbx_rank_digest_write(const struct lbx_rank_digest *digest, const char *path);
/* Whether a file may be one: it begins as JSON does. */
bool lbx_is_rank_digest(const char *path);
bool lbx_rank_digest_read(const char *path, const char *glob, struct lbx_rank_digest *ret);
void lbx_rank_digest_deinit(struct lbx_rank_digest *digest);

#endif
