/* Tensors in blocks and of quantised integers, of a made-up provider: whatever an inspection shows of them is
 * what they decode to. The expected values are worked out here, from the formats' definitions:
 *
 *	q4_0  f16 d | 16 bytes: low nibbles are elements 0 … 15, high ones 16 … 31; (q - 8) * d
 *	q8_0  f16 d | 32 int8: q * d
 *	affine integers: (q - zero) * scale */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/operand/operand.h"
#include "made.h"
#include "says.h"

enum { AT = IMAGE_DATA + 0x8000, LARGE_AT = IMAGE_DATA + 0x10000, LARGE_ROWS = 4, LARGE_COLUMNS = 40000 };

static const double half[] = { 0.5 }, each[] = { 1, 0.5, 2 };
static const int64_t three[] = { 3 }, middle[] = { 128 }, zeros[] = { 0, 1, -1 };

static const struct lbx_encoding of_all = {
	.name = "qint8", .dtype = LB_F32, .elements = 1, .bytes = 1, .stored = LB_I8, .axis = -1, .n_scales = 1,
	.scales = half, .zeros = three,
}, of_unsigned = {
	.name = "quint8", .dtype = LB_F32, .elements = 1, .bytes = 1, .stored = LB_U8, .axis = -1, .n_scales = 1,
	.scales = half, .zeros = middle,
}, of_columns = {
	.name = "qint8", .dtype = LB_F32, .elements = 1, .bytes = 1, .stored = LB_I8, .axis = 1, .n_scales = 3,
	.scales = each, .zeros = zeros,
}, of_too_few = {
	.name = "qint8", .dtype = LB_F32, .elements = 1, .bytes = 1, .stored = LB_I8, .axis = 1, .n_scales = 2,
	.scales = each, .zeros = zeros,
};

enum { W4 = 1, W8, QT, QU, QC, W4T, SHORT, FEW, LARGE, LAZY, TENSORS = LAZY };

static const struct {
	const char *name, *blocks;
	const struct lbx_encoding *encoding;
	int64_t shape[2], strides[2], at, bytes;
} rows[TENSORS] = {
	{ "w4", "q4_0", NULL, { 3, 64 }, { 64, 1 }, AT, 108 },
	{ "w8", "q8_0", NULL, { 2, 32 }, { 32, 1 }, AT + 0x100, 68 },
	{ "qt", NULL, &of_all, { 2, 3 }, { 3, 1 }, AT + 0x200, 6 },
	{ "qu", NULL, &of_unsigned, { 2, 3 }, { 3, 1 }, AT + 0x200, 6 },
	{ "qc", NULL, &of_columns, { 2, 3 }, { 3, 1 }, AT + 0x300, 6 },
	{ "w4t", "q4_0", NULL, { 64, 3 }, { 1, 64 }, AT, 108 },
	{ "short", "q4_0", NULL, { 3, 64 }, { 64, 1 }, AT, 107 },
	{ "few", NULL, &of_too_few, { 2, 3 }, { 3, 1 }, AT + 0x300, 6 },
	{ "large", "q4_0", NULL, { LARGE_ROWS, LARGE_COLUMNS }, { LARGE_COLUMNS, 1 }, LARGE_AT, 90000 },
	{ "lazy", NULL, NULL, { 3, 64 }, { 64, 1 }, 0, 0 },
};

