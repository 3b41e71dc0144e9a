/* Settings from the environment: a good one counts; too much is the most; a bad one is told once on stderr, with what it
 * may be, and ignored. Each is read once, so this program runs itself again with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/isa.h"
#include "graph/start.h"
#include "kernels/kernels.h"
#include "memory/pages.h"
#include "probe.h"
#include "publish/root.h"

/* What a process made of its settings. */
struct settings {
	int64_t threads, isa, strided, events, stacks, huge;
};

static const char *program;

enum { HUGE = 2 << 20 };

/* Whether a piece of so many bytes is marked "hg", as /proc/self/smaps says. */
static bool is_of_huge_pages(size_t nbytes)
{
	char *at = lb_pages_take(nbytes), line[256];
	unsigned long begin, end, address = (unsigned long)at;
	bool here = false, found = false;
	FILE *f = fopen("/proc/self/smaps", "r");
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			here = begin <= address && address < end;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			found = strstr(line, " hg");
	}
	if (f)
		fclose(f);
	munmap(at, nbytes);
	return found;
}

static int child_main(void)
{
	lb_start(); /* as where the library is loaded; an archive's part alone does not */
	struct settings s = {
		lb_parallel_width(), lb_isa_level(),
		lb_root->strided,    (int64_t)lb_root->flight_capacity,
		lb_root->want_stack, is_of_huge_pages(HUGE) + 2 * is_of_huge_pages(HUGE / 2),
	};
	return write(STDOUT_FILENO, &s, sizeof s) == sizeof s ? 0 : 1;
}

static size_t read_all(int from, void *to, size_t size)
{
	size_t used = 0;
	for (ssize_t n; used < size && (n = read(from, (char *)to + used, size - used)) > 0;)
		used += (size_t)n;
	close(from);
	return used;
}

/* The settings of a process with NAME=value, and all that it said; value NULL: without NAME. */
static struct settings settings_with(const char *name, const char *value, char said[1024])
{
	static const char *const names[] = {
		"LAZYBONES_THREADS", "LAZYBONES_ISA",    "LAZYBONES_STRIDED",
		"LAZYBONES_EVENTS",  "LAZYBONES_STACKS", "LAZYBONES_HUGE_PAGES",
	};
	struct settings s;
	int out[2], err[2], status;

	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(err), 0);
	pid_t child = fork();
	if (child == 0) {
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			unsetenv(names[i]);
		if (value)
			setenv(name, value, 1);
		execl(program, program, "--settings", NULL);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	assert_int_equal(read_all(out[0], &s, sizeof s), sizeof s);
	said[read_all(err[0], said, 1023)] = '\0';
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return s;
}

static void good_ones_count(void **state)
{
	(void)state;
	char said[1024];

	assert_int_equal(settings_with("LAZYBONES_THREADS", "3", said).threads, 3);
	assert_string_equal(said, "");
	assert_int_equal(settings_with("LAZYBONES_ISA", "base", said).isa, LB_ISA_BASE);
	assert_string_equal(said, "");
	assert_int_equal(settings_with("LAZYBONES_STRIDED", "warn", said).strided, 1);
	assert_string_equal(said, "");
	assert_int_equal(settings_with("LAZYBONES_STRIDED", "stop", said).strided, 2);
	assert_string_equal(said, "");
	assert_int_equal(settings_with("LAZYBONES_EVENTS", "100", said).events, 128);
	assert_string_equal(said, "");
	assert_int_equal(settings_with("LAZYBONES_EVENTS", "0", said).events, 0);
	assert_string_equal(said, "");
	assert_int_equal(settings_with("LAZYBONES_STACKS", "7", said).stacks, 7);
	assert_string_equal(said, "");
}

/* Where the kernel has none, it does not mark them. */
static void large_pieces_are_of_huge_pages(void **state)
{
	(void)state;
	char said[1024];

	if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0) {
		print_message("skip: this kernel has no huge pages for who asks\n");
		skip();
	}
	assert_int_equal(settings_with(NULL, NULL, said).huge, 1);
	assert_int_equal(settings_with("LAZYBONES_HUGE_PAGES", "1", said).huge, 1);
	assert_int_equal(settings_with("LAZYBONES_HUGE_PAGES", "0", said).huge, 0);
	assert_string_equal(said, "");
}

static void too_much_is_the_most(void **state)
{
	static const char *const values[] = { "1048577", "4194304", "99999999999999999999" };
	char said[1024], expected[1024];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(settings_with("LAZYBONES_EVENTS", values[i], said).events, 1048576);
		snprintf(expected, sizeof expected, "lazybones: LAZYBONES_EVENTS=%s is too large: 1048576 is used\n",
			 values[i]);
		assert_string_equal(said, expected);
	}
	assert_int_equal(settings_with("LAZYBONES_STACKS", "65", said).stacks, 64);
	assert_int_equal(settings_with("LAZYBONES_EVENTS", "1048576", said).events, 1048576);
	assert_string_equal(said, "");
}

static void bad_ones_are_told_and_ignored(void **state)
{
	static const struct {
		const char *name, *must;
		const char *values[8];
	} settings[] = {
		{ "LAZYBONES_THREADS",
		  "a whole number from 1 to 2147483647",
		  { "0", "-1", "two", "2x", " ", "1.5", "-99999999999999999999" } },
		{ "LAZYBONES_EVENTS",
		  "a whole number from 0 to 1048576",
		  { "-1", "many", "4k", "0x10", "-99999999999999999999" } },
		{ "LAZYBONES_STACKS", "a whole number from 0 to 64", { "-1", "65x", "deep" } },
		{ "LAZYBONES_ISA", "base, v3, v4, bf16 or amx", { "v5", "V3", "avx2", "v", "v33", " base" } },
		{ "LAZYBONES_HUGE_PAGES", "0 or 1", { "2", "on", "-1" } },
		{ "LAZYBONES_STRIDED", "off, warn or stop", { "on", "1", "Warn", "warn,stop" } },
	};
	char said[1024], expected[1024];
	(void)state;
	struct settings otherwise = settings_with(NULL, NULL, said);

	assert_string_equal(said, "");
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const char *name = settings[i].name;
		for (int k = 0; k < 8 && settings[i].values[k]; k++) {
			const char *value = settings[i].values[k];
			struct settings s = settings_with(name, value, said);
			snprintf(expected, sizeof expected, "lazybones: %s=%s is ignored: it must be %s\n", name, value,
				 settings[i].must);
			assert_string_equal(said, expected);
			assert_memory_equal(&s, &otherwise, sizeof s);
		}
		/* empty is unset */
		struct settings s = settings_with(name, "", said);
		assert_string_equal(said, "");
		assert_memory_equal(&s, &otherwise, sizeof s);
	}
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1 && strcmp(argv[1], "--settings") == 0)
		return child_main();
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones_count),
		cmocka_unit_test(large_pieces_are_of_huge_pages),
		cmocka_unit_test(too_much_is_the_most),
		cmocka_unit_test(bad_ones_are_told_and_ignored),
	};
	return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
