#include "target/lines.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lbx_lines {
	Dwfl *dwfl; /* NULL: nothing is known */
	Elf *core;
	int fd;
	const char *sysroot; /* or NULL */
};

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

/* A module of a core: below the sysroot, if that file has the right build id. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	const struct lbx_lines *lines = *data;
	char path[PATH_MAX];
	const unsigned char *wanted;
	const void *got;
	GElf_Addr unused;

	if (!lines || !lines->sysroot || *name != '/' ||
	    snprintf(path, sizeof path, "%s%s", lines->sysroot, name) >= PATH_MAX)
		return dwfl_build_id_find_elf(module, data, name, base, file_name, elf);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int n = dwfl_module_build_id(module, &wanted, &unused);
	Elf *file = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool same = file && n > 0 && dwelf_elf_gnu_build_id(file, &got) == n &&
		    memcmp(got, wanted, (size_t)n) == 0;
	elf_end(file);
	if (same && (*file_name = strdup(path)))
		return fd;
	if (fd >= 0)
		close(fd);
	return dwfl_build_id_find_elf(module, data, name, base, file_name, elf);
}

static const Dwfl_Callbacks core_callbacks = {
	.find_elf = find_elf,
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

static int remember(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, void *lines)
{
	(void)module;
	(void)name;
	(void)base;
	*data = lines;
	return DWARF_CB_OK;
}

struct lbx_lines *lbx_lines_of_core(const char *path, const char *exe, const char *sysroot)
{
	struct lbx_lines *lines = create(&core_callbacks);

	if (!lines || !lines->dwfl)
		return lines;
	elf_version(EV_CURRENT);
	lines->fd = open(path, O_RDONLY | O_CLOEXEC);
	lines->core = lines->fd < 0 ? NULL : elf_begin(lines->fd, ELF_C_READ_MMAP, NULL);
	if (!lines->core || dwfl_core_file_report(lines->dwfl, lines->core, exe) < 0 ||
	    dwfl_report_end(lines->dwfl, NULL, NULL) != 0)
		forget(lines);
	lines->sysroot = sysroot;
	if (lines->dwfl)
		dwfl_getmodules(lines->dwfl, remember, lines, 0);
	return lines;
}

static int find_nothing(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			char **file_name, Elf **elf)
{
	(void)module, (void)data, (void)name, (void)base, (void)file_name, (void)elf;
	return -1; /* all were opened when they were reported */
}

static const Dwfl_Callbacks module_callbacks = {
	.find_elf = find_nothing,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

struct lbx_lines *lbx_lines_of_modules(struct lbx_target *target, const char *program,
				       uint64_t loader)
{
	enum { MAX_MODULES = 4096 };
	struct { uint64_t version, map; } debug = { 0, 0 }; /* struct r_debug's beginning */
	struct { uint64_t bias, name, dynamic, next, before; } link;
	struct lbx_lines *lines = create(&module_callbacks);
	char path[PATH_MAX];

	if (!lines || !lines->dwfl)
		return lines;
	dwfl_report_begin(lines->dwfl);
	if (loader == 0 || !lbx_target_try_read(target, loader, &debug, sizeof debug) || !debug.map)
		dwfl_report_elf(lines->dwfl, "program", program, -1, 0, true);
	uint64_t next = debug.map;
	for (int i = 0; next && i < MAX_MODULES; i++, next = link.next) {
		if (!lbx_target_try_read(target, next, &link, sizeof link))
			break;
		/* the first has no name: it is the program */
		if (i == 0)
			snprintf(path, sizeof path, "%s", program);
		else if (!lbx_target_read_string(target, link.name, path, sizeof path))
			*path = '\0';
		if (strchr(path, '/')) /* also one that the program has loaded as ./NAME */
			dwfl_report_elf(lines->dwfl, path, path, -1, link.bias, true);
	}
	if (dwfl_report_end(lines->dwfl, NULL, NULL) != 0)
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

struct Dwfl *lbx_lines_dwfl(struct lbx_lines *lines)
{
	return lines ? lines->dwfl : NULL;
}

/* Between the segments of a module there may be room, and in it another's code. */
bool lbx_lines_known(struct lbx_lines *lines, uint64_t pc)
{
	Dwfl_Module *module = lines && lines->dwfl ? dwfl_addrmodule(lines->dwfl, pc) : NULL;
	GElf_Addr bias;
	GElf_Phdr p;
	size_t n;

	if (!module)
		return false;
	Elf *elf = dwfl_module_getelf(module, &bias);
	if (!elf || elf_getphdrnum(elf, &n) != 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && (p.p_flags & PF_X) &&
		    pc - bias - p.p_vaddr < p.p_memsz)
			return true;
	return false;
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
