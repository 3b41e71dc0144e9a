/* Core files made by hand: what is read of them, and what is said of those that are none. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "base/error.h"
#include "lazybones.h"
#include "target/core.h"
#include "target/stacks.h"

enum { BASE = 0x10000, STEP = 0x1000, MANY = 70000, TID = 4711 };

/* A file that grows by what is put at its end. */
struct file {
	char *bytes;
	size_t n, room;
};

static size_t put(struct file *f, const void *from, size_t n)
{
	size_t at = f->n;

	while (f->n + n > f->room) {
		f->room = f->room ? 2 * f->room : 4096;
		f->bytes = realloc(f->bytes, f->room);
		assert_non_null(f->bytes);
	}
	memcpy(f->bytes + f->n, from, n);
	f->n += n;
	return at;
}

static void put_note(struct file *f, uint32_t type, const void *desc, uint32_t n)
{
	Elf64_Nhdr note = { .n_namesz = 5, .n_descsz = n, .n_type = type };
	static const char zeros[8];

	put(f, &note, sizeof note);
	put(f, "CORE\0\0\0", 8);
	put(f, desc, n);
	put(f, zeros, -n & 3);
}

/* Word i of the saved registers is FIRST_WORD + i; there are as many as on aarch64, which has most. */
enum { WORDS = 34, FIRST_WORD = 100 };

static void put_status(struct file *f)
{
	struct elf_prstatus head = { .pr_pid = TID, .pr_cursig = SIGSEGV };
	struct {
		char head[offsetof(struct elf_prstatus, pr_reg)];
		uint64_t words[WORDS], rest;
	} status = { 0 };

	memcpy(status.head, &head, sizeof status.head);
	for (uint64_t i = 0; i < WORDS; i++)
		status.words[i] = FIRST_WORD + i;
	put_note(f, NT_PRSTATUS, &status, sizeof status);
}

static void put_notes(struct file *f)
{
	siginfo_t info = { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR };
	struct elf_prpsinfo process = { .pr_pid = TID, .pr_psargs = "program --option" };
	uint64_t auxv[2] = { AT_NULL, 0 };

	info.si_addr = (void *)0x1234;
	put_status(f);
	put_note(f, NT_PRPSINFO, &process, sizeof process);
	put_note(f, NT_SIGINFO, &info, sizeof info);
	put_note(f, NT_AUXV, auxv, sizeof auxv);
}

/* n segments of 8 bytes (each its number, from 0) at BASE + i * STEP, in STEP bytes of memory; every
 * second one is read-only. */
static struct file make_core(int n)
{
	struct file f = { 0 };
	size_t at_headers = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr);
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = LBX_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = at_headers,
		.e_ehsize = sizeof header,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = n + 1 < PN_XNUM ? (Elf64_Half)(n + 1) : PN_XNUM,
		.e_shoff = sizeof header,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 1,
	};
	Elf64_Shdr section = { .sh_info = (Elf64_Word)n + 1 };
	size_t data = at_headers + ((size_t)n + 1) * sizeof(Elf64_Phdr);
	Elf64_Phdr notes = { .p_type = PT_NOTE, .p_offset = data + (size_t)n * 8 };
	struct file after = { 0 };

	put_notes(&after);
	notes.p_filesz = after.n;
	put(&f, &header, sizeof header);
	put(&f, &section, sizeof section);
	put(&f, &notes, sizeof notes);
	for (int i = 0; i < n; i++) {
		Elf64_Phdr p = {
			.p_type = PT_LOAD,
			.p_flags = i & 1 ? PF_R : PF_R | PF_W,
			.p_offset = data + (size_t)i * 8,
			.p_vaddr = BASE + (uint64_t)i * STEP,
			.p_filesz = 8,
			.p_memsz = STEP,
		};
		put(&f, &p, sizeof p);
	}
	for (uint64_t i = 0; i < (uint64_t)n; i++)
		put(&f, &i, sizeof i);
	put(&f, after.bytes, after.n);
	free(after.bytes);
	return f;
}

