#include "common/options.h"

#include <errno.h>
#include <stdlib.h>

int64_t parse_int(struct argp_state *state, const char *option, const char *text, int64_t least,
		  int64_t most)
{
	char *end;

	errno = 0;
	long long n = strtoll(text, &end, 10);
	if (errno || end == text || *end || n < least || n > most)
		argp_error(state, "--%s takes a number from %lld to %lld, not '%s'", option,
			   (long long)least,
			   (long long)most, text);
	return n;
}

double parse_double(struct argp_state *state, const char *option, const char *text, double least,
		    double most)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !(x >= least && x <= most))
		argp_error(state, "--%s takes a number from %g to %g, not '%s'", option, least, most,
			   text);
	return x;
}

enum { TOP_K = 0x100, TOP_P, SEED, JSON, NO_CACHE };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct writing_options *options = state->input;
	struct generation *generation = &options->generation;
	struct sampling *sampling = &generation->sampling;

	switch (key) {
	case 'p': options->prompt = arg; return 0;
	case 'n': generation->most = parse_int(state, "tokens", arg, 0, 1 << 30); return 0;
	case 't': sampling->temperature = parse_double(state, "temperature", arg, 0, 100); return 0;
	case TOP_K: sampling->top_k = parse_int(state, "top-k", arg, 0, 1 << 30); return 0;
	case TOP_P: sampling->top_p = parse_double(state, "top-p", arg, 0, 1); return 0;
	case SEED: sampling->seed = (uint64_t)parse_int(state, "seed", arg, 0, INT64_MAX); return 0;
	case JSON: options->json = true; return 0;
	case NO_CACHE: generation->without_cache = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"prompt", 'p', "TEXT", 0, "text to continue", 0},
	{"tokens", 'n', "N", 0, "tokens to write at most (default 100)", 0},
	{"temperature", 't', "T", 0, "0 takes the likeliest token each time (default 0.8)", 0},
	{"top-k", TOP_K, "K", 0, "draw from the K likeliest, 0: from all (default 40)", 0},
	{"top-p", TOP_P, "P", 0, "draw from the likeliest that make up P (default 0.95)", 0},
	{"seed", SEED, "N", 0, "seed of the draws (default 0)", 0},
	{"json", JSON, NULL, 0, "print one JSON object", 0},
	{"no-cache", NO_CACHE, NULL, 0, "read everything again for each token", 0},
	{0},
};

const struct argp writing_argp = {.options = options, .parser = parse};
