/* Products of 4-bit codes with vectors that were cut into digits (kernels/simd/digits.c), at each instruction set,
 * beside the same numbers in double; and what a product of one row says of the elements that cannot be cut. */
#include <sys/mman.h>
#include <unistd.h>

#include "kernel_support.h"
#include "kernels/codes.h"
#include "kernels/quant_panels.h"

enum { MOST = 1200 };

static float uniform(void)
{
	return (float)(int64_t)(draw() >> 11) * 0x1p-52f - 1;
}

/* Elements of many sizes, a piece of zeros, and one of next to nothing. */
static void make_x(float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t piece = i / LB_CUT_TOGETHER;
		x[i] =
		    piece % 7 == 3 ? 0 : uniform() * (piece % 7 == 5 ? 0x1p-120f : exp2f((float)(piece % 5) * 9 - 20));
	}
}

static struct lb_cut room(int planes, int64_t n, int group)
{
	int64_t half = (n / 2 + 63) & ~(int64_t)63;
	return (struct lb_cut){ .planes = planes,
				.half = half,
				.digits = keep(planes * 2 * half),
				.steps = keep(2 * half / 8 * 4),
				.sums = keep(n / group * 4),
				.wholes = keep((n + 31) / 32 * 8) };
}

/* Element i, exactly, as its digits and step say. */
static double element_of(const struct lb_cut *cut, int64_t i)
{
	int64_t whole = 0;
	for (int p = 0; p < cut->planes; p++)
		whole = whole * 256 + cut->digits[(2 * p + i % 2) * cut->half + i / 2];
	return (double)whole * cut->steps[i / 8];
}

static void cut_is_near(const float *x, int64_t n, int group, const struct lb_cut *cut)
{
	for (int64_t at = 0; at < n; at += LB_CUT_TOGETHER) {
		int64_t end = at + LB_CUT_TOGETHER < n ? at + LB_CUT_TOGETHER : n;
		double most = 0, bound;
		for (int64_t i = at; i < end; i++)
			most = fmax(most, fabs((double)x[i]));
		bound = cut->planes == 1 ? most / 127 / 2 * (1 + 0x1p-15) : most * 0x1p-22;
		for (int64_t i = at; i < end; i++)
			if (fabs(element_of(cut, i) - x[i]) > (most < 0x1p-100 ? most : bound))
				fail_msg("%d planes: element %lld of %lld: %g, not %g; %g at most, in steps of %g",
					 cut->planes, (long long)i, (long long)n, element_of(cut, i), (double)x[i],
					 most, (double)cut->steps[i / 8]);
	}
	for (int64_t g = 0; g < n / group; g++) {
		double sum = 0, size = 0;
		for (int64_t i = g * group; i < (g + 1) * group; i++) {
			sum += element_of(cut, i);
			size += fabs(element_of(cut, i));
		}
		assert_true(fabs(cut->sums[g] - sum) <= size * 0x1p-22);
	}
}

/* Rows of random bytes each of which ends where memory does; the next is `fence()` bytes on. */
enum { FENCED = 2 /* pages, of a row */ };

static int64_t fence(void)
{
	return (FENCED + 1) * sysconf(_SC_PAGESIZE);
}

static uint8_t *fenced(int64_t rows, int64_t bytes)
{
	int64_t room = fence() - sysconf(_SC_PAGESIZE);
	uint8_t *pages =
	    mmap(NULL, (size_t)(rows * fence()), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED && bytes <= room);
	for (int64_t r = 0; r < rows; r++) {
		assert_int_equal(mprotect(pages + r * fence() + room, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE), 0);
		for (int64_t i = room - bytes; i < room; i++)
			pages[r * fence() + i] = (uint8_t)draw();
	}
	return pages + room - bytes;
}

static void unfence(const void *at, int64_t rows, int64_t bytes)
{
	const uint8_t *pages = (const uint8_t *)at + bytes + sysconf(_SC_PAGESIZE) - fence();
	munmap((void *)(uintptr_t)pages, (size_t)(rows * fence()));
}