static bool open_bytes(const struct file *f, struct lbx_target **ret)
{
	char path[64];
	int fd = memfd_create("core", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, f->n), f->n);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	bool done = lbx_core_open(path, NULL, ret);
	close(fd);
	return done;
}

static void refused(struct file f, const char *why)
{
	struct lbx_target *target;

	assert_false(open_bytes(&f, &target));
	if (!strstr(lb_error_message(), why))
		fail_msg("\"%s\" is not in: %s", why, lb_error_message());
	lb_clear_error();
	free(f.bytes);
}

static void reads_what_was_saved(void **state)
{
	struct lbx_target *target;
	struct file f = make_core(3);
	uint64_t value, two[2];

	(void)state;
	assert_true(open_bytes(&f, &target));
	for (uint64_t i = 0; i < 3; i++) {
		assert_true(lbx_target_read(target, BASE + i * STEP, &value, sizeof value));
		assert_int_equal(value, i);
	}
	assert_false(lbx_target_read(target, BASE, two, sizeof two));
	assert_non_null(strstr(lb_error_message(), "0x10008: its page was not saved"));
	lb_clear_error();
	assert_false(lbx_target_read(target, BASE - 1, &value, 1));
	assert_non_null(strstr(lb_error_message(), "0xffff"));
	lb_clear_error();
	assert_true(lbx_target_map(target, BASE + STEP, 8) != NULL);
	assert_null(lbx_target_map(target, BASE + STEP, 9));
	lbx_target_destroy(target);
	free(f.bytes);
}

/* What the loader makes read-only is a segment of its own in a core: both lie there as one. */
static void maps_neighbours_as_one(void **state)
{
	struct lbx_target *target;
	struct file f = make_core(3);
	uint64_t values[3];

	(void)state;
	for (uint64_t i = 0; i < 2; i++)
		for (size_t at = 0; at + sizeof(Elf64_Phdr) <= f.n; at += 8) {
			Elf64_Phdr *p = (Elf64_Phdr *)(void *)(f.bytes + at);
			if (p->p_type != PT_LOAD || p->p_vaddr != BASE + i * STEP || p->p_memsz != STEP)
				continue;
			p->p_vaddr = BASE + i * 8;
			p->p_memsz = 8;
		}
	assert_true(open_bytes(&f, &target));
	const void *bytes = lbx_target_map(target, BASE, 16);
	assert_non_null(bytes);
	assert_true(lbx_target_read(target, BASE, values, 16));
	assert_memory_equal(bytes, values, 16);
	assert_null(lbx_target_map(target, BASE, 17));
	assert_null(lbx_target_map(target, BASE + 8, 9));
	lbx_target_destroy(target);
	free(f.bytes);
}

