/* An expression is read once, from left to right; each step leads from one object to the next. Nothing of
 * the program is called, and what it has in memory is read only where the expression goes: so an
 * expression takes as many reads as it has steps. */
#include "target/expression.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "target/containers.h"
#include "target/inlined.h"
#include "target/location.h"
#include "target/type.h"

enum { NAME = 256, MAX_DEPTH = 64, MAX_DIMENSIONS = 16, MAX_DIES = 4 << 20, MAX_BASES = 16 };
enum { ADDRESS = DW_TAG_unspecified_type }; /* as the tag of what `&` gives: nothing more is done with it */

struct object {
	Dwarf_Die type;   /* without typedefs */
	int tag;
	int dimension;    /* of an array: how many indices it has had */
	bool in_memory;
	uint64_t value;   /* or the address */
};

struct reader {
	const struct lbx_variables_of *variables;
	const char *text;
	int depth, dies;
	bool has_variable;
};

static bool read_object(struct reader *r, struct object *ret);

static void skip(struct reader *r)
{
	while (isspace((unsigned char)*r->text))
		r->text++;
}

static bool take(struct reader *r, const char *what)
{
	size_t n = strlen(what);

	skip(r);
	if (strncmp(r->text, what, n) != 0)
		return false;
	r->text += n;
	return true;
}

static bool take_name(struct reader *r, char ret[NAME])
{
	size_t n = 0;

	skip(r);
	if (!isalpha((unsigned char)*r->text) && *r->text != '_')
		return false;
	while (isalnum((unsigned char)r->text[n]) || r->text[n] == '_')
		if (++n == NAME)
			return false;
	memcpy(ret, r->text, n);
	ret[n] = '\0';
	r->text += n;
	return true;
}

/* The number in it, of at most 8 bytes. */
static bool number_of(struct reader *r, const struct object *o, uint64_t *ret)
{
	Dwarf_Die type = o->type;
	Dwarf_Word size = 8;
	uint64_t bits = o->value;

	if (!o->in_memory)
		return o->tag == ADDRESS ? (*ret = bits, true) : lbx_type_extend(&type, o->tag, bits, ret);
	if (!lbx_type_is_pointer(o->tag) && dwarf_aggregate_size(&type, &size) != 0)
		return false;
	bits = 0;
	return size <= sizeof bits && lbx_target_try_read(r->variables->target, o->value, &bits, size) &&
	       lbx_type_extend(&type, o->tag, bits, ret);
}

/* What a reference stands for. */
static bool settle(struct reader *r, struct object *o)
{
	Dwarf_Die type;

	if (o->tag != DW_TAG_reference_type && o->tag != DW_TAG_rvalue_reference_type)
		return o->tag != 0;
	if (!number_of(r, o, &o->value))
		return false;
	o->tag = lbx_type_of(&o->type, &type);
	o->type = type;
	o->in_memory = true;
	return o->tag != 0;
}

enum found { NOT_THERE, HERE, HIDDEN };

static enum found find_member(struct reader *r, Dwarf_Die *type, const char *name, uint64_t address, int depth,
			      struct object *ret);

/* An object's own member, or a part of it whose members are looked at as if they were its own. */
static enum found look_at(struct reader *r, Dwarf_Die *member, bool is_part, const char *name, uint64_t address,
			  int depth, struct object *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset = 0;

	if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_bit_size) ||
	    (dwarf_attr(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &offset) != 0))
		return is_part ? NOT_THERE : HIDDEN;
	struct object o = { .in_memory = true, .value = address + offset };
	o.tag = lbx_type_of(member, &o.type);
	if (is_part)
		return lbx_type_is_struct(o.tag) ? find_member(r, &o.type, name, o.value, depth + 1, ret) : NOT_THERE;
	*ret = o;
	return HERE;
}

/* First come the object's own members, then its base classes. */
static bool is_next(Dwarf_Die *member, bool bases, const char *name)
{
	int tag = dwarf_tag(member);
	const char *own = dwarf_diename(member);

	if (bases)
		return tag == DW_TAG_inheritance;
	if (!own)
		return tag == DW_TAG_member;
	return (tag == DW_TAG_member || tag == DW_TAG_variable) && strcmp(own, name) == 0;
}

/* Also in anonymous members and base classes; a member hides those of the same name in base classes. */
static enum found find_member(struct reader *r, Dwarf_Die *type, const char *name, uint64_t address, int depth,
			      struct object *ret)
{
	enum found found = NOT_THERE;
	Dwarf_Die member;

