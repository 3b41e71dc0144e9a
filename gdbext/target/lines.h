/* Source lines of code addresses, from the debug information of the modules that a
 * process or a core has loaded (libdwfl). */
#ifndef LBX_LINES_H
#define LBX_LINES_H

#include <sys/types.h>

#include "target/target.h"

struct lbx_lines;

/* Never NULL unless memory is out; what cannot be found is not known, without error. */
struct lbx_lines *lbx_lines_of_process(pid_t pid);
struct lbx_core_modules;
/* Of the modules whose files are to be trusted; of the others it knows where they are. The program's
 * own list of modules, in the core at `path`, serves where the core lists no files. `vdso` is the
 * address of the kernel's own module in the core, or 0. */
struct lbx_lines *lbx_lines_of_core(const char *path, struct lbx_target *core, const struct lbx_core_modules *modules,
				    uint64_t vdso);
/* Of the program with this file, and of what its dynamic loader lists: `loader` is the address of
 * its struct r_debug in the target, or 0. */
struct lbx_lines *lbx_lines_of_modules(struct lbx_target *target, const char *program, uint64_t loader);
/* Of a program's file alone, that lies so far beyond its own addresses. */
struct lbx_lines *lbx_lines_of_program(const char *path, uint64_t bias);
/* Of one file, at the addresses that it has itself. fd is the file, open, which stays the caller's, or -1: it is
 * opened by its name. */
struct lbx_lines *lbx_lines_of_file(const char *path, int fd);
/* Its own address of the code at an offset in that file. */
bool lbx_lines_code_at(struct lbx_lines *lines, uint64_t offset, uint64_t *ret);
void lbx_lines_destroy(struct lbx_lines *lines); /* NULL is fine */
/* Whether an address lies in code of a loaded module. */
bool lbx_lines_known(struct lbx_lines *lines, uint64_t pc);
/* The build id of the file that has an address; false: none is known. */
struct lbx_build_id;
bool lbx_lines_id(struct lbx_lines *lines, uint64_t pc, struct lbx_build_id *ret);
/* Whether the debug information of the code there is in another file than the code. */
bool lbx_lines_apart(struct lbx_lines *lines, uint64_t pc);
/* For what more there is to ask; NULL when nothing is known. */
struct Dwfl *lbx_lines_dwfl(struct lbx_lines *lines);
/* What dynamic.h keeps of the classes that it has found; it goes with the lines. */
struct lbx_dynamic_classes;
struct lbx_dynamic_classes *lbx_lines_dynamic(struct lbx_lines *lines);
/* The frame that called a frame, for who has what it takes to find that; NULL: it is not known. */
struct lbx_frame;
typedef bool lbx_caller_fn(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_frame *frame,
			   struct lbx_frame *ret);
void lbx_lines_set_caller(struct lbx_lines *lines, lbx_caller_fn *fn);
lbx_caller_fn *lbx_lines_caller(struct lbx_lines *lines);
/* Likewise what statics.h keeps. */
struct lbx_statics;
struct lbx_statics *lbx_lines_statics(struct lbx_lines *lines);
/* How many functions are inlined at an address, one within the other. */
int lbx_lines_inlined(struct lbx_lines *lines, uint64_t pc);
/* Of the innermost function at an address, where depth is 0; 1 is that which it is inlined into, or
 * called from where nothing is, and so on. */
bool lbx_lines_find(struct lbx_lines *lines, uint64_t pc, int depth, struct lbx_source_line *ret);

#endif