/* A gigabyte, of which the program had touched little: the file has a hole for the rest. */
static void passes_over_holes(void **state)
{
	enum { PAGE = 4096 };
	const uint64_t size = 1 << 30, places[] = { size / 2 + 5 * PAGE, size / 2 + 7 * PAGE, size - PAGE };
	struct lbx_target *target;
	struct file f = make_core(1);
	struct lbx_range range;
	uint64_t seen = 0;
	Elf64_Phdr p;
	char path[64], *at = (char *)f.bytes + sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + sizeof p;
	int fd = memfd_create("core", 0), found = 0, ranges = 0;

	(void)state;
	memcpy(&p, at, sizeof p);
	p.p_offset = PAGE * ((f.n + PAGE - 1) / PAGE);
	p.p_filesz = p.p_memsz = size;
	memcpy(at, &p, sizeof p);
	assert_int_equal(write(fd, f.bytes, f.n), f.n);
	assert_int_equal(ftruncate(fd, (off_t)(p.p_offset + size)), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pwrite(fd, "x", 1, (off_t)(p.p_offset + places[i])), 1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	assert_true(lbx_core_open(path, NULL, &target));
	for (uint64_t from = 0; lbx_target_range(target, from, &range); from = range.start + range.size) {
		assert_true(range.size > 0 && range.start >= from);
		for (int i = 0; i < 3; i++)
			found += BASE + places[i] - range.start < range.size;
		seen += range.size;
		ranges++;
	}
	assert_true(lb_ok());
	assert_int_equal(found, 3);
	assert_int_equal(ranges, 2);
	assert_true(seen < size / 16);
	lbx_target_destroy(target);
	close(fd);
	free(f.bytes);
}

static void tells_what_can_be_written(void **state)
{
	struct lbx_target *target;
	struct file f = make_core(4);
	struct lbx_range range;

	(void)state;
	assert_true(open_bytes(&f, &target));
	assert_true(lbx_target_range(target, 0, &range));
	assert_int_equal(range.start, BASE);
	assert_int_equal(range.size, 8);
	assert_true(lbx_target_range(target, BASE + 3, &range));
	assert_int_equal(range.start, BASE + 3);
	assert_int_equal(range.size, 5);
	assert_true(lbx_target_range(target, BASE + 8, &range));
	assert_int_equal(range.start, BASE + 2 * STEP);
	assert_false(lbx_target_range(target, BASE + 2 * STEP + 8, &range));
	assert_true(lb_ok());
	lbx_target_destroy(target);
	free(f.bytes);
}

static void many_segments(void **state)
{
	struct lbx_target *target;
	struct file f = make_core(MANY);
	uint64_t value;

	(void)state;
	assert_true(open_bytes(&f, &target));
	assert_true(lbx_target_read(target, BASE + (uint64_t)(MANY - 1) * STEP, &value, sizeof value));
	assert_int_equal(value, MANY - 1);
	lbx_target_destroy(target);
	free(f.bytes);
}

static Elf64_Phdr *segment_of(const struct file *f, int i)
{
	return (Elf64_Phdr *)(f->bytes + sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr)) + 1 + i;
}

/* One that is too long hides none that come after it, whatever the file has in its place. */
static void segments_that_overlap(void **state)
{
	struct lbx_target *target;
	uint64_t value;

	(void)state;
	for (int large = 0; large < 5; large++) {
		for (int saved = 0; saved < 2; saved++) {
			struct file f = make_core(5);
			Elf64_Phdr *p = segment_of(&f, large);
			p->p_memsz = 10 * STEP;
			p->p_filesz = saved ? f.n - p->p_offset : 8;
			assert_true(open_bytes(&f, &target));
			for (uint64_t i = 0; i < 5; i++) {
				assert_true(lbx_target_read(target, BASE + i * STEP, &value, sizeof value));
				assert_int_equal(value, i);
			}
			assert_int_equal(lbx_target_try_read(target, BASE + 7 * STEP, &value, 1), 0);
			lbx_target_destroy(target);
			free(f.bytes);
		}
	}
	struct file whole = make_core(5);
	char why[256];
	assert_true(open_bytes(&whole, &target));
	assert_false(lbx_core_warning(target, why, sizeof why));
	lbx_target_destroy(target);
	segment_of(&whole, 1)->p_memsz = 10 * STEP;
	assert_true(open_bytes(&whole, &target));
	assert_true(lbx_core_warning(target, why, sizeof why));
	assert_non_null(strstr(why, " overlap (1 times), so its headers are damaged"));
	lbx_target_destroy(target);
	free(whole.bytes);
	/* of two at one address, the one that holds more */
	for (int empty = 1; empty < 3; empty++) {
		struct file f = make_core(4);
		segment_of(&f, 2)->p_vaddr = BASE + STEP;
		segment_of(&f, empty)->p_filesz = 0;
		assert_true(open_bytes(&f, &target));
		assert_true(lbx_target_read(target, BASE + STEP, &value, sizeof value));
		assert_int_equal(value, 3 - empty);
		lbx_target_destroy(target);
		free(f.bytes);
	}
}

