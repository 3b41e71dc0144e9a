/* A call is told with the address that it returns to, with the function that is called, and with what the registers have then, as
 * expressions over what the caller still knows: its variables' places, what it was called with itself. Where the frame's function
 * came to run by a jump in place of a return, the call was another's: so the function that the call names must be the frame's,
 * and must not come back to itself by such jumps. */
#include "target/entry_value.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "target/inlined.h"
#include "target/lines.h"

enum { MAX_CALLERS = 16, MAX_ASKS = 32 /* for one value */, MAX_DEPTH = 64, MAX_DIES = 1 << 16, MAX_JUMPED = 32 };

static bool is_call(int tag)
{
	return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

static bool flag_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool is = false;

	return dwarf_attr(die, name, &attribute) && dwarf_formflag(&attribute, &is) == 0 && is;
}

static bool is_jump(Dwarf_Die *call)
{
	return flag_of(call, DW_AT_call_tail_call) || flag_of(call, DW_AT_GNU_tail_call);
}

static bool returns_to(Dwarf_Die *call, uint64_t pc)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;
	bool is_gnu = dwarf_tag(call) == DW_TAG_GNU_call_site;

	return dwarf_attr(call, is_gnu ? DW_AT_low_pc : DW_AT_call_return_pc, &attribute) &&
	       dwarf_formaddr(&attribute, &address) == 0 && address == pc;
}

/* ---- functions ---- */

/* What it is an instance of, or is declared as. */
static void find_origin(Dwarf_Die *function, Dwarf_Die *ret)
{
	static const unsigned ways[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Attribute attribute;
	Dwarf_Die to;

	*ret = *function;
	for (int i = 0; i < 2; i++)
		if (dwarf_attr(ret, ways[i], &attribute) && dwarf_formref_die(&attribute, &to))
			*ret = to;
}

static const char *linked_name(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute))
		return dwarf_formstring(&attribute);
	return dwarf_diename(function);
}

/* Of one unit it is one entry; of others a function that all units see has its name. */
static bool is_same(Dwarf_Die *a, Dwarf_Die *b)
{
	Dwarf_Die first, second;

	find_origin(a, &first);
	find_origin(b, &second);
	if (first.addr == second.addr)
		return true;
	const char *name = linked_name(a), *other = linked_name(b);
	return name && other && strcmp(name, other) == 0 && dwarf_hasattr_integrate(a, DW_AT_external) &&
	       dwarf_hasattr_integrate(b, DW_AT_external);
}

static bool find_called(Dwarf_Die *call, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return (dwarf_attr(call, DW_AT_call_origin, &attribute) ||
		dwarf_attr(call, DW_AT_abstract_origin, &attribute)) &&
	       dwarf_formref_die(&attribute, ret);
}

/* ---- jumps in place of a return ---- */

struct jumps {
	Dwarf_Die unit, function; /* whether that is come back to */
	Dwarf_Die seen[MAX_JUMPED];
	int n, dies;
};

static bool may_come_back(struct jumps *j, Dwarf_Die *function);

