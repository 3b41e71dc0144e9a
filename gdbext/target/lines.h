/* Source lines of code addresses, from the debug information of the modules that a
 * process or a core has loaded (libdwfl). */
#ifndef LBX_LINES_H
#define LBX_LINES_H

#include <sys/types.h>

#include "target/target.h"

struct lbx_lines;

/* Never NULL unless memory is out; what cannot be found is not known, without error. */
struct lbx_lines *lbx_lines_of_process(pid_t pid);
/* exe and sysroot: as in core.h's options. */
struct lbx_lines *lbx_lines_of_core(const char *path, const char *exe, const char *sysroot);
/* Of the program with this file, and of what its dynamic loader lists: `loader` is the address of
 * its struct r_debug in the target, or 0. */
struct lbx_lines *lbx_lines_of_modules(struct lbx_target *target, const char *program,
				       uint64_t loader);
void lbx_lines_destroy(struct lbx_lines *lines); /* NULL is fine */
/* Whether an address lies in code of a loaded module. */
bool lbx_lines_known(struct lbx_lines *lines, uint64_t pc);
/* For what more there is to ask; NULL when nothing is known. */
struct Dwfl *lbx_lines_dwfl(struct lbx_lines *lines);
bool lbx_lines_find(struct lbx_lines *lines, uint64_t pc, struct lbx_source_line *ret);

#endif
