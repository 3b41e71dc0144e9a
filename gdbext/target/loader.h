/* The modules that a program has loaded, as its own loader lists them, and, where that list cannot be read, as its target
 * does: for any target, of a static program (one module), stripped or not. Nothing but two numbers of the auxiliary vector is needed, and nothing that is read is trusted:
 * counts are capped, the list may be a ring, and a module whose headers cannot be read is passed over. */
#ifndef LBX_LOADER_H
#define LBX_LOADER_H

#include <elf.h>

#include "target/target.h"

enum { LBX_SEGMENTS_MAX = 16, LBX_LOADER_HEADERS = 32 };

struct lbx_segment {
	uint64_t start, size;
	uint64_t from_file; /* bytes at its beginning that the file has; the others were 0 */
	bool writable, executable;
};

struct lbx_loaded {
	uint64_t bias; /* by which it lies beyond the addresses in its file */
	uint64_t dynamic; /* address of its dynamic section; 0: it has none */
	uint64_t headers; /* address of its program headers */
	uint64_t n_headers;
	uint64_t name; /* address of its path; 0: none is known */
	int n_segments;
	struct lbx_segment segments[LBX_SEGMENTS_MAX];
};

/* A walk over them. */
struct lbx_loader {
	struct lbx_target *target;
	struct lbx_loaded program;
	uint64_t libraries; /* address of the loader's struct r_debug; 0: there is none, or not yet */
	uint64_t next; /* the next entry of its list */
	int n;
	int pages; /* that were looked through for the beginnings of modules */
	/* the headers that were read last: those of one module, at once where that goes */
	uint64_t table_at;
	uint64_t n_table;
	Elf64_Phdr table[LBX_LOADER_HEADERS];
	/* the first memory that could not be read, and what it holds; NULL: all was read */
	uint64_t unread_at;
	const char *unread;
};

/* Begins with the program itself. Where its headers are is as AT_PHDR and AT_PHNUM say. */
void lbx_loader_begin(struct lbx_loader *loader, struct lbx_target *target, uint64_t at_phdr, uint64_t at_phnum);
/* Finds the loader's list, by the program's dynamic section; fails where that cannot be read. Without one there is
 * no list, and no error. */
bool lbx_loader_open_list(struct lbx_loader *loader);
/* The next module of the list, of which the program is one. False, without error, after the last. */
bool lbx_loader_next(struct lbx_loader *loader, struct lbx_loaded *ret);
/* The module whose ELF header is at `start`; false, without error, if there is none. */
bool lbx_loader_at(struct lbx_loader *loader, uint64_t start, struct lbx_loaded *ret);
/* Its i-th program header. False after the last, and where it cannot be read. */
bool lbx_loader_header(struct lbx_loader *loader, const struct lbx_loaded *m, uint64_t i, Elf64_Phdr *ret);
/* Reads; what cannot be read is noted. */
bool lbx_loader_peek(struct lbx_loader *loader, uint64_t address, void *to, size_t n, const char *what);

/* What shows, by two reads as a rule, whether a program may have loaded modules since its list was looked at. Those that
 * it was started with never go, and the loader itself comes last among them; later ones come behind it. All 0: nothing
 * is known yet. */
struct lbx_loader_watch {
	uint64_t random; /* the address of bytes that every start of a program draws anew (AT_RANDOM) */
	unsigned char drawn[16];
	uint64_t slot; /* of the program's dynamic section, for the address of the loader's data; 0: it is static */
	uint64_t loader; /* the loader's own entry of the list, or its first one; 0: there is no list yet */
};

/* Where the headers and those bytes are is as AT_PHDR, AT_PHNUM and AT_RANDOM say. False, without error, where they
 * cannot be read, or not the headers of all modules: another look may find more. */
bool lbx_loader_watch(struct lbx_target *target, uint64_t at_phdr, uint64_t at_phnum, uint64_t at_random,
		      struct lbx_loader_watch *ret);
/* A number that is another one where modules may have come. False, without error: it is another program, or none was
 * being watched. */
bool lbx_loader_watched(struct lbx_target *target, struct lbx_loader_watch *watch, uint64_t *ret);

/* All at once: the program first, then its libraries; at most `max`. 0: none could be read. */
int lbx_loaded_modules(struct lbx_target *target, struct lbx_loaded *ret, int max);
/* As many as there are, to be freed; NULL without memory. */
struct lbx_loaded *lbx_loaded_all(struct lbx_target *target, int *ret_n);
/* Whether there is one whose file's name begins so, as in "libc10.so": by their names alone, which is cheap. */
bool lbx_loaded_named(struct lbx_target *target, const char *begins);
/* The last part of the path at the address `name`, as in "libc10.so"; "", and false, without error: none is known. */
bool lbx_loaded_file(struct lbx_target *target, uint64_t name, char *ret, size_t size);
/* Which of n modules holds an address; -1: none. */
int lbx_loaded_at(const struct lbx_loaded *modules, int n, uint64_t address);
/* Whether what lies there is one's code. */
bool lbx_loaded_is_code(const struct lbx_loaded *modules, int n, uint64_t address);
/* Which of the module's segments holds an address; NULL: none. */
const struct lbx_segment *lbx_loaded_segment_at(const struct lbx_loaded *m, uint64_t address);
/* The addresses that the entries of its dynamic section with these tags (DT_SYMTAB, …) tell; 0: there is none. */
void lbx_loaded_dynamic(struct lbx_target *target, const struct lbx_loaded *m, const int64_t *tags, int n,
			uint64_t *ret);
/* The address of a function or variable that the module exports; false, without error, if it has none of that name. */
bool lbx_loaded_symbol(struct lbx_target *target, const struct lbx_loaded *m, const char *name, uint64_t *ret);

#endif
