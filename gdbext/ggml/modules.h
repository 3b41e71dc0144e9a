/* Which modules of a program have to do with ggml, and what functions of theirs are on stacks. */
#ifndef LBX_GGML_MODULES_H
#define LBX_GGML_MODULES_H

#include "ggml/anchor.h"
#include "target/exports.h"
#include "target/stacks.h"

enum lbx_ggml_role {
	LBX_GGML_ROLE_OTHER, /* it does nothing with ggml, or is the program */
	LBX_GGML_ROLE_USER, /* it makes graphs */
	LBX_GGML_ROLE_OWNER, /* it has ggml, or a part of it */
	LBX_GGML_ROLE_WITHIN, /* the program itself, which has ggml */
};

struct lbx_ggml_modules {
	struct lbx_target *target;
	struct lbx_stacks *stacks;
	const struct lbx_loaded *list;
	int n;
	enum lbx_ggml_role *roles;
	struct lbx_exports *exports; /* of those with a role, by module */
};

/* Where a frame is. */
struct lbx_ggml_location {
	int module; /* -1: of none */
	enum lbx_ggml_role role;
	char name[LBX_EXPORT_NAME]; /* of its function; "" if not known */
	bool is_exported;
};

enum { LBX_GGML_LOCATION = 192 };

/* False only without memory; to be closed all the same. `list` must outlive it. */
bool lbx_ggml_modules_open(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *list, int n,
			   const struct lbx_ggml_anchor *anchor, struct lbx_ggml_modules *ret);
void lbx_ggml_modules_close(struct lbx_ggml_modules *modules);
void lbx_ggml_locate(const struct lbx_ggml_modules *m, const struct lbx_frame *frame, struct lbx_ggml_location *ret);
/* "llama_decode (libllama.so)", printable. */
void lbx_ggml_describe_location(const struct lbx_ggml_modules *m, const struct lbx_ggml_location *place,
				char ret[LBX_GGML_LOCATION]);
/* Of a function's name: where ggml is part of the program, with its libraries. */
bool lbx_ggml_is_of_library(const char *name);
/* Whether a frame may be that in which a worker begins: in a function that ggml does not export, among its own. Who else's
 * code is in one file with ggml has it elsewhere there. */
bool lbx_ggml_may_begin_worker(const struct lbx_ggml_modules *m, const struct lbx_frame *frame,
			       const struct lbx_ggml_location *place);
/* Whether what computes a graph is exported by a module, and so has a name on each stack that leads through it. */
bool lbx_ggml_exports_calls(const struct lbx_ggml_modules *m, int module);

#endif
