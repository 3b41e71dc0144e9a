/* The files that a core's NT_FILE note names: where the pages are that the kernel did not save
 * because they came from a file unchanged. */
#ifndef LBX_CORE_FILES_H
#define LBX_CORE_FILES_H

#include <time.h>

#include "target/core.h"

struct lbx_core_files;

/* Bytes that the core saved from an address on; NULL: none. */
typedef const char *lbx_saved_fn(const void *context, uint64_t address, uint64_t *n);

/* NULL for a damaged note (the core is then read without its files), or with an error when
 * memory is out. The note must outlive what is made of it. `written` is the core's own
 * time; all 0: it is not known, for the core came through a pipe. */
struct lbx_core_files *lbx_core_files_create(const char *note, uint64_t size, const struct lbx_core_options *options,
					     const struct timespec *written, lbx_saved_fn *saved, const void *context);
void lbx_core_files_destroy(struct lbx_core_files *files); /* NULL is fine */
/* Tells which is the program itself: what is mapped at an address. */
void lbx_core_files_program(struct lbx_core_files *files, uint64_t address);
/* The i-th mapping by address; false after the last. */
struct lbx_core_mapping {
	uint64_t start, end, offset;
	const char *path;
};
bool lbx_core_files_mapping(const struct lbx_core_files *files, size_t i, struct lbx_core_mapping *ret);
/* Where a file may be now, the k-th place: first as the options say, then where the program had it from;
 * NULL: no such place. False after the last. `room` holds PATH_MAX bytes. */
bool lbx_core_files_place(const struct lbx_core_files *files, const char *path, int k, char *room, const char **ret);
/* Bytes of a file at an address, and how many; NULL when there are none to be trusted. */
const char *lbx_core_files_at(struct lbx_core_files *files, uint64_t address, uint64_t *n);
/* Whether these are of a part that the program could have written to, and has not. */
bool lbx_core_files_unwritten(struct lbx_core_files *files, uint64_t address);
/* Bytes at an address are in an answer: who reads it is to be told if they are of a file as it is now. */
void lbx_core_files_tell(struct lbx_core_files *files, uint64_t address);
/* The path of the file that was mapped at an address, as the core says; or NULL. */
const char *lbx_core_files_path(const struct lbx_core_files *files, uint64_t address);
/* Where the first mapping after an address begins; UINT64_MAX: there is none. */
uint64_t lbx_core_files_next(const struct lbx_core_files *files, uint64_t address);
/* Whether the bytes that lbx_core_files_at() gave for an address are of a file that is proven to be
 * as it was mapped; else it was read as it is now. */
bool lbx_core_files_proven(const struct lbx_core_files *files, uint64_t address);
/* What has been read at an address was of no use: there is nothing to tell of it. */
void lbx_core_files_untell(struct lbx_core_files *files, uint64_t address);
/* Whether a time is later than another. */
bool lbx_core_files_newer(const struct timespec *a, const struct timespec *b);
/* Whether the core's time, as lbx_core_files_create() got it, is known. */
bool lbx_core_files_dated(const struct timespec *written);
/* Why a file that was mapped gives no bytes: "is missing or …". */
const char *lbx_core_files_why(const struct lbx_core_files *files, uint64_t address);
/* One of the files that were read as they are now since the last call, and how many others there
 * are; NULL: none. */
const char *lbx_core_files_untold(struct lbx_core_files *files, size_t *ret_others);

#endif
