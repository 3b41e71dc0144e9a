/* What gdb knows of the program: expressions, the machine. These ask, and fail while gdb has still to
 * answer; they are a target's operations (target/target.h), and need nothing of the target itself. */
#ifndef LBX_PLUGIN_LOOKUP_GDB_H
#define LBX_PLUGIN_LOOKUP_GDB_H

#include "target/expression.h"
#include "target/target.h"

/* In the selected frame, in the user's language. */
bool lbx_gdb_evaluate(struct lbx_target *target, const char *expression, struct lbx_value *ret);
/* A handle among these variables, by the program's debug information: a pointer to what is called as a
 * record is. One of a namespace, whose name that is too, is at no record's address. */
bool lbx_find_handle(const struct lbx_variables_of *variables, const char *expression, struct lbx_value *ret);
/* Whether gdb says of the name that an expression begins with that it means nothing in the selected frame, nor anywhere. */
bool lbx_gdb_lacks(const char *expression);
/* A variable of the selected frame, of which who drives gdb knows what lbx_gdb_evaluate() would ask. */
void lbx_gdb_tell_pointer(const char *name, const char *type, uint64_t value);
/* An ELF machine: EM_X86_64, EM_AARCH64. */
bool lbx_gdb_machine(struct lbx_target *target, unsigned *ret);

#endif
