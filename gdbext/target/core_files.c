/* A file may have changed since the program mapped it. It is used only where the core itself
 * saved a page of the same file's mapping that starts it (the kernel saves the page with the ELF
 * header, and with it the build id) and that page equals the file's. Data segments are never
 * taken from a file: the program has written to them. */
#define _GNU_SOURCE
#include "target/core_files.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { MAX_FILES = 65536, CHECKED = 512 };

struct mapping {
	uint64_t start, end, offset;
	const char *path;
	const char *bytes; /* the whole file, mapped at the first use */
	uint64_t size;
	enum { UNTRIED, USABLE, UNUSABLE } state;
};

struct lbx_core_files {
	struct mapping *mappings; /* by address */
	size_t n;
	struct lbx_core_options options;
	lbx_saved_fn *saved;
	const void *context;
};

/* The program itself is what the first mapping is of: the kernel lists them by address, and
 * an executable lies below its libraries. */
static int open_file(const struct lbx_core_files *files, const struct mapping *m)
{
	enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK };
	char path[PATH_MAX];

	if (files->options.exe && strcmp(m->path, files->mappings[0].path) == 0)
		return open(files->options.exe, FLAGS);
	if (files->options.sysroot &&
	    snprintf(path, sizeof path, "%s/%s", files->options.sysroot, m->path) < PATH_MAX) {
		int fd = open(path, FLAGS);
		if (fd >= 0)
			return fd;
	}
	return open(m->path, FLAGS);
}

static bool map_file(const struct lbx_core_files *files, struct mapping *m)
{
	struct stat st;
	int fd = open_file(files, m);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			m->bytes = bytes;
			m->size = (uint64_t)st.st_size;
		}
	}
	close(fd);
	return m->bytes != NULL;
}

/* Whether the file is still the one that was mapped: its beginning, as the core saved it. */
static bool unchanged(const struct lbx_core_files *files, const struct mapping *m)
{
	for (size_t i = 0; i < files->n; i++) {
		const struct mapping *first = &files->mappings[i];
		uint64_t n;
		if (first->offset != 0 || strcmp(first->path, m->path) != 0)
			continue;
		const char *saved = files->saved(files->context, first->start, &n);
		if (saved && n >= CHECKED && m->size >= CHECKED) {
			n = n < 4096 ? n : 4096;
			n = n < m->size ? n : m->size;
			return memcmp(saved, m->bytes, n) == 0;
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

/* Whether the program could not write to a mapping of an ELF file: it is of a read-only segment,
 * and of no writable one, at least until its relocations were done: such pages may be read-only
 * by now and still differ from the file. */
static bool never_written(const struct lbx_core_files *files, const struct mapping *m)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;
	uint64_t start, low = UINT64_MAX;
	bool constant = false;

	if (m->size < sizeof header || memcmp(m->bytes, ELFMAG, SELFMAG) != 0)
		return true;
	memcpy(&header, m->bytes, sizeof header);
	if (!find_beginning(files, m, &start))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + (uint64_t)i * sizeof p;
		if (header.e_phoff > m->size || at > m->size - sizeof p)
			return false; /* a damaged file proves nothing */
		memcpy(&p, m->bytes + at, sizeof p);
		if (p.p_type != PT_LOAD)
			continue;
		if (low == UINT64_MAX)
			low = page_of(p.p_vaddr);
		uint64_t begin = start - low + page_of(p.p_vaddr);
		if (m->start < begin || m->start >= start - low + p.p_vaddr + p.p_memsz)
			continue;
		if (p.p_flags & PF_W)
			return false;
		constant |= m->offset == page_of(p.p_offset) + (m->start - begin);
	}
	return constant;
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
		m->state = map_file(files, m) && unchanged(files, m) && never_written(files, m)
			? USABLE : UNUSABLE;
	uint64_t at = m->offset + (address - m->start);
	if (m->state == UNUSABLE || at < m->offset || at >= m->size)
		return NULL;
	*n = m->size - at < m->end - address ? m->size - at : m->end - address;
	return m->bytes + at;
}

const char *lbx_core_files_path(const struct lbx_core_files *files, uint64_t address)
{
	const struct mapping *m = mapping_at(files, address);
	return m ? m->path : NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* NT_FILE: count, page size, then start, end and offset in pages of each; then the names. */
struct lbx_core_files *lbx_core_files_create(const char *note, uint64_t size,
					     const struct lbx_core_options *options,
					     lbx_saved_fn *saved, const void *context)
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
	*files = (struct lbx_core_files){ .mappings = files->mappings, .options = *options,
					  .saved = saved, .context = context };
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
	return files;
}

void lbx_core_files_destroy(struct lbx_core_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++)
		if (files->mappings[i].bytes)
			munmap((void *)(uintptr_t)files->mappings[i].bytes, files->mappings[i].size);
	free(files->mappings);
	free(files);
}
