/* What the program asks MLX to compute, where it has just done so. */
#ifndef LBX_PLUGIN_MLX_ASKED_H
#define LBX_PLUGIN_MLX_ASKED_H

#include "inspect/command.h"
#include "mlx/near.h"
#include "plugin/stops/catch_kinds.h"

struct lbx_asked {
	uint64_t *list; /* records of the arrays that are asked for and have no value yet */
	size_t n, room;
	struct lbx_mlx_order order; /* what that makes it compute */
	bool is_async, is_value; /* value: of one array, which is read */
};

/* Of an argument: the address of a std::vector of arrays, or, where a value is asked for, of an array. What of it was asked before is
 * released. NULL while the answer is awaited, and without memory; nothing is asked for where n is 0. */
const struct lbx_asked *lbx_asked_read(struct lbx_context *context, uint64_t argument, bool is_async, bool is_value);
/* Whether it computes one of n arrays: its record, or 0. */
uint64_t lbx_asked_computes(const struct lbx_asked *asked, const uint64_t *records, int n);
/* Adds sentences about it. */
void lbx_asked_tell(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret);

#endif
