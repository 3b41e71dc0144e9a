/* Tensors of another provider than the runtime, alone and beside it: what the inspections assume of a set of
 * tensors. This one is made up: its tensors have no records, up to ten inputs, up to 64 axes, and values that are
 * overwritten, on a device, repacked, not saved, or of which it is not known whether they are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/measure/digest.h"
#include "inspect/memory/points.h"
#include "inspect/operand/select.h"
#include "inspect/operand/value.h"
#include "made.h"
#include "report_of.h"
#include "says.h"
#include "tensors/axes.h"

static int64_t buffer_bytes = 24;

enum { TENSORS = 11, UNPROVEN = 11, SUM = 7, DEEP = 9, INPUTS = 10 };

static const struct {
	const char *name;
	enum lbx_state state;
	uint64_t overwriter;
	const char *place;
} rows[TENSORS] = {
	{ "weight", LBX_READY, 0, NULL },
	{ "gone", LBX_OVERWRITTEN, 1, NULL },
	{ "reused", LBX_OVERWRITTEN, 0, NULL },
	{ "far", LBX_ON_DEVICE, 0, "CUDA 1" },
	{ "packed", LBX_REPACKED, 0, "q4_0_8x8" },
	{ "unsaved", LBX_NOT_SAVED, 0, NULL },
	{ "sum", LBX_LAZY, 0, NULL },
	{ "broken", LBX_DAMAGED, 0, NULL },
	{ "deep", LBX_READY, 0, NULL },
	{ "doubtful", LBX_UNSURE, 0, "thread 7 is in decode" },
	{ "unmarked", LBX_READY, 0, NULL },
};

/* Tensor number i, from 1: 2 x 3 floats at the beginning of x's elements, `deep` with 62 axes of size 1 between
 * the two; the sum has ten inputs. */
static void make_tensor(uint64_t i, struct lbx_tensor *ret)
{
	bool has_data = rows[i - 1].state == LBX_READY;

	*ret = (struct lbx_tensor){
		.state = rows[i - 1].state,
		.overwriter = rows[i - 1].overwriter,
		.place = rows[i - 1].place,
		.is_unproven = i == UNPROVEN,
		.dtype = LB_F32,
		.op = i == SUM ? "sum_of_ten" : "weight",
		.op_class = i == SUM ? LB_CLASS_REDUCE : LB_CLASS_LEAF,
		.rank = 2,
		.layout_known = true,
		.axes.few = { { 2, 3 }, { 3, 1 } },
		.size = 6,
		.n_inputs = i == SUM ? INPUTS : 0,
		.buffer_id = has_data ? 1 : 0,
		.data = has_data ? IMAGE_DATA : 0,
		.buffer_bytes = has_data ? buffer_bytes : 0,
		.buffer_refs = has_data,
	};
	snprintf(ret->name, sizeof ret->name, "%s", rows[i - 1].name);
	if (i != DEEP)
		return;
	int64_t shape[LBX_RANK_MAX], strides[LBX_RANK_MAX];
	for (int k = 0; k < LBX_RANK_MAX; k++) {
		shape[k] = k == 0 ? 2 : k == LBX_RANK_MAX - 1 ? 3 : 1;
		strides[k] = k == LBX_RANK_MAX - 1 ? 1 : 3;
	}
	assert_true(lbx_tensor_set_axes(&made_set.axes, ret, LBX_RANK_MAX, shape, strides));
}

/* One, with the elements of all. */
static void make_buffer(uint64_t i, struct lbx_buffer *ret)
{
	(void)i;
	*ret = (struct lbx_buffer){ .data = IMAGE_DATA, .nbytes = buffer_bytes, .capacity = buffer_bytes, .refs = 2 };
}

static uint64_t input_of(const struct lbx_tensor *t, uint32_t i)
{
	(void)t;
	return 1 + i % 6;
}

static const struct made made = {
	.n = TENSORS,
	.n_buffers = 1,
	.tensor = make_tensor,
	.buffer = make_buffer,
	.input = input_of,
};

static int begin_beside(void **state)
{
	*state = session_create(false);
	made_beside(*state, &made);
	return 0;
}

static int begin_alone(void **state)
{
	*state = session_create(false);
	made_alone(*state, &made);
	return 0;
}

static void both_are_listed(void **state)
{
	struct session *s = *state;

	says(s, "list", "", "id   provider ");
	says(s, "list", "", "#1   lazybones  x ");
	says(s, "list", "", "#1   made       weight ");
	says(s, "list", "--provider made",
	     "11 tensors: 2 ready (48 B), 1 lazy, 2 overwritten, 1 on device, 1 repacked, ");
	is_silent_about(s, "list", "--provider made", "layer.0");
	is_silent_about(s, "list", "--provider lazybones", "weight");
	says(s, "list", "--state overwritten", "2 tensors of ");
	says(s, "owner", "weight", "  buffer     #1, 24 B at 0x200000: bytes 0 to 24\n  shared with ");
	says(s, "owner", "weight", "  input of   sum (");
	says(s, "owner", "weight --json", "\"input_of\":[");
	says(s, "list", "--provider ours", "no tensors of a provider 'ours'; it has those of lazybones, made");
	says(s, "list", "--json --provider made", "\"provider\":\"made\"");
	says(s, "info", "x --json", "\"provider\":\"lazybones\"");
	says(s, "status", "", "runtime    Lazybones ");
	says(s, "status", "", "\nprovider   made: 1 lazy, ");
}

/* Where no runtime counts what is in use, what was found is compared. */
static void memory_has_a_before(void **state)
{
	static struct lbx_memory_marks marks;
	struct session *s = *state;
	char path[64], line[128];

	snprintf(path, sizeof path, "/tmp/lazybones-memory-%d.json", (int)getpid());
	s->context.marks = &marks;
	says(s, "memory", "mark small", "mark small: 24 B in 1 buffer, 9 tensors\n");
	says(s, "memory", "mark small --json", "{\"mark\":\"small\",\"bytes\":24,\"buffers\":1,\"tensors\":9}");
	snprintf(line, sizeof line, "--save %s", path);
	says(s, "memory", line, "24 B in 1 buffer\n");
	buffer_bytes = 4096;
	static const char more[] = "+0 tensors\n4.0 KiB in 1 buffer\nby name\n"
				   "      +4.0 KiB  weight: 4.0 KiB, was 24 B; +0 buffers, +0 lazy\n";
	says(s, "memory", "--since small", "since small: +4.0 KiB in buffers (4.0 KiB, was 24 B), ");
	says(s, "memory", "--since small", more);
	says(s, "memory", "--since small --json", "\"bytes_before\":24,\"tensors\":9,\"tensors_before\":9,");
	snprintf(line, sizeof line, "--since %s", path);
	says(s, "memory", line, more);
	buffer_bytes = 24;
	says(s, "memory", line, "nothing has changed");
	unlink(path);
	lbx_memory_marks_deinit(&marks);
}

