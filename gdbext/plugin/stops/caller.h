/* Whose call a stop in a library is in. */
#ifndef LBX_PLUGIN_CALLER_H
#define LBX_PLUGIN_CALLER_H

#include "inspect/command.h"

/* What tells a library, and those that are built on it. */
struct lbx_library {
	uint64_t code; /* it is the module that holds this address */
	const char *begins; /* of the symbols that it exports, and those take from it */
	bool (*has)(const char *function); /* a function of that name, where it is part of the program itself */
};

/* The level of the innermost frame of the selected thread that is neither of the library, as ggml, nor of one that is built on it,
 * such as libllama: one with a line if there is, else with a name; else the outermost of theirs. -1: the frames are not known,
 * or not yet. */
int lbx_caller_level(struct lbx_context *context, const struct lbx_library *library);
/* Where the selected thread returns to when it leaves the module that it is in; 0: that is not known. *ret_within: the call that it
 * is in returns there first, within the module or not. False while the answer is awaited. */
bool lbx_caller_return(struct lbx_context *context, uint64_t *ret, uint64_t *ret_within);

#endif
