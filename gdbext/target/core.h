/* A core file. */
#ifndef LBX_CORE_H
#define LBX_CORE_H

#include "target/registers.h"
#include "target/target.h"

struct lbx_lines;

enum { LBX_UNPACK_GIB = 64 };

/* Where the program's files are, when not where the core says. The strings must outlive the
 * target; each may be NULL. */
struct lbx_core_options {
	int64_t unpack;      /* bytes that a core compressed by zstd may become; 0: LBX_UNPACK_GIB */
	const char *exe;     /* the program itself */
	const char *sysroot; /* a directory that holds the others under their paths */
};

/* `options` may be NULL. */
bool lbx_core_open(const char *path, const struct lbx_core_options *options,
		   struct lbx_target **ret);
/* Of such a target; they live as long as it does. */
struct lbx_lines *lbx_core_lines(struct lbx_target *target);
/* Those whose registers were saved, on a machine that is known; the one that died comes first. */
const struct lbx_threads *lbx_core_threads(struct lbx_target *target);
const struct lbx_death *lbx_core_death(struct lbx_target *target);

#endif
