/* A variable's type decides what of it is a pointer: the variable itself, the elements of an
 * array or a std::vector, the members of a struct and of its base classes; and one step behind it, what a pointer to a pointer or to a
 * struct leads to. Optimised-out variables, and memory that cannot be read, are passed over. */
#include "target/variables.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/number_map.h"
#include "lazybones.h"
#include "target/containers.h"
#include "target/dynamic.h"
#include "target/inlined.h"
#include "target/location.h"
#include "target/registers.h"
#include "target/statics.h"
#include "target/type.h"
#include "target/printable.h"

enum {
	MAX_POINTERS = 4096, /* of a frame */
	MAX_LOOKS = 1 << 17, /* at members and elements, of a frame */
	MAX_POINTERS_OF_ONE = 512, /* of its variables */
	MAX_LOOKS_OF_ONE = 1 << 14,
	MAX_POINTERS_WITHIN = 1 << 15, /* of an object that is asked for itself */
	MAX_LOOKS_WITHIN = 1 << 18,
	MAX_ELEMENTS = 256,
	MAX_POINTERS_OF_STATIC = 1 << 17,
	MAX_LOOKS_OF_STATIC = 1 << 18,
	MAX_LOOKS_OF_STATICS = 1 << 22, /* of all of them */
	MAX_ELEMENTS_OF_STATIC = 1 << 16,
	MAX_NAMELESS = 8,
	MAX_CONTAINERS = 8,
	MAX_LOOKED = 1 << 20,
	STEPS = 4,
	STEPS_FIRST = 2, /* what lies so near has its turn in front of all that lies deeper */
	NAME = LBX_VARIABLE_MAX
};

struct search {
	struct lbx_scope scope;
	struct lbx_lines *lines;
	lbx_pointer_fn *fn;
	void *context;
	bool is_argument, stopped;
	bool is_full; /* there may be no more pointers of the variable */
	Dwarf_Die *derived; /* the class whose base is visited; or NULL */
	const struct lbx_object *visited; /* the base of it that has been; or NULL */
	int steps; /* from each variable */
	uint64_t max_elements;
	int pointers_left, looks_left, nameless, containers;
	struct lbx_number_map *told; /* hashes of the pointers that have been; or NULL */
	bool is_cut; /* there is more than was looked at */
	struct lbx_variables_told *cuts; /* of which variables; or NULL */
	bool is_lost; /* a variable that may lead to a pointer is somewhere else than this reader finds, or nowhere */
	int looked; /* members, for namesakes */
};

static void visit(struct search *s, const char *name, Dwarf_Die *type, int tag, uint64_t address, int steps);

/* One expression may have two values: a reference's, and that of the pointer in what it refers to. */
static bool is_told(struct search *s, const struct lbx_pointer *pointer)
{
	uint64_t hash = lb_mix(lb_hash_text(pointer->expression) ^ pointer->value) | 1;
	bool is_new;

	return lbx_number_at(s->told, NULL, hash, &is_new) && !is_new;
}

static void emit(struct search *s, const char *name, uint64_t value)
{
	struct lbx_pointer pointer = { .is_argument = s->is_argument, .value = value };

	if (value == 0 || s->stopped || s->is_full)
		return;
	snprintf(pointer.expression, sizeof pointer.expression, "%s", name);
	lbx_make_printable(pointer.expression);
	if (s->told && is_told(s, &pointer))
		return;
	s->is_full = s->pointers_left == 0;
	s->is_cut |= s->is_full;
	if (s->is_full)
		return;
	s->pointers_left--;
	s->stopped = !s->fn(s->context, &pointer);
}

/* At one more. */
static bool may_look(struct search *s)
{
	s->is_cut |= s->looks_left <= 0;
	return !s->stopped && !s->is_full && s->looks_left-- > 0;
}

