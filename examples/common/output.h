/* What a program writes: text as it comes on stdout and the timing on stderr, or all in one JSON
 * object on stdout. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include "common/generation.h"

struct output {
	bool json;
	char *text; /* need not be UTF-8 throughout */
	size_t nbytes;
	int64_t *ids;
	int64_t n, text_room, ids_room;
};

/* One more token and its text. */
bool output_put(struct output *output, int64_t id, const char *text, size_t nbytes);
bool output_end(struct output *output, const struct timing *timing);
void output_free(struct output *output);

#endif
