/* The kernels over whole arrays: copies, creation, random numbers, reductions, softmax,
 * products, gathers and checks. */
#include "kernel_support.h"

#include "kernels/blas.h"
#include "kernels/indices.h"
#include "kernels/layout.h"
#include "kernels/model.h"
#include "kernels/philox.h"

static const int64_t shapes[][4] = { { 3, 5, 7, 2 }, { 1, 1, 1, 1 },    { 64, 3, 50, 1 },
				     { 2, 0, 3, 4 }, { 33, 70, 1, 40 }, { 4, 2, 3, 900 } };
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static bool repeats(const struct lb_view *view)
{
	for (int i = 0; i < view->rank; i++)
		if (view->strides[i] == 0 && view->shape[i] > 1)
			return true;
	return false;
}

static void copies(void **state)
{
	(void)state;
	for (int s = 0; s < N_SHAPES; s++)
		for (int round = 0; round < 40; round++) {
			int dtype = (int)(draw() % LB_DTYPES), rank = round % 5;
			struct lb_view from = make_strided(dtype, rank, shapes[s]), to;
			do
				to = make_strided(dtype, rank, shapes[s]);
			while (repeats(&to));
			check_ok(lb_kernel_copy(&exec_all, &to, &from));
			for (int64_t i = 0; i < size_of(&from); i++)
				assert_memory_equal(element(&to, i), element(&from, i), (size_t)width(dtype));
			free_kept();
		}
}

/* Large enough to go past the caches, in squares, with and without a rest. */
static void transposed_copies(void **state)
{
	(void)state;
	static const int64_t sizes[][2] = { { 2048, 1056 }, { 1030, 2100 }, { 1024, 2049 } };
	for (int s = 0; s < 3; s++) {
		int64_t rows = sizes[s][0], columns = sizes[s][1];
		uint32_t *from = keep(rows * columns * 4), *to = keep(rows * columns * 4 + 64);
		to += (64 - (uintptr_t)to % 64) % 64 / 4 + (s == 2);
		for (int64_t i = 0; i < rows * columns; i++)
			from[i] = (uint32_t)draw();
		struct lb_view source = { from, LB_U32, 2, { columns, rows }, { 1, columns } };
		struct lb_view dest = { to, LB_U32, 2, { columns, rows }, { rows, 1 } };
		check_ok(lb_kernel_copy(&exec_all, &dest, &source));
		for (int64_t c = 0; c < columns; c++)
			for (int64_t r = 0; r < rows; r++)
				if (to[c * rows + r] != from[r * columns + c])
					fail_msg("element (%lld, %lld)", (long long)c, (long long)r);
		free_kept();
	}
}

static void squares_turn_on_each_instruction_set(void **state)
{
	(void)state;
	uint32_t from[16][19], to[16 * 32] __attribute__((aligned(64)));
	for (int i = 0; i < 16 * 19; i++)
		from[i / 19][i % 19] = (uint32_t)draw();
	for (int level = 0; level <= (int)lb_isa_level(); level++)
		for (int stream = 0; stream < 2; stream++) {
			memset(to, 0, sizeof to);
			lb_tiles_of((enum lb_isa)level)->turn(to, 32, from, 19, stream);
			for (int i = 0; i < 16 * 32; i++)
				assert_int_equal(to[i], i % 32 < 16 ? from[i % 32][i / 32] : 0);
		}
}

/* Lines that end where memory does; what there is none of is 0. */
static void lines_turn_to_floats_on_each_instruction_set(void **state)
{
	static const int dtypes[] = { LB_F32, LB_F16, LB_BF16 };
	(void)state;
	for (int round = 0; round < 1200; round++) {
		int dtype = dtypes[round % 3];
		int64_t lines = 1 + (int64_t)(draw() % 18), n = 1 + (int64_t)(draw() % 18), bytes = width(dtype);
		int64_t given = lines < 16 ? lines : 16, row = (n + (int64_t)(draw() % 3)) * bytes;
		char *from = keep((given - 1) * row + n * bytes);
		float to[16][16], right;
		for (int64_t i = 0; i < given * n; i++)
			put_any(from + i / n * row + i % n * bytes, dtype);
		for (int level = 0; level <= (int)lb_isa_level(); level++) {
			memset(to, 1, sizeof to);
			lb_tiles_of((enum lb_isa)level)->turn_floats(to[0], from, row, dtype, lines, n);
			for (int64_t c = 0; c < 16; c++)
				for (int64_t r = 0; r < 16; r++) {
					bool is_there = c < n && r < lines;
					right = is_there ? (float)real_of(from + r * row + c * bytes, dtype, 0) : 0;
					if (memcmp(&to[c][r], &right, 4) != 0 && !(isnan(to[c][r]) && isnan(right)))
						fail_msg("level %d, %s, %lld x %lld at (%lld, %lld): %a, should be %a",
							 level, lb_dtypes[dtype].name, (long long)lines, (long long)n,
							 (long long)r, (long long)c, (double)to[c][r], (double)right);
				}
		}
		free_kept();
	}
}

/* What quantising finds of a group, by its definition. */
static void groups_on_each_instruction_set(void **state)
{
	(void)state;
	enum { MOST = 128 };
	for (int round = 0; round < 400; round++) {
		struct lb_view x = make_view(LB_F32, 1, (int64_t[]){ MOST });
		float *v = x.data, low = INFINITY, high = -INFINITY, scale = round % 2 ? 0.37f : -0.011f;
		int64_t n = 16 << round % 4;
		bool finite = true;
		for (int64_t i = 0; i < n; i++) {
			if (round % 3 && !isfinite(v[i]))
				v[i] = (float)i;
			finite &= isfinite(v[i]) != 0;
			low = fminf(low, v[i]);
			high = fmaxf(high, v[i]);
		}
		for (int level = 0; level <= (int)lb_isa_level(); level++) {
			const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
			float low_got, high_got;
			uint8_t codes[MOST];
			assert_int_equal(tiles->range(n, v, &low_got, &high_got), finite);
			if (!finite)
				continue;
			assert_true(low_got == low && high_got == high);
			tiles->affine_codes(n, v, scale, low, 15, codes);
			for (int64_t i = 0; i < n; i++) {
				float code = rintf((v[i] - low) / scale);
				assert_int_equal(codes[i], (int)(code < 0 ? 0 : code > 15 ? 15 : code));
			}
		}
		free_kept();
	}
}

/* Elements of a line, summed one by one: in double, rounded to float and then to a half, or as integers wrap. */
static void sum_line(const struct lb_view *x, int axis, int64_t line, int64_t inner, int part, bool reverse,
		     bool inclusive, const char *got, int got_parts)
{
	int64_t n = x->shape[axis], first = line / inner * inner * n + line % inner;
	int dtype = x->dtype == LB_C64 ? LB_F32 : (int)x->dtype;
	double sum = 0;
	uint64_t whole = 0;
	for (int64_t k = 0; k < n; k++) {
		int64_t at = first + (reverse ? n - 1 - k : k) * inner;
		const char *from = element(x, at), *to = got + (at * got_parts + part) * width(dtype);
		double before = sum;
		uint64_t whole_before = whole;
		sum += real_of(from, (int)x->dtype, part);
		whole += lb_dtype_is_inexact(dtype) ? 0 : (uint64_t)int_of(from, dtype);
		char wanted[8];
		if (lb_dtype_is_inexact(dtype)) {
			put_real(wanted, dtype, inclusive ? sum : before);
			if (isnan(real_of(wanted, dtype, 0)) && isnan(real_of(to, dtype, 0)))
				continue;
		} else {
			whole_before = inclusive ? whole : whole_before;
			memcpy(wanted, &whole_before, sizeof wanted);
		}
		assert_memory_equal(to, wanted, (size_t)width(dtype));
	}
}