static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	bool ready = i != LAZY;

	*ret = (struct lbx_tensor){
		.state = ready ? LBX_READY : LBX_LAZY,
		.dtype = LB_F32,
		.encoding = rows[i - 1].blocks ? lbx_encoding_of_blocks(rows[i - 1].blocks) : rows[i - 1].encoding,
		.op = ready ? "weight" : "negative",
		.op_class = ready ? LB_CLASS_LEAF : LB_CLASS_UNARY,
		.rank = 2,
		.layout_known = true,
		.size = rows[i - 1].shape[0] * rows[i - 1].shape[1],
		.n_inputs = !ready,
		.buffer_id = ready ? i : 0,
		.data = (uint64_t)rows[i - 1].at,
		.buffer_bytes = rows[i - 1].bytes,
		.buffer_refs = ready,
	};
	memcpy(ret->axes.few.shape, rows[i - 1].shape, sizeof rows[i - 1].shape);
	memcpy(ret->axes.few.strides, rows[i - 1].strides, sizeof rows[i - 1].strides);
	snprintf(ret->name, sizeof ret->name, "%s", rows[i - 1].name);
}

static void make_buffer(uint64_t i, struct lbx_buffer *ret)
{
	int64_t n = rows[i - 1].bytes;

	*ret = (struct lbx_buffer){ .data = (uint64_t)rows[i - 1].at, .nbytes = n, .capacity = n, .refs = 1 };
}

static uint64_t input_of(const struct lbx_tensor *t, uint32_t i)
{
	(void)t, (void)i;
	return W4;
}

static const struct made made = {
	.n = TENSORS,
	.n_buffers = LARGE,
	.tensor = make_tensor,
	.buffer = make_buffer,
	.input = input_of,
};

/* ---- the bytes, and what they say ---- */

static int q4(int64_t block, int64_t i)
{
	return (int)((i < 16 ? i + block : 31 - i + block) % 16);
}

/* f16 of 0.5, 1, 1.5, … are 0x3800, 0x3c00, 0x3e00: of the first few. */
static const uint16_t steps[] = { 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4100, 0x4200 };
enum { STEPS = sizeof steps / sizeof *steps };

static void put_q4(unsigned char *to, int64_t n)
{
	for (int64_t b = 0; b < n; b++, to += 18) {
		to[0] = (unsigned char)(steps[b % STEPS] & 0xff);
		to[1] = (unsigned char)(steps[b % STEPS] >> 8);
		for (int i = 0; i < 16; i++)
			to[2 + i] = (unsigned char)(q4(b, i) | q4(b, i + 16) << 4);
	}
}

static float w4(int64_t element)
{
	int64_t block = element / 32;

	return (float)(q4(block, element % 32) - 8) * 0.5f * (float)(block % STEPS + 1);
}

static void put(struct image *image)
{
	static const uint16_t d8[] = { 0xb400 /* -0.25 */, 0x0001 /* 2^-24 */ };
	static const int8_t few[] = { -128, -1, 0, 1, 3, 127 }, columns[] = { 1, 2, 3, 4, 5, 6 };
	unsigned char *to = image_at(image, AT + 0x100, 68);

	put_q4(image_at(image, AT, 108), 6);
	put_q4(image_at(image, LARGE_AT, 90000), 5000);
	for (int r = 0; r < 2; r++, to += 34) {
		to[0] = (unsigned char)(d8[r] & 0xff);
		to[1] = (unsigned char)(d8[r] >> 8);
		for (int i = 0; i < 32; i++)
			to[2 + i] = (unsigned char)(i * 8 - 128);
	}
	memcpy(image_at(image, AT + 0x200, sizeof few), few, sizeof few);
	memcpy(image_at(image, AT + 0x300, sizeof columns), columns, sizeof columns);
}

/* In memory that is mapped here, and in memory that is read. */
static int begin(void **state, bool maps)
{
	struct session *s = session_create(false);

	put(&s->image);
	s->image.maps = maps;
	made_alone(s, &made);
	*state = s;
	return 0;
}

static int begin_mapped(void **state)
{
	return begin(state, true);
}

static int begin_read(void **state)
{
	return begin(state, false);
}

/* ---- values ---- */

struct pieces {
	float *to;
};

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	const struct pieces *p = context;

	memcpy(p->to + first, elements, (size_t)n * sizeof *p->to);
	return true;
}

