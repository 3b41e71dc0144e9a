/* The commands, from their line to their text or JSON, over memory made by hand. */
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
#include "base/op.h"
#include "image.h"
#include "inspect/command.h"
#include "inspect/convenience.h"

struct session {
	struct image image;
	struct lbx_context context;
	struct lbx_out out;
	struct lbx_settings settings;
	char *text;
	size_t n;
	char variable[32];  /* the last one that was set, */
	double value;       /* and its value */
};

static void write_text(struct lbx_out *out, const char *bytes, size_t n)
{
	struct session *s = out->context;
	s->text = realloc(s->text, s->n + n + 1);
	memcpy(s->text + s->n, bytes, n);
	s->n += n;
	s->text[s->n] = '\0';
}

static void is_documented(const char *name)
{
	const struct lbx_convenience *v = lbx_conveniences;

	while (v->name && strcmp(v->name, name) != 0)
		v++;
	assert_non_null(v->name);
}

static void set_double(struct lbx_out *out, const char *name, double value)
{
	(void)out;
	(void)value;
	is_documented(name);
}

static void set_int(struct lbx_out *out, const char *name, int64_t value)
{
	is_documented(name);
	struct session *s = out->context;
	snprintf(s->variable, sizeof s->variable, "%s", name);
	s->value = (double)value;
}

static void start(struct session *s)
{
	lb_clear_error();
	memset(s, 0, sizeof *s);
	image_create(&s->image, true);
	image_populate(&s->image);
	s->settings = lbx_default_settings;
	s->out = (struct lbx_out){
		.width = 80, .context = s, .write = write_text, .set_int = set_int, .set_double = set_double
	};
	s->context = (struct lbx_context){ .target = &s->image.target, .out = &s->out, .settings = &s->settings };
}

static void finish(struct session *s)
{
	lbx_context_close(&s->context);
	image_destroy(&s->image);
	free(s->text);
	lb_clear_error();
}

/* Runs "NAME REST". */
static bool run(struct session *s, const char *line)
{
	struct lbx_args args;
	char name[32];
	size_t n = strcspn(line, " ");

	snprintf(name, sizeof name, "%.*s", (int)n, line);
	s->n = 0;
	write_text(&s->out, "", 0);
	s->out.json = false;
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);
	assert_non_null(command);
	return lbx_args_parse_line(command, line + n, &args) && lbx_command_run(&s->context, &args);
}

static void prints(struct session *s, const char *line, const char *expected)
{
	if (!run(s, line))
		fail_msg("%s: %s", line, lb_error_message());
	assert_string_equal(s->text, expected);
}

static void says(struct session *s, const char *line, const char *expected)
{
	if (!run(s, line))
		fail_msg("%s: %s", line, lb_error_message());
	if (!strstr(s->text, expected))
		fail_msg("%s: '%s' is not in\n%s", line, expected, s->text);
}

static void fails(struct session *s, const char *line, const char *expected)
{
	if (run(s, line))
		fail_msg("%s: did not fail", line);
	if (!strstr(lb_error_message(), expected))
		fail_msg("%s: '%s' does not say '%s'", line, lb_error_message(), expected);
	lb_clear_error();
}

static json_t *parsed(struct session *s, const char *line)
{
	json_error_t error;

	if (!run(s, line))
		fail_msg("%s: %s", line, lb_error_message());
	json_t *o = json_loads(s->text, 0, &error);
	if (!o)
		fail_msg("%s: %s in %s", line, error.text, s->text);
	return o;
}

