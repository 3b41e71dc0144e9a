/* The files that gdb has open now: the program that it looks at is behind one of them, whether it is a process, a core or a
 * connection. */
#ifndef LBX_PLUGIN_OPEN_FILES_H
#define LBX_PLUGIN_OPEN_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct lbx_open_file {
	int fd;
	struct stat st;
};

/* Looks at them, but for files of text; to be called when a line is run. */
void lbx_open_files_look(void);
/* The i-th of them as of the last look, by their numbers; NULL after the last. */
const struct lbx_open_file *lbx_open_file(int i);
/* A number that is another one when one of them was closed or opened. */
uint64_t lbx_open_files_number(void);
/* How many different ones of them are cores; *ret is the descriptor of the first, or -1. */
int lbx_open_cores(int *ret);
/* Whether a file is the same, and has not been written to. */
bool lbx_is_same_file(const struct stat *a, const struct stat *b);

#endif
