/* Variables for scripts, where the front end has such: gdb's $tensor_…. A command sets what it
 * tells of; the others keep their values. */
#ifndef LBX_CONVENIENCE_H
#define LBX_CONVENIENCE_H

#include "inspect/out.h"

struct lbx_context;
struct lbx_tensor;

struct lbx_convenience {
	const char *name;
	const char *commands; /* that set it, or who */
	const char *meaning;
};

/* All there are, ended by one without a name; for the table of gdbext/README.md. */
extern const struct lbx_convenience lbx_conveniences[];

void lbx_set_int(struct lbx_out *out, const char *name, int64_t value);
void lbx_set_double(struct lbx_out *out, const char *name, double value);
/* $tensor_id, …: of the tensor that a command is about. */
void lbx_set_tensor(struct lbx_out *out, const struct lbx_tensor *t);
/* The number of one of these, or of any that the user has, "$i", by which a tensor is told: 1 at least. */
bool lbx_get_number(struct lbx_context *context, const char *name, uint64_t *ret);

#endif
