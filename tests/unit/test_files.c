/* Files of every format: what tests/unit/files.py has written, whole, damaged and cut short;
 * what is saved, as NumPy reads it; and that opening costs nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file_walk.h"
#include "probe.h"

static const char *folder; /* "build/tests/files" */

/* ---- helpers ---- */

static const char *at(const char *name)
{
	static char paths[4][4200];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

struct content {
	uint8_t *bytes;
	size_t n;
};

static struct content content_of(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "rb");
	if (!f || fstat(fileno(f), &st) != 0)
		fail_msg("no %s: run tests/unit/files.py %s", path, folder);
	struct content c = { malloc((size_t)st.st_size + 1), (size_t)st.st_size };
	assert_int_equal(fread(c.bytes, 1, c.n, f), c.n);
	c.bytes[c.n] = '\0';
	fclose(f);
	return c;
}

/* The next field of a list's line, whose end becomes its terminator. */
static char *field(char **line)
{
	char *start = *line, *end = strpbrk(start, "|\n");
	if (end)
		*end = '\0';
	*line = end ? end + 1 : start + strlen(start);
	return start;
}

static void must_be_ok(const char *what)
{
	if (!lb_ok())
		fail_msg("%s: %s", what, lb_error_message());
}

static lb_tensor *first_of(const char *path, lb_file **ret)
{
	*ret = lb_open(path);
	return lb_file_get_at(*ret, 0);
}

/* Whether it takes zlib to read the file. */
static bool is_packed(const char *name)
{
	static const char *const packed[] = { "packed.npz", "bad-data.npz", "bad-crc.npz" };
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
		if (strcmp(name, packed[i]) == 0)
			return true;
	}
	return false;
}

/* ---- what is read ---- */

static void check_good(const char *file_name, const char *name, const char *dtype, char *shape, const char *expected)
{
	char what[300];
	snprintf(what, sizeof what, "%s: %s", file_name, name);
	struct content want = content_of(at(expected));
	lb_file *file = lb_open(at(file_name));
	must_be_ok(what);
	LB_SCOPE {
		lb_tensor *x = lb_file_get(file, name);
		if (!LB_HAVE_ZLIB && is_packed(file_name)) {
			assert_true(error_has("packed.npz zlib1g-dev savez"));
			continue;
		}
		must_be_ok(what);
		assert_string_equal(lb_name(x), name);
		assert_string_equal(lb_dtype_name(lb_dtype_of(x)), dtype);
		int rank = 0;
		for (char *size; *shape && (size = strsep(&shape, ",")); rank++) {
			assert_true(rank < lb_rank(x));
			assert_int_equal(lb_dim(x, rank), strtoll(size, NULL, 10));
			if (!shape)
				shape = "";
		}
		assert_int_equal(rank, lb_rank(x));
		assert_int_equal(lb_nbytes(x), want.n);
		const void *data = lb_data(x);
		must_be_ok(what);
		if (memcmp(data, want.bytes, want.n) != 0)
			fail_msg("%s: other elements", what);
	}
	lb_file_close(file);
	free(want.bytes);
}

static void good_files(void **state)
{
	(void)state;
	struct content list = content_of(at("good"));
	int n = 0;
	for (char *line = (char *)list.bytes; *line; n++) {
		char *file = field(&line), *name = field(&line), *dtype = field(&line);
		char *shape = field(&line), *expected = field(&line);
		check_good(file, name, dtype, shape, expected);
	}
	assert_true(n > 150);
	free(list.bytes);
}

/* What is kept quantised has the very values that the blocks are decoded to. */
static void quantised_blocks(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		lb_quant_mode mode; /* if it stays quantised */
		int bits;           /* 0: it does not */
	} expected[] = {
		{ "blk.0.Q4_0", LB_QUANT_AFFINE, 4 },
		{ "blk.0.Q4_1", LB_QUANT_AFFINE, 4 },
		{ "blk.0.Q5_0", LB_QUANT_AFFINE, 5 },
		{ "blk.0.Q5_1", LB_QUANT_AFFINE, 5 },
		{ "blk.0.Q5_K", LB_QUANT_AFFINE, 5 },
		{ "blk.0.Q8_0", LB_QUANT_AFFINE, 8 },
		{ "blk.0.Q4_K", LB_QUANT_AFFINE, 4 },
		{ "blk.0.MXFP4", 0, 0 }, /* a scale of 2^128 is among them, which e8m0 has not */
		{ "blk.0.Q6_K", 0, 0 },
		{ "float32", 0, 0 },
	};
	lb_file *file = lb_open(at("all.gguf"));
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		LB_SCOPE {
			const char *name = expected[i].name;
			lb_quantized q;
			lb_quant how;
			assert_true(lb_file_get_quantized(file, name, &q, &how));
			must_be_ok(name);
			assert_int_equal(q.w != NULL, expected[i].bits != 0);
			if (!q.w)
				continue;
			assert_int_equal(how.mode, expected[i].mode);
			assert_int_equal(how.bits, expected[i].bits);
			assert_int_equal(how.group, 32);
			assert_string_equal(lb_name(q.w), name);
			lb_tensor *x = lb_dequantize(q, how, LB_F32), *want = lb_file_get(file, name);
			assert_true(lb_item_int(lb_all(lb_equal(x, want), LB_ALL_AXES, false)));
			must_be_ok(name);
			lb_tensor *one = lb_ones(LB_SHAPE(2, 1, lb_dim(x, 2)), LB_F32);
			lb_tensor *by_codes = lb_quantized_matmul(one, q, how, true);
			lb_tensor *sums = lb_reshape(lb_sum(want, LB_AXES(-1), false), LB_SHAPE(2, 1, 3));
			lb_tensor *far = lb_max(lb_abs(lb_subtract(by_codes, sums)), LB_ALL_AXES, false);
			assert_true(lb_item(far) <= 1e-4 * lb_item(lb_sum(lb_abs(want), LB_ALL_AXES, false)));
		}
	}
	lb_quantized q;
	lb_quant how;
	assert_false(lb_file_get_quantized(file, "nonsense", &q, &how));
	assert_true(error_has("no tensor 'nonsense'"));
	assert_false(lb_file_get_quantized(file, "nonsense", NULL, &how));
	assert_true(error_has("file_get_quantized"));
	assert_false(lb_file_get_quantized(file, "nonsense", &q, NULL));
	assert_true(error_has("file_get_quantized"));
	lb_file_close(file);
}

