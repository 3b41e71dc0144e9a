/* A core file as memory: its PT_LOAD segments, mapped from the file.
 *
 * The kernel leaves pages out that came unchanged from files (code, constants): those are read
 * from the files that the core's NT_FILE note names (core_files.c). What is in neither is a
 * fault with its address.
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
#include "base/plural.h"
#include "base/vector.h"
#include "lazybones.h"
#include "target/auxv.h"
#include "target/core_files.h"
#include "target/core_modules.h"
#include "target/lines.h"
#include "target/order.h"
#include "target/unpack.h"

enum { MAX_THREADS = 65536, GAP = 1 << 18 };

struct segment {
	uint64_t address, size; /* in memory; the address first: order.h */
	uint64_t saved;         /* bytes of it in the core */
	uint64_t meant;         /* bytes of it that the core should hold: more where the file is cut */
	const char *bytes;
	bool writable;          /* what was not saved may differ from any file */
	bool executable;
};

struct core {
	struct lbx_target target;
	char *path;
	char *unpacked; /* a path to what it was unpacked to; NULL: it was not compressed */
	int fd;
	Elf *elf;
	const char *bytes;
	uint64_t size;
	struct timespec written;
	uint64_t missing;         /* bytes that the file should have but ends before */
	struct segment *segments; /* by address, none over another */
	size_t n_segments, n_parted; /* of these, those that reached into the next */
	struct lbx_core_files *files;
	const void *auxv;
	size_t auxv_size;
	unsigned machine;
	struct lbx_threads threads; /* as the notes have them: the one that died comes first */
	int threads_room;
	struct lbx_death death;
	struct lbx_core_options options;
	struct lbx_core_modules *modules; /* once asked */
	struct lbx_lines *lines;
	uint64_t number; /* of all that were opened */
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
static const char *saved_at(const void *context, uint64_t address, uint64_t *n)
{
	const struct core *core = context;
	const struct segment *s = segment_at(core, address);

	if (!s || address - s->address >= s->saved)
		return NULL;
	*n = s->saved - (address - s->address);
	return s->bytes + (address - s->address);
}

static const char *bytes_at(struct core *core, uint64_t address, uint64_t *n)
{
	const char *bytes = saved_at(core, address, n);

	if (bytes || !core->files)
		return bytes;
	const struct segment *s = segment_at(core, address);
	if (s && s->writable && (s->meant || !lbx_core_files_unwritten(core->files, address)))
		return NULL;
	return lbx_core_files_at(core->files, address, n);
}

static void tell(struct core *core, uint64_t address)
{
	uint64_t unused;

	if (core->files && !saved_at(core, address, &unused))
		lbx_core_files_tell(core->files, address);
}

static bool fault(const struct core *core, uint64_t address)
{
	const char *advice = core->options.advice;
	const char *path = core->files ? lbx_core_files_path(core->files, address) : NULL;
	const struct segment *s = segment_at(core, address);
	unsigned long long at = address;
	bool cut = s && address - s->address < s->meant;
	const char *what = cut ? "ends before" : "does not hold";

	if (path && !(s && s->writable)) /* gdb's gcore leaves out whole segments */
		return lb_fail("the core file %s the byte at 0x%llx%s, and %s, which it came from, %s%s%s%s", what, at,
			       cut ? "" : ": its page was not saved", path, lbx_core_files_why(core->files, address),
			       advice ? " (" : "", advice ? advice : "", advice ? ")" : "");
	return lb_fail("the core file %s the byte at 0x%llx%s", what, at, s && !cut ? ": its page was not saved" : "");
}

static bool core_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct core *core = core_of(target);

	for (size_t done = 0; done < n;) {
		uint64_t got;
		const char *bytes = bytes_at(core, address + done, &got);
		if (!bytes)
			return fault(core, address + done);
		tell(core, address + done);
		if (got > n - done)
			got = n - done;
		memcpy((char *)to + done, bytes, got);
		done += got;
	}
	return true;
}

static bool core_saved(struct lbx_target *target, uint64_t address, uint64_t n)
{
	uint64_t got;

	for (uint64_t done = 0; done < n; done += got)
		if (!bytes_at(core_of(target), address + done, &got))
			return fault(core_of(target), address + done);
	return true;
}

