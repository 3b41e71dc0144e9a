/* Under which names tensors become variables. */
#ifndef LBX_SYMBOL_NAMES_H
#define LBX_SYMBOL_NAMES_H

#include <stddef.h>

#include "base/number_map.h"

struct lbx_symbol {
	uint64_t slot, id;
	char *name;
	bool is_passing; /* a copy of what the program has still to compute */
	bool plain;   /* a variable has the name as it is */
	char *c_name; /* one that C can spell, where that is another; or NULL */
};

/* What earlier objects hold that stay beside a new one. All 0: none. */
struct lbx_symbol_space {
	struct lbx_number_map names; /* by hash */
	struct lbx_number_map tensors;
	bool stays; /* nothing of it can be taken away */
};
void lbx_symbol_space_deinit(struct lbx_symbol_space *space);

/* Of several tensors with one name the newest has it, if no earlier object has; the others are
 * NAME_ID. So is a passing copy in what stays: the name would keep it when there is a value. What C cannot spell, as blk.0.w, is also there with _ for each such character; where that
 * is taken, with _ID after it. `c_name`s are the caller's to free. */
bool lbx_symbol_names(struct lbx_symbol_space *space, struct lbx_symbol *symbols, size_t n);

/* A variable of this name would be what gdb takes `tensor` of tensor::NAME for: it has its c_name
 * alone. */
bool lbx_symbol_hides_file(const char *name);

#endif
