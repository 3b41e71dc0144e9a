/* The modules of this very process are those that its own loader tells of; damaged ones end no walk badly. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.h"
#include "lazybones.h"
#include "target/exports.h"
#include "target/loader.h"
#include "target/process.h"

enum { MAX = 256 };

static struct lbx_loaded modules[MAX];

static int count_module(struct dl_phdr_info *info, size_t size, void *data)
{
	int *n = data;
	bool found = false;

	(void)size;
	if (strstr(info->dlpi_name, "linux-vdso")) /* which the loader's list may not have */
		return 0;
	for (int i = 0; i < *n && !found; i++) {
		const struct lbx_loaded *m = &modules[i];
		found = m->bias == info->dlpi_addr && m->n_headers == info->dlpi_phnum;
		for (int k = 0, segment = 0; found && k < info->dlpi_phnum; k++) {
			const ElfW(Phdr) *p = &info->dlpi_phdr[k];
			if (p->p_type != PT_LOAD)
				continue;
			assert_true(segment < m->n_segments);
			assert_int_equal(m->segments[segment].start, info->dlpi_addr + p->p_vaddr);
			assert_int_equal(m->segments[segment].size, p->p_memsz);
			assert_int_equal(m->segments[segment].writable, (p->p_flags & PF_W) != 0);
			segment++;
		}
	}
	if (!found)
		fail_msg("'%s' at 0x%llx was not found", info->dlpi_name, (unsigned long long)info->dlpi_addr);
	return 0;
}

static void finds_the_modules_of_this_process(void **state)
{
	struct lbx_target *target;
	uint64_t at;

	(void)state;
	assert_true(lbx_process_open(getpid(), &target));
	int n = lbx_loaded_modules(target, modules, MAX);
	assert_true(n >= 3); /* this program, libc, the loader */
	assert_true(lb_ok());
	dl_iterate_phdr(count_module, &n);
	int have_puts = 0, have_message = 0;
	void *puts_here = dlsym(RTLD_NEXT, "puts"), *open_here = dlsym(RTLD_NEXT, "cmocka_set_message_output");
	for (int i = 0; i < n; i++) {
		if (lbx_loaded_symbol(target, &modules[i], "puts", &at))
			have_puts += at == (uintptr_t)puts_here;
		if (lbx_loaded_symbol(target, &modules[i], "cmocka_set_message_output", &at))
			have_message += at == (uintptr_t)open_here;
		assert_false(lbx_loaded_symbol(target, &modules[i], "no_such_function_anywhere", &at));
	}
	assert_int_equal(have_puts, 1);
	assert_int_equal(have_message, open_here ? 1 : 0);
	assert_int_equal(lbx_loaded_modules(target, modules, 1), 1);
	lbx_target_destroy(target);
}

/* Each exported function is found by its address, from its first byte to its last; and this program takes
 * what it calls from others. */
static void names_the_functions_that_modules_give(void **state)
{
	struct lbx_target *target;
	struct lbx_exports exports;
	char name[LBX_EXPORT_NAME], other[LBX_EXPORT_NAME];
	bool takes_dlsym = false;
	int named = 0;

	(void)state;
	assert_true(lbx_process_open(getpid(), &target));
	int n = lbx_loaded_modules(target, modules, MAX);
	for (int i = 0; i < n; i++) {
		if (!lbx_exports_open(target, &modules[i], &exports))
			continue;
		for (size_t k = 0; k < exports.n; k++) {
			const struct lbx_export *e = &exports.list[k];
			uint64_t at;
			assert_true(k == 0 || e->start >= exports.list[k - 1].start);
			if ((k > 0 && exports.list[k - 1].start + exports.list[k - 1].size > e->start) ||
			    (k + 1 < exports.n && exports.list[k + 1].start < e->start + e->size))
				continue; /* it has several names */
			assert_true(lbx_exports_function(&exports, e->start, name));
			assert_true(lbx_exports_function(&exports, e->start + e->size - 1, other));
			assert_string_equal(name, other);
			if (lbx_loaded_symbol(target, &modules[i], name, &at) && at == e->start)
				named++;
		}
		for (size_t k = 0; i == 0 && k < exports.n_imports; k++)
			takes_dlsym |= lbx_exports_import(&exports, k, name) && strcmp(name, "dlsym") == 0;
		assert_false(lbx_exports_import(&exports, exports.n_imports, name));
		assert_false(lbx_exports_function(&exports, 1, name));
		lbx_exports_neighbours(&exports, UINT64_MAX, name, other);
		assert_string_equal(other, "");
		lbx_exports_close(&exports);
	}
	assert_true(named > 1000); /* libc alone has more */
	assert_true(takes_dlsym);
	assert_true(lb_ok());
	lbx_target_destroy(target);
}

