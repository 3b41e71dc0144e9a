#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "serve/ended.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Fields of /proc/PID/stat as proc_pid_stat(5) counts them. */
enum { STATE = 3, EXIT_CODE = 52 };

bool lbx_has_ended(long pid, int *ret)
{
	char path[40], line[2048];

	*ret = -1;
	if (pid <= 0)
		return false;
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	ssize_t n = read(fd, line, sizeof line - 1);
	line[n > 0 ? n : 0] = '\0';
	const char *at = strrchr(line, ')'); /* a name may have blanks and brackets in it */
	if (!at || !at[1] || (at[2] != 'Z' && at[2] != 'X'))
		return false;
	at += 2;
	for (int field = STATE; at && field < EXIT_CODE; field++)
		at = (at = strchr(at, ' ')) ? at + 1 : NULL;
	if (at)
		*ret = (int)strtol(at, NULL, 10);
	return true;
}
