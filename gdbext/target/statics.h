/* The variables that a program has for as long as it runs, and that may lead to a tensor: global ones, and statics of classes and
 * functions, of the program and of its own libraries; and the program's own of which each thread has one (thread_local). Debug
 * information has no table of them: it is gone through once, and what was found is kept with the lines. */
#ifndef LBX_STATICS_H
#define LBX_STATICS_H

#include <elfutils/libdw.h>

#include "target/lines.h"

struct lbx_static {
	Dwarf_Die type; /* without typedefs */
	int tag;
	uint64_t address;
	bool is_of_thread; /* each thread has one: the address is that within the program's block of such */
	char *name; /* as one would write it: `cache`, `Net::shared`, `ns::history`, `next::seen` of function next's */
	char *function; /* whose it is; or NULL */
	const char *file; /* where it is declared; or NULL */
	int line;
};

struct lbx_statics {
	bool is_known, is_cut; /* cut: there is more debug information than was gone through */
	size_t n, room;
	struct lbx_static *list;
	uint64_t
	    block; /* of the program's variables of threads: how far below a thread's own address it begins; 0: there is none */
};

/* They belong to `lines`. NULL, with an error: no memory. */
const struct lbx_statics *lbx_statics_find(struct lbx_lines *lines);
/* Where a thread has the program's own variables of threads. False: it has none, or that is not certain. */
struct lbx_registers;
bool lbx_statics_block(struct lbx_target *target, const struct lbx_statics *statics, const struct lbx_registers *thread,
		       uint64_t *ret);
void lbx_statics_deinit(struct lbx_statics *statics);

#endif