/* ---- made by hand ---- */

enum {
	AT = 0x10000,
	SIZE = 0x4000,
	DYNAMIC = 0x11000,
	DEBUG = 0x11800,
	LINK = 0x11900,
	TABLES = 0x12000,
	LIBRARY = 0x13000
};

static struct {
	struct lbx_target target;
	unsigned char bytes[SIZE];
} made;

static bool read_made(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	if (address < AT || n > SIZE || address - AT > SIZE - n)
		return lb_fail("nothing at 0x%llx", (unsigned long long)address);
	memcpy(to, made.bytes + (address - AT), n);
	return true;
}

static uint64_t n_headers;

static bool headers_made(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n)
{
	(void)target;
	*ret = AT + sizeof(Elf64_Ehdr);
	*ret_n = n_headers;
	return true;
}

static void put(uint64_t address, const void *bytes, size_t n)
{
	memcpy(made.bytes + (address - AT), bytes, n);
}

static int set_up(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_made, .headers = headers_made };
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				    .e_phoff = sizeof header,
				    .e_phnum = 3,
				    .e_phentsize = sizeof(Elf64_Phdr) };
	const Elf64_Phdr headers[] = {
		{ .p_type = PT_PHDR, .p_vaddr = sizeof header },
		{ .p_type = PT_LOAD, .p_memsz = SIZE, .p_filesz = SIZE, .p_flags = PF_R | PF_W },
		{ .p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC - AT },
	};
	/* offsets, as a loader leaves them that is not glibc's */
	const Elf64_Dyn dynamic[] = {
		{ .d_tag = DT_DEBUG, .d_un.d_ptr = DEBUG },
		{ .d_tag = DT_SYMTAB, .d_un.d_ptr = TABLES - AT },
		{ .d_tag = DT_STRTAB, .d_un.d_ptr = TABLES - AT + 256 },
		{ .d_tag = DT_HASH, .d_un.d_ptr = TABLES - AT + 512 },
		{ .d_tag = DT_NULL },
	};
	const Elf64_Sym symbols[] = {
		{ 0 },
		{ .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = 0x40 },
		{ .st_name = 5, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = SHN_UNDEF },
	};
	const uint32_t hash[] = { 1, 3, 2, 0, 0, 1 }; /* one bucket: 2, then 1 */
	const uint64_t debug[] = { 1, LINK }, link[] = { AT, 0, DYNAMIC, LINK, 0 };

	(void)state;
	memset(&made, 0, sizeof made);
	made.target = (struct lbx_target){ .ops = &ops };
	n_headers = 3;
	put(AT, &header, sizeof header);
	put(AT + sizeof header, headers, sizeof headers);
	put(DYNAMIC, dynamic, sizeof dynamic);
	put(DEBUG, debug, sizeof debug);
	put(LINK, link, sizeof link);
	put(TABLES, symbols, sizeof symbols);
	put(TABLES + 256, "\0one\0two", 9);
	put(TABLES + 512, hash, sizeof hash);
	return 0;
}

/* The list leads back to its beginning. */
static void ends_in_a_ring(void **state)
{
	uint64_t at;

	(void)state;
	assert_int_equal(lbx_loaded_modules(&made.target, modules, MAX), 1);
	assert_int_equal(modules[0].bias, AT);
	assert_int_equal(modules[0].n_segments, 1);
	assert_true(lbx_loaded_symbol(&made.target, &modules[0], "one", &at));
	assert_int_equal(at, AT + 0x40);
	assert_false(lbx_loaded_symbol(&made.target, &modules[0], "two", &at)); /* it needs that, and has it not */
	assert_true(lb_ok());
}

static uint64_t n_reads;

static bool read_and_count(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	n_reads++;
	return read_made(target, address, to, n);
}

/* A module's beginning is looked for page by page: not for each time that a ring comes by it. */
static void a_ring_of_lost_modules_ends_soon(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_and_count, .headers = headers_made };
	const uint64_t link[] = { 0, 0, 0x7f0000000000, LINK, 0 };

	(void)state;
	made.target.ops = &ops;
	put(LINK, link, sizeof link);
	n_reads = 0;
	assert_int_equal(lbx_loaded_modules(&made.target, modules, MAX), 1);
	assert_in_range(n_reads, 1, 1 << 18);
	assert_true(lb_ok());
}

