#define _GNU_SOURCE
#include "base/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 1 << 16 };

static int count_affine(void)
{
	/* Linux wants room for all that it could have */
	for (int n = 1024; n <= MOST_CPUS; n *= 4) {
		cpu_set_t *set = CPU_ALLOC((size_t)n);
		if (!set)
			break;
		bool ok = sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)n), set) == 0;
		int count = ok ? CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)n), set) : 0;
		CPU_FREE(set);
		if (ok)
			return count;
	}
	return 1;
}

/* Two numbers of a file, or of two; false if either is not there, or says that there is no limit. */
static bool read_numbers(const char *directory, const char *first, const char *second, long long ret[2])
{
	const char *names[] = { first, second };
	int found = 0;
	for (int i = 0; i < 2 && names[i]; i++) {
		char path[PATH_MAX];
		int n = snprintf(path, sizeof path, "%s/%s", directory, names[i]);
		FILE *file = n > 0 && n < (int)sizeof path ? fopen(path, "re") : NULL;
		if (!file)
			return false;
		char line[64] = "", *at = line, *end;
		if (!fgets(line, sizeof line, file))
			line[0] = '\0';
		fclose(file);
		for (; found < 2; found++, at = end) {
			ret[found] = strtoll(at, &end, 10);
			if (end == at)
				break;
		}
	}
	return found == 2 && ret[0] > 0 && ret[1] > 0;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Of a group and all above it. */
static int limit_of(const char *root, const char *hierarchy, const char *group, bool is_second)
{
	char path[PATH_MAX];
	int limit = INT_MAX,
	    n = snprintf(path, sizeof path, "%s%s%s", root, hierarchy, strcmp(group, "/") == 0 ? "" : group);
	size_t top = strlen(root) + strlen(hierarchy);
	if (n < 0 || n >= (int)sizeof path)
		return INT_MAX;
	for (;;) {
		long long time[2];
		bool ok = is_second ? read_numbers(path, "cpu.max", NULL, time)
				    : read_numbers(path, "cpu.cfs_quota_us", "cpu.cfs_period_us", time);
		if (ok && time[0] / time[1] < INT_MAX)
			limit = least(limit, (int)(time[0] / time[1] + (time[0] % time[1] > 0)));
		char *slash = strrchr(path, '/');
		if (!slash || (size_t)(slash - path) < top)
			return limit;
		*slash = '\0';
	}
}

/* Of a version 1 list of controllers, as "cpu,cpuacct". */
static bool has_cpu(const char *controllers)
{
	for (const char *at = controllers; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, "cpu", 3) == 0 && (at[3] == '\0' || at[3] == ','))
			return true;
	return false;
}

int lb_cores_of_groups(const char *list, const char *root)
{
	FILE *file = fopen(list, "re");
	char line[PATH_MAX + 64];
	int limit = INT_MAX;
	while (file && fgets(line, sizeof line, file)) {
		char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		controllers++;
		group[strcspn(group, "\n")] = '\0';
		if (controllers[0] == '\0') {
			limit = least(limit, limit_of(root, "", group, true));
			limit = least(limit, limit_of(root, "/unified", group, true));
		} else if (has_cpu(controllers)) {
			limit = least(limit, limit_of(root, "/cpu", group, false));
			limit = least(limit, limit_of(root, "/cpu,cpuacct", group, false));
		}
	}
	if (file)
		fclose(file);
	return limit;
}

int lb_cores(void)
{
	int cores = least(count_affine(), lb_cores_of_groups("/proc/self/cgroup", "/sys/fs/cgroup"));
	return cores < 1 ? 1 : cores;
}
