#ifndef LBX_MEMORY_H
#define LBX_MEMORY_H

#include "inspect/memory/holdings.h"

enum { LBX_MARKS_MAX = 32 };

/* Snapshots by name, which a front end keeps as long as it lives (context->marks). */
struct lbx_memory_marks {
	int n;
	struct {
		char name[64];
		struct lbx_snapshot snapshot;
	} list[LBX_MARKS_MAX];
};

void lbx_memory_marks_deinit(struct lbx_memory_marks *marks);
/* A group's key as a person reads it. */
void lbx_describe_group(struct lbx_context *context, const struct lbx_holding_group *group, enum lbx_by by, char *ret,
			size_t size);

#endif
