#include "inspect/compare/closeness.h"

#include "inspect/args.h"
#include "inspect/compare/formats.h"

static const double most_over = 1.25; /* of what a format costs: weights are not quite normally distributed */

const struct lbx_levels lbx_default_levels = { .tolerance = { .level = 1e-5, .rtol = 1e-5, .atol = 1e-8 },
					       .broken = 0.1 };

bool lbx_levels_take(const struct lbx_args *args, struct lbx_levels *ret)
{
	*ret = lbx_default_levels;
	ret->level_given = lbx_args_option(args, "correct");
	return lbx_args_real(args, "correct", 0, &ret->tolerance.level) &&
	       lbx_args_real(args, "broken", 0, &ret->broken) && lbx_args_real(args, "rtol", 0, &ret->tolerance.rtol) &&
	       lbx_args_real(args, "atol", 0, &ret->tolerance.atol);
}

enum lbx_closeness lbx_closeness(const struct lbx_comparison *c, const struct lbx_levels *levels)
{
	if (c->nan_in_one)
		return LBX_BROKEN;
	/* within rtol and atol an error may be large only where the numbers are */
	if (c->max < levels->tolerance.level || (!levels->level_given && c->far == 0))
		return LBX_CORRECT;
	return c->max > levels->broken ? LBX_BROKEN : LBX_LOOK_AT_IT;
}

enum lbx_closeness lbx_closeness_of_format(enum lbx_closeness without, double relative, const char *format,
					   const struct lbx_levels *levels)
{
	bool is_expected = relative <= most_over * lbx_format_error(format);

	return without != LBX_CORRECT && is_expected && !levels->level_given ? LBX_AS_EXPECTED : without;
}

const char *lbx_closeness_name(enum lbx_closeness closeness)
{
	static const char *const names[LBX_CLOSENESSES] = { "correct", "look at it", "broken", "as expected" };

	return names[closeness];
}
