/* What NT_FILE lists are mappings, several a module: a module begins where the beginning of an ELF file
 * was mapped, ends where its segments do, and has code. Which program it was stands in its build id, in
 * the page with the ELF header that the kernel saves for this purpose (bit 4 of the core's filter). Of
 * the files here only one with the same build id gives names; others give wrong ones. */
#define _GNU_SOURCE
#include "target/core_modules.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "lazybones.h"
#include "target/elf_image.h"
#include "target/mapped_file.h"

enum { MAX_MODULES = 16384, COMPARED = 4096, LEAST = 512, PAGE = 4096 };

struct entry {
	struct lbx_module module;
	char *file;
	uint64_t low, size; /* of its image; 0: not known */
};

struct lbx_core_modules {
	struct lbx_core_view view;
	struct entry *list;
	size_t n, room;
	/* of the file that options.exe names */
	enum lbx_verdict exe;
	struct lbx_build_id wanted, found;
	bool has_program, no_elf;
};

/* A file here, mapped. */
struct file {
	struct lbx_mapped_file mapped;
	struct lbx_image image;
};

/* The memory from where a module begins, as far as the core saved it. */
struct memory {
	const struct lbx_core_view *view;
	uint64_t start;
};

static const char *file_at(const void *context, uint64_t at, uint64_t *n)
{
	const struct file *file = context;

	if (at >= file->mapped.size)
		return NULL;
	*n = file->mapped.size - at;
	return file->mapped.bytes + at;
}

static const char *memory_at(const void *context, uint64_t at, uint64_t *n)
{
	const struct memory *memory = context;
	return memory->view->saved(memory->view->context, memory->start + at, n);
}

/* False where there is no ELF file. */
static bool file_open(const char *path, struct file *ret)
{
	ret->image = (struct lbx_image){ .at = file_at, .context = ret };
	if (!lbx_mapped_file_open(path, &ret->mapped))
		return false;
	if (lbx_image_read(&ret->image))
		return true;
	lbx_mapped_file_close(&ret->mapped);
	return false;
}

static bool same_headers(const struct memory *memory, const struct file *file)
{
	uint64_t n;
	const char *saved = memory_at(memory, 0, &n);

	if (!saved || n < LEAST)
		return false;
	n = n < COMPARED ? n : COMPARED;
	n = n < file->mapped.size ? n : file->mapped.size;
	return memcmp(saved, file->mapped.bytes, n) == 0;
}

/* `saved`: whether the core has the module's headers, `wanted` from them. */
static enum lbx_verdict judge(const struct lbx_core_view *view, const struct memory *memory, bool saved,
			      const struct lbx_build_id *wanted, const struct file *file)
{
	const struct lbx_build_id *found = &file->image.id;

	if (wanted->n)
		return wanted->n == found->n && memcmp(wanted->bytes, found->bytes, found->n) == 0 ? LBX_MODULE_SAME
												   : LBX_MODULE_DIFFERS;
	if (saved)
		return same_headers(memory, file) ? LBX_MODULE_SAME : LBX_MODULE_DIFFERS;
	if (!lbx_core_files_dated(&view->written))
		return LBX_MODULE_UNDATED;
	return lbx_core_files_newer(&file->mapped.modified, &view->written) ? LBX_MODULE_NEWER : LBX_MODULE_UNPROVEN;
}

/* The file at a place takes the entry over where it is better than what was there. */
static bool try_place(struct lbx_core_modules *modules, struct entry *e, const struct memory *memory, bool saved,
		      const char *path, bool is_exe)
{
	struct lbx_module *m = &e->module;
	struct file file;

	if (!file_open(path, &file)) {
		modules->no_elf |= is_exe;
		return true;
	}
	enum lbx_verdict verdict = judge(&modules->view, memory, saved, &m->wanted, &file);
	if (is_exe && verdict != LBX_MODULE_SAME && modules->view.options.force)
		verdict = LBX_MODULE_FORCED;
	if (is_exe) {
		modules->has_program = true;
		modules->exe = verdict;
		modules->wanted = m->wanted;
		modules->found = file.image.id;
	}
	bool better = !m->file || (m->verdict != LBX_MODULE_FORCED && verdict < m->verdict);
	if (better) {
		free(e->file);
		m->file = e->file = strdup(path);
		m->verdict = verdict;
		m->found = file.image.id;
		if (e->size == 0 || verdict <= LBX_MODULE_FORCED) {
			e->low = file.image.low;
			e->size = file.image.high - file.image.low;
		}
	}
	lbx_mapped_file_close(&file.mapped);
	return !better || e->file || lb_fail("out of memory");
}

/* Where an ELF file begins to be mapped. False without error where there is none. */
static bool begin(struct lbx_core_modules *modules, uint64_t start, const char *path, struct entry *ret)
{
	struct memory memory = { &modules->view, start };
	struct lbx_image image = { .at = memory_at, .context = &memory, .is_mapped = true };
	const struct lbx_core_files *files = modules->view.files;
	char room[PATH_MAX];
	const char *place;

	*ret = (struct entry){ .module = { .start = start,
					   .path = path,
					   .verdict = LBX_MODULE_MISSING,
					   .advice = modules->view.options.advice } };
	bool saved = lbx_image_read(&image);
	if (saved) {
		ret->low = image.low;
		ret->size = image.high - image.low;
		ret->module.wanted = image.id;
	}
	ret->module.is_program = modules->view.program >= start && modules->view.program - start < PAGE;
	for (int k = 0; files && lbx_core_files_place(files, path, k, room, &place); k++)
		if (place && !try_place(modules, ret, &memory, saved, place, k == 0))
			return false;
	if (!files && modules->view.options.exe &&
	    !try_place(modules, ret, &memory, saved, modules->view.options.exe, true))
		return false;
	ret->module.end = start + (ret->size ? ret->size : PAGE);
	/* without a file and without headers it may be an ELF file or not: its code tells */
	return ret->size > 0 || !ret->module.file;
}

