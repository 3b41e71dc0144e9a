/* Fuzzes what finds objects in containers and smart pointers: true debug information, of libstdc++ and of libc++
 * (containers.cc, in libraries beside the fuzzer), and memory that is not as that says. The memory is this process' own, over
 * which an input lays words; those that can be changed are those that are read where nothing is.
 *
 * The first byte of an input chooses the library and which member of the object is looked at, the second whether something
 * that was found there is read again by its name, which takes longer, and which; then come changes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "lazybones.h"
#include "stand_alone.h"
#include "target/expression.h"
#include "target/type.h"
#include "target/variables.h"

enum {
	HEAD = 2,
	CHANGES = 32,
	WORDS = 1 << 14,
	LIBRARIES = 2,
	MEMBERS = 32,
	FOUND_MAX = 1 << 16,
	READS_MAX = 1 << 22,
	AGAIN = 32
};

/* In place of the word at `where` among those that are read: the value, of so many bytes; or, where `is_address`, the address
 * of the word `value` among them, and a little beyond. */
struct change {
	uint16_t where;
	uint8_t width, is_address;
	unsigned char value[8];
};

struct patch {
	uint64_t address;
	unsigned width;
	unsigned char bytes[8];
};

struct member {
	char name[64]; /* net.layers */
	struct lbx_object object;
};

struct program {
	struct lbx_target target;
	struct lbx_lines *lines;
	struct lbx_object net;
	struct member members[MEMBERS];
	int n_members;
	uint64_t code;
	uint64_t words[WORDS];
	int n_words, n_patches;
	bool is_noting;
	struct patch patches[CHANGES];
	long reads;
};

static struct program programs[LIBRARIES];
static int n_programs;

static void must(bool is_so)
{
	if (!is_so)
		__builtin_trap();
}

/* ---- memory ---- */

static void note(struct program *p, uint64_t address, size_t n)
{
	for (uint64_t at = address & ~7ULL; at < address + n; at += 8) {
		int i = 0;
		while (i < p->n_words && p->words[i] != at)
			i++;
		if (i == p->n_words && i < WORDS)
			p->words[p->n_words++] = at;
	}
}

static void lay_over(const struct patch *patch, uint64_t address, unsigned char *to, size_t n)
{
	for (unsigned i = 0; i < patch->width; i++)
		if (patch->address + i - address < n)
			to[patch->address + i - address] = patch->bytes[i];
}

static bool read_self(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct program *p = (struct program *)target;
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)address, n };

	must(++p->reads < READS_MAX);
	if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)n)
		return lb_fail("no memory at 0x%llx", (unsigned long long)address);
	if (p->is_noting)
		note(p, address, n);
	for (int i = 0; i < p->n_patches; i++)
		lay_over(&p->patches[i], address, to, n);
	return true;
}

static const struct lbx_target_ops ops = { .read = read_self };

/* ---- the programs ---- */

static int take_unit(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, void *context)
{
	struct program *p = context;
	Dwarf_Addr bias;
	Dwarf_Die *unit = NULL, child;

	(void)data, (void)name, (void)base;
	while ((unit = dwfl_module_nextcu(module, unit, &bias))) {
		if (dwarf_child(unit, &child) != 0)
			continue;
		do {
			const char *own = dwarf_diename(&child);
			if (dwarf_tag(&child) == DW_TAG_variable && own && strcmp(own, "net") == 0)
				p->net.tag = lbx_type_of(&child, &p->net.type);
		} while (!p->net.tag && dwarf_siblingof(&child, &child) == 0);
	}
	return DWARF_CB_OK;
}

static void take_members(struct program *p)
{
	Dwarf_Attribute attribute;
	Dwarf_Die member;

	must(dwarf_child(&p->net.type, &member) == 0);
	do {
		Dwarf_Word offset = 0;
		struct member *m = &p->members[p->n_members];
		if (dwarf_tag(&member) != DW_TAG_member)
			continue;
		must(p->n_members < MEMBERS && dwarf_attr(&member, DW_AT_data_member_location, &attribute) &&
		     dwarf_formudata(&attribute, &offset) == 0);
		snprintf(m->name, sizeof m->name, "net.%s", dwarf_diename(&member));
		m->object.address = p->net.address + offset;
		m->object.tag = lbx_type_of(&member, &m->object.type);
		p->n_members += m->object.tag != 0;
	} while (dwarf_siblingof(&member, &member) == 0);
}

/* False: that library could not be built here. */
static bool open_program(const char *folder, const char *name, struct program *p)
{
	char path[PATH_MAX];
	struct link_map *map;

	snprintf(path, sizeof path, "%s/containers-%s.so", folder, name);
	if (access(path, R_OK) != 0)
		return false;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	const void *(*fill)(void) = (const void *(*)(void))(uintptr_t)dlsym(library, "fuzz_fill");
	p->target = (struct lbx_target){ .ops = &ops, .liveness = LBX_LIVE };
	p->code = (uintptr_t)fill;
	p->net.address = (uintptr_t)fill();
	p->lines = lbx_lines_of_program(path, map->l_addr);
	dwfl_getmodules(lbx_lines_dwfl(p->lines), take_unit, p, 0);
	must(p->net.address && p->net.tag);
	take_members(p);
	return true;
}

