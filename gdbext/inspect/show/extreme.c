#include "inspect/show/extreme.h"

#include <stdio.h>

#include "inspect/answer.h"

void lbx_extreme_text(const struct lbx_summary *s, bool is_max, char *ret, size_t size)
{
	int64_t exact = is_max ? s->int_max : s->int_min;

	if (s->dtype == LB_U64)
		snprintf(ret, size, "%llu", (unsigned long long)exact);
	else if (s->dtype < LB_F16)
		snprintf(ret, size, "%lld", (long long)exact);
	else
		snprintf(ret, size, s->dtype == LB_F64 ? "%.12g" : "%.7g", is_max ? s->max : s->min);
}

json_t *lbx_extreme_json(const struct lbx_summary *s, bool is_max)
{
	int64_t exact = is_max ? s->int_max : s->int_min;

	if ((is_max ? s->argmax : s->argmin) < 0)
		return json_null();
	if (s->dtype >= LB_F16 || (s->dtype == LB_U64 && exact < 0))
		return lbx_json_double(is_max ? s->max : s->min);
	return json_integer(exact);
}
