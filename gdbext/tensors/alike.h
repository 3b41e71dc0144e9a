/* Names that differ by one index, as those of a list of losses: what they stand for is told together, "losses[0…999]". */
#ifndef LBX_ALIKE_H
#define LBX_ALIKE_H

#include <stddef.h>

#include "tensors/tensor.h"

struct lbx_alike {
	uint64_t of; /* what is named */
	char name[LB_NAME_MAX + 1];
	size_t at, end; /* of the last index in the name; both 0: there is none */
	uint64_t index;
};

/* Fills in where its index is. */
void lbx_alike_init(struct lbx_alike *a);
/* Those that are alike stand together then, by their index. */
void lbx_alike_sort(struct lbx_alike *list, size_t n);
/* How many of a list that was sorted are alike, from the first one on. */
size_t lbx_alike_count(const struct lbx_alike *list, size_t n);
/* What n that are alike are called. */
void lbx_alike_name(const struct lbx_alike *list, size_t n, char *ret, size_t size);

#endif