static void numbers_say_whose(void **state)
{
	struct session *s = *state;

	says(s, "print", "made#1", "weight: float32 (2, 3)\n[[0.   0.25 0.5 ]\n [0.75 1.   1.25]]\n");
	says(s, "print", "lazybones#1[0, 0, :2]", "[0.   0.25]\n");
	says(s, "print", "made#1[1]", "[0.75 1.   1.25]\n");
	says(s, "print", "#1", "#1 is the number of several tensors: say which: lazybones#1, made#1");
	says(s, "print", "made#12", "there is no made-up tensor #12");
	says(s, "print", "made#x", "'made#x' is not a tensor: # is followed by its number, as in #12");
	says(s, "print", "weight", "[[0.   0.25 0.5 ]\n");
	says(s, "diff", "weight x[0, 0, :3]", "(2, 3)");
}

/* What happens inside the program happens to the runtime's tensors. */
static void the_runtime_s_tensors_are_asked_for(void **state)
{
	struct session *s = *state;
	struct lbx_tensor t;

	assert_true(lbx_select_runtime_tensor(&s->context, "x", &t));
	assert_true(lbx_select_runtime_tensor(&s->context, "lazybones#1", &t));
	assert_false(lbx_select_runtime_tensor(&s->context, "weight", &t));
	assert_non_null(strstr(lb_error_message(), "'weight' is a tensor of made; one of the runtime's is needed"));
	lb_clear_error();
	assert_false(lbx_select_runtime_tensor(&s->context, "x[0]", &t));
	assert_non_null(strstr(lb_error_message(), "a whole tensor is needed"));
	lb_clear_error();
}

/* Each kind of value that is not there has its sentence. */
static void what_is_not_there_says_why(void **state)
{
	struct session *s = *state;

	says(s, "print", "gone", "gone has been overwritten by #1");
	says(s, "print", "reused", "reused has been overwritten: its memory was used again");
	says(s, "stats", "far", "far is on CUDA 1: its value is not in the program's memory");
	says(s, "print", "packed", "packed is stored as q4_0_8x8, an order that is not known");
	says(s, "print", "unsaved", "unsaved is not in the core: it was not saved");
	says(s, "print", "broken", "broken is damaged");
	says(s, "print", "doubtful", "doubtful may not have been computed yet: thread 7 is in decode");
	says(s, "stats", "doubtful", "doubtful may not have been computed yet: thread 7 is in decode");
	says(s, "info", "doubtful", "doubtful: float32 (2, 3), unsure");
	says(s, "info", "doubtful", "none: it may not have been computed yet: thread 7 is in decode");
	says(s, "diff", "doubtful weight", "may not have been computed yet: thread 7 is in decode");
	says(s, "diff", "weight doubtful", "may not have been computed yet: thread 7 is in decode");
}

static void what_is_unproven_says_so(void **state)
{
	static const char note[] = "unmarked: float32 (2, 3), as it lies in memory: made keeps no mark of what it";
	struct session *s = *state;

	says(s, "print", "unmarked", note);
	says(s, "stats", "unmarked", note);
	says(s, "plot", "unmarked", note);
	says(s, "info", "unmarked", "unmarked: float32 (2, 3), in memory");
	says(s, "list", "--state 'in memory'", "1 tensor of 11: 0 ready (0 B), 0 lazy, 1 in memory");
	says(s, "list", "--state unsure", "1 tensor of 11: 0 ready (0 B), 0 lazy, 1 unsure");
	is_silent_about(s, "list", "--state ready", "unmarked");
	says(s, "diff", "unmarked weight", "all 6 elements are equal");
	says(s, "print", "unmarked --json", "\"state\":\"in memory\"");
	says(s, "print", "unmarked --json", "\"unproven\":true");
	is_silent_about(s, "print", "weight --json", "unproven");
	says(s, "peek", "far", "is on CUDA 1: its value is not in the program's memory");
	says(s, "diff", "weight gone", "has been overwritten by #1");
	says(s, "save", "packed /tmp/never.npy", "is stored as q4_0_8x8");
}

static void ten_inputs_are_seen(void **state)
{
	struct session *s = *state;

	says(s, "info", "sum --json", "\"inputs\":[1,2,3,4,5,6,1,2,3,4]");
	says(s, "info", "sum", "weight");
	says(s, "graph", "sum", "sum_of_ten");
	says(s, "graph", "sum", "far");
	says(s, "peek", "sum", "tensor #2 has been overwritten by #1");
}

/* A value that is elsewhere is none that an evaluation will give. */
static void only_lazy_ones_are_counted_so(void **state)
{
	struct session *s = *state;

	says(s, "graph", "sum", "\n7 tensors: 1 ready, 1 not yet computed, 5 without a value; depth 1\n");
	says(s, "list", "", "1 damaged, 1 in memory (24 B once evaluated)\n");
	says(s, "memory", "--by site", "(not known): 1 buffer, 1 lazy that would take 24 B\n");
	says(s, "info", "far", "value       none: it is on CUDA 1: its value is not in the program's memory\n");
	says(s, "info", "gone", "value       none: it has been overwritten by #1\n");
	says(s, "info", "sum", "value       none yet: peek would replay 1 operation");
	is_silent_about(s, "info", "far --json", "\"pending\"");
}

