#include "target/inlined.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/demangle.h"

enum { MAX_SCOPES = 128, MAX_DIES = 1 << 20 };

Dwarf_Die *lbx_unit_at(Dwfl_Module *module, uint64_t pc, Dwarf_Addr *ret_bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, pc, ret_bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, ret_bias)))
		if (dwarf_haspc(unit, pc - *ret_bias) > 0)
			return unit;
	return NULL;
}

/* From the unit down to the innermost scope. */
struct chain {
	Dwarf_Die list[MAX_SCOPES];
	int n, dies;
};

/* What may hold functions has no addresses of its own: libdw's dwarf_getscopes() passes it by. */
static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* bodies: functions whose code is elsewhere are entered too, for a class within one may have the function. */
static void descend(struct chain *chain, Dwarf_Die *parent, uint64_t pc, bool bodies, int depth)
{
	Dwarf_Die die;

	if (depth == MAX_SCOPES || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die), before = chain->n;
		if (is_scope(tag) && dwarf_haspc(&die, pc) > 0 && chain->n < MAX_SCOPES) {
			chain->list[chain->n++] = die;
			descend(chain, &die, pc, bodies, depth + 1);
		} else if (may_hold_functions(tag) || (bodies && is_scope(tag))) {
			descend(chain, &die, pc, bodies, depth + 1);
		}
		if (chain->n > before)
			return;
	} while (chain->dies++ < MAX_DIES && dwarf_siblingof(&die, &die) == 0);
}

bool lbx_functions_at(Dwfl *dwfl, uint64_t pc, struct lbx_functions *ret)
{
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, pc) : NULL;
	Dwarf_Addr bias;
	Dwarf_Die *unit = module ? lbx_unit_at(module, pc, &bias) : NULL;
	struct chain chain = { .n = 0 };

	*ret = (struct lbx_functions){ .pc = pc };
	if (!unit)
		return false;
	ret->pc = pc - bias;
	ret->bias = bias;
	for (int bodies = 0; bodies < 2 && chain.n == 0; bodies++) {
		chain.dies = 0;
		descend(&chain, unit, ret->pc, bodies, 0);
	}
	ret->scopes = chain.n ? malloc((size_t)chain.n * sizeof *ret->scopes) : NULL;
	if (!ret->scopes)
		return false;
	for (int i = chain.n - 1; i >= 0; i--)
		ret->scopes[ret->n_scopes++] = chain.list[i];
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

const char *lbx_name_in_unit(Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_diename(unit), *directory = NULL;

	if (dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		directory = dwarf_formstring(&attribute);
	size_t n = directory ? strlen(directory) : 0;
	if (!name || name[0] == '/' || n == 0 || strncmp(path, directory, n) != 0 || path[n] != '/')
		return path;
	while (path[n] == '/')
		n++;
	return path + n;
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
	    line > INT32_MAX || !dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, NULL) != 0 ||
	    !(path = dwarf_filesrc(files, number, NULL, NULL)))
		return false;
	snprintf(file, size, "%s", lbx_name_in_unit(&unit, path));
	*ret_line = (int)line;
	return true;
}