/* Each byte of what the walk reads, by itself, may be anything: it ends, and reads nothing beyond. */
static void survives_damage(void **state)
{
	static const uint64_t parts[][2] = {
		{ AT, 240 }, { DYNAMIC, 80 }, { DEBUG, 16 }, { LINK, 40 }, { TABLES, 560 }
	};
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint64_t at;

	for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
		for (uint64_t i = 0; i < parts[part][1]; i++)
			for (size_t v = 0; v < sizeof values; v++) {
				set_up(state);
				made.bytes[parts[part][0] - AT + i] = values[v];
				int n = lbx_loaded_modules(&made.target, modules, MAX);
				assert_in_range(n, 0, 2 + MAX);
				for (int k = 0; k < n && k < 2; k++) {
					assert_in_range(modules[k].n_segments, 0, LBX_SEGMENTS_MAX);
					if (lbx_loaded_symbol(&made.target, &modules[k], "one", &at))
						assert_non_null(lbx_loaded_segment_at(&modules[k], at));
				}
				assert_true(lb_ok());
			}
	n_headers = UINT64_MAX;
	assert_in_range(lbx_loaded_modules(&made.target, modules, MAX), 0, 2);
}

/* Of the program, and of a library behind it. */
static bool module_made(struct lbx_target *target, size_t i, struct lbx_module *ret)
{
	(void)target;
	*ret = i == 0 ? (struct lbx_module){ .start = AT, .path = "/usr/bin/program" }
		      : (struct lbx_module){ .start = LIBRARY, .path = "/usr/lib/libmade.so.1" };
	return i < 2;
}

/* A core that was cut lacks the loader's data, or a part of its list, and still tells where files were mapped. */
static void what_was_mapped_is_found_without_the_list(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_made, .headers = headers_made, .module = module_made };
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				    .e_phoff = sizeof header,
				    .e_phnum = 1,
				    .e_phentsize = sizeof(Elf64_Phdr) };
	const Elf64_Phdr load = { .p_type = PT_LOAD, .p_memsz = 0x100, .p_filesz = 0x100, .p_flags = PF_R };
	static const uint64_t pointers[] = { DYNAMIC + 8, DEBUG + 8, LINK + 24 };

	for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
		uint64_t nowhere = AT + SIZE;
		set_up(state);
		put(LIBRARY, &header, sizeof header);
		put(LIBRARY + sizeof header, &load, sizeof load);
		put(pointers[i], &nowhere, sizeof nowhere);
		assert_int_equal(lbx_loaded_modules(&made.target, modules, MAX), 1);
		assert_false(lbx_loaded_named(&made.target, "libmade.so"));
		made.target.ops = &ops;
		assert_true(lbx_loaded_named(&made.target, "libmade.so"));
		assert_false(lbx_loaded_named(&made.target, "libother.so"));
		assert_int_equal(lbx_loaded_modules(&made.target, modules, MAX), 2);
		assert_int_equal(modules[0].bias, AT);
		assert_int_equal(modules[1].bias, LIBRARY);
		assert_int_equal(modules[1].segments[0].size, 0x100);
		assert_int_equal(lbx_loaded_modules(&made.target, modules, 1), 1);
		assert_true(lb_ok());
	}
}

/* ---- whether there are more of them ---- */

enum { DRAWN = 0x12800, LOADER = 0x11980, THIRD = 0x11a00, LOADER_AT = 0x13000 };

static void put_link(uint64_t at, uint64_t bias, uint64_t next, uint64_t prev)
{
	const uint64_t link[] = { bias, 0, DYNAMIC, next, prev };

	put(at, link, sizeof link);
}

static void put_number(uint64_t at, uint64_t number)
{
	put(at, &number, sizeof number);
}

/* The program, then the loader; a third module is ready. */
static int set_up_list(void **state)
{
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				    .e_phoff = sizeof header,
				    .e_phentsize = sizeof(Elf64_Phdr) };
	const uint64_t debug[] = { 1, LINK, 0, 0, LOADER_AT };

	set_up(state);
	put(LOADER_AT, &header, sizeof header);
	put(DEBUG, debug, sizeof debug);
	put(DRAWN, "sixteen bytes", 14);
	put_link(LINK, AT, LOADER, 0);
	put_link(LOADER, LOADER_AT, 0, LINK);
	put_link(THIRD, LOADER_AT, 0, LOADER);
	return 0;
}

static bool begin_watch(struct lbx_loader_watch *ret)
{
	return lbx_loader_watch(&made.target, AT + sizeof(Elf64_Ehdr), 3, DRAWN, ret);
}

static uint64_t watched(struct lbx_loader_watch *watch)
{
	uint64_t once, twice;

	assert_true(lbx_loader_watched(&made.target, watch, &once));
	assert_true(lbx_loader_watched(&made.target, watch, &twice));
	assert_int_equal(once, twice);
	assert_true(lb_ok());
	return once;
}