static void running_sums(void **state)
{
	(void)state;
	static const int64_t sizes[][3] = { { 3, 5, 7 },   { 1, 1, 700 }, { 19, 1, 300 },
					    { 2, 9, 600 }, { 2, 40, 1 },  { 2, 0, 3 } };
	for (int dtype = LB_U8; dtype < LB_DTYPES; dtype++)
		for (int s = 0; s < 6; s++)
			for (int way = 0; way < 16; way++) {
				int axis = way % 4 % 3, parts = dtype == LB_C64 ? 2 : 1;
				struct lb_view x =
				    way < 8 ? make_view(dtype, 3, sizes[s]) : make_strided(dtype, 3, sizes[s]);
				bool reverse = way & 1, inclusive = way & 2;
				int64_t size = size_of(&x), inner = lb_shape_size(2 - axis, sizes[s] + axis + 1);
				char *got = keep(size * width(dtype));
				check_ok(lb_kernel_cumsum(&exec_all, &x, axis, reverse, inclusive, got));
				for (int64_t line = 0; size > 0 && line < size / x.shape[axis]; line++)
					for (int part = 0; part < parts; part++)
						sum_line(&x, axis, line, inner, part, reverse, inclusive, got, parts);
				free_kept();
			}
}

/* All instruction sets give the bits of the lowest. */
static void running_sums_on_each_instruction_set(void **state)
{
	(void)state;
	enum { N = 333, LANES = 37 };
	for (int dtype = LB_U8; dtype < LB_C64; dtype++)
		for (int way = 0; way < 4; way++) {
			struct lb_scan scan = { dtype, N, LANES, LANES, way & 1, way & 2 };
			struct lb_view x = make_view(dtype, 2, (int64_t[]){ N, LANES });
			char *results[2][2];
			for (int level = 0; level <= (int)lb_isa_level(); level++) {
				const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
				char **to = results[level > 0];
				to[0] = keep(N * LANES * 8);
				to[1] = keep(N * LANES * 8);
				tiles->scan_lanes(&scan, LANES, x.data, to[0]);
				const void *from[LB_SCAN_LINES];
				void *lines[LB_SCAN_LINES];
				for (int i = 0; i < 5; i++) {
					from[i] = (char *)x.data + i * N * width(dtype);
					lines[i] = to[1] + i * N * width(dtype);
				}
				tiles->scan_lines(&scan, 5, from, lines);
				for (int k = 0; level > 0 && k < 2; k++)
					check_same_bits(results[0][k], to[k], N * LANES, dtype);
			}
			free_kept();
		}
}

/* What sorting does, by its definition: a stable insertion, NaN last, -0 equal to 0. */
static bool goes_before(const struct lb_view *x, int64_t a, int64_t b)
{
	int dtype = (int)x->dtype;
	if (dtype == LB_U64)
		return *(uint64_t *)(void *)element(x, a) < *(uint64_t *)(void *)element(x, b);
	if (!lb_dtype_is_inexact(dtype))
		return int_of(element(x, a), dtype) < int_of(element(x, b), dtype);
	double p = real_of(element(x, a), dtype, 0), q = real_of(element(x, b), dtype, 0);
	return p < q || (isnan(q) && !isnan(p));
}

static const struct lb_view *sorted_view;

static int compare_elements(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
	if (goes_before(sorted_view, p, q))
		return -1;
	return goes_before(sorted_view, q, p) || p > q ? 1 : -1;
}

static void check_sorted(const struct lb_view *x, int axis)
{
	int64_t n = x->shape[axis], size = size_of(x), inner = lb_shape_size(x->rank - axis - 1, x->shape + axis + 1);
	char *values = keep(size * width((int)x->dtype));
	uint32_t *indices = keep(size * 4);
	int64_t *order = keep(n * 8);
	check_ok(lb_kernel_sort(&exec_all, LB_SORT_VALUES, x, axis, 0, values));
	check_ok(lb_kernel_sort(&exec_all, LB_SORT_INDICES, x, axis, 0, indices));
	for (int64_t line = 0; size > 0 && line < size / n; line++) {
		int64_t first = line / inner * inner * n + line % inner;
		for (int64_t k = 0; k < n; k++)
			order[k] = first + k * inner;
		sorted_view = x;
		qsort(order, (size_t)n, sizeof *order, compare_elements);
		for (int64_t k = 0; k < n; k++) {
			int64_t at = first + k * inner;
			assert_memory_equal(values + at * width((int)x->dtype), element(x, order[k]),
					    (size_t)width((int)x->dtype));
			assert_int_equal(indices[at], (order[k] - first) / inner);
		}
	}
}

static void orders(void **state)
{
	(void)state;
	static const int64_t sizes[][3] = { { 3, 50, 2 }, { 1, 1, 700 }, { 2, 300, 9 }, { 1, 1, 1 }, { 2, 0, 3 } };
	for (int dtype = 0; dtype < LB_C64; dtype++) {
		for (int s = 0; s < 5; s++)
			for (int way = 0; way < 6; way++) {
				struct lb_view x =
				    way < 3 ? make_view(dtype, 3, sizes[s]) : make_strided(dtype, 3, sizes[s]);
				check_sorted(&x, way % 3);
				free_kept();
			}
		/* long enough to be split; equal digits, and few values */
		struct lb_view x = make_view(dtype, 1, (int64_t[]){ 70001 });
		check_sorted(&x, 0);
		for (int64_t i = 0; i < 70001; i++)
			memcpy(element(&x, i), element(&x, i % 5), (size_t)width(dtype));
		check_sorted(&x, 0);
		free_kept();
	}
}

static void creation(void **state)
{
	(void)state;
	for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
		char *out = keep(1000 * 8);
		if (dtype != LB_BOOL) {
			check_ok(lb_kernel_arange(&exec_all, out, (enum lb_dtype)dtype, 0, 100, 3, 1));
			for (int i = 0; i < 100; i++)
				assert_true(real_of(out + i * width(dtype), dtype, 0) == 3 + i);
		}
		uint64_t value = 0;
		lb_store_int(&value, (enum lb_dtype)dtype, 1);
		check_ok(lb_kernel_fill(&exec_all, out, (enum lb_dtype)dtype, 1000, &value));
		for (int i = 0; i < 1000; i++)
			assert_memory_equal(out + i * width(dtype), &value, (size_t)width(dtype));
		for (int k = -9; k <= 9; k++) {
			check_ok(lb_kernel_eye(&exec_all, out, (enum lb_dtype)dtype, 5, 7, k));
			for (int i = 0; i < 35; i++)
				assert_true(real_of(out + i * width(dtype), dtype, 0) == (i % 7 == i / 7 + k));
		}
	}
	int64_t huge[2];
	check_ok(lb_kernel_arange(&exec_all, huge, LB_I64, 0, 2, 0x1p62, 0x1p62));
	assert_true(huge[0] == (int64_t)1 << 62 && huge[1] == INT64_MIN);
	assert_false(lb_kernel_eye(&exec_all, huge, LB_I64, INT64_MAX, 7, 0));
}

