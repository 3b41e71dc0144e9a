/* A file may have changed since the program mapped it. It is proven to be the same where the core
 * itself saved a page of the same file's mapping that starts it (the kernel saves the page with the
 * ELF header, and with it the build id) and that page equals the file's. Where nothing is saved, of
 * files such as weights, and of all if the core's filter or its cut end left the headers out, they are
 * read as they are, and the reader is told so, unless their time says that they were modified after
 * the core, or the core's own time is not known. Data segments are not taken from
 * a file, as the program has written to them; but one of which the core saved nothing, while it saved another of the same file,
 * was never written to (was_left_out()): patchelf adds such ones, and moves what tells of a module's symbols there. */
#define _GNU_SOURCE
#include "target/core_files.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "target/mapped_file.h"
#include "target/order.h"

enum { MAX_FILES = 65536, CHECKED = 512 };

struct mapping {
	uint64_t start, end, offset; /* the start first: order.h */
	const char *path;
	struct lbx_mapped_file file; /* at the first use */
	enum state { UNTRIED, PROVEN, AS_IT_IS, NEWER, UNUSABLE } state;
	bool is_unwritten; /* the program could have written to it, and has not */
	bool untold; /* read as it is since the last notice */
};

struct lbx_core_files {
	struct mapping *mappings; /* by address */
	size_t n;
	const char *program; /* its path */
	struct lbx_core_options options;
	struct timespec written; /* the core */
	lbx_saved_fn *saved;
	const void *context;
};

bool lbx_core_files_place(const struct lbx_core_files *files, const char *path, int k, char *room, const char **ret)
{
	switch (k) {
	case 0: *ret = files->options.exe && strcmp(path, files->program) == 0 ? files->options.exe : NULL; return true;
	case 1:
		*ret =
		    files->options.sysroot && snprintf(room, PATH_MAX, "%s/%s", files->options.sysroot, path) < PATH_MAX
			? room
			: NULL;
		return true;
	case 2: *ret = path; return true;
	default: return false;
	}
}

/* Whether the file is still the one that was mapped: its beginning, as the core saved it. False
 * without *ret_saved: the core has none. */
static bool unchanged(const struct lbx_core_files *files, const struct mapping *m, bool *ret_saved)
{
	*ret_saved = false;
	for (size_t i = 0; i < files->n; i++) {
		const struct mapping *first = &files->mappings[i];
		uint64_t n;
		if (first->offset != 0 || strcmp(first->path, m->path) != 0)
			continue;
		const char *saved = files->saved(files->context, first->start, &n);
		if (saved && n >= CHECKED) {
			*ret_saved = true;
			n = n < 4096 ? n : 4096;
			n = n < m->file.size ? n : m->file.size;
			return m->file.size >= CHECKED && memcmp(saved, m->file.bytes, n) == 0;
		}
	}
	return false;
}

/* Where the mapping of the same file that begins it starts, at or below m. */
static bool find_beginning(const struct lbx_core_files *files, const struct mapping *m, uint64_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < files->n && files->mappings[i].start <= m->start; i++) {
		if (files->mappings[i].offset == 0 && strcmp(files->mappings[i].path, m->path) == 0) {
			*ret = files->mappings[i].start;
			found = true;
		}
	}
	return found;
}

static uint64_t page_of(uint64_t address)
{
	return address & ~4095ULL;
}

/* Whether a mapping is of a segment of the ELF file `of`, which begins at `start`; *ret_writable: of one that the program could
 * write to, at least until its relocations were done: such pages may be read-only by now and still differ from the file. */
static bool is_of_segment(const struct lbx_mapped_file *of, uint64_t start, const struct mapping *m, bool *ret_writable)
{
	uint64_t low = UINT64_MAX;
	bool found = false;
	Elf64_Ehdr header;
	Elf64_Phdr p;

	*ret_writable = false;
	memcpy(&header, of->bytes, sizeof header);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + (uint64_t)i * sizeof p;
		if (header.e_phoff > of->size || at > of->size - sizeof p)
			return false; /* a damaged file proves nothing */
		memcpy(&p, of->bytes + at, sizeof p);
		if (p.p_type != PT_LOAD)
			continue;
		if (low == UINT64_MAX)
			low = page_of(p.p_vaddr);
		uint64_t begin = start - low + page_of(p.p_vaddr);
		if (m->start < begin || m->start >= start - low + p.p_vaddr + p.p_memsz)
			continue;
		*ret_writable |= (p.p_flags & PF_W) != 0;
		found |= m->offset == page_of(p.p_offset) + (m->start - begin);
	}
	return found;
}

