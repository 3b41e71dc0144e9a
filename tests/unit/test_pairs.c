/* Products of halves by the processor's own instructions: each element has the bits that the definition gives, whatever the
 * sizes, the strides and the threads. A way that the processor has not is skipped. */
#include "kernel_support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/pairs.h"

enum { BLOCK = 1024, PIECE = 32 };

/* Ways to multiply halves. */
enum way { PAIRS, AMX_BF16, AMX_F16, WAYS };

static int dtype_of(enum way way)
{
	return way == AMX_F16 ? LB_F16 : LB_BF16;
}

/* Whether the processor has it; from now on it is the one. */
static bool take_way(enum way way)
{
	exec_all.amx = exec_alone.amx = way != PAIRS;
	return way == PAIRS ? lb_has_pairs() : lb_may_use_amx();
}

static float at(const struct lb_view *x, int64_t i, int64_t j)
{
	return (float)real_of((const char *)x->data + (i * x->strides[1] + j * x->strides[2]) * 2, x->dtype, 0);
}

/* Of pairs the second product comes first, each is added with one rounding, and blocks are added up. */
static float product_of_pairs(const struct lb_view *a, const struct lb_view *b, int64_t i, int64_t j)
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

/* x without all but its upper 8 bits, or the rest. */
static float part(float x, bool rest)
{
	uint32_t bits;
	float upper;

	memcpy(&bits, &x, sizeof bits);
	bits &= 0xffff0000;
	memcpy(&upper, &bits, sizeof upper);
	return rest ? x - upper : upper;
}

/* A piece of the depth adds the sum of its products of even places and that of odd ones. Of f16 there are four: of the upper
 * parts, then one step after another round the other parts. */
static float product_by_amx(const struct lb_view *a, const struct lb_view *b, int64_t i, int64_t j)
{
	static const bool lower[4][2] = { { false, false }, { true, false }, { true, true }, { false, true } };
	int64_t depth = a->shape[2];
	bool f16 = a->dtype == LB_F16;
	float total = 0;

	for (int64_t p = 0; p < depth; p += PIECE)
		for (int part_of = 0; part_of < (f16 ? 4 : 1); part_of++) {
			float sums[2] = { 0 };
			for (int64_t q = p; q < p + PIECE && q < depth; q++) {
				float x = at(a, i, q), y = at(b, q, j);
				if (f16) {
					x = part(x, lower[part_of][0]);
					y = part(y, lower[part_of][1]);
				}
				sums[q % 2] = fmaf(x, y, sums[q % 2]);
			}
			total += sums[0] + sums[1];
		}
	return total;
}

static struct lb_view matrix(int dtype, int64_t rows, int64_t columns, int kind)
{
	int64_t turned[3] = { 1, columns, rows };
	if (kind == 2)
		return make_strided(dtype, 3, (int64_t[]){ 1, rows, columns });
	struct lb_view x = make_view(dtype, 3, kind ? turned : (int64_t[]){ 1, rows, columns });
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
		put_real(element(x, i), x->dtype, scale * ((double)(draw() % 4096) / 2048 - 1));
}

static uint16_t half_of(float x, int dtype)
{
	return dtype == LB_F16 ? lb_float_to_f16(x) : lb_float_to_bf16(x);
}

static float value_of(uint16_t half, int dtype)
{
	return dtype == LB_F16 ? lb_f16_to_float(half) : lb_bf16_to_float(half);
}

/* `by_amx`: the definition of its products holds, else that of pairs. */
static void check(struct lb_exec *exec, const struct lb_view *a, const struct lb_view *b, bool by_amx)
{
	int64_t m = a->shape[1], n = b->shape[2], step = 1 + m * n / 400;
	uint16_t *out = keep(m * n * 2);

	memset(out, 0xff, (size_t)(m * n * 2));
	check_ok(lb_kernel_matmul(exec, a, b, NULL, 1, 0, out));
	for (int64_t o = 0; o < m * n; o += o + step < m * n || o == m * n - 1 ? step : m * n - 1 - o) {
		float wanted = (by_amx ? product_by_amx : product_of_pairs)(a, b, o / n, o % n);
		if (out[o] != half_of(wanted, a->dtype) && !(isnan(wanted) && isnan(value_of(out[o], a->dtype))))
			fail_msg("%lldx%lldx%lld at %lld: %g, should be %g", (long long)m, (long long)n,
				 (long long)a->shape[2], (long long)o, (double)value_of(out[o], a->dtype),
				 (double)wanted);
	}
}