/* What belongs to no provider works without one that has records, sites or counters. */
static void every_inspection_answers(void **state)
{
	static const char *const lines[][2] = {
		{ "list", "" },
		{ "info", "weight" },
		{ "info", "sum" },
		{ "print", "weight" },
		{ "stats", "weight" },
		{ "peek", "weight" },
		{ "peek", "sum" },
		{ "image", "weight" },
		{ "plot", "weight" },
		{ "hist", "weight" },
		{ "graph", "sum" },
		{ "graph", "weight" },
		{ "origin", "weight" },
		{ "at", "0x200004" },
		{ "owner", "0x200004" },
		{ "quant", "weight" },
		{ "memory", "" },
		{ "memory", "--by name" },
		{ "model", "" },
		{ "suspect", "" },
		{ "status", "" },
		{ "diff", "weight weight" },
		{ "at", "0x10" },
		{ "info", "deep" },
		{ "print", "deep" },
		{ "stats", "deep" },
		{ "peek", "deep" },
		{ "image", "deep" },
		{ "plot", "deep" },
		{ "hist", "deep" },
		{ "graph", "deep" },
		{ "diff", "deep deep" },
		{ "diff", "deep weight" },
	};
	struct session *s = *state;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		for (int json = 0; json < 2; json++) {
			char line[128];
			snprintf(line, sizeof line, "%s%s", lines[i][1], json ? " --json" : "");
			assert_true(*session_says(s, lines[i][0], line));
			assert_true(lb_ok());
		}
	says(s, "print", "weight", "[[0.   0.25 0.5 ]");
	says(s, "stats", "weight", "1.25");
	says(s, "model", "", "weight");
	says(s, "list", "", "11 tensors: 2 ready (48 B)");
}

/* "(2, 1, 1, …": 64 axes, of which the first and the last are given. */
static const char *list_of(char open, int first, const char *between, const char *last, char ret[512])
{
	size_t n = (size_t)sprintf(ret, "%c%d", open, first);

	for (int i = 0; i < LBX_RANK_MAX - 2; i++)
		n += (size_t)sprintf(ret + n, ", %s", between);
	sprintf(ret + n, ", %s", last);
	return ret;
}

/* Whatever is said of a tensor has all its axes. */
static void sixty_four_axes_are_seen(void **state)
{
	struct session *s = *state;
	char list[512], line[1024], text[1024];

	s->out.width = 2000;
	list_of('(', 2, "1", "3)", list);
	says(s, "list", "", list);
	snprintf(text, sizeof text, "deep: float32 %s, ready\n", list);
	says(s, "info", "deep", text);
	snprintf(text, sizeof text, "deep: float32 %s\n[[[[[[", list);
	says(s, "print", "deep", text);
	snprintf(text, sizeof text, "deep #9 weight float32 %s ready", list);
	says(s, "graph", "deep", text);
	snprintf(text, sizeof text, "deep has shape %s, but weight has (2, 3)", list);
	says(s, "diff", "deep weight --explain off", text);
	snprintf(text, sizeof text, "of different shapes: %s and (2, 3)\n", list);
	says(s, "diff", "deep weight", text);
	says(s, "diff", "deep weight", "equal but for axes of size 1");
	says(s, "diff", "deep deep", "equal");
	says(s, "info", "deep", ", 3, 1) elements, row-contiguous\n");
	says(s, "info", "deep --json", ",1,1,3],\"strides\":[3,3,");
	says(s, "list", "--json", ",1,1,3],\"strides\":[3,3,");
	snprintf(text, sizeof text, "1.25 at %s\n", list_of('[', 1, "0", "2]", list));
	says(s, "stats", "deep", text);
	snprintf(text, sizeof text, "deep (#9, float32 %s", list_of('(', 2, "1", "3), ready): element ", line));
	says(s, "at", "0x20000c", text);
	says(s, "at", "0x20000c", list_of('[', 1, "0", "0]", list));
	snprintf(line, sizeof line, "deep%s", list_of('[', 1, "-1", ":2]", list));
	says(s, "print", line, ": float32 (2,)\n[0.75 1.  ]\n");
	says(s, "print", line, list);
	says(s, "print", "deep[:, ..., 2]", ", 1, 1)\n[[[");
	says(s, "print", "deep[..., 2][1][0, ...][0]", "1.25");
	snprintf(line, sizeof line, "deep%s", list_of('[', 1, "0", "0, 0]", list));
	says(s, "print", line, "65 indices for 64 axes");
	says(s, "print", "deep[None]", "more than 64 axes");
	says(s, "print", "deep[0, None, 1]", "index 1 is out of range for axis 1 with size 1");
	says(s, "origin", "deep", "tensor #9 has 64 axes; at most 8 are followed");
	says(s, "quant", "deep", "packed words are uint32, not float32");
}

static void sixty_four_axes_are_viewed(void **state)
{
	struct session *s = *state;
	char list[512], strides[512], slice[512], line[1024], text[1024];

	snprintf(line, sizeof line, "@0x200000:f32:%s:%s%s", list_of('(', 2, "1", "3)", list),
		 list_of('(', 3, "0", "1)", strides), list_of('[', 1, "0", "1:]", slice));
	says(s, "print", line, "[1.   1.25]");
	snprintf(line, sizeof line, "@0x200000:f32:%s @0x200000:f32:240", list_of('(', 4, "1", "60)", list));
	snprintf(text, sizeof text, "equal after reshape%s of the second", list);
	s->out.width = 2000;
	says(s, "diff", line, text);
	snprintf(line, sizeof line, "@0x200000:f32:%s", list_of('(', 2, "1", "3, 1)", list));
	says(s, "print", line, "has more than 64 numbers");
}

/* A file has all the axes too. */
static void sixty_four_axes_are_saved(void **state)
{
	struct session *s = *state;
	char path[64] = "/tmp/lazybones-axes-XXXXXX", line[128], header[1024] = "", shape[512];
	int fd = mkstemp(path);
	FILE *f;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlink(path), 0);
	strcat(path, ".npy");
	snprintf(line, sizeof line, "deep %s", path);
	says(s, "save", line, "64 axes: NumPy reads more than 32 since 2.0");
	says(s, "save", line, "exists");
	assert_non_null(f = fopen(path, "rb"));
	size_t n = fread(header, 1, sizeof header - 1, f);
	assert_true(n > 128 + 24 && n % 64 == 24);
	float values[6];
	memcpy(values, header + n - sizeof values, sizeof values);
	assert_true(values[0] == 0 && values[5] == 1.25f);
	fclose(f);
	assert_int_equal(unlink(path), 0);
	header[n - sizeof values] = '\0';
	assert_non_null(strstr(header + 10, list_of('(', 2, "1", "3)", shape)));
}

