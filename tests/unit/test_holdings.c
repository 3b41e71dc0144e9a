/* What holds memory: over memory made by hand, and in this very process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/op.h"
#include "between.h"
#include "inspect/memory/points.h"
#include "lazybones.h"
#include "session.h"

static struct lbx_memory_marks marks;

static int start(void **state)
{
	session_start(state);
	((struct session *)*state)->context.marks = &marks;
	return 0;
}

static int finish(void **state)
{
	lbx_memory_marks_deinit(&marks);
	return session_stop(state);
}

static const char *memory(struct session *s, const char *line)
{
	return session_says(s, "memory", line);
}

static void holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

/* The image has two buffers, of 960 bytes under x and its view, and of 64 under one of each dtype. */
static void each_buffer_counts_once(void **state)
{
	struct session *s = *state;

	const char *text = memory(s, "--by name");
	holds(text, "     960 B  94%  x: 1 buffer\n");
	holds(text, "      64 B   6%  bool: 1 buffer\n");
	holds(text, "       0 B   0%  (no name): 1 lazy that would take 960 B\n");
	holds(text, "     960 B  x #1, layer.0/view #2 (view)");
	holds(text, "      64 B  bool #5, uint8 #6, uint16 #7, uint32 #8, uint64 #9, int8 #10 and 8\n"
		    "              more\n");
	holds(text, "input of lazy lazy #3");
	holds(memory(s, "--by dtype"), "     960 B  94%  float32: 1 buffer, 2 lazy that would take 1.9 KiB\n");
	holds(memory(s, "--by site --limit 1"), "  … and 1 more (--limit 0 shows all)\n");
	image_set(&s->image, LB_KIND_BUFFER, 1, "flags", LB_BUFFER_CACHED);
	for (int slot = 4; slot < 4 + LB_DTYPES; slot++)
		image_set(&s->image, LB_KIND_TENSOR, slot, "state", LB_STATE_FREED);
	holds(memory(s, "--by state"), "      64 B   6%  cached: 1 buffer\n");
	image_set(&s->image, LB_KIND_BUFFER, 1, "flags", 0);
	text = memory(s, "--by state");
	holds(text, "      64 B   6%  unowned: 1 buffer\n");
	holds(text, "      64 B  no tensor's\n");
	image_set(&s->image, LB_KIND_BUFFER, 0, "flags", LB_BUFFER_FOREIGN);
	image_set(&s->image, LB_KIND_BUFFER, 0, "capacity", 0);
	holds(memory(s, "--by state"), "     960 B  94%  foreign: 1 buffer\n");
	image_set(&s->image, LB_KIND_BUFFER, 0, "nbytes", (uint64_t)INT64_MIN);
	holds(memory(s, ""), "records unreadable or damaged");
}

/* As what lb_from_memory() is given of a living tensor's. */
static void bytes_of_two_buffers_count_for_their_owner(void **state)
{
	struct session *s = *state;

	image_set(&s->image, LB_KIND_BUFFER, 1, "flags", LB_BUFFER_FOREIGN);
	image_set(&s->image, LB_KIND_BUFFER, 1, "data", IMAGE_DATA + 64);
	const char *text = memory(s, "--by name");
	holds(text, "     960 B 100%  x: 1 buffer\n");
	holds(text, "       0 B   0%  bool: 1 buffer\n");
	holds(memory(s, "--by name --json"), "\"bytes\":960,\"by\":");
}

static void json_is_the_same(void **state)
{
	struct session *s = *state;
	json_t *o = json_loads(memory(s, "--by name --json"), 0, NULL);
	json_t *first = json_array_get(json_object_get(o, "groups"), 0);

	assert_int_equal(json_integer_value(json_object_get(o, "bytes")), 1024);
	assert_string_equal(json_string_value(json_object_get(first, "key")), "x");
	assert_int_equal(json_integer_value(json_object_get(first, "bytes")), 960);
	first = json_array_get(json_object_get(o, "largest"), 0);
	assert_int_equal(json_integer_value(json_object_get(first, "tensors_over_it")), 2);
	assert_int_equal(json_integer_value(json_object_get(first, "consumers_of_it")), 1);
	json_decref(o);
}

