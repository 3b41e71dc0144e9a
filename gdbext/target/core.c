/* A core file as memory: its PT_LOAD segments, mapped from the file.
 *
 * The kernel leaves pages out that came unchanged from files (code, constants). Those are
 * read from the files that the core's NT_FILE note names, but only where the core itself
 * saved a page of the same file's mapping that starts it (the kernel saves the page with
 * the ELF header, and with it the build id) and that page equals the file's: otherwise the
 * file may have changed since. Data segments are never taken from a file: the program has
 * written to them. What is in neither is a fault with its address.
 *
 * A truncated core's segments end where the file ends. */
#define _GNU_SOURCE
#include "target/core.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "target/auxv.h"
#include "target/lines.h"

enum { MAX_FILES = 65536, CHECKED = 512 };

struct segment {
	uint64_t address, size; /* in memory */
	uint64_t saved;         /* bytes of it in the core */
	const char *bytes;
	bool writable;          /* what was not saved may differ from any file */
};

struct mapping {
	uint64_t start, end, offset;
	const char *path;
	const char *bytes; /* the whole file, mapped at the first use */
	uint64_t size;
	enum { UNTRIED, USABLE, UNUSABLE } state;
};

struct core {
	struct lbx_target target;
	char *path;
	int fd;
	Elf *elf;
	const char *bytes;
	uint64_t size;
	uint64_t missing;         /* bytes that the file should have but ends before */
	struct segment *segments; /* by address */
	size_t n_segments;
	struct mapping *mappings;
	size_t n_mappings;
	const void *auxv;
	size_t auxv_size;
	struct lbx_lines *lines;
};

static struct core *core_of(struct lbx_target *target)
{
	return (struct core *)target;
}

static const struct segment *segment_at(const struct core *core, uint64_t address)
{
	size_t low = 0, high = core->n_segments;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct segment *s = &core->segments[middle];
		if (address < s->address)
			high = middle;
		else if (address - s->address >= s->size)
			low = middle + 1;
		else
			return s;
	}
	return NULL;
}

/* Bytes that the core saved, from an address on; NULL: none. */
static const char *saved_at(const struct core *core, uint64_t address, uint64_t *n)
{
	const struct segment *s = segment_at(core, address);

	if (!s || address - s->address >= s->saved)
		return NULL;
	*n = s->saved - (address - s->address);
	return s->bytes + (address - s->address);
}

static bool map_file(struct mapping *m)
{
	struct stat st;
	int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

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
static bool unchanged(const struct core *core, const struct mapping *m)
{
	for (size_t i = 0; i < core->n_mappings; i++) {
		const struct mapping *first = &core->mappings[i];
		uint64_t n;
		if (first->offset != 0 || strcmp(first->path, m->path) != 0)
			continue;
		const char *saved = saved_at(core, first->start, &n);
		if (saved && n >= CHECKED && m->size >= CHECKED) {
			n = n < 4096 ? n : 4096;
			n = n < m->size ? n : m->size;
			return memcmp(saved, m->bytes, n) == 0;
		}
	}
	return false;
}

/* Whether a mapping of an ELF file is of a segment that the program could write, at least until
 * its relocations were done: such pages may be read-only by now and still differ from the file. */
static bool of_data_segment(const struct mapping *m)
{
	enum { PAGE = 4096 };
	Elf64_Ehdr header;
	Elf64_Phdr p;

	if (m->size < sizeof header || memcmp(m->bytes, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&header, m->bytes, sizeof header);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + (uint64_t)i * sizeof p;
		if (header.e_phoff > m->size || at > m->size - sizeof p)
			return true; /* a damaged file proves nothing */
		memcpy(&p, m->bytes + at, sizeof p);
		uint64_t begin = p.p_offset - p.p_offset % PAGE;
		if (p.p_type == PT_LOAD && p.p_flags & PF_W && m->offset >= begin &&
		    m->offset - begin < p.p_filesz + PAGE)
			return true;
	}
	return false;
}

static const char *file_at(struct core *core, uint64_t address, uint64_t *n)
{
	const struct segment *s = segment_at(core, address);

	if (s && s->writable)
		return NULL;
	for (size_t i = 0; i < core->n_mappings; i++) {
		struct mapping *m = &core->mappings[i];
		if (address < m->start || address >= m->end)
			continue;
		if (m->state == UNTRIED)
			m->state = map_file(m) && unchanged(core, m) && !of_data_segment(m)
				? USABLE : UNUSABLE;
		uint64_t at = m->offset + (address - m->start);
		if (m->state == UNUSABLE || at < m->offset || at >= m->size)
			return NULL;
		*n = m->size - at < m->end - address ? m->size - at : m->end - address;
		return m->bytes + at;
	}
	return NULL;
}

static const char *bytes_at(struct core *core, uint64_t address, uint64_t *n)
{
	const char *bytes = saved_at(core, address, n);
	return bytes ? bytes : file_at(core, address, n);
}

static bool core_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct core *core = core_of(target);

	for (size_t done = 0; done < n;) {
		uint64_t got;
		const char *bytes = bytes_at(core, address + done, &got);
		if (!bytes)
			return lb_fail("the core file does not hold the byte at 0x%llx%s",
				       (unsigned long long)(address + done),
				       segment_at(core, address + done) ?
				       ": its page was not saved" : "");
		if (got > n - done)
			got = n - done;
		memcpy((char *)to + done, bytes, got);
		done += got;
	}
	return true;
}

