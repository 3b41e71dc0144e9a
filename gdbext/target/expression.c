/* An expression is read once, from left to right; each step leads from one object to the next. Nothing of
 * the program is called, and what it has in memory is read only where the expression goes: so an
 * expression takes as many reads as it has steps. */
#include "target/expression.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/containers.h"
#include "target/dynamic.h"
#include "target/inlined.h"
#include "target/location.h"
#include "target/type.h"
#include "target/variables.h"

enum { NAME = 256, MAX_DEPTH = 64, MAX_DIES = 4 << 20, MAX_BASES = 16, MAX_ELEMENTS = 1 << 16 };
enum { KEYS_TOLD = 112 };
enum { ADDRESS = DW_TAG_unspecified_type }; /* as the tag of what `&` gives: nothing more is done with it */

/* What stands between brackets. */
struct key {
	char text[LBX_KEY_MAX]; /* as lbx_container_next() writes it */
	char code[8];           /* likewise, of 'a', which is also the number of a character; or "" */
	uint64_t number;
	bool is_text;
};

struct object {
	Dwarf_Die type;   /* without typedefs */
	int tag;
	int dimension;    /* of an array: how many indices it has had */
	bool in_memory;
	uint64_t value;   /* or the address */
};

struct reader {
	const struct lbx_variables_of *variables; /* NULL: the text is only read, and objects mean nothing */
	const char *text;
	int depth, dies;
	bool has_variable;
	const char *begin, *end; /* what has been read of the object that the next step is taken from */
	char *why;               /* LBX_NOTHING_MAX bytes: why there is no value, or "" */
	bool lacks_member;       /* that is why */
	bool is_way;             /* there was something that no name and no slice of a tensor has */
	bool enumerators, anywhere; /* what find_die() looks for, and whether in namespaces that are not named */
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
	if (!isalpha((unsigned char)*r->text) && *r->text != '_' && *r->text != '$')
		return false;
	while (isalnum((unsigned char)r->text[n]) || r->text[n] == '_' || r->text[n] == '$')
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

static bool index_array(struct reader *r, struct object *o, uint64_t index)
{
	uint64_t sizes[LBX_TYPE_AXES], step;
	Dwarf_Die element;
	Dwarf_Word width = 8;
	int n = lbx_type_axes(&o->type, sizes), tag = lbx_type_of(&o->type, &element);

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

/* Fails: what was read so far "is empty", "has no element 7". */
static bool __attribute__((format(printf, 2, 3))) no_step(struct reader *r, const char *format, ...)
{
	size_t n = (size_t)(r->end - r->begin);
	va_list args;

	if (!r->why || *r->why || n >= LBX_NOTHING_MAX / 2)
		return false;
	while (n && isspace((unsigned char)r->begin[n - 1]))
		n--;
	snprintf(r->why, LBX_NOTHING_MAX, "%.*s ", (int)n, r->begin);
	n = strlen(r->why);
	va_start(args, format);
	vsnprintf(r->why + n, LBX_NOTHING_MAX - n, format, args);
	va_end(args);
	return false;
}

static bool find_container(struct reader *r, const struct object *o, struct lbx_container *ret)
{
	struct lbx_object in = { .type = o->type, .tag = o->tag, .address = o->value };

	return o->in_memory && lbx_container_find(r->variables->target, &in, ret);
}

static bool take_object(struct reader *r, const struct lbx_object *from, struct object *o)
{
	*o = (struct object){ .type = from->type, .tag = from->tag, .in_memory = true, .value = from->address };
	return settle(r, o);
}

static bool has_numbers(const struct lbx_container *c)
{
	return c->kind == LBX_SEQUENCE || c->kind == LBX_LIST;
}

static bool take_element(struct reader *r, const struct lbx_container *c, uint64_t i, struct object *o)
{
	struct lbx_object element;

	if (has_numbers(c) && i >= c->n)
		return no_step(r, "has no element %" PRId64 ": there are %" PRIu64, (int64_t)i, c->n);
	if (!lbx_container_at(r->variables->target, c, i, &element))
		return no_step(r, "has no element %" PRId64 " that can be read", (int64_t)i);
	return take_object(r, &element, o);
}

/* One more of those that a map has, as long as there is room. */
static void tell_key(char ret[KEYS_TOLD], const char *key)
{
	static const char more[] = ", …";
	size_t n = strlen(ret);

	if (n + strlen(key) + 2 * sizeof more < KEYS_TOLD)
		snprintf(ret + n, KEYS_TOLD - n, "%s%s", n ? ", " : ": it has ", key);
	else if (n < sizeof more || strcmp(ret + n + 1 - sizeof more, more) != 0)
		strcpy(ret + n, more);
}

static bool take_key(struct reader *r, struct lbx_container *c, const struct key *key, struct object *o)
{
	struct lbx_object value;
	char own[LBX_KEY_MAX], there[KEYS_TOLD] = "";
	uint64_t unknown = 0; /* keys that are too long, or of another kind */

	while (c->passed < MAX_ELEMENTS && lbx_container_next(r->variables->target, c, &value, own)) {
		if (*own && (strcmp(own, key->text) == 0 || strcmp(own, key->code) == 0))
			return take_object(r, &value, o);
		unknown += !*own;
		if (*own)
			tell_key(there, own);
	}
	if (c->passed - unknown < c->n)
		return no_step(r, "has nothing under %s, of the %" PRIu64 " that can be read", key->text,
			       c->passed - unknown);
	return no_step(r, "has nothing under %s%s", key->text, c->n ? there : ": it is empty");
}

/* What a pointer, a smart pointer or a std::optional leads to. */
static bool dereference(struct reader *r, struct object *o)
{
	struct lbx_container c;
	Dwarf_Die type;
	uint64_t address;

	if (o->tag == DW_TAG_array_type)
		return index_array(r, o, 0);
	if (lbx_type_is_struct(o->tag)) {
		if (!find_container(r, o, &c))
			return false;
		if (c.nothing)
			return no_step(r, "%s", c.nothing);
		if (c.kind != LBX_LEADS && c.kind != LBX_HOLDS)
			return false;
		if (c.kind == LBX_HOLDS)
			return take_object(r, &c.object, o);
		*o = (struct object){ .type = c.object.type, .tag = c.object.tag, .value = c.object.address };
	}
	if (o->tag != DW_TAG_pointer_type || !number_of(r, o, &address))
		return false;
	if (address == 0)
		return no_step(r, "is null");
	int tag = lbx_type_of(&o->type, &type);
	*o = (struct object){ .type = type, .tag = tag, .in_memory = true, .value = address };
	return settle(r, o);
}

/* What stands in quotes, as it is within double ones. False: no key of lbx_container_next() is as long. */
static bool quote(const char *text, const char *end, char ret[LBX_KEY_MAX])
{
	size_t n = 0;

	ret[n++] = '"';
	for (; text < end && n + 4 < LBX_KEY_MAX; text++) {
		bool is_escape = *text == '\\' && text + 1 < end;
		if (is_escape && text[1] == '\'')
			continue;
		if (is_escape || *text == '"')
			ret[n++] = '\\';
		text += is_escape;
		ret[n++] = *text;
	}
	strcpy(ret + n, "\"");
	return text == end;
}

/* Python's users write 'fc1'; in C 'a' is a number. */
static bool read_text_key(struct reader *r, struct key *ret)
{
	const char *begin = r->text + 1, *end = begin;
	char mark = *r->text;

	while (*end && *end != mark)
		end += *end == '\\' && end[1] ? 2 : 1;
	if (!*end)
		return false;
	r->is_way = true;
	r->text = end + 1;
	if (!r->variables)
		return true;
	if (mark == '\'' && end - begin == 1) {
		ret->number = (uint64_t)(int64_t)(signed char)*begin;
		snprintf(ret->code, sizeof ret->code, "%d", (signed char)*begin);
	}
	ret->is_text = true;
	return quote(begin, end, ret->text);
}

static bool read_enumerator(struct reader *r, uint64_t *ret);

/* A number, or a variable that has one; in ret_text the string that it has, or "". */
static bool read_term(struct reader *r, uint64_t *ret, char ret_text[LBX_KEY_MAX])
{
	const char *begin = r->begin, *end = r->end, *text;
	bool had_variable = r->has_variable;
	struct object o = { .tag = 0 };
	char *behind;

	ret_text[0] = '\0';
	skip(r);
	if (isdigit((unsigned char)r->text[*r->text == '-'])) {
		*ret = strtoull(r->text, &behind, *r->text == '0' || !r->variables ? 0 : r->variables->radix);
		r->text = behind;
		return true;
	}
	text = r->text;
	r->has_variable = false;
	bool done = read_object(r, &o);
	if (done && r->variables && !number_of(r, &o, ret)) {
		struct lbx_object key = { .type = o.type, .tag = o.tag, .address = o.value };
		if (o.in_memory)
			lbx_container_key(r->variables->target, &key, ret_text);
		done = ret_text[0];
	}
	if (!done && r->variables && !r->has_variable) {
		r->text = text;
		done = read_enumerator(r, ret);
	}
	r->has_variable = had_variable;
	r->begin = begin;
	r->end = end;
	return done;
}

/* A text, or a sum of numbers. */
static bool read_key(struct reader *r, struct key *ret)
{
	uint64_t term = 0;
	char text[LBX_KEY_MAX];

	*ret = (struct key){ .number = 0 };
	skip(r);
	if (*r->text == '"' || *r->text == '\'')
		return read_text_key(r, ret);
	if (!read_term(r, &ret->number, ret->text))
		return false;
	ret->is_text = *ret->text;
	if (ret->is_text)
		return true;
	for (bool plus; (plus = take(r, "+")) || take(r, "-");) {
		r->is_way = true;
		if (!read_term(r, &term, text) || *text)
			return false;
		ret->number += plus ? term : -term;
	}
	snprintf(ret->text, sizeof ret->text, "%" PRId64, (int64_t)ret->number);
	return true;
}

static bool no_text(struct reader *r, const char *key)
{
	return no_step(r, "has nothing under %s: its elements have numbers", key);
}

/* What has the index; `closing` stands behind it. */
static bool take_index(struct reader *r, const char *closing, struct object *o)
{
	struct lbx_container c;
	Dwarf_Word width = 8;
	uint64_t bytes;
	struct key key;

	if (!read_key(r, &key) || !take(r, closing))
		return false;
	if (!r->variables)
		return true;
	bool is_text = key.is_text && !*key.code;
	if (o->tag == DW_TAG_array_type)
		return is_text ? no_text(r, key.text) : index_array(r, o, key.number);
	if (lbx_type_is_struct(o->tag) && find_container(r, o, &c)) {
		if (c.kind == LBX_UNREAD)
			return no_step(r, "%s", c.nothing);
		if (c.kind == LBX_MAP)
			return take_key(r, &c, &key, o);
		if (has_numbers(&c))
			return is_text ? no_text(r, key.text) : take_element(r, &c, key.number, o);
		if (c.kind == LBX_TUPLE)
			return no_step(r, "has parts, not elements: std::get<0>(…) is the first");
		if (!c.is_of_array)
			return no_step(r, "%s",
				       c.nothing ? c.nothing : "has no elements: `*` and `->` lead to what it holds");
	}
	if (is_text || !dereference(r, o) || o->tag == 0 ||
	    (!lbx_type_is_pointer(o->tag) && dwarf_aggregate_size(&o->type, &width) != 0) ||
	    __builtin_mul_overflow(key.number, width, &bytes))
		return false;
	o->value += bytes;
	return true;
}

/* What containers have of functions, but for `at`, which has an index. Others would be called for what they give. */
static bool is_function(const char *name)
{
	static const char *const functions[] = { "get", "lock", "value", "front", "back" };

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(name, functions[i]) == 0)
			return true;
	return false;
}

static bool take_result(struct reader *r, const struct lbx_container *c, const char *name, struct object *o)
{
	if (has_numbers(c) && (strcmp(name, "front") == 0 || strcmp(name, "back") == 0))
		return c->n ? take_element(r, c, *name == 'f' ? 0 : c->n - 1, o) : no_step(r, "is empty");
	if (c->kind == LBX_HOLDS && strcmp(name, "value") == 0)
		return dereference(r, o);
	if (c->kind != LBX_LEADS || (strcmp(name, "get") != 0 && strcmp(name, "lock") != 0))
		return false;
	const char *class = dwarf_diename(&o->type);
	bool is_reference = class && strncmp(class, "reference_wrapper<", 18) == 0;
	*o = (struct object){ .type = c->object.type, .tag = c->object.tag, .value = c->object.address };
	return !is_reference || dereference(r, o);
}

/* What the object's class does not have, the class may have that the object really is of. */
static bool member_of(struct reader *r, const char *name, struct object *o)
{
	struct lbx_object in = { .type = o->type, .tag = o->tag, .address = o->value }, whole;
	enum found found = find_member(r, &in.type, name, in.address, 0, o);

	if (found == NOT_THERE && lbx_dynamic_object(r->variables->target, r->variables->lines, &in, &whole))
		found = find_member(r, &whole.type, name, whole.address, 0, o);
	if (found == NOT_THERE) {
		no_step(r, "has no member %s", name);
		r->lacks_member = true;
	}
	return found == HERE;
}

/* A member, or what one of a container's functions gives. */
static bool take_member(struct reader *r, struct object *o)
{
	struct lbx_container c;
	char name[NAME];

	if (!take_name(r, name))
		return false;
	if (!take(r, "("))
		return !r->variables ||
		       (lbx_type_is_struct(o->tag) && o->in_memory && member_of(r, name, o) && settle(r, o));
	r->is_way = true;
	if (strcmp(name, "at") == 0) {
		bool has = !r->variables || (find_container(r, o, &c) && (c.kind == LBX_SEQUENCE || c.kind == LBX_MAP));
		return has && take_index(r, ")", o);
	}
	if (!is_function(name) || !take(r, ")"))
		return false;
	return !r->variables || (find_container(r, o, &c) && take_result(r, &c, name, o));
}

/* Of a variant only what it holds. */
static bool take_alternative(struct reader *r, const struct lbx_container *c, int i, const char *what, struct object *o)
{
	struct lbx_object whole = { .type = o->type, .tag = o->tag, .address = o->value };

	if (c->nothing)
		return no_step(r, "%s", c->nothing);
	if (c->alternative < 0)
		return false;
	const char *name = lbx_container_part_name(r->variables->target, &whole, c->alternative);
	if (i == c->alternative)
		return dereference(r, o);
	return no_step(r, "holds %s (%d), not %s", name ? name : "another", c->alternative, what);
}

/* Part i of a tuple, a pair, an array or a variant. */
static bool take_part(struct reader *r, int i, const char *what, struct object *o)
{
	struct lbx_container c;
	Dwarf_Die type = o->type;

	if (i < 0)
		return no_step(r, "has nothing of a type %s", what);
	if (find_container(r, o, &c))
		return c.kind == LBX_HOLDS ? take_alternative(r, &c, i, what, o) : take_element(r, &c, (uint64_t)i, o);
	return i < 2 && lbx_type_is_struct(o->tag) && o->in_memory &&
	       find_member(r, &type, i ? "second" : "first", o->value, 0, o) == HERE && settle(r, o);
}

/* Up to the `>` that belongs to a `<`. */
static bool read_part(struct reader *r, char ret[NAME])
{
	size_t n = 0;
	int depth = 0;

	skip(r);
	for (; r->text[n] && (depth || r->text[n] != '>'); n++)
		depth += (r->text[n] == '<') - (r->text[n] == '>');
	if (!r->text[n] || n >= NAME)
		return false;
	memcpy(ret, r->text, n);
	r->text += n + 1;
	while (n && isspace((unsigned char)ret[n - 1]))
		n--;
	ret[n] = '\0';
	return n && (isalnum((unsigned char)*ret) || *ret == '_' || *ret == ':');
}

/* Behind `std::get<`: `1>(x)` or `Tensor>(x)`. */
static bool read_get(struct reader *r, struct object *ret)
{
	char what[NAME], *end;
	const char *begin;

	r->is_way = true;
	if (!read_part(r, what) || !take(r, "("))
		return false;
	long i = strtol(what, &end, 10);
	if (isdigit((unsigned char)*what) && (*end || i > INT32_MAX))
		return false;
	skip(r);
	begin = r->text;
	if (!read_object(r, ret))
		return false;
	r->begin = begin;
	r->end = r->text;
	if (!take(r, ")"))
		return false;
	if (!r->variables)
		return true;
	struct lbx_object whole = { .type = ret->type, .tag = ret->tag, .address = ret->value };
	if (!isdigit((unsigned char)*what))
		i = lbx_type_is_struct(ret->tag) ? lbx_container_part(r->variables->target, &whole, what) : -1;
	return take_part(r, (int)i, what, ret);
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

static bool is_sought(struct reader *r, Dwarf_Die *die)
{
	if (r->enumerators)
		return dwarf_tag(die) == DW_TAG_enumerator;
	/* clang calls a class's static a member */
	return is_variable(die) || (dwarf_tag(die) == DW_TAG_member && dwarf_hasattr(die, DW_AT_external));
}

static bool is_space(struct reader *r, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || lbx_type_is_struct(tag) ||
	       (r->enumerators && tag == DW_TAG_enumeration_type);
}

/* What has no name of its own is entered as if it were not there, as a block of a function, and so is an enum whose enumerators are known around it. */
static bool is_passed(struct reader *r, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	if (tag == DW_TAG_enumeration_type)
		return r->enumerators && !dwarf_hasattr(die, DW_AT_enum_class);
	return tag == DW_TAG_lexical_block || (tag == DW_TAG_namespace && (!dwarf_diename(die) || r->anywhere)) ||
	       (r->anywhere && lbx_type_is_struct(tag));
}

/* The variable, or the enumerator, of a qualified name below a unit or a namespace. */
static bool find_die(struct reader *r, Dwarf_Die *parent, const char *name, int depth, Dwarf_Die *ret)
{
	size_t n = strcspn(name, ":");
	Dwarf_Die child;

	if (depth == MAX_BASES || dwarf_child(parent, &child) != 0)
		return false;
	do {
		bool same = has_name(&child, name, n);
		if (!name[n] && same && is_sought(r, &child)) {
			*ret = child;
			return true;
		}
		bool enters = name[n] && same && is_space(r, &child);
		if ((enters && find_die(r, &child, name + n + 2, depth + 1, ret)) ||
		    (is_passed(r, &child) && find_die(r, &child, name, depth + 1, ret)))
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

/* What the compiler knew, the program need not keep. */
static bool take_constant(Dwarf_Die *die, struct object *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword value;

	if (!dwarf_attr_integrate(die, DW_AT_const_value, &attribute) || dwarf_formsdata(&attribute, &value) != 0)
		return false;
	ret->value = (uint64_t)value;
	return true;
}

static bool place(struct reader *r, Dwarf_Die *die, struct lbx_scope *scope, struct object *ret)
{
	Dwarf_Attribute attribute;
	struct lbx_location at;

	r->has_variable = true;
	*ret = (struct object){ 0 };
	ret->tag = lbx_type_of(die, &ret->type);
	if (ret->tag == DW_TAG_base_type && take_constant(die, ret))
		return true;
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
	struct lbx_scope scope = { .target = r->variables->target, .frame = frame, .lines = r->variables->lines };
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
	bool in_common; /* in libraries that programs of any kind have, or in all others */
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
	const char *file = strrchr(path, '/');
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	(void)data, (void)base;
	if (lbx_is_common_library(file ? file + 1 : path) != c->in_common)
		return DWARF_CB_OK;
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
	bool is_near = near && search_unit(&c, near, bias);
	/* the loader, too, has a `cache` */
	for (int common = 0; common < 2 && !is_near && c.n == 0; common++) {
		c.in_common = common;
		dwfl_getmodules(dwfl, search_module, &c, 0);
	}
	struct lbx_scope scope = { .target = r->variables->target, .frame = &nowhere, .bias = c.bias };
	return c.n == 1 || c.is_sure ? place(r, &c.die, &scope, ret) : false;
}

/* Perhaps a qualified one. */
static bool read_name(struct reader *r, char ret[2 * NAME])
{
	char part[NAME];

	*ret = '\0';
	take(r, "::");
	do {
		if (!take_name(r, part) || strlen(ret) + strlen(part) + 3 > 2 * NAME)
			return false;
		strcat(strcat(ret, *ret ? "::" : ""), part);
	} while (take(r, "::"));
	return true;
}

/* In the unit that is near; if need be, in namespaces that are not named, as C++ would find it from within them. */
static bool read_enumerator(struct reader *r, uint64_t *ret)
{
	const struct lbx_variables_of *variables = r->variables;
	uint64_t near = variables->frame ? lbx_frame_code(variables->frame) : variables->near;
	Dwfl *dwfl = lbx_lines_dwfl(variables->lines);
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, near) : NULL;
	Dwarf_Addr bias;
	Dwarf_Attribute attribute;
	Dwarf_Sword value;
	Dwarf_Die *unit = module ? lbx_unit_at(module, near, &bias) : NULL, die;
	char name[2 * NAME];
	bool found = false;

	if (!unit || !read_name(r, name))
		return false;
	r->enumerators = true;
	for (int anywhere = 0; anywhere < 2 && !found; anywhere++) {
		r->anywhere = anywhere;
		found = find_die(r, unit, name, 0, &die);
	}
	r->enumerators = r->anywhere = false;
	if (!found || !dwarf_attr(&die, DW_AT_const_value, &attribute) || dwarf_formsdata(&attribute, &value) != 0)
		return false;
	*ret = (uint64_t)value;
	return true;
}

static bool is_of_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14: return true;
	default: return false;
	}
}

static bool read_variable(struct reader *r, struct object *ret)
{
	char name[2 * NAME];

	if (!read_name(r, name))
		return false;
	if (!r->variables || *name == '$')
		return !r->variables; /* a debugger's own variable is none of the program's */
	if (!r->variables->frame)
		return find_global(r, name, ret);
	bool done = find_local(r, name, ret);
	if (r->has_variable)
		return done;
	/* in a function of a class: one of its members */
	struct object whole;
	Dwarf_Die type;
	if (!find_local(r, "this", &whole) || !dereference(r, &whole) || !lbx_type_is_struct(whole.tag) ||
	    !is_of_cxx(&whole.type)) {
		r->has_variable = false;
		return false;
	}
	type = whole.type;
	r->has_variable = find_member(r, &type, name, whole.value, 0, ret) == HERE;
	return r->has_variable && settle(r, ret);
}

static bool read_first(struct reader *r, struct object *ret)
{
	if (take(r, "("))
		return read_object(r, ret) && take(r, ")");
	return take(r, "std::get<") ? read_get(r, ret) : read_variable(r, ret);
}

/* `*` and `->` */
static bool lead_on(struct reader *r, struct object *o)
{
	r->is_way = true;
	return !r->variables || dereference(r, o);
}

static bool read_postfix(struct reader *r, struct object *ret)
{
	skip(r);
	const char *begin = r->text;

	if (!read_first(r, ret))
		return false;
	for (;;) {
		bool done;
		skip(r);
		r->begin = begin;
		r->end = r->text;
		if (take(r, "->"))
			done = lead_on(r, ret) && take_member(r, ret);
		else if (take(r, "."))
			done = take_member(r, ret);
		else if (take(r, "["))
			done = take_index(r, "]", ret);
		else
			return true;
		if (!done)
			return false;
	}
}

static bool read_object(struct reader *r, struct object *ret)
{
	bool done;

	if (r->depth++ == MAX_DEPTH)
		return false;
	if (take(r, "*")) {
		skip(r);
		const char *begin = r->text;
		done = read_object(r, ret);
		r->begin = begin;
		r->end = r->text;
		done = done && lead_on(r, ret);
	} else if (take(r, "&")) {
		r->is_way = true;
		done = read_object(r, ret) && (!r->variables || ret->in_memory);
		ret->in_memory = false;
		ret->tag = ADDRESS;
	} else {
		done = read_postfix(r, ret);
	}
	r->depth--;
	return done;
}

static enum lbx_found read_whole(struct reader *r, struct object *ret)
{
	bool done = read_object(r, ret);