/* Of a private mapping all is saved once the program has written to it, by the kernel and by gdb, unless the core's filter
 * says otherwise: that it does not shows where another one of the same file was saved. */
static bool was_left_out(const struct lbx_core_files *files, const struct mapping *m, uint64_t start)
{
	uint64_t n;
	bool writable, is_saved = false;

	for (size_t i = 0; i < files->n; i++) {
		const struct mapping *other = &files->mappings[i];
		if (!files->saved(files->context, other->start, &n))
			continue;
		if (other == m)
			return false;
		is_saved |=
		    strcmp(other->path, m->path) == 0 && is_of_segment(&m->file, start, other, &writable) && writable;
	}
	return is_saved;
}

/* Whether a mapping of an ELF file is as the file has it: the program could not write to it, or did not. */
static bool never_written(const struct lbx_core_files *files, struct mapping *m)
{
	bool writable;
	uint64_t start;

	m->is_unwritten = false;
	if (m->file.size < sizeof(Elf64_Ehdr) || memcmp(m->file.bytes, ELFMAG, SELFMAG) != 0)
		return true;
	if (!find_beginning(files, m, &start) || !is_of_segment(&m->file, start, m, &writable))
		return false;
	m->is_unwritten = writable && was_left_out(files, m, start);
	return !writable || m->is_unwritten;
}

bool lbx_core_files_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

bool lbx_core_files_dated(const struct timespec *written)
{
	return written->tv_sec || written->tv_nsec;
}

static enum state judge(const struct lbx_core_files *files, struct mapping *m)
{
	bool saved;

	if (unchanged(files, m, &saved))
		return never_written(files, m) ? PROVEN : UNUSABLE;
	/* what is shorter than the mapping was longer once */
	if (saved || !never_written(files, m) || m->file.size < m->offset ||
	    page_of(m->file.size - m->offset + 4095) < m->end - m->start)
		return UNUSABLE;
	return lbx_core_files_newer(&m->file.modified, &files->written) ? NEWER : AS_IT_IS;
}

static void find_file(const struct lbx_core_files *files, struct mapping *m)
{
	char room[PATH_MAX];
	const char *path;
	bool newer = false;

	m->state = UNUSABLE;
	for (int k = 0; m->state == UNUSABLE && lbx_core_files_place(files, m->path, k, room, &path); k++) {
		lbx_mapped_file_close(&m->file);
		if (!lbx_mapped_file_open(path, &m->file))
			continue;
		m->state = judge(files, m);
		newer |= m->state == NEWER;
		if (m->state == NEWER)
			m->state = UNUSABLE;
	}
	if (m->state == UNUSABLE && newer)
		m->state = NEWER;
}

static struct mapping *mapping_at(const struct lbx_core_files *files, uint64_t address)
{
	size_t low = 0, high = files->n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		struct mapping *m = &files->mappings[middle];
		if (address < m->start)
			high = middle;
		else if (address >= m->end)
			low = middle + 1;
		else
			return m;
	}
	return NULL;
}

const char *lbx_core_files_at(struct lbx_core_files *files, uint64_t address, uint64_t *n)
{
	struct mapping *m = mapping_at(files, address);

	if (!m)
		return NULL;
	if (m->state == UNTRIED)
		find_file(files, m);
	uint64_t at = m->offset + (address - m->start);
	if ((m->state != PROVEN && m->state != AS_IT_IS) || at < m->offset || at >= m->file.size)
		return NULL;
	*n = m->file.size - at < m->end - address ? m->file.size - at : m->end - address;
	return m->file.bytes + at;
}

bool lbx_core_files_unwritten(struct lbx_core_files *files, uint64_t address)
{
	const struct mapping *m = mapping_at(files, address);
	uint64_t unused;

	return m && lbx_core_files_at(files, address, &unused) && m->is_unwritten;
}

