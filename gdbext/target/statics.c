/* Most of debug information is types and code. Of the types only those of variables at fixed addresses are looked at, and each
 * once; functions are entered for their statics alone. One variable may be told by several units, as an inline one: its address
 * counts. */
#include "target/statics.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "target/demangle.h"
#include "target/inlined.h"
#include "target/location.h"
#include "target/registers.h"
#include "target/target.h"
#include "target/type.h"

enum { MAX_DEPTH = 32, MAX_DIES = 32 << 20, MAX_STATICS = 1 << 20, NAME = 512 };

struct walk {
	struct lbx_statics *found;
	struct lbx_number_map types; /* 1: it may lead to a tensor */
	struct lbx_number_map addresses;
	Dwarf_Die unit;
	uint64_t bias;
	bool is_program; /* the module is */
	int dies;
	bool is_short; /* of memory */
};

/* As lbx_number_at(): NULL: no memory. */
static struct lbx_number *see(struct walk *w, struct lbx_number_map *seen, uint64_t key, bool *ret_new)
{
	struct lbx_number *number = lbx_number_at(seen, NULL, key, ret_new);

	w->is_short |= !number;
	return number;
}

/* ---- types that may lead to a tensor ---- */

static bool may_lead(struct walk *w, Dwarf_Die *type, int tag, int depth);

static bool member_may_lead(struct walk *w, Dwarf_Die *member, int depth)
{
	int tag = dwarf_tag(member);
	Dwarf_Die type;

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(member, DW_AT_external))
		return false;
	tag = lbx_type_of(member, &type);
	return may_lead(w, &type, tag, depth + 1);
}

static bool struct_may_lead(struct walk *w, Dwarf_Die *type, int depth)
{
	bool may = false, is_new;
	struct lbx_number *known = see(w, &w->types, (uintptr_t)type->addr, &is_new);
	const char *name = dwarf_diename(type);
	Dwarf_Die member;

	if (!known || !is_new)
		return known && known->value;
	if (depth == MAX_DEPTH || (name && strncmp(name, "basic_string<", 13) == 0) || dwarf_child(type, &member) != 0)
		return false;
	do
		may = member_may_lead(w, &member, depth);
	while (!may && w->dies++ < MAX_DIES && dwarf_siblingof(&member, &member) == 0);
	if ((known = see(w, &w->types, (uintptr_t)type->addr, &is_new))) /* others may have moved it */
		known->value = may;
	return may;
}

/* What is a char or a function is none. */
static bool pointee_may_be(Dwarf_Die *pointer)
{
	Dwarf_Die to;
	int tag = lbx_type_of(pointer, &to);
	const char *name = tag == DW_TAG_base_type ? dwarf_diename(&to) : NULL;

	return tag != DW_TAG_subroutine_type && !(name && strcmp(name, "char") == 0);
}

static bool may_lead(struct walk *w, Dwarf_Die *type, int tag, int depth)
{
	Dwarf_Die element;

	if (lbx_type_is_pointer(tag))
		return pointee_may_be(type);
	if (tag == DW_TAG_array_type && depth < MAX_DEPTH) {
		tag = lbx_type_of(type, &element);
		return may_lead(w, &element, tag, depth + 1);
	}
	return lbx_type_is_struct(tag) && struct_may_lead(w, type, depth);
}

/* ---- variables ---- */

/* Whether an expression is an address that stands in it, or in a table: the others are looked at no further. */
static bool is_fixed(Dwarf_Attribute *attribute)
{
	Dwarf_Block block;

	return dwarf_whatform(attribute) != DW_FORM_sec_offset && dwarf_whatform(attribute) != DW_FORM_loclistx &&
	       dwarf_formblock(attribute, &block) == 0 && block.length &&
	       (block.data[0] == DW_OP_addr || block.data[0] == DW_OP_addrx || block.data[0] == DW_OP_GNU_addr_index);
}

