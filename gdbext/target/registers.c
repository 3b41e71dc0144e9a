#include "target/registers.h"

#include <signal.h>
#include <string.h>
#include <sys/procfs.h>

#include "target/target.h"

void lbx_registers_decode(const struct user_regs_struct *from, struct lbx_registers *ret)
{
#if defined __x86_64__
	const uint64_t r[LBX_REGISTERS] = {
		from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi, from->rbp, from->rsp,
		from->r8, from->r9, from->r10, from->r11, from->r12, from->r13, from->r14, from->r15,
	};
	ret->pc = from->rip;
#elif defined __aarch64__
	uint64_t r[LBX_REGISTERS];
	memcpy(r, from->regs, 31 * sizeof *r);
	r[31] = from->sp;
	ret->pc = from->pc;
#else
	const uint64_t r[LBX_REGISTERS] = { 0 };
	(void)from;
	ret->pc = 0;
#endif
	memcpy(ret->r, r, sizeof ret->r);
	ret->known = (uint32_t)((1ULL << LBX_REGISTERS) - 1);
}

bool lbx_registers_of_note(const void *note, uint64_t n, struct lbx_registers *ret,
			   struct lbx_death *death)
{
	struct elf_prstatus status;
	struct user_regs_struct registers;

	if (n < sizeof status)
		return false;
	memcpy(&status, note, sizeof status);
	memcpy(&registers, &status.pr_reg, sizeof registers);
	lbx_registers_decode(&registers, ret);
	ret->tid = (uint64_t)(uint32_t)status.pr_pid;
	if (death->tid == 0) {
		death->tid = ret->tid;
		death->signal = status.pr_cursig;
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