/* Segments that follow each other in memory mostly do so in the file, too: what the loader has made read-only, and what
 * follows it, is of one segment in the program. */
static const void *core_map(struct lbx_target *target, uint64_t address, size_t n)
{
	uint64_t got, more;
	const char *bytes = bytes_at(core_of(target), address, &got);

	while (bytes && got < n && saved_at(core_of(target), address + got, &more) == bytes + got)
		got += more;
	if (!bytes || got < n)
		return NULL;
	tell(core_of(target), address);
	return bytes;
}

/* Bytes of a file as it is now are not read before they are asked for. */
static bool core_read_ahead(struct lbx_target *target, uint64_t address, uint64_t n)
{
	struct core *core = core_of(target);
	uint64_t got;

	for (uint64_t done = 0; done < n; done += got)
		if (!saved_at(core, address + done, &got) && !(core->files && bytes_at(core, address + done, &got) &&
							       lbx_core_files_proven(core->files, address + done)))
			return false;
	return true;
}

enum lbx_core_bytes lbx_core_bytes(struct lbx_target *target, uint64_t address, uint64_t *n)
{
	struct core *core = core_of(target);
	const struct segment *s;
	uint64_t got;

	if (bytes_at(core, address, &got)) {
		*n = got < *n ? got : *n;
		return saved_at(core, address, &got) || lbx_core_files_proven(core->files, address)
			   ? LBX_BYTES_HELD
			   : LBX_BYTES_AS_THEY_ARE;
	}
	s = segment_at(core, address);
	bool of_a_file = core->files && lbx_core_files_path(core->files, address);
	if (s || of_a_file) {
		*n = 1;
		return of_a_file && !(s && s->writable) ? LBX_BYTES_OF_A_FILE : LBX_BYTES_LOST;
	}
	uint64_t next = lbx_next_address(core->segments, core->n_segments, sizeof *core->segments, address);
	if (core->files && lbx_core_files_next(core->files, address) < next)
		next = lbx_core_files_next(core->files, address);
	*n = next - address < *n ? next - address : *n;
	return LBX_BYTES_NOWHERE;
}

static bool core_notice(struct lbx_target *target, char *ret, size_t size)
{
	struct core *core = core_of(target);
	size_t others;
	const char *path = core->files ? lbx_core_files_untold(core->files, &others) : NULL;
	char more[48] = "";

	if (!path)
		return false;
	if (others)
		snprintf(more, sizeof more, " and %zu other file%s", others, LB_S(others));
	snprintf(ret, size,
		 "The core did not save the pages of %s%s: they were read from %s now, which by %s not "
		 "modified since.",
		 path, more, others ? "the files as they are" : "the file as it is",
		 others ? "their times were" : "its time was");
	return true;
}

/* gdb's gcore lists no segment for what it has not saved. */
static bool may_be_code(const void *context, uint64_t address)
{
	const struct segment *s = segment_at(context, address);
	return !s || s->executable;
}

/* NULL with an error when memory is out. */
static const struct lbx_core_modules *modules_of(struct core *core)
{
	if (!core->modules)
		core->modules = lbx_core_modules_create(&(struct lbx_core_view){
		    .context = core,
		    .saved = saved_at,
		    .may_be_code = may_be_code,
		    .files = core->files,
		    .program = lbx_auxv(core->auxv, core->auxv_size, AT_PHDR),
		    .options = core->options,
		    .written = core->written });
	return core->modules;
}

static bool core_module(struct lbx_target *target, size_t i, struct lbx_module *ret)
{
	const struct lbx_core_modules *modules = modules_of(core_of(target));

	if (!modules || i >= lbx_core_modules_n(modules))
		return false;
	*ret = *lbx_core_module(modules, i);
	return true;
}

bool lbx_core_warning(struct lbx_target *target, char *ret, size_t size)
{
	struct core *core = core_of(target);
	const struct lbx_core_modules *modules = modules_of(core);

	if (modules && lbx_core_modules_warning(modules, ret, size))
		return true;
	if (core->n_parted)
		snprintf(ret, size,
			 "segments of %s overlap (%zu times), so its headers are damaged: each is taken to end where "
			 "the next one begins",
			 core->path, core->n_parted);
	return core->n_parted > 0;
}

