#include "target/containers.h"

#include <dwarf.h>
#include <string.h>

#include "target/type.h"

enum { MAX_DEPTH = 8, MAX_DIES = 512, MAX_WRAPPED = 4 };

/* The pointer of that name anywhere within an object, or whatever has it: its type, where it is, and a pointer's value. */
struct search {
	struct lbx_target *target;
	const char *name, *beside; /* a member of that name is not entered; or NULL */
	bool is_any;
	int dies, tag;
	Dwarf_Die type;
	uint64_t at, value;
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
	s->tag = tag;
	s->at = address + offset;
	if (s->is_any && name && strcmp(name, s->name) == 0) {
		s->type = type;
		return true;
	}
	if (lbx_type_is_struct(tag) && name && s->beside && strcmp(name, s->beside) == 0)
		return false;
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

/* The value that a std::optional has, or a c10::optional; false: none. */
static bool find_optional(struct lbx_target *target, Dwarf_Die *type, uint64_t address, Dwarf_Die *ret_type,
			  uint64_t *ret)
{
	static const char *const names[][2] = { { "_M_engaged", "_M_value" }, { "init_", "value_" } };
	unsigned char is_there = 0;

	for (int i = 0; i < 2; i++) {
		struct search flag = { .target = target, .name = names[i][0], .beside = names[i][1], .is_any = true },
			      value = { .target = target, .name = names[i][1], .is_any = true };
		if (!find(&flag, type, address, 0) || !find(&value, type, address, 0) || !lbx_type_is_struct(value.tag))
			continue;
		*ret_type = value.type;
		*ret = value.at;
		return lbx_target_try_read(target, flag.at, &is_there, 1) && is_there == 1;
	}
	return false;
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

static bool follow_handle(struct lbx_target *target, Dwarf_Die *type, uint64_t address, uint64_t *ret)
{
	struct lbx_container c;

	return find_pointer(target, "ctx", type, address, &c) && c.address &&
	       lbx_target_try_read(target, c.address, ret, sizeof *ret);
}

bool lbx_container_record(struct lbx_target *target, Dwarf_Die *type, uint64_t address, uint64_t *ret)
{
	struct lbx_container c;
	Dwarf_Die at = *type, next;

	for (int i = 0; i < MAX_WRAPPED; i++) {
		const char *name = dwarf_diename(&at);
		if (!name)
			return false;
		if (is_handle(name))
			return follow_handle(target, &at, address, ret);
		const char *pointer = pointer_of(name);
		if (pointer) {
			bool found = find_pointer(target, pointer, &at, address, &c);
			*ret = found ? c.address : 0;
			return found;
		}
		if (begins(name, "optional<")) {
			if (!find_optional(target, &at, address, &next, &address))
				return false;
		} else if (!begins(name, "vector<") && lbx_container_find(target, &at, address, &c) && c.address) {
			address = c.address;
			if (!lbx_type_is_struct(lbx_type_of(&c.type, &next)))
				return false;
		} else {
			return false;
		}
		at = next;
	}
	return false;
}
