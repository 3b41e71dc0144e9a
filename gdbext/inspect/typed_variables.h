/* Tensors as global variables with array types, for a debugger: an object of dwarf_object.h. */
#ifndef LBX_TYPED_VARIABLES_H
#define LBX_TYPED_VARIABLES_H

#include "inspect/command.h"
#include "inspect/dwarf_object.h"

/* The unit that the variables are of: gdb knows each as tensor::NAME. */
#define LBX_TYPED_UNIT "tensor"

struct lbx_typed {
	const char *glob; /* on names; NULL: all */
	bool peek;        /* replay lazy tensors */
	int64_t limit;    /* bytes of a value that is copied */
	/* what became of the tensors that have a name */
	int64_t n, in_place, lazy, replayed, copied, too_large, damaged, respelt, repeated;
	/* examples */
	char a_copied[64], a_respelt[2][64], a_repeated[2][64];
	char failure[256]; /* of the first replay that failed; or "" */
	struct lbx_dwarf *dwarf;
};

/* Fills in all below the first three; the caller destroys `dwarf`, also after a failure. */
bool lbx_typed_variables(struct lbx_context *context, struct lbx_typed *ret);

#endif
