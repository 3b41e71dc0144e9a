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
	bool force;          /* names come from exe also if it is another program */
	const char *sysroot; /* a directory that holds the others under their paths */
	const char *advice;  /* how to tell where a file is now, for messages */
};

/* `options` may be NULL. */
bool lbx_core_open(const char *path, const struct lbx_core_options *options, struct lbx_target **ret);
/* Of such a target; they live as long as it does. */
struct lbx_lines *lbx_core_lines(struct lbx_target *target);
/* Those whose registers were saved, on a machine that is known; the one that died comes first. */
const struct lbx_threads *lbx_core_threads(struct lbx_target *target);
/* Why the file that options.exe names is not used, or is doubtful; false: there is nothing to say. */
bool lbx_core_warning(struct lbx_target *target, char *ret, size_t size);
const struct lbx_death *lbx_core_death(struct lbx_target *target);

/* Where bytes at an address come from. */
enum lbx_core_bytes {
	LBX_BYTES_HELD,        /* the core, or a file that is proven to be as it was mapped */
	LBX_BYTES_AS_THEY_ARE, /* a file as it is now: the core saved nothing to prove it by */
	LBX_BYTES_OF_A_FILE,   /* a file that is missing or has changed: they cannot be read */
	LBX_BYTES_LOST,        /* they were not saved */
	LBX_BYTES_NOWHERE,     /* the program had no memory there, as far as the core says */
};

/* *n is how many are wanted, more than 0, and becomes how many there are of that kind; of those that
 * are missing, 1. */
enum lbx_core_bytes lbx_core_bytes(struct lbx_target *target, uint64_t address, uint64_t *n);

#endif
