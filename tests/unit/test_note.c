/* A search for the runtime's note that meets memory which cannot be read says so, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"
#include "symtab.h"
#include "target/target.h"

enum { HEADERS = 0x10000, NOTES = 0x10800, DYNAMIC = 0x20000, LOADER = 0x30000, LINK = 0x40000, SIZE = 4096 };

/* A program without the runtime: its headers and notes, its dynamic section, what the loader keeps. */
static struct {
	struct lbx_target target;
	uint64_t missing; /* the part that is not there */
	unsigned char headers[SIZE], dynamic[SIZE], loader[SIZE], link[SIZE];
} program;

static bool read_program(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	const struct {
		uint64_t at;
		const unsigned char *bytes;
	} parts[] = { { HEADERS, program.headers },
		      { DYNAMIC, program.dynamic },
		      { LOADER, program.loader },
		      { LINK, program.link } };

	(void)target;
	for (int i = 0; i < 4; i++) {
		if (address < parts[i].at || address + n > parts[i].at + SIZE)
			continue;
		if (program.missing >= address && program.missing < address + n)
			break;
		memcpy(to, parts[i].bytes + (address - parts[i].at), n);
		return true;
	}
	return lb_fail("nothing at 0x%llx", (unsigned long long)address);
}

static int set_up(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_program };
	const Elf64_Phdr headers[] = {
		{ .p_type = PT_PHDR, .p_vaddr = HEADERS },
		{ .p_type = PT_NOTE, .p_vaddr = NOTES, .p_memsz = 32 },
		{ .p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC },
	};
	const Elf64_Nhdr note = { .n_namesz = 4, .n_descsz = 16, .n_type = 1 };
	const Elf64_Dyn dynamic[] = { { .d_tag = DT_DEBUG, .d_un.d_ptr = LOADER }, { .d_tag = DT_NULL } };
	const uint64_t loader[] = { 1, LINK };

	(void)state;
	memset(&program, 0, sizeof program);
	program.target = (struct lbx_target){ .ops = &ops, .liveness = LBX_LIVE };
	memcpy(program.headers, headers, sizeof headers);
	memcpy(program.headers + (NOTES - HEADERS), &note, sizeof note);
	memcpy(program.dynamic, dynamic, sizeof dynamic);
	memcpy(program.loader, loader, sizeof loader);
	return 0;
}

static void says(uint64_t missing, const char *expected)
{
	uint64_t root;

	program.missing = missing;
	assert_false(lbx_find_root_by_note(&program.target, HEADERS, 3, &root));
	if (!strstr(lb_error_message(), expected))
		fail_msg("not '%s': %s", expected, lb_error_message());
	lb_clear_error();
}

static void tells_what_it_cannot_read(void **state)
{
	(void)state;
	says(0, "no note of it in any loaded module");
	says(HEADERS, "0x10000, with the headers of a module, cannot be read; the process may be gone");
	says(NOTES, "0x10800, with a module's notes, cannot be read");
	says(DYNAMIC, "the list of loaded libraries cannot be read");
	says(LOADER, "0x30000, with the loader's data, cannot be read");
	says(LINK, "0x40000, with the loader's list of modules, cannot be read");
}

/* A note leads to a root: as it is in the file, initialised, or damaged. */
static void tells_what_is_not_there_yet(void **state)
{
	const Elf64_Nhdr note = { .n_namesz = sizeof LB_NOTE_OWNER, .n_descsz = 8, .n_type = LB_NOTE_ROOT };
	const uint64_t at = HEADERS + 0xc00, desc = NOTES + sizeof note + ((sizeof LB_NOTE_OWNER + 3) & ~3u);
	const int64_t distance = (int64_t)(at - desc);
	struct lb_symtab *root = (void *)(program.headers + (at - HEADERS));
	Elf64_Phdr headers[3];
	uint64_t found;

	(void)state;
	memcpy(headers, program.headers, sizeof headers);
	headers[1].p_memsz = desc + 8 - NOTES;
	memcpy(program.headers, headers, sizeof headers);
	memcpy(program.headers + (NOTES - HEADERS), &note, sizeof note);
	memcpy(program.headers + (NOTES - HEADERS) + sizeof note, LB_NOTE_OWNER, sizeof LB_NOTE_OWNER);
	memcpy(program.headers + (desc - HEADERS), &distance, sizeof distance);
	*root = (struct lb_symtab){ .major = 1, .minor = 6, .size = sizeof *root, .n_root_fields = 40, .n_kinds = 6 };
	says(0, "is not there yet: the program has not initialised the runtime; let it run to main");
	root->root_fields = 0x1000;
	says(0, "is damaged: it does not begin with its magic number");
	root->root_fields = root->major = 0;
	says(0, "is damaged: it does not begin with its magic number");
	root->magic = LB_SYMTAB_MAGIC;
	assert_true(lbx_find_root_by_note(&program.target, HEADERS, 3, &found));
	assert_int_equal(found, at);
}

/* What is linked statically, to lie anywhere, has no PT_PHDR that says where. */
static void finds_it_in_a_static_program_anywhere(void **state)
{
	const Elf64_Ehdr header = { .e_ident = ELFMAG, .e_phoff = sizeof header };
	const Elf64_Phdr headers[] = {
		{ .p_type = PT_LOAD, .p_memsz = SIZE, .p_filesz = SIZE },
		{ .p_type = PT_NOTE, .p_vaddr = NOTES - HEADERS, .p_memsz = 64 },
		{ .p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC - HEADERS },
	};
	const Elf64_Nhdr note = { .n_namesz = sizeof LB_NOTE_OWNER, .n_descsz = 8, .n_type = LB_NOTE_ROOT };
	const uint64_t at = HEADERS + 0xc00, desc = NOTES + sizeof note + ((sizeof LB_NOTE_OWNER + 3) & ~3u);
	const int64_t distance = (int64_t)(at - desc);
	const uint64_t magic = LB_SYMTAB_MAGIC;
	uint64_t found;

	(void)state;
	memset(program.headers, 0, sizeof program.headers);
	memcpy(program.headers, &header, sizeof header);
	memcpy(program.headers + sizeof header, headers, sizeof headers);
	memcpy(program.headers + (NOTES - HEADERS), &note, sizeof note);
	memcpy(program.headers + (NOTES - HEADERS) + sizeof note, LB_NOTE_OWNER, sizeof LB_NOTE_OWNER);
	memcpy(program.headers + (desc - HEADERS), &distance, sizeof distance);
	memcpy(program.headers + (at - HEADERS), &magic, sizeof magic);
	assert_true(lbx_find_root_by_note(&program.target, HEADERS + sizeof header, 3, &found));
	assert_int_equal(found, at);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tells_what_it_cannot_read, set_up),
		cmocka_unit_test_setup(tells_what_is_not_there_yet, set_up),
		cmocka_unit_test_setup(finds_it_in_a_static_program_anywhere, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
