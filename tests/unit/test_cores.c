/* What control groups leave of the cores: files as Linux writes them, in both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cores.h"

enum { FILES = 4 };

struct tree {
	const char *list;
	const char *files[FILES][2]; /* below the root: path, content */
	int cores;
};

static const struct tree trees[] = {
	{ "0::/\n", { { NULL, NULL } }, INT_MAX },
	{ "0::/\n", { { "cpu.max", "max 100000\n" } }, INT_MAX },
	{ "0::/\n", { { "cpu.max", "200000 100000\n" } }, 2 },
	/* two and a half, and less than one */
	{ "0::/\n", { { "cpu.max", "250000 100000\n" } }, 3 },
	{ "0::/\n", { { "cpu.max", "1000 100000\n" } }, 1 },
	/* the least of a group and those above */
	{ "0::/a/b\n",
	  { { "cpu.max", "800000 100000" }, { "a/cpu.max", "300000 100000" }, { "a/b/cpu.max", "max 100000" } },
	  3 },
	{ "0::/a/b\n", { { "a/cpu.max", "300000 100000" }, { "a/b/cpu.max", "50000 25000" } }, 2 },
	/* in a container whose own group is the root, under its name outside */
	{ "0::/docker/0123\n", { { "cpu.max", "400000 100000" } }, 4 },
	{ "0::/../other\n", { { "cpu.max", "400000 100000" } }, 4 },
	/* version 1, alone or beside version 2 */
	{ "4:memory:/x\n3:cpu,cpuacct:/x\n",
	  { { "cpu,cpuacct/x/cpu.cfs_quota_us", "600000\n" }, { "cpu,cpuacct/x/cpu.cfs_period_us", "100000\n" } },
	  6 },
	{ "3:cpuacct:/x\n2:cpu:/x\n0::/\n",
	  { { "cpu/x/cpu.cfs_quota_us", "-1\n" }, { "cpu/x/cpu.cfs_period_us", "100000\n" } },
	  INT_MAX },
	{ "2:cpu:/\n0::/\n",
	  { { "cpu/cpu.cfs_quota_us", "300000\n" },
	    { "cpu/cpu.cfs_period_us", "100000\n" },
	    { "unified/cpu.max", "200000 100000" } },
	  2 },
	/* cpuset is not cpu */
	{ "2:cpuset:/\n", { { "cpu/cpu.cfs_quota_us", "100000" }, { "cpu/cpu.cfs_period_us", "100000" } }, INT_MAX },
	/* damaged */
	{ "", { { "cpu.max", "100000 100000" } }, INT_MAX },
	{ "0:\n:::\n\n0::\n", { { "cpu.max", "500000 100000" } }, 5 },
	{ "0::/\n", { { "cpu.max", "" } }, INT_MAX },
	{ "0::/\n", { { "cpu.max", "100000" } }, INT_MAX },
	{ "0::/\n", { { "cpu.max", "100000 0" } }, INT_MAX },
	{ "0::/\n", { { "cpu.max", "-5 -1" } }, INT_MAX },
	{ "0::/\n", { { "cpu.max", "9223372036854775807 1" } }, INT_MAX },
	{ "2:cpu:/\n", { { "cpu/cpu.cfs_quota_us", "100000" } }, INT_MAX },
};

/* With the directories that lead to it. */
static void write_file(const char *root, const char *name, const char *text)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(path, 0755);
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void groups(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
		char root[] = "/tmp/lazybones-cores-XXXXXX", list[PATH_MAX], command[PATH_MAX];
		assert_non_null(mkdtemp(root));
		write_file(root, "list", trees[i].list);
		for (int k = 0; k < FILES && trees[i].files[k][0]; k++)
			write_file(root, trees[i].files[k][0], trees[i].files[k][1]);
		snprintf(list, sizeof list, "%s/list", root);
		int cores = lb_cores_of_groups(list, root);
		snprintf(command, sizeof command, "rm -r '%s'", root);
		assert_int_equal(system(command), 0);
		if (cores != trees[i].cores)
			fail_msg("row %zu: %d cores, should be %d", i, cores, trees[i].cores);
	}
	assert_int_equal(lb_cores_of_groups("/nonexistent", "/nonexistent"), INT_MAX);
}

static void this_process(void **state)
{
	(void)state;
	assert_in_range(lb_cores(), 1, sysconf(_SC_NPROCESSORS_CONF));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(groups), cmocka_unit_test(this_process) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
