/* The type_info of an object has the name of its class; the debug information of the module that has the virtual table has a class of
 * that name. The two are compared as they are written, but for blanks and for the suffixes of numbers, which compilers and
 * demanglers write or leave out. Where the class that was found has no base like the object's, at the same place, it is
 * another one, or the first word is no virtual table's: so is what is only a virtual base. */
#include "target/dynamic.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <string.h>

#include "target/cxx_types.h"
#include "target/demangle.h"
#include "target/type.h"

enum { MAX_DEPTH = 16, MAX_DIES = 4 << 20, NAME = 1024 };

static const char nameless[] = "(anonymousnamespace)"; /* as a demangler calls it, without blanks */

/* ---- names ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "Stack<int, 4ul>" as "Stack<int,4>"; "" where it does not fit. */
static void make_plain(const char *name, char ret[NAME])
{
	bool in_number = false;
	size_t n = 0;

	for (char before = ' '; *name; before = *name++) {
		in_number = isdigit((unsigned char)*name) ? in_number || !is_word(before) : in_number && is_word(*name);
		if (*name == ' ' || (in_number && strchr("uUlL", *name)))
			continue;
		if (n + 1 == NAME)
			break;
		ret[n++] = *name;
	}
	ret[*name ? 0 : n] = '\0';
}

/* What a name goes on with behind that of a namespace or a class; NULL: it is another one. */
static const char *pass(const char *name, Dwarf_Die *die)
{
	const char *own = dwarf_diename(die);
	char plain[NAME];

	if (own)
		make_plain(own, plain);
	own = own ? plain : nameless;
	size_t n = strlen(own);
	if (n == 0 || strncmp(name, own, n) != 0)
		return NULL;
	if (!name[n])
		return name + n;
	return strncmp(name + n, "::", 2) == 0 ? name + n + 2 : NULL;
}

/* ---- classes ---- */

struct search {
	char name[NAME];
	bool is_unique; /* each unit may have another one of that name */
	int found, dies;
	Dwarf_Die type;
};

static void look_into(struct search *s, Dwarf_Die *parent, const char *name, int depth)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		const char *rest = tag == DW_TAG_namespace || lbx_type_is_struct(tag) ? pass(name, &die) : NULL;
		if (rest && *rest) {
			look_into(s, &die, rest, depth + 1);
		} else if (rest && tag != DW_TAG_namespace && !dwarf_hasattr(&die, DW_AT_declaration)) {
			s->type = die;
			s->found++;
		}
	} while (s->dies++ < MAX_DIES && !s->found && dwarf_siblingof(&die, &die) == 0);
}

static bool is_done(const struct search *s)
{
	return s->dies >= MAX_DIES || s->found > s->is_unique;
}

/* In all units, or until it is found. */
static bool find_class(Dwfl_Module *module, const char *mangled, Dwarf_Die *ret)
{
	static const char front[] = "typeinfo name for ";
	char symbol[sizeof "_ZTS" + LBX_CXX_MANGLED], name[NAME];
	struct search s = { .found = 0 };
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	snprintf(symbol, sizeof symbol, "_ZTS%s", mangled);
	lbx_demangle(symbol, name, sizeof name);
	if (strncmp(name, front, sizeof front - 1) != 0)
		return false;
	make_plain(name + sizeof front - 1, s.name);
	s.is_unique = strstr(s.name, nameless) != NULL;
	for (int all = 0; !is_done(&s) && (unit = dwfl_module_nextcu(module, unit, &bias));) {
		s.found = 0;
		look_into(&s, unit, s.name, 0);
		all += s.found;
		s.found = all;
	}
	*ret = s.type;
	return s.found == 1 && (!s.is_unique || s.dies < MAX_DIES);
}

static const struct lbx_dynamic_class *class_at(struct lbx_target *target, struct lbx_lines *lines, uint64_t vtable,
						uint64_t type)
{
	struct lbx_dynamic_classes *known = lbx_lines_dynamic(lines);
	char mangled[LBX_CXX_MANGLED];

	for (unsigned i = 0; i < known->n && i < LBX_DYNAMIC_CLASSES; i++)
		if (known->list[i].vtable == vtable)
			return &known->list[i];
	struct lbx_dynamic_class *new = &known->list[known->n++ % LBX_DYNAMIC_CLASSES];
	Dwfl_Module *module = dwfl_addrmodule(lbx_lines_dwfl(lines), vtable);
	new->vtable = vtable;
	new->is_known =
	    module && lbx_cxx_type_mangled(target, type, mangled) && find_class(module, mangled, &new->type);
	return new;
}

/* ---- objects ---- */

/* Whether its first word is a virtual table's address. */
static bool has_table(Dwarf_Die *type, int depth)
{
	Dwarf_Die member, base;

	if (depth == MAX_DEPTH || dwarf_child(type, &member) != 0)
		return false;
	do {
		int tag = dwarf_tag(&member);
		const char *name = dwarf_diename(&member);
		if (tag == DW_TAG_member && name && strncmp(name, "_vptr", 5) == 0)
			return true;
		if (tag == DW_TAG_inheritance && lbx_type_is_struct(lbx_type_of(&member, &base)) &&
		    has_table(&base, depth + 1))
			return true;
	} while (dwarf_siblingof(&member, &member) == 0);
	return false;
}

/* Whether a class has such a base, `offset` bytes behind its beginning. */
static bool has_base(Dwarf_Die *type, Dwarf_Die *base, uint64_t offset, int depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die, own;

	if (depth == MAX_DEPTH || dwarf_child(type, &die) != 0)
		return false;
	do {
		Dwarf_Word at = 0;
		if (dwarf_tag(&die) != DW_TAG_inheritance || !lbx_type_is_struct(lbx_type_of(&die, &own)) ||
		    (dwarf_attr(&die, DW_AT_data_member_location, &attribute) &&
		     dwarf_formudata(&attribute, &at) != 0) ||
		    at > offset)
			continue;
		if ((at == offset && lbx_type_is_same(&own, base)) || has_base(&own, base, offset - at, depth + 1))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

bool lbx_dynamic_object(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_object *object,
			struct lbx_object *ret)
{
	const struct lbx_dynamic_class *class;
	Dwarf_Die base = object->type;
	uint64_t vtable, type;
	int64_t top;

	if (!lbx_lines_dwfl(lines) || !lbx_type_is_struct(object->tag) || !has_table(&base, 0) ||
	    !lbx_target_try_read(target, object->address, &vtable, sizeof vtable) ||
	    !lbx_cxx_type_within(target, vtable, &top, &type))
		return false;
	class = class_at(target, lines, vtable, type);
	*ret = (struct lbx_object){ class->type, DW_TAG_class_type, object->address + (uint64_t)top };
	return class->is_known && has_base(&ret->type, &base, (uint64_t)-top, 0);
}