static void a_mark_is_compared_with(void **state)
{
	static const int64_t shape[] = { 4, 6, 10 };
	struct session *s = *state;

	holds(memory(s, "--since nowhere"),
	      "memory: --since takes a mark (there is none yet), a file of `memory --save`, or a core: "
	      "nowhere: No such file or directory");
	assert_string_equal(memory(s, "mark before"), "mark before: 109 B in use, 0 tensors\n");
	holds(memory(s, "--since before"), "by site\n  nothing has changed\n");
	uint64_t b = image_buffer(&s->image, 2, IMAGE_DATA + 0x4000, 960);
	struct lbx_tensor_record r = image_record(&s->image, 18, "grown.w", LB_F32, 3, shape, b);
	image_tensor(&s->image, 18, &r);
	image_set(&s->image, LB_KIND_TENSOR, 2, "state", LB_STATE_FREED);
	const char *text = memory(s, "--since before --by name");
	holds(text, "by name\n        +960 B  grown.*: 960 B, was 0 B; +1 buffer, +0 lazy\n");
	holds(text, "          +0 B  lazy: 0 B, was 0 B; +0 buffers, -1 lazy\n");
	holds(memory(s, "--since before --by dtype --json"), "\"before\":{\"bytes\":960,\"buffers\":1,\"lazy\":2}");
	holds(memory(s, "mark before --json"),
	      "{\"mark\":\"before\",\"bytes\":109,\"tensors\":0}"); /* again: it moves */
	holds(memory(s, "--since before"), "nothing has changed");
	for (int i = 1; i < LBX_MARKS_MAX; i++) {
		char line[32];
		snprintf(line, sizeof line, "mark m%d", i);
		holds(memory(s, line), " in use, ");
	}
	holds(memory(s, "--since nowhere"), "memory: --since takes a mark (there are before, m1, m2, m3, ");
	holds(memory(s, "mark more"), "there are already 32 marks");
}

static void a_file_is_compared_with(void **state)
{
	struct session *s = *state;
	char path[] = "/tmp/lazybones-memory-XXXXXX", line[128], whole[8192];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	s->context.marks = NULL;
	holds(
	    memory(s, "--since 5"),
	    "memory: --since takes a file of `memory --save`, or a core; marks are gdb's: 5: No such file or directory");
	snprintf(line, sizeof line, "--save %s", path);
	holds(memory(s, line), "by site\n");
	close(fd); /* another file has its name now */
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	snprintf(line, sizeof line, "--since %s --by name", path);
	holds(memory(s, line), "nothing has changed");
	image_set(&s->image, LB_KIND_BUFFER, 1, "capacity", 4096);
	holds(memory(s, line), "      +3.9 KiB  bool: 4.0 KiB, was 64 B");
	snprintf(line, sizeof line, "--since %s", path);
	holds(memory(s, line), "(not known): 4.9 KiB, was 1.0 KiB"); /* the image names no site */
	/* cut short anywhere, it is an error that names the file */
	ssize_t n = pread(fd, whole, sizeof whole, 0);
	assert_between(n, 100, sizeof whole - 1);
	for (ssize_t cut = 0; cut < n; cut++) {
		struct lbx_snapshot read;
		assert_false(lbx_snapshot_parse("file", whole, (size_t)cut, &read));
		holds(lb_error_message(), "file is not a snapshot");
		lb_clear_error();
	}
	whole[n] = '\0';
	char *at = strstr(whole, "\"bytes\":960");
	assert_non_null(at);
	at[8] = '-';
	assert_int_equal(pwrite(fd, whole, (size_t)n, 0), n);
	holds(memory(s, line), " makes no sense");
	assert_int_equal(pwrite(fd, "{\"a\":[]} ", 9, 0), 9);
	assert_int_equal(ftruncate(fd, 9), 0);
	holds(memory(s, line), "it does not say `lazybones memory 1`");
	assert_int_equal(pwrite(fd, "neither", 7, 0), 7);
	const char *said = memory(s, line);
	holds(said, " is not an ELF file; what `memory --save` wrote, or a core file, can be compared with");
	assert_null(strstr(strstr(said, path) + 1, path));
	close(fd);
	unlink(path);
	holds(memory(s, line), "No such file");
	holds(memory(s, "mark x"), "keep it in a file: --save FILE");
	holds(memory(s, "--save /nonexistent/x"), "/nonexistent/x: cannot be written: No such file");
}

static const struct lbx_holding_group *group(const struct lbx_holding_groups *groups, const char *key)
{
	for (size_t i = 0; i < groups->n; i++)
		if (strcmp(groups->list[i].key, key) == 0)
			return &groups->list[i];
	fail_msg("no group %s", key);
	return NULL;
}