static void another_module_shows(void **state)
{
	struct lbx_loader_watch watch = { .random = 0 };
	uint64_t unused;

	(void)state;
	assert_false(lbx_loader_watched(&made.target, &watch, &unused));
	assert_true(begin_watch(&watch));
	uint64_t alone = watched(&watch);
	put_link(LOADER, LOADER_AT, THIRD, LINK);
	uint64_t three = watched(&watch);
	assert_int_not_equal(three, alone);
	/* another one in its place */
	put_link(THIRD, AT, 0, LOADER);
	assert_int_not_equal(watched(&watch), three);
	/* it goes */
	put_link(LOADER, LOADER_AT, 0, LINK);
	assert_int_equal(watched(&watch), alone);
	/* one that the program needs comes before the loader, while it is started */
	put_link(LOADER, LOADER_AT, 0, THIRD);
	assert_int_not_equal(watched(&watch), alone);
	/* the list cannot be read */
	put_link(LOADER, LOADER_AT, AT - 64, LINK);
	assert_false(lbx_loader_watched(&made.target, &watch, &unused));
	/* a ring */
	put_link(LOADER, LOADER_AT, LOADER, LINK);
	watched(&watch);
	/* another start */
	put_link(LOADER, LOADER_AT, 0, LINK);
	assert_int_equal(watched(&watch), alone);
	made.bytes[DRAWN + 15 - AT]++;
	assert_false(lbx_loader_watched(&made.target, &watch, &unused));
	assert_true(lb_ok());
}

static void a_list_that_is_not_there_yet(void **state)
{
	struct lbx_loader_watch watch;

	(void)state;
	put_number(DYNAMIC + 8, 0);
	assert_true(begin_watch(&watch));
	uint64_t before = watched(&watch);
	put_number(DYNAMIC + 8, DEBUG);
	put_number(DEBUG + 8, 0);
	assert_int_equal(watched(&watch), before);
	put_number(DEBUG + 8, LINK);
	uint64_t alone = watched(&watch);
	assert_int_not_equal(alone, before);
	put_link(LOADER, LOADER_AT, THIRD, LINK);
	assert_int_not_equal(watched(&watch), alone);
	/* a static program */
	put_number(DYNAMIC, DT_NULL);
	assert_true(begin_watch(&watch));
	watched(&watch);
}

/* What cannot be read now may be later, as when a debugger is told where the files are. */
static void what_cannot_be_read_is_not_watched(void **state)
{
	struct lbx_loader_watch watch;

	(void)state;
	put_link(LOADER, AT + SIZE, 0, LINK); /* its headers */
	put_number(LOADER + 16, 64);
	assert_false(begin_watch(&watch));
	set_up_list(state);
	put_number(DEBUG + 8, AT + SIZE);
	assert_false(begin_watch(&watch));
	set_up_list(state);
	assert_false(lbx_loader_watch(&made.target, AT + SIZE, 3, DRAWN, &watch));
	assert_false(lbx_loader_watch(&made.target, AT + sizeof(Elf64_Ehdr), 3, AT + SIZE, &watch));
	assert_false(lbx_loader_watch(&made.target, AT + sizeof(Elf64_Ehdr), 3, 0, &watch));
	assert_true(lb_ok());
}

static void this_process_is_watched(void **state)
{
	struct lbx_target *target;
	struct lbx_loader_watch watch;
	uint64_t once, twice;

	(void)state;
	assert_true(lbx_process_open(getpid(), &target));
	assert_true(lbx_loader_watch(target, getauxval(AT_PHDR), getauxval(AT_PHNUM), getauxval(AT_RANDOM), &watch));
	assert_true(lbx_loader_watched(target, &watch, &once));
	assert_true(lbx_loader_watched(target, &watch, &twice));
	assert_int_equal(once, twice);
	assert_int_not_equal(watch.loader, 0);
	lbx_target_destroy(target);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_modules_of_this_process),
		cmocka_unit_test(names_the_functions_that_modules_give),
		cmocka_unit_test_setup(ends_in_a_ring, set_up),
		cmocka_unit_test_setup(a_ring_of_lost_modules_ends_soon, set_up),
		cmocka_unit_test_setup(survives_damage, set_up),
		cmocka_unit_test(what_was_mapped_is_found_without_the_list),
		cmocka_unit_test_setup(another_module_shows, set_up_list),
		cmocka_unit_test_setup(a_list_that_is_not_there_yet, set_up_list),
		cmocka_unit_test_setup(what_cannot_be_read_is_not_watched, set_up_list),
		cmocka_unit_test(this_process_is_watched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
