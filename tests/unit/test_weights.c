/* The parameters of this very process beside checkpoints that hold the same, nearly the same, more and less. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "lazybones.h"
#include "self.h"

enum { MANY = 8 };

static char folder[] = "/tmp/lazybones-weights-XXXXXX";

static const char *at(const char *name)
{
	static char paths[4][256];
	static int i;
	char *path = paths[i++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static int open_all(void **state)
{
	return open_self(state) || !mkdtemp(folder);
}

static int close_all(void **state)
{
	char command[128];

	snprintf(command, sizeof command, "rm -r %s", folder);
	return close_self(state) || system(command) != 0;
}

static void holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text);
}

static const char *weights(const char *format, ...)
{
	char line[1024];
	va_list list;

	assert_true(lb_ok());
	va_start(list, format);
	vsnprintf(line, sizeof line, format, list);
	va_end(list);
	return session_says(self, "weights", line);
}

static lb_tensor *parameter(const char *name, lb_tensor *x)
{
	lb_tensor *named = lb_named(name, x);

	assert_true(lb_eval(named));
	return named;
}

static lb_tensor *normal(int64_t rows, int64_t columns, uint64_t key)
{
	return lb_random_normal(LB_SHAPE(rows, columns), LB_F32, lb_key(key));
}

/* A checkpoint: names and values in turn, to NULL. */
static const char *save(const char *file, ...)
{
	const char *names[MANY], *path = at(file), *name;
	lb_tensor *xs[MANY];
	va_list list;
	int n = 0;

	va_start(list, file);
	while ((name = va_arg(list, const char *))) {
		assert_true(n < MANY);
		names[n] = name;
		xs[n++] = va_arg(list, lb_tensor *);
	}
	va_end(list);
	assert_true(lb_save_safetensors(path, n, names, xs));
	return path;
}

static lb_tensor *with_one_changed(lb_tensor *x, int64_t i, double by)
{
	lb_tensor *flat = lb_reshape(x, LB_SHAPE(-1));
	lb_tensor *index = lb_arange(0, (double)lb_size(x), 1, LB_I64);
	lb_tensor *changed = lb_where(lb_equal(index, lb_scalar((double)i)), lb_add(flat, lb_scalar(by)), flat);

	return lb_reshape(changed, (lb_list){ lb_rank(x), lb_shape(x) });
}

static void what_is_equal_and_what_is_not(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *a = parameter("fc1.weight", normal(16, 32, 1)),
			  *b = parameter("fc2.weight", normal(8, 16, 2));
		lb_tensor *c = parameter("fc3.weight", lb_astype(normal(8, 16, 3), LB_BF16));
		lb_tensor *wide = normal(8, 16, 4), *d = parameter("fc4.weight", lb_astype(wide, LB_BF16));
		parameter("fc5.weight", normal(8, 16, 5));
		(void)d;
		const char *path = save("some.safetensors", "fc1.weight", a, "fc2.weight", with_one_changed(b, 35, 0.5),
					"fc3.weight", lb_astype(c, LB_F32), "fc4.weight", wide, "fc5.weight",
					lb_transpose(normal(8, 16, 5), LB_ALL_AXES), NULL);
		const char *text = weights("%s", path);
		holds(text, "5 of 5 parameters are in ");
		holds(text, " by name: 2 equal, 1 rounded, 1 different, 1 of another shape\n");
		holds(text, "different: 1\n  fc2.weight  float32 (8, 16): 1 of 128 differ, by 0.5 at most, at [2, 3]");
		holds(text, "of another shape: 1\n  fc5.weight  float32 (8, 16), saved as float32 (16, 8); ");
		holds(text, "transpose");
		lacks(text, "missing");
		lacks(text, "not in the checkpoint");
	}
}