/* Likewise whether it is a place in the block that each thread has. */
static bool is_of_thread(const struct walk *w, Dwarf_Attribute *attribute, uint64_t *ret)
{
	Dwarf_Op *ops;
	size_t n;

	if (!w->is_program || !w->found->block || dwarf_whatform(attribute) == DW_FORM_sec_offset ||
	    dwarf_whatform(attribute) == DW_FORM_loclistx || dwarf_getlocation(attribute, &ops, &n) != 0 || n != 2 ||
	    (ops[0].atom != DW_OP_const4u && ops[0].atom != DW_OP_const8u) ||
	    (ops[1].atom != DW_OP_form_tls_address && ops[1].atom != DW_OP_GNU_push_tls_address))
		return false;
	*ret = ops[0].number;
	return true;
}

static bool locate(const struct walk *w, Dwarf_Attribute *attribute, uint64_t *ret)
{
	struct lbx_frame nowhere = { .pc = 0 };
	struct lbx_scope scope = { .frame = &nowhere, .bias = w->bias };
	struct lbx_location at;

	if (!lbx_locate(&scope, attribute, &at) || !at.in_memory)
		return false;
	*ret = at.value;
	return true;
}

/* The namespaces and classes around a declaration, "ns::"; false: it is not beneath `parent`. */
static bool find_around(struct walk *w, Dwarf_Die *parent, Dwarf_Off wanted, int depth, char ret[NAME])
{
	size_t n = strlen(ret);
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&die);
		if (dwarf_dieoffset(&die) == wanted)
			return true;
		if (dwarf_tag(&die) != DW_TAG_namespace && !lbx_type_is_struct(dwarf_tag(&die)))
			continue;
		if (name)
			snprintf(ret + n, NAME - n, "%s::", name);
		if (find_around(w, &die, wanted, depth + 1, ret))
			return true;
		ret[n] = '\0';
	} while (w->dies++ < MAX_DIES && dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* What is declared elsewhere, in a class or a namespace, has its whole name from there. */
static void name_static(struct walk *w, Dwarf_Die *die, const char *around, char ret[NAME])
{
	Dwarf_Attribute attribute, specification;
	const char *linked = NULL, *name = dwarf_diename(die);
	bool is_elsewhere = dwarf_attr(die, DW_AT_specification, &specification);
	char space[NAME] = "";
	Dwarf_Die declared;

	if (is_elsewhere && dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
		linked = dwarf_formstring(&attribute);
	if (linked) {
		lbx_demangle(linked, ret, NAME);
		return;
	}
	if (is_elsewhere && dwarf_formref_die(&specification, &declared) &&
	    find_around(w, &w->unit, dwarf_dieoffset(&declared), 0, space))
		around = space;
	snprintf(ret, NAME, "%s%s", around, name ? name : "");
}

/* Not dwarf_decl_file(): for that the first file of a unit, clang's number 0, is none. */
static const char *file_of(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
	    dwarf_getsrcfiles(&w->unit, &files, NULL) != 0)
		return NULL;
	const char *path = dwarf_filesrc(files, number, NULL, NULL);
	return path ? lbx_name_in_unit(&w->unit, path) : NULL;
}

static bool add(struct walk *w, Dwarf_Die *die, const char *around, const char *function, const struct lbx_static *one)
{
	struct lbx_statics *found = w->found;
	struct lbx_static *to;
	Dwarf_Attribute attribute;
	char name[NAME];

	if (!lb_reserve(found->list, found->room, found->n + 1))
		return false;
	to = &found->list[found->n];
	*to = *one;
	name_static(w, die, around, name);
	to->name = strdup(name);
	to->function = function ? strdup(function) : NULL;
	found->n++;
	to->file = file_of(w, die);
	if (dwarf_attr_integrate(die, DW_AT_decl_line, &attribute)) {
		Dwarf_Word line;
		to->line = dwarf_formudata(&attribute, &line) == 0 && line <= INT32_MAX ? (int)line : 0;
	}
	return to->name && (to->function || !function);
}

static void look_at(struct walk *w, Dwarf_Die *die, const char *around, const char *function)
{
	struct lbx_static one = { .line = 0 };
	Dwarf_Attribute attribute;
	const char *name;
	bool is_new;

	if (!dwarf_attr(die, DW_AT_location, &attribute))
		return;
	one.is_of_thread = is_of_thread(w, &attribute, &one.address);
	if (!one.is_of_thread && !is_fixed(&attribute))
		return;
	one.tag = lbx_type_of(die, &one.type);
	if (!may_lead(w, &one.type, one.tag, 0) || !(name = dwarf_diename(die)) || strncmp(name, "__", 2) == 0 ||
	    (!one.is_of_thread && !locate(w, &attribute, &one.address)))
		return;
	uint64_t key = one.is_of_thread ? ~one.address : one.address;
	if (!key || !see(w, &w->addresses, key, &is_new) || !is_new)
		return;
	w->is_short |= !add(w, die, around, function, &one);
}

static void look_into(struct walk *w, Dwarf_Die *parent, const char *around, const char *function, int depth);

/* A function's static is written behind the function's name. */
static void look_into_function(struct walk *w, Dwarf_Die *die, const char *around, int depth)
{
	Dwarf_Attribute attribute;
	const char *linked = NULL, *name = dwarf_diename(die);
	char whole[NAME], behind[NAME];

	if (!name || !dwarf_haschildren(die))
		return;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
		linked = dwarf_formstring(&attribute);
	if (linked)
		lbx_demangle(linked, whole, sizeof whole);
	else
		snprintf(whole, sizeof whole, "%s%s", around, name);
	snprintf(behind, sizeof behind, "%.*s::", NAME - 3, whole);
	look_into(w, die, behind, whole, depth + 1);
}

/* What has functions in it, where that is a part of a function: g++ has lambdas and local classes there. */
static bool is_local_class(int tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* Whether there may be a static in a function: most have none, and their names are for nothing then. */
static bool has_static(struct walk *w, Dwarf_Die *scope, int depth)
{
	Dwarf_Attribute attribute;
	uint64_t unused;
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(scope, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_variable && dwarf_attr(&die, DW_AT_location, &attribute) &&
		    (is_fixed(&attribute) || is_of_thread(w, &attribute, &unused)))
			return true;
		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_subprogram || is_local_class(tag)) &&
		    has_static(w, &die, depth + 1))
			return true;
	} while (w->dies++ < MAX_DIES && dwarf_siblingof(&die, &die) == 0);
	return false;
}

