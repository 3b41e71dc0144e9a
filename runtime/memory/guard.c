#include "memory/guard.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/plural.h"

static int64_t bytes;

static void read_environment(void)
{
	static const char *const switches[] = { "0", "1" };

	bytes = lb_environment_choice("LAZYBONES_GUARD", 2, switches, 0) ? LB_GUARD_BYTES : 0;
}

int64_t lb_guard_bytes(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_environment);
	return bytes;
}

void lb_guard_set(struct lb_buffer *buffer)
{
	memset((char *)(uintptr_t)buffer->data + buffer->nbytes, LB_GUARD_BYTE, LB_GUARD_BYTES);
	lb_record_begin(&buffer->seq);
	buffer->flags |= LB_BUFFER_GUARDED;
	lb_record_end(&buffer->seq);
}

void lb_guard_check(struct lb_buffer *buffer)
{
	const unsigned char *at = (const unsigned char *)(uintptr_t)buffer->data + buffer->nbytes;
	int first = 0, last = LB_GUARD_BYTES;

	if (!(buffer->flags & LB_BUFFER_GUARDED))
		return;
	while (first < LB_GUARD_BYTES && at[first] == LB_GUARD_BYTE)
		first++;
	while (last > first && at[last - 1] == LB_GUARD_BYTE)
		last--;
	if (last > first)
		fprintf(
		    stderr,
		    "lazybones: buffer %llu (%lld bytes at %#llx), made for tensor #%llu, was written past its end: byte%s %d "
		    "to %d behind it (LAZYBONES_GUARD)\n",
		    (unsigned long long)buffer->id, (long long)buffer->nbytes, (unsigned long long)buffer->data,
		    (unsigned long long)buffer->tensor, LB_S(last - first), first, last - 1);
}