	for (int bases = 0; bases < 2 && found == NOT_THERE && depth < MAX_BASES; bases++) {
		if (dwarf_child(type, &member) != 0)
			return NOT_THERE;
		do {
			if (is_next(&member, bases, name))
				found =
				    look_at(r, &member, bases || !dwarf_diename(&member), name, address, depth, ret);
		} while (found == NOT_THERE && r->dies++ < MAX_DIES && dwarf_siblingof(&member, &member) == 0);
	}
	return found;
}

static bool take_member(struct reader *r, struct object *o)
{
	char name[NAME];
	Dwarf_Die type = o->type;

	return lbx_type_is_struct(o->tag) && o->in_memory && take_name(r, name) &&
	       find_member(r, &type, name, o->value, 0, o) == HERE && settle(r, o);
}

/* How many elements each axis of an array has; 0 where that is not told. */
static int dimensions(Dwarf_Die *array, uint64_t ret[MAX_DIMENSIONS])
{
	Dwarf_Attribute attribute;
	Dwarf_Die child;
	int n = 0;

	if (dwarf_child(array, &child) != 0)
		return 0;
	do {
		Dwarf_Word count = 0;
		if (dwarf_tag(&child) != DW_TAG_subrange_type || n == MAX_DIMENSIONS)
			continue;
		if (dwarf_attr(&child, DW_AT_count, &attribute))
			dwarf_formudata(&attribute, &count);
		else if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) && dwarf_formudata(&attribute, &count) == 0)
			count++;
		ret[n++] = count;
	} while (dwarf_siblingof(&child, &child) == 0);
	return n;
}

static bool index_array(struct reader *r, struct object *o, uint64_t index)
{
	uint64_t sizes[MAX_DIMENSIONS], step;
	Dwarf_Die element;
	Dwarf_Word width = 8;
	int n = dimensions(&o->type, sizes), tag = lbx_type_of(&o->type, &element);

	if (o->dimension >= n || tag == 0 || !o->in_memory ||
	    (!lbx_type_is_pointer(tag) && dwarf_aggregate_size(&element, &width) != 0))
		return false;
	if (sizes[o->dimension] && index >= sizes[o->dimension])
		return false;
	step = width;
	/* where a row's width is not told, neither is where the next one begins */
	for (int i = o->dimension + 1; i < n; i++)
		if ((index && sizes[i] == 0) || __builtin_mul_overflow(step, sizes[i], &step))
			return false;
	if (__builtin_mul_overflow(step, index, &step))
		return false;
	o->value += step;
	if (++o->dimension == n) {
		o->type = element;
		o->tag = tag;
		o->dimension = 0;
	}
	return settle(r, o);
}

/* What a container holds at an index, or a smart pointer leads to. */
static bool enter(struct reader *r, struct object *o, bool is_pointer, uint64_t index)
{
	struct lbx_container c;

	if (!lbx_type_is_struct(o->tag) || !o->in_memory ||
	    !lbx_container_find(r->variables->target, &o->type, o->value, &c) || c.is_pointer != is_pointer)
		return false;
	if (is_pointer) {
		*o = (struct object){ .type = c.type, .tag = c.tag, .value = c.address };
		return true;
	}
	if (index >= c.n)
		return false;
	*o = (struct object){ .type = c.type, .tag = c.tag, .in_memory = true, .value = c.address + index * c.width };
	return settle(r, o);
}

static bool dereference(struct reader *r, struct object *o)
{
	Dwarf_Die type;
	uint64_t address;

	if (o->tag == DW_TAG_array_type)
		return index_array(r, o, 0);
	if (lbx_type_is_struct(o->tag) && !enter(r, o, true, 0))
		return false;
	if (o->tag != DW_TAG_pointer_type || !number_of(r, o, &address) || address == 0)
		return false;
	int tag = lbx_type_of(&o->type, &type);
	*o = (struct object){ .type = type, .tag = tag, .in_memory = true, .value = address };
	return settle(r, o);
}