static void safetensors_metadata(void **state)
{
	(void)state;
	static const char *const keys[] = { "format", "odd \"key\"" }, *const values[] = { "lb", "a\n\xc3\xa9" };
	const char *path = at("metadata.safetensors");
	LB_SCOPE {
		lb_tensor *x = lb_arange(0, 5, 1, LB_F32);
		static const char *const names[] = { "x" };
		assert_true(lb_save_safetensors_with(path, 1, names, &x, 2, keys, values));
		lb_file *file = lb_open(path);
		assert_int_equal(lb_file_metadata_count(file), 2);
		for (int i = 0; i < 2; i++)
			assert_string_equal(lb_file_metadata(file, keys[i]), values[i]);
		assert_true(lb_item(lb_sum(lb_file_get(file, "x"), LB_ALL_AXES, false)) == 10);
		lb_file_close(file);
		assert_true(lb_save_safetensors_with(path, 0, NULL, NULL, 2, keys, values));
		file = lb_open(path);
		assert_int_equal(lb_file_metadata_count(file), 2);
		lb_file_close(file);
		must_be_ok("metadata");
		unlink(path);
		assert_false(lb_save_safetensors_with(path, 1, names, &x, 1, keys, NULL));
		assert_true(error_has("save_safetensors_with: values is NULL"));
		assert_false(lb_save_safetensors_with(path, 1, names, &x, 1, keys, (const char *[]){ "\xff" }));
		assert_true(error_has("value UTF-8"));
		assert_false(lb_save_safetensors_with(path, 1, names, &x, 1, (const char *[]){ NULL }, values));
		assert_true(error_has("metadata 0: the key is missing"));
		assert_false(lb_save_safetensors_with(path, 1, names, &x, 2, (const char *[]){ "a", "a" }, values));
		assert_true(error_has("'a' twice"));
	}
	assert_int_not_equal(access(path, F_OK), 0);
}

