#include "target/containers.h"

#include <dwarf.h>
#include <string.h>

#include "target/type.h"

enum { MAX_DEPTH = 8, MAX_DIES = 512 };

/* The pointer of that name anywhere within an object: its type, and its value. */
struct search {
	struct lbx_target *target;
	const char *name;
	int dies;
	Dwarf_Die type;
	uint64_t value;
};

static bool find(struct search *s, Dwarf_Die *type, uint64_t address, int depth);

static bool look_at(struct search *s, Dwarf_Die *member, uint64_t address, int depth)
{
	const char *name = dwarf_diename(member);
	Dwarf_Attribute attribute;
	Dwarf_Word offset = 0;
	Dwarf_Die type;

	if (dwarf_hasattr(member, DW_AT_external) ||
	    (dwarf_attr(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &offset) != 0))
		return false;
	int tag = lbx_type_of(member, &type);
	if (lbx_type_is_struct(tag))
		return find(s, &type, address + offset, depth + 1);
	if (tag != DW_TAG_pointer_type || !name || strcmp(name, s->name) != 0)
		return false;
	s->type = type;
	return lbx_target_try_read(s->target, address + offset, &s->value, sizeof s->value);
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

static bool find_vector(struct lbx_target *target, Dwarf_Die *type, uint64_t address, struct lbx_container *ret)
{
	struct search start = { .target = target, .name = "_M_start" },
		      finish = { .target = target, .name = "_M_finish" };
	Dwarf_Word width = sizeof(uint64_t);

	if (!find(&start, type, address, 0) || !find(&finish, type, address, 0))
		return false;
	int tag = lbx_type_of(&start.type, &ret->type);
	if (tag == 0 || (!lbx_type_is_pointer(tag) && dwarf_aggregate_size(&ret->type, &width) != 0) || width == 0)
		return false;
	uint64_t bytes = finish.value - start.value;
	ret->is_pointer = false;
	ret->tag = tag;
	ret->address = start.value;
	ret->width = width;
	ret->n = start.value && finish.value >= start.value && bytes % width == 0 ? bytes / width : 0;
	return true;
}

static bool find_pointer(struct lbx_target *target, const char *name, Dwarf_Die *type, uint64_t address,
			 struct lbx_container *ret)
{
	struct search pointer = { .target = target, .name = name };

	if (!find(&pointer, type, address, 0))
		return false;
	*ret = (struct lbx_container){
		.is_pointer = true, .type = pointer.type, .tag = DW_TAG_pointer_type, .address = pointer.value
	};
	return true;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

bool lbx_container_find(struct lbx_target *target, Dwarf_Die *type, uint64_t address, struct lbx_container *ret)
{
	const char *name = dwarf_diename(type);

	if (!name)
		return false;
	if (begins(name, "vector<"))
		return find_vector(target, type, address, ret);
	if (begins(name, "unique_ptr<"))
		return find_pointer(target, "_M_head_impl", type, address, ret);
	return begins(name, "shared_ptr<") && find_pointer(target, "_M_ptr", type, address, ret);
}