/* Writes a .npy file of 64 axes by hand: six floats, in an order of bytes and of axes that NumPy may write. */
static void write_npy(const char *path, bool big, bool fortran, const char *shape)
{
	static const float values[2][6] = { { 0, 0.25f, 0.5f, 0.75f, 1, 1.25f }, { 0, 0.75f, 0.25f, 1, 0.5f, 1.25f } };
	char header[1024];
	int n = snprintf(header, sizeof header, "{'descr': '%cf4', 'fortran_order': %s, 'shape': %s, }\n",
			 big ? '>' : '<', fortran ? "True" : "False", shape);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fprintf(f, "\x93NUMPY\1%c%c%c%s", 0, n & 0xff, n >> 8, header);
	for (int i = 0; i < 6; i++) {
		uint32_t bits;
		memcpy(&bits, &values[fortran][i], sizeof bits);
		bits = big ? __builtin_bswap32(bits) : bits;
		assert_int_equal(fwrite(&bits, sizeof bits, 1, f), 1);
	}
	assert_int_equal(fclose(f), 0);
}

/* So has one that is read. */
static void sixty_four_axes_are_read(void **state)
{
	struct session *s = *state;
	char path[64] = "/tmp/lazybones-axes-XXXXXX", line[128], shape[512];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(line, sizeof line, "deep %s", path);
	list_of('(', 2, "1", "3)", shape);
	for (int way = 0; way < 4; way++) {
		write_npy(path, way & 1, way & 2, shape);
		says(s, "diff", line, "equal");
		is_silent_about(s, "diff", line, "differ");
	}
	snprintf(line, sizeof line, "weight %s", path);
	says(s, "diff", line, "equal but for axes of size 1");
	strcpy(shape + strlen(shape) - 1, ", 1)");
	write_npy(path, false, false, shape);
	says(s, "diff", line, "shape: more than 64 axes");
	list_of('(', 2, "99999", "3)", shape);
	write_npy(path, false, false, shape);
	says(s, "diff", line, "shape: more elements than fit 63 bits");
	list_of('(', 1, "1", "1000)", shape);
	write_npy(path, false, false, shape);
	says(s, "diff", line, "elements");
	assert_true(s->failed);
	assert_int_equal(unlink(path), 0);
}

/* What no tensor may be is refused, whoever asks; so are more layouts than there is room for. */
static void axes_have_limits(void **state)
{
	int64_t shape[LBX_RANK_MAX + 1] = { 0 }, strides[LBX_RANK_MAX + 1] = { 0 };
	struct lbx_axes *axes = NULL;
	struct lbx_tensor t = { .rank = 0 }, copy;

	(void)state;
	assert_false(lbx_tensor_set_axes(&axes, &t, LBX_RANK_MAX + 1, shape, strides));
	assert_string_equal(lb_error_message(), "a tensor of 65 axes: at most 64 are read");
	lb_clear_error();
	assert_false(lbx_tensor_set_axes(&axes, &t, -1, shape, strides));
	lb_clear_error();
	assert_true(lbx_tensor_set_axes(&axes, &t, LB_MAX_RANK, shape, strides));
	assert_null(axes);
	shape[8] = 7;
	assert_true(lbx_tensor_set_axes(&axes, &t, LB_MAX_RANK + 1, shape, strides));
	copy = t;
	shape[8] = 8;
	assert_true(lbx_tensor_set_axes(&axes, &t, LB_MAX_RANK + 1, shape, strides));
	assert_int_equal(lbx_shape(&copy)[8], 7);
	shape[8] = 7;
	assert_true(lbx_tensor_set_axes(&axes, &t, LB_MAX_RANK + 1, shape, strides));
	assert_ptr_equal(lbx_shape(&t), lbx_shape(&copy));
	bool fits = true;
	for (strides[0] = 1; fits && strides[0] < 1 << 20; strides[0]++)
		fits = lbx_tensor_set_axes(&axes, &t, LB_MAX_RANK + 1, shape, strides);
	assert_false(fits);
	assert_string_equal(lb_error_message(), "more than 65536 different shapes of more than 8 axes");
	lb_clear_error();
	lbx_axes_destroy(axes);
	lbx_axes_destroy(NULL);
}

static void alone_its_numbers_are_enough(void **state)
{
	struct session *s = *state;

	is_silent_about(s, "list", "", "provider");
	says(s, "status", "", "runtime    not found: ");
	says(s, "status", "", "\nprovider   made: 1 lazy, 2 ready, 2 overwritten, 1 on device, ");
	s->out.width = 200;
	says(s, "status", "", "11 named; 1 buffer of 24 B\n");
	says(s, "status", "--json", "\"buffers\":1,\"nbytes\":24,");
	is_silent_about(s, "info", "weight", "record at");
	says(s, "status", "--json", "\"providers\":[{\"provider\":\"made\",\"tensors\":{\"lazy\":1,\"ready\":2,");
	says(s, "print", "#1", "weight: float32 (2, 3)\n");
	says(s, "print", "made#1", "weight: float32 (2, 3)\n");
	says(s, "print", "gone", "has been overwritten by #1");
}

/* What only the runtime has says that there is none. */
static void the_runtime_is_asked_for(void **state)
{
	static const char *const commands[] = { "events", "compiled", "listing", "where", "freed" };
	struct session *s = *state;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		const char *text = session_says(s, commands[i], "");
		assert_true(s->failed);
		if (!strstr(text, " asks the runtime of Lazybones, and the tensors here are of made: no symbol table"))
			fail_msg("%s: %s", commands[i], text);
	}
}

/* ---- what only the runtime knows ---- */

static void has_not(const char *text, const char *unexpected)
{
	if (strstr(text, unexpected))
		fail_msg("'%s' in:\n%s", unexpected, text);
}

