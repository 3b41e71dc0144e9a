/* The root of the symbol table: the one object that debuggers start from, and that the
 * environment and debuggers set switches in. The runtime reaches it as lb_root. */
#ifndef LB_PUBLISH_ROOT_H
#define LB_PUBLISH_ROOT_H

#include "base/alone.h"
#include "symtab.h"

extern struct lb_symtab lb_root_object __attribute__((visibility("hidden")));
#define lb_root (&lb_root_object)

extern struct lb_counters lb_counters __attribute__((visibility("hidden")));

static inline void lb_count(uint64_t *counter, uint64_t n)
{
	enum lb_alone alone = lb_alone_begin();
	lb_fetch_add(alone, counter, n);
	lb_alone_end(alone);
}

/* True while tensors (with `watch`) or all of them are to be looked at. */
static inline uint32_t lb_watched(uint32_t watch)
{
	return watch | __atomic_load_n(&lb_root->watch_all, __ATOMIC_RELAXED);
}

/* The bits from LB_WATCH_NAMED on of a tensor of this name. */
uint32_t lb_watched_name(const char *name);

/* An evaluation in step mode runs without steps; by one thread at a time. */
void lb_note_unstepped(const char *why);

/* Fills in the addresses, and last the magic: until then a reader says that the program has not
 * reached the runtime yet. */
void lb_root_publish(uint64_t pid);

#endif
