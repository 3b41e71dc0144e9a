#include "target/thread_numbers.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last number of the line "NSpid:	4711	23	1", which is the innermost container's, and how many there are; 0: no such
 * line. */
static int read_numbers(const char *path, uint64_t *ret_own)
{
	static const char title[] = "NSpid:";
	char line[512];
	int n = 0;

	FILE *f = fopen(path, "re");
	while (f && n == 0 && fgets(line, sizeof line, f)) {
		char *at = line + sizeof title - 1, *end;
		if (strncmp(line, title, sizeof title - 1) != 0)
			continue;
		for (uint64_t number; (number = strtoull(at, &end, 10)), end > at; at = end, n++)
			*ret_own = number;
	}
	if (f)
		fclose(f);
	return n;
}

uint64_t lbx_thread_by_own(pid_t pid, uint64_t own)
{
	char path[96];
	struct dirent *entry;
	uint64_t ret = own, number;
	bool is_found = false;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	if (read_numbers(path, &number) < 2)
		return own;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	while (folder && !is_found && (entry = readdir(folder))) {
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/status", (int)pid, entry->d_name);
		is_found = entry->d_name[0] != '.' && read_numbers(path, &number) > 1 && number == own;
		ret = is_found ? strtoull(entry->d_name, NULL, 10) : ret;
	}
	if (folder)
		closedir(folder);
	return ret;
}