static void a_report_tells_what_it_knows(void **state)
{
	struct session *s = *state;
	const char *text = report_of(s, "");

	has(text, "died of SIGSEGV");
	has(text, "The thread that died\n");
	has(text, "0x1ffff8 is 32776 bytes before the beginning of buffer #1 (24 B at 0x208000)");
	has(text, "x->y[0] points to the elements of s1 (#1, float32 (2, 3), ready)\n");
	has(text, "What is wrong\nhigh    NaN in s1");
	has(text, "NaN and Inf\n  - s1 (#1, float32 (2, 3), ready) holds 1 NaN and 0 Inf among 6 values, ");
	has(text, "Memory\n");
	has(text, "made: 8 tensors ready, 42 lazy\n");
	has(text, "        32 B  50%  1 buffer of q\n");
	has(text, "Suspicions\n");
	has(text, "Not known\n  only a runtime of Lazybones tells what was in flight, the last events");
	has_not(text, "In flight");
	has_not(text, "Last events");
	text = report_of(s, "--json");
	has(text, "\"runtime\":null,\"providers\":[\"made\"],\"why\":\"no symbol table at ");
	has(text, "\"in_flight\":null,");
	has(text, "\"events\":null,");
	has(text, "\"kind\":\"nan\",\"tensor\":1,");
	has(text, "\"active\":null,");
	has(text, "{\"name\":\"q\",\"bytes\":32,\"buffers\":1,\"lazy\":0}");
}

static void a_page_tells_what_it_knows(void **state)
{
	struct session *s = *state;
	char path[64] = "/tmp/lazybones-page-XXXXXX", line[128];
	static char page[1 << 17];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	snprintf(line, sizeof line, "--output %s", path);
	report_of(s, line);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	size_t n = fread(page, 1, sizeof page - 1, f);
	fclose(f);
	close(fd);
	assert_int_equal(unlink(path), 0);
	page[n] = '\0';
	has(page, "<figure class=\"card\" id=\"tensor-1\"><figcaption><b>s1 (#1, float32 (2, 3), ready)</b>");
	has(page, ">Not known</h2>\n<p>only a runtime of Lazybones tells");
	has(page, "</html>");
	has_not(page, ">In flight</h2>");
	has_not(page, ">Last events</h2>");
}

/* Without any tensors, too. */
static void a_report_needs_no_tensors(void **state)
{
	static const struct lbx_provider none[] = { { 0 } };
	struct session *s = *state;

	s->context.providers = none;
	const char *text = report_of(s, "");
	has(text, "died of SIGSEGV");
	has(text, "The thread that died\n");
	has(text, "Tensors\n  none: no symbol table at 0x10000");
	has_not(text, "Memory");
	text = report_of(s, "--json");
	has(text, "\"runtime\":null,\"providers\":[],\"why\":\"no symbol table at ");
	has(text, "\"total_threads\":2,");
	has_not(text, "\"memory\"");
	says(s, "status", "", "runtime    not found: no symbol table at 0x10000");
	is_silent_about(s, "status", "", "provider");
}

/* What is kept of a value does not depend on how many axes it has. */
static void many_axes_are_digested(void **state)
{
	char list[512], text[1024];
	struct session *s = *state;
	struct lbx_digest digests[2];

	for (int many = 0; many < 2; many++) {
		struct lbx_selection selection;
		struct lbx_array array;
		snprintf(text, sizeof text, "@0x200000:f32:%s", many ? list_of('(', 4, "1", "60)", list) : "240");
		assert_true(lbx_select_values(&s->context, text, &selection));
		assert_true(lbx_value_of(&s->context, &selection, &array));
		assert_int_equal(array.rank, many ? 64 : 1);
		assert_true(lbx_digest(&array, &s->out, &digests[many]));
	}
	assert_int_equal(digests[0].count, 240);
	assert_true(lbx_digest_equal(&digests[0], &digests[1]));
}

/* Memory is looked at in any program. */
static void memory_needs_no_tensors(void **state)
{
	static const struct lbx_provider none[] = { { 0 } };
	static const char *const commands[] = { "print", "stats", "image", "plot", "hist", "peek" };
	struct session *s = *state;
	char path[64];

	s->context.providers = none;
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		says(s, commands[i], "@0x200000:f32:2,2", "@0x200000: float32 (2, 2)");
		says(s, commands[i], "x", "the program has no tensors that are known here");
	}
	says(s, "diff", "@0x200000:f32:4 @0x200000:f32:4", "all 4 elements are equal");
	says(s, "diff", "@0x200000:f32:4 x", "the program has no tensors that are known here");
	snprintf(path, sizeof path, "@0x200000:f32:4 /tmp/lazybones-memory-%d.npy", (int)getpid());
	says(s, "save", path, "saved to ");
	unlink(strchr(path, '/'));
	says(s, "info", "@0x200000:f32:4", "the program has no tensors that are known here");
}

/* ---- sets that are kept ---- */

/* What the target tells of when it is. */
static struct {
	bool is_known, waits;
	uint64_t moment;
} at;

static bool tell_moment(struct lbx_target *target, uint64_t *ret)
{
	(void)target;
	*ret = at.moment;
	return at.is_known && !at.waits;
}

static bool tell_wait(struct lbx_target *target)
{
	(void)target;
	return at.waits;
}

/* How many sets are opened for a few commands, each of which is a look of its own. */
static int opened_for_three(struct session *s)
{
	int before = made_opened;

	for (int i = 0; i < 3; i++) {
		says(s, "list", "", "11 tensors: ");
		says(s, "print", "deep", "1.25");
		session_forget(s);
	}
	return made_opened - before;
}

static bool interrupt(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out, (void)what, (void)done, (void)total;
	return false;
}