static bool take_index(struct reader *r, struct object *o)
{
	Dwarf_Word width = 8;
	char *end;

	skip(r);
	if (!isdigit((unsigned char)*r->text))
		return false;
	uint64_t index = strtoull(r->text, &end, 0);
	r->text = end;
	if (!take(r, "]"))
		return false;
	if (o->tag == DW_TAG_array_type)
		return index_array(r, o, index);
	if (lbx_type_is_struct(o->tag) && enter(r, o, false, index))
		return true;
	if (!dereference(r, o) || (!lbx_type_is_pointer(o->tag) && dwarf_aggregate_size(&o->type, &width) != 0) ||
	    __builtin_mul_overflow(index, width, &index))
		return false;
	o->value += index;
	return true;
}

static bool has_name(Dwarf_Die *die, const char *name, size_t n)
{
	const char *own = dwarf_diename(die);
	return own && strlen(own) == n && memcmp(own, name, n) == 0;
}

static bool is_variable(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool is_space(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_namespace || lbx_type_is_struct(tag);
}

/* The variable of a qualified name below a unit or a namespace. One without a name of its own is entered
 * as if it were not there. */
static bool find_die(struct reader *r, Dwarf_Die *parent, const char *name, int depth, Dwarf_Die *ret)
{
	size_t n = strcspn(name, ":");
	Dwarf_Die child;

	if (depth == MAX_BASES || dwarf_child(parent, &child) != 0)
		return false;
	do {
		bool same = has_name(&child, name, n);
		if (!name[n] && same && is_variable(&child)) {
			*ret = child;
			return true;
		}
		bool enters = name[n] && same && is_space(&child);
		bool passes = dwarf_tag(&child) == DW_TAG_namespace && !dwarf_diename(&child);
		if ((enters && find_die(r, &child, name + n + 2, depth + 1, ret)) ||
		    (passes && find_die(r, &child, name, depth + 1, ret)))
			return true;
	} while (r->dies++ < MAX_DIES && dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Where a variable that was only declared there is defined. */
static void find_definition(struct reader *r, Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Off declared = dwarf_dieoffset(die);
	Dwarf_Attribute attribute;
	Dwarf_Die child, origin;

	if (dwarf_hasattr(die, DW_AT_location) || dwarf_child(unit, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_variable && dwarf_attr(&child, DW_AT_specification, &attribute) &&
		    dwarf_formref_die(&attribute, &origin) && dwarf_dieoffset(&origin) == declared) {
			*die = child;
			return;
		}
	} while (r->dies++ < MAX_DIES && dwarf_siblingof(&child, &child) == 0);
}

static bool place(struct reader *r, Dwarf_Die *die, struct lbx_scope *scope, struct object *ret)
{
	Dwarf_Attribute attribute;
	struct lbx_location at;

	r->has_variable = true;
	*ret = (struct object){ 0 };
	ret->tag = lbx_type_of(die, &ret->type);
	if (!ret->tag || !dwarf_attr_integrate(die, DW_AT_location, &attribute) || !lbx_locate(scope, &attribute, &at))
		return false;
	ret->in_memory = at.in_memory;
	ret->value = at.value;
	return settle(r, ret);
}

static bool find_in_scope(Dwarf_Die *scope, const char *name, Dwarf_Die *ret)
{
	if (dwarf_child(scope, ret) != 0)
		return false;
	do {
		if (is_variable(ret) && has_name(ret, name, strlen(name)))
			return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

static bool find_local(struct reader *r, const char *name, struct object *ret)
{
	const struct lbx_frame *frame = r->variables->frame;
	struct lbx_scope scope = { .target = r->variables->target, .frame = frame };
	struct lbx_functions f;
	Dwarf_Die die;
	bool done = false;

	if (!lbx_functions_at(lbx_lines_dwfl(r->variables->lines), lbx_frame_code(frame), &f))
		return false;
	scope.bias = f.bias;
	scope.pc = f.pc;
	scope.function = f.at[f.n_inlined] < 0 ? NULL : &f.scopes[f.at[f.n_inlined]];
	int depth = frame->depth < f.n_inlined ? frame->depth : f.n_inlined;
	for (int i = depth ? f.at[depth - 1] + 1 : 0; i < f.n_scopes && !r->has_variable; i++) {
		if (dwarf_tag(&f.scopes[i]) == DW_TAG_compile_unit)
			break;
		if (find_in_scope(&f.scopes[i], name, &die))
			done = place(r, &die, &scope, ret);
		if (i == f.at[depth])
			break;
	}
	lbx_functions_release(&f);
	return done;
}

/* Of several of one name: that of the unit that is near, then the one that others see, then the only
 * one. */
struct candidates {
	struct reader *reader;
	const char *name;
	bool is_sure;
	int n;
	Dwarf_Die die;
	uint64_t bias;
};

static bool search_unit(struct candidates *c, Dwarf_Die *unit, uint64_t bias)
{
	Dwarf_Die die;

	if (!find_die(c->reader, unit, c->name, 0, &die))
		return false;
	c->is_sure = dwarf_hasattr_integrate(&die, DW_AT_external);
	find_definition(c->reader, unit, &die);
	if (!dwarf_hasattr(&die, DW_AT_location)) {
		c->is_sure = false;
		return false;
	}
	c->n++;
	c->die = die;
	c->bias = bias;
	return true;
}

static int search_module(Dwfl_Module *module, void **data, const char *path, Dwarf_Addr base, void *context)
{
	struct candidates *c = context;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	(void)data, (void)path, (void)base;
	while (!c->is_sure && c->reader->dies < MAX_DIES && (unit = dwfl_module_nextcu(module, unit, &bias)))
		search_unit(c, unit, bias);
	return c->is_sure || c->reader->dies >= MAX_DIES ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static bool find_global(struct reader *r, const char *name, struct object *ret)
{
	Dwfl *dwfl = lbx_lines_dwfl(r->variables->lines);
	struct candidates c = { .reader = r, .name = name };
	struct lbx_frame nowhere = { .pc = 0 };
	Dwarf_Addr bias;

	if (!dwfl)
		return false;
	Dwfl_Module *module = dwfl_addrmodule(dwfl, r->variables->near);
	Dwarf_Die *near = module ? lbx_unit_at(module, r->variables->near, &bias) : NULL;
	if (!near || !search_unit(&c, near, bias))
		dwfl_getmodules(dwfl, search_module, &c, 0);
	struct lbx_scope scope = { .target = r->variables->target, .frame = &nowhere, .bias = c.bias };
	return c.n == 1 || c.is_sure ? place(r, &c.die, &scope, ret) : false;
}

/* A name, perhaps a qualified one. */
static bool read_variable(struct reader *r, struct object *ret)
{
	char name[2 * NAME] = "", part[NAME];

	take(r, "::");
	do {
		if (!take_name(r, part) || strlen(name) + strlen(part) + 3 > sizeof name)
			return false;
		strcat(strcat(name, *name ? "::" : ""), part);
	} while (take(r, "::"));
	return r->variables->frame ? find_local(r, name, ret) : find_global(r, name, ret);
}

static bool read_postfix(struct reader *r, struct object *ret)
{
	if (take(r, "(")) {
		if (!read_object(r, ret) || !take(r, ")"))
			return false;
	} else if (!read_variable(r, ret)) {
		return false;
	}
	for (;;) {
		if (take(r, "->")) {
			if (!dereference(r, ret) || !take_member(r, ret))
				return false;
		} else if (take(r, ".")) {
			if (!take_member(r, ret))
				return false;
		} else if (take(r, "[")) {
			if (!take_index(r, ret))
				return false;
		} else {
			return true;
		}
	}
}

static bool read_object(struct reader *r, struct object *ret)
{
	bool done;

	if (r->depth++ == MAX_DEPTH)
		return false;
	if (take(r, "*")) {
		done = read_object(r, ret) && dereference(r, ret);
	} else if (take(r, "&")) {
		done = read_object(r, ret) && ret->in_memory;
		ret->in_memory = false;
		ret->tag = ADDRESS;
	} else {
		done = read_postfix(r, ret);
	}
	r->depth--;
	return done;
}

enum lbx_found lbx_expression_value(const struct lbx_variables_of *variables, const char *expression, uint64_t *ret)
{
	struct reader r = { .variables = variables, .text = expression };
	struct object o;
	bool done = read_object(&r, &o);

	skip(&r);
	if (!r.has_variable)
		return LBX_NO_VARIABLE;
	if (!done || *r.text)
		return LBX_NO_VALUE;
	if (o.in_memory && lbx_type_is_struct(o.tag) && lbx_container_record(variables->target, &o.type, o.value, ret))
		return LBX_FOUND;
	if (o.in_memory && (lbx_type_is_struct(o.tag) || o.tag == DW_TAG_array_type)) {
		*ret = o.value;
		return LBX_FOUND;
	}
	return number_of(&r, &o, ret) ? LBX_FOUND : LBX_NO_VALUE;
}
