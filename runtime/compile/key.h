/* What a captured graph was made for. */
#ifndef LB_COMPILE_KEY_H
#define LB_COMPILE_KEY_H

#include "graph/tensor.h"

/* A call, as far as it matters to which graph serves it. */
struct lb_request {
	bool shapeless;
	uint32_t stream;
	int n_in, n_out;
	lb_tensor *const *in;
	const void *constants;
	size_t nbytes;
};

/* The same, copied; NULL, with an error, when memory is out. */
struct lb_key *lb_key_new(const struct lb_request *request);
void lb_key_free(struct lb_key *key);

/* Whether the key is the request's. If not, and there is room for a text, it says what differs:
 * "input 1: shape (3,4), compiled for (2,4)". */
bool lb_key_matches(const struct lb_key *key, const struct lb_request *request, char *why, size_t size);

#endif
