/* Regions: the part of a tensor that is needed, a range with a step along each axis. Two join to the
 * smallest region that holds both.
 *
 * Through views they go by places. A view's strides count in its base's buffer, so an element of the
 * view lies at offset + sum(index * stride) there. Where the base's strides make a number system (each
 * larger than all that the smaller ones reach, as in any row-major, transposed or sliced buffer), a
 * place has digits: the base's index along each axis. The strides of the view, in digits, say how far
 * its region reaches along each axis of the base; where digits carry over into the next axis (a
 * reshape that joined the two), the axis is needed whole. So the way back is linear again: in a
 * buffer that holds the base's region alone, the view has other strides, and that is all. */
#ifndef LBX_REGION_H
#define LBX_REGION_H

#include "symtab.h"

/* Of a tensor with elements: counts are at least 1, steps too. */
struct lbx_region {
	int64_t first[LB_MAX_RANK], count[LB_MAX_RANK], step[LB_MAX_RANK];
};

/* Where the elements of a tensor lie in a buffer: strides and offset count elements. */
struct lbx_strided {
	int rank;
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	int64_t offset;
};

void lbx_region_all(int rank, const int64_t *shape, struct lbx_region *ret);
bool lbx_region_is_all(const struct lbx_region *region, int rank, const int64_t *shape);
bool lbx_region_equal(const struct lbx_region *a, const struct lbx_region *b, int rank);
/* Makes *to hold `other` too. */
void lbx_region_join(struct lbx_region *to, const struct lbx_region *other, int rank);
/* Every element of an axis from the first to the last. */
void lbx_region_fill(struct lbx_region *region, int axis);
int64_t lbx_region_size(const struct lbx_region *region, int rank);

/* Row-major, from element 0 on. */
void lbx_strided_dense(int rank, const int64_t *shape, struct lbx_strided *ret);
/* The least and the largest place of a layout with elements; false if they do not fit 64 bits. */
bool lbx_strided_reach(const struct lbx_strided *layout, int64_t *low, int64_t *high);
/* The part of a layout that a region is; in the same buffer. */
void lbx_strided_part(const struct lbx_strided *layout, const struct lbx_region *region, struct lbx_strided *ret);

/* What of `base` the region of `view` needs, both in one buffer. False, without an error, if that
 * cannot be told: then it is all. */
bool lbx_region_through(const struct lbx_strided *view, const struct lbx_region *region, const struct lbx_strided *base,
			struct lbx_region *ret);
/* The region of `view` in another buffer, where a part of `base` lies as `part` says: the region
 * `held`, which holds what the view's region needs. False as above. */
bool lbx_strided_through(const struct lbx_strided *view, const struct lbx_region *region,
			 const struct lbx_strided *base, const struct lbx_region *held, const struct lbx_strided *part,
			 struct lbx_strided *ret);

#endif