static void tells_the_death(void **state)
{
	struct lbx_target *target;
	struct lbx_stacks *stacks;
	struct lbx_death death;
	struct lbx_stack stack;
	struct file f = make_core(1);
	uint64_t tids[2];

	(void)state;
	assert_true(open_bytes(&f, &target));
	assert_true(lbx_stacks_of_core(target, &stacks));
	assert_true(stacks->ops->death(stacks, &death));
	assert_int_equal(death.signal, SIGSEGV);
	assert_int_equal(death.pid, TID);
	assert_int_equal(death.tid, TID);
	assert_true(death.has_address);
	assert_int_equal(death.address, 0x1234);
	assert_string_equal(death.command, "program --option");
	assert_int_equal(stacks->ops->threads(stacks, tids, 2), 1);
	assert_int_equal(tids[0], TID);
	/* nothing is known of its stack: a frame, and why there are no more */
	assert_true(stacks->ops->walk(stacks, TID, 10, 0, &stack));
	assert_int_equal(stack.n, 1);
	assert_true(stack.end[0] != '\0');
	lbx_stack_release(&stack);
	assert_false(stacks->ops->walk(stacks, TID + 1, 10, 0, &stack));
	lb_clear_error();
	lbx_stacks_destroy(stacks);
	lbx_target_destroy(target);
	free(f.bytes);
}

/* In a core of a machine, `at` is the word of each register, by its DWARF number. */
static void has_registers(unsigned machine, int n, const int *at, int pc, int stack_pointer)
{
	struct file f = make_core(1);
	struct lbx_target *target;
	uint64_t sp;

	((Elf64_Ehdr *)f.bytes)->e_machine = (Elf64_Half)machine;
	assert_true(open_bytes(&f, &target));
	const struct lbx_threads *threads = lbx_core_threads(target);
	assert_int_equal(threads->n, 1);
	const struct lbx_registers *r = &threads->list[0];
	assert_int_equal(r->tid, TID);
	assert_int_equal(r->known, (1ULL << n) - 1);
	for (int i = 0; i < n; i++)
		assert_int_equal(r->r[i], FIRST_WORD + at[i]);
	assert_int_equal(r->pc, FIRST_WORD + pc);
	assert_true(lbx_stack_pointer(r, &sp));
	assert_int_equal(sp, FIRST_WORD + stack_pointer);
	lbx_target_destroy(target);
	free(f.bytes);
}

static void registers_of_every_machine(void **state)
{
	/* the kernel's order: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs
	 * eflags rsp; DWARF's: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 */
	static const int x86_64[] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0 };
	int aarch64[32]; /* x0 to x30, sp, pc in either */

	(void)state;
	for (int i = 0; i < 32; i++)
		aarch64[i] = i;
	has_registers(EM_X86_64, 16, x86_64, 16, 19);
	has_registers(EM_AARCH64, 32, aarch64, 32, 31);
}

static void other_machines(void **state)
{
	struct file f = make_core(1);
	struct lbx_target *target;

	(void)state;
	f.bytes[EI_DATA] = ELFDATA2MSB;
	refused(f, "from another kind of machine");
	f = make_core(1);
	f.bytes[EI_CLASS] = ELFCLASS32;
	refused(f, "from another kind of machine");
	/* its memory can be read, its registers are not known */
	f = make_core(1);
	((Elf64_Ehdr *)f.bytes)->e_machine = EM_S390;
	assert_true(open_bytes(&f, &target));
	assert_int_equal(lbx_core_threads(target)->n, 0);
	lbx_target_destroy(target);
	free(f.bytes);
}