/* The n elements, read in every way that there is: each must be as it is expected. */
static void is(struct session *s, const char *text, const float *expected, int64_t n)
{
	struct lbx_operand operand;
	float values[256] = { 0 };
	int64_t at[LBX_RANK_MAX];

	assert_true(n <= 256);
	if (!lbx_operand_tensor(&s->context, text, &operand))
		fail_msg("%s: %s", text, lb_error_message());
	assert_int_equal(operand.array.size, n);
	for (int way = 0; way < 4; way++) {
		bool ok = true;
		memset(values, 0, sizeof values);
		if (way == 0)
			ok = lbx_array_copy(&operand.array, 0, n, values);
		else if (way == 1)
			ok = lbx_array_walk(&operand.array, &s->out, "reading", 7, add_piece,
					    &(struct pieces){ values });
		for (int64_t i = 0; ok && way > 1 && i < n; i++) {
			lbx_array_coordinates(&operand.array, i, at);
			ok = way == 2 ? lbx_array_get(&operand.array, at, &values[i])
				      : lbx_array_copy(&operand.array, i, 1, &values[i]);
		}
		if (!ok)
			fail_msg("%s, way %d: %s", text, way, lb_error_message());
		for (int64_t i = 0; i < n; i++)
			if (memcmp(&values[i], &expected[i], sizeof *values) != 0)
				fail_msg("%s, way %d: element %d is %g, not %g", text, way, (int)i, (double)values[i],
					 (double)expected[i]);
	}
	assert_null(lbx_array_in_place(&operand.array));
	lbx_operand_release(&operand);
}

/* Rows and columns, from and to everywhere, by steps: most of them begin and end within a block. */
static void slices_cut_blocks(void **state)
{
	static const int by[] = { 1, 2, 7, 33, -1, -5 };
	struct session *s = *state;
	float expected[256];
	char text[64];

	for (int64_t from = 0; from < 64; from += 3)
		for (int64_t to = 0; to < 64; to += 5)
			for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
				int64_t n = 0;
				for (int64_t i = from; by[k] > 0 ? i < to : i > to; i += by[k])
					expected[n++] = w4(64 + i);
				if (n == 0)
					continue;
				snprintf(text, sizeof text, "w4[1, %d:%d:%d]", (int)from, (int)to, by[k]);
				is(s, text, expected, n);
				snprintf(text, sizeof text, "w4t[%d:%d:%d, 1]", (int)from, (int)to, by[k]);
				is(s, text, expected, n);
			}
	for (int64_t i = 0; i < 192; i++)
		expected[i] = w4(i);
	is(s, "w4", expected, 192);
	for (int64_t i = 0; i < 192; i++)
		expected[i] = w4(i % 3 * 64 + i / 3);
	is(s, "w4t", expected, 192);
	for (int64_t i = 0; i < 6; i++)
		expected[i] = w4((2 - i / 2) * 64 + 31 + i % 2);
	is(s, "w4[::-1, 31:33]", expected, 6);
	is(s, "w4[::-1][None, :, 31:33]", expected, 6);
}

static void eight_bits_are_decoded(void **state)
{
	struct session *s = *state;
	float expected[64];

	for (int i = 0; i < 64; i++)
		expected[i] = (float)(i % 32 * 8 - 128) * (i < 32 ? -0.25f : 0x1p-24f);
	is(s, "w8", expected, 64);
	is(s, "w8[1, 30:]", expected + 62, 2);
	says(s, "print", "w8[0, :3]", "w8[0, :3]: q8_0 (3,)\n[32. 30. 28.]\n");
	says(s, "print", "w8[0, :3] --json", "\"values\":[32.0,30.0,28.0]");
}

