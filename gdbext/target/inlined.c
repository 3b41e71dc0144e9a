#include "target/inlined.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/demangle.h"

bool lbx_functions_at(Dwfl *dwfl, uint64_t pc, struct lbx_functions *ret)
{
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, pc) : NULL;
	Dwarf_Addr bias;
	Dwarf_Die *unit = module ? dwfl_module_addrdie(module, pc, &bias) : NULL;
	Dwarf_Die *inner = NULL;

	*ret = (struct lbx_functions){ .pc = pc };
	if (!unit)
		return false;
	ret->pc = pc - bias;
	ret->bias = bias;
	if (dwarf_getscopes(unit, ret->pc, &inner) > 0)
		/* the DIEs around the innermost one: for an inlined function, those that it was inlined into */
		ret->n_scopes = dwarf_getscopes_die(&inner[0], &ret->scopes);
	free(inner);
	if (ret->n_scopes <= 0)
		return false;
	for (int i = 0; i < ret->n_scopes; i++) {
		int tag = dwarf_tag(&ret->scopes[i]);
		ret->at[ret->n_inlined] = i;
		if (tag == DW_TAG_subprogram)
			return true;
		if (tag == DW_TAG_inlined_subroutine && ++ret->n_inlined == LBX_INLINED_MAX)
			break;
	}
	ret->at[ret->n_inlined] = -1;
	return true;
}

void lbx_functions_release(struct lbx_functions *functions)
{
	free(functions->scopes);
	functions->scopes = NULL;
}

bool lbx_functions_name(const struct lbx_functions *functions, int i, char *ret, size_t size)
{
	Dwarf_Die *die = functions->at[i] < 0 ? NULL : &functions->scopes[functions->at[i]];
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (die && (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
		    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute)))
		name = dwarf_formstring(&attribute);
	if (die && !name)
		name = dwarf_diename(die);
	if (!name || !*name)
		return false;
	lbx_demangle(name, ret, size);
	return true;
}

bool lbx_functions_call(const struct lbx_functions *functions, int i, char *file, size_t size, int *ret_line)
{
	Dwarf_Die *die = functions->at[i] < 0 ? NULL : &functions->scopes[functions->at[i]], unit;
	Dwarf_Attribute attribute;
	Dwarf_Word number, line;
	Dwarf_Files *files;
	const char *path;

	if (!die || !dwarf_attr(die, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
	    !dwarf_attr(die, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line) != 0 ||
	    line > INT32_MAX || !dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, NULL) != 0 || !(path = dwarf_filesrc(files, number, NULL, NULL)))
		return false;
	snprintf(file, size, "%s", path);
	*ret_line = (int)line;
	return true;
}
