#include "inspect/measure/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/plural.h"
#include "inspect/answer.h"
#include "inspect/measure/summary.h"

enum { PIECE = 1 << 16 };

struct work {
	uint64_t checksum;
	struct lbx_summary summary;
};

/* A sum of each element's bits mixed with its index: the order of elements counts, the pieces they
 * come in do not. */
static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct work *w = context;
	size_t width = (size_t)lbx_dtype_bytes(w->summary.dtype);
	uint64_t sum = 0;

#define ADD(type) \
	for (int64_t i = 0; i < n; i++) { \
		type bits; \
		memcpy(&bits, (const char *)elements + i * (int64_t)sizeof bits, sizeof bits); \
		sum += lb_mix(bits + (uint64_t)(first + i + 1) * LB_MIX_STEP); \
	}
	switch (width) {
	case 1: ADD(uint8_t) break;
	case 2: ADD(uint16_t) break;
	case 4: ADD(uint32_t) break;
	default: ADD(uint64_t) break;
	}
#undef ADD
	w->checksum += sum;
	lbx_summary_add(&w->summary, elements, n, first);
	return true;
}

bool lbx_digest(const struct lbx_array *array, struct lbx_out *out, struct lbx_digest *ret)
{
	struct work w = { .checksum = 0 };
	const struct lbx_summary *s = &w.summary;

	lbx_summary_init(&w.summary, array->dtype);
	if (!lbx_array_walk(array, out, "reading values", PIECE, add_piece, &w))
		return false;
	*ret = (struct lbx_digest){
		.checksum = w.checksum,
		.dtype = array->dtype,
		.count = s->count,
		.nan = s->special[LBX_NAN],
		.inf = s->special[LBX_POSITIVE_INF] + s->special[LBX_NEGATIVE_INF],
		.min = s->min,
		.max = s->max,
		.mean = (double)s->mean,
		.std = lbx_summary_std(s),
	};
	return true;
}

bool lbx_digest_equal(const struct lbx_digest *a, const struct lbx_digest *b)
{
	return a->checksum == b->checksum && a->dtype == b->dtype && a->count == b->count;
}

json_t *lbx_json_digest(const struct lbx_digest *d)
{
	char checksum[24];

	snprintf(checksum, sizeof checksum, "%016" PRIx64, d->checksum);
	return json_pack("{s:s,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "checksum", checksum, "count", (json_int_t)d->count,
			 "nan", (json_int_t)d->nan, "inf", (json_int_t)d->inf, "min", lbx_json_double(d->min), "max",
			 lbx_json_double(d->max), "mean", lbx_json_double(d->mean), "std", lbx_json_double(d->std));
}