static void random_numbers(void **state)
{
	(void)state;
	enum { N = 200001 };
	for (int dtype = LB_F16; dtype <= LB_F64; dtype++) {
		char *x = keep(N * 8), *y = keep(N * 8);
		check_ok(lb_kernel_uniform(&exec_all, x, (enum lb_dtype)dtype, 0, N, 42, -1, 0.3));
		check_ok(lb_kernel_uniform(&exec_alone, y, (enum lb_dtype)dtype, 0, 777, 42, -1, 0.3));
		assert_memory_equal(x, y, (size_t)(777 * width(dtype)));
		double sum = 0, squares = 0;
		for (int i = 0; i < N; i++) {
			double value = real_of(x + i * width(dtype), dtype, 0);
			assert_true(value >= -1 && value < 0.3);
			sum += value;
		}
		assert_true(fabs(sum / N + 0.35) < 0.01);
		check_ok(lb_kernel_normal(&exec_all, x, (enum lb_dtype)dtype, 0, N, 7));
		check_ok(lb_kernel_normal(&exec_alone, y, (enum lb_dtype)dtype, 0, 777, 7));
		assert_memory_equal(x, y, (size_t)(777 * width(dtype)));
		/* from a later element on */
		enum { FIRST = 1004 };
		check_ok(lb_kernel_normal(&exec_all, y, (enum lb_dtype)dtype, FIRST, N - FIRST, 7));
		assert_memory_equal(x + FIRST * width(dtype), y, (size_t)((N - FIRST) * width(dtype)));
		check_ok(lb_kernel_uniform(&exec_all, x, (enum lb_dtype)dtype, 0, N, 42, -1, 0.3));
		check_ok(lb_kernel_uniform(&exec_all, y, (enum lb_dtype)dtype, FIRST, N - FIRST, 42, -1, 0.3));
		assert_memory_equal(x + FIRST * width(dtype), y, (size_t)((N - FIRST) * width(dtype)));
		assert_false(lb_kernel_uniform(&exec_all, y, (enum lb_dtype)dtype, 2, 9, 42, -1, 0.3));
		lb_clear_error();
		check_ok(lb_kernel_normal(&exec_all, x, (enum lb_dtype)dtype, 0, N, 7));
		sum = 0;
		for (int i = 0; i < N; i++) {
			double value = real_of(x + i * width(dtype), dtype, 0);
			assert_true(isfinite(value));
			sum += value;
			squares += value * value;
		}
		assert_true(fabs(sum / N) < 0.02 && fabs(squares / N - 1) < 0.02);
	}
	assert_true(lb_philox_split(1, 0) != lb_philox_split(1, 1));
	assert_false(lb_kernel_normal(&exec_all, NULL, LB_I32, 0, 1, 0));
}

static void philox_known_answer(void **state)
{
	(void)state;
	/* Random123's kat_vectors: key 0, counter 0 gives 6627e8d5 e169c58d bc57ac4c 9b00dbd8 */
	static const uint32_t words[] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 };
	float x[4];
	check_ok(lb_kernel_uniform(&exec_all, x, LB_F32, 0, 4, 0, 0, 1));
	for (int i = 0; i < 4; i++)
		assert_true(x[i] == (float)(words[i] >> 8) * 0x1p-24f);
}

/* Box and Muller in double, of the words that lb_philox() gives one block at a time. */
static void normals_are_box_mullers(void **state)
{
	(void)state;
	enum { N = LB_PHILOX_WORDS };
	const double turn = 2 * acos(-1);
	double worst = 0;
	for (uint64_t round = 0; round < 2000; round++) {
		/* blocks whose numbers go beyond 32 bits, too */
		uint64_t key = round * 0x9e3779b97f4a7c15, first = round % 2 ? round << 30 : UINT32_MAX - 5 + round;
		float x[N];
		lb_tiles_base.normals(key, first, x);
		for (int i = 0; i < N; i += 2) {
			struct lb_philox_block block = lb_philox(key, first + (uint64_t)i / 4, LB_PHILOX_ELEMENTS);
			uint32_t u = block.w[i % 4] >> 8, v = block.w[i % 4 + 1] >> 8;
			double radius = sqrt(-2 * log((u + 1.0) / 0x1p24)), angle = turn * (v / 0x1p24);
			double right[] = { radius * cos(angle), radius * sin(angle) };
			for (int k = 0; k < 2; k++)
				worst = fmax(worst, fabs(x[i + k] - right[k]) / (fabs(right[k]) + 0x1p-20));
		}
		for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++) {
			const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
			uint32_t words[N];
			float y[N];
			tiles->normals(key, first, y);
			assert_memory_equal(x, y, sizeof x);
			tiles->random_words(key, first, LB_PHILOX_CHOICES, words);
			for (int i = 0; i < N; i++)
				assert_int_equal(words[i],
						 lb_philox(key, first + (uint64_t)i / 4, LB_PHILOX_CHOICES).w[i % 4]);
		}
	}
	assert_true(worst > 0 && worst < 4e-7);
}

/* What dots and combine have to make of vectors x (n, x_row) and m rows of k elements, in the order of their sums: in 16 lanes, to
 * each of which go `together` neighbours. */
#define VECTORS_TIMES_ROWS(T) \
	static void T##_dots(const T *x, int m, int k, int together, const T *rows, T *to) \
	{ \
		for (int j = 0; j < m; j++) { \
			T lanes[16] = { 0 }; \
			for (int i = 0; i < k; i++) { \
				T product = x[i] * rows[j * k + i]; \
				lanes[i / together % 16] += product; \
			} \
			for (int some = 8; some; some /= 2) \
				for (int l = 0; l < some; l++) \
					lanes[l] += lanes[l + some]; \
			to[j] = lanes[0]; \
		} \
	} \
	static void T##_combine(const T *x, int m, int k, const T *rows, T *to) \
	{ \
		for (int i = 0; i < k; i++) { \
			int j = 0; \
			for (; j + 4 <= m; j += 4) { \
				T parts[4]; \
				for (int r = 0; r < 4; r++) \
					parts[r] = x[j + r] * rows[(j + r) * k + i]; \
				to[i] += (parts[0] + parts[1]) + (parts[2] + parts[3]); \
			} \
			for (; j < m; j++) { \
				T product = x[j] * rows[j * k + i]; \
				to[i] += product; \
			} \
		} \
	}
VECTORS_TIMES_ROWS(float)
VECTORS_TIMES_ROWS(double)

/* The same bits with each instruction set, for each vector whichever are with it, whatever the number of rows and their
 * elements, and nothing beyond: rows and vectors end where memory does. */
