/* Buffers: counted pieces of memory that tensors are views of, with a cache of those no
 * longer used. Sizes are rounded up to classes: multiples of 64 bytes up to 512, beyond
 * that at most an eighth more. A cached buffer serves the next request of its class. Bytes are aligned to 64.
 *
 * All but mapped files counts in lb_counters: active (capacity of buffers in use), peak, cache. */
#ifndef LB_MEMORY_BUFFER_H
#define LB_MEMORY_BUFFER_H

#include "publish/records.h"

enum { LB_BUFFER_ALIGN = 64 };

/* A buffer of at least nbytes with one reference, for the tensor `id`; NULL with an error that
 * names the size and the limit. `plain`: takes no lock and calls no allocator but mmap. */
struct lb_buffer *lb_buffer_new(int64_t nbytes, uint64_t id, bool plain);
/* The program's memory as a buffer; see lb_from_memory(). It counts for nothing, as the runtime has not taken it. */
struct lb_buffer *lb_buffer_foreign(void *data, int64_t nbytes, uint64_t id, void (*release)(void *, void *),
				    void *context);
/* The same over a mapped file, whose pages the kernel takes back. */
struct lb_buffer *lb_buffer_of_file(const void *data, int64_t nbytes, uint64_t id, bool in_memory,
				    void (*release)(void *, void *), void *context);
void lb_buffer_retain(struct lb_buffer *buffer);
void lb_buffer_drop(struct lb_buffer *buffer);
/* As lb_buffer_drop, but never waits: for a debugger's evaluation, and buffers that were made `plain`. */
void lb_buffer_drop_plain(struct lb_buffer *buffer);

/* Sets the default limits. */
void lb_buffers_start(void);
/* fork() must find the cache whole: called around it. */
void lb_buffers_lock(void);
void lb_buffers_unlock(void);

#endif
