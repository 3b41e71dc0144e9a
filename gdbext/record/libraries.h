/* Where a program's libraries are; and which frames are the program's own: what the system's libraries and those of tensors do
 * inside is not where it stands, however their functions are called. */
#ifndef LBX_LIBRARIES_H
#define LBX_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_libraries {
	struct lbx_library_code {
		uint64_t from, to;
		bool is_inner; /* of the system's, or of tensors' */
	} *list;
	size_t n, room;
};

void lbx_libraries_add(struct lbx_libraries *libraries, const char *path, uint64_t from, uint64_t to);
/* Those of gdb's `info sharedlibrary`, a line each: 0x00007ffff7f1c0e0  0x00007ffff7fe53d5  Yes  /lib/libc.so.6 */
void lbx_libraries_add_shown(struct lbx_libraries *libraries, const char *lines);
/* What begins there. */
void lbx_libraries_remove(struct lbx_libraries *libraries, uint64_t from);
void lbx_libraries_clear(struct lbx_libraries *libraries);

/* A frame as a debugger tells it. */
struct lbx_told_frame {
	uint64_t address;
	const char *function; /* "": not known */
	bool has_source; /* there is a line to be shown */
};

/* Whether a frame is the program's own: it has a source, and is in no library of the system's or of tensors' and in no function
 * of theirs. The innermost that is one is where the program stands.
 *
 * `ours`: where the innermost frame is when the program stands at a breakpoint of ours, which is in a library of tensors,
 * whatever the name of its file; else 0. Where that is part of the program itself, no frame is known to be the program's
 * own. */
bool lbx_is_own_frame(const struct lbx_told_frame *frame, const struct lbx_libraries *libraries, uint64_t ours);

#endif
