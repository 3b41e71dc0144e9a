/* Products of bfloat16 by the processor's own instruction: each element has the bits that the definition gives, whatever the
 * sizes, the strides and the threads. */
#include "kernel_support.h"

#include "kernels/pairs.h"

enum { BLOCK = 1024 };

static float at(const struct lb_view *x, int64_t i, int64_t j)
{
	return (float)real_of((const char *)x->data + (i * x->strides[1] + j * x->strides[2]) * 2, LB_BF16, 0);
}

/* Of pairs the second product comes first, each is added with one rounding, and blocks are added up. */
static float product(const struct lb_view *a, const struct lb_view *b, int64_t i, int64_t j)
{
	int64_t depth = a->shape[2];
	float total = 0;

	for (int64_t q = 0; q < depth; q += BLOCK) {
		int64_t end = q + BLOCK < depth ? q + BLOCK : depth;
		float sum = 0;
		for (int64_t p = q; p < end; p += 2) {
			if (p + 1 < end)
				sum = fmaf(at(a, i, p + 1), at(b, p + 1, j), sum);
			sum = fmaf(at(a, i, p), at(b, p, j), sum);
		}
		total = q > 0 ? total + sum : sum;
	}
	return total;
}

static struct lb_view matrix(int64_t rows, int64_t columns, int kind)
{
	int64_t turned[3] = { 1, columns, rows };
	if (kind == 2)
		return make_strided(LB_BF16, 3, (int64_t[]){ 1, rows, columns });
	struct lb_view x = make_view(LB_BF16, 3, kind ? turned : (int64_t[]){ 1, rows, columns });
	if (kind) {
		x.shape[1] = rows;
		x.shape[2] = columns;
		x.strides[1] = 1;
		x.strides[2] = rows;
	}
	return x;
}

static void fill(struct lb_view *x, double scale)
{
	for (int64_t i = 0; i < size_of(x); i++)
		put_real(element(x, i), LB_BF16, scale * ((double)(draw() % 4096) / 2048 - 1));
}

static void check(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b)
{
	int64_t m = a->shape[1], n = b->shape[2], step = 1 + m * n / 400;
	uint16_t *out = keep(m * n * 2);

	memset(out, 0xff, (size_t)(m * n * 2));
	check_ok(lb_kernel_matmul(exec, a, b, NULL, 1, 0, out));
	for (int64_t o = 0; o < m * n; o += o + step < m * n || o == m * n - 1 ? step : m * n - 1 - o) {
		float wanted = product(a, b, o / n, o % n), got = lb_bf16_to_float(out[o]);
		if (out[o] != lb_float_to_bf16(wanted) && !(isnan(wanted) && isnan(got)))
			fail_msg("%lldx%lldx%lld at %lld: %g, should be %g", (long long)m, (long long)n,
				 (long long)a->shape[2], (long long)o, (double)got, (double)wanted);
	}
}

static void bits(void **state)
{
	static const int64_t sizes[][3] = {
		{ 16, 16, 1 },	{ 12, 32, 64 },	  { 13, 33, 65 },    { 2, 200, 31 },	 { 200, 2, 33 },   { 129, 40, 7 },
		{ 35, 300, 34 }, { 1030, 20, 50 }, { 20, 1100, 1025 }, { 70, 90, 2050 }, { 300, 513, 96 }, { 23, 47, 0 },
	};

	(void)state;
	if (!lb_has_pairs())
		skip();
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (int kind = 0; kind < 9; kind++) {
			struct lb_view a = matrix(sizes[s][0], sizes[s][2], kind / 3);
			struct lb_view b = matrix(sizes[s][2], sizes[s][1], kind % 3);
			fill(&a, 1);
			fill(&b, 1);
			check(kind % 2 ? &exec_all : &exec_alone, &a, &b);
			free_kept();
		}
}

static void special_values(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, 3e38, -3e38, -0.0 };

	(void)state;
	if (!lb_has_pairs())
		skip();
	for (int round = 0; round < 40; round++) {
		struct lb_view a = matrix(40, 70, round % 3), b = matrix(70, 50, round / 3 % 3);
		fill(&a, 1);
		fill(&b, 1);
		for (int i = 0; i < 20; i++) {
			struct lb_view *x = i % 2 ? &a : &b;
			put_real(element(x, (int64_t)(draw() % (uint64_t)size_of(x))), LB_BF16, values[draw() % 6]);
		}
		check(&exec_all, &a, &b);
		free_kept();
	}
}

/* The instruction takes them for 0. */
static void denormals(void **state)
{
	(void)state;
	if (!lb_has_pairs())
		skip();
	for (int side = 0; side < 2; side++)
		for (int kind = 0; kind < 3; kind++)
			for (int round = 0; round < 8; round++) {
				struct lb_view a = matrix(30, 45, kind), b = matrix(45, 20, kind);
				struct lb_view *x = side ? &a : &b;
				fill(&a, 0x1p120);
				fill(&b, 0x1p120);
				fill(x, 1);
				/* one alone is found, too */
				int64_t n = round ? 30 : 1;
				for (int64_t i = 0; i < size_of(x); i++)
					put_real(element(x, i), LB_BF16, 0);
				for (int64_t i = 0; i < n; i++)
					put_real(element(x, (int64_t)(draw() % (uint64_t)size_of(x))), LB_BF16,
						 ldexp((double)(draw() % 127) + 1, -133));
				check(&exec_all, &a, &b);
				free_kept();
			}
}

static void tiny_sums_are_0(void **state)
{
	(void)state;
	if (!lb_has_pairs())
		skip();
	struct lb_view a = matrix(20, 4, 0), b = matrix(4, 20, 0);
	uint16_t *out = keep(400 * 2);

	for (int64_t i = 0; i < 80; i++) {
		put_real(element(&a, i), LB_BF16, 0x1p-65);
		put_real(element(&b, i), LB_BF16, 0x1p-65);
	}
	check_ok(lb_kernel_matmul(&exec_all, &a, &b, NULL, 1, 0, out));
	for (int i = 0; i < 400; i++)
		assert_int_equal(out[i], 0);
}

/* Each sum has a rounding a product, and one at the end. */
static void error_bound(void **state)
{
	(void)state;
	struct lb_view a = matrix(16, 5000, 0), b = matrix(5000, 16, 1);
	uint16_t *out = keep(256 * 2);

	fill(&a, 3);
	fill(&b, 0.1);
	check_ok(lb_kernel_matmul(&exec_all, &a, &b, NULL, 1, 0, out));
	for (int64_t o = 0; o < 256; o++) {
		long double sum = 0, size = 0;
		for (int64_t p = 0; p < 5000; p++) {
			long double term = (long double)at(&a, o / 16, p) * (long double)at(&b, p, o % 16);
			sum += term;
			size += fabsl(term);
		}
		long double error = fabsl((long double)lb_bf16_to_float(out[o]) - sum);
		assert_true(error <= fabsl(sum) * 0x1p-8L + 5000 * 0x1p-24L * size);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bits, reset),
		cmocka_unit_test_teardown(special_values, reset),
		cmocka_unit_test_teardown(denormals, reset),
		cmocka_unit_test_teardown(tiny_sums_are_0, reset),
		cmocka_unit_test_teardown(error_bound, reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