/* Byte by byte, by ggml/docs/gguf.md; and read again. */
static void gguf_is_written(void **state)
{
	static const char *const names[] = { "a", "scalar" }, *const tokens[] = { "x", "" }, *const gap[] = { NULL };
	static const unsigned char wanted[] = {
		'G',
		'G',
		'U',
		'F',
		3,
		0,
		0,
		0,
		2,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		4,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		't',
		8,
		0,
		0,
		0,
		2,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		'h',
		'i',
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		'n',
		4,
		0,
		0,
		0,
		7,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		'l',
		9,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		2,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		1,
		0xff,
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		's',
		9,
		0,
		0,
		0,
		8,
		0,
		0,
		0,
		2,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		'x',
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		/* a: (3, 2) of i16, the innermost size first */
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		'a',
		2,
		0,
		0,
		0,
		2,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		3,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		25,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		6,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		's',
		'c',
		'a',
		'l',
		'a',
		'r',
		1,
		0,
		0,
		0,
		1,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		32,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
	};
	enum { DATA = (sizeof wanted + 31) / 32 * 32, SIZE = DATA + 64 };
	static const unsigned char elements[] = { 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0 };
	const char *path = at("written.gguf");
	unsigned char got[SIZE + 1];

	(void)state;
	LB_SCOPE {
		lb_tensor *xs[] = { lb_transpose(lb_reshape(lb_arange(0, 6, 1, LB_I16), LB_SHAPE(2, 3)), LB_ALL_AXES),
				    lb_multiply(lb_full(LB_SHAPE(), 2.5, LB_F32), lb_scalar(2)) };
		lb_tensor *number = lb_full(LB_SHAPE(), 7, LB_U32), *list = lb_arange(1, -3, -2, LB_I8);
		const lb_gguf_value values[] = {
			{ .key = "t", .text = "hi" },
			{ .key = "n", .numbers = number },
			{ .key = "l", .numbers = list },
			{ .key = "s", .texts = tokens, .n_texts = 2 },
		};
		assert_true(lb_save_gguf(path, 2, names, xs, 4, values));
		FILE *f = fopen(path, "rbe");
		assert_non_null(f);
		assert_int_equal(fread(got, 1, sizeof got, f), SIZE);
		fclose(f);
		assert_memory_equal(got, wanted, sizeof wanted);
		for (size_t i = sizeof wanted; i < DATA; i++)
			assert_int_equal(got[i], 0);
		assert_memory_equal(got + DATA, elements, sizeof elements);
		assert_memory_equal(got + DATA + 32, (&(float){ 5 }), 4);
		lb_file *file = lb_open(path);
		assert_string_equal(lb_file_metadata(file, "t"), "hi");
		assert_string_equal(lb_file_metadata(file, "n"), "7");
		assert_true(lb_item(lb_slice(lb_file_metadata_tensor(file, "l"), LB_AT(1))) == -1);
		size_t length;
		assert_memory_equal(lb_file_metadata_string(file, "s", 0, &length), "x", 1);
		assert_true(lb_item(lb_sum(lb_file_get(file, "a"), LB_ALL_AXES, false)) == 15);
		assert_int_equal(lb_rank(lb_file_get(file, "scalar")), 1);
		lb_file_close(file);
		assert_true(lb_save_gguf(path, 0, NULL, NULL, 0, NULL));
		lb_file_close(lb_open(path));
		must_be_ok("gguf");
		unlink(path);
		static const struct {
			lb_gguf_value value;
			const char *error;
		} wrong[] = {
			{ { .text = "hi" }, "metadata 0: the key is missing" },
			{ { .key = "k" }, "'k': one of text, texts and numbers" },
			{ { .key = "k", .text = "a", .texts = tokens }, "'k': one of text, texts and numbers" },
			{ { .key = "general.alignment", .text = "64" }, "'general.alignment' is 32" },
			{ { .key = "k", .texts = gap, .n_texts = 1 }, "'k': text 0 is NULL" },
			{ { .key = "k", .texts = tokens, .n_texts = -1 }, "a list of -1 texts" },
		};
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
			assert_false(lb_save_gguf(path, 2, names, xs, 1, &wrong[i].value));
			assert_true(error_has(wrong[i].error));
		}
		const lb_gguf_value twice[] = { values[0], values[0] }, square = { .key = "k", .numbers = xs[0] };
		const lb_gguf_value half = { .key = "k", .numbers = lb_astype(list, LB_F16) };
		assert_false(lb_save_gguf(path, 2, names, xs, 2, twice));
		assert_true(error_has("'t' is given twice"));
		assert_false(lb_save_gguf(path, 2, names, xs, 1, &half));
		assert_true(error_has("'k' is of float16"));
		assert_false(lb_save_gguf(path, 2, names, xs, 1, &square));
		assert_true(error_has("'k' has 2 axes"));
		assert_false(lb_save_gguf(path, 1, names, (lb_tensor *[]){ lb_astype(xs[0], LB_U8) }, 0, NULL));
		assert_true(error_has("'a' is of uint8"));
		lb_tensor *deep = lb_ones(LB_SHAPE(1, 1, 1, 1, 1), LB_F32);
		assert_false(lb_save_gguf(path, 1, names, &deep, 0, NULL));
		assert_true(error_has("'a' has 5 axes"));
	}
	assert_int_not_equal(access(path, F_OK), 0);
}

static void bad_files(void **state)
{
	(void)state;
	struct content list = content_of(at("bad"));
	int n = 0;
	for (char *line = (char *)list.bytes; *line; n++) {
		char *name = field(&line), *words = field(&line);
		LB_SCOPE {
			lb_file *file = lb_open(at(name));
			for (int64_t i = 0; i < lb_file_count(file) && lb_ok(); i++)
				lb_eval(lb_file_get_at(file, i));
			if (lb_ok())
				fail_msg("%s has been read", name);
			char message[1200];
			snprintf(message, sizeof message, "%s", lb_error_message());
			if (!error_has(!LB_HAVE_ZLIB && is_packed(name) ? "zlib" : words))
				fail_msg("%s: '%s' is not in: %s", name, words, message);
			lb_file_close(file);
		}
	}
	assert_true(n > 90);
	free(list.bytes);
}

static void missing_files(void **state)
{
	(void)state;
	assert_null(lb_open("/nonexistent/x.npy"));
	assert_true(error_has("/nonexistent/x.npy No such file"));
	assert_null(lb_open("/"));
	assert_true(error_has("regular"));
	assert_null(lb_open("/dev/zero"));
	assert_true(error_has("/dev/zero regular"));
	assert_null(lb_open(NULL));
	assert_true(error_has("open: path is NULL"));
	assert_null(lb_load_npy(at("all.gguf")));
	assert_true(error_has("all.gguf gguf lb_open"));
	lb_file *file = lb_open(at("all.gguf"));
	assert_null(lb_file_get(file, "nobody"));
	assert_true(error_has("all.gguf 'nobody'"));
	assert_null(lb_file_get_at(file, -1));
	assert_true(error_has("all.gguf -1"));
	assert_null(lb_file_name(file, lb_file_count(file)));
	assert_true(error_has("all.gguf"));
	lb_file_close(file);
}