static void no_cores(void **state)
{
	static const struct {
		const char *bytes, *why;
		size_t n;
	} files[] = {
#if LB_HAVE_ZSTD
		{ "\x28\xb5\x2f\xfd------", "cannot be unpacked, zstd says", 10 },
#else
		{ "\x28\xb5\x2f\xfd------", "zstd -d", 10 },
#endif
		{ "\xfd"
		  "7zXZ-----",
		  "xz -dk", 10 },
		{ "\x1f\x8b--------", "gunzip", 10 },
		{ "\x04\x22\x4d\x18------", "lz4 -d", 10 },
		{ "some text", "is not an ELF file", 9 },
		{ "\x7f"
		  "ELF",
		  "is not an ELF file", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct file f = { 0 };
		put(&f, files[i].bytes, files[i].n);
		refused(f, files[i].why);
	}
	struct file f = make_core(1);
	((Elf64_Ehdr *)f.bytes)->e_type = ET_EXEC;
	refused(f, "is an ELF file but not a core");
}

static void kind_is(struct lbx_target *target, uint64_t address, uint64_t wanted, enum lbx_core_bytes kind, uint64_t n)
{
	uint64_t got = wanted;

	assert_int_equal(lbx_core_bytes(target, address, &got), kind);
	assert_int_equal(got, n);
}

static void tells_where_bytes_are(void **state)
{
	struct file f = make_core(2);
	struct lbx_target *target;

	(void)state;
	assert_true(open_bytes(&f, &target));
	kind_is(target, BASE, 100, LBX_BYTES_HELD, 8);
	kind_is(target, BASE + 3, 2, LBX_BYTES_HELD, 2);
	kind_is(target, BASE + 8, 100, LBX_BYTES_LOST, 1);
	kind_is(target, BASE + STEP, 100, LBX_BYTES_HELD, 8);
	kind_is(target, BASE + 2 * STEP - 1, 100, LBX_BYTES_LOST, 1);
	kind_is(target, BASE + 2 * STEP, UINT64_MAX, LBX_BYTES_NOWHERE, UINT64_MAX - BASE - 2 * STEP);
	kind_is(target, BASE - 10, 100, LBX_BYTES_NOWHERE, 10);
	assert_true(lbx_target_saved(target, BASE, 8));
	assert_false(lbx_target_saved(target, BASE, 9));
	assert_non_null(strstr(lb_error_message(), "0x10008: its page was not saved"));
	lb_clear_error();
	lbx_target_destroy(target);
	free(f.bytes);
}

/* Cut anywhere, or with any 64 bits of its headers and notes overwritten: opened or refused, and what
 * is then read are its own bytes. */
static void cut_and_changed(void **state)
{
	static const uint64_t values[] = { 0, 1, UINT64_MAX, UINT64_MAX - 4095, INT64_MAX, 1 << 20 };
	struct file whole = make_core(4);
	struct lbx_target *target;
	uint64_t value, tids[4];
	int opened = 0;

	(void)state;
	for (size_t i = 0; i < 2 * whole.n; i++) {
		struct file f = { .n = i < whole.n ? i : whole.n };
		f.bytes = malloc(whole.n + 1);
		memcpy(f.bytes, whole.bytes, whole.n);
		if (i >= whole.n && i - whole.n + 8 <= whole.n)
			memcpy(f.bytes + (i - whole.n), &values[i % 6], 8);
		bool done = f.n > 0 && open_bytes(&f, &target);
		opened += done;
		struct lbx_stacks *stacks;
		struct lbx_stack stack;
		if (done && lbx_stacks_of_core(target, &stacks)) {
			for (uint64_t k = 0; k < 5; k++)
				if (lbx_target_try_read(target, BASE + k * STEP, &value, 8) && i < whole.n)
					assert_int_equal(value, k);
			if (stacks->ops->threads(stacks, tids, 4) > 0 &&
			    stacks->ops->walk(stacks, tids[0], 10, 0, &stack))
				lbx_stack_release(&stack);
			lbx_stacks_destroy(stacks);
		}
		if (done)
			lbx_target_destroy(target);
		lb_clear_error();
		free(f.bytes);
	}
	assert_true(opened > 100);
	free(whole.bytes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_was_saved),   cmocka_unit_test(tells_what_can_be_written),
		cmocka_unit_test(maps_neighbours_as_one), cmocka_unit_test(passes_over_holes),
		cmocka_unit_test(many_segments),          cmocka_unit_test(segments_that_overlap),
		cmocka_unit_test(tells_the_death),        cmocka_unit_test(registers_of_every_machine),
		cmocka_unit_test(other_machines),         cmocka_unit_test(no_cores),
		cmocka_unit_test(tells_where_bytes_are),  cmocka_unit_test(cut_and_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