bool lbx_core_files_proven(const struct lbx_core_files *files, uint64_t address)
{
	const struct mapping *m = mapping_at(files, address);
	return m && m->state == PROVEN;
}

void lbx_core_files_tell(struct lbx_core_files *files, uint64_t address)
{
	struct mapping *m = mapping_at(files, address);

	if (m)
		m->untold |= m->state == AS_IT_IS;
}

const char *lbx_core_files_path(const struct lbx_core_files *files, uint64_t address)
{
	const struct mapping *m = mapping_at(files, address);
	return m ? m->path : NULL;
}

uint64_t lbx_core_files_next(const struct lbx_core_files *files, uint64_t address)
{
	return lbx_next_address(files->mappings, files->n, sizeof *files->mappings, address);
}

const char *lbx_core_files_why(const struct lbx_core_files *files, uint64_t address)
{
	const struct mapping *m = mapping_at(files, address);
	if (!m || m->state != NEWER)
		return "is missing or has changed";
	return lbx_core_files_dated(&files->written)
		   ? "was modified after the core was written"
		   : "may have been modified since: the core came through a pipe, so when it was written is not known";
}

void lbx_core_files_untell(struct lbx_core_files *files, uint64_t address)
{
	struct mapping *m = mapping_at(files, address);

	if (m)
		m->untold = false;
}

const char *lbx_core_files_untold(struct lbx_core_files *files, size_t *ret_others)
{
	const char *first = NULL;

	*ret_others = 0;
	for (size_t i = 0; i < files->n; i++) {
		struct mapping *m = &files->mappings[i];
		if (!m->untold)
			continue;
		for (size_t k = i; k < files->n; k++)
			if (strcmp(files->mappings[k].path, m->path) == 0)
				files->mappings[k].untold = false;
		*ret_others += first != NULL;
		first = first ? first : m->path;
	}
	return first;
}

static int by_address(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* NT_FILE: count, page size, then start, end and offset in pages of each; then the names. */
struct lbx_core_files *lbx_core_files_create(const char *note, uint64_t size, const struct lbx_core_options *options,
					     const struct timespec *written, lbx_saved_fn *saved, const void *context)
{
	uint64_t head[2], entry[3], at = sizeof head;

	if (size < sizeof head)
		return NULL;
	memcpy(head, note, sizeof head);
	uint64_t n = head[0];
	if (n == 0 || n > MAX_FILES || n > (size - at) / sizeof entry)
		return NULL;
	struct lbx_core_files *files = calloc(1, sizeof *files);
	if (files)
		files->mappings = calloc(n, sizeof *files->mappings);
	if (!files || !files->mappings) {
		free(files);
		lb_fail("out of memory");
		return NULL;
	}
	*files = (struct lbx_core_files){ .mappings = files->mappings,
					  .options = *options,
					  .written = *written,
					  .saved = saved,
					  .context = context };
	const char *name = note + at + n * sizeof entry;
	for (uint64_t i = 0; i < n; i++, at += sizeof entry) {
		size_t rest = (size_t)(note + size - name), length = strnlen(name, rest);
		if (length == rest)
			break;
		memcpy(entry, note + at, sizeof entry);
		struct mapping *m = &files->mappings[files->n];
		*m = (struct mapping){ .start = entry[0], .end = entry[1], .path = name };
		if (!__builtin_mul_overflow(entry[2], head[1], &m->offset))
			files->n++;
		name += length + 1;
	}
	qsort(files->mappings, files->n, sizeof *files->mappings, by_address);
	/* unless told better: the kernel puts a program below its libraries */
	files->program = files->n ? files->mappings[0].path : "";
	return files;
}

void lbx_core_files_program(struct lbx_core_files *files, uint64_t address)
{
	const struct mapping *m = mapping_at(files, address);

	if (m)
		files->program = m->path;
}

bool lbx_core_files_mapping(const struct lbx_core_files *files, size_t i, struct lbx_core_mapping *ret)
{
	if (i >= files->n)
		return false;
	const struct mapping *m = &files->mappings[i];
	*ret = (struct lbx_core_mapping){ m->start, m->end, m->offset, m->path };
	return true;
}

void lbx_core_files_destroy(struct lbx_core_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++)
		lbx_mapped_file_close(&files->mappings[i].file);
	free(files->mappings);
	free(files);
}
