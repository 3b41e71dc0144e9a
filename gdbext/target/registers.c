#include "target/registers.h"

#include <signal.h>
#include <string.h>
#include <sys/procfs.h>

#include "target/printable.h"
#include "target/target.h"

static const struct lbx_machine machines[] = {
	{
		/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15; rbx, rbp, rsp, r12 to r15 are
		 * preserved */
	    .elf = EM_X86_64,
	    .n = 16,
	    .stack_pointer = 7,
	    .frame_pointer = 6,
	    .link = -1,
	    .preserved = 0xf0c8,
	    .words = 27,
	    .pc_at = 16,
	    .thread_at = 21, /* fs_base */
	    .at = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0 },
	},
	{
		/* x0 to x30, sp; x19 to x29, sp are preserved */
	    .elf = EM_AARCH64,
	    .n = 32,
	    .stack_pointer = 31,
	    .frame_pointer = 29,
	    .link = 30,
	    .preserved = 0xbff80000,
	    .words = 34,
	    .pc_at = 32,
	    .thread_at = -1,
	    .at = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
	},
};

const struct lbx_machine *lbx_machine(unsigned elf)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i].elf == elf)
			return &machines[i];
	return NULL;
}

void lbx_registers_decode(const struct lbx_machine *machine, const void *words, struct lbx_registers *ret)
{
	const char *from = words;

	for (int i = 0; i < machine->n; i++)
		memcpy(&ret->r[i], from + machine->at[i] * sizeof *ret->r, sizeof *ret->r);
	memcpy(&ret->pc, from + (size_t)machine->pc_at * sizeof ret->pc, sizeof ret->pc);
	if (machine->thread_at >= 0)
		memcpy(&ret->thread, from + (size_t)machine->thread_at * sizeof ret->thread, sizeof ret->thread);
	ret->known = (uint32_t)((1ULL << machine->n) - 1);
	ret->machine = machine;
}

bool lbx_stack_pointer(const struct lbx_registers *registers, uint64_t *ret)
{
	const struct lbx_machine *machine = registers->machine;

	if (!machine || !(registers->known >> machine->stack_pointer & 1))
		return false;
	*ret = registers->r[machine->stack_pointer];
	return true;
}

/* struct elf_prstatus on all machines of 64 bits. */
enum { SIGNAL_AT = 12, TID_AT = 32, REGISTERS_AT = 112 };

bool lbx_registers_of_note(const struct lbx_machine *machine, const void *note, uint64_t n, struct lbx_registers *ret,
			   struct lbx_death *death)
{
	const char *status = note;
	uint32_t tid;
	uint16_t signal;

	if (n < REGISTERS_AT + (uint64_t)machine->words * 8)
		return false;
	memcpy(&tid, status + TID_AT, sizeof tid);
	memcpy(&signal, status + SIGNAL_AT, sizeof signal);
	*ret = (struct lbx_registers){ .tid = tid };
	lbx_registers_decode(machine, status + REGISTERS_AT, ret);
	if (death->tid == 0) {
		death->tid = ret->tid;
		death->signal = signal;
	}
	return true;
}

void lbx_death_of_siginfo(const void *note, uint64_t n, struct lbx_death *ret)
{
	siginfo_t info;

	if (n < sizeof info || ret->has_address)
		return;
	memcpy(&info, note, sizeof info);
	if (info.si_signo != ret->signal)
		return;
	ret->code = info.si_code;
	ret->has_code = true;
	ret->has_sender = info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE;
	if (ret->has_sender) {
		ret->sender = (uint32_t)info.si_pid;
		ret->user = info.si_uid;
	}
	/* above 0 the kernel itself has sent it: below, somebody's kill() */
	ret->has_address = info.si_code > 0 && (info.si_signo == SIGSEGV || info.si_signo == SIGBUS ||
						info.si_signo == SIGILL || info.si_signo == SIGFPE);
	if (ret->has_address)
		ret->address = (uint64_t)(uintptr_t)info.si_addr;
}

void lbx_death_of_psinfo(const void *note, uint64_t n, struct lbx_death *ret)
{
	struct elf_prpsinfo info;

	if (n < sizeof info)
		return;
	memcpy(&info, note, sizeof info);
	ret->pid = (uint64_t)(uint32_t)info.pr_pid;
	memcpy(ret->command, info.pr_psargs, sizeof info.pr_psargs);
	ret->command[sizeof ret->command - 1] = '\0';
	lbx_make_printable(ret->command);
	for (size_t i = strlen(ret->command); i > 0 && ret->command[i - 1] == ' '; i--)
		ret->command[i - 1] = '\0';
}
