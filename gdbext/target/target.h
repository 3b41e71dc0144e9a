/* A target: a program seen from outside, alive or dead. It is how bytes are read, and
 * the few questions that only a debugger can answer. Everything above it (table/,
 * inspect/) works on any target.
 *
 * Rules of a target:
 *   - read() gives all the bytes or fails (base/error.h) naming the first address that
 *     could not be read; a byte that a core did not save is a fault, never a zero;
 *   - optional functions may be NULL; use the lbx_target_*() wrappers, which say so. */
#ifndef LBX_TARGET_H
#define LBX_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_target;

/* A code address as a person reads it. Any string may be "" (unknown). */
struct lbx_source_line {
	char function[256];
	char file[256];
	int line;
};

/* What an expression of the debugged language came to. */
struct lbx_value {
	uint64_t bits;  /* the value, extended to 64 bits as its type asks; for a pointer the address */
	char type[128]; /* as the debugger prints it, e.g. "lb_tensor *" */
};

struct lbx_range {
	uint64_t start, size;
};

/* Bytes, and time. */
struct lbx_footprint {
	uint64_t resident;     /* in memory; shared ones, too */
	uint64_t proportional; /* where each shared one counts for its share */
	uint64_t own;          /* nobody else's */
	uint64_t swapped;
	uint64_t cpu_ns; /* that its threads have run, together */
	unsigned threads;
};

enum lbx_copied {
	LBX_NOT_COPIED,     /* it is not needed, as the program stands still, or could not be done */
	LBX_COPIED_RUNNING, /* while the program runs: parts are of different moments */
	LBX_COPIED_STILL
};

struct lbx_build_id {
	unsigned n; /* 0: none, or not known */
	uint8_t bytes[64];
};

/* How the file that a module's names come from compares with what the program had loaded. */
enum lbx_verdict {
	LBX_MODULE_SAME,     /* it has the same build id; without one, the same headers */
	LBX_MODULE_UNPROVEN, /* there is nothing to compare it by, but it was not modified since */
	LBX_MODULE_FORCED,   /* it is another, and used all the same */
	LBX_MODULE_DIFFERS,  /* the others are not used */
	LBX_MODULE_UNDATED,  /* nothing to compare it by, and when the core was written is not known */
	LBX_MODULE_NEWER,    /* nothing to compare it by, and it was modified since */
	LBX_MODULE_MISSING,
};

/* An ELF file that the program had loaded. */
struct lbx_module {
	uint64_t start, end;
	bool is_program;
	const char *path; /* where the program had it from */
	const char *file; /* the one here that is compared; NULL: there is none */
	struct lbx_build_id wanted, found; /* of the program's, and of this file */
	enum lbx_verdict verdict;
	const char *advice; /* how to tell where its file is now; NULL: none */
};