/* Random numbers of a dtype. */
static void make_scales(void *to, int dtype, int64_t n, float size)
{
	for (int64_t i = 0; i < n; i++) {
		if (dtype == LB_F32)
			((float *)to)[i] = uniform() * size;
		else if (dtype == LB_F16)
			((uint16_t *)to)[i] = lb_float_to_f16(uniform() * size);
		else if (dtype == LB_BF16)
			((uint16_t *)to)[i] = lb_float_to_bf16(uniform() * size);
	}
}

static double scale_of(const struct lb_quant_matrix *w, const void *from, int64_t i)
{
	uint8_t code = ((const uint8_t *)from)[i];
	switch (w->scale_dtype) {
	case LB_F32: return ((const float *)from)[i];
	case LB_F16: return lb_f16_to_float(((const uint16_t *)from)[i]);
	case LB_BF16: return lb_bf16_to_float(((const uint16_t *)from)[i]);
	default: return w->e8m0 ? ldexp(1, code - 127) : lb_e4m3_to_float(code) * w->e4m3;
	}
}

/* n rows of k codes. */
static struct lb_quant_matrix make_matrix(int kind, int group, int dtype, int64_t n, int64_t k)
{
	int64_t groups = k / group, wide = dtype == LB_F32 ? 4 : dtype == LB_U8 ? 1 : 2;
	struct lb_quant_matrix w = { .kind = kind,
				     .group = group,
				     .scale_dtype = dtype,
				     .e8m0 = group == 32,
				     .e4m3 = 0.3f,
				     .words = (const char *)fenced(n, k / 2),
				     .words_row = fence(),
				     .scales = (const char *)fenced(n, groups * wide),
				     .scales_row = fence(),
				     .biases_row = fence() };
	if (kind == LB_CODES_4)
		w.biases = (const char *)fenced(n, groups * wide);
	for (int64_t r = 0; r < n; r++) {
		uint8_t *small = (uint8_t *)(uintptr_t)w.scales + r * fence();
		make_scales(small, dtype, groups, 1);
		for (int64_t i = 0; dtype == LB_U8 && i < groups; i++)
			small[i] =
			    (uint8_t)(w.e8m0 ? 120 + small[i] % 16 : small[i] - ((small[i] & 0x7f) == LB_E4M3_NAN));
		if (w.biases)
			make_scales((char *)(uintptr_t)w.biases + r * fence(), dtype, groups, 8);
	}
	return w;
}

static void free_matrix(const struct lb_quant_matrix *w, int64_t n, int64_t k)
{
	int64_t bytes = k / w->group * (w->scale_dtype == LB_F32 ? 4 : w->scale_dtype == LB_U8 ? 1 : 2);
	unfence(w->words, n, k / 2);
	unfence(w->scales, n, bytes);
	if (w->biases)
		unfence(w->biases, n, bytes);
}

/* Row r of w times x, and the size of what is added up. */
static double product(const struct lb_quant_matrix *w, int64_t r, int64_t k, const struct lb_cut *x, int64_t first,
		      double *size)
{
	static const double e2m1[] = LB_E2M1_VALUES;
	const uint8_t *words = (const uint8_t *)w->words + r * w->words_row;
	double sum = 0;
	*size = 0;
	for (int64_t i = 0; i < k; i++) {
		int code = words[i / 2] >> (i % 2 * 4) & 15;
		double by = element_of(x, first + i), scale = scale_of(w, w->scales + r * w->scales_row, i / w->group);
		double bias = w->biases ? scale_of(w, w->biases + r * w->biases_row, i / w->group) : 0;
		sum += by * (w->biases ? code * scale + bias : e2m1[code] * scale);
		*size += fabs(by) * (16 * fabs(scale) + fabs(bias));
	}
	return sum;
}

static struct lb_cut cut_of(const struct lb_tiles *tiles, int planes, int64_t n, int group)
{
	float *x = keep(n * 4);
	struct lb_cut cut = room(planes, n, group);
	make_x(x, n);
	assert_true(tiles->cut(n, x, group, &cut));
	cut_is_near(x, n, group, &cut);
	return cut;
}

