/* Sorting of lines on each instruction set: by the definition of its order, with the same bits. */
#include "kernel_support.h"

#include "kernels/sort_line.h"

/* Below, equal or above; NaN is above all. */
static int order(int dtype, const char *x, int64_t i, int64_t k)
{
	const char *a = x + i * width(dtype), *b = x + k * width(dtype);
	int64_t p = int_of(a, dtype), q = int_of(b, dtype);
	if (dtype == LB_U64)
		return (uint64_t)p<(uint64_t)q ? -1 : (uint64_t)p>(uint64_t) q;
	if (!lb_dtype_is_float(dtype))
		return p < q ? -1 : p > q;
	double v = real_of(a, dtype, 0), w = real_of(b, dtype, 0);
	if (isnan(v) || isnan(w))
		return isnan(v) - isnan(w);
	return v < w ? -1 : v > w;
}

static void check(const struct lb_tiles *tiles, int dtype, int64_t n, const char *x)
{
	int64_t bytes = width(dtype);
	char *values = keep(n * bytes);
	uint32_t *indices = keep(n * 4);
	bool has_nan = false;

	for (int64_t i = 0; i < n; i++)
		has_nan |= lb_dtype_is_float(dtype) && isnan(real_of(x + i * bytes, dtype, 0));
	memcpy(values, x, (size_t)(n * bytes));
	assert_int_equal(lb_sort_values(&exec_all, tiles, dtype, n, values, values, keep(2 * n * bytes)), has_nan);
	for (int64_t i = 1; i < n; i++)
		assert_true(order(dtype, values, i - 1, i) <= 0);
	char *others = keep(n * bytes); /* from elsewhere */
	assert_int_equal(lb_sort_values(&exec_alone, &lb_tiles_base, dtype, n, x, others, keep(2 * n * bytes)),
			 has_nan);
	assert_memory_equal(values, others, (size_t)(n * bytes));
	if (bytes > 4)
		return;
	/* each index once, since they rise where elements are equal; elements are those of the indices */
	assert_int_equal(lb_sort_indices(&exec_all, tiles, dtype, n, x, indices, keep(2 * n * 8)), has_nan);
	for (int64_t i = 0; i < n; i++) {
		assert_true(indices[i] < n);
		assert_memory_equal(values + i * bytes, x + indices[i] * bytes, (size_t)bytes);
		int before = i ? order(dtype, x, indices[i - 1], indices[i]) : -1;
		assert_true(before < 0 || (before == 0 && indices[i - 1] < indices[i]));
	}
}

/* Any bits; two values; what rises or falls; the largest keys among others. */
static void make(int dtype, int64_t n, int kind, char *x)
{
	for (int64_t i = 0; i < n; i++) {
		uint64_t bits = draw();
		if (kind == 1)
			bits = bits & 1 ? 1 : UINT64_MAX << 63 >> (64 - 8 * width(dtype));
		else if (kind == 2)
			bits = (uint64_t)i;
		else if (kind == 3)
			bits = (uint64_t)(n - i);
		else if (kind == 4)
			bits = bits % 3 ? UINT64_MAX : bits >> 40;
		if (dtype == LB_BOOL)
			bits &= 1;
		memcpy(x + i * width(dtype), &bits, (size_t)width(dtype));
	}
}

static void lines(void **state)
{
	(void)state;
	for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++)
		for (int dtype = 0; dtype < LB_C64; dtype++)
			for (int kind = 0; kind < 5; kind++) {
				for (int64_t n = 0; n < 700; n += n < 140 ? 1 : 53) {
					char *x = keep(n * width(dtype));
					make(dtype, n, kind, x);
					check(lb_tiles_of((enum lb_isa)level), dtype, n, x);
					free_kept();
				}
				char *x = keep(70001 * width(dtype));
				make(dtype, 70001, kind, x);
				check(lb_tiles_of((enum lb_isa)level), dtype, 70001, x);
				free_kept();
			}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(lines, reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