static void what_one_of_the_two_lacks(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *a = parameter("a.weight", normal(4, 4, 1)), *b = parameter("b.weight", normal(4, 4, 2));
		parameter("zeros", lb_zeros(LB_SHAPE(4, 4), LB_F32));
		const char *path = save("lacks.safetensors", "a.weight", a, "old.weight", b, "lost", normal(4, 4, 3),
					"none", lb_zeros(LB_SHAPE(4, 4), LB_F32), NULL);
		const char *text = weights("%s", path);
		holds(text, "1 of 3 parameters is in ");
		holds(text, "missing in the program: 3\n");
		holds(text, "  lost  float32 (4, 4)\n");
		holds(text, "  old.weight  float32 (4, 4): its values are those of b.weight\n");
		holds(text, "not in the checkpoint: 2\n");
		holds(text, "  b.weight  its values are those of old.weight\n");
		/* nothing tells one array of zeros from another */
		holds(text, "  none  float32 (4, 4)\n");
		holds(text, "  zeros\n");
	}
}

static void names_may_begin_otherwise(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *a = parameter("net.model.a", normal(4, 4, 1)),
			  *b = parameter("net.model.b", normal(4, 4, 2));
		parameter("other", normal(4, 4, 3));
		const char *text = weights("%s", save("short.safetensors", "a", a, "b", b, NULL));
		holds(text, "2 of 3 parameters are in ");
		holds(text, "names in the program begin with 'net.model.', in the checkpoint with ''\n");
		holds(text, "1 name of the program begins not so, and is left out\n");
		text = weights("%s", save("module.safetensors", "module.model.a", a, "module.model.b", b, NULL));
		holds(text, "begin with 'net.', in the checkpoint with 'module.'\n");
		holds(text, "by name: 2 equal\n");
		text = weights("%s", save("long.safetensors", "x.net.model.a", a, "y", b, NULL));
		holds(text, "begin with '', in the checkpoint with 'x.'\n");
		text = weights("%s --prefix net.", save("said.safetensors", "model.a", a, "net.model.b", b, NULL));
		holds(text, "1 of 3 parameters is in ");
	}
}

static void the_same_memory_has_two_names(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *a = parameter("embedding", normal(4, 4, 1));
		parameter("head", lb_reshape(a, LB_SHAPE(4, 4)));
		const char *text = weights("%s", save("tied.safetensors", "embedding", a, NULL));
		holds(text, "1 more shares memory with these\n");
		lacks(text, "not in the checkpoint");
		text = weights("%s --names emb*", save("both.safetensors", "embedding", a, "head", a, NULL));
		holds(text, "  head  float32 (4, 4): its values are those of embedding\n");
		holds(text, "1 of 1 parameter is in ");
	}
}

static void a_checkpoint_may_be_several_files(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *a = parameter("a", normal(4, 4, 1)), *b = parameter("b", normal(4, 4, 2));
		char first[256], second[256];
		assert_int_equal(mkdir(at("parts"), 0700), 0);
		assert_int_equal(mkdir(at("empty"), 0700), 0);
		snprintf(first, sizeof first, "%s", save("parts/1.safetensors", "a", a, NULL));
		snprintf(second, sizeof second, "%s", save("parts/2.safetensors", "b", b, NULL));
		holds(weights("%s %s", first, second), "2 of 2 parameters are in ");
		holds(weights("%s", at("parts")), "/parts/1.safetensors and 1 file more by name: 2 equal\n");
		assert_true(!self->failed);
		holds(weights("%s %s", first, first), "have an array 'a'");
		assert_true(self->failed);
		lb_clear_error();
		holds(weights("%s", at("empty")), "has no files *.safetensors");
		lb_clear_error();
		holds(weights("%s", at("nowhere")), "No such file");
		lb_clear_error();
		/* also in a format whose arrays are known when they are read */
		assert_true(lb_save_npz(at("both.npz"), 2, (const char *const[]){ "a", "b" }, (lb_tensor *[]){ a, b }));
		holds(weights("%s", at("both.npz")), "2 of 2 parameters are in ");
		holds(weights("%s --names b", at("both.npz")), "1 of 1 parameter is in ");
	}
}

