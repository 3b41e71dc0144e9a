/* Where the fields of a library's objects are changes from version to version: a layout is believed by how many of the objects
 * fit it, and where they are few, by all of them. */
#ifndef LBX_FIT_H
#define LBX_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct lbx_fit {
	size_t n, n_fits; /* objects that were looked at */
	size_t n_hints, n_tell; /* of those that fit: what could hardly look so by chance, and what could not */
};

/* Of n, with fewer than that none is believed. */
size_t lbx_fit_least(size_t n);
bool lbx_fit_is_good(const struct lbx_fit *fit);
/* Whether so many tell that the few that do not fit are others: memory that was freed may look like an object, and of some
 * tens of objects a few such are more than those that may not fit. */
bool lbx_fit_is_told(const struct lbx_fit *fit);
/* Says why none is believed, of "PyTorch" and its "tensors"; `n` layouts fit, `best` is the one that fits best. */
bool lbx_fit_fail(const char *library, const char *objects, int n, const struct lbx_fit *best);

#endif