static void formats_and_order(void **state)
{
	(void)state;
	static const struct {
		const char *file, *format;
		int64_t n;
	} files[] = {
		{ "float32-3.npy", "npy", 1 },
		{ "stored.npz", "npz", 7 },
		{ "none.npz", "npz", 0 },
		{ "mixed.npz", "npz", 1 },
		{ "nameless.npz", "npz", 2 },
		{ "all.safetensors", "safetensors", 18 },
		{ "empty.safetensors", "safetensors", 0 },
		{ "all.gguf", "gguf", 17 },
		{ "empty.gguf", "gguf", 0 },
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		lb_file *file = lb_open(at(files[i].file));
		must_be_ok(files[i].file);
		assert_string_equal(lb_file_format(file), files[i].format);
		assert_int_equal(lb_file_count(file), files[i].n);
		lb_file_close(file);
	}
	lb_file *file = lb_open(at("nameless.npz"));
	LB_SCOPE
		assert_non_null(lb_file_get(file, ""));
	lb_file_close(file);
	file = lb_open(at("small.gguf"));
	assert_string_equal(lb_file_name(file, 0), "x");
	assert_string_equal(lb_file_name(file, 1), "y");
	lb_file_close(file);
}

/* What can be used in place is ready at once; Fortran order is a view of it. */
static void in_place(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_load_npy(at("float32-5.npy"));
		assert_true(lb_is_ready(x) && lb_is_row_contiguous(x));
		lb_tensor *f = lb_load_npy(at("fortran-int64.npy"));
		assert_false(lb_is_row_contiguous(f));
		assert_int_equal(lb_strides(f)[0], 1);
		assert_int_equal(lb_strides(f)[2], 12);
		lb_tensor *big = lb_load_npy(at("big-float64.npy"));
		assert_false(lb_is_ready(big));
	}
	must_be_ok("in place");
}

static void raw_bytes(void **state)
{
	(void)state;
	lb_file *file = lb_open(at("all.gguf"));
	LB_SCOPE {
		lb_tensor *raw = lb_file_get_raw(file, "blk.0.Q6_K"), *x = lb_file_get(file, "blk.0.Q6_K");
		assert_int_equal(lb_dtype_of(raw), LB_U8);
		assert_int_equal(lb_rank(raw), 3);
		assert_int_equal(lb_dim(raw, 1), 3);
		assert_int_equal(lb_dim(raw, 2), 512 / 256 * 210);
		assert_true(lb_is_ready(raw));
		assert_false(lb_is_ready(x));
		lb_tensor *again = lb_decode(raw, LB_Q6_K, LB_SHAPE(2, 3, 512), LB_F32);
		assert_true(lb_item_int(lb_all(lb_equal(x, again), LB_ALL_AXES, false)));
		/* a strided view of the bytes is decoded as what it shows */
		lb_tensor *row =
		    lb_decode(lb_slice(raw, LB_ALL, LB_RANGE(1, 3, 2)), LB_Q6_K, LB_SHAPE(2, 1, 512), LB_F32);
		lb_tensor *same = lb_equal(row, lb_slice(x, LB_ALL, LB_RANGE(1, 3, 2)));
		assert_true(lb_item_int(lb_all(same, LB_ALL_AXES, false)));
		/* rounded to half precision as a cast of it is */
		for (lb_dtype dtype = LB_F16; dtype <= LB_BF16; dtype++) {
			lb_tensor *half = lb_decode(raw, LB_Q6_K, LB_SHAPE(2, 3, 512), dtype);
			same = lb_equal(half, lb_astype(x, dtype));
			assert_true(lb_item_int(lb_all(same, LB_ALL_AXES, false)));
		}
		lb_tensor *ints = lb_file_get_raw(file, "int16");
		assert_int_equal(lb_dim(ints, 1), 10);
	}
	lb_file_close(file);
	file = lb_open(at("bad-quant.gguf"));
	LB_SCOPE
		assert_int_equal(lb_nbytes(lb_file_get_raw(file, "x")), 18);
	lb_file_close(file);
	must_be_ok("raw");
}

static void decode_refuses(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *bytes = lb_zeros(LB_SHAPE(36), LB_U8);
		assert_null(lb_decode(bytes, LB_Q4_0, LB_SHAPE(32), LB_F32));
		assert_true(error_has("decode 18 36"));
		assert_null(lb_decode(bytes, LB_Q4_0, LB_SHAPE(2, 33), LB_F32));
		assert_true(error_has("multiple of 32 Q4_0"));
		assert_null(lb_decode(bytes, LB_Q4_0, LB_SHAPE(64), LB_F64));
		assert_true(error_has("Q4_0 float64"));
		assert_null(lb_decode(bytes, LB_ENCODINGS, LB_SHAPE(64), LB_F32));
		assert_true(error_has("encoding 29"));
		assert_null(lb_decode(lb_zeros(LB_SHAPE(9), LB_F32), LB_LITTLE_ENDIAN, LB_SHAPE(9), LB_F32));
		assert_true(error_has("uint8 float32"));
	}
}

/* ---- metadata ---- */

