#ifndef LBX_MEMORY_H
#define LBX_MEMORY_H

#include "inspect/memory/holdings.h"

/* A group's key as a person reads it. */
void lbx_describe_group(struct lbx_context *context, const struct lbx_holding_group *group, enum lbx_by by, char *ret,
			size_t size);

#endif