static bool add(struct lbx_core_modules *modules, const struct entry *e)
{
	if (!lb_reserve(modules->list, modules->room, modules->n + 1))
		return lb_fail("out of memory");
	modules->list[modules->n++] = *e;
	return true;
}

/* Keeps an entry that has code, and empties it. */
static bool finish(struct lbx_core_modules *modules, struct entry *e, bool has_code)
{
	bool kept = has_code && add(modules, e);

	if (!kept)
		free(e->file);
	*e = (struct entry){ 0 };
	return kept || !has_code;
}

static bool collect(struct lbx_core_modules *modules)
{
	const struct lbx_core_view *view = &modules->view;
	struct entry e = { 0 };
	struct lbx_core_mapping m;
	bool has_code = false, done = true;

	for (size_t i = 0; done && modules->n < MAX_MODULES && lbx_core_files_mapping(view->files, i, &m); i++) {
		bool same = e.module.path && strcmp(m.path, e.module.path) == 0;
		if (!same || (m.start >= e.module.end && (m.offset == 0 || e.size))) {
			done = finish(modules, &e, has_code);
			has_code = false;
			if (m.offset != 0 || !done)
				continue;
			if (!begin(modules, m.start, m.path, &e)) {
				finish(modules, &e, false);
				done = lb_ok();
				continue;
			}
		}
		if (e.module.end < m.end)
			e.module.end = m.end;
		has_code |= view->may_be_code(view->context, m.start);
	}
	return finish(modules, &e, has_code) && done;
}

struct lbx_core_modules *lbx_core_modules_create(const struct lbx_core_view *view)
{
	struct lbx_core_modules *modules = calloc(1, sizeof *modules);
	struct entry program;

	if (!modules) {
		lb_fail("out of memory");
		return NULL;
	}
	modules->view = *view;
	if (view->files && view->program)
		lbx_core_files_program(view->files, view->program);
	bool done = true;
	if (view->files)
		done = collect(modules);
	else if (view->program && begin(modules, view->program & -(uint64_t)PAGE, "", &program))
		done = finish(modules, &program, program.size > 0); /* else nothing is known of it */
	if (done)
		return modules;
	lbx_core_modules_destroy(modules);
	return NULL;
}

void lbx_core_modules_destroy(struct lbx_core_modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->n; i++)
		free(modules->list[i].file);
	free(modules->list);
	free(modules);
}

bool lbx_core_modules_listed(const struct lbx_core_modules *modules)
{
	return modules->view.files && modules->n;
}

size_t lbx_core_modules_n(const struct lbx_core_modules *modules)
{
	return modules->n;
}

const struct lbx_module *lbx_core_module(const struct lbx_core_modules *modules, size_t i)
{
	return &modules->list[i].module;
}

bool lbx_core_module_bias(const struct lbx_core_modules *modules, size_t i, uint64_t *ret)
{
	const struct entry *e = &modules->list[i];

	*ret = e->module.start - e->low;
	return e->size > 0;
}

bool lbx_core_modules_warning(const struct lbx_core_modules *modules, char *ret, size_t size)
{
	const char *exe = modules->view.options.exe;
	char wanted[LBX_BUILD_ID_TEXT], found[LBX_BUILD_ID_TEXT];

	if (!exe)
		return false;
	lbx_build_id_text(&modules->wanted, wanted);
	lbx_build_id_text(&modules->found, found);
	if (modules->no_elf)
		snprintf(ret, size, "%s is not used: it is no ELF file that can be read", exe);
	else if (!modules->has_program)
		snprintf(ret, size, "%s is not used: the core does not tell which program it is of", exe);
	else if (modules->exe == LBX_MODULE_DIFFERS)
		snprintf(ret, size,
			 "%s is not the program of this core: its build id is %s, the core's is %s; "
			 "its names are not used (--force uses them)",
			 exe, found, wanted);
	else if (modules->exe == LBX_MODULE_NEWER)
		snprintf(ret, size,
			 "%s was modified after the core was written, which holds no build id to "
			 "check it against: its names are not used (--force uses them)",
			 exe);
	else if (modules->exe == LBX_MODULE_UNDATED)
		snprintf(ret, size,
			 "%s may be another program: the core holds no build id to check it "
			 "against, and came "
			 "through a pipe, so when it was written is not known: its names are not used (--force uses "
			 "them)",
			 exe);
	else if (modules->exe == LBX_MODULE_FORCED)
		snprintf(ret, size,
			 "%s is used, but is not the program of this core, so names may be wrong: its build id "
			 "is %s, the core's is %s",
			 exe, found, wanted);
	else if (modules->exe == LBX_MODULE_UNPROVEN)
		snprintf(ret, size, "the core holds no build id to check %s against: its names may be wrong", exe);
	else
		return false;
	return true;
}
