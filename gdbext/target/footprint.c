#include "target/footprint.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { ENTRIES = 4096, LINE = 512 };
/* In an entry of /proc/PID/pagemap. */
#define PRESENT (1ULL << 63)

static FILE *open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* "Rss:   123 kB" */
static void take_line(const char *line, struct lbx_footprint *ret)
{
	const struct {
		const char *name;
		uint64_t *sum;
	} fields[] = {
		{ "Rss:", &ret->resident },      { "Pss:", &ret->proportional }, { "Private_Clean:", &ret->own },
		{ "Private_Dirty:", &ret->own }, { "Swap:", &ret->swapped },
	};
	unsigned long long kib;
	char name[64];

	if (sscanf(line, "%63s %llu kB", name, &kib) != 2)
		return;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (strcmp(name, fields[i].name) == 0)
			*fields[i].sum += kib << 10;
}

static bool take_memory(pid_t pid, struct lbx_footprint *ret)
{
	FILE *f = open_file(pid, "smaps_rollup");
	char line[LINE];

	while (f && fgets(line, sizeof line, f))
		take_line(line, ret);
	if (f)
		fclose(f);
	return f && ret->resident;
}

/* "4711 (a name (of any kind)) S …": the times are the 14th and 15th field, the threads the 20th. */
static bool take_time(pid_t pid, struct lbx_footprint *ret)
{
	unsigned long long user, system, threads;
	char line[LINE * 4];
	FILE *f = open_file(pid, "stat");
	size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;

	if (f)
		fclose(f);
	line[n] = '\0';
	const char *rest = strrchr(line, ')');
	if (!rest || sscanf(rest, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %*s %*s %*s %*s %llu", &user,
			    &system, &threads) != 3)
		return false;
	ret->cpu_ns = (user + system) * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	ret->threads = (unsigned)threads;
	return true;
}

bool lbx_process_footprint(pid_t pid, struct lbx_footprint *ret)
{
	*ret = (struct lbx_footprint){ .threads = 0 };
	return take_memory(pid, ret) && take_time(pid, ret);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool lbx_process_resident(pid_t pid, uint64_t address, uint64_t n, uint64_t *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = address + n, entries[ENTRIES];
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	*ret = 0;
	if (fd < 0 || end < address || end > UINT64_MAX - page)
		return false;
	for (uint64_t at = address / page; at * page < end;) {
		uint64_t want = smaller((end + page - 1) / page - at, ENTRIES);
		ssize_t got = pread(fd, entries, (size_t)want * sizeof *entries, (off_t)(at * sizeof *entries));
		if (got < (ssize_t)sizeof *entries)
			return false;
		for (size_t i = 0; i < (size_t)got / sizeof *entries; i++, at++) {
			uint64_t from = at * page > address ? at * page : address;
			if (entries[i] & PRESENT)
				*ret += smaller((at + 1) * page, end) - from;
		}
	}
	return true;
}
