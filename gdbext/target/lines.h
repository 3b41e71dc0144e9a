/* Source lines of code addresses, from the debug information of the modules that a
 * process or a core has loaded (libdwfl). */
#ifndef LBX_LINES_H
#define LBX_LINES_H

#include <sys/types.h>

#include "target/target.h"

struct lbx_lines;

/* Never NULL unless memory is out; what cannot be found is not known, without error. */
struct lbx_lines *lbx_lines_of_process(pid_t pid);
struct lbx_lines *lbx_lines_of_core(const char *path);
void lbx_lines_destroy(struct lbx_lines *lines); /* NULL is fine */
bool lbx_lines_find(struct lbx_lines *lines, uint64_t pc, struct lbx_source_line *ret);

#endif
