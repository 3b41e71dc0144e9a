/* Classes of C++ in a program, by their virtual tables: some base classes, and all that its modules derive from them. An
 * object leads to its class by its first word. */
#ifndef LBX_CXX_CLASSES_H
#define LBX_CXX_CLASSES_H

#include "target/cxx_types.h"
#include "target/loader.h"

enum { LBX_CXX_CLASSES = 128 };

struct lbx_cxx_class {
	uint64_t vtable; /* as objects have it in their first word */
	int base; /* which of the bases it is, or is derived from */
	char name[LBX_CXX_NAME]; /* "at::SparseTensorImpl" */
};

struct lbx_cxx_classes {
	int n;
	struct lbx_cxx_class list[LBX_CXX_CLASSES]; /* by vtable */
	uint64_t filter; /* by the lowest bits of their addresses beyond the alignment: most words are none */
};

/* Which classes are looked for. */
struct lbx_cxx_sought {
	const char *const
	    *bases; /* symbols of their type_infos, "_ZTIN3c1010TensorImplE", that some module exports; ended
				   * by NULL */
	const char *begins; /* only those whose mangled name begins so, "St23_Sp_counted_ptr_inplaceI"; NULL: all */
};

/* Of the modules, in which they may have several copies. False, quietly, where there are none. */
bool lbx_cxx_classes_find(struct lbx_target *target, const struct lbx_loaded *modules, int n,
			  const struct lbx_cxx_sought *sought, struct lbx_cxx_classes *ret);
/* Adds the class of objects whose first word is `vtable`, if it is one of those. False, quietly: it is none, or they are too
 * many. */
bool lbx_cxx_classes_add(struct lbx_target *target, const struct lbx_loaded *modules, int n,
			 const struct lbx_cxx_sought *sought, uint64_t vtable, struct lbx_cxx_classes *ret);
/* NULL: it is none of them. */
const struct lbx_cxx_class *lbx_cxx_class_at(const struct lbx_cxx_classes *classes, uint64_t vtable);

static inline bool lbx_cxx_may_be_class(const struct lbx_cxx_classes *classes, uint64_t word)
{
	return word && (word & 7) == 0 && (classes->filter >> (word >> 3 & 63) & 1);
}

#endif
