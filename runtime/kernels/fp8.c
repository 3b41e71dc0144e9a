/* e4m3 codes of elements, and back. */
#include "kernels/codes.h"
#include "kernels/layout.h"
#include "kernels/model.h"

enum { CHUNK = 512, GRAIN = 1 << 14 };

struct job {
	const struct lb_view *x;
	enum lb_dtype dtype; /* from_fp8: of the result */
	char *to;
};

/* Rounded to the four digits that a code has, so that rounding it to a float before changes nothing. */
static float to_four_digits(double x)
{
	if (!(fabs(x) < 1024) || x == 0)
		return (float)x;
	int exponent = ilogb(x) < -6 ? -6 : ilogb(x);
	return (float)scalbn(nearbyint(scalbn(x, 3 - exponent)), exponent - 3);
}

static void to_codes(const struct job *job, int64_t n, const void *from, uint8_t *to)
{
	float values[CHUNK];
	if (job->x->dtype == LB_F64) {
		for (int64_t i = 0; i < n; i++)
			values[i] = to_four_digits(((const double *)from)[i]);
		from = values;
	} else if (job->x->dtype != LB_F32) {
		lb_tiles()->convert(LB_F32, (int)job->x->dtype)(n, values, from, NULL, NULL);
		from = values;
	}
	for (int64_t i = 0; i < n; i++)
		to[i] = lb_float_to_e4m3(((const float *)from)[i]);
}

static void from_codes(const struct job *job, int64_t n, const uint8_t *from, void *to)
{
	float values[CHUNK], *all = job->dtype == LB_F32 ? to : values;
	for (int64_t i = 0; i < n; i++)
		all[i] = lb_e4m3_to_float(from[i]);
	if (all == values)
		lb_tiles()->convert((int)job->dtype, LB_F32)(n, to, values, NULL, NULL);
}

static void convert_range(void *arg, int64_t begin, int64_t end)
{
	const struct job *job = arg;
	const struct lb_view *x = job->x;
	int64_t index[LB_MAX_RANK], width = lb_width_of((int)job->dtype);
	uint64_t room[CHUNK];
	lb_index_of(x->rank, x->shape, begin, index);
	for (int64_t n; begin < end; begin += n) {
		n = end - begin < CHUNK ? end - begin : CHUNK;
		lb_gather(room, x->data, n, x->rank, x->shape, x->strides, index, lb_width_of((int)x->dtype));
		if (job->dtype == LB_U8)
			to_codes(job, n, room, (uint8_t *)job->to + begin);
		else
			from_codes(job, n, (const uint8_t *)room, job->to + begin * width);
	}
}

bool lb_kernel_fp8(struct lb_exec *exec, const struct lb_view *x, enum lb_dtype dtype, void *to)
{
	enum lb_dtype number = dtype == LB_U8 ? x->dtype : dtype;
	if (!lb_dtype_is_float((int)number) || (dtype != LB_U8 && x->dtype != LB_U8))
		return lb_fail("fp8: no codes of %s as %s", lb_dtypes[x->dtype].name, lb_dtypes[dtype].name);
	struct job job = { x, dtype, to };
	lb_parallel(exec, lb_shape_size(x->rank, x->shape), GRAIN, convert_range, &job);
	return true;
}