static void a_costly_set_is_kept(void **state)
{
	struct session *s = *state;
	struct made described = made;
	struct lbx_provider providers[] = { made_provider(&described), { 0 } };
	struct lbx_target other = *s->context.target;
	struct lbx_target_ops ops = *other.ops;
	struct lbx_kept kept = { .n = 0 };

	ops.moment = tell_moment;
	ops.waits = tell_wait;
	s->context.target->ops = &ops;
	s->context.providers = providers;
	made_opened = made_closed = 0;
	at.is_known = true;
	at.waits = false;
	at.moment = 1;
	/* who does not live on, or what is cheap: a new one at each look */
	assert_int_equal(opened_for_three(s), 3);
	s->context.kept = &kept;
	assert_int_equal(opened_for_three(s), 3);
	assert_int_equal(made_closed, made_opened);
	/* the program stands still: one for all looks, none before it is known that it does */
	providers[0].is_costly = true;
	at.waits = true;
	int before = made_opened;
	session_says(s, "list", "");
	assert_true(s->failed);
	session_forget(s);
	at.waits = false;
	assert_int_equal(made_opened, before);
	assert_int_equal(opened_for_three(s), 1);
	assert_int_equal(opened_for_three(s), 0);
	assert_int_equal(made_closed, made_opened - 1);
	/* it has run */
	at.moment = 2;
	assert_int_equal(opened_for_three(s), 1);
	assert_int_equal(made_closed, made_opened - 1);
	/* it has, and the set is good all the same */
	described.valid = true;
	at.moment = 3;
	assert_int_equal(opened_for_three(s), 0);
	/* that was noticed: since then it has stood still */
	described.valid = false;
	assert_int_equal(opened_for_three(s), 0);
	/* whether it has run is not known */
	at.is_known = false;
	assert_int_equal(opened_for_three(s), 3);
	described.valid = true;
	assert_int_equal(opened_for_three(s), 0);
	described.valid = false;
	at.is_known = true;
	assert_int_equal(opened_for_three(s), 1);
	/* it is not known yet: nothing is lost, and nothing found */
	at.waits = true;
	session_says(s, "list", "");
	assert_true(s->failed);
	session_forget(s);
	at.waits = false;
	assert_int_equal(opened_for_three(s), 0);
	/* interrupted: what was found then may lack what could not be read any more */
	at.moment = 4;
	s->out.progress = interrupt;
	session_says(s, "list", "");
	assert_true(s->failed);
	session_forget(s);
	s->out.progress = NULL;
	assert_int_equal(opened_for_three(s), 1);
	/* another program */
	kept.target = &other;
	assert_int_equal(opened_for_three(s), 1);
	assert_int_equal(made_closed, made_opened - 1);
	lbx_kept_close(&kept);
	assert_int_equal(made_closed, made_opened);
	assert_int_equal(kept.n, 0);
	s->context.kept = NULL;
	s->context.target->ops = other.ops;
}

/* What the target tells of its modules, and a provider sees in them. */
static struct {
	bool is_known, waits, has_made;
	uint64_t number;
	int looks;
} modules;

static bool tell_modules(struct lbx_target *target, uint64_t *ret)
{
	(void)target;
	*ret = modules.number;
	at.waits = modules.waits;
	return modules.is_known && !modules.waits;
}

static bool made_is_there(struct lbx_context *context)
{
	(void)context;
	modules.looks++;
	return modules.has_made;
}

/* How often the modules are looked at for a few commands, each of which is a look of its own. */
static int looked_for_three(struct session *s)
{
	int before = modules.looks;

	for (int i = 0; i < 3; i++) {
		session_says(s, "status", "");
		session_forget(s);
	}
	return modules.looks - before;
}

static bool stop_at_once(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out, (void)what, (void)done, (void)total;
	return false;
}

/* Of a program that has nothing of a provider its modules are looked at once, until there are others. */
static void what_is_not_there_is_not_looked_for(void **state)
{
	struct session *s = *state;
	struct lbx_provider providers[] = { lbx_providers[0], made_provider(&made), { 0 } };
	struct lbx_target other = *s->context.target;
	struct lbx_target_ops ops = *other.ops;
	struct lbx_kept kept = { .n = 0 };

	ops.moment = tell_moment;
	ops.waits = tell_wait;
	ops.loaded = tell_modules;
	s->context.target->ops = &ops;
	s->context.providers = providers;
	s->context.kept = &kept;
	providers[1].is_costly = true;
	providers[1].is_there = made_is_there;
	at.is_known = true;
	at.waits = modules.waits = modules.has_made = false;
	modules.is_known = true;
	modules.number = 1;
	made_opened = made_closed = 0;
	assert_int_equal(looked_for_three(s), 1);
	assert_int_equal(looked_for_three(s), 0);
	/* it is not known yet which modules there are: nothing is lost */
	modules.waits = true;
	assert_int_equal(looked_for_three(s), 0);
	at.waits = modules.waits = false;
	assert_int_equal(looked_for_three(s), 0);
	/* others have come, and gone */
	modules.number = 2;
	assert_int_equal(looked_for_three(s), 1);
	modules.number = 1;
	assert_int_equal(looked_for_three(s), 1);
	/* which there are is not known */
	modules.is_known = false;
	assert_int_equal(looked_for_three(s), 3);
	modules.is_known = true;
	assert_int_equal(looked_for_three(s), 0);
	/* another program */
	kept.target = &other;
	assert_int_equal(looked_for_three(s), 1);
	assert_int_equal(made_opened, 0);
	/* the user interrupts: what was not seen may be there */
	modules.number = 3;
	s->out.progress = stop_at_once;
	says(s, "list", "", "interrupted");
	session_forget(s);
	s->out.progress = NULL;
	assert_int_equal(looked_for_three(s), 1);
	modules.number = 1;
	assert_int_equal(looked_for_three(s), 1);
	/* it has come: one set for all looks */
	modules.number = 3;
	modules.has_made = true;
	assert_int_equal(looked_for_three(s), 1);
	assert_int_equal(looked_for_three(s), 0);
	assert_int_equal(made_opened, 1);
	/* who does not live on opens it at each look, which is a look at the modules, too */
	lbx_kept_close(&kept);
	s->context.kept = NULL;
	assert_int_equal(looked_for_three(s), 0);
	assert_int_equal(made_opened, 4);
	assert_int_equal(made_closed, made_opened);
	s->context.target->ops = other.ops;
}

/* ---- tensors that share their inputs ---- */

/* x, with a NaN; then a chain, in which each is the sum of the one before and itself; and two that are inputs of
 * each other. Beside them a ready view of x, and packed words with their scales and biases. */
enum {
	SHARED_X = 1,
	SHARED_LAST = 41,
	SHARED_LOOP,
	SHARED_BACK,
	SHARED_VIEW,
	SHARED_WORDS,
	SHARED_SCALES,
	SHARED_BIASES,
	SHARED_WIDE,
	SHARED_LAST_WIDE = SHARED_WIDE + 2,
	SHARED_AT = IMAGE_DATA + 0x8000,
	SHARED_WORDS_AT = SHARED_AT + 0x100
};

