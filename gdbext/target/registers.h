/* A thread's registers by their DWARF numbers, and what the kernel says of a death. */
#ifndef LBX_REGISTERS_H
#define LBX_REGISTERS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#if defined __x86_64__
#define LBX_MACHINE EM_X86_64
enum { LBX_REGISTERS = 16, LBX_STACK_POINTER = 7 };
/* rbx, rbp, rsp, r12 to r15: those that a function must leave as they were */
enum { LBX_PRESERVED = 1 << 3 | 1 << 6 | 1 << 7 | 0xf000 };
#elif defined __aarch64__
#define LBX_MACHINE EM_AARCH64
enum { LBX_REGISTERS = 32, LBX_STACK_POINTER = 31 };
/* x19 to x29, sp */
static const uint32_t LBX_PRESERVED = 0x3ff80000 | 1u << 31;
#else
#define LBX_MACHINE EM_NONE
enum { LBX_REGISTERS = 1, LBX_STACK_POINTER = 0, LBX_PRESERVED = 0 };
#endif

struct lbx_registers {
	uint64_t tid;
	uint64_t pc;
	uint32_t known; /* bit n: r[n] is right */
	uint64_t r[LBX_REGISTERS];
};

struct lbx_threads {
	int n;
	struct lbx_registers *list;
};

/* Zero and "" where nothing is known. */
struct lbx_death {
	uint64_t pid, tid; /* tid: of the thread that died */
	int signal, code;
	bool has_address;  /* of the access, for SIGSEGV, SIGBUS, SIGILL, SIGFPE */
	uint64_t address;
	char command[81];  /* the first words of the command line */
};

/* From user_regs_struct, the form in which ptrace and cores give them. */
void lbx_registers_decode(const struct user_regs_struct *from, struct lbx_registers *ret);
/* From a core's notes. Damaged ones change nothing; the first is of the thread that died. */
bool lbx_registers_of_note(const void *note, uint64_t n, struct lbx_registers *ret,
			   struct lbx_death *death);
void lbx_death_of_siginfo(const void *note, uint64_t n, struct lbx_death *ret);
void lbx_death_of_psinfo(const void *note, uint64_t n, struct lbx_death *ret);

#endif
