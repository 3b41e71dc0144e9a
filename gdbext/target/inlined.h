/* The functions at a code address: the one whose code it is, and those inlined into it there. */
#ifndef LBX_INLINED_H
#define LBX_INLINED_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

enum { LBX_INLINED_MAX = 32 };

struct lbx_functions {
	uint64_t pc, bias;   /* pc as the module's DWARF counts; to add to addresses of it */
	int n_scopes;
	Dwarf_Die *scopes;   /* the innermost first, up to the function */
	int n_inlined;       /* functions that are inlined here, one within the other */
	int at[LBX_INLINED_MAX + 1]; /* scopes[at[i]]: the innermost function first, at last that which is
				      * called; -1: that is not known */
};

/* The unit with the code at an address, also where no table leads to it: clang writes none (aranges). NULL:
 * there is no debug information. */
Dwarf_Die *lbx_unit_at(Dwfl_Module *module, uint64_t pc, Dwarf_Addr *ret_bias);
/* False where there is no debug information. Else to be released. */
bool lbx_functions_at(Dwfl *dwfl, uint64_t pc, struct lbx_functions *ret);
void lbx_functions_release(struct lbx_functions *functions);
/* The name that function i has in its source; false: none. */
bool lbx_functions_name(const struct lbx_functions *functions, int i, char *ret, size_t size);
/* A source file's name as it was compiled, and as gdb shows it: of a unit that was compiled by a relative
 * name, those beneath the directory of the compilation are relative to it. Part of `path`. */
const char *lbx_name_in_unit(Dwarf_Die *unit, const char *path);
/* From where the inlined function i is called. */
bool lbx_functions_call(const struct lbx_functions *functions, int i, char *file, size_t size, int *ret_line);

#endif
