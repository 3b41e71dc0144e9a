/* An ELF object that holds nothing but DWARF: global data of a program, each a variable with its
 * type and its place. Every debugger takes such a file in beside the program's own symbols. */
#ifndef LBX_DWARF_OBJECT_H
#define LBX_DWARF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensors/tensors.h"

struct lbx_dwarf;

enum lbx_dwarf_encoding { LBX_BOOLEAN, LBX_SIGNED, LBX_UNSIGNED, LBX_FLOAT, LBX_COMPLEX };

/* Where a variable's bytes are. */
struct lbx_place {
	enum lbx_place_kind {
		LBX_NOWHERE, /* it has no value */
		LBX_BY_RECORD,
		LBX_COPIED,  /* in the object itself */
	} kind;
	uint64_t nbytes;
	/* As long as their conditions hold, the value begins `offset` bytes into the buffer that these words lead to;
	 * else there is none. */
	struct lbx_by_record {
		struct lbx_words words;
		uint64_t offset;
	} by_record;
	const void *bytes; /* nbytes, until the variable has been added */
};

/* `unit` is the name of the one source file that the variables seem to be of. NULL when memory is
 * out; the functions below remember it for lbx_dwarf_finish(). */
struct lbx_dwarf *lbx_dwarf_create(const char *unit);
void lbx_dwarf_destroy(struct lbx_dwarf *dwarf); /* NULL is fine */
/* A type is a number, never 0. */
uint32_t lbx_dwarf_number(struct lbx_dwarf *dwarf, const char *name, enum lbx_dwarf_encoding encoding, unsigned bytes);
/* Another name of a type. */
uint32_t lbx_dwarf_name(struct lbx_dwarf *dwarf, const char *name, uint32_t type);
uint32_t lbx_dwarf_array(struct lbx_dwarf *dwarf, uint32_t element, int rank, const int64_t *shape);
/* A variable that no function owns and that other units do not see: a name of the program's own
 * goes before it. */
void lbx_dwarf_variable(struct lbx_dwarf *dwarf, const char *name, uint32_t type, const struct lbx_place *place);
/* The object for a machine (EM_X86_64, …), at *ret until the dwarf is destroyed. Call it once. */
bool lbx_dwarf_finish(struct lbx_dwarf *dwarf, unsigned machine, const void **ret, size_t *n);

#endif
