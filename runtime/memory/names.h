/* Memory for the names of tensors: small pieces that lie close together, so that who looks from outside for one name
 * among all reads little else. A piece that was given back is used again for one of its size. Threads share no drawer
 * as long as they are few. */
#ifndef LB_MEMORY_NAMES_H
#define LB_MEMORY_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { LB_NAMES_MOST = 272, LB_NAMES_DRAWERS = 16 };

/* nbytes, at most LB_NAMES_MOST, aligned to a pointer; NULL, without an error, when memory is out. */
void *lb_names_take(unsigned drawer, size_t nbytes);
/* Gives back a piece to the drawer that it is from, taken with as many bytes. */
void lb_names_give(unsigned drawer, void *piece, size_t nbytes);
/* fork() must find them whole: called around it. */
void lb_names_lock(void);
void lb_names_unlock(void);

#endif
