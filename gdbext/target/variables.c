/* A variable's type decides what of it is a pointer: the variable itself, the elements of an
 * array or a std::vector, the members of a struct and of its base classes; and one step behind it, what a pointer to a pointer or to a
 * struct leads to. Optimised-out variables, and memory that cannot be read, are passed over. */
#include "target/variables.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lazybones.h"
#include "target/containers.h"
#include "target/inlined.h"
#include "target/location.h"
#include "target/type.h"
#include "target/printable.h"

enum {
	MAX_POINTERS = 4096,
	MAX_ELEMENTS = 256,
	MAX_MEMBERS = 256,
	MAX_NAMELESS = 8,
	MAX_CONTAINERS = 8,
	MAX_DIES = 10000,
	MAX_LOOKED = 1 << 20,
	STEPS = 2,
	NAME = LBX_VARIABLE_MAX
};

struct search {
	struct lbx_scope scope;
	lbx_pointer_fn *fn;
	void *context;
	bool is_argument, stopped;
	Dwarf_Die *derived; /* the class whose base is visited; or NULL */
	int found, dies, nameless, containers;
	int looked; /* members, for namesakes */
};

static void visit(struct search *s, const char *name, Dwarf_Die *type, int tag, uint64_t address, int steps);

static void emit(struct search *s, const char *name, uint64_t value)
{
	struct lbx_pointer pointer = { .is_argument = s->is_argument, .value = value };

	if (value == 0 || s->stopped)
		return;
	snprintf(pointer.expression, sizeof pointer.expression, "%s", name);
	lbx_make_printable(pointer.expression);
	if (s->found++ == MAX_POINTERS || !s->fn(s->context, &pointer))
		s->stopped = true;
}

/* The members of a class that have a name, those of its bases and nameless members included. */
static int count_members(struct search *s, Dwarf_Die *type, const char *name, int depth)
{
	Dwarf_Die member, part;
	int n = 0;

	if (depth == MAX_NAMELESS || dwarf_child(type, &member) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&member);
		const char *own = dwarf_diename(&member);
		if (tag == DW_TAG_inheritance || (tag == DW_TAG_member && !own))
			n += lbx_type_is_struct(lbx_type_of(&member, &part)) ? count_members(s, &part, name, depth + 1)
									     : 0;
		else if (tag == DW_TAG_member || tag == DW_TAG_variable)
			n += own && strcmp(own, name) == 0;
	} while (s->looked++ < MAX_LOOKED && dwarf_siblingof(&member, &member) == 0);
	return n;
}

/* A member of a base that has a namesake is another than the one that its name says. */
static bool is_hidden(struct search *s, const char *name)
{
	return s->derived && (count_members(s, s->derived, name, 0) != 1 || s->looked >= MAX_LOOKED);
}

static void visit_members(struct search *s, const char *name, const char *separator, Dwarf_Die *type, uint64_t address,
			  int steps);

/* The members of a base of `derived`, or of a nameless struct or union (then NULL), are those of the whole. */
static void visit_part(struct search *s, const char *name, const char *separator, Dwarf_Die *derived, Dwarf_Die *part,
		       uint64_t address, int steps)
{
	Dwarf_Die *before = s->derived;

	if (s->nameless++ < MAX_NAMELESS) {
		if (!before)
			s->derived = derived;
		visit_members(s, name, separator, part, address, steps);
		s->derived = before;
	}
	s->nameless--;
}

static void visit_member(struct search *s, const char *name, const char *separator, Dwarf_Die *type, Dwarf_Die *member,
			 uint64_t address, int steps)
{
	Dwarf_Die *derived = s->derived, member_type;
	Dwarf_Attribute attribute;
	Dwarf_Word offset = 0;
	char path[NAME];
	const char *member_name = dwarf_diename(member);

	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &offset) != 0)
		return;
	if (dwarf_hasattr(member, DW_AT_bit_size) || dwarf_hasattr(member, DW_AT_external))
		return;
	int tag = lbx_type_of(member, &member_type);
	bool is_base = dwarf_tag(member) == DW_TAG_inheritance;
	if (!member_name || is_base) {
		if (lbx_type_is_struct(tag))
			visit_part(s, name, separator, is_base ? type : NULL, &member_type, address + offset, steps);
		return;
	}
	if (is_hidden(s, member_name))
		return;
	snprintf(path, sizeof path, "%s%s%s", name, separator, member_name);
	s->derived = NULL;
	visit(s, path, &member_type, tag, address + offset, steps);
	s->derived = derived;
}

static void visit_members(struct search *s, const char *name, const char *separator, Dwarf_Die *type, uint64_t address,
			  int steps)
{
	Dwarf_Die member;
	int left = MAX_MEMBERS;

	if (dwarf_child(type, &member) != 0)
		return;
	do {
		int tag = dwarf_tag(&member);
		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			visit_member(s, name, separator, type, &member, address, steps);
	} while (--left > 0 && s->dies++ < MAX_DIES && !s->stopped && dwarf_siblingof(&member, &member) == 0);
}

static void visit_array(struct search *s, const char *name, Dwarf_Die *type, uint64_t address, int steps)
{
	Dwarf_Die element;
	Dwarf_Word bytes, width = 8;
	char path[NAME];
	int tag = lbx_type_of(type, &element);

	if ((!lbx_type_is_pointer(tag) && !lbx_type_is_struct(tag)) || dwarf_aggregate_size(type, &bytes) != 0 ||
	    (lbx_type_is_struct(tag) && dwarf_aggregate_size(&element, &width) != 0) || width == 0)
		return;
	for (uint64_t i = 0; i < bytes / width && i < MAX_ELEMENTS && !s->stopped; i++) {
		snprintf(path, sizeof path, "%s[%llu]", name, (unsigned long long)i);
		visit(s, path, &element, tag, address + i * width, steps);
	}
}

