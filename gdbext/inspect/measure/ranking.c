#include "inspect/measure/ranking.h"

#include <math.h>
#include <string.h>

#include "inspect/measure/survey.h"

const char *const lbx_ranking_names[LBX_RANKINGS] = { "min", "max", "mean", "std", "nan", "inf" };

bool lbx_ranking_parse(const char *text, enum lbx_ranking *ret)
{
	for (int i = 0; i < LBX_RANKINGS; i++)
		if (strcmp(lbx_ranking_names[i], text) == 0) {
			*ret = (enum lbx_ranking)i;
			return true;
		}
	return false;
}

bool lbx_summary_of_tensor(struct lbx_context *context, const struct lbx_tensor *t, struct lbx_summary *ret)
{
	struct lbx_sample sample;
	struct lbx_array array;

	if (!lbx_array_of_tensor(context->target, t, &array))
		return false;
	lbx_array_drop_repeats(&array);
	lbx_summary_init(ret, array.dtype);
	bool done = lbx_sample_init(&sample, array.dtype, 0) && lbx_survey(&array, context->out, ret, &sample);
	lbx_sample_deinit(&sample);
	return done;
}

double lbx_ranking_figure(enum lbx_ranking by, const struct lbx_summary *s)
{
	switch (by) {
	case LBX_BY_MIN: return s->argmin < 0 ? NAN : s->min;
	case LBX_BY_MAX: return s->argmax < 0 ? NAN : s->max;
	case LBX_BY_MEAN: return s->finite ? (double)s->mean : NAN;
	case LBX_BY_STD: return s->finite ? lbx_summary_std(s) : NAN;
	case LBX_BY_NAN: return (double)s->special[LBX_NAN];
	case LBX_BY_INF: return (double)(s->special[LBX_POSITIVE_INF] + s->special[LBX_NEGATIVE_INF]);
	case LBX_RANKINGS: break;
	}
	return NAN;
}
