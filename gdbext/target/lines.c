#include "target/lines.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/core_modules.h"
#include "target/demangle.h"
#include "target/dynamic.h"
#include "target/inlined.h"
#include "target/statics.h"

struct lbx_lines {
	Dwfl *dwfl; /* NULL: nothing is known */
	Dwfl_Module *file; /* where it is of one file */
	Elf *core;
	int fd;
	char *vdso; /* the kernel's own module in a core; or NULL */
	uint64_t vdso_at;
	size_t vdso_size;
	char root[32]; /* of a process that sees other files than we do: "/proc/12/root"; or "" */
	struct lbx_dynamic_classes dynamic;
	struct lbx_statics statics;
	lbx_caller_fn *caller; /* or NULL */
};

/* As the process sees it: in a container another file may have its name here. */
static int find_elf_of_process(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file_name,
			       Elf **elf)
{
	const struct lbx_lines *lines = *data;
	char path[PATH_MAX];

	if (!lines || !lines->root[0] || *name != '/')
		return dwfl_linux_proc_find_elf(module, data, name, base, file_name, elf);
	int n = snprintf(path, sizeof path, "%s%s", lines->root, name);
	int fd = n > 0 && (size_t)n < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0)
		*file_name = strdup(path);
	return fd;
}

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf_of_process,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

/* What has no file by now: a copy of the kernel's own module, or what is kept under its build id. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file_name, Elf **elf)
{
	struct lbx_lines *lines = *data;

	if (lines && lines->vdso && base == lines->vdso_at) {
		*elf = elf_memory(lines->vdso, lines->vdso_size);
		return -1;
	}
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

static int remember(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, void *lines)
{
	(void)module;
	(void)name;
	(void)base;
	*data = lines;
	return DWARF_CB_OK;
}

static bool are_same(pid_t pid, const char *what)
{
	char path[64], own[32];
	struct stat a, b;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
	snprintf(own, sizeof own, "/proc/self/%s", what);
	return stat(path, &a) != 0 || stat(own, &b) != 0 || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

struct lbx_lines *lbx_lines_of_process(pid_t pid)
{
	struct lbx_lines *lines = create(&callbacks);

	if (!lines || !lines->dwfl)
		return lines;
	if (!are_same(pid, "ns/mnt") || !are_same(pid, "root/"))
		snprintf(lines->root, sizeof lines->root, "/proc/%d/root", (int)pid);
	if (dwfl_linux_proc_report(lines->dwfl, pid) != 0 || dwfl_report_end(lines->dwfl, NULL, NULL) != 0 ||
	    dwfl_getmodules(lines->dwfl, remember, lines, 0) < 0)
		forget(lines);
	return lines;
}

static void report_module(Dwfl *dwfl, const struct lbx_core_modules *modules, size_t i)
{
	const struct lbx_module *m = lbx_core_module(modules, i);
	uint64_t bias;

	if (lbx_module_is_used(m) && lbx_core_module_bias(modules, i, &bias) &&
	    dwfl_report_elf(dwfl, m->path, m->file, -1, bias, true))
		return;
	Dwfl_Module *module = dwfl_report_module(dwfl, m->path, m->start, m->end);
	if (module && m->wanted.n)
		dwfl_module_report_build_id(module, m->wanted.bytes, m->wanted.n, 0);
}

/* It is always saved; aarch64's signal handlers return through it. */
static void report_vdso(struct lbx_lines *lines, struct lbx_target *core, uint64_t at)
{
	enum { MOST = 16 };
	const size_t page = 4096;
	size_t n = 0;

	if (at == 0 || !(lines->vdso = malloc(MOST * page)))
		return;
	/* what follows it may be a file's, to be told of */
	while (n < MOST && lbx_target_read_ahead(core, at + n * page, page) &&
	       lbx_target_try_read(core, at + n * page, lines->vdso + n * page, page))
		n++;
	lines->vdso_at = at;
	lines->vdso_size = n * page;
	if (n == 0 || !dwfl_report_module(lines->dwfl, "[vdso]", at, at + n * page)) {
		free(lines->vdso);
		lines->vdso = NULL;
	}
}