static void look_into(struct walk *w, Dwarf_Die *parent, const char *around, const char *function, int depth)
{
	char within[NAME];
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		const char *name;
		if (tag == DW_TAG_variable) {
			look_at(w, &die, around, function);
		} else if (tag == DW_TAG_namespace) {
			name = dwarf_diename(&die);
			snprintf(within, sizeof within, name ? "%s%s::" : "%s", around, name);
			look_into(w, &die, within, function, depth + 1);
		} else if (tag == DW_TAG_subprogram && has_static(w, &die, depth)) {
			look_into_function(w, &die, around, depth);
		} else if (is_local_class(tag) && function) {
			name = dwarf_diename(&die);
			snprintf(within, sizeof within, name ? "%s%s::" : "%s", around, name);
			look_into(w, &die, within, function, depth + 1);
		} else if (tag == DW_TAG_lexical_block && function) {
			look_into(w, &die, around, function, depth + 1);
		}
	} while (w->dies++ < MAX_DIES && w->found->n < MAX_STATICS && !w->is_short && dwarf_siblingof(&die, &die) == 0);
}

/* ---- variables of threads ---- */

/* A library is never loaded as a program, which tells that it is one. */
static bool is_program(Elf *elf, const GElf_Ehdr *header)
{
	Elf_Scn *section = NULL;

	if (header->e_type == ET_EXEC)
		return true;
	while (header->e_type == ET_DYN && (section = elf_nextscn(elf, section))) {
		GElf_Shdr at;
		GElf_Dyn entry;
		if (!gelf_getshdr(section, &at) || at.sh_type != SHT_DYNAMIC)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
			if (entry.d_tag == DT_FLAGS_1)
				return entry.d_un.d_val & DF_1_PIE;
	}
	return false;
}