static void check_vectors(int dtype, int vectors, int m, int k, bool combines)
{
	int stage = dtype == LB_F64 ? LB_F64 : LB_F32, stride = k + 3, n_x = combines ? m : k, n_to = combines ? k : m;
	int64_t width_of = width(stage);
	int together = dtype == LB_BF16 ? 2 : 1;
	bool is_wide = stage == LB_F64;
	char *rows = keep(((m - 1) * stride + k) * width(dtype)), *x = keep(vectors * n_x * width_of);
	char *plain = keep(m * k * width_of), *wanted = keep(vectors * n_to * width_of);
	char *to = keep(vectors * n_to * width_of);
	bool has_special = draw() % 8 == 0;
	for (int i = 0; i < vectors * n_x; i++)
		put_real(x + i * width_of, stage, (double)(int)(draw() % 2001) / 1000 - 1);
	for (int j = 0; j < m; j++)
		for (int i = 0; i < k; i++) {
			char *at = rows + (j * stride + i) * width(dtype);
			put_any(at, dtype);
			if (!has_special && !(fabs(real_of(at, dtype, 0)) < 100))
				put_real(at, dtype, -0.75);
			put_real(plain + (j * k + i) * width_of, stage, real_of(at, dtype, 0));
		}
	for (int i = 0; i < vectors * n_to; i++)
		put_real(wanted + i * width_of, stage, i * i);
	for (int v = 0; v < vectors; v++) {
		char *from = x + v * n_x * width_of, *result = wanted + v * n_to * width_of;
		if (combines && is_wide)
			double_combine((double *)(void *)from, m, k, (double *)(void *)plain, (double *)(void *)result);
		else if (combines)
			float_combine((float *)(void *)from, m, k, (float *)(void *)plain, (float *)(void *)result);
		else if (is_wide)
			double_dots((double *)(void *)from, m, k, together, (double *)(void *)plain,
				    (double *)(void *)result);
		else
			float_dots((float *)(void *)from, m, k, together, (float *)(void *)plain,
				   (float *)(void *)result);
	}
	const struct lb_vectors job = { .n = vectors,
					.x = x,
					.x_row = n_x,
					.to = to,
					.to_row = n_to,
					.rows = rows,
					.stride = stride,
					.dtype = dtype };
	for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++) {
		const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
		for (int i = 0; i < vectors * n_to; i++)
			put_real(to + i * width_of, stage, i * i);
		if (combines)
			tiles->combine(&job, k, m);
		else
			tiles->dots(&job, m, k);
		for (int i = 0; i < vectors * n_to; i++) {
			const char *got = to + i * width_of, *right = wanted + i * width_of;
			double a = real_of(got, stage, 0), b = real_of(right, stage, 0);
			if (memcmp(got, right, (size_t)width_of) != 0 && !(isnan(a) && isnan(b)))
				fail_msg("%s of level %d, %s, %d vectors, %d rows of %d, at %d: %a, should be %a",
					 combines ? "combine" : "dots", level, lb_dtypes[dtype].name, vectors, m, k, i,
					 a, b);
		}
	}
	free_kept();
}

static void vectors_times_rows_on_each_instruction_set(void **state)
{
	enum { ROWS_MOST = 41, ELEMENTS_MOST = 140 };
	static const int dtypes[] = { LB_F16, LB_BF16, LB_F32, LB_F64 };
	(void)state;
	for (int d = 0; d < 4; d++)
		for (int m = 1; m <= ROWS_MOST; m++)
			for (int k = 1; k <= ELEMENTS_MOST; k += 1 + (m + k) % 11) {
				check_vectors(dtypes[d], 1 + (m + k) % 5, m, k, true);
				check_vectors(dtypes[d], 1 + (m + k) % 5, m, k, false);
			}
	for (int d = 0; d < 4; d++)
		for (int m = 1; m <= ROWS_MOST; m += 4) {
			check_vectors(dtypes[d], 2, m, 0, false);
			check_vectors(dtypes[d], 1 + m % 3, m, 2100 + 7 * m, false);
		}
}

/* The row-major place of x's element i in the output of a reduction over mask. */
static int64_t output_of(const struct lb_view *x, uint32_t mask, int64_t i)
{
	int64_t at = 0, step = 1;
	for (int axis = x->rank - 1; axis >= 0; axis--) {
		if (!(mask >> axis & 1)) {
			at += i % x->shape[axis] * step;
			step *= x->shape[axis];
		}
		i /= x->shape[axis];
	}
	return at;
}

static double reduce_reference(int op, const struct lb_view *x, uint32_t mask, int64_t output, int part, double center)
{
	double sum = op == LB_OP_PROD || op == LB_OP_ALL, count = 0;
	if (op == LB_OP_MAX || op == LB_OP_MIN)
		sum = op == LB_OP_MAX ? -INFINITY : INFINITY;
	for (int64_t i = 0; i < size_of(x); i++) {
		if (output_of(x, mask, i) != output)
			continue;
		double v = real_of(element(x, i), x->dtype, part);
		double imaginary = x->dtype == LB_C64 ? real_of(element(x, i), LB_C64, 1) : 0;
		count++;
		switch (op) {
		case LB_OP_SUM:
		case LB_OP_MEAN: sum += v; break;
		case LB_OP_PROD: sum *= v; break;
		case LB_OP_MAX: sum = isnan(v) || isnan(sum) ? NAN : v > sum ? v : sum; break;
		case LB_OP_MIN: sum = isnan(v) || isnan(sum) ? NAN : v < sum ? v : sum; break;
		case LB_OP_ALL: sum = sum != 0 && (v != 0 || imaginary != 0); break;
		case LB_OP_ANY: sum = sum != 0 || v != 0 || imaginary != 0; break;
		case LB_OP_VAR: sum += (v - center) * (v - center); break;
		case LB_OP_LOGSUMEXP: sum += exp(v - center); break;
		}
	}
	return op == LB_OP_MEAN || op == LB_OP_VAR ? sum / count : sum;
}

static void check_reduce(int op, const struct lb_view *x, uint32_t mask)
{
	int dtype = x->dtype, to = dtype;
	bool floating = op == LB_OP_MEAN || op == LB_OP_VAR || op == LB_OP_LOGSUMEXP;
	if (op == LB_OP_ALL || op == LB_OP_ANY)
		to = LB_BOOL;
	else if (floating && !lb_dtype_is_inexact(dtype))
		to = LB_F32;
	else if ((op == LB_OP_SUM || op == LB_OP_PROD) && !lb_dtype_is_inexact(dtype))
		to = dtype >= LB_I8 ? LB_I64 : LB_U64;
	int64_t outputs = 1;
	for (int i = 0; i < x->rank; i++)
		outputs *= mask >> i & 1 ? 1 : x->shape[i];
	char *out = keep(outputs * width(to)), *alone = keep(outputs * width(to));
	int64_t each = outputs ? size_of(x) / outputs : 0;
	bool ok = lb_kernel_reduce(&exec_all, op, x, mask, 0, out, (enum lb_dtype)to);
	if (each == 0 && outputs > 0 && (op == LB_OP_MAX || op == LB_OP_MIN)) {
		assert_false(ok);
		assert_non_null(strstr(lb_error_message(), lb_ops[op].name));
		lb_clear_error();
		return;
	}
	check_ok(ok);
	check_ok(lb_kernel_reduce(&exec_alone, op, x, mask, 0, alone, (enum lb_dtype)to));
	assert_memory_equal(out, alone, (size_t)(outputs * width(to)));
	for (int64_t i = 0; i < outputs && i < 60; i += 1 + outputs / 8) {
		double center = 0;
		if (op == LB_OP_VAR)
			center = reduce_reference(LB_OP_MEAN, x, mask, i, 0, 0);
		if (op == LB_OP_LOGSUMEXP && each > 0)
			center = reduce_reference(LB_OP_MAX, x, mask, i, 0, 0);
		if (op == LB_OP_LOGSUMEXP && isinf(center))
			center = 0;
		double wanted = reduce_reference(op, x, mask, i, 0, center);
		if (op == LB_OP_LOGSUMEXP)
			wanted = log(wanted) + center;
		double got = real_of(out + i * width(to), to, 0);
		if (!lb_dtype_is_inexact(to) && to != LB_BOOL && op != LB_OP_MAX && op != LB_OP_MIN) {
			if (fabs(wanted) < 0x1p52)
				assert_true(got == wanted);
			continue;
		}
		if ((op == LB_OP_PROD || fabs(wanted) > 1e29) && to == LB_C64)
			continue;
		double slack = op == LB_OP_MAX || op == LB_OP_MIN ? 0 : to == LB_F64 ? 1e4 : 100;
		check_near(got, wanted, to, slack, lb_ops[op].name, i);
	}
}

/* Values whose sums do not cancel, and whose products stay small. */
static void tame(const struct lb_view *x, int op)
{
	for (int64_t i = 0; lb_dtype_is_inexact(x->dtype) && i < size_of(x); i++) {
		double v = real_of(element(x, i), x->dtype, 0);
		if (op == LB_OP_PROD)
			put_real(element(x, i), x->dtype, i % 37 ? 1 : 0.75);
		else if (isfinite(v) && fabs(v) > 1e20)
			put_real(element(x, i), x->dtype, 2.5);
	}
}

