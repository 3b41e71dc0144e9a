/* Slabs: where the records of the symbol table live. See symtab.h for the layout that
 * readers rely on: tiers of doubling size, records that never move and are never
 * unmapped, `used` slots ever handed out.
 *
 * A thread takes and gives slots through a small magazine of its own, and meets the
 * others' only when that runs empty or full. A fresh slot is zeroed memory; a used one
 * keeps its last content, so that a stale handle can be recognised. */
#ifndef LB_MEMORY_SLAB_H
#define LB_MEMORY_SLAB_H

#include <stdbool.h>
#include <stddef.h>

#include "symtab.h"

enum { LB_MAGAZINE = 64 };

struct lb_magazine {
	int n;
	void *slots[LB_MAGAZINE];
};

/* What a magazine that is empty, or full, takes from the shared list, or gives to it. */
bool lb_slab_refill(enum lb_kind kind, struct lb_magazine *magazine, bool wait);
void lb_slab_spill(enum lb_kind kind, struct lb_magazine *magazine);

/* A slot, or NULL with an error. `wait` false: fails quietly instead of waiting. */
static inline void *lb_slab_take(enum lb_kind kind, struct lb_magazine *magazine, bool wait)
{
	if (__builtin_expect(magazine->n == 0, 0) && !lb_slab_refill(kind, magazine, wait))
		return NULL;
	return magazine->slots[--magazine->n];
}

static inline void lb_slab_give(enum lb_kind kind, struct lb_magazine *magazine, void *slot)
{
	if (__builtin_expect(magazine->n == LB_MAGAZINE, 0))
		lb_slab_spill(kind, magazine);
	magazine->slots[magazine->n++] = slot;
}

/* Empties a magazine into the shared list; for a thread that ends. */
void lb_slab_flush(enum lb_kind kind, struct lb_magazine *magazine);
/* The record in a slot, or NULL beyond those ever used. Takes no lock. */
void *lb_slab_at(enum lb_kind kind, uint64_t slot);
/* fork() must find the lists whole: called around it. */
void lb_slab_lock_all(void);
void lb_slab_unlock_all(void);

#endif