static void metadata(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
		{ "general.architecture", "llama" },
		{ "u8", "200" },
		{ "i8", "-100" },
		{ "u16", "60000" },
		{ "i16", "-30000" },
		{ "u32", "4000000000" },
		{ "i32", "-2000000000" },
		{ "f32", "1.5" },
		{ "yes", "true" },
		{ "u64", "18446744073709551615" },
		{ "i64", "-9223372036854775808" },
		{ "f64", "0.10000000000000001" },
	};
	lb_file *file = lb_open(at("all.gguf"));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_string_equal(lb_file_metadata(file, texts[i][0]), texts[i][1]);
		assert_string_equal(lb_file_metadata_key(file, (int64_t)i), texts[i][0]);
		assert_int_equal(lb_file_metadata_length(file, texts[i][0]), 1);
	}
	assert_int_equal(lb_file_metadata_count(file), 16);
	assert_int_equal(lb_file_metadata_length(file, "tokens"), 4);
	assert_int_equal(lb_file_metadata_length(file, "nothing"), 0);
	assert_int_equal(lb_file_metadata_length(file, "nobody"), -1);
	assert_null(lb_file_metadata(file, "tokens"));
	assert_null(lb_file_metadata(file, "nobody"));
	must_be_ok("metadata");
	static const int order[] = { 0, 1, 2, 3, 3, 1, 0, 2 };
	static const struct {
		const char *text;
		size_t n;
	} tokens[] = {
		{ "a", 1 },
		{ "", 0 },
		{ "\xc3\xa9", 2 },
		{ "\xff\0z", 3 },
	};
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		size_t n;
		const char *text = lb_file_metadata_string(file, "tokens", order[i], &n);
		assert_non_null(text);
		assert_int_equal(n, tokens[order[i]].n);
		assert_memory_equal(text, tokens[order[i]].text, n);
	}
	size_t n;
	assert_null(lb_file_metadata_string(file, "tokens", 4, &n));
	assert_true(error_has("'tokens' 4"));
	assert_null(lb_file_metadata_string(file, "scores", 0, &n));
	assert_true(error_has("'scores'"));
	assert_null(lb_file_metadata_string(file, "nobody", 0, &n));
	assert_true(error_has("'nobody'"));
	LB_SCOPE {
		lb_tensor *scores = lb_file_metadata_tensor(file, "scores");
		assert_int_equal(lb_dtype_of(scores), LB_F32);
		assert_true(lb_item(lb_sum(scores, LB_ALL_AXES, false)) == 1.5);
		assert_int_equal(lb_item_int(lb_sum(lb_file_metadata_tensor(file, "types"), LB_ALL_AXES, false)), 2);
		assert_true(lb_item(lb_file_metadata_tensor(file, "f64")) == 0.1);
		assert_null(lb_file_metadata_tensor(file, "tokens"));
		assert_true(error_has("'tokens' text"));
	}
	lb_file_close(file);
	file = lb_open(at("all.safetensors"));
	assert_int_equal(lb_file_metadata_count(file), 2);
	assert_string_equal(lb_file_metadata(file, "format"), "pt");
	assert_string_equal(lb_file_metadata(file, "quote\"d"), "\xc3\xa9\xe4\xb8\xad \xf0\x9f\xa6\x80");
	lb_file_close(file);
}

/* ---- lifetime and memory ---- */

static bool is_mapped(const char *path)
{
	char line[4400];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps))
		found |= strstr(line, path) != NULL;
	if (maps)
		fclose(maps);
	return found;
}

static void tensors_hold_the_mapping(void **state)
{
	(void)state;
	lb_file *file;
	LB_SCOPE {
		lb_tensor *x = lb_keep(first_of(at("small.gguf"), &file));
		lb_file_close(file);
		assert_true(is_mapped("small.gguf"));
		assert_true(isfinite(lb_item(lb_sum(x, LB_ALL_AXES, false))));
		lb_release(x);
	}
	assert_false(is_mapped("small.gguf"));
	file = lb_open(at("small.gguf"));
	assert_true(is_mapped("small.gguf"));
	lb_file_close(file);
	assert_false(is_mapped("small.gguf"));
	must_be_ok("lifetime");
}

static int64_t resident_bytes(void)
{
	long pages = 0, resident = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%ld %ld", &pages, &resident), 2);
	fclose(statm);
	return resident * sysconf(_SC_PAGESIZE);
}

/* A safetensors file of n float32 tensors of `size` elements each that takes no disk; element
 * `size - 1` of each is 1.5. */
static void sparse_file(const char *path, int n, int64_t size)
{
	char header[4096] = "{";
	for (int i = 0; i < n; i++)
		snprintf(header + strlen(header), sizeof header - strlen(header),
			 "%s\"t%d\":{\"dtype\":\"F32\",\"shape\":[%lld],\"data_offsets\":[%lld,%lld]}", i ? "," : "", i,
			 (long long)size, (long long)(i * size * 4), (long long)((i + 1) * size * 4));
	strcat(header, "}");
	while ((strlen(header) + 8) % 64)
		strcat(header, " ");
	uint64_t length = strlen(header);
	float last = 1.5f;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &length, 8, 0), 8);
	assert_int_equal(pwrite(fd, header, length, 8), length);
	for (int i = 1; i <= n; i++)
		assert_int_equal(pwrite(fd, &last, 4, (off_t)(8 + length) + i * size * 4 - 4), 4);
	close(fd);
}