static void same_products(const struct lb_tiles *tiles, int kind, int group, int planes, int m, int64_t n,
			  int64_t first)
{
	struct lb_cut cuts[8];
	float sums[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct lb_quant_matrix w = make_matrix(kind, group, LB_F32, 1, n);
	struct lb_codes codes = { .kind = kind,
				  .group = group,
				  .words = (const uint8_t *)w.words,
				  .scales = (const float *)(const void *)w.scales,
				  .biases = (const float *)(const void *)w.biases };
	for (int k = 0; k < m; k++)
		cuts[k] = cut_of(tiles, planes, n + first * group, group);
	tiles->dot_cut(&codes, n / group, m, cuts, first, sums);
	for (int k = 0; k < m; k++) {
		double size, sum = product(&w, 0, n, &cuts[k], first * group, &size) + k + 1;
		if (fabs(sums[k] - sum) > (size + k + 1) * 0x1p-20)
			fail_msg("kind %d, groups of %d, %d planes, %lld elements from group %lld: %g, not %g", kind,
				 group, planes, (long long)n, (long long)first, (double)sums[k], sum);
	}
	free_matrix(&w, 1, n);
	free_kept();
}

static void products(void **state)
{
	static const struct {
		int kind, group;
	} formats[] = { { LB_CODES_4, 32 },
			{ LB_CODES_4, 64 },
			{ LB_CODES_4, 128 },
			{ LB_CODES_E2M1, 16 },
			{ LB_CODES_E2M1, 32 } };
	(void)state;
	for (int level = 0; level <= (int)lb_isa_level(); level++)
		for (int f = 0; f < 5; f++)
			for (int planes = 1; planes <= LB_PLANES; planes += LB_PLANES - 1)
				for (int m = 2; m <= 8; m *= 2)
					for (int64_t groups = 1; groups * formats[f].group <= MOST;
					     groups += 1 + groups / 3)
						same_products(lb_tiles_of((enum lb_isa)level), formats[f].kind,
							      formats[f].group, planes, m, groups * formats[f].group,
							      groups % 3 * 256 / formats[f].group);
}

/* A row of x with some rows of w; nothing but these is written. */
static void same_row(const struct lb_tiles *tiles, int kind, int group, int dtype, int planes, int64_t n,
		     int64_t groups)
{
	enum { SKIP = 2 };
	int64_t k = groups * group;
	struct lb_quant_matrix w = make_matrix(kind, group, dtype, n + SKIP, k);
	struct lb_cut x = cut_of(tiles, planes, k, group);
	float *to = keep((n + 2) * 4);
	to[0] = to[n + 1] = 42;
	tiles->multiply_row_cut(&w, SKIP, n, groups, &x, to + 1);
	assert_true(to[0] == 42 && to[n + 1] == 42);
	for (int64_t r = 0; r < n; r++) {
		double size, sum = product(&w, r + SKIP, k, &x, 0, &size);
		if (fabs(to[r + 1] - sum) > size * 0x1p-20)
			fail_msg(
			    "kind %d, groups of %d, scales of dtype %d, %d planes, row %lld of %lld, %lld elements: %g, not %g",
			    kind, group, dtype, planes, (long long)r, (long long)n, (long long)k, (double)to[r + 1],
			    sum);
	}
	free_matrix(&w, n + SKIP, k);
	free_kept();
}

static void one_row(void **state)
{
	static const struct {
		int kind, group, dtype;
	} formats[] = {
		{ LB_CODES_4, 32, LB_F16 },   { LB_CODES_4, 64, LB_F16 },   { LB_CODES_4, 128, LB_F16 },
		{ LB_CODES_4, 32, LB_BF16 },  { LB_CODES_4, 64, LB_BF16 },  { LB_CODES_4, 128, LB_BF16 },
		{ LB_CODES_4, 32, LB_F32 },   { LB_CODES_4, 64, LB_F32 },   { LB_CODES_4, 128, LB_F32 },
		{ LB_CODES_E2M1, 16, LB_U8 }, { LB_CODES_E2M1, 32, LB_U8 },
	};
	(void)state;
	for (int level = 0; level <= (int)lb_isa_level(); level++)
		for (int f = 0; f < (int)(sizeof formats / sizeof *formats); f++)
			for (int planes = 1; planes <= LB_PLANES; planes += LB_PLANES - 1)
				for (int64_t groups = 1, n = 1; groups * formats[f].group <= 9000;
				     groups += 1 + groups / 2, n = n % 11 + 1)
					same_row(lb_tiles_of((enum lb_isa)level), formats[f].kind, formats[f].group,
						 formats[f].dtype, planes, n, groups);
}

/* For AMX: elements i and i + 4 of eight are a pair of bfloat16. */
static void strip_is_pairs(int kind, const uint8_t *from, int64_t row, int64_t lines, int64_t depth)
{
	static const double e2m1[] = LB_E2M1_VALUES;
	uint16_t *pairs = keep(2 * depth * LB_STRIP);
	lb_tiles()->pack_strip_pairs(kind, from, row, lines, depth, (uint8_t *)pairs);
	for (int64_t i = 0; i < LB_STRIP; i++)
		for (int64_t k = 0; k < depth; k++) {
			int code = i < lines ? from[i * row + k / 2] >> (k % 2 * 4) & 15 : 0;
			uint16_t got = pairs[k / 8 * 128 + k % 4 * 32 + i * 2 + k / 4 % 2];
			assert_true((double)lb_bits_to_float((uint32_t)got << 16) == (kind ? e2m1[code] : code));
		}
}

/* Strips that end where memory does: of every number of lines, and of depths that are no multiple of what is turned at once. */
static void strips(void **state)
{
	static const double e2m1[] = LB_E2M1_VALUES;
	const struct lb_tiles *tiles = lb_tiles();
	int64_t page = sysconf(_SC_PAGESIZE);
	(void)state;
	if (!lb_has_quant_panels()) {
		print_message("skip: this processor has no AVX512-VNNI\n");
		skip();
	}
	for (int64_t lines = -16; lines <= 32; lines += lines == -16 ? 16 : 1)
		for (int64_t depth = 16; depth <= 272; depth += 16)
			for (int kind = 0; kind < 2; kind++) {
				int64_t row = depth / 2 + 4 * (lines % 3 + 1), size = lines > 0 ? lines * row : 0;
				int64_t room = (size / page + 1) * page;
				uint8_t *pages = mmap(NULL, (size_t)(room + page), PROT_READ | PROT_WRITE,
						      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				assert_true(pages != MAP_FAILED &&
					    mprotect(pages + room, (size_t)page, PROT_NONE) == 0);
				uint8_t *from = pages + room - size + (lines > 0 ? row - depth / 2 : 0);
				for (int64_t i = 0; i < lines * row - (row - depth / 2); i++)
					from[i] = (uint8_t)draw();
				uint8_t *to = keep(depth * LB_STRIP);
				tiles->pack_strip(kind, from, row, lines, depth, to);
				for (int64_t i = 0; i < LB_STRIP; i++)
					for (int64_t k = 0; k < depth; k++) {
						int code = i < lines ? from[i * row + k / 2] >> (k % 2 * 4) & 15 : 0;
						int got = to[k / 8 * 128 + k % 2 * 64 + i * 4 + k / 2 % 4];
						assert_int_equal(got,
								 kind ? (int)(e2m1[code] * 2) + LB_E2M1_SHIFT : code);
					}
				strip_is_pairs(kind, from, row, lines, depth);
				munmap(pages, (size_t)(room + page));
				free_kept();
			}
}

/* Numbers of 22 bits beside their largest come through three planes as they are. */
static void exact(void **state)
{
	(void)state;
	for (int level = 0; level <= (int)lb_isa_level(); level++) {
		const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
		float x[64];
		struct lb_cut cut = room(LB_PLANES, 64, 32);
		for (int i = 0; i < 64; i++)
			x[i] = i == 5 ? 0x3fffff : (float)((int64_t)(draw() % 0x7fffff) - 0x3fffff);
		x[40] = -0x3fffff;
		assert_true(tiles->cut(64, x, 32, &cut));
		for (int i = 0; i < 64; i++)
			assert_true(element_of(&cut, i) == x[i]);
		for (int i = 0; i < 3; i++) {
			x[33] = (const float[]){ NAN, INFINITY, -INFINITY }[i];
			assert_false(tiles->cut(64, x, 32, &cut));
		}
		free_kept();
	}
}

/* What is not finite is multiplied as it is: zeros of w make NaN of Inf, the others Inf. */
static void not_finite(void **state)
{
	(void)state;
	static const lb_quant format = { .mode = LB_QUANT_MXFP4 };
	LB_SCOPE {
		float w[3 * 64] = { 0 }, x[64];
		for (int i = 0; i < 64; i++)
			x[i] = (float)i;
		x[7] = INFINITY;
		w[7] = 1;
		w[64 + 7] = -1;
		lb_quantized q = lb_quantize(lb_from_data(w, sizeof w, LB_SHAPE(3, 64), LB_F32), format, NULL);
		lb_tensor *y = lb_quantized_matmul(lb_from_data(x, sizeof x, LB_SHAPE(1, 64), LB_F32), q, format, true);
		const float *to = lb_data(y);
		assert_non_null(to);
		assert_true(to[0] == INFINITY && to[1] == -INFINITY && isnan(to[2]));
	}
}

/* Element i of a row, rounded to 8 bits as lazybones.h says. */
static double rounded(const float *row, int64_t k, int64_t i)
{
	float most = 0;
	for (int64_t at = i / 32 * 32; at < k && at < i / 32 * 32 + 32; at++) {
		if (!isfinite(row[at]))
			return row[i];
		most = fmaxf(most, fabsf(row[at]));
	}
	return most < 0x1p-100f ? 0 : (double)nearbyintf(row[i] * (127 / most)) * (most / 127);
}

/* Activations of 8 bits, in each format: rows that are few or many, one of which is not finite; and what is computed
 * twice is the same, with one thread or all. */
static void activations(void **state)
{
	static const lb_quant formats[] = {
		{ .bits = 4, .group = 32 }, { .bits = 4, .group = 128 }, { .bits = 3, .group = 64 },
		{ .bits = 8, .group = 32 }, { .mode = LB_QUANT_MXFP4 },  { .mode = LB_QUANT_MXFP8 },
		{ .mode = LB_QUANT_NVFP4 },
	};
	static const int64_t rows[] = { 1, 2, 3, 6, 11, 40 };
	enum { K = 384, N = 256 };
	(void)state;
	for (int f = 0; f < 7 * 6 * 2; f++)
		LB_SCOPE {
			lb_quant how = formats[f % 7];
			int64_t m = rows[f / 7 % 6], k = f % 2 ? K : N, n = f % 2 ? N : K;
			bool transpose = k == K;
			float *x = keep(m * k * 4);
			for (int64_t i = 0; i < m; i++)
				make_x(x + i * k, k);
			x[(m - 1) * k + 70] = m > 2 ? INFINITY : 1;
			lb_tensor *all = lb_random_normal(LB_SHAPE(N, K), LB_F32, lb_key(3));
			lb_quantized q = lb_quantize(all, how, NULL);
			lb_tensor *w = lb_dequantize(q, how, LB_F32);
			lb_tensor *xs = lb_from_data(x, (size_t)(m * k) * 4, LB_SHAPE(m, k), LB_F32);
			how.activations = LB_I8;
			lb_tensor *y = lb_quantized_matmul(xs, q, how, transpose);
			lb_tensor *z = lb_quantized_matmul(xs, q, how, transpose);
			const char *refusal = lb_debug_eval(lb_id(z));
			if (!y || !lb_eval(y, w) || refusal)
				fail_msg("%s %s", lb_error_message(), refusal ? refusal : "");
			const float *got = lb_data(y), *again = lb_data(z), *weights = lb_data(w);
			assert_memory_equal(got, again, (size_t)(m * n) * 4);
			double *wanted = keep(m * k * 8);
			for (int64_t i = 0; i < m * k; i++)
				wanted[i] = rounded(x + i / k * k, k, i % k);
			for (int64_t i = 0; i < m * n; i++) {
				double sum = 0, size = 0;
				for (int64_t j = 0; j < k; j++) {
					double a = wanted[i / n * k + j],
					       b = weights[transpose ? i % n * K + j : j * K + i % n];
					sum += a * b;
					size += fabs(a * b);
				}
				if (isfinite(sum) ? fabs(got[i] - sum) > size * 0x1p-17 : got[i] != sum && !isnan(sum))
					fail_msg("format %d, %lld rows, %d: %g, not %g", f % 7, (long long)m, transpose,
						 (double)got[i], sum);
			}
			free_kept();
		}
}

/* Rows of x as they are: so many of them, of w and of groups as are beside the edges of blocks. They are off by what
 * lazybones.h says of 22 bits; the same with one thread or all, and whatever other rows are there. */
static void many_rows(void **state)
{
	static const lb_quant formats[] = {
		{ .bits = 4, .group = 32 }, { .bits = 4, .group = 64 }, { .bits = 4, .group = 128 },
		{ .mode = LB_QUANT_MXFP4 }, { .mode = LB_QUANT_NVFP4 },
	};
	static const int64_t rows[] = { 2, 3, 5, 6, 7, 11, 13, 258 }, lines[] = { 1, 15, 16, 17, 63, 64, 65, 130 };
	static const int64_t depths[] = { 128, 384, 512, 640, 2048, 2176, 4224, 16512 };
	(void)state;
	for (int f = 0; f < 5 * 8 * 2; f++)
		LB_SCOPE {
			lb_quant how = formats[f % 5];
			int64_t m = rows[f / 5 % 8], n = lines[(f / 5 + f) % 8], k = depths[(f / 10 + 3 * f) % 8];
			lb_dtype dtype = f < 40 ? LB_F32 : LB_F16;
			lb_tensor *xs = lb_astype(lb_random_normal(LB_SHAPE(m, k), LB_F32, lb_key(7)), dtype);
			lb_tensor *all = lb_random_normal(LB_SHAPE(n, k), LB_F32, lb_key(3));
			lb_quantized q = lb_quantize(all, how, NULL);
			lb_tensor *w = lb_dequantize(q, how, LB_F32);
			lb_tensor *y = lb_astype(lb_quantized_matmul(xs, q, how, true), LB_F32);
			lb_tensor *z = lb_astype(lb_quantized_matmul(xs, q, how, true), LB_F32);
			lb_tensor *some =
			    lb_astype(lb_quantized_matmul(lb_slice(xs, LB_FROM(m / 3)), q, how, true), LB_F32);
			xs = lb_astype(xs, LB_F32);
			const char *refusal = lb_debug_eval(lb_id(z));
			if (!y || !lb_eval(y, w, xs, some) || refusal)
				fail_msg("%s %s", lb_error_message(), refusal ? refusal : "");
			const float *got = lb_data(y), *weights = lb_data(w), *x = lb_data(xs);
			assert_memory_equal(got, lb_data(z), (size_t)(m * n) * 4);
			if (m - m / 3 > 2 && lb_has_quant_panels())
				assert_memory_equal(got + m / 3 * n, lb_data(some), (size_t)((m - m / 3) * n) * 4);
			for (int64_t i = 0; i < m * n; i += m > 100 ? 97 : 1) {
				const float *row = x + i / n * k, *line = weights + i % n * k;
				double sum = 0, size = 0, off = 0;
				for (int64_t at = 0; at < k; at += LB_CUT_TOGETHER) {
					double most = 0, of = 0;
					for (int64_t j = at; j < at + LB_CUT_TOGETHER; j++) {
						sum += (double)row[j] * line[j];
						size += fabs((double)row[j] * line[j]);
						most = fmax(most, fabs((double)row[j]));
						of += fabs((double)line[j]);
					}
					off += most * of;
				}
				off = off * 0x1p-22 + size * 0x1p-19 + (dtype == LB_F16 ? fabs(sum) * 0x1p-11 : 0);
				if (fabs(got[i] - sum) > off)
					fail_msg("format %d, %lld x %lld x %lld: %g, not %g; %g at most", f % 5,
						 (long long)m, (long long)n, (long long)k, (double)got[i], sum, off);
			}
		}
}

static const struct lb_quant_format four_bits[] = {
	{ LB_QUANT_AFFINE, 4, 32 }, { LB_QUANT_AFFINE, 4, 64 }, { LB_QUANT_AFFINE, 4, 128 },
	{ LB_QUANT_MXFP4, 4, 32 },  { LB_QUANT_NVFP4, 4, 16 },
};

/* n rows of k numbers from -1 to 1. */
static struct lb_quant_view make_quantised(const struct lb_quant_format *format, int64_t n, int64_t k)
{
	bool affine = format->mode == LB_QUANT_AFFINE;
	struct lb_view w = make_view(LB_F32, 2, (int64_t[]){ n, k });
	struct lb_quant_view q = { .format = *format };
	for (int64_t i = 0; i < n * k; i++)
		((float *)w.data)[i] = uniform();
	q.words = make_view(LB_U32, 2, (int64_t[]){ n, k / 8 });
	q.scales = make_view(affine ? LB_F32 : LB_U8, 2, (int64_t[]){ n, k / format->group });
	check_ok(lb_kernel_quantize(&exec_all, format, LB_QUANT_WORDS, &w, NULL, q.words.data));
	check_ok(lb_kernel_quantize(&exec_all, format, LB_QUANT_SCALES, &w, NULL, q.scales.data));
	if (affine) {
		q.extra = make_view(LB_F32, 2, (int64_t[]){ n, k / format->group });
		check_ok(lb_kernel_quantize(&exec_all, format, LB_QUANT_BIASES, &w, NULL, q.extra.data));
	}
	return q;
}

/* With AMX and where it must not be used, as in a debugger's call: the same bits, whatever the rows, columns and formats; one row is not finite. */
static void amx_changes_no_bit(void **state)
{
	static const int64_t rows[] = { 7, 8, 9, 15, 16, 17, 24, 31, 40, 260, 267 };
	(void)state;
	if (!lb_may_use_amx()) {
		print_message("skip: this processor has no AMX, or Linux gives no tiles\n");
		skip();
	}
	for (int f = 0; f < 5; f++)
		for (int way = 0; way < 11 * 2; way++) {
			int r = way % 11;
			const struct lb_quant_format *format = &four_bits[f];
			int64_t m = rows[r], n = 3 + r * 13, k = format->group * (1 + (r * 5 + f) % 12);
			struct lb_view x = make_view(LB_F32, 2, (int64_t[]){ m, k });
			struct lb_quant_view q = make_quantised(format, n, k);
			make_x(x.data, m * k);
			((float *)x.data)[(m / 2) * k + 3] = INFINITY;
			float *with = keep(m * n * 4), *without = keep(m * n * 4);
			int how = LB_QUANT_TRANSPOSED | (way > r ? LB_QUANT_ROUNDED : 0);
			exec_all.amx = true;
			check_ok(lb_kernel_quantized_matmul(&exec_all, &x, &q, how, with));
			exec_all.amx = false;
			check_ok(lb_kernel_quantized_matmul(&exec_all, &x, &q, how, without));
			exec_all.amx = true;
			for (int64_t i = 0; i < m * n; i++)
				if (memcmp(&with[i], &without[i], 4) != 0 && !(isnan(with[i]) && isnan(without[i])))
					fail_msg("format %d, %lld x %lld x %lld, element %lld: %a, without %a", f,
						 (long long)m, (long long)n, (long long)k, (long long)i,
						 (double)with[i], (double)without[i]);
			free_kept();
		}
}

/* Element (i, j) of a product, in double, and what of it is lost at most. */
static double exact_product(const struct lb_view *x, const struct lb_quant_view *q, int64_t i, int64_t j, double *size)
{
	static const double e2m1[] = LB_E2M1_VALUES;
	bool affine = q->format.mode == LB_QUANT_AFFINE;
	int64_t k = x->shape[1], groups = k / q->format.group;
	double sum = *size = 0;
	for (int64_t at = 0; at < k; at++) {
		int64_t g = j * groups + at / q->format.group;
		int code = ((const uint8_t *)q->words.data)[j * k / 2 + at / 2] >> (at % 2 * 4) & 15;
		uint8_t byte = affine ? 0 : ((const uint8_t *)q->scales.data)[g];
		double scale = affine                             ? ((const float *)q->scales.data)[g]
			       : q->format.mode == LB_QUANT_MXFP4 ? lb_e8m0_to_float(byte)
								  : lb_e4m3_to_float(byte);
		double bias = affine ? ((const float *)q->extra.data)[g] : 0,
		       of = real_of(element(x, i * k + at), x->dtype, 0);
		sum += of * ((affine ? code : e2m1[code]) * scale + bias);
		*size += fabs(of * scale) * 15 + fabs(of * bias);
	}
	return sum;
}

/* Of x as it is, in parts of bfloat16, one of which AVX512-BF16 multiplies, too: near the same in double, in each dtype; the same
 * bits with one thread or all, and of a row whatever the others are; a row that no parts make up is multiplied nevertheless. */
static void x_is_taken_as_it_is(void **state)
{
	static const int64_t rows[] = { 16, 17, 24, 31, 40, 130, 267 };
	static const int dtypes[] = { LB_F32, LB_F16, LB_BF16 };
	(void)state;
	if (!lb_may_use_amx() && !lb_has_quant_pairs()) {
		print_message("skip: this processor has no AVX512-BF16, or AMX for which Linux gives no tiles\n");
		skip();
	}
	for (int f = 0; f < 5 * 3; f++)
		for (int r = 0; r < 7; r++) {
			const struct lb_quant_format *format = &four_bits[f % 5];
			int dtype = dtypes[f / 5];
			if (dtype != LB_BF16 && !lb_may_use_amx())
				continue;
			int64_t least = !lb_may_use_amx()    ? 8
					: format->group < 32 ? 128
							     : 16,
				m = rows[r] + least - 16, n = 3 + r * 23;
			int64_t k = format->group * (1 + (r * 5 + f) % 30), bytes = width(dtype);
			struct lb_view x = make_view(dtype, 2, (int64_t[]){ m, k }), few = x;
			struct lb_quant_view q = make_quantised(format, n, k);
			for (int64_t i = 0; i < m * k; i++)
				put_real((char *)x.data + i * bytes, dtype,
					 uniform() * exp2(dtype == LB_F16 ? i % 5 : i % 5 * 9 - 20));
			/* so that a group's sum is infinite before it is scaled */
			for (int64_t i = 0; i < k && dtype != LB_F16; i++)
				put_real((char *)x.data + (m / 4 * k + i) * bytes, dtype, 0x1p118);
			put_real((char *)x.data + ((m / 2) * k + 3) * bytes, dtype, INFINITY);
			put_real((char *)x.data + ((m / 3) * k + 5) * bytes, dtype, dtype == LB_F16 ? 65504 : 0x1p125);
			int64_t of_few = few.shape[0] = m - 3 < least ? least : m - 3;
			char *to = keep(m * n * bytes), *alone = keep(m * n * bytes), *some = keep(m * n * bytes);
			check_ok(lb_kernel_quantized_matmul(&exec_all, &x, &q, LB_QUANT_TRANSPOSED, to));
			check_ok(lb_kernel_quantized_matmul(&exec_alone, &x, &q, LB_QUANT_TRANSPOSED, alone));
			check_ok(lb_kernel_quantized_matmul(&exec_all, &few, &q, LB_QUANT_TRANSPOSED, some));
			check_same_bits(to, alone, m * n, dtype);
			check_same_bits(to, some, of_few * n, dtype);
			for (int64_t i = 0; i < m * n; i += m < 20 ? 3 : 61) {
				double size, sum = exact_product(&x, &q, i / n, i % n, &size),
					     got = real_of(to + i * bytes, dtype, 0);
				char wanted[8];
				if (!isfinite(sum)) {
					assert_true(isnan(sum) ? isnan(got) : got == sum);
					continue;
				}
				put_real(wanted, dtype, sum);
				double rounding =
				    dtype == LB_F32 ? 0 : fabs(sum) * (dtype == LB_F16 ? 0x1p-10 : 0x1p-7) + 0x1p-24;
				if (fabs(got - sum) > size * 0x1p-21 + rounding && real_of(wanted, dtype, 0) != got)
					fail_msg("format %d, dtype %d, %lld x %lld x %lld, element %lld: %g, not %g",
						 f % 5, dtype, (long long)m, (long long)n, (long long)k, (long long)i,
						 got, sum);
			}
			free_kept();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products),
		cmocka_unit_test(one_row),
		cmocka_unit_test(exact),
		cmocka_unit_test(not_finite),
		cmocka_unit_test(activations),
		cmocka_unit_test(strips),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(amx_changes_no_bit),
		cmocka_unit_test(x_is_taken_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
