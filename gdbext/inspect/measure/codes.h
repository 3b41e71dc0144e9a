/* Loops over the codes of blocks' elements, for several instruction sets. */
#ifndef LBX_CODES_H
#define LBX_CODES_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LBX_CODES_AT_ONCE = 4096, /* elements: a multiple of all that blocks have */
	LBX_SMALL_GROUP = 16,
	LBX_LARGE_GROUP = 32, /* elements of a group: so few, or a multiple of so many */
	LBX_CODE_GROUPS = LBX_CODES_AT_ONCE / LBX_SMALL_GROUP,
	LBX_NO_CODE = 127
};

/* What elements are made of, group by group. */
struct lbx_code_groups {
	int n, group; /* elements of each */
	float lowest, highest;
	bool has_least;
	/* sums and squares came with the steps, and no code is 0; codes come where they are asked for */
	bool has_sums;
	int8_t codes[LBX_CODES_AT_ONCE];
	float steps[LBX_CODE_GROUPS], leasts[LBX_CODE_GROUPS];
	float low[LBX_CODE_GROUPS], high[LBX_CODE_GROUPS]; /* between which its elements are */
	int8_t zero[LBX_CODE_GROUPS]; /* the code that stands for 0; LBX_NO_CODE: none */
	int32_t sums[LBX_CODE_GROUPS], squares[LBX_CODE_GROUPS]; /* of the codes */
};

/* Of all groups. */
struct lbx_code_bounds {
	float low, high;
	bool is_odd; /* there may be elements that are counted apart */
	bool is_flat; /* there are steps of 0 */
};

struct lbx_code_passes {
	/* Finds between which bounds each group is, and which codes stand for 0. */
	void (*prepare)(struct lbx_code_groups *g, struct lbx_code_bounds *ret);
	/* Sums and squares; returns how many elements are 0. */
	int64_t (*add_up)(struct lbx_code_groups *g, bool is_flat);
	/* Of groups that may be beyond these, how far they are indeed. */
	void (*narrow)(struct lbx_code_groups *g, float low, float high);
	/* Sums of x - shift and of its square, of all elements. */
	void (*moments)(const struct lbx_code_groups *g, double shift, double *ret_sum, double *ret_squares);
};

/* Those for this machine. */
const struct lbx_code_passes *lbx_code_passes(void);

#endif
