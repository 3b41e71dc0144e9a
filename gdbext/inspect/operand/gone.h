/* When and where a tensor that had a name went, as far as the program's flight recorder goes back. */
#ifndef LBX_GONE_H
#define LBX_GONE_H

#include "inspect/command.h"

/* "#12 went 3 evaluations ago, freed by main at train.c:42": the last that had the name; where that is NULL, the one with
 * this record that went last; where that is 0, the one with this number: "it went …". False, without an error: none is known. */
bool lbx_describe_gone(struct lbx_context *context, const char *name, uint64_t record, uint64_t id, char *ret,
		       size_t size);

#endif