static void reductions(void **state)
{
	(void)state;
	for (int op = LB_OP_SUM; op <= LB_OP_LOGSUMEXP; op++)
		for (int dtype = 0; dtype < LB_DTYPES; dtype++)
			for (int s = 0; s < N_SHAPES; s++) {
				if (dtype == LB_C64 &&
				    (op == LB_OP_VAR || op == LB_OP_LOGSUMEXP || op == LB_OP_MAX || op == LB_OP_MIN))
					continue;
				int rank = (int)(draw() % 5);
				uint32_t mask = (uint32_t)draw() & ((1u << rank) - 1);
				struct lb_view x = draw() % 3 ? make_strided(dtype, rank, shapes[s])
							      : make_view(dtype, rank, shapes[s]);
				tame(&x, op);
				check_reduce(op, &x, mask);
				free_kept();
			}
}

static void long_reductions(void **state)
{
	(void)state;
	static const int64_t long_shapes[][2] = { { 1, 3000001 }, { 3000001, 1 }, { 300001, 9 }, { 7, 300001 } };
	for (int s = 0; s < 4; s++) {
		const int64_t *shape = long_shapes[s];
		struct lb_view x = make_view(LB_F32, 2, shape);
		int64_t n = size_of(&x);
		double sums[16] = { 0 };
		for (int64_t i = 0; i < n; i++) {
			((float *)x.data)[i] = 0.1f + (float)(draw() % 100) * 0.01f;
			double v = (double)((float *)x.data)[i];
			sums[shape[1] < 16 ? i % shape[1] : i / shape[1]] += v;
		}
		float out[16], alone[16];
		uint32_t mask = shape[1] < 16 ? 1 : 2;
		check_ok(lb_kernel_reduce(&exec_all, LB_OP_SUM, &x, mask, 0, out, LB_F32));
		check_ok(lb_kernel_reduce(&exec_alone, LB_OP_SUM, &x, mask, 0, alone, LB_F32));
		for (int64_t i = 0; i < (mask == 1 ? shape[1] : shape[0]); i++) {
			check_near((double)out[i], sums[i], LB_F32, 1, "sum", i);
			assert_true(out[i] == alone[i]);
		}
		((float *)x.data)[n - 3] = NAN;
		uint32_t at = 0;
		check_ok(lb_kernel_argreduce(&exec_all, LB_OP_ARGMIN, &x, -1, &at));
		assert_int_equal(at, n - 3);
		free_kept();
	}
}

/* Where each element is all of its output, few of them are not planned for; the bits are those of many. */
static void reductions_of_one(void **state)
{
	enum { N = 130, HALF = N / 2 };
	static const int ops[] = { LB_OP_SUM, LB_OP_MEAN, LB_OP_MAX, LB_OP_MIN, LB_OP_PROD };
	static const uint32_t special[] = { 0,          1u << 31,   0x7f800000, 0xff800000, 0x7fc00000,
					    0xffc01234, 0x7fa00001, 1,          0x80000001, 0x7f7fffff };
	uint32_t values[N], spread[3 * N], many[N], few[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		float drawn = (float)(int64_t)draw() * 1e-18f;
		memcpy(&values[i], &drawn, sizeof drawn);
		if (i % 3 == 0)
			values[i] = special[i / 3 % 10];
		spread[3 * i] = values[i];
	}
	for (int k = 0; k < 5; k++) {
		struct lb_view x = {
			.data = values, .dtype = LB_F32, .rank = 2, .shape = { N, 1 }, .strides = { 1, 1 }
		};
		check_ok(lb_kernel_reduce(&exec_all, ops[k], &x, 2, 0, many, LB_F32));
		for (int n = 1; n <= HALF; n++) {
			struct lb_view y = { .dtype = LB_F32, .rank = 3, .shape = { 1, n, 1 }, .strides = { 7, 1, 9 } };
			struct lb_view z = { .dtype = LB_F32, .rank = 2, .shape = { 1, n }, .strides = { 0, 3 } };
			for (int from = 0; from + n <= N; from += n) {
				y.data = values + from;
				check_ok(lb_kernel_reduce(&exec_all, ops[k], &y, n % 2 ? 5 : 4, 0, few, LB_F32));
				assert_memory_equal(few, many + from, (size_t)n * sizeof *few);
				z.data = spread + 3 * from;
				check_ok(lb_kernel_reduce(&exec_all, ops[k], &z, 1, 0, few, LB_F32));
				assert_memory_equal(few, many + from, (size_t)n * sizeof *few);
			}
		}
	}
}

static void infinite_logsumexp(void **state)
{
	(void)state;
	float values[] = { -INFINITY, -INFINITY, INFINITY, 1, NAN, INFINITY, 1000, 1000 }, out[4];
	struct lb_view x = { .data = values, .dtype = LB_F32, .rank = 2, .shape = { 4, 2 }, .strides = { 2, 1 } };
	check_ok(lb_kernel_reduce(&exec_all, LB_OP_LOGSUMEXP, &x, 2, 0, out, LB_F32));
	assert_true(out[0] == -INFINITY && out[1] == INFINITY && isnan(out[2]));
	check_near((double)out[3], 1000 + log(2), LB_F32, 1, "logsumexp", 3);
}

/* The searched index of output o, by looking at every element in order. */
static int64_t arg_reference(int op, const struct lb_view *x, uint32_t mask, int64_t o)
{
	int64_t at = 0, best = -1;
	const char *top = NULL;
	int dtype = x->dtype;
	for (int64_t i = 0; i < size_of(x); i++) {
		if (output_of(x, mask, i) != o)
			continue;
		const char *v = element(x, i);
		double a = top ? real_of(top, dtype, 0) : 0, b = real_of(v, dtype, 0);
		int64_t p = top ? int_of(top, dtype) : 0, q = int_of(v, dtype);
		int order = a < b ? -1 : a > b;
		if (dtype == LB_U64)
			order = (uint64_t)p<(uint64_t)q ? -1 : (uint64_t)p>(uint64_t) q;
		else if (dtype == LB_I64)
			order = p < q ? -1 : p > q;
		bool better = op == LB_OP_ARGMAX ? order < 0 : order > 0;
		if (!top || (!isnan(a) && (isnan(b) || better))) {
			top = v;
			best = at;
		}
		at++;
	}
	return best;
}

static void arguments(void **state)
{
	(void)state;
	for (int dtype = 0; dtype < LB_C64; dtype++)
		for (int s = 0; s < N_SHAPES; s++)
			for (int axis = -1; axis < 4; axis++) {
				struct lb_view x = make_strided(dtype, 4, shapes[s]);
				int op = draw() % 2 ? LB_OP_ARGMAX : LB_OP_ARGMIN;
				uint32_t mask = axis < 0 ? 15 : 1u << axis;
				int64_t size = axis < 0 ? size_of(&x) : x.shape[axis];
				int64_t outputs = size ? size_of(&x) / size : 0;
				uint32_t *out = keep((outputs + 200) * 4);
				bool ok = lb_kernel_argreduce(&exec_all, op, &x, axis, out);
				if (size_of(&x) == 0) {
					assert_int_equal(ok, axis >= 0 && axis != 1);
					lb_clear_error();
					continue;
				}
				check_ok(ok);
				for (int64_t o = 0; o < outputs && o < 40; o += 1 + outputs / 8)
					assert_int_equal(out[o], arg_reference(op, &x, mask, o));
				free_kept();
			}
}