static void four_gibibytes(void **state)
{
	(void)state;
	const char *path = at("four.safetensors");
	sparse_file(path, 1, 1 << 30);
	uint64_t active = lb_active_memory();
	int64_t before = resident_bytes();
	LB_SCOPE {
		lb_file *file;
		lb_tensor *x = first_of(path, &file);
		must_be_ok("4 GiB");
		assert_int_equal(lb_nbytes(x), (int64_t)4 << 30);
		assert_true(lb_is_ready(x));
		assert_int_equal(lb_active_memory(), active);
		lb_tensor *last = lb_slice(x, LB_AT(-1));
		assert_true(lb_item(last) == 1.5);
		assert_true(resident_bytes() - before < 16 << 20);
		lb_file_close(file);
	}
	unlink(path);
	must_be_ok("4 GiB");
}

/* Casting every tensor of a model, evaluated together: at no time is there more than the
 * results and one tensor's worth besides. */
static void a_cast_holds_one_tensor(void **state)
{
	(void)state;
	enum { N = 8, SIZE = 1 << 20 };
	const char *path = at("model.safetensors");
	sparse_file(path, N, SIZE);
	lb_file *file = lb_open(path);
	lb_tensor *halves[N];
	uint64_t active = lb_active_memory();
	lb_reset_peak_memory();
	LB_SCOPE {
		for (int i = 0; i < N; i++)
			halves[i] = lb_astype(lb_file_get_at(file, i), LB_F16);
		assert_true(lb_eval_n(N, halves));
		assert_true(lb_peak_memory() - active <= N * SIZE * 2);
		assert_true(lb_item(lb_slice(halves[N - 1], LB_AT(-1))) == 1.5);
	}
	lb_file_close(file);
	unlink(path);
	/* quantised: float32 in between, of one tensor at a time */
	int64_t nbytes = SIZE / 32 * 34;
	active = lb_active_memory();
	LB_SCOPE {
		lb_tensor *bytes[N];
		for (int i = 0; i < N; i++)
			bytes[i] = lb_full(LB_SHAPE(nbytes), i, LB_U8);
		assert_true(lb_eval_n(N, bytes));
		active = lb_active_memory();
		lb_reset_peak_memory();
		for (int i = 0; i < N; i++)
			halves[i] = lb_astype(lb_decode(bytes[i], LB_Q8_0, LB_SHAPE(SIZE), LB_F32), LB_F16);
		assert_true(lb_eval_n(N, halves));
		assert_true(lb_peak_memory() - active <= N * SIZE * 2 + SIZE * 4);
	}
	must_be_ok("casts");
}

/* ---- saving ---- */

static char saved[4200];

static const char *in_saved(const char *name)
{
	static char path[4400];
	snprintf(path, sizeof path, "%s/%s", saved, name);
	return path;
}

/* Leaves what NumPy should find: dtype, shape, elements. */
static void expect_saved(const char *file, const char *key, lb_tensor *x)
{
	char name[300];
	snprintf(name, sizeof name, "%s@%s.expected", file, key);
	FILE *f = fopen(in_saved(name), "wb");
	assert_non_null(f);
	fprintf(f, "%s\n", lb_dtype_name(lb_dtype_of(x)));
	for (int i = 0; i < lb_rank(x); i++)
		fprintf(f, "%lld,", (long long)lb_dim(x, i));
	fputc('\n', f);
	fwrite(lb_data(x), 1, (size_t)lb_nbytes(x), f);
	fclose(f);
}

static lb_tensor *sample(lb_dtype dtype, int i)
{
	lb_tensor *x = lb_multiply(lb_random_normal(LB_SHAPE(3, 4, 5), LB_F32, lb_key((uint64_t)i)), lb_scalar(20));
	if (i % 3 == 1)
		x = lb_transpose(x, LB_ALL_AXES);
	if (i % 3 == 2)
		x = lb_slice(x, LB_AT(0), LB_ALL, LB_REVERSED);
	if (dtype >= LB_U8 && dtype <= LB_U64)
		x = lb_abs(x);
	return lb_astype(x, dtype);
}

/* What the library calls: whether a saved file had its name when its bytes were sent to the disk. */
static const char *watched;
static int synced_before, synced_after;

int fsync(int fd)
{
	if (watched)
		*(access(watched, F_OK) == 0 ? &synced_after : &synced_before) += 1;
	return (int)syscall(SYS_fsync, fd);
}

/* A saver that was killed leaves its file, which the next removes; not one that still writes. */
static void saves_last_and_leave_nothing(void **state)
{
	static const char *const files[] = { "left.npy.1-0.new", "left.npy.77-12.new", "left.npy.5-0.new",
					     "left.npy.x-0.new", "left.npy.1-0.newer", "other.npy.1-0.new" };
	static const bool stay[] = { false, false, true, true, true, true };
	int writes = -1;
	(void)state;
	snprintf(saved, sizeof saved, "%s/saved", folder);
	mkdir(saved, 0777);
	for (int i = 0; i < 6; i++) {
		int fd = open(in_saved(files[i]), O_WRONLY | O_CREAT, 0666);
		assert_true(fd >= 0);
		if (i == 2)
			assert_int_equal(flock(writes = fd, LOCK_EX), 0);
		else
			close(fd);
	}
	char path[9000];
	snprintf(path, sizeof path, "%s", in_saved("left.npy"));
	unlink(path);
	watched = path;
	synced_before = synced_after = 0;
	LB_SCOPE
		assert_true(lb_save_npy(path, lb_ones(LB_SHAPE(3), LB_F32)));
	watched = NULL;
	assert_int_equal(synced_before, 1); /* the bytes */
	assert_int_equal(synced_after, 1);  /* the folder */
	for (int i = 0; i < 6; i++) {
		assert_int_equal(access(in_saved(files[i]), F_OK) == 0, stay[i]);
		unlink(in_saved(files[i]));
	}
	close(writes);
}

