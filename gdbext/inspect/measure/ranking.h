/* Figures of a tensor's values, by which tensors can be ranked. */
#ifndef LBX_RANKING_H
#define LBX_RANKING_H

#include "inspect/context.h"
#include "inspect/measure/summary.h"

enum lbx_ranking { LBX_BY_MIN, LBX_BY_MAX, LBX_BY_MEAN, LBX_BY_STD, LBX_BY_NAN, LBX_BY_INF, LBX_RANKINGS };
extern const char *const lbx_ranking_names[LBX_RANKINGS];
/* False, quietly: it is none of them. */
bool lbx_ranking_parse(const char *text, enum lbx_ranking *ret);

/* All values of a ready tensor. Fails where they cannot be read. */
bool lbx_summary_of_tensor(struct lbx_context *context, const struct lbx_tensor *t, struct lbx_summary *ret);
/* NaN: it has none, as a minimum of NaN alone. */
double lbx_ranking_figure(enum lbx_ranking by, const struct lbx_summary *summary);

#endif
