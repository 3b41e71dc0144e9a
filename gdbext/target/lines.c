#include "target/lines.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lbx_lines {
	Dwfl *dwfl; /* NULL: nothing is known */
	Elf *core;
	int fd;
};

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};
static const Dwfl_Callbacks core_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

static struct lbx_lines *create(const Dwfl_Callbacks *from)
{
	struct lbx_lines *lines = calloc(1, sizeof *lines);

	if (!lines)
		return NULL;
	lines->fd = -1;
	lines->dwfl = dwfl_begin(from);
	return lines;
}

static void forget(struct lbx_lines *lines)
{
	dwfl_end(lines->dwfl);
	lines->dwfl = NULL;
}

struct lbx_lines *lbx_lines_of_process(pid_t pid)
{
	struct lbx_lines *lines = create(&callbacks);

	if (lines && lines->dwfl && (dwfl_linux_proc_report(lines->dwfl, pid) != 0 ||
				     dwfl_report_end(lines->dwfl, NULL, NULL) != 0))
		forget(lines);
	return lines;
}

struct lbx_lines *lbx_lines_of_core(const char *path)
{
	struct lbx_lines *lines = create(&core_callbacks);

	if (!lines || !lines->dwfl)
		return lines;
	elf_version(EV_CURRENT);
	lines->fd = open(path, O_RDONLY | O_CLOEXEC);
	lines->core = lines->fd < 0 ? NULL : elf_begin(lines->fd, ELF_C_READ_MMAP, NULL);
	if (!lines->core || dwfl_core_file_report(lines->dwfl, lines->core, NULL) < 0 ||
	    dwfl_report_end(lines->dwfl, NULL, NULL) != 0)
		forget(lines);
	return lines;
}

void lbx_lines_destroy(struct lbx_lines *lines)
{
	if (!lines)
		return;
	dwfl_end(lines->dwfl);
	elf_end(lines->core);
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines);
}

bool lbx_lines_find(struct lbx_lines *lines, uint64_t pc, struct lbx_source_line *ret)
{
	if (!lines || !lines->dwfl)
		return false;
	Dwfl_Module *module = dwfl_addrmodule(lines->dwfl, pc);
	if (!module)
		return false;
	const char *name = dwfl_module_addrname(module, pc);
	if (name)
		snprintf(ret->function, sizeof ret->function, "%s", name);
	Dwfl_Line *line = dwfl_module_getsrc(module, pc);
	const char *file = line ? dwfl_lineinfo(line, NULL, &ret->line, NULL, NULL, NULL) : NULL;
	if (file)
		snprintf(ret->file, sizeof ret->file, "%s", file);
	return name || file;
}
