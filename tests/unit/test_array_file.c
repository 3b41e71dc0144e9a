/* Arrays of files, as the debugger's side reads and writes them: every good file of files.py gives
 * what NumPy gave, every bad one a message; what is saved is read again; what was quantised tells its
 * groups. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/operand/array_file.h"
#include "lazybones.h"
#include "session.h"
#include "target/process.h"

static char folder[4000], scratch[4100];
static struct lbx_out out = { .width = 80 };
static struct lbx_settings settings;
static struct lbx_context context = { .out = &out, .settings = &settings };

static const char *in(const char *directory, const char *name)
{
	static char paths[4][4400];
	static int i;
	char *path = paths[i++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", directory, name);
	return path;
}

static FILE *list(const char *name)
{
	FILE *f = fopen(in(folder, name), "r");

	assert_non_null(f);
	return f;
}

static char *next(char **at)
{
	char *from = *at, *bar = strchr(from, '|');

	*at = bar ? bar + 1 : from + strlen(from);
	if (bar)
		*bar = '\0';
	return from;
}

/* Whether the array's elements are those of a file, byte for byte (a bool counts as what it means). */
static void same_elements(const struct lbx_array *a, const char *path, const char *what)
{
	int64_t width = lbx_dtype_bytes(a->dtype);
	char *got = malloc((size_t)(a->size * width) + 1), *wanted = malloc((size_t)(a->size * width) + 1);
	FILE *f = fopen(path, "rb");

	assert_true(f && got && wanted);
	assert_int_equal(fread(wanted, 1, (size_t)(a->size * width) + 1, f), a->size * width);
	fclose(f);
	assert_true(lbx_array_copy(a, 0, a->size, got));
	for (int64_t i = 0; i < a->size && a->dtype == LB_BOOL; i++)
		got[i] = got[i] != 0;
	if (memcmp(got, wanted, (size_t)(a->size * width)) != 0)
		fail_msg("%s has other elements", what);
	free(got);
	free(wanted);
}

/* Found among all arrays of its file, it is the same. */
static void same_of_list(const struct lbx_array_file *file, const char *path, const char *expected, const char *what)
{
	struct lbx_array_list all;
	struct lbx_array_file got;
	struct lbx_array seen;
	size_t i = 0;

	assert_true(lbx_array_list_open(&context, path, &all));
	while (i < all.n && strcmp(lbx_array_list_name(&all, i), file->name) != 0)
		i++;
	if (i == all.n || !lbx_array_list_get(&all, i, &got))
		fail_msg("%s: %s", what, lb_ok() ? "it is not listed" : lb_error_message());
	assert_int_equal(got.array.rank, file->array.rank);
	assert_memory_equal(got.array.shape, file->array.shape, (size_t)got.array.rank * sizeof *got.array.shape);
	assert_int_equal(got.group, file->group);
	same_elements(&got.array, expected, what);
	if (lbx_array_list_describe(&all, i, &seen)) {
		assert_int_equal(seen.rank, file->array.rank);
		assert_memory_equal(seen.shape, file->array.shape, (size_t)seen.rank * sizeof *seen.shape);
		assert_string_equal(lbx_array_dtype_name(&seen), lbx_array_dtype_name(&file->array));
	}
	lbx_array_file_close(&got);
	lbx_array_list_close(&all);
}

static void good_files(void **state)
{
	char line[1024], shape[256];
	FILE *good = list("good");
	int n = 0;

	(void)state;
	while (fgets(line, sizeof line, good)) {
		struct lbx_array_file file;
		char *at = line, *name, *tensor, *dtype, *sizes, *expected;
		line[strcspn(line, "\n")] = '\0';
		name = next(&at);
		tensor = next(&at);
		dtype = next(&at);
		sizes = next(&at);
		expected = next(&at);
		if (!lbx_array_file_open(&context, in(folder, name), tensor, "", &file))
			fail_msg("%s: %s", line, lb_error_message());
		assert_string_equal(lbx_dtype_name(file.array.dtype), dtype);
		shape[0] = '\0';
		for (int i = 0; i < file.array.rank; i++)
			sprintf(shape + strlen(shape), "%s%lld", i ? "," : "", (long long)file.array.shape[i]);
		assert_string_equal(shape, sizes);
		same_elements(&file.array, in(folder, expected), line);
		same_of_list(&file, in(folder, name), in(folder, expected), line);
		lbx_array_file_close(&file);
		n++;
	}
	fclose(good);
	assert_true(n > 100);
}