static bool report_core(struct lbx_lines *lines, const char *path, const char *program)
{
	lines->fd = open(path, O_RDONLY | O_CLOEXEC);
	lines->core = lines->fd < 0 ? NULL : elf_begin(lines->fd, ELF_C_READ_MMAP, NULL);
	return lines->core && dwfl_core_file_report(lines->dwfl, lines->core, program) >= 0;
}

struct lbx_lines *lbx_lines_of_core(const char *path, struct lbx_target *core, const struct lbx_core_modules *modules,
				    uint64_t vdso)
{
	struct lbx_lines *lines = create(&core_callbacks);
	size_t n = lbx_core_modules_n(modules);
	const struct lbx_module *program = n ? lbx_core_module(modules, 0) : NULL;
	bool done = true;

	if (!lines || !lines->dwfl)
		return lines;
	elf_version(EV_CURRENT);
	dwfl_report_begin(lines->dwfl);
	if (lbx_core_modules_listed(modules)) {
		for (size_t i = 0; i < n; i++)
			report_module(lines->dwfl, modules, i);
		report_vdso(lines, core, vdso);
	} else {
		done = report_core(lines, path, program && lbx_module_is_used(program) ? program->file : NULL);
	}
	if (!done || dwfl_report_end(lines->dwfl, NULL, NULL) != 0)
		forget(lines);
	if (lines->dwfl)
		dwfl_getmodules(lines->dwfl, remember, lines, 0);
	return lines;
}

static int find_nothing(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file_name,
			Elf **elf)
{
	(void)module, (void)data, (void)name, (void)base, (void)file_name, (void)elf;
	return -1; /* all were opened when they were reported */
}