static bool has_more_elements(struct search *s, uint64_t i, uint64_t n)
{
	s->is_cut |= i >= s->max_elements && i < n;
	return i < n && i < s->max_elements && may_look(s);
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

static bool is_visited(const struct search *s, Dwarf_Die *type, uint64_t address)
{
	Dwarf_Die base;

	if (!s->visited || s->visited->address != address)
		return false;
	base = s->visited->type;
	return lbx_type_is_same(type, &base);
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
	if (is_base && tag && is_visited(s, &member_type, address + offset))
		return;
	if (!member_name || is_base) {
		if (lbx_type_is_struct(tag))
			visit_part(s, name, separator, is_base ? type : NULL, &member_type, address + offset, steps);
		return;
	}
	/* the virtual table's address has a name that cannot be said */
	if (strncmp(member_name, "_vptr", 5) == 0 || is_hidden(s, member_name))
		return;
	snprintf(path, sizeof path, "%s%s%s", name, separator, member_name);
	const struct lbx_object *visited = s->visited;
	s->derived = NULL;
	s->visited = NULL;
	visit(s, path, &member_type, tag, address + offset, steps);
	s->visited = visited;
	s->derived = derived;
}

static void visit_members(struct search *s, const char *name, const char *separator, Dwarf_Die *type, uint64_t address,
			  int steps)
{
	Dwarf_Die member;

	if (dwarf_child(type, &member) != 0)
		return;
	do {
		int tag = dwarf_tag(&member);
		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			visit_member(s, name, separator, type, &member, address, steps);
	} while (may_look(s) && dwarf_siblingof(&member, &member) == 0);
}

/* What is written behind `*p` belongs to p, but for brackets. */
static const char *as_whole(const char *name, char ret[NAME])
{
	if (*name != '*')
		return name;
	snprintf(ret, NAME, "(%.*s)", NAME - 3, name);
	return ret;
}

/* It may really be of a class that is derived from its own, with more members. */
static void visit_class(struct search *s, const char *given, const char *separator, const struct lbx_object *object,
			int steps)
{
	struct lbx_object whole;
	Dwarf_Die type = object->type;
	char path[NAME];
	const char *name = as_whole(given, path);

	visit_members(s, name, separator, &type, object->address, steps);
	if (s->stopped || !lbx_dynamic_object(s->scope.target, s->lines, object, &whole))
		return;
	s->derived = &whole.type;
	s->visited = object;
	visit_members(s, name, separator, &whole.type, whole.address, steps);
	s->visited = NULL;
	s->derived = NULL;
}

/* name[1][0] of element i of an array with such axes; false: that is too long. */
static bool name_element(const char *name, const uint64_t *axes, int n, uint64_t i, char ret[NAME])
{
	uint64_t below = 1;
	char path[NAME];
	size_t used = (size_t)snprintf(ret, NAME, "%s", as_whole(name, path));

	for (int k = 1; k < n; k++)
		below *= axes[k];
	for (int k = 0; k < n && used < NAME; k++) {
		used += (size_t)snprintf(ret + used, NAME - used, "[%llu]", (unsigned long long)(i / below));
		i %= below;
		below /= k + 1 < n ? axes[k + 1] : 1;
	}
	return used < NAME;
}

static void visit_array(struct search *s, const char *name, Dwarf_Die *type, uint64_t address, int steps)
{
	uint64_t axes[LBX_TYPE_AXES], all = 1;
	Dwarf_Die element;
	Dwarf_Word bytes, width = 8;
	char path[NAME];
	int tag = lbx_type_of(type, &element), n = lbx_type_axes(type, axes);

	if ((!lbx_type_is_pointer(tag) && !lbx_type_is_struct(tag)) || dwarf_aggregate_size(type, &bytes) != 0 ||
	    (lbx_type_is_struct(tag) && dwarf_aggregate_size(&element, &width) != 0) || width == 0)
		return;
	if (n == 0)
		return;
	for (int k = 0; k < n; k++)
		if (__builtin_mul_overflow(all, axes[k], &all))
			return;
	/* of a dimension that is not told there are no elements */
	uint64_t n_elements = bytes / width < all ? bytes / width : all;
	for (uint64_t i = 0; has_more_elements(s, i, n_elements); i++)
		if (name_element(name, axes, n, i, path))
			visit(s, path, &element, tag, address + i * width, steps);
}

static bool visit_container(struct search *s, const char *name, const struct lbx_object *object, int steps);

/* Nobody has asked for what a pointer leads to, which may be the end of a block, or nothing: what would have to be told of is
 * not read. */
static bool may_read(struct search *s, Dwarf_Die *type, int tag, uint64_t address)
{
	Dwarf_Word size = sizeof(uint64_t);

	if (lbx_type_is_struct(tag) && dwarf_aggregate_size(type, &size) != 0)
		return false;
	return tag == DW_TAG_array_type || lbx_target_read_ahead(s->scope.target, address, size);
}

/* A container's elements are those of `*p`. */
static bool visit_pointed(struct search *s, const char *name, const struct lbx_object *object, int steps)
{
	char path[NAME];

	snprintf(path, sizeof path, "*%s", name);
	return lbx_type_is_struct(object->tag) && visit_container(s, path, object, steps - 1);
}

static void visit_pointer(struct search *s, const char *name, Dwarf_Die *type, uint64_t value, int steps)
{
	Dwarf_Die target;
	char path[NAME];
	int tag = lbx_type_of(type, &target);

	if (tag == DW_TAG_subroutine_type)
		return; /* no function is a tensor */
	emit(s, name, value);
	if (value == 0 || steps == 0 || !may_read(s, &target, tag, value) ||
	    visit_pointed(s, name, &(struct lbx_object){ target, tag, value }, steps))
		return;
	if (lbx_type_is_pointer(tag)) {
		snprintf(path, sizeof path, "*%s", name);
		visit(s, path, &target, tag, value, 0);
	} else if (lbx_type_is_struct(tag)) {
		visit_class(s, name, "->", &(struct lbx_object){ target, tag, value }, steps - 1);
	}
}

static void visit_element(struct search *s, const char *path, struct lbx_object *element, int steps)
{
	visit(s, path, &element->type, element->tag, element->address, steps);
}

static void visit_elements(struct search *s, const char *name, const struct lbx_container *c, int steps)
{
	struct lbx_object element;
	char path[NAME], whole[NAME];
	bool is_tuple = c->kind == LBX_TUPLE;

	for (uint64_t i = 0; has_more_elements(s, i, c->n); i++) {
		if (!lbx_container_at(s->scope.target, c, i, &element))
			continue;
		snprintf(path, sizeof path, is_tuple ? "std::get<%2$llu>(%1$s)" : "%1$s[%2$llu]",
			 is_tuple ? name : as_whole(name, whole), (unsigned long long)i);
		visit_element(s, path, &element, steps);
	}
}

static void visit_nodes(struct search *s, const char *given, struct lbx_container *c, int steps)
{
	char path[NAME], key[LBX_KEY_MAX], whole[NAME];
	const char *name = as_whole(given, whole);
	struct lbx_object value;

	while (has_more_elements(s, c->passed, c->n) &&
	       lbx_target_read_ahead(s->scope.target, c->node, 2 * sizeof(uint64_t)) &&
	       lbx_container_next(s->scope.target, c, &value, key)) {
		snprintf(path, sizeof path, "%s[%s]", name, key);
		if (*key && strlen(name) + strlen(key) + 3 < sizeof path)
			visit_element(s, path, &value, steps);
	}
}

/* The members of what a std::optional or a std::variant holds are written behind `->`. */
static void visit_held(struct search *s, const char *name, struct lbx_object *held, int steps)
{
	struct lbx_container c;
	struct lbx_object member;
	uint64_t record;
	char path[NAME];

	bool stands_for_it = !lbx_type_is_struct(held->tag) || lbx_container_record(s->scope.target, held, &record);
	bool is_container = !stands_for_it && lbx_container_find(s->scope.target, held, &c);

	snprintf(path, sizeof path, "*%s", name);
	if (is_container || (steps > 0 && lbx_type_is_pointer(held->tag)))
		visit_element(s, path, held, steps);
	else if (stands_for_it || steps <= 0 || lbx_wrapper_member(held, &member))
		visit_element(s, name, held, steps);
	else
		visit_class(s, name, "->", held, steps - 1);
}

/* What a container or a smart pointer has counts for the whole: no step. */
static bool visit_container(struct search *s, const char *name, const struct lbx_object *object, int steps)
{
	struct lbx_container c;

	if (s->containers == MAX_CONTAINERS || !lbx_container_find(s->scope.target, object, &c))
		return false;
	s->containers++;
	if (c.kind == LBX_LEADS) {
		visit_pointer(s, name, &c.object.type, c.object.address, steps);
	} else if (c.kind == LBX_HOLDS && !c.nothing) {
		visit_held(s, name, &c.object, steps);
	} else if (c.kind == LBX_MAP || c.kind == LBX_LIST) {
		visit_nodes(s, name, &c, steps);
	} else if (c.kind == LBX_SEQUENCE || c.kind == LBX_TUPLE) {
		visit_elements(s, name, &c, steps);
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

/* A class that wraps a pointer stands for it. A text has no tensors in it, and many members. */
static void visit_struct(struct search *s, const char *name, const struct lbx_object *object, int steps)
{
	static const char text[] = "basic_string<";
	Dwarf_Die type = object->type;
	const char *class = dwarf_diename(&type);
	struct lbx_object member;
	uint64_t value;

	if (class && strncmp(class, text, sizeof text - 1) == 0)
		return;
	if (lbx_container_record(s->scope.target, object, &value))
		emit(s, name, value);
	else if (visit_container(s, name, object, steps))
		;
	else if (lbx_wrapper_member(object, &member) &&
		 lbx_target_try_read(s->scope.target, member.address, &value, sizeof value))
		visit_pointer(s, name, &member.type, value, 0);
	else if (steps > 0)
		visit_class(s, name, ".", object, steps - 1);
}

/* An object in memory. `steps`: how much further structs and pointers are followed. */
static void visit(struct search *s, const char *name, Dwarf_Die *type, int tag, uint64_t address, int steps)
{
	uint64_t value;

	if (s->stopped || s->is_full || !may_read(s, type, tag, address))
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
	} else if (lbx_type_is_struct(tag) && steps >= 0) {
		visit_struct(s, name, &(struct lbx_object){ *type, tag, address }, steps);
	}
}

/* __for_range, __closure: what they lead to has a name of the program's, too. */
static bool is_of_compiler(Dwarf_Die *die, const char *name)
{
	return strncmp(name, "__", 2) == 0 && dwarf_hasattr_integrate(die, DW_AT_artificial);
}

static void visit_variable(struct search *s, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	struct lbx_location place;
	const char *name = dwarf_diename(die);
	int tag = lbx_type_of(die, &type);

	s->is_argument = dwarf_tag(die) == DW_TAG_formal_parameter;
	if (!name || !tag || is_of_compiler(die, name) || !dwarf_attr_integrate(die, DW_AT_location, &attribute))
		return;
	if (!lbx_locate(&s->scope, &attribute, &place)) {
		s->is_lost |= lbx_type_is_pointer(tag) || lbx_type_is_struct(tag) || tag == DW_TAG_array_type;
		return;
	}
	if (place.in_memory)
		visit(s, name, &type, tag, place.value, s->steps);
	else if (tag == DW_TAG_pointer_type)
		visit_pointer(s, name, &type, place.value, s->steps - 1);
	else if (lbx_type_is_pointer(tag))
		visit_referred(s, name, &type, place.value, s->steps);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* One that has much in it leaves room for the others. */
static void visit_fairly(struct search *s, Dwarf_Die *die)
{
	int pointers = s->pointers_left, looks = s->looks_left;
	int its_pointers = least(pointers, MAX_POINTERS_OF_ONE), its_looks = least(looks, MAX_LOOKS_OF_ONE);

	s->pointers_left = its_pointers;
	s->looks_left = its_looks;
	s->is_cut = false;
	visit_variable(s, die);
	if (s->is_cut && s->cuts && s->cuts->cut++ == 0) {
		snprintf(s->cuts->first_cut, sizeof s->cuts->first_cut, "%s",
			 dwarf_diename(die) ? dwarf_diename(die) : "");
		lbx_make_printable(s->cuts->first_cut);
	}
	s->pointers_left = pointers - (its_pointers - s->pointers_left);
	s->looks_left = looks - (its_looks - s->looks_left);
	s->is_full = s->pointers_left == 0;
}

static void visit_scope(struct search *s, Dwarf_Die *scope)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			visit_fairly(s, &child);
	} while (may_look(s) && dwarf_siblingof(&child, &child) == 0);
}

static void visit_frame(struct search *s, struct lbx_functions *f, int steps)
{
	const struct lbx_frame *frame = s->scope.frame;
	int depth = frame->depth < f->n_inlined ? frame->depth : f->n_inlined;

	s->steps = steps;
	s->pointers_left = MAX_POINTERS;
	s->looks_left = MAX_LOOKS;
	s->is_full = false;
	for (int i = depth ? f->at[depth - 1] + 1 : 0; i < f->n_scopes && !s->stopped; i++) {
		if (dwarf_tag(&f->scopes[i]) == DW_TAG_compile_unit)
			break;
		visit_scope(s, &f->scopes[i]);
		if (i == f->at[depth])
			break;
	}
}

bool lbx_variables(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_frame *frame,
		   lbx_pointer_fn *fn, void *context, bool *ret_whole, struct lbx_variables_told *told_of)
{
	struct search s = { .scope = { .target = target, .frame = frame, .lines = lines },
			    .lines = lines,
			    .fn = fn,
			    .context = context,
			    .max_elements = MAX_ELEMENTS };
	struct lbx_number_map told = { 0 };
	struct lbx_functions f;

	if (ret_whole)
		*ret_whole = false;
	if (told_of)
		*told_of = (struct lbx_variables_told){ .cut = 0 };
	if (!lbx_functions_at(lbx_lines_dwfl(lines), lbx_frame_code(frame), &f))
		return true;
	s.scope.bias = f.bias;
	s.scope.pc = f.pc;
	s.scope.function = f.at[f.n_inlined] < 0 ? NULL : &f.scopes[f.at[f.n_inlined]];
	s.told = &told;
	visit_frame(&s, &f, STEPS_FIRST);
	s.cuts = told_of;
	visit_frame(&s, &f, STEPS);
	if (ret_whole)
		*ret_whole = f.at[f.n_inlined] >= 0 && !s.is_lost;
	lbx_number_map_deinit(&told);
	lbx_functions_release(&f);
	return lb_ok();
}

/* Of whom the pointers are that come. */
struct statics {
	lbx_static_fn *fn;
	void *context;
	struct lbx_static_place place;
};

static bool take_static(void *context, const struct lbx_pointer *pointer)
{
	struct statics *s = context;
	return s->fn(s->context, pointer, &s->place);
}

static void visit_static(struct search *s, const struct lbx_static *one, uint64_t address, int *looks,
			 struct lbx_statics_told *told)
{
	struct statics *statics = s->context;
	struct lbx_source_line *declared = &statics->place.declared;
	Dwarf_Die type = one->type;
	int its_looks = least(*looks, MAX_LOOKS_OF_STATIC);

	memset(declared, 0, sizeof *declared);
	statics->place.variable = one->name;
	snprintf(declared->function, sizeof declared->function, "%s", one->function ? one->function : "");
	snprintf(declared->file, sizeof declared->file, "%s", one->file ? one->file : "");
	declared->line = one->line;
	s->pointers_left = MAX_POINTERS_OF_STATIC;
	s->looks_left = its_looks;
	s->is_full = s->is_cut = false;
	visit(s, one->name, &type, one->tag, address, STEPS);
	*looks -= its_looks - (s->looks_left > 0 ? s->looks_left : 0);
	if (s->is_cut && told->cut++ == 0)
		snprintf(told->first_cut, sizeof told->first_cut, "%s", one->name);
}

static void visit_of_threads(struct search *s, const struct lbx_statics *statics, const struct lbx_static *one,
			     const struct lbx_threads *threads, int *looks, struct lbx_statics_told *told)
{
	struct lbx_static_place *place = &((struct statics *)s->context)->place;
	uint64_t block;

	for (int i = 0; threads && i < threads->n && !s->stopped; i++) {
		if (!lbx_statics_block(s->scope.target, statics, &threads->list[i], &block))
			continue;
		place->thread = threads->list[i].tid;
		visit_static(s, one, block + one->address, looks, told);
	}
	place->thread = 0;
}

bool lbx_static_pointers(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_threads *threads,
			 lbx_static_fn *fn, void *context, struct lbx_statics_told *ret)
{
	struct statics to = { .fn = fn, .context = context };
	struct search s = { .scope = { .target = target },
			    .lines = lines,
			    .fn = take_static,
			    .context = &to,
			    .max_elements = MAX_ELEMENTS_OF_STATIC };
	const struct lbx_statics *statics = lbx_statics_find(lines);
	int looks = MAX_LOOKS_OF_STATICS;

	*ret = (struct lbx_statics_told){ .variables = 0 };
	if (!statics)
		return false;
	ret->variables = statics->n;
	ret->has_more = statics->is_cut;
	for (size_t i = 0; i < statics->n && !s.stopped; i++) {
		const struct lbx_static *one = &statics->list[i];
		if (one->is_of_thread)
			visit_of_threads(&s, statics, one, threads, &looks, ret);
		else
			visit_static(&s, one, one->address, &looks, ret);
	}
	return lb_ok();
}

bool lbx_object_pointers(struct lbx_target *target, struct lbx_lines *lines, const char *name,
			 const struct lbx_object *object, bool in_memory, lbx_pointer_fn *fn, void *context)
{
	struct search s = { .scope = { .target = target },
			    .lines = lines,
			    .fn = fn,
			    .context = context,
			    .max_elements = MAX_ELEMENTS,
			    .pointers_left = MAX_POINTERS_WITHIN,
			    .looks_left = MAX_LOOKS_WITHIN };
	Dwarf_Die type = object->type;

	if (in_memory)
		visit(&s, name, &type, object->tag, object->address, STEPS);
	else
		visit_pointer(&s, name, &type, object->address, STEPS - 1);
	return !s.is_cut;
}
