/* Moments that memory is compared with. They are compared by what buffers have in common, never by address or
 * id: the second may be another run. */
#ifndef LBX_POINTS_H
#define LBX_POINTS_H

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
/* Takes the snapshot over, and says so; an earlier mark of this name goes. An error where the front end
 * does not live on, or has no room for more. */
bool lbx_memory_mark(struct lbx_context *context, const char *name, struct lbx_snapshot *snapshot);

/* A mark, what lbx_point_save() wrote, or a core. */
struct lbx_point {
	const struct lbx_snapshot *snapshot; /* described */
	struct lbx_snapshot read; /* of a file */
};
/* To be closed where it was opened. */
bool lbx_point_open(struct lbx_context *context, const char *name, struct lbx_point *ret);
void lbx_point_close(struct lbx_point *point);
bool lbx_point_save(struct lbx_context *context, const char *path, struct lbx_snapshot *snapshot);

#endif
