#include "target/containers.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/type.h"

enum { MAX_DEPTH = 16, MAX_DIES = 2048, MAX_WRAPPED = 4, WORD = 8, TREE_DEPTH = 128, MAX_NODES = 1 << 16 };
enum { LEFT, RIGHT, PARENT };

static const int gnu_links[] = { [LEFT] = 16, [RIGHT] = 24, [PARENT] = 8 };
static const int llvm_links[] = { [LEFT] = 0, [RIGHT] = 8, [PARENT] = 16 };

/* ---- members, by their names ---- */

/* The member of that name anywhere within an object: its type, where it is, and a pointer's value. */
struct search {
	struct lbx_target *target;
	const char *name, *beside; /* a member of that name is not entered; or NULL */
	bool is_any; /* of any type; else a pointer */
	int dies;
	struct lbx_object found;
	uint64_t value;
};

static bool find(struct search *s, Dwarf_Die *type, uint64_t address, int depth);

static bool look_at(struct search *s, Dwarf_Die *member, uint64_t address, int depth)
{
	const char *name = dwarf_diename(member);
	Dwarf_Attribute attribute;
	Dwarf_Word offset = 0;
	struct lbx_object *o = &s->found;

	if (dwarf_hasattr(member, DW_AT_external) ||
	    (dwarf_attr(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &offset) != 0))
		return false;
	struct lbx_object found = { .address = address + offset };
	found.tag = lbx_type_of(member, &found.type);
	if (s->is_any && name && strcmp(name, s->name) == 0) {
		*o = found;
		return true;
	}
	if (lbx_type_is_struct(found.tag))
		return !(name && s->beside && strcmp(name, s->beside) == 0) &&
		       find(s, &found.type, found.address, depth + 1);
	if (found.tag != DW_TAG_pointer_type || !name || strcmp(name, s->name) != 0)
		return false;
	*o = found;
	return lbx_target_try_read(s->target, found.address, &s->value, sizeof s->value);
}

static bool find(struct search *s, Dwarf_Die *type, uint64_t address, int depth)
{
	Dwarf_Die member;

	if (depth == MAX_DEPTH || dwarf_child(type, &member) != 0)
		return false;
	do {
		int tag = dwarf_tag(&member);
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && look_at(s, &member, address, depth))
			return true;
	} while (s->dies++ < MAX_DIES && dwarf_siblingof(&member, &member) == 0);
	return false;
}

static bool find_any(struct lbx_target *target, const struct lbx_object *in, const char *name, const char *beside,
		     struct lbx_object *ret)
{
	struct search s = { .target = target, .name = name, .beside = beside, .is_any = true };
	Dwarf_Die type = in->type;

	if (!lbx_type_is_struct(in->tag) || !find(&s, &type, in->address, 0))
		return false;
	*ret = s.found;
	return true;
}

static bool find_pointer(struct lbx_target *target, const struct lbx_object *in, const char *name,
			 struct lbx_object *ret, uint64_t *ret_value)
{
	struct search s = { .target = target, .name = name };
	Dwarf_Die type = in->type;

	if (!lbx_type_is_struct(in->tag) || !find(&s, &type, in->address, 0))
		return false;
	*ret = s.found;
	*ret_value = s.value;
	return true;
}

static bool read_number(struct lbx_target *target, const struct lbx_object *o, uint64_t *ret)
{
	Dwarf_Die type = o->type;
	Dwarf_Word size = WORD;
	uint64_t bits = 0;

	if (o->tag != DW_TAG_base_type && o->tag != DW_TAG_enumeration_type)
		return false;
	return dwarf_aggregate_size(&type, &size) == 0 && size <= sizeof bits &&
	       lbx_target_try_read(target, o->address, &bits, size) && lbx_type_extend(&type, o->tag, bits, ret);
}

/* A number, or, in libc++, a pair of one and of what needs no room. */
static bool find_number(struct lbx_target *target, const struct lbx_object *in, const char *name, const char *beside,
			uint64_t *ret)
{
	struct lbx_object o;

	return find_any(target, in, name, beside, &o) &&
	       (!lbx_type_is_struct(o.tag) || find_any(target, &o, "__value_", NULL, &o)) &&
	       read_number(target, &o, ret);
}

static bool read_word(struct lbx_target *target, uint64_t address, uint64_t *ret)
{
	return lbx_target_try_read(target, address, ret, sizeof *ret);
}

static bool begins(const char *name, const char *with)
{
	return name && strncmp(name, with, strlen(with)) == 0;
}

/* A type's child of that tag and, but for "", of that name, as a template's argument: its type. */
static bool find_child(const struct lbx_object *of, int tag, const char *name, Dwarf_Die *ret)
{
	Dwarf_Die type = of->type;
	int left = MAX_DIES;

	if (dwarf_child(&type, ret) != 0)
		return false;
	do {
		const char *own = dwarf_diename(ret);
		if (dwarf_tag(ret) == tag && (!*name || (own && strcmp(own, name) == 0)))
			return true;
	} while (--left && dwarf_siblingof(ret, ret) == 0);
	return false;
}

