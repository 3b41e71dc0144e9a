#include "plugin/reads/selected.h"

#include <gdb/jit-reader.h>
#include <gelf.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/debug_info.h"
#include "plugin/reads/target_gdb.h"
#include "target/inlined.h"
#include "target/unwind.h"

enum { FEW_FRAMES = 4 }; /* in most cases it is one of these */

static struct gdb_unwind_callbacks *look;

void lbx_selected_gdb_look(struct gdb_unwind_callbacks *callbacks)
{
	look = callbacks;
}

/* The number by which DWARF has the program counter. gdb ends where it is asked for a number that its target has not. */
#if defined __x86_64__
enum { PC = 16 };
#else
enum { PC = -1 };
#endif

static bool read_register(int number, uint64_t *ret)
{
	struct gdb_reg_value *value = look->reg_get(look, number);

	if (!value)
		return false;
	bool is_read = value->defined && value->size == sizeof *ret;
	if (is_read)
		memcpy(ret, value->value, sizeof *ret);
	if (value->free)
		value->free(value);
	return is_read;
}

static int take_machine(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, void *machine)
{
	GElf_Addr bias;
	GElf_Ehdr header;
	Elf *elf = dwfl_module_getelf(module, &bias);

	(void)data, (void)name, (void)base;
	if (!elf || !gelf_getehdr(elf, &header))
		return DWARF_CB_OK;
	*(unsigned *)machine = header.e_machine;
	return DWARF_CB_ABORT;
}

/* By any of its modules. */
static bool is_of_this_machine(struct lbx_lines *lines)
{
	Dwfl *dwfl = lbx_lines_dwfl(lines);
	unsigned machine = EM_NONE;

	if (dwfl)
		dwfl_getmodules(dwfl, take_machine, &machine, 0);
	return machine == LBX_MACHINE;
}

/* Those of the innermost frame. */
static bool read_registers(struct lbx_lines *lines, struct lbx_registers *ret)
{
	const struct lbx_machine *machine = lbx_machine(LBX_MACHINE);

	*ret = (struct lbx_registers){ .machine = machine };
	if (!machine || !is_of_this_machine(lines) || !read_register(PC, &ret->pc))
		return false;
	for (int i = 0; i < machine->n; i++)
		if (read_register(i, &ret->r[i]))
			ret->known |= 1u << i;
	return ret->known == (1ull << machine->n) - 1;
}

/* That one alone. */
static bool find(const struct lbx_stack *stack, const struct lbx_bridge_place *place, struct lbx_frame *ret)
{
	int found = 0;

	for (int i = 0; i < stack->n; i++) {
		const struct lbx_frame *frame = &stack->frames[i];
		if (frame->pc != place->pc || frame->registers.r[frame->registers.machine->stack_pointer] != place->sp)
			continue;
		found++;
		*ret = *frame;
		ret->level = i;
	}
	return found == 1 && ret->cfa;
}

static bool has_inlined(struct lbx_lines *lines, const struct lbx_frame *frame)
{
	struct lbx_functions f;

	if (!lbx_functions_at(lbx_lines_dwfl(lines), lbx_frame_code(frame), &f))
		return true;
	bool has = f.n_inlined > 0;
	lbx_functions_release(&f);
	return has;
}

/* Whether what is looked at can be walked. */
static bool can_walk(struct lbx_target *target, struct lbx_lines **ret_lines)
{
	if (PC < 0 || !look || lbx_target_gdb_liveness() == LBX_REMOTE)
		return false;
	*ret_lines = lbx_debug_info_gdb(target);
	return *ret_lines;
}

int lbx_innermost_gdb(struct lbx_target *target, struct lbx_frame ret[LBX_INNERMOST_FRAMES],
		      struct lbx_lines **ret_lines)
{
	struct lbx_stack stack = { .frames = ret };
	struct lbx_registers registers;
	bool clean = lb_ok();

	if (!can_walk(target, ret_lines) || !read_registers(*ret_lines, &registers))
		return 0;
	lbx_unwind_dwfl(target, *ret_lines, &registers, false, LBX_INNERMOST_FRAMES, &stack);
	if (clean)
		lb_clear_error();
	return stack.n;
}

bool lbx_selected_gdb(struct lbx_target *target, struct lbx_frame *ret, struct lbx_lines **ret_lines)
{
	struct lbx_frame frames[LBX_INNERMOST_FRAMES];
	struct lbx_stack stack = { .frames = frames };
	struct lbx_bridge_place place;
	struct lbx_registers registers;
	bool clean = lb_ok();

	if (!can_walk(target, ret_lines) || !lbx_bridge_place(&place) || !read_registers(*ret_lines, &registers))
		return false;
	lbx_unwind_dwfl(target, *ret_lines, &registers, false, FEW_FRAMES, &stack);
	bool found = find(&stack, &place, ret);
	if (!found && stack.n == FEW_FRAMES) {
		lbx_unwind_dwfl(target, *ret_lines, &registers, false, LBX_INNERMOST_FRAMES, &stack);
		found = find(&stack, &place, ret);
	}
	if (clean)
		lb_clear_error();
	return found && !has_inlined(*ret_lines, ret);
}
