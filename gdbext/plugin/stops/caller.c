#include "plugin/stops/caller.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "target/exports.h"
#include "target/loader.h"

enum { MAX_FRAMES = 64 };

/* Whether it takes functions of the library. */
static bool is_built_on(struct lbx_target *target, const struct lbx_library *library, const struct lbx_loaded *m)
{
	struct lbx_exports exports = { 0 };
	char name[LBX_EXPORT_NAME];
	bool found = false;

	if (!lbx_exports_open(target, m, &exports))
		lb_clear_error();
	for (size_t i = 0; i < exports.n_imports && !found; i++)
		found = lbx_exports_import(&exports, i, name) &&
			strncmp(name, library->begins, strlen(library->begins)) == 0;
	lbx_exports_close(&exports);
	return found;
}

/* Where it is part of the program itself, its functions have its names. */
static bool is_of(struct lbx_context *context, const struct lbx_library *library, const struct lbx_loaded *modules,
		  int n, const struct lbx_frame *frame, const struct lbx_source_line *line)
{
	int module = lbx_loaded_at(modules, n, lbx_frame_code(frame)), own = lbx_loaded_at(modules, n, library->code);

	if (module < 0)
		return false;
	if (module > 0)
		return module == own || is_built_on(context->target, library, &modules[module]);
	return library->has(line->function) || (own == 0 && !line->function[0]);
}

/* A worker of a library's has no other caller. */
static bool begins_thread(const char *function)
{
	static const char *const names[] = { "start_thread", "clone",    "clone3",
					     "__clone",      "__clone3", "gomp_thread_start" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(function, names[i]) == 0)
			return true;
	return false;
}

int lbx_caller_level(struct lbx_context *context, const struct lbx_library *library)
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
		if (named < 0 && is_of(context, library, modules, n_modules, frame, &line))
			theirs = frame->level;
		else if (is_own && line.line)
			with_line = frame->level;
		else if (is_own && named < 0 && line.function[0] && line.function[0] != '?')
			named = frame->level;
	}
	lbx_stack_release(&stack);
	return with_line >= 0 ? with_line : named >= 0 ? named : theirs;
}

bool lbx_caller_return(struct lbx_context *context, uint64_t *ret, uint64_t *ret_within)
{
	struct lbx_stack stack = { 0 };
	uint64_t tid;
	int n;

	*ret = *ret_within = 0;
	if (!context->stacks || context->stacks->ops->threads(context->stacks, &tid, 1) < 1 ||
	    !context->stacks->ops->walk(context->stacks, tid, MAX_FRAMES, 0, &stack))
		return !lbx_bridge_waits();
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(context->target, &n);
	int own = modules && stack.n ? lbx_loaded_at(modules, n, stack.frames[0].pc) : -1;
	if (stack.n > 1)
		*ret_within = stack.frames[1].pc;
	for (int i = 1; own >= 0 && i < stack.n && !*ret; i++)
		if (lbx_loaded_at(modules, n, lbx_frame_code(&stack.frames[i])) != own)
			*ret = stack.frames[i].pc;
	lbx_stack_release(&stack);
	lb_clear_error();
	return !lbx_bridge_waits();
}