static void softmaxes(void **state)
{
	(void)state;
	for (int dtype = LB_F16; dtype <= LB_F64; dtype++)
		for (int s = 0; s < N_SHAPES; s++)
			for (uint32_t mask = 0; mask < 16; mask++) {
				struct lb_view x =
				    mask % 3 ? make_strided(dtype, 4, shapes[s]) : make_view(dtype, 4, shapes[s]);
				int64_t n = size_of(&x);
				for (int64_t i = 0; i < n; i++)
					put_real(element(&x, i), dtype, (double)(draw() % 1000) * 0.02 - 10);
				char *out = keep(n * width(dtype));
				check_ok(lb_kernel_softmax(&exec_all, &x, mask, out));
				for (int64_t i = 0; i < n && i < 500; i += 97) {
					int64_t o = output_of(&x, mask, i);
					double top = reduce_reference(LB_OP_MAX, &x, mask, o, 0, 0);
					double sum = reduce_reference(LB_OP_LOGSUMEXP, &x, mask, o, 0, top);
					double v = real_of(element(&x, i), dtype, 0);
					check_near(real_of(out + i * width(dtype), dtype, 0), exp(v - top) / sum, dtype,
						   dtype == LB_F64 ? 1000 : 30, "softmax", i);
				}
				free_kept();
			}
}

/* On each instruction set, of rows from short ones on, down to where powers would be subnormal and are 0, and in place. */
static void softmax_rows(void **state)
{
	(void)state;
	enum { MOST = 1500 };
	static float x[MOST], y[MOST];
	for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++)
		for (int n = 1; n <= MOST; n += n < 140 ? 1 : 97) {
			float range = (float[]){ 1, 20, 110, 3e38f }[n % 4];
			double sum = 0, top = -INFINITY;
			for (int i = 0; i < n; i++) {
				x[i] = y[i] = ((float)(draw() % 20001) * 1e-4f - 1) * range;
				top = fmax(top, x[i]);
			}
			for (int i = 0; i < n; i++)
				sum += exp(x[i] - top);
			lb_tiles_of((enum lb_isa)level)->softmax(n, y, y, LB_F32);
			for (int i = 0; i < n; i++) {
				/* the difference is rounded, too */
				double right = exp(x[i] - top) / sum, far = top - x[i];
				bool is_near =
				    fabs(y[i] - right) <= right * (fmin(far, 110) * 0x1p-24 + 4e-7) + 0x1p-148;
				assert_true(far < 87.3 ? is_near : far > 88 ? y[i] == 0 : is_near || y[i] == 0);
			}
			x[n / 2] = NAN;
			lb_tiles_of((enum lb_isa)level)->softmax(n, y, x, LB_F32);
			for (int i = 0; i < n; i++)
				assert_true(isnan(y[i]));
			/* what is certain, and what is impossible */
			for (int i = 0; i < n; i++)
				x[i] = i == n / 3 ? 7 : -INFINITY;
			lb_tiles_of((enum lb_isa)level)->softmax(n, y, x, LB_F32);
			for (int i = 0; i < n; i++)
				assert_true(y[i] == (i == n / 3));
		}
}

/* On each instruction set, with the same bits: numbers around 0 and far from it, tiny and huge ones. */
static void norm_rows(void **state)
{
	(void)state;
	enum { MOST = 700 };
	static float x[MOST], weight[MOST], bias[MOST], y[MOST], first[MOST];
	static const struct {
		double offset, range, eps, slope, first; /* further than the one before; of element 0 */
	} kinds[] = { { 0, 1, 1e-5, 0, 0 },        { 5000, 0.5, 1e-5, 0, 0 }, { -3, 1e-12, 1e-12, 0, 0 },
		      { 0, 1e-33, 0, 0, 0 },       { 1e4, 0, 1e-5, 0, 0 },    { 0, 1e30, 1e-5, 0, 0 },
		      { 3e38, 3e37, 0, 0, 0 },     { 0, 1, 1e-5, 0.5, 0 },    { 7, 1, 1e-5, 0, 1e6 },
		      { 1e6, 1, 1e-5, 0, -1e6 },   { 0, 1e-20, 0, 0, 0 },     { 16777216, 2, 0, 0, 0 },
		      { 0, 1e-3, 1e-5, 0, 1e-22 }, { 0, 1, 1e-5, 0, 1e20 } };
	for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
		for (int n = 1; n <= MOST; n += n < 140 ? 3 : 61)
			for (int way = 0; way < 8; way++) {
				bool center = way & 1;
				const float *w = way & 2 ? weight : NULL, *b = way & 4 ? bias : NULL;
				double eps = kinds[kind].eps, squares = 0;
				long double sum = 0;
				for (int i = 0; i < n; i++) {
					double far = (double)(draw() % 2001) / 1000 - 1;
					x[i] = (float)(kinds[kind].offset + far * kinds[kind].range +
						       kinds[kind].slope * i);
					weight[i] = (float)(draw() % 100) / 50;
					bias[i] = (float)(draw() % 100) / 50 - 1;
				}
				if (kinds[kind].first != 0)
					x[0] = (float)kinds[kind].first;
				for (int i = 0; i < n && center; i++)
					sum += x[i];
				double mean = (double)(sum / n);
				for (int i = 0; i < n; i++)
					squares += (x[i] - mean) * (x[i] - mean);
				double scale = 1 / sqrt(squares / n + eps);
				for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++) {
					const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
					double got = tiles->norm(n, y, x, w, b, eps, center, LB_F32);
					if (level == LB_ISA_BASE)
						memcpy(first, y, sizeof y);
					assert_memory_equal(first, y, (size_t)n * sizeof *y);
					if (squares / n + eps < 1e-90 || isinf(scale))
						continue; /* what is left is the mean's own rounding */
					assert_true(fabs(got / scale - 1) < 1e-6);
					for (int i = 0; i < n; i++) {
						double normed = (x[i] - mean) * scale * (w ? w[i] : 1);
						double right = normed + (b ? b[i] : 0);
						assert_true(fabs(y[i] - right) <=
							    4e-7 * (fabs(normed) + fabs(right)) + 1e-7);
					}
				}
			}
}

/* One NaN or Inf: everything is NaN, or, where nothing is centered, 0 beside an Inf. */
static void norm_rows_that_are_not_finite(void **state)
{
	(void)state;
	static const float odd[] = { NAN, INFINITY, -INFINITY };
	for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++)
		for (int way = 0; way < 6; way++)
			for (int n = 1; n < 700; n += n < 40 ? 1 : 61) {
				float x[700], y[700], bad = odd[way / 2];
				bool center = way & 1;
				for (int i = 0; i < n; i++)
					x[i] = i == n / 3 ? bad : (float)(draw() % 2001) / 1000 - 1;
				lb_tiles_of((enum lb_isa)level)->norm(n, y, x, NULL, NULL, 1e-5, center, LB_F32);
				for (int i = 0; i < n; i++)
					assert_true(!center && isinf(bad) && i != n / 3 ? y[i] == 0 : isnan(y[i]));
			}
}

static void extremes(void **state)
{
	(void)state;
	enum { MOST = 3000, FEW = 400 };
	static const float odd[] = { 0, -0.0f, INFINITY, -INFINITY, 1e-45f };
	for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++)
		for (int round = 0; round < 4 * FEW; round++) {
			float x[MOST];
			int n = 1 + (round % 16 ? round % FEW : (int)(draw() % MOST)), least = round & 1;
			for (int i = 0; i < n; i++) /* few values, so that many are equal, and now and then NaN */
				x[i] = round % 3 && draw() % 16 == 0 ? odd[draw() % 5] : (float)(draw() % 50) - 25;
			if (round % 5 == 0)
				x[draw() % (unsigned)n] = x[draw() % (unsigned)n] = NAN;
			int right = 0;
			for (int i = 1; i < n && !isnan(x[right]); i++)
				if (isnan(x[i]) || (least ? x[i] < x[right] : x[i] > x[right]))
					right = i;
			assert_int_equal(lb_tiles_of((enum lb_isa)level)->extreme(n, x, least), right);
		}
}

