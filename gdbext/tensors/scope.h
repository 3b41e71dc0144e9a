/* The scopes of a program's threads, where its runtime has such: what is made within one lives until it ends. */
#ifndef LBX_SCOPE_H
#define LBX_SCOPE_H

#include "tensors/tensors.h"

struct lbx_scope {
	struct lbx_tensors *of;
	uint64_t thread; /* its kernel's number */
	int depth;       /* 1: the outermost; 0: no scope, what lives as long as the thread */
	uint64_t site;   /* return address of the call that opened it; 0: none */
	uint64_t items;  /* address of the addresses of the records that it holds, in their order */
	uint64_t n;
};

/* The next open scope at or after *slot, which moves past it; a thread's one after the other, the outermost first. False,
 * without an error: there are no more, or this runtime has none. Not for a union. */
bool lbx_tensors_scope(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_scope *ret);
/* Items from `first` on, `n` at most; how many there are. 0, without an error: none that can be read. */
size_t lbx_scope_items(const struct lbx_scope *scope, uint64_t first, uint64_t *ret, size_t n);

#endif
