/* Types of variables in debug information. */
#ifndef LBX_TYPE_H
#define LBX_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* The type of a variable, a member or an array's elements, or what a pointer leads to, without typedefs
 * and qualifiers; its tag, 0 when there is none. */
int lbx_type_of(Dwarf_Die *die, Dwarf_Die *ret);
bool lbx_type_is_pointer(int tag); /* or a reference */
bool lbx_type_is_struct(int tag);  /* a class, a union */
/* Whether two classes, perhaps of different units, have one name and size. */
bool lbx_type_is_same(Dwarf_Die *a, Dwarf_Die *b);
enum { LBX_TYPE_AXES = 16 };
/* How many elements each axis of an array has, 0 where that is not told; returns how many axes. */
int lbx_type_axes(Dwarf_Die *array, uint64_t ret[LBX_TYPE_AXES]);
/* A number of this type whose bits are the lowest of `bits`, extended to 64 as its width and its sign ask.
 * False where the width is not known, or is more than 8 bytes. */
bool lbx_type_extend(Dwarf_Die *type, int tag, uint64_t bits, uint64_t *ret);
/* What such bits mean as a number, a character, a bool or an enumerator; *ret_is_whole: not a floating-point number. False: the
 * type has none of these. */
bool lbx_type_number(Dwarf_Die *type, int tag, uint64_t bits, double *ret, bool *ret_is_whole);

#endif
