/* A line of a terminal that says what takes long, from the first second on. It is written past all streams, which may be
 * held back until a command has ended; who writes more erases it first. */
#ifndef LBX_PROGRESS_LINE_H
#define LBX_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_progress_line {
	int fd; /* of the terminal; -1: nothing is shown */
	int width; /* its columns */
	int64_t began_ms, last_ms; /* of a clock that only goes on */
	int shown; /* columns that it takes now */
};

/* Nothing is shown yet. */
void lbx_progress_line_begin(struct lbx_progress_line *line, int fd, int width);
/* Shows or renews it where it is time to. `total` may be 0: not known. */
void lbx_progress_line_tell(struct lbx_progress_line *line, const char *what, int64_t done, int64_t total);
/* The line is empty then, the cursor at its beginning. */
void lbx_progress_line_erase(struct lbx_progress_line *line);

#endif