/* As lazybones-replay, but each run leaves a line. */
static void count_runs(const char *log)
{
	char program[256], own[512];
	const char *path = at("counting");
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
	FILE *file = fopen(path, "w");

	assert_true(n > 0 && file);
	own[n] = '\0';
	*strrchr(own, '/') = '\0';
	fprintf(file, "#!/bin/sh\necho run >>'%s'\nexec '%s/../bin/lazybones-replay'\n", log, own);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0700), 0);
	snprintf(program, sizeof program, "%s", path);
	setenv("LAZYBONES_REPLAY", program, 1);
}

static void an_array_is_read_once_however_many_it_is_tried_on(void **state)
{
	char log[256], line[16];
	int runs = 0;

	(void)state;
	snprintf(log, sizeof log, "%s", at("log"));
	count_runs(log);
	LB_SCOPE {
		parameter("a", normal(4, 4, 1));
		parameter("b", normal(4, 4, 2));
		parameter("small", normal(2, 2, 4));
		lb_tensor *c = parameter("c", normal(4, 4, 3));
		assert_true(lb_save_npz(at("others.npz"), 2, (const char *const[]){ "x", "y" },
					(lb_tensor *[]){ c, normal(4, 4, 5) }));
		const char *text = weights("%s", at("others.npz"));
		holds(text, "  x: its values are those of c\n");
		holds(text, "  y\n");
	}
	unsetenv("LAZYBONES_REPLAY");
	FILE *file = fopen(log, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		runs++;
	fclose(file);
	assert_int_equal(runs, 3); /* for what there is, and for each of the two */
}

static void as_json(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *a = parameter("a", normal(4, 4, 1)), *b = parameter("b", normal(4, 4, 2));
		parameter("c", normal(4, 4, 3));
		const char *path =
		    save("json.safetensors", "a", a, "b", with_one_changed(b, 5, 2), "d", normal(2, 2, 4), NULL);
		json_t *o = json_loads(weights("%s --json", path), 0, NULL), *tensors = json_object_get(o, "tensors");
		assert_int_equal(json_array_size(tensors), 2);
		assert_int_equal(json_integer_value(json_object_get(o, "equal")), 1);
		assert_string_equal(json_string_value(json_object_get(json_array_get(tensors, 0), "judgement")),
				    "equal");
		assert_int_equal(json_integer_value(json_object_get(json_array_get(tensors, 1), "different")), 1);
		assert_true(json_number_value(json_object_get(json_array_get(tensors, 1), "max_error")) > 1.99);
		assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(o, "missing"), 0),
								      "saved_name")),
				    "d");
		assert_string_equal(
		    json_string_value(json_object_get(json_array_get(json_object_get(o, "unexpected"), 0), "name")),
		    "c");
		json_decref(o);
	}
}

static void nothing_has_a_name(void **state)
{
	(void)state;
	LB_SCOPE {
		holds(weights("%s", save("alone.safetensors", "a", normal(4, 4, 1), NULL)),
		      "no ready tensor has a name");
		lb_clear_error();
		lb_tensor *a = parameter("a", normal(4, 4, 1));
		holds(weights("%s --names b*", save("alone.safetensors", "a", a, NULL)),
		      "no ready tensor's name matches b*");
		lb_clear_error();
		const char *text = weights("%s", save("alone.safetensors", "x", normal(4, 4, 1), NULL));
		holds(text, "0 of 1 parameter are in ");
		holds(text, "--saved-prefix");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_a_name),
		cmocka_unit_test(what_is_equal_and_what_is_not),
		cmocka_unit_test(what_one_of_the_two_lacks),
		cmocka_unit_test(names_may_begin_otherwise),
		cmocka_unit_test(the_same_memory_has_two_names),
		cmocka_unit_test(a_checkpoint_may_be_several_files),
		cmocka_unit_test(an_array_is_read_once_however_many_it_is_tried_on),
		cmocka_unit_test(as_json),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