static void integers_are_scaled(void **state)
{
	static const float qt[] = { -65.5f, -2, -1.5f, -1, 0, 62 }, qu[] = { 0, 63.5f, -64, -63.5f, -62.5f, -0.5f };
	static const float qc[] = { 1, 0.5f, 8, 4, 2, 14 }, turned[] = { 14, 2, 4, 8, 0.5f, 1 };
	static const float second[] = { 0.5f, 2 }, column[] = { 8, 14 }, even[] = { 1, 8, 4, 14 };
	struct session *s = *state;

	is(s, "qt", qt, 6);
	is(s, "qt[1]", qt + 3, 3);
	is(s, "qu", qu, 6);
	is(s, "qc", qc, 6);
	is(s, "qc[1]", qc + 3, 3);
	is(s, "qc[..., 1]", second, 2);
	is(s, "qc[:, 2]", column, 2);
	is(s, "qc[:, 2:]", column, 2);
	is(s, "qc[:, ::2]", even, 4);
	is(s, "qc[:, ::-1][::-1]", turned, 6);
	is(s, "qc[None, :, 1:][0, :, 1]", column, 2);
	is(s, "qc[1, 1]", qc + 4, 1);
	says(s, "print", "qc", "qc: qint8 (2, 3)\n[[ 1.   0.5  8. ]\n [ 4.   2.  14. ]]\n");
	says(s, "print", "few", "is damaged: it has 2 scales for axis 1");
}

/* More than is read at once. */
static void large_ones_are_summed_up(void **state)
{
	struct session *s = *state;
	double sum = 0, low = 0, high = 0;
	char text[64];

	for (int64_t i = 0; i < LARGE_ROWS * LARGE_COLUMNS; i++) {
		sum += w4(i);
		low = fmin(low, w4(i));
		high = fmax(high, w4(i));
	}
	snprintf(text, sizeof text, "\"sum\":%.1f", sum);
	says(s, "stats", "large --json", text);
	snprintf(text, sizeof text, "\"min\":%.1f", low);
	says(s, "stats", "large --json", text);
	snprintf(text, sizeof text, "\"max\":%.1f", high);
	says(s, "stats", "large --json", text);
	says(s, "stats", "large[:, ::-1] --json", text);
	says(s, "diff", "large large[::-1][::-1]", "equal");
	sum = 0;
	for (int64_t i = 0; i < LARGE_ROWS * LARGE_COLUMNS; i++)
		sum += i % LARGE_COLUMNS >= 5 && i % LARGE_COLUMNS % 3 == 2 ? w4(i) : 0;
	snprintf(text, sizeof text, "\"sum\":%.1f", sum);
	says(s, "stats", "large[:, 5::3] --json", text);
	snprintf(text, sizeof text, "[%g", (double)w4(2 * LARGE_COLUMNS + 39999));
	says(s, "print", "large[2, -1:]", text);
}

/* Scales and codes of blocks, and where they are, however they are permuted. */
static void quant_takes_blocks_apart(void **state)
{
	static const char each[] = "[12,12,12,12,12,12,12,12,12,12,12,12,12,12,12,12]";
	struct session *s = *state;

	says(s, "quant", "w4",
	     "): q4_0\n"
	     "  blocks         of 32 elements in 18 bytes\n"
	     "  values         (3, 64), in 108 B: 4.5 bits each\n"
	     "  scales         from 0.5 to 3, median 1.75\n"
	     "  codes          4 bits: 16 different, from -8 (6.25%) to 7 (6.25%)\n"
	     "  histogram            -8 #");
	says(s, "quant", "w4 --json", each);
	says(s, "quant", "w4t", "  scales         from 0.5 to 3, median 1.75\n");
	says(s, "quant", "w4t --json", each);
	says(s, "quant", "w8",
	     "from 5.9605e-08 to 0.25, median 0.125, 1 denormal (first at\n                 [1, 0])\n");
	says(s, "quant", "w8", "8 bits: 32 different, from -128 (3.12%) to 120 (3.12%)\n");
	says(s, "quant", "large", "  codes          4 bits: 16 different, from -8 (6.25%) to 7 (6.25%)\n");
	says(s, "quant", "short", "is corrupt");
	says(s, "quant", "w4[0, :3]", "w4[0, :3]: q4_0 (3,), dequantised from q4_0\n[-4.  -3.5 -3. ]\n");
	says(s, "quant", "w8 --values --json", "\"values\":[[32.0,30.0,28.0");
	says(s, "quant", "qt", "'qt' is qint8, whose scales lie elsewhere: `info` tells what is known of them");
	says(s, "quant", "w4 --scales w8", "quant: --scales is not for q4_0, whose blocks have their scales within");
}