/* Where the program's block is has been settled when it was linked: right below the thread's own address (on x86-64). */
static void find_block(struct walk *w, Dwfl_Module *module)
{
	GElf_Addr bias;
	GElf_Ehdr header;
	GElf_Phdr segment;
	Elf *elf = dwfl_module_getelf(module, &bias);

	w->is_program = elf && gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64 && is_program(elf, &header);
	for (int i = 0; w->is_program && i < header.e_phnum; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_TLS)
			continue;
		uint64_t align = segment.p_align > 1 ? segment.p_align : 1, within = -segment.p_vaddr & (align - 1);
		if ((align & (align - 1)) == 0 && segment.p_memsz < 1u << 30 && align < 1u << 30)
			w->found->block = ((segment.p_memsz - within + align - 1) & -align) + within;
	}
}

/* glibc's struct of a thread has its own address first, then that of a vector of two words a module: where the thread has
 * its block. The program's is the first. Other C libraries have none such there. */
bool lbx_statics_block(struct lbx_target *target, const struct lbx_statics *statics, const struct lbx_registers *thread,
		       uint64_t *ret)
{
	uint64_t own[3], first[2];

	if (!statics->block || !thread->thread || !lbx_target_try_read(target, thread->thread, own, sizeof own) ||
	    own[0] != thread->thread || own[2] != own[0] || !own[1] ||
	    !lbx_target_try_read(target, own[1] + sizeof first, first, sizeof first))
		return false;
	*ret = thread->thread - statics->block;
	return first[0] == *ret;
}

/* ---- all of them ---- */

static int look_at_module(Dwfl_Module *module, void **data, const char *path, Dwarf_Addr base, void *context)
{
	struct walk *w = context;
	const char *name = strrchr(path, '/');
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	(void)data, (void)base;
	if (lbx_is_common_library(name ? name + 1 : path))
		return DWARF_CB_OK;
	find_block(w, module);
	while (w->dies < MAX_DIES && !w->is_short && (unit = dwfl_module_nextcu(module, unit, &bias))) {
		w->unit = *unit;
		w->bias = bias;
		look_into(w, unit, "", NULL, 0);
	}
	return w->dies < MAX_DIES && w->found->n < MAX_STATICS && !w->is_short ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void lbx_statics_deinit(struct lbx_statics *statics)
{
	for (size_t i = 0; i < statics->n; i++) {
		free(statics->list[i].name);
		free(statics->list[i].function);
	}
	free(statics->list);
	*statics = (struct lbx_statics){ .n = 0 };
}

const struct lbx_statics *lbx_statics_find(struct lbx_lines *lines)
{
	struct lbx_statics *found = lbx_lines_statics(lines);
	struct walk w = { .found = found };

	if (found->is_known)
		return found;
	if (lbx_lines_dwfl(lines))
		dwfl_getmodules(lbx_lines_dwfl(lines), look_at_module, &w, 0);
	lbx_number_map_deinit(&w.types);
	lbx_number_map_deinit(&w.addresses);
	if (w.is_short) {
		lbx_statics_deinit(found);
		lb_fail("out of memory for the program's variables");
		return NULL;
	}
	found->is_known = true;
	found->is_cut = w.dies >= MAX_DIES || found->n >= MAX_STATICS;
	return found;
}
