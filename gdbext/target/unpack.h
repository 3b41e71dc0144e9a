/* Cores as systemd-coredump stores them: compressed by zstd. */
#ifndef LBX_UNPACK_H
#define LBX_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

bool lbx_is_zstd(int fd);
/* Reads what comes through a pipe to its end, into a file like that of lbx_unpack_zstd(). Fails at once where
 * it does not begin as a core does, packed or not. */
bool lbx_spool(int from, const char *path, int64_t max, int *ret);
/* Unpacks the file `from` into a new one without a name (in TMPDIR, else /var/tmp), which is gone when
 * *ret is closed. Fails beyond `max` bytes. What stands before a cut-off end is kept. `path` is for
 * messages. */
bool lbx_unpack_zstd(int from, const char *path, int64_t max, int *ret);

#endif