static int64_t integer(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *string(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	return text ? text : "(null)";
}

static void values_are_printed(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	prints(&s, "print x[0,0]",
	       "x[0,0]: float32 (10,)\n"
	       "[0.   0.25 0.5  0.75 1.   1.25 1.5  1.75 2.   2.25]\n");
	prints(&s, "print #2[0:2,::3,1]", "layer.0/view[0:2,::3,1]: float32 (2, 2)\n[[44.75 37.25]\n [44.5  37.  ]]\n");
	prints(&s, "print x[1, 2, 3]", "x[1, 2, 3]: float32 ()\n20.75\n");
	prints(&s, "print x[0:0]", "x[0:0]: float32 (0, 6, 10)\n[]\n");
	prints(&s, "print layer.0/view[0] --precision 1",
	       "layer.0/view[0]: float32 (6, 4)\n[[59.8 44.8 29.8 14.8]\n [57.2 42.2 27.2 12.2]\n"
	       " [54.8 39.8 24.8  9.8]\n [52.2 37.2 22.2  7.2]\n [49.8 34.8 19.8  4.8]\n"
	       " [47.2 32.2 17.2  2.2]]\n");
	says(&s, "print lazy",
	     "lazy: float32 (4, 6, 10), lazy: it has no value yet\n"
	     "peek would replay 1 operation from 1 ready tensor");
	prints(&s, "set threshold 20", "threshold       20, was 1000: `set threshold 1000` restores it\n");
	prints(&s, "print x --edge 1",
	       "x: float32 (4, 6, 10)\n[[[ 0.   ...  2.25]\n  ...\n  [12.5  ... 14.75]]\n\n ...\n\n"
	       " [[45.   ... 47.25]\n  ...\n  [57.5  ... 59.75]]]\n");
	says(&s, "print x --full", "[ 2.5   2.75  3.    3.25  3.5   3.75  4.    4.25  4.5   4.75]");
	json_t *o = parsed(&s, "print --json x[3,5]");
	json_t *values = json_object_get(o, "values");
	assert_int_equal(json_array_size(values), 10);
	assert_true(json_real_value(json_array_get(values, 9)) == 59.75);
	assert_string_equal(string(o, "slice"), "[3,5]");
	json_decref(o);
	finish(&s);
}

static void what_cannot_be_printed(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	fails(&s, "print y", "no tensor 'y'");
	fails(&s, "print lasy", "did you mean lazy?");
	fails(&s, "print x[9]", "index 9 is out of range for axis 0 with size 4");
	fails(&s, "print %12", "no tensor '%12': it is a line of a listing; `locals` in the graph's frame");
	fails(&s, "print x[", "no tensor 'x[': a bracket ([) is not closed");
	fails(&s, "print #99", "no tensor #99");
	fails(&s, "print #", "# is followed by its number");
	fails(&s, "print #1x", "# is followed by its number");
	fails(&s, "print", "print needs an argument: T[slice]");
	fails(&s, "print x y", "no tensor 'x y': did you mean x?");
	fails(&s, "list x y", "list: unexpected argument 'y'; expected list [GLOB]");
	fails(&s, "print x --colour", "print has no option '--colour'; it has --full, --edge, --precision and --json");
	fails(&s, "suspect x",
	      "suspect: unexpected argument 'x'; expected only options: --all, --seconds "
	      "and --json");
	fails(&s, "print @x:f65:4", "no dtype 'f65': there are bool, u8 to u64");
	fails(&s, "diff x good.core", "good.core is a core file: name the tensor in it, as in good.core:x");
	fails(&s, "print x --edge", "needs a value: N");
	fails(&s, "print x --edge 0", "--edge must be from 1");
	fails(&s, "print x --edge=two", "takes a whole number, not 'two'");
	fails(&s, "print ' '", "no tensor given");
	fails(&s, "print \"' '\"", "no tensor given");
	fails(&s, "print la co", "no tensor 'la co' (a name with blanks stands in quotes): not a name");
	fails(&s, "print 'la co'", "no tensor 'la co': not a name");
	fails(&s, "events 12", "events: no event is named '12'; `--last 12` shows the last 12");
	fails(&s, "print 'x", "a quote (') is not closed");
	assert_int_equal(setenv("HOME", "/nonexistent/my home", 1), 0);
	fails(&s, "save x ~/x.npy", "/nonexistent/my home/x.npy: cannot be written");
	fails(&s, "save x '~/x.npy'", "~/x.npy: cannot be written");
	fails(&s, "save x a~/x.npy", "a~/x.npy: cannot be written");
	char home[LBX_LINE_MAX];
	memset(home, 'h', sizeof home - 1);
	home[sizeof home - 1] = '\0';
	assert_int_equal(setenv("HOME", home, 1), 0);
	fails(&s, "save x ~/x.npy", "save: the line is longer than");
	fails(&s, "stats lazy", "lazy is lazy: it has no value yet; peek would replay 1 operation");
	fails(&s, "info x[0]", "'x[0]' is a slice");
	for (int state = LBX_FREED + 1; state < LBX_STATES; state++)
		fails(&s, "list --state asleep", lbx_state_name((enum lbx_state)state));
	fails(&s, "list --dtype f8", "no dtype 'f8'");
	fails(&s, "list --sort colour", "cannot sort by 'colour'");
	fails(&s, "at 0x10", "0x10 belongs to no tensor");
	fails(&s, "at nowhere", "'nowhere' is not an address");
	fails(&s, "set colour 1", "no setting 'colour'");
	fails(&s, "set precision -1", "from 0 to 20, not '-1'");
	s.context.target = NULL;
	lbx_context_close(&s.context);
	fails(&s, "print x", "no program");
	says(&s, "status", "runtime    not found: no program");
	finish(&s);
}

static void expression(struct session *s, int i, const char *text, const char *type, uint64_t bits)
{
	s->image.expressions[i] = text;
	snprintf(s->image.values[i].type, sizeof s->image.values[i].type, "%s", type);
	s->image.values[i].bits = bits;
}

static void tensors_are_selected(void **state)
{
	struct session s;
	const uint64_t x = IMAGE_TENSORS;

	(void)state;
	start(&s);
	const uint64_t view = x + image_root(&s.image)->kinds[0].record_size;
	expression(&s, 0, "q", "struct lb_tensor *", x);
	expression(&s, 1, "q[1]", "lb_tensor", view); /* what C makes of a handle's slice */
	expression(&s, 2, "cache[3]", "lb_tensor * const", view);
	expression(&s, 3, "*q", "const lb_tensor", x);
	expression(&s, 4, "lazy", "int", 5);           /* a variable named like a tensor */
	expression(&s, 5, "gone", "lb_tensor *", 0);
	expression(&s, 6, "stray", "lb_tensor *", x + 4);
	prints(&s, "print q[1][0,0]", "x[1][0,0]: float32 ()\n15.0\n");
	prints(&s, "print q[1,0,0]", "x[1,0,0]: float32 ()\n15.0\n");
	prints(&s, "print cache[3][0,0,0]", "layer.0/view[0,0,0]: float32 ()\n59.75\n");
	prints(&s, "print *q[0]",
	       "x[0]: float32 (6, 10)\n[[ 0.    0.25  0.5   0.75  1.    1.25  1.5"
	       "   1.75  2.    2.25]\n [ 2.5   2.75  3.    3.25  3.5   3.75  4.    4.25  4.5   4.75]\n"
	       " [ 5.    5.25  5.5   5.75  6.    6.25  6.5   6.75  7.    7.25]\n"
	       " [ 7.5   7.75  8.    8.25  8.5   8.75  9.    9.25  9.5   9.75]\n"
	       " [10.   10.25 10.5  10.75 11.   11.25 11.5  11.75 12.   12.25]\n"
	       " [12.5  12.75 13.   13.25 13.5  13.75 14.   14.25 14.5  14.75]]\n");
	says(&s, "info lazy", "lazy: float32");
	fails(&s, "info gone", "'gone' is a NULL tensor");
	fails(&s, "info stray", "bytes inside a record");
	finish(&s);
}

static void names_may_be_shared(void **state)
{
	static const int64_t shape[] = { 2, 3 };
	struct session s;

	(void)state;
	start(&s);
	struct lbx_tensor_record r = image_record(&s.image, 18, "x", LB_F32, 2, shape, 0);
	image_tensor(&s.image, 18, &r);
	r = image_record(&s.image, 19, "cache[3]", LB_F32, 2, shape, 0);
	image_tensor(&s.image, 19, &r);
	says(&s, "info x", "2 tensors are 'x': #19 is meant, the newest (x@2)");
	says(&s, "info x@1", "x: float32 (4, 6, 10), ready");
	says(&s, "info #19", "#19");
	says(&s, "info cache[3]", "cache[3]: float32 (2, 3)");
	finish(&s);
}

/* What a file holds is what is printed, without the limits of a screen. */
static void lists_are_written(void **state)
{
	struct session s;
	char path[64], line[128], held[16384];

	(void)state;
	start(&s);
	snprintf(path, sizeof path, "/tmp/lazybones-list-%d", (int)getpid());
	for (int json = 0; json < 2; json++) {
		s.out.width = 400;
		snprintf(line, sizeof line, "list --limit 0%s", json ? " --json" : "");
		assert_true(run(&s, line));
		char *printed = strdup(s.text);
		s.out.width = 30;
		snprintf(line, sizeof line, "list --out %s%s", path, json ? " --json" : "");
		assert_true(run(&s, line));
		assert_non_null(strstr(s.text, json ? "\"rows\":18,\"of\":18}" : ", 18 of 18 tensors\n"));
		FILE *file = fopen(path, "r");
		assert_non_null(file);
		held[fread(held, 1, sizeof held - 1, file)] = '\0';
		fclose(file);
		assert_string_equal(held, printed);
		free(printed);
	}
	unlink(path);
	assert_false(run(&s, "list --out /nonexistent/list"));
	assert_string_equal(lb_error_message(),
			    "list: /nonexistent/list: cannot be written: No such file or directory");
	finish(&s);
}

static void tensors_are_listed(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	says(&s, "list", "18 tensors: 16 ready");
	assert_string_equal(s.variable, "tensor_count");
	assert_true(s.value == 18);
	says(&s, "list --limit 2", "… 16 more");
	prints(&s, "list l* --sort name",
	       "id  name          dtype    shape       state  op         bytes\n"
	       "#2  layer.0/view  float32  (10, 6, 4)  ready  transpose  960 B\n"
	       "#3  lazy          float32  (4, 6, 10)  lazy   exp        960 B\n"
	       "2 tensors of 18: 1 ready (960 B), 1 lazy (960 B once evaluated)\n");
	/* the highest first; what has no value last */
	says(&s, "list [lfu]* --sort max",
	     "bytes    max\n#2   layer.0/view  float32  (10, 6, 4)  ready  transpose  960 B  59.75\n");
	says(&s, "list [lfu]* --sort max",
	     "0\n#3   lazy          float32  (4, 6, 10)  lazy   exp        960 B      -\n9 tensors");
	says(&s, "list [lfu]* --sort min --json", "\"min\":null}");
	/* a buffer counts once, whoever uses it */
	image_set(&s.image, LB_KIND_BUFFER, 0, "refs", 2);
	says(&s, "list [xl]*", "3 tensors of 18: 2 ready (960 B), 1 lazy");
	says(&s, "list layer*", "1 tensor of 18: 1 ready (960 B), 0 lazy");
	says(&s, "list --state lazy", "2 tensors of 18: 0 ready (0 B), 2 lazy");
	says(&s, "list --dtype bf16", "1 tensor of 18");
	says(&s, "list nothing*", "0 tensors of 18");
	json_t *o = parsed(&s, "list --json --sort bytes");
	json_t *rows = json_object_get(o, "tensors"), *row = json_array_get(rows, 0);
	assert_int_equal(json_array_size(rows), 18);
	assert_int_equal(integer(o, "total"), 18);
	static const char *const keys[] = {
		"id",         "name",  "dtype", "shape",  "strides", "offset",
		"contiguous", "state", "op",    "inputs", "nbytes",  "data",
	};
	for (size_t i = 0; i < json_array_size(rows); i++)
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			assert_non_null(json_object_get(json_array_get(rows, i), keys[k]));
	assert_int_equal(integer(row, "nbytes"), 960);
	json_decref(o);
	/* a line never gets wider than it may, unless the columns' least widths do */
	s.out.width = 60;
	assert_true(run(&s, "list layer*"));
	assert_true(strcspn(s.text, "\n") <= 60);
	finish(&s);
}

static void damage_is_told(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	image_set(&s.image, LB_KIND_TENSOR, 0, "rank", 99);
	says(&s, "list", "1 record of this program could not be read or is damaged");
	image_set(&s.image, LB_KIND_BUFFER, 0, "nbytes", 0x300);
	says(&s, "info layer.0/view", "corrupt: its shape, strides and offset reach out");
	fails(&s, "print layer.0/view", "reach out of its buffer");
	fails(&s, "stats layer.0/view", "reach out of its buffer");
	says(&s, "status", "1 unreadable or damaged");
	/* a torn record is shown, its values are not */
	image_set(&s.image, LB_KIND_TENSOR, 4, "seq", 3);
	says(&s, "info bool", "warning:    torn");
	fails(&s, "print bool", "is torn");
	finish(&s);
}

static void tensors_are_described(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	says(&s, "info layer.0/view", "  strides     (-1, -10, -60) elements, strided");
	says(&s, "info layer.0/view", "  offset      239 elements");
	says(&s, "info layer.0/view", "  data        0x2003bc");
	says(&s, "info layer.0/view", "  inputs      x (#1, float32 (4, 6, 10), ready)");
	says(&s, "info layer.0/view", "lb_raw_data does not see these elements");
	says(&s, "info lazy", "  made by     0x401234\n              0x405678\n");
	image_set(&s.image, LB_KIND_BUFFER, 0, "flags", LB_BUFFER_FOREIGN);
	says(&s, "info x", "tensor, the program's own memory\n");
	image_set(&s.image, LB_KIND_BUFFER, 0, "capacity", 0);
	says(&s, "info x", "tensor, a mapped file\n");
	json_t *o = parsed(&s, "info x --json");
	assert_true(json_is_true(json_object_get(json_object_get(o, "buffer"), "file")));
	json_decref(o);
	o = parsed(&s, "info layer.0/view --json");
	assert_int_equal(integer(o, "id"), 2);
	assert_string_equal(string(o, "data"), "0x2003bc");
	assert_string_equal(string(o, "layout"), "strided");
	assert_true(json_is_false(json_object_get(o, "contiguous")));
	json_decref(o);
	o = parsed(&s, "info lazy --json");
	assert_true(json_is_null(json_object_get(o, "data")));
	assert_int_equal(json_array_size(json_object_get(o, "strides")), json_array_size(json_object_get(o, "shape")));
	assert_int_equal(integer(json_object_get(o, "pending"), "operations"), 1);
	assert_int_equal(json_array_size(json_object_get(o, "stack")), 2);
	json_decref(o);
	o = parsed(&s, "status --json");
	assert_string_equal(string(o, "version"), "9.8.7");
	assert_string_equal(string(o, "target"), "program");
	json_decref(o);
	finish(&s);
}

static void a_value_without_inputs_is_lost(void **state)
{
	static const int64_t shape[] = { 2 };
	struct session s;

	(void)state;
	start(&s);
	struct lbx_tensor_record r = image_record(&s.image, 18, "orphan", LB_F32, 1, shape, 0);
	r.n_inputs[0] = 2;
	r.inputs[0] = r.inputs[1] = 1;
	r.flags[0] = LB_FLAG_DETACHED;
	image_tensor(&s.image, 18, &r);
	says(&s, "info orphan", "2 inputs are no longer there");
	finish(&s);
}

static void statistics(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	json_t *o = parsed(&s, "stats layer.0/view[:,:,0] --json --first 2");
	assert_int_equal(integer(o, "count"), 60);
	assert_true(json_real_value(json_object_get(o, "min")) == 45);
	assert_true(json_real_value(json_object_get(o, "max")) == 59.75);
	json_t *at = json_object_get(o, "argmin");
	assert_int_equal(json_integer_value(json_array_get(at, 0)), 9);
	assert_int_equal(json_integer_value(json_array_get(at, 1)), 5);
	assert_true(json_real_value(json_object_get(o, "mean")) == 52.375);
	assert_int_equal(json_array_size(json_object_get(o, "first")), 2);
	json_decref(o);
	says(&s, "stats x", "  max         59.75 at [3, 5, 9]\n");
	says(&s, "stats x", "  zero        1 (0.417%), first at [0, 0, 0]\n");
	says(&s, "stats x[0:0]", "  count       0\n");
	finish(&s);
}

/* 10^18 elements over 240: counted without being visited. */
/* As many as an option can ask for fit where they are put. */
static void first_elements_are_limited(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	fails(&s, "stats x --first 4097", "--first must be from 0 to 4096");
	fails(&s, "peek x --stats --first 4097", "--first must be from 0 to 4096");
	says(&s, "peek x --stats --first 4096", "59.75");
	finish(&s);
}

static void repeated_elements(void **state)
{
	static const int64_t shape[] = { 1000000000, 1000000, 10 };
	struct session s;

	(void)state;
	start(&s);
	struct lbx_tensor_record r = image_record(&s.image, 18, "wide", LB_F32, 3, shape, IMAGE_BUFFERS);
	r.strides[0] = r.strides[1] = 0;
	image_tensor(&s.image, 18, &r);
	says(&s, "stats wide", "  count       10000000000000000\n");
	says(&s, "stats wide", "  max         2.25 at [0, 0, 9]\n");
	says(&s, "print wide", "[0.   0.25 0.5  ... 1.75 2.   2.25]");
	fails(&s, "print wide --full", "more than 67108864 elements");
	finish(&s);
}

static void addresses_are_found(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	says(&s, "at 0x200011",
	     "0x200011 is byte 17 of buffer #1 (960 B at 0x200000)\n"
	     "  x (#1, float32 (4, 6, 10), ready): element [0, 0, 4], byte 1 of it\n"
	     "  layer.0/view (#2, float32 (10, 6, 4), ready): element [5, 5, 3], byte 1 of it\n");
	fails(&s, "at 0x2003c0", "0x2003c0 belongs to no tensor");
	says(&s, "at 0x100000", "the record (lb_tensor) of x (#1");
	says(&s, "at 0x100009", "byte 9 of the record");
	json_t *o = parsed(&s, "at 0x2003bc --json");
	json_t *place = json_array_get(json_object_get(o, "tensors"), 1);
	assert_string_equal(string(place, "name"), "layer.0/view");
	for (int i = 0; i < 3; i++)
		assert_int_equal(json_integer_value(json_array_get(json_object_get(place, "element"), (size_t)i)), 0);
	json_decref(o);
	finish(&s);
}

static void lines_are_taken_apart(void **state)
{
	struct lbx_args args;
	const struct lbx_command *print = &lbx_command_print;
	const struct lbx_command *list = &lbx_command_list;
	int64_t edge = 7;

	(void)state;
	lb_clear_error();
	assert_true(lbx_args_parse_line(print, "  x[0, :, f(1, 2)]  --edge=4 --full", &args));
	assert_int_equal(args.n, 1);
	assert_string_equal(args.v[0], "x[0, :, f(1, 2)]");
	assert_string_equal(lbx_args_option(&args, "edge"), "4");
	assert_string_equal(lbx_args_option(&args, "full"), "");
	assert_null(lbx_args_option(&args, "precision"));
	assert_null(lbx_args_option(&args, "json"));
	assert_true(lbx_args_int(&args, "edge", 1, 9, &edge));
	assert_int_equal(edge, 4);
	assert_true(lbx_args_int(&args, "precision", 1, 9, &edge));
	assert_int_equal(edge, 4);
	assert_true(lbx_args_parse_line(list, "\"a b*\" --sort 'name' --json", &args));
	assert_string_equal(args.v[0], "a b*");
	assert_string_equal(lbx_args_option(&args, "sort"), "name");
	assert_string_equal(lbx_args_option(&args, "json"), "");
	assert_true(lbx_args_parse_line(list, "-- --json", &args));
	assert_string_equal(args.v[0], "--json");
	assert_null(lbx_args_option(&args, "json"));
	assert_true(lbx_args_parse_line(&lbx_command_diff, "two\\ words[0, :] 'a\\ b' --seconds 1", &args));
	assert_int_equal(args.n, 2);
	assert_string_equal(args.v[0], "two words[0, :]");
	assert_string_equal(args.v[1], "'a\\ b'"); /* within quotes it is no escape */
	assert_true(lbx_args_parse_line(list, "back\\slash\\ x", &args));
	assert_string_equal(args.v[0], "back\\slash x");
	/* a bracket that is not closed takes nothing in */
	assert_true(lbx_args_parse_line(list, "x[ --json", &args));
	assert_string_equal(args.v[0], "x[");
	assert_non_null(lbx_args_option(&args, "json"));
	assert_true(lbx_args_parse_line(&lbx_command_diff, "f(1, 2)[0 [y, --seconds 1", &args));
	assert_int_equal(args.n, 2);
	assert_string_equal(args.v[0], "f(1, 2)[0");
	assert_string_equal(args.v[1], "[y,");
	assert_true(lbx_args_parse_line(print, "x [0]", &args));
	assert_string_equal(args.v[0], "x [0]");
	assert_false(lbx_args_parse_line(&lbx_command_diff, "x y [0]", &args));
	assert_non_null(strstr(lb_error_message(), "'[0]' stands by itself: write a slice right behind its tensor"));
	lb_clear_error();
	char *longest = malloc(LBX_LINE_MAX + 10);
	memset(longest, 'x', LBX_LINE_MAX + 9);
	longest[LBX_LINE_MAX + 9] = '\0';
	assert_false(lbx_args_parse_line(list, longest, &args));
	lb_clear_error();
	longest[LBX_LINE_MAX - 2] = '\0';
	assert_true(lbx_args_parse_line(list, longest, &args));
	free(longest);
}

/* A program's arguments are words already: nothing in them is quoted, and a slice may be several. */
static void words_are_taken(void **state)
{
	static const struct lbx_command outer = {
		.name = "",
		.arguments = "",
		.options = { { "stop", NULL, "" }, { "exe", "FILE", "" } },
		.letters = "exe",
	};
	const char *several[] = { "x[0,", ":,", "1:2]", "(y", "--edge", "4", NULL };
	const char *literal[] = { "'two words'", "--", "--~/\" b", NULL };
	const char *mixed[] = { "-e/bin/x", "--stop", "--", "-stop", NULL };
	const char *verb[] = { "--stop", "list", "--limit", "[", "--stop=1", NULL };
	const char *none[] = { "--exe", NULL }, *unknown[] = { "-x", NULL };
	struct lbx_argv words = { mixed, false };
	struct lbx_args args, inner;

	(void)state;
	lb_clear_error();
	assert_true(lbx_args_parse(&lbx_command_print, several, &args));
	assert_string_equal(args.v[0], "x[0, :, 1:2] (y");
	assert_string_equal(lbx_args_option(&args, "edge"), "4");
	assert_true(lbx_args_parse(&lbx_command_save, literal, &args));
	assert_string_equal(args.v[0], "'two words'");
	assert_string_equal(args.v[1], "--~/\" b");

	/* up to what it has no room for */
	lbx_args_begin(&outer, NULL, &args);
	assert_true(lbx_args_take(&args, &words));
	assert_string_equal(lbx_args_option(&args, "exe"), "/bin/x");
	assert_string_equal(lbx_args_option(&args, "stop"), "");
	assert_string_equal(args.left, "-stop");
	assert_ptr_equal(words.at, mixed + 3);

	/* the inner row's own options come first, then those of the outer one */
	words.at = verb;
	lbx_args_begin(&outer, NULL, &args);
	assert_true(lbx_args_take(&args, &words));
	assert_string_equal(*words.at++, "list");
	lbx_args_begin(&lbx_command_list, &args, &inner);
	assert_false(lbx_args_take(&inner, &words));
	assert_string_equal(lb_error_message(), "list: --stop takes no value");
	assert_string_equal(lbx_args_option(&inner, "limit"), "[");
	lb_clear_error();
	assert_false(lbx_args_parse(&outer, none, &args));
	assert_string_equal(lb_error_message(), "--exe needs a value: FILE");
	lb_clear_error();
	assert_false(lbx_args_parse(&outer, unknown, &args));
	assert_string_equal(lb_error_message(), "there is no option '-x' before a command; there are --stop and --exe");
	lb_clear_error();
}

static void every_command_has_help(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	for (const struct lbx_command *const *row = lbx_commands; *row; row++) {
		const struct lbx_command *c = *row;

		s.n = 0;
		lbx_command_help(&s.out, c, "tensor ", "tensor ");
		const char *example = strstr(s.text, "Example: ");
		assert_true(!example || strncmp(example + 9, "tensor ", 7) == 0 ||
			    strncmp(example + 9, "lazybones ", 10) == 0);
		assert_non_null(strstr(s.text, c->summary + 1));
		assert_non_null(strstr(s.text, "--json"));
		assert_true(c->summary[strlen(c->summary) - 1] != '.');
		assert_non_null(c->run);
		assert_true(c->max_args >= c->min_args);
	}
	finish(&s);
}

/* One word, one meaning: of rows, of times, of a moment. */
static void options_mean_the_same(void **state)
{
	int n = 0;

	(void)state;
	for (const struct lbx_command *const *row = lbx_commands; *row; row++)
		for (const struct lbx_option *o = (*row)->options; o < (*row)->options + 20 && o->name; o++) {
			bool is_limit = strcmp(o->name, "limit") == 0, is_since = strcmp(o->name, "since") == 0;
			if (is_limit && (strcmp(o->value, "N") != 0 || !strstr(o->help, "0: all")))
				fail_msg("%s --limit is of rows, and 0 is all: %s", (*row)->name, o->help);
			if (is_since && !strstr("MARK POINT", o->value))
				fail_msg("%s --since takes a moment: %s", (*row)->name, o->help);
			if (strcmp(o->name, "once") == 0 && (o->value || !strstr(o->help, "only once")))
				fail_msg("%s --once is a time, then it is over: %s", (*row)->name, o->help);
			n += is_limit + is_since;
		}
	assert_true(n > 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_mean_the_same),
		cmocka_unit_test(values_are_printed),
		cmocka_unit_test(what_cannot_be_printed),
		cmocka_unit_test(tensors_are_selected),
		cmocka_unit_test(names_may_be_shared),
		cmocka_unit_test(tensors_are_listed),
		cmocka_unit_test(lists_are_written),
		cmocka_unit_test(damage_is_told),
		cmocka_unit_test(tensors_are_described),
		cmocka_unit_test(a_value_without_inputs_is_lost),
		cmocka_unit_test(statistics),
		cmocka_unit_test(first_elements_are_limited),
		cmocka_unit_test(repeated_elements),
		cmocka_unit_test(addresses_are_found),
		cmocka_unit_test(lines_are_taken_apart),
		cmocka_unit_test(words_are_taken),
		cmocka_unit_test(every_command_has_help),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
