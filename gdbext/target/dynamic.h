/* What an object really is: a class that is derived from the one that a pointer's type names. Its virtual table tells (cxx_types.h),
 * and its debug information says what is in it. */
#ifndef LBX_DYNAMIC_H
#define LBX_DYNAMIC_H

#include "target/containers.h"
#include "target/lines.h"

enum { LBX_DYNAMIC_CLASSES = 64 };

/* Classes that were looked for, by their virtual tables: looking takes a walk over a module's debug information. */
struct lbx_dynamic_classes {
	unsigned n; /* the latest ones take the places of the first */
	struct lbx_dynamic_class {
		uint64_t vtable;
		bool is_known;
		Dwarf_Die type;
	} list[LBX_DYNAMIC_CLASSES];
};

/* The whole object of which this is a base. False, without error: it is no other than this one, or that is not certain. */
bool lbx_dynamic_object(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_object *object,
			struct lbx_object *ret);

#endif