static void check_product(struct lb_exec *exec, int dtype, int64_t batch, int64_t m, int64_t n, int64_t k, int round)
{
	struct lb_view v[3] = { make_strided(dtype, 3, (int64_t[]){ batch, m, k }),
				make_strided(dtype, 3, (int64_t[]){ batch, k, n }),
				make_strided(dtype, 3, (int64_t[]){ batch, m, n }) };
	if (round % 2) {
		v[0] = make_view(dtype, 3, (int64_t[]){ batch, m, k });
		v[1].strides[0] = 0;
	}
	for (int j = 0; j < 3; j++)
		for (int64_t i = 0; i < size_of(&v[j]); i++)
			put_real(element(&v[j], i), dtype, (double)(draw() % 64) / 32 - 1);
	double alpha = round % 3 ? 1 : 0.5, beta = round % 3 ? 0 : -2;
	char *out = keep(batch * m * n * width(dtype));
	memset(out, 0xff, (size_t)(batch * m * n * width(dtype))); /* NaN: must not be read */
	check_ok(lb_kernel_matmul(exec, &v[0], &v[1], beta != 0 ? &v[2] : NULL, alpha, beta, out));
	for (int64_t o = 0; o < batch * m * n; o += 1 + batch * m * n / 300) {
		double sum[2] = { 0, 0 }, size = 1;
		int64_t b = o / (m * n), i = o / n % m, j = o % n;
		for (int64_t p = 0; p < k; p++) {
			const char *x = element(&v[0], (b * m + i) * k + p);
			const char *y = element(&v[1], (b * k + p) * n + j);
			double xr = real_of(x, dtype, 0), yr = real_of(y, dtype, 0);
			double xi = dtype == LB_C64 ? real_of(x, dtype, 1) : 0;
			double yi = dtype == LB_C64 ? real_of(y, dtype, 1) : 0;
			sum[0] += xr * yr - xi * yi;
			sum[1] += xr * yi + xi * yr;
			size += fabs(xr * yr) + fabs(xi * yi) + fabs(xr * yi);
		}
		for (int part = 0; part < (dtype == LB_C64 ? 2 : 1); part++) {
			double c = beta != 0 ? real_of(element(&v[2], o), dtype, part) : 0;
			double got = real_of(out + o * width(dtype), dtype, part);
			int digits = dtype == LB_F16 ? 11 : dtype == LB_BF16 ? 8 : 20;
			double wanted = alpha * sum[part] + beta * c;
			double slack = fabs(wanted) * ldexp(1, -digits) + (size + fabs(c)) * 1e-6;
			if (!(fabs(got - wanted) <= slack))
				fail_msg("matmul %s %lldx%lldx%lld at %lld: %g, should be %g", lb_dtypes[dtype].name,
					 (long long)m, (long long)n, (long long)k, (long long)o, got, wanted);
		}
	}
	free_kept();
}

static void products(void **state)
{
	(void)state;
	static const int64_t sizes[][4] = { { 2, 3, 4, 5 },      { 1, 1, 1, 1 },      { 3, 40, 50, 30 },
					    { 2, 33, 1, 700 },   { 1, 1, 300, 70 },   { 2, 5, 6, 0 },
					    { 0, 2, 2, 2 },      { 1, 130, 67, 129 }, { 1, 20, 1100, 3 },
					    { 1, 3, 20, 2100 },  { 1, 257, 700, 70 }, { 2, 321, 193, 131 },
					    { 1, 64, 1090, 100 } };
	for (int dtype = LB_F16; dtype <= LB_C64; dtype++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			for (int round = 0; round < 6; round++)
				check_product((round + (int)s) % 2 ? &exec_all : &exec_alone, dtype, sizes[s][0],
					      sizes[s][1], sizes[s][2], sizes[s][3], round);
	assert_non_null(lb_blas_name());
}

/* A signal handler may multiply over a product. */
static void a_product_within_a_product(void **state)
{
	(void)state;
	if (!lb_blas_enter())
		skip();
	assert_null(lb_blas_enter());
	lb_blas_leave();
	assert_non_null(lb_blas_enter());
	lb_blas_leave();
}

static void gathers(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		int dtype = (int)(draw() % LB_DTYPES), axis = (int)(draw() % 3);
		int index_dtype = LB_U8 + (int)(draw() % 8);
		struct lb_view x = make_strided(dtype, 3, shapes[round % 2 * 2]);
		int64_t length = round % 10 ? 11 : round % 20 ? LB_INDICES_MOST : 2 * LB_INDICES_MOST + 6;
		struct lb_view indices = make_strided(index_dtype, 2, (int64_t[]){ 3, length });
		int64_t size = x.shape[axis], m = 3 * length, inner = 1;
		for (int64_t i = 0; i < m; i++) {
			int64_t value = (int64_t)(draw() % (uint64_t)size);
			if (index_dtype >= LB_I8 && draw() % 2)
				value -= size;
			memcpy(element(&indices, i), &value, (size_t)width(index_dtype));
		}
		for (int i = axis + 1; i < 3; i++)
			inner *= x.shape[i];
		int64_t n = size_of(&x) / size * m;
		char *out = keep(n * width(dtype));
		check_ok(lb_kernel_take(&exec_all, &x, &indices, axis, out));
		for (int64_t i = 0; i < n; i++) {
			int64_t at = int_of(element(&indices, i / inner % m), index_dtype);
			at += at < 0 ? size : 0;
			int64_t from = (i / inner / m * size + at) * inner + i % inner;
			assert_memory_equal(out + i * width(dtype), element(&x, from), (size_t)width(dtype));
		}
		int64_t shape[3] = { x.shape[0], x.shape[1], x.shape[2] };
		int64_t some = round % 10 ? 9 : length;
		shape[axis] = some;
		struct lb_view along = make_strided(index_dtype, 3, shape);
		for (int64_t i = 0; i < size_of(&along); i++) {
			int64_t value = (int64_t)(draw() % (uint64_t)size);
			memcpy(element(&along, i), &value, (size_t)width(index_dtype));
		}
		out = keep(size_of(&along) * width(dtype));
		check_ok(lb_kernel_take_along(&exec_all, &x, &along, axis, out));
		for (int64_t i = 0; i < size_of(&along); i++) {
			int64_t at = int_of(element(&along, i), index_dtype);
			int64_t from = (i / inner / some * size + at) * inner + i % inner;
			assert_memory_equal(out + i * width(dtype), element(&x, from), (size_t)width(dtype));
		}
		free_kept();
	}
}

/* On each instruction set: the ends of the range, what lies just outside it, and what wraps. */
static void indices_in_range(void **state)
{
	(void)state;
	enum { SIZE = 7, N = 37 };
	static const int64_t ends[] = { 0, 6, -1, -7, 7, -8, INT64_MAX, INT64_MIN, INT64_MAX - 6, INT64_MIN + 6 };
	for (int level = 0; level <= (int)lb_isa_level(); level++)
		for (int k = 0; k < 10; k++)
			for (int at = 0; at < N; at++)
				for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++) {
					int64_t list[N] = { 0 }, x = ends[k];
					list[at] = x;
					bool fits = x < SIZE && x >= (is_unsigned ? 0 : -SIZE);
					const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
					assert_int_equal(tiles->indices(N, list, SIZE, is_unsigned), fits);
					if (fits)
						assert_int_equal(list[at], x < 0 ? x + SIZE : x);
				}
}