struct lbx_target_ops {
	bool (*read)(struct lbx_target *target, uint64_t address, void *to, size_t n);
	/* The bytes in place, if the target has them mapped contiguously; else NULL, no error. */
	const void *(*map)(struct lbx_target *target, uint64_t address, size_t n);
	/* The same memory, for who reads much of it: a target whose read() is quicker, and may be called
	 * by several threads at once; it belongs to this one, until the command ends. NULL, also as an
	 * answer: there is none. May answer "not yet", as below. */
	struct lbx_target *(*direct)(struct lbx_target *target);
	/* Where the symbol table's root is. Fails with why: no runtime in the program, … */
	bool (*find_root)(struct lbx_target *target, uint64_t *ret);
	/* Both may answer "not yet": they fail quietly (no lb_fail), the front end then asks the
	 * debugger, and runs the whole command again with the answer at hand. So a command has
	 * no effect before its last question, and may carry on after an unanswered one. */
	bool (*source_line)(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret);
	bool (*evaluate)(struct lbx_target *target, const char *expression, struct lbx_value *ret);
	/* Whether one of this run's questions has no answer yet: what is found out without it is
	 * for nothing. NULL: never. */
	bool (*waits)(struct lbx_target *target);
	/* The first memory at or above `from` that the program may write and that can be read; false,
	 * without error, when there is none. NULL: not known. */
	bool (*range)(struct lbx_target *target, uint64_t from, struct lbx_range *ret);
	/* The processor, as ELF files name it (EM_X86_64, …). Quiet like source_line. NULL: this one. */
	bool (*machine)(struct lbx_target *target, unsigned *ret);
	/* Writes into the program's memory (flags for the runtime); live targets only. */
	bool (*write)(struct lbx_target *target, uint64_t address, const void *from, size_t n);
	/* Whether the bytes can be read, where who reads them otherwise (a debugger) would see zeros instead;
	 * fails as read would. NULL: there is no such memory. */
	bool (*saved)(struct lbx_target *target, uint64_t address, uint64_t n);
	/* The i-th module by address; its strings live as long as the target. False, without error, after
	 * the last. NULL: not known. */
	bool (*module)(struct lbx_target *target, size_t i, struct lbx_module *ret);
	/* Whether bytes that nobody has asked for may be read, to have them when they are: not where who sees
	 * them would have to be told of it. NULL: yes. */
	bool (*read_ahead)(struct lbx_target *target, uint64_t address, uint64_t n);
	/* The number that the system has for it, which the runtime learns after a fork() has returned. False,
	 * without error, or NULL: not known. */
	bool (*pid)(struct lbx_target *target, uint64_t *ret);
	/* The number that the system has for a thread, by the one that the program knows, which is another one in a
	 * container. NULL: the same. */
	uint64_t (*thread)(struct lbx_target *target, uint64_t own);
	/* Whether the program goes on while it is read. NULL: it never does. */
	bool (*runs)(struct lbx_target *target);
	/* From here on what is read stays as it is when it is first read, until the target is destroyed, also through direct(). A
	 * program that this target holds still runs on after that, if `let_go`, and if what its variables, small allocations
	 * and stacks hold could be copied: then all is of that moment. NULL: nothing is kept. */
	enum lbx_copied (*copy)(struct lbx_target *target, bool let_go);
	/* Before it is held, to be let go after that: makes ready what copying it takes, so that it is not held for longer than the bytes need. NULL:
	 * there is nothing to prepare. */
	void (*prepare)(struct lbx_target *target);
	/* What has been copied at once, as range tells memory. NULL, or false for 0: nothing has been. */
	bool (*copied)(struct lbx_target *target, uint64_t from, struct lbx_range *ret);
	/* The same memory, for who goes through much of it, most of which is of no interest: a target that keeps nothing of what it
	 * reads. It belongs to this one. NULL: this one does. */
	struct lbx_target *(*glance)(struct lbx_target *target);
	/* A target that reads what memory holds now, whatever was copied; it belongs to this one. NULL: this one does. */
	struct lbx_target *(*now)(struct lbx_target *target);
	/* That so many records changed while they were looked at, and are left out: for the notice. NULL: they cannot. */
	void (*changed)(struct lbx_target *target, uint64_t n);
	/* A number that stays the same for as long as the program stands still, and is another one when it has run,
	 * or is another program. Without an error: it runs, or this is not known. NULL: not known. May answer
	 * "not yet", as above. */
	bool (*moment)(struct lbx_target *target, uint64_t *ret);
	/* A number that stays the same for as long as the program, and the modules that it has loaded, do: another
	 * one where there may be more of them. For who asks at each command, so cheap. Quiet; false: not known. NULL:
	 * likewise. May answer "not yet", as above. */
	bool (*loaded)(struct lbx_target *target, uint64_t *ret);
	/* The address of the program's own headers, and how many there are (AT_PHDR and AT_PHNUM of its auxiliary
	 * vector). Quiet like source_line. NULL: not known. */
	bool (*headers)(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n);
	/* What the system says that the program takes; and how many of these bytes are in memory. Quiet like
	 * source_line; NULL: not known. */
	bool (*footprint)(struct lbx_target *target, struct lbx_footprint *ret);
	bool (*resident)(struct lbx_target *target, uint64_t address, uint64_t n, uint64_t *ret);
	/* A sentence about what was read since the last call, for who sees it; false: there is none. */
	bool (*notice)(struct lbx_target *target, char *ret, size_t size);
	void (*destroy)(struct lbx_target *target);
};

/* Where the program is. */
enum lbx_liveness { LBX_UNKNOWN, LBX_LIVE, LBX_REMOTE, LBX_CORE };

