/* Operands that an operation makes wider for the sake of another one, call by call. */
#ifndef LBX_PROMOTIONS_H
#define LBX_PROMOTIONS_H

#include "inspect/diagnose/ops.h"
#include "inspect/diagnose/rule.h"

enum { LBX_PROMOTIONS_MOST = 64 };

struct lbx_promotion {
	uint64_t site, times;
	int64_t bytes;    /* of the results */
	bool is_certain;
	enum lb_dtype narrow, wide, result;
	struct lbx_key made, narrower, wider; /* of the first: the result, and the operands */
};

struct lbx_promotions {
	int n;
	struct lbx_promotion list[LBX_PROMOTIONS_MOST];
};

/* Which of an operation's operands are widened by which; false: none is. */
typedef bool lbx_widens(const struct lbx_tensor *t, const struct lbx_operand_kind *kinds, int n, int *ret_narrow,
			int *ret_wide);

void lbx_promotions_take(struct lbx_case *c, struct lbx_promotions *p, const struct lbx_tensor *t, lbx_widens *widens);
/* A finding for each call. */
bool lbx_promotions_tell(struct lbx_case *c, const struct lbx_promotions *p, const char *cost, const char *advice);

#endif