static void bits(void **state)
{
	static const int64_t sizes[][3] = {
		{ 16, 16, 1 },    { 12, 32, 64 },     { 13, 33, 65 },     { 2, 200, 31 },     { 200, 2, 33 },
		{ 129, 40, 7 },   { 35, 300, 34 },    { 1030, 20, 50 },   { 20, 1100, 1025 }, { 70, 90, 2050 },
		{ 300, 513, 96 }, { 23, 47, 0 },      { 2047, 33, 40 },   { 2100, 17, 5 },    { 17, 2100, 70 },
		{ 257, 31, 545 }, { 2100, 20, 1500 }, { 1100, 20, 6000 }, { 20, 1100, 9000 },
	};

	(void)state;
	for (enum way way = PAIRS; way < WAYS && take_way(way); way++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			for (int kind = 0; kind < 9; kind++) {
				struct lb_view a = matrix(dtype_of(way), sizes[s][0], sizes[s][2], kind / 3);
				struct lb_view b = matrix(dtype_of(way), sizes[s][2], sizes[s][1], kind % 3);
				fill(&a, 1);
				fill(&b, 1);
				check(kind % 2 ? &exec_all : &exec_alone, &a, &b, way != PAIRS);
				free_kept();
			}
}

/* Each number of rows, columns and elements along the depth, up to beyond what a strip and a piece have. */
static void edges(void **state)
{
	(void)state;
	for (enum way way = PAIRS; way < WAYS && take_way(way); way++)
		for (int64_t m = 1; m <= 40; m++)
			for (int64_t n = 256 / m + 1; n <= 256 / m + 40; n += 3) {
				int64_t k = 1 + (int64_t)(draw() % 70);
				int kind = (int)(draw() % 9);
				struct lb_view a = matrix(dtype_of(way), m, k, kind / 3),
					       b = matrix(dtype_of(way), k, n, kind % 3);
				fill(&a, 1);
				fill(&b, 1);
				if (m > 1 && n > 1) /* else it is a vector's product */
					check(m % 2 ? &exec_all : &exec_alone, &a, &b, way != PAIRS);
				free_kept();
			}
}

/* A batch, and alpha and beta: what is rounded is alpha * product + beta * c. */
static void batch_and_addition(void **state)
{
	enum { BATCH = 3, M = 33, N = 35, K = 40 };

	(void)state;
	for (enum way way = PAIRS; way < WAYS && take_way(way); way++) {
		int dtype = dtype_of(way);
		struct lb_view a = make_view(dtype, 3, (int64_t[]){ BATCH, M, K });
		struct lb_view b = make_view(dtype, 3, (int64_t[]){ BATCH, K, N });
		struct lb_view c = make_view(dtype, 3, (int64_t[]){ BATCH, M, N });
		uint16_t *out = keep(BATCH * M * N * 2);
		fill(&a, 1);
		fill(&b, 1);
		fill(&c, 1);
		check_ok(lb_kernel_matmul(&exec_all, &a, &b, &c, 0.5, -2, out));
		for (int64_t o = 0; o < BATCH * M * N; o++) {
			int64_t at_batch = o / (M * N);
			struct lb_view x = a, y = b;
			x.data = (char *)a.data + at_batch * M * K * 2;
			y.data = (char *)b.data + at_batch * K * N * 2;
			float sum = (way == PAIRS ? product_of_pairs : product_by_amx)(&x, &y, o % (M * N) / N, o % N);
			float added = (float)real_of((const char *)c.data + o * 2, dtype, 0);
			assert_int_equal(out[o], half_of(0.5f * sum + -2.f * added, dtype));
		}
		free_kept();
	}
}

static void special_values(void **state)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, 3e38, -3e38, -0.0 };

	(void)state;
	for (enum way way = PAIRS; way <= AMX_BF16 && take_way(way); way++)
		for (int round = 0; round < 40; round++) {
			struct lb_view a = matrix(LB_BF16, 40, 70, round % 3),
				       b = matrix(LB_BF16, 70, 50, round / 3 % 3);
			fill(&a, 1);
			fill(&b, 1);
			for (int i = 0; i < 20; i++) {
				struct lb_view *x = i % 2 ? &a : &b;
				put_real(element(x, (int64_t)(draw() % (uint64_t)size_of(x))), LB_BF16,
					 values[draw() % 6]);
			}
			check(&exec_all, &a, &b, way != PAIRS);
			free_kept();
		}
}

