#include "inspect/show/quant_figure.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/findings.h"
#include "inspect/tensor/describe.h"

enum { OUTLIER = 64, TEXT = 8192 };

bool lbx_quant_figure_init(struct lbx_quant_figure *f, enum lb_dtype dtype, int64_t n)
{
	*f = (struct lbx_quant_figure){
		.normal = dtype == LB_F16                       ? 0x1p-14f
			  : dtype == LB_F32 || dtype == LB_BF16 ? FLT_MIN
								: 0,
	};
	lbx_summary_init(&f->summary, LB_F32);
	return lbx_sample_init(&f->sample, LB_F32, n);
}

void lbx_quant_figure_deinit(struct lbx_quant_figure *f)
{
	lbx_sample_deinit(&f->sample);
}

void lbx_quant_figure_add(struct lbx_quant_figure *f, float *values, int64_t n, int64_t first)
{
	for (int64_t i = 0; i < n; i++) {
		values[i] = fabsf(values[i]);
		if (values[i] > 0 && values[i] < f->normal && f->denormal++ == 0)
			f->first_denormal = first + i;
	}
	lbx_summary_add(&f->summary, values, n, first);
	lbx_sample_add(&f->sample, values, n, first);
}

bool lbx_quant_figure_settle(struct lbx_quant_figure *f, bool *ret)
{
	if (!lbx_sample_sort(&f->sample))
		return false;
	f->median = f->sample.n ? lbx_sample_quantile(&f->sample, 0.5) : 0;
	*ret = f->median > 0 && f->summary.max > OUTLIER * f->median;
	return true;
}

void lbx_quant_figure_compare(struct lbx_quant_figure *f, const float *values, int64_t n, int64_t first)
{
	for (int64_t i = 0; i < n; i++)
		if (fabs(values[i]) > OUTLIER * f->median && f->outliers++ == 0)
			f->first_outlier = first + i;
}

static json_t *json_figure(const struct lbx_quant_figure *f)
{
	const struct lbx_summary *s = &f->summary;

	if (s->count == 0)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I}", "min",
			 s->argmin < 0 ? json_null() : lbx_json_double(s->min), "max",
			 s->argmax < 0 ? json_null() : lbx_json_double(s->max), "median", lbx_json_double(f->median),
			 "zero", (json_int_t)s->special[LBX_ZERO], "denormal", (json_int_t)f->denormal, "nan",
			 (json_int_t)s->special[LBX_NAN], "inf", (json_int_t)s->special[LBX_POSITIVE_INF], "outliers",
			 (json_int_t)f->outliers);
}

void lbx_quant_figure_tell(struct lbx_out *out, const char *lead, const char *key, const struct lbx_quant_figure *f,
			   lbx_quant_place_fn *place, const void *context)
{
	const struct lbx_summary *s = &f->summary;
	const struct {
		const char *what;
		int64_t n, first;
	} counts[] = {
		{ "zero", s->special[LBX_ZERO], s->first[LBX_ZERO] },
		{ "denormal", f->denormal, f->first_denormal },
		{ "NaN", s->special[LBX_NAN], s->first[LBX_NAN] },
		{ "Inf", s->special[LBX_POSITIVE_INF], s->first[LBX_POSITIVE_INF] },
		{ "beyond 64 times the median", f->outliers, f->first_outlier },
	};
	char text[TEXT] = "no numbers", where[LBX_LIST_MAX];

	LBX_KEY(out, key, json_figure(f));
	if (s->count == 0)
		return;
	if (s->argmin >= 0)
		snprintf(text, sizeof text, "from %.5g to %.5g, median %.5g", s->min, s->max, f->median);
	size_t used = strlen(text);
	for (size_t i = 0; i < sizeof counts / sizeof *counts && used < sizeof text; i++) {
		if (counts[i].n == 0)
			continue;
		place(context, counts[i].first, where, sizeof where);
		used += (size_t)snprintf(text + used, sizeof text - used, ", %lld %s (first at %s)",
					 (long long)counts[i].n, counts[i].what, where);
	}
	lbx_print_folded(out, lead, text);
}