/* The code of a function of this unit. */
static bool find_code(struct jumps *j, Dwarf_Die *of, Dwarf_Die *ret)
{
	if (dwarf_child(&j->unit, ret) != 0)
		return false;
	do
		if (dwarf_tag(ret) == DW_TAG_subprogram && is_same(ret, of) &&
		    (dwarf_hasattr(ret, DW_AT_low_pc) || dwarf_hasattr(ret, DW_AT_ranges)))
			return true;
	while (j->dies++ < MAX_DIES && dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* Of another unit's function it is not known. */
static bool jump_may_come_back(struct jumps *j, Dwarf_Die *call)
{
	Dwarf_Die called, code;

	return !find_called(call, &called) || is_same(&called, &j->function) || !find_code(j, &called, &code) ||
	       may_come_back(j, &code);
}

static bool scope_may_come_back(struct jumps *j, Dwarf_Die *scope, int depth)
{
	Dwarf_Die die;

	if (dwarf_child(scope, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (is_call(tag) && is_jump(&die) && jump_may_come_back(j, &die))
			return true;
		if (is_scope(tag) && (depth == MAX_DEPTH || scope_may_come_back(j, &die, depth + 1)))
			return true;
	} while (j->dies++ < MAX_DIES && dwarf_siblingof(&die, &die) == 0);
	return j->dies >= MAX_DIES;
}

static bool may_come_back(struct jumps *j, Dwarf_Die *function)
{
	for (int i = 0; i < j->n; i++)
		if (j->seen[i].addr == function->addr)
			return false; /* its jumps are being looked at */
	if (j->n == MAX_JUMPED)
		return true;
	j->seen[j->n++] = *function;
	return scope_may_come_back(j, function, 0);
}

/* ---- the call ---- */

static bool find_call(Dwarf_Die *scope, uint64_t pc, int depth, int *dies, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(scope, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		if (is_call(tag) && returns_to(&die, pc)) {
			*ret = die;
			return true;
		}
		if (is_scope(tag) && find_call(&die, pc, depth + 1, dies, ret))
			return true;
	} while ((*dies)++ < MAX_DIES && dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* The value of a parameter that is in that register. */
static bool find_parameter(Dwarf_Die *call, uint64_t number, Dwarf_Attribute *ret)
{
	Dwarf_Attribute location;
	Dwarf_Die die;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_child(call, &die) != 0)
		return false;
	do {
		if (!dwarf_attr(&die, DW_AT_location, &location) || dwarf_getlocation(&location, &ops, &n) != 0 ||
		    n != 1)
			continue;
		bool is_it = (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31 &&
			      (uint64_t)(ops[0].atom - DW_OP_reg0) == number) ||
			     (ops[0].atom == DW_OP_regx && ops[0].number == number);
		if (is_it)
			return dwarf_attr(&die, DW_AT_call_value, ret) ||
			       dwarf_attr(&die, DW_AT_GNU_call_site_value, ret);
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* In the caller, whose function these are the scopes of. */
static bool evaluate(const struct lbx_scope *scope, const struct lbx_frame *caller, struct lbx_functions *f,
		     uint64_t number, uint64_t *ret)
{
	struct jumps jumps = { .function = *scope->function };
	Dwarf_Die *function = f->at[f->n_inlined] < 0 ? NULL : &f->scopes[f->at[f->n_inlined]], call, called;
	struct lbx_scope at = { .target = scope->target,
				.frame = caller,
				.pc = f->pc,
				.bias = f->bias,
				.function = function,
				.lines = scope->lines,
				.callers = scope->callers + 1,
				.asks = scope->asks };
	struct lbx_location value;
	Dwarf_Attribute attribute;
	int dies = 0;

	if (!function || !find_call(function, caller->pc - f->bias, 0, &dies, &call) || is_jump(&call) ||
	    !find_called(&call, &called) || !is_same(&called, scope->function) ||
	    !find_parameter(&call, number, &attribute) || !dwarf_diecu(scope->function, &jumps.unit, NULL, NULL) ||
	    may_come_back(&jumps, scope->function) || !lbx_locate(&at, &attribute, &value))
		return false;
	*ret = value.value; /* of a call it is the value also where it looks like an address */
	return true;
}

bool lbx_entry_value(const struct lbx_scope *from, uint64_t number, uint64_t *ret)
{
	int asks = MAX_ASKS;
	struct lbx_scope here = *from;
	const struct lbx_scope *scope = &here;
	lbx_caller_fn *find_caller = lbx_lines_caller(scope->lines);
	struct lbx_functions f;
	struct lbx_frame caller;

	if (!here.asks)
		here.asks = &asks;
	if (!find_caller || !scope->function || --*here.asks < 0 || scope->callers == MAX_CALLERS ||
	    !find_caller(scope->target, scope->lines, scope->frame, &caller) || !caller.after_call ||
	    !lbx_functions_at(lbx_lines_dwfl(scope->lines), lbx_frame_code(&caller), &f))
		return false;
	bool done = evaluate(scope, &caller, &f, number, ret);
	lbx_functions_release(&f);
	return done;
}