static const void *core_map(struct lbx_target *target, uint64_t address, size_t n)
{
	uint64_t got;
	const char *bytes = bytes_at(core_of(target), address, &got);
	return bytes && got >= n ? bytes : NULL;
}

static bool core_find_root(struct lbx_target *target, uint64_t *ret)
{
	struct core *core = core_of(target);

	if (!core->auxv)
		return lb_fail("%s has no auxiliary vector (NT_AUXV)", core->path);
	if (lbx_find_root_by_note(target, lbx_auxv(core->auxv, core->auxv_size, AT_PHDR),
				  lbx_auxv(core->auxv, core->auxv_size, AT_PHNUM), ret))
		return true;
	if (core->missing)
		lb_fail_within("%s is truncated, %llu bytes are missing", core->path,
			       (unsigned long long)core->missing);
	return false;
}

static bool core_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret)
{
	struct core *core = core_of(target);

	if (!core->lines)
		core->lines = lbx_lines_of_core(core->path);
	return lbx_lines_find(core->lines, pc, ret);
}

static void core_destroy(struct lbx_target *target)
{
	struct core *core = core_of(target);

	lbx_lines_destroy(core->lines);
	for (size_t i = 0; i < core->n_mappings; i++)
		if (core->mappings[i].bytes)
			munmap((void *)(uintptr_t)core->mappings[i].bytes, core->mappings[i].size);
	elf_end(core->elf);
	if (core->bytes)
		munmap((void *)(uintptr_t)core->bytes, core->size);
	if (core->fd >= 0)
		close(core->fd);
	free(core->segments);
	free(core->mappings);
	free(core->path);
	free(core);
}

#define OPS(kind_name) { \
	.kind = kind_name, .read = core_read, .map = core_map, .find_root = core_find_root, \
	.source_line = core_source_line, .destroy = core_destroy }
static const struct lbx_target_ops core_ops = OPS("core file");
static const struct lbx_target_ops truncated_ops = OPS("truncated core file");
#undef OPS

/* NT_FILE: count, page size, then start, end and offset in pages of each; then the names. */
static bool read_mappings(struct core *core, const char *note, uint64_t size)
{
	uint64_t head[2], entry[3];

	if (size < sizeof head)
		return true;
	memcpy(head, note, sizeof head);
	uint64_t n = head[0], at = sizeof head;
	if (n > MAX_FILES || n > (size - at) / sizeof entry)
		return true; /* damaged: the core is read without its files */
	const char *name = note + at + n * sizeof entry;
	core->mappings = calloc(n + 1, sizeof *core->mappings);
	if (!core->mappings)
		return lb_fail("out of memory");
	for (uint64_t i = 0; i < n; i++, at += sizeof entry) {
		size_t rest = (size_t)(note + size - name), length = strnlen(name, rest);
		if (length == rest)
			break;
		memcpy(entry, note + at, sizeof entry);
		struct mapping *m = &core->mappings[core->n_mappings];
		*m = (struct mapping){ .start = entry[0], .end = entry[1], .path = name };
		if (!__builtin_mul_overflow(entry[2], head[1], &m->offset))
			core->n_mappings++;
		name += length + 1;
	}
	return true;
}

