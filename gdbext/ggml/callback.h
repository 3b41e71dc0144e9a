/* Where a program can be stopped at each node that it computes, though nobody has prepared it: ggml's scheduler has a
 * slot for a callback. Before a node it asks that whether it wants it (its second argument is true); if so, it
 * computes up to there, and calls it again when the value is complete and no thread computes. Each time it
 * goes on if the callback returns true. So any code of the process that does nothing but return true will serve.
 *
 * Who puts such code into the slot puts a mark beside it, where the callback's own data would be, which is its third
 * argument: a thread that is at that code with that mark is between two nodes, whoever looks (asked.h). */
#ifndef LBX_GGML_CALLBACK_H
#define LBX_GGML_CALLBACK_H

#include "ggml/layout.h"
#include "ggml/true_code.h"

enum { LBX_GGML_ENTRIES = 2, LBX_GGML_MARKS = 32 };

struct lbx_ggml_callback {
	unsigned machine; /* EM_X86_64 or EM_AARCH64 */
	uint64_t slot, data; /* of a scheduler: offsets of the callback, and of what it is given */
	struct lbx_true_code code; /* what is put there */
	int n_entries;
	uint64_t entries[LBX_GGML_ENTRIES]; /* of the functions that compute; the scheduler is their first argument */
	struct lbx_ggml_layout layout; /* of the nodes */
};

/* What is put beside code that returns true: no other call of it has that. There are as many as schedulers that can be
 * told apart by them. */
static inline uint64_t lbx_ggml_mark(uint64_t code, unsigned scheduler)
{
	return code + 1 + 2 * (uint64_t)scheduler;
}

static inline bool lbx_ggml_is_mark(uint64_t code, uint64_t value)
{
	uint64_t beyond = value - lbx_ggml_mark(code, 0);

	return beyond < 2 * LBX_GGML_MARKS && beyond % 2 == 0;
}

/* False without an error where the program has no ggml, or not yet; with one that says what is missing where it cannot be
 * stopped so. *ret_anchor has the operations and types of its ggml. */
bool lbx_ggml_callback_find(struct lbx_target *target, struct lbx_ggml_callback *ret,
			    struct lbx_ggml_anchor *ret_anchor);

#endif