/* What no quantisation makes: named, with its place. */
static void quant_tells_odd_scales(void **state)
{
	static const uint16_t odd[] = { 0x7e00, 0x7c00, 0x0000, 0x7bff };
	struct session *s = *state;

	for (int i = 0; i < 4; i++)
		memcpy(image_at(&s->image, AT + (uint64_t)i * 18, 2), &odd[i], 2);
	says(s, "quant", "w4",
	     "  scales         from 0 to inf, median 3, 1 zero (first at [1, 0]), 1 NaN (first\n"
	     "                 at [0, 0]), 1 Inf (first at [0, 32]), 2 beyond 64 times the\n"
	     "                 median (first at [0, 32])\n");
	says(s, "quant", "w4",
	     "  - 2 of the scales are no finite numbers: all elements of such a block are NaN\n    or Inf\n");
	says(s, "quant", "w4t", "1 Inf (first at [32, 0])");
}

/* Memory that is no tensor's, in blocks. */
static void blocks_are_viewed(void **state)
{
	struct session *s = *state;
	float expected[64];

	for (int i = 0; i < 64; i++)
		expected[i] = w4(127 - i);
	is(s, "@0x208000:q4_0:3,64[1, ::-1]", expected, 64);
	is(s, "@0x208012:q4_0:64,2:1,64[::-1, 0][32:]",
	   (float[]){ w4(63), w4(62), w4(61), w4(60), w4(59), w4(58), w4(57), w4(56), w4(55), w4(54), w4(53),
		      w4(52), w4(51), w4(50), w4(49), w4(48), w4(47), w4(46), w4(45), w4(44), w4(43), w4(42),
		      w4(41), w4(40), w4(39), w4(38), w4(37), w4(36), w4(35), w4(34), w4(33), w4(32) },
	   32);
	says(s, "view", "0x208100 q8_0 2,32[0, :3]", "@0x208100[0, :3]: q8_0 (3,)\n[32. 30. 28.]\n");
	says(s, "view", "0x208100 q8_0 2,32 -32,1", "instead of negative strides, take a slice");
	says(s, "print", "@0x208100:Q8_0:2,32[0, :3]", "@0x208100[0, :3]: q8_0 (3,)\n[32. 30. 28.]\n");
	says(s, "view", "0x208100 q9_0 2,32", "f64, c64, and ggml's q4_0, q4_1, q5_0,");
}

