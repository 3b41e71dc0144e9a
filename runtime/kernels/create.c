#include "kernels/layout.h"
#include "kernels/tile.h"

enum { GRAIN = 1 << 16 };

/* Conversions of single values are those of the tiles: one set of rules. */
static void convert_one(void *to, int to_dtype, const void *from, int from_dtype)
{
	lb_tiles_of(LB_ISA_BASE)->convert(to_dtype, from_dtype)(1, to, from, NULL, NULL);
}

void lb_store_double(void *to, enum lb_dtype dtype, double value)
{
	convert_one(to, dtype, &value, LB_F64);
}

void lb_store_int(void *to, enum lb_dtype dtype, int64_t value)
{
	convert_one(to, dtype, &value, LB_I64);
}

double lb_load_double(const void *from, enum lb_dtype dtype)
{
	double value;
	convert_one(&value, LB_F64, from, dtype);
	return value;
}

int64_t lb_load_int(const void *from, enum lb_dtype dtype)
{
	int64_t value;
	convert_one(&value, LB_I64, from, dtype);
	return value;
}

struct range {
	char *to;
	enum lb_dtype dtype;
	int64_t bytes;
	double start, step;
	int64_t first, by;
	int64_t skipped; /* elements before the first that is wanted */
	uint64_t value; /* of fill */
	bool same_bytes;
	lb_tile_fn *convert;
};

static void arange_range(void *arg, int64_t begin, int64_t end)
{
	enum { CHUNK = 512 };
	const struct range *range = arg;
	double reals[CHUNK];
	int64_t ints[CHUNK];
	for (; begin < end; begin += CHUNK) {
		int64_t n = end - begin < CHUNK ? end - begin : CHUNK;
		char *to = range->to + begin * range->bytes;
		if (lb_dtype_is_inexact(range->dtype)) {
			for (int64_t i = 0; i < n; i++)
				reals[i] = range->start + (double)(range->skipped + begin + i) * range->step;
			range->convert(n, to, reals, NULL, NULL);
		} else {
			for (int64_t i = 0; i < n; i++)
				ints[i] = (int64_t)((uint64_t)range->first +
						    (uint64_t)(range->skipped + begin + i) * (uint64_t)range->by);
			range->convert(n, to, ints, NULL, NULL);
		}
	}
}

bool lb_kernel_arange(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t first, int64_t n, double start,
		      double step)
{
	int from = lb_dtype_is_inexact(dtype) ? LB_F64 : LB_I64;
	struct range range = { .to = to,
			       .dtype = dtype,
			       .bytes = lb_width_of(dtype),
			       .start = start,
			       .step = step,
			       .skipped = first,
			       .convert = lb_tiles()->convert(dtype, from) };
	if (from == LB_I64) {
		range.first = lb_load_int(&start, LB_F64);
		range.by = lb_load_int(&step, LB_F64);
	}
	lb_parallel(exec, n, GRAIN, arange_range, &range);
	return true;
}

static void fill_range(void *arg, int64_t begin, int64_t end)
{
	const struct range *range = arg;
	char *to = range->to + begin * range->bytes;
	if (range->same_bytes)
		memset(to, (int)(range->value & 0xff), (size_t)((end - begin) * range->bytes));
	else
		lb_gather_row(to, &range->value, end - begin, 0, range->bytes);
}

bool lb_kernel_fill(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t n, const void *value)
{
	struct range range = { .to = to, .dtype = dtype, .bytes = lb_width_of(dtype) };
	memcpy(&range.value, value, (size_t)range.bytes);
	const char *bytes = value;
	range.same_bytes = true;
	for (int64_t i = 1; i < range.bytes; i++)
		range.same_bytes &= bytes[i] == bytes[0];
	lb_parallel(exec, n, GRAIN, fill_range, &range);
	return true;
}

bool lb_kernel_eye(struct lb_exec *exec, void *to, enum lb_dtype dtype, int64_t rows, int64_t cols, int64_t k)
{
	uint64_t zero = 0, one = 0;
	int64_t n, bytes = lb_width_of(dtype);
	if (rows < 0 || cols < 0 || !lb_mul(rows, cols, &n))
		return lb_fail("eye: %lld by %lld is too large", (long long)rows, (long long)cols);
	lb_store_int(&one, dtype, 1);
	if (!lb_kernel_fill(exec, to, dtype, n, &zero))
		return false;
	if (k >= cols || k <= -rows)
		return true;
	for (int64_t row = k < 0 ? -k : 0; row < rows && row + k < cols; row++)
		memcpy((char *)to + (row * cols + row + k) * bytes, &one, (size_t)bytes);
	return true;
}