static void bad_files(void **state)
{
	char line[1024];
	FILE *bad = list("bad");
	int n = 0;

	(void)state;
	while (fgets(line, sizeof line, bad)) {
		struct lbx_array_list all;
		struct lbx_array_file file;
		line[strcspn(line, "|\n")] = '\0';
		/* some hold one array that is good, or several */
		if (lbx_array_file_open(&context, in(folder, line), "", "", &file))
			lbx_array_file_close(&file);
		else
			assert_true(strlen(lb_error_message()) > 10);
		n += !lb_ok();
		lb_clear_error();
		if (lbx_array_list_open(&context, in(folder, line), &all))
			lbx_array_list_close(&all);
		else
			assert_true(strlen(lb_error_message()) > 10);
		lb_clear_error();
	}
	fclose(bad);
	assert_true(n > 80);
	assert_false(lbx_array_file_open(&context, in(folder, "nothing.npy"), "", "",
					 &(struct lbx_array_file){ .is_only = false }));
	assert_non_null(strstr(lb_error_message(), "No such file"));
	lb_clear_error();
}

static void names(void **state)
{
	struct lbx_array_file file;
	const char *path = in(scratch, "two.safetensors");

	(void)state;
	LB_SCOPE {
		lb_tensor *two[] = { lb_arange(0, 4, 1, LB_F32), lb_ones(LB_SHAPE(2), LB_BF16) };
		assert_true(lb_save_safetensors(path, 2, (const char *const[]){ "a:b", "c" }, two));
	}
	assert_true(lbx_array_file_open(&context, path, "c", "a:b", &file));
	assert_string_equal(file.name, "c");
	assert_int_equal(file.array.dtype, LB_BF16);
	assert_false(file.is_only);
	lbx_array_file_close(&file);
	assert_true(lbx_array_file_open(&context, path, "", "a:b", &file));
	assert_string_equal(file.name, "a:b");
	lbx_array_file_close(&file);
	assert_false(lbx_array_file_open(&context, path, "", "q", &file));
	assert_non_null(strstr(lb_error_message(), "holds 2 arrays: a:b, c; say which"));
	lb_clear_error();
	assert_false(lbx_array_file_open(&context, path, "d", "c", &file));
	assert_non_null(strstr(lb_error_message(), "holds no 'd', but a:b, c"));
	lb_clear_error();
	/* names that would do something to a terminal */
	LB_SCOPE {
		lb_tensor *two[] = { lb_ones(LB_SHAPE(2), LB_F32), lb_ones(LB_SHAPE(2), LB_F32) };
		assert_true(lb_save_safetensors(path, 2, (const char *const[]){ "a\033[2J", "c" }, two));
	}
	assert_false(lbx_array_file_open(&context, path, "d", "", &file));
	assert_non_null(strstr(lb_error_message(), "but a?[2J, c"));
	lb_clear_error();
	assert_true(lbx_array_file_open(&context, path, "", "a\033[2J", &file));
	assert_string_equal(file.name, "a?[2J");
	lbx_array_file_close(&file);
}

/* A debugger outlives a file that becomes shorter while it is looked at. */
static void a_file_that_becomes_shorter(void **state)
{
	const char *path = in(scratch, "shorter.npy");
	struct lbx_array_file file;
	struct lbx_debugger debugger = { 0 };
	float first[4] = { 9, 9, 9, 9 };

	(void)state;
	LB_SCOPE {
		assert_true(lb_save_npy(path, lb_arange(0, 100000, 1, LB_F32)));
		lb_tensor *empty = lb_zeros(LB_SHAPE(0, 3), LB_F32);
		assert_true(lb_save_npy(in(scratch, "none.npy"), empty));
	}
	context.debugger = &debugger;
	assert_true(lbx_array_file_open(&context, path, "", "", &file));
	assert_int_equal(truncate(path, 10), 0);
	assert_true(lbx_array_copy(&file.array, 99996, 4, first));
	for (int i = 0; i < 4; i++)
		assert_true(first[i] == (float)(99996 + i));
	lbx_array_file_close(&file);
	assert_true(lbx_array_file_open(&context, in(scratch, "none.npy"), "", "", &file));
	assert_int_equal(file.array.size, 0);
	lbx_array_file_close(&file);
	good_files(NULL);
	context.debugger = NULL;
}

/* ---- this very process, inspected ---- */

static void says(const char *wanted, const char *command, const char *format, ...)
{
	struct lbx_target *target;
	struct lbx_table *table = NULL;
	char line[4600];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	assert_true(lbx_process_open(getpid(), &target) && lbx_table_create(target, &table));
	struct session *self = session_of(target, table);
	const char *text = session_says(self, command, line);
	if (!strstr(text, wanted))
		fail_msg("%s %s: no '%s' in: %s", command, line, wanted, text);
	lbx_table_destroy(table);
	lbx_target_destroy(target);
	session_destroy(self);
}

