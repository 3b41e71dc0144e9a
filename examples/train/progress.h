/* A bar on stderr that says how far a long work is, and how long it will take still. On a terminal
 * one line, drawn again and again, as wide as the terminal is then; elsewhere a line each tenth. */
#ifndef TRAIN_PROGRESS_H
#define TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	int64_t total, told; /* told: tenths that have been */
	bool terminal;
	double began, drawn; /* seconds */
};

void progress_begin(struct progress *progress, int64_t total);
/* `done` of all is done; `note` is shown beside the bar, as far as there is room. */
void progress_show(struct progress *progress, int64_t done, const char *note);
/* Leaves the line, if it stands on one. */
void progress_end(struct progress *progress);

#endif