static void wrong_indices_fail(void **state)
{
	(void)state;
	struct lb_view x = make_view(LB_F32, 2, (int64_t[]){ 4, 5 });
	float out[40];
	struct {
		int64_t value;
		int dtype;
		const char *said;
	} wrong[] = { { 4, LB_I32, "index 4 " },
		      { -5, LB_I64, "index -5 " },
		      { 200, LB_U8, "index 200 " },
		      { -1, LB_U64, "index 18446744073709551615 " } };
	for (int i = 0; i < 4; i++) {
		struct lb_view one = { .data = &wrong[i].value,
				       .dtype = (enum lb_dtype)wrong[i].dtype,
				       .rank = 2,
				       .shape = { 1, 5 },
				       .strides = { 0, 0 } };
		assert_false(lb_kernel_take(&exec_all, &x, &one, 0, out));
		assert_non_null(strstr(lb_error_message(), wrong[i].said));
		assert_non_null(strstr(lb_error_message(), "size 4"));
		lb_clear_error();
		assert_false(lb_kernel_take_along(&exec_all, &x, &one, 0, out));
		assert_non_null(strstr(lb_error_message(), wrong[i].said));
		lb_clear_error();
	}
	struct lb_view real = { .data = out, .dtype = LB_F32, .rank = 1, .shape = { 1 } };
	assert_false(lb_kernel_take(&exec_all, &x, &real, 0, out));
}

static void nonfinite_counts(void **state)
{
	(void)state;
	enum { N = 20000 };
	for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
		struct lb_view x = make_view(dtype, 1, (int64_t[]){ N });
		int64_t wanted = 0, first = -1, got_first = -1;
		for (int64_t i = 0; lb_dtype_is_inexact(dtype) && i < N; i++) {
			put_real(element(&x, i), dtype, 60000);
			if (i % 9001 == 9000) {
				put_real(element(&x, i), dtype, (double)(i % 2 ? NAN : -INFINITY));
				wanted++;
				first = first < 0 ? i : first;
			}
		}
		assert_int_equal(lb_count_nonfinite(x.data, x.dtype, N, NULL), wanted);
		assert_int_equal(lb_count_nonfinite(x.data, x.dtype, N, &got_first), wanted > 0);
		assert_int_equal(got_first, first);
	}
}

/* Against sums element by element. */
static void figures_of_views(void **state)
{
	(void)state;
	for (int s = 0; s < N_SHAPES; s++)
		for (int round = 0; round < 60; round++) {
			int dtype = (int)(draw() % LB_DTYPES);
			struct lb_view x = make_strided(dtype, round % 5, shapes[s]);
			int64_t finite = 0, nan = 0, inf = 0, zero = 0, n = size_of(&x);
			double min = (double)INFINITY, max = -(double)INFINITY, sum = 0, squares = 0, deviations = 0;
			for (int64_t i = 0; i < n; i++) {
				double v = lb_load_double(element(&x, i), x.dtype);
				nan += isnan(v) != 0;
				inf += isinf(v) != 0;
				zero += v == 0;
				if (!isfinite(v))
					continue;
				finite++;
				min = v < min ? v : min;
				max = v > max ? v : max;
				sum += v;
				squares += v * v;
			}
			for (int64_t i = 0; i < n; i++) {
				double v = lb_load_double(element(&x, i), x.dtype) - sum / (double)finite;
				deviations += isfinite(v) ? v * v : 0;
			}
			struct lb_figures f;
			lb_find_figures(&x, &f);
			assert_true(f.count == n && f.finite == finite && f.nan == nan && f.inf == inf &&
				    f.zero == zero);
			if (finite) {
				assert_true(f.min == min && f.max == max);
				double size = sqrt(squares / (double)finite);
				if (isfinite(size)) {
					assert_true(fabs(f.mean - sum / (double)finite) <= 1e-12 * size);
					assert_true(fabs(f.std - sqrt(deviations / (double)finite)) <= 1e-9 * size);
					assert_true(fabs(f.l2 - sqrt(squares)) <= 1e-12 * f.l2);
				}
			}
			int64_t bad = nan + inf;
			if (dtype != LB_C64) /* of which only real parts were counted */
				assert_int_equal(lb_is_finite(&x), bad == 0);
			free_kept();
		}
}

/* Each place counts for the hash, none for the bag; neither knows strides. */
static void hashes_of_views(void **state)
{
	enum { N = 3000 };
	(void)state;
	for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
		struct lb_view x = make_view(dtype, 1, (int64_t[]){ N }), back = x;
		struct lb_figures f, g, h;
		memset(x.data, 0, (size_t)(N * width(dtype)));
		lb_store_int(element(&x, 7), x.dtype, 1);
		back.data = element(&x, N - 1);
		back.strides[0] = -1;
		lb_find_figures(&x, &f);
		lb_find_figures(&back, &g);
		assert_true(f.bag == g.bag && f.hash != g.hash);
		lb_store_int(element(&x, 7), x.dtype, 0);
		lb_store_int(element(&x, N - 8), x.dtype, 1);
		lb_find_figures(&back, &h);
		assert_true(h.bag == f.bag && h.hash == f.hash);
		lb_store_int(element(&x, 2), x.dtype, 1);
		lb_find_figures(&back, &g);
		assert_true(h.bag != g.bag && h.hash != g.hash);
		free_kept();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(copies, reset),
		cmocka_unit_test_teardown(transposed_copies, reset),
		cmocka_unit_test(squares_turn_on_each_instruction_set),
		cmocka_unit_test(lines_turn_to_floats_on_each_instruction_set),
		cmocka_unit_test_teardown(groups_on_each_instruction_set, reset),
		cmocka_unit_test_teardown(vectors_times_rows_on_each_instruction_set, reset),
		cmocka_unit_test_teardown(running_sums, reset),
		cmocka_unit_test_teardown(running_sums_on_each_instruction_set, reset),
		cmocka_unit_test_teardown(orders, reset),
		cmocka_unit_test_teardown(creation, reset),
		cmocka_unit_test_teardown(random_numbers, reset),
		cmocka_unit_test_teardown(philox_known_answer, reset),
		cmocka_unit_test_teardown(normals_are_box_mullers, reset),
		cmocka_unit_test_teardown(reductions, reset),
		cmocka_unit_test_teardown(long_reductions, reset),
		cmocka_unit_test(reductions_of_one),
		cmocka_unit_test_teardown(infinite_logsumexp, reset),
		cmocka_unit_test_teardown(arguments, reset),
		cmocka_unit_test_teardown(softmaxes, reset),
		cmocka_unit_test_teardown(products, reset),
		cmocka_unit_test(a_product_within_a_product),
		cmocka_unit_test_teardown(gathers, reset),
		cmocka_unit_test(indices_in_range),
		cmocka_unit_test_teardown(wrong_indices_fail, reset),
		cmocka_unit_test_teardown(nonfinite_counts, reset),
		cmocka_unit_test_teardown(figures_of_views, reset),
		cmocka_unit_test_teardown(hashes_of_views, reset),
		cmocka_unit_test_teardown(softmax_rows, reset),
		cmocka_unit_test_teardown(norm_rows, reset),
		cmocka_unit_test_teardown(norm_rows_that_are_not_finite, reset),
		cmocka_unit_test_teardown(extremes, reset),
	};

	/* which no size of these is a multiple of */
	setenv("LAZYBONES_THREADS", "5", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
