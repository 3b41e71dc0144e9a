#include "target/type.h"

#include <dwarf.h>
#include <string.h>

enum { MAX_PEELED = 32 };

/* The type behind typedefs and qualifiers; its tag, 0 when there is none. */
static int peel(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	*ret = *die;
	for (int i = 0; i < MAX_PEELED; i++) {
		int tag = dwarf_tag(ret);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
		    tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
			return tag > 0 ? tag : 0;
		Dwarf_Die inner;
		if (!dwarf_attr_integrate(ret, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &inner))
			return 0;
		*ret = inner;
	}
	return 0;
}

int lbx_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, &type)
		   ? peel(&type, ret)
		   : 0;
}

bool lbx_type_is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool lbx_type_is_struct(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool lbx_type_is_same(Dwarf_Die *a, Dwarf_Die *b)
{
	const char *name = dwarf_diename(a), *other = dwarf_diename(b);
	Dwarf_Word size, other_size;

	return name && other && strcmp(name, other) == 0 && dwarf_aggregate_size(a, &size) == 0 &&
	       dwarf_aggregate_size(b, &other_size) == 0 && size == other_size;
}

int lbx_type_axes(Dwarf_Die *array, uint64_t ret[LBX_TYPE_AXES])
{
	Dwarf_Attribute attribute;
	Dwarf_Die child;
	int n = 0;

	if (dwarf_child(array, &child) != 0)
		return 0;
	do {
		Dwarf_Word count = 0;
		if (dwarf_tag(&child) != DW_TAG_subrange_type || n == LBX_TYPE_AXES)
			continue;
		if (dwarf_attr(&child, DW_AT_count, &attribute))
			dwarf_formudata(&attribute, &count);
		else if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) && dwarf_formudata(&attribute, &count) == 0)
			count++;
		ret[n++] = count;
	} while (dwarf_siblingof(&child, &child) == 0);
	return n;
}

/* In some compilers' words an enumeration has an encoding of its own, in others' that of a type of numbers. */
static bool is_signed(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	Dwarf_Die base;

	if (dwarf_tag(type) == DW_TAG_enumeration_type && !dwarf_hasattr(type, DW_AT_encoding))
		return lbx_type_of(type, &base) == DW_TAG_base_type && is_signed(&base);
	return dwarf_attr(type, DW_AT_encoding, &attribute) && dwarf_formudata(&attribute, &encoding) == 0 &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char);
}

bool lbx_type_extend(Dwarf_Die *type, int tag, uint64_t bits, uint64_t *ret)
{
	Dwarf_Word size = sizeof bits;

	if (!lbx_type_is_pointer(tag) && dwarf_aggregate_size(type, &size) != 0)
		return false;
	if (size == 0 || size > sizeof bits)
		return false;
	unsigned above = 64 - 8 * (unsigned)size;
	*ret = is_signed(type) ? (uint64_t)((int64_t)(bits << above) >> above) : bits << above >> above;
	return true;
}

bool lbx_type_number(Dwarf_Die *type, int tag, uint64_t bits, double *ret, bool *ret_is_whole)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = DW_ATE_signed, size;
	uint32_t low = (uint32_t)bits;
	float narrow;

	if ((tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type) || dwarf_aggregate_size(type, &size) != 0)
		return false;
	if (tag == DW_TAG_base_type &&
	    (!dwarf_attr(type, DW_AT_encoding, &attribute) || dwarf_formudata(&attribute, &encoding) != 0))
		return false;
	*ret_is_whole = encoding != DW_ATE_float;
	if (*ret_is_whole) {
		*ret = is_signed(type) ? (double)(int64_t)bits : (double)bits;
		return true;
	}
	memcpy(&narrow, &low, sizeof narrow);
	memcpy(ret, &bits, sizeof *ret);
	if (size == sizeof narrow)
		*ret = narrow;
	return size == sizeof narrow || size == sizeof *ret;
}