/* Implementations embed this as their first member. */
struct lbx_target {
	const struct lbx_target_ops *ops;
	enum lbx_liveness liveness;
	bool is_truncated; /* a core file that ends before it should */
};

/* "live process", "truncated core file": for a person. */
const char *lbx_target_kind(const struct lbx_target *target);

bool lbx_target_read(struct lbx_target *target, uint64_t address, void *to, size_t n);
/* As read, but quietly: no error is left. */
bool lbx_target_try_read(struct lbx_target *target, uint64_t address, void *to, size_t n);
const void *lbx_target_map(struct lbx_target *target, uint64_t address, size_t n);
struct lbx_target *lbx_target_direct(struct lbx_target *target);
/* A NUL-terminated string of at most `size` - 1 bytes; cut when longer. */
bool lbx_target_read_string(struct lbx_target *target, uint64_t address, char *to, size_t size);
bool lbx_target_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret);
bool lbx_target_evaluate(struct lbx_target *target, const char *expression, struct lbx_value *ret);
bool lbx_target_waits(struct lbx_target *target);
bool lbx_target_range(struct lbx_target *target, uint64_t from, struct lbx_range *ret);
bool lbx_target_machine(struct lbx_target *target, unsigned *ret);
bool lbx_target_write(struct lbx_target *target, uint64_t address, const void *from, size_t n);
bool lbx_target_saved(struct lbx_target *target, uint64_t address, uint64_t n);
bool lbx_target_module(struct lbx_target *target, size_t i, struct lbx_module *ret);
/* The one that holds an address. */
bool lbx_target_module_at(struct lbx_target *target, uint64_t address, struct lbx_module *ret);
/* Whether a file of this name is a library that programs of any kind have: C's, C++'s, the loader; or our runtime. */
bool lbx_is_common_library(const char *name);
/* Whether names come from its file. */
bool lbx_module_is_used(const struct lbx_module *module);
/* "is missing", "has another build id (…, not …)": why its names are not known, or doubtful. */
void lbx_module_why(const struct lbx_module *module, char *ret, size_t size);
enum { LBX_BUILD_ID_TEXT = 2 * 64 + 1 };
/* In hexadecimal digits; "none" without one. */
void lbx_build_id_text(const struct lbx_build_id *id, char ret[LBX_BUILD_ID_TEXT]);
/* Whether [address, address + n) may be read for what lies in it. */
bool lbx_target_read_ahead(struct lbx_target *target, uint64_t address, uint64_t n);
uint64_t lbx_target_thread(struct lbx_target *target, uint64_t own);
bool lbx_target_runs(struct lbx_target *target);
enum lbx_copied lbx_target_copy(struct lbx_target *target, bool let_go);
void lbx_target_prepare(struct lbx_target *target);
bool lbx_target_copied(struct lbx_target *target, uint64_t from, struct lbx_range *ret);
struct lbx_target *lbx_target_glance(struct lbx_target *target);
struct lbx_target *lbx_target_now(struct lbx_target *target);
void lbx_target_changed(struct lbx_target *target, uint64_t n);
bool lbx_target_moment(struct lbx_target *target, uint64_t *ret);
bool lbx_target_loaded(struct lbx_target *target, uint64_t *ret);
bool lbx_target_headers(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n);
bool lbx_target_footprint(struct lbx_target *target, struct lbx_footprint *ret);
bool lbx_target_resident(struct lbx_target *target, uint64_t address, uint64_t n, uint64_t *ret);
bool lbx_target_notice(struct lbx_target *target, char *ret, size_t size);
void lbx_target_destroy(struct lbx_target *target); /* NULL is fine */

/* Walks the program's own loader data for the runtime's ELF note: from AT_PHDR to the main
 * program's PT_NOTEs, and through PT_DYNAMIC's DT_DEBUG to those of every loaded module.
 * Serves targets that have no other way: stripped and static programs. */
bool lbx_find_root_by_note(struct lbx_target *target, uint64_t at_phdr, uint64_t at_phnum, uint64_t *ret);
/* Likewise, in one module whose ELF header is at `start`. False without error where it has no note;
 * with one where its note leads to no symbol table. */
bool lbx_find_root_in_module(struct lbx_target *target, uint64_t start, uint64_t *ret);

#endif