/* f16 that is not finite has no two parts; the largest and the least that is have. */
static void special_values_of_f16(void **state)
{
	static const double values[] = { 65504, -65504, 0x1p-24, -0x1.ff8p-15, -0.0, 0, NAN, INFINITY, -INFINITY };

	(void)state;
	take_way(AMX_F16);
	for (int round = 0; round < 40; round++) {
		bool finite = round % 2;
		bool wide = round % 18 == 6; /* every other column of many */
		int64_t n = wide ? 2047 : 50;
		struct lb_view a = matrix(LB_F16, 40, 70, round % 3), b = matrix(LB_F16, 70, n, round / 3 % 3);
		if (wide) {
			b = make_view(LB_F16, 3, (int64_t[]){ 1, 70, 2 * n });
			b.shape[2] = n;
			b.strides[2] = 2;
		}
		uint16_t *out = keep(40 * n * 2);
		fill(&a, 1);
		fill(&b, 1);
		if (wide)
			put_real(element(&b, 5), LB_F16, INFINITY);
		for (int i = 0; i < 20; i++) {
			struct lb_view *x = i % 2 ? &a : &b;
			put_real(element(x, (int64_t)(draw() % (uint64_t)size_of(x))), LB_F16,
				 values[draw() % (finite ? 6 : 9)]);
		}
		if (finite && lb_may_use_amx()) {
			check(&exec_all, &a, &b, true);
			free_kept();
			continue;
		}
		check_ok(lb_kernel_matmul(&exec_all, &a, &b, NULL, 1, 0, out));
		for (int64_t o = 0; o < 40 * n; o++) {
			double sum = 0, size = 0, got = (double)value_of(out[o], LB_F16);
			for (int64_t p = 0; p < 70; p++) {
				sum += (double)at(&a, o / n, p) * (double)at(&b, p, o % n);
				size += fabs((double)at(&a, o / n, p) * (double)at(&b, p, o % n));
			}
			double wanted = (double)lb_f16_to_float(lb_float_to_f16((float)sum));
			if (isfinite(wanted) ? !(fabs(got - sum) <= fabs(sum) * 0x1p-10 + size * 0x1p-17 + 0x1p-24)
			    : isnan(wanted)  ? !isnan(got)
					     : got != wanted)
				fail_msg("%g, should be %g", got, wanted);
		}
		free_kept();
	}
}

/* The instructions take them for 0, so they are multiplied as pairs are. */
static void denormals(void **state)
{
	(void)state;
	for (int round = 0; round < 8; round++)
		for (enum way way = PAIRS; way <= AMX_BF16 && take_way(way); way++)
			for (int i = 0; i < 6; i++) {
				int side = i / 3, kind = i % 3;
				struct lb_view a = matrix(LB_BF16, 30, 45, kind), b = matrix(LB_BF16, 45, 20, kind);
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
				check(&exec_all, &a, &b, false);
				free_kept();
			}
}

