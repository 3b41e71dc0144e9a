#include "plugin/ggml/caller.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/modules.h"
#include "target/exports.h"
#include "target/loader.h"

enum { MAX_FRAMES = 64 };

/* Whether it takes functions of ggml. */
static bool is_built_on_ggml(struct lbx_target *target, const struct lbx_loaded *m)
{
	struct lbx_exports exports = { 0 };
	char name[LBX_EXPORT_NAME];
	bool found = false;

	if (!lbx_exports_open(target, m, &exports))
		lb_clear_error();
	for (size_t i = 0; i < exports.n_imports && !found; i++)
		found = lbx_exports_import(&exports, i, name) && strncmp(name, "ggml_", 5) == 0;
	lbx_exports_close(&exports);
	return found;
}

/* Where ggml is part of the program itself, its functions have its names. */
static bool is_of_ggml(struct lbx_context *context, const struct lbx_loaded *modules, int n, uint64_t code,
		       const struct lbx_frame *frame, const struct lbx_source_line *line)
{
	int module = lbx_loaded_at(modules, n, lbx_frame_code(frame));

	if (module < 0)
		return false;
	if (module > 0)
		return module == lbx_loaded_at(modules, n, code) || is_built_on_ggml(context->target, &modules[module]);
	return lbx_ggml_is_of_library(line->function) || (lbx_loaded_at(modules, n, code) == 0 && !line->function[0]);
}

/* A worker of ggml's has no other caller. */
static bool begins_thread(const char *function)
{
	static const char *const names[] = { "start_thread", "clone",    "clone3",
					     "__clone",      "__clone3", "gomp_thread_start" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(function, names[i]) == 0)
			return true;
	return false;
}

int lbx_caller_level(struct lbx_context *context, uint64_t code)
{
	int n_modules, theirs = -1, named = -1, with_line = -1;
	struct lbx_stack stack = { 0 };
	struct lbx_source_line line;
	uint64_t tid;

	if (!context->stacks || context->stacks->ops->threads(context->stacks, &tid, 1) < 1 ||
	    !context->stacks->ops->walk(context->stacks, tid, MAX_FRAMES, 0, &stack))
		return -1;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(context->target, &n_modules);
	for (int i = 0; modules && i < stack.n && with_line < 0; i++) {
		const struct lbx_frame *frame = &stack.frames[i];
		if (!context->stacks->ops->line(context->stacks, frame, &line))
			memset(&line, 0, sizeof line);
		bool is_own = !begins_thread(line.function);
		if (named < 0 && is_of_ggml(context, modules, n_modules, code, frame, &line))
			theirs = frame->level;
		else if (is_own && line.line)
			with_line = frame->level;
		else if (is_own && named < 0 && line.function[0] && line.function[0] != '?')
			named = frame->level;
	}
	lbx_stack_release(&stack);
	return with_line >= 0 ? with_line : named >= 0 ? named : theirs;
}
