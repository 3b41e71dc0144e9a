/* A tensor as JSON: the object of `info --json`, and of each row of `list --json`. Strides, offset and contiguity are
 * null before evaluation: they are not known yet. */
#ifndef LBX_TENSOR_JSON_H
#define LBX_TENSOR_JSON_H

#include <jansson.h>

#include "tensors/tensor.h"

/* Its text, for lists of very many: a tenth of the time that the values take. Begun with all zero bytes, written
 * anew each time, freed by its owner. */
struct lbx_tensor_text {
	char *bytes;
	size_t n, room;
	bool is_short; /* of memory */
};
/* False: out of memory. */
bool lbx_tensor_text(const struct lbx_tensor *t, struct lbx_tensor_text *ret);
/* The same as a value. NULL: out of memory. */
json_t *lbx_json_tensor(const struct lbx_tensor *t);

#endif
