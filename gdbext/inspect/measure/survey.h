/* One pass over an array for all its statistics, on all cores where several threads can read it. */
#ifndef LBX_SURVEY_H
#define LBX_SURVEY_H

#include "inspect/measure/quantile.h"
#include "inspect/measure/summary.h"
#include "inspect/tensor/array.h"

/* Both must be initialised, and empty. The result does not depend on the number of cores. */
bool lbx_survey(const struct lbx_array *array, struct lbx_out *out, struct lbx_summary *summary,
		struct lbx_sample *sample);

#endif