static void open_programs(void)
{
	char folder[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);

	folder[n > 0 ? n : 0] = '\0';
	*(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = '\0';
	n_programs += open_program(folder, "gnu", &programs[n_programs]);
	n_programs += open_program(folder, "llvm", &programs[n_programs]);
	if (n_programs == 0) {
		puts("skip: neither g++ nor clang++ built what is looked at");
		exit(0);
	}
}

/* ---- looking ---- */

struct found {
	int n, wanted; /* which of them is kept */
	struct lbx_pointer kept;
	struct lbx_variables_of of;
	bool is_whole; /* nothing has been changed: each can be said */
};

static bool take(void *context, const struct lbx_pointer *pointer)
{
	struct found *f = context;

	must(strnlen(pointer->expression, LBX_VARIABLE_MAX) < LBX_VARIABLE_MAX && pointer->value);
	if (f->n++ == f->wanted)
		f->kept = *pointer;
	must(f->n < FOUND_MAX);
	return true;
}

static bool take_more(void *context, const struct lbx_pointer *pointer)
{
	(void)pointer;
	return ++*(int *)context < FOUND_MAX;
}

static void read_again(const struct found *f)
{
	struct lbx_evaluated value;
	int more = 0;
	bool is_cut;

	enum lbx_found found = lbx_expression_value(&f->of, f->kept.expression, &value);
	must(strnlen(value.why, sizeof value.why) < sizeof value.why);
	bool is_same = found == LBX_FOUND && (value.is_object || value.value == f->kept.value);
	if (f->is_whole && !is_same)
		fprintf(stderr, "'%s' was found, and is read otherwise (%d): %s\n", f->kept.expression, found,
			value.why);
	must(is_same || !f->is_whole);
	lbx_expression_pointers(&f->of, f->kept.expression, take_more, &more, &is_cut);
}

/* How much there was. */
static int look(struct program *p, const struct member *m, int wanted, bool is_whole)
{
	struct found f = { .wanted = wanted,
			   .of = { .target = &p->target, .lines = p->lines, .near = p->code },
			   .is_whole = is_whole };

	p->reads = 0;
	lbx_object_pointers(&p->target, p->lines, m->name, &m->object, true, take, &f);
	must(lb_ok());
	if (wanted >= 0 && f.n > wanted)
		read_again(&f);
	must(lb_ok());
	return f.n;
}

/* Where nothing is changed, something is found in nearly all members, and all of it by its name again; and what that reads can be
 * changed. */
static void look_at_all(struct program *p)
{
	int empty = 0;

	p->is_noting = true;
	for (int i = 0; i < p->n_members; i++) {
		int n = look(p, &p->members[i], -1, true);
		empty += n == 0;
		for (int k = 0; k < n && k < AGAIN; k++)
			look(p, &p->members[i], k, true);
	}
	p->is_noting = false;
	must(p->n_members > 20 && p->n_words > 100 && empty <= 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct change change;

	if (n_programs == 0) {
		open_programs();
		for (int i = 0; i < n_programs; i++)
			look_at_all(&programs[i]);
	}
	if (size < HEAD)
		return 0;
	struct program *p = &programs[data[0] % n_programs];
	const struct member *m = &p->members[data[0] / LIBRARIES % p->n_members];
	p->n_patches = 0;
	for (size_t at = HEAD; size - at >= sizeof change && p->n_patches < CHANGES; at += sizeof change) {
		struct patch *patch = &p->patches[p->n_patches++];
		uint64_t value;
		memcpy(&change, data + at, sizeof change);
		memcpy(&value, change.value, sizeof value);
		if (change.is_address % 2)
			value = p->words[value % WORDS % p->n_words] + (value >> 32) % 9 * 4;
		*patch = (struct patch){ .address = p->words[change.where % p->n_words],
					 .width = change.is_address % 2 ? 8 : 1U << change.width % 4 };
		memcpy(patch->bytes, &value, sizeof value);
	}
	look(p, m, data[1] % AGAIN ? -1 : data[1] / AGAIN, p->n_patches == 0);
	return 0;
}

#ifndef LBX_LIBFUZZER
static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
{
	static const uint64_t ends[] = { 0,
					 1,
					 2,
					 8,
					 16,
					 0x7f,
					 0xff,
					 0x7fffffff,
					 0xffffffff,
					 INT64_MAX,
					 UINT64_MAX,
					 1ULL << 62,
					 1ULL << 32,
					 UINT64_MAX - 4096,
					 UINT64_MAX - 7,
					 0x7fffffff0000 };
	size_t n = 1 << fuzz_random(random) % 4;
	uint64_t head = fuzz_random(random);

	memcpy(input, &head, HEAD);
	for (size_t i = 0; i < n; i++) {
		uint64_t choice = fuzz_random(random), value = fuzz_random(random);
		struct change change = { .where = (uint16_t)choice,
					 .width = choice >> 16 & 3,
					 .is_address = choice >> 18 & 1 };
		if (!change.is_address && (choice >> 19 & 3))
			value = ends[value % (sizeof ends / sizeof *ends)];
		if (choice >> 21 & 1)
			change.width = 3;
		memcpy(change.value, &value, sizeof value);
		memcpy(input + HEAD + i * sizeof change, &change, sizeof change);
	}
	return HEAD + n * sizeof(struct change);
}
#endif