static void all_is_said(void **state)
{
	struct session *s = *state;

	says(s, "info", "w4", "w4: q4_0 (3, 64), ready\n");
	says(s, "info", "w4", "192 elements, 108 B\n");
	says(s, "info", "w4", "encoding    blocks of 32 elements in 18 bytes: 4.5 bits each\n");
	says(s, "info", "qt", "encoding    int8; a value is (q - 3) * 0.5\n");
	says(s, "info", "qc", "encoding    int8; each index of axis 1 has a scale and a zero point\n");
	says(s, "info", "w4 --json", "\"dtype\":\"q4_0\",\"encoding\":{\"block_elements\":32,\"block_bytes\":18}");
	says(s, "info", "qt --json", "\"encoding\":{\"stored\":\"int8\",\"scale\":0.5,\"zero_point\":3}");
	says(s, "info", "qc --json", "\"encoding\":{\"stored\":\"int8\",\"axis\":1}");
	says(s, "info", "w4 --json", "\"nbytes\":108,");
	says(s, "info", "short", "corrupt");
	says(s, "print", "short", "reach out of its buffer of 107 bytes");
	says(s, "list", "w*", "#1  w4    q4_0   (3, 64)  ready  weight  108 B");
	says(s, "list", "--dtype q4_0", "4 tensors of 10: ");
	says(s, "list", "--dtype Q4_0", "4 tensors of 10: ");
	says(s, "list", "--dtype iq2_xxs", "0 tensors of 10");
	says(s, "list", "--dtype qint8", "3 tensors of 10: ");
	says(s, "list", "--dtype float32", "1 tensor of 10: ");
	says(s, "list", "--dtype q9", "no dtype 'q9'");
	says(s, "list", "--sort dtype", "lazy ");
	says(s, "graph", "lazy", "w4 #1 weight q4_0 (3, 64) ready");
	says(s, "peek", "lazy", "tensor #1 is q4_0: a replay takes plain dtypes");
	says(s, "at", "0x208012", "element [0, 32] and those after it in its block of 32\n");
	says(s, "at", "0x208015", "element [0, 32] and those after it in its block of 32, byte 3 of it\n");
	says(s, "model", "", "q4_0");
	says(s, "model", "", "qint8");
	says(s, "memory", "--by dtype", "q8_0");
	says(s, "quant", "w4", "of 32 elements in 18 bytes");
	says(s, "diff", "w4 w4", "w4 (q4_0) and w4 (q4_0)");
	says(s, "diff", "w4t w4 --explain on", "transpose");
}

/* A file has what the blocks decode to. */
static void decoded_values_are_saved(void **state)
{
	struct session *s = *state;
	char path[64] = "/tmp/lazybones-encoded-XXXXXX", line[128], header[1024] = "";
	float values[4];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlink(path), 0);
	strcat(path, ".npy");
	snprintf(line, sizeof line, "w4t[31:33, :2] %s", path);
	says(s, "save", line, "(q4_0 (2, 2)) saved to");
	snprintf(line, sizeof line, "w4t[31:33, :2] %s --force", path);
	says(s, "save", line, "written as float32: what the blocks decode to");
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	size_t n = fread(header, 1, sizeof header, f);
	fclose(f);
	assert_true(n > 16 && n < sizeof header);
	assert_non_null(strstr(header + 10, "'descr': '<f4'"));
	memcpy(values, header + n - 16, 16);
	for (int i = 0; i < 4; i++)
		assert_true(values[i] == w4(i % 2 * 64 + 31 + i / 2));
	assert_int_equal(unlink(path), 0);
}

static void every_inspection_answers(void **state)
{
	static const char *const commands[] = { "info",  "print",  "stats", "peek",    "image",  "plot",  "hist",
						"graph", "origin", "quant", "suspect", "status", "model", "memory" };
	struct session *s = *state;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		for (int row = 0; row < TENSORS; row++)
			for (int json = 0; json < 2; json++) {
				char line[64];
				snprintf(line, sizeof line, "%s%s", i < 10 ? rows[row].name : "",
					 json ? " --json" : "");
				assert_true(*session_says(s, commands[i], line));
				assert_true(lb_ok());
			}
}

#define BOTH(test) \
	cmocka_unit_test_setup_teardown(test, begin_mapped, session_stop), \
	    cmocka_unit_test_setup_teardown(test, begin_read, session_stop)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BOTH(slices_cut_blocks),        BOTH(eight_bits_are_decoded),
		BOTH(integers_are_scaled),      BOTH(large_ones_are_summed_up),
		BOTH(quant_takes_blocks_apart), BOTH(quant_tells_odd_scales),
		BOTH(blocks_are_viewed),        BOTH(all_is_said),
		BOTH(decoded_values_are_saved), BOTH(every_inspection_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