/* Whether the kernel was asked to leave out the pages with the modules' headers. */
static bool lacks_headers(struct core *core)
{
	struct lbx_module m;

	for (size_t i = 0; core_module(&core->target, i, &m); i++) {
		uint64_t n;
		if (saved_at(core, m.start, &n))
			return false;
	}
	return core->files != NULL;
}

static bool core_headers(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n)
{
	const struct core *core = core_of(target);

	if (!core->auxv)
		return false;
	*ret = lbx_auxv(core->auxv, core->auxv_size, AT_PHDR);
	*ret_n = lbx_auxv(core->auxv, core->auxv_size, AT_PHNUM);
	return true;
}

/* By the loader's list, or where that is gone, by what was mapped. */
static bool core_find_root(struct lbx_target *target, uint64_t *ret)
{
	struct core *core = core_of(target);
	struct lbx_module m;
	uint64_t headers, n;

	if (core_headers(target, &headers, &n) && lbx_find_root_by_note(target, headers, n, ret))
		return true;
	char why[LB_ERROR_MAX] = "";
	snprintf(why, sizeof why, "%s", lb_error_message());
	lb_clear_error();
	for (size_t i = 0; core_module(target, i, &m); i++) {
		if (lbx_find_root_in_module(target, m.start, ret)) {
			lb_clear_error(); /* of a module before it */
			return true;
		}
		if (core->files)
			lbx_core_files_untell(core->files, m.start);
	}
	if (!lb_ok()) /* a module's note leads to what is damaged or was not saved */
		;
	else if (*why)
		lb_fail("%s", why);
	else
		lb_fail("the core has no auxiliary vector (NT_AUXV)");
	if (core->missing)
		lb_fail_within("the core is truncated, %llu byte%s missing", (unsigned long long)core->missing,
			       LB_PLURAL(core->missing, " is", "s are"));
	else if (lacks_headers(core))
		lb_fail_within("the core holds no headers of its modules (bit 4 of /proc/PID/coredump_filter "
			       "was not set: `echo 0x33` to it saves what is needed)");
	return false;
}

static bool core_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret)
{
	return lbx_lines_find(lbx_core_lines(target), pc, 0, ret);
}

/* Where a run of the file's bytes, at or after `at` and before `end`, begins and ends that is no hole; false: none does. A
 * hole reads as zeros: the program had not touched the pages. Those of up to GAP bytes are no end. */
static bool find_data(const struct core *core, uint64_t at, uint64_t end, uint64_t *ret_start, uint64_t *ret_end)
{
	off_t start = lseek(core->fd, (off_t)at, SEEK_DATA), stop = start, more = start;

	if (start < 0) { /* ENXIO: there is only a hole */
		*ret_start = at;
		*ret_end = end;
		return errno != ENXIO;
	}
	while (more >= 0 && more - stop <= GAP && (uint64_t)more < end) {
		stop = lseek(core->fd, more, SEEK_HOLE);
		more = stop < 0 ? -1 : lseek(core->fd, stop, SEEK_DATA);
	}
	*ret_start = (uint64_t)start;
	*ret_end = stop < 0 || (uint64_t)stop > end ? end : (uint64_t)stop;
	return (uint64_t)start < end;
}

/* Only what was saved: the rest cannot be searched. */
static bool core_range(struct lbx_target *target, uint64_t from, struct lbx_range *ret)
{
	const struct core *core = core_of(target);
	uint64_t start, end;

	for (size_t i = 0; i < core->n_segments; i++) {
		const struct segment *s = &core->segments[i];
		if (!s->writable || s->saved == 0 || s->address + (s->saved - 1) < from)
			continue;
		uint64_t at = s->address > from ? s->address : from, offset = (uint64_t)(s->bytes - core->bytes);
		if (!find_data(core, offset + (at - s->address), offset + s->saved, &start, &end))
			continue;
		ret->start = s->address + (start - offset);
		ret->size = end - start;
		return true;
	}
	return false;
}

static void core_destroy(struct lbx_target *target)
{
	struct core *core = core_of(target);

	lbx_lines_destroy(core->lines);
	lbx_core_modules_destroy(core->modules);
	lbx_core_files_destroy(core->files);
	elf_end(core->elf);
	if (core->bytes)
		munmap((void *)(uintptr_t)core->bytes, core->size);
	if (core->fd >= 0)
		close(core->fd);
	free(core->segments);
	free(core->threads.list);
	free(core->path);
	free(core->unpacked);
	free(core);
}

