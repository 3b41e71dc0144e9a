/* The options that every program which writes tokens has, as an argp child:
 *
 *	static const struct argp_child children[] = {{&writing_argp, 0, "Writing:", 0}, {0}};
 *
 * and, in the parser, at ARGP_KEY_INIT: state->child_inputs[0] = &options->writing. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <argp.h>

#include "common/generation.h"

struct writing_options {
	struct generation generation;
	const char *prompt;
	bool json;
};

#define WRITING_DEFAULTS { \
	.generation = {.sampling = {.temperature = 0.8, .top_k = 40, .top_p = 0.95}, .most = 100}}

extern const struct argp writing_argp;

/* Numbers of arguments, within bounds; argp_error() otherwise. */
int64_t parse_int(struct argp_state *state, const char *option, const char *text, int64_t least,
		  int64_t most);
double parse_double(struct argp_state *state, const char *option, const char *text, double least,
		    double most);

#endif