static const char *taken_over; /* by another saver, when a lock is asked for next */

int flock(int fd, int operation)
{
	if (taken_over) {
		close(open(in_saved("other"), O_WRONLY | O_CREAT, 0666));
		rename(in_saved("other"), taken_over);
		taken_over = NULL;
	}
	return (int)syscall(SYS_flock, fd, operation);
}

/* The name was another file's by the time that the one found could be locked. */
static void what_others_save_stays(void **state)
{
	char path[9000], temporary[9100];
	(void)state;
	snprintf(saved, sizeof saved, "%s/saved", folder);
	mkdir(saved, 0777);
	snprintf(path, sizeof path, "%s", in_saved("both.npy"));
	snprintf(temporary, sizeof temporary, "%s.1-0.new", path);
	close(open(temporary, O_WRONLY | O_CREAT, 0666));
	taken_over = temporary;
	LB_SCOPE
		assert_true(lb_save_npy(path, lb_ones(LB_SHAPE(3), LB_F32)));
	assert_null(taken_over);
	assert_int_equal(access(temporary, F_OK), 0);
	unlink(temporary);
}

static void saved_files(void **state)
{
	(void)state;
	snprintf(saved, sizeof saved, "%s/saved", folder);
	char command[9000];
	snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", saved, saved);
	assert_int_equal(system(command), 0);
	LB_SCOPE {
		enum { MORE = 3, N = LB_DTYPES + MORE };
		const char *names[N];
		lb_tensor *xs[N];
		for (int i = 0; i < LB_DTYPES; i++) {
			names[i] = lb_dtype_name((lb_dtype)i);
			xs[i] = sample((lb_dtype)i, i);
		}
		names[LB_DTYPES] = "scalar";
		xs[LB_DTYPES] = lb_full(LB_SHAPE(), 2.5, LB_F64);
		names[LB_DTYPES + 1] = "none";
		xs[LB_DTYPES + 1] = lb_zeros(LB_SHAPE(2, 0, 3), LB_I32);
		names[LB_DTYPES + 2] = "odd \"name\" \xc3\xa9\\\n";
		xs[LB_DTYPES + 2] = lb_arange(0, 7, 1, LB_U8);
		assert_true(lb_save_safetensors(in_saved("all.safetensors"), N, names, xs));
		for (int i = 0; i < N; i++)
			expect_saved("all.safetensors", names[i], xs[i]);
		/* .npy has no bfloat16 */
		assert_false(lb_save_npy(in_saved("b.npy"), xs[LB_BF16]));
		assert_true(error_has("bfloat16 float32 safetensors"));
		assert_false(lb_save_npz(in_saved("b.npz"), N, names, xs));
		assert_true(error_has("bfloat16"));
		assert_int_not_equal(access(in_saved("b.npz"), F_OK), 0);
		xs[LB_BF16] = lb_astype(xs[LB_BF16], LB_F32);
		assert_true(lb_save_npz(in_saved("all.npz"), N, names, xs));
		for (int i = 0; i < N; i++) {
			char file[300];
			expect_saved("all.npz", names[i], xs[i]);
			snprintf(file, sizeof file, "%d.npy", i);
			assert_true(lb_save_npy(in_saved(file), xs[i]));
			expect_saved(file, "x", xs[i]);
		}
		assert_true(lb_save_npz(in_saved("empty.npz"), 0, NULL, NULL));
		assert_true(lb_save_safetensors(in_saved("empty.safetensors"), 0, NULL, NULL));
		/* and back: aligned, so in place */
		static const char *const containers[] = { "all.safetensors", "all.npz" };
		for (int c = 0; c < 2; c++) {
			lb_file *file = lb_open(in_saved(containers[c]));
			assert_int_equal(lb_file_count(file), N);
			for (int i = 0; i < N; i++) {
				lb_tensor *x = lb_file_get(file, names[i]);
				must_be_ok(names[i]);
				assert_true(lb_is_ready(x) || lb_dtype_of(x) == LB_BOOL);
				assert_int_equal(lb_rank(x), lb_rank(xs[i]));
				if (c == 0 && i == LB_BF16) /* the .npz has it as float32 */
					continue;
				assert_int_equal(lb_nbytes(x), lb_nbytes(xs[i]));
				assert_memory_equal(lb_data(x), lb_data(xs[i]), (size_t)lb_nbytes(x));
			}
			lb_file_close(file);
		}
	}
	must_be_ok("saved");
	snprintf(command, sizeof command, "/usr/bin/python3 tests/unit/files.py --check '%s'", saved);
	assert_int_equal(system(command), 0);
}

