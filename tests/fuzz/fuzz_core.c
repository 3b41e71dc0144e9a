/* Fuzzes the reader of core files: the memory of a hand-made program (tests/unit/image.c) is written
 * as a core, the input says which of its bytes are others, and what the `lazybones` command does
 * with a core is done with it. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "../unit/image.h"
#include "base/error.h"
#include "inspect/command.h"
#include "lazybones.h"
#include "stand_alone.h"
#include "target/core.h"
#include "target/stacks.h"

enum { HEADERS = 0x8000, NOTE = HEADERS + 0x100, PAGE = 4096, MAX_CORE = 4 << 20, CHANGES = 64 };

/* One change: 12 bytes of the input. */
struct change {
	uint32_t at;
	unsigned char bytes[8];
};

struct core {
	size_t n;
	unsigned char bytes[MAX_CORE];
};

static void put(struct core *core, const void *from, size_t n)
{
	if (n > sizeof core->bytes - core->n)
		abort();
	memcpy(core->bytes + core->n, from, n);
	core->n += n;
}

static void put_note(struct core *core, uint32_t type, const void *desc, uint32_t n)
{
	Elf64_Nhdr note = { .n_namesz = 5, .n_descsz = n, .n_type = type };

	put(core, &note, sizeof note);
	put(core, "CORE\0\0\0", 8);
	put(core, desc, n);
	put(core, "\0\0\0", -n & 3);
}

static void put_notes(struct core *core)
{
	struct elf_prstatus status = { .pr_pid = 7, .pr_cursig = 11 };
	uint64_t auxv[] = { AT_PHDR, HEADERS, AT_PHNUM, 1, AT_NULL, 0 };

	put_note(core, NT_PRSTATUS, &status, sizeof status);
	put_note(core, NT_PRSTATUS, &status, sizeof status);
	put_note(core, NT_AUXV, auxv, sizeof auxv);
}

/* The page by which the root is found: a program header, and the note that it leads to. */
static void make_page(unsigned char *page)
{
	struct {
		Elf64_Nhdr head;
		char owner[12];
		int64_t distance;
	} note = {
		.head = { sizeof LB_NOTE_OWNER, sizeof(int64_t), LB_NOTE_ROOT },
		.owner = LB_NOTE_OWNER,
	};
	Elf64_Phdr header = { .p_type = PT_NOTE, .p_vaddr = NOTE, .p_memsz = sizeof note };

	note.distance = IMAGE_ROOT - (NOTE + (int64_t)offsetof(__typeof__(note), distance));
	memset(page, 0, PAGE);
	memcpy(page, &header, sizeof header);
	memcpy(page + NOTE - HEADERS, &note, sizeof note);
}

static void make_core(const struct image *image, struct core *core)
{
	unsigned char page[PAGE];
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = LBX_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof header,
		.e_ehsize = sizeof header,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)(image->n_regions + 2),
	};
	Elf64_Phdr headers[IMAGE_REGIONS + 2] = { { .p_type = PT_NOTE } };

	core->n = 0;
	make_page(page);
	put(core, &header, sizeof header);
	put(core, headers, (size_t)header.e_phnum * sizeof *headers);
	headers[0].p_offset = core->n;
	put_notes(core);
	headers[0].p_filesz = core->n - headers[0].p_offset;
	for (int i = 0; i <= image->n_regions; i++) {
		const struct image_region *r = i ? &image->regions[i - 1] : NULL;
		uint64_t size = r ? r->size : PAGE;
		headers[i + 1] = (Elf64_Phdr){ .p_type = PT_LOAD,
					       .p_flags = PF_R | PF_W,
					       .p_offset = core->n,
					       .p_vaddr = r ? r->address : HEADERS,
					       .p_filesz = size,
					       .p_memsz = size };
		put(core, r ? r->bytes : page, size);
	}
	memcpy(core->bytes + sizeof header, headers, (size_t)header.e_phnum * sizeof *headers);
}

static void swallow(struct lbx_out *out, const char *text, size_t n)
{
	size_t *sum = out->context;
	for (size_t i = 0; i < n; i++)
		*sum += (unsigned char)text[i];
}

static void look(const char *path, bool whole)
{
	static const struct {
		const char *name, *rest;
	} lines[] = {
		{ "status", "" },
		{ "list", "" },
		{ "print", "x" },
		{ "threads", "" },
		{ "frame", "" },
		{ "owner", "0x200010" },
		{ "freed", "" },
		{ "events", "" },
		{ "report", "--seconds 1" },
		{ "doctor", "--seconds 1" },
	};
	struct lbx_settings settings = lbx_default_settings;
	size_t sum = 0;
	struct lbx_out out = { .width = 80, .context = &sum, .write = swallow };
	struct lbx_context context = { .out = &out, .settings = &settings };

	settings.replay_memory = 0;
	if (lbx_core_open(path, NULL, &context.target) && lbx_stacks_of_core(context.target, &context.stacks)) {
		for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
			lb_clear_error();
			struct lbx_args args;
			bool done =
			    lbx_args_parse_line(lbx_command_find(lbx_commands, lines[i].name), lines[i].rest, &args) &&
			    lbx_command_run(&context, &args);
			if (!done && lb_ok())
				__builtin_trap(); /* it failed without saying why */
		}
	}
	if (whole && !context.table)
		__builtin_trap(); /* nothing was looked at */
	lbx_stacks_destroy(context.stacks);
	lbx_table_destroy(context.table);
	lbx_target_destroy(context.target);
	lb_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct core core;
	bool whole = size == 0;
	struct image image;
	struct change change;
	char path[64];

	image_create(&image, size & 1);
	image_populate(&image);
	make_core(&image, &core);
	image_destroy(&image);
	for (; size >= sizeof change; data += sizeof change, size -= sizeof change) {
		memcpy(&change, data, sizeof change);
		/* three in four near the beginning, where headers and notes are */
		size_t at = change.at % (change.at & 3 ? PAGE : core.n - sizeof change.bytes);
		memcpy(core.bytes + at, change.bytes, sizeof change.bytes);
	}
	int fd = memfd_create("core", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	/* what is left of the input is how much of the core is missing */
	size_t n = size ? core.n - core.n / 256 * data[0] : core.n;
	if (fd >= 0 && write(fd, core.bytes, n) == (ssize_t)n)
		look(path, whole);
	close(fd);
	return 0;
}

#ifndef LBX_LIBFUZZER
static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
{
	static const uint64_t values[] = { 0,          1,         0xff,    0xffff,     0xffffffff,
					   UINT64_MAX, INT64_MAX, 1 << 20, IMAGE_ROOT, HEADERS };
	size_t changes = fuzz_random(random) % 8, n = changes * sizeof(struct change);

	for (size_t k = 0; k < n + 1; k++)
		input[k] = (uint8_t)fuzz_random(random);
	for (size_t k = 0; k < changes; k++) {
		const void *value = &values[fuzz_random(random) % (sizeof values / sizeof *values)];
		if (fuzz_random(random) % 2)
			memcpy(input + k * sizeof(struct change) + 4, value, 8);
	}
	return n + (fuzz_random(random) % 8 == 0);
}
#endif
