/* Uses everything that a file offers, as test_files and the fuzz target do. */
#ifndef TEST_FILE_WALK_H
#define TEST_FILE_WALK_H

#include "lazybones.h"

/* Opens the bytes, takes every tensor, evaluated (unless it is larger than max_bytes) and raw,
 * and all metadata. True if all of that worked; the error of what did not is kept. */
bool file_walk(const void *bytes, size_t nbytes, int64_t max_bytes);

#endif