/* The runtime's own counters agree with what is found buffer by buffer. */
static void the_counters_agree(void **state)
{
	struct session *self = session_of_self();
	struct lbx_snapshot s;
	struct lbx_holding_groups groups;

	(void)state;
	assert_non_null(self);
	LB_SCOPE {
		for (int i = 0; i < 5000; i++) {
			char name[32];
			snprintf(name, sizeof name, "layers.%d", i);
			lb_tensor *x = lb_named(name, lb_ones(LB_SHAPE(i % 7 + 1, 10), i % 2 ? LB_F16 : LB_F32));
			assert_true(i % 5 == 0 || lb_eval(x, lb_transpose(x, LB_ALL_AXES)));
		}
		lb_tensor *gone = NULL;
		LB_SCOPE
			gone = lb_keep(lb_ones(LB_SHAPE(3000), LB_F64));
		assert_true(lb_eval(gone));
		lb_release(gone);
		assert_true(lbx_snapshot_take(&self->context, &s));
		assert_true(lbx_holding_groups_make(&s, NULL, LBX_BY_STATE, &groups));
		assert_int_equal(group(&groups, "ready")->bytes, lb_active_memory());
		assert_int_equal(group(&groups, "ready")->buffers, 4000);
		assert_int_equal(group(&groups, "cached")->bytes, lb_cache_memory());
		assert_int_equal(s.counters.active_bytes, lb_active_memory());
		lbx_holding_groups_deinit(&groups);
		assert_true(lbx_holding_groups_make(&s, NULL, LBX_BY_NAME, &groups));
		const struct lbx_holding_group *layers = group(&groups, "layers.*");
		assert_int_equal(layers->buffers, 4000);
		assert_int_equal(layers->lazy, 1000);
		assert_int_equal(layers->bytes, lb_active_memory());
		lbx_holding_groups_deinit(&groups);
		lbx_snapshot_deinit(&s);
	}
	session_destroy(self);
}

/* However many calls there are on it. */
static void a_line_is_one_site(void **state)
{
	struct session *self = session_of_self();
	char expected[256];

	(void)state;
	assert_non_null(self);
	self->context.marks = &marks;
	LB_SCOPE {
		int line = __LINE__ + 1;
		lb_tensor *a = lb_ones(LB_SHAPE(1000), LB_F32), *b = lb_ones(LB_SHAPE(2000), LB_F32);
		assert_true(lb_eval(a, b));
		snprintf(expected, sizeof expected, "test_holdings.c:%d: 2 buffers\n", line);
		holds(memory(self, ""), expected);
		holds(memory(self, "mark x"), "mark x: ");
		lb_tensor *more[2];
		line = __LINE__ + 1;
		more[0] = lb_ones(LB_SHAPE(1000), LB_F64), more[1] = lb_ones(LB_SHAPE(500), LB_F64);
		assert_true(lb_eval(more[0], more[1]));
		snprintf(expected, sizeof expected, "test_holdings.c:%d: 12 KiB, was 0 B; +2 buffers, +0 lazy\n", line);
		holds(memory(self, "--since x"), expected);
	}
	session_destroy(self);
	lbx_memory_marks_deinit(&marks);
}

static char *content(const char *path, char ret[64])
{
	FILE *file = fopen(path, "r");

	ret[0] = '\0';
	if (!file)
		return NULL;
	ret[fread(ret, 1, 63, file)] = '\0';
	fclose(file);
	return ret;
}

/* A disk without room: what there was stays, and nothing else is left. */
static void no_room_to_write(void **state)
{
	static const char *const commands[][2] = {
		{ "memory", "--save %s" },
		{ "list", "--out %s" },
		{ "graph", "x --dot %s" },
		{ "image", "x[0] --out %s" },
	};
	struct session *s = *state;
	struct rlimit limit, none;
	char folder[] = "/tmp/holdings-XXXXXX", path[64], line[128], was[64];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/file", folder);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		snprintf(line, sizeof line, commands[i][1], path);
		for (int there = 0; there < 2; there++) {
			FILE *file = there ? fopen(path, "w") : NULL;
			if (file) {
				fputs("good", file);
				fclose(file);
			}
			none = limit;
			none.rlim_cur = 0;
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
			const char *said = session_says(s, commands[i][0], line);
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
			if (!strstr(said, "File too large") || !strstr(said, path))
				fail_msg("%s: %s", commands[i][0], said);
			if (there)
				assert_string_equal(content(path, was), "good");
			else
				assert_null(content(path, was));
		}
		unlink(path);
	}
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(rmdir(folder), 0); /* nothing is in it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_buffer_counts_once, start, finish),
		cmocka_unit_test_setup_teardown(bytes_of_two_buffers_count_for_their_owner, start, finish),
		cmocka_unit_test_setup_teardown(json_is_the_same, start, finish),
		cmocka_unit_test_setup_teardown(a_mark_is_compared_with, start, finish),
		cmocka_unit_test_setup_teardown(a_file_is_compared_with, start, finish),
		cmocka_unit_test_setup_teardown(no_room_to_write, start, finish),
		cmocka_unit_test(the_counters_agree),
		cmocka_unit_test(a_line_is_one_site),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
