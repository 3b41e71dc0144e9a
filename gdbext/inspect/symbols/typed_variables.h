/* Tensors as global variables with array types, for a debugger: an object of dwarf_object.h. */
#ifndef LBX_TYPED_VARIABLES_H
#define LBX_TYPED_VARIABLES_H

#include "inspect/command.h"
#include "inspect/symbols/dwarf_object.h"
#include "inspect/symbols/symbol_names.h"

/* The unit that the variables are of: gdb knows each as tensor::NAME. */
#define LBX_TYPED_UNIT "tensor"

enum lbx_outcome {
	LBX_IN_PLACE,
	LBX_STAYS_LAZY,
	LBX_REPLAYED,
	LBX_COPY,           /* of a view whose elements lie apart */
	LBX_COPY_OF_RESULT, /* of what may give way to something else, without a word */
	LBX_TOO_LARGE,
	LBX_WITHOUT_VALUE,  /* overwritten, on a device, … */
	LBX_UNREADABLE,
	LBX_OUTCOMES
};

/* bytes that are copied together */
enum { LBX_COPIES_MAX = 256 << 20 };

struct lbx_typed {
	const char *glob; /* on names; NULL: all */
	bool peek;        /* replay lazy tensors */
	int64_t limit;    /* bytes of a value that is copied */
	int64_t wanted;   /* bytes of the largest that is too large for that */
	struct lbx_symbol_space *space; /* what is in there is left out, what is made is added */
	/* what became of the tensors that have a name */
	int64_t n, counts[LBX_OUTCOMES], respelt, repeated;
	/* examples */
	char examples[LBX_OUTCOMES][64], a_respelt[2][64], a_repeated[2][64];
	char failure[256]; /* of the first replay that failed; or "" */
	struct lbx_dwarf *dwarf;
};

/* Fills in all below `space`; the caller destroys `dwarf`, also after a failure. */
bool lbx_typed_variables(struct lbx_context *context, struct lbx_typed *ret);

#endif