static void visit_pointer(struct search *s, const char *name, Dwarf_Die *type, uint64_t value, int steps)
{
	Dwarf_Die target;
	char path[NAME];
	int tag = lbx_type_of(type, &target);

	if (tag == DW_TAG_subroutine_type)
		return; /* no function is a tensor */
	emit(s, name, value);
	if (value == 0 || steps == 0)
		return;
	if (lbx_type_is_pointer(tag)) {
		snprintf(path, sizeof path, "*%s", name);
		visit(s, path, &target, tag, value, 0);
	} else if (lbx_type_is_struct(tag)) {
		visit_members(s, name, "->", &target, value, 0);
	}
}

/* What stands behind a container counts for the container itself: no step. */
static bool visit_container(struct search *s, const char *name, Dwarf_Die *type, uint64_t address, int steps)
{
	struct lbx_container c;
	char path[NAME];

	if (s->containers == MAX_CONTAINERS || !lbx_container_find(s->scope.target, type, address, &c))
		return false;
	s->containers++;
	if (c.is_pointer)
		visit_pointer(s, name, &c.type, c.address, steps);
	for (uint64_t i = 0; i < c.n && i < MAX_ELEMENTS && s->dies++ < MAX_DIES && !s->stopped; i++) {
		snprintf(path, sizeof path, "%s[%llu]", name, (unsigned long long)i);
		visit(s, path, &c.type, c.tag, c.address + i * c.width, steps);
	}
	s->containers--;
	return true;
}

/* What a reference stands for has the reference's name. */
static void visit_referred(struct search *s, const char *name, Dwarf_Die *type, uint64_t address, int steps)
{
	Dwarf_Die target;
	int tag = lbx_type_of(type, &target);

	if (lbx_type_is_pointer(tag) && tag != DW_TAG_pointer_type)
		return; /* there is none to a reference */
	if (lbx_type_is_struct(tag))
		emit(s, name, address); /* it may be a tensor */
	if (address)
		visit(s, name, &target, tag, address, steps);
}

/* An object in memory. `steps`: how much further structs and pointers are followed. */
static void visit(struct search *s, const char *name, Dwarf_Die *type, int tag, uint64_t address, int steps)
{
	uint64_t value;

	if (s->stopped)
		return;
	if (lbx_type_is_pointer(tag)) {
		if (!lbx_target_try_read(s->scope.target, address, &value, sizeof value))
			return;
		if (tag != DW_TAG_pointer_type)
			visit_referred(s, name, type, value, steps);
		else
			visit_pointer(s, name, type, value, steps > 0 ? steps - 1 : 0);
	} else if (tag == DW_TAG_array_type && steps >= 0) {
		visit_array(s, name, type, address, steps - 1);
	} else if (lbx_type_is_struct(tag) && lbx_container_record(s->scope.target, type, address, &value)) {
		emit(s, name, value);
	} else if (lbx_type_is_struct(tag) && steps > 0) {
		if (!visit_container(s, name, type, address, steps))
			visit_members(s, name, ".", type, address, steps - 1);
	}
}

static void visit_variable(struct search *s, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	struct lbx_location place;
	const char *name = dwarf_diename(die);
	int tag = lbx_type_of(die, &type);

	s->is_argument = dwarf_tag(die) == DW_TAG_formal_parameter;
	/* g++ has a variable for each that a lambda captures, too */
	if (!name || !tag || strcmp(name, "__closure") == 0 || !dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
	    !lbx_locate(&s->scope, &attribute, &place))
		return;
	if (place.in_memory)
		visit(s, name, &type, tag, place.value, STEPS);
	else if (tag == DW_TAG_pointer_type)
		visit_pointer(s, name, &type, place.value, STEPS - 1);
	else if (lbx_type_is_pointer(tag))
		visit_referred(s, name, &type, place.value, STEPS);
}

static void visit_scope(struct search *s, Dwarf_Die *scope)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			visit_variable(s, &child);
	} while (s->dies++ < MAX_DIES && !s->stopped && dwarf_siblingof(&child, &child) == 0);
}

bool lbx_variables(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_frame *frame,
		   lbx_pointer_fn *fn, void *context)
{
	struct search s = { .scope = { .target = target, .frame = frame }, .fn = fn, .context = context };
	struct lbx_functions f;

	if (!lbx_functions_at(lbx_lines_dwfl(lines), lbx_frame_code(frame), &f))
		return true;
	s.scope.bias = f.bias;
	s.scope.pc = f.pc;
	s.scope.function = f.at[f.n_inlined] < 0 ? NULL : &f.scopes[f.at[f.n_inlined]];
	int depth = frame->depth < f.n_inlined ? frame->depth : f.n_inlined;
	for (int i = depth ? f.at[depth - 1] + 1 : 0; i < f.n_scopes && !s.stopped; i++) {
		if (dwarf_tag(&f.scopes[i]) == DW_TAG_compile_unit)
			break;
		visit_scope(&s, &f.scopes[i]);
		if (i == f.at[depth])
			break;
	}
	lbx_functions_release(&f);
	return lb_ok();
}