static void tiny_sums_are_0(void **state)
{
	(void)state;
	for (enum way way = PAIRS; way <= AMX_BF16 && take_way(way); way++) {
		struct lb_view a = matrix(LB_BF16, 20, 4, 0), b = matrix(LB_BF16, 4, 20, 0);
		uint16_t *out = keep(400 * 2);

		for (int64_t i = 0; i < 80; i++) {
			put_real(element(&a, i), LB_BF16, 0x1p-65);
			put_real(element(&b, i), LB_BF16, 0x1p-65);
		}
		check_ok(lb_kernel_matmul(&exec_all, &a, &b, NULL, 1, 0, out));
		for (int i = 0; i < 400; i++)
			assert_int_equal(out[i], 0);
	}
}

/* Each sum has a rounding a product, and one at the end. */
static void error_bound(void **state)
{
	(void)state;
	for (enum way way = PAIRS; way < WAYS; way++) {
		int dtype = dtype_of(way);
		struct lb_view a = matrix(dtype, 16, 5000, 0), b = matrix(dtype, 5000, 16, 1);
		uint16_t *out = keep(256 * 2);

		take_way(way);
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
			long double error = fabsl((long double)value_of(out[o], dtype) - sum);
			assert_true(error <=
				    fabsl(sum) * (dtype == LB_F16 ? 0x1p-11L : 0x1p-8L) + 5000 * 0x1p-24L * size);
		}
		free_kept();
	}
}

/* The kernel refuses a process the tiles whose signal stacks are too small for them: then its products are those of pairs. */
static int refused_main(void)
{
	static char small[4096];
	stack_t stack = { .ss_sp = small, .ss_size = sizeof small };
	if (sigaltstack(&stack, NULL) != 0 || lb_may_use_amx())
		return 1;
	for (int dtype = LB_F16; dtype <= LB_BF16; dtype++) {
		struct lb_view a = matrix(dtype, 40, 70, 0), b = matrix(dtype, 70, 50, 1);
		uint16_t *out = keep(2000 * 2);
		fill(&a, 1);
		fill(&b, 1);
		if (!lb_kernel_matmul(&exec_all, &a, &b, NULL, 1, 0, out))
			return 2;
		for (int64_t o = 0; o < 2000; o++) {
			float pairs = product_of_pairs(&a, &b, o / 50, o % 50), got = value_of(out[o], dtype);
			if (dtype == LB_BF16 ? out[o] != half_of(pairs, dtype) : fabsf(got - pairs) > 0.01f)
				return 3;
		}
	}
	free_kept();
	return 0;
}

static void refused_permission(void **state)
{
	int status;

	(void)state;
	if (lb_isa_level() < LB_ISA_AMX)
		skip();
	pid_t child = fork();
	if (child == 0) {
		execl("/proc/self/exe", "test_pairs", "--refused", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Tiles are released after a product: what a program does then with its registers is its own. */
static void tiles_are_released(void **state)
{
	(void)state;
	if (!take_way(AMX_BF16))
		skip();
#ifdef __x86_64__
	struct lb_view a = matrix(LB_BF16, 100, 70, 0), b = matrix(LB_BF16, 70, 50, 1);
	uint8_t config[64];
	fill(&a, 1);
	fill(&b, 1);
	check(&exec_alone, &a, &b, true);
	__asm__ volatile("sttilecfg %0" : "=m"(config));
	for (size_t i = 0; i < sizeof config; i++)
		assert_int_equal(config[i], 0);
#endif
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bits, reset),
		cmocka_unit_test_teardown(edges, reset),
		cmocka_unit_test_teardown(batch_and_addition, reset),
		cmocka_unit_test_teardown(special_values, reset),
		cmocka_unit_test_teardown(special_values_of_f16, reset),
		cmocka_unit_test_teardown(denormals, reset),
		cmocka_unit_test_teardown(tiny_sums_are_0, reset),
		cmocka_unit_test_teardown(error_bound, reset),
		cmocka_unit_test_teardown(refused_permission, reset),
		cmocka_unit_test_teardown(tiles_are_released, reset),
	};
	if (argc == 2 && strcmp(argv[1], "--refused") == 0)
		return refused_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