static void saved_is_read_again(void **state)
{
	static const char *const extensions[] = { "npy", "npz", "safetensors" };

	(void)state;
	LB_SCOPE {
		for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
			lb_tensor *x =
			    lb_astype(lb_reshape(lb_arange(0, 60, 1, LB_F32), LB_SHAPE(3, 4, 5)), (lb_dtype)dtype);
			x = dtype % 2 ? lb_transpose(x, LB_ALL_AXES) : x;
			x = lb_named("x", x);
			if (dtype % 3)
				assert_true(lb_eval(x)); /* else it is replayed */
			for (int i = 0; i < 3; i++) {
				const char *path = in(scratch, "x");
				says(" saved to ", "save", "#%llu %s.%s --force", (unsigned long long)lb_id(x), path,
				     extensions[i]);
				says("elements are equal", "diff", "#%llu %s.%s", (unsigned long long)lb_id(x), path,
				     extensions[i]);
				char full[4500];
				snprintf(full, sizeof full, "%s.%s", path, extensions[i]);
				lb_file *file = lb_open(full);
				assert_non_null(file);
				lb_tensor *y = lb_file_get_at(file, 0);
				bool widened = dtype == LB_BF16 && i < 2;
				assert_int_equal(lb_dtype_of(y), widened ? LB_F32 : dtype);
				if (i > 0)
					assert_string_equal(lb_file_name(file, 0), "x");
				lb_tensor *equal =
				    lb_all(lb_equal(widened ? lb_astype(y, LB_BF16) : y, x), LB_ALL_AXES, false);
				assert_true(lb_item(equal) == 1);
				lb_file_close(file);
			}
		}
		lb_tensor *empty = lb_named("empty", lb_zeros(LB_SHAPE(0, 3), LB_F32));
		lb_tensor *scalar = lb_named("scalar", lb_scalar(2.5));
		assert_true(lb_eval(empty, scalar));
		for (int i = 0; i < 3; i++) {
			says("saved to", "save", "empty %s.%s --force", in(scratch, "e"), extensions[i]);
			says("all 0 elements are equal", "diff", "empty %s.%s", in(scratch, "e"), extensions[i]);
			says("saved to", "save", "scalar %s.%s --force", in(scratch, "s"), extensions[i]);
			says("the one element is equal", "diff", "scalar %s.%s", in(scratch, "s"), extensions[i]);
		}
		says("exists; --force", "save", "scalar %s.npy", in(scratch, "s"));
		says("as 'a:b'", "save", "scalar %s.npz:a:b --force", in(scratch, "s"));
		says("the one element is equal", "diff", "scalar %s.npz:a:b", in(scratch, "s"));
		says("is not FILE.npy", "save", "scalar %s", in(scratch, "s"));
		says("has no names", "save", "scalar %s.npy:name --force", in(scratch, "s"));
		says("cannot be written", "save", "scalar %s/none/s.npy", scratch);
	}
}

static void quantised(void **state)
{
	char path[4400];

	(void)state;
	LB_SCOPE {
		lb_quant how = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 32 };
		lb_tensor *w = lb_named("w", lb_random_normal(LB_SHAPE(16, 64), LB_F32, lb_key(3)));
		lb_quantized q = lb_quantize(w, how, NULL);
		lb_tensor *back = lb_named("back", lb_dequantize(q, how, LB_F32));
		assert_true(lb_eval(w, back));
		says("in 32 groups of 32: ", "diff", "back w");
		says("in 32 groups of 32: ", "diff", "w back");
		says("in 16 groups of 64: ", "diff", "w back --group 64");
		says("\"groups\":{\"group\":32,\"groups\":32,", "diff", "back w --json");
		says("no whole groups of 128", "diff", "back w --group 128");
	}
	snprintf(path, sizeof path, "%s/all.gguf", folder);
	LB_SCOPE {
		lb_file *file = lb_open(path);
		assert_non_null(file);
		bool found = false;
		for (int64_t i = 0; i < lb_file_count(file); i++) {
			lb_quantized q;
			lb_quant how;
			if (!lb_file_get_quantized(file, lb_file_name(file, i), &q, &how) || !q.w)
				continue;
			found = true;
			lb_tensor *x = lb_named("x", lb_multiply(lb_file_get_at(file, i), lb_scalar(1.25)));
			assert_true(lb_eval(x));
			says("quantised      relative error 0.2 ", "diff", "#%llu %s:%s", (unsigned long long)lb_id(x),
			     path, lb_file_name(file, i));
		}
		assert_true(found);
		lb_file_close(file);
	}
}

int main(void)
{
	const char *slash = strrchr(program_invocation_name, '/');
	int n = slash ? (int)(slash - program_invocation_name) : 1;

	settings = lbx_default_settings;
	snprintf(folder, sizeof folder, "%.*s/files", n, slash ? program_invocation_name : ".");
	snprintf(scratch, sizeof scratch, "%.*s/array_file.XXXXXX", n, slash ? program_invocation_name : ".");
	if (!mkdtemp(scratch))
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(names),
		cmocka_unit_test(a_file_that_becomes_shorter),
		cmocka_unit_test(saved_is_read_again),
		cmocka_unit_test(quantised),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char command[4200];
	snprintf(command, sizeof command, "rm -rf '%s'", scratch);
	return failed || system(command) != 0;
}
