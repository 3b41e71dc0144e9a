/* Code of a process that does nothing but return true: where a call leads there, it has no effect. */
#ifndef LBX_GGML_TRUE_CODE_H
#define LBX_GGML_TRUE_CODE_H

#include "target/loader.h"

/* A function of that kind, by address. */
struct lbx_true_code {
	uint64_t start;
	uint64_t end; /* of its last instruction, which returns to who has called */
};

/* Whether something is known of the code of this machine (EM_X86_64 and the like). */
bool lbx_true_code_knows(unsigned machine);
/* Whether such a function begins at an address. A debugger may have a breakpoint there. */
bool lbx_true_code_at(struct lbx_target *target, unsigned machine, uint64_t at);
/* The first one that may be called by its address: in one of the modules, `first` before the others. */
bool lbx_true_code_find(struct lbx_target *target, unsigned machine, const struct lbx_loaded *modules, int n,
			const struct lbx_loaded *first, struct lbx_true_code *ret);

#endif