static void saving_replaces(void **state)
{
	(void)state;
	char path[4400];
	snprintf(path, sizeof path, "%s/replaced.npy", folder);
	LB_SCOPE {
		assert_true(lb_save_npy(path, lb_ones(LB_SHAPE(100), LB_F32)));
		lb_tensor *old = lb_load_npy(path);
		/* its own file, while it is mapped */
		assert_true(lb_save_npy(path, lb_slice(lb_multiply(old, lb_scalar(3)), LB_TO(10))));
		assert_true(lb_item(lb_sum(old, LB_ALL_AXES, false)) == 100);
		assert_true(lb_item(lb_sum(lb_load_npy(path), LB_ALL_AXES, false)) == 30);
		lb_tensor *x = lb_ones(LB_SHAPE(2), LB_F32);
		assert_false(lb_save_npy("/nonexistent/x.npy", x));
		assert_true(error_has("/nonexistent/x.npy written"));
		assert_false(lb_save_npy(folder, x));
		assert_true(error_has("not a regular file"));
		/* through a link, which stays one */
		char link[4400];
		snprintf(link, sizeof link, "%s/link.npy", folder);
		unlink(link);
		assert_int_equal(symlink("replaced.npy", link), 0);
		assert_true(lb_save_npy(link, lb_full(LB_SHAPE(10), 3, LB_F32)));
		struct stat st;
		assert_int_equal(lstat(link, &st), 0);
		assert_true(S_ISLNK(st.st_mode));
		unlink(link);
		static const char *const twice[] = { "a", "a" };
		lb_tensor *xs[] = { x, x };
		assert_false(lb_save_npz(path, 2, twice, xs));
		assert_true(error_has("two 'a'"));
		static const char *const reserved[] = { "__metadata__" };
		assert_false(lb_save_safetensors(path, 1, reserved, xs));
		assert_true(error_has("__metadata__"));
		assert_false(lb_save_safetensors(path, 2, (const char *[]){ "a", "\xff" }, xs));
		assert_true(error_has("name 1 UTF-8"));
		assert_false(lb_save_npz(path, 2, (const char *[]){ "a", "b" }, (lb_tensor *[]){ x, NULL }));
		assert_true(error_has("tensor 1"));
		assert_true(lb_item(lb_sum(lb_load_npy(path), LB_ALL_AXES, false)) == 30);
	}
	must_be_ok("replaced");
	unlink(path);
}

/* ---- damage ---- */

static const char *const small[] = {
	"float32-3.npy",  "version3.npy",       "odd.npy",    "mixed.npz", "whole-stored.npz", "whole-packed.npz",
	"f8.safetensors", "pretty.safetensors", "small.gguf",
};
enum { SMALL = sizeof small / sizeof *small, MAX_BYTES = 1 << 16 };

/* Every file is used to its last byte, so none can be read when one is missing. */
static void truncation(void **state)
{
	(void)state;
	for (int f = 0; f < SMALL; f++) {
		struct content c = content_of(at(small[f]));
		for (size_t n = 0; n < c.n; n++) {
			if (file_walk(c.bytes, n, MAX_BYTES))
				fail_msg("%s: %zu bytes of %zu have been read", small[f], n, c.n);
			assert_true(strncmp(lb_error_message(), "file: ", 6) == 0);
			lb_clear_error();
		}
		free(c.bytes);
	}
	/* on disk, too */
	struct content c = content_of(at("small.gguf"));
	char path[4400];
	snprintf(path, sizeof path, "%s/cut.gguf", folder);
	for (size_t n = 0; n < c.n; n += 7) {
		FILE *f = fopen(path, "wb");
		assert_non_null(f);
		fwrite(c.bytes, 1, n, f);
		fclose(f);
		assert_null(lb_open(path));
		assert_true(error_has("cut.gguf"));
	}
	unlink(path);
	free(c.bytes);
}

/* A changed bit gives other values or an error, and nothing worse. */
static void bit_flips(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	int errors = 0, total = 0, step = is_instrumented() ? 5 : 1;
	for (int f = 0; f < SMALL; f++) {
		struct content c = content_of(at(small[f]));
		for (size_t bit = 0; bit < c.n * 8; bit += (size_t)step, total++) {
			c.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			bool ok = file_walk(c.bytes, c.n, MAX_BYTES);
			if (ok != lb_ok())
				fail_msg("%s, bit %zu: %s", small[f], bit, ok ? lb_error_message() : "no message");
			errors += !ok;
			lb_clear_error();
			c.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		free(c.bytes);
	}
	assert_true(errors > total / 10);
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

int main(int argc, char **argv)
{
	static char path[4096];
	const char *slash = strrchr(argv[0], '/');
	snprintf(path, sizeof path, "%.*s/files", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
	folder = argc > 1 ? argv[1] : path;
	const struct CMUnitTest tests[] = {
		TEST(good_files),
		TEST(bad_files),
		TEST(missing_files),
		TEST(formats_and_order),
		TEST(in_place),
		TEST(raw_bytes),
		TEST(quantised_blocks),
		TEST(decode_refuses),
		TEST(metadata),
		TEST(tensors_hold_the_mapping),
		TEST(four_gibibytes),
		TEST(a_cast_holds_one_tensor),
		TEST(saved_files),
		TEST(saves_last_and_leave_nothing),
		TEST(what_others_save_stays),
		TEST(safetensors_metadata),
		TEST(gguf_is_written),
		TEST(saving_replaces),
		TEST(truncation),
		TEST(bit_flips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