static bool core_machine(struct lbx_target *target, unsigned *ret)
{
	*ret = core_of(target)->machine;
	return true;
}

/* It never runs. */
static bool core_moment(struct lbx_target *target, uint64_t *ret)
{
	*ret = core_of(target)->number;
	return true;
}

static const struct lbx_target_ops core_ops = {
	.machine = core_machine,
	.read = core_read,
	.map = core_map,
	.find_root = core_find_root,
	.headers = core_headers,
	.source_line = core_source_line,
	.range = core_range,
	.module = core_module,
	.saved = core_saved,
	.read_ahead = core_read_ahead,
	.moment = core_moment,
	.notice = core_notice,
	.destroy = core_destroy,
};

static bool read_note(struct core *core, uint32_t type, const char *bytes, uint64_t n)
{
	struct lbx_threads *threads = &core->threads;

	switch (type) {
	case NT_AUXV:
		if (!core->auxv) {
			core->auxv = bytes;
			core->auxv_size = n;
		}
		return true;
	case NT_FILE:
		if (!core->files)
			core->files = lbx_core_files_create(bytes, n, &core->options, &core->written, saved_at, core);
		return lb_ok();
	case NT_PRSTATUS:
		if (threads->n == MAX_THREADS || !lbx_machine(core->machine))
			return true;
		if (!lb_reserve(threads->list, core->threads_room, threads->n + 1))
			return lb_fail("out of memory");
		threads->n += lbx_registers_of_note(lbx_machine(core->machine), bytes, n, &threads->list[threads->n],
						    &core->death);
		return true;
	case NT_SIGINFO: lbx_death_of_siginfo(bytes, n, &core->death); return true;
	case NT_PRPSINFO: lbx_death_of_psinfo(bytes, n, &core->death); return true;
	default: return true;
	}
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
		bool is_core = note.n_namesz == 5 && memcmp(core->bytes + offset + name, "CORE", 5) == 0;
		if (is_core && !read_note(core, note.n_type, bytes, note.n_descsz))
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
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->saved < y->saved ? -1 : x->saved > y->saved;
}

/* Segments overlap where a header is damaged. Each ends where the next one begins, so that one with a wrong size hides
 * no other; of several at one address the one that holds most stays. */
static void part_segments(struct core *core)
{
	for (size_t i = 0; i + 1 < core->n_segments; i++) {
		struct segment *s = &core->segments[i];
		uint64_t room = s[1].address - s->address;
		core->n_parted += s->size > room;
		s->size = s->size < room ? s->size : room;
		s->saved = s->saved < room ? s->saved : room;
	}
}

/* The command that unpacks the file, as crash handlers store them; NULL when it is not packed. */
static const char *compression(const struct core *core)
{
	static const struct {
		const char magic[7], *command;
	} kinds[] = {
		{ "\xfd"
		  "7zXZ",
		  "xz -dk CORE.xz" },
		{ "\x04\x22\x4d\x18", "lz4 -d CORE.lz4 CORE" },
		{ "\x1f\x8b", "gunzip -k CORE.gz" },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (core->size > sizeof kinds[i].magic &&
		    memcmp(core->bytes, kinds[i].magic, strlen(kinds[i].magic)) == 0)
			return kinds[i].command;
	return NULL;
}

static bool read_headers(struct core *core)
{
	GElf_Ehdr header;
	size_t n;

	if (!core->elf || elf_kind(core->elf) != ELF_K_ELF || !gelf_getehdr(core->elf, &header))
		return lb_fail(compression(core) ? "%s is compressed: unpack it first, for instance by `%s`"
						 : "%s is not an ELF file",
			       core->path, compression(core));
	if (gelf_getclass(core->elf) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return lb_fail("%s is from another kind of machine: a 64-bit little-endian core is needed", core->path);
	if (header.e_type != ET_CORE)
		return lb_fail("%s is an ELF file but not a core", core->path);
	core->machine = header.e_machine;
	bool counted = elf_getphdrnum(core->elf, &n) == 0 && n > 0;
	/* libelf counts those that the file holds */
	uint64_t headers = (uint64_t)(counted && n > header.e_phnum ? n : header.e_phnum) * header.e_phentsize;
	if (headers && (headers > core->size || header.e_phoff > core->size - headers))
		return lb_fail("%s is truncated: it ends before its program headers do", core->path);
	if (!counted)
		return lb_fail("%s has no program headers", core->path);
	core->segments = calloc(n, sizeof *core->segments);
	if (!core->segments)
		return lb_fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(core->elf, (int)i, &p))
			return lb_fail("%s: program header %zu is damaged: %s", core->path, i, elf_errmsg(-1));
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
			.address = p.p_vaddr,
			.size = p.p_memsz,
			.saved = saved < p.p_memsz ? saved : p.p_memsz,
			.meant = p.p_filesz,
			.bytes = core->bytes + (left ? p.p_offset : 0),
			.writable = p.p_flags & PF_W,
			.executable = p.p_flags & PF_X,
		};
	}
	qsort(core->segments, core->n_segments, sizeof *core->segments, by_address);
	part_segments(core);
	return true;
}

