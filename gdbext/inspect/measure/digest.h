/* What is kept of a tensor's value when the value itself cannot be: enough to tell whether two
 * are the same bit for bit, and how they differ when they are not. */
#ifndef LBX_DIGEST_H
#define LBX_DIGEST_H

#include <jansson.h>

#include "inspect/tensor/array.h"

struct lbx_digest {
	uint64_t checksum; /* of the elements in row-major order, however they are stored */
	enum lb_dtype dtype;
	/* as in struct lbx_summary; mean and std of the finite values */
	int64_t count, nan, inf;
	double min, max, mean, std;
};

/* Reads the whole array once, in pieces. */
bool lbx_digest(const struct lbx_array *array, struct lbx_out *out, struct lbx_digest *ret);
/* {"checksum":"…","count":…,"nan":…,"inf":…,"min":…,"max":…,"mean":…,"std":…}, a new object. */
json_t *lbx_json_digest(const struct lbx_digest *digest);
/* Whether dtype and elements are the same; shapes are the caller's to compare. */
bool lbx_digest_equal(const struct lbx_digest *a, const struct lbx_digest *b);

#endif