	skip(r);
	if (!r->has_variable)
		return LBX_NO_VARIABLE;
	return done && !*r->text ? LBX_FOUND : LBX_NO_VALUE;
}

bool lbx_expression_read(const char *text, bool *ret_is_way)
{
	struct reader r = { .text = text };
	struct object unused = { .tag = 0 };
	bool is = read_object(&r, &unused);

	skip(&r);
	*ret_is_way = r.is_way;
	return is && !*r.text;
}

enum lbx_found lbx_expression_value(const struct lbx_variables_of *variables, const char *expression,
				    struct lbx_evaluated *ret)
{
	struct reader r = { .variables = variables, .text = expression, .why = ret->why };
	struct lbx_container c;
	struct object o;

	*ret = (struct lbx_evaluated){ 0 };
	enum lbx_found found = read_whole(&r, &o);
	ret->lacks_member = r.lacks_member;
	if (found != LBX_FOUND)
		return found;
	struct lbx_object in = { .type = o.type, .tag = o.tag, .address = o.value };
	bool is_object = o.in_memory && (lbx_type_is_struct(o.tag) || o.tag == DW_TAG_array_type);
	if (is_object && lbx_container_record(variables->target, &in, &ret->value))
		return LBX_FOUND;
	r.begin = expression;
	r.end = r.text;
	if (is_object && find_container(&r, &o, &c) && c.nothing)
		no_step(&r, "%s", c.nothing);
	if (is_object) {
		ret->value = o.value;
		ret->is_object = true;
		return LBX_FOUND;
	}
	if (!number_of(&r, &o, &ret->value))
		return LBX_NO_VALUE;
	ret->is_number = lbx_type_number(&o.type, o.tag, ret->value, &ret->number, &ret->is_whole);
	return LBX_FOUND;
}

/* As a debugger calls what a pointer leads to: by a typedef's name, or that of a class of C++. NULL: neither. */
static const char *name_behind(Dwarf_Die *pointer)
{
	Dwarf_Die type = *pointer;
	Dwarf_Attribute attribute;
	int tag;

	do {
		Dwarf_Die inner;
		if (!dwarf_attr_integrate(&type, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &inner))
			return NULL;
		type = inner;
		tag = dwarf_tag(&type);
	} while (tag == DW_TAG_const_type || tag == DW_TAG_volatile_type);
	return tag == DW_TAG_typedef || (lbx_type_is_struct(tag) && is_of_cxx(&type)) ? dwarf_diename(&type) : NULL;
}

bool lbx_expression_pointer(const struct lbx_variables_of *variables, const char *expression, const char **ret_struct,
			    uint64_t *ret)
{
	struct reader r = { .variables = variables, .text = expression };
	struct object o;
	Dwarf_Die type;

	if (read_whole(&r, &o) != LBX_FOUND || o.tag != DW_TAG_pointer_type ||
	    !lbx_type_is_struct(lbx_type_of(&o.type, &type)))
		return false;
	*ret_struct = name_behind(&o.type);
	return *ret_struct && number_of(&r, &o, ret);
}

bool lbx_expression_pointers(const struct lbx_variables_of *variables, const char *expression, lbx_pointer_fn *fn,
			     void *context, bool *ret_more)
{
	struct reader r = { .variables = variables, .text = expression };
	struct object o;

	if (read_whole(&r, &o) != LBX_FOUND || (!o.in_memory && o.tag != DW_TAG_pointer_type))
		return false;
	struct lbx_object in = { .type = o.type, .tag = o.tag, .address = o.value };
	*ret_more =
	    !lbx_object_pointers(variables->target, variables->lines, expression, &in, o.in_memory, fn, context);
	return true;
}