static bool type_of_child(const struct lbx_object *of, int tag, const char *name, struct lbx_object *ret)
{
	Dwarf_Die child;

	if (!find_child(of, tag, name, &child))
		return false;
	ret->tag = lbx_type_of(&child, &ret->type);
	return ret->tag != 0;
}

static bool argument(const struct lbx_object *of, const char *name, struct lbx_object *ret)
{
	return type_of_child(of, DW_TAG_template_type_parameter, name, ret);
}

/* Its first base whose name begins so. */
static bool base_of(const struct lbx_object *of, const char *name, struct lbx_object *ret)
{
	Dwarf_Die type = of->type, child;

	if (dwarf_child(&type, &child) != 0)
		return false;
	do {
		ret->tag = dwarf_tag(&child) == DW_TAG_inheritance ? lbx_type_of(&child, &ret->type) : 0;
		if (ret->tag && begins(dwarf_diename(&ret->type), name))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Argument i of a template that takes any number of them. */
static bool argument_of_pack(const struct lbx_object *of, uint64_t i, struct lbx_object *ret)
{
	Dwarf_Die child;

	if (i >= LBX_TUPLE_MAX || !find_child(of, DW_TAG_GNU_template_parameter_pack, "", &child) ||
	    dwarf_child(&child, &child) != 0)
		return false;
	while (i-- > 0)
		if (dwarf_siblingof(&child, &child) != 0)
			return false;
	ret->tag = lbx_type_of(&child, &ret->type);
	return ret->tag != 0;
}

static bool width_of(struct lbx_object *o, uint64_t *ret)
{
	Dwarf_Word width = WORD;

	if (o->tag == 0 || (!lbx_type_is_pointer(o->tag) && dwarf_aggregate_size(&o->type, &width) != 0) || width == 0)
		return false;
	*ret = width;
	return true;
}

/* ---- what has one object ---- */

static bool find_part(struct lbx_target *target, const struct lbx_object *o, uint64_t i, int depth,
		      struct lbx_object *ret);

static bool is_of_array(const struct lbx_object *o)
{
	struct lbx_object to;
	return argument(o, "_Tp", &to) && to.tag == DW_TAG_array_type;
}

/* libstdc++'s std::unique_ptr has a tuple of the pointer and of what deletes it. */
static bool find_unique(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object in, pointer;

	ret->kind = LBX_LEADS;
	if (find_any(target, o, "_M_t", NULL, &in)) {
		find_any(target, &in, "_M_t", NULL, &in);
		if (!find_part(target, &in, 0, 0, &pointer) || pointer.tag != DW_TAG_pointer_type)
			return false;
	} else if (!find_any(target, o, "__ptr_", NULL, &pointer) ||
		   (lbx_type_is_struct(pointer.tag) && !find_any(target, &pointer, "__value_", NULL, &pointer)) ||
		   pointer.tag != DW_TAG_pointer_type) {
		return false;
	}
	ret->object = pointer;
	ret->is_of_array = is_of_array(o);
	if (!read_word(target, pointer.address, &ret->object.address))
		return false;
	ret->nothing = ret->object.address ? NULL : "is null";
	return true;
}

static bool find_smart(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	static const char *const names[] = { "_M_ptr", "_M_data", "__ptr_", "__f_" };
	const char *name = NULL;
	Dwarf_Die type = o->type;

	ret->kind = LBX_LEADS;
	for (size_t i = 0; i < sizeof names / sizeof *names && !name; i++)
		if (find_pointer(target, o, names[i], &ret->object, &ret->object.address))
			name = names[i];
	if (!name)
		return false;
	ret->object.tag = DW_TAG_pointer_type;
	ret->is_of_array = is_of_array(o);
	if (!ret->object.address)
		ret->nothing = "is null";
	if (!begins(dwarf_diename(&type), "weak_ptr<"))
		return true;
	/* the count of owners stands behind the virtual table's address; libc++ counts those that are more than one */
	struct lbx_object control;
	uint64_t at = 0, owners = 0;
	bool is_gnu = find_pointer(target, o, "_M_pi", &control, &at);
	if (!is_gnu && !find_pointer(target, o, "__cntrl_", &control, &at))
		return false;
	if (at && !lbx_target_try_read(target, at + WORD, &owners, is_gnu ? 4 : WORD))
		return false;
	if (at && !(is_gnu ? owners : owners + 1))
		ret->nothing = "has expired";
	if (ret->nothing)
		ret->object.address = 0;
	return true;
}

/* std::optional, and c10::optional. */
static bool find_optional(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	static const char *const names[][2] = { { "_M_engaged", "_M_value" },
						{ "__engaged_", "__val_" },
						{ "init_", "value_" } };
	uint64_t is_there;

	ret->kind = LBX_HOLDS;
	for (int i = 0; i < 3; i++) {
		if (!find_number(target, o, names[i][0], names[i][1], &is_there) || is_there > 1 ||
		    !find_any(target, o, names[i][1], NULL, &ret->object))
			continue;
		ret->nothing = is_there ? NULL : "is empty";
		return true;
	}
	return false;
}

static bool find_variant(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object place;
	uint64_t i;

	ret->kind = LBX_HOLDS;
	if (!(find_number(target, o, "_M_index", "_M_u", &i) && find_any(target, o, "_M_u", NULL, &place)) &&
	    !(find_number(target, o, "__index", "__data", &i) && find_any(target, o, "__data", NULL, &place)))
		return false;
	ret->object.address = place.address;
	if (argument_of_pack(o, i, &ret->object)) {
		ret->alternative = (int)i;
		return true;
	}
	ret->object = place;
	ret->nothing = "has no value";
	return (int8_t)i == -1;
}

/* ---- sequences ---- */

static bool find_vector(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object start, finish, limit;
	uint64_t end, room;

	ret->kind = LBX_SEQUENCE;
	if (!(find_pointer(target, o, "_M_start", &start, &ret->element.address) &&
	      find_pointer(target, o, "_M_finish", &finish, &end)) &&
	    !(find_pointer(target, o, "__begin_", &start, &ret->element.address) &&
	      find_pointer(target, o, "__end_", &finish, &end)))
		return false;
	ret->element.tag = lbx_type_of(&start.type, &ret->element.type);
	if (!width_of(&ret->element, &ret->width))
		return false;
	bool has_room = find_pointer(target, o, "_M_end_of_storage", &limit, &room) ||
			find_pointer(target, o, "__cap_", &limit, &room) ||
			(find_any(target, o, "__end_cap_", NULL, &limit) &&
			 find_pointer(target, &limit, "__value_", &limit, &room));
	ret->n = (end - ret->element.address) / ret->width;
	return end >= ret->element.address && (!has_room || end <= room) &&
	       (end - ret->element.address) % ret->width == 0;
}

/* What has a pointer to elements that are elsewhere, and their number. */
static bool find_span(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	static const char *const names[][2] = { { "_M_ptr", "_M_extent_value" },
						{ "__data", "__size" },
						{ "__data_", "__size_" },
						{ "_M_array", "_M_len" },
						{ "__begin_", "__size_" } };
	struct lbx_object start;
	Dwarf_Attribute attribute;
	Dwarf_Die extent;
	size_t i = 0;

	ret->kind = LBX_SEQUENCE;
	while (!find_pointer(target, o, names[i][0], &start, &ret->element.address))
		if (++i == sizeof names / sizeof *names)
			return false;
	ret->element.tag = lbx_type_of(&start.type, &ret->element.type);
	if (!width_of(&ret->element, &ret->width))
		return false;
	return find_number(target, o, names[i][1], NULL, &ret->n) ||
	       (find_child(o, DW_TAG_template_value_parameter, "", &extent) &&
		dwarf_attr(&extent, DW_AT_const_value, &attribute) && dwarf_formudata(&attribute, &ret->n) == 0);
}

static bool find_array(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object in;
	Dwarf_Word bytes;

	ret->kind = LBX_SEQUENCE;
	if ((!find_any(target, o, "_M_elems", NULL, &in) && !find_any(target, o, "__elems_", NULL, &in)) ||
	    in.tag != DW_TAG_array_type || dwarf_aggregate_size(&in.type, &bytes) != 0)
		return false;
	ret->element.tag = lbx_type_of(&in.type, &ret->element.type);
	ret->element.address = in.address;
	if (!width_of(&ret->element, &ret->width))
		return false;
	ret->n = bytes / ret->width;
	return true;
}

static bool find_gnu_deque(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct iterator {
		uint64_t at, first, last, node;
	} start, finish;
	struct lbx_object begin, end, pointer;
	uint64_t unused;

	if (!find_any(target, o, "_M_start", NULL, &begin) || !find_any(target, o, "_M_finish", NULL, &end) ||
	    !find_pointer(target, &begin, "_M_cur", &pointer, &unused) ||
	    !lbx_target_try_read(target, begin.address, &start, sizeof start) ||
	    !lbx_target_try_read(target, end.address, &finish, sizeof finish))
		return false;
	ret->element.tag = lbx_type_of(&pointer.type, &ret->element.type);
	if (!width_of(&ret->element, &ret->width) || start.last <= start.first || start.at < start.first ||
	    start.at >= start.last || finish.at < finish.first || finish.node < start.node)
		return false;
	ret->block = (start.last - start.first) / ret->width;
	ret->blocks = start.node;
	/* elements are counted from the first of the first block on */
	ret->element.address = (start.at - start.first) / ret->width;
	uint64_t all = (finish.node - start.node) / WORD, last = (finish.at - finish.first) / ret->width;
	if (ret->block == 0 || __builtin_mul_overflow(all, ret->block, &all) ||
	    __builtin_add_overflow(all, last, &all) || all < ret->element.address)
		return false;
	ret->n = all - ret->element.address;
	return true;
}

static bool find_llvm_deque(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object map, pointer;
	uint64_t end;

	if (!find_any(target, o, "__map_", NULL, &map) ||
	    !find_pointer(target, &map, "__begin_", &pointer, &ret->blocks) ||
	    !find_pointer(target, &map, "__end_", &pointer, &end) || end < ret->blocks ||
	    !find_number(target, o, "__start_", "__map_", &ret->element.address) ||
	    !find_number(target, o, "__size_", "__map_", &ret->n) || !argument(o, "_Tp", &ret->element) ||
	    !width_of(&ret->element, &ret->width))
		return false;
	uint64_t all = ret->element.address + ret->n;
	ret->block = ret->width < 256 ? 4096 / ret->width : 16;
	return all >= ret->n && all <= (end - ret->blocks) / WORD * ret->block;
}

static bool find_deque(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	ret->kind = LBX_SEQUENCE;
	return find_gnu_deque(target, o, ret) || find_llvm_deque(target, o, ret);
}

/* ---- lists ---- */

/* A node in libc++, as what leads to it says. */
static bool find_node(const struct lbx_object *from, struct lbx_object *ret)
{
	if (!type_of_child(from, DW_TAG_typedef, "__node_pointer", ret))
		return false;
	ret->tag = lbx_type_of(&ret->type, &ret->type);
	ret->address = 0;
	return true;
}

/* What an allocator makes. */
static bool find_allocated(const struct lbx_object *allocator, struct lbx_object *ret)
{
	struct lbx_object base;

	ret->address = 0;
	return argument(allocator, "_Tp", ret) || (base_of(allocator, "", &base) && argument(&base, "_Tp", ret));
}

/* Lists of before C++11 do not know their length. */
static bool count_nodes(struct lbx_target *target, const struct lbx_container *c, uint64_t *ret)
{
	uint64_t node = c->node;

	for (*ret = 0; node != c->end; ++*ret)
		if (*ret == MAX_NODES || !read_word(target, node + c->link_at, &node))
			return false;
	return true;
}

static bool find_gnu_list(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object in, header, pointer, allocator, node, value;

	if (!find_any(target, o, "_M_impl", NULL, &in) || !find_any(target, &in, "_M_node", NULL, &header) ||
	    !find_pointer(target, &header, "_M_next", &pointer, &ret->node) || !argument(o, "_Tp", &ret->element) ||
	    !base_of(&in, "", &allocator) || !find_allocated(&allocator, &node) ||
	    !find_any(target, &node, "_M_storage", NULL, &value))
		return false;
	ret->value_at = value.address;
	ret->end = header.address;
	ret->link_at = pointer.address - header.address;
	return find_number(target, &header, "_M_size", NULL, &ret->n) || count_nodes(target, ret, &ret->n);
}

static bool find_llvm_list(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object header, pointer, node, value;

	if (!find_any(target, o, "__end_", NULL, &header) ||
	    !find_pointer(target, &header, "__next_", &pointer, &ret->node) || !argument(o, "_Tp", &ret->element) ||
	    (!find_number(target, o, "__size_alloc_", NULL, &ret->n) &&
	     !find_number(target, o, "__size_", NULL, &ret->n)) ||
	    !find_node(&header, &node) || !find_any(target, &node, "__value_", NULL, &value))
		return false;
	ret->value_at = value.address;
	ret->end = header.address;
	ret->link_at = pointer.address - header.address;
	return true;
}

static bool find_list(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	ret->kind = LBX_LIST;
	return find_gnu_list(target, o, ret) || find_llvm_list(target, o, ret);
}

/* ---- tuples ---- */

static bool find_part(struct lbx_target *target, const struct lbx_object *o, uint64_t i, int depth,
		      struct lbx_object *ret)
{
	Dwarf_Die type = o->type, base;
	Dwarf_Attribute attribute;
	char own[2][32];

	snprintf(own[0], sizeof own[0], "_Head_base<%" PRIu64, i);
	snprintf(own[1], sizeof own[1], "__tuple_leaf<%" PRIu64, i);
	if (depth == MAX_DEPTH || dwarf_child(&type, &base) != 0)
		return false;
	do {
		Dwarf_Word offset = 0;
		struct lbx_object in;
		if (dwarf_tag(&base) != DW_TAG_inheritance)
			continue;
		if (dwarf_attr(&base, DW_AT_data_member_location, &attribute) &&
		    dwarf_formudata(&attribute, &offset) != 0)
			continue;
		in.tag = lbx_type_of(&base, &in.type);
		in.address = o->address + offset;
		const char *name = dwarf_diename(&in.type);
		bool is_own = false;
		for (int k = 0; k < 2 && in.tag; k++)
			is_own |= begins(name, own[k]) && strchr(",uUlL", name[strlen(own[k])]);
		if (is_own)
			return find_any(target, &in, "_M_head_impl", NULL, ret) ||
			       find_any(target, &in, "__value_", NULL, ret);
		if (lbx_type_is_struct(in.tag) && find_part(target, &in, i, depth + 1, ret))
			return true;
	} while (dwarf_siblingof(&base, &base) == 0);
	return false;
}

static bool find_tuple(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object base;

	ret->kind = LBX_TUPLE;
	ret->n = LBX_TUPLE_MAX;
	ret->element = *o;
	if (find_any(target, o, "__base_", NULL, &base))
		ret->element = base;
	return true;
}

static bool find_in_list(struct lbx_target *target, const struct lbx_container *c, uint64_t i, struct lbx_object *ret)
{
	struct lbx_container rest = *c;
	char key[LBX_KEY_MAX];

	if (i >= MAX_NODES)
		return false;
	do
		if (!lbx_container_next(target, &rest, ret, key))
			return false;
	while (i-- > 0);
	return true;
}

bool lbx_container_at(struct lbx_target *target, const struct lbx_container *c, uint64_t i, struct lbx_object *ret)
{
	uint64_t at, block, offset;

	if (i >= c->n)
		return false;
	*ret = c->element;
	if (c->kind == LBX_TUPLE)
		return find_part(target, &c->element, i, 0, ret);
	if (c->kind == LBX_LIST)
		return find_in_list(target, c, i, ret);
	if (c->kind != LBX_SEQUENCE)
		return false;
	if (!c->block)
		return !__builtin_mul_overflow(i, c->width, &offset) &&
		       !__builtin_add_overflow(c->element.address, offset, &ret->address);
	at = c->element.address + i;
	if (!read_word(target, c->blocks + at / c->block * WORD, &block) || !block)
		return false;
	ret->address = block + at % c->block * c->width;
	return true;
}

/* ---- maps ---- */

static bool find_gnu_tree(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object tree, header;

	if (!find_any(target, o, "_M_t", NULL, &tree) || !argument(&tree, "_Val", &ret->element) ||
	    !find_any(target, &tree, "_M_header", NULL, &header) ||
	    !find_number(target, &tree, "_M_node_count", NULL, &ret->n) ||
	    !read_word(target, header.address + (uint64_t)gnu_links[LEFT], &ret->node))
		return false;
	ret->links = gnu_links;
	ret->value_at = 4 * WORD; /* behind a colour and three links */
	return true;
}

static bool find_llvm_tree(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object tree, first, node, value;

	if (!find_any(target, o, "__tree_", NULL, &tree) ||
	    !find_pointer(target, &tree, "__begin_node_", &first, &ret->node) ||
	    (!find_number(target, &tree, "__pair3_", NULL, &ret->n) &&
	     !find_number(target, &tree, "__size_", NULL, &ret->n)) ||
	    !find_node(&tree, &node) || !find_any(target, &node, "__value_", NULL, &value))
		return false;
	ret->links = llvm_links;
	ret->value_at = value.address;
	ret->element = value;
	return true;
}

static bool find_gnu_table(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object table, before, base, nodes, node, value;

	/* its base that makes the nodes tells what they are */
	if (!find_any(target, o, "_M_h", NULL, &table) || !find_any(target, &table, "_M_before_begin", NULL, &before) ||
	    !find_number(target, &table, "_M_element_count", NULL, &ret->n) ||
	    !read_word(target, before.address, &ret->node) || !base_of(&table, "_Hashtable_alloc<", &base) ||
	    !argument(&base, "_NodeAlloc", &nodes) || !find_allocated(&nodes, &node) ||
	    !argument(&node, "_Value", &ret->element))
		return false;
	if (!find_any(target, &node, "_M_storage", NULL, &value))
		return false;
	ret->value_at = value.address;
	return true;
}

static bool find_llvm_table(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	struct lbx_object table, first, node, value;

	if (!find_any(target, o, "__table_", NULL, &table) ||
	    !find_pointer(target, &table, "__next_", &first, &ret->node) ||
	    (!find_number(target, &table, "__p2_", NULL, &ret->n) &&
	     !find_number(target, &table, "__size_", NULL, &ret->n)) ||
	    !find_node(&table, &node) || !find_any(target, &node, "__value_", NULL, &value))
		return false;
	ret->value_at = value.address;
	ret->element = value;
	return true;
}

static bool is_string(const struct lbx_object *o)
{
	Dwarf_Die type = o->type;
	return begins(dwarf_diename(&type), "basic_string<char");
}

/* A character and a bool are numbers, too. */
static bool is_number(const struct lbx_object *key)
{
	Dwarf_Die type = key->type;
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;

	if (key->tag == DW_TAG_enumeration_type)
		return true;
	return dwarf_attr(&type, DW_AT_encoding, &attribute) && dwarf_formudata(&attribute, &encoding) == 0 &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_unsigned || encoding == DW_ATE_signed_char ||
		encoding == DW_ATE_unsigned_char || encoding == DW_ATE_boolean);
}

/* libc++ has its pairs within something else. */
static void unwrap_pair(struct lbx_target *target, struct lbx_container *c)
{
	struct lbx_object whole = c->element, pair;

	whole.address = 0;
	if (!find_any(target, &whole, "__cc_", NULL, &pair) && !find_any(target, &whole, "__cc", NULL, &pair))
		return;
	c->element = pair;
	c->value_at += pair.address;
}

/* Keys that are neither texts nor numbers cannot be written: what is there has numbers then, as in a multimap. Where keys
 * are fractions, `m[2]` would be another element in C++. */
static void number_odd_keys(struct lbx_target *target, struct lbx_container *c)
{
	struct lbx_object pair = c->element, key;

	pair.address = 0;
	if (!find_any(target, &pair, "first", NULL, &key) || is_string(&key) || is_number(&key))
		return;
	if (key.tag == DW_TAG_base_type) {
		c->kind = LBX_UNREAD;
		c->nothing =
		    "has keys that are fractions, which are not read: a variable that refers to an element can be named, "
		    "and `list` shows all tensors";
		return;
	}
	c->kind = LBX_LIST;
	unwrap_pair(target, c);
}

static bool find_map(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	ret->kind = LBX_MAP;
	if (!find_gnu_tree(target, o, ret) && !find_llvm_tree(target, o, ret))
		return false;
	number_odd_keys(target, ret);
	return true;
}

static bool find_table(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	ret->kind = LBX_MAP;
	if (!find_gnu_table(target, o, ret) && !find_llvm_table(target, o, ret))
		return false;
	number_odd_keys(target, ret);
	return true;
}

/* ---- sets, and maps that may have a key twice: what they hold has numbers, in the order in which one goes through them ---- */

static bool find_set(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	ret->kind = LBX_LIST;
	return find_gnu_tree(target, o, ret) || find_llvm_tree(target, o, ret);
}

static bool find_unordered_set(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	ret->kind = LBX_LIST;
	return find_gnu_table(target, o, ret) || find_llvm_table(target, o, ret);
}

static bool find_multimap(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	if (!find_set(target, o, ret))
		return false;
	unwrap_pair(target, ret);
	return true;
}

static bool find_unordered_multimap(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret)
{
	if (!find_unordered_set(target, o, ret))
		return false;
	unwrap_pair(target, ret);
	return true;
}

/* The text of a std::string; false: it is none, or too long. */
static bool read_string(struct lbx_target *target, const struct lbx_object *o, char *ret, size_t size)
{
	struct lbx_object pointer;
	uint64_t at, n;
	uint8_t small[24];

	if (!is_string(o))
		return false;
	if (find_any(target, o, "_M_dataplus", NULL, &pointer)) {
		if (!read_word(target, pointer.address, &at) || !find_number(target, o, "_M_string_length", NULL, &n))
			return false;
	} else {
		/* libc++: the lowest bit tells whether there is a text of its own; else there are twice its length, and the text */
		if (!find_any(target, o, "__r_", NULL, &pointer) && !find_any(target, o, "__rep_", NULL, &pointer))
			return false;
		if (!lbx_target_try_read(target, pointer.address, small, sizeof small))
			return false;
		n = small[0] >> 1;
		at = pointer.address + 1;
		if (small[0] & 1) {
			memcpy(&n, small + 8, sizeof n);
			memcpy(&at, small + 16, sizeof at);
		} else if (n >= sizeof small - 1) {
			return false;
		}
	}
	return n < size && lbx_target_try_read(target, at, ret, n + 1) && strnlen(ret, n + 1) == n;
}

void lbx_container_key(struct lbx_target *target, const struct lbx_object *key, char ret[LBX_KEY_MAX])
{
	char text[LBX_KEY_TEXT];
	uint64_t value;
	size_t n = 0;

	ret[0] = '\0';
	if (read_string(target, key, text, sizeof text)) {
		ret[n++] = '"';
		for (const char *c = text; *c; c++) {
			if (*c == '"' || *c == '\\')
				ret[n++] = '\\';
			ret[n++] = *c;
		}
		strcpy(ret + n, "\"");
	} else if (is_number(key) && read_number(target, key, &value)) {
		snprintf(ret, LBX_KEY_MAX, "%" PRId64, (int64_t)value);
	}
}

/* The node behind one of a tree, in the order of its keys. */
static bool step_in_tree(struct lbx_target *target, const int *links, uint64_t *node)
{
	uint64_t next, child = *node;

	if (!read_word(target, *node + (uint64_t)links[RIGHT], &next))
		return false;
	if (next) {
		for (int i = 0; i < TREE_DEPTH; i++) {
			*node = next;
			if (!read_word(target, next + (uint64_t)links[LEFT], &next))
				return false;
			if (!next)
				return true;
		}
		return false;
	}
	for (int i = 0; i < TREE_DEPTH; i++) {
		uint64_t left;
		if (!read_word(target, child + (uint64_t)links[PARENT], &next) || !next ||
		    !read_word(target, next + (uint64_t)links[LEFT], &left))
			return false;
		*node = next;
		if (left == child)
			return true;
		child = next;
	}
	return false;
}

static bool take_pair(struct lbx_target *target, const struct lbx_object *pair, struct lbx_object *ret,
		      char key[LBX_KEY_MAX])
{
	struct lbx_object first;

	if (!find_any(target, pair, "first", NULL, &first) || !find_any(target, pair, "second", NULL, ret))
		return false;
	lbx_container_key(target, &first, key);
	return true;
}

bool lbx_container_next(struct lbx_target *target, struct lbx_container *c, struct lbx_object *ret,
			char key[LBX_KEY_MAX])
{
	struct lbx_object element = c->element;
	uint64_t next;

	if ((c->kind != LBX_MAP && c->kind != LBX_LIST) || c->passed >= c->n || c->node == c->end ||
	    c->node == c->seen || !read_word(target, c->node + c->link_at, &next))
		return false;
	element.address = c->node + c->value_at;
	if (c->kind == LBX_LIST) {
		*ret = element;
		snprintf(key, LBX_KEY_MAX, "%" PRIu64, c->passed);
	} else if (!take_pair(target, &element, ret, key)) {
		return false;
	}
	/* a chain may lead back to where it came from */
	if ((c->passed & (c->passed - 1)) == 0)
		c->seen = c->node;
	c->passed++;
	if (!c->links)
		c->node = next;
	else if (!step_in_tree(target, c->links, &c->node))
		c->node = 0;
	return true;
}

/* ---- all of them ---- */

#define UNREAD(NAME) \
	"is a std::" NAME \
	", whose elements are not read: a variable that refers to one can be named, and `list` shows all tensors"

bool lbx_container_find(struct lbx_target *target, const struct lbx_object *object, struct lbx_container *ret)
{
	static const struct {
		const char *name;
		/* NULL: it is not read. */
		bool (*find)(struct lbx_target *target, const struct lbx_object *o, struct lbx_container *ret);
		const char *members[2]; /* by which a class of that name is one of theirs */
		const char *nothing;
	} classes[] = {
		{ "vector<bool",
		  NULL,
		  { "_M_start", "__begin_" },
		  "is a std::vector<bool>: its elements are bits, packed in words" },
		{ "vector<", find_vector, { "_M_start", "__begin_" }, NULL },
		{ "unique_ptr<", find_unique, { "_M_t", "__ptr_" }, NULL },
		{ "shared_ptr<", find_smart, { "_M_ptr", "__ptr_" }, NULL },
		{ "weak_ptr<", find_smart, { "_M_ptr", "__ptr_" }, NULL },
		{ "optional<", find_optional, { "_M_engaged", "__engaged_" }, NULL },
		{ "variant<", find_variant, { "_M_index", "__index" }, NULL },
		{ "array<", find_array, { "_M_elems", "__elems_" }, NULL },
		{ "span<", find_span, { "_M_ptr", "__data" }, NULL },
		{ "initializer_list<", find_span, { "_M_array", "__size_" }, NULL },
		{ "deque<", find_deque, { "_M_start", "__map_" }, NULL },
		{ "list<", find_list, { "_M_node", "__end_" }, NULL },
		{ "forward_list<", NULL, { "_M_head", "__before_begin_" }, UNREAD("forward_list") },
		{ "map<", find_map, { "_M_t", "__tree_" }, NULL },
		{ "multimap<", find_multimap, { "_M_t", "__tree_" }, NULL },
		{ "set<", find_set, { "_M_t", "__tree_" }, NULL },
		{ "multiset<", find_set, { "_M_t", "__tree_" }, NULL },
		{ "unordered_map<", find_table, { "_M_h", "__table_" }, NULL },
		{ "unordered_multimap<", find_unordered_multimap, { "_M_h", "__table_" }, NULL },
		{ "unordered_set<", find_unordered_set, { "_M_h", "__table_" }, NULL },
		{ "unordered_multiset<", find_unordered_set, { "_M_h", "__table_" }, NULL },
		{ "tuple<", find_tuple, { "", "" }, NULL },
		{ "reference_wrapper<", find_smart, { "_M_data", "__f_" }, NULL },
	};
	Dwarf_Die type = object->type;
	const char *name = lbx_type_is_struct(object->tag) ? dwarf_diename(&type) : NULL;
	struct lbx_object unused;

	for (size_t i = 0; name && i < sizeof classes / sizeof *classes; i++) {
		if (!begins(name, classes[i].name))
			continue;
		*ret = (struct lbx_container){ .object = *object, .alternative = -1 };
		if (classes[i].find && classes[i].find(target, object, ret))
			return true;
		const char *nothing = classes[i].find ? "cannot be read: it looks damaged" : classes[i].nothing;
		*ret = (struct lbx_container){ .kind = LBX_UNREAD, .nothing = nothing };
		return find_any(target, object, classes[i].members[0], NULL, &unused) ||
		       find_any(target, object, classes[i].members[1], NULL, &unused);
	}
	return false;
}

/* ---- parts by their types ---- */

/* `std::string` is what debug information calls basic_string<char, …>. */
static bool is_called(const char *own, const char *type)
{
	const char *name = type;
	int depth = 0;

	for (const char *c = type; *c; c++) {
		depth += (*c == '<') - (*c == '>');
		if (c[0] == ':' && c[1] == ':' && depth == 0)
			name = c + 2;
	}
	return own && (strcmp(own, name) == 0 || (strcmp(name, "string") == 0 && begins(own, "basic_string<char,")));
}

const char *lbx_container_part_name(struct lbx_target *target, const struct lbx_object *whole, int i)
{
	struct lbx_container c;
	struct lbx_object part;
	Dwarf_Die type = whole->type;
	bool is_there;

	if (begins(dwarf_diename(&type), "pair<"))
		is_there = i < 2 && argument(whole, i ? "_T2" : "_T1", &part);
	else if (lbx_container_find(target, whole, &c) && c.kind == LBX_TUPLE)
		is_there = lbx_container_at(target, &c, (uint64_t)i, &part); /* g++ does not tell its arguments */
	else
		is_there = argument_of_pack(whole, (uint64_t)i, &part);
	return is_there ? dwarf_diename(&part.type) : NULL;
}

int lbx_container_part(struct lbx_target *target, const struct lbx_object *whole, const char *type)
{
	for (int i = 0; i < LBX_TUPLE_MAX; i++)
		if (is_called(lbx_container_part_name(target, whole, i), type))
			return i;
	return -1;
}

/* The member by which a class leads to its record; NULL: it is none that does. */
static const char *pointer_of(const char *class)
{
	static const char *const pointers[][2] = { { "Tensor", "target_" },
						   { "TensorBase", "target_" },
						   { "array", "_M_ptr" } };

	for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
		if (strcmp(class, pointers[i][0]) == 0)
			return pointers[i][1];
	return NULL;
}

/* mlx-c's `typedef struct mlx_array_ { void *ctx; } mlx_array` leads to an array of MLX's, which begins with the address of its
 * record. */
static bool is_handle(const char *class)
{
	return strcmp(class, "mlx_array_") == 0 || strcmp(class, "mlx_array") == 0;
}

static bool follow_handle(struct lbx_target *target, const struct lbx_object *object, uint64_t *ret)
{
	struct lbx_object pointer;
	uint64_t value;

	return find_pointer(target, object, "ctx", &pointer, &value) && value && read_word(target, value, ret);
}

bool lbx_container_record(struct lbx_target *target, const struct lbx_object *object, uint64_t *ret)
{
	struct lbx_object at = *object, pointer;
	struct lbx_container c;

	for (int i = 0; i < MAX_WRAPPED && lbx_type_is_struct(at.tag); i++) {
		const char *name = dwarf_diename(&at.type);
		if (!name)
			return false;
		if (is_handle(name))
			return follow_handle(target, &at, ret);
		const char *member = pointer_of(name);
		if (member && find_pointer(target, &at, member, &pointer, ret))
			return true;
		if (member || !lbx_container_find(target, &at, &c) || c.nothing ||
		    (c.kind != LBX_HOLDS && c.kind != LBX_LEADS))
			return false;
		at = c.object;
		if (c.kind == LBX_LEADS)
			at.tag = lbx_type_of(&c.object.type, &at.type);
	}
	return false;
}

/* What is public is known to the class's users by its own name. */
static bool is_public(Dwarf_Die *member, int class)
{
	Dwarf_Attribute attribute;
	Dwarf_Word access;

	if (dwarf_attr(member, DW_AT_accessibility, &attribute) && dwarf_formudata(&attribute, &access) == 0)
		return access == DW_ACCESS_public;
	return class != DW_TAG_class_type;
}

/* A class's members, those of its bases included; its virtual table is none. False: it has more than one, or one that is
 * public. */
static bool count_members(struct lbx_object in, int depth, int *n, struct lbx_object *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die member;

	if (depth == MAX_DEPTH || dwarf_hasattr(&in.type, DW_AT_declaration))
		return false;
	if (dwarf_child(&in.type, &member) != 0)
		return true;
	do {
		int tag = dwarf_tag(&member);
		Dwarf_Word offset = 0;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&member, DW_AT_external) ||
		    dwarf_hasattr(&member, DW_AT_artificial) || begins(dwarf_diename(&member), "_vptr"))
			continue;
		if (dwarf_hasattr(&member, DW_AT_bit_size) ||
		    (dwarf_attr(&member, DW_AT_data_member_location, &attribute) &&
		     dwarf_formudata(&attribute, &offset) != 0))
			return false;
		struct lbx_object o = { .address = in.address + offset };
		o.tag = lbx_type_of(&member, &o.type);
		if (tag == DW_TAG_inheritance) {
			if (!lbx_type_is_struct(o.tag) || !count_members(o, depth + 1, n, ret))
				return false;
		} else if (++*n > 1 || is_public(&member, in.tag)) {
			return false;
		} else {
			*ret = o;
		}
	} while (dwarf_siblingof(&member, &member) == 0);
	return true;
}

bool lbx_wrapper_member(const struct lbx_object *object, struct lbx_object *ret)
{
	struct lbx_object at = *object;

	for (int depth = 0; depth < MAX_WRAPPED; depth++) {
		int n = 0;
		if ((at.tag != DW_TAG_class_type && at.tag != DW_TAG_structure_type) ||
		    !count_members(at, 0, &n, ret) || n != 1)
			return false;
		if (ret->tag == DW_TAG_pointer_type)
			return true;
		at = *ret;
	}
	return false;
}