static bool read_notes(struct core *core, uint64_t offset, uint64_t size)
{
	uint64_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		memcpy(&note, core->bytes + offset + at, sizeof note);
		uint64_t name = at + sizeof note, desc = name + (((uint64_t)note.n_namesz + 3) & ~3ULL);
		uint64_t end = desc + (((uint64_t)note.n_descsz + 3) & ~3ULL);
		if (desc > size || note.n_descsz > size - desc)
			break;
		const char *bytes = core->bytes + offset + desc;
		bool is_core = note.n_namesz == 5 &&
			       memcmp(core->bytes + offset + name, "CORE", 5) == 0;
		if (is_core && note.n_type == NT_AUXV && !core->auxv) {
			core->auxv = bytes;
			core->auxv_size = note.n_descsz;
		}
		if (is_core && note.n_type == NT_FILE && !core->mappings &&
		    !read_mappings(core, bytes, note.n_descsz))
			return false;
		if (end > size)
			break;
		at = end;
	}
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;
	return x->address < y->address ? -1 : x->address > y->address;
}

static bool read_headers(struct core *core)
{
	GElf_Ehdr header;
	size_t n;

	if (!core->elf || elf_kind(core->elf) != ELF_K_ELF || !gelf_getehdr(core->elf, &header))
		return lb_fail("%s is no ELF file", core->path);
	if (header.e_type != ET_CORE)
		return lb_fail("%s is an ELF file but no core", core->path);
	if (gelf_getclass(core->elf) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return lb_fail("%s is of another kind of machine: 64 bits, little endian are needed",
			       core->path);
	if (elf_getphdrnum(core->elf, &n) != 0 || n == 0)
		return lb_fail("%s has no program headers: %s", core->path, elf_errmsg(-1));
	core->segments = calloc(n, sizeof *core->segments);
	if (!core->segments)
		return lb_fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(core->elf, (int)i, &p))
			return lb_fail("%s: program header %zu is damaged: %s", core->path, i,
				       elf_errmsg(-1));
		uint64_t saved = p.p_filesz, left = p.p_offset < core->size ? core->size - p.p_offset : 0;
		if (saved > left) {
			core->missing += saved - left;
			saved = left;
		}
		if (p.p_type == PT_NOTE && !read_notes(core, p.p_offset, saved))
			return false;
		if (p.p_type != PT_LOAD || p.p_memsz == 0 || p.p_vaddr + p.p_memsz < p.p_vaddr)
			continue;
		core->segments[core->n_segments++] = (struct segment){
			.address = p.p_vaddr, .size = p.p_memsz,
			.saved = saved < p.p_memsz ? saved : p.p_memsz,
			.bytes = core->bytes + (left ? p.p_offset : 0),
			.writable = p.p_flags & PF_W,
		};
	}
	qsort(core->segments, core->n_segments, sizeof *core->segments, by_address);
	return true;
}

bool lbx_core_open(const char *path, struct lbx_target **ret)
{
	struct stat st;
	struct core *core = calloc(1, sizeof *core);

	if (!core)
		return lb_fail("out of memory");
	core->target.ops = &core_ops;
	core->path = strdup(path);
	core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (!core->path || core->fd < 0 || fstat(core->fd, &st) != 0) {
		lb_fail("cannot open %s: %s", path, strerror(errno));
		goto failed;
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0) {
		lb_fail("%s is %s", path, st.st_size == 0 ? "empty" : "no file");
		goto failed;
	}
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, core->fd, 0);
	if (bytes == MAP_FAILED) {
		lb_fail("cannot map %s: %s", path, strerror(errno));
		goto failed;
	}
	core->bytes = bytes;
	core->size = (uint64_t)st.st_size;
	elf_version(EV_CURRENT);
	core->elf = elf_memory(bytes, (size_t)st.st_size);
	if (!read_headers(core))
		goto failed;
	if (core->missing)
		core->target.ops = &truncated_ops;
	*ret = &core->target;
	return true;
failed:
	core_destroy(&core->target);
	return false;
}
