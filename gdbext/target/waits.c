/* The first argument of the system call is the word's address: it stays in its register while the call waits. */
#include "target/waits.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

enum { X86_64_FIRST = 5 /* rdi */, AARCH64_FIRST = 0 };

/* "202 0x7f… 0x80 …" in /proc/PID/task/TID/syscall: the call's number, and its arguments. */
static void read_wait(pid_t pid, const char *tid, struct lbx_wait *ret)
{
	char path[64];
	long number;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/task/%.16s/syscall", (int)pid, tid);
	*ret = (struct lbx_wait){ .tid = strtoull(tid, NULL, 10) };
	file = fopen(path, "re");
	if (!file)
		return;
	if (fscanf(file, "%ld 0x%" SCNx64, &number, &ret->address) != 2 || number != SYS_futex)
		ret->address = 0;
	fclose(file);
}

int lbx_waits_of_process(pid_t pid, struct lbx_wait *ret, int max)
{
	char path[64];
	const struct dirent *entry;
	DIR *folder;
	int n = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && n < max && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			read_wait(pid, entry->d_name, &ret[n++]);
	if (folder)
		closedir(folder);
	return n;
}

int lbx_waits_of_threads(const struct lbx_threads *threads, struct lbx_wait *ret, int max)
{
	int n = 0;

	for (int i = 0; i < threads->n && n < max; i++) {
		const struct lbx_registers *r = &threads->list[i];
		int first = r->machine && r->machine->elf == EM_AARCH64 ? AARCH64_FIRST : X86_64_FIRST;
		ret[n++] = (struct lbx_wait){ r->tid, r->machine && r->known >> first & 1 ? r->r[first] : 0 };
	}
	return n;
}
