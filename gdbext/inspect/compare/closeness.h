/* What a comparison amounts to. */
#ifndef LBX_CLOSENESS_H
#define LBX_CLOSENESS_H

#include "inspect/compare/compare.h"

enum lbx_closeness { LBX_CORRECT, LBX_LOOK_AT_IT, LBX_BROKEN, LBX_AS_EXPECTED, LBX_CLOSENESSES };

struct lbx_levels {
	struct lbx_tolerance tolerance; /* errors below its level count as none */
	bool level_given; /* by the user: then that alone makes it correct */
	double broken; /* beyond this, and not close, it is broken */
};

extern const struct lbx_levels lbx_default_levels;

/* The options --correct, --broken, --rtol and --atol over the default. */
struct lbx_args;
bool lbx_levels_take(const struct lbx_args *args, struct lbx_levels *ret);
enum lbx_closeness lbx_closeness(const struct lbx_comparison *comparison, const struct lbx_levels *levels);
/* Beside a reference, of a tensor in a format of quantisation (inspect/compare/formats.h) whose own cost makes all of the
 * error: as expected. `relative` is of L2 norms. */
enum lbx_closeness lbx_closeness_of_format(enum lbx_closeness without, double relative, const char *format,
					   const struct lbx_levels *levels);
/* "correct", "look at it", "broken", "as expected" */
const char *lbx_closeness_name(enum lbx_closeness closeness);

#endif
