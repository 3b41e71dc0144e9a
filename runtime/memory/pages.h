/* Memory of the kernel's own, in pages. Large pieces are of huge pages, if the kernel has them for who asks
 * (/sys/kernel/mm/transparent_hugepage/enabled) and LAZYBONES_HUGE_PAGES is not 0: then reading and writing large tensors does
 * not wait for the tables of pages, nor for one fault for each 4 KiB. */
#ifndef LB_MEMORY_PAGES_H
#define LB_MEMORY_PAGES_H

#include <stddef.h>

/* Reads the setting: once, when the runtime starts. */
void lb_pages_start(void);
/* Zeros, or NULL. munmap() gives them back. */
void *lb_pages_take(size_t nbytes);

#endif
