/* The walk of a reduction, shared by reduce.c, argreduce.c and softmax.c.
 *
 * Kept axes keep their order, since they are the output's; reduced axes are put in the
 * order of their strides, as any order will do. There are two ways through memory:
 *   rows  each output folds its own elements into LB_LANES lanes, merged at the end;
 *   cols  neighbouring outputs along one kept axis are the lanes, and each reduced
 *         index folds one row of them.
 * The reduced elements of one output are cut into pieces by size alone (never by the
 * number of threads) when outputs are few, so results do not depend on threads. */
#ifndef LB_KERNELS_FOLD_H
#define LB_KERNELS_FOLD_H

#include "kernels/layout.h"
#include "kernels/tile.h"

struct lb_walk {
	const char *data;
	int dtype;
	int64_t bytes;
	int n_kept, n_reduced;
	int64_t kept[LB_MAX_RANK], kept_strides[LB_MAX_RANK], out_strides[LB_MAX_RANK];
	int64_t reduced[LB_MAX_RANK], reduced_strides[LB_MAX_RANK];
	int64_t n_outputs, n_each; /* outputs; elements folded into each */
	bool cols;
	int lane_axis;             /* kept axis that the lanes run along, for cols */
	int64_t chunk;             /* outputs at once, for cols */
};

enum {
	LB_FOLD_PIECE = 1 << 16, /* least elements of a piece of one output's fold */
	LB_FOLD_ROW = 64,        /* a shorter row is perhaps not folded by itself */
};

/* Whether outputs of row-major x, `n` elements folded into each, are folded each by itself and in
 * the same order, however many they are; `trailing` axes are reduced. */
static inline bool lb_folds_rows(bool trailing, int64_t n)
{
	return trailing && n >= LB_FOLD_ROW && n < 2 * LB_FOLD_PIECE;
}

bool lb_walk_plan(struct lb_walk *walk, const struct lb_view *x, uint32_t mask);

/* What is folded. With `center`, x is shifted by its output's center and goes through
 * exp first (`deviate` false), or its squared distances are summed (`deviate` true).
 * center has the stage's dtype (f32 or f64), for deviations always double. */
struct lb_folding {
	const struct lb_walk *walk;
	const struct lb_tiles *tiles;
	const struct lb_fold *fold;
	lb_tile_fn *convert;      /* to the stage; NULL if x has its dtype */
	lb_tile_fn *exp;
	const char *center;
	bool deviate;
	_Alignas(8) char identity[8]; /* of the fold, as one lane */
	bool divide;              /* results by divisor; the lanes are then of f64 */
	double divisor;
	lb_tile_fn *finish;       /* converts lanes to the output's dtype; NULL if they have it */
	char *to;                 /* the output: unit lanes of to_bytes each */
	int64_t to_bytes;
	int64_t pieces;
	char *partial;            /* accumulators of the pieces */
};

bool lb_fold_run(struct lb_exec *exec, struct lb_folding *folding);

#endif
