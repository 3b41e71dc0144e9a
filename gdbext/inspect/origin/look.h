/* What the tensors beside the way back hold. A ready one is read where it is; a lazy one is replayed,
 * which tells of all tensors behind it at once. */
#ifndef LBX_LOOK_H
#define LBX_LOOK_H

#include "base/number_map.h"
#include "inspect/origin/origin.h"
#include "inspect/replay/sources.h"
#include "inspect/tensor/array.h"

struct lbx_search {
	struct lbx_context *context;
	uint32_t limit;
	double deadline; /* of the clock; 0: none */
	struct lbx_number_map known; /* tensors to places in `links` */
	uint32_t n, room;
	struct lbx_origin_link *links;
	uint64_t looked_at;
	bool capped; /* a graph was larger than the limit */
};

/* Of a tensor whose values cannot be had, *ret says why. False, with an error, only when the search
 * must end; so with all of these. */
bool lbx_look(struct lbx_search *search, const struct lbx_tensor *t, struct lbx_origin_link *ret);
/* Input i of t: as long as it exists, or else what is left of it. */
bool lbx_look_at_input(struct lbx_search *search, const struct lbx_tensor *t, uint32_t i, struct lbx_origin_link *ret);
/* Sets link->part_known, and then link->part: what the region holds. */
bool lbx_look_at_part(struct lbx_search *search, struct lbx_origin_link *link, const struct lbx_region *region);
/* Gives the region's elements to `visit`, in pieces. */
bool lbx_walk_part(struct lbx_search *search, const struct lbx_tensor *t, const struct lbx_region *region,
		   lbx_piece_fn visit, void *context);
/* Keeps the error as the link's `why`; false if it is that the user has stopped it. */
bool lbx_look_failed(struct lbx_origin_link *link);
/* Of integers or booleans: the element at the region's first place. *known is false if it cannot be
 * had. */
bool lbx_look_at_choice(struct lbx_search *search, const struct lbx_origin_link *link, const struct lbx_region *region,
			bool *known, struct lbx_choice *ret);
/* Of the region's indices, those that lead to `place` on an axis of `size` elements. */
bool lbx_look_at_places(struct lbx_search *search, const struct lbx_origin_link *link, const struct lbx_region *region,
			int64_t place, int64_t size, bool *known, struct lbx_choice *ret);
void lbx_search_deinit(struct lbx_search *search);

#endif
