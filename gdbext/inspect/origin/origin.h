/* Where a tensor's NaN or Inf comes from. */
#ifndef LBX_ORIGIN_H
#define LBX_ORIGIN_H

#include "inspect/command.h"
#include "inspect/measure/summary.h"
#include "inspect/replay/region.h"

enum { LBX_ORIGIN_INPUTS = 64, LBX_ORIGIN_WHY = 320 };

/* A tensor on the way back, with what its value holds. */
struct lbx_origin_link {
	uint64_t id;
	bool known;   /* `summary` is; otherwise `why` not */
	bool recorded; /* `tensor` is; a tensor that is gone may have left no record */
	struct lbx_tensor tensor;
	struct lbx_summary summary;
	char why[LBX_ORIGIN_WHY];
	/* of an input: what the element on the way is made of */
	uint32_t number;        /* from 0 */
	struct lbx_region region;
	bool exact;             /* it depends on all of the part; otherwise on some of it, */
	bool perhaps;           /* or on nothing */
	bool part_known;
	struct lbx_summary part;
	/* of a tensor on the way: which element, and what that holds */
	int64_t at[LB_MAX_RANK];
	enum lbx_special kind;
	int codes;              /* enum lbx_codes: integers that stand for numbers (codes.h) */
};

enum lbx_origin_end {
	LBX_END_MADE,    /* the last of the path made it of inputs without any */
	LBX_END_GIVEN,   /* it was in the data that the last was made of, or in its parameters */
	LBX_END_GONE,    /* the last's inputs that are known have none, and some are not known */
	LBX_END_UNSURE,  /* some inputs have it, perhaps not where the last's element is made of them */
	LBX_END_LIMIT,
};

struct lbx_origin {
	bool nan;                 /* of NaN; otherwise of Inf */
	size_t n, room;
	struct lbx_origin_link *path; /* from the tensor that was asked for to where it ends */
	enum lbx_origin_end end;
	/* those of the last that the element is made of, at most LBX_ORIGIN_INPUTS */
	int n_inputs;
	bool more_inputs;
	struct lbx_origin_link *inputs;
	bool finite_again;        /* what it is computed from gives no such value now */
	/* The operation, where it is elementwise: one of several of a fused tensor's. */
	bool has_step;
	int step, n_steps;        /* from 0 */
	const char *op;
	int n_operands;
	enum lb_dtype dtype, operand_dtypes[3];
	uint64_t operands[3];     /* an element each */
};

/* Two searches: for the NaN, and, where an Inf made it (or there is no NaN), for the Inf. */
struct lbx_origins {
	struct lbx_origin_link start;
	bool has_nan, has_inf;
	struct lbx_origin nan, inf;
	uint64_t looked_at; /* tensors */
};

/* Looks at no more than `limit` tensors, and takes the next one only within `seconds` (0: whenever). Fails for a t whose own
 * value cannot be had. */
bool lbx_find_origins(struct lbx_context *context, const struct lbx_tensor *t, int64_t limit, double seconds,
		      struct lbx_origins *ret);
void lbx_origins_deinit(struct lbx_origins *origins);
/* What they come to, for a finding about o->start; all empty where that is not certain. */
struct lbx_origin_story {
	char text
	    [1024]; /* "y (…): log made it of inputs without any, in main at line 8; the first is log(-1), in float32." */
	char advice[LBX_ORIGIN_WHY];
	struct lbx_key end; /* the tensor that it begins with */
	uint64_t site; /* of the call that made that; 0: not known */
	bool is_gone; /* not certain, since what it was computed from is gone, or some of it */
};
void lbx_tell_story(struct lbx_context *context, const struct lbx_origins *o, struct lbx_origin_story *ret);
/* Whether the values that are summed up hold NaN, or any of NaN and Inf. */
bool lbx_is_bad(const struct lbx_summary *s, bool nan);
/* Row-major index of the first such value; -1 without any. */
int64_t lbx_first_bad(const struct lbx_summary *s, bool nan);

#endif