static const Dwfl_Callbacks module_callbacks = {
	.find_elf = find_nothing,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

struct lbx_lines *lbx_lines_of_modules(struct lbx_target *target, const char *program, uint64_t loader)
{
	enum { MAX_MODULES = 4096 };
	struct {
		uint64_t version, map;
	} debug = { 0, 0 }; /* struct r_debug's beginning */
	struct {
		uint64_t bias, name, dynamic, next, before;
	} link;
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

struct lbx_lines *lbx_lines_of_program(const char *path, uint64_t bias)
{
	struct lbx_lines *lines = create(&module_callbacks);

	if (!lines || !lines->dwfl)
		return lines;
	dwfl_report_begin(lines->dwfl);
	if (!dwfl_report_elf(lines->dwfl, path, path, -1, bias, true) || dwfl_report_end(lines->dwfl, NULL, NULL) != 0)
		forget(lines);
	return lines;
}

struct lbx_lines *lbx_lines_of_file(const char *path, int fd)
{
	struct lbx_lines *lines = create(&module_callbacks);
	int own = -1; /* the module's, once there is one */

	if (!lines || !lines->dwfl)
		return lines;
	dwfl_report_begin(lines->dwfl);
	if (fd < 0 || (own = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
		lines->file = dwfl_report_elf(lines->dwfl, path, path, own, 0, true);
	if (own >= 0 && !lines->file)
		close(own);
	if (!lines->file || dwfl_report_end(lines->dwfl, NULL, NULL) != 0)
		forget(lines);
	return lines;
}

void lbx_lines_destroy(struct lbx_lines *lines)
{
	if (!lines)
		return;
	lbx_statics_deinit(&lines->statics);
	dwfl_end(lines->dwfl);
	free(lines->vdso);
	elf_end(lines->core);
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines);
}

struct Dwfl *lbx_lines_dwfl(struct lbx_lines *lines)
{
	return lines ? lines->dwfl : NULL;
}

struct lbx_dynamic_classes *lbx_lines_dynamic(struct lbx_lines *lines)
{
	return &lines->dynamic;
}

void lbx_lines_set_caller(struct lbx_lines *lines, lbx_caller_fn *fn)
{
	if (lines)
		lines->caller = fn;
}

lbx_caller_fn *lbx_lines_caller(struct lbx_lines *lines)
{
	return lines ? lines->caller : NULL;
}

struct lbx_statics *lbx_lines_statics(struct lbx_lines *lines)
{
	return &lines->statics;
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

bool lbx_lines_id(struct lbx_lines *lines, uint64_t pc, struct lbx_build_id *ret)
{
	Dwfl_Module *module = lines && lines->dwfl ? dwfl_addrmodule(lines->dwfl, pc) : NULL;
	const unsigned char *bytes;
	GElf_Addr address, bias;
	int n;

	if (!module || !dwfl_module_getelf(module, &bias)) /* it is not looked for before */
		return false;
	n = dwfl_module_build_id(module, &bytes, &address);
	if (n <= 0 || (size_t)n > sizeof ret->bytes)
		return false;
	memcpy(ret->bytes, bytes, (size_t)n);
	ret->n = (unsigned)n;
	return true;
}

bool lbx_lines_apart(struct lbx_lines *lines, uint64_t pc)
{
	Dwfl_Module *module = lines && lines->dwfl ? dwfl_addrmodule(lines->dwfl, pc) : NULL;
	const char *file = NULL, *debug = NULL;
	Dwarf_Addr bias;

	return module && dwfl_module_getdwarf(module, &bias) &&
	       dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, &debug) && debug &&
	       (!file || strcmp(file, debug) != 0);
}

bool lbx_lines_code_at(struct lbx_lines *lines, uint64_t offset, uint64_t *ret)
{
	GElf_Addr bias;
	Elf *elf = lines && lines->dwfl && lines->file ? dwfl_module_getelf(lines->file, &bias) : NULL;
	GElf_Phdr p;
	size_t n;

	if (!elf || elf_getphdrnum(elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && (p.p_flags & PF_X) &&
		    offset - p.p_offset < p.p_filesz) {
			*ret = offset - p.p_offset + p.p_vaddr + bias;
			return true;
		}
	return false;
}

int lbx_lines_inlined(struct lbx_lines *lines, uint64_t pc)
{
	struct lbx_functions functions;
	int n = 0;

	if (lines && lbx_functions_at(lines->dwfl, pc, &functions)) {
		n = functions.n_inlined;
		lbx_functions_release(&functions);
	}
	return n;
}

static void find_line(Dwfl_Module *module, uint64_t pc, struct lbx_source_line *ret)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, pc);
	const char *file = line ? dwfl_lineinfo(line, NULL, &ret->line, NULL, NULL, NULL) : NULL;
	Dwarf_Addr bias;
	Dwarf_Die *unit = line ? dwfl_linecu(line) : lbx_unit_at(module, pc, &bias);
	Dwarf_Line *other = unit && !line ? dwarf_getsrc_die(unit, pc - bias) : NULL;

	if (other && dwarf_lineno(other, &ret->line) == 0)
		file = dwarf_linesrc(other, NULL, NULL);
	if (file)
		snprintf(ret->file, sizeof ret->file, "%s", unit ? lbx_name_in_unit(unit, file) : file);
}

bool lbx_lines_find(struct lbx_lines *lines, uint64_t pc, int depth, struct lbx_source_line *ret)
{
	struct lbx_functions functions = { .n_inlined = 0 };
	Dwfl_Module *module = lines && lines->dwfl ? dwfl_addrmodule(lines->dwfl, pc) : NULL;

	if (!module)
		return false;
	bool known = lbx_functions_at(lines->dwfl, pc, &functions);
	/* of a function that has a symbol, the symbol says more: which of its parts it is */
	const char *symbol = depth >= functions.n_inlined ? dwfl_module_addrname(module, pc) : NULL;
	if (symbol)
		lbx_demangle(symbol, ret->function, sizeof ret->function);
	else if (known)
		lbx_functions_name(&functions, depth < functions.n_inlined ? depth : functions.n_inlined, ret->function,
				   sizeof ret->function);
	if (known && depth > 0 && depth <= functions.n_inlined) {
		lbx_functions_call(&functions, depth - 1, ret->file, sizeof ret->file, &ret->line);
	} else {
		find_line(module, pc, ret);
	}
	if (known)
		lbx_functions_release(&functions);
	return ret->function[0] || ret->file[0];
}
