/* Which of a program's libraries are where: those of the system and of tensors are not where the program stands, however
 * their functions are called. gdb tells of each that comes and goes. */
#ifndef LBX_SERVE_LIBRARIES_H
#define LBX_SERVE_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct lbx_libraries {
	struct lbx_range {
		uint64_t from, to;
	} *ranges; /* of their code, of those that are no program's own */
	size_t n, room;
};

/* From the results of =library-loaded and =library-unloaded. */
void lbx_libraries_add(struct lbx_libraries *libraries, const json_t *loaded);
void lbx_libraries_remove(struct lbx_libraries *libraries, const json_t *unloaded);
bool lbx_libraries_have(const struct lbx_libraries *libraries, uint64_t address);
void lbx_libraries_clear(struct lbx_libraries *libraries);

#endif