/* 64 codes of 4 bits, a scale and a bias; and the same with 64 axes. */
static void make_packed(uint64_t i, struct lbx_tensor *ret)
{
	static const char *const names[] = { "q", "q.scales", "q.biases", "r", "r.scales", "r.biases" };
	uint64_t part = (i - SHARED_WORDS) % 3;
	int64_t n = part == 0 ? 8 : 1, shape[LBX_RANK_MAX], strides[LBX_RANK_MAX];

	*ret = (struct lbx_tensor){
		.state = LBX_READY,
		.dtype = part == 0 ? LB_U32 : LB_F32,
		.op = "weight",
		.op_class = LB_CLASS_LEAF,
		.rank = 2,
		.layout_known = true,
		.axes.few = { { 1, n }, { n, 1 } },
		.size = n,
		.buffer_id = SHARED_WORDS + part,
		.data = SHARED_WORDS_AT + 0x100 * part,
		.buffer_bytes = 4 * n,
		.buffer_refs = 1,
	};
	snprintf(ret->name, sizeof ret->name, "%s", names[i - SHARED_WORDS]);
	if (i < SHARED_WIDE)
		return;
	for (int k = 0; k < LBX_RANK_MAX; k++)
		shape[k] = strides[k] = 1;
	shape[LBX_RANK_MAX - 1] = n;
	assert_true(lbx_tensor_set_axes(&made_set.axes, ret, LBX_RANK_MAX, shape, strides));
}

static void make_shared(uint64_t i, struct lbx_tensor *ret)
{
	bool ready = i == SHARED_X || i == SHARED_VIEW;

	if (i >= SHARED_WORDS) {
		make_packed(i, ret);
		return;
	}

	*ret = (struct lbx_tensor){
		.state = ready ? LBX_READY : LBX_LAZY,
		.dtype = LB_F32,
		.op = i == SHARED_X ? "weight"
		      : ready       ? "transpose"
				    : "add",
		.op_class = i == SHARED_X ? LB_CLASS_LEAF
			    : ready       ? LB_CLASS_VIEW
					  : LB_CLASS_BINARY,
		.rank = 2,
		.layout_known = true,
		.axes.few = { { 2, 3 }, { 3, 1 } },
		.size = 6,
		.n_inputs = i == SHARED_X ? 0
			    : ready       ? 1
					  : 2,
		.buffer_id = ready,
		.data = ready ? SHARED_AT : 0,
		.buffer_bytes = ready ? 24 : 0,
		.buffer_refs = ready ? 2 : 0,
	};
	snprintf(ret->name, sizeof ret->name, "s%d", (int)i);
}

static void make_shared_buffer(uint64_t i, struct lbx_buffer *ret)
{
	(void)i;
	*ret = (struct lbx_buffer){ .data = SHARED_AT, .nbytes = buffer_bytes, .capacity = buffer_bytes, .refs = 2 };
}

static uint64_t shared_input(const struct lbx_tensor *t, uint32_t i)
{
	(void)i;
	return t->id == SHARED_LOOP   ? SHARED_BACK
	       : t->id == SHARED_BACK ? SHARED_LOOP
	       : t->id == SHARED_VIEW ? SHARED_X
				      : t->id - 1;
}

static const struct made shared = {
	.n = SHARED_LAST_WIDE,
	.n_buffers = 1,
	.tensor = make_shared,
	.buffer = make_shared_buffer,
	.input = shared_input,
};

static int begin_shared(void **state)
{
	static const uint32_t bits[] = { 0x3f800000, 0x40000000, 0x7fc00000, 0x40800000, 0x40a00000, 0x40c00000 };
	struct session *s = session_create(false);

	memcpy(image_at(&s->image, SHARED_AT, sizeof bits), bits, sizeof bits);
	*(uint64_t *)image_at(&s->image, IMAGE_DATA + 8, 8) = SHARED_AT; /* what a variable holds */
	*(uint32_t *)image_at(&s->image, SHARED_WORDS_AT, 4) = 0x43210;
	*(float *)image_at(&s->image, SHARED_WORDS_AT + 0x100, 4) = 0.5f;
	*(float *)image_at(&s->image, SHARED_WORDS_AT + 0x200, 4) = 10;
	made_alone(s, &shared);
	*state = s;
	return 0;
}

/* A tensor that is met again is known by its number. */
static void graphs_need_no_records(void **state)
{
	struct session *s = *state;

	says(s, "graph", "s3", "as in line ");
	says(s, "graph", "s3", "3 tensors: 1 ready, 2 not yet computed; depth 2\n");
	says(s, "graph", "s41 --depth 100", "41 tensors: 1 ready, 40 not yet computed; depth 40\n");
	says(s, "info", "s41", "peek would replay 40 operations from 1 ready tensor");
	says(s, "peek", "s41[0, :2]", "[1.0995116e+12 2.1990233e+12]");
	says(s, "origin", "s41", "  s1 (#1, float32 (2, 3), ready), first at [0, 2]\n");
	says(s, "origin", "s41", "by way of #40 s40 add, #39 s39 add, ");
	says(s, "peek", "s42", "the graph leads from #42 back to itself");
	says(s, "graph", "s41 --json", "{\"root\":41,\"tensors\":[{\"id\":41,");
	says(s, "graph", "s41 --json", "],\"cut\":false}\n");
	says(s, "graph", "s41 --json", "\"record\":null,\"provider\":\"made\"},{\"id\":1,\"name\":\"s1\",");
	says(s, "origin", "s41", "NaN: it was in the data\n");
}

/* Numbers of buffers are of a provider, as those of tensors. */
static void buffers_are_told_apart(void **state)
{
	struct session *s = *state;

	says(s, "memory", "", "     1.0 KiB 100%  (not known): 3 buffers, ");
	says(s, "memory", "--by name --json", "{\"key\":\"weight\",\"bytes\":24,\"buffers\":1,");
}