/* Puts a file in the place of what it was read from. */
static bool replace(struct core *core, int fd, struct stat *st)
{
	close(core->fd);
	core->fd = fd;
	free(core->unpacked);
	if (asprintf(&core->unpacked, "/proc/self/fd/%d", fd) < 0) {
		core->unpacked = NULL;
		return lb_fail("out of memory");
	}
	return fstat(fd, st) == 0 || lb_fail("cannot read the copy: %s", strerror(errno));
}

static int64_t most(const struct core *core)
{
	return core->options.unpack ? core->options.unpack : (int64_t)LBX_UNPACK_GIB << 30;
}

static bool unpack(struct core *core, struct stat *st)
{
	int fd;
	return lbx_unpack_zstd(core->fd, core->path, most(core), &fd) && replace(core, fd, st);
}

static bool spool(struct core *core, struct stat *st)
{
	int fd;
	return lbx_spool(core->fd, core->path, most(core), &fd) && replace(core, fd, st);
}

bool lbx_core_open(const char *path, const struct lbx_core_options *options, struct lbx_target **ret)
{
	static uint64_t opened;
	struct stat st;
	struct core *core = calloc(1, sizeof *core);

	if (!core)
		return lb_fail("out of memory");
	core->number = ++opened;
	core->target = (struct lbx_target){ .ops = &core_ops, .liveness = LBX_CORE };
	if (options)
		core->options = *options;
	core->path = strdup(path);
	core->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					  : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (!core->path || core->fd < 0 || fstat(core->fd, &st) != 0) {
		lb_fail("cannot open %s: %s", path, strerror(errno));
		goto failed;
	}
	if (S_ISFIFO(st.st_mode) && !spool(core, &st))
		goto failed;
	if (!S_ISREG(st.st_mode) || st.st_size == 0) {
		lb_fail("%s is %s", path,
			S_ISDIR(st.st_mode)   ? "a directory, not a file"
			: S_ISREG(st.st_mode) ? "empty"
					      : "a device, not a file");
		goto failed;
	}
	if (!core->unpacked) /* else it is not known when: no file is older for certain */
		core->written = st.st_mtim;
	if (lbx_is_zstd(core->fd) && !unpack(core, &st))
		goto failed;
	if (st.st_size == 0) {
		lb_fail("%s holds nothing", path);
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
	core->target.is_truncated = core->missing > 0;
	*ret = &core->target;
	return true;
failed:
	core_destroy(&core->target);
	return false;
}

struct lbx_lines *lbx_core_lines(struct lbx_target *target)
{
	struct core *core = core_of(target);

	if (!core->lines && modules_of(core))
		core->lines = lbx_lines_of_core(core->unpacked ? core->unpacked : core->path, target, modules_of(core),
						lbx_auxv(core->auxv, core->auxv_size, AT_SYSINFO_EHDR));
	return core->lines;
}

const struct lbx_threads *lbx_core_threads(struct lbx_target *target)
{
	return &core_of(target)->threads;
}

const struct lbx_death *lbx_core_death(struct lbx_target *target)
{
	return &core_of(target)->death;
}
