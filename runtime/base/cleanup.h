/* What a function holds only while it runs, released when it is left, by whatever return:
 *
 *	lb_auto_free char *text = strdup(name);
 *	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
 *
 * Each variable begins with a value, NULL or -1 if nothing else. What a function hands on, to its caller or into a
 * list, has no such mark. */
#ifndef LB_CLEANUP_H
#define LB_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* errno is as it was: what is left may have set it for its caller. */
static inline void lb_free_at(void *at)
{
	int error = errno;

	free(*(void **)at);
	errno = error;
}

static inline void lb_close_at(int *at)
{
	int error = errno;

	if (*at >= 0)
		close(*at);
	errno = error;
}

#define lb_auto_free __attribute__((cleanup(lb_free_at)))
#define lb_auto_close __attribute__((cleanup(lb_close_at)))

#endif
