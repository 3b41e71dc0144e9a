#include "tensors/axes.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A program may have been damaged, and have as many layouts as tensors: some 70 MB at most. */
enum { BUCKETS = 1024, LAYOUTS_MAX = 1 << 16 };

struct layout {
	struct layout *next;
	int rank;
	int64_t values[]; /* sizes, then strides */
};

struct lbx_axes {
	int n;
	struct layout *buckets[BUCKETS];
};

static unsigned bucket_of(int rank, const int64_t *shape, const int64_t *strides)
{
	uint64_t hash = (uint64_t)rank;

	for (int i = 0; i < rank; i++)
		hash = (((hash ^ (uint64_t)shape[i]) * 0x9e3779b97f4a7c15ULL) ^ (uint64_t)strides[i]) *
		       0xff51afd7ed558ccdULL;
	return (unsigned)(hash >> 32) % BUCKETS;
}

/* The layout that is kept; NULL, with an error, if it cannot be. */
static const struct layout *keep(struct lbx_axes *axes, int rank, const int64_t *shape, const int64_t *strides)
{
	struct layout **bucket = &axes->buckets[bucket_of(rank, shape, strides)];
	size_t bytes = (size_t)rank * sizeof *shape;

	for (struct layout *l = *bucket; l; l = l->next)
		if (l->rank == rank && memcmp(l->values, shape, bytes) == 0 &&
		    memcmp(l->values + rank, strides, bytes) == 0)
			return l;
	if (axes->n == LAYOUTS_MAX) {
		lb_fail("more than %d different shapes of more than %d axes", LAYOUTS_MAX, LB_MAX_RANK);
		return NULL;
	}
	struct layout *l = malloc(sizeof *l + 2 * bytes);
	if (!l) {
		lb_fail("out of memory for a tensor of %d axes", rank);
		return NULL;
	}
	l->next = *bucket;
	l->rank = rank;
	memcpy(l->values, shape, bytes);
	memcpy(l->values + rank, strides, bytes);
	axes->n++;
	return *bucket = l;
}

bool lbx_tensor_set_axes(struct lbx_axes **axes, struct lbx_tensor *t, int rank, const int64_t *shape,
			 const int64_t *strides)
{
	if (rank < 0 || rank > LBX_RANK_MAX)
		return lb_fail("a tensor of %d axes: at most %d are read", rank, LBX_RANK_MAX);
	if (rank <= LB_MAX_RANK) {
		memcpy(t->axes.few.shape, shape, (size_t)rank * sizeof *shape);
		memcpy(t->axes.few.strides, strides, (size_t)rank * sizeof *strides);
	} else {
		if (!*axes && !(*axes = calloc(1, sizeof **axes)))
			return lb_fail("out of memory for a tensor of %d axes", rank);
		const struct layout *l = keep(*axes, rank, shape, strides);
		if (!l)
			return false;
		t->axes.many = l->values;
	}
	t->rank = rank;
	return true;
}

void lbx_axes_destroy(struct lbx_axes *axes)
{
	for (int i = 0; axes && i < BUCKETS; i++)
		for (struct layout *l = axes->buckets[i], *next; l; l = next) {
			next = l->next;
			free(l);
		}
	free(axes);
}
