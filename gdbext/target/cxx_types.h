/* What tells the class of an object at run time (the Itanium C++ ABI, 2.9.5): its first word leads into a virtual table, which
 * has a type_info in front of its functions: a name, and the classes it is derived from. */
#ifndef LBX_CXX_TYPES_H
#define LBX_CXX_TYPES_H

#include "target/target.h"

enum { LBX_CXX_NAME = 96, LBX_CXX_MANGLED = 256 };

/* The name that a type_info has, as the linker has it, without the "_Z" in front; false, quietly: it is none. */
bool lbx_cxx_type_mangled(struct lbx_target *target, uint64_t type, char ret[LBX_CXX_MANGLED]);
/* Likewise, demangled. */
bool lbx_cxx_type_name(struct lbx_target *target, uint64_t type, char ret[LBX_CXX_NAME]);
/* The type_info in front of a virtual table, as objects have that in their first word; false, quietly: there is none. */
bool lbx_cxx_type_of(struct lbx_target *target, uint64_t vtable, uint64_t *ret);
/* Likewise of any virtual table of a class: also how far its part of an object is from where the whole begins, which is 0 or less. */
bool lbx_cxx_type_within(struct lbx_target *target, uint64_t vtable, int64_t *ret_top, uint64_t *ret);
/* Whether it is that class, by its mangled name, or its first base leads to it. */
bool lbx_cxx_type_is(struct lbx_target *target, uint64_t type, const char *mangled);

#endif
