/* A side of a comparison: a tensor of the same program, of a core file, or an array in a file. */
#ifndef LBX_OPERAND_H
#define LBX_OPERAND_H

#include "inspect/operand/array_file.h"
#include "inspect/operand/select.h"
#include "inspect/replay/replay.h"

struct lbx_operand {
	struct lbx_array array;
	char label[LBX_SELECTION_MAX];
	char name[LB_NAME_MAX + 1];   /* of a tensor, without its slice */
	bool was_lazy;                /* the value is a replay's */
	/* Of a whole product of two matrices that could be exchanged: an expression of what that would be, "#7 @ #3", and what
	 * the two are called; or "". */
	char exchanged[2 * LBX_ID_TEXT_MAX + 8], factors[2][80];
	int64_t group; /* elements that were quantised together; 0: none were */
	char format[24]; /* how, as lbx_format_error() names it; or "" */
	struct lbx_context context; /* where a tensor of another program was found; else without a target */
	struct lbx_replayed replayed;
	struct lbx_array_file file;
};

/* What was selected; a lazy tensor is replayed. */
bool lbx_operand_selected(struct lbx_context *context, const struct lbx_selection *selection, struct lbx_operand *ret);
/* T[slice] in the context's program. */
bool lbx_operand_tensor(struct lbx_context *context, const char *text, struct lbx_operand *ret);
/* What it was computed from, computed again outside the program, though it may have a value. */
bool lbx_operand_again(struct lbx_context *context, const char *text, struct lbx_operand *ret);
/* FILE[:NAME], CORE:T[slice], pid/PID:T[slice], or T[slice]; `like` names the array of a file that holds several. */
bool lbx_operand_any(struct lbx_context *context, const char *text, const char *like, struct lbx_operand *ret);
/* Sets the format by the array's encoding. */
void lbx_operand_take_format(struct lbx_operand *operand);
/* Where FILE ends in FILE:NAME; 0: nowhere. */
size_t lbx_operand_path_end(const char *text);
/* Whether a path is that of an ELF file that can be read, as a core is. */
bool lbx_operand_is_elf(const char *path);
void lbx_operand_release(struct lbx_operand *operand);

#endif
