/* A thread's registers by their DWARF numbers, and what the kernel says of a death. */
#ifndef LBX_REGISTERS_H
#define LBX_REGISTERS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LBX_REGISTERS = 32 };

/* A kind of machine: its registers by their DWARF numbers, and where Linux puts them. */
struct lbx_machine {
	unsigned elf;       /* EM_… */
	int n;              /* registers, LBX_REGISTERS at most */
	int stack_pointer, frame_pointer;
	int link;           /* that which holds a callee's return address; -1: the stack does */
	uint32_t preserved; /* those that a function must leave as they were */
	/* user_regs_struct, the form in which ptrace and cores give them, in words of 8 bytes */
	int words, pc_at;
	int thread_at; /* of these the one that is the thread's own address; -1: none */
	uint8_t at[LBX_REGISTERS];
};

/* Any, from the number of its ELF files; NULL: its registers are not known. */
const struct lbx_machine *lbx_machine(unsigned elf);
/* What this reader runs on. */
#if defined __x86_64__
#define LBX_MACHINE EM_X86_64
#elif defined __aarch64__
#define LBX_MACHINE EM_AARCH64
#else
#define LBX_MACHINE EM_NONE
#endif

struct lbx_registers {
	const struct lbx_machine *machine;
	uint64_t tid;
	uint64_t pc;
	uint64_t thread; /* where what the C library keeps of the thread is; 0: not known */
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
	bool has_code;     /* else `code` is not known */
	bool has_address;  /* of the access, for SIGSEGV, SIGBUS, SIGILL, SIGFPE */
	uint64_t address;
	bool has_sender;   /* somebody's kill() or the like has sent the signal, maybe its own */
	uint32_t sender, user; /* the process; 0: one that it cannot see, outside its container; and whose that was */
	char command[81];  /* the first words of the command line */
};

/* False where it is not known. */
bool lbx_stack_pointer(const struct lbx_registers *registers, uint64_t *ret);

/* From machine->words words of user_regs_struct. */
void lbx_registers_decode(const struct lbx_machine *machine, const void *words, struct lbx_registers *ret);
/* From a core's notes, which are alike on all machines but for the registers. Damaged ones change
 * nothing; the first is of the thread that died. */
bool lbx_registers_of_note(const struct lbx_machine *machine, const void *note, uint64_t n, struct lbx_registers *ret,
			   struct lbx_death *death);
void lbx_death_of_siginfo(const void *note, uint64_t n, struct lbx_death *ret);
void lbx_death_of_psinfo(const void *note, uint64_t n, struct lbx_death *ret);

#endif