static void memory_needs_no_records(void **state)
{
	struct session *s = *state;

	says(s, "at", "0x208008", "s1 (#1, float32 (2, 3), ready): element [0, 2]");
	says(s, "owner", "0x208008", "s1");
	says(s, "owner", "s1", "  pointers   not looked for: its records have no addresses\n");
	says(s, "owner", "s1[0]", "'s1[0]' is a slice; a whole tensor is needed");
	says(s, "owner", "#99", "#99");
	says(s, "owner", "nobody", "'nobody' is not an address");
	says(s, "quant", "q", "  scales     q.scales (#46, float32 (1, 1), ready)");
	says(s, "quant", "q[0, :5]", "[10.  10.5 11.  11.5 12. ]\n");
	says(s, "quant", "r", "r (#48, uint32\n    (1, 1, 1, ");
	says(s, "quant", "r --values", "tensor #48 has 64 axes: a replay takes at most 8");
	says(s, "quant", "q --values --json", "\"inputs\":[45,46,47]");
}

#define BESIDE(test) cmocka_unit_test_setup_teardown(test, begin_beside, session_stop)
#define ALONE(test) cmocka_unit_test_setup_teardown(test, begin_alone, session_stop)
#define SHARED(test) cmocka_unit_test_setup_teardown(test, begin_shared, session_stop)

/* What could not be asked yet is asked again by the next look, and nothing is there twice. Until then a command
 * sees what is there: so it asks what else it wants to know, together with what it waits for. */
static bool is_late, is_waiting;

static bool open_late(struct lbx_context *context, struct lbx_tensors **ret)
{
	(void)context, (void)ret;
	is_waiting = is_waiting || is_late;
	return is_late ? lb_fail("not yet") : made_provider(&made).open(context, ret);
}

static bool waits(struct lbx_target *target)
{
	(void)target;
	return is_waiting;
}

static void a_provider_may_come_later(void **state)
{
	const struct lbx_provider late[] = { { .name = "late", .open = open_late }, made_provider(&made), { 0 } };
	struct session *s = *state;
	struct lbx_target_ops ops = *s->context.target->ops;
	const struct lbx_target_ops *before = s->context.target->ops;
	const struct lbx_provider *alone[] = { late + 1, late };
	struct lbx_provider last[3] = { { 0 } };
	struct lbx_tensors *tensors;

	ops.waits = waits;
	s->context.target->ops = &ops;
	for (int order = 0; order < 2; order++) { /* the one that waits comes first, and last */
		for (int i = 0; i < 2; i++)
			last[i] = order ? *alone[i] : late[i];
		s->context.providers = last;
		is_late = true, is_waiting = false;
		assert_true(lbx_context_tensors(&s->context, &tensors));
		assert_int_equal(s->context.n_sets, 1);
		assert_true(lbx_target_waits(s->context.target));
		session_forget(s);
		is_late = is_waiting = false;
		assert_true(lbx_context_tensors(&s->context, &tensors));
		assert_int_equal(s->context.n_sets, 2);
		session_forget(s);
	}
	/* there is nothing yet */
	last[0] = (struct lbx_provider){ .name = "late", .open = open_late };
	last[1] = (struct lbx_provider){ 0 };
	is_late = true;
	assert_false(lbx_context_tensors(&s->context, &tensors));
	assert_int_equal(s->context.n_sets, 0);
	lb_clear_error();
	s->context.target->ops = before;
}

static bool open_damaged(struct lbx_context *context, struct lbx_tensors **ret)
{
	(void)context, (void)ret;
	return lb_fail("its tensors are damaged");
}

static bool open_interrupted(struct lbx_context *context, struct lbx_tensors **ret)
{
	(void)context, (void)ret;
	return lb_fail_because(LB_INTERRUPTED, "interrupted");
}

static bool open_nothing(struct lbx_context *context, struct lbx_tensors **ret)
{
	(void)context, (void)ret;
	return false;
}

/* Of a program without the runtime the reason is that of whose tensors it has. Who is interrupted sees no part of what
 * there is, as if it were all. */
static void the_reason_is_told_that_counts(void **state)
{
	const struct lbx_provider runtime = lbx_providers[0], damaged = { .name = "damaged", .open = open_damaged },
				  nothing = { .name = "nothing", .open = open_nothing },
				  interrupted = { .name = "interrupted", .open = open_interrupted };
	struct session *s = *state;
	const struct {
		struct lbx_provider providers[4];
		const char *says;
	} cases[] = {
		{ { runtime }, "no symbol table at" },
		{ { runtime, nothing }, "no symbol table at" },
		{ { runtime, damaged, nothing }, "its tensors are damaged" },
		{ { runtime, damaged, made_provider(&made) }, "11 tensors: " },
		{ { runtime, interrupted, damaged }, "interrupted" },
		{ { made_provider(&made), interrupted }, "interrupted" },
		{ { made_provider(&made), damaged }, "11 tensors: " },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		s->context.providers = cases[i].providers;
		says(s, "list", "", cases[i].says);
		session_forget(s);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BESIDE(both_are_listed),
		BESIDE(numbers_say_whose),
		BESIDE(buffers_are_told_apart),
		BESIDE(what_is_not_there_says_why),
		BESIDE(the_runtime_s_tensors_are_asked_for),
		ALONE(what_is_not_there_says_why),
		ALONE(memory_has_a_before),
		ALONE(what_is_unproven_says_so),
		ALONE(ten_inputs_are_seen),
		ALONE(only_lazy_ones_are_counted_so),
		ALONE(every_inspection_answers),
		ALONE(alone_its_numbers_are_enough),
		ALONE(sixty_four_axes_are_seen),
		ALONE(sixty_four_axes_are_viewed),
		ALONE(sixty_four_axes_are_saved),
		ALONE(sixty_four_axes_are_read),
		cmocka_unit_test(axes_have_limits),
		ALONE(the_runtime_is_asked_for),
		ALONE(a_provider_may_come_later),
		ALONE(the_reason_is_told_that_counts),
		ALONE(a_costly_set_is_kept),
		BESIDE(what_is_not_there_is_not_looked_for),
		SHARED(graphs_need_no_records),
		SHARED(a_report_tells_what_it_knows),
		SHARED(a_report_needs_no_tensors),
		SHARED(memory_needs_no_tensors),
		SHARED(many_axes_are_digested),
		SHARED(a_page_tells_what_it_knows),
		SHARED(memory_needs_no_records),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
