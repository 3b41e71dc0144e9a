/* libdwfl keeps one set of callbacks for as long as its modules: whose turn it is stands in
 * `current`, which the set's own argument points to. */
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "target/unwind.h"

struct walk {
	struct lbx_target *target;
	struct lbx_lines *lines;
	const struct lbx_registers *registers;
	bool after_call;
	int max;
	struct lbx_stack *ret;
};

static _Thread_local struct walk *current;

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)arg;
	if (*thread_arg)
		return 0;
	*thread_arg = current;
	return 1;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	(void)dwfl;
	(void)arg;
	return lbx_target_try_read(current->target, address, ret, sizeof *ret);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word r[LBX_REGISTERS];

	(void)arg;
	memcpy(r, current->registers->r, sizeof r);
	dwfl_thread_state_register_pc(thread, current->registers->pc);
	return dwfl_thread_state_registers(thread, 0, (unsigned)current->registers->machine->n, r);
}

static int take_frame(Dwfl_Frame *state, void *arg)
{
	const struct lbx_machine *machine = current->registers->machine;
	struct lbx_stack *stack = current->ret;
	struct lbx_frame *frame = &stack->frames[stack->n];
	bool activation;
	Dwarf_Addr pc;
	Dwarf_Word value;

	(void)arg;
	memset(frame, 0, sizeof *frame);
	if (!dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;
	frame->pc = pc;
	frame->after_call = stack->n ? !activation : current->after_call;
	frame->registers.pc = pc;
	frame->registers.machine = machine;
	for (int i = 0; i < machine->n; i++) {
		if (dwfl_frame_reg(state, (unsigned)i, &value) != 0)
			continue;
		frame->registers.r[i] = value;
		if (stack->n == 0 || !frame->after_call || (machine->preserved >> i & 1))
			frame->registers.known |= 1u << i;
	}
	if (stack->n)
		stack->frames[stack->n - 1].cfa = frame->registers.r[machine->stack_pointer];
	/* beyond code of no module libdwfl would guess, and on aarch64 wrongly */
	stack->n++;
	return stack->n == current->max || !lbx_lines_known(current->lines, pc - frame->after_call) ? DWARF_CB_ABORT
												    : DWARF_CB_OK;
}

bool lbx_unwind_dwfl(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_registers *registers,
		     bool after_call, int max, struct lbx_stack *ret)
{
	static const Dwfl_Thread_Callbacks callbacks = {
		.next_thread = next_thread,
		.memory_read = read_memory,
		.set_initial_registers = set_registers,
	};
	struct walk walk = { target, lines, registers, after_call, max, ret };
	Dwfl *dwfl = lbx_lines_dwfl(lines);

	*ret = (struct lbx_stack){ .frames = ret->frames };
	if (!dwfl || !registers->machine)
		return false;
	current = &walk;
	bool attached = dwfl_pid(dwfl) > 0 || dwfl_attach_state(dwfl, NULL, 1, &callbacks, NULL);
	int done = attached ? dwfl_getthread_frames(dwfl, 1, take_frame, NULL) : -1;
	current = NULL;
	ret->cut = ret->n == max;
	if (done != 0 && ret->n < max)
		snprintf(ret->end, sizeof ret->end, "cannot find the caller: %s",
			 attached && done < 0 ? dwfl_errmsg(-1) : "the code belongs to no known file");
	return done == 0;
}

bool lbx_unwind_has_rules(struct lbx_lines *lines, uint64_t pc)
{
	Dwfl *dwfl = lbx_lines_dwfl(lines);
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, pc) : NULL;
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias;
	bool found = false;

	for (int i = 0; module && !found && i < 2; i++) {
		Dwarf_CFI *cfi = i ? dwfl_module_dwarf_cfi(module, &bias) : dwfl_module_eh_cfi(module, &bias);
		found = cfi && dwarf_cfi_addrframe(cfi, pc - bias, &frame) == 0;
		free(frame);
		frame = NULL;
	}
	return found;
}
